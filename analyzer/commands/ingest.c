/* ingest.c - a job, or the part of it that one node holds, as a database; and several as one. */
#include "analyzer/commands/command.h"
#include "schema/store_fleet.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_some(int fd, char *to, size_t cap)
{
    ssize_t n;

    do {
        n = read(fd, to, cap);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* A database on standard output: made in a temporary file without a name, then copied. */
static enum hs_status write_to_stdout(const struct hs_read_job *job,
                                      const struct hs_judgement *judgement, struct hs_err *err)
{
    int fd = -1;
    enum hs_status status = hs_write_job_unnamed(job, judgement, &fd, err);
    char room[65536];
    ssize_t n = 0;

    while (status == HS_OK && (n = read_some(fd, room, sizeof(room))) > 0)
        status = hs_print_result((struct hs_str){ .p = room, .n = (size_t)n }, err);
    if (n < 0)
        status = hs_fail(err, HS_EIO, "cannot read the temporary file: %s", strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return status;
}

/* What can be told before the job is read. */
static enum hs_status check_output(const struct hs_options *o, struct hs_err *err)
{
    if (strcmp(o->output, "-") != 0)
        return hs_check_target(o, o->output, err);
    if (isatty(STDOUT_FILENO))
        return hs_fail(err, HS_EUSAGE, "a database is not for a terminal: -o FILE, or a pipe");
    return HS_OK;
}

static int ingest(const struct hs_options *o, const char *command)
{
    struct hs_read_job job;
    struct hs_judgement judgement = { .verdict = { .code = NULL } };
    struct hs_judging want = { .tables = true };
    struct hs_err err = { .n = 0 };
    enum hs_status status;

    if (o->path_count == 0 || !o->output) {
        (void)hs_fail(
            &err, HS_EUSAGE,
            "%s: what from, and where to? Give a PATH and -o FILE (- for standard output)",
            command);
        return hs_give_up(HS_EUSAGE, &err);
    }
    status = check_output(o, &err);
    if (status != HS_OK)
        return hs_give_up(status, &err);
    status = hs_read_job(o, &job, &err);
    if (status == HS_OK)
        status = hs_judge_job(o, &job, &want, &judgement, &err);
    if (status == HS_OK)
        status = strcmp(o->output, "-") == 0 ? write_to_stdout(&job, &judgement, &err)
                                             : hs_write_job(o, o->output, &job, &judgement, &err);
    hs_judgement_release(&judgement);
    hs_read_job_release(&job);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}

int hs_run_ingest(const struct hs_options *o)
{
    return ingest(o, "ingest");
}

static bool has_fleet(const struct hs_options *o)
{
    for (uint32_t i = 0; i < o->path_count; i++) {
        if (hs_fleet_is(o->paths[i]))
            return true;
    }
    return false;
}

static int merge_fleets(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };
    enum hs_status status = HS_OK;

    for (uint32_t i = 0; status == HS_OK && i < o->path_count; i++) {
        if (!hs_fleet_is(o->paths[i]))
            status =
                hs_fail(&err, HS_EUSAGE, "merge: '%s' is not a fleet, and others are", o->paths[i]);
    }
    if (status == HS_OK && (!o->output || strcmp(o->output, "-") == 0))
        status = hs_fail(&err, HS_EUSAGE, "merge: where to? Give -o FLEET.db");
    if (status == HS_OK)
        status = hs_check_not_input(o, o->output, &err);
    if (status == HS_OK)
        status = hs_fleet_merge(o->paths, o->path_count, o->output, o->force, &err);
    if (status == HS_OK && o->verbosity >= 0)
        (void)fprintf(stderr, "hangscope: wrote %s\n", o->output);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}

static bool may_be_stream(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

int hs_run_merge(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };
    struct hs_options databases = *o;

    if (has_fleet(o))
        return merge_fleets(o);
    for (uint32_t i = 0; i < o->path_count; i++) {
        const char *path = o->paths[i];

        if (!may_be_stream(path) && (access(path, R_OK) != 0 || !hs_store_is_ours(path)))
            return hs_give_up(hs_not_a_database(path, &err), &err);
    }
    databases.databases_only = true;
    return ingest(&databases, "merge");
}
