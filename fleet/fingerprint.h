/* fingerprint.h - what makes two failures the same one. */
#ifndef HS_FLEET_FINGERPRINT_H
#define HS_FLEET_FINGERPRINT_H

#include "schema/fleet.h"
#include "schema/verdict.h"

/*
 * Fill in, from a verdict, what stays the same when the same fault comes again: operation and kind
 * of group, the user's frames, `sketch` (all of it in words) and `fingerprint` (its hash), the last
 * two only for a fault. No line, rank, host, address, size or folder is in it. Texts and lists live
 * in `arena`. False without memory.
 */
bool hs_fingerprint(const struct hs_verdict *verdict, struct hs_arena *arena,
                    struct hs_fleet_row *out);

/* The kind of a group by its label: world, tensor, pipeline, data, ...; "other" when it tells
 * nothing, .p NULL when there is no label. */
struct hs_str hs_group_kind(struct hs_str label);

#endif
