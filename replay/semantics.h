/*
 * rules.h - what a library does with calls that meet: one row per library (docs/replay.md).
 *
 * Both tables take a send for a rendezvous: it ends when its receive was posted. Libraries may end
 * some sends earlier; this is the worst case.
 */
#ifndef HS_REPLAY_SEMANTICS_H
#define HS_REPLAY_SEMANTICS_H

#include "schema/operation.h"

struct hs_plan_signature;
struct hs_plan;

struct hs_semantics {
    const char *name;
    bool host_waits;   /* a call holds its caller until it has ended */
    bool counts_bytes; /* element types differ only by their size */
};

/* NULL when there is none of this name. */
const struct hs_semantics *hs_semantics_find(struct hs_str name);

/* The rules for what a backend recorded: gloo's for gloo, NCCL's for all others. */
const struct hs_semantics *hs_semantics_of_backend(struct hs_str backend);

/* Whether two members' calls of one position, or the two halves of a pair, can end. */
bool hs_semantics_match(const struct hs_semantics *rules, const struct hs_plan *plan,
                        const struct hs_plan_signature *a, const struct hs_plan_signature *b);

/* Whether the rules say exactly when each member gets out of this operation; otherwise all are
 * taken to wait for all, the worst case. */
bool hs_semantics_define(const struct hs_operation_kind *kind);

/* What a recorded element type is called elsewhere; NULL when it is not known. */
struct hs_dtype {
    const char *recorded, *torch, *nccl, *c;
    uint32_t bytes;
};
const struct hs_dtype *hs_dtype_find(struct hs_str recorded);

#endif
