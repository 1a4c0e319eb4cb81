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
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    uint64_t number = 0;

    while ((n = getline(&line, &cap, in)) > 0) {
        n -= line[n - 1] == '\n';
        line_lab_line(lab, (struct hs_str){ .p = line, .n = (size_t)n }, ++number);
    }
    line_lab_end(lab);
    free(line);
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
