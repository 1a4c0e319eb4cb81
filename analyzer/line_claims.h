/*
 * line_claims.h - what lines could mean, as claims beside those of the dumps.
 *
 * Three who look: the waits of watchdogs (line_graph.c), reports that compare ranks by themselves
 * (line_reports.c: fingerprints, desync, RAS, init waits) and faults (line_faults.c: symptoms that
 * rules found). Each makes claims with every doubt; decide.c alone orders them.
 */
#ifndef HS_ANALYZER_LINE_CLAIMS_H
#define HS_ANALYZER_LINE_CLAIMS_H

#include "analyzer/decide.h"
#include "analyzer/symptoms.h"

struct hs_line_reading {
    const struct hs_job *job;
    const struct hs_identity *identity;
    const struct hs_line_waits *waits;
    uint32_t attempt;
    struct hs_arena *arena;
    struct hs_claims *out;
};

/* A claim to fill, and its line part; NULL without memory. */
struct hs_claim *hs_add_line_claim(const struct hs_line_reading *r, const char *code,
                                   struct hs_line_claim **line);

/* Name culprits, sorted and each once; hosts are those of hs_identity.hosts. */
bool hs_name(const struct hs_line_reading *r, struct hs_line_claim *line,
             const struct hs_named *named, uint32_t count);
bool hs_name_ranks(const struct hs_line_reading *r, struct hs_line_claim *line,
                   const uint32_t *ranks, uint32_t count, const char *role);

/*
 * Whether these lines stand in a file each, one of several: then a rank without a file may be one
 * whose file is not at hand.
 */
bool hs_in_own_files(const struct hs_line_reading *r, const uint32_t *events, uint32_t count);
/* Whether each of these ranks said anything in the attempt. */
bool hs_all_heard(const struct hs_line_reading *r, const uint32_t *ranks, uint32_t count);
/* The host of a rank in the attempt; HS_NO_ID: unknown. */
uint32_t hs_line_host(const struct hs_line_reading *r, uint32_t rank);

/* Cite more lines, in front of the others. */
bool hs_cite_places(const struct hs_line_reading *r, struct hs_claim *claim,
                    const struct hs_place *places, uint32_t count);
bool hs_cite(const struct hs_line_reading *r, struct hs_claim *claim, const uint32_t *events,
             uint32_t count);

bool hs_claims_from_line_waits(const struct hs_line_reading *r);
bool hs_claims_from_answers(const struct hs_line_reading *r);
bool hs_claims_from_reports(const struct hs_line_reading *r);
bool hs_claims_from_faults(const struct hs_line_reading *r, const struct hs_symptoms *symptoms);
bool hs_claims_from_calls(const struct hs_line_reading *r);
bool hs_claims_from_ras(const struct hs_line_reading *r);

/* What ranks that are waited for were doing (line_work.c): missing becomes slow, causes are found.
 */
bool hs_claims_refine_by_work(const struct hs_line_reading *r);

/* The same for ranks that a claim of the dumps names, whose peers wait since `began_ns`. */
bool hs_refine_by_work(const struct hs_line_reading *r, const uint32_t *ranks, uint32_t count,
                       int64_t began_ns, struct hs_claim *claim);

/* Whether lines show this rank at work while others wait since `began_ns`. */
bool hs_is_at_work(const struct hs_line_reading *r, uint32_t rank, int64_t began_ns);

#endif
