/*
 * test_source.c - finding inputs, and reading them: plain, compressed, archived, damaged. Over 600
 * lines, because every test makes its folders and archives with the same few helpers.
 */
#include "base/limits.h"
#include "parsers/source.h"

#include <setjmp.h>
#include <stdarg.h>
/* cmocka wants the two above before itself */
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a folder of our own ---- */

static void path_in(const char *root, const char *name, char *to, size_t cap)
{
    int n = snprintf(to, cap, "%s/%s", root, name);

    assert_true(n > 0 && (size_t)n < cap);
}

static void put_file(const char *root, const char *name, struct hs_str bytes)
{
    char path[4096];
    FILE *out;

    path_in(root, name, path, sizeof(path));
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, out), bytes.n);
    assert_int_equal(fclose(out), 0);
}

static int make_root(void **state)
{
    char *root = strdup("/tmp/hs_test_source.XXXXXX");

    *state = root;
    return root && mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int remove_root(void **state)
{
    int r = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return r;
}

/* ---- finding ---- */

/* "name name !skipped:code", in the order given. */
static void find_as_text(const char *const *paths, size_t count, struct hs_buf *text)
{
    struct hs_inputs inputs;
    struct hs_err err = { .n = 0 };

    text->n = 0;
    assert_int_equal(hs_inputs_find(paths, count, &inputs, &err), HS_OK);
    for (uint32_t i = 0; i < inputs.count; i++)
        hs_buf_printf(text, "%s%.*s", text->n ? " " : "", HS_STR_ARG(inputs.items[i].name));
    for (uint32_t i = 0; i < inputs.skipped_count; i++)
        hs_buf_printf(text, "%s!%.*s:%s", text->n ? " " : "", HS_STR_ARG(inputs.skipped[i].name),
                      inputs.skipped[i].code);
    hs_inputs_release(&inputs);
}

static void expect_found(const char *const *paths, size_t count, const char *want)
{
    struct hs_buf text;

    hs_buf_init(&text);
    find_as_text(paths, count, &text);
    assert_string_equal(text.p ? text.p : "", want);
    hs_buf_release(&text);
}

static void test_names_are_paths_below_the_argument(void **state)
{
    const char *root = *state;
    char file[4096];

    put_file(root, "node1/rank1.log", HS_STR("b"));
    put_file(root, "node0/rank0.log", HS_STR("a"));
    put_file(root, "node0/.hidden", HS_STR(""));
    put_file(root, "Z", HS_STR("z"));
    expect_found(&root, 1, "Z node0/.hidden node0/rank0.log node1/rank1.log");
    path_in(root, "node0/rank0.log", file, sizeof(file));
    expect_found((const char *[]){ file }, 1, "rank0.log");
}

static void test_same_names_keep_their_folders(void **state)
{
    const char *root = *state;
    char a[4096], b[4096], c[4096];

    put_file(root, "job1/node0/rank0.log", HS_STR("a"));
    put_file(root, "job2/node0/rank0.log", HS_STR("b"));
    put_file(root, "job2/other.log", HS_STR("c"));
    path_in(root, "job1/node0/rank0.log", a, sizeof(a));
    path_in(root, "job2/node0/rank0.log", b, sizeof(b));
    path_in(root, "job2/other.log", c, sizeof(c));
    expect_found((const char *[]){ b, c, a }, 3,
                 "job1/node0/rank0.log job2/node0/rank0.log other.log");
    path_in(root, "job1", a, sizeof(a));
    path_in(root, "job2/", b, sizeof(b));
    expect_found((const char *[]){ b, a }, 2,
                 "job1/node0/rank0.log job2/node0/rank0.log job2/other.log");
    expect_found((const char *[]){ a, b }, 2,
                 "job1/node0/rank0.log job2/node0/rank0.log job2/other.log");
}

static void test_what_is_given_twice_is_read_once(void **state)
{
    const char *root = *state;
    char file[4096], dotted[4096];

    put_file(root, "node0/rank0.log", HS_STR("a"));
    path_in(root, "node0/rank0.log", file, sizeof(file));
    path_in(root, "node0/../node0", dotted, sizeof(dotted));
    expect_found((const char *[]){ file, root, dotted, file }, 4, "node0/rank0.log");
    expect_found((const char *[]){ "-", "-" }, 2, "-");
}

static void test_links_stay_inside_the_folder(void **state)
{
    const char *root = *state;
    char path[4096], job[4096];

    put_file(root, "outside", HS_STR("secret"));
    put_file(root, "job/rank0.log", HS_STR("a"));
    put_file(root, "job2/x", HS_STR("sibling whose name begins like ours"));
    path_in(root, "job/in", path, sizeof(path));
    assert_int_equal(symlink("rank0.log", path), 0);
    path_in(root, "job/loop", path, sizeof(path));
    assert_int_equal(symlink(".", path), 0);
    path_in(root, "job/up", path, sizeof(path));
    assert_int_equal(symlink("../outside", path), 0);
    path_in(root, "job/sibling", path, sizeof(path));
    assert_int_equal(symlink("../job2/x", path), 0);
    path_in(root, "job/folder", path, sizeof(path));
    assert_int_equal(symlink("/etc", path), 0);
    path_in(root, "job/nothing", path, sizeof(path));
    assert_int_equal(symlink("no-such-file", path), 0);
    path_in(root, "job", job, sizeof(job));
    expect_found((const char *[]){ job }, 1,
                 "rank0.log !folder:link-leaves-folder !nothing:unreadable "
                 "!sibling:link-leaves-folder !up:link-leaves-folder");
    path_in(root, "job/up", path, sizeof(path));
    expect_found((const char *[]){ path }, 1, "up");
}

static void test_fifos_are_read_only_when_asked_for(void **state)
{
    const char *root = *state;
    char path[4096];

    path_in(root, "pipe", path, sizeof(path));
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_found(&root, 1, "!pipe:not-a-regular-file");
    expect_found((const char *[]){ path }, 1, "pipe");
}

static void test_unreadable_files_are_skipped(void **state)
{
    const char *root = *state;
    char path[4096];
    const char *file = path;
    struct hs_inputs inputs;
    struct hs_err err = { .n = 0 };

    if (geteuid() == 0)
        skip(); /* root reads everything */
    put_file(root, "locked", HS_STR("a"));
    path_in(root, "locked", path, sizeof(path));
    assert_int_equal(chmod(path, 0), 0);
    expect_found(&root, 1, "!locked:unreadable");
    assert_int_equal(hs_inputs_find(&file, 1, &inputs, &err), HS_EUSAGE);
}

static void test_missing_argument_says_which(void **state)
{
    const char *paths[] = { *state, "/no/such/folder" };
    struct hs_inputs inputs;
    struct hs_err err = { .n = 0 };

    assert_int_equal(hs_inputs_find(paths, 2, &inputs, &err), HS_EUSAGE);
    assert_string_equal(err.causes[0].text,
                        "cannot read /no/such/folder: No such file or directory; give a file, a "
                        "folder, or - for stdin");
}

static void test_folders_have_a_depth_limit(void **state)
{
    const char *root = *state;
    struct hs_buf deep, want;

    hs_buf_init(&deep);
    hs_buf_init(&want);
    for (unsigned i = 0; i <= HS_PATH_DEPTH_MAX; i++)
        hs_buf_printf(&deep, "d/");
    hs_buf_printf(&want, "top !%.*s:limit", (int)deep.n - 1, deep.p);
    hs_buf_printf(&deep, "file");
    put_file(root, deep.p, HS_STR("a"));
    put_file(root, "top", HS_STR("a"));
    expect_found(&root, 1, want.p);
    hs_buf_release(&deep);
    hs_buf_release(&want);
}

/* ---- reading ---- */

struct texts {
    struct hs_buf packed, want, got;
};

static void texts_init(struct texts *t)
{
    hs_buf_init(&t->packed);
    hs_buf_init(&t->want);
    hs_buf_init(&t->got);
}

static void texts_release(struct texts *t)
{
    hs_buf_release(&t->packed);
    hs_buf_release(&t->want);
    hs_buf_release(&t->got);
}

static void put_lines(struct hs_buf *to, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hs_buf_printf(to, "line %u of a log that is %u\n", i, i * 2654435761u % 1000u);
}

/* Read to the end; `step` 0 takes members whole. The trouble last told stays in `code`. */
static void read_members(struct hs_source *src, struct hs_buf *to, size_t step, char *code)
{
    struct hs_source_trouble trouble;
    struct hs_str name;
    char piece[4096];

    while (hs_source_next(src, &name, &trouble)) {
        hs_buf_printf(to, "[%.*s]", HS_STR_ARG(name));
        if (step == 0) {
            hs_source_read_all(src, to, &trouble);
        } else {
            size_t n;

            while ((n = hs_source_read(src, piece, step, &trouble)) > 0)
                hs_buf_put(to, (struct hs_str){ .p = piece, .n = n });
        }
        if (trouble.code) {
            assert_true(trouble.detail.n > 0);
            hs_buf_printf(to, "{%s}", trouble.code);
            (void)snprintf(code, 32, "%s", trouble.code);
        }
    }
    if (trouble.code) {
        hs_buf_printf(to, "{end:%s}", trouble.code);
        (void)snprintf(code, 32, "%s", trouble.code);
    }
}

static void read_bytes(struct hs_str bytes, struct hs_buf *to, size_t step, char *code)
{
    struct hs_source *src = NULL;
    struct hs_err err = { .n = 0 };

    to->n = 0;
    code[0] = '\0';
    assert_int_equal(hs_source_open_bytes(bytes, HS_STR("in"), &src, &err), HS_OK);
    read_members(src, to, step, code);
    hs_source_close(src);
}

/* However it is cut into pieces, the same comes out. */
static void expect_read(struct hs_str bytes, struct hs_str want)
{
    static const size_t steps[] = { 0, 4096, 7, 1 };
    struct hs_buf got;
    char code[32];

    hs_buf_init(&got);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        read_bytes(bytes, &got, steps[i], code);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p ? got.p : "", want.p, want.n);
    }
    hs_buf_release(&got);
}

