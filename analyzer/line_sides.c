#include "analyzer/line_sides.h"

#include "base/buf.h"
#include "base/ranks.h"

#include <stdlib.h>

enum { SIDES_SHOWN = 4 };

bool hs_sides_add(struct hs_sides *s, const struct hs_side_view *view)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->views[i].place == view->place)
            return true;
    }
    if (s->count == s->cap) { /* in the arena, by doubling */
        uint32_t cap = s->cap ? 2 * s->cap : 8;
        struct hs_side_view *views = HS_NEW(s->arena, struct hs_side_view, cap);

        if (!views)
            return false;
        if (s->count)
            memcpy(views, s->views, s->count * sizeof(*views));
        s->views = views;
        s->cap = cap;
    }
    s->views[s->count++] = *view;
    return true;
}

static bool differs(struct hs_str a, struct hs_str b)
{
    return a.p && b.p && !hs_str_eq(a, b);
}

static bool same(const struct hs_side_view *a, const struct hs_side_view *b)
{
    return !differs(a->op, b->op) && !differs(a->shape, b->shape) && !differs(a->dtype, b->dtype);
}

bool hs_sides_differ(const struct hs_sides *s)
{
    for (uint32_t i = 1; i < s->count; i++) {
        if (!same(&s->views[0], &s->views[i]))
            return true;
    }
    return false;
}

/* A view of the side that holds more than half of all; NULL: there is none. */
static const struct hs_side_view *majority(const struct hs_sides *s)
{
    const struct hs_side_view *candidate = NULL;
    uint32_t votes = 0, equal = 0;

    for (uint32_t i = 0; i < s->count; i++) { /* Boyer and Moore's vote */
        if (votes == 0)
            candidate = &s->views[i];
        votes += same(candidate, &s->views[i]) ? 1u : UINT32_MAX;
    }
    for (uint32_t i = 0; candidate && i < s->count; i++)
        equal += same(candidate, &s->views[i]);
    return equal * 2 > s->count ? candidate : NULL;
}

const char *hs_sides_code(const struct hs_sides *s)
{
    const struct hs_side_view *most = majority(s);
    bool op = false, shape = false, dtype = false;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct hs_side_view *base = most ? most : &s->views[0];

        op |= differs(base->op, s->views[i].op);
        shape |= differs(base->shape, s->views[i].shape);
        dtype |= differs(base->dtype, s->views[i].dtype);
    }
    if (op || (shape && dtype))
        return "order-mismatch";
    return shape ? "size-mismatch" : dtype ? "dtype-mismatch" : "order-mismatch";
}

uint32_t *hs_sides_odd(const struct hs_sides *s, uint32_t *count)
{
    uint32_t *odd = HS_NEW(s->arena, uint32_t, s->count);
    const struct hs_side_view *most = majority(s);

    *count = 0;
    for (uint32_t i = 0; odd && most && i < s->count; i++) {
        if (!same(most, &s->views[i]))
            odd[(*count)++] = (uint32_t)s->views[i].place;
    }
    if (odd && *count)
        qsort(odd, *count, sizeof(*odd), hs_compare_u32);
    return odd;
}

struct hs_str hs_sides_text(const struct hs_sides *s)
{
    struct hs_buf buf;
    struct hs_str text;
    uint32_t shown = 0;

    hs_buf_init(&buf);
    for (uint32_t i = 0; i < s->count && shown < SIDES_SHOWN; i++) {
        const struct hs_side_view *v = &s->views[i];
        bool known = false;

        for (uint32_t k = 0; k < i && !known; k++)
            known = same(&s->views[k], v);
        if (known)
            continue;
        hs_buf_printf(&buf, "%srank %llu: ", shown++ ? "; " : "", (unsigned long long)v->place);
        hs_buf_put_safe(&buf, v->op, 64);
        if (v->shape.p) {
            hs_buf_put(&buf, HS_STR(" ["));
            hs_buf_put_safe(&buf, v->shape, 64);
            hs_buf_putc(&buf, ']');
        }
        if (v->dtype.p) {
            hs_buf_putc(&buf, ' ');
            hs_buf_put_safe(&buf, v->dtype, 32);
        }
    }
    text = buf.failed ? (struct hs_str){ .p = NULL } : hs_arena_copy(s->arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return text;
}
