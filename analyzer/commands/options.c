/* options.c - the table of options, and how a command line is read. Option beats environment. */
#include "analyzer/commands/option_values.h"

#include "base/limits.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct option_row {
    char group; /* in hs_command.options; '*': every command */
    char letter;
    const char *flag, *argument, *summary;
    hs_option_fn *set; /* NULL: it sets the field */
    size_t field;
};

enum hs_status hs_option_bad(struct hs_err *err, const char *flag, const char *value,
                             const char *want)
{
    return hs_fail(err, HS_EUSAGE, "%s: '%s' is not %s", flag, value, want);
}

static enum hs_status set_quiet(struct hs_options *o, const char *value, struct hs_err *err)
{
    (void)value, (void)err;
    o->verbosity = -1;
    return HS_OK;
}

static enum hs_status set_verbose(struct hs_options *o, const char *value, struct hs_err *err)
{
    (void)value, (void)err;
    o->verbosity = o->verbosity < 0 ? 1 : o->verbosity + 1;
    return HS_OK;
}

static enum hs_status set_color(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (strcmp(value, "auto") == 0)
        return HS_OK;
    if (strcmp(value, "always") != 0 && strcmp(value, "never") != 0)
        return hs_option_bad(err, "--color", value, "one of auto, always, never");
    o->color = strcmp(value, "always") == 0;
    return HS_OK;
}

static enum hs_status set_progress(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (strcmp(value, "auto") != 0 && strcmp(value, "never") != 0)
        return hs_option_bad(err, "--progress", value, "one of auto, never");
    o->progress = o->progress && strcmp(value, "never") != 0;
    return HS_OK;
}

static enum hs_status set_language(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (strcmp(value, "en") != 0 && strcmp(value, "zh") != 0)
        return hs_option_bad(err, "--lang", value, "one of en, zh");
    o->language = strcmp(value, "zh") == 0 ? HS_CHINESE : HS_ENGLISH;
    return HS_OK;
}

bool hs_option_count(const char *value, uint64_t max, uint64_t *out)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > max)
        return false;
    *out = n;
    return true;
}

static enum hs_status set_workers(struct hs_options *o, const char *value, struct hs_err *err)
{
    uint64_t n;

    if (!hs_option_count(value, HS_WORKERS_MAX, &n))
        return hs_option_bad(err, "-j", value, "a number of threads, 1 to 256");
    o->workers = (unsigned)n;
    return HS_OK;
}

static enum hs_status set_world(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (!hs_option_count(value, HS_RANK_MAX, &o->world_size))
        return hs_option_bad(err, "--world-size", value, "a number of ranks, 1 or more");
    return HS_OK;
}

static enum hs_status set_format(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->parser = hs_parser_find(value);
    if (o->parser)
        return HS_OK;
    return hs_fail(err, HS_EUSAGE,
                   "--input-format: there is no format '%s'; 'hangscope formats' lists them",
                   value);
}

/* "any", "high", codes or findings: each word must be one. */
static enum hs_status set_fail_on(struct hs_options *o, const char *value, struct hs_err *err)
{
    char word[64];

    for (const char *at = value;;) {
        size_t n = strcspn(at, ",");
        const struct hs_topic *topic;

        (void)snprintf(word, sizeof(word), "%.*s", (int)n, at);
        topic = hs_topic_find(word, HS_ENGLISH);
        if (strcmp(word, "any") != 0 && strcmp(word, "high") != 0 &&
            (!topic || topic->kind == HS_TOPIC_CAUSE) &&
            !(o->rules && hs_rule_find(o->rules, word)))
            return hs_fail(err, HS_EUSAGE,
                           "--fail-on: '%s' is neither any, high, a code nor a finding; "
                           "'hangscope explain --list' lists the codes",
                           word);
        if (!at[n])
            break;
        at += n + 1;
    }
    o->fail_on = value;
    return HS_OK;
}

static enum hs_status set_sql_format(struct hs_options *o, const char *value, struct hs_err *err)
{
    static const char *const names[] = { "table", "csv", "jsonl" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            o->sql_format = (enum hs_sql_format)i;
            return HS_OK;
        }
    }
    return hs_option_bad(err, "--format", value, "one of table, csv, jsonl");
}

