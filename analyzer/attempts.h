/*
 * attempts.h - which dumps belong together, and which of several speaks for a rank.
 *
 * A folder can hold restarts, several generations of dumps, even two jobs. Dumps whose default
 * group has other members cannot be of one attempt; of two dumps of one rank in an attempt the
 * later speaks, and the earlier is superseded (but can prove that the rank did not move).
 */
#ifndef HS_ANALYZER_ATTEMPTS_H
#define HS_ANALYZER_ATTEMPTS_H

#include "schema/job.h"

struct hs_attempt {
    uint32_t *dumps;         /* judged, by rank */
    uint32_t *earlier_dumps; /* of the same rank, superseded; HS_NO_ID */
    uint32_t count;
    int64_t from_ns, to_ns;
};

struct hs_attempts {
    struct hs_attempt *list; /* earliest first */
    uint32_t count;
    uint32_t *attempt_of_dump; /* HS_NO_ID: superseded, or its rank is unknown */
};

/* Everything lives in `arena`. */
enum hs_status hs_attempts_find(const struct hs_job *job, struct hs_arena *arena,
                                struct hs_attempts *out, struct hs_err *err);

#endif
