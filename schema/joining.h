/* joining.h - what the files that join parts of a job share; nobody else includes it. */
#ifndef HS_SCHEMA_JOINING_H
#define HS_SCHEMA_JOINING_H

#include "schema/tables.h"

enum { LINE_TABLES = 6 }; /* of hs_line_tables */

/*
 * What each id of a part became in the whole; HS_NO_ID: not met yet. Of tables whose rows belong to
 * a source: where the rows of each source begin (one more than there are sources), and where they
 * came to lie.
 */
struct renumbering {
    uint32_t *strings, *lists, *signatures, *frames, *stacks, *args;
    uint32_t *first[LINE_TABLES], *moved[LINE_TABLES];
};

struct joining {
    struct hs_job *parts, *out;
    struct renumbering *ids; /* by part */
    struct hs_arena scratch;
    struct hs_intern texts; /* content and size of each source whose lines were taken */
};

/* Prepare the renumbering of `count` parts; everything lives in `arena`. */
bool hs_join_begin(struct joining *j, uint32_t count, struct hs_arena *arena);

/* What an id of a part is called in the whole: put there when it is met first. HS_NO_ID stays what
 * it is, and comes also without memory. */
uint32_t hs_join_string(struct joining *j, uint32_t part, uint32_t id);
uint32_t hs_join_list(struct joining *j, uint32_t part, uint32_t id);
uint32_t hs_join_stack(struct joining *j, uint32_t part, uint32_t id);
uint32_t hs_join_args(struct joining *j, uint32_t part, uint32_t id);
uint32_t hs_join_signature(struct joining *j, uint32_t part, uint32_t id);

/* The same for a row of a table whose rows belong to a source, which has been taken. */
uint32_t hs_join_row(const struct joining *j, uint32_t part, uint32_t source, const char *table,
                     uint32_t id);

/* Whether lines say something of a source; taking what they say to source `to`; and whether that
 * was done. */
bool hs_join_taken(const struct joining *j, uint32_t part, uint32_t source);
bool hs_join_has_lines(const struct joining *j, uint32_t part, uint32_t source);
bool hs_join_index_lines(struct renumbering *ids, const struct hs_job *part,
                         struct hs_arena *arena);
bool hs_join_lines(struct joining *j, uint32_t part, uint32_t source, uint32_t to);

#endif
