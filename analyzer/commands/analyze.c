#include "analyzer/analyze.h"

#include "analyzer/commands/command.h"

#include <time.h>

/* What is to be written besides, looked at before a job is read in vain. */
static enum hs_status check_outputs(const struct hs_options *o, struct hs_buf *room,
                                    struct hs_str *page, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    if (o->path_count == 0)
        return hs_fail(
            err, HS_EUSAGE,
            "analyze: which job? Give a PATH: a folder, file or archive, or - for standard input");
    if (o->database)
        status = hs_check_target(o, o->database, err);
    if (status == HS_OK && o->report && strcmp(o->report, "-") == 0)
        status = hs_fail(err, HS_EUSAGE,
                         "analyze: standard output is the verdict's; 'hangscope report PATH -o -' "
                         "writes the page there");
    if (status == HS_OK && o->report)
        status = hs_page_template(o, HS_PAGE_JOB, room, page, err);
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
    if (status == HS_OK && o->database)
        status = hs_write_job(o, o->database, &read, &judgement, &err);
    if (status == HS_OK && o->report)
        status = hs_write_page(o, o->report, &judgement, page, &err);
    if (status == HS_OK)
        status = hs_print_verdict(&judgement.verdict, o, &start, &err);
    code = status == HS_OK ? hs_verdict_exit(&judgement.verdict, o) : hs_give_up(status, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&read);
    hs_buf_release(&room);
    return code;
}
