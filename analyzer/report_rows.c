/*
 * report_rows.c - the rows of the matrices: what each rank did with each call, and how late it
 * came.
 *
 * Rows are made seat by seat and interned at once, so that ranks that did the same share theirs.
 * What a finished call looks like is the alignment's word: what is not among the unfinished units
 * is finished.
 */
#include "analyzer/report_internal.h"

#include "analyzer/mismatch.h"
#include "base/limits.h"

#include <stdlib.h>

enum { TAIL_COLUMNS = 64, TAIL_COLUMNS_MIN = 4 };

/* The rows of one seat being made. */
struct seat_rows {
    struct hs_reporting *r;
    uint32_t seat;
    uint8_t *cells; /* of all its planes, one after the other; the last is overall */
    size_t cell_cap;
    size_t *at; /* by plane of the seat (position in its list, kind): first cell */
    size_t overall_at;
    uint32_t *tail;
    size_t tail_cap;
    uint32_t *list_of_position; /* by position: its index in the seat's list */
    int64_t late_sum;
    uint32_t late_count;
};

uint8_t hs_recorded_state(const struct hs_operation *op)
{
    static const uint8_t states[] = { [HS_STATE_UNKNOWN] = HS_CELL_MADE,
                                      [HS_STATE_SCHEDULED] = HS_CELL_SCHEDULED,
                                      [HS_STATE_STARTED] = HS_CELL_STARTED,
                                      [HS_STATE_COMPLETED] = HS_CELL_COMPLETED };

    return states[op->flags & HS_OPERATION_STATE];
}

/* 10 ms, 100 ms, 1 s, 10 s, 60 s. */
static uint8_t late_step(int64_t late_ns)
{
    static const int64_t steps[] = { 10000000, 100000000, 1000000000, 10000000000, 60000000000 };
    uint8_t step = 0;

    while (step < sizeof(steps) / sizeof(steps[0]) && late_ns >= steps[step])
        step++;
    return (uint8_t)(step << HS_CELL_LATE_SHIFT);
}

static struct hs_plane *plane_of(const struct hs_reporting *r, uint32_t position, unsigned kind)
{
    return hs_plane_of(r, r->j->al.positions[position].group, (enum hs_matrix_kind)kind);
}

/* ---- before any record is looked at: what the position says of each number ---- */

/* The first call after `entered` that others of the group are blocked in; UINT32_MAX: none. */
static uint32_t next_waited(const struct hs_reporting *r, uint32_t group, uint32_t entered)
{
    uint32_t low = 0, high = r->waited_count[group];

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (r->waited[group][mid] <= entered)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->waited_count[group] ? r->waited[group][low] : UINT32_MAX;
}

static void fill_by_position(const struct hs_reporting *r, const struct hs_position *p,
                             const struct hs_plane *plane, uint8_t *cells)
{
    const struct hs_seat *seat = &r->j->al.seats[p->seat];
    uint32_t waited = next_waited(r, p->group, p->entered);

    for (uint32_t c = 0; c < plane->columns; c++) {
        uint32_t n = plane->numbers[c];

        if (n > p->entered)
            cells[c] = !p->known || seat->older ? HS_CELL_UNKNOWN
                       : n >= waited            ? HS_CELL_MISSING
                                                : HS_CELL_NONE;
        else if (n < p->first_recorded || !p->first_recorded || seat->only_active)
            cells[c] = HS_CELL_PASSED;
        else
            cells[c] = n > p->last_recorded ? HS_CELL_MADE : HS_CELL_NONE;
    }
}

/* A member without a dump entered what completion proves, and of the rest nothing is known. */
static void fill_unseen(const struct hs_group *group, const struct hs_plane *plane, uint8_t *cells)
{
    for (uint32_t c = 0; c < plane->columns; c++)
        cells[c] = plane->kind == HS_MATRIX_COLLECTIVES && !group->marks_nothing &&
                           plane->numbers[c] <= group->proved
                       ? HS_CELL_PASSED
                       : HS_CELL_UNKNOWN;
}

/* ---- records ---- */

static bool differs(const struct hs_reporting *r, const struct hs_position *p,
                    const struct hs_dense_column *column, uint32_t number, uint32_t signature)
{
    const struct hs_job *job = r->j->job;

    if (!column->votes || r->canon[column->signature] == r->canon[signature])
        return false;
    if (number == p->first_recorded && !r->j->al.seats[p->seat].from_start)
        return false; /* the ring may have lost the first entry of it */
    return !hs_same_call(job, &job->signatures[column->signature], &job->signatures[signature]);
}

