/* test_rules.c - the text of rules: what is read of it, and what is refused with file and line. */
#include "analyzer/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

#define HEADER                                                                                     \
    "-- id: disk-on-fire\n"                                                                        \
    "-- code: misconfigured\n"                                                                     \
    "-- role: cascade\n"                                                                           \
    "-- severity: error\n"                                                                         \
    "-- title: The disk burns\n"

static int setup(void **state)
{
    static struct hs_rules rules;

    hs_rules_init(&rules);
    *state = &rules;
    return 0;
}

static int teardown(void **state)
{
    hs_rules_release(*state);
    return 0;
}

static void add(struct hs_rules *rules, const char *text)
{
    struct hs_err err = { .n = 0 };

    assert_int_equal(hs_rules_add(rules, "own.sql", hs_str_of(text), &err), HS_OK);
}

static void assert_text(struct hs_str text, const char *expected)
{
    assert_true(hs_str_is(text, expected));
}

/* ---- what is read ---- */

static void a_rule_is_a_header_and_a_select(void **state)
{
    struct hs_rules *rules = *state;
    const struct hs_rule *rule;

    add(rules, "-- A note before it.\n\n" HEADER "-- cause: small-shm\n"
               "-- see: https://disk.example/fire: help\n"
               "SELECT id AS event\nFROM event;\n");
    assert_int_equal(rules->count, 1);
    rule = hs_rule_find(rules, "disk-on-fire");
    assert_non_null(rule);
    assert_string_equal(rule->code, "misconfigured");
    assert_string_equal(rule->cause, "small-shm");
    assert_int_equal(rule->role, HS_CASCADE);
    assert_int_equal(rule->severity, HS_ERROR);
    assert_string_equal(rule->title[HS_ENGLISH], "The disk burns");
    assert_null(rule->title[HS_CHINESE]);
    assert_string_equal(rule->see, "https://disk.example/fire: help");
    assert_string_equal(rule->place, "own.sql:3");
    assert_text(rule->sql, "SELECT id AS event\nFROM event");
    assert_null(rule->product);
}

static void values_go_on_in_indented_lines(void **state)
{
    const struct hs_rule *rule;

    add(*state, HEADER "-- means: First words\n"
                       "--   and more of them.\n"
                       "-- means.zh: 前半句，\n"
                       "--   后半句。\n"
                       "-- see:\n"
                       "--   https://disk.example/a-long-address\n"
                       "SELECT 1 AS rank");
    rule = hs_rule_find(*state, "disk-on-fire");
    assert_string_equal(rule->means[HS_ENGLISH], "First words and more of them.");
    assert_string_equal(rule->means[HS_CHINESE], "前半句，后半句。");
    assert_string_equal(rule->see, "https://disk.example/a-long-address");
}

static void no_code_is_a_finding(void **state)
{
    add(*state, "-- id: a-note\n-- code: -\n-- role: confirmation\n-- severity: note\n"
                "-- title: T\nSELECT 1 AS rank");
    assert_null(hs_rule_find(*state, "a-note")->code);
}

static void a_text_holds_several(void **state)
{
    struct hs_rules *rules = *state;

    add(rules, HEADER "SELECT 1 AS rank;\n"
                      "-- id: cable-eaten\n-- code: -\n-- title: T\n"
                      "SELECT 2 AS rank\n"
                      "-- a comment of the SELECT\n"
                      "UNION ALL SELECT 3;\n");
    assert_int_equal(rules->count, 2);
    assert_string_equal(rules->rows[0].id, "cable-eaten");
    assert_string_equal(rules->rows[0].place, "own.sql:7");
    assert_text(rules->rows[0].sql,
                "SELECT 2 AS rank\n-- a comment of the SELECT\nUNION ALL SELECT 3");
    assert_text(rules->rows[1].sql, "SELECT 1 AS rank");
}

static void lines_may_end_in_carriage_returns(void **state)
{
    const struct hs_rule *rule;

    add(*state, "-- id: disk-on-fire\r\n-- code: -\r\n-- title: Burns\r\nSELECT 1 AS rank;\r\n");
    rule = hs_rule_find(*state, "disk-on-fire");
    assert_string_equal(rule->title[HS_ENGLISH], "Burns");
    assert_text(rule->sql, "SELECT 1 AS rank");
}

static void nothing_holds_nothing(void **state)
{
    struct hs_rules *rules = *state;

    add(rules, "");
    add(rules, "\n-- only a comment\n");
    assert_int_equal(rules->count, 0);
    assert_null(hs_rule_find(rules, "disk-on-fire"));
}

/* ---- what is refused ---- */

