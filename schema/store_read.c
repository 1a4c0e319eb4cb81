/*
 * store_read.c - the facts of a database become a job again.
 *
 * The file may be damaged or a stranger's: every value must have the type and range of its column,
 * every number that refers to a row is checked against the rows that are there, ids must be 0, 1,
 * 2, ..., a text that should be a list must be one, and rows that others count must be there.
 */
#include "base/limits.h"
#include "schema/store_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct loading {
    sqlite3 *db;
    const char *path;
    struct hs_job *job;
    struct hs_arena *arena;
    struct hs_err *err;
    uint64_t limits[64]; /* rows of the table that each column refers to */
    uint32_t *words;     /* of a list being read */
    uint32_t word_count, word_cap;
    uint32_t *calls; /* by dump: how many operations it should have */
    uint32_t call_cap;
};

static enum hs_status damaged(struct loading *l, const char *table, uint64_t row, const char *what)
{
    return hs_fail(l->err, HS_EIO, "'%s' is damaged: row %lld of %s: %s", l->path, (long long)row,
                   table, what);
}

/* ---- cells ---- */

static struct hs_str cell_bytes(sqlite3_stmt *s, int column)
{
    const char *p = sqlite3_column_type(s, column) == SQLITE_TEXT
                        ? (const char *)sqlite3_column_text(s, column)
                        : sqlite3_column_blob(s, column);

    return (struct hs_str){ .p = p ? p : "", .n = p ? (size_t)sqlite3_column_bytes(s, column) : 0 };
}

