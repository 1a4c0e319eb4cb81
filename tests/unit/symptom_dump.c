/*
 * symptom_dump.c - what the rules find in files, one line each, separated by tabs:
 *
 *   rule  code  cause  role  strength  rank  host  source:line  version  detail
 *
 * "-" stands for nothing. `--rules FILE` adds rules; `--plans` shows instead how SQLite runs each
 * rule. Rules that are wrong end it with status 2 and a message.
 */
#include "analyzer/rule_rows.h"
#include "analyzer/symptoms.h"
#include "analyzer/telling.h"
#include "parsers/driver.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_file(const char *path, struct hs_buf *out)
{
    FILE *in = fopen(path, "rb");
    char chunk[65536];
    size_t n;

    if (!in)
        return false;
    while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
        hs_buf_put(out, (struct hs_str){ .p = chunk, .n = n });
    (void)fclose(in);
    return !out->failed;
}

static void put_text(struct hs_str text)
{
    (void)printf("\t%.*s", text.p ? (int)text.n : 1, text.p ? text.p : "-");
}

static void put(const struct hs_job *job, const struct hs_symptom *s)
{
    (void)printf("%s\t%s\t%s\t%s\t%s", s->rule->id, s->code ? s->code : "-",
                 s->cause ? s->cause : "-", hs_role_word(s->role), hs_strength_word(s->strength));
    if (s->rank == HS_NO_ID)
        (void)printf("\t-");
    else
        (void)printf("\t%u", s->rank);
    put_text(s->host);
    if (s->source == HS_NO_ID)
        (void)printf("\t-");
    else
        (void)printf("\t%.*s:%llu", HS_STR_ARG(hs_job_string(job, job->sources[s->source].name)),
                     (unsigned long long)s->line);
    put_text(s->version);
    put_text(s->detail);
    (void)printf("\n");
}

struct asked {
    struct hs_questions *questions;
    const struct hs_rule *rule;
};

static bool put_plan(void *self, const struct hs_cell *cells, int count, bool header)
{
    const struct asked *asked = self;

    if (!header && count > 3)
        (void)printf("%s\t%.*s\n", asked->rule->id, HS_STR_ARG(cells[3].text));
    return true;
}

static enum hs_status put_plans(const struct hs_rows *rows, const struct hs_judged_window *window,
                                const struct hs_rules *rules, struct hs_err *err)
{
    struct asked asked;
    enum hs_status status = hs_questions_open(rows, window, &asked.questions, err);

    for (uint32_t i = 0; status == HS_OK && i < rules->count; i++) {
        struct hs_buf sql;

        asked.rule = &rules->rows[i];
        hs_buf_init(&sql);
        hs_buf_printf(&sql, "EXPLAIN QUERY PLAN ");
        hs_buf_put(&sql, asked.rule->sql);
        status = hs_question(asked.questions, asked.rule->place, hs_buf_str(&sql), put_plan, &asked,
                             err);
        hs_buf_release(&sql);
    }
    if (status == HS_OK)
        hs_questions_close(asked.questions);
    return status;
}

static enum hs_status dump(const struct hs_job *job, const struct hs_rules *rules, bool plans,
                           struct hs_err *err)
{
    struct hs_identity identity;
    struct hs_derived derived = { .group_count = 0 };
    struct hs_arena arena;
    struct hs_symptoms symptoms = { .count = 0 };
    struct hs_rows rows = { .job = job, .derived = &derived };
    struct hs_judged_window window = { .world_size = UINT64_MAX };
    struct hs_asked about = { .rows = &rows, .identity = &identity, .window = &window };
    enum hs_status status;

    hs_arena_init(&arena);
    hs_identity_init(&identity, job);
    status = hs_identity_find(&identity, err);
    window.attempt = status == HS_OK ? identity.attempt_count - 1 : 0;
    if (status == HS_OK && hs_derive_identity(&identity, &derived))
        rows.choices = hs_rule_rows_choose(&identity, &derived, window.attempt, &derived.arena);
    if (status == HS_OK && !rows.choices)
        status = hs_no_memory(err);
    if (status == HS_OK && plans)
        status = put_plans(&rows, &window, rules, err);
    else if (status == HS_OK)
        status = hs_symptoms_find(&about, rules, &arena, &symptoms, err);
    for (uint32_t i = 0; status == HS_OK && i < symptoms.count; i++)
        put(job, &symptoms.rows[i]);
    hs_derived_release(&derived);
    hs_identity_release(&identity);
    hs_arena_release(&arena);
    return status;
}

static enum hs_status add_file(struct hs_rules *rules, const char *path, struct hs_err *err)
{
    struct hs_buf text;
    enum hs_status status;

    hs_buf_init(&text);
    status = read_file(path, &text) ? hs_rules_add(rules, path, hs_buf_str(&text), err)
                                    : hs_fail(err, HS_EUSAGE, "cannot read '%s'", path);
    hs_buf_release(&text);
    return status;
}

int main(int argc, char **argv)
{
    struct hs_err err = { .n = 0 };
    struct hs_rules rules;
    struct hs_inputs inputs = { .count = 0 };
    struct hs_read_options options = { .workers = 1 };
    struct hs_job job = { .source_count = 0 };
    enum hs_status status;
    bool plans = false;
    int first = 1;

    hs_rules_init(&rules);
    status = hs_rules_add_own(&rules, &err);
    for (; status == HS_OK && first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--plans") == 0)
            plans = true;
        else if (strcmp(argv[first], "--rules") == 0 && first + 1 < argc)
            status = add_file(&rules, argv[++first], &err);
    }
    if (status == HS_OK)
        status = hs_inputs_find((const char *const *)(argv + first), (uint32_t)(argc - first),
                                &inputs, &err);
    if (status == HS_OK)
        status = hs_read_inputs(&inputs, &options, &job, &err);
    if (status == HS_OK) {
        status = dump(&job, &rules, plans, &err);
        hs_job_release(&job);
    }
    hs_inputs_release(&inputs);
    hs_rules_release(&rules);
    if (status != HS_OK)
        hs_err_print(&err, stderr);
    return status == HS_OK ? 0 : status == HS_EUSAGE ? 2 : 4;
}
