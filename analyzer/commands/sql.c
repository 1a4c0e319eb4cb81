/* sql.c - questions to a database. */
#include "analyzer/commands/rows_print.h"
#include "analyzer/commands/streams.h"
#include "schema/store.h"

#include <errno.h>
#include <unistd.h>

static enum hs_status to_stdout(void *self, struct hs_str text, struct hs_err *err)
{
    (void)self;
    return hs_print_result(text, err);
}

/* The query: the second word, a file, or standard input. */
static enum hs_status read_query(const struct hs_options *o, struct hs_buf *sql, struct hs_err *err)
{
    FILE *in = stdin;
    const char *name = o->sql_file ? o->sql_file : "standard input";
    char room[4096];
    bool failed;
    size_t n;

    if (o->path_count > 1 && o->sql_file)
        return hs_fail(err, HS_EUSAGE, "sql: give a QUERY or --file, not both");
    if (o->path_count > 1) {
        hs_buf_put(sql, hs_str_of(o->paths[1]));
        return HS_OK;
    }
    if (o->sql_file)
        in = fopen(o->sql_file, "r");
    if (!in)
        return hs_fail(err, HS_EUSAGE, "sql: cannot read '%s': %s", name, strerror(errno));
    while ((n = fread(room, 1, sizeof(room), in)) > 0)
        hs_buf_put(sql, (struct hs_str){ .p = room, .n = n });
    failed = ferror(in) != 0;
    if (failed)
        (void)hs_fail(err, HS_EUSAGE, "sql: cannot read '%s': %s", name, strerror(errno));
    if (in != stdin)
        (void)fclose(in);
    if (failed)
        return HS_EUSAGE;
    return sql->failed ? hs_no_memory(err) : HS_OK;
}

/* A database that comes as a stream is copied to a temporary file first. */
static enum hs_status ask(const char *path, const struct hs_opened *stream, struct hs_str sql,
                          struct hs_row_print *print, struct hs_err *err)
{
    char copy[HS_STORE_PATH_MAX];
    enum hs_status status;
    int fd = -1;

    if (stream->fd < 0 || !hs_store_is_stream(stream->head))
        return hs_store_query(path, sql, hs_row_print, print, err);
    status = hs_store_stream_begin(stream->head, stream->fd, copy, &fd, err);
    if (status != HS_OK)
        return status;
    status = hs_store_query(copy, sql, hs_row_print, print, err);
    hs_store_stream_end(fd);
    return status;
}

static enum hs_status check_words(const struct hs_options *o, struct hs_err *err)
{
    if (o->path_count < 1 || o->path_count > 2)
        return hs_fail(err, HS_EUSAGE,
                       "sql: give a database and one QUERY (or --file Q.sql, or standard input)");
    if (strcmp(o->paths[0], "-") != 0)
        return access(o->paths[0], R_OK) == 0 ? HS_OK
                                              : hs_fail(err, HS_EUSAGE, "sql: cannot read '%s': %s",
                                                        o->paths[0], strerror(errno));
    if (o->path_count == 1 && !o->sql_file)
        return hs_fail(err, HS_EUSAGE,
                       "sql: the database is on standard input: give a QUERY or --file");
    return HS_OK;
}

int hs_run_sql(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };
    struct hs_streams streams = { .rows = NULL };
    struct hs_row_print p;
    enum hs_status status;
    struct hs_buf sql;

    hs_buf_init(&sql);
    hs_row_print_init(&p, o->sql_format, to_stdout, NULL, &err);
    status = check_words(o, &err);
    if (status == HS_OK)
        status = read_query(o, &sql, &err);
    if (status == HS_OK)
        status = hs_streams_open(o->paths, 1, false, &streams, &err);
    if (status == HS_OK)
        status = ask(o->paths[0], &streams.rows[0], hs_buf_str(&sql), &p, &err);
    if (status == HS_OK)
        status = hs_row_print_end(&p);
    hs_streams_close(&streams);
    hs_buf_release(&sql);
    hs_row_print_release(&p);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
