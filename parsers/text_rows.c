/* text_rows.c - what records say becomes rows: speakers, events, settings, and evidence. */
#include "base/limits.h"
#include "parsers/text.h"
#include "parsers/text_known.h"

#include <stdlib.h>

/* ---- who speaks ---- */

uint32_t hs_text_string(struct hs_text *t, struct hs_str text)
{
    enum { OVERHEAD_BYTES = 48 }; /* of an interned text */
    struct hs_intern *strings = &t->job->strings;
    uint32_t known = strings->count, id;

    if (t->text_bytes < HS_TEXTS_BYTES_MAX) {
        id = hs_intern_put(strings, text);
    } else {
        id = hs_intern_find(strings, text);
        if (id == HS_NO_ID) {
            hs_text_full(t, HS_FULL_TEXTS);
            id = hs_intern_put(strings, HS_STR("..."));
        }
    }
    if (strings->count > known)
        t->text_bytes += text.n + OVERHEAD_BYTES;
    t->no_memory = t->no_memory || id == HS_NO_ID;
    return id;
}

static uint32_t string_of(struct hs_text *t, struct hs_str text)
{
    return text.p && text.n ? hs_text_string(t, text) : HS_NO_ID;
}

/* What the record does not say, the name of its file may. */
static struct hs_speaker speaker_of(struct hs_text *t, const struct hs_record *record)
{
    const struct hs_record *file = &t->file;
    struct hs_speaker s = {
        .source = t->px->source,
        .host = string_of(t, record->host.p ? record->host : file->host),
        .role = string_of(t, record->role),
        .pid = record->pid,
        .rank = record->rank,
        .local_rank = record->local_rank,
        .task = record->task,
        .device = record->device,
        .rank_from = record->rank_from,
    };

    if (s.rank == HS_NO_ID && file->rank != HS_NO_ID) {
        s.rank = file->rank;
        s.rank_from = file->rank_from;
    }
    if (s.local_rank == HS_NO_ID)
        s.local_rank = file->local_rank;
    return s;
}

static void note_time(int64_t *first_ns, int64_t *last_ns, uint32_t *clock, struct hs_stamp stamp)
{
    if (!stamp.ns)
        return;
    if (!*first_ns) {
        *first_ns = stamp.ns;
        *clock = stamp.clock;
    }
    /* Stamps of several kinds are not comparable: the first kind counts. */
    if ((stamp.clock | HS_CLOCK_FINE) == (*clock | HS_CLOCK_FINE) && stamp.ns > *last_ns)
        *last_ns = stamp.ns;
}

void hs_text_speaks(struct hs_text *t, uint32_t speaker, const struct hs_record *record)
{
    struct hs_speaker *row = &t->job->speakers[speaker];

    row->lines++;
    row->last_line = record->line;
    note_time(&row->first_ns, &row->last_ns, &row->clock, record->stamp);
}

/* The row of whoever said this; HS_NO_ID beyond the limit or without memory. */
uint32_t hs_text_speaker(struct hs_text *t, const struct hs_record *record)
{
    struct hs_speaker s = speaker_of(t, record);
    struct hs_str key = { .p = (const char *)&s, .n = offsetof(struct hs_speaker, lines) };
    uint32_t known = t->speakers.count, id;

    id = known < HS_SPEAKERS_MAX ? hs_intern_put(&t->speakers, key)
                                 : hs_intern_find(&t->speakers, key);
    if (id == HS_NO_ID) {
        if (known >= HS_SPEAKERS_MAX)
            hs_text_full(t, HS_FULL_SPEAKERS);
        t->no_memory = t->no_memory || known < HS_SPEAKERS_MAX;
        return HS_NO_ID;
    }
    if (t->speakers.count > known) {
        s.first_line = record->line;
        if (!HS_GROW(t->job->speakers, t->job->speaker_cap, t->job->speaker_count + 1u)) {
            t->no_memory = true;
            return HS_NO_ID;
        }
        t->job->speakers[t->job->speaker_count++] = s;
    }
    hs_text_speaks(t, t->first_speaker + id, record);
    return t->first_speaker + id;
}

