/*
 * fleet_page.c - the page of a fleet: its rows, column by column, in a template. The page counts
 * and groups them itself, because every choice of the reader counts anew.
 */
#include "analyzer/render/page.h"

#include "base/limits.h"
#include "schema/store.h"

#include <inttypes.h>

#define STRING_OF(value) #value
#define STRING(value) STRING_OF(value)

/* The jobs that are shown: all, or the newest. */
#define SHOWN                                                                                      \
    "WITH shown AS (SELECT id FROM job ORDER BY happened_ns DESC, path LIMIT " STRING(             \
        HS_FLEET_PAGE_JOBS_MAX) ") "

enum { COLUMNS_MAX = 32, TEXT_BYTES_MAX = 16384 };

/* A table of the document: the columns of a query, of which those in `numbers` are numbers. */
struct table {
    const char *key, *query, *numbers;
};

/* clang-format off */
static const struct table tables[] = {
    { "jobs",
      SHOWN
      "SELECT id, path, name, state, code, cause, confidence, action, summary, operation, group_kind,"
      " fingerprint, happened_ns / 1000000 AS happened_ms, happened_from, world_size, gpus,"
      " idle_ns / 1000000 AS idle_ms, exit, signal, \"limit\", tries, trouble, kept_db, kept_report,"
      " (SELECT group_concat(rank, ' ') FROM (SELECT DISTINCT rank FROM culprit"
      "  WHERE job = j.id AND rank IS NOT NULL ORDER BY rank LIMIT 64)) AS ranks,"
      " (SELECT count(DISTINCT rank) FROM culprit WHERE job = j.id) AS rank_count"
      " FROM shown JOIN job j USING (id) ORDER BY happened_ns DESC, path",
      " id happened_ms world_size gpus idle_ms exit signal tries rank_count " },
    { "named",
      SHOWN
      "SELECT * FROM ("
      " SELECT job, 'host' AS kind, host AS what FROM culprit WHERE host IS NOT NULL"
      " UNION SELECT job, 'gpu', host || ':' || gpu FROM culprit"
      "  WHERE host IS NOT NULL AND gpu IS NOT NULL"
      " UNION SELECT job, 'place', file || ' ' || function FROM frame"
      "  WHERE who = 'culprit' AND depth = 0)"
      " WHERE what IS NOT NULL AND job IN shown ORDER BY job, kind, what"
      " LIMIT " STRING(HS_FLEET_PAGE_NAMES_MAX),
      " job " },
    { "faults",
      "SELECT fingerprint, sketch,"
      " (SELECT group_concat(place, ' ‹ ') FROM (SELECT file || ' ' || function AS place FROM frame"
      "  WHERE job = j.id AND who = 'culprit' ORDER BY depth)) AS place,"
      " (SELECT group_concat(place, ' ‹ ') FROM (SELECT file || ' ' || function AS place FROM frame"
      "  WHERE job = j.id AND who = 'waiting' ORDER BY depth)) AS waiting_place"
      /* of the job with the least path: SQLite takes the other columns from the same row */
      " FROM (SELECT fingerprint, sketch, id, min(path) FROM job WHERE fingerprint IS NOT NULL"
      "       GROUP BY fingerprint) j ORDER BY fingerprint",
      " " },
    { "fleet", "SELECT count(*) AS jobs FROM job", " jobs " },
};
/* clang-format on */

/* A table being read: a list of JSON for each column. */
struct columns {
    const struct table *table;
    struct hs_buf lists[COLUMNS_MAX];
    struct hs_buf names[COLUMNS_MAX];
    bool is_number[COLUMNS_MAX];
    int count;
};

static void put_number(struct hs_buf *out, struct hs_str digits)
{
    size_t at = digits.n && digits.p[0] == '-';
    bool whole = digits.p && at < digits.n && digits.n < 20;

    for (; whole && at < digits.n; at++)
        whole = digits.p[at] >= '0' && digits.p[at] <= '9';
    hs_json_key(out, NULL);
    hs_buf_put(out, whole ? digits : HS_STR("null"));
}

static void put_text(struct hs_buf *out, struct hs_str text, struct hs_buf *room)
{
    room->n = 0;
    hs_buf_put_safe(room, text, TEXT_BYTES_MAX);
    out->failed |= room->failed;
    if (!text.p)
        hs_json_text(out, NULL, text);
    else
        hs_json_text(out, NULL, room->n ? hs_buf_str(room) : HS_STR(""));
}

