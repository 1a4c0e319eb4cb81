/* buf.h - bytes that grow: building text piece by piece. */
#ifndef HS_BASE_BUF_H
#define HS_BASE_BUF_H

#include "base/arena.h"

struct hs_buf {
    char *p; /* NUL-terminated once anything was added */
    size_t n, cap;
    bool failed; /* memory ran out: what follows is dropped; checked once, at the end */
};

void hs_buf_init(struct hs_buf *buf);
void hs_buf_release(struct hs_buf *buf);
bool hs_buf_reserve(struct hs_buf *buf, size_t more_bytes);
void hs_buf_put(struct hs_buf *buf, struct hs_str text);
void hs_buf_putc(struct hs_buf *buf, char c);
__attribute__((format(printf, 2, 3))) void hs_buf_printf(struct hs_buf *buf, const char *fmt, ...);

static inline struct hs_str hs_buf_str(const struct hs_buf *buf)
{
    return (struct hs_str){ .p = buf->p ? buf->p : "", .n = buf->n };
}

/*
 * `text` from a stranger made fit for a terminal, a log and JSON: valid UTF-8 stays, control and
 * invalid bytes become \xNN, and beyond `max_bytes` of input an ellipsis ends it.
 */
void hs_buf_put_safe(struct hs_buf *buf, struct hs_str text, size_t max_bytes);

/* Text between quotes, as JSON wants it. Bytes that are no UTF-8 stay as they are. */
void hs_buf_put_json(struct hs_buf *buf, struct hs_str text);

/* Columns of a terminal that text takes: its characters, wide ones (beyond Latin) as two. */
size_t hs_str_columns(struct hs_str text);

#endif
