/* line_telling.c - a claim from lines in the words of the contract, with the lines that prove it.
 */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

enum { EVIDENCE = 12, SEARCHED = 64, HOSTS = 3 };

static uint64_t known_or_null(uint64_t value)
{
    return value == HS_NO_POSITION ? HS_UNKNOWN : value;
}

static struct hs_str text_or_null(const struct hs_judged *j, uint32_t string,
                                  struct hs_arena *arena)
{
    return string == HS_NO_ID ? (struct hs_str){ .p = NULL } : hs_safe(j->job, string, arena);
}

static void put_operation(const struct hs_judged *j, const struct hs_line_wait *w,
                          struct hs_verdict *v)
{
    struct hs_arena *arena = &v->arena;
    uint32_t group = w->group_desc != HS_NO_ID ? w->group_desc : w->group;

    v->has_operation = w->op != HS_NO_ID || w->seq != HS_NO_POSITION;
    v->operation = (struct hs_verdict_operation){
        .group = text_or_null(j, group, arena),
        .group_name = text_or_null(j, w->group, arena),
        .group_size = HS_UNKNOWN,
        .seq = known_or_null(w->seq),
        .op = hs_line_op_name(j, w->op, arena),
        .recorded = text_or_null(j, w->op, arena),
        .src = HS_NO_ID,
        .dst = HS_NO_ID,
        .numel_in = known_or_null(w->numel_in),
        .numel_out = known_or_null(w->numel_out),
        .dtype = { .p = NULL },
    };
}

/* Who waits, each once; a culprit of a mismatch waits as well, and is told as a culprit. */
static bool put_waiting(const struct hs_line_claim *line, struct hs_verdict *v)
{
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, line->waiting_count);

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < line->waiting_count; i++) {
        uint32_t rank = line->waiting[i];

        if (!hs_is_culprit(v, rank) && (!v->waiting_count || ranks[v->waiting_count - 1] != rank))
            ranks[v->waiting_count++] = rank;
    }
    v->waiting = ranks;
    return true;
}

/* Each line once, however many claims it serves. */
static bool is_cited(const struct hs_claim *claim, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (claim->places[k].source == claim->places[i].source &&
            claim->places[k].line == claim->places[i].line)
            return true;
    }
    return false;
}

static bool put_evidence(const struct hs_judged *j, const struct hs_claim *claim,
                         struct hs_verdict *v, struct hs_finding *f)
{
    f->evidence = HS_NEW(&v->arena, struct hs_evidence, EVIDENCE);
    for (uint32_t i = 0;
         f->evidence && i < claim->place_count && i < SEARCHED && f->evidence_count < EVIDENCE;
         i++) {
        struct hs_evidence *e = &f->evidence[f->evidence_count];

        if (is_cited(claim, i))
            continue;
        *e = hs_line_evidence(j, &claim->places[i], &v->arena);
        f->evidence_count += e->source.p != NULL;
    }
    return f->evidence != NULL;
}

bool hs_line_culprits(const struct hs_judged *j, const struct hs_line_claim *line,
                      struct hs_arena *arena, struct hs_culprit **out)
{
    *out = HS_NEW(arena, struct hs_culprit, line->named_count);
    for (uint32_t i = 0; *out && i < line->named_count; i++) {
        const struct hs_named *n = &line->named[i];
        struct hs_culprit *c = &(*out)[i];

        *c = (struct hs_culprit){ .rank = n->rank, .gpu = HS_NO_ID, .role = n->role };
        if (n->rank != HS_NO_ID)
            c->host = hs_host_of(j, n->rank, &c->gpu, arena);
        if (!c->host.p && n->host != HS_NO_ID)
            c->host = hs_safe_text(j->identity->hosts[n->host], arena);
    }
    return *out != NULL;
}

