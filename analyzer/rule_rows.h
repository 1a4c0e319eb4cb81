/*
 * rule_rows.h - of all rows of a job, those that rules are asked about.
 *
 * A rule looks for the reason of one attempt: rows of others would only be left out of what it
 * finds, and a job that was restarted over and over, or whose log is of weeks, has a thousand times
 * as many of them. Rows of no attempt in particular are there for all.
 */
#ifndef HS_ANALYZER_RULE_ROWS_H
#define HS_ANALYZER_RULE_ROWS_H

#include "analyzer/identity.h"
#include "schema/tables.h"

/* The choices (in the arena), for hs_rows.choices; NULL without memory. */
const struct hs_row_choice *hs_rule_rows_choose(const struct hs_identity *identity,
                                                const struct hs_derived *who, uint32_t attempt,
                                                struct hs_arena *arena);

#endif
