/* test_options.c - command lines, and the values or the message that they give. */
#include "analyzer/commands/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka wants the above before itself */
#include <cmocka.h>

enum { WORDS_MAX = 12 };

/* A command line as one text: words are separated by single spaces. */
struct line {
    char text[512];
    char *words[WORDS_MAX];
    int count;
};

static void split(struct line *line, const char *text)
{
    char *save = NULL;

    line->count = 0;
    (void)snprintf(line->text, sizeof(line->text), "%s", text);
    for (char *w = strtok_r(line->text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        line->words[line->count++] = w;
}

/* ---- lines that are refused ---- */

static const struct {
    const char *command, *line, *message; /* a part of the root cause */
} refused[] = {
    { "analyze", "--no-such", "there is no option '--no-such'" },
    { "analyze", "-z", "there is no option '-z'" },
    { "analyze", "-vz", "there is no option '-vz'" },
    { "analyze", "--jsonl", "there is no option '--jsonl'" },
    { "analyze", "--jso", "there is no option '--jso'" },
    { "analyze", "--list", "there is no option '--list'" }, /* of another command */
    { "explain", "--world-size 4", "there is no option '--world-size'" },
    { "help", "--json", "there is no option '--json'" },
    { "analyze", "--json=yes", "--json takes no value" },
    { "analyze", "dumps --world-size", "--world-size needs a value" },
    { "analyze", "-j", "-j needs a value" },
    { "analyze", "-j 0", "'0' is not a number of threads" },
    { "analyze", "-j257", "'257' is not a number of threads" },
    { "analyze", "-j four", "'four' is not a number of threads" },
    { "analyze", "-j 4x", "'4x' is not a number of threads" },
    { "analyze", "-j -4", "'-4' is not a number of threads" },
    { "analyze", "--world-size 0", "'0' is not a number of ranks" },
    { "analyze", "--world-size 10000001", "is not a number of ranks" },
    { "analyze", "--world-size 99999999999999999999999", "is not a number of ranks" },
    { "analyze", "--world-size +4", "'+4' is not a number of ranks" },
    { "analyze", "--world-size=", "'' is not a number of ranks" },
    { "analyze", "--color=red", "'red' is not one of auto, always, never" },
    { "analyze", "--progress always", "'always' is not one of auto, never" },
    { "analyze", "--lang de", "'de' is not one of en, zh" },
    { "analyze", "--input-format csv", "there is no format 'csv'" },
    { "analyze", "--fail-on rank-mising", "'rank-mising' is neither any, high" },
    { "analyze", "--fail-on rank-missing,,any", "'' is neither any, high" },
    { "analyze", "--fail-on uneven-steps", "'uneven-steps' is neither any, high" },
    { "analyze", "--rank-map /no/such/file", "cannot read '/no/such/file'" },
    { "analyze", "--rules /no/such/file", "--rules: cannot read '/no/such/file'" },
    { "analyze", "--rules .", "--rules: cannot read '.'" },
    { "plan", "--window 30s", "'30s' is not a number of calls" },
    { "timeline", "--window 30", "'30' is not a time such as 30s" },
    { "timeline", "--window s", "'s' is not a time" },
    { "timeline", "--window -5s", "'-5s' is not a time" },
    { "timeline", "--window 9999999s", "'9999999s' is not a time" },
    { "timeline", "--window #9..#3", "'#9..#3' is not a time" },
    { "timeline", "--window #9..3", "'#9..3' is not a time" },
    { "timeline", "--window #9.", "'#9.' is not a time" },
    { "timeline", "--window #4294967296", "'#4294967296' is not a time" },
    { "timeline", "--format csv", "'csv' is not one of chrome, perfetto" },
};

static void bad_lines_are_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const struct hs_command *command = hs_command_find(refused[i].command);
        struct hs_err err = { .n = 0 };
        struct hs_options o;
        struct line line;
        enum hs_status status;

        split(&line, refused[i].line);
        status = hs_options_read(command, line.count, line.words, &o, &err);
        hs_options_release(&o);
        if (status != HS_EUSAGE || err.n == 0 || !strstr(err.causes[0].text, refused[i].message))
            fail_msg("%s %s: status %d, %s", refused[i].command, refused[i].line, (int)status,
                     err.n ? err.causes[0].text : "no cause");
    }
}

