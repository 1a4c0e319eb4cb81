/* report_contexts.c - the log around the lines that the verdict cites, and what was odd about the
 * input. */
#include "analyzer/report_internal.h"

#include "analyzer/words.h"
#include "base/limits.h"
#include "schema/text_blocks.h"

enum { CONTEXTS = 64, AROUND = 4, LINE_BYTES = 2000, DIAGNOSTICS = 1000 };

static struct hs_str safe_line(struct hs_str text, struct hs_arena *arena)
{
    struct hs_buf buf;
    struct hs_str line;

    hs_buf_init(&buf);
    hs_buf_put_safe(&buf, text, LINE_BYTES);
    line = hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return line;
}

/* Lines from `first` on that were kept; equal ones in a row are one. */
static bool put_lines(struct hs_reporting *r, uint32_t source, uint64_t line,
                      struct hs_report_context *c)
{
    uint64_t first = line > AROUND ? line - AROUND : 1;
    struct hs_text_reader lines;
    bool ok = true;

    c->lines = HS_NEW(&r->out->arena, struct hs_report_line, 2 * AROUND + 1);
    if (!c->lines)
        return false;
    hs_text_reader_init(&lines, r->j->job);
    for (uint64_t n = first; ok && n <= line + AROUND; n++) {
        struct hs_text_line found;
        struct hs_report_line *to = &c->lines[c->line_count];

        if (!hs_text_find(&lines, source, n, &found))
            continue;
        *to = (struct hs_report_line){ .first = found.first_line,
                                       .last = found.last_line,
                                       .count = found.count,
                                       .text = safe_line(found.text, &r->out->arena) };
        if (found.first_line <= line && line <= found.last_line)
            c->at = c->line_count;
        ok = to->text.p != NULL;
        c->line_count++;
        n = found.last_line > n ? found.last_line : n;
    }
    hs_text_reader_release(&lines);
    return ok;
}

static bool put_contexts(struct hs_reporting *r, const struct hs_intern *paths)
{
    struct hs_report *out = r->out;

    out->contexts = HS_NEW(&out->arena, struct hs_report_context, CONTEXTS);
    for (uint32_t f = 0; out->contexts && f < r->v->finding_count; f++) {
        for (uint32_t e = 0; e < r->v->findings[f].evidence_count; e++) {
            const struct hs_evidence *cited = &r->v->findings[f].evidence[e];
            struct hs_report_context *c = &out->contexts[out->context_count];
            uint32_t source = hs_intern_find(paths, cited->source);

            if (cited->line == HS_UNKNOWN || source == HS_NO_ID || out->context_count == CONTEXTS)
                continue;
            *c = (struct hs_report_context){ .finding = f, .evidence = e, .at = HS_NO_ID };
            if (!put_lines(r, source, cited->line, c))
                return false;
            out->context_count += c->line_count > 0;
        }
    }
    return out->contexts != NULL;
}

static bool put_diagnostics(struct hs_reporting *r)
{
    const struct hs_job *job = r->j->job;
    struct hs_report *out = r->out;
    uint32_t count = job->diagnostic_count < DIAGNOSTICS ? job->diagnostic_count : DIAGNOSTICS;

    out->diagnostics = HS_NEW(&out->arena, struct hs_report_diagnostic, count);
    for (uint32_t i = 0; out->diagnostics && i < count; i++) {
        const struct hs_diagnostic *d = &job->diagnostics[i];

        out->diagnostics[out->diagnostic_count++] =
            (struct hs_report_diagnostic){ .code = d->code,
                                           .source = d->source,
                                           .record = d->record,
                                           .offset_bytes = d->offset_bytes,
                                           .excerpt = hs_safe(job, d->excerpt, &out->arena) };
    }
    out->diagnostics_left = job->diagnostic_count - count;
    return out->diagnostics != NULL;
}

bool hs_report_contexts(struct hs_reporting *r)
{
    struct hs_intern paths;
    bool ok = true;

    hs_intern_init(&paths);
    for (uint32_t i = 0; ok && i < r->v->source_count; i++)
        ok = hs_intern_put(&paths, r->v->sources[i].path) != HS_NO_ID;
    ok = ok && paths.count == r->v->source_count ? put_contexts(r, &paths) : ok;
    hs_intern_release(&paths);
    return ok && put_diagnostics(r);
}
