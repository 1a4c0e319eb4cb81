/* dry.c - the run: a queue of calls to start, until nothing can start any more. */
#include "replay/dry_run.h"

static void enqueue(struct hs_run *r, uint32_t row, uint32_t i)
{
    r->queue[r->queue_last++] = (uint64_t)row << 32 | i;
}

/* A unit whose stream has got to it and whose host has made it is started. */
static void offer(struct hs_run *r, uint32_t row, uint32_t i)
{
    const struct layout *l = &r->layouts[r->dry->plan->ranks[row].program];
    uint64_t base = r->dry->first[row];

    if (i != HS_NO_ID && i < r->host[row] && r->dry->state[base + i] == HS_DRY_QUEUED &&
        (l->previous[i] == HS_NO_ID || r->dry->state[base + l->previous[i]] == HS_DRY_FINISHED))
        enqueue(r, row, i);
}

/* The host of a rank goes on as far as it can. */
static void advance_host(struct hs_run *r, uint32_t row)
{
    const struct hs_program *p = hs_run_program(r, row);
    const struct layout *l = &r->layouts[r->dry->plan->ranks[row].program];
    uint64_t base = r->dry->first[row];

    while (r->host[row] < p->call_count) {
        uint32_t i = r->host[row], end = hs_unit_end(p, i);
        uint32_t before = i ? l->leader[i - 1] : HS_NO_ID;

        if (r->dry->plan->semantics->host_waits && before != HS_NO_ID &&
            !(p->calls[before].flags & HS_CALL_ASYNC) &&
            r->dry->state[base + before] != HS_DRY_FINISHED)
            break;
        for (uint32_t k = i; k < end; k++)
            r->dry->state[base + k] = HS_DRY_QUEUED;
        r->host[row] = end;
        offer(r, row, i);
    }
}

static void finish(struct hs_run *r, uint32_t row, uint32_t i, uint32_t step);

/*
 * Whether a call whose conditions are met ends here. While a plan is made, this is where it turns
 * out that a rank never saw the end of what the record shows finished elsewhere. (Where nothing
 * marks ends, the mark is only late.)
 */
static bool gets_out(struct hs_run *r, uint32_t row, uint32_t i, bool recorded)
{
    const struct hs_plan *plan = r->dry->plan;
    const struct hs_plan_rank *rank = &plan->ranks[row];
    struct hs_plan_call *call = &plan->programs[rank->program].calls[i];
    const struct hs_plan_signature *sig = hs_run_signature(r, call);
    uint32_t backend = plan->groups[rank->groups[call->slot]].backend;

    if (call->flags & HS_CALL_STALLED)
        return false;
    if (!r->writable || !recorded || call->flags & HS_CALL_FINISHED || rank->flags & HS_PLAN_OPEN ||
        (sig->kind->proof != HS_PROOF_ALL && !hs_plan_is_pair(sig)) ||
        hs_semantics_of_backend(hs_plan_string(plan, backend))->host_waits)
        return true;
    call->flags |= HS_CALL_STALLED;
    return false;
}

/* All are there: those who mean the same call get out. */
static void end_meeting(struct hs_run *r, struct meeting *m, const struct hs_plan_group *group)
{
    if (m->joined < group->size || m->differs)
        return;
    r->dry->met[m - r->meetings] = true;
    while (m->waiting != HS_NO_ID) {
        uint32_t call = m->waiting, row = hs_run_row(r, call);

        m->waiting = r->link[call];
        if (gets_out(r, row, (uint32_t)(call - r->dry->first[row]), m->recorded))
            finish(r, row, (uint32_t)(call - r->dry->first[row]), m->step + 1);
    }
}

static struct meeting *meeting_at(struct hs_run *r, uint32_t g, uint32_t seq)
{
    return seq < r->lowest[g] || seq > r->highest[g]
               ? NULL
               : &r->meetings[r->meeting_first[g] + (seq - r->lowest[g])];
}

