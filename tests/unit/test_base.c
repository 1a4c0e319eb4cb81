/* test_base.c - arena, buffer, intern table, sets of ranks, cause chain. json.h has its own. */
#include "base/err.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

/* ---- str ---- */

static void slices_compare_by_bytes(void **state)
{
    (void)state;
    assert_true(hs_str_eq(HS_STR("a\0b"), HS_STR("a\0b")));
    assert_false(hs_str_eq(HS_STR("a\0b"), HS_STR("a\0c")));
    assert_true(hs_str_eq((struct hs_str){ .p = NULL }, HS_STR("")));
    assert_true(hs_str_cmp(HS_STR("a"), HS_STR("ab")) < 0);
    assert_true(hs_str_cmp(HS_STR("b"), HS_STR("ab")) > 0);
    assert_true(hs_str_cmp(HS_STR("\xff"), HS_STR("a")) > 0);
    assert_int_equal(hs_str_cmp(HS_STR(""), (struct hs_str){ .p = NULL }), 0);
    assert_true(hs_str_starts(HS_STR("rank_3"), HS_STR("rank")));
    assert_false(hs_str_starts(HS_STR("ran"), HS_STR("rank")));
    assert_true(hs_str_ends(HS_STR("a.gz"), HS_STR(".gz")));
    assert_false(hs_str_ends(HS_STR("gz"), HS_STR(".gz")));
    assert_true(hs_str_has(HS_STR("abc"), "bc"));
    assert_false(hs_str_has((struct hs_str){ .p = NULL }, "b"));
    assert_int_equal(hs_str_of(NULL).n, 0);
}

/* ---- arena ---- */

static void an_arena_hands_out_zeroed_aligned_memory(void **state)
{
    struct hs_arena arena;

    (void)state;
    hs_arena_init(&arena);
    for (unsigned round = 0; round < 2; round++) {
        for (size_t n = 0; n < 3000; n += 7) {
            char *p = hs_arena_alloc(&arena, n, 1);

            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xaa, n);
        }
        hs_arena_reset(&arena);
    }
    hs_arena_release(&arena);
}

static void an_arena_takes_what_is_larger_than_a_block(void **state)
{
    struct hs_arena arena;
    char *small, *large;

    (void)state;
    hs_arena_init(&arena);
    small = hs_arena_alloc(&arena, 10, 1);
    large = hs_arena_alloc(&arena, 1 << 20, 1);
    assert_true(small && large);
    memset(large, 1, 1 << 20);
    assert_int_equal(small[9], 0);
    hs_arena_reset(&arena);
    assert_ptr_equal(hs_arena_alloc(&arena, 10, 1), small); /* blocks are kept */
    hs_arena_release(&arena);
}

static void an_absurd_size_is_refused(void **state)
{
    struct hs_arena arena;

    (void)state;
    hs_arena_init(&arena);
    assert_null(hs_arena_alloc(&arena, SIZE_MAX, 2));
    assert_null(hs_arena_alloc(&arena, SIZE_MAX / 2 + 1, 1));
    assert_non_null(hs_arena_alloc(&arena, 0, 8));
    hs_arena_release(&arena);
}

static void texts_in_an_arena_end_in_zero(void **state)
{
    struct hs_arena arena;
    struct hs_str copy, text;

    (void)state;
    hs_arena_init(&arena);
    copy = hs_arena_copy(&arena, HS_STR("a\0b"));
    assert_int_equal(copy.n, 3);
    assert_memory_equal(copy.p, "a\0b\0", 4);
    text = hs_arena_printf(&arena, "%s %d", "rank", 7);
    assert_string_equal(text.p, "rank 7");
    assert_int_equal(text.n, 6);
    hs_arena_release(&arena);
}

static void arrays_grow_by_doubling_and_within_bounds(void **state)
{
    uint32_t *array = NULL, cap = 0;

    (void)state;
    assert_true(HS_GROW(array, cap, 1));
    assert_int_equal(cap, 8);
    array[7] = 42;
    assert_true(HS_GROW(array, cap, 9));
    assert_int_equal(cap, 16);
    assert_int_equal(array[7], 42);
    assert_false(hs_grow((void **)&array, &cap, (size_t)UINT32_MAX + 1, sizeof(*array)));
    assert_int_equal(cap, 16);
    assert_int_equal(array[7], 42);
    free(array);
}

