/*
 * pump.c - the run of one rank: make what the host gets to, look at what has begun and ended.
 *
 * A step lies between two events of its stream: when the first has passed the stream has got there,
 * when the second has it is over. Nothing here waits.
 */
#include "replay/nccl/rank.h"

#include <unistd.h>

enum { IDLE_US_MIN = 20, IDLE_US_MAX = 1000, ASYNC_EVERY = 16 /* idle rounds */ };

static void publish(struct hs_rank *r, const struct hs_step *step, enum hs_dry_state state)
{
    uint64_t base = r->w->script->dry->first[r->row];

    for (uint32_t i = step->first; step->kind != HS_STEP_FILL && i < step->end; i++)
        r->w->states[base + i] = (uint8_t)state;
    hs_rank_progress(r);
}

/* ---- making ---- */

static bool launch(struct hs_rank *r, uint32_t id)
{
    const struct hs_step *step = &r->course.steps[id];
    struct hs_flight *f = &r->flights[id];
    struct hs_lane *lane = &r->lanes[step->lane];

    if (!hs_step_calls(r->w->script, r->row, step, r->w->shared->machine.nccl, &r->calls))
        return hs_rank_fail(r, "out of memory");
    return hs_rank_cuda(r, r->api.cudaEventCreateWithFlags(&f->begin, cudaEventDefault),
                        "cudaEventCreateWithFlags") &&
           hs_rank_cuda(r, r->api.cudaEventCreateWithFlags(&f->end, cudaEventDefault),
                        "cudaEventCreateWithFlags") &&
           hs_rank_cuda(r, r->api.cudaEventRecord(f->begin, lane->stream), "cudaEventRecord") &&
           hs_rank_make(r, step->comm, &r->calls, f->in ? f->in : lane->in,
                        f->out ? f->out : lane->out, lane->stream) &&
           hs_rank_cuda(r, r->api.cudaEventRecord(f->end, lane->stream), "cudaEventRecord");
}

static bool make_step(struct hs_rank *r, uint32_t id)
{
    const struct hs_step *step = &r->course.steps[id];
    struct hs_lane *lane = &r->lanes[step->lane];

    publish(r, step, HS_DRY_QUEUED);
    r->flights[id].next = HS_NO_ID;
    if (lane->tail == HS_NO_ID)
        lane->head = id;
    else
        r->flights[lane->tail].next = id;
    lane->tail = id;
    r->in_flight++;
    if (step->kind != HS_STEP_HELD && step->kind != HS_STEP_PASSED)
        r->flights[id].broken = !launch(r, id);
    return !r->flights[id].broken;
}

/* Whether the host may make its next step: a library can make it wait for the one before. */
static bool host_is_free(const struct hs_rank *r)
{
    const struct hs_plan *plan = r->w->script->plan;
    uint32_t before = r->host;
    const struct hs_step *step;

    if (r->course.steps[r->host].last)
        return r->in_flight == 0;
    if (!plan->semantics->host_waits)
        return true;
    while (before > 0 && r->course.steps[before - 1].kind == HS_STEP_FILL)
        before--;
    if (before == 0)
        return true;
    step = &r->course.steps[before - 1];
    return (r->flights[before - 1].ended && step->kind != HS_STEP_STALLED) ||
           plan->programs[plan->ranks[r->row].program].calls[step->first].flags & HS_CALL_ASYNC;
}

/* ---- looking ---- */

static bool look(struct hs_rank *r, cudaEvent_t event, bool *passed)
{
    cudaError_t result = r->api.cudaEventQuery(event);

    *passed = result == cudaSuccess;
    return *passed || result == cudaErrorNotReady || hs_rank_cuda(r, result, "cudaEventQuery");
}

static bool take_end(struct hs_rank *r, uint32_t id)
{
    const struct hs_step *step = &r->course.steps[id];
    struct hs_flight *f = &r->flights[id];
    float ms = 0;

    f->ended = true;
    if (step->kind != HS_STEP_PASSED) {
        if (!hs_rank_cuda(r, r->api.cudaEventElapsedTime(&ms, f->begin, f->end),
                          "cudaEventElapsedTime"))
            return false;
        if (step->kind != HS_STEP_FILL)
            r->w->took_us[r->w->script->dry->first[r->row] + step->first] = ms * 1000;
        (void)r->api.cudaEventDestroy(f->begin);
        (void)r->api.cudaEventDestroy(f->end);
        if (r->w->options->check_data && !hs_data_check(r, id))
            return false;
    }
    if (step->kind != HS_STEP_STALLED)
        publish(r, step, HS_DRY_FINISHED);
    return true;
}

