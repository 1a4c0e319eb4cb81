/* script.c - which communicators there are, and who meets in which call. */
#include "replay/nccl/script.h"

#include <assert.h>
#include <stdlib.h>

uint32_t hs_comm_index(const struct hs_comm *comm, uint32_t row)
{
    for (uint32_t i = 0; i < comm->size; i++) {
        if (comm->rows[i] == row)
            return i;
    }
    return HS_NO_ID;
}

uint32_t hs_script_row(const struct hs_dry *dry, uint64_t call)
{
    uint32_t low = 0, high = dry->plan->rank_count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (dry->first[mid] <= call)
            low = mid;
        else
            high = mid;
    }
    while (dry->first[low + 1] <= call)
        low++; /* rows without calls */
    return low;
}

/* ---- communicators ---- */

static struct hs_comm *add_comm(struct hs_script *s, uint32_t group, uint32_t size)
{
    struct hs_comm *comm;
    uint32_t *rows = HS_NEW(&s->arena, uint32_t, size + 1u);

    if (!rows || !HS_GROW(s->comms, s->comm_cap, s->comm_count + 1u))
        return NULL;
    comm = &s->comms[s->comm_count++];
    *comm = (struct hs_comm){ .group = group, .rows = rows, .size = size, .parent = HS_NO_ID };
    return comm;
}

static uint32_t row_of(const struct hs_plan *plan, uint32_t rank)
{
    return (uint32_t)(hs_plan_find(plan, rank) - plan->ranks);
}

/* An earlier communicator with all members of this one and more. */
static uint32_t find_parent(const struct hs_script *s, const struct hs_comm *comm)
{
    for (uint32_t k = 0; k < s->comm_count; k++) {
        const struct hs_comm *other = &s->comms[k];
        uint32_t i = 0;

        if (other == comm || other->pair || other->size <= comm->size)
            continue;
        while (i < comm->size && hs_comm_index(other, comm->rows[i]) != HS_NO_ID)
            i++;
        if (i == comm->size)
            return k;
    }
    return HS_NO_ID;
}

static bool add_group(struct hs_script *s, uint32_t g, bool split)
{
    const struct hs_plan_group *group = &s->plan->groups[g];
    struct hs_comm *comm = add_comm(s, g, group->size);

    if (!comm)
        return false;
    for (uint32_t i = 0; i < group->size; i++)
        comm->rows[i] = row_of(s->plan, group->ranks[i]);
    s->group_comm[g] = s->comm_count - 1;
    if (split)
        comm->parent = find_parent(s, comm);
    return true;
}

/* The other row of a send or receive. */
static uint32_t peer_row(const struct hs_plan *plan, uint32_t group, uint32_t peer)
{
    return row_of(plan, plan->groups[group].ranks[peer]);
}

static struct hs_str pair_key(uint32_t key[3], uint32_t group, uint32_t a, uint32_t b)
{
    key[0] = group;
    key[1] = a < b ? a : b;
    key[2] = a < b ? b : a;
    return (struct hs_str){ .p = (const char *)key, .n = 3 * sizeof(*key) };
}

/* Which groups need a communicator of their own, and which pairs exchange in batches. */
static bool find_users(struct hs_script *s, bool *used)
{
    const struct hs_plan *plan = s->plan;

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0; i < p->call_count; i++) {
            const struct hs_plan_call *call = &p->calls[i];
            const struct hs_plan_signature *sig = &plan->signatures[call->signature];
            uint32_t g = plan->ranks[row].groups[call->slot], key[3], known = s->pairs.count, id;

            used[g] |= !hs_plan_is_pair(sig) || call->batch;
            if (!hs_plan_is_pair(sig))
                continue;
            id = hs_intern_put(&s->pairs, pair_key(key, g, row, peer_row(plan, g, sig->peer)));
            if (id == HS_NO_ID || !HS_GROW(s->pair_batched, s->pair_cap, id + 1u))
                return false;
            if (id >= known)
                s->pair_batched[id] = false;
            s->pair_batched[id] |= call->batch != 0;
        }
    }
    return true;
}

uint32_t hs_script_comm_of(const struct hs_script *s, uint32_t row, const struct hs_plan_call *call)
{
    const struct hs_plan_signature *sig = &s->plan->signatures[call->signature];
    uint32_t g = s->plan->ranks[row].groups[call->slot], key[3], id;

    if (!hs_plan_is_pair(sig))
        return s->group_comm[g];
    id = hs_intern_find(&s->pairs, pair_key(key, g, row, peer_row(s->plan, g, sig->peer)));
    return s->pair_comm[id] == HS_NO_ID ? s->group_comm[g] : s->pair_comm[id];
}