static void take_header(struct columns *c, const struct hs_cell *cells, int count)
{
    char word[64];

    c->count = count < COLUMNS_MAX ? count : COLUMNS_MAX;
    for (int i = 0; i < c->count; i++) {
        hs_buf_put(&c->names[i], cells[i].text);
        hs_json_open(&c->lists[i], NULL, '[');
        (void)snprintf(word, sizeof(word), " %.*s ", HS_STR_ARG(cells[i].text));
        c->is_number[i] = strstr(c->table->numbers, word) != NULL;
    }
}

/* What a stranger's file holds in place of a number is none. */
static bool take_row(void *self, const struct hs_cell *cells, int count, bool header)
{
    struct columns *c = self;
    struct hs_buf room;

    if (header) {
        take_header(c, cells, count);
        return true;
    }
    hs_buf_init(&room);
    for (int i = 0; i < c->count; i++) {
        if (c->is_number[i])
            put_number(&c->lists[i], cells[i].text);
        else
            put_text(&c->lists[i], cells[i].text, &room);
    }
    hs_buf_release(&room);
    return true;
}

static enum hs_status put_table(struct hs_buf *json, const char *path, const struct table *table,
                                struct hs_err *err)
{
    struct columns c = { .table = table };
    char name[64];
    enum hs_status status;

    for (int i = 0; i < COLUMNS_MAX; i++) {
        hs_buf_init(&c.lists[i]);
        hs_buf_init(&c.names[i]);
    }
    status = hs_store_query(path, hs_str_of(table->query), take_row, &c, err);
    hs_json_open(json, table->key, '{');
    for (int i = 0; i < c.count; i++) {
        hs_json_close(&c.lists[i], '[');
        (void)snprintf(name, sizeof(name), "%.*s", HS_STR_ARG(hs_buf_str(&c.names[i])));
        hs_json_key(json, name);
        hs_buf_put(json, hs_buf_str(&c.lists[i]));
        json->failed |= c.lists[i].failed || c.names[i].failed;
    }
    hs_json_close(json, '{');
    for (int i = 0; i < COLUMNS_MAX; i++) {
        hs_buf_release(&c.lists[i]);
        hs_buf_release(&c.names[i]);
    }
    return status;
}

/* What codes and causes mean. */
static void put_topics(struct hs_buf *json)
{
    const struct hs_topic *t;

    hs_json_open(json, "topics", '{');
    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)) != NULL; i++) {
        if (t->kind != HS_TOPIC_CODE && t->kind != HS_TOPIC_CAUSE)
            continue;
        hs_json_open(json, t->code, '{');
        hs_json_word(json, "title", t->title);
        hs_json_word(json, "means", t->means);
        hs_json_close(json, '{');
    }
    hs_json_close(json, '{');
}

enum hs_status hs_render_fleet(const struct hs_fleet_page *page, struct hs_str template,
                               hs_page_sink_fn *sink, void *self, struct hs_err *err)
{
    struct hs_page_blob blob = { .page = NULL };
    enum hs_status status = HS_OK;
    struct hs_buf name;

    hs_buf_init(&blob.json);
    hs_buf_init(&blob.sections);
    hs_buf_init(&name);
    hs_buf_put_safe(&name, page->name, TEXT_BYTES_MAX);
    hs_json_open(&blob.json, NULL, '{');
    hs_json_word(&blob.json, "schema", "hangscope.fleet/1");
    hs_json_word(&blob.json, "tool", HS_VERSION);
    hs_json_text(&blob.json, "name", hs_buf_str(&name));
    hs_json_text(&blob.json, "way", page->way);
    put_topics(&blob.json);
    for (size_t i = 0; status == HS_OK && i < sizeof(tables) / sizeof(tables[0]); i++)
        status = put_table(&blob.json, page->path, &tables[i], err);
    hs_json_close(&blob.json, '{');
    blob.json.failed |= name.failed;
    if (status == HS_OK)
        status = hs_page_fill(template, &blob, sink, self, err);
    hs_buf_release(&blob.json);
    hs_buf_release(&blob.sections);
    hs_buf_release(&name);
    return status;
}
