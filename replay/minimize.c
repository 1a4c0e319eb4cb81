#include "replay/minimize.h"

#include "base/limits.h"
#include "replay/select.h"

#include <stdlib.h>

struct hs_plan_size hs_plan_measure(const struct hs_plan *plan)
{
    return (struct hs_plan_size){ .ranks = plan->rank_count,
                                  .groups = plan->group_count,
                                  .calls = hs_plan_calls(plan) };
}

/* What can go: ranks, groups, meetings (a collective of all its members, both halves of an
 * exchange), and single units of a program. */
enum thing { RANKS, GROUPS, MEETINGS, UNITS, THINGS };

struct minimizing {
    struct hs_plan *plan;
    hs_plan_same_fn *same;
    void *self;
    struct hs_err *err;
    uint32_t runs;
    bool out_of_runs;
    /* of the plan as it is now */
    uint32_t *meeting_of; /* by call: which meeting its unit is part of; HS_NO_ID */
    uint32_t meeting_count;
    uint32_t *meetings; /* in the order of the run: finished ones first */
    uint32_t finished;  /* how many of them */
    uint64_t call_count;
    uint32_t *units; /* calls that stand for their program's unit */
    uint32_t unit_count;
    struct hs_arena arena;
};

/* ---- what there is to remove ---- */

/* Meetings that a batch is part of are one: it can only go as a whole. */
static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

enum { ENDED, QUEUED, BEGUN }; /* what hangs itself is kept the longest */

struct timed {
    uint32_t meeting, step;
    uint32_t how; /* the last of these for any of its calls */
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->how != y->how)
        return x->how < y->how ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->meeting > y->meeting) - (x->meeting < y->meeting);
}

static bool sort_meetings(struct minimizing *m, const struct hs_dry *dry, struct timed *timed)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->meeting_count; i++)
        timed[i] = (struct timed){ .meeting = HS_NO_ID };
    for (uint64_t at = 0; at < m->call_count; at++) {
        uint32_t id = m->meeting_of[at], how = QUEUED;

        if (id == HS_NO_ID)
            continue;
        if (dry->state[at] == HS_DRY_FINISHED)
            how = ENDED;
        else if (dry->state[at] == HS_DRY_STARTED)
            how = BEGUN;
        timed[id].meeting = id;
        timed[id].how = how > timed[id].how ? how : timed[id].how;
        timed[id].step = dry->ended[at] > timed[id].step ? dry->ended[at] : timed[id].step;
    }
    for (uint32_t i = 0; i < m->meeting_count; i++) {
        if (timed[i].meeting != HS_NO_ID)
            timed[count++] = timed[i];
    }
    if (count)
        qsort(timed, count, sizeof(*timed), by_time);
    m->meetings = HS_NEW(&m->arena, uint32_t, count + 1u);
    m->meeting_count = count;
    m->finished = 0;
    for (uint32_t i = 0; m->meetings && i < count; i++) {
        m->meetings[i] = timed[i].meeting;
        m->finished += timed[i].how == ENDED;
    }
    return m->meetings != NULL;
}

