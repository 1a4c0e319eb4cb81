/* dry_run.h - the inside of a dry run: what its setting up (dry_setup.c) hands to the run. */
#ifndef HS_REPLAY_DRY_RUN_H
#define HS_REPLAY_DRY_RUN_H

#include "replay/dry.h"

/* One position of a group, between the lowest and the highest that any rank lists. */
struct meeting {
    uint32_t joined;    /* members that have started it, or passed it */
    uint32_t signature; /* of the first that started it; HS_NO_ID */
    uint32_t waiting;   /* calls in it, linked through run.link; HS_NO_ID ends */
    uint32_t step;      /* when the last one came */
    bool differs;       /* members mean different calls: nobody gets out */
    bool recorded;      /* the record shows that a member has finished it */
};

/* The k-th send of a pair and the k-th receive. */
struct handshake {
    uint32_t half[2]; /* calls that have started; HS_NO_ID */
};

/* What of a program does not depend on the rank that runs it. */
struct layout {
    uint32_t *next, *previous; /* by unit: the neighbours on its stream; HS_NO_ID */
    uint32_t *leader;          /* by call: the first of its unit */
};

struct hs_run {
    struct hs_dry *dry;
    struct hs_plan *writable; /* NULL: the plan is only read */
    struct layout *layouts;   /* by program */
    struct meeting *meetings;
    uint32_t meeting_count;     /* refs from here on are handshakes */
    uint64_t *meeting_first;    /* by group */
    uint32_t *lowest, *highest; /* by group: positions that are listed */
    struct handshake *handshakes;
    uint64_t *handshake_first; /* by pair */
    struct hs_intern pairs;    /* group, sender, receiver */
    uint32_t *link; /* by call: the next in a meeting; of a unit of pairs, how many are open */
    uint32_t *host; /* by rank: calls that its host has made */
    uint32_t *left; /* by rank: calls that have not ended */
    uint32_t *last; /* by stream: scratch */
    /* What to start, each once: row << 32 | the first call of a unit, or the end of the program. */
    uint64_t *queue, queue_first, queue_last;
    uint64_t *suspects, suspect_count; /* started, and finished by the record */
};

static inline const struct hs_program *hs_run_program(const struct hs_run *r, uint32_t row)
{
    return &r->dry->plan->programs[r->dry->plan->ranks[row].program];
}

static inline const struct hs_plan_signature *hs_run_signature(const struct hs_run *r,
                                                               const struct hs_plan_call *call)
{
    return &r->dry->plan->signatures[call->signature];
}

/* The row whose call it is. */
static inline uint32_t hs_run_row(const struct hs_run *r, uint64_t call)
{
    uint32_t low = 0, high = r->dry->plan->rank_count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (r->dry->first[mid] <= call)
            low = mid;
        else
            high = mid;
    }
    while (r->dry->first[low + 1] <= call)
        low++; /* rows without calls */
    return low;
}

/* Number the calls, find out who meets whom. HS_EUSAGE when the plan spans too much. */
enum hs_status hs_run_set_up(struct hs_run *r, struct hs_err *err);

#endif
