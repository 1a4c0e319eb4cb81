#include "parsers/source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has(struct hs_str head, size_t at, struct hs_str magic)
{
    return head.n >= at + magic.n && memcmp(head.p + at, magic.p, magic.n) == 0;
}

static unsigned byte_at(struct hs_str s, size_t i)
{
    return (unsigned char)s.p[i];
}

/* The octal number of a tar header field: spaces, digits, then a space or NUL. */
static bool tar_octal(struct hs_str field, unsigned *out)
{
    size_t i = 0, digits = 0;
    unsigned value = 0;

    while (i < field.n && field.p[i] == ' ')
        i++;
    for (; i < field.n && field.p[i] >= '0' && field.p[i] <= '7'; i++, digits++)
        value = value * 8 + (unsigned)(field.p[i] - '0');
    if (digits == 0 || (i < field.n && field.p[i] != ' ' && field.p[i] != '\0'))
        return false;
    *out = value;
    return true;
}

/* A tar header carries the sum of its own bytes; old writers added them up signed. */
static bool is_tar(struct hs_str head)
{
    enum { SUM_AT = 148, SUM_BYTES = 8 };
    unsigned want, sum = 0;
    int signed_sum = 0;

    if (head.n < HS_HEAD_BYTES || head.p[0] == '\0' ||
        !tar_octal((struct hs_str){ .p = head.p + SUM_AT, .n = SUM_BYTES }, &want))
        return false;
    for (size_t i = 0; i < HS_HEAD_BYTES; i++) {
        bool own = i >= SUM_AT && i < SUM_AT + SUM_BYTES;

        sum += own ? ' ' : byte_at(head, i);
        signed_sum += own ? ' ' : (signed char)head.p[i];
    }
    return sum == want || (signed_sum >= 0 && (unsigned)signed_sum == want);
}

static bool is_bzip2(struct hs_str head)
{
    return has(head, 0, HS_STR("BZh")) && head.n >= 10 && head.p[3] >= '1' && head.p[3] <= '9' &&
           (has(head, 4, HS_STR("\x31\x41\x59\x26\x53\x59")) ||
            has(head, 4, HS_STR("\x17\x72\x45\x38\x50\x90")));
}

static bool is_zstd(struct hs_str head)
{
    bool skippable =
        has(head, 1, HS_STR("\x2a\x4d\x18")) && byte_at(head, 0) >= 0x50 && byte_at(head, 0) < 0x60;

    return skippable || has(head, 0, HS_STR("\x28\xb5\x2f\xfd"));
}

static bool is_gzip(struct hs_str head)
{
    return has(head, 0, HS_STR("\x1f\x8b\x08")) && head.n >= 4 && (byte_at(head, 3) & 0xe0) == 0;
}

enum hs_packing hs_packing_of(struct hs_str head)
{
    if (is_gzip(head))
        return HS_GZIP;
    if (is_zstd(head))
        return HS_ZSTD;
    if (has(head, 0,
            HS_STR("\xfd"
                   "7zXZ\0")))
        return HS_XZ;
    if (is_bzip2(head))
        return HS_BZIP2;
    if (has(head, 0, HS_STR("\x04\x22\x4d\x18")) || has(head, 0, HS_STR("\x02\x21\x4c\x18")))
        return HS_LZ4;
    if (has(head, 0, HS_STR("PK\x03\x04")) || has(head, 0, HS_STR("PK\x05\x06")))
        return HS_ZIP;
    return is_tar(head) ? HS_TAR : HS_PLAIN;
}

const char *hs_packing_name(enum hs_packing packing)
{
    static const char *const names[] = {
        "plain", "gzip", "zstd", "xz", "bzip2", "lz4", "tar", "zip"
    };

    return names[packing];
}

size_t hs_gzip_header_bytes(struct hs_str head)
{
    enum { HEADER_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, FIXED_BYTES = 10 };
    size_t n = FIXED_BYTES;
    unsigned flags;

    if (!is_gzip(head) || head.n < n)
        return 0;
    flags = byte_at(head, 3);
    if (flags & EXTRA) {
        if (head.n < n + 2)
            return 0;
        n += 2 + byte_at(head, n) + (byte_at(head, n + 1) << 8);
    }
    for (unsigned text = NAME; text <= COMMENT; text *= 2) {
        const char *end = n < head.n ? memchr(head.p + n, '\0', head.n - n) : NULL;

        if (!(flags & text))
            continue;
        if (!end)
            return 0;
        n = (size_t)(end - head.p) + 1;
    }
    if (flags & HEADER_CRC)
        n += 2;
    return n <= head.n ? n : 0;
}