static const struct {
    const char *text, *message;
} refused[] = {
    { "SELECT 1 AS rank;", "own.sql:1: a rule begins with '-- id: ...': SELECT 1 AS rank;" },
    { "\n\n-- id: x\n-- title: T\nSELECT 1", "own.sql:3: the header lacks a key: code" },
    { "-- id: x\n-- code: -\nSELECT 1", "own.sql:1: the header lacks a key: title" },
    { "-- id:\n-- code: -\n-- title: T\nSELECT 1", "own.sql:1: the header lacks a key: id" },
    { HEADER "-- titel: T\nSELECT 1", "own.sql:6: a header has no such key: titel" },
    { HEADER "-- title: T\nSELECT 1", "own.sql:6: this key was already given: title" },
    { HEADER "-- a few words\nSELECT 1", "own.sql:6: a header line is 'key: value': a few words" },
    { "-- id: x\n-- severity: error\n--   or so\nSELECT 1",
      "own.sql:3: this line goes on with nothing: or so" },
    { "-- id: x\n-- role: witness\nSELECT 1", "own.sql:2: this is no role: witness" },
    { "-- id: x\n-- severity: bad\nSELECT 1", "own.sql:2: this is no severity: bad" },
    { "-- id: x\n-- code: burnt\n-- title: T\nSELECT 1",
      "own.sql:1: this is no code of a verdict: burnt" },
    { "-- id: x\n-- code: small-shm\n-- title: T\nSELECT 1",
      "own.sql:1: this is no code of a verdict: small-shm" },
    { HEADER "-- cause: rain\nSELECT 1", "own.sql:1: this is no cause of a verdict: rain" },
    { "-- id: On Fire\n-- code: -\n-- title: T\nSELECT 1",
      "own.sql:1: an id is words of a-z and 0-9 with hyphens between: On Fire" },
    { "-- id: fire-\n-- code: -\n-- title: T\nSELECT 1",
      "own.sql:1: an id is words of a-z and 0-9 with hyphens between: fire-" },
    { "-- id: rank-died\n-- code: -\n-- title: T\nSELECT 1",
      "own.sql:1: this id already means something else: rank-died" },
    { HEADER "SELECT 1;\n" HEADER "SELECT 1",
      "own.sql:7: there is already a rule of this id: disk-on-fire" },
    { HEADER, "own.sql:1: no SELECT follows the header: disk-on-fire" },
    { HEADER " ;; \n", "own.sql:1: no SELECT follows the header: disk-on-fire" },
    { HEADER "-- product: nccl\n-- from: 2.1\nSELECT 1",
      "own.sql:1: product, from and to belong together: disk-on-fire" },
    { HEADER "-- from: 2.1\n-- to: 2.2\nSELECT 1",
      "own.sql:1: product, from and to belong together: disk-on-fire" },
    { HEADER "-- product: nccl' OR 1\n-- from: 2.1\n-- to: 2.2\nSELECT 1",
      "own.sql:1: this is no product: nccl' OR 1" },
    { HEADER "-- product: nccl\n-- from: 2.10\n-- to: 2.9\nSELECT 1",
      "own.sql:1: from and to are no versions in order: disk-on-fire" },
    { HEADER "-- product: nccl\n-- from: v2\n-- to: 2.9\nSELECT 1",
      "own.sql:1: from and to are no versions in order: disk-on-fire" },
};

static void mistakes_are_named_by_file_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct hs_err err = { .n = 0 };
        struct hs_rules rules;

        hs_rules_init(&rules);
        assert_int_equal(hs_rules_add(&rules, "own.sql", hs_str_of(refused[i].text), &err),
                         HS_EUSAGE);
        assert_string_equal(err.causes[0].text, refused[i].message);
        hs_rules_release(&rules);
    }
}

static void an_id_of_the_program_is_taken(void **state)
{
    struct hs_err err = { .n = 0 };

    assert_int_equal(hs_rules_add_own(*state, &err), HS_OK);
    assert_non_null(hs_rule_find(*state, "open-file-limit"));
    assert_int_equal(hs_rules_add(*state, "own.sql",
                                  HS_STR("-- id: open-file-limit\n-- code: -\n-- title: T\n"
                                         "SELECT 1 AS rank"),
                                  &err),
                     HS_EUSAGE);
    assert_string_equal(err.causes[0].text,
                        "own.sql:1: there is already a rule of this id: open-file-limit");
}

/* ---- words and versions ---- */

static void words_are_read_as_they_are_written(void **state)
{
    enum hs_strength strength;
    enum hs_role role;

    (void)state;
    for (int i = HS_ROOT; i <= HS_EXONERATES; i++) {
        assert_true(hs_role_of(hs_str_of(hs_role_word((enum hs_role)i)), &role));
        assert_int_equal(role, i);
    }
    for (int i = HS_LEAD; i <= HS_SURE; i++) {
        assert_true(hs_strength_of(hs_str_of(hs_strength_word((enum hs_strength)i)), &strength));
        assert_int_equal(strength, i);
    }
    assert_false(hs_role_of(HS_STR("roots"), &role));
    assert_false(hs_strength_of(HS_STR(""), &strength));
}

static void versions_are_in_order(void **state)
{
    static const char *const ascending[] = { "1.9",         "1.11.0",   "2.3.0a0",
                                             "2.3.1+cu121", "2.9.10",   "2.10.3",
                                             "2.20.5",      "2.20.5.1", "2.100" };
    uint64_t before = 0, number;

    (void)state;
    for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        assert_true(hs_version_number(hs_str_of(ascending[i]), &number));
        assert_true(number > before);
        before = number;
    }
    assert_true(hs_version_number(HS_STR("2.27"), &before));
    assert_true(hs_version_number(HS_STR("2.27.0"), &number));
    assert_int_equal(number, before);
    assert_false(hs_version_number(HS_STR("v2"), &number));
    assert_false(hs_version_number(HS_STR(""), &number));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rule_is_a_header_and_a_select),
        TEST(values_go_on_in_indented_lines),
        TEST(no_code_is_a_finding),
        TEST(a_text_holds_several),
        TEST(lines_may_end_in_carriage_returns),
        TEST(nothing_holds_nothing),
        TEST(an_id_of_the_program_is_taken),
        cmocka_unit_test(mistakes_are_named_by_file_and_line),
        cmocka_unit_test(words_are_read_as_they_are_written),
        cmocka_unit_test(versions_are_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
