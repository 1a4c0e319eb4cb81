/* store_write.c - a job becomes a file: written aside, synced, renamed. */
#include "schema/store_internal.h"
#include "schema/views_sql.h" /* generated from schema/views.sql */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file being written aside, so that a signal can remove it: the one piece of state that is not
 * passed along, because a signal handler has no arguments. Empty: none.
 */
static char unfinished[4096];

void hs_store_abandon(void)
{
    if (unfinished[0])
        (void)unlink(unfinished);
}

enum hs_status hs_store_fail(sqlite3 *db, struct hs_err *err, const char *doing, const char *path)
{
    int rc = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

    if (rc == SQLITE_NOMEM)
        return hs_no_memory(err);
    return hs_fail(err, HS_EIO, "cannot %s '%s': %s", doing, path,
                   rc == SQLITE_FULL ? "no space left" : sqlite3_errmsg(db));
}

bool hs_store_is_ours(const char *path)
{
    unsigned char head[100] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
    uint32_t application =
        (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];

    if (fd >= 0)
        (void)close(fd);
    return n == (ssize_t)sizeof(head) && memcmp(head, "SQLite format 3", 16) == 0 &&
           application == HS_STORE_APPLICATION;
}

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool create_tables(sqlite3 *db)
{
    char pragmas[160];
    struct hs_buf ddl;
    bool ok;

    (void)snprintf(pragmas, sizeof(pragmas),
                   "PRAGMA application_id = %d; PRAGMA user_version = %d;", HS_STORE_APPLICATION,
                   HS_STORE_VERSION);
    hs_buf_init(&ddl);
    hs_tables_ddl(&ddl);
    ok = !ddl.failed && run(db, pragmas) && run(db, ddl.p) && run(db, hs_views_sql);
    hs_buf_release(&ddl);
    return ok;
}

static bool copy_tables(sqlite3 *db, const struct hs_rows *rows)
{
    for (const struct hs_table *t = hs_tables; t->name; t++) {
        char sql[200];

        (void)snprintf(sql, sizeof(sql), "INSERT INTO main.%s SELECT * FROM hs_%s", t->name, t->name);
        if (hs_store_offer(db, t, rows) != SQLITE_OK || !run(db, sql))
            return false;
    }
    return true;
}

static bool put_options(sqlite3 *db, const struct hs_job_options *o)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(db, "INSERT INTO place VALUES (?, ?, ?)", -1, &s, NULL) == SQLITE_OK;
    char sql[120];

    for (uint32_t i = 0; ok && i < o->place_count; i++) {
        (void)sqlite3_bind_int64(s, 1, o->places[i].rank);
        (void)sqlite3_bind_text64(s, 2, o->places[i].host.p, o->places[i].host.n, SQLITE_TRANSIENT,
                                  SQLITE_UTF8);
        if (o->places[i].gpu == HS_NO_ID)
            (void)sqlite3_bind_null(s, 3);
        else
            (void)sqlite3_bind_int64(s, 3, o->places[i].gpu);
        ok = sqlite3_step(s) == SQLITE_DONE;
        (void)sqlite3_reset(s);
    }
    (void)sqlite3_finalize(s);
    (void)snprintf(sql, sizeof(sql), "INSERT INTO job VALUES ('world_size', %llu)",
                   (unsigned long long)o->world_size);
    return ok && (!o->world_size || run(db, sql)) &&
           run(db, "INSERT INTO job VALUES ('written_by', 'hangscope " HS_VERSION "')");
}

/* Nothing is read while it is written, and it is renamed only when whole: no journal is needed. */
static enum hs_status fill(const char *path, const struct hs_rows *rows,
                           const struct hs_job_options *options, const struct hs_verdict *verdict,
                           struct hs_str json, struct hs_err *err)
{
    sqlite3 *db = NULL;
    enum hs_status status = HS_OK;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
              SQLITE_OK;

    ok = ok && run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192;"
                       "PRAGMA cache_size = -65536; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
    ok = ok && create_tables(db) && put_options(db, options) && copy_tables(db, rows);
    ok = ok && hs_store_put_verdict(db, verdict, json) == SQLITE_OK && run(db, "COMMIT");
    if (!ok)
        status = hs_store_fail(db, err, "write the database", path);
    if (sqlite3_close(db) != SQLITE_OK && status == HS_OK)
        status = hs_fail(err, HS_EIO, "cannot close the database '%s'", path);
    return status;
}

static enum hs_status sync_and_rename(const char *from, const char *to, struct hs_err *err)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    if (!ok || rename(from, to) != 0)
        return hs_fail(err, HS_EIO, "cannot put the database at '%s': %s", to, strerror(errno));
    return HS_OK;
}

/* An existing file is replaced only if it is a database of ours, or by force. */
static enum hs_status check_target(const char *path, bool force, struct hs_err *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return HS_OK;
    if (!S_ISREG(st.st_mode))
        return hs_fail(err, S_ISDIR(st.st_mode) ? HS_EUSAGE : HS_EIO,
                       "cannot write a database to '%s': it is not a regular file", path);
    if (force || st.st_size == 0 || hs_store_is_ours(path))
        return HS_OK;
    return hs_fail(err, HS_EUSAGE,
                   "'%s' is there and is not a hangscope database; --force replaces it", path);
}

enum hs_status hs_store_write(const char *path, bool force, const struct hs_rows *rows,
                              const struct hs_job_options *options, const struct hs_verdict *verdict,
                              struct hs_str verdict_json, struct hs_err *err)
{
    char aside[sizeof(unfinished)];
    enum hs_status status = check_target(path, force, err);
    mode_t mask;
    int fd;

    if (status != HS_OK)
        return status;
    if (snprintf(aside, sizeof(aside), "%s.tmp-XXXXXX", path) >= (int)sizeof(aside))
        return hs_fail(err, HS_EUSAGE, "the path '%.60s…' is too long", path);
    fd = mkstemp(aside);
    if (fd < 0)
        return hs_fail(err, errno == ENOENT || errno == ENOTDIR ? HS_EUSAGE : HS_EIO,
                       "cannot write next to '%s': %s", path, strerror(errno));
    mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    (void)close(fd);
    memcpy(unfinished, aside, sizeof(unfinished));
    status = fill(aside, rows, options, verdict, verdict_json, err);
    if (status == HS_OK)
        status = sync_and_rename(aside, path, err);
    if (status != HS_OK)
        (void)unlink(aside);
    unfinished[0] = '\0';
    return status;
}
