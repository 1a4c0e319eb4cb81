/* waits.c - heads become nodes, nodes get their holders, chains are followed to their sinks. */
#include "analyzer/waits.h"

#include "base/ranks.h"

#include <stdlib.h>

const char *hs_holding_word(enum hs_holding how)
{
    static const char *const words[] = {
        [HS_HOLDS_ABSENT] = "absent", [HS_HOLDS_EARLIER] = "earlier", [HS_HOLDS_STALE] = "stale",
        [HS_HOLDS_UNSEEN] = "unseen", [HS_HOLDS_UNCLEAR] = "unclear",
    };

    return words[how];
}

static bool add_holder(struct hs_waits *w, uint32_t who, enum hs_holding how)
{
    if (!HS_GROW(w->holders, w->holder_cap, w->holder_count + 1u))
        return false;
    w->holders[w->holder_count++] = (struct hs_holder){ .who = who, .how = (uint8_t)how };
    return true;
}

/* ---- ranks that nobody has seen ---- */

static bool list_unseen(struct hs_waits *w)
{
    const struct hs_alignment *al = w->al;
    uint32_t count = 0, kept = 0;

    for (uint32_t g = 0; g < al->group_count; g++) {
        for (uint32_t i = 0; i < al->groups[g].size; i++)
            count += al->groups[g].positions[i] == HS_NO_ID;
    }
    w->unseen = HS_NEW(&w->arena, uint32_t, count);
    if (!w->unseen)
        return false;
    count = 0;
    for (uint32_t g = 0; g < al->group_count; g++) {
        for (uint32_t i = 0; i < al->groups[g].size; i++) {
            if (al->groups[g].positions[i] == HS_NO_ID)
                w->unseen[count++] = al->groups[g].ranks[i];
        }
    }
    qsort(w->unseen, count, sizeof(*w->unseen), hs_compare_u32);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || w->unseen[kept - 1] != w->unseen[i])
            w->unseen[kept++] = w->unseen[i];
    }
    w->unseen_count = kept;
    return true;
}

static bool add_unseen_holder(struct hs_waits *w, uint32_t rank)
{
    const uint32_t *at = bsearch(&rank, w->unseen, w->unseen_count, sizeof(rank), hs_compare_u32);

    return add_holder(w, hs_vertex_of_unseen(w, (uint32_t)(at - w->unseen)), HS_HOLDS_UNSEEN);
}

/* Whether the dump of a seat leaves open what the rank does after the calls it shows. */
static bool is_unclear(const struct hs_alignment *al, uint32_t seat)
{
    const struct hs_seat *s = &al->seats[seat];
    const struct hs_dump *dump = hs_seat_dump(al, seat);

    return s->older || s->lost || dump->cut_short || dump->member_count == 0;
}

/* ---- collectives ---- */

/* What member `position` has to do with collective (group, seq); false: it holds nothing up. */
static bool holds_collective(const struct hs_waits *w, const struct hs_position *p, uint32_t group,
                             uint32_t seq, enum hs_holding *how)
{
    const struct hs_alignment *al = w->al;
    const struct hs_seat *seat = &al->seats[p->seat];
    const struct hs_unit *head = seat->head == HS_NO_ID ? NULL : &al->pending[seat->head];

    if (p->entered < seq) {
        *how = is_unclear(al, p->seat) ? HS_HOLDS_UNCLEAR : HS_HOLDS_ABSENT;
        return true;
    }
    if (hs_position_finished(p, seq) || seat->older)
        return false;
    *how = seat->stale ? HS_HOLDS_STALE : seat->lost ? HS_HOLDS_UNCLEAR : HS_HOLDS_EARLIER;
    return !head || head->kind != HS_UNIT_COLLECTIVE || head->group != group || head->seq != seq;
}

