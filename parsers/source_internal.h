/*
 * source_internal.h - what a source is made of. Included by source*.c alone.
 *
 * Bytes flow through up to three layers:
 *
 *   feed -> unpack (one decompressor) -> box (an archive of members)
 *
 * A layer ends by giving no more bytes; a fault then says if that was too early.
 */
#ifndef HS_PARSERS_SOURCE_INTERNAL_H
#define HS_PARSERS_SOURCE_INTERNAL_H

#include "parsers/source.h"

#include <locale.h>

#define HS_BLOCK_BYTES 65536u
#define HS_ZIP_HEADER_BYTES 51u
#define HS_HEAD_BYTES 512u /* enough to recognise everything: one tar header */

enum hs_packing {
    HS_PLAIN,
    HS_GZIP,
    HS_ZSTD,
    HS_XZ,
    HS_BZIP2,
    HS_LZ4,
    HS_TAR,
    HS_ZIP,
};

/* What `head`, the first HS_HEAD_BYTES (or all) of some bytes, says. Strict: text and pickles are
 * never anything but plain. */
enum hs_packing hs_packing_of(struct hs_str head);
const char *hs_packing_name(enum hs_packing packing);
static inline bool hs_packing_is_archive(enum hs_packing packing)
{
    return packing == HS_TAR || packing == HS_ZIP;
}

/* Bytes of the gzip member header that begins `head`; 0 when it is none or does not end there. */
size_t hs_gzip_header_bytes(struct hs_str head);

/* The checksum of gzip; begins with 0. */
void hs_crc32_init(uint32_t table[4][256]);
uint32_t hs_crc32(uint32_t table[4][256], uint32_t crc, struct hs_str bytes);

/* A file, standard input, a FIFO, or bytes in memory. */
struct hs_feed {
    int fd;        /* -1: `bytes` alone; else these come first */
    bool owned;    /* `fd` is ours to close */
    bool rewinds;  /* can be read again from anywhere */
    uint64_t size; /* when it was opened; 0 when it cannot be known */
    struct hs_str bytes;
    uint64_t at;
    uint64_t read_bytes; /* in all: never goes back */
    int error;           /* errno of the read that failed; nothing follows it */
    bool ended;          /* a read met the end, or failed */
};

/* "-" is standard input. HS_EIO when the file cannot be opened or is a folder. */
enum hs_status hs_feed_open(const char *path, struct hs_str name, struct hs_feed *out,
                            struct hs_err *err);
void hs_feed_close(struct hs_feed *feed);
size_t hs_feed_read(struct hs_feed *feed, char *to, size_t cap); /* 0: see `ended`, `error` */
bool hs_feed_seek(struct hs_feed *feed, uint64_t at);            /* only one that rewinds */

struct hs_fault {
    const char *code; /* NULL: none */
    char text[256];
};

/* The first bytes of a layer, read to be looked at and given out later. */
struct hs_head {
    char p[HS_HEAD_BYTES];
    size_t n, at;
};

struct hs_source {
    struct hs_buf name;
    struct hs_source *outer; /* that this was a member of */
    struct hs_source *inner; /* the member being read, opened again */
    struct hs_buf inner_bytes;
    struct hs_fault inner_fault; /* of reading it into memory: told if it does not find out */
    uint64_t out_bytes;          /* that came out of this packing and those inside */
    unsigned depth;              /* 1: not inside another */
    bool started;
    bool told; /* the caller knows of some trouble */

    struct hs_feed feed;
    struct hs_head feed_head;
    char *feed_buf; /* lent to libarchive */

    struct archive *unpack;
    struct hs_str unpack_block;
    uint64_t unpacked_bytes;
    struct hs_head content_head;
    struct hs_fault broken; /* feed or decompressor gave up */
    uint64_t sum_bytes;     /* of the stream so far */
    uint32_t sum;           /* its checksum; gzip only */
    uint32_t crc_table[4][256];
    enum hs_packing unpack_packing;
    unsigned char tail[8]; /* of what was read so far: at the end, a gzip trailer */

    unsigned rescue_streams; /* 0: no rescue */
    bool rescue_begun;       /* the made-up header has been read */
    char rescue_header[HS_ZIP_HEADER_BYTES];
    uint64_t rescue_at, rescue_skip_bytes;

    struct archive *box;
    char *box_buf;
    locale_t box_locale;
    enum hs_packing box_packing;
    bool box_ended, box_done; /* libarchive has met the end; there are no more members */
    struct hs_fault pending;  /* told when the members end */

    struct hs_buf member_name;
    struct hs_str member_block;
    struct hs_head member_head;
    uint64_t member_at, member_gap_bytes; /* gap: zeros of a sparse file, before the block */
    uint64_t member_size_bytes;           /* 0: unknown */
    uint64_t member_given_bytes;
    bool unbounded; /* whoever reads it does not hold it */
    bool member_ended;
    struct hs_fault member;
};

/* What of `from` fits into `to`. */
static inline size_t hs_str_give(struct hs_str *from, char *to, size_t cap)
{
    size_t n = from->n < cap ? from->n : cap;

    if (n == 0)
        return 0;
    memcpy(to, from->p, n);
    from->p += n;
    from->n -= n;
    return n;
}

/* Only the first fault of several is kept: it explains the others. */
__attribute__((format(printf, 3, 4))) void hs_fault_set(struct hs_fault *fault, const char *code,
                                                        const char *fmt, ...);

/* A layer's reader: 0 at its end. */
typedef size_t hs_source_read_fn(struct hs_source *src, char *to, size_t cap);

struct hs_str hs_head_peek(struct hs_source *src, struct hs_head *head, hs_source_read_fn *more);
size_t hs_head_take(struct hs_source *src, struct hs_head *head, hs_source_read_fn *more, char *to,
                    size_t cap);

size_t hs_source_feed_read(struct hs_source *src, char *to, size_t cap);

/* The layers that libarchive makes; a failure is a fault. content: unpacked if it is packed. */
void hs_source_unpack_open(struct hs_source *src);
size_t hs_source_unpack_read(struct hs_source *src, char *to, size_t cap);
size_t hs_source_content_read(struct hs_source *src, char *to, size_t cap);
void hs_source_box_open(struct hs_source *src);
bool hs_source_box_next(struct hs_source *src); /* to the next regular member */
size_t hs_source_box_read(struct hs_source *src, char *to, size_t cap);
void hs_source_unpack_release(struct hs_source *src); /* both layers */

#endif
