/* findings.c - what else is worth saying: of the job, of its dumps, of the input. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <stdlib.h>

static void add_number(struct hs_phrase *phrase, const char *name, uint64_t n,
                       struct hs_arena *arena)
{
    hs_phrase_add(phrase, name, hs_arena_printf(arena, "%llu", (unsigned long long)n), n);
}

/* ---- call sites that some ranks pass more often than others ---- */

static bool tell_uneven_calls(const struct hs_judged *j, struct hs_verdict *v)
{
    enum { SHOWN = 8 };
    struct hs_uneven_site sites[SHOWN];
    uint32_t count;

    if (strcmp(v->code, "healthy") != 0)
        return true;
    count = hs_uneven_calls(&j->al, &v->arena, sites, SHOWN);
    for (uint32_t i = 0; count != UINT32_MAX && i < count; i++) {
        const struct hs_uneven_site *site = &sites[i];
        struct hs_finding *f = hs_add_finding(v, "uneven-calls", HS_WARNING);
        uint32_t *ranks = HS_NEW(&v->arena, uint32_t, 2);

        if (!f || !ranks)
            return false;
        ranks[0] = j->al.seats[site->least_seat].rank;
        ranks[1] = j->al.seats[site->most_seat].rank;
        f->detail.key = "finding.uneven-calls";
        hs_phrase_add(&f->detail, "site", hs_frame_text(j->job, site->frame, &v->arena), 1);
        hs_phrase_add(&f->detail, "group",
                      hs_arena_copy(&v->arena, j->al.groups[site->group].label), 1);
        add_number(&f->detail, "least", site->least, &v->arena);
        add_number(&f->detail, "most", site->most, &v->arena);
        hs_phrase_add(&f->detail, "few", hs_rank_text(&ranks[0], 1, &v->arena), 1);
        hs_phrase_add(&f->detail, "many", hs_rank_text(&ranks[1], 1, &v->arena), 1);
        if (ranks[0] > ranks[1]) {
            uint32_t swap = ranks[0];

            ranks[0] = ranks[1];
            ranks[1] = swap;
        }
        f->ranks = ranks;
        f->rank_count = ranks[0] == ranks[1] ? 1 : 2;
    }
    return count != UINT32_MAX;
}

/* ---- dumps that say less than they seem to ---- */

typedef bool seat_fn(const struct hs_judged *j, uint32_t seat);

static bool is_older(const struct hs_judged *j, uint32_t seat)
{
    return j->al.seats[seat].older;
}

static bool is_lost(const struct hs_judged *j, uint32_t seat)
{
    return j->al.seats[seat].lost;
}

static bool is_beyond_world(const struct hs_judged *j, uint32_t seat)
{
    uint64_t world = j->options->world_size;

    for (uint32_t g = 0; g < j->al.group_count; g++) {
        const struct hs_group *group = &j->al.groups[g];

        for (uint32_t i = 0; i < group->size && !group->members_assumed; i++)
            world = group->ranks[i] >= world ? group->ranks[i] + 1u : world;
    }
    return world > 0 && j->al.seats[seat].rank >= world;
}

static bool tell_seats(const struct hs_judged *j, struct hs_verdict *v, const char *code,
                       const char *key, seat_fn *applies)
{
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, j->al.seat_count);
    uint32_t count = 0;
    struct hs_finding *f;

    for (uint32_t s = 0; ranks && s < j->al.seat_count; s++) {
        if (applies(j, s))
            ranks[count++] = j->al.seats[s].rank;
    }
    if (!ranks || count == 0)
        return ranks != NULL;
    f = hs_add_finding(v, code, HS_WARNING);
    if (!f)
        return false;
    f->detail.key = key;
    hs_phrase_add(&f->detail, "ranks", hs_rank_text(ranks, count, &v->arena), count);
    f->ranks = ranks;
    f->rank_count = count;
    return true;
}

/* A member finished, by its record, what another never entered. */
static bool tell_contradictions(const struct hs_judged *j, struct hs_verdict *v)
{
    for (uint32_t g = 0; g < j->al.group_count; g++) {
        const struct hs_group *group = &j->al.groups[g];
        struct hs_finding *f;
        uint32_t *ranks, count = 0;

        if (!group->contradicted)
            continue;
        f = hs_add_finding(v, "unmarked-completion", HS_WARNING);
        ranks = HS_NEW(&v->arena, uint32_t, group->size);
        if (!f || !ranks)
            return false;
        for (uint32_t i = 0; i < group->size; i++) {
            const struct hs_position *p =
                group->positions[i] == HS_NO_ID ? NULL : &j->al.positions[group->positions[i]];

            if (p && p->known && p->entered < group->proved)
                ranks[count++] = group->ranks[i];
        }
        qsort(ranks, count, sizeof(*ranks), hs_compare_u32);
        f->detail.key = "finding.unmarked-completion";
        hs_phrase_add(&f->detail, "ranks", hs_rank_text(ranks, count, &v->arena), count);
        hs_phrase_add(&f->detail, "group", hs_arena_copy(&v->arena, group->label), 1);
        add_number(&f->detail, "seq", group->proved, &v->arena);
        f->ranks = ranks;
        f->rank_count = count;
    }
    return true;
}

