/*
 * line_graph.c - from who waits in what to who is waited for.
 *
 * Each rank is blocked in its earliest call. The subject is the call in which most ranks are
 * blocked; members of its group that are proven to be behind it hold it up. Ranks that say nothing
 * are unknown: only where all others of the world wait does their silence mean something, and then
 * it is never more than likely.
 */
#include "analyzer/line_graph.h"

#include "base/ranks.h"

#include <stdlib.h>

/* ---- heads ---- */

static int by_voice(const void *a, const void *b)
{
    const struct hs_line_wait *x = *(const struct hs_line_wait *const *)a;
    const struct hs_line_wait *y = *(const struct hs_line_wait *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->rank == HS_NO_ID && x->voice != y->voice)
        return x->voice < y->voice ? -1 : 1;
    if (x->began_ns && y->began_ns && x->began_ns / 1000000000 != y->began_ns / 1000000000)
        return x->began_ns < y->began_ns ? -1 : 1;
    if (x->group == y->group && x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static int by_call(const void *a, const void *b)
{
    const struct hs_line_wait *x = *(const struct hs_line_wait *const *)a;
    const struct hs_line_wait *y = *(const struct hs_line_wait *const *)b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static bool same_voice(const struct hs_line_wait *a, const struct hs_line_wait *b)
{
    return a->rank == b->rank && (a->rank != HS_NO_ID || a->voice == b->voice);
}

static bool find_heads(struct hs_call_graph *g)
{
    uint32_t n = 0;

    g->heads = HS_NEW(g->r->arena, const struct hs_line_wait *, g->lw->count);
    if (!g->heads)
        return false;
    for (uint32_t i = 0; i < g->lw->count; i++)
        g->heads[i] = &g->lw->waits[i];
    if (g->lw->count)
        qsort(g->heads, g->lw->count, sizeof(const struct hs_line_wait *), by_voice);
    for (uint32_t i = 0; i < g->lw->count; i++) {
        if (n == 0 || !same_voice(g->heads[n - 1], g->heads[i]))
            g->heads[n++] = g->heads[i];
    }
    g->head_count = n;
    if (n)
        qsort(g->heads, n, sizeof(const struct hs_line_wait *), by_call);
    return true;
}

static bool same_call(const struct hs_line_wait *a, const struct hs_line_wait *b)
{
    return a->group == b->group && a->seq == b->seq;
}

static int64_t earliest(const struct hs_blocked *b)
{
    int64_t began = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        if (b->waits[i]->began_ns && (!began || b->waits[i]->began_ns < began))
            began = b->waits[i]->began_ns;
    }
    return began;
}

/* Most ranks; then what began first. */
static bool find_subject(struct hs_call_graph *g)
{
    for (uint32_t i = 0, end; i < g->head_count; i = end) {
        struct hs_blocked b = { .waits = &g->heads[i] };

        for (end = i; end < g->head_count && same_call(g->heads[i], g->heads[end]); end++)
            b.count++;
        if (b.count > g->subject.count ||
            (b.count == g->subject.count && earliest(&b) < earliest(&g->subject)))
            g->subject = b;
    }
    g->members = HS_NEW(g->r->arena, uint32_t, g->subject.count);
    g->events = HS_NEW(g->r->arena, uint32_t, g->subject.count);
    for (uint32_t i = 0; g->members && g->events && i < g->subject.count; i++) {
        g->members[i] = g->subject.waits[i]->rank;
        g->events[i] = g->subject.waits[i]->event;
    }
    return g->members && g->events;
}

/* Known ranks among those that wait in the subject: HS_NO_ID sorts last. */
static uint32_t known_members(const struct hs_call_graph *g)
{
    uint32_t n = g->subject.count;

    while (n && g->members[n - 1] == HS_NO_ID)
        n--;
    return n;
}

/* The size of the world as far as something says it; else one more than the largest rank. */
static uint64_t world_of(const struct hs_call_graph *g)
{
    return g->lw->world_size != HS_NO_POSITION ? g->lw->world_size : g->lw->implied;
}

/* ---- claims ---- */

static struct hs_claim *add(struct hs_call_graph *g, const char *code, struct hs_line_claim **line)
{
    struct hs_claim *claim = hs_add_line_claim(g->r, code, line);
    uint32_t known = known_members(g);

    if (!claim)
        return NULL;
    claim->reach = g->subject.count;
    (*line)->waiting = g->members;
    (*line)->waiting_count = known;
    (*line)->wait = g->subject.waits[0];
    if (!hs_cite(g->r, claim, g->events, g->subject.count))
        return NULL;
    (*line)->began_ns = earliest(&g->subject);
    (*line)->clock = g->subject.waits[0]->clock;
    if (known < g->subject.count)
        claim->doubts |= HS_DOUBT_KIND; /* who waits is not known */
    return claim;
}

/* The wait that says most stands for the call. */
static const struct hs_line_wait *fullest(const struct hs_call_graph *g)
{
    const struct hs_line_wait *best = g->subject.waits[0];

    for (uint32_t i = 0; i < g->subject.count; i++) {
        const struct hs_line_wait *w = g->subject.waits[i];
        int says = (w->op != HS_NO_ID) + (w->numel_in != HS_NO_POSITION) + (w->group != HS_NO_ID);
        int said =
            (best->op != HS_NO_ID) + (best->numel_in != HS_NO_POSITION) + (best->group != HS_NO_ID);

        if (says > said)
            best = w;
    }
    return best;
}

/* Whether a rank's counters are of the group that the others wait in. */
static bool is_of_group(const struct hs_call_graph *g, const struct hs_line_standing *s)
{
    const struct hs_line_wait *w = fullest(g);

    return w->group != HS_NO_ID && s->group != HS_NO_ID && w->group == s->group;
}

struct behind {
    uint32_t *ranks, *events;
    uint32_t count;
};

/* Ranks whose own counters show that they have not come to the subject. */
static bool find_behind(struct hs_call_graph *g, struct behind *b)
{
    const struct hs_line_wait *w = fullest(g);

    b->ranks = HS_NEW(g->r->arena, uint32_t, g->lw->standing_count);
    b->events = HS_NEW(g->r->arena, uint32_t, g->lw->standing_count);
    if (!b->ranks || !b->events)
        return false;
    for (uint32_t i = 0; i < g->lw->standing_count; i++) {
        const struct hs_line_standing *s = &g->lw->standings[i];

        if (s->rank == HS_NO_ID || s->enqueued == HS_NO_POSITION || w->seq == HS_NO_POSITION ||
            s->enqueued >= w->seq || !is_of_group(g, s) ||
            hs_u32_contains(g->members, known_members(g), s->rank) ||
            (b->count && b->ranks[b->count - 1] == s->rank))
            continue;
        b->ranks[b->count] = s->rank;
        b->events[b->count++] = s->event;
    }
    return true;
}

static bool claim_behind(struct hs_call_graph *g, const struct behind *b)
{
    struct hs_line_claim *line;
    struct hs_claim *claim = add(g, "rank-missing", &line);
    uint32_t seen = known_members(g) + b->count;

    if (!claim || !hs_name_ranks(g->r, line, b->ranks, b->count, "missing"))
        return false;
    line->wait = fullest(g);
    line->summary = "summary.lines.behind";
    line->why = "why.lines.behind";
    if (seen < world_of(g))
        claim->doubts |= HS_DOUBT_MEMBERS;
    if (b->count > known_members(g))
        claim->doubts |= HS_DOUBT_KIND;
    return hs_cite(g->r, claim, b->events, b->count);
}

/* ---- differences within the call ---- */

static bool is_equal_count(const struct hs_call_graph *g, uint32_t op)
{
    struct hs_str name = hs_job_string(g->r->job, op);
    size_t count;
    const struct hs_operation_kind *kinds = hs_operation_kinds(&count);

    for (size_t i = 0; i + 1 < count; i++) {
        if (kinds[i].op && hs_str_is(name, kinds[i].op))
            return kinds[i].in == HS_COUNT_EQUAL;
    }
    return false;
}

enum difference { SAME, SIZE, ORDER };

static enum difference compare(const struct hs_call_graph *g, const struct hs_line_wait *a,
                               const struct hs_line_wait *b)
{
    if (a->op != HS_NO_ID && b->op != HS_NO_ID && a->op != b->op)
        return ORDER;
    if (a->op != HS_NO_ID && a->numel_in != HS_NO_POSITION && b->numel_in != HS_NO_POSITION &&
        a->numel_in != b->numel_in && is_equal_count(g, a->op))
        return SIZE;
    return SAME;
}

/* The side that most of the waits are on, if that is more than half: one of its waits. */
static const struct hs_line_wait *majority(const struct hs_call_graph *g)
{
    for (uint32_t i = 0; i < g->subject.count; i++) {
        uint32_t equal = 0;

        for (uint32_t k = 0; k < g->subject.count; k++)
            equal += compare(g, g->subject.waits[i], g->subject.waits[k]) == SAME;
        if (equal * 2 > g->subject.count)
            return g->subject.waits[i];
        if (i > 64)
            break; /* no side is a majority, then */
    }
    return NULL;
}

bool hs_claim_difference(struct hs_call_graph *g, bool *found)
{
    const struct hs_line_wait *most = majority(g), *first = g->subject.waits[0], *odd = NULL;
    uint32_t *ranks = HS_NEW(g->r->arena, uint32_t, g->subject.count), count = 0;
    enum difference worst = SAME;
    struct hs_line_claim *line;
    struct hs_claim *claim;

    *found = false;
    if (!ranks || !first)
        return false;
    for (uint32_t i = 0; i < g->subject.count; i++) {
        enum difference d = compare(g, most ? most : first, g->subject.waits[i]);

        if (d == SAME)
            continue;
        odd = g->subject.waits[i];
        worst = d > worst ? d : worst;
        ranks[count++] = odd->rank;
    }
    if (worst == SAME)
        return true;
    if (fullest(g)->seq == HS_NO_POSITION && worst != ORDER)
        return true; /* sizes are compared at one place only */
    *found = true;
    claim = add(g, worst == ORDER ? "order-mismatch" : "size-mismatch", &line);
    if (!claim || (most && !hs_name_ranks(g->r, line, ranks, count, "differs")))
        return false;
    line->wait = most ? most : first;
    line->summary = most ? "summary.lines.differs" : "summary.lines.differs.even";
    line->why = "why.lines.differs";
    if (known_members(g) < world_of(g))
        claim->doubts |= HS_DOUBT_MEMBERS;
    if (line->wait->group == HS_NO_ID)
        claim->doubts |= HS_DOUBT_ASSUMED; /* no line says that it is one group */
    line->other = odd;
    return hs_cite(g->r, claim, &odd->event, 1);
}

/* ---- silence ---- */

/*
 * Ranks of the world that are not seen to wait in the subject. One whose watchdog saw a failure
 * has been in a call, too, and only the line that tells which is not at hand: `more` are such.
 */
static bool find_silent(struct hs_call_graph *g, uint32_t **ranks, uint32_t *count, uint32_t *more)
{
    uint64_t world = world_of(g);
    uint32_t known = known_members(g);

    *count = *more = 0;
    *ranks = HS_NEW(g->r->arena, uint32_t, world);
    for (uint32_t rank = 0; *ranks && rank < world; rank++) {
        if (hs_u32_contains(g->members, known, rank))
            continue;
        if (hs_u32_contains(g->lw->failing, g->lw->failing_count, rank))
            ++*more;
        else
            (*ranks)[(*count)++] = rank;
    }
    return *ranks != NULL;
}

static bool all_alive(const struct hs_call_graph *g, const uint32_t *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!hs_u32_contains(g->lw->alive, g->lw->alive_count, ranks[i]))
            return false;
    }
    return count > 0;
}

