/* test_families.c - every family recognises its examples; the stanzas; the hot layouts. */
#include "line_lab.h"
#include "parsers/families_internal.h"

#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

/* Which families the records of some lines were. */
struct seen {
    struct line_lab lab;
    uint64_t families[HS_FAMILIES_MAX / 64];
    uint32_t count;
};

static bool note_found(void *self, const struct hs_record *record, const struct hs_found *found)
{
    struct seen *seen = self;

    (void)record;
    seen->families[found->family / 64] |= 1ull << (found->family % 64);
    seen->count++;
    return true;
}

static void look(struct seen *seen, struct hs_str line)
{
    memset(seen->families, 0, sizeof(seen->families));
    seen->count = 0;
    line_lab_line(&seen->lab, line, 1);
    line_lab_end(&seen->lab);
}

static bool saw(const struct seen *seen, uint32_t family)
{
    return seen->families[family / 64] >> (family % 64) & 1;
}

static void seen_init(struct seen *seen)
{
    line_lab_init(&seen->lab);
    seen->lab.found = note_found;
    seen->lab.self = seen;
}

static void every_example_is_recognised(void **state)
{
    struct seen seen;
    unsigned bad = 0;

    (void)state;
    seen_init(&seen);
    for (uint32_t f = 0; f < seen.lab.families->count; f++) {
        const struct hs_family *family = &seen.lab.families->rows[f];

        for (uint32_t i = 0; family->pattern && i < family->example_count; i++) {
            look(&seen, family->examples[i]);
            if (saw(&seen, f))
                continue;
            print_error("%.*s does not take: %.*s\n", HS_STR_ARG(family->name),
                        HS_STR_ARG(family->examples[i]));
            bad++;
        }
        for (uint32_t i = 0; i < family->counterexample_count; i++) {
            look(&seen, family->counterexamples[i]);
            if (!saw(&seen, f))
                continue;
            print_error("%.*s takes: %.*s\n", HS_STR_ARG(family->name),
                        HS_STR_ARG(family->counterexamples[i]));
            bad++;
        }
    }
    line_lab_release(&seen.lab);
    assert_int_equal(bad, 0);
}

static void every_pattern_compiles(void **state)
{
    struct hs_families *families = NULL;
    struct hs_err err = { .n = 0 };

    (void)state;
    assert_int_equal(hs_families_new(&families, &err), HS_OK);
    for (uint32_t f = 0; f < families->count; f++) {
        err.n = 0;
        if (families->rows[f].pattern && hs_pattern_check(families->rows[f].pattern, &err) != HS_OK)
            fail_msg("%.*s: %s", HS_STR_ARG(families->rows[f].name), err.causes[0].text);
    }
    hs_families_free(families);
}

/* A message of an NCCL line as a record; `prefix` stands in front of it in the segment. */
static struct hs_record make_record(struct hs_str segment, size_t prefix, enum hs_header header,
                                    char level)
{
    return (struct hs_record){ .segment = segment,
                               .text = { .p = segment.p + prefix, .n = segment.n - prefix },
                               .header = header,
                               .level = level };
}

static bool same_values(const struct hs_str *a, const struct hs_str *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].p != b[i].p || a[i].n != b[i].n)
            return false;
    return true;
}

/* What is behind `NCCL INFO ` or `NCCL CALL ` of an example; n 0: it has no such frame. */
static struct hs_str message_of(struct hs_str example)
{
    const char *at = memmem(example.p, example.n, " NCCL ", 6);
    size_t skip = at ? (size_t)(at - example.p) + 11 : example.n;

    return (struct hs_str){ .p = example.p + skip, .n = example.n - skip };
}

/* A layout that fits says what its family's pattern says. Returns whether one fitted. */
static bool compare_hot(const struct hs_families *families, struct hs_matching *matching,
                        struct hs_str text)
{
    struct hs_str values[HS_PATTERN_NAMES_MAX];
    struct hs_str expected[HS_PATTERN_NAMES_MAX];
    struct hs_found found;
    struct hs_str whole;

