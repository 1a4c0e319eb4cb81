#include "replay/settle.h"

#include <stdlib.h>

/* Of a call, while the plan is settled: it is left out. */
enum { DROPPED = 64 };

/* A half of an exchange. */
struct half {
    uint32_t pair, row, call;
    uint32_t partner; /* in settling.halves; HS_NO_ID */
    bool receives;
};

struct settling {
    struct hs_plan *plan;
    struct hs_arena arena;
    struct hs_intern pairs; /* group, sender, receiver */
    struct half *halves;    /* by pair, sends before receives, in the order of calls */
    uint32_t half_count, half_cap;
    uint32_t *cut; /* by row: the first call that is kept */
};

static struct hs_program *program_of(const struct settling *s, uint32_t row)
{
    return &s->plan->programs[s->plan->ranks[row].program];
}

static struct hs_plan_call *call_of(const struct settling *s, const struct half *h)
{
    return &program_of(s, h->row)->calls[h->call];
}

/* ---- which half belongs to which ---- */

static bool add_half(struct settling *s, uint32_t row, uint32_t i)
{
    const struct hs_plan_rank *rank = &s->plan->ranks[row];
    const struct hs_plan_call *call = &program_of(s, row)->calls[i];
    const struct hs_plan_signature *sig = &s->plan->signatures[call->signature];
    uint32_t g = rank->groups[call->slot], peer, id;
    bool receives = sig->kind->class == HS_CLASS_RECV;

    if (!hs_plan_is_pair(sig))
        return true;
    peer = s->plan->groups[g].ranks[sig->peer];
    {
        uint32_t key[3] = { g, receives ? peer : rank->rank, receives ? rank->rank : peer };

        id = hs_intern_put(&s->pairs, (struct hs_str){ .p = (const char *)key, .n = sizeof(key) });
    }
    if (id == HS_NO_ID || !HS_GROW(s->halves, s->half_cap, s->half_count + 1u))
        return false;
    s->halves[s->half_count++] = (struct half){
        .pair = id, .row = row, .call = i, .partner = HS_NO_ID, .receives = receives
    };
    return true;
}

static int by_pair(const void *a, const void *b)
{
    const struct half *x = a, *y = b;

    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    if (x->receives != y->receives)
        return x->receives ? 1 : -1;
    return (x->call > y->call) - (x->call < y->call);
}

static uint32_t count_finished(const struct settling *s, uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += (call_of(s, &s->halves[i])->flags & HS_CALL_FINISHED) != 0;
    return n;
}

/* Leave out the first `count` finished halves from `from` on. */
static void drop_first(struct settling *s, uint32_t from, uint32_t to, uint32_t count)
{
    for (uint32_t i = from; i < to && count; i++) {
        if (call_of(s, &s->halves[i])->flags & HS_CALL_FINISHED) {
            call_of(s, &s->halves[i])->flags |= DROPPED;
            count--;
        }
    }
}

static bool begins_late(const struct settling *s, uint32_t rank)
{
    const struct hs_plan_rank *row = hs_plan_find(s->plan, rank);

    return !row || row->flags & (HS_PLAN_PARTIAL | HS_PLAN_ACTIVE);
}

/*
 * The sends are [from, middle), the receives [middle, to). Records from the first call on count
 * alike; of others the finished halves are as many on both sides, counted from the end. What a rank
 * without a record has finished needs no partner.
 */
static void match_pair(struct settling *s, uint32_t from, uint32_t middle, uint32_t to)
{
    struct hs_str key = hs_intern_get(&s->pairs, s->halves[from].pair);
    uint32_t ends[3], sent = count_finished(s, from, middle);
    uint32_t received = count_finished(s, middle, to), k = middle;
    const struct hs_plan_rank *sender, *receiver;

    memcpy(ends, key.p, sizeof(ends));
    sender = hs_plan_find(s->plan, ends[1]);
    receiver = hs_plan_find(s->plan, ends[2]);
    if (!sender || !receiver || (sender->flags | receiver->flags) & HS_PLAN_ABSENT) {
        drop_first(s, from, to, sent + received);
        return;
    }
    if (begins_late(s, ends[1]) || begins_late(s, ends[2])) {
        drop_first(s, from, middle, sent > received ? sent - received : 0);
        drop_first(s, middle, to, received > sent ? received - sent : 0);
    }
    for (uint32_t i = from; i < middle; i++) {
        if (call_of(s, &s->halves[i])->flags & DROPPED)
            continue;
        while (k < to && call_of(s, &s->halves[k])->flags & DROPPED)
            k++;
        if (k == to)
            return;
        s->halves[i].partner = k;
        s->halves[k++].partner = i;
    }
}

