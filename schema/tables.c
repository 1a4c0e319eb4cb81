#include "schema/tables.h"

#define KIND(table, column, kind, field, target, doc)                                              \
    { #column, HS_COLUMN_##kind, offsetof(row_##table, field), target, doc },
#define INTERNED(column, kind, field, doc)                                                         \
    { #column, HS_COLUMN_##kind, offsetof(struct hs_job, field), NULL, doc },
#define U8(t, c, f, doc) KIND(t, c, U8, f, NULL, doc)
#define U16(t, c, f, doc) KIND(t, c, U16, f, NULL, doc)
#define U32(t, c, f, doc) KIND(t, c, U32, f, NULL, doc)
#define I64(t, c, f, doc) KIND(t, c, I64, f, NULL, doc)
#define U64(t, c, f, doc) KIND(t, c, U64, f, NULL, doc)
#define REAL(t, c, f, doc) KIND(t, c, REAL, f, NULL, doc)
#define FLAG(t, c, f, doc) KIND(t, c, FLAG, f, NULL, doc)
#define REF(t, c, f, target, doc) KIND(t, c, REF, f, #target, doc)
#define RANK(t, c, f, doc) KIND(t, c, RANK, f, NULL, doc)
#define NUMBER(t, c, f, doc) KIND(t, c, NUMBER, f, NULL, doc)
#define COUNTER(t, c, f, doc) KIND(t, c, COUNTER, f, NULL, doc)
#define ID32(t, c, f, doc) KIND(t, c, ID32, f, NULL, doc)
#define TIME(t, c, f, doc) KIND(t, c, TIME, f, NULL, doc)
#define POSITION(t, c, f, doc) KIND(t, c, POSITION, f, NULL, doc)
#define CODE(t, c, f, doc) KIND(t, c, CODE, f, NULL, doc)
#define FORMAT(t, c, f, doc) KIND(t, c, FORMAT, f, NULL, doc)
#define WORD(t, c, f, doc) KIND(t, c, WORD, f, NULL, doc)
#define OWN_BLOB(t, c, f, doc) KIND(t, c, BLOB, f, NULL, doc)
#define OWN_TEXT(t, c, f, doc) KIND(t, c, TEXT, f, NULL, doc)
#define INTERNED_TEXT(t, c, f, doc) INTERNED(c, INTERNED_TEXT, f, doc)
#define INTERNED_LIST(t, c, f, doc) INTERNED(c, INTERNED_LIST, f, doc)
#define INTERNED_KEY(t, c, f, doc) INTERNED(c, INTERNED_KEY, f, doc)

/* First pass: the columns. */
#define TABLE(name, type, doc)                                                                     \
    typedef type row_##name;                                                                       \
    static const struct hs_column columns_##name[] = {
#define DERIVED(name, type, doc) TABLE(name, type, doc)
#define END(name)                                                                                  \
    {                                                                                              \
        NULL, HS_COLUMN_U8, 0, NULL, NULL                                                          \
    }                                                                                              \
    }                                                                                              \
    ;
#include "schema/tables.def"
#undef TABLE
#undef DERIVED
#undef END
#undef KIND
#undef INTERNED

/* Second pass: the tables. */
#define KIND(table, column, kind, field, target, doc)
#define INTERNED(column, kind, field, doc)
#define TABLE(name, type, doc) { #name, doc, columns_##name, false },
#define DERIVED(name, type, doc) { #name, doc, columns_##name, true },
#define END(name)

const struct hs_table hs_tables[] = {
#include "schema/tables.def"
    { NULL, NULL, NULL, false },
};

const struct hs_table *hs_table_find(const char *name)
{
    for (const struct hs_table *t = hs_tables; t->name; t++) {
        if (strcmp(t->name, name) == 0)
            return t;
    }
    return NULL;
}

static uint64_t count_operations(const struct hs_job *job)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < job->dump_count; i++)
        count += job->dumps[i].operation_count;
    return count;
}

