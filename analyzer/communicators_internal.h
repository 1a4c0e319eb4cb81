/* communicators_internal.h - what the files behind communicators.h share; nobody else includes it.
 */
#ifndef HS_ANALYZER_COMMUNICATORS_INTERNAL_H
#define HS_ANALYZER_COMMUNICATORS_INTERNAL_H

#include "analyzer/communicators.h"

enum { HS_KEPT_NONE = 0 };

struct hs_comm_joiner {
    const struct hs_job *job;
    const struct hs_comm_owners *known;
    struct hs_arena *arena;
    struct hs_comms *out;
    struct hs_intern keys;
    uint32_t *values; /* by key: what is kept for it, HS_KEPT_NONE at first */
    uint32_t value_cap;
    uint32_t *parent;  /* by row: the row it was split from; HS_NO_ID */
    uint32_t *same_as; /* the first row that tells of the same end */
    uint32_t *depth;   /* how many splits it is from one that was not split */
    uint32_t *nth;     /* ordinal among those of its process with this id or size */
    uint32_t *split;   /* ordinal among the splits of its parent */
    uint32_t *class;   /* among those without id and parent */
    uint32_t *order;   /* rows by depth */
    bool any_parent;   /* some row was split from another */
};

enum hs_comm_key {
    HS_KEY_POINTER, /* the latest row of a pointer */
    HS_KEY_END,     /* the first row of an end */
    HS_KEY_NTH,
    HS_KEY_CHILDREN,
    HS_KEY_OWNER,
    HS_KEY_ROOM,
    HS_KEY_SIZE,
    HS_KEY_COMM,
    HS_KEY_CLASS,
};

/* What is kept for a key; valid until the next call. NULL without memory. */
uint32_t *hs_comm_kept(struct hs_comm_joiner *j, const uint32_t *words, size_t count);

#define HS_KEPT(j, ...)                                                                            \
    hs_comm_kept(j, (const uint32_t[]){ __VA_ARGS__ },                                             \
                 sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define HS_HALVES(number) (uint32_t)(number), (uint32_t)((number) >> 32)

/* A communicator that begins with this row. */
uint32_t hs_comm_new(struct hs_comm_joiner *j, uint32_t row, enum hs_comm_joined joined);

/* Rows without a tie: of one size, and of one ordinal in each process. */
struct hs_comm_class {
    uint32_t *rows, count, size;
};

/* communicators_classes.c: one communicator, several side by side, or each row alone. */
bool hs_comm_join_class(struct hs_comm_joiner *j, const struct hs_comm_class *class);

#endif
