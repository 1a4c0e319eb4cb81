/*
 * clocks_ties.c - instants that several clocks saw: calls that all finished, communicators that all
 * made, the first barrier of the store.
 */
#include "analyzer/clocks_internal.h"

#include <stdlib.h>

enum {
    WINDOW = 256,    /* calls of each group that are looked at, the latest */
    TAIL_MAX = 1024, /* calls of each dump, the latest, among which they are looked for */
};

static bool put_sighting(struct hs_clock_finding *f, const struct hs_sighting *s)
{
    if (!HS_GROW(f->sightings, f->cap, f->count + 1u))
        return false;
    f->sightings[f->count++] = *s;
    return true;
}

/* Of the calls of a group the latest that were finished, and their instants from `base` on. */
struct window {
    uint32_t low, high; /* sequence numbers; high 0: none */
    uint32_t base;
    uint32_t calls;
};

/* A call that all had to enter before anyone could finish it, and that this process finished. */
static bool ties_clocks(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    const struct hs_operation *o = &hs_seat_dump(al, seat)->operations[op];
    const struct hs_operation_kind *kind = hs_op_signature(al, seat, op)->kind;

    return kind->proof == HS_PROOF_ALL && o->finished_us && hs_is_time(o->created_ns) &&
           (o->flags & HS_OPERATION_STATE) == HS_STATE_COMPLETED && hs_op_seq(al, seat, op) > 0;
}

static uint32_t tail_of(const struct hs_dump *dump)
{
    return dump->operation_count > TAIL_MAX ? dump->operation_count - TAIL_MAX : 0;
}

static struct window *find_windows(struct hs_clock_finding *f)
{
    const struct hs_alignment *al = f->al;
    struct window *windows = HS_NEW(&f->arena, struct window, al->group_count);

    for (uint32_t s = 0; windows && s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);

        for (uint32_t i = tail_of(dump); i < dump->operation_count; i++) {
            struct window *w;
            uint32_t seq = hs_op_seq(al, s, i);

            if (!ties_clocks(al, s, i))
                continue;
            w = &windows[al->positions[hs_op_position(al, s, i)].group];
            w->calls++;
            w->high = seq > w->high ? seq : w->high;
        }
    }
    for (uint32_t g = 0; windows && g < al->group_count; g++) {
        struct window *w = &windows[g];
        uint32_t size = w->calls < WINDOW ? w->calls : WINDOW;

        size = w->high < size ? w->high : size;
        w->low = w->high - size + (w->calls > 0);
        w->base = f->instants;
        f->instants += size;
    }
    return windows;
}

static bool sight_calls(struct hs_clock_finding *f)
{
    const struct hs_alignment *al = f->al;
    struct window *windows = find_windows(f);

    for (uint32_t s = 0; windows && s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);
        uint32_t process = hs_identity_dump(f->clocks->id, al->seats[s].dump);
        uint32_t kind = hs_clock_kind_of_dump(al->job, dump);
        uint32_t clock = hs_clock_put(f->clocks, process, dump->source, kind);

        if (clock == HS_NO_ID)
            return false;
        for (uint32_t i = tail_of(dump); i < dump->operation_count; i++) {
            const struct hs_operation *op = &dump->operations[i];
            const struct window *w = &windows[al->positions[hs_op_position(al, s, i)].group];
            struct hs_sighting at = { .clock = clock, .low = op->created_ns };

            if (!ties_clocks(al, s, i) || hs_op_seq(al, s, i) < w->low)
                continue;
            at.high = op->created_ns + op->finished_us * INT64_C(1000);
            at.instant = w->base + (hs_op_seq(al, s, i) - w->low);
            if (!put_sighting(f, &at))
                return false;
        }
    }
    return windows != NULL;
}