/* Which units meet, by a run; and one unit of each program, to be removed alone. */
static bool find_meetings(struct minimizing *m, const struct hs_dry *dry)
{
    const struct hs_plan *plan = m->plan;
    uint32_t *parent = HS_NEW(&m->arena, uint32_t, dry->ref_count + 1u);
    bool *seen = HS_NEW(&m->arena, bool, plan->program_count + 1u);
    struct timed *timed = HS_NEW(&m->arena, struct timed, dry->ref_count + 1u);

    m->call_count = dry->first[plan->rank_count];
    m->meeting_of = HS_NEW(&m->arena, uint32_t, m->call_count + 1);
    m->units = HS_NEW(&m->arena, uint32_t, m->call_count + 1);
    m->unit_count = 0;
    if (!parent || !seen || !timed || !m->meeting_of || !m->units)
        return false;
    for (uint32_t i = 0; i < dry->ref_count; i++)
        parent[i] = i;
    memset(m->meeting_of, 0xff, m->call_count * sizeof(*m->meeting_of));
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0, end; i < p->call_count; i = end) {
            uint64_t at = dry->first[row] + i;

            end = hs_unit_end(p, i);
            m->meeting_of[at] = dry->ref[at];
            for (uint32_t k = i + 1; k < end; k++) {
                if (dry->ref[dry->first[row] + k] != HS_NO_ID)
                    parent[root_of(parent, dry->ref[dry->first[row] + k])] =
                        root_of(parent, dry->ref[at]);
            }
            if (!seen[plan->ranks[row].program])
                m->units[m->unit_count++] = (uint32_t)at;
        }
        seen[plan->ranks[row].program] = true;
    }
    for (uint64_t at = 0; at < m->call_count; at++) {
        if (m->meeting_of[at] != HS_NO_ID)
            m->meeting_of[at] = root_of(parent, m->meeting_of[at]);
    }
    m->meeting_count = dry->ref_count;
    return sort_meetings(m, dry, timed);
}

static enum hs_status look(struct minimizing *m)
{
    struct hs_dry dry;
    enum hs_status status = hs_dry_run(&dry, m->plan, m->err);

    hs_arena_reset(&m->arena);
    if (status != HS_OK)
        return status;
    status = find_meetings(m, &dry) ? HS_OK : hs_no_memory(m->err);
    hs_dry_release(&dry);
    return status;
}

static uint32_t count_of(const struct minimizing *m, enum thing thing)
{
    switch (thing) {
    case RANKS:
        return m->plan->rank_count;
    case GROUPS:
        return m->plan->group_count;
    case MEETINGS:
        return m->meeting_count;
    default:
        return m->unit_count;
    }
}

/* ---- trying ---- */

/* Calls of the meetings [from, to) go on all ranks, as if they were behind them. */
static bool drop_meetings(const struct minimizing *m, uint32_t from, uint32_t to, uint8_t *drop,
                          struct hs_arena *arena)
{
    uint32_t highest = 0;
    bool *gone;

    for (uint32_t i = 0; i < m->meeting_count; i++)
        highest = m->meetings[i] > highest ? m->meetings[i] : highest;
    gone = HS_NEW(arena, bool, highest + 1u);
    if (!gone)
        return false;
    for (uint32_t i = from; i < to; i++)
        gone[m->meetings[i]] = true;
    for (uint64_t at = 0; at < m->call_count; at++) {
        if (m->meeting_of[at] != HS_NO_ID && gone[m->meeting_of[at]])
            drop[at] = HS_DROP_PASSED;
    }
    return true;
}

/* A unit goes from the programs of all ranks that share it; later calls move up. */
static void drop_unit(const struct minimizing *m, uint32_t unit, uint8_t *drop)
{
    const struct hs_plan *plan = m->plan;
    uint64_t first = 0;
    uint32_t row = 0, program, i;

    while (first + plan->programs[plan->ranks[row].program].call_count <= unit)
        first += plan->programs[plan->ranks[row++].program].call_count;
    program = plan->ranks[row].program;
    i = (uint32_t)(unit - first);
    first = 0;
    for (row = 0; row < plan->rank_count; row++) {
        if (plan->ranks[row].program == program)
            drop[first + i] = HS_DROP_SKIPPED;
        first += plan->programs[plan->ranks[row].program].call_count;
    }
}

/* Ranks or groups without [from, to). */
static bool keep_others(uint32_t count, uint32_t from, uint32_t to, const bool **out,
                        struct hs_arena *arena)
{
    bool *keep = HS_NEW(arena, bool, count + 1u);

    for (uint32_t i = 0; keep && i < count; i++)
        keep[i] = i < from || i >= to;
    *out = keep;
    return keep != NULL;
}

static bool choose(const struct minimizing *m, enum thing thing, uint32_t from, uint32_t to,
                   struct hs_selection *what, struct hs_arena *arena)
{
    uint8_t *drop;

