/* mismatch.h - do the members of a collective mean the same call? */
#ifndef HS_ANALYZER_MISMATCH_H
#define HS_ANALYZER_MISMATCH_H

#include "analyzer/align.h"

enum hs_mismatch_kind { HS_MATCHES, HS_ORDER_DIFFERS, HS_SIZE_DIFFERS, HS_DTYPE_DIFFERS };

/* One way of making the call, and who made it so. */
struct hs_side {
    uint32_t seat, op; /* the first who did, as its example */
    uint32_t *seats;
    uint32_t count;
};

struct hs_mismatch {
    enum hs_mismatch_kind kind;
    struct hs_side *sides; /* most members first */
    uint32_t side_count;
    uint32_t seen; /* members whose record of the call is there */
    bool majority; /* the first side is more than half of those seen */
    int32_t shift; /* calls that the odd ones skipped (> 0) or made in excess (< 0); 0: no
                      shift explains what follows */
};

/* Compare the records of collective (group, seq). `out` lives in `arena`. False without memory. */
bool hs_mismatch_find(const struct hs_alignment *al, uint32_t group, uint32_t seq,
                      struct hs_arena *arena, struct hs_mismatch *out);

/* What of a call must agree between the members of its group, as bytes that can be compared. */
struct hs_call_key {
    const char *op;      /* c10d spelling; NULL: unknown, then `name` tells */
    uint64_t in, out;    /* 0 where the operation leaves them free, or they are not recorded */
    uint32_t name, root; /* root HS_NO_ID: not recorded */
    uint32_t dtype;      /* HS_NO_ID where it does not matter or is not recorded */
    uint32_t unused;     /* no padding: reports compare keys as bytes */
};

void hs_call_key_of(const struct hs_job *job, const struct hs_signature *sig,
                    struct hs_call_key *out);

/* Whether two calls can meet; what one side did not record cannot differ. */
bool hs_same_call(const struct hs_job *job, const struct hs_signature *a,
                  const struct hs_signature *b);

#endif
