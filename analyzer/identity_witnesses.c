/*
 * identity_witnesses.c - who says which rank a process has, besides its own lines: tables of the
 * launcher, the process group in front of a message, the communicator of all processes.
 */
#include "analyzer/identity_internal.h"

#include "base/limits.h"

#include <stdlib.h>

uint32_t hs_event_number(const struct hs_job *job, const struct hs_event *event, const char *name)
{
    struct hs_str text = hs_job_arg(job, event->args, name);
    uint64_t value = 0;

    if (!text.p || text.n == 0 || text.n > 10)
        return HS_NO_ID;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return HS_NO_ID;
        value = value * 10 + (uint64_t)(text.p[i] - '0');
    }
    return value < HS_NO_ID ? (uint32_t)value : HS_NO_ID;
}

/* ---- tables of torchrun ---- */

/* A string of the job by its text, among the arguments of an event; HS_NO_ID: it is not there. */
static uint32_t arg_string(const struct hs_job *job, const struct hs_event *e, const char *name)
{
    struct hs_str text = hs_job_arg(job, e->args, name);

    return text.p ? hs_intern_find(&job->strings, text) : HS_NO_ID;
}

/* The body of a pid that others speak of; HS_NO_ID without memory. */
static uint32_t body_of_pid(struct hs_inquiry *q, const struct hs_event *e, uint32_t attempt,
                            uint32_t host, uint32_t pid)
{
    uint32_t body;

    if (host != HS_NO_ID)
        return hs_body_put(q, HS_BODY_PID, attempt, host, pid);
    body = hs_body_of_pid(q, attempt, pid);
    return body != HS_NO_ID ? body : hs_body_put(q, HS_BODY_PID_HERE, attempt, e->source, pid);
}

/* A process of a table: host, pid, rank and local rank. It may never have spoken itself. */
static bool hear_table(struct hs_inquiry *q, const struct hs_event *e, uint32_t attempt)
{
    const struct hs_job *job = q->job;
    uint32_t host = hs_host_of(q->id, arg_string(job, e, "host"));
    uint32_t pid = hs_event_number(job, e, "pid");
    uint32_t local = hs_event_number(job, e, "local_rank");
    struct hs_witness w = { .rank = hs_event_number(job, e, "rank"),
                            .known = HS_KNOWN_TABLE,
                            .source = e->source,
                            .line = e->line };

    if (w.rank > HS_RANK_MAX)
        return true;
    if (host == HS_NO_ID && e->speaker != HS_NO_ID) /* an agent speaks for its own node only */
        host = hs_host_of(q->id, job->speakers[e->speaker].host);
    if (pid != HS_NO_ID) {
        w.body = body_of_pid(q, e, attempt, host, pid);
        if (w.body == HS_NO_ID || !hs_witness_put(q, &w))
            return false;
        if (q->bodies[w.body].local_rank == HS_NO_ID)
            q->bodies[w.body].local_rank = local;
    }
    if (local != HS_NO_ID && host != HS_NO_ID) {
        w.body = hs_body_put(q, HS_BODY_LOCAL, attempt, host, local);
        if (w.body == HS_NO_ID || !hs_witness_put(q, &w))
            return false;
        q->bodies[w.body].local_rank = local;
    }
    return true;
}

/* "failed (exitcode: -9) local_rank: 3 (pid: 4242)": the agent ties a local rank to a pid. */
static bool hear_failure(struct hs_inquiry *q, const struct hs_event *e, uint32_t attempt)
{
    const struct hs_speaker *agent = &q->job->speakers[e->speaker];
    uint32_t local = hs_event_number(q->job, e, "local_rank");
    uint32_t pid = hs_event_number(q->job, e, "pid");
    uint32_t host = hs_host_of(q->id, agent->host), body, other;

    if (local == HS_NO_ID || pid == HS_NO_ID)
        return true;
    body = body_of_pid(q, e, attempt, host, pid);
    if (body == HS_NO_ID)
        return false;
    if (q->bodies[body].local_rank == HS_NO_ID)
        q->bodies[body].local_rank = local;
    if (host == HS_NO_ID)
        return true;
    other = hs_body_put(q, HS_BODY_LOCAL, attempt, host, local);
    if (other == HS_NO_ID)
        return false;
    q->bodies[other].local_rank = local;
    hs_body_is(q, other, body);
    return true;
}

/* ---- the process group in front of a message ---- */

/* The group that every process is in: named 0, and described so where that is said. */
static bool is_default_group(struct hs_str pg, struct hs_str desc)
{
    if (desc.p && desc.n && !hs_str_is(desc, "undefined"))
        return hs_str_is(desc, "default_pg");
    return pg.p && hs_str_is(pg, "0");
}

/*
 * A launcher's actor or task passes on what several ranks print: then one call of one group has
 * several ranks in what seems to be one process. Its lines alone say who speaks.
 */
