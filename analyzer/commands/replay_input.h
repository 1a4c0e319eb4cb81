/* replay_input.h - what plan, replay and emit share: their input as a plan, and its verdict. */
#ifndef HS_ANALYZER_REPLAY_INPUT_H
#define HS_ANALYZER_REPLAY_INPUT_H

#include "analyzer/commands/command.h"
#include "analyzer/commands/text_file.h"
#include "analyzer/telling.h"
#include "replay/dry.h"

/* A judged job as a plan: plan_job.c. `window` as in hs_plan_settle(). `out` is initialised. */
enum hs_status hs_plan_from_job(const struct hs_judged *judged, uint32_t window,
                                struct hs_plan *out, struct hs_err *err);

/* The same of the COLL and CALL lines of a job without dumps: plan_calls.c. `left_out`: processes
 * whose rank is unknown, or another's. */
enum hs_status hs_plan_from_calls(const struct hs_judged *judged, uint32_t window,
                                  struct hs_plan *out, uint32_t *left_out, struct hs_err *err);

/* What is replayed: a plan, and where it is from. */
struct hs_replay_input {
    struct hs_plan plan;
    struct hs_job_options about;
    struct hs_read_job read; /* when it came from a job */
    bool has_read;
    struct hs_str name; /* of the plan, as the source of evidence */
};

/* A plan file, or a job that becomes one; with --ranks, --groups, --semantics, --what-if,
 * --minimize and --fold applied as they are given. hs_replay_input_release() in any case. */
enum hs_status hs_replay_input_read(const struct hs_options *options, const char *const *paths,
                                    uint32_t count, uint32_t window, struct hs_replay_input *out,
                                    struct hs_err *err);
void hs_replay_input_release(struct hs_replay_input *input);

/* Run a plan dry and judge what its ranks would have recorded. */
enum hs_status hs_replay_judge(const struct hs_plan *plan, struct hs_str name,
                               const struct hs_job_options *about, struct hs_verdict *out,
                               struct hs_err *err);

/* The same of what a run on GPUs showed: `states` as hs_dry_measured() takes them. */
enum hs_status hs_replay_judge_states(const struct hs_plan *plan, struct hs_str name,
                                      const struct hs_job_options *about, const uint8_t *states,
                                      struct hs_verdict *out, struct hs_err *err);
#endif
