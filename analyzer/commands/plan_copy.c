#include "analyzer/commands/plan_copy.h"

static uint32_t *nothing_yet(struct hs_plan_copy *c, uint32_t count)
{
    uint32_t *ids = HS_NEW(&c->arena, uint32_t, count + 1u);

    if (ids)
        memset(ids, 0xff, count * sizeof(*ids));
    return ids;
}

bool hs_copy_init(struct hs_plan_copy *c, const struct hs_job *job, struct hs_plan *plan)
{
    *c = (struct hs_plan_copy){ .job = job, .plan = plan };
    hs_arena_init(&c->arena);
    c->strings = nothing_yet(c, job->strings.count);
    c->signatures = nothing_yet(c, job->signatures_keys.count);
    c->stacks = nothing_yet(c, job->stacks_keys.count);
    return c->strings && c->signatures && c->stacks;
}

void hs_copy_release(struct hs_plan_copy *c)
{
    hs_arena_release(&c->arena);
}

uint32_t hs_copy_string(struct hs_plan_copy *c, uint32_t id)
{
    if (id == HS_NO_ID)
        return HS_NO_ID;
    if (c->strings[id] == HS_NO_ID)
        c->strings[id] = hs_intern_put(&c->plan->strings, hs_job_string(c->job, id));
    return c->strings[id];
}

/* One side of a signature's key (schema/job.c): tensors, sizes as two words each, types. */
static const uint32_t *read_side(struct hs_plan_copy *c, const uint32_t *at, struct hs_tensors *out)
{
    int64_t *sizes;
    uint32_t *dtypes;

    out->tensors = *at++;
    out->size_count = *at++;
    sizes = HS_NEW(&c->arena, int64_t, out->size_count + 1u);
    for (uint32_t i = 0; i < out->size_count; i++, at += 2) {
        if (sizes)
            sizes[i] = (int64_t)((uint64_t)at[0] | (uint64_t)at[1] << 32);
    }
    out->dtype_count = *at++;
    dtypes = HS_NEW(&c->arena, uint32_t, out->dtype_count + 1u);
    for (uint32_t i = 0; i < out->dtype_count; i++, at++) {
        if (dtypes)
            dtypes[i] = hs_copy_string(c, *at);
    }
    out->sizes = sizes;
    out->dtypes = dtypes;
    return sizes && dtypes ? at : NULL;
}

uint32_t hs_copy_signature_with(struct hs_plan_copy *c, uint32_t id, uint32_t peer, uint32_t root)
{
    const struct hs_signature *sig = &c->job->signatures[id];
    const uint32_t *key = (const uint32_t *)(const void *)c->job->signatures_keys.items[id].p;
    struct hs_str op = hs_job_string(c->job, sig->bare);
    struct hs_tensors in, out;
    uint32_t name;

    if (sig->self != HS_NO_ID)
        op.n = 4; /* "send" or "recv" */
    name = hs_intern_put(&c->plan->strings, op);
    key = read_side(c, key + 2, &in);
    if (name == HS_NO_ID || !key || !read_side(c, key, &out))
        return HS_NO_ID;
    return hs_plan_put_signature(c->plan, name, peer, root, &in, &out);
}

uint32_t hs_copy_signature(struct hs_plan_copy *c, uint32_t id)
{
    const struct hs_signature *sig = &c->job->signatures[id];

    if (c->signatures[id] == HS_NO_ID)
        c->signatures[id] = hs_copy_signature_with(c, id, sig->peer, sig->root);
    return c->signatures[id];
}

uint32_t hs_copy_stack(struct hs_plan_copy *c, uint32_t id)
{
    uint32_t count;
    const uint32_t *from;
    struct hs_frame *frames;

    if (id == HS_NO_ID || c->stacks[id] != HS_NO_ID)
        return id == HS_NO_ID ? HS_NO_ID : c->stacks[id];
    from = hs_job_stack(c->job, id, &count);
    frames = HS_NEW(&c->arena, struct hs_frame, count + 1u);
    for (uint32_t i = 0; frames && i < count; i++) {
        frames[i] = *hs_job_frame(c->job, from[i]);
        frames[i].function = hs_copy_string(c, frames[i].function);
        frames[i].file = hs_copy_string(c, frames[i].file);
    }
    if (frames)
        c->stacks[id] = hs_plan_put_stack(c->plan, frames, count);
    return c->stacks[id];
}

void hs_copy_choose_rules(struct hs_plan *plan)
{
    const struct hs_semantics *found = NULL;

    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct hs_semantics *of;

        if (plan->groups[g].backend == HS_NO_ID)
            continue;
        of = hs_semantics_of_backend(hs_plan_string(plan, plan->groups[g].backend));
        if (found && found != of)
            return;
        found = of;
    }
    plan->semantics = found ? found : plan->semantics;
}
