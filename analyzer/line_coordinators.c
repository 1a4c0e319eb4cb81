/*
 * line_coordinators.c - coordinators of frameworks, who know which ranks have come and which have
 * not: Horovod's of tensors, JAX's of barriers.
 */
#include "analyzer/line_reports.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

/* ---- Horovod: tensors that some ranks have submitted and others have not ---- */

struct stalled {
    uint32_t *missing; /* of one tensor */
    uint32_t count, event;
    uint32_t world;
    bool apart; /* ranks lack other tensors than each other: each waits for the other */
};

/* The ranks that are not among those that are ready, in a world that is at least so large. */
static bool take_ready(const struct hs_reports *p, struct stalled *s, struct hs_str ready)
{
    uint32_t count, world = s->world, *came = hs_reports_ranks(p, ready, &count);

    if (!came)
        return false;
    qsort(came, count, sizeof(*came), hs_compare_u32);
    if (count && came[count - 1] >= world)
        world = came[count - 1] + 1;
    s->missing = HS_NEW(p->r->arena, uint32_t, world);
    for (uint32_t rank = 0; s->missing && rank < world; rank++) {
        if (!hs_u32_contains(came, count, rank))
            s->missing[s->count++] = rank;
    }
    if (s->count >= count)
        s->count = 0; /* too few are ready to say who is not */
    return s->missing != NULL;
}

/* Lists of tensors by rank: those that lack the same, or that some lack these and others those. */
static bool take_lists(const struct hs_reports *p, struct stalled *s)
{
    struct hs_str first = hs_reports_arg(p, s->event, "names");

    s->missing = HS_NEW(p->r->arena, uint32_t, p->count);
    for (uint32_t i = 0; s->missing && i < p->count; i++) {
        const struct hs_event *e = &p->r->job->events[p->events[i]];
        uint64_t rank = hs_reports_number(p, p->events[i], "missing");
        struct hs_str names = hs_reports_arg(p, p->events[i], "names");

        if (rank == HS_NO_POSITION) /* "3: " looks like the tag of a launcher */
            rank = p->r->job->speakers[e->speaker].task;

        if (rank > HS_RANK_MAX || names.n == 0)
            continue;
        s->apart = s->apart || !hs_str_eq(names, first);
        s->missing[s->count++] = (uint32_t)rank;
    }
    return s->missing != NULL;
}

static bool take_tensor(const struct hs_reports *p, struct stalled *s)
{
    struct hs_str ready = hs_reports_arg(p, s->event, "joined");

    if (hs_reports_arg(p, s->event, "names").n)
        return take_lists(p, s);
    if (ready.n)
        return take_ready(p, s, ready);
    s->missing = hs_reports_ranks(p, hs_reports_arg(p, s->event, "missing"), &s->count);
    return s->missing != NULL;
}

/* The last tensor that is told of, in the report that comes last: it is still waited for. */
static bool claim_stalled(struct hs_reports *p)
{
    const struct hs_line_waits *lw = p->r->waits;
    struct stalled s = { .world = lw->implied };
    struct hs_line_claim *line;
    struct hs_claim *claim;
    bool named;

    hs_reports_collect(p, "HVD_MISSING");
    if (p->count == 0)
        return true;
    if (lw->world_size != HS_NO_POSITION && lw->world_size > s.world)
        s.world = (uint32_t)lw->world_size;
    s.event = p->events[p->count - 1];
    if (!take_tensor(p, &s))
        return false;
    named = s.count && !s.apart;
    if (s.count == 0)
        return true;
    claim = hs_add_line_claim(p->r, named ? "rank-missing" : "order-mismatch", &line);
    if (!claim || !hs_name_ranks(p->r, line, s.missing, named ? s.count : 0, "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = 1;
    line->detail =
        hs_reports_arg(p, s.event, hs_reports_arg(p, s.event, "names").n ? "names" : "name");
    line->summary = named ? "summary.lines.stalled" : "summary.lines.stalled.apart";
    line->why = "why.lines.stalled";
    return hs_cite(p->r, claim, p->events, p->count < 4 ? p->count : 4);
}

/* The tasks that are listed right below a line, one a line, until another line stands there. */
static uint32_t *tasks_below(struct hs_reports *p, uint32_t event, uint32_t *count)
{
    const struct hs_event *head = &p->r->job->events[event];
    uint64_t line = head->line;
    uint32_t *ranks;

    hs_reports_collect(p, "JAX_TASK");
    ranks = HS_NEW(p->r->arena, uint32_t, p->count + 1);
    *count = 0;
    for (uint32_t i = 0; ranks && i < p->count; i++) {
        const struct hs_event *e = &p->r->job->events[p->events[i]];
        uint64_t rank = hs_reports_number(p, p->events[i], "rank");

        if (e->source != head->source || e->line != line + 1 || rank > HS_RANK_MAX)
            continue;
        ranks[(*count)++] = (uint32_t)rank;
        line = e->line;
    }
    return ranks;
}

/* JAX's coordinator: who did not come to a barrier. Without names only the start says enough. */
static bool claim_coordinator(struct hs_reports *p)
{
    uint32_t event, count, *ranks;
    struct hs_line_claim *line;
    struct hs_claim *claim;
    struct hs_str key;
    bool lost, start;

    hs_reports_collect(p, "JAX_BARRIER");
    if (p->count == 0)
        return true;
    event = p->events[0];
    key = hs_reports_arg(p, event, "key");
    lost = hs_reports_arg(p, event, "what").n > 0;
    start = hs_str_has(key, "Connect") || hs_str_has(key, "[Init]");
    ranks = tasks_below(p, event, &count);
    if (!ranks || (count == 0 && !start))
        return ranks != NULL;
    claim = hs_add_line_claim(p->r,
                              !count ? "init-stuck"
                              : lost ? "rank-died"
                                     : "rank-missing",
                              &line);
    if (!claim || !hs_name_ranks(p->r, line, ranks, count, lost ? "died" : "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = 1;
    line->detail = key.n ? key : HS_STR("heartbeats");
    line->summary = count ? "summary.lines.coordinator" : "summary.lines.coordinator.nobody";
    line->why = "why.lines.report";
    return hs_cite(p->r, claim, &event, 1);
}

bool hs_claims_from_coordinators(struct hs_reports *p)
{
    return claim_stalled(p) && claim_coordinator(p);
}
