/* claims.c - from where chains of waiting end to what that could mean. */
#include "analyzer/claims.h"

#include "base/ranks.h"

#include <stdlib.h>

enum { HEALTHY_WAIT_S = 60, STUCK_TRIED = 16 };

struct claiming {
    const struct hs_waits *w;
    const struct hs_alignment *al;
    struct hs_arena *arena;
    struct hs_claims *out;
    unsigned common; /* doubts that all claims share */
};

static struct hs_claim *add_claim(struct claiming *c, const char *code, const char *role)
{
    struct hs_claims *out = c->out;

    if (!HS_GROW(out->rows, out->cap, out->count + 1u))
        return NULL;
    out->rows[out->count] =
        (struct hs_claim){ .code = code, .role = role, .node = HS_NO_ID, .doubts = c->common };
    return &out->rows[out->count++];
}

/* ---- doubts ---- */

/* Whether a unit is known to wait for longer than a healthy call does. */
static bool is_overdue(const struct claiming *c, const struct hs_unit *unit)
{
    const struct hs_alignment *al = c->al;
    const struct hs_dump *dump = hs_seat_dump(al, unit->seat);
    const struct hs_operation *op = &dump->operations[unit->last_op];
    uint32_t earlier = al->seats[unit->seat].earlier_dump;
    const struct hs_dump *before = earlier == HS_NO_ID ? NULL : &al->job->dumps[earlier];
    bool aborted = (op->flags & HS_OPERATION_STATE) == HS_STATE_COMPLETED;

    if (!al->groups[unit->group].marks_nothing && ((op->flags & HS_OPERATION_RETIRED) || aborted))
        return true; /* given up by the watchdog */
    if (op->created_ns && (al->last_ns - op->created_ns) / 1000000000 >= HEALTHY_WAIT_S)
        return true;
    for (uint32_t i = before ? before->operation_count : 0; i-- > 0;) {
        const struct hs_operation *then = &before->operations[i];

        if (then->record == op->record)
            return then->seq == op->seq && then->created_ns == op->created_ns &&
                   (then->flags & HS_OPERATION_STATE) != HS_STATE_COMPLETED;
    }
    return false;
}

static unsigned doubts_of_node(const struct claiming *c, const struct hs_node *node)
{
    const struct hs_group *group = &c->al->groups[node->group];
    unsigned doubts = HS_DOUBT_AGE;

    for (uint32_t i = 0; i < node->waiter_count && doubts; i++) {
        uint32_t seat = c->w->waiters[node->first_waiter + i];

        if (is_overdue(c, &c->al->pending[c->al->seats[seat].head]))
            doubts = 0;
    }
    if (group->members_assumed)
        doubts |= HS_DOUBT_ASSUMED;
    for (uint32_t i = 0; i < group->size && !node->is_pair; i++) {
        uint32_t position = group->positions[i];

        if (position == HS_NO_ID)
            doubts |= HS_DOUBT_MEMBERS;
        else if (hs_seat_dump(c->al, c->al->positions[position].seat)->cut_short)
            doubts |= HS_DOUBT_CUT;
    }
    return doubts;
}

/* ---- where the others wait ---- */

struct ranked_node {
    uint32_t node, waiters;
};

