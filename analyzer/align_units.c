/*
 * align_units.c - what each rank has begun and not finished.
 *
 * Rules: docs/formats/flight-recorder.md ("What is pending"). A call that NCCL coalesces is
 * recorded as members without a state and an end entry that has it; the members of a finished batch
 * stay "scheduled" for ever. Backends without events (gloo) never mark completion: there, retired
 * is finished.
 */
#include "analyzer/align.h"

#include <assert.h>
#include <stdlib.h>

/* ---- what holds for a whole group, on any rank ---- */

static bool ends_batch(const struct hs_signature *sig, const struct hs_operation *op)
{
    return sig->kind->class == HS_CLASS_COALESCED && !(op->flags & HS_OPERATION_SIZED) &&
           op->p2p_seq != 0;
}

static bool is_pair(const struct hs_signature *sig)
{
    return sig->kind->class == HS_CLASS_SEND || sig->kind->class == HS_CLASS_RECV;
}

/* NCCL and its kin record events; of others we believe it once one of their calls shows it. */
static bool always_marks(struct hs_str backend)
{
    return hs_str_is(backend, "nccl") || hs_str_is(backend, "ncclx") ||
           hs_str_is(backend, "xccl") || hs_str_is(backend, "hccl") || hs_str_is(backend, "rccl");
}

/* Whether operations tell any more than that; not those of a job of NCCL's collectives alone. */
static bool has_habits(const struct hs_job *job)
{
    uint32_t marking = HS_NO_ID; /* a backend that always_marks() */

    for (uint32_t i = 0; i < job->signatures_keys.count; i++) {
        const struct hs_signature *sig = &job->signatures[i];

        if (is_pair(sig) || sig->kind->class == HS_CLASS_COALESCED)
            return true;
        if (sig->backend == marking)
            continue;
        if (!always_marks(hs_job_string(job, sig->backend)))
            return true;
        marking = sig->backend;
    }
    return false;
}

static bool learn_habits(struct hs_alignment *al)
{
    const struct hs_job *job = al->job;
    bool *marks = HS_NEW(&al->arena, bool, job->strings.count); /* by backend */
    uint32_t seats = has_habits(job) ? al->seat_count : 0;

    if (!marks)
        return false;
    for (uint32_t s = 0; s < seats; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);
        uint32_t *last = HS_NEW(&al->arena, uint32_t, dump->member_count); /* p2p_seq of a pair */

        if (!last)
            return false;
        for (uint32_t i = 0; i < dump->operation_count; i++) {
            const struct hs_operation *op = &dump->operations[i];
            const struct hs_signature *sig = &job->signatures[op->signature];
            struct hs_group *group = &al->groups[al->positions[hs_op_position(al, s, i)].group];

            if ((op->flags & HS_OPERATION_STATE) == HS_STATE_COMPLETED)
                marks[sig->backend] = true;
            if (is_pair(sig)) {
                group->has_pairs = true;
                group->has_batches |= op->p2p_seq && last[op->member] == op->p2p_seq;
                last[op->member] = op->p2p_seq;
            } else if (ends_batch(sig, op)) {
                group->has_pairs = group->has_batches = true;
            }
        }
    }
    for (uint32_t g = 0; g < al->group_count; g++) {
        uint32_t backend = al->groups[g].backend;

        al->groups[g].marks_nothing =
            backend != HS_NO_ID && !marks[backend] && !always_marks(hs_job_string(job, backend));
    }
    return true;
}

/* ---- pairs ---- */

