/*
 * line_faults.c - symptoms become claims: which fault came first, whom it befell, what it explains.
 *
 * A symptom that can be a reason (role root) is a candidate unless it is known to be a consequence:
 * the end of a rank that had been waiting, or any end after the first report. Of the rest the first
 * wins; where times cannot tell, the row of its code in the table of decide.c does. What only gives
 * a lead decides nothing: it is an alternative.
 */
#include "analyzer/line_claims.h"

#include "base/ranks.h"

#include <stdlib.h>

/* Symptoms this near to each other are one moment: poll intervals, coarse clocks, buffers. */
enum { MOMENT_S = 5, STEP_S = 120 };

static const int64_t ns_per_s = 1000000000;

/* The first wait of a rank; begins with what it is searched by. */
struct ranked {
    uint32_t rank, wait;
};

struct faults {
    const struct hs_line_reading *r;
    const struct hs_symptoms *symptoms;
    const struct hs_symptom **roots; /* candidates, the first first */
    uint32_t count;
    const struct hs_symptom **leads;
    uint32_t lead_count;
    struct ranked *by_rank; /* of each rank that waits, by rank */
    uint32_t ranked_count;
    uint64_t *first_report; /* by source: the first line of a wait; UINT64_MAX */
};

static bool comparable(int64_t a_ns, uint32_t a_clock, int64_t b_ns, uint32_t b_clock)
{
    return a_ns && b_ns && (a_clock | HS_CLOCK_FINE) == (b_clock | HS_CLOCK_FINE);
}

/* ---- consequences ---- */

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

/* Make the waits findable: there may be as many symptoms as waits. */
static bool index_waits(struct faults *f)
{
    const struct hs_line_waits *lw = f->r->waits;
    const struct hs_job *job = f->r->job;

    f->by_rank = HS_NEW(f->r->arena, struct ranked, lw->count);
    f->first_report = HS_NEW(f->r->arena, uint64_t, job->source_count);
    if (!f->by_rank || !f->first_report)
        return false;
    for (uint32_t i = 0; i < job->source_count; i++)
        f->first_report[i] = UINT64_MAX;
    for (uint32_t i = 0; i < lw->count; i++) {
        const struct hs_event *wait = &job->events[lw->waits[i].event];
        uint64_t *first = &f->first_report[wait->source];

        f->by_rank[i] = (struct ranked){ lw->waits[i].rank, i };
        *first = wait->line < *first ? wait->line : *first;
    }
    qsort(f->by_rank, lw->count, sizeof(*f->by_rank), by_rank);
    for (uint32_t i = 0; i < lw->count; i++) {
        if (f->ranked_count == 0 || f->by_rank[f->ranked_count - 1].rank != f->by_rank[i].rank)
            f->by_rank[f->ranked_count++] = f->by_rank[i];
    }
    return true;
}

static const struct hs_line_wait *wait_of(const struct faults *f, uint32_t rank)
{
    const struct ranked *found = rank == HS_NO_ID ? NULL
                                                  : bsearch(&rank, f->by_rank, f->ranked_count,
                                                            sizeof(*f->by_rank), hs_compare_u32);

    return found ? &f->r->waits->waits[found->wait] : NULL;
}

/*
 * Without times: an exception, or that a worker is gone and nobody says why, behind the first
 * report in one source. The watchdogs that report end their processes.
 */
static bool is_after_report(const struct faults *f, const struct hs_symptom *s)
{
    bool follows = s->event != HS_NO_ID && (s->cause ? strcmp(s->cause, "uncaught-exception") == 0
                                                     : strcmp(s->rule->id, "worker-lost") == 0);

    return follows && s->line > f->first_report[s->source];
}

/*
 * A rank that reported a timeout had been waiting when it ended. What ended after the first report
 * is not why the others had to wait, be it the rank that they waited for.
 */
