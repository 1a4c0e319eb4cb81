/*
 * run.c - how a call gets on. A collective: all members arrive and mean the same; each reduces its
 * part of the elements; all collect the parts; when all have, it is over for all. A pair: the send
 * is posted, the receive takes it, then both are over.
 */
#include "double.h"

#include <string.h>

enum { BLOCK = 4096 }; /* elements reduced at a time */

static uint64_t part_begin(uint64_t count, int member, int members)
{
    return count * (uint64_t)member / (uint64_t)members;
}

/* ---- reductions ---- */

static bool reduce_block(struct ncclComm *comm, const struct hs_row *row, const struct hs_post *own,
                         uint64_t begin, uint32_t count, char *out)
{
    ncclDataType_t type = (ncclDataType_t)own->type;
    uint32_t bytes = hs_dtype_bytes(type);
    union hs_wide acc[BLOCK], in[BLOCK];
    uint64_t raw[BLOCK];

    for (int i = 0; i < comm->members; i++) {
        const struct hs_post *post = &row->posts[i];
        union hs_wide *wide = i ? in : acc;

        if (!hs_place_read(&post->send, begin * bytes, raw, (uint64_t)count * bytes))
            return false;
        hs_dtype_widen(type, raw, wide, count);
        hs_reduce_scale(type, wide, post->scalar, count);
        if (i)
            hs_reduce(type, (ncclRedOp_t)own->op, acc, in, count);
    }
    if (own->op == ncclAvg)
        hs_reduce_divide(type, acc, comm->members, count);
    hs_dtype_narrow(type, acc, out, count);
    return true;
}

/* This member's part of the elements, reduced, in memory that the others can read. */
static bool produce(struct ncclComm *comm, struct hs_row *row, struct hs_call *call)
{
    const struct hs_post *own = &call->post;
    bool scatter = own->kind == HS_REDUCE_SCATTER;
    uint64_t whole = scatter ? own->count * (uint64_t)comm->members : own->count;
    uint64_t begin = part_begin(whole, comm->rank, comm->members);
    uint64_t end = part_begin(whole, comm->rank + 1, comm->members);
    uint32_t bytes = hs_dtype_bytes((ncclDataType_t)own->type);
    char *out;

    if (own->kind != HS_ALL_REDUCE && own->kind != HS_REDUCE && !scatter)
        return true;
    call->scratch = hs_memory_new((end - begin) * bytes);
    if (!call->scratch)
        return false;
    out = hs_memory_real(call->scratch);
    for (uint64_t at = begin; at < end; at += BLOCK) {
        uint32_t count = (uint32_t)(end - at < BLOCK ? end - at : BLOCK);

        if (!reduce_block(comm, row, own, at, count, out + (at - begin) * bytes))
            return false;
    }
    return hs_memory_find(call->scratch, 1, &row->posts[comm->rank].scratch);
}

/* ---- results ---- */

/* The parts of all, one after the other. */
static bool collect_parts(const struct ncclComm *comm, const struct hs_row *row,
                          const struct hs_call *call, uint32_t bytes)
{
    for (int i = 0; i < comm->members; i++) {
        uint64_t begin = part_begin(call->post.count, i, comm->members);
        uint64_t end = part_begin(call->post.count, i + 1, comm->members);

        if (!hs_place_read(&row->posts[i].scratch, 0, (char *)call->recv + begin * bytes,
                           (end - begin) * bytes))
            return false;
    }
    return true;
}

/* `bytes` of each member, from there in what it sends. */
static bool collect_sent(const struct ncclComm *comm, const struct hs_row *row,
                         const struct hs_call *call, uint64_t from, uint64_t bytes)
{
    for (int i = 0; i < comm->members; i++) {
        if (!hs_place_read(&row->posts[i].send, from, (char *)call->recv + (uint64_t)i * bytes,
                           bytes))
            return false;
    }
    return true;
}

static bool collect(const struct ncclComm *comm, const struct hs_row *row,
                    const struct hs_call *call)
{
    const struct hs_post *own = &call->post;
    const struct hs_post *root = &row->posts[own->root];
    uint32_t element = hs_dtype_bytes((ncclDataType_t)own->type);
    uint64_t bytes = own->count * element, mine = (uint64_t)comm->rank * bytes;
    bool is_root = own->root == comm->rank;

    switch (own->kind) {
    case HS_ALL_REDUCE:
        return collect_parts(comm, row, call, element);
    case HS_REDUCE:
        return !is_root || collect_parts(comm, row, call, element);
    case HS_REDUCE_SCATTER:
        return hs_place_read(&row->posts[comm->rank].scratch, 0, call->recv, bytes);
    case HS_BROADCAST:
        return hs_place_read(&root->send, 0, call->recv, bytes);
    case HS_SCATTER:
        return hs_place_read(&root->send, mine, call->recv, bytes);
    case HS_ALL_GATHER:
        return collect_sent(comm, row, call, 0, bytes);
    case HS_GATHER:
        return !is_root || collect_sent(comm, row, call, 0, bytes);
    case HS_ALL_TO_ALL:
        return collect_sent(comm, row, call, mine, bytes);
    default:
        return false;
    }
}

