/* joining_lines.c - rows that belong to a source go where the source goes. */
#include "schema/joining.h"

/* The number of table `name` among hs_line_tables; LINE_TABLES: it is none of them. */
static size_t line_table_of(const char *name)
{
    size_t t = 0;

    while (t < LINE_TABLES && strcmp(hs_line_tables[t].name, name) != 0)
        t++;
    return t;
}

/* A row of this source in table `t` of a part, as a row of the whole. */
static uint32_t row_of(const struct joining *j, uint32_t part, uint32_t source, size_t t,
                       uint32_t id)
{
    const struct renumbering *ids = &j->ids[part];

    return id == HS_NO_ID ? id : ids->moved[t][source] + (id - ids->first[t][source]);
}

/* One field of a row that refers to something: what it is called in the whole. */
static bool rename_field(struct joining *j, uint32_t part, uint32_t source, uint32_t to,
                         const struct hs_column *c, char *at)
{
    uint32_t *id = (uint32_t *)(void *)at, old = *id;

    if (strcmp(c->target, "source") == 0)
        *id = to;
    else if (strcmp(c->target, "string") == 0)
        *id = hs_join_string(j, part, old);
    else if (strcmp(c->target, "args") == 0)
        *id = hs_join_args(j, part, old);
    else if (strcmp(c->target, "stack") == 0)
        *id = hs_join_stack(j, part, old);
    else
        *id = row_of(j, part, source, line_table_of(c->target), old);
    return old == HS_NO_ID || *id != HS_NO_ID;
}

static bool rename_row(struct joining *j, uint32_t part, uint32_t source, uint32_t to,
                       const struct hs_table *table, char *row)
{
    for (const struct hs_column *c = table->columns; c->name; c++) {
        char *at = row + c->offset;

        if (c->kind == HS_COLUMN_REF && !rename_field(j, part, source, to, c, at))
            return false;
        if (c->kind == HS_COLUMN_BLOB) {
            struct hs_str *blob = (struct hs_str *)(void *)at;

            *blob = hs_arena_copy(&j->out->texts, *blob);
            if (!blob->p)
                return false;
        }
    }
    return true;
}

/* What the lines of a source say goes where the source goes. */
bool hs_join_lines(struct joining *j, uint32_t part, uint32_t source, uint32_t to)
{
    struct renumbering *ids = &j->ids[part];

    for (size_t t = 0; t < LINE_TABLES; t++) {
        const struct hs_line_table *home = &hs_line_tables[t];
        const struct hs_table *table = hs_table_find(home->name);
        uint32_t count, all;
        const char *rows = hs_job_rows(&j->parts[part], home, &all);

        (void)hs_job_rows(j->out, home, &count);
        ids->moved[t][source] = count;
        for (uint32_t i = ids->first[t][source]; i < ids->first[t][source + 1]; i++) {
            char *row;

            if (!hs_job_add_row(j->out, home, rows + i * home->row_bytes))
                return false;
            row = hs_job_rows(j->out, home, &all);
            if (!rename_row(j, part, source, to, table, row + (all - 1) * home->row_bytes))
                return false;
        }
    }
    return true;
}

/* Where the rows of each source begin: they lie together, in the order of sources. */
bool hs_join_index_lines(struct renumbering *ids, const struct hs_job *part, struct hs_arena *arena)
{
    for (size_t t = 0; t < LINE_TABLES; t++) {
        uint32_t count, source = 0;
        const char *rows = hs_job_rows(part, &hs_line_tables[t], &count);

        ids->first[t] = HS_NEW(arena, uint32_t, (size_t)part->source_count + 1);
        ids->moved[t] = HS_NEW(arena, uint32_t, part->source_count);
        if (!ids->first[t] || !ids->moved[t])
            return false;
        memset(ids->moved[t], 0xff, part->source_count * sizeof(*ids->moved[t]));
        for (uint32_t i = 0; i < count; i++) {
            const void *row = rows + i * hs_line_tables[t].row_bytes;

            while (source < *(const uint32_t *)row)
                ids->first[t][++source] = i;
        }
        while (source < part->source_count)
            ids->first[t][++source] = count;
    }
    return true;
}

bool hs_join_has_lines(const struct joining *j, uint32_t part, uint32_t source)
{
    const struct renumbering *ids = &j->ids[part];

    for (size_t t = 0; t < LINE_TABLES; t++) {
        if (ids->first[t][source] < ids->first[t][source + 1])
            return true;
    }
    return false;
}

bool hs_join_taken(const struct joining *j, uint32_t part, uint32_t source)
{
    return j->ids[part].moved[0][source] != HS_NO_ID;
}

uint32_t hs_join_row(const struct joining *j, uint32_t part, uint32_t source, const char *table,
                     uint32_t id)
{
    return row_of(j, part, source, line_table_of(table), id);
}
