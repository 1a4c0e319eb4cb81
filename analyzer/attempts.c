#include "analyzer/attempts.h"

#include <stdlib.h>

/* The members of a dump's default group; HS_NO_ID when the dump does not know it. */
static uint32_t world_of(const struct hs_job *job, const struct hs_dump *dump)
{
    for (uint32_t i = 0; i < dump->member_count; i++) {
        const struct hs_member *m = &job->members[dump->first_member + i];

        if (m->ranks != HS_NO_ID && (hs_str_is(hs_job_string(job, m->desc), "default_pg") ||
                                     hs_str_is(hs_job_string(job, m->name), "0") ||
                                     hs_str_is(hs_job_string(job, m->name), "pg_id 0")))
            return m->ranks;
    }
    return HS_NO_ID;
}

static struct hs_str folder_of(const struct hs_job *job, const struct hs_dump *dump)
{
    struct hs_str name = hs_job_string(job, job->sources[dump->source].name);
    const char *slash = memrchr(name.p, '/', name.n);

    name.n = slash ? (size_t)(slash - name.p) : 0;
    return name;
}

struct candidate {
    uint32_t dump, world;
    bool superseded;
};

/* Of two dumps of one rank: whether `a` speaks for it. Times decide, then the name. */
static bool is_later(const struct hs_job *job, const struct hs_dump *a, const struct hs_dump *b)
{
    if (a->last_ns != b->last_ns)
        return a->last_ns > b->last_ns;
    return hs_str_cmp(hs_job_string(job, job->sources[a->source].name),
                      hs_job_string(job, job->sources[b->source].name)) > 0;
}

/*
 * A folder that another one replaces as a whole: a rank has a dump in both, and everything in the
 * other is later than everything in this. Its remaining dumps are left-overs.
 */
static bool drop_left_overs(const struct hs_job *job, struct candidate *c, uint32_t count,
                            const struct candidate *old, const struct candidate *new)
{
    struct hs_str from = folder_of(job, &job->dumps[old->dump]);
    struct hs_str to = folder_of(job, &job->dumps[new->dump]);
    int64_t old_last = 0, new_first = INT64_MAX;

    if (hs_str_eq(from, to))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_dump *dump = &job->dumps[c[i].dump];
        struct hs_str folder = folder_of(job, dump);

        if (c[i].world != old->world)
            continue;
        if (hs_str_eq(folder, from) && dump->last_ns > old_last)
            old_last = dump->last_ns;
        if (hs_str_eq(folder, to) && dump->last_ns && dump->last_ns < new_first)
            new_first = dump->last_ns;
    }
    if (old_last >= new_first)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (c[i].world == old->world && hs_str_eq(folder_of(job, &job->dumps[c[i].dump]), from))
            c[i].superseded = true;
    }
    return true;
}

/* The largest of the worlds that has a rank; the first when none has it. */
static uint32_t world_for(const struct hs_job *job, uint32_t rank, const uint32_t *worlds,
                          uint32_t count)
{
    uint32_t best = 0, best_size = 0;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t size;

        (void)hs_job_list(job, worlds[k], &size);
        if (size > best_size && hs_job_list_has(job, worlds[k], rank)) {
            best = k;
            best_size = size;
        }
    }
    return worlds[best];
}

/* The known worlds, by first dump; a dump that knows none goes with the only or largest one. */
static uint32_t settle_worlds(const struct hs_job *job, struct candidate *c, uint32_t count,
                              uint32_t *worlds)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool met = c[i].world == HS_NO_ID;

        for (uint32_t k = 0; k < known && !met; k++)
            met = worlds[k] == c[i].world;
        if (!met)
            worlds[known++] = c[i].world;
    }
    if (known == 0)
        worlds[known++] = HS_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        if (c[i].world == HS_NO_ID)
            c[i].world = world_for(job, job->dumps[c[i].dump].rank, worlds, known);
    }
    return known;
}

