/*
 * batch.c - every job of an archive: found, judged in processes, kept in one file.
 *
 * The file grows by transactions, so the batch can end at any moment and go on later. The signals
 * that end the program wait while jobs run: what was judged is written first.
 */
#include "analyzer/commands/batch.h"

#include "analyzer/commands/rows_print.h"
#include "fleet/run_jobs.h"
#include "parsers/families.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_S = 300, WARM_JOBS = 16 };

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* The running batch. */
struct progress {
    struct hs_batch *batch;
    uint32_t judged; /* jobs that are written */
    uint32_t uncommitted;
    int64_t began_ms, committed_ms, shown_ms;
    struct hs_row_print print; /* of --jsonl */
    struct hs_err *err;
    enum hs_status status;
    bool stopped; /* by a signal */
};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum hs_status to_stdout(void *self, struct hs_str text, struct hs_err *err)
{
    (void)self;
    return hs_print_result(text, err);
}

/* ---- writing what was judged ---- */

/* What is written is safe, and only then told to whoever reads the stream. */
static enum hs_status commit(struct progress *p)
{
    struct hs_batch *b = p->batch;
    enum hs_status status = hs_fleet_commit(b->fleet, p->err);

    if (status == HS_OK && b->options->jsonl && p->uncommitted) {
        hs_row_print_init(&p->print, HS_SQL_JSONL, to_stdout, NULL, p->err);
        status =
            hs_fleet_ask(b->fleet,
                         "SELECT * FROM jobs WHERE path IN (SELECT path FROM job JOIN temp.fresh "
                         "USING (id)) ORDER BY path",
                         hs_row_print, &p->print, p->err);
        if (status == HS_OK)
            status = hs_row_print_end(&p->print);
        hs_row_print_release(&p->print);
    }
    p->uncommitted = 0;
    p->committed_ms = now_ms();
    return status;
}

static void describe(const struct hs_batch *b, const struct hs_found_job *job,
                     struct hs_fleet_row *row)
{
    row->path = job->path;
    row->name = job->name;
    row->files = job->files;
    row->bytes = job->bytes;
    row->newest_ns = job->newest_ns ? job->newest_ns : HS_FLEET_NONE;
    row->stamp = (int64_t)job->stamp;
    row->tool = b->tool;
}

static int64_t clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Why there is no verdict, as far as the job itself did not say. */
static struct hs_str trouble_of(const struct hs_run_end *end, uint64_t timeout_s,
                                struct hs_arena *arena)
{
    if (strcmp(end->state, "timeout") == 0)
        return hs_arena_printf(arena, "it took longer than %llu s", (unsigned long long)timeout_s);
    if (strcmp(end->state, "crashed") == 0)
        return hs_arena_printf(arena, "its process ended by signal %d (%s)", end->signal,
                               strsignal(end->signal));
    if (end->message.n == 0)
        return hs_str_of(strcmp(end->state, "memory") == 0 ? "out of memory" : end->state);
    return end->message;
}

static int on_job(void *self, uint32_t at, struct hs_buf *message)
{
    const struct progress *p = self;

    return hs_batch_judge(p->batch, at, message);
}

static enum hs_status on_end(void *self, uint32_t at, const struct hs_run_end *given,
                             struct hs_err *err)
{
    struct progress *p = self;
    struct hs_batch *b = p->batch;
    const struct hs_found_job *job = &b->jobs.items[b->todo[at]];
    uint64_t timeout_s = b->options->timeout_s ? b->options->timeout_s : TIMEOUT_S;
    struct hs_run_end end = *given;
    struct hs_fleet_row row;
    struct hs_arena arena;
    enum hs_status status;

    hs_arena_init(&arena);
    hs_fleet_row_init(&row);
    if (strcmp(end.state, "judged") == 0 && !hs_fleet_take(end.message, &arena, &row)) {
        hs_fleet_row_init(&row);
        end.state = "failed";
        end.message = HS_STR("its process told nothing that can be understood");
    }
    describe(b, job, &row);
    row.state = hs_str_of(end.state);
    row.tries = end.tries;
    row.wall_ms = end.wall_ms;
    row.cpu_ms = end.cpu_ms;
    row.peak_bytes = end.peak_bytes;
    row.judged_ns = clock_ns();
    if (row.happened_ns == HS_FLEET_NONE && job->newest_ns) {
        row.happened_ns = job->newest_ns;
        row.happened_from = HS_STR("files");
    }
    if (strcmp(end.state, "judged") != 0) {
        row.exit = end.exit < 0 ? HS_FLEET_NONE : end.exit;
        row.signal = end.signal ? end.signal : HS_FLEET_NONE;
        row.limit = hs_str_of(end.limit);
        row.trouble = trouble_of(&end, timeout_s, &arena);
    }
    status = hs_fleet_write(b->fleet, &row, err);
    hs_arena_release(&arena);
    p->judged++;
    if (status == HS_OK && (++p->uncommitted >= HS_FLEET_COMMIT_JOBS ||
                            now_ms() - p->committed_ms >= HS_FLEET_COMMIT_MS))
        status = commit(p);
    return status;
}

