/* calls.c - c10d's operations as NCCL's calls, as ProcessGroupNCCL makes them. */
#include "replay/nccl/calls.h"

#include <stdlib.h>

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 3)
enum { TYPE_E4M3 = ncclFloat8e4m3, TYPE_E5M2 = ncclFloat8e5m2 };
#else
enum { TYPE_E4M3 = 10, TYPE_E5M2 = 11 };
#endif
enum { HAS_FP8 = 22403 }; /* 2.24.3 */

#define COUNT_MAX (1ull << 46) /* elements of one call; more is no buffer anyway */
#define ROOM_MAX (1ull << 62)  /* bytes of a step */

struct type_row {
    const char *recorded;
    int type;
    uint32_t bytes, multiple;
};

/* clang-format off */
static const struct type_row types[] = {
    { "Float",               ncclFloat32,  4, 1 },
    { "Half",                ncclFloat16,  2, 1 },
    { "BFloat16",            ncclBfloat16, 2, 1 },
    { "Double",              ncclFloat64,  8, 1 },
    { "Int",                 ncclInt32,    4, 1 },
    { "UInt32",              ncclUint32,   4, 1 },
    { "Long",                ncclInt64,    8, 1 },
    { "UInt64",              ncclUint64,   8, 1 },
    { "Char",                ncclInt8,     1, 1 },
    { "Byte",                ncclUint8,    1, 1 },
    { "Bool",                ncclUint8,    1, 1 },
    { "Float8_e4m3fn",       TYPE_E4M3,    1, 1 },
    { "Float8_e5m2",         TYPE_E5M2,    1, 1 },
    { "Float8_e4m3fnuz",     ncclUint8,    1, 1 },
    { "Float8_e5m2fnuz",     ncclUint8,    1, 1 },
    { "Float8_e8m0fnu",      ncclUint8,    1, 1 },
    { "Short",               ncclUint8,    1, 2 },
    { "UInt16",              ncclUint8,    1, 2 },
    { "ComplexHalf",         ncclFloat16,  2, 2 },
    { "ComplexFloat",        ncclFloat32,  4, 2 },
    { "ComplexDouble",       ncclFloat64,  8, 2 },
};

/* What a collective is by its recorded name; all others are barriers. */
static const struct {
    const char *recorded;
    enum hs_way way;
} ways[] = {
    { "all_reduce",                       HS_WAY_ALL_REDUCE },
    { "allreduce",                        HS_WAY_ALL_REDUCE },
    { "all_reduce_sparse",                HS_WAY_ALL_REDUCE },
    { "allreduce_coalesced",              HS_WAY_ALL_REDUCE },
    { "broadcast",                        HS_WAY_BROADCAST },
    { "_broadcast_oop",                   HS_WAY_BROADCAST },
    { "reduce",                           HS_WAY_REDUCE },
    { "_reduce_oop",                      HS_WAY_REDUCE },
    { "all_gather",                       HS_WAY_ALL_GATHER },
    { "all_gather_v",                     HS_WAY_ALL_GATHER },
    { "_all_gather_base",                 HS_WAY_ALL_GATHER },
    { "all_gather_single",                HS_WAY_ALL_GATHER },
    { "all_gather_into_tensor_coalesced", HS_WAY_ALL_GATHER },
    { "ALLGATHER_coalesced",              HS_WAY_ALL_GATHER },
    { "reduce_scatter",                   HS_WAY_REDUCE_SCATTER },
    { "reduce_scatter_v",                 HS_WAY_REDUCE_SCATTER },
    { "_reduce_scatter_base",             HS_WAY_REDUCE_SCATTER },
    { "reduce_scatter_single",            HS_WAY_REDUCE_SCATTER },
    { "reduce_scatter_tensor_coalesced",  HS_WAY_REDUCE_SCATTER },
    { "REDUCE_SCATTER_coalesced",         HS_WAY_REDUCE_SCATTER },
    { "all_to_all",                       HS_WAY_ALL_TO_ALL },
    { "all_to_all_single",                HS_WAY_ALL_TO_ALL },
    { "all_to_all_v_single",              HS_WAY_ALL_TO_ALL },
    { "gather",                           HS_WAY_GATHER },
    { "scatter",                          HS_WAY_SCATTER },
    { "send",                             HS_WAY_SEND },
    { "recv",                             HS_WAY_RECV },
};
/* clang-format on */

