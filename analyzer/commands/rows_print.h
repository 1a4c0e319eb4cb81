/* rows_print.h - rows of an answer as a table, as CSV or as JSON lines. */
#ifndef HS_ANALYZER_ROWS_PRINT_H
#define HS_ANALYZER_ROWS_PRINT_H

#include "analyzer/commands/command.h"
#include "schema/store.h"

/* Where the text goes, piece by piece. */
typedef enum hs_status hs_sink_fn(void *self, struct hs_str text, struct hs_err *err);

struct hs_row_print {
    hs_sink_fn *sink;
    void *self;
    enum hs_sql_format format;
    struct hs_buf out;
    struct hs_buf names; /* of the columns, each ending in NUL */
    struct hs_buf cells; /* of a table's rows held back, each ending in NUL */
    size_t widths[HS_RESULT_COLUMNS_MAX];
    bool numbers[HS_RESULT_COLUMNS_MAX];
    int columns;
    uint32_t held; /* rows in `cells` */
    bool widths_known;
    struct hs_err *err;
    enum hs_status status;
};

void hs_row_print_init(struct hs_row_print *print, enum hs_sql_format format, hs_sink_fn *sink,
                       void *self, struct hs_err *err);

bool hs_row_print(void *self, const struct hs_cell *cells, int count, bool header); /* hs_row_fn */

/* What is held back is written; how the writing went. */
enum hs_status hs_row_print_end(struct hs_row_print *print);
void hs_row_print_release(struct hs_row_print *print);

#endif
