#include "base/json.h"

#include <math.h>
#include <stdlib.h>

enum expect { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COMMA_OR_END, NOTHING };

void hs_json_init(struct hs_json *json, struct hs_str bytes)
{
    const char *begin = bytes.n > 0 ? bytes.p : "";

    *json = (struct hs_json){ .begin = begin, .at = begin, .end = begin + bytes.n };
    if (hs_str_starts(bytes, HS_STR("\xef\xbb\xbf")))
        json->at += 3;
}

static enum hs_json_kind fail(struct hs_json *json, const char *code, const char *at,
                              const char *what)
{
    json->code = code;
    json->what = what;
    json->error_offset_bytes = (uint64_t)(at - json->begin);
    return HS_JSON_ERROR;
}

static enum hs_json_kind cut(struct hs_json *json, const char *at)
{
    return fail(json, "cut-short", at, "the document ends before it is complete");
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *hs_json_skip_space(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

size_t hs_json_left(const struct hs_json *json)
{
    return (size_t)(json->end - hs_json_skip_space(json->at, json->end));
}

static bool in_object(const struct hs_json *json)
{
    return json->depth > 0 && (json->objects[json->depth / 64] >> json->depth % 64 & 1);
}

static void value_done(struct hs_json *json)
{
    json->expect = json->depth > 0 ? COMMA_OR_END : NOTHING;
}

static enum hs_json_kind open_container(struct hs_json *json, bool object)
{
    uint64_t bit;

    if (json->depth == HS_VALUE_DEPTH_MAX)
        return fail(json, "limit", json->at, "too many containers inside one another");
    json->depth++;
    bit = 1ull << json->depth % 64;
    json->objects[json->depth / 64] &= ~bit;
    json->objects[json->depth / 64] |= object ? bit : 0;
    json->at++;
    json->expect = object ? KEY_OR_END : VALUE_OR_END;
    return object ? HS_JSON_OBJECT : HS_JSON_ARRAY;
}

static enum hs_json_kind close_container(struct hs_json *json)
{
    bool object = in_object(json);

    json->at++;
    json->depth--;
    value_done(json);
    return object ? HS_JSON_OBJECT_END : HS_JSON_ARRAY_END;
}

uint32_t hs_json_hex(const char *digits, size_t count)
{
    uint32_t value = 0;

    for (size_t i = 0; i < count; i++) {
        char c = digits[i], low = (char)(c | 0x20);

        if (!is_digit(c) && (low < 'a' || low > 'f'))
            return UINT32_MAX;
        value = value << 4 | (uint32_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return value;
}

/* How many bytes the escape at `at` (a backslash) has; 0 when it is none, SIZE_MAX when cut. */
static size_t escape_len(const char *at, const char *end)
{
    if (end - at < 2)
        return SIZE_MAX;
    if (at[1] != 'u')
        return at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    if (end - at >= 6)
        return hs_json_hex(at + 2, 4) == UINT32_MAX ? 0 : 6;
    return hs_json_hex(at + 2, (size_t)(end - at) - 2) == UINT32_MAX ? 0 : SIZE_MAX;
}

/* The string whose opening quote is at json->at: its text into `token`. */
static bool take_string(struct hs_json *json, struct hs_json_token *token)
{
    const char *open = json->at, *at = open + 1;

    token->escaped = false;
    while (at < json->end && *at != '"') {
        size_t n = 1;

        if ((unsigned char)*at < 0x20) {
            (void)fail(json, "malformed", at, "a control character inside a string");
            return false;
        }
        if (*at == '\\') {
            token->escaped = true;
            n = escape_len(at, json->end);
            if (n == SIZE_MAX)
                break;
            if (n == 0) {
                (void)fail(json, "malformed", at, "an escape that JSON does not know");
                return false;
            }
        }
        at += n;
    }
    if (at >= json->end || *at != '"') {
        (void)cut(json, open);
        return false;
    }
    token->text = (struct hs_str){ .p = open + 1, .n = (size_t)(at - open) - 1 };
    json->at = at + 1;
    return true;
}

static enum hs_json_kind take_key(struct hs_json *json, struct hs_json_token *token)
{
    const char *open = json->at;

    if (*open != '"')
        return fail(json, "malformed", open, "a key in quotes was expected");
    if (!take_string(json, token))
        return HS_JSON_ERROR;
    json->at = hs_json_skip_space(json->at, json->end);
    if (json->at == json->end)
        return cut(json, open);
    if (*json->at != ':')
        return fail(json, "malformed", json->at, "a colon was expected");
    json->at++;
    json->expect = VALUE;
    return HS_JSON_KEY;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* Past the number at `at`, or NULL when there is none; `integer` says which sort. */
static const char *number_end(const char *at, const char *end, bool *integer)
{
    const char *digits;

    *integer = true;
    at += at < end && *at == '-';
    digits = at;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at > digits + 1))
        return NULL;
    if (at < end && *at == '.') {
        *integer = false;
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits)
            return NULL;
    }
    if (at < end && (*at | 0x20) == 'e') {
        *integer = false;
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return NULL;
    }
    return at;
}

static bool read_integer(struct hs_str text, int64_t *out)
{
    bool negative = text.p[0] == '-';
    int64_t value = 0;

    for (size_t i = negative; i < text.n; i++) {
        int digit = text.p[i] - '0';

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *out = negative ? value : -value;
    return true;
}

/* What `text`, of the grammar of a number, is worth. No locale is ever set, so strtod() is C's. */
static enum hs_json_kind read_number(struct hs_str text, bool integer, struct hs_json_token *token)
{
    char copy[HS_NUMBER_DIGITS_MAX + 1];

    token->text = text;
    if (integer)
        return read_integer(text, &token->i) ? HS_JSON_INT : HS_JSON_BIG;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    token->f = strtod(copy, NULL);
    return HS_JSON_FLOAT;
}

enum hs_json_kind hs_json_number(struct hs_str text, struct hs_json_token *token)
{
    bool integer;

    if (text.n == 0 || text.n > HS_NUMBER_DIGITS_MAX ||
        number_end(text.p, text.p + text.n, &integer) != text.p + text.n)
        return HS_JSON_ERROR;
    return read_number(text, integer, token);
}

/* A number, or cut-short when more of it might have followed the end of the input. */
static enum hs_json_kind take_number(struct hs_json *json, struct hs_json_token *token)
{
    const char *open = json->at;
    bool integer;
    const char *end = number_end(open, json->end, &integer);
    const char *last = open;

    while (last < json->end && *last != '\0' && strchr("+-.0123456789eE", *last))
        last++;
    if (last == json->end && (json->depth > 0 || !end))
        return cut(json, open);
    if (!end)
        return fail(json, "malformed", open, "a number that JSON does not know");
    if (end - open > (ptrdiff_t)HS_NUMBER_DIGITS_MAX)
        return fail(json, "limit", open, "a number of too many digits");
    json->at = end;
    value_done(json);
    return read_number((struct hs_str){ .p = open, .n = (size_t)(end - open) }, integer, token);
}

static const struct {
    const char *text;
    enum hs_json_kind kind;
    double f;
} words[] = {
    { "true", HS_JSON_TRUE, 0 },
    { "false", HS_JSON_FALSE, 0 },
    { "null", HS_JSON_NULL, 0 },
    { "NaN", HS_JSON_FLOAT, NAN },
    { "Infinity", HS_JSON_FLOAT, INFINITY },
    { "-Infinity", HS_JSON_FLOAT, -INFINITY },
};

static enum hs_json_kind take_word(struct hs_json *json, struct hs_json_token *token)
{
    struct hs_str rest = { .p = json->at, .n = (size_t)(json->end - json->at) };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct hs_str word = hs_str_of(words[i].text);

        if (hs_str_starts(rest, word)) {
            token->text = (struct hs_str){ .p = rest.p, .n = word.n };
            token->f = words[i].f;
            json->at += word.n;
            value_done(json);
            return words[i].kind;
        }
        if (hs_str_starts(word, rest))
            return cut(json, rest.p);
    }
    return fail(json, "malformed", rest.p, "a value was expected");
}

static enum hs_json_kind take_value(struct hs_json *json, struct hs_json_token *token)
{
    char c = *json->at;

    if (c == '{' || c == '[')
        return open_container(json, c == '{');
    if (c == '"') {
        if (!take_string(json, token))
            return HS_JSON_ERROR;
        value_done(json);
        return HS_JSON_STRING;
    }
    if (is_digit(c) || (c == '-' && (json->end - json->at < 2 || json->at[1] != 'I')))
        return take_number(json, token);
    return take_word(json, token);
}

/* Past the comma that must follow a value inside a container. */
static bool take_comma(struct hs_json *json)
{
    if (*json->at != ',') {
        (void)fail(json, "malformed", json->at, "a comma or a closing bracket was expected");
        return false;
    }
    json->expect = in_object(json) ? KEY : VALUE;
    json->at = hs_json_skip_space(json->at + 1, json->end);
    return true;
}

enum hs_json_kind hs_json_next(struct hs_json *json, struct hs_json_token *token)
{
    bool may_end =
        json->expect == KEY_OR_END || json->expect == VALUE_OR_END || json->expect == COMMA_OR_END;

    if (json->code)
        return HS_JSON_ERROR;
    if (json->expect == NOTHING)
        return HS_JSON_END;
    json->at = hs_json_skip_space(json->at, json->end);
    if (json->at < json->end && may_end && *json->at == (in_object(json) ? '}' : ']')) {
        token->offset_bytes = (uint64_t)(json->at - json->begin);
        return close_container(json);
    }
    if (json->at < json->end && json->expect == COMMA_OR_END && !take_comma(json))
        return HS_JSON_ERROR;
    if (json->at == json->end)
        return cut(json, json->at);
    token->offset_bytes = (uint64_t)(json->at - json->begin);
    token->escaped = false;
    if (json->expect == KEY || json->expect == KEY_OR_END)
        return take_key(json, token);
    return take_value(json, token);
}

size_t hs_json_put_utf8(char *to, uint32_t code_point)
{
    unsigned char *out = (unsigned char *)to;

    if (code_point < 0x80) {
        out[0] = (unsigned char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (unsigned char)(0xc0 | code_point >> 6);
        out[1] = (unsigned char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (unsigned char)(0xe0 | code_point >> 12);
        out[1] = (unsigned char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (unsigned char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (unsigned char)(0xf0 | code_point >> 18);
    out[1] = (unsigned char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (unsigned char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (unsigned char)(0x80 | (code_point & 0x3f));
    return 4;
}

/* The character of the \uXXXX at the head of `text`, with the second half of a pair if one follows;
 * `used` is how many bytes that took. */
static uint32_t take_code_point(struct hs_str text, size_t *used)
{
    uint32_t first = hs_json_hex(text.p + 2, 4), second;

    *used = 6;
    if (first < 0xd800 || first > 0xdbff || text.n < 12 || text.p[6] != '\\' || text.p[7] != 'u')
        return first;
    second = hs_json_hex(text.p + 8, 4);
    if (second < 0xdc00 || second > 0xdfff)
        return first;
    *used = 12;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

struct hs_str hs_json_unescape(struct hs_arena *arena, struct hs_str text)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char *out = hs_arena_alloc(arena, text.n + 1, 1); /* an escape is never shorter than its text */
    size_t n = 0;

    for (size_t i = 0; out && i < text.n;) {
        const char *letter;

        if (text.p[i] != '\\' || text.n - i < 2) {
            out[n++] = text.p[i++];
        } else if (text.p[i + 1] == 'u' && text.n - i >= 6) {
            size_t used;
            uint32_t c =
                take_code_point((struct hs_str){ .p = text.p + i, .n = text.n - i }, &used);

            n += hs_json_put_utf8(out + n, c);
            i += used;
        } else {
            letter = strchr(letters, text.p[i + 1]);
            out[n] = text.p[i + 1];
            if (letter && *letter)
                out[n] = meant[letter - letters];
            n++;
            i += 2;
        }
    }
    return (struct hs_str){ .p = out, .n = n };
}
