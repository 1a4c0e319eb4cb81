#include "base/intern.h"

#include <stdlib.h>

void hs_intern_init(struct hs_intern *table)
{
    *table = (struct hs_intern){ .count = 0 };
    hs_arena_init(&table->arena);
}

void hs_intern_release(struct hs_intern *table)
{
    hs_arena_release(&table->arena);
    free(table->items);
    free(table->slots);
    hs_intern_init(table);
}

/* Eight bytes as a little-endian number, on every machine. */
static uint64_t load_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* Four lanes, so that one multiplication need not wait for the other; then the rest bytewise. */
uint64_t hs_hash(struct hs_str text)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ text.n;
    size_t i = 0;

    if (text.n >= 32) {
        uint64_t b = 0xbf58476d1ce4e5b9u, c = 0x94d049bb133111ebu, d = 0xd6e8feb86659fd93u;

        for (; i + 32 <= text.n; i += 32) {
            h = mix(h, load_word(text.p + i));
            b = mix(b, load_word(text.p + i + 8));
            c = mix(c, load_word(text.p + i + 16));
            d = mix(d, load_word(text.p + i + 24));
        }
        h = mix(mix(mix(h, b), c), d);
    }
    for (; i + 8 <= text.n; i += 8)
        h = mix(h, load_word(text.p + i));
    for (; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/*
 * Two lanes of eight bytes; what is left over is read once more together with what stands before
 * it, since a loop over single bytes takes longer than all the rest.
 */
uint32_t hs_hash_here(struct hs_str text)
{
    uint64_t a = text.n * 0x9e3779b97f4a7c15u, b = 0xff51afd7ed558ccdu;
    size_t i = 0;

    for (; i + 16 <= text.n; i += 16) {
        a = (a ^ load_word(text.p + i)) * 0xbf58476d1ce4e5b9u;
        b = (b ^ load_word(text.p + i + 8)) * 0x94d049bb133111ebu;
        a ^= a >> 29;
        b ^= b >> 31;
    }
    if (text.n >= 16) {
        a ^= load_word(text.p + text.n - 16);
        b ^= load_word(text.p + text.n - 8);
    } else if (text.n >= 8) {
        a ^= load_word(text.p);
        b ^= load_word(text.p + text.n - 8);
    } else {
        while (i < text.n)
            a = a << 8 ^ (unsigned char)text.p[i++];
    }
    a = (a ^ b >> 32) * 0xff51afd7ed558ccdu;
    b = (b ^ a >> 32) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)((a ^ b) >> 32);
}

/* The slot that holds `text`, or the free slot where it belongs. */
static struct hs_intern_slot *find_slot(const struct hs_intern *table, struct hs_str text,
                                        uint32_t hash)
{
    uint32_t mask = table->slot_count - 1, at = hash & mask;

    for (;; at = (at + 1) & mask) {
        struct hs_intern_slot *slot = &table->slots[at];

        if (slot->next_id == 0 ||
            (slot->hash == hash && hs_str_eq(table->items[slot->next_id - 1], text)))
            return slot;
    }
}

static bool rehash(struct hs_intern *table, uint32_t slot_count)
{
    struct hs_intern_slot *slots = calloc(slot_count, sizeof(*slots));

    if (!slots)
        return false;
    for (uint32_t i = 0; i < table->slot_count; i++) {
        uint32_t at = table->slots[i].hash & (slot_count - 1);

        if (table->slots[i].next_id == 0)
            continue;
        while (slots[at].next_id)
            at = (at + 1) & (slot_count - 1);
        slots[at] = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return true;
}

bool hs_intern_reserve(struct hs_intern *table, uint32_t count)
{
    uint32_t slots = 64;

    while (slots / 4 * 3 < count) {
        if (slots > UINT32_MAX / 4)
            return false;
        slots *= 2;
    }
    return HS_GROW(table->items, table->cap, count) &&
           (slots <= table->slot_count || rehash(table, slots));
}

uint32_t hs_intern_put(struct hs_intern *table, struct hs_str text)
{
    uint32_t hash = hs_hash_here(text);
    struct hs_intern_slot *slot;
    struct hs_str copy;

    if (table->count >= table->slot_count / 4 * 3 &&
        (table->slot_count > UINT32_MAX / 4 ||
         !rehash(table, table->slot_count ? table->slot_count * 2 : 64)))
        return HS_NO_ID;
    slot = find_slot(table, text, hash);
    if (slot->next_id)
        return slot->next_id - 1;
    copy = hs_arena_copy(&table->arena, text);
    if (!copy.p || !HS_GROW(table->items, table->cap, (size_t)table->count + 1))
        return HS_NO_ID;
    table->items[table->count] = copy;
    *slot = (struct hs_intern_slot){ .hash = hash, .next_id = ++table->count };
    return table->count - 1;
}

uint32_t hs_intern_find(const struct hs_intern *table, struct hs_str text)
{
    struct hs_intern_slot *slot =
        table->slot_count ? find_slot(table, text, hs_hash_here(text)) : NULL;

    return slot && slot->next_id ? slot->next_id - 1 : HS_NO_ID;
}
