/*
 * line_calls.c - the calls that COLL and CALL lines show, compared between the ranks of a
 * communicator.
 *
 * Nothing is printed when a call ends, so these lines show what was called and in which order, not
 * who waits: ranks that call different things at one place are at fault; ranks that show fewer
 * calls may only have been cut off.
 */
#include "analyzer/callers.h"
#include "analyzer/line_claims.h"
#include "analyzer/line_sides.h"

#include "base/ranks.h"

#include <stdlib.h>

struct calling {
    const struct hs_line_reading *r;
    struct hs_caller *callers;
    uint32_t count;
};

static const struct hs_operation *operations_of(const struct calling *c, const struct hs_caller *at)
{
    return c->r->job->dumps[at->dump].operations;
}

/* The collective number `seq` of a caller; NULL when it shows none. */
static const struct hs_operation *call_at(const struct calling *c, const struct hs_caller *at,
                                          uint32_t *next, uint32_t seq)
{
    const struct hs_dump *dump = &c->r->job->dumps[at->dump];

    for (; *next < dump->operation_count; ++*next) {
        const struct hs_operation *op = &operations_of(c, at)[*next];

        if (op->member == at->member && op->seq == seq)
            return op;
        if (op->member == at->member && op->seq > seq)
            return NULL;
    }
    return NULL;
}

static bool add_view(const struct calling *c, struct hs_sides *sides, uint32_t index,
                     const struct hs_operation *op)
{
    const struct hs_signature *s = &c->r->job->signatures[op->signature];
    bool equal = s->kind->in == HS_COUNT_EQUAL || s->kind->rooted;
    struct hs_str size = equal
                             ? hs_arena_printf(c->r->arena, "%llu", (unsigned long long)s->numel_in)
                             : (struct hs_str){ .p = NULL };
    struct hs_str name = hs_job_string(c->r->job, s->bare);
    struct hs_side_view view = {
        .place = index,
        .op = s->root == HS_NO_ID
                  ? name
                  : hs_arena_printf(c->r->arena, "%.*s from root %u", HS_STR_ARG(name), s->root),
        .shape = size,
        .dtype =
            s->kind->dtype ? hs_job_string(c->r->job, s->dtypes_in) : (struct hs_str){ .p = NULL },
    };

    return hs_sides_add(sides, &view);
}

static struct hs_place place_of(const struct calling *c, const struct hs_caller *at,
                                const struct hs_operation *op)
{
    return (struct hs_place){ .source = c->r->job->dumps[at->dump].source,
                              .line = op->record,
                              .rank = at->rank };
}

static struct hs_line_wait *wait_of(const struct calling *c, const struct hs_operation *op)
{
    const struct hs_signature *s = &c->r->job->signatures[op->signature];
    struct hs_line_wait *w = HS_NEW(c->r->arena, struct hs_line_wait, 1);
    struct hs_str name = hs_str_of(s->kind->op ? s->kind->op : "");

    if (w)
        *w = (struct hs_line_wait){ .rank = HS_NO_ID,
                                    .group = HS_NO_ID,
                                    .group_desc = HS_NO_ID,
                                    .seq = op->seq,
                                    .op = hs_intern_find(&c->r->job->strings, name),
                                    .numel_in = s->numel_in,
                                    .numel_out = s->numel_out,
                                    .stack = HS_NO_ID };
    if (w && w->op == HS_NO_ID)
        w->op = s->bare;
    return w;
}

enum { SHIFT_MAX = 3, FOLLOWING = 12 };

/* The signatures of a caller's collectives from number `seq` on; returns how many there are. */
static uint32_t read_following(const struct calling *c, const struct hs_caller *at, uint32_t seq,
                               uint32_t out[FOLLOWING])
{
    const struct hs_dump *dump = &c->r->job->dumps[at->dump];
    uint32_t n = 0;

    for (uint32_t i = 0; i < dump->operation_count && n < FOLLOWING; i++) {
        const struct hs_operation *op = &dump->operations[i];

        if (op->member == at->member && op->seq == seq + n)
            out[n++] = op->signature;
    }
    return n;
}

