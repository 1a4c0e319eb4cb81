/*
 * test_pickle.c - pickles as data: every opcode, what is refused, damage and limits. Over 600
 * lines, because the tests of the opcodes share their byte strings and the reading of them.
 */
#include "parsers/pickle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "value_text.h"

/* What one reading gave: the elements, one a line, and the rest. */
struct reading {
    struct hs_document doc;
    struct hs_buf elements, top;
    uint64_t offsets[64];
    struct hs_value values[64]; /* the first value of each element that is a dict */
    uint32_t count, stop_after, cells_max;
    bool complete;
    struct hs_trouble trouble;
};

static bool on_element(void *self, const struct hs_document *doc, const struct hs_value *element,
                       uint64_t offset_bytes)
{
    struct reading *r = self;
    uint32_t n;
    const struct hs_value *items = hs_items(doc, element, &n);

    if (r->count < sizeof(r->offsets) / sizeof(r->offsets[0])) {
        r->offsets[r->count] = offset_bytes;
        if (element->kind == HS_VALUE_DICT && n > 1)
            r->values[r->count] = items[1];
    }
    if (r->count < 10000) {
        value_text_put(&r->elements, doc, element);
        hs_buf_putc(&r->elements, '\n');
    }
    if (doc->cell_count > r->cells_max)
        r->cells_max = doc->cell_count;
    r->count++;
    return r->count != r->stop_after;
}

static uint8_t length_is_known(struct hs_str text)
{
    return (uint8_t)text.n;
}

static void start(struct reading *r)
{
    *r = (struct reading){ .count = 0 };
    hs_document_init(&r->doc);
    hs_buf_init(&r->elements);
    hs_buf_init(&r->top);
}

static void go(struct reading *r, struct hs_str bytes, const char *streamed_key)
{
    struct hs_document_consumer consumer = {
        .streamed_key = streamed_key, .known = length_is_known, .element = on_element, .self = r
    };
    char *copy = malloc(bytes.n > 0 ? bytes.n : 1); /* ends where it ends, for the sanitizer */
    struct hs_value top;

    assert_non_null(copy);
    if (bytes.n > 0 && bytes.p)
        memcpy(copy, bytes.p, bytes.n);
    r->complete = hs_pickle_read(&r->doc, (struct hs_str){ .p = copy, .n = bytes.n }, &consumer,
                                 &top, &r->trouble);
    value_text_put(&r->top, &r->doc, &top);
    free(copy);
}

static void release(struct reading *r)
{
    hs_document_release(&r->doc);
    hs_buf_release(&r->elements);
    hs_buf_release(&r->top);
}

static void reads_as(struct hs_str bytes, const char *text)
{
    struct reading r;

    start(&r);
    go(&r, bytes, NULL);
    if (!r.complete)
        fail_msg("%s at %llu: %s", r.trouble.code, (unsigned long long)r.trouble.offset_bytes,
                 r.trouble.text);
    assert_string_equal(r.top.p, text);
    assert_null(r.trouble.code);
    release(&r);
}

static void ends_with(struct hs_str bytes, const char *code, uint64_t offset, const char *says)
{
    struct reading r;

    start(&r);
    go(&r, bytes, NULL);
    assert_false(r.complete);
    assert_string_equal(r.trouble.code, code);
    assert_int_equal(r.trouble.offset_bytes, offset);
    if (!strstr(r.trouble.text, says))
        fail_msg("\"%s\" does not say \"%s\"", r.trouble.text, says);
    release(&r);
}

static void hands_out(struct hs_str bytes, const char *elements, const char *top)
{
    struct reading r;

    start(&r);
    go(&r, bytes, "entries");
    assert_true(r.complete);
    assert_string_equal(r.elements.p ? r.elements.p : "", elements);
    assert_string_equal(r.top.p, top);
    release(&r);
}

/* A dump as torch writes it: `count` entries that share a frame dict, and a header before them. */
static void put_text(struct hs_buf *out, const char *text)
{
    hs_buf_printf(out, "X%c", (int)strlen(text));
    hs_buf_put(out, (struct hs_str){ .p = "\0\0", .n = 2 });
    hs_buf_putc(out, '\0');
    hs_buf_put(out, hs_str_of(text));
}

static void put_get(struct hs_buf *out, unsigned slot)
{
    hs_buf_putc(out, 'h');
    hs_buf_putc(out, (char)slot);
}

static void put_put(struct hs_buf *out, unsigned slot)
{
    hs_buf_putc(out, 'q');
    hs_buf_putc(out, (char)slot);
}

static void put_entry(struct hs_buf *out, unsigned i)
{
    hs_buf_put(out, HS_STR("}("));
    if (i == 0) {
        put_text(out, "frames");
        put_put(out, 1);
        hs_buf_put(out, HS_STR("](}("));
        put_text(out, "line");
        hs_buf_put(out, HS_STR("K\x07u"));
        put_put(out, 2);
        hs_buf_put(out, HS_STR("e"));
        put_text(out, "id");
        put_put(out, 3);
    } else {
        put_get(out, 1);
        hs_buf_put(out, HS_STR("]("));
        put_get(out, 2);
        hs_buf_put(out, HS_STR("e"));
        put_get(out, 3);
    }
    hs_buf_putc(out, 'M');
    hs_buf_putc(out, (char)i);
    hs_buf_putc(out, (char)(i >> 8));
    put_get(out, 3);
    hs_buf_put(out, HS_STR("](](K\x02K\x03"
                           "e](ee"));
    put_text(out, "group");
    hs_buf_put(out, HS_STR("N\x88\x86u"));
}

