/* symptoms.c - rules are run, and what they return is checked and put in order. */
#include "analyzer/symptoms.h"

#include "base/limits.h"

#include <stdlib.h>

/* The columns that a rule may return. */
enum column { EVENT, FACT, RANK, HOST, CODE, CAUSE, ROLE, STRENGTH, DETAIL, COLUMNS };

static const char *const column_names[COLUMNS] = { "event", "fact", "rank",     "host",  "code",
                                                   "cause", "role", "strength", "detail" };

struct finder {
    const struct hs_job *job;
    const struct hs_asked *about;
    struct hs_questions *questions;
    struct hs_arena *arena;
    struct hs_err *err;
    struct hs_symptom *rows;
    uint32_t count, cap;
    /* of the rule that runs */
    const struct hs_rule *rule;
    uint32_t first;
    int at[COLUMNS]; /* where a column is in a row; -1: the rule has none */
    struct hs_str version;
    enum hs_status status;
};

static bool stop(struct finder *f, enum hs_status status)
{
    f->status = status;
    return false;
}

static bool complain(struct finder *f, const char *what, struct hs_str word)
{
    return stop(f, hs_fail(f->err, HS_EUSAGE, "%s: rule %s: %s: %.*s", f->rule->place, f->rule->id,
                           what, (int)(word.n < 100 ? word.n : 100), word.n ? word.p : ""));
}

/* ---- a row ---- */

static bool take_names(struct finder *f, const struct hs_cell *cells, int count)
{
    for (int c = 0; c < COLUMNS; c++)
        f->at[c] = -1;
    for (int i = 0; i < count; i++) {
        int c = 0;

        while (c < COLUMNS && !hs_str_is(cells[i].text, column_names[c]))
            c++;
        if (c == COLUMNS)
            return complain(f, "a rule returns no such column", cells[i].text);
        f->at[c] = i;
    }
    return true;
}

static struct hs_str cell_of(const struct finder *f, const struct hs_cell *cells, enum column c)
{
    return f->at[c] < 0 ? (struct hs_str){ .p = NULL } : cells[f->at[c]].text;
}

/* A number below `limit`, or none (HS_NO_ID) where the cell is NULL. */
static bool take_id(struct finder *f, const struct hs_cell *cells, enum column c, uint64_t limit,
                    uint32_t *out)
{
    struct hs_str text = cell_of(f, cells, c);
    uint64_t value = HS_NO_ID;

    if (text.p && (!hs_str_number(text, &value) || value >= limit)) {
        if (c != RANK)
            return complain(f, "a number of no row", text);
        value = HS_NO_ID; /* a line may say anything */
    }
    *out = (uint32_t)value;
    return true;
}

/* The static text of a topic of this kind; NULL for NULL and "-". */
static bool take_topic(struct finder *f, const struct hs_cell *cells, enum column c,
                       enum hs_topic_kind kind, const char **out)
{
    struct hs_str text = cell_of(f, cells, c);
    const struct hs_topic *topic;
    char word[64];

    if (f->at[c] < 0)
        return true;
    *out = NULL;
    if (!text.p || hs_str_is(text, "-"))
        return true;
    (void)snprintf(word, sizeof(word), "%.*s", (int)(text.n < 63 ? text.n : 63), text.p);
    topic = hs_topic_find(word, HS_ENGLISH);
    if (!topic || topic->kind != kind)
        return complain(f, "this is no code or cause", text);
    *out = topic->code;
    return true;
}

static bool take_words(struct finder *f, const struct hs_cell *cells, struct hs_symptom *s)
{
    struct hs_str role = cell_of(f, cells, ROLE), strength = cell_of(f, cells, STRENGTH);

    if (role.p && !hs_role_of(role, &s->role))
        return complain(f, "this is no role", role);
    if (strength.p && !hs_strength_of(strength, &s->strength))
        return complain(f, "this is no strength", strength);
    return take_topic(f, cells, CODE, HS_TOPIC_CODE, &s->code) &&
           take_topic(f, cells, CAUSE, HS_TOPIC_CAUSE, &s->cause);
}

static void place(const struct finder *f, struct hs_symptom *s)
{
    if (s->event != HS_NO_ID) {
        const struct hs_event *e = &f->job->events[s->event];

        s->source = e->source;
        s->line = e->line;
        s->time_ns = e->time_ns;
        s->clock = e->clock;
    } else if (s->fact != HS_NO_ID) {
        s->source = f->job->facts[s->fact].source;
        s->line = f->job->facts[s->fact].line;
    }
    if (s->source != HS_NO_ID)
        s->attempt = hs_identity_attempt(f->about->identity, s->source, s->line);
}

static bool copy_text(struct finder *f, struct hs_str text, struct hs_str *out)
{
    if (text.p)
        *out = hs_arena_copy(f->arena, text);
    return !text.p || out->p || stop(f, hs_no_memory(f->err));
}

