/*
 * source_unpack.c - the one file that knows libarchive: decompressing (unpack) and the members of
 * archives (box).
 */
#include "base/limits.h"
#include "parsers/source_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>

#define RATIO_FREE_BYTES (64ull << 20) /* below this no ratio is suspicious */

enum {
    BLOCK_BYTES = HS_BLOCK_BYTES,
    RESCUE_BLOCK_BYTES = 4096, /* small: damage costs what its block would have given */
    RESCUE_STREAMS_MAX = 10000,
    BAD_HEADERS_MAX = 1000,
    ZIP_HEADER_BYTES = HS_ZIP_HEADER_BYTES,
};

/* Why `a` failed. Running out of bytes is the usual reason, and has the same words everywhere. */
static void explain(const struct hs_source *src, struct archive *a, enum hs_packing packing,
                    bool ended, struct hs_fault *out)
{
    const char *why = archive_error_string(a);
    const char *what = hs_packing_name(packing);

    if (src->feed.error)
        hs_fault_set(out, "unreadable", "reading failed: %s", strerror(src->feed.error));
    else if (archive_errno(a) == ENOMEM)
        hs_fault_set(out, "no-memory", "not enough memory to unpack %s data", what);
    else if (ended)
        hs_fault_set(out, "cut-short", "the %s data ends early", what);
    else
        hs_fault_set(out, "malformed", "damaged %s data: %s", what, why ? why : "no reason given");
}

static bool over_budget(const struct hs_source *src)
{
    return src->out_bytes > HS_ARCHIVE_BYTES_MAX ||
           (src->out_bytes > RATIO_FREE_BYTES &&
            src->out_bytes / HS_ARCHIVE_RATIO_MAX > src->feed.read_bytes);
}

/* Count what packed bytes became, here and in every archive around. False: too much. */
static bool spend(struct hs_source *src, size_t n, struct hs_fault *fault)
{
    bool over = false;

    for (struct hs_source *at = src; at; at = at->outer) {
        at->out_bytes += n;
        over = over || over_budget(at);
    }
    if (over)
        hs_fault_set(fault, "limit", "unpacks to more than %u times its size or %llu bytes",
                     HS_ARCHIVE_RATIO_MAX, HS_ARCHIVE_BYTES_MAX);
    return !over;
}

/* ---- feed ---- */

size_t hs_source_feed_read(struct hs_source *src, char *to, size_t cap)
{
    return hs_feed_read(&src->feed, to, cap);
}

static size_t packed_read(struct hs_source *src, char *to, size_t cap)
{
    return hs_head_take(src, &src->feed_head, hs_source_feed_read, to, cap);
}

static bool feed_seek(struct hs_source *src, uint64_t at)
{
    src->feed_head.n = src->feed_head.at = 0;
    return hs_feed_seek(&src->feed, at);
}

/* ---- unpack ---- */

static void unpack_close(struct hs_source *src)
{
    if (src->unpack)
        (void)archive_read_free(src->unpack);
    src->unpack = NULL;
    src->unpack_block.n = 0;
}

static la_ssize_t unpack_pull(struct archive *a, void *self, const void **block)
{
    struct hs_source *src = self;
    size_t n = packed_read(src, src->feed_buf, BLOCK_BYTES);
    size_t kept = n < sizeof(src->tail) ? sizeof(src->tail) - n : 0;

    (void)a;
    memmove(src->tail, src->tail + sizeof(src->tail) - kept, kept);
    memcpy(src->tail + kept, src->feed_buf + n - (sizeof(src->tail) - kept),
           sizeof(src->tail) - kept);
    *block = src->feed_buf;
    return (la_ssize_t)n;
}

static uint32_t le32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A gzip stream ends with its checksum and length, which libarchive does not look at. */
static bool sum_matches(const struct hs_source *src, const unsigned char trailer[8])
{
    return le32(trailer) == src->sum && le32(trailer + 4) == (uint32_t)src->sum_bytes;
}

