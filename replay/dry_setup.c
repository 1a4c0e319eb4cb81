/* dry_setup.c - before the run: numbers of calls, and which of them meet. */
#include "replay/dry_run.h"

#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>

static bool lay_out(struct hs_run *r, uint32_t id)
{
    const struct hs_program *p = &r->dry->plan->programs[id];
    struct layout *l = &r->layouts[id];
    struct hs_arena *arena = &r->dry->arena;

    l->next = HS_NEW(arena, uint32_t, p->call_count + 1u);
    l->previous = HS_NEW(arena, uint32_t, p->call_count + 1u);
    l->leader = HS_NEW(arena, uint32_t, p->call_count + 1u);
    if (!l->next || !l->previous || !l->leader)
        return false;
    memset(l->next, 0xff, p->call_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < p->call_count; i++)
        r->last[p->calls[i].stream] = HS_NO_ID;
    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        uint32_t *before = &r->last[p->calls[i].stream];

        end = hs_unit_end(p, i);
        for (uint32_t k = i; k < end; k++)
            l->leader[k] = i;
        l->previous[i] = *before;
        if (*before != HS_NO_ID)
            l->next[*before] = i;
        *before = i;
    }
    return true;
}

/* The numbers of a rank's collectives; pairs carry the number of the collective before them. */
static bool number_calls(struct hs_run *r, uint32_t row)
{
    const struct hs_plan_rank *rank = &r->dry->plan->ranks[row];
    const struct hs_program *p = hs_run_program(r, row);
    uint32_t *at = malloc((rank->slot_count + 1u) * sizeof(*at));
    uint64_t base = r->dry->first[row];

    if (!at)
        return false;
    for (uint32_t s = 0; s < rank->slot_count; s++)
        at[s] = rank->start[s];
    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        const struct hs_plan_call *call = &p->calls[i];
        uint32_t g = rank->groups[call->slot];
        bool pair = hs_plan_is_pair(hs_run_signature(r, call));

        end = hs_unit_end(p, i);
        if (!pair) {
            at[call->slot] += 1 + call->skip;
            r->lowest[g] = at[call->slot] < r->lowest[g] ? at[call->slot] : r->lowest[g];
            r->highest[g] = at[call->slot] > r->highest[g] ? at[call->slot] : r->highest[g];
        }
        for (uint32_t k = i; k < end; k++)
            r->dry->seq[base + k] = at[call->slot];
    }
    free(at);
    return true;
}

static enum hs_status make_meetings(struct hs_run *r, struct hs_err *err)
{
    const struct hs_plan *plan = r->dry->plan;
    uint64_t total = 0;

    for (uint32_t g = 0; g < plan->group_count; g++) {
        r->meeting_first[g] = total;
        if (r->highest[g] >= r->lowest[g])
            total += (uint64_t)r->highest[g] - r->lowest[g] + 1;
        if (total > HS_PLAN_JUMPS_MAX)
            return hs_fail(err, HS_EUSAGE, "the plan spans more than %u positions of its groups",
                           HS_PLAN_JUMPS_MAX);
    }
    r->meeting_count = (uint32_t)total;
    r->meetings = HS_NEW(&r->dry->arena, struct meeting, total + 1);
    if (!r->meetings)
        return hs_no_memory(err);
    for (uint64_t i = 0; i < total; i++)
        r->meetings[i].signature = r->meetings[i].waiting = HS_NO_ID;
    return HS_OK;
}