/* ---- --rank-map: lines of "rank host [gpu]", # begins a comment ---- */

static enum hs_status read_place(struct hs_options *o, char *line, unsigned number,
                                 const char *path, struct hs_err *err)
{
    char *save = NULL, *comment = strchr(line, '#');
    uint64_t rank = 0, gpu = HS_NO_ID;
    char *words[4] = { NULL };
    bool ok;

    if (comment)
        *comment = '\0';
    for (unsigned i = 0; i < 4; i++)
        words[i] = strtok_r(i ? NULL : line, " \t\r\n,", &save);
    if (!words[0])
        return HS_OK;
    ok = words[1] && !words[3] &&
         (strcmp(words[0], "0") == 0 || hs_option_count(words[0], HS_RANK_MAX, &rank));
    if (ok && words[2])
        ok = strcmp(words[2], "0") == 0 ? (gpu = 0, true) : hs_option_count(words[2], 1024, &gpu);
    if (!ok)
        return hs_fail(err, HS_EUSAGE, "--rank-map: %s:%u: a line is 'rank host [gpu]'", path,
                       number);
    if (!HS_GROW(o->places, o->place_cap, o->place_count + 1u))
        return hs_no_memory(err);
    o->places[o->place_count++] =
        (struct hs_rank_place){ .rank = (uint32_t)rank,
                                .host = hs_arena_copy(&o->arena, hs_str_of(words[1])),
                                .gpu = (uint32_t)gpu };
    return HS_OK;
}

static enum hs_status set_rank_map(struct hs_options *o, const char *value, struct hs_err *err)
{
    FILE *in = fopen(value, "r");
    enum hs_status status = HS_OK;
    char line[1024];

    if (!in)
        return hs_fail(err, HS_EUSAGE, "--rank-map: cannot read '%s': %s", value, strerror(errno));
    for (unsigned number = 1; status == HS_OK && fgets(line, sizeof(line), in); number++)
        status = read_place(o, line, number, value, err);
    (void)fclose(in);
    if (o->place_count)
        qsort(o->places, o->place_count, sizeof(*o->places), hs_rank_place_compare);
    for (uint32_t i = 1; status == HS_OK && i < o->place_count; i++) {
        if (o->places[i].rank == o->places[i - 1].rank)
            status = hs_fail(err, HS_EUSAGE, "--rank-map: %s: rank %u stands there twice", value,
                             o->places[i].rank);
    }
    return status;
}

/* ---- --rules: checked at once, before much is read ---- */

static enum hs_status read_whole(const char *path, struct hs_buf *out, struct hs_err *err)
{
    FILE *in = fopen(path, "r");
    char room[4096];
    bool failed = !in;
    size_t n;

    while (in && out->n <= HS_RULES_BYTES && (n = fread(room, 1, sizeof(room), in)) > 0)
        hs_buf_put(out, (struct hs_str){ .p = room, .n = n });
    failed = failed || ferror(in) != 0;
    if (failed)
        (void)hs_fail(err, HS_EUSAGE, "--rules: cannot read '%s': %s", path, strerror(errno));
    if (in)
        (void)fclose(in);
    if (failed)
        return HS_EUSAGE;
    if (out->n > HS_RULES_BYTES)
        return hs_fail(err, HS_EUSAGE, "--rules: '%s' is longer than %u bytes", path,
                       HS_RULES_BYTES);
    return out->failed ? hs_no_memory(err) : HS_OK;
}

static enum hs_status set_rules(struct hs_options *o, const char *value, struct hs_err *err)
{
    enum hs_status status = HS_OK;
    struct hs_buf text;

    if (!o->rules) {
        o->rules = HS_NEW(&o->arena, struct hs_rules, 1);
        if (!o->rules)
            return hs_no_memory(err);
        hs_rules_init(o->rules);
        status = hs_rules_add_own(o->rules, err);
    }
    hs_buf_init(&text);
    if (status == HS_OK)
        status = read_whole(value, &text, err);
    if (status == HS_OK)
        status = hs_rules_add(o->rules, value, hs_buf_str(&text), err);
    hs_buf_release(&text);
    return status;
}