struct member {
    const char *path;
    struct hs_str bytes;
    char kind; /* of a tar header; '0' is a file */
};

/* Tar headers by hand: what libarchive's writer would not write must be read too. */
static void tar_put(struct hs_buf *to, struct member m)
{
    static const char zeros[512];
    static const char magic[8] = { 'u', 's', 't', 'a', 'r', '\0', '0', '0' };
    char header[512] = { 0 };
    unsigned sum = 0;

    (void)snprintf(header, 100, "%s", m.path);
    (void)snprintf(header + 100, 8, "%07o", 0644u);
    (void)snprintf(header + 124, 12, "%011zo", m.bytes.n);
    (void)snprintf(header + 136, 12, "%011o", 0u);
    memset(header + 148, ' ', 8);
    header[156] = m.kind;
    memcpy(header + 257, magic, sizeof(magic));
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    (void)snprintf(header + 148, 8, "%06o", sum);
    hs_buf_put(to, (struct hs_str){ .p = header, .n = sizeof(header) });
    hs_buf_put(to, m.bytes);
    hs_buf_put(to, (struct hs_str){ .p = zeros, .n = (512 - m.bytes.n % 512) % 512 });
}

static void tar_end(struct hs_buf *to)
{
    static const char zeros[1024];

    hs_buf_put(to, (struct hs_str){ .p = zeros, .n = sizeof(zeros) });
}

