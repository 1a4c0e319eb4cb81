/*
 * identity_ranks.c - every body gets the rank that its best witness gives it.
 *
 * Kinds of witnesses are heard one after another, the best first. A kind that may be about another
 * number - a launcher's, a file's, a task's - is heard only if it never differs from a better one,
 * and if it does not give one rank to many processes at once.
 */
#include "analyzer/identity_internal.h"

#include "base/limits.h"

#include <stdlib.h>

bool hs_contradiction_put(struct hs_inquiry *q, const struct hs_contradiction *row)
{
    struct hs_identity *id = q->id;

    if (id->contradiction_count == HS_DIAGNOSTICS_MAX)
        return true;
    if (!HS_GROW(id->contradictions, q->contradiction_cap, id->contradiction_count + 1u))
        return false;
    id->contradictions[id->contradiction_count++] = *row;
    return true;
}

static bool contradict(struct hs_inquiry *q, const char *what, const struct hs_witness *w)
{
    uint32_t root = hs_body_root(q, w->body);
    const struct hs_body *b = &q->bodies[root];
    struct hs_contradiction row = { .what = what,
                                    .process = root, /* a body as long as there is no process */
                                    .rank = b->rank,
                                    .other = w->rank,
                                    .known = b->known,
                                    .by = w->known,
                                    .source = w->source,
                                    .line = w->line };

    return hs_contradiction_put(q, &row);
}

/* ---- who is not believed ---- */

static bool can_be_about_another_number(enum hs_known known)
{
    return known == HS_KNOWN_LAUNCHER || known == HS_KNOWN_WORLD || known == HS_KNOWN_NODE ||
           known == HS_KNOWN_FILE || known == HS_KNOWN_BARE || known == HS_KNOWN_TASK;
}

/* A pid that a kind of witness gives a rank to. */
struct holder {
    uint32_t attempt, rank, body;
};

static int by_holder(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;

    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->body > y->body) - (x->body < y->body);
}

/* Most of the ranks are given to several processes each: it is the number of a node. */
static bool many_hold_one(struct hs_inquiry *q, enum hs_known known, bool *out)
{
    struct holder *h = HS_NEW(&q->scratch, struct holder, q->witness_count);
    uint32_t count = 0, ranks = 0, shared = 0;

    if (!h)
        return false;
    for (uint32_t i = 0; i < q->witness_count; i++) {
        const struct hs_witness *w = &q->witnesses[i];
        uint32_t root = hs_body_root(q, w->body);

        if (w->known == known && q->bodies[root].kind == HS_BODY_PID)
            h[count++] = (struct holder){ q->bodies[root].attempt, w->rank, root };
    }
    qsort(h, count, sizeof(*h), by_holder);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1;
             next < count && h[next].attempt == h[i].attempt && h[next].rank == h[i].rank;)
            next++;
        ranks++;
        shared += h[next - 1].body != h[i].body;
    }
    *out = 2 * (uint64_t)shared > ranks;
    return true;
}

static bool is_distrusted(struct hs_inquiry *q, enum hs_known known, bool *out)
{
    *out = false;
    if (!can_be_about_another_number(known))
        return true;
    for (uint32_t i = 0; i < q->witness_count; i++) {
        const struct hs_witness *w = &q->witnesses[i];
        const struct hs_body *b = &q->bodies[hs_body_root(q, w->body)];

        if (w->known == known && b->known > known && b->rank != w->rank) {
            *out = true;
            return contradict(q, "distrusted", w);
        }
    }
    return known == HS_KNOWN_WORLD || known == HS_KNOWN_NODE || many_hold_one(q, known, out);
}

/* ---- hearing one kind ---- */

/* Local ranks repeat from node to node, and where a host has two launchers; tasks from step to
 * step. */
static bool may_be_several(const struct hs_body *b)
{
    return b->kind == HS_BODY_LOCAL || b->kind == HS_BODY_LOCAL_HERE || b->kind == HS_BODY_TASK ||
           b->ambiguous;
}

static bool hear(struct hs_inquiry *q, const struct hs_witness *w)
{
    struct hs_body *b = &q->bodies[hs_body_root(q, w->body)];

    if (b->two_ranks || (b->known && b->rank == w->rank))
        return true;
    if (b->known > w->known)
        return contradict(q, "two-witnesses", w);
    if (b->known == HS_KNOWN_NOT) {
        b->rank = w->rank;
        b->known = w->known;
        return true;
    }
    b->two_ranks = true;
    if (!may_be_several(b) && !contradict(q, "two-ranks", w))
        return false;
    b->rank = HS_NO_ID;
    b->known = HS_KNOWN_NOT;
    return true;
}

/* ---- local ranks ---- */

/* The rank of local rank 0 on a host, where all whose both ranks are known agree on it. */
struct node {
    uint32_t base; /* HS_NO_ID: unknown */
    bool differs;
};

/* By attempt and host. */
struct nodes {
    struct hs_intern keys;
    struct node *rows;
    uint32_t cap;
    bool no_memory;
};

/* The node of a body; NULL when it has none, or is not to be made. */
static struct node *node_of(struct nodes *nodes, const struct hs_body *b, bool make)
{
    uint32_t words[2] = { b->attempt, b->host }, known = nodes->keys.count, id;
    struct hs_str key = { .p = (const char *)words, .n = sizeof(words) };

