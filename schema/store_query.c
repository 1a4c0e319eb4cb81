/* store_query.c - questions in SQL, on files that may be a stranger's. */
#include "schema/store_internal.h"

/* Only reading: no other file, no setting, nothing that writes. */
static int authorize(void *self, int action, const char *a, const char *b, const char *db,
                     const char *trigger)
{
    (void)self, (void)b, (void)db, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return b && strcmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return a && (strcmp(a, "table_info") == 0 || strcmp(a, "table_list") == 0) ? SQLITE_OK
                                                                                   : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static enum hs_status open_readonly(const char *path, sqlite3 **out, struct hs_err *err)
{
    sqlite3 *db = NULL;

    if (!hs_store_is_ours(path))
        return hs_fail(err, HS_EUSAGE,
                       "'%s' is not a hangscope database; 'hangscope ingest PATH -o FILE' makes one",
                       path);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        enum hs_status status = hs_store_fail(db, err, "open", path);

        (void)sqlite3_close(db);
        return status;
    }
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    *out = db;
    return HS_OK;
}

static struct hs_str cell_text(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    return (struct hs_str){ .p = text, .n = text ? (size_t)sqlite3_column_bytes(s, column) : 0 };
}

static bool put_header(sqlite3_stmt *s, struct hs_cell *cells, int count, hs_row_fn *row, void *self)
{
    for (int i = 0; i < count; i++)
        cells[i] = (struct hs_cell){ .text = hs_str_of(sqlite3_column_name(s, i)), .is_text = true };
    return row(self, cells, count, true);
}

static int run_statement(sqlite3_stmt *s, hs_row_fn *row, void *self)
{
    enum { COLUMNS_MAX = 256 };
    struct hs_cell cells[COLUMNS_MAX];
    int count = sqlite3_column_count(s), rc = SQLITE_DONE;

    if (count > COLUMNS_MAX)
        count = COLUMNS_MAX;
    if (count > 0 && !put_header(s, cells, count, row, self))
        return SQLITE_DONE;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        for (int i = 0; i < count; i++) {
            int type = sqlite3_column_type(s, i);

            cells[i].text = type == SQLITE_NULL ? (struct hs_str){ .p = NULL } : cell_text(s, i);
            cells[i].is_text = type == SQLITE_TEXT || type == SQLITE_BLOB;
        }
        if (!row(self, cells, count, false))
            return SQLITE_DONE;
    }
    return rc;
}

enum hs_status hs_store_query(const char *path, struct hs_str sql, hs_row_fn *row, void *self,
                              struct hs_err *err)
{
    sqlite3 *db = NULL;
    enum hs_status status = open_readonly(path, &db, err);
    const char *at = sql.p, *end = sql.p + sql.n;

    if (status != HS_OK)
        return status;
    (void)sqlite3_set_authorizer(db, authorize, NULL);
    while (status == HS_OK && at < end) {
        sqlite3_stmt *s = NULL;
        const char *tail = end;
        int rc = sqlite3_prepare_v2(db, at, (int)(end - at), &s, &tail);

        if (rc == SQLITE_OK && s)
            rc = run_statement(s, row, self);
        if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
            status = hs_fail(err, HS_EIO, "'%s' is damaged: %s", path, sqlite3_errmsg(db));
        else if (rc != SQLITE_OK && rc != SQLITE_DONE)
            status = hs_fail(err, HS_EUSAGE, "the query cannot be run: %s", sqlite3_errmsg(db));
        (void)sqlite3_finalize(s);
        at = tail;
    }
    (void)sqlite3_close(db);
    return status;
}
