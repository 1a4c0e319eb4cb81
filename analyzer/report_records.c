/* report_records.c - calls told exactly: of the verdict's ranks, and of one rank of each class. */
#include "analyzer/report_internal.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

enum { CULPRITS = 16 };

/* Rows of the ranks to tell, sorted. */
static uint32_t *choose(struct hs_reporting *r, uint32_t *count)
{
    const struct hs_report *out = r->out;
    uint32_t wanted = r->wanted ? r->wanted->rank_count : out->class_count, unique = 0;
    uint32_t *rows = HS_NEW(&r->scratch, uint32_t, CULPRITS + (size_t)wanted), n = 0;

    if (!rows)
        return NULL;
    for (uint32_t i = 0; i < out->rank_count && n < CULPRITS; i++) {
        if (out->ranks[i].role == HS_ROLE_CULPRIT)
            rows[n++] = i;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t row =
            r->wanted ? hs_report_row(out, r->wanted->ranks[i]) : out->classes[i].example;

        if (row != HS_NO_ID)
            rows[n++] = row;
    }
    if (n)
        qsort(rows, n, sizeof(*rows), hs_compare_u32);
    for (uint32_t i = 0; i < n; i++) {
        bool has_dump = out->ranks[rows[i]].flags & HS_REPORT_DUMP;

        if (has_dump && (unique == 0 || rows[unique - 1] != rows[i]))
            rows[unique++] = rows[i];
    }
    *count = unique;
    return rows;
}

/* By call: whether it begins, ends or lies in a unit that has not finished. */
static uint8_t *open_calls(struct hs_reporting *r, uint32_t seat, struct hs_arena *arena)
{
    const struct hs_alignment *al = &r->j->al;
    const struct hs_seat *s = &al->seats[seat];
    uint8_t *open = HS_NEW(arena, uint8_t, hs_seat_dump(al, seat)->operation_count);

    for (uint32_t k = 0; open && k < s->pending_count; k++) {
        const struct hs_unit *u = &al->pending[s->first_pending + k];

        if (u->finished)
            continue;
        open[u->first_op] = open[u->last_op] = 1;
        for (uint32_t e = 0; u->kind != HS_UNIT_COLLECTIVE && e < u->exchange_count; e++)
            open[al->exchanges[u->first_exchange + e].op] = 1;
    }
    return open;
}

static bool put_rank(struct hs_reporting *r, uint32_t row, struct hs_arena *arena)
{
    const struct hs_alignment *al = &r->j->al;
    uint32_t seat = hs_seat_of_rank(al, r->out->ranks[row].rank);
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    const uint8_t *open = open_calls(r, seat, arena);

    if (!open)
        return false;
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        const struct hs_operation *op = &dump->operations[i];
        uint8_t state = hs_recorded_state(op);
        uint32_t group = al->positions[hs_op_position(al, seat, i)].group;
        uint32_t seq = hs_op_seq(al, seat, i);

        if (!open[i])
            state = HS_CELL_COMPLETED;
        else if (group == r->hung_group && seq == r->hung_seq && !op->p2p_seq)
            state = HS_CELL_HUNG;
        else if (state == HS_CELL_COMPLETED)
            state = HS_CELL_MADE;
        r->out->records[r->out->record_count++] = (struct hs_report_record){
            .rank = row,
            .group = group,
            .record = op->record,
            .seq = seq ? seq : HS_NO_ID,
            .p2p = op->p2p_seq ? op->p2p_seq : HS_NO_ID,
            .signature = hs_report_signature(r, op->signature),
            .stack = hs_report_stack(r, op->stack),
            .lasted_us = op->finished_us,
            .state = state,
            .created_ns = hs_made_ns(r, seat, op->created_ns),
            .duration_ms = op->duration_ms,
        };
    }
    return true;
}

bool hs_report_records(struct hs_reporting *r)
{
    uint32_t count = 0;
    const uint32_t *rows = choose(r, &count);
    struct hs_report *out = r->out;
    struct hs_arena arena;
    uint64_t total = 0;
    bool ok = rows != NULL;

    for (uint32_t i = 0; ok && i < count; i++)
        total += out->ranks[rows[i]].calls;
    if (total > HS_REPORT_RECORDS_MAX)
        total = HS_REPORT_RECORDS_MAX;
    out->records = HS_NEW(&out->arena, struct hs_report_record, (size_t)total);
    out->record_ranks = HS_NEW(&out->arena, uint32_t, count);
    if (!ok || !out->records || !out->record_ranks)
        return false;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (out->record_count + (uint64_t)out->ranks[rows[i]].calls > total) {
            out->records_left += out->ranks[rows[i]].calls;
            continue;
        }
        hs_arena_init(&arena);
        ok = put_rank(r, rows[i], &arena);
        hs_arena_release(&arena);
        out->record_ranks[out->record_rank_count++] = rows[i];
    }
    return ok;
}
