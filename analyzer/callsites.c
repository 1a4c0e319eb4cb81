#include "analyzer/callsites.h"

#include <assert.h>
#include <stdlib.h>

/* ---- frames ---- */

static bool is_library(struct hs_str file)
{
    static const char *const marks[] = { "/site-packages/", "/dist-packages/",
                                         "/torch/distributed/", "/lib/python3", "<frozen " };

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (hs_str_has(file, marks[i]))
            return true;
    }
    return hs_str_starts(file, HS_STR("torch/")) || hs_str_ends(file, HS_STR(".so")) ||
           hs_str_has(file, ".so.") || hs_str_is(file, "??") || hs_str_ends(file, HS_STR(".cpp")) ||
           hs_str_ends(file, HS_STR(".cc"));
}

bool hs_is_user_frame(const struct hs_job *job, uint32_t frame)
{
    return !is_library(hs_job_string(job, hs_job_frame(job, frame)->file));
}

uint32_t hs_user_frame(const struct hs_job *job, uint32_t stack)
{
    uint32_t count;
    const uint32_t *frames = hs_job_stack(job, stack, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (hs_is_user_frame(job, frames[i]))
            return frames[i];
    }
    return HS_NO_ID;
}

static struct hs_str base_name(struct hs_str path)
{
    const char *slash = memrchr(path.p, '/', path.n);

    if (slash)
        path = (struct hs_str){ .p = slash + 1, .n = path.n - (size_t)(slash + 1 - path.p) };
    return path;
}

struct hs_str hs_user_stack(const struct hs_job *job, uint32_t stack, struct hs_arena *arena)
{
    enum { SHOWN = 3 };
    uint32_t count, shown = 0;
    const uint32_t *frames = hs_job_stack(job, stack, &count);
    struct hs_buf buf;
    struct hs_str text = { .p = NULL };

    hs_buf_init(&buf);
    for (uint32_t i = 0; i < count && shown < SHOWN; i++) {
        const struct hs_frame *f = hs_job_frame(job, frames[i]);
        struct hs_str file = hs_job_string(job, f->file);
        struct hs_str function = hs_job_string(job, f->function);

        if (is_library(file))
            continue;
        hs_buf_put(&buf, shown++ ? HS_STR(" ‹ ") : HS_STR(""));
        hs_buf_put_safe(&buf, base_name(file), 60);
        hs_buf_printf(&buf, ":%u ", f->line);
        hs_buf_put_safe(&buf, function, 60);
    }
    if (shown)
        text = hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return text;
}

/* ---- counts per call site ---- */

struct site_count {
    uint32_t group, frame, calls; /* of the seat at hand */
    uint32_t least, most, least_seat, most_seat, seats;
    uint32_t next;     /* in its hash chain; HS_NO_ID */
    uint32_t next_met; /* of those met at this seat */
};

struct site_table {
    struct site_count *rows;
    uint32_t count, cap;
    uint32_t *heads; /* by hash */
    uint32_t mask;
    uint32_t met; /* first row met at this seat; HS_NO_ID */
};

static struct site_count *site_of(struct site_table *t, uint32_t group, uint32_t frame)
{
    uint32_t at = (group * 0x9e3779b1u ^ frame * 0x85ebca77u) >> 8 & t->mask;

    for (uint32_t i = t->heads[at]; i != HS_NO_ID; i = t->rows[i].next) {
        assert(t->rows);
        if (t->rows[i].group == group && t->rows[i].frame == frame)
            return &t->rows[i];
    }
    if (!HS_GROW(t->rows, t->cap, t->count + 1u))
        return NULL;
    assert(t->rows);
    t->rows[t->count] = (struct site_count){
        .group = group, .frame = frame, .least = UINT32_MAX, .next = t->heads[at]
    };
    t->heads[at] = t->count++;
    return &t->rows[t->heads[at]];
}

static bool count_seat(const struct hs_alignment *al, uint32_t seat, struct site_table *t,
                       const struct hs_window *window, uint32_t *frame_of_stack)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);

    for (uint32_t i = 0; i < dump->operation_count; i++) {
        const struct hs_operation *op = &dump->operations[i];
        uint32_t group = al->positions[hs_op_position(al, seat, i)].group;
        uint32_t seq = hs_op_seq(al, seat, i);
        struct site_count *site;

        if (op->stack == HS_NO_ID || seq < window[group].low || seq > window[group].high ||
            hs_op_signature(al, seat, i)->self != HS_NO_ID)
            continue;
        if (frame_of_stack[op->stack] == HS_NO_ID - 1)
            frame_of_stack[op->stack] = hs_user_frame(al->job, op->stack);
        if (frame_of_stack[op->stack] == HS_NO_ID)
            continue;
        site = site_of(t, group, frame_of_stack[op->stack]);
        if (!site)
            return false;
        if (site->calls++ == 0) {
            site->next_met = t->met;
            t->met = (uint32_t)(site - t->rows);
        }
    }
    for (; t->met != HS_NO_ID; t->met = t->rows[t->met].next_met) {
        struct site_count *site = &t->rows[t->met];

        if (site->calls < site->least) {
            site->least = site->calls;
            site->least_seat = seat;
        }
        if (site->calls > site->most) {
            site->most = site->calls;
            site->most_seat = seat;
        }
        site->seats++;
        site->calls = 0;
    }
    return true;
}

