#include "replay/what_if.h"

#include "base/limits.h"
#include "replay/select.h"

#include <stdlib.h>

struct editing {
    struct hs_plan *plan;
    const char *edit;
    struct hs_str rest; /* of the edit */
    struct hs_plan_rank *row;
    struct hs_err *err;
};

/* What the words of the grammar name. */
struct place {
    uint32_t group, seq;
    uint32_t first, end; /* the unit in the row's program */
};

static enum hs_status fail(struct editing *e, struct hs_str word, const char *why)
{
    return hs_fail(e->err, HS_EUSAGE, "--what-if '%s': '%.*s': %s", e->edit, HS_STR_ARG(word), why);
}

static struct hs_str take_word(struct editing *e)
{
    struct hs_str word;

    while (e->rest.n && *e->rest.p == ' ') {
        e->rest.p++;
        e->rest.n--;
    }
    word = (struct hs_str){ .p = e->rest.p, .n = 0 };
    while (word.n < e->rest.n && e->rest.p[word.n] != ' ')
        word.n++;
    e->rest.p += word.n;
    e->rest.n -= word.n;
    return word;
}

static enum hs_status expect_word(struct editing *e, const char *want)
{
    struct hs_str word = take_word(e);
    char why[64];

    if (hs_str_is(word, want))
        return HS_OK;
    (void)snprintf(why, sizeof(why), "'%s' is expected here", want);
    return fail(e, word, why);
}

static bool read_number(struct hs_str word, uint32_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9' || value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(word.p[i] - '0');
    }
    *out = (uint32_t)value;
    return word.n > 0 && value < UINT32_MAX;
}

static enum hs_status take_rank(struct editing *e, bool colon, struct hs_plan_rank **out)
{
    struct hs_str word = take_word(e), digits = word;
    uint32_t rank;

    if (colon && word.n && word.p[word.n - 1] == ':')
        digits.n--;
    else if (colon)
        return fail(e, word, "a rank and a colon are expected here");
    if (!read_number(digits, &rank))
        return fail(e, word, "this is no rank");
    *out = hs_plan_find(e->plan, rank);
    return *out ? HS_OK : fail(e, word, "the plan has no such rank");
}

/* ---- places in a program ---- */

static uint32_t slot_of(const struct hs_plan_rank *row, uint32_t group)
{
    for (uint32_t s = 0; s < row->slot_count; s++) {
        if (row->groups[s] == group)
            return s;
    }
    return HS_NO_ID;
}

/* The unit of a row that is collective `seq` of a slot; its end when there is none, and then the
 * number after the last in `seq_after`. */
static uint32_t find_unit(const struct hs_plan *plan, const struct hs_plan_rank *row, uint32_t slot,
                          uint32_t seq, uint32_t *seq_after)
{
    const struct hs_program *p = &plan->programs[row->program];
    uint32_t at = row->start[slot];

    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        if (p->calls[i].slot != slot || hs_plan_is_pair(&plan->signatures[p->calls[i].signature]))
            continue;
        at += 1 + p->calls[i].skip;
        if (at == seq)
            return i;
    }
    *seq_after = at + 1;
    return p->call_count;
}

/* "GROUP#SEQ"; the '#' is the last one, since names may have some. */
static enum hs_status take_place(struct editing *e, struct place *out)
{
    struct hs_str word = take_word(e), name = word, digits;
    const char *hash = word.n ? memrchr(word.p, '#', word.n) : NULL;
    const struct hs_program *p = &e->plan->programs[e->row->program];
    uint32_t after;

    if (!hash)
        return fail(e, word, "GROUP#SEQ is expected here");
    name.n = (size_t)(hash - word.p);
    digits = (struct hs_str){ .p = hash + 1, .n = word.n - name.n - 1 };
    if (!read_number(digits, &out->seq))
        return fail(e, digits, "this is no sequence number");
    out->group = hs_plan_group_called(e->plan, e->row, name);
    if (out->group == HS_NO_ID)
        return fail(e, name, "the rank has no such group");
    out->first = find_unit(e->plan, e->row, slot_of(e->row, out->group), out->seq, &after);
    if (out->first == p->call_count)
        return fail(e, word, "the plan has no such call of this rank");
    out->end = hs_unit_end(p, out->first);
    return HS_OK;
}

