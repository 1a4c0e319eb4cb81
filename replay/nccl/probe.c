/* probe.c - a look at the machine, in a process of its own: CUDA must not be touched before
 * forking. */
#include "replay/nccl/rank.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_S = 120, OLDEST_NCCL = 21400, NO_DRIVER = 35, NO_DEVICE = 100 };

static void say(struct hs_machine *m, const char *why, const char *what)
{
    (void)snprintf(m->error, sizeof(m->error), "%s%s%s%s", why, what ? " (" : "", what ? what : "",
                   what ? ")" : "");
}

static void count_gpus(const struct hs_api *api, struct hs_machine *m)
{
    cudaError_t result = api->cudaGetDeviceCount(&m->gpus);
    const char *what = api->cudaGetErrorString(result);

    (void)api->cudaRuntimeGetVersion(&m->cuda_runtime);
    (void)api->cudaDriverGetVersion(&m->cuda_driver);
    if (result == cudaSuccess && m->gpus > 0)
        return;
    if ((int)result == NO_DRIVER && m->cuda_driver == 0)
        say(m, "there is no NVIDIA driver here", what);
    else if ((int)result == NO_DRIVER)
        say(m, "the NVIDIA driver here is too old for the CUDA runtime", what);
    else if (result == cudaSuccess || (int)result == NO_DEVICE)
        say(m, "there is no GPU here", what);
    else
        say(m, "the GPUs cannot be counted", what);
}

static int look(struct hs_world *w)
{
    struct hs_machine *m = &w->shared->machine;
    struct hs_err err = { .n = 0 };
    struct hs_api api;

    if (hs_api_open(&api, w->options->nccl_file, &err) != HS_OK) {
        say(m, err.causes[0].text, NULL);
    } else {
        m->has_split = api.ncclCommSplit != NULL;
        (void)api.ncclGetVersion(&m->nccl);
        count_gpus(&api, m);
        if (m->nccl < OLDEST_NCCL)
            say(m, "this NCCL is older than 2.14, which is needed", NULL);
    }
    m->has_looked = true;
    return 0;
}

enum hs_status hs_machine_look(struct hs_world *w, struct hs_err *err)
{
    const struct hs_machine *m = &w->shared->machine;
    int status = 0, tenths = 0;
    pid_t pid = fork();

    if (pid < 0)
        return hs_fail(err, HS_EIO, "cannot start a process");
    if (pid == 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
        _exit(look(w));
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (tenths++ == LOOK_S * 100) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            return hs_fail(err, HS_EIO, "the CUDA runtime did not answer for %d s", LOOK_S);
        }
        (void)usleep(10000);
    }
    if (!m->has_looked)
        return hs_fail(err, HS_EIO, "the process that looked for GPUs ended with %s %d",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return m->error[0] ? hs_fail(err, HS_EIO, "%s", m->error) : HS_OK;
}
