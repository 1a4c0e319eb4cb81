/*
 * line_ras.c - NCCL's RAS: how far the ranks of a communicator have come.
 *
 * RAS lists the smaller part of the ranks by number, be they behind or ahead; the others are the
 * rest of the communicator. Those that have launched least are waited for, if only by majority of
 * the evidence: an extra call of the few that are ahead looks the same.
 */
#include "analyzer/line_claims.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

/* How many ranks have launched up to a call, and those of them that are listed. */
struct level {
    uint64_t seq;
    uint64_t count;
    uint32_t *ranks;
    uint32_t listed, event;
};

struct ras {
    const struct hs_line_reading *r;
    struct hs_str comm, op;
    struct level levels[16];
    uint32_t level_count;
    uint64_t size;
    uint32_t *events;
    uint32_t event_count;
};

static struct hs_str arg(const struct ras *s, uint32_t event, const char *name)
{
    return hs_job_arg(s->r->job, s->r->job->events[event].args, name);
}

static uint64_t number(const struct ras *s, uint32_t event, const char *name)
{
    uint64_t value;

    return hs_str_number(arg(s, event, name), &value) ? value : HS_NO_POSITION;
}

static struct level *level_of(struct ras *s, uint64_t seq, uint32_t event)
{
    uint32_t i = 0;

    while (i < s->level_count && s->levels[i].seq != seq)
        i++;
    if (i == sizeof(s->levels) / sizeof(s->levels[0]))
        return NULL;
    if (i == s->level_count)
        s->levels[s->level_count++] =
            (struct level){ .seq = seq,
                            .ranks = HS_NEW(s->r->arena, uint32_t, s->r->job->event_count),
                            .event = event };
    return s->levels[i].ranks ? &s->levels[i] : NULL;
}

/* A statement about the communicator and operation that are looked at. */
static bool take(struct ras *s, uint32_t event)
{
    struct hs_str what = arg(s, event, "what");
    uint64_t seq = number(s, event, "seq"), rank = number(s, event, "rank");
    struct level *level;

    if (hs_str_is(what, "communicators") && number(s, event, "nranks") != HS_NO_POSITION)
        s->size = number(s, event, "nranks");
    if (seq == HS_NO_POSITION || !hs_str_eq(arg(s, event, "commid"), s->comm) ||
        !hs_str_eq(arg(s, event, "op"), s->op))
        return true;
    level = level_of(s, seq, event);
    if (!level)
        return true;
    s->events[s->event_count++] = event;
    if (hs_str_is(what, "ranks") && number(s, event, "count") != HS_NO_POSITION)
        level->count = number(s, event, "count");
    else if (hs_str_is(what, "rank") && rank <= HS_RANK_MAX)
        level->ranks[level->listed++] = (uint32_t)rank;
    return true;
}

/* The ranks of the level that is least; the rest of the communicator if they are not listed. */
static uint32_t *least_ranks(const struct ras *s, uint32_t least, uint32_t *count)
{
    const struct level *level = &s->levels[least];
    uint32_t *ranks, n = 0;

    *count = level->listed;
    if (level->listed && (!level->count || level->listed == level->count))
        return level->ranks;
    *count = 0;
    if (s->level_count != 2 || s->size > HS_RANK_MAX || !s->levels[1 - least].listed)
        return level->ranks;
    ranks = HS_NEW(s->r->arena, uint32_t, s->size);
    qsort(s->levels[1 - least].ranks, s->levels[1 - least].listed, sizeof(uint32_t),
          hs_compare_u32);
    for (uint32_t rank = 0; ranks && rank < s->size; rank++) {
        if (!hs_u32_contains(s->levels[1 - least].ranks, s->levels[1 - least].listed, rank))
            ranks[n++] = rank;
    }
    *count = n;
    return ranks;
}

static bool claim_levels(struct ras *s)
{
    struct hs_line_wait *wait = HS_NEW(s->r->arena, struct hs_line_wait, 1);
    struct hs_line_claim *line;
    struct hs_claim *claim;
    uint32_t least = 0, most = 0, count, *ranks;

    for (uint32_t i = 1; i < s->level_count; i++) {
        least = s->levels[i].seq < s->levels[least].seq ? i : least;
        most = s->levels[i].seq > s->levels[most].seq ? i : most;
    }
    if (s->level_count < 2)
        return true;
    ranks = least_ranks(s, least, &count);
    claim = hs_add_line_claim(s->r, count ? "rank-missing" : "undetermined", &line);
    if (!claim || !wait || !ranks || !hs_name_ranks(s->r, line, ranks, count, "missing"))
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    claim->reach = (uint32_t)(s->size && s->size > count ? s->size - count : 1);
    *wait = (struct hs_line_wait){ .rank = HS_NO_ID,
                                   .event = s->levels[most].event,
                                   .group = HS_NO_ID,
                                   .group_desc = HS_NO_ID,
                                   .seq = s->levels[most].seq,
                                   .op = hs_intern_find(&s->r->job->strings, s->op),
                                   .numel_in = HS_NO_POSITION,
                                   .numel_out = HS_NO_POSITION,
                                   .stack = HS_NO_ID };
    line->wait = wait;
    line->waiting = s->levels[most].ranks;
    line->waiting_count = s->levels[most].listed;
    line->summary = "summary.lines.ras";
    line->why = "why.lines.ras";
    if (!hs_cite(s->r, claim, s->events, s->event_count < 6 ? s->event_count : 6))
        return false;
    claim = hs_add_line_claim(s->r, "order-mismatch", &line); /* the few made a call too many */
    if (!claim ||
        !hs_name_ranks(s->r, line, s->levels[most].ranks, s->levels[most].listed, "differs"))
        return false;
    claim->weak = true;
    claim->doubts |= HS_DOUBT_LEAD;
    line->wait = wait;
    line->summary = "summary.lines.ras";
    line->why = "why.lines.ras.extra";
    return true;
}

bool hs_claims_from_ras(const struct hs_line_reading *r)
{
    uint32_t family = hs_intern_find(&r->job->strings, HS_STR("RAS"));
    struct ras s = { .r = r };

    if (family == HS_NO_ID)
        return true;
    s.events = HS_NEW(r->arena, uint32_t, r->job->event_count);
    if (!s.events)
        return false;
    for (uint32_t e = 0; e < r->job->event_count; e++) {
        if (r->job->events[e].family != family)
            continue;
        if (!s.comm.n && hs_str_is(arg(&s, e, "what"), "ranks") && arg(&s, e, "seq").n) {
            s.comm = arg(&s, e, "commid"); /* the first that is said to differ */
            s.op = arg(&s, e, "op");
        }
        if (!take(&s, e))
            return false;
    }
    return claim_levels(&s);
}
