/* timeline.c - what the formats of a timeline share: pieces, and words. */
#include "analyzer/render/timeline.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    PIECE = 1 << 16,
    MEMBERS_SHOWN = 30, /* of more, Kineto shows the first 29 and the last */
    NAME_BYTES = 256,
};

/* ---- pieces ---- */

static enum hs_status flush(struct hs_timeline_file *f, size_t at_least, struct hs_err *err)
{
    enum hs_status status;

    if (f->buf.failed || f->part.failed)
        return hs_no_memory(err);
    if (f->buf.n < at_least || f->buf.n == 0)
        return HS_OK;
    status = f->sink(f->self, hs_buf_str(&f->buf), err);
    f->buf.n = 0;
    return status;
}

enum hs_status hs_timeline_file_init(struct hs_timeline_file *f,
                                     const struct hs_timeline_format *format,
                                     const struct hs_timeline *timeline, hs_timeline_sink_fn *sink,
                                     void *self, struct hs_err *err)
{
    *f = (struct hs_timeline_file){
        .format = format, .timeline = timeline, .sink = sink, .self = self
    };
    hs_buf_init(&f->buf);
    hs_buf_init(&f->part);
    hs_buf_init(&f->event);
    hs_buf_init(&f->packet);
    hs_arena_init(&f->arena);
    f->signatures = HS_NEW(&f->arena, struct hs_str, timeline->job->signatures_keys.count);
    f->groups = HS_NEW(&f->arena, struct hs_str, timeline->group_count);
    if (!f->signatures || !f->groups)
        return hs_no_memory(err);
    format->begin(f);
    return flush(f, PIECE, err);
}

/* Lanes get numbers of their own, in the whole file. */
static bool number_lanes(struct hs_timeline_file *f, const struct hs_timeline_rank *rank)
{
    if (!HS_GROW(f->first_lane, f->lane_cap, rank->track_count))
        return false;
    for (uint32_t t = 0; t < rank->track_count; t++) {
        if (f->next_lane < HS_TIMELINE_PIDS &&
            HS_TIMELINE_PIDS - f->next_lane <= rank->tracks[t].lanes)
            f->next_lane = HS_TIMELINE_LANES_BEYOND;
        f->first_lane[t] = f->next_lane + 1;
        f->next_lane += rank->tracks[t].lanes;
    }
    return true;
}

enum hs_status hs_timeline_file_put(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                                    struct hs_err *err)
{
    enum hs_status status = HS_OK;

    if (!number_lanes(f, rank))
        return hs_no_memory(err);
    f->format->rank(f, rank);
    for (uint32_t i = 0; status == HS_OK && i < rank->slice_count; i++) {
        f->format->slice(f, rank, &rank->slices[i]);
        status = flush(f, PIECE, err);
    }
    return status;
}

enum hs_status hs_timeline_file_end(struct hs_timeline_file *f, struct hs_err *err)
{
    f->format->end(f);
    return flush(f, 0, err);
}

void hs_timeline_file_release(struct hs_timeline_file *f)
{
    free(f->first_lane);
    hs_buf_release(&f->buf);
    hs_buf_release(&f->part);
    hs_buf_release(&f->event);
    hs_buf_release(&f->packet);
    hs_arena_release(&f->arena);
}

/* ---- words ---- */

void hs_timeline_put_rank(struct hs_buf *buf, const struct hs_timeline_rank *rank)
{
    hs_buf_printf(buf, "rank %u", rank->rank);
    if (rank->host.p) {
        hs_buf_put(buf, HS_STR(" ("));
        hs_buf_put_safe(buf, rank->host, NAME_BYTES);
        if (rank->gpu != HS_NO_ID)
            hs_buf_printf(buf, " gpu %u", rank->gpu);
        hs_buf_putc(buf, ')');
    }
    if (rank->unseen)
        hs_buf_put(buf, HS_STR(", no dump"));
    if (rank->culprit)
        hs_buf_put(buf, HS_STR(", culprit"));
}

void hs_timeline_put_lane(struct hs_buf *buf, const struct hs_timeline *t,
                          const struct hs_track *track, uint32_t lane)
{
    hs_buf_put(buf, t->groups[track->group].label);
    if (lane)
        hs_buf_printf(buf, " (%u)", lane + 1);
}