static bool match_pairs(struct settling *s)
{
    for (uint32_t row = 0; row < s->plan->rank_count; row++) {
        for (uint32_t i = 0; i < program_of(s, row)->call_count; i++) {
            if (!add_half(s, row, i))
                return false;
        }
    }
    if (s->half_count)
        qsort(s->halves, s->half_count, sizeof(*s->halves), by_pair);
    for (uint32_t from = 0, to; from < s->half_count; from = to) {
        uint32_t middle = from;

        for (to = from; to < s->half_count && s->halves[to].pair == s->halves[from].pair; to++)
            middle += !s->halves[to].receives;
        match_pair(s, from, middle, to);
    }
    return true;
}

/* ---- the window ---- */

static void find_cuts(struct settling *s, uint32_t window)
{
    for (uint32_t row = 0; row < s->plan->rank_count; row++) {
        const struct hs_program *p = program_of(s, row);
        uint32_t open = 0, units = 0;

        while (open < p->call_count && p->calls[open].flags & HS_CALL_FINISHED)
            open++;
        s->cut[row] = open;
        while (s->cut[row] > 0) {
            uint32_t batch = p->calls[s->cut[row] - 1].batch;
            bool inside =
                batch && s->cut[row] < p->call_count && p->calls[s->cut[row]].batch == batch;

            if (units == window && !inside)
                break;
            units += !inside;
            s->cut[row]--;
        }
    }
}

/* A half stays if its partner has not finished; a finished one goes with its partner. */
static void cut_pairs(struct settling *s)
{
    for (uint32_t i = 0; i < s->half_count; i++) {
        const struct half *h = &s->halves[i];
        const struct half *other = h->partner == HS_NO_ID ? NULL : &s->halves[h->partner];

        if (other && !(call_of(s, other)->flags & HS_CALL_FINISHED) && h->call < s->cut[h->row])
            s->cut[h->row] = h->call;
    }
    for (uint32_t i = 0; i < s->half_count; i++) {
        const struct half *h = &s->halves[i];
        const struct half *other = h->partner == HS_NO_ID ? NULL : &s->halves[h->partner];

        if (h->call < s->cut[h->row])
            call_of(s, h)->flags |= DROPPED;
        if (other && other->call < s->cut[other->row])
            call_of(s, h)->flags |= DROPPED;
    }
}

/* Leave out what was dropped; collectives before the cut are behind the rank. */
static void compact(struct settling *s)
{
    for (uint32_t row = 0; row < s->plan->rank_count; row++) {
        struct hs_plan_rank *rank = &s->plan->ranks[row];
        struct hs_program *p = program_of(s, row);
        uint32_t kept = 0, numbered = UINT32_MAX;

        for (uint32_t i = 0; i < p->call_count; i++) {
            struct hs_plan_call *call = &p->calls[i];
            bool pair = hs_plan_is_pair(&s->plan->signatures[call->signature]);

            if (!pair && i < s->cut[row] && (!call->batch || call->batch != numbered)) {
                numbered = call->batch ? call->batch : UINT32_MAX;
                rank->start[call->slot] += 1 + call->skip;
            }
            if (call->flags & DROPPED || i < s->cut[row])
                continue;
            p->calls[kept++] = *call;
        }
        p->call_count = kept;
    }
}

/* ---- streams ---- */

/* The units of a rank that ended before an earlier one did ran beside it: the streams of a rank, by
 * slot, and of sends and receives by slot and peer. */
struct streams {
    const struct hs_plan *plan;
    const struct hs_program *program;
    uint32_t *of_slot;
    uint32_t peers[64][3]; /* slot, peer, stream */
    uint32_t peer_count, count, cap;
    uint32_t *open; /* by stream: the first unfinished unit; HS_NO_ID */
};

static uint32_t stream_of(const struct streams *t, const struct hs_plan_call *call)
{
    uint32_t peer = t->plan->signatures[call->signature].peer;

    for (uint32_t i = 0; i < t->peer_count && peer != HS_NO_ID; i++) {
        if (t->peers[i][0] == call->slot && t->peers[i][1] == peer)
            return t->peers[i][2];
    }
    return t->of_slot[call->slot];
}

static bool give_peer_stream(struct streams *t, const struct hs_plan_call *call)
{
    uint32_t *own = t->peers[t->peer_count];

    if (t->peer_count == sizeof(t->peers) / sizeof(t->peers[0]))
        return false;
    own[0] = call->slot;
    own[1] = t->plan->signatures[call->signature].peer;
    own[2] = t->count++;
    t->peer_count++;
    return true;
}

