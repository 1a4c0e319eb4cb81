/* line_answers.c - answers to dump signals, without a line that tells which call ran out. */
#include "analyzer/line_claims.h"

/* Alive, without a failure of its own, and with nothing unfinished in the default group. */
static bool is_idle(const struct hs_line_standing *s)
{
    return s->answered && s->rank != HS_NO_ID && s->enqueued != HS_NO_POSITION &&
           s->enqueued == s->completed;
}

/* Something is unfinished in the default group. */
static bool is_busy(const struct hs_line_standing *s)
{
    return s->rank != HS_NO_ID && s->enqueued != HS_NO_POSITION && s->enqueued != s->completed;
}

/* It reports a timeout itself, and none of the default group's calls is open. */
static bool is_elsewhere(const struct hs_line_standing *s)
{
    return !s->answered && s->enqueued == s->completed;
}

static uint64_t sender_of(const struct hs_line_reading *r, const struct hs_line_standing *s)
{
    uint64_t rank;

    return hs_str_number(hs_job_arg(r->job, r->job->events[s->event].args, "src"), &rank) &&
                   rank < HS_NO_ID
               ? rank
               : HS_NO_POSITION;
}

struct answers {
    uint32_t *idle, *events; /* ranks that wait for nobody in the default group, their lines */
    uint32_t *waiting;       /* ranks that wait there, or somewhere else */
    uint32_t idle_count, waiting_count, busy;
    const struct hs_line_standing *first; /* of those that wait in the default group */
    uint64_t sender;                      /* HS_NO_POSITION: nobody says */
    bool elsewhere;                       /* the call that ran out is one of another group */
};

/* Standings come by rank: each rank once. */
static void sort_answers(const struct hs_line_reading *r, struct answers *a)
{
    for (uint32_t i = 0; i < r->waits->standing_count; i++) {
        const struct hs_line_standing *s = &r->waits->standings[i];

        a->elsewhere |= is_elsewhere(s);
        if (is_idle(s) && (a->idle_count == 0 || a->idle[a->idle_count - 1] != s->rank)) {
            a->sender = a->sender == HS_NO_POSITION ? sender_of(r, s) : a->sender;
            a->events[a->idle_count] = s->event;
            a->idle[a->idle_count++] = s->rank;
        }
        if (!a->first && is_busy(s))
            a->first = s;
        if ((is_busy(s) || is_elsewhere(s)) && s->rank != HS_NO_ID &&
            (a->waiting_count == 0 || a->waiting[a->waiting_count - 1] != s->rank)) {
            a->busy += is_busy(s);
            a->waiting[a->waiting_count++] = s->rank;
        }
    }
}

static bool claim_idle(const struct hs_line_reading *r, const struct answers *a)
{
    uint32_t *senders = HS_NEW(r->arena, uint32_t, 1);
    struct hs_line_claim *line;
    struct hs_claim *claim = hs_add_line_claim(r, "rank-missing", &line);

    if (!claim || !senders || !hs_name_ranks(r, line, a->idle, a->idle_count, "missing"))
        return false;
    senders[0] = (uint32_t)a->sender;
    claim->reach = 1 + a->busy;
    claim->doubts |= HS_DOUBT_MEMBERS;
    line->waiting = senders;
    line->waiting_count = 1;
    line->summary = "summary.lines.idle";
    line->why = "why.lines.idle";
    return hs_cite(r, claim, a->events, a->idle_count);
}

/* The call that a rank has not finished, as far as its counters tell. */
static struct hs_line_wait *call_of(const struct hs_line_reading *r,
                                    const struct hs_line_standing *s)
{
    struct hs_line_wait *w = HS_NEW(r->arena, struct hs_line_wait, 1);

    if (w)
        *w = (struct hs_line_wait){ .rank = s->rank,
                                    .event = s->event,
                                    .group = s->group,
                                    .group_desc = s->group_desc,
                                    .group_rank = HS_NO_ID,
                                    .seq = s->completed == HS_NO_POSITION ? HS_NO_POSITION
                                                                          : s->completed + 1,
                                    .op = HS_NO_ID,
                                    .numel_in = HS_NO_POSITION,
                                    .numel_out = HS_NO_POSITION,
                                    .stack = HS_NO_ID };
    return w;
}

/* Somebody's call ran out; who has not come to it, the answers do not tell. */
static bool claim_open(const struct hs_line_reading *r, const struct answers *a)
{
    uint32_t n = r->waits->standing_count, *events = HS_NEW(r->arena, uint32_t, n);
    struct hs_line_claim *line;
    struct hs_claim *claim = hs_add_line_claim(r, "undetermined", &line);

    if (!claim || !events)
        return false;
    for (uint32_t i = 0; i < n; i++)
        events[i] = r->waits->standings[i].event;
    claim->weak = true;
    claim->reach = a->waiting_count;
    line->waiting = a->waiting;
    line->waiting_count = a->waiting_count;
    line->summary = "summary.lines.waiting";
    line->why = "why.lines.waiting";
    if (a->first && !a->elsewhere && !(line->wait = call_of(r, a->first)))
        return false;
    return hs_cite(r, claim, events, n);
}

/*
 * A rank that answers another's signal with nothing unfinished in the default group waits for
 * nobody there; the sender does. If all who answer are idle, or the sender is, it is another group
 * that is stuck.
 */
bool hs_claims_from_answers(const struct hs_line_reading *r)
{
    uint32_t n = r->waits->standing_count;
    struct answers a = { .idle = HS_NEW(r->arena, uint32_t, n),
                         .events = HS_NEW(r->arena, uint32_t, n),
                         .waiting = HS_NEW(r->arena, uint32_t, n),
                         .sender = HS_NO_POSITION };

    if (!a.idle || !a.events || !a.waiting)
        return false;
    sort_answers(r, &a);
    if (a.idle_count && a.sender != HS_NO_POSITION && !a.elsewhere &&
        (a.idle_count == 1 || a.idle_count < a.busy))
        return claim_idle(r, &a);
    return n == 0 || claim_open(r, &a);
}
