/* course.c - what one process does: its calls, what it holds back, what it fills in. */
#include "replay/nccl/script.h"

#include <stdlib.h>

#define OWN_LANE UINT16_MAX /* for each slot: fills of one group do not wait for another's */

struct making {
    const struct hs_script *s;
    uint32_t row;
    struct hs_course *course;
    bool *lane_held; /* by stream of the plan */
    bool
        *comm_held; /* by communicator: a position was left out, so later ones would meet wrongly */
    uint32_t *next; /* by slot: the position after the last one that was passed */
    uint16_t *fills;        /* by slot: the lane of fills that wait for nothing else; 0: none yet */
    uint32_t (*anchors)[3]; /* by slot: see find_anchors() */
};

static const struct hs_program *program_of(const struct making *m)
{
    return &m->s->plan->programs[m->s->plan->ranks[m->row].program];
}

static bool add_step(struct making *m, struct hs_step step)
{
    struct hs_course *c = m->course;

    if (!HS_GROW(c->steps, c->cap, c->count + 1u))
        return false;
    c->steps[c->count++] = step;
    return true;
}

/* The reference of a position of a group, where a rank lists it; HS_NO_ID. */
static uint32_t ref_of(const struct making *m, uint32_t near_ref, uint32_t near_seq, uint32_t seq)
{
    uint64_t ref = (uint64_t)near_ref + seq - near_seq;

    return ref < m->s->dry->ref_count ? (uint32_t)ref : HS_NO_ID;
}

static uint16_t own_lane(struct making *m, uint32_t slot)
{
    if (m->fills[slot] == 0 && m->course->lanes < OWN_LANE)
        m->fills[slot] = (uint16_t)m->course->lanes++;
    return m->fills[slot];
}

/* Fill positions [from, to) of a slot's group. */
static bool fill(struct making *m, uint32_t slot, uint32_t from, uint32_t to, uint16_t lane,
                 bool last)
{
    const struct hs_script *s = m->s;
    const uint32_t *anchor = m->anchors[slot];
    uint32_t g = s->plan->ranks[m->row].groups[slot], comm = s->group_comm[g];

    if (comm == HS_NO_ID || anchor[2] == 0)
        return true;
    from = from > anchor[1] ? from : anchor[1];
    to = to < anchor[1] + anchor[2] ? to : anchor[1] + anchor[2];
    for (uint32_t seq = from; seq < to; seq++) {
        uint32_t ref = ref_of(m, anchor[0], anchor[1], seq), other, row;
        struct hs_step step = { .kind = HS_STEP_FILL, .last = last, .comm = comm, .ref = ref };

        if (ref == HS_NO_ID || s->met_first[ref] == s->met_first[ref + 1])
            continue; /* nobody lists it: nobody waits in it */
        if (!s->dry->met[ref] || m->comm_held[comm]) {
            m->comm_held[comm] = true;
            continue;
        }
        step.lane = lane == OWN_LANE ? own_lane(m, slot) : lane;
        other = s->met[s->met_first[ref]];
        row = hs_script_row(s->dry, other);
        step.source = row;
        step.first = other - (uint32_t)s->dry->first[row];
        step.end = hs_unit_end(&s->plan->programs[s->plan->ranks[row].program], step.first);
        if (!add_step(m, step))
            return false;
    }
    return true;
}

/* By slot of a row: the reference and number of the group's lowest listed position, and how many
 * positions there are from it to the highest. */
static bool find_anchors(struct making *m)
{
    const struct hs_script *s = m->s;
    const struct hs_plan *plan = s->plan;
    uint32_t *low = calloc(plan->group_count + 1u, 3 * sizeof(*low)); /* ref, seq, highest seq */

    if (!low)
        return false;
    for (uint32_t ref = 0; ref < s->dry->ref_count; ref++) {
        uint32_t at, row, g, *l;

        if (s->met_first[ref] == s->met_first[ref + 1])
            continue;
        at = s->met[s->met_first[ref]];
        row = hs_script_row(s->dry, at);
        g = plan->ranks[row].groups
                [plan->programs[plan->ranks[row].program].calls[at - s->dry->first[row]].slot];
        l = &low[(size_t)g * 3];
        if (l[2] == 0) {
            l[0] = ref;
            l[1] = s->dry->seq[at];
        }
        l[2] = s->dry->seq[at];
    }
    for (uint32_t slot = 0; slot < plan->ranks[m->row].slot_count; slot++) {
        const uint32_t *l = &low[(size_t)plan->ranks[m->row].groups[slot] * 3];

        m->anchors[slot][0] = l[0];
        m->anchors[slot][1] = l[1];
        m->anchors[slot][2] = l[2] ? l[2] - l[1] + 1 : 0;
    }
    free(low);
    return true;
}

