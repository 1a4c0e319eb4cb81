/* world.c - the processes of a run: started, watched, ended, cleaned up after. */
#include "replay/nccl/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 10, GRACE_S = 10, DEVICE_S_MIN = 60, TELL_EVERY_MS = 200 };

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- memory ---- */

static size_t take(size_t *used, size_t bytes)
{
    size_t at = *used;

    *used += (bytes + 63) / 64 * 64;
    return at;
}

enum hs_status hs_world_make(struct hs_world *w, const struct hs_script *script,
                             const struct hs_run_options *options, struct hs_err *err)
{
    size_t rows = script->plan->rank_count, comms = script->comm_count, used = 0;
    uint64_t calls = script->dry->first[rows];
    size_t shared = take(&used, sizeof(*w->shared)), ranks = take(&used, rows * sizeof(*w->ranks));
    size_t states = take(&used, calls), took = take(&used, calls * sizeof(float));
    size_t async = take(&used, rows * comms);
    char *at;

    *w = (struct hs_world){ .options = options, .script = script };
    hs_intern_init(&w->left);
    at = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    w->children = calloc(rows + 1, sizeof(*w->children));
    w->letterboxes = calloc(rows + 1, sizeof(*w->letterboxes));
    if (at == MAP_FAILED || !w->children || !w->letterboxes) {
        if (at != MAP_FAILED)
            (void)munmap(at, used);
        return hs_no_memory(err);
    }
    w->shared_bytes = used;
    w->shared = (void *)(at + shared);
    w->ranks = (void *)(at + ranks);
    w->states = (void *)(at + states);
    w->took_us = (void *)(at + took);
    w->async = (void *)(at + async);
    memset(w->async, 0xff, rows * comms);
    return HS_OK;
}

void hs_world_release(struct hs_world *w)
{
    if (w->shared)
        (void)munmap(w->shared, w->shared_bytes);
    free(w->children);
    free(w->letterboxes);
    hs_intern_release(&w->left);
}

/* ---- what processes leave in /dev/shm ---- */

/* Remember NCCL's files that a process has mapped: whoever dies does not remove them. */
static void note_shared_files(struct hs_world *w, pid_t pid)
{
    char path[64], line[1024];
    FILE *maps;

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "r");
    while (maps && fgets(line, sizeof(line), maps)) {
        char *name = strstr(line, " /dev/shm/nccl-");

        if (name) {
            name[strcspn(name, "\n")] = '\0';
            if (!strstr(name, " (deleted)"))
                (void)hs_intern_put(&w->left, hs_str_of(name + 1));
        }
    }
    if (maps)
        (void)fclose(maps);
}

static void note_all_shared_files(struct hs_world *w)
{
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        if (w->children[row].pid)
            note_shared_files(w, w->children[row].pid);
    }
}

static void remove_shared_files(struct hs_world *w)
{
    for (uint32_t i = 0; i < w->left.count; i++)
        (void)unlink(hs_intern_get(&w->left, i).p);
}

/* ---- processes ---- */

static void watched_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, SIGCHLD);
}

static void close_letterboxes(struct hs_world *w, uint32_t count)
{
    for (uint32_t row = 0; row < count; row++) {
        (void)close(w->letterboxes[row].read);
        (void)close(w->letterboxes[row].write);
    }
}

static enum hs_status open_letterboxes(struct hs_world *w, struct hs_err *err)
{
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
            close_letterboxes(w, row);
            return hs_fail(err, HS_EIO, "cannot make a pipe for rank %u: %s",
                           w->script->plan->ranks[row].rank, strerror(errno));
        }
        w->letterboxes[row] = (struct hs_letterbox){ .read = ends[0], .write = ends[1] };
    }
    return HS_OK;
}

static enum hs_status fork_all(struct hs_world *w, struct hs_err *err)
{
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        pid_t parent = getpid(), pid = fork();

        if (pid < 0)
            return hs_fail(err, HS_EIO, "cannot start a process for rank %u: %s",
                           w->script->plan->ranks[row].rank, strerror(errno));
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(1);
            (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* what libraries print */
            _exit(hs_rank_live(w, row));
        }
        w->children[row].pid = pid;
    }
    return HS_OK;
}

static enum hs_status start_all(struct hs_world *w, struct hs_err *err)
{
    enum hs_status status = open_letterboxes(w, err);

    if (status != HS_OK)
        return status;
    status = fork_all(w, err);
    close_letterboxes(w, w->script->plan->rank_count);
    return status;
}

