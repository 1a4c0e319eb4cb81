/* test_pattern.c - expressions over lines: names, limits, threads. */
#include "parsers/pattern.h"

#include "base/limits.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static struct hs_pattern *make(const char *expression)
{
    struct hs_pattern *pattern = NULL;
    struct hs_err err = { .n = 0 };

    assert_int_equal(hs_pattern_new(hs_str_of(expression), &pattern, &err), HS_OK);
    assert_non_null(pattern);
    return pattern;
}

/* Search and write "name=value ..." of what was captured; NULL: no match. */
static const char *captured(const char *expression, struct hs_str text, bool continued,
                            struct hs_matching *matching)
{
    static char out[512];
    struct hs_pattern *pattern = make(expression);
    struct hs_str values[HS_PATTERN_NAMES_MAX];
    struct hs_str whole;
    enum hs_match match = hs_pattern_search(pattern, matching, text, continued, values, &whole);
    int n = 0;

    out[0] = '\0';
    if (match == HS_MATCH_YES) {
        n = snprintf(out, sizeof(out), "[%.*s]", HS_STR_ARG(whole));
        for (uint32_t i = 0; i < hs_pattern_name_count(pattern); i++)
            if (values[i].p)
                n += snprintf(out + n, sizeof(out) - (size_t)n, " %.*s=%.*s",
                              HS_STR_ARG(hs_pattern_name(pattern, i)), HS_STR_ARG(values[i]));
    }
    hs_pattern_free(pattern);
    return match == HS_MATCH_YES ? out : NULL;
}

static const struct {
    const char *expression, *text, *expected; /* NULL: no match */
    bool continued;
} cases[] = {
    { "a(?<n>\\d+)", "xa12b", "[a12] n=12", false },
    { "a(?<n>\\d+)", "xab", NULL, false },
    /* a name may stand in several alternatives; what did not take part captures nothing */
    { "(?:a(?<n>\\d)|b(?<n>\\d)(?<m>x)?)", "b7", "[b7] n=7", false },
    { "(?:a(?<n>\\d)|b(?<n>\\d)(?<m>x)?)", "a1", "[a1] n=1", false },
    { "(?<all>k=(?<v>.*))", "k=", "[k=] all=k= v=", false },
    /* parentheses without a name capture nothing */
    { "(a|b)(?<n>c)", "bc", "[bc] n=c", false },
    /* a dot is any byte, $ is the very end, ^ the start of the whole text */
    { "^(?<t>.+)$", "a\nb\n", "[a\nb\n] t=a\nb\n", false },
    { "^b", "a\nb", NULL, false },
    { "^a", "a", NULL, true },
    { "a$", "a\n", NULL, false },
    /* what looks like a name in a class or behind a backslash is none */
    { "[(?<x>]\\(?<y(?<z>.)", "?<yq", "[?<yq] z=q", false },
    { "[]a](?<z>[^]b])", "]x", "[]x] z=x", false },
};

static void expressions_capture_by_name(void **state)
{
    struct hs_matching *matching = hs_matching_new();

    (void)state;
    assert_non_null(matching);
    for (int interpreted = 0; interpreted < 2; interpreted++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const char *got = captured(cases[i].expression, hs_str_of(cases[i].text),
                                       cases[i].continued, matching);

            if (!got || !cases[i].expected ? got != cases[i].expected
                                           : strcmp(got, cases[i].expected) != 0)
                fail_msg("%s on '%s': %s", cases[i].expression, cases[i].text, got ? got : "none");
        }
        hs_matching_interpret(matching);
    }
    hs_matching_free(matching);
}

static void any_bytes_are_text(void **state)
{
    static const char bytes[] = "\x00\xff\xc3\x28\x00k=\xf0\x80\x00";
    struct hs_matching *matching = hs_matching_new();
    struct hs_pattern *pattern = make("k=(?<v>.*)$");
    struct hs_str value;
    struct hs_str text = { .p = bytes, .n = sizeof(bytes) - 1 };

    (void)state;
    assert_non_null(matching);
    assert_int_equal(hs_pattern_search(pattern, matching, text, false, &value, NULL), HS_MATCH_YES);
    assert_int_equal(value.n, 3);
    text = (struct hs_str){ .p = NULL };
    assert_int_equal(hs_pattern_search(pattern, matching, text, false, &value, NULL), HS_MATCH_NO);
    hs_pattern_free(pattern);
    hs_matching_free(matching);
}

