/* verdict.c - the decision in the words of the contract: culprits, operation, sentence, evidence.
 */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <assert.h>
#include <stdlib.h>

uint32_t *hs_ranks_of_seats(const struct hs_alignment *al, const uint32_t *seats, uint32_t count,
                            struct hs_arena *arena)
{
    uint32_t *ranks = HS_NEW(arena, uint32_t, count);

    for (uint32_t i = 0; ranks && i < count; i++)
        ranks[i] = al->seats[seats[i]].rank;
    if (ranks)
        qsort(ranks, count, sizeof(*ranks), hs_compare_u32);
    return ranks;
}

const uint32_t *hs_claim_ranks(const struct hs_judged *j, const struct hs_claim *claim,
                               struct hs_arena *arena)
{
    uint32_t *ranks;

    if (!claim->unseen)
        return hs_ranks_of_seats(&j->al, claim->culprits, claim->culprit_count, arena);
    ranks = HS_NEW(arena, uint32_t, claim->culprit_count);
    if (ranks && claim->culprit_count)
        memcpy(ranks, claim->culprits, claim->culprit_count * sizeof(*ranks));
    return ranks;
}

bool hs_node_example(const struct hs_judged *j, uint32_t node, uint32_t *seat, uint32_t *op)
{
    const struct hs_unit *unit;

    if (node == HS_NO_ID)
        return false;
    unit = &j->al.pending[j->waits.nodes[node].unit];
    *seat = unit->seat;
    *op = unit->first_op;
    return true;
}

struct hs_str hs_host_of(const struct hs_judged *j, uint32_t rank, uint32_t *gpu,
                         struct hs_arena *arena)
{
    const struct hs_job_options *o = j->options;
    uint32_t seat = hs_seat_of_rank(&j->al, rank), process;

    *gpu = HS_NO_ID;
    for (uint32_t low = 0, high = o->place_count; low < high;) {
        uint32_t mid = low + (high - low) / 2;

        if (o->places[mid].rank == rank) {
            *gpu = o->places[mid].gpu;
            return o->places[mid].host;
        }
        if (o->places[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    if (seat != HS_NO_ID && j->al.seats[seat].host != HS_NO_ID)
        return hs_safe(j->job, j->al.seats[seat].host, arena);
    process = hs_identity_rank(j->identity, j->line_attempt, rank);
    if (process != HS_NO_ID && j->identity->processes[process].host != HS_NO_ID)
        return hs_safe_text(j->identity->hosts[j->identity->processes[process].host], arena);
    return (struct hs_str){ .p = NULL };
}

struct hs_finding *hs_add_finding(struct hs_verdict *v, const char *code, enum hs_severity severity)
{
    if (!HS_GROW(v->findings, v->finding_cap, v->finding_count + 1u))
        return NULL;
    v->findings[v->finding_count] = (struct hs_finding){ .code = code, .severity = severity };
    return &v->findings[v->finding_count++];
}

/* ---- culprits ---- */

static bool put_culprits(const struct hs_judged *j, const struct hs_claim *claim,
                         struct hs_arena *arena, struct hs_culprit **out)
{
    const uint32_t *ranks = hs_claim_ranks(j, claim, arena);

    *out = HS_NEW(arena, struct hs_culprit, claim->culprit_count);
    if (!ranks || !*out)
        return claim->culprit_count == 0;
    for (uint32_t i = 0; i < claim->culprit_count; i++) {
        struct hs_culprit *c = &(*out)[i];
        uint32_t seat = hs_seat_of_rank(&j->al, ranks[i]);

        c->rank = ranks[i];
        c->role = claim->role;
        c->host = hs_host_of(j, ranks[i], &c->gpu, arena);
        if (strcmp(claim->role, "stalled") == 0 && seat != HS_NO_ID && !j->al.seats[seat].stale)
            c->role = "missing"; /* it never came, beside one that stalled */
    }
    return true;
}

/* " on node-17" when all culprits share a known host; "" otherwise. */
static struct hs_str shared_host(const struct hs_culprit *culprits, uint32_t count,
                                 struct hs_arena *arena)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!culprits[i].host.p || !hs_str_eq(culprits[i].host, culprits[0].host))
            return hs_str_of("");
    }
    return count ? hs_arena_printf(arena, " on %.*s", HS_STR_ARG(culprits[0].host)) : hs_str_of("");
}