static bool is_consequence(const struct faults *f, const struct hs_symptom *s)
{
    const struct hs_line_waits *lw = f->r->waits;
    const struct hs_line_wait *wait = wait_of(f, s->rank);

    if (hs_row_of(s->code) != 'b')
        return false;
    if (wait && s->cause && strcmp(s->cause, "scheduler-limit") != 0 &&
        (!comparable(s->time_ns, s->clock, wait->began_ns, wait->clock) ||
         s->time_ns >= wait->began_ns))
        return true;
    if (!comparable(s->time_ns, s->clock, lw->reported_ns, lw->clock))
        return is_after_report(f, s);
    /* within a moment, lines tell: a watchdog's line, the end of its process, that it is missed */
    return s->time_ns > lw->reported_ns + MOMENT_S * ns_per_s ||
           (!s->cause && s->time_ns >= lw->reported_ns && is_after_report(f, s));
}

/* ---- the first ---- */

static bool same_teller(const struct faults *f, const struct hs_symptom *a,
                        const struct hs_symptom *b)
{
    if (a->event == HS_NO_ID || b->event == HS_NO_ID)
        return false;
    return a->source == b->source &&
           f->r->identity->process_of_event[a->event] == f->r->identity->process_of_event[b->event];
}

/* That something raised or was ended says less than why. */
static int is_general(const struct hs_symptom *s)
{
    return !s->cause || strcmp(s->cause, "uncaught-exception") == 0 ||
           strcmp(s->cause, "killed-by-signal") == 0;
}

/* A process ended, and no line of its own says why. */
static bool is_bare_end(const struct hs_symptom *s)
{
    return hs_row_of(s->code) == 'b' && is_general(s) &&
           strcmp(s->rule->id, "ended-with-error") == 0;
}

