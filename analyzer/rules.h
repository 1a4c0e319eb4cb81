/*
 * rules.h - diagnoses as data: a header, and one SELECT that finds where it applies.
 *
 * A rule is text, in a file of analyzer/rules/ or of the user's (--rules):
 *
 *   -- id: open-file-limit             kebab-case; `hangscope explain` knows it
 *   -- code: misconfigured             of the verdict; `-`: it is a finding and no more
 *   -- cause: resource-limit           optional
 *   -- role: root                      root, cascade, confirmation, exonerates
 *   -- severity: error                 error, warning, note
 *   -- product: nccl                   of a known defect: with from and to, the versions that have
 *   -- from: 2.20.3                      it; it applies only if one of them is in the evidence
 *   -- to: 2.20.4
 *   -- title: A process reached its limit of open files
 *   -- means: ...                      a line that is indented by more goes on with the one before
 *   -- remedy: ...
 *   -- see: https://...
 *   SELECT id AS event, rank, host, 'sure' AS strength FROM event WHERE family = 'OPEN_FILES';
 *
 * title, means and remedy may be there once more as title.zh and so on. What the SELECT may ask is
 * in schema/rules_tables.sql; its columns are those of struct hs_symptom. A file may hold several.
 */
#ifndef HS_ANALYZER_RULES_H
#define HS_ANALYZER_RULES_H

#include "base/arena.h"
#include "base/err.h"
#include "schema/verdict.h"

/* What a line that a rule found says about the failure. */
enum hs_role {
    HS_ROOT,         /* it can be the reason */
    HS_CASCADE,      /* it follows from another one: loses against anything earlier */
    HS_CONFIRMATION, /* it supports another reading */
    HS_EXONERATES,   /* whom it names is not the one */
};

enum hs_strength {
    HS_LEAD,   /* worth a look */
    HS_LIKELY, /* the best reading of it */
    HS_SURE,   /* the line itself proves it */
};

struct hs_rule {
    const char *id;
    const char *code, *cause; /* NULL: none */
    enum hs_role role;
    enum hs_severity severity;
    const char *product, *from, *to; /* of a known defect; NULL otherwise */
    const char *title[HS_LANGUAGES], *means[HS_LANGUAGES], *remedy[HS_LANGUAGES];
    const char *see;
    struct hs_str sql;
    const char *place; /* FILE:LINE of its first line */
};

struct hs_rules {
    struct hs_arena arena;
    struct hs_rule *rows; /* by id */
    uint32_t count, cap;
};

void hs_rules_init(struct hs_rules *rules);
void hs_rules_release(struct hs_rules *rules);

/* Add the rules that the program carries. */
enum hs_status hs_rules_add_own(struct hs_rules *rules, struct hs_err *err);

/* Add those of a text; HS_EUSAGE names `file` and the line of a mistake. */
enum hs_status hs_rules_add(struct hs_rules *rules, const char *file, struct hs_str text,
                            struct hs_err *err);

/* What {topic} of a message names it by: the catalog's topic, or the title of a user's rule. */
const char *hs_rule_topic(const struct hs_rule *rule);

/* NULL: there is none. */
const struct hs_rule *hs_rule_find(const struct hs_rules *rules, const char *id);

/* Words of headers and columns; false: it is none. */
bool hs_role_of(struct hs_str word, enum hs_role *out);
bool hs_strength_of(struct hs_str word, enum hs_strength *out);
const char *hs_role_word(enum hs_role role);
const char *hs_strength_word(enum hs_strength strength);

/* 2.27.3 as 2027003000; false: it does not begin with a number. */
bool hs_version_number(struct hs_str text, uint64_t *out);

#endif
