/*
 * fusion.c - logs and dumps of one job: each fills what the other lacks.
 *
 * Lines prove age, which dumps cannot; they tell what a rank without a dump was doing, and that it
 * was alive. Where a line says the opposite of a dump, both are kept: the claim is never certain.
 */
#include "analyzer/fusion.h"

#include "base/ranks.h"

#include <stdlib.h>

/* A line that says that a rank waits, is behind, or was alive. */
static bool is_alive(const struct hs_judged *j, uint32_t rank)
{
    return hs_u32_contains(j->lines.alive, j->lines.alive_count, rank);
}

static const struct hs_line_wait *wait_of(const struct hs_judged *j, uint32_t rank)
{
    for (uint32_t i = 0; i < j->lines.count; i++) {
        if (j->lines.waits[i].rank == rank)
            return &j->lines.waits[i];
    }
    return NULL;
}

/* Whether a name of a group is that of the node's group. */
static bool is_group(const struct hs_judged *j, uint32_t name, const struct hs_node *node)
{
    return name != HS_NO_ID && name == j->al.groups[node->group].name;
}

/* A rank's own counters that are behind the node. */
static const struct hs_line_standing *standing_behind(const struct hs_judged *j, uint32_t rank,
                                                      const struct hs_node *node)
{
    for (uint32_t i = 0; i < j->lines.standing_count; i++) {
        const struct hs_line_standing *s = &j->lines.standings[i];

        if (s->rank == rank && s->enqueued != HS_NO_POSITION && !node->is_pair &&
            s->enqueued < node->seq && is_group(j, s->group, node))
            return s;
    }
    return NULL;
}

/* ---- ranks that left no dump ---- */

/* All of them are known by lines not to be in the call: then they are named. */
static bool witness_unseen(struct hs_judged *j, struct hs_claim *claim)
{
    const struct hs_sinks *unseen = &j->waits.sinks[HS_SINK_UNSEEN];
    const struct hs_node *node = claim->node == HS_NO_ID ? NULL : &j->waits.nodes[claim->node];

    if (!node || !unseen->count || claim->culprit_count)
        return false;
    for (uint32_t i = 0; i < unseen->count; i++) {
        uint32_t rank = unseen->who[i];

        if (wait_of(j, rank) || (!is_alive(j, rank) && !standing_behind(j, rank, node)))
            return false;
    }
    claim->code = "rank-missing";
    claim->culprits = unseen->who;
    claim->culprit_count = unseen->count;
    claim->weak = false;
    return true;
}

/* ---- contradictions ---- */

/* A rank that the dumps name as absent, and that says itself to wait in that very call. */
static bool contradicts(const struct hs_judged *j, const struct hs_claim *claim, uint32_t rank)
{
    const struct hs_node *node = &j->waits.nodes[claim->node];
    const struct hs_line_wait *w = wait_of(j, rank);

    return w && !node->is_pair && w->seq == node->seq && is_group(j, w->group, node);
}

static bool note_conflict(struct hs_judged *j, const struct hs_claim *claim, uint32_t seat)
{
    struct hs_conflict *c = HS_NEW(&j->arena, struct hs_conflict, 1);

    if (!c)
        return false;
    *c = (struct hs_conflict){ .rank = j->al.seats[seat].rank,
                               .seat = seat,
                               .node = claim->node,
                               .event = wait_of(j, j->al.seats[seat].rank)->event,
                               .next = j->conflicts };
    j->conflicts = c;
    return true;
}

static bool check_conflicts(struct hs_judged *j, struct hs_claim *claim)
{
    if (claim->unseen || claim->node == HS_NO_ID || claim->mismatch || claim->cycle)
        return true;
    for (uint32_t i = 0; i < claim->culprit_count; i++) {
        if (!contradicts(j, claim, j->al.seats[claim->culprits[i]].rank))
            continue;
        claim->doubts |= HS_DOUBT_CONFLICT;
        if (!note_conflict(j, claim, claim->culprits[i]))
            return false;
    }
    return true;
}

/* ---- what a rank that the dumps show idle was doing ---- */

static int64_t began(const struct hs_judged *j, const struct hs_claim *claim)
{
    const struct hs_node *node = &j->waits.nodes[claim->node];
    int64_t first = 0;

    for (uint32_t i = 0; i < node->waiter_count; i++) {
        uint32_t seat = j->waits.waiters[node->first_waiter + i];
        uint32_t op = j->al.pending[j->al.seats[seat].head].first_op;
        int64_t created = hs_seat_dump(&j->al, seat)->operations[op].created_ns;

        if (created && (!first || created < first))
            first = created;
    }
    return first;
}

static bool find_work(struct hs_judged *j, struct hs_claim *claim)
{
    struct hs_line_reading r = { .job = j->job,
                                 .identity = j->identity,
                                 .waits = &j->lines,
                                 .attempt = j->line_attempt,
                                 .arena = &j->arena,
                                 .out = &j->claims };
    const uint32_t *ranks;

    if (strcmp(claim->code, "rank-missing") != 0 || claim->node == HS_NO_ID ||
        claim->culprit_count == 0 || j->job->event_count == 0)
        return true;
    ranks = hs_claim_ranks(j, claim, &j->arena);
    return ranks && hs_refine_by_work(&r, ranks, claim->culprit_count, began(j, claim), claim);
}

bool hs_fuse(struct hs_judged *j)
{
    for (uint32_t i = 0; i < j->claims.count; i++) {
        struct hs_claim *claim = &j->claims.rows[i];

        if (claim->line)
            continue;
        if (j->lines.count)
            claim->doubts &= ~(unsigned)HS_DOUBT_AGE; /* a timeout or abort was reported */
        (void)witness_unseen(j, claim);
        if (!check_conflicts(j, claim) || !find_work(j, claim))
            return false;
    }
    return true;
}