enum { TYPES = sizeof(types) / sizeof(types[0]), KINDS = sizeof(ways) / sizeof(ways[0]) };

enum hs_way hs_way_of(const struct hs_operation_kind *kind)
{
    for (size_t i = 0; kind->recorded && i < KINDS; i++) {
        if (strcmp(kind->recorded, ways[i].recorded) == 0)
            return ways[i].way;
    }
    return HS_WAY_BARRIER;
}

bool hs_way_is_grouped(enum hs_way way)
{
    return way == HS_WAY_ALL_TO_ALL || way == HS_WAY_GATHER || way == HS_WAY_SCATTER;
}

struct hs_type hs_type_of(struct hs_str recorded, int nccl_version)
{
    const struct type_row *row = &types[0];

    for (size_t i = 0; i < TYPES; i++) {
        if (hs_str_is(recorded, types[i].recorded))
            row = &types[i];
    }
    if ((row->type == TYPE_E4M3 || row->type == TYPE_E5M2) && nccl_version < HAS_FP8)
        return (struct hs_type){ .type = ncclUint8, .bytes = 1, .multiple = 1 };
    return (struct hs_type){ .type = (ncclDataType_t)row->type,
                             .bytes = row->bytes,
                             .multiple = row->multiple };
}

/* Elements of the tensor whose sizes begin at `at`, which moves to the next one. */
static uint64_t next_tensor(const struct hs_tensors *side, uint32_t *at)
{
    uint64_t count = 1, end;

    if (*at >= side->size_count)
        return 0;
    end = *at + 1 + (uint64_t)side->sizes[*at];
    end = end < side->size_count ? end : side->size_count;
    for (uint64_t i = *at + 1ull; i < end; i++) {
        if (side->sizes[i] < 0 || __builtin_mul_overflow(count, (uint64_t)side->sizes[i], &count))
            count = COUNT_MAX;
    }
    *at = (uint32_t)end;
    return count;
}

/* Elements of the n-th tensor of a side. */
static uint64_t tensor_elements(const struct hs_tensors *side, uint32_t n)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n && at < side->size_count; i++)
        at += 1 + (uint32_t)side->sizes[at];
    return next_tensor(side, &at);
}

/* ---- scaling ---- */

static int compare_counts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t multiplied(uint64_t count, double factor)
{
    double wanted = (double)count * factor;

    if (count == 0)
        return 0;
    return wanted < 1 ? 1 : wanted > (double)COUNT_MAX ? COUNT_MAX : (uint64_t)wanted;
}

static uint32_t list_side(const struct hs_tensors *side, uint64_t all, uint64_t *out)
{
    uint32_t at = 0;

    for (uint32_t t = 0; out && t < side->tensors; t++)
        out[t] = next_tensor(side, &at);
    if (out)
        out[side->tensors] = all;
    return side->tensors + 1;
}

/* All counts of a plan; how many. */
static uint32_t list_counts(const struct hs_plan *plan, uint64_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->signature_keys.count; i++) {
        const struct hs_plan_signature *sig = &plan->signatures[i];

        n += list_side(&sig->in, sig->numel_in, out ? out + n : NULL);
        n += list_side(&sig->out, sig->numel_out, out ? out + n : NULL);
    }
    return n;
}

bool hs_scaling_make(struct hs_scaling *out, const struct hs_plan *plan, double factor,
                     struct hs_arena *arena)
{
    uint32_t all = list_counts(plan, NULL), n = 0;

