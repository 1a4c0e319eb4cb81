/* run_jobs.c - children are started, listened to, ended and waited for by one loop. */
#include "fleet/run_jobs.h"

#include "base/fd.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100 };

/* The sanitizers reserve more memory than there is. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMITS_MEMORY = 0 };
#else
enum { LIMITS_MEMORY = 1 };
#endif

struct child {
    pid_t pid; /* 0: the place is free */
    int fd;
    uint32_t index;
    int64_t began_ms;
    bool timed_out, told_too_much;
    struct hs_buf message;
};

struct running {
    const struct hs_runner *runner;
    struct child *children; /* runner->at_once of them */
    unsigned active;
    uint32_t *again; /* jobs that failed among others */
    uint32_t again_count, again_cap;
    uint32_t done;
    bool alone;   /* the second round */
    bool stopped; /* tick() wants no more */
    enum hs_status status;
    struct hs_err *err;
};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- in the child ---- */

static void limit(int what, uint64_t value, uint64_t hard)
{
    struct rlimit now;

    if (getrlimit(what, &now) != 0)
        return;
    now.rlim_max = now.rlim_max > hard ? hard : now.rlim_max;
    now.rlim_cur = now.rlim_max > value ? value : now.rlim_max;
    (void)setrlimit(what, &now);
}

static void be_child(const struct running *r, uint32_t index, int fd, pid_t parent)
{
    const struct hs_runner *runner = r->runner;
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    uint64_t cpu_s = (uint64_t)runner->timeout_ms / 1000 + 2;
    uint64_t memory = r->alone ? runner->alone_bytes : runner->memory_bytes;
    struct hs_buf message;
    sigset_t none;
    int code;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would listen */
    if (getppid() != parent)
        _exit(HS_CHILD_FAILED);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_CPU, cpu_s, cpu_s + 2);
    if (LIMITS_MEMORY)
        limit(RLIMIT_AS, memory, memory);
    hs_buf_init(&message);
    code = runner->judge(runner->self, index, &message);
    if (message.failed)
        code = HS_CHILD_MEMORY;
    else if (!hs_fd_write(fd, hs_buf_str(&message)))
        _exit(HS_CHILD_FAILED);
    _exit(code);
}

/* ---- in the parent ---- */

static bool start(struct running *r, uint32_t index)
{
    struct child *c = r->children;
    pid_t parent = getpid();
    int ends[2];

    while (c->pid)
        c++;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        r->status = hs_fail(r->err, HS_EIO, "cannot make a pipe: %s", strerror(errno));
        return false;
    }
    *c = (struct child){ .pid = fork(), .fd = ends[0], .index = index, .began_ms = now_ms() };
    if (c->pid == 0) {
        (void)close(ends[0]);
        be_child(r, index, ends[1], parent);
    }
    (void)close(ends[1]);
    if (c->pid < 0) {
        (void)close(ends[0]);
        c->pid = 0;
        r->status = hs_fail(r->err, HS_EIO, "cannot start a process: %s", strerror(errno));
        return false;
    }
    hs_buf_init(&c->message);
    r->active++;
    return true;
}

/* Why it ended: our limits, a signal, or what it says itself. */
static void explain_end(const struct child *c, int how, struct hs_run_end *end)
{
    static const struct {
        int code;
        const char *state, *limit;
    } exits[] = {
        { HS_CHILD_JUDGED, "judged", NULL },
        { HS_CHILD_UNREADABLE, "unreadable", NULL },
        { HS_CHILD_MEMORY, "memory", "memory" },
    };

    end->state = "failed";
    end->exit = -1;
    if (WIFEXITED(how)) {
        end->exit = WEXITSTATUS(how);
        for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
            if (exits[i].code == end->exit) {
                end->state = exits[i].state;
                end->limit = exits[i].limit;
            }
        }
    } else if (WIFSIGNALED(how)) {
        end->signal = WTERMSIG(how);
        end->state = end->signal == SIGXCPU ? "timeout" : "crashed";
        end->limit = end->signal == SIGXCPU ? "cpu" : NULL;
    }
    if (c->timed_out) {
        end->state = "timeout";
        end->limit = "time";
    } else if (c->told_too_much) {
        end->state = "memory";
        end->limit = "message";
    }
}

static bool is_final(const struct running *r, const struct hs_run_end *end)
{
    return r->alone || strcmp(end->state, "judged") == 0 || strcmp(end->state, "unreadable") == 0;
}

