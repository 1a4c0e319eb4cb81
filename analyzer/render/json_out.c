#include "analyzer/render/json_out.h"

#include "base/ranks.h"

#include <inttypes.h>

/* A comma, unless this is the first of its container. */
static void separate(struct hs_buf *out)
{
    struct hs_str text = hs_buf_str(out);
    const char *last = text.n ? &text.p[text.n - 1] : "[";

    if (!strchr("{[:", *last))
        hs_buf_put(out, HS_STR(",\n"));
}

static void put_quoted(struct hs_buf *out, struct hs_str text)
{
    hs_buf_putc(out, '"');
    for (size_t i = 0, from = 0; i <= text.n; i++) {
        unsigned char c = i < text.n ? (unsigned char)text.p[i] : 0;

        if (i < text.n && c >= 0x20 && c != '"' && c != '\\')
            continue;
        hs_buf_put(out, (struct hs_str){ .p = text.p + from, .n = i - from });
        from = i + 1;
        if (i == text.n)
            break;
        if (c == '"' || c == '\\')
            hs_buf_printf(out, "\\%c", c);
        else
            hs_buf_printf(out, "\\u%04x", c);
    }
    hs_buf_putc(out, '"');
}

void hs_json_key(struct hs_buf *out, const char *key)
{
    separate(out);
    if (!key)
        return;
    put_quoted(out, hs_str_of(key));
    hs_buf_putc(out, ':');
}

void hs_json_open(struct hs_buf *out, const char *key, char bracket)
{
    hs_json_key(out, key);
    hs_buf_putc(out, bracket);
}

void hs_json_close(struct hs_buf *out, char bracket)
{
    hs_buf_putc(out, bracket == '{' ? '}' : ']');
}

void hs_json_text(struct hs_buf *out, const char *key, struct hs_str text)
{
    hs_json_key(out, key);
    if (text.p)
        put_quoted(out, text);
    else
        hs_buf_put(out, HS_STR("null"));
}

void hs_json_word(struct hs_buf *out, const char *key, const char *word)
{
    hs_json_text(out, key, hs_str_of(word));
}

void hs_json_u64(struct hs_buf *out, const char *key, uint64_t value)
{
    hs_json_key(out, key);
    if (value == HS_UNKNOWN)
        hs_buf_put(out, HS_STR("null"));
    else
        hs_buf_printf(out, "%" PRIu64, value);
}

void hs_json_id(struct hs_buf *out, const char *key, uint32_t id)
{
    hs_json_u64(out, key, id == HS_NO_ID ? HS_UNKNOWN : id);
}

void hs_json_i64(struct hs_buf *out, const char *key, int64_t value)
{
    hs_json_key(out, key);
    hs_buf_printf(out, "%" PRId64, value);
}

void hs_json_bool(struct hs_buf *out, const char *key, bool value)
{
    hs_json_key(out, key);
    hs_buf_put(out, value ? HS_STR("true") : HS_STR("false"));
}

void hs_json_phrase(struct hs_buf *out, const char *key, const struct hs_phrase *phrase,
                    enum hs_language language)
{
    struct hs_buf text;

    hs_buf_init(&text);
    if (phrase->key)
        hs_phrase_put(&text, phrase, language);
    out->failed |= text.failed;
    hs_json_text(out, key, phrase->key ? hs_buf_str(&text) : (struct hs_str){ .p = NULL });
    hs_buf_release(&text);
}

void hs_json_ranks(struct hs_buf *out, const char *key, const uint32_t *ranks, uint32_t count)
{
    hs_json_key(out, key);
    hs_buf_putc(out, '"');
    hs_ranks_put(out, ranks, count, SIZE_MAX);
    hs_buf_putc(out, '"');
}

void hs_json_list(struct hs_buf *out, const char *key, const uint32_t *items, uint32_t count)
{
    hs_json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        hs_buf_put(out, i ? HS_STR(",") : HS_STR(""));
        if (items[i] == HS_NO_ID)
            hs_buf_put(out, HS_STR("null"));
        else
            hs_buf_printf(out, "%u", items[i]);
    }
    hs_json_close(out, '[');
}
