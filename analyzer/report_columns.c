/*
 * report_columns.c - the columns of the matrices: which numbers the calls of a group have, and when
 * the first and the last member came to each.
 *
 * A plane is a group's collectives by sequence number, its sends and receives by their own number,
 * or all calls of a rank by record. Numbers of a plane lie densely, so that a call finds its column
 * without searching; those that nobody used have none.
 */
#include "analyzer/report_internal.h"

#include "analyzer/mismatch.h"
#include "base/limits.h"

#include <stdlib.h>

enum { SLACK = 64, TIMES = 4 };

static bool ends_batch(const struct hs_signature *sig, const struct hs_operation *op)
{
    return sig->kind->class == HS_CLASS_COALESCED && !(op->flags & HS_OPERATION_SIZED) &&
           op->p2p_seq != 0;
}

struct hs_slot hs_slot_of(const struct hs_reporting *r, uint32_t seat, uint32_t i)
{
    const struct hs_alignment *al = &r->j->al;
    const struct hs_operation *op = &hs_seat_dump(al, seat)->operations[i];
    const struct hs_signature *sig = hs_op_signature(al, seat, i);
    uint32_t group = al->positions[hs_op_position(al, seat, i)].group;
    struct hs_slot slot = { .plane = hs_plane_of(r, group, HS_MATRIX_COLLECTIVES),
                            .number = hs_op_seq(al, seat, i) };

    if (sig->self != HS_NO_ID || ends_batch(sig, op)) {
        slot.plane++;
        slot.number = op->p2p_seq ? op->p2p_seq : slot.number;
    }
    return slot;
}

/* ---- what numbers there are ---- */

/* So many numbers may lie between the calls of honest members; what is before them is left out. */
static void set_span(struct hs_reporting *r, struct hs_plane *plane, uint32_t low, uint32_t high,
                     uint64_t calls, uint64_t members)
{
    uint64_t most = SLACK + TIMES * calls, fair = 16 * calls / (members ? members : 1);
    uint64_t span = high >= low && high ? (uint64_t)high - low + 1 : 0;

    fair = fair < 256 ? 256 : fair;
    most = fair < most ? fair : most;
    most = most < HS_REPORT_COLUMNS_MAX ? most : HS_REPORT_COLUMNS_MAX;
    plane->span = (uint32_t)(span < most ? span : most);
    plane->low = plane->span ? high - plane->span + 1 : 0;
    r->out->columns_left += span - plane->span;
}

/* The least and the greatest number of sends and receives, and how many there are, by group. */
struct pair_span {
    uint32_t low, high;
    uint64_t calls;
};

static bool find_pair_spans(const struct hs_reporting *r, struct pair_span *spans)
{
    const struct hs_alignment *al = &r->j->al;
    bool any = false;

    for (uint32_t g = 0; g < al->group_count; g++)
        any |= al->groups[g].has_pairs;
    for (uint32_t s = 0; any && s < al->seat_count; s++) {
        for (uint32_t i = 0; i < hs_seat_dump(al, s)->operation_count; i++) {
            struct hs_slot slot = hs_slot_of(r, s, i);
            struct pair_span *span = &spans[slot.plane->group];

            if (slot.plane->kind != HS_MATRIX_PAIRS || !slot.number)
                continue;
            span->low = span->calls++ && span->low < slot.number ? span->low : slot.number;
            span->high = span->high > slot.number ? span->high : slot.number;
        }
    }
    return any;
}

static void span_groups(struct hs_reporting *r, const struct pair_span *pairs)
{
    const struct hs_alignment *al = &r->j->al;

    for (uint32_t g = 0; g < al->group_count; g++) {
        const struct hs_group *group = &al->groups[g];
        uint32_t low = UINT32_MAX, high = 0;
        uint64_t calls = 0;

        for (uint32_t i = 0; i < group->size; i++) {
            const struct hs_position *p =
                group->positions[i] == HS_NO_ID ? NULL : &al->positions[group->positions[i]];

            if (!p || !p->first_recorded)
                continue;
            low = p->first_recorded < low ? p->first_recorded : low;
            high = p->last_recorded > high ? p->last_recorded : high;
            calls += p->calls;
        }
        set_span(r, hs_plane_of(r, g, HS_MATRIX_COLLECTIVES), low, high, calls, group->size);
        set_span(r, hs_plane_of(r, g, HS_MATRIX_PAIRS), pairs[g].low, pairs[g].high, pairs[g].calls,
                 group->size);
    }
}

/* Records of processes that run the same program have the same numbers; else the order counts. */
static void span_overall(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;
    struct hs_plane *plane = hs_plane_overall(r);
    uint32_t low = UINT32_MAX, high = 0, most = 0;
    uint64_t calls = 0;

    for (uint32_t s = 0; s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);
        uint32_t count = dump->operation_count;

        if (count == 0)
            continue;
        low = dump->operations[0].record < low ? dump->operations[0].record : low;
        high =
            dump->operations[count - 1].record > high ? dump->operations[count - 1].record : high;
        most = count > most ? count : most;
        calls += count;
    }
    r->by_index = calls && (high < low || high - low > SLACK + 2 * (uint64_t)most);
    if (r->by_index)
        set_span(r, plane, 1, most, calls, al->seat_count);
    else if (calls)
        set_span(r, plane, low + 1, high + 1, calls, al->seat_count);
}

