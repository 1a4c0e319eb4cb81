/* plan_job.c - a judged job becomes a plan: what each rank called, and how far it came. */
#include "analyzer/commands/plan_copy.h"
#include "analyzer/commands/replay_input.h"
#include "replay/settle.h"

#include <stdlib.h>

/* Of an operation, while it is copied. */
enum { OP_PENDING = 1, OP_UNCLEAR = 2, OP_STUCK = 4 };

struct copying {
    const struct hs_judged *j;
    const struct hs_alignment *al;
    struct hs_plan *plan;
    struct hs_plan_copy copy;
    struct hs_arena arena;
    uint32_t *slots; /* by position: the rank's slot for its group */
    bool *stuck;     /* by pending unit: in a call that never ends */
};

/* ---- groups and ranks ---- */

static bool copy_groups(struct copying *c)
{
    for (uint32_t g = 0; g < c->al->group_count; g++) {
        const struct hs_group *from = &c->al->groups[g];
        struct hs_plan_group *to = hs_plan_add_group(c->plan, from->ranks, from->size);

        if (!to)
            return false;
        to->name = hs_copy_string(&c->copy, from->name);
        to->desc = hs_copy_string(&c->copy, from->desc);
        to->backend = hs_copy_string(&c->copy, from->backend);
        to->assumed = from->members_assumed;
        if (to->name == HS_NO_ID) {
            struct hs_str name = hs_arena_printf(&c->arena, "group %u", g);

            to->name = hs_intern_put(&c->plan->strings, name);
        }
    }
    return true;
}

/* The positions of all seats, sorted by seat: those of seat s from first[s] on. */
static uint32_t *positions_by_seat(struct copying *c, uint32_t **first)
{
    const struct hs_alignment *al = c->al;
    uint32_t *sorted = HS_NEW(&c->arena, uint32_t, al->position_count + 1u);
    uint32_t *next = HS_NEW(&c->arena, uint32_t, al->seat_count + 2u);

    *first = HS_NEW(&c->arena, uint32_t, al->seat_count + 2u);
    if (!sorted || !next || !*first)
        return NULL;
    for (uint32_t p = 0; p < al->position_count; p++)
        (*first)[al->positions[p].seat + 1]++;
    for (uint32_t s = 0; s < al->seat_count; s++)
        next[s + 1] = (*first)[s + 1] += (*first)[s];
    for (uint32_t p = 0; p < al->position_count; p++)
        sorted[next[al->positions[p].seat]++] = p;
    return sorted;
}

static struct hs_plan_rank *copy_rank(struct copying *c, uint32_t seat, const uint32_t *positions,
                                      uint32_t count)
{
    const struct hs_seat *s = &c->al->seats[seat];
    const struct hs_dump *dump = hs_seat_dump(c->al, seat);
    struct hs_plan_rank *row = hs_plan_add_rank(c->plan, s->rank, count);

    if (!row)
        return NULL;
    if (s->older || s->lost || dump->cut_short || dump->member_count == 0)
        row->flags |= HS_PLAN_OPEN;
    if (!s->from_start)
        row->flags |= HS_PLAN_PARTIAL;
    if (s->only_active)
        row->flags |= HS_PLAN_ACTIVE;
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_position *p = &c->al->positions[positions[i]];

        c->slots[positions[i]] = i;
        row->groups[i] = p->group;
        row->start[i] = s->lost && dump->operation_count == 0 ? p->status_completed : p->entered;
        row->until[i] = p->entered;
    }
    return row;
}

/* A rank that left nothing: it entered what its peers' finished calls prove. */
static bool add_absent(struct copying *c, uint32_t rank)
{
    const struct hs_alignment *al = c->al;
    uint32_t count = 0, program = hs_plan_add_program(c->plan, 0);
    struct hs_plan_rank *row;

    for (uint32_t g = 0; g < al->group_count; g++)
        count += hs_plan_index_in(&c->plan->groups[g], rank) != HS_NO_ID;
    row = program == HS_NO_ID ? NULL : hs_plan_add_rank(c->plan, rank, count);
    if (!row)
        return false;
    row->program = program;
    row->flags = HS_PLAN_ABSENT;
    for (uint32_t g = 0, s = 0; g < al->group_count; g++) {
        if (hs_plan_index_in(&c->plan->groups[g], rank) == HS_NO_ID)
            continue;
        row->groups[s] = g;
        row->start[s] = row->until[s] = al->groups[g].proved;
        s++;
    }
    return true;
}

/* ---- calls ---- */

