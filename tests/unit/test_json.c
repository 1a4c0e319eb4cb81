#include "base/json.h"
#include "parsers/json_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "value_text.h"

struct reading {
    struct hs_document doc;
    struct hs_buf elements, top;
    uint64_t offsets[16];
    uint32_t count, cells_max;
    bool complete;
    struct hs_trouble trouble;
};

static bool on_element(void *self, const struct hs_document *doc, const struct hs_value *element,
                       uint64_t offset_bytes)
{
    struct reading *r = self;

    if (r->count < sizeof(r->offsets) / sizeof(r->offsets[0]))
        r->offsets[r->count] = offset_bytes;
    value_text_put(&r->elements, doc, element);
    hs_buf_putc(&r->elements, '\n');
    if (doc->cell_count > r->cells_max)
        r->cells_max = doc->cell_count;
    r->count++;
    return true;
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
    char *copy = malloc(bytes.n > 0 ? bytes.n : 1);
    struct hs_value top;

    assert_non_null(copy);
    if (bytes.n > 0 && bytes.p)
        memcpy(copy, bytes.p, bytes.n);
    r->complete = hs_json_value_read(&r->doc, (struct hs_str){ .p = copy, .n = bytes.n }, &consumer,
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

static void ends_with(struct hs_str bytes, const char *code, uint64_t offset, const char *top)
{
    struct reading r;

    start(&r);
    go(&r, bytes, NULL);
    assert_false(r.complete);
    assert_string_equal(r.trouble.code, code);
    assert_int_equal(r.trouble.offset_bytes, offset);
    assert_string_equal(r.top.p, top);
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

static void reads_every_kind_of_value(void **state)
{
    (void)state;
    reads_as(HS_STR("null"), "null");
    reads_as(HS_STR(" true\n"), "true");
    reads_as(HS_STR("false"), "false");
    reads_as(HS_STR("\"\""), "\"\"");
    reads_as(HS_STR("[]"), "[]");
    reads_as(HS_STR("{}"), "{}");
    reads_as(HS_STR("{\"a\" : [1, {\"b\":null}],\"c\":\"d\"}"),
             "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}");
    reads_as(HS_STR("\xef\xbb\xbf[1]"), "[1]");
    reads_as(HS_STR("{\"a\":1,\"b\":2,\"a\":3}"), "{\"a\":3,\"b\":2}");
}

static void numbers_are_integers_or_floats(void **state)
{
    (void)state;
    reads_as(HS_STR("0"), "0");
    reads_as(HS_STR("-0"), "0");
    reads_as(HS_STR("9223372036854775807"), "9223372036854775807");
    reads_as(HS_STR("-9223372036854775808"), "-9223372036854775808");
    reads_as(HS_STR("[9223372036854775808,-9223372036854775809]"), "[big,big]");
    reads_as(HS_STR("1.5"), "f:3ff8000000000000");
    reads_as(HS_STR("-0.0"), "f:8000000000000000");
    reads_as(HS_STR("1E2"), "f:4059000000000000");
    reads_as(HS_STR("1e400"), "f:7ff0000000000000");
    reads_as(HS_STR("[NaN,Infinity,-Infinity]"),
             "[f:7ff8000000000000,f:7ff0000000000000,f:fff0000000000000]");
}

static void strings_are_resolved(void **state)
{
    (void)state;
    reads_as(HS_STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\\"\\\\/\\x08\\x0c\\x0a\\x0d\\x09\"");
    reads_as(HS_STR("\"\\u0041\\u00e9\\u20AC\""), "\"A\\xc3\\xa9\\xe2\\x82\\xac\"");
    reads_as(HS_STR("\"\\ud83d\\ude00\""), "\"\\xf0\\x9f\\x98\\x80\"");
    reads_as(HS_STR("\"\\u0000\""), "\"\\x00\"");
    reads_as(HS_STR("{\"\\u0061\":1,\"a\":2}"), "{\"a\":2}");
}

static void lone_surrogates_stay_distinct(void **state)
{
    (void)state;
    reads_as(HS_STR("\"\\ud83d\""), "\"\\xed\\xa0\\xbd\"");
    reads_as(HS_STR("\"\\ude00\\ud83d\""), "\"\\xed\\xb8\\x80\\xed\\xa0\\xbd\"");
    reads_as(HS_STR("\"\\ud83d\\u0041\""), "\"\\xed\\xa0\\xbd"
                                           "A\"");
    reads_as(HS_STR("\"\\ud83d\\ud83d\\ude00\""), "\"\\xed\\xa0\\xbd\\xf0\\x9f\\x98\\x80\"");
}

static void bytes_of_strings_are_handed_on(void **state)
{
    (void)state;
    reads_as(HS_STR("\"\xff\xfe\x7f\""), "\"\\xff\\xfe\\x7f\"");
}

static void malformed_is_said_with_its_offset(void **state)
{
    (void)state;
    ends_with(HS_STR("[1,]"), "malformed", 3, "[1]");
    ends_with(HS_STR("[1 2]"), "malformed", 3, "[1]");
    ends_with(HS_STR("[,1]"), "malformed", 1, "[]");
    ends_with(HS_STR("[01]"), "malformed", 1, "[]");
    ends_with(HS_STR("[1.]"), "malformed", 1, "[]");
    ends_with(HS_STR("[-]"), "malformed", 1, "[]");
    ends_with(HS_STR("[1e]"), "malformed", 1, "[]");
    ends_with(HS_STR("[.5]"), "malformed", 1, "[]");
    ends_with(HS_STR("[truth]"), "malformed", 1, "[]");
    ends_with(HS_STR("[1}"), "malformed", 2, "[1]");
    ends_with(HS_STR("{\"a\":1]"), "malformed", 6, "{\"a\":1}");
    ends_with(HS_STR("{\"a\":1,}"), "malformed", 7, "{\"a\":1}");
    ends_with(HS_STR("{\"a\" 1}"), "malformed", 5, "{}");
    ends_with(HS_STR("{a:1}"), "malformed", 1, "{}");
    ends_with(HS_STR("[\"a\tb\"]"), "malformed", 3, "[]");
    ends_with(HS_STR("[\"\\x41\"]"), "malformed", 2, "[]");
    ends_with(HS_STR("[\"\\u00g0\"]"), "malformed", 2, "[]");
    ends_with(HS_STR("]"), "malformed", 0, "null");
    ends_with(HS_STR("'a'"), "malformed", 0, "null");
}

static void cut_input_gives_its_complete_pairs(void **state)
{
    (void)state;
    ends_with(HS_STR(""), "cut-short", 0, "null");
    ends_with(HS_STR("  "), "cut-short", 2, "null");
    ends_with(HS_STR("{\"a\":1,\"b\":{\"c\":2,\"d\":12"), "cut-short", 22,
              "{\"a\":1,\"b\":{\"c\":2}}");
    ends_with(HS_STR("{\"a\":1,\"b\""), "cut-short", 7, "{\"a\":1}");
    ends_with(HS_STR("{\"a\":[1,\"bc"), "cut-short", 8, "{\"a\":[1]}");
    ends_with(HS_STR("{\"a\":[1,\"b\\"), "cut-short", 8, "{\"a\":[1]}");
    ends_with(HS_STR("{\"a\":[1,\"b\\u00e"), "cut-short", 8, "{\"a\":[1]}");
    ends_with(HS_STR("[tru"), "cut-short", 1, "[]");
    ends_with(HS_STR("[-"), "cut-short", 1, "[]");
    ends_with(HS_STR("[1."), "cut-short", 1, "[]");
    ends_with(HS_STR("[-Inf"), "cut-short", 1, "[]");
}

static void depth_and_digits_are_limited(void **state)
{
    char deep[2 * (HS_VALUE_DEPTH_MAX + 1) + 1], digits[HS_NUMBER_DIGITS_MAX + 3];
    struct reading r;

    (void)state;
    memset(deep, '[', HS_VALUE_DEPTH_MAX + 1);
    memset(deep + HS_VALUE_DEPTH_MAX, ']', HS_VALUE_DEPTH_MAX);
    start(&r);
    go(&r, (struct hs_str){ .p = deep, .n = sizeof(deep) - 3 }, NULL);
    assert_true(r.complete);
    deep[HS_VALUE_DEPTH_MAX] = '[';
    go(&r, (struct hs_str){ .p = deep, .n = sizeof(deep) - 3 }, NULL);
    assert_false(r.complete);
    assert_string_equal(r.trouble.code, "limit");
    assert_int_equal(r.trouble.offset_bytes, HS_VALUE_DEPTH_MAX);
    release(&r);

    memset(digits, '7', sizeof(digits));
    digits[0] = '[';
    digits[HS_NUMBER_DIGITS_MAX + 1] = ']';
    reads_as((struct hs_str){ .p = digits, .n = HS_NUMBER_DIGITS_MAX + 2 }, "[big]");
    digits[HS_NUMBER_DIGITS_MAX + 1] = '7';
    digits[HS_NUMBER_DIGITS_MAX + 2] = ']';
    ends_with((struct hs_str){ .p = digits, .n = HS_NUMBER_DIGITS_MAX + 3 }, "limit", 1, "[]");
}

static void bytes_after_the_document_are_remarked(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r, HS_STR("[1] \n[2]"), NULL);
    assert_true(r.complete);
    assert_string_equal(r.top.p, "[1]");
    assert_string_equal(r.trouble.code, "trailing-bytes");
    release(&r);
}

static void streams_the_list_under_the_key(void **state)
{
    (void)state;
    hands_out(
        HS_STR("{\"x\":{\"entries\":[1]},\"entries\":[{\"a\":1},{\"a\":[{}]},[2],3],\"y\":[4]}"),
        "{\"a\":1}\n{\"a\":[{}]}\n[2]\n3\n",
        "{\"x\":{\"entries\":[1]},\"entries\":[streamed,streamed,streamed,streamed],"
        "\"y\":[4]}");
    hands_out(HS_STR("{\"entries\":{\"entries\":[1]}}"), "", "{\"entries\":{\"entries\":[1]}}");
    hands_out(HS_STR("{\"\\u0065ntries\":[1]}"), "1\n", "{\"entries\":[streamed]}");
    hands_out(HS_STR("[{\"entries\":[1]},2]"), "{\"entries\":[1]}\n2\n", "[streamed,streamed]");
}

static void an_element_has_the_offset_of_its_bracket(void **state)
{
    struct reading r;

    (void)state;
    start(&r);
    go(&r, HS_STR("{\"entries\": [ {\"a\":1} , {}]}"), "entries");
    assert_int_equal(r.count, 2);
    assert_int_equal(r.offsets[0], 14);
    assert_int_equal(r.offsets[1], 24);
    release(&r);
}

static void a_cut_document_gives_its_complete_elements(void **state)
{
    static const char text[] = "{\"v\":\"1\",\"entries\":[{\"a\":1},{\"a\":[{\"b\":12}]},{}]}";
    struct hs_str all = HS_STR(text);
    struct reading whole;

    (void)state;
    start(&whole);
    go(&whole, all, "entries");
    for (size_t n = 0; n < all.n; n++) {
        struct reading r;

        start(&r);
        go(&r, (struct hs_str){ .p = text, .n = n }, "entries");
        assert_false(r.complete);
        assert_string_equal(r.trouble.code, "cut-short");
        assert_int_equal(r.count, (n >= 27) + (n >= 44) + (n >= 47));
        assert_true(hs_str_starts(hs_buf_str(&whole.elements), hs_buf_str(&r.elements)));
        release(&r);
    }
    release(&whole);
}

static void memory_does_not_grow_with_the_elements(void **state)
{
    struct hs_buf text;
    struct reading r;

    (void)state;
    hs_buf_init(&text);
    hs_buf_put(&text, HS_STR("{\"entries\":["));
    for (unsigned i = 0; i < 5000; i++)
        hs_buf_printf(&text, "%s{\"id\":%u,\"sizes\":[[1,2],[3]]}", i ? "," : "", i);
    hs_buf_put(&text, HS_STR("]}"));
    start(&r);
    go(&r, hs_buf_str(&text), "entries");
    assert_int_equal(r.count, 5000);
    assert_true(r.cells_max < 16);
    release(&r);
    hs_buf_release(&text);
}

static void the_tokenizer_names_tokens_and_offsets(void **state)
{
    struct hs_json json;
    struct hs_json_token token;

    (void)state;
    hs_json_init(&json, HS_STR(" {\"a\\n\" : [ -1 , 18446744073709551616 ] } x"));
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_OBJECT);
    assert_int_equal(token.offset_bytes, 1);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_KEY);
    assert_true(token.escaped);
    assert_true(hs_str_is(token.text, "a\\n"));
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_ARRAY);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_INT);
    assert_int_equal(token.i, -1);
    assert_int_equal(token.offset_bytes, 12);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_BIG);
    assert_true(hs_str_is(token.text, "18446744073709551616"));
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_ARRAY_END);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_OBJECT_END);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_END);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_END);
    assert_int_equal(hs_json_left(&json), 1);
}

