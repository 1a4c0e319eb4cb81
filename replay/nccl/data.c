/*
 * data.c - --check-data: what goes in is known, so what must come out is, too.
 *
 * What is only moved carries bytes that tell the sender, the receiver and the place. What is put
 * together comes from one member alone at each place, the others bring what changes nothing: so the
 * result is exact in every element type, and each member's part is seen. An average is exact in
 * whole numbers, which are cut; in others it may miss by two steps of its type.
 */
#include "replay/nccl/rank.h"

#include <math.h>
#include <stdlib.h>

struct place {
    uint32_t salt, from, to;
};

static unsigned char moved_byte(const struct place *p, uint64_t i)
{
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u + p->salt * 0xc2b2ae3d27d4eb4fu +
                     p->from * 0x165667b19e3779f9u + p->to * 0x27d4eb2f165667c5u;

    return (unsigned char)(mixed >> 56);
}

/* 1, 2 or 3; for an average, which is divided, 16, 32 or 48. */
static unsigned added_value(const struct hs_nccl_call *c, uint64_t element, uint32_t size)
{
    unsigned value = 1 + (unsigned)((element / size + c->salt) % 3);

    return c->reduction == HS_AVG ? 16 * value : value;
}

/* How a type with a point keeps a number: bits of its exponent and of its fraction. */
struct binary {
    unsigned exponent, fraction;
};

static bool binary_of(const struct hs_type *type, struct binary *out)
{
    switch ((int)type->type) {
    case ncclFloat16:
        *out = (struct binary){ 5, 10 };
        return true;
    case ncclFloat32:
        *out = (struct binary){ 8, 23 };
        return true;
    case ncclFloat64:
        *out = (struct binary){ 11, 52 };
        return true;
    case ncclBfloat16:
        *out = (struct binary){ 8, 7 };
        return true;
    case 10: /* ncclFloat8e4m3, in headers from 2.24 on */
        *out = (struct binary){ 4, 3 };
        return true;
    case 11: /* ncclFloat8e5m2 */
        *out = (struct binary){ 5, 2 };
        return true;
    default:
        return false;
    }
}

/* A whole number that its type holds exactly: the bytes, least significant first. */
static void put_value(unsigned char *at, const struct hs_type *type, unsigned value)
{
    struct binary b;
    uint64_t bits = value;

    if (binary_of(type, &b) && value > 0) {
        unsigned high = 31 - (unsigned)__builtin_clz(value); /* the place of the leading bit */
        uint64_t bias = (1u << (b.exponent - 1)) - 1, rest = value - (1u << high);

        bits = (bias + high) << b.fraction;
        bits |= b.fraction >= high ? rest << (b.fraction - high) : rest >> (high - b.fraction);
    }
    for (uint32_t i = 0; i < type->bytes; i++)
        at[i] = (unsigned char)(i < sizeof(bits) ? bits >> 8 * i : 0);
}

/* The number that positive bytes of a type with a point stand for. Of what is smaller than its
 * normal numbers it makes less than it is, which the averages here never are. */
