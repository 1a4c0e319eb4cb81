/* select.h - a part of a plan as a plan: fewer ranks, groups, calls. */
#ifndef HS_REPLAY_SELECT_H
#define HS_REPLAY_SELECT_H

#include "replay/dry.h"

enum hs_drop {
    HS_KEEP,
    HS_DROP_PASSED,  /* the rank has it behind it: later calls keep their numbers */
    HS_DROP_SKIPPED, /* the rank never makes it: later calls move up */
};

/* NULL: all are kept. `drop` is by call as in hs_dry: of a batch, its first call's counts. */
struct hs_selection {
    const bool *ranks;   /* by row */
    const bool *groups;  /* by group */
    const uint8_t *drop; /* enum hs_drop */
};

/* Exchanges with ranks that go, go too. `out` is initialised; equal programs are shared. */
enum hs_status hs_plan_select(const struct hs_plan *plan, const struct hs_selection *selection,
                              struct hs_plan *out, struct hs_err *err);

/* Only these ranks (sorted; NULL: all) and groups (names or descriptions, separated by commas;
 * NULL: all). HS_EUSAGE when one is not there. */
enum hs_status hs_plan_restrict(struct hs_plan *plan, const uint32_t *ranks, uint32_t rank_count,
                                const char *groups, struct hs_err *err);

/* The group that a user calls `name`: by name, description, or "description(name)". HS_NO_ID when
 * there is none; of several the first. `row` NULL: of any rank. */
uint32_t hs_plan_group_called(const struct hs_plan *plan, const struct hs_plan_rank *row,
                              struct hs_str name);

#endif