    while (text.n > 0 && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
        text.n--; /* as hs_families_match() does */
    if (!hs_hot_match(families->memory, text, values, &found))
        return false;
    const struct hs_family *family = &families->rows[found.family];

    if (hs_pattern_search(family->pattern, matching, text, false, expected, &whole) !=
            HS_MATCH_YES ||
        !same_values(values, expected, family->field_count) || whole.p != found.whole.p ||
        whole.n != found.whole.n)
        fail_msg("%.*s: layout and pattern differ on '%.*s'", HS_STR_ARG(family->name),
                 HS_STR_ARG(text));
    return true;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Change some bytes, cut something out, put something in, or cut the end off. */
static struct hs_str mutate(struct hs_str text, char *room, size_t room_bytes, uint32_t *seed)
{
    static const char alphabet[] = "0123456789abcfx[]()<>:/.,- {}=RingChanelTsvi\xff";
    size_t n = text.n < room_bytes / 2 ? text.n : room_bytes / 2;

    memcpy(room, text.p, n);
    for (uint32_t changes = 1 + next_random(seed) % 3; changes > 0 && n > 1; changes--) {
        size_t at = next_random(seed) % n;

        switch (next_random(seed) % 5) {
        case 0:
            memmove(room + at, room + at + 1, n - at - 1);
            n--;
            break;
        case 1:
            memmove(room + at + 1, room + at, n - at);
            n++;
            /* fall through */
        case 2:
            room[at] = alphabet[next_random(seed) % (sizeof(alphabet) - 1)];
            break;
        case 3:
            memcpy(room + n, room + at, n - at < 8 ? n - at : 8);
            n += n - at < 8 ? n - at : 8;
            break;
        default:
            n = at + 1;
        }
    }
    return (struct hs_str){ .p = room, .n = n };
}

static void layouts_say_what_patterns_say(void **state)
{
    struct hs_matching *matching = hs_matching_new();
    struct hs_families *families = NULL;
    struct hs_err err = { .n = 0 };
    uint64_t hot[HS_FAMILIES_MAX / 64] = { 0 };
    uint32_t seed = 1;
    unsigned fitting = 0;
    char room[4096];

    (void)state;
    assert_non_null(matching);
    assert_int_equal(hs_families_new(&families, &err), HS_OK);
    assert_int_equal(families->memory->hot_count, hs_hot_layout_count());
    for (uint32_t f = 0; f < families->count; f++)
        for (uint32_t i = 0; i < families->rows[f].example_count; i++) {
            struct hs_str text = message_of(families->rows[f].examples[i]);

            if (text.n > 0 && compare_hot(families, matching, text))
                hot[f / 64] |= 1ull << (f % 64);
            for (int k = 0; text.n > 0 && k < 400; k++)
                fitting += compare_hot(families, matching, mutate(text, room, sizeof(room), &seed));
        }
    for (uint32_t h = 0; h < families->memory->hot_count; h++) {
        uint32_t f = families->memory->hot[h].family;

        if (!(hot[f / 64] >> (f % 64) & 1))
            fail_msg("no example of %.*s fits its layout", HS_STR_ARG(families->rows[f].name));
    }
    assert_true(fitting > 1000); /* the mutants were not all nonsense */
    hs_families_free(families);
    hs_matching_free(matching);
}

static void an_nccl_line_is_of_one_family(void **state)
{
    struct seen seen;

    (void)state;
    seen_init(&seen);
    for (uint32_t f = 0; f < seen.lab.families->count; f++) {
        const struct hs_family *family = &seen.lab.families->rows[f];

        for (uint32_t i = 0; i < family->example_count; i++) {
            if (!(family->places & HS_IN_NCCL) || message_of(family->examples[i]).n == 0)
                continue;
            look(&seen, family->examples[i]);
            if (seen.count != 1)
                fail_msg("%u families: %.*s", seen.count, HS_STR_ARG(family->examples[i]));
        }
    }
    line_lab_release(&seen.lab);
}

/* Every piece of text that PCRE2 sees takes time in proportion: at most this for the longest. */
#define SEARCH_NS_MAX 5000000

static int64_t search_ns(struct hs_pattern *pattern, struct hs_matching *matching,
                         struct hs_str text)
{
    struct hs_str values[HS_PATTERN_NAMES_MAX];
    int64_t best = INT64_MAX;

    for (int round = 0; round < 5 && best > SEARCH_NS_MAX; round++) {
        struct timespec start;
        struct timespec end;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
        (void)hs_pattern_search(pattern, matching, text, false, values, NULL);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        int64_t ns = (end.tv_sec - start.tv_sec) * 1000000000ll + end.tv_nsec - start.tv_nsec;

        best = ns < best ? ns : best;
    }
    return best;
}

static void try_long_texts(const struct hs_family *family, struct hs_matching *matching,
                           struct hs_str head)
{
    static const char fillings[] = "0a /:,.('[-_=";
    static char text[HS_PATTERN_BYTES_MAX];

    head.n = head.n < sizeof(text) / 2 ? head.n : sizeof(text) / 2;
    for (size_t cut = 0; cut <= head.n; cut += head.n > 40 ? 5 : 1)
        for (const char *filling = fillings; *filling; filling++) {
            memcpy(text, head.p, cut);
            memset(text + cut, *filling, sizeof(text) - cut);
            if (search_ns(family->pattern, matching,
                          (struct hs_str){ .p = text, .n = sizeof(text) }) > SEARCH_NS_MAX)
                fail_msg("%.*s takes long on '%.*s' and then only '%c'", HS_STR_ARG(family->name),
                         (int)cut, head.p, *filling);
        }
}

static void no_text_keeps_a_pattern_busy(void **state)
{
    struct hs_matching *matching = hs_matching_new();
    struct hs_families *families = NULL;
    struct hs_err err = { .n = 0 };

    (void)state;
    assert_non_null(matching);
    assert_int_equal(hs_families_new(&families, &err), HS_OK);
    for (uint32_t f = 0; f < families->count; f++) {
        const struct hs_family *family = &families->rows[f];

        if (!family->pattern)
            continue;
        for (uint32_t i = 0; i < family->literal_count; i++)
            try_long_texts(family, matching, family->literals[i]);
        for (uint32_t i = 0; i < family->example_count && i < 3; i++) {
            struct hs_str message = message_of(family->examples[i]);

            try_long_texts(family, matching, message.n ? message : family->examples[i]);
        }
    }
    hs_families_free(families);
    hs_matching_free(matching);
}

/* Families of its own for the tests below. */
#define HEAD "versions all\nkeep event\nmeans m\nexample e\n"

struct lab {
    struct hs_families *families;
    struct hs_matching *matching;
    char out[512];
    size_t n;
};

static void put(struct lab *lab, struct hs_str text)
{
    size_t room = sizeof(lab->out) - 1 - lab->n;
    size_t n = text.n < room ? text.n : room;

    memcpy(lab->out + lab->n, text.p, n);
    lab->n += n;
    lab->out[lab->n] = '\0';
}

static bool write_found(void *self, const struct hs_record *record, const struct hs_found *found)
{
    struct lab *lab = self;
    const struct hs_family *family = &lab->families->rows[found->family];
    char at[16];

    assert_ptr_equal(record->segment.p + found->at, found->whole.p);
    (void)snprintf(at, sizeof(at), "@%u", found->at);
    put(lab, family->name);
    put(lab, hs_str_of(at));
    for (uint32_t i = 0; i < family->field_count; i++) {
        put(lab, HS_STR(" "));
        if (found->values[i].p)
            put(lab, found->values[i]);
    }
    put(lab, HS_STR(";"));
    return !hs_str_is(family->name, "LAST");
}

static void lab_init(struct lab *lab, const char *text)
{
    struct hs_families_text file = { .group = HS_STR("lab"), .text = hs_str_of(text) };
    struct hs_err err = { .n = 0 };

    *lab = (struct lab){ .matching = hs_matching_new() };
    assert_non_null(lab->matching);
    if (hs_families_read(&file, 1, &lab->families, &err) != HS_OK)
        fail_msg("%s", err.causes[0].text);
}

static void lab_release(struct lab *lab)
{
    hs_families_free(lab->families);
    hs_matching_free(lab->matching);
}

/* The families of the record behind `prefix` bytes, as write_found() writes them. */
static const char *lab_match(struct lab *lab, struct hs_str segment, size_t prefix,
                             enum hs_header header, char level)
{
    static struct hs_hit hits[65536];
    struct hs_record record = make_record(segment, prefix, header, level);
    size_t count = hs_literals_find(lab->families->literals, segment, hits, 65536);

    lab->n = 0;
    lab->out[0] = '\0';
    (void)hs_families_match(lab->families, lab->matching, &record,
                            (struct hs_hits){ hits, count < 65536 ? count : 65536 }, write_found,
                            lab);
    return lab->out;
}

static void places_and_levels_are_respected(void **state)
{
    struct lab lab;
    struct hs_str text = HS_STR("head one two");

    (void)state;
    lab_init(&lab, "[N]\nin nccl\nliteral head\npattern ^one (?<a>.*)\n" HEAD
                   "[C]\nin c10 \nliteral \" two\"\npattern (?<a>two)\n" HEAD
                   "[B]\nin body\nliteral one two\npattern one (?<a>two)\n" HEAD
                   "[A]\nin any\nliteral one two\npattern ^one\n" HEAD
                   "[L]\nin line\nliteral head\npattern ^head\n" HEAD
                   "[O]\nin nccl body\notherwise W E\npattern ^(?<a>.+)\n" HEAD
                   "[COMPOSITE]\nfields a b\n" HEAD);
    /* a literal in front of the record's text is none of its own; the line is matched besides */
    assert_string_equal(lab_match(&lab, text, 5, HS_HEADER_NCCL, 'I'), "L@0;A@5;");
    assert_string_equal(lab_match(&lab, text, 5, HS_HEADER_C10, 'I'), "L@0;A@5;C@9 two;");
    assert_string_equal(lab_match(&lab, text, 5, HS_HEADER_GLOG, 'I'), "L@0;A@5;C@9 two;");
    assert_string_equal(lab_match(&lab, text, 5, HS_HEADER_NONE, 'W'), "L@0;B@5 two;A@5;");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_PYTHON, 0), "L@0;B@5 two;");
    /* what nobody takes, by its level */
    text = HS_STR("three  ");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_NCCL, 'W'), "O@0 three;");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_NONE, 'E'), "O@0 three;");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_C10, 'E'), "");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_NCCL, 'I'), "");
    assert_string_equal(lab_match(&lab, text, 0, HS_HEADER_NONE, 0), "");
    lab_release(&lab);
}