static bool hold_collective(struct hs_waits *w, struct hs_node *node)
{
    const struct hs_group *group = &w->al->groups[node->group];

    for (uint32_t i = 0; i < group->size; i++) {
        enum hs_holding how;
        uint32_t position = group->positions[i];

        if (position == HS_NO_ID) {
            if (!add_unseen_holder(w, group->ranks[i]))
                return false;
        } else if (holds_collective(w, &w->al->positions[position], node->group, node->seq, &how)) {
            if (!add_holder(w, w->al->positions[position].seat, how))
                return false;
        }
    }
    return true;
}

/* ---- point-to-point: docs/formats/flight-recorder.md, "Matching pairs" ---- */

enum pair_reading {
    PAIR_JOINED, /* the peer has posted its side and waits in it too */
    PAIR_DONE,   /* the peer did its part: this rank is late to see it */
    PAIR_HELD,   /* the peer holds it up, for sure */
    PAIR_DOUBTED /* the peer shows nothing, and the rings do not reach back far enough to count */
};

static enum pair_reading read_pair(const struct hs_alignment *al, uint32_t seat, uint32_t peer_seat,
                                   const struct hs_exchange *x, enum hs_holding *how)
{
    const struct hs_pair *mine = &al->pairs[x->pair];
    const struct hs_seat *peer = &al->seats[peer_seat], *me = &al->seats[seat];
    uint32_t id = hs_pair_find(al, peer_seat, mine->group, me->rank, !mine->send);
    const struct hs_pair *theirs = id == HS_NO_ID ? NULL : &al->pairs[id];
    bool counted = me->from_start && peer->from_start && !me->only_active && !peer->only_active;

    *how = HS_HOLDS_ABSENT;
    if (theirs && theirs->unfinished && !peer->older) {
        const struct hs_exchange *first = &al->exchanges[theirs->first_unfinished];
        bool ahead =
            counted && x->ordinal > first->ordinal; /* it is in an earlier one of the pair */

        *how = peer->stale ? HS_HOLDS_STALE : peer->lost ? HS_HOLDS_UNCLEAR : HS_HOLDS_EARLIER;
        return peer->stale || peer->lost ||
                       (peer->head != HS_NO_ID && (ahead || peer->head < first->unit))
                   ? PAIR_HELD
                   : PAIR_JOINED;
    }
    if (is_unclear(al, peer_seat)) {
        *how = HS_HOLDS_UNCLEAR;
        return PAIR_HELD;
    }
    if (!counted)
        return PAIR_DOUBTED;
    return theirs && theirs->count >= x->ordinal ? PAIR_DONE : PAIR_HELD;
}

/*
 * Whether a doubted peer has surely done its part: its last finished exchange with this rank was
 * made after this rank's last one of the pair was done, by more than two hosts' clocks may differ.
 */
static bool has_moved_on(const struct hs_alignment *al, uint32_t seat, uint32_t peer_seat,
                         const struct hs_exchange *x)
{
    const int64_t clock_bound_ns = 1000000000;
    const struct hs_pair *mine = &al->pairs[x->pair];
    uint32_t id = hs_pair_find(al, peer_seat, mine->group, al->seats[seat].rank, !mine->send);

    return id != HS_NO_ID && mine->last_done_ns && al->pairs[id].last_created_ns &&
           al->pairs[id].last_created_ns > mine->last_done_ns + clock_bound_ns;
}

/* While a batch is read, doubted peers are told apart from those that hold it for sure. */
enum { DOUBTED = 100, MOVED_ON = 101 };

/*
 * At least one of the doubted peers holds the batch. Those that have moved on are not it; if one is
 * left, it is; of several, nobody knows which, and none is convicted.
 */
static void settle_doubts(struct hs_waits *w, uint32_t first)
{
    uint32_t doubted = 0, moved = 0, kept = first;

    for (uint32_t k = first; k < w->holder_count; k++) {
        doubted += w->holders[k].how >= DOUBTED;
        moved += w->holders[k].how == MOVED_ON;
    }
    for (uint32_t k = first; k < w->holder_count; k++) {
        struct hs_holder h = w->holders[k];

        if (h.how == MOVED_ON && moved < doubted)
            continue;
        if (h.how >= DOUBTED)
            h.how = (doubted == 1 || doubted - moved == 1) ? HS_HOLDS_ABSENT : HS_HOLDS_UNCLEAR;
        w->holders[kept++] = h;
    }
    w->holder_count = kept;
}

