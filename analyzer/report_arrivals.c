/*
 * report_arrivals.c - who comes last, how often and by how much.
 *
 * A collective counts where all members have it on record. Lateness is the time from the first to
 * the last member, on corrected clocks; what the clocks may still be wrong by is told beside it.
 */
#include "analyzer/report_internal.h"

#include "analyzer/words.h"

#include <stdlib.h>

enum { ROWS_PER_GROUP = 16, HABITUAL_SHARE = 5 /* one in so many */ };

/* One collective that all members made. */
struct coming {
    uint32_t seat;
    int64_t late_ns;
};

static int by_seat_then_late(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;

    if (x->seat != y->seat)
        return x->seat < y->seat ? -1 : 1;
    return (x->late_ns > y->late_ns) - (x->late_ns < y->late_ns);
}

static int by_last(const void *a, const void *b)
{
    const struct hs_report_arrival *x = a, *y = b;

    if (x->last != y->last)
        return x->last > y->last ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint32_t host_of(const struct hs_reporting *r, uint32_t seat)
{
    return r->out->ranks[r->row_of_seat[seat]].host;
}

/*
 * By how much a lateness of one member against the others may be wrong: nothing if all stamps are
 * of one clock; HS_NO_DURATION where nothing ties the clocks.
 */
static int64_t bound_of(const struct hs_reporting *r, const struct hs_group *group, uint32_t seat)
{
    const struct hs_seat_clock *mine = &r->seat_clocks[seat];
    int64_t most = 0;
    bool one = true;

    for (uint32_t i = 0; i < group->size; i++) {
        uint32_t its_seat = r->j->al.positions[group->positions[i]].seat;
        const struct hs_seat_clock *other = &r->seat_clocks[its_seat];
        bool one_host = host_of(r, seat) != HS_NO_ID && host_of(r, seat) == host_of(r, its_seat);

        if (one_host || other->clock == mine->clock)
            continue;
        one = false;
        if (other->frame == HS_NO_ID || other->frame != mine->frame ||
            other->bound_ns == HS_NO_DURATION || mine->bound_ns == HS_NO_DURATION)
            return HS_NO_DURATION;
        most = other->bound_ns > most ? other->bound_ns : most;
    }
    return one ? 0 : mine->bound_ns + most;
}

/* The comings that somebody was last to: where all came at once nobody was. */
static uint32_t gather(const struct hs_reporting *r, const struct hs_plane *plane,
                       struct coming *out, uint32_t *compared)
{
    uint32_t count = 0, size = r->j->al.groups[plane->group].size;

    for (uint32_t c = 0; size > 1 && c < plane->columns; c++) {
        const struct hs_dense_column *d = hs_dense_of(r, plane, plane->numbers[c]);

        if (d->members != size || !d->last_ns)
            continue;
        ++*compared;
        if (d->last_ns > d->first_ns)
            out[count++] = (struct coming){ d->last_seat, d->last_ns - d->first_ns };
    }
    return count;
}

static bool put_group(struct hs_reporting *r, const struct hs_plane *plane, struct coming *comings,
                      struct hs_report_arrival *rows)
{
    const struct hs_group *group = &r->j->al.groups[plane->group];
    uint32_t compared = 0, count = gather(r, plane, comings, &compared), found = 0;

    r->out->compared += compared;
    if (count)
        qsort(comings, count, sizeof(*comings), by_seat_then_late);
    for (uint32_t i = 0, end; i < count; i = end) {
        struct hs_report_arrival *row = &rows[found++];

        for (end = i + 1; end < count && comings[end].seat == comings[i].seat; end++)
            continue;
        *row = (struct hs_report_arrival){ .group = plane->group,
                                           .rank = r->row_of_seat[comings[i].seat],
                                           .last = end - i,
                                           .of = compared,
                                           .median_late_ns = comings[i + (end - i) / 2].late_ns,
                                           .max_late_ns = comings[end - 1].late_ns };
    }
    if (found)
        qsort(rows, found, sizeof(*rows), by_last);
    for (uint32_t i = 0; i < found && i < ROWS_PER_GROUP; i++) {
        uint32_t seat = hs_seat_of_rank(&r->j->al, r->out->ranks[rows[i].rank].rank);

        rows[i].bound_ns = bound_of(r, group, seat);
        rows[i].habitual = rows[i].bound_ns != HS_NO_DURATION &&
                           (uint64_t)rows[i].last * HABITUAL_SHARE >= rows[i].of &&
                           rows[i].median_late_ns > rows[i].bound_ns;
        r->out->arrivals[r->out->arrival_count++] = rows[i];
    }
    return true;
}

static bool put_clocks(struct hs_reporting *r)
{
    struct hs_report *out = r->out;
    bool *told = HS_NEW(&r->scratch, bool, r->clocks.count);

    out->clocks = HS_NEW(&out->arena, struct hs_report_clock, r->clocks.count);
    if (!told || !out->clocks)
        return false;
    for (uint32_t s = 0; s < r->j->al.seat_count; s++) {
        uint32_t number = r->seat_clocks[s].clock;
        const struct hs_host_clock *c = number == HS_NO_ID ? NULL : &r->clocks.list[number];

        if (!c || told[number])
            continue;
        told[number] = true;
        out->clocks[out->clock_count++] = (struct hs_report_clock){
            .host = c->scope == HS_CLOCK_OF_HOST
                        ? hs_safe_text(r->clocks.id->hosts[c->number], &out->arena)
                        : (struct hs_str){ .p = NULL },
            .rank = r->row_of_seat[s],
            .offset_ns = r->seat_clocks[s].skew_ns,
            .bound_ns = r->seat_clocks[s].bound_ns,
            .ties = c->ties,
            .reference = c->reference == number,
            .contradicted = c->contradicted,
        };
    }
    return true;
}

bool hs_report_arrivals(struct hs_reporting *r)
{
    uint32_t groups = r->j->al.group_count, most = 0;
    size_t rows = 0;
    struct coming *comings;
    struct hs_report_arrival *scratch;

    for (uint32_t g = 0; g < groups; g++) {
        uint32_t size = r->j->al.groups[g].size;

        uint32_t columns = hs_plane_of(r, g, HS_MATRIX_COLLECTIVES)->columns;

        most = columns > most ? columns : most;
        rows += size < ROWS_PER_GROUP ? size : ROWS_PER_GROUP;
    }
    comings = HS_NEW(&r->scratch, struct coming, most);
    scratch = HS_NEW(&r->scratch, struct hs_report_arrival, most);
    r->out->arrivals = HS_NEW(&r->out->arena, struct hs_report_arrival, rows);
    if (!comings || !scratch || !r->out->arrivals)
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        if (!put_group(r, hs_plane_of(r, g, HS_MATRIX_COLLECTIVES), comings, scratch))
            return false;
    }
    return put_clocks(r);
}
