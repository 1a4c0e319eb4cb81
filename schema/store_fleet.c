/* store_fleet.c - fleet.db: made, opened to be filled, and filled. */
#include "schema/store_fleet.h"

#include "schema/fleet_sql.h" /* generated from schema/fleet.sql */
#include "schema/store_fleet_internal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

enum hs_status hs_fleet_may_write(const char *path, bool force, struct hs_err *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return HS_OK;
    if (!S_ISREG(st.st_mode))
        return hs_fail(err, S_ISDIR(st.st_mode) ? HS_EUSAGE : HS_EIO,
                       "cannot write a fleet to '%s': it is not a regular file", path);
    if (force || st.st_size == 0 || hs_fleet_is(path))
        return HS_OK;
    return hs_fail(err, HS_EUSAGE, "'%s' is there and is not a fleet; --force replaces it", path);
}

/* ---- statements, made from the description of the columns ---- */

static bool prepare_insert(sqlite3 *db, const struct hs_fleet_table *table, sqlite3_stmt **out)
{
    struct hs_buf sql;
    int columns = 1;
    bool ok;

    hs_buf_init(&sql);
    hs_buf_printf(&sql, "INSERT INTO main.%s (%s", table->name, table->count_offset ? "job" : "id");
    for (const struct hs_fleet_column *c = table->columns; c->name; c++, columns++)
        hs_buf_printf(&sql, ", \"%s\"", c->name);
    hs_buf_put(&sql, HS_STR(") VALUES (?"));
    while (columns-- > 1)
        hs_buf_put(&sql, HS_STR(", ?"));
    hs_buf_putc(&sql, ')');
    ok = !sql.failed &&
         sqlite3_prepare_v3(db, sql.p, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK;
    hs_buf_release(&sql);
    return ok;
}

static bool prepare_all(struct hs_fleet *f)
{
    static const char *const temporary = "PRAGMA temp_store = MEMORY;"
                                         "CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY);"
                                         "CREATE TEMP TABLE fresh (id INTEGER PRIMARY KEY);";
    static const struct {
        size_t at;
        const char *sql;
    } more[] = {
        { offsetof(struct hs_fleet, find),
          "SELECT id, stamp, tool, judged_ns FROM main.job WHERE path = ?" },
        { offsetof(struct hs_fleet, choose), "INSERT OR IGNORE INTO temp.chosen VALUES (?)" },
        { offsetof(struct hs_fleet, note), "INSERT OR IGNORE INTO temp.fresh VALUES (?)" },
    };
    bool ok = run(f->db, temporary);

    for (size_t i = 0; ok && i < sizeof(more) / sizeof(more[0]); i++)
        ok = sqlite3_prepare_v3(f->db, more[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
                                (sqlite3_stmt **)((char *)f + more[i].at), NULL) == SQLITE_OK;
    for (size_t i = 0; ok && hs_fleet_tables[i].name; i++)
        ok = prepare_insert(f->db, &hs_fleet_tables[i], &f->inserts[i]);
    return ok;
}

void hs_fleet_close(struct hs_fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < HS_FLEET_TABLES; i++)
        (void)sqlite3_finalize(f->inserts[i]);
    (void)sqlite3_finalize(f->find);
    (void)sqlite3_finalize(f->choose);
    (void)sqlite3_finalize(f->note);
    (void)sqlite3_close(f->db);
    free(f->path);
    free(f);
}

/* ---- opening ---- */

/* An empty fleet, made aside: a file that has its name is one. */
static bool create_tables(sqlite3 *db)
{
    char sql[256];

    (void)snprintf(
        sql, sizeof(sql),
        "PRAGMA journal_mode = OFF; PRAGMA application_id = %d; PRAGMA user_version = %d; "
        "BEGIN",
        HS_FLEET_APPLICATION, HS_FLEET_VERSION);
    return run(db, sql) && run(db, hs_fleet_sql) &&
           run(db, "INSERT INTO fleet VALUES ('written_by', 'hangscope " HS_VERSION "')") &&
           run(db, "COMMIT");
}

enum hs_status hs_fleet_begin(const char *aside, const char *path, struct hs_fleet **out,
                              struct hs_err *err)
{
    struct hs_fleet *f = calloc(1, sizeof(*f));
    enum hs_status status = HS_OK;

    if (!f || !(f->path = strdup(path))) {
        free(f);
        return hs_no_memory(err);
    }
    if (sqlite3_open_v2(aside, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        !create_tables(f->db) || !prepare_all(f))
        status = hs_store_fail(f->db, err, "write the fleet", path);
    if (status == HS_OK)
        *out = f;
    else
        hs_fleet_close(f);
    return status;
}

static enum hs_status create(const char *path, struct hs_err *err)
{
    char aside[HS_STORE_PATH_MAX];
    struct hs_fleet *empty = NULL;
    int fd = -1;
    enum hs_status status = hs_store_aside(path, aside, &fd, err);

    if (status != HS_OK)
        return status;
    status = hs_fleet_begin(aside, path, &empty, err);
    if (status == HS_OK)
        hs_fleet_close(empty);
    return hs_store_aside_end(status, path, fd, err);
}

/* The journal of a fleet that is begun anew must not be played into the new one. */
static enum hs_status remove_old(const char *path, struct hs_err *err)
{
    char journal[HS_STORE_PATH_MAX];

    (void)snprintf(journal, sizeof(journal), "%s-journal", path);
    if ((unlink(path) != 0 && access(path, F_OK) == 0) ||
        (unlink(journal) != 0 && access(journal, F_OK) == 0))
        return hs_fail(err, HS_EIO, "cannot remove the old fleet '%s'", path);
    return HS_OK;
}

static int one_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        value = sqlite3_column_int(s, 0);
    (void)sqlite3_finalize(s);
    return value;
}

/* Take the file for ourselves, undo what was interrupted, and see that it is what we know. */
static enum hs_status occupy(struct hs_fleet *f, struct hs_err *err)
{
    int version;

    hs_store_distrust(f->db);
    (void)run(f->db, "PRAGMA locking_mode = EXCLUSIVE");
    if (!run(f->db, "PRAGMA synchronous = FULL") || !run(f->db, "BEGIN EXCLUSIVE") ||
        !run(f->db, "COMMIT")) {
        if (sqlite3_errcode(f->db) == SQLITE_BUSY)
            return hs_fail(err, HS_EUSAGE, "'%s' is being written by another hangscope batch",
                           f->path);
        return hs_store_fail(f->db, err, "write", f->path);
    }
    version = one_number(f->db, "PRAGMA user_version");
    if (version != HS_FLEET_VERSION)
        return hs_fail(err, HS_EUSAGE,
                       "'%s' is a fleet of version %d, and this hangscope writes version %d; "
                       "--restart begins it anew",
                       f->path, version, HS_FLEET_VERSION);
    for (const struct hs_fleet_table *t = hs_fleet_tables; t->name; t++) {
        if (!hs_store_is_plain(f->db, t->name))
            return hs_fail(err, HS_EIO, "'%s' is damaged: it has no table '%s'", f->path, t->name);
    }
    return HS_OK;
}

enum hs_status hs_fleet_open(const char *path, bool restart, bool force, struct hs_fleet **out,
                             struct hs_err *err)
{
    struct hs_fleet *f = calloc(1, sizeof(*f));
    char here[HS_STORE_PATH_MAX];
    struct stat st;
    enum hs_status status = hs_fleet_may_write(path, force, err);
    bool usable = stat(path, &st) == 0 && st.st_size > 0 && hs_fleet_is(path) && !restart;

    if (!f || !(f->path = strdup(path))) {
        free(f);
        return hs_no_memory(err);
    }
    if (status == HS_OK && !usable) {
        status = remove_old(path, err);
        if (status == HS_OK)
            status = create(path, err);
    }
    /* "./": a name that begins with "file:" is a name all the same. */
    (void)snprintf(here, sizeof(here), "%s%s", path[0] == '/' ? "" : "./", path);
    if (status == HS_OK &&
        sqlite3_open_v2(here, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK)
        status = hs_store_fail(f->db, err, "open", path);
    if (status == HS_OK)
        status = occupy(f, err);
    if (status == HS_OK && !prepare_all(f))
        status = hs_store_fail(f->db, err, "write", path);
    if (status == HS_OK)
        *out = f;
    else
        hs_fleet_close(f);
    return status;
}

/* ---- filling ---- */

static enum hs_status failed(struct hs_fleet *f, struct hs_err *err)
{
    enum hs_status status = hs_store_fail(f->db, err, "write", f->path);

    if (!sqlite3_get_autocommit(f->db))
        (void)run(f->db, "ROLLBACK");
    return status;
}

static void bind(sqlite3_stmt *s, int at, void *row, const struct hs_fleet_column *column)
{
    struct hs_str text;
    int64_t number;

    if (column->is_text) {
        text = *hs_fleet_text(row, column);
        if (text.p)
            (void)sqlite3_bind_text64(s, at, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
        else
            (void)sqlite3_bind_null(s, at);
        return;
    }
    number = *hs_fleet_number(row, column);
    if (number == HS_FLEET_NONE)
        (void)sqlite3_bind_null(s, at);
    else
        (void)sqlite3_bind_int64(s, at, number);
}

static bool step_done(sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);

    (void)sqlite3_reset(s);
    return rc == SQLITE_DONE;
}

static bool step_with(sqlite3_stmt *s, sqlite3_int64 id)
{
    (void)sqlite3_bind_int64(s, 1, id);
    return step_done(s);
}

static bool insert(struct hs_fleet *f, size_t table, sqlite3_int64 id, void *row)
{
    const struct hs_fleet_column *column = hs_fleet_tables[table].columns;
    sqlite3_stmt *s = f->inserts[table];

    if (id)
        (void)sqlite3_bind_int64(s, 1, id);
    else
        (void)sqlite3_bind_null(s, 1);
    for (int at = 2; column->name; column++, at++)
        bind(s, at, row, column);
    return step_done(s);
}

/* What is known of this path: its id, 0 if there is none. */
static bool find(struct hs_fleet *f, const struct hs_fleet_row *row, struct hs_fleet_found *out)
{
    int rc;

    *out = (struct hs_fleet_found){ .id = 0 };
    (void)sqlite3_bind_text64(f->find, 1, row->path.p, row->path.n, SQLITE_STATIC, SQLITE_UTF8);
    rc = sqlite3_step(f->find);
    if (rc == SQLITE_ROW) {
        const char *tool = (const char *)sqlite3_column_text(f->find, 2);

        out->id = sqlite3_column_int64(f->find, 0);
        out->judged_ns = sqlite3_column_int64(f->find, 3);
        out->same =
            sqlite3_column_int64(f->find, 1) == row->stamp && tool && hs_str_is(row->tool, tool);
    }
    (void)sqlite3_reset(f->find);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

enum hs_status hs_fleet_look(struct hs_fleet *f, const struct hs_fleet_row *row,
                             struct hs_fleet_found *out, struct hs_err *err)
{
    return find(f, row, out) ? HS_OK : hs_store_fail(f->db, err, "read", f->path);
}

enum hs_status hs_fleet_knows(struct hs_fleet *f, const struct hs_fleet_row *row, bool *known,
                              struct hs_err *err)
{
    struct hs_fleet_found found;

    if (!find(f, row, &found) || (found.same && !step_with(f->choose, found.id)))
        return hs_store_fail(f->db, err, "read", f->path);
    *known = found.same;
    return HS_OK;
}

static bool remove_job(struct hs_fleet *f, sqlite3_int64 id)
{
    char sql[100];
    bool ok = true;

    for (const struct hs_fleet_table *t = hs_fleet_tables; ok && t->name; t++) {
        (void)snprintf(sql, sizeof(sql), "DELETE FROM main.%s WHERE %s = %lld", t->name,
                       t->count_offset ? "job" : "id", (long long)id);
        ok = run(f->db, sql);
    }
    return ok;
}

enum hs_status hs_fleet_write(struct hs_fleet *f, const struct hs_fleet_row *row,
                              struct hs_err *err)
{
    struct hs_fleet_found found;
    sqlite3_int64 id;
    bool ok = !sqlite3_get_autocommit(f->db) || run(f->db, "BEGIN; DELETE FROM temp.fresh");

    ok = ok && find(f, row, &found) && (!found.id || remove_job(f, found.id)) &&
         insert(f, 0, found.id, (void *)row);
    id = ok ? found.id ? found.id : sqlite3_last_insert_rowid(f->db) : 0;
    for (size_t t = 1; ok && hs_fleet_tables[t].name; t++) {
        uint32_t count;
        char *rows = hs_fleet_rows(row, &hs_fleet_tables[t], &count);

        for (uint32_t i = 0; ok && i < count; i++)
            ok = insert(f, t, id, rows + i * hs_fleet_tables[t].row_bytes);
    }
    ok = ok && step_with(f->choose, id) && step_with(f->note, id);
    return ok ? HS_OK : failed(f, err);
}

enum hs_status hs_fleet_commit(struct hs_fleet *f, struct hs_err *err)
{
    if (sqlite3_get_autocommit(f->db) || run(f->db, "COMMIT"))
        return HS_OK;
    return failed(f, err);
}

enum hs_status hs_fleet_ask(struct hs_fleet *f, const char *sql, hs_row_fn *row, void *self,
                            struct hs_err *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(f->db, sql, -1, &s, NULL);

    if (rc == SQLITE_OK)
        rc = hs_store_run(s, row, self);
    (void)sqlite3_finalize(s);
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ABORT)
        return hs_store_fail(f->db, err, "read", f->path);
    return HS_OK;
}
