/* rank.h - the inside of one rank's process: what its parts share. */
#ifndef HS_REPLAY_NCCL_RANK_H
#define HS_REPLAY_NCCL_RANK_H

#include "replay/nccl/api.h"
#include "replay/nccl/world.h"

/* Of a step that was made. */
struct hs_flight {
    cudaEvent_t begin, end;
    uint32_t next; /* the one behind it on its lane; HS_NO_ID */
    bool begun, ended;
    bool broken;    /* it could not be made: its events tell nothing */
    char *in, *out; /* buffers of its own, for --check-data; NULL: those of the lane */
};

/* A stream of the plan. */
struct hs_lane {
    cudaStream_t stream;
    uint32_t head, tail; /* steps in flight; HS_NO_ID: none */
    char *in, *out;      /* room for its largest step */
    uint64_t in_bytes, out_bytes;
};

struct hs_rank {
    struct hs_world *w;
    struct hs_api api;
    uint32_t row;
    struct hs_course course;
    struct hs_flight *flights; /* by step */
    struct hs_lane *lanes;
    cudaStream_t copies; /* of data that is checked, and of warming up */
    ncclComm_t *comms;   /* NULL: not a member */
    struct hs_arrived_id {
        bool has;
        ncclUniqueId id;
    } * ids;                    /* by communicator: of which a letter came */
    struct hs_nccl_calls calls; /* scratch */
    uint32_t host;              /* steps that were made */
    uint32_t in_flight;
};

/* Say why nothing goes on here; false, always. */
__attribute__((format(printf, 2, 3))) bool hs_rank_fail(struct hs_rank *r, const char *fmt, ...);

/* Whether a call went well. NCCL's may go on in the background: then it is waited for, as long as
 * the parent lets it. */
bool hs_rank_cuda(struct hs_rank *r, cudaError_t result, const char *what);
bool hs_rank_nccl(struct hs_rank *r, ncclResult_t result, ncclComm_t comm, const char *what);

static inline bool hs_rank_must_stop(const struct hs_rank *r)
{
    return atomic_load(&r->w->shared->order) == HS_ORDER_ABORT;
}

static inline void hs_rank_progress(struct hs_rank *r)
{
    atomic_fetch_add(&r->w->ranks[r->row].progress, 1);
}

/* Make NCCL calls, as one group if there are several. */
bool hs_rank_make(struct hs_rank *r, uint32_t comm, const struct hs_nccl_calls *calls, char *in,
                  char *out, cudaStream_t stream);

/* Communicators, made and warmed up; and ended (joining.c). */
bool hs_rank_join(struct hs_rank *r);
void hs_rank_leave(struct hs_rank *r, bool abort);

/* All steps, as far as they go (pump.c). */
void hs_rank_run(struct hs_rank *r);

/* Data of a step: put in before the run, and looked at when it has ended (data.c). */
bool hs_data_fill(struct hs_rank *r, uint32_t step);
bool hs_data_check(struct hs_rank *r, uint32_t step);

#endif