/* Total: time where it tells, what one process says by line, then row, strength, place. */
static int compare(const struct faults *f, const struct hs_symptom *a, const struct hs_symptom *b)
{
    char row_a = hs_row_of(a->code), row_b = hs_row_of(b->code);

    if (comparable(a->time_ns, a->clock, b->time_ns, b->clock) &&
        llabs(a->time_ns - b->time_ns) > MOMENT_S * ns_per_s)
        return a->time_ns < b->time_ns ? -1 : 1;
    /* an end that only its code tells of, against a line that says what is wrong */
    if (a->strength != b->strength && is_bare_end(a->strength < b->strength ? a : b))
        return a->strength > b->strength ? -1 : 1;
    if (row_a != row_b)
        return row_a < row_b ? -1 : 1;
    if (a->strength != b->strength)
        return a->strength > b->strength ? -1 : 1;
    if (same_teller(f, a, b) && a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return is_general(a) - is_general(b);
}

/* Settled by a linear search, since the order by time and by row is not transitive. */
static void find_first(struct faults *f)
{
    for (uint32_t i = 1; i < f->count; i++) {
        if (compare(f, f->roots[i], f->roots[0]) < 0) {
            const struct hs_symptom *first = f->roots[i];

            f->roots[i] = f->roots[0];
            f->roots[0] = first;
        }
    }
}

static bool sort_out(struct faults *f, const struct hs_symptoms *symptoms)
{
    f->roots = HS_NEW(f->r->arena, const struct hs_symptom *, symptoms->count);
    f->leads = HS_NEW(f->r->arena, const struct hs_symptom *, symptoms->count);
    for (uint32_t i = 0; f->roots && f->leads && i < symptoms->count; i++) {
        const struct hs_symptom *s = &symptoms->rows[i];

        if (s->role != HS_ROOT || !s->code || is_consequence(f, s))
            continue;
        if (s->strength == HS_LEAD)
            f->leads[f->lead_count++] = s;
        else
            f->roots[f->count++] = s;
    }
    find_first(f);
    return f->roots && f->leads;
}

/* ---- claims ---- */

static const char *role_of(const char *code)
{
    switch (hs_row_of(code)) {
    case 'a':
        return "faulty";
    case 'b':
        return "died";
    case 'c':
        return strcmp(code, "network-fault") == 0 ? "faulty" : "misconfigured";
    case 'd':
        return "differs";
    case 'f':
        return "stalled";
    case 'g':
        return strcmp(code, "rank-slow") == 0 ? "slow" : "missing";
    default:
        return "misconfigured";
    }
}

static uint32_t host_of(const struct hs_identity *identity, struct hs_str name)
{
    for (uint32_t i = 0; name.p && i < identity->host_count; i++) {
        if (hs_str_eq(identity->hosts[i], name))
            return i;
    }
    return HS_NO_ID;
}

/* Whether `s` tells of the same fault as the one that came first. */
static bool is_same(const struct hs_symptom *first, const struct hs_symptom *s)
{
    bool cause = first->cause == s->cause ||
                 (first->cause && s->cause && strcmp(first->cause, s->cause) == 0);

    if (strcmp(first->code, s->code) != 0 || !cause)
        return false;
    return !comparable(first->time_ns, first->clock, s->time_ns, s->clock) ||
           llabs(first->time_ns - s->time_ns) <= STEP_S * ns_per_s;
}

static struct hs_place place_of(const struct hs_symptom *s)
{
    return (struct hs_place){ .source = s->source, .line = s->line, .rank = s->rank };
}

/* A code or cause as the catalog has it: the rules and their texts end before the verdict. */
static const char *static_word(const char *word)
{
    const struct hs_topic *topic = word ? hs_topic_find(word, HS_ENGLISH) : NULL;

    return topic ? topic->code : NULL;
}

/* The only rank that a launcher saw fail by itself: the line that says why need not name it. */
static uint32_t name_by_end(const struct faults *f, const struct hs_symptom *first,
                            struct hs_named *named)
{
    uint32_t rank = HS_NO_ID;

    for (uint32_t i = 0; i < f->symptoms->count; i++) {
        const struct hs_symptom *s = &f->symptoms->rows[i];

        if (s->rank == HS_NO_ID || strcmp(s->rule->id, "ended-with-error") != 0)
            continue;
        if (rank != HS_NO_ID && rank != s->rank)
            return 0;
        rank = s->rank;
    }
    if (rank == HS_NO_ID)
        return 0;
    named[0] = (struct hs_named){ .rank = rank,
                                  .host = hs_line_host(f->r, rank),
                                  .role = role_of(first->code) };
    return 1;
}

static bool fill(struct faults *f, const struct hs_symptom *first, struct hs_claim *claim,
                 struct hs_line_claim *line)
{
    struct hs_named *named = HS_NEW(f->r->arena, struct hs_named, f->count + 1);
    struct hs_place *places = HS_NEW(f->r->arena, struct hs_place, f->count + 1);
    uint32_t n = 0, cited = 0;

    if (!named || !places)
        return false;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct hs_symptom *s = f->roots[i];

        if (s != first && (!is_same(first, s) || s->strength < first->strength))
            continue;
        if (s->source != HS_NO_ID)
            places[cited++] = place_of(s);
        if (s->rank != HS_NO_ID || host_of(f->r->identity, s->host) != HS_NO_ID)
            named[n++] = (struct hs_named){ .rank = s->rank,
                                            .host = host_of(f->r->identity, s->host),
                                            .role = role_of(s->code) };
    }
    if (n == 0 && (n = name_by_end(f, first, named)) > 0)
        claim->doubts |= HS_DOUBT_ASSUMED;
    claim->cause = static_word(first->cause);
    line->rule = hs_rule_topic(first->rule);
    line->detail = first->detail;
    line->at_ns = first->time_ns;
    line->clock = first->clock;
    line->began_ns = 0;
    line->summary = "summary.lines.fault";
    line->why = "why.lines.fault";
    return hs_name(f->r, line, named, n) && hs_cite_places(f->r, claim, places, cited);
}

/* Another fault of another kind that time does not put behind this one. */
static bool is_disputed(const struct faults *f, const struct hs_symptom *first)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct hs_symptom *s = f->roots[i];

        if (strcmp(s->code, first->code) != 0 && s->strength == HS_SURE &&
            hs_row_of(s->code) <= 'c' &&
            !(comparable(s->time_ns, s->clock, first->time_ns, first->clock) &&
              s->time_ns > first->time_ns + MOMENT_S * ns_per_s))
            return true;
    }
    return false;
}

/* Ranks that are seen to wait, as what this fault explains. */
static void explain(const struct faults *f, struct hs_claim *claim, struct hs_line_claim *line)
{
    const struct hs_claim *graph = NULL;

    for (uint32_t i = 0; i < f->r->out->count; i++) {
        const struct hs_claim *c = &f->r->out->rows[i];

        if (c->line && c->line->wait && !c->line->rule && (!graph || c->reach > graph->reach))
            graph = c;
    }
    if (!graph)
        return;
    claim->reach = graph->reach;
    line->wait = graph->line->wait;
    line->waiting = graph->line->waiting;
    line->waiting_count = graph->line->waiting_count;
    line->began_ns = graph->line->began_ns;
    line->clock = graph->line->clock;
}