static bool make_planes(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;
    uint32_t count = 2 * al->group_count + 1;
    struct pair_span *pairs = HS_NEW(&r->scratch, struct pair_span, al->group_count);
    size_t total = 0;

    r->planes = HS_NEW(&r->scratch, struct hs_plane, count);
    if (!r->planes || !pairs)
        return false;
    for (uint32_t i = 0; i < count; i++)
        r->planes[i] = (struct hs_plane){ .group = i / 2, .kind = i % 2, .matrix = HS_NO_ID };
    r->planes[count - 1].group = HS_NO_ID;
    r->planes[count - 1].kind = HS_MATRIX_OVERALL;
    (void)find_pair_spans(r, pairs);
    span_groups(r, pairs);
    span_overall(r);
    for (uint32_t i = 0; i < count; i++) {
        r->planes[i].first = total;
        total += r->planes[i].span;
    }
    r->dense = HS_NEW(&r->scratch, struct hs_dense_column, total);
    r->last_number = HS_NEW(&r->scratch, uint32_t, 2 * (size_t)al->position_count);
    return r->dense && r->last_number;
}

/* ---- who made which ---- */

static void vote(const struct hs_reporting *r, struct hs_dense_column *column, uint32_t signature)
{
    if (column->votes == 0)
        column->signature = signature;
    if (column->votes == 0 || r->canon[column->signature] == r->canon[signature])
        column->votes++;
    else
        column->votes--;
    column->members++;
}

static void note_time(struct hs_dense_column *column, uint32_t seat, int64_t made_ns)
{
    if (!made_ns)
        return;
    if (!column->first_ns || made_ns < column->first_ns)
        column->first_ns = made_ns;
    if (made_ns > column->last_ns) {
        column->last_ns = made_ns;
        column->last_seat = seat;
    }
}

static void note_call(struct hs_reporting *r, uint32_t seat, uint32_t i)
{
    const struct hs_alignment *al = &r->j->al;
    const struct hs_operation *op = &hs_seat_dump(al, seat)->operations[i];
    struct hs_slot slot = hs_slot_of(r, seat, i);
    const struct hs_plane *all = hs_plane_overall(r);
    struct hs_dense_column *column = hs_dense_of(r, slot.plane, slot.number);
    struct hs_dense_column *overall = hs_dense_of(r, all, (r->by_index ? i : op->record) + 1);
    uint32_t *last = hs_last_number(r, hs_op_position(al, seat, i), slot.plane);

    if (overall)
        vote(r, overall, op->signature);
    if (!column || !slot.number || *last == slot.number)
        return; /* one more entry of a batch */
    *last = slot.number;
    vote(r, column, op->signature);
    if (slot.plane->kind == HS_MATRIX_COLLECTIVES)
        note_time(column, seat, hs_made_ns(r, seat, op->created_ns));
}

/* ---- numbers in use become columns; equal columns are one set ---- */

static bool number_columns(struct hs_reporting *r, struct hs_plane *plane)
{
    struct hs_dense_column *dense = &r->dense[plane->first];
    bool signatures = plane->kind != HS_MATRIX_PAIRS;
    uint32_t *set;

    for (uint32_t k = 0; k < plane->span; k++)
        plane->columns += dense[k].members != 0;
    if (!plane->columns)
        return true;
    set = HS_NEW(&r->scratch, uint32_t, 2 * (size_t)plane->columns);
    for (uint32_t k = 0, c = 0; set && k < plane->span; k++) {
        dense[k].column = HS_NO_ID;
        if (dense[k].members == 0)
            continue;
        dense[k].column = c;
        set[c] = plane->low + k - (plane->kind == HS_MATRIX_OVERALL);
        set[plane->columns + c++] =
            signatures && dense[k].votes ? hs_report_signature(r, dense[k].signature) : HS_NO_ID;
    }
    plane->numbers = set;
    if (set)
        plane->column_set = hs_intern_put(
            &r->out->column_sets,
            (struct hs_str){ (const char *)set, 2 * (size_t)plane->columns * sizeof(*set) });
    return set && plane->column_set != HS_NO_ID;
}

bool hs_report_columns(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;

    if (!make_planes(r))
        return false;
    for (uint32_t s = 0; s < al->seat_count; s++) {
        for (uint32_t i = 0; i < hs_seat_dump(al, s)->operation_count; i++)
            note_call(r, s, i);
    }
    for (uint32_t i = 0; i <= 2 * al->group_count; i++) {
        if (!number_columns(r, &r->planes[i]))
            return false;
    }
    return true;
}