/* ---- what is said ---- */

struct hs_str hs_found_value(const struct hs_text *text, const struct hs_found *found,
                             const char *field)
{
    const struct hs_family *family = &text->families->rows[found->family];

    for (uint32_t i = 0; i < family->field_count; i++) {
        if (hs_str_is(family->fields[i], field))
            return found->values[i];
    }
    return (struct hs_str){ .p = NULL };
}

uint64_t hs_found_number(const struct hs_text *text, const struct hs_found *found,
                         const char *field, uint64_t none)
{
    uint64_t value;

    return hs_str_number(hs_found_value(text, found, field), &value) ? value : none;
}

bool hs_text_keep(struct hs_text *t, uint64_t line, struct hs_str segment)
{
    if (line <= t->kept_line || !segment.p)
        return true;
    t->kept_line = line;
    if (t->kept.packed_bytes > HS_KEPT_BYTES_MAX) {
        hs_text_full(t, HS_FULL_EVIDENCE);
        return true;
    }
    return hs_text_writer_put(&t->kept, line, segment);
}

static uint32_t put_arg(struct hs_text *t, uint32_t n, struct hs_str name, struct hs_str value)
{
    if (!value.p || n + 2 > HS_ARGS_MAX)
        return n;
    t->args[n] = hs_text_string(t, name);
    t->args[n + 1] = hs_text_string(t, value);
    return n + 2;
}

static uint32_t put_number(struct hs_text *t, uint32_t n, struct hs_str name, uint32_t value)
{
    char text[16];

    if (value == HS_NO_ID)
        return n;
    (void)snprintf(text, sizeof(text), "%u", value);
    return put_arg(t, n, name, hs_str_of(text));
}

/* What the header of a record says belongs to every event of it. */
static uint32_t put_header(struct hs_text *t, const struct hs_record *record)
{
    uint32_t n = 0;

    n = put_arg(t, n, HS_STR("pg"), record->pg);
    n = put_arg(t, n, HS_STR("pg_desc"), record->pg_desc);
    n = put_number(t, n, HS_STR("pg_rank"), record->pg_rank);
    n = put_number(t, n, HS_STR("pg_id"), record->pg_id);
    if (record->level)
        n = put_arg(t, n, HS_STR("level"), (struct hs_str){ .p = &record->level, .n = 1 });
    return record->repeated ? put_number(t, n, HS_STR("repeated"), record->repeated) : n;
}

static uint32_t args_of(struct hs_text *t, const struct hs_record *record,
                        const struct hs_said *said)
{
    const struct hs_family *family = &t->families->rows[said->family];
    uint32_t known = t->job->args_keys.count, n = put_header(t, record), id;

    for (uint32_t i = 0; i < family->field_count; i++)
        n = put_arg(t, n, family->fields[i], said->values ? said->values[i] : (struct hs_str){ 0 });
    if (n == 0 || t->no_memory)
        return HS_NO_ID;
    id = hs_job_put_args(t->job, t->args, n);
    t->text_bytes += t->job->args_keys.count > known ? n * sizeof(*t->args) : 0;
    t->no_memory = t->no_memory || id == HS_NO_ID;
    return id;
}

bool hs_text_odd(struct hs_text *t, const char *code)
{
    return hs_parse_diagnose(t->px, code, t->offset_bytes, HS_NO_POSITION,
                             (struct hs_str){ .p = "" });
}

bool hs_met_add(struct hs_met *met, uint32_t id)
{
    size_t had = met->cap;

    if (!HS_GROW(met->seen, met->cap, (size_t)id + 1))
        return false;
    memset(met->seen + had, 0, (met->cap - had) * sizeof(*met->seen));
    met->count += !met->seen[id];
    met->seen[id] = true;
    return true;
}

void hs_text_full(struct hs_text *t, enum hs_full kind)
{
    if (t->lost[kind].count++ == 0)
        t->lost[kind].offset_bytes = t->offset_bytes;
}

