/*
 * store_read.c - the facts of a database become a job again.
 *
 * The file may be damaged or a stranger's: every value must have the type and range of its column,
 * every number that refers to a row is checked against the rows that are there, ids must be 0, 1,
 * 2, ..., a text that should be a list must be one, and rows that others count must be there.
 */
#include "base/limits.h"
#include "schema/store_loading.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- one table each: how a row is appended ---- */

typedef enum hs_status append_fn(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                 uint64_t id);

static enum hs_status expect_id(struct loading *l, const struct hs_table *table, uint64_t id,
                                uint32_t got)
{
    if (got == id)
        return HS_OK;
    return got == HS_NO_ID ? hs_no_memory(l->err)
                           : hs_load_damaged(l, table->name, id, "it is there twice");
}

static enum hs_status append_string(struct loading *l, sqlite3_stmt *s,
                                    const struct hs_table *table, uint64_t id)
{
    int type = sqlite3_column_type(s, 1);

    if (type != SQLITE_TEXT && type != SQLITE_BLOB)
        return hs_load_damaged(l, table->name, id, "it is no text");
    return expect_id(l, table, id, hs_intern_put(&l->job->strings, hs_load_bytes(s, 1)));
}

static enum hs_status append_list(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                  uint64_t id)
{
    if (!hs_load_list(l, s))
        return hs_load_damaged(l, table->name, id, "it is not a list");
    for (uint32_t i = 0; i < l->word_count; i++) {
        if (l->words[i] > HS_RANK_MAX)
            return hs_load_damaged(l, table->name, id, "a number is out of range");
    }
    return expect_id(l, table, id, hs_job_put_list(l->job, l->words, l->word_count));
}

static enum hs_status append_frame(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                   uint64_t id)
{
    struct hs_frame frame;
    enum hs_status status = hs_load_row(l, s, table, &frame);

    return status == HS_OK ? expect_id(l, table, id, hs_job_put_frame(l->job, &frame)) : status;
}

static enum hs_status append_stack(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                   uint64_t id)
{
    if (!hs_load_list(l, s) || l->word_count > HS_FRAMES_MAX)
        return hs_load_damaged(l, table->name, id, "it is not a list of frames");
    for (uint32_t i = 0; i < l->word_count; i++) {
        if (l->words[i] >= l->job->frames_keys.count)
            return hs_load_damaged(l, table->name, id, "it refers to a row that is not there");
    }
    return expect_id(l, table, id, hs_job_put_stack(l->job, l->words, l->word_count));
}

static enum hs_status append_args(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                  uint64_t id)
{
    if (!hs_load_list(l, s) || l->word_count % 2 || l->word_count > HS_ARGS_MAX)
        return hs_load_damaged(l, table->name, id, "it is not a list of names and values");
    for (uint32_t i = 0; i < l->word_count; i++) {
        if (l->words[i] >= l->job->strings.count)
            return hs_load_damaged(l, table->name, id, "it refers to a row that is not there");
    }
    return expect_id(l, table, id, hs_job_put_args(l->job, l->words, l->word_count));
}

static enum hs_status append_signature(struct loading *l, sqlite3_stmt *s,
                                       const struct hs_table *table, uint64_t id)
{
    int key = 0;
    uint32_t got;

    while (table->columns[key].kind != HS_COLUMN_INTERNED_KEY)
        key++;
    if (sqlite3_column_type(s, key + 1) != SQLITE_BLOB ||
        !hs_load_key(l, hs_load_bytes(s, key + 1)))
        return hs_load_damaged(l, table->name, id, "its key is no key");
    got = hs_job_put_signature_key(l->job, l->words, l->word_count);
    return got == HS_NO_ID ? hs_load_damaged(l, table->name, id, "its key is no key")
                           : expect_id(l, table, id, got);
}

static enum hs_status append_source(struct loading *l, sqlite3_stmt *s,
                                    const struct hs_table *table, uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_source_row row = { .name = HS_NO_ID };
    enum hs_status status = hs_load_row(l, s, table, &row);

    (void)id;
    if (status != HS_OK)
        return status;
    if (row.name == HS_NO_ID)
        return hs_load_damaged(l, table->name, id, "it has no name");
    if (!HS_GROW(job->sources, job->source_cap, job->source_count + 1u))
        return hs_no_memory(l->err);
    job->sources[job->source_count++] = row;
    return HS_OK;
}

