/* rank.c - one rank's process: a GPU, memory, communicators, the run, a clean end. */
#include "replay/nccl/rank.h"

#include "base/limits.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 200 };

bool hs_rank_fail(struct hs_rank *r, const char *fmt, ...)
{
    struct hs_shared_rank *s = &r->w->ranks[r->row];
    va_list ap;

    if (atomic_load(&s->phase) == HS_PHASE_FAILED)
        return false;
    va_start(ap, fmt);
    (void)vsnprintf(s->error, sizeof(s->error), fmt, ap);
    va_end(ap);
    atomic_store(&s->phase, HS_PHASE_FAILED);
    return false;
}

bool hs_rank_cuda(struct hs_rank *r, cudaError_t result, const char *what)
{
    return result == cudaSuccess ||
           hs_rank_fail(r, "%s: %s", what, r->api.cudaGetErrorString(result));
}

bool hs_rank_nccl(struct hs_rank *r, ncclResult_t result, ncclComm_t comm, const char *what)
{
    const char *last;

    while (result == ncclInProgress && comm) {
        if (hs_rank_must_stop(r))
            return false;
        (void)usleep(POLL_US);
        if (r->api.ncclCommGetAsyncError(comm, &result) != ncclSuccess)
            return hs_rank_fail(r, "%s: ncclCommGetAsyncError failed", what);
    }
    if (result == ncclSuccess)
        return true;
    last = r->api.ncclGetLastError ? r->api.ncclGetLastError(comm) : NULL;
    return hs_rank_fail(r, "%s: %s%s%s", what, r->api.ncclGetErrorString(result),
                        last && *last ? ": " : "", last ? last : "");
}

static const ncclRedOp_t reductions[HS_REDUCTIONS] = { [HS_SUM] = ncclSum,
                                                       [HS_PROD] = ncclProd,
                                                       [HS_MAX] = ncclMax,
                                                       [HS_MIN] = ncclMin,
                                                       [HS_AVG] = ncclAvg };

static ncclResult_t call_nccl(const struct hs_api *a, ncclComm_t comm, const struct hs_nccl_call *c,
                              char *in, char *out, cudaStream_t stream)
{
    char *from = in + c->from, *to = c->in_place ? from : out + c->to;
    ncclDataType_t type = c->type.type;
    ncclRedOp_t reduction = reductions[c->reduction];
    int other = (int)c->other;

    switch ((enum hs_way)c->way) {
    case HS_WAY_BROADCAST:
        return a->ncclBroadcast(from, to, c->count, type, other, comm, stream);
    case HS_WAY_REDUCE:
        return a->ncclReduce(from, to, c->count, type, reduction, other, comm, stream);
    case HS_WAY_ALL_GATHER:
        return a->ncclAllGather(from, to, c->count, type, comm, stream);
    case HS_WAY_REDUCE_SCATTER:
        return a->ncclReduceScatter(from, to, c->count, type, reduction, comm, stream);
    case HS_WAY_SEND:
        return a->ncclSend(from, c->count, type, other, comm, stream);
    case HS_WAY_RECV:
        return a->ncclRecv(to, c->count, type, other, comm, stream);
    default:
        return a->ncclAllReduce(from, to, c->count, type, reduction, comm, stream);
    }
}

static const char *const call_names[HS_WAYS] = {
    [HS_WAY_BARRIER] = "ncclAllReduce",
    [HS_WAY_ALL_REDUCE] = "ncclAllReduce",
    [HS_WAY_BROADCAST] = "ncclBroadcast",
    [HS_WAY_REDUCE] = "ncclReduce",
    [HS_WAY_ALL_GATHER] = "ncclAllGather",
    [HS_WAY_REDUCE_SCATTER] = "ncclReduceScatter",
    [HS_WAY_SEND] = "ncclSend",
    [HS_WAY_RECV] = "ncclRecv",
};

bool hs_rank_make(struct hs_rank *r, uint32_t comm, const struct hs_nccl_calls *calls, char *in,
                  char *out, cudaStream_t stream)
{
    ncclComm_t c = r->comms[comm];
    bool several = calls->count > 1, ok = true;

    if (several && !hs_rank_nccl(r, r->api.ncclGroupStart(), NULL, "ncclGroupStart"))
        return false;
    for (uint32_t i = 0; ok && i < calls->count; i++) {
        ncclResult_t result = call_nccl(&r->api, c, &calls->calls[i], in, out, stream);

        /* inside a group nothing has been launched that could be waited for */
        ok = (several && result == ncclInProgress) ||
             hs_rank_nccl(r, result, c, call_names[calls->calls[i].way]);
    }
    if (several)
        ok = hs_rank_nccl(r, r->api.ncclGroupEnd(), c, "ncclGroupEnd") && ok;
    return ok;
}

/* ---- setting up ---- */

static bool allocate(struct hs_rank *r, char **out, uint64_t bytes)
{
    void *p = NULL;
    cudaError_t result = r->api.cudaMalloc(&p, bytes ? bytes : 1);

    *out = p;
    if (result == cudaSuccess)
        return hs_rank_cuda(r, r->api.cudaMemsetAsync(p, 0, bytes ? bytes : 1, r->copies),
                            "cudaMemsetAsync");
    r->w->ranks[r->row].no_memory = true;
    return hs_rank_fail(r, "no memory for %.1f MiB of what its calls move: %s",
                        (double)bytes / 1048576, r->api.cudaGetErrorString(result));
}

static bool is_made(const struct hs_step *step)
{
    return step->kind == HS_STEP_MADE || step->kind == HS_STEP_STALLED ||
           step->kind == HS_STEP_FILL;
}

