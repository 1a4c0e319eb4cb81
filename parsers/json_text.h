/*
 * json_text.h - JSON documents whose statements become events, as if they were lines of text: a
 * stream that holds the document and reads it at its end.
 */
#ifndef HS_PARSERS_JSON_TEXT_H
#define HS_PARSERS_JSON_TEXT_H

#include "base/json.h"
#include "parsers/records_internal.h"

/* Where the reader of a document is. */
struct hs_json_text {
    struct hs_text *text;
    struct hs_buf bytes;
    struct hs_json json;
    struct hs_json_token token; /* the newest one */
    struct hs_arena arena;      /* of texts that had escapes; reset by the reader */
    uint64_t line;              /* that `at` is in, from 1 */
    const char *at;
    struct hs_record head; /* of the event that is said */
};

void *hs_json_text_begin(struct hs_parse *px);
bool hs_json_text_feed(void *self, struct hs_str bytes);

/* Read the documents that there are with `read`, which stops at HS_JSON_ERROR, and release. */
bool hs_json_text_end(struct hs_json_text *doc, void (*read)(struct hs_json_text *doc));

enum hs_json_kind hs_json_text_next(struct hs_json_text *doc);

/* Pass over a value whose first token is `kind`. False at the end of what can be read. */
bool hs_json_text_skip(struct hs_json_text *doc, enum hs_json_kind kind);

/* Is the newest token (a key) this one? */
bool hs_json_text_is(const struct hs_json_text *doc, const char *key);

/* The newest token as text: a string without escapes, or a number, true, false as they stand; p
 * NULL: none. Valid until the arena is reset. */
struct hs_str hs_json_text_value(struct hs_json_text *doc, enum hs_json_kind kind);

/* The line of the newest token is where the next event stands: it is kept, too. */
void hs_json_text_mark(struct hs_json_text *doc);

/* Whether `head` begins with a JSON document, and how many bits the words in it prove. */
unsigned hs_json_text_probe(struct hs_str head, char opening, const char *const *words,
                            unsigned count);

#endif