    *out = (struct hs_scaling){ .factor = factor,
                                .from = HS_NEW(arena, uint64_t, all + 1u),
                                .to = HS_NEW(arena, uint64_t, all + 1u) };
    if (!out->from || !out->to)
        return false;
    (void)list_counts(plan, out->from);
    if (all)
        qsort(out->from, all, sizeof(*out->from), compare_counts);
    for (uint32_t i = 0; i < all; i++) {
        if (n && out->from[n - 1] == out->from[i])
            continue;
        out->from[n] = out->from[i];
        out->to[n] = multiplied(out->from[i], factor);
        if (n && out->to[n] <= out->to[n - 1])
            out->to[n] = out->to[n - 1] + 1;
        n++;
    }
    out->count = n;
    return true;
}

uint64_t hs_scaled(const struct hs_scaling *s, uint64_t count)
{
    const uint64_t *found =
        s->count ? bsearch(&count, s->from, s->count, sizeof(*s->from), compare_counts) : NULL;

    return found ? s->to[found - s->from] : multiplied(count, s->factor);
}

/* ---- counts ---- */

/* Elements for one member: a tensor each, or an even share. What has any has one. */
static uint64_t share(const struct hs_tensors *side, uint64_t all, uint32_t member, uint32_t size)
{
    if (side->tensors == size && size > 1)
        return tensor_elements(side, member);
    if (size < 2 || all < size)
        return size < 2 ? all : all > 0;
    return all / size;
}

static const struct hs_plan_signature *member_signature(const struct hs_calls_of *of,
                                                        uint32_t member)
{
    const struct hs_plan_signature *sig = NULL;

    if (member != of->self && of->of_member)
        sig = of->of_member(of->who, member);
    return sig ? sig : of->sig;
}

/* What `from` sends to `to` in an all_to_all: as much as both sides have room for. */
static uint64_t exchanged(const struct hs_calls_of *of, uint32_t from, uint32_t to)
{
    const struct hs_plan_signature *a = member_signature(of, from), *b = member_signature(of, to);
    uint64_t out = share(&a->in, a->numel_in, to, of->size);
    uint64_t in = share(&b->out, b->numel_out, from, of->size);

    if (a->in.tensors == 0 || b->in.tensors == 0)
        return 1; /* sizes are not recorded */
    return out < in ? out : in;
}

/* What a member brings to an all_gather, or gets from a reduce_scatter. */
static uint64_t piece(const struct hs_calls_of *of, uint32_t member, bool gather)
{
    const struct hs_plan_signature *sig = of->sig;
    const struct hs_tensors *whole = gather ? &sig->out : &sig->in;
    bool own = (gather ? sig->kind->in : sig->kind->out) == HS_COUNT_EQUAL;

    if (whole->tensors == of->size && of->size > 1)
        return tensor_elements(whole, member);
    if (!own)
        sig = member_signature(of, member);
    if (gather)
        return sig->numel_in;
    return sig->numel_out && sig->numel_out != sig->numel_in
               ? sig->numel_out
               : share(&sig->in, sig->numel_in, member, of->size);
}

/* ---- the list ---- */

static struct hs_nccl_call *add(struct hs_nccl_calls *list, const struct hs_calls_of *of,
                                enum hs_way way, uint64_t count, struct hs_type type)
{
    struct hs_nccl_call *call;

    if (!HS_GROW(list->calls, list->cap, list->count + 1u))
        return NULL;
    call = &list->calls[list->count++];
    *call = (struct hs_nccl_call){ .way = (uint8_t)way,
                                   .reduction = (uint8_t)of->reduction,
                                   .count = count * type.multiple,
                                   .type = type,
                                   .salt = of->salt };
    return call;
}

static uint64_t take_room(uint64_t *used, uint64_t bytes)
{
    uint64_t at = *used;

    if (__builtin_add_overflow(*used, (bytes + 15) / 16 * 16, used))
        *used = ROOM_MAX; /* which no device has */
    return at;
}

static uint64_t bytes_of(const struct hs_nccl_call *call)
{
    return call->count * call->type.bytes;
}