/* Room for the largest step of each lane, or for every step when data is checked. */
static bool make_room(struct hs_rank *r)
{
    const struct hs_run_options *o = r->w->options;

    for (uint32_t i = 0; i < r->course.count; i++) {
        const struct hs_step *step = &r->course.steps[i];
        struct hs_lane *lane = &r->lanes[step->lane];

        if (!is_made(step))
            continue;
        if (!hs_step_calls(r->w->script, r->row, step, r->w->shared->machine.nccl, &r->calls))
            return hs_rank_fail(r, "out of memory");
        if (o->check_data &&
            (!allocate(r, &r->flights[i].in, r->calls.in_bytes) ||
             !allocate(r, &r->flights[i].out, r->calls.out_bytes) || !hs_data_fill(r, i)))
            return false;
        if (r->calls.in_bytes > lane->in_bytes)
            lane->in_bytes = r->calls.in_bytes;
        if (r->calls.out_bytes > lane->out_bytes)
            lane->out_bytes = r->calls.out_bytes;
        hs_rank_progress(r);
    }
    for (uint32_t l = 0; !o->check_data && l < r->course.lanes; l++) {
        if (!allocate(r, &r->lanes[l].in, r->lanes[l].in_bytes) ||
            !allocate(r, &r->lanes[l].out, r->lanes[l].out_bytes))
            return false;
    }
    return hs_rank_cuda(r, r->api.cudaStreamSynchronize(r->copies), "cudaStreamSynchronize");
}

/* Many streams of a process must not wait for each other, and a kernel that is loaded late would
 * wait for one that hangs. Several ranks on a GPU have to be allowed; what the user says stays. */
static void set_environment(bool shares_gpu)
{
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    if (shares_gpu) {
        (void)setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
        (void)setenv("NCCL_MAX_CTAS", "4", 0); /* the kernels of all have to fit on it */
    }
}

static bool open_device(struct hs_rank *r)
{
    struct hs_err err = { .n = 0 };

    set_environment(r->w->script->plan->rank_count > (uint32_t)r->w->shared->machine.gpus);
    if (hs_api_open(&r->api, r->w->options->nccl_file, &err) != HS_OK)
        return hs_rank_fail(r, "%s", err.causes[0].text);
    if (!hs_rank_cuda(r, r->api.cudaSetDevice(hs_world_gpu(r->w, r->row)), "cudaSetDevice") ||
        !hs_rank_cuda(r, r->api.cudaStreamCreateWithFlags(&r->copies, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags"))
        return false;
    hs_rank_progress(r);
    for (uint32_t l = 0; l < r->course.lanes; l++) {
        r->lanes[l].head = r->lanes[l].tail = HS_NO_ID;
        if (!hs_rank_cuda(
                r, r->api.cudaStreamCreateWithFlags(&r->lanes[l].stream, cudaStreamNonBlocking),
                "cudaStreamCreateWithFlags"))
            return false;
    }
    return make_room(r);
}

static bool prepare(struct hs_rank *r)
{
    struct hs_err err = { .n = 0 };

    if (hs_course_make(r->w->script, r->row, &r->course, &err) != HS_OK)
        return hs_rank_fail(r, "out of memory");
    r->flights = calloc(r->course.count + 1u, sizeof(*r->flights));
    r->lanes = calloc(r->course.lanes + 1u, sizeof(*r->lanes));
    r->comms = calloc(r->w->script->comm_count + 1u, sizeof(ncclComm_t));
    r->ids = calloc(r->w->script->comm_count + 1u, sizeof(*r->ids));
    if (!r->flights || !r->lanes || !r->comms || !r->ids)
        return hs_rank_fail(r, "out of memory");
    if (!open_device(r))
        return false;
    atomic_store(&r->w->ranks[r->row].phase, HS_PHASE_JOINING);
    return hs_rank_join(r);
}

static enum hs_order wait_for_order(const struct hs_rank *r, enum hs_order not_before)
{
    enum hs_order order;

    while ((order = (enum hs_order)atomic_load(&r->w->shared->order)) < not_before)
        (void)usleep(POLL_US);
    return order;
}

/* What can be told of the end before anything is ended. */
static void tell_state(struct hs_rank *r)
{
    const struct hs_script *s = r->w->script;

    for (uint32_t c = 0; c < s->comm_count; c++) {
        ncclResult_t state;

        if (r->comms && r->comms[c] &&
            r->api.ncclCommGetAsyncError(r->comms[c], &state) == ncclSuccess)
            *hs_world_async(r->w, r->row, c) = (uint8_t)state;
    }
    for (uint32_t l = 0; r->lanes && l < r->course.lanes; l++) {
        if (r->lanes[l].stream && r->api.cudaStreamQuery(r->lanes[l].stream) == cudaErrorNotReady)
            r->w->ranks[r->row].busy_streams++;
    }
}

int hs_rank_live(struct hs_world *world, uint32_t row)
{
    struct hs_rank r = { .w = world, .row = row };
    struct hs_shared_rank *s = &world->ranks[row];
    enum hs_order order;

    if (prepare(&r)) {
        atomic_store(&s->phase, HS_PHASE_READY);
        if (wait_for_order(&r, HS_ORDER_RUN) == HS_ORDER_RUN) {
            atomic_store(&s->phase, HS_PHASE_RUNNING);
            hs_rank_run(&r);
        }
    }
    order = wait_for_order(&r, HS_ORDER_FINISH);
    tell_state(&r);
    hs_rank_leave(&r, order == HS_ORDER_ABORT);
    if (atomic_load(&s->phase) != HS_PHASE_FAILED)
        atomic_store(&s->phase, HS_PHASE_GONE);
    return 0; /* the system takes the rest: nothing of CUDA is waited for */
}