static struct hs_buf torch_dump(unsigned count)
{
    struct hs_buf out;

    hs_buf_init(&out);
    hs_buf_put(&out, HS_STR("\x80\x02}("));
    put_text(&out, "groups");
    hs_buf_put(&out, HS_STR("}("));
    put_text(&out, "0");
    hs_buf_put(&out, HS_STR("}("));
    put_text(&out, "name");
    hs_buf_put(&out, HS_STR("K\0u"));
    put_text(&out, "1");
    hs_buf_put(&out, HS_STR("](Neu"));
    put_text(&out, "entries");
    put_put(&out, 0);
    hs_buf_put(&out, HS_STR("]("));
    for (unsigned i = 0; i < count; i++)
        put_entry(&out, i);
    hs_buf_put(&out, HS_STR("eu."));
    assert_false(out.failed);
    return out;
}

static void reads_every_scalar(void **state)
{
    (void)state;
    reads_as(HS_STR("N."), "null");
    reads_as(HS_STR("\x80\x02\x88."), "true");
    reads_as(HS_STR("\x80\x02\x89."), "false");
    reads_as(HS_STR("K\xff."), "255");
    reads_as(HS_STR("M\x01\x02."), "513");
    reads_as(HS_STR("J\xff\xff\xff\xff."), "-1");
    reads_as(HS_STR("G\x3f\xf8\0\0\0\0\0\0."), "f:3ff8000000000000");
    reads_as(HS_STR("I-12\n."), "-12");
    reads_as(HS_STR("I01\n."), "true");
    reads_as(HS_STR("I00\n."), "false");
    reads_as(HS_STR("L123L\n."), "123");
    reads_as(HS_STR("L-9223372036854775808L\n."), "-9223372036854775808");
    reads_as(HS_STR("L9223372036854775808L\n."), "big");
    reads_as(HS_STR("F1.5\n."), "f:3ff8000000000000");
    reads_as(HS_STR("F-inf\n."), "f:fff0000000000000");
    reads_as(HS_STR("C\x02"
                    "ab."),
             "bytes(2)");
    reads_as(HS_STR("B\x02\0\0\0ab."), "bytes(2)");
    reads_as(HS_STR("\x8e\x02\0\0\0\0\0\0\0ab."), "bytes(2)");
}

