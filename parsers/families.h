/*
 * families.h - kinds of lines, as data: which text marks one, which pattern proves it, what it is
 * good for. The rows are in families/<group>.families, one stanza each:
 *
 *   [WD_TIMEOUT]
 *   versions  PyTorch 1.9 and later
 *   in        c10 any             where it may stand: nccl (the message of an NCCL line, from its
 *                                 start), c10 (behind a c10 or glog header), body (what is left of
 *                                 a record after peeling), line (the whole segment, unpeeled)
 *   literal   collective operation timeout      one of these must occur: looked for first; a line
 *   literal   ...                               without any literal hit never meets a pattern
 *   pattern   (?:Watchdog caught|...) ...       PCRE2, one line
 *   keep      event               event: a row in `event`, its line kept as evidence;
 *                                 fact: rows of its own kind by a taker, the line not kept;
 *                                 count: recognised, counted, not kept
 *   means     a rank waited for this call until its timeout      one sentence, for people
 *   example   [rank1]:[E ...      whole physical lines that a test runs; at least one
 *   not       ...                 lines that it must not take (optional)
 *
 * A family without a pattern is composite: a parser of records makes it (PY_TB, TBL_ROW); `fields`
 * then lists its values.
 */
#ifndef HS_PARSERS_FAMILIES_H
#define HS_PARSERS_FAMILIES_H

#include "parsers/literals.h"
#include "parsers/pattern.h"

enum hs_family_place { HS_IN_NCCL = 1, HS_IN_C10 = 2, HS_IN_BODY = 4, HS_IN_LINE = 8 };
enum hs_family_keep { HS_KEEP_EVENT, HS_KEEP_FACT, HS_KEEP_COUNT };

struct hs_family {
    struct hs_str name, versions, means, group; /* group: the file it stands in, nccl */
    unsigned places;                            /* enum hs_family_place */
    enum hs_family_keep keep;
    struct hs_pattern *pattern;            /* NULL: composite */
    uint32_t first_literal, literal_count; /* in hs_families.literals */
    const struct hs_str *examples;
    uint32_t example_count;
    const struct hs_str *fields; /* names of its values, in order */
    uint32_t field_count;
};

/* All of them, and the automaton over their literals and the marks of frames. Read only. */
struct hs_families {
    const struct hs_family *rows; /* in the order of files and stanzas */
    uint32_t count;
    const struct hs_literals *literals;
    const uint32_t *owner; /* by literal: its family; or HS_NO_ID + nothing: a mark of envelope.h */
    uint32_t literal_count;
    uint32_t
        mark_count; /* literals [0, mark_count) are the marks, in the order of hs_frame_marks */
    struct hs_families_memory *memory;
};

/* Read the families that are built in; HS_EUSAGE names file and line of a mistake. */
enum hs_status hs_families_new(struct hs_families **out, struct hs_err *err);
void hs_families_free(struct hs_families *families);

/* Its index; HS_NO_ID when there is none. */
uint32_t hs_family_find(const struct hs_families *families, const char *name);

/* What a family captured from a record. */
struct hs_found {
    uint32_t family;
    const struct hs_str *values; /* by field; p NULL: nothing. Valid until the next call */
    struct hs_str whole;         /* the text that matched */
    uint32_t at;                 /* where it begins in the record's text */
};

struct hs_record; /* envelope.h */

/*
 * Which families a record belongs to, given the literal hits of its segment. Calls `take` for each,
 * by the place of the match, then the order of families; a record may belong to several. False
 * when `take` returned false.
 */
bool hs_families_match(const struct hs_families *families, struct hs_matching *matching,
                       const struct hs_record *record, const struct hs_hit *hits, size_t hit_count,
                       bool (*take)(void *self, const struct hs_record *record,
                                    const struct hs_found *found),
                       void *self);

#endif
