/*
 * dry.h - a plan run by the rules alone: no hardware, no time. Who gets how far, and who is stuck.
 *
 * A rank's calls run on streams, in order on each. A call starts when its stream gets to it; a
 * collective ends when all members have started it and mean the same call, a pair when both halves
 * have started, a batch with the last of its pairs. Where the library makes the host wait, a call
 * is made only after the one before has ended.
 */
#ifndef HS_REPLAY_DRY_H
#define HS_REPLAY_DRY_H

#include "replay/plan.h"

enum hs_dry_state {
    HS_DRY_AHEAD,   /* the host does not get there */
    HS_DRY_QUEUED,  /* made; its stream does not get there */
    HS_DRY_STARTED, /* waits for others */
    HS_DRY_FINISHED,
};

struct hs_dry {
    const struct hs_plan *plan;
    struct hs_arena arena;
    uint64_t *first; /* by row of plan->ranks: its calls are first[r] .. first[r + 1] */
    uint8_t *state;  /* by call: enum hs_dry_state; of a batch that has not ended, its first call's
                        counts */
    uint32_t *seq;   /* by call: of a collective its number, of a pair the one before it */
    uint32_t *began, *ended; /* by call: steps; meaningful from STARTED and FINISHED on */
    uint32_t *ref; /* by call: what it meets in, equal for those who meet; HS_NO_ID: none */
    uint32_t ref_count;
    bool *met;      /* by ref: all have come and mean the same, so that it ends */
    uint32_t steps; /* the latest of them */
};

/* Run to the end. HS_EUSAGE when the plan spans more than the limits allow. */
enum hs_status hs_dry_run(struct hs_dry *dry, const struct hs_plan *plan, struct hs_err *err);
void hs_dry_release(struct hs_dry *dry);

/*
 * Put what a real run of the same plan showed in the place of what the rules say: `states` by call
 * (enum hs_dry_state). Steps stay the rules' where both agree.
 */
void hs_dry_measured(struct hs_dry *dry, const uint8_t *states);

/*
 * The same while a plan is made from a record: what the record shows finished is let through, and
 * marked `done` where the rules would not end it; what it shows unfinished although the others are
 * through is marked `stalled`. Programs must not be shared yet.
 */
enum hs_status hs_dry_settle(struct hs_plan *plan, struct hs_err *err);

/* Mark what ends in a run as finished, where no record tells. Programs must not be shared yet. */
enum hs_status hs_dry_mark_ended(struct hs_plan *plan, struct hs_err *err);

/* Mark the ranks that do not finish, before the plan is changed: HS_PLAN_STUCK. */
enum hs_status hs_dry_mark_stuck(struct hs_plan *plan, struct hs_err *err);

/*
 * What the ranks' recorders would hold at that moment, as a job to be judged. `name` is told as its
 * source. The caller ends `out` with hs_job_release().
 */
enum hs_status hs_dry_job(const struct hs_dry *dry, struct hs_str name, struct hs_job *out,
                          struct hs_err *err);

#endif