/* An option that only sets a field of hs_options (a text, or a flag if it has no argument), or else
 * what reads it. */
#define FIELD(name) NULL, offsetof(struct hs_options, name)
#define SET(function) function, 0
static const struct option_row rows[] = {
    { 'j', 0, "--json", NULL, "print the result as JSON", FIELD(json) },
    { 'w', 0, "--world-size", "N", "how many ranks the job had", SET(set_world) },
    { 'i', 0, "--input-format", "NAME", "read everything as this format", SET(set_format) },
    { 'm', 0, "--rank-map", "FILE", "lines of 'rank host [gpu]': where each rank ran",
      SET(set_rank_map) },
    { 'R', 0, "--rules", "FILE", "more rules, see docs/rules.md; may be given several times",
      SET(set_rules) },
    { 'x', 0, "--exit-zero", NULL, "exit 0 where it would be 1 or 3", FIELD(exit_zero) },
    { 'f', 0, "--fail-on", "LIST", "exit 1 only for these: any, high, codes, findings",
      SET(set_fail_on) },
    { 'l', 0, "--list", NULL, "list all that can be explained", FIELD(list) },
    { 'o', 'o', "--output", "FILE", "where to write; - is standard output", FIELD(output) },
    { 'd', 0, "--db", "FILE", "keep the job as a database, too", FIELD(database) },
    { 'p', 0, "--report", "FILE", "write the job as a page, too", FIELD(report) },
    { 'F', 0, "--force", NULL, "replace a FILE that is not hangscope's", FIELD(force) },
    { 'P', 0, "--template", "FILE", "the page without data, where none is built in",
      FIELD(page_template) },
    { 's', 0, "--format", "NAME", "of the answer: table, csv or jsonl", SET(set_sql_format) },
    { 'S', 0, "--file", "Q.sql", "read the query from a file", FIELD(sql_file) },
    { 'W', 0, "--window", "N", "finished calls of each rank that are kept (64)",
      SET(hs_option_window) },
    { 'K', 0, "--ranks", "LIST", "only these ranks: 0-7,12", SET(hs_option_ranks) },
    { 'G', 0, "--groups", "LIST", "only calls of these groups, by name or description",
      FIELD(groups) },
    { 'M', 0, "--minimize", NULL, "leave out all that the verdict does not need", FIELD(minimize) },
    { 'N', 0, "--fold", "N", "one rank of each kind, down to N ranks", SET(hs_option_fold) },
    { 'Y', 0, "--semantics", "NAME", "rules of nccl or gloo (those of the recorded backend)",
      SET(hs_option_semantics) },
    { 'E', 0, "--what-if", "EDIT", "change a rank's calls first; may be given several times",
      SET(hs_option_what_if) },
    { 'b', 0, "--backend", "NAME", "dry: by the rules alone; nccl: on the GPUs of this machine",
      SET(hs_option_replay_backend) },
    { 'T', 0, "--deadline", "S", "nccl: give up after S seconds without progress (30)",
      SET(hs_option_deadline) },
    { 'A', 0, "--scale", "F", "nccl: buffers of F times the recorded size (1)",
      SET(hs_option_scale) },
    { 'C', 0, "--check-data", NULL, "nccl: look whether the right data arrives",
      FIELD(check_data) },
    { 'H', 0, "--split", NULL, "nccl: make groups by ncclCommSplit where one holds another",
      FIELD(split) },
    { 'L', 0, "--nccl-lib", "FILE", "nccl: the library, if it is not found by its usual names",
      FIELD(nccl_file) },
    { 'B', 0, "--backend", "NAME", "what the program runs on unless told: gloo or nccl",
      SET(hs_option_emit_backend) },
    { 'V', 0, "--window", "SPAN", "30s before the hang and all since, or collectives #900..#950",
      SET(hs_option_span) },
    { 't', 0, "--format", "NAME", "chrome (JSON) or perfetto (chrome)",
      SET(hs_option_trace_format) },
    { 'r', 'j', "--jobs", "N", "threads (one per CPU)", SET(set_workers) },
    { '1', 0, "--job-glob", "GLOB", "jobs are what matches it below ROOT (docs/fleet.md)",
      SET(hs_option_job_glob) },
    { '2', 0, "--shard", "I/N", "only the jobs of share I of N", SET(hs_option_shard) },
    { '3', 0, "--keep", "LIST", "keep of each job, beside FILE: db,report", SET(hs_option_keep) },
    { '4', 0, "--timeout", "S", "seconds that a job may take (300)", SET(hs_option_timeout) },
    { '5', 0, "--job-memory", "SIZE", "memory that a job may take: 2G (a share of half of all)",
      SET(hs_option_job_memory) },
    { '6', 0, "--jsonl", NULL, "print each job as a line of JSON when it is judged", FIELD(jsonl) },
    { '7', 0, "--restart", NULL, "begin FILE anew instead of going on", FIELD(restart) },
    { '8', 'j', "--jobs", "N", "jobs at a time (one per CPU)", SET(set_workers) },
    { '9', 0, "--format", "NAME", "csv or jsonl (csv)", SET(hs_option_export_format) },
    { '*', 'q', "--quiet", NULL, "the verdict's sentence alone", SET(set_quiet) },
    { '*', 'v', "--verbose", NULL, "all places, notes and evidence", SET(set_verbose) },
    { '*', 0, "--color", "WHEN", "auto, always or never", SET(set_color) },
    { '*', 0, "--progress", "WHEN", "auto or never", SET(set_progress) },
    { '*', 0, "--lang", "LANG", "en or zh", SET(set_language) },
    { '*', 'h', "--help", NULL, "this help", FIELD(help) },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static enum hs_status set_option(const struct option_row *row, struct hs_options *o,
                                 const char *value, struct hs_err *err)
{
    char *field = (char *)o + row->field;

    if (row->set)
        return row->set(o, value, err);
    if (row->argument && !*value)
        return hs_fail(err, HS_EUSAGE, "%s needs a value: %s", row->flag, row->argument);
    if (row->argument)
        memcpy(field, &value, sizeof(value));
    else
        memcpy(field, &(bool){ true }, sizeof(bool));
    return HS_OK;
}

static bool takes(const struct hs_command *command, const struct option_row *row)
{
    return row->group == '*' || strchr(command->options, row->group);
}

bool hs_option_of(const struct hs_command *command, size_t n, struct hs_option_text *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (takes(command, &rows[i]) && n-- == 0) {
            *out = (struct hs_option_text){ .flag = rows[i].flag,
                                            .argument = rows[i].argument,
                                            .summary = rows[i].summary,
                                            .letter = rows[i].letter };
            return true;
        }
    }
    return false;
}

