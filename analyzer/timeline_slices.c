/* timeline_slices.c - recorded calls as slices: when they were made, and when they ended. */
#include "analyzer/timeline.h"

#include "analyzer/callsites.h"

static bool is_pair(const struct hs_signature *sig)
{
    return sig->kind->class == HS_CLASS_SEND || sig->kind->class == HS_CLASS_RECV;
}

static int64_t within(const struct hs_timeline *t, int64_t ns)
{
    return ns < t->from_ns ? t->from_ns : ns > t->to_ns ? t->to_ns : ns;
}

int64_t hs_timeline_start(const struct hs_timeline_making *m, uint32_t seat, uint32_t op)
{
    int64_t ns = hs_seat_dump(&m->j->al, seat)->operations[op].created_ns;

    return ns ? within(&m->timeline, ns + m->shifts_ns[seat]) : m->timeline.from_ns;
}

bool hs_timeline_shows(const struct hs_timeline_making *m, const struct hs_slice *slice,
                       uint32_t seq)
{
    const struct hs_span *span = &m->request.span;

    if (span->kind == HS_SPAN_TIME)
        return slice->end_ns >= m->since_ns;
    return span->kind == HS_SPAN_ALL || (seq >= span->low && seq <= span->high);
}

/* ---- what is not finished ---- */

/* The calls of the pending units of a seat. A unit may have several: a batch, a coalesced call. */
static bool *find_open(struct hs_timeline_making *m, uint32_t seat)
{
    const struct hs_alignment *al = &m->j->al;
    const struct hs_seat *s = &al->seats[seat];
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    bool *open = HS_NEW(&m->scratch, bool, dump->operation_count);
    uint32_t *current = HS_NEW(&m->scratch, uint32_t, dump->member_count); /* unit + 1 by member */
    uint32_t unit = s->first_pending;

    if (!open || !current)
        return NULL;
    for (uint32_t u = 0; u < s->pending_count; u++) {
        const struct hs_unit *p = &al->pending[s->first_pending + u];

        for (uint32_t k = 0; k < p->exchange_count; k++)
            open[al->exchanges[p->first_exchange + k].op] = true;
        open[p->first_op] = true;
        open[p->last_op] = true;
    }
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        uint32_t member = dump->operations[i].member;
        const struct hs_unit *p;

        if (unit < s->first_pending + s->pending_count && al->pending[unit].first_op == i)
            current[member] = ++unit;
        p = current[member] ? &al->pending[current[member] - 1] : NULL;
        if (p && p->kind == HS_UNIT_COLLECTIVE && i <= p->last_op &&
            hs_op_seq(al, seat, i) == p->seq && !is_pair(hs_op_signature(al, seat, i)))
            open[i] = true;
    }
    return open;
}

/* ---- ends ---- */

/* Whether two calls of one group are of one batch or coalesced call: the later one ends both. */
static bool end_together(const struct hs_alignment *al, uint32_t seat, uint32_t op, uint32_t later)
{
    const struct hs_operation *ops = hs_seat_dump(al, seat)->operations;
    bool later_pair = is_pair(hs_op_signature(al, seat, later));

    if (is_pair(hs_op_signature(al, seat, op)))
        return ops[op].p2p_seq && ops[op].p2p_seq == ops[later].p2p_seq &&
               (later_pair || hs_op_signature(al, seat, later)->kind->class == HS_CLASS_COALESCED);
    return !later_pair && hs_op_seq(al, seat, op) &&
           hs_op_seq(al, seat, op) == hs_op_seq(al, seat, later);
}

static void set_end(struct hs_timeline_making *m, uint32_t seat, uint32_t op, bool open,
                    const struct hs_slice *later, struct hs_slice *out)
{
    const struct hs_operation *row = out->op;

    out->end_ns = out->start_ns;
    out->kind = HS_SLICE_UNTIMED;
    if (open) {
        out->kind = HS_SLICE_OPEN;
        out->end_ns = m->timeline.to_ns;
        out->stack = hs_user_stack(m->j->job, row->stack, &m->scratch);
    } else if (row->finished_us && row->created_ns) {
        out->kind = HS_SLICE_FINISHED;
        out->end_ns = within(&m->timeline, out->start_ns + row->finished_us * INT64_C(1000));
    } else if (later && later->kind == HS_SLICE_FINISHED &&
               end_together(&m->j->al, seat, op, (uint32_t)(op + (later - out)))) {
        out->kind = HS_SLICE_FINISHED;
        out->end_ns = later->end_ns > out->start_ns ? later->end_ns : out->start_ns;
    }
}

static void set_pair(const struct hs_alignment *al, uint32_t seat, const struct hs_signature *sig,
                     const struct hs_group *group, struct hs_slice *out)
{
    bool send = sig->kind->class == HS_CLASS_SEND;
    uint32_t self = al->seats[seat].rank;
    uint32_t peer =
        group->members_assumed || sig->peer >= group->size ? HS_NO_ID : group->ranks[sig->peer];

    out->src = send ? self : peer;
    out->dst = send ? peer : self;
    out->number = out->op->p2p_seq;
}

bool hs_timeline_slices(struct hs_timeline_making *m, uint32_t process, uint32_t room,
                        struct hs_slice **slices, uint32_t *count)
{
    const struct hs_alignment *al = &m->j->al;
    uint32_t seat = m->processes[process].seat;
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    const bool *open = find_open(m, seat);
    uint32_t *later = HS_NEW(&m->scratch, uint32_t, dump->member_count); /* op + 1, by member */
    struct hs_slice *rows =
        HS_NEW(&m->scratch, struct hs_slice, (size_t)dump->operation_count + room);

    if (!open || !later || !rows)
        return false;
    for (uint32_t i = dump->operation_count; i-- > 0;) {
        const struct hs_operation *op = &dump->operations[i];
        const struct hs_signature *sig = hs_op_signature(al, seat, i);
        struct hs_slice *s = &rows[i];

        *s = (struct hs_slice){ .op = op,
                                .start_ns = hs_timeline_start(m, seat, i),
                                .number = hs_op_seq(al, seat, i),
                                .track = al->positions[hs_op_position(al, seat, i)].group,
                                .src = HS_NO_ID,
                                .dst = HS_NO_ID };
        if (is_pair(sig))
            set_pair(al, seat, sig, &al->groups[s->track], s);
        set_end(m, seat, i, open[i], later[op->member] ? &rows[later[op->member] - 1] : NULL, s);
        later[op->member] = i + 1;
    }
    *slices = rows;
    *count = dump->operation_count;
    return true;
}
