/*
 * store.h - a job as a file: written, loaded, and asked.
 *
 * One job per SQLite file, described by tables.def. Files are written aside, synced and renamed, so
 * that a database is either whole or not there. Files from strangers are opened read-only and
 * defensive. The store*.c files alone know sqlite3.h.
 */
#ifndef HS_SCHEMA_STORE_H
#define HS_SCHEMA_STORE_H

#include "schema/tables.h"
#include "schema/verdict.h"

#define HS_STORE_PATH_MAX 4096

/* Whether a file is a hangscope database, by its first bytes; any other SQLite file is not. */
bool hs_store_is_ours(const char *path);

/*
 * A database that comes as a stream, of a job or a fleet by its first bytes: what stands in `head`,
 * then all that `from` gives, is copied to a temporary file. `path` (HS_STORE_PATH_MAX) names it
 * until hs_store_stream_end(), or a signal, removes it. One at a time.
 */
bool hs_store_is_stream(struct hs_str head);
enum hs_status hs_store_stream_begin(struct hs_str head, int from, char *path, int *fd,
                                     struct hs_err *err);
void hs_store_stream_end(int fd);

/* All that a database holds. */
struct hs_store_content {
    struct hs_rows rows;
    const struct hs_job_options *options;
    const struct hs_verdict *verdict;
    struct hs_str verdict_json;
};

/*
 * Write a job with what was derived and decided. An existing file that is not ours is refused
 * (HS_EUSAGE) unless `force`. HS_EIO when it cannot be written in full; nothing is left behind.
 */
enum hs_status hs_store_write(const char *path, bool force, const struct hs_store_content *content,
                              struct hs_err *err);

/*
 * The same in two steps: all is written aside, and `fd` keeps it; then it gets its name if `status`
 * is HS_OK, and is removed if not.
 */
enum hs_status hs_store_write_aside(const char *path, bool force,
                                    const struct hs_store_content *content, int *fd,
                                    struct hs_err *err);
enum hs_status hs_store_aside_end(enum hs_status status, const char *path, int fd,
                                  struct hs_err *err);

/* The same refusals as of hs_store_write(), before a job is read in vain. */
enum hs_status hs_store_may_write(const char *path, bool force, struct hs_err *err);

/* Write to a temporary file that no longer has a name: `out` is open at its beginning. */
enum hs_status hs_store_write_unnamed(const struct hs_store_content *content, int *out,
                                      struct hs_err *err);

/*
 * Load the facts of a database into `part` (initialised, empty) and what the user had said into
 * `options` (texts in `arena`). HS_EUSAGE: not a hangscope database, or of another version; HS_EIO:
 * damaged.
 */
enum hs_status hs_store_read(const char *path, struct hs_job *part, struct hs_arena *arena,
                             struct hs_job_options *options, struct hs_err *err);

/* One cell of a result: .p NULL for NULL. `is_text`: to be quoted where numbers are not. */
struct hs_cell {
    struct hs_str text;
    bool is_text;
};

#define HS_RESULT_COLUMNS_MAX 256

/* A row of a result, and before the first the names of its columns (header true). False stops. */
typedef bool hs_row_fn(void *self, const struct hs_cell *cells, int count, bool header);

/* Run SELECTs, read-only, on a database that may be a stranger's. HS_EUSAGE: the query is wrong. */
enum hs_status hs_store_query(const char *path, struct hs_str sql, hs_row_fn *row, void *self,
                              struct hs_err *err);

/*
 * Questions over a job in memory: the tables of rules_tables.sql, and functions text(string),
 * arg(args, name), stack_has(stack, text) and line_text(source, line). The rows are only read, and
 * outlive it.
 */
struct hs_questions;

/* Where the reason is looked for: the attempt that is judged, when its hang began and was first
 * reported (0: unknown) on the clock of its logs. */
struct hs_judged_window {
    uint32_t attempt;
    uint64_t world_size; /* UINT64_MAX: unknown */
    int64_t began_ns, reported_ns;
    uint32_t clock;
};

enum hs_status hs_questions_open(const struct hs_rows *rows, const struct hs_judged_window *window,
                                 struct hs_questions **out, struct hs_err *err);
void hs_questions_close(struct hs_questions *questions);

/* Run one SELECT; `name` stands in the error (HS_EUSAGE) when it is wrong. */
enum hs_status hs_question(struct hs_questions *questions, const char *name, struct hs_str sql,
                           hs_row_fn *row, void *self, struct hs_err *err);

/* Remove what an unfinished hs_store_write() would leave; safe in a signal handler. */
void hs_store_abandon(void);

#endif
