/* gpu_run.c - hangscope-replay as a child: the plan goes in by a file without a name, JSON comes
 * out. */
#include "analyzer/commands/gpu_run.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "hangscope-replay";

static enum hs_status put_piece(void *fd, struct hs_str piece, struct hs_err *err)
{
    return hs_fd_write(*(const int *)fd, piece)
               ? HS_OK
               : hs_fail(err, HS_EIO, "cannot hand on the plan: %s", strerror(errno));
}

/* The plan as a file without a name, ready to be read. */
static enum hs_status put_plan(const struct hs_plan *plan, int *fd, struct hs_err *err)
{
    enum hs_status status;

    *fd = memfd_create("plan", MFD_CLOEXEC);
    if (*fd < 0)
        return hs_fail(err, HS_EIO, "cannot hand on the plan: %s", strerror(errno));
    status = hs_plan_write(plan, put_piece, fd, err);
    if (status == HS_OK && lseek(*fd, 0, SEEK_SET) != 0)
        status = hs_fail(err, HS_EIO, "cannot hand on the plan: %s", strerror(errno));
    if (status != HS_OK)
        (void)close(*fd);
    return status;
}

/* Beside ourselves, or wherever PATH has it. */
static void find_program(char *path, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", path, room - 1);
    char *slash;

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) + sizeof(program) + 1 < room) {
        memcpy(slash + 1, program, sizeof(program));
        if (access(path, X_OK) == 0)
            return;
    }
    (void)snprintf(path, room, "%s", program);
}

enum { ARGUMENTS_MAX = 16 };

static void collect_arguments(const struct hs_options *o, const char *path, const char **argv)
{
    size_t n = 0;

    argv[n++] = path;
    argv[n++] = "--json";
    if (o->deadline)
        argv[n++] = "--deadline", argv[n++] = o->deadline;
    if (o->scale)
        argv[n++] = "--scale", argv[n++] = o->scale;
    if (o->nccl_file)
        argv[n++] = "--nccl-lib", argv[n++] = o->nccl_file;
    if (o->check_data)
        argv[n++] = "--check-data";
    if (o->split)
        argv[n++] = "--split";
    if (!o->progress || o->verbosity < 0)
        argv[n++] = "--quiet";
    argv[n++] = "-";
    argv[n] = NULL;
}

static pid_t start(const struct hs_options *o, int plan, const int out[2])
{
    const char *argv[ARGUMENTS_MAX];
    char path[4096];
    pid_t parent = getpid(), pid;

    find_program(path, sizeof(path));
    collect_arguments(o, path, argv);
    pid = fork();
    if (pid != 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends its own processes then */
    if (getppid() != parent || dup2(plan, STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
        _exit(126);
    (void)execvp(path, (char *const *)argv);
    _exit(127);
}

static enum hs_status read_all(int fd, struct hs_buf *out, struct hs_err *err)
{
    ssize_t n = 1;

    while (n > 0 && out->n <= HS_PLAN_BYTES_MAX && hs_buf_reserve(out, 1u << 16)) {
        n = read(fd, out->p + out->n, 1u << 16);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            out->n += (size_t)n;
    }
    return n == 0 && !out->failed ? HS_OK
                                  : hs_fail(err, HS_EIO, "cannot read what %s says", program);
}

/* Its exit status; 0 and 1 say that it ran. */
static enum hs_status take_status(int status, int *said, struct hs_err *err)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    *said = 0;
    if (code == 0 || code == 1)
        return HS_OK;
    if (code == 127)
        return hs_fail(err, HS_EIO,
                       "%s is neither beside hangscope nor in PATH; it is built where nccl.h and "
                       "cuda_runtime.h are found",
                       program);
    if (code != HS_EXIT_USAGE && code != HS_EXIT_BROKEN)
        return hs_fail(err, HS_EIO, "%s ended with %s %d", program,
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : code);
    *said = code;
    return HS_OK;
}

enum hs_status hs_gpu_run(const struct hs_options *o, const struct hs_plan *plan,
                          struct hs_gpu_run *out, int *said, struct hs_err *err)
{
    int plan_fd, pipe_fds[2], status = 0;
    enum hs_status result;
    pid_t pid;

    *out = (struct hs_gpu_run){ .states = NULL };
    hs_buf_init(&out->json);
    hs_arena_init(&out->arena);
    result = put_plan(plan, &plan_fd, err);
    if (result != HS_OK)
        return result;
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        (void)close(plan_fd);
        return hs_fail(err, HS_EIO, "cannot start %s: %s", program, strerror(errno));
    }
    pid = start(o, plan_fd, pipe_fds);
    (void)close(plan_fd);
    (void)close(pipe_fds[1]);
    result = pid < 0 ? hs_fail(err, HS_EIO, "cannot start %s: %s", program, strerror(errno))
                     : read_all(pipe_fds[0], &out->json, err);
    (void)close(pipe_fds[0]);
    if (pid > 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (result == HS_OK)
        result = take_status(status, said, err);
    return result == HS_OK && *said == 0 ? hs_gpu_run_read(out, plan, err) : result;
}

void hs_gpu_run_release(struct hs_gpu_run *run)
{
    hs_buf_release(&run->json);
    hs_arena_release(&run->arena);
}