/* ---- the cause, from where the culprit and the waiters stand in the user's code ---- */

static const char *find_cause(const struct hs_judged *j, const struct hs_claim *claim)
{
    uint32_t waiter, waiter_op, subject, subject_op;
    const char *cause;

    if (claim->cause || claim->unseen || claim->culprit_count == 0 || claim->cycle ||
        !hs_node_example(j, claim->node, &waiter, &waiter_op))
        return claim->cause;
    subject = claim->culprits[0];
    if (claim->mismatch) {
        subject_op = claim->mismatch->sides[1].op;
        subject = claim->mismatch->sides[1].seat;
        waiter = claim->mismatch->sides[0].seat;
        waiter_op = claim->mismatch->sides[0].op;
        return hs_cause_of(&j->al, subject, subject_op, waiter, waiter_op,
                           claim->culprit_count == 1);
    }
    /* an idle rank shows where it was, not where it is: only a call that nobody else makes tells */
    subject_op = hs_last_op(&j->al, subject);
    if (subject_op == HS_NO_ID || claim->culprit_count != 1 || j->al.seats[subject].rank != 0 ||
        j->al.seats[subject].stale)
        return NULL;
    cause = hs_cause_of(&j->al, subject, subject_op, waiter, waiter_op, true);
    return cause && strcmp(cause, "rank0-only-branch") == 0 ? cause : NULL;
}

/* ---- sentences ---- */

/* Earliest creation of the operation that the others wait in; of all heads if it is a pair. */
static int64_t hang_began(const struct hs_judged *j, const struct hs_claim *claim)
{
    const struct hs_node *node = claim->node == HS_NO_ID ? NULL : &j->waits.nodes[claim->node];
    int64_t began = 0;

    for (uint32_t i = 0; node && !j->job->simulated && i < node->waiter_count; i++) {
        uint32_t seat = j->waits.waiters[node->first_waiter + i];
        uint32_t op = j->al.pending[j->al.seats[seat].head].first_op;
        int64_t created = hs_seat_dump(&j->al, seat)->operations[op].created_ns;

        if (created && (!began || created < began))
            began = created;
    }
    return began;
}

struct sentence_names {
    struct hs_str culprits, waiters, direct, operation, group, host, since;
    uint64_t culprit_count, waiter_count, direct_count;
};

static bool name_parts(const struct hs_judged *j, const struct hs_verdict *v,
                       const struct hs_claim *claim, struct hs_arena *arena,
                       struct sentence_names *n)
{
    const uint32_t *culprits = hs_claim_ranks(j, claim, arena);
    const uint32_t *waiters = hs_ranks_of_seats(&j->al, claim->waiters, claim->waiter_count, arena);
    uint32_t seat, op;

    *n = (struct sentence_names){ .operation = hs_str_of("?"), .group = hs_str_of("?") };
    if (!waiters || !culprits)
        return false;
    n->culprits = hs_rank_text(culprits, claim->culprit_count, arena);
    n->culprit_count = claim->culprit_count;
    n->waiters = hs_rank_text(waiters, claim->waiter_count, arena);
    n->waiter_count = claim->waiter_count;
    n->host = shared_host(v->culprits, v->culprit_count, arena);
    n->direct = hs_str_of("");
    n->since = hs_clock_text(hang_began(j, claim), arena);
    if (hs_node_example(j, claim->node, &seat, &op)) {
        const struct hs_node *node = &j->waits.nodes[claim->node];
        const uint32_t *direct = hs_ranks_of_seats(&j->al, j->waits.waiters + node->first_waiter,
                                                   node->waiter_count, arena);

        if (!direct)
            return false;
        n->direct = hs_rank_text(direct, node->waiter_count, arena);
        n->direct_count = node->waiter_count;
        n->operation = hs_op_title(&j->al, seat, op, arena);
        n->group = hs_arena_copy(arena, j->al.groups[node->group].label);
    }
    return n->culprits.p && n->waiters.p && n->operation.p && n->host.p;
}