/* False when this libarchive would have to run a program to do it: we never do. */
static bool add_filter(struct archive *a, enum hs_packing packing)
{
    switch (packing) {
    case HS_GZIP:
        return archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
               archive_read_append_filter(a, ARCHIVE_FILTER_GZIP) == ARCHIVE_OK;
    case HS_ZSTD:
        return archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
               archive_read_append_filter(a, ARCHIVE_FILTER_ZSTD) == ARCHIVE_OK;
    case HS_XZ:
        return archive_read_support_filter_xz(a) == ARCHIVE_OK &&
               archive_read_append_filter(a, ARCHIVE_FILTER_XZ) == ARCHIVE_OK;
    case HS_BZIP2:
        return archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
               archive_read_append_filter(a, ARCHIVE_FILTER_BZIP2) == ARCHIVE_OK;
    case HS_LZ4:
        return archive_read_support_filter_lz4(a) == ARCHIVE_OK &&
               archive_read_append_filter(a, ARCHIVE_FILTER_LZ4) == ARCHIVE_OK;
    default:
        return false;
    }
}

/*
 * Decompressors of libarchive hand out full blocks only: of data cut short, the last 64 KiB (and
 * so the whole of a small file) would be lost. Its zip reader hands out what it has. So we read
 * the packed bytes again, as a zip entry under a header of our making, and skip what was given.
 */
static void rescue_make_header(char *to, unsigned method)
{
    static const char header[ZIP_HEADER_BYTES + 1] =
        "PK\3\4\x2d\0\0\0\0\0" /* version 4.5, no flags, method at 8 */
        "\0\0\0\0\0\0\0\0"     /* time, date, checksum */
        "\xff\xff\xff\xff\xff\xff\xff\xff\1\0\x14\0x"
        "\1\0\x10\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x10"; /* both sizes: as good as endless */

    memcpy(to, header, ZIP_HEADER_BYTES);
    to[8] = (char)method;
}

static la_ssize_t rescue_pull(struct archive *a, void *self, const void **block)
{
    struct hs_source *src = self;

    (void)a;
    if (!src->rescue_begun) {
        src->rescue_begun = true;
        *block = src->rescue_header;
        return ZIP_HEADER_BYTES;
    }
    *block = src->feed_buf;
    return (la_ssize_t)packed_read(src, src->feed_buf, RESCUE_BLOCK_BYTES);
}

/* Begin to unpack the compressed stream at `at` of the feed. */
static bool rescue_stream(struct hs_source *src, uint64_t at)
{
    static const unsigned char methods[] = {
        [HS_GZIP] = 8, [HS_ZSTD] = 93, [HS_XZ] = 95, [HS_BZIP2] = 12, [HS_ZIP] = 0
    };
    unsigned method = methods[src->unpack_packing];
    struct archive_entry *entry;

    unpack_close(src);
    if (method == 0 || src->rescue_streams++ >= RESCUE_STREAMS_MAX || !feed_seek(src, at))
        return false;
    if (src->unpack_packing == HS_GZIP) {
        size_t n = hs_gzip_header_bytes(hs_head_peek(src, &src->feed_head, hs_source_feed_read));

        if (n == 0)
            return false;
        at += n;
        src->feed_head.at = n;
    }
    rescue_make_header(src->rescue_header, method);
    src->rescue_begun = false;
    src->rescue_at = at;
    src->sum = 0;
    src->sum_bytes = 0;
    src->unpack = archive_read_new();
    return src->unpack && archive_read_support_format_zip_streamable(src->unpack) == ARCHIVE_OK &&
           archive_read_set_read_callback(src->unpack, rescue_pull) == ARCHIVE_OK &&
           archive_read_set_callback_data(src->unpack, src) == ARCHIVE_OK &&
           archive_read_open1(src->unpack) == ARCHIVE_OK &&
           archive_read_next_header(src->unpack, &entry) == ARCHIVE_OK;
}

static void rescue(struct hs_source *src)
{
    src->rescue_skip_bytes = src->unpacked_bytes;
    if (src->rescue_streams > 0 || !src->feed.rewinds || !rescue_stream(src, 0))
        unpack_close(src);
}

