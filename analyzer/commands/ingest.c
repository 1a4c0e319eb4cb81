/* ingest.c - a job, or the part of it that one node holds, as a database; and several as one. */
#include "analyzer/commands/command.h"
#include "schema/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static ssize_t read_some(int fd, char *to, size_t cap)
{
    ssize_t n;

    do {
        n = read(fd, to, cap);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* A database on standard output: made aside in a temporary file, then copied. */
static enum hs_status write_to_stdout(const struct hs_options *o, const struct hs_read_job *job,
                                      const struct hs_judgement *judgement, struct hs_err *err)
{
    char path[] = "/tmp/hangscope-XXXXXX";
    struct hs_options quiet = *o;
    int fd = -1;
    enum hs_status status;
    char room[65536];

    if (isatty(STDOUT_FILENO))
        return hs_fail(err, HS_EUSAGE, "a database is not for a terminal: -o FILE, or a pipe");
    fd = mkstemp(path);
    if (fd < 0)
        return hs_fail(err, HS_EIO, "cannot write a temporary file in /tmp");
    quiet.verbosity = -1;
    quiet.force = true;
    status = hs_write_job(&quiet, path, job, judgement, err);
    (void)close(fd);
    fd = status == HS_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    (void)unlink(path);
    for (ssize_t n; status == HS_OK && (n = read_some(fd, room, sizeof(room))) > 0;)
        status = hs_print_result((struct hs_str){ .p = room, .n = (size_t)n }, err);
    if (fd >= 0)
        (void)close(fd);
    return status;
}

static int ingest(const struct hs_options *o, const char *command)
{
    struct hs_read_job job;
    struct hs_judgement judgement = { .verdict = { .code = NULL } };
    struct hs_err err = { .n = 0 };
    enum hs_status status;

    if (o->path_count == 0 || !o->output) {
        (void)hs_fail(&err, HS_EUSAGE,
                      "%s: what from, and where to? Give a PATH and -o FILE (- for standard output)",
                      command);
        return hs_give_up(HS_EUSAGE, &err);
    }
    status = hs_read_job(o, &job, &err);
    if (status == HS_OK)
        status = hs_judge_job(&job, true, &judgement, &err);
    if (status == HS_OK)
        status = strcmp(o->output, "-") == 0
                     ? write_to_stdout(o, &job, &judgement, &err)
                     : hs_write_job(o, o->output, &job, &judgement, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&job);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}

int hs_run_ingest(const struct hs_options *o)
{
    return ingest(o, "ingest");
}

int hs_run_merge(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };

    for (uint32_t i = 0; i < o->path_count; i++) {
        if (access(o->paths[i], R_OK) == 0 && hs_store_is_ours(o->paths[i]))
            continue;
        (void)hs_fail(&err, HS_EUSAGE,
                      "merge: '%s' is not a hangscope database; 'hangscope ingest PATH -o FILE' makes "
                      "one",
                      o->paths[i]);
        return hs_give_up(HS_EUSAGE, &err);
    }
    return ingest(o, "merge");
}