/* The holders of a pair or batch that `seat` has as its head. False without memory. */
static bool hold_pairs(struct hs_waits *w, const struct hs_unit *unit, bool *all_done)
{
    const struct hs_alignment *al = w->al;
    uint32_t first = w->holder_count;

    *all_done = unit->exchange_count > 0;
    for (uint32_t i = 0; i < unit->exchange_count; i++) {
        const struct hs_exchange *x = &al->exchanges[unit->first_exchange + i];
        uint32_t peer = al->pairs[x->pair].peer, peer_seat = hs_seat_of_rank(al, peer);
        enum hs_holding how;
        enum pair_reading reading;
        bool met = false;

        if (peer_seat == HS_NO_ID) {
            *all_done = false;
            if (!add_unseen_holder(w, peer))
                return false;
            continue;
        }
        reading = read_pair(al, unit->seat, peer_seat, x, &how);
        *all_done &= reading == PAIR_DONE;
        for (uint32_t k = first; k < w->holder_count; k++)
            met |= w->holders[k].who == peer_seat;
        if (met || reading == PAIR_JOINED || reading == PAIR_DONE)
            continue;
        if (!add_holder(w, peer_seat, how))
            return false;
        if (reading == PAIR_DOUBTED)
            w->holders[w->holder_count - 1].how =
                has_moved_on(al, unit->seat, peer_seat, x) ? MOVED_ON : DOUBTED;
    }
    settle_doubts(w, first);
    return true;
}

/* A rank whose peers did their part of its head is late to see it: its completions are stale. */
static bool settle_late_pairs(struct hs_waits *w, struct hs_alignment *al)
{
    for (uint32_t s = 0; s < al->seat_count; s++) {
        bool all_done;

        if (al->seats[s].head == HS_NO_ID ||
            al->pending[al->seats[s].head].kind == HS_UNIT_COLLECTIVE)
            continue;
        w->holder_count = 0;
        if (!hold_pairs(w, &al->pending[al->seats[s].head], &all_done))
            return false;
        if (all_done) {
            al->seats[s].stale++;
            al->seats[s].head = HS_NO_ID;
        }
    }
    w->holder_count = 0;
    return true;
}

/* ---- nodes ---- */

struct head {
    uint32_t group, seq, seat;
    bool is_pair;
};

static int by_node(const void *a, const void *b)
{
    const struct head *x = a, *y = b;

    if (x->is_pair != y->is_pair)
        return x->is_pair ? 1 : -1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->seat > y->seat) - (x->seat < y->seat);
}

static struct head *sort_heads(struct hs_waits *w)
{
    const struct hs_alignment *al = w->al;
    struct head *heads = HS_NEW(&w->arena, struct head, al->seat_count);

    for (uint32_t s = 0; heads && s < al->seat_count; s++) {
        const struct hs_unit *u =
            al->seats[s].head == HS_NO_ID ? NULL : &al->pending[al->seats[s].head];

        if (u)
            heads[w->waiter_count++] = (struct head){ .group = u->group,
                                                      .seq = u->seq,
                                                      .seat = s,
                                                      .is_pair = u->kind != HS_UNIT_COLLECTIVE };
    }
    if (heads)
        qsort(heads, w->waiter_count, sizeof(*heads), by_node);
    return heads;
}

static bool make_nodes(struct hs_waits *w)
{
    const struct hs_alignment *al = w->al;
    const struct head *heads = sort_heads(w);

    w->waiters = HS_NEW(&w->arena, uint32_t, al->seat_count);
    w->node_of_seat = HS_NEW(&w->arena, uint32_t, al->seat_count);
    if (!heads || !w->waiters || !w->node_of_seat)
        return false;
    memset(w->node_of_seat, 0xff, al->seat_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < w->waiter_count; i++) {
        const struct head *h = &heads[i];
        bool same = i > 0 && !h->is_pair && !heads[i - 1].is_pair &&
                    heads[i - 1].group == h->group && heads[i - 1].seq == h->seq;

        if (!same) {
            if (!HS_GROW(w->nodes, w->node_cap, w->node_count + 1u))
                return false;
            w->nodes[w->node_count++] = (struct hs_node){ .group = h->group,
                                                          .seq = h->seq,
                                                          .unit = al->seats[h->seat].head,
                                                          .is_pair = h->is_pair,
                                                          .first_waiter = i };
        }
        w->nodes[w->node_count - 1].waiter_count++;
        w->waiters[i] = h->seat;
        w->node_of_seat[h->seat] = w->node_count - 1;
    }
    return true;
}

