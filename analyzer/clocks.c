#include "analyzer/clocks.h"

#include <stdlib.h>

enum {
    WINDOW = 1024,    /* of each group so many calls, the latest, are looked at */
    ROUNDS_MAX = 64,  /* of narrowing: an interval that could be narrower still is true */
    DROPPED_MAX = 16, /* clocks found to contradict others, before all are given up */
    NS_PER_MS = 1000000,
};

#define NS_PER_S INT64_C(1000000000)
#define NEVER INT64_MIN
#define FOREVER INT64_MAX
/* Stamps beyond this (the year 2116) are no times, and sums of them could not be held. */
#define TIME_MAX (INT64_C(1) << 62)

/*
 * An instant as a clock saw it: between these two readings. NEVER or FOREVER: it did not see one
 * of the ends.
 */
struct sighting {
    uint32_t instant, clock;
    int64_t low, high;
};

struct finding {
    struct hs_clocks *clocks;
    const struct hs_alignment *al;
    struct hs_arena arena;
    struct sighting *sightings; /* by instant, once sorted */
    uint32_t count, cap;
    uint32_t instants;
    uint32_t *first;  /* by instant: of its sightings; one more */
    uint32_t *member; /* by clock: union-find over clocks that share instants */
    bool *dropped;    /* by clock */
    uint32_t pair[2]; /* clocks that cannot both be right */
    uint32_t dropped_count;
};

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

static uint32_t put_clock(struct hs_clocks *c, uint32_t process, uint32_t source, uint32_t kind)
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

/* ---- what was seen on two clocks ---- */

static bool is_time(int64_t ns)
{
    return ns > 0 && ns < TIME_MAX;
}

static bool put_sighting(struct finding *f, const struct sighting *s)
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

    return kind->proof == HS_PROOF_ALL && o->finished_us && is_time(o->created_ns) &&
           (o->flags & HS_OPERATION_STATE) == HS_STATE_COMPLETED && hs_op_seq(al, seat, op) > 0;
}

static struct window *find_windows(struct finding *f)
{
    const struct hs_alignment *al = f->al;
    struct window *windows = HS_NEW(&f->arena, struct window, al->group_count);

