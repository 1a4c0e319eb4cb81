/* store_fleet_internal.h - what the files store_fleet*.c share. */
#ifndef HS_SCHEMA_STORE_FLEET_INTERNAL_H
#define HS_SCHEMA_STORE_FLEET_INTERNAL_H

#include "schema/store_fleet.h"
#include "schema/store_internal.h"

enum { HS_FLEET_TABLES = 4 }; /* rows of hs_fleet_tables */

struct hs_fleet {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *inserts[HS_FLEET_TABLES];
    sqlite3_stmt *find, *choose, *note;
};

/* What a fleet knows of a path. */
struct hs_fleet_found {
    sqlite3_int64 id; /* 0: nothing */
    int64_t judged_ns;
    bool same; /* stamp and tool are as they were */
};

enum hs_status hs_fleet_look(struct hs_fleet *fleet, const struct hs_fleet_row *row,
                             struct hs_fleet_found *out, struct hs_err *err);

/* An empty fleet in the file `aside`, to be renamed to `path`. */
enum hs_status hs_fleet_begin(const char *aside, const char *path, struct hs_fleet **out,
                              struct hs_err *err);

#endif
