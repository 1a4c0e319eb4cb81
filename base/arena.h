/* arena.h - memory that dies all at once: allocate, reset, release; nothing is freed singly. */
#ifndef HS_BASE_ARENA_H
#define HS_BASE_ARENA_H

#include "base/str.h"

struct hs_arena_block;

struct hs_arena {
    struct hs_arena_block *first, *current;
    size_t used_bytes; /* in `current` */
};

void hs_arena_init(struct hs_arena *arena);
void hs_arena_release(struct hs_arena *arena);
void hs_arena_reset(struct hs_arena *arena); /* keeps the blocks for the next use */

/* Zeroed and aligned for any type; NULL when memory is out (or the size absurd). */
void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t elem_bytes);
#define HS_NEW(arena, type, count) ((type *)hs_arena_alloc((arena), (count), sizeof(type)))

/* A copy that lives as long as the arena, NUL-terminated beyond its end; .p is NULL without memory.
 */
struct hs_str hs_arena_copy(struct hs_arena *arena, struct hs_str text);

/* Formatted text in the arena. */
__attribute__((format(printf, 2, 3))) struct hs_str hs_arena_printf(struct hs_arena *arena,
                                                                    const char *fmt, ...);

/*
 * Make room for `need` elements of a malloc'ed array by doubling. False without memory; the array
 * is then as it was.
 */
bool hs_grow(void **array, uint32_t *cap, size_t need, size_t elem_bytes);
#define HS_GROW(array, cap, need)                                                                  \
    ((size_t)(need) <= (cap) || hs_grow((void **)&(array), &(cap), (need), sizeof(*(array))))

#endif