static void taking_may_end(void **state)
{
    struct lab lab;

    (void)state;
    lab_init(&lab, "[BEHIND]\nin body\nliteral text\npattern text\n" HEAD
                   "[LAST]\nin body\nliteral some\npattern some\n" HEAD);
    assert_string_equal(lab_match(&lab, HS_STR("some text"), 0, HS_HEADER_NONE, 0), "LAST@0;");
    assert_string_equal(lab_match(&lab, HS_STR("text, some"), 0, HS_HEADER_NONE, 0),
                        "BEHIND@0;LAST@6;");
    lab_release(&lab);
}

/* A line of `filling`, with `word` at an offset. */
static struct hs_str make_line(char filling, size_t at, struct hs_str word)
{
    static char text[256u << 10];

    memset(text, filling, sizeof(text));
    memcpy(text + at, word.p, word.n);
    return (struct hs_str){ .p = text, .n = sizeof(text) };
}

static void long_lines_are_searched_near_their_literals(void **state)
{
    struct lab lab;
    struct hs_str line = make_line(' ', 0, HS_STR(""));
    char expected[64];

    (void)state;
    lab_init(&lab, "[K]\nin body\nliteral key=\npattern (?<head>\\w*)key=(?<n>\\d+)\n" HEAD
                   "[S]\nin body\nliteral key=\npattern ^x*key=(?<n>\\d+)\n" HEAD);
    for (size_t at = 0; at + 16 < line.n; at += 4093) {
        line = make_line(' ', at, HS_STR("abkey=17 z"));
        (void)snprintf(expected, sizeof(expected), "K@%zu ab 17;", at);
        assert_string_equal(lab_match(&lab, line, 0, HS_HEADER_NONE, 0), expected);
    }
    /* ^ is the start of the record, not of a piece of it */
    line = make_line('x', line.n - 6, HS_STR("key=19"));
    assert_null(strstr(lab_match(&lab, line, 0, HS_HEADER_NONE, 0), "S@"));
    lab_release(&lab);
}

