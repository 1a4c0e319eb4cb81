#include "analyzer/analyze.h"

#include "analyzer/commands/text_file.h"

#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* Whether two names stand for one file, there or not yet. */
static bool is_same_file(const char *a, const char *b)
{
    char *folders[2] = { strdup(a), strdup(b) }, *names[2] = { strdup(a), strdup(b) };
    struct stat x, y;
    bool same = false;

    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        same = x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    else if (folders[0] && folders[1] && names[0] && names[1])
        same = strcmp(basename(names[0]), basename(names[1])) == 0 &&
               stat(dirname(folders[0]), &x) == 0 && stat(dirname(folders[1]), &y) == 0 &&
               x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    for (int i = 0; i < 2; i++) {
        free(folders[i]);
        free(names[i]);
    }
    return same;
}

/* What is to be written besides, looked at before a job is read in vain. */
static enum hs_status check_outputs(const struct hs_options *o, struct hs_buf *room,
                                    struct hs_str *page, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    if (o->path_count == 0)
        return hs_fail(
            err, HS_EUSAGE,
            "analyze: which job? Give a PATH: a folder, file or archive, or - for standard input");
    if (o->database && strcmp(o->database, "-") == 0)
        return hs_fail(err, HS_EUSAGE,
                       "analyze: standard output is the verdict's; 'hangscope ingest PATH -o -' "
                       "writes the database there");
    if (o->report && strcmp(o->report, "-") == 0)
        return hs_fail(err, HS_EUSAGE,
                       "analyze: standard output is the verdict's; 'hangscope report PATH -o -' "
                       "writes the page there");
    if (o->database && o->report && is_same_file(o->database, o->report))
        return hs_fail(err, HS_EUSAGE, "analyze: --db and --report are one file, '%s'", o->report);
    if (o->database)
        status = hs_check_target(o, o->database, err);
    if (status == HS_OK && o->report)
        status = hs_page_template(o, HS_PAGE_JOB, room, page, err);
    return status;
}

/*
 * The files are written aside, then the verdict is printed, then they get their names: where it
 * cannot be printed, which is exit status 4, no file is left.
 */
static enum hs_status put_out(const struct hs_options *o, const struct hs_read_job *read,
                              const struct hs_judgement *judgement, struct hs_str page,
                              const struct timespec *start, struct hs_err *err)
{
    struct hs_options to = *o;
    enum hs_status status = HS_OK;
    struct hs_text_file file;
    bool has_database = false, has_page = false;
    sigset_t before;
    int fd = -1;

    to.output = o->report;
    if (o->database) {
        status = hs_write_job_aside(o, o->database, read, judgement, &fd, err);
        has_database = status == HS_OK;
    }
    if (o->report)
        hs_text_file_hold_signals(&before); /* until both have their names, or none */
    if (status == HS_OK && o->report) {
        status = hs_write_page_aside(&to, judgement, page, &file, err);
        has_page = status == HS_OK;
    }
    if (status == HS_OK)
        status = hs_print_verdict(&judgement->verdict, o, start, err);
    if (has_page)
        status = hs_text_file_close(&file, status, err);
    if (has_database && has_page && file.stopped)
        (void)hs_write_job_end(o, HS_EIO, o->database, fd, err);
    else if (has_database)
        status = hs_write_job_end(o, status, o->database, fd, err);
    if (o->report)
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

int hs_run_analyze(const struct hs_options *o)
{
    struct hs_judgement judgement = { .verdict = { .code = NULL } };
    struct hs_judging want = { .tables = o->database != NULL, .report = o->report != NULL };
    struct hs_err err = { .n = 0 };
    struct hs_str page = { .p = NULL };
    struct timespec start;
    struct hs_read_job read;
    struct hs_buf room;
    enum hs_status status;
    int code;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    hs_buf_init(&room);
    status = check_outputs(o, &room, &page, &err);
    if (status != HS_OK) {
        hs_buf_release(&room);
        return hs_give_up(status, &err);
    }
    status = hs_read_job(o, &read, &err);
    if (status == HS_OK)
        status = hs_judge_job(o, &read, &want, &judgement, &err);
    if (status == HS_OK)
        status = put_out(o, &read, &judgement, page, &start, &err);
    code = status == HS_OK ? hs_verdict_exit(&judgement.verdict, o) : hs_give_up(status, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&read);
    hs_buf_release(&room);
    return code;
}
