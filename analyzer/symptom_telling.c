/* symptom_telling.c - what the rules found, as findings: one for each rule, with its lines. */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <stdlib.h>

enum { EVIDENCE = 6 };

/* Ranks that symptoms of one rule name, sorted, each once. */
static bool put_ranks(const struct hs_symptom *const *rows, uint32_t count, struct hs_arena *arena,
                      struct hs_finding *f)
{
    uint32_t *ranks = HS_NEW(arena, uint32_t, count), n = 0, kept = 0;

    for (uint32_t i = 0; ranks && i < count; i++) {
        if (rows[i]->rank != HS_NO_ID)
            ranks[n++] = rows[i]->rank;
    }
    if (ranks && n)
        qsort(ranks, n, sizeof(*ranks), hs_compare_u32);
    for (uint32_t i = 0; ranks && i < n; i++) {
        if (kept == 0 || ranks[kept - 1] != ranks[i])
            ranks[kept++] = ranks[i];
    }
    f->ranks = ranks;
    f->rank_count = kept;
    return ranks != NULL;
}

static bool put_evidence(const struct hs_judged *j, const struct hs_symptom *const *rows,
                         uint32_t count, struct hs_verdict *v, struct hs_finding *f)
{
    f->evidence = HS_NEW(&v->arena, struct hs_evidence, EVIDENCE);
    for (uint32_t i = 0; f->evidence && i < count && f->evidence_count < EVIDENCE; i++) {
        struct hs_place place = { rows[i]->source, rows[i]->line, rows[i]->rank };

        if (place.source != HS_NO_ID)
            f->evidence[f->evidence_count++] = hs_line_evidence(j, &place, &v->arena);
    }
    return f->evidence != NULL;
}

/* " (rank 3, node-d)" of those that symptoms of one rule name; "" when they name nobody, or many
 * hosts. */
static struct hs_str who_of(const struct hs_symptom *const *rows, uint32_t count,
                            const struct hs_finding *f, struct hs_arena *arena)
{
    enum { HOSTS = 3 };
    struct hs_str seen[HOSTS], hosts = hs_str_of(""), ranks;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count && n <= HOSTS; i++) {
        bool told = !rows[i]->host.n;

        for (uint32_t k = 0; k < n && k < HOSTS && !told; k++)
            told = hs_str_eq(seen[k], rows[i]->host);
        if (told)
            continue;
        if (n < HOSTS) {
            seen[n] = rows[i]->host;
            hosts = hs_arena_printf(arena, "%.*s%s%.*s", HS_STR_ARG(hosts), hosts.n ? ", " : "",
                                    HS_STR_ARG(hs_safe_text(rows[i]->host, arena)));
        }
        n++;
    }
    if (n > HOSTS)
        hosts = hs_str_of("");
    if (!f->rank_count)
        return hosts.n ? hs_arena_printf(arena, " (%.*s)", HS_STR_ARG(hosts)) : hs_str_of("");
    ranks = hs_rank_text(f->ranks, f->rank_count, arena);
    return hs_arena_printf(arena, " (rank %.*s%s%.*s)", HS_STR_ARG(ranks), hosts.n ? ", " : "",
                           HS_STR_ARG(hosts));
}

static bool tell(const struct hs_judged *j, const struct hs_symptom *const *rows, uint32_t count,
                 struct hs_verdict *v)
{
    const struct hs_rule *rule = rows[0]->rule;
    struct hs_str id = hs_arena_copy(&v->arena, hs_str_of(rule->id)); /* rules end before it */
    struct hs_str topic = hs_safe_text(hs_str_of(hs_rule_topic(rule)), &v->arena);
    struct hs_finding *f = id.p && topic.p ? hs_add_finding(v, id.p, rule->severity) : NULL;
    bool detail = rows[0]->detail.n > 0;

    if (!f)
        return false;
    f->detail.key = detail ? "finding.rule.detail" : "finding.rule";
    hs_phrase_add(&f->detail, "topic", topic, 1);
    if (detail)
        hs_phrase_add(&f->detail, "detail", hs_safe_text(rows[0]->detail, &v->arena), 1);
    if (!put_ranks(rows, count, &v->arena, f))
        return false;
    hs_phrase_add(&f->detail, "who", who_of(rows, count, f, &v->arena), 1);
    return put_evidence(j, rows, count, v, f);
}

/* The most severe first, then as the rules are called. */
static int by_rule(const void *a, const void *b)
{
    const struct hs_symptom *x = *(const struct hs_symptom *const *)a;
    const struct hs_symptom *y = *(const struct hs_symptom *const *)b;

    if (x->rule->severity != y->rule->severity)
        return x->rule->severity > y->rule->severity ? -1 : 1;
    if (x->rule != y->rule)
        return strcmp(x->rule->id, y->rule->id);
    return (x > y) - (x < y);
}

bool hs_tell_symptoms(const struct hs_judged *j, struct hs_verdict *v)
{
    uint32_t count = j->symptoms.count;
    const struct hs_symptom **rows = HS_NEW(&v->arena, const struct hs_symptom *, count);

    for (uint32_t i = 0; rows && i < count; i++)
        rows[i] = &j->symptoms.rows[i];
    if (rows && count)
        qsort(rows, count, sizeof(const struct hs_symptom *), by_rule);
    for (uint32_t i = 0, end; rows && i < count; i = end) {
        for (end = i; end < count && rows[end]->rule == rows[i]->rule; end++)
            continue;
        if (!tell(j, rows + i, end - i, v))
            return false;
    }
    return rows != NULL;
}
