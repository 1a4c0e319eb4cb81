/*
 * timeline_arrows.c - which slices belong together: a send and its receive, and a call that waits
 * with the call that it waits for.
 */
#include "analyzer/timeline.h"

#include <stdlib.h>

/* As many as the table of waits holds (derive.c): the first of each stand for all. */
enum { HOLDERS = 8 };

/* A call, or what is wanted of a process, as far as an arrow is concerned. */
struct place {
    uint32_t process, slot;
    int64_t start_ns, end_ns;
};

static bool put_end(struct hs_timeline_making *m, const struct place *at, struct hs_arrow arrow)
{
    if (!HS_GROW(m->ends, m->end_cap, m->end_count + 1u))
        return false;
    m->ends[m->end_count++] =
        (struct hs_arrow_end){ .process = at->process, .slot = at->slot, .arrow = arrow };
    return true;
}

/*
 * When an arrow that begins with `from` arrives in `to`. Whoever reads the file takes equal times
 * in the order of processes, and an arrow that ends before it begins is lost.
 */
static int64_t arrival(const struct place *from, const struct place *to)
{
    int64_t at = from->start_ns + (to->process < from->process);

    return at > to->start_ns ? at : to->start_ns;
}

static bool put_arrow(struct hs_timeline_making *m, const struct place *from,
                      const struct place *to, enum hs_arrow_kind kind)
{
    struct hs_arrow tail = {
        .at_ns = from->start_ns, .id = ++m->arrow_count, .kind = (uint8_t)kind, .tail = true
    };
    struct hs_arrow head = {
        .at_ns = arrival(from, to), .id = tail.id, .kind = (uint8_t)kind, .tail = false
    };

    return put_end(m, from, tail) && put_end(m, to, head);
}

/* ---- sends and receives ---- */

/* A send or receive. Those of one number belong together: the k-th of a pair has 2 * k. */
struct exchange {
    uint32_t pair;   /* of the alignment, as the sender has it */
    uint32_t number; /* 2 * k, and of a receive one more */
    struct place place;
};

struct exchanges {
    struct exchange *rows;
    uint32_t count, cap;
};