/* What was left out, kind by kind. */
bool hs_text_say_lost(struct hs_text *t)
{
    static const char *const words[HS_FULL_KINDS] = {
        "speakers",          "events", "communicators", "links", "settings", "texts",
        "lines of evidence", "calls",  "frames",        "stacks"
    };
    bool ok = true;

    for (int kind = 0; kind < HS_FULL_KINDS; kind++) {
        char text[80];

        (void)snprintf(text, sizeof(text), "%s: %llu more", words[kind],
                       (unsigned long long)t->lost[kind].count);
        ok = ok && (t->lost[kind].count == 0 ||
                    hs_parse_diagnose(t->px, "too-many-events", t->lost[kind].offset_bytes,
                                      HS_NO_POSITION, hs_str_of(text)));
    }
    return ok;
}

bool hs_text_put_event(struct hs_text *t, const struct hs_record *record,
                       const struct hs_said *said, uint32_t family, uint32_t args)
{
    struct hs_event e = {
        .source = t->px->source,
        .speaker = said->speaker,
        .family = family,
        .args = args,
        .stack = said->stack,
        .line = said->line,
    };
    struct hs_str key = { .p = (const char *)&e, .n = offsetof(struct hs_event, count) };
    uint32_t known = t->events.count, id;
    struct hs_event *row;

    t->job->sources[t->px->source].records++;
    id = known < HS_EVENTS_MAX ? hs_intern_put(&t->events, key) : hs_intern_find(&t->events, key);
    if (id == HS_NO_ID) {
        if (known >= HS_EVENTS_MAX)
            hs_text_full(t, HS_FULL_EVENTS);
        return known >= HS_EVENTS_MAX;
    }
    if (t->events.count > known) {
        if (!HS_GROW(t->job->events, t->job->event_cap, t->job->event_count + 1u))
            return false;
        t->job->events[t->job->event_count++] = e;
    }
    row = &t->job->events[t->first_event + id];
    row->count++;
    row->last_line = said->line;
    note_time(&row->time_ns, &row->last_time_ns, &row->clock, said->stamp);
    return hs_text_keep(t, said->line, record->segment);
}

bool hs_text_say(struct hs_text *t, const struct hs_record *record, const struct hs_said *said)
{
    uint32_t family = string_of(t, t->families->rows[said->family].name);
    uint32_t args = args_of(t, record, said);

    if (t->no_memory)
        return false;
    hs_known_note_event(t, family, args);
    return hs_text_put_event(t, record, said, family, args);
}

/* The chain of the speaker; NULL without memory. */
static struct hs_fact_chain *chain_of(struct hs_text *t)
{
    uint32_t i = t->speaker - t->first_speaker;

    if (!HS_GROW(t->chains, t->chain_cap, (size_t)i + 1))
        return NULL;
    while (t->chain_count <= i)
        t->chains[t->chain_count++] = (struct hs_fact_chain){ .newest = 0 };
    return &t->chains[i];
}

enum fact_is { FACT_NEW, FACT_KNOWN, FACT_LEFT_OUT, FACT_FAILED /* no memory */ };

/* Whether the speaker has said this before; what is new will be known. */
static enum fact_is look_up_fact(struct hs_text *t, const struct hs_fact *fact)
{
    const struct hs_fact *rows = t->job->facts + t->first_fact;
    struct hs_str key = { .p = (const char *)fact, .n = offsetof(struct hs_fact, line) };
    struct hs_fact_chain *chain = chain_of(t);
    uint32_t count = t->job->fact_count - t->first_fact, known = t->facts.count;

    if (!chain || !HS_GROW(t->older_fact, t->older_cap, (size_t)count + 1))
        return FACT_FAILED;
    for (uint32_t i = chain->newest; i; i = t->older_fact[i - 1]) {
        if (rows[i - 1].name == fact->name && rows[i - 1].value == fact->value)
            return FACT_KNOWN;
    }
    if (count >= HS_FACTS_MAX)
        return FACT_LEFT_OUT;
    if (chain->count < HS_CHAINED_FACTS_MAX) {
        t->older_fact[count] = chain->newest;
        chain->newest = count + 1;
        chain->count++;
        return FACT_NEW;
    }
    if (hs_intern_put(&t->facts, key) == HS_NO_ID)
        return FACT_FAILED;
    return t->facts.count > known ? FACT_NEW : FACT_KNOWN;
}