/* Positions at or below the start of a rank are behind it: counted by differences. */
static void pass_starts(struct hs_run *r)
{
    const struct hs_plan *plan = r->dry->plan;

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_plan_rank *rank = &plan->ranks[row];

        for (uint32_t s = 0; s < rank->slot_count; s++) {
            uint32_t g = rank->groups[s], to = rank->start[s];

            if (r->highest[g] < r->lowest[g] || to < r->lowest[g])
                continue;
            to = to < r->highest[g] ? to : r->highest[g];
            r->meetings[r->meeting_first[g] + (to - r->lowest[g])].joined++;
        }
    }
    for (uint32_t g = 0; g < plan->group_count; g++) {
        struct meeting *m = r->meetings + r->meeting_first[g];

        if (r->highest[g] < r->lowest[g])
            continue;
        for (uint32_t i = r->highest[g] - r->lowest[g]; i-- > 0;)
            m[i].joined += m[i + 1].joined;
        for (uint32_t i = 0; i <= r->highest[g] - r->lowest[g]; i++)
            m[i].recorded = m[i].joined > 0;
    }
}

/* The pair that a send or receive of a rank belongs to; new ones are entered. */
static uint32_t pair_of(struct hs_run *r, const struct hs_plan_rank *rank,
                        const struct hs_plan_call *call)
{
    const struct hs_plan_signature *sig = hs_run_signature(r, call);
    uint32_t g = rank->groups[call->slot], peer = r->dry->plan->groups[g].ranks[sig->peer];
    bool send = sig->kind->class == HS_CLASS_SEND;
    uint32_t key[3] = { g, send ? rank->rank : peer, send ? peer : rank->rank };

    return hs_intern_put(&r->pairs, (struct hs_str){ .p = (const char *)key, .n = sizeof(key) });
}

/* Two rounds over all pairs: how many each has, then which handshake each call is. */
static bool pair_calls(struct hs_run *r, uint32_t *counts[2], uint32_t *cap, bool place)
{
    const struct hs_plan *plan = r->dry->plan;

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = hs_run_program(r, row);

        for (uint32_t i = 0; i < p->call_count; i++) {
            const struct hs_plan_signature *sig = hs_run_signature(r, &p->calls[i]);
            uint32_t known = r->pairs.count, id;
            unsigned half = sig->kind->class == HS_CLASS_RECV;

            if (!hs_plan_is_pair(sig))
                continue;
            id = pair_of(r, &plan->ranks[row], &p->calls[i]);
            if (id == HS_NO_ID || !HS_GROW(counts[0], cap[0], id + 1u) ||
                !HS_GROW(counts[1], cap[1], id + 1u))
                return false;
            assert(counts[0] && counts[1]);
            if (id >= known)
                counts[0][id] = counts[1][id] = 0;
            if (place)
                r->dry->ref[r->dry->first[row] + i] =
                    (uint32_t)(r->meeting_count + r->handshake_first[id] + counts[half][id]);
            counts[half][id]++;
        }
    }
    return true;
}

static bool make_handshakes(struct hs_run *r)
{
    uint32_t *counts[2] = { NULL, NULL }, cap[2] = { 0, 0 };
    bool ok = pair_calls(r, counts, cap, false);
    uint64_t total = 0;

    r->handshake_first = HS_NEW(&r->dry->arena, uint64_t, r->pairs.count + 1u);
    ok = ok && r->handshake_first;
    for (uint32_t i = 0; ok && counts[0] && counts[1] && i < r->pairs.count; i++) {
        r->handshake_first[i] = total;
        total += counts[0][i] > counts[1][i] ? counts[0][i] : counts[1][i];
        counts[0][i] = counts[1][i] = 0;
    }
    r->handshakes = ok ? HS_NEW(&r->dry->arena, struct handshake, total + 1) : NULL;
    r->dry->ref_count = (uint32_t)(r->meeting_count + total);
    if (r->handshakes)
        memset(r->handshakes, 0xff, total * sizeof(*r->handshakes));
    ok = r->handshakes && (r->pairs.count == 0 || pair_calls(r, counts, cap, true));
    free(counts[0]);
    free(counts[1]);
    return ok;
}

