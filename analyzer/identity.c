#include "analyzer/identity_internal.h"

#include <stdlib.h>

static const char *const known_words[] = {
    [HS_KNOWN_NOT] = "unknown",        [HS_KNOWN_TASK] = "task",
    [HS_KNOWN_BARE] = "bare-rank",     [HS_KNOWN_FILE] = "file-name",
    [HS_KNOWN_NODE] = "local-rank",    [HS_KNOWN_TABLE] = "launcher-table",
    [HS_KNOWN_WORLD] = "communicator", [HS_KNOWN_GROUP] = "default-group",
    [HS_KNOWN_LAUNCHER] = "launcher",  [HS_KNOWN_TAG] = "rank-tag",
};

const char *hs_known_word(enum hs_known known)
{
    return known_words[known];
}

/* A pid of an attempt and host; sorted by these three. */
struct hs_pid_row {
    uint32_t attempt, host, pid, process;
};

void hs_identity_init(struct hs_identity *id, const struct hs_job *job)
{
    *id = (struct hs_identity){ .job = job };
    hs_arena_init(&id->arena);
}

void hs_identity_release(struct hs_identity *id)
{
    free(id->contradictions);
    hs_arena_release(&id->arena);
    hs_identity_init(id, id->job);
}

/* ---- communicators ---- */

/* The body that an end belongs to: by pid where it has one, since tags come and go. */
static uint32_t owner_of(const struct hs_inquiry *q, const struct hs_communicator *c)
{
    const struct hs_speaker *s = c->speaker == HS_NO_ID ? NULL : &q->job->speakers[c->speaker];
    uint64_t line = c->start_line      ? c->start_line
                    : c->complete_line ? c->complete_line
                                       : c->end_line;
    uint32_t host, body;

    if (!s)
        return HS_NO_ID;
    host = hs_host_of(q->id, s->host);
    body = host == HS_NO_ID || s->pid == HS_NO_ID
               ? HS_NO_ID
               : hs_body_find(q, HS_BODY_PID,
                              q->id->runs[hs_run_at(q->id, s->source, line)].attempt, host, s->pid);
    if (body == HS_NO_ID)
        body = q->body_of_voice[hs_voice_at(q->id, c->speaker, line)];
    return hs_body_root(q, body);
}

/* Put communicators together; with `ranks` as far as ranks are known by now. */
static enum hs_status join_comms(struct hs_inquiry *q, bool ranks, struct hs_err *err)
{
    uint32_t count = q->job->communicator_count;
    uint32_t *owner = HS_NEW(&q->scratch, uint32_t, count);
    uint32_t *attempt = HS_NEW(&q->scratch, uint32_t, count);
    uint32_t *rank = HS_NEW(&q->scratch, uint32_t, count);
    struct hs_comm_owners owners = { owner, attempt, ranks ? rank : NULL };

    if (!owner || !attempt || !rank)
        return hs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        owner[i] = owner_of(q, &q->job->communicators[i]);
        attempt[i] = owner[i] == HS_NO_ID ? HS_NO_ID : q->bodies[owner[i]].attempt;
        rank[i] = owner[i] == HS_NO_ID ? HS_NO_ID : q->bodies[owner[i]].rank;
    }
    return hs_comms_join(q->job, &owners, q->arena, &q->id->comms, err);
}

/* Ends belong to processes, and the communicators whose ranks are the global ones are worlds. */
static void settle_comms(struct hs_inquiry *q)
{
    struct hs_identity *id = q->id;
    uint32_t *largest = HS_NEW(&q->scratch, uint32_t, id->attempt_count);

    for (uint32_t i = 0; i < id->comms.member_count; i++)
        id->comms.members[i].owner = q->bodies[id->comms.members[i].owner].process;
    for (uint32_t i = 0; largest && i < id->comms.count; i++) {
        const struct hs_comm *c = &id->comms.list[i];

        if (c->attempt != HS_NO_ID && c->size != HS_NO_ID && c->size > largest[c->attempt])
            largest[c->attempt] = c->size;
    }
    for (uint32_t i = 0; largest && i < id->comms.count; i++) {
        struct hs_comm *c = &id->comms.list[i];

        c->world =
            c->attempt != HS_NO_ID && c->joined != HS_COMM_ALONE && c->size == largest[c->attempt];
        for (uint32_t k = 0; c->world && k < c->member_count; k++) {
            const struct hs_comm_member *m = &id->comms.members[c->first_member + k];

            c->world = m->rank != HS_NO_ID && m->owner != HS_NO_ID &&
                       id->processes[m->owner].rank == m->rank;
        }
    }
}

