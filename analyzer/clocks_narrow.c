/*
 * clocks_narrow.c - offsets of clocks against a reference, from the instants that they saw.
 *
 * What is known of offsets bounds when an instant was; that bounds the offset of each clock that
 * saw it: and so on, until nothing changes. An instant stands between all that saw it, so a round
 * is linear in what was seen, whatever number of clocks shared an instant.
 */
#include "analyzer/clocks_internal.h"

enum {
    ROUNDS_MAX = 64,  /* of narrowing: an interval that could be narrower still is true */
    DROPPED_MAX = 16, /* clocks found to contradict others, before all are given up */
};

/* ---- frames ---- */

static uint32_t root_of(struct hs_clock_finding *f, uint32_t clock)
{
    while (f->member[clock] != clock) {
        f->member[clock] = f->member[f->member[clock]];
        clock = f->member[clock];
    }
    return clock;
}

/* Whether an instant was seen on more than one clock that is still believed. */
static bool is_shared(const struct hs_clock_finding *f, uint32_t instant)
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
static void frame_clocks(struct hs_clock_finding *f)
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
        bool shared = is_shared(f, k);

        for (uint32_t i = f->first[k]; shared && i < f->first[k + 1]; i++) {
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

/* When an instant was, on the reference, as far as offsets are known; and who says so. */
struct instant {
    int64_t low, high;
    uint32_t low_by, high_by;
};

static struct instant when(const struct hs_clock_finding *f, uint32_t k)
{
    struct instant t = { HS_NEVER, HS_FOREVER, HS_NO_ID, HS_NO_ID };

    for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++) {
        const struct hs_sighting *s = &f->sightings[i];
        const struct hs_host_clock *c = &f->clocks->list[s->clock];
        int64_t low = hs_time_minus(s->low, c->high), high = hs_time_minus(s->high, c->low);

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

static enum narrowing narrow_by(struct hs_clock_finding *f, uint32_t k)
{
    struct instant t = when(f, k);
    bool changed = false;

    if (t.low > t.high) {
        f->pair[0] = t.low_by;
        f->pair[1] = t.high_by;
        return CONTRADICTED;
    }
    for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++) {
        const struct hs_sighting *s = &f->sightings[i];
        struct hs_host_clock *c = &f->clocks->list[s->clock];
        int64_t low, high;

        if (f->dropped[s->clock] || c->reference == s->clock)
            continue;
        low = hs_time_minus(s->low, t.high);
        high = hs_time_minus(s->high, t.low);
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

static enum narrowing narrow(struct hs_clock_finding *f)
{
    struct hs_clocks *c = f->clocks;

    for (uint32_t i = 0; i < c->count; i++) {
        bool tied = c->list[i].reference != i;

        c->list[i].low = tied ? HS_NEVER : 0;
        c->list[i].high = tied ? HS_FOREVER : 0;
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

static bool settles_without(struct hs_clock_finding *f, uint32_t clock)
{
    bool settled;

    f->dropped[clock] = true;
    frame_clocks(f);
    settled = narrow(f) != CONTRADICTED;
    f->dropped[clock] = false;
    return settled;
}

/* Of two clocks that contradict each other the one goes without which all is well. */
static void drop_one(struct hs_clock_finding *f)
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

        if (all || clock->low == HS_NEVER || clock->high == HS_FOREVER) {
            clock->contradicted = clock->contradicted || (all && clock->reference != i);
            clock->reference = i;
            clock->low = clock->high = 0;
        }
    }
}

bool hs_clocks_narrow(struct hs_clock_finding *f)
{
    struct hs_clocks *c = f->clocks;

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
