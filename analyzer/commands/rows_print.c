/* rows_print.c - rows of an answer as a table, as CSV or as JSON lines. */
#include "analyzer/commands/rows_print.h"

enum { TABLE_ROWS = 1000, CELL_MAX = 60 }; /* a table's widths are taken from so many rows */

static bool flush(struct hs_row_print *p)
{
    p->status =
        p->out.failed ? hs_no_memory(p->err) : p->sink(p->self, hs_buf_str(&p->out), p->err);
    p->out.n = 0;
    return p->status == HS_OK;
}

/* ---- CSV (RFC 4180, but lines end in LF); an empty text is "", and NULL nothing ---- */

static void put_csv(struct hs_row_print *p, const struct hs_cell *cells, int count)
{
    for (int i = 0; i < count; i++) {
        struct hs_str t = cells[i].text;
        bool quote = t.p && t.n == 0 && cells[i].is_text;

        for (size_t k = 0; t.p && k < t.n; k++)
            quote |= t.p[k] == ',' || t.p[k] == '"' || t.p[k] == '\n' || t.p[k] == '\r';
        if (i)
            hs_buf_putc(&p->out, ',');
        if (quote)
            hs_buf_putc(&p->out, '"');
        for (size_t k = 0; t.p && k < t.n; k++) {
            if (t.p[k] == '"')
                hs_buf_putc(&p->out, '"');
            hs_buf_putc(&p->out, t.p[k]);
        }
        if (quote)
            hs_buf_putc(&p->out, '"');
    }
    hs_buf_putc(&p->out, '\n');
}

/* ---- JSON lines: numbers as they are, 64 bits and all ---- */

/* Bytes of the valid UTF-8 character that `text` begins with; 0: none. */
static size_t character(struct hs_str text, struct hs_buf *scratch)
{
    unsigned char c = (unsigned char)text.p[0];
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

    if (n > text.n)
        return 0;
    scratch->n = 0;
    hs_buf_put_safe(scratch, (struct hs_str){ .p = text.p, .n = n }, n);
    return hs_str_eq(hs_buf_str(scratch), (struct hs_str){ .p = text.p, .n = n }) ? n : 0;
}

/* What is no UTF-8 becomes \xNN, as everywhere; a control character is one. */
static void put_json_text(struct hs_buf *out, struct hs_str text)
{
    struct hs_buf scratch;

    hs_buf_init(&scratch);
    hs_buf_putc(out, '"');
    while (text.n > 0) {
        unsigned char c = (unsigned char)text.p[0],
                      next = text.n > 1 ? (unsigned char)text.p[1] : 0;
        size_t n = 1;

        if (c == '"' || c == '\\')
            hs_buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            hs_buf_printf(out, "\\u%04x", c);
        else if (c < 0x80)
            hs_buf_putc(out, (char)c);
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            hs_buf_printf(out, "\\u%04x", (n = 2, next));
        else if ((n = character(text, &scratch)) > 0)
            hs_buf_put(out, (struct hs_str){ .p = text.p, .n = n });
        else
            hs_buf_printf(out, "\\\\x%02x", (n = 1, c));
        text.p += n;
        text.n -= n;
    }
    hs_buf_putc(out, '"');
    hs_buf_release(&scratch);
}

/* SQLite writes what is beyond a double as Inf, which JSON does not know. */
static void put_json_number(struct hs_buf *out, struct hs_str text)
{
    if (hs_str_is(text, "Inf"))
        hs_buf_put(out, HS_STR("9e999"));
    else if (hs_str_is(text, "-Inf"))
        hs_buf_put(out, HS_STR("-9e999"));
    else
        hs_buf_put(out, text);
}

static const char *name_of(const struct hs_row_print *p, int column)
{
    const char *at = p->names.p;

    while (column-- > 0)
        at += strlen(at) + 1;
    return at;
}

static void put_jsonl(struct hs_row_print *p, const struct hs_cell *cells, int count)
{
    for (int i = 0; i < count; i++) {
        hs_buf_put(&p->out, i ? HS_STR(", ") : HS_STR("{"));
        put_json_text(&p->out, hs_str_of(name_of(p, i)));
        hs_buf_put(&p->out, HS_STR(": "));
        if (!cells[i].text.p)
            hs_buf_put(&p->out, HS_STR("null"));
        else if (cells[i].is_text)
            put_json_text(&p->out, cells[i].text);
        else
            put_json_number(&p->out, cells[i].text);
    }
    hs_buf_put(&p->out, HS_STR("}\n"));
}

