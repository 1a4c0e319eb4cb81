/* families_internal.h - what the files families*.c share. */
#ifndef HS_PARSERS_FAMILIES_INTERNAL_H
#define HS_PARSERS_FAMILIES_INTERNAL_H

#include "base/arena.h"
#include "parsers/families.h"

/* A layout of a hot line made ready, see families_hot.c. */
struct hs_hot_step;
struct hs_hot {
    struct hs_str starts; /* what such a message begins with; may be empty */
    uint32_t family;
    struct hs_hot_step *steps; /* NULL: no later layout fits either */
    uint32_t step_count;
};

struct hs_families_memory {
    struct hs_families families;
    struct hs_arena arena;
    struct hs_family *rows;
    uint32_t rows_cap;
    struct hs_str *literals;
    uint32_t literals_cap;
    uint32_t *owners;
    uint32_t owners_cap;
    struct hs_hot *hot;
    uint32_t hot_count;
    uint32_t *otherwise; /* families that take what no other did */
    uint32_t otherwise_count;
};

/* Make the layouts of the families that are there ready. False without memory. */
bool hs_hot_bind(struct hs_families_memory *memory);
uint32_t hs_hot_layout_count(void); /* how many are ready when all families are there */

/*
 * Recognise the message of an NCCL line by a layout. `values` (HS_PATTERN_NAMES_MAX) are those of
 * the family; false when no layout fits: its pattern would say the same.
 */
bool hs_hot_match(const struct hs_families_memory *memory, struct hs_str text,
                  struct hs_str *values, struct hs_found *found);

#endif
