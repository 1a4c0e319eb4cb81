/* align.c - seats, and the order of the steps. */
#include "analyzer/align.h"

#include <stdlib.h>

void hs_alignment_init(struct hs_alignment *al, const struct hs_job *job)
{
    *al = (struct hs_alignment){ .job = job };
    hs_arena_init(&al->arena);
}

void hs_alignment_release(struct hs_alignment *al)
{
    free(al->groups);
    free(al->positions);
    free(al->pending);
    free(al->exchanges);
    free(al->pairs);
    free(al->pair_slots);
    hs_arena_release(&al->arena);
    hs_alignment_init(al, NULL);
}

uint32_t hs_seat_of_rank(const struct hs_alignment *al, uint32_t rank)
{
    uint32_t low = 0, high = al->seat_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (al->seats[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < al->seat_count && al->seats[low].rank == rank ? low : HS_NO_ID;
}

struct hs_window hs_common_window(const struct hs_alignment *al, const struct hs_group *group)
{
    struct hs_window w = { .low = 1, .high = group->size > 1 ? UINT32_MAX : 0 };
    uint32_t least_calls = UINT32_MAX;

    for (uint32_t i = 0; i < group->size; i++) {
        const struct hs_position *p =
            group->positions[i] == HS_NO_ID ? NULL : &al->positions[group->positions[i]];

        if (!p || !p->first_recorded || al->seats[p->seat].only_active)
            return (struct hs_window){ .low = 1, .high = 0 };
        w.low = p->first_recorded > w.low ? p->first_recorded : w.low;
        w.high = p->last_recorded < w.high ? p->last_recorded : w.high;
        least_calls = p->calls < least_calls ? p->calls : least_calls;
    }
    if (w.high >= w.low && w.high - w.low > 64 + 4 * (uint64_t)least_calls)
        w.high = 0; /* gaps are normal, but nobody fills a stretch like this: no honest numbers */
    return w;
}

static bool seat_ranks(struct hs_alignment *al, const uint32_t *dumps, const uint32_t *earlier,
                       uint32_t count)
{
    const struct hs_job *job = al->job;

    al->seats = HS_NEW(&al->arena, struct hs_seat, count);
    al->seat_count = al->seats ? count : 0;
    for (uint32_t i = 0; i < al->seat_count; i++) {
        const struct hs_dump *dump = &job->dumps[dumps[i]];
        bool any_completed = false;

        for (uint32_t k = 0; k < dump->operation_count && !any_completed; k++)
            any_completed = (dump->operations[k].flags & HS_OPERATION_STATE) == HS_STATE_COMPLETED;
        al->seats[i] = (struct hs_seat){
            .rank = dump->rank,
            .dump = dumps[i],
            .earlier_dump = earlier[i],
            .host = dump->host,
            .from_start = dump->operation_count == 0 || dump->operations[0].record == 0,
            .only_active = !any_completed,
            .head = HS_NO_ID,
        };
        if (dump->last_ns > al->last_ns)
            al->last_ns = dump->last_ns;
    }
    return al->seats != NULL;
}

/* Whether one counter runs through all groups of a process: strictly rising across changes of the
 * group, which separate counters do not do for long. */
static bool counts_across_groups(const struct hs_dump *dump)
{
    uint32_t changes = 0;

    if (dump->member_count < 2)
        return false;
    for (uint32_t i = 1; i < dump->operation_count; i++) {
        const struct hs_operation *a = &dump->operations[i - 1], *b = &dump->operations[i];

        if (b->seq <= a->seq || b->p2p_seq)
            return false;
        changes += a->member != b->member;
    }
    return changes >= 3;
}

/*
 * torchcomms numbers all groups of a process with one counter. The k-th call of a group is then the
 * position that members share - if the ring still holds the first call.
 */
static bool renumber_single_counter(struct hs_alignment *al)
{
    for (uint32_t i = 0; i < al->seat_count && !al->single_counter && !al->job->simulated; i++)
        al->single_counter = counts_across_groups(hs_seat_dump(al, i));
    if (!al->single_counter)
        return true;
    al->ordinals = HS_NEW(&al->arena, uint32_t *, al->seat_count);
    for (uint32_t i = 0; al->ordinals && i < al->seat_count; i++) {
        const struct hs_dump *dump = hs_seat_dump(al, i);
        uint32_t *used = HS_NEW(&al->arena, uint32_t, dump->member_count);

        al->ordinals[i] = HS_NEW(&al->arena, uint32_t, dump->operation_count);
        if (!used || !al->ordinals[i])
            return false;
        for (uint32_t k = 0; k < dump->operation_count; k++) {
            const struct hs_operation *op = &dump->operations[k];
            bool pair = al->job->signatures[op->signature].self != HS_NO_ID;

            al->ordinals[i][k] = used[op->member] += !pair; /* a pair carries the last number */
        }
        al->counter_unreadable = al->counter_unreadable || !al->seats[i].from_start;
    }
    return al->ordinals != NULL;
}

enum hs_status hs_align(struct hs_alignment *al, const uint32_t *dumps,
                        const uint32_t *earlier_dumps, uint32_t count, struct hs_err *err)
{
    enum hs_status status;

    if (!seat_ranks(al, dumps, earlier_dumps, count) || !renumber_single_counter(al))
        return hs_no_memory(err);
    status = hs_align_groups(al, err);
    if (status == HS_OK)
        status = hs_align_units(al, err);
    if (status == HS_OK)
        hs_align_fronts(al);
    return status;
}