static void literals_that_prove_nothing_hide_none_that_do(void **state)
{
    struct lab lab;
    struct hs_buf line;

    (void)state;
    hs_buf_init(&line);
    lab_init(&lab, "[K]\nin body\nliteral key=\npattern key=(?<n>\\d+)\n" HEAD);
    for (int i = 0; i < 10000; i++)
        hs_buf_put(&line, HS_STR("key=x "));
    hs_buf_put(&line, HS_STR("key=18 "));
    assert_string_equal(lab_match(&lab, hs_buf_str(&line), 0, HS_HEADER_NONE, 0), "K@60000 18;");
    lab_release(&lab);
    hs_buf_release(&line);
}

static void mistakes_in_stanzas_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "versions all\n", "lab.families:1: this stands in no stanza" },
        { "# c\n\n[]\n", "lab.families:3: a family without name" },
        { "[A]\nversion all\n", "lab.families:2: no such key" },
        { "[A]\nversions\n", "lab.families:2: this key has no value" },
        { "[A]\nversions a\nversions b\n", "lab.families:3: this key was already given" },
        { "[A]\nin nccl there\n", "lab.families:2: a place is one of" },
        { "[A]\nkeep it\n", "lab.families:2: keep is one of" },
        { "[A]\nliteral abc\n", "lab.families:2: a literal has at least" },
        { "[A]\nfields a\n", "lab.families:1: the stanza has no versions" },
        { "[A]\nversions a\nfields a\n", "lab.families:1: the stanza has no keep" },
        { "[A]\nversions a\nkeep fact\nfields a\n", "lab.families:1: the stanza has no means" },
        { "[A]\nversions a\nkeep fact\nmeans m\nfields a\n",
          "lab.families:1: the stanza has no example" },
        { "[A]\n" HEAD, "lab.families:1: the stanza has neither pattern nor fields" },
        { "[A]\nfields a\nliteral abcd\n" HEAD, "lab.families:1: a stanza without pattern" },
        { "[A]\nfields a\npattern b\n" HEAD, "lab.families:1: a stanza with a pattern has" },
        { "[A]\npattern b\n" HEAD, "lab.families:1: the stanza does not say where" },
        { "[A]\nin body\npattern b\n" HEAD, "lab.families:1: the stanza has neither literals" },
        { "[A]\nin body\npattern b\nliteral abcd\notherwise W\n" HEAD,
          "lab.families:1: the stanza has neither literals nor otherwise, or both" },
        { "[A]\nin nccl\npattern b\nliteral abcd\n" HEAD,
          "lab.families:1: the pattern of an NCCL message" },
        { "[A]\nfields a\n" HEAD "\n[A]\n", "lab.families:8: this family is already there" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hs_families_text file = { .group = HS_STR("lab"), .text = hs_str_of(bad[i].text) };
        struct hs_families *families = NULL;
        struct hs_err err = { .n = 0 };

        assert_int_equal(hs_families_read(&file, 1, &families, &err), HS_EUSAGE);
        assert_null(families);
        if (!hs_str_starts(hs_str_of(err.causes[0].text), hs_str_of(bad[i].words)))
            fail_msg("'%s', not '%s'", err.causes[0].text, bad[i].words);
    }
}

