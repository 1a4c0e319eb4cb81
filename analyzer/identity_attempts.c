/*
 * identity_attempts.c - where one attempt of a job ends in a text and the next begins.
 *
 * Three kinds of proof: the launcher says that it restarts its workers, or tells of another first
 * failure, and ranks go on under new pids. Each says of a stretch of lines that the cut is in it;
 * stretches that overlap are one cut, placed behind the last line of the old processes. Sources
 * without cuts find their attempt by what they share with those that have some: processes, ids of
 * communicators, times; or by their path.
 */
#include "analyzer/identity_internal.h"

#include "base/limits.h"

#include <ctype.h>
#include <stdlib.h>

/* Somewhere in (after, until] an attempt begins. */
struct stretch {
    uint32_t source;
    bool restart; /* the launcher says so; else a rank changed its process */
    uint64_t after, until;
};

/* A rank, by one kind of witness, and a process that had it. */
struct tenancy {
    uint32_t source, witness, rank, life;
};

/* A process in a source, from its first line to its last. */
struct life {
    uint64_t first, last;
};

struct cutting {
    struct hs_inquiry *q;
    struct hs_intern lives_keys;
    struct life *lives;
    uint32_t life_cap;
    struct tenancy *tenancies;
    uint32_t tenancy_count, tenancy_cap;
    struct stretch *stretches;
    uint32_t stretch_count, stretch_cap;
    struct hs_run *runs;
    uint32_t run_count, run_cap;
    uint32_t *ranks; /* by source: how many (witness, rank) have a process */
};

static bool put_stretch(struct cutting *c, const struct stretch *stretch)
{
    if (!HS_GROW(c->stretches, c->stretch_cap, c->stretch_count + 1u))
        return false;
    c->stretches[c->stretch_count++] = *stretch;
    return true;
}

/* ---- ranks that go on under a new pid ---- */

/* The life of the process that a speaker belongs to, as its source shows it. */
static uint32_t life_of(struct cutting *c, const struct hs_speaker *s)
{
    uint32_t words[] = { s->source, s->host, s->pid };
    struct hs_str key = { .p = (const char *)words, .n = sizeof(words) };
    uint32_t known = c->lives_keys.count, at = hs_intern_put(&c->lives_keys, key);

    if (at == HS_NO_ID || !HS_GROW(c->lives, c->life_cap, at + 1u))
        return HS_NO_ID;
    if (c->lives_keys.count > known)
        c->lives[at] = (struct life){ s->first_line, s->last_line };
    if (s->first_line < c->lives[at].first)
        c->lives[at].first = s->first_line;
    if (s->last_line > c->lives[at].last)
        c->lives[at].last = s->last_line;
    return at;
}

static bool put_tenancy(struct cutting *c, const struct hs_speaker *s, uint32_t witness,
                        uint32_t rank)
{
    struct tenancy row = { s->source, witness, rank, life_of(c, s) };

    if (row.life == HS_NO_ID || !HS_GROW(c->tenancies, c->tenancy_cap, c->tenancy_count + 1u))
        return false;
    c->tenancies[c->tenancy_count++] = row;
    return true;
}

/* Rows of one source: ranks in the largest communicators that it shows. */
static bool put_world_tenancies(struct cutting *c, const struct hs_communicator *rows,
                                uint32_t count)
{
    const struct hs_job *job = c->q->job;
    uint32_t largest = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].size != HS_NO_ID && rows[i].size > largest)
            largest = rows[i].size;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_speaker *s =
            rows[i].speaker == HS_NO_ID ? NULL : &job->speakers[rows[i].speaker];

        if (s && s->pid != HS_NO_ID && rows[i].size == largest && rows[i].rank != HS_NO_ID &&
            !put_tenancy(c, s, HS_KNOWN_WORLD, rows[i].rank))
            return false;
    }
    return true;
}

static bool gather_tenancies(struct cutting *c)
{
    const struct hs_job *job = c->q->job;

    for (uint32_t i = 0; i < job->speaker_count; i++) {
        const struct hs_speaker *s = &job->speakers[i];

        if (s->pid == HS_NO_ID)
            continue;
        if (life_of(c, s) == HS_NO_ID)
            return false;
        if (s->rank != HS_NO_ID && s->rank_from >= HS_RANK_LAUNCHER &&
            !put_tenancy(c, s, HS_KNOWN_LAUNCHER + (s->rank_from == HS_RANK_TAG), s->rank))
            return false;
    }
    for (uint32_t i = 0, next; i < job->communicator_count; i = next) {
        const struct hs_communicator *rows = &job->communicators[i];

        for (next = i + 1;
             next < job->communicator_count && job->communicators[next].source == rows->source;)
            next++;
        if (!put_world_tenancies(c, rows, next - i))
            return false;
    }
    return true;
}