/* Letters to insert, delete or replace to turn `a` into `b` (Levenshtein); short words only. */
static size_t edits(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t n = strlen(b), row[LONGEST + 1];

    if (strlen(a) > LONGEST || n > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= n; i++)
        row[i] = i;
    for (size_t i = 1; *a; i++, a++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t best = corner + (*a != b[k - 1]);

            best = row[k] + 1 < best ? row[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            corner = row[k];
            row[k] = best;
        }
    }
    return row[n];
}

const char *hs_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t best = 3; /* more than two letters off is another word */
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t n = edits(word, candidates[i]);

        if (n < best) {
            best = n;
            nearest = candidates[i];
        }
    }
    return nearest;
}

static enum hs_status unknown_option(const struct hs_command *command, const char *word,
                                     struct hs_err *err)
{
    const char *flags[ROWS], *nearest;
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++) {
        if (takes(command, &rows[i]))
            flags[count++] = rows[i].flag;
    }
    nearest = hs_nearest(word, flags, count);
    if (nearest)
        return hs_fail(err, HS_EUSAGE, "%s: there is no option '%s'; did you mean '%s'?",
                       command->name, word, nearest);
    return hs_fail(err, HS_EUSAGE, "%s: there is no option '%s'; 'hangscope help %s' lists them",
                   command->name, word, command->name);
}

