/* store_loading.h - what the files that load a database share; nobody else includes it. */
#ifndef HS_SCHEMA_STORE_LOADING_H
#define HS_SCHEMA_STORE_LOADING_H

#include "schema/store_internal.h"

struct loading {
    sqlite3 *db;
    const char *path;
    struct hs_job *job;
    struct hs_arena *arena;
    struct hs_err *err;
    uint64_t limits[64]; /* rows of the table that each column refers to */
    uint32_t *words;     /* of a list being read */
    uint32_t word_count, word_cap;
    uint32_t *calls; /* by dump: how many operations it should have */
    uint32_t call_cap;
};

/* A status that says which row is wrong, and in what. */
enum hs_status hs_load_damaged(struct loading *l, const char *table, uint64_t row,
                               const char *what);

/* A cell as bytes; and one that is a list "[0,1,2]", or a key, into l->words. */
struct hs_str hs_load_bytes(sqlite3_stmt *s, int column);
bool hs_load_list(struct loading *l, sqlite3_stmt *s);
bool hs_load_key(struct loading *l, struct hs_str bytes);

/* All columns of a row into a struct as tables.def lays it out. */
enum hs_status hs_load_row(struct loading *l, sqlite3_stmt *s, const struct hs_table *table,
                           void *row);

#endif
