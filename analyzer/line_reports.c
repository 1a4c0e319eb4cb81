/*
 * line_reports.c - lines that compare ranks by themselves: the fingerprint check, the desync
 * report, monitored barriers, torchfrtrace, and who waits for a rank that never came at the start.
 *
 * Their ranks are places in a group. A place is a global rank where the group is the default one,
 * or where lines of that rank say so; else it names nobody.
 */
#include "analyzer/line_reports.h"
#include "analyzer/line_sides.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

struct hs_str hs_reports_arg(const struct hs_reports *p, uint32_t event, const char *name)
{
    return hs_job_arg(p->r->job, p->r->job->events[event].args, name);
}

uint64_t hs_reports_number(const struct hs_reports *p, uint32_t event, const char *name)
{
    uint64_t value;

    return hs_str_number(hs_reports_arg(p, event, name), &value) ? value : HS_NO_POSITION;
}

/* The events of a family in the judged attempt, in their order. */
void hs_reports_collect(struct hs_reports *p, const char *family)
{
    uint32_t name = hs_intern_find(&p->r->job->strings, hs_str_of(family));

    p->count = 0;
    for (uint32_t e = 0; name != HS_NO_ID && e < p->r->job->event_count; e++) {
        const struct hs_event *event = &p->r->job->events[e];

        if (event->family == name &&
            hs_identity_attempt(p->r->identity, event->source, event->line) == p->r->attempt)
            p->events[p->count++] = e;
    }
}

static uint32_t process_rank(const struct hs_reports *p, uint32_t event)
{
    uint32_t process = p->r->identity->process_of_event[event];

    return process == HS_NO_ID ? HS_NO_ID : p->r->identity->processes[process].rank;
}

/*
 * Whether places in the group are global ranks: it is the default group, or every line whose rank
 * is known says the same number; `known` counts those lines.
 */
static bool places_are_ranks(const struct hs_reports *p, const char *field, uint32_t *known)
{
    *known = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t place = hs_reports_number(p, p->events[i], field);
        uint32_t rank = process_rank(p, p->events[i]);

        if (place == HS_NO_POSITION || rank == HS_NO_ID)
            continue;
        if (place != rank)
            return false;
        ++*known;
    }
    return true;
}

/* "3, 4, 5", "{3, 4}": numbers, at most `cap`. */
static uint32_t read_ranks(struct hs_str text, uint32_t *ranks, uint32_t cap)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.n && n < cap;) {
        uint64_t value = 0;
        size_t from = i;

        while (i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && value <= HS_RANK_MAX)
            value = value * 10 + (uint64_t)(text.p[i++] - '0');
        if (i > from && value <= HS_RANK_MAX)
            ranks[n++] = (uint32_t)value;
        i += i == from || value > HS_RANK_MAX;
    }
    return n;
}

uint32_t *hs_reports_ranks(const struct hs_reports *p, struct hs_str text, uint32_t *count)
{
    uint32_t cap = (uint32_t)(text.n / 2 + 1);
    uint32_t *ranks = HS_NEW(p->r->arena, uint32_t, cap);

    *count = ranks ? read_ranks(text, ranks, cap) : 0;
    return ranks;
}

/* A wait that stands for the call a report names. */
static struct hs_line_wait *call_of(const struct hs_reports *p, uint32_t event, const char *seq)
{
    struct hs_line_wait *w = HS_NEW(p->r->arena, struct hs_line_wait, 1);
    struct hs_str op = hs_reports_arg(p, event, "op"), pg = hs_reports_arg(p, event, "pg");
    struct hs_str desc = hs_reports_arg(p, event, "pg_desc");
    const struct hs_intern *strings = &p->r->job->strings;

    if (!w)
        return NULL;
    *w = (struct hs_line_wait){ .rank = HS_NO_ID,
                                .event = event,
                                .group = pg.n ? hs_intern_find(strings, pg) : HS_NO_ID,
                                .group_desc = desc.n ? hs_intern_find(strings, desc) : HS_NO_ID,
                                .seq = hs_reports_number(p, event, seq),
                                .op = op.n ? hs_intern_find(strings, op) : HS_NO_ID,
                                .numel_in = hs_reports_number(p, event, "numel_in"),
                                .numel_out = hs_reports_number(p, event, "numel_out"),
                                .stack = HS_NO_ID };
    return w;
}

/* ---- the fingerprint check: every rank tells its own call and that of one that differs ---- */

