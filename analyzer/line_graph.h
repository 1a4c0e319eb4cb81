/* line_graph.h - what ranks are blocked in, between the files that make claims of it. */
#ifndef HS_ANALYZER_LINE_GRAPH_H
#define HS_ANALYZER_LINE_GRAPH_H

#include "analyzer/line_claims.h"

/* A call that ranks are blocked in. */
struct hs_blocked {
    const struct hs_line_wait **waits; /* heads in it, by rank */
    uint32_t count;
};

struct hs_call_graph {
    const struct hs_line_reading *r;
    const struct hs_line_waits *lw;
    const struct hs_line_wait **heads; /* one per rank, by group, seq, rank */
    uint32_t head_count;
    struct hs_blocked subject;
    uint32_t *members; /* ranks in the subject, sorted */
    uint32_t *events;  /* theirs */
};

/* Members of the subject that are in another call than most, or with other sizes or types. */
bool hs_claim_difference(struct hs_call_graph *g, bool *found);

/* A send or a receive: it has one peer. */
bool hs_is_pair(const struct hs_line_reading *r, const struct hs_line_wait *w);

/* What connections tell that broke in collectives that no line numbers (line_lost.c). */
bool hs_claims_from_lost(const struct hs_line_reading *r, bool *found);

#endif