static void note_lateness(struct seat_rows *w, const struct hs_plane *plane,
                          const struct hs_dense_column *column, int64_t made_ns)
{
    uint32_t size = w->r->j->al.groups[plane->group].size;

    if (column->members != size || size < 2)
        return;
    w->late_sum += made_ns - column->first_ns;
    w->late_count++;
    w->r->out->ranks[w->r->row_of_seat[w->seat]].last +=
        column->last_seat == w->seat && column->last_ns > column->first_ns;
}

static uint8_t cell_of(struct seat_rows *w, const struct hs_slot *slot,
                       const struct hs_dense_column *column, uint32_t i)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;
    const struct hs_operation *op = &hs_seat_dump(al, w->seat)->operations[i];
    const struct hs_position *p = &al->positions[hs_op_position(al, w->seat, i)];
    int64_t made_ns;

    if (slot->plane->kind != HS_MATRIX_COLLECTIVES)
        return HS_CELL_COMPLETED;
    made_ns = hs_made_ns(r, w->seat, op->created_ns);
    if (made_ns)
        note_lateness(w, slot->plane, column, made_ns);
    return (differs(r, p, column, slot->number, op->signature) ? HS_CELL_MISMATCH
                                                               : HS_CELL_COMPLETED) |
           (made_ns ? late_step(made_ns - column->first_ns) : 0);
}

static uint8_t *cells_at(const struct seat_rows *w, uint32_t position, unsigned kind)
{
    return w->cells + w->at[2 * (size_t)w->list_of_position[position] + kind];
}

static void fill_by_records(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;

    for (uint32_t i = 0; i < hs_seat_dump(al, w->seat)->operation_count; i++) {
        struct hs_slot slot = hs_slot_of(r, w->seat, i);
        struct hs_dense_column *column = hs_dense_of(r, slot.plane, slot.number);
        uint32_t position = hs_op_position(al, w->seat, i);
        uint32_t *last = hs_last_number(r, position, slot.plane);

        if (!column || !slot.number || *last == slot.number)
            continue;
        *last = slot.number;
        cells_at(w, position, slot.plane->kind)[column->column] = cell_of(w, &slot, column, i);
    }
}

/* ---- what has not finished ---- */

static bool is_hung(const struct hs_reporting *r, const struct hs_unit *u)
{
    if (u->kind == HS_UNIT_COLLECTIVE)
        return u->group == r->hung_group && u->seq == r->hung_seq;
    return r->hung_node != HS_NO_ID && r->j->waits.node_of_seat[u->seat] == r->hung_node &&
           &r->j->al.pending[r->j->al.seats[u->seat].head] == u;
}

static void fill_by_units(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;
    const struct hs_seat *seat = &al->seats[w->seat];

    for (uint32_t k = 0; k < seat->pending_count; k++) {
        const struct hs_unit *u = &al->pending[seat->first_pending + k];
        struct hs_slot slot = hs_slot_of(r, w->seat, u->first_op);
        struct hs_dense_column *column = hs_dense_of(r, slot.plane, slot.number);
        const struct hs_operation *op =
            &hs_seat_dump(al, w->seat)->operations[u->has_end ? u->last_op : u->first_op];
        uint8_t *cell, state = hs_recorded_state(op);

        if (u->finished || !column || !slot.number)
            continue;
        cell = &cells_at(w, u->position, slot.plane->kind)[column->column];
        if ((*cell & 15) == HS_CELL_MISMATCH)
            continue;
        state = is_hung(r, u)                                ? HS_CELL_HUNG
                : u->ambiguous || state == HS_CELL_COMPLETED ? HS_CELL_MADE
                                                             : state;
        *cell = (uint8_t)((*cell & 0xf0) | state);
    }
}

/* All calls of the rank in their order, with what was said of them in their groups. */
static void fill_overall(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;
    const struct hs_plane *all = hs_plane_overall(r);
    const struct hs_dump *dump = hs_seat_dump(al, w->seat);
    uint8_t *cells = w->cells + w->overall_at;

    memset(cells, HS_CELL_NONE, all->columns);
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        struct hs_slot slot = hs_slot_of(r, w->seat, i);
        const struct hs_dense_column *column = hs_dense_of(r, slot.plane, slot.number);
        const struct hs_dense_column *at =
            hs_dense_of(r, all, (r->by_index ? i : dump->operations[i].record) + 1);

        if (!at || at->column == HS_NO_ID)
            continue;
        cells[at->column] = column && slot.number ? cells_at(w, hs_op_position(al, w->seat, i),
                                                             slot.plane->kind)[column->column]
                                                  : hs_recorded_state(&dump->operations[i]);
    }
}

