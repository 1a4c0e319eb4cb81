/* page_tables.c - the large half of the page's data: columns of numbers, as raw arrays. */
#include "analyzer/render/page.h"

#include <endian.h>
#include <math.h>
#include <stddef.h>

/* ---- sections ---- */

static void refer(struct hs_page_blob *blob, const char *key, size_t count,
                  enum hs_section_type type)
{
    static const char *const names[] = { "u8", "u32", "f64" };

    while (blob->sections.n % 8)
        hs_buf_putc(&blob->sections, '\0');
    hs_json_open(&blob->json, key, '{');
    hs_json_u64(&blob->json, "at", blob->sections.n);
    hs_json_u64(&blob->json, "count", count);
    hs_json_word(&blob->json, "type", names[type]);
    hs_json_close(&blob->json, '{');
}

static void put_u32(struct hs_buf *out, uint32_t value)
{
    uint32_t le = htole32(value);

    hs_buf_put(out, (struct hs_str){ .p = (const char *)&le, .n = sizeof(le) });
}

static void put_f64(struct hs_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    bits = htole64(bits);
    hs_buf_put(out, (struct hs_str){ .p = (const char *)&bits, .n = sizeof(bits) });
}

void hs_page_section(struct hs_page_blob *blob, const char *key, const void *items, size_t count,
                     enum hs_section_type type)
{
    refer(blob, key, count, type);
    if (type == HS_SECTION_U8)
        hs_buf_put(&blob->sections, (struct hs_str){ .p = items, .n = count });
    for (size_t i = 0; type == HS_SECTION_U32 && i < count; i++)
        put_u32(&blob->sections, ((const uint32_t *)items)[i]);
}

static void put_field(struct hs_page_blob *blob, const char *at, enum hs_field_kind kind)
{
    struct hs_buf *out = &blob->sections;
    uint32_t u32;
    int64_t i64;
    float f32;

    switch (kind) {
    case HS_FIELD_U8:
        hs_buf_putc(out, *at);
        break;
    case HS_FIELD_U32:
        memcpy(&u32, at, sizeof(u32));
        put_u32(out, u32);
        break;
    case HS_FIELD_TIME:
        memcpy(&i64, at, sizeof(i64));
        put_f64(out, i64 ? (double)(i64 - blob->page->report->origin_ns) : (double)NAN);
        break;
    case HS_FIELD_SPAN:
        memcpy(&i64, at, sizeof(i64));
        put_f64(out, i64 != HS_NO_DURATION ? (double)i64 : (double)NAN);
        break;
    case HS_FIELD_DURATION:
        memcpy(&f32, at, sizeof(f32));
        put_f64(out, f32 > 0 ? (double)f32 : (double)NAN);
        break;
    }
}

void hs_page_columns(struct hs_page_blob *blob, const char *key, const void *rows, uint32_t count,
                     size_t row_bytes, const struct hs_section_field *fields)
{
    static const enum hs_section_type types[] = { [HS_FIELD_U8] = HS_SECTION_U8,
                                                  [HS_FIELD_U32] = HS_SECTION_U32,
                                                  [HS_FIELD_TIME] = HS_SECTION_F64,
                                                  [HS_FIELD_SPAN] = HS_SECTION_F64,
                                                  [HS_FIELD_DURATION] = HS_SECTION_F64 };

    hs_json_open(&blob->json, key, '{');
    for (const struct hs_section_field *f = fields; f->key; f++) {
        refer(blob, f->key, count, types[f->kind]);
        for (uint32_t i = 0; i < count; i++)
            put_field(blob, (const char *)rows + i * row_bytes + f->offset, f->kind);
    }
    hs_json_close(&blob->json, '{');
}

/* ---- which columns ---- */

#define RANK(key, field, kind)                                                                     \
    {                                                                                              \
        key, offsetof(struct hs_report_rank, field), kind                                          \
    }
static const struct hs_section_field rank_fields[] = {
    RANK("rank", rank, HS_FIELD_U32),
    RANK("host", host, HS_FIELD_U32),
    RANK("gpu", gpu, HS_FIELD_U32),
    RANK("class", fold, HS_FIELD_U32),
    RANK("role", role, HS_FIELD_U8),
    RANK("flags", flags, HS_FIELD_U8),
    RANK("source", source, HS_FIELD_U32),
    RANK("calls", calls, HS_FIELD_U32),
    RANK("pending", pending, HS_FIELD_U32),
    RANK("group", group, HS_FIELD_U32),
    RANK("seq", seq, HS_FIELD_U32),
    RANK("signature", signature, HS_FIELD_U32),
    RANK("stack", stack, HS_FIELD_U32),
    RANK("state", state, HS_FIELD_U8),
    RANK("since", since_ns, HS_FIELD_TIME),
    RANK("finished", finished_ns, HS_FIELD_TIME),
    RANK("late", late_ns, HS_FIELD_SPAN),
    RANK("last", last, HS_FIELD_U32),
    { NULL, 0, HS_FIELD_U8 },
};
#undef RANK

#define MATRIX(key, field, kind)                                                                   \
    {                                                                                              \
        key, offsetof(struct hs_report_matrix, field), kind                                        \
    }
static const struct hs_section_field matrix_fields[] = {
    MATRIX("group", group, HS_FIELD_U32),
    MATRIX("kind", kind, HS_FIELD_U8),
    MATRIX("columns", column_set, HS_FIELD_U32),
    MATRIX("first_member", first_member, HS_FIELD_U32),
    MATRIX("members", members, HS_FIELD_U32),
    MATRIX("hang", hang, HS_FIELD_U32),
    MATRIX("tail", tail, HS_FIELD_U32),
    MATRIX("first_tail_column", first_tail_column, HS_FIELD_U32),
    { NULL, 0, HS_FIELD_U8 },
};
#undef MATRIX

