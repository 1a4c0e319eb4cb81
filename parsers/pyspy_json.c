/* pyspy_json.c - stacks as `py-spy dump --json` prints them: the same events as from its text. */
#include "parsers/json_text.h"

#include <stdlib.h>

/* A frame: its name and place. */
static bool read_frame(struct hs_json_text *doc, struct hs_open *thread)
{
    struct hs_call call = { .function = { .p = NULL } };

    for (;;) {
        enum hs_json_kind kind = hs_json_text_next(doc);
        struct hs_str key = doc->token.text;

        if (kind == HS_JSON_OBJECT_END)
            break;
        if (kind != HS_JSON_KEY)
            return false;
        kind = hs_json_text_next(doc);
        if (hs_str_is(key, "name"))
            call.function = hs_json_text_value(doc, kind);
        else if (hs_str_is(key, "filename"))
            call.file = hs_json_text_value(doc, kind);
        else if (hs_str_is(key, "line") && kind == HS_JSON_INT && doc->token.i > 0)
            call.line = (uint64_t)doc->token.i;
        if (!hs_json_text_skip(doc, kind))
            return false;
    }
    if (call.function.p)
        hs_open_push(doc->text, thread, call.function, call.file, call.line);
    return true;
}

static bool read_frames(struct hs_json_text *doc, struct hs_open *thread)
{
    for (;;) {
        enum hs_json_kind kind = hs_json_text_next(doc);

        if (kind == HS_JSON_ARRAY_END)
            return true;
        if (kind != HS_JSON_OBJECT || !read_frame(doc, thread))
            return false;
    }
}

/* What a thread says of itself and its process. Its own id is the native one, if there is one. */
static void take_scalar(struct hs_json_text *doc, struct hs_open *thread, struct hs_str key,
                        enum hs_json_kind kind)
{
    static const struct {
        const char *key, *name;
    } names[] = { { "pid", "pid" },
                  { "thread_name", "name" },
                  { "os_thread_id", "thread" },
                  { "command_line", "command" } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (hs_str_is(key, names[i].key))
            hs_open_set(doc->text, thread, names[i].name, hs_json_text_value(doc, kind));
    }
    if (hs_str_is(key, "thread_id") && !hs_open_get(thread, "thread").p)
        hs_open_set(doc->text, thread, "thread", hs_json_text_value(doc, kind));
    if (hs_str_is(key, "active"))
        hs_open_set(doc->text, thread, "state",
                    kind == HS_JSON_TRUE ? HS_STR("active") : HS_STR("idle"));
    if (hs_str_is(key, "owns_gil") && kind == HS_JSON_TRUE)
        hs_open_set(doc->text, thread, "gil", HS_STR("held"));
}

static bool read_thread(struct hs_json_text *doc, struct hs_open *thread)
{
    uint32_t depth = 1;

    while (depth) {
        enum hs_json_kind kind = hs_json_text_next(doc);
        struct hs_str key = doc->token.text;

        if (kind == HS_JSON_OBJECT_END) {
            depth--;
            continue;
        }
        if (kind != HS_JSON_KEY)
            return false;
        kind = hs_json_text_next(doc);
        if (depth == 1 && kind == HS_JSON_ARRAY && hs_str_is(key, "frames")) {
            if (!read_frames(doc, thread))
                return false;
            continue;
        }
        if (depth == 1 && kind == HS_JSON_OBJECT && hs_str_is(key, "process_info")) {
            depth++;
            continue;
        }
        if (depth == 1 || hs_str_is(key, "command_line"))
            take_scalar(doc, thread, key, kind);
        if (!hs_json_text_skip(doc, kind))
            return false;
    }
    return true;
}

/* A thread that is cut off is told as far as it came. */
static void read_threads(struct hs_json_text *doc)
{
    enum hs_json_kind kind = hs_json_text_next(doc);

    while (kind != HS_JSON_ERROR && kind != HS_JSON_END && kind != HS_JSON_ARRAY_END) {
        kind = hs_json_text_next(doc);
        if (kind == HS_JSON_OBJECT) {
            struct hs_open thread = { .kind = &hs_record_stacks };

            hs_json_text_mark(doc);
            thread.head = doc->head;
            thread.speaker = doc->text->speaker;
            hs_open_set(doc->text, &thread, "tool", HS_STR("py-spy"));
            (void)read_thread(doc, &thread);
            hs_open_say(doc->text, &thread, thread.kind->family);
            free(thread.frames);
            hs_arena_reset(&doc->arena);
        }
    }
}

static bool end(void *self)
{
    return hs_json_text_end(self, read_threads);
}

static unsigned probe(struct hs_str head)
{
    static const char *const words[] = { "\"pid\"", "\"thread_id\"", "\"thread_name\"",
                                         "\"frames\"" };

    return hs_json_text_probe(head, '[', words, 4);
}

static const struct hs_stream stream = { .begin = hs_json_text_begin,
                                         .feed = hs_json_text_feed,
                                         .end = end };

const struct hs_parser hs_parser_pyspy_json = {
    .name = "py-spy-json",
    .summary = "stacks of a process (py-spy dump --json)",
    .probe = probe,
    .stream = &stream,
};