static bool find_holders(struct hs_waits *w)
{
    for (uint32_t n = 0; n < w->node_count; n++) {
        struct hs_node *node = &w->nodes[n];
        bool all_done;

        node->first_holder = w->holder_count;
        if (node->is_pair ? !hold_pairs(w, &w->al->pending[node->unit], &all_done)
                          : !hold_collective(w, node))
            return false;
        node->holder_count = w->holder_count - node->first_holder;
    }
    return true;
}

/* ---- sinks ---- */

/* Index the nodes by who holds them. */
static bool index_holders(struct hs_waits *w)
{
    uint32_t vertices = w->al->seat_count + w->unseen_count;
    uint32_t *next = HS_NEW(&w->arena, uint32_t, vertices + 1u);

    w->held = HS_NEW(&w->arena, uint32_t, w->holder_count);
    w->held_first = HS_NEW(&w->arena, uint32_t, vertices + 1u);
    if (!w->held || !w->held_first || !next)
        return false;
    for (uint32_t i = 0; i < w->holder_count; i++)
        w->held_first[w->holders[i].who + 1]++;
    for (uint32_t v = 0; v < vertices; v++)
        next[v + 1] = w->held_first[v + 1] += w->held_first[v];
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct hs_node *node = &w->nodes[n];

        for (uint32_t i = 0; i < node->holder_count; i++)
            w->held[next[w->holders[node->first_holder + i].who]++] = n;
    }
    return true;
}

/* A walk against the direction of waiting: vertices still to look at, and what was seen. */
struct reaching {
    uint32_t *queue, used, found;
    bool *node_done, *reached;
};

static void reach_nodes(const struct hs_waits *w, struct reaching *r, uint32_t holder)
{
    for (uint32_t i = w->held_first[holder]; i < w->held_first[holder + 1]; i++) {
        if (!r->node_done[w->held[i]]) {
            r->node_done[w->held[i]] = true;
            r->queue[r->used++] = hs_vertex_of_node(w, w->held[i]);
        }
    }
}

static void reach_waiters(const struct hs_waits *w, struct reaching *r, const struct hs_node *node)
{
    for (uint32_t i = 0; i < node->waiter_count; i++) {
        uint32_t seat = w->waiters[node->first_waiter + i];

        if (!r->reached[seat]) {
            r->reached[seat] = true;
            r->found++;
            r->queue[r->used++] = seat;
        }
    }
}

uint32_t hs_waits_reach(const struct hs_waits *w, const uint32_t *targets, uint32_t count,
                        bool *reached, struct hs_arena *scratch)
{
    uint32_t first_node = hs_vertex_of_node(w, 0);
    struct reaching r = { .used = 0 };

    r.reached = reached;
    r.node_done = HS_NEW(scratch, bool, w->node_count);
    r.queue = HS_NEW(scratch, uint32_t, (size_t)first_node + w->node_count + count);
    if (!r.queue || !r.node_done)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        r.queue[r.used++] = targets[i];
    for (uint32_t at = 0; at < r.used; at++) {
        if (r.queue[at] < first_node)
            reach_nodes(w, &r, r.queue[at]);
        else
            reach_waiters(w, &r, &w->nodes[r.queue[at] - first_node]);
    }
    return r.found;
}

static enum hs_sink_kind sink_of_holder(const struct hs_waits *w, const struct hs_holder *h)
{
    const struct hs_alignment *al = w->al;

