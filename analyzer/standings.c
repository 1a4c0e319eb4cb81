/* standings.c - ranks in the same place, told together: the middle of the screen. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <stdlib.h>

/* What makes two ranks stand in the same place. */
struct standing_key {
    uint32_t seat;
    bool culprit;
    bool done;     /* nothing unfinished */
    uint32_t node; /* head; HS_NO_ID: none */
    uint32_t op;   /* what it is in, or was last in; HS_NO_ID: nothing recorded */
    uint32_t group, seq, signature_kind, frame;
};

uint32_t hs_standing_op(const struct hs_alignment *al, uint32_t seat)
{
    const struct hs_seat *s = &al->seats[seat];

    return s->head != HS_NO_ID            ? al->pending[s->head].first_op
           : s->stale && s->pending_count ? al->pending[s->first_pending].first_op
                                          : hs_last_op(al, seat);
}

static struct standing_key key_of(const struct hs_judged *j, uint32_t seat)
{
    const struct hs_alignment *al = &j->al;
    const struct hs_seat *s = &al->seats[seat];
    struct standing_key k = { .seat = seat,
                              .node = j->waits.node_of_seat[seat],
                              .frame = HS_NO_ID };

    k.op = hs_standing_op(al, seat);
    k.done = s->pending_count == 0;
    if (k.op == HS_NO_ID)
        return k;
    k.group = al->positions[hs_op_position(al, seat, k.op)].group;
    k.seq = hs_op_seq(al, seat, k.op);
    k.signature_kind = hs_op_signature(al, seat, k.op)->bare;
    k.frame = hs_user_frame(j->job, hs_seat_dump(al, seat)->operations[k.op].stack);
    return k;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The first of several comparisons that decides. */
static int first_difference(const int *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (order[i])
            return order[i];
    }
    return 0;
}

/* Ranks that are done and hold nobody up are one place, wherever they were last. */
static int same_place(const struct standing_key *a, const struct standing_key *b)
{
    const int where[] = { compare(b->culprit, a->culprit), compare(a->node, b->node),
                          compare(a->done, b->done),
                          compare(a->op == HS_NO_ID, b->op == HS_NO_ID) };
    const int call[] = { compare(a->group, b->group), compare(a->seq, b->seq),
                         compare(a->signature_kind, b->signature_kind),
                         compare(a->frame, b->frame) };
    int c = first_difference(where, sizeof(where) / sizeof(where[0]));

    if (c || a->op == HS_NO_ID || (a->done && !a->culprit))
        return c;
    return first_difference(call, sizeof(call) / sizeof(call[0]));
}

static int by_place(const void *a, const void *b)
{
    const struct standing_key *x = a, *y = b;
    int c = same_place(x, y);

    return c ? c : (x->seat > y->seat) - (x->seat < y->seat);
}

/* Culprits first, then who waits for them directly, then the largest crowds. */
static int by_weight(const void *a, const void *b)
{
    const struct hs_standing *x = a, *y = b;

    const int order[] = { compare(y->culprit, x->culprit), compare(y->direct, x->direct),
                          compare(y->rank_count, x->rank_count),
                          compare(x->ranks[0], y->ranks[0]) };

    return first_difference(order, sizeof(order) / sizeof(order[0]));
}

