/* test_messages.c - the catalogs: complete in both languages, with the same slots, without clashes.
 */
#include "schema/messages.h"

#include "analyzer/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

enum { SLOTS_MAX = 32 };

/* The slots of a template: "{name}", "{name?one|many}" or "{name?one|many|none}". */
struct slots {
    struct hs_str names[SLOTS_MAX];
    unsigned count;
};

static bool is_name(struct hs_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (!((text.p[i] >= 'a' && text.p[i] <= 'z') || text.p[i] == '_'))
            return false;
    }
    return text.n > 0;
}

/* Take the slot that begins at `at` ("{"); where it ends, or NULL when it is malformed. */
static const char *take_slot(const char *at, struct slots *slots)
{
    const char *close = strchr(at, '}'), *ask;
    unsigned bars = 0;
    struct hs_str name;

    if (!close || slots->count == SLOTS_MAX)
        return NULL;
    ask = memchr(at, '?', (size_t)(close - at));
    for (const char *p = ask; p && p < close; p++)
        bars += *p == '|';
    name = (struct hs_str){ .p = at + 1, .n = (size_t)((ask ? ask : close) - at - 1) };
    if (!is_name(name) || memchr(at + 1, '{', (size_t)(close - at - 1)) || (ask && bars == 0) ||
        bars > 2)
        return NULL;
    for (unsigned i = 0; i < slots->count; i++) {
        if (hs_str_eq(slots->names[i], name))
            return close + 1;
    }
    slots->names[slots->count++] = name;
    return close + 1;
}

/* False when the template is malformed. */
static bool read_slots(const char *text, struct slots *slots)
{
    slots->count = 0;
    for (const char *at = text; at && *at;) {
        at += strcspn(at, "{}");
        if (*at == '}')
            return false;
        if (*at == '{')
            at = take_slot(at, slots);
        if (!at)
            return false;
    }
    return true;
}

static bool has_slot(const struct slots *slots, struct hs_str name)
{
    for (unsigned i = 0; i < slots->count; i++) {
        if (hs_str_eq(slots->names[i], name))
            return true;
    }
    return false;
}

static void templates_are_well_formed(void **state)
{
    const char *key;
    struct slots slots = { .count = 0 };

    (void)state;
    for (size_t i = 0; (key = hs_message_key(i)); i++) {
        for (unsigned language = 0; language < HS_LANGUAGES; language++) {
            const char *text = hs_message(key, (enum hs_language)language);

            if (text && (!*text || !read_slots(text, &slots)))
                fail_msg("%s in language %u: %s", key, language, text);
            if (text && slots.count > HS_PHRASE_ARGS)
                fail_msg("%s: %u slots, a phrase holds %d", key, slots.count, HS_PHRASE_ARGS);
        }
    }
}

static void malformed_templates_are_seen(void **state)
{
    static const char *const bad[] = { "{",     "a {b",        "b}",     "{}", "{?a|b}",
                                       "{a?b}", "{a?b|c|d|e}", "{a{b}}", "{A}" };
    struct slots slots = { .count = 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(read_slots(bad[i], &slots));
    assert_true(read_slots("rank{ranks?|s} {ranks} of {group}", &slots));
    assert_int_equal(slots.count, 2);
}

static void every_sentence_stands_in_both_languages_with_the_same_slots(void **state)
{
    unsigned bad = 0;
    const char *key;

    (void)state;
    for (size_t i = 0; (key = hs_message_key(i)); i++) {
        const char *english = hs_message(key, HS_ENGLISH), *chinese = hs_message(key, HS_CHINESE);
        struct slots one = { .count = 0 }, other = { .count = 0 };

        if (!chinese) {
            print_error("%s is not said in Chinese\n", key);
            bad++;
            continue;
        }
        assert_true(read_slots(english, &one) && read_slots(chinese, &other));
        for (unsigned k = 0; k < one.count; k++) {
            if (!has_slot(&other, one.names[k])) {
                print_error("%s: Chinese lacks {%.*s}\n", key, HS_STR_ARG(one.names[k]));
                bad++;
            }
        }
        for (unsigned k = 0; k < other.count; k++) {
            if (!has_slot(&one, other.names[k])) {
                print_error("%s: English lacks {%.*s}\n", key, HS_STR_ARG(other.names[k]));
                bad++;
            }
        }
    }
    assert_int_equal(bad, 0);
}

static void no_key_stands_twice(void **state)
{
    const char *key;

    (void)state;
    for (size_t i = 0; (key = hs_message_key(i)); i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(key, hs_message_key(k));
    }
    assert_null(hs_message_key(SIZE_MAX));
    assert_null(hs_message("no.such.key", HS_ENGLISH));
}

/* ---- topics ---- */

static void topics_stand_in_both_languages(void **state)
{
    const struct hs_topic *t, *other;
    unsigned bad = 0;

    (void)state;
    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)); i++) {
        other = hs_topic_find(t->code, HS_CHINESE);
        if (other == t) { /* what Chinese lacks is said in English */
            print_error("%s has no page in Chinese\n", t->code);
            bad++;
            continue;
        }
        assert_int_equal(t->kind, other->kind);
        assert_true(!t->severity == !other->severity);
        if (t->severity)
            assert_string_equal(t->severity, other->severity);
        assert_true(*t->title && *t->means && *other->title && *other->means);
        assert_true(!*t->remedy == !*other->remedy);
    }
    assert_int_equal(bad, 0);
}