static la_ssize_t on_written(struct archive *a, void *self, const void *p, size_t n)
{
    (void)a;
    hs_buf_put(self, (struct hs_str){ .p = p, .n = n });
    return (la_ssize_t)n;
}

/* Append `bytes`, compressed, or as the one member "m" of a zip. */
static void pack(struct hs_buf *to, const char *how, struct hs_str bytes)
{
    struct archive *a = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    bool zip = strcmp(how, "zip") == 0;

    assert_int_equal(zip ? archive_write_set_format_zip(a) : archive_write_set_format_raw(a), 0);
    if (!zip)
        assert_int_equal(archive_write_add_filter_by_name(a, how), ARCHIVE_OK);
    assert_int_equal(archive_write_set_bytes_in_last_block(a, 1), ARCHIVE_OK);
    assert_int_equal(archive_write_open(a, to, NULL, on_written, NULL), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "m");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, (la_int64_t)bytes.n);
    assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, bytes.p, bytes.n), bytes.n);
    archive_entry_free(entry);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

static const char *const all_filters[] = { "gzip", "zstd", "xz", "bzip2", "lz4" };

static void test_plain_bytes_stay_as_they_are(void **state)
{
    static const struct hs_str plain[] = {
        HS_STR(""),
        HS_STR("x"),
        HS_STR("BZh9 is how a line may begin\n"),
        HS_STR("PK is no zip"),
        HS_STR("\x80\x02}q\x00(X\x07\x00\x00\x00versionq"),
        HS_STR("\x1f\x8b\x08"),
        HS_STR("070701 looks like cpio\n!<arch>\n#mtree\n"),
        HS_STR("\x1f\x9d is compress, which we do not read"),
    };
    struct texts t;

    (void)state;
    texts_init(&t);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        t.want.n = 0;
        hs_buf_printf(&t.want, "[in]");
        hs_buf_put(&t.want, plain[i]);
        expect_read(plain[i], hs_buf_str(&t.want));
    }
    t.packed.n = 0;
    tar_put(&t.packed, (struct member){ .path = "a", .bytes = HS_STR("x"), .kind = '0' });
    t.packed.p[0] = 'b'; /* its sum is wrong now: no tar, for all its magic */
    t.want.n = 0;
    hs_buf_printf(&t.want, "[in]");
    hs_buf_put(&t.want, hs_buf_str(&t.packed));
    expect_read(hs_buf_str(&t.packed), hs_buf_str(&t.want));
    texts_release(&t);
}