static bool add_collective(struct hs_nccl_calls *list, const struct hs_calls_of *of,
                           enum hs_way way, uint64_t count, struct hs_type type)
{
    struct hs_nccl_call *call = add(list, of, way, count, type);
    bool gather = way == HS_WAY_ALL_GATHER, scatter = way == HS_WAY_REDUCE_SCATTER;

    if (!call)
        return false;
    call->in_place = !gather && !scatter;
    call->other = of->sig->root == HS_NO_ID ? 0 : of->sig->root;
    call->from = take_room(&list->in_bytes, bytes_of(call) * (scatter ? of->size : 1));
    call->to = call->from;
    if (!call->in_place)
        call->to = take_room(&list->out_bytes, bytes_of(call) * (gather ? of->size : 1));
    return true;
}

/* Uneven pieces: a broadcast from each member, or a reduction to each. */
static bool add_uneven(struct hs_nccl_calls *list, const struct hs_calls_of *of, bool gather,
                       struct hs_type type)
{
    for (uint32_t m = 0; m < of->size; m++) {
        struct hs_nccl_call *call = add(list, of, gather ? HS_WAY_BROADCAST : HS_WAY_REDUCE,
                                        hs_scaled(of->scaling, piece(of, m, gather)), type);

        if (!call)
            return false;
        call->in_place = true;
        call->other = m;
        call->from = call->to = take_room(&list->in_bytes, bytes_of(call));
    }
    return true;
}

static bool add_pieces(struct hs_nccl_calls *list, const struct hs_calls_of *of, enum hs_way way,
                       struct hs_type type)
{
    bool gather = way == HS_WAY_ALL_GATHER, even = true;

    for (uint32_t m = 1; m < of->size; m++)
        even = even && piece(of, m, gather) == piece(of, 0, gather);
    if (!even)
        return add_uneven(list, of, gather, type);
    return add_collective(list, of, way, hs_scaled(of->scaling, piece(of, of->self, gather)), type);
}

static bool add_half(struct hs_nccl_calls *list, const struct hs_calls_of *of, bool send,
                     uint32_t peer, uint64_t count, struct hs_type type)
{
    struct hs_nccl_call *call;

    if (count == 0)
        return true; /* c10d makes no call */
    call = add(list, of, send ? HS_WAY_SEND : HS_WAY_RECV, count, type);
    if (!call)
        return false;
    call->other = peer;
    call->from = call->to = take_room(send ? &list->in_bytes : &list->out_bytes, bytes_of(call));
    return true;
}

static bool add_exchange(struct hs_nccl_calls *list, const struct hs_calls_of *of, enum hs_way way,
                         struct hs_type type)
{
    uint32_t root = of->sig->root == HS_NO_ID ? 0 : of->sig->root;
    uint64_t whole = of->sig->in.tensors ? of->sig->numel_in : 1;
    bool ok = true;

    for (uint32_t m = 0; ok && m < of->size; m++) {
        if (way == HS_WAY_ALL_TO_ALL) {
            ok = add_half(list, of, true, m, hs_scaled(of->scaling, exchanged(of, of->self, m)),
                          type) &&
                 add_half(list, of, false, m, hs_scaled(of->scaling, exchanged(of, m, of->self)),
                          type);
        } else if (m != of->self && (m == root || of->self == root)) {
            /* what the root has itself it copies without NCCL */
            bool send = (way == HS_WAY_GATHER) == (m == root);

            ok = add_half(list, of, send, m, hs_scaled(of->scaling, whole), type);
        }
    }
    return ok;
}

static struct hs_type type_at(const struct hs_calls_of *of, uint32_t tensor)
{
    const struct hs_tensors *in = &of->sig->in;
    struct hs_str name = { .p = "" };

    if (in->dtype_count)
        name = hs_plan_string(of->plan, in->dtypes[tensor < in->dtype_count ? tensor : 0]);
    return hs_type_of(name, of->nccl_version);
}

