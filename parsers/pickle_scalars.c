#include "base/json.h"
#include "parsers/pickle_ops.h"

#include <math.h>

bool hs_pickle_malformed(struct hs_pickle *m, const char *what)
{
    return hs_builder_fail(&m->b, "malformed", "%s: %s", m->op->name, what);
}

static bool push_int(struct hs_pickle *m, int64_t i)
{
    return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_INT, .i = i });
}

bool hs_pickle_run_none(struct hs_pickle *m)
{
    return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_NONE });
}

bool hs_pickle_run_true(struct hs_pickle *m)
{
    return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_BOOL, .i = 1 });
}

bool hs_pickle_run_false(struct hs_pickle *m)
{
    return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_BOOL, .i = 0 });
}

bool hs_pickle_run_int(struct hs_pickle *m)
{
    return push_int(m, m->arg.number);
}

static bool push_decimal(struct hs_pickle *m, struct hs_str text)
{
    struct hs_json_token token;
    enum hs_json_kind kind = hs_json_number(text, &token);

    if (text.n > HS_NUMBER_DIGITS_MAX)
        return hs_builder_fail(&m->b, "limit", "%s: a number of too many digits", m->op->name);
    if (kind == HS_JSON_BIG)
        return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_BIG });
    return kind == HS_JSON_INT ? push_int(m, token.i)
                               : hs_pickle_malformed(m, "no decimal integer");
}

/* INT writes booleans as 00 and 01. */
bool hs_pickle_run_int_line(struct hs_pickle *m)
{
    struct hs_str text = m->arg.text;

    if (hs_str_is(text, "00") || hs_str_is(text, "01"))
        return text.p[1] == '1' ? hs_pickle_run_true(m) : hs_pickle_run_false(m);
    return push_decimal(m, text);
}

bool hs_pickle_run_long_line(struct hs_pickle *m)
{
    struct hs_str text = m->arg.text;

    if (hs_str_ends(text, HS_STR("L")))
        text.n--;
    return push_decimal(m, text);
}

/* A little-endian integer of any length in two's complement. */
bool hs_pickle_run_long(struct hs_pickle *m)
{
    const unsigned char *digits = (const unsigned char *)m->arg.text.p;
    size_t n = m->arg.text.n;
    bool negative = n > 0 && (digits[n - 1] & 0x80);
    uint64_t value = negative ? UINT64_MAX : 0;

    while (n > 8 && digits[n - 1] == (negative ? 0xff : 0) &&
           negative == ((digits[n - 2] & 0x80) != 0))
        n--;
    if (n > 8)
        return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_BIG });
    while (n > 0)
        value = value << 8 | digits[--n];
    return push_int(m, (int64_t)value);
}

static bool push_float(struct hs_pickle *m, double f)
{
    return hs_builder_push(&m->b, (struct hs_value){ .kind = HS_VALUE_FLOAT, .f = f });
}

bool hs_pickle_run_float(struct hs_pickle *m)
{
    uint64_t bits = __builtin_bswap64((uint64_t)m->arg.number);
    double f;

    memcpy(&f, &bits, sizeof(f));
    return push_float(m, f);
}

bool hs_pickle_run_float_line(struct hs_pickle *m)
{
    struct hs_str text = m->arg.text;
    struct hs_json_token token = { .i = 0 };

    if (hs_str_is(text, "nan"))
        return push_float(m, NAN);
    if (hs_str_is(text, "inf") || hs_str_is(text, "-inf"))
        return push_float(m, text.n == 3 ? INFINITY : -INFINITY);
    switch (hs_json_number(text, &token)) {
    case HS_JSON_FLOAT:
        return push_float(m, token.f);
    case HS_JSON_INT:
        return push_float(m, (double)token.i);
    default:
        return hs_pickle_malformed(m, "no number");
    }
}

static bool push_text(struct hs_pickle *m, struct hs_str text)
{
    if (!text.p)
        return hs_builder_no_memory(&m->b);
    return hs_builder_push(&m->b, hs_builder_text(&m->b, text));
}