/* A rank passes positions (from, to] of a group without a call on record. */
static void pass(struct hs_run *r, uint32_t g, uint32_t from, uint32_t to, uint32_t step)
{
    if (r->highest[g] < r->lowest[g])
        return;
    from = from < r->lowest[g] ? r->lowest[g] - 1 : from;
    to = to > r->highest[g] ? r->highest[g] : to;
    for (uint32_t seq = from + 1; seq <= to && seq > from; seq++) {
        struct meeting *m = meeting_at(r, g, seq);

        m->joined++;
        m->step = step > m->step ? step : m->step;
        end_meeting(r, m, &r->dry->plan->groups[g]);
    }
}

static void join(struct hs_run *r, uint32_t row, uint32_t i)
{
    const struct hs_plan *plan = r->dry->plan;
    const struct hs_plan_rank *rank = &plan->ranks[row];
    const struct hs_plan_call *call = &hs_run_program(r, row)->calls[i];
    uint32_t g = rank->groups[call->slot];
    uint64_t at = r->dry->first[row] + i;
    struct meeting *m = &r->meetings[r->dry->ref[at]];

    if (call->skip)
        pass(r, g, r->dry->seq[at] - call->skip - 1, r->dry->seq[at] - 1, r->dry->began[at]);
    m->joined++;
    m->step = r->dry->began[at] > m->step ? r->dry->began[at] : m->step;
    m->recorded |= (call->flags & HS_CALL_FINISHED) != 0;
    if (m->signature == HS_NO_ID)
        m->signature = call->signature;
    else if (!hs_semantics_match(plan->semantics, plan, &plan->signatures[m->signature],
                                 hs_run_signature(r, call)))
        m->differs = true;
    if (call->flags & HS_CALL_DONE) {
        finish(r, row, i, r->dry->began[at] + 1);
    } else {
        r->link[at] = m->waiting;
        m->waiting = (uint32_t)at;
    }
    end_meeting(r, m, &plan->groups[g]);
}

/* One more exchange of a unit is through; `recorded`: the record shows so for the other half. */
static void end_exchange(struct hs_run *r, uint64_t at, bool recorded, uint32_t step)
{
    uint32_t row = hs_run_row(r, at), i = (uint32_t)(at - r->dry->first[row]);
    uint32_t leader = r->layouts[r->dry->plan->ranks[row].program].leader[i];
    uint64_t unit = r->dry->first[row] + leader;

    if (--r->link[unit] == 0 && r->dry->state[unit] == HS_DRY_STARTED &&
        gets_out(r, row, leader, recorded))
        finish(r, row, leader, step);
}

static const struct hs_plan_call *call_at(const struct hs_run *r, uint64_t at)
{
    uint32_t row = hs_run_row(r, at);

    return &hs_run_program(r, row)->calls[at - r->dry->first[row]];
}

/* The halves of a pair have met. */
static void shake_hands(struct hs_run *r, const struct handshake *h)
{
    const struct hs_plan_call *send = call_at(r, h->half[0]), *recv = call_at(r, h->half[1]);
    uint32_t a = r->dry->began[h->half[0]], b = r->dry->began[h->half[1]];
    uint32_t step = (a > b ? a : b) + 1;

    if (!hs_semantics_match(r->dry->plan->semantics, r->dry->plan, hs_run_signature(r, send),
                            hs_run_signature(r, recv)))
        return;
    r->dry->met[r->dry->ref[h->half[0]]] = true;
    end_exchange(r, h->half[0], recv->flags & HS_CALL_FINISHED, step);
    end_exchange(r, h->half[1], send->flags & HS_CALL_FINISHED, step);
}

