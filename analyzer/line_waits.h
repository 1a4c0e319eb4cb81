/*
 * line_waits.h - who says in the logs that it waits, and how far each rank says it has come.
 *
 * A watchdog's line is a waiter's: it proves that its rank is in a call and has been for so long,
 * and nothing about anybody else. A status line tells how far a rank has come in one group; the
 * answer to a dump signal tells the same of the default group, and that the rank is alive. Names
 * of groups are as printed: what prints none belongs to a group of its own, which nothing may be
 * compared with except lines of the same kind.
 */
#ifndef HS_ANALYZER_LINE_WAITS_H
#define HS_ANALYZER_LINE_WAITS_H

#include "analyzer/identity.h"
#include "schema/derived.h"

/* A rank in a call that does not end. */
struct hs_line_wait {
    uint32_t rank;              /* global; HS_NO_ID: it does not say */
    uint32_t voice;             /* waits of one process have one voice */
    uint32_t event;             /* the line that says most of it */
    uint32_t group, group_desc; /* strings; HS_NO_ID: not printed */
    uint32_t group_rank;
    uint64_t seq;                    /* HS_NO_POSITION: not printed */
    uint32_t op;                     /* string: ALLREDUCE; HS_NO_ID */
    uint64_t numel_in, numel_out;    /* HS_NO_POSITION: not printed, or unset */
    uint64_t timeout_ms, elapsed_ms; /* HS_NO_POSITION: not printed */
    uint64_t enqueued, completed;    /* of its group, as its status says; HS_NO_POSITION */
    int64_t reported_ns, began_ns;   /* 0: unknown; began = reported - elapsed */
    uint32_t clock;
    uint32_t stack; /* HS_NO_ID */
};

/* How far a rank has come in a group, by its own counters. */
struct hs_line_standing {
    uint32_t rank, event;
    uint32_t group, group_desc;   /* strings */
    uint64_t enqueued, completed; /* HS_NO_POSITION: nothing yet, or no sane number */
    bool answered; /* the answer to another's signal: this rank is alive and had no failure */
};

struct hs_line_waits {
    struct hs_line_wait *waits;         /* by time of beginning, then rank, then event */
    struct hs_line_standing *standings; /* by rank, then event */
    uint32_t count, cap, standing_count, standing_cap;
    struct hs_line_wait *lost; /* ranks whose peer closed its connection in a call, by rank */
    uint32_t lost_count, lost_cap;
    uint32_t *failed; /* ranks in a launcher's table of all that failed, sorted */
    uint32_t failed_count;
    uint32_t *ended; /* ranks that came to the end of their program, sorted */
    uint32_t ended_count;
    bool progress;      /* some work is known to have completed, and nothing tells otherwise */
    bool finished;      /* all of it: the program came to its end */
    uint32_t last_work; /* the last event that tells of such work; HS_NO_ID: none */
    uint32_t
        *failing; /* ranks whose own watchdog saw a failure by then, in whatever call, sorted */
    uint32_t failing_count;
    uint32_t *alive; /* ranks that answered or observed a signal and report no failure, sorted */
    uint32_t alive_count;
    uint32_t *seen; /* ranks that say anything at all in this attempt, sorted */
    uint32_t seen_count;
    int64_t began_ns, reported_ns; /* of the whole: earliest beginning, first report; 0: unknown */
    uint32_t clock;
    uint64_t world_size; /* the largest that anything names; HS_NO_POSITION: nothing does */
    uint32_t implied;    /* one more than the largest rank seen; 0: none */
    bool deduplicated;   /* Ray swallowed equal lines of other ranks: silence proves nothing */
    bool torn;           /* a log ends within a watchdog's report: more of them may have followed */
};

/* Gather what the lines of one attempt say; arrays in `arena`. */
enum hs_status hs_line_waits_find(const struct hs_identity *identity, uint32_t attempt,
                                  uint64_t world_size, struct hs_arena *arena,
                                  struct hs_line_waits *out, struct hs_err *err);

#endif