/* ---- processes ---- */

/* Bodies in the order of the processes that they become. */
struct order {
    uint32_t attempt, rank, host, pid, body;
};

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    int c = compare(x->attempt, y->attempt);

    c = c ? c : compare(x->rank, y->rank);
    c = c ? c : compare(x->host, y->host);
    c = c ? c : compare(x->pid, y->pid);
    return c ? c : compare(x->body, y->body);
}

/* A body that nobody speaks as and that nothing is known of is no process. */
static bool is_process(const struct hs_body *b)
{
    return b->known || b->speaks || b->lines || b->kind == HS_BODY_PID;
}

static bool add_to_process(struct hs_inquiry *q, const struct hs_body *b, uint32_t process,
                           uint32_t *pid_lines)
{
    struct hs_process *p = &q->id->processes[process];
    struct hs_contradiction row = { .what = "two-hosts",
                                    .process = b->same_as,
                                    .rank = p->rank,
                                    .other = p->rank,
                                    .known = p->known,
                                    .by = b->known,
                                    .source = b->source,
                                    .line = b->line };
    bool two = b->two_hosts || (p->host != HS_NO_ID && b->host != HS_NO_ID && p->host != b->host);

    p->lines += b->lines;
    p->known = b->known > p->known ? b->known : p->known;
    if (b->pid != HS_NO_ID && (p->pid == HS_NO_ID || b->lines > *pid_lines)) {
        p->pid = b->pid;
        *pid_lines = b->lines;
    }
    if (p->local_rank == HS_NO_ID && !b->two_locals)
        p->local_rank = b->local_rank;
    if (b->source < p->source || (b->source == p->source && b->line < p->line)) {
        p->source = b->source;
        p->line = b->line;
    }
    p->host = two ? HS_NO_ID : p->host == HS_NO_ID ? b->host : p->host;
    return !two || hs_contradiction_put(q, &row);
}

static bool make_processes(struct hs_inquiry *q)
{
    struct hs_identity *id = q->id;
    struct order *order = HS_NEW(&q->scratch, struct order, q->keys.count);
    uint32_t count = 0, pid_lines = 0;

    for (uint32_t i = 0; order && i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];

        if (b->same_as == i && is_process(b))
            order[count++] = (struct order){ b->attempt, b->rank, b->host, b->pid, i };
    }
    id->processes = HS_NEW(q->arena, struct hs_process, count);
    if (!order || !id->processes)
        return false;
    qsort(order, count, sizeof(*order), by_order);
    for (uint32_t i = 0; i < count; i++) {
        struct hs_body *b = &q->bodies[order[i].body];
        const struct order *last = i ? &order[i - 1] : NULL;

        if (!last || b->rank == HS_NO_ID || b->attempt == HS_NO_ID || last->rank != b->rank ||
            last->attempt != b->attempt) {
            id->processes[id->process_count++] = (struct hs_process){ .attempt = b->attempt,
                                                                      .rank = b->rank,
                                                                      .host = HS_NO_ID,
                                                                      .pid = HS_NO_ID,
                                                                      .local_rank = HS_NO_ID,
                                                                      .source = HS_NO_ID };
            pid_lines = 0;
        }
        b->process = id->process_count - 1;
        if (!add_to_process(q, b, b->process, &pid_lines))
            return false;
    }
    for (uint32_t i = 0; i < q->keys.count; i++)
        q->bodies[i].process = q->bodies[q->bodies[i].same_as].process;
    return true;
}