/*
 * Whether ranks are members of the subject's group: a waiter whose place in it is its global rank
 * has all lower ranks before it.
 */
static bool are_members(const struct hs_call_graph *g, const uint32_t *ranks, uint32_t count)
{
    uint32_t below = 0;

    for (uint32_t i = 0; i < g->subject.count; i++) {
        const struct hs_line_wait *w = g->subject.waits[i];

        if (w->rank != HS_NO_ID && w->rank == w->group_rank && w->rank > below)
            below = w->rank;
    }
    return count && ranks[count - 1] < below;
}

/* Any rank is blocked elsewhere: then the picture is not one of a few against all others. */
static bool is_divided(const struct hs_call_graph *g)
{
    return g->head_count > g->subject.count;
}

/* Whether those who wait may be all there are, and the call one call: a line says so. */
static bool is_whole(const struct hs_call_graph *g, bool own_files)
{
    return g->lw->world_size != HS_NO_POSITION || (!own_files && fullest(g)->seq != HS_NO_POSITION);
}

static bool claim_silent(struct hs_call_graph *g, const uint32_t *ranks, uint32_t count)
{
    bool alive = all_alive(g, ranks, count);
    uint32_t answers[4], n = 0;
    struct hs_line_claim *line;
    struct hs_claim *claim = add(g, "rank-missing", &line);

    if (!claim || !hs_name_ranks(g->r, line, ranks, count, alive ? "missing" : "unseen"))
        return false;
    claim->doubts |= HS_DOUBT_WITNESS;
    line->wait = fullest(g);
    line->summary = alive ? "summary.lines.alive" : "summary.lines.silent";
    line->why = alive ? "why.lines.alive" : "why.lines.silent";
    for (uint32_t i = 0; i < g->lw->standing_count && n < 4; i++) {
        if (g->lw->standings[i].answered && hs_u32_contains(ranks, count, g->lw->standings[i].rank))
            answers[n++] = g->lw->standings[i].event;
    }
    return hs_cite(g->r, claim, answers, n);
}

