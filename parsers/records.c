/* records.c - records that are open, and whose lines are whose. */
#include "parsers/records_internal.h"

#include <stdlib.h>

/* Open records that a line may belong to: of one speaker, channel or rank, newest first. */
struct hs_open_group {
    struct hs_open *first, *last;
    struct hs_open *latest; /* that took a line last; NULL: it has ended */
    uint32_t count;
};

/* The groups of a speaker; HS_NO_ID: not asked for yet, or (rank) none. */
struct place {
    uint32_t groups[HS_OPEN_LISTS];
};

/* A header with nothing behind it: the lines below it are the message. */
struct heading {
    struct hs_record head;
    uint32_t speaker;
    uint64_t line; /* 0: none */
};

struct hs_records {
    struct hs_open_group all;
    struct hs_intern keys; /* of groups */
    struct hs_open_group *groups;
    uint32_t group_cap;
    struct place *places; /* by speaker */
    uint32_t place_count, place_cap;
    const struct hs_record_kind *taken; /* the current line */
    struct hs_open *above;              /* of a kind that goes on below; it took a line last */
    struct heading heading;
    struct hs_inspector *inspector;
    struct {
        const char *name; /* of a composite, the very text; NULL: free */
        uint32_t family;
    } composites[32]; /* that were looked for */
};

struct hs_records *hs_records_new(void)
{
    struct hs_records *records = calloc(1, sizeof(*records));

    if (records)
        hs_intern_init(&records->keys);
    return records;
}

static void free_open(struct hs_open *open)
{
    free(open->frames);
    free(open);
}

void hs_records_free(struct hs_records *records)
{
    if (!records)
        return;
    for (struct hs_open *open = records->all.first, *next; open; open = next) {
        next = open->links[HS_OPEN_ALL].next;
        free_open(open);
    }
    hs_inspector_free(records->inspector);
    hs_intern_release(&records->keys);
    free(records->groups);
    free(records->places);
    free(records);
}

/* ---- whose line it is ---- */

static uint32_t group_of(struct hs_text *t, const uint32_t *words, size_t count)
{
    struct hs_records *r = t->records;
    uint32_t known = r->keys.count;
    uint32_t id =
        hs_intern_put(&r->keys, (struct hs_str){ .p = (const char *)words, .n = count * 4 });

    if (id == HS_NO_ID || !HS_GROW(r->groups, r->group_cap, (size_t)id + 1)) {
        t->no_memory = true;
        return HS_NO_ID;
    }
    if (r->keys.count > known)
        r->groups[id] = (struct hs_open_group){ .first = NULL };
    return id;
}

/*
 * Lines of a message below its first one often lack the tag of the rank, and never have its header:
 * what is left is what launchers and shippers say (the channel), or a rank that is known otherwise.
 */
static bool find_groups(struct hs_text *t, uint32_t speaker, struct place *out)
{
    const struct hs_speaker *s = &t->job->speakers[speaker];
    uint32_t own[2] = { HS_OPEN_SPEAKER, speaker };
    uint32_t channel[6] = { HS_OPEN_CHANNEL, s->host, s->role, s->pid, s->local_rank, s->task };
    uint32_t rank[2] = { HS_OPEN_RANK, s->rank };

    *out = (struct place){ .groups = { [HS_OPEN_ALL] = HS_NO_ID, [HS_OPEN_RANK] = HS_NO_ID } };
    out->groups[HS_OPEN_SPEAKER] = group_of(t, own, 2);
    out->groups[HS_OPEN_CHANNEL] = group_of(t, channel, 6);
    if (s->rank != HS_NO_ID)
        out->groups[HS_OPEN_RANK] = group_of(t, rank, 2);
    return !t->no_memory;
}

/* NULL without memory. */
static const struct place *place_of(struct hs_text *t, uint32_t speaker)
{
    struct hs_records *r = t->records;
    uint32_t i = speaker - t->first_speaker;

    if (!HS_GROW(r->places, r->place_cap, (size_t)i + 1)) {
        t->no_memory = true;
        return NULL;
    }
    for (; r->place_count <= i; r->place_count++) {
        if (!find_groups(t, t->first_speaker + r->place_count, &r->places[r->place_count]))
            return NULL;
    }
    return &r->places[i];
}

