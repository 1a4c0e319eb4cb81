/*
 * calls.h - what c10d's operations are in NCCL: one row for each (calls.c), the buffers they need,
 * and the bandwidth that nccl-tests would print.
 */
#ifndef HS_REPLAY_NCCL_CALLS_H
#define HS_REPLAY_NCCL_CALLS_H

#include "replay/plan.h"

#include <nccl.h>

/* How an operation is made of NCCL's calls. */
enum hs_way {
    HS_WAY_BARRIER, /* an all-reduce of one element: c10d's barrier, and what is not known */
    HS_WAY_ALL_REDUCE,
    HS_WAY_BROADCAST,
    HS_WAY_REDUCE,
    HS_WAY_ALL_GATHER,
    HS_WAY_REDUCE_SCATTER,
    HS_WAY_ALL_TO_ALL, /* a send to and a receive from each */
    HS_WAY_GATHER,     /* a send to the root, which receives from all others */
    HS_WAY_SCATTER,
    HS_WAY_SEND,
    HS_WAY_RECV,
    HS_WAYS
};

enum hs_way hs_way_of(const struct hs_operation_kind *kind);

/* Whether it is made of sends and receives. */
bool hs_way_is_grouped(enum hs_way way);

/* How an element type is moved. What NCCL has no type for moves as bytes, two floats, ... */
struct hs_type {
    ncclDataType_t type;
    uint32_t bytes;    /* of one NCCL element */
    uint32_t multiple; /* NCCL elements for one recorded */
};

/* By the recorded name ("BFloat16"); unknown ones and none at all are floats. fp8 moves as bytes
 * with a library that has no such types. */
struct hs_type hs_type_of(struct hs_str recorded, int nccl_version);

/* One call of NCCL. Offsets are bytes into the operation's two buffers. */
struct hs_nccl_call {
    uint8_t way;       /* BARRIER, ALL_REDUCE to REDUCE_SCATTER, SEND, RECV */
    uint8_t reduction; /* enum hs_reduction */
    bool in_place;     /* out is in */
    uint32_t other;    /* root, peer */
    uint64_t count;
    struct hs_type type;
    uint64_t from, to;
    uint32_t salt; /* of the data of those that meet */
};

/* Counts are multiplied, and what differs in the plan still differs: that may be what it is about.
 */
struct hs_scaling {
    double factor;
    uint64_t *from, *to; /* the plan's counts, ascending */
    uint32_t count;
};

/* Memory is the arena's. False without any. */
bool hs_scaling_make(struct hs_scaling *out, const struct hs_plan *plan, double factor,
                     struct hs_arena *arena);
uint64_t hs_scaled(const struct hs_scaling *scaling, uint64_t count);

/* A plan's call, as all members of its communicator have to see it. */
struct hs_calls_of {
    const struct hs_plan *plan;
    const struct hs_plan_signature *sig;
    uint32_t self, size; /* in the communicator */
    uint32_t peer;       /* of a send or receive, in the communicator */
    enum hs_reduction reduction;
    uint32_t salt;
    const struct hs_scaling *scaling;
    int nccl_version;
    /* The signature that a member brings to the same meeting, or NULL: uneven shares depend on both
     * sides. */
    const struct hs_plan_signature *(*of_member)(void *who, uint32_t member);
    void *who;
};

struct hs_nccl_calls {
    struct hs_nccl_call *calls;
    uint32_t count, cap;
    uint64_t in_bytes, out_bytes;
};

/* Append what one plan call is. False without memory. */
bool hs_nccl_calls_add(struct hs_nccl_calls *list, const struct hs_calls_of *of);

/* Bytes by which nccl-tests counts one call, and the factor from algorithm to bus bandwidth. */
uint64_t hs_bandwidth_bytes(enum hs_way way, uint64_t count, uint32_t type_bytes, uint32_t ranks);
double hs_bus_factor(enum hs_way way, uint32_t ranks);

/* Elements of a call as its row in the table of timings counts them: of one rank, scaled. */
uint64_t hs_counted_elements(const struct hs_plan_signature *sig, enum hs_way way, uint32_t size,
                             const struct hs_scaling *scaling);

#endif
