/* gpu_run.h - a plan run by hangscope-replay, and what it said. */
#ifndef HS_ANALYZER_GPU_RUN_H
#define HS_ANALYZER_GPU_RUN_H

#include "analyzer/commands/command.h"
#include "replay/plan.h"

struct hs_gpu_run {
    struct hs_buf json;                     /* as it came; one document */
    uint8_t *states;                        /* by call, as hs_dry_measured() takes them */
    struct hs_gpu_rank {                    /* by row of the plan */
        struct hs_str error;                /* .p NULL: none */
        uint64_t wrong_call, wrong_element; /* HS_UNKNOWN: its data is right, or was not checked */
        uint64_t wrong_calls;
    } * ranks;
    bool failed; /* its outcome is "failed" */
    struct hs_arena arena;
};

/*
 * Start the program, hand it the plan, and read what it says. When it cannot run here it has said
 * why itself: then `said` is its exit status, and otherwise 0. hs_gpu_run_release() in any case.
 */
enum hs_status hs_gpu_run(const struct hs_options *options, const struct hs_plan *plan,
                          struct hs_gpu_run *out, int *said, struct hs_err *err);
void hs_gpu_run_release(struct hs_gpu_run *run);

/* What it said into states and errors (gpu_run_read.c). */
enum hs_status hs_gpu_run_read(struct hs_gpu_run *run, const struct hs_plan *plan,
                               struct hs_err *err);

/* The table of timings, for people. */
void hs_gpu_run_put_timings(const struct hs_gpu_run *run, struct hs_buf *out);

#endif
