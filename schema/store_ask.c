/* store_ask.c - questions of rules, in SQL, over a job in memory. */
#include "schema/rules_tables_sql.h" /* generated from schema/rules_tables.sql */
#include "schema/store_internal.h"
#include "schema/text_blocks.h"

#include <limits.h>
#include <stdlib.h>

struct hs_questions {
    sqlite3 *db;
    const struct hs_job *job;
    struct hs_text_reader lines;
};

static void give(sqlite3_context *ctx, struct hs_str text)
{
    if (text.p)
        sqlite3_result_text64(ctx, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_null(ctx);
}

/* A number of a row below `count`; false for NULL and anything else. */
static bool id_of(sqlite3_value *value, uint32_t count, uint32_t *out)
{
    int64_t id = sqlite3_value_int64(value);

    if (sqlite3_value_type(value) != SQLITE_INTEGER || id < 0 || id >= count)
        return false;
    *out = (uint32_t)id;
    return true;
}

/* text(string) */
static void say_text(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct hs_job *job = sqlite3_user_data(ctx);
    uint32_t id;

    (void)argc;
    if (id_of(argv[0], job->strings.count, &id))
        give(ctx, hs_job_string(job, id));
}

/* arg(args, name) */
static void say_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct hs_job *job = sqlite3_user_data(ctx);
    const char *name = (const char *)sqlite3_value_text(argv[1]);
    uint32_t id;

    (void)argc;
    if (name && id_of(argv[0], job->args_keys.count, &id))
        give(ctx, hs_job_arg(job, id, name));
}

/* stack_has(stack, text): whether the name or file of a frame contains it */
static void say_stack_has(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct hs_job *job = sqlite3_user_data(ctx);
    const char *text = (const char *)sqlite3_value_text(argv[1]);
    uint32_t id, count;
    const uint32_t *frames;
    bool has = false;

    (void)argc;
    if (!text || !id_of(argv[0], job->stacks_keys.count, &id))
        return;
    frames = hs_job_stack(job, id, &count);
    for (uint32_t i = 0; i < count && !has; i++) {
        const struct hs_frame *frame = hs_job_frame(job, frames[i]);

        has = hs_str_has(hs_job_string(job, frame->function), text) ||
              hs_str_has(hs_job_string(job, frame->file), text);
    }
    sqlite3_result_int(ctx, has);
}

/* line_text(source, line): what was kept of it */
static void say_line(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct hs_text_reader *lines = sqlite3_user_data(ctx);
    struct hs_text_line line;
    uint32_t source;

    (void)argc;
    if (id_of(argv[0], lines->job->source_count, &source) &&
        hs_text_find(lines, source, (uint64_t)sqlite3_value_int64(argv[1]), &line))
        give(ctx, line.text);
}

static bool offer(struct hs_questions *q, const struct hs_rows *rows)
{
    void *job = (void *)rows->job;
    const struct {
        const char *name;
        int argc;
        void (*say)(sqlite3_context *, int, sqlite3_value **);
        void *self;
    } functions[] = {
        { "text", 1, say_text, job },
        { "arg", 2, say_arg, job },
        { "stack_has", 2, say_stack_has, job },
        { "line_text", 2, say_line, &q->lines },
    };

    for (const struct hs_table *t = hs_tables; t->name; t++) {
        if (strcmp(t->name, "operation") != 0 && hs_store_offer(q->db, t, rows) != SQLITE_OK)
            return false;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (sqlite3_create_function_v2(q->db, functions[i].name, functions[i].argc,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC, functions[i].self,
                                       functions[i].say, NULL, NULL, NULL) != SQLITE_OK)
            return false;
    }
    return sqlite3_exec(q->db, hs_rules_tables_sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Once the tables are made, statements may read them and no more: no other file, no setting. */
static int only_reads(void *self, int action, const char *a, const char *b, const char *database,
                      const char *trigger)
{
    (void)self;
    (void)a;
    (void)b;
    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

enum hs_status hs_questions_open(const struct hs_rows *rows, const struct hs_judged_window *window,
                                 struct hs_questions **out, struct hs_err *err)
{
    struct hs_questions *q = calloc(1, sizeof(*q));
    enum hs_status status = HS_OK;
    char sql[200];

    if (!q)
        return hs_no_memory(err);
    q->job = rows->job;
    hs_text_reader_init(&q->lines, rows->job);
    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO judged VALUES (%u, nullif(%lld, -1), nullif(%lld, 0), nullif(%lld, 0), "
        "%u)",
        window->attempt, window->world_size == UINT64_MAX ? -1ll : (long long)window->world_size,
        (long long)window->began_ns, (long long)window->reported_ns, window->clock);
    if (sqlite3_open_v2(":memory:", &q->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        !offer(q, rows) || sqlite3_exec(q->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = hs_fail(err, HS_EIO, "the tables of the rules cannot be made: %s",
                         q->db ? sqlite3_errmsg(q->db) : "no memory");
    if (status == HS_OK)
        status = sqlite3_set_authorizer(q->db, only_reads, NULL) == SQLITE_OK ? HS_OK
                                                                              : hs_no_memory(err);
    if (status == HS_OK)
        *out = q;
    else
        hs_questions_close(q);
    return status;
}

void hs_questions_close(struct hs_questions *q)
{
    if (!q)
        return;
    (void)sqlite3_close(q->db);
    hs_text_reader_release(&q->lines);
    free(q);
}

/* What follows a statement may be a comment, not another one. */
static int prepare_one(sqlite3 *db, struct hs_str sql, sqlite3_stmt **out)
{
    sqlite3_stmt *more = NULL;
    const char *tail;
    int rc = sqlite3_prepare_v2(db, sql.p, sql.n > INT_MAX ? 0 : (int)sql.n, out, &tail);

    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, tail, (int)(sql.p + sql.n - tail), &more, NULL);
    if (rc == SQLITE_OK && (more || !*out))
        rc = SQLITE_AUTH;
    (void)sqlite3_finalize(more);
    return rc;
}

enum hs_status hs_question(struct hs_questions *q, const char *name, struct hs_str sql,
                           hs_row_fn *row, void *self, struct hs_err *err)
{
    sqlite3_stmt *s = NULL;
    int rc = prepare_one(q->db, sql, &s);

    if (rc == SQLITE_OK)
        rc = hs_store_run(s, row, self);
    (void)sqlite3_finalize(s);
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ABORT)
        return HS_OK;
    return hs_fail(err, HS_EUSAGE, "rule %s cannot be run: %s", name,
                   rc == SQLITE_AUTH ? "it is not one SELECT" : sqlite3_errmsg(q->db));
}
