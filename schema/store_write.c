/* store_write.c - a job becomes a file: written aside, synced, renamed. */
#include "base/fd.h"
#include "base/limits.h"
#include "schema/store_internal.h"
#include "schema/views_sql.h" /* generated from schema/views.sql */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file being written aside, so that a signal can remove it: the one piece of state that is not
 * passed along, because a signal handler has no arguments. Empty: none.
 */
static char unfinished[HS_STORE_PATH_MAX];

void hs_store_abandon(void)
{
    if (unfinished[0])
        (void)unlink(unfinished);
}

/* A new file, which a signal removes from its first moment on: `path` ends in XXXXXX. -1: errno. */
static int begin_aside(char path[sizeof(unfinished)])
{
    sigset_t all, before;
    mode_t mask;
    int fd, why;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    fd = mkstemp(path);
    why = errno;
    if (fd >= 0)
        memcpy(unfinished, path, sizeof(unfinished));
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fd >= 0) {
        mask = umask(0);
        (void)umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
    }
    errno = why;
    return fd;
}

/* It has its name, or is not wanted any more. */
static void end_aside(bool keep)
{
    if (!keep)
        (void)unlink(unfinished);
    unfinished[0] = '\0';
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

        (void)snprintf(sql, sizeof(sql), "INSERT INTO main.%s SELECT * FROM hs_%s", t->name,
                       t->name);
        if (hs_store_offer(db, t, rows) != SQLITE_OK || !run(db, sql))
            return false;
    }
    return true;
}

/*
 * Nothing is read while it is written, and it is renamed only when whole: no journal is needed, and
 * little cache. Large pages take a tenth less time a row, small ones less room for few.
 */
static bool begin(sqlite3 *db, const struct hs_rows *rows)
{
    enum { MANY = 65536, SMALL_PAGE = 8192, LARGE_PAGE = 32768 };
    bool many = hs_table_base(hs_table_find("operation"), rows).count >= MANY;
    char sql[160];

    (void)snprintf(sql, sizeof(sql), "PRAGMA page_size = %d; PRAGMA cache_size = -8192; BEGIN",
                   many ? LARGE_PAGE : SMALL_PAGE);
    return run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                   "PRAGMA locking_mode = EXCLUSIVE") &&
           run(db, sql);
}