/* "[0,1,2]" into l->words. */
static bool read_list(struct loading *l, sqlite3_stmt *s)
{
    struct hs_str text = cell_bytes(s, 1);
    const char *at = text.p, *end = text.p + text.n;

    l->word_count = 0;
    if (sqlite3_column_type(s, 1) != SQLITE_TEXT || text.n < 2 || *at++ != '[')
        return false;
    while (at < end && *at != ']') {
        uint64_t value = 0;
        const char *from = at;

        for (; at < end && *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (at == from || value > UINT32_MAX ||
            !HS_GROW(l->words, l->word_cap, (size_t)l->word_count + 1))
            return false;
        l->words[l->word_count++] = (uint32_t)value;
        if (at < end && *at == ',')
            at++;
    }
    return at + 1 == end;
}

static bool read_key(struct loading *l, struct hs_str bytes)
{
    l->word_count = (uint32_t)(bytes.n / sizeof(uint32_t));
    if (bytes.n % sizeof(uint32_t) || bytes.n > UINT32_MAX ||
        !HS_GROW(l->words, l->word_cap, (size_t)l->word_count + 1))
        return false;
    memcpy(l->words, bytes.p, bytes.n);
    return true;
}

/* ---- one field of one row: the reverse of store_offer.c ---- */

#define PUT(type, value) (*(type *)(void *)at = (type)(value))

static bool may_be_null(enum hs_column_kind kind)
{
    switch (kind) {
    case HS_COLUMN_REAL: /* what is no number is NULL in SQLite */
    case HS_COLUMN_REF:
    case HS_COLUMN_RANK:
    case HS_COLUMN_COUNTER:
    case HS_COLUMN_ID32:
    case HS_COLUMN_TIME:
    case HS_COLUMN_POSITION:
    case HS_COLUMN_FORMAT:
        return true;
    default:
        return false;
    }
}

static int type_of(enum hs_column_kind kind)
{
    switch (kind) {
    case HS_COLUMN_REAL:
        return SQLITE_FLOAT;
    case HS_COLUMN_CODE:
    case HS_COLUMN_FORMAT:
    case HS_COLUMN_INTERNED_LIST:
        return SQLITE_TEXT;
    case HS_COLUMN_BLOB:
    case HS_COLUMN_INTERNED_KEY:
        return SQLITE_BLOB;
    default:
        return SQLITE_INTEGER;
    }
}

/* What stands for NULL in memory. */
static void put_unknown(enum hs_column_kind kind, char *at)
{
    switch (kind) {
    case HS_COLUMN_REAL:
        PUT(float, NAN);
        break;
    case HS_COLUMN_COUNTER:
        PUT(int64_t, -1);
        break;
    case HS_COLUMN_ID32:
        PUT(int32_t, -1);
        break;
    case HS_COLUMN_TIME:
        PUT(int64_t, 0);
        break;
    case HS_COLUMN_POSITION:
        PUT(uint64_t, HS_NO_POSITION);
        break;
    case HS_COLUMN_FORMAT:
        PUT(const char *, NULL);
        break;
    default:
        PUT(uint32_t, HS_NO_ID);
        break;
    }
}

/* A number from `least` to `most`; little-endian, as value_build.h asserts for us all. */
static const char *read_number(sqlite3_stmt *s, int n, int64_t least, int64_t most, char *at,
                               size_t bytes)
{
    int64_t value = sqlite3_column_int64(s, n);

    if (value < least || value > most)
        return "a number is out of range";
    memcpy(at, &value, bytes);
    return NULL;
}

static const char *read_ref(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    int64_t value = sqlite3_column_int64(s, n);

    if (value < 0 || (uint64_t)value >= l->limits[n])
        return "it refers to a row that is not there";
    PUT(uint32_t, value);
    return NULL;
}

static const char *read_real(sqlite3_stmt *s, int n, char *at)
{
    double value = sqlite3_column_double(s, n);

    if (isfinite(value) && fabs(value) > (double)FLT_MAX)
        return "a number is out of range";
    PUT(float, value);
    return NULL;
}

static const char *read_code(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str copy = hs_arena_copy(l->arena, cell_bytes(s, n));
    const struct hs_topic *topic = copy.p ? hs_topic_find(copy.p, HS_ENGLISH) : NULL;

    if (!topic || topic->kind != HS_TOPIC_DIAGNOSTIC)
        return "an unknown code";
    PUT(const char *, topic->code);
    return NULL;
}

/* The name of a format, of ours or of another version; it is shown, so it is a plain word. */
static const char *read_format(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str text = cell_bytes(s, n), copy;

    for (size_t i = 0; i < text.n; i++) {
        if (!(text.p[i] >= 'a' && text.p[i] <= 'z') && !(text.p[i] >= '0' && text.p[i] <= '9') &&
            text.p[i] != '-')
            return "a format that is no word";
    }
    copy = hs_arena_copy(l->arena, text);
    PUT(const char *, copy.p);
    return copy.p && copy.n ? NULL : "a format without a name";
}

static const char *read_blob(struct loading *l, sqlite3_stmt *s, int n, char *at)
{
    struct hs_str copy = hs_arena_copy(&l->job->texts, cell_bytes(s, n));

    PUT(struct hs_str, copy);
    return copy.p ? NULL : "out of memory";
}

/* NULL, or what is wrong. */
static const char *read_field(struct loading *l, sqlite3_stmt *s, int n, const struct hs_column *c,
                              char *row)
{
    int type = sqlite3_column_type(s, n);
    char *at = row + c->offset;

    if (type == SQLITE_NULL && may_be_null(c->kind)) {
        put_unknown(c->kind, at);
        return NULL;
    }
    if (type != type_of(c->kind))
        return type == SQLITE_NULL ? "a value is missing" : "a value is of another type";
    switch (c->kind) {
    case HS_COLUMN_U8:
        return read_number(s, n, 0, UINT8_MAX, at, 1);
    case HS_COLUMN_FLAG:
        return read_number(s, n, 0, 1, at, 1);
    case HS_COLUMN_U16:
        return read_number(s, n, 0, UINT16_MAX, at, 2);
    case HS_COLUMN_U32:
        return read_number(s, n, 0, UINT32_MAX, at, 4);
    case HS_COLUMN_I64:
    case HS_COLUMN_U64:
    case HS_COLUMN_COUNTER:
    case HS_COLUMN_POSITION:
        return read_number(s, n, INT64_MIN, INT64_MAX, at, 8);
    case HS_COLUMN_TIME:
        return read_number(s, n, 0, INT64_MAX, at, 8);
    case HS_COLUMN_ID32:
        return read_number(s, n, INT32_MIN, INT32_MAX, at, 4);
    case HS_COLUMN_RANK:
        return read_number(s, n, 0, HS_RANK_MAX, at, 4);
    case HS_COLUMN_REAL:
        return read_real(s, n, at);
    case HS_COLUMN_REF:
        return read_ref(l, s, n, at);
    case HS_COLUMN_CODE:
        return read_code(l, s, n, at);
    case HS_COLUMN_FORMAT:
        return read_format(l, s, n, at);
    case HS_COLUMN_BLOB:
        return read_blob(l, s, n, at);
    default:
        return NULL; /* interned kinds are read by their tables */
    }
}

static enum hs_status read_row(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                               void *row)
{
    for (int n = 0; table->columns[n].name; n++) {
        const char *wrong = read_field(l, s, n + 1, &table->columns[n], row);

        if (wrong)
            return damaged(l, table->name, (uint64_t)sqlite3_column_int64(s, 0), wrong);
    }
    return HS_OK;
}

/* ---- one table each: how a row is appended ---- */

typedef enum hs_status append_fn(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                 uint64_t id);

static enum hs_status expect_id(struct loading *l, const struct hs_table *table, uint64_t id,
                                uint32_t got)
{
    if (got == id)
        return HS_OK;
    return got == HS_NO_ID ? hs_no_memory(l->err)
                           : damaged(l, table->name, id, "it is there twice");
}

static enum hs_status append_string(struct loading *l, sqlite3_stmt *s,
                                    const struct hs_table *table, uint64_t id)
{
    int type = sqlite3_column_type(s, 1);

    if (type != SQLITE_TEXT && type != SQLITE_BLOB)
        return damaged(l, table->name, id, "it is no text");
    return expect_id(l, table, id, hs_intern_put(&l->job->strings, cell_bytes(s, 1)));
}

static enum hs_status append_list(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                  uint64_t id)
{
    if (!read_list(l, s))
        return damaged(l, table->name, id, "it is not a list");
    for (uint32_t i = 0; i < l->word_count; i++) {
        if (l->words[i] > HS_RANK_MAX)
            return damaged(l, table->name, id, "a number is out of range");
    }
    return expect_id(l, table, id, hs_job_put_list(l->job, l->words, l->word_count));
}

static enum hs_status append_frame(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                   uint64_t id)
{
    struct hs_frame frame;
    enum hs_status status = read_row(l, s, table, &frame);

    return status == HS_OK ? expect_id(l, table, id, hs_job_put_frame(l->job, &frame)) : status;
}

static enum hs_status append_stack(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                   uint64_t id)
{
    if (!read_list(l, s) || l->word_count > HS_FRAMES_MAX)
        return damaged(l, table->name, id, "it is not a list of frames");
    for (uint32_t i = 0; i < l->word_count; i++) {
        if (l->words[i] >= l->job->frames_keys.count)
            return damaged(l, table->name, id, "it refers to a row that is not there");
    }
    return expect_id(l, table, id, hs_job_put_stack(l->job, l->words, l->word_count));
}

static enum hs_status append_signature(struct loading *l, sqlite3_stmt *s,
                                       const struct hs_table *table, uint64_t id)
{
    int key = 0;
    uint32_t got;

    while (table->columns[key].kind != HS_COLUMN_INTERNED_KEY)
        key++;
    if (sqlite3_column_type(s, key + 1) != SQLITE_BLOB || !read_key(l, cell_bytes(s, key + 1)))
        return damaged(l, table->name, id, "its key is no key");
    got = hs_job_put_signature_key(l->job, l->words, l->word_count);
    return got == HS_NO_ID ? damaged(l, table->name, id, "its key is no key")
                           : expect_id(l, table, id, got);
}

static enum hs_status append_source(struct loading *l, sqlite3_stmt *s,
                                    const struct hs_table *table, uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_source_row row = { .name = HS_NO_ID };
    enum hs_status status = read_row(l, s, table, &row);

    (void)id;
    if (status != HS_OK)
        return status;
    if (row.name == HS_NO_ID)
        return damaged(l, table->name, id, "it has no name");
    if (!HS_GROW(job->sources, job->source_cap, job->source_count + 1u))
        return hs_no_memory(l->err);
    job->sources[job->source_count++] = row;
    return HS_OK;
}

static enum hs_status append_diagnostic(struct loading *l, sqlite3_stmt *s,
                                        const struct hs_table *table, uint64_t id)
{
    struct hs_diagnostic row;
    enum hs_status status = read_row(l, s, table, &row);

    if (status == HS_OK && row.source == HS_NO_ID)
        status = damaged(l, table->name, id, "it has no source");
    if (status == HS_OK && !hs_job_add_diagnostic(l->job, &row))
        status = hs_no_memory(l->err);
    return status;
}

static enum hs_status append_text_block(struct loading *l, sqlite3_stmt *s,
                                        const struct hs_table *table, uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_text_block row;
    enum hs_status status = read_row(l, s, table, &row);

    if (status != HS_OK)
        return status;
    if (row.source == HS_NO_ID || row.first_line > row.last_line)
        return damaged(l, table->name, id, "its lines are out of order");
    if (!row.packed.p ||
        !HS_GROW(job->text_blocks, job->text_block_cap, job->text_block_count + 1u))
        return hs_no_memory(l->err);
    job->text_blocks[job->text_block_count++] = row;
    return HS_OK;
}

static enum hs_status append_dump(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                                  uint64_t id)
{
    struct hs_job *job = l->job;
    struct hs_dump row = { .operations = NULL };
    enum hs_status status = read_row(l, s, table, &row);
    uint32_t count = row.operation_count;

    if (status != HS_OK)
        return status;
    if (row.source == HS_NO_ID || count > HS_OPERATIONS_MAX || row.member_count > HS_GROUPS_MAX)
        return damaged(l, table->name, id, "a number is out of range");
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
    enum hs_status status = read_row(l, s, table, &row);

    if (status != HS_OK)
        return status;
    if (row.dump == HS_NO_ID || row.name == HS_NO_ID)
        return damaged(l, table->name, id, "it has no dump or no name");
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
    enum hs_status status = read_row(l, s, table, &row);
    uint32_t count;

    if (status != HS_OK)
        return status;
    if (dump_id >= l->job->dump_count)
        return damaged(l, table->name, id, "it belongs to a dump that is not there");
    dump = &l->job->dumps[dump_id];
    count = dump->operation_count;
    if ((id & UINT32_MAX) != count || count >= l->calls[dump_id] ||
        row.member >= dump->member_count || row.signature == HS_NO_ID)
        return damaged(l, table->name, id, "it is out of place");
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
    { "string", append_string },
    { "list", append_list },
    { "frame", append_frame },
    { "stack", append_stack },
    { "signature", append_signature },
    { "source", append_source },
    { "diagnostic", append_diagnostic },
    { "text_block", append_text_block },
    { "dump", append_dump },
    { "member", append_member },
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

static enum hs_status read_table(struct loading *l, const struct hs_table *table, append_fn *append)
{
    bool operations = append == append_operation;
    sqlite3_stmt *s = NULL;
    enum hs_status status = HS_OK;
    uint64_t expected = 0;
    struct hs_buf sql;
    int rc;

    if (!hs_store_is_plain(l->db, table->name))
        return hs_fail(l->err, HS_EIO, "'%s' is damaged: it has no table %s", l->path, table->name);
    set_limits(l, table);
    hs_buf_init(&sql);
    hs_buf_put(&sql, HS_STR("SELECT id"));
    for (const struct hs_column *c = table->columns; c->name; c++)
        hs_buf_printf(&sql, ", \"%s\"", c->name);
    hs_buf_printf(&sql, " FROM main.\"%s\" ORDER BY id", table->name);
    rc = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(l->db, sql.p, (int)sql.n, &s, NULL);
    hs_buf_release(&sql);
    if (rc == SQLITE_ERROR)
        return hs_fail(l->err, HS_EIO, "'%s' is damaged: %s", l->path, sqlite3_errmsg(l->db));
    if (rc != SQLITE_OK)
        return hs_store_fail(l->db, l->err, "read", l->path);
    while (status == HS_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t id = (uint64_t)sqlite3_column_int64(s, 0);

        if (!operations && id != expected++)
            status = damaged(l, table->name, id,
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

/* What no single row can show: that a dump has all its calls, and that its groups are its own. */
static enum hs_status check_dumps(struct loading *l)
{
    for (uint32_t i = 0; i < l->job->dump_count; i++) {
        const struct hs_dump *d = &l->job->dumps[i];

        if (d->operation_count != l->calls[i])
            return damaged(l, "dump", i, "rows of operation are missing");
        if ((uint64_t)d->first_member + d->member_count > l->job->member_count)
            return damaged(l, "dump", i, "its groups are not there");
        for (uint32_t k = 0; k < d->member_count; k++) {
            if (l->job->members[d->first_member + k].dump != i)
                return damaged(l, "dump", i, "its groups are another's");
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
            status = damaged(l, "source", i, "it counts other rows of diagnostic");
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
