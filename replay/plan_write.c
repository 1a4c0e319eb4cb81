/* plan_write.c - a plan as text, handed on piece by piece: docs/formats/plan.md. */
#include "replay/plan.h"

enum { PIECE = 1 << 16 };

struct writing {
    const struct hs_plan *plan;
    struct hs_buf buf;
    hs_plan_sink_fn *sink;
    void *self;
};

static enum hs_status flush(struct writing *w, size_t at_least, struct hs_err *err)
{
    enum hs_status status;

    if (w->buf.failed)
        return hs_no_memory(err);
    if (w->buf.n < at_least)
        return HS_OK;
    status = w->sink(w->self, hs_buf_str(&w->buf), err);
    w->buf.n = 0;
    return status;
}

static void put_string(struct writing *w, const char *key, uint32_t id)
{
    if (id == HS_NO_ID)
        return;
    hs_buf_printf(&w->buf, ", \"%s\": ", key);
    hs_buf_put_json(&w->buf, hs_plan_string(w->plan, id));
}

/* Ascending ranks as "0-3,7", others as a list in their order. */
static void put_ranks(struct hs_buf *buf, const uint32_t *ranks, uint32_t count, bool ascending)
{
    hs_buf_putc(buf, ascending ? '"' : '[');
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; ascending && end < count && ranks[end] == ranks[end - 1] + 1; end++)
            continue;
        hs_buf_printf(buf, i ? (ascending ? ",%u" : ", %u") : "%u", ranks[i]);
        if (end - i > 1)
            hs_buf_printf(buf, "-%u", ranks[end - 1]);
    }
    hs_buf_putc(buf, ascending ? '"' : ']');
}

static enum hs_status put_groups(struct writing *w, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    hs_buf_put(&w->buf, HS_STR("  \"groups\": ["));
    for (uint32_t g = 0; status == HS_OK && g < w->plan->group_count; g++) {
        const struct hs_plan_group *group = &w->plan->groups[g];

        hs_buf_printf(&w->buf, "%s\n    {\"name\": ", g ? "," : "");
        hs_buf_put_json(&w->buf, hs_plan_string(w->plan, group->name));
        put_string(w, "desc", group->desc);
        put_string(w, "backend", group->backend);
        hs_buf_put(&w->buf, HS_STR(", \"ranks\": "));
        put_ranks(&w->buf, group->ranks, group->size, !group->order && group->size);
        hs_buf_put(&w->buf, group->assumed ? HS_STR(", \"assumed\": true}") : HS_STR("}"));
        status = flush(w, PIECE, err);
    }
    hs_buf_put(&w->buf, HS_STR("\n  ],\n"));
    return status;
}

static enum hs_status put_stacks(struct writing *w, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    hs_buf_put(&w->buf, HS_STR("  \"stacks\": ["));
    for (uint32_t i = 0; status == HS_OK && i < w->plan->stack_keys.count; i++) {
        uint32_t count;
        const struct hs_frame *frames = hs_plan_stack(w->plan, i, &count);

        hs_buf_printf(&w->buf, "%s\n    [", i ? "," : "");
        for (uint32_t k = 0; k < count; k++) {
            hs_buf_put(&w->buf, k ? HS_STR(", [") : HS_STR("["));
            hs_buf_put_json(&w->buf, hs_plan_string(w->plan, frames[k].function));
            hs_buf_put(&w->buf, HS_STR(", "));
            hs_buf_put_json(&w->buf, hs_plan_string(w->plan, frames[k].file));
            hs_buf_printf(&w->buf, ", %u]", frames[k].line);
        }
        hs_buf_putc(&w->buf, ']');
        status = flush(w, PIECE, err);
    }
    hs_buf_put(&w->buf, HS_STR("\n  ],\n"));
    return status;
}

/* ---- calls ---- */

static void put_sizes(struct hs_buf *buf, const char *key, const struct hs_tensors *t)
{
    bool first = true;

    hs_buf_printf(buf, ", \"%s\": [", key);
    for (uint32_t i = 0; i < t->size_count;) {
        int64_t dims = t->sizes[i++];

        hs_buf_put(buf, first ? HS_STR("[") : HS_STR(", ["));
        for (int64_t d = 0; d < dims && i < t->size_count; d++, i++)
            hs_buf_printf(buf, d ? ", %lld" : "%lld", (long long)t->sizes[i]);
        hs_buf_putc(buf, ']');
        first = false;
    }
    hs_buf_putc(buf, ']');
}

