#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void hs_buf_init(struct hs_buf *buf)
{
    *buf = (struct hs_buf){ .p = NULL };
}

void hs_buf_release(struct hs_buf *buf)
{
    free(buf->p);
    hs_buf_init(buf);
}

bool hs_buf_reserve(struct hs_buf *buf, size_t more_bytes)
{
    size_t want = buf->cap ? buf->cap : 256;
    char *grown;

    if (buf->failed || more_bytes > SIZE_MAX / 4) {
        buf->failed = true;
        return false;
    }
    while (want < buf->n + more_bytes + 1)
        want *= 2;
    if (want == buf->cap)
        return true;
    grown = realloc(buf->p, want);
    if (!grown) {
        buf->failed = true;
        return false;
    }
    buf->p = grown;
    buf->cap = want;
    return true;
}

void hs_buf_put(struct hs_buf *buf, struct hs_str text)
{
    if (!hs_buf_reserve(buf, text.n))
        return;
    if (text.n)
        memcpy(buf->p + buf->n, text.p, text.n);
    buf->n += text.n;
    buf->p[buf->n] = '\0';
}

void hs_buf_putc(struct hs_buf *buf, char c)
{
    hs_buf_put(buf, (struct hs_str){ .p = &c, .n = 1 });
}

void hs_buf_printf(struct hs_buf *buf, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !hs_buf_reserve(buf, (size_t)n)) {
        buf->failed = true;
        return;
    }
    va_start(ap, fmt);
    (void)vsnprintf(buf->p + buf->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf->n += (size_t)n;
}

/* The well-formed sequences (Unicode, table 3-7): a range of first bytes, the range that the second
 * may then have, and the length. Third and fourth bytes are always 80..bf. */
static const struct {
    unsigned char first_low, first_high, second_low, second_high, length;
} utf8[] = {
    { 0x00, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
    { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
    { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* Bytes of the valid UTF-8 sequence at the head of `text`; 0 when there is none. */
static size_t utf8_len(struct hs_str text)
{
    const unsigned char *s = (const unsigned char *)text.p;
    size_t row = 0;

    while (row < sizeof(utf8) / sizeof(utf8[0]) &&
           (s[0] < utf8[row].first_low || s[0] > utf8[row].first_high))
        row++;
    if (row == sizeof(utf8) / sizeof(utf8[0]) || utf8[row].length > text.n)
        return 0;
    if (utf8[row].length > 1 && (s[1] < utf8[row].second_low || s[1] > utf8[row].second_high))
        return 0;
    for (size_t i = 2; i < utf8[row].length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    return utf8[row].length;
}

void hs_buf_put_safe(struct hs_buf *buf, struct hs_str text, size_t max_bytes)
{
    bool cut = text.n > max_bytes;
    struct hs_str rest = { .p = text.p, .n = cut ? max_bytes : text.n };

    while (rest.n > 0) {
        size_t n = utf8_len(rest);
        unsigned char c = (unsigned char)rest.p[0];
        bool c1_control = n == 2 && c == 0xc2 && (unsigned char)rest.p[1] < 0xa0;

        if (n == 0 || c < 0x20 || c == 0x7f || c1_control) {
            if (n == 0 && cut && rest.n < 4)
                break; /* a character that our own cut tore */
            hs_buf_printf(buf, "\\x%02x", c);
            n = 1;
        } else {
            hs_buf_put(buf, (struct hs_str){ .p = rest.p, .n = n });
        }
        rest.p += n;
        rest.n -= n;
    }
    if (cut)
        hs_buf_put(buf, HS_STR("…"));
}

size_t hs_str_columns(struct hs_str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        n += (c & 0xc0) == 0x80 ? 0 : c >= 0xe3 && c < 0xf5 ? 2 : 1;
    }
    return n;
}

void hs_buf_put_json(struct hs_buf *buf, struct hs_str text)
{
    hs_buf_putc(buf, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\')
            hs_buf_printf(buf, "\\%c", c);
        else if (c < 0x20)
            hs_buf_printf(buf, "\\u%04x", c);
        else
            hs_buf_putc(buf, (char)c);
    }
    hs_buf_putc(buf, '"');
}