/* Whether the step at the head of a lane is over; `changed`: something was seen. */
static bool look_at_head(struct hs_rank *r, uint32_t id, bool *changed, bool *over)
{
    const struct hs_step *step = &r->course.steps[id];
    struct hs_flight *f = &r->flights[id];
    bool passed = true, real = step->kind != HS_STEP_HELD && step->kind != HS_STEP_PASSED;

    *over = false;
    if (f->broken)
        return true;
    if (!f->begun) {
        if (real && !look(r, f->begin, &passed))
            return false;
        if (!passed)
            return true;
        f->begun = *changed = true;
        publish(r, step, HS_DRY_STARTED);
    }
    if (step->kind == HS_STEP_HELD || f->ended)
        return true;
    if (real && !look(r, f->end, &passed))
        return false;
    if (!passed)
        return true;
    *changed = true;
    *over = step->kind != HS_STEP_STALLED;
    return take_end(r, id);
}

static bool look_at_lanes(struct hs_rank *r, bool *changed)
{
    for (uint32_t l = 0; l < r->course.lanes; l++) {
        struct hs_lane *lane = &r->lanes[l];
        bool over = true;

        while (over && lane->head != HS_NO_ID) {
            uint32_t id = lane->head;

            if (!look_at_head(r, id, changed, &over))
                return false;
            if (over) {
                lane->head = r->flights[id].next;
                lane->tail = lane->head == HS_NO_ID ? HS_NO_ID : lane->tail;
                r->in_flight--;
            }
        }
    }
    return true;
}

static bool look_at_comms(struct hs_rank *r)
{
    for (uint32_t c = 0; c < r->w->script->comm_count; c++) {
        ncclResult_t state = ncclSuccess;

        if (!r->comms[c])
            continue;
        if (r->api.ncclCommGetAsyncError(r->comms[c], &state) != ncclSuccess)
            return hs_rank_fail(r, "ncclCommGetAsyncError failed");
        if (state != ncclSuccess && state != ncclInProgress)
            return hs_rank_nccl(r, state, r->comms[c], "NCCL");
    }
    return true;
}

/* Whether nothing more can happen here: each lane is empty, or ends in what never ends. */
static bool is_held(const struct hs_rank *r)
{
    for (uint32_t l = 0; l < r->course.lanes; l++) {
        uint32_t head = r->lanes[l].head;
        uint8_t kind = head == HS_NO_ID ? (uint8_t)HS_STEP_HELD : r->course.steps[head].kind;

        if (kind != HS_STEP_HELD && !(kind == HS_STEP_STALLED && r->flights[head].begun))
            return false;
    }
    return true;
}

static void note_phase(struct hs_rank *r)
{
    bool done = r->host == r->course.count && r->in_flight == 0;

    if (done)
        atomic_store(&r->w->ranks[r->row].phase, HS_PHASE_ENDED);
    else if (is_held(r) && (r->host == r->course.count || !host_is_free(r)))
        atomic_store(&r->w->ranks[r->row].phase, HS_PHASE_HELD);
}

/* Make what the host gets to. */
static bool make_steps(struct hs_rank *r, bool *changed)
{
    while (r->host < r->course.count && host_is_free(r)) {
        *changed = true;
        if (!make_step(r, r->host++) || hs_rank_must_stop(r))
            return false;
    }
    return true;
}

void hs_rank_run(struct hs_rank *r)
{
    unsigned idle_us = IDLE_US_MIN, rounds = 0;
    bool well = true; /* after an error only what was made before is looked at */

    while (atomic_load(&r->w->shared->order) == HS_ORDER_RUN) {
        bool changed = false;

        well = well && make_steps(r, &changed);
        if (!look_at_lanes(r, &changed))
            return;
        if (well && ++rounds % ASYNC_EVERY == 0)
            well = look_at_comms(r);
        if (well)
            note_phase(r);
        idle_us = changed ? IDLE_US_MIN : idle_us < IDLE_US_MAX ? idle_us * 2 : IDLE_US_MAX;
        if (!changed)
            (void)usleep(idle_us);
    }
}