/* ---- one seat ---- */

static bool make_room(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    uint32_t first = r->first_position[w->seat], count = r->first_position[w->seat + 1] - first;
    size_t total = 0;

    for (uint32_t k = 0; k < count; k++) {
        w->list_of_position[r->positions[first + k]] = k;
        for (unsigned kind = 0; kind < 2; kind++) {
            w->at[2 * (size_t)k + kind] = total;
            total += plane_of(r, r->positions[first + k], kind)->columns;
        }
    }
    w->overall_at = total;
    total += hs_plane_overall(r)->columns;
    if (!w->cells || total > w->cell_cap) {
        free(w->cells);
        w->cell_cap = total;
        w->cells = malloc(total + 1);
    }
    return w->cells != NULL;
}

static struct hs_report_member *member_of(const struct hs_reporting *r,
                                          const struct hs_plane *plane, uint32_t place)
{
    return &r->out->members[r->out->matrices[plane->matrix].first_member + place];
}

static bool put_row(struct hs_reporting *r, const uint8_t *cells, const struct hs_plane *plane,
                    uint32_t rank, uint32_t place)
{
    struct hs_report_member *m = member_of(r, plane, place);

    m->rank = rank;
    m->tail = HS_NO_ID;
    m->row = hs_intern_put(&r->out->rows, (struct hs_str){ (const char *)cells, plane->columns });
    return m->row != HS_NO_ID;
}

static bool put_rows(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    uint32_t row = r->row_of_seat[w->seat];
    const struct hs_plane *all = hs_plane_overall(r);

    for (uint32_t k = r->first_position[w->seat]; k < r->first_position[w->seat + 1]; k++) {
        uint32_t position = r->positions[k];

        for (unsigned kind = 0; kind < 2; kind++) {
            const struct hs_plane *plane = plane_of(r, position, kind);

            if (plane->matrix != HS_NO_ID && r->place_of_position[position] != HS_NO_ID &&
                !put_row(r, cells_at(w, position, kind), plane, row,
                         r->place_of_position[position]))
                return false;
        }
    }
    return all->matrix == HS_NO_ID || put_row(r, w->cells + w->overall_at, all, row, w->seat);
}

static bool make_seat(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;
    struct hs_report_rank *rank = &r->out->ranks[r->row_of_seat[w->seat]];

    if (!make_room(w))
        return false;
    for (uint32_t k = r->first_position[w->seat]; k < r->first_position[w->seat + 1]; k++) {
        uint32_t position = r->positions[k];

        fill_by_position(r, &al->positions[position], plane_of(r, position, HS_MATRIX_COLLECTIVES),
                         cells_at(w, position, HS_MATRIX_COLLECTIVES));
        memset(cells_at(w, position, HS_MATRIX_PAIRS), HS_CELL_NONE,
               plane_of(r, position, HS_MATRIX_PAIRS)->columns);
    }
    w->late_sum = w->late_count = 0;
    fill_by_records(w);
    fill_by_units(w);
    fill_overall(w);
    if (w->late_count)
        rank->late_ns = w->late_sum / w->late_count;
    return put_rows(w);
}

/* ---- exact times of the last columns ---- */

static uint32_t *tail_entry(const struct seat_rows *w, const struct hs_plane *plane,
                            uint32_t column, uint32_t *tail)
{
    uint32_t count = w->r->out->matrices[plane->matrix].tail, first = plane->columns - count;

    return column < first ? NULL : tail + (column - first);
}