static bool add_unit(struct making *m, uint32_t i, uint32_t end)
{
    const struct hs_plan_call *call = &program_of(m)->calls[i];
    struct hs_step step = { .kind = HS_STEP_MADE,
                            .lane = call->stream,
                            .source = m->row,
                            .first = i,
                            .end = end,
                            .comm = hs_script_comm_of(m->s, m->row, call),
                            .ref = m->s->dry->ref[m->s->dry->first[m->row] + i] };

    if (m->lane_held[call->stream] || m->comm_held[step.comm]) {
        step.kind = call->flags & HS_CALL_DONE ? HS_STEP_PASSED : HS_STEP_HELD;
        m->comm_held[step.comm] = true;
    } else if (call->flags & HS_CALL_DONE && !m->s->dry->met[step.ref]) {
        step.kind = HS_STEP_PASSED;
        m->comm_held[step.comm] = true;
    } else if (call->flags & HS_CALL_STALLED) {
        step.kind = HS_STEP_STALLED;
        m->lane_held[call->stream] = true;
    }
    return add_step(m, step);
}

static bool add_program(struct making *m)
{
    const struct hs_plan_rank *rank = &m->s->plan->ranks[m->row];
    const struct hs_program *p = program_of(m);

    for (uint32_t slot = 0; slot < rank->slot_count; slot++) {
        if (!fill(m, slot, 1, rank->start[slot] + 1, OWN_LANE, false))
            return false;
        m->next[slot] = rank->start[slot] + 1;
    }
    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        uint32_t slot = p->calls[i].slot, seq = m->s->dry->seq[m->s->dry->first[m->row] + i];

        end = hs_unit_end(p, i);
        if (!hs_plan_is_pair(&m->s->plan->signatures[p->calls[i].signature])) {
            if (!fill(m, slot, m->next[slot], seq, p->calls[i].stream, false))
                return false;
            m->next[slot] = seq + 1;
        }
        if (!add_unit(m, i, end))
            return false;
    }
    for (uint32_t slot = 0; slot < rank->slot_count; slot++) {
        if (!fill(m, slot, m->next[slot], rank->until[slot] + 1, OWN_LANE, true))
            return false;
    }
    return true;
}

enum hs_status hs_course_make(const struct hs_script *s, uint32_t row, struct hs_course *out,
                              struct hs_err *err)
{
    struct making m = { .s = s, .row = row, .course = out };
    uint32_t slots = s->plan->ranks[row].slot_count, streams = 1;
    const struct hs_program *p = program_of(&m);
    bool ok;

    for (uint32_t i = 0; i < p->call_count; i++)
        streams = p->calls[i].stream >= streams ? p->calls[i].stream + 1u : streams;
    *out = (struct hs_course){ .lanes = streams };
    m.anchors = calloc(slots + 1u, sizeof(*m.anchors));
    m.fills = calloc(slots + 1u, sizeof(*m.fills));
    m.lane_held = calloc(streams + 1u, sizeof(*m.lane_held));
    m.comm_held = calloc(s->comm_count + 1u, sizeof(*m.comm_held));
    m.next = calloc(slots + 1u, sizeof(*m.next));
    ok = m.anchors && m.fills && m.lane_held && m.comm_held && m.next && find_anchors(&m) &&
         add_program(&m);
    free(m.anchors);
    free(m.lane_held);
    free(m.comm_held);
    free(m.next);
    free(m.fills);
    if (!ok)
        hs_course_release(out);
    return ok ? HS_OK : hs_no_memory(err);
}

void hs_course_release(struct hs_course *course)
{
    free(course->steps);
    *course = (struct hs_course){ .count = 0 };
}