static bool find_mouthpieces(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    struct hs_intern calls;
    uint32_t *rank_of_call = HS_NEW(&q->scratch, uint32_t, job->event_count);
    bool ok = rank_of_call != NULL;

    hs_intern_init(&calls);
    for (uint32_t i = 0; ok && i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        uint32_t body = hs_body_root(q, q->body_of_event[i]), known = calls.count, call;
        uint32_t words[] = { body, e->family, hs_event_number(job, e, "seq"),
                             arg_string(job, e, "pg"), arg_string(job, e, "op") };
        uint32_t rank = hs_event_number(job, e, "pg_rank");

        if (body == HS_NO_ID || words[2] == HS_NO_ID || rank == HS_NO_ID)
            continue;
        call = hs_intern_put(&calls, (struct hs_str){ (const char *)words, sizeof(words) });
        ok = call != HS_NO_ID;
        if (ok && calls.count > known)
            rank_of_call[call] = rank;
        if (ok && rank_of_call[call] != rank)
            q->bodies[body].mouthpiece = true;
    }
    hs_intern_release(&calls);
    return ok;
}

static bool hear_rank_in_group(struct hs_inquiry *q, uint32_t event, enum hs_known known)
{
    const struct hs_event *e = &q->job->events[event];
    uint32_t attempt = hs_identity_attempt(q->id, e->source, e->line);
    uint32_t body = q->body_of_event[event];
    struct hs_witness w = { .body = body,
                            .rank = hs_event_number(q->job, e, "pg_rank"),
                            .known = known,
                            .source = e->source,
                            .line = e->line };

    if (w.rank > HS_RANK_MAX || attempt == HS_NO_ID)
        return true;
    if (body == HS_NO_ID || q->bodies[hs_body_root(q, body)].mouthpiece) {
        w.body = hs_body_put(q, HS_BODY_RANK, attempt, known, w.rank);
        q->body_of_event[event] = w.body;
        if (w.body == HS_NO_ID)
            return false;
        if (q->bodies[w.body].source == HS_NO_ID) {
            q->bodies[w.body].source = e->source;
            q->bodies[w.body].line = e->line;
        }
        q->bodies[w.body].lines += e->count;
    }
    return hs_witness_put(q, &w);
}

/* Torchrun's tables, and the default group in front of messages. */
static bool hear_event(struct hs_inquiry *q, uint32_t event)
{
    const struct hs_job *job = q->job;
    const struct hs_event *e = &job->events[event];
    struct hs_str family = hs_job_string(job, e->family);
    uint32_t attempt = hs_identity_attempt(q->id, e->source, e->line);

    if (hs_str_is(family, "TBL_ROW") && !hear_table(q, e, attempt))
        return false;
    if (hs_str_is(family, "ELASTIC_FAIL") && e->speaker != HS_NO_ID && !hear_failure(q, e, attempt))
        return false;
    return !is_default_group(hs_job_arg(job, e->args, "pg"), hs_job_arg(job, e->args, "pg_desc")) ||
           hear_rank_in_group(q, event, HS_KNOWN_GROUP);
}

bool hs_identity_hear_events(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;

    q->body_of_event = HS_NEW(&q->scratch, uint32_t, job->event_count);
    if (!q->body_of_event)
        return false;
    for (uint32_t i = 0; i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];

        q->body_of_event[i] = e->speaker == HS_NO_ID
                                  ? HS_NO_ID
                                  : q->body_of_voice[hs_voice_at(q->id, e->speaker, e->line)];
    }
    if (!find_mouthpieces(q))
        return false;
    for (uint32_t i = 0; i < job->event_count; i++) {
        if (!hear_event(q, i))
            return false;
    }
    return true;
}

/* ---- [Rank N] without a group ---- */

/* Whether nothing in the job speaks of a group besides the default one. */
static bool shows_one_group(const struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    const struct hs_comms *comms = &q->id->comms;

    for (uint32_t i = 0; i < job->event_count; i++) {
        struct hs_str pg = hs_job_arg(job, job->events[i].args, "pg");

        if (pg.p && !is_default_group(pg, hs_job_arg(job, job->events[i].args, "pg_desc")))
            return false;
    }
    for (uint32_t i = 1; i < comms->count; i++) {
        if (comms->list[i].size != comms->list[0].size)
            return false;
    }
    for (uint32_t i = 1; i < job->member_count; i++) {
        if (job->members[i].name != job->members[0].name)
            return false;
    }
    return true;
}

static bool hear_bare_ranks(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;

    if (!shows_one_group(q))
        return true;
    for (uint32_t i = 0; i < job->event_count; i++) {
        uint32_t args = job->events[i].args;

        if (hs_job_arg(job, args, "pg_rank").p && !hs_job_arg(job, args, "pg").p &&
            !hs_job_arg(job, args, "pg_desc").p && !hear_rank_in_group(q, i, HS_KNOWN_BARE))
            return false;
    }
    return true;
}

