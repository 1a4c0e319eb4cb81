/*
 * double.h - NCCL and the CUDA runtime without a GPU, for tests: processes, a thread in each, and
 * shared memory.
 *
 * The entry points are those of the real headers. What tests rely on is as the real libraries do
 * it: when a call returns, what it waits for, what a hang looks like, what abort ends. A thread per
 * process moves everything on, under one lock; the functions that are called with the lock held say
 * so. What the library is to do wrong, and what it pretends to be: settings.c.
 *
 * Being a library that stands for a device, it has state of the process: hs_state().
 */
#ifndef HS_NCCL_DOUBLE_H
#define HS_NCCL_DOUBLE_H

#include <cuda_runtime.h>
#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HS_MEMBERS = 128,  /* of a communicator, at most */
    HS_ROWS = 256,     /* collectives of a communicator that can be under way */
    HS_SPLIT_ROWS = 4, /* splits */
    HS_PAIR_ROWS = 16, /* sends from one member to another */
    HS_GROUP_COMMS = 64,
    HS_REDOPS = 64, /* own reductions of a process */
    HS_NAME = 64,
};

/* ---- settings.c ---- */

enum hs_fault_verb {
    HS_DIES,     /* the process ends at once */
    HS_HANGS,    /* the call never returns */
    HS_STALLS,   /* its kernel never gets to the others */
    HS_FAILS,    /* the communicator reports a remote error */
    HS_REFUSES,  /* the call returns an error */
    HS_CORRUPTS, /* its result has a wrong element */
    HS_FAULT_VERBS,
};
enum hs_fault_place { HS_AT_CALL, HS_IN_INIT, HS_IN_ABORT };

struct hs_settings {
    int devices; /* -1: no driver */
    int version;
    uint64_t memory_bytes; /* of a device */
    uint64_t call_us;      /* every call takes so long once all members are there */
    bool mismatch_fails;   /* members' calls that differ are an error; else nobody gets out */
    bool shares_devices;   /* several ranks of a communicator on one device */
};

const struct hs_settings *hs_settings(void);

/* Whether this rank is to do so here. `number` counts the process's calls from 1. */
bool hs_fault(int rank, enum hs_fault_verb verb, enum hs_fault_place place, uint64_t number);

/* Tell a call to whoever listens. */
void hs_trace(const char *name);

/* ---- memory.c: device memory is a file without a name, so that other processes can read it ----
 */

struct hs_place {
    int32_t pid, fd;
    uint64_t offset;
};

/* Where `bytes` at a device address are; false when they are not device memory. Lock held. */
bool hs_memory_find(const void *address, uint64_t bytes, struct hs_place *out);

/* The bytes behind an address that a program sees; itself when it is no device memory. Lock held.
 */
char *hs_memory_real(void *address);
const char *hs_memory_source(const void *address);

/* Lock held. NULL without memory. */
void *hs_memory_new(uint64_t bytes);
void hs_memory_free(void *address);

/* Bytes of any process; false when it is gone. */
bool hs_place_read(const struct hs_place *place, uint64_t at, void *out, uint64_t bytes);

/* ---- reduce.c ---- */

union hs_wide {
    double real;
    uint64_t whole;
};

uint32_t hs_dtype_bytes(ncclDataType_t type);
void hs_dtype_widen(ncclDataType_t type, const void *in, union hs_wide *out, uint32_t count);
void hs_dtype_narrow(ncclDataType_t type, const union hs_wide *in, void *out, uint32_t count);
double hs_dtype_scalar(ncclDataType_t type, const void *scalar);

/* acc = acc OP in; both scaled already. */
void hs_reduce(ncclDataType_t type, ncclRedOp_t op, union hs_wide *acc, const union hs_wide *in,
               uint32_t count);
void hs_reduce_scale(ncclDataType_t type, union hs_wide *acc, double factor, uint32_t count);
void hs_reduce_divide(ncclDataType_t type, union hs_wide *acc, int by, uint32_t count);

/* ---- segment.c: what the members of a communicator share ---- */

enum hs_kind {
    HS_ALL_REDUCE,
    HS_BROADCAST,
    HS_REDUCE,
    HS_ALL_GATHER,
    HS_REDUCE_SCATTER,
    HS_ALL_TO_ALL,
    HS_GATHER,
    HS_SCATTER,
    HS_SEND,
    HS_RECV,
    HS_SPLIT, /* count: colour; root: key */
};

/* What a member brings to a meeting. */
struct hs_post {
    struct hs_place send, scratch;
    uint64_t count;
    int32_t kind, type, op, root;
    double scalar; /* of a reduction that multiplies first; else 1 */
};

/* A meeting of all members. `turn` says for which of the positions that use this row. */
struct hs_row {
    _Atomic uint64_t turn;
    _Atomic uint32_t arrived, produced, collected, left;
    struct hs_post posts[];
};

enum { HS_PAIR_FREE, HS_PAIR_POSTED, HS_PAIR_TAKEN };
struct hs_pair_row {
    _Atomic uint64_t turn;
    _Atomic uint32_t state;
    struct hs_post post;
};

struct hs_segment {
    char name[HS_NAME];
    _Atomic int32_t members; /* 0: nobody has said yet */
    _Atomic uint32_t joined, left;
    _Atomic int32_t failed; /* a result that all members get */
    int32_t devices[HS_MEMBERS];
};

/* NULL when it cannot be had, or when others said another number of members. */
struct hs_segment *hs_segment_open(const char *name, int members);
void hs_segment_close(struct hs_segment *segment);
void hs_segment_unlink(const struct hs_segment *segment);

/* The row of a position, or NULL while an earlier one still uses it. */
struct hs_row *hs_segment_row(struct hs_segment *segment, uint64_t position);
struct hs_row *hs_segment_split_row(struct hs_segment *segment, uint64_t position);
struct hs_pair_row *hs_segment_pair(struct hs_segment *segment, int from, int to,
                                    uint64_t position);