static struct hs_open_group *list_of(struct hs_records *r, const struct hs_open *open,
                                     enum hs_open_list list)
{
    uint32_t id = open->groups[list];

    if (list == HS_OPEN_ALL)
        return &r->all;
    return id == HS_NO_ID ? NULL : &r->groups[id];
}

static void link_open(struct hs_records *r, struct hs_open *open)
{
    for (unsigned l = 0; l < HS_OPEN_LISTS; l++) {
        struct hs_open_group *group = list_of(r, open, l);

        if (!group)
            continue;
        open->links[l] = (struct hs_open_link){ .next = group->first };
        if (group->first)
            group->first->links[l].previous = open;
        else
            group->last = open;
        group->first = open;
        group->count++;
    }
}

static void unlink_open(struct hs_records *r, struct hs_open *open)
{
    for (unsigned l = 0; l < HS_OPEN_LISTS; l++) {
        struct hs_open_group *group = list_of(r, open, l);
        struct hs_open_link *link = &open->links[l];

        if (!group)
            continue;
        if (link->previous)
            link->previous->links[l].next = link->next;
        else
            group->first = link->next;
        if (link->next)
            link->next->links[l].previous = link->previous;
        else
            group->last = link->previous;
        if (group->latest == open)
            group->latest = NULL;
        group->count--;
    }
}

/* ---- opening and closing ---- */

/* What outlives the line of a record. */
static bool copy_head(struct hs_text *t, const struct hs_record *record, struct hs_record *out)
{
    struct hs_str none = { .p = NULL };

    *out = *record;
    out->segment = out->text = (struct hs_str){ .p = "" };
    out->host = out->role = out->file = none;
    return hs_records_hold(t, &out->pg) && hs_records_hold(t, &out->pg_desc);
}

static void drop(struct hs_records *r, struct hs_open *open)
{
    unlink_open(r, open);
    if (r->above == open)
        r->above = NULL;
    free_open(open);
}

/* Say what it is, and forget it. */
static void close_open(struct hs_text *t, struct hs_records *r, struct hs_open *open)
{
    if (open->kind->end)
        open->kind->end(t, open);
    else if (open->kind->family && (open->value_count || open->frame_count))
        hs_open_say(t, open, open->kind->family);
    drop(r, open);
}

static bool has_header(const struct hs_record *record)
{
    return record->header == HS_HEADER_C10 || record->header == HS_HEADER_GLOG ||
           record->header == HS_HEADER_NCCL;
}

/* An empty header directly above in the same channel is the header of this line. */
static const struct heading *heading_of(struct hs_text *t, const struct hs_record *record)
{
    const struct heading *heading = &t->records->heading;
    const struct place *mine, *its;

    if (!heading->line || has_header(record) || record->line > heading->line + 1)
        return NULL;
    its = place_of(t, heading->speaker);
    if (!its || !(mine = place_of(t, t->speaker)))
        return NULL;
    its = place_of(t, heading->speaker);
    return mine->groups[HS_OPEN_CHANNEL] == its->groups[HS_OPEN_CHANNEL] ||
                   (mine->groups[HS_OPEN_RANK] != HS_NO_ID &&
                    mine->groups[HS_OPEN_RANK] == its->groups[HS_OPEN_RANK])
               ? heading
               : NULL;
}

static uint64_t key_of(const struct hs_record_kind *kind, const struct hs_record *record)
{
    return kind->key ? kind->key(record) : 0;
}

static struct hs_open *find_own(const struct hs_records *r, uint32_t group,
                                const struct hs_record_kind *kind, uint64_t key)
{
    struct hs_open *open = r->groups[group].first;

    while (open && (open->kind != kind || open->key != key))
        open = open->links[HS_OPEN_SPEAKER].next;
    return open;
}

/* One record of a kind and key for each speaker, few for a speaker, and so many in all: what was
 * there before, or is oldest, ends as it is. */