/* "--flag", "--flag VALUE" or "--flag=VALUE"; `used` counts the words. */
static enum hs_status read_long(const struct hs_command *command, char **argv, int left,
                                struct hs_options *o, int *used, struct hs_err *err)
{
    const char *word = argv[0], *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);

    for (size_t i = 0; i < ROWS; i++) {
        const struct option_row *row = &rows[i];
        const char *value = equals ? equals + 1 : NULL;

        if (!takes(command, row) || strlen(row->flag) != n || strncmp(row->flag, word, n) != 0)
            continue;
        if (!row->argument && value)
            return hs_fail(err, HS_EUSAGE, "%s takes no value", row->flag);
        if (row->argument && !value) {
            if (left < 2)
                return hs_fail(err, HS_EUSAGE, "%s needs a value: %s", row->flag, row->argument);
            value = argv[1];
            *used = 2;
        }
        return set_option(row, o, value, err);
    }
    return unknown_option(command, word, err);
}

static const struct option_row *row_of_letter(const struct hs_command *command, char letter)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].letter == letter && takes(command, &rows[i]))
            return &rows[i];
    }
    return NULL;
}

/* "-v", "-vv", "-j4", "-j 4". */
static enum hs_status read_short(const struct hs_command *command, char **argv, int left,
                                 struct hs_options *o, int *used, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    for (const char *at = argv[0] + 1; status == HS_OK && *at; at++) {
        const struct option_row *row = row_of_letter(command, *at);

        if (!row)
            return unknown_option(command, argv[0], err);
        if (row->argument) {
            const char *value = at[1] ? at + 1 : left > 1 ? argv[1] : NULL;

            if (!value)
                return hs_fail(err, HS_EUSAGE, "-%c needs a value: %s", *at, row->argument);
            *used = at[1] ? 1 : 2;
            return set_option(row, o, value, err);
        }
        status = set_option(row, o, NULL, err);
    }
    return status;
}

/* HANGSCOPE_<OPTION> stands in for an option that is not given: read first, so options win. */
static enum hs_status read_environment(const struct hs_command *command, struct hs_options *o,
                                       struct hs_err *err)
{
    for (size_t i = 0; i < ROWS; i++) {
        char name[64] = "HANGSCOPE_";
        size_t n = strlen(name);
        const char *value;
        enum hs_status status;

        if (!rows[i].argument || !takes(command, &rows[i]))
            continue;
        for (const char *c = rows[i].flag + 2; *c; c++)
            name[n++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
        name[n] = '\0';
        value = getenv(name);
        status = value && *value ? set_option(&rows[i], o, value, err) : HS_OK;
        if (status != HS_OK)
            return hs_note(err, status, "in the environment: %s", name);
    }
    return HS_OK;
}

enum hs_status hs_options_read(const struct hs_command *command, int argc, char **argv,
                               struct hs_options *out, struct hs_err *err)
{
    const char *no_color = getenv("NO_COLOR");
    bool plain = false;
    enum hs_status status;

    *out = (struct hs_options){ .progress = isatty(STDERR_FILENO) == 1 };
    hs_arena_init(&out->arena);
    out->color = isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color);
    out->paths = HS_NEW(&out->arena, const char *, (size_t)argc + 1);
    if (!out->paths)
        return hs_no_memory(err);
    status = read_environment(command, out, err);
    for (int i = 0, used = 1; status == HS_OK && i < argc; i += used) {
        used = 1;
        if (plain || argv[i][0] != '-' || !argv[i][1])
            out->paths[out->path_count++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            plain = true;
        else if (argv[i][1] == '-')
            status = read_long(command, argv + i, argc - i, out, &used, err);
        else
            status = read_short(command, argv + i, argc - i, out, &used, err);
    }
    return status;
}

void hs_options_release(struct hs_options *options)
{
    free(options->places);
    if (options->rules)
        hs_rules_release(options->rules);
    free(options->ranks);
    hs_arena_release(&options->arena);
}
