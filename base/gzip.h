/*
 * gzip.h - bytes become a gzip stream, handed on piece by piece.
 *
 * The stream holds no time, name or host: equal bytes give equal streams.
 */
#ifndef HS_BASE_GZIP_H
#define HS_BASE_GZIP_H

#include "base/err.h"
#include "base/str.h"

/* Takes a piece of the packed stream; what it returns other than HS_OK ends the writing. */
typedef enum hs_status hs_gzip_sink_fn(void *self, struct hs_str piece, struct hs_err *err);

struct hs_gzip {
    void *stream; /* libarchive's */
    hs_gzip_sink_fn *sink;
    void *self;
    enum hs_status status; /* how the sink failed */
    struct hs_err why;
};

/* hs_gzip_release() in any case. `gzip` stays where it is until then. */
enum hs_status hs_gzip_init(struct hs_gzip *gzip, hs_gzip_sink_fn *sink, void *self,
                            struct hs_err *err);
enum hs_status hs_gzip_put(struct hs_gzip *gzip, struct hs_str bytes, struct hs_err *err);

/* The end of the stream: what was not handed on yet, and its checksum. */
enum hs_status hs_gzip_end(struct hs_gzip *gzip, struct hs_err *err);
void hs_gzip_release(struct hs_gzip *gzip);

#endif
