/* store_fleet_merge.c - several fleets become one: written aside and renamed. */
#include "base/limits.h"
#include "schema/store_fleet_internal.h"

#include <stdlib.h>

/* A fleet that is read: a statement for each table. */
struct reading {
    sqlite3 *db;
    const char *path;
    sqlite3_stmt *selects[HS_FLEET_TABLES];
    struct hs_arena arena; /* lists of the job at hand */
};

static bool prepare_select(struct reading *r, size_t at)
{
    const struct hs_fleet_table *table = &hs_fleet_tables[at];
    struct hs_buf sql;
    bool ok;

    hs_buf_init(&sql);
    hs_buf_printf(&sql, "SELECT %s", at ? "job" : "id");
    for (const struct hs_fleet_column *c = table->columns; c->name; c++)
        hs_buf_printf(&sql, ", \"%s\"", c->name);
    hs_buf_printf(&sql, " FROM main.%s %s", table->name,
                  at ? "WHERE job = ? ORDER BY rowid" : "ORDER BY path");
    ok = !sql.failed && sqlite3_prepare_v2(r->db, sql.p, -1, &r->selects[at], NULL) == SQLITE_OK;
    hs_buf_release(&sql);
    return ok;
}

static enum hs_status open_reading(struct reading *r, struct hs_err *err)
{
    enum hs_status status = hs_fleet_open_to_read(r->path, &r->db, err);

    for (size_t i = 0; status == HS_OK && hs_fleet_tables[i].name; i++) {
        if (!hs_store_is_plain(r->db, hs_fleet_tables[i].name))
            return hs_fail(err, HS_EIO, "'%s' is damaged: it has no table '%s'", r->path,
                           hs_fleet_tables[i].name);
        if (!prepare_select(r, i))
            status = hs_store_fail(r->db, err, "read", r->path);
    }
    return status;
}

static void close_reading(struct reading *r)
{
    for (size_t i = 0; i < HS_FLEET_TABLES; i++)
        (void)sqlite3_finalize(r->selects[i]);
    (void)sqlite3_close(r->db);
    hs_arena_release(&r->arena);
}

/* Texts are copied: those of a statement go with its next step. */
static bool take_fields(struct reading *r, sqlite3_stmt *s, void *row,
                        const struct hs_fleet_column *columns)
{
    int at = 1;

    for (const struct hs_fleet_column *c = columns; c->name; c++, at++) {
        bool none = sqlite3_column_type(s, at) == SQLITE_NULL;

        if (!c->is_text) {
            *hs_fleet_number(row, c) = none ? HS_FLEET_NONE : sqlite3_column_int64(s, at);
        } else if (none) {
            *hs_fleet_text(row, c) = (struct hs_str){ .p = NULL };
        } else {
            const char *text = (const char *)sqlite3_column_text(s, at);
            struct hs_str whole = { .p = text, .n = (size_t)sqlite3_column_bytes(s, at) };

            if (!text || !(*hs_fleet_text(row, c) = hs_arena_copy(&r->arena, whole)).p)
                return false;
        }
    }
    return true;
}

/* The rows of one table that belong to a job. */
static bool take_list(struct reading *r, size_t table, sqlite3_int64 job, struct hs_fleet_row *row)
{
    const struct hs_fleet_table *t = &hs_fleet_tables[table];
    sqlite3_stmt *s = r->selects[table];
    uint32_t count = 0, cap = 0;
    char *rows = NULL;
    int rc;

    (void)sqlite3_bind_int64(s, 1, job);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < HS_FLEET_LIST_MAX) {
        if ((count == cap && !hs_grow((void **)&rows, &cap, count + 1u, t->row_bytes)) ||
            !take_fields(r, s, rows + count * t->row_bytes, t->columns))
            break;
        count++;
    }
    (void)sqlite3_reset(s);
    *(void **)((char *)row + t->rows_offset) = rows;
    *(uint32_t *)((char *)row + t->count_offset) = count;
    return rc == SQLITE_DONE;
}

static void release_lists(struct hs_fleet_row *row)
{
    free(row->culprits);
    free(row->findings);
    free(row->frames);
}

static enum hs_status copy_job(struct reading *r, struct hs_fleet *to, struct hs_err *err)
{
    sqlite3_int64 id = sqlite3_column_int64(r->selects[0], 0);
    struct hs_fleet_row row;
    struct hs_fleet_found found;
    enum hs_status status = HS_OK;
    bool ok;

    hs_fleet_row_init(&row);
    ok = take_fields(r, r->selects[0], &row, hs_fleet_tables[0].columns) && row.path.p;
    for (size_t t = 1; ok && hs_fleet_tables[t].name; t++)
        ok = take_list(r, t, id, &row);
    if (!ok)
        status = hs_fail(err, HS_EIO, "'%s' is damaged, or memory is out", r->path);
    if (status == HS_OK)
        status = hs_fleet_look(to, &row, &found, err);
    if (status == HS_OK && (!found.id || found.judged_ns < row.judged_ns))
        status = hs_fleet_write(to, &row, err);
    release_lists(&row);
    hs_arena_release(&r->arena);
    hs_arena_init(&r->arena);
    return status;
}

static enum hs_status copy_fleet(const char *path, struct hs_fleet *to, struct hs_err *err)
{
    struct reading r = { .path = path };
    enum hs_status status;
    int rc = SQLITE_DONE;

    hs_arena_init(&r.arena);
    status = open_reading(&r, err);
    while (status == HS_OK && (rc = sqlite3_step(r.selects[0])) == SQLITE_ROW)
        status = copy_job(&r, to, err);
    if (status == HS_OK && rc != SQLITE_DONE)
        status = hs_store_fail(r.db, err, "read", path);
    close_reading(&r);
    return status;
}

enum hs_status hs_fleet_merge(const char *const *paths, uint32_t count, const char *to, bool force,
                              struct hs_err *err)
{
    char aside[HS_STORE_PATH_MAX];
    struct hs_fleet *fleet = NULL;
    int fd = -1;
    enum hs_status status = hs_fleet_may_write(to, force, err);

    if (status == HS_OK)
        status = hs_store_aside(to, aside, &fd, err);
    if (status != HS_OK)
        return status;
    status = hs_fleet_begin(aside, to, &fleet, err);
    for (uint32_t i = 0; status == HS_OK && i < count; i++)
        status = copy_fleet(paths[i], fleet, err);
    if (status == HS_OK)
        status = hs_fleet_commit(fleet, err);
    hs_fleet_close(fleet);
    return hs_store_aside_end(status, to, fd, err);
}
