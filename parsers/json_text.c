/* json_text.c - JSON documents whose statements become events. */
#include "parsers/json_text.h"

#include <stdlib.h>

void *hs_json_text_begin(struct hs_parse *px)
{
    struct hs_json_text *doc = calloc(1, sizeof(*doc));

    if (!doc)
        return NULL;
    doc->text = hs_text_stream.begin(px);
    if (!doc->text) {
        free(doc);
        return NULL;
    }
    hs_buf_init(&doc->bytes);
    hs_arena_init(&doc->arena);
    return doc;
}

bool hs_json_text_feed(void *self, struct hs_str bytes)
{
    struct hs_json_text *doc = self;
    size_t room = HS_SOURCE_BYTES_MAX - doc->bytes.n;

    hs_buf_put(&doc->bytes, (struct hs_str){ .p = bytes.p, .n = bytes.n < room ? bytes.n : room });
    return !doc->bytes.failed;
}

/* Say where a document is cut or no JSON. */
static bool diagnose(struct hs_json_text *doc, const char *begin)
{
    struct hs_json *json = &doc->json;
    uint64_t offset = (uint64_t)(json->begin - begin) + json->error_offset_bytes;
    const char *code = json->code;

    if (strcmp(code, "cut-short") == 0 && doc->text->px->cut_code)
        return true; /* the source says so itself */
    return hs_parse_diagnose(doc->text->px, code, offset, HS_NO_POSITION, hs_str_of(json->what));
}

bool hs_json_text_end(struct hs_json_text *doc, void (*read)(struct hs_json_text *doc))
{
    struct hs_str bytes = hs_buf_str(&doc->bytes);
    struct hs_text *text = doc->text;
    bool ok;

    hs_record_clear(&doc->head);
    text->speaker = hs_text_speaker(text, &doc->head);
    doc->line = 1;
    doc->at = bytes.p;
    hs_json_init(&doc->json, bytes);
    while (text->speaker != HS_NO_ID && !text->no_memory) {
        size_t left;

        read(doc);
        if (doc->json.code)
            break;
        left = hs_json_left(&doc->json);
        if (left == 0)
            break;
        hs_json_init(&doc->json, (struct hs_str){ .p = bytes.p + bytes.n - left, .n = left });
    }
    ok = !text->no_memory && (!doc->json.code || diagnose(doc, bytes.p));
    ok = hs_text_stream.end(text) && ok;
    hs_buf_release(&doc->bytes);
    hs_arena_release(&doc->arena);
    free(doc);
    return ok;
}

enum hs_json_kind hs_json_text_next(struct hs_json_text *doc)
{
    return hs_json_next(&doc->json, &doc->token);
}

bool hs_json_text_skip(struct hs_json_text *doc, enum hs_json_kind kind)
{
    uint32_t depth = 0;

    for (;; kind = hs_json_text_next(doc)) {
        switch (kind) {
        case HS_JSON_OBJECT:
        case HS_JSON_ARRAY:
            depth++;
            break;
        case HS_JSON_OBJECT_END:
        case HS_JSON_ARRAY_END:
            depth--;
            break;
        case HS_JSON_ERROR:
        case HS_JSON_END:
            return false;
        default:
            break;
        }
        if (depth == 0)
            return true;
    }
}

bool hs_json_text_is(const struct hs_json_text *doc, const char *key)
{
    return hs_str_is(doc->token.text, key);
}

struct hs_str hs_json_text_value(struct hs_json_text *doc, enum hs_json_kind kind)
{
    struct hs_str text = doc->token.text;

    switch (kind) {
    case HS_JSON_STRING:
        if (!doc->token.escaped)
            return text;
        text = hs_json_unescape(&doc->arena, text);
        doc->text->no_memory = doc->text->no_memory || !text.p;
        return text;
    case HS_JSON_INT:
    case HS_JSON_BIG:
    case HS_JSON_FLOAT:
    case HS_JSON_TRUE:
    case HS_JSON_FALSE:
        return text;
    default:
        return (struct hs_str){ .p = NULL };
    }
}

void hs_json_text_mark(struct hs_json_text *doc)
{
    const char *to = doc->json.begin + doc->token.offset_bytes;
    size_t room = (size_t)(doc->json.end - to);
    const char *stop;

    for (const char *at; doc->at < to && (at = memchr(doc->at, '\n', (size_t)(to - doc->at)));) {
        doc->line++;
        doc->at = at + 1;
    }
    room = room < HS_TEXT_LINE_BYTES_MAX ? room : HS_TEXT_LINE_BYTES_MAX;
    stop = memchr(to, '\n', room);
    stop = stop ? stop : to + room;
    doc->head.line = doc->line;
    doc->head.segment = (struct hs_str){ .p = doc->at, .n = (size_t)(stop - doc->at) };
    if (doc->head.segment.n > HS_TEXT_LINE_BYTES_MAX) /* all in one line */
        doc->head.segment = (struct hs_str){ .p = to, .n = (size_t)(stop - to) };
    hs_records_keep(doc->text, &doc->head);
}

unsigned hs_json_text_probe(struct hs_str head, char opening, const char *const *words,
                            unsigned count)
{
    unsigned bits = 0;
    size_t i = 0;

    while (i < head.n &&
           (head.p[i] == ' ' || head.p[i] == '\n' || head.p[i] == '\t' || head.p[i] == '\r'))
        i++;
    if (i == head.n || head.p[i] != opening)
        return 0;
    for (unsigned w = 0; w < count; w++) {
        if (!hs_str_has(head, words[w]))
            return 0;
        bits += 8 * (unsigned)strlen(words[w]);
    }
    return 8 + bits;
}
