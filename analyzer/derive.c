/* derive.c - what the analysis found out, as rows for the database. */
#include "analyzer/telling.h"
#include "base/ranks.h"
#include "schema/derived.h"

#include <stdlib.h>

static bool put_groups(const struct hs_alignment *al, struct hs_derived *out)
{
    out->groups = HS_NEW(&out->arena, struct hs_group_row, al->group_count);
    for (uint32_t g = 0; out->groups && g < al->group_count; g++) {
        const struct hs_group *group = &al->groups[g];

        out->groups[out->group_count++] =
            (struct hs_group_row){ .label = hs_arena_copy(&out->arena, group->label),
                                   .name = group->name,
                                   .desc = group->desc,
                                   .backend = group->backend,
                                   .size = group->size,
                                   .proved = group->proved,
                                   .finished = group->finished,
                                   .has_pairs = group->has_pairs };
    }
    return out->groups != NULL;
}

static bool put_frontiers(const struct hs_alignment *al, struct hs_derived *out)
{
    out->frontiers = HS_NEW(&out->arena, struct hs_frontier_row, al->position_count);
    for (uint32_t i = 0; out->frontiers && i < al->position_count; i++) {
        const struct hs_position *p = &al->positions[i];
        const struct hs_operation *op =
            p->last_op == HS_NO_ID ? NULL : &hs_seat_dump(al, p->seat)->operations[p->last_op];

        out->frontiers[out->frontier_count++] =
            (struct hs_frontier_row){ .rank = al->seats[p->seat].rank,
                                      .group = p->group,
                                      .member = p->member,
                                      .entered = p->entered,
                                      .finished = p->finished,
                                      .calls = p->calls,
                                      .last_signature = op ? op->signature : HS_NO_ID,
                                      .last_stack = op ? op->stack : HS_NO_ID };
    }
    return out->frontiers != NULL;
}

/* Waiters times holders could be the square of a job: the first holders of each stand for all. */
enum { HOLDERS = 8 };

static void put_wait(const struct hs_waits *w, uint32_t seat, const struct hs_holder *holder,
                     struct hs_derived *out)
{
    const struct hs_alignment *al = w->al;
    const struct hs_unit *head = &al->pending[al->seats[seat].head];
    struct hs_wait_row row = {
        .rank = al->seats[seat].rank,
        .group = head->group,
        .seq = head->kind == HS_UNIT_COLLECTIVE ? head->seq : head->p2p_seq,
        .operation = (int64_t)((uint64_t)al->seats[seat].dump << 32 | head->first_op),
        .holder = HS_NO_ID,
    };

    if (holder) {
        row.how = hs_holding_word((enum hs_holding)holder->how);
        row.holder = holder->who >= al->seat_count ? w->unseen[holder->who - al->seat_count]
                                                   : al->seats[holder->who].rank;
    }
    out->waits[out->wait_count++] = row;
}

static bool put_waits(const struct hs_waits *w, struct hs_derived *out)
{
    out->waits = HS_NEW(&out->arena, struct hs_wait_row, (size_t)w->waiter_count * HOLDERS);
    for (uint32_t s = 0; out->waits && s < w->al->seat_count; s++) {
        const struct hs_node *node;

        if (w->node_of_seat[s] == HS_NO_ID)
            continue;
        node = &w->nodes[w->node_of_seat[s]];
        if (node->holder_count == 0)
            put_wait(w, s, NULL, out);
        for (uint32_t i = 0; i < node->holder_count && i < HOLDERS; i++)
            put_wait(w, s, &w->holders[node->first_holder + i], out);
    }
    return out->waits != NULL;
}

/* ---- arrivals: who made each call last ---- */

struct arrival {
    int64_t first_ns, last_ns;
    uint32_t last_rank, members;
};

/* The common stretch of each group, and where its arrivals begin. */
struct stretch {
    struct hs_window window;
    size_t first;
};

