#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

struct hs_arena_block {
    struct hs_arena_block *next;
    size_t cap;
    _Alignas(ALIGN) char bytes[];
};

void hs_arena_init(struct hs_arena *arena)
{
    *arena = (struct hs_arena){ .first = NULL };
}

void hs_arena_release(struct hs_arena *arena)
{
    struct hs_arena_block *block = arena->first;

    while (block) {
        struct hs_arena_block *next = block->next;

        free(block);
        block = next;
    }
    hs_arena_init(arena);
}

void hs_arena_reset(struct hs_arena *arena)
{
    arena->current = arena->first;
    arena->used_bytes = 0;
}

/* Move on to a block with room for `bytes`: the next one kept from an earlier use, or a new one. */
static bool next_block(struct hs_arena *arena, size_t bytes)
{
    struct hs_arena_block **link = arena->current ? &arena->current->next : &arena->first;
    struct hs_arena_block *block = *link;

    if (!block || block->cap < bytes) {
        size_t cap = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

        block = malloc(sizeof(*block) + cap);
        if (!block)
            return false;
        block->next = *link;
        block->cap = cap;
        *link = block;
    }
    arena->current = block;
    arena->used_bytes = 0;
    return true;
}

void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t elem_bytes)
{
    size_t bytes;
    char *at;

    if (__builtin_mul_overflow(count, elem_bytes, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + (bytes == 0) + ALIGN - 1) / ALIGN * ALIGN;
    if ((!arena->current || arena->current->cap - arena->used_bytes < bytes) &&
        !next_block(arena, bytes))
        return NULL;
    at = arena->current->bytes + arena->used_bytes;
    arena->used_bytes += bytes;
    return memset(at, 0, bytes);
}

struct hs_str hs_arena_copy(struct hs_arena *arena, struct hs_str text)
{
    char *at = hs_arena_alloc(arena, text.n + 1, 1);

    if (at && text.n)
        memcpy(at, text.p, text.n);
    return (struct hs_str){ .p = at, .n = at ? text.n : 0 };
}

struct hs_str hs_arena_printf(struct hs_arena *arena, const char *fmt, ...)
{
    va_list ap;
    char *at;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    at = n < 0 ? NULL : hs_arena_alloc(arena, (size_t)n + 1, 1);
    if (!at)
        return (struct hs_str){ .p = NULL };
    va_start(ap, fmt);
    (void)vsnprintf(at, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return (struct hs_str){ .p = at, .n = (size_t)n };
}

bool hs_grow(void **array, uint32_t *cap, size_t need, size_t elem_bytes)
{
    size_t want = *cap ? *cap : 8;
    void *grown;

    if (need <= *cap)
        return true;
    while (want < need)
        want *= 2;
    if (want > UINT32_MAX || want > SIZE_MAX / elem_bytes)
        return false;
    grown = realloc(*array, want * elem_bytes);
    if (!grown)
        return false;
    *array = grown;
    *cap = (uint32_t)want;
    return true;
}
