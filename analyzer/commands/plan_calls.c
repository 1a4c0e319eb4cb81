/*
 * plan_calls.c - COLL and CALL lines become a plan: what each process called on each communicator.
 *
 * These lines tell that a call was made and never that it ended. So the calls run by the rules,
 * what ends then is taken for finished, and the window is cut before what does not. What a rank did
 * after its last line is unknown, unless other lines show that it did not come.
 */
#include "analyzer/callers.h"
#include "analyzer/commands/plan_copy.h"
#include "analyzer/commands/replay_input.h"
#include "replay/settle.h"

#include <stdlib.h>

/* A process's end of a communicator that becomes a group. */
struct end {
    uint32_t place;  /* in the communicator; HS_NO_ID: unknown */
    uint32_t rank;   /* global */
    uint32_t member; /* row of job->members */
};

/* A communicator as a group: the ends whose calls are on record. */
struct place_list {
    uint32_t *places; /* in the communicator, sorted, by index in the group; NULL: unknown */
    uint32_t count;
};

struct logged {
    const struct hs_judged *j;
    const struct hs_job *job;
    struct hs_plan *plan;
    struct hs_plan_copy copy;
    struct hs_arena arena;
    struct hs_caller *callers;
    uint32_t caller_count;
    uint32_t *rank_of_dump;    /* HS_NO_ID: its calls are left out */
    uint32_t *group_of;        /* by row of job->members */
    struct place_list *places; /* by group */
    uint32_t place_cap;
    uint32_t left_out;
};

/* ---- who is whom ---- */

struct candidate {
    uint32_t rank, dump, calls;
};

static int best_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return (x->dump > y->dump) - (x->dump < y->dump);
}

/* Whether the lines of a dump are of the attempt that is judged. */
static bool is_judged(const struct logged *c, uint32_t dump)
{
    uint32_t process = hs_identity_dump(c->j->identity, dump);
    uint32_t attempt = process == HS_NO_ID ? HS_NO_ID : c->j->identity->processes[process].attempt;

    return attempt == HS_NO_ID || attempt == c->j->line_attempt;
}

/* One process speaks for a rank: the one that shows the most calls. */
static bool choose_dumps(struct logged *c)
{
    struct candidate *all = HS_NEW(&c->arena, struct candidate, c->job->dump_count + 1u);
    uint32_t *ranks = HS_NEW(&c->arena, uint32_t, c->job->dump_count + 1u), count = 0;

    c->rank_of_dump = HS_NEW(&c->arena, uint32_t, c->job->dump_count + 1u);
    if (!all || !ranks || !c->rank_of_dump)
        return false;
    memset(ranks, 0xff, c->job->dump_count * sizeof(*ranks));
    memset(c->rank_of_dump, 0xff, c->job->dump_count * sizeof(*c->rank_of_dump));
    for (uint32_t i = 0; i < c->caller_count; i++) {
        uint32_t *rank = &ranks[c->callers[i].dump];

        *rank = *rank == HS_NO_ID ? c->callers[i].rank : *rank;
    }
    for (uint32_t d = 0; d < c->job->dump_count; d++) {
        const struct hs_dump *dump = &c->job->dumps[d];

        if (dump->speaker == HS_NO_ID || dump->operation_count == 0 || !is_judged(c, d))
            continue;
        if (ranks[d] >= HS_RANK_MAX)
            c->left_out++;
        else
            all[count++] = (struct candidate){ ranks[d], d, dump->operation_count };
    }
    if (count)
        qsort(all, count, sizeof(*all), best_first);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || all[i].rank != all[i - 1].rank)
            c->rank_of_dump[all[i].dump] = all[i].rank;
        else
            c->left_out++;
    }
    return true;
}

/* ---- groups ---- */

static int by_place(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The communicator that an end was joined to; NULL: to none, or by a guess. */
static const struct hs_comm *joined(const struct logged *c, const struct hs_caller *caller)
{
    return caller->comm < HS_CALLER_GUESSED ? &c->j->identity->comms.list[caller->comm] : NULL;
}

static struct hs_str name_group(struct logged *c, const struct hs_caller *caller, uint32_t rank)
{
    const struct hs_dump *dump = &c->job->dumps[caller->dump];
    const struct hs_communicator *row =
        &c->job->communicators[c->job->members[dump->first_member + caller->member].communicator];
    const struct hs_comm *comm = joined(c, caller);
    uint64_t id = comm && comm->comm_id ? comm->comm_id : row->comm_id;

    if (id)
        return hs_arena_printf(&c->arena, "%llx", (unsigned long long)id);
    if (caller->comm != HS_NO_ID && row->size == HS_NO_ID)
        return hs_str_of("comm-of-unknown-size");
    if (caller->comm != HS_NO_ID)
        return hs_arena_printf(&c->arena, "comm-of-%u", row->size);
    return hs_arena_printf(&c->arena, "comm-%llx.%u-of-%u", (unsigned long long)row->pointer,
                           row->epoch, rank);
}

/* Places are known when every end has one of its own. */
static bool have_places(const struct end *ends, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ends[i].place == HS_NO_ID || (i && ends[i].place == ends[i - 1].place))
            return false;
    }
    return true;
}