static void note_arrivals(const struct hs_alignment *al, uint32_t seat,
                          const struct stretch *stretches, struct arrival *arrivals)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);

    for (uint32_t i = 0; i < dump->operation_count; i++) {
        const struct hs_operation *op = &dump->operations[i];
        const struct stretch *s = &stretches[al->positions[hs_op_position(al, seat, i)].group];
        uint32_t seq = hs_op_seq(al, seat, i);
        struct arrival *a;

        if (seq < s->window.low || seq > s->window.high || !op->created_ns ||
            hs_op_signature(al, seat, i)->self != HS_NO_ID)
            continue;
        a = &arrivals[s->first + (seq - s->window.low)];
        if (!a->members++ || op->created_ns < a->first_ns)
            a->first_ns = op->created_ns;
        if (op->created_ns > a->last_ns) {
            a->last_ns = op->created_ns;
            a->last_rank = al->seats[seat].rank;
        }
    }
}

static void put_group_arrivals(const struct hs_alignment *al, uint32_t g, const struct stretch *s,
                               const struct arrival *arrivals, struct hs_derived *out)
{
    for (uint64_t seq = s->window.low; seq <= s->window.high; seq++) {
        const struct arrival *a = &arrivals[s->first + (seq - s->window.low)];

        if (a->members >= al->groups[g].size)
            out->arrivals[out->arrival_count++] =
                (struct hs_arrival_row){ .group = g,
                                         .seq = (uint32_t)seq,
                                         .last_rank = a->last_rank,
                                         .first_ns = a->first_ns,
                                         .late_ns = a->last_ns - a->first_ns };
    }
}

static bool put_arrivals(const struct hs_alignment *al, struct hs_derived *out)
{
    struct stretch *stretches = HS_NEW(&out->arena, struct stretch, al->group_count);
    struct arrival *arrivals;
    size_t total = 0;

    if (!stretches)
        return false;
    for (uint32_t g = 0; g < al->group_count; g++) {
        struct hs_window window = hs_common_window(al, &al->groups[g]);

        stretches[g] = (struct stretch){ .window = window, .first = total };
        total += window.high >= window.low ? (size_t)window.high - window.low + 1 : 0;
    }
    arrivals = HS_NEW(&out->arena, struct arrival, total);
    out->arrivals = HS_NEW(&out->arena, struct hs_arrival_row, total);
    if (!arrivals || !out->arrivals)
        return false;
    for (uint32_t s = 0; s < al->seat_count; s++)
        note_arrivals(al, s, stretches, arrivals);
    for (uint32_t g = 0; g < al->group_count; g++)
        put_group_arrivals(al, g, &stretches[g], arrivals, out);
    return true;
}

static bool put_mismatch(const struct hs_judged *j, struct hs_derived *out)
{
    const struct hs_claim *claim = hs_winner(j);
    const struct hs_mismatch *m = claim ? claim->mismatch : NULL;
    const struct hs_node *node = m ? &j->waits.nodes[claim->node] : NULL;

    out->mismatches = HS_NEW(&out->arena, struct hs_mismatch_row, m ? m->seen : 0);
    for (uint32_t i = 0; out->mismatches && m && i < m->side_count; i++) {
        for (uint32_t k = 0; k < m->sides[i].count; k++)
            out->mismatches[out->mismatch_count++] = (struct hs_mismatch_row){
                .group = node->group,
                .seq = node->seq,
                .rank = j->al.seats[m->sides[i].seats[k]].rank,
                .side = i,
                .signature =
                    hs_seat_dump(&j->al, m->sides[i].seat)->operations[m->sides[i].op].signature,
            };
    }
    return out->mismatches != NULL;
}

bool hs_derive(const struct hs_judged *j, struct hs_derived *out)
{
    return hs_derive_identity(j->identity, out) && hs_derive_comms(j->identity, out) &&
           hs_derive_clocks(j, out) && put_groups(&j->al, out) && put_frontiers(&j->al, out) &&
           put_waits(&j->waits, out) && put_arrivals(&j->al, out) && put_mismatch(j, out);
}

void hs_derived_release(struct hs_derived *derived)
{
    hs_arena_release(&derived->arena);
    *derived = (struct hs_derived){ .group_count = 0 };
}