/* ---- meanwhile ---- */

static void show(struct progress *p, uint32_t done, int64_t now)
{
    double seconds = (double)(now - p->began_ms) / 1000;
    double rate = seconds > 0 ? done / seconds : 0;
    uint32_t left = p->batch->todo_count - done;

    if (rate > 0)
        (void)fprintf(stderr, "\r%u of %u jobs, %.1f a second, %.0f s left\033[K", done,
                      p->batch->todo_count, rate, left / rate);
    else
        (void)fprintf(stderr, "\r%u of %u jobs\033[K", done, p->batch->todo_count);
    p->shown_ms = now;
}

static bool was_told_to_end(void)
{
    sigset_t pending;

    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
        if (sigismember(&pending, ending_signals[i]) == 1)
            return true;
    }
    return false;
}

static bool on_tick(void *self, uint32_t done)
{
    enum { SHOW_MS = 200 };
    struct progress *p = self;
    int64_t now = now_ms();

    if (p->batch->options->progress && now - p->shown_ms >= SHOW_MS)
        show(p, done, now);
    p->stopped = p->stopped || was_told_to_end();
    if (p->uncommitted && now - p->committed_ms >= HS_FLEET_COMMIT_MS)
        p->status = commit(p);
    return !p->stopped && p->status == HS_OK;
}

static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 2 : 1ull << 32;
}

static enum hs_status run(struct progress *p, struct hs_err *err)
{
    const struct hs_options *o = p->batch->options;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t memory = half_of_memory(), share;
    struct hs_runner runner = { .judge = on_job, .ended = on_end, .tick = on_tick };
    struct hs_batch *b = p->batch;
    enum hs_status status;

    runner.at_once = o->workers ? o->workers : cpus > 0 ? (unsigned)cpus : 1;
    runner.at_once = runner.at_once > HS_FLEET_AT_ONCE_MAX ? HS_FLEET_AT_ONCE_MAX : runner.at_once;
    runner.timeout_ms = (int64_t)(o->timeout_s ? o->timeout_s : TIMEOUT_S) * 1000;
    share = memory / runner.at_once;
    runner.memory_bytes = o->job_memory_bytes           ? o->job_memory_bytes
                          : share < HS_FLEET_MEMORY_MIN ? HS_FLEET_MEMORY_MIN
                                                        : share;
    runner.alone_bytes = o->job_memory_bytes ? o->job_memory_bytes : memory;
    runner.self = p;
    status = hs_run_jobs(&runner, b->todo_count, err);
    if (status == HS_OK)
        status = p->status;
    if (o->progress)
        (void)fprintf(stderr, "\r\033[K");
    /* What was judged before something went wrong is kept, if that can be. */
    if (status == HS_OK)
        return commit(p);
    if (p->status == HS_OK) {
        struct hs_err other = { .n = 0 };

        p->err = &other;
        (void)commit(p);
        p->err = err;
    }
    return status;
}

/* ---- what has to be done ---- */

/* `fleet.db` as it will be called from everywhere; .p NULL: its folder is not there. */
static struct hs_str absolute(const char *path, struct hs_arena *arena)
{
    const char *slash = strrchr(path, '/');
    struct hs_str folder =
        slash ? hs_arena_copy(arena, (struct hs_str){ .p = path, .n = (size_t)(slash - path) + 1 })
              : HS_STR(".");
    char *real = folder.p ? realpath(folder.p, NULL) : NULL;
    struct hs_str whole = { .p = NULL };

    if (real)
        whole = hs_arena_printf(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
                                slash ? slash + 1 : path);
    free(real);
    return whole;
}

static enum hs_status check(const struct hs_options *o, struct hs_err *err)
{
    if (o->path_count == 0 || !o->output)
        return hs_fail(err, HS_EUSAGE,
                       "batch: which jobs, and where to? Give a ROOT and -o FLEET.db");
    if (strcmp(o->output, "-") == 0)
        return hs_fail(err, HS_EUSAGE,
                       "batch: a fleet is a file that grows: -o FLEET.db; --jsonl prints jobs");
    return hs_fleet_may_write(o->output, o->force, err);
}

static enum hs_status find(struct hs_batch *b, struct hs_err *err)
{
    const struct hs_options *o = b->options;
    struct hs_find_options how = { .glob = o->job_glob, .shard = o->shard, .of = o->shard_of };
    enum hs_status status;

    how.except = absolute(o->output, &b->arena);
    if (!how.except.p)
        return hs_fail(err, HS_EUSAGE, "cannot write '%s': %s", o->output, strerror(errno));
    status = hs_find_jobs(o->paths, o->path_count, &how, &b->jobs, err);
    if (status == HS_OK && b->jobs.count == 0 && !o->shard_of)
        return hs_fail(
            err, HS_EUSAGE,
            "there is no job in '%s'%s; what a job is stands in docs/fleet.md: --job-glob",
            o->paths[0], o->path_count > 1 ? " and the others" : "");
    return status;
}

