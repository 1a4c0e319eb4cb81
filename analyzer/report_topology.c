/* report_topology.c - how NCCL connected the ranks: rings and transports of each communicator. */
#include "analyzer/report_internal.h"

#include "analyzer/words.h"
#include "base/limits.h"

#include <stdlib.h>

enum { COMMUNICATORS = 1024, RINGS = 64 /* of one communicator that go different ways */ };

struct sorted_link {
    uint32_t comm, kind, channel, row;
};

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_comm(const void *a, const void *b)
{
    const struct sorted_link *x = a, *y = b;
    int c = compare(x->comm, y->comm);

    c = c ? c : compare(x->kind, y->kind);
    c = c ? c : compare(x->channel, y->channel);
    return c ? c : compare(x->row, y->row);
}

/* ---- rings ---- */

/* From one link to the next as they were printed: the order of a channel, once around. */
static uint32_t follow(const struct hs_job *job, const struct sorted_link *list, uint32_t count,
                       uint32_t *order)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_link *link = &job->links[list[i].row];

        if (n == 0)
            order[n++] = link->from_rank;
        if (link->from_rank != order[n - 1] || link->to_rank == order[0])
            break;
        order[n++] = link->to_rank;
    }
    return n;
}

static bool put_ring(struct hs_report_communicator *c, struct hs_arena *arena, uint32_t channel,
                     const uint32_t *order, uint32_t count, uint32_t channels)
{
    struct hs_report_ring *ring = NULL;
    uint32_t *list;

    for (uint32_t i = 0; i < c->ring_count && !ring; i++) {
        if (c->rings[i].order_count == count &&
            memcmp(c->rings[i].order, order, count * sizeof(*order)) == 0)
            ring = &c->rings[i];
    }
    if (!ring) {
        uint32_t *copy = HS_NEW(arena, uint32_t, count);

        if (c->ring_count == RINGS)
            return true;
        ring = &c->rings[c->ring_count];
        list = HS_NEW(arena, uint32_t, channels);
        if (!copy || !list)
            return false;
        memcpy(copy, order, count * sizeof(*copy));
        *ring = (struct hs_report_ring){ .channels = list, .order = copy, .order_count = count };
        c->ring_count++;
    }
    list = (uint32_t *)ring->channels;
    list[ring->channel_count++] = channel;
    return true;
}

static bool put_rings(struct hs_reporting *r, const struct sorted_link *list, uint32_t count,
                      struct hs_report_communicator *c)
{
    uint32_t *order = HS_NEW(&r->scratch, uint32_t, (size_t)count + 1), channels = 0;

    for (uint32_t i = 0; i < count; i++)
        channels += i == 0 || list[i].channel != list[i - 1].channel;
    c->rings = HS_NEW(&r->out->arena, struct hs_report_ring, channels < RINGS ? channels : RINGS);
    if (!order || !c->rings)
        return false;
    for (uint32_t i = 0, end; i < count; i = end) {
        uint32_t n;

        for (end = i + 1; end < count && list[end].channel == list[i].channel; end++)
            continue;
        n = follow(r->j->job, &list[i], end - i, order);
        if (!put_ring(c, &r->out->arena, list[i].channel, order, n, channels))
            return false;
    }
    return true;
}

/* ---- transports ---- */

static bool put_transports(struct hs_reporting *r, const struct sorted_link *list, uint32_t count,
                           struct hs_report_communicator *c)
{
    const struct hs_job *job = r->j->job;
    struct hs_intern keys;
    uint32_t *last_channel = HS_NEW(&r->scratch, uint32_t, count);
    bool ok = last_channel != NULL;