/* gzip streams follow each other: check the one that ended, and go on behind its trailer. */
static void rescue_continue(struct hs_source *src)
{
    int64_t used = archive_filter_bytes(src->unpack, -1) - ZIP_HEADER_BYTES;
    uint64_t at = src->rescue_at + (used > 0 ? (uint64_t)used : 0);
    unsigned char trailer[8];
    size_t n = 0;

    while (src->unpack_packing == HS_GZIP && (n > 0 || feed_seek(src, at)) && n < sizeof(trailer)) {
        size_t got = hs_feed_read(&src->feed, (char *)trailer + n, sizeof(trailer) - n);

        n += got;
        if (got == 0)
            break;
    }
    if (src->unpack_packing == HS_GZIP && n < sizeof(trailer))
        hs_fault_set(&src->broken, "cut-short", "the gzip data ends early");
    else if (src->unpack_packing == HS_GZIP && !sum_matches(src, trailer))
        hs_fault_set(&src->broken, "malformed", "damaged gzip data: the checksum is another");
    else if (src->unpack_packing == HS_GZIP && rescue_stream(src, at + sizeof(trailer)))
        return;
    unpack_close(src);
}

static void unpack_failed(struct hs_source *src)
{
    explain(src, src->unpack, src->unpack_packing, src->feed.ended, &src->broken);
    if (src->feed.error || strcmp(src->broken.code, "no-memory") == 0)
        unpack_close(src);
    else
        rescue(src);
}

/* The decompressor says that all is well; but what it does not take for its own it ignores. */
static void unpack_ended(struct hs_source *src)
{
    if (src->rescue_streams > 0) {
        rescue_continue(src);
    } else if (src->unpacked_bytes == 0 && archive_filter_bytes(src->unpack, -1) == 0) {
        hs_fault_set(&src->broken, "cut-short", "the %s data ends within its header",
                     hs_packing_name(src->unpack_packing));
        unpack_close(src);
    } else if (src->unpack_packing == HS_GZIP && !sum_matches(src, src->tail)) {
        rescue(src); /* several streams, damage, or a cut in the trailer: find out */
    } else {
        unpack_close(src);
    }
}

void hs_source_unpack_open(struct hs_source *src)
{
    struct archive_entry *entry;
    int r = ARCHIVE_FATAL;

    src->unpack = archive_read_new();
    src->feed_buf = malloc(BLOCK_BYTES);
    if (src->unpack_packing == HS_GZIP)
        hs_crc32_init(src->crc_table);
    if (!src->unpack || !src->feed_buf) {
        hs_fault_set(&src->broken, "no-memory", "out of memory");
        unpack_close(src);
        return;
    }
    if (!add_filter(src->unpack, src->unpack_packing)) {
        hs_fault_set(&src->broken, "malformed", "%s is not supported by this libarchive",
                     hs_packing_name(src->unpack_packing));
        unpack_close(src);
        return;
    }
    (void)archive_read_support_format_raw(src->unpack);
    (void)archive_read_support_format_empty(src->unpack);
    (void)archive_read_set_read_callback(src->unpack, unpack_pull);
    (void)archive_read_set_callback_data(src->unpack, src);
    /* A decompressor that fails at once looks empty: its error is all that tells. */
    if (archive_read_open1(src->unpack) == ARCHIVE_OK && archive_errno(src->unpack) == 0)
        r = archive_read_next_header(src->unpack, &entry);
    if (r == ARCHIVE_EOF)
        unpack_ended(src);
    else if (r < ARCHIVE_WARN)
        unpack_failed(src);
}

static void unpack_next(struct hs_source *src)
{
    const void *p = NULL;
    size_t n = 0;
    int64_t offset;
    int r = archive_read_data_block(src->unpack, &p, &n, &offset);
    size_t skip = n < src->rescue_skip_bytes ? n : (size_t)src->rescue_skip_bytes;

    if (r == ARCHIVE_EOF) {
        unpack_ended(src);
    } else if (r < ARCHIVE_WARN && src->rescue_streams > 0) {
        unpack_close(src);
    } else if (r < ARCHIVE_WARN) {
        unpack_failed(src);
    } else if (n > 0) {
        if (src->unpack_packing == HS_GZIP)
            src->sum = hs_crc32(src->crc_table, src->sum, (struct hs_str){ .p = p, .n = n });
        src->sum_bytes += n;
        src->rescue_skip_bytes -= skip;
        src->unpack_block = (struct hs_str){ .p = (const char *)p + skip, .n = n - skip };
        if (src->rescue_streams > 0 && n > skip)
            hs_fault_set(&src->broken, "cut-short", "the %s data ends early",
                         hs_packing_name(src->unpack_packing));
    }
}

size_t hs_source_unpack_read(struct hs_source *src, char *to, size_t cap)
{
    size_t n;

    while (src->unpack && src->unpack_block.n == 0)
        unpack_next(src);
    n = hs_str_give(&src->unpack_block, to, cap);
    src->unpacked_bytes += n;
    if (n > 0 && !spend(src, n, &src->broken))
        unpack_close(src);
    return n;
}

