/* nccl_links.c - what connects the ranks of a communicator, from lines of rings, trees and paths.
 */
#include "parsers/nccl_internal.h"

#include "base/limits.h"
#include "parsers/text_known.h"

#include <stdlib.h>

void hs_nccl_free_links(struct hs_nccl *nccl)
{
    for (uint32_t i = 0; i < nccl->threads.count && i < nccl->pending_cap; i++) {
        free(nccl->pending[i].links);
        free(nccl->pending[i].unnamed);
    }
}

/* Links printed before the line that names the communicator (all eras before 2.18.3) are its own.
 */
void hs_nccl_adopt_links(struct hs_text *t, uint32_t thread, uint32_t communicator)
{
    struct hs_nccl_thread *mine = &t->nccl->pending[thread];

    for (uint32_t i = 0; i < mine->unnamed_count; i++)
        t->job->links[mine->unnamed[i]].communicator = communicator;
    mine->unnamed_count = 0;
}

static uint32_t hash_of(const struct hs_link *link)
{
    uint64_t h = (uint64_t)link->from_rank << 32 | link->to_rank;

    h = (h ^ link->channel) * 0xff51afd7ed558ccdu;
    h ^= h >> 32 ^ ((uint64_t)link->via << 32 | link->kind);
    h = (h ^ link->communicator) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h >> 32) ^ link->speaker;
}

static bool is_same(const struct hs_link *a, const struct hs_link *b)
{
    return a->speaker == b->speaker && a->kind == b->kind && a->channel == b->channel &&
           a->from_rank == b->from_rank && a->to_rank == b->to_rank && a->via == b->via;
}

/* The slot of a link among those of its thread; a free one when it is new. */
static struct hs_nccl_link *find_link(const struct hs_job *job, const struct hs_nccl_thread *mine,
                                      const struct hs_link *link)
{
    uint32_t mask = mine->link_slots - 1, at = hash_of(link) & mask;

    while (mine->links[at].row && (mine->links[at].communicator != link->communicator ||
                                   !is_same(&job->links[mine->links[at].row - 1], link)))
        at = (at + 1) & mask;
    return &mine->links[at];
}

/* Room for one more link of a thread: its table is at most half full. */
static bool make_room(const struct hs_job *job, struct hs_nccl_thread *mine)
{
    struct hs_nccl_thread grown = *mine;

    if (mine->link_count < mine->link_slots / 2)
        return true;
    grown.link_slots = mine->link_slots ? mine->link_slots * 2 : 16;
    grown.links = calloc(grown.link_slots, sizeof(*grown.links));
    if (!grown.links)
        return false;
    for (uint32_t i = 0; i < mine->link_slots; i++) {
        struct hs_link key;

        if (!mine->links[i].row)
            continue;
        key = job->links[mine->links[i].row - 1];
        key.communicator = mine->links[i].communicator;
        *find_link(job, &grown, &key) = mine->links[i];
    }
    free(mine->links);
    *mine = grown;
    return true;
}

static uint32_t kind_of(struct hs_text *t, enum hs_link_kind kind)
{
    static const char *const words[] = { "path", "ring", "tree", "collnet" };
    uint32_t *id = &t->nccl->link_kinds[kind];

    if (*id == HS_NO_ID)
        *id = hs_intern_put(&t->job->strings, hs_str_of(words[kind]));
    return *id;
}

static bool append(struct hs_text *t, struct hs_nccl_thread *mine, const struct hs_link *link)
{
    struct hs_job *job = t->job;

    if (job->link_count - t->nccl->first_link >= HS_LINKS_MAX) {
        hs_text_full(t, HS_FULL_LINKS);
        return true;
    }
    if (!make_room(job, mine) || !HS_GROW(job->links, job->link_cap, job->link_count + 1u))
        return false;
    if (link->communicator == HS_NO_ID) {
        if (!HS_GROW(mine->unnamed, mine->unnamed_cap, mine->unnamed_count + 1u))
            return false;
        mine->unnamed[mine->unnamed_count++] = job->link_count;
    }
    *find_link(job, mine, link) =
        (struct hs_nccl_link){ .row = job->link_count + 1, .communicator = link->communicator };
    job->links[job->link_count++] = *link;
    job->sources[t->px->source].records++;
    mine->link_count++;
    return true;
}

