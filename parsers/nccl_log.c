/* nccl_log.c - communicators, from the lines in which NCCL makes and ends them, and settings. */
#include "parsers/nccl_internal.h"

#include "base/limits.h"

#include <stdlib.h>

struct hs_nccl *hs_nccl_new(const struct hs_job *job)
{
    struct hs_nccl *nccl = calloc(1, sizeof(*nccl));

    if (nccl) {
        nccl->first_link = job->link_count;
        nccl->first_communicator = job->communicator_count;
        hs_intern_init(&nccl->pointers);
        hs_intern_init(&nccl->threads);
        hs_intern_init(&nccl->streams);
        hs_intern_init(&nccl->call_members);
        memset(nccl->link_kinds, 0xff, sizeof(nccl->link_kinds));
    }
    return nccl;
}

void hs_nccl_free(struct hs_nccl *nccl)
{
    if (!nccl)
        return;
    hs_nccl_free_links(nccl);
    hs_intern_release(&nccl->pointers);
    hs_intern_release(&nccl->threads);
    hs_nccl_free_streams(nccl);
    free(nccl->latest);
    free(nccl->pending);
    free(nccl);
}

/* ---- communicators ---- */

/* The number of these words in a table of at most `max`; HS_NO_ID beyond, or without memory. */
static uint32_t intern_words(struct hs_text *t, struct hs_intern *table, uint32_t max,
                             const uint32_t *words, size_t count)
{
    struct hs_str key = { .p = (const char *)words, .n = count * sizeof(*words) };
    bool full = table->count >= max;
    uint32_t id = full ? hs_intern_find(table, key) : hs_intern_put(table, key);

    t->no_memory = t->no_memory || (id == HS_NO_ID && !full);
    return id;
}

/* The slot of a pointer in a process; its latest row is nccl->latest[slot]. HS_NO_ID beyond the
 * limit, or without memory. */
static uint32_t slot_of(struct hs_text *t, uint64_t pointer)
{
    struct hs_nccl *nccl = t->nccl;
    const struct hs_speaker *s = &t->job->speakers[t->speaker];
    uint32_t words[4] = { s->host, s->pid, (uint32_t)pointer, (uint32_t)(pointer >> 32) };
    uint32_t known = nccl->pointers.count;
    uint32_t slot = intern_words(t, &nccl->pointers, HS_COMMUNICATORS_MAX, words, 4);

    if (slot == HS_NO_ID) {
        hs_text_full(t, HS_FULL_COMMUNICATORS);
        return HS_NO_ID;
    }
    if (!HS_GROW(nccl->latest, nccl->latest_cap, (size_t)slot + 1)) {
        t->no_memory = true;
        return HS_NO_ID;
    }
    if (nccl->pointers.count > known)
        nccl->latest[slot] = HS_NO_ID;
    return slot;
}

uint32_t hs_nccl_number(const struct hs_text *t, const struct hs_found *found, const char *field)
{
    uint64_t value = hs_found_number(t, found, field, HS_NO_ID);

    return value < HS_NO_ID ? (uint32_t)value : HS_NO_ID;
}

uint64_t hs_found_hex(const struct hs_text *t, const struct hs_found *found, const char *field)
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

/* NULL beyond the limit, or without memory. */
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

    if (job->communicator_count - nccl->first_communicator >= HS_COMMUNICATORS_MAX) {
        hs_text_full(t, HS_FULL_COMMUNICATORS);
        return NULL;
    }
    if (!HS_GROW(job->communicators, job->communicator_cap, job->communicator_count + 1u)) {
        t->no_memory = true;
        return NULL;
    }
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
    uint64_t comm_id = hs_found_hex(t, found, "commid"), parent = hs_found_hex(t, found, "parent");

    c->rank = hs_nccl_number(t, found, "rank");
    c->size = hs_nccl_number(t, found, "nranks");
    c->device = hs_nccl_number(t, found, "device");
    c->nvml_device = hs_nccl_number(t, found, "nvml_device");
    c->comm_id = comm_id ? comm_id : c->comm_id;
    c->parent = parent ? parent : c->parent;
    if (hs_found_value(t, found, "color").p) {
        c->color = hs_nccl_number(t, found, "color");
        c->key = hs_nccl_number(t, found, "key");
        c->child = hs_nccl_number(t, found, "child");
    }
    if (bus.p && bus.n) {
        c->bus_id = hs_text_string(t, bus);
        return c->bus_id != HS_NO_ID;
    }
    return true;
}