/* The child has closed its pipe, which it does by ending. */
static void reap(struct running *r, struct child *c)
{
    struct hs_run_end end = { .tries = r->alone ? 2 : 1, .wall_ms = now_ms() - c->began_ms };
    struct rusage used;
    int how = 0;
    pid_t pid;

    do {
        pid = wait4(c->pid, &how, 0, &used);
    } while (pid < 0 && errno == EINTR);
    (void)close(c->fd);
    r->active--;
    explain_end(c, how, &end);
    end.cpu_ms = (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                 (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    end.peak_bytes = (int64_t)used.ru_maxrss * 1024;
    end.message = hs_buf_str(&c->message);
    /* A signal may have been for all of us. */
    r->stopped = r->stopped || (end.signal && !r->runner->tick(r->runner->self, r->done));
    if (r->stopped) {
        /* it is as if it had not been begun */
    } else if (end.exit == HS_CHILD_STOP) {
        r->status = hs_fail(r->err, HS_EIO, "%.*s", HS_STR_ARG(end.message));
    } else if (r->status == HS_OK && is_final(r, &end)) {
        r->done++;
        r->status = r->runner->ended(r->runner->self, c->index, &end, r->err);
    } else if (r->status == HS_OK) {
        if (HS_GROW(r->again, r->again_cap, r->again_count + 1u))
            r->again[r->again_count++] = c->index;
        else
            r->status = hs_no_memory(r->err);
    }
    hs_buf_release(&c->message);
    c->pid = 0;
}

static void listen_to(struct running *r, struct child *c)
{
    char room[65536];
    ssize_t n = read(c->fd, room, sizeof(room));

    if (n < 0 && errno == EINTR)
        return;
    if (n > 0 && c->message.n + (size_t)n <= HS_FLEET_MESSAGE_MAX) {
        hs_buf_put(&c->message, (struct hs_str){ .p = room, .n = (size_t)n });
        return;
    }
    if (n > 0) {
        c->told_too_much = true;
        (void)kill(c->pid, SIGKILL);
    }
    reap(r, c);
}

static void end_late_ones(struct running *r)
{
    int64_t now = now_ms();

    for (unsigned i = 0; i < r->runner->at_once; i++) {
        struct child *c = &r->children[i];

        if (c->pid && !c->timed_out && now - c->began_ms > r->runner->timeout_ms) {
            c->timed_out = true;
            (void)kill(c->pid, SIGKILL);
        }
    }
}

/* Wait until a child says something or a little time has passed. */
static void wait_a_little(struct running *r)
{
    struct pollfd fds[HS_FLEET_AT_ONCE_MAX];
    struct child *of[HS_FLEET_AT_ONCE_MAX];
    nfds_t count = 0;

    for (unsigned i = 0; i < r->runner->at_once; i++) {
        if (r->children[i].pid) {
            of[count] = &r->children[i];
            fds[count++] = (struct pollfd){ .fd = r->children[i].fd, .events = POLLIN };
        }
    }
    if (poll(fds, count, TICK_MS) > 0) {
        for (nfds_t i = 0; i < count; i++) {
            if (fds[i].revents)
                listen_to(r, of[i]);
        }
    }
    end_late_ones(r);
}

static void end_all(struct running *r)
{
    for (unsigned i = 0; i < r->runner->at_once; i++) {
        struct child *c = &r->children[i];

        if (!c->pid)
            continue;
        (void)kill(c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, 0);
        (void)close(c->fd);
        hs_buf_release(&c->message);
        c->pid = 0;
    }
    r->active = 0;
}

/* Jobs `list[0..count)`, or 0 to `count` - 1 without a list. False: stopped. */
static bool run_round(struct running *r, const uint32_t *list, uint32_t count)
{
    unsigned at_once = r->alone ? 1 : r->runner->at_once;
    uint32_t next = 0;

    while (r->status == HS_OK && !r->stopped && (next < count || r->active)) {
        while (next < count && r->active < at_once && start(r, list ? list[next] : next))
            next++;
        if (r->status == HS_OK)
            wait_a_little(r);
        if (r->status == HS_OK && !r->runner->tick(r->runner->self, r->done))
            r->stopped = true;
    }
    return r->status == HS_OK && !r->stopped;
}

enum hs_status hs_run_jobs(const struct hs_runner *runner, uint32_t count, struct hs_err *err)
{
    struct running r = { .runner = runner, .status = HS_OK, .err = err };

    r.children = calloc(runner->at_once, sizeof(*r.children));
    if (!r.children)
        return hs_no_memory(err);
    if (run_round(&r, NULL, count)) {
        r.alone = true;
        (void)run_round(&r, r.again, r.again_count);
    }
    end_all(&r);
    free(r.children);
    free(r.again);
    return r.status;
}
