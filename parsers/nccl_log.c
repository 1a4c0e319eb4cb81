/* nccl_log.c - communicators and links, from the lines in which NCCL makes and ends them. */
#include "parsers/nccl_internal.h"

#include "base/limits.h"

#include <stdlib.h>

struct hs_nccl *hs_nccl_new(void)
{
    struct hs_nccl *nccl = calloc(1, sizeof(*nccl));

    if (nccl) {
        hs_intern_init(&nccl->pointers);
        hs_intern_init(&nccl->threads);
        hs_intern_init(&nccl->links);
        hs_intern_init(&nccl->streams);
    }
    return nccl;
}

void hs_nccl_free(struct hs_nccl *nccl)
{
    if (!nccl)
        return;
    hs_intern_release(&nccl->pointers);
    hs_intern_release(&nccl->threads);
    hs_intern_release(&nccl->links);
    hs_nccl_free_streams(nccl);
    free(nccl->latest);
    free(nccl->pending);
    free(nccl);
}

/* ---- communicators ---- */

static uint32_t intern_words(struct hs_intern *table, const uint32_t *words, size_t count)
{
    return hs_intern_put(table, (struct hs_str){ .p = (const char *)words, .n = count * 4 });
}

/* The slot of a pointer in a process; its latest row is nccl->latest[slot]. */
static uint32_t slot_of(struct hs_text *t, uint64_t pointer)
{
    struct hs_nccl *nccl = t->nccl;
    const struct hs_speaker *s = &t->job->speakers[t->speaker];
    uint32_t words[4] = { s->host, s->pid, (uint32_t)pointer, (uint32_t)(pointer >> 32) };
    uint32_t known = nccl->pointers.count, slot = intern_words(&nccl->pointers, words, 4);

    if (slot == HS_NO_ID || !HS_GROW(nccl->latest, nccl->latest_cap, (size_t)slot + 1))
        return HS_NO_ID;
    if (nccl->pointers.count > known)
        nccl->latest[slot] = HS_NO_ID;
    return slot;
}

static uint32_t number_of(const struct hs_text *t, const struct hs_found *found, const char *field)
{
    uint64_t value = hs_found_number(t, found, field, HS_NO_ID);

    return value < HS_NO_ID ? (uint32_t)value : HS_NO_ID;
}

/* "0xfeed", or "feed" as some eras print it. */
static uint64_t hex_of(const struct hs_text *t, const struct hs_found *found, const char *field)
{
    struct hs_str text = hs_found_value(t, found, field);
    char digits[20] = "0x";
    uint64_t value;

    if (!text.p || text.n == 0 || text.n > 18)
        return 0;
    if (text.n > 2 && text.p[1] == 'x')
        return hs_str_number(text, &value) ? value : 0;
    if (text.n > 16)
        return 0;
    memcpy(digits + 2, text.p, text.n);
    return hs_str_number((struct hs_str){ .p = digits, .n = text.n + 2 }, &value) ? value : 0;
}

static struct hs_communicator *new_communicator(struct hs_text *t, uint32_t slot, uint64_t pointer)
{
    struct hs_job *job = t->job;
    struct hs_nccl *nccl = t->nccl;
    uint32_t before = nccl->latest[slot];
    struct hs_communicator row = {
        .source = t->px->source,
        .speaker = t->speaker,
        .pointer = pointer,
        .epoch = before == HS_NO_ID ? 0 : job->communicators[before].epoch + 1,
        .rank = HS_NO_ID,
        .size = HS_NO_ID,
        .device = HS_NO_ID,
        .nvml_device = HS_NO_ID,
        .bus_id = HS_NO_ID,
        .color = HS_NO_ID,
        .key = HS_NO_ID,
        .child = HS_NO_ID,
        .end = HS_NO_ID,
    };

    if (job->communicator_count >= HS_EVENTS_MAX ||
        !HS_GROW(job->communicators, job->communicator_cap, job->communicator_count + 1u))
        return NULL;
    nccl->latest[slot] = job->communicator_count;
    job->communicators[job->communicator_count] = row;
    t->job->sources[t->px->source].records++;
    return &job->communicators[job->communicator_count++];
}

/* What an init line says of its communicator; what it does not say stays. */
static bool fill_communicator(struct hs_text *t, const struct hs_found *found,
                              struct hs_communicator *c)
{
    struct hs_str bus = hs_found_value(t, found, "busid");
    uint64_t comm_id = hex_of(t, found, "commid"), parent = hex_of(t, found, "parent");