static void put_types(struct writing *w, const char *key, const struct hs_tensors *t)
{
    hs_buf_printf(&w->buf, ", \"%s\": ", key);
    if (t->dtype_count == 1) {
        hs_buf_put_json(&w->buf, hs_plan_string(w->plan, t->dtypes[0]));
        return;
    }
    hs_buf_putc(&w->buf, '[');
    for (uint32_t i = 0; i < t->dtype_count; i++) {
        if (i)
            hs_buf_put(&w->buf, HS_STR(", "));
        hs_buf_put_json(&w->buf, hs_plan_string(w->plan, t->dtypes[i]));
    }
    hs_buf_putc(&w->buf, ']');
}

static bool same_sizes(const struct hs_tensors *a, const struct hs_tensors *b)
{
    return a->size_count == b->size_count && a->tensors == b->tensors &&
           (a->size_count == 0 ||
            memcmp(a->sizes, b->sizes, a->size_count * sizeof(*a->sizes)) == 0);
}

static bool same_types(const struct hs_tensors *a, const struct hs_tensors *b)
{
    return a->dtype_count == b->dtype_count &&
           (a->dtype_count == 0 ||
            memcmp(a->dtypes, b->dtypes, a->dtype_count * sizeof(*a->dtypes)) == 0);
}

static void put_call(struct writing *w, const struct hs_plan_call *call)
{
    static const struct {
        uint32_t flag;
        const char *text;
    } flags[] = { { HS_CALL_STALLED, ", \"stalled\": true" },
                  { HS_CALL_DONE, ", \"done\": true" },
                  { HS_CALL_ASYNC, ", \"async\": true" } };
    const struct hs_plan_signature *sig = &w->plan->signatures[call->signature];

    hs_buf_printf(&w->buf, "{\"group\": %u, \"op\": ", call->slot);
    hs_buf_put_json(&w->buf, hs_plan_string(w->plan, sig->op));
    if (sig->peer != HS_NO_ID)
        hs_buf_printf(&w->buf, ", \"peer\": %u", sig->peer);
    if (sig->root != HS_NO_ID)
        hs_buf_printf(&w->buf, ", \"root\": %u", sig->root);
    if (sig->in.tensors)
        put_sizes(&w->buf, "in", &sig->in);
    if (!same_sizes(&sig->in, &sig->out))
        put_sizes(&w->buf, "out", &sig->out);
    if (sig->in.dtype_count)
        put_types(w, "dtype", &sig->in);
    if (!same_types(&sig->in, &sig->out))
        put_types(w, "out_dtype", &sig->out);
    if (call->skip)
        hs_buf_printf(&w->buf, ", \"skip\": %u", call->skip);
    if (call->stream)
        hs_buf_printf(&w->buf, ", \"stream\": %u", call->stream);
    if (call->stack != HS_NO_ID)
        hs_buf_printf(&w->buf, ", \"stack\": %u", call->stack);
    if (hs_plan_reduction(call) != HS_SUM)
        hs_buf_printf(&w->buf, ", \"reduce\": \"%s\"", hs_reduction_names[hs_plan_reduction(call)]);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (call->flags & flags[i].flag)
            hs_buf_put(&w->buf, hs_str_of(flags[i].text));
    }
    hs_buf_putc(&w->buf, '}');
}

static void put_unit(struct writing *w, const struct hs_program *p, uint32_t i, uint32_t end)
{
    hs_buf_put(&w->buf, i ? HS_STR(",\n      ") : HS_STR("\n      "));
    if (p->calls[i].batch)
        hs_buf_put(&w->buf, HS_STR("{\"batch\": ["));
    for (uint32_t k = i; k < end; k++) {
        if (k > i)
            hs_buf_put(&w->buf, HS_STR(",\n        "));
        put_call(w, &p->calls[k]);
    }
    if (p->calls[i].batch)
        hs_buf_put(&w->buf, HS_STR("]}"));
}

static enum hs_status put_programs(struct writing *w, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    hs_buf_put(&w->buf, HS_STR("  \"programs\": ["));
    for (uint32_t id = 0; status == HS_OK && id < w->plan->program_count; id++) {
        const struct hs_program *p = &w->plan->programs[id];

        hs_buf_put(&w->buf, id ? HS_STR(",\n    [") : HS_STR("\n    ["));
        for (uint32_t i = 0, end; status == HS_OK && i < p->call_count; i = end) {
            end = hs_unit_end(p, i);
            put_unit(w, p, i, end);
            status = flush(w, PIECE, err);
        }
        hs_buf_put(&w->buf, p->call_count ? HS_STR("\n    ]") : HS_STR("]"));
    }
    hs_buf_put(&w->buf, HS_STR("\n  ],\n"));
    return status;
}