static int most_waiters_first(const void *a, const void *b)
{
    const struct ranked_node *x = a, *y = b;

    if (x->waiters != y->waiters)
        return x->waiters > y->waiters ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Whether someone out of `who` (seats, or unseen ranks) holds a node. */
static bool is_held_by(const struct hs_waits *w, const struct hs_node *node, const uint32_t *who,
                       uint32_t count, bool unseen)
{
    for (uint32_t i = 0; i < node->holder_count; i++) {
        uint32_t v = w->holders[node->first_holder + i].who;

        if (unseen == (v >= w->al->seat_count) &&
            hs_u32_contains(who, count, unseen ? w->unseen[v - w->al->seat_count] : v))
            return true;
    }
    return false;
}

/* Of the operations that `who` hold up, the one that most ranks end at; those with the most direct
 * waiters are looked at. HS_NO_ID when there is none. */
static uint32_t busiest_node(const struct claiming *c, const uint32_t *who, uint32_t count,
                             bool unseen)
{
    enum { TRIED = 64 };
    const struct hs_waits *w = c->w;
    struct ranked_node *ranked = HS_NEW(c->arena, struct ranked_node, w->node_count);
    uint32_t held = 0, best = HS_NO_ID, best_reach = 0;

    for (uint32_t n = 0; ranked && n < w->node_count; n++) {
        if (is_held_by(w, &w->nodes[n], who, count, unseen))
            ranked[held++] = (struct ranked_node){ .node = n, .waiters = w->nodes[n].waiter_count };
    }
    if (held)
        qsort(ranked, held, sizeof(*ranked), most_waiters_first);
    for (uint32_t i = 0; i < held && i < TRIED; i++) {
        uint32_t target = hs_vertex_of_node(w, ranked[i].node), reach;
        bool *reached = HS_NEW(c->arena, bool, c->al->seat_count);

        reach = reached ? hs_waits_reach(w, &target, 1, reached, c->arena) : 0;
        if (best == HS_NO_ID || reach > best_reach) {
            best = ranked[i].node;
            best_reach = reach;
        }
    }
    return best;
}

/* Always true, so that it can end a function. */
static bool finish_claim(struct claiming *c, struct hs_claim *claim, uint32_t node,
                         const struct hs_sinks *sinks)
{
    claim->node = node;
    claim->reach = sinks->reach;
    claim->waiters = sinks->waiters;
    claim->waiter_count = sinks->reach;
    if (node != HS_NO_ID)
        claim->doubts |= doubts_of_node(c, &c->w->nodes[node]);
    return true;
}

/* ---- all entered, none finished ---- */

static const char *const mismatch_codes[] = {
    [HS_ORDER_DIFFERS] = "order-mismatch",
    [HS_SIZE_DIFFERS] = "size-mismatch",
    [HS_DTYPE_DIFFERS] = "dtype-mismatch",
};

/* Seats of the sides other than the majority; none without a majority. */
static bool odd_ones(struct claiming *c, const struct hs_mismatch *m, struct hs_claim *claim)
{
    claim->culprits = HS_NEW(c->arena, uint32_t, m->seen);
    if (!claim->culprits)
        return false;
    for (uint32_t s = 0; s < c->al->seat_count && m->majority; s++) {
        for (uint32_t i = 1; i < m->side_count; i++) {
            if (hs_u32_contains(m->sides[i].seats, m->sides[i].count, s))
                claim->culprits[claim->culprit_count++] = s;
        }
    }
    return true;
}

static bool claim_mismatch(struct claiming *c, uint32_t n, const struct hs_sinks *reach,
                           bool *found)
{
    const struct hs_node *node = &c->w->nodes[n];
    struct hs_mismatch *m = HS_NEW(c->arena, struct hs_mismatch, 1);
    struct hs_claim *claim;

    *found = false;
    if (!m || !hs_mismatch_find(c->al, node->group, node->seq, c->arena, m))
        return false;
    if (m->kind == HS_MATCHES)
        return true;
    *found = true;
    for (uint32_t i = 0; i < m->side_count; i++)
        qsort(m->sides[i].seats, m->sides[i].count, sizeof(uint32_t), hs_compare_u32);
    claim = add_claim(c, mismatch_codes[m->kind], "differs");
    if (!claim || !odd_ones(c, m, claim))
        return false;
    claim->mismatch = m;
    if (m->shift < 0)
        claim->cause = "extra-call";
    if (!m->majority)
        claim->doubts |= HS_DOUBT_KIND;
    return finish_claim(c, claim, n, reach);
}

static bool has_whole_ring(const struct hs_alignment *al, uint32_t seat)
{
    return al->seats[seat].from_start && !al->seats[seat].only_active;
}

/* Both sides of a pair wait for each other in it: what differs between them, if anything. */
static const char *pair_code(const struct claiming *c, const struct hs_node *node)
{
    const struct hs_alignment *al = c->al;
    const struct hs_unit *unit = &al->pending[node->unit];
    const struct hs_exchange *x = &al->exchanges[unit->first_exchange];
    const struct hs_pair *mine = &al->pairs[x->pair], *theirs;
    uint32_t peer = hs_seat_of_rank(al, mine->peer), id;
    const struct hs_signature *a, *b;
    bool counted;

    if (unit->exchange_count != 1 || peer == HS_NO_ID)
        return "collective-stuck";
    id = hs_pair_find(al, peer, mine->group, al->seats[unit->seat].rank, !mine->send);
    theirs = id == HS_NO_ID || al->pairs[id].first_unfinished == HS_NO_ID ? NULL : &al->pairs[id];
    if (!theirs)
        return "collective-stuck";
    counted = has_whole_ring(al, unit->seat) && has_whole_ring(al, peer) &&
              al->exchanges[theirs->first_unfinished].ordinal == x->ordinal;
    if (!counted && (mine->unfinished != 1 || theirs->unfinished != 1))
        return "collective-stuck"; /* which belongs to which is not certain */
    a = hs_op_signature(al, unit->seat, x->op);
    b = hs_op_signature(al, peer, al->exchanges[theirs->first_unfinished].op);
    if (a->numel_in != b->numel_in)
        return "size-mismatch";
    return a->dtypes_in != b->dtypes_in ? "dtype-mismatch" : "collective-stuck";
}

static bool claim_stuck(struct claiming *c, uint32_t n)
{
    const struct hs_node *node = &c->w->nodes[n];
    uint32_t target = hs_vertex_of_node(c->w, n);
    bool *reached = HS_NEW(c->arena, bool, c->al->seat_count);
    struct hs_sinks sinks = { .count = 1 };
    struct hs_claim *claim;
    const char *code;
    bool found = false;

    if (!reached)
        return false;
    sinks.reach = hs_waits_reach(c->w, &target, 1, reached, c->arena);
    sinks.waiters = HS_NEW(c->arena, uint32_t, sinks.reach);
    if (!sinks.waiters)
        return false;
    for (uint32_t s = 0, k = 0; s < c->al->seat_count; s++) {
        if (reached[s])
            sinks.waiters[k++] = s;
    }
    if (!node->is_pair && !claim_mismatch(c, n, &sinks, &found))
        return false;
    if (found)
        return true;
    code = node->is_pair ? pair_code(c, node) : "collective-stuck";
    if (strcmp(code, "collective-stuck") == 0 && doubts_of_node(c, node) & HS_DOUBT_AGE)
        return true; /* in flight: nobody is waited for and nobody is overdue */
    claim = add_claim(c, code, "stalled");
    if (!claim)
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    return finish_claim(c, claim, n, &sinks);
}

/* Whether all that hold a node left no dump, or none that says where they are: its members may
 * still contradict each other. */
static bool held_by_unknown(const struct hs_waits *w, const struct hs_node *node)
{
    for (uint32_t i = 0; i < node->holder_count; i++) {
        uint8_t how = w->holders[node->first_holder + i].how;

        if (how != HS_HOLDS_UNSEEN && how != HS_HOLDS_UNCLEAR)
            return false;
    }
    return node->holder_count > 0;
}

static bool claim_joined(struct claiming *c)
{
    const struct hs_waits *w = c->w;
    struct ranked_node *ranked = HS_NEW(c->arena, struct ranked_node, w->node_count);
    uint32_t count = 0;

    if (!ranked)
        return false;
    for (uint32_t n = 0; n < w->node_count; n++) {
        if (w->nodes[n].holder_count == 0 ||
            (!w->nodes[n].is_pair && held_by_unknown(w, &w->nodes[n])))
            ranked[count++] =
                (struct ranked_node){ .node = n, .waiters = w->nodes[n].waiter_count };
    }
    qsort(ranked, count, sizeof(*ranked), most_waiters_first);
    for (uint32_t i = 0; i < count && i < STUCK_TRIED; i++) {
        const struct hs_node *node = &w->nodes[ranked[i].node];
        const struct hs_sinks *weak = &w->sinks[HS_SINK_UNSEEN];
        bool found;

        if (node->holder_count == 0 ? !claim_stuck(c, ranked[i].node)
                                    : !claim_mismatch(c, ranked[i].node, weak, &found))
            return false;
    }
    return true;
}

/* ---- the other sinks ---- */

static bool claim_cycles(struct claiming *c)
{
    for (uint32_t i = 0; i < c->w->cycle_count; i++) {
        const struct hs_cycle *cycle = &c->w->cycles[i];
        struct hs_claim *claim =
            add_claim(c, cycle->groups > 1 ? "group-deadlock" : "p2p-mismatch", "in-cycle");

        if (!claim)
            return false;
        claim->cause = cycle->groups > 1 ? "concurrent-groups" : NULL;
        claim->culprits = cycle->odd;
        claim->culprit_count = cycle->odd_count;
        claim->cycle = cycle;
        claim->doubts |= cycle->by_absence ? 0 : HS_DOUBT_KIND;
        (void)finish_claim(c, claim, busiest_node(c, cycle->odd, cycle->odd_count, false),
                           &c->w->sinks[HS_SINK_CYCLE]);
    }
    return true;
}

/* Stale and idle ranks that the same waiters end at are one finding: what failed on the device of
 * one kept the other from coming. */
static bool claim_late(struct claiming *c)
{
    const struct hs_sinks *stale = &c->w->sinks[HS_SINK_STALE], *idle = &c->w->sinks[HS_SINK_IDLE];
    bool both = stale->reach && stale->reach == idle->reach;

    for (unsigned k = HS_SINK_STALE; k <= HS_SINK_IDLE; k++) {
        const struct hs_sinks *sinks = &c->w->sinks[k];
        struct hs_claim *claim;
        uint32_t node;

        if (!sinks->reach || (both && k == HS_SINK_IDLE))
            continue;
        claim = add_claim(c, k == HS_SINK_STALE ? "gpu-stall" : "rank-missing",
                          k == HS_SINK_STALE ? "stalled" : "missing");
        if (!claim)
            return false;
        claim->culprits = HS_NEW(c->arena, uint32_t, (size_t)sinks->count + idle->count);
        if (!claim->culprits)
            return false;
        memcpy(claim->culprits, sinks->who, sinks->count * sizeof(uint32_t));
        claim->culprit_count = sinks->count;
        for (uint32_t i = 0; both && i < idle->count; i++)
            claim->culprits[claim->culprit_count++] = idle->who[i];
        qsort(claim->culprits, claim->culprit_count, sizeof(uint32_t), hs_compare_u32);
        claim->doubts |= k == HS_SINK_STALE ? HS_DOUBT_KIND : 0;
        node = busiest_node(c, claim->culprits, claim->culprit_count, false);
        (void)finish_claim(c, claim, node, sinks);
    }
    return true;
}

/* Whether a missing rank ever got anywhere in the group it is missed in. */
static void doubt_first_use(struct claiming *c, struct hs_claim *claim)
{
    const struct hs_node *node = claim->node == HS_NO_ID ? NULL : &c->w->nodes[claim->node];
    const struct hs_group *group = node ? &c->al->groups[node->group] : NULL;

    for (uint32_t i = 0; group && i < group->size; i++) {
        const struct hs_position *p =
            group->positions[i] == HS_NO_ID ? NULL : &c->al->positions[group->positions[i]];

        if (p && p->finished == 0 && p->calls == 0 &&
            hs_u32_contains(claim->culprits, claim->culprit_count, p->seat))
            claim->doubts |= HS_DOUBT_FIRST_USE;
    }
    if (claim->culprit_count * 2 > claim->waiter_count)
        claim->doubts |= HS_DOUBT_KIND; /* the majority is missing: perhaps the few are astray */
}

/*
 * Ranks without a dump: convicted only if groups with different members miss exactly them. One
 * operation that lacks them proves nothing: they may be in it and just not have written.
 */
static bool has_witness(const struct claiming *c, const uint32_t *ranks, uint32_t count)
{
    const struct hs_waits *w = c->w;
    uint32_t first = HS_NO_ID;

    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct hs_node *node = &w->nodes[n];
        bool only = node->holder_count > 0;

        for (uint32_t i = 0; i < node->holder_count && only; i++) {
            const struct hs_holder *h = &w->holders[node->first_holder + i];

            only = h->how == HS_HOLDS_UNSEEN &&
                   hs_u32_contains(ranks, count, w->unseen[h->who - c->al->seat_count]);
        }
        if (only && node->holder_count == count) {
            if (first != HS_NO_ID && w->nodes[first].group != node->group)
                return true;
            first = n;
        }
    }
    return false;
}