static enum hs_status append_diagnostic(struct loading *l, sqlite3_stmt *s,
                                        const struct hs_table *table, uint64_t id)
{
    struct hs_diagnostic row;
    enum hs_status status = hs_load_row(l, s, table, &row);

    if (status == HS_OK && row.source == HS_NO_ID)
        status = hs_load_damaged(l, table->name, id, "it has no source");
    if (status == HS_OK && !hs_job_add_diagnostic(l->job, &row))
        status = hs_no_memory(l->err);
    return status;
}

static const struct hs_line_table *line_table(const char *name)
{
    const struct hs_line_table *t = hs_line_tables;

    while (t->name && strcmp(t->name, name) != 0)
        t++;
    return t->name ? t : NULL;
}

/* Rows that a row of `source` refers to must be that source's, too: whose source is `id`? */
static uint32_t source_of_row(const struct hs_job *job, const struct hs_line_table *table,
                              uint32_t id)
{
    uint32_t count;
    const char *rows = hs_job_rows(job, table, &count);

    return *(const uint32_t *)(const void *)(rows + id * table->row_bytes);
}

/* What is wrong with how a row of a log lies among the others; NULL: nothing. */
static const char *misplaced(const struct hs_job *job, const struct hs_table *table,
                             const struct hs_line_table *home, const void *row)
{
    const char *fields = row;
    uint32_t source = *(const uint32_t *)row, count;

    (void)hs_job_rows(job, home, &count);
    if (source == HS_NO_ID)
        return "it has no source";
    if (count && source_of_row(job, home, count - 1) > source)
        return "it is not beside the rows of its source";
    for (const struct hs_column *c = table->columns; c->name; c++) {
        const struct hs_line_table *target = c->target ? line_table(c->target) : NULL;
        uint32_t id = target ? *(const uint32_t *)(const void *)(fields + c->offset) : HS_NO_ID;

        if (id != HS_NO_ID && source_of_row(job, target, id) != source)
            return "it refers to another source's row";
    }
    return NULL;
}

static enum hs_status append_line_row(struct loading *l, sqlite3_stmt *s,
                                      const struct hs_table *table, uint64_t id)
{
    const struct hs_line_table *home = line_table(table->name);
    union {
        uint64_t align;
        char bytes[256];
    } row = { .align = 0 };
    enum hs_status status;
    const char *wrong;

    assert(home && home->row_bytes <= sizeof(row));
    status = hs_load_row(l, s, table, &row);
    if (status != HS_OK)
        return status;
    wrong = misplaced(l->job, table, home, &row);
    if (wrong)
        return hs_load_damaged(l, table->name, id, wrong);
    return hs_job_add_row(l->job, home, &row) ? HS_OK : hs_no_memory(l->err);
}

static enum hs_status append_dump(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                  uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_dump row = { .operations = NULL };
    enum hs_status status = hs_load_row(l, s, table, &row);
    uint32_t count = row.operation_count;

    if (status != HS_OK)
        return status;
    if (row.source == HS_NO_ID || count > HS_OPERATIONS_MAX || row.member_count > HS_GROUPS_MAX)
        return hs_load_damaged(l, table->name, id, "a number is out of range");
    if (!HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u) ||
        !HS_GROW(l->calls, l->call_cap, job->dump_count + 1u))
        return hs_no_memory(l->err);
    l->calls[job->dump_count] = count;
    row.operation_count = 0; /* counted up as they come */
    job->dumps[job->dump_count++] = row;
    return HS_OK;
}

static enum hs_status append_member(struct loading *l, sqlite3_stmt *s,
                                    const struct hs_table *table, uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_member row = { .name = HS_NO_ID };
    enum hs_status status = hs_load_row(l, s, table, &row);

    if (status != HS_OK)
        return status;
    if (row.dump == HS_NO_ID || row.name == HS_NO_ID)
        return hs_load_damaged(l, table->name, id, "it has no dump or no name");
    if (!HS_GROW(job->members, job->member_cap, job->member_count + 1u))
        return hs_no_memory(l->err);
    job->members[job->member_count++] = row;
    return HS_OK;
}