static void refer_collectives(struct hs_run *r)
{
    for (uint32_t row = 0; row < r->dry->plan->rank_count; row++) {
        const struct hs_plan_rank *rank = &r->dry->plan->ranks[row];
        const struct hs_program *p = hs_run_program(r, row);
        uint64_t base = r->dry->first[row];

        for (uint32_t i = 0, end; i < p->call_count; i = end) {
            uint32_t g = rank->groups[p->calls[i].slot];

            end = hs_unit_end(p, i);
            if (!hs_plan_is_pair(hs_run_signature(r, &p->calls[i])))
                r->dry->ref[base + i] =
                    (uint32_t)(r->meeting_first[g] + (r->dry->seq[base + i] - r->lowest[g]));
        }
    }
}

static enum hs_status allocate(struct hs_run *r, struct hs_err *err)
{
    struct hs_dry *d = r->dry;
    const struct hs_plan *plan = d->plan;
    uint64_t calls = 0;

    d->first = HS_NEW(&d->arena, uint64_t, plan->rank_count + 1u);
    if (!d->first)
        return hs_no_memory(err);
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        d->first[row] = calls;
        calls += hs_run_program(r, row)->call_count;
    }
    d->first[plan->rank_count] = calls;
    if (calls >= UINT32_MAX)
        return hs_fail(err, HS_EUSAGE, "the plan has more calls than can be run");
    d->state = HS_NEW(&d->arena, uint8_t, calls + 1);
    d->seq = HS_NEW(&d->arena, uint32_t, calls + 1);
    d->began = HS_NEW(&d->arena, uint32_t, calls + 1);
    d->ended = HS_NEW(&d->arena, uint32_t, calls + 1);
    d->ref = HS_NEW(&d->arena, uint32_t, calls + 1);
    r->link = HS_NEW(&d->arena, uint32_t, calls + 1);
    r->host = HS_NEW(&d->arena, uint32_t, plan->rank_count + 1u);
    r->left = HS_NEW(&d->arena, uint32_t, plan->rank_count + 1u);
    r->last = HS_NEW(&d->arena, uint32_t, UINT16_MAX + 1u);
    r->queue = HS_NEW(&d->arena, uint64_t, calls + plan->rank_count + 1);
    r->suspects = HS_NEW(&d->arena, uint64_t, calls + 1);
    r->layouts = HS_NEW(&d->arena, struct layout, plan->program_count + 1u);
    r->lowest = HS_NEW(&d->arena, uint32_t, plan->group_count + 1u);
    r->highest = HS_NEW(&d->arena, uint32_t, plan->group_count + 1u);
    r->meeting_first = HS_NEW(&d->arena, uint64_t, plan->group_count + 1u);
    if (!d->state || !d->seq || !d->began || !d->ended || !d->ref || !r->link || !r->host ||
        !r->left || !r->last || !r->queue || !r->suspects || !r->layouts || !r->lowest ||
        !r->highest || !r->meeting_first)
        return hs_no_memory(err);
    memset(r->lowest, 0xff, plan->group_count * sizeof(uint32_t));
    memset(d->ref, 0xff, calls * sizeof(uint32_t));
    return HS_OK;
}

enum hs_status hs_run_set_up(struct hs_run *r, struct hs_err *err)
{
    const struct hs_plan *plan = r->dry->plan;
    enum hs_status status = allocate(r, err);

    for (uint32_t i = 0; status == HS_OK && i < plan->program_count; i++)
        status = lay_out(r, i) ? HS_OK : hs_no_memory(err);
    for (uint32_t i = 0; status == HS_OK && i < plan->rank_count; i++)
        status = number_calls(r, i) ? HS_OK : hs_no_memory(err);
    if (status == HS_OK)
        status = make_meetings(r, err);
    if (status != HS_OK)
        return status;
    pass_starts(r);
    refer_collectives(r);
    if (!make_handshakes(r))
        return hs_no_memory(err);
    r->dry->met = HS_NEW(&r->dry->arena, bool, r->dry->ref_count + 1u);
    return r->dry->met ? HS_OK : hs_no_memory(err);
}
