/*
 * timeline_perfetto.c - a stream of TracePackets, as Perfetto's own recorders write it.
 *
 * A call that is not finished begins and does not end. Texts that repeat are interned: names of
 * arguments by their place in a table, texts of a group by its number. Lanes are tracks.
 */
#include "analyzer/render/proto.h"
#include "analyzer/render/timeline.h"

/* Numbers of fields, from protos/perfetto/trace. */
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,

    CLOCKS_CLOCK = 1,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,

    INTERNED_CATEGORIES = 1,
    INTERNED_ARGUMENTS = 3,
    INTERNED_TEXTS = 29,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2,

    TRACK_ID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_MERGE = 15,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,

    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    ARGUMENT_NAME = 1,
    ARGUMENT_NUMBER = 3,
    ARGUMENT_TEXT = 6,
    ARGUMENT_INTERNED = 17,
    LEGACY_PHASE = 2,
    LEGACY_ID = 6,
    LEGACY_ENCLOSING = 12,
};

enum { CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };
enum { MERGE_NONE = 2 }; /* else arrows do not find the slices of a lane */
enum { SEQUENCE = 1 };

#define PROCESS_TRACKS (UINT64_C(1) << 48) /* processes by rank from here on; below, lanes */
#define VERDICT_TRACK (UINT64_C(1) << 62)

static const char *const categories[] = { "collective", "p2p", "waited-for", "arrow", "hangscope" };

enum argument {
    NAME,
    IN,
    OUT,
    DTYPE,
    SIZE,
    GROUP,
    DESC,
    RANKS,
    SEQ,
    SRC,
    DST,
    RECORD,
    STATE,
    FINISHED,
    DEVICE_US,
    STACK,
    ARGUMENTS
};

static const char *const arguments[ARGUMENTS] = {
    [NAME] = "Collective name",
    [IN] = "In msg nelems",
    [OUT] = "Out msg nelems",
    [DTYPE] = "dtype",
    [SIZE] = "Group size",
    [GROUP] = "Process Group Name",
    [DESC] = "Process Group Description",
    [RANKS] = "Process Group Ranks",
    [SEQ] = "Seq",
    [SRC] = "Src Rank",
    [DST] = "Dst Rank",
    [RECORD] = "Record",
    [STATE] = "State",
    [FINISHED] = "Finished",
    [DEVICE_US] = "Device us",
    [STACK] = "Stack",
};

/* ---- messages in messages ---- */

/* A packet with one message in it, written to `message`, which is empty afterwards. */
static void put_packet(struct hs_timeline_file *f, int64_t ns, uint32_t field, uint32_t flags,
                       struct hs_buf *message)
{
    struct hs_buf *p = &f->packet;

    if (ns)
        hs_proto_number(p, PACKET_TIME, (uint64_t)ns);
    hs_proto_number(p, PACKET_SEQUENCE, SEQUENCE);
    if (flags)
        hs_proto_number(p, PACKET_FLAGS, flags);
    hs_proto_bytes(p, field, hs_buf_str(message));
    hs_proto_bytes(&f->buf, TRACE_PACKET, hs_buf_str(p));
    f->buf.failed |= p->failed || message->failed;
    p->n = 0;
    message->n = 0;
}

static void put_number(struct hs_buf *event, enum argument name, uint64_t value)
{
    hs_proto_numbers(event, EVENT_ARGUMENT, ARGUMENT_NAME, (uint64_t)name + 1, ARGUMENT_NUMBER,
                     value);
}

static void put_interned(struct hs_buf *event, enum argument name, uint64_t text)
{
    hs_proto_numbers(event, EVENT_ARGUMENT, ARGUMENT_NAME, (uint64_t)name + 1, ARGUMENT_INTERNED,
                     text);
}

static void put_text(struct hs_buf *event, enum argument name, struct hs_str text)
{
    hs_proto_entry(event, EVENT_ARGUMENT, ARGUMENT_NAME, (uint64_t)name + 1, ARGUMENT_TEXT, text);
}

static uint64_t category_id(const char *name)
{
    uint64_t i = 0;

    while (strcmp(categories[i], name) != 0)
        i++;
    return i + 1;
}

/* ---- the head ---- */

/* Times are those of the job: Perfetto's clock since boot is declared to be the time of day. */
static void put_clocks(struct hs_timeline_file *f)
{
    uint64_t ns = (uint64_t)f->timeline->from_ns;

    hs_proto_numbers(&f->event, CLOCKS_CLOCK, CLOCK_ID, CLOCK_BOOTTIME, CLOCK_TIME, ns);
    hs_proto_numbers(&f->event, CLOCKS_CLOCK, CLOCK_ID, CLOCK_REALTIME, CLOCK_TIME, ns);
    put_packet(f, f->timeline->from_ns, PACKET_CLOCKS, 0, &f->event);
}

