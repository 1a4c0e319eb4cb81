/* ranks.h - sets of ranks as people write them: "0-7,12". */
#ifndef HS_BASE_RANKS_H
#define HS_BASE_RANKS_H

#include "base/buf.h"

/* Append sorted, distinct ranks as "0-7,12"; after `max_runs` runs the rest is counted. */
void hs_ranks_put(struct hs_buf *buf, const uint32_t *ranks, size_t count, size_t max_runs);

/* Read "0-7,12": sorted, distinct, at most `max`. False when it is not such a list. The caller
 * frees `out`, also when it is NULL for want of memory. */
bool hs_ranks_read(struct hs_str text, uint32_t max, uint32_t **out, uint32_t *count);

/* For qsort() and bsearch() over u32. */
int hs_compare_u32(const void *a, const void *b);

/* Whether a sorted array holds `value`. */
bool hs_u32_contains(const uint32_t *sorted, size_t count, uint32_t value);

#endif
