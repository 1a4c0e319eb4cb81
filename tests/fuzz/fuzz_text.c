/*
 * fuzz_text.c - bytes as a log, or as the JSON that becomes events. Besides not crashing: the job
 * is the same whatever pieces the bytes come in. The first byte says which parser and which pieces.
 */
#include "../unit/event_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct hs_parser hs_parser_text, hs_parser_nccl_ras_json, hs_parser_pyspy_json;

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* All that the bytes have become: what rows refer to, and how many rows there are of each table. */
static void must_be_equal(const struct hs_job *a, const struct hs_job *b,
                          const struct hs_families *families)
{
    struct hs_buf x, y;

    must(a->strings.count == b->strings.count && a->lists.count == b->lists.count &&
         a->stacks_keys.count == b->stacks_keys.count && a->dump_count == b->dump_count &&
         a->diagnostic_count == b->diagnostic_count && a->text_block_count == b->text_block_count);
    for (uint32_t i = 0; i < a->strings.count; i++)
        must(hs_str_eq(hs_job_string(a, i), hs_job_string(b, i)));
    for (const struct hs_line_table *table = hs_line_tables; table->name; table++) {
        uint32_t m, n;

        (void)hs_job_rows(a, table, &m);
        (void)hs_job_rows(b, table, &n);
        must(m == n);
    }
    for (uint32_t i = 0; i < a->diagnostic_count; i++)
        must(a->diagnostics[i].code == b->diagnostics[i].code &&
             a->diagnostics[i].offset_bytes == b->diagnostics[i].offset_bytes);
    for (uint32_t i = 0; i < a->text_block_count; i++)
        must(hs_str_eq(a->text_blocks[i].packed, b->text_blocks[i].packed));
    hs_buf_init(&x);
    hs_buf_init(&y);
    event_text_show(a, families, NULL, &x);
    event_text_show(b, families, NULL, &y);
    must(hs_str_eq(hs_buf_str(&x), hs_buf_str(&y)));
    hs_buf_release(&x);
    hs_buf_release(&y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hs_parser *const parsers[] = { &hs_parser_text, &hs_parser_text,
                                                       &hs_parser_nccl_ras_json,
                                                       &hs_parser_pyspy_json };
    static struct hs_families *families; /* for all inputs: they take long to read */
    struct hs_str bytes = { .p = (const char *)data + 1, .n = size - 1 };
    struct hs_err err = { .n = 0 };
    struct hs_job whole, pieces;

    if (size == 0)
        return 0;
    if (!families)
        must(hs_families_new(&families, &err) == HS_OK);
    must(event_text_read(parsers[data[0] % 4], families, "logs/rank3.log", bytes, size, &whole));
    must(event_text_read(parsers[data[0] % 4], families, "logs/rank3.log", bytes,
                         1u + data[0] / 4u % 40u, &pieces));
    must_be_equal(&whole, &pieces, families);
    hs_job_release(&whole);
    hs_job_release(&pieces);
    return 0;
}