static enum hs_status append_operation(struct loading *l, sqlite3_stmt *s,
                                       const struct hs_table *table, uint64_t id)
{
    uint64_t dump_id = id >> 32;
    struct hs_dump *dump;
    struct hs_operation row = { .created_ns = 0 };
    enum hs_status status = hs_load_row(l, s, table, &row);
    uint32_t count;

    if (status != HS_OK)
        return status;
    if (dump_id >= l->job->dump_count)
        return hs_load_damaged(l, table->name, id, "it belongs to a dump that is not there");
    dump = &l->job->dumps[dump_id];
    count = dump->operation_count;
    if ((id & UINT32_MAX) != count || count >= l->calls[dump_id] ||
        row.member >= dump->member_count || row.signature == HS_NO_ID)
        return hs_load_damaged(l, table->name, id, "it is out of place");
    if ((count & (count - 1)) == 0) { /* full at powers of two */
        size_t want = count ? (size_t)count * 2 : 1;
        struct hs_operation *grown = realloc(dump->operations, want * sizeof(*grown));

        if (!grown)
            return hs_no_memory(l->err);
        dump->operations = grown;
    }
    dump->operations[dump->operation_count++] = row;
    return HS_OK;
}

static const struct {
    const char *table;
    append_fn *append;
} appenders[] = {
    { "string", append_string },       { "list", append_list },
    { "frame", append_frame },         { "stack", append_stack },
    { "args", append_args },           { "signature", append_signature },
    { "source", append_source },       { "diagnostic", append_diagnostic },
    { "text_block", append_line_row }, { "speaker", append_line_row },
    { "event", append_line_row },      { "communicator", append_line_row },
    { "link", append_line_row },       { "fact", append_line_row },
    { "dump", append_dump },           { "member", append_member },
    { "operation", append_operation },
};

/* ---- tables in the order of tables.def: what is referred to comes first ---- */

/* What a table refers to is complete when it is read. */
static void set_limits(struct loading *l, const struct hs_table *table)
{
    const struct hs_rows rows = { .job = l->job };

    for (int n = 0; table->columns[n].name; n++) {
        const char *target = table->columns[n].target;

        l->limits[n + 1] = target ? hs_table_base(hs_table_find(target), &rows).count : 0;
    }
}

/* The rows from number `first` to number `last`. */
static enum hs_status read_rows(struct loading *l, const struct hs_table *table, append_fn *append,
                                int64_t first, int64_t last)
{
    bool operations = append == append_operation;
    sqlite3_stmt *s = NULL;
    enum hs_status status = HS_OK;
    uint64_t expected = 0;
    struct hs_buf sql;
    int rc;

    set_limits(l, table);
    hs_buf_init(&sql);
    hs_buf_put(&sql, HS_STR("SELECT id"));
    for (const struct hs_column *c = table->columns; c->name; c++)
        hs_buf_printf(&sql, ", \"%s\"", c->name);
    hs_buf_printf(&sql, " FROM main.\"%s\" WHERE id BETWEEN %lld AND %lld ORDER BY id", table->name,
                  (long long)first, (long long)last);
    rc = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(l->db, sql.p, (int)sql.n, &s, NULL);
    hs_buf_release(&sql);
    if (rc == SQLITE_ERROR)
        return hs_fail(l->err, HS_EIO, "'%s' is damaged: %s", l->path, sqlite3_errmsg(l->db));
    if (rc != SQLITE_OK)
        return hs_store_fail(l->db, l->err, "read", l->path);
    while (status == HS_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t id = (uint64_t)sqlite3_column_int64(s, 0);

        if (!operations && id != expected++)
            status = hs_load_damaged(l, table->name, id,
                                     (int64_t)id < 0 ? "no row has such a number"
                                                     : "rows are missing before it");
        else
            status = append(l, s, table, id);
    }
    if (status == HS_OK && rc != SQLITE_DONE)
        status = hs_store_fail(l->db, l->err, "read", l->path);
    (void)sqlite3_finalize(s);
    return status;
}

/* The second half of the operations, by a thread and a connection of its own. */
struct second_half {
    struct loading l;
    struct hs_err err;
    const struct hs_table *table;
    int64_t first;
    enum hs_status status;
};

static void *read_second_half(void *self)
{
    struct second_half *half = self;

    half->status = hs_store_open(half->l.path, &half->l.db, &half->err);
    if (half->status == HS_OK)
        half->status = read_rows(&half->l, half->table, append_operation, half->first, INT64_MAX);
    (void)sqlite3_close(half->l.db);
    return NULL;
}