/* How often a seat calls from a user frame, in one group. */
static uint32_t calls_from(const struct hs_alignment *al, uint32_t seat, uint32_t group,
                           uint32_t frame)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    uint32_t calls = 0;

    for (uint32_t i = 0; i < dump->operation_count; i++)
        calls += al->positions[hs_op_position(al, seat, i)].group == group &&
                 hs_user_frame(al->job, dump->operations[i].stack) == frame;
    return calls;
}

/* A member that never called from the site, when others did. */
static void count_absent(const struct hs_alignment *al, struct site_count *site)
{
    const struct hs_group *group = &al->groups[site->group];

    for (uint32_t i = 0; i < group->size && site->seats < group->size; i++) {
        uint32_t seat = al->positions[group->positions[i]].seat;

        if (calls_from(al, seat, site->group, site->frame) == 0) {
            site->least = 0;
            site->least_seat = seat;
            return;
        }
    }
}

uint32_t hs_uneven_calls(const struct hs_alignment *al, struct hs_arena *arena,
                         struct hs_uneven_site *out, uint32_t cap)
{
    enum { BUCKETS = 4096 };
    struct site_table t = { .mask = BUCKETS - 1, .met = HS_NO_ID };
    struct hs_window *window = HS_NEW(arena, struct hs_window, al->group_count);
    uint32_t *frame_of_stack = HS_NEW(arena, uint32_t, al->job->stacks_keys.count);
    uint32_t found = 0;
    bool ok;

    t.heads = HS_NEW(arena, uint32_t, BUCKETS);
    ok = window && frame_of_stack && t.heads;
    if (ok)
        memset(t.heads, 0xff, BUCKETS * sizeof(*t.heads));
    for (uint32_t i = 0; ok && i < al->job->stacks_keys.count; i++)
        frame_of_stack[i] = HS_NO_ID - 1;
    for (uint32_t g = 0; ok && g < al->group_count; g++)
        window[g] = hs_common_window(al, &al->groups[g]);
    for (uint32_t s = 0; ok && s < al->seat_count; s++)
        ok = count_seat(al, s, &t, window, frame_of_stack);
    for (uint32_t i = 0; ok && i < t.count && found < cap; i++) {
        count_absent(al, &t.rows[i]);
        if (t.rows[i].least != t.rows[i].most)
            out[found++] = (struct hs_uneven_site){ .group = t.rows[i].group,
                                                    .frame = t.rows[i].frame,
                                                    .least = t.rows[i].least,
                                                    .most = t.rows[i].most,
                                                    .least_seat = t.rows[i].least_seat,
                                                    .most_seat = t.rows[i].most_seat };
    }
    free(t.rows);
    return ok ? found : UINT32_MAX;
}

/* ---- causes ---- */

/* Words in a function's name that say what it is busy with; first match wins. */
static const struct {
    const char *word, *cause;
} busy_words[] = {
    { "save_checkpoint", "slow-checkpoint" },
    { "checkpoint", "slow-checkpoint" },
    { "state_dict", "slow-checkpoint" },
    { "from_pretrained", "slow-load" },
    { "load_model", "slow-load" },
    { "load_weights", "slow-load" },
    { "compile", "slow-compile" },
    { "dataloader", "slow-data" },
    { "next_batch", "slow-data" },
    { "get_batch", "slow-data" },
    { "tokeniz", "slow-data" },
};

/* What a rank standing in `stack` is busy with, by the names of the functions it stands in. */
static const char *busy_with(const struct hs_job *job, uint32_t stack)
{
    uint32_t count;
    const uint32_t *frames = hs_job_stack(job, stack, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct hs_str function = hs_job_string(job, hs_job_frame(job, frames[i])->function);

        for (size_t k = 0; k < sizeof(busy_words) / sizeof(busy_words[0]); k++) {
            if (hs_str_has(function, busy_words[k].word))
                return busy_words[k].cause;
        }
    }
    return NULL;
}

const char *hs_cause_of(const struct hs_alignment *al, uint32_t subject, uint32_t subject_op,
                        uint32_t waiter, uint32_t waiter_op, bool alone)
{
    const struct hs_job *job = al->job;
    uint32_t subject_stack = hs_seat_dump(al, subject)->operations[subject_op].stack;
    uint32_t waiter_stack = hs_seat_dump(al, waiter)->operations[waiter_op].stack;
    uint32_t here = hs_user_frame(job, subject_stack), there = hs_user_frame(job, waiter_stack);
    uint32_t group = al->positions[hs_op_position(al, waiter, waiter_op)].group;
    const struct hs_frame *a, *b;
    const char *busy;

    if (here == HS_NO_ID || there == HS_NO_ID || here == there)
        return NULL;
    a = hs_job_frame(job, here);
    b = hs_job_frame(job, there);
    busy = busy_with(job, subject_stack);
    if (busy && !busy_with(job, waiter_stack))
        return busy;
    if (alone && al->seats[subject].rank == 0 && calls_from(al, waiter, group, here) == 0)
        return "rank0-only-branch";
    if (calls_from(al, waiter, group, here) == 0 && calls_from(al, subject, group, there) >= 2 &&
        calls_from(al, subject, group, there) < calls_from(al, waiter, group, there))
        return "uneven-steps";
    if (a->function == b->function && a->file == b->file)
        return "data-dependent-branch";
    return NULL;
}
