/* inputs.c - what there is to read under the paths that a user gave. */
#include "base/limits.h"
#include "parsers/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An argument. Names begin `name_at` bytes into the full paths of what was found under it. */
struct given {
    size_t folder_bytes; /* of its folder's full path, without a slash at the end */
    size_t name_at;
    bool widen;
};

/* Something to read, or (with a code) to skip. The name is a tail of the full path. */
struct found {
    struct hs_str path;
    uint64_t size_bytes;
    const char *code;
    struct hs_str detail;
    const struct given *given;
};

struct finder {
    struct hs_arena arena;
    struct given *given;
    struct given *at; /* the argument being walked */
    struct found *found;
    uint32_t count, cap;
    struct hs_buf path; /* of what the walk stands on */
    bool failed;        /* no memory */
    bool full;
};

static void add(struct finder *f, uint64_t size_bytes, const char *code, struct hs_str detail)
{
    struct hs_str path = hs_arena_copy(&f->arena, hs_buf_str(&f->path));
    struct hs_str kept = hs_arena_copy(&f->arena, detail);

    if (!path.p || !kept.p || f->path.failed || !HS_GROW(f->found, f->cap, f->count + 1u)) {
        f->failed = true;
        return;
    }
    f->found[f->count++] = (struct found){
        .path = path, .size_bytes = size_bytes, .code = code, .detail = kept, .given = f->at
    };
}

static void skip(struct finder *f, const char *code, const char *detail)
{
    add(f, 0, code, hs_str_of(detail));
}

/* False: no more can be taken, which has been said. */
static bool has_room(struct finder *f)
{
    if (f->count >= HS_SOURCES_MAX && !f->full) {
        f->full = true;
        skip(f, "limit", "too many files: this one and those after it are not read");
    }
    return !f->full && !f->failed;
}

/* A link to what lies in the folder is nothing new: that is found by itself. */
static void see_link(struct finder *f)
{
    size_t n = f->at->folder_bytes;
    char *target = realpath(f->path.p, NULL);
    char text[HS_EXCERPT_BYTES];
    ssize_t text_n;

    if (!target) {
        skip(f, "unreadable", strerror(errno));
        return;
    }
    if (strncmp(target, f->path.p, n) != 0 || (target[n] != '/' && target[n] != '\0')) {
        text_n = readlink(f->path.p, text, sizeof(text));
        add(f, 0, "link-leaves-folder",
            (struct hs_str){ .p = text, .n = text_n > 0 ? (size_t)text_n : 0 });
    }
    free(target);
}

static const char *kind_name(mode_t mode)
{
    return S_ISFIFO(mode)   ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a character device"
           : S_ISBLK(mode)  ? "a block device"
                            : "of unknown kind";
}

static void walk(struct finder *f, int fd, unsigned depth);

static void see_folder(struct finder *f, int parent, const char *name, unsigned depth)
{
    int fd;

    if (depth > HS_PATH_DEPTH_MAX) {
        skip(f, "limit", "folders are nested too deeply");
        return;
    }
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        skip(f, "unreadable", strerror(errno));
    else
        walk(f, fd, depth);
}

static void see(struct finder *f, int folder, const char *name, unsigned depth)
{
    struct stat st;
    bool known = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (known && S_ISDIR(st.st_mode))
        see_folder(f, folder, name, depth + 1);
    else if (known && S_ISLNK(st.st_mode))
        see_link(f);
    else if (known && !S_ISREG(st.st_mode))
        skip(f, "not-a-regular-file", kind_name(st.st_mode));
    else if (!known || faccessat(folder, name, R_OK, 0) != 0)
        skip(f, "unreadable", strerror(errno));
    else
        add(f, (uint64_t)st.st_size, NULL, HS_STR(""));
}

static void path_cut(struct finder *f, size_t n)
{
    f->path.n = n;
    f->path.p[n] = '\0';
}

