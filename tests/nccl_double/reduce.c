/* reduce.c - element types and what reductions do to them: computed wide, rounded once. */
#include "double.h"

#include <math.h>
#include <string.h>

enum form { SIGNED, UNSIGNED, REAL, SMALL };

/* A small float: a sign, then `exponent` bits, then `fraction` bits. Without infinities the largest
 * pattern alone is no number, and what is too large becomes the largest one. */
static const struct type {
    enum form form;
    uint8_t bytes, exponent, fraction;
    bool infinite, saturates;
} types[ncclNumTypes] = {
    [ncclInt8] = { SIGNED, 1, 0, 0, false, false },
    [ncclUint8] = { UNSIGNED, 1, 0, 0, false, false },
    [ncclInt32] = { SIGNED, 4, 0, 0, false, false },
    [ncclUint32] = { UNSIGNED, 4, 0, 0, false, false },
    [ncclInt64] = { SIGNED, 8, 0, 0, false, false },
    [ncclUint64] = { UNSIGNED, 8, 0, 0, false, false },
    [ncclFloat16] = { SMALL, 2, 5, 10, true, false },
    [ncclFloat32] = { REAL, 4, 0, 0, false, false },
    [ncclFloat64] = { REAL, 8, 0, 0, false, false },
    [ncclBfloat16] = { SMALL, 2, 8, 7, true, false },
    [ncclFloat8e4m3] = { SMALL, 1, 4, 3, false, true },
    [ncclFloat8e5m2] = { SMALL, 1, 5, 2, true, true },
};

uint32_t hs_dtype_bytes(ncclDataType_t type)
{
    return types[type].bytes;
}

static double small_widen(const struct type *t, uint32_t bits)
{
    uint32_t top = (1u << t->exponent) - 1, fraction = bits & ((1u << t->fraction) - 1);
    uint32_t exponent = bits >> t->fraction & top;
    int bias = (int)(top >> 1), shift = bias + t->fraction;
    double sign = bits >> (t->exponent + t->fraction) & 1 ? -1 : 1;

    if (exponent == top && t->infinite)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == top && fraction == (1u << t->fraction) - 1)
        return NAN;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - shift);
    return sign * ldexp(fraction + (1u << t->fraction), (int)exponent - shift);
}

static uint32_t small_narrow(const struct type *t, double x)
{
    uint32_t top = (1u << t->exponent) - 1, ones = (1u << t->fraction) - 1;
    uint32_t sign = signbit(x) ? 1u << (t->exponent + t->fraction) : 0;
    uint32_t infinity = top << t->fraction, most = t->infinite ? infinity - 1 : infinity + ones - 1;
    int bias = (int)(top >> 1), exponent;
    uint32_t bits;

    if (isnan(x))
        return infinity + ones;
    frexp(x, &exponent);
    exponent = exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias; /* of the leading bit */
    if (isinf(x) || fabs(x) > 2 * small_widen(t, most))
        bits = most + 1;
    else
        bits = ((uint32_t)(exponent + bias - 1) << t->fraction) +
               (uint32_t)nearbyint(ldexp(fabs(x), t->fraction - exponent));
    if (bits > most)
        bits = t->saturates ? most : infinity;
    return sign | bits;
}

static void widen_whole(const struct type *t, const void *in, union hs_wide *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)in + (size_t)i * t->bytes;
        uint64_t value = 0;
        uint64_t sign = 1ULL << (8 * t->bytes - 1);

        memcpy(&value, from, t->bytes); /* little-endian, as the machines of GPUs are */
        if (t->form == SIGNED && value & sign)
            value |= ~(2 * sign - 1);
        out[i].whole = value;
    }
}

void hs_dtype_widen(ncclDataType_t type, const void *in, union hs_wide *out, uint32_t count)
{
    const struct type *t = &types[type];

    if (t->form == SIGNED || t->form == UNSIGNED) {
        widen_whole(t, in, out, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)in + (size_t)i * t->bytes;
        uint32_t bits = 0;
        float single;

        if (type == ncclFloat64) {
            memcpy(&out[i].real, from, sizeof(double));
        } else if (type == ncclFloat32) {
            memcpy(&single, from, sizeof(single));
            out[i].real = single;
        } else {
            memcpy(&bits, from, t->bytes);
            out[i].real = small_widen(t, bits);
        }
    }
}

void hs_dtype_narrow(ncclDataType_t type, const union hs_wide *in, void *out, uint32_t count)
{
    const struct type *t = &types[type];

    for (uint32_t i = 0; i < count; i++) {
        char *to = (char *)out + (size_t)i * t->bytes;
        uint32_t bits;
        float single;

        if (t->form == SMALL) {
            bits = small_narrow(t, in[i].real);
            memcpy(to, &bits, t->bytes);
        } else if (type == ncclFloat32) {
            single = (float)in[i].real;
            memcpy(to, &single, sizeof(single));
        } else {
            memcpy(to, &in[i], t->bytes);
        }
    }
}

static bool is_real(ncclDataType_t type)
{
    return types[type].form == REAL || types[type].form == SMALL;
}

double hs_dtype_scalar(ncclDataType_t type, const void *scalar)
{
    union hs_wide wide = { .whole = 0 };

    hs_dtype_widen(type, scalar, &wide, 1);
    if (is_real(type))
        return wide.real;
    return types[type].form == SIGNED ? (double)(int64_t)wide.whole : (double)wide.whole;
}

static double combine_real(ncclRedOp_t op, double a, double b)
{
    switch (op) {
    case ncclProd:
        return a * b;
    case ncclMax:
        return a > b ? a : b;
    case ncclMin:
        return a < b ? a : b;
    default:
        return a + b;
    }
}

static uint64_t combine_whole(ncclRedOp_t op, bool is_signed, uint64_t a, uint64_t b)
{
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    switch (op) {
    case ncclProd:
        return a * b;
    case ncclMax:
        return less ? b : a;
    case ncclMin:
        return less ? a : b;
    default:
        return a + b;
    }
}

void hs_reduce(ncclDataType_t type, ncclRedOp_t op, union hs_wide *acc, const union hs_wide *in,
               uint32_t count)
{
    bool real = is_real(type), is_signed = types[type].form == SIGNED;

    for (uint32_t i = 0; i < count; i++) {
        if (real)
            acc[i].real = combine_real(op, acc[i].real, in[i].real);
        else
            acc[i].whole = combine_whole(op, is_signed, acc[i].whole, in[i].whole);
    }
}

void hs_reduce_scale(ncclDataType_t type, union hs_wide *acc, double factor, uint32_t count)
{
    for (uint32_t i = 0; i < count && factor != 1; i++) {
        if (is_real(type))
            acc[i].real *= factor;
        else
            acc[i].whole *= (uint64_t)(int64_t)factor;
    }
}

void hs_reduce_divide(ncclDataType_t type, union hs_wide *acc, int by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_real(type))
            acc[i].real /= by;
        else if (types[type].form == SIGNED)
            acc[i].whole = (uint64_t)((int64_t)acc[i].whole / by);
        else
            acc[i].whole /= (uint64_t)by;
    }
}
