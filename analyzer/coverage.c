/* coverage.c - what was seen of the job and its input, and what was not. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

static uint64_t world_size(const struct hs_judged *j)
{
    uint64_t world = j->options->world_size;

    for (uint32_t g = 0; g < j->al.group_count; g++) {
        if (!j->al.groups[g].members_assumed && j->al.groups[g].size > world)
            world = j->al.groups[g].size;
    }
    if (j->lines.world_size != HS_NO_POSITION && j->lines.world_size > world)
        world = j->lines.world_size;
    return world ? world : HS_UNKNOWN;
}

/* Those of `ranks` that `others` lacks; both are sorted. */
static const uint32_t *without(const uint32_t *ranks, uint32_t count, const uint32_t *others,
                               uint32_t other_count, uint32_t *left, struct hs_arena *arena)
{
    uint32_t *list = HS_NEW(arena, uint32_t, count);

    for (uint32_t i = 0; list && i < count; i++) {
        if (!hs_u32_contains(others, other_count, ranks[i]))
            list[(*left)++] = ranks[i];
    }
    return list;
}

static bool put_ranks(const struct hs_judged *j, struct hs_verdict *v)
{
    size_t world = v->world_size <= HS_RANK_MAX ? v->world_size : 0;
    uint32_t *dumps = HS_NEW(&v->arena, uint32_t, j->al.seat_count);
    uint32_t *logs = HS_NEW(&v->arena, uint32_t, j->lines.seen_count);
    uint32_t *silent = HS_NEW(&v->arena, uint32_t, world);

    if (!dumps || !silent || !logs)
        return false;
    if (j->lines.seen_count)
        memcpy(logs, j->lines.seen, j->lines.seen_count * sizeof(*logs));
    for (uint32_t s = 0; s < j->al.seat_count; s++)
        dumps[s] = j->al.seats[s].rank;
    v->dump_ranks = dumps;
    v->dump_rank_count = j->al.seat_count;
    v->log_ranks = logs;
    v->log_rank_count = j->lines.seen_count;
    for (uint32_t rank = 0; rank < world; rank++) {
        if (!hs_u32_contains(dumps, v->dump_rank_count, rank) &&
            !hs_u32_contains(logs, v->log_rank_count, rank))
            silent[v->silent_rank_count++] = rank;
    }
    v->silent_ranks = silent;
    v->undumped_ranks = without(logs, v->log_rank_count, dumps, v->dump_rank_count,
                                &v->undumped_rank_count, &v->arena);
    v->unlogged_ranks = without(dumps, v->dump_rank_count, logs, v->log_rank_count,
                                &v->unlogged_rank_count, &v->arena);
    return v->undumped_ranks && v->unlogged_ranks;
}

/* Texts are judged; one that says anything is a log. */
static void judge_texts(const struct hs_job *job, const char **standing, struct hs_verdict *v)
{
    for (uint32_t i = 0; i < job->diagnostic_count; i++) {
        if (strcmp(job->diagnostics[i].code, "duplicate-file") == 0)
            standing[job->diagnostics[i].source] = "duplicate";
    }
    for (uint32_t s = 0; s < job->source_count; s++) {
        bool text = job->sources[s].format && strcmp(job->sources[s].format, "text") == 0;

        if (!text || standing[s])
            continue;
        standing[s] = "judged";
        v->log_count += job->sources[s].records > 0;
    }
}

static bool put_sources(const struct hs_judged *j, const struct hs_attempts *attempts,
                        uint32_t judged, struct hs_verdict *v)
{
    const struct hs_job *job = j->job;
    const char **standing = HS_NEW(&v->arena, const char *, job->source_count);

    v->sources = HS_NEW(&v->arena, struct hs_source_coverage, job->source_count);
    if (!v->sources || !standing)
        return false;
    judge_texts(job, standing, v);
    for (uint32_t d = 0; d < job->dump_count; d++) {
        uint32_t attempt = attempts->attempt_of_dump[d];

        if (job->dumps[d].speaker != HS_NO_ID)
            continue;
        standing[job->dumps[d].source] = job->dumps[d].rank == HS_NO_ID ? "unread"
                                         : attempt == HS_NO_ID          ? "superseded"
                                         : attempt == judged            ? "judged"
                                                                        : "other-attempt";
    }
    for (uint32_t s = 0; s < job->source_count; s++) {
        const struct hs_source_row *row = &job->sources[s];

        v->sources[v->source_count++] = (struct hs_source_coverage){
            .path = hs_safe(job, row->name, &v->arena),
            .format = row->format,
            .records = row->records,
            .diagnostics = row->diagnostics,
            .standing = standing[s] ? standing[s] : "unread",
        };
    }
    return true;
}

static bool put_attempts(const struct hs_judged *j, const struct hs_attempts *attempts,
                         uint32_t judged, const char *const *codes, struct hs_verdict *v)
{
    v->attempts = HS_NEW(&v->arena, struct hs_attempt_coverage, attempts->count);
    if (!v->attempts)
        return false;
    for (uint32_t i = 0; i < attempts->count; i++) {
        const struct hs_attempt *a = &attempts->list[i];
        uint32_t *ranks = HS_NEW(&v->arena, uint32_t, a->count);

        if (!ranks)
            return false;
        if (i == judged)
            continue;
        for (uint32_t k = 0; k < a->count; k++)
            ranks[k] = j->job->dumps[a->dumps[k]].rank;
        v->attempts[v->attempt_count++] = (struct hs_attempt_coverage){ .id = i,
                                                                        .ranks = ranks,
                                                                        .rank_count = a->count,
                                                                        .from_ns = a->from_ns,
                                                                        .to_ns = a->to_ns,
                                                                        .code = codes[i] };
    }
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const struct hs_bound *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return hs_str_cmp(x->group, y->group);
}

/*
 * Ranks without a dump, bounded by their peers: a finished symmetric call proves that they entered
 * it; and nobody gets past the first call that a seen member has not entered.
 */
static bool put_bounds(const struct hs_judged *j, struct hs_verdict *v)
{
    uint32_t count = 0;

    for (uint32_t g = 0; g < j->al.group_count; g++) {
        for (uint32_t i = 0; i < j->al.groups[g].size; i++)
            count += j->al.groups[g].positions[i] == HS_NO_ID;
    }
    v->bounds = HS_NEW(&v->arena, struct hs_bound, count);
    if (!v->bounds)
        return false;
    for (uint32_t g = 0; g < j->al.group_count; g++) {
        const struct hs_group *group = &j->al.groups[g];
        struct hs_str label = { .p = NULL };

        for (uint32_t i = 0; i < group->size; i++) {
            bool used =
                group->least != UINT32_MAX && (group->proved || group->least) && group->label.n;

            if (group->positions[i] != HS_NO_ID || !used || group->members_assumed)
                continue;
            if (!label.p)
                label = hs_arena_copy(&v->arena, group->label);
            v->bounds[v->bound_count++] =
                (struct hs_bound){ .rank = group->ranks[i],
                                   .group = label,
                                   .entered = group->marks_nothing ? HS_UNKNOWN : group->proved,
                                   .not_past = group->least + 1u };
        }
    }
    qsort(v->bounds, v->bound_count, sizeof(*v->bounds), by_rank);
    return true;
}

bool hs_tell_coverage(const struct hs_judged *j, const struct hs_attempts *attempts,
                      uint32_t judged, const char *const *codes, struct hs_verdict *v)
{
    v->world_size = world_size(j);
    return put_ranks(j, v) && put_sources(j, attempts, judged, v) &&
           put_attempts(j, attempts, judged, codes, v) && put_bounds(j, v);
}
