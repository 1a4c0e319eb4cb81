#include "schema/census.h"

#include <stdlib.h>

static int by_family(const void *a, const void *b)
{
    const struct hs_census_row *x = a, *y = b;

    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return (x->first_line > y->first_line) - (x->first_line < y->first_line);
}

static int commonest_first(const void *a, const void *b)
{
    const struct hs_census_row *x = a, *y = b;

    if (x->lines != y->lines)
        return x->lines > y->lines ? -1 : 1;
    return (x->first_line > y->first_line) - (x->first_line < y->first_line);
}

static void count_others(const struct hs_job *job, uint32_t source, struct hs_census *out)
{
    for (uint32_t i = 0; i < job->speaker_count; i++)
        out->speakers += job->speakers[i].source == source;
    for (uint32_t i = 0; i < job->communicator_count; i++)
        out->communicators += job->communicators[i].source == source;
    for (uint32_t i = 0; i < job->link_count; i++)
        out->links += job->links[i].source == source;
    for (uint32_t i = 0; i < job->fact_count; i++)
        out->facts += job->facts[i].source == source;
    for (uint32_t i = 0; i < job->dump_count; i++) {
        if (job->dumps[i].source == source && job->dumps[i].speaker != HS_NO_ID)
            out->calls += job->dumps[i].operation_count;
    }
}

bool hs_census_take(const struct hs_job *job, uint32_t source, struct hs_arena *arena,
                    struct hs_census *out)
{
    uint32_t n = 0, kept = 0;

    *out = (struct hs_census){ .count = 0 };
    for (uint32_t i = 0; i < job->event_count; i++)
        n += job->events[i].source == source;
    out->rows = HS_NEW(arena, struct hs_census_row, n);
    if (!out->rows)
        return false;
    for (uint32_t i = 0; i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];

        if (e->source == source)
            out->rows[out->count++] = (struct hs_census_row){ e->family, e->count, e->line };
    }
    if (n)
        qsort(out->rows, n, sizeof(*out->rows), by_family);
    for (uint32_t i = 0; i < n; i++) {
        if (kept && out->rows[kept - 1].family == out->rows[i].family)
            out->rows[kept - 1].lines += out->rows[i].lines;
        else
            out->rows[kept++] = out->rows[i];
    }
    out->count = kept;
    if (kept)
        qsort(out->rows, kept, sizeof(*out->rows), commonest_first);
    count_others(job, source, out);
    return true;
}