void hs_timeline_put_name(struct hs_buf *buf, const struct hs_timeline *t,
                          const struct hs_slice *slice)
{
    static const char *const wanting[] = {
        [HS_WANTED_ABSENT] = "not entered: ",    [HS_WANTED_EARLIER] = "blocked before: ",
        [HS_WANTED_STALE] = "no longer seen: ",  [HS_WANTED_UNSEEN] = "no dump: ",
        [HS_WANTED_UNCLEAR] = "not on record: ", [HS_WANTED_CULPRIT] = "culprit in: ",
    };
    const struct hs_signature *sig = &t->job->signatures[slice->op->signature];

    if (slice->kind == HS_SLICE_WANTED && slice->why == HS_WANTED_ABSENT && sig->peer != HS_NO_ID)
        hs_buf_put(buf, HS_STR("not met: ")); /* the other side would be a call of its own */
    else if (slice->kind == HS_SLICE_WANTED)
        hs_buf_put(buf, hs_str_of(wanting[slice->why]));
    hs_buf_put_safe(buf, hs_job_string(t->job, sig->name), NAME_BYTES);
    if (slice->number)
        hs_buf_printf(buf, " #%u", slice->number);
    if (slice->kind == HS_SLICE_OPEN)
        hs_buf_put(buf, HS_STR(", unfinished"));
}

void hs_timeline_put_op(struct hs_buf *buf, const struct hs_job *job,
                        const struct hs_signature *sig)
{
    struct hs_str name = sig->kind->op ? hs_str_of(sig->kind->op) : hs_job_string(job, sig->bare);

    if (!sig->kind->op)
        hs_buf_put_safe(buf, name, NAME_BYTES);
    for (size_t i = 0; sig->kind->op && i < name.n; i++)
        hs_buf_putc(buf, (char)tolower((unsigned char)name.p[i]));
}

void hs_timeline_put_dtype(struct hs_buf *buf, const struct hs_job *job,
                           const struct hs_signature *sig)
{
    hs_buf_put_safe(buf, hs_job_string(job, sig->dtypes_in), NAME_BYTES);
}

void hs_timeline_put_members(struct hs_buf *buf, const struct hs_timeline_group *group)
{
    uint32_t shown = group->size > MEMBERS_SHOWN ? MEMBERS_SHOWN - 1 : group->size;

    hs_buf_putc(buf, '[');
    for (uint32_t i = 0; i < shown; i++)
        hs_buf_printf(buf, i ? ", %u" : "%u", group->ranks[i]);
    if (shown < group->size)
        hs_buf_printf(buf, ", ..., %u", group->ranks[group->size - 1]);
    hs_buf_putc(buf, ']');
}

const char *hs_timeline_category(const struct hs_slice *slice)
{
    if (slice->kind == HS_SLICE_WANTED)
        return "waited-for";
    return slice->src == HS_NO_ID && slice->dst == HS_NO_ID ? "collective" : "p2p";
}

const char *hs_timeline_state(const struct hs_slice *slice)
{
    static const char *const names[] = {
        [HS_STATE_UNKNOWN] = "unknown",
        [HS_STATE_SCHEDULED] = "scheduled",
        [HS_STATE_STARTED] = "started",
        [HS_STATE_COMPLETED] = "completed",
    };

    return names[slice->op->flags & HS_OPERATION_STATE];
}

const char *hs_timeline_finished(const struct hs_slice *slice)
{
    static const char *const words[] = {
        [HS_SLICE_FINISHED] = "yes",
        [HS_SLICE_OPEN] = "no",
        [HS_SLICE_UNTIMED] = "when is not on record",
    };

    return words[slice->kind];
}

uint64_t hs_timeline_device_us(const struct hs_slice *slice)
{
    const float us = slice->op->duration_ms * 1000;

    return us > 0 && us < 1e15F ? (uint64_t)us : 0;
}

const char *hs_timeline_arrow_name(const struct hs_arrow *arrow)
{
    static const char *const names[] = {
        [HS_ARROW_PAIR] = "send to recv",
        [HS_ARROW_PAIR_ODD] = "recv before send",
        [HS_ARROW_WAIT] = "waits for",
    };

    return names[arrow->kind];
}
