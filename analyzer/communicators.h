/*
 * communicators.h - the ends of NCCL communicators, as each process tells of its own, put together.
 *
 * Ends belong together by the id that all print; by the communicator that they were split from,
 * the number of the split and its color; and where neither was printed, by size and order of
 * creation, as long as only one reading is possible. What is ambiguous stays alone.
 */
#ifndef HS_ANALYZER_COMMUNICATORS_H
#define HS_ANALYZER_COMMUNICATORS_H

#include "schema/job.h"

/* How it is known that ends belong together. */
enum hs_comm_joined {
    HS_COMM_ALONE,  /* it is not */
    HS_COMM_ID,     /* by the id that they print */
    HS_COMM_SPLIT,  /* split from one communicator, in one call, with one color */
    HS_COMM_ORDER,  /* the only one of its size at that point of creation */
    HS_COMM_STRIDE, /* global ranks at one distance, and no other distance would do */
};

enum hs_comm_state {
    HS_COMM_USED,     /* of its creation nothing is said */
    HS_COMM_STARTED,  /* created as far as the start */
    HS_COMM_COMPLETE, /* created */
    HS_COMM_ENDED,    /* destroyed or aborted */
};

const char *hs_comm_joined_word(enum hs_comm_joined joined);
const char *hs_comm_state_word(enum hs_comm_state state);

/* One end. */
struct hs_comm_member {
    uint32_t row;   /* of job->communicators */
    uint32_t owner; /* the process */
    uint32_t rank;  /* in the communicator; HS_NO_ID: not said */
    uint32_t state; /* enum hs_comm_state */
};

struct hs_comm {
    uint64_t comm_id; /* 0: unknown */
    bool computed; /* from the parent's id; NCCL 2.26 and later show the same in RAS and plugins */
    bool world;    /* its ranks are the global ones */
    uint32_t size, attempt;
    uint32_t joined;                     /* enum hs_comm_joined */
    uint32_t parent;                     /* the communicator it was split from; HS_NO_ID */
    uint32_t first_member, member_count; /* in hs_comms.members, by rank; one per process */
    uint32_t seen;                       /* distinct ranks among them */
};

struct hs_comms {
    struct hs_comm *list; /* by first row */
    uint32_t count;
    struct hs_comm_member *members;
    uint32_t member_count;
    uint32_t *comm_of_row; /* HS_NO_ID: its process is unknown */
    uint32_t *by_id;       /* those with an id, by id, then as in `list` */
    uint32_t with_id;
};

/* What is known of the process behind each row of job->communicators. */
struct hs_comm_owners {
    const uint32_t *owner;   /* by row; HS_NO_ID: unknown */
    const uint32_t *attempt; /* by row */
    const uint32_t *rank;    /* by row, global; HS_NO_ID: unknown. NULL: none is known yet */
};

/* Everything lives in `arena`. */
enum hs_status hs_comms_join(const struct hs_job *job, const struct hs_comm_owners *owners,
                             struct hs_arena *arena, struct hs_comms *out, struct hs_err *err);

/* The communicator with an id, as RAS and plugins print it; HS_NO_ID. The latest, if several. */
uint32_t hs_comms_find(const struct hs_comms *comms, uint64_t comm_id);

/* The end of a rank, an index of comms->members; HS_NO_ID: it was not seen. */
uint32_t hs_comm_of_rank(const struct hs_comms *comms, uint32_t comm, uint32_t rank);

/* The id of a child that NCCL gives it: split number `count` (from 1) of a parent, and color. */
uint64_t hs_comm_split_id(uint64_t parent_id, int32_t count, int32_t color);

#endif
