/*
 * store_open.c - opens a database that may be damaged or a stranger's.
 *
 * Read-only, and that of a job immutable: nothing beside the file is read or made (no journal, no
 * log of writes), nothing in it is trusted, and it is of our version. Whoever wants the facts also
 * gets plain tables: a view or a virtual table in their place could run without an end.
 */
#include "schema/store_fleet.h"
#include "schema/store_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum hs_status hs_store_fail(sqlite3 *db, struct hs_err *err, const char *doing, const char *path)
{
    int rc = db ? sqlite3_errcode(db) : SQLITE_NOMEM, reason = db ? sqlite3_system_errno(db) : 0;

    if (rc == SQLITE_NOMEM)
        return hs_no_memory(err);
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
        return hs_fail(err, HS_EIO, "'%s' is damaged: %s", path, sqlite3_errmsg(db));
    if (rc == SQLITE_FULL)
        return hs_fail(err, HS_EIO, "cannot %s '%s': no space left", doing, path);
    if (rc == SQLITE_IOERR && reason)
        return hs_fail(err, HS_EIO, "cannot %s '%s': %s", doing, path, strerror(reason));
    return hs_fail(err, HS_EIO, "cannot %s '%s': %s", doing, path, sqlite3_errmsg(db));
}

enum { HEADER_BYTES = 100 };

/* The application that a file says it belongs to; 0: it is no database. */
static uint32_t application_in(struct hs_str head)
{
    const unsigned char *p = (const unsigned char *)head.p;

    if (head.n < HEADER_BYTES || memcmp(p, "SQLite format 3", 16) != 0)
        return 0;
    return (uint32_t)p[68] << 24 | (uint32_t)p[69] << 16 | (uint32_t)p[70] << 8 | p[71];
}

static uint32_t application_of(const char *path)
{
    char head[HEADER_BYTES];
    struct stat st;
    bool regular = strcmp(path, "-") != 0 && /* standard input, whatever else has that name */
                   stat(path, &st) == 0 && S_ISREG(st.st_mode); /* a FIFO must not be touched */
    int fd = regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

    if (fd >= 0)
        (void)close(fd);
    return n < 0 ? 0 : application_in((struct hs_str){ .p = head, .n = (size_t)n });
}

bool hs_store_is_stream(struct hs_str head)
{
    uint32_t application = application_in(head);

    return application == HS_STORE_APPLICATION || application == HS_FLEET_APPLICATION;
}

bool hs_store_is_ours(const char *path)
{
    return application_of(path) == HS_STORE_APPLICATION;
}

bool hs_fleet_is(const char *path)
{
    return application_of(path) == HS_FLEET_APPLICATION;
}

/* A path as SQLite's URI: every byte that could mean something else there is spelled out. */
static bool put_uri(const char *path, const char *how, struct hs_buf *out)
{
    hs_buf_put(out, path[0] == '/' ? HS_STR("file://") : HS_STR("file:./"));
    for (const char *c = path; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("/._-", *c);

        if (plain)
            hs_buf_putc(out, *c);
        else
            hs_buf_printf(out, "%%%02x", (unsigned char)*c);
    }
    hs_buf_put(out, hs_str_of(how));
    return !out->failed;
}

/* One number; -1 when the query gives none. */
static int64_t ask(sqlite3 *db, const char *sql, const char *name)
{
    sqlite3_stmt *s = NULL;
    int64_t value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
        (!name || sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC) == SQLITE_OK) &&
        sqlite3_step(s) == SQLITE_ROW)
        value = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    return value;
}

/* SQLite takes a last page that is cut short for one that ends in zeros. */
static bool is_whole(sqlite3 *db, const char *path)
{
    int64_t page_bytes = ask(db, "PRAGMA page_size", NULL);
    struct stat st;

    return page_bytes > 0 && stat(path, &st) == 0 && st.st_size % page_bytes == 0;
}

static enum hs_status check_version(sqlite3 *db, const char *path, int expected, struct hs_err *err)
{
    int64_t version = ask(db, "PRAGMA user_version", NULL);
    int rc = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);

    /* The first use of the file: damage in its schema shows here. */
    if (rc == SQLITE_READONLY || rc == SQLITE_BUSY)
        return hs_fail(
            err, HS_EUSAGE,
            "'%s' is being written, or was when it was interrupted: wait, or run the same "
            "hangscope batch again, which resumes",
            path);
    if (rc != SQLITE_OK)
        return hs_store_fail(db, err, "read", path);
    if (!is_whole(db, path))
        return hs_fail(err, HS_EIO, "'%s' is damaged: its last page is cut short", path);
    if (version == expected)
        return HS_OK;
    return hs_fail(err, HS_EUSAGE,
                   "'%s' is a database of version %lld, and this hangscope reads version %d: %s",
                   path, (long long)version, expected,
                   expected == HS_STORE_VERSION ? "ingest the files of the job again"
                                                : "run hangscope batch with --restart");
}

void hs_store_distrust(sqlite3 *db)
{
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

/* `how`: the end of the file's URI. */
static enum hs_status open_as(const char *path, const char *how, int version, sqlite3 **out,
                              struct hs_err *err)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    sqlite3 *db = NULL;
    enum hs_status status = HS_OK;
    struct hs_buf uri;

    hs_buf_init(&uri);
    if (!put_uri(path, how, &uri) || sqlite3_open_v2(uri.p, &db, flags, NULL) != SQLITE_OK)
        status = hs_store_fail(db, err, "open", path);
    hs_buf_release(&uri);
    if (status == HS_OK) {
        hs_store_distrust(db);
        status = check_version(db, path, version, err);
    }
    if (status == HS_OK)
        *out = db;
    else
        (void)sqlite3_close(db);
    return status;
}

enum hs_status hs_store_open(const char *path, sqlite3 **out, struct hs_err *err)
{
    if (hs_store_is_ours(path))
        return open_as(path, "?immutable=1", HS_STORE_VERSION, out, err);
    return hs_fail(err, HS_EUSAGE,
                   "'%s' is not a hangscope database; 'hangscope ingest PATH -o FILE' makes one",
                   path);
}

/* A fleet is written in place: it is read under its locks, and not while a journal has to undo what
 * an interrupted batch left. */
enum hs_status hs_fleet_open_to_read(const char *path, sqlite3 **out, struct hs_err *err)
{
    if (hs_fleet_is(path))
        return open_as(path, "?mode=ro", HS_FLEET_VERSION, out, err);
    return hs_fail(err, HS_EUSAGE,
                   "'%s' is not a fleet; 'hangscope batch ROOT -o FLEET.db' makes one", path);
}

bool hs_store_is_plain(sqlite3 *db, const char *table)
{
    return ask(db,
               "SELECT count(*) FROM pragma_table_list(?1) WHERE schema = 'main' AND type = "
               "'table'",
               table) == 1 &&
           ask(db, "SELECT count(*) FROM pragma_table_xinfo(?1, 'main') WHERE hidden", table) == 0;
}
