/* line_waits_take.c - what each family of lines says of who waits, how far ranks are, and who
 * ended. */
#include "analyzer/line_waits_internal.h"

#include "base/limits.h"

/* Counters were left uninitialised in 2.3: what no job reaches is no number. */
enum { SANE_BITS = 40 };

static uint64_t number_of(const struct gathering *g, const struct hs_event *e, const char *name)
{
    uint64_t value;

    return hs_str_number(hs_job_arg(g->job, e->args, name), &value) ? value : HS_NO_POSITION;
}

static uint64_t counter_of(const struct gathering *g, const struct hs_event *e, const char *name)
{
    uint64_t value = number_of(g, e, name);

    return value >> SANE_BITS ? HS_NO_POSITION : value;
}

/* Element counts: 2^64 - 1 is "unset". */
static uint64_t count_of(const struct gathering *g, const struct hs_event *e, const char *name)
{
    uint64_t value = number_of(g, e, name);

    return value == UINT64_MAX ? HS_NO_POSITION : value;
}

static uint32_t string_of(const struct gathering *g, const struct hs_event *e, const char *name)
{
    struct hs_str text = hs_job_arg(g->job, e->args, name);

    return text.p && text.n ? hs_intern_find(&g->job->strings, text) : HS_NO_ID;
}

static const struct hs_process *process_of(const struct gathering *g, uint32_t event)
{
    uint32_t process = g->identity->process_of_event[event];

    return process == HS_NO_ID ? NULL : &g->identity->processes[process];
}

static uint32_t rank_of(const struct gathering *g, uint32_t event)
{
    const struct hs_process *process = process_of(g, event);

    return process ? process->rank : HS_NO_ID;
}

/* A process, or a speaker who is nobody in particular: whose waits belong together. */
static uint32_t voice_of(const struct gathering *g, uint32_t event)
{
    uint32_t process = g->identity->process_of_event[event];

    return process != HS_NO_ID ? process
                               : g->identity->process_count + g->job->events[event].speaker;
}

/* ---- waits ---- */

static bool same_group(uint32_t a, uint32_t b)
{
    return a == HS_NO_ID || b == HS_NO_ID || a == b;
}

/* Lines of one failure stand this near to each other, counted in waits of one process. */
enum { NEAR_WAITS = 64 };

/* The wait that this line tells of once more: one failure is printed three or four times. */
static struct hs_line_wait *known_wait(struct gathering *g, uint32_t event, uint64_t seq,
                                       uint32_t op, uint32_t group)
{
    uint32_t i = g->latest[voice_of(g, event)];

    for (int near = 0; i != HS_NO_ID && near < NEAR_WAITS; i = g->previous[i], near++) {
        struct hs_line_wait *w = &g->out->waits[i];

        if ((seq == HS_NO_POSITION || w->seq == HS_NO_POSITION || w->seq == seq) &&
            (op == HS_NO_ID || w->op == HS_NO_ID || w->op == op) && same_group(w->group, group))
            return w;
    }
    return NULL;
}

/* Of an event, and nothing yet of what it says. */
static struct hs_line_wait blank_wait(const struct gathering *g, uint32_t event, uint32_t rank)
{
    return (struct hs_line_wait){ .rank = rank,
                                  .voice = voice_of(g, event),
                                  .event = event,
                                  .group = HS_NO_ID,
                                  .group_desc = HS_NO_ID,
                                  .group_rank = HS_NO_ID,
                                  .seq = HS_NO_POSITION,
                                  .op = HS_NO_ID,
                                  .numel_in = HS_NO_POSITION,
                                  .numel_out = HS_NO_POSITION,
                                  .timeout_ms = HS_NO_POSITION,
                                  .elapsed_ms = HS_NO_POSITION,
                                  .enqueued = HS_NO_POSITION,
                                  .completed = HS_NO_POSITION,
                                  .stack = HS_NO_ID };
}

static struct hs_line_wait *new_wait(struct gathering *g, uint32_t event)
{
    struct hs_line_waits *out = g->out;
    uint32_t *latest = &g->latest[voice_of(g, event)];

