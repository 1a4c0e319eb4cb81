/*
 * align_fronts.c - how far each member of each group has come, and what completion proves.
 *
 * Entered n: an operation at or beyond n, or the watchdog's counter, in groups whose counter counts
 * collectives only. Finished n: state, counter, or entered and no longer among the unfinished. A
 * finished symmetric operation proves that every member entered it: a dump behind such a proof is
 * from an earlier moment.
 */
#include "analyzer/align.h"

/* Counters speak of collectives only where the group carries no sends and receives. */
static void add_counters(struct hs_alignment *al, struct hs_position *p)
{
    const struct hs_member *m = p->member == HS_NO_ID ? NULL : &al->job->members[p->member];

    if (!m || !m->has_status || al->groups[p->group].has_pairs ||
        al->groups[p->group].marks_nothing || al->single_counter)
        return;
    p->known = true;
    if (m->enqueued > p->entered && m->enqueued <= UINT32_MAX)
        p->entered = (uint32_t)m->enqueued;
    if (m->completed > 0 && m->completed <= UINT32_MAX) {
        p->status_completed = (uint32_t)m->completed;
        al->any_finished = true;
    }
}

/* A ring that reaches back to the first call, or that only holds unfinished ones, would show it. */
static bool ring_would_show(const struct hs_alignment *al, const struct hs_position *p)
{
    const struct hs_dump *dump = hs_seat_dump(al, p->seat);

    return p->member != HS_NO_ID && al->seats[p->seat].from_start &&
           !al->seats[p->seat].only_active && !dump->cut_short;
}

static void note_unfinished(struct hs_alignment *al)
{
    for (uint32_t i = 0; i < al->pending_count; i++) {
        struct hs_position *p = &al->positions[al->pending[i].position];

        if (al->pending[i].kind == HS_UNIT_COLLECTIVE && al->pending[i].seq < p->first_unfinished)
            p->first_unfinished = al->pending[i].seq;
    }
}

/*
 * Dumps that are behind what a peer's finished call proves. Where nothing marks completion, a call
 * that raised is retired like one that finished: then it proves nothing, and contradicts.
 */
static void find_older(struct hs_alignment *al)
{
    for (uint32_t i = 0; i < al->position_count; i++) {
        struct hs_position *p = &al->positions[i];

        if (p->entered >= al->groups[p->group].proved)
            continue;
        if (al->groups[p->group].marks_nothing) {
            al->groups[p->group].contradicted |= p->known;
            continue;
        }
        al->seats[p->seat].older |= p->known && !al->seats[p->seat].lost;
        p->entered = al->groups[p->group].proved;
    }
}

static void find_limits(struct hs_alignment *al)
{
    for (uint32_t g = 0; g < al->group_count; g++)
        al->groups[g].least = UINT32_MAX;
    for (uint32_t i = 0; i < al->position_count; i++) {
        struct hs_position *p = &al->positions[i];
        struct hs_group *group = &al->groups[p->group];
        uint32_t open = p->first_unfinished == UINT32_MAX ? UINT32_MAX : p->first_unfinished - 1;

        p->finished = p->entered < open ? p->entered : open;
        if (p->status_completed > p->finished)
            p->finished = p->status_completed;
        if (p->entered < group->least)
            group->least = p->entered;
        if (!al->seats[p->seat].older && p->finished > group->finished)
            group->finished = p->finished;
    }
}

/* Symmetric calls that a seat shows unfinished although a peer finished them and all entered. */
static void count_stale(struct hs_alignment *al)
{
    for (uint32_t i = 0; i < al->pending_count; i++) {
        const struct hs_unit *u = &al->pending[i];
        const struct hs_group *group = &al->groups[u->group];

        if (u->kind == HS_UNIT_COLLECTIVE && !al->seats[u->seat].older && !group->marks_nothing &&
            hs_op_signature(al, u->seat, u->first_op)->kind->proof == HS_PROOF_ALL &&
            u->seq <= group->finished && u->seq <= group->least)
            al->seats[u->seat].stale++;
    }
}

/* A dump without any call whose counter has begun what it has not finished: the rank waits, on what
 * is unknown. */
static void find_unrecorded(struct hs_alignment *al)
{
    for (uint32_t i = 0; i < al->position_count; i++) {
        const struct hs_position *p = &al->positions[i];

        if (p->known && p->status_completed && p->entered > p->status_completed &&
            hs_seat_dump(al, p->seat)->operation_count == 0)
            al->seats[p->seat].lost = true;
    }
}

void hs_align_fronts(struct hs_alignment *al)
{
    note_unfinished(al);
    for (uint32_t i = 0; i < al->position_count; i++) {
        add_counters(al, &al->positions[i]);
        if (ring_would_show(al, &al->positions[i]))
            al->positions[i].known = true;
    }
    find_unrecorded(al);
    find_older(al);
    find_limits(al);
    count_stale(al);
    for (uint32_t s = 0; s < al->seat_count; s++) {
        struct hs_seat *seat = &al->seats[s];

        for (uint32_t i = 0; i < seat->pending_count && seat->head == HS_NO_ID; i++) {
            if (!al->pending[seat->first_pending + i].ambiguous)
                seat->head = seat->first_pending + i;
        }
        if (seat->older || seat->lost || seat->stale)
            seat->head = HS_NO_ID;
    }
}
