/*
 * minimize.h - the smallest part of a plan that ends the same way, and one rank of each kind.
 *
 * What "the same way" means is the caller's: it runs and judges a plan. Nothing here depends on
 * chance or time.
 */
#ifndef HS_REPLAY_MINIMIZE_H
#define HS_REPLAY_MINIMIZE_H

#include "replay/plan.h"

/* Whether a plan still ends as the first one did. */
typedef enum hs_status hs_plan_same_fn(void *self, const struct hs_plan *plan, bool *same,
                                       struct hs_err *err);

struct hs_plan_size {
    uint32_t ranks, groups;
    uint64_t calls;
};

struct hs_minimized {
    struct hs_plan_size from, to;
    uint32_t runs;
    bool minimal; /* no rank, group or call can go: each was tried */
};

struct hs_plan_size hs_plan_measure(const struct hs_plan *plan);

/* Delta debugging over ranks, groups and calls; at most HS_MINIMIZE_RUNS runs. */
enum hs_status hs_plan_minimize(struct hs_plan *plan, hs_plan_same_fn *same, void *self,
                                struct hs_minimized *out, struct hs_err *err);

struct hs_folded {
    struct hs_plan_size from, to;
    uint32_t kinds;
};

/*
 * Keep `culprits` (sorted) and of each class of ranks that run the same program one, then more of
 * the largest classes up to `ranks`. Groups keep the members that are left.
 */
enum hs_status hs_plan_fold(struct hs_plan *plan, uint32_t ranks, const uint32_t *culprits,
                            uint32_t culprit_count, struct hs_folded *out, struct hs_err *err);

#endif