    if (b->attempt == HS_NO_ID || b->host == HS_NO_ID || b->two_hosts ||
        b->local_rank == HS_NO_ID || b->two_locals)
        return NULL;
    id = make ? hs_intern_put(&nodes->keys, key) : hs_intern_find(&nodes->keys, key);
    nodes->no_memory |= make && (id == HS_NO_ID || !HS_GROW(nodes->rows, nodes->cap, id + 1u));
    if (id == HS_NO_ID || nodes->no_memory)
        return NULL;
    if (nodes->keys.count > known)
        nodes->rows[id] = (struct node){ .base = HS_NO_ID };
    return &nodes->rows[id];
}

/* Every local rank that is seen has a process whose rank is known to be the same number. */
static bool locals_are_ranks(struct hs_inquiry *q, uint32_t highest_local)
{
    bool *equal = HS_NEW(&q->scratch, bool, (size_t)highest_local + 1);

    for (uint32_t i = 0; equal && i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];

        if (b->known && b->local_rank != HS_NO_ID)
            equal[b->local_rank] = true;
    }
    for (uint32_t i = 0; equal && i < q->keys.count; i++) {
        if (q->bodies[i].local_rank != HS_NO_ID && !equal[q->bodies[i].local_rank])
            return false;
    }
    return equal != NULL;
}

/* The size of the largest communicator. */
static uint32_t largest_comm(const struct hs_inquiry *q)
{
    uint32_t largest = 0;

    for (uint32_t i = 0; i < q->id->comms.count; i++) {
        uint32_t size = q->id->comms.list[i].size;

        if (size != HS_NO_ID && size > largest)
            largest = size;
    }
    return largest;
}

/*
 * A job on one node, where ranks are local ranks: nothing speaks of a second host or of a rank that
 * is no local rank, and the communicator of all, or the ranks of all local ranks, are known.
 */
static bool is_one_node(struct hs_inquiry *q)
{
    uint32_t highest_local = 0, highest = 0, host = HS_NO_ID, largest = largest_comm(q);

    for (uint32_t i = 0; i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];
        bool local = b->local_rank != HS_NO_ID && !b->two_locals;

        if (local && b->local_rank > highest_local)
            highest_local = b->local_rank;
        if (b->known && b->rank > highest)
            highest = b->rank;
        if ((b->known && local && b->rank != b->local_rank) ||
            (b->host != HS_NO_ID && host != HS_NO_ID && host != b->host))
            return false;
        host = b->host == HS_NO_ID ? host : b->host;
    }
    if (highest_local == 0 || highest_local > HS_RANK_MAX || highest > highest_local ||
        largest > highest_local + 1)
        return false;
    return largest == highest_local + 1 || locals_are_ranks(q, highest_local);
}

static bool put_node_witness(struct hs_inquiry *q, uint32_t body, uint64_t rank)
{
    const struct hs_body *b = &q->bodies[body];
    struct hs_witness w = { .body = body,
                            .rank = (uint32_t)rank,
                            .known = HS_KNOWN_NODE,
                            .source = b->source,
                            .line = b->line };

    return rank > HS_RANK_MAX || hs_witness_put(q, &w);
}

/* Where local rank 0 of each node is, by bodies whose both ranks are known. */
static void find_bases(const struct hs_inquiry *q, struct nodes *nodes)
{
    for (uint32_t i = 0; i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];
        struct node *n = b->known && b->rank >= b->local_rank ? node_of(nodes, b, true) : NULL;

        if (!n)
            continue;
        n->differs = n->differs || (n->base != HS_NO_ID && n->base != b->rank - b->local_rank);
        n->base = b->rank - b->local_rank;
    }
}

static bool hear_bodies(struct hs_inquiry *q, struct nodes *nodes)
{
    bool one_node = is_one_node(q);

    for (uint32_t i = 0; i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];
        const struct node *n = node_of(nodes, b, false);
        uint64_t base = n ? n->base : 0;

        if (b->same_as != i || b->known || b->local_rank == HS_NO_ID ||
            (n ? n->differs : !one_node || b->host != HS_NO_ID))
            continue;
        if (!put_node_witness(q, i, base + b->local_rank))
            return false;
    }
    return true;
}

static bool hear_nodes(struct hs_inquiry *q)
{
    struct nodes nodes = { .rows = NULL };
    bool ok;

    hs_intern_init(&nodes.keys);
    find_bases(q, &nodes);
    ok = !nodes.no_memory && hear_bodies(q, &nodes);
    hs_intern_release(&nodes.keys);
    free(nodes.rows);
    return ok;
}

/* What a body that is another one knows of itself belongs to that. */
static void gather_bodies(struct hs_inquiry *q)
{
    for (uint32_t i = 0; i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];
        struct hs_body *root = &q->bodies[b->same_as];

        if (root == b)
            continue;
        root->lines += b->lines;
        root->speaks = root->speaks || b->speaks;
        if (root->local_rank == HS_NO_ID)
            root->local_rank = b->local_rank;
        if (b->source < root->source || (b->source == root->source && b->line < root->line)) {
            root->source = b->source;
            root->line = b->line;
        }
    }
}

bool hs_identity_find_ranks(struct hs_inquiry *q)
{
    gather_bodies(q);
    for (uint32_t known = HS_KNOWN_TAG; known > HS_KNOWN_NOT; known--) {
        bool distrusted;

        if (known == HS_KNOWN_NODE && !hear_nodes(q))
            return false;
        if (!is_distrusted(q, (enum hs_known)known, &distrusted))
            return false;
        for (uint32_t i = 0; !distrusted && i < q->witness_count; i++) {
            if (q->witnesses[i].known == known && !hear(q, &q->witnesses[i]))
                return false;
        }
    }
    return true;
}
