/*
 * mismatch.c - the members' records of one position, side by side.
 *
 * What may be compared is a matter of the operation (schema/operation.c). Precedence: another
 * operation, or a shift by one to three calls that explains what follows, or count and type
 * together -> order; count -> size; type -> dtype.
 */
#include "analyzer/mismatch.h"

#include <stdlib.h>

enum { SHIFT_MAX = 3, FOLLOWING = 24 };

void hs_call_key_of(const struct hs_job *job, const struct hs_signature *sig,
                    struct hs_call_key *out)
{
    bool typed = sig->tensors_in && sig->kind->dtype && hs_job_string(job, sig->dtypes_in).n;

    *out = (struct hs_call_key){
        .op = sig->kind->op,
        .name = sig->kind->op ? 0 : sig->bare,
        .root = sig->root,
        .in = sig->tensors_in && sig->kind->in == HS_COUNT_EQUAL ? sig->numel_in + 1 : 0,
        .out = sig->tensors_out && sig->kind->out == HS_COUNT_EQUAL ? sig->numel_out + 1 : 0,
        .dtype = typed ? sig->dtypes_in : HS_NO_ID,
    };
}

static struct hs_call_key call_of(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    struct hs_call_key key;

    hs_call_key_of(al->job, hs_op_signature(al, seat, op), &key);
    return key;
}

/* A root that one side did not record cannot differ. */
static bool same_op(const struct hs_call_key *a, const struct hs_call_key *b)
{
    if (a->root != b->root && a->root != HS_NO_ID && b->root != HS_NO_ID)
        return false;
    return a->op == b->op ? a->name == b->name : a->op && b->op && strcmp(a->op, b->op) == 0;
}

/* A count that one side did not record cannot differ. */
static bool same_size(const struct hs_call_key *a, const struct hs_call_key *b)
{
    return (!a->in || !b->in || a->in == b->in) && (!a->out || !b->out || a->out == b->out);
}

static bool same_dtype(const struct hs_call_key *a, const struct hs_call_key *b)
{
    return a->dtype == b->dtype || a->dtype == HS_NO_ID || b->dtype == HS_NO_ID;
}

static bool same_call(const struct hs_call_key *a, const struct hs_call_key *b)
{
    return same_op(a, b) && same_size(a, b) && same_dtype(a, b);
}

bool hs_same_call(const struct hs_job *job, const struct hs_signature *a,
                  const struct hs_signature *b)
{
    struct hs_call_key x, y;

    hs_call_key_of(job, a, &x);
    hs_call_key_of(job, b, &y);
    return same_call(&x, &y);
}

/* The call of a member at `seq`: of a coalesced group the first entry with sizes. HS_NO_ID: not in
 * the ring. */
static uint32_t find_call(const struct hs_alignment *al, const struct hs_position *p, uint32_t seq)
{
    const struct hs_dump *dump = hs_seat_dump(al, p->seat);
    uint32_t found = HS_NO_ID;

    if (p->member == HS_NO_ID || !p->first_recorded || seq < p->first_recorded ||
        seq > p->last_recorded)
        return HS_NO_ID;
    for (uint32_t i = p->last_op + 1; i-- > 0;) {
        if (dump->first_member + dump->operations[i].member != p->member ||
            hs_op_signature(al, p->seat, i)->self != HS_NO_ID)
            continue;
        if (hs_op_seq(al, p->seat, i) == seq)
            found = i;
        else if (hs_op_seq(al, p->seat, i) < seq)
            break;
    }
    return found;
}

static bool add_to_side(struct hs_mismatch *m, const struct hs_alignment *al, uint32_t seat,
                        uint32_t op, uint32_t cap, struct hs_arena *arena)
{
    struct hs_call_key call = call_of(al, seat, op);
    struct hs_side *side = NULL;

    for (uint32_t i = 0; i < m->side_count && !side; i++) {
        struct hs_call_key other = call_of(al, m->sides[i].seat, m->sides[i].op);

        if (same_call(&call, &other))
            side = &m->sides[i];
    }
    if (!side) {
        side = &m->sides[m->side_count++];
        *side = (struct hs_side){ .seat = seat, .op = op };
        side->seats = HS_NEW(arena, uint32_t, cap);
        if (!side->seats)
            return false;
    }
    side->seats[side->count++] = seat;
    m->seen++;
    return true;
}

static int largest_first(const void *a, const void *b)
{
    const struct hs_side *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->seats[0] > y->seats[0]) - (x->seats[0] < y->seats[0]);
}

/* How two sides differ, by the strictest reading. */
static enum hs_mismatch_kind compare(const struct hs_alignment *al, const struct hs_side *a,
                                     const struct hs_side *b)
{
    struct hs_call_key x = call_of(al, a->seat, a->op), y = call_of(al, b->seat, b->op);

    if (!same_op(&x, &y) || (!same_size(&x, &y) && !same_dtype(&x, &y)))
        return HS_ORDER_DIFFERS;
    return same_size(&x, &y) ? HS_DTYPE_DIFFERS : HS_SIZE_DIFFERS;
}