static void reads_integers_of_any_length(void **state)
{
    (void)state;
    reads_as(HS_STR("\x8a\0."), "0");
    reads_as(HS_STR("\x8a\x01\xff."), "-1");
    reads_as(HS_STR("\x8a\x02\xff\0."), "255");
    reads_as(HS_STR("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807");
    reads_as(HS_STR("\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808");
    reads_as(HS_STR("\x8a\x09\0\0\0\0\0\0\0\x80\0."), "big");
    reads_as(HS_STR("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff."), "big");
    reads_as(HS_STR("\x8a\x0a\x05\0\0\0\0\0\0\0\0\0."), "5");
    reads_as(HS_STR("\x8b\x02\0\0\0\xfe\xff."), "-2");
    ends_with(HS_STR("\x8b\xff\xff\xff\xff."), "malformed", 0, "LONG4");
    ends_with(HS_STR("I012\n."), "malformed", 0, "INT");
}

static void reads_texts_of_every_protocol(void **state)
{
    (void)state;
    reads_as(HS_STR("X\x02\0\0\0a\"."), "\"a\\\"\"");
    reads_as(HS_STR("\x8c\x01z."), "\"z\"");
    reads_as(HS_STR("\x8d\x01\0\0\0\0\0\0\0z."), "\"z\"");
    reads_as(HS_STR("U\x01z."), "\"z\"");
    reads_as(HS_STR("T\x01\0\0\0z."), "\"z\"");
    reads_as(HS_STR("S'a\\n\\x41\\101\\'\\q'\n."), "\"a\\x0aAA'\\\\q\"");
    reads_as(HS_STR("Vb\\u20ac\\U0001f600\xe9\\n\n."),
             "\"b\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80\\xc3\\xa9\\\\n\"");
    ends_with(HS_STR("Sabc\n."), "malformed", 0, "STRING");
    ends_with(HS_STR("S'\\x4'\n."), "malformed", 0, "STRING");
    ends_with(HS_STR("V\\u12\n."), "malformed", 0, "UNICODE");
}

static void reads_containers_of_every_protocol(void **state)
{
    (void)state;
    reads_as(HS_STR("\x80\x04\x95\xff\xff\0\0\0\0\0\0]\x94(K\x01K\x02"
                    "e."),
             "[1,2]");
    reads_as(HS_STR("]K\x01"
                    "aK\x02"
                    "a."),
             "[1,2]");
    reads_as(HS_STR("(K\x01K\x02l."), "[1,2]");
    reads_as(HS_STR("}K\x01K\x02s."), "{1:2}");
    reads_as(HS_STR("}(K\x01K\x02K\x03K\x04u."), "{1:2,3:4}");
    reads_as(HS_STR("(K\x01K\x02"
                    "d."),
             "{1:2}");
    reads_as(HS_STR(")."), "()");
    reads_as(HS_STR("K\x01\x85K\x02\x86."), "((1),2)");
    reads_as(HS_STR("K\x01K\x02K\x03\x87."), "(1,2,3)");
    reads_as(HS_STR("(K\x01K\x02K\x03K\x04t."), "(1,2,3,4)");
    reads_as(HS_STR("](e."), "[]");
    reads_as(HS_STR("}(u."), "{}");
    reads_as(HS_STR("K\x01K\x02"
                    "0(K\x03"
                    "1(0."),
             "1");
    reads_as(HS_STR("]2K\x01"
                    "a\x86."),
             "([1],[1])");
}

static void a_later_duplicate_key_follows_the_earlier(void **state)
{
    (void)state;
    reads_as(HS_STR("}(K\x01K\x02K\x05K\x06\x88K\x03u."), "{1:3,5:6}");
}

static void the_memo_gives_references(void **state)
{
    (void)state;
    reads_as(HS_STR("](]q\x05h\x05K\x07"
                    "ae."),
             "[[7],[7]]");
}

static void a_list_in_the_memo_is_one_object(void **state)
{
    struct reading r;
    const struct hs_value *items;
    struct hs_value top = { .kind = HS_VALUE_LIST, .object = 0 };
    uint32_t n;

    (void)state;
    start(&r);
    go(&r,
       HS_STR("](]q\x01(K\x01"
              "eh\x01h\x01"
              "e."),
       NULL);
    assert_string_equal(r.top.p, "[[1],[1],[1]]");
    items = hs_items(&r.doc, &top, &n);
    assert_int_equal(n, 3);
    assert_int_equal(items[0].object, items[1].object);
    assert_int_equal(items[0].object, items[2].object);
    release(&r);
}

static void the_memo_of_every_protocol(void **state)
{
    (void)state;
    reads_as(HS_STR("(Va\np0\nVb\np1\ng0\ng1\nt."), "(\"a\",\"b\",\"a\",\"b\")");
    reads_as(HS_STR("(\x8c\x01"
                    "a\x94\x8c\x01"
                    "b\x94h\x01h\0t."),
             "(\"a\",\"b\",\"b\",\"a\")");
    reads_as(HS_STR("\x80\x02NNNr\x02\0\0\0j\x02\0\0\0\x87."), "(null,null,null)");
    ends_with(HS_STR("h\x01."), "malformed", 0, "BINGET");
    ends_with(HS_STR("j\xff\xff\xff\xff."), "malformed", 0, "LONG_BINGET");
    ends_with(HS_STR("Nr\0\0\0\x7f."), "limit", 1, "LONG_BINPUT");
    ends_with(HS_STR("Np-1\n."), "malformed", 1, "PUT");
    ends_with(HS_STR("(q\0."), "malformed", 1, "BINPUT");
}

static void a_memoised_string_keeps_what_is_known(void **state)
{
    struct reading r;
    const struct hs_value *items;
    struct hs_value top = { .kind = HS_VALUE_LIST, .object = 0 };
    uint32_t n;

    (void)state;
    start(&r);
    go(&r, HS_STR("](X\x03\0\0\0abcq\0h\0e."), NULL);
    items = hs_items(&r.doc, &top, &n);
    assert_int_equal(n, 2);
    assert_int_equal(items[0].known, 3);
    assert_int_equal(items[1].known, 3);
    release(&r);
}

static void self_reference_is_a_reference(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r, HS_STR("]q\0h\0a."), NULL);
    assert_true(r.complete);
    assert_true(hs_str_starts(hs_buf_str(&r.top), HS_STR("[[[[")));
    release(&r);
}

static void identity_functions_give_their_argument(void **state)
{
    (void)state;
    reads_as(HS_STR("ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02"
                    "e\x85R."),
             "[1,2]");
    reads_as(HS_STR("\x8c\x11torch.jit._pickle\x8c\x10restore_type_tag\x93K\x07N\x86R."), "7");
    ends_with(HS_STR("ctorch.jit._pickle\nbuild_intlist\n)R."), "unsafe-pickle", 34, "REDUCE");
    ends_with(HS_STR("ctorch.jit._pickle\nbuild_tensor\n."), "unsafe-pickle", 0,
              "torch.jit._pickle.build_tensor");
}

static void imports_are_refused_by_name_and_offset(void **state)
{
    (void)state;
    ends_with(HS_STR("\x80\x02"
                     "cos\nsystem\n(S'true'\ntR."),
              "unsafe-pickle", 2, "os.system");
    ends_with(HS_STR("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93."), "unsafe-pickle", 19,
              "posix.system");
    ends_with(HS_STR("(S'true'\nios\nsystem\n."), "unsafe-pickle", 9, "INST would import os.sys");
    ends_with(HS_STR("ca\x1b[31m\nb\n."), "unsafe-pickle", 0, "a\\x1b[31m.b");
    ends_with(HS_STR("K\x01K\x02\x93."), "unsafe-pickle", 4, "STACK_GLOBAL");
}

static void whatever_builds_objects_is_refused(void **state)
{
    static const struct {
        struct hs_str bytes;
        const char *name;
    } cases[] = {
        { { "N)R.", 4 }, "REDUCE" },
        { { "N)\x81.", 4 }, "NEWOBJ" },
        { { "NN}\x92.", 5 }, "NEWOBJ_EX" },
        { { "N}b.", 4 }, "BUILD" },
        { { "(No.", 4 }, "OBJ" },
        { { "NNQ.", 4 }, "BINPERSID" },
        { { "NNPx\n.", 6 }, "PERSID" },
        { { "NN\x82\x01.", 5 }, "EXT1" },
        { { "NN\x83\1\1.", 6 }, "EXT2" },
        { { "NN\x84\1\1\1\1.", 8 }, "EXT4" },
        { { "NN\x8f.", 4 }, "EMPTY_SET" },
        { { "N(\x90.", 4 }, "ADDITEMS" },
        { { "N(\x91.", 4 }, "FROZENSET" },
        { { "NN\x96.", 4 }, "BYTEARRAY8" },
        { { "NN\x97.", 4 }, "NEXT_BUFFER" },
        { { "NN\x98.", 4 }, "READONLY_BUFFER" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ends_with(cases[i].bytes, "unsafe-pickle",
                  hs_str_eq(cases[i].bytes, (struct hs_str){ "NN}\x92.", 5 }) ? 3 : 2,
                  cases[i].name);
}

static void malformed_is_said_with_its_offset(void **state)
{
    (void)state;
    ends_with(HS_STR("\x80\x06."), "malformed", 0, "protocol 6");
    ends_with(HS_STR("N\xff."), "malformed", 1, "0xff");
    ends_with(HS_STR("."), "malformed", 0, "STOP");
    ends_with(HS_STR("K\x01(\x86."), "malformed", 3, "TUPLE2");
    ends_with(HS_STR("]K\x01"
                     "e."),
              "malformed", 3, "APPENDS");
    ends_with(HS_STR("}(K\x01u."), "malformed", 4, "SETITEMS");
    ends_with(HS_STR("(K\x01"
                     "d."),
              "malformed", 3, "DICT");
    ends_with(HS_STR("N(K\x01"
                     "e."),
              "malformed", 4, "no list");
    ends_with(HS_STR("(N(e."), "malformed", 3, "no list");
    ends_with(HS_STR("](K\x01K\x02u."), "malformed", 6, "no dict");
    ends_with(HS_STR("N(."), "malformed", 2, "STOP");
    ends_with(HS_STR("0"), "malformed", 0, "POP");
}

static void cut_input_is_said_where_the_last_opcode_begins(void **state)
{
    (void)state;
    ends_with(HS_STR(""), "cut-short", 0, "STOP");
    ends_with(HS_STR("\x80\x02]"), "cut-short", 3, "STOP");
    ends_with(HS_STR("NX\x05\0\0\0abcd"), "cut-short", 1, "BINUNICODE");
    ends_with(HS_STR("N\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), "cut-short", 1, "BINUNICODE8");
    ends_with(HS_STR("NVabc"), "cut-short", 1, "UNICODE");
    ends_with(HS_STR("Ncos\nsystem"), "cut-short", 1, "GLOBAL");
}

static void bytes_after_the_stop_are_remarked(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r, HS_STR("K\x01.xyz"), NULL);
    assert_true(r.complete);
    assert_string_equal(r.top.p, "1");
    assert_string_equal(r.trouble.code, "trailing-bytes");
    assert_int_equal(r.trouble.offset_bytes, 3);
    release(&r);
}

static struct hs_buf repeated(const char *what, size_t times)
{
    struct hs_buf out;

    hs_buf_init(&out);
    for (size_t i = 0; i < times; i++)
        hs_buf_put(&out, hs_str_of(what));
    return out;
}

static void marks_are_limited(void **state)
{
    struct hs_buf deep = repeated("](", HS_VALUE_DEPTH_MAX + 1);

    (void)state;
    ends_with(hs_buf_str(&deep), "limit", 2 * HS_VALUE_DEPTH_MAX + 1, "1000 containers");
    hs_buf_release(&deep);
}

static void digits_are_limited(void **state)
{
    struct hs_buf digits = repeated("7", HS_NUMBER_DIGITS_MAX), text;

    (void)state;
    hs_buf_init(&text);
    hs_buf_printf(&text, "L%sL\n.", digits.p);
    reads_as(hs_buf_str(&text), "big");
    hs_buf_release(&text);
    hs_buf_printf(&text, "L7%sL\n.", digits.p);
    ends_with(hs_buf_str(&text), "limit", 0, "digits");
    hs_buf_release(&text);
    hs_buf_release(&digits);
}

static void a_dict_grows_by_thousands_of_batches(void **state)
{
    struct hs_buf out;
    struct reading r;
    uint32_t n;
    struct hs_value top = { .kind = HS_VALUE_DICT, .object = 0 };

    (void)state;
    hs_buf_init(&out);
    hs_buf_putc(&out, '}');
    for (unsigned batch = 0; batch < 2000; batch++) {
        hs_buf_putc(&out, '(');
        for (unsigned i = 0; i < 250; i++)
            hs_buf_put(&out,
                       HS_STR("K\x01]")); /* a list, so that the dict's items are not on top */
        hs_buf_putc(&out, 'u');
    }
    hs_buf_putc(&out, '.');
    start(&r);
    r.complete = false;
    {
        struct hs_document_consumer nobody = { .streamed_key = NULL };

        r.complete = hs_pickle_read(&r.doc, hs_buf_str(&out), &nobody, &top, &r.trouble);
    }
    assert_true(r.complete);
    (void)hs_items(&r.doc, &top, &n);
    assert_int_equal(n, 2 * 2000 * 250);
    assert_true(r.doc.cell_count <= 4 * n);
    release(&r);
    hs_buf_release(&out);
}

static void streams_what_torch_writes(void **state)
{
    struct hs_buf dump = torch_dump(3);

    (void)state;
    hands_out(hs_buf_str(&dump),
              "{\"frames\":[{\"line\":7}],\"id\":[[2,3],[]],\"group\":(null,true)}\n"
              "{\"frames\":[{\"line\":7}],\"id\":[[2,3],[]],\"group\":(null,true)}\n"
              "{\"frames\":[{\"line\":7}],\"id\":[[2,3],[]],\"group\":(null,true)}\n",
              "{\"groups\":{\"0\":{\"name\":0},\"1\":[null]},"
              "\"entries\":[streamed,streamed,streamed]}");
    hs_buf_release(&dump);
}

static void an_element_has_the_offset_of_its_dict(void **state)
{
    struct hs_buf dump = torch_dump(5);
    struct reading r;

    (void)state;
    start(&r);
    go(&r, hs_buf_str(&dump), "entries");
    assert_int_equal(r.count, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_memory_equal(dump.p + r.offsets[i], i == 0 ? "}(X" : "}(h\x01", i == 0 ? 3 : 4);
    release(&r);
    hs_buf_release(&dump);
}

static void memory_does_not_grow_with_the_elements(void **state)
{
    struct hs_buf few = torch_dump(10), many = torch_dump(9000);
    struct reading a, b;

    (void)state;
    start(&a);
    start(&b);
    go(&a, hs_buf_str(&few), "entries");
    go(&b, hs_buf_str(&many), "entries");
    assert_int_equal(b.count, 9000);
    /* where the stack grows, a list is read again that was met before */
    assert_in_range(b.cells_max, a.cells_max, a.cells_max + 8);
    release(&a);
    release(&b);
    hs_buf_release(&few);
    hs_buf_release(&many);
}

/* Cut at every byte: the elements are a prefix, and exactly those that were complete. */
static void a_cut_dump_gives_its_complete_elements(void **state)
{
    struct hs_buf dump = torch_dump(6);
    struct reading whole;

    (void)state;
    start(&whole);
    go(&whole, hs_buf_str(&dump), "entries");
    for (size_t n = 0; n < dump.n; n++) {
        struct reading r;
        uint32_t complete = 0;

        while (complete + 1 < whole.count && whole.offsets[complete + 1] <= n)
            complete++;
        complete += n + 3 >= dump.n;
        start(&r);
        go(&r, (struct hs_str){ .p = dump.p, .n = n }, "entries");
        assert_false(r.complete);
        assert_string_equal(r.trouble.code, "cut-short");
        assert_true(r.trouble.offset_bytes <= n);
        assert_int_equal(r.count, complete);
        assert_true(hs_str_starts(hs_buf_str(&whole.elements), hs_buf_str(&r.elements)));
        release(&r);
    }
    release(&whole);
    hs_buf_release(&dump);
}

static void a_cut_dump_gives_the_pairs_of_its_top(void **state)
{
    struct hs_buf dump = torch_dump(2);
    const char *entry = memmem(dump.p, dump.n, "frames", 6);
    const char *group = memmem(dump.p, dump.n, "name", 4);
    struct reading r;

    (void)state;
    start(&r);
    go(&r, (struct hs_str){ .p = dump.p, .n = (size_t)(entry - dump.p) }, "entries");
    assert_string_equal(r.top.p, "{\"groups\":{\"0\":{\"name\":0},\"1\":[null]},\"entries\":[]}");
    release(&r);
    start(&r);
    go(&r, (struct hs_str){ .p = dump.p, .n = (size_t)(group - dump.p) + 6 }, "entries");
    assert_string_equal(r.top.p, "{\"groups\":{\"0\":{\"name\":0}}}");
    release(&r);
    hs_buf_release(&dump);
}

static void salvage_of_a_dict_filled_pair_by_pair(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r,
       HS_STR("(dVa\nK\x01sVb\n(dVc\nK\x02sVd\n(lK\x03"
              "aK\x04"),
       "entries");
    assert_string_equal(r.trouble.code, "cut-short");
    assert_string_equal(r.top.p, "{\"a\":1,\"b\":{\"c\":2,\"d\":[3,4]}}");
    release(&r);
}

static void streams_a_bare_list(void **state)
{
    (void)state;
    hands_out(HS_STR("\x80\x02](}(K\x01K\x02u}(K\x03K\x04ue."), "{1:2}\n{3:4}\n",
              "[streamed,streamed]");
}

static void streams_what_python_writes(void **state)
{
    (void)state;
    /* protocol 0: one by one */
    hands_out(HS_STR("(dp0\nVentries\np1\n(lp2\n(dp3\nVa\np4\nI1\nsa(dp5\ng4\nI2\nsas."),
              "{\"a\":1}\n{\"a\":2}\n", "{\"entries\":[streamed,streamed]}");
    /* protocol 4: every container is memoised before it is filled */
    hands_out(HS_STR("\x80\x04\x95\x2f\0\0\0\0\0\0\0}\x94\x8c\x07"
                     "entries\x94]\x94(}\x94(\x8c\x01"
                     "a\x94K\x01\x8c\x01"
                     "b\x94]\x94K\x05"
                     "au}\x94(h\x04K\x02h\x05h\x06ues."),
              "{\"a\":1,\"b\":[5]}\n{\"a\":2,\"b\":[5]}\n", "{\"entries\":[streamed,streamed]}");
    /* one entry: APPEND; empty dicts and other things as entries */
    hands_out(HS_STR("}\x94\x8c\x07"
                     "entries\x94]\x94}\x94"
                     "as."),
              "{}\n", "{\"entries\":[streamed]}");
    hands_out(HS_STR("}(\x8c\x07"
                     "entries](}K\x01}K\x02NsK\x03\x85"
                     "eu."),
              "{}\n1\n{2:null}\n(3)\n", "{\"entries\":[streamed,streamed,streamed,streamed]}");
}

static void only_the_top_level_key_is_streamed(void **state)
{
    (void)state;
    hands_out(HS_STR("}(\x8c\x01x}(\x8c\x07"
                     "entries](}(K\x01K\x02ueu\x8c\x07"
                     "entries}(K\x01K\x02uu."),
              "", "{\"x\":{\"entries\":[{1:2}]},\"entries\":{1:2}}");
    hands_out(HS_STR("}(](}(K\x01K\x02ue\x8c\x07"
                     "entriesu."),
              "", "{[{1:2}]:\"entries\"}");
}

static void a_large_element_in_batches_is_handed_out_whole(void **state)
{
    struct hs_buf out;
    struct reading r;

    (void)state;
    hs_buf_init(&out);
    hs_buf_put(&out, HS_STR("](}("));
    for (unsigned i = 0; i < 1000; i++)
        hs_buf_printf(&out, "I%u\nN", i + 10);
    hs_buf_put(&out, HS_STR("u(I7\nNu}(I8\nNue."));
    start(&r);
    go(&r, hs_buf_str(&out), "entries");
    assert_int_equal(r.count, 2);
    assert_true(hs_str_ends(hs_buf_str(&r.elements), HS_STR(",7:null}\n{8:null}\n")));
    release(&r);
    hs_buf_release(&out);
}

static void a_shared_element_is_handed_out_once(void **state)
{
    (void)state;
    hands_out(HS_STR("](}q\0(K\x01K\x02uh\0e."), "{1:2}\n", "[streamed,streamed]");
    hands_out(HS_STR("](}(K\x01K\x02uq\0h\0e."), "{1:2}\n", "[streamed,streamed]");
    hands_out(HS_STR("](}2(K\x01K\x02ue."), "{1:2}\n", "[streamed,streamed]");
    hands_out(HS_STR("](}(K\x01K\x02u2e."), "{1:2}\n", "[streamed,streamed]");
}

static void what_a_memo_holds_survives_the_elements(void **state)
{
    (void)state;
    /* the list in the first element grows inside the second; the third sees it */
    hands_out(HS_STR("](}(K\x01]q\0u}(h\0K\x09"
                     "aNu}(K\x02](K\x06"
                     "eu}(K\x03h\0ue."),
              "{1:[]}\n{[9]:null}\n{2:[6]}\n{3:[9]}\n", "[streamed,streamed,streamed,streamed]");
}

/* Lists met before. Short pickles end with more bytes than the fast loop wants to see. */
#define REST "e.          "

static void equal_lists_become_one_object(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r,
       HS_STR("](}(K\1](](K\2M\3\4e](eeu}(K\1](](K\2M\3\4e](eeu}(K\1](](K\2M\3\4e](eeu"
              "}(K\1](K\2eK\1](](K\2M\3\4e](eeu}(K\1](](K\2M\3\4e](eeu" REST),
       "entries");
    assert_string_equal(r.elements.p, "{1:[[2,1027],[]]}\n{1:[[2,1027],[]]}\n{1:[[2,1027],[]]}\n"
                                      "{1:[[2,1027],[]]}\n{1:[[2,1027],[]]}\n");
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(r.values[i].fixed, i == 0 || i == 3 ? 0 : HS_FIXED_WHOLE);
    assert_int_equal(r.values[1].object, r.values[2].object);
    assert_int_equal(r.values[1].object, r.values[4].object);
    release(&r);
}

static void a_list_that_refers_to_a_container_is_fixed_in_its_items(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r, HS_STR("](}(K\1](K\7eq\0u}(K\1](h\0eu}(K\1](h\0eu}(h\0K\10aNu}(K\1](h\0eu" REST),
       "entries");
    assert_string_equal(r.elements.p, "{1:[7]}\n{1:[[7]]}\n{1:[[7]]}\n{[7,8]:null}\n{1:[[7,8]]}\n");
    assert_int_equal(r.values[2].fixed, HS_FIXED_ITEMS);
    assert_int_equal(r.values[2].object, r.values[4].object);
    release(&r);
}

static void equal_bytes_mean_what_the_memo_means(void **state)
{
    (void)state;
    hands_out(HS_STR("](}(X\1\0\0\0aq\0X\1\0\0\0bq\1u}(K\1](h\0h\1eu}(K\1](h\0h\1eu"
                     "}(K\1](h\0h\1eX\1\0\0\0cq\1](h\0h\1eu}(K\1](h\0h\1eu}(K\1](h\0h\1eu"
                     "}(K\2X\1\0\0\0dq\0u}(K\1](h\0h\1eu" REST),
              "{\"a\":\"b\"}\n{1:[\"a\",\"b\"]}\n{1:[\"a\",\"b\"]}\n"
              "{1:[\"a\",\"b\"],\"c\":[\"a\",\"c\"]}\n{1:[\"a\",\"c\"]}\n{1:[\"a\",\"c\"]}\n"
              "{2:\"d\"}\n{1:[\"d\",\"c\"]}\n",
              "[streamed,streamed,streamed,streamed,streamed,streamed,streamed,streamed]");
}

/* `count` elements with a list of `length` numbers, which differ in the last, by `kinds`. */
static struct hs_buf numbers(unsigned count, unsigned length, unsigned kinds)
{
    struct hs_buf out;

    hs_buf_init(&out);
    hs_buf_put(&out, HS_STR("]("));
    for (unsigned i = 0; i < count; i++) {
        hs_buf_put(&out, HS_STR("}(K\1]("));
        for (unsigned k = 1; k < length; k++)
            hs_buf_put(&out, HS_STR("K\5"));
        hs_buf_putc(&out, 'M');
        hs_buf_putc(&out, (char)(i % kinds));
        hs_buf_putc(&out, (char)(i % kinds >> 8));
        hs_buf_put(&out, HS_STR("eu"));
    }
    hs_buf_put(&out, HS_STR("e."));
    assert_false(out.failed);
    return out;
}

static void lists_that_differ_in_a_byte_differ(void **state)
{
    (void)state;
    for (unsigned length = 1; length < 20; length++) {
        struct hs_buf bytes = numbers(12, length, 3), text;
        struct reading r;

        hs_buf_init(&text);
        for (unsigned i = 0; i < 12; i++) {
            hs_buf_put(&text, HS_STR("{1:["));
            for (unsigned k = 1; k < length; k++)
                hs_buf_put(&text, HS_STR("5,"));
            hs_buf_printf(&text, "%u]}\n", i % 3);
        }
        start(&r);
        go(&r, hs_buf_str(&bytes), "entries");
        assert_string_equal(r.elements.p, text.p);
        assert_int_equal(r.values[5].fixed, HS_FIXED_WHOLE);
        assert_int_equal(r.values[5].object, r.values[8].object);
        assert_int_not_equal(r.values[5].object, r.values[6].object);
        release(&r);
        hs_buf_release(&text);
        hs_buf_release(&bytes);
    }
}

static void a_list_cut_off_is_none_met_before(void **state)
{
    (void)state;
    for (unsigned length = 1; length < 20; length += 3) {
        struct hs_buf bytes = numbers(4, length, 1);

        for (size_t n = 0; n < bytes.n; n++) {
            struct reading r;

            start(&r);
            go(&r, (struct hs_str){ .p = bytes.p, .n = n }, "entries");
            assert_string_equal(r.trouble.code, "cut-short");
            assert_int_equal(r.count, n < 2 ? 0 : (n - 2) / ((bytes.n - 4) / 4));
            release(&r);
        }
        hs_buf_release(&bytes);
    }
}

static void lists_that_always_differ_do_not_fill_the_memory(void **state)
{
    (void)state;
    for (unsigned length = 1; length < 250; length += 248) {
        struct hs_buf bytes = numbers(5000, length, 5000);
        struct reading r;

        start(&r);
        go(&r, hs_buf_str(&bytes), "entries");
        assert_int_equal(r.count, 5000);
        assert_in_range(r.cells_max, length, (length == 1 ? 1024 : 32768) + length + 2);
        release(&r);
        hs_buf_release(&bytes);
    }
}

/* What is done to a list that was met before is done to this one alone. */
static void a_list_met_before_stays_as_it_was(void **state)
{
    static const struct {
        const char *more, *text;
    } cases[] = {
        { "K\7a", "[5,6,7]" },
        { "(K\7K\10e", "[5,6,7,8]" },
        { "q\5K\7ah\5\x86", "([5,6,7],[5,6,7])" },
        { "2K\7a\x86", "([5,6,7],[5,6,7])" },
        { "2\x86", "([5,6],[5,6])" },
        { "0](K\5K\6e(K\7e", "[5,6,7]" },
        { "0](h\4(K\7ee", "[[9,7]]" },
        { "0ctorch.jit._pickle\nbuild_intlist\n](K\5K\6e\x85RK\7a", "[5,6,7]" },
        { "0ctorch.jit._pickle\nbuild_intlist\n](K\5K\6eN\x86q\5RK\7ah\5\x86",
          "([5,6,7],([5,6,7],null))" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hs_buf bytes, text;

        hs_buf_init(&bytes);
        hs_buf_init(&text);
        hs_buf_put(&bytes, HS_STR("](}(K\0](K\11eq\4u}(K\1](K\5K\6eu}(K\2](K\5K\6e"));
        hs_buf_put(&bytes, hs_str_of(cases[i].more));
        hs_buf_put(&bytes, HS_STR("u}(K\3](K\5K\6eu" REST));
        hs_buf_printf(&text, "{0:[9]}\n{1:[5,6]}\n{2:%s}\n{3:[5,6]}\n", cases[i].text);
        hands_out(hs_buf_str(&bytes), text.p, "[streamed,streamed,streamed,streamed]");
        hs_buf_release(&bytes);
        hs_buf_release(&text);
    }
}

static void a_list_that_is_filled_again_is_not_remembered(void **state)
{
    (void)state;
    hands_out(HS_STR("](}(K\1](e(K\7eu}(K\1](eu}(K\1](eu" REST), "{1:[7]}\n{1:[]}\n{1:[]}\n",
              "[streamed,streamed,streamed]");
    hands_out(HS_STR("](}(K\1](K\5eK\7au}(K\1](K\5eu}(K\1](K\5eu" REST),
              "{1:[5,7]}\n{1:[5]}\n{1:[5]}\n", "[streamed,streamed,streamed]");
}

static void a_list_that_becomes_an_element_has_its_own_offset(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r,
       HS_STR("](}(K\1](K\5eu}(K\1](K\5e\x85q\0u}(K\1](K\5eu"
              "ctorch.jit._pickle\nbuild_intlist\nh\0R" REST),
       "entries");
    assert_string_equal(r.elements.p, "{1:[5]}\n{1:([5])}\n{1:[5]}\n[5]\n");
    assert_int_equal(r.offsets[3], 16);
    release(&r);
}

static void whoever_has_enough_stops(void **state)
{
    struct hs_buf dump = torch_dump(5);
    struct reading r;

    (void)state;
    start(&r);
    r.stop_after = 2;
    go(&r, hs_buf_str(&dump), "entries");
    assert_false(r.complete);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.trouble.code, "stopped");
    release(&r);
    hs_buf_release(&dump);
}

static void elements_before_a_refusal_are_handed_out(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r,
       HS_STR("](}(K\x01K\x02u}(K\x03"
              "cos\nsystem\n)Rue."),
       "entries");
    assert_false(r.complete);
    assert_string_equal(r.trouble.code, "unsafe-pickle");
    assert_string_equal(r.elements.p, "{1:2}\n");
    assert_string_equal(r.top.p, "[streamed]");
    release(&r);
}

