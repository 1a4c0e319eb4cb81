/*
 * group.c - group calls. What is called between start and end is one kernel for each communicator,
 * and is launched at the outermost end. A group belongs to a thread.
 */
#include "double.h"

#include <stdlib.h>
#include <string.h>

struct group {
    int depth;
    ncclResult_t failed; /* the first error inside */
    struct hs_work *works[HS_GROUP_COMMS];
    struct ncclComm *awaited[HS_GROUP_COMMS];
    uint32_t work_count, awaited_count;
};

static _Thread_local struct group group;

static struct hs_work *work_of(struct ncclComm *comm)
{
    struct hs_work *work;

    for (uint32_t i = 0; i < group.work_count; i++) {
        if (group.works[i]->comm == comm)
            return group.works[i];
    }
    work = group.work_count < HS_GROUP_COMMS ? calloc(1, sizeof(*work)) : NULL;
    if (work) {
        work->comm = comm;
        group.works[group.work_count++] = work;
    }
    return work;
}

static bool add_stream(struct hs_work *work, cudaStream_t stream)
{
    cudaStream_t *more;

    for (uint32_t i = 0; i < work->stream_count; i++) {
        if (work->streams[i] == stream)
            return true;
    }
    more = realloc(work->streams, (work->stream_count + 1) * sizeof(cudaStream_t));
    if (!more)
        return false;
    work->streams = more;
    work->streams[work->stream_count++] = stream;
    return true;
}

static bool add_call(struct hs_work *work, const struct hs_call *call)
{
    struct hs_call *more;

    if (work->call_count == work->call_cap) {
        uint32_t cap = work->call_cap ? 2 * work->call_cap : 4;

        more = realloc(work->calls, cap * sizeof(*more));
        if (!more)
            return false;
        work->calls = more;
        work->call_cap = cap;
    }
    work->calls[work->call_count++] = *call;
    return true;
}

static void drop_work(struct hs_work *work)
{
    free(work->calls);
    free(work->streams);
    free(work);
}

void hs_work_launch(struct hs_work *work)
{
    struct ncclComm *comm = work->comm;

    for (uint32_t i = 0; i < work->call_count; i++) {
        struct hs_call *call = &work->calls[i];

        if (call->post.kind == HS_SEND)
            call->position = comm->sent[call->post.root]++;
        else if (call->post.kind == HS_RECV)
            call->position = comm->received[call->post.root]++;
        else
            call->position = comm->position++;
    }
    comm->works++;
    work->number = comm->launched++;
    for (uint32_t i = 0; i < work->stream_count; i++) {
        struct hs_item item = { .kind = i ? HS_JOIN : HS_RUN, .work = work };

        if (!hs_stream_put(work->streams[i], &item))
            abort(); /* no memory in a test */
    }
}

/* ---- the end of a group; the lock is held ---- */

static ncclResult_t launch(struct hs_work *work)
{
    struct ncclComm *comm = work->comm;

    if (comm->blocking) {
        hs_work_launch(work);
        return ncclSuccess;
    }
    comm->launch = work;
    comm->job = HS_LAUNCH;
    comm->state = ncclInProgress;
    hs_kick();
    return ncclInProgress;
}

static bool is_mixed(void)
{
    bool blocking = false, other = false;

    for (uint32_t i = 0; i < group.work_count; i++) {
        blocking |= group.works[i]->comm->blocking;
        other |= !group.works[i]->comm->blocking;
    }
    return blocking && other;
}

static ncclResult_t end_group(void)
{
    ncclResult_t result = group.failed;
    bool dropped = result != ncclSuccess || is_mixed();

    if (result == ncclSuccess && dropped)
        result = ncclInvalidArgument;
    for (uint32_t i = 0; i < group.work_count; i++) {
        if (dropped)
            drop_work(group.works[i]);
        else if (launch(group.works[i]) == ncclInProgress)
            result = ncclInProgress;
    }
    for (uint32_t i = 0; i < group.awaited_count; i++) {
        ncclResult_t one = hs_comm_settle(group.awaited[i]);

        if (result == ncclSuccess)
            result = one;
    }
    group = (struct group){ .depth = 0 };
    return result;
}

ncclResult_t hs_group_add(struct ncclComm *comm, const struct hs_call *call, cudaStream_t stream)
{
    struct hs_work *work = work_of(comm);
    ncclResult_t result =
        work && add_call(work, call) && add_stream(work, stream) ? ncclSuccess : ncclSystemError;

    if (group.depth == 0)
        return end_group();
    return result;
}

ncclResult_t hs_group_await(struct ncclComm *comm)
{
    if (group.depth == 0)
        return hs_comm_settle(comm);
    if (group.awaited_count == HS_GROUP_COMMS)
        return ncclInternalError;
    group.awaited[group.awaited_count++] = comm;
    return comm->blocking ? ncclSuccess : ncclInProgress;
}

void hs_group_fail(ncclResult_t result)
{
    if (group.depth && group.failed == ncclSuccess && result != ncclInProgress)
        group.failed = result;
}

/* The headers leave their parameters open. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    ncclResult_t result = ncclSuccess;

    if (group.depth == 0)
        return ncclInvalidUsage;
    if (--group.depth > 0)
        return ncclSuccess;
    if (hs_enter() == cudaSuccess) {
        result = end_group();
        hs_leave();
    } else {
        group = (struct group){ .depth = 0 };
    }
    return result;
}