/* The calls of a member from `seq` - SHIFT_MAX on; `have` tells which are on record. */
struct stream {
    struct hs_call_key calls[FOLLOWING + 2 * SHIFT_MAX + 1];
    bool have[FOLLOWING + 2 * SHIFT_MAX + 1];
};

static void read_stream(const struct hs_alignment *al, uint32_t group, uint32_t seq, uint32_t seat,
                        struct stream *out)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);

    memset(out, 0, sizeof(*out));
    for (uint32_t i = dump->operation_count; i-- > 0;) {
        uint32_t n = hs_op_seq(al, seat, i);

        if (al->positions[hs_op_position(al, seat, i)].group != group ||
            hs_op_signature(al, seat, i)->self != HS_NO_ID)
            continue;
        if (n + SHIFT_MAX < seq)
            break;
        n = n + SHIFT_MAX - seq;
        if (n < FOLLOWING + 2 * SHIFT_MAX + 1) {
            out->calls[n] = call_of(al, seat, i);
            out->have[n] = true;
        }
    }
}

static bool next_differs(const struct stream *odd, const struct stream *base)
{
    enum { NEXT = SHIFT_MAX + 1 };

    return odd->have[NEXT] && base->have[NEXT] && !same_op(&odd->calls[NEXT], &base->calls[NEXT]);
}

/* Whether `odd`'s calls from the position on equal the others' `by` calls later (by > 0: it skipped
 * some; by < 0: its calls from here to -by are extra). At least two must be there to compare, and
 * they must not all be alike; or one, if the calls after it are different operations as they stand.
 */
static bool explains(const struct stream *odd, const struct stream *base, int32_t by)
{
    uint32_t compared = 0, first = 0;
    bool varied = false;

    for (int32_t i = SHIFT_MAX + (by < 0 ? -by : 0); i < FOLLOWING + SHIFT_MAX; i++) {
        int32_t k = i + by;

        if (!odd->have[i] || !base->have[k])
            continue;
        if (!same_call(&odd->calls[i], &base->calls[k]))
            return false;
        if (compared++ == 0)
            first = (uint32_t)i;
        varied |= !same_call(&odd->calls[i], &odd->calls[first]);
    }
    return compared >= 2 ? varied : compared == 1 && next_differs(odd, base);
}

/* Whether only this one call differs: what follows agrees as it stands. */
static bool follows_unshifted(const struct stream *odd, const struct stream *base)
{
    uint32_t compared = 0;

    for (int32_t i = SHIFT_MAX + 1; i < FOLLOWING + SHIFT_MAX; i++) {
        if (!odd->have[i] || !base->have[i])
            continue;
        if (!same_call(&odd->calls[i], &base->calls[i]))
            return false;
        compared++;
    }
    return compared > 0;
}

static int32_t find_shift(const struct hs_alignment *al, uint32_t group, uint32_t seq,
                          const struct hs_mismatch *m)
{
    static const int32_t tried[] = { 1, -1, 2, -2, 3, -3 };
    struct stream odd, base;

    read_stream(al, group, seq, m->sides[1].seat, &odd);
    read_stream(al, group, seq, m->sides[0].seat, &base);
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]) && !follows_unshifted(&odd, &base);
         i++) {
        if (explains(&odd, &base, tried[i]))
            return tried[i];
    }
    return 0;
}

bool hs_mismatch_find(const struct hs_alignment *al, uint32_t group, uint32_t seq,
                      struct hs_arena *arena, struct hs_mismatch *out)
{
    const struct hs_group *g = &al->groups[group];
    enum hs_mismatch_kind kind = HS_MATCHES;

    *out = (struct hs_mismatch){ .kind = HS_MATCHES };
    out->sides = HS_NEW(arena, struct hs_side, g->size);
    if (!out->sides)
        return false;
    for (uint32_t i = 0; i < g->size; i++) {
        const struct hs_position *p =
            g->positions[i] == HS_NO_ID ? NULL : &al->positions[g->positions[i]];
        uint32_t op = p ? find_call(al, p, seq) : HS_NO_ID;

        if (op != HS_NO_ID && !add_to_side(out, al, p->seat, op, g->size, arena))
            return false;
    }
    if (out->side_count < 2)
        return true;
    qsort(out->sides, out->side_count, sizeof(*out->sides), largest_first);
    out->majority = out->sides[0].count * 2 > out->seen;
    for (uint32_t i = 1; i < out->side_count; i++) {
        enum hs_mismatch_kind k = compare(al, &out->sides[0], &out->sides[i]);

        if (kind == HS_MATCHES || k < kind)
            kind = k;
    }
    out->kind = kind;
    out->shift = find_shift(al, group, seq, out);
    if (out->shift)
        out->kind = HS_ORDER_DIFFERS;
    return true;
}
