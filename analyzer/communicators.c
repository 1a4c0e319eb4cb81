#include "analyzer/communicators_internal.h"

#include <stdlib.h>

static const char *const joined_words[] = {
    [HS_COMM_ALONE] = "alone", [HS_COMM_ID] = "id",         [HS_COMM_SPLIT] = "split",
    [HS_COMM_ORDER] = "order", [HS_COMM_STRIDE] = "stride",
};

static const char *const state_words[] = {
    [HS_COMM_USED] = "used",
    [HS_COMM_STARTED] = "started",
    [HS_COMM_COMPLETE] = "complete",
    [HS_COMM_ENDED] = "ended",
};

const char *hs_comm_joined_word(enum hs_comm_joined joined)
{
    return joined_words[joined];
}

const char *hs_comm_state_word(enum hs_comm_state state)
{
    return state_words[state];
}

/* ---- the id of a child (init.cc and bitops.h of NCCL, 2.26 and later) ---- */

struct digest {
    uint64_t a, b;
};

/* Up to 8 bytes, as a little-endian number. */
static void eat(struct digest *d, uint64_t value, uint64_t bytes)
{
    d->a ^= bytes;
    d->a += d->b;
    d->b ^= d->a;
    d->a ^= d->a >> 31;
    d->a *= 0x9de62bbc8cef3ce3;
    d->b ^= d->b >> 32;
    d->b *= 0x485cd6311b599e79;
    d->a += value;
}

uint64_t hs_comm_split_id(uint64_t parent_id, int32_t count, int32_t color)
{
    struct digest d = { 1, 1 };
    uint64_t h;

    eat(&d, parent_id, 8);
    eat(&d, (uint32_t)count, 4);
    eat(&d, (uint32_t)color, 4);
    h = d.a;
    h ^= h >> 31;
    h *= 0xbac3bd562846de6b;
    h += d.b;
    h ^= h >> 32;
    return h * 0x995a187a14e7b445;
}

/* ---- what is known of each row before joining ---- */

uint32_t *hs_comm_kept(struct hs_comm_joiner *j, const uint32_t *words, size_t count)
{
    struct hs_str key = { .p = (const char *)words, .n = count * sizeof(*words) };
    uint32_t known = j->keys.count, id = hs_intern_put(&j->keys, key);

    if (id == HS_NO_ID || !HS_GROW(j->values, j->value_cap, id + 1u))
        return NULL;
    if (j->keys.count > known)
        j->values[id] = HS_KEPT_NONE;
    return &j->values[id];
}

static bool know_row(struct hs_comm_joiner *j, uint32_t row)
{
    const struct hs_communicator *c = &j->job->communicators[row];
    uint32_t owner = j->known->owner[row], *value;

    j->parent[row] = HS_NO_ID;
    j->same_as[row] = row;
    j->split[row] = c->child;
    value = HS_KEPT(j, HS_KEY_END, owner, HS_HALVES(c->pointer), c->epoch, c->rank, c->size);
    if (!value)
        return false;
    if (*value == HS_KEPT_NONE)
        *value = row + 1;
    j->same_as[row] = *value - 1;
    if (c->parent) {
        value = HS_KEPT(j, HS_KEY_POINTER, owner, c->source, HS_HALVES(c->parent));
        if (!value)
            return false;
        j->parent[row] = *value == HS_KEPT_NONE ? HS_NO_ID : j->same_as[*value - 1];
    }
    if (j->any_parent) {
        value = HS_KEPT(j, HS_KEY_POINTER, owner, c->source, HS_HALVES(c->pointer));
        if (!value)
            return false;
        *value = row + 1;
    }
    if (j->same_as[row] != row)
        return true;
    if (j->parent[row] != HS_NO_ID) {
        j->depth[row] = j->depth[j->parent[row]] + 1;
        value = HS_KEPT(j, HS_KEY_CHILDREN, j->parent[row]);
        if (!value)
            return false;
        *value = c->child == HS_NO_ID ? *value + 1 : c->child;
        j->split[row] = *value;
    }
    value = HS_KEPT(j, HS_KEY_NTH, owner, HS_HALVES(c->comm_id), c->size);
    if (!value)
        return false;
    j->nth[row] = (*value)++;
    return true;
}