static void add_names(struct hs_phrase *phrase, const struct sentence_names *n)
{
    hs_phrase_add(phrase, "culprits", n->culprits, n->culprit_count);
    hs_phrase_add(phrase, "waiters", n->waiters, n->waiter_count);
    hs_phrase_add(phrase, "direct", n->direct, n->direct_count);
    hs_phrase_add(phrase, "operation", n->operation, 1);
    hs_phrase_add(phrase, "group", n->group, 1);
    hs_phrase_add(phrase, "host", n->host, 1);
    hs_phrase_add(phrase, "since", n->since, n->since.n > 0);
}

/* What one side of a mismatch called: "BROADCAST", "1025 elements", "Half". */
static struct hs_str side_text(const struct hs_judged *j, const struct hs_mismatch *m,
                               uint32_t side, struct hs_arena *arena)
{
    const struct hs_side *s = &m->sides[side];
    const struct hs_signature *sig = hs_op_signature(&j->al, s->seat, s->op);
    struct hs_str op = hs_op_name(&j->al, s->seat, s->op, arena);
    struct hs_str dtype = hs_safe(j->job, sig->dtypes_in, arena);

    if (m->kind == HS_DTYPE_DIFFERS)
        return dtype;
    if (m->kind == HS_SIZE_DIFFERS)
        return hs_arena_printf(arena, "%llu%s%.*s %.*s", (unsigned long long)sig->numel_in,
                               dtype.n ? " × " : "", HS_STR_ARG(dtype),
                               HS_STR_ARG(hs_safe(j->job, sig->shapes_in, arena)));
    if (sig->root != HS_NO_ID)
        op = hs_arena_printf(arena, "%.*s from root %u", HS_STR_ARG(op), sig->root);
    return hs_arena_printf(arena, "%.*s%s%.*s", HS_STR_ARG(op), sig->tensors_in ? " " : "",
                           HS_STR_ARG(hs_safe(j->job, sig->shapes_in, arena)));
}

static const char *mismatch_key(const struct hs_mismatch *m)
{
    if (!m->majority)
        return m->kind == HS_ORDER_DIFFERS  ? "summary.order-mismatch.even"
               : m->kind == HS_SIZE_DIFFERS ? "summary.size-mismatch.even"
                                            : "summary.dtype-mismatch.even";
    if (m->shift)
        return m->shift > 0 ? "summary.order-mismatch.skipped" : "summary.order-mismatch.extra";
    return m->kind == HS_ORDER_DIFFERS  ? "summary.order-mismatch"
           : m->kind == HS_SIZE_DIFFERS ? "summary.size-mismatch"
                                        : "summary.dtype-mismatch";
}

static bool tell_mismatch(const struct hs_judged *j, const struct hs_claim *claim,
                          struct hs_verdict *v, const struct sentence_names *n)
{
    const struct hs_mismatch *m = claim->mismatch;
    uint32_t shift = (uint32_t)abs(m->shift);
    const uint32_t *first =
        hs_ranks_of_seats(&j->al, m->sides[0].seats, m->sides[0].count, &v->arena);
    const uint32_t *second =
        hs_ranks_of_seats(&j->al, m->sides[1].seats, m->sides[1].count, &v->arena);

    if (!first || !second)
        return false;
    v->summary.key = mismatch_key(m);
    hs_phrase_add(&v->summary, "culprits", hs_rank_text(second, m->sides[1].count, &v->arena),
                  m->sides[1].count);
    hs_phrase_add(&v->summary, "others", hs_rank_text(first, m->sides[0].count, &v->arena),
                  m->sides[0].count);
    hs_phrase_add(&v->summary, "call",
                  hs_op_label(&j->al, m->sides[0].seat, m->sides[0].op, &v->arena), 1);
    hs_phrase_add(&v->summary, "theirs", side_text(j, m, 1, &v->arena), 1);
    hs_phrase_add(&v->summary, "ours", side_text(j, m, 0, &v->arena), 1);
    hs_phrase_add(&v->summary, "shift", hs_arena_printf(&v->arena, "%u", shift), shift);
    hs_phrase_add(&v->summary, "host", n->host, 1);
    return true;
}