    c->transports = HS_NEW(&r->out->arena, struct hs_report_transport, count);
    hs_intern_init(&keys);
    for (uint32_t i = 0; ok && c->transports && i < count; i++) {
        const struct hs_link *link = &job->links[list[i].row];
        uint32_t key[2] = { link->kind, link->via }, known = keys.count, id;
        struct hs_report_transport *t;

        id = hs_intern_put(&keys, (struct hs_str){ (const char *)key, sizeof(key) });
        ok = id != HS_NO_ID;
        if (!ok)
            break;
        t = &c->transports[id];
        if (id == known) {
            t->kind = hs_safe(job, link->kind, &r->out->arena);
            t->via = hs_safe(job, link->via, &r->out->arena);
            last_channel[id] = HS_NO_ID;
            c->transport_count++;
        }
        t->links += link->count;
        t->channels += last_channel[id] != link->channel;
        last_channel[id] = link->channel;
    }
    hs_intern_release(&keys);
    return ok && c->transports;
}

/* ---- communicators ---- */

static const uint32_t *global_ranks(struct hs_reporting *r, const struct hs_comm *comm)
{
    const struct hs_comms *comms = &r->j->identity->comms;
    uint32_t *ranks = comm->size && comm->size <= HS_REPORT_RANKS_MAX
                          ? HS_NEW(&r->out->arena, uint32_t, comm->size)
                          : NULL;

    for (uint32_t i = 0; ranks && i < comm->size; i++)
        ranks[i] = HS_NO_ID;
    for (uint32_t i = 0; ranks && i < comm->member_count; i++) {
        const struct hs_comm_member *m = &comms->members[comm->first_member + i];

        if (m->rank < comm->size && m->owner != HS_NO_ID)
            ranks[m->rank] = r->j->identity->processes[m->owner].rank;
    }
    return ranks;
}

static bool put_communicator(struct hs_reporting *r, uint32_t number,
                             const struct sorted_link *list, uint32_t count)
{
    const struct hs_comm *comm = &r->j->identity->comms.list[number];
    struct hs_report_communicator *c = &r->out->communicators[r->out->communicator_count++];
    uint32_t ring = hs_intern_find(&r->j->job->strings, HS_STR("ring"));

    *c = (struct hs_report_communicator){
        .id = comm->comm_id,
        .size = comm->size,
        .seen = comm->seen,
        .how = hs_comm_joined_word((enum hs_comm_joined)comm->joined),
        .ranks = global_ranks(r, comm),
    };
    for (uint32_t i = 0, end; i < count; i = end) {
        bool ok;

        for (end = i + 1; end < count && (list[end].kind == ring) == (list[i].kind == ring); end++)
            continue;
        ok = list[i].kind == ring ? put_rings(r, &list[i], end - i, c) : true;
        if (!ok)
            return false;
    }
    return put_transports(r, list, count, c);
}

static struct sorted_link *sort_links(struct hs_reporting *r, uint32_t *count)
{
    const struct hs_job *job = r->j->job;
    const struct hs_comms *comms = &r->j->identity->comms;
    struct sorted_link *list = HS_NEW(&r->scratch, struct sorted_link, job->link_count);

    for (uint32_t i = 0; list && i < job->link_count; i++) {
        uint32_t row = job->links[i].communicator;
        uint32_t comm = row == HS_NO_ID ? HS_NO_ID : comms->comm_of_row[row];

        if (comm != HS_NO_ID)
            list[(*count)++] = (struct sorted_link){
                .comm = comm, .kind = job->links[i].kind, .channel = job->links[i].channel, .row = i
            };
    }
    if (list && *count)
        qsort(list, *count, sizeof(*list), by_comm);
    return list;
}

bool hs_report_topology(struct hs_reporting *r)
{
    const struct hs_comms *comms = &r->j->identity->comms;
    uint32_t count = 0, room = comms->count < COMMUNICATORS ? comms->count : COMMUNICATORS;
    const struct sorted_link *list = sort_links(r, &count);

    r->out->communicators = HS_NEW(&r->out->arena, struct hs_report_communicator, room);
    if (!list || !r->out->communicators)
        return false;
    for (uint32_t c = 0, at = 0; c < comms->count && r->out->communicator_count < room; c++) {
        uint32_t first = at, attempt = comms->list[c].attempt;

        while (at < count && list[at].comm == c)
            at++;
        if (attempt != HS_NO_ID && attempt != r->j->line_attempt)
            continue;
        if (!put_communicator(r, c, &list[first], at - first))
            return false;
    }
    return true;
}