/* A wrong sign, or a wrong high bit, in the first element. */
static void corrupt(const struct hs_call *call)
{
    uint32_t bytes = hs_dtype_bytes((ncclDataType_t)call->post.type);

    if (call->corrupts && call->recv)
        ((char *)call->recv)[bytes - 1] ^= 0x40;
}

/* ---- meetings ---- */

static bool same(const struct hs_post *a, const struct hs_post *b)
{
    return a->kind == b->kind && a->count == b->count && a->type == b->type && a->op == b->op &&
           a->root == b->root;
}

/* Whether what came together fits. Nobody gets out of what does not. */
static bool fits(struct ncclComm *comm, bool same_posts)
{
    if (!same_posts && hs_settings()->mismatch_fails && comm->state == ncclSuccess)
        hs_comm_fail(comm, ncclInvalidUsage, "Message truncated or collective mismatch");
    return same_posts;
}

static bool all_same(const struct ncclComm *comm, const struct hs_row *row)
{
    for (int i = 1; i < comm->members; i++) {
        if (!same(&row->posts[0], &row->posts[i]))
            return false;
    }
    return true;
}

/* A member that is gone cannot be read: the others then wait for ever, as for a real one. */
static bool advance_collective(struct ncclComm *comm, struct hs_call *call)
{
    struct hs_row *row = hs_segment_row(comm->segment, call->position);
    uint32_t members = (uint32_t)comm->members;

    if (!row)
        return false;
    switch (call->phase) {
    case HS_WAITS_FOR_ROW:
        row->posts[comm->rank] = call->post;
        atomic_fetch_add(&row->arrived, 1);
        break;
    case HS_ARRIVED:
        if (atomic_load(&row->arrived) < members || !fits(comm, all_same(comm, row)) ||
            !produce(comm, row, call))
            return false;
        call->ready_ns = (uint64_t)hs_now_ns() + hs_settings()->call_us * 1000;
        atomic_fetch_add(&row->produced, 1);
        break;
    case HS_PRODUCED:
        if (atomic_load(&row->produced) < members || (uint64_t)hs_now_ns() < call->ready_ns ||
            !collect(comm, row, call))
            return false;
        corrupt(call);
        atomic_fetch_add(&row->collected, 1);
        break;
    case HS_COLLECTED:
        if (atomic_load(&row->collected) < members)
            return false;
        hs_row_leave(row, members);
        break;
    case HS_DONE:
        return false;
    }
    call->phase++;
    return true;
}

static bool advance_send(struct ncclComm *comm, struct hs_call *call)
{
    struct hs_pair_row *row =
        hs_segment_pair(comm->segment, comm->rank, call->post.root, call->position);

    if (!row)
        return false;
    if (call->phase == HS_WAITS_FOR_ROW) {
        row->post = call->post;
        atomic_store(&row->state, HS_PAIR_POSTED);
        call->phase = HS_ARRIVED;
        return true;
    }
    if (atomic_load(&row->state) != HS_PAIR_TAKEN)
        return false;
    atomic_store(&row->state, HS_PAIR_FREE);
    atomic_fetch_add(&row->turn, 1);
    call->phase = HS_DONE;
    return true;
}

static bool advance_recv(struct ncclComm *comm, struct hs_call *call)
{
    struct hs_pair_row *row =
        hs_segment_pair(comm->segment, call->post.root, comm->rank, call->position);
    const struct hs_post *own = &call->post;

    if (!row || atomic_load(&row->state) != HS_PAIR_POSTED)
        return false;
    if (!fits(comm, row->post.count == own->count && row->post.type == own->type))
        return false;
    if (!call->ready_ns)
        call->ready_ns = (uint64_t)hs_now_ns() + hs_settings()->call_us * 1000;
    if ((uint64_t)hs_now_ns() < call->ready_ns ||
        !hs_place_read(&row->post.send, 0, call->recv,
                       own->count * hs_dtype_bytes((ncclDataType_t)own->type)))
        return false;
    corrupt(call);
    atomic_store(&row->state, HS_PAIR_TAKEN);
    call->phase = HS_DONE;
    return true;
}

bool hs_call_advance(struct ncclComm *comm, struct hs_call *call)
{
    if (call->phase == HS_DONE || call->stalls || comm->aborted)
        return false;
    if (call->fails) {
        if (comm->state == ncclSuccess)
            hs_comm_fail(comm, ncclRemoteError,
                         "remote process exited or there was a network error");
        return false;
    }
    if (call->post.kind == HS_SEND)
        return advance_send(comm, call);
    if (call->post.kind == HS_RECV)
        return advance_recv(comm, call);
    return advance_collective(comm, call);
}