/* The units of calls that the analysis found stuck though all are in them. */
static bool find_stuck(struct copying *c)
{
    c->stuck = HS_NEW(&c->arena, bool, c->al->pending_count + 1u);
    for (uint32_t i = 0; c->stuck && i < c->j->claims.count; i++) {
        const struct hs_claim *claim = &c->j->claims.rows[i];
        const struct hs_node *node =
            claim->node == HS_NO_ID ? NULL : &c->j->waits.nodes[claim->node];

        if (!node || strcmp(claim->code, "collective-stuck") != 0)
            continue;
        for (uint32_t k = 0; k < node->waiter_count; k++)
            c->stuck[c->al->seats[c->j->waits.waiters[node->first_waiter + k]].head] = true;
    }
    return c->stuck != NULL;
}

/* What of a seat's operations has not ended: bits by operation. */
static uint8_t *mark_pending(struct copying *c, uint32_t seat)
{
    const struct hs_dump *dump = hs_seat_dump(c->al, seat);
    const struct hs_seat *s = &c->al->seats[seat];
    uint8_t *marks = calloc((size_t)dump->operation_count + 1, 1);

    for (uint32_t u = s->first_pending; marks && u < s->first_pending + s->pending_count; u++) {
        const struct hs_unit *unit = &c->al->pending[u];
        uint16_t member = dump->operations[unit->first_op].member;
        bool coll = unit->kind == HS_UNIT_COLLECTIVE;

        for (uint32_t i = unit->first_op; i <= unit->last_op; i++) {
            const struct hs_operation *op = &dump->operations[i];
            bool in_it =
                coll ? hs_op_seq(c->al, seat, i) == unit->seq : op->p2p_seq == unit->p2p_seq;

            if (op->member == member && in_it)
                marks[i] |= (uint8_t)(OP_PENDING | (unit->ambiguous ? OP_UNCLEAR : 0) |
                                      (c->stuck[u] ? OP_STUCK : 0));
        }
    }
    return marks;
}

struct rank_copy {
    struct copying *c;
    uint32_t seat;
    struct hs_plan_rank *row;
    struct hs_program *program;
    uint32_t *at; /* by slot: the number of the last collective; 0: none yet */
    uint32_t batches;
    uint32_t last_op; /* of the call copied last; HS_NO_ID */
    bool any_unclear, any_pending;
};

/* Whether a send or receive says which rank it is about; to itself it holds nobody up. */
static bool has_peer(const struct rank_copy *w, const struct hs_signature *sig, uint32_t group)
{
    const struct hs_group *g = &w->c->al->groups[group];

    return !g->members_assumed && sig->peer < g->size &&
           g->ranks[sig->peer] != w->c->al->seats[w->seat].rank;
}

/* Join the call to the one before it as one group call. */
static void join_batch(struct rank_copy *w, struct hs_plan_call *call)
{
    struct hs_plan_call *before = call - 1;

    if (!before->batch)
        before->batch = ++w->batches;
    call->batch = before->batch;
}

/* What an operation is to the plan: nothing, a call, or one more of the group call before it. */
enum copied { COPY_NOTHING, COPY_CALL, COPY_MORE };

static enum copied what_is(struct rank_copy *w, uint32_t i, uint32_t slot)
{
    const struct hs_alignment *al = w->c->al;
    const struct hs_dump *dump = hs_seat_dump(al, w->seat);
    const struct hs_operation *op = &dump->operations[i];
    const struct hs_operation *last = w->last_op == HS_NO_ID ? NULL : &dump->operations[w->last_op];
    const struct hs_signature *sig = hs_op_signature(al, w->seat, i);
    bool ends = sig->kind->class == HS_CLASS_COALESCED && !(op->flags & HS_OPERATION_SIZED);
    bool same = last && last->member == op->member;

    if (sig->self != HS_NO_ID) {
        if (!has_peer(w, sig, w->row->groups[slot]))
            return COPY_NOTHING;
        same = same && hs_op_signature(al, w->seat, w->last_op)->self != HS_NO_ID;
        return same && op->p2p_seq && last->p2p_seq == op->p2p_seq ? COPY_MORE : COPY_CALL;
    }
    if (ends && op->p2p_seq)
        return COPY_NOTHING;
    if (w->at[slot] == 0 || hs_op_seq(al, w->seat, i) != w->at[slot])
        return COPY_CALL;
    same = same && hs_op_signature(al, w->seat, w->last_op)->self == HS_NO_ID;
    return same && sig->kind->class != HS_CLASS_COALESCED ? COPY_MORE : COPY_NOTHING;
}