/* Whether it is known that an end came before the others reported that they wait. */
static bool is_ordered(const struct faults *f, const struct hs_symptom *s)
{
    const struct hs_line_waits *lw = f->r->waits;

    if (lw->count == 0 || hs_row_of(s->code) != 'b' ||
        comparable(s->time_ns, s->clock, lw->reported_ns, lw->clock))
        return true;
    return s->source != HS_NO_ID && f->first_report[s->source] != UINT64_MAX;
}

/*
 * A process ended, nobody says as which rank, and one rank alone is missing among those that were
 * in a call: it is that one.
 */
static void name_by_absence(const struct faults *f, struct hs_claim *claim,
                            struct hs_line_claim *line)
{
    for (uint32_t i = 0; i < f->r->out->count; i++) {
        const struct hs_claim *c = &f->r->out->rows[i];

        if (!c->line || c->line == line || c->line->rule || c->weak || c->line->named_count != 1 ||
            (strcmp(c->code, "rank-missing") != 0 && strcmp(c->code, "rank-died") != 0))
            continue;
        line->named = HS_NEW(f->r->arena, struct hs_named, 1);
        if (!line->named)
            return;
        line->named[0] = c->line->named[0];
        line->named[0].role = "died";
        line->named_count = 1;
        claim->doubts |= HS_DOUBT_ASSUMED;
        return;
    }
}

/* That a rank ended first, told by its peers alone, says less than a line about that end. */
static void take_over(const struct hs_line_reading *r)
{
    for (uint32_t i = 0; i < r->out->count; i++) {
        struct hs_claim *c = &r->out->rows[i];

        if (c->line && !c->line->rule && strcmp(c->code, "rank-died") == 0)
            c->alternative = true;
    }
}

static bool claim_first(struct faults *f)
{
    const struct hs_symptom *first = f->roots[0];
    struct hs_line_claim *line;
    struct hs_claim *claim = hs_add_line_claim(f->r, static_word(first->code), &line);

    if (!claim || !fill(f, first, claim, line))
        return false;
    explain(f, claim, line);
    if (hs_row_of(first->code) == 'b')
        take_over(f->r);
    if (line->named_count == 0 && hs_row_of(first->code) == 'b')
        name_by_absence(f, claim, line);
    if (first->strength != HS_SURE || !is_ordered(f, first))
        claim->doubts |= HS_DOUBT_KIND;
    if (is_disputed(f, first))
        claim->doubts |= HS_DOUBT_KIND;
    return true;
}

/* One of each other code, as an alternative. */
static bool claim_others(struct faults *f)
{
    const char *told[32];
    uint32_t n = 0;

    told[n++] = f->count ? f->roots[0]->code : "";
    for (uint32_t i = 0; i < f->count + f->lead_count; i++) {
        const struct hs_symptom *s = i < f->count ? f->roots[i] : f->leads[i - f->count];
        struct hs_line_claim *line;
        struct hs_claim *claim;
        struct hs_place place;
        bool known = n == sizeof(told) / sizeof(told[0]);

        for (uint32_t k = 0; k < n && !known; k++)
            known = strcmp(told[k], s->code) == 0;
        if (known)
            continue;
        told[n++] = s->code;
        claim = hs_add_line_claim(f->r, static_word(s->code), &line);
        if (!claim || !fill(f, s, claim, line))
            return false;
        claim->alternative = true;
        claim->doubts |= HS_DOUBT_LEAD;
        place = place_of(s);
        if (i >= f->count && s->source != HS_NO_ID && !hs_cite_places(f->r, claim, &place, 1))
            return false;
    }
    return true;
}

bool hs_claims_from_faults(const struct hs_line_reading *r, const struct hs_symptoms *symptoms)
{
    struct faults f = { .r = r, .symptoms = symptoms };

    if (!index_waits(&f) || !sort_out(&f, symptoms))
        return false;
    return (f.count == 0 || claim_first(&f)) && claim_others(&f);
}
