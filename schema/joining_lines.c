/* joining_lines.c - rows that belong to a source go where the source goes. */
#include "schema/joining.h"

#include <assert.h>

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

/* A field of a row that is called otherwise in the whole. */
struct renamed {
    size_t offset;
    enum { SOURCE, STRING, ARGS, STACK, ROW, BLOB } what;
    size_t table; /* of ROW */
};

enum { RENAMED_MAX = 16 };

/* The fields of a table's rows that have to be renamed; every row asks, so they are found once. */
static uint32_t find_renamed(const struct hs_table *table, struct renamed *out)
{
    static const char *const targets[] = { "source", "string", "args", "stack" };
    uint32_t n = 0;

    for (const struct hs_column *c = table->columns; c->name; c++) {
        struct renamed field = { .offset = c->offset, .what = ROW };

        if (c->kind == HS_COLUMN_BLOB)
            field.what = BLOB;
        else if (c->kind != HS_COLUMN_REF)
            continue;
        for (int i = 0; field.what == ROW && i < 4; i++) {
            if (strcmp(c->target, targets[i]) == 0)
                field.what = i;
        }
        if (field.what == ROW)
            field.table = line_table_of(c->target);
        assert(n < RENAMED_MAX);
        out[n++] = field;
    }
    return n;
}

static bool rename_blob(struct joining *j, struct hs_str *blob)
{
    *blob = hs_arena_copy(&j->out->texts, *blob);
    return blob->p != NULL;
}

/* Where a row comes from and goes to. */
struct move {
    uint32_t part, source, to;
};

static bool rename_field(struct joining *j, const struct move *m, const struct renamed *field,
                         char *row)
{
    uint32_t *id = (uint32_t *)(void *)(row + field->offset), old = *id;

    switch (field->what) {
    case SOURCE:
        *id = m->to;
        break;
    case STRING:
        *id = hs_join_string(j, m->part, old);
        break;
    case ARGS:
        *id = hs_join_args(j, m->part, old);
        break;
    case STACK:
        *id = hs_join_stack(j, m->part, old);
        break;
    case ROW:
        *id = row_of(j, m->part, m->source, field->table, old);
        break;
    case BLOB:
        return rename_blob(j, (struct hs_str *)(void *)(row + field->offset));
    }
    return old == HS_NO_ID || *id != HS_NO_ID;
}

/*
 * Room in the whole for `n` rows of a part from `first` on, with what they hold. The first table
 * of its kind, if it is of one source, is not copied but taken over.
 */
static char *take_rows(struct joining *j, uint32_t part, const struct hs_line_table *home,
                       uint32_t first, uint32_t n)
{
    uint32_t all, before;
    char *from = hs_job_rows(&j->parts[part], home, &all), *to;

    (void)hs_job_rows(j->out, home, &before);
    if (before == 0 && n == all) {
        hs_job_move_rows(&j->parts[part], j->out, home);
        return from;
    }
    to = hs_job_add_rows(j->out, home, n);
    if (to)
        memcpy(to, from + first * home->row_bytes, n * home->row_bytes);
    return to;
}

/* What the lines of a source say goes where the source goes. */
bool hs_join_lines(struct joining *j, uint32_t part, uint32_t source, uint32_t to)
{
    struct renumbering *ids = &j->ids[part];
    const struct move m = { part, source, to };

    for (size_t t = 0; t < LINE_TABLES; t++) {
        const struct hs_line_table *home = &hs_line_tables[t];
        uint32_t first = ids->first[t][source], n = ids->first[t][source + 1] - first, all;
        struct renamed fields[RENAMED_MAX];
        uint32_t count = find_renamed(hs_table_find(home->name), fields);
        char *rows;

        (void)hs_job_rows(j->out, home, &all);
        ids->moved[t][source] = all;
        if (n == 0)
            continue;
        rows = take_rows(j, part, home, first, n);
        if (!rows)
            return false;
        for (uint32_t i = 0; i < n; i++, rows += home->row_bytes) {
            for (uint32_t f = 0; f < count; f++) {
                if (!rename_field(j, &m, &fields[f], rows))
                    return false;
            }
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
