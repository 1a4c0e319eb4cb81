#include "base/ranks.h"

#include "base/limits.h"

#include <stdlib.h>

int hs_compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool hs_u32_contains(const uint32_t *sorted, size_t count, uint32_t value)
{
    return count && bsearch(&value, sorted, count, sizeof(value), hs_compare_u32) != NULL;
}

void hs_ranks_put(struct hs_buf *buf, const uint32_t *ranks, size_t count, size_t max_runs)
{
    size_t runs = 0;

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && ranks[end] == ranks[end - 1] + 1; end++)
            continue;
        if (runs == max_runs) {
            hs_buf_printf(buf, " and %zu more", count - i);
            return;
        }
        hs_buf_printf(buf, "%s%u", runs++ ? ", " : "", ranks[i]);
        if (end - i > 1)
            hs_buf_printf(buf, "%s%u", end - i == 2 ? ", " : "-", ranks[end - 1]);
    }
}

static bool take_number(struct hs_str *text, uint32_t *out)
{
    size_t i = 0;
    uint32_t value = 0;

    for (; i < text->n && text->p[i] >= '0' && text->p[i] <= '9' && value <= HS_RANK_MAX; i++)
        value = value * 10 + (uint32_t)(text->p[i] - '0');
    if (i == 0 || value > HS_RANK_MAX)
        return false;
    text->p += i;
    text->n -= i;
    *out = value;
    return true;
}

static bool take_char(struct hs_str *text, char c)
{
    if (text->n == 0 || *text->p != c)
        return false;
    text->p++;
    text->n--;
    return true;
}

/* One pass over the list: into `ranks`, or only counted when that is NULL. */
static bool list_ranks(struct hs_str text, uint32_t max, uint32_t *ranks, uint32_t *count)
{
    do {
        uint32_t from, to;

        if (!take_number(&text, &from))
            return false;
        to = from;
        if (take_char(&text, '-') && (!take_number(&text, &to) || to < from))
            return false;
        if (to - from >= max - *count)
            return false;
        for (uint32_t rank = from; ranks && rank <= to; rank++)
            ranks[*count + (rank - from)] = rank;
        *count += to - from + 1;
    } while (take_char(&text, ','));
    return text.n == 0;
}

bool hs_ranks_read(struct hs_str text, uint32_t max, uint32_t **out, uint32_t *count)
{
    uint32_t listed = 0, again = 0, kept = 0;
    uint32_t *ranks;

    if (!list_ranks(text, max, NULL, &listed))
        return false;
    ranks = calloc((size_t)listed + 1, sizeof(*ranks));
    *out = ranks;
    *count = 0;
    if (!ranks)
        return true;
    (void)list_ranks(text, max, ranks, &again);
    qsort(ranks, listed, sizeof(*ranks), hs_compare_u32);
    for (uint32_t i = 0; i < listed; i++) {
        if (kept == 0 || ranks[kept - 1] != ranks[i])
            ranks[kept++] = ranks[i];
    }
    *count = kept;
    return true;
}
