/*
 * run_jobs.h - a process per job, so that a job costs no other one: limits of time and memory, and
 * one more try alone for those that failed.
 *
 * The caller has read what jobs share before; a child inherits it. What a child tells comes by a
 * pipe. The caller must have no threads.
 */
#ifndef HS_FLEET_RUN_JOBS_H
#define HS_FLEET_RUN_JOBS_H

#include "base/buf.h"
#include "base/err.h"

/* How a child ends by itself; anything else is HS_CHILD_FAILED. */
enum hs_child_exit {
    HS_CHILD_JUDGED = 0,
    HS_CHILD_UNREADABLE = 2, /* nothing in the job can be read */
    HS_CHILD_FAILED = 4,
    HS_CHILD_MEMORY = 5,
    HS_CHILD_STOP = 6, /* what befell it befalls all: nothing can be written any more */
};

/* How a job ended. */
struct hs_run_end {
    const char *state; /* judged, unreadable, failed, crashed, timeout, memory */
    const char *limit; /* time, cpu, memory; NULL */
    int exit, signal;  /* -1, 0: it did not end so */
    unsigned tries;
    int64_t wall_ms, cpu_ms, peak_bytes;
    struct hs_str message; /* what it told, in full if it is `judged` */
};

struct hs_runner {
    unsigned at_once;
    int64_t timeout_ms;
    uint64_t memory_bytes, alone_bytes; /* of a job among others, and alone */
    /* In the child: judge job `index`, put what there is to tell, return an hs_child_exit. */
    int (*judge)(void *self, uint32_t index, struct hs_buf *message);
    /* In the caller: job `index` has ended for good. Another status than HS_OK stops. */
    enum hs_status (*ended)(void *self, uint32_t index, const struct hs_run_end *end,
                            struct hs_err *err);
    /* In the caller, ten times a second and after every end: `done` of all. False stops. */
    bool (*tick)(void *self, uint32_t done);
    void *self;
};

/*
 * Run jobs 0 to `count` - 1. When it returns no child is left. HS_OK also when tick() stopped it:
 * jobs that had not ended are as if they had not been begun.
 */
enum hs_status hs_run_jobs(const struct hs_runner *runner, uint32_t count, struct hs_err *err);

#endif