    c->rank = number_of(t, found, "rank");
    c->size = number_of(t, found, "nranks");
    c->device = number_of(t, found, "device");
    c->nvml_device = number_of(t, found, "nvml_device");
    c->comm_id = comm_id ? comm_id : c->comm_id;
    c->parent = parent ? parent : c->parent;
    if (hs_found_value(t, found, "color").p) {
        c->color = number_of(t, found, "color");
        c->key = number_of(t, found, "key");
        c->child = number_of(t, found, "child");
    }
    if (bus.p && bus.n) {
        c->bus_id = hs_intern_put(&t->job->strings, bus);
        return c->bus_id != HS_NO_ID;
    }
    return true;
}

/* The thread that speaks: the lines of one init come from one. */
static uint32_t thread_of(struct hs_text *t, const struct hs_record *record)
{
    struct hs_nccl *nccl = t->nccl;
    const struct hs_speaker *s = &t->job->speakers[t->speaker];
    uint32_t words[3] = { s->host, s->pid, record->tid };
    uint32_t known = nccl->threads.count, thread = intern_words(&nccl->threads, words, 3);

    if (thread == HS_NO_ID || !HS_GROW(nccl->pending, nccl->pending_cap, (size_t)thread + 1))
        return HS_NO_ID;
    if (nccl->threads.count > known)
        nccl->pending[thread] =
            (struct hs_nccl_thread){ .communicator = HS_NO_ID, .first_link = t->job->link_count };
    return thread;
}

/* Links printed before the line that names the communicator (all eras before 2.18.3) are its own. */
static void adopt_links(struct hs_text *t, uint32_t thread, uint32_t communicator)
{
    struct hs_nccl_thread *pending = &t->nccl->pending[thread];

    for (uint32_t i = pending->first_link; i < t->job->link_count; i++) {
        struct hs_link *link = &t->job->links[i];

        if (link->communicator == HS_NO_ID && link->thread == thread)
            link->communicator = communicator;
    }
    pending->first_link = t->job->link_count;
}

static bool take_init(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    uint64_t pointer = hex_of(t, found, "comm");
    bool start = hs_str_is(hs_found_value(t, found, "phase"), "START");
    uint32_t slot = slot_of(t, pointer), thread = thread_of(t, record);
    struct hs_communicator *c;

    if (slot == HS_NO_ID || thread == HS_NO_ID)
        return false;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c || start || c->complete_line || c->end_line)
        c = new_communicator(t, slot, pointer);
    if (!c)
        return t->job->communicator_count >= HS_EVENTS_MAX;
    t->nccl->pending[thread].communicator = start ? t->nccl->latest[slot] : HS_NO_ID;
    if (!start)
        adopt_links(t, thread, t->nccl->latest[slot]);
    if (start) {
        c->start_line = record->line;
        c->start_ns = record->stamp.ns;
    } else {
        c->complete_line = record->line;
        c->complete_ns = record->stamp.ns;
    }
    c->clock = record->stamp.ns ? record->stamp.clock : c->clock;
    return fill_communicator(t, found, c);
}

static bool take_end(struct hs_text *t, const struct hs_record *record,
                     const struct hs_found *found)
{
    uint64_t pointer = hex_of(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return false;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c) {
        c = new_communicator(t, slot, pointer);
        if (!c)
            return t->job->communicator_count >= HS_EVENTS_MAX;
        if (!fill_communicator(t, found, c))
            return false;
    }
    c->end_line = record->line;
    c->end_ns = record->stamp.ns;
    c->end = hs_intern_put(&t->job->strings, hs_found_value(t, found, "what"));
    return c->end != HS_NO_ID;
}