/* Who has ended; how many are left. */
static uint32_t reap(struct hs_world *w)
{
    uint32_t left = 0;

    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        struct hs_child *c = &w->children[row];

        if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid) {
            uint32_t phase = atomic_load(&w->ranks[row].phase);

            c->pid = 0;
            c->died = !c->killed && phase != HS_PHASE_GONE &&
                      !(phase == HS_PHASE_FAILED && WIFEXITED(c->status));
        }
        left += c->pid != 0;
    }
    return left;
}

/* A signal, a child's end, or some time: whatever comes first. True: go on. */
static bool sleep_a_little(struct hs_world *w)
{
    struct timespec time = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
    sigset_t set;
    int signal;

    watched_signals(&set);
    signal = sigtimedwait(&set, NULL, &time);
    if (signal > 0 && signal != SIGCHLD)
        w->signal = signal;
    (void)reap(w);
    return w->signal == 0;
}

static uint64_t progress_of(const struct hs_world *w)
{
    uint64_t sum = 0;

    for (uint32_t row = 0; row < w->script->plan->rank_count; row++)
        sum += atomic_load(&w->ranks[row].progress) + atomic_load(&w->ranks[row].phase);
    return sum;
}

static bool is_dead(const struct hs_world *w, uint32_t row)
{
    return w->children[row].pid == 0;
}

/* How many are in a phase at least; `failed`: how many cannot go on. */
static uint32_t count_from(const struct hs_world *w, enum hs_phase from, uint32_t *failed)
{
    uint32_t count = 0;

    *failed = 0;
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        uint32_t phase = atomic_load(&w->ranks[row].phase);
        bool is_out = phase == HS_PHASE_FAILED || is_dead(w, row);

        *failed += is_out;
        count += phase >= (uint32_t)from && !is_out;
    }
    return count;
}

static void tell_progress(const struct hs_world *w, double *told, double silent)
{
    uint64_t calls = w->script->dry->first[w->script->plan->rank_count], ended = 0;
    uint32_t through, failed;

    if (w->options->quiet || !isatty(STDERR_FILENO) || now_s() - *told < TELL_EVERY_MS / 1e3)
        return;
    *told = now_s();
    for (uint64_t i = 0; i < calls; i++)
        ended += w->states[i] == HS_DRY_FINISHED;
    through = count_from(w, HS_PHASE_ENDED, &failed);
    (void)fprintf(stderr, "\rhangscope-replay: %llu of %llu calls, %u of %u ranks",
                  (unsigned long long)ended, (unsigned long long)calls, through,
                  w->script->plan->rank_count);
    if (silent >= 1)
        (void)fprintf(stderr, "; no progress for %.0f s of %.0f", silent, w->options->deadline_s);
    (void)fprintf(stderr, "\x1b[K");
    (void)fflush(stderr);
}

static void end_telling(const struct hs_world *w)
{
    if (!w->options->quiet && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\x1b[K");
}

/* ---- stages ---- */

/* Until all are ready. */
static bool wait_ready(struct hs_world *w)
{
    uint64_t seen = progress_of(w);
    double since = now_s(), told = since;
    uint32_t failed = 0;

    while (count_from(w, HS_PHASE_READY, &failed) < w->script->plan->rank_count && failed == 0) {
        uint64_t now = progress_of(w);
        bool joining = count_from(w, HS_PHASE_JOINING, &failed) == w->script->plan->rank_count;
        double limit = w->options->deadline_s;

        if (!joining && limit < DEVICE_S_MIN)
            limit = DEVICE_S_MIN; /* a driver takes its time */
        if (now != seen) {
            seen = now;
            since = now_s();
        }
        if (!sleep_a_little(w) || now_s() - since > limit)
            return false;
        tell_progress(w, &told, now_s() - since);
    }
    return failed == 0;
}

/* Until all have ended, or nothing has happened for long enough. */
static void watch(struct hs_world *w)
{
    uint64_t seen = progress_of(w);
    double since = now_s(), told = since;
    uint32_t failed = 0;

    while (count_from(w, HS_PHASE_ENDED, &failed) + failed < w->script->plan->rank_count) {
        uint64_t now = progress_of(w);

        if (now != seen) {
            seen = now;
            since = now_s();
        }
        if (!sleep_a_little(w) || now_s() - since > w->options->deadline_s)
            return;
        tell_progress(w, &told, now_s() - since);
    }
}

static bool all_ended(const struct hs_world *w)
{
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        if (atomic_load(&w->ranks[row].phase) != HS_PHASE_ENDED || is_dead(w, row))
            return false;
    }
    return true;
}

/* Until all have left; whoever does not is killed. */
static void end_all(struct hs_world *w, enum hs_order order)
{
    double since = now_s();

    note_all_shared_files(w);
    atomic_store(&w->shared->order, order);
    while (reap(w) > 0 && now_s() - since < GRACE_S) {
        (void)sleep_a_little(w);
        if (order == HS_ORDER_FINISH && now_s() - since > GRACE_S / 2.0)
            atomic_store(&w->shared->order, HS_ORDER_ABORT);
    }
    note_all_shared_files(w);
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        struct hs_child *c = &w->children[row];

        if (c->pid == 0)
            continue;
        c->killed = true;
        (void)kill(c->pid, SIGKILL);
        (void)waitpid(c->pid, &c->status, 0);
        c->pid = 0;
    }
    remove_shared_files(w);
}