/* ---- intern ---- */

static void equal_bytes_get_equal_numbers(void **state)
{
    struct hs_intern table;

    (void)state;
    hs_intern_init(&table);
    assert_int_equal(hs_intern_find(&table, HS_STR("a")), HS_NO_ID);
    assert_int_equal(hs_intern_put(&table, HS_STR("a")), 0);
    assert_int_equal(hs_intern_put(&table, HS_STR("")), 1);
    assert_int_equal(hs_intern_put(&table, HS_STR("a\0")), 2);
    assert_int_equal(hs_intern_put(&table, HS_STR("a")), 0);
    assert_int_equal(hs_intern_put(&table, (struct hs_str){ .p = NULL }), 1);
    assert_int_equal(hs_intern_find(&table, HS_STR("a\0")), 2);
    assert_int_equal(hs_intern_find(&table, HS_STR("b")), HS_NO_ID);
    assert_int_equal(hs_intern_get(&table, 0).p[1], 0);
    assert_int_equal(table.count, 3);
    hs_intern_release(&table);
}

static void a_table_grows_and_keeps_its_numbers(void **state)
{
    enum { MANY = 70000 };
    struct hs_intern table;
    char text[32];

    (void)state;
    hs_intern_init(&table);
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            size_t n = (size_t)snprintf(text, sizeof(text), "text %u", i);

            assert_int_equal(hs_intern_put(&table, (struct hs_str){ .p = text, .n = n }), i);
        }
    }
    assert_int_equal(table.count, MANY);
    hs_intern_release(&table);
}

/* Texts whose hashes agree in all the bits that the table looks at. */
static void colliding_texts_stay_apart(void **state)
{
    enum { WANTED = 24 };
    char found[WANTED][16];
    unsigned count = 0;
    struct hs_intern table;

    (void)state;
    hs_intern_init(&table);
    for (unsigned i = 0; count < WANTED; i++) {
        size_t n = (size_t)snprintf(found[count], sizeof(found[0]), "%u", i);

        count += (hs_hash_here((struct hs_str){ .p = found[count], .n = n }) & 63) == 5;
    }
    for (unsigned i = 0; i < WANTED; i++)
        assert_int_equal(hs_intern_put(&table, hs_str_of(found[i])), i);
    for (unsigned i = 0; i < WANTED; i++) {
        assert_int_equal(hs_intern_find(&table, hs_str_of(found[i])), i);
        assert_true(hs_str_is(hs_intern_get(&table, i), found[i]));
    }
    hs_intern_release(&table);
}

static void a_hash_is_the_same_on_every_machine(void **state)
{
    (void)state;
    assert_int_equal(hs_hash(HS_STR("")), hs_hash((struct hs_str){ .p = NULL }));
    assert_int_not_equal(hs_hash(HS_STR("a")), hs_hash(HS_STR("a\0")));
    assert_int_not_equal(hs_hash(HS_STR("\0")), hs_hash(HS_STR("\0\0")));
    /* equal files are found by it, whatever read them */
    assert_int_equal(hs_hash(HS_STR("all_reduce")), 0x4284163394f6c0e4u);
}

/* ---- buf ---- */

static void assert_safe(struct hs_str in, size_t max, const char *want)
{
    struct hs_buf buf;
    char *exact = malloc(in.n + 1); /* a sanitizer sees a byte beyond */

    assert_non_null(exact);
    memcpy(exact, in.p, in.n);
    hs_buf_init(&buf);
    hs_buf_put_safe(&buf, (struct hs_str){ .p = exact, .n = in.n }, max);
    free(exact);
    assert_string_equal(buf.p ? buf.p : "", want);
    assert_int_equal(buf.n, strlen(want));
    hs_buf_release(&buf);
}

