/* doubts.c - why a verdict is not `high`, in one sentence: the strongest reason. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

/* In the order of their weight; a row that names a proof is for claims with that proof alone. */
static const struct {
    unsigned doubt;
    const char *why, *dumps, *lines; /* lines NULL: for dumps and lines the same */
} doubts[] = {
    { HS_DOUBT_LEAD, NULL, "doubt.lead", "doubt.lines.lead" },
    { HS_DOUBT_CONFLICT, NULL, "doubt.conflict", NULL },
    { HS_DOUBT_OLDER, NULL, "doubt.older", NULL },
    { HS_DOUBT_WITNESS, "why.lines.alive", NULL, "doubt.lines.alive" },
    { HS_DOUBT_WITNESS, NULL, "doubt.witness", "doubt.lines.silent" },
    { HS_DOUBT_CUT, NULL, "doubt.cut", NULL },
    { HS_DOUBT_MEMBERS, NULL, "doubt.members", "doubt.lines.members" },
    { HS_DOUBT_ASSUMED, NULL, "doubt.assumed", "doubt.lines.assumed" },
    { HS_DOUBT_FIRST_USE, NULL, "doubt.first-use", NULL },
    { HS_DOUBT_KIND, "why.lines.difference", NULL, "doubt.lines.difference" },
    { HS_DOUBT_KIND, "why.lines.fault", NULL, "doubt.lines.fault" },
    { HS_DOUBT_KIND, "why.lines.joined", NULL, "doubt.lines.joined" },
    { HS_DOUBT_KIND, "why.lines.report", NULL, "doubt.lines.report" },
    { HS_DOUBT_KIND, "why.lines.stalled", NULL, "doubt.lines.report" },
    { HS_DOUBT_KIND, "why.lines.ras", NULL, "doubt.lines.report" },
    { HS_DOUBT_KIND, "why.lines.unique-id", NULL, "doubt.lines.start" },
    { HS_DOUBT_KIND, "why.lines.too-few", NULL, "doubt.lines.start" },
    { HS_DOUBT_KIND, NULL, "doubt.kind", "doubt.lines.kind" },
    { HS_DOUBT_AGE, NULL, "doubt.age", NULL },
};

static const char *key_of(const struct hs_claim *claim)
{
    const char *proof = claim->line ? claim->line->why : NULL;

    if (claim->line && hs_is_comparison(claim->line))
        proof = "why.lines.difference";

    for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
        bool applies = !doubts[i].why || (proof && strcmp(doubts[i].why, proof) == 0);

        if (claim->doubts & doubts[i].doubt && applies)
            return claim->line && doubts[i].lines ? doubts[i].lines : doubts[i].dumps;
    }
    return "doubt.overshadowed";
}

void hs_tell_doubt(const struct hs_judged *j, const struct hs_claim *claim, struct hs_verdict *v)
{
    const struct hs_symptom *symptom = hs_symptom_behind(j, claim);
    uint32_t *culprits = HS_NEW(&v->arena, uint32_t, v->culprit_count), count = 0;

    if (j->decision.confidence == HS_HIGH || strcmp(claim->code, "undetermined") == 0)
        return;
    for (uint32_t i = 0; culprits && i < v->culprit_count; i++) {
        if (v->culprits[i].rank != HS_NO_ID)
            culprits[count++] = v->culprits[i].rank;
    }
    v->doubt.key = key_of(claim);
    if (symptom && symptom->strength == HS_SURE && strcmp(v->doubt.key, "doubt.lines.fault") == 0)
        v->doubt.key = "doubt.lines.disputed";
    hs_phrase_add(&v->doubt, "culprits", hs_rank_text(culprits, count, &v->arena), count);
    hs_phrase_add(&v->doubt, "unseen",
                  hs_rank_text(v->silent_ranks, v->silent_rank_count, &v->arena),
                  v->silent_rank_count);
}