static void test_compressed_file_is_its_own_member(void **state)
{
    struct texts t;

    (void)state;
    for (size_t i = 0; i < sizeof(all_filters) / sizeof(all_filters[0]); i++) {
        texts_init(&t);
        hs_buf_printf(&t.want, "[in]");
        put_lines(&t.want, 5000);
        pack(&t.packed, all_filters[i], (struct hs_str){ .p = t.want.p + 4, .n = t.want.n - 4 });
        expect_read(hs_buf_str(&t.packed), hs_buf_str(&t.want));
        pack(&t.packed, all_filters[i], HS_STR("appended later\n"));
        hs_buf_printf(&t.want, "appended later\n");
        expect_read(hs_buf_str(&t.packed), hs_buf_str(&t.want));
        t.packed.n = 0;
        if (strcmp(all_filters[i], "lz4") == 0) {
            /* libarchive's writer crashes on this one */
            hs_buf_put(&t.packed, HS_STR("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02"));
        } else {
            pack(&t.packed, all_filters[i], HS_STR(""));
        }
        expect_read(hs_buf_str(&t.packed), HS_STR("[in]"));
        texts_release(&t);
    }
}

/* What must come out of `whole` cut at `cut`: a beginning of `want`, and a complaint. */
static size_t read_cut(struct hs_str whole, size_t cut, struct hs_str want)
{
    struct hs_buf got;
    char code[32];
    size_t n;

    hs_buf_init(&got);
    read_bytes((struct hs_str){ .p = whole.p, .n = cut }, &got, 0, code);
    assert_string_equal(code, "cut-short");
    assert_true(got.n >= 4 + strlen("{cut-short}"));
    n = got.n - 4 - strlen("{cut-short}");
    assert_true(n <= want.n);
    assert_memory_equal(got.p + 4, want.p, n);
    hs_buf_release(&got);
    return n;
}

