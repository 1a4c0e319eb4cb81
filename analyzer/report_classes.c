/*
 * report_classes.c - equal ranks as one: the same last call in each group, the same state, stack,
 * and the same calls lately. Groups of one kind count as one: ranks of different tensor groups that
 * did the same in theirs are equal.
 */
#include "analyzer/report_internal.h"

#include "analyzer/callsites.h"
#include "base/limits.h"

#include <stdlib.h>

enum { LATELY = 64 };

struct keyed {
    uint64_t key;
    uint32_t row, seat; /* seat HS_NO_ID: no dump */
};

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_call(const struct hs_reporting *r, uint64_t h, uint32_t seat, uint32_t op)
{
    const struct hs_alignment *al = &r->j->al;

    h = mix(h, r->out->groups[al->positions[hs_op_position(al, seat, op)].group].kind);
    h = mix(h, hs_op_seq(al, seat, op));
    return mix(h, r->canon[hs_seat_dump(al, seat)->operations[op].signature]);
}

/* Where it stands, and no more: the verdict's part in it, the call, its state, the user's line. */
static uint64_t key_of_place(const struct hs_reporting *r, uint32_t row, uint32_t seat)
{
    const struct hs_report_rank *rank = &r->out->ranks[row];
    uint64_t h = mix(mix(1, rank->role), rank->flags & ~(unsigned)HS_REPORT_LOG);
    uint32_t last = hs_last_op(&r->j->al, seat), head = r->j->al.seats[seat].head;

    if (rank->role == HS_ROLE_DONE || last == HS_NO_ID)
        return h;
    last = head == HS_NO_ID ? last : r->j->al.pending[head].first_op;
    h = mix_call(r, mix(h, rank->state), seat, last);
    return mix(h, hs_user_frame(r->j->job, hs_seat_dump(&r->j->al, seat)->operations[last].stack));
}

static uint64_t key_of_calls(const struct hs_reporting *r, uint32_t row, uint32_t seat)
{
    const struct hs_alignment *al = &r->j->al;
    const struct hs_report_rank *rank = &r->out->ranks[row];
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    uint64_t h = mix(mix(2, rank->role), rank->flags & ~(unsigned)HS_REPORT_LOG);

    for (uint32_t k = r->first_position[seat]; k < r->first_position[seat + 1]; k++) {
        const struct hs_position *p = &al->positions[r->positions[k]];

        if (!p->calls && !p->entered)
            continue;
        h = mix(mix(mix(h, r->out->groups[p->group].kind), p->entered), p->finished);
        if (p->last_op != HS_NO_ID)
            h = mix(mix_call(r, h, seat, p->last_op),
                    dump->operations[p->last_op].flags & HS_OPERATION_STATE);
    }
    h = mix(mix(h, rank->state), rank->stack);
    for (uint32_t i = dump->operation_count, n = 0; i-- > 0 && n < LATELY; n++)
        h = mix_call(r, h, seat, i);
    return h;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static uint32_t count_keys(const struct keyed *list, uint32_t count)
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < count; i++)
        different += i == 0 || list[i].key != list[i - 1].key;
    return different;
}

/* The standing of the verdict that a rank without a dump belongs to, as a key. */
static void key_unseen(const struct hs_reporting *r, struct keyed *list, uint32_t count,
                       const struct hs_standing **standing_of)
{
    for (uint32_t i = 0; i < r->v->standing_count; i++) {
        const struct hs_standing *s = &r->v->standings[i];

        for (uint32_t k = 0; k < s->rank_count; k++) {
            uint32_t row = hs_report_row(r->out, s->ranks[k]);

            if (row != HS_NO_ID)
                standing_of[row] = s;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_standing *s = standing_of[list[i].row];

        if (list[i].seat == HS_NO_ID)
            list[i].key =
                mix(mix(mix(3, r->out->ranks[list[i].row].role), r->out->ranks[list[i].row].flags),
                    s ? (uint64_t)(s - r->v->standings) + 1 : 0);
    }
}

/* ---- a class ---- */

static uint32_t groups_of(const struct hs_reporting *r, const struct keyed *list, uint32_t count,
                          uint32_t *met, uint32_t mark)
{
    uint32_t groups = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = r->out->ranks[list[i].row].group;

        if (g == HS_NO_ID || met[g] == mark)
            continue;
        met[g] = mark;
        groups++;
    }
    return groups;
}

static struct hs_str host_of(const struct hs_report *out, const struct keyed *list, uint32_t count)
{
    uint32_t host = out->ranks[list[0].row].host;

