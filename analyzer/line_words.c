/* line_words.c - lines as evidence: which call they name, what of their text is shown. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/limits.h"
#include "schema/text_blocks.h"

/* c10d's spelling, whatever the line's is. */
struct hs_str hs_line_op_name(const struct hs_judged *j, uint32_t op, struct hs_arena *arena)
{
    const struct hs_operation_kind *kind;

    if (op == HS_NO_ID)
        return (struct hs_str){ .p = NULL };
    kind = hs_operation_kind_of(hs_job_string(j->job, op));
    return kind->op ? hs_str_of(kind->op) : hs_safe(j->job, op, arena);
}

struct hs_str hs_line_call_text(const struct hs_judged *j, const struct hs_line_wait *w,
                                struct hs_arena *arena)
{
    struct hs_buf buf;
    struct hs_str text;
    uint32_t group;

    if (!w || (w->op == HS_NO_ID && w->seq == HS_NO_POSITION))
        return hs_str_of("");
    hs_buf_init(&buf);
    if (w->op != HS_NO_ID)
        hs_buf_put(&buf, hs_line_op_name(j, w->op, arena));
    if (w->seq != HS_NO_POSITION)
        hs_buf_printf(&buf, w->op != HS_NO_ID ? " #%llu" : "#%llu", (unsigned long long)w->seq);
    group = w->group_desc != HS_NO_ID ? w->group_desc : w->group;
    if (group != HS_NO_ID) {
        hs_buf_put(&buf, w->group_desc != HS_NO_ID ? HS_STR(" of ") : HS_STR(" of group "));
        hs_buf_put(&buf, hs_safe(j->job, group, arena));
    }
    if (w->numel_in != HS_NO_POSITION)
        hs_buf_printf(&buf, " (NumelIn=%llu)", (unsigned long long)w->numel_in);
    text = buf.failed ? (struct hs_str){ .p = NULL } : hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return text;
}

/*
 * Words that tell what a line is about. Launchers, progress bars and frames of loggers stand before
 * them, often more than a screen is wide.
 */
static size_t mark_of(struct hs_str text)
{
    static const char *const words[] = {
        "Watchdog caught",
        "Received a dump signal",
        "Observed flight recorder",
        "NCCL WARN",
        "Error:",
        "Exception:",
        "Xid (",
        "Detected mismatch",
        "out of memory",
        "Out of memory",
        "exitcode",
        "timed out",
    };
    size_t mark = text.n;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *at = memmem(text.p, text.n, words[i], strlen(words[i]));

        if (at && (size_t)(at - text.p) < mark)
            mark = (size_t)(at - text.p);
    }
    return mark == text.n ? 0 : mark;
}

/* Not within a character. */
static size_t boundary_before(struct hs_str text, size_t at)
{
    for (int i = 0; i < 3 && at && at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80; i++)
        at--;
    return at;
}

/*
 * What is shown of a line: its beginning; if the words that tell come late, its head and those. The
 * head alone may matter: progress that a report was written behind.
 */
static bool put_excerpt(struct hs_str line, struct hs_arena *arena, struct hs_evidence *e)
{
    enum { HEAD = 48 };
    size_t mark = mark_of(line);
    size_t head = mark > HS_EXCERPT_BYTES / 2 ? boundary_before(line, HEAD) : mark;
    struct hs_buf buf;

    hs_buf_init(&buf);
    hs_buf_put_safe(&buf, (struct hs_str){ .p = line.p, .n = head }, SIZE_MAX);
    if (head < mark)
        hs_buf_put(&buf, HS_STR(" … "));
    e->mark = buf.n;
    hs_buf_put_safe(&buf, (struct hs_str){ .p = line.p + mark, .n = line.n - mark },
                    HS_EXCERPT_BYTES - head);
    if (!buf.failed)
        e->excerpt = hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return e->excerpt.p != NULL;
}

/* A setting or version is known by its row, and its line was not kept. */
static struct hs_str fact_at(const struct hs_judged *j, const struct hs_place *place,
                             struct hs_arena *arena)
{
    const struct hs_job *job = j->job;

    for (uint32_t i = 0; i < job->fact_count; i++) {
        const struct hs_fact *f = &job->facts[i];

        if (f->source == place->source && f->line == place->line)
            return hs_arena_printf(arena, "%.*s = %.*s", HS_STR_ARG(hs_safe(job, f->name, arena)),
                                   HS_STR_ARG(hs_safe(job, f->value, arena)));
    }
    return (struct hs_str){ .p = NULL };
}

/* Of a call that a line tells of the record is kept: "broadcast #5 [53] Long". */
static struct hs_str call_at(const struct hs_judged *j, const struct hs_place *place,
                             struct hs_arena *arena)
{
    const struct hs_job *job = j->job;

    for (uint32_t d = 0; d < job->dump_count; d++) {
        const struct hs_dump *dump = &job->dumps[d];

        for (uint32_t i = 0; dump->speaker != HS_NO_ID && dump->source == place->source &&
                             i < dump->operation_count;
             i++) {
            const struct hs_operation *row = &dump->operations[i];
            const struct hs_signature *sig = &job->signatures[row->signature];

            if (row->record == place->line)
                return hs_arena_printf(arena, "%.*s #%u %.*s %.*s",
                                       HS_STR_ARG(hs_safe(job, sig->bare, arena)), row->seq,
                                       HS_STR_ARG(hs_safe(job, sig->shapes_in, arena)),
                                       HS_STR_ARG(hs_safe(job, sig->dtypes_in, arena)));
        }
    }
    return (struct hs_str){ .p = NULL };
}

struct hs_evidence hs_line_evidence(const struct hs_judged *j, const struct hs_place *place,
                                    struct hs_arena *arena)
{
    struct hs_evidence e = { .source = hs_safe(j->job, j->job->sources[place->source].name, arena),
                             .line = place->line,
                             .record = HS_UNKNOWN,
                             .offset_bytes = HS_UNKNOWN,
                             .rank = place->rank };
    struct hs_text_reader lines;
    struct hs_text_line kept;

    hs_text_reader_init(&lines, j->job);
    if (hs_text_find(&lines, place->source, place->line, &kept)) {
        if (!put_excerpt(kept.text, arena, &e))
            e.source.p = NULL;
    } else {
        e.excerpt = fact_at(j, place, arena);
        if (!e.excerpt.p)
            e.excerpt = call_at(j, place, arena);
    }
    hs_text_reader_release(&lines);
    return e;
}