static void make_room(struct hs_text *t, struct hs_records *r, uint32_t group,
                      const struct hs_record_kind *kind, uint64_t key)
{
    struct hs_open *before = find_own(r, group, kind, key);

    if (before)
        close_open(t, r, before);
    if (r->groups[group].count >= HS_RECORDS_OF_SPEAKER_MAX)
        close_open(t, r, r->groups[group].last);
    if (r->all.count >= HS_RECORDS_OPEN_MAX)
        close_open(t, r, r->all.last);
}

static struct hs_open *new_open(struct hs_text *t, const struct hs_record *record,
                                const struct hs_record_kind *kind)
{
    const struct heading *heading = kind->untagged ? heading_of(t, record) : NULL;
    uint32_t speaker = heading ? heading->speaker : t->speaker;
    const struct place *place = place_of(t, speaker);
    struct hs_records *r = t->records;
    uint64_t key = key_of(kind, record);
    struct hs_open *open;

    if (!place)
        return NULL;
    make_room(t, r, place->groups[HS_OPEN_SPEAKER], kind, key);
    open = calloc(1, sizeof(*open));
    if (!open || !copy_head(t, heading ? &heading->head : record, &open->head)) {
        free(open);
        t->no_memory = true;
        return NULL;
    }
    open->kind = kind;
    open->key = key;
    open->speaker = speaker;
    open->head.line = record->line;
    memcpy(open->groups, place->groups, sizeof(open->groups));
    link_open(r, open);
    return open;
}

static bool is_own(enum hs_taken taken)
{
    return taken == HS_TAKEN || taken == HS_TAKEN_LAST;
}

/* Offer a line to a record, which is gone when it says LAST or OVER. */
static enum hs_taken offer(struct hs_text *t, struct hs_open *open, const struct hs_record *record)
{
    enum hs_taken taken = open->kind->take(t, open, record);

    if (is_own(taken)) {
        open->last_line = record->line;
        open->missed = 0;
        t->records->taken = open->kind;
        t->records->above = open->kind->adjacent ? open : NULL;
        for (unsigned l = HS_OPEN_CHANNEL; l < HS_OPEN_LISTS; l++) {
            struct hs_open_group *group = list_of(t->records, open, l);

            if (group)
                group->latest = open;
        }
    }
    if (taken == HS_TAKEN_LAST || taken == HS_TAKEN_OVER)
        close_open(t, t->records, open);
    return taken;
}

bool hs_records_begin(struct hs_text *t, const struct hs_record *record,
                      const struct hs_record_kind *kind)
{
    struct hs_open *open;

    if (t->records->taken == kind)
        return true;
    open = new_open(t, record, kind);
    if (!open)
        return !t->no_memory;
    hs_records_keep(t, record);
    if (offer(t, open, record) == HS_TAKEN_NOT)
        drop(t->records, open);
    return !t->no_memory;
}

/* ---- lines ---- */

static enum hs_taken offer_patiently(struct hs_text *t, struct hs_open *open,
                                     const struct hs_record *record)
{
    enum hs_taken taken = offer(t, open, record);

    if (taken == HS_TAKEN_NOT && ++open->missed > open->kind->patience)
        close_open(t, t->records, open);
    return taken;
}

static bool offer_own(struct hs_text *t, uint32_t group, const struct hs_record *record)
{
    for (struct hs_open *open = t->records->groups[group].first, *next; open; open = next) {
        next = open->links[HS_OPEN_SPEAKER].next;
        if (open->key != key_of(open->kind, record))
            continue;
        if (open->kind->header_ends && has_header(record))
            close_open(t, t->records, open);
        else if (is_own(offer_patiently(t, open, record)))
            return true;
    }
    return false;
}

/* What the line says of its rank is not what the record knows. */
static bool contradicts(const struct hs_text *t, const struct hs_open *open)
{
    const struct hs_speaker *line = &t->job->speakers[t->speaker];
    const struct hs_speaker *record = &t->job->speakers[open->speaker];

    return line->rank_from >= HS_RANK_LAUNCHER && line->rank != record->rank;
}