/* Everything in a folder; takes `fd`. */
static void walk(struct finder *f, int fd, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    size_t path_n = f->path.n;
    struct dirent *entry;

    if (!dir) {
        skip(f, "unreadable", strerror(errno));
        (void)close(fd);
        return;
    }
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        hs_buf_putc(&f->path, '/');
        hs_buf_put(&f->path, hs_str_of(entry->d_name));
        if (f->path.failed || !has_room(f))
            break;
        see(f, dirfd(dir), entry->d_name, depth);
        path_cut(f, path_n);
    }
    path_cut(f, path_n);
    if (!entry && errno != 0)
        skip(f, "unreadable", strerror(errno));
    (void)closedir(dir);
}

static enum hs_status cannot_read(const char *path, const char *why, struct hs_err *err)
{
    return hs_fail(err, HS_EUSAGE, "cannot read %s: %s; give a file, a folder, or - for stdin",
                   *path ? path : "an empty path", why);
}

/* Stand on the folder of an argument: itself, or the one that a file is in. */
static enum hs_status stand_on(struct finder *f, const char *path, size_t folder_n,
                               struct hs_err *err)
{
    struct hs_str text = folder_n > 0 ? (struct hs_str){ .p = path, .n = folder_n } : HS_STR(".");
    struct hs_str folder = hs_arena_copy(&f->arena, text);
    char *real = folder.p ? realpath(folder.p, NULL) : NULL;

    if (!real)
        return folder.p ? cannot_read(path, strerror(errno), err) : hs_no_memory(err);
    f->path.n = 0;
    hs_buf_put(&f->path, strcmp(real, "/") == 0 ? HS_STR("") : hs_str_of(real));
    free(real);
    if (f->path.failed)
        return hs_no_memory(err);
    f->at->folder_bytes = f->path.n;
    f->at->name_at = f->path.n + 1;
    return HS_OK;
}

static enum hs_status take_folder(struct finder *f, const char *path, struct hs_err *err)
{
    enum hs_status status = stand_on(f, path, strlen(path), err);
    int fd;

    if (status != HS_OK)
        return status;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return cannot_read(path, strerror(errno), err);
    walk(f, fd, 0);
    return HS_OK;
}

static enum hs_status take_file(struct finder *f, const char *path, const struct stat *st,
                                struct hs_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    enum hs_status status;

    if (S_ISSOCK(st->st_mode) || S_ISBLK(st->st_mode))
        return cannot_read(path, kind_name(st->st_mode), err);
    if (faccessat(AT_FDCWD, path, R_OK, 0) != 0)
        return cannot_read(path, strerror(errno), err);
    status = stand_on(f, path, (size_t)(name - path), err);
    if (status != HS_OK)
        return status;
    hs_buf_putc(&f->path, '/');
    hs_buf_put(&f->path, hs_str_of(name));
    if (has_room(f))
        add(f, S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0, NULL, HS_STR(""));
    return HS_OK;
}

static enum hs_status take_argument(struct finder *f, const char *path, struct hs_err *err)
{
    enum hs_status status = HS_OK;
    struct stat st;

    if (strcmp(path, "-") == 0) {
        f->path.n = 0;
        hs_buf_putc(&f->path, '-');
        add(f, 0, NULL, HS_STR(""));
    } else if (stat(path, &st) != 0) {
        status = cannot_read(path, strerror(errno), err);
    } else if (S_ISDIR(st.st_mode)) {
        status = take_folder(f, path, err);
    } else {
        status = take_file(f, path, &st, err);
    }
    return status == HS_OK && (f->failed || f->path.failed) ? hs_no_memory(err) : status;
}

/* By full path; of several the one that is read, with the longest name, first. */
static int by_path(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int c = hs_str_cmp(x->path, y->path);

    if (c == 0)
        c = (x->code != NULL) - (y->code != NULL);
    if (c == 0)
        c = (x->given->name_at > y->given->name_at) - (x->given->name_at < y->given->name_at);
    return c;
}

static struct hs_str name_of(const struct found *found)
{
    size_t at = found->given->name_at;

    if (at > found->path.n)
        return HS_STR("."); /* the folder itself */
    return (struct hs_str){ .p = found->path.p + at, .n = found->path.n - at };
}

