/* find_jobs.c - the folders and archives of an archive that are jobs. */
#include "fleet/find_jobs.h"

#include "base/buf.h"
#include "base/intern.h"
#include "base/limits.h"
#include "schema/store_fleet.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct finder {
    const struct hs_find_options *options;
    struct hs_found_jobs *jobs;
    struct hs_buf path; /* absolute, of what is looked at */
    size_t root_bytes;  /* names begin behind it */
    uint32_t seen;      /* jobs, those of other shards too */
    bool failed;        /* no memory, or too many */
};

/* An entry of a folder. */
struct entry {
    struct hs_str name;
    struct stat st;
};

struct folder {
    struct hs_arena arena;
    struct entry *items; /* by name */
    uint32_t count, cap;
    bool readable;
};

/* ---- folders ---- */

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return hs_str_cmp(x->name, y->name);
}

static bool add_entry(struct folder *folder, int fd, const char *name)
{
    struct entry e = { .name = { .p = NULL } };

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    if (fstatat(fd, name, &e.st, AT_SYMLINK_NOFOLLOW) != 0)
        return true; /* gone meanwhile */
    e.name = hs_arena_copy(&folder->arena, hs_str_of(name));
    if (!e.name.p || folder->count >= HS_SOURCES_MAX ||
        !HS_GROW(folder->items, folder->cap, folder->count + 1u))
        return false;
    folder->items[folder->count++] = e;
    return true;
}

/* What is in the folder that `f` stands on; close_folder() in any case. */
static void open_folder(struct finder *f, struct folder *out)
{
    DIR *dir = f->path.failed ? NULL : opendir(f->path.n ? f->path.p : "/");
    const struct dirent *entry;

    *out = (struct folder){ .readable = dir != NULL };
    hs_arena_init(&out->arena);
    while (dir && !f->failed && (entry = readdir(dir)) != NULL)
        f->failed = !add_entry(out, dirfd(dir), entry->d_name);
    if (dir)
        (void)closedir(dir);
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(*out->items), by_name);
}

static void close_folder(struct folder *folder)
{
    free(folder->items);
    hs_arena_release(&folder->arena);
}

/* Stand on something in the folder; back() returns to `n` bytes. */
static void enter(struct finder *f, struct hs_str name)
{
    hs_buf_putc(&f->path, '/');
    hs_buf_put(&f->path, name);
    f->failed |= f->path.failed;
}

static void back(struct finder *f, size_t n)
{
    f->path.n = n;
    if (f->path.p)
        f->path.p[n] = '\0';
}

/* ---- what a job is made of ---- */

static void stamp_text(struct hs_found_job *job, struct hs_str name, const struct stat *st)
{
    int64_t time_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    uint64_t words[5] = { hs_hash(name), (uint64_t)st->st_size, (uint64_t)time_ns,
                          (uint64_t)(st->st_mode & S_IFMT), 0 };

    if (S_ISDIR(st->st_mode))
        words[1] = words[2] = 0; /* told by what is in it */
    else
        words[4] = (uint64_t)(st->st_mode & 0777);
    /* A sum: in whatever order files are found. */
    job->stamp += hs_hash((struct hs_str){ .p = (const char *)words, .n = sizeof(words) });
    if (!S_ISREG(st->st_mode))
        return;
    job->files++;
    job->bytes += st->st_size;
    job->newest_ns = time_ns > job->newest_ns ? time_ns : job->newest_ns;
}

static void measure(struct finder *f, struct hs_found_job *job, unsigned depth)
{
    size_t n = f->path.n;
    struct folder folder;

    if (depth > HS_PATH_DEPTH_MAX)
        return;
    open_folder(f, &folder);
    job->stamp += folder.readable;
    for (uint32_t i = 0; i < folder.count && !f->failed; i++) {
        const struct entry *e = &folder.items[i];

        enter(f, e->name);
        stamp_text(
            job, (struct hs_str){ .p = f->path.p + f->root_bytes, .n = f->path.n - f->root_bytes },
            &e->st);
        if (S_ISDIR(e->st.st_mode))
            measure(f, job, depth + 1);
        back(f, n);
    }
    close_folder(&folder);
}

static bool is_excepted(const struct finder *f)
{
    struct hs_str except = f->options->except;

    return except.n && hs_str_starts(hs_buf_str(&f->path), except);
}