void hs_child_put_end(const struct hs_child *child, struct hs_buf *out)
{
    bool signal = WIFSIGNALED(child->status);

    hs_buf_printf(out, "its process ended with %s %d", signal ? "signal" : "status",
                  signal ? WTERMSIG(child->status) : WEXITSTATUS(child->status));
}

/* What went wrong on one rank; empty when nothing did. */
static void put_failure(const struct hs_world *w, uint32_t row, struct hs_buf *out)
{
    const struct hs_shared_rank *s = &w->ranks[row];

    if (s->error[0])
        hs_buf_printf(out, "%s%s", s->error,
                      s->no_memory ? "; --scale 0.1 makes all of it smaller" : "");
    else if (w->children[row].died)
        hs_child_put_end(&w->children[row], out);
}

static void put_waiting(const struct hs_world *w, struct hs_buf *out)
{
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++) {
        if (atomic_load(&w->ranks[row].phase) < HS_PHASE_READY)
            hs_buf_printf(out, out->n ? ", %u" : "; not ready: rank %u",
                          w->script->plan->ranks[row].rank);
    }
}

/* Why the run did not begin. */
static enum hs_status tell_why(const struct hs_world *w, struct hs_err *err)
{
    const struct hs_plan *plan = w->script->plan;
    enum hs_status status = HS_OK;
    struct hs_buf text;

    hs_buf_init(&text);
    for (uint32_t row = 0; row < plan->rank_count && status == HS_OK; row++) {
        put_failure(w, row, &text);
        if (text.n)
            status = hs_fail(err, HS_EIO, "rank %u on GPU %d: %s", plan->ranks[row].rank,
                             hs_world_gpu(w, row), text.p);
    }
    if (status == HS_OK) {
        put_waiting(w, &text);
        status = hs_fail(err, HS_EIO, "the communicators were not ready within %g s%s",
                         w->options->deadline_s, text.n ? text.p : "");
    }
    hs_buf_release(&text);
    return status;
}

enum hs_status hs_world_run(struct hs_world *w, struct hs_err *err)
{
    sigset_t set, old;
    enum hs_status status;
    double start;

    watched_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, &old);
    status = start_all(w, err);
    if (status == HS_OK && wait_ready(w)) {
        note_all_shared_files(w);
        start = now_s();
        atomic_store(&w->shared->order, HS_ORDER_RUN);
        watch(w);
        w->seconds = now_s() - start;
        end_telling(w);
        end_all(w, all_ended(w) ? HS_ORDER_FINISH : HS_ORDER_ABORT);
    } else {
        end_telling(w);
        end_all(w, HS_ORDER_ABORT);
        if (status == HS_OK && !w->signal)
            status = tell_why(w, err);
    }
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum hs_outcome hs_world_outcome(const struct hs_world *w)
{
    const struct hs_plan *plan = w->script->plan;
    uint64_t calls = w->script->dry->first[plan->rank_count];

    for (uint32_t row = 0; row < plan->rank_count; row++) {
        if (w->ranks[row].error[0] || w->children[row].died || w->ranks[row].wrong)
            return HS_OUTCOME_FAILED;
    }
    for (uint64_t i = 0; i < calls; i++) {
        if (w->states[i] != HS_DRY_FINISHED)
            return HS_OUTCOME_HUNG;
    }
    return HS_OUTCOME_ENDED;
}
