/* batch_summary.c - a batch on one screen, and what --fail-on makes of it. */
#include "analyzer/commands/batch.h"

enum { SHOWN = 8, SKETCH_BYTES = 110, TROUBLE_BYTES = 220 };

/* Lines of a query, each made by a template of its cells. */
struct lines {
    struct hs_buf *out;
    const char *title; /* printed before the first */
    uint32_t shown;
    void (*put)(struct hs_buf *out, const struct hs_cell *cells);
};

static bool put_line(void *self, const struct hs_cell *cells, int count, bool header)
{
    struct lines *l = self;

    (void)count;
    if (header)
        return true;
    if (!l->shown++ && l->title)
        hs_buf_printf(l->out, "\n  %s\n", l->title);
    if (l->shown <= SHOWN)
        l->put(l->out, cells);
    return true;
}

static void put_count(struct hs_buf *out, const struct hs_cell *cells)
{
    hs_buf_printf(out, "  %7.*s  %.*s\n", HS_STR_ARG(cells[0].text), HS_STR_ARG(cells[1].text));
}

static void put_fault(struct hs_buf *out, const struct hs_cell *cells)
{
    hs_buf_printf(out, "  %7.*s  %.*s  ", HS_STR_ARG(cells[0].text), HS_STR_ARG(cells[1].text));
    hs_buf_put_safe(out, cells[2].text, SKETCH_BYTES);
    hs_buf_putc(out, '\n');
}

static void put_bad(struct hs_buf *out, const struct hs_cell *cells)
{
    hs_buf_put(out, HS_STR("  "));
    hs_buf_put_safe(out, cells[0].text, SKETCH_BYTES);
    hs_buf_printf(out, ": %.*s", HS_STR_ARG(cells[1].text));
    if (cells[2].text.p) {
        hs_buf_put(out, HS_STR(": "));
        hs_buf_put_safe(out, cells[2].text, TROUBLE_BYTES);
    }
    hs_buf_putc(out, '\n');
}

static const struct {
    const char *title, *sql, *more;
    void (*put)(struct hs_buf *out, const struct hs_cell *cells);
} parts[] = {
    { NULL,
      "SELECT count(*), ifnull(code, 'not judged') FROM job JOIN temp.chosen USING (id) GROUP BY "
      "code "
      "ORDER BY count(*) DESC, code",
      NULL, put_count },
    { "what comes again, in all the fleet",
      "SELECT jobs, fingerprint, sketch FROM recurring WHERE fingerprint IN "
      "(SELECT fingerprint FROM job JOIN temp.chosen USING (id))",
      "SELECT * FROM recurring", put_fault },
    { "not judged",
      "SELECT name, state, trouble FROM job JOIN temp.chosen USING (id) WHERE state != 'judged' "
      "ORDER BY path",
      "SELECT * FROM not_judged", put_bad },
};

enum hs_status hs_batch_summary(const struct hs_batch *b, uint32_t judged, double seconds,
                                struct hs_err *err)
{
    enum hs_status status = HS_OK;
    struct hs_buf out;

    hs_buf_init(&out);
    hs_buf_printf(&out, "%u %s, %u judged now, %u known · %.2f s\n", b->jobs.count,
                  b->jobs.count == 1 ? "job" : "jobs", judged, b->jobs.count - b->todo_count,
                  seconds);
    for (size_t i = 0;
         status == HS_OK && b->options->verbosity >= 0 && i < sizeof(parts) / sizeof(parts[0]);
         i++) {
        struct lines lines = { .out = &out, .title = parts[i].title, .put = parts[i].put };

        status = hs_fleet_ask(b->fleet, parts[i].sql, put_line, &lines, err);
        if (lines.shown > SHOWN)
            hs_buf_printf(&out, "  and %u more%s%s%s\n", lines.shown - SHOWN,
                          parts[i].more ? ": hangscope sql FLEET.db '" : "",
                          parts[i].more ? parts[i].more : "", parts[i].more ? "'" : "");
    }
    if (status == HS_OK)
        status = out.failed ? hs_no_memory(err) : hs_print_result(hs_buf_str(&out), err);
    hs_buf_release(&out);
    return status;
}

static bool take_flag(void *self, const struct hs_cell *cells, int count, bool header)
{
    (void)count;
    if (!header)
        *(bool *)self = hs_str_is(cells[0].text, "1");
    return true;
}

/* A condition for one word of the list: any, high, a code or a finding. */
static void put_condition(struct hs_buf *sql, struct hs_str word)
{
    if (hs_str_is(word, "any") || hs_str_is(word, "high")) {
        hs_buf_printf(sql, " OR (code NOT IN ('healthy', 'undetermined')%s)",
                      hs_str_is(word, "high") ? " AND confidence = 'high'" : "");
        return;
    }
    for (int i = 0; i < 2; i++) {
        hs_buf_put(sql, i ? HS_STR(" OR id IN (SELECT job FROM finding WHERE code = '")
                          : HS_STR(" OR code = '"));
        for (size_t k = 0; k < word.n; k++) {
            if (word.p[k] == '\'')
                hs_buf_putc(sql, '\'');
            hs_buf_putc(sql, word.p[k]);
        }
        hs_buf_put(sql, i ? HS_STR("')") : HS_STR("'"));
    }
}

enum hs_status hs_batch_fails(const struct hs_batch *b, bool *fails, struct hs_err *err)
{
    struct hs_buf sql;
    bool found = false;
    enum hs_status status = HS_OK;

    hs_buf_init(&sql);
    hs_buf_put(&sql,
               HS_STR("SELECT EXISTS (SELECT 1 FROM job JOIN temp.chosen USING (id) WHERE 0"));
    for (const char *at = b->options->fail_on; at && *at;) {
        size_t n = strcspn(at, ",");

        put_condition(&sql, (struct hs_str){ .p = at, .n = n });
        at += at[n] ? n + 1 : n;
    }
    hs_buf_putc(&sql, ')');
    if (b->options->fail_on)
        status =
            sql.failed ? hs_no_memory(err) : hs_fleet_ask(b->fleet, sql.p, take_flag, &found, err);
    hs_buf_release(&sql);
    if (status == HS_OK)
        *fails = found;
    return status;
}