/* The key of the sentence for a claim that is not a mismatch of records. */
static const char *summary_key(const struct hs_judged *j, const struct hs_claim *claim)
{
    bool pair = claim->node != HS_NO_ID && j->waits.nodes[claim->node].is_pair;
    bool across = claim->cycle && claim->cycle->groups > 1;
    bool waiting = claim->waiter_count > 0;
    const struct {
        const char *code, *key;
        bool applies;
    } keys[] = {
        { "undetermined", "summary.undetermined.unseen", claim->unseen },
        { "undetermined", "summary.undetermined.unclear", waiting },
        { "undetermined", "summary.undetermined.contradicted", true },
        { "rank-missing", "summary.rank-missing.unseen", claim->unseen },
        { "rank-missing", "summary.rank-missing.pair", pair },
        { "rank-missing", "summary.rank-missing", true },
        { "rank-slow", "summary.rank-slow", true },
        { "gpu-stall", "summary.gpu-stall", true },
        { "group-deadlock", "summary.group-deadlock", across },
        { "p2p-mismatch", "summary.p2p-mismatch", true },
        { "size-mismatch", "summary.size-mismatch.pair", pair },
        { "dtype-mismatch", "summary.dtype-mismatch.pair", pair },
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].applies && strcmp(keys[i].code, claim->code) == 0)
            return keys[i].key;
    }
    return "summary.collective-stuck";
}

/* The proof in one sentence. */
static const char *why_key(const struct hs_claim *claim)
{
    if (claim->weak)
        return claim->unseen ? "why.weak" : "why.unclear";
    if (claim->mismatch)
        return "why.mismatch";
    if (claim->cycle)
        return "why.cycle";
    if (strcmp(claim->code, "gpu-stall") == 0)
        return "why.gpu-stall";
    return claim->culprit_count ? "why.idle" : "why.stuck";
}

/* ---- evidence ---- */

static bool add_evidence(struct hs_finding *f, struct hs_evidence row, uint32_t cap)
{
    if (f->evidence_count < cap)
        f->evidence[f->evidence_count++] = row;
    return row.excerpt.p != NULL;
}

/* The operation that shows a culprit: its call of the mismatch, its head, or its last one. */
static uint32_t telling_op(const struct hs_judged *j, const struct hs_claim *claim, uint32_t seat)
{
    const struct hs_mismatch *m = claim->mismatch;
    const struct hs_seat *s = &j->al.seats[seat];

    for (uint32_t i = 0; m && i < m->side_count; i++) {
        if (m->sides[i].seat == seat)
            return m->sides[i].op;
    }
    if (s->head != HS_NO_ID)
        return j->al.pending[s->head].first_op;
    if (s->stale && s->pending_count)
        return j->al.pending[s->first_pending].first_op;
    return hs_last_op(&j->al, seat);
}

enum { CULPRITS = 8, WAITERS = 3, LINES = 2, EVIDENCE = CULPRITS + WAITERS + LINES + 4 };

static bool show_call(const struct hs_judged *j, struct hs_verdict *v, struct hs_finding *f,
                      uint32_t seat, uint32_t op)
{
    return add_evidence(f, hs_op_evidence(&j->al, seat, op, &v->arena), EVIDENCE);
}

/* Each culprit by its telling call; one without any by its counters, where the others wait. */
static bool show_culprits(const struct hs_judged *j, const struct hs_claim *claim,
                          struct hs_verdict *v, struct hs_finding *f)
{
    for (uint32_t i = 0; i < claim->culprit_count && i < CULPRITS; i++) {
        uint32_t seat = claim->culprits[i], op = telling_op(j, claim, seat);
        struct hs_evidence counters;

        if (op != HS_NO_ID) {
            if (!show_call(j, v, f, seat, op))
                return false;
        } else if (claim->node != HS_NO_ID) {
            counters =
                hs_counter_evidence(&j->al, seat, j->waits.nodes[claim->node].group, &v->arena);
            if (counters.excerpt.p)
                (void)add_evidence(f, counters, EVIDENCE);
        }
    }
    return true;
}

