/*
 * check_double.c - the double does what tests rely on: data, order, what hangs, what an abort ends.
 */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_S = 30 };

/* Shared by the ranks of a case. */
struct board {
    ncclUniqueId id;
    volatile int id_is_there, marks;
};
static struct board *board;

int own_rank;

void sleep_ms(long ms)
{
    struct timespec t = { .tv_nsec = ms * 1000000 };

    nanosleep(&t, NULL);
}

ncclResult_t settled(ncclComm_t comm)
{
    ncclResult_t state = ncclInProgress;

    for (; state == ncclInProgress; sleep_ms(1))
        OK(ncclCommGetAsyncError(comm, &state));
    return state;
}

_Noreturn void fail_check(const char *file, int line, const char *what)
{
    dprintf(2, "%s:%d: rank %d: %s\n", file, line, own_rank, what);
    _exit(1);
}

bool is_made(ncclComm_t comm, ncclResult_t result)
{
    return (result == ncclSuccess || result == ncclInProgress) && settled(comm) == ncclSuccess;
}

static ncclComm_t join_with(int blocking, ncclResult_t *state)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t comm = NULL;
    ncclResult_t result;

    config.blocking = blocking;
    if (own_rank == 0) {
        OK(ncclGetUniqueId(&board->id));
        board->id_is_there = 1;
    }
    while (!board->id_is_there)
        sleep_ms(1);
    result = ncclCommInitRankConfig(&comm, RANKS, board->id, own_rank, &config);
    CHECK(blocking || result == ncclInProgress);
    *state = blocking ? result : settled(comm);
    return comm;
}

ncclComm_t join(void)
{
    ncclResult_t state;
    ncclComm_t comm;

    OK(cudaSetDevice(own_rank));
    comm = join_with(0, &state);
    OK(state);
    return comm;
}

cudaStream_t new_stream(void)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void *on_device(const void *bytes, size_t count)
{
    void *device;

    OK(cudaMalloc(&device, count));
    OK(cudaMemcpy(device, bytes, count, cudaMemcpyHostToDevice));
    return device;
}

void *pattern(int rank)
{
    int values[RANKS * ELEMENTS];

    for (int i = 0; i < RANKS * ELEMENTS; i++)
        values[i] = 100 * rank + i;
    return on_device(values, sizeof(values));
}

bool holds(cudaStream_t stream, const void *device, int at, int rank, int from)
{
    int values[RANKS * ELEMENTS];

    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(values, device, sizeof(values), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ELEMENTS; i++) {
        if (values[at * ELEMENTS + i] != 100 * rank + from * ELEMENTS + i)
            return false;
    }
    return true;
}

/* ---- order ---- */

static void check_streams(void)
{
    ncclComm_t comm = join();
    cudaStream_t first = new_stream(), second = new_stream();
    cudaEvent_t begin, end;
    void *a = pattern(own_rank);
    float ms;

    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, first));
    if (own_rank != 0)
        MADE(comm, ncclAllReduce(a, a, ELEMENTS, ncclInt32, ncclSum, comm, first));
    OK(cudaEventRecord(end, first));
    OK(cudaStreamWaitEvent(second, end, 0));
    if (own_rank != 0) {
        sleep_ms(STARVED_MS); /* without rank 0 nothing ends, and the host is free */
        CHECK(cudaStreamQuery(first) == cudaErrorNotReady);
        CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
        CHECK(cudaEventQuery(begin) == cudaSuccess && cudaEventQuery(end) == cudaErrorNotReady);
        CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
        __atomic_add_fetch(&board->marks, 1, __ATOMIC_SEQ_CST);
    } else {
        OK(cudaStreamSynchronize(second));
        while (board->marks < RANKS - 1)
            sleep_ms(1);
        MADE(comm, ncclAllReduce(a, a, ELEMENTS, ncclInt32, ncclSum, comm, first));
    }
    OK(cudaStreamSynchronize(second));
    OK(cudaStreamSynchronize(first));
    OK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(own_rank == 0 ? ms >= 0 : ms >= STARVED_MS);
    OK(cudaEventDestroy(begin));
    OK(cudaStreamDestroy(first));
    OK(ncclCommDestroy(comm));
}