static bool fill_attempt(const struct hs_job *job, const struct candidate *c, uint32_t count,
                         uint32_t world, struct hs_arena *arena, struct hs_attempt *out)
{
    out->dumps = HS_NEW(arena, uint32_t, count);
    out->earlier_dumps = HS_NEW(arena, uint32_t, count);
    if (!out->dumps || !out->earlier_dumps)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_dump *dump = &job->dumps[c[i].dump];
        uint32_t *last = out->count ? &out->dumps[out->count - 1] : NULL;

        if (c[i].world != world || c[i].superseded)
            continue;
        if (!last || job->dumps[*last].rank != dump->rank) {
            out->dumps[out->count] = c[i].dump;
            out->earlier_dumps[out->count++] = HS_NO_ID;
        } else if (is_later(job, dump, &job->dumps[*last])) {
            out->earlier_dumps[out->count - 1] = *last;
            *last = c[i].dump;
        } else {
            out->earlier_dumps[out->count - 1] = c[i].dump;
        }
        if (dump->first_ns && (!out->from_ns || dump->first_ns < out->from_ns))
            out->from_ns = dump->first_ns;
        if (dump->last_ns > out->to_ns)
            out->to_ns = dump->last_ns;
    }
    return true;
}

static int earliest_first(const void *a, const void *b)
{
    const struct hs_attempt *x = a, *y = b;

    if (x->to_ns != y->to_ns)
        return x->to_ns < y->to_ns ? -1 : 1;
    return (x->dumps[0] > y->dumps[0]) - (x->dumps[0] < y->dumps[0]);
}

static void find_left_overs(const struct hs_job *job, struct candidate *c, uint32_t count)
{
    struct hs_str kept = { .p = NULL }; /* a folder found not to be replaced: not asked again */

    for (uint32_t i = 1; i < count; i++) {
        const struct hs_dump *a = &job->dumps[c[i - 1].dump], *b = &job->dumps[c[i].dump];
        bool first_is_later = is_later(job, a, b);
        const struct candidate *old = first_is_later ? &c[i] : &c[i - 1];
        const struct candidate *new = first_is_later ? &c[i - 1] : &c[i];

        if (a->rank != b->rank || old->world != new->world || old->superseded || new->superseded ||
            (kept.p && hs_str_eq(kept, folder_of(job, &job->dumps[old->dump]))))
            continue;
        if (!drop_left_overs(job, c, count, old, new))
            kept = folder_of(job, &job->dumps[old->dump]);
    }
}

/* A left-over dump can still show that its rank did not move since. */
static void keep_witnesses(const struct hs_job *job, const struct candidate *c, uint32_t count,
                           uint32_t world, struct hs_attempt *out)
{
    for (uint32_t i = 0, k = 0; i < count; i++) {
        uint32_t rank = job->dumps[c[i].dump].rank;

        while (k < out->count && job->dumps[out->dumps[k]].rank < rank)
            k++;
        if (c[i].superseded && c[i].world == world && k < out->count &&
            job->dumps[out->dumps[k]].rank == rank && out->earlier_dumps[k] == HS_NO_ID)
            out->earlier_dumps[k] = c[i].dump;
    }
}

enum hs_status hs_attempts_find(const struct hs_job *job, struct hs_arena *arena,
                                struct hs_attempts *out, struct hs_err *err)
{
    struct candidate *c = HS_NEW(arena, struct candidate, job->dump_count);
    uint32_t *worlds = HS_NEW(arena, uint32_t, job->dump_count + 1u);
    uint32_t count = 0, known;

    *out = (struct hs_attempts){ .count = 0 };
    out->attempt_of_dump = HS_NEW(arena, uint32_t, job->dump_count);
    if (!c || !worlds || !out->attempt_of_dump)
        return hs_no_memory(err);
    memset(out->attempt_of_dump, 0xff, job->dump_count * sizeof(uint32_t));
    for (uint32_t d = 0; d < job->dump_count; d++) { /* by rank, then by source */
        if (job->dumps[d].rank != HS_NO_ID)
            c[count++] = (struct candidate){ .dump = d, .world = world_of(job, &job->dumps[d]) };
    }
    known = settle_worlds(job, c, count, worlds);
    find_left_overs(job, c, count);
    out->list = HS_NEW(arena, struct hs_attempt, known);
    if (!out->list)
        return hs_no_memory(err);
    for (uint32_t k = 0; k < known; k++) {
        struct hs_attempt *a = &out->list[out->count];

        *a = (struct hs_attempt){ .count = 0 };
        if (!fill_attempt(job, c, count, worlds[k], arena, a))
            return hs_no_memory(err);
        keep_witnesses(job, c, count, worlds[k], a);
        out->count += a->count > 0;
    }
    qsort(out->list, out->count, sizeof(*out->list), earliest_first);
    for (uint32_t k = 0; k < out->count; k++) {
        for (uint32_t i = 0; i < out->list[k].count; i++)
            out->attempt_of_dump[out->list[k].dumps[i]] = k;
    }
    return HS_OK;
}