/* ---- table: widths from the first rows, numbers to the right ---- */

static void put_padded(struct hs_row_print *p, int column, struct hs_str text)
{
    size_t used = hs_str_columns(text);
    size_t pad = p->widths[column] > used ? p->widths[column] - used : 0;
    bool last = column + 1 == p->columns;

    for (size_t i = 0; p->numbers[column] && i < pad; i++)
        hs_buf_putc(&p->out, ' ');
    hs_buf_put(&p->out, text);
    for (size_t i = 0; !p->numbers[column] && !last && i < pad; i++)
        hs_buf_putc(&p->out, ' ');
    hs_buf_put(&p->out, last ? HS_STR("\n") : HS_STR("  "));
}

static void release_held(struct hs_row_print *p)
{
    const char *at = p->cells.p;

    p->widths_known = true;
    p->out.failed |= p->cells.failed || p->names.failed;
    if (p->out.failed)
        return;
    for (int i = 0; i < p->columns; i++)
        put_padded(p, i, hs_str_of(name_of(p, i)));
    for (uint32_t row = 0; row < p->held; row++) {
        for (int i = 0; i < p->columns; i++, at += strlen(at) + 1)
            put_padded(p, i, hs_str_of(at));
    }
    p->held = 0;
    p->cells.n = 0;
}

static void put_table(struct hs_row_print *p, const struct hs_cell *cells, int count)
{
    for (int i = 0; i < count; i++) {
        struct hs_buf safe;
        size_t width;

        hs_buf_init(&safe);
        hs_buf_put_safe(&safe, cells[i].text, CELL_MAX);
        width = hs_str_columns(hs_buf_str(&safe));
        if (p->widths_known) {
            put_padded(p, i, hs_buf_str(&safe));
        } else {
            hs_buf_put(&p->cells, hs_buf_str(&safe));
            hs_buf_putc(&p->cells, '\0');
            p->widths[i] = width > p->widths[i] ? width : p->widths[i];
            p->numbers[i] &= !cells[i].is_text;
        }
        hs_buf_release(&safe);
    }
    if (!p->widths_known && ++p->held >= TABLE_ROWS)
        release_held(p);
}

/* ---- rows as they come ---- */

static void begin_result(struct hs_row_print *p, const struct hs_cell *cells, int count)
{
    if (p->columns && p->format == HS_SQL_TABLE) {
        if (!p->widths_known)
            release_held(p);
        hs_buf_putc(&p->out, '\n');
    }
    p->names.n = 0;
    p->columns = count;
    p->widths_known = false;
    for (int i = 0; i < count; i++) {
        hs_buf_put(&p->names, cells[i].text);
        hs_buf_putc(&p->names, '\0');
        p->widths[i] = hs_str_columns(cells[i].text);
        p->numbers[i] = true;
    }
    if (p->format == HS_SQL_CSV)
        put_csv(p, cells, count);
}

bool hs_row_print(void *self, const struct hs_cell *cells, int count, bool header)
{
    struct hs_row_print *p = self;

    if (header)
        begin_result(p, cells, count);
    else if (p->format == HS_SQL_CSV)
        put_csv(p, cells, count);
    else if (p->format == HS_SQL_JSONL)
        put_jsonl(p, cells, count);
    else
        put_table(p, cells, count);
    return p->out.n < 65536 || flush(p);
}

void hs_row_print_init(struct hs_row_print *p, enum hs_sql_format format, hs_sink_fn *sink,
                       void *self, struct hs_err *err)
{
    *p = (struct hs_row_print){ .format = format, .sink = sink, .self = self, .err = err };
    hs_buf_init(&p->out);
    hs_buf_init(&p->names);
    hs_buf_init(&p->cells);
}

enum hs_status hs_row_print_end(struct hs_row_print *p)
{
    if (p->status == HS_OK) {
        if (p->columns && p->format == HS_SQL_TABLE && !p->widths_known)
            release_held(p);
        (void)flush(p);
    }
    return p->status;
}

void hs_row_print_release(struct hs_row_print *p)
{
    hs_buf_release(&p->out);
    hs_buf_release(&p->names);
    hs_buf_release(&p->cells);
}
