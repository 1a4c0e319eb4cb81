/* plan_read_calls.c - the programs of a plan: calls, batches, tensors. */
#include "replay/plan_reading.h"

#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>

/* One side's tensors while a call is read. Sizes go to r->sizes, those of the second side behind
 * those of the first. */
struct side {
    bool given, typed;
    uint32_t first, size_count, tensors;
    uint32_t *dtypes, dtype_count;
};

static bool put_size(struct hs_plan_reading *r, uint32_t at, int64_t value)
{
    if (!HS_GROW(r->sizes, r->size_cap, at + 1u))
        return hs_reading_no_memory(r);
    r->sizes[at] = value;
    return true;
}

/* The sizes of one tensor from `at` on, their number first; `*at` moves behind them. */
static bool read_shape(struct hs_plan_reading *r, uint32_t *at)
{
    uint32_t head = *at;

    if (r->kind != HS_JSON_ARRAY)
        return hs_reading_wrong(r, "a shape is a list of numbers");
    if (!put_size(r, (*at)++, 0))
        return false;
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (r->kind != HS_JSON_INT || r->token.i < 0 || r->sizes[head] == HS_TENSORS_MAX)
            return hs_reading_wrong(r, "a size is a number");
        if (!put_size(r, (*at)++, r->token.i))
            return false;
        r->sizes[head]++;
    }
    return r->status == HS_OK;
}

/* [[1024, 512], [7]] */
static bool take_sizes(struct hs_plan_reading *r, struct side *side, uint32_t first)
{
    uint32_t at = first;

    side->given = true;
    side->tensors = 0;
    if (!hs_reading_expect(r, HS_JSON_ARRAY, "a list of shapes"))
        return false;
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (side->tensors == HS_TENSORS_MAX)
            return hs_reading_wrong(r, "more than %u tensors", HS_TENSORS_MAX);
        side->tensors += read_shape(r, &at);
    }
    side->first = first;
    side->size_count = at - first;
    return r->status == HS_OK;
}

/* "Float" or ["Float", "Long"] */
static bool take_types(struct hs_plan_reading *r, struct side *side)
{
    uint32_t cap = 0, *list = NULL, count = 0;

    side->typed = true;
    if (!hs_reading_next(r))
        return false;
    if (r->kind != HS_JSON_ARRAY) {
        side->dtypes = HS_NEW(&r->plan->arena, uint32_t, 1);
        side->dtype_count = 1;
        return side->dtypes ? hs_reading_as_string(r, "dtype", side->dtypes)
                            : hs_reading_no_memory(r);
    }
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (count == HS_TENSORS_MAX)
            (void)hs_reading_wrong(r, "more than %u types", HS_TENSORS_MAX);
        else if (!HS_GROW(list, cap, count + 1u))
            (void)hs_reading_no_memory(r);
        else
            count += hs_reading_as_string(r, "dtype", &list[count]);
    }
    side->dtypes = HS_NEW(&r->plan->arena, uint32_t, count + 1u);
    side->dtype_count = count;
    if (!side->dtypes)
        (void)hs_reading_no_memory(r);
    else if (count)
        memcpy(side->dtypes, list, count * sizeof(*list));
    free(list);
    return r->status == HS_OK;
}

struct call_reading {
    struct hs_plan_call call;
    uint32_t op, peer, root;
    struct side in, out;
    bool has_group;
};

enum call_key {
    KEY_GROUP,
    KEY_OP,
    KEY_PEER,
    KEY_ROOT,
    KEY_IN,
    KEY_OUT,
    KEY_DTYPE,
    KEY_OUT_DTYPE,
    KEY_SKIP,
    KEY_STREAM,
    KEY_STACK,
    KEY_STALLED,
    KEY_DONE,
    KEY_ASYNC,
    KEY_REDUCE,
    CALL_KEYS
};

static const char *const call_keys[] = {
    [KEY_GROUP] = "group",     [KEY_OP] = "op",       [KEY_PEER] = "peer",
    [KEY_ROOT] = "root",       [KEY_IN] = "in",       [KEY_OUT] = "out",
    [KEY_DTYPE] = "dtype",     [KEY_SKIP] = "skip",   [KEY_STREAM] = "stream",
    [KEY_STACK] = "stack",     [KEY_DONE] = "done",   [KEY_OUT_DTYPE] = "out_dtype",
    [KEY_STALLED] = "stalled", [KEY_ASYNC] = "async", [KEY_REDUCE] = "reduce",
};