/* A group over two streams holds both. */
static void check_groups(void)
{
    ncclComm_t comm = join();
    cudaStream_t first = new_stream(), second = new_stream();
    void *a = pattern(own_rank), *b = pattern(own_rank);

    OK(ncclGroupStart());
    OK(ncclAllReduce(a, a, ELEMENTS, ncclInt32, ncclSum, comm, first));
    OK(ncclAllReduce(b, b, ELEMENTS, ncclInt32, ncclMax, comm, second));
    CHECK(cudaStreamQuery(first) == cudaSuccess); /* nothing is launched before the end */
    if (own_rank == 1)
        sleep_ms(STARVED_MS);
    MADE(comm, ncclGroupEnd());
    CHECK(own_rank == 1 || cudaStreamQuery(second) == cudaErrorNotReady);
    CHECK(holds(second, b, 0, RANKS - 1, 0));
    CHECK(cudaStreamQuery(first) == cudaSuccess);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    OK(ncclCommDestroy(comm));
}

/* One communicator is one queue: a receive without its send holds what is on another stream. */
static void check_queue(void)
{
    ncclComm_t comm = join();
    cudaStream_t first = new_stream(), second = new_stream();
    void *a = pattern(own_rank), *b = pattern(own_rank);

    if (own_rank == 0)
        MADE(comm, ncclRecv(a, 1, ncclInt32, 1, comm, first));
    MADE(comm, ncclAllReduce(b, b, 1, ncclInt32, ncclSum, comm, second));
    sleep_ms(STARVED_MS);
    CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
    OK(ncclCommAbort(comm));
    OK(cudaStreamSynchronize(second));
}

/* ---- what does not end ---- */

static void abort_after_hang(ncclComm_t comm, cudaStream_t s)
{
    void *p;

    sleep_ms(STARVED_MS);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    OK(ncclCommAbort(comm));
    OK(cudaStreamSynchronize(s));
    OK(cudaMalloc(&p, 1));
    OK(cudaFree(p));
    CHECK(ncclAllReduce(p, p, 1, ncclInt8, ncclSum, comm, s) == ncclInvalidArgument);
}

/* Type, count, operation of the reduction, kind of call: nobody gets out. */
static void check_mismatch(void)
{
    for (int what = 0; what < 4; what++) {
        bool odd = own_rank == 3;
        ncclComm_t comm = join();
        cudaStream_t s = new_stream();
        void *a = pattern(own_rank), *b = pattern(own_rank);
        ncclDataType_t type = odd && what == 0 ? ncclFloat32 : ncclInt32;
        ncclRedOp_t op = odd && what == 2 ? ncclMax : ncclSum;

        if (odd && what == 3)
            MADE(comm, ncclAllGather(a, b, 1, ncclInt32, comm, s));
        else
            MADE(comm, ncclAllReduce(a, b, odd && what == 1 ? 2 : 1, type, op, comm, s));
        abort_after_hang(comm, s);
        __atomic_add_fetch(&board->marks, 1, __ATOMIC_SEQ_CST);
        while (board->marks < RANKS * (what + 1))
            sleep_ms(1);
        board->id_is_there = 0;
        sleep_ms(20);
    }
}

static void check_mismatch_as_error(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);
    ncclResult_t state = ncclInProgress;

    CHECK(ncclAllReduce(a, a, own_rank ? 2 : 1, ncclInt32, ncclSum, comm, s) == ncclInProgress);
    for (; state == ncclInProgress || state == ncclSuccess; sleep_ms(1))
        OK(ncclCommGetAsyncError(comm, &state));
    CHECK(state == ncclInvalidUsage);
    CHECK(strstr(ncclGetLastError(comm), "mismatch"));
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    OK(ncclCommAbort(comm));
    OK(cudaStreamSynchronize(s));
}

static void check_pair_mismatch(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);

    if (own_rank == 0)
        MADE(comm, ncclSend(a, 2, ncclInt32, 1, comm, s));
    else
        MADE(comm, ncclRecv(a, 1, ncclInt32, own_rank == 1 ? 0 : 1, comm, s));
    abort_after_hang(comm, s);
}

/* ---- communicators ---- */