static void an_error_stays_an_error(void **state)
{
    struct hs_json json;
    struct hs_json_token token;

    (void)state;
    hs_json_init(&json, HS_STR("[?]"));
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_ARRAY);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_ERROR);
    assert_int_equal(hs_json_next(&json, &token), HS_JSON_ERROR);
    assert_string_equal(json.code, "malformed");
    assert_int_equal(json.error_offset_bytes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind_of_value),
        cmocka_unit_test(numbers_are_integers_or_floats),
        cmocka_unit_test(strings_are_resolved),
        cmocka_unit_test(lone_surrogates_stay_distinct),
        cmocka_unit_test(bytes_of_strings_are_handed_on),
        cmocka_unit_test(malformed_is_said_with_its_offset),
        cmocka_unit_test(cut_input_gives_its_complete_pairs),
        cmocka_unit_test(depth_and_digits_are_limited),
        cmocka_unit_test(bytes_after_the_document_are_remarked),
        cmocka_unit_test(streams_the_list_under_the_key),
        cmocka_unit_test(an_element_has_the_offset_of_its_bracket),
        cmocka_unit_test(a_cut_document_gives_its_complete_elements),
        cmocka_unit_test(memory_does_not_grow_with_the_elements),
        cmocka_unit_test(the_tokenizer_names_tokens_and_offsets),
        cmocka_unit_test(an_error_stays_an_error),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
