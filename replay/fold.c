/* fold.c - many ranks to few: one of each kind. */
#include "replay/minimize.h"

#include "base/ranks.h"
#include "replay/select.h"

struct kind {
    uint32_t row;     /* the first that runs its program */
    uint32_t members; /* how many do */
    uint32_t kept;
};

struct folding {
    struct kind *kinds;
    uint32_t count;
    uint32_t *kind_of; /* by row */
    bool *keep;        /* by row */
};

/* Kinds by program, and what befell the record of a rank. */
static void find_kinds(const struct hs_plan *plan, struct folding *f)
{
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        uint32_t k = 0;

        while (k < f->count && (plan->ranks[f->kinds[k].row].program != plan->ranks[row].program ||
                                plan->ranks[f->kinds[k].row].flags != plan->ranks[row].flags))
            k++;
        if (k == f->count)
            f->kinds[f->count++] = (struct kind){ .row = row };
        f->kinds[k].members++;
        f->kind_of[row] = k;
    }
}

/* The kind that is represented worst: fewest kept for its size. */
static uint32_t neediest(const struct folding *f)
{
    uint32_t best = HS_NO_ID;

    for (uint32_t k = 0; k < f->count; k++) {
        const struct kind *kind = &f->kinds[k];

        if (kind->kept == kind->members)
            continue;
        if (best == HS_NO_ID || (uint64_t)kind->members * (f->kinds[best].kept + 1u) >
                                    (uint64_t)f->kinds[best].members * (kind->kept + 1u))
            best = k;
    }
    return best;
}

static void keep_next(const struct hs_plan *plan, struct folding *f, uint32_t k)
{
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        if (f->kind_of[row] == k && !f->keep[row]) {
            f->keep[row] = true;
            f->kinds[k].kept++;
            return;
        }
    }
}

/* Culprits, then one of each kind, then more of the kinds that have the fewest for their size. */
static void choose(const struct hs_plan *plan, struct folding *f, uint32_t ranks,
                   const uint32_t *culprits, uint32_t culprit_count)
{
    uint32_t kept = 0;

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        if (hs_u32_contains(culprits, culprit_count, plan->ranks[row].rank)) {
            f->keep[row] = true;
            f->kinds[f->kind_of[row]].kept++;
        }
    }
    for (uint32_t k = 0; k < f->count; k++) {
        if (f->kinds[k].kept == 0)
            keep_next(plan, f, k);
        kept += f->kinds[k].kept;
    }
    for (uint32_t k; kept < ranks && (k = neediest(f)) != HS_NO_ID; kept++)
        keep_next(plan, f, k);
}

enum hs_status hs_plan_fold(struct hs_plan *plan, uint32_t ranks, const uint32_t *culprits,
                            uint32_t culprit_count, struct hs_folded *out, struct hs_err *err)
{
    struct folding f = { .count = 0 };
    struct hs_selection what = { .ranks = NULL };
    struct hs_plan_size from = hs_plan_measure(plan);
    struct hs_arena arena;
    struct hs_plan part;
    enum hs_status status;

    hs_arena_init(&arena);
    hs_plan_init(&part);
    f.kinds = HS_NEW(&arena, struct kind, plan->rank_count + 1u);
    f.kind_of = HS_NEW(&arena, uint32_t, plan->rank_count + 1u);
    f.keep = HS_NEW(&arena, bool, plan->rank_count + 1u);
    what.ranks = f.keep;
    if (f.kinds && f.kind_of && f.keep) {
        find_kinds(plan, &f);
        choose(plan, &f, ranks, culprits, culprit_count);
        status = hs_plan_select(plan, &what, &part, err);
    } else {
        status = hs_no_memory(err);
    }
    hs_arena_release(&arena);
    if (status != HS_OK) {
        hs_plan_release(&part);
        return status;
    }
    hs_plan_release(plan);
    *plan = part;
    *out = (struct hs_folded){ .from = from, .to = hs_plan_measure(plan), .kinds = f.count };
    return HS_OK;
}
