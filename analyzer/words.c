#include "analyzer/words.h"

#include "analyzer/callsites.h"
#include "base/limits.h"
#include "base/ranks.h"

#include <ctype.h>
#include <time.h>

static struct hs_str keep(struct hs_buf *buf, struct hs_arena *arena)
{
    struct hs_str text = hs_arena_copy(arena, hs_buf_str(buf));

    hs_buf_release(buf);
    return text;
}

struct hs_str hs_safe_text(struct hs_str text, struct hs_arena *arena)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_buf_put_safe(&buf, text, HS_EXCERPT_BYTES);
    return keep(&buf, arena);
}

struct hs_str hs_safe(const struct hs_job *job, uint32_t string, struct hs_arena *arena)
{
    return hs_safe_text(hs_job_string(job, string), arena);
}

struct hs_str hs_frame_text(const struct hs_job *job, uint32_t frame, struct hs_arena *arena)
{
    const struct hs_frame *f = hs_job_frame(job, frame);
    struct hs_str file = hs_safe(job, f->file, arena), function = hs_safe(job, f->function, arena);

    return hs_arena_printf(arena, "%.*s:%u %.*s", HS_STR_ARG(file), f->line, HS_STR_ARG(function));
}

struct hs_str hs_signature_op(const struct hs_job *job, const struct hs_signature *sig,
                              struct hs_arena *arena)
{
    struct hs_buf capitals, safe;
    struct hs_str name;

    if (sig->kind->op) {
        bool base = strcmp(sig->kind->op, "ALLTOALL") == 0 && sig->tensors_in == 1;

        return hs_str_of(base ? "ALLTOALL_BASE" : sig->kind->op);
    }
    name = hs_job_string(job, sig->bare);
    hs_buf_init(&capitals);
    for (size_t i = 0; i < name.n && i < HS_EXCERPT_BYTES; i++)
        hs_buf_putc(&capitals, (char)toupper((unsigned char)name.p[i]));
    hs_buf_init(&safe);
    hs_buf_put_safe(&safe, name.n ? hs_buf_str(&capitals) : HS_STR("UNKNOWN"), HS_EXCERPT_BYTES);
    hs_buf_release(&capitals);
    return keep(&safe, arena);
}

struct hs_str hs_op_name(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                         struct hs_arena *arena)
{
    return hs_signature_op(al->job, hs_op_signature(al, seat, op), arena);
}

static bool pair_ranks(const struct hs_alignment *al, uint32_t seat, uint32_t op, uint32_t *src,
                       uint32_t *dst)
{
    const struct hs_signature *sig = hs_op_signature(al, seat, op);
    const struct hs_group *group = &al->groups[al->positions[hs_op_position(al, seat, op)].group];
    uint32_t self = al->seats[seat].rank;

    if (sig->peer == HS_NO_ID || sig->peer >= group->size)
        return false;
    *src = sig->kind->class == HS_CLASS_SEND ? self : group->ranks[sig->peer];
    *dst = sig->kind->class == HS_CLASS_SEND ? group->ranks[sig->peer] : self;
    return true;
}

struct hs_str hs_op_label(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                          struct hs_arena *arena)
{
    struct hs_str name = hs_op_name(al, seat, op, arena);
    struct hs_str group = al->groups[al->positions[hs_op_position(al, seat, op)].group].label;
    uint32_t src, dst;

    if (pair_ranks(al, seat, op, &src, &dst))
        return hs_arena_printf(arena, "%.*s %u->%u in %.*s", HS_STR_ARG(name), src, dst,
                               HS_STR_ARG(group));
    return hs_arena_printf(arena, "%.*s #%u of %.*s", HS_STR_ARG(name), hs_op_seq(al, seat, op),
                           HS_STR_ARG(group));
}

struct hs_str hs_op_title(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                          struct hs_arena *arena)
{
    const struct hs_signature *sig = hs_op_signature(al, seat, op);
    struct hs_str label = hs_op_label(al, seat, op, arena);
    struct hs_str dtype = hs_safe(al->job, sig->dtypes_in, arena);

    if (!sig->tensors_in)
        return label;
    return hs_arena_printf(arena, "%.*s (%llu%s%.*s)", HS_STR_ARG(label),
                           (unsigned long long)sig->numel_in, dtype.n ? " × " : "",
                           HS_STR_ARG(dtype));
}

struct hs_str hs_rank_text(const uint32_t *ranks, uint32_t count, struct hs_arena *arena)
{
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_ranks_put(&buf, ranks, count, 12);
    return keep(&buf, arena);
}

struct hs_str hs_time_text(int64_t ns, struct hs_arena *arena)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char date[40];

    if (ns <= 0 || !gmtime_r(&seconds, &tm) ||
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return (struct hs_str){ .p = NULL };
    return hs_arena_printf(arena, "%s.%06dZ", date, (int)(ns % 1000000000 / 1000));
}

struct hs_str hs_clock_text(int64_t ns, struct hs_arena *arena)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char clock[24];

    if (ns <= 0 || !gmtime_r(&seconds, &tm) || strftime(clock, sizeof(clock), "%H:%M:%S", &tm) == 0)
        return hs_str_of("");
    return hs_arena_printf(arena, "%s", clock);
}

