/*
 * operation.h - what each operation of c10d promises: the one table that decides what may be
 * compared between members, what a finished call proves, and how it is spelled.
 *
 * Source of the rules: torch/csrc/distributed/c10d (ProcessGroupNCCL, ProcessGroupGloo,
 * FlightRecorder); retold in docs/formats/flight-recorder.md. To teach a new operation: one row in
 * operation.c.
 */
#ifndef HS_SCHEMA_OPERATION_H
#define HS_SCHEMA_OPERATION_H

#include "base/str.h"

/* How the element counts of one operation relate between the members of its group. */
enum hs_count_rule {
    HS_COUNT_ANY, /* each member may bring its own: rooted side, uneven splits, unknown operation */
    HS_COUNT_EQUAL, /* the same on every member */
};

/* Whose entering a member's finished call proves (DESIGN: proof by completion). */
enum hs_proof {
    HS_PROOF_NONE,
    HS_PROOF_ALL,  /* every member entered */
    HS_PROOF_ROOT, /* the root entered; which rank that is, a dump does not say */
    HS_PROOF_PEER, /* a finished receive proves its send */
};

enum hs_operation_class {
    HS_CLASS_COLLECTIVE,
    HS_CLASS_SEND,
    HS_CLASS_RECV,
    HS_CLASS_COALESCED, /* the entry that ends a coalesced group */
};

struct hs_operation_kind {
    const char *recorded; /* profiling name without library prefix; NULL: the row of the unknown */
    const char *op;       /* c10d's OpType spelling; NULL: the recorded name in capitals */
    uint8_t in, out;      /* enum hs_count_rule */
    uint8_t proof;        /* enum hs_proof */
    uint8_t class;        /* enum hs_operation_class */
    bool rooted;
    bool dtype; /* element types must agree */
};

/* The row for a recorded name such as "all_reduce" or "send 0->1" (no "nccl:"); never NULL. */
const struct hs_operation_kind *hs_operation_kind_of(struct hs_str recorded);

/* Every row, for the tests and the documentation; `count` rows, the last that of the unknown. */
const struct hs_operation_kind *hs_operation_kinds(size_t *count);

/*
 * "broadcast root 2": a call's name without its root, and the root as a group rank. Lines of NCCL
 * tell roots, dumps do not. False, and nothing is changed, when `recorded` names none.
 */
bool hs_operation_root(struct hs_str *recorded, uint32_t *root);

/* "send 0->1", "recv 1<-0": group ranks, self first. False when `recorded` is neither. */
bool hs_operation_pair(struct hs_str recorded, uint32_t *self, uint32_t *peer);

#endif