static int compare_pairs(const void *a, const void *b)
{
    const uint32_t *x = (const void *)((const struct hs_str *)a)->p;
    const uint32_t *y = (const void *)((const struct hs_str *)b)->p;

    for (unsigned i = 0; i < 3; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

/* Pairs after the groups, in an order that all processes share. */
static bool add_pairs(struct hs_script *s)
{
    struct hs_str *sorted = HS_NEW(&s->arena, struct hs_str, s->pairs.count + 1u);

    s->pair_comm = HS_NEW(&s->arena, uint32_t, s->pairs.count + 1u);
    if (!sorted || !s->pair_comm)
        return false;
    for (uint32_t i = 0; i < s->pairs.count; i++)
        sorted[i] = hs_intern_get(&s->pairs, i);
    if (s->pairs.count)
        qsort(sorted, s->pairs.count, sizeof(*sorted), compare_pairs);
    for (uint32_t i = 0; i < s->pairs.count; i++) {
        const uint32_t *key = (const void *)sorted[i].p;
        uint32_t id = hs_intern_find(&s->pairs, sorted[i]);
        struct hs_comm *comm;

        s->pair_comm[id] = HS_NO_ID;
        if (s->pair_batched[id])
            continue;
        comm = add_comm(s, key[0], 2);
        if (!comm)
            return false;
        comm->pair = true;
        comm->rows[0] = key[1];
        comm->rows[1] = key[2];
        s->pair_comm[id] = s->comm_count - 1;
    }
    return true;
}

static bool make_comms(struct hs_script *s, bool split)
{
    bool *used = HS_NEW(&s->arena, bool, s->plan->group_count + 1u);

    s->group_comm = HS_NEW(&s->arena, uint32_t, s->plan->group_count + 1u);
    if (!used || !s->group_comm || !find_users(s, used))
        return false;
    for (uint32_t g = 0; g < s->plan->group_count; g++) {
        s->group_comm[g] = HS_NO_ID;
        if (used[g] && !add_group(s, g, split))
            return false;
    }
    return add_pairs(s);
}

/* ---- meetings ---- */

/* Visit the units of collectives: once to count them, once to place them. */
static void list_meetings(struct hs_script *s, bool place)
{
    const struct hs_plan *plan = s->plan;

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
            uint64_t at = s->dry->first[row] + i;
            uint32_t ref = s->dry->ref[at];

            if (hs_plan_is_pair(&plan->signatures[p->calls[i].signature]))
                continue;
            if (!place)
                s->met_first[ref + 1]++;
            else
                s->met[s->met_first[ref]++] = (uint32_t)at;
        }
    }
}

static bool find_meetings(struct hs_script *s)
{
    uint32_t refs = s->dry->ref_count;

    s->met_first = HS_NEW(&s->arena, uint32_t, refs + 2u);
    if (!s->met_first)
        return false;
    list_meetings(s, false);
    for (uint32_t i = 0; i <= refs; i++)
        s->met_first[i + 1] += s->met_first[i];
    s->met = HS_NEW(&s->arena, uint32_t, s->met_first[refs + 1] + 1u);
    if (!s->met)
        return false;
    list_meetings(s, true);
    for (uint32_t i = refs; i > 0; i--) /* placing has moved each to the next one's */
        s->met_first[i] = s->met_first[i - 1];
    s->met_first[0] = 0;
    return true;
}

enum hs_status hs_script_make(struct hs_script *s, const struct hs_dry *dry, double scale,
                              bool split, struct hs_err *err)
{
    *s = (struct hs_script){ .plan = dry->plan, .dry = dry };
    hs_arena_init(&s->arena);
    hs_intern_init(&s->pairs);
    return make_comms(s, split) && find_meetings(s) &&
                   hs_scaling_make(&s->scaling, s->plan, scale, &s->arena)
               ? HS_OK
               : hs_no_memory(err);
}

void hs_script_release(struct hs_script *s)
{
    hs_intern_release(&s->pairs);
    hs_arena_release(&s->arena);
    free(s->comms);
    free(s->pair_batched);
}

/* ---- the calls of a step ---- */

