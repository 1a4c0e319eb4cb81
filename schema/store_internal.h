/* store_internal.h - what the store*.c files share; nobody else includes it. */
#ifndef HS_SCHEMA_STORE_INTERNAL_H
#define HS_SCHEMA_STORE_INTERNAL_H

#include "schema/store.h"

#include <sqlite3.h>

/* "hgsc", and the version of tables.def: raised with every change that an older reader minds. */
#define HS_STORE_APPLICATION 0x68677363
#define HS_STORE_VERSION 3

/* The same of a fleet: "hgfl", and the version of fleet.sql. */
#define HS_FLEET_APPLICATION 0x6867666c
#define HS_FLEET_VERSION 1

/* A cause with the system's or SQLite's own words: HS_EIO. */
enum hs_status hs_store_fail(sqlite3 *db, struct hs_err *err, const char *doing, const char *path);

/* Open a file for reading, trusting nothing in it. HS_EUSAGE: not ours, or of another version. */
enum hs_status hs_store_open(const char *path, sqlite3 **out, struct hs_err *err);

enum hs_status hs_fleet_open_to_read(const char *path, sqlite3 **out, struct hs_err *err);

/* Let nothing in an open file run or reach out. */
void hs_store_distrust(sqlite3 *db);

/* A new file beside `path`, which a signal removes from its first moment on: its descriptor, and
 * its name in `aside` (HS_STORE_PATH_MAX). Then: hs_store_aside_end(). One at a time. */
enum hs_status hs_store_aside(const char *path, char *aside, int *fd, struct hs_err *err);

/* Whether a table is one that keeps its rows and computes none of its columns. */
bool hs_store_is_plain(sqlite3 *db, const char *table);

/* What the user had said of the job, kept in the tables `job` and `place`. */
enum hs_status hs_store_read_options(sqlite3 *db, const char *path, struct hs_arena *arena,
                                     struct hs_job_options *out, struct hs_err *err);
bool hs_store_put_options(sqlite3 *db, const struct hs_job_options *options);

/* Step through a statement; SQLITE_ABORT: nobody wants more rows. */
int hs_store_run(sqlite3_stmt *statement, hs_row_fn *row, void *self);

/* Rows of a table as a virtual table "hs_<name>", for INSERT ... SELECT. */
int hs_store_offer(sqlite3 *db, const struct hs_table *table, const struct hs_rows *rows);

/* Findings, evidence and the verdict, into tables of views.sql. */
int hs_store_put_verdict(sqlite3 *db, const struct hs_verdict *verdict, struct hs_str json);

#endif