static bool take_row(void *self, const struct hs_cell *cells, int count, bool header)
{
    struct finder *f = self;
    struct hs_symptom s = { .rule = f->rule,
                            .code = f->rule->code,
                            .cause = f->rule->cause,
                            .role = f->rule->role,
                            .strength = HS_SURE,
                            .source = HS_NO_ID,
                            .attempt = HS_NO_ID,
                            .version = f->version };

    if (header)
        return take_names(f, cells, count);
    if (f->count - f->first >= HS_SYMPTOMS_MAX)
        return false;
    if (!take_id(f, cells, EVENT, f->job->event_count, &s.event) ||
        !take_id(f, cells, FACT, f->job->fact_count, &s.fact) ||
        !take_id(f, cells, RANK, HS_RANK_MAX, &s.rank) || !take_words(f, cells, &s))
        return false;
    place(f, &s);
    if (s.attempt != HS_NO_ID && s.attempt != f->about->window->attempt)
        return true;
    if (!copy_text(f, cell_of(f, cells, HOST), &s.host) ||
        !copy_text(f, cell_of(f, cells, DETAIL), &s.detail))
        return false;
    if (!HS_GROW(f->rows, f->cap, f->count + 1u))
        return stop(f, hs_no_memory(f->err));
    f->rows[f->count++] = s;
    return true;
}

/* ---- known defects: only where the version is in the evidence ---- */

static bool take_version(void *self, const struct hs_cell *cells, int count, bool header)
{
    struct finder *f = self;
    uint64_t number, from, to;

    (void)count;
    if (header || f->version.p || !hs_version_number(cells[0].text, &number))
        return true;
    if (hs_version_number(hs_str_of(f->rule->from), &from) && number >= from &&
        hs_version_number(hs_str_of(f->rule->to), &to) && number <= to)
        return copy_text(f, cells[0].text, &f->version);
    return true;
}

/* Whether the rule may speak of this job. */
static bool has_version(struct finder *f)
{
    struct hs_str sql = hs_arena_printf(
        f->arena, "SELECT value FROM aspect WHERE name = '%s' ORDER BY 1", f->rule->product);

    f->version = (struct hs_str){ .p = NULL };
    if (!sql.p)
        return stop(f, hs_no_memory(f->err));
    f->status = hs_question(f->questions, f->rule->place, sql, take_version, f, f->err);
    return f->status == HS_OK && f->version.p;
}

static void run_rule(struct finder *f, const struct hs_rule *rule)
{
    enum hs_status status;

    f->rule = rule;
    f->first = f->count;
    f->version = (struct hs_str){ .p = NULL };
    if (rule->product && !has_version(f))
        return;
    status = hs_question(f->questions, rule->place, rule->sql, take_row, f, f->err);
    if (f->status == HS_OK)
        f->status = status;
}

/* ---- order ---- */

static int compare_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_text(struct hs_str a, struct hs_str b)
{
    if (!a.p || !b.p)
        return (a.p != NULL) - (b.p != NULL);
    return hs_str_cmp(a, b);
}

static int by_place(const void *left, const void *right)
{
    const struct hs_symptom *a = left, *b = right;
    int order = compare_number(a->source, b->source);

    if (order == 0)
        order = compare_number(a->line, b->line);
    if (order == 0)
        order = strcmp(a->rule->id, b->rule->id);
    if (order == 0)
        order = compare_number(a->rank, b->rank);
    if (order == 0)
        order = compare_text(a->host, b->host);
    if (order == 0)
        order = compare_text(a->detail, b->detail);
    return order ? order : compare_number(a->event, b->event);
}

static enum hs_status put_in_order(struct finder *f, struct hs_symptoms *out)
{
    struct hs_symptom *rows = HS_NEW(f->arena, struct hs_symptom, f->count);
    uint32_t count = 0;

    if (!rows)
        return hs_no_memory(f->err);
    if (f->count)
        qsort(f->rows, f->count, sizeof(*f->rows), by_place);
    for (uint32_t i = 0; i < f->count; i++) {
        if (i == 0 || by_place(&f->rows[i - 1], &f->rows[i]) != 0)
            rows[count++] = f->rows[i];
    }
    *out = (struct hs_symptoms){ .rows = rows, .count = count };
    return HS_OK;
}

/* A known defect says why its line was printed: what the line means otherwise supports it. */
static void yield_to_defects(struct hs_symptoms *s)
{
    uint32_t first = 0, next;

    for (; first < s->count; first = next) {
        bool known = false;

        for (next = first; next < s->count && s->rows[next].source == s->rows[first].source &&
                           s->rows[next].line == s->rows[first].line;
             next++)
            known = known || (s->rows[next].rule->product && s->rows[next].role == HS_ROOT &&
                              s->rows[next].strength != HS_LEAD);
        for (uint32_t i = first; known && i < next; i++) {
            if (!s->rows[i].rule->product && s->rows[i].role == HS_ROOT)
                s->rows[i].role = HS_CONFIRMATION;
        }
    }
}

enum hs_status hs_symptoms_find(const struct hs_asked *about, const struct hs_rules *rules,
                                struct hs_arena *arena, struct hs_symptoms *out, struct hs_err *err)
{
    struct finder f = { .job = about->rows->job, .about = about, .arena = arena, .err = err };

    f.status = hs_questions_open(about->rows, about->window, &f.questions, err);
    for (uint32_t i = 0; f.status == HS_OK && i < rules->count; i++)
        run_rule(&f, &rules->rows[i]);
    hs_questions_close(f.questions);
    if (f.status == HS_OK)
        f.status = put_in_order(&f, out);
    if (f.status == HS_OK)
        yield_to_defects(out);
    free(f.rows);
    return f.status;
}
