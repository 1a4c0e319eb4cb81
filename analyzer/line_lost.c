/* line_lost.c - peers that closed their connections: who was in a call then, and who was not. */
#include "analyzer/line_graph.h"

#include "base/ranks.h"

#include <stdlib.h>

struct lost {
    const struct hs_line_wait **waits; /* who was in a call and lost a peer or ran out of time */
    uint32_t *ranks, *events;          /* of these */
    uint32_t count;
    uint32_t *silent; /* the rest of the world */
    uint32_t silent_count;
    bool ended; /* these are known to have ended well */
};

static int by_rank(const void *a, const void *b)
{
    const struct hs_line_wait *x = *(const struct hs_line_wait *const *)a;
    const struct hs_line_wait *y = *(const struct hs_line_wait *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Each rank once, by rank. */
static bool find_broken(const struct hs_line_reading *r, struct lost *l)
{
    const struct hs_line_waits *lw = r->waits;
    uint32_t all = lw->lost_count + lw->count, n = 0;

    l->waits = HS_NEW(r->arena, const struct hs_line_wait *, all);
    l->ranks = HS_NEW(r->arena, uint32_t, all);
    l->events = HS_NEW(r->arena, uint32_t, all);
    if (!l->waits || !l->ranks || !l->events)
        return false;
    for (uint32_t i = 0; i < all; i++) {
        l->waits[n] = i < lw->lost_count ? &lw->lost[i] : &lw->waits[i - lw->lost_count];
        n += l->waits[n]->rank != HS_NO_ID;
    }
    if (n)
        qsort(l->waits, n, sizeof(const struct hs_line_wait *), by_rank);
    for (uint32_t i = 0; i < n; i++) {
        if (l->count && l->ranks[l->count - 1] == l->waits[i]->rank)
            continue;
        l->waits[l->count] = l->waits[i];
        l->ranks[l->count] = l->waits[i]->rank;
        l->events[l->count++] = l->waits[i]->event;
    }
    return true;
}

static bool find_lost(const struct hs_line_reading *r, struct lost *l)
{
    const struct hs_line_waits *lw = r->waits;
    uint64_t world = lw->world_size != HS_NO_POSITION ? lw->world_size : lw->implied;

    l->silent = HS_NEW(r->arena, uint32_t, world);
    if (!find_broken(r, l) || !l->silent)
        return false;
    l->ended = true;
    for (uint32_t rank = 0; rank < world; rank++) {
        if (hs_u32_contains(l->ranks, l->count, rank))
            continue;
        l->silent[l->silent_count++] = rank;
        l->ended = l->ended && (hs_u32_contains(lw->ended, lw->ended_count, rank) ||
                                !hs_u32_contains(lw->failed, lw->failed_count, rank));
    }
    /* a table that has all others tells of them that they did not fail */
    l->ended = l->ended &&
               (lw->failed_count + l->silent_count >= world || lw->ended_count >= l->silent_count);
    return true;
}

/* Ranks that were in another call than most when the connections broke. */
static bool claim_lost_calls(const struct hs_line_reading *r, const struct lost *l, bool *found)
{
    struct hs_call_graph g = { .r = r, .lw = r->waits };

    g.subject = (struct hs_blocked){ .waits = l->waits, .count = l->count };
    g.members = l->ranks;
    g.events = l->events;
    if (!hs_claim_difference(&g, found))
        return false;
    if (*found) {
        struct hs_claim *claim = &r->out->rows[r->out->count - 1];

        if (claim->line->named_count == 1 && claim->line->named[0].rank == 0 &&
            strcmp(claim->code, "order-mismatch") == 0)
            claim->cause = "rank0-only-branch";
    }
    return true;
}

/*
 * Ranks that lost a peer, and a few that say nothing of the kind: one of these closed first. A
 * rank that came to its end while the others were in a call took fewer steps. Where some ran out
 * of time instead, it need not have ended.
 */
static bool claim_lost(const struct hs_line_reading *r, bool *found)
{
    struct lost l = { .count = 0 };
    struct hs_line_claim *line;
    struct hs_claim *claim;
    bool missing;

    if (!find_lost(r, &l))
        return false;
    if (l.count == 0)
        return true;
    if (!claim_lost_calls(r, &l, found))
        return false;
    if (*found || l.silent_count == 0 || l.silent_count >= l.count)
        return true;
    *found = true;
    missing = l.ended || r->waits->count;
    claim = hs_add_line_claim(r, missing ? "rank-missing" : "rank-died", &line);
    if (!claim || !hs_name_ranks(r, line, l.silent, l.silent_count, missing ? "missing" : "died"))
        return false;
    claim->cause = l.ended ? "uneven-steps" : NULL;
    claim->doubts |= HS_DOUBT_WITNESS;
    claim->reach = l.count;
    line->waiting = l.ranks;
    line->waiting_count = l.count;
    line->wait = l.waits[0];
    line->summary = missing && !l.ended ? "summary.lines.silent" : "summary.lines.closed";
    line->why = missing && !l.ended ? "why.lines.silent" : "why.lines.closed";
    return hs_cite(r, claim, l.events, l.count);
}

/*
 * Whether connections broke in collectives that no line numbers, as gloo's are. A send or a receive
 * has one peer: that others are silent there says nothing.
 */
static bool is_torn(const struct hs_line_reading *r)
{
    const struct hs_line_waits *lw = r->waits;
    bool torn = lw->lost_count > 0 && lw->lost_count + lw->count > 1;

    for (uint32_t i = 0; torn && i < lw->lost_count; i++)
        torn = !hs_is_pair(r, &lw->lost[i]);
    for (uint32_t i = 0; torn && i < lw->count; i++)
        torn = lw->waits[i].seq == HS_NO_POSITION && !hs_is_pair(r, &lw->waits[i]);
    return torn;
}

bool hs_claims_from_lost(const struct hs_line_reading *r, bool *found)
{
    return !is_torn(r) || claim_lost(r, found);
}