/* The program and the rules that judge: with others a job is judged again. */
static enum hs_status name_tool(struct hs_batch *b, struct hs_err *err)
{
    const struct hs_rules *rules = b->options->rules;
    uint64_t sum = 0;

    for (uint32_t i = 0; rules && i < rules->count; i++)
        sum = sum * 31 + hs_hash(rules->rows[i].sql);
    b->tool = rules ? hs_arena_printf(&b->arena, "%s+%016llx", HS_VERSION, (unsigned long long)sum)
                    : HS_STR(HS_VERSION);
    return b->tool.p ? HS_OK : hs_no_memory(err);
}

static enum hs_status choose(struct hs_batch *b, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    b->todo = HS_NEW(&b->arena, uint32_t, b->jobs.count + 1u);
    if (!b->todo)
        return hs_no_memory(err);
    for (uint32_t i = 0; status == HS_OK && i < b->jobs.count; i++) {
        struct hs_fleet_row row;
        bool known = false;

        hs_fleet_row_init(&row);
        describe(b, &b->jobs.items[i], &row);
        status = hs_fleet_knows(b->fleet, &row, &known, err);
        if (!known)
            b->todo[b->todo_count++] = i;
    }
    return status;
}

/* What all jobs share is read before there are processes, which then have it. */
static enum hs_status warm_up(struct hs_batch *b, struct hs_err *err)
{
    enum hs_status status = hs_families_new(&b->families, err);

    if (status == HS_OK && b->todo_count >= WARM_JOBS && !hs_families_warm(b->families))
        status = hs_no_memory(err);
    if (status == HS_OK && !b->options->rules)
        status = hs_rules_add_own(&b->own_rules, err);
    return status;
}

static enum hs_status prepare_keeping(struct hs_batch *b, struct hs_err *err)
{
    const struct hs_options *o = b->options;
    int n = snprintf(b->kept, sizeof(b->kept), "%s.kept", b->options->output);

    if (n < 0 || (size_t)n >= sizeof(b->kept))
        return hs_fail(err, HS_EUSAGE, "the path '%.60s…' is too long", b->options->output);
    if ((o->keep_db || o->keep_report) && mkdir(b->kept, 0777) != 0 && errno != EEXIST)
        return hs_fail(err, HS_EIO, "cannot make the folder '%s': %s", b->kept, strerror(errno));
    return o->keep_report ? hs_page_template(o, HS_PAGE_JOB, &b->page_room, &b->page, err) : HS_OK;
}

static enum hs_status prepare(struct hs_batch *b, struct hs_err *err)
{
    const struct hs_options *o = b->options;
    enum hs_status status = check(o, err);

    if (status == HS_OK)
        status = find(b, err);
    if (status == HS_OK)
        status = name_tool(b, err);
    if (status == HS_OK)
        status = prepare_keeping(b, err);
    if (status == HS_OK)
        status = hs_fleet_open(o->output, o->restart, o->force, &b->fleet, err);
    if (status == HS_OK)
        status = choose(b, err);
    if (status == HS_OK && b->todo_count)
        status = warm_up(b, err);
    return status;
}

static enum hs_status judge_all(struct hs_batch *b, bool *fails, struct hs_err *err)
{
    struct progress p = { .batch = b, .began_ms = now_ms(), .committed_ms = now_ms(), .err = err };
    sigset_t ending, before;
    enum hs_status status;

    (void)sigemptyset(&ending);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
        (void)sigaddset(&ending, ending_signals[i]);
    (void)sigprocmask(SIG_BLOCK, &ending, &before);
    status = run(&p, err);
    if (p.stopped) {
        hs_fleet_close(b->fleet);
        b->fleet = NULL;
        status = hs_fail(err, HS_EIO, "stopped by a signal");
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL); /* a signal that waited ends us here */
    if (status == HS_OK && !b->options->jsonl)
        status = hs_batch_summary(b, p.judged, (double)(now_ms() - p.began_ms) / 1000, err);
    if (status == HS_OK)
        status = hs_batch_fails(b, fails, err);
    return status;
}

int hs_run_batch(const struct hs_options *o)
{
    struct hs_batch b = { .options = o };
    struct hs_err err = { .n = 0 };
    enum hs_status status;
    bool fails = false;

    hs_arena_init(&b.arena);
    hs_rules_init(&b.own_rules);
    hs_buf_init(&b.page_room);
    status = prepare(&b, &err);
    if (status == HS_OK)
        status = judge_all(&b, &fails, &err);
    hs_fleet_close(b.fleet);
    if (status == HS_OK && o->verbosity >= 0)
        (void)fprintf(stderr, "hangscope: wrote %s\n", o->output);
    hs_rules_release(&b.own_rules);
    hs_families_free(b.families);
    hs_buf_release(&b.page_room);
    hs_found_jobs_release(&b.jobs);
    hs_arena_release(&b.arena);
    if (status != HS_OK)
        return hs_give_up(status, &err);
    return fails ? HS_EXIT_FAULT : HS_EXIT_OK;
}