static bool take_mark(struct hs_plan_reading *r, struct hs_plan_call *call, uint32_t flag,
                      const char *what)
{
    bool set = false;

    if (!hs_reading_take_flag(r, what, &set))
        return false;
    call->flags = set ? call->flags | flag : call->flags & ~flag;
    return true;
}

static bool take_small(struct hs_plan_reading *r, uint32_t max, const char *what, uint16_t *out)
{
    uint32_t number = 0;

    if (!hs_reading_take_number(r, max, what, &number))
        return false;
    *out = (uint16_t)number;
    return true;
}

static bool take_reduction(struct hs_plan_reading *r, struct hs_plan_call *call)
{
    uint32_t id, which = 0;
    struct hs_str name;

    if (!hs_reading_take_string(r, "reduce", &id))
        return false;
    name = hs_plan_string(r->plan, id);
    while (which < HS_REDUCTIONS && !hs_str_is(name, hs_reduction_names[which]))
        which++;
    if (which == HS_REDUCTIONS)
        return hs_reading_wrong(r, "\"reduce\" is one of sum, prod, max, min, avg");
    call->flags = (call->flags & ~(uint32_t)HS_CALL_REDUCTION) | which << HS_REDUCTION_SHIFT;
    return true;
}

static bool take_stack(struct hs_plan_reading *r, uint32_t *out)
{
    if (!hs_reading_take_number(r, HS_NO_ID - 1, "stack", out))
        return false;
    return *out < r->plan->stack_keys.count || hs_reading_wrong(r, "there is no stack %u", *out);
}

static bool take_value(struct hs_plan_reading *r, struct call_reading *c, enum call_key key)
{
    const char *what = call_keys[key];

    switch (key) {
    case KEY_GROUP:
        c->has_group = true;
        return take_small(r, HS_PLAN_SLOTS_MAX - 1, what, &c->call.slot);
    case KEY_OP:
        return hs_reading_take_string(r, what, &c->op);
    case KEY_PEER:
        return hs_reading_take_number(r, HS_PLAN_RANKS_MAX, what, &c->peer);
    case KEY_ROOT:
        return hs_reading_take_number(r, HS_PLAN_RANKS_MAX, what, &c->root);
    case KEY_IN:
        return take_sizes(r, &c->in, c->out.first + c->out.size_count);
    case KEY_OUT:
        return take_sizes(r, &c->out, c->in.first + c->in.size_count);
    case KEY_DTYPE:
        return take_types(r, &c->in);
    case KEY_OUT_DTYPE:
        return take_types(r, &c->out);
    case KEY_SKIP:
        return hs_reading_take_number(r, HS_PLAN_JUMPS_MAX, what, &c->call.skip);
    case KEY_STREAM:
        return take_small(r, UINT16_MAX, what, &c->call.stream);
    case KEY_STACK:
        return take_stack(r, &c->call.stack);
    case KEY_STALLED:
        return take_mark(r, &c->call, HS_CALL_STALLED, what);
    case KEY_DONE:
        return take_mark(r, &c->call, HS_CALL_DONE, what);
    case KEY_REDUCE:
        return take_reduction(r, &c->call);
    default:
        return take_mark(r, &c->call, HS_CALL_ASYNC, what);
    }
}

/* What is not given for "out" is as for "in". */
static bool put_signature(struct hs_plan_reading *r, struct call_reading *c)
{
    const struct side *sizes = c->out.given ? &c->out : &c->in;
    const struct side *types = c->out.typed ? &c->out : &c->in;
    struct hs_tensors in = { .sizes = r->sizes ? r->sizes + c->in.first : NULL,
                             .size_count = c->in.size_count,
                             .tensors = c->in.tensors,
                             .dtypes = c->in.dtypes,
                             .dtype_count = c->in.dtype_count };
    struct hs_tensors out = { .sizes = r->sizes ? r->sizes + sizes->first : NULL,
                              .size_count = sizes->size_count,
                              .tensors = sizes->tensors,
                              .dtypes = types->dtypes,
                              .dtype_count = types->dtype_count };
    const struct hs_operation_kind *kind = hs_operation_kind_of(hs_plan_string(r->plan, c->op));
    bool pair = kind->class == HS_CLASS_SEND || kind->class == HS_CLASS_RECV;

    if (pair != (c->peer != HS_NO_ID))
        return hs_reading_wrong(r, pair ? "a send or receive has a \"peer\""
                                        : "only a send or receive has a \"peer\"");
    c->call.signature = hs_plan_put_signature(r->plan, c->op, c->peer, c->root, &in, &out);
    return c->call.signature != HS_NO_ID || hs_reading_no_memory(r);
}