static const struct hs_section_field member_fields[] = {
    { "rank", offsetof(struct hs_report_member, rank), HS_FIELD_U32 },
    { "row", offsetof(struct hs_report_member, row), HS_FIELD_U32 },
    { "tail", offsetof(struct hs_report_member, tail), HS_FIELD_U32 },
    { NULL, 0, HS_FIELD_U8 },
};

static const struct hs_section_field tail_column_fields[] = {
    { "first", offsetof(struct hs_report_tail_column, first_ns), HS_FIELD_TIME },
    { "late", offsetof(struct hs_report_tail_column, late_ns), HS_FIELD_SPAN },
    { "last", offsetof(struct hs_report_tail_column, last), HS_FIELD_U32 },
    { NULL, 0, HS_FIELD_U8 },
};

#define RECORD(key, field, kind)                                                                   \
    {                                                                                              \
        key, offsetof(struct hs_report_record, field), kind                                        \
    }
static const struct hs_section_field record_fields[] = {
    RECORD("rank", rank, HS_FIELD_U32),
    RECORD("group", group, HS_FIELD_U32),
    RECORD("record", record, HS_FIELD_U32),
    RECORD("seq", seq, HS_FIELD_U32),
    RECORD("p2p", p2p, HS_FIELD_U32),
    RECORD("signature", signature, HS_FIELD_U32),
    RECORD("stack", stack, HS_FIELD_U32),
    RECORD("state", state, HS_FIELD_U8),
    RECORD("created", created_ns, HS_FIELD_TIME),
    RECORD("lasted", lasted_us, HS_FIELD_U32),
    RECORD("duration", duration_ms, HS_FIELD_DURATION),
    { NULL, 0, HS_FIELD_U8 },
};
#undef RECORD

/* ---- interned bytes ---- */

/* Where each item begins, in units of `unit` bytes. */
static void put_starts(struct hs_page_blob *blob, const char *key, const struct hs_intern *items,
                       size_t unit)
{
    uint64_t at = 0;

    hs_json_open(&blob->json, key, '{');
    refer(blob, "at", items->count, HS_SECTION_U32);
    for (uint32_t i = 0; i < items->count; i++) {
        put_u32(&blob->sections, (uint32_t)at);
        at += hs_intern_get(items, i).n / unit;
    }
    hs_json_close(&blob->json, '{');
}

static size_t total_bytes(const struct hs_intern *items)
{
    size_t total = 0;

    for (uint32_t i = 0; i < items->count; i++)
        total += hs_intern_get(items, i).n;
    return total;
}

/* The first or the second half of every item, one after the other. */
static void put_halves(struct hs_page_blob *blob, const char *key, const struct hs_intern *items,
                       bool second)
{
    refer(blob, key, total_bytes(items) / 2 / sizeof(uint32_t), HS_SECTION_U32);
    for (uint32_t i = 0; i < items->count; i++) {
        struct hs_str item = hs_intern_get(items, i);

        for (size_t at = second ? item.n / 2 : 0, end = second ? item.n : item.n / 2; at < end;
             at += sizeof(uint32_t)) {
            uint32_t value;

            memcpy(&value, item.p + at, sizeof(value));
            put_u32(&blob->sections, value);
        }
    }
}

static void put_column_sets(struct hs_page_blob *blob)
{
    const struct hs_intern *sets = &blob->page->report->column_sets;
    uint32_t first = 0;

    hs_json_open(&blob->json, "column_sets", '{');
    refer(blob, "first", sets->count, HS_SECTION_U32);
    for (uint32_t i = 0; i < sets->count; i++) {
        put_u32(&blob->sections, first);
        first += (uint32_t)(hs_intern_get(sets, i).n / 2 / sizeof(uint32_t));
    }
    refer(blob, "count", sets->count, HS_SECTION_U32);
    for (uint32_t i = 0; i < sets->count; i++)
        put_u32(&blob->sections, (uint32_t)(hs_intern_get(sets, i).n / 2 / sizeof(uint32_t)));
    hs_json_close(&blob->json, '{');
    hs_json_open(&blob->json, "column", '{');
    put_halves(blob, "number", sets, false);
    put_halves(blob, "signature", sets, true);
    hs_json_close(&blob->json, '{');
}

void hs_page_put_tables(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;

    hs_page_columns(blob, "ranks", r->ranks, r->rank_count, sizeof(*r->ranks), rank_fields);
    hs_page_columns(blob, "matrices", r->matrices, r->matrix_count, sizeof(*r->matrices),
                    matrix_fields);
    put_column_sets(blob);
    hs_page_columns(blob, "members", r->members, r->member_count, sizeof(*r->members),
                    member_fields);
    put_starts(blob, "rows", &r->rows, 1);
    refer(blob, "cells", total_bytes(&r->rows), HS_SECTION_U8);
    for (uint32_t i = 0; i < r->rows.count; i++)
        hs_buf_put(&blob->sections, hs_intern_get(&r->rows, i));
    hs_page_columns(blob, "tail_columns", r->tail_columns, r->tail_column_count,
                    sizeof(*r->tail_columns), tail_column_fields);
    put_starts(blob, "tail_rows", &r->tails, 2 * sizeof(uint32_t));
    put_halves(blob, "tail_after", &r->tails, false);
    put_halves(blob, "tail_lasted", &r->tails, true);
    hs_page_columns(blob, "records", r->records, r->record_count, sizeof(*r->records),
                    record_fields);
    hs_json_list(&blob->json, "record_ranks", r->record_ranks, r->record_rank_count);
}