static int by_name(const void *a, const void *b)
{
    return hs_str_cmp(name_of(a), name_of(b));
}

static void sort(struct finder *f, int (*order)(const void *, const void *))
{
    if (f->count > 1)
        qsort(f->found, f->count, sizeof(*f->found), order);
}

/* What several arguments led to counts once. */
static void drop_repeated(struct finder *f)
{
    uint32_t kept = 0;

    sort(f, by_path);
    for (uint32_t i = 0; i < f->count; i++) {
        if (kept == 0 || !hs_str_eq(f->found[kept - 1].path, f->found[i].path))
            f->found[kept++] = f->found[i];
    }
    f->count = kept;
}

/* Let the argument's names begin one folder higher. False at the top. */
static bool widen(struct finder *f, struct given *given)
{
    const struct found *any = f->found;

    given->widen = false;
    if (given->name_at < 2)
        return false;
    while (any->given != given)
        any++;
    do {
        given->name_at--;
    } while (given->name_at > 1 && any->path.p[given->name_at - 1] != '/');
    return true;
}

/* Sort by name, and let arguments that show the same names keep more of their folders. */
static void tell_apart(struct finder *f, size_t given_count)
{
    bool again;

    do {
        again = false;
        sort(f, by_name);
        for (uint32_t i = 1; i < f->count; i++) {
            if (hs_str_eq(name_of(&f->found[i - 1]), name_of(&f->found[i]))) {
                f->given[f->found[i - 1].given - f->given].widen = true;
                f->given[f->found[i].given - f->given].widen = true;
            }
        }
        for (size_t i = 0; i < given_count; i++) {
            if (f->given[i].widen && widen(f, &f->given[i]))
                again = true;
        }
    } while (again);
}

/* Hand over what was found. */
static enum hs_status deliver(struct finder *f, struct hs_inputs *out, struct hs_err *err)
{
    struct hs_inputs inputs = { .count = 0 };

    for (uint32_t i = 0; i < f->count; i++) {
        const struct found *found = &f->found[i];
        bool grown = found->code
                         ? HS_GROW(inputs.skipped, inputs.skipped_cap, inputs.skipped_count + 1u)
                         : HS_GROW(inputs.items, inputs.cap, inputs.count + 1u);

        if (!grown) {
            hs_inputs_release(&inputs);
            return hs_no_memory(err);
        }
        if (found->code)
            inputs.skipped[inputs.skipped_count++] = (struct hs_skipped){ .name = name_of(found),
                                                                          .code = found->code,
                                                                          .detail = found->detail };
        else
            inputs.items[inputs.count++] = (struct hs_input){ .path = found->path,
                                                              .name = name_of(found),
                                                              .size_bytes = found->size_bytes };
    }
    inputs.arena = f->arena;
    hs_arena_init(&f->arena);
    *out = inputs;
    return HS_OK;
}

enum hs_status hs_inputs_find(const char *const *paths, size_t count, struct hs_inputs *out,
                              struct hs_err *err)
{
    struct finder f = { .count = 0 };
    enum hs_status status = HS_OK;

    hs_arena_init(&f.arena);
    hs_buf_init(&f.path);
    f.given = calloc(count + 1, sizeof(*f.given));
    if (!f.given)
        status = hs_no_memory(err);
    for (size_t i = 0; i < count && status == HS_OK; i++) {
        f.at = &f.given[i];
        status = take_argument(&f, paths[i], err);
    }
    if (status == HS_OK) {
        if (count > 1)
            drop_repeated(&f);
        tell_apart(&f, count);
        status = deliver(&f, out, err);
    }
    free(f.given);
    free(f.found);
    hs_buf_release(&f.path);
    hs_arena_release(&f.arena);
    return status;
}

void hs_inputs_release(struct hs_inputs *inputs)
{
    free(inputs->items);
    free(inputs->skipped);
    hs_arena_release(&inputs->arena);
    *inputs = (struct hs_inputs){ .count = 0 };
}