/* Whether `ahead` calls what `behind` calls `by` later, as far as both go on: at least two calls,
 * not all alike. */
static bool explains(const uint32_t *ahead, uint32_t ahead_count, const uint32_t *behind,
                     uint32_t behind_count, uint32_t by)
{
    uint32_t n = 0;
    bool varied = false;

    for (; n < ahead_count && n + by < behind_count; n++) {
        if (ahead[n] != behind[n + by])
            return false;
        varied |= ahead[n] != ahead[0];
    }
    return n > 1 && varied;
}

/* Whether one skipped calls that the other makes, or made some more: then it is the order that
 * differs, whatever the first two are. */
static bool is_shifted(const struct calling *c, const struct hs_caller *a,
                       const struct hs_caller *b, uint32_t seq)
{
    uint32_t x[FOLLOWING], y[FOLLOWING];
    uint32_t xs = read_following(c, a, seq, x), ys = read_following(c, b, seq, y);

    if (xs && ys && explains(x + 1, xs - 1, y + 1, ys - 1, 0))
        return false;
    for (uint32_t by = 1; by <= SHIFT_MAX; by++) {
        if (explains(x, xs, y, ys, by) || explains(y, ys, x, xs, by))
            return true;
    }
    return false;
}

static const char *code_of(const struct calling *c, const struct hs_caller *ends,
                           const struct hs_sides *sides, const uint32_t *odd, uint32_t odd_count,
                           uint32_t seq)
{
    uint64_t one = sides->views[0].place, other = one;

    for (uint32_t i = 0; i < sides->count && odd_count; i++) {
        one = odd[0];
        if (!hs_u32_contains(odd, odd_count, (uint32_t)sides->views[i].place))
            other = sides->views[i].place;
    }
    return other != one && is_shifted(c, &ends[one], &ends[other], seq) ? "order-mismatch"
                                                                        : hs_sides_code(sides);
}

/* The sides in words, by ranks where they are known. */
static struct hs_str sides_text(const struct hs_caller *ends, struct hs_sides *sides)
{
    for (uint32_t i = 0; i < sides->count; i++) {
        uint32_t rank = ends[sides->views[i].place].rank;

        sides->views[i].place = rank == HS_NO_ID ? sides->views[i].place : rank;
    }
    return hs_sides_text(sides);
}

static bool claim_difference(const struct calling *c, const struct hs_caller *ends, uint32_t count,
                             struct hs_sides *sides, const struct hs_operation *const *ops)
{
    struct hs_place *places = HS_NEW(c->r->arena, struct hs_place, count);
    uint32_t *ranks = HS_NEW(c->r->arena, uint32_t, count), n = 0, cited = 0, odd_count;
    uint32_t *odd = hs_sides_odd(sides, &odd_count);
    struct hs_line_claim *line;
    struct hs_claim *claim =
        odd ? hs_add_line_claim(
                  c->r, code_of(c, ends, sides, odd, odd_count, ops[sides->views[0].place]->seq),
                  &line)
            : NULL;
    bool known = true, guessed = false;

    if (!places || !ranks || !claim)
        return false;
    for (uint32_t i = 0; i < odd_count; i++) {
        known = known && ends[odd[i]].rank != HS_NO_ID;
        guessed = guessed || ends[odd[i]].guessed;
        ranks[n++] = ends[odd[i]].rank;
        places[cited++] = place_of(c, &ends[odd[i]], ops[odd[i]]);
    }
    for (uint32_t i = 0; i < count && cited < count; i++) {
        if (ops[i] && !hs_u32_contains(odd, odd_count, i))
            places[cited++] = place_of(c, &ends[i], ops[i]);
    }
    claim->reach = sides->count - odd_count;
    if (guessed || !known)
        claim->doubts |= HS_DOUBT_ASSUMED;
    if (sides->count <
        c->r->job
            ->communicators
                [c->r->job->members[c->r->job->dumps[ends[0].dump].first_member + ends[0].member]
                     .communicator]
            .size)
        claim->doubts |= HS_DOUBT_MEMBERS;
    line->wait = wait_of(c, ops[sides->views[odd_count ? (odd[0] == 0) : 0].place]);
    line->detail = sides_text(ends, sides);
    line->summary =
        odd_count && known ? "summary.lines.fingerprint" : "summary.lines.fingerprint.even";
    line->why = "why.lines.calls";
    return line->wait && hs_name_ranks(c->r, line, ranks, known ? n : 0, "differs") &&
           hs_cite_places(c->r, claim, places, cited);
}

