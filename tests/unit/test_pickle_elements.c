/*
 * test_pickle_elements.c - elements met before are given as if they had been read.
 *
 * Random documents are written twice: plainly, and with opcodes in every element that do nothing
 * but keep it from being remembered. Both have to say the same.
 */
#include "parsers/pickle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "value_text.h"

enum { SHAPES = 6, FIELDS_MAX = 14, SLOTS = 8 };

struct reading {
    struct hs_buf elements;
    uint32_t count, again, stop_after;
    struct hs_trouble trouble;
    bool complete;
};

static bool on_element(void *self, const struct hs_document *doc, const struct hs_value *element,
                       uint64_t offset_bytes)
{
    struct reading *r = self;

    (void)offset_bytes;
    value_text_put(&r->elements, doc, element);
    hs_buf_putc(&r->elements, '\n');
    r->again += element->fixed == HS_FIXED_SHAPE;
    return ++r->count != r->stop_after;
}

static struct reading read_bytes(struct hs_document *doc, struct hs_str bytes, uint32_t stop_after)
{
    struct reading r = { .stop_after = stop_after };
    struct hs_document_consumer consumer = { .streamed_key = "entries",
                                             .element = on_element,
                                             .self = &r };
    char *copy = malloc(bytes.n); /* ends where it ends, for the sanitizer */
    struct hs_value top;

    if (!copy || !bytes.p)
        abort();
    memcpy(copy, bytes.p, bytes.n);
    hs_buf_init(&r.elements);
    hs_buf_put(&r.elements, HS_STR(""));
    r.complete = hs_pickle_read(doc, (struct hs_str){ .p = copy, .n = bytes.n }, &consumer, &top,
                                &r.trouble);
    free(copy);
    return r;
}

/* ---- documents ---- */

struct writer {
    struct hs_buf *out;
    uint32_t state; /* of the random numbers */
    bool plain;
    struct {
        unsigned count;
        char kinds[FIELDS_MAX];
    } shapes[SHAPES];
};

static uint32_t any(struct writer *w, uint32_t below)
{
    w->state = w->state * 1664525u + 1013904223u;
    return (w->state >> 8) % below;
}

static void put_bytes(struct writer *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hs_buf_putc(w->out, (char)any(w, 256));
}

static void put_get(struct writer *w, unsigned slot)
{
    hs_buf_putc(w->out, 'h');
    hs_buf_putc(w->out, (char)slot);
}

/* A text, and a memo slot for it. */
static void put_text(struct writer *w, unsigned slot)
{
    unsigned n = 3 + any(w, 20);

    hs_buf_putc(w->out, 'X');
    hs_buf_putc(w->out, (char)n);
    hs_buf_put(w->out, (struct hs_str){ .p = "\0\0\0", .n = 3 });
    for (unsigned i = 0; i < n; i++)
        hs_buf_putc(w->out, (char)('a' + any(w, 26)));
    hs_buf_putc(w->out, 'q');
    hs_buf_putc(w->out, (char)slot);
}

/* A value of a kind: an opcode with numbers that change, or what is the same in its shape. */
static void put_value(struct writer *w, char kind, unsigned field)
{
    switch (kind) {
    case 'K':
    case 'M':
    case 'J':
    case 'G':
        hs_buf_putc(w->out, kind);
        put_bytes(w, kind == 'K' ? 1 : kind == 'M' ? 2 : kind == 'J' ? 4 : 8);
        break;
    case 'L':
        hs_buf_put(w->out, HS_STR("\x8a\x08"));
        put_bytes(w, 8);
        break;
    case 's': /* a shorter one, which is run */
        hs_buf_put(w->out, HS_STR("\x8a\x02"));
        put_bytes(w, 2);
        break;
    case 'h':
        put_get(w, field % SLOTS);
        break;
    case 't':
        put_get(w, field % SLOTS);
        put_get(w, (field + 1) % SLOTS);
        hs_buf_putc(w->out, '\x86');
        break;
    case 'l':
        hs_buf_put(w->out, HS_STR("](](K\5"));
        put_get(w, field % SLOTS);
        hs_buf_put(w->out, HS_STR("e](ee"));
        break;
    case 'f': /* frames: a list with a container that the memo has */
        hs_buf_put(w->out, HS_STR("](h\x0f"
                                  "h\x0f"
                                  "e"));
        break;
    default:
        hs_buf_putc(w->out, kind == 'y' ? '\x88' : 'N');
        break;
    }
}

