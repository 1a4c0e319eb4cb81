#include "parsers/value.h"

#include "parsers/value_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS_FIRST = 1024 };

void hs_document_init(struct hs_document *doc)
{
    *doc = (struct hs_document){ .cells = NULL };
    hs_arena_init(&doc->texts);
}

void hs_document_release(struct hs_document *doc)
{
    free(doc->cells);
    free(doc->objects);
    hs_arena_release(&doc->texts);
    hs_document_init(doc);
}

void hs_document_reset(struct hs_document *doc)
{
    doc->cell_count = doc->kept_cells = 0;
    doc->object_count = doc->kept_objects = 0;
    hs_arena_reset(&doc->texts);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Stack and cells share HS_VALUE_CELLS_MAX; what an earlier document left in `doc` has no say. */
static void set_cell_end(struct hs_builder *b)
{
    b->cell_end = smaller(b->doc->cell_cap, HS_VALUE_CELLS_MAX - b->cap);
}

bool hs_builder_init(struct hs_builder *b, struct hs_document *doc,
                     const struct hs_document_consumer *consumer, struct hs_trouble *trouble)
{
    *b = (struct hs_builder){ .doc = doc,
                              .consumer = consumer,
                              .trouble = trouble,
                              .streamed_key = hs_str_of(consumer->streamed_key),
                              .stream_mark = HS_NO_STREAM };
    *trouble = (struct hs_trouble){ .code = NULL };
    hs_document_reset(doc);
    if (!HS_GROW(b->stack, b->cap, CELLS_FIRST) || !HS_GROW(doc->cells, doc->cell_cap, CELLS_FIRST))
        return hs_builder_no_memory(b);
    set_cell_end(b);
    return true;
}

void hs_builder_release(struct hs_builder *b)
{
    free(b->stack);
    b->stack = NULL;
}

bool hs_builder_fail(struct hs_builder *b, const char *code, const char *fmt, ...)
{
    struct hs_trouble *trouble = b->trouble;
    va_list ap;

    trouble->code = code;
    trouble->offset_bytes = b->offset_bytes;
    va_start(ap, fmt);
    (void)vsnprintf(trouble->text, sizeof(trouble->text), fmt, ap);
    va_end(ap);
    return false;
}

bool hs_builder_no_memory(struct hs_builder *b)
{
    return hs_builder_fail(b, "no-memory", "out of memory");
}

static bool too_many(struct hs_builder *b)
{
    return hs_builder_fail(b, "limit", "more than %u values at once", HS_VALUE_CELLS_MAX);
}

bool hs_builder_grow_stack(struct hs_builder *b)
{
    if (b->cap >= (HS_VALUE_CELLS_MAX - b->doc->cell_count) / 2)
        return too_many(b);
    if (!HS_GROW(b->stack, b->cap, b->cap + 1))
        return hs_builder_no_memory(b);
    set_cell_end(b);
    return true;
}

/* Room for `n` more cells of the document. */
static bool need_cells(struct hs_builder *b, uint32_t n)
{
    struct hs_document *doc = b->doc;

    if (n > HS_VALUE_CELLS_MAX - b->cap || doc->cell_count > HS_VALUE_CELLS_MAX - b->cap - n)
        return too_many(b);
    if (!HS_GROW(doc->cells, doc->cell_cap, doc->cell_count + n))
        return hs_builder_no_memory(b);
    set_cell_end(b);
    return true;
}

bool hs_builder_push_container(struct hs_builder *b, enum hs_value_kind kind)
{
    struct hs_document *doc = b->doc;
    struct hs_value value = { .kind = (uint8_t)kind, .object = doc->object_count };

    if (doc->object_count == HS_VALUE_CELLS_MAX)
        return too_many(b);
    if (!HS_GROW(doc->objects, doc->object_cap, doc->object_count + 1))
        return hs_builder_no_memory(b);
    doc->objects[doc->object_count++] =
        (struct hs_object){ .first = doc->cell_count, .at = (uint32_t)b->offset_bytes & INT32_MAX };
    return hs_builder_push(b, value);
}

void hs_builder_keep(struct hs_builder *b)
{
    b->doc->kept_cells = b->doc->cell_count;
    b->doc->kept_objects = b->doc->object_count;
}

bool hs_builder_is_streamed(const struct hs_builder *b, uint32_t at)
{
    const struct hs_value *below = b->stack + at - 1;
    bool first_pair = b->mark_count == 0 && at == 2;
    bool some_pair = b->mark_count == 1 && b->marks[1] == 1 && at % 2 == 0;

    if (!b->streamed_key.p || b->stack[at].kind != HS_VALUE_LIST)
        return false;
    if (at == 0)
        return true;
    return (first_pair || some_pair) && b->stack[0].kind == HS_VALUE_DICT &&
           below->kind == HS_VALUE_STR && hs_str_eq(hs_value_str(below), b->streamed_key);
}

bool hs_builder_open(struct hs_builder *b)
{
    if (b->mark_count == HS_VALUE_DEPTH_MAX)
        return hs_builder_fail(b, "limit", "more than %u containers open at once",
                               HS_VALUE_DEPTH_MAX);
    if (b->mark_count <= 1 && b->count > b->marks[b->mark_count] &&
        hs_builder_is_streamed(b, b->count - 1)) {
        b->stream_mark = b->mark_count + 1;
        b->handed = b->count;
        hs_builder_keep(b);
    }
    b->marks[++b->mark_count] = b->count;
    return true;
}

uint32_t hs_builder_close(struct hs_builder *b)
{
    if (b->mark_count == b->stream_mark)
        b->stream_mark = HS_NO_STREAM;
    return b->marks[b->mark_count--];
}

/* Let `object` hold `n` more items: where it is, or moved to the top of the cells with room to
 * grow, so that many small additions cost as much as one. */
static bool make_room(struct hs_builder *b, struct hs_object *object, uint32_t n)
{
    struct hs_document *doc = b->doc;
    uint32_t need, cap;

    if (object->cap - object->count >= n)
        return true;
    if (object->first + object->cap == doc->cell_count) {
        n -= object->cap - object->count;
        if (!need_cells(b, n))
            return false;
        doc->cell_count += n;
        object->cap += n;
        return true;
    }
    need = object->count + n;
    cap = object->cap > need / 2 ? object->cap * 2 : need;
    if (!need_cells(b, cap))
        return false;
    hs_copy_cells(doc->cells + doc->cell_count, doc->cells + object->first, object->count);
    object->first = doc->cell_count;
    object->cap = cap;
    doc->cell_count += cap;
    return true;
}

bool hs_builder_move_items(struct hs_builder *b, const struct hs_value *container, uint32_t n)
{
    struct hs_document *doc = b->doc;
    struct hs_object *object = doc->objects + container->object;

    if (n == 0)
        return true;
    if (!make_room(b, object, n))
        return false;
    hs_copy_cells(doc->cells + object->first + object->count, b->stack + b->count - n, n);
    object->count += n;
    if (container->object < doc->kept_objects)
        hs_builder_keep(b);
    hs_builder_pop(b, n);
    return true;
}

static bool is_container(const struct hs_value *value)
{
    return value->kind >= HS_VALUE_LIST && value->kind <= HS_VALUE_DICT;
}

bool hs_builder_hand_out_one(struct hs_builder *b, struct hs_value *element)
{
    struct hs_object *object = is_container(element) ? b->doc->objects + element->object : NULL;
    bool again = element->kind == HS_VALUE_STREAMED || (object && object->handed_out);

    if (!again && !b->consumer->element(b->consumer->self, b->doc, element,
                                        object ? object->at : b->offset_bytes))
        return hs_builder_fail(b, "stopped", "nothing more was wanted");
    if (object)
        object->handed_out = 1;
    *element = (struct hs_value){ .kind = HS_VALUE_STREAMED };
    return true;
}

bool hs_builder_hand_out_again(struct hs_builder *b, const struct hs_value *element)
{
    return b->consumer->element(b->consumer->self, b->doc, element,
                                (uint32_t)b->offset_bytes & INT32_MAX) ||
           hs_builder_fail(b, "stopped", "nothing more was wanted");
}

bool hs_builder_hand_out(struct hs_builder *b)
{
    for (; b->handed < b->count; b->handed++) {
        if (!hs_builder_hand_out_one(b, b->stack + b->handed))
            return false;
    }
    b->doc->cell_count = b->doc->kept_cells;
    b->doc->object_count = b->doc->kept_objects;
    return true;
}

/* Give what lies above stack index `base`, where a mark was, to the container below it. */
static void salvage_marked(struct hs_builder *b, uint32_t base, uint32_t floor)
{
    const struct hs_value *container = base > floor ? b->stack + base - 1 : NULL;
    uint32_t n = b->count - base;

    if (!container || container->fixed ||
        (container->kind != HS_VALUE_LIST && container->kind != HS_VALUE_DICT))
        n = 0;
    else if (container->kind == HS_VALUE_DICT)
        n -= n % 2;
    b->count = base + n;
    if (n == 0 || !hs_builder_move_items(b, container, n))
        b->count = base;
}

/* Containers filled item by item lie above one another without marks: dict, key, list, list, ... */
static void salvage_chain(struct hs_builder *b)
{
    uint32_t end = b->count, at = 0;

    while (at < end) {
        const struct hs_value *container = b->stack + at;
        uint32_t n = container->kind == HS_VALUE_DICT ? 2 : 1;

        if ((container->kind != HS_VALUE_LIST && container->kind != HS_VALUE_DICT) ||
            end - at <= n || hs_builder_is_streamed(b, at))
            return;
        b->count = at + 1 + n;
        if (!hs_builder_move_items(b, container, n))
            return;
        at += n;
    }
}

void hs_builder_salvage(struct hs_builder *b, struct hs_value *top)
{
    struct hs_trouble trouble = *b->trouble;

    while (b->mark_count > 0) {
        if (b->mark_count == b->stream_mark)
            b->count = b->handed;
        b->mark_count--;
        salvage_marked(b, b->marks[b->mark_count + 1], b->marks[b->mark_count]);
    }
    salvage_chain(b);
    *b->trouble = trouble; /* the first one is the one that counts */
    if (b->stack && b->count > 0 && is_container(b->stack))
        *top = b->stack[0];
}