static bool is_pair(const struct hs_plan_reading *r, const struct hs_plan_call *call)
{
    return hs_plan_is_pair(&r->plan->signatures[call->signature]);
}

/* Whether a call can be of the same batch as the one before it. */
static bool check_joined(struct hs_plan_reading *r, const struct hs_plan_call *before,
                         const struct hs_plan_call *call)
{
    if (is_pair(r, before) != is_pair(r, call) || before->slot != call->slot)
        return hs_reading_wrong(
            r, "the calls of a batch are in one group: collectives, or sends and receives");
    if (call->skip || before->stream != call->stream ||
        (before->flags ^ call->flags) & ~(uint32_t)HS_CALL_REDUCTION)
        return hs_reading_wrong(r, "\"stream\" and marks are the same for all calls of a batch, "
                                   "and only the first has \"skip\"");
    return true;
}

static bool add_call(struct hs_plan_reading *r, const struct hs_plan_call *call)
{
    uint32_t n = r->call_count;

    if (n == HS_OPERATIONS_MAX)
        return hs_reading_wrong(r, "more than %u calls", HS_OPERATIONS_MAX);
    if (call->skip && is_pair(r, call))
        return hs_reading_wrong(r, "\"skip\" counts collectives: a send or receive has none");
    if (!HS_GROW(r->calls, r->call_cap, n + 1u))
        return hs_reading_no_memory(r);
    assert(r->calls);
    if (n && call->batch && r->calls[n - 1].batch == call->batch &&
        !check_joined(r, &r->calls[n - 1], call))
        return false;
    r->calls[r->call_count++] = *call;
    return true;
}

static bool end_call(struct hs_plan_reading *r, struct call_reading *c)
{
    if (c->op == HS_NO_ID || !c->has_group)
        return hs_reading_wrong(r, "a call has a \"group\" and an \"op\"");
    return put_signature(r, c) && add_call(r, &c->call);
}

static bool take_call_key(struct hs_plan_reading *r, size_t *key)
{
    for (*key = 0; *key < CALL_KEYS; (*key)++) {
        if (hs_str_is(r->token.text, call_keys[*key]))
            return true;
    }
    return hs_reading_wrong(r, "a call has no key \"%.*s\"",
                            (int)(r->token.text.n < 60 ? r->token.text.n : 60), r->token.text.p);
}

/* A call whose first key was taken, or whose end; `batch` 0: it is not inside of one. */
static bool read_keys(struct hs_plan_reading *r, uint32_t batch)
{
    struct call_reading c = { .op = HS_NO_ID, .peer = HS_NO_ID, .root = HS_NO_ID };
    size_t key;

    c.call.stack = HS_NO_ID;
    c.call.batch = batch;
    while (r->kind != HS_JSON_OBJECT_END) {
        if (!take_call_key(r, &key) || !take_value(r, &c, (enum call_key)key) ||
            !hs_reading_next(r))
            return false;
    }
    return end_call(r, &c);
}

/* The calls of a batch, whose key was taken. */
static bool read_batch(struct hs_plan_reading *r)
{
    uint32_t first = r->call_count;

    if (!hs_reading_expect(r, HS_JSON_ARRAY, "a list of calls"))
        return false;
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (r->kind != HS_JSON_OBJECT)
            return hs_reading_wrong(r, "a call is an object");
        if (!hs_reading_next(r) || !read_keys(r, first + 1))
            return false;
    }
    if (r->call_count == first)
        return hs_reading_wrong(r, "a batch has calls");
    return hs_reading_expect(r, HS_JSON_OBJECT_END, "the end of the batch");
}

static bool read_unit(struct hs_plan_reading *r)
{
    if (r->kind != HS_JSON_OBJECT)
        return hs_reading_wrong(r, "a call is an object");
    if (!hs_reading_next(r))
        return false;
    if (r->kind == HS_JSON_KEY && hs_str_is(r->token.text, "batch"))
        return read_batch(r);
    return read_keys(r, 0);
}

bool hs_reading_program(struct hs_plan_reading *r)
{
    uint32_t id;

    r->call_count = 0;
    if (r->kind != HS_JSON_ARRAY)
        return hs_reading_wrong(r, "a program is a list of calls");
    while (hs_reading_more(r, HS_JSON_ARRAY_END))
        (void)read_unit(r);
    if (r->status != HS_OK)
        return false;
    id = hs_plan_add_program(r->plan, r->call_count);
    if (id == HS_NO_ID)
        return hs_reading_no_memory(r);
    if (r->call_count)
        memcpy(r->plan->programs[id].calls, r->calls, r->call_count * sizeof(*r->calls));
    return true;
}
