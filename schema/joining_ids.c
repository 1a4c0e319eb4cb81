/* joining_ids.c - texts, lists, stacks and signatures of the parts get the numbers of the whole. */
#include "schema/joining.h"

static uint32_t *nothing_yet(struct hs_arena *arena, uint32_t count)
{
    uint32_t *ids = HS_NEW(arena, uint32_t, count);

    if (ids)
        memset(ids, 0xff, count * sizeof(*ids));
    return ids;
}

uint32_t hs_join_string(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = id == HS_NO_ID ? NULL : &j->ids[part].strings[id];

    if (to && *to == HS_NO_ID)
        *to = hs_intern_put(&j->out->strings, hs_intern_get(&j->parts[part].strings, id));
    return to ? *to : HS_NO_ID;
}

uint32_t hs_join_list(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = id == HS_NO_ID ? NULL : &j->ids[part].lists[id];

    if (to && *to == HS_NO_ID)
        *to = hs_intern_put(&j->out->lists, hs_intern_get(&j->parts[part].lists, id));
    return to ? *to : HS_NO_ID;
}

static uint32_t frame_of(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = &j->ids[part].frames[id];

    if (*to == HS_NO_ID) {
        struct hs_frame frame = *hs_job_frame(&j->parts[part], id);

        frame.function = hs_join_string(j, part, frame.function);
        frame.file = hs_join_string(j, part, frame.file);
        *to = hs_job_put_frame(j->out, &frame);
    }
    return *to;
}

uint32_t hs_join_stack(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = id == HS_NO_ID ? NULL : &j->ids[part].stacks[id];

    if (to && *to == HS_NO_ID) {
        uint32_t count;
        const uint32_t *frames = hs_job_stack(&j->parts[part], id, &count);
        uint32_t *renamed = HS_NEW(&j->scratch, uint32_t, count);

        if (!renamed)
            return HS_NO_ID;
        for (uint32_t i = 0; i < count; i++)
            renamed[i] = frame_of(j, part, frames[i]);
        *to = hs_job_put_stack(j->out, renamed, count);
        hs_arena_reset(&j->scratch);
    }
    return to ? *to : HS_NO_ID;
}

uint32_t hs_join_args(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = id == HS_NO_ID ? NULL : &j->ids[part].args[id];

    if (to && *to == HS_NO_ID) {
        uint32_t count;
        const uint32_t *strings = hs_job_args(&j->parts[part], id, &count);
        uint32_t *renamed = HS_NEW(&j->scratch, uint32_t, count);

        if (!renamed)
            return HS_NO_ID;
        for (uint32_t i = 0; i < count; i++)
            renamed[i] = hs_join_string(j, part, strings[i]);
        *to = hs_job_put_args(j->out, renamed, count);
        hs_arena_reset(&j->scratch);
    }
    return to ? *to : HS_NO_ID;
}

/* Read one side of a signature's key (job.c) back into tensors, strings renamed. */
static const uint32_t *tensors_of(struct joining *j, uint32_t part, const uint32_t *at,
                                  struct hs_tensors *out)
{
    int64_t *sizes;
    uint32_t *dtypes;

    out->tensors = *at++;
    out->size_count = *at++;
    sizes = HS_NEW(&j->scratch, int64_t, out->size_count);
    for (uint32_t i = 0; i < out->size_count; i++, at += 2) {
        if (sizes)
            sizes[i] = (int64_t)((uint64_t)at[0] | (uint64_t)at[1] << 32);
    }
    out->dtype_count = *at++;
    dtypes = HS_NEW(&j->scratch, uint32_t, out->dtype_count);
    for (uint32_t i = 0; i < out->dtype_count; i++, at++) {
        if (dtypes)
            dtypes[i] = hs_join_string(j, part, *at);
    }
    out->sizes = sizes;
    out->dtypes = dtypes;
    return sizes && dtypes ? at : NULL;
}

uint32_t hs_join_signature(struct joining *j, uint32_t part, uint32_t id)
{
    uint32_t *to = &j->ids[part].signatures[id];

    if (*to == HS_NO_ID) {
        const struct hs_str bytes = j->parts[part].signatures_keys.items[id];
        const uint32_t *key = (const uint32_t *)(const void *)bytes.p;
        struct hs_tensors in, out;
        const uint32_t *rest = tensors_of(j, part, key + 2, &in);

        if (!rest || !tensors_of(j, part, rest, &out))
            return HS_NO_ID;
        *to = hs_job_put_signature(j->out, hs_join_string(j, part, key[0]), key[1], &in, &out);
        hs_arena_reset(&j->scratch);
    }
    return *to;
}

bool hs_join_begin(struct joining *j, uint32_t count, struct hs_arena *arena)
{
    j->ids = HS_NEW(arena, struct renumbering, count);
    for (uint32_t i = 0; j->ids && i < count; i++) {
        struct renumbering *ids = &j->ids[i];

        ids->strings = nothing_yet(arena, j->parts[i].strings.count);
        ids->lists = nothing_yet(arena, j->parts[i].lists.count);
        ids->signatures = nothing_yet(arena, j->parts[i].signatures_keys.count);
        ids->frames = nothing_yet(arena, j->parts[i].frames_keys.count);
        ids->stacks = nothing_yet(arena, j->parts[i].stacks_keys.count);
        ids->args = nothing_yet(arena, j->parts[i].args_keys.count);
        if (!hs_join_index_lines(ids, &j->parts[i], arena) || !ids->args)
            return false;
        if (!ids->strings || !ids->lists || !ids->signatures || !ids->frames || !ids->stacks)
            return false;
    }
    return j->ids != NULL;
}
