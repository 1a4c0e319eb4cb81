/* line_answers.c - answers to dump signals, without the line of the rank that sent them. */
#include "analyzer/line_claims.h"

static bool is_idle(const struct hs_line_standing *s)
{
    return s->answered && s->rank != HS_NO_ID && s->enqueued != HS_NO_POSITION &&
           s->enqueued == s->completed;
}

static uint64_t sender_of(const struct hs_line_reading *r, const struct hs_line_standing *s)
{
    uint64_t rank;

    return hs_str_number(hs_job_arg(r->job, r->job->events[s->event].args, "src"), &rank) &&
                   rank < HS_NO_ID
               ? rank
               : HS_NO_POSITION;
}

/*
 * A rank that answers another's signal with nothing unfinished in the default group waits for
 * nobody there; the sender does. If all who answer are idle, it is another group that is stuck.
 */
bool hs_claims_from_answers(const struct hs_line_reading *r)
{
    const struct hs_line_waits *lw = r->waits;
    uint32_t *idle = HS_NEW(r->arena, uint32_t, lw->standing_count), idle_count = 0;
    uint32_t *events = HS_NEW(r->arena, uint32_t, lw->standing_count);
    uint32_t *senders = HS_NEW(r->arena, uint32_t, 1), busy = 0;
    struct hs_line_claim *line;
    struct hs_claim *claim;
    uint64_t sender = HS_NO_POSITION;

    if (!idle || !events || !senders)
        return false;
    for (uint32_t i = 0; i < lw->standing_count; i++) {
        const struct hs_line_standing *s = &lw->standings[i];

        if (is_idle(s) && (idle_count == 0 || idle[idle_count - 1] != s->rank)) {
            sender = sender == HS_NO_POSITION ? sender_of(r, s) : sender;
            events[idle_count] = s->event;
            idle[idle_count++] = s->rank;
        } else if (s->enqueued != HS_NO_POSITION && s->enqueued > s->completed) {
            busy++;
        }
    }
    if (idle_count == 0 || sender == HS_NO_POSITION || (idle_count > 1 && idle_count >= busy))
        return true;
    claim = hs_add_line_claim(r, "rank-missing", &line);
    if (!claim || !hs_name_ranks(r, line, idle, idle_count, "missing"))
        return false;
    senders[0] = (uint32_t)sender;
    claim->reach = 1 + busy;
    claim->doubts |= HS_DOUBT_MEMBERS;
    line->waiting = senders;
    line->waiting_count = 1;
    line->summary = "summary.lines.idle";
    line->why = "why.lines.idle";
    return hs_cite(r, claim, events, idle_count);
}
