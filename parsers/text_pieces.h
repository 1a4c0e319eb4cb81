/*
 * text_pieces.h - pieces of lines by their bytes, and what they did when they were read.
 *
 * A table that is full forgets all and starts anew: what comes often is soon there again.
 */
#ifndef HS_PARSERS_TEXT_PIECES_H
#define HS_PARSERS_TEXT_PIECES_H

#include "parsers/nccl_log.h"

/* What a line does, to be done again. */
enum hs_effect_kind {
    HS_EFFECT_COUNT,
    HS_EFFECT_LINK,
    HS_EFFECT_FACT,
    HS_EFFECT_EVENT,
    HS_EFFECT_FOUND
};

struct hs_effect {
    enum hs_effect_kind kind;
    union {
        struct hs_said_link link;
        struct {
            uint32_t name, value;
        } fact;
        struct {
            uint32_t family, args;
        } event;
        const struct hs_found *found;
    } of;
};

/* Bytes that were read: a line, the part of one up to NCCL's message, or such a message. */
struct hs_piece {
    struct hs_str text;
    uint32_t hash;
    uint32_t first_effect, effect_count;
    /* of a line or head; record NULL: a message */
    struct hs_record *record;
    uint32_t speaker;
    uint32_t thread; /* HS_NO_ID: not asked for yet */
};

struct hs_pieces {
    struct hs_arena arena; /* texts, records, what was found */
    size_t bytes;          /* of all these, and effects */
    struct hs_piece *pieces;
    uint32_t count, cap;
    uint32_t *slots; /* piece + 1; 0: free */
    uint32_t slot_count;
    struct hs_effect *effects;
    uint32_t effect_count, effect_cap;
};

void hs_pieces_init(struct hs_pieces *table);
void hs_pieces_release(struct hs_pieces *table);

/* The piece of these bytes; NULL: there is none. `hash` is that of hs_hash_here(). */
struct hs_piece *hs_piece_find(const struct hs_pieces *table, struct hs_str text, uint32_t hash);

/* The same, made now, without record and effects; there is none yet. NULL without memory. */
struct hs_piece *hs_piece_add(struct hs_pieces *table, struct hs_str text, uint32_t hash);

/* Let a piece never be found again. */
void hs_piece_forget(struct hs_piece *piece);

#endif