bool hs_is_culprit(const struct hs_verdict *v, uint32_t rank)
{
    uint32_t low = 0, high = v->culprit_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (v->culprits[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < v->culprit_count && v->culprits[low].rank == rank;
}

struct hs_str hs_shared_host_of(const struct hs_judged *j, const uint32_t *ranks, uint32_t count,
                                struct hs_arena *arena)
{
    uint32_t gpu;
    struct hs_str host = hs_host_of(j, ranks[0], &gpu, arena);

    for (uint32_t i = 1; i < count && host.p; i++) {
        struct hs_str other = hs_host_of(j, ranks[i], &gpu, arena);

        if (!other.p || !hs_str_eq(other, host))
            host.p = NULL;
    }
    return host;
}

/* A rank without any recorded call: its counter in the group where the others wait, if there is. */
static void put_counter(const struct hs_judged *j, uint32_t seat, struct hs_arena *arena,
                        struct hs_phrase *where)
{
    const struct hs_claim *claim = hs_winner(j);
    struct hs_evidence e = { .excerpt = { .p = NULL } };

    if (claim && claim->node != HS_NO_ID)
        e = hs_counter_evidence(&j->al, seat, j->waits.nodes[claim->node].group, arena);
    where->key = e.excerpt.p ? "place.counter" : "place.nothing";
    if (e.excerpt.p)
        hs_phrase_add(where, "counter", e.excerpt, 1);
}

void hs_tell_place(const struct hs_judged *j, uint32_t seat, struct hs_arena *arena,
                   struct hs_phrase *where)
{
    const struct hs_seat *s = &j->al.seats[seat];
    uint32_t op = hs_standing_op(&j->al, seat);

    if (op == HS_NO_ID) {
        put_counter(j, seat, arena, where);
        return;
    }
    where->key = s->head != HS_NO_ID ? "place.in" : s->stale ? "place.stale" : "place.after";
    hs_phrase_add(where, "operation", hs_op_label(&j->al, seat, op, arena), 1);
    hs_phrase_add(where, "state", hs_str_of(hs_state_name(&j->al, seat, op)), 1);
    hs_phrase_add(where, "pending", hs_arena_printf(arena, "%u", s->pending_count),
                  s->pending_count);
}

static bool put_standing(const struct hs_judged *j, struct hs_verdict *v,
                         const struct standing_key *keys, uint32_t count)
{
    struct hs_standing *s = &v->standings[v->standing_count++];
    const struct hs_claim *claim = hs_winner(j);
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, count);

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = j->al.seats[keys[i].seat].rank;
    *s = (struct hs_standing){ .ranks = ranks, .rank_count = count, .culprit = keys[0].culprit };
    s->direct = claim && claim->node != HS_NO_ID && keys[0].node == claim->node;
    s->host = hs_shared_host_of(j, ranks, count, &v->arena);
    hs_tell_place(j, keys[0].seat, &v->arena, &s->where);
    for (uint32_t i = 1; i < count && keys[0].op != HS_NO_ID; i++) {
        if (keys[i].group != keys[0].group || keys[i].seq != keys[0].seq) {
            s->where = (struct hs_phrase){ .key = "place.done" };
            return true;
        }
    }
    if (keys[0].op != HS_NO_ID)
        s->stack = hs_user_stack(
            j->job, hs_seat_dump(&j->al, keys[0].seat)->operations[keys[0].op].stack, &v->arena);
    return true;
}

/* Ranks that are waited for, and left neither dump nor line. */
static bool put_unseen(const struct hs_judged *j, struct hs_verdict *v)
{
    const struct hs_line_waits *lw = &j->lines;
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, j->waits.unseen_count), count = 0;

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < j->waits.unseen_count; i++) {
        uint32_t rank = j->waits.unseen[i];
        bool told = j->job->speaker_count && hs_is_culprit(v, rank);

        if (!told && !hs_u32_contains(lw->seen, lw->seen_count, rank))
            ranks[count++] = rank;
    }
    if (count)
        v->standings[v->standing_count++] = (struct hs_standing){
            .ranks = ranks,
            .rank_count = count,
            .culprit = hs_is_culprit(v, ranks[0]),
            .where = { .key = j->job->speaker_count ? "place.lines.unseen" : "place.unseen" },
        };
    return true;
}

bool hs_tell_standings(const struct hs_judged *j, struct hs_verdict *v)
{
    uint32_t seats = j->al.seat_count;
    struct standing_key *keys = HS_NEW(&v->arena, struct standing_key, seats);

    v->standings = HS_NEW(&v->arena, struct hs_standing,
                          (size_t)seats + j->lines.seen_count + v->culprit_count + 1u);
    if (!keys || !v->standings)
        return false;
    for (uint32_t s = 0; s < seats; s++) {
        keys[s] = key_of(j, s);
        keys[s].culprit = hs_is_culprit(v, j->al.seats[s].rank);
    }
    qsort(keys, seats, sizeof(*keys), by_place);
    for (uint32_t i = 0, end; i < seats; i = end) {
        for (end = i + 1; end < seats && same_place(&keys[i], &keys[end]) == 0; end++)
            continue;
        if (!put_standing(j, v, &keys[i], end - i))
            return false;
    }
    if (!put_unseen(j, v) || !hs_tell_line_standings(j, v))
        return false;
    qsort(v->standings, v->standing_count, sizeof(*v->standings), by_weight);
    return true;
}