static void make_shapes(struct writer *w)
{
    static const char kinds[] = "KMJGLLLhthlfyNKs";

    for (unsigned s = 0; s < SHAPES; s++) {
        w->shapes[s].count = 1 + any(w, FIELDS_MAX);
        for (unsigned i = 0; i < w->shapes[s].count; i++)
            w->shapes[s].kinds[i] = kinds[any(w, sizeof(kinds) - (s ? 2 : 1))];
    }
}

static void put_element(struct writer *w, unsigned shape)
{
    hs_buf_put(w->out, w->plain ? HS_STR("}(") : HS_STR("}(N0"));
    for (unsigned i = 0; i < w->shapes[shape].count; i++) {
        put_get(w, i % SLOTS);
        put_value(w, w->shapes[shape].kinds[i], i);
    }
    hs_buf_putc(w->out, 'u');
}

/* The first element fills the memo; now and then another changes a slot of it. */
static void put_slots(struct writer *w, unsigned from, unsigned count, bool frame)
{
    hs_buf_put(w->out, HS_STR("}("));
    for (unsigned slot = from; slot < from + count; slot++) {
        put_text(w, slot);
        hs_buf_putc(w->out, 'N');
    }
    if (frame) {
        put_get(w, 0);
        hs_buf_put(w->out, HS_STR("}(h\0K\7uq\x0f"));
    }
    hs_buf_putc(w->out, 'u');
}

static struct hs_buf document(uint32_t seed, bool plain, unsigned count)
{
    struct hs_buf out;
    struct writer w = { .out = &out, .state = seed, .plain = plain };
    unsigned shape = 0;

    hs_buf_init(&out);
    make_shapes(&w);
    hs_buf_put(&out, HS_STR("\x80\2]("));
    put_slots(&w, 0, SLOTS, true);
    for (unsigned i = 0; i < count; i++) {
        shape = any(&w, 4) ? (shape + 1) % SHAPES : any(&w, SHAPES);
        put_element(&w, shape);
        if (any(&w, 200) == 0)
            put_slots(&w, any(&w, SLOTS), 1, false);
    }
    hs_buf_put(&out, HS_STR("e."));
    assert_false(out.failed);
    return out;
}

/* ---- tests ---- */

static void they_say_what_reading_says(void **state)
{
    struct hs_document doc;
    uint32_t again = 0;

    (void)state;
    hs_document_init(&doc);
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct hs_buf plain = document(seed, true, 150), other = document(seed, false, 150);
        struct reading a = read_bytes(&doc, hs_buf_str(&plain), 0);
        struct reading b = read_bytes(&doc, hs_buf_str(&other), 0);

        assert_true(a.complete && b.complete);
        assert_string_equal(a.elements.p, b.elements.p);
        assert_int_equal(b.again, 0);
        again += a.again;
        hs_buf_release(&a.elements);
        hs_buf_release(&b.elements);
        hs_buf_release(&plain);
        hs_buf_release(&other);
    }
    assert_in_range(again, 200 * 150 / 3, 200 * 150); /* or this tests nothing */
    hs_document_release(&doc);
}

static void cut_anywhere_the_elements_before_are_given(void **state)
{
    struct hs_document doc;

    (void)state;
    hs_document_init(&doc);
    for (uint32_t seed = 0; seed < 6; seed++) {
        struct hs_buf bytes = document(seed, true, 40);
        struct reading all = read_bytes(&doc, hs_buf_str(&bytes), 0);
        uint32_t before = 0;

        for (size_t n = 1; n < bytes.n; n++) {
            struct reading r = read_bytes(&doc, (struct hs_str){ .p = bytes.p, .n = n }, 0);

            assert_false(r.complete);
            assert_string_equal(r.trouble.code, "cut-short");
            assert_in_range(r.count, before, before + 1);
            assert_memory_equal(r.elements.p, all.elements.p, r.elements.n);
            before = r.count;
            hs_buf_release(&r.elements);
        }
        assert_int_equal(before, all.count);
        hs_buf_release(&all.elements);
        hs_buf_release(&bytes);
    }
    hs_document_release(&doc);
}