static void post(struct hs_run *r, uint32_t row, uint32_t i, uint32_t end)
{
    const struct hs_program *p = hs_run_program(r, row);
    uint64_t base = r->dry->first[row];

    r->link[base + i] = end - i;
    if (p->calls[i].flags & HS_CALL_DONE)
        finish(r, row, i, r->dry->began[base + i] + 1);
    for (uint32_t k = i; k < end; k++) {
        struct handshake *h = &r->handshakes[r->dry->ref[base + k] - r->meeting_count];

        r->dry->began[base + k] = r->dry->began[base + i];
        h->half[hs_run_signature(r, &p->calls[k])->kind->class == HS_CLASS_RECV] =
            (uint32_t)(base + k);
        if (h->half[0] != HS_NO_ID && h->half[1] != HS_NO_ID)
            shake_hands(r, h);
    }
}

static void start(struct hs_run *r, uint32_t row, uint32_t i)
{
    const struct hs_program *p = hs_run_program(r, row);
    const struct layout *l = &r->layouts[r->dry->plan->ranks[row].program];
    uint64_t base = r->dry->first[row];
    uint32_t before = l->previous[i], end = hs_unit_end(p, i);

    r->dry->began[base + i] = before == HS_NO_ID ? 1 : r->dry->ended[base + before] + 1;
    r->dry->state[base + i] = HS_DRY_STARTED;
    if (r->writable && p->calls[i].flags & HS_CALL_FINISHED)
        r->suspects[r->suspect_count++] = (uint64_t)row << 32 | i;
    if (hs_plan_is_pair(hs_run_signature(r, &p->calls[i])))
        post(r, row, i, end);
    else
        join(r, row, i);
}

/* After its last call a rank has entered what it is known to have entered. */
static void end_program(struct hs_run *r, uint32_t row)
{
    const struct hs_plan_rank *rank = &r->dry->plan->ranks[row];
    const struct hs_program *p = hs_run_program(r, row);

    for (uint32_t s = 0; s < rank->slot_count; s++) {
        uint32_t last = rank->start[s];

        if (rank->until[s] <= last)
            continue;
        for (uint32_t i = p->call_count; i-- > 0;) {
            if (p->calls[i].slot == s) {
                last = r->dry->seq[r->dry->first[row] + i];
                break;
            }
        }
        if (rank->until[s] > last)
            pass(r, rank->groups[s], last, rank->until[s], r->dry->steps);
    }
}

static void finish(struct hs_run *r, uint32_t row, uint32_t i, uint32_t step)
{
    const struct hs_program *p = hs_run_program(r, row);
    const struct layout *l = &r->layouts[r->dry->plan->ranks[row].program];
    uint64_t base = r->dry->first[row];

    r->dry->ended[base + i] = step;
    for (uint32_t k = i; k < hs_unit_end(p, i); k++)
        r->dry->state[base + k] = HS_DRY_FINISHED;
    r->dry->steps = step > r->dry->steps ? step : r->dry->steps;
    r->left[row] -= hs_unit_end(p, i) - i;
    offer(r, row, l->next[i]);
    advance_host(r, row);
    if (r->left[row] == 0)
        enqueue(r, row, p->call_count);
}

static void drain(struct hs_run *r)
{
    while (r->queue_first < r->queue_last) {
        uint64_t next = r->queue[r->queue_first++];

        if ((uint32_t)next == hs_run_program(r, (uint32_t)(next >> 32))->call_count)
            end_program(r, (uint32_t)(next >> 32));
        else
            start(r, (uint32_t)(next >> 32), (uint32_t)next);
    }
}

/* Of what the record shows finished and the rules do not end, the one to let through: rooted
 * operations and sends first, since they may end early, and that explains others. */
static uint64_t choose_suspect(struct hs_run *r)
{
    uint64_t kept = 0, chosen = UINT64_MAX;
    bool early = false;

    for (uint64_t k = 0; k < r->suspect_count; k++) {
        uint32_t row = (uint32_t)(r->suspects[k] >> 32), i = (uint32_t)r->suspects[k];
        const struct hs_operation_kind *kind =
            hs_run_signature(r, &hs_run_program(r, row)->calls[i])->kind;
        bool may = kind->proof != HS_PROOF_ALL && kind->class != HS_CLASS_RECV;

        if (r->dry->state[r->dry->first[row] + i] == HS_DRY_FINISHED)
            continue;
        if (chosen == UINT64_MAX || (may && !early))
            chosen = r->suspects[k];
        early |= may;
        r->suspects[kept++] = r->suspects[k];
    }
    r->suspect_count = kept;
    return chosen;
}

