/* formats.c - why a file was taken for what it is. */
#include "analyzer/commands/command.h"
#include "analyzer/render/render.h"
#include "schema/census.h"

/* The formats as rows that a renderer can print. */
static uint32_t list_formats(struct hs_format_row *rows, uint32_t cap)
{
    uint32_t count = 0;

    for (; hs_parsers[count] && count < cap; count++)
        rows[count] = (struct hs_format_row){ .name = hs_parsers[count]->name,
                                              .summary = hs_parsers[count]->summary };
    return count;
}

/* "1 record", "2 records" */
static void put_count(struct hs_buf *out, unsigned long long count, const char *what)
{
    hs_buf_printf(out, "%llu %s%s", count, what, count == 1 ? "" : "s");
}

static void put_known(struct hs_buf *out)
{
    for (size_t i = 0; hs_parsers[i]; i++)
        hs_buf_printf(out, "%-24s %s\n", hs_parsers[i]->name, hs_parsers[i]->summary);
}

static void put_place(struct hs_buf *out, const struct hs_diagnostic *d)
{
    if (d->offset_bytes != HS_NO_POSITION)
        hs_buf_printf(out, " byte %llu", (unsigned long long)d->offset_bytes);
    if (d->record != HS_NO_POSITION)
        hs_buf_printf(out, " record %llu", (unsigned long long)d->record);
}

/* What lines of a text were recognised, the commonest first. */
static void put_lines(struct hs_buf *out, const struct hs_job *job, uint32_t source)
{
    struct hs_census census;
    struct hs_arena arena;

    hs_arena_init(&arena);
    if (hs_census_take(job, source, &arena, &census) && census.speakers) {
        const struct {
            uint32_t count;
            const char *what;
        } counts[] = { { census.speakers, "speaker" },
                       { census.communicators, "communicator" },
                       { census.links, "link" },
                       { census.facts, "fact" },
                       { census.calls, "call" } };

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            hs_buf_put(out, i ? HS_STR(", ") : HS_STR("  "));
            put_count(out, counts[i].count, counts[i].what);
        }
        hs_buf_putc(out, '\n');
        for (uint32_t i = 0; i < census.count; i++)
            hs_buf_printf(out, "  %6u  %.*s, first on line %llu\n", census.rows[i].lines,
                          HS_STR_ARG(hs_job_string(job, census.rows[i].family)),
                          (unsigned long long)census.rows[i].first_line);
    }
    hs_arena_release(&arena);
}

static void put_source(struct hs_buf *out, const struct hs_job *job, uint32_t source)
{
    const struct hs_source_row *row = &job->sources[source];
    uint32_t bids;
    const uint32_t *bits = hs_job_list(job, row->bids, &bids);

    hs_buf_put_safe(out, hs_job_string(job, row->name), 4096);
    hs_buf_printf(out, "\n  %s, ", row->format ? row->format : "not read");
    put_count(out, row->records, "record");
    hs_buf_put(out, HS_STR(", "));
    put_count(out, row->diagnostics, "diagnostic");
    hs_buf_put(out, HS_STR(", "));
    put_count(out, row->size_bytes, "byte");
    hs_buf_putc(out, '\n');
    for (uint32_t i = 0; i < bids; i++)
        hs_buf_printf(out, "  bid %5u bits  %s\n", bits[i], hs_parsers[i]->name);
    if (row->format && !bids)
        hs_buf_put(out, HS_STR("  no bids: --input-format decided\n"));
    put_lines(out, job, source);
    for (uint32_t i = 0; row->diagnostics && i < job->diagnostic_count; i++) {
        const struct hs_diagnostic *d = &job->diagnostics[i];

        if (d->source != source)
            continue;
        hs_buf_printf(out, "  %s", d->code);
        put_place(out, d);
        hs_buf_printf(out, "  %.*s\n", HS_STR_ARG(hs_job_string(job, d->excerpt)));
    }
}

static enum hs_status read_files(const struct hs_options *o, struct hs_job *job, struct hs_err *err)
{
    struct hs_read_options read = { .parser = o->parser, .workers = o->workers };
    struct hs_inputs inputs = { .count = 0 };
    enum hs_status status = hs_inputs_find(o->paths, o->path_count, &inputs, err);

    if (status == HS_OK)
        status = hs_read_inputs(&inputs, &read, job, err);
    hs_inputs_release(&inputs);
    return status;
}

int hs_run_formats(const struct hs_options *o)
{
    enum { FORMATS_MAX = 64 };
    struct hs_format_row rows[FORMATS_MAX];
    struct hs_err err = { .n = 0 };
    enum hs_status status = HS_OK;
    struct hs_job job;
    struct hs_buf out;

    hs_buf_init(&out);
    hs_job_init(&job);
    if (o->path_count)
        status = read_files(o, &job, &err);
    if (status == HS_OK && o->json)
        hs_render_formats_json(rows, list_formats(rows, FORMATS_MAX), o->path_count ? &job : NULL,
                               &out);
    else if (status == HS_OK && o->path_count == 0)
        put_known(&out);
    for (uint32_t i = 0; status == HS_OK && !o->json && i < job.source_count; i++)
        put_source(&out, &job, i);
    if (status == HS_OK)
        status = out.failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(&out), &err);
    hs_job_release(&job);
    hs_buf_release(&out);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