/* This member is through with a row; the last one makes it free for its next turn. */
void hs_row_leave(struct hs_row *row, uint32_t members);

/* ---- calls.c, run.c ---- */

enum hs_phase { HS_WAITS_FOR_ROW, HS_ARRIVED, HS_PRODUCED, HS_COLLECTED, HS_DONE };

struct hs_call {
    struct hs_post post;
    uint64_t position; /* of collectives in the communicator, of sends and receives in the pair */
    const void *send;
    void *recv;
    void *scratch; /* device memory */
    uint64_t ready_ns;
    enum hs_phase phase;
    bool stalls, fails, corrupts;
};

/* The calls of a group call on one communicator: one kernel. */
struct hs_work {
    struct ncclComm *comm;
    struct hs_call *calls;
    uint32_t call_count, call_cap;
    cudaStream_t *streams; /* where it runs; all of them wait for it */
    uint32_t stream_count;
    uint32_t reached; /* by how many of the other streams */
    uint64_t number;  /* of the communicator's launches */
    uint32_t users;   /* stream items that name it */
    bool done;
};

bool hs_call_advance(struct ncclComm *comm, struct hs_call *call); /* whether it got on */

/* ---- streams.c ---- */

enum hs_item_kind { HS_RUN, HS_JOIN, HS_RECORD, HS_WAIT, HS_COPY, HS_FILL };

struct hs_item {
    struct hs_item *next;
    enum hs_item_kind kind;
    struct hs_work *work;
    cudaEvent_t event;
    uint64_t number; /* of the event's recording */
    char *to;
    const char *from;
    uint64_t bytes;
    int fill;
};

struct CUstream_st {
    struct CUstream_st *next;
    struct hs_item *head, *tail;
    bool beside_null; /* cudaStreamNonBlocking */
    bool dropped;     /* destroyed by the program */
};

struct CUevent_st {
    uint64_t recorded, reached;
    int64_t time_ns;
    uint32_t users;
    bool timed, dropped;
};

cudaError_t hs_cuda_error(cudaError_t error);                        /* kept for cudaGetLastError */
bool hs_stream_is(cudaStream_t stream);                              /* lock held */
bool hs_stream_put(cudaStream_t stream, const struct hs_item *item); /* lock held */
bool hs_streams_advance(void); /* lock held; whether anything got on */
bool hs_streams_busy(void);    /* lock held */

/* ---- comm.c ---- */

/* What a communicator does beside its program. */
enum hs_job {
    HS_NO_JOB,
    HS_INIT,       /* waits for all members */
    HS_SPLIT_POST, /* says its colour and key */
    HS_SPLIT_MEET, /* waits for those of the others */
    HS_SPLIT_JOIN, /* waits for the child's members */
    HS_LAUNCH,     /* a group call is on its way to the streams */
    HS_DRAIN,      /* waits for its work to end */
    HS_LEAVE,      /* waits for the other members to leave */
    HS_FORGET,     /* ended for the program: lets go of what it shares when nothing runs */
};

struct ncclComm {
    struct ncclComm *next;
    struct hs_segment *segment;
    int rank, members, device;
    bool blocking, aborted, finalized, left, gone;
    ncclResult_t state;
    enum hs_job job;
    struct hs_work *launch; /* of HS_LAUNCH */
    uint32_t works;         /* on streams */
    uint64_t launched, ended;
    uint64_t position, split_position;
    uint64_t sent[HS_MEMBERS], received[HS_MEMBERS];
    struct ncclComm *child, **child_out; /* of a split */
    int color, key;
    bool child_blocking;
    char error[160];
};

/* Whether a call may be made on it now; else the reason why not. Lock held. */
ncclResult_t hs_comm_check(struct ncclComm *comm);
void hs_comm_fail(struct ncclComm *comm, ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool hs_comm_advance(struct ncclComm *comm); /* lock held */

/* Wait for the end of what a blocking communicator does; ncclInProgress of another. Lock held. */
ncclResult_t hs_comm_settle(struct ncclComm *comm);

/* Enter for a call on a communicator: ncclSuccess with the lock held. */
ncclResult_t hs_comm_enter(struct ncclComm *comm);

/* ---- group.c ---- */

/* A call goes to the group that is open, or to one of its own. Lock held. */
ncclResult_t hs_group_add(struct ncclComm *comm, const struct hs_call *call, cudaStream_t stream);

/* A call inside a group failed: the group does. */
void hs_group_fail(ncclResult_t result);

/* A communicator whose job the end of the group waits for. Lock held. */
ncclResult_t hs_group_await(struct ncclComm *comm);

/* Put a launch on its streams. Lock held. */
void hs_work_launch(struct hs_work *work);

/* ---- process.c ---- */

struct hs_state {
    pthread_mutex_t lock;
    pthread_cond_t moved, kicked;
    int32_t pid; /* that used the device first; 0: none yet */
    int device;
    int first_rank; /* in the first communicator; -1: none yet */
    uint64_t calls; /* communication calls so far */
    struct CUstream_st *streams;
    struct CUstream_st null_stream;
    struct ncclComm *comms;
    bool unkicked; /* the thread has not looked since something was added */
};

struct hs_state *hs_state(void);

/* Take the lock in a process that may use the device; a fork of one that did may not. */
cudaError_t hs_enter(void);
void hs_leave(void);

/* Something was added: the thread is to look. Lock held. */
void hs_kick(void);

/* Wait until the thread got something on. Lock held. */
void hs_await(void);

/* For ever; without the lock. */
_Noreturn void hs_hang(void);
int64_t hs_now_ns(void);

#endif
