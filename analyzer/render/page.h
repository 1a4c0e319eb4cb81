/* page.h - what the files that write the page share; nobody else includes it. */
#ifndef HS_ANALYZER_PAGE_H
#define HS_ANALYZER_PAGE_H

#include "analyzer/render/json_out.h"
#include "analyzer/render/render.h"

enum hs_section_type { HS_SECTION_U8, HS_SECTION_U32, HS_SECTION_F64 };

/* The blob being made: the document, and the arrays that it refers to. */
struct hs_page_blob {
    const struct hs_page *page;
    struct hs_buf json, sections;
};

/* A field of rows, as a section. */
struct hs_section_field {
    const char *key;
    size_t offset;
    enum hs_field_kind {
        HS_FIELD_U8,
        HS_FIELD_U32,
        HS_FIELD_TIME,     /* ns since the epoch, 0 unknown: ns after the origin */
        HS_FIELD_SPAN,     /* ns, HS_NO_DURATION unknown */
        HS_FIELD_DURATION, /* float ms, 0 unknown */
    } kind;
};

/* An object of sections under `key`: one for each field of `count` rows. Ends with a NULL key. */
void hs_page_columns(struct hs_page_blob *blob, const char *key, const void *rows, uint32_t count,
                     size_t row_bytes, const struct hs_section_field *fields);

/* One section of whole items; u32 in the machine's order. */
void hs_page_section(struct hs_page_blob *blob, const char *key, const void *items, size_t count,
                     enum hs_section_type type);

/* The parts of the document, in the order of docs/formats/report-data.md. */
void hs_page_put_tables(struct hs_page_blob *blob); /* ranks, matrices and their like */
void hs_page_put_lists(struct hs_page_blob *blob);  /* all that is few */

/* A template with a document and its sections put into it, packed and in base64. */
enum hs_status hs_page_fill(struct hs_str page_template, const struct hs_page_blob *blob,
                            hs_page_sink_fn *sink, void *self, struct hs_err *err);

#endif