static void stanzas_are_read(void **state)
{
    struct lab lab;
    const struct hs_family *family;

    (void)state;
    lab_init(&lab,
             "# a comment\n[A_1]  \n  versions  1 and later\t\nin body  c10\n"
             "literal  \" two \"\nliteral \"\"quoted\"\"\npattern (?<x>a)(?<y>b)\nkeep count\n"
             "means   it means this\nexample \"  blanks \"\nexample another\nnot this\n"
             "[B]\nfields p q r\n" HEAD);
    assert_int_equal(lab.families->count, 2);
    family = &lab.families->rows[0];
    assert_true(hs_str_is(family->name, "A_1"));
    assert_true(hs_str_is(family->group, "lab"));
    assert_true(hs_str_is(family->versions, "1 and later"));
    assert_int_equal(family->places, HS_IN_BODY | HS_IN_C10);
    assert_int_equal(family->literal_count, 2);
    assert_true(hs_str_is(family->literals[0], " two "));
    assert_true(hs_str_is(family->literals[1], "\"quoted\""));
    assert_int_equal(family->keep, HS_KEEP_COUNT);
    assert_int_equal(family->example_count, 2);
    assert_true(hs_str_is(family->examples[0], "  blanks "));
    assert_int_equal(family->counterexample_count, 1);
    assert_int_equal(family->field_count, 2);
    assert_true(hs_str_is(family->fields[1], "y"));
    assert_int_equal(lab.families->owner[family->first_literal + 1], 0);
    family = &lab.families->rows[1];
    assert_null(family->pattern);
    assert_int_equal(family->field_count, 3);
    assert_true(hs_str_is(family->fields[2], "r"));
    assert_int_equal(hs_family_find(lab.families, "B"), 1);
    assert_int_equal(hs_family_find(lab.families, "C"), HS_NO_ID);
    lab_release(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stanzas_are_read),
        cmocka_unit_test(mistakes_in_stanzas_are_refused_with_their_line),
        cmocka_unit_test(places_and_levels_are_respected),
        cmocka_unit_test(taking_may_end),
        cmocka_unit_test(long_lines_are_searched_near_their_literals),
        cmocka_unit_test(literals_that_prove_nothing_hide_none_that_do),
        cmocka_unit_test(every_pattern_compiles),
        cmocka_unit_test(every_example_is_recognised),
        cmocka_unit_test(an_nccl_line_is_of_one_family),
        cmocka_unit_test(layouts_say_what_patterns_say),
        cmocka_unit_test(no_text_keeps_a_pattern_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
