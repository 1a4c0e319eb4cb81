/* timeline_lanes.c - slices that overlap are laid side by side: as few lanes as can be. */
#include "analyzer/timeline.h"

/* A lane, free (key: its number) or busy (key: when it becomes free). */
struct lane {
    int64_t key;
    uint32_t number;
};

/* Heaps: the least key first, of equal ones the least number. */
struct heap {
    struct lane *lanes;
    uint32_t count;
};

static bool is_before(const struct lane *a, const struct lane *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void heap_put(struct heap *h, struct lane lane)
{
    uint32_t at = h->count++;

    for (; at > 0 && is_before(&lane, &h->lanes[(at - 1) / 2]); at = (at - 1) / 2)
        h->lanes[at] = h->lanes[(at - 1) / 2];
    h->lanes[at] = lane;
}

static struct lane heap_take(struct heap *h)
{
    struct lane first = h->lanes[0], last = h->lanes[--h->count];
    uint32_t at = 0;

    for (uint32_t child = 1; child < h->count; child = 2 * at + 1) {
        if (child + 1 < h->count && is_before(&h->lanes[child + 1], &h->lanes[child]))
            child++;
        if (!is_before(&h->lanes[child], &last))
            break;
        h->lanes[at] = h->lanes[child];
        at = child;
    }
    h->lanes[at] = last;
    return first;
}

struct lanes {
    struct heap busy, free;
};

static uint32_t lane_for(struct lanes *l, const struct hs_slice *slice, uint32_t *count)
{
    struct lane lane;

    while (l->busy.count && l->busy.lanes[0].key <= slice->start_ns) {
        lane = heap_take(&l->busy);
        lane.key = 0;
        heap_put(&l->free, lane);
    }
    if (l->free.count)
        lane = heap_take(&l->free);
    else
        lane.number = (*count)++;
    lane.key = slice->end_ns;
    heap_put(&l->busy, lane);
    return lane.number;
}

bool hs_timeline_lanes(struct hs_slice *slices, uint32_t count, struct hs_track *tracks,
                       uint32_t track_count, struct hs_arena *scratch)
{
    struct lanes *by_track = HS_NEW(scratch, struct lanes, track_count);
    uint32_t *sizes = HS_NEW(scratch, uint32_t, track_count);
    struct lane *room = HS_NEW(scratch, struct lane, (size_t)count * 2);

    if (!by_track || !sizes || !room)
        return false;
    for (uint32_t i = 0; i < count; i++)
        sizes[slices[i].track]++;
    for (uint32_t t = 0; t < track_count; t++) {
        by_track[t].busy.lanes = room;
        by_track[t].free.lanes = room + sizes[t];
        room += 2 * (size_t)sizes[t];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = slices[i].track;

        slices[i].lane = lane_for(&by_track[t], &slices[i], &tracks[t].lanes);
    }
    return true;
}
