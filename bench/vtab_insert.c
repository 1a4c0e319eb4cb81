/*
 * vtab_insert.c - how fast SQLite takes rows at all: INSERT ... SELECT from a virtual table that
 * does nothing but count, into a table of the shape of `operation`, with the settings of the store.
 *
 *   vtab_insert FILE RANKS ENTRIES      prints the seconds from opening FILE to having it synced
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct table {
    sqlite3_vtab base;
    uint32_t ranks, entries;
};

struct cursor {
    sqlite3_vtab_cursor base;
    uint32_t rank, entry;
};

static uint32_t ranks, entries;

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    struct table *t = sqlite3_malloc(sizeof(*t));

    (void)aux, (void)argc, (void)argv, (void)message;
    if (!t)
        return SQLITE_NOMEM;
    *t = (struct table){ .ranks = ranks, .entries = entries };
    *out = &t->base;
    return sqlite3_declare_vtab(db,
                                "CREATE TABLE x(id, created_ns, record, seq, p2p_seq, signature,"
                                " stack, finished_us, member, flags, duration_ms)");
}

static int disconnect_table(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *t, sqlite3_index_info *info)
{
    (void)t;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    struct cursor *c = sqlite3_malloc(sizeof(*c));

    (void)t;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct cursor){ .rank = 0 };
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    sqlite3_free(c);
    return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *cursor, int n, const char *text, int argc,
                         sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)cursor;

    (void)n, (void)text, (void)argc, (void)argv;
    c->rank = c->entry = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;

    if (++c->entry == ((const struct table *)cursor->pVtab)->entries) {
        c->entry = 0;
        c->rank++;
    }
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    return ((const struct cursor *)cursor)->rank >= ((const struct table *)cursor->pVtab)->ranks;
}

static sqlite3_int64 id_of(const struct cursor *c)
{
    return (sqlite3_int64)((uint64_t)c->rank << 32 | c->entry);
}

static int give_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    const struct cursor *c = (const struct cursor *)cursor;
    const sqlite3_int64 values[] = {
        id_of(c),
        1758610000000000000 + c->entry * 1500000LL,
        c->entry,
        c->entry + 1,
        0,
        c->entry % 16,
        c->entry % 4,
        700 + c->entry % 64,
        0,
        7,
    };

    if (column == 0 && c->entry > 0)
        sqlite3_result_null(ctx); /* one more than before */
    else if (column == 10)
        sqlite3_result_double(ctx, 0.0);
    else
        sqlite3_result_int64(ctx, values[column]);
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

static const char script[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 32768;"
    "PRAGMA cache_size = -8192; PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
    "CREATE TABLE operation (id INTEGER PRIMARY KEY, created_ns INTEGER, record INTEGER, seq "
    "INTEGER,"
    " p2p_seq INTEGER, signature INTEGER, stack INTEGER, finished_us INTEGER, member INTEGER,"
    " flags INTEGER, duration_ms REAL) STRICT;"
    "INSERT INTO operation SELECT * FROM counted; COMMIT";

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double start = now();
    sqlite3 *db = NULL;
    int rc, fd;

    if (argc != 4) {
        (void)fprintf(stderr, "usage: vtab_insert FILE RANKS ENTRIES\n");
        return 2;
    }
    ranks = (uint32_t)strtoul(argv[2], NULL, 10);
    entries = (uint32_t)strtoul(argv[3], NULL, 10);
    (void)unlink(argv[1]);
    rc = sqlite3_open(argv[1], &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_module(db, "counted", &module, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, script, NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        (void)fprintf(stderr, "vtab_insert: %s\n", sqlite3_errmsg(db));
        return 1;
    }
    (void)sqlite3_close(db);
    fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        return 1;
    (void)close(fd);
    (void)printf("%.6f\n", now() - start);
    return 0;
}
