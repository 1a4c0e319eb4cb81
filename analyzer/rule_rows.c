/* rule_rows.c - the rows of one attempt, table by table. */
#include "analyzer/rule_rows.h"

struct chooser {
    const struct hs_identity *id;
    const struct hs_job *job;
    const struct hs_derived *who;
    uint32_t attempt;
    struct hs_arena *arena;
    struct hs_intern seen; /* of the table that is looked at */
    bool *heard;           /* speakers that have a voice in the attempt */
    bool no_memory;
};

static bool is_of(const struct chooser *c, uint32_t attempt)
{
    return attempt == c->attempt || attempt == HS_NO_ID;
}

static bool is_line_of(const struct chooser *c, uint32_t source, uint64_t line)
{
    return is_of(c, hs_identity_attempt(c->id, source, line));
}

/* Whether these words are met for the first time. */
static bool is_new(struct chooser *c, const uint32_t *words, size_t count)
{
    uint32_t known = c->seen.count;
    struct hs_str key = { .p = (const char *)words, .n = count * sizeof(*words) };

    c->no_memory |= hs_intern_put(&c->seen, key) == HS_NO_ID;
    return c->seen.count > known;
}

typedef bool wants_fn(struct chooser *c, uint32_t row);

static bool wants_process(struct chooser *c, uint32_t row)
{
    return is_of(c, c->who->processes[row].attempt);
}

static bool wants_voice(struct chooser *c, uint32_t row)
{
    const struct hs_voice_row *v = &c->who->voices[row];
    bool wanted = is_of(c, v->attempt);

    c->heard[v->speaker] |= wanted;
    return wanted;
}

static bool wants_speaker(struct chooser *c, uint32_t row)
{
    return c->heard[row];
}

static bool wants_event(struct chooser *c, uint32_t row)
{
    const struct hs_event *e = &c->job->events[row];

    return is_line_of(c, e->source, e->line) || is_line_of(c, e->source, e->last_line);
}

/* Versions and settings may be printed once, before the first attempt. */
static bool wants_fact(struct chooser *c, uint32_t row)
{
    const struct hs_fact *f = &c->job->facts[row];
    uint32_t words[2] = { f->name, f->value };

    return is_new(c, words, 2) || is_line_of(c, f->source, f->line);
}

/* Of a pointer that was used over and over, the last communicator. */
static bool wants_communicator(struct chooser *c, uint32_t row)
{
    const struct hs_communicator *m = &c->job->communicators[row];
    uint64_t line = m->start_line > m->complete_line ? m->start_line : m->complete_line;
    uint32_t words[3] = { m->speaker, (uint32_t)m->pointer, (uint32_t)(m->pointer >> 32) };

    return is_line_of(c, m->source, line ? line : m->end_line) && is_new(c, words, 3);
}

/* Rows are looked at from the last to the first if `backwards`. */
static bool choose(struct chooser *c, uint32_t count, wants_fn *wants, bool backwards,
                   struct hs_row_choice *out)
{
    uint32_t *rows = HS_NEW(c->arena, uint32_t, count), n = 0;

    if (!rows)
        return false;
    hs_intern_init(&c->seen);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = backwards ? count - 1 - i : i;

        if (wants(c, row))
            rows[backwards ? count - 1 - n : n] = row, n++;
    }
    hs_intern_release(&c->seen);
    out->rows = backwards ? rows + (count - n) : rows;
    out->count = n;
    return !c->no_memory;
}

const struct hs_row_choice *hs_rule_rows_choose(const struct hs_identity *id,
                                                const struct hs_derived *who, uint32_t attempt,
                                                struct hs_arena *arena)
{
    const struct hs_job *job = id->job;
    struct chooser c = { .id = id, .job = job, .who = who, .attempt = attempt, .arena = arena };
    const struct {
        const char *table;
        uint32_t count;
        wants_fn *wants;
        bool backwards;
    } tables[] = {
        { "process", who->process_count, wants_process, false },
        { "voice", who->voice_count, wants_voice, false },
        { "speaker", job->speaker_count, wants_speaker, false },
        { "event", job->event_count, wants_event, false },
        { "fact", job->fact_count, wants_fact, false },
        { "communicator", job->communicator_count, wants_communicator, true },
    };
    const size_t n = sizeof(tables) / sizeof(tables[0]);
    struct hs_row_choice *choices = HS_NEW(arena, struct hs_row_choice, n + 1);

    c.heard = HS_NEW(arena, bool, job->speaker_count);
    if (!choices || !c.heard)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        choices[i].table = tables[i].table;
        if (!choose(&c, tables[i].count, tables[i].wants, tables[i].backwards, &choices[i]))
            return NULL;
    }
    return choices;
}