static int by_tenancy(const void *a, const void *b)
{
    const struct tenancy *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->witness != y->witness)
        return x->witness < y->witness ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->life > y->life) - (x->life < y->life);
}

static int by_first_line(const void *a, const void *b)
{
    const struct life *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

/* The processes that had one rank, one after another: between them attempts begin. */
static bool put_changes(struct cutting *c, const struct tenancy *rows, uint32_t count)
{
    struct life *lives = HS_NEW(&c->q->scratch, struct life, count);
    uint32_t n = 0;
    uint64_t last;

    if (!lives)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].life != rows[i - 1].life)
            lives[n++] = c->lives[rows[i].life];
    }
    qsort(lives, n, sizeof(*lives), by_first_line);
    last = lives[0].last;
    for (uint32_t i = 1; i < n; i++) {
        struct stretch s = { .source = rows->source, .after = last, .until = lives[i].first };

        if (last < lives[i].first && !put_stretch(c, &s))
            return false;
        last = lives[i].last > last ? lives[i].last : last;
    }
    return true;
}

static bool find_changes(struct cutting *c)
{
    if (c->tenancy_count)
        qsort(c->tenancies, c->tenancy_count, sizeof(*c->tenancies), by_tenancy);
    for (uint32_t i = 0, next; i < c->tenancy_count; i = next) {
        const struct tenancy *t = &c->tenancies[i];

        for (next = i + 1; next < c->tenancy_count && c->tenancies[next].source == t->source &&
                           c->tenancies[next].witness == t->witness &&
                           c->tenancies[next].rank == t->rank;)
            next++;
        c->ranks[t->source]++;
        if (!put_changes(c, t, next - i))
            return false;
    }
    return true;
}

/* ---- restarts that the launcher tells of ---- */

/* A restart: agents of several nodes tell of the same one. */
struct restart {
    uint32_t left; /* string: attempts that are left; HS_NO_ID: it is not said */
    uint64_t first, last;
};

/* Which restart an event tells of; false when it tells of none. */
static bool restart_of(const struct hs_job *job, const struct hs_event *e, uint32_t *left)
{
    uint32_t count;
    const uint32_t *args = hs_job_args(job, e->args, &count);

    if (!hs_str_is(hs_job_string(job, e->family), "ELASTIC_AGENT"))
        return false;
    *left = HS_NO_ID;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        struct hs_str name = hs_job_string(job, args[i]);

        if (hs_str_is(name, "attempts_left"))
            *left = args[i + 1];
        else if (!hs_str_is(name, "nodes"))
            continue;
        return true;
    }
    return false;
}

/* Restarts of one source, from its events: at most so many are told apart. */
enum { RESTARTS_MAX = 256 };

static uint32_t gather_restarts(const struct hs_job *job, const struct hs_event *events,
                                uint32_t count, struct restart *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_event *e = &events[i];
        uint32_t left, k = 0;

        if (!restart_of(job, e, &left))
            continue;
        while (k < n && out[k].left != left)
            k++;
        if (k == RESTARTS_MAX)
            continue;
        if (k == n)
            out[n++] = (struct restart){ left, e->line, e->last_line };
        if (e->line < out[k].first)
            out[k].first = e->line;
        if (e->last_line > out[k].last)
            out[k].last = e->last_line;
    }
    return n;
}

static int by_restart(const void *a, const void *b)
{
    const struct restart *x = a, *y = b;

    return (x->last > y->last) - (x->last < y->last);
}

static bool find_restarts(struct cutting *c)
{
    const struct hs_job *job = c->q->job;
    struct restart restarts[RESTARTS_MAX];

    for (uint32_t i = 0, next; i < job->event_count; i = next) {
        const struct hs_event *events = &job->events[i];
        uint32_t n;

        for (next = i + 1; next < job->event_count && job->events[next].source == events->source;)
            next++;
        n = gather_restarts(job, events, next - i, restarts);
        qsort(restarts, n, sizeof(*restarts), by_restart);
        for (uint32_t k = 0; k < n; k++) {
            struct stretch s = { .source = events->source,
                                 .restart = true,
                                 .after = restarts[k].last,
                                 .until = k + 1 < n ? restarts[k + 1].first : UINT64_MAX };

            if (s.until <= s.after)
                s.until = s.after + 1;
            if (!put_stretch(c, &s))
                return false;
        }
    }
    return true;
}

/* ---- failures that one agent tells of ---- */

/* Of each attempt an agent tells the first failure only: a second one is of another attempt. */
struct failure {
    uint32_t source, agent;
    uint64_t line;
};

static int by_failure(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->agent != y->agent)
        return x->agent < y->agent ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* At torchrun's usual log level this is all that shows a restart. */