/* How many processes there may be in an attempt: each needs a place in a communicator. */
static bool count_room(struct hs_comm_joiner *j, uint32_t row)
{
    uint32_t attempt = j->known->attempt[row], size = j->job->communicators[row].size;
    uint32_t *value = HS_KEPT(j, HS_KEY_OWNER, attempt, j->known->owner[row]);
    bool met = value && *value;

    if (!value)
        return false;
    *value = 1;
    value = HS_KEPT(j, HS_KEY_ROOM, attempt);
    if (!value)
        return false;
    *value += !met;
    value = HS_KEPT(j, HS_KEY_SIZE, attempt);
    if (!value)
        return false;
    if (size != HS_NO_ID && size > *value)
        *value = size;
    return true;
}

/* Rows by depth, and by number where that is equal. */
static bool order_rows(struct hs_comm_joiner *j, uint32_t count)
{
    uint32_t *first = HS_NEW(j->arena, uint32_t, (size_t)count + 2);

    if (!first)
        return false;
    for (uint32_t i = 0; i < count; i++)
        first[j->depth[i] + 1]++;
    for (uint32_t d = 1; d <= count; d++)
        first[d] += first[d - 1];
    for (uint32_t i = 0; i < count; i++)
        j->order[first[j->depth[i]]++] = i;
    return true;
}

/* ---- joining ---- */

uint32_t hs_comm_new(struct hs_comm_joiner *j, uint32_t row, enum hs_comm_joined joined)
{
    const struct hs_communicator *c = &j->job->communicators[row];

    j->out->list[j->out->count] = (struct hs_comm){ .comm_id = c->comm_id,
                                                    .size = c->size,
                                                    .attempt = j->known->attempt[row],
                                                    .joined = joined,
                                                    .parent = HS_NO_ID };
    return j->out->count++;
}

/* The row goes to the communicator of a key, made when it is met first. */
static bool join_by_key(struct hs_comm_joiner *j, uint32_t row, uint32_t *value,
                        enum hs_comm_joined joined)
{
    if (!value)
        return false;
    if (*value == HS_KEPT_NONE)
        *value = hs_comm_new(j, row, joined) + 1;
    j->out->comm_of_row[row] = *value - 1;
    return true;
}

static bool join_to_parent(struct hs_comm_joiner *j, uint32_t row, uint32_t parent)
{
    const struct hs_communicator *c = &j->job->communicators[row];
    uint32_t known = j->out->count;
    const struct hs_comm *from = &j->out->list[parent];

    if (!join_by_key(j, row,
                     HS_KEPT(j, HS_KEY_COMM, HS_COMM_SPLIT, parent, j->split[row], c->color,
                             c->size, j->nth[row]),
                     HS_COMM_SPLIT))
        return false;
    if (j->out->count > known) {
        struct hs_comm *comm = &j->out->list[known];

        comm->parent = parent;
        comm->computed = from->comm_id != 0;
        if (comm->computed)
            comm->comm_id =
                hs_comm_split_id(from->comm_id, (int32_t)j->split[row], (int32_t)c->color);
    }
    return true;
}

/* What ties a row to others; without a tie it becomes one of a class, to be looked at later. */
static bool join_row(struct hs_comm_joiner *j, uint32_t row, uint32_t *classes)
{
    const struct hs_communicator *c = &j->job->communicators[row];
    uint32_t parent = j->parent[row] == HS_NO_ID ? HS_NO_ID : j->out->comm_of_row[j->parent[row]];
    uint32_t *value;

    if (c->comm_id) {
        if (!join_by_key(
                j, row,
                HS_KEPT(j, HS_KEY_COMM, HS_COMM_ID, HS_HALVES(c->comm_id), c->size, j->nth[row]),
                HS_COMM_ID))
            return false;
        if (parent != HS_NO_ID)
            j->out->list[j->out->comm_of_row[row]].parent = parent;
        return true;
    }
    if (parent != HS_NO_ID && j->out->list[parent].joined != HS_COMM_ALONE)
        return join_to_parent(j, row, parent);
    value = HS_KEPT(j, HS_KEY_CLASS, j->known->attempt[row], c->size, j->nth[row], j->depth[row]);
    if (!value)
        return false;
    if (*value == HS_KEPT_NONE)
        *value = ++*classes;
    j->class[row] = *value;
    return true;
}

