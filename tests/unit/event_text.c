#include "event_text.h"

#include "parsers/pattern.h"

#include <inttypes.h>
#include <stdlib.h>

bool event_text_read(const struct hs_parser *parser, const struct hs_families *families,
                     const char *name, struct hs_str bytes, size_t chunk, struct hs_job *out)
{
    struct hs_parse px = { .job = out, .families = families, .matching = hs_matching_new() };
    void *self;
    bool ok = true;

    hs_job_init(out);
    px.source = hs_job_add_source(out, hs_str_of(name));
    px.name = hs_job_string(out, out->sources[px.source].name);
    self = px.matching ? parser->stream->begin(&px) : NULL;
    for (size_t at = 0; self && ok && at < bytes.n; at += chunk) {
        size_t n = bytes.n - at < chunk ? bytes.n - at : chunk;

        ok = parser->stream->feed(self, (struct hs_str){ .p = bytes.p + at, .n = n });
    }
    ok = self && parser->stream->end(self) && ok;
    hs_matching_free(px.matching);
    return ok;
}

static void show_speaker(const struct hs_job *job, const struct hs_speaker *s, struct hs_buf *out)
{
    if (s->rank != HS_NO_ID)
        hs_buf_printf(out, " [rank %u]", s->rank);
    else if (s->pid != HS_NO_ID)
        hs_buf_printf(out, " [pid %u]", s->pid);
    else if (s->role != HS_NO_ID)
        hs_buf_printf(out, " [%.*s]", HS_STR_ARG(hs_job_string(job, s->role)));
}

static void show_stack(const struct hs_job *job, uint32_t stack, struct hs_buf *out)
{
    uint32_t count;
    const uint32_t *frames = hs_job_stack(job, stack, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_frame *frame = hs_job_frame(job, frames[i]);

        hs_buf_printf(out, " %s %.*s %.*s", i ? "<" : "|",
                      HS_STR_ARG(hs_job_string(job, frame->function)),
                      HS_STR_ARG(hs_job_string(job, frame->file)));
        if (frame->line)
            hs_buf_printf(out, ":%u", frame->line);
    }
}

static void show_event(const struct hs_job *job, const struct hs_event *event, struct hs_buf *out)
{
    uint32_t count;
    const uint32_t *args = hs_job_args(job, event->args, &count);

    hs_buf_printf(out, "%" PRIu64, event->line);
    if (event->count > 1)
        hs_buf_printf(out, " x%u", event->count);
    hs_buf_printf(out, " %.*s", HS_STR_ARG(hs_job_string(job, event->family)));
    show_speaker(job, &job->speakers[event->speaker], out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        hs_buf_printf(out, " %.*s=%.*s", HS_STR_ARG(hs_job_string(job, args[i])),
                      HS_STR_ARG(hs_job_string(job, args[i + 1])));
    show_stack(job, event->stack, out);
    hs_buf_putc(out, '\n');
}

static bool is_of_group(const struct hs_families *families, struct hs_str family, const char *group)
{
    for (uint32_t i = 0; i < families->count; i++) {
        if (hs_str_eq(families->rows[i].name, family))
            return hs_str_is(families->rows[i].group, group);
    }
    return false;
}

struct place {
    uint64_t line;
    uint32_t event;
};

static int by_line(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

void event_text_show(const struct hs_job *job, const struct hs_families *families,
                     const char *group, struct hs_buf *out)
{
    struct place *places = calloc(job->event_count + 1u, sizeof(*places));

    if (!places)
        abort();
    for (uint32_t i = 0; i < job->event_count; i++)
        places[i] = (struct place){ .line = job->events[i].line, .event = i };
    qsort(places, job->event_count, sizeof(*places), by_line);
    for (uint32_t i = 0; i < job->event_count; i++) {
        const struct hs_event *event = &job->events[places[i].event];

        if (!group || is_of_group(families, hs_job_string(job, event->family), group))
            show_event(job, event, out);
    }
    free(places);
}