    if (!HS_GROW(out->waits, out->cap, (size_t)out->count + 1) ||
        !HS_GROW(g->previous, g->previous_cap, (size_t)out->count + 1)) {
        g->no_memory = true;
        return NULL;
    }
    g->previous[out->count] = *latest;
    *latest = out->count;
    out->waits[out->count] = blank_wait(g, event, rank_of(g, event));
    return &out->waits[out->count++];
}

static struct hs_line_wait *wait_of(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    uint64_t seq = counter_of(g, e, "seq"), place = number_of(g, e, "pg_rank");
    uint32_t op = string_of(g, e, "op"), group = string_of(g, e, "pg");
    struct hs_line_wait *w = known_wait(g, event, seq, op, group);

    w = w ? w : new_wait(g, event);
    if (!w)
        return NULL;
    if (w->seq == HS_NO_POSITION)
        w->seq = seq;
    if (w->op == HS_NO_ID)
        w->op = op;
    if (w->group == HS_NO_ID && group != HS_NO_ID) {
        w->group = group;
        w->group_desc = string_of(g, e, "pg_desc");
    }
    if (w->group_rank == HS_NO_ID && place < HS_NO_ID)
        w->group_rank = (uint32_t)place;
    if (e->time_ns && (!w->reported_ns || e->time_ns < w->reported_ns)) {
        w->reported_ns = e->time_ns;
        w->clock = e->clock;
    }
    if (e->stack != HS_NO_ID)
        w->stack = e->stack;
    return w;
}

static void take_timeout(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    struct hs_line_wait *w = wait_of(g, event);

    if (!w)
        return;
    if (w->elapsed_ms == HS_NO_POSITION)
        w->event = event; /* of all lines it says most */
    if (w->numel_in == HS_NO_POSITION)
        w->numel_in = count_of(g, e, "numel_in");
    if (w->numel_out == HS_NO_POSITION)
        w->numel_out = count_of(g, e, "numel_out");
    if (w->timeout_ms == HS_NO_POSITION)
        w->timeout_ms = counter_of(g, e, "timeout_ms");
    if (w->elapsed_ms == HS_NO_POSITION) {
        w->elapsed_ms = counter_of(g, e, "elapsed_ms");
        if (w->elapsed_ms != HS_NO_POSITION && e->time_ns) {
            w->began_ns = e->time_ns - (int64_t)w->elapsed_ms * 1000000;
            w->reported_ns = e->time_ns;
            w->clock = e->clock;
        }
    }
}

/* A rank in a call whose connection broke: once per process. */
static void add_lost(struct gathering *g, uint32_t event)
{
    struct hs_line_waits *out = g->out;
    uint32_t rank = rank_of(g, event);

    for (uint32_t i = 0; i < out->lost_count; i++) {
        if (out->lost[i].voice == voice_of(g, event))
            return;
    }
    if (rank == HS_NO_ID)
        return;
    if (!HS_GROW(out->lost, out->lost_cap, (size_t)out->lost_count + 1)) {
        g->no_memory = true;
        return;
    }
    out->lost[out->lost_count++] = blank_wait(g, event, rank);
}

/* gloo: the call that ran out is named by the traceback alone; see take_traceback(). */
static void take_gloo(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    struct hs_line_wait *w;
    struct hs_str what = hs_job_arg(g->job, e->args, "what");

    if (hs_str_is(what, "Connection closed by peer") || hs_str_is(what, "Read error") ||
        hs_str_is(what, "Socket closed")) {
        add_lost(g, event);
        return;
    }
    if (!hs_str_starts(what, HS_STR("Timed out waiting")))
        return;
    w = wait_of(g, event);
    if (w && w->timeout_ms == HS_NO_POSITION)
        w->timeout_ms = counter_of(g, e, "timeout_ms");
}

/* Who says that others did not come to a barrier waited for them there. */
static void take_barrier(struct gathering *g, uint32_t event)
{
    (void)wait_of(g, event);
}

/* The collective that a stack stands in, by torch's own function: "all_reduce" is ALLREDUCE. */
static uint32_t op_of_stack(const struct gathering *g, uint32_t stack)
{
    uint32_t count;
    const uint32_t *frames = hs_job_stack(g->job, stack, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_frame *frame = hs_job_frame(g->job, frames[i]);
        const struct hs_operation_kind *kind =
            hs_operation_kind_of(hs_job_string(g->job, frame->function));

        if (hs_str_has(hs_job_string(g->job, frame->file), "distributed_c10d.py") && kind->op)
            return frame->function;
    }
    return HS_NO_ID;
}

