/*
 * communicators_classes.c - ends that nothing ties but their size and order of creation.
 *
 * If one communicator has room for all of them and a second would have none, they are one. If they
 * are whole communicators side by side, the distance of global ranks in each may tell them apart:
 * frameworks lay groups out like that. If more than one reading is possible they stay alone.
 */
#include "analyzer/communicators_internal.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Whether one communicator can have all these ends; without memory, no. */
static bool ranks_differ(const struct hs_comm_joiner *j, const struct hs_comm_class *class)
{
    uint64_t *ranks = HS_NEW(j->arena, uint64_t, class->count);
    uint32_t n = 0;

    for (uint32_t i = 0; ranks && i < class->count; i++) {
        uint32_t rank = j->job->communicators[class->rows[i]].rank;

        if (rank != HS_NO_ID)
            ranks[n++] = rank;
    }
    if (!ranks)
        return false;
    qsort(ranks, n, sizeof(*ranks), by_value);
    for (uint32_t i = 1; i < n; i++) {
        if (ranks[i] == ranks[i - 1])
            return false;
    }
    return true;
}

static bool only_one_fits(struct hs_comm_joiner *j, const struct hs_comm_class *class, bool *out)
{
    uint32_t attempt = j->known->attempt[class->rows[0]];
    const uint32_t *value = HS_KEPT(j, HS_KEY_ROOM, attempt);
    uint64_t room = value ? *value : 0;

    value = value ? HS_KEPT(j, HS_KEY_SIZE, attempt) : NULL;
    if (!value)
        return false;
    room = *value > room ? *value : room;
    *out = class->size && class->size != HS_NO_ID && class->count <= class->size &&
           (class->count == class->size || room < 2 * (uint64_t) class->size) &&
           ranks_differ(j, class);
    return true;
}

/* An end by global rank. */
struct place {
    uint32_t global, rank, row;
};

static int by_global(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->global > y->global) - (x->global < y->global);
}

static const struct place *place_at(const struct place *places, uint32_t count, uint64_t global)
{
    struct place key = { .global = (uint32_t)global };

    return global > UINT32_MAX ? NULL : bsearch(&key, places, count, sizeof(*places), by_global);
}

/* Whether every end has its neighbours at this distance of global ranks. */
static bool fits_stride(const struct place *places, const struct hs_comm_class *class,
                        uint32_t stride, uint64_t *budget)
{
    for (uint32_t i = 0; i < class->count && *budget; i++, --*budget) {
        const struct place *p = &places[i], *next;

        if (p->rank >= class->size || (p->rank > 0 && p->global < stride))
            return false;
        next = p->rank + 1 < class->size
                   ? place_at(places, class->count, (uint64_t)p->global + stride)
                   : NULL;
        if (p->rank + 1 < class->size && (!next || next->rank != p->rank + 1))
            return false;
        next = p->rank ? place_at(places, class->count, p->global - stride) : NULL;
        if (p->rank && (!next || next->rank != p->rank - 1))
            return false;
    }
    return *budget > 0;
}

/* The one distance that fits; 0: none does, or several. */
static uint32_t find_stride(const struct place *places, const struct hs_comm_class *class)
{
    uint64_t budget = 64 * (uint64_t) class->count;
    uint32_t found = 0;

    /* The lowest global rank is the first of its communicator: its next is at the distance. */
    for (uint32_t i = 1; i < class->count && budget; i++) {
        uint32_t stride = places[i].global - places[0].global;

        if (places[0].rank || places[i].rank != 1 || !fits_stride(places, class, stride, &budget))
            continue;
        if (found)
            return 0;
        found = stride;
    }
    return budget ? found : 0;
}

/* Communicators of one size side by side, as frameworks lay them out over global ranks. */
static bool join_by_stride(struct hs_comm_joiner *j, const struct hs_comm_class *class,
                           bool *joined)
{
    struct place *places = HS_NEW(j->arena, struct place, class->count);
    uint32_t stride;

    *joined = false;
    if (!places)
        return false;
    if (class->size < 2 || class->size == HS_NO_ID || class->count % class->size)
        return true;
    for (uint32_t i = 0; i < class->count; i++) {
        uint32_t row = class->rows[i];

        places[i] = (struct place){ .global = j->known->rank[row],
                                    .rank = j->job->communicators[row].rank,
                                    .row = row };
        if (places[i].global == HS_NO_ID || places[i].rank == HS_NO_ID)
            return true;
    }
    qsort(places, class->count, sizeof(*places), by_global);
    for (uint32_t i = 1; i < class->count; i++) {
        if (places[i].global == places[i - 1].global)
            return true;
    }
    stride = find_stride(places, class);
    if (!stride)
        return true;
    for (uint32_t i = 0; i < class->count; i++) {
        const struct place *p = &places[i], *before;

        if (p->rank == 0) {
            j->out->comm_of_row[p->row] = hs_comm_new(j, p->row, HS_COMM_STRIDE);
            continue;
        }
        before = place_at(places, class->count, p->global - stride);
        j->out->comm_of_row[p->row] = j->out->comm_of_row[before->row];
    }
    *joined = true;
    return true;
}

bool hs_comm_join_class(struct hs_comm_joiner *j, const struct hs_comm_class *class)
{
    bool joined;

    if (!only_one_fits(j, class, &joined))
        return false;
    if (joined) {
        uint32_t comm = hs_comm_new(j, class->rows[0], HS_COMM_ORDER);

        for (uint32_t i = 0; i < class->count; i++)
            j->out->comm_of_row[class->rows[i]] = comm;
        return true;
    }
    if (j->known->rank && !join_by_stride(j, class, &joined))
        return false;
    for (uint32_t i = 0; !joined && i < class->count; i++)
        j->out->comm_of_row[class->rows[i]] = hs_comm_new(j, class->rows[i], HS_COMM_ALONE);
    return true;
}