uint32_t hs_nccl_communicator(struct hs_text *t, const struct hs_found *found)
{
    uint64_t pointer = hex_of(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return HS_NO_ID;
    if (t->nccl->latest[slot] == HS_NO_ID) {
        c = new_communicator(t, slot, pointer);
        if (!c)
            return HS_NO_ID;
        c->size = number_of(t, found, "nranks");
    }
    return t->nccl->latest[slot];
}

/* INFO lines of the same init may stand before it: then it adds what they did not say. */
bool hs_nccl_take_call_init(struct hs_text *t, const struct hs_record *record,
                            const struct hs_found *found)
{
    uint64_t pointer = hex_of(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return false;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c || c->end_line)
        c = new_communicator(t, slot, pointer);
    if (!c)
        return t->job->communicator_count >= HS_EVENTS_MAX;
    if (!c->complete_line) {
        c->complete_line = record->line;
        c->complete_ns = record->stamp.ns;
        c->clock = record->stamp.clock;
        return fill_communicator(t, found, c);
    }
    return true;
}

/* ---- links ---- */

static uint32_t current_communicator(struct hs_text *t, const struct hs_record *record,
                                     uint32_t *thread)
{
    *thread = thread_of(t, record);
    return *thread == HS_NO_ID ? HS_NO_ID : t->nccl->pending[*thread].communicator;
}

static bool add_link(struct hs_text *t, const struct hs_record *record, const char *kind,
                     struct hs_link *link)
{
    struct hs_job *job = t->job;
    uint32_t known = t->nccl->links.count, id;
    struct hs_link *row;

    link->source = t->px->source;
    link->speaker = t->speaker;
    link->communicator = current_communicator(t, record, &link->thread);
    link->kind = hs_intern_put(&job->strings, hs_str_of(kind));
    if (link->kind == HS_NO_ID || link->thread == HS_NO_ID)
        return false;
    id = hs_intern_put(&t->nccl->links, (struct hs_str){ .p = (const char *)link,
                                                         .n = offsetof(struct hs_link, count) });
    if (id == HS_NO_ID)
        return false;
    if (t->nccl->links.count == known) {
        row = &job->links[t->nccl->first_link + id];
        row->count++;
        return true;
    }
    if (known == 0)
        t->nccl->first_link = job->link_count;
    if (!HS_GROW(job->links, job->link_cap, job->link_count + 1u))
        return false;
    link->count = 1;
    link->line = record->line;
    job->links[job->link_count++] = *link;
    job->sources[t->px->source].records++;
    return true;
}

static bool take_path(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    struct hs_str via = hs_found_value(t, found, "via");
    struct hs_link link = {
        .channel = number_of(t, found, "channel"),
        .from_rank = number_of(t, found, "from_rank"),
        .to_rank = number_of(t, found, "to_rank"),
        .via = via.p && via.n ? hs_intern_put(&t->job->strings, via) : HS_NO_ID,
    };

    return add_link(t, record, "path", &link);
}

static bool take_collnet(struct hs_text *t, const struct hs_record *record,
                         const struct hs_found *found)
{
    struct hs_str via = hs_found_value(t, found, "via");
    bool sends = hs_str_is(hs_found_value(t, found, "direction"), "send");
    uint32_t rank = number_of(t, found, "rank");
    struct hs_link link = {
        .channel = number_of(t, found, "channel"),
        .from_rank = sends ? rank : HS_NO_ID,
        .to_rank = sends ? HS_NO_ID : rank,
        .via = via.p && via.n ? hs_intern_put(&t->job->strings, via) : HS_NO_ID,
    };

    return add_link(t, record, "collnet", &link);
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

/* "Channel 00/16 : 0 1 3 2": rank 0 prints the order of the ring. */
static bool take_ring(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    struct hs_str ranks = hs_found_value(t, found, "ranks");
    uint32_t channel = number_of(t, found, "channel"), first, rank, next;
    bool cut = ranks.n >= 3 && memcmp(ranks.p + ranks.n - 3, "...", 3) == 0;

    cut = cut || (hs_found_value(t, found, "cut").n > 0 && memchr(hs_found_value(t, found, "cut").p, 46, hs_found_value(t, found, "cut").n));
    if (!next_number(&ranks, &first))
        return true;
    for (rank = first; next_number(&ranks, &next); rank = next) {
        struct hs_link link = {
            .channel = channel, .from_rank = rank, .to_rank = next, .via = HS_NO_ID
        };

        if (!add_link(t, record, "ring", &link))
            return false;
    }
    if (!cut && rank != first) {
        struct hs_link link = {
            .channel = channel, .from_rank = rank, .to_rank = first, .via = HS_NO_ID
        };

        return add_link(t, record, "ring", &link);
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
    struct hs_link link = { .channel = channel, .from_rank = from, .to_rank = to, .via = HS_NO_ID };

    return from == HS_NO_ID || to == HS_NO_ID || add_link(t, record, "tree", &link);
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

/* ---- settings ---- */

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

const struct hs_taker hs_nccl_takers[] = {
    { "init_start", take_init },     { "comm_end", take_end },
    { "channel_path", take_path },   { "ring_path", take_path },
    { "collnet_path", take_collnet }, { "channel_ring_order", take_ring },
    { "trees", take_trees },         { "net_using", take_devices },
    { NULL, NULL },
};
