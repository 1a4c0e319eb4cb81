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

bool hs_in_own_files(const struct hs_line_reading *r, const uint32_t *events, uint32_t count)
{
    bool *taken = HS_NEW(r->arena, bool, r->job->source_count);

    for (uint32_t i = 0; taken && i < count; i++) {
        uint32_t source = r->job->events[events[i]].source;

        if (taken[source])
            return false;
        taken[source] = true;
    }
    return count > 1;
}

bool hs_all_heard(const struct hs_line_reading *r, const uint32_t *ranks, uint32_t count)
{
    bool *heard = HS_NEW(r->arena, bool, count);
    uint32_t n = 0;

    for (uint32_t i = 0; heard && i < r->identity->process_count; i++) {
        const struct hs_process *process = &r->identity->processes[i];
        const uint32_t *at = NULL;

        if (process->attempt == r->attempt && process->lines)
            at = bsearch(&process->rank, ranks, count, sizeof(*ranks), hs_compare_u32);
        if (at && !heard[at - ranks]) {
            heard[at - ranks] = true;
            n++;
        }
    }
    return n == count;
}

uint32_t hs_line_host(const struct hs_line_reading *r, uint32_t rank)
{
    uint32_t process =
        rank == HS_NO_ID ? HS_NO_ID : hs_identity_rank(r->identity, r->attempt, rank);

    return process == HS_NO_ID ? HS_NO_ID : r->identity->processes[process].host;
}

bool hs_cite_places(const struct hs_line_reading *r, struct hs_claim *claim,
                    const struct hs_place *places, uint32_t count)
{
    struct hs_place *to = HS_NEW(r->arena, struct hs_place, (size_t)count + claim->place_count);

    if (!to)
        return false;
    if (count)
        memcpy(to, places, count * sizeof(*to));
    if (claim->place_count)
        memcpy(to + count, claim->places, claim->place_count * sizeof(*to));
    claim->places = to;
    claim->place_count += count;
    return true;
}

bool hs_cite(const struct hs_line_reading *r, struct hs_claim *claim, const uint32_t *events,
             uint32_t count)
{
    struct hs_place *places = HS_NEW(r->arena, struct hs_place, count);

    for (uint32_t i = 0; places && i < count; i++) {
        const struct hs_event *e = &r->job->events[events[i]];
        uint32_t process = r->identity->process_of_event[events[i]];

        places[i] = (struct hs_place){
            .source = e->source,
            .line = e->line,
            .rank = process == HS_NO_ID ? HS_NO_ID : r->identity->processes[process].rank,
        };
    }
    return places && hs_cite_places(r, claim, places, count);
}
