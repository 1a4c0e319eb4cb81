/*
 * plan.h - a recorded job as programs that can run again: who calls what, in which order.
 *
 * A program is a list of calls; ranks that behave alike share one. A call names its group by a
 * slot, an index into the groups of the rank that runs it, so that ranks of different groups share
 * programs, too. Collectives of a group are numbered by their order from the rank's start on. The
 * file form, and what every field means: docs/formats/plan.md.
 */
#ifndef HS_REPLAY_PLAN_H
#define HS_REPLAY_PLAN_H

#include "replay/semantics.h"
#include "schema/job.h"

/* What calls have in common. Element types are strings of the plan. */
struct hs_plan_signature {
    const struct hs_operation_kind *kind;
    uint32_t op;         /* string: "all_reduce", "send" */
    uint32_t peer, root; /* group ranks; HS_NO_ID: none, unknown */
    struct hs_tensors in, out;
    uint64_t numel_in, numel_out;
};

enum hs_call_flag {
    HS_CALL_STALLED = 1,       /* begun here, and its end is never seen here */
    HS_CALL_DONE = 2,          /* ends here whatever the others do */
    HS_CALL_ASYNC = 4,         /* the host goes on before it has ended, where it would wait */
    HS_CALL_FINISHED = 8,      /* the record shows its end; known only while a plan is made */
    HS_CALL_REDUCTION = 0x700, /* mask: enum hs_reduction, from HS_REDUCTION_SHIFT on */
};
enum { HS_REDUCTION_SHIFT = 8 };

extern const char *const hs_reduction_names[HS_REDUCTIONS]; /* "sum", ... */

struct hs_plan_call {
    uint32_t signature, stack; /* stack HS_NO_ID: unknown */
    uint32_t skip;             /* collectives of the group before it that are not on record */
    uint32_t batch;            /* calls of one group call have the same; 0: a call by itself */
    uint16_t slot, stream;
    uint32_t flags; /* enum hs_call_flag */
};

struct hs_program {
    struct hs_plan_call *calls;
    uint32_t call_count;
};

struct hs_plan_group {
    uint32_t name, desc, backend; /* strings; desc and backend may be HS_NO_ID */
    uint32_t *ranks;              /* global ranks in group order */
    uint64_t *order;              /* rank << 32 | index, sorted; NULL while ranks ascend */
    uint32_t size;
    bool assumed; /* nobody lists the members: those who use it are taken for them */
};

enum hs_rank_flag {
    HS_PLAN_OPEN = 1,    /* its record ends early: what it did next is unknown */
    HS_PLAN_ABSENT = 2,  /* it left no record at all */
    HS_PLAN_PARTIAL = 4, /* its record does not begin with its first call */
    HS_PLAN_STUCK = 16,  /* it did not finish: should it now, what it does next is unknown. Not
                            part of the file form */
};

/* A rank: its program, and for each slot the group, the number of collectives that were behind it
 * before the first listed one, and how many it is known to have entered at last. */
struct hs_plan_rank {
    uint32_t rank, program, flags;
    uint32_t slot_count;
    uint32_t *groups, *start, *until;
};

struct hs_plan {
    struct hs_arena arena;
    struct hs_intern strings;
    struct hs_intern signature_keys, stack_keys, frame_keys;
    struct hs_plan_signature *signatures;
    uint32_t signature_cap;               /* as many as signature_keys */
    const struct hs_semantics *semantics; /* whose rules */
    struct hs_plan_group *groups;
    uint32_t group_count, group_cap;
    struct hs_program *programs;
    uint32_t program_count, program_cap;
    struct hs_plan_rank *ranks; /* sorted by rank */
    uint32_t rank_count, rank_cap;
};

void hs_plan_init(struct hs_plan *plan);
void hs_plan_release(struct hs_plan *plan);

static inline struct hs_str hs_plan_string(const struct hs_plan *plan, uint32_t id)
{
    return id == HS_NO_ID ? (struct hs_str){ .p = "" } : hs_intern_get(&plan->strings, id);
}

static inline enum hs_reduction hs_plan_reduction(const struct hs_plan_call *call)
{
    return (enum hs_reduction)((call->flags & HS_CALL_REDUCTION) >> HS_REDUCTION_SHIFT);
}

static inline bool hs_plan_is_pair(const struct hs_plan_signature *sig)
{
    return sig->kind->class == HS_CLASS_SEND || sig->kind->class == HS_CLASS_RECV;
}

/* The first call after the unit (call or batch) that begins at `i`. */
static inline uint32_t hs_unit_end(const struct hs_program *p, uint32_t i)
{
    uint32_t batch = p->calls[i].batch;

    for (i++; batch && i < p->call_count && p->calls[i].batch == batch; i++)
        ;
    return i;
}

/* The row of a rank; NULL when the plan has none. */
struct hs_plan_rank *hs_plan_find(const struct hs_plan *plan, uint32_t rank);

/* The index of a rank in a group; HS_NO_ID when it is no member. */
uint32_t hs_plan_index_in(const struct hs_plan_group *group, uint32_t rank);

/* ---- building; HS_NO_ID or NULL without memory ---- */

/* Tensors are copied; their types are strings of the plan. */
uint32_t hs_plan_put_signature(struct hs_plan *plan, uint32_t op, uint32_t peer, uint32_t root,
                               const struct hs_tensors *in, const struct hs_tensors *out);

/* Frames are three words each: function, file (strings of the plan), line. */
uint32_t hs_plan_put_stack(struct hs_plan *plan, const struct hs_frame *frames, uint32_t count);
const struct hs_frame *hs_plan_stack(const struct hs_plan *plan, uint32_t id, uint32_t *count);

struct hs_plan_group *hs_plan_add_group(struct hs_plan *plan, const uint32_t *ranks, uint32_t size);
struct hs_plan_rank *hs_plan_add_rank(struct hs_plan *plan, uint32_t rank, uint32_t slots);
uint32_t hs_plan_add_program(struct hs_plan *plan, uint32_t calls);

/* Rows in the order of ranks, so that they are found: after the last was added. */
void hs_plan_sort(struct hs_plan *plan);

/* Equal programs become one, the unused ones go. */
bool hs_plan_share(struct hs_plan *plan);

/* A program that only this rank has, so that it can be changed. NULL without memory. */
struct hs_program *hs_plan_own_program(struct hs_plan *plan, struct hs_plan_rank *row,
                                       uint32_t calls);

/* Whether a plan makes sense: HS_EUSAGE with the first reason why not. */
enum hs_status hs_plan_check(const struct hs_plan *plan, struct hs_err *err);

/* Units in all programs as the ranks run them, for telling how large a plan is. */
uint64_t hs_plan_calls(const struct hs_plan *plan);

/* ---- the file form ---- */

/* Hands on pieces of text as they are made. */
typedef enum hs_status hs_plan_sink_fn(void *self, struct hs_str piece, struct hs_err *err);

enum hs_status hs_plan_write(const struct hs_plan *plan, hs_plan_sink_fn *sink, void *self,
                             struct hs_err *err);

/* `name` is said in errors, with the line. `out` is initialised and released by the caller. */
enum hs_status hs_plan_read(struct hs_plan *out, struct hs_str text, const char *name,
                            struct hs_err *err);

/* Whether bytes look like a plan: so that a PATH can be one. */
bool hs_plan_is(struct hs_str head);

#endif