    *what = (struct hs_selection){ .drop = NULL };
    if (thing == RANKS)
        return keep_others(m->plan->rank_count, from, to, &what->ranks, arena);
    if (thing == GROUPS)
        return keep_others(m->plan->group_count, from, to, &what->groups, arena);
    drop = HS_NEW(arena, uint8_t, m->call_count + 1);
    what->drop = drop;
    if (drop && thing == UNITS)
        drop_unit(m, m->units[from], drop);
    return drop && (thing == UNITS || drop_meetings(m, from, to, drop, arena));
}

/* Try without [from, to) of the things; when that ends the same way, it is the plan from now on. */
static enum hs_status try_without(struct minimizing *m, enum thing thing, uint32_t from,
                                  uint32_t to, bool *gone)
{
    struct hs_selection what;
    struct hs_arena arena;
    struct hs_plan part;
    enum hs_status status = HS_OK;

    *gone = false;
    if (from >= to || (thing < UNITS && to - from == count_of(m, thing) && thing == RANKS))
        return HS_OK;
    if (m->runs == HS_MINIMIZE_RUNS) {
        m->out_of_runs = true;
        return HS_OK;
    }
    m->runs++;
    hs_arena_init(&arena);
    hs_plan_init(&part);
    if (!choose(m, thing, from, to, &what, &arena))
        status = hs_no_memory(m->err);
    if (status == HS_OK)
        status = hs_plan_select(m->plan, &what, &part, m->err);
    hs_arena_release(&arena);
    if (status == HS_OK)
        status = m->same(m->self, &part, gone, m->err);
    if (status == HS_OK && *gone) {
        hs_plan_release(m->plan);
        *m->plan = part;
        return look(m);
    }
    hs_plan_release(&part);
    return status;
}

/* Halves, quarters, ... of what is left, from the end for ranks and groups, from the start for
 * calls. `any` when something went. */
static enum hs_status shrink(struct minimizing *m, enum thing thing, bool *any)
{
    enum hs_status status = HS_OK;
    uint32_t size = count_of(m, thing) / 2;

    for (size = thing == UNITS || size == 0 ? 1 : size; status == HS_OK && size > 0; size /= 2) {
        uint32_t at = 0;

        while (status == HS_OK && at < count_of(m, thing) && !m->out_of_runs) {
            uint32_t count = count_of(m, thing), n = size < count - at ? size : count - at;
            bool back = thing < MEETINGS, gone;

            status = try_without(m, thing, back ? count - at - n : at, back ? count - at : at + n,
                                 &gone);
            *any |= gone;
            at += gone ? 0 : n;
        }
    }
    return status;
}

/* Mostly what has ended is not needed, or only its end. */
static enum hs_status drop_past(struct minimizing *m)
{
    static const uint32_t kept[] = { 0, 1, 4, 16, 64 };
    enum hs_status status = HS_OK;
    bool gone = false;

    for (size_t i = 0; status == HS_OK && i < sizeof(kept) / sizeof(kept[0]) && !gone; i++) {
        if (m->finished > kept[i])
            status = try_without(m, MEETINGS, 0, m->finished - kept[i], &gone);
    }
    return status;
}

enum hs_status hs_plan_minimize(struct hs_plan *plan, hs_plan_same_fn *same, void *self,
                                struct hs_minimized *out, struct hs_err *err)
{
    struct minimizing m = { .plan = plan, .same = same, .self = self, .err = err };
    struct hs_plan_size from = hs_plan_measure(plan);
    enum hs_status status;
    bool any = true;

    hs_arena_init(&m.arena);
    status = look(&m);
    if (status == HS_OK)
        status = drop_past(&m);
    while (status == HS_OK && any && !m.out_of_runs) {
        any = false;
        for (unsigned thing = RANKS; status == HS_OK && thing < THINGS; thing++)
            status = shrink(&m, (enum thing)thing, &any);
    }
    hs_arena_release(&m.arena);
    *out = (struct hs_minimized){
        .from = from, .to = hs_plan_measure(plan), .runs = m.runs, .minimal = !m.out_of_runs
    };
    return status;
}
