/*
 * streams.c - streams, events and copies: ordered queues that a thread works off. The host goes on
 * at once; what waits for a device says so.
 */
#include "double.h"

#include <stdlib.h>
#include <string.h>

enum { MADE_NOT_TO_BLOCK = 1, NO_TIMES = 2 };
_Static_assert(MADE_NOT_TO_BLOCK == cudaStreamNonBlocking && NO_TIMES == cudaEventDisableTiming,
               "the flags of the headers");

/* ---- items; the lock is held ---- */

static cudaStream_t real_stream(cudaStream_t stream)
{
    bool null = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;

    return null ? &hs_state()->null_stream : stream;
}

bool hs_stream_is(cudaStream_t stream)
{
    stream = real_stream(stream);
    for (struct CUstream_st *s = hs_state()->streams; s; s = s->next) {
        if (s == stream)
            return !s->dropped;
    }
    return false;
}

bool hs_stream_put(cudaStream_t stream, const struct hs_item *item)
{
    struct hs_item *own = malloc(sizeof(*own));

    if (!own)
        return false;
    stream = real_stream(stream);
    *own = *item;
    own->next = NULL;
    if (stream->tail)
        stream->tail->next = own;
    else
        stream->head = own;
    stream->tail = own;
    if (own->work)
        own->work->users++;
    if (own->event)
        own->event->users++;
    hs_kick();
    return true;
}

/* Kernels of a communicator run one after the other, whatever their streams. */
static bool run_work(struct hs_work *work)
{
    bool moved = false, done = true;

    if (!work->comm->aborted &&
        (work->reached + 1 < work->stream_count || work->number != work->comm->ended))
        return false;
    for (uint32_t i = 0; i < work->call_count; i++) {
        moved |= hs_call_advance(work->comm, &work->calls[i]);
        done &= work->calls[i].phase == HS_DONE;
    }
    work->done = done || work->comm->aborted;
    work->comm->ended += work->done;
    return moved || work->done;
}

/* Whether the item is over. */
static bool item_ends(struct hs_item *item, bool *moved)
{
    switch (item->kind) {
    case HS_RUN:
        *moved |= run_work(item->work);
        return item->work->done;
    case HS_JOIN:
        item->work->reached += item->number == 0;
        item->number = 1;
        return item->work->done;
    case HS_RECORD:
        item->event->reached = item->number;
        item->event->time_ns = hs_now_ns();
        return true;
    case HS_WAIT:
        return item->event->reached >= item->number;
    case HS_COPY:
        memcpy(item->to, item->from, item->bytes);
        return true;
    case HS_FILL:
        memset(item->to, item->fill, item->bytes);
        return true;
    }
    return true;
}

static void release_work(struct hs_work *work)
{
    if (--work->users)
        return;
    for (uint32_t i = 0; i < work->call_count; i++) {
        if (work->calls[i].scratch)
            hs_memory_free(work->calls[i].scratch);
    }
    work->comm->works--;
    free(work->calls);
    free(work->streams);
    free(work);
}

static void release_event(cudaEvent_t event)
{
    if (event->dropped && event->users == 0)
        free(event);
}

static void pop(struct CUstream_st *stream)
{
    struct hs_item *item = stream->head;

    stream->head = item->next;
    if (!stream->head)
        stream->tail = NULL;
    if (item->work)
        release_work(item->work);
    if (item->event) {
        item->event->users--;
        release_event(item->event);
    }
    free(item);
}

