#include "replay/plan.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

const char *const hs_reduction_names[HS_REDUCTIONS] = { "sum", "prod", "max", "min", "avg" };

void hs_plan_init(struct hs_plan *plan)
{
    *plan = (struct hs_plan){ .semantics = hs_semantics_find(HS_STR("nccl")) };
    hs_arena_init(&plan->arena);
    hs_intern_init(&plan->strings);
    hs_intern_init(&plan->signature_keys);
    hs_intern_init(&plan->stack_keys);
    hs_intern_init(&plan->frame_keys);
}

void hs_plan_release(struct hs_plan *plan)
{
    hs_intern_release(&plan->strings);
    hs_intern_release(&plan->signature_keys);
    hs_intern_release(&plan->stack_keys);
    hs_intern_release(&plan->frame_keys);
    free(plan->signatures);
    free(plan->groups);
    free(plan->programs);
    free(plan->ranks);
    hs_arena_release(&plan->arena);
    hs_plan_init(plan);
}

static int by_rank(const void *a, const void *b)
{
    const struct hs_plan_rank *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct hs_plan_rank *hs_plan_find(const struct hs_plan *plan, uint32_t rank)
{
    struct hs_plan_rank key = { .rank = rank };

    return plan->rank_count ? bsearch(&key, plan->ranks, plan->rank_count, sizeof(key), by_rank)
                            : NULL;
}

uint32_t hs_plan_index_in(const struct hs_plan_group *group, uint32_t rank)
{
    uint32_t low = 0, high = group->size;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if ((group->order ? (uint32_t)(group->order[mid] >> 32) : group->ranks[mid]) < rank)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < group->size && group->order)
        return group->order[low] >> 32 == rank ? (uint32_t)group->order[low] : HS_NO_ID;
    return low < group->size && group->ranks[low] == rank ? low : HS_NO_ID;
}

/* ---- signatures and stacks ---- */

static bool put_tensors(struct hs_buf *key, const struct hs_tensors *t)
{
    uint32_t head[3] = { t->tensors, t->size_count, t->dtype_count };

    hs_buf_put(key, (struct hs_str){ .p = (const char *)head, .n = sizeof(head) });
    hs_buf_put(key, (struct hs_str){ .p = (const char *)t->sizes,
                                     .n = t->size_count * sizeof(*t->sizes) });
    hs_buf_put(key, (struct hs_str){ .p = (const char *)t->dtypes,
                                     .n = t->dtype_count * sizeof(*t->dtypes) });
    return !key->failed;
}

/* Elements over all tensors; a product beyond 64 bits saturates. */
static uint64_t count_elements(const struct hs_tensors *t)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->size_count;) {
        uint64_t product = 1;

        for (int64_t dims = t->sizes[i++]; dims > 0 && i < t->size_count; dims--, i++) {
            if (__builtin_mul_overflow(product, (uint64_t)t->sizes[i], &product))
                product = UINT64_MAX;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return UINT64_MAX;
    }
    return sum;
}

static bool copy_tensors(struct hs_arena *arena, const struct hs_tensors *t, struct hs_tensors *out)
{
    int64_t *sizes = HS_NEW(arena, int64_t, t->size_count + 1u);
    uint32_t *dtypes = HS_NEW(arena, uint32_t, t->dtype_count + 1u);

    *out = *t;
    if (!sizes || !dtypes)
        return false;
    if (t->size_count)
        memcpy(sizes, t->sizes, t->size_count * sizeof(*sizes));
    if (t->dtype_count)
        memcpy(dtypes, t->dtypes, t->dtype_count * sizeof(*dtypes));
    out->sizes = sizes;
    out->dtypes = dtypes;
    return true;
}

