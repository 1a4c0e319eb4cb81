/*
 * value.h - a document of plain data, as pickle and JSON both write it, read without keeping a
 * tree.
 *
 * A reader (pickle.h, json_value.h) walks the bytes once. The elements of one long list - the
 * `streamed_key` of the top-level dict, or a top-level list itself - are handed out one by one and
 * then forgotten, so that memory does not grow with their number; everything else is kept until the
 * document is reset. Containers are referred to, not copied: two references to one dict have the
 * same `object`, and a list may contain itself. Whoever recurses over values bounds the depth.
 */
#ifndef HS_PARSERS_VALUE_H
#define HS_PARSERS_VALUE_H

#include "base/arena.h"

enum hs_value_kind {
    HS_VALUE_NONE,
    HS_VALUE_BOOL, /* .i is 0 or 1 */
    HS_VALUE_INT,  /* .i */
    HS_VALUE_BIG,  /* an integer beyond 64 bits signed; its digits are not kept */
    HS_VALUE_FLOAT,
    HS_VALUE_STR, /* .p, .n: bytes of the input, or of the document where escapes were resolved */
    HS_VALUE_BYTES,
    HS_VALUE_LIST,     /* items e0 e1 ... */
    HS_VALUE_TUPLE,    /* items e0 e1 ... */
    HS_VALUE_DICT,     /* items k0 v0 k1 v1 ... in order; later duplicates follow earlier ones */
    HS_VALUE_STREAMED, /* an element that was handed out and is gone */
};

/*
 * Lists written alike can be one object, which is kept; then equal `object` numbers mean equal
 * items, in all elements of the document. The same holds for an element but for the numbers (INT,
 * FLOAT) that are items of it.
 */
enum hs_value_fixed {
    HS_FIXED_ITEMS = 1, /* an item may refer to a container that changes */
    HS_FIXED_WHOLE = 2,
    HS_FIXED_SHAPE = 3 /* an element, in all but its numbers; `n` numbers such shapes, from 0 */
};

struct hs_value {
    uint8_t kind;  /* enum hs_value_kind */
    uint8_t known; /* STR: what the consumer's known() says of the text; 0 otherwise */
    uint8_t fixed; /* LIST, element: enum hs_value_fixed; 0 otherwise */
    uint32_t n;    /* STR, BYTES: length in bytes; a fixed LIST: the offset of its first byte */
    union {
        int64_t i;
        double f;
        const char *p;   /* STR, BYTES */
        uint32_t object; /* LIST, TUPLE, DICT: index into the document's objects */
    };
};

struct hs_object {
    uint32_t first, count, cap; /* items: a run of the document's cells */
    uint32_t at : 31;           /* the byte that began it */
    uint32_t handed_out : 1;    /* as an element, in whole: not a second time */
};

struct hs_document {
    struct hs_value *cells;
    uint32_t cell_count, cell_cap;
    struct hs_object *objects;
    uint32_t object_count, object_cap;
    uint32_t kept_cells, kept_objects; /* what may be referred to again: survives an element */
    struct hs_arena texts;             /* strings whose escapes were resolved */
};

/* What the one who reads a document wants from it. */
struct hs_document_consumer {
    const char *streamed_key;
    /* A number 1..255 for a text that the consumer knows, else 0. Called once per string in the
     * input, not per reference. May be NULL. */
    uint8_t (*known)(struct hs_str text);
    /* One element of the streamed list, with the byte offset where it begins. Its values are valid
     * during the call only. False stops the reading ("stopped"). */
    bool (*element)(void *self, const struct hs_document *doc, const struct hs_value *element,
                    uint64_t offset_bytes);
    void *self;
};

/* Why a document ended early, or what was odd about it. `code` is a diagnostic code of
 * schema/messages: cut-short, malformed, unsafe-pickle, limit, trailing-bytes, no-memory, stopped.
 */
struct hs_trouble {
    const char *code; /* NULL: all is well */
    uint64_t offset_bytes;
    char text[200]; /* what, for people; bytes of the input only in safe form */
};

void hs_document_init(struct hs_document *doc);
void hs_document_release(struct hs_document *doc);
void hs_document_reset(struct hs_document *doc);

/* The items of a container; NULL and 0 for anything else. */
static inline const struct hs_value *hs_items(const struct hs_document *doc,
                                              const struct hs_value *value, uint32_t *count)
{
    if (value->kind < HS_VALUE_LIST || value->kind > HS_VALUE_DICT) {
        *count = 0;
        return NULL;
    }
    *count = doc->objects[value->object].count;
    return doc->cells + doc->objects[value->object].first;
}

/* Whether a container outlives the element that is being handed out, so that its `object` number
 * stays its name for the rest of the document. */
static inline bool hs_value_is_kept(const struct hs_document *doc, const struct hs_value *value)
{
    return value->object < doc->kept_objects;
}

static inline struct hs_str hs_value_str(const struct hs_value *value)
{
    bool text = value->kind == HS_VALUE_STR;

    return (struct hs_str){ .p = text ? value->p : "", .n = text ? value->n : 0 };
}

#endif