/* Let the chosen one through, and with it all in the same meeting. */
static bool let_through(struct hs_run *r)
{
    uint64_t chosen = choose_suspect(r), count = r->suspect_count;
    uint32_t ref;

    if (chosen == UINT64_MAX)
        return false;
    ref = r->dry->ref[r->dry->first[chosen >> 32] + (uint32_t)chosen];
    for (uint64_t k = 0; k < count; k++) {
        uint32_t row = (uint32_t)(r->suspects[k] >> 32), i = (uint32_t)r->suspects[k];
        struct hs_plan_call *call =
            &r->writable->programs[r->writable->ranks[row].program].calls[i];
        uint64_t at = r->dry->first[row] + i;

        if (r->suspects[k] != chosen &&
            (r->dry->ref[at] != ref || hs_plan_is_pair(hs_run_signature(r, call))))
            continue;
        call->flags |= HS_CALL_DONE;
        finish(r, row, i, r->dry->began[at] + 1);
    }
    return true;
}

static enum hs_status run(struct hs_dry *dry, const struct hs_plan *plan, struct hs_plan *writable,
                          struct hs_err *err)
{
    struct hs_run r = { .dry = dry, .writable = writable };
    enum hs_status status;

    *dry = (struct hs_dry){ .plan = plan };
    hs_arena_init(&dry->arena);
    hs_intern_init(&r.pairs);
    status = hs_run_set_up(&r, err);
    for (uint32_t row = 0; status == HS_OK && row < plan->rank_count; row++) {
        r.left[row] = hs_run_program(&r, row)->call_count;
        advance_host(&r, row);
        if (r.left[row] == 0)
            enqueue(&r, row, 0);
    }
    if (status == HS_OK) {
        do
            drain(&r);
        while (writable && let_through(&r));
    }
    hs_intern_release(&r.pairs);
    if (status != HS_OK)
        hs_dry_release(dry);
    return status;
}

enum hs_status hs_dry_run(struct hs_dry *dry, const struct hs_plan *plan, struct hs_err *err)
{
    return run(dry, plan, NULL, err);
}

enum hs_status hs_dry_settle(struct hs_plan *plan, struct hs_err *err)
{
    struct hs_dry dry;
    enum hs_status status = run(&dry, plan, plan, err);

    if (status == HS_OK)
        hs_dry_release(&dry);
    return status;
}

enum hs_status hs_dry_mark_stuck(struct hs_plan *plan, struct hs_err *err)
{
    struct hs_dry dry;
    enum hs_status status = hs_dry_run(&dry, plan, err);

    if (status != HS_OK)
        return status;
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        for (uint64_t at = dry.first[row]; at < dry.first[row + 1]; at++) {
            if (dry.state[at] != HS_DRY_FINISHED)
                plan->ranks[row].flags |= HS_PLAN_STUCK;
        }
    }
    hs_dry_release(&dry);
    return HS_OK;
}

enum hs_status hs_dry_mark_ended(struct hs_plan *plan, struct hs_err *err)
{
    struct hs_dry dry;
    enum hs_status status = hs_dry_run(&dry, plan, err);

    if (status != HS_OK)
        return status;
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0, end; i < p->call_count; i = end) {
            end = hs_unit_end(p, i);
            for (uint32_t k = i; k < end; k++) {
                if (dry.state[dry.first[row] + i] == HS_DRY_FINISHED)
                    p->calls[k].flags |= HS_CALL_FINISHED;
            }
        }
    }
    hs_dry_release(&dry);
    return HS_OK;
}

void hs_dry_release(struct hs_dry *dry)
{
    hs_arena_release(&dry->arena);
    *dry = (struct hs_dry){ .plan = NULL };
}
