/* timings.c - how long calls took, by kind: the figures that nccl-tests prints. */
#include "replay/nccl/report.h"

#include <stdlib.h>

struct kind_key {
    uint32_t op, ranks, dtype, parts;
    uint64_t count;
};

struct sample {
    uint32_t kind;
    float us;
};

struct sampling {
    const struct hs_world *w;
    float *best;    /* by ref: of the member that came last */
    uint32_t *call; /* by ref: a call of it */
    struct hs_intern kinds;
    struct hs_timing *rows;
    struct sample *samples;
    uint32_t count;
};

static void take_row(struct sampling *s, uint32_t row)
{
    const struct hs_dry *dry = s->w->script->dry;
    const struct hs_plan *plan = dry->plan;
    const struct hs_program *p = &plan->programs[plan->ranks[row].program];

    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        uint64_t at = dry->first[row] + i;
        uint32_t ref = dry->ref[at];
        float us = s->w->took_us[at];

        if (us <= 0 || s->w->states[at] != HS_DRY_FINISHED)
            continue;
        if (s->call[ref] == HS_NO_ID || us < s->best[ref]) {
            s->best[ref] = us;
            s->call[ref] = (uint32_t)at;
        }
    }
}

/* The row of a meeting's kind, new or known. */
static uint32_t kind_of(struct sampling *s, uint32_t call)
{
    const struct hs_plan *plan = s->w->script->plan;
    uint32_t row = hs_script_row(s->w->script->dry, call);
    const struct hs_plan_rank *rank = &plan->ranks[row];
    const struct hs_program *p = &plan->programs[rank->program];
    uint32_t i = call - (uint32_t)s->w->script->dry->first[row];
    const struct hs_plan_signature *sig = &plan->signatures[p->calls[i].signature];
    uint32_t size = plan->groups[rank->groups[p->calls[i].slot]].size;
    enum hs_way way = hs_way_of(sig->kind);
    struct hs_type type =
        hs_type_of(hs_plan_string(plan, sig->in.dtype_count ? sig->in.dtypes[0] : HS_NO_ID),
                   s->w->shared->machine.nccl);
    struct kind_key key;
    uint32_t known = s->kinds.count, id;

    memset(&key, 0, sizeof(key)); /* it is compared as bytes */
    key.op = sig->op;
    key.ranks = hs_plan_is_pair(sig) ? 2 : size;
    key.dtype = sig->in.dtype_count ? sig->in.dtypes[0] : HS_NO_ID;
    key.parts = hs_unit_end(p, i) - i;
    if (way == HS_WAY_BARRIER)
        type = (struct hs_type){ ncclFloat32, 4, 1 };
    if (key.parts == 1)
        key.count = hs_counted_elements(sig, way, size, &s->w->script->scaling) * type.multiple;
    id = hs_intern_put(&s->kinds, (struct hs_str){ .p = (const char *)&key, .n = sizeof(key) });
    if (id != HS_NO_ID && id >= known)
        s->rows[id] = (struct hs_timing){
            .call = call,
            .way = way,
            .ranks = key.ranks,
            .parts = key.parts,
            .count = key.count,
            .bytes = hs_bandwidth_bytes(way, key.count, type.bytes, key.ranks),
        };
    return id;
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->us < y->us ? -1 : x->us > y->us;
}

static void sum_up(const struct sampling *s)
{
    for (uint32_t i = 0, end; i < s->count; i = end) {
        struct hs_timing *t = &s->rows[s->samples[i].kind];
        uint32_t n;

        for (end = i; end < s->count && s->samples[end].kind == s->samples[i].kind; end++)
            ;
        n = end - i;
        t->calls = n;
        t->min_us = s->samples[i].us;
        t->max_us = s->samples[end - 1].us;
        t->median_us = ((double)s->samples[i + (n - 1) / 2].us + s->samples[i + n / 2].us) / 2;
        t->algbw_gbs = (double)t->bytes / (t->median_us * 1000);
        t->busbw_gbs = t->algbw_gbs * hs_bus_factor(t->way, t->ranks);
    }
}

bool hs_timings_make(struct hs_timings *out, const struct hs_world *w)
{
    struct sampling s = { .w = w };
    uint32_t refs = w->script->dry->ref_count, id = 0;

    *out = (struct hs_timings){ .count = 0 };
    hs_arena_init(&out->arena);
    hs_intern_init(&s.kinds);
    s.best = HS_NEW(&out->arena, float, refs + 1u);
    s.call = HS_NEW(&out->arena, uint32_t, refs + 1u);
    s.rows = HS_NEW(&out->arena, struct hs_timing, refs + 1u);
    s.samples = HS_NEW(&out->arena, struct sample, refs + 1u);
    if (!s.best || !s.call || !s.rows || !s.samples)
        return false;
    memset(s.call, 0xff, refs * sizeof(*s.call));
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++)
        take_row(&s, row);
    for (uint32_t ref = 0; ref < refs && id != HS_NO_ID; ref++) {
        if (s.call[ref] == HS_NO_ID)
            continue;
        id = kind_of(&s, s.call[ref]);
        s.samples[s.count++] = (struct sample){ .kind = id, .us = s.best[ref] };
    }
    if (s.count)
        qsort(s.samples, s.count, sizeof(*s.samples), compare_samples);
    if (id != HS_NO_ID)
        sum_up(&s);
    out->rows = s.rows;
    out->count = s.kinds.count;
    hs_intern_release(&s.kinds);
    return id != HS_NO_ID;
}

void hs_timings_release(struct hs_timings *timings)
{
    hs_arena_release(&timings->arena);
}