/* A traceback that ends in the exception of a wait tells where it waited. */
static bool take_place(struct gathering *g, const struct hs_event *e, uint64_t line,
                       struct hs_line_wait *w)
{
    const struct hs_event *wait = &g->job->events[w->event];

    if (wait->source != e->source || wait->line != line)
        return false;
    w->stack = e->stack;
    if (w->op == HS_NO_ID)
        w->op = op_of_stack(g, e->stack);
    return true;
}

static void take_traceback(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    uint32_t wait = g->latest[voice_of(g, event)];
    uint64_t line = number_of(g, e, "exception_line");

    if (e->stack == HS_NO_ID || (wait != HS_NO_ID && take_place(g, e, line, &g->out->waits[wait])))
        return;
    for (uint32_t i = 0; i < g->out->lost_count; i++) {
        if (g->out->lost[i].voice == voice_of(g, event))
            (void)take_place(g, e, line, &g->out->lost[i]);
    }
}

/* A stack that was taken from outside, in the middle of a collective: that is where it waits. */
static void take_snapshot(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    uint32_t op = e->stack == HS_NO_ID ? HS_NO_ID : op_of_stack(g, e->stack);
    struct hs_line_wait *w =
        op == HS_NO_ID || rank_of(g, event) == HS_NO_ID ? NULL : wait_of(g, event);

    if (w && w->op == HS_NO_ID)
        w->op = op;
    if (w)
        w->stack = e->stack;
}

/* ---- standings ---- */

static void add_standing(struct gathering *g, uint32_t event, bool answered)
{
    const struct hs_event *e = &g->job->events[event];
    struct hs_line_standing s = { .rank = rank_of(g, event),
                                  .event = event,
                                  .group = string_of(g, e, "pg"),
                                  .group_desc = string_of(g, e, "pg_desc"),
                                  .enqueued = counter_of(g, e, "enqueued"),
                                  .completed = counter_of(g, e, "completed"),
                                  .answered = answered };
    struct hs_line_waits *out = g->out;

    if (s.enqueued != HS_NO_POSITION && s.completed != HS_NO_POSITION && s.completed > s.enqueued)
        s.enqueued = s.completed = HS_NO_POSITION;
    if (!HS_GROW(out->standings, out->standing_cap, (size_t)out->standing_count + 1))
        g->no_memory = true;
    else
        out->standings[out->standing_count++] = s;
}

static void take_status(struct gathering *g, uint32_t event)
{
    struct hs_line_wait *w = wait_of(g, event);

    add_standing(g, event, false);
    if (w) {
        const struct hs_line_standing *s = &g->out->standings[g->out->standing_count - 1];

        w->enqueued = s->enqueued;
        w->completed = s->completed;
    }
}

static void take_stack(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];

    uint32_t wait = g->latest[voice_of(g, event)];

    if (wait != HS_NO_ID && e->stack != HS_NO_ID)
        g->out->waits[wait].stack = e->stack;
}

/* The answer to a dump signal; to its own, it only repeats what the failure said. */
static void take_answer(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];
    bool own = hs_job_arg(g->job, e->args, "own").p != NULL;

    add_standing(g, event, !own);
    hs_gather(g, &g->alive, rank_of(g, event));
}

static void take_alive(struct gathering *g, uint32_t event)
{
    hs_gather(g, &g->alive, rank_of(g, event));
}

/* The end of a rank by its own watchdog, which a line that was not copied may explain. */
static void take_failing(struct gathering *g, uint32_t event)
{
    struct hs_str why = hs_job_arg(g->job, g->job->events[event].args, "why");

    if (rank_of(g, event) != HS_NO_ID && (!why.n || hs_str_has(why, "imeout")))
        hs_gather(g, &g->failing, event);
}

/* ---- work that was completed ---- */

static void take_work(struct gathering *g, uint32_t event)
{
    g->out->progress = true;
    g->out->last_work = event;
}

