/*
 * literals.h - many fixed texts looked for at once: an Aho-Corasick automaton over byte classes.
 *
 * One pass over a line finds every place where a literal ends, in the order of those places; where
 * several end at one place, in the order of their indexes. Compiled once and then only read:
 * workers share it.
 */
#ifndef HS_PARSERS_LITERALS_H
#define HS_PARSERS_LITERALS_H

#include "base/str.h"

struct hs_hit {
    uint32_t literal; /* its index */
    uint32_t end;     /* offset behind its last byte */
};

/* Hits in order. */
struct hs_hits {
    const struct hs_hit *items;
    size_t count;
};

struct hs_literals;

/* Build an automaton of `count` texts, none empty; equal ones are found each. NULL without
 * memory. */
struct hs_literals *hs_literals_new(const struct hs_str *texts, uint32_t count);
void hs_literals_free(struct hs_literals *literals);

/*
 * Find them in `text`. At most `cap` hits are written; returns how many there are in all, so that
 * a caller can see that some were left off.
 */
size_t hs_literals_find(const struct hs_literals *literals, struct hs_str text, struct hs_hit *hits,
                        size_t cap);

#endif
