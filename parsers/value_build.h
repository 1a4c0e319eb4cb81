/*
 * value_build.h - how readers put a document together: a stack, whose upper cells become the items
 * of a container. Nothing but pickle*.c and json_value.c includes it.
 *
 * A container lies on the stack, its mark is set above it, its items follow; closing moves them to
 * the document and drops the mark. Elements of the streamed list are handed out as soon as they are
 * complete and leave a STREAMED cell on the stack.
 */
#ifndef HS_PARSERS_VALUE_BUILD_H
#define HS_PARSERS_VALUE_BUILD_H

#include "base/limits.h"
#include "parsers/value.h"

#define HS_NO_STREAM UINT32_MAX

struct hs_builder {
    struct hs_document *doc;
    const struct hs_document_consumer *consumer;
    struct hs_trouble *trouble;
    struct hs_str streamed_key; /* .p is NULL when nothing is streamed */
    uint64_t offset_bytes;      /* of what is being read: where a trouble is */
    struct hs_value *stack;
    uint32_t count, cap;
    uint32_t cell_end;    /* as many cells of the document can be used without asking */
    uint32_t mark_count;  /* containers open */
    uint32_t stream_mark; /* mark_count while the streamed list is the innermost container */
    uint32_t handed;      /* the streamed list's cells below this one are done with */
    uint32_t marks[HS_VALUE_DEPTH_MAX + 1]; /* stack index; [0] is the bottom */
};

/* Begin a document: whatever `doc` held is gone. hs_builder_release() in any case. */
bool hs_builder_init(struct hs_builder *b, struct hs_document *doc,
                     const struct hs_document_consumer *consumer, struct hs_trouble *trouble);
void hs_builder_release(struct hs_builder *b);

/* Say why the document ends here; returns false for the caller to pass on. */
__attribute__((format(printf, 3, 4))) bool hs_builder_fail(struct hs_builder *b, const char *code,
                                                           const char *fmt, ...);
bool hs_builder_no_memory(struct hs_builder *b);

bool hs_builder_grow_stack(struct hs_builder *b);

/* Push an empty LIST, TUPLE or DICT. */
bool hs_builder_push_container(struct hs_builder *b, enum hs_value_kind kind);

/* Set a mark at the stack's top. */
bool hs_builder_open(struct hs_builder *b);

/* Drop the innermost mark; its place on the stack. There must be one. */
uint32_t hs_builder_close(struct hs_builder *b);

/* Move the topmost `n` cells into `container`; if that is kept, all they refer to is, too. */
bool hs_builder_move_items(struct hs_builder *b, const struct hs_value *container, uint32_t n);

/* All that exists now may be referred to again: an element that is handed out leaves it alone. */
void hs_builder_keep(struct hs_builder *b);

/* Whether the list at stack index `at` is the one whose elements are handed out. */
bool hs_builder_is_streamed(const struct hs_builder *b, uint32_t at);

/* The stack ends with complete elements of the streamed list: hand out those that were not. */
bool hs_builder_hand_out(struct hs_builder *b);

/* Hand out `element`, once, and make it STREAMED. What it refers to stays. */
bool hs_builder_hand_out_one(struct hs_builder *b, struct hs_value *element);

/* Hand out an element that has the object of an earlier one; it begins at `offset_bytes`. */
bool hs_builder_hand_out_again(struct hs_builder *b, const struct hs_value *element);

/* The document ended early: attach what is complete to the containers still open. */
void hs_builder_salvage(struct hs_builder *b, struct hs_value *top);

/* A string: `known` is asked here, once. */
static inline struct hs_value hs_builder_text(const struct hs_builder *b, struct hs_str text)
{
    return (struct hs_value){ .kind = HS_VALUE_STR,
                              .known = b->consumer->known ? b->consumer->known(text) : 0,
                              .n = (uint32_t)text.n,
                              .p = text.p };
}

static inline bool hs_builder_push(struct hs_builder *b, struct hs_value value)
{
    if (b->count == b->cap && !hs_builder_grow_stack(b))
        return false;
    b->stack[b->count++] = value;
    return true;
}

/* Drop the topmost `n` cells. */
static inline void hs_builder_pop(struct hs_builder *b, uint32_t n)
{
    b->count -= n;
    if (b->handed > b->count)
        b->handed = b->count;
}

/* The cells above the innermost mark. */
static inline uint32_t hs_builder_above_mark(const struct hs_builder *b)
{
    return b->count - b->marks[b->mark_count];
}

/*
 * Cells are written and, while fresh, read as two words of 8 bytes: what a processor has in its
 * store buffer as two stores it cannot forward to one load of 16.
 */
static inline void hs_cell_set(struct hs_value *cell, uint64_t kind, int64_t i)
{
    memcpy(cell, &kind, sizeof(kind));
    cell->i = i;
}

static inline void hs_copy_cells(struct hs_value *restrict to, const struct hs_value *restrict from,
                                 uint32_t n)
{
    if (n > 4) {
        memcpy(to, from, n * sizeof(*to));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t head;

        memcpy(&head, from + i, sizeof(head));
        memcpy(to + i, &head, sizeof(head));
        to[i].i = from[i].i;
    }
}

_Static_assert(sizeof(struct hs_value) == 16, "a cell is two words");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hs_cell_set() writes the kind first");

#endif