static void put_dictionary(struct hs_timeline_file *f)
{
    for (uint64_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
        hs_proto_entry(&f->event, INTERNED_CATEGORIES, INTERNED_ID, i + 1, INTERNED_TEXT,
                       hs_str_of(categories[i]));
    for (uint64_t i = 0; i < ARGUMENTS; i++)
        hs_proto_entry(&f->event, INTERNED_ARGUMENTS, INTERNED_ID, i + 1, INTERNED_TEXT,
                       hs_str_of(arguments[i]));
    put_packet(f, f->timeline->from_ns, PACKET_INTERNED, STATE_CLEARED, &f->event);
}

/* Since when somebody waits, on a track of its own. */
static void put_verdict(struct hs_timeline_file *f)
{
    if (!f->timeline->waiting_ns)
        return;
    hs_proto_number(&f->event, TRACK_ID, VERDICT_TRACK);
    hs_proto_bytes(&f->event, TRACK_NAME, HS_STR("verdict"));
    put_packet(f, 0, PACKET_TRACK, 0, &f->event);
    hs_proto_number(&f->event, EVENT_CATEGORY, category_id("hangscope"));
    hs_proto_number(&f->event, EVENT_TYPE, INSTANT);
    hs_proto_number(&f->event, EVENT_TRACK, VERDICT_TRACK);
    hs_proto_bytes(&f->event, EVENT_NAME, f->timeline->summary);
    put_packet(f, f->timeline->waiting_ns, PACKET_EVENT, STATE_NEEDED, &f->event);
}

static void perfetto_begin(struct hs_timeline_file *f)
{
    put_clocks(f);
    put_dictionary(f);
    put_verdict(f);
}

static void perfetto_end(struct hs_timeline_file *f)
{
    (void)f;
}

/* ---- ranks ---- */

static void put_lane(struct hs_timeline_file *f, const struct hs_timeline_rank *rank, uint32_t t,
                     uint32_t lane)
{
    f->part.n = 0;
    hs_timeline_put_lane(&f->part, f->timeline, &rank->tracks[t], lane);
    hs_proto_number(&f->event, TRACK_ID, (uint64_t)f->first_lane[t] + lane);
    hs_proto_bytes(&f->event, TRACK_NAME, hs_buf_str(&f->part));
    hs_proto_number(&f->event, TRACK_PARENT, PROCESS_TRACKS + rank->rank);
    hs_proto_number(&f->event, TRACK_MERGE, MERGE_NONE);
    put_packet(f, 0, PACKET_TRACK, 0, &f->event);
}

static void perfetto_rank(struct hs_timeline_file *f, const struct hs_timeline_rank *rank)
{
    struct hs_buf process;

    hs_buf_init(&process);
    hs_proto_number(&process, PROCESS_PID, HS_TIMELINE_PIDS + (uint64_t)rank->rank);
    f->part.n = 0;
    hs_timeline_put_rank(&f->part, rank);
    hs_proto_bytes(&process, PROCESS_NAME, hs_buf_str(&f->part));
    hs_proto_number(&f->event, TRACK_ID, PROCESS_TRACKS + rank->rank);
    hs_proto_bytes(&f->event, TRACK_PROCESS, hs_buf_str(&process));
    put_packet(f, 0, PACKET_TRACK, 0, &f->event);
    f->buf.failed |= process.failed;
    hs_buf_release(&process);
    for (uint32_t t = 0; t < rank->track_count; t++) {
        for (uint32_t lane = 0; lane < rank->tracks[t].lanes; lane++)
            put_lane(f, rank, t, lane);
    }
}

/* ---- slices ---- */

static struct hs_str keep(struct hs_timeline_file *f, struct hs_buf *buf)
{
    struct hs_str text = hs_arena_copy(&f->arena, hs_buf_str(buf));

    f->buf.failed |= buf->failed || !text.p;
    hs_buf_release(buf);
    return text;
}

/* The arguments that all calls of a signature have, as fields of an event. */
static struct hs_str signature_fields(struct hs_timeline_file *f, uint32_t id)
{
    const struct hs_job *job = f->timeline->job;
    const struct hs_signature *sig = &job->signatures[id];
    struct hs_buf buf;

    if (f->signatures[id].p)
        return f->signatures[id];
    hs_buf_init(&buf);
    f->part.n = 0;
    hs_timeline_put_op(&f->part, job, sig);
    put_text(&buf, NAME, hs_buf_str(&f->part));
    put_number(&buf, IN, sig->numel_in);
    put_number(&buf, OUT, sig->numel_out);
    f->part.n = 0;
    hs_timeline_put_dtype(&f->part, job, sig);
    put_text(&buf, DTYPE, hs_buf_str(&f->part));
    f->signatures[id] = keep(f, &buf);
    return f->signatures[id];
}

/* The same of a group, whose texts are interned first. */
static struct hs_str group_fields(struct hs_timeline_file *f, uint32_t id)
{
    const struct hs_timeline_group *group = &f->timeline->groups[id];
    struct {
        enum argument name;
        struct hs_str text;
    } texts[3] = { { GROUP, group->name }, { DESC, group->desc }, { RANKS, HS_STR("") } };
    struct hs_buf buf, interned;

    if (f->groups[id].p)
        return f->groups[id];
    hs_buf_init(&buf);
    hs_buf_init(&interned);
    f->part.n = 0;
    hs_timeline_put_members(&f->part, group);
    texts[2].text = hs_buf_str(&f->part);
    put_number(&buf, SIZE, group->size);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t number = (uint64_t)id * 3 + i + 1;

        if (!texts[i].text.p)
            continue;
        hs_proto_entry(&interned, INTERNED_TEXTS, INTERNED_ID, number, INTERNED_TEXT,
                       texts[i].text);
        put_interned(&buf, texts[i].name, number);
    }
    put_packet(f, f->timeline->from_ns, PACKET_INTERNED, STATE_NEEDED, &interned);
    hs_buf_release(&interned);
    f->groups[id] = keep(f, &buf);
    return f->groups[id];
}