static uint32_t process_of(const struct hs_inquiry *q, uint32_t body)
{
    return body == HS_NO_ID ? HS_NO_ID : q->bodies[body].process;
}

static int by_pid(const void *a, const void *b)
{
    const struct hs_pid_row *x = a, *y = b;
    int c = compare(x->attempt, y->attempt);

    c = c ? c : compare(x->host, y->host);
    return c ? c : compare(x->pid, y->pid);
}

/* What was found of bodies, by what one asks for. */
static bool index_processes(struct hs_inquiry *q)
{
    struct hs_identity *id = q->id;
    uint32_t voices = id->first_voice[q->job->speaker_count];

    id->process_of_event = HS_NEW(q->arena, uint32_t, q->job->event_count);
    id->pids = HS_NEW(q->arena, struct hs_pid_row, q->keys.count);
    if (!id->process_of_event || !id->pids)
        return false;
    for (uint32_t i = 0; i < voices; i++)
        id->voices[i].process = process_of(q, q->body_of_voice[i]);
    for (uint32_t i = 0; i < q->job->event_count; i++)
        id->process_of_event[i] = process_of(q, q->body_of_event[i]);
    for (uint32_t i = 0; i < id->contradiction_count; i++)
        id->contradictions[i].process = process_of(q, id->contradictions[i].process);
    for (uint32_t i = 0; i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];

        if (b->kind == HS_BODY_PID && b->process != HS_NO_ID)
            id->pids[id->pid_count++] =
                (struct hs_pid_row){ b->attempt, b->scope, b->number, b->process };
    }
    qsort(id->pids, id->pid_count, sizeof(*id->pids), by_pid);
    return true;
}

/* ---- places in process groups ---- */

static int by_seat(const void *a, const void *b)
{
    const struct hs_seat_in_group *x = a, *y = b;
    int c = compare(x->attempt, y->attempt);

    c = c ? c : compare(x->group, y->group);
    c = c ? c : compare(x->group_rank, y->group_rank);
    return c ? c : compare(x->process, y->process);
}

static bool seat_processes(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    struct hs_identity *id = q->id;
    uint32_t count = 0;

    id->seats = HS_NEW(q->arena, struct hs_seat_in_group, job->event_count);
    if (!id->seats)
        return false;
    for (uint32_t i = 0; i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        struct hs_str pg = hs_job_arg(job, e->args, "pg");
        uint32_t process = id->process_of_event[i];
        struct hs_seat_in_group seat = { .group_rank = hs_event_number(job, e, "pg_rank"),
                                         .process = process };

        if (!pg.p || process == HS_NO_ID || seat.group_rank == HS_NO_ID)
            continue;
        seat.group = hs_intern_find(&job->strings, pg);
        seat.attempt = id->processes[process].attempt;
        id->seats[count++] = seat;
    }
    qsort(id->seats, count, sizeof(*id->seats), by_seat);
    for (uint32_t i = 0; i < count; i++) {
        struct hs_seat_in_group *last = &id->seats[id->seat_count - (id->seat_count > 0)];
        const struct hs_seat_in_group *s = &id->seats[i];

        if (id->seat_count == 0 || last->attempt != s->attempt || last->group != s->group ||
            last->group_rank != s->group_rank)
            id->seats[id->seat_count++] = *s;
        else if (last->process != s->process)
            last->process = HS_NO_ID;
    }
    return true;
}

/* ---- all of it ---- */

static bool index_speakers(struct hs_inquiry *q)
{
    uint32_t i = 0, sources = q->job->source_count;

    q->first_of_source = HS_NEW(&q->scratch, uint32_t, (size_t)sources + 1);
    for (uint32_t s = 0; q->first_of_source && s < sources; s++) {
        q->first_of_source[s] = i;
        while (i < q->job->speaker_count && q->job->speakers[i].source == s)
            i++;
        q->first_of_source[s + 1] = i;
    }
    return q->first_of_source != NULL;
}

