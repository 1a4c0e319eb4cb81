/* fleet.c - what is made of a fleet: rows, or a page. */
#include "analyzer/commands/replay_input.h"
#include "analyzer/commands/rows_print.h"
#include "schema/store_fleet.h"

/* What a CSV file of ours begins with; JSON lines begin with the same name quoted. */
#define FIRST_COLUMN "path"

static enum hs_status export_rows(const struct hs_options *o, const char *fleet, struct hs_err *err)
{
    static const char query[] = "SELECT * FROM jobs ORDER BY path";
    struct hs_options to = *o;
    struct hs_text_file file;
    struct hs_row_print print;
    enum hs_status status;

    to.output = o->output ? o->output : "-";
    status = hs_text_file_open(&file, &to, FIRST_COLUMN, err);
    if (status != HS_OK)
        return status;
    hs_row_print_init(&print, o->sql_format == HS_SQL_JSONL ? HS_SQL_JSONL : HS_SQL_CSV,
                      hs_text_file_put, &file, err);
    status = hs_store_query(fleet, hs_str_of(query), hs_row_print, &print, err);
    if (status == HS_OK)
        status = hs_row_print_end(&print);
    hs_row_print_release(&print);
    return hs_text_file_close(&file, status, err);
}

static const struct {
    const char *word;
    enum hs_status (*make)(const struct hs_options *options, const char *fleet, struct hs_err *err);
} kinds[] = {
    { "export", export_rows },
    { "report", hs_write_fleet_page },
};

static enum hs_status run(const struct hs_options *o, struct hs_err *err)
{
    for (size_t i = 0; o->path_count > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(o->paths[0], kinds[i].word) != 0)
            continue;
        if (o->path_count != 2)
            return hs_fail(err, HS_EUSAGE, "fleet %s: give one FLEET.db", kinds[i].word);
        if (!hs_fleet_is(o->paths[1]))
            return hs_fail(err, HS_EUSAGE,
                           "'%s' is not a fleet; 'hangscope batch ROOT -o FLEET.db' makes one",
                           o->paths[1]);
        return kinds[i].make(o, o->paths[1], err);
    }
    return hs_fail(err, HS_EUSAGE,
                   "fleet: what to do? 'hangscope fleet export FLEET.db', or "
                   "'hangscope fleet report FLEET.db -o FILE.html'");
}

int hs_run_fleet(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };
    enum hs_status status = run(o, &err);

    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