static bool put_group(struct logged *c, const struct hs_caller *caller, struct end *ends,
                      uint32_t count, uint32_t size)
{
    uint32_t *ranks = HS_NEW(&c->arena, uint32_t, count), id = c->plan->group_count;
    struct hs_plan_group *group;
    struct place_list list = { .count = count };
    struct hs_str name = name_group(c, caller, ends[0].rank);
    bool known;

    qsort(ends, count, sizeof(*ends), by_place);
    known = have_places(ends, count);
    for (uint32_t i = 0; i < count && !known; i++)
        ends[i].place = HS_NO_ID;
    if (!known)
        qsort(ends, count, sizeof(*ends), by_place);
    list.places = known || count == size ? HS_NEW(&c->arena, uint32_t, count) : NULL;
    for (uint32_t i = 0; ranks && i < count; i++) {
        ranks[i] = ends[i].rank;
        c->group_of[ends[i].member] = id;
        if (list.places)
            list.places[i] = known ? ends[i].place : i;
    }
    if (!ranks || !name.p || !HS_GROW(c->places, c->place_cap, id + 1u))
        return false;
    c->places[id] = list;
    group = hs_plan_add_group(c->plan, ranks, count);
    if (!group)
        return false;
    group->name = hs_intern_put(&c->plan->strings, name);
    group->desc = HS_NO_ID;
    if (joined(c, caller) && joined(c, caller)->world)
        group->desc = hs_intern_put(&c->plan->strings, HS_STR("world"));
    group->backend = hs_intern_put(&c->plan->strings, HS_STR("nccl"));
    group->assumed = !known;
    return group->name != HS_NO_ID && group->backend != HS_NO_ID;
}

/* The ends of one communicator; of several ends of one process the first. */
static bool put_groups(struct logged *c)
{
    struct end *ends = HS_NEW(&c->arena, struct end, c->caller_count + 1u);

    c->group_of = HS_NEW(&c->arena, uint32_t, c->job->member_count + 1u);
    if (!ends || !c->group_of)
        return false;
    memset(c->group_of, 0xff, c->job->member_count * sizeof(*c->group_of));
    for (uint32_t i = 0, next; i < c->caller_count; i = next) {
        const struct hs_caller *first = &c->callers[i], *before = NULL;
        uint32_t count = 0, size = HS_NO_ID;

        for (next = i; next < c->caller_count && c->callers[next].comm == first->comm &&
                       (next == i || first->comm != HS_NO_ID);
             next++) {
            const struct hs_caller *at = &c->callers[next];
            uint32_t member = c->job->dumps[at->dump].first_member + at->member;
            const struct hs_communicator *row =
                &c->job->communicators[c->job->members[member].communicator];

            if (c->rank_of_dump[at->dump] == HS_NO_ID || (before && before->dump == at->dump))
                continue;
            before = at;
            size = row->size;
            ends[count++] = (struct end){ .place = row->rank,
                                          .rank = c->rank_of_dump[at->dump],
                                          .member = member };
        }
        if (count && !put_group(c, first, ends, count, size))
            return false;
    }
    return true;
}

/* ---- calls ---- */

/* The index in a group of a place of its communicator; HS_NO_ID: that end is not in the plan. */
static uint32_t index_of(const struct logged *c, uint32_t group, uint32_t place)
{
    const struct place_list *list = &c->places[group];

    for (uint32_t low = 0, high = list->places ? list->count : 0; low < high;) {
        uint32_t mid = low + (high - low) / 2;

        if (list->places[mid] == place)
            return mid;
        if (list->places[mid] < place)
            low = mid + 1;
        else
            high = mid;
    }
    return HS_NO_ID;
}

/* A program while its calls are copied. */
struct copied {
    struct hs_program *p;
    uint32_t *group_calls; /* by call: p2p_seq of its line */
    uint32_t batches;
};

/* Append a call. Where brackets hold several communicators, it joins the batch of its own one. */
static void put_call(struct copied *to, const struct hs_plan_call *call, uint32_t group_call)
{
    enum { LOOKED_BACK = 1024 };
    uint32_t end = to->p->call_count++, at = end;
    struct hs_plan_call *calls = to->p->calls;

    while (group_call && at > 0 && end - at < LOOKED_BACK &&
           to->group_calls[at - 1] == group_call && calls[at - 1].slot != call->slot)
        at--;
    if (!group_call || at == 0 || to->group_calls[at - 1] != group_call ||
        calls[at - 1].slot != call->slot) {
        calls[end] = *call;
        to->group_calls[end] = group_call;
        return;
    }
    memmove(&calls[at + 1], &calls[at], (end - at) * sizeof(*calls));
    calls[at] = *call;
    to->group_calls[end] = group_call;
    calls[at - 1].batch = calls[at - 1].batch ? calls[at - 1].batch : ++to->batches;
    calls[at].batch = calls[at - 1].batch;
}

