/*
 * fuzz_store.c - bytes as a database. What is read is put together, judged and written again; then
 * questions are asked. The bytes lie in a file, because SQLite reads files.
 */
#include "analyzer/analyze.h"
#include "schema/store.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/hangscope-fuzz-XXXXXX";

static void forget(void)
{
    (void)unlink(path);
}

static void put_file(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (fd < 0) {
        fd = mkstemp(path);
        if (fd < 0 || atexit(forget) != 0)
            abort();
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
}

static void judge(const struct hs_job *job, const struct hs_job_options *options)
{
    struct hs_verdict verdict = { .code = NULL };
    struct hs_derived derived;
    struct hs_err err = { .n = 0 };
    struct hs_store_content content = { .rows = { .job = job, .derived = &derived },
                                        .options = options,
                                        .verdict = &verdict,
                                        .verdict_json = HS_STR("{}") };
    int fd = -1;
    struct hs_report report;
    struct hs_analysis more = { .derived = &derived, .report = &report };

    if (hs_analyze_more(job, options, &verdict, &more, &err) != HS_OK)
        return;
    if (hs_store_write_unnamed(&content, &fd, &err) != HS_OK)
        abort();
    (void)close(fd);
    hs_verdict_release(&verdict);
    hs_derived_release(&derived);
    hs_report_release(&report);
}

static void load(void)
{
    struct hs_job part, whole;
    struct hs_job_options options = { .world_size = 0 };
    struct hs_arena arena;
    struct hs_err err = { .n = 0 };

    hs_arena_init(&arena);
    hs_job_init(&part);
    hs_job_init(&whole);
    if (hs_store_read(path, &part, &arena, &options, &err) == HS_OK) {
        if (hs_job_finish(&part, 1, &whole, &err) == HS_OK)
            judge(&whole, &options);
    } else if (err.n == 0) {
        abort(); /* nobody could tell what is wrong */
    }
    hs_job_release(&part);
    hs_job_release(&whole);
    hs_arena_release(&arena);
}

/* A few rows of each answer: a stranger's view may have no end. */
static bool count_row(void *self, const struct hs_cell *cells, int count, bool header)
{
    (void)cells, (void)count, (void)header;
    return ++*(int *)self < 20;
}

static void ask(struct hs_str query)
{
    struct hs_err err = { .n = 0 };
    int rows = 0;

    if (hs_store_query(path, query, count_row, &rows, &err) != HS_OK && err.n == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    put_file(data, size);
    load();
    ask(HS_STR("SELECT * FROM operation"));
    ask(HS_STR("SELECT * FROM string"));
    ask(HS_STR("PRAGMA table_list"));
    return 0;
}
