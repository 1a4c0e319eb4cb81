/*
 * line_dump.c - what the readers make of lines: a line of text from standard input or the files
 * named becomes, on standard output, a line for each of its records and one for each family.
 *
 *   12 nccl W text of the record
 *   12   ib_open what=Unable to open device device=mlx5_9
 *
 * The number is the physical line; then come the header and its level. Bytes that are not fit to
 * be shown are \xNN. Values that captured nothing are left out.
 */
#include "line_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN_BYTES_MAX (1u << 20)
#define CHUNK_BYTES (1u << 18) /* read at once, and learnt from */

static void put(struct hs_buf *out)
{
    hs_buf_putc(out, '\n');
    (void)fwrite(out->p, 1, out->n, stdout);
    out->n = 0;
}

static bool show_record(void *self, const struct hs_record *record)
{
    static const char *const headers[] = { [HS_HEADER_NONE] = "-",
                                           [HS_HEADER_C10] = "c10",
                                           [HS_HEADER_GLOG] = "glog",
                                           [HS_HEADER_PYTHON] = "python",
                                           [HS_HEADER_NCCL] = "nccl" };
    struct hs_buf *out = ((struct line_lab *)self)->show;

    hs_buf_printf(out, "%" PRIu64 " %s %c ", record->line, headers[record->header],
                  record->level ? record->level : '-');
    hs_buf_put_safe(out, record->text, SHOWN_BYTES_MAX);
    put(out);
    return true;
}

static bool show_found(void *self, const struct hs_record *record, const struct hs_found *found)
{
    const struct line_lab *lab = self;
    const struct hs_family *family = &lab->families->rows[found->family];
    struct hs_buf *out = lab->show;

    hs_buf_printf(out, "%" PRIu64 "   %.*s", record->line, HS_STR_ARG(family->name));
    for (uint32_t i = 0; i < family->field_count; i++) {
        if (!found->values[i].p)
            continue;
        hs_buf_printf(out, " %.*s=", HS_STR_ARG(family->fields[i]));
        hs_buf_put_safe(out, found->values[i], SHOWN_BYTES_MAX);
    }
    put(out);
    return true;
}

static void dump(struct line_lab *lab, FILE *in)
{
    struct hs_buf bytes;
    struct hs_str rest;
    uint64_t number = 0;
    size_t n;

    hs_buf_init(&bytes);
    do {
        if (!hs_buf_reserve(&bytes, CHUNK_BYTES))
            abort();
        n = fread(bytes.p + bytes.n, 1, CHUNK_BYTES, in);
        bytes.n += n;
    } while (n > 0);
    rest = hs_buf_str(&bytes);
    hs_envelope_learn(
        &lab->envelope,
        (struct hs_str){ .p = rest.p, .n = rest.n < CHUNK_BYTES ? rest.n : CHUNK_BYTES });
    while (rest.n > 0) {
        const char *newline = memchr(rest.p, '\n', rest.n);
        struct hs_str line = { .p = rest.p, .n = newline ? (size_t)(newline - rest.p) : rest.n };

        line_lab_line(lab, line, ++number);
        n = line.n + (newline ? 1 : 0);
        rest = (struct hs_str){ .p = rest.p + n, .n = rest.n - n };
    }
    line_lab_end(lab);
    hs_buf_release(&bytes);
}

int main(int argc, char **argv)
{
    struct line_lab lab;
    struct hs_buf out;

    hs_buf_init(&out);
    line_lab_init(&lab);
    lab.record = show_record;
    lab.found = show_found;
    lab.self = &lab;
    lab.show = &out;
    if (argc == 1)
        dump(&lab, stdin);
    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");

        if (!in) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        dump(&lab, in);
        (void)fclose(in);
    }
    line_lab_release(&lab);
    hs_buf_release(&out);
    return 0;
}
