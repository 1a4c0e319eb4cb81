/* calls.c - the entry points of communication: what they ask of their arguments, and the faults. */
#include "double.h"

#include <signal.h>
#include <stdio.h>

struct own_op {
    const struct ncclComm *comm;
    double scalar;
};

static struct own_op own_ops[HS_REDOPS]; /* under the lock */

/* How much a member sends and receives: nothing, its count, or that for each member. */
enum share { NONE, ONE, EACH };

/* clang-format off */
static const struct {
    uint8_t send, recv, send_root, recv_root; /* of the root other than of the rest */
    bool rooted, reduces;
    const char *name;
} kinds[] = {
    [HS_ALL_REDUCE] = { ONE, ONE, ONE, ONE, false, true, "ncclAllReduce" },
    [HS_BROADCAST] = { NONE, ONE, ONE, ONE, true, false, "ncclBroadcast" },
    [HS_REDUCE] = { ONE, NONE, ONE, ONE, true, true, "ncclReduce" },
    [HS_ALL_GATHER] = { ONE, EACH, ONE, EACH, false, false, "ncclAllGather" },
    [HS_REDUCE_SCATTER] = { EACH, ONE, EACH, ONE, false, true, "ncclReduceScatter" },
    [HS_ALL_TO_ALL] = { EACH, EACH, EACH, EACH, false, false, "ncclAlltoAll" },
    [HS_GATHER] = { ONE, NONE, ONE, EACH, true, false, "ncclGather" },
    [HS_SCATTER] = { NONE, ONE, EACH, ONE, true, false, "ncclScatter" },
    [HS_SEND] = { ONE, NONE, ONE, NONE, true, false, "ncclSend" },
    [HS_RECV] = { NONE, ONE, NONE, ONE, true, false, "ncclRecv" },
};
/* clang-format on */

enum { FP8_SINCE = 22403 };

static bool is_pair(int kind)
{
    return kind == HS_SEND || kind == HS_RECV;
}

static ncclResult_t invalid(struct ncclComm *comm, const char *what)
{
    snprintf(comm->error, sizeof(comm->error), "%s", what);
    return ncclInvalidArgument;
}

/* The operation behind one of the program's own. */
static bool find_op(const struct ncclComm *comm, struct hs_post *post)
{
    int own = post->op - ncclNumOps;

    post->scalar = 1;
    if (own < 0)
        return post->op >= 0;
    if (own >= HS_REDOPS || own_ops[own].comm != comm)
        return false;
    post->scalar = own_ops[own].scalar;
    post->op = ncclSum;
    return true;
}

static uint64_t share_bytes(const struct ncclComm *comm, const struct hs_post *post, uint8_t share)
{
    uint64_t bytes = post->count * hs_dtype_bytes((ncclDataType_t)post->type);

    return share == NONE ? 0 : share == ONE ? bytes : bytes * (uint64_t)comm->members;
}

static ncclResult_t check(struct ncclComm *comm, struct hs_call *call)
{
    struct hs_post *post = &call->post;
    bool fp8 = post->type == ncclFloat8e4m3 || post->type == ncclFloat8e5m2;
    bool root = post->root == comm->rank && !is_pair(post->kind);
    struct hs_place place;
    uint64_t sent, received;

    if (post->type < 0 || post->type >= ncclNumTypes || (fp8 && hs_settings()->version < FP8_SINCE))
        return invalid(comm, "invalid type");
    if (kinds[post->kind].reduces && !find_op(comm, post))
        return invalid(comm, "invalid reduction operation");
    if (kinds[post->kind].rooted && (post->root < 0 || post->root >= comm->members))
        return invalid(comm, "invalid root or peer");
    sent = share_bytes(comm, post, root ? kinds[post->kind].send_root : kinds[post->kind].send);
    received = share_bytes(comm, post, root ? kinds[post->kind].recv_root : kinds[post->kind].recv);
    if (sent && !hs_memory_find(call->send, sent, &post->send))
        return invalid(comm, "the send buffer is not device memory, or too small");
    if (received && !hs_memory_find(call->recv, received, &place))
        return invalid(comm, "the receive buffer is not device memory, or too small");
    call->recv = received ? hs_memory_real(call->recv) : NULL;
    return ncclSuccess;
}

