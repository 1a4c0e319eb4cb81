/*
 * ahead.h - a stream is read, unpacked and hashed by a thread of its own, some chunks in front of
 * whoever parses it.
 */
#ifndef HS_PARSERS_AHEAD_H
#define HS_PARSERS_AHEAD_H

#include "parsers/parser.h"
#include "parsers/source.h"

/* HS_CHUNK_BYTES of a member, or what is left of it. */
struct hs_chunk {
    struct hs_str bytes;
    uint64_t hash;
    const void *seen; /* for hs_stream.show(); NULL: nothing */
};

struct hs_ahead;

/* Begin to read for `stream`; the source is the thread's until hs_ahead_end(). NULL when there is
 * no thread or memory to be had: the caller then reads by itself. */
struct hs_ahead *hs_ahead_begin(struct hs_source *source, const struct hs_stream *stream);

/* The next chunk, valid until the next call. False at the end of the member. */
bool hs_ahead_next(struct hs_ahead *ahead, struct hs_chunk *out);

/* Stop, wherever it is; says what befell the bytes that were handed out. */
void hs_ahead_end(struct hs_ahead *ahead, struct hs_source_trouble *trouble);

/* The same without a thread: fill the buffer, which has room for a chunk. */
void hs_chunk_fill(struct hs_source *source, struct hs_buf *bytes,
                   struct hs_source_trouble *trouble);

#endif
