/* store_offer.c - the rows of a job as SQLite virtual tables: what is written is read from here. */
#include "base/buf.h"
#include "schema/store_internal.h"

#include <stdlib.h>

struct offered {
    sqlite3_vtab base;
    const struct hs_table *table;
    const struct hs_rows *rows;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct hs_table_base rows;
    enum { PLAIN, OPERATIONS, FRAMES, INTERNED } kind;
    uint64_t at; /* row; of operations, how many were passed; of chosen rows, which */
    const struct hs_row_choice *choice; /* NULL: all rows */
    const char *row;                    /* NULL where the columns are interned */
    uint32_t dump, position;
    struct hs_buf text; /* room for what is put together */
};

struct module_data {
    const struct hs_table *table;
    const struct hs_rows *rows;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    const struct module_data *data = aux;
    struct offered *vtab = sqlite3_malloc(sizeof(*vtab));
    struct hs_buf ddl;
    int rc;

    (void)argc, (void)argv, (void)message;
    if (!vtab)
        return SQLITE_NOMEM;
    *vtab = (struct offered){ .table = data->table, .rows = data->rows };
    hs_buf_init(&ddl);
    hs_buf_put(&ddl, HS_STR("CREATE TABLE x(id"));
    for (const struct hs_column *c = data->table->columns; c->name; c++)
        hs_buf_printf(&ddl, ", \"%s\"", c->name);
    hs_buf_put(&ddl, HS_STR(")"));
    rc = ddl.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, ddl.p);
    hs_buf_release(&ddl);
    if (rc != SQLITE_OK)
        sqlite3_free(vtab);
    else
        *out = &vtab->base;
    return rc;
}

static int disconnect_table(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    struct cursor *c = sqlite3_malloc(sizeof(*c));

    (void)vtab;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct cursor){ .at = 0 };
    hs_buf_init(&c->text);
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;

    hs_buf_release(&c->text);
    sqlite3_free(c);
    return SQLITE_OK;
}

static const struct offered *table_of(const sqlite3_vtab_cursor *cursor)
{
    return (const struct offered *)cursor->pVtab;
}

/* The operation that is next, past dumps that have no more. */
static const char *next_operation(struct cursor *c)
{
    const struct hs_job *job = table_of(&c->base)->rows->job;

    while (c->dump < job->dump_count && c->position >= job->dumps[c->dump].operation_count) {
        c->dump++;
        c->position = 0;
    }
    return c->dump < job->dump_count ? (const char *)&job->dumps[c->dump].operations[c->position]
                                     : NULL;
}

static uint64_t row_of(const struct cursor *c)
{
    return c->choice ? c->choice->rows[c->at] : c->at;
}

static const struct hs_row_choice *choice_of(const struct offered *offered)
{
    const struct hs_row_choice *choice = offered->rows->choices;

    while (choice && choice->table && strcmp(choice->table, offered->table->name) != 0)
        choice++;
    return choice && choice->table ? choice : NULL;
}

/* Where the row lies that `at` has come to: once a row, because every column asks. */
static void take_row(struct cursor *c)
{
    c->row = NULL;
    if (c->at >= c->rows.count)
        return;
    if (c->kind == PLAIN)
        c->row = (const char *)c->rows.base + row_of(c) * c->rows.row_bytes;
    else if (c->kind == OPERATIONS)
        c->row = next_operation(c);
    else if (c->kind == FRAMES)
        c->row = (const char *)hs_job_frame(table_of(&c->base)->rows->job, (uint32_t)c->at);
}

static int rewind_cursor(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                         sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)cursor;
    const struct hs_table *table = table_of(cursor)->table;

    (void)number, (void)text, (void)argc, (void)argv;
    c->rows = hs_table_base(table, table_of(cursor)->rows);
    c->kind = c->rows.base                            ? PLAIN
              : strcmp(table->name, "operation") == 0 ? OPERATIONS
              : strcmp(table->name, "frame") == 0     ? FRAMES
                                                      : INTERNED;
    c->choice = c->kind == PLAIN ? choice_of(table_of(cursor)) : NULL;
    if (c->choice)
        c->rows.count = c->choice->count;
    c->at = 0;
    c->dump = c->position = 0;
    take_row(c);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;

    c->at++;
    c->position++;
    take_row(c);
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *c = (const struct cursor *)cursor;

    return c->at >= c->rows.count;
}

static sqlite3_int64 id_of(const struct cursor *c)
{
    if (c->kind == OPERATIONS)
        return (sqlite3_int64)((uint64_t)c->dump << 32 | c->position);
    return (sqlite3_int64)row_of(c);
}

