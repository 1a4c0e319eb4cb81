/* json_out.h - JSON written piece by piece into a buffer; for what is too large for a tree. */
#ifndef HS_ANALYZER_JSON_OUT_H
#define HS_ANALYZER_JSON_OUT_H

#include "schema/verdict.h"

/* `open` has the bracket: '{' or '['. Keys are NULL in lists. Commas come by themselves. */
void hs_json_open(struct hs_buf *out, const char *key, char bracket);
void hs_json_close(struct hs_buf *out, char bracket);
void hs_json_text(struct hs_buf *out, const char *key, struct hs_str text); /* .p NULL: null */
void hs_json_word(struct hs_buf *out, const char *key, const char *word);   /* NULL: null */
void hs_json_u64(struct hs_buf *out, const char *key, uint64_t value);      /* HS_UNKNOWN: null */
void hs_json_id(struct hs_buf *out, const char *key, uint32_t id);          /* HS_NO_ID: null */
void hs_json_i64(struct hs_buf *out, const char *key, int64_t value);
void hs_json_bool(struct hs_buf *out, const char *key, bool value);
void hs_json_phrase(struct hs_buf *out, const char *key, const struct hs_phrase *phrase,
                    enum hs_language language); /* .key NULL: null */

/* Sorted ranks as "0-7,12"; and any numbers as a list. */
void hs_json_ranks(struct hs_buf *out, const char *key, const uint32_t *ranks, uint32_t count);
void hs_json_list(struct hs_buf *out, const char *key, const uint32_t *items, uint32_t count);

/* A key before text that is JSON already. */
void hs_json_key(struct hs_buf *out, const char *key);

#endif
