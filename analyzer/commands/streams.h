/*
 * streams.h - paths that can be read once: standard input, a FIFO. They are opened and their first
 * bytes read, which tell whether a database or a plan comes.
 */
#ifndef HS_ANALYZER_STREAMS_H
#define HS_ANALYZER_STREAMS_H

#include "base/buf.h"
#include "base/err.h"
#include "parsers/source.h"

struct hs_streams {
    struct hs_opened *rows; /* as many as paths; .fd -1: that path is no stream */
    struct hs_buf *heads;
    uint32_t count;
};

/* `wait`: until somebody writes to a FIFO; else one that nobody writes to is empty. */
enum hs_status hs_streams_open(const char *const *paths, uint32_t count, bool wait,
                               struct hs_streams *out, struct hs_err *err);
void hs_streams_close(struct hs_streams *streams);

/* The stream that an input is; NULL: it is to be opened. */
const struct hs_opened *hs_streams_find(const struct hs_streams *streams,
                                        const struct hs_input *input);

#endif