static void a_document_is_used_again(void **state)
{
    struct hs_buf dump = torch_dump(40);
    struct reading r;

    (void)state;
    start(&r);
    for (unsigned i = 0; i < 3; i++) {
        r.count = 0;
        r.top.n = 0;
        go(&r, hs_buf_str(&dump), "entries");
        assert_int_equal(r.count, 40);
        r.top.n = 0;
        go(&r,
           HS_STR("]K\x01"
                  "a."),
           NULL);
        assert_string_equal(r.top.p, "[1]");
    }
    release(&r);
    hs_buf_release(&dump);
}

static void a_pickle_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    assert_int_equal(hs_pickle_probe(HS_STR("")), 0);
    assert_int_equal(hs_pickle_probe(HS_STR("\x80")), 0);
    assert_int_equal(hs_pickle_probe(HS_STR("\x80\x06}")), 0);
    assert_int_equal(hs_pickle_probe(HS_STR("\x80\x02")), 16);
    assert_int_equal(hs_pickle_probe(HS_STR("\x80\x04\x95")), 24);
    assert_int_equal(hs_pickle_probe(HS_STR("(dp0\n")), 24);
    assert_int_equal(hs_pickle_probe(HS_STR("{\"a\":1}")), 0);
    assert_int_equal(hs_pickle_probe(HS_STR("(Ventries\np0\n")), 16);
    assert_int_equal(hs_pickle_probe(HS_STR("(VllmWorker rank=0 pid=78) ERROR x\n")), 0);
    assert_int_equal(hs_pickle_probe(HS_STR("(VllmWorker rank=0 pid=78) x\n(VllmWorker x\n")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_scalar),
        cmocka_unit_test(reads_integers_of_any_length),
        cmocka_unit_test(reads_texts_of_every_protocol),
        cmocka_unit_test(reads_containers_of_every_protocol),
        cmocka_unit_test(a_later_duplicate_key_follows_the_earlier),
        cmocka_unit_test(the_memo_gives_references),
        cmocka_unit_test(a_list_in_the_memo_is_one_object),
        cmocka_unit_test(the_memo_of_every_protocol),
        cmocka_unit_test(a_memoised_string_keeps_what_is_known),
        cmocka_unit_test(self_reference_is_a_reference),
        cmocka_unit_test(identity_functions_give_their_argument),
        cmocka_unit_test(imports_are_refused_by_name_and_offset),
        cmocka_unit_test(whatever_builds_objects_is_refused),
        cmocka_unit_test(malformed_is_said_with_its_offset),
        cmocka_unit_test(cut_input_is_said_where_the_last_opcode_begins),
        cmocka_unit_test(bytes_after_the_stop_are_remarked),
        cmocka_unit_test(marks_are_limited),
        cmocka_unit_test(digits_are_limited),
        cmocka_unit_test(a_dict_grows_by_thousands_of_batches),
        cmocka_unit_test(streams_what_torch_writes),
        cmocka_unit_test(an_element_has_the_offset_of_its_dict),
        cmocka_unit_test(memory_does_not_grow_with_the_elements),
        cmocka_unit_test(a_cut_dump_gives_its_complete_elements),
        cmocka_unit_test(a_cut_dump_gives_the_pairs_of_its_top),
        cmocka_unit_test(salvage_of_a_dict_filled_pair_by_pair),
        cmocka_unit_test(streams_a_bare_list),
        cmocka_unit_test(streams_what_python_writes),
        cmocka_unit_test(only_the_top_level_key_is_streamed),
        cmocka_unit_test(a_large_element_in_batches_is_handed_out_whole),
        cmocka_unit_test(a_shared_element_is_handed_out_once),
        cmocka_unit_test(what_a_memo_holds_survives_the_elements),
        cmocka_unit_test(equal_lists_become_one_object),
        cmocka_unit_test(a_list_that_refers_to_a_container_is_fixed_in_its_items),
        cmocka_unit_test(equal_bytes_mean_what_the_memo_means),
        cmocka_unit_test(lists_that_differ_in_a_byte_differ),
        cmocka_unit_test(a_list_cut_off_is_none_met_before),
        cmocka_unit_test(lists_that_always_differ_do_not_fill_the_memory),
        cmocka_unit_test(a_list_met_before_stays_as_it_was),
        cmocka_unit_test(a_list_that_is_filled_again_is_not_remembered),
        cmocka_unit_test(a_list_that_becomes_an_element_has_its_own_offset),
        cmocka_unit_test(whoever_has_enough_stops),
        cmocka_unit_test(elements_before_a_refusal_are_handed_out),
        cmocka_unit_test(a_document_is_used_again),
        cmocka_unit_test(a_pickle_is_known_by_its_first_bytes),
    };

    return cmocka_run_group_tests_name("pickle", tests, NULL, NULL);
}