/* The thread that speaks: the lines of one init come from one. HS_NO_ID beyond the limit, or
 * without memory. */
uint32_t hs_nccl_thread_of(struct hs_text *t, const struct hs_record *record)
{
    struct hs_nccl *nccl = t->nccl;
    const struct hs_speaker *s = &t->job->speakers[t->speaker];
    uint32_t words[3] = { s->host, s->pid, record->tid };
    uint32_t known = nccl->threads.count;
    uint32_t thread = intern_words(t, &nccl->threads, HS_SPEAKERS_MAX, words, 3);

    if (thread == HS_NO_ID)
        return HS_NO_ID;
    if (!HS_GROW(nccl->pending, nccl->pending_cap, (size_t)thread + 1)) {
        t->no_memory = true;
        return HS_NO_ID;
    }
    if (nccl->threads.count > known)
        nccl->pending[thread] = (struct hs_nccl_thread){ .communicator = HS_NO_ID };
    return thread;
}

static bool take_init(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    uint64_t pointer = hs_found_hex(t, found, "comm");
    bool start = hs_str_is(hs_found_value(t, found, "phase"), "START");
    uint32_t slot = slot_of(t, pointer), thread = hs_nccl_thread_of(t, record);
    struct hs_communicator *c;

    if (slot == HS_NO_ID || thread == HS_NO_ID)
        return !t->no_memory;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c || start || c->complete_line || c->end_line)
        c = new_communicator(t, slot, pointer);
    if (!c)
        return !t->no_memory;
    t->nccl->pending[thread].communicator = start ? t->nccl->latest[slot] : HS_NO_ID;
    if (!start)
        hs_nccl_adopt_links(t, thread, t->nccl->latest[slot]);
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
    uint64_t pointer = hs_found_hex(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return !t->no_memory;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c) {
        c = new_communicator(t, slot, pointer);
        if (!c)
            return !t->no_memory;
        if (!fill_communicator(t, found, c))
            return false;
    }
    c->end_line = record->line;
    c->end_ns = record->stamp.ns;
    c->end = hs_text_string(t, hs_found_value(t, found, "what"));
    return c->end != HS_NO_ID;
}

uint32_t hs_nccl_communicator(struct hs_text *t, const struct hs_found *found)
{
    uint64_t pointer = hs_found_hex(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return HS_NO_ID;
    if (t->nccl->latest[slot] == HS_NO_ID) {
        c = new_communicator(t, slot, pointer);
        if (!c)
            return HS_NO_ID;
        c->size = hs_nccl_number(t, found, "nranks");
    }
    return t->nccl->latest[slot];
}

/* INFO lines of the same init may stand before it: then it adds what they did not say. */
bool hs_nccl_take_call_init(struct hs_text *t, const struct hs_record *record,
                            const struct hs_found *found)
{
    uint64_t pointer = hs_found_hex(t, found, "comm");
    uint32_t slot = slot_of(t, pointer);
    struct hs_communicator *c;

    if (slot == HS_NO_ID)
        return !t->no_memory;
    c = t->nccl->latest[slot] == HS_NO_ID ? NULL : &t->job->communicators[t->nccl->latest[slot]];
    if (!c || c->end_line)
        c = new_communicator(t, slot, pointer);
    if (!c)
        return !t->no_memory;
    if (!c->complete_line) {
        c->complete_line = record->line;
        c->complete_ns = record->stamp.ns;
        c->clock = record->stamp.clock;
        return fill_communicator(t, found, c);
    }
    return true;
}

const struct hs_taker hs_nccl_takers[] = {
    { "init_start", take_init },
    { "comm_end", take_end },
    { NULL, NULL },
};