static void a_buffer_grows_and_stays_a_text(void **state)
{
    struct hs_buf buf;

    (void)state;
    hs_buf_init(&buf);
    assert_string_equal(hs_buf_str(&buf).p, "");
    for (unsigned i = 0; i < 1000; i++)
        hs_buf_printf(&buf, "%03u", i);
    hs_buf_putc(&buf, '.');
    hs_buf_put(&buf, HS_STR(""));
    assert_int_equal(buf.n, 3001);
    assert_string_equal(buf.p + 2997, "999.");
    assert_false(buf.failed);
    assert_false(hs_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    hs_buf_putc(&buf, 'x');
    assert_int_equal(buf.n, 3001); /* nothing more after a failure */
    hs_buf_release(&buf);
}

static void valid_text_stays_as_it_is(void **state)
{
    (void)state;
    assert_safe(HS_STR(""), 10, "");
    assert_safe(HS_STR("plain \"text\" \\"), 100, "plain \"text\" \\");
    assert_safe(HS_STR("größe 训练 🚀"), 100, "größe 训练 🚀");
    assert_safe(HS_STR("\xf4\x8f\xbf\xbf"), 100, "\xf4\x8f\xbf\xbf"); /* the last character */
    assert_safe(HS_STR("\xc2\xa0"), 100, "\xc2\xa0");                 /* just behind the controls */
}

static void control_characters_are_shown(void **state)
{
    (void)state;
    assert_safe(HS_STR("a\x1b[31mb"), 100, "a\\x1b[31mb");
    assert_safe(HS_STR("a\0b\nc\td\x7f"), 100, "a\\x00b\\x0ac\\x09d\\x7f");
    assert_safe(HS_STR("\xc2\x9b"
                       "31m"),
                100, "\\xc2\\x9b31m"); /* C1: a terminal may obey it */
    assert_safe(HS_STR("\xc2\x80\xc2\x9f"), 100, "\\xc2\\x80\\xc2\\x9f");
}

static void invalid_utf8_is_shown_byte_by_byte(void **state)
{
    (void)state;
    assert_safe(HS_STR("\xff\xfe"), 100, "\\xff\\xfe");
    assert_safe(HS_STR("\x80"), 100, "\\x80");          /* a continuation alone */
    assert_safe(HS_STR("\xc0\xaf"), 100, "\\xc0\\xaf"); /* overlong */
    assert_safe(HS_STR("\xe0\x80\xaf"), 100, "\\xe0\\x80\\xaf");
    assert_safe(HS_STR("\xf0\x80\x80\xaf"), 100, "\\xf0\\x80\\x80\\xaf");
    assert_safe(HS_STR("\xed\xa0\x80"), 100, "\\xed\\xa0\\x80");          /* a surrogate */
    assert_safe(HS_STR("\xf4\x90\x80\x80"), 100, "\\xf4\\x90\\x80\\x80"); /* beyond the last */
    assert_safe(HS_STR("\xe8\xae"), 100, "\\xe8\\xae"); /* the input itself ends inside */
    assert_safe(HS_STR("\xe8\xae"
                       "x"),
                100, "\\xe8\\xaex");
}

static void a_long_text_ends_in_an_ellipsis_between_characters(void **state)
{
    (void)state;
    assert_safe(HS_STR("abcdef"), 6, "abcdef");
    assert_safe(HS_STR("abcdef"), 5, "abcde…");
    assert_safe(HS_STR("ab训练"), 8, "ab训练");
    assert_safe(HS_STR("ab训练"), 7, "ab训…"); /* our own cut tore it: it goes whole */
    assert_safe(HS_STR("ab训练"), 6, "ab训…");
    assert_safe(HS_STR("ab训练"), 5, "ab训…");
    assert_safe(HS_STR("ab训练"), 4, "ab…");
    assert_safe(HS_STR("a🚀b"), 4, "a…");
    assert_safe(HS_STR("abc"), 0, "…");
}

/* ---- ranks ---- */

static void assert_ranks(const uint32_t *ranks, size_t count, size_t max_runs, const char *want)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_ranks_put(&buf, ranks, count, max_runs);
    assert_string_equal(buf.p ? buf.p : "", want);
    hs_buf_release(&buf);
}

#define RANKS(...) (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4

