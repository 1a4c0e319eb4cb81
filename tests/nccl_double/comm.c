/*
 * comm.c - communicators. What takes others to finish is a job of the communicator, which the
 * thread goes on with; a blocking one waits for its end.
 */
#include "double.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static char last_error[sizeof(((struct ncclComm *)0)->error)]; /* under the lock */

void hs_comm_fail(struct ncclComm *comm, ncclResult_t result, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(comm->error, sizeof(comm->error), format, args);
    va_end(args);
    memcpy(last_error, comm->error, sizeof(last_error));
    comm->state = result;
}

static bool is_comm(const struct ncclComm *comm)
{
    const struct ncclComm *c = hs_state()->comms;

    while (c && c != comm)
        c = c->next;
    return c && !c->gone;
}

ncclResult_t hs_comm_check(struct ncclComm *comm)
{
    if (!is_comm(comm) || comm->finalized || comm->aborted)
        return ncclInvalidArgument;
    if (comm->job != HS_NO_JOB)
        return ncclInvalidArgument; /* before the last call returned ncclSuccess */
    return comm->state;
}

ncclResult_t hs_comm_enter(struct ncclComm *comm)
{
    ncclResult_t result;

    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    result = hs_comm_check(comm);
    if (result != ncclSuccess) {
        hs_group_fail(result);
        hs_leave();
    }
    return result;
}

ncclResult_t hs_comm_settle(struct ncclComm *comm)
{
    if (!comm->blocking)
        return comm->job == HS_NO_JOB ? comm->state : ncclInProgress;
    while (comm->job != HS_NO_JOB)
        hs_await();
    return comm->state;
}

/* ---- jobs; the lock is held ---- */

static struct ncclComm *new_comm(const char *name, int members, int rank, bool blocking)
{
    struct ncclComm *comm = calloc(1, sizeof(*comm));

    if (!comm)
        return NULL;
    comm->segment = hs_segment_open(name, members);
    if (!comm->segment) {
        free(comm);
        return NULL;
    }
    comm->rank = rank;
    comm->members = members;
    comm->blocking = blocking;
    comm->device = hs_state()->device;
    comm->state = ncclInProgress;
    comm->job = HS_INIT;
    comm->segment->devices[rank] = comm->device;
    comm->next = hs_state()->comms;
    hs_state()->comms = comm;
    if (atomic_fetch_add(&comm->segment->joined, 1) + 1 == (uint32_t)members)
        hs_segment_unlink(comm->segment); /* all have it: nobody needs the name any more */
    hs_kick();
    return comm;
}

static bool shares_device(const struct ncclComm *comm)
{
    const int32_t *devices = comm->segment->devices;

    for (int i = 0; i < comm->members; i++) {
        for (int k = 0; k < i; k++) {
            if (devices[i] == devices[k])
                return true;
        }
    }
    return false;
}

static bool end_job(struct ncclComm *comm, ncclResult_t result)
{
    comm->job = HS_NO_JOB;
    if (comm->state == ncclInProgress)
        comm->state = result;
    return true;
}

static bool advance_init(struct ncclComm *comm)
{
    bool old = hs_settings()->version < 23003;

    if (atomic_load(&comm->segment->joined) < (uint32_t)comm->members)
        return false;
    if (shares_device(comm) && !hs_settings()->shares_devices)
        hs_comm_fail(comm, ncclInvalidUsage,
                     old ? "Duplicate GPU detected"
                         : "Multiple Ranks are using the same GPU/Partition. Set "
                           "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this configuration.");
    return end_job(comm, ncclSuccess);
}

/* Members of a colour are in the order of their keys, then of their ranks. */
static void count_color(const struct ncclComm *comm, const struct hs_row *row, int *members,
                        int *rank)
{
    *members = *rank = 0;
    for (int i = 0; i < comm->members; i++) {
        const struct hs_post *post = &row->posts[i];

        if ((int64_t)post->count != comm->color)
            continue;
        *members += 1;
        *rank += post->root < comm->key || (post->root == comm->key && i < comm->rank);
    }
}

/* All members name a child in the same way: after its parent, the split and the colour. */
static void name_child(const struct ncclComm *comm, char *out, size_t bytes)
{
    uint64_t hash = 14695981039346656037U;
    char text[2 * HS_NAME];

    snprintf(text, sizeof(text), "%s %llu %d", comm->segment->name,
             (unsigned long long)comm->split_position, comm->color);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211U;
    snprintf(out, bytes, "/nccl-%016llx", (unsigned long long)hash);
}

