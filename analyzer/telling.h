/*
 * telling.h - a decision becomes a verdict: the parts of the analyzer that put it into words.
 *
 * Everything here only describes what decide.c has chosen; memory is the verdict's arena. Functions
 * return false when memory is out.
 */
#ifndef HS_ANALYZER_TELLING_H
#define HS_ANALYZER_TELLING_H

#include "analyzer/attempts.h"
#include "analyzer/decide.h"
#include "analyzer/line_claims.h"
#include "schema/derived.h"
#include "schema/verdict.h"

/* A dump and a line that cannot both be right. */
struct hs_conflict {
    uint32_t rank, seat, node; /* whose; where its dump lacks it */
    uint32_t event;            /* the line that says it is there */
    struct hs_conflict *next;
};

/* One attempt, analysed. */
struct hs_judged {
    const struct hs_job *job;
    const struct hs_job_options *options;
    struct hs_alignment al;
    struct hs_waits waits;
    struct hs_arena arena; /* of the claims */
    struct hs_claims claims;
    struct hs_decision decision;
    const struct hs_identity *identity; /* of the whole job */
    uint32_t line_attempt;              /* the attempt of the lines that are judged */
    struct hs_line_waits lines;
    const struct hs_rules *rules;
    struct hs_symptoms symptoms;
    struct hs_conflict *conflicts; /* in the arena */
};

/* A whole job, judged: its attempts, and the one that is told. */
struct hs_trial {
    struct hs_arena arena;
    struct hs_identity identity;
    struct hs_rules own_rules; /* used where the caller has none */
    struct hs_attempts attempts;
    const char **codes; /* by attempt, if there are several */
    uint32_t told;
    struct hs_judged judged; /* the last failed attempt, or the last */
    bool has_judged;
};

/* Judge a job; hs_trial_release() in any case. */
enum hs_status hs_judge(const struct hs_job *job, const struct hs_job_options *options,
                        struct hs_trial *out, struct hs_err *err);
void hs_trial_release(struct hs_trial *trial);

/* Code, culprits, operation, sentences, findings of the decision. */
bool hs_tell_decision(const struct hs_judged *j, struct hs_verdict *v);

/* Of a healthy job without dumps: the last work that a line tells of. */
bool hs_tell_line_work(const struct hs_judged *j, struct hs_verdict *v);

/* The same of a claim from lines; its culprits; the slots of its sentences. */
bool hs_tell_line_claim(const struct hs_judged *j, const struct hs_claim *claim,
                        struct hs_verdict *v);
bool hs_line_culprits(const struct hs_judged *j, const struct hs_line_claim *line,
                      struct hs_arena *arena, struct hs_culprit **out);
bool hs_add_line_names(const struct hs_judged *j, const struct hs_claim *claim,
                       const struct hs_culprit *culprits, struct hs_phrase *phrase,
                       struct hs_arena *arena);

/* Why the decision for a claim is not `high`; nothing when it is (doubts.c). */
void hs_tell_doubt(const struct hs_judged *j, const struct hs_claim *claim, struct hs_verdict *v);

bool hs_is_comparison(const struct hs_line_claim *line);

/* What a rule found that a claim was made of; NULL: it is not of a rule. */
const struct hs_symptom *hs_symptom_behind(const struct hs_judged *j, const struct hs_claim *claim);

/* The first thing that failed, or followed from it, whether or not it decides; NULL: nothing. */
const struct hs_symptom *hs_first_failure(const struct hs_judged *j);

/* Lines in words (line_words.c): "ALLREDUCE #943 of default_pg (NumelIn=2)" as far as it is known,
 * "" if nothing is; c10d's name of an operation; a line with what is shown of it. */
struct hs_str hs_line_call_text(const struct hs_judged *j, const struct hs_line_wait *wait,
                                struct hs_arena *arena);
struct hs_str hs_line_op_name(const struct hs_judged *j, uint32_t op, struct hs_arena *arena);
struct hs_evidence hs_line_evidence(const struct hs_judged *j, const struct hs_place *place,
                                    struct hs_arena *arena);

