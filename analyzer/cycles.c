/*
 * cycles.c - ranks that wait for each other, and which of them to name.
 *
 * An operation waits for all of its holders, so ranks that wait for each other never get on. Named
 * is the rank whose removal alone breaks the circle; if several would, the one whose order of calls
 * differs from that of its fellow members; if that decides nothing, the smallest cycle.
 */
#include "analyzer/waits.h"

#include "base/ranks.h"

#include <stdlib.h>

/* Tarjan's strongly connected components over seats and nodes, without recursion. */
struct tarjan {
    const struct hs_waits *w;
    uint32_t *index, *low, *edge; /* by vertex: seats, then nodes; index 0: not visited */
    uint32_t *stack, *path;
    uint32_t *component; /* by vertex; HS_NO_ID: none yet */
    bool *on_stack;
    uint32_t next_index, stacked, components;
};

enum { DEAD_END = 0xfffffffe };

/* The `k`-th vertex that `v` waits for; HS_NO_ID when there are no more. */
static uint32_t edge_of(const struct hs_waits *w, uint32_t v, uint32_t k)
{
    uint32_t seats = w->al->seat_count;
    const struct hs_node *node;

    if (v < seats)
        return k == 0 && w->node_of_seat[v] != HS_NO_ID ? seats + w->node_of_seat[v] : HS_NO_ID;
    node = &w->nodes[v - seats];
    if (k >= node->holder_count)
        return HS_NO_ID;
    k = w->holders[node->first_holder + k].who;
    return k < seats ? k : DEAD_END; /* an unseen rank */
}

static void enter(struct tarjan *t, uint32_t v, uint32_t depth)
{
    t->index[v] = t->low[v] = ++t->next_index;
    t->stack[t->stacked++] = v;
    t->on_stack[v] = true;
    t->path[depth] = v;
}

static void leave(struct tarjan *t, uint32_t v)
{
    uint32_t top;

    if (t->low[v] != t->index[v])
        return;
    do {
        top = t->stack[--t->stacked];
        t->on_stack[top] = false;
        t->component[top] = t->components;
    } while (top != v);
    t->components++;
}

static void visit(struct tarjan *t, uint32_t root)
{
    uint32_t depth = 0;

    enter(t, root, depth++);
    while (depth > 0) {
        uint32_t v = t->path[depth - 1], to = edge_of(t->w, v, t->edge[v]++);

        if (to == HS_NO_ID) {
            leave(t, v);
            depth--;
            if (depth > 0 && t->low[v] < t->low[t->path[depth - 1]])
                t->low[t->path[depth - 1]] = t->low[v];
        } else if (to == DEAD_END) {
            continue;
        } else if (!t->index[to]) {
            enter(t, to, depth++);
        } else if (t->on_stack[to] && t->index[to] < t->low[v]) {
            t->low[v] = t->index[to];
        }
    }
}

/* Let go all who wait in node `n`: they hold nobody up any more. */
static uint32_t free_waiters(const struct hs_waits *w, uint32_t n, uint32_t *queue, uint32_t used)
{
    const struct hs_node *node = &w->nodes[n];

    for (uint32_t i = 0; i < node->waiter_count; i++)
        queue[used++] = w->waiters[node->first_waiter + i];
    return used;
}

/* Whether the seats of component `id`, without `removed`, still hold a circle (Kahn's algorithm: a
 * node that nobody of the component holds lets its waiters go). */
static bool still_circular(const struct hs_waits *w, const uint32_t *component, uint32_t id,
                           uint32_t removed, struct hs_arena *scratch)
{
    uint32_t seats = w->al->seat_count, used = 0, left = 0;
    uint32_t *blocked = HS_NEW(scratch, uint32_t, w->node_count); /* holders within */
    uint32_t *queue = HS_NEW(scratch, uint32_t, seats);

    if (!blocked || !queue)
        return true;
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct hs_node *node = &w->nodes[n];

        if (component[seats + n] != id)
            continue;
        left++;
        for (uint32_t i = 0; i < node->holder_count; i++) {
            uint32_t who = w->holders[node->first_holder + i].who;

            blocked[n] += who < seats && who != removed && component[who] == id;
        }
        if (!blocked[n]) {
            left--;
            used = free_waiters(w, n, queue, used);
        }
    }
    for (uint32_t at = 0; at < used; at++) {
        uint32_t seat = queue[at];

        for (uint32_t i = w->held_first[seat]; i < w->held_first[seat + 1]; i++) {
            uint32_t n = w->held[i];

            if (seat != removed && component[seat] == id && component[seats + n] == id &&
                blocked[n] && --blocked[n] == 0) {
                left--;
                used = free_waiters(w, n, queue, used);
            }
        }
    }
    return left > 0;
}

