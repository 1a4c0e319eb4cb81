/*
 * pattern.h - regular expressions over one line: the one module that includes pcre2.h.
 *
 * Bytes, not characters; unanchored; with limits on matching, so that no line can hang us. A
 * pattern compiles (with JIT) when it is first tried; a set of patterns may be shared by threads,
 * the room for matching (struct hs_matching) belongs to one.
 */
#ifndef HS_PARSERS_PATTERN_H
#define HS_PARSERS_PATTERN_H

#include "base/err.h"
#include "base/str.h"

struct hs_pattern;

/* Room that one thread needs to match with any pattern. */
struct hs_matching;

/*
 * Check and keep an expression (text borrowed: it outlives the pattern). Names of groups may occur
 * several times, for alternatives. HS_EUSAGE with the place and reason when it is no expression.
 */
enum hs_status hs_pattern_new(struct hs_str expression, struct hs_pattern **out,
                              struct hs_err *err);
void hs_pattern_free(struct hs_pattern *pattern);

/* The distinct names of its groups, in the order of the expression. */
uint32_t hs_pattern_name_count(const struct hs_pattern *pattern);
struct hs_str hs_pattern_name(const struct hs_pattern *pattern, uint32_t i);

struct hs_matching *hs_matching_new(void); /* NULL without memory */
void hs_matching_free(struct hs_matching *matching);

enum hs_match {
    HS_MATCH_NO,
    HS_MATCH_YES,
    HS_MATCH_LIMIT, /* given up: it took too long */
};

/*
 * Search `text`. After HS_MATCH_YES `values` (one per name) hold what each name captured, p NULL
 * where nothing did; `whole` (may be NULL) is the text that matched.
 */
enum hs_match hs_pattern_search(struct hs_pattern *pattern, struct hs_matching *matching,
                                struct hs_str text, struct hs_str *values, struct hs_str *whole);

#endif
