/* store_internal.h - what the store*.c files share; nobody else includes it. */
#ifndef HS_SCHEMA_STORE_INTERNAL_H
#define HS_SCHEMA_STORE_INTERNAL_H

#include "schema/store.h"

#include <sqlite3.h>

/* "hgsc", and the version of tables.def: raised with every change that an older reader minds. */
#define HS_STORE_APPLICATION 0x68677363
#define HS_STORE_VERSION 1

/* A cause with SQLite's own words; full disks and their kin are HS_EIO. */
enum hs_status hs_store_fail(sqlite3 *db, struct hs_err *err, const char *doing, const char *path);

/* Rows of a table as a virtual table "hs_<name>", for INSERT ... SELECT. */
int hs_store_offer(sqlite3 *db, const struct hs_table *table, const struct hs_rows *rows);

/* Findings, evidence and the verdict, into tables of views.sql. */
int hs_store_put_verdict(sqlite3 *db, const struct hs_verdict *verdict, struct hs_str json);

#endif