bool hs_pickle_run_text(struct hs_pickle *m)
{
    return push_text(m, m->arg.text);
}

bool hs_pickle_run_bytes(struct hs_pickle *m)
{
    struct hs_str text = m->arg.text;

    return hs_builder_push(
        &m->b, (struct hs_value){ .kind = HS_VALUE_BYTES, .n = (uint32_t)text.n, .p = text.p });
}

/* One character of a text whose bytes are Latin-1 with \uXXXX and \UXXXXXXXX; the bytes it took, or
 * 0 when the escape is broken. */
static size_t take_raw(struct hs_str text, uint32_t *c)
{
    size_t digits = 0;

    *c = (unsigned char)text.p[0];
    if (*c == '\\' && text.n > 1)
        digits = text.p[1] == 'u' ? 4 : text.p[1] == 'U' ? 8 : 0;
    if (digits == 0)
        return 1;
    if (text.n < 2 + digits)
        return 0;
    *c = hs_json_hex(text.p + 2, digits);
    return *c > 0x10ffff ? 0 : 2 + digits;
}

bool hs_pickle_run_unicode_line(struct hs_pickle *m)
{
    struct hs_str rest = m->arg.text;
    char *out = hs_arena_alloc(&m->b.doc->texts, 2 * rest.n + 1, 1);
    size_t n = 0;

    while (out && rest.n > 0) {
        uint32_t c;
        size_t used = take_raw(rest, &c);

        if (used == 0)
            return hs_pickle_malformed(m, "a broken escape");
        n += hs_json_put_utf8(out + n, c);
        rest.p += used;
        rest.n -= used;
    }
    return push_text(m, (struct hs_str){ .p = out, .n = n });
}

/* One character of a Python string literal; the bytes it took, or 0 when the escape is broken. `c`
 * is negative for a line continued. */
static size_t take_escaped(struct hs_str text, int *c)
{
    static const char letters[] = "\\'\"abfnrtv\n", meant[] = "\\'\"\a\b\f\n\r\t\v";
    const char *letter;
    size_t i = 1;

    *c = (unsigned char)text.p[0];
    if (*c != '\\')
        return 1;
    if (text.n < 2)
        return 0;
    if (text.p[1] == 'x') {
        uint32_t value = text.n < 4 ? UINT32_MAX : hs_json_hex(text.p + 2, 2);

        *c = (int)(value & 0xff);
        return value == UINT32_MAX ? 0 : 4;
    }
    letter = text.p[1] ? strchr(letters, text.p[1]) : NULL;
    if (letter) {
        *c = *letter == '\n' ? -1 : meant[letter - letters];
        return 2;
    }
    if (text.p[1] < '0' || text.p[1] > '7')
        return 1; /* an escape that Python does not know stands for itself */
    for (*c = 0; i < 4 && i < text.n && text.p[i] >= '0' && text.p[i] <= '7'; i++)
        *c = *c * 8 + (text.p[i] - '0');
    return i;
}

bool hs_pickle_run_string_line(struct hs_pickle *m)
{
    struct hs_str rest = m->arg.text;
    char *out = hs_arena_alloc(&m->b.doc->texts, rest.n + 1, 1);
    size_t n = 0;

    if (rest.n < 2 || rest.p[0] != rest.p[rest.n - 1] || (rest.p[0] != '\'' && rest.p[0] != '"'))
        return hs_pickle_malformed(m, "a string without quotes");
    rest = (struct hs_str){ .p = rest.p + 1, .n = rest.n - 2 };
    while (out && rest.n > 0) {
        int c;
        size_t used = take_escaped(rest, &c);

        if (used == 0)
            return hs_pickle_malformed(m, "a broken escape");
        if (c >= 0)
            out[n++] = (char)c;
        rest.p += used;
        rest.n -= used;
    }
    return push_text(m, (struct hs_str){ .p = out, .n = n });
}