static void give_text(sqlite3_context *ctx, struct hs_str text)
{
    sqlite3_result_text64(ctx, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
}

/* Valid UTF-8 without NUL is TEXT for everybody; anything else stays what it is, as a BLOB. */
static void give_any(struct cursor *c, sqlite3_context *ctx, struct hs_str text)
{
    c->text.n = 0;
    hs_buf_put_safe(&c->text, text, text.n);
    if (hs_str_eq(hs_buf_str(&c->text), text))
        give_text(ctx, text);
    else
        sqlite3_result_blob64(ctx, text.p, text.n, SQLITE_STATIC);
}

static void give_list(struct cursor *c, sqlite3_context *ctx, struct hs_str words)
{
    c->text.n = 0;
    hs_buf_putc(&c->text, '[');
    for (size_t i = 0; i + sizeof(uint32_t) <= words.n; i += sizeof(uint32_t)) {
        uint32_t word;

        memcpy(&word, words.p + i, sizeof(word));
        hs_buf_printf(&c->text, i ? ",%u" : "%u", word);
    }
    hs_buf_putc(&c->text, ']');
    sqlite3_result_text64(ctx, c->text.p, c->text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static struct hs_str interned(const struct cursor *c, const struct hs_column *column)
{
    const char *job = (const char *)table_of(&c->base)->rows->job;
    const struct hs_intern *table = (const struct hs_intern *)(const void *)(job + column->offset);

    return table->items[c->at];
}

static void give_or_null(sqlite3_context *ctx, sqlite3_int64 value, bool null)
{
    if (null)
        sqlite3_result_null(ctx);
    else
        sqlite3_result_int64(ctx, value);
}

/* Fields are read as they lie in the row: offset and kind come from tables.def. */
#define AT(type) (*(const type *)(const void *)at)

static void give_word(sqlite3_context *ctx, const char *word)
{
    if (word)
        sqlite3_result_text(ctx, word, -1, SQLITE_STATIC);
    else
        sqlite3_result_null(ctx);
}

static void give_field(struct cursor *c, sqlite3_context *ctx, const struct hs_column *column)
{
    const char *at = c->row + column->offset;

    switch (column->kind) {
    case HS_COLUMN_U8:
    case HS_COLUMN_FLAG:
        sqlite3_result_int(ctx, AT(uint8_t));
        break;
    case HS_COLUMN_U16:
        sqlite3_result_int(ctx, AT(uint16_t));
        break;
    case HS_COLUMN_U32:
        sqlite3_result_int64(ctx, AT(uint32_t));
        break;
    case HS_COLUMN_I64:
    case HS_COLUMN_U64:
        sqlite3_result_int64(ctx, AT(int64_t));
        break;
    case HS_COLUMN_REAL:
        sqlite3_result_double(ctx, (double)AT(float));
        break;
    case HS_COLUMN_REF:
    case HS_COLUMN_RANK:
    case HS_COLUMN_NUMBER:
        give_or_null(ctx, AT(uint32_t), AT(uint32_t) == HS_NO_ID);
        break;
    case HS_COLUMN_COUNTER:
        give_or_null(ctx, AT(int64_t), AT(int64_t) == -1);
        break;
    case HS_COLUMN_ID32:
        give_or_null(ctx, AT(int32_t), AT(int32_t) == -1);
        break;
    case HS_COLUMN_TIME:
        give_or_null(ctx, AT(int64_t), AT(int64_t) == 0);
        break;
    case HS_COLUMN_POSITION:
        give_or_null(ctx, AT(int64_t), AT(uint64_t) == HS_NO_POSITION);
        break;
    case HS_COLUMN_CODE:
    case HS_COLUMN_FORMAT:
    case HS_COLUMN_WORD:
        give_word(ctx, *(const char *const *)(const void *)at);
        break;
    case HS_COLUMN_TEXT:
        give_text(ctx, AT(struct hs_str));
        break;
    case HS_COLUMN_BLOB:
        sqlite3_result_blob64(ctx, AT(struct hs_str).p, AT(struct hs_str).n, SQLITE_STATIC);
        break;
    case HS_COLUMN_INTERNED_TEXT:
    case HS_COLUMN_INTERNED_LIST:
    case HS_COLUMN_INTERNED_KEY:
        break;
    }
}

/* Whether a column lies in the job's intern tables, and no row has it. */
static bool give_interned(struct cursor *c, sqlite3_context *ctx, const struct hs_column *column)
{
    if (column->kind == HS_COLUMN_INTERNED_TEXT)
        give_any(c, ctx, interned(c, column));
    else if (column->kind == HS_COLUMN_INTERNED_LIST)
        give_list(c, ctx, interned(c, column));
    else if (column->kind == HS_COLUMN_INTERNED_KEY)
        sqlite3_result_blob64(ctx, interned(c, column).p, interned(c, column).n, SQLITE_STATIC);
    else
        return false;
    return true;
}

/*
 * NULL where it is one more than that of the row before: SQLite then appends, and need not search
 * for the place of the row. This is a fifth of the time.
 */
static void give_id(const struct cursor *c, sqlite3_context *ctx)
{
    if (!c->choice && (c->kind == OPERATIONS ? c->position > 0 : c->at > 0))
        sqlite3_result_null(ctx);
    else
        sqlite3_result_int64(ctx, id_of(c));
}

static int give_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    struct cursor *c = (struct cursor *)cursor;
    const struct hs_column *columns = table_of(cursor)->table->columns;

    if (column == 0)
        give_id(c, ctx);
    else if (!give_interned(c, ctx, &columns[column - 1]))
        give_field(c, ctx, &columns[column - 1]);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = id_of((const struct cursor *)cursor);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = rewind_cursor,
    .xNext = next_row,
    .xEof = at_end,
    .xColumn = give_column,
    .xRowid = give_rowid,
};

int hs_store_offer(sqlite3 *db, const struct hs_table *table, const struct hs_rows *rows)
{
    struct module_data *data = malloc(sizeof(*data));
    char name[80];

    if (!data)
        return SQLITE_NOMEM;
    *data = (struct module_data){ .table = table, .rows = rows };
    (void)snprintf(name, sizeof(name), "hs_%s", table->name);
    return sqlite3_create_module_v2(db, name, &module, data, free);
}