static bool claim_undecided(struct hs_call_graph *g)
{
    struct hs_line_claim *line;
    struct hs_claim *claim = add(g, "undetermined", &line);

    if (!claim)
        return false;
    claim->weak = true;
    line->wait = fullest(g);
    line->summary = "summary.lines.waiting";
    line->why = "why.lines.waiting";
    return true;
}

static bool claim_joined(struct hs_call_graph *g)
{
    struct hs_line_claim *line;
    struct hs_claim *claim = add(g, "collective-stuck", &line);

    if (!claim)
        return false;
    claim->doubts |= HS_DOUBT_KIND;
    line->wait = fullest(g);
    line->summary = "summary.lines.joined";
    line->why = "why.lines.joined";
    return true;
}

bool hs_is_pair(const struct hs_line_reading *r, const struct hs_line_wait *w)
{
    const struct hs_operation_kind *kind =
        w->op == HS_NO_ID ? NULL : hs_operation_kind_of(hs_job_string(r->job, w->op));

    return kind && (kind->class == HS_CLASS_SEND || kind->class == HS_CLASS_RECV);
}

/* Whether a few silent ranks may be named, against these who wait. */
static bool is_outvoted(const struct hs_call_graph *g, const uint32_t *ranks, uint32_t count)
{
    enum { WITNESSES = 3 };
    uint32_t known = known_members(g);

    if (count == 0 || count > known)
        return false;
    /* who prepares for all is rank 0, and its bar need not name it */
    if (count == 1 && ranks[0] == 0 && hs_is_at_work(g->r, 0, earliest(&g->subject)))
        return true;
    if (count < known)
        return known >= WITNESSES || all_alive(g, ranks, count);
    return all_alive(g, ranks, count) && are_members(g, ranks, count);
}