/* ---- the communicator of all processes ---- */

/* What is known of an attempt before its world is chosen. */
struct world {
    uint32_t size, processes, highest; /* highest: rank that a better witness names, and 1 */
    uint32_t comm;                     /* chosen; HS_NO_ID */
    bool disagrees;
};

static bool could_be_world(const struct hs_comm *c, const struct world *w)
{
    bool whole = c->joined == HS_COMM_ID || c->joined == HS_COMM_SPLIT || c->seen == c->size ||
                 2 * (uint64_t)c->seen > c->size;

    return c->attempt != HS_NO_ID && c->size == w->size && c->size >= w->processes &&
           c->size >= w->highest && c->joined != HS_COMM_ALONE && whole;
}

/* Whether two communicators of all processes give each process the same rank. */
static bool agree(const struct hs_comms *comms, const struct hs_comm *a, const struct hs_comm *b)
{
    for (uint32_t i = 0; i < b->member_count; i++) {
        const struct hs_comm_member *m = &comms->members[b->first_member + i];
        uint32_t at = hs_comm_of_rank(comms, (uint32_t)(a - comms->list), m->rank);

        if (m->rank != HS_NO_ID && at != HS_NO_ID && comms->members[at].owner != m->owner)
            return false;
    }
    return true;
}

static void measure(struct hs_inquiry *q, struct world *worlds, const bool *has_comm)
{
    const struct hs_comms *comms = &q->id->comms;

    for (uint32_t i = 0; i < comms->count; i++) {
        const struct hs_comm *c = &comms->list[i];

        if (c->attempt != HS_NO_ID && c->size != HS_NO_ID && c->size > worlds[c->attempt].size)
            worlds[c->attempt].size = c->size;
    }
    for (uint32_t i = 0; i < q->keys.count; i++) {
        if (has_comm[i] && q->bodies[i].attempt != HS_NO_ID)
            worlds[q->bodies[i].attempt].processes++;
    }
    for (uint32_t i = 0; i < q->witness_count; i++) {
        const struct hs_witness *w = &q->witnesses[i];
        uint32_t attempt = q->bodies[w->body].attempt;

        if (w->known > HS_KNOWN_WORLD && attempt != HS_NO_ID && w->rank >= worlds[attempt].highest)
            worlds[attempt].highest = w->rank + 1;
    }
}

/* Of several that all could be it those that were not split from another go first. */
static void choose(struct hs_comms *comms, struct world *worlds)
{
    for (int split = 0; split < 2; split++) {
        for (uint32_t i = 0; i < comms->count; i++) {
            struct hs_comm *c = &comms->list[i];
            struct world *w = c->attempt == HS_NO_ID ? NULL : &worlds[c->attempt];

            if ((c->parent != HS_NO_ID) != split || !w || !could_be_world(c, w))
                continue;
            if (w->comm == HS_NO_ID)
                w->comm = i;
            else if (!split && !agree(comms, &comms->list[w->comm], c))
                w->disagrees = true;
        }
    }
}

static bool hear_world(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    struct hs_comms *comms = &q->id->comms;
    struct world *worlds = HS_NEW(&q->scratch, struct world, q->id->attempt_count);
    bool *has_comm = HS_NEW(&q->scratch, bool, q->keys.count);

    if (!worlds || !has_comm)
        return false;
    for (uint32_t a = 0; a < q->id->attempt_count; a++)
        worlds[a].comm = HS_NO_ID;
    for (uint32_t i = 0; i < comms->member_count; i++)
        has_comm[comms->members[i].owner] = true;
    measure(q, worlds, has_comm);
    choose(comms, worlds);
    for (uint32_t a = 0; a < q->id->attempt_count; a++) {
        struct hs_comm *c = worlds[a].comm == HS_NO_ID ? NULL : &comms->list[worlds[a].comm];

        for (uint32_t i = 0; c && !worlds[a].disagrees && i < c->member_count; i++) {
            const struct hs_comm_member *m = &comms->members[c->first_member + i];
            const struct hs_communicator *row = &job->communicators[m->row];
            struct hs_witness w = { .body = m->owner,
                                    .rank = m->rank,
                                    .known = HS_KNOWN_WORLD,
                                    .source = row->source,
                                    .line =
                                        row->start_line ? row->start_line : row->complete_line };

            c->world = true;
            if (m->rank < c->size && !hs_witness_put(q, &w))
                return false;
        }
    }
    return true;
}

bool hs_identity_hear_groups(struct hs_inquiry *q)
{
    return hear_world(q) && hear_bare_ranks(q);
}