/* Nobody's communicator is complete before all have begun it. */
static bool sight_comms(struct hs_clock_finding *f)
{
    const struct hs_identity *id = f->clocks->id;

    for (uint32_t i = 0; i < id->comms.member_count; i++) {
        const struct hs_comm_member *m = &id->comms.members[i];
        const struct hs_communicator *c = &id->job->communicators[m->row];
        uint32_t comm = id->comms.comm_of_row[m->row];
        struct hs_sighting at = { .instant = f->instants + comm,
                                  .low = HS_NEVER,
                                  .high = HS_FOREVER };

        if (id->comms.list[comm].joined == HS_COMM_ALONE)
            continue;
        if (hs_is_time(c->start_ns))
            at.low = c->start_ns;
        if (hs_is_time(c->complete_ns))
            at.high = hs_stamp_latest(c->complete_ns, c->clock);
        if (at.low == HS_NEVER && at.high == HS_FOREVER)
            continue;
        at.clock = hs_clock_put(f->clocks, m->owner, c->source, c->clock);
        if (at.clock == HS_NO_ID || !put_sighting(f, &at))
            return false;
    }
    f->instants += id->comms.count;
    return true;
}

/* Nobody leaves the first barrier of the store before all have come to it. */
static bool sight_store_barriers(struct hs_clock_finding *f)
{
    const struct hs_identity *id = f->clocks->id;
    const struct hs_job *job = id->job;
    struct hs_intern keys;
    bool ok = true;

    hs_intern_init(&keys);
    for (uint32_t i = 0; ok && i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        struct hs_sighting at = { .low = HS_NEVER, .high = HS_FOREVER };
        struct hs_str key = hs_job_arg(job, e->args, "key");
        uint32_t words[2] = { hs_identity_attempt(id, e->source, e->line), 0 }, barrier;

        if (!hs_str_is(hs_job_string(job, e->family), "STORE_BARRIER_DONE") || !key.p ||
            !hs_is_time(e->time_ns) || e->count > 1)
            continue;
        words[1] = hs_intern_find(&job->strings, key);
        if (hs_job_arg(job, e->args, "done").p)
            at.high = hs_stamp_latest(e->time_ns, e->clock);
        else
            at.low = e->time_ns;
        barrier = hs_intern_put(&keys, (struct hs_str){ (const char *)words, sizeof(words) });
        at.instant = f->instants + barrier;
        at.clock = hs_clock_put(f->clocks, id->process_of_event[i], e->source, e->clock);
        ok = barrier != HS_NO_ID && at.clock != HS_NO_ID && put_sighting(f, &at);
    }
    f->instants += keys.count;
    hs_intern_release(&keys);
    return ok;
}

/* Clocks that no instant ties still have a number. */
static bool put_other_clocks(struct hs_clock_finding *f)
{
    const struct hs_identity *id = f->clocks->id;

    for (uint32_t i = 0; i < id->job->speaker_count; i++) {
        const struct hs_speaker *s = &id->job->speakers[i];

        for (uint32_t v = id->first_voice[i]; s->first_ns && v < id->first_voice[i + 1]; v++) {
            if (hs_clock_put(f->clocks, id->voices[v].process, s->source, s->clock) == HS_NO_ID)
                return false;
        }
    }
    for (uint32_t i = 0; i < id->job->event_count; i++) {
        const struct hs_event *e = &id->job->events[i];

        if (e->time_ns &&
            hs_clock_put(f->clocks, id->process_of_event[i], e->source, e->clock) == HS_NO_ID)
            return false;
    }
    return true;
}

static bool sort_sightings(struct hs_clock_finding *f)
{
    struct hs_sighting *sorted = HS_NEW(&f->arena, struct hs_sighting, f->count);

    f->first = HS_NEW(&f->arena, uint32_t, (size_t)f->instants + 2);
    if (!sorted || !f->first)
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        f->first[f->sightings[i].instant + 2]++;
    for (uint32_t i = 2; i < f->instants + 2; i++)
        f->first[i] += f->first[i - 1];
    for (uint32_t i = 0; i < f->count; i++)
        sorted[f->first[f->sightings[i].instant + 1]++] = f->sightings[i];
    free(f->sightings);
    f->sightings = NULL;
    f->cap = 0;
    f->sightings = sorted;
    return true;
}

bool hs_clocks_sight(struct hs_clock_finding *f)
{
    return (!f->al || sight_calls(f)) && sight_comms(f) && sight_store_barriers(f) &&
           put_other_clocks(f) && sort_sightings(f);
}