static void check_strict(void)
{
    ncclComm_t comm = join(), child;
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);
    int host[ELEMENTS] = { 0 };

    CHECK(ncclAllReduce(host, a, 1, ncclInt32, ncclSum, comm, s) == ncclInvalidArgument);
    CHECK(ncclAllReduce(a, a, RANKS * ELEMENTS + 1, ncclInt32, ncclSum, comm, s) ==
          ncclInvalidArgument);
    CHECK(ncclSend(a, 1, ncclInt32, RANKS, comm, s) == ncclInvalidArgument);
    CHECK(ncclAllReduce(a, a, 1, ncclNumTypes, ncclSum, comm, s) == ncclInvalidArgument);
    CHECK(cudaMemcpy(host, a, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaPeekAtLastError()); /* it was told */
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    CHECK(cudaMalloc(&a, 2000) == cudaErrorMemoryAllocation);
    /* A split is on its way on the parent: nothing else may be called, and there is no child yet.
     */
    CHECK(own_rank == 0 || ncclCommSplit(comm, 0, 0, &child, NULL) == ncclInProgress);
    CHECK(own_rank == 0 || !child);
    CHECK(own_rank == 0 ||
          ncclAllReduce(a, a, 1, ncclInt32, ncclSum, comm, s) == ncclInvalidArgument);
    OK(ncclCommAbort(comm));
    CHECK(ncclCommAbort(comm) == ncclInvalidArgument);
}

static void check_split(void)
{
    ncclComm_t comm = join(), child = NULL;
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);
    int count, rank, color = own_rank == 2 ? NCCL_SPLIT_NOCOLOR : 7;

    MADE(comm, ncclCommSplit(comm, color, -own_rank, &child, NULL));
    CHECK((child == NULL) == (own_rank == 2));
    if (child) {
        static const int places[RANKS] = { 2, 1, -1, 0 }; /* by descending rank */

        OK(ncclCommCount(child, &count));
        OK(ncclCommUserRank(child, &rank));
        CHECK(count == 3 && rank == places[own_rank]);
        MADE(child, ncclBroadcast(a, a, ELEMENTS, ncclInt32, 0, child, s));
        CHECK(holds(s, a, 0, 3, 0));
        MADE(child, ncclCommFinalize(child));
        OK(ncclCommDestroy(child));
    }
    MADE(comm, ncclCommSplit(comm, own_rank / 2, 0, &child, NULL)); /* a second one */
    OK(ncclCommUserRank(child, &rank));
    CHECK(rank == own_rank % 2);
    OK(ncclCommDestroy(child));
    OK(ncclCommDestroy(comm));
}

static void check_blocking(void)
{
    ncclResult_t state;
    ncclComm_t comm;
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);

    OK(cudaSetDevice(own_rank));
    comm = join_with(1, &state);
    OK(state);
    OK(ncclBcast(a, ELEMENTS, ncclInt32, 1, comm, s));
    CHECK(holds(s, a, 0, 1, 0));
    OK(ncclCommFinalize(comm));
    OK(ncclCommDestroy(comm));
}

static void check_shared_device_refused(void)
{
    ncclResult_t state;
    ncclComm_t comm;

    OK(cudaSetDevice(own_rank / 2));
    comm = join_with(0, &state);
    CHECK(state == ncclInvalidUsage);
    CHECK(strstr(ncclGetLastError(comm), "NCCL_MULTI_RANK_GPU_ENABLE"));
    OK(ncclCommAbort(comm));
}

static void check_shared_device(void)
{
    ncclResult_t state;
    ncclComm_t comm;

    OK(cudaSetDevice(own_rank / 2));
    comm = join_with(0, &state);
    OK(state);
    OK(ncclCommDestroy(comm));
}

static void check_fork(void)
{
    int status = 0, count = 0;
    pid_t child;

    OK(cudaGetDeviceCount(&count));
    CHECK(count == 8);
    child = fork();
    if (child == 0)
        _exit(cudaGetDeviceCount(&count) != cudaErrorInitializationError);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void check_no_driver(void)
{
    ncclUniqueId id;
    int count = 0;

    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
    CHECK(ncclGetUniqueId(&id) == ncclUnhandledCudaError);
}

static void check_no_device(void)
{
    int count = 0;

    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
}

/* ---- faults ---- */

static void check_faults(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *a = pattern(0);
    ncclResult_t state;

    MADE(comm, ncclAllReduce(a, a, ELEMENTS, ncclInt32, ncclMax, comm, s)); /* 0 .. 5 */
    CHECK(holds(s, a, 0, 0, 0) == (own_rank != 1));
    if (own_rank == 2)
        CHECK(ncclAllReduce(a, a, 1, ncclInt32, ncclSum, comm, s) == ncclInternalError);
    CHECK(ncclAllReduce(a, a, 1, ncclInt32, ncclSum, comm, s) == ncclInProgress);
    sleep_ms(STARVED_MS);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    OK(ncclCommGetAsyncError(comm, &state));
    CHECK(state == (own_rank == 3 ? ncclRemoteError : ncclSuccess));
    OK(ncclCommAbort(comm));
}

static void check_death(void)
{
    ncclComm_t comm = join();
    cudaStream_t s = new_stream();
    void *a = pattern(own_rank);

    MADE(comm, ncclAllReduce(a, a, ELEMENTS, ncclInt32, ncclSum, comm, s));
    CHECK(own_rank != 2); /* it is dead */
    abort_after_hang(comm, s);
}

/* The others wait for one who dies on its way to them, and abort. */
static void check_death_in_init(void)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclResult_t state;
    ncclComm_t comm;

    config.blocking = 0;
    OK(cudaSetDevice(own_rank));
    if (own_rank == 0) {
        OK(ncclGetUniqueId(&board->id));
        board->id_is_there = 1;
    }
    while (!board->id_is_there)
        sleep_ms(1);
    CHECK(ncclCommInitRankConfig(&comm, RANKS, board->id, own_rank, &config) == ncclInProgress);
    sleep_ms(STARVED_MS);
    OK(ncclCommGetAsyncError(comm, &state));
    CHECK(state == ncclInProgress && own_rank != 2);
    OK(ncclCommAbort(comm));
}

