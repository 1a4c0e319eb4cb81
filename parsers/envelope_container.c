/*
 * envelope_container.c - lines as container runtimes keep them: docker's JSON objects, and those of
 * shippers that look alike; CRI's "time stream F text".
 */
#include "base/json.h"
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

/* What a member of the object means, by its key. */
enum member { MEMBER_TEXT, MEMBER_LOG, MEMBER_TIME, MEMBER_STREAM, MEMBER_PART };

static const struct {
    struct hs_str key;
    enum member member;
} members[] = {
    { { "log", 3 }, MEMBER_LOG },        { { "stream", 6 }, MEMBER_STREAM },
    { { "time", 4 }, MEMBER_TIME },      { { "message", 7 }, MEMBER_TEXT },
    { { "MESSAGE", 7 }, MEMBER_TEXT },   { { "textPayload", 11 }, MEMBER_TEXT },
    { { "timestamp", 9 }, MEMBER_TIME }, { { "@timestamp", 10 }, MEMBER_TIME },
    { { "logtag", 6 }, MEMBER_PART },    { { "_p", 2 }, MEMBER_PART },
};

static void skip_space(struct hs_cursor *in)
{
    while (in->at < in->end && (hs_is_blank(*in->at) || *in->at == '\r' || *in->at == '\n'))
        in->at++;
}

/* What stands between quotes. A string that is cut short reaches to the end, and `cut` is set. */
static bool take_string(struct hs_cursor *in, struct hs_str *out, bool *cut)
{
    const char *at = in->at;

    if (at == in->end || *at++ != '"')
        return false;
    *out = (struct hs_str){ .p = at };
    for (; at < in->end && *at != '"'; at++) {
        if (*at == '\\' && in->end - at > 1)
            at++;
    }
    *cut = at == in->end;
    out->n = (size_t)(at - out->p);
    in->at = *cut ? at : at + 1;
    return true;
}

/* Any other value; containers by counting brackets. */
static bool skip_value(struct hs_cursor *in)
{
    struct hs_str ignored;
    size_t depth = 0;
    bool cut;

    while (in->at < in->end) {
        char c = *in->at;

        if (c == '"') {
            if (!take_string(in, &ignored, &cut) || cut)
                return false;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}'))
            return true;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        in->at++;
    }
    return false;
}

struct object {
    struct hs_opened opened;
    bool has_text, has_log, has_frame, has_part; /* has_frame: a time or stream */
};

static void keep_member(struct object *object, struct hs_str key, struct hs_str value)
{
    struct hs_opened *opened = &object->opened;
    size_t i = 0;

    while (i < sizeof(members) / sizeof(members[0]) && !hs_str_eq(members[i].key, key))
        i++;
    if (i == sizeof(members) / sizeof(members[0]))
        return;
    switch (members[i].member) {
    case MEMBER_LOG:
        object->has_log = true;
        object->has_text = true;
        opened->body = value;
        break;
    case MEMBER_TEXT:
        if (!object->has_text)
            opened->body = value;
        object->has_text = true;
        break;
    case MEMBER_TIME:
        object->has_frame |= hs_clock_read(value, &opened->stamp) > 0;
        break;
    case MEMBER_STREAM:
        object->has_frame = true;
        opened->stream = hs_str_is(value, "stderr");
        break;
    case MEMBER_PART:
        object->has_part = true;
        opened->partial = hs_str_is(value, "P");
        break;
    }
}

/* A flat object with a text and a time or stream. Of one that is cut in its text, that text. */
static bool take_object(struct hs_cursor *in, struct hs_opened *out)
{
    struct object object = { .opened.escaped = true };
    struct hs_cursor at = *in;
    struct hs_str key, value;
    bool cut = false;

    if (!hs_take_byte(&at, '{'))
        return false;
    do {
        skip_space(&at);
        if (!take_string(&at, &key, &cut) || cut)
            break;
        skip_space(&at);
        if (!hs_take_byte(&at, ':'))
            break;
        skip_space(&at);
        if (take_string(&at, &value, &cut))
            keep_member(&object, key, value);
        else if (!skip_value(&at))
            break;
        skip_space(&at);
    } while (!cut && hs_take_byte(&at, ','));
    if (!object.has_text || (!object.has_frame && !(object.has_log && at.at == at.end)))
        return false;
    if (!hs_take_byte(&at, '}') && at.at < at.end)
        return false;
    object.opened.until_newline = object.has_log && object.has_frame && !object.has_part;
    *out = object.opened;
    *in = at;
    return true;
}