uint32_t hs_plan_put_signature(struct hs_plan *plan, uint32_t op, uint32_t peer, uint32_t root,
                               const struct hs_tensors *in, const struct hs_tensors *out)
{
    uint32_t head[3] = { op, peer, root }, known = plan->signature_keys.count, id = HS_NO_ID;
    struct hs_plan_signature *sig;
    struct hs_buf key;

    hs_buf_init(&key);
    hs_buf_put(&key, (struct hs_str){ .p = (const char *)head, .n = sizeof(head) });
    if (put_tensors(&key, in) && put_tensors(&key, out))
        id = hs_intern_put(&plan->signature_keys, hs_buf_str(&key));
    hs_buf_release(&key);
    if (id == HS_NO_ID || id < known)
        return id;
    if (!HS_GROW(plan->signatures, plan->signature_cap, id + 1u))
        return HS_NO_ID;
    sig = &plan->signatures[id];
    *sig = (struct hs_plan_signature){ .op = op, .peer = peer, .root = root };
    sig->kind = hs_operation_kind_of(hs_plan_string(plan, op));
    if (!copy_tensors(&plan->arena, in, &sig->in) || !copy_tensors(&plan->arena, out, &sig->out))
        return HS_NO_ID;
    sig->numel_in = count_elements(in);
    sig->numel_out = count_elements(out);
    return id;
}

uint32_t hs_plan_put_stack(struct hs_plan *plan, const struct hs_frame *frames, uint32_t count)
{
    return hs_intern_put(&plan->stack_keys, (struct hs_str){ .p = (const char *)frames,
                                                             .n = count * sizeof(*frames) });
}

const struct hs_frame *hs_plan_stack(const struct hs_plan *plan, uint32_t id, uint32_t *count)
{
    struct hs_str bytes =
        id == HS_NO_ID ? (struct hs_str){ .n = 0 } : hs_intern_get(&plan->stack_keys, id);

    *count = (uint32_t)(bytes.n / sizeof(struct hs_frame));
    return (const struct hs_frame *)(const void *)bytes.p;
}

/* ---- rows ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Ranks in another order than theirs get an index, so that each is found at once. */
static bool index_group(struct hs_plan *plan, struct hs_plan_group *g)
{
    bool ascends = true;

    for (uint32_t i = 1; i < g->size; i++)
        ascends = ascends && g->ranks[i - 1] < g->ranks[i];
    if (ascends)
        return true;
    g->order = HS_NEW(&plan->arena, uint64_t, g->size);
    for (uint32_t i = 0; g->order && i < g->size; i++)
        g->order[i] = (uint64_t)g->ranks[i] << 32 | i;
    if (g->order)
        qsort(g->order, g->size, sizeof(*g->order), by_value);
    return g->order != NULL;
}

struct hs_plan_group *hs_plan_add_group(struct hs_plan *plan, const uint32_t *ranks, uint32_t size)
{
    struct hs_plan_group *g;

    if (!HS_GROW(plan->groups, plan->group_cap, plan->group_count + 1u))
        return NULL;
    g = &plan->groups[plan->group_count];
    *g = (struct hs_plan_group){ .name = HS_NO_ID,
                                 .desc = HS_NO_ID,
                                 .backend = HS_NO_ID,
                                 .size = size,
                                 .ranks = HS_NEW(&plan->arena, uint32_t, size + 1u) };
    if (!g->ranks)
        return NULL;
    if (size)
        memcpy(g->ranks, ranks, size * sizeof(*ranks));
    if (!index_group(plan, g))
        return NULL;
    plan->group_count++;
    return g;
}

struct hs_plan_rank *hs_plan_add_rank(struct hs_plan *plan, uint32_t rank, uint32_t slots)
{
    struct hs_plan_rank *row;

    if (!HS_GROW(plan->ranks, plan->rank_cap, plan->rank_count + 1u))
        return NULL;
    row = &plan->ranks[plan->rank_count];
    *row = (struct hs_plan_rank){ .rank = rank,
                                  .slot_count = slots,
                                  .groups = HS_NEW(&plan->arena, uint32_t, slots + 1u),
                                  .start = HS_NEW(&plan->arena, uint32_t, slots + 1u),
                                  .until = HS_NEW(&plan->arena, uint32_t, slots + 1u) };
    if (!row->groups || !row->start || !row->until)
        return NULL;
    plan->rank_count++;
    return row;
}