static bool add_opinion(const struct hs_reports *p, struct hs_sides *sides, uint32_t event,
                        const char *prefix)
{
    char place[24], op[24], shape[24], dtype[24];
    struct hs_side_view view;

    (void)snprintf(place, sizeof(place), "%spg_rank", prefix);
    (void)snprintf(op, sizeof(op), "%sop", prefix);
    (void)snprintf(shape, sizeof(shape), "%sshape", prefix);
    (void)snprintf(dtype, sizeof(dtype), "%sdtype", prefix);
    view = (struct hs_side_view){ .place = hs_reports_number(p, event, place),
                                  .event = event,
                                  .op = hs_reports_arg(p, event, op),
                                  .shape = hs_reports_arg(p, event, shape),
                                  .dtype = hs_reports_arg(p, event, dtype) };
    return view.place == HS_NO_POSITION || hs_sides_add(sides, &view);
}

static bool claim_fingerprints(struct hs_reports *p)
{
    enum { OWN_MIN = 3 };
    struct hs_sides sides = { .arena = p->r->arena };
    struct hs_line_claim *line;
    struct hs_claim *claim;
    uint32_t known, *odd, odd_count;
    bool global, own;

    hs_reports_collect(p, "FINGERPRINT");
    if (p->count == 0)
        return true;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!add_opinion(p, &sides, p->events[i], ""))
            return false;
    }
    /* what ranks say of themselves is enough, if it decides: they misread longer or shorter calls
     */
    (void)hs_sides_odd(&sides, &odd_count);
    own = sides.count >= OWN_MIN && odd_count > 0;
    for (uint32_t i = 0; i < p->count && !own; i++) {
        if (!add_opinion(p, &sides, p->events[i], "other_"))
            return false;
    }
    global = places_are_ranks(p, "pg_rank", &known);
    odd = hs_sides_odd(&sides, &odd_count);
    claim = hs_add_line_claim(p->r, hs_sides_code(&sides), &line);
    if (!claim || !odd || (global && !hs_name_ranks(p->r, line, odd, odd_count, "differs")))
        return false;
    if (!known && odd_count)
        claim->doubts |= HS_DOUBT_ASSUMED;
    if (own && sides.count < p->r->waits->implied)
        claim->doubts |= HS_DOUBT_MEMBERS;
    if (!hs_sides_differ(&sides))
        claim->doubts |= HS_DOUBT_KIND; /* the other side is not told, so neither is what differs */
    claim->reach = p->count;
    line->wait = call_of(p, p->events[0], "seq");
    line->detail = hs_sides_text(&sides);
    line->summary =
        odd_count && global ? "summary.lines.fingerprint" : "summary.lines.fingerprint.even";
    line->why = "why.lines.fingerprint";
    return line->wait && hs_cite(p->r, claim, p->events, p->count);
}

/* ---- who is behind, by a report ---- */

