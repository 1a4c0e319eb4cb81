/* line_waits.c - events of watchdogs become waits and standings of ranks. */
#include "analyzer/line_waits_internal.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <assert.h>
#include <stdlib.h>

void hs_gather(struct gathering *g, struct list *list, uint32_t item)
{
    if (item == HS_NO_ID)
        return;
    if (!HS_GROW(list->items, list->cap, (size_t)list->count + 1))
        g->no_memory = true;
    else
        list->items[list->count++] = item;
}

/* By string of the family: which row takes it. */
static void take_events(struct gathering *g)
{
    size_t count;
    uint32_t names[HS_WAIT_TAKERS_MAX],
        repeated = hs_intern_find(&g->job->strings, HS_STR("repeated"));

    for (count = 0; hs_wait_takers[count].family; count++) {
        assert(count < HS_WAIT_TAKERS_MAX);
        names[count] = hs_intern_find(&g->job->strings, hs_str_of(hs_wait_takers[count].family));
    }
    for (uint32_t e = 0; e < g->job->event_count && !g->no_memory; e++) {
        const struct hs_event *event = &g->job->events[e];

        if (hs_identity_attempt(g->identity, event->source, event->line) != g->attempt)
            continue;
        if (repeated != HS_NO_ID && hs_job_arg(g->job, event->args, "repeated").p)
            g->out->deduplicated = true;
        for (size_t i = 0; i < count; i++) {
            if (names[i] == event->family)
                hs_wait_takers[i].take(g, e);
        }
    }
}

static void take_processes(struct gathering *g)
{
    for (uint32_t i = 0; i < g->identity->process_count; i++) {
        const struct hs_process *process = &g->identity->processes[i];

        if (process->attempt != g->attempt || process->rank == HS_NO_ID)
            continue;
        if (process->lines)
            hs_gather(g, &g->seen, process->rank);
        if (process->rank + 1 > g->out->implied)
            g->out->implied = process->rank + 1;
    }
    for (uint32_t i = 0; i < g->out->count; i++)
        hs_gather(g, &g->waiting, g->out->waits[i].rank);
}

/* Communicators: the largest is the world, or part of it. */
static void take_communicators(struct gathering *g)
{
    for (uint32_t i = 0; i < g->identity->comms.count; i++) {
        const struct hs_comm *comm = &g->identity->comms.list[i];

        if (comm->attempt == g->attempt && comm->size != HS_NO_ID && comm->size <= HS_RANK_MAX &&
            (g->out->world_size == HS_NO_POSITION || comm->size > g->out->world_size))
            g->out->world_size = comm->size;
    }
}

/* ---- in order ---- */

