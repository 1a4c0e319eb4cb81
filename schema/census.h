/* census.h - what the lines of a source are, counted by kind: for people who ask why a file was
 * taken for what it is. */
#ifndef HS_SCHEMA_CENSUS_H
#define HS_SCHEMA_CENSUS_H

#include "schema/job.h"

struct hs_census_row {
    uint32_t family; /* string */
    uint32_t lines;  /* all of them, equal ones too */
    uint64_t first_line;
};

struct hs_census {
    struct hs_census_row *rows; /* the commonest first, then by name */
    uint32_t count;
    uint32_t speakers, communicators, links, facts, calls;
};

/* Count the rows of `source`; the list lives in `arena`. False without memory. */
bool hs_census_take(const struct hs_job *job, uint32_t source, struct hs_arena *arena,
                    struct hs_census *out);

#endif