static bool advance_split_meet(struct ncclComm *comm, struct hs_row *row)
{
    int members, rank;
    char name[HS_NAME];

    if (atomic_load(&row->arrived) < (uint32_t)comm->members)
        return false;
    count_color(comm, row, &members, &rank);
    name_child(comm, name, sizeof(name));
    hs_row_leave(row, (uint32_t)comm->members);
    comm->split_position++;
    if (comm->color == NCCL_SPLIT_NOCOLOR)
        return end_job(comm, ncclSuccess);
    comm->child = new_comm(name, members, rank, comm->child_blocking);
    if (!comm->child)
        return end_job(comm, ncclSystemError);
    comm->job = HS_SPLIT_JOIN;
    return true;
}

static bool advance_split(struct ncclComm *comm)
{
    struct hs_row *row;

    if (comm->job == HS_SPLIT_JOIN) {
        if (comm->child->job != HS_NO_JOB)
            return false;
        *comm->child_out = comm->child; /* not before: as the real one */
        return end_job(comm, comm->child->state);
    }
    row = hs_segment_split_row(comm->segment, comm->split_position);
    if (!row)
        return false;
    if (comm->job == HS_SPLIT_MEET)
        return advance_split_meet(comm, row);
    row->posts[comm->rank] = (struct hs_post){ .kind = HS_SPLIT,
                                               .count = (uint64_t)(int64_t)comm->color,
                                               .root = comm->key };
    atomic_fetch_add(&row->arrived, 1);
    comm->job = HS_SPLIT_MEET;
    return true;
}

static void leave_segment(struct ncclComm *comm)
{
    if (!comm->left)
        atomic_fetch_add(&comm->segment->left, 1);
    comm->left = true;
}

bool hs_comm_advance(struct ncclComm *comm)
{
    switch (comm->job) {
    case HS_NO_JOB:
        return false;
    case HS_INIT:
        return advance_init(comm);
    case HS_SPLIT_POST:
    case HS_SPLIT_MEET:
    case HS_SPLIT_JOIN:
        return advance_split(comm);
    case HS_LAUNCH:
        hs_work_launch(comm->launch);
        comm->launch = NULL;
        return end_job(comm, ncclSuccess);
    case HS_DRAIN:
        return comm->works == 0 && end_job(comm, ncclSuccess);
    case HS_LEAVE:
        return atomic_load(&comm->segment->left) >= (uint32_t)comm->members &&
               end_job(comm, ncclSuccess);
    case HS_FORGET:
        if (comm->works)
            return false;
        hs_segment_close(comm->segment);
        comm->job = HS_NO_JOB;
        return true;
    }
    return false;
}

/* ---- entry points: beginning ---- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *out)
{
    unsigned long long number;

    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    hs_leave();
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return ncclSystemError;
    memset(out, 0, sizeof(*out));
    snprintf(out->internal, sizeof(out->internal), "/nccl-%016llx", number);
    return ncclSuccess;
}

/* 1, 0; -1: not a configuration. What the library does not know of it, it ignores. */
static int blocking_of(const ncclConfig_t *config, bool otherwise)
{
    if (!config)
        return otherwise;
    if (config->magic != NCCL_API_MAGIC ||
        config->size < offsetof(ncclConfig_t, blocking) + sizeof(config->blocking))
        return -1;
    return config->blocking == NCCL_CONFIG_UNDEF_INT ? otherwise : config->blocking != 0;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int members, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    int blocking = blocking_of(config, true);
    struct ncclComm *comm;
    ncclResult_t result = ncclSystemError;

    hs_trace("ncclCommInitRankConfig");
    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    if (blocking < 0 || members < 1 || members > HS_MEMBERS || rank < 0 || rank >= members ||
        strncmp(id.internal, "/nccl-", 6) != 0 || !memchr(id.internal, 0, HS_NAME)) {
        hs_leave();
        return ncclInvalidArgument;
    }
    if (hs_state()->first_rank < 0)
        hs_state()->first_rank = rank;
    if (hs_fault(hs_state()->first_rank, HS_DIES, HS_IN_INIT, 0))
        raise(SIGKILL);
    comm = new_comm(id.internal, members, rank, blocking);
    if (comm) {
        *out = comm;
        result = hs_group_await(comm);
    }
    hs_leave();
    return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t *out, int members, ncclUniqueId id, int rank)
{
    return ncclCommInitRankConfig(out, members, id, rank, NULL);
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t *out, int members, int rank, int id_count,
                                      ncclUniqueId *ids, ncclConfig_t *config)
{
    if (id_count < 1)
        return ncclInvalidArgument;
    return ncclCommInitRankConfig(out, members, ids[0], rank, config);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out,
                           ncclConfig_t *config)
{
    ncclResult_t result = hs_comm_enter(comm);
    int blocking;

    if (result != ncclSuccess)
        return result;
    hs_trace("ncclCommSplit");
    blocking = blocking_of(config, comm->blocking);
    if (blocking < 0 || color < NCCL_SPLIT_NOCOLOR) {
        hs_leave();
        return ncclInvalidArgument;
    }
    *out = NULL;
    comm->child_out = out;
    comm->color = color;
    comm->key = key;
    comm->child_blocking = blocking;
    comm->job = HS_SPLIT_POST;
    comm->state = ncclInProgress;
    hs_kick();
    result = hs_group_await(comm);
    hs_leave();
    return result;
}

