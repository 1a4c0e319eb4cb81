#include "parsers/json_value.h"

#include "base/json.h"
#include "parsers/value_build.h"

struct reader {
    struct hs_builder b;
    struct hs_json json;
    struct hs_json_token token;
};

static bool push_text(struct reader *r)
{
    struct hs_str text = r->token.text;

    if (r->token.escaped)
        text = hs_json_unescape(&r->b.doc->texts, text);
    if (!text.p)
        return hs_builder_no_memory(&r->b);
    return hs_builder_push(&r->b, hs_builder_text(&r->b, text));
}

/* A value is complete; in the streamed list that makes it an element. */
static bool value_done(struct reader *r)
{
    return r->b.mark_count != r->b.stream_mark || hs_builder_hand_out(&r->b);
}

static bool open_container(struct reader *r, enum hs_value_kind kind)
{
    return hs_builder_push_container(&r->b, kind) && hs_builder_open(&r->b);
}

static bool close_container(struct reader *r)
{
    uint32_t n = r->b.count - hs_builder_close(&r->b);

    return hs_builder_move_items(&r->b, r->b.stack + r->b.count - n - 1, n) && value_done(r);
}

static bool push(struct reader *r, struct hs_value value)
{
    return hs_builder_push(&r->b, value) && value_done(r);
}

static bool take(struct reader *r, enum hs_json_kind kind)
{
    switch (kind) {
    case HS_JSON_OBJECT:
        return open_container(r, HS_VALUE_DICT);
    case HS_JSON_ARRAY:
        return open_container(r, HS_VALUE_LIST);
    case HS_JSON_OBJECT_END:
    case HS_JSON_ARRAY_END:
        return close_container(r);
    case HS_JSON_KEY:
        return push_text(r);
    case HS_JSON_STRING:
        return push_text(r) && value_done(r);
    case HS_JSON_INT:
        return push(r, (struct hs_value){ .kind = HS_VALUE_INT, .i = r->token.i });
    case HS_JSON_BIG:
        return push(r, (struct hs_value){ .kind = HS_VALUE_BIG });
    case HS_JSON_FLOAT:
        return push(r, (struct hs_value){ .kind = HS_VALUE_FLOAT, .f = r->token.f });
    case HS_JSON_TRUE:
    case HS_JSON_FALSE:
        return push(r, (struct hs_value){ .kind = HS_VALUE_BOOL, .i = kind == HS_JSON_TRUE });
    default:
        return push(r, (struct hs_value){ .kind = HS_VALUE_NONE });
    }
}

/* Token by token. True at the end of the document. */
static bool run(struct reader *r)
{
    enum hs_json_kind kind;

    do {
        kind = hs_json_next(&r->json, &r->token);
        r->b.offset_bytes =
            kind == HS_JSON_ERROR ? r->json.error_offset_bytes : r->token.offset_bytes;
        if (kind == HS_JSON_ERROR)
            return hs_builder_fail(&r->b, r->json.code, "%s", r->json.what);
        if (kind == HS_JSON_END)
            return true;
    } while (take(r, kind));
    return false;
}

bool hs_json_value_read(struct hs_document *doc, struct hs_str bytes,
                        const struct hs_document_consumer *consumer, struct hs_value *top,
                        struct hs_trouble *trouble)
{
    struct reader r;
    bool complete = false;

    *top = (struct hs_value){ .kind = HS_VALUE_NONE };
    hs_json_init(&r.json, bytes);
    if (!hs_builder_init(&r.b, doc, consumer, trouble))
        complete = false;
    else if (bytes.n > HS_SOURCE_BYTES_MAX)
        complete = hs_builder_fail(&r.b, "limit", "a document of more than %llu bytes",
                                   HS_SOURCE_BYTES_MAX);
    else
        complete = run(&r);
    if (!complete) {
        hs_builder_salvage(&r.b, top);
    } else {
        *top = r.b.stack[0];
        r.b.offset_bytes = (uint64_t)(r.json.at - r.json.begin);
        if (hs_json_left(&r.json) > 0)
            (void)hs_builder_fail(&r.b, "trailing-bytes", "%zu bytes follow the document",
                                  hs_json_left(&r.json));
    }
    hs_builder_release(&r.b);
    return complete;
}