static enum hs_status fill(const char *aside, const char *path,
                           const struct hs_store_content *content, struct hs_err *err)
{
    const struct hs_rows *rows = &content->rows;
    sqlite3 *db = NULL;
    enum hs_status status = HS_OK;
    bool ok =
        sqlite3_open_v2(aside, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;

    ok = ok && begin(db, rows) && create_tables(db) && hs_store_put_options(db, content->options) &&
         copy_tables(db, rows);
    ok = ok && hs_store_put_verdict(db, content->verdict, content->verdict_json) == SQLITE_OK &&
         run(db, "COMMIT");
    if (!ok)
        status = hs_store_fail(db, err, "write the database", path);
    if (sqlite3_close(db) != SQLITE_OK && status == HS_OK)
        status = hs_fail(err, HS_EIO, "cannot close the database '%s'", path);
    return status;
}

/* An existing file is replaced only if it is a database of ours, or by force. */
enum hs_status hs_store_may_write(const char *path, bool force, struct hs_err *err)
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

enum hs_status hs_store_aside(const char *path, char *aside, int *fd, struct hs_err *err)
{
    /* "./": a name that begins with "file:" is a name all the same. */
    const char *here = path[0] == '/' ? "" : "./";

    memset(aside, 0, HS_STORE_PATH_MAX);
    if (snprintf(aside, HS_STORE_PATH_MAX, "%s%s.tmp-XXXXXX", here, path) >= HS_STORE_PATH_MAX)
        return hs_fail(err, HS_EUSAGE, "the path '%.60s…' is too long", path);
    *fd = begin_aside(aside);
    if (*fd < 0)
        return hs_fail(err, errno == ENOENT || errno == ENOTDIR ? HS_EUSAGE : HS_EIO,
                       "cannot write next to '%s': %s", path, strerror(errno));
    return HS_OK;
}

enum hs_status hs_store_aside_end(enum hs_status status, const char *path, int fd,
                                  struct hs_err *err)
{
    if (status == HS_OK && (fsync(fd) != 0 || rename(unfinished, path) != 0))
        status = hs_fail(err, HS_EIO, "cannot put the database at '%s': %s", path, strerror(errno));
    end_aside(status == HS_OK);
    (void)close(fd);
    return status;
}

enum hs_status hs_store_write_aside(const char *path, bool force,
                                    const struct hs_store_content *content, int *fd,
                                    struct hs_err *err)
{
    char aside[HS_STORE_PATH_MAX];
    enum hs_status status = hs_store_may_write(path, force, err);

    if (status == HS_OK)
        status = hs_store_aside(path, aside, fd, err);
    if (status != HS_OK)
        return status;
    status = fill(aside, path, content, err);
    if (status == HS_OK && fsync(*fd) != 0) /* the name is then given in no time */
        status = hs_fail(err, HS_EIO, "cannot write the database '%s': %s", path, strerror(errno));
    return status == HS_OK ? HS_OK : hs_store_aside_end(status, path, *fd, err);
}

enum hs_status hs_store_write(const char *path, bool force, const struct hs_store_content *content,
                              struct hs_err *err)
{
    int fd = -1;
    enum hs_status status = hs_store_write_aside(path, force, content, &fd, err);

    return status == HS_OK ? hs_store_aside_end(HS_OK, path, fd, err) : status;
}

/* A new file where temporary ones belong. -1: said in `err`. */
static int begin_temporary(char path[sizeof(unfinished)], struct hs_err *err)
{
    const char *folder = getenv("TMPDIR");
    int fd = -1;

    if (!folder || folder[0] != '/')
        folder = "/tmp";
    memset(path, 0, sizeof(unfinished));
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof(unfinished), "%s/hangscope-XXXXXX", folder) < (int)sizeof(unfinished))
        fd = begin_aside(path);
    if (fd < 0)
        (void)hs_fail(err, HS_EIO, "cannot write a temporary file in '%s': %s", folder,
                      strerror(errno));
    return fd;
}

enum hs_status hs_store_write_unnamed(const struct hs_store_content *content, int *out,
                                      struct hs_err *err)
{
    char aside[sizeof(unfinished)];
    int fd = begin_temporary(aside, err);
    enum hs_status status;

    if (fd < 0)
        return HS_EIO;
    status = fill(aside, aside, content, err);
    end_aside(false);
    if (status == HS_OK)
        *out = fd;
    else
        (void)close(fd);
    return status;
}

enum hs_status hs_store_stream_begin(struct hs_str head, int from, char *path, int *fd,
                                     struct hs_err *err)
{
    char room[65536];
    ssize_t n = 1;
    uint64_t bytes = head.n;
    enum hs_status status = HS_OK;
    int to = begin_temporary(path, err);

    if (to < 0)
        return HS_EIO;
    if (!hs_fd_write(to, head))
        n = -1;
    while (n > 0 && bytes <= HS_STREAM_DATABASE_BYTES_MAX) {
        n = read(from, room, sizeof(room));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0 && !hs_fd_write(to, (struct hs_str){ .p = room, .n = (size_t)n }))
            n = -1;
        else
            bytes += n > 0 ? (uint64_t)n : 0;
    }
    if (n != 0)
        status = n < 0 ? hs_fail(err, HS_EIO, "cannot copy a database to '%s': %s", path,
                                 strerror(errno))
                       : hs_fail(err, HS_EUSAGE,
                                 "a database that is read from a pipe may be %llu "
                                 "bytes large: give it as a file",
                                 (unsigned long long)HS_STREAM_DATABASE_BYTES_MAX);
    if (status == HS_OK)
        *fd = to;
    else
        hs_store_stream_end(to);
    return status;
}

void hs_store_stream_end(int fd)
{
    end_aside(false);
    (void)close(fd);
}