/* The shortest way from `from` back to itself within its component, as seats; its length. */
static uint32_t shortest_cycle(const struct hs_waits *w, const uint32_t *component, uint32_t from,
                               uint32_t *out, struct hs_arena *scratch)
{
    uint32_t seats = w->al->seat_count, used = 0, length = 0;
    uint32_t *queue = HS_NEW(scratch, uint32_t, seats);
    uint32_t *came_from = HS_NEW(scratch, uint32_t, seats);

    if (!queue || !came_from)
        return 0;
    memset(came_from, 0xff, seats * sizeof(*came_from));
    queue[used++] = from;
    for (uint32_t at = 0; at < used; at++) {
        const struct hs_node *node = &w->nodes[w->node_of_seat[queue[at]]];

        for (uint32_t i = 0; i < node->holder_count; i++) {
            uint32_t who = w->holders[node->first_holder + i].who;

            if (who >= seats || component[who] != component[from] || came_from[who] != HS_NO_ID)
                continue;
            came_from[who] = queue[at];
            if (who == from)
                break;
            queue[used++] = who;
        }
        if (came_from[from] != HS_NO_ID)
            break;
    }
    if (came_from[from] == HS_NO_ID)
        return 0;
    for (uint32_t v = came_from[from];; v = came_from[v]) {
        out[length++] = v;
        if (v == from)
            break;
    }
    return length;
}

/* Whether, on `seat`, a call like `like` (same operation, group of the same description) stands
 * between the group's previous call and `op`. */
static bool comes_before(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                         const struct hs_unit *like)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);
    const struct hs_operation *ops = dump->operations;
    uint32_t name = hs_op_signature(al, like->seat, like->first_op)->bare;

    for (uint32_t i = op; i-- > 0 && ops[i].member != ops[op].member;) {
        const struct hs_position *p = &al->positions[hs_op_position(al, seat, i)];

        if (al->groups[p->group].desc == al->groups[like->group].desc &&
            hs_op_signature(al, seat, i)->bare == name)
            return true;
    }
    return false;
}

/* The operation of collective (group, seq) on a seat; HS_NO_ID when the ring does not hold it. */
static uint32_t op_of(const struct hs_alignment *al, const struct hs_position *p, uint32_t seq)
{
    const struct hs_dump *dump = hs_seat_dump(al, p->seat);

    for (uint32_t i = dump->operation_count; i-- > 0;) {
        if (hs_op_position(al, p->seat, i) == (uint32_t)(p - al->positions) &&
            hs_op_seq(al, p->seat, i) == seq)
            return i;
    }
    return HS_NO_ID;
}

/*
 * Two ranks wait for each other: a in P, b in Q. Fellow members of P show which of the two calls
 * comes first in the program; if most of them made Q's before P's and a did not, a is the odd one.
 */
static bool breaks_order(const struct hs_alignment *al, uint32_t a, uint32_t b)
{
    const struct hs_unit *p = &al->pending[al->seats[a].head], *q = &al->pending[al->seats[b].head];
    const struct hs_group *group = &al->groups[p->group];
    uint32_t with = 0, without = 0;

    if (p->kind != HS_UNIT_COLLECTIVE || q->kind != HS_UNIT_COLLECTIVE ||
        comes_before(al, a, p->first_op, q))
        return false;
    for (uint32_t i = 0; i < group->size; i++) {
        const struct hs_position *at =
            group->positions[i] == HS_NO_ID ? NULL : &al->positions[group->positions[i]];
        uint32_t op = !at || at->seat == a || at->seat == b ? HS_NO_ID : op_of(al, at, p->seq);

        if (op != HS_NO_ID && comes_before(al, at->seat, op, q))
            with++;
        else if (op != HS_NO_ID)
            without++;
    }
    return with > without;
}

static bool single_out(struct hs_waits *w, struct hs_cycle *c, const uint32_t *component,
                       uint32_t *smallest, uint32_t length)
{
    uint32_t id = component[c->seats[0]], found = 0;
    struct hs_arena scratch;

    hs_arena_init(&scratch);
    for (uint32_t i = 0; i < length; i++) { /* whoever breaks every circle is on this one */
        if (!still_circular(w, component, id, smallest[i], &scratch))
            c->odd[found++] = smallest[i];
        hs_arena_reset(&scratch);
    }
    hs_arena_release(&scratch);
    if (found == 2) {
        bool first = breaks_order(w->al, c->odd[0], c->odd[1]);
        bool second = breaks_order(w->al, c->odd[1], c->odd[0]);

        if (first != second) {
            c->odd[0] = first ? c->odd[0] : c->odd[1];
            found = 1;
        }
    }
    c->odd_count = found;
    return found == 1;
}