/* Rows of one depth: first what ties them, then the classes of the rest. */
static bool join_level(struct hs_comm_joiner *j, const uint32_t *rows, uint32_t count)
{
    uint32_t classes = 0, *first, *sorted;

    for (uint32_t i = 0; i < count; i++) {
        if (j->known->owner[rows[i]] != HS_NO_ID && j->same_as[rows[i]] == rows[i] &&
            !join_row(j, rows[i], &classes))
            return false;
    }
    if (classes == 0)
        return true;
    first = HS_NEW(j->arena, uint32_t, (size_t)classes + 2);
    sorted = HS_NEW(j->arena, uint32_t, count);
    if (!first || !sorted)
        return false;
    for (uint32_t i = 0; i < count; i++)
        first[j->class[rows[i]] + 1]++; /* class 0: tied already */
    for (uint32_t c = 1; c <= classes + 1; c++)
        first[c] += first[c - 1];
    for (uint32_t i = 0; i < count; i++)
        sorted[first[j->class[rows[i]]]++] = rows[i];
    for (uint32_t c = 1; c <= classes; c++) {
        struct hs_comm_class class = { .rows = sorted + first[c - 1],
                                       .count = first[c] - first[c - 1] };

        class.size = j->job->communicators[class.rows[0]].size;
        if (!hs_comm_join_class(j, &class))
            return false;
    }
    return true;
}

static bool join_all(struct hs_comm_joiner *j, uint32_t count)
{
    for (uint32_t i = 0; i < count && !j->any_parent; i++)
        j->any_parent = j->job->communicators[i].parent != 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!know_row(j, i) || (j->known->owner[i] != HS_NO_ID && !count_room(j, i)))
            return false;
    }
    if (!order_rows(j, count))
        return false;
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && j->depth[j->order[next]] == j->depth[j->order[i]];)
            next++;
        if (!join_level(j, j->order + i, next - i))
            return false;
    }
    for (uint32_t i = 0; i < count; i++)
        j->out->comm_of_row[i] = j->out->comm_of_row[j->same_as[i]];
    return true;
}

/* ---- what comes out ---- */

/* Communicators in the order of their first rows. */
static bool renumber(struct hs_comms *comms, uint32_t rows, struct hs_arena *arena)
{
    struct hs_comm *list = HS_NEW(arena, struct hs_comm, comms->count);
    uint32_t *to = HS_NEW(arena, uint32_t, comms->count), count = 0;

    if (!list || !to)
        return false;
    if (comms->count)
        memset(to, 0xff, comms->count * sizeof(*to));
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t *comm = &comms->comm_of_row[i];

        if (*comm == HS_NO_ID)
            continue;
        if (to[*comm] == HS_NO_ID) {
            to[*comm] = count;
            list[count++] = comms->list[*comm];
        }
        *comm = to[*comm];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].parent != HS_NO_ID)
            list[i].parent = to[list[i].parent];
    }
    comms->list = list;
    comms->count = count;
    return true;
}

static enum hs_comm_state state_of(const struct hs_communicator *c)
{
    if (c->end_line || c->end != HS_NO_ID)
        return HS_COMM_ENDED;
    if (c->complete_line)
        return HS_COMM_COMPLETE;
    return c->start_line ? HS_COMM_STARTED : HS_COMM_USED;
}

struct end {
    uint32_t comm;
    struct hs_comm_member member;
};

static int by_comm(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->member.rank != y->member.rank)
        return x->member.rank < y->member.rank ? -1 : 1;
    if (x->member.owner != y->member.owner)
        return x->member.owner < y->member.owner ? -1 : 1;
    return (x->member.row > y->member.row) - (x->member.row < y->member.row);
}

static void put_member(struct hs_comms *out, const struct end *end)
{
    struct hs_comm *comm = &out->list[end->comm];
    struct hs_comm_member *last = out->members + out->member_count - 1;

    if (comm->member_count == 0) {
        comm->first_member = out->member_count;
    } else if (last->rank == end->member.rank && last->owner == end->member.owner) {
        if (end->member.state > last->state)
            last->state = end->member.state;
        return;
    }
    comm->seen +=
        end->member.rank != HS_NO_ID && (comm->member_count == 0 || last->rank != end->member.rank);
    comm->member_count++;
    out->members[out->member_count++] = end->member;
}

