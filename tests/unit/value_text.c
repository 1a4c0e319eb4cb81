#include "value_text.h"

#include "base/intern.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64, CONTAINERS_MAX = 1000000 };

struct printer {
    struct hs_buf *out;
    const struct hs_document *doc;
    unsigned depth, containers;
};

static void put_value(struct printer *p, const struct hs_value *value);

static void put_string(struct hs_buf *out, struct hs_str text)
{
    hs_buf_putc(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 || c > 0x7e)
            hs_buf_printf(out, "\\x%02x", c);
        else if (c == '"' || c == '\\')
            hs_buf_printf(out, "\\%c", c);
        else
            hs_buf_putc(out, (char)c);
    }
    hs_buf_putc(out, '"');
}

static bool is_number(const struct hs_value *value)
{
    return value->kind == HS_VALUE_BOOL || value->kind == HS_VALUE_INT ||
           value->kind == HS_VALUE_FLOAT;
}

static double as_double(const struct hs_value *value)
{
    return value->kind == HS_VALUE_FLOAT ? value->f : (double)value->i;
}

/* Python's idea of equal keys, for scalars: 1, 1.0 and True are one key. */
static bool same_key(const struct hs_value *a, const struct hs_value *b)
{
    if (is_number(a) && is_number(b)) {
        if (a->kind != HS_VALUE_FLOAT && b->kind != HS_VALUE_FLOAT)
            return a->i == b->i;
        return as_double(a) == as_double(b) &&
               ((a->kind == HS_VALUE_FLOAT && b->kind == HS_VALUE_FLOAT) ||
                (as_double(a) < 0x1p63 &&
                 (int64_t)as_double(a) == (a->kind == HS_VALUE_FLOAT ? b->i : a->i)));
    }
    if (a->kind != b->kind)
        return false;
    if (a->kind == HS_VALUE_STR || a->kind == HS_VALUE_BYTES)
        return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
    return a->kind == HS_VALUE_NONE;
}

static uint64_t hash_key(const struct hs_value *key)
{
    double f;

    if (key->kind == HS_VALUE_STR || key->kind == HS_VALUE_BYTES)
        return hs_hash((struct hs_str){ .p = key->p, .n = key->n });
    if (!is_number(key))
        return key->kind;
    f = as_double(key) + 0.0; /* -0.0 becomes 0.0 */
    return hs_hash((struct hs_str){ .p = (const char *)&f, .n = sizeof(f) });
}

/* Where the last value of each pair's key is: latest[i] is an index into `items`, 0 for a pair that
 * only repeats an earlier key. */
static void find_latest(const struct hs_value *items, uint32_t pairs, uint32_t *latest)
{
    uint32_t slots = 16;
    uint32_t *table;

    while (slots < pairs * 2)
        slots *= 2;
    table = calloc(slots, sizeof(*table));
    if (!table)
        abort();
    for (uint32_t i = 0; i < pairs; i++) {
        const struct hs_value *key = items + 2 * (size_t)i;
        uint32_t at = (uint32_t)hash_key(key) & (slots - 1);
        bool scalar = key->kind < HS_VALUE_LIST && key->kind != HS_VALUE_BIG &&
                      !(key->kind == HS_VALUE_FLOAT && key->f != key->f);

        latest[i] = 2 * i + 1;
        while (scalar && table[at] && !same_key(items + 2 * (size_t)(table[at] - 1), key))
            at = (at + 1) & (slots - 1);
        if (!scalar)
            continue;
        if (table[at]) {
            latest[table[at] - 1] = latest[i];
            latest[i] = 0;
        } else {
            table[at] = i + 1;
        }
    }
    free(table);
}

static void put_dict(struct printer *p, const struct hs_value *items, uint32_t count)
{
    uint32_t pairs = count / 2;
    uint32_t *latest = calloc(pairs + 1, sizeof(*latest));

    if (!latest)
        abort();
    find_latest(items, pairs, latest);
    hs_buf_putc(p->out, '{');
    for (uint32_t i = 0; i < pairs; i++) {
        if (latest[i] == 0)
            continue;
        if (i > 0)
            hs_buf_putc(p->out, ',');
        put_value(p, items + 2 * (size_t)i);
        hs_buf_putc(p->out, ':');
        put_value(p, items + latest[i]);
    }
    hs_buf_putc(p->out, '}');
    free(latest);
}

static void put_container(struct printer *p, const struct hs_value *value)
{
    bool list = value->kind == HS_VALUE_LIST;
    uint32_t count;
    const struct hs_value *items = hs_items(p->doc, value, &count);

    if (p->depth == DEPTH_MAX || p->containers == CONTAINERS_MAX) {
        hs_buf_put(p->out, HS_STR("…"));
        return;
    }
    p->depth++;
    p->containers++;
    if (value->kind == HS_VALUE_DICT) {
        put_dict(p, items, count);
    } else {
        hs_buf_putc(p->out, list ? '[' : '(');
        for (uint32_t i = 0; i < count; i++) {
            if (i > 0)
                hs_buf_putc(p->out, ',');
            put_value(p, items + i);
        }
        hs_buf_putc(p->out, list ? ']' : ')');
    }
    p->depth--;
}

static void put_value(struct printer *p, const struct hs_value *value)
{
    uint64_t bits;

    switch (value->kind) {
    case HS_VALUE_NONE:
        hs_buf_put(p->out, HS_STR("null"));
        break;
    case HS_VALUE_BOOL:
        hs_buf_put(p->out, value->i ? HS_STR("true") : HS_STR("false"));
        break;
    case HS_VALUE_INT:
        hs_buf_printf(p->out, "%" PRId64, value->i);
        break;
    case HS_VALUE_BIG:
        hs_buf_put(p->out, HS_STR("big"));
        break;
    case HS_VALUE_FLOAT:
        memcpy(&bits, &value->f, sizeof(bits));
        hs_buf_printf(p->out, "f:%016" PRIx64, bits);
        break;
    case HS_VALUE_STR:
        put_string(p->out, hs_value_str(value));
        break;
    case HS_VALUE_BYTES:
        hs_buf_printf(p->out, "bytes(%" PRIu32 ")", value->n);
        break;
    case HS_VALUE_STREAMED:
        hs_buf_put(p->out, HS_STR("streamed"));
        break;
    default:
        put_container(p, value);
        break;
    }
}

void value_text_put(struct hs_buf *out, const struct hs_document *doc, const struct hs_value *value)
{
    struct printer p = { .out = out, .doc = doc };

    put_value(&p, value);
}