static void what_is_no_expression_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *expression, *words;
    } bad[] = {
        { "a(b", "at offset 3" },
        { "(?<n>a)(?P<m>b)", "names in another form" },
        { "x{3", NULL },
    };
    struct hs_matching *matching = hs_matching_new();

    (void)state;
    assert_non_null(matching);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hs_pattern *pattern = make(bad[i].expression);
        struct hs_str values[HS_PATTERN_NAMES_MAX];
        struct hs_err err = { .n = 0 };
        enum hs_status status = hs_pattern_check(pattern, &err);

        assert_int_equal(status, bad[i].words ? HS_EUSAGE : HS_OK);
        if (bad[i].words) {
            assert_non_null(strstr(err.causes[0].text, bad[i].words));
            assert_int_equal(
                hs_pattern_search(pattern, matching, HS_STR("ab"), false, values, NULL),
                HS_MATCH_NO);
        }
        hs_pattern_free(pattern);
    }
    hs_matching_free(matching);
}

static void there_are_only_so_many_names(void **state)
{
    char text[2048] = "";
    struct hs_pattern *pattern = NULL;
    struct hs_err err = { .n = 0 };

    (void)state;
    for (unsigned i = 0; i <= HS_PATTERN_NAMES_MAX; i++) {
        size_t n = strlen(text);

        assert_int_equal(hs_pattern_new(hs_str_of(text), &pattern, &err), HS_OK);
        assert_int_equal(hs_pattern_name_count(pattern), i);
        hs_pattern_free(pattern);
        (void)snprintf(text + n, sizeof(text) - n, "(?<n%u>a)(?<n%u>b)", i, i);
    }
    assert_int_equal(hs_pattern_new(hs_str_of(text), &pattern, &err), HS_EUSAGE);
}

static void endless_backtracking_is_given_up(void **state)
{
    struct hs_matching *matching = hs_matching_new();
    struct hs_pattern *pattern = make("^(?:(?:a|b)*?)*?(?:(?:a|b)*)*c$");
    struct hs_str values[HS_PATTERN_NAMES_MAX];
    char text[200];

    (void)state;
    assert_non_null(matching);
    memset(text, 'a', sizeof(text));
    text[198] = 'c'; /* or it would see at once that there is none */
    for (int interpreted = 0; interpreted < 2; interpreted++) {
        assert_int_equal(hs_pattern_search(pattern, matching,
                                           (struct hs_str){ .p = text, .n = sizeof(text) }, false,
                                           values, NULL),
                         HS_MATCH_LIMIT);
        hs_matching_interpret(matching);
    }
    hs_pattern_free(pattern);
    hs_matching_free(matching);
}

struct searcher {
    struct hs_pattern *pattern;
    unsigned right;
};

static void *search_often(void *arg)
{
    struct searcher *me = arg;
    struct hs_matching *matching = hs_matching_new();
    struct hs_str value = { .p = NULL };

    for (int i = 0; matching && i < 100; i++)
        me->right += hs_pattern_search(me->pattern, matching, HS_STR("rank 17 waits"), false,
                                       &value, NULL) == HS_MATCH_YES &&
                     hs_str_is(value, "17");
    hs_matching_free(matching);
    return NULL;
}

static void threads_may_come_first_together(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct hs_pattern *pattern = make("rank (?<rank>\\d+)");
        struct searcher searchers[4];
        pthread_t threads[4];

        for (int i = 0; i < 4; i++) {
            searchers[i] = (struct searcher){ .pattern = pattern };
            assert_int_equal(pthread_create(&threads[i], NULL, search_often, &searchers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(searchers[i].right, 100);
        }
        hs_pattern_free(pattern);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_capture_by_name),
        cmocka_unit_test(any_bytes_are_text),
        cmocka_unit_test(what_is_no_expression_is_refused_with_its_place),
        cmocka_unit_test(there_are_only_so_many_names),
        cmocka_unit_test(endless_backtracking_is_given_up),
        cmocka_unit_test(threads_may_come_first_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