static void take_end(struct gathering *g, uint32_t event)
{
    hs_gather(g, &g->ended, rank_of(g, event));
    g->out->finished = true;
    take_work(g, event);
}

static void take_step(struct gathering *g, uint32_t event)
{
    uint64_t rank = number_of(g, &g->job->events[event], "rank");

    take_work(g, event);
    if (rank <= HS_RANK_MAX && rank + 1 > g->out->implied)
        g->out->implied = (uint32_t)rank + 1;
}

/* It left by the end of its program, of which an exception is one way: work need not be done. */
static void take_exit(struct gathering *g, uint32_t event)
{
    hs_gather(g, &g->ended, rank_of(g, event));
    if (g->out->last_work == HS_NO_ID)
        g->out->last_work = event;
}

/* A row of a launcher's table, which has all processes that did not end well. */
static void take_failed(struct gathering *g, uint32_t event)
{
    uint64_t rank = number_of(g, &g->job->events[event], "rank");

    hs_gather(g, &g->failed, rank <= HS_RANK_MAX ? (uint32_t)rank : HS_NO_ID);
}

/* Whether the last of equal lines stands behind a line of the other kind in the same file. */
static bool is_behind(const struct hs_event *e, const struct place_in_file *other)
{
    return e->source == other->source && e->last_line > other->line;
}

/* A benchmark that begins behind the end of another one has not ended yet. */
static void take_benchmark(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];

    if (is_behind(e, &g->benchmark_done))
        g->out->finished = false;
    if (e->source != g->benchmark.source || is_behind(e, &g->benchmark))
        g->benchmark = (struct place_in_file){ .source = e->source, .line = e->last_line };
}

static void take_row(struct gathering *g, uint32_t event)
{
    g->rows++;
    take_work(g, event);
}

static void take_last_row(struct gathering *g, uint32_t event)
{
    const struct hs_event *e = &g->job->events[event];

    take_row(g, event);
    g->out->finished = e->source != g->benchmark.source || is_behind(e, &g->benchmark);
    g->benchmark_done = (struct place_in_file){ .source = e->source, .line = e->last_line };
}

static void take_columns(struct gathering *g, uint32_t event)
{
    (void)event;
    g->heads++;
}

/* ---- the world ---- */

static void take_world(struct gathering *g, uint32_t event, const char *name)
{
    uint64_t size = counter_of(g, &g->job->events[event], name);

    if (size != HS_NO_POSITION && size && size <= HS_RANK_MAX &&
        (g->out->world_size == HS_NO_POSITION || size > g->out->world_size))
        g->out->world_size = size;
}

static void take_world_size(struct gathering *g, uint32_t event)
{
    take_world(g, event, "world_size");
}

static void take_group_size(struct gathering *g, uint32_t event)
{
    take_world(g, event, "size");
}

const struct hs_wait_taker hs_wait_takers[] = {
    { "WD_TIMEOUT", take_timeout },
    { "WAIT_TIMEOUT", take_timeout },
    { "RUN_END", take_end },
    { "PG_NOT_DESTROYED", take_exit },
    { "STEP_LINE", take_step },
    { "STEP_TIME", take_step },
    { "NCCLT_START", take_benchmark },
    { "NCCLT_ROW", take_row },
    { "NCCLT_END", take_last_row },
    { "NCCLT_COLUMNS", take_columns },
    { "TBL_ROW", take_failed },
    { "GLOO_ERR", take_gloo },
    { "MONBAR_FAIL", take_barrier },
    { "PY_TRACEBACK", take_traceback },
    { "NCCL2_TIMEOUT", take_timeout },
    { "WD_STATUS", take_status },
    { "WD_HIT", take_status },
    { "WD_STACK", take_stack },
    { "STACK", take_snapshot },
    { "DUMP_RECV", take_answer },
    { "DUMP_OBSERVED", take_alive },
    { "DUMP_PREPARE", take_alive },
    { "SOME_FAILED", take_failing },
    { "TEARDOWN", take_failing },
    { "WD_TERMINATED", take_failing },
    { "STORE_BARRIER", take_world_size },
    { "STORE_CLIENTS", take_world_size },
    { "PG_OPTIONS", take_group_size },
    { NULL, NULL },
};