/* Ranks of a list of places; none when places name nobody. */
static bool claim_listed(struct hs_reports *p, const char *field, uint32_t event, const char *seq,
                         const char *key, bool global)
{
    uint32_t count, *ranks = hs_reports_ranks(p, hs_reports_arg(p, event, field), &count);
    struct hs_line_claim *line;
    struct hs_claim *claim;

    if (!ranks || count == 0)
        return ranks != NULL;
    claim = hs_add_line_claim(p->r, "rank-missing", &line);
    if (!claim || !hs_name_ranks(p->r, line, ranks, global ? count : 0, "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->weak = !global;
    claim->reach = p->count;
    line->wait = call_of(p, event, seq);
    line->summary = key;
    line->why = "why.lines.report";
    return line->wait && hs_cite(p->r, claim, p->events, p->count < 4 ? p->count : 4);
}

static bool claim_desync(struct hs_reports *p)
{
    uint32_t known;

    hs_reports_collect(p, "DESYNC");
    for (uint32_t i = 0; i < p->count; i++) {
        struct hs_str what = hs_reports_arg(p, p->events[i], "what");
        bool behind = hs_str_is(what, "behind") || hs_str_is(what, "missing");

        if (behind)
            return claim_listed(p, "pg_ranks", p->events[i], "seq", "summary.lines.reported",
                                places_are_ranks(p, "pg_rank", &known));
    }
    return true;
}

static bool claim_barrier(struct hs_reports *p)
{
    uint32_t known;

    hs_reports_collect(p, "MONBAR_FAIL");
    return p->count == 0 ||
           claim_listed(p, "pg_ranks", p->events[0], "seq", "summary.lines.barrier",
                        places_are_ranks(p, "pg_rank", &known));
}

/* The line that lists them, below the one where the finding begins. */
static bool cite_missing(struct hs_reports *p)
{
    struct hs_claim *claim = &p->r->out->rows[p->r->out->count - 1];

    hs_reports_collect(p, "FRTRACE_ROW");
    for (uint32_t i = 0; i < p->count; i++) {
        if (hs_str_is(hs_reports_arg(p, p->events[i], "name"), "missing ranks"))
            return hs_cite(p->r, claim, &p->events[i], 1);
    }
    return true;
}

static bool claim_frtrace(struct hs_reports *p)
{
    hs_reports_collect(p, "FR_TRACE");
    for (uint32_t i = 0; i < p->count; i++) {
        if (hs_reports_arg(p, p->events[i], "missing").n)
            return claim_listed(p, "missing", p->events[i], "seq", "summary.lines.reported",
                                true) &&
                   cite_missing(p);
    }
    return true;
}

/* ---- the start: ranks that wait for one that has not come ---- */

/* A wait that ran out, not a connection that broke: that is what the store's end looks like. */
static bool ran_out(struct hs_str why)
{
    return hs_str_has(why, "imeout") || hs_str_has(why, "timed out");
}

static bool claim_unique_id(struct hs_reports *p)
{
    static const uint32_t root = 0;
    uint32_t known, *waiting, n = 0;
    struct hs_line_claim *line;
    struct hs_claim *claim;
    bool global;

    hs_reports_collect(p, "UNIQUEID_ERR");
    waiting = HS_NEW(p->r->arena, uint32_t, p->count);
    global = places_are_ranks(p, "pg_rank", &known);
    if (!waiting)
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t rank = process_rank(p, p->events[i]);

        if (!ran_out(hs_reports_arg(p, p->events[i], "why")))
            continue;
        if (rank == HS_NO_ID && global && !known)
            rank = (uint32_t)hs_reports_number(p, p->events[i], "pg_rank");
        if (rank != HS_NO_ID && !hs_u32_contains(waiting, n, rank))
            waiting[n++] = rank;
        if (n)
            qsort(waiting, n, sizeof(*waiting), hs_compare_u32);
    }
    if (n == 0)
        return true;
    claim = hs_add_line_claim(p->r, global ? "rank-missing" : "init-stuck", &line);
    if (!claim || (global && !hs_name_ranks(p->r, line, &root, 1, "missing")))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = n;
    line->waiting = waiting;
    line->waiting_count = n;
    line->summary = global ? "summary.lines.unique-id" : "summary.lines.unique-id.somebody";
    line->why = "why.lines.unique-id";
    return hs_cite(p->r, claim, p->events, p->count < 4 ? p->count : 4);
}

/*
 * gloo: each rank writes its address into the store, under a key that ends with its number. Where a
 * rank is awaited that waits itself, two processes took one number.
 */
static bool claim_awaited(struct hs_reports *p)
{
    uint32_t *awaited, *waiting, n = 0, waiting_count = 0;
    struct hs_line_claim *line;
    struct hs_claim *claim;
    bool self = false;

    hs_reports_collect(p, "STORE_CLIENTS");
    if (p->count)
        return true; /* the store itself gave up: claim_joining() */
    hs_reports_collect(p, "STORE_WAIT");
    awaited = HS_NEW(p->r->arena, uint32_t, p->count);
    waiting = HS_NEW(p->r->arena, uint32_t, p->count);
    for (uint32_t i = 0; awaited && waiting && i < p->count; i++) {
        uint64_t rank = hs_reports_number(p, p->events[i], "awaited");
        uint32_t waiter = process_rank(p, p->events[i]);

        if (rank > HS_RANK_MAX)
            continue;
        p->events[n] = p->events[i];
        awaited[n++] = (uint32_t)rank;
        if (waiter != HS_NO_ID)
            waiting[waiting_count++] = waiter;
    }
    if (!awaited || !waiting || n == 0)
        return awaited && waiting;
    qsort(waiting, waiting_count, sizeof(*waiting), hs_compare_u32);
    for (uint32_t i = 0; i < n; i++)
        self = self || hs_u32_contains(waiting, waiting_count, awaited[i]);
    claim = hs_add_line_claim(p->r, self ? "init-stuck" : "rank-missing", &line);
    if (!claim || !hs_name_ranks(p->r, line, awaited, self ? 0 : n, "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = n;
    line->waiting = waiting;
    line->waiting_count = waiting_count;
    line->detail = hs_reports_arg(p, p->events[0], "awaited");
    line->summary = self ? "summary.lines.awaited.self" : "summary.lines.awaited";
    line->why = "why.lines.awaited";
    return hs_cite(p->r, claim, p->events, n < 4 ? n : 4);
}

/* Who came to the start, of how many. */
struct joining {
    uint64_t world, joined;
    uint32_t *came, count;
};

static void count_joined(const struct hs_reports *p, struct joining *j)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t size = hs_reports_number(p, p->events[i], "world_size");
        uint64_t joined = hs_reports_number(p, p->events[i], "joined");

        j->world = size != HS_NO_POSITION && size > j->world ? size : j->world;
        j->joined = joined != HS_NO_POSITION && joined > j->joined ? joined : j->joined;
    }
}

/* The ranks that lines of one family name in `place`; else those that wrote the lines. */
static bool add_those(const struct hs_reports *p, const char *place, struct joining *j)
{
    uint32_t *all = HS_NEW(p->r->arena, uint32_t, j->count + p->count);

    for (uint32_t i = 0; all && i < j->count; i++)
        all[i] = j->came[i];
    for (uint32_t i = 0; all && i < p->count; i++) {
        uint64_t rank = place ? hs_reports_number(p, p->events[i], place)
                              : (uint64_t)process_rank(p, p->events[i]);

        if (rank < HS_NO_ID)
            all[j->count++] = (uint32_t)rank;
    }
    j->came = all;
    return all != NULL;
}

/* Those who reached a barrier name themselves; a store's host is one, who waits there another. */
static bool find_joined(struct hs_reports *p, const char *family, const char *place,
                        struct joining *j)
{
    static const char *const waits[] = { "STORE_WAIT", "STORE_SOCK_TO" }; /* they had found it */

    for (size_t i = 0; !place && i < sizeof(waits) / sizeof(waits[0]); i++) {
        hs_reports_collect(p, waits[i]);
        if (!add_those(p, NULL, j))
            return false;
    }
    hs_reports_collect(p, family);
    count_joined(p, j);
    if (!add_those(p, place, j))
        return false;
    if (j->count)
        qsort(j->came, j->count, sizeof(*j->came), hs_compare_u32);
    return true;
}

/* A first barrier, or the master, that counted too few: those who spoke had come. */
static bool claim_joining(struct hs_reports *p, const char *family, const char *place)
{
    struct joining j = { .count = 0 };
    uint32_t *absent, missing = 0;
    struct hs_line_claim *line;
    struct hs_claim *claim;
    bool all;

    if (!find_joined(p, family, place, &j))
        return false;
    if (p->count == 0 || j.world == 0 || j.joined >= j.world || j.world > HS_RANK_MAX)
        return true;
    absent = HS_NEW(p->r->arena, uint32_t, j.world);
    for (uint32_t rank = 0; absent && rank < j.world; rank++) {
        if (!hs_u32_contains(j.came, j.count, rank))
            absent[missing++] = rank;
    }
    all = missing == j.world - j.joined;
    claim = hs_add_line_claim(p->r, all ? "rank-missing" : "init-stuck", &line);
    if (!claim || !absent || !hs_name_ranks(p->r, line, absent, all ? missing : 0, "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = j.count;
    line->waiting = j.came;
    line->waiting_count = j.count;
    line->detail = hs_arena_printf(p->r->arena, "%llu of %llu", (unsigned long long)j.joined,
                                   (unsigned long long)j.world);
    line->summary = all ? "summary.lines.not-come" : "summary.lines.too-few";
    line->why = "why.lines.too-few";
    return hs_cite(p->r, claim, p->events, p->count < 4 ? p->count : 4);
}

bool hs_claims_from_reports(const struct hs_line_reading *r)
{
    struct hs_reports p = { .r = r, .events = HS_NEW(r->arena, uint32_t, r->job->event_count) };

    return p.events && claim_fingerprints(&p) && claim_desync(&p) && claim_barrier(&p) &&
           claim_frtrace(&p) && hs_claims_from_coordinators(&p) && claim_unique_id(&p) &&
           claim_joining(&p, "STORE_BARRIER", "rank") && claim_joining(&p, "STORE_CLIENTS", NULL) &&
           claim_awaited(&p) && hs_claims_from_ras(r);
}
