/*
 * text_file.c - a text written to FILE: aside, then renamed. While it is written, the signals that
 * end the program wait; one that came leaves no file.
 */
#include "analyzer/commands/text_file.h"

#include "base/fd.h"
#include "parsers/source.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void ending_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, SIGPIPE); /* the verdict is printed before the file gets its name */
}

void hs_text_file_hold_signals(sigset_t *before)
{
    sigset_t set;

    ending_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, before);
}

static bool came(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGPIPE) == 1);
}

/* Whether the file that is there, unpacked, begins as ours do. An archive is none of ours. */
static bool is_ours(const char *path, const char *mark)
{
    struct hs_input input = { .path = hs_str_of(path), .name = hs_str_of(path) };
    struct hs_source_trouble trouble;
    struct hs_err err = { .n = 0 };
    struct hs_source *in;
    struct hs_str member;
    char head[4096];
    size_t n = 0, more;
    bool ours = true;

    if (hs_source_open(&input, &in, &err) != HS_OK)
        return ours;
    if (hs_source_next(in, &member, &trouble)) {
        ours = hs_str_eq(member, input.name);
        while (n < sizeof(head) &&
               (more = hs_source_read(in, head + n, sizeof(head) - n, &trouble)) > 0)
            n += more;
        ours = ours && (n == 0 || memmem(head, n, mark, strlen(mark)) != NULL);
    }
    hs_source_close(in);
    return ours;
}

static enum hs_status may_write(const struct hs_options *o, const char *path, const char *mark,
                                struct hs_err *err)
{
    struct stat target, input;

    if (stat(path, &target) != 0)
        return HS_OK;
    if (!S_ISREG(target.st_mode))
        return hs_fail(err, S_ISDIR(target.st_mode) ? HS_EUSAGE : HS_EIO,
                       "cannot write to '%s': it is not a regular file", path);
    for (uint32_t i = 0; i < o->path_count && !o->force; i++) {
        if (stat(o->paths[i], &input) == 0 && input.st_dev == target.st_dev &&
            input.st_ino == target.st_ino)
            return hs_fail(err, HS_EUSAGE, "'%s' is one of the inputs; --force replaces it", path);
    }
    if (!o->force && !is_ours(path, mark))
        return hs_fail(err, HS_EUSAGE,
                       "'%s' is there and was not written by hangscope; --force "
                       "replaces it",
                       path);
    return HS_OK;
}

enum hs_status hs_text_file_open(struct hs_text_file *file, const struct hs_options *o,
                                 const char *mark, struct hs_err *err)
{
    enum hs_status status;
    size_t room = strlen(o->output) + 16;
    mode_t mask;

    *file = (struct hs_text_file){ .options = o, .path = o->output, .fd = STDOUT_FILENO };
    if (strcmp(o->output, "-") == 0)
        return HS_OK;
    status = may_write(o, o->output, mark, err);
    if (status != HS_OK)
        return status;
    file->aside = malloc(room);
    if (!file->aside)
        return hs_no_memory(err);
    (void)snprintf(file->aside, room, "%s.tmp-XXXXXX", o->output);
    hs_text_file_hold_signals(&file->before);
    file->fd = mkstemp(file->aside);
    if (file->fd < 0) {
        status = hs_fail(err, errno == ENOENT || errno == ENOTDIR ? HS_EUSAGE : HS_EIO,
                         "cannot write next to '%s': %s", o->output, strerror(errno));
        (void)sigprocmask(SIG_SETMASK, &file->before, NULL);
        free(file->aside);
        return status;
    }
    mask = umask(0);
    (void)umask(mask);
    (void)fchmod(file->fd, 0666 & ~mask);
    return HS_OK;
}

enum hs_status hs_text_file_put(void *file, struct hs_str piece, struct hs_err *err)
{
    const struct hs_text_file *f = file;

    if (!f->aside)
        return hs_print_result(piece, err);
    if (!hs_fd_write(f->fd, piece))
        return hs_fail(err, HS_EIO, "cannot write to '%s': %s", f->path, strerror(errno));
    return HS_OK;
}

enum hs_status hs_text_file_close(struct hs_text_file *file, enum hs_status status,
                                  struct hs_err *err)
{
    if (!file->aside)
        return status;
    file->stopped = came();
    if (status == HS_OK && !file->stopped &&
        (fsync(file->fd) != 0 || rename(file->aside, file->path) != 0))
        status =
            hs_fail(err, HS_EIO, "cannot put the text at '%s': %s", file->path, strerror(errno));
    if (status != HS_OK || file->stopped)
        (void)unlink(file->aside);
    (void)close(file->fd);
    free(file->aside);
    (void)sigprocmask(SIG_SETMASK, &file->before, NULL);
    if (status == HS_OK && !file->stopped && file->options->verbosity >= 0)
        (void)fprintf(stderr, "hangscope: wrote %s\n", file->path);
    return status;
}
