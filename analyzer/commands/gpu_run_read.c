/* gpu_run_read.c - what hangscope-replay said: JSON of format hangscope.run/1 (docs/replay.md). */
#include "analyzer/commands/gpu_run.h"

#include "base/json.h"
#include "replay/dry.h"

struct reading {
    struct hs_json json;
    struct hs_json_token token;
    enum hs_json_kind kind;
    struct hs_gpu_run *run;
    const struct hs_plan *plan;
    uint64_t first; /* of the calls of the row being read */
};

static enum hs_json_kind next(struct reading *r)
{
    r->kind = hs_json_next(&r->json, &r->token);
    return r->kind;
}

/* Take a whole value, whatever it is. */
static bool skip_value(struct reading *r)
{
    uint32_t depth = r->json.depth;

    do {
        if (next(r) == HS_JSON_ERROR || r->kind == HS_JSON_END)
            return false;
    } while (r->json.depth > depth);
    return true;
}

/* The next key of an object; false when it ends, or nothing can be read. */
static bool take_key(struct reading *r, struct hs_str *key)
{
    if (next(r) != HS_JSON_KEY)
        return false;
    *key = r->token.text;
    return true;
}

static bool take_string(struct reading *r, struct hs_str *out)
{
    if (next(r) != HS_JSON_STRING)
        return false;
    *out = hs_json_unescape(&r->run->arena, r->token.text);
    return out->p != NULL;
}

static bool take_number(struct reading *r, double *out)
{
    next(r);
    *out = r->kind == HS_JSON_INT ? (double)r->token.i : r->kind == HS_JSON_FLOAT ? r->token.f : 0;
    return r->kind == HS_JSON_INT || r->kind == HS_JSON_FLOAT;
}

static bool take_count(struct reading *r, uint64_t *out)
{
    *out = next(r) == HS_JSON_INT && r->token.i >= 0 ? (uint64_t)r->token.i : 0;
    return r->kind == HS_JSON_INT && r->token.i >= 0;
}

static bool take_states(struct reading *r, const struct hs_plan_rank *rank)
{
    static const char letters[] = "AQSE";
    uint32_t calls = r->plan->programs[rank->program].call_count;
    struct hs_str text;

    if (!take_string(r, &text) || text.n != calls)
        return false;
    for (uint32_t i = 0; i < calls; i++) {
        const char *at = memchr(letters, text.p[i], sizeof(letters) - 1);

        if (!at)
            return false;
        r->run->states[r->first + i] = (uint8_t)(at - letters);
    }
    return true;
}

static bool take_wrong(struct reading *r, struct hs_gpu_rank *out)
{
    struct hs_str key;
    bool ok = next(r) == HS_JSON_OBJECT;

    while (ok && take_key(r, &key)) {
        if (hs_str_is(key, "calls"))
            ok = take_count(r, &out->wrong_calls);
        else if (hs_str_is(key, "call"))
            ok = take_count(r, &out->wrong_call);
        else if (hs_str_is(key, "element"))
            ok = take_count(r, &out->wrong_element);
        else
            ok = skip_value(r);
    }
    return ok && r->kind == HS_JSON_OBJECT_END;
}

/* Rows come in the order of the plan's. */
static bool take_rank(struct reading *r, uint32_t row)
{
    const struct hs_plan_rank *rank = &r->plan->ranks[row];
    struct hs_gpu_rank *out = &r->run->ranks[row];
    struct hs_str key;
    bool ok = true, states = false;
    uint64_t number;

    out->wrong_call = HS_UNKNOWN;
    while (ok && take_key(r, &key)) {
        if (hs_str_is(key, "rank"))
            ok = take_count(r, &number) && number == rank->rank;
        else if (hs_str_is(key, "calls"))
            ok = states = take_states(r, rank);
        else if (hs_str_is(key, "error"))
            ok = take_string(r, &out->error);
        else if (hs_str_is(key, "wrong"))
            ok = take_wrong(r, out);
        else
            ok = skip_value(r);
    }
    r->first += r->plan->programs[rank->program].call_count;
    return ok && states && r->kind == HS_JSON_OBJECT_END;
}

static bool take_ranks(struct reading *r)
{
    uint32_t row = 0;
    bool ok = next(r) == HS_JSON_ARRAY;

    while (ok && next(r) == HS_JSON_OBJECT)
        ok = row < r->plan->rank_count && take_rank(r, row++);
    return ok && r->kind == HS_JSON_ARRAY_END && row == r->plan->rank_count;
}