    for (uint32_t s = 0; windows && s < al->seat_count; s++) {
        for (uint32_t i = 0; i < hs_seat_dump(al, s)->operation_count; i++) {
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

static uint32_t kind_of_dump(const struct hs_job *job, const struct hs_dump *dump)
{
    return dump->speaker == HS_NO_ID ? HS_CLOCK_EPOCH : job->speakers[dump->speaker].clock;
}

static bool sight_calls(struct finding *f)
{
    const struct hs_alignment *al = f->al;
    struct window *windows = find_windows(f);

    for (uint32_t s = 0; windows && s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);
        uint32_t process = hs_identity_dump(f->clocks->id, al->seats[s].dump);
        uint32_t kind = kind_of_dump(al->job, dump);
        uint32_t clock = put_clock(f->clocks, process, dump->source, kind);

        if (clock == HS_NO_ID)
            return false;
        for (uint32_t i = 0; i < dump->operation_count; i++) {
            const struct hs_operation *op = &dump->operations[i];
            const struct window *w = &windows[al->positions[hs_op_position(al, s, i)].group];
            struct sighting at = { .clock = clock,
                                   .low = op->created_ns,
                                   .high = op->created_ns + op->finished_us * INT64_C(1000) };

            if (!ties_clocks(al, s, i) || hs_op_seq(al, s, i) < w->low)
                continue;
            at.instant = w->base + (hs_op_seq(al, s, i) - w->low);
            if (!put_sighting(f, &at))
                return false;
        }
    }
    return windows != NULL;
}

/* A stamp is cut off below what it shows. */
static int64_t latest_of(int64_t ns, uint32_t clock)
{
    return ns + (clock & HS_CLOCK_FINE ? NS_PER_MS : NS_PER_S);
}

/* Nobody's communicator is complete before all have begun it. */
static bool sight_comms(struct finding *f)
{
    const struct hs_identity *id = f->clocks->id;

    for (uint32_t i = 0; i < id->comms.member_count; i++) {
        const struct hs_comm_member *m = &id->comms.members[i];
        const struct hs_communicator *c = &id->job->communicators[m->row];
        uint32_t comm = id->comms.comm_of_row[m->row];
        struct sighting at = { .instant = f->instants + comm, .low = NEVER, .high = FOREVER };

        if (id->comms.list[comm].joined == HS_COMM_ALONE)
            continue;
        if (is_time(c->start_ns))
            at.low = c->start_ns;
        if (is_time(c->complete_ns))
            at.high = latest_of(c->complete_ns, c->clock);
        if (at.low == NEVER && at.high == FOREVER)
            continue;
        at.clock = put_clock(f->clocks, m->owner, c->source, c->clock);
        if (at.clock == HS_NO_ID || !put_sighting(f, &at))
            return false;
    }
    f->instants += id->comms.count;
    return true;
}

/* Nobody leaves the first barrier of the store before all have come to it. */
static bool sight_store_barriers(struct finding *f)
{
    const struct hs_identity *id = f->clocks->id;
    const struct hs_job *job = id->job;
    struct hs_intern keys;
    bool ok = true;

    hs_intern_init(&keys);
    for (uint32_t i = 0; ok && i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        struct sighting at = { .low = NEVER, .high = FOREVER };
        struct hs_str key = hs_job_arg(job, e->args, "key");
        uint32_t words[2] = { hs_identity_attempt(id, e->source, e->line), 0 }, barrier;

        if (!hs_str_is(hs_job_string(job, e->family), "STORE_BARRIER_DONE") || !key.p ||
            !is_time(e->time_ns) || e->count > 1)
            continue;
        words[1] = hs_intern_find(&job->strings, key);
        if (hs_job_arg(job, e->args, "done").p)
            at.high = latest_of(e->time_ns, e->clock);
        else
            at.low = e->time_ns;
        barrier = hs_intern_put(&keys, (struct hs_str){ (const char *)words, sizeof(words) });
        at.instant = f->instants + barrier;
        at.clock = put_clock(f->clocks, id->process_of_event[i], e->source, e->clock);
        ok = barrier != HS_NO_ID && at.clock != HS_NO_ID && put_sighting(f, &at);
    }
    f->instants += keys.count;
    hs_intern_release(&keys);
    return ok;
}

/* Clocks that no instant ties still have a number. */
static bool put_other_clocks(struct finding *f)
{
    const struct hs_identity *id = f->clocks->id;

    for (uint32_t i = 0; i < id->job->speaker_count; i++) {
        const struct hs_speaker *s = &id->job->speakers[i];

        for (uint32_t v = id->first_voice[i]; s->first_ns && v < id->first_voice[i + 1]; v++) {
            if (put_clock(f->clocks, id->voices[v].process, s->source, s->clock) == HS_NO_ID)
                return false;
        }
    }
    for (uint32_t i = 0; i < id->job->event_count; i++) {
        const struct hs_event *e = &id->job->events[i];

        if (e->time_ns &&
            put_clock(f->clocks, id->process_of_event[i], e->source, e->clock) == HS_NO_ID)
            return false;
    }
    return true;
}

/* ---- frames ---- */

static bool sort_sightings(struct finding *f)
{
    struct sighting *sorted = HS_NEW(&f->arena, struct sighting, f->count);

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

static uint32_t root_of(struct finding *f, uint32_t clock)
{
    while (f->member[clock] != clock) {
        f->member[clock] = f->member[f->member[clock]];
        clock = f->member[clock];
    }
    return clock;
}

/* Whether an instant was seen on more than one clock that is still believed. */
static bool is_shared(const struct finding *f, uint32_t instant)
{
    uint32_t one = HS_NO_ID;

    for (uint32_t i = f->first[instant]; i < f->first[instant + 1]; i++) {
        uint32_t clock = f->sightings[i].clock;

        if (f->dropped[clock])
            continue;
        if (one != HS_NO_ID && one != clock)
            return true;
        one = clock;
    }
    return false;
}

/* Clocks that instants tie have one reference: the one of them with most ties. */
static void frame_clocks(struct finding *f)
{
    struct hs_clocks *c = f->clocks;

    for (uint32_t i = 0; i < c->count; i++) {
        f->member[i] = i;
        c->list[i].ties = 0;
        c->list[i].reference = i;
        c->list[i].low = c->list[i].high = 0;
    }
    for (uint32_t k = 0; k < f->instants; k++) {
        uint32_t first = HS_NO_ID;

        for (uint32_t i = f->first[k]; is_shared(f, k) && i < f->first[k + 1]; i++) {
            uint32_t clock = f->sightings[i].clock;

            if (f->dropped[clock])
                continue;
            c->list[clock].ties++;
            first = first == HS_NO_ID ? root_of(f, clock) : first;
            f->member[root_of(f, clock)] = first;
        }
    }
    for (uint32_t i = 0; i < c->count; i++) {
        struct hs_host_clock *root = &c->list[root_of(f, i)];

        if (c->list[i].ties > c->list[root->reference].ties)
            root->reference = i;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t root = root_of(f, i);

        if (i != root)
            c->list[i].reference = c->list[root].reference;
    }
}

/* ---- narrowing ---- */

/* NEVER and FOREVER stay what they are, and bounds that are unknown give unknown bounds. */
static int64_t minus(int64_t a, int64_t b)
{
    int64_t result;

    if (a == NEVER || b == FOREVER)
        return NEVER;
    if (a == FOREVER || b == NEVER)
        return FOREVER;
    return __builtin_sub_overflow(a, b, &result) ? a < b ? NEVER : FOREVER : result;
}

/* When an instant was, on the reference, as far as offsets are known; and who says so. */
struct instant {
    int64_t low, high;
    uint32_t low_by, high_by;
};

static struct instant when(const struct finding *f, uint32_t k)
{
    struct instant t = { NEVER, FOREVER, HS_NO_ID, HS_NO_ID };

    for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++) {
        const struct sighting *s = &f->sightings[i];
        const struct hs_host_clock *c = &f->clocks->list[s->clock];
        int64_t low = minus(s->low, c->high), high = minus(s->high, c->low);

        if (f->dropped[s->clock])
            continue;
        if (low > t.low) {
            t.low = low;
            t.low_by = s->clock;
        }
        if (high < t.high) {
            t.high = high;
            t.high_by = s->clock;
        }
    }
    return t;
}

enum narrowing { NARROWED, SETTLED, CONTRADICTED };

static enum narrowing narrow_by(struct finding *f, uint32_t k)
{
    struct instant t = when(f, k);
    bool changed = false;

    if (t.low > t.high) {
        f->pair[0] = t.low_by;
        f->pair[1] = t.high_by;
        return CONTRADICTED;
    }
    for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++) {
        const struct sighting *s = &f->sightings[i];
        struct hs_host_clock *c = &f->clocks->list[s->clock];
        int64_t low, high;

        if (f->dropped[s->clock] || c->reference == s->clock)
            continue;
        low = minus(s->low, t.high);
        high = minus(s->high, t.low);
        changed = changed || low > c->low || high < c->high;
        c->low = low > c->low ? low : c->low;
        c->high = high < c->high ? high : c->high;
        if (c->low > c->high) {
            f->pair[0] = s->clock;
            f->pair[1] = t.high_by != s->clock ? t.high_by : t.low_by;
            return CONTRADICTED;
        }
    }
    return changed ? NARROWED : SETTLED;
}

static enum narrowing narrow(struct finding *f)
{
    struct hs_clocks *c = f->clocks;

