/*
 * pattern.h - regular expressions over one line: the one module that includes pcre2.h.
 *
 * PCRE2 over bytes, not characters; unanchored unless it says ^; a dot is any byte and $ the very
 * end; plain parentheses do not capture. Matching has limits, so that no line can hang us. A
 * pattern compiles (with JIT where the system allows it) when it is first tried; a set of patterns
 * may be shared by threads, the room for matching (struct hs_matching) belongs to one.
 */
#ifndef HS_PARSERS_PATTERN_H
#define HS_PARSERS_PATTERN_H

#include "base/err.h"
#include "base/str.h"

struct hs_pattern;

/* Room that one thread needs to match with any pattern. */
struct hs_matching;

/*
 * Keep an expression (text borrowed: it outlives the pattern). Names of groups may occur several
 * times, for alternatives. HS_EUSAGE when it has too many of them.
 */
enum hs_status hs_pattern_new(struct hs_str expression, struct hs_pattern **out,
                              struct hs_err *err);
void hs_pattern_free(struct hs_pattern *pattern);

/* Compile it now. HS_EUSAGE with the place and reason when it is no expression; such a pattern
 * never matches. */
enum hs_status hs_pattern_check(struct hs_pattern *pattern, struct hs_err *err);

struct hs_str hs_pattern_expression(const struct hs_pattern *pattern);

/* The distinct names of its groups, in the order of the expression. */
uint32_t hs_pattern_name_count(const struct hs_pattern *pattern);
struct hs_str hs_pattern_name(const struct hs_pattern *pattern, uint32_t i);

struct hs_matching *hs_matching_new(void); /* NULL without memory */
void hs_matching_free(struct hs_matching *matching);

/* Match without JIT, as where the system forbids it. */
void hs_matching_interpret(struct hs_matching *matching);

enum hs_match {
    HS_MATCH_NO,
    HS_MATCH_YES,
    HS_MATCH_LIMIT, /* given up: it took too long */
};

/*
 * Search `text`; `continued`: it is the rest of a longer text, ^ does not match at its start.
 * After HS_MATCH_YES `values` (one per name) hold what each name captured, p NULL where nothing
 * did; `whole` (may be NULL) is the text that matched.
 */
enum hs_match hs_pattern_search(struct hs_pattern *pattern, struct hs_matching *matching,
                                struct hs_str text, bool continued, struct hs_str *values,
                                struct hs_str *whole);

#endif
