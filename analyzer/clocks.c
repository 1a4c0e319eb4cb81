#include "analyzer/clocks_internal.h"

#include <stdlib.h>

void hs_clocks_init(struct hs_clocks *clocks, const struct hs_identity *id)
{
    *clocks = (struct hs_clocks){ .id = id };
    hs_arena_init(&clocks->arena);
    hs_intern_init(&clocks->keys);
}

void hs_clocks_release(struct hs_clocks *clocks)
{
    hs_arena_release(&clocks->arena);
    hs_intern_release(&clocks->keys);
    free(clocks->list);
    hs_clocks_init(clocks, clocks->id);
}

/* ---- which clock a stamp is of ---- */

struct clock_key {
    uint32_t scope, number, kind;
};

static struct clock_key key_of(const struct hs_identity *id, uint32_t process, uint32_t source,
                               uint32_t kind)
{
    struct clock_key key = { HS_CLOCK_OF_SOURCE, source, kind & ~(uint32_t)HS_CLOCK_FINE };

    if (process != HS_NO_ID) {
        uint32_t host = id->processes[process].host;

        key.scope = host == HS_NO_ID ? HS_CLOCK_OF_PROCESS : HS_CLOCK_OF_HOST;
        key.number = host == HS_NO_ID ? process : host;
    }
    return key;
}

uint32_t hs_clock_put(struct hs_clocks *c, uint32_t process, uint32_t source, uint32_t kind)
{
    struct clock_key key = key_of(c->id, process, source, kind);
    uint32_t known = c->keys.count;
    uint32_t at = hs_intern_put(&c->keys, (struct hs_str){ (const char *)&key, sizeof(key) });

    if (at == HS_NO_ID || !HS_GROW(c->list, c->cap, at + 1u))
        return HS_NO_ID;
    if (c->keys.count > known)
        c->list[at] = (struct hs_host_clock){
            .scope = key.scope, .number = key.number, .kind = key.kind, .reference = at
        };
    c->count = c->keys.count;
    return at;
}

uint32_t hs_clock_find(const struct hs_clocks *clocks, uint32_t process, uint32_t source,
                       uint32_t kind)
{
    struct clock_key key = key_of(clocks->id, process, source, kind);

    return hs_intern_find(&clocks->keys, (struct hs_str){ (const char *)&key, sizeof(key) });
}

uint32_t hs_clock_kind_of_dump(const struct hs_job *job, const struct hs_dump *dump)
{
    return dump->speaker == HS_NO_ID ? HS_CLOCK_EPOCH : job->speakers[dump->speaker].clock;
}

enum hs_status hs_clocks_find(struct hs_clocks *clocks, const struct hs_alignment *al,
                              struct hs_err *err)
{
    struct hs_clock_finding f = { .clocks = clocks, .al = al };
    bool ok;

    hs_arena_init(&f.arena);
    ok = hs_clocks_sight(&f) && hs_clocks_narrow(&f);
    if (f.cap) /* else they lie in the arena */
        free(f.sightings);
    hs_arena_release(&f.arena);
    return ok ? HS_OK : hs_no_memory(err);
}

/* ---- asking ---- */

struct hs_moment hs_clock_moment(const struct hs_clocks *clocks, uint32_t clock,
                                 struct hs_stamp stamp)
{
    const struct hs_host_clock *c = clock == HS_NO_ID ? NULL : &clocks->list[clock];
    struct hs_moment m = { .frame = HS_NO_ID };

    if (!c || !hs_is_time(stamp.ns))
        return m;
    m.ns = hs_time_minus(stamp.ns, c->low / 2 + c->high / 2);
    m.low = hs_time_minus(stamp.ns, c->high);
    m.high = hs_time_minus(hs_stamp_latest(stamp.ns, stamp.clock), c->low);
    m.frame = c->reference;
    m.kind = clocks->list[c->reference].kind;
    return m;
}

static struct hs_moment moment_of(const struct hs_clocks *clocks, uint32_t event, int64_t ns)
{
    const struct hs_event *e = &clocks->id->job->events[event];
    struct hs_stamp stamp = { .ns = ns, .clock = e->clock };
    uint32_t clock =
        hs_clock_find(clocks, clocks->id->process_of_event[event], e->source, e->clock);

    return hs_clock_moment(clocks, clock, stamp);
}

struct hs_moment hs_clock_of_event(const struct hs_clocks *clocks, uint32_t event)
{
    return moment_of(clocks, event, clocks->id->job->events[event].time_ns);
}

struct hs_moment hs_clock_of_last_event(const struct hs_clocks *clocks, uint32_t event)
{
    return moment_of(clocks, event, clocks->id->job->events[event].last_time_ns);
}

struct hs_moment hs_clock_of_dump(const struct hs_clocks *clocks, uint32_t dump, int64_t ns)
{
    const struct hs_dump *d = &clocks->id->job->dumps[dump];
    struct hs_stamp stamp = { .ns = ns, .clock = hs_clock_kind_of_dump(clocks->id->job, d) };
    uint32_t clock =
        hs_clock_find(clocks, hs_identity_dump(clocks->id, dump), d->source, stamp.clock);

    return hs_clock_moment(clocks, clock, stamp);
}

int hs_moment_order(const struct hs_moment *a, const struct hs_moment *b)
{
    if (a->frame == HS_NO_ID || a->frame != b->frame)
        return 0;
    return a->high < b->low ? -1 : b->high < a->low ? 1 : 0;
}

bool hs_moment_comparable(const struct hs_moment *a, const struct hs_moment *b)
{
    return a->frame != HS_NO_ID && b->frame != HS_NO_ID && a->kind == b->kind;
}

bool hs_clock_offset(const struct hs_clocks *clocks, uint32_t a, uint32_t b, int64_t *low,
                     int64_t *high)
{
    const struct hs_host_clock *x = &clocks->list[a], *y = &clocks->list[b];

    if (x->reference != y->reference)
        return false;
    *low = hs_time_minus(x->low, y->high);
    *high = hs_time_minus(x->high, y->low);
    return true;
}
