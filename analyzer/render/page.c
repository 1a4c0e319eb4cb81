/*
 * page.c - the page of a job: a template with the job's data put into it, packed and in base64, so
 * that nothing of the input can be markup.
 */
#include "analyzer/render/page.h"

#include "base/gzip.h"

#include <endian.h>
#include <inttypes.h>

static const char place[] = "<!--hangscope:data-->";
enum { VERSION = 1, LETTERS = 65536 };

bool hs_page_fits(struct hs_str template)
{
    return memmem(template.p, template.n, place, sizeof(place) - 1) != NULL;
}

/* ---- the document ---- */

static void put_verdict(struct hs_page_blob *blob)
{
    struct hs_screen screen = { .language = blob->page->language, .seconds = -1 };
    struct hs_buf text;

    hs_buf_init(&text);
    hs_render_text(blob->page->verdict, &screen, &text);
    hs_json_text(&blob->json, "text", hs_buf_str(&text));
    text.n = 0;
    blob->json.failed |=
        !hs_render_json(blob->page->verdict, blob->page->language, &text) || text.failed;
    hs_json_key(&blob->json, "verdict");
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    hs_buf_put(&blob->json, hs_buf_str(&text));
    hs_buf_release(&text);
    hs_json_phrase(&blob->json, "why", &blob->page->verdict->why, blob->page->language);
    hs_json_phrase(&blob->json, "doubt", &blob->page->verdict->doubt, blob->page->language);
}

static void put_document(struct hs_page_blob *blob)
{
    static const char *const languages[] = { [HS_ENGLISH] = "en", [HS_CHINESE] = "zh" };
    const struct hs_report *r = blob->page->report;
    char origin[24];

    (void)snprintf(origin, sizeof(origin), "%" PRId64, r->origin_ns);
    hs_json_open(&blob->json, NULL, '{');
    hs_json_word(&blob->json, "schema", "hangscope.report/1");
    hs_json_word(&blob->json, "tool", HS_VERSION);
    hs_json_word(&blob->json, "language", languages[blob->page->language]);
    hs_json_word(&blob->json, "origin_ns", origin);
    hs_json_bool(&blob->json, "clock_zone", r->zone);
    put_verdict(blob);
    hs_page_put_lists(blob);
    hs_page_put_tables(blob);
    hs_json_close(&blob->json, '{');
}

/* ---- base64 of gzip ---- */

struct letters {
    hs_page_sink_fn *sink;
    void *self;
    unsigned char left[3];
    size_t left_count;
    char *text;
    size_t count;
};

static void encode(struct letters *to, const unsigned char bytes[3])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t value = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

    for (int shift = 18; shift >= 0; shift -= 6)
        to->text[to->count++] = alphabet[value >> shift & 63];
}

static enum hs_status flush(struct letters *to, struct hs_err *err)
{
    enum hs_status status =
        to->sink(to->self, (struct hs_str){ .p = to->text, .n = to->count }, err);

    to->count = 0;
    return status;
}

static enum hs_status take_bytes(void *self, struct hs_str piece, struct hs_err *err)
{
    struct letters *to = self;

    for (size_t i = 0; i < piece.n; i++) {
        to->left[to->left_count++] = (unsigned char)piece.p[i];
        if (to->left_count < 3)
            continue;
        encode(to, to->left);
        to->left_count = 0;
        if (to->count + 4 > LETTERS) {
            enum hs_status status = flush(to, err);

            if (status != HS_OK)
                return status;
        }
    }
    return HS_OK;
}

static enum hs_status end_letters(struct letters *to, struct hs_err *err)
{
    size_t missing = to->left_count ? 3 - to->left_count : 0;

    for (size_t i = to->left_count; missing && i < 3; i++)
        to->left[i] = 0;
    if (missing)
        encode(to, to->left);
    for (size_t i = 0; i < missing; i++)
        to->text[to->count - 1 - i] = '=';
    return flush(to, err);
}

static enum hs_status pack_blob(const struct hs_page_blob *blob, struct letters *to,
                                struct hs_err *err)
{
    uint32_t head[3] = { 0, htole32(VERSION), htole32((uint32_t)blob->json.n) };
    struct hs_gzip gzip;
    enum hs_status status = hs_gzip_init(&gzip, take_bytes, to, err);
    size_t used = sizeof(head) + blob->json.n;

    memcpy(head, "HSRP", 4);
    if (status == HS_OK)
        status =
            hs_gzip_put(&gzip, (struct hs_str){ .p = (const char *)head, .n = sizeof(head) }, err);
    if (status == HS_OK)
        status = hs_gzip_put(&gzip, hs_buf_str(&blob->json), err);
    if (status == HS_OK)
        status = hs_gzip_put(&gzip, (struct hs_str){ .p = "\0\0\0\0\0\0\0", .n = -used % 8 }, err);
    if (status == HS_OK)
        status = hs_gzip_put(&gzip, hs_buf_str(&blob->sections), err);
    if (status == HS_OK)
        status = hs_gzip_end(&gzip, err);
    hs_gzip_release(&gzip);
    return status == HS_OK ? end_letters(to, err) : status;
}

enum hs_status hs_page_fill(struct hs_str template, const struct hs_page_blob *blob,
                            hs_page_sink_fn *sink, void *self, struct hs_err *err)
{
    const char *at = memmem(template.p, template.n, place, sizeof(place) - 1);
    struct letters to = { .sink = sink, .self = self };
    struct hs_arena arena;
    enum hs_status status;
    size_t before = (size_t)(at - template.p), after = before + sizeof(place) - 1;

    hs_arena_init(&arena);
    to.text = HS_NEW(&arena, char, LETTERS);
    status = !to.text || blob->json.failed || blob->sections.failed ? hs_no_memory(err) : HS_OK;
    if (status == HS_OK)
        status = sink(self, (struct hs_str){ .p = template.p, .n = before }, err);
    if (status == HS_OK)
        status = sink(self, HS_STR("<script id=\"data\" type=\"application/octet-stream\">"), err);
    if (status == HS_OK)
        status = pack_blob(blob, &to, err);
    if (status == HS_OK)
        status = sink(self, HS_STR("</script>"), err);
    if (status == HS_OK)
        status =
            sink(self, (struct hs_str){ .p = template.p + after, .n = template.n - after }, err);
    hs_arena_release(&arena);
    return status;
}

enum hs_status hs_render_page(const struct hs_page *page, struct hs_str template,
                              hs_page_sink_fn *sink, void *self, struct hs_err *err)
{
    struct hs_page_blob blob = { .page = page };
    enum hs_status status;

    hs_buf_init(&blob.json);
    hs_buf_init(&blob.sections);
    put_document(&blob);
    status = hs_page_fill(template, &blob, sink, self, err);
    hs_buf_release(&blob.json);
    hs_buf_release(&blob.sections);
    return status;
}
