/* store_options.c - what the user said of a job, kept with it: tables `job` and `place`. */
#include "base/limits.h"
#include "schema/store_internal.h"

#include <stdlib.h>

static bool run(sqlite3_stmt *s)
{
    bool done = sqlite3_step(s) == SQLITE_DONE;

    return sqlite3_reset(s) == SQLITE_OK && done;
}

bool hs_store_put_options(sqlite3 *db, const struct hs_job_options *o)
{
    sqlite3_stmt *s = NULL;
    bool ok =
        sqlite3_prepare_v2(db, "INSERT INTO place VALUES (?, ?, ?)", -1, &s, NULL) == SQLITE_OK;

    for (uint32_t i = 0; ok && i < o->place_count; i++) {
        (void)sqlite3_bind_int64(s, 1, o->places[i].rank);
        (void)sqlite3_bind_text64(s, 2, o->places[i].host.p, o->places[i].host.n, SQLITE_TRANSIENT,
                                  SQLITE_UTF8);
        if (o->places[i].gpu == HS_NO_ID)
            (void)sqlite3_bind_null(s, 3);
        else
            (void)sqlite3_bind_int64(s, 3, o->places[i].gpu);
        ok = run(s);
    }
    (void)sqlite3_finalize(s);
    s = NULL;
    ok = ok && sqlite3_prepare_v2(db, "INSERT INTO job VALUES ('world_size', ?)", -1, &s, NULL) ==
                   SQLITE_OK;
    if (ok && o->world_size) {
        (void)sqlite3_bind_int64(s, 1, (sqlite3_int64)o->world_size);
        ok = run(s);
    }
    (void)sqlite3_finalize(s);
    return ok &&
           sqlite3_exec(db, "INSERT INTO job VALUES ('written_by', 'hangscope " HS_VERSION "')",
                        NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- and back; the file may be a stranger's ---- */

static enum hs_status damaged(const char *path, const char *table, struct hs_err *err)
{
    return hs_fail(err, HS_EIO, "'%s' is damaged: table %s: a value is out of range", path, table);
}

static enum hs_status read_world(sqlite3 *db, const char *path, uint64_t *world, struct hs_err *err)
{
    sqlite3_stmt *s = NULL;
    enum hs_status status = HS_OK;
    int rc = sqlite3_prepare_v2(db, "SELECT value FROM job WHERE key = 'world_size'", -1, &s, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        int64_t value = sqlite3_column_int64(s, 0);

        if (value < 1 || value > HS_RANK_MAX)
            status = damaged(path, "job", err);
        else
            *world = (uint64_t)value;
    } else if (rc != SQLITE_DONE) {
        status = hs_store_fail(db, err, "read", path);
    }
    (void)sqlite3_finalize(s);
    return status;
}

/* Ranks come in rising order, each once: the first not yet read is `least`. */
static bool read_place(sqlite3_stmt *s, int64_t least, struct hs_arena *arena,
                       struct hs_rank_place *out)
{
    int64_t rank = sqlite3_column_int64(s, 0), gpu = sqlite3_column_int64(s, 2);
    const char *host = (const char *)sqlite3_column_text(s, 1);
    bool has_gpu = sqlite3_column_type(s, 2) != SQLITE_NULL;

    if (rank < least || rank > HS_RANK_MAX || !host || gpu < 0 || gpu > UINT16_MAX)
        return false;
    *out = (struct hs_rank_place){ .rank = (uint32_t)rank,
                                   .host = hs_arena_copy(arena, hs_str_of(host)),
                                   .gpu = has_gpu ? (uint32_t)gpu : HS_NO_ID };
    return out->host.p != NULL;
}

enum hs_status hs_store_read_options(sqlite3 *db, const char *path, struct hs_arena *arena,
                                     struct hs_job_options *out, struct hs_err *err)
{
    struct hs_job_options found = { .world_size = 0 };
    enum hs_status status = HS_OK;
    struct hs_rank_place *places = NULL, *kept;
    sqlite3_stmt *s = NULL;
    int64_t least = 0;
    uint32_t cap = 0;
    int rc = SQLITE_OK;

    for (const char *const *table = (const char *const[]){ "job", "place", NULL }; *table;
         table++) {
        if (!hs_store_is_plain(db, *table))
            return hs_fail(err, HS_EIO, "'%s' is damaged: it has no table %s", path, *table);
    }
    status = read_world(db, path, &found.world_size, err);
    rc = sqlite3_prepare_v2(db, "SELECT rank, host, gpu FROM place ORDER BY rank", -1, &s, NULL);
    while (status == HS_OK && rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (!HS_GROW(places, cap, found.place_count + 1u))
            status = hs_no_memory(err);
        else if (!read_place(s, least, arena, &places[found.place_count]))
            status = damaged(path, "place", err);
        else
            least = (int64_t)places[found.place_count++].rank + 1;
    }
    if (status == HS_OK && rc != SQLITE_DONE)
        status = hs_store_fail(db, err, "read", path);
    (void)sqlite3_finalize(s);
    kept = HS_NEW(arena, struct hs_rank_place, (size_t)found.place_count + 1);
    if (status == HS_OK && !kept)
        status = hs_no_memory(err);
    if (status == HS_OK) {
        if (found.place_count)
            memcpy(kept, places, found.place_count * sizeof(*kept));
        found.places = kept;
        *out = found;
    }
    free(places);
    return status;
}