    for (uint32_t i = 1; i < count && host != HS_NO_ID; i++)
        host = out->ranks[list[i].row].host == host ? host : HS_NO_ID;
    return host == HS_NO_ID ? (struct hs_str){ .p = NULL } : hs_intern_get(&out->hosts, host);
}

static bool put_class(struct hs_reporting *r, const struct keyed *list, uint32_t count,
                      const struct hs_standing *standing, uint32_t *met)
{
    struct hs_report *out = r->out;
    struct hs_report_class *c = &out->classes[out->class_count];
    uint32_t *ranks = HS_NEW(&out->arena, uint32_t, count);

    if (!ranks)
        return false;
    *c = (struct hs_report_class){ .ranks = ranks,
                                   .rank_count = count,
                                   .example = list[0].row,
                                   .stack = out->ranks[list[0].row].stack,
                                   .role = out->ranks[list[0].row].role };
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = out->ranks[list[i].row].rank;
    c->group_count = groups_of(r, list, count, met, out->class_count + 1);
    c->host = host_of(out, list, count);
    if (list[0].seat != HS_NO_ID) {
        hs_tell_place(r->j, list[0].seat, &out->arena, &c->where);
    } else if (standing) {
        c->where = standing->where;
        c->stack_text = standing->stack;
    }
    out->class_count++;
    return true;
}

/* Culprits first, then who waits for them, then the largest; unseen ranks before those that are
 * done. */
static int by_weight(const void *a, const void *b)
{
    static const uint8_t order[] = {
        [HS_ROLE_CULPRIT] = 0, [HS_ROLE_DIRECT] = 1, [HS_ROLE_WAITS] = 2,
        [HS_ROLE_NONE] = 2,    [HS_ROLE_UNSEEN] = 3, [HS_ROLE_DONE] = 4
    };
    const struct hs_report_class *x = a, *y = b;

    if (order[x->role] != order[y->role])
        return order[x->role] < order[y->role] ? -1 : 1;
    if (x->rank_count != y->rank_count)
        return x->rank_count > y->rank_count ? -1 : 1;
    return (x->ranks[0] > y->ranks[0]) - (x->ranks[0] < y->ranks[0]);
}

static void number_classes(struct hs_report *out)
{
    if (out->class_count)
        qsort(out->classes, out->class_count, sizeof(*out->classes), by_weight);
    for (uint32_t i = 0; i < out->class_count; i++) {
        for (uint32_t k = 0; k < out->classes[i].rank_count; k++)
            out->ranks[hs_report_row(out, out->classes[i].ranks[k])].fold = i;
    }
}

/* Keys of all ranks, sorted; how many different ones there are. */
static uint32_t key_ranks(struct hs_reporting *r, struct keyed *list, bool by_place,
                          const struct hs_standing **standing_of)
{
    const struct hs_report *out = r->out;

    for (uint32_t i = 0; i < out->rank_count; i++) {
        uint32_t seat = hs_seat_of_rank(&r->j->al, out->ranks[i].rank);

        list[i] = (struct keyed){ .row = i, .seat = seat };
        if (seat != HS_NO_ID)
            list[i].key = by_place ? key_of_place(r, i, seat) : key_of_calls(r, i, seat);
    }
    key_unseen(r, list, out->rank_count, standing_of);
    if (out->rank_count)
        qsort(list, out->rank_count, sizeof(*list), by_key);
    return count_keys(list, out->rank_count);
}

bool hs_report_classes(struct hs_reporting *r)
{
    struct hs_report *out = r->out;
    struct keyed *list = HS_NEW(&r->scratch, struct keyed, out->rank_count);
    uint32_t *met = HS_NEW(&r->scratch, uint32_t, out->group_count), different;
    const struct hs_standing **standing_of =
        HS_NEW(&r->scratch, const struct hs_standing *, out->rank_count);

    if (!list || !met || !standing_of)
        return false;
    different = key_ranks(r, list, false, standing_of);
    out->by_place = different > HS_REPORT_CLASSES_MAX;
    if (out->by_place)
        different = key_ranks(r, list, true, standing_of);
    out->classes = HS_NEW(&out->arena, struct hs_report_class, different);
    for (uint32_t i = 0, end; out->classes && i < out->rank_count; i = end) {
        for (end = i + 1; end < out->rank_count && list[end].key == list[i].key; end++)
            continue;
        if (!put_class(r, &list[i], end - i, standing_of[list[i].row], met))
            return false;
    }
    number_classes(out);
    return out->classes != NULL;
}