static bool claim_weak(struct claiming *c)
{
    const struct hs_sinks *unseen = &c->w->sinks[HS_SINK_UNSEEN];
    const struct hs_sinks *unclear = &c->w->sinks[HS_SINK_UNCLEAR];
    struct hs_claim *claim;
    uint32_t lost = 0;
    bool witness;

    if (unseen->reach) {
        witness = has_witness(c, unseen->who, unseen->count);
        claim = add_claim(c, witness ? "rank-missing" : "undetermined", "unseen");
        if (!claim)
            return false;
        claim->weak = claim->unseen = true;
        claim->culprits = unseen->who;
        claim->culprit_count = witness ? unseen->count : 0;
        claim->doubts |= HS_DOUBT_WITNESS;
        (void)finish_claim(c, claim, busiest_node(c, unseen->who, unseen->count, true), unseen);
    }
    for (uint32_t s = 0; s < c->al->seat_count; s++)
        lost += c->al->seats[s].lost;
    for (uint32_t g = 0; g < c->al->group_count; g++)
        lost += c->al->groups[g].contradicted;
    if (unclear->reach || lost) {
        claim = add_claim(c, "undetermined", "unseen");
        if (!claim)
            return false;
        claim->weak = true;
        (void)finish_claim(c, claim, busiest_node(c, unclear->who, unclear->count, false), unclear);
        claim->reach = unclear->reach > lost ? unclear->reach : lost;
    }
    return true;
}

enum hs_status hs_claims_from_waits(const struct hs_waits *w, struct hs_arena *arena,
                                    struct hs_claims *out, struct hs_err *err)
{
    struct claiming c = { .w = w, .al = w->al, .arena = arena, .out = out };
    bool ok;

    *out = (struct hs_claims){ .count = 0 };
    if (w->al->counter_unreadable)
        c.common |= HS_DOUBT_LEAD;
    for (uint32_t s = 0; s < w->al->seat_count; s++)
        c.common |= w->al->seats[s].older ? HS_DOUBT_OLDER : 0;
    ok = claim_joined(&c) && claim_cycles(&c) && claim_late(&c) && claim_weak(&c);
    for (uint32_t i = 0; i < out->count; i++) {
        if (strcmp(out->rows[i].code, "rank-missing") == 0 && !out->rows[i].unseen)
            doubt_first_use(&c, &out->rows[i]);
    }
    return ok ? HS_OK : hs_no_memory(err);
}

void hs_claims_release(struct hs_claims *claims)
{
    free(claims->rows);
    *claims = (struct hs_claims){ .count = 0 };
}
