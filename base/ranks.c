#include "base/ranks.h"

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