/* `call` ended and `blocker`, before it on its stream, did not. False: they cannot be apart. */
static bool split_stream(struct streams *t, const struct hs_plan_call *blocker,
                         const struct hs_plan_call *call)
{
    uint32_t peer = t->plan->signatures[blocker->signature].peer;

    if (t->count + 1 >= t->cap)
        return false;
    if (blocker->slot != call->slot) {
        t->of_slot[call->slot] = t->count++;
        return true;
    }
    if (peer == t->plan->signatures[call->signature].peer)
        return false;
    return give_peer_stream(t, peer != HS_NO_ID ? blocker : call);
}

/* Go through the calls until two of one stream contradict each other; then they are set apart. */
static bool find_overtaking(struct streams *t)
{
    const struct hs_program *p = t->program;

    memset(t->open, 0xff, t->cap * sizeof(*t->open));
    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        const struct hs_plan_call *call = &p->calls[i];
        uint32_t *open = &t->open[stream_of(t, call)];

        if (!(call->flags & HS_CALL_FINISHED))
            *open = *open == HS_NO_ID ? i : *open;
        else if (*open != HS_NO_ID && split_stream(t, &p->calls[*open], call))
            return true;
    }
    return false;
}

static bool find_streams(struct hs_plan *plan, struct hs_plan_rank *rank, struct hs_arena *arena)
{
    struct hs_program *p = &plan->programs[rank->program];
    struct streams t = { .plan = plan, .program = p, .count = 1, .cap = rank->slot_count + 66u };

    for (uint32_t i = 0; i < p->call_count; i++) {
        if (p->calls[i].stream)
            return true; /* the record tells */
    }
    t.cap = t.cap > UINT16_MAX ? UINT16_MAX : t.cap;
    t.of_slot = HS_NEW(arena, uint32_t, rank->slot_count + 1u);
    t.open = HS_NEW(arena, uint32_t, t.cap);
    if (!t.of_slot || !t.open)
        return false;
    while (find_overtaking(&t))
        continue;
    for (uint32_t i = 0, end; i < p->call_count && t.count > 1; i = end) {
        end = hs_unit_end(p, i);
        for (uint32_t k = i; k < end; k++)
            p->calls[k].stream = (uint16_t)stream_of(&t, &p->calls[i]);
    }
    hs_arena_reset(arena);
    return true;
}

/* Where a library makes the host wait, a call after an unfinished one shows that it did not. */
static void find_async(struct hs_plan *plan)
{
    for (uint32_t row = 0; row < plan->rank_count && plan->semantics->host_waits; row++) {
        struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0, end; i < p->call_count; i = end) {
            end = hs_unit_end(p, i);
            if (!(p->calls[i].flags & HS_CALL_FINISHED) && end < p->call_count)
                p->calls[i].flags |= HS_CALL_ASYNC;
        }
    }
}

/* What only the making of the plan needs goes. */
static void forget(struct hs_plan *plan)
{
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        struct hs_program *p = &plan->programs[plan->ranks[row].program];

        plan->ranks[row].flags &= ~HS_PLAN_ACTIVE;
        for (uint32_t i = 0; i < p->call_count; i++)
            p->calls[i].flags &= HS_CALL_STALLED | HS_CALL_DONE | HS_CALL_ASYNC | HS_CALL_REDUCTION;
    }
}

enum hs_status hs_plan_settle(struct hs_plan *plan, uint32_t window, struct hs_err *err)
{
    struct settling s = { .plan = plan };
    enum hs_status status = HS_OK;
    bool ok;

    hs_arena_init(&s.arena);
    hs_intern_init(&s.pairs);
    s.cut = HS_NEW(&s.arena, uint32_t, plan->rank_count + 1u);
    ok = s.cut && match_pairs(&s);
    if (ok && window)
        find_cuts(&s, window);
    if (ok) {
        cut_pairs(&s);
        compact(&s);
    }
    hs_intern_release(&s.pairs);
    free(s.halves);
    hs_arena_reset(&s.arena);
    for (uint32_t row = 0; ok && row < plan->rank_count; row++)
        ok = find_streams(plan, &plan->ranks[row], &s.arena);
    hs_arena_release(&s.arena);
    if (!ok)
        return hs_no_memory(err);
    find_async(plan);
    status = hs_dry_settle(plan, err);
    forget(plan);
    if (status == HS_OK && !hs_plan_share(plan))
        status = hs_no_memory(err);
    return status;
}