/* What a fault does before the call is made. */
static ncclResult_t meet_faults(struct ncclComm *comm, struct hs_call *call)
{
    int rank = hs_state()->first_rank;
    uint64_t number = ++hs_state()->calls;

    if (hs_fault(rank, HS_DIES, HS_AT_CALL, number))
        raise(SIGKILL);
    if (hs_fault(rank, HS_HANGS, HS_AT_CALL, number)) {
        hs_leave();
        hs_hang();
    }
    if (hs_fault(rank, HS_REFUSES, HS_AT_CALL, number)) {
        snprintf(comm->error, sizeof(comm->error), "internal error of the double");
        return ncclInternalError;
    }
    call->stalls = hs_fault(rank, HS_STALLS, HS_AT_CALL, number);
    call->fails = hs_fault(rank, HS_FAILS, HS_AT_CALL, number);
    call->corrupts = hs_fault(rank, HS_CORRUPTS, HS_AT_CALL, number);
    return ncclSuccess;
}

static ncclResult_t make(ncclComm_t comm, cudaStream_t stream, struct hs_call call)
{
    ncclResult_t result = hs_comm_enter(comm);

    if (result != ncclSuccess)
        return result;
    hs_trace(kinds[call.post.kind].name);
    result = meet_faults(comm, &call);
    if (result == ncclSuccess && !hs_stream_is(stream))
        result = invalid(comm, "no such stream");
    if (result == ncclSuccess)
        result = check(comm, &call);
    /* A collective of nothing is not even launched. */
    if (result == ncclSuccess && (call.post.count || is_pair(call.post.kind)))
        result = hs_group_add(comm, &call, stream);
    hs_group_fail(result);
    hs_leave();
    return result;
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return make(
        comm, stream,
        (struct hs_call){ .post = { .kind = HS_ALL_REDUCE, .count = count, .type = type, .op = op },
                          .send = send,
                          .recv = recv });
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    return make(comm, stream,
                (struct hs_call){
                    .post = { .kind = HS_BROADCAST, .count = count, .type = type, .root = root },
                    .send = send,
                    .recv = recv });
}

ncclResult_t ncclBcast(void *both, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream)
{
    return ncclBroadcast(both, both, count, type, root, comm, stream);
}

ncclResult_t ncclReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return make(
        comm, stream,
        (struct hs_call){
            .post = { .kind = HS_REDUCE, .count = count, .type = type, .op = op, .root = root },
            .send = send,
            .recv = recv });
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    return make(comm, stream,
                (struct hs_call){ .post = { .kind = HS_ALL_GATHER, .count = count, .type = type },
                                  .send = send,
                                  .recv = recv });
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return make(comm, stream,
                (struct hs_call){
                    .post = { .kind = HS_REDUCE_SCATTER, .count = count, .type = type, .op = op },
                    .send = send,
                    .recv = recv });
}

ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream)
{
    return make(comm, stream,
                (struct hs_call){ .post = { .kind = HS_ALL_TO_ALL, .count = count, .type = type },
                                  .send = send,
                                  .recv = recv });
}

ncclResult_t ncclGather(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    return make(
        comm, stream,
        (struct hs_call){ .post = { .kind = HS_GATHER, .count = count, .type = type, .root = root },
                          .send = send,
                          .recv = recv });
}

ncclResult_t ncclScatter(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream)
{
    return make(comm, stream,
                (struct hs_call){
                    .post = { .kind = HS_SCATTER, .count = count, .type = type, .root = root },
                    .send = send,
                    .recv = recv });
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    return make(
        comm, stream,
        (struct hs_call){ .post = { .kind = HS_SEND, .count = count, .type = type, .root = peer },
                          .send = send });
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return make(
        comm, stream,
        (struct hs_call){ .post = { .kind = HS_RECV, .count = count, .type = type, .root = peer },
                          .recv = recv });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm)
{
    ncclResult_t result = hs_comm_enter(comm);
    const void *value = residence == ncclScalarDevice ? hs_memory_real(scalar) : scalar;
    int i = 0;

    if (result != ncclSuccess)
        return result;
    while (i < HS_REDOPS && own_ops[i].comm)
        i++;
    if (i == HS_REDOPS)
        result = ncclInternalError;
    if (result == ncclSuccess) {
        own_ops[i] = (struct own_op){ comm, hs_dtype_scalar(type, value) };
        *op = (ncclRedOp_t)(ncclNumOps + i);
    }
    hs_leave();
    return result;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    ncclResult_t result = hs_comm_enter(comm);
    int own = (int)op - ncclNumOps;

    if (result != ncclSuccess)
        return result;
    if (own < 0 || own >= HS_REDOPS || own_ops[own].comm != comm)
        result = ncclInvalidArgument;
    else
        own_ops[own].comm = NULL;
    hs_leave();
    return result;
}
