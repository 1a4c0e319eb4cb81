/* plan_read_tokens.c - tokens of a plan, and what is wrong with them. */
#include "replay/plan_reading.h"

#include "base/limits.h"

#include <stdarg.h>

static unsigned long long line_at(const struct hs_plan_reading *r, uint64_t offset)
{
    unsigned long long line = 1;

    for (uint64_t i = 0; i < offset && i < r->text.n; i++)
        line += r->text.p[i] == '\n';
    return line;
}

bool hs_reading_wrong(struct hs_plan_reading *r, const char *fmt, ...)
{
    char text[384];
    va_list args;

    if (r->status != HS_OK)
        return false;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    r->status =
        hs_fail(r->err, HS_EUSAGE, "%s:%llu: %s", r->name, line_at(r, r->token.offset_bytes), text);
    return false;
}

bool hs_reading_no_memory(struct hs_plan_reading *r)
{
    if (r->status == HS_OK)
        r->status = hs_no_memory(r->err);
    return false;
}

bool hs_reading_next(struct hs_plan_reading *r)
{
    if (r->status != HS_OK)
        return false;
    r->kind = hs_json_next(&r->json, &r->token);
    if (r->kind != HS_JSON_ERROR)
        return true;
    r->token.offset_bytes = r->json.error_offset_bytes;
    return hs_reading_wrong(r, "%s: %s", r->json.code, r->json.what);
}

bool hs_reading_expect(struct hs_plan_reading *r, enum hs_json_kind kind, const char *what)
{
    if (!hs_reading_next(r))
        return false;
    return r->kind == kind || hs_reading_wrong(r, "%s is expected here", what);
}

bool hs_reading_more(struct hs_plan_reading *r, enum hs_json_kind end)
{
    return hs_reading_next(r) && r->kind != end;
}

bool hs_reading_as_number(struct hs_plan_reading *r, uint64_t max, const char *what, uint32_t *out)
{
    if (r->kind != HS_JSON_INT || r->token.i < 0 || (uint64_t)r->token.i > max)
        return hs_reading_wrong(r, "%s: a number from 0 to %llu is expected", what,
                                (unsigned long long)max);
    *out = (uint32_t)r->token.i;
    return true;
}

bool hs_reading_take_number(struct hs_plan_reading *r, uint64_t max, const char *what,
                            uint32_t *out)
{
    return hs_reading_next(r) && hs_reading_as_number(r, max, what, out);
}

bool hs_reading_as_string(struct hs_plan_reading *r, const char *what, uint32_t *out)
{
    struct hs_str text = r->token.text;

    if (r->kind != HS_JSON_STRING)
        return hs_reading_wrong(r, "%s: a text is expected", what);
    if (text.n > HS_NAME_BYTES_MAX)
        return hs_reading_wrong(r, "%s: a text of over %u bytes", what, HS_NAME_BYTES_MAX);
    if (r->token.escaped)
        text = hs_json_unescape(&r->texts, text);
    *out = text.p ? hs_intern_put(&r->plan->strings, text) : HS_NO_ID;
    hs_arena_reset(&r->texts);
    return *out != HS_NO_ID || hs_reading_no_memory(r);
}

bool hs_reading_take_string(struct hs_plan_reading *r, const char *what, uint32_t *out)
{
    return hs_reading_next(r) && hs_reading_as_string(r, what, out);
}

bool hs_reading_take_flag(struct hs_plan_reading *r, const char *what, bool *out)
{
    if (!hs_reading_next(r))
        return false;
    if (r->kind != HS_JSON_TRUE && r->kind != HS_JSON_FALSE)
        return hs_reading_wrong(r, "%s: true or false is expected", what);
    *out = r->kind == HS_JSON_TRUE;
    return true;
}

bool hs_reading_take_key(struct hs_plan_reading *r, const char *const *keys, size_t count,
                         size_t *out)
{
    if (!hs_reading_more(r, HS_JSON_OBJECT_END))
        return false;
    for (*out = 0; *out < count; (*out)++) {
        if (hs_str_is(r->token.text, keys[*out]))
            return true;
    }
    return hs_reading_wrong(r, "there is no key \"%.*s\" here",
                            (int)(r->token.text.n < 60 ? r->token.text.n : 60), r->token.text.p);
}
