/*
 * timeline_chrome.c - the JSON that chrome://tracing, Perfetto and torch.profiler's tools read.
 *
 * Times are microseconds since "baseTimeNanoseconds", as Kineto has them: a double holds them to
 * the nanosecond. Lanes are threads.
 */
#include "analyzer/render/timeline.h"

/* Between quotes; what is not fit for JSON is escaped. */
static void put_text(struct hs_buf *buf, struct hs_str text)
{
    hs_buf_putc(buf, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\')
            hs_buf_putc(buf, '\\');
        hs_buf_putc(buf, (char)c);
    }
    hs_buf_putc(buf, '"');
}

/* `"key":"text"` after a comma; nothing if the text is unknown. Texts are fit to print. */
static void put_member(struct hs_buf *buf, const char *key, struct hs_str text)
{
    if (!text.p)
        return;
    hs_buf_printf(buf, ",\"%s\":", key);
    put_text(buf, text);
}

static void put_us(struct hs_buf *buf, const char *key, int64_t ns)
{
    hs_buf_printf(buf, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

/* ---- the head ---- */

static bool has_member(const struct hs_timeline_group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->size; i++) {
        if (group->ranks[i] == rank)
            return true;
    }
    return false;
}

static void put_group(struct hs_buf *buf, const struct hs_timeline_group *group, bool first)
{
    hs_buf_put(buf, first ? HS_STR("\n{\"pg_name\":") : HS_STR(",\n{\"pg_name\":"));
    put_text(buf, group->name.p ? group->name : group->label);
    put_member(buf, "pg_desc", group->desc);
    put_member(buf, "backend_config", group->backend);
    hs_buf_printf(buf, ",\"pg_size\":%u,\"ranks\":[", group->size);
    for (uint32_t i = 0; i < group->size; i++)
        hs_buf_printf(buf, i ? ",%u" : "%u", group->ranks[i]);
    hs_buf_put(buf, HS_STR("]}"));
}

/* What HTA goes by: which rank the file is of, which it looks for as text and wants a space before;
 * and the process groups that it is in. */
static void put_distributed(struct hs_timeline_file *f)
{
    const struct hs_timeline *t = f->timeline;
    struct hs_str backend = t->group_count ? t->groups[0].backend : HS_STR("");
    uint32_t shown = 0;

    hs_buf_put(&f->buf, HS_STR("\"distributedInfo\":{\"backend\":"));
    put_text(&f->buf, backend);
    hs_buf_printf(&f->buf, ", \"rank\": %u, \"world_size\": %llu, \"pg_config\":[", t->first_rank,
                  (unsigned long long)t->world_size);
    for (uint32_t g = 0; g < t->group_count; g++) {
        if (t->rank_count == 1 && !has_member(&t->groups[g], t->first_rank))
            continue;
        put_group(&f->buf, &t->groups[g], shown++ == 0);
    }
    hs_buf_printf(&f->buf, "],\"pg_count\":%u", shown);
    put_member(&f->buf, "nccl_version", t->library);
    hs_buf_put(&f->buf, HS_STR("},\n"));
}

static void chrome_begin(struct hs_timeline_file *f)
{
    const struct hs_timeline *t = f->timeline;

    hs_buf_put(&f->buf,
               HS_STR("{\"schemaVersion\":1,\n\"hangscope\":{\"version\":\"" HS_VERSION "\""));
    put_member(&f->buf, "verdict", hs_str_of(t->code));
    put_member(&f->buf, "summary", t->summary);
    hs_buf_put(&f->buf, HS_STR("},\n"));
    put_distributed(f);
    hs_buf_printf(&f->buf,
                  "\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":%lld,\n\"traceEvents\":[",
                  (long long)t->from_ns);
}

static void chrome_end(struct hs_timeline_file *f)
{
    hs_buf_put(&f->buf, HS_STR("\n]}\n"));
}

/* ---- ranks ---- */

/* An event up to its process and thread; `thread` 0: of none. */
static void put_event(struct hs_timeline_file *f, const char *phase,
                      const struct hs_timeline_rank *rank, uint32_t thread)
{
    hs_buf_printf(&f->buf, "%s\n{\"ph\":\"%s\",\"pid\":%u", f->begun ? "," : "", phase,
                  HS_TIMELINE_PIDS + rank->rank);
    if (thread)
        hs_buf_printf(&f->buf, ",\"tid\":%u", thread);
    f->begun = true;
}

static void put_meta(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                     uint32_t thread, const char *what, struct hs_str name, uint32_t order)
{
    put_event(f, "M", rank, thread);
    hs_buf_printf(&f->buf, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    put_text(&f->buf, name);
    hs_buf_put(&f->buf, HS_STR("}}"));
    put_event(f, "M", rank, thread);
    hs_buf_printf(&f->buf, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what,
                  order);
}

static void put_lanes(struct hs_timeline_file *f, const struct hs_timeline_rank *rank, uint32_t t)
{
    for (uint32_t lane = 0; lane < rank->tracks[t].lanes; lane++) {
        f->part.n = 0;
        hs_timeline_put_lane(&f->part, f->timeline, &rank->tracks[t], lane);
        put_meta(f, rank, f->first_lane[t] + lane, "thread", hs_buf_str(&f->part),
                 f->first_lane[t] + lane);
    }
}

/* Since when somebody waits, across the whole timeline. */
static void put_verdict(struct hs_timeline_file *f, const struct hs_timeline_rank *rank)
{
    const struct hs_timeline *t = f->timeline;

    if (!t->waiting_ns || rank->track_count == 0)
        return;
    put_event(f, "i", rank, f->first_lane[0]);
    hs_buf_put(&f->buf, HS_STR(",\"s\":\"g\",\"cat\":\"hangscope\""));
    put_member(&f->buf, "name", t->summary);
    put_us(&f->buf, "ts", t->waiting_ns - t->from_ns);
    hs_buf_putc(&f->buf, '}');
}

static void chrome_rank(struct hs_timeline_file *f, const struct hs_timeline_rank *rank)
{
    f->part.n = 0;
    hs_timeline_put_rank(&f->part, rank);
    put_meta(f, rank, 0, "process", hs_buf_str(&f->part), rank->rank);
    for (uint32_t t = 0; t < rank->track_count; t++)
        put_lanes(f, rank, t);
    if (rank->rank == f->timeline->first_rank)
        put_verdict(f, rank);
}

/* ---- slices ---- */

/* What all calls of a signature carry, and all of a group: written once, then copied. */
static struct hs_str signature_text(struct hs_timeline_file *f, uint32_t id)
{
    const struct hs_job *job = f->timeline->job;
    const struct hs_signature *sig = &job->signatures[id];
    struct hs_str *text = &f->signatures[id];
    struct hs_buf buf, word;

    if (text->p)
        return *text;
    hs_buf_init(&buf);
    hs_buf_init(&word);
    hs_timeline_put_op(&word, job, sig);
    hs_buf_put(&buf, HS_STR("\"Collective name\":"));
    put_text(&buf, hs_buf_str(&word));
    hs_buf_printf(&buf, ",\"In msg nelems\":%llu,\"Out msg nelems\":%llu",
                  (unsigned long long)sig->numel_in, (unsigned long long)sig->numel_out);
    word.n = 0;
    hs_timeline_put_dtype(&word, job, sig);
    put_member(&buf, "dtype", hs_buf_str(&word));
    *text = hs_arena_copy(&f->arena, hs_buf_str(&buf));
    f->buf.failed |= buf.failed || word.failed || !text->p;
    hs_buf_release(&buf);
    hs_buf_release(&word);
    return *text;
}

static struct hs_str group_text(struct hs_timeline_file *f, uint32_t id)
{
    const struct hs_timeline_group *group = &f->timeline->groups[id];
    struct hs_str *text = &f->groups[id];
    struct hs_buf buf;

    if (text->p)
        return *text;
    hs_buf_init(&buf);
    hs_buf_printf(&buf, ",\"Group size\":%u", group->size);
    put_member(&buf, "Process Group Name", group->name);
    put_member(&buf, "Process Group Description", group->desc);
    hs_buf_put(&buf, HS_STR(",\"Process Group Ranks\":\""));
    hs_timeline_put_members(&buf, group);
    hs_buf_putc(&buf, '"');
    *text = hs_arena_copy(&f->arena, hs_buf_str(&buf));
    f->buf.failed |= buf.failed || !text->p;
    hs_buf_release(&buf);
    return *text;
}

static void put_arguments(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                          const struct hs_slice *s)
{
    struct hs_buf *buf = &f->buf;

    hs_buf_put(buf, HS_STR(",\"args\":{"));
    hs_buf_put(buf, signature_text(f, s->op->signature));
    hs_buf_put(buf, group_text(f, rank->tracks[s->track].group));
    hs_buf_printf(buf, ",\"Seq\":%u", s->number);
    if (s->src != HS_NO_ID)
        hs_buf_printf(buf, ",\"Src Rank\":%u", s->src);
    if (s->dst != HS_NO_ID)
        hs_buf_printf(buf, ",\"Dst Rank\":%u", s->dst);
    if (s->kind != HS_SLICE_WANTED)
        hs_buf_printf(buf, ",\"Record\":%u,\"State\":\"%s\",\"Finished\":\"%s\"", s->op->record,
                      hs_timeline_state(s), hs_timeline_finished(s));
    if (s->op->duration_ms > 0)
        hs_buf_printf(buf, ",\"Device us\":%llu", (unsigned long long)hs_timeline_device_us(s));
    put_member(buf, "Stack", s->stack);
    hs_buf_putc(buf, '}');
}

static void put_arrow(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                      uint32_t thread, const struct hs_arrow *arrow)
{
    put_event(f, arrow->tail ? "s" : "f", rank, thread);
    hs_buf_printf(&f->buf, ",\"id\":%u,\"cat\":\"arrow\",\"name\":\"%s\"", arrow->id,
                  hs_timeline_arrow_name(arrow));
    put_us(&f->buf, "ts", arrow->at_ns - f->timeline->from_ns);
    hs_buf_put(&f->buf, arrow->tail ? HS_STR("}") : HS_STR(",\"bp\":\"e\"}"));
}

static void chrome_slice(struct hs_timeline_file *f, const struct hs_timeline_rank *rank,
                         const struct hs_slice *s)
{
    uint32_t thread = f->first_lane[s->track] + s->lane;

    put_event(f, "X", rank, thread);
    f->part.n = 0;
    hs_timeline_put_name(&f->part, f->timeline, s);
    hs_buf_printf(&f->buf, ",\"cat\":\"%s\"", hs_timeline_category(s));
    put_member(&f->buf, "name", hs_buf_str(&f->part));
    put_us(&f->buf, "ts", s->start_ns - f->timeline->from_ns);
    put_us(&f->buf, "dur", s->end_ns - s->start_ns);
    put_arguments(f, rank, s);
    hs_buf_putc(&f->buf, '}');
    for (uint32_t i = 0; i < s->arrow_count; i++)
        put_arrow(f, rank, thread, &rank->arrows[s->first_arrow + i]);
}

const struct hs_timeline_format hs_timeline_chrome = { .name = "chrome",
                                                       .begin = chrome_begin,
                                                       .rank = chrome_rank,
                                                       .slice = chrome_slice,
                                                       .end = chrome_end };