static bool copy_calls(struct logged *c, uint32_t d, struct hs_plan_rank *row)
{
    const struct hs_dump *dump = &c->job->dumps[d];
    struct copied to = { .group_calls = HS_NEW(&c->arena, uint32_t, dump->operation_count + 1u) };

    row->program = hs_plan_add_program(c->plan, dump->operation_count);
    if (row->program == HS_NO_ID || !to.group_calls)
        return false;
    to.p = &c->plan->programs[row->program];
    to.p->call_count = 0;
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        const struct hs_operation *op = &dump->operations[i];
        const struct hs_signature *sig = &c->job->signatures[op->signature];
        const struct hs_member *m = &c->job->members[dump->first_member + op->member];
        uint32_t g = row->groups[op->member];
        uint32_t peer = sig->self == HS_NO_ID ? HS_NO_ID : index_of(c, g, sig->peer);
        uint32_t root = sig->root == HS_NO_ID ? HS_NO_ID : index_of(c, g, sig->root);
        uint32_t reduction = (op->flags & HS_OPERATION_REDUCTION) >> HS_OPERATION_REDUCTION_SHIFT;
        struct hs_plan_call call = { .stack = HS_NO_ID, .slot = op->member };

        if (sig->self != HS_NO_ID &&
            (peer == HS_NO_ID || c->plan->groups[g].ranks[peer] == row->rank))
            continue;
        call.flags |= reduction < HS_REDUCTIONS ? reduction << HS_REDUCTION_SHIFT : 0;
        call.signature = hs_copy_signature_with(&c->copy, op->signature, peer, root);
        call.stream = m->stream < UINT16_MAX ? (uint16_t)m->stream : 0;
        if (call.signature == HS_NO_ID)
            return false;
        put_call(&to, &call, op->p2p_seq);
    }
    return true;
}

/* Whether the verdict is that this rank did not come to what the others wait in. */
static bool stays_away(const struct logged *c, uint32_t rank)
{
    const struct hs_decision *d = &c->j->decision;
    const struct hs_line_claim *line =
        d->winner == HS_NO_ID ? NULL : c->j->claims.rows[d->winner].line;

    if (!line || (strcmp(d->code, "rank-missing") != 0 && strcmp(d->code, "rank-slow") != 0))
        return false;
    for (uint32_t i = 0; i < line->named_count; i++) {
        if (line->named[i].rank == rank)
            return true;
    }
    return false;
}

/* A communicator that no line has made was in use before the log began. */
static bool begins_late(const struct logged *c, const struct hs_dump *dump)
{
    for (uint32_t m = 0; m < dump->member_count; m++) {
        const struct hs_communicator *row =
            &c->job->communicators[c->job->members[dump->first_member + m].communicator];

        if (!row->start_line && !row->complete_line)
            return true;
    }
    return false;
}

static bool put_rank(struct logged *c, uint32_t d)
{
    const struct hs_dump *dump = &c->job->dumps[d];
    struct hs_plan_rank *row = hs_plan_add_rank(c->plan, c->rank_of_dump[d], dump->member_count);

    if (!row)
        return false;
    row->flags |= stays_away(c, row->rank) ? 0 : HS_PLAN_OPEN;
    row->flags |= begins_late(c, dump) ? HS_PLAN_PARTIAL : 0;
    for (uint32_t m = 0; m < dump->member_count; m++)
        row->groups[m] = c->group_of[dump->first_member + m];
    return copy_calls(c, d, row);
}

static bool copy_all(struct logged *c)
{
    if (!hs_copy_init(&c->copy, c->job, c->plan) ||
        !hs_callers_find(c->j->identity, &c->arena, &c->callers, &c->caller_count) ||
        !choose_dumps(c) || !put_groups(c))
        return false;
    for (uint32_t d = 0; d < c->job->dump_count; d++) {
        if (c->rank_of_dump[d] != HS_NO_ID && !put_rank(c, d))
            return false;
    }
    return true;
}

enum hs_status hs_plan_from_calls(const struct hs_judged *judged, uint32_t window,
                                  struct hs_plan *out, uint32_t *left_out, struct hs_err *err)
{
    struct logged c = { .j = judged, .job = judged->job, .plan = out };
    enum hs_status status = HS_OK;

    hs_arena_init(&c.arena);
    if (!copy_all(&c))
        status = hs_no_memory(err);
    hs_copy_release(&c.copy);
    hs_arena_release(&c.arena);
    free(c.places);
    *left_out = c.left_out;
    if (status != HS_OK)
        return status;
    hs_plan_sort(out);
    status = hs_dry_mark_ended(out, err);
    return status == HS_OK ? hs_plan_settle(out, window, err) : status;
}