static uint32_t pair_hash(uint32_t seat, uint32_t group, uint32_t peer, bool send)
{
    uint64_t h = ((uint64_t)seat << 32 | peer) * 0x9e3779b97f4a7c15u + (uint64_t)group * 2 + send;

    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

static uint32_t *pair_slot(const struct hs_alignment *al, uint32_t seat, uint32_t group,
                           uint32_t peer, bool send)
{
    uint32_t mask = al->pair_slot_count - 1;
    uint32_t at = pair_hash(seat, group, peer, send) & mask;

    for (;; at = (at + 1) & mask) {
        const struct hs_pair *p = al->pair_slots[at] ? &al->pairs[al->pair_slots[at] - 1] : NULL;

        if (!p || (p->seat == seat && p->group == group && p->peer == peer && p->send == send))
            return &al->pair_slots[at];
    }
}

uint32_t hs_pair_find(const struct hs_alignment *al, uint32_t seat, uint32_t group, uint32_t peer,
                      bool send)
{
    return al->pair_slot_count ? *pair_slot(al, seat, group, peer, send) - 1 : HS_NO_ID;
}

static bool rehash_pairs(struct hs_alignment *al)
{
    uint32_t count = al->pair_slot_count ? al->pair_slot_count * 2 : 256;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return false;
    free(al->pair_slots);
    al->pair_slots = slots;
    al->pair_slot_count = count;
    for (uint32_t i = 0; i < al->pair_count; i++) {
        const struct hs_pair *p = &al->pairs[i];

        *pair_slot(al, p->seat, p->group, p->peer, p->send) = i + 1;
    }
    return true;
}

static uint32_t pair_of(struct hs_alignment *al, uint32_t seat, uint32_t group, uint32_t peer,
                        bool send)
{
    uint32_t *slot;

    if (al->pair_count >= al->pair_slot_count / 2 && !rehash_pairs(al))
        return HS_NO_ID;
    slot = pair_slot(al, seat, group, peer, send);
    if (*slot)
        return *slot - 1;
    if (!HS_GROW(al->pairs, al->pair_cap, al->pair_count + 1u))
        return HS_NO_ID;
    al->pairs[al->pair_count] = (struct hs_pair){
        .seat = seat, .group = group, .peer = peer, .send = send, .first_unfinished = HS_NO_ID
    };
    *slot = ++al->pair_count;
    return *slot - 1;
}

/* ---- one seat ---- */

struct seat_walk {
    struct hs_alignment *al;
    uint32_t seat;
    const struct hs_dump *dump;
    uint32_t *open; /* by member: latest unit that may still grow; HS_NO_ID */
    bool no_memory;
};

/* An operation on the way, with what it refers to. */
struct step {
    uint32_t i; /* of the dump's operations */
    const struct hs_operation *op;
    const struct hs_signature *sig;
    uint32_t position, group, seq;
    bool finished;
};

static bool op_finished(const struct hs_group *group, const struct hs_signature *sig,
                        const struct hs_operation *op)
{
    if (group->marks_nothing)
        return op->flags & HS_OPERATION_RETIRED;
    if ((op->flags & HS_OPERATION_STATE) != HS_STATE_COMPLETED)
        return false;
    /* An abort lets stuck kernels finish: completed after the timeout is not completed. */
    return !sig->timeout_ms || op->finished_us / 1000 < sig->timeout_ms;
}

static struct hs_unit *add_unit(struct seat_walk *w, const struct step *at, uint8_t kind)
{
    struct hs_alignment *al = w->al;

    if (!HS_GROW(al->pending, al->pending_cap, al->pending_count + 1u)) {
        w->no_memory = true;
        return NULL;
    }
    assert(al->pending);
    w->open[at->op->member] = al->pending_count;
    al->pending[al->pending_count] = (struct hs_unit){ .seat = w->seat,
                                                       .group = at->group,
                                                       .position = at->position,
                                                       .seq = at->seq,
                                                       .p2p_seq = at->op->p2p_seq,
                                                       .first_op = at->i,
                                                       .last_op = at->i,
                                                       .kind = kind };
    return &al->pending[al->pending_count++];
}

static struct hs_unit *open_unit(const struct seat_walk *w, const struct hs_operation *op)
{
    uint32_t id = w->open[op->member];

    return id == HS_NO_ID ? NULL : &w->al->pending[id];
}

/* An unfinished send or receive: the first of its unit, or one more of a batch. */
static void add_pending_pair(struct seat_walk *w, const struct step *at, uint32_t pair)
{
    struct hs_alignment *al = w->al;
    struct hs_unit *unit = open_unit(w, at->op);

    if (unit && unit->kind != HS_UNIT_COLLECTIVE && !unit->has_end && at->op->p2p_seq &&
        unit->p2p_seq == at->op->p2p_seq)
        unit->kind = HS_UNIT_BATCH;
    else
        unit = add_unit(w, at, HS_UNIT_PAIR);
    if (!unit || !HS_GROW(al->exchanges, al->exchange_cap, al->exchange_count + 1u)) {
        w->no_memory = true;
        return;
    }
    unit->last_op = at->i;
    if (unit->exchange_count++ == 0)
        unit->first_exchange = al->exchange_count;
    al->exchanges[al->exchange_count++] =
        (struct hs_exchange){ .unit = (uint32_t)(unit - al->pending),
                              .op = at->i,
                              .pair = pair,
                              .ordinal = al->pairs[pair].count };
}

/* A finished exchange: `op` made it, `end` (of a batch, its end entry) saw it done. */
static void note_exchange(struct hs_pair *pair, const struct hs_operation *op,
                          const struct hs_operation *end)
{
    pair->last_created_ns = op->created_ns;
    pair->last_done_ns = end->created_ns + (int64_t)end->finished_us * 1000;
}

static void walk_pair(struct seat_walk *w, const struct step *at)
{
    struct hs_alignment *al = w->al;
    struct hs_group *group = &al->groups[at->group];
    uint32_t pair;

    if (group->members_assumed || at->sig->peer >= group->size) {
        group->has_orphans = true; /* a group rank that nobody can turn into a global one */
        return;
    }
    if (group->ranks[at->sig->peer] == al->seats[w->seat].rank)
        return; /* to itself: nobody else can hold it */
    pair = pair_of(al, w->seat, at->group, group->ranks[at->sig->peer],
                   at->sig->kind->class == HS_CLASS_SEND);
    if (pair == HS_NO_ID) {
        w->no_memory = true;
        return;
    }
    al->pairs[pair].count++;
    if (at->finished)
        note_exchange(&al->pairs[pair], at->op, at->op);
    else
        add_pending_pair(w, at, pair);
}

/* The end of a batch of pairs decides for its members. False: there is no such batch open. */
static bool close_batch(struct seat_walk *w, const struct step *at)
{
    struct hs_unit *unit = open_unit(w, at->op);

    if (!unit || unit->kind == HS_UNIT_COLLECTIVE || unit->p2p_seq != at->op->p2p_seq)
        return false;
    unit->kind = HS_UNIT_BATCH;
    unit->has_end = true;
    unit->finished = at->finished;
    unit->last_op = at->i;
    return true;
}

/* A collective, or one more entry of a coalesced one: the end entry, the last, has the state. */
static void walk_collective(struct seat_walk *w, const struct step *at)
{
    struct hs_unit *unit = open_unit(w, at->op);

    if (unit && unit->kind == HS_UNIT_COLLECTIVE && at->seq && unit->seq == at->seq) {
        unit->last_op = at->i;
        unit->finished = at->finished;
        unit->has_end = at->sig->kind->class == HS_CLASS_COALESCED;
    } else if (!at->finished) {
        (void)add_unit(w, at, HS_UNIT_COLLECTIVE);
    }
}

static void note_position(struct hs_alignment *al, const struct step *at)
{
    struct hs_position *p = &al->positions[at->position];
    struct hs_group *group = &al->groups[at->group];

    p->known = true;
    p->last_op = at->i;
    p->calls++;
    p->entered = at->seq > p->entered ? at->seq : p->entered;
    al->any_finished |= at->finished;
    if (is_pair(at->sig))
        return;
    p->first_recorded = p->first_recorded ? p->first_recorded : at->seq;
    p->last_recorded = at->seq;
    /* where nothing is marked: believed to, see align_fronts.c */
    if (at->finished && at->sig->kind->proof == HS_PROOF_ALL && at->seq > group->proved)
        group->proved = at->seq;
}

static void walk_seat(struct seat_walk *w)
{
    struct hs_alignment *al = w->al;
    const struct hs_signature *signatures = al->job->signatures;
    const uint32_t *position_of = al->position_of_member + w->dump->first_member;
    const uint32_t *ordinals = al->ordinals ? al->ordinals[w->seat] : NULL;
    uint32_t count = w->dump->operation_count;

    for (uint32_t i = 0; i < count && !w->no_memory; i++) {
        const struct hs_operation *op = &w->dump->operations[i];
        const struct hs_signature *sig = &signatures[op->signature];
        uint32_t position = position_of[op->member], group = al->positions[position].group;
        struct step at = { .i = i,
                           .op = op,
                           .sig = sig,
                           .position = position,
                           .group = group,
                           .seq = ordinals ? ordinals[i] : op->seq,
                           .finished = op_finished(&al->groups[group], sig, op) };

        hs_operation_expect(op);
        note_position(al, &at);
        if (is_pair(sig))
            walk_pair(w, &at);
        else if (!ends_batch(sig, op) || !close_batch(w, &at))
            walk_collective(w, &at);
    }
}

/* ---- pairs without an end entry: what the counters and what follows say ---- */

/* The watchdog's counters of a group as numbers; false when there are none to go by. */
static bool counters_of(const struct hs_alignment *al, uint32_t position, int64_t *enqueued,
                        int64_t *completed)
{
    uint32_t row = al->positions[position].member;

    if (row == HS_NO_ID || !al->job->members[row].has_status ||
        al->groups[al->positions[position].group].marks_nothing)
        return false; /* gloo's counters number its operations, not its collectives */
    *enqueued = al->job->members[row].enqueued;
    *completed = al->job->members[row].completed;
    return true;
}

/*
 * A batch whose end entry is absent is finished when anything of its group follows, or when the
 * counters name its number or a later one as enqueued and completed (only-active drops the end).
 */
static void settle_batch(struct hs_alignment *al, struct hs_unit *unit)
{
    int64_t enqueued, completed;

    unit->finished = al->positions[unit->position].last_op > unit->last_op ||
                     (counters_of(al, unit->position, &enqueued, &completed) &&
                      completed >= unit->p2p_seq && enqueued >= unit->p2p_seq);
}

/*
 * Unbatched, in a dump without finished calls: the counter names one finished number; pairs finish
 * in order, so all before it of the same pair are done too, and smaller numbers of other pairs are
 * ambiguous, since pairs overtake each other.
 */
static void settle_pairs(struct hs_alignment *al, struct hs_unit *units, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t enqueued, completed;
        const struct hs_unit *u = &units[i];

        if (u->kind != HS_UNIT_PAIR || al->groups[u->group].has_batches ||
            !counters_of(al, u->position, &enqueued, &completed) || enqueued < completed ||
            u->p2p_seq != completed)
            continue;
        for (uint32_t k = 0; k <= i; k++) {
            if (units[k].kind == HS_UNIT_PAIR && units[k].group == u->group &&
                al->exchanges[units[k].first_exchange].pair ==
                    al->exchanges[u->first_exchange].pair)
                units[k].finished = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t enqueued, completed;
        struct hs_unit *u = &units[i];

        if (u->kind == HS_UNIT_PAIR && !al->groups[u->group].has_batches && !u->finished &&
            counters_of(al, u->position, &enqueued, &completed) && u->p2p_seq < completed &&
            enqueued >= completed)
            u->ambiguous = true;
    }
}

/*
 * A collective shown unfinished that was: the counter of a group without pairs says so, or it is a
 * coalesced call without its end entry and something of its group follows.
 */
static void settle_collective(struct hs_alignment *al, struct hs_unit *unit)
{
    int64_t enqueued, completed;

    if (!al->groups[unit->group].has_pairs && !al->single_counter &&
        counters_of(al, unit->position, &enqueued, &completed) && completed >= unit->seq)
        unit->finished = true;
    if (unit->last_op > unit->first_op && !unit->has_end &&
        al->positions[unit->position].last_op > unit->last_op)
        unit->finished = true;
}

static void settle(struct hs_alignment *al, uint32_t seat, uint32_t first)
{
    struct hs_unit *units = al->pending + first;
    uint32_t count = al->pending_count - first;

    for (uint32_t i = 0; i < count; i++) {
        if (units[i].kind == HS_UNIT_COLLECTIVE)
            settle_collective(al, &units[i]);
        else if (!units[i].has_end && al->groups[units[i].group].has_batches)
            settle_batch(al, &units[i]);
    }
    if (al->seats[seat].only_active)
        settle_pairs(al, units, count);
}

/* Drop what turned out finished; tell the pairs about the exchanges of the rest. */
static void keep_unfinished(struct hs_alignment *al, uint32_t seat, uint32_t first)
{
    uint32_t kept = first;

    for (uint32_t i = first; i < al->pending_count; i++) {
        struct hs_unit unit = al->pending[i];

        for (uint32_t k = 0; k < unit.exchange_count; k++) {
            struct hs_exchange *x = &al->exchanges[unit.first_exchange + k];
            struct hs_pair *pair = &al->pairs[x->pair];

            x->unit = kept;
            if (unit.finished) {
                const struct hs_operation *ops = hs_seat_dump(al, seat)->operations;

                note_exchange(pair, &ops[x->op], &ops[unit.last_op]);
                al->any_finished = true;
                continue;
            }
            if (pair->unfinished++ == 0)
                pair->first_unfinished = unit.first_exchange + k;
        }
        if (!unit.finished)
            al->pending[kept++] = unit;
    }
    al->pending_count = kept;
    al->seats[seat].first_pending = first;
    al->seats[seat].pending_count = kept - first;
}

/*
 * A ring smaller than the backlog: the first unfinished call of a group on record is more than one
 * past what the watchdog saw finished, so an earlier unfinished one was overwritten. `judged` marks
 * the groups (positions) whose first call was looked at.
 */
static bool lost_its_head(const struct hs_alignment *al, uint32_t seat, bool *judged)
{
    const struct hs_seat *s = &al->seats[seat];

    for (uint32_t i = 0; i < s->pending_count && !s->from_start; i++) {
        const struct hs_unit *u = &al->pending[s->first_pending + i];
        int64_t enqueued, completed;
        uint32_t number = u->kind == HS_UNIT_COLLECTIVE ? u->seq : u->p2p_seq;

        if (judged[u->position])
            continue;
        judged[u->position] = true;
        if (!u->ambiguous && counters_of(al, u->position, &enqueued, &completed) &&
            completed >= 0 && number > completed + 1 &&
            (u->kind == HS_UNIT_COLLECTIVE) != al->groups[u->group].has_pairs)
            return true;
    }
    return false;
}

enum hs_status hs_align_units(struct hs_alignment *al, struct hs_err *err)
{
    bool *judged = HS_NEW(&al->arena, bool, al->position_count);

    if (!judged || !learn_habits(al))
        return hs_no_memory(err);
    for (uint32_t s = 0; s < al->seat_count; s++) {
        struct seat_walk w = { .al = al, .seat = s, .dump = hs_seat_dump(al, s) };
        uint32_t first = al->pending_count;

        w.open = HS_NEW(&al->arena, uint32_t, w.dump->member_count);
        if (!w.open)
            return hs_no_memory(err);
        for (uint32_t i = 0; i < w.dump->operation_count && al->seats[s].only_active; i++)
            al->seats[s].only_active =
                !al->groups[al->positions[hs_op_position(al, s, i)].group].marks_nothing;
        memset(w.open, 0xff, w.dump->member_count * sizeof(*w.open));
        walk_seat(&w);
        if (w.no_memory)
            return hs_no_memory(err);
        settle(al, s, first);
        keep_unfinished(al, s, first);
        al->seats[s].lost = lost_its_head(al, s, judged);
    }
    return HS_OK;
}
