/* line_sides.h - what ranks call at one place of a group, side by side: who differs from most. */
#ifndef HS_ANALYZER_LINE_SIDES_H
#define HS_ANALYZER_LINE_SIDES_H

#include "base/arena.h"

/* A rank's call, as a line tells it. */
struct hs_side_view {
    uint64_t place; /* of the rank in its group */
    uint32_t event;
    struct hs_str op, shape, dtype; /* p NULL: not said */
};

struct hs_sides {
    struct hs_arena *arena;
    struct hs_side_view *views; /* one per place: the first that was added */
    uint32_t count, cap;
};

bool hs_sides_add(struct hs_sides *sides, const struct hs_side_view *view);

/* Whether any two differ. */
bool hs_sides_differ(const struct hs_sides *sides);

/*
 * The code of the difference: another operation, or another count and another type together, is
 * another call site; then the size; then the type.
 */
const char *hs_sides_code(const struct hs_sides *sides);

/* Places that differ from what more than half of all call, sorted; none when there is no such
 * majority. NULL without memory. */
uint32_t *hs_sides_odd(const struct hs_sides *sides, uint32_t *count);

/* "rank 1: ALLREDUCE [25] Float; rank 0: BROADCAST [1] Long": one example of each side. */
struct hs_str hs_sides_text(const struct hs_sides *sides);

#endif
