/*
 * dump_name.h - who wrote a dump: the dump itself does not say, only its name does.
 *
 * The writer appends the global rank to a prefix that people change at will, so the rank is the
 * last integer of the file's stem. Hosts occur in names ("nccl_trace_rank_node7_3") and as folders.
 */
#ifndef HS_PARSERS_DUMP_NAME_H
#define HS_PARSERS_DUMP_NAME_H

#include "base/str.h"

/* False when the name holds no number that can be a rank. `host` is empty when none is named. */
bool hs_dump_name_read(struct hs_str path, uint32_t *rank, struct hs_str *host);

#endif
