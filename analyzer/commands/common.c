/* common.c - what commands share: reading the job, printing the result, giving up. */
#include "analyzer/commands/command.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum hs_status hs_print_result(struct hs_str text, struct hs_err *err)
{
    while (text.n > 0) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hs_fail(err, HS_EIO, "cannot write to standard output: %s", strerror(errno));
        text.p += n;
        text.n -= (size_t)n;
    }
    return HS_OK;
}

int hs_give_up(enum hs_status status, const struct hs_err *err)
{
    hs_err_print(err, stderr);
    return status == HS_EUSAGE ? HS_EXIT_USAGE : HS_EXIT_BROKEN;
}

/* A line on the terminal that is written over; workers take turns. */
struct progress {
    pthread_mutex_t lock;
    uint32_t shown_percent;
};

static void show_progress(void *self, uint32_t done, uint32_t inputs)
{
    struct progress *p = self;
    uint32_t percent = (uint32_t)((uint64_t)done * 100 / inputs);

    (void)pthread_mutex_lock(&p->lock);
    if (percent > p->shown_percent) {
        p->shown_percent = percent;
        (void)fprintf(stderr, "\rreading %u of %u files\033[K", done, inputs);
    }
    (void)pthread_mutex_unlock(&p->lock);
}

/* Why nothing could be read: the first thing that is odd about the input. */
static enum hs_status nothing_read(const struct hs_options *o, const struct hs_job *job,
                                   struct hs_err *err)
{
    const struct hs_diagnostic *first = NULL;
    const char *where = o->path_count == 1 ? o->paths[0] : "the paths given";

    for (uint32_t i = 0; i < job->diagnostic_count; i++) {
        const struct hs_diagnostic *d = &job->diagnostics[i];

        if (!first || (strcmp(first->code, "unknown-format") == 0 &&
                       strcmp(d->code, "unknown-format") != 0))
            first = d;
    }
    if (!first)
        return hs_fail(err, HS_EUSAGE, "there is nothing to read in '%s'", where);
    if (first->offset_bytes == HS_NO_POSITION)
        (void)hs_fail(err, HS_EUSAGE, "%.*s: %s: %.*s",
                      HS_STR_ARG(hs_job_string(job, job->sources[first->source].name)), first->code,
                      HS_STR_ARG(hs_job_string(job, first->excerpt)));
    else
        (void)hs_fail(err, HS_EUSAGE, "%.*s, byte %llu: %s: %.*s",
                      HS_STR_ARG(hs_job_string(job, job->sources[first->source].name)),
                      (unsigned long long)first->offset_bytes, first->code,
                      HS_STR_ARG(hs_job_string(job, first->excerpt)));
    return hs_fail(err, HS_EUSAGE,
                   "no file in '%s' could be read as a known format; 'hangscope formats PATH' shows "
                   "what was tried",
                   where);
}

enum hs_status hs_read_job(const struct hs_options *o, struct hs_job *out, struct hs_err *err)
{
    struct progress progress = { .shown_percent = 0 };
    struct hs_read_options read = { .parser = o->parser, .workers = o->workers };
    struct hs_inputs inputs = { .count = 0 };
    enum hs_status status = hs_inputs_find(o->paths, o->path_count, &inputs, err);

    if (o->progress) {
        (void)pthread_mutex_init(&progress.lock, NULL);
        read.progress = show_progress;
        read.progress_self = &progress;
    }
    if (status == HS_OK)
        status = hs_read_inputs(&inputs, &read, out, err);
    if (o->progress) {
        (void)fprintf(stderr, "\r\033[K");
        (void)pthread_mutex_destroy(&progress.lock);
    }
    hs_inputs_release(&inputs);
    if (status == HS_OK && out->dump_count == 0)
        status = nothing_read(o, out, err);
    return status;
}
