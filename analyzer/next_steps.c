/* next_steps.c - what to do next, as exactly as this job allows. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <assert.h>

enum { EXACT = 8, STEPS = EXACT + 8 };

static struct hs_phrase *add_step(struct hs_verdict *v, const char *key)
{
    assert(v->next_count < STEPS);
    v->next_steps[v->next_count] = (struct hs_phrase){ .key = key };
    return &v->next_steps[v->next_count++];
}

static bool has_diagnostic(const struct hs_job *job, const char *code)
{
    for (uint32_t i = 0; i < job->diagnostic_count; i++) {
        if (strcmp(job->diagnostics[i].code, code) == 0)
            return true;
    }
    return false;
}

/* Where in the user's code a call was made; .p NULL without frames. */
static struct hs_str place_of(const struct hs_judged *j, uint32_t seat, uint32_t op,
                              struct hs_arena *arena)
{
    const struct hs_operation *row = &hs_seat_dump(&j->al, seat)->operations[op];
    uint32_t frame = hs_user_frame(j->job, row->stack);

    return frame == HS_NO_ID ? (struct hs_str){ .p = NULL } : hs_frame_text(j->job, frame, arena);
}

static void step_mismatch(const struct hs_judged *j, const struct hs_mismatch *m,
                          struct hs_verdict *v)
{
    struct hs_str there = place_of(j, m->sides[1].seat, m->sides[1].op, &v->arena);
    struct hs_str here = place_of(j, m->sides[0].seat, m->sides[0].op, &v->arena);
    struct hs_phrase *step;

    if (!there.p || !here.p) {
        (void)add_step(v, "next.frames");
    } else if (hs_str_eq(there, here)) {
        step = add_step(v, "next.same-site");
        hs_phrase_add(step, "place", here, 1);
    } else {
        step = add_step(v, "next.compare-sites");
        hs_phrase_add(step, "theirs", there, 1);
        hs_phrase_add(step, "ours", here, 1);
    }
}

/* The evidence stops at ranks that were not seen: get them. */
static void step_weak(const struct hs_judged *j, const struct hs_claim *claim, struct hs_verdict *v)
{
    const struct hs_sinks *unseen = &j->waits.sinks[HS_SINK_UNSEEN];
    struct hs_phrase *step;
    bool logged = true;

    if (!claim->waiter_count)
        return;
    for (uint32_t i = 0; i < unseen->count; i++)
        logged &= hs_u32_contains(v->log_ranks, v->log_rank_count, unseen->who[i]);
    step = add_step(v, !unseen->count ? "next.dump-again"
                       : logged       ? "next.fetch-dumps.logged"
                                      : "next.fetch-dumps");
    if (unseen->count)
        hs_phrase_add(step, "ranks", hs_rank_text(unseen->who, unseen->count, &v->arena),
                      unseen->count);
}

static void step_order(const struct hs_judged *j, const struct hs_claim *claim,
                       struct hs_verdict *v)
{
    struct hs_str place = { .p = NULL };
    uint32_t seat, op;

    if (hs_node_example(j, claim->node, &seat, &op))
        place = place_of(j, seat, op, &v->arena);
    if (place.p)
        hs_phrase_add(add_step(v, "next.order-of-groups"), "place", place, 1);
    else
        (void)add_step(v, "next.order-of-groups.no-place");
}

/* What only dumps tell; the rest goes by code and cause. */
static bool step_for_claim(const struct hs_judged *j, const struct hs_claim *claim,
                           struct hs_verdict *v)
{
    if (claim && claim->mismatch)
        step_mismatch(j, claim->mismatch, v);
    else if (claim && claim->weak && !claim->line)
        step_weak(j, claim, v);
    else if (claim && claim->cycle)
        step_order(j, claim, v);
    else
        return hs_add_exact_steps(j, v, EXACT);
    return true;
}

/* What the input lacked. */
static void step_for_input(const struct hs_judged *j, struct hs_verdict *v)
{
    static const struct {
        const char *diagnostic, *key;
    } steps[] = {
        { "recorder-off", "next.recorder-on" },
        { "cut-short", "next.fetch-again" },
        { "rank-unknown", "next.rank-in-name" },
    };
    bool lost = false;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (has_diagnostic(j->job, steps[i].diagnostic))
            (void)add_step(v, steps[i].key);
    }
    for (uint32_t i = 0; i < j->al.seat_count; i++)
        lost |= j->al.seats[i].lost;
    if (lost)
        (void)add_step(v, "next.larger-ring");
}

static bool has_frames(const struct hs_judged *j)
{
    for (uint32_t i = 0; i < j->al.seat_count; i++) {
        const struct hs_dump *dump = hs_seat_dump(&j->al, i);

        if (dump->operation_count && dump->operations[0].stack != HS_NO_ID)
            return true;
    }
    return false;
}

bool hs_tell_next_steps(const struct hs_judged *j, struct hs_verdict *v)
{
    const struct hs_claim *claim = hs_winner(j);
    bool healthy = strcmp(v->code, "healthy") == 0, dumps = j->al.seat_count > 0;
    bool in_flight = healthy && j->waits.waiter_count;

    v->next_steps = HS_NEW(&v->arena, struct hs_phrase, STEPS);
    if (!v->next_steps)
        return false;
    if ((claim || (!healthy && j->job->speaker_count)) && !step_for_claim(j, claim, v))
        return false;
    step_for_input(j, v);
    if (dumps && (claim ? (claim->doubts & HS_DOUBT_AGE) != 0 : in_flight))
        (void)add_step(v, "next.second-dump");
    if (claim && !claim->line && !claim->mismatch && !claim->weak && !has_frames(j))
        (void)add_step(v, "next.frames");
    if (strcmp(v->code, "undetermined") == 0 && v->next_count == 0)
        (void)add_step(v, !dumps              ? "next.make-dumps"
                          : v->log_rank_count ? "next.dump-again"
                                              : "next.logs");
    return true;
}