static void no_topic_stands_twice(void **state)
{
    const struct hs_topic *t;

    (void)state;
    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)); i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(t->code, hs_topic_at(k, HS_ENGLISH)->code);
    }
}

static void topics_are_kebab_case_and_graded(void **state)
{
    const struct hs_topic *t;

    (void)state;
    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)); i++) {
        bool graded = t->kind != HS_TOPIC_CODE && t->kind != HS_TOPIC_CAUSE;

        if (strspn(t->code, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(t->code))
            fail_msg("%s", t->code);
        if (graded)
            assert_true(strcmp(t->severity, "note") == 0 || strcmp(t->severity, "warning") == 0 ||
                        strcmp(t->severity, "error") == 0);
        else
            assert_null(t->severity);
    }
}

static void every_code_that_can_be_decided_has_a_page(void **state)
{
    static const char *const codes[] = {
        "gpu-fault",         "rank-died",      "misconfigured",  "shm-exhausted",
        "peer-access-fault", "network-fault",  "order-mismatch", "size-mismatch",
        "dtype-mismatch",    "group-deadlock", "p2p-mismatch",   "gpu-stall",
        "rank-slow",         "rank-missing",   "init-stuck",     "collective-stuck",
        "version-mismatch",  "known-bug",      "healthy",        "undetermined",
    };
    const struct hs_topic *t;
    size_t pages = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        t = hs_topic_find(codes[i], HS_ENGLISH);
        if (!t || t->kind != HS_TOPIC_CODE)
            fail_msg("%s has no page", codes[i]);
    }
    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)); i++) {
        pages += t->kind == HS_TOPIC_CODE;
        if (t->kind == HS_TOPIC_CODE)
            assert_int_not_equal(hs_row_of(t->code), 'z');
    }
    assert_int_equal(pages, sizeof(codes) / sizeof(codes[0]));
    assert_null(hs_topic_find("no-such-topic", HS_CHINESE));
}

/* ---- phrases ---- */

static void assert_says(const struct hs_phrase *phrase, const char *want)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_phrase_put(&buf, phrase, HS_ENGLISH);
    assert_string_equal(buf.p ? buf.p : "", want);
    hs_buf_release(&buf);
}

static void a_count_chooses_the_form(void **state)
{
    struct hs_phrase none = { .key = NULL };
    struct hs_phrase one = { .key = "screen.unseen.ranks" }, many = one;

    (void)state;
    assert_says(&none, "");
    hs_phrase_add(&one, "ranks", HS_STR("3"), 1);
    assert_says(&one, "rank 3 left no dump");
    hs_phrase_add(&many, "ranks", HS_STR("3-5"), 3);
    assert_says(&many, "ranks 3-5 left no dump");
}

static void what_is_inserted_is_no_template(void **state)
{
    struct hs_phrase phrase = { .key = "screen.unseen.ranks" };

    (void)state;
    hs_phrase_add(&phrase, "ranks", HS_STR("{ranks} {x?"), 1);
    assert_says(&phrase, "rank {ranks} {x? left no dump");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_well_formed),
        cmocka_unit_test(malformed_templates_are_seen),
        cmocka_unit_test(every_sentence_stands_in_both_languages_with_the_same_slots),
        cmocka_unit_test(no_key_stands_twice),
        cmocka_unit_test(topics_stand_in_both_languages),
        cmocka_unit_test(no_topic_stands_twice),
        cmocka_unit_test(topics_are_kebab_case_and_graded),
        cmocka_unit_test(every_code_that_can_be_decided_has_a_page),
        cmocka_unit_test(a_count_chooses_the_form),
        cmocka_unit_test(what_is_inserted_is_no_template),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
