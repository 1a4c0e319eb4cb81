/*
 * nccl_inspector.c - lines of NCCL's Inspector: one JSON object for each call that completed.
 *
 * There may be millions. What counts is how far each rank of a communicator has come: its last
 * completed call of each operation, how many there were, and the slowest. These become events at
 * the end of the source, with the last line of each as evidence.
 */
#include "base/json.h"
#include "parsers/records_internal.h"

#include <stdlib.h>

/* What one line says. */
struct line {
    struct hs_str id, rank, ranks, nodes, op, peer, host, pid;
    uint64_t seq, elapsed_us, time_us;
    bool has_seq;
};

/* The calls of one operation of one rank of a communicator. */
struct frontier {
    struct hs_record head; /* of the last line */
    uint32_t speaker;
    struct hs_buf text;               /* of that line */
    struct hs_record_value values[8]; /* texts of the job */
    uint32_t value_count;
    uint64_t first_seq, last_seq, count, elapsed_us, slowest_us;
};

struct hs_inspector {
    struct hs_intern keys;
    struct frontier *rows; /* by key */
    uint32_t cap;
    bool full; /* and said so */
};

void hs_inspector_free(struct hs_inspector *inspector)
{
    if (!inspector)
        return;
    for (uint32_t i = 0; i < inspector->keys.count; i++)
        hs_buf_release(&inspector->rows[i].text);
    hs_intern_release(&inspector->keys);
    free(inspector->rows);
    free(inspector);
}

static void take_text(struct line *line, struct hs_str key, struct hs_str value)
{
    const struct {
        const char *key;
        struct hs_str *to;
    } texts[] = { { "id", &line->id },         { "rank", &line->rank },
                  { "n_ranks", &line->ranks }, { "nnodes", &line->nodes },
                  { "coll", &line->op },       { "p2p", &line->op },
                  { "p2p_peer", &line->peer }, { "hostname", &line->host },
                  { "pid", &line->pid } };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (hs_str_is(key, texts[i].key))
            *texts[i].to = value;
    }
}

static void take_number(struct line *line, struct hs_str key, uint64_t value)
{
    if (hs_str_is(key, "coll_sn") || hs_str_is(key, "p2p_sn")) {
        line->seq = value;
        line->has_seq = true;
    } else if (hs_str_is(key, "coll_exec_time_us") || hs_str_is(key, "p2p_exec_time_us")) {
        line->elapsed_us = value;
    } else if (hs_str_is(key, "dump_timestamp_us")) {
        line->time_us = value;
    }
}

/* The members of header, metadata and coll_perf or p2p_perf; their keys are all different. */
static bool read_line(struct hs_str text, struct line *out)
{
    struct line line = { .has_seq = false };
    struct hs_str key = { .n = 0 };
    struct hs_json_token token;
    struct hs_json json;
    enum hs_json_kind kind;

    hs_json_init(&json, text);
    while ((kind = hs_json_next(&json, &token)) != HS_JSON_END && kind != HS_JSON_ERROR) {
        if (json.depth != 2)
            continue;
        if (kind == HS_JSON_KEY)
            key = token.text;
        else if (kind == HS_JSON_STRING || kind == HS_JSON_INT)
            take_text(&line, key, token.text);
        if (kind == HS_JSON_INT && token.i >= 0)
            take_number(&line, key, (uint64_t)token.i);
    }
    if (kind == HS_JSON_ERROR || !line.has_seq || !line.id.n || !line.op.n)
        return false;
    *out = line;
    return true;
}

static bool make_key(struct hs_text *t, const struct line *line, struct hs_buf *key)
{
    const struct hs_str parts[] = { line->id,   line->rank, line->op,
                                    line->peer, line->host, line->pid };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        hs_buf_put(key, parts[i]);
        hs_buf_putc(key, '\n');
    }
    t->no_memory = t->no_memory || key->failed;
    return !key->failed;
}

static void set(struct hs_text *t, struct frontier *row, const char *name, struct hs_str value)
{
    uint32_t id;

    if (!value.n)
        return;
    id = hs_intern_put(&t->job->strings, value);
    t->no_memory = t->no_memory || id == HS_NO_ID;
    if (id != HS_NO_ID)
        row->values[row->value_count++] =
            (struct hs_record_value){ name, hs_job_string(t->job, id) };
}