/* ---- ranks ---- */

static bool same_numbers(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof(*a)) == 0;
}

static bool same_row(const struct hs_plan_rank *a, const struct hs_plan_rank *b)
{
    return a->program == b->program && a->flags == b->flags && a->slot_count == b->slot_count &&
           same_numbers(a->groups, b->groups, a->slot_count) &&
           same_numbers(a->start, b->start, a->slot_count) &&
           same_numbers(a->until, b->until, a->slot_count);
}

static void put_numbers(struct hs_buf *buf, const char *key, const uint32_t *items, uint32_t count)
{
    hs_buf_printf(buf, ", \"%s\": [", key);
    for (uint32_t i = 0; i < count; i++)
        hs_buf_printf(buf, i ? ", %u" : "%u", items[i]);
    hs_buf_putc(buf, ']');
}

/* The number of the last collective of a slot by the calls alone. */
static uint32_t last_listed(const struct hs_plan *plan, const struct hs_plan_rank *row,
                            uint32_t slot)
{
    const struct hs_program *p = &plan->programs[row->program];
    uint32_t at = row->start[slot];

    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        if (p->calls[i].slot == slot && !hs_plan_is_pair(&plan->signatures[p->calls[i].signature]))
            at += 1 + p->calls[i].skip;
    }
    return at;
}

/* The row of ranks from `first` to `last`, which are alike. */
static void put_rank_row(struct writing *w, const struct hs_plan_rank *first,
                         const struct hs_plan_rank *last)
{
    bool until = false;

    hs_buf_printf(&w->buf, "\n    {\"ranks\": \"%u", first->rank);
    if (last > first)
        hs_buf_printf(&w->buf, "-%u", last->rank);
    hs_buf_printf(&w->buf, "\", \"program\": %u", first->program);
    put_numbers(&w->buf, "groups", first->groups, first->slot_count);
    put_numbers(&w->buf, "start", first->start, first->slot_count);
    for (uint32_t s = 0; s < first->slot_count && !until; s++)
        until = first->until[s] > last_listed(w->plan, first, s);
    if (until)
        put_numbers(&w->buf, "until", first->until, first->slot_count);
    if (first->flags & HS_PLAN_PARTIAL)
        hs_buf_put(&w->buf, HS_STR(", \"partial\": true"));
    if (first->flags & (HS_PLAN_OPEN | HS_PLAN_ABSENT))
        hs_buf_printf(&w->buf, ", \"record\": \"%s\"",
                      first->flags & HS_PLAN_ABSENT ? "none" : "open");
    hs_buf_putc(&w->buf, '}');
}

static enum hs_status put_rank_rows(struct writing *w, struct hs_err *err)
{
    const struct hs_plan *plan = w->plan;
    enum hs_status status = HS_OK;

    hs_buf_put(&w->buf, HS_STR("  \"ranks\": ["));
    for (uint32_t i = 0, end; status == HS_OK && i < plan->rank_count; i = end) {
        const struct hs_plan_rank *row = &plan->ranks[i];

        for (end = i + 1; end < plan->rank_count && same_row(row, &plan->ranks[end]) &&
                          plan->ranks[end].rank == plan->ranks[end - 1].rank + 1;
             end++)
            continue;
        if (i)
            hs_buf_putc(&w->buf, ',');
        put_rank_row(w, row, &plan->ranks[end - 1]);
        status = flush(w, PIECE, err);
    }
    hs_buf_put(&w->buf, HS_STR("\n  ]\n}\n"));
    return status;
}

enum hs_status hs_plan_write(const struct hs_plan *plan, hs_plan_sink_fn *sink, void *self,
                             struct hs_err *err)
{
    struct writing w = { .plan = plan, .sink = sink, .self = self };
    enum hs_status status;

    hs_buf_init(&w.buf);
    hs_buf_printf(&w.buf, "{\n  \"format\": \"hangscope.plan/1\",\n  \"semantics\": \"%s\",\n",
                  plan->semantics->name);
    status = put_groups(&w, err);
    if (status == HS_OK)
        status = put_stacks(&w, err);
    if (status == HS_OK)
        status = put_programs(&w, err);
    if (status == HS_OK)
        status = put_rank_rows(&w, err);
    if (status == HS_OK)
        status = flush(&w, 0, err);
    hs_buf_release(&w.buf);
    return status;
}