/* The smallest cycle through any of the first seats of the component. */
static uint32_t smallest_cycle(struct hs_waits *w, const struct hs_cycle *c,
                               const uint32_t *component, uint32_t *best)
{
    enum { TRIED = 64 };
    uint32_t best_length = 0;
    uint32_t *path = HS_NEW(&w->arena, uint32_t, w->al->seat_count);
    struct hs_arena scratch;

    hs_arena_init(&scratch);
    for (uint32_t i = 0; path && i < c->count && i < TRIED; i++) {
        uint32_t length = shortest_cycle(w, component, c->seats[i], path, &scratch);

        if (length && (!best_length || length < best_length)) {
            best_length = length;
            memcpy(best, path, length * sizeof(*path));
        }
        hs_arena_reset(&scratch);
    }
    hs_arena_release(&scratch);
    return best_length;
}

static void describe_edges(const struct hs_waits *w, struct hs_cycle *c, const uint32_t *component)
{
    uint32_t id = component[c->seats[0]], first_group = HS_NO_ID;

    c->groups = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hs_node *node = &w->nodes[w->node_of_seat[c->seats[i]]];

        if (c->groups == 0 || (c->groups == 1 && node->group != first_group))
            c->groups++;
        first_group = first_group == HS_NO_ID ? node->group : first_group;
        for (uint32_t k = 0; k < node->holder_count; k++) {
            const struct hs_holder *h = &w->holders[node->first_holder + k];

            c->by_absence |= h->how == HS_HOLDS_ABSENT && component[h->who] == id;
        }
    }
}

/* A component is a cycle if two or more of its seats wait and no chain leaves it for another seat.
 */
static bool add_cycle(struct hs_waits *w, const uint32_t *component, uint32_t id)
{
    uint32_t seats = w->al->seat_count, count = 0, length;
    struct hs_cycle c = { .count = 0 };
    uint32_t *smallest = HS_NEW(&w->arena, uint32_t, seats);

    for (uint32_t s = 0; s < seats; s++)
        count += component[s] == id;
    c.seats = HS_NEW(&w->arena, uint32_t, count);
    c.odd = HS_NEW(&w->arena, uint32_t, count);
    if (!c.seats || !c.odd || !smallest)
        return false;
    for (uint32_t s = 0; s < seats; s++) {
        if (component[s] == id)
            c.seats[c.count++] = s;
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct hs_node *node = &w->nodes[n];

        for (uint32_t i = 0; component[seats + n] == id && i < node->holder_count; i++) {
            uint32_t who = w->holders[node->first_holder + i].who;

            if (who < seats && component[who] != id)
                return true; /* it drains elsewhere */
        }
    }
    length = smallest_cycle(w, &c, component, smallest);
    c.singled_out = single_out(w, &c, component, smallest, length);
    if (!c.singled_out) {
        memcpy(c.odd, smallest, length * sizeof(*smallest));
        c.odd_count = length;
        qsort(c.odd, length, sizeof(*c.odd), hs_compare_u32);
    }
    describe_edges(w, &c, component);
    w->cycles[w->cycle_count++] = c;
    return true;
}

enum hs_status hs_waits_find_cycles(struct hs_waits *w, struct hs_err *err)
{
    uint32_t seats = w->al->seat_count, vertices = seats + w->node_count;
    struct tarjan t = { .w = w };
    uint32_t *size;
    bool ok;

    t.index = HS_NEW(&w->arena, uint32_t, vertices);
    t.low = HS_NEW(&w->arena, uint32_t, vertices);
    t.edge = HS_NEW(&w->arena, uint32_t, vertices);
    t.stack = HS_NEW(&w->arena, uint32_t, vertices);
    t.path = HS_NEW(&w->arena, uint32_t, vertices);
    t.component = HS_NEW(&w->arena, uint32_t, vertices);
    t.on_stack = HS_NEW(&w->arena, bool, vertices);
    ok = t.index && t.low && t.edge && t.stack && t.path && t.component && t.on_stack;
    for (uint32_t v = 0; ok && v < vertices; v++) {
        if (!t.index[v])
            visit(&t, v);
    }
    size = ok ? HS_NEW(&w->arena, uint32_t, t.components) : NULL;
    w->cycles = ok ? HS_NEW(&w->arena, struct hs_cycle, t.components) : NULL;
    if (!size || !w->cycles)
        return hs_no_memory(err);
    for (uint32_t s = 0; s < seats; s++)
        size[t.component[s]]++;
    for (uint32_t c = 0; c < t.components; c++) {
        if (size[c] > 1 && !add_cycle(w, t.component, c))
            return hs_no_memory(err);
    }
    return HS_OK;
}
