/* clocks_internal.h - what the files behind clocks.h share; nobody else includes it. */
#ifndef HS_ANALYZER_CLOCKS_INTERNAL_H
#define HS_ANALYZER_CLOCKS_INTERNAL_H

#include "analyzer/clocks.h"
#include "base/limits.h"

#define HS_NEVER INT64_MIN
#define HS_FOREVER INT64_MAX

/*
 * An instant as a clock saw it: between these two readings. HS_NEVER or HS_FOREVER: it did not see
 * one of the ends.
 */
struct hs_sighting {
    uint32_t instant, clock;
    int64_t low, high;
};

struct hs_clock_finding {
    struct hs_clocks *clocks;
    const struct hs_alignment *al;
    struct hs_arena arena;
    struct hs_sighting *sightings; /* by instant, once sorted */
    uint32_t count, cap;
    uint32_t instants;
    uint32_t *first;  /* by instant: of its sightings; one more */
    uint32_t *member; /* by clock: union-find over clocks that share instants */
    bool *dropped;    /* by clock */
    uint32_t pair[2]; /* clocks that cannot both be right */
    uint32_t dropped_count;
};

/* clocks_ties.c: what was seen on several clocks, sorted by instant. */
bool hs_clocks_sight(struct hs_clock_finding *f);

/* clocks_narrow.c: clocks get references, and offsets against them. */
bool hs_clocks_narrow(struct hs_clock_finding *f);

/* The number of a clock, given now if it is new; HS_NO_ID without memory. */
uint32_t hs_clock_put(struct hs_clocks *clocks, uint32_t process, uint32_t source, uint32_t kind);

/* Of the stamps in a dump. */
uint32_t hs_clock_kind_of_dump(const struct hs_job *job, const struct hs_dump *dump);

/* Whether a stamp is a time. */
static inline bool hs_is_time(int64_t ns)
{
    return ns > 0 && ns <= HS_TIME_NS_MAX;
}

/* A stamp is cut off below what it shows. */
static inline int64_t hs_stamp_latest(int64_t ns, uint32_t clock)
{
    return ns + (clock & HS_CLOCK_FINE ? INT64_C(1000000) : INT64_C(1000000000));
}

/* HS_NEVER and HS_FOREVER stay what they are, and bounds that are unknown give unknown bounds. */
static inline int64_t hs_time_minus(int64_t a, int64_t b)
{
    int64_t result;

    if (a == HS_NEVER || b == HS_FOREVER)
        return HS_NEVER;
    if (a == HS_FOREVER || b == HS_NEVER)
        return HS_FOREVER;
    return __builtin_sub_overflow(a, b, &result) ? a < b ? HS_NEVER : HS_FOREVER : result;
}

#endif
