/*
 * families.h - kinds of lines, as data: which text marks one, which pattern proves it, what it is
 * good for. The rows are in families/<group>.families, one stanza each:
 *
 *   [WD_TIMEOUT]
 *   versions  PyTorch 1.9 and later
 *   in        c10 body            which records it may be, see below
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
 * Places: `nccl`, the message of an NCCL line, whose pattern begins with ^; `c10`, what stands
 * behind a c10 or glog header; `body`, every other record (no header, or a Python logger's); `any`,
 * these three; `line`, the whole segment, unpeeled. Patterns see text without blanks at its end.
 *
 * `otherwise W F` in place of literals: a record of one of these levels that no other family took.
 * A family without a pattern is composite: a parser of records makes it (PY_TB, TBL_ROW); `fields`
 * then lists its values. Blanks at the ends of a value are dropped; where they matter, the value
 * stands between double quotes. A line that begins with # is a comment.
 */
#ifndef HS_PARSERS_FAMILIES_H
#define HS_PARSERS_FAMILIES_H

#include "base/limits.h"
#include "parsers/literals.h"
#include "parsers/pattern.h"

enum hs_family_place { HS_IN_NCCL = 1, HS_IN_C10 = 2, HS_IN_BODY = 4, HS_IN_LINE = 8 };
enum hs_family_keep { HS_KEEP_EVENT = 1, HS_KEEP_FACT, HS_KEEP_COUNT };

struct hs_family {
    struct hs_str name, versions, means, group; /* group: the file it stands in, nccl */
    unsigned places;                            /* enum hs_family_place */
    enum hs_family_keep keep;
    struct hs_str otherwise;               /* levels; n 0: it has literals */
    struct hs_pattern *pattern;            /* NULL: composite */
    uint32_t first_literal, literal_count; /* in hs_families.owner */
    const struct hs_str *literals, *examples, *counterexamples;
    uint32_t example_count, counterexample_count;
    const struct hs_str *fields; /* names of its values, in order */
    uint32_t field_count;
};

/* All of them, and the automaton over their literals and the marks of frames. Read only. */
struct hs_families {
    const struct hs_family *rows; /* in the order of files and stanzas */
    uint32_t count;
    const struct hs_literals *literals;
    const uint32_t *owner; /* by literal: its family; HS_NO_ID: a mark of envelope.h */
    uint32_t literal_count;
    uint32_t mark_count; /* literals [0, mark_count) are hs_frame_marks, in their order */
    struct hs_families_memory *memory;
};

/* Read the families that are built in; HS_EUSAGE names file and line of a mistake. */
enum hs_status hs_families_new(struct hs_families **out, struct hs_err *err);
void hs_families_free(struct hs_families *families);

/* The same from other texts, which must outlive the families. */
struct hs_families_text {
    struct hs_str group, text; /* of the file <group>.families */
};
enum hs_status hs_families_read(const struct hs_families_text *texts, uint32_t count,
                                struct hs_families **out, struct hs_err *err);

/* Compile all patterns now, for processes that are forked to share. False without memory. */
bool hs_families_warm(const struct hs_families *families);

/* Its index; HS_NO_ID when there is none. */
uint32_t hs_family_find(const struct hs_families *families, const char *name);

/* What a family captured from a record. */
struct hs_found {
    uint32_t family;
    const struct hs_str *values; /* by field; p NULL: nothing. Valid until `take` returns */
    struct hs_str whole;         /* the text that matched */
    uint32_t at;                 /* where it begins in the segment */
};

struct hs_record; /* envelope.h */

/*
 * Which families a record belongs to, given the literal hits of its segment. Calls `take` for each,
 * by the place of the match, then the order of families; a record may belong to several, to none
 * twice. A family of `line` is looked for with the last record of its segment. False when `take`
 * returned false.
 */
typedef bool hs_found_fn(void *self, const struct hs_record *record, const struct hs_found *found);
bool hs_families_match(const struct hs_families *families, struct hs_matching *matching,
                       const struct hs_record *record, struct hs_hits hits, hs_found_fn *take,
                       void *self);

#endif