struct hs_table_base hs_table_base(const struct hs_table *table, const struct hs_rows *r)
{
    static const struct hs_derived nothing = { .group_count = 0 };
    const struct hs_job *job = r->job;
    const struct hs_derived *d = r->derived ? r->derived : &nothing;
    const struct {
        const char *table;
        struct hs_table_base base;
    } homes[] = {
        { "string", { NULL, 0, job->strings.count } },
        { "list", { NULL, 0, job->lists.count } },
        { "frame", { NULL, 0, job->frames_keys.count } },
        { "stack", { NULL, 0, job->stacks_keys.count } },
        { "args", { NULL, 0, job->args_keys.count } },
        { "signature", { job->signatures, sizeof(*job->signatures), job->signatures_keys.count } },
        { "source", { job->sources, sizeof(*job->sources), job->source_count } },
        { "diagnostic", { job->diagnostics, sizeof(*job->diagnostics), job->diagnostic_count } },
        { "dump", { job->dumps, sizeof(*job->dumps), job->dump_count } },
        { "member", { job->members, sizeof(*job->members), job->member_count } },
        { "operation", { NULL, 0, count_operations(job) } },
        { "process", { d->processes, sizeof(*d->processes), d->process_count } },
        { "voice", { d->voices, sizeof(*d->voices), d->voice_count } },
        { "heard", { d->heard, sizeof(*d->heard), d->heard_count } },
        { "comm", { d->comms, sizeof(*d->comms), d->comm_count } },
        { "comm_end", { d->comm_ends, sizeof(*d->comm_ends), d->comm_end_count } },
        { "clock", { d->clocks, sizeof(*d->clocks), d->clock_count } },
        { "process_group", { d->groups, sizeof(*d->groups), d->group_count } },
        { "frontier", { d->frontiers, sizeof(*d->frontiers), d->frontier_count } },
        { "wait", { d->waits, sizeof(*d->waits), d->wait_count } },
        { "arrival", { d->arrivals, sizeof(*d->arrivals), d->arrival_count } },
        { "mismatch", { d->mismatches, sizeof(*d->mismatches), d->mismatch_count } },
    };

    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        if (strcmp(homes[i].table, table->name) == 0)
            return homes[i].base;
    }
    for (const struct hs_line_table *t = hs_line_tables; t->name; t++) {
        if (strcmp(t->name, table->name) == 0) {
            uint32_t count;
            const void *rows = hs_job_rows(job, t, &count);

            return (struct hs_table_base){ rows, t->row_bytes, count };
        }
    }
    return (struct hs_table_base){ .base = NULL };
}

/* ---- as SQL and as a page ---- */

static const char *sql_type(enum hs_column_kind kind)
{
    switch (kind) {
    case HS_COLUMN_REAL:
        return "REAL";
    case HS_COLUMN_CODE:
    case HS_COLUMN_FORMAT:
    case HS_COLUMN_WORD:
    case HS_COLUMN_TEXT:
    case HS_COLUMN_INTERNED_LIST:
        return "TEXT";
    case HS_COLUMN_INTERNED_TEXT:
        return "ANY";
    case HS_COLUMN_INTERNED_KEY:
    case HS_COLUMN_BLOB:
        return "BLOB";
    default:
        return "INTEGER";
    }
}

void hs_tables_ddl(struct hs_buf *out)
{
    for (const struct hs_table *t = hs_tables; t->name; t++) {
        hs_buf_printf(out, "CREATE TABLE %s ( -- %s\n  id INTEGER PRIMARY KEY", t->name, t->doc);
        for (const struct hs_column *c = t->columns; c->name; c++) {
            hs_buf_printf(out, ",\n  \"%s\" %s", c->name, sql_type(c->kind));
            if (c->target)
                hs_buf_printf(out, " REFERENCES %s(id)", c->target);
        }
        hs_buf_put(out, HS_STR("\n) STRICT;\n"));
    }
}

static void document_table(const struct hs_table *t, struct hs_buf *out)
{
    hs_buf_printf(out, "\n### %s\n\n%s\n\n| column | type | what |\n|---|---|---|\n", t->name,
                  t->doc);
    for (const struct hs_column *c = t->columns; c->name; c++) {
        hs_buf_printf(out, "| `%s` | %s", c->name, sql_type(c->kind));
        if (c->target)
            hs_buf_printf(out, " → %s", c->target);
        hs_buf_printf(out, " | %s |\n", c->doc);
    }
}

void hs_tables_document(struct hs_buf *out)
{
    hs_buf_put(out,
               HS_STR("\n## Facts\n\nAs read from the input. Every table has an `id`, from 0.\n"));
    for (const struct hs_table *t = hs_tables; t->name; t++) {
        if (!t->derived)
            document_table(t, out);
    }
    hs_buf_put(
        out, HS_STR("\n## Derived\n\nBy the analysis, of the judged attempt; never read back.\n"));
    for (const struct hs_table *t = hs_tables; t->name; t++) {
        if (t->derived)
            document_table(t, out);
    }
}