uint32_t hs_plan_add_program(struct hs_plan *plan, uint32_t calls)
{
    struct hs_program *p;

    if (!HS_GROW(plan->programs, plan->program_cap, plan->program_count + 1u))
        return HS_NO_ID;
    p = &plan->programs[plan->program_count];
    *p = (struct hs_program){ .calls = HS_NEW(&plan->arena, struct hs_plan_call, calls + 1u),
                              .call_count = calls };
    return p->calls ? plan->program_count++ : HS_NO_ID;
}

struct hs_program *hs_plan_own_program(struct hs_plan *plan, struct hs_plan_rank *row,
                                       uint32_t calls)
{
    uint32_t id = hs_plan_add_program(plan, calls);
    const struct hs_program *old;

    if (id == HS_NO_ID)
        return NULL;
    old = &plan->programs[row->program];
    memcpy(plan->programs[id].calls, old->calls,
           (old->call_count < calls ? old->call_count : calls) * sizeof(*old->calls));
    row->program = id;
    return &plan->programs[id];
}

/* ---- sharing ---- */

/* Numbers of batches by their order, so that equal programs have equal bytes. */
static void number_batches(struct hs_program *p)
{
    uint32_t number = 0;

    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        end = hs_unit_end(p, i);
        number += p->calls[i].batch != 0;
        for (uint32_t k = i; k < end; k++)
            p->calls[k].batch = p->calls[i].batch ? number : 0;
    }
}

void hs_plan_sort(struct hs_plan *plan)
{
    if (plan->rank_count)
        qsort(plan->ranks, plan->rank_count, sizeof(*plan->ranks), by_rank);
}

bool hs_plan_share(struct hs_plan *plan)
{
    uint32_t *became = malloc((plan->program_count + 1u) * sizeof(*became)), kept = 0;
    struct hs_intern contents;

    if (!became)
        return false;
    memset(became, 0xff, (plan->program_count + 1u) * sizeof(*became));
    hs_intern_init(&contents);
    for (uint32_t i = 0; i < plan->rank_count; i++) {
        uint32_t *id = &became[plan->ranks[i].program];
        struct hs_program *p = &plan->programs[plan->ranks[i].program];

        if (*id == HS_NO_ID) {
            number_batches(p);
            *id =
                hs_intern_put(&contents, (struct hs_str){ .p = (const char *)p->calls,
                                                          .n = p->call_count * sizeof(*p->calls) });
        }
        if (*id == HS_NO_ID)
            break;
        plan->ranks[i].program = *id;
    }
    kept = contents.count;
    for (uint32_t i = 0; i < kept; i++) {
        struct hs_str bytes = hs_intern_get(&contents, i);

        /* the interned bytes are a copy: the plan's own arena keeps them from here on */
        plan->programs[i].calls =
            HS_NEW(&plan->arena, struct hs_plan_call, bytes.n / sizeof(struct hs_plan_call) + 1);
        plan->programs[i].call_count = (uint32_t)(bytes.n / sizeof(struct hs_plan_call));
        if (!plan->programs[i].calls)
            kept = 0;
        else if (bytes.n)
            memcpy(plan->programs[i].calls, bytes.p, bytes.n);
    }
    plan->program_count = kept;
    hs_intern_release(&contents);
    free(became);
    return kept > 0 || plan->rank_count == 0;
}

/* ---- what makes sense ---- */

static enum hs_status check_group(const struct hs_plan *plan, uint32_t g, struct hs_err *err)
{
    const struct hs_plan_group *group = &plan->groups[g];

    for (uint32_t i = 0; i < group->size; i++) {
        if (!hs_plan_find(plan, group->ranks[i]))
            return hs_fail(err, HS_EUSAGE, "group %u has rank %u, which has no row in \"ranks\"", g,
                           group->ranks[i]);
        if (hs_plan_index_in(group, group->ranks[i]) != i)
            return hs_fail(err, HS_EUSAGE, "group %u has rank %u twice", g, group->ranks[i]);
    }
    return HS_OK;
}