static bool find_failures(struct cutting *c)
{
    const struct hs_job *job = c->q->job;
    struct failure *failures = HS_NEW(&c->q->scratch, struct failure, job->event_count);
    uint32_t count = 0;

    for (uint32_t i = 0; failures && i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        uint32_t agent = e->speaker == HS_NO_ID ? HS_NO_ID : job->speakers[e->speaker].pid;

        if (agent != HS_NO_ID && hs_str_is(hs_job_string(job, e->family), "ELASTIC_FAIL"))
            failures[count++] = (struct failure){ e->source, agent, e->line };
    }
    if (count)
        qsort(failures, count, sizeof(*failures), by_failure);
    for (uint32_t i = 1; i < count; i++) {
        const struct failure *a = &failures[i - 1], *b = &failures[i];
        struct stretch s = {
            .source = b->source, .restart = true, .after = a->line, .until = b->line
        };

        if (a->source == b->source && a->agent == b->agent && a->line < b->line &&
            !put_stretch(c, &s))
            return false;
    }
    return failures != NULL;
}

/* ---- cuts ---- */

static int by_until(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static bool put_run(struct cutting *c, uint32_t source, uint64_t first_line)
{
    if (!HS_GROW(c->runs, c->run_cap, c->run_count + 1u))
        return false;
    c->runs[c->run_count++] =
        (struct hs_run){ .source = source, .first_line = first_line, .attempt = HS_NO_ID };
    return true;
}

/*
 * Stretches of one source by where they end: as many as have a line in common become one cut. New
 * pids alone are believed when half of the ranks have one: a rank may have several processes.
 */
static bool cut_source(struct cutting *c, uint32_t source, const struct stretch *s, uint32_t count)
{
    uint32_t first = c->run_count;

    if (!put_run(c, source, 0))
        return false;
    for (uint32_t i = 0, next; i < count; i = next) {
        uint64_t after = s[i].after;
        uint32_t changes = 0;
        bool restart = false;

        for (next = i; next < count && s[next].after < s[i].until; next++) {
            after = s[next].after > after ? s[next].after : after;
            changes += !s[next].restart;
            restart = restart || s[next].restart;
        }
        if ((restart || 2 * (uint64_t)changes >= c->ranks[source]) &&
            c->run_count - first < HS_ATTEMPTS_MAX && !put_run(c, source, after + 1))
            return false;
    }
    return true;
}

static bool cut_sources(struct cutting *c)
{
    struct hs_identity *id = c->q->id;
    uint32_t sources = c->q->job->source_count, i = 0;

    if (c->stretch_count)
        qsort(c->stretches, c->stretch_count, sizeof(*c->stretches), by_until);
    for (uint32_t s = 0; s < sources; s++) {
        uint32_t first = i;

        while (i < c->stretch_count && c->stretches[i].source == s)
            i++;
        id->first_run[s] = c->run_count;
        if (!cut_source(c, s, c->stretches + first, i - first))
            return false;
    }
    id->first_run[sources] = c->run_count;
    id->runs = HS_NEW(c->q->arena, struct hs_run, c->run_count);
    if (id->runs && c->run_count)
        memcpy(id->runs, c->runs, c->run_count * sizeof(*c->runs));
    return id->runs != NULL;
}

static bool find_runs(struct hs_inquiry *q)
{
    struct cutting c = { .q = q };
    bool ok;

    hs_intern_init(&c.lives_keys);
    q->id->first_run = HS_NEW(q->arena, uint32_t, (size_t)q->job->source_count + 1);
    c.ranks = HS_NEW(&q->scratch, uint32_t, q->job->source_count);
    ok = q->id->first_run && c.ranks && gather_tenancies(&c) && find_changes(&c) &&
         find_restarts(&c) && find_failures(&c) && cut_sources(&c);
    hs_intern_release(&c.lives_keys);
    free(c.lives);
    free(c.tenancies);
    free(c.stretches);
    free(c.runs);
    return ok;
}

static bool find_voices(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    struct hs_identity *id = q->id;
    /* A speaker without pid may be in every attempt: beyond this one voice is all it gets. */
    uint64_t budget = 4 * (uint64_t)job->speaker_count + (1u << 20), total = 0;

    id->first_voice = HS_NEW(q->arena, uint32_t, (size_t)job->speaker_count + 1);
    if (!id->first_voice)
        return false;
    for (uint32_t i = 0; i < job->speaker_count; i++) {
        const struct hs_speaker *s = &job->speakers[i];
        uint32_t first = hs_run_at(id, s->source, s->first_line);
        uint32_t count = hs_run_at(id, s->source, s->last_line) - first + 1;

        id->first_voice[i] = (uint32_t)total;
        total += total + count <= budget ? count : 1;
        if (total >= HS_NO_ID)
            return false;
    }
    id->first_voice[job->speaker_count] = (uint32_t)total;
    id->voices = HS_NEW(q->arena, struct hs_voice, total);
    return id->voices != NULL;
}

bool hs_identity_find_attempts(struct hs_inquiry *q)
{
    return find_runs(q) && hs_identity_number_attempts(q) && find_voices(q);
}