static bool take_document(struct reading *r)
{
    struct hs_str key, text;
    bool ok = next(r) == HS_JSON_OBJECT, format = false, ranks = false;

    while (ok && take_key(r, &key)) {
        if (hs_str_is(key, "format")) {
            ok = format = take_string(r, &text) && hs_str_is(text, "hangscope.run/1");
        } else if (hs_str_is(key, "outcome")) {
            ok = take_string(r, &text);
            r->run->failed = ok && hs_str_is(text, "failed");
        } else if (hs_str_is(key, "ranks")) {
            ok = ranks = take_ranks(r);
        } else {
            ok = skip_value(r);
        }
    }
    return ok && format && ranks && r->kind == HS_JSON_OBJECT_END && next(r) == HS_JSON_END;
}

enum hs_status hs_gpu_run_read(struct hs_gpu_run *run, const struct hs_plan *plan,
                               struct hs_err *err)
{
    struct reading r = { .run = run, .plan = plan };

    run->states = HS_NEW(&run->arena, uint8_t, hs_plan_calls(plan) + 1);
    run->ranks = HS_NEW(&run->arena, struct hs_gpu_rank, plan->rank_count + 1u);
    if (!run->states || !run->ranks)
        return hs_no_memory(err);
    hs_json_init(&r.json, hs_buf_str(&run->json));
    return take_document(&r) ? HS_OK
                             : hs_fail(err, HS_EIO,
                                       "hangscope-replay is of another version: what "
                                       "it says cannot be read");
}

/* ---- timings ---- */

struct timing {
    struct hs_str op;
    double batch, ranks, bytes, calls, min_us, median_us, max_us, busbw_gbs;
};

static bool take_timing(struct reading *r, struct timing *t)
{
    const struct {
        const char *key;
        double *to;
    } numbers[] = { { "batch", &t->batch },   { "ranks", &t->ranks },
                    { "bytes", &t->bytes },   { "calls", &t->calls },
                    { "min_us", &t->min_us }, { "median_us", &t->median_us },
                    { "max_us", &t->max_us }, { "busbw_gbs", &t->busbw_gbs } };
    struct hs_str key;
    bool ok = true;

    *t = (struct timing){ .batch = 1, .busbw_gbs = -1 };
    while (ok && take_key(r, &key)) {
        size_t i = 0;

        while (i < sizeof(numbers) / sizeof(numbers[0]) && !hs_str_is(key, numbers[i].key))
            i++;
        if (i < sizeof(numbers) / sizeof(numbers[0]))
            ok = take_number(r, numbers[i].to);
        else if (hs_str_is(key, "op"))
            ok = take_string(r, &t->op);
        else
            ok = skip_value(r);
    }
    return ok && r->kind == HS_JSON_OBJECT_END;
}

static void put_timing(const struct timing *t, struct hs_buf *out)
{
    struct hs_buf name;

    hs_buf_init(&name);
    if (t->batch > 1)
        hs_buf_printf(&name, "batch of %.0f", t->batch);
    else
        hs_buf_put_safe(&name, t->op, 60);
    hs_buf_printf(out, "  %-24s %5.0f %12.0f %6.0f %10.1f %10.1f %10.1f", name.p ? name.p : "",
                  t->ranks, t->bytes, t->calls, t->min_us, t->median_us, t->max_us);
    if (t->busbw_gbs < 0)
        hs_buf_printf(out, " %9s\n", "-");
    else
        hs_buf_printf(out, " %9.2f\n", t->busbw_gbs);
    out->failed |= name.failed;
    hs_buf_release(&name);
}

void hs_gpu_run_put_timings(const struct hs_gpu_run *run, struct hs_buf *out)
{
    struct hs_gpu_run scratch = { .states = NULL };
    struct reading r = { .run = &scratch };
    struct hs_str key;
    struct timing t;

    hs_arena_init(&scratch.arena);
    hs_json_init(&r.json, hs_buf_str(&run->json));
    next(&r);
    while (take_key(&r, &key) && !hs_str_is(key, "timings"))
        (void)skip_value(&r);
    if (r.kind == HS_JSON_KEY && next(&r) == HS_JSON_ARRAY && next(&r) == HS_JSON_OBJECT) {
        hs_buf_printf(out, "\n  %-24s %5s %12s %6s %10s %10s %10s %9s\n", "operation", "ranks",
                      "bytes", "calls", "min us", "median us", "max us", "busbw");
        do {
            if (!take_timing(&r, &t))
                break;
            put_timing(&t, out);
        } while (next(&r) == HS_JSON_OBJECT);
    }
    hs_arena_release(&scratch.arena);
}