/* A line without tag goes to the record that took one last, or to the only one. */
static bool offer_group(struct hs_text *t, uint32_t id, const struct hs_record *record)
{
    const struct hs_open_group *group = &t->records->groups[id];
    struct hs_open *open = group->latest ? group->latest : group->count == 1 ? group->first : NULL;

    const struct heading *heading = open ? heading_of(t, record) : NULL;

    if (!open || !open->kind->untagged || open->speaker == t->speaker || contradicts(t, open) ||
        (heading && heading->speaker != open->speaker))
        return false;
    return is_own(offer_patiently(t, open, record));
}

static bool is_or_none(uint32_t a, uint32_t b)
{
    return a == HS_NO_ID || a == b;
}

/*
 * A logger tags the first line of a message only. What says nothing else of its speaker, right
 * below what a record took, is offered to it.
 */
static bool offer_below(struct hs_text *t, const struct hs_record *record)
{
    struct hs_open *open = t->records->above;
    const struct hs_speaker *line = &t->job->speakers[t->speaker], *above;

    if (!open || record->line != open->last_line + 1 || open->speaker == t->speaker)
        return false;
    above = &t->job->speakers[open->speaker];
    return is_or_none(line->host, above->host) && is_or_none(line->role, above->role) &&
           is_or_none(line->pid, above->pid) && is_or_none(line->task, above->task) &&
           is_or_none(line->local_rank, above->local_rank) && is_or_none(line->rank, above->rank) &&
           is_own(offer(t, open, record));
}

/* Short messages of c10d end with a line break: what they say stands below. */
static void note_heading(struct hs_text *t, const struct hs_record *record)
{
    struct heading *heading = &t->records->heading;
    struct hs_str text = hs_trim(record->text);

    if (record->header != HS_HEADER_C10 && record->header != HS_HEADER_GLOG)
        return;
    heading->line = 0;
    if (text.n > 12 || (text.n && !hs_str_starts(text, HS_STR("Rank "))))
        return;
    if (copy_head(t, record, &heading->head)) {
        heading->speaker = t->speaker;
        heading->line = record->line;
    }
}

bool hs_records_see(struct hs_text *t, const struct hs_record *record)
{
    struct hs_records *r = t->records;

    r->taken = NULL;
    note_heading(t, record);
    if (r->all.count) {
        const struct place *place = place_of(t, t->speaker);
        uint32_t own, rank, channel;

        if (!place)
            return false;
        own = place->groups[HS_OPEN_SPEAKER];
        rank = place->groups[HS_OPEN_RANK];
        channel = place->groups[HS_OPEN_CHANNEL];
        if (!offer_own(t, own, record) && !has_header(record) &&
            !(rank != HS_NO_ID && offer_group(t, rank, record)) && !offer_group(t, channel, record))
            (void)offer_below(t, record);
    }
    if (record->header == HS_HEADER_NCCL && record->level == 'W')
        (void)hs_records_begin(t, record, &hs_record_unwinding);
    return !t->no_memory;
}

const struct hs_record_kind *hs_records_taken_by(const struct hs_text *t)
{
    return t->records->taken;
}

struct hs_open *hs_records_beside(const struct hs_text *t, const struct hs_open *open,
                                  const struct hs_open *at)
{
    struct hs_open *next = at ? at->links[HS_OPEN_CHANNEL].next
                              : t->records->groups[open->groups[HS_OPEN_CHANNEL]].first;

    return next == open ? next->links[HS_OPEN_CHANNEL].next : next;
}

uint32_t hs_records_family(struct hs_text *t, const char *name)
{
    struct hs_records *r = t->records;
    size_t i = 0, n = sizeof(r->composites) / sizeof(r->composites[0]);

    while (i < n && r->composites[i].name && r->composites[i].name != name)
        i++;
    if (i == n)
        return hs_family_find(t->families, name);
    if (!r->composites[i].name) {
        r->composites[i].name = name;
        r->composites[i].family = hs_family_find(t->families, name);
    }
    return r->composites[i].family;
}

bool hs_records_end(struct hs_text *t)
{
    struct hs_records *r = t->records;

    while (r->all.last)
        close_open(t, r, r->all.last);
    hs_inspector_end(t, r->inspector);
    return !t->no_memory;
}

bool hs_records_take_inspector(struct hs_text *t, const struct hs_record *record,
                               const struct hs_found *found)
{
    (void)found;
    return hs_inspector_take(t, &t->records->inspector, record);
}
