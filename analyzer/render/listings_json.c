/* listings_json.c - what `explain` and `formats` print with --json. */
#include "analyzer/render/render.h"
#include "base/limits.h"
#include "schema/census.h"

#include <cjson/cJSON.h>

static void add_text(cJSON *row, const char *key, struct hs_str text)
{
    struct hs_buf safe;

    hs_buf_init(&safe);
    hs_buf_put_safe(&safe, text, HS_NAME_BYTES_MAX);
    cJSON_AddStringToObject(row, key, safe.p ? safe.p : "");
    hs_buf_release(&safe);
}

static void add_word(cJSON *row, const char *key, const char *word)
{
    cJSON_AddItemToObject(row, key, word ? cJSON_CreateString(word) : cJSON_CreateNull());
}

static void add_position(cJSON *row, const char *key, uint64_t value)
{
    char digits[24];

    if (value == HS_NO_POSITION) {
        cJSON_AddNullToObject(row, key);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    cJSON_AddRawToObject(row, key, digits);
}

static void print_document(cJSON *root, struct hs_buf *out)
{
    char *text = cJSON_Print(root);

    cJSON_Delete(root);
    out->failed = out->failed || !text;
    hs_buf_put(out, hs_str_of(text));
    hs_buf_putc(out, '\n');
    cJSON_free(text);
}

/* ---- topics ---- */

static cJSON *topic_object(const struct hs_topic *t)
{
    cJSON *row = cJSON_CreateObject();

    add_word(row, "code", t->code);
    add_word(row, "kind", hs_topic_kind_name(t->kind));
    add_word(row, "severity", t->severity);
    add_word(row, "title", t->title);
    add_word(row, "means", t->means);
    add_word(row, "remedy", t->remedy);
    return row;
}

void hs_render_topics_json(const struct hs_topic *topic, enum hs_language language,
                           struct hs_buf *out)
{
    cJSON *root = topic ? topic_object(topic) : cJSON_CreateArray();
    const struct hs_topic *t;

    for (size_t i = 0; !topic && (t = hs_topic_at(i, language)); i++)
        cJSON_AddItemToArray(root, topic_object(t));
    print_document(root, out);
}

/* ---- formats ---- */

static cJSON *diagnostic_object(const struct hs_job *job, const struct hs_diagnostic *d)
{
    cJSON *row = cJSON_CreateObject();

    add_word(row, "code", d->code);
    add_position(row, "offset", d->offset_bytes);
    add_position(row, "record", d->record);
    add_text(row, "excerpt", hs_job_string(job, d->excerpt));
    return row;
}

/* Lines of a text by kind. */
static void add_lines(cJSON *object, const struct hs_job *job, uint32_t source)
{
    struct hs_census census;
    struct hs_arena arena;
    cJSON *list;

    hs_arena_init(&arena);
    if (hs_census_take(job, source, &arena, &census) && census.speakers) {
        add_position(object, "speakers", census.speakers);
        add_position(object, "communicators", census.communicators);
        add_position(object, "links", census.links);
        add_position(object, "facts", census.facts);
        add_position(object, "calls", census.calls);
        list = cJSON_AddArrayToObject(object, "lines");
        for (uint32_t i = 0; i < census.count; i++) {
            cJSON *row = cJSON_CreateObject();

            add_text(row, "family", hs_job_string(job, census.rows[i].family));
            add_position(row, "lines", census.rows[i].lines);
            add_position(row, "first_line", census.rows[i].first_line);
            cJSON_AddItemToArray(list, row);
        }
    }
    hs_arena_release(&arena);
}

static cJSON *source_object(const struct hs_format_row *formats, const struct hs_job *job,
                            uint32_t source)
{
    const struct hs_source_row *row = &job->sources[source];
    cJSON *object = cJSON_CreateObject(), *list;
    uint32_t bids;
    const uint32_t *bits = hs_job_list(job, row->bids, &bids);

    add_text(object, "path", hs_job_string(job, row->name));
    add_word(object, "format", row->format);
    add_position(object, "records", row->records);
    add_position(object, "bytes", row->size_bytes);
    list = cJSON_AddArrayToObject(object, "bids");
    for (uint32_t i = 0; i < bids; i++) {
        cJSON *bid = cJSON_CreateObject();

        add_word(bid, "format", formats[i].name);
        add_position(bid, "bits", bits[i]);
        cJSON_AddItemToArray(list, bid);
    }
    add_lines(object, job, source);
    list = cJSON_AddArrayToObject(object, "diagnostics");
    for (uint32_t i = 0; row->diagnostics && i < job->diagnostic_count; i++) {
        if (job->diagnostics[i].source == source)
            cJSON_AddItemToArray(list, diagnostic_object(job, &job->diagnostics[i]));
    }
    return object;
}

void hs_render_formats_json(const struct hs_format_row *formats, uint32_t format_count,
                            const struct hs_job *job, struct hs_buf *out)
{
    cJSON *root = cJSON_CreateArray();

    for (uint32_t i = 0; !job && i < format_count; i++) {
        cJSON *row = cJSON_CreateObject();

        add_word(row, "format", formats[i].name);
        add_word(row, "summary", formats[i].summary);
        cJSON_AddItemToArray(root, row);
    }
    for (uint32_t i = 0; job && i < job->source_count; i++)
        cJSON_AddItemToArray(root, source_object(formats, job, i));
    print_document(root, out);
}