/* One example of each side that no culprit has shown. */
static bool show_sides(const struct hs_judged *j, const struct hs_mismatch *m, struct hs_verdict *v,
                       struct hs_finding *f)
{
    for (uint32_t i = 0; i < m->side_count; i++) {
        const struct hs_side *side = &m->sides[i];
        bool said = false;

        for (uint32_t k = 0; k < f->evidence_count; k++)
            said |= f->evidence[k].rank == j->al.seats[side->seat].rank;
        if (!said && !show_call(j, v, f, side->seat, side->op))
            return false;
    }
    return true;
}

static bool show_waiters(const struct hs_judged *j, const struct hs_node *node,
                         struct hs_verdict *v, struct hs_finding *f)
{
    for (uint32_t i = 0; i < node->waiter_count && i < WAITERS; i++) {
        uint32_t seat = j->waits.waiters[node->first_waiter + i];

        if (!show_call(j, v, f, seat, j->al.pending[j->al.seats[seat].head].first_op))
            return false;
    }
    return true;
}

static bool put_evidence(const struct hs_judged *j, const struct hs_claim *claim,
                         struct hs_verdict *v, struct hs_finding *f)
{
    f->evidence = HS_NEW(&v->arena, struct hs_evidence, EVIDENCE);
    for (uint32_t i = 0; f->evidence && i < claim->place_count && i < LINES; i++)
        (void)add_evidence(f, hs_line_evidence(j, &claim->places[i], &v->arena), EVIDENCE);
    if (!f->evidence || (!claim->unseen && !show_culprits(j, claim, v, f)))
        return false;
    if (claim->mismatch)
        return show_sides(j, claim->mismatch, v, f);
    return claim->node == HS_NO_ID || show_waiters(j, &j->waits.nodes[claim->node], v, f);
}

/* ---- the whole ---- */

/* Sorted seats without those that are culprits: who waits. */
static bool put_waiting(const struct hs_judged *j, const struct hs_claim *claim,
                        struct hs_verdict *v)
{
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, claim->waiter_count);
    const uint32_t *culprits = hs_claim_ranks(j, claim, &v->arena);

    if (!ranks || !culprits)
        return false;
    for (uint32_t i = 0; i < claim->waiter_count; i++) {
        uint32_t rank = j->al.seats[claim->waiters[i]].rank;

        if (!hs_u32_contains(culprits, claim->culprit_count, rank))
            ranks[v->waiting_count++] = rank;
    }
    v->waiting = ranks;
    return true;
}

static bool tell_line_alternative(const struct hs_judged *j, const struct hs_claim *claim,
                                  struct hs_verdict *v, struct hs_alternative *a)
{
    a->code = claim->code;
    a->confidence = HS_LOW;
    a->culprit_count = claim->line->named_count;
    a->why.key = claim->line->why;
    return hs_line_culprits(j, claim->line, &v->arena, &a->culprits) &&
           hs_add_line_names(j, claim, a->culprits, &a->why, &v->arena);
}

static bool put_alternatives(const struct hs_judged *j, struct hs_verdict *v)
{
    const struct hs_claim *claim = j->claims.rows;

    v->alternatives = HS_NEW(&v->arena, struct hs_alternative, j->claims.count);
    if (!v->alternatives)
        return false;
    assert(claim || j->claims.count == 0);
    for (uint32_t i = 0; i < j->claims.count; i++, claim++) {
        struct hs_alternative *a = &v->alternatives[v->alternative_count];
        struct sentence_names n;

        if (i == j->decision.winner || strcmp(claim->code, "undetermined") == 0)
            continue;
        if (claim->line) {
            if (!tell_line_alternative(j, claim, v, a))
                return false;
            v->alternative_count++;
            continue;
        }
        if (!put_culprits(j, claim, &v->arena, &a->culprits) ||
            !name_parts(j, v, claim, &v->arena, &n))
            return false;
        a->code = claim->code;
        a->confidence = HS_LOW;
        a->culprit_count = claim->culprit_count;
        a->why.key = claim->culprit_count ? "why.alternative" : "why.alternative.nobody";
        add_names(&a->why, &n);
        v->alternative_count++;
    }
    return true;
}

