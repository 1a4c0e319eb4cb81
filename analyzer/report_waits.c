/*
 * report_waits.c - who waits for whom, between classes of ranks: one edge for all waits of one
 * kind, however many groups they are in.
 */
#include "analyzer/report_internal.h"

#include "analyzer/words.h"
#include "base/ranks.h"

#include <stdlib.h>

enum {
    CLASSES_OF_NODE = 16, /* told of one operation, on either side */
    EDGES_OF_VERDICT = 256,
};

/* So many ranks of one class, on one side of an operation. */
struct side {
    uint32_t fold, count;
    uint8_t how;
};

struct edge_key {
    uint32_t from, to, kind, seq, canon, how;
};

struct edges {
    struct hs_reporting *r;
    struct hs_intern keys;
    struct hs_report_edge *list;
    uint32_t cap;
};

static uint32_t fold_of(const struct hs_reporting *r, uint32_t who)
{
    const struct hs_waits *w = &r->j->waits;
    uint32_t row = who < w->al->seat_count
                       ? r->row_of_seat[who]
                       : hs_report_row(r->out, w->unseen[who - w->al->seat_count]);

    return row == HS_NO_ID ? HS_NO_ID : r->out->ranks[row].fold;
}

static void add_side(struct side *sides, uint32_t *count, uint32_t fold, uint8_t how)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (sides[i].fold == fold && sides[i].how == how) {
            sides[i].count++;
            return;
        }
    }
    if (fold != HS_NO_ID && *count < CLASSES_OF_NODE)
        sides[(*count)++] = (struct side){ .fold = fold, .count = 1, .how = how };
}

/* "ALLREDUCE #41 of tensor", by the kind of group where there are several; a pair as it is. */
static struct hs_str operation_of(const struct hs_reporting *r, const struct hs_node *node,
                                  bool several)
{
    const struct hs_unit *u = &r->j->al.pending[node->unit];
    struct hs_str op;

    if (node->is_pair || !several)
        return hs_op_label(&r->j->al, u->seat, u->first_op, &r->out->arena);
    op = hs_op_name(&r->j->al, u->seat, u->first_op, &r->out->arena);
    return hs_arena_printf(&r->out->arena, "%.*s #%u of %.*s", HS_STR_ARG(op), node->seq,
                           HS_STR_ARG(r->out->kinds[r->out->groups[node->group].kind]));
}

static bool add_edge(struct edges *e, const struct hs_node *node, const struct side *from,
                     const struct side *to)
{
    struct hs_reporting *r = e->r;
    const struct hs_unit *u = &r->j->al.pending[node->unit];
    struct edge_key key = {
        .from = from->fold,
        .to = to->fold,
        .kind = r->out->groups[node->group].kind,
        .seq = node->is_pair ? 0 : node->seq,
        .canon = r->canon[hs_seat_dump(&r->j->al, u->seat)->operations[u->first_op].signature],
        .how = to->how,
    };
    uint32_t known = e->keys.count;
    uint32_t id = hs_intern_put(&e->keys, (struct hs_str){ (const char *)&key, sizeof(key) });

    if (id == HS_NO_ID || !HS_GROW(e->list, e->cap, id + 1u))
        return false;
    if (id == known)
        e->list[id] = (struct hs_report_edge){ .from = from->fold,
                                               .to = to->fold,
                                               .group = node->group,
                                               .seq = node->is_pair ? HS_NO_ID : node->seq,
                                               .operation = operation_of(r, node, false),
                                               .how = hs_holding_word((enum hs_holding)to->how) };
    e->list[id].waiters += from->count;
    e->list[id].holders += to->count;
    if (++e->list[id].operations == 2)
        e->list[id].operation = operation_of(r, node, true);
    return e->list[id].operation.p != NULL;
}

static bool add_node(struct edges *e, const struct hs_node *node)
{
    const struct hs_waits *w = &e->r->j->waits;
    struct side from[CLASSES_OF_NODE], to[CLASSES_OF_NODE];
    uint32_t froms = 0, tos = 0;

    for (uint32_t i = 0; i < node->waiter_count; i++)
        add_side(from, &froms, fold_of(e->r, w->waiters[node->first_waiter + i]), 0);
    for (uint32_t i = 0; i < node->holder_count; i++)
        add_side(to, &tos, fold_of(e->r, w->holders[node->first_holder + i].who),
                 w->holders[node->first_holder + i].how);
    for (uint32_t i = 0; i < froms; i++) {
        for (uint32_t k = 0; k < tos; k++) {
            if (!add_edge(e, node, &from[i], &to[k]))
                return false;
        }
    }
    return true;
}

