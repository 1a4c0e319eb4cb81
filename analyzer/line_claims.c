#include "analyzer/line_claims.h"

#include "base/ranks.h"

#include <stdlib.h>

struct hs_claim *hs_add_line_claim(const struct hs_line_reading *r, const char *code,
                                   struct hs_line_claim **line)
{
    struct hs_claims *out = r->out;

    *line = HS_NEW(r->arena, struct hs_line_claim, 1);
    if (!*line || !HS_GROW(out->rows, out->cap, out->count + 1u))
        return NULL;
    out->rows[out->count] =
        (struct hs_claim){ .code = code, .role = "missing", .node = HS_NO_ID, .line = *line };
    return &out->rows[out->count++];
}

static int by_rank(const void *a, const void *b)
{
    const struct hs_named *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

bool hs_name(const struct hs_line_reading *r, struct hs_line_claim *line,
             const struct hs_named *named, uint32_t count)
{
    struct hs_named *to = HS_NEW(r->arena, struct hs_named, count);
    uint32_t n = 0;

    if (!to)
        return false;
    if (count)
        memcpy(to, named, count * sizeof(*to));
    if (count)
        qsort(to, count, sizeof(*to), by_rank);
    for (uint32_t i = 0; i < count; i++) {
        bool same_rank = n && to[i].rank == to[n - 1].rank && to[i].rank != HS_NO_ID;

        if (same_rank && to[n - 1].host == HS_NO_ID)
            to[n - 1].host = to[i].host;
        if (n == 0 || (!same_rank && by_rank(&to[n - 1], &to[i]) != 0))
            to[n++] = to[i];
    }
    line->named = to;
    line->named_count = n;
    return true;
}

bool hs_name_ranks(const struct hs_line_reading *r, struct hs_line_claim *line,
                   const uint32_t *ranks, uint32_t count, const char *role)
{
    struct hs_named *named = HS_NEW(r->arena, struct hs_named, count);

    for (uint32_t i = 0; named && i < count; i++)
        named[i] =
            (struct hs_named){ .rank = ranks[i], .host = hs_line_host(r, ranks[i]), .role = role };
    return named && hs_name(r, line, named, count);
}

uint32_t hs_line_host(const struct hs_line_reading *r, uint32_t rank)
{
    uint32_t process =
        rank == HS_NO_ID ? HS_NO_ID : hs_identity_rank(r->identity, r->attempt, rank);

    return process == HS_NO_ID ? HS_NO_ID : r->identity->processes[process].host;
}

bool hs_cite(const struct hs_line_reading *r, struct hs_line_claim *line, const uint32_t *events,
             uint32_t count, bool first)
{
    uint32_t all = line->event_count, *to = HS_NEW(r->arena, uint32_t, (size_t)count + all);

    if (!to)
        return false;
    if (count)
        memcpy(to + (first ? 0 : all), events, count * sizeof(*to));
    if (all)
        memcpy(to + (first ? count : 0), line->events, all * sizeof(*to));
    line->events = to;
    line->event_count = count + all;
    return true;
}