/* ---- the edits ---- */

/* What a unit passed over is passed over by the next collective of its group. */
static void hand_on_skip(struct hs_plan *plan, struct hs_program *p, uint32_t first, uint32_t end)
{
    uint32_t skip = p->calls[first].skip;

    for (uint32_t i = end; skip && i < p->call_count; i = hs_unit_end(p, i)) {
        if (p->calls[i].slot == p->calls[first].slot &&
            !hs_plan_is_pair(&plan->signatures[p->calls[i].signature])) {
            p->calls[i].skip += skip;
            return;
        }
    }
}

static enum hs_status drop(struct editing *e)
{
    struct hs_program *p;
    struct place at = { .group = 0 };
    enum hs_status status = take_place(e, &at);

    if (status != HS_OK)
        return status;
    p = hs_plan_own_program(e->plan, e->row, e->plan->programs[e->row->program].call_count);
    if (!p)
        return hs_no_memory(e->err);
    hand_on_skip(e->plan, p, at.first, at.end);
    memmove(p->calls + at.first, p->calls + at.end, (p->call_count - at.end) * sizeof(*p->calls));
    p->call_count -= at.end - at.first;
    return HS_OK;
}

static enum hs_status move(struct editing *e)
{
    struct hs_plan_call *held;
    struct hs_program *p;
    struct place from = { .group = 0 }, to = { .group = 0 };
    uint32_t n;
    enum hs_status status = take_place(e, &from);

    if (status == HS_OK)
        status = expect_word(e, "after");
    if (status == HS_OK)
        status = take_place(e, &to);
    if (status != HS_OK)
        return status;
    n = from.end - from.first;
    p = hs_plan_own_program(e->plan, e->row, e->plan->programs[e->row->program].call_count);
    held = malloc((n + 1u) * sizeof(*held));
    if (!p || !held) {
        free(held);
        return hs_no_memory(e->err);
    }
    memcpy(held, p->calls + from.first, n * sizeof(*held));
    if (to.first > from.first) {
        memmove(p->calls + from.first, p->calls + from.end,
                (to.end - from.end) * sizeof(*p->calls));
        memcpy(p->calls + to.end - n, held, n * sizeof(*held));
    } else if (to.first < from.first) {
        memmove(p->calls + to.end + n, p->calls + to.end,
                (from.first - to.end) * sizeof(*p->calls));
        memcpy(p->calls + to.end, held, n * sizeof(*held));
    }
    free(held);
    return HS_OK;
}

static bool is_op(const struct hs_plan *plan, const struct hs_plan_signature *sig,
                  struct hs_str word)
{
    return hs_str_eq(word, hs_plan_string(plan, sig->op)) ||
           (sig->kind->op && hs_str_is(word, sig->kind->op));
}

/* The call of `row` in a slot that is made by this operation, nearest to a number. */
static const struct hs_plan_call *find_model(const struct hs_plan *plan,
                                             const struct hs_plan_rank *row, uint32_t slot,
                                             uint32_t seq, struct hs_str op)
{
    const struct hs_program *p = &plan->programs[row->program];
    const struct hs_plan_call *best = NULL;
    uint32_t at = row->start[slot], best_off = UINT32_MAX;

    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        const struct hs_plan_signature *sig = &plan->signatures[p->calls[i].signature];
        uint32_t off;

        if (p->calls[i].slot != slot || hs_plan_is_pair(sig))
            continue;
        at += 1 + p->calls[i].skip;
        off = at > seq ? at - seq : seq - at;
        if (off < best_off && is_op(plan, sig, op)) {
            best = &p->calls[i];
            best_off = off;
        }
    }
    return best;
}

