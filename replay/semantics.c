#include "replay/semantics.h"

#include "replay/plan.h"

static const struct hs_semantics rules[] = {
    { "nccl", false, false },
    { "gloo", true, true },
};

/* clang-format off */
static const struct hs_dtype dtypes[] = {
    { "Float", "float32", "ncclFloat32", "float", 4 },
    { "Half", "float16", "ncclFloat16", NULL, 2 },
    { "BFloat16", "bfloat16", "ncclBfloat16", NULL, 2 },
    { "Double", "float64", "ncclFloat64", "double", 8 },
    { "Int", "int32", "ncclInt32", "int", 4 },
    { "Long", "int64", "ncclInt64", "long long", 8 },
    { "Char", "int8", "ncclInt8", "signed char", 1 },
    { "Byte", "uint8", "ncclUint8", "unsigned char", 1 },
    { "Short", "int16", NULL, NULL, 2 },
    { "Bool", "bool", NULL, NULL, 1 },
    { "ComplexFloat", "complex64", NULL, NULL, 8 },
    { "ComplexDouble", "complex128", NULL, NULL, 16 },
};
/* clang-format on */

enum { RULES = sizeof(rules) / sizeof(rules[0]), DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

const struct hs_semantics *hs_semantics_find(struct hs_str name)
{
    for (size_t i = 0; i < RULES; i++) {
        if (hs_str_is(name, rules[i].name))
            return &rules[i];
    }
    return NULL;
}

const struct hs_semantics *hs_semantics_of_backend(struct hs_str backend)
{
    const struct hs_semantics *found = hs_semantics_find(backend);

    return found ? found : &rules[0];
}

const struct hs_dtype *hs_dtype_find(struct hs_str recorded)
{
    for (size_t i = 0; i < DTYPES; i++) {
        if (hs_str_is(recorded, dtypes[i].recorded))
            return &dtypes[i];
    }
    return NULL;
}

bool hs_semantics_define(const struct hs_operation_kind *kind)
{
    return kind->proof == HS_PROOF_ALL;
}

/* The c10d spelling, or the recorded name of an operation that has none. */
static struct hs_str op_of(const struct hs_plan *plan, const struct hs_plan_signature *sig)
{
    return sig->kind->op ? hs_str_of(sig->kind->op) : hs_plan_string(plan, sig->op);
}

static bool same_dtype(const struct hs_semantics *r, const struct hs_plan *plan,
                       const struct hs_tensors *a, const struct hs_tensors *b)
{
    const struct hs_dtype *x, *y;

    if (a->dtype_count == 0 || b->dtype_count == 0)
        return true; /* not recorded */
    if (a->dtype_count == b->dtype_count &&
        memcmp(a->dtypes, b->dtypes, a->dtype_count * sizeof(*a->dtypes)) == 0)
        return true;
    x = hs_dtype_find(hs_plan_string(plan, a->dtypes[0]));
    y = hs_dtype_find(hs_plan_string(plan, b->dtypes[0]));
    return r->counts_bytes && a->dtype_count == b->dtype_count && x && y && x->bytes == y->bytes;
}

/* A side without tensors was not recorded: it cannot differ. */
static bool same_count(uint8_t rule, const struct hs_tensors *a, uint64_t count_a,
                       const struct hs_tensors *b, uint64_t count_b)
{
    return rule != HS_COUNT_EQUAL || !a->tensors || !b->tensors || count_a == count_b;
}

bool hs_semantics_match(const struct hs_semantics *r, const struct hs_plan *plan,
                        const struct hs_plan_signature *a, const struct hs_plan_signature *b)
{
    bool pair = hs_plan_is_pair(a) && hs_plan_is_pair(b);

    if (a == b)
        return true;
    if (pair)
        return a->numel_in == b->numel_in && same_dtype(r, plan, &a->in, &b->in);
    if (!hs_str_eq(op_of(plan, a), op_of(plan, b)) ||
        (a->root != HS_NO_ID && b->root != HS_NO_ID && a->root != b->root))
        return false;
    return same_count(a->kind->in, &a->in, a->numel_in, &b->in, b->numel_in) &&
           same_count(a->kind->out, &a->out, a->numel_out, &b->out, b->numel_out) &&
           (!a->kind->dtype || !a->in.tensors || !b->in.tensors ||
            same_dtype(r, plan, &a->in, &b->in));
}