static int by_number(const void *a, const void *b)
{
    const struct exchange *x = a, *y = b;

    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The pair of a send or receive, as its sender has it; HS_NO_ID: the sender left no such calls. */
static uint32_t pair_of_sender(const struct hs_alignment *al, const struct hs_slice *s)
{
    uint32_t seat = s->src == s->dst || s->src == HS_NO_ID || s->dst == HS_NO_ID
                        ? HS_NO_ID
                        : hs_seat_of_rank(al, s->src);

    return seat == HS_NO_ID ? HS_NO_ID : hs_pair_find(al, seat, s->track, s->dst, true);
}

static bool note_exchanges(struct hs_timeline_making *m, uint32_t process, uint32_t *counts,
                           struct exchanges *out)
{
    const struct hs_alignment *al = &m->j->al;
    uint32_t seat = m->processes[process].seat, count;
    struct hs_slice *slices;

    hs_arena_reset(&m->scratch);
    if (!hs_timeline_slices(m, process, 0, &slices, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_slice *s = &slices[i];
        uint32_t pair = pair_of_sender(al, s), receive = s->dst == al->seats[seat].rank, k;

        if (pair == HS_NO_ID)
            continue;
        k = ++counts[2 * (size_t)pair + receive];
        if (!hs_timeline_shows(m, s, hs_op_seq(al, seat, i)))
            continue;
        if (!HS_GROW(out->rows, out->cap, out->count + 1u))
            return false;
        out->rows[out->count++] = (struct exchange){
            .pair = pair,
            .number = 2 * k + receive,
            .place = { .process = process, .slot = i, .start_ns = s->start_ns, .end_ns = s->end_ns }
        };
    }
    return true;
}

static bool put_pair(struct hs_timeline_making *m, const struct place *send,
                     const struct place *receive)
{
    if (arrival(send, receive) <= receive->end_ns)
        return put_arrow(m, send, receive, HS_ARROW_PAIR);
    return put_arrow(m, receive, send, HS_ARROW_PAIR_ODD);
}

/* The k-th send of a rank to another is for the k-th receive, where both recorded all of them. */
static bool put_pairs(struct hs_timeline_making *m)
{
    const struct hs_alignment *al = &m->j->al;
    uint32_t *counts = HS_NEW(&m->arena, uint32_t, (size_t)al->pair_count * 2);
    struct exchanges x = { .count = 0 };
    bool ok = counts != NULL;

    for (uint32_t p = 0; ok && al->pair_count && p < m->process_count; p++) {
        uint32_t seat = m->processes[p].seat;

        if (seat != HS_NO_ID && al->seats[seat].from_start && !al->seats[seat].only_active)
            ok = note_exchanges(m, p, counts, &x);
    }
    if (ok && x.count)
        qsort(x.rows, x.count, sizeof(*x.rows), by_number);
    for (uint32_t i = 1; ok && i < x.count; i++) {
        const struct exchange *a = &x.rows[i - 1], *b = &x.rows[i];

        if (a->pair == b->pair && (a->number ^ b->number) == 1)
            ok = put_pair(m, &a->place, &b->place);
    }
    free(x.rows);
    return ok;
}

/* ---- waiting ---- */

static bool find_process(const struct hs_timeline_making *m, uint32_t rank, uint32_t *out)
{
    for (uint32_t low = 0, high = m->process_count; low < high;) {
        uint32_t mid = low + (high - low) / 2;

        if (m->processes[mid].rank == rank) {
            *out = mid;
            return true;
        }
        if (m->processes[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* The call that a seat is blocked in; false: it is not shown. */
static bool head_of(const struct hs_timeline_making *m, uint32_t seat, struct place *out)
{
    const struct hs_alignment *al = &m->j->al;
    uint32_t op = al->pending[al->seats[seat].head].first_op;
    struct hs_slice slice = { .end_ns = m->timeline.to_ns };

    *out = (struct place){ .process = m->process_of_seat[seat],
                           .slot = op,
                           .start_ns = hs_timeline_start(m, seat, op),
                           .end_ns = m->timeline.to_ns };
    return out->process != HS_NO_ID && hs_timeline_shows(m, &slice, hs_op_seq(al, seat, op));
}

/* Since when all who wait in a node do; false: none of them is shown. */
static bool since_when(const struct hs_timeline_making *m, const struct hs_node *node,
                       int64_t *since_ns)
{
    bool shown = false;

    *since_ns = m->timeline.from_ns;
    for (uint32_t i = 0; i < node->waiter_count; i++) {
        struct place at;

        shown |= head_of(m, m->j->waits.waiters[node->first_waiter + i], &at);
        if (at.start_ns > *since_ns)
            *since_ns = at.start_ns;
    }
    return shown;
}

/* Arrows from all who wait in a node to a rank that holds it up. */
static bool put_holder(struct hs_timeline_making *m, uint32_t n, uint32_t rank, enum hs_wanting why,
                       int64_t since_ns)
{
    const struct hs_node *node = &m->j->waits.nodes[n];
    struct place to = { .slot = HS_OPERATIONS_MAX + n,
                        .start_ns = since_ns,
                        .end_ns = m->timeline.to_ns };

    if (!find_process(m, rank, &to.process))
        return true;
    if (!HS_GROW(m->wanted, m->wanted_cap, m->wanted_count + 1u))
        return false;
    m->wanted[m->wanted_count++] = (struct hs_wanted){
        .process = to.process, .node = n, .since_ns = since_ns, .why = (uint8_t)why
    };
    for (uint32_t i = 0; i < node->waiter_count; i++) {
        struct place from;

        if (!head_of(m, m->j->waits.waiters[node->first_waiter + i], &from) ||
            from.process == to.process)
            continue;
        from.start_ns = since_ns;
        if (!put_arrow(m, &from, &to, HS_ARROW_WAIT))
            return false;
    }
    return true;
}

/* To the first who hold the node up; if nobody does, to the culprits. */
static bool put_node(struct hs_timeline_making *m, uint32_t n)
{
    static const uint8_t reasons[] = {
        [HS_HOLDS_ABSENT] = HS_WANTED_ABSENT,   [HS_HOLDS_EARLIER] = HS_WANTED_EARLIER,
        [HS_HOLDS_STALE] = HS_WANTED_STALE,     [HS_HOLDS_UNSEEN] = HS_WANTED_UNSEEN,
        [HS_HOLDS_UNCLEAR] = HS_WANTED_UNCLEAR,
    };
    const struct hs_waits *w = &m->j->waits;
    const struct hs_node *node = &w->nodes[n];
    int64_t since_ns;
    bool ok = true;

    if (!since_when(m, node, &since_ns))
        return true;
    for (uint32_t i = 0; ok && i < node->holder_count && i < HOLDERS; i++) {
        const struct hs_holder *h = &w->holders[node->first_holder + i];
        uint32_t rank = h->who < w->al->seat_count ? w->al->seats[h->who].rank
                                                   : w->unseen[h->who - w->al->seat_count];

        ok = put_holder(m, n, rank, (enum hs_wanting)reasons[h->how], since_ns);
    }
    for (uint32_t i = 0; ok && !node->holder_count && i < m->culprit_count && i < HOLDERS; i++)
        ok = put_holder(m, n, m->culprit_ranks[i], HS_WANTED_CULPRIT, since_ns);
    return ok;
}

static int by_process(const void *a, const void *b)
{
    const struct hs_wanted *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int by_slot(const void *a, const void *b)
{
    const struct hs_arrow_end *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return (x->arrow.id > y->arrow.id) - (x->arrow.id < y->arrow.id);
}

bool hs_timeline_arrows(struct hs_timeline_making *m)
{
    bool ok = put_pairs(m);

    for (uint32_t n = 0; ok && n < m->j->waits.node_count; n++)
        ok = put_node(m, n);
    if (ok && m->wanted_count)
        qsort(m->wanted, m->wanted_count, sizeof(*m->wanted), by_process);
    if (ok && m->end_count)
        qsort(m->ends, m->end_count, sizeof(*m->ends), by_slot);
    return ok;
}
