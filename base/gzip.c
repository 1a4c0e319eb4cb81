/* gzip.c - packing, by libarchive: the library that unpacks, too. */
#include "base/gzip.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

enum { BLOCK_BYTES = 65536 };

static la_ssize_t hand_on(struct archive *a, void *self, const void *bytes, size_t n)
{
    struct hs_gzip *g = self;

    if (g->status == HS_OK)
        g->status = g->sink(g->self, (struct hs_str){ .p = bytes, .n = n }, &g->why);
    if (g->status == HS_OK)
        return (la_ssize_t)n;
    archive_set_error(a, EIO, "the sink failed");
    return -1;
}

static enum hs_status failed(const struct hs_gzip *g, struct hs_err *err)
{
    if (g->status != HS_OK) {
        *err = g->why;
        return g->status;
    }
    if (!g->stream || archive_errno(g->stream) == ENOMEM)
        return hs_no_memory(err);
    return hs_fail(err, HS_EIO, "gzip: %s", archive_error_string(g->stream));
}

/* A stream of one unnamed member: raw, so that nothing but gzip's own frame is around the bytes. */
static bool begin(struct hs_gzip *g)
{
    struct archive_entry *entry = archive_entry_new();
    struct archive *a = g->stream;
    bool ok;

    if (!entry)
        return false;
    archive_entry_set_filetype(entry, AE_IFREG);
    ok = archive_write_set_format_raw(a) == ARCHIVE_OK &&
         archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
         archive_write_set_filter_option(a, "gzip", "timestamp", NULL) == ARCHIVE_OK &&
         archive_write_set_bytes_per_block(a, BLOCK_BYTES) == ARCHIVE_OK &&
         archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
         archive_write_open(a, g, NULL, hand_on, NULL) == ARCHIVE_OK &&
         archive_write_header(a, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return ok;
}

enum hs_status hs_gzip_init(struct hs_gzip *g, hs_gzip_sink_fn *sink, void *self,
                            struct hs_err *err)
{
    *g = (struct hs_gzip){ .stream = archive_write_new(), .sink = sink, .self = self };
    return g->stream && begin(g) ? HS_OK : failed(g, err);
}

enum hs_status hs_gzip_put(struct hs_gzip *g, struct hs_str bytes, struct hs_err *err)
{
    while (bytes.n) {
        la_ssize_t n = archive_write_data(g->stream, bytes.p, bytes.n);

        if (n <= 0)
            return failed(g, err);
        bytes.p += n;
        bytes.n -= (size_t)n;
    }
    return HS_OK;
}

enum hs_status hs_gzip_end(struct hs_gzip *g, struct hs_err *err)
{
    return archive_write_close(g->stream) == ARCHIVE_OK ? HS_OK : failed(g, err);
}

void hs_gzip_release(struct hs_gzip *g)
{
    if (g->stream) {
        g->status = g->status == HS_OK ? HS_EIO : g->status; /* freeing must hand nothing on */
        (void)archive_write_free(g->stream);
    }
    g->stream = NULL;
}