/* The row of a line; NULL without memory, or when there are too many. */
static struct frontier *row_of(struct hs_text *t, struct hs_inspector *inspector,
                               const struct line *line, struct hs_str key)
{
    uint32_t known = inspector->keys.count, id;
    struct frontier *row;

    id = known < HS_RECORDS_OPEN_MAX ? hs_intern_put(&inspector->keys, key)
                                     : hs_intern_find(&inspector->keys, key);
    if (id == HS_NO_ID) {
        if (known < HS_RECORDS_OPEN_MAX || inspector->full) {
            t->no_memory = t->no_memory || known < HS_RECORDS_OPEN_MAX;
            return NULL;
        }
        inspector->full = true;
        t->no_memory = t->no_memory || !hs_parse_diagnose(t->px, "too-many-events", t->offset_bytes,
                                                          HS_NO_POSITION, HS_STR(""));
        return NULL;
    }
    if (inspector->keys.count == known)
        return &inspector->rows[id];
    if (!HS_GROW(inspector->rows, inspector->cap, (size_t)id + 1)) {
        inspector->keys.count--; /* rows and keys go together */
        t->no_memory = true;
        return NULL;
    }
    row = &inspector->rows[id];
    *row = (struct frontier){ .first_seq = line->seq };
    hs_buf_init(&row->text);
    set(t, row, "commid", line->id);
    set(t, row, "rank", line->rank);
    set(t, row, "nranks", line->ranks);
    set(t, row, "nodes", line->nodes);
    set(t, row, "op", line->op);
    set(t, row, "peer", line->peer);
    set(t, row, "host", line->host);
    set(t, row, "pid", line->pid);
    return row;
}

static void update(struct hs_text *t, struct frontier *row, const struct hs_record *record,
                   const struct line *line)
{
    size_t n = record->segment.n;

    row->count++;
    row->slowest_us = line->elapsed_us > row->slowest_us ? line->elapsed_us : row->slowest_us;
    row->first_seq = line->seq < row->first_seq ? line->seq : row->first_seq;
    if (line->seq < row->last_seq)
        return;
    row->last_seq = line->seq;
    row->elapsed_us = line->elapsed_us;
    hs_record_clear(&row->head);
    row->head.line = record->line;
    row->head.offset_bytes = record->offset_bytes;
    row->head.stamp = record->stamp;
    if (line->time_us && line->time_us < INT64_MAX / 1000)
        row->head.stamp = (struct hs_stamp){ .ns = (int64_t)line->time_us * 1000,
                                             .clock = HS_CLOCK_DATE | HS_CLOCK_YEAR |
                                                      HS_CLOCK_ZONE | HS_CLOCK_FINE };
    row->speaker = t->speaker;
    row->text.n = 0;
    hs_buf_put(&row->text,
               (struct hs_str){ .p = record->segment.p,
                                .n = n < HS_TEXT_LINE_BYTES_MAX ? n : HS_TEXT_LINE_BYTES_MAX });
    t->no_memory = t->no_memory || row->text.failed;
}

bool hs_inspector_take(struct hs_text *t, struct hs_inspector **inspector,
                       const struct hs_record *record)
{
    struct line line;
    struct frontier *row;
    struct hs_buf key;

    if (!read_line(hs_trim(record->text), &line))
        return true;
    if (!*inspector) {
        *inspector = calloc(1, sizeof(**inspector));
        if (!*inspector)
            return false;
        hs_intern_init(&(*inspector)->keys);
    }
    hs_buf_init(&key);
    row = make_key(t, &line, &key) ? row_of(t, *inspector, &line, hs_buf_str(&key)) : NULL;
    hs_buf_release(&key);
    if (row)
        update(t, row, record, &line);
    return !t->no_memory;
}

static int by_line(const void *a, const void *b)
{
    const struct frontier *x = a, *y = b;

    return (x->head.line > y->head.line) - (x->head.line < y->head.line);
}

static void say(struct hs_text *t, struct frontier *row)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = { { "seq", row->last_seq },
                    { "first_seq", row->first_seq },
                    { "count", row->count },
                    { "elapsed_us", row->elapsed_us },
                    { "slowest_us", row->slowest_us } };
    char texts[5][24];
    struct hs_record_value values[16];
    uint32_t n = row->value_count;

    memcpy(values, row->values, n * sizeof(*values));
    for (size_t i = 0; i < 5; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%llu", (unsigned long long)numbers[i].value);
        values[n++] = (struct hs_record_value){ numbers[i].name, hs_str_of(texts[i]) };
    }
    row->head.segment = row->head.text = hs_buf_str(&row->text);
    hs_records_say(t, &(struct hs_told){ .family = "INSPECTOR",
                                         .head = &row->head,
                                         .speaker = row->speaker,
                                         .stack = HS_NO_ID,
                                         .values = values,
                                         .count = n });
}

void hs_inspector_end(struct hs_text *t, struct hs_inspector *inspector)
{
    if (!inspector || !inspector->keys.count)
        return;
    qsort(inspector->rows, inspector->keys.count, sizeof(*inspector->rows), by_line);
    for (uint32_t i = 0; i < inspector->keys.count; i++)
        say(t, &inspector->rows[i]);
}