/* .p NULL: it names none. */
static struct hs_str operation_of_verdict(const struct hs_verdict *v, struct hs_arena *arena)
{
    const struct hs_verdict_operation *o = &v->operation;

    if (!v->has_operation || o->seq == HS_UNKNOWN)
        return v->has_operation ? o->op : (struct hs_str){ .p = NULL };
    return hs_arena_printf(arena, "%.*s #%llu%s%.*s", HS_STR_ARG(o->op), (unsigned long long)o->seq,
                           o->group.n ? " of " : "", HS_STR_ARG(o->group));
}

static void put_edge_of_verdict(struct hs_reporting *r, uint32_t from, uint32_t to)
{
    struct hs_report *out = r->out;
    const struct hs_claim *claim = hs_winner(r->j);
    const char *how = claim && claim->mismatch                     ? "mismatch"
                      : out->ranks[out->classes[to].example].flags ? "absent"
                                                                   : "unseen";

    out->edges[out->edge_count++] =
        (struct hs_report_edge){ .from = from,
                                 .to = to,
                                 .group = HS_NO_ID,
                                 .seq = HS_NO_ID,
                                 .waiters = out->classes[from].rank_count,
                                 .holders = out->classes[to].rank_count,
                                 .operations = 1,
                                 .operation = operation_of_verdict(r->v, &out->arena),
                                 .how = how };
}

/*
 * Where only lines tell, or all have come and differ: whoever waits in the verdict's operation
 * waits for the culprits. These are the first classes, and those that wait follow.
 */
static bool edges_of_verdict(struct hs_reporting *r)
{
    struct hs_report *out = r->out;

    out->edges = HS_NEW(&out->arena, struct hs_report_edge, EDGES_OF_VERDICT);
    for (uint32_t i = 0; out->edges && i < out->class_count; i++) {
        if (out->classes[i].role != HS_ROLE_DIRECT)
            continue;
        for (uint32_t k = 0; k < i && out->classes[k].role == HS_ROLE_CULPRIT; k++) {
            if (out->edge_count < EDGES_OF_VERDICT)
                put_edge_of_verdict(r, i, k);
        }
    }
    return out->edges != NULL;
}