bool hs_nccl_add_link(struct hs_text *t, uint32_t thread, uint64_t line,
                      const struct hs_said_link *said)
{
    struct hs_nccl_thread *mine;
    struct hs_nccl_link *slot;
    struct hs_link link = {
        .source = t->px->source,
        .speaker = t->speaker,
        .kind = kind_of(t, said->kind),
        .channel = said->channel,
        .from_rank = said->from_rank,
        .to_rank = said->to_rank,
        .via = said->via,
        .thread = thread,
        .count = 1,
        .line = line,
    };

    if (thread == HS_NO_ID) {
        hs_text_full(t, HS_FULL_LINKS);
        return !t->no_memory;
    }
    mine = &t->nccl->pending[thread];
    link.communicator = mine->communicator;
    slot = mine->link_slots ? find_link(t->job, mine, &link) : NULL;
    if (link.kind == HS_NO_ID)
        return false;
    if (slot && slot->row) {
        t->job->links[slot->row - 1].count++;
        return true;
    }
    return append(t, mine, &link);
}

static bool add_link(struct hs_text *t, const struct hs_record *record,
                     const struct hs_said_link *said)
{
    uint32_t thread = hs_nccl_thread_of(t, record);

    hs_known_note_link(t, said);
    return hs_nccl_add_link(t, thread, record->line, said);
}

static bool take_path(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    struct hs_str via = hs_found_value(t, found, "via");
    struct hs_said_link link = {
        .kind = HS_LINK_PATH,
        .channel = hs_nccl_number(t, found, "channel"),
        .from_rank = hs_nccl_number(t, found, "from_rank"),
        .to_rank = hs_nccl_number(t, found, "to_rank"),
        .via = via.p && via.n ? hs_text_string(t, via) : HS_NO_ID,
    };

    return add_link(t, record, &link);
}

static bool take_collnet(struct hs_text *t, const struct hs_record *record,
                         const struct hs_found *found)
{
    struct hs_str via = hs_found_value(t, found, "via");
    bool sends = hs_str_is(hs_found_value(t, found, "direction"), "send");
    uint32_t rank = hs_nccl_number(t, found, "rank");
    struct hs_said_link link = {
        .kind = HS_LINK_COLLNET,
        .channel = hs_nccl_number(t, found, "channel"),
        .from_rank = sends ? rank : HS_NO_ID,
        .to_rank = sends ? HS_NO_ID : rank,
        .via = via.p && via.n ? hs_text_string(t, via) : HS_NO_ID,
    };

    return add_link(t, record, &link);
}

/* The next word of `text` that is a whole number; others are passed over. */
static bool next_number(struct hs_str *text, uint32_t *out)
{
    uint64_t value = 0;
    size_t i = 0, digits = 0;

    while (i < text->n && (text->p[i] < '0' || text->p[i] > '9'))
        i++;
    for (; i < text->n && text->p[i] >= '0' && text->p[i] <= '9' && digits < 10; i++, digits++)
        value = value * 10 + (uint64_t)(text->p[i] - '0');
    *text = (struct hs_str){ .p = text->p + i, .n = text->n - i };
    *out = (uint32_t)value;
    return digits > 0 && value < HS_NO_ID;
}

enum { RING_PRINTED_MAX = 20 }; /* of MAXWIDTH in NCCL's graph/rings.cc */

/* "Channel 00/16 : 0 1 3 2": rank 0 prints the order of the ring, of a long one the beginning. */
static bool take_ring(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    struct hs_str ranks = hs_found_value(t, found, "ranks");
    uint32_t channel = hs_nccl_number(t, found, "channel"), first, rank, next, printed = 1;
    bool cut = ranks.n >= 3 && memcmp(ranks.p + ranks.n - 3, "...", 3) == 0;

    cut = cut || (hs_found_value(t, found, "cut").n > 0 &&
                  memchr(hs_found_value(t, found, "cut").p, 46, hs_found_value(t, found, "cut").n));
    if (!next_number(&ranks, &first))
        return true;
    for (rank = first; next_number(&ranks, &next); rank = next, printed++) {
        struct hs_said_link link = { .kind = HS_LINK_RING,
                                     .channel = channel,
                                     .from_rank = rank,
                                     .to_rank = next,
                                     .via = HS_NO_ID };

        if (!add_link(t, record, &link))
            return false;
    }
    if (!cut && printed < RING_PRINTED_MAX && rank != first) {
        struct hs_said_link link = { .kind = HS_LINK_RING,
                                     .channel = channel,
                                     .from_rank = rank,
                                     .to_rank = first,
                                     .via = HS_NO_ID };

        return add_link(t, record, &link);
    }
    return true;
}