/* The part of a path that is shown: below ROOT, or the last name of ROOT itself. */
static struct hs_str name_of(const struct finder *f)
{
    struct hs_str path = hs_buf_str(&f->path);
    size_t at = f->root_bytes;

    if (path.n > at)
        return (struct hs_str){ .p = path.p + at + 1, .n = path.n - at - 1 };
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    return (struct hs_str){ .p = path.p + at, .n = path.n - at };
}

static void add_job(struct finder *f, const struct stat *st)
{
    struct hs_found_jobs *jobs = f->jobs;
    struct hs_str name = name_of(f);
    struct hs_found_job job = { .newest_ns = 0 };

    if (is_excepted(f))
        return;
    f->seen++;
    if (f->options->of && hs_hash(name) % f->options->of != f->options->shard)
        return;
    job.path = hs_arena_copy(&jobs->arena, hs_buf_str(&f->path));
    job.name = hs_arena_copy(&jobs->arena, name);
    if (S_ISDIR(st->st_mode))
        measure(f, &job, 0);
    else
        stamp_text(&job, HS_STR(""), st);
    f->failed |= !job.path.p || !job.name.p || jobs->count >= HS_FLEET_JOBS_MAX ||
                 !HS_GROW(jobs->items, jobs->cap, jobs->count + 1u);
    if (!f->failed)
        jobs->items[jobs->count++] = job;
}

/* ---- the rule ---- */

static bool is_hidden(const struct entry *e)
{
    return e->name.p[0] == '.';
}

static bool ends_as_archive(struct hs_str name)
{
    static const char *const ends[] = { ".tar",     ".tar.gz", ".tgz", ".tar.bz2", ".tbz2",
                                        ".tbz",     ".tar.xz", ".txz", ".tar.zst", ".tzst",
                                        ".tar.lz4", ".tar.Z",  ".zip", ".7z",      ".cpio" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (hs_str_ends(name, hs_str_of(ends[i])))
            return true;
    }
    return false;
}

/* A file that is a job by itself: an archive, or a database of one. The finder stands on it. */
static bool is_packed_job(const struct finder *f, const struct entry *e)
{
    return ends_as_archive(e->name) ||
           (hs_str_ends(e->name, HS_STR(".db")) && !f->path.failed && hs_store_is_ours(f->path.p));
}

/* A name without the number that may follow: rank3, rank_3, node-07, attempt_0. */
static struct hs_str without_number(struct hs_str name)
{
    size_t n = name.n;

    while (n > 0 && isdigit((unsigned char)name.p[n - 1]))
        n--;
    while (n > 0 && n < name.n && strchr("-_.", name.p[n - 1]))
        n--;
    return (struct hs_str){ .p = name.p, .n = n };
}

/* Folders of these names are parts of the job they are in. */
static bool is_part(const struct entry *e)
{
    static const char *const parts[] = {
        "log",       "logs",        "dump",   "dumps",           "trace",  "traces", "nccl",
        "nccl_logs", "nccl_traces", "rank",   "ranks",           "node",   "nodes",  "host",
        "attempt",   "stdout",      "stderr", "flight_recorder", "worker", "workers"
    };
    struct hs_str name = without_number(e->name);

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (hs_str_is(name, parts[i]))
            return S_ISDIR(e->st.st_mode);
    }
    return false;
}

struct content {
    bool files, parts;
};

static struct content look(struct finder *f, const struct folder *folder)
{
    struct content has = { .files = false };
    size_t n = f->path.n;

    for (uint32_t i = 0; i < folder->count && !f->failed; i++) {
        const struct entry *e = &folder->items[i];

        enter(f, e->name);
        if (is_part(e))
            has.parts = true;
        else if (!S_ISDIR(e->st.st_mode) && !S_ISLNK(e->st.st_mode) && !is_hidden(e) &&
                 !is_excepted(f) && !is_packed_job(f, e) && !hs_fleet_is(f->path.p))
            has.files = true;
        back(f, n);
    }
    return has;
}

static void search(struct finder *f, const struct stat *st, unsigned depth);