struct meeting_of {
    const struct hs_script *script;
    const struct hs_comm *comm;
    uint32_t ref, part; /* part of a batch */
};

static const struct hs_plan_signature *member_brings(void *who, uint32_t member)
{
    const struct meeting_of *m = who;
    const struct hs_script *s = m->script;
    uint32_t row = m->comm->rows[member], low = s->met_first[m->ref],
             end = s->met_first[m->ref + 1];
    const struct hs_program *p = &s->plan->programs[s->plan->ranks[row].program];
    uint64_t first = s->dry->first[row];

    for (uint32_t high = end; low < high;) { /* calls ascend, as rows do */
        uint32_t mid = low + (high - low) / 2;

        if (s->met[mid] < first)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == end || s->met[low] >= s->dry->first[row + 1] ||
        s->met[low] - first + m->part >= p->call_count)
        return NULL; /* it does not come */
    return &s->plan->signatures[p->calls[s->met[low] - first + m->part].signature];
}

bool hs_step_calls(const struct hs_script *s, uint32_t row, const struct hs_step *step,
                   int nccl_version, struct hs_nccl_calls *out)
{
    const struct hs_comm *comm = &s->comms[step->comm];
    const struct hs_plan_rank *source = &s->plan->ranks[step->source];
    const struct hs_program *p = &s->plan->programs[source->program];
    struct meeting_of meeting = { .script = s, .comm = comm, .ref = step->ref };

    out->count = 0;
    out->in_bytes = out->out_bytes = 0;
    for (uint32_t i = step->first; i < step->end; i++) {
        const struct hs_plan_signature *sig = &s->plan->signatures[p->calls[i].signature];
        struct hs_calls_of of = { .plan = s->plan,
                                  .sig = sig,
                                  .self = hs_comm_index(comm, row),
                                  .size = comm->size,
                                  .reduction = hs_plan_reduction(&p->calls[i]),
                                  .scaling = &s->scaling,
                                  .nccl_version = nccl_version };

        meeting.part = i - step->first;
        if (hs_plan_is_pair(sig)) {
            of.peer = hs_comm_index(comm, peer_row(s->plan, comm->group, sig->peer));
            if (step->source == row)
                of.salt = s->dry->ref[s->dry->first[row] + i];
        } else {
            of.of_member = member_brings;
            of.who = &meeting;
            of.salt = step->ref;
        }
        if (!hs_nccl_calls_add(out, &of))
            return false;
    }
    return true;
}

/* ---- who exchanges with whom ---- */

static void mark(bool *pairs, const struct hs_comm *comm, const struct hs_plan_signature *sig,
                 uint32_t self, uint32_t peer)
{
    enum hs_way way = hs_way_of(sig->kind);
    uint32_t root = sig->root == HS_NO_ID ? 0 : sig->root;

    if (way == HS_WAY_SEND)
        pairs[self * comm->size + peer] = true;
    if (way == HS_WAY_RECV)
        pairs[peer * comm->size + self] = true;
    for (uint32_t m = 0; hs_way_is_grouped(way) && m < comm->size; m++) {
        if (way == HS_WAY_ALL_TO_ALL)
            pairs[self * comm->size + m] = pairs[m * comm->size + self] = true;
        else if (m != root)
            pairs[way == HS_WAY_GATHER ? m * comm->size + root : root * comm->size + m] = true;
    }
}

bool *hs_script_exchanges(const struct hs_script *s, uint32_t id)
{
    const struct hs_comm *comm = &s->comms[id];
    bool *pairs = calloc((size_t)comm->size * comm->size + 1, sizeof(*pairs));

    for (uint32_t self = 0; pairs && self < comm->size; self++) {
        const struct hs_plan_rank *rank = &s->plan->ranks[comm->rows[self]];
        const struct hs_program *p = &s->plan->programs[rank->program];

        for (uint32_t i = 0; i < p->call_count; i++) {
            const struct hs_plan_signature *sig = &s->plan->signatures[p->calls[i].signature];
            uint32_t peer = HS_NO_ID;

            if (hs_script_comm_of(s, comm->rows[self], &p->calls[i]) != id)
                continue;
            if (hs_plan_is_pair(sig))
                peer = hs_comm_index(comm, peer_row(s->plan, comm->group, sig->peer));
            mark(pairs, comm, sig, self, peer);
        }
    }
    return pairs;
}
