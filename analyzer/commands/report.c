/* report.c - a job as a page: one HTML file that opens without a network. */
#include "analyzer/commands/replay_input.h"
#include "analyzer/render/render.h"

#include <errno.h>
#include <unistd.h>

enum hs_status hs_write_page_aside(const struct hs_options *to,
                                   const struct hs_judgement *judgement,
                                   struct hs_str page_template, struct hs_text_file *file,
                                   struct hs_err *err)
{
    struct hs_page page = { .verdict = &judgement->verdict,
                            .report = &judgement->report,
                            .language = to->language };
    enum hs_status status = hs_text_file_open(file, to, HS_PAGE_MARK, err);

    if (status != HS_OK)
        return status;
    status = hs_render_page(&page, page_template, hs_text_file_put, file, err);
    if (status == HS_OK && file->aside && fsync(file->fd) != 0)
        status = hs_fail(err, HS_EIO, "cannot write to '%s': %s", file->path, strerror(errno));
    return status == HS_OK ? HS_OK : hs_text_file_close(file, status, err);
}

enum hs_status hs_write_page(const struct hs_options *o, const char *path,
                             const struct hs_judgement *judgement, struct hs_str page_template,
                             struct hs_err *err)
{
    struct hs_options to = *o;
    struct hs_text_file file;
    enum hs_status status;

    to.output = path;
    status = hs_write_page_aside(&to, judgement, page_template, &file, err);
    return status == HS_OK ? hs_text_file_close(&file, HS_OK, err) : status;
}

/* The ranks that --ranks wants are there. */
static enum hs_status check_ranks(const struct hs_options *o, const struct hs_report *report,
                                  struct hs_err *err)
{
    uint32_t row = 0;

    for (uint32_t i = 0; i < o->rank_count; i++) {
        while (row < report->rank_count && report->ranks[row].rank < o->ranks[i])
            row++;
        if (!report->ranks_left &&
            (row == report->rank_count || report->ranks[row].rank != o->ranks[i]))
            return hs_fail(err, HS_EUSAGE, "--ranks: there is no rank %u", o->ranks[i]);
    }
    return HS_OK;
}

int hs_run_report(const struct hs_options *o)
{
    struct hs_judgement judgement = { .verdict = { .code = NULL } };
    struct hs_judging want = { .report = true };
    struct hs_err err = { .n = 0 };
    struct hs_str page = { .p = NULL };
    struct hs_read_job read;
    struct hs_buf room;
    enum hs_status status;

    if (o->path_count == 0 || !o->output) {
        status = hs_fail(&err, HS_EUSAGE,
                         "report: of which job, and where to? "
                         "hangscope report PATH -o FILE.html");
        return hs_give_up(status, &err);
    }
    hs_buf_init(&room);
    status = hs_page_template(o, HS_PAGE_JOB, &room, &page, &err);
    if (status != HS_OK) {
        hs_buf_release(&room);
        return hs_give_up(status, &err);
    }
    status = hs_read_job(o, &read, &err);
    if (status == HS_OK)
        status = hs_judge_job(o, &read, &want, &judgement, &err);
    if (status == HS_OK)
        status = check_ranks(o, &judgement.report, &err);
    if (status == HS_OK)
        status = hs_write_page(o, o->output, &judgement, page, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&read);
    hs_buf_release(&room);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