/* ---- entry points: ending ---- */

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    ncclResult_t result = hs_comm_enter(comm);

    if (result != ncclSuccess)
        return result;
    comm->finalized = true;
    comm->job = HS_DRAIN;
    comm->state = ncclInProgress;
    hs_kick();
    result = hs_comm_settle(comm);
    hs_leave();
    return result;
}

/* It waits for the other members, as the real one does on one host. */
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    hs_trace("ncclCommDestroy");
    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    if (!is_comm(comm) || comm->aborted || comm->job != HS_NO_JOB) {
        hs_leave();
        return ncclInvalidArgument;
    }
    comm->finalized = true;
    while (comm->works)
        hs_await();
    leave_segment(comm);
    if (comm->state == ncclSuccess) {
        comm->job = HS_LEAVE;
        hs_kick();
        while (comm->job != HS_NO_JOB)
            hs_await();
    }
    comm->gone = true; /* the handle stays known, so that using it again is told */
    comm->job = HS_FORGET;
    hs_kick();
    hs_leave();
    return ncclSuccess;
}

/* What it still has on streams is skipped there, behind whatever it stands. */
static void abort_one(struct ncclComm *comm)
{
    if (atomic_load(&comm->segment->joined) < (uint32_t)comm->members)
        hs_segment_unlink(comm->segment);
    if (comm->job == HS_SPLIT_JOIN)
        abort_one(comm->child); /* a child that is not there yet goes with its parent */
    comm->aborted = comm->gone = true;
    comm->job = HS_FORGET;
    leave_segment(comm);
    hs_kick();
}

/* What runs ends at once, on this member alone. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    hs_trace("ncclCommAbort");
    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    if (!is_comm(comm)) {
        hs_leave();
        return ncclInvalidArgument;
    }
    if (hs_fault(hs_state()->first_rank, HS_HANGS, HS_IN_ABORT, 0)) {
        hs_leave();
        hs_hang();
    }
    abort_one(comm);
    hs_leave();
    return ncclSuccess;
}

/* ---- entry points: telling ---- */

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
    ncclResult_t result = ncclSuccess;

    if (hs_enter() != cudaSuccess)
        return ncclUnhandledCudaError;
    if (is_comm(comm))
        *out = comm->state;
    else
        result = ncclInvalidArgument;
    hs_leave();
    return result;
}

enum fact { MEMBERS, RANK, DEVICE };

static ncclResult_t tell(struct ncclComm *comm, enum fact fact, int *out)
{
    ncclResult_t result = hs_comm_enter(comm);

    if (result != ncclSuccess)
        return result;
    *out = fact == MEMBERS ? comm->members : fact == RANK ? comm->rank : comm->device;
    hs_leave();
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *out)
{
    return tell(comm, MEMBERS, out);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *out)
{
    return tell(comm, RANK, out);
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *out)
{
    return tell(comm, DEVICE, out);
}

ncclResult_t ncclGetVersion(int *out)
{
    *out = hs_settings()->version;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[ncclNumResults] = {
        [ncclSuccess] = "no error",
        [ncclUnhandledCudaError] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        [ncclSystemError] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        [ncclInternalError] = "internal error - please report this issue to the NCCL developers",
        [ncclInvalidArgument] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
        [ncclInvalidUsage] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
        [ncclRemoteError] = "remote process exited or there was a network error",
        [ncclInProgress] = "NCCL operation in progress",
    };

    return result >= 0 && result < ncclNumResults && texts[result] ? texts[result]
                                                                   : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    return comm && is_comm(comm) && comm->error[0] ? comm->error : last_error;
}