/* 2025-11-18T20:32:23.957466207Z stderr F text */
static bool take_cri(struct hs_cursor *in, struct hs_opened *out)
{
    struct hs_cursor at = *in;
    struct hs_opened opened = { .stream = 0 };
    size_t n;

    if (at.end - at.at < 20 || at.at[10] != 'T')
        return false;
    n = hs_clock_read(hs_rest(&at), &opened.stamp);
    at.at += n;
    if (!n || !(opened.stamp.clock & HS_CLOCK_ZONE))
        return false;
    if (hs_take_text(&at, " stderr "))
        opened.stream = 1;
    else if (!hs_take_text(&at, " stdout "))
        return false;
    opened.partial = hs_take_byte(&at, 'P');
    if ((!opened.partial && !hs_take_byte(&at, 'F')) || (at.at < at.end && !hs_take_byte(&at, ' ')))
        return false;
    opened.body = hs_rest(&at);
    at.at = at.end;
    *out = opened;
    *in = at;
    return true;
}

static bool take_container(struct hs_cursor *in, struct hs_opened *out)
{
    if (in->at == in->end)
        return false;
    if (*in->at == '{')
        return take_object(in, out);
    return hs_is_digit(*in->at) && take_cri(in, out);
}

bool hs_envelope_open(const struct hs_envelope *envelope, struct hs_str line, struct hs_opened *out)
{
    struct hs_cursor in = { .at = line.p, .end = line.p + line.n };
    struct hs_record ignored;
    bool found = take_container(&in, out);
    struct hs_str prefix = { .p = line.p };

    if (!found && (envelope->prefixed || hs_str_starts(line, HS_STR("[pod/")))) {
        hs_record_clear(&ignored);
        while (!found && hs_take_prefix(&in, envelope, true, &ignored)) {
            prefix.n = (size_t)(in.at - line.p);
            found = take_container(&in, out);
        }
    }
    if (!found)
        return false;
    out->prefix = prefix;
    out->rest = hs_rest(&in);
    /* docker's object inside a line of CRI's */
    if (!out->escaped && out->body.n && out->body.p[0] == '{') {
        struct hs_opened inner;

        in = (struct hs_cursor){ .at = out->body.p, .end = out->body.p + out->body.n };
        if (take_object(&in, &inner)) {
            inner.prefix = prefix;
            inner.rest = hs_rest(&in);
            *out = inner;
        }
    }
    return true;
}

static uint32_t take_unicode(const char **at, const char *end)
{
    uint32_t high, low;

    if (end - *at < 4 || (high = hs_json_hex(*at, 4)) == UINT32_MAX)
        return UINT32_MAX;
    *at += 4;
    if (high < 0xD800 || high > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return high;
    low = hs_json_hex(*at + 2, 4);
    if (low == UINT32_MAX || low < 0xDC00 || low > 0xDFFF)
        return high;
    *at += 6;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

void hs_envelope_unescape(struct hs_buf *to, struct hs_str text)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *at = text.p, *end = text.p + text.n;

    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at)), *known;
        const char *stop = slash ? slash : end;

        hs_buf_put(to, (struct hs_str){ .p = at, .n = (size_t)(stop - at) });
        at = stop;
        if (end - at < 2) { /* what is cut of an escape is no text */
            if (at < end)
                at = end;
            continue;
        }
        at += 2;
        known = at[-1] ? strchr(plain, at[-1]) : NULL;
        if (known) {
            hs_buf_putc(to, meant[known - plain]);
        } else if (at[-1] == 'u') {
            uint32_t code_point = take_unicode(&at, end);
            char utf8[4];

            if (code_point != UINT32_MAX)
                hs_buf_put(to,
                           (struct hs_str){ .p = utf8, .n = hs_json_put_utf8(utf8, code_point) });
            else
                hs_buf_put(to, (struct hs_str){ .p = at - 2, .n = 2 });
        } else {
            hs_buf_put(to, (struct hs_str){ .p = at - 2, .n = 2 });
        }
    }
}