/* The line of a fact, unless many lines with this value are kept already. HS_NO_ID: no value. */
static bool keep_fact_line(struct hs_text *t, const struct hs_record *record, uint32_t value)
{
    uint32_t cap = t->kept_values_cap;

    if (value == HS_NO_ID)
        return hs_text_keep(t, record->line, record->segment);
    if (!HS_GROW(t->kept_values, t->kept_values_cap, (size_t)value + 1))
        return false;
    memset(t->kept_values + cap, 0, t->kept_values_cap - cap);
    if (t->kept_values[value] >= HS_FACT_LINES_MAX)
        return true;
    t->kept_values[value]++;
    return hs_text_keep(t, record->line, record->segment);
}

bool hs_text_put_fact(struct hs_text *t, const struct hs_record *record, uint32_t name,
                      uint32_t value)
{
    struct hs_fact fact = { .source = t->px->source,
                            .speaker = t->speaker,
                            .name = name,
                            .value = value,
                            .line = record->line };
    struct hs_job *job = t->job;

    switch (look_up_fact(t, &fact)) {
    case FACT_NEW:
        break;
    case FACT_KNOWN:
        return true;
    case FACT_LEFT_OUT:
        hs_text_full(t, HS_FULL_SETTINGS);
        return true;
    case FACT_FAILED:
        return false;
    }
    if (!HS_GROW(job->facts, job->fact_cap, job->fact_count + 1u))
        return false;
    job->facts[job->fact_count++] = fact;
    job->sources[t->px->source].records++;
    return keep_fact_line(t, record, value);
}

bool hs_text_fact(struct hs_text *t, const struct hs_record *record, struct hs_str name,
                  struct hs_str value)
{
    uint32_t name_id = string_of(t, name), value_id = string_of(t, value);

    if (t->no_memory)
        return false;
    hs_known_note_fact(t, name_id, value_id);
    return hs_text_put_fact(t, record, name_id, value_id);
}

/* A family with keep = fact that no taker knows names a setting itself: values name and value. */
static bool take_setting(struct hs_text *t, const struct hs_record *record,
                         const struct hs_found *found)
{
    const struct hs_family *family = &t->families->rows[found->family];
    struct hs_str name = hs_found_value(t, found, "name");
    struct hs_str value = hs_found_value(t, found, "value");

    if (name.p && value.p)
        return hs_text_fact(t, record, name, value);
    for (uint32_t i = 0; i < family->field_count; i++) {
        char dotted[128];
        int n = snprintf(dotted, sizeof(dotted), "%.*s.%.*s", HS_STR_ARG(family->name),
                         HS_STR_ARG(family->fields[i]));

        if (found->values[i].p && n > 0 && (size_t)n < sizeof(dotted) &&
            !hs_text_fact(t, record, (struct hs_str){ .p = dotted, .n = (size_t)n },
                          found->values[i]))
            return false;
    }
    return true;
}

bool hs_text_take_found(struct hs_text *t, const struct hs_record *record,
                        const struct hs_found *found)
{
    const struct hs_family *family = &t->families->rows[found->family];
    const struct hs_taker *taker = t->takers[found->family];
    struct hs_said said = { .family = found->family,
                            .speaker = t->speaker,
                            .values = found->values,
                            .stack = HS_NO_ID,
                            .line = record->line,
                            .stamp = record->stamp };

    if (taker && !taker->take(t, record, found))
        return false;
    switch (family->keep) {
    case HS_KEEP_EVENT:
        return hs_text_say(t, record, &said);
    case HS_KEEP_FACT:
        return taker || take_setting(t, record, found);
    case HS_KEEP_COUNT:
        hs_known_note_count(t);
        t->job->sources[t->px->source].records++;
        break;
    }
    return true;
}
