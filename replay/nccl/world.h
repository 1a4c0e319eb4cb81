/*
 * world.h - the processes of a run, and the memory that they share.
 *
 * The parent never touches CUDA: it forks a process per rank, watches what they publish, gives
 * orders, and ends all of them. The memory is anonymous, so that nothing is left behind.
 */
#ifndef HS_REPLAY_NCCL_WORLD_H
#define HS_REPLAY_NCCL_WORLD_H

#include "replay/nccl/script.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

struct hs_run_options {
    const char *nccl_file; /* NULL: by its usual names */
    double deadline_s;     /* without any progress */
    double scale;          /* of recorded counts */
    bool check_data, split, json, quiet;
};

/* What the parent wants of all. */
enum hs_order { HS_ORDER_PREPARE, HS_ORDER_RUN, HS_ORDER_FINISH, HS_ORDER_ABORT };

/* How far a process is. */
enum hs_phase {
    HS_PHASE_DEVICE, /* libraries, GPU, memory */
    HS_PHASE_JOINING,
    HS_PHASE_READY,
    HS_PHASE_RUNNING,
    HS_PHASE_ENDED, /* all its calls have */
    HS_PHASE_HELD,  /* what is left is held back by calls that never end by the plan */
    HS_PHASE_FAILED,
    HS_PHASE_GONE, /* it has left in good order */
};

struct hs_shared_rank {
    _Atomic uint32_t phase, progress;
    _Atomic uint32_t comms_made;
    uint32_t busy_streams;
    uint32_t wrong;      /* calls with wrong data */
    uint32_t wrong_call; /* the first */
    uint64_t wrong_at;   /* its first wrong element */
    bool no_memory;
    char error[600]; /* set before HS_PHASE_FAILED */
};

/* The id of a communicator on its way from its first member to another; short enough for a pipe to
 * keep it whole. */
struct hs_letter {
    uint32_t comm;
    ncclUniqueId id;
};
_Static_assert(sizeof(struct hs_letter) <= _POSIX_PIPE_BUF, "a letter may be torn");

struct hs_letterbox {
    int read, write; /* of a pipe that does not block */
};

/* What a look at the machine found (probe.c). */
struct hs_machine {
    int nccl, cuda_runtime, cuda_driver; /* as the libraries number themselves */
    int gpus;
    bool has_split, has_looked;
    char error[600]; /* why nothing can run; "" */
};

struct hs_shared {
    _Atomic uint32_t order;
    struct hs_machine machine;
};

struct hs_child {
    pid_t pid; /* 0: it has been waited for */
    bool died; /* by itself */
    bool killed;
    int status; /* as waitpid() tells */
};

struct hs_world {
    const struct hs_run_options *options;
    const struct hs_script *script;
    struct hs_shared *shared;
    struct hs_shared_rank *ranks;     /* by row */
    struct hs_letterbox *letterboxes; /* by row */
    uint8_t *states;                  /* by call of the dry run: enum hs_dry_state */
    float *took_us;                   /* by call: on the device; 0: not measured */
    uint8_t *async; /* by row and communicator: ncclResult_t at the end; 255: none */
    size_t shared_bytes;
    struct hs_child *children;
    struct hs_intern left; /* files in /dev/shm that the processes had mapped */
    int signal;            /* that ended the run; 0 */
    double seconds;
};

/* How a process ended by itself, in words. */
void hs_child_put_end(const struct hs_child *child, struct hs_buf *out);

enum hs_outcome { HS_OUTCOME_ENDED, HS_OUTCOME_HUNG, HS_OUTCOME_FAILED };

/* What the machine has; in a process of its own. HS_EIO when nothing can run, with the reason. */
enum hs_status hs_machine_look(struct hs_world *world, struct hs_err *err);

/* The memory for it; hs_world_release() in any case. */
enum hs_status hs_world_make(struct hs_world *world, const struct hs_script *script,
                             const struct hs_run_options *options, struct hs_err *err);
void hs_world_release(struct hs_world *world);

/* Run to the end. HS_EIO when it could not begin, HS_OK otherwise. */
enum hs_status hs_world_run(struct hs_world *world, struct hs_err *err);

enum hs_outcome hs_world_outcome(const struct hs_world *world);

/* The GPU of a row. */
static inline int hs_world_gpu(const struct hs_world *w, uint32_t row)
{
    return (int)(row % (uint32_t)(w->shared->machine.gpus ? w->shared->machine.gpus : 1));
}

static inline struct hs_shared_rank *hs_world_rank(const struct hs_world *w, uint32_t row)
{
    return &w->ranks[row];
}

static inline uint8_t *hs_world_async(const struct hs_world *w, uint32_t row, uint32_t comm)
{
    return &w->async[(size_t)row * w->script->comm_count + comm];
}

/* One rank's life; the exit status of its process (rank.c). */
int hs_rank_live(struct hs_world *world, uint32_t row);

#endif