/* The last records of a position, from its latest back to the first column of the tail. */
static void fill_tail(struct seat_rows *w, uint32_t position, uint32_t *tail)
{
    struct hs_reporting *r = w->r;
    const struct hs_alignment *al = &r->j->al;
    const struct hs_plane *plane = plane_of(r, position, HS_MATRIX_COLLECTIVES);
    uint32_t count = r->out->matrices[plane->matrix].tail;
    const struct hs_operation *ops = hs_seat_dump(al, w->seat)->operations;

    for (uint32_t c = 0; c < count; c++) {
        tail[c] = HS_NO_ID;
        tail[count + c] = 0;
    }
    for (uint32_t i = al->positions[position].last_op + 1; i-- > 0;) {
        struct hs_slot slot;
        const struct hs_dense_column *column;
        uint32_t *entry;
        int64_t made_ns;

        if (hs_op_position(al, w->seat, i) != position)
            continue;
        slot = hs_slot_of(r, w->seat, i);
        column = slot.plane == plane ? hs_dense_of(r, plane, slot.number) : NULL;
        if (!column || !slot.number)
            continue;
        entry = tail_entry(w, plane, column->column, tail);
        if (!entry)
            break;
        made_ns = hs_made_ns(r, w->seat, ops[i].created_ns);
        if (made_ns) {
            int64_t after_us = (made_ns - column->first_ns) / 1000;

            *entry = after_us < UINT32_MAX ? (uint32_t)after_us : UINT32_MAX - 1;
        }
        entry[count] = ops[i].finished_us > entry[count] ? ops[i].finished_us : entry[count];
    }
}

static bool put_tails(struct seat_rows *w)
{
    struct hs_reporting *r = w->r;

    for (uint32_t k = r->first_position[w->seat]; k < r->first_position[w->seat + 1]; k++) {
        uint32_t position = r->positions[k], place = r->place_of_position[position];
        const struct hs_plane *plane = plane_of(r, position, HS_MATRIX_COLLECTIVES);
        uint32_t count = plane->matrix == HS_NO_ID ? 0 : r->out->matrices[plane->matrix].tail;
        struct hs_report_member *m;

        if (!count || place == HS_NO_ID || r->j->al.positions[position].last_op == HS_NO_ID)
            continue;
        m = member_of(r, plane, place);
        fill_tail(w, position, w->tail);
        m->tail =
            hs_intern_put(&r->out->tails, (struct hs_str){ (const char *)w->tail,
                                                           2 * (size_t)count * sizeof(*w->tail) });
        if (m->tail == HS_NO_ID)
            return false;
    }
    return true;
}

/* ---- matrices ---- */

static uint32_t hang_column(const struct hs_reporting *r, const struct hs_plane *plane)
{
    const struct hs_dense_column *column = NULL;

    if (plane->kind == HS_MATRIX_COLLECTIVES && plane->group == r->hung_group && r->hung_seq)
        column = hs_dense_of(r, plane, r->hung_seq);
    return column && column->members ? column->column : HS_NO_ID;
}

/* Which matrix goes before which: overall, the verdict's group, then the largest. */
struct ordered_plane {
    struct hs_plane *plane;
    uint32_t rank; /* 0: overall, 1: the verdict's, 2: others */
    uint32_t size, number;
};

