/*
 * data.c - --check-data: what goes in is known, so what must come out is, too.
 *
 * What is only moved carries bytes that tell the sender, the receiver and the place. What is put
 * together comes from one member alone at each place, the others bring what changes nothing: so the
 * result is exact in every element type, and each member's part is seen. Averages are not looked
 * at: how they round is the library's.
 */
#include "replay/nccl/rank.h"

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

static unsigned char added_value(uint32_t salt, uint64_t element, uint32_t size)
{
    return (unsigned char)(1 + (element / size + salt) % 3);
}

/* 1, 2 and 3 in each type: the bytes, least significant first. */
static void put_value(unsigned char *at, const struct hs_type *type, unsigned value)
{
    static const uint16_t half[] = { 0, 0x3c00, 0x4000, 0x4200 };
    static const uint16_t bfloat[] = { 0, 0x3f80, 0x4000, 0x4040 };
    static const uint8_t e4m3[] = { 0, 0x38, 0x40, 0x44 }, e5m2[] = { 0, 0x3c, 0x40, 0x42 };
    float single = (float)value;
    double both = value;

    memset(at, 0, type->bytes);
    switch ((int)type->type) {
    case ncclFloat32:
        memcpy(at, &single, sizeof(single));
        break;
    case ncclFloat64:
        memcpy(at, &both, sizeof(both));
        break;
    case ncclFloat16:
        memcpy(at, &half[value], sizeof(half[0]));
        break;
    case ncclBfloat16:
        memcpy(at, &bfloat[value], sizeof(bfloat[0]));
        break;
    case 10: /* ncclFloat8e4m3, in headers from 2.24 on */
        *at = e4m3[value];
        break;
    case 11: /* ncclFloat8e5m2 */
        *at = e5m2[value];
        break;
    default:
        *at = (unsigned char)value;
        break;
    }
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
                  mine ? added_value(c->salt, first + i, size)
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

/* What it must give; how many bytes, 0 when nothing is said of this member's. */
static uint64_t put_out(unsigned char *at, const struct hs_nccl_call *c, uint32_t self,
                        uint32_t size)
{
    if (c->reduction == HS_AVG)
        return 0;
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
        uint64_t bytes = put_out(want, c, self, comm->size), k = 0;

        ok = bytes == 0 || copy(r, got, from, bytes, cudaMemcpyDeviceToHost);
        while (ok && k < bytes && want[k] == got[k])
            k++;
        wrong = ok && k < bytes;
        if (wrong)
            note_wrong(r, step, c, k);
    }
    free(want);
    return ok;
}