/* Where the others wait; of a mismatch, as the majority calls it. */
static void put_operation(const struct hs_judged *j, const struct hs_claim *claim,
                          struct hs_verdict *v)
{
    uint32_t seat, op;

    v->has_operation = hs_node_example(j, claim->node, &seat, &op);
    if (v->has_operation && claim->mismatch) {
        seat = claim->mismatch->sides[0].seat;
        op = claim->mismatch->sides[0].op;
    }
    if (v->has_operation)
        v->operation = hs_op_verdict(&j->al, seat, op, &v->arena);
}

static bool put_summary(const struct hs_judged *j, const struct hs_claim *claim,
                        struct hs_verdict *v)
{
    struct sentence_names n;

    if (!name_parts(j, v, claim, &v->arena, &n))
        return false;
    v->why.key = why_key(claim);
    add_names(&v->why, &n);
    if (claim->mismatch)
        return tell_mismatch(j, claim, v, &n);
    v->summary.key = summary_key(j, claim);
    add_names(&v->summary, &n);
    return true;
}

static bool tell_claim(const struct hs_judged *j, const struct hs_claim *claim,
                       struct hs_verdict *v)
{
    struct hs_finding *f;

    if (claim->line)
        return hs_tell_line_claim(j, claim, v);
    if (!put_culprits(j, claim, &v->arena, &v->culprits))
        return false;
    v->culprit_count = claim->culprit_count;
    v->cause = find_cause(j, claim);
    v->hang_began_ns = hang_began(j, claim);
    v->hang_began_clock = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE | HS_CLOCK_FINE;
    put_operation(j, claim, v);
    if (!put_waiting(j, claim, v) || !put_summary(j, claim, v))
        return false;
    f = hs_add_finding(v, v->code, HS_ERROR);
    if (!f)
        return false;
    f->detail = v->summary;
    f->ranks = hs_claim_ranks(j, claim, &v->arena);
    f->rank_count = claim->culprit_count;
    return put_evidence(j, claim, v, f);
}

/* No reading: what was seen instead, the first that holds. */
static void tell_nothing(const struct hs_judged *j, struct hs_verdict *v)
{
    bool healthy = strcmp(v->code, "healthy") == 0, lines = j->job->speaker_count > 0;
    uint32_t ranks = j->al.seat_count;
    const struct {
        bool applies;
        const char *summary, *why;
    } keys[] = {
        { healthy && !ranks, "summary.healthy.lines", "why.healthy" },
        { healthy && j->waits.waiter_count, "summary.healthy.in-flight", "why.healthy" },
        { healthy, "summary.healthy", "why.healthy" },
        { lines && hs_first_failure(j), "summary.undetermined.consequences", "why.consequences" },
        { ranks > 0, "summary.undetermined.nothing", "why.nothing" },
        { lines, "summary.undetermined.no-failure", "why.nothing" },
        { true, "summary.undetermined.no-dumps", "why.nothing" },
    };
    size_t i = 0;

    while (!keys[i].applies)
        i++;
    v->summary.key = keys[i].summary;
    v->why.key = keys[i].why;
    hs_phrase_add(&v->summary, "ranks", hs_arena_printf(&v->arena, "%u", ranks), ranks);
    hs_phrase_add(&v->summary, "waiting", hs_arena_printf(&v->arena, "%u", j->waits.waiter_count),
                  j->waits.waiter_count);
}

bool hs_tell_decision(const struct hs_judged *j, struct hs_verdict *v)
{
    const struct hs_claim *claim = hs_winner(j);

    v->code = j->decision.code;
    v->confidence = j->decision.confidence;
    if (claim) {
        if (!tell_claim(j, claim, v))
            return false;
        hs_tell_doubt(j, claim, v);
    } else {
        tell_nothing(j, v);
        if (!hs_tell_line_work(j, v))
            return false;
    }
    v->action = hs_action_for(v->code, v->cause);
    return put_alternatives(j, v);
}