static bool copy_call(struct rank_copy *w, uint32_t i, uint8_t mark)
{
    struct copying *c = w->c;
    const struct hs_operation *op = &hs_seat_dump(c->al, w->seat)->operations[i];
    uint32_t slot = c->slots[hs_op_position(c->al, w->seat, i)];
    enum copied copied = what_is(w, i, slot);
    struct hs_plan_call *call = &w->program->calls[w->program->call_count];
    uint32_t seq = hs_op_seq(c->al, w->seat, i), before;

    w->any_unclear |= (mark & OP_UNCLEAR) != 0;
    if (copied == COPY_NOTHING || mark & OP_UNCLEAR)
        return true;
    *call = (struct hs_plan_call){ .signature = hs_copy_signature(&c->copy, op->signature),
                                   .stack = hs_copy_stack(&c->copy, op->stack),
                                   .slot = (uint16_t)slot };
    call->flags = mark & OP_PENDING ? 0 : HS_CALL_FINISHED;
    call->flags |= mark & OP_STUCK ? HS_CALL_STALLED : 0;
    w->any_pending |= (mark & OP_PENDING) != 0;
    w->last_op = i;
    w->program->call_count++;
    if (copied == COPY_MORE) {
        join_batch(w, call);
        call->flags = (call - 1)->flags;
    } else if (hs_op_signature(c->al, w->seat, i)->self == HS_NO_ID) {
        before = w->at[slot] ? w->at[slot] : w->row->start[slot];
        call->skip = seq > before ? seq - before - 1 : 0;
        w->at[slot] = seq ? seq : before + 1;
    }
    return call->signature != HS_NO_ID;
}

/* Before its first listed collective a rank has come to the one before that; of an overwritten
 * ring, to what it is known to have finished. */
static void find_starts(struct rank_copy *w)
{
    const struct hs_alignment *al = w->c->al;
    const struct hs_dump *dump = hs_seat_dump(al, w->seat);

    for (uint32_t i = dump->operation_count; i-- > 0;) {
        const struct hs_position *p = &al->positions[hs_op_position(al, w->seat, i)];
        uint32_t slot = w->c->slots[hs_op_position(al, w->seat, i)];
        uint32_t seq = hs_op_seq(al, w->seat, i);

        if (hs_op_signature(al, w->seat, i)->self != HS_NO_ID || seq == 0)
            continue;
        w->row->start[slot] = seq - 1;
        if (al->seats[w->seat].lost && p->status_completed < seq)
            w->row->start[slot] = p->status_completed;
    }
}

/* What is not known of a rank: it waits, but in what was overwritten; or whether it waits. */
static void settle_rank(struct rank_copy *w)
{
    struct hs_program *p = w->program;

    if (w->any_unclear && !w->any_pending)
        w->row->flags |= HS_PLAN_OPEN;
    for (uint32_t i = 0; i < p->call_count && w->c->al->seats[w->seat].lost; i++) {
        if (!(p->calls[i].flags & HS_CALL_FINISHED)) {
            p->calls[i].flags |= HS_CALL_STALLED;
            break;
        }
    }
}

static bool copy_calls(struct copying *c, uint32_t seat, struct hs_plan_rank *row)
{
    const struct hs_dump *dump = hs_seat_dump(c->al, seat);
    struct rank_copy w = { .c = c, .seat = seat, .row = row, .last_op = HS_NO_ID };
    uint8_t *marks = mark_pending(c, seat);
    bool ok;

    row->program = hs_plan_add_program(c->plan, dump->operation_count);
    w.at = calloc(row->slot_count + 1u, sizeof(*w.at));
    ok = marks && w.at && row->program != HS_NO_ID;
    if (ok) {
        w.program = &c->plan->programs[row->program];
        w.program->call_count = 0;
        find_starts(&w);
    }
    for (uint32_t i = 0; ok && i < dump->operation_count; i++)
        ok = copy_call(&w, i, marks[i]);
    if (ok)
        settle_rank(&w);
    free(marks);
    free(w.at);
    return ok;
}

/* ---- the whole ---- */

static bool copy_all(struct copying *c)
{
    uint32_t *first, *positions = positions_by_seat(c, &first);

    c->slots = HS_NEW(&c->arena, uint32_t, c->al->position_count + 1u);
    if (!positions || !c->slots || !copy_groups(c) || !find_stuck(c))
        return false;
    hs_copy_choose_rules(c->plan);
    for (uint32_t s = 0; s < c->al->seat_count; s++) {
        struct hs_plan_rank *row = copy_rank(c, s, positions + first[s], first[s + 1] - first[s]);

        if (!row || !copy_calls(c, s, row))
            return false;
    }
    for (uint32_t i = 0; i < c->j->waits.unseen_count; i++) {
        if (!add_absent(c, c->j->waits.unseen[i]))
            return false;
    }
    return true;
}

enum hs_status hs_plan_from_job(const struct hs_judged *judged, uint32_t window,
                                struct hs_plan *out, struct hs_err *err)
{
    struct copying c = { .j = judged, .al = &judged->al, .plan = out };
    bool ok;

    hs_arena_init(&c.arena);
    ok = hs_copy_init(&c.copy, judged->job, out) && copy_all(&c);
    hs_copy_release(&c.copy);
    hs_arena_release(&c.arena);
    if (!ok)
        return hs_no_memory(err);
    hs_plan_sort(out);
    return hs_plan_settle(out, window, err);
}