/* The first dump that does not belong to the first half; 0: they are too few to share. */
static uint32_t middle_dump(const struct loading *l)
{
    enum { MANY = 10000 };
    uint64_t all = 0, before = 0;
    uint32_t d = 0;

    for (uint32_t i = 0; i < l->job->dump_count; i++)
        all += l->calls[i];
    while (all >= MANY && d < l->job->dump_count && before < all / 2)
        before += l->calls[d++];
    return d;
}

/* Most of a database are operations. Those of a dump are appended to that dump alone, so that two
 * threads can share the dumps. */
static enum hs_status read_operations(struct loading *l, const struct hs_table *table)
{
    struct second_half half = { .l = *l, .table = table, .first = (int64_t)middle_dump(l) << 32 };
    enum hs_status status;
    pthread_t thread;

    half.l.db = NULL;
    half.l.err = &half.err;
    if (half.first == 0 || pthread_create(&thread, NULL, read_second_half, &half) != 0)
        return read_rows(l, table, append_operation, INT64_MIN, INT64_MAX);
    status = read_rows(l, table, append_operation, INT64_MIN, half.first - 1);
    (void)pthread_join(thread, NULL);
    if (status != HS_OK || half.status == HS_OK)
        return status;
    *l->err = half.err;
    return half.status;
}

static enum hs_status read_table(struct loading *l, const struct hs_table *table, append_fn *append)
{
    if (!hs_store_is_plain(l->db, table->name))
        return hs_fail(l->err, HS_EIO, "'%s' is damaged: it has no table %s", l->path, table->name);
    return append == append_operation ? read_operations(l, table)
                                      : read_rows(l, table, append, INT64_MIN, INT64_MAX);
}

/* What no single row can show: that a dump has all its calls, and that its groups are its own. */
static enum hs_status check_dumps(struct loading *l)
{
    for (uint32_t i = 0; i < l->job->dump_count; i++) {
        const struct hs_dump *d = &l->job->dumps[i];

        if (d->operation_count != l->calls[i])
            return hs_load_damaged(l, "dump", i, "rows of operation are missing");
        if ((uint64_t)d->first_member + d->member_count > l->job->member_count)
            return hs_load_damaged(l, "dump", i, "its groups are not there");
        for (uint32_t k = 0; k < d->member_count; k++) {
            if (l->job->members[d->first_member + k].dump != i)
                return hs_load_damaged(l, "dump", i, "its groups are another's");
        }
    }
    return HS_OK;
}

/* And that a source has the diagnostics it counts, as far as they are kept. */
static enum hs_status check_diagnostics(struct loading *l)
{
    const struct hs_job *job = l->job;
    uint32_t *kept = calloc((size_t)job->source_count + 1, sizeof(*kept));
    enum hs_status status = HS_OK;

    if (!kept)
        return hs_no_memory(l->err);
    for (uint32_t i = 0; i < job->diagnostic_count; i++)
        kept[job->diagnostics[i].source]++;
    for (uint32_t i = 0; status == HS_OK && i < job->source_count; i++) {
        uint32_t all = job->sources[i].diagnostics;

        if (kept[i] > all || kept[i] < (all < HS_DIAGNOSTICS_MAX ? all : HS_DIAGNOSTICS_MAX))
            status = hs_load_damaged(l, "source", i, "it counts other rows of diagnostic");
    }
    free(kept);
    return status;
}

enum hs_status hs_store_read(const char *path, struct hs_job *part, struct hs_arena *arena,
                             struct hs_job_options *options, struct hs_err *err)
{
    struct loading l = { .path = path, .job = part, .arena = arena, .err = err };
    enum hs_status status = hs_store_open(path, &l.db, err);

    for (size_t i = 0; status == HS_OK && i < sizeof(appenders) / sizeof(appenders[0]); i++)
        status = read_table(&l, hs_table_find(appenders[i].table), appenders[i].append);
    if (status == HS_OK)
        status = check_dumps(&l);
    if (status == HS_OK)
        status = check_diagnostics(&l);
    if (status == HS_OK)
        status = hs_store_read_options(l.db, path, arena, options, err);
    free(l.words);
    free(l.calls);
    (void)sqlite3_close(l.db);
    return status;
}