    if (h->how == HS_HOLDS_UNSEEN)
        return HS_SINK_UNSEEN;
    if (h->how == HS_HOLDS_UNCLEAR || is_unclear(al, h->who))
        return HS_SINK_UNCLEAR;
    if (al->seats[h->who].stale)
        return HS_SINK_STALE;
    if (al->seats[h->who].head != HS_NO_ID)
        return HS_SINK_KINDS; /* it waits itself: follow it */
    return al->seats[h->who].pending_count ? HS_SINK_UNCLEAR : HS_SINK_IDLE;
}

/* Fill one kind from its targets (vertices): who, and which waiters get there. */
static bool fill_sink(struct hs_waits *w, enum hs_sink_kind kind, uint32_t *targets, uint32_t count)
{
    const struct hs_alignment *al = w->al;
    struct hs_sinks *sinks = &w->sinks[kind];
    bool *reached = HS_NEW(&w->arena, bool, al->seat_count);
    uint32_t kept = 0;

    if (!reached)
        return false;
    qsort(targets, count, sizeof(*targets), hs_compare_u32);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || targets[kept - 1] != targets[i])
            targets[kept++] = targets[i];
    }
    sinks->reach = hs_waits_reach(w, targets, kept, reached, &w->arena);
    sinks->who = targets;
    sinks->count = kept;
    sinks->waiters = HS_NEW(&w->arena, uint32_t, sinks->reach);
    if (!sinks->waiters)
        return false;
    for (uint32_t s = 0, n = 0; s < al->seat_count; s++) {
        if (reached[s])
            sinks->waiters[n++] = s;
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (kind == HS_SINK_UNSEEN)
            targets[i] = w->unseen[targets[i] - al->seat_count];
        else if (kind == HS_SINK_STUCK)
            targets[i] -= hs_vertex_of_node(w, 0);
    }
    return true;
}

static bool find_sinks(struct hs_waits *w)
{
    uint32_t *targets[HS_SINK_KINDS] = { NULL }, counts[HS_SINK_KINDS] = { 0 };

    for (unsigned k = 0; k < HS_SINK_KINDS; k++) {
        targets[k] = HS_NEW(&w->arena, uint32_t,
                            (size_t)w->holder_count + w->node_count + w->al->seat_count);
        if (!targets[k])
            return false;
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct hs_node *node = &w->nodes[n];

        if (node->holder_count == 0)
            targets[HS_SINK_STUCK][counts[HS_SINK_STUCK]++] = hs_vertex_of_node(w, n);
        for (uint32_t i = 0; i < node->holder_count; i++) {
            const struct hs_holder *h = &w->holders[node->first_holder + i];
            enum hs_sink_kind kind = sink_of_holder(w, h);

            if (kind != HS_SINK_KINDS)
                targets[kind][counts[kind]++] = h->who;
        }
    }
    for (uint32_t c = 0; c < w->cycle_count; c++) {
        for (uint32_t i = 0; i < w->cycles[c].count; i++)
            targets[HS_SINK_CYCLE][counts[HS_SINK_CYCLE]++] = w->cycles[c].seats[i];
    }
    for (unsigned k = 0; k < HS_SINK_KINDS; k++) {
        if (!fill_sink(w, (enum hs_sink_kind)k, targets[k], counts[k]))
            return false;
    }
    return true;
}

enum hs_status hs_waits_build(struct hs_waits *w, struct hs_alignment *al, struct hs_err *err)
{
    enum hs_status status;

    *w = (struct hs_waits){ .al = al };
    hs_arena_init(&w->arena);
    if (!list_unseen(w) || !settle_late_pairs(w, al) || !make_nodes(w) || !find_holders(w) ||
        !index_holders(w))
        return hs_no_memory(err);
    status = hs_waits_find_cycles(w, err);
    if (status == HS_OK && !find_sinks(w))
        status = hs_no_memory(err);
    return status;
}

void hs_waits_release(struct hs_waits *w)
{
    free(w->nodes);
    free(w->holders);
    hs_arena_release(&w->arena);
    *w = (struct hs_waits){ .al = NULL };
}
