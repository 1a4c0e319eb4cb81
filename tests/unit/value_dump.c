/*
 * value_dump.c - what the readers make of files, one line each, for comparison with Python's pickle
 * and json (see value_text.h for the notation). A file named .json that begins with a bracket is
 * JSON, everything else a pickle. Nothing is streamed.
 */
#include "parsers/json_value.h"
#include "parsers/pickle.h"
#include "value_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_json(const char *path, struct hs_str bytes)
{
    size_t i = 0;

    while (i < bytes.n && strchr(" \t\r\n", bytes.p[i]) && bytes.p[i])
        i++;
    return hs_str_ends(hs_str_of(path), HS_STR(".json")) && i < bytes.n &&
           (bytes.p[i] == '{' || bytes.p[i] == '[');
}

static bool read_file(const char *path, struct hs_buf *out)
{
    FILE *in = fopen(path, "rb");
    char chunk[65536];
    size_t n;

    if (!in)
        return false;
    while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
        hs_buf_put(out, (struct hs_str){ .p = chunk, .n = n });
    (void)fclose(in);
    return !out->failed;
}

static void dump(struct hs_document *doc, const char *path, struct hs_str bytes)
{
    struct hs_document_consumer nobody = { .streamed_key = NULL };
    struct hs_trouble trouble;
    struct hs_value top;
    struct hs_buf line;
    bool complete = is_json(path, bytes) ? hs_json_value_read(doc, bytes, &nobody, &top, &trouble)
                                         : hs_pickle_read(doc, bytes, &nobody, &top, &trouble);

    hs_buf_init(&line);
    if (complete)
        value_text_put(&line, doc, &top);
    else
        hs_buf_printf(&line, "error: %s at %" PRIu64 ": %s", trouble.code, trouble.offset_bytes,
                      trouble.text);
    hs_buf_putc(&line, '\n');
    (void)fwrite(line.p, 1, line.n, stdout);
    hs_buf_release(&line);
}

int main(int argc, char **argv)
{
    struct hs_document doc;

    hs_document_init(&doc);
    for (int i = 1; i < argc; i++) {
        struct hs_buf bytes;

        hs_buf_init(&bytes);
        if (!read_file(argv[i], &bytes)) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        dump(&doc, argv[i], hs_buf_str(&bytes));
        hs_buf_release(&bytes);
    }
    hs_document_release(&doc);
    return 0;
}
