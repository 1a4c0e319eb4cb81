/*
 * fleet.h - what is kept of each of many jobs: plain rows, described once as tables of columns.
 *
 * The same description makes the message in which the process that judged a job tells of it, the
 * statements that write and read fleet.db, and the order of its columns. The tables themselves,
 * with what every column means, are in fleet.sql.
 */
#ifndef HS_SCHEMA_FLEET_H
#define HS_SCHEMA_FLEET_H

#include "base/buf.h"
#include "base/err.h"

#define HS_FLEET_NONE INT64_MIN /* of a number: NULL */

struct hs_fleet_culprit {
    int64_t rank, gpu;
    struct hs_str host, role;
};

struct hs_fleet_finding {
    struct hs_str code, severity;
    int64_t ranks; /* how many */
};

/* A frame of the user's code; `who`: culprit, or waiting. */
struct hs_fleet_frame {
    struct hs_str who;
    int64_t depth; /* 0: innermost */
    struct hs_str file, function;
};

/* One job. Texts have .p NULL where they are not known. */
struct hs_fleet_row {
    struct hs_str path, name; /* absolute; below the folder that was searched */
    int64_t files, bytes, newest_ns, stamp;
    struct hs_str tool;
    struct hs_str state;
    int64_t exit, signal;
    struct hs_str limit;
    int64_t tries;
    struct hs_str trouble;
    struct hs_str code, cause, confidence, action, summary;
    struct hs_str operation, group_kind, fingerprint, sketch;
    int64_t happened_ns;
    struct hs_str happened_from;
    int64_t world_size, gpus, idle_ns;
    struct hs_str kept_db, kept_report;
    int64_t wall_ms, cpu_ms, peak_bytes, judged_ns;
    struct hs_fleet_culprit *culprits;
    struct hs_fleet_finding *findings;
    struct hs_fleet_frame *frames;
    uint32_t culprit_count, finding_count, frame_count;
};

/* A row of which nothing is known. */
void hs_fleet_row_init(struct hs_fleet_row *row);

struct hs_fleet_column {
    const char *name;
    bool is_text; /* struct hs_str; else int64_t */
    size_t offset;
};

/* `job`, and the tables of several rows a job. */
struct hs_fleet_table {
    const char *name;
    const struct hs_fleet_column *columns; /* ends with a NULL name */
    size_t row_bytes;
    size_t rows_offset, count_offset; /* in struct hs_fleet_row; of `job` itself 0 */
};

extern const struct hs_fleet_table hs_fleet_tables[]; /* job first; ends with a NULL name */

static inline struct hs_str *hs_fleet_text(void *row, const struct hs_fleet_column *column)
{
    return (struct hs_str *)((char *)row + column->offset);
}

static inline int64_t *hs_fleet_number(void *row, const struct hs_fleet_column *column)
{
    return (int64_t *)((char *)row + column->offset);
}

/* The rows of a table in `row`, and how many; of `job` the row itself. */
void *hs_fleet_rows(const struct hs_fleet_row *row, const struct hs_fleet_table *table,
                    uint32_t *count);

/* A row as bytes, and back: false when they are no such row. Texts then point into `bytes`, lists
 * lie in `arena`. */
void hs_fleet_put(struct hs_buf *out, const struct hs_fleet_row *row);
bool hs_fleet_take(struct hs_str bytes, struct hs_arena *arena, struct hs_fleet_row *out);

#endif
