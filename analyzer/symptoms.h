/*
 * symptoms.h - what the rules find in a job: lines that point somewhere, as plain rows.
 *
 * Rules find, they do not decide: a symptom says what its line would mean by itself. Who makes
 * claims of symptoms, and whether they win, is not known here.
 */
#ifndef HS_ANALYZER_SYMPTOMS_H
#define HS_ANALYZER_SYMPTOMS_H

#include "analyzer/identity.h"
#include "analyzer/rules.h"
#include "schema/store.h"

/*
 * One row of a rule's SELECT. Its columns, all optional: event or fact (id of where it stands),
 * rank and host (whom it blames: a reporter is often innocent, then they are NULL), code, cause,
 * role and strength (else those of the header, and sure), detail (a few words behind the title).
 */
struct hs_symptom {
    const struct hs_rule *rule;
    const char *code, *cause; /* NULL: none */
    enum hs_role role;
    enum hs_strength strength;
    uint32_t rank;        /* global; HS_NO_ID: nobody */
    struct hs_str host;   /* p NULL: none */
    uint32_t event, fact; /* where it stands; HS_NO_ID */
    uint32_t source;      /* of that; HS_NO_ID: nowhere in particular */
    uint64_t line;
    int64_t time_ns; /* 0: unknown */
    uint32_t clock;
    uint32_t attempt; /* HS_NO_ID: unknown */
    struct hs_str detail;
    struct hs_str version; /* of a known defect: the one in the evidence; p NULL otherwise */
};

struct hs_symptoms {
    struct hs_symptom *rows; /* by source, line, rule, rank, host, detail */
    uint32_t count;
};

/* What rules are asked about. */
struct hs_asked {
    const struct hs_rows *rows;
    const struct hs_identity *identity;
    const struct hs_judged_window *window;
};

/*
 * Run all rules over a job. What stands in another attempt than the window's is left out. Rows and
 * texts are in `arena`; `rules` outlive them. HS_EUSAGE: a rule (of the user's) is wrong.
 */
enum hs_status hs_symptoms_find(const struct hs_asked *about, const struct hs_rules *rules,
                                struct hs_arena *arena, struct hs_symptoms *out,
                                struct hs_err *err);

#endif