static void put_arguments(struct hs_timeline_file *f, const struct hs_slice *s)
{
    struct hs_buf *event = &f->event;

    put_number(event, SEQ, s->number);
    if (s->src != HS_NO_ID)
        put_number(event, SRC, s->src);
    if (s->dst != HS_NO_ID)
        put_number(event, DST, s->dst);
    if (s->kind != HS_SLICE_WANTED) {
        put_number(event, RECORD, s->op->record);
        put_text(event, STATE, hs_str_of(hs_timeline_state(s)));
        put_text(event, FINISHED, hs_str_of(hs_timeline_finished(s)));
    }
    if (s->op->duration_ms > 0)
        put_number(event, DEVICE_US, hs_timeline_device_us(s));
    if (s->stack.p)
        put_text(event, STACK, s->stack);
}

/* Arrows are as Chrome has them, so that one may begin and end anywhere in a slice. */
static void put_arrow(struct hs_timeline_file *f, uint32_t lane, const struct hs_arrow *arrow)
{
    struct hs_buf legacy;

    hs_buf_init(&legacy);
    hs_proto_number(&legacy, LEGACY_PHASE, arrow->tail ? 's' : 'f');
    hs_proto_number(&legacy, LEGACY_ID, arrow->id);
    if (!arrow->tail)
        hs_proto_number(&legacy, LEGACY_ENCLOSING, 1);
    hs_proto_number(&f->event, EVENT_CATEGORY, category_id("arrow"));
    hs_proto_bytes(&f->event, EVENT_LEGACY, hs_buf_str(&legacy));
    hs_proto_number(&f->event, EVENT_TRACK, lane);
    hs_proto_bytes(&f->event, EVENT_NAME, hs_str_of(hs_timeline_arrow_name(arrow)));
    put_packet(f, arrow->at_ns, PACKET_EVENT, STATE_NEEDED, &f->event);
    f->buf.failed |= legacy.failed;
    hs_buf_release(&legacy);
}

static void perfetto_slice(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                           const struct hs_slice *s)
{
    uint32_t lane = f->first_lane[s->track] + s->lane;
    struct hs_str signature = signature_fields(f, s->op->signature);
    struct hs_str group = group_fields(f, rank->tracks[s->track].group);

    hs_proto_number(&f->event, EVENT_CATEGORY, category_id(hs_timeline_category(s)));
    hs_buf_put(&f->event, signature);
    hs_buf_put(&f->event, group);
    put_arguments(f, s);
    hs_proto_number(&f->event, EVENT_TYPE, SLICE_BEGIN);
    hs_proto_number(&f->event, EVENT_TRACK, lane);
    f->part.n = 0;
    hs_timeline_put_name(&f->part, f->timeline, s);
    hs_proto_bytes(&f->event, EVENT_NAME, hs_buf_str(&f->part));
    put_packet(f, s->start_ns, PACKET_EVENT, STATE_NEEDED, &f->event);
    for (uint32_t i = 0; i < s->arrow_count; i++)
        put_arrow(f, lane, &rank->arrows[s->first_arrow + i]);
    if (s->kind == HS_SLICE_OPEN || s->kind == HS_SLICE_WANTED)
        return;
    hs_proto_number(&f->event, EVENT_TYPE, SLICE_END);
    hs_proto_number(&f->event, EVENT_TRACK, lane);
    put_packet(f, s->end_ns, PACKET_EVENT, STATE_NEEDED, &f->event);
}

const struct hs_timeline_format hs_timeline_perfetto = { .name = "perfetto",
                                                         .binary = true,
                                                         .begin = perfetto_begin,
                                                         .rank = perfetto_rank,
                                                         .slice = perfetto_slice,
                                                         .end = perfetto_end };