/* ---- the cases ---- */

static const struct {
    const char *name;
    void (*run)(void);
    int ranks, dies; /* dies: the rank that is killed; -1: none */
    const char *set, *to;
} cases[] = {
    { "moves", check_moves, RANKS, -1, NULL, NULL },
    { "reductions", check_reductions, RANKS, -1, NULL, NULL },
    { "parts", check_parts, RANKS, -1, NULL, NULL },
    { "pairs", check_pairs, RANKS, -1, NULL, NULL },
    { "streams", check_streams, RANKS, -1, NULL, NULL },
    { "groups", check_groups, RANKS, -1, NULL, NULL },
    { "queue", check_queue, RANKS, -1, NULL, NULL },
    { "mismatch", check_mismatch, RANKS, -1, NULL, NULL },
    { "mismatch as error", check_mismatch_as_error, RANKS, -1, "HS_DOUBLE_MISMATCH", "error" },
    { "pair mismatch", check_pair_mismatch, RANKS, -1, NULL, NULL },
    { "strict", check_strict, RANKS, -1, "HS_DOUBLE_MEMORY", "1024" },
    { "split", check_split, RANKS, -1, NULL, NULL },
    { "blocking", check_blocking, RANKS, -1, NULL, NULL },
    { "shared device refused", check_shared_device_refused, RANKS, -1, NULL, NULL },
    { "shared device", check_shared_device, RANKS, -1, "NCCL_MULTI_RANK_GPU_ENABLE", "1" },
    { "fork", check_fork, 1, -1, NULL, NULL },
    { "no driver", check_no_driver, 1, -1, "HS_DOUBLE_DEVICES", "-1" },
    { "no device", check_no_device, 1, -1, "HS_DOUBLE_DEVICES", "0" },
    { "faults", check_faults, RANKS, -1, "HS_DOUBLE_FAULT",
      "rank 1 corrupts call 1; rank 2 refuses call 2; rank 0 stalls at call 2; rank 3 fails at "
      "call 2" },
    { "death", check_death, RANKS, 2, "HS_DOUBLE_FAULT", "rank 2 dies at call 1" },
    { "death in init", check_death_in_init, RANKS, 2, "HS_DOUBLE_FAULT", "rank 2 dies in init" },
};

static int run_case(size_t c)
{
    pid_t pids[RANKS];
    int bad = 0, status;

    memset(board, 0, sizeof(*board));
    for (int r = 0; r < cases[c].ranks; r++) {
        pids[r] = fork();
        if (pids[r] == 0) {
            own_rank = r;
            alarm(LONGEST_S);
            if (cases[c].set)
                setenv(cases[c].set, cases[c].to, 1);
            cases[c].run();
            _exit(0);
        }
    }
    for (int r = 0; r < cases[c].ranks; r++) {
        bool dies = r == cases[c].dies;

        if (waitpid(pids[r], &status, 0) != pids[r] || (dies ? !WIFSIGNALED(status) : status != 0))
            bad = 1;
    }
    /* Who died in the beginning leaves the name of the memory to those who abort. */
    if (board->id_is_there && shm_open(board->id.internal, O_RDONLY, 0) >= 0)
        bad = 1;
    if (bad)
        printf("%s: failed\n", cases[c].name);
    return bad;
}

int main(void)
{
    size_t count = sizeof(cases) / sizeof(cases[0]);
    int bad = 0;

    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t c = 0; c < count; c++)
        bad += run_case(c);
    printf("%zu cases, %d failed\n", count, bad);
    return bad != 0;
}
