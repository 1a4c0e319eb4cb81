/* plan_copy.h - texts, signatures and stacks of a job as those of a plan, each copied once. */
#ifndef HS_ANALYZER_PLAN_COPY_H
#define HS_ANALYZER_PLAN_COPY_H

#include "replay/plan.h"

struct hs_plan_copy {
    const struct hs_job *job;
    struct hs_plan *plan;
    struct hs_arena arena;
    uint32_t *strings, *signatures, *stacks; /* by id of the job: of the plan */
};

/* False without memory; hs_copy_release() in any case. */
bool hs_copy_init(struct hs_plan_copy *copy, const struct hs_job *job, struct hs_plan *plan);
void hs_copy_release(struct hs_plan_copy *copy);

/* HS_NO_ID for HS_NO_ID, and without memory. */
uint32_t hs_copy_string(struct hs_plan_copy *copy, uint32_t id);
uint32_t hs_copy_stack(struct hs_plan_copy *copy, uint32_t id);

/* HS_NO_ID without memory. The second is for a group whose members are not all in the plan. */
uint32_t hs_copy_signature(struct hs_plan_copy *copy, uint32_t id);
uint32_t hs_copy_signature_with(struct hs_plan_copy *copy, uint32_t id, uint32_t peer,
                                uint32_t root);

/* NCCL's rules, unless all that is known was made by a backend with rules of its own. */
void hs_copy_choose_rules(struct hs_plan *plan);

#endif
