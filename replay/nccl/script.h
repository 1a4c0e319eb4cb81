/*
 * script.h - a plan as what each process does with communicators and streams.
 *
 * By the rules (a dry run of the plan) it is known which meetings end. What the record and the
 * rules say about calls that are not simply made is decided here, so that all processes decide
 * alike: a `stalled` call is made and holds back what follows on its stream; a `done` call whose
 * meeting never ends is not made; positions that a rank passed without a record of the call are
 * filled, so that the others get through.
 */
#ifndef HS_REPLAY_NCCL_SCRIPT_H
#define HS_REPLAY_NCCL_SCRIPT_H

#include "replay/dry.h"
#include "replay/nccl/calls.h"

/* A communicator: of a group, or of the two of a send outside of a batch, as c10d makes them. */
struct hs_comm {
    uint32_t group;
    uint32_t *rows; /* of plan->ranks, in order */
    uint32_t size;
    uint32_t parent; /* the one it is split from; HS_NO_ID: made by an id of its own */
    bool pair;
};

enum hs_step_kind {
    HS_STEP_MADE,
    HS_STEP_STALLED, /* made; its end is not told */
    HS_STEP_HELD,    /* not made: it is behind one that never ends */
    HS_STEP_PASSED,  /* not made: it ends where it is, whatever the others do */
    HS_STEP_FILL,    /* made for the others; no call of the rank's program */
};

/* A unit of a rank's program, or a fill: calls `first` to `end` of the program of row `source`. */
struct hs_step {
    uint8_t kind;
    bool last; /* a fill that comes only when all calls have ended */
    uint16_t lane;
    uint32_t source, first, end;
    uint32_t comm;
    uint32_t ref; /* what it meets in (hs_dry) */
};

struct hs_script {
    const struct hs_plan *plan;
    const struct hs_dry *dry;
    struct hs_scaling scaling;
    struct hs_arena arena;
    struct hs_comm *comms;
    uint32_t comm_count, comm_cap;
    uint32_t *group_comm;   /* by group: HS_NO_ID when it is not used */
    struct hs_intern pairs; /* group, lower row, higher row: pair_comm[id] */
    bool *pair_batched;  /* by pair: it exchanges in batches, so on the group's communicator; what a
                            plan shows alone may be a batch of one */
    uint32_t *pair_comm; /* by pair: HS_NO_ID when it has none of its own */
    uint32_t pair_cap;
    uint32_t *met_first, *met; /* by ref of a collective: the calls (of units) that meet in it */
};

/* What one process does, in order. */
struct hs_course {
    struct hs_step *steps;
    uint32_t count, cap;
    uint32_t lanes;
};

/* `scale`: of recorded counts. `split`: by ncclCommSplit of an earlier communicator where one has
 * all members. */
enum hs_status hs_script_make(struct hs_script *script, const struct hs_dry *dry, double scale,
                              bool split, struct hs_err *err);
void hs_script_release(struct hs_script *script);

enum hs_status hs_course_make(const struct hs_script *script, uint32_t row, struct hs_course *out,
                              struct hs_err *err);
void hs_course_release(struct hs_course *course);

/* The communicator that a row's call is made on. */
uint32_t hs_script_comm_of(const struct hs_script *script, uint32_t row,
                           const struct hs_plan_call *call);

/* The index of a row in a communicator; HS_NO_ID. */
uint32_t hs_comm_index(const struct hs_comm *comm, uint32_t row);

/* The row whose call this is, by its number in the dry run. */
uint32_t hs_script_row(const struct hs_dry *dry, uint64_t call);

/* The NCCL calls of a step. */
bool hs_step_calls(const struct hs_script *script, uint32_t row, const struct hs_step *step,
                   int nccl_version, struct hs_nccl_calls *out);

/* Pairs of a communicator that exchange outside of collectives: true at [from * size + to]. NULL
 * without memory; the caller frees it. */
bool *hs_script_exchanges(const struct hs_script *script, uint32_t comm);

#endif