static int by_weight(const void *a, const void *b)
{
    const struct ordered_plane *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static struct ordered_plane *order_planes(struct hs_reporting *r, uint32_t *count)
{
    const struct hs_alignment *al = &r->j->al;
    uint32_t planes = 2 * al->group_count + 1;
    struct ordered_plane *list = HS_NEW(&r->scratch, struct ordered_plane, planes);

    for (uint32_t i = 0; list && i < planes; i++) {
        struct hs_plane *plane = &r->planes[i];
        bool overall = plane->kind == HS_MATRIX_OVERALL;

        if (!plane->columns)
            continue;
        list[(*count)++] = (struct ordered_plane){
            .plane = plane,
            .rank = overall                         ? 0
                    : plane->group == r->hung_group ? 1
                                                    : 2,
            .size = overall ? al->seat_count : al->groups[plane->group].size,
            .number = i,
        };
    }
    if (list)
        qsort(list, *count, sizeof(*list), by_weight);
    return list;
}

static bool make_matrices(struct hs_reporting *r)
{
    uint32_t count = 0, members = 0, tails = 0;
    struct ordered_plane *list = order_planes(r, &count);
    uint64_t cells = 0;
    uint32_t tail;

    if (!list)
        return false;
    for (uint32_t i = 0; i < count; i++)
        cells += list[i].plane->kind == HS_MATRIX_COLLECTIVES ? list[i].size : 0;
    tail = cells * TAIL_COLUMNS <= HS_REPORT_TAIL_CELLS_MAX
               ? TAIL_COLUMNS
               : (uint32_t)(HS_REPORT_TAIL_CELLS_MAX / (cells ? cells : 1));
    tail = tail < TAIL_COLUMNS_MIN ? TAIL_COLUMNS_MIN : tail;
    r->out->matrices = HS_NEW(&r->out->arena, struct hs_report_matrix, count);
    for (uint32_t i = 0; r->out->matrices && i < count; i++) {
        struct hs_plane *plane = list[i].plane;
        bool timed = plane->kind == HS_MATRIX_COLLECTIVES;

        plane->matrix = i;
        r->out->matrices[i] = (struct hs_report_matrix){
            .group = plane->group,
            .kind = (uint8_t)plane->kind,
            .column_set = plane->column_set,
            .first_member = members,
            .members = list[i].size,
            .hang = hang_column(r, plane),
            .tail = !timed                  ? 0
                    : plane->columns < tail ? plane->columns
                                            : tail,
            .first_tail_column = tails,
        };
        members += list[i].size;
        tails += r->out->matrices[i].tail;
    }
    r->out->matrix_count = r->out->matrices ? count : 0;
    r->out->member_count = members;
    r->out->members = HS_NEW(&r->out->arena, struct hs_report_member, members);
    r->out->tail_column_count = tails;
    r->out->tail_columns = HS_NEW(&r->out->arena, struct hs_report_tail_column, tails);
    return r->out->matrices && r->out->members && r->out->tail_columns;
}

static void put_tail_columns(struct hs_reporting *r, const struct hs_plane *plane)
{
    const struct hs_report_matrix *m = &r->out->matrices[plane->matrix];
    uint32_t size = r->j->al.groups[plane->group].size;

    for (uint32_t c = plane->columns - m->tail; c < plane->columns; c++) {
        const struct hs_dense_column *d = hs_dense_of(r, plane, plane->numbers[c]);
        bool all = d->members == size && d->first_ns;

        r->out->tail_columns[m->first_tail_column + c - (plane->columns - m->tail)] =
            (struct hs_report_tail_column){
                .first_ns = d->first_ns,
                .late_ns = all ? d->last_ns - d->first_ns : HS_NO_DURATION,
                .last = all ? r->row_of_seat[d->last_seat] : HS_NO_ID,
            };
    }
}

/* Members of a group that left no dump. */
static bool put_unseen(struct hs_reporting *r, const struct hs_plane *plane)
{
    const struct hs_group *group = &r->j->al.groups[plane->group];
    uint8_t *cells = NULL;
    uint32_t row = HS_NO_ID;

    for (uint32_t i = 0; i < group->size; i++) {
        if (group->positions[i] != HS_NO_ID)
            continue;
        if (!cells) {
            cells = HS_NEW(&r->scratch, uint8_t, plane->columns);
            if (!cells)
                return false;
            fill_unseen(group, plane, cells);
            row = hs_intern_put(&r->out->rows,
                                (struct hs_str){ (const char *)cells, plane->columns });
            if (row == HS_NO_ID)
                return false;
        }
        *member_of(r, plane, i) = (struct hs_report_member){
            .rank = hs_report_row(r->out, group->ranks[i]), .row = row, .tail = HS_NO_ID
        };
    }
    return true;
}

static bool put_seats(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;
    struct seat_rows w = { .r = r };
    bool ok = true;

    memset(r->last_number, 0, 2 * (size_t)al->position_count * sizeof(*r->last_number));
    w.list_of_position = HS_NEW(&r->scratch, uint32_t, al->position_count);
    w.at = HS_NEW(&r->scratch, size_t, 2 * (size_t)al->position_count);
    w.tail = HS_NEW(&r->scratch, uint32_t, 2 * (size_t)TAIL_COLUMNS);
    ok = w.list_of_position && w.at && w.tail;
    for (w.seat = 0; ok && w.seat < al->seat_count; w.seat++)
        ok = make_seat(&w) && put_tails(&w);
    free(w.cells);
    return ok;
}

bool hs_report_rows(struct hs_reporting *r)
{
    if (!make_matrices(r) || !put_seats(r))
        return false;
    for (uint32_t i = 0; i < 2 * r->j->al.group_count; i++) {
        const struct hs_plane *plane = &r->planes[i];

        if (plane->matrix == HS_NO_ID)
            continue;
        if (plane->kind == HS_MATRIX_COLLECTIVES)
            put_tail_columns(r, plane);
        if (!put_unseen(r, plane))
            return false;
    }
    return true;
}
