/*
 * json.h - a pull tokenizer over a JSON document that is whole in memory. No tree, no recursion.
 *
 * Strict where leniency would invent data; lenient where Python's json is (NaN, Infinity) and about
 * a byte order mark. Bytes of strings are handed on as they are, valid UTF-8 or not.
 */
#ifndef HS_BASE_JSON_H
#define HS_BASE_JSON_H

#include "base/arena.h"
#include "base/limits.h"

enum hs_json_kind {
    HS_JSON_END, /* the document is complete; what follows it in the input is the caller's */
    HS_JSON_OBJECT,
    HS_JSON_OBJECT_END,
    HS_JSON_ARRAY,
    HS_JSON_ARRAY_END,
    HS_JSON_KEY,    /* .text */
    HS_JSON_STRING, /* .text */
    HS_JSON_INT,    /* .i */
    HS_JSON_BIG,    /* an integer beyond 64 bits: .text holds its digits */
    HS_JSON_FLOAT,  /* .f */
    HS_JSON_TRUE,
    HS_JSON_FALSE,
    HS_JSON_NULL,
    HS_JSON_ERROR, /* json->code and its friends say why; there is no way on */
};

struct hs_json_token {
    struct hs_str text; /* KEY, STRING: between the quotes. Else the bytes of the token */
    uint64_t offset_bytes;
    bool escaped; /* KEY, STRING: text holds escapes, see hs_json_unescape() */
    union {
        int64_t i;
        double f;
    };
};

struct hs_json {
    const char *begin, *at, *end;
    uint64_t objects[HS_VALUE_DEPTH_MAX / 64 + 1]; /* bit d: the container open at depth d */
    uint32_t depth;
    uint8_t expect;
    const char *code;            /* after HS_JSON_ERROR: "cut-short", "malformed" or "limit" */
    const char *what;            /* a few words for people */
    uint64_t error_offset_bytes; /* where the thing begins that is wrong or incomplete */
};

void hs_json_init(struct hs_json *json, struct hs_str bytes);
enum hs_json_kind hs_json_next(struct hs_json *json, struct hs_json_token *token);

/* The first byte from `at` on that is no white space; `end` when there is none. */
const char *hs_json_skip_space(const char *at, const char *end);

/* Bytes that follow the complete document, white space aside. */
size_t hs_json_left(const struct hs_json *json);

/*
 * The text of an escaped string. Surrogate pairs become one character; a lone surrogate becomes its
 * three bytes (WTF-8), so that different names stay different. .p is NULL without memory.
 */
struct hs_str hs_json_unescape(struct hs_arena *arena, struct hs_str text);

/*
 * Read a JSON number that fills `text`: INT, BIG or FLOAT, and the value into `token`. ERROR when
 * it is no number or has more than HS_NUMBER_DIGITS_MAX characters.
 */
enum hs_json_kind hs_json_number(struct hs_str text, struct hs_json_token *token);

/* Append `code_point` as UTF-8 (surrogates too) to `to`; how many bytes that took, at most 4. */
size_t hs_json_put_utf8(char *to, uint32_t code_point);

/* The value of `count` hexadecimal digits, or UINT32_MAX when they are not. */
uint32_t hs_json_hex(const char *digits, size_t count);

#endif