size_t hs_source_content_read(struct hs_source *src, char *to, size_t cap)
{
    size_t n = src->unpack_packing == HS_PLAIN
                   ? packed_read(src, to, cap)
                   : hs_head_take(src, &src->content_head, hs_source_unpack_read, to, cap);

    if (n == 0 && cap > 0 && src->feed.error)
        hs_fault_set(&src->broken, "unreadable", "reading failed: %s", strerror(src->feed.error));
    return n;
}

/* ---- box ---- */

static la_ssize_t box_pull(struct archive *a, void *self, const void **block)
{
    struct hs_source *src = self;
    size_t n = hs_source_content_read(src, src->box_buf, BLOCK_BYTES);

    (void)a;
    src->box_ended = n == 0;
    *block = src->box_buf;
    return (la_ssize_t)n;
}

static la_int64_t box_seek(struct archive *a, void *self, la_int64_t offset, int whence)
{
    struct hs_source *src = self;
    uint64_t ahead = src->feed_head.n - src->feed_head.at;
    la_int64_t from = whence == SEEK_END   ? (la_int64_t)src->feed.size
                      : whence == SEEK_CUR ? (la_int64_t)(src->feed.at - ahead)
                                           : 0;

    (void)a;
    src->box_ended = false;
    if (__builtin_add_overflow(from, offset, &from) || from < 0 || !feed_seek(src, (uint64_t)from))
        return ARCHIVE_FATAL;
    return from;
}

void hs_source_box_open(struct hs_source *src)
{
    struct archive *a = archive_read_new();

    src->box = a;
    src->box_buf = malloc(BLOCK_BYTES);
    src->box_done = src->member_ended = true;
    if (!a || !src->box_buf) {
        hs_fault_set(&src->pending, "no-memory", "out of memory");
        return;
    }
    /* Names in UTF-8 come out as they are, whatever the locale of this process. */
    src->box_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    if (src->box_packing == HS_TAR)
        (void)archive_read_support_format_tar(a);
    else
        (void)archive_read_support_format_zip(a);
    (void)archive_read_set_read_callback(a, box_pull);
    (void)archive_read_set_callback_data(a, src);
    if (src->feed.rewinds && src->unpack_packing == HS_PLAIN)
        (void)archive_read_set_seek_callback(a, box_seek);
    if (archive_read_open1(a) == ARCHIVE_OK)
        src->box_done = false;
    else
        explain(src, a, src->box_packing, src->box_ended, &src->pending);
}

/* The container has no more members. `failed`: libarchive says why. */
static void box_end(struct hs_source *src, bool failed, struct hs_fault *out)
{
    src->box_done = true;
    if (src->broken.code)
        *out = out->code ? *out : src->broken;
    else if (failed)
        explain(src, src->box, src->box_packing, src->box_ended, out);
}

static void box_block(struct hs_source *src, struct hs_str block, int64_t offset)
{
    if (offset < 0 || (uint64_t)offset < src->member_at) {
        hs_fault_set(&src->member, "malformed", "pieces of a sparse file out of order");
        return;
    }
    src->member_gap_bytes = (uint64_t)offset - src->member_at;
    src->member_at = (uint64_t)offset + block.n;
    src->member_block = block;
}

static void box_more(struct hs_source *src)
{
    const void *p = NULL;
    size_t n = 0;
    int64_t offset = 0;
    int r = archive_read_data_block(src->box, &p, &n, &offset);

    if (r == ARCHIVE_EOF) {
        src->member_ended = true;
        if (offset > 0 && (uint64_t)offset > src->member_at) /* a sparse file may end in a hole */
            src->member_gap_bytes = (uint64_t)offset - src->member_at;
    } else if (r == ARCHIVE_FATAL) {
        box_end(src, true, &src->member);
    } else {
        if (r >= ARCHIVE_WARN && n > 0)
            box_block(src, (struct hs_str){ .p = p, .n = n }, offset);
        if (r != ARCHIVE_OK)
            explain(src, src->box, src->box_packing, false, &src->member);
    }
}

