/* test_literals.c - many texts found at once, compared with looking for each. */
#include "parsers/literals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

#define HITS_MAX 4096u

/* The same hits by comparing every literal at every place. */
static size_t find_slowly(const struct hs_str *literals, uint32_t count, struct hs_str text,
                          struct hs_hit *hits)
{
    size_t n = 0;

    for (size_t end = 1; end <= text.n; end++) {
        struct hs_str head = { .p = text.p, .n = end };

        for (uint32_t l = 0; l < count && n < HITS_MAX; l++)
            if (hs_str_ends(head, literals[l]))
                hits[n++] = (struct hs_hit){ .literal = l, .end = (uint32_t)end };
    }
    return n;
}

static void compare(const struct hs_str *literals, uint32_t count, struct hs_str text)
{
    static struct hs_hit found[HITS_MAX];
    static struct hs_hit expected[HITS_MAX];
    struct hs_literals *automaton = hs_literals_new(literals, count);
    size_t n;

    assert_non_null(automaton);
    n = hs_literals_find(automaton, text, found, HITS_MAX);
    assert_int_equal(n, find_slowly(literals, count, text, expected));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(found[i].literal, expected[i].literal);
        assert_int_equal(found[i].end, expected[i].end);
    }
    hs_literals_free(automaton);
}

static void literals_that_overlap_are_all_found(void **state)
{
    static const struct hs_str literals[] = {
        { "she", 3 }, { "he", 2 }, { "hers", 4 }, { "his", 3 },
        { "he", 2 },  { "s", 1 },  { "ers", 3 },
    };

    (void)state;
    compare(literals, 7, HS_STR("ushers; she said his was hers, hhehe"));
    compare(literals, 7, HS_STR(""));
    compare(literals, 0, HS_STR("anything"));
    compare(literals, 1, HS_STR("shshesheshe"));
}

static void every_byte_may_be_in_a_literal(void **state)
{
    char bytes[256 + 2];
    struct hs_str literals[256];

    (void)state;
    for (int i = 0; i < 258; i++)
        bytes[i] = (char)i;
    for (uint32_t i = 0; i < 256; i++)
        literals[i] = (struct hs_str){ .p = bytes + i, .n = 1 + i % 3 };
    compare(literals, 256, (struct hs_str){ .p = bytes, .n = sizeof(bytes) });
    compare(literals, 255, (struct hs_str){ .p = bytes, .n = sizeof(bytes) });
    compare(literals, 3, (struct hs_str){ .p = bytes, .n = sizeof(bytes) });
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Texts over few letters, where everything is a part of everything. */
static void random_texts_agree_with_slow_search(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 300; round++) {
        char pool[64];
        char text[120];
        struct hs_str literals[12];
        uint32_t letters = 1 + next_random(&seed) % 3;
        uint32_t count = 1 + next_random(&seed) % 12;

        for (size_t i = 0; i < sizeof(pool); i++)
            pool[i] = (char)('a' + next_random(&seed) % letters);
        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = (char)('a' + next_random(&seed) % (letters + 1));
        for (uint32_t l = 0; l < count; l++)
            literals[l] = (struct hs_str){ .p = pool + next_random(&seed) % 56,
                                           .n = 1 + next_random(&seed) % 8 };
        compare(literals, count, (struct hs_str){ .p = text, .n = sizeof(text) });
    }
}

static void hits_beyond_the_room_are_counted(void **state)
{
    static const struct hs_str literals[] = { { "aa", 2 }, { "a", 1 } };
    struct hs_literals *automaton = hs_literals_new(literals, 2);
    struct hs_hit hits[3] = { { .literal = 9 }, { .literal = 9 }, { .literal = 9 } };

    (void)state;
    assert_non_null(automaton);
    assert_int_equal(hs_literals_find(automaton, HS_STR("aaaa"), hits, 2), 7);
    assert_int_equal(hits[0].literal, 1);
    assert_int_equal(hits[1].literal, 0);
    assert_int_equal(hits[1].end, 2);
    assert_int_equal(hits[2].literal, 9);
    assert_int_equal(hs_literals_find(automaton, HS_STR("aaaa"), NULL, 0), 7);
    hs_literals_free(automaton);
    hs_literals_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_that_overlap_are_all_found),
        cmocka_unit_test(every_byte_may_be_in_a_literal),
        cmocka_unit_test(random_texts_agree_with_slow_search),
        cmocka_unit_test(hits_beyond_the_room_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
