/*
 * decide.h - the one place where readings are ordered: a pure function of claims.
 *
 * Precedence (docs/verdict.md has the same table): claims from lines (rows a to c) by row; then
 * claims of the graph: those that are not weak first, then whoever more ranks wait for, then by row
 * d to h. Confidence follows from the doubts of the winner and from what it leaves unexplained.
 */
#ifndef HS_ANALYZER_DECIDE_H
#define HS_ANALYZER_DECIDE_H

#include "analyzer/claims.h"
#include "schema/verdict.h"

struct hs_decision {
    uint32_t winner; /* index of a claim; HS_NO_ID: none, see `code` */
    const char *code;
    enum hs_confidence confidence;
};

/* What speaks for a healthy job, when there is no claim. */
struct hs_health {
    bool progress;  /* some work is known to have completed */
    bool in_flight; /* calls are unfinished, though nobody is waited for */
    bool partial;   /* a member left no dump, or one that ends early */
    bool minority;  /* no more than half of the ranks were seen */
};

struct hs_decision hs_decide(const struct hs_claim *claims, uint32_t count,
                             const struct hs_health *health);

/* Whether claim `a` goes before claim `b`. */
bool hs_claim_precedes(const struct hs_claim *a, const struct hs_claim *b);

/* The row of a code in the precedence table, 'a' to 'j'. */
char hs_row_of(const char *code);

/* What to do about a code and cause, as verdict.action. */
const char *hs_action_for(const char *code, const char *cause);

#endif