static void whoever_has_enough_stops(void **state)
{
    struct hs_buf bytes = document(3, true, 60);
    struct hs_document doc;

    (void)state;
    hs_document_init(&doc);
    for (uint32_t stop = 1; stop < 60; stop++) {
        struct reading r = read_bytes(&doc, hs_buf_str(&bytes), stop);

        assert_false(r.complete);
        assert_string_equal(r.trouble.code, "stopped");
        assert_int_equal(r.count, stop);
        hs_buf_release(&r.elements);
    }
    hs_buf_release(&bytes);
    hs_document_release(&doc);
}

/* Five elements whose value is `value`; slot 1 has a list. How many of them were met before. */
static uint32_t count_again(const char *value)
{
    struct hs_document doc;
    struct hs_buf bytes;
    struct reading r;

    hs_buf_init(&bytes);
    hs_buf_put(&bytes, HS_STR("](}(X\1\0\0\0aq\0](K\1eq\1u"));
    for (unsigned k = 0; k < 5; k++) {
        hs_buf_put(&bytes, HS_STR("}(h\0"));
        hs_buf_put(&bytes, hs_str_of(value));
        hs_buf_putc(&bytes, 'u');
    }
    hs_buf_put(&bytes, HS_STR("e."));
    hs_document_init(&doc);
    r = read_bytes(&doc, hs_buf_str(&bytes), 0);
    assert_true(r.complete);
    assert_int_equal(r.count, 6);
    hs_buf_release(&r.elements);
    hs_buf_release(&bytes);
    hs_document_release(&doc);
    return r.again;
}

/* A container that others may change keeps an element from being remembered. */
static void what_may_change_is_read(void **state)
{
    static const char *const changing[] = { "h\1", "h\1h\1\x86", "]", "}", ")", "](K\1e\x85" };
    static const char *const staying[] = { "](h\1e", "](K\1e", "](e", "K\1", "N", "\x88" };

    (void)state;
    for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
        assert_int_equal(count_again(changing[i]), 0);
    for (size_t i = 0; i < sizeof(staying) / sizeof(staying[0]); i++)
        assert_in_range(count_again(staying[i]), 1, 4);
}

/* Shapes without end fill neither the memory nor the time. */
static void elements_that_always_differ_are_given_up(void **state)
{
    struct hs_document doc;
    struct hs_buf bytes;
    struct reading r;

    (void)state;
    hs_buf_init(&bytes);
    hs_buf_put(&bytes, HS_STR("](}(X\1\0\0\0aq\0Nu"));
    for (unsigned i = 0; i < 3000; i++) {
        hs_buf_put(&bytes, HS_STR("}("));
        for (unsigned bit = 0; bit < 12; bit++)
            hs_buf_put(&bytes, i >> bit & 1 ? HS_STR("h\0N") : HS_STR("h\0\x88"));
        hs_buf_putc(&bytes, 'u');
    }
    hs_buf_put(&bytes, HS_STR("e."));
    hs_document_init(&doc);
    r = read_bytes(&doc, hs_buf_str(&bytes), 0);
    assert_true(r.complete);
    assert_int_equal(r.count, 3001);
    assert_in_range(doc.kept_cells, 1, 256 * 24 + r.count + 64);
    hs_buf_release(&r.elements);
    hs_buf_release(&bytes);
    hs_document_release(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_say_what_reading_says),
        cmocka_unit_test(cut_anywhere_the_elements_before_are_given),
        cmocka_unit_test(whoever_has_enough_stops),
        cmocka_unit_test(what_may_change_is_read),
        cmocka_unit_test(elements_that_always_differ_are_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