/* Several tensors at once: a call for each. */
static bool add_coalesced(struct hs_nccl_calls *list, const struct hs_calls_of *of, enum hs_way way)
{
    const struct hs_tensors *side = way == HS_WAY_REDUCE_SCATTER ? &of->sig->out : &of->sig->in;

    uint32_t at = 0;

    for (uint32_t t = 0; t < side->tensors; t++) {
        if (!add_collective(list, of, way, hs_scaled(of->scaling, next_tensor(side, &at)),
                            type_at(of, t)))
            return false;
    }
    return true;
}

static bool is_coalesced(const struct hs_calls_of *of, enum hs_way way)
{
    const struct hs_plan_signature *sig = of->sig;

    if (way == HS_WAY_ALL_REDUCE || way == HS_WAY_BROADCAST || way == HS_WAY_REDUCE)
        return sig->in.tensors > 1;
    return (way == HS_WAY_ALL_GATHER || way == HS_WAY_REDUCE_SCATTER) && sig->in.tensors > 1 &&
           sig->in.tensors == sig->out.tensors;
}

bool hs_nccl_calls_add(struct hs_nccl_calls *list, const struct hs_calls_of *of)
{
    enum hs_way way = hs_way_of(of->sig->kind);
    struct hs_type type = type_at(of, 0), one = { ncclFloat32, 4, 1 };

    if (way == HS_WAY_BARRIER)
        return add_collective(list, of, way, 1, one);
    if (of->sig->in.tensors == 0 && !hs_way_is_grouped(way)) { /* sizes are not recorded */
        if (way == HS_WAY_SEND || way == HS_WAY_RECV)
            return add_half(list, of, way == HS_WAY_SEND, of->peer, 1, type);
        return add_collective(list, of, way, 1, type);
    }
    if (is_coalesced(of, way))
        return add_coalesced(list, of, way);
    switch (way) {
    case HS_WAY_ALL_GATHER:
    case HS_WAY_REDUCE_SCATTER:
        return add_pieces(list, of, way, type);
    case HS_WAY_ALL_TO_ALL:
    case HS_WAY_GATHER:
    case HS_WAY_SCATTER:
        return add_exchange(list, of, way, type);
    case HS_WAY_SEND:
    case HS_WAY_RECV:
        return add_half(list, of, way == HS_WAY_SEND, of->peer,
                        hs_scaled(of->scaling, of->sig->numel_in), type);
    default:
        return add_collective(list, of, way, hs_scaled(of->scaling, of->sig->numel_in), type);
    }
}

/* ---- bandwidth: doc/PERFORMANCE.md of nccl-tests ---- */

uint64_t hs_bandwidth_bytes(enum hs_way way, uint64_t count, uint32_t type_bytes, uint32_t ranks)
{
    bool whole = way == HS_WAY_ALL_GATHER || way == HS_WAY_REDUCE_SCATTER || hs_way_is_grouped(way);

    return count * type_bytes * (whole ? ranks : 1);
}

double hs_bus_factor(enum hs_way way, uint32_t ranks)
{
    double n = ranks;

    switch (way) {
    case HS_WAY_BARRIER:
    case HS_WAY_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case HS_WAY_ALL_GATHER:
    case HS_WAY_REDUCE_SCATTER:
    case HS_WAY_ALL_TO_ALL:
    case HS_WAY_GATHER:
    case HS_WAY_SCATTER:
        return (n - 1) / n;
    default:
        return 1;
    }
}

uint64_t hs_counted_elements(const struct hs_plan_signature *sig, enum hs_way way, uint32_t size,
                             const struct hs_scaling *scaling)
{
    uint64_t count = sig->numel_in;

    if (way == HS_WAY_BARRIER || sig->in.tensors == 0)
        return 1;
    if (way == HS_WAY_REDUCE_SCATTER)
        count = sig->numel_out && sig->numel_out != sig->numel_in ? sig->numel_out : count / size;
    if (way == HS_WAY_ALL_TO_ALL)
        count /= size;
    return hs_scaled(scaling, count);
}