bool hs_streams_advance(void)
{
    bool moved = false;

    for (struct CUstream_st **at = &hs_state()->streams; *at;) {
        struct CUstream_st *s = *at;

        while (s->head && item_ends(s->head, &moved)) {
            pop(s);
            moved = true;
        }
        if (s->dropped && !s->head) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
    return moved;
}

bool hs_streams_busy(void)
{
    for (struct CUstream_st *s = hs_state()->streams; s; s = s->next) {
        if (s->head)
            return true;
    }
    return false;
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
    cudaError_t error = hs_enter();
    struct CUstream_st *s;

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    s = calloc(1, sizeof(*s));
    if (s) {
        s->beside_null = flags & MADE_NOT_TO_BLOCK;
        s->next = hs_state()->streams;
        hs_state()->streams = s;
        *out = s;
    }
    hs_leave();
    return s ? cudaSuccess : hs_cuda_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithFlags(out, cudaStreamDefault);
}

/* Enter for something that needs a stream. */
static cudaError_t enter_with(cudaStream_t stream)
{
    cudaError_t error = hs_enter();

    if (error == cudaSuccess && !hs_stream_is(stream)) {
        hs_leave();
        error = cudaErrorInvalidResourceHandle;
    }
    return error == cudaSuccess ? error : hs_cuda_error(error);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    if (real_stream(stream) == &hs_state()->null_stream)
        error = hs_cuda_error(cudaErrorInvalidResourceHandle);
    else
        stream->dropped = true; /* it goes when its work is over */
    hs_kick();
    hs_leave();
    return error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    error = real_stream(stream)->head ? cudaErrorNotReady : cudaSuccess;
    hs_leave();
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    while (real_stream(stream)->head)
        hs_await();
    hs_leave();
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    while (hs_streams_busy())
        hs_await();
    hs_leave();
    return cudaSuccess;
}

static cudaError_t put(cudaStream_t stream, const struct hs_item *item)
{
    return hs_stream_put(stream, item) ? cudaSuccess : hs_cuda_error(cudaErrorMemoryAllocation);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
    cudaError_t error = hs_enter();
    cudaEvent_t event;

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    event = calloc(1, sizeof(*event));
    if (event) {
        event->timed = !(flags & NO_TIMES);
        *out = event;
    }
    hs_leave();
    return event ? cudaSuccess : hs_cuda_error(cudaErrorMemoryAllocation);
}

/* C++ has a second one of this name in the headers; the symbol is the same. */
cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    error =
        put(stream,
            &(struct hs_item){ .kind = HS_RECORD, .event = event, .number = ++event->recorded });
    hs_leave();
    return error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    cudaError_t error = enter_with(stream);

    (void)flags;
    if (error != cudaSuccess)
        return error;
    error = put(stream,
                &(struct hs_item){ .kind = HS_WAIT, .event = event, .number = event->recorded });
    hs_leave();
    return error;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    error = event->reached == event->recorded ? cudaSuccess : cudaErrorNotReady;
    hs_leave();
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    while (event->reached != event->recorded)
        hs_await();
    hs_leave();
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *out, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    if (!from->timed || !to->timed || !from->recorded || !to->recorded)
        error = hs_cuda_error(cudaErrorInvalidResourceHandle);
    else if (from->reached != from->recorded || to->reached != to->recorded)
        error = cudaErrorNotReady;
    else
        *out = (float)((double)(to->time_ns - from->time_ns) / 1e6);
    hs_leave();
    return error;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    event->dropped = true;
    release_event(event);
    hs_leave();
    return cudaSuccess;
}

/* ---- copies ---- */

/* Whether an address is on the side that `kind` says. */
static bool on_side(const void *address, uint64_t bytes, bool device, bool any)
{
    struct hs_place place;
    bool found = hs_memory_find(address, bytes, &place);
    bool of_device = found || hs_memory_source(address) != (const char *)address;

    return of_device ? found && (device || any) : !device || any;
}

/* The legacy NULL stream runs after what is on the others, unless they were made not to block. */
static void wait_for_null_stream(void)
{
    for (;;) {
        const struct CUstream_st *s = hs_state()->streams;

        while (s && (s->beside_null || !s->head))
            s = s->next;
        if (!s)
            return;
        hs_await();
    }
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t stream, bool waits)
{
    bool any = kind == cudaMemcpyDefault;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    if (bytes && !(on_side(to, bytes, to_device, any) && on_side(from, bytes, from_device, any)))
        error = hs_cuda_error(cudaErrorInvalidValue);
    if (error == cudaSuccess && waits)
        wait_for_null_stream();
    if (error == cudaSuccess && bytes)
        error = put(stream, &(struct hs_item){ .kind = HS_COPY,
                                               .to = hs_memory_real(to),
                                               .from = hs_memory_source(from),
                                               .bytes = bytes });
    while (error == cudaSuccess && waits && hs_state()->null_stream.head)
        hs_await();
    hs_leave();
    return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, NULL, true);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy(to, from, bytes, kind, stream, false);
}

static cudaError_t fill(void *to, int value, size_t bytes, cudaStream_t stream, bool waits)
{
    cudaError_t error = enter_with(stream);

    if (error != cudaSuccess)
        return error;
    if (bytes && !on_side(to, bytes, true, false))
        error = hs_cuda_error(cudaErrorInvalidValue);
    if (error == cudaSuccess && waits)
        wait_for_null_stream();
    if (error == cudaSuccess && bytes)
        error = put(stream,
                    &(struct hs_item){
                        .kind = HS_FILL, .to = hs_memory_real(to), .fill = value, .bytes = bytes });
    while (error == cudaSuccess && waits && hs_state()->null_stream.head)
        hs_await();
    hs_leave();
    return error;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill(to, value, bytes, NULL, true);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(to, value, bytes, stream, false);
}