static void test_cut_gzip_gives_all_up_to_the_cut(void **state)
{
    struct texts t;
    size_t last = 0;

    (void)state;
    texts_init(&t);
    put_lines(&t.want, 40);
    pack(&t.packed, "gzip", hs_buf_str(&t.want));
    for (size_t cut = 4; cut < t.packed.n; cut++) {
        size_t n = read_cut(hs_buf_str(&t.packed), cut, hs_buf_str(&t.want));

        assert_true(n >= last && n + 600 >= last);
        last = n;
    }
    assert_int_equal(last, t.want.n); /* only the trailer was cut */
    texts_release(&t);
}

static void test_cut_data_give_what_they_hold(void **state)
{
    static const struct {
        const char *filter;
        size_t loss; /* a block of the format, at most */
    } cases[] = { { "gzip", 1000 }, { "xz", 1000 }, { "zstd", 131072 }, { "bzip2", 900000 } };
    struct texts t;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        texts_init(&t);
        put_lines(&t.want, 100000);
        pack(&t.packed, cases[i].filter, hs_buf_str(&t.want));
        for (unsigned eighth = 1; eighth < 8; eighth++) {
            size_t cut = t.packed.n * eighth / 8;
            size_t n = read_cut(hs_buf_str(&t.packed), cut, hs_buf_str(&t.want));

            assert_true(n + cases[i].loss >= t.want.n / 8 * eighth / 2);
        }
        texts_release(&t);
    }
}

static void test_cut_gzip_of_several_streams(void **state)
{
    struct texts t;
    size_t n;

    (void)state;
    texts_init(&t);
    put_lines(&t.want, 3000);
    pack(&t.packed, "gzip", hs_buf_str(&t.want));
    pack(&t.packed, "gzip", HS_STR("second\n"));
    pack(&t.packed, "gzip", HS_STR("third\n"));
    hs_buf_printf(&t.want, "second\nthird\n");
    n = read_cut(hs_buf_str(&t.packed), t.packed.n - 8, hs_buf_str(&t.want));
    assert_int_equal(n, t.want.n);
    texts_release(&t);
}

/* Whatever is overwritten, wherever: if inflate does not see it, the checksum does. */
static void test_damage_is_told_apart_from_a_cut(void **state)
{
    struct texts t;
    char code[32];
    size_t n;

    (void)state;
    texts_init(&t);
    put_lines(&t.want, 20000);
    pack(&t.packed, "gzip", hs_buf_str(&t.want));
    pack(&t.packed, "gzip", HS_STR("a second stream"));
    n = t.packed.n;
    for (size_t at = 20; at < n - 200; at += n / 13) {
        hs_buf_put(&t.packed, (struct hs_str){ .p = t.packed.p + at, .n = 64 });
        memset(t.packed.p + at, at % 2 ? 0xff : 'x', 64);
        read_bytes((struct hs_str){ .p = t.packed.p, .n = n }, &t.got, 0, code);
        assert_string_equal(code, "malformed");
        assert_true(t.got.n + 50000 > t.want.n * at / n);
        memcpy(t.packed.p + at, t.packed.p + n, 64);
        t.packed.n = n;
    }
    texts_release(&t);
}

static void test_archive_members_have_names_below_it(void **state)
{
    static const struct member members[] = {
        { .path = "./logs/rank0.log", .bytes = HS_STR("zero"), .kind = '0' },
        { .path = "logs/", .bytes = HS_STR(""), .kind = '5' },
        { .path = "logs/link", .bytes = HS_STR(""), .kind = '2' },
        { .path = "/etc/passwd", .bytes = HS_STR("absolute"), .kind = '0' },
        { .path = "../../up", .bytes = HS_STR("up"), .kind = '0' },
        { .path = "fifo", .bytes = HS_STR(""), .kind = '6' },
        { .path = "empty", .bytes = HS_STR(""), .kind = '0' },
        { .path = "\xe7\xac\xac\xe4\xb8\x80.log", .bytes = HS_STR("first"), .kind = '0' },
    };
    struct hs_str want = HS_STR("[in/logs/rank0.log]zero[in/etc/passwd]absolute[in/../../up]up"
                                "[in/empty][in/\xe7\xac\xac\xe4\xb8\x80.log]first");
    struct texts t;

    (void)state;
    texts_init(&t);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        tar_put(&t.packed, members[i]);
    tar_end(&t.packed);
    expect_read(hs_buf_str(&t.packed), want);
    for (size_t i = 0; i < sizeof(all_filters) / sizeof(all_filters[0]); i++) {
        t.got.n = 0;
        pack(&t.got, all_filters[i], hs_buf_str(&t.packed));
        expect_read(hs_buf_str(&t.got), want);
    }
    texts_release(&t);
}

