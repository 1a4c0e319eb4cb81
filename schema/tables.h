/*
 * tables.h - tables.def as data: every table, its columns, and where a job keeps them.
 *
 * The store writes, loads and documents tables by these descriptions alone; a column is added by
 * one row in tables.def.
 */
#ifndef HS_SCHEMA_TABLES_H
#define HS_SCHEMA_TABLES_H

#include "schema/derived.h"

enum hs_column_kind {
    HS_COLUMN_U8,
    HS_COLUMN_U16,
    HS_COLUMN_U32,
    HS_COLUMN_I64,
    HS_COLUMN_U64,
    HS_COLUMN_REAL,
    HS_COLUMN_FLAG,
    HS_COLUMN_REF,      /* u32 row of `target`; HS_NO_ID is NULL */
    HS_COLUMN_RANK,     /* u32; HS_NO_ID is NULL */
    HS_COLUMN_NUMBER,   /* u32; HS_NO_ID is NULL */
    HS_COLUMN_COUNTER,  /* i64; -1 is NULL */
    HS_COLUMN_ID32,     /* i32; -1 is NULL */
    HS_COLUMN_TIME,     /* i64 ns; 0 is NULL */
    HS_COLUMN_POSITION, /* u64; HS_NO_POSITION is NULL */
    HS_COLUMN_CODE,     /* const char *: a topic */
    HS_COLUMN_FORMAT,   /* const char *: of the job's own strings */
    HS_COLUMN_WORD,     /* const char *: static; derived tables only */
    HS_COLUMN_TEXT,     /* struct hs_str; derived tables only */
    HS_COLUMN_BLOB,     /* struct hs_str */
    HS_COLUMN_INTERNED_TEXT,
    HS_COLUMN_INTERNED_LIST, /* u32 words as a JSON list */
    HS_COLUMN_INTERNED_KEY,  /* u32 words as a BLOB, little-endian */
};

struct hs_column {
    const char *name;
    enum hs_column_kind kind;
    size_t offset;      /* in the row; of an interned kind: of the intern table in the job */
    const char *target; /* REF: table; NULL otherwise */
    const char *doc;
};

struct hs_table {
    const char *name, *doc;
    const struct hs_column *columns; /* ends with a NULL name; `id` comes before the first */
    bool derived;
};

extern const struct hs_table
    hs_tables[]; /* ends with a NULL name; targets come before references */

const struct hs_table *hs_table_find(const char *name);

/* Some rows of a table, in order, where not all are wanted. */
struct hs_row_choice {
    const char *table;
    const uint32_t *rows;
    uint32_t count;
};

/* What the rows of a table are taken from. */
struct hs_rows {
    const struct hs_job *job;
    const struct hs_derived *derived;
    const struct hs_row_choice *choices; /* ends with a NULL table; NULL: all rows of all tables */
};

/* Where the rows of a table lie. Of interned tables and `operation` only the number is known here:
 * their rows are in the job's intern tables and dumps. */
struct hs_table_base {
    const void *base;
    size_t row_bytes;
    uint64_t count;
};

struct hs_table_base hs_table_base(const struct hs_table *table, const struct hs_rows *rows);

/* CREATE TABLE statements of all tables, with comments; and the page docs/schema.md. */
void hs_tables_ddl(struct hs_buf *out);
void hs_tables_document(struct hs_buf *out);

#endif