static double value_of(const unsigned char *at, const struct hs_type *type, const struct binary *b)
{
    int bias = (1 << (b->exponent - 1)) - 1;
    uint64_t bits = 0;

    for (uint32_t i = 0; i < type->bytes; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    return ldexp(1 + ldexp((double)(bits & ((UINT64_C(1) << b->fraction) - 1)), -(int)b->fraction),
                 (int)(bits >> b->fraction) - bias);
}

/* What changes nothing, as long as values are 1 to 3. */
static unsigned neutral(enum hs_reduction reduction)
{
    return reduction == HS_PROD ? 1 : reduction == HS_MIN ? 3 : 0;
}

/* What a member brings to a reduction from element `first` on, or what comes out (`self` HS_NO_ID).
 */
static void put_elements(unsigned char *at, const struct hs_nccl_call *c, uint64_t first,
                         uint32_t self, uint32_t size)
{
    for (uint64_t i = 0; i < c->count; i++) {
        bool mine = self == HS_NO_ID || (first + i) % size == self;

        put_value(at + i * c->type.bytes, &c->type,
                  mine ? added_value(c, first + i, size)
                       : neutral((enum hs_reduction)c->reduction));
    }
}

static void put_moved(unsigned char *at, const struct hs_nccl_call *c, uint32_t from, uint32_t to)
{
    struct place p = { .salt = c->salt, .from = from, .to = to };

    for (uint64_t i = 0; i < c->count * c->type.bytes; i++)
        at[i] = moved_byte(&p, i);
}

static uint64_t bytes_of(const struct hs_nccl_call *c)
{
    return c->count * c->type.bytes;
}

/* What one call of NCCL takes; how many bytes. */
static uint64_t put_in(unsigned char *at, const struct hs_nccl_call *c, uint32_t self,
                       uint32_t size)
{
    switch ((enum hs_way)c->way) {
    case HS_WAY_BARRIER:
    case HS_WAY_ALL_REDUCE:
    case HS_WAY_REDUCE:
        put_elements(at, c, 0, self, size);
        return bytes_of(c);
    case HS_WAY_REDUCE_SCATTER:
        for (uint32_t m = 0; m < size; m++)
            put_elements(at + m * bytes_of(c), c, m * c->count, self, size);
        return bytes_of(c) * size;
    case HS_WAY_BROADCAST:
    case HS_WAY_ALL_GATHER:
        put_moved(at, c, self, HS_NO_ID);
        return bytes_of(c);
    case HS_WAY_SEND:
        put_moved(at, c, self, c->other);
        return bytes_of(c);
    default:
        return 0;
    }
}

/* What it must give, before an average divides; how many bytes, 0 when nothing is said of this
 * member's. */
static uint64_t put_out(unsigned char *at, const struct hs_nccl_call *c, uint32_t self,
                        uint32_t size)
{
    switch ((enum hs_way)c->way) {
    case HS_WAY_REDUCE:
        if (c->other != self)
            return 0;
        /* fall through */
    case HS_WAY_BARRIER:
    case HS_WAY_ALL_REDUCE:
        put_elements(at, c, 0, HS_NO_ID, size);
        return bytes_of(c);
    case HS_WAY_REDUCE_SCATTER:
        put_elements(at, c, self * c->count, HS_NO_ID, size);
        return bytes_of(c);
    case HS_WAY_BROADCAST:
        put_moved(at, c, c->other, HS_NO_ID);
        return bytes_of(c);
    case HS_WAY_ALL_GATHER:
        for (uint32_t m = 0; m < size; m++)
            put_moved(at + m * bytes_of(c), c, m, HS_NO_ID);
        return bytes_of(c) * size;
    case HS_WAY_RECV:
        put_moved(at, c, c->other, self);
        return bytes_of(c);
    default:
        return 0;
    }
}

static bool is_average(const struct hs_nccl_call *c)
{
    return c->reduction == HS_AVG && (c->way == HS_WAY_ALL_REDUCE || c->way == HS_WAY_REDUCE ||
                                      c->way == HS_WAY_REDUCE_SCATTER);
}

/* Whether what came is the average of members one of whom brought `sum`, and the others nothing. */
static bool is_divided(const unsigned char *got, const unsigned char *sum,
                       const struct hs_type *type, uint32_t size)
{
    struct binary b;
    double whole, miss;

    if (!binary_of(type, &b)) {
        unsigned char want[16] = { (unsigned char)(*sum / size) };

        return memcmp(got, want, type->bytes) == 0;
    }
    whole = value_of(sum, type, &b);
    miss = value_of(got, type, &b) * size - whole;
    return fabs(miss) <= ldexp(whole, 1 - (int)b.fraction);
}

/* The first byte that is wrong; `bytes` when none is. */
static uint64_t first_wrong(const struct hs_nccl_call *c, const unsigned char *got,
                            const unsigned char *want, uint64_t bytes, uint32_t size)
{
    bool average = is_average(c);
    uint64_t k = 0, step = average ? c->type.bytes : 1;

    while (k < bytes &&
           (average ? is_divided(got + k, want + k, &c->type, size) : got[k] == want[k]))
        k += step;
    return k;
}

static bool copy(struct hs_rank *r, void *to, const void *from, uint64_t bytes,
                 enum cudaMemcpyKind kind)
{
    return hs_rank_cuda(r, r->api.cudaMemcpyAsync(to, from, bytes, kind, r->copies),
                        "cudaMemcpyAsync") &&
           hs_rank_cuda(r, r->api.cudaStreamSynchronize(r->copies), "cudaStreamSynchronize");
}

bool hs_data_fill(struct hs_rank *r, uint32_t step)
{
    const struct hs_comm *comm = &r->w->script->comms[r->course.steps[step].comm];
    uint32_t self = hs_comm_index(comm, r->row);
    unsigned char *room = malloc(r->calls.in_bytes + 1);
    bool ok = true;

    if (!room)
        return hs_rank_fail(r, "out of memory");
    for (uint32_t i = 0; ok && i < r->calls.count; i++) {
        const struct hs_nccl_call *c = &r->calls.calls[i];
        uint64_t bytes = put_in(room, c, self, comm->size);

        if (bytes)
            ok = copy(r, r->flights[step].in + c->from, room, bytes, cudaMemcpyHostToDevice);
    }
    free(room);
    return ok;
}

static void note_wrong(struct hs_rank *r, uint32_t step, const struct hs_nccl_call *c,
                       uint64_t byte)
{
    struct hs_shared_rank *s = &r->w->ranks[r->row];

    if (s->wrong++ == 0) {
        s->wrong_call = r->course.steps[step].first;
        s->wrong_at = byte / c->type.bytes;
    }
}

bool hs_data_check(struct hs_rank *r, uint32_t step)
{
    const struct hs_step *at = &r->course.steps[step];
    const struct hs_comm *comm = &r->w->script->comms[at->comm];
    uint32_t self = hs_comm_index(comm, r->row);
    unsigned char *want, *got;
    bool ok = true, wrong = false;
    uint64_t room;

    if (!hs_step_calls(r->w->script, r->row, at, r->w->shared->machine.nccl, &r->calls))
        return hs_rank_fail(r, "out of memory");
    room = r->calls.in_bytes + r->calls.out_bytes + 1;
    want = malloc(2 * room);
    if (!want)
        return hs_rank_fail(r, "out of memory");
    got = want + room;
    for (uint32_t i = 0; ok && !wrong && at->kind != HS_STEP_FILL && i < r->calls.count; i++) {
        const struct hs_nccl_call *c = &r->calls.calls[i];
        const char *from =
            c->in_place ? r->flights[step].in + c->from : r->flights[step].out + c->to;
        uint64_t bytes = put_out(want, c, self, comm->size), at_byte;

        ok = bytes == 0 || copy(r, got, from, bytes, cudaMemcpyDeviceToHost);
        at_byte = ok ? first_wrong(c, got, want, bytes, comm->size) : bytes;
        wrong = at_byte < bytes;
        if (wrong)
            note_wrong(r, step, c, at_byte);
    }
    free(want);
    return ok;
}