static void test_zip(void **state)
{
    struct texts t;
    char code[32];

    (void)state;
    texts_init(&t);
    hs_buf_printf(&t.want, "[in/m]");
    put_lines(&t.want, 3000);
    pack(&t.packed, "zip", (struct hs_str){ .p = t.want.p + 6, .n = t.want.n - 6 });
    expect_read(hs_buf_str(&t.packed), hs_buf_str(&t.want));
    read_bytes((struct hs_str){ .p = t.packed.p, .n = t.packed.n / 2 }, &t.got, 0, code);
    assert_string_equal(code, "cut-short");
    assert_true(t.got.n > t.want.n * 2 / 5);
    t.packed.p[6] |= 1; /* "encrypted", in the local header */
    read_bytes(hs_buf_str(&t.packed), &t.got, 0, code);
    assert_string_equal(code, "malformed");
    texts_release(&t);
    expect_read(HS_STR("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), HS_STR(""));
}

static void test_nested_once(void **state)
{
    struct texts t, inner;
    struct hs_str deepest;

    (void)state;
    texts_init(&t);
    texts_init(&inner);
    pack(&inner.want, "gzip", HS_STR("deepest"));
    deepest = hs_buf_str(&inner.want);
    tar_put(&inner.packed, (struct member){ .path = "a.gz", .bytes = deepest, .kind = '0' });
    tar_put(&inner.packed, (struct member){ .path = "b", .bytes = HS_STR("B"), .kind = '0' });
    tar_end(&inner.packed);
    pack(&inner.got, "xz", hs_buf_str(&inner.packed));
    tar_put(&t.packed, (struct member){ .path = "x", .bytes = HS_STR("X"), .kind = '0' });
    tar_put(&t.packed,
            (struct member){ .path = "n.txz", .bytes = hs_buf_str(&inner.got), .kind = '0' });
    tar_put(&t.packed, (struct member){ .path = "c.gz", .bytes = deepest, .kind = '0' });
    tar_end(&t.packed);
    hs_buf_printf(&t.want, "[in/x]X[in/n.txz/a.gz]");
    hs_buf_put(&t.want, deepest);
    hs_buf_printf(&t.want, "[in/n.txz/b]B[in/c.gz]deepest");
    expect_read(hs_buf_str(&t.packed), hs_buf_str(&t.want));
    t.got.n = 0;
    pack(&t.got, "gzip", deepest);
    expect_read(hs_buf_str(&t.got), HS_STR("[in]deepest"));
    texts_release(&inner);
    texts_release(&t);
}

static void test_cut_archives_keep_their_beginning(void **state)
{
    struct texts t;
    char code[32];

    (void)state;
    texts_init(&t);
    put_lines(&t.want, 100);
    tar_put(&t.packed, (struct member){ .path = "a", .bytes = hs_buf_str(&t.want), .kind = '0' });
    tar_put(&t.packed, (struct member){ .path = "b", .bytes = hs_buf_str(&t.want), .kind = '0' });
    expect_read(((struct hs_str){ .p = t.packed.p, .n = 512 + 100 }),
                HS_STR("[in/a]line 0 of a log that is 0\nline 1 of a log that is 761\nline 2 of a "
                       "log that is 226\nline 3 of a log th{cut-short}"));
    /* inside the second header */
    read_bytes((struct hs_str){ .p = t.packed.p, .n = t.packed.n / 2 + 100 }, &t.got, 0, code);
    assert_string_equal(code, "cut-short");
    assert_int_equal(t.got.n, t.want.n + strlen("[in/a]{end:cut-short}"));
    /* a compressed one, which has both in one block */
    t.want.n = 0;
    pack(&t.want, "gzip", hs_buf_str(&t.packed));
    read_bytes((struct hs_str){ .p = t.want.p, .n = t.want.n - 10 }, &t.got, 0, code);
    assert_string_equal(code, "cut-short");
    assert_true(t.got.n > t.packed.n / 2);
    texts_release(&t);
}

/* A nested cut is told once, by the member that it hits. */
static void test_cut_inside_a_nested_file(void **state)
{
    struct texts t;

    (void)state;
    texts_init(&t);
    pack(&t.got, "gzip", HS_STR("the whole text, which is short"));
    t.got.n -= 8;
    tar_put(&t.packed, (struct member){ .path = "a.gz", .bytes = hs_buf_str(&t.got), .kind = '0' });
    tar_put(&t.packed, (struct member){ .path = "b", .bytes = HS_STR("B"), .kind = '0' });
    tar_end(&t.packed);
    expect_read(hs_buf_str(&t.packed),
                HS_STR("[in/a.gz]the whole text, which is short{cut-short}[in/b]B"));
    texts_release(&t);
}

static void test_bombs_are_stopped(void **state)
{
    enum { BIG = 200 << 20 };
    char *zeros = calloc(1, BIG);
    struct texts t;
    char code[32];

    (void)state;
    assert_non_null(zeros);
    texts_init(&t);
    pack(&t.packed, "zstd", (struct hs_str){ .p = zeros, .n = BIG });
    read_bytes(hs_buf_str(&t.packed), &t.got, 0, code);
    assert_string_equal(code, "limit");
    assert_in_range(t.got.n, 64 << 20, 65 << 20);
    t.packed.n = 0;
    pack(&t.packed, "gzip", (struct hs_str){ .p = zeros, .n = BIG });
    t.got.n = 0;
    pack(&t.got, "gzip", hs_buf_str(&t.packed)); /* the same, with a second shell */
    read_bytes(hs_buf_str(&t.got), &t.packed, 0, code);
    assert_string_equal(code, "limit");
    texts_release(&t);
    free(zeros);
}

static void open_file(const char *root, const char *name, struct hs_source **src)
{
    char path[4096];
    struct hs_input input = { .name = HS_STR("in") };
    struct hs_err err = { .n = 0 };

    path_in(root, name, path, sizeof(path));
    input.path = hs_str_of(path);
    assert_int_equal(hs_source_open(&input, src, &err), HS_OK);
}

static void test_files_read_like_bytes(void **state)
{
    const char *root = *state;
    struct hs_source *src = NULL;
    struct texts t;
    char code[32] = "";

    texts_init(&t);
    hs_buf_printf(&t.want, "[in]");
    put_lines(&t.want, 10000);
    put_file(root, "plain", (struct hs_str){ .p = t.want.p + 4, .n = t.want.n - 4 });
    pack(&t.packed, "gzip", (struct hs_str){ .p = t.want.p + 4, .n = t.want.n - 4 });
    put_file(root, "gz", hs_buf_str(&t.packed));
    put_file(root, "cut", (struct hs_str){ .p = t.packed.p, .n = t.packed.n - 8 });
    for (unsigned i = 0; i < 3; i++) {
        open_file(root, (const char *[]){ "plain", "gz", "cut" }[i], &src);
        t.got.n = 0;
        read_members(src, &t.got, 0, code);
        hs_source_close(src);
        assert_true(t.got.n >= t.want.n);
        assert_memory_equal(t.got.p, t.want.p, t.want.n);
        assert_string_equal(code, i == 2 ? "cut-short" : "");
    }
    t.packed.n = 0;
    pack(&t.packed, "zip", HS_STR("zipped"));
    put_file(root, "zip", hs_buf_str(&t.packed));
    open_file(root, "zip", &src);
    t.got.n = 0;
    read_members(src, &t.got, 0, code);
    hs_source_close(src);
    assert_string_equal(t.got.p, "[in/m]zipped");
    texts_release(&t);
}

static void test_folders_and_missing_files_do_not_open(void **state)
{
    struct hs_source *src = NULL;
    struct hs_err err = { .n = 0 };
    struct hs_input folder = { .path = hs_str_of(*state), .name = HS_STR("f") };
    struct hs_input missing = { .path = HS_STR("/no/such/file"), .name = HS_STR("m") };

    assert_int_equal(hs_source_open(&folder, &src, &err), HS_EIO);
    assert_string_equal(err.causes[0].text, "cannot read f: it is a folder");
    assert_int_equal(hs_source_open(&missing, &src, &err), HS_EIO);
    assert_string_equal(err.causes[1].text, "cannot open m: No such file or directory");
    assert_null(src);
}

struct writer {
    const char *path;
    struct hs_str bytes;
};

static void *write_to_fifo(void *arg)
{
    const struct writer *w = arg;
    int fd = open(w->path, O_WRONLY | O_CLOEXEC);

    for (size_t at = 0; fd >= 0 && at < w->bytes.n;) { /* in pieces, as pipes do */
        size_t n = w->bytes.n - at < 100 ? w->bytes.n - at : 100;
        ssize_t done = write(fd, w->bytes.p + at, n);

        if (done <= 0)
            break;
        at += (size_t)done;
    }
    (void)close(fd);
    return NULL;
}

static void test_fifos_are_streamed(void **state)
{
    const char *root = *state;
    struct hs_source *src = NULL;
    struct texts t;
    pthread_t thread;
    char path[4096], code[32] = "";
    struct writer writer = { .path = path };

    texts_init(&t);
    path_in(root, "pipe", path, sizeof(path));
    assert_int_equal(mkfifo(path, 0600), 0);
    hs_buf_printf(&t.want, "[in/m]");
    put_lines(&t.want, 3000);
    pack(&t.packed, "zip", (struct hs_str){ .p = t.want.p + 6, .n = t.want.n - 6 });
    writer.bytes = hs_buf_str(&t.packed);
    assert_int_equal(pthread_create(&thread, NULL, write_to_fifo, &writer), 0);
    open_file(root, "pipe", &src);
    read_members(src, &t.got, 0, code);
    hs_source_close(src);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(code, "");
    assert_int_equal(t.got.n, t.want.n);
    assert_memory_equal(t.got.p, t.want.p, t.want.n);
    texts_release(&t);
}

int main(void)
{
#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        WITH_ROOT(test_names_are_paths_below_the_argument),
        WITH_ROOT(test_same_names_keep_their_folders),
        WITH_ROOT(test_what_is_given_twice_is_read_once),
        WITH_ROOT(test_links_stay_inside_the_folder),
        WITH_ROOT(test_fifos_are_read_only_when_asked_for),
        WITH_ROOT(test_unreadable_files_are_skipped),
        WITH_ROOT(test_missing_argument_says_which),
        WITH_ROOT(test_folders_have_a_depth_limit),
        cmocka_unit_test(test_plain_bytes_stay_as_they_are),
        cmocka_unit_test(test_compressed_file_is_its_own_member),
        cmocka_unit_test(test_cut_gzip_gives_all_up_to_the_cut),
        cmocka_unit_test(test_cut_data_give_what_they_hold),
        cmocka_unit_test(test_cut_gzip_of_several_streams),
        cmocka_unit_test(test_damage_is_told_apart_from_a_cut),
        cmocka_unit_test(test_archive_members_have_names_below_it),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_nested_once),
        cmocka_unit_test(test_cut_archives_keep_their_beginning),
        cmocka_unit_test(test_cut_inside_a_nested_file),
        cmocka_unit_test(test_bombs_are_stopped),
        WITH_ROOT(test_files_read_like_bytes),
        WITH_ROOT(test_folders_and_missing_files_do_not_open),
        WITH_ROOT(test_fifos_are_streamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