struct hs_str hs_stamp_clock(int64_t ns, uint32_t clock, struct hs_arena *arena)
{
    struct hs_str text = hs_clock_text(ns, arena);

    if (clock & HS_CLOCK_BOOT)
        return hs_arena_printf(arena, "%lld.%03d s after boot", (long long)(ns / 1000000000),
                               (int)(ns % 1000000000 / 1000000));
    return clock & HS_CLOCK_ZONE ? hs_arena_printf(arena, "%.*s UTC", HS_STR_ARG(text)) : text;
}

/* NCCL's watchdog retires an unfinished call only when it gives it up; gloo marks nothing else. */
const char *hs_state_name(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    static const char *const names[] = { "in an unknown state", "scheduled", "started",
                                         "completed" };
    const struct hs_operation *row = &hs_seat_dump(al, seat)->operations[op];
    unsigned state = row->flags & HS_OPERATION_STATE;

    if (!(row->flags & HS_OPERATION_RETIRED) || state == HS_STATE_COMPLETED)
        return names[state];
    return al->groups[al->positions[hs_op_position(al, seat, op)].group].marks_nothing
               ? "retired"
               : "timed out";
}

struct hs_evidence hs_op_evidence(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                                  struct hs_arena *arena)
{
    const struct hs_job *job = al->job;
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    const struct hs_operation *row = &dump->operations[op];
    const struct hs_signature *sig = hs_op_signature(al, seat, op);
    struct hs_str label = hs_op_label(al, seat, op, arena);
    struct hs_str created = hs_time_text(job->simulated ? 0 : row->created_ns, arena);
    struct hs_str stack = hs_user_stack(job, row->stack, arena);
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_buf_printf(&buf, "%.*s %s", HS_STR_ARG(label), hs_state_name(al, seat, op));
    if (created.p)
        hs_buf_printf(&buf, ", created %.*s", HS_STR_ARG(created));
    if (row->flags & HS_OPERATION_SIZED) {
        hs_buf_put(&buf, HS_STR(", "));
        hs_buf_put_safe(&buf, hs_job_string(job, sig->shapes_in), 80);
        hs_buf_putc(&buf, ' ');
        hs_buf_put_safe(&buf, hs_job_string(job, sig->dtypes_in), 40);
    }
    return (struct hs_evidence){ .source = hs_safe(job, job->sources[dump->source].name, arena),
                                 .line = HS_UNKNOWN,
                                 .record = row->record,
                                 .offset_bytes = HS_UNKNOWN,
                                 .rank = al->seats[seat].rank,
                                 .excerpt = keep(&buf, arena),
                                 .stack = stack };
}

struct hs_evidence hs_counter_evidence(const struct hs_alignment *al, uint32_t seat, uint32_t group,
                                       struct hs_arena *arena)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    struct hs_evidence e = { .source = hs_safe(al->job, al->job->sources[dump->source].name, arena),
                             .line = HS_UNKNOWN,
                             .record = HS_UNKNOWN,
                             .offset_bytes = HS_UNKNOWN,
                             .rank = al->seats[seat].rank };

    for (uint32_t i = 0; i < dump->member_count; i++) {
        const struct hs_member *m = &al->job->members[dump->first_member + i];
        uint32_t position = al->position_of_member[dump->first_member + i];

        if (m->has_status && al->positions[position].group == group)
            e.excerpt = hs_arena_printf(arena, "pg_status: #%lld enqueued, #%lld completed in %.*s",
                                        (long long)m->enqueued, (long long)m->completed,
                                        HS_STR_ARG(al->groups[group].label));
    }
    return e;
}

struct hs_verdict_operation hs_op_verdict(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                                          struct hs_arena *arena)
{
    const struct hs_operation *row = &hs_seat_dump(al, seat)->operations[op];
    const struct hs_signature *sig = hs_op_signature(al, seat, op);
    const struct hs_group *group = &al->groups[al->positions[hs_op_position(al, seat, op)].group];
    struct hs_str dtype = hs_job_string(al->job, sig->dtypes_in);
    bool sized = row->flags & HS_OPERATION_SIZED;
    struct hs_verdict_operation v = {
        .group = hs_arena_copy(arena, group->label),
        .group_name = hs_safe(al->job, group->name, arena),
        .group_size = group->members_assumed ? HS_UNKNOWN : group->size,
        .seq = hs_op_seq(al, seat, op),
        .op = hs_op_name(al, seat, op, arena),
        .recorded = hs_safe(al->job, sig->name, arena),
        .src = HS_NO_ID,
        .dst = HS_NO_ID,
        .numel_in = sized ? sig->numel_in : HS_UNKNOWN,
        .numel_out = sized ? sig->numel_out : HS_UNKNOWN,
        .dtype = dtype.n ? hs_safe(al->job, sig->dtypes_in, arena) : (struct hs_str){ .p = NULL },
    };

    if (pair_ranks(al, seat, op, &v.src, &v.dst))
        v.seq = HS_UNKNOWN;
    return v;
}