/* "node-a, node-b" of the culprits, each once; "" when there are none or too many to say. */
static struct hs_str hosts_of(const struct hs_culprit *culprits, uint32_t culprit_count,
                              uint32_t limit, uint32_t *count, struct hs_arena *arena)
{
    struct hs_str names = hs_str_of(""), seen[16];

    *count = 0;
    for (uint32_t i = 0; i < culprit_count; i++) {
        bool known = !culprits[i].host.p;

        for (uint32_t k = 0; k < *count && !known; k++)
            known = hs_str_eq(seen[k], culprits[i].host);
        if (known)
            continue;
        if (*count == limit)
            return hs_str_of("");
        seen[(*count)++] = culprits[i].host;
        names = hs_arena_printf(arena, "%.*s%s%.*s", HS_STR_ARG(names), names.n ? ", " : "",
                                HS_STR_ARG(culprits[i].host));
    }
    return names;
}

/* Culprits as a sentence names them: by rank, else by host. */
static struct hs_str names_of(const struct hs_line_claim *line, const struct hs_culprit *culprits,
                              uint32_t *count, struct hs_arena *arena)
{
    uint32_t *ranks = HS_NEW(arena, uint32_t, line->named_count), n = 0, hosts;

    for (uint32_t i = 0; ranks && i < line->named_count; i++) {
        if (line->named[i].rank != HS_NO_ID)
            ranks[n++] = line->named[i].rank;
    }
    *count = n;
    return n ? hs_rank_text(ranks, n, arena)
             : hosts_of(culprits, line->named_count, 16, &hosts, arena);
}

/* What a rule adds to its title, without the full stop that the sentence has itself. */
static struct hs_str detail_of(const struct hs_line_claim *line, struct hs_arena *arena)
{
    struct hs_str detail = line->detail;

    while (detail.n && (detail.p[detail.n - 1] == '.' || detail.p[detail.n - 1] == ' '))
        detail.n--;
    return detail.n ? hs_safe_text(detail, arena) : hs_str_of("");
}

/* A fault is told with whom it befell: ranks, else hosts, else nobody. */
static const char *summary_of(const struct hs_line_claim *line)
{
    bool rank = false;

    for (uint32_t i = 0; i < line->named_count; i++)
        rank = rank || line->named[i].rank != HS_NO_ID;
    if (!line->rule)
        return line->summary;
    return rank                ? "summary.lines.fault"
           : line->named_count ? "summary.lines.fault.host"
                               : "summary.lines.fault.nobody";
}

/* A difference between hosts is found by comparison, not by a line. */
bool hs_is_comparison(const struct hs_line_claim *line)
{
    return line->rule && strncmp(line->rule, "mixed-", strlen("mixed-")) == 0;
}

const struct hs_symptom *hs_symptom_behind(const struct hs_judged *j, const struct hs_claim *claim)
{
    for (uint32_t i = 0; claim->line && claim->line->rule && i < j->symptoms.count; i++) {
        const struct hs_symptom *s = &j->symptoms.rows[i];

        if (strcmp(hs_rule_topic(s->rule), claim->line->rule) == 0 &&
            s->time_ns == claim->line->at_ns && hs_str_eq(s->detail, claim->line->detail))
            return s;
    }
    return NULL;
}

const struct hs_symptom *hs_first_failure(const struct hs_judged *j)
{
    for (uint32_t i = 0; i < j->symptoms.count; i++) {
        if (j->symptoms.rows[i].role == HS_ROOT || j->symptoms.rows[i].role == HS_CASCADE)
            return &j->symptoms.rows[i];
    }
    return NULL;
}

bool hs_add_line_names(const struct hs_judged *j, const struct hs_claim *claim,
                       const struct hs_culprit *culprits, struct hs_phrase *phrase,
                       struct hs_arena *arena)
{
    const struct hs_line_claim *line = claim->line;
    const struct hs_symptom *symptom = hs_symptom_behind(j, claim);
    uint32_t count, host_count;
    struct hs_str names = names_of(line, culprits, &count, arena);
    struct hs_str hosts = hosts_of(culprits, line->named_count, HOSTS, &host_count, arena);
    struct hs_str host =
        count && hosts.n ? hs_arena_printf(arena, " on %.*s", HS_STR_ARG(hosts)) : hs_str_of("");
    bool told = !line->rule || line->waiting_count; /* a fault tells of the call by who waits */
    struct hs_str operation = told ? hs_line_call_text(j, line->wait, arena) : hs_str_of("");
    struct hs_str detail = detail_of(line, arena);
    bool began = line->began_ns && told;