/* The jobs in a folder that is none itself. */
static void search_in(struct finder *f, const struct folder *folder, unsigned depth)
{
    size_t n = f->path.n;

    for (uint32_t i = 0; i < folder->count && !f->failed; i++) {
        const struct entry *e = &folder->items[i];

        enter(f, e->name);
        if (S_ISDIR(e->st.st_mode) && !is_hidden(e))
            search(f, &e->st, depth + 1);
        else if (S_ISREG(e->st.st_mode) && !is_hidden(e) && is_packed_job(f, e))
            add_job(f, &e->st);
        back(f, n);
    }
}

/* Depth 0 is a ROOT. */
static void search(struct finder *f, const struct stat *st, unsigned depth)
{
    uint32_t before = f->seen;
    struct folder folder;
    struct content has;

    if (depth > HS_PATH_DEPTH_MAX || is_excepted(f))
        return;
    open_folder(f, &folder);
    has = look(f, &folder);
    if (!folder.readable || has.parts || (has.files && depth > 0)) {
        add_job(f, st);
    } else {
        search_in(f, &folder, depth);
        if (has.files && f->seen == before)
            add_job(f, st);
    }
    close_folder(&folder);
}

static void search_glob(struct finder *f, unsigned depth)
{
    size_t n = f->path.n;
    struct folder folder;

    open_folder(f, &folder);
    for (uint32_t i = 0; i < folder.count && !f->failed; i++) {
        const struct entry *e = &folder.items[i];

        enter(f, e->name);
        if (!f->failed && fnmatch(f->options->glob, f->path.p + f->root_bytes + 1,
                                  FNM_PATHNAME | FNM_PERIOD) == 0) {
            if (!S_ISLNK(e->st.st_mode))
                add_job(f, &e->st);
        } else if (S_ISDIR(e->st.st_mode) && depth < HS_PATH_DEPTH_MAX) {
            search_glob(f, depth + 1);
        }
        back(f, n);
    }
    close_folder(&folder);
}

/* ---- roots ---- */

static enum hs_status search_root(struct finder *f, const char *root, struct hs_err *err)
{
    char *real = realpath(root, NULL);
    struct stat st;

    if (!real || stat(real, &st) != 0) {
        free(real);
        return hs_fail(err, HS_EUSAGE, "cannot read '%s': %s; give a folder of jobs", root,
                       strerror(errno));
    }
    f->path.n = 0;
    hs_buf_put(&f->path, strcmp(real, "/") == 0 ? HS_STR("") : hs_str_of(real));
    free(real);
    f->root_bytes = f->path.n;
    if (f->path.failed)
        return hs_no_memory(err);
    if (!S_ISDIR(st.st_mode))
        add_job(f, &st);
    else if (f->options->glob)
        search_glob(f, 0);
    else
        search(f, &st, 0);
    return f->failed ? hs_fail(err, HS_ENOMEM,
                               "too many jobs or files below '%s', or out of memory", root)
                     : HS_OK;
}

static int by_path(const void *a, const void *b)
{
    const struct hs_found_job *x = a, *y = b;

    return hs_str_cmp(x->path, y->path);
}

enum hs_status hs_find_jobs(const char *const *roots, uint32_t count,
                            const struct hs_find_options *options, struct hs_found_jobs *out,
                            struct hs_err *err)
{
    struct finder f = { .options = options, .jobs = out };
    enum hs_status status = HS_OK;
    uint32_t kept = 0;

    *out = (struct hs_found_jobs){ .count = 0 };
    hs_arena_init(&out->arena);
    hs_buf_init(&f.path);
    for (uint32_t i = 0; status == HS_OK && i < count; i++)
        status = search_root(&f, roots[i], err);
    hs_buf_release(&f.path);
    if (status != HS_OK || out->count < 2)
        return status;
    qsort(out->items, out->count, sizeof(*out->items), by_path);
    for (uint32_t i = 0; i < out->count; i++) { /* what several roots led to counts once */
        if (kept == 0 || !hs_str_eq(out->items[kept - 1].path, out->items[i].path))
            out->items[kept++] = out->items[i];
    }
    out->count = kept;
    return HS_OK;
}

void hs_found_jobs_release(struct hs_found_jobs *jobs)
{
    free(jobs->items);
    hs_arena_release(&jobs->arena);
    *jobs = (struct hs_found_jobs){ .count = 0 };
}
