/* process.c - the state of the process, its lock, and the thread that stands for the device. */
#include "double.h"

#include <time.h>
#include <unistd.h>

static struct hs_state state = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .moved = PTHREAD_COND_INITIALIZER,
    .kicked = PTHREAD_COND_INITIALIZER,
    .first_rank = -1,
};

/* Others cannot ring a bell here, so the thread looks again, ever more rarely while nothing moves.
 */
enum { SHORTEST_US = 50, LONGEST_US = 1000 };

struct hs_state *hs_state(void)
{
    return &state;
}

int64_t hs_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void hs_hang(void)
{
    for (;;)
        pause();
}

void hs_kick(void)
{
    state.unkicked = true;
    pthread_cond_signal(&state.kicked);
}

void hs_await(void)
{
    pthread_cond_wait(&state.moved, &state.lock);
}

static void *device_main(void *unused)
{
    long wait_us = SHORTEST_US;

    (void)unused;
    pthread_mutex_lock(&state.lock);
    for (;;) {
        bool moved = hs_streams_advance(), busy = hs_streams_busy();

        for (struct ncclComm *comm = state.comms; comm; comm = comm->next) {
            moved |= hs_comm_advance(comm);
            busy |= comm->job != HS_NO_JOB;
        }
        if (moved) {
            pthread_cond_broadcast(&state.moved);
            wait_us = SHORTEST_US;
            continue;
        }
        if (state.unkicked) {
            state.unkicked = false;
            wait_us = SHORTEST_US;
        } else if (busy) {
            struct timespec pause = { .tv_nsec = wait_us * 1000 };

            wait_us = wait_us * 2 < LONGEST_US ? wait_us * 2 : LONGEST_US;
            pthread_mutex_unlock(&state.lock);
            nanosleep(&pause, NULL);
            pthread_mutex_lock(&state.lock);
        } else {
            pthread_cond_wait(&state.kicked, &state.lock);
        }
    }
    return NULL;
}

/* Lock held. */
static bool start(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, device_main, NULL) != 0)
        return false;
    pthread_detach(thread);
    state.pid = getpid();
    state.null_stream.next = state.streams;
    state.streams = &state.null_stream;
    return true;
}

cudaError_t hs_enter(void)
{
    if (hs_settings()->devices <= 0)
        return hs_settings()->devices ? cudaErrorInsufficientDriver : cudaErrorNoDevice;
    if (state.pid && state.pid != getpid())
        return cudaErrorInitializationError; /* whose lock and thread stayed with the parent */
    pthread_mutex_lock(&state.lock);
    if (state.pid || start())
        return cudaSuccess;
    pthread_mutex_unlock(&state.lock);
    return cudaErrorMemoryAllocation;
}

void hs_leave(void)
{
    pthread_mutex_unlock(&state.lock);
}