static enum hs_status check_calls(const struct hs_plan *plan, const struct hs_plan_rank *row,
                                  uint64_t *jumps, struct hs_err *err)
{
    const struct hs_program *p = &plan->programs[row->program];

    for (uint32_t i = 0; i < p->call_count; i++) {
        const struct hs_plan_call *call = &p->calls[i];
        const struct hs_plan_signature *sig = &plan->signatures[call->signature];
        const struct hs_plan_group *group;

        if (call->slot >= row->slot_count)
            return hs_fail(err, HS_EUSAGE,
                           "program %u, call %u: group %u, but rank %u lists %u groups",
                           row->program, i, call->slot, row->rank, row->slot_count);
        group = &plan->groups[row->groups[call->slot]];
        *jumps += call->skip;
        if (hs_plan_is_pair(sig) &&
            (sig->peer >= group->size || group->ranks[sig->peer] == row->rank))
            return hs_fail(err, HS_EUSAGE,
                           "program %u, call %u: rank %u has no peer %u in a group of %u",
                           row->program, i, row->rank, sig->peer, group->size);
    }
    return HS_OK;
}

/* `met` tells by group which rank listed it last, as its row + 1. */
static enum hs_status check_rank(const struct hs_plan *plan, const struct hs_plan_rank *row,
                                 uint32_t *met, uint64_t *jumps, struct hs_err *err)
{
    uint32_t number = (uint32_t)(row - plan->ranks) + 1;

    for (uint32_t s = 0; s < row->slot_count; s++) {
        const struct hs_plan_group *group = &plan->groups[row->groups[s]];

        if (hs_plan_index_in(group, row->rank) == HS_NO_ID)
            return hs_fail(err, HS_EUSAGE, "rank %u is no member of its group %u", row->rank,
                           row->groups[s]);
        if (row->until[s] > row->start[s])
            *jumps += row->until[s] - row->start[s];
        if (met[row->groups[s]] == number)
            return hs_fail(err, HS_EUSAGE, "rank %u lists group %u twice", row->rank,
                           row->groups[s]);
        met[row->groups[s]] = number;
    }
    return check_calls(plan, row, jumps, err);
}

/* The rest of hs_plan_check(); `met` is by group. */
static enum hs_status check_rows(const struct hs_plan *plan, uint32_t *met, struct hs_err *err)
{
    enum hs_status status = HS_OK;
    uint64_t jumps = 0;

    for (uint32_t i = 1; status == HS_OK && i < plan->rank_count; i++) {
        if (plan->ranks[i].rank == plan->ranks[i - 1].rank)
            status =
                hs_fail(err, HS_EUSAGE, "rank %u stands twice in \"ranks\"", plan->ranks[i].rank);
    }
    for (uint32_t g = 0; status == HS_OK && g < plan->group_count; g++)
        status = check_group(plan, g, err);
    for (uint32_t i = 0; status == HS_OK && i < plan->rank_count; i++)
        status = check_rank(plan, &plan->ranks[i], met, &jumps, err);
    if (status == HS_OK && jumps > HS_PLAN_JUMPS_MAX)
        return hs_fail(err, HS_EUSAGE, "\"skip\" and \"until\" pass over more than %u calls",
                       HS_PLAN_JUMPS_MAX);
    return status;
}

enum hs_status hs_plan_check(const struct hs_plan *plan, struct hs_err *err)
{
    uint32_t *met = calloc(plan->group_count + 1u, sizeof(*met));
    enum hs_status status;

    if (!met)
        return hs_no_memory(err);
    status = check_rows(plan, met, err);
    free(met);
    return status;
}

uint64_t hs_plan_calls(const struct hs_plan *plan)
{
    uint64_t calls = 0;

    for (uint32_t i = 0; i < plan->rank_count; i++)
        calls += plan->programs[plan->ranks[i].program].call_count;
    return calls;
}
