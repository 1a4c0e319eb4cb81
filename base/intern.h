/* intern.h - equal bytes, equal number: 0, 1, 2, ... in order of first appearance. */
#ifndef HS_BASE_INTERN_H
#define HS_BASE_INTERN_H

#include "base/arena.h"

#define HS_NO_ID UINT32_MAX

struct hs_intern_slot {
    uint32_t hash;
    uint32_t next_id; /* id + 1, or 0 when free */
};

struct hs_intern {
    struct hs_arena arena; /* owns the bytes */
    struct hs_str *items;  /* by id; each NUL-terminated beyond its end */
    uint32_t count, cap;
    struct hs_intern_slot *slots;
    uint32_t slot_count; /* a power of two, or 0 */
};

void hs_intern_init(struct hs_intern *table);
void hs_intern_release(struct hs_intern *table);

/* Room for so many texts in all, where their number is known. False when memory is out. */
bool hs_intern_reserve(struct hs_intern *table, uint32_t count);

/* The id of `text`, given now if it is new; HS_NO_ID when memory is out. */
uint32_t hs_intern_put(struct hs_intern *table, struct hs_str text);

/* The id of `text`, or HS_NO_ID when it was never put. */
uint32_t hs_intern_find(const struct hs_intern *table, struct hs_str text);

static inline struct hs_str hs_intern_get(const struct hs_intern *table, uint32_t id)
{
    return table->items[id];
}

uint64_t hs_hash(struct hs_str text);      /* 64 bits, the same on every machine */
uint32_t hs_hash_here(struct hs_str text); /* fast on short texts; for tables in memory only */

#endif