    hs_phrase_add(phrase, "culprits", names, count);
    hs_phrase_add(phrase, "waiters", hs_rank_text(line->waiting, line->waiting_count, arena),
                  line->waiting_count);
    hs_phrase_add(phrase, "operation", operation, operation.n > 0);
    hs_phrase_add(phrase, "other", hs_line_call_text(j, line->other, arena), 1);
    hs_phrase_add(phrase, "host", host, 1);
    hs_phrase_add(phrase, "since",
                  began ? hs_stamp_clock(line->began_ns, line->clock, arena) : hs_str_of(""),
                  began);
    hs_phrase_add(phrase, "at",
                  symptom && symptom->time_ns
                      ? hs_stamp_clock(symptom->time_ns, symptom->clock, arena)
                      : hs_str_of(""),
                  symptom && symptom->time_ns);
    hs_phrase_add(phrase, "detail", detail, detail.n > 0);
    hs_phrase_add(phrase, "topic", hs_arena_copy(arena, hs_str_of(line->rule ? line->rule : "")),
                  1);
    return names.p != NULL && detail.p != NULL && operation.p != NULL;
}

bool hs_tell_line_claim(const struct hs_judged *j, const struct hs_claim *claim,
                        struct hs_verdict *v)
{
    const struct hs_line_claim *line = claim->line;
    struct hs_finding *f;
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, line->named_count);

    if (!ranks || !hs_line_culprits(j, line, &v->arena, &v->culprits))
        return false;
    v->culprit_count = line->named_count;
    v->cause = claim->cause;
    v->hang_began_ns = line->began_ns;
    v->hang_began_clock = line->clock;
    if (!put_waiting(line, v))
        return false;
    if (line->wait)
        put_operation(j, line->wait, v);
    v->summary.key = summary_of(line);
    v->why.key = hs_is_comparison(line) ? "why.lines.difference" : line->why;
    if (!hs_add_line_names(j, claim, v->culprits, &v->summary, &v->arena) ||
        !hs_add_line_names(j, claim, v->culprits, &v->why, &v->arena))
        return false;
    f = hs_add_finding(v, v->code, HS_ERROR);
    if (!f)
        return false;
    f->detail = v->summary;
    for (uint32_t i = 0; i < line->named_count; i++) {
        if (line->named[i].rank != HS_NO_ID)
            ranks[f->rank_count++] = line->named[i].rank;
    }
    f->ranks = ranks;
    return put_evidence(j, claim, v, f);
}

bool hs_tell_line_work(const struct hs_judged *j, struct hs_verdict *v)
{
    const struct hs_event *e;
    struct hs_place place;
    struct hs_finding *f;
    uint32_t process;

    if (strcmp(v->code, "healthy") != 0 || j->al.seat_count || j->lines.last_work == HS_NO_ID)
        return true;
    e = &j->job->events[j->lines.last_work];
    process = j->identity->process_of_event[j->lines.last_work];
    place = (struct hs_place){
        .source = e->source,
        .line = e->last_line,
        .rank = process == HS_NO_ID ? HS_NO_ID : j->identity->processes[process].rank,
    };
    f = hs_add_finding(v, v->code, HS_NOTE);
    if (!f)
        return false;
    f->detail = v->summary;
    f->evidence = HS_NEW(&v->arena, struct hs_evidence, 1);
    if (!f->evidence)
        return false;
    f->evidence[0] = hs_line_evidence(j, &place, &v->arena);
    f->evidence_count = f->evidence[0].source.p != NULL;
    return true;
}