static int by_beginning(const void *a, const void *b)
{
    const struct hs_line_wait *x = a, *y = b;

    if (x->began_ns != y->began_ns)
        return x->began_ns < y->began_ns ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static int by_rank(const void *a, const void *b)
{
    const struct hs_line_standing *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Sorted, each once, in the arena. */
static uint32_t *settle(struct gathering *g, struct list *list, uint32_t *count,
                        struct hs_arena *arena)
{
    uint32_t n = 0, *to = HS_NEW(arena, uint32_t, list->count);

    if (list->count)
        qsort(list->items, list->count, sizeof(*list->items), hs_compare_u32);
    for (uint32_t i = 0; to && i < list->count; i++) {
        if (n == 0 || to[n - 1] != list->items[i])
            to[n++] = list->items[i];
    }
    g->no_memory = g->no_memory || !to;
    free(list->items);
    *list = (struct list){ .count = 0 };
    *count = n;
    return to;
}

static void settle_ranks(struct gathering *g, struct hs_arena *arena)
{
    struct hs_line_waits *out = g->out;
    uint32_t waiting_count, n = 0, *waiting = settle(g, &g->waiting, &waiting_count, arena);

    out->alive = settle(g, &g->alive, &out->alive_count, arena);
    for (uint32_t i = 0; out->alive && waiting && i < out->alive_count; i++) {
        if (!hs_u32_contains(waiting, waiting_count, out->alive[i]))
            out->alive[n++] = out->alive[i];
    }
    out->alive_count = n;
    out->failed = settle(g, &g->failed, &out->failed_count, arena);
    out->ended = settle(g, &g->ended, &out->ended_count, arena);
    out->seen = settle(g, &g->seen, &out->seen_count, arena);
    out->progress = (out->progress || out->ended_count) && (g->heads == 0 || g->rows > 0);
}

/* Whether a failure was told so much later than the first that it follows from that. */
static bool is_later(const struct hs_line_waits *out, const struct hs_event *e)
{
    const int64_t moment_ns = (int64_t)5 * 1000000000;

    return e->time_ns && out->reported_ns &&
           (e->clock | HS_CLOCK_FINE) == (out->clock | HS_CLOCK_FINE) &&
           e->time_ns > out->reported_ns + moment_ns;
}

static bool has_event(const struct hs_job *job, uint32_t source, uint64_t line)
{
    for (uint32_t e = 0; e < job->event_count; e++) {
        if (job->events[e].source == source && job->events[e].last_line == line)
            return true;
    }
    return false;
}

/*
 * A rank whose only line is the last one of a log, in which nothing was recognised: where a log is
 * cut off, that is what is left of a report.
 */
static void take_cut_off(struct gathering *g)
{
    const struct hs_job *job = g->job;
    const struct hs_speaker *last = NULL;

    for (uint32_t i = 0; i < job->speaker_count && g->out->count; i++) {
        const struct hs_speaker *s = &job->speakers[i];

        if (!last || last->source != s->source || s->last_line >= last->last_line)
            last = s;
        if (i + 1 < job->speaker_count && job->speakers[i + 1].source == s->source)
            continue;
        if (last->lines == 1 && last->rank_from == HS_RANK_TAG &&
            hs_identity_attempt(g->identity, last->source, last->last_line) == g->attempt &&
            !has_event(job, last->source, last->last_line))
            hs_gather(g, &g->cut_off, last->rank);
    }
}

/* Whether nothing of a source stands behind this line. */
static bool is_last(const struct hs_job *job, uint32_t source, uint64_t line)
{
    for (uint32_t i = 0; i < job->speaker_count; i++) {
        if (job->speakers[i].source == source && job->speakers[i].last_line > line)
            return false;
    }
    return true;
}

/* A report whose line stops before it says how long its call ran. */
static void take_torn(struct gathering *g)
{
    const struct hs_job *job = g->job;
    uint32_t family = hs_intern_find(&job->strings, HS_STR("WD_TIMEOUT"));

    for (uint32_t i = 0; i < job->event_count && family != HS_NO_ID && !g->out->torn; i++) {
        const struct hs_event *e = &job->events[i];

        if (e->family == family &&
            hs_identity_attempt(g->identity, e->source, e->line) == g->attempt)
            g->out->torn = hs_job_arg(job, e->args, "elapsed_ms").n == 0 &&
                           is_last(job, e->source, e->last_line);
    }
}

/* From events to ranks. */
static void settle_failing(struct gathering *g, struct hs_arena *arena)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->failing.count; i++) {
        uint32_t event = g->failing.items[i];

        if (!is_later(g->out, &g->job->events[event]))
            g->failing.items[n++] =
                g->identity->processes[g->identity->process_of_event[event]].rank;
    }
    g->failing.count = n;
    for (uint32_t i = 0; i < g->cut_off.count; i++)
        hs_gather(g, &g->failing, g->cut_off.items[i]);
    free(g->cut_off.items);
    g->out->failing = settle(g, &g->failing, &g->out->failing_count, arena);
}

static void settle_window(struct hs_line_waits *out)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const struct hs_line_wait *w = &out->waits[i];

        if (w->reported_ns && (!out->reported_ns || w->reported_ns < out->reported_ns)) {
            out->reported_ns = w->reported_ns;
            out->clock = w->clock;
        }
        if (w->began_ns && (!out->began_ns || w->began_ns < out->began_ns))
            out->began_ns = w->began_ns;
    }
}

/* Rows move to the arena, so that nobody has to release them. */
static void move(struct gathering *g, void **rows, size_t bytes, struct hs_arena *arena)
{
    void *to = hs_arena_alloc(arena, bytes, 1);

    if (to && bytes)
        memcpy(to, *rows, bytes);
    g->no_memory = g->no_memory || !to;
    free(*rows);
    *rows = to;
}

enum hs_status hs_line_waits_find(const struct hs_identity *identity, uint32_t attempt,
                                  uint64_t world_size, struct hs_arena *arena,
                                  struct hs_line_waits *out, struct hs_err *err)
{
    const struct hs_job *job = identity->job;
    struct gathering g = { .job = job, .identity = identity, .attempt = attempt, .out = out };

    *out = (struct hs_line_waits){ .world_size = world_size ? world_size : HS_NO_POSITION,
                                   .last_work = HS_NO_ID };
    g.latest = HS_NEW(arena, uint32_t, (size_t)identity->process_count + job->speaker_count);
    if (!g.latest)
        return hs_no_memory(err);
    memset(g.latest, 0xff,
           ((size_t)identity->process_count + job->speaker_count) * sizeof(*g.latest));
    take_events(&g);
    take_processes(&g);
    take_communicators(&g);
    take_cut_off(&g);
    take_torn(&g);
    settle_ranks(&g, arena);
    settle_window(out);
    settle_failing(&g, arena);
    if (out->count)
        qsort(out->waits, out->count, sizeof(*out->waits), by_beginning);
    if (out->standing_count)
        qsort(out->standings, out->standing_count, sizeof(*out->standings), by_rank);
    if (out->lost_count)
        qsort(out->lost, out->lost_count, sizeof(*out->lost), by_beginning);
    move(&g, (void **)&out->lost, out->lost_count * sizeof(*out->lost), arena);
    move(&g, (void **)&out->waits, out->count * sizeof(*out->waits), arena);
    move(&g, (void **)&out->standings, out->standing_count * sizeof(*out->standings), arena);
    free(g.previous);
    return g.no_memory ? hs_no_memory(err) : HS_OK;
}