/* What the rules found, a finding for each rule (symptom_telling.c). */
bool hs_tell_symptoms(const struct hs_judged *j, struct hs_verdict *v);

/* Findings beside the main one: what is odd about the input or the job. */
bool hs_tell_findings(const struct hs_judged *j, struct hs_verdict *v);

/* What to do next, for this job; and the part that goes by code and cause: at most `limit` steps
 * (line_next_steps.c). */
bool hs_tell_next_steps(const struct hs_judged *j, struct hs_verdict *v);
bool hs_add_exact_steps(const struct hs_judged *j, struct hs_verdict *v, uint32_t limit);

/* Who stands where, for the screen: by dumps, and where there is none by lines. */
bool hs_tell_standings(const struct hs_judged *j, struct hs_verdict *v);
bool hs_tell_line_standings(const struct hs_judged *j, struct hs_verdict *v);
/* The call that a seat is in, or was last in (HS_NO_ID: nothing recorded), and the same in words.
 */
uint32_t hs_standing_op(const struct hs_alignment *al, uint32_t seat);
void hs_tell_place(const struct hs_judged *j, uint32_t seat, struct hs_arena *arena,
                   struct hs_phrase *where);
bool hs_is_culprit(const struct hs_verdict *v, uint32_t rank);

/* What was seen of the input and what was not; told first, since other parts speak of it. */
bool hs_tell_coverage(const struct hs_judged *j, const struct hs_attempts *attempts,
                      uint32_t judged, const char *const *codes, struct hs_verdict *v);

/* Who spoke, as rows: what rules ask, before anything is judged (derive.c). */
bool hs_derive_identity(const struct hs_identity *identity, struct hs_derived *out);

/* What was put together: communicators, and clocks of the attempt's hosts. */
bool hs_derive_comms(const struct hs_identity *identity, struct hs_derived *out);
bool hs_derive_clocks(const struct hs_judged *j, struct hs_derived *out);

/* The same, and groups, frontiers, waits, arrivals and mismatches. */
bool hs_derive(const struct hs_judged *j, struct hs_derived *out);

/* The claim that won; NULL when none did. */
static inline const struct hs_claim *hs_winner(const struct hs_judged *j)
{
    return j->decision.winner == HS_NO_ID ? NULL : &j->claims.rows[j->decision.winner];
}

/* Global ranks of a claim's culprits, sorted. */
const uint32_t *hs_claim_ranks(const struct hs_judged *j, const struct hs_claim *claim,
                               struct hs_arena *arena);

/* Global ranks of seats (sorted seats give sorted ranks). */
uint32_t *hs_ranks_of_seats(const struct hs_alignment *al, const uint32_t *seats, uint32_t count,
                            struct hs_arena *arena);

/* A seat and operation that stand for a claim's node: its first waiter's head. */
bool hs_node_example(const struct hs_judged *j, uint32_t node, uint32_t *seat, uint32_t *op);

/* The host of a rank as far as known; .p NULL otherwise. */
struct hs_str hs_host_of(const struct hs_judged *j, uint32_t rank, uint32_t *gpu,
                         struct hs_arena *arena);

/* The host that all of these ranks are on; .p NULL: several, or unknown. */
struct hs_str hs_shared_host_of(const struct hs_judged *j, const uint32_t *ranks, uint32_t count,
                                struct hs_arena *arena);

/* A finding to fill; NULL without memory. */
struct hs_finding *hs_add_finding(struct hs_verdict *v, const char *code,
                                  enum hs_severity severity);

/* The call a seat made last, by record order; HS_NO_ID when it recorded none. */
static inline uint32_t hs_last_op(const struct hs_alignment *al, uint32_t seat)
{
    uint32_t count = hs_seat_dump(al, seat)->operation_count;

    return count ? count - 1 : HS_NO_ID;
}

#endif