/* ---- diagnostics of the input, one finding per code ---- */

static enum hs_severity severity_of(const char *code)
{
    const struct hs_topic *topic = hs_topic_find(code, HS_ENGLISH);

    if (!topic || !topic->severity || strcmp(topic->severity, "warning") == 0)
        return HS_WARNING;
    return strcmp(topic->severity, "error") == 0 ? HS_ERROR : HS_NOTE;
}

static bool add_diagnostic(const struct hs_judged *j, struct hs_verdict *v,
                           const struct hs_diagnostic *row, uint32_t total)
{
    enum { SHOWN = 5 };
    struct hs_finding *f = NULL;
    struct hs_evidence *e;

    for (uint32_t i = 0; i < v->finding_count && !f; i++) {
        if (strcmp(v->findings[i].code, row->code) == 0)
            f = &v->findings[i];
    }
    if (!f) {
        f = hs_add_finding(v, row->code, severity_of(row->code));
        if (!f)
            return false;
        f->detail.key = "finding.diagnostic";
        hs_phrase_add(&f->detail, "topic", hs_str_of(row->code), 1);
        add_number(&f->detail, "count", total, &v->arena);
        f->evidence = HS_NEW(&v->arena, struct hs_evidence, SHOWN);
        if (!f->evidence)
            return false;
    }
    if (f->evidence_count == SHOWN)
        return true;
    e = &f->evidence[f->evidence_count++];
    *e = (struct hs_evidence){ .source =
                                   hs_safe(j->job, j->job->sources[row->source].name, &v->arena),
                               .line = HS_UNKNOWN,
                               .record = row->record,
                               .offset_bytes = row->offset_bytes,
                               .rank = HS_NO_ID,
                               .excerpt = hs_safe(j->job, row->excerpt, &v->arena) };
    return e->excerpt.p && e->source.p;
}

static int by_code(const void *a, const void *b)
{
    const struct hs_diagnostic *x = a, *y = b;
    int c = strcmp(x->code, y->code);

    if (c)
        return c;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

static bool tell_diagnostics(const struct hs_judged *j, struct hs_verdict *v)
{
    uint32_t count = j->job->diagnostic_count;
    struct hs_diagnostic *rows = HS_NEW(&v->arena, struct hs_diagnostic, count);

    if (!rows)
        return false;
    if (count)
        memcpy(rows, j->job->diagnostics, count * sizeof(*rows));
    qsort(rows, count, sizeof(*rows), by_code);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && strcmp(rows[end].code, rows[i].code) == 0; end++)
            continue;
        for (uint32_t k = i; k < end; k++) {
            if (!add_diagnostic(j, v, &rows[k], end - i))
                return false;
        }
    }
    return true;
}

/* Both sides of a contradiction: the line, and where the dump ends. */
static bool tell_conflicts(const struct hs_judged *j, struct hs_verdict *v)
{
    for (const struct hs_conflict *c = j->conflicts; c; c = c->next) {
        const struct hs_event *e = &j->job->events[c->event];
        struct hs_place place = { .source = e->source, .line = e->line, .rank = c->rank };
        struct hs_finding *f = hs_add_finding(v, "evidence-conflict", HS_WARNING);
        uint32_t *rank = HS_NEW(&v->arena, uint32_t, 1), last = hs_last_op(&j->al, c->seat);
        uint32_t seat, op;

        if (!f || !rank)
            return false;
        rank[0] = c->rank;
        f->ranks = rank;
        f->rank_count = 1;
        f->detail.key = "finding.evidence-conflict";
        hs_phrase_add(&f->detail, "rank", hs_arena_printf(&v->arena, "%u", c->rank), 1);
        hs_phrase_add(&f->detail, "operation",
                      hs_node_example(j, c->node, &seat, &op)
                          ? hs_op_title(&j->al, seat, op, &v->arena)
                          : hs_str_of("?"),
                      1);
        f->evidence = HS_NEW(&v->arena, struct hs_evidence, 2);
        if (!f->evidence)
            return false;
        f->evidence[f->evidence_count++] = hs_line_evidence(j, &place, &v->arena);
        if (last != HS_NO_ID)
            f->evidence[f->evidence_count++] = hs_op_evidence(&j->al, c->seat, last, &v->arena);
    }
    return true;
}

bool hs_tell_findings(const struct hs_judged *j, struct hs_verdict *v)
{
    return tell_conflicts(j, v) && hs_tell_symptoms(j, v) && tell_uneven_calls(j, v) &&
           tell_seats(j, v, "older-dump", "finding.older-dump", is_older) &&
           tell_seats(j, v, "ring-overrun", "finding.ring-overrun", is_lost) &&
           tell_seats(j, v, "rank-beyond-world", "finding.rank-beyond-world", is_beyond_world) &&
           tell_contradictions(j, v) && tell_diagnostics(j, v);
}
