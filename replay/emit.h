/*
 * emit.h - a plan as a program that stands alone: a PyTorch script, or C with NCCL.
 *
 * One process per rank of the plan, numbered from 0. Calls that a rank had behind it while others
 * list them are made again, so that all start from nothing.
 */
#ifndef HS_REPLAY_EMIT_H
#define HS_REPLAY_EMIT_H

#include "replay/plan.h"

/* What the head of the program says. */
struct hs_emit_about {
    const char *code;      /* of the verdict that the plan ends with */
    struct hs_str summary; /* the same in a sentence */
    const char *backend;   /* what the script runs on unless it is told: "gloo" or "nccl" */
    const char *file;      /* its name, for the line that runs it */
};

enum hs_status hs_emit_torch(const struct hs_plan *plan, const struct hs_emit_about *about,
                             struct hs_buf *out, struct hs_err *err);
enum hs_status hs_emit_c(const struct hs_plan *plan, const struct hs_emit_about *about,
                         struct hs_buf *out, struct hs_err *err);

/* ---- shared by both (emit.c) ---- */

/* What a process is, beside its program. */
enum hs_emit_role {
    HS_EMIT_STAYS = 0,
    HS_EMIT_SILENT = 1, /* leaves no record */
    HS_EMIT_LEAVES = 2, /* ends when its calls are made, while others still count on it */
};

struct hs_emission {
    struct hs_plan plan; /* ranks are processes; starts are 0, nothing is skipped */
    struct hs_arena arena;
    uint32_t *ranks; /* by process: the rank of the job */
    uint8_t *roles;  /* by process: enum hs_emit_role */
    bool *used;      /* by group: some call is made in it */
    uint64_t
        *counts; /* distinct counts over HS_EMIT_COUNT, sorted: cut to that, plus their index */
    uint32_t count_count;
};

enum hs_status hs_emission_make(const struct hs_plan *plan, struct hs_emission *out,
                                struct hs_err *err);
void hs_emission_release(struct hs_emission *emission);

/* Elements that the program uses for a recorded count: fewer of large ones, and still distinct. */
uint64_t hs_emission_count(const struct hs_emission *e, uint64_t count);

/* What kind of call it is, for both languages; unknown operations are taken for barriers. */
enum hs_emit_op {
    HS_EMIT_ALL_REDUCE,
    HS_EMIT_BARRIER,
    HS_EMIT_BROADCAST,
    HS_EMIT_REDUCE,
    HS_EMIT_ALL_GATHER,
    HS_EMIT_REDUCE_SCATTER,
    HS_EMIT_ALL_TO_ALL,
    HS_EMIT_GATHER,
    HS_EMIT_SCATTER,
    HS_EMIT_SEND,
    HS_EMIT_RECV,
    HS_EMIT_OPS
};
enum hs_emit_op hs_emit_op_of(const struct hs_plan_signature *sig);

/* Its elements: of a reduce_scatter what comes out, of all others what goes in. */
uint64_t hs_emission_elements(const struct hs_emission *e, const struct hs_plan_signature *sig);

/* Text of the input fit for a comment or a string literal of either language, on one line. */
void hs_emit_text(struct hs_buf *out, struct hs_str text);

/* Sentences of the head, each line begun with `lead`, broken before 96 columns. */
void hs_emit_wrapped(struct hs_buf *out, const char *lead, struct hs_str text);

/* Where a call was made: "train.py:24 train"; "" when it is not recorded. */
void hs_emit_place(struct hs_buf *out, const struct hs_plan *plan, const struct hs_plan_call *call);

#endif
