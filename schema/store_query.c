/* store_query.c - questions in SQL, on files that may be a stranger's. */
#include "schema/store_fleet.h"
#include "schema/store_internal.h"

#include <limits.h>

/* Only reading: no other file, no setting, nothing that writes. `refused`: it was more. */
static int authorize(void *refused, int action, const char *a, const char *b, const char *db,
                     const char *trigger)
{
    (void)db, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (b && sqlite3_stricmp(b, "load_extension") && sqlite3_stricmp(b, "fts3_tokenizer"))
            return SQLITE_OK;
        break;
    case SQLITE_UPDATE: /* asked when json_each and its kin are set up; the file is read-only */
        if (a && strcmp(a, "sqlite_master") == 0)
            return SQLITE_OK;
        break;
    case SQLITE_PRAGMA:
        if (a && (sqlite3_stricmp(a, "table_info") == 0 || sqlite3_stricmp(a, "table_list") == 0))
            return SQLITE_OK;
        break;
    default:
        break;
    }
    *(bool *)refused = true;
    return SQLITE_DENY;
}

static struct hs_str cell_text(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    return (struct hs_str){ .p = text, .n = text ? (size_t)sqlite3_column_bytes(s, column) : 0 };
}

static bool put_header(sqlite3_stmt *s, struct hs_cell *cells, int count, hs_row_fn *row,
                       void *self)
{
    for (int i = 0; i < count; i++)
        cells[i] =
            (struct hs_cell){ .text = hs_str_of(sqlite3_column_name(s, i)), .is_text = true };
    return row(self, cells, count, true);
}

int hs_store_run(sqlite3_stmt *s, hs_row_fn *row, void *self)
{
    struct hs_cell cells[HS_RESULT_COLUMNS_MAX];
    int count = sqlite3_column_count(s), rc = SQLITE_DONE;

    if (count > 0 && !put_header(s, cells, count, row, self))
        return SQLITE_ABORT;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        for (int i = 0; i < count; i++) {
            int type = sqlite3_column_type(s, i);

            cells[i].text = type == SQLITE_NULL ? (struct hs_str){ .p = NULL } : cell_text(s, i);
            if (type != SQLITE_NULL && !cells[i].text.p)
                cells[i].text.p = ""; /* an empty BLOB */
            cells[i].is_text = type == SQLITE_TEXT || type == SQLITE_BLOB;
        }
        if (!row(self, cells, count, false))
            return SQLITE_ABORT;
    }
    return rc;
}

static enum hs_status query_failed(sqlite3 *db, int rc, bool refused, const char *path,
                                   struct hs_err *err)
{
    switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_NOMEM:
        return hs_store_fail(db, err, "read", path);
    default:
        break;
    }
    if (refused)
        return hs_fail(
            err, HS_EUSAGE,
            "the query cannot be run: only SELECT, PRAGMA table_info and PRAGMA table_list "
            "are allowed (%s)",
            sqlite3_errmsg(db));
    return hs_fail(err, HS_EUSAGE, "the query cannot be run: %s", sqlite3_errmsg(db));
}

enum hs_status hs_store_query(const char *path, struct hs_str sql, hs_row_fn *row, void *self,
                              struct hs_err *err)
{
    sqlite3 *db = NULL;
    bool refused = false;
    enum hs_status status =
        hs_fleet_is(path) ? hs_fleet_open_to_read(path, &db, err) : hs_store_open(path, &db, err);
    const char *at = sql.p, *end = sql.p + sql.n;
    int rc = SQLITE_OK;

    if (status != HS_OK)
        return status;
    (void)sqlite3_set_authorizer(db, authorize, &refused);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COLUMN, HS_RESULT_COLUMNS_MAX);
    if (sql.n > INT_MAX || memchr(sql.p, '\0', sql.n))
        status = hs_fail(err, HS_EUSAGE, "the query cannot be run: it is no text");
    while (status == HS_OK && rc != SQLITE_ABORT && at < end) {
        sqlite3_stmt *s = NULL;
        const char *tail = end;

        rc = sqlite3_prepare_v2(db, at, (int)(end - at), &s, &tail);
        if (rc == SQLITE_OK && s)
            rc = hs_store_run(s, row, self);
        if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ABORT)
            status = query_failed(db, rc, refused, path, err);
        (void)sqlite3_finalize(s);
        at = tail;
    }
    (void)sqlite3_close(db);
    return status;
}