/* The member's next bytes. Expanding is counted where it happens: a tar only adds holes. */
size_t hs_source_box_read(struct hs_source *src, char *to, size_t cap)
{
    bool counts;
    size_t n;

    while (src->member_block.n == 0 && !src->member_ended && !src->member.code)
        box_more(src);
    counts =
        src->member_gap_bytes > 0 || src->unpack_packing == HS_PLAIN || src->box_packing == HS_ZIP;
    if (src->member_gap_bytes > 0) {
        n = src->member_gap_bytes < cap ? (size_t)src->member_gap_bytes : cap;
        memset(to, 0, n);
        src->member_gap_bytes -= n;
    } else {
        n = hs_str_give(&src->member_block, to, cap);
    }
    if (n > 0 && counts && !spend(src, n, &src->member)) {
        src->member_gap_bytes = src->member_block.n = 0;
        src->box_done = true;
    }
    return n;
}

/* libarchive would unpack what is left of a zip member without counting: do it here. */
static void box_drain(struct hs_source *src)
{
    struct hs_fault ignored = { .code = NULL };

    while (src->box_packing == HS_ZIP && !src->member_ended && !src->member.code) {
        src->member_block.n = 0;
        src->member_gap_bytes = 0;
        box_more(src);
        if (!spend(src, src->member_block.n, &ignored)) {
            hs_fault_set(&src->pending, "limit", "%s", ignored.text);
            src->box_done = true;
            return;
        }
    }
}

/* The text of an entry; libarchive ends the process if errno happens to be ENOMEM. */
static struct hs_str entry_name(struct archive_entry *entry)
{
    const char *name;

    errno = 0;
    name = archive_entry_pathname(entry);
    if (!name) {
        errno = 0;
        name = archive_entry_pathname_utf8(entry);
    }
    return hs_str_of(name);
}

static void member_set_name(struct hs_source *src, struct hs_str path)
{
    while (hs_str_starts(path, HS_STR("./")) || hs_str_starts(path, HS_STR("/"))) {
        size_t n = path.p[0] == '/' ? 1 : 2;

        path.p += n;
        path.n -= n;
    }
    if (path.n > HS_NAME_BYTES_MAX)
        path.n = HS_NAME_BYTES_MAX;
    src->member_name.n = 0;
    hs_buf_put(&src->member_name, hs_buf_str(&src->name));
    hs_buf_putc(&src->member_name, '/');
    hs_buf_put(&src->member_name, path.n > 0 ? path : HS_STR("(no name)"));
}

static void member_clear(struct hs_source *src)
{
    src->member_block.n = 0;
    src->member_head.n = src->member_head.at = 0;
    src->member_at = src->member_gap_bytes = 0;
    src->member_size_bytes = src->member_given_bytes = 0;
    src->unbounded = false;
    src->member_ended = false;
    src->member.code = NULL;
}

static bool member_begin(struct hs_source *src, struct archive_entry *entry)
{
    member_clear(src);
    errno = 0;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
        return false;
    member_set_name(src, entry_name(entry));
    if (archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0)
        src->member_size_bytes = (uint64_t)archive_entry_size(entry);
    if (archive_entry_is_encrypted(entry))
        hs_fault_set(&src->member, "malformed", "it is encrypted");
    return true;
}

/* Go to the next regular member of the archive. */
bool hs_source_box_next(struct hs_source *src)
{
    for (unsigned bad = 0; !src->box_done && bad < BAD_HEADERS_MAX;) {
        struct archive_entry *entry = NULL;
        locale_t before = src->box_locale ? uselocale(src->box_locale) : NULL;
        bool found = false;
        int r;

        box_drain(src);
        r = src->box_done ? ARCHIVE_EOF : archive_read_next_header(src->box, &entry);
        if (r == ARCHIVE_EOF || r == ARCHIVE_FATAL) {
            box_end(src, r == ARCHIVE_FATAL, &src->pending);
        } else if (r < ARCHIVE_WARN) {
            explain(src, src->box, src->box_packing, false, &src->pending);
            bad++;
        } else {
            found = member_begin(src, entry);
        }
        if (before)
            (void)uselocale(before);
        if (found)
            return true;
    }
    return false;
}

void hs_source_unpack_release(struct hs_source *src)
{
    if (src->box)
        (void)archive_read_free(src->box);
    if (src->box_locale)
        freelocale(src->box_locale);
    unpack_close(src);
    free(src->feed_buf);
    free(src->box_buf);
}