    for (uint32_t i = 0; i < c->count; i++) {
        bool tied = c->list[i].reference != i;

        c->list[i].low = tied ? NEVER : 0;
        c->list[i].high = tied ? FOREVER : 0;
    }
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        bool changed = false;

        for (uint32_t k = 0; k < f->instants; k++) {
            enum narrowing n = narrow_by(f, k);

            if (n == CONTRADICTED)
                return n;
            changed = changed || n == NARROWED;
        }
        if (!changed)
            break;
    }
    return SETTLED;
}

static bool settles_without(struct finding *f, uint32_t clock)
{
    bool settled;

    f->dropped[clock] = true;
    frame_clocks(f);
    settled = narrow(f) != CONTRADICTED;
    f->dropped[clock] = false;
    return settled;
}

/* Of two clocks that contradict each other the one goes without which all is well. */
static void drop_one(struct finding *f)
{
    struct hs_host_clock *list = f->clocks->list;
    uint32_t a = f->pair[0], b = f->pair[1], worse;
    bool less_tied = list[a].ties != list[b].ties ? list[a].ties < list[b].ties : a > b;
    bool without_a = settles_without(f, a), without_b = settles_without(f, b);

    worse = without_a != without_b ? (without_a ? a : b) : less_tied ? a : b;
    f->dropped[worse] = true;
    f->dropped_count++;
    list[worse].contradicted = true;
}

/* A clock without an interval to both sides is tied to nothing. */
static void untie(struct hs_clocks *c, bool all)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct hs_host_clock *clock = &c->list[i];

        if (all || clock->low == NEVER || clock->high == FOREVER) {
            clock->contradicted = clock->contradicted || (all && clock->reference != i);
            clock->reference = i;
            clock->low = clock->high = 0;
        }
    }
}

static bool find(struct finding *f)
{
    struct hs_clocks *c = f->clocks;

    if ((f->al && !sight_calls(f)) || !sight_comms(f) || !sight_store_barriers(f) ||
        !put_other_clocks(f) || !sort_sightings(f))
        return false;
    f->member = HS_NEW(&f->arena, uint32_t, c->count);
    f->dropped = HS_NEW(&f->arena, bool, c->count);
    if (!f->member || !f->dropped)
        return false;
    frame_clocks(f);
    while (narrow(f) == CONTRADICTED && f->dropped_count < DROPPED_MAX) {
        drop_one(f);
        frame_clocks(f);
    }
    untie(c, f->dropped_count == DROPPED_MAX);
    return true;
}

enum hs_status hs_clocks_find(struct hs_clocks *clocks, const struct hs_alignment *al,
                              struct hs_err *err)
{
    struct finding f = { .clocks = clocks, .al = al };
    bool ok;

    hs_arena_init(&f.arena);
    ok = find(&f);
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

    if (!c || !is_time(stamp.ns))
        return m;
    m.ns = minus(stamp.ns, c->low + (c->high - c->low) / 2);
    m.low = minus(stamp.ns, c->high);
    m.high = minus(latest_of(stamp.ns, stamp.clock), c->low);
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
    struct hs_stamp stamp = { .ns = ns, .clock = kind_of_dump(clocks->id->job, d) };
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
    *low = minus(x->low, y->high);
    *high = minus(x->high, y->low);
    return true;
}
