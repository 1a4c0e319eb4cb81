#include "parsers/text_pieces.h"

#include <stdlib.h>

enum {
    PIECES_MAX = 1 << 15, /* of one table */
    TABLE_BYTES_MAX = 4 << 20,
};

void hs_pieces_init(struct hs_pieces *table)
{
    *table = (struct hs_pieces){ .count = 0 };
    hs_arena_init(&table->arena);
}

void hs_pieces_release(struct hs_pieces *table)
{
    hs_arena_release(&table->arena);
    free(table->pieces);
    free(table->slots);
    free(table->effects);
}

static uint32_t *find_slot(const struct hs_pieces *table, struct hs_str text, uint32_t hash)
{
    uint32_t mask = table->slot_count - 1, at = hash & mask;

    for (;; at = (at + 1) & mask) {
        uint32_t *slot = &table->slots[at];
        const struct hs_piece *piece = &table->pieces[*slot - 1];

        if (*slot == 0 || (piece->hash == hash && hs_str_eq(piece->text, text)))
            return slot;
    }
}

struct hs_piece *hs_piece_find(const struct hs_pieces *table, struct hs_str text, uint32_t hash)
{
    uint32_t *slot = table->slot_count ? find_slot(table, text, hash) : NULL;

    return slot && *slot ? &table->pieces[*slot - 1] : NULL;
}

static bool rehash(struct hs_pieces *table)
{
    uint32_t count = table->slot_count ? table->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t at = table->pieces[i].hash & (count - 1);

        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    return true;
}

static void start_anew(struct hs_pieces *table)
{
    hs_arena_reset(&table->arena);
    table->bytes = table->count = table->effect_count = 0;
    memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
}

/* A piece of these bytes, which the table does not have; NULL without memory. */
struct hs_piece *hs_piece_add(struct hs_pieces *table, struct hs_str text, uint32_t hash)
{
    struct hs_piece piece = { .hash = hash, .thread = HS_NO_ID };

    if (table->count == PIECES_MAX || table->bytes > TABLE_BYTES_MAX)
        start_anew(table);
    if (table->count >= table->slot_count / 2 && !rehash(table))
        return NULL;
    piece.text = hs_arena_copy(&table->arena, text);
    piece.first_effect = table->effect_count;
    if (!piece.text.p || !HS_GROW(table->pieces, table->cap, table->count + 1u))
        return NULL;
    *find_slot(table, text, hash) = table->count + 1;
    table->bytes += text.n;
    table->pieces[table->count] = piece;
    return &table->pieces[table->count++];
}

/* A piece that cannot be kept is never found: nothing is equal to no bytes of this hash. */
void hs_piece_forget(struct hs_piece *piece)
{
    piece->text = (struct hs_str){ .p = NULL, .n = SIZE_MAX };
}