/* ---- lines that are taken ---- */

static void take(const char *command, const char *text, struct line *line, struct hs_options *o)
{
    struct hs_err err = { .n = 0 };

    split(line, text);
    if (hs_options_read(hs_command_find(command), line->count, line->words, o, &err) != HS_OK)
        fail_msg("%s %s: %s", command, text, err.causes[0].text);
}

static void nothing_given_is_the_default(void **state)
{
    struct line line;
    struct hs_options o;

    (void)state;
    take("analyze", "", &line, &o);
    assert_int_equal(o.path_count, 0);
    assert_int_equal(o.verbosity, 0);
    assert_int_equal(o.language, HS_ENGLISH);
    assert_int_equal(o.world_size, 0);
    assert_int_equal(o.workers, 0);
    assert_int_equal(o.place_count, 0);
    assert_null(o.parser);
    assert_null(o.fail_on);
    assert_false(o.json || o.exit_zero || o.list || o.help);
    hs_options_release(&o);
}

static void options_and_paths_mix(void **state)
{
    struct line line;
    struct hs_options o;

    (void)state;
    take("analyze", "a --json b -vv --world-size 16 c --exit-zero", &line, &o);
    assert_int_equal(o.path_count, 3);
    assert_string_equal(o.paths[0], "a");
    assert_string_equal(o.paths[2], "c");
    assert_true(o.json && o.exit_zero);
    assert_int_equal(o.verbosity, 2);
    assert_int_equal(o.world_size, 16);
    hs_options_release(&o);
}

static void values_come_in_every_spelling(void **state)
{
    static const char *const lines[] = { "-j4", "-j 4", "--jobs 4", "--jobs=4", "-vj4", "-vj 4" };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct line line;
        struct hs_options o;

        take("analyze", lines[i], &line, &o);
        assert_int_equal(o.workers, 4);
        assert_int_equal(o.path_count, 0);
        hs_options_release(&o);
    }
}

static void what_looks_like_an_option_can_be_a_path(void **state)
{
    struct line line;
    struct hs_options o;

    (void)state;
    take("analyze", "- --json -- --json -q --", &line, &o);
    assert_true(o.json);
    assert_int_equal(o.path_count, 4);
    assert_string_equal(o.paths[0], "-");
    assert_string_equal(o.paths[1], "--json");
    assert_string_equal(o.paths[3], "--");
    assert_int_equal(o.verbosity, 0);
    hs_options_release(&o);
}

static void the_last_of_a_kind_counts(void **state)
{
    struct line line;
    struct hs_options o;

    (void)state;
    take("analyze", "--lang zh --lang en --world-size 4 --world-size=8 -q -v", &line, &o);
    assert_int_equal(o.language, HS_ENGLISH);
    assert_int_equal(o.world_size, 8);
    assert_int_equal(o.verbosity, 1);
    hs_options_release(&o);
    take("analyze", "-v -q", &line, &o);
    assert_int_equal(o.verbosity, -1);
    hs_options_release(&o);
}

static void words_are_kept(void **state)
{
    struct line line;
    struct hs_options o;

    (void)state;
    take("analyze", "--color always --lang=zh --fail-on high,rank-missing", &line, &o);
    assert_true(o.color);
    assert_int_equal(o.language, HS_CHINESE);
    assert_string_equal(o.fail_on, "high,rank-missing");
    hs_options_release(&o);
    take("analyze", "--color never --progress never", &line, &o);
    assert_false(o.color || o.progress);
    hs_options_release(&o);
    take("explain", "--list", &line, &o);
    assert_true(o.list);
    hs_options_release(&o);
}