/* What an insertion says. */
struct insertion {
    struct hs_str op, group_word, seq_word;
    uint32_t group, slot, seq;
    struct hs_plan_rank *like;
};

static enum hs_status read_insertion(struct editing *e, struct insertion *in)
{
    enum hs_status status;

    in->op = take_word(e);
    status = expect_word(e, "in");
    if (status != HS_OK)
        return status;
    in->group_word = take_word(e);
    in->group = hs_plan_group_called(e->plan, e->row, in->group_word);
    if (in->group == HS_NO_ID)
        return fail(e, in->group_word, "the rank has no such group");
    in->slot = slot_of(e->row, in->group);
    status = expect_word(e, "before");
    if (status != HS_OK)
        return status;
    in->seq_word = take_word(e);
    if (in->seq_word.n < 2 || *in->seq_word.p != '#' ||
        !read_number((struct hs_str){ .p = in->seq_word.p + 1, .n = in->seq_word.n - 1 }, &in->seq))
        return fail(e, in->seq_word, "#SEQ is expected here");
    status = expect_word(e, "like");
    if (status == HS_OK)
        status = expect_word(e, "rank");
    return status == HS_OK ? take_rank(e, false, &in->like) : status;
}

static enum hs_status insert(struct editing *e)
{
    uint32_t count = e->plan->programs[e->row->program].call_count, at, after = 0, theirs;
    const struct hs_plan_call *model;
    struct hs_plan_call call;
    struct insertion in;
    struct hs_program *p;
    enum hs_status status = read_insertion(e, &in);

    if (status != HS_OK)
        return status;
    theirs = slot_of(in.like, in.group);
    model = theirs == HS_NO_ID ? NULL : find_model(e->plan, in.like, theirs, in.seq, in.op);
    if (!model)
        return fail(e, in.op, "the rank to be like makes no such call in this group");
    at = find_unit(e->plan, e->row, in.slot, in.seq, &after);
    if (at == count && in.seq != after)
        return fail(e, in.seq_word, "the rank has no such call, and it is not the next one either");
    call = *model;
    call.slot = (uint16_t)in.slot;
    call.batch = call.skip = 0;
    call.flags &= HS_CALL_REDUCTION;
    call.stream = 0;
    p = hs_plan_own_program(e->plan, e->row, count + 1);
    if (!p)
        return hs_no_memory(e->err);
    memmove(p->calls + at + 1, p->calls + at, (count - at) * sizeof(*p->calls));
    if (at < count) {
        call.skip = p->calls[at + 1].skip;
        p->calls[at + 1].skip = 0;
    }
    p->calls[at] = call;
    return HS_OK;
}

enum hs_status hs_plan_edit(struct hs_plan *plan, const char *edit, struct hs_err *err)
{
    static const struct {
        const char *word;
        enum hs_status (*run)(struct editing *e);
    } verbs[] = { { "drop", drop }, { "insert", insert }, { "move", move } };
    struct editing e = { .plan = plan, .edit = edit, .rest = hs_str_of(edit), .err = err };
    enum hs_status status = expect_word(&e, "rank");
    struct hs_str verb, rest;

    if (status == HS_OK)
        status = take_rank(&e, true, &e.row);
    if (status != HS_OK)
        return status;
    if (!e.row || e.row->flags & HS_PLAN_ABSENT)
        return hs_fail(err, HS_EUSAGE, "--what-if '%s': this rank left no record to change", edit);
    verb = take_word(&e);
    status = HS_EUSAGE;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (hs_str_is(verb, verbs[i].word)) {
            status = verbs[i].run(&e);
            if (status != HS_OK)
                return status;
        }
    }
    if (status != HS_OK)
        return fail(&e, verb, "one of drop, insert, move is expected here");
    rest = take_word(&e);
    if (rest.n)
        return fail(&e, rest, "nothing is expected here");
    return hs_plan_share(plan) ? HS_OK : hs_no_memory(err);
}