static int by_size(const void *a, const void *b)
{
    const struct hs_report_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static bool put_edges(struct hs_reporting *r)
{
    const struct hs_waits *w = &r->j->waits;
    struct edges e = { .r = r };
    bool ok = true;

    hs_intern_init(&e.keys);
    for (uint32_t n = 0; ok && n < w->node_count; n++)
        ok = add_node(&e, &w->nodes[n]);
    r->out->edges = HS_NEW(&r->out->arena, struct hs_report_edge, e.keys.count);
    ok = ok && r->out->edges;
    if (ok && e.keys.count) {
        qsort(e.list, e.keys.count, sizeof(*e.list), by_size);
        memcpy(r->out->edges, e.list, e.keys.count * sizeof(*e.list));
        r->out->edge_count = e.keys.count;
    }
    hs_intern_release(&e.keys);
    free(e.list);
    return ok;
}

/* ---- where chains of waiting end ---- */

/* The classes of ranks, each once. */
static const uint32_t *classes_of(struct hs_reporting *r, const uint32_t *ranks, uint32_t count,
                                  uint32_t *class_count)
{
    bool *met = HS_NEW(&r->scratch, bool, r->out->class_count);
    uint32_t *list = HS_NEW(&r->out->arena, uint32_t, r->out->class_count);

    for (uint32_t i = 0; met && list && i < count; i++) {
        uint32_t row = hs_report_row(r->out, ranks[i]);
        uint32_t fold = row == HS_NO_ID ? HS_NO_ID : r->out->ranks[row].fold;

        if (fold != HS_NO_ID && !met[fold]) {
            met[fold] = true;
            list[(*class_count)++] = fold;
        }
    }
    if (list && *class_count)
        qsort(list, *class_count, sizeof(*list), hs_compare_u32);
    return met ? list : NULL;
}

/* Global ranks of a sink: of stuck operations those that are in them. */
static const uint32_t *ranks_of_sink(struct hs_reporting *r, enum hs_sink_kind kind,
                                     uint32_t *count)
{
    const struct hs_waits *w = &r->j->waits;
    const struct hs_sinks *sink = &w->sinks[kind];
    uint32_t *seats, n = 0, total = 0;

    *count = sink->count;
    if (kind == HS_SINK_UNSEEN) {
        uint32_t *ranks = HS_NEW(&r->out->arena, uint32_t, sink->count);

        if (ranks)
            memcpy(ranks, sink->who, sink->count * sizeof(*ranks));
        return ranks;
    }
    if (kind != HS_SINK_STUCK)
        return hs_ranks_of_seats(w->al, sink->who, sink->count, &r->out->arena);
    for (uint32_t i = 0; i < sink->count; i++)
        total += w->nodes[sink->who[i]].waiter_count;
    seats = HS_NEW(&r->scratch, uint32_t, total);
    for (uint32_t i = 0; seats && i < sink->count; i++) {
        const struct hs_node *node = &w->nodes[sink->who[i]];

        for (uint32_t k = 0; k < node->waiter_count; k++)
            seats[n++] = w->waiters[node->first_waiter + k];
    }
    *count = n;
    return seats ? hs_ranks_of_seats(w->al, seats, n, &r->out->arena) : NULL;
}

static bool put_roots(struct hs_reporting *r)
{
    static const char *const kinds[] = {
        [HS_SINK_STUCK] = "stuck", [HS_SINK_CYCLE] = "cycle",   [HS_SINK_STALE] = "stale",
        [HS_SINK_IDLE] = "idle",   [HS_SINK_UNSEEN] = "unseen", [HS_SINK_UNCLEAR] = "unclear",
    };
    struct hs_report *out = r->out;
    const struct hs_waits *w = &r->j->waits;

    out->roots = HS_NEW(&out->arena, struct hs_report_root, HS_SINK_KINDS);
    for (int kind = 0; out->roots && kind < HS_SINK_KINDS; kind++) {
        struct hs_report_root *root = &out->roots[out->root_count];

        if (w->sinks[kind].count == 0)
            continue;
        *root = (struct hs_report_root){ .kind = kinds[kind], .reach = w->sinks[kind].reach };
        root->ranks = ranks_of_sink(r, (enum hs_sink_kind)kind, &root->rank_count);
        root->classes = classes_of(r, root->ranks, root->rank_count, &root->class_count);
        if (!root->ranks || !root->classes)
            return false;
        if (kind == HS_SINK_STUCK)
            root->operation =
                operation_of(r, &w->nodes[w->sinks[kind].who[0]], w->sinks[kind].count > 1);
        out->root_count++;
    }
    return out->roots != NULL;
}

static bool put_cycles(struct hs_reporting *r)
{
    struct hs_report *out = r->out;
    const struct hs_waits *w = &r->j->waits;

    out->cycles = HS_NEW(&out->arena, struct hs_report_cycle, w->cycle_count);
    for (uint32_t i = 0; out->cycles && i < w->cycle_count; i++) {
        const struct hs_cycle *from = &w->cycles[i];
        struct hs_report_cycle *to = &out->cycles[out->cycle_count++];

        to->ranks = hs_ranks_of_seats(w->al, from->seats, from->count, &out->arena);
        to->rank_count = from->count;
        to->odd = hs_ranks_of_seats(w->al, from->odd, from->odd_count, &out->arena);
        to->odd_count = from->odd_count;
        to->groups = from->groups;
        to->classes = classes_of(r, to->ranks, to->rank_count, &to->class_count);
        if (!to->ranks || !to->odd || !to->classes)
            return false;
    }
    return out->cycles != NULL;
}

bool hs_report_waits(struct hs_reporting *r)
{
    bool ok = put_edges(r);

    if (ok && !r->out->edge_count)
        ok = edges_of_verdict(r);
    return ok && put_roots(r) && put_cycles(r);
}