void hs_crc32_init(uint32_t table[4][256])
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        table[0][i] = crc;
    }
    for (unsigned i = 0; i < 256; i++) {
        for (unsigned row = 1; row < 4; row++)
            table[row][i] = table[row - 1][i] >> 8 ^ table[0][table[row - 1][i] & 0xff];
    }
}

uint32_t hs_crc32(uint32_t table[4][256], uint32_t crc, struct hs_str bytes)
{
    size_t i = 0;

    crc = ~crc;
    for (; i + 4 <= bytes.n; i += 4) {
        crc ^= byte_at(bytes, i) | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2) << 16 |
               byte_at(bytes, i + 3) << 24;
        crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^ table[1][crc >> 16 & 0xff] ^
              table[0][crc >> 24];
    }
    for (; i < bytes.n; i++)
        crc = crc >> 8 ^ table[0][(crc ^ byte_at(bytes, i)) & 0xff];
    return ~crc;
}

enum hs_status hs_feed_open(const char *path, struct hs_str name, struct hs_feed *out,
                            struct hs_err *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct hs_feed feed = { .fd = STDIN_FILENO, .owned = !standard_input };
    struct stat st;

    if (!standard_input)
        feed.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (feed.fd < 0 || fstat(feed.fd, &st) != 0) {
        enum hs_status status =
            hs_fail(err, HS_EIO, "cannot open %.*s: %s", HS_STR_ARG(name), strerror(errno));

        hs_feed_close(&feed);
        return status;
    }
    if (S_ISDIR(st.st_mode)) {
        hs_feed_close(&feed);
        return hs_fail(err, HS_EIO, "cannot read %.*s: it is a folder", HS_STR_ARG(name));
    }
    feed.rewinds = S_ISREG(st.st_mode) && feed.owned;
    feed.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    *out = feed;
    return HS_OK;
}

void hs_feed_close(struct hs_feed *feed)
{
    if (feed->owned && feed->fd >= 0)
        (void)close(feed->fd);
    feed->fd = -1;
}

static ssize_t read_some(int fd, char *to, size_t cap)
{
    for (;;) {
        ssize_t n = read(fd, to, cap);
        struct pollfd wait = { .fd = fd, .events = POLLIN };

        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
        if (errno == EAGAIN)
            (void)poll(&wait, 1, -1); /* standard input that somebody made non-blocking */
    }
}

size_t hs_feed_read(struct hs_feed *feed, char *to, size_t cap)
{
    size_t n = 0;

    if (cap == 0 || feed->error)
        return 0;
    if (feed->at < feed->bytes.n) {
        n = feed->bytes.n - (size_t)feed->at < cap ? feed->bytes.n - (size_t)feed->at : cap;
        memcpy(to, feed->bytes.p + feed->at, n);
    } else if (feed->fd >= 0) {
        ssize_t got = read_some(feed->fd, to, cap);

        if (got < 0)
            feed->error = errno;
        n = got > 0 ? (size_t)got : 0;
    }
    feed->at += n;
    feed->read_bytes += n;
    feed->ended = n == 0;
    return n;
}

bool hs_feed_seek(struct hs_feed *feed, uint64_t at)
{
    if (!feed->rewinds || at > INT64_MAX || feed->error)
        return false;
    if (feed->fd >= 0 && lseek(feed->fd, (off_t)at, SEEK_SET) < 0)
        return false;
    feed->at = at;
    feed->ended = false;
    return true;
}

void hs_fault_set(struct hs_fault *fault, const char *code, const char *fmt, ...)
{
    va_list ap;

    if (fault->code)
        return;
    fault->code = code;
    va_start(ap, fmt);
    (void)vsnprintf(fault->text, sizeof(fault->text), fmt, ap);
    va_end(ap);
}

static size_t fill(struct hs_source *src, struct hs_head *head, hs_source_read_fn *more)
{
    while (head->n < sizeof(head->p)) {
        size_t n = more(src, head->p + head->n, sizeof(head->p) - head->n);

        if (n == 0)
            break;
        head->n += n;
    }
    return head->n;
}

struct hs_str hs_head_peek(struct hs_source *src, struct hs_head *head, hs_source_read_fn *more)
{
    return (struct hs_str){ .p = head->p, .n = fill(src, head, more) };
}

size_t hs_head_take(struct hs_source *src, struct hs_head *head, hs_source_read_fn *more, char *to,
                    size_t cap)
{
    struct hs_str left = { .p = head->p + head->at, .n = head->n - head->at };
    size_t n = hs_str_give(&left, to, cap);

    head->at += n;
    return n > 0 ? n : more(src, to, cap);
}