static bool put_members(struct hs_comm_joiner *j, uint32_t rows)
{
    struct hs_comms *out = j->out;
    struct end *ends = HS_NEW(j->arena, struct end, rows);
    uint32_t count = 0;

    out->members = HS_NEW(j->arena, struct hs_comm_member, rows);
    if (!ends || !out->members)
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        const struct hs_communicator *c = &j->job->communicators[i];

        if (out->comm_of_row[i] != HS_NO_ID)
            ends[count++] = (struct end){ out->comm_of_row[i],
                                          { i, j->known->owner[i], c->rank, state_of(c) } };
    }
    qsort(ends, count, sizeof(*ends), by_comm);
    for (uint32_t i = 0; i < count; i++)
        put_member(out, &ends[i]);
    return true;
}

struct id_place {
    uint64_t id;
    uint32_t comm;
};

static int by_id(const void *a, const void *b)
{
    const struct id_place *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->comm > y->comm) - (x->comm < y->comm);
}

static bool index_ids(struct hs_comms *out, struct hs_arena *arena)
{
    struct id_place *places = HS_NEW(arena, struct id_place, out->count);

    out->by_id = HS_NEW(arena, uint32_t, out->count);
    if (!places || !out->by_id)
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->list[i].comm_id)
            places[out->with_id++] = (struct id_place){ out->list[i].comm_id, i };
    }
    qsort(places, out->with_id, sizeof(*places), by_id);
    for (uint32_t i = 0; i < out->with_id; i++)
        out->by_id[i] = places[i].comm;
    return true;
}

enum hs_status hs_comms_join(const struct hs_job *job, const struct hs_comm_owners *owners,
                             struct hs_arena *arena, struct hs_comms *out, struct hs_err *err)
{
    struct hs_comm_joiner j = { .job = job, .known = owners, .arena = arena };
    uint32_t count = job->communicator_count,
             **arrays[] = { &j.parent, &j.same_as, &j.depth, &j.nth, &j.split, &j.class, &j.order };
    struct hs_comms comms = { .count = 0 };
    bool ok;

    j.out = &comms;
    hs_intern_init(&j.keys);
    comms.list = HS_NEW(arena, struct hs_comm, count);
    comms.comm_of_row = HS_NEW(arena, uint32_t, count);
    /* most rows have an end and an ordinal of their own, some a pointer */
    ok = comms.list && comms.comm_of_row && hs_intern_reserve(&j.keys, count * 3) &&
         HS_GROW(j.values, j.value_cap, (size_t)count * 3);
    for (size_t i = 0; ok && i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = HS_NEW(arena, uint32_t, count);
        ok = *arrays[i] != NULL;
    }
    if (ok && count)
        memset(comms.comm_of_row, 0xff, count * sizeof(*comms.comm_of_row));
    ok = ok && join_all(&j, count) && renumber(&comms, count, arena) && put_members(&j, count) &&
         index_ids(&comms, arena);
    hs_intern_release(&j.keys);
    free(j.values);
    if (!ok)
        return hs_no_memory(err);
    *out = comms;
    return HS_OK;
}

uint32_t hs_comms_find(const struct hs_comms *comms, uint64_t comm_id)
{
    uint32_t low = 0, high = comms->with_id;

    while (low < high) { /* the first with a larger id */
        uint32_t middle = low + (high - low) / 2;

        if (comms->list[comms->by_id[middle]].comm_id <= comm_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low && comms->list[comms->by_id[low - 1]].comm_id == comm_id ? comms->by_id[low - 1]
                                                                        : HS_NO_ID;
}

uint32_t hs_comm_of_rank(const struct hs_comms *comms, uint32_t comm, uint32_t rank)
{
    const struct hs_comm *c = &comms->list[comm];
    uint32_t low = c->first_member, high = c->first_member + c->member_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (comms->members[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->first_member + c->member_count && comms->members[low].rank == rank ? low
                                                                                       : HS_NO_ID;
}