static enum hs_status inquire(struct hs_inquiry *q, struct hs_err *err)
{
    enum hs_status status;

    if (!index_speakers(q) || !hs_identity_find_hosts(q) || !hs_identity_find_attempts(q) ||
        !hs_identity_find_bodies(q) || !hs_identity_hear_events(q))
        return hs_no_memory(err);
    status = join_comms(q, false, err);
    if (status != HS_OK)
        return status;
    if (!hs_identity_hear_groups(q) || !hs_identity_find_ranks(q))
        return hs_no_memory(err);
    status = join_comms(q, true, err);
    if (status != HS_OK)
        return status;
    if (!make_processes(q) || !index_processes(q) || !seat_processes(q))
        return hs_no_memory(err);
    settle_comms(q);
    return HS_OK;
}

enum hs_status hs_identity_find(struct hs_identity *id, struct hs_err *err)
{
    struct hs_inquiry q = { .id = id, .job = id->job, .arena = &id->arena };
    enum hs_status status;

    hs_arena_init(&q.scratch);
    hs_intern_init(&q.hosts);
    hs_intern_init(&q.keys);
    status = inquire(&q, err);
    hs_arena_release(&q.scratch);
    hs_intern_release(&q.hosts);
    hs_intern_release(&q.keys);
    free(q.bodies);
    free(q.witnesses);
    return status;
}

/* ---- asking ---- */

uint32_t hs_identity_attempt(const struct hs_identity *id, uint32_t source, uint64_t line)
{
    return id->runs[hs_run_at(id, source, line)].attempt;
}

uint32_t hs_identity_speaker(const struct hs_identity *id, uint32_t speaker, uint64_t line)
{
    return speaker == HS_NO_ID ? HS_NO_ID : id->voices[hs_voice_at(id, speaker, line)].process;
}

uint32_t hs_identity_rank(const struct hs_identity *id, uint32_t attempt, uint32_t rank)
{
    uint32_t low = 0, high = id->process_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct hs_process *p = &id->processes[middle];

        if (p->attempt < attempt || (p->attempt == attempt && p->rank < rank))
            low = middle + 1;
        else
            high = middle;
    }
    return low < id->process_count && rank != HS_NO_ID && id->processes[low].attempt == attempt &&
                   id->processes[low].rank == rank
               ? low
               : HS_NO_ID;
}

uint32_t hs_identity_pid(const struct hs_identity *id, uint32_t attempt, uint32_t host,
                         uint32_t pid)
{
    struct hs_pid_row key = { attempt, host, pid, 0 };
    const struct hs_pid_row *row =
        bsearch(&key, id->pids, id->pid_count, sizeof(*id->pids), by_pid);

    return row ? row->process : HS_NO_ID;
}

static int by_place(const void *a, const void *b)
{
    const struct hs_seat_in_group *x = a, *y = b;
    int c = compare(x->attempt, y->attempt);

    c = c ? c : compare(x->group, y->group);
    return c ? c : compare(x->group_rank, y->group_rank);
}

uint32_t hs_identity_in_group(const struct hs_identity *id, uint32_t attempt, uint32_t group,
                              uint32_t group_rank)
{
    struct hs_seat_in_group key = { attempt, group, group_rank, 0 };
    const struct hs_seat_in_group *seat =
        bsearch(&key, id->seats, id->seat_count, sizeof(*id->seats), by_place);

    return seat ? seat->process : HS_NO_ID;
}

uint32_t hs_identity_host(const struct hs_identity *id, uint32_t string)
{
    return hs_host_of(id, string);
}

uint32_t hs_identity_dump(const struct hs_identity *id, uint32_t dump)
{
    const struct hs_dump *d = &id->job->dumps[dump];

    if (d->speaker != HS_NO_ID)
        return hs_identity_speaker(id, d->speaker, id->job->speakers[d->speaker].first_line);
    return hs_identity_rank(id, id->attempt_count - 1, d->rank);
}