/* A number that may be negative: -1 is "none". */
static uint32_t tree_rank(struct hs_str text)
{
    uint64_t value;

    return hs_str_number(text, &value) && value < HS_NO_ID ? (uint32_t)value : HS_NO_ID;
}

static struct hs_str take_until(struct hs_str *text, const char *end)
{
    const char *at = text->n ? memmem(text->p, text->n, end, strlen(end)) : NULL;
    size_t n = at ? (size_t)(at - text->p) : text->n;
    struct hs_str head = { .p = text->p, .n = n };
    size_t skip = at ? n + strlen(end) : n;

    *text = (struct hs_str){ .p = text->p + skip, .n = text->n - skip };
    return head;
}

static bool add_tree(struct hs_text *t, const struct hs_record *record, uint32_t channel,
                     uint32_t from, uint32_t to)
{
    struct hs_said_link link = {
        .kind = HS_LINK_TREE, .channel = channel, .from_rank = from, .to_rank = to, .via = HS_NO_ID
    };

    return from == HS_NO_ID || to == HS_NO_ID || add_link(t, record, &link);
}

/*
 * One tree: down/down/down->rank->up since 2.8, and in the first half of 2.5 to 2.7; 2.4 wrote
 * up->rank->down/down/down. Links lead from a rank towards the root.
 */
static bool take_tree(struct hs_text *t, const struct hs_record *record, uint32_t channel,
                      struct hs_str tree)
{
    struct hs_str left = take_until(&tree, "->"), rank = take_until(&tree, "->"), right = tree;
    bool downs_left = memchr(left.p, '/', left.n) != NULL;
    struct hs_str downs = downs_left ? left : right, up = downs_left ? right : left;
    uint32_t self = tree_rank(rank);

    if (!add_tree(t, record, channel, self, tree_rank(up)))
        return false;
    while (downs.n) {
        if (!add_tree(t, record, channel, tree_rank(take_until(&downs, "/")), self))
            return false;
    }
    return true;
}

/* "Trees [0] 1/-1/-1->0->-1 [1] ..."; 2.5 to 2.7 put a second half behind a bar. */
static bool take_trees(struct hs_text *t, const struct hs_record *record,
                       const struct hs_found *found)
{
    struct hs_str list = hs_found_value(t, found, "trees");

    while (list.n) {
        struct hs_str word = take_until(&list, " ");
        uint64_t channel;

        if (word.n < 3 || word.p[0] != '[' || word.p[word.n - 1] != ']' ||
            !hs_str_number((struct hs_str){ .p = word.p + 1, .n = word.n - 2 }, &channel))
            continue;
        word = take_until(&list, " ");
        while (word.n) {
            if (!take_tree(t, record, (uint32_t)channel, take_until(&word, "|")))
                return false;
        }
    }
    return true;
}

/* "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE ; OOB eth0:...": a row for each device. */
static bool take_devices(struct hs_text *t, const struct hs_record *record,
                         const struct hs_found *found)
{
    struct hs_str list = hs_found_value(t, found, "devices");

    while (list.n) {
        struct hs_str word = take_until(&list, " ");
        const char *close = word.n ? memchr(word.p, ']', word.n) : NULL;
        struct hs_str device;

        if (word.n < 3 || word.p[0] != '[' || !close)
            continue;
        device = (struct hs_str){ .p = close + 1, .n = word.n - (size_t)(close + 1 - word.p) };
        if (device.n && !hs_text_fact(t, record, HS_STR("net.device"), device))
            return false;
    }
    return true;
}

const struct hs_taker hs_plain_takers[] = {
    { "channel_path", take_path },
    { "ring_path", take_path },
    { "collnet_path", take_collnet },
    { "channel_ring_order", take_ring },
    { "trees", take_trees },
    { "net_using", take_devices },
    { NULL, NULL },
};