/* Ends of a communicator, read call by call. */
struct walk {
    const struct hs_caller *ends;
    uint32_t count;
    uint32_t *next;                    /* per end */
    const struct hs_operation **calls; /* per end; NULL where it is not seen */
    bool differ;
};

/* What each end called at a place; returns how many are seen. */
static uint32_t step(const struct calling *c, struct walk *w, uint32_t seq)
{
    const struct hs_operation *first = NULL;
    uint32_t seen = 0;

    w->differ = false;
    for (uint32_t i = 0; i < w->count; i++) {
        w->calls[i] = call_at(c, &w->ends[i], &w->next[i], seq);
        if (!w->calls[i])
            continue;
        seen++;
        w->differ |= first && w->calls[i]->signature != first->signature;
        first = first ? first : w->calls[i];
    }
    return seen;
}

static bool add_views(const struct calling *c, const struct walk *w, struct hs_sides *sides)
{
    sides->count = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->calls[i] && !add_view(c, sides, i, w->calls[i]))
            return false;
    }
    return true;
}

/* The first place at which ends of a communicator call different things. */
static bool compare(const struct calling *c, const struct hs_caller *ends, uint32_t count,
                    bool *found)
{
    struct walk w = { .ends = ends,
                      .count = count,
                      .next = HS_NEW(c->r->arena, uint32_t, count),
                      .calls = HS_NEW(c->r->arena, const struct hs_operation *, count) };
    struct hs_sides sides = { .arena = c->r->arena };

    if (!w.next || !w.calls)
        return false;
    for (uint32_t seq = 1; step(c, &w, seq) > 1; seq++) {
        if (!w.differ)
            continue;
        if (!add_views(c, &w, &sides))
            return false;
        if (!hs_sides_differ(&sides))
            continue;
        *found = true;
        return claim_difference(c, ends, count, &sides, w.calls);
    }
    return true;
}

/* Calls of one side only, or nothing that differs: what is shown, and that it decides nothing. */
static bool claim_nothing(const struct calling *c)
{
    struct hs_place places[2];
    struct hs_line_claim *line;
    struct hs_claim *claim;
    const struct hs_caller *at = c->callers;
    const struct hs_dump *dump = &c->r->job->dumps[at->dump];

    if (c->r->out->count || dump->operation_count == 0)
        return true;
    claim = hs_add_line_claim(c->r, "undetermined", &line);
    if (!claim)
        return false;
    claim->weak = true;
    places[0] = place_of(c, at, &dump->operations[0]);
    places[1] = place_of(c, at, &dump->operations[dump->operation_count - 1]);
    line->wait = wait_of(c, &dump->operations[dump->operation_count - 1]);
    line->summary = "summary.lines.calls";
    line->why = "why.lines.calls.one-side";
    return line->wait && hs_cite_places(c->r, claim, places, 2);
}

bool hs_claims_from_calls(const struct hs_line_reading *r)
{
    struct calling c = { .r = r };
    bool found = false;

    if (!hs_callers_find(r->identity, r->arena, &c.callers, &c.count))
        return false;
    if (c.count == 0)
        return true;
    for (uint32_t i = 0, end; i < c.count && !found; i = end) {
        for (end = i; end < c.count && c.callers[end].comm == c.callers[i].comm; end++)
            continue;
        if (c.callers[i].comm != HS_NO_ID && end - i > 1 &&
            !compare(&c, c.callers + i, end - i, &found))
            return false;
    }
    return found || claim_nothing(&c);
}
