/* timeline.c - a job as a trace: derived and written rank by rank. */
#include "analyzer/timeline.h"

#include "analyzer/analyze.h"
#include "analyzer/commands/text_file.h"
#include "analyzer/render/timeline.h"
#include "base/gzip.h"

#include <unistd.h>

static enum hs_status put_packed(void *self, struct hs_str piece, struct hs_err *err)
{
    return hs_gzip_put(self, piece, err);
}

static enum hs_status put_ranks(struct hs_timeline_making *m, struct hs_timeline_file *trace,
                                struct hs_err *err)
{
    enum hs_status status = HS_OK;

    for (uint32_t i = 0; status == HS_OK && i < m->process_count; i++) {
        struct hs_timeline_rank rank;

        status = hs_timeline_rank(m, i, &rank) ? hs_timeline_file_put(trace, &rank, err)
                                               : hs_no_memory(err);
    }
    return status == HS_OK ? hs_timeline_file_end(trace, err) : status;
}

static enum hs_status write_trace(const struct hs_options *o, struct hs_timeline_making *m,
                                  hs_timeline_sink_fn *sink, void *self, struct hs_err *err)
{
    struct hs_timeline_file trace;
    enum hs_status status =
        hs_timeline_file_init(&trace, o->perfetto ? &hs_timeline_perfetto : &hs_timeline_chrome,
                              &m->timeline, sink, self, err);

    if (status == HS_OK)
        status = put_ranks(m, &trace, err);
    hs_timeline_file_release(&trace);
    return status;
}

static enum hs_status write_file(const struct hs_options *o, struct hs_timeline_making *m,
                                 struct hs_err *err)
{
    bool packed = hs_str_ends(hs_str_of(o->output), HS_STR(".gz"));
    struct hs_text_file file;
    struct hs_gzip gzip;
    enum hs_status status = hs_text_file_open(&file, o, "hangscope", err);

    if (status != HS_OK)
        return status;
    if (packed) {
        status = hs_gzip_init(&gzip, hs_text_file_put, &file, err);
        if (status == HS_OK)
            status = write_trace(o, m, put_packed, &gzip, err);
        if (status == HS_OK)
            status = hs_gzip_end(&gzip, err);
        hs_gzip_release(&gzip);
    } else {
        status = write_trace(o, m, hs_text_file_put, &file, err);
    }
    return hs_text_file_close(&file, status, err);
}

static enum hs_status check_use(const struct hs_options *o, struct hs_err *err)
{
    if (o->path_count == 0 || !o->output)
        return hs_fail(err, HS_EUSAGE,
                       "timeline: of what, and where to? Give a PATH and -o FILE (- for standard "
                       "output)");
    if (o->perfetto && strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO))
        return hs_fail(err, HS_EUSAGE,
                       "a Perfetto trace is not for a terminal: -o FILE, or a pipe");
    return HS_OK;
}

int hs_run_timeline(const struct hs_options *o)
{
    struct hs_timeline_request request = {
        .ranks = o->ranks, .rank_count = o->rank_count, .span = o->span, .language = o->language
    };
    struct hs_timeline_making making;
    struct hs_trial trial;
    struct hs_read_job read;
    struct hs_err err = { .n = 0 };
    enum hs_status status = check_use(o, &err);

    if (status != HS_OK)
        return hs_give_up(status, &err);
    status = hs_read_job(o, &read, &err);
    if (status == HS_OK) {
        status = hs_judge(&read.job, &read.about, &trial, &err);
        if (status == HS_OK) {
            status = hs_timeline_begin(&making, &trial, &request, &err);
            if (status == HS_OK)
                status = write_file(o, &making, &err);
            hs_timeline_release(&making);
        }
        hs_trial_release(&trial);
    }
    hs_read_job_release(&read);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
