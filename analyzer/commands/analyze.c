#include "analyzer/analyze.h"

#include "analyzer/commands/command.h"

#include <time.h>

int hs_run_analyze(const struct hs_options *o)
{
    struct hs_judgement judgement = { .verdict = { .code = NULL } };
    struct hs_err err = { .n = 0 };
    struct timespec start;
    struct hs_read_job read;
    enum hs_status status;
    int code;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    if (o->path_count == 0) {
        (void)hs_fail(
            &err, HS_EUSAGE,
            "analyze: which job? Give a PATH: a folder, file or archive, or - for standard "
            "input");
        return hs_give_up(HS_EUSAGE, &err);
    }
    if (o->database && (status = hs_check_target(o, o->database, &err)) != HS_OK)
        return hs_give_up(status, &err);
    status = hs_read_job(o, &read, &err);
    if (status == HS_OK)
        status = hs_judge_job(&read, o->database != NULL, &judgement, &err);
    if (status == HS_OK && o->database)
        status = hs_write_job(o, o->database, &read, &judgement, &err);
    if (status == HS_OK)
        status = hs_print_verdict(&judgement.verdict, o, &start, &err);
    code = status == HS_OK ? hs_verdict_exit(&judgement.verdict, o) : hs_give_up(status, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&read);
    return code;
}