/*
 * Nobody is proven to be behind. A silent minority of the world, while all others wait in one call,
 * is the likely holder; two waiters alone are no majority that could outvote anybody. Where each
 * rank has a file, silence is that of a file: one that is not there tells nothing.
 */
static bool claim_by_silence(struct hs_call_graph *g)
{
    uint32_t *silent, count, more, known = known_members(g);
    const struct hs_line_wait *w = fullest(g);
    bool own_files = hs_in_own_files(g->r, g->events, known);
    bool p2p = hs_is_pair(g->r, w);

    if (!find_silent(g, &silent, &count, &more))
        return false;
    if (is_divided(g) || p2p || known < g->subject.count || g->lw->deduplicated)
        return claim_undecided(g);
    if (count == 0 && !is_whole(g, own_files))
        return claim_undecided(g);
    if (own_files && !hs_all_heard(g->r, silent, count))
        return claim_undecided(g);
    /* where a log is cut off among the reports, several may only be missing from it */
    if (g->lw->torn && count > 1 && !own_files && !all_alive(g, silent, count))
        return claim_undecided(g);
    if (count == 0 && known > 1 && more == 0)
        return claim_joined(g);
    return is_outvoted(g, silent, count) ? claim_silent(g, silent, count) : claim_undecided(g);
}

bool hs_claims_from_line_waits(const struct hs_line_reading *r)
{
    struct hs_call_graph g = { .r = r, .lw = r->waits };
    struct behind behind = { .count = 0 };
    bool found = false;

    if (!hs_claims_from_lost(r, &found))
        return false;
    if (found)
        return true;
    if (g.lw->count == 0)
        return g.lw->lost_count > 1 || hs_claims_from_answers(r);
    if (!find_heads(&g) || !find_subject(&g) || !hs_claim_difference(&g, &found))
        return false;
    if (found)
        return true;
    if (!find_behind(&g, &behind))
        return false;
    return behind.count ? claim_behind(&g, &behind) : claim_by_silence(&g);
}