static void ranks_are_told_in_runs(void **state)
{
    (void)state;
    assert_ranks(NULL, 0, 8, "");
    assert_ranks(RANKS(5), 8, "5");
    assert_ranks(RANKS(0, 1), 8, "0, 1");
    assert_ranks(RANKS(0, 1, 2), 8, "0-2");
    assert_ranks(RANKS(0, 1, 2, 7, 9, 10), 8, "0-2, 7, 9, 10");
    assert_ranks(RANKS(0, 2, 4, 5, 6), 2, "0, 2 and 3 more");
    assert_ranks(RANKS(0, 2), 2, "0, 2");
    assert_ranks(RANKS(UINT32_MAX - 1, UINT32_MAX), 2, "4294967294, 4294967295");
}

static void sorted_numbers_are_found(void **state)
{
    static const uint32_t numbers[] = { 1, 5, UINT32_MAX };

    (void)state;
    assert_true(hs_u32_contains(numbers, 3, 1));
    assert_true(hs_u32_contains(numbers, 3, UINT32_MAX));
    assert_false(hs_u32_contains(numbers, 3, 4));
    assert_false(hs_u32_contains(NULL, 0, 4));
    assert_true(hs_compare_u32(&numbers[2], &numbers[0]) > 0); /* not by difference */
}

/* ---- err ---- */

static void print_into(const struct hs_err *err, char *text, size_t size)
{
    FILE *out = tmpfile();
    size_t n;

    assert_non_null(out);
    hs_err_print(err, out);
    rewind(out);
    n = fread(text, 1, size - 1, out);
    text[n] = '\0';
    (void)fclose(out);
}

static void causes_are_told_outermost_first(void **state)
{
    struct hs_err err = { .n = 0 };
    char text[256];

    (void)state;
    assert_int_equal(hs_fail(&err, HS_EIO, "disk %d is full", 3), HS_EIO);
    assert_int_equal(hs_note(&err, HS_EIO, "cannot write %s", "x"), HS_EIO);
    print_into(&err, text, sizeof(text));
    assert_string_equal(text, "hangscope: cannot write x\n  because: disk 3 is full\n");
}

static void a_long_chain_keeps_its_root(void **state)
{
    struct hs_err err = { .n = 0 };

    (void)state;
    assert_int_equal(hs_no_memory(&err), HS_ENOMEM);
    for (int i = 0; i < 20; i++)
        assert_int_equal(hs_note(&err, HS_ENOMEM, "note %d", i), HS_ENOMEM);
    assert_int_equal(err.n, HS_CAUSES_MAX);
    assert_string_equal(err.causes[0].text, "out of memory");
    assert_string_equal(err.causes[HS_CAUSES_MAX - 1].text, "note 6");
}

static void a_long_cause_is_cut(void **state)
{
    struct hs_err err = { .n = 0 };
    char path[2000];

    (void)state;
    memset(path, 'p', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    (void)hs_fail(&err, HS_EUSAGE, "%s", path);
    assert_int_equal(strlen(err.causes[0].text), sizeof(err.causes[0].text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_compare_by_bytes),
        cmocka_unit_test(an_arena_hands_out_zeroed_aligned_memory),
        cmocka_unit_test(an_arena_takes_what_is_larger_than_a_block),
        cmocka_unit_test(an_absurd_size_is_refused),
        cmocka_unit_test(texts_in_an_arena_end_in_zero),
        cmocka_unit_test(arrays_grow_by_doubling_and_within_bounds),
        cmocka_unit_test(equal_bytes_get_equal_numbers),
        cmocka_unit_test(a_table_grows_and_keeps_its_numbers),
        cmocka_unit_test(colliding_texts_stay_apart),
        cmocka_unit_test(a_hash_is_the_same_on_every_machine),
        cmocka_unit_test(a_buffer_grows_and_stays_a_text),
        cmocka_unit_test(valid_text_stays_as_it_is),
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(invalid_utf8_is_shown_byte_by_byte),
        cmocka_unit_test(a_long_text_ends_in_an_ellipsis_between_characters),
        cmocka_unit_test(ranks_are_told_in_runs),
        cmocka_unit_test(sorted_numbers_are_found),
        cmocka_unit_test(causes_are_told_outermost_first),
        cmocka_unit_test(a_long_chain_keeps_its_root),
        cmocka_unit_test(a_long_cause_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