static void every_format_can_be_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; hs_parsers[i]; i++) {
        struct line line;
        struct hs_options o;
        char text[128];

        (void)snprintf(text, sizeof(text), "--input-format %s", hs_parsers[i]->name);
        take("formats", text, &line, &o);
        assert_ptr_equal(o.parser, hs_parsers[i]);
        hs_options_release(&o);
    }
}

static void spans_are_times_or_numbers(void **state)
{
    static const struct {
        const char *text;
        struct hs_span span;
    } spans[] = {
        { "--window 30s", { .kind = HS_SPAN_TIME, .ns = 30000000000 } },
        { "--window 0ms", { .kind = HS_SPAN_TIME } },
        { "--window=250ms", { .kind = HS_SPAN_TIME, .ns = 250000000 } },
        { "--window 2h", { .kind = HS_SPAN_TIME, .ns = 7200000000000 } },
        { "--window #7", { .kind = HS_SPAN_NUMBERS, .low = 7, .high = 7 } },
        { "--window #7..", { .kind = HS_SPAN_NUMBERS, .low = 7, .high = UINT32_MAX } },
        { "--window #7..#4294967295", { .kind = HS_SPAN_NUMBERS, .low = 7, .high = UINT32_MAX } },
        { "--format perfetto", { .kind = HS_SPAN_ALL } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        struct line line;
        struct hs_options o;

        take("timeline", spans[i].text, &line, &o);
        assert_int_equal(o.span.kind, spans[i].span.kind);
        assert_int_equal(o.span.ns, spans[i].span.ns);
        assert_int_equal(o.span.low, spans[i].span.low);
        assert_int_equal(o.span.high, spans[i].span.high);
        hs_options_release(&o);
    }
}

/* ---- the environment ---- */

static void the_environment_stands_in_and_options_win(void **state)
{
    struct hs_err err = { .n = 0 };
    struct line line;
    struct hs_options o;

    (void)state;
    assert_int_equal(setenv("HANGSCOPE_WORLD_SIZE", "32", 1), 0);
    assert_int_equal(setenv("HANGSCOPE_LANG", "zh", 1), 0);
    take("analyze", "--lang en", &line, &o);
    assert_int_equal(o.world_size, 32);
    assert_int_equal(o.language, HS_ENGLISH);
    hs_options_release(&o);
    take("explain", "", &line, &o); /* which has no --world-size */
    assert_int_equal(o.world_size, 0);
    hs_options_release(&o);
    assert_int_equal(setenv("HANGSCOPE_WORLD_SIZE", "many", 1), 0);
    split(&line, "--world-size 4");
    assert_int_equal(hs_options_read(hs_command_find("analyze"), 2, line.words, &o, &err),
                     HS_EUSAGE);
    assert_string_equal(err.causes[err.n - 1].text, "in the environment: HANGSCOPE_WORLD_SIZE");
    hs_options_release(&o);
    assert_int_equal(setenv("HANGSCOPE_WORLD_SIZE", "", 1), 0); /* as if it were not set */
    take("analyze", "", &line, &o);
    assert_int_equal(o.world_size, 0);
    hs_options_release(&o);
    (void)unsetenv("HANGSCOPE_WORLD_SIZE");
    (void)unsetenv("HANGSCOPE_LANG");
}

/* ---- --rank-map ---- */

/* Read a map that holds `text`; the root cause on failure. */
static enum hs_status read_map(const char *text, struct hs_options *o, struct hs_err *err)
{
    char path[] = "rank-map-XXXXXX";
    char *words[] = { (char[]){ "--rank-map" }, path };
    int fd = mkstemp(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    enum hs_status status;

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    *err = (struct hs_err){ .n = 0 };
    status = hs_options_read(hs_command_find("analyze"), 2, words, o, err);
    (void)unlink(path);
    return status;
}

static void a_rank_map_is_sorted_by_rank(void **state)
{
    struct hs_err err;
    struct hs_options o;

    (void)state;
    assert_int_equal(read_map("# rank host gpu\n"
                              "12 node-b 3\n"
                              "\n"
                              "0\tnode-a,0 # the first\r\n"
                              "3 node-a\n",
                              &o, &err),
                     HS_OK);
    assert_int_equal(o.place_count, 3);
    assert_int_equal(o.places[0].rank, 0);
    assert_true(hs_str_is(o.places[0].host, "node-a"));
    assert_int_equal(o.places[0].gpu, 0);
    assert_int_equal(o.places[1].rank, 3);
    assert_int_equal(o.places[1].gpu, HS_NO_ID);
    assert_int_equal(o.places[2].rank, 12);
    assert_int_equal(o.places[2].gpu, 3);
    hs_options_release(&o);
}

static void an_empty_rank_map_says_nothing(void **state)
{
    struct hs_err err;
    struct hs_options o;

    (void)state;
    assert_int_equal(read_map("", &o, &err), HS_OK);
    assert_int_equal(o.place_count, 0);
    hs_options_release(&o);
}

static void a_bad_rank_map_is_refused_by_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } maps[] = {
        { "0 a\n1\n", ":2: a line is 'rank host [gpu]'" },
        { "x a\n", ":1: a line is" },
        { "-1 a\n", ":1: a line is" },
        { "0 a 1 b\n", ":1: a line is" },
        { "0 a gpu1\n", ":1: a line is" },
        { "10000001 a\n", ":1: a line is" },
        { "3 a\n0 a\n3 b\n", "rank 3 stands there twice" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        struct hs_err err;
        struct hs_options o;
        enum hs_status status = read_map(maps[i].text, &o, &err);

        hs_options_release(&o);
        if (status != HS_EUSAGE || !strstr(err.causes[0].text, maps[i].message))
            fail_msg("%s: %s", maps[i].text, err.n ? err.causes[0].text : "taken");
    }
}

/* ---- the tables ---- */

static void every_command_is_whole(void **state)
{
    (void)state;
    for (const struct hs_command *c = hs_commands; c->name; c++) {
        struct hs_option_text option;
        size_t options = 0;

        assert_ptr_equal(hs_command_find(c->name), c);
        assert_true(*c->summary && *c->help && c->run);
        assert_non_null(strstr(c->help, "Example"));
        for (; hs_option_of(c, options, &option); options++) {
            assert_true(strncmp(option.flag, "--", 2) == 0 && *option.summary);
            for (size_t k = 0; k < options; k++) {
                struct hs_option_text other;

                assert_true(hs_option_of(c, k, &other));
                assert_string_not_equal(other.flag, option.flag);
                assert_true(!option.letter || option.letter != other.letter);
            }
        }
        assert_true(options >= strlen(c->options) + 1); /* each letter names a row */
    }
    assert_null(hs_command_find("no-such-command"));
    assert_null(hs_command_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_lines_are_refused_with_a_reason),
        cmocka_unit_test(nothing_given_is_the_default),
        cmocka_unit_test(options_and_paths_mix),
        cmocka_unit_test(values_come_in_every_spelling),
        cmocka_unit_test(what_looks_like_an_option_can_be_a_path),
        cmocka_unit_test(the_last_of_a_kind_counts),
        cmocka_unit_test(words_are_kept),
        cmocka_unit_test(every_format_can_be_asked_for),
        cmocka_unit_test(spans_are_times_or_numbers),
        cmocka_unit_test(the_environment_stands_in_and_options_win),
        cmocka_unit_test(a_rank_map_is_sorted_by_rank),
        cmocka_unit_test(an_empty_rank_map_says_nothing),
        cmocka_unit_test(a_bad_rank_map_is_refused_by_its_line),
        cmocka_unit_test(every_command_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
