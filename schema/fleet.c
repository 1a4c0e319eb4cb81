/* fleet.c - the columns of a job in a fleet, and a job as bytes for the way between processes. */
#include "schema/fleet.h"

#include "base/limits.h"

#include <stddef.h>

#define TEXT(type, field)                                                                          \
    {                                                                                              \
        .name = #field, .is_text = true, .offset = offsetof(struct type, field)                    \
    }
#define NUMBER(type, field)                                                                        \
    {                                                                                              \
        .name = #field, .is_text = false, .offset = offsetof(struct type, field)                   \
    }

static const struct hs_fleet_column job_columns[] = {
    TEXT(hs_fleet_row, path),          TEXT(hs_fleet_row, name),
    NUMBER(hs_fleet_row, files),       NUMBER(hs_fleet_row, bytes),
    NUMBER(hs_fleet_row, newest_ns),   NUMBER(hs_fleet_row, stamp),
    TEXT(hs_fleet_row, tool),          TEXT(hs_fleet_row, state),
    NUMBER(hs_fleet_row, exit),        NUMBER(hs_fleet_row, signal),
    TEXT(hs_fleet_row, limit),         NUMBER(hs_fleet_row, tries),
    TEXT(hs_fleet_row, trouble),       TEXT(hs_fleet_row, code),
    TEXT(hs_fleet_row, cause),         TEXT(hs_fleet_row, confidence),
    TEXT(hs_fleet_row, action),        TEXT(hs_fleet_row, summary),
    TEXT(hs_fleet_row, operation),     TEXT(hs_fleet_row, group_kind),
    TEXT(hs_fleet_row, fingerprint),   TEXT(hs_fleet_row, sketch),
    NUMBER(hs_fleet_row, happened_ns), TEXT(hs_fleet_row, happened_from),
    NUMBER(hs_fleet_row, world_size),  NUMBER(hs_fleet_row, gpus),
    NUMBER(hs_fleet_row, idle_ns),     TEXT(hs_fleet_row, kept_db),
    TEXT(hs_fleet_row, kept_report),   NUMBER(hs_fleet_row, wall_ms),
    NUMBER(hs_fleet_row, cpu_ms),      NUMBER(hs_fleet_row, peak_bytes),
    NUMBER(hs_fleet_row, judged_ns),   { .name = NULL },
};

static const struct hs_fleet_column culprit_columns[] = {
    NUMBER(hs_fleet_culprit, rank),
    TEXT(hs_fleet_culprit, host),
    NUMBER(hs_fleet_culprit, gpu),
    TEXT(hs_fleet_culprit, role),
    { .name = NULL },
};

static const struct hs_fleet_column finding_columns[] = {
    TEXT(hs_fleet_finding, code),
    TEXT(hs_fleet_finding, severity),
    NUMBER(hs_fleet_finding, ranks),
    { .name = NULL },
};

static const struct hs_fleet_column frame_columns[] = {
    TEXT(hs_fleet_frame, who),  NUMBER(hs_fleet_frame, depth),
    TEXT(hs_fleet_frame, file), TEXT(hs_fleet_frame, function),
    { .name = NULL },
};

const struct hs_fleet_table hs_fleet_tables[] = {
    { "job", job_columns, sizeof(struct hs_fleet_row), 0, 0 },
    { "culprit", culprit_columns, sizeof(struct hs_fleet_culprit),
      offsetof(struct hs_fleet_row, culprits), offsetof(struct hs_fleet_row, culprit_count) },
    { "finding", finding_columns, sizeof(struct hs_fleet_finding),
      offsetof(struct hs_fleet_row, findings), offsetof(struct hs_fleet_row, finding_count) },
    { "frame", frame_columns, sizeof(struct hs_fleet_frame), offsetof(struct hs_fleet_row, frames),
      offsetof(struct hs_fleet_row, frame_count) },
    { NULL, NULL, 0, 0, 0 },
};

void hs_fleet_row_init(struct hs_fleet_row *row)
{
    *row = (struct hs_fleet_row){ .culprits = NULL };
    for (const struct hs_fleet_column *c = job_columns; c->name; c++) {
        if (!c->is_text)
            *hs_fleet_number(row, c) = HS_FLEET_NONE;
    }
}

static void **rows_of(const struct hs_fleet_row *row, const struct hs_fleet_table *table)
{
    return (void **)((char *)row + table->rows_offset);
}

static uint32_t *count_of(const struct hs_fleet_row *row, const struct hs_fleet_table *table)
{
    return (uint32_t *)((char *)row + table->count_offset);
}

void *hs_fleet_rows(const struct hs_fleet_row *row, const struct hs_fleet_table *table,
                    uint32_t *count)
{
    bool is_job = table->count_offset == 0;

    *count = is_job ? 1 : *count_of(row, table);
    return is_job ? (void *)row : *rows_of(row, table);
}

/* ---- as bytes: numbers as they lie in memory; a text is its length + 1 (0: none) and itself ----
 */

static void put_raw(struct hs_buf *out, const void *p, size_t n)
{
    hs_buf_put(out, (struct hs_str){ .p = p, .n = n });
}

static void put_fields(struct hs_buf *out, void *row, const struct hs_fleet_column *columns)
{
    for (const struct hs_fleet_column *c = columns; c->name; c++) {
        if (c->is_text) {
            struct hs_str text = *hs_fleet_text(row, c);
            uint32_t mark = text.p ? (uint32_t)text.n + 1 : 0;

            put_raw(out, &mark, sizeof(mark));
            hs_buf_put(out, text);
        } else {
            put_raw(out, hs_fleet_number(row, c), sizeof(int64_t));
        }
    }
}

void hs_fleet_put(struct hs_buf *out, const struct hs_fleet_row *row)
{
    for (const struct hs_fleet_table *t = hs_fleet_tables; t->name; t++) {
        uint32_t count;
        char *rows = hs_fleet_rows(row, t, &count);

        put_raw(out, &count, sizeof(count));
        for (uint32_t i = 0; i < count; i++)
            put_fields(out, rows + i * t->row_bytes, t->columns);
    }
}

static bool take_raw(struct hs_str *bytes, void *to, size_t n)
{
    if (bytes->n < n)
        return false;
    memcpy(to, bytes->p, n);
    bytes->p += n;
    bytes->n -= n;
    return true;
}

static bool take_fields(struct hs_str *bytes, void *row, const struct hs_fleet_column *columns)
{
    for (const struct hs_fleet_column *c = columns; c->name; c++) {
        uint32_t mark;

        if (!c->is_text) {
            if (!take_raw(bytes, hs_fleet_number(row, c), sizeof(int64_t)))
                return false;
            continue;
        }
        if (!take_raw(bytes, &mark, sizeof(mark)) || (mark && bytes->n < mark - 1))
            return false;
        *hs_fleet_text(row, c) =
            (struct hs_str){ .p = mark ? bytes->p : NULL, .n = mark ? mark - 1 : 0 };
        if (mark) {
            bytes->p += mark - 1;
            bytes->n -= mark - 1;
        }
    }
    return true;
}

bool hs_fleet_take(struct hs_str bytes, struct hs_arena *arena, struct hs_fleet_row *out)
{
    struct hs_fleet_row row = { .culprits = NULL };

    for (const struct hs_fleet_table *t = hs_fleet_tables; t->name; t++) {
        bool is_job = t->count_offset == 0;
        uint32_t count;
        char *rows = (char *)&row;

        if (!take_raw(&bytes, &count, sizeof(count)) || count > HS_FLEET_LIST_MAX ||
            (is_job && count != 1))
            return false;
        if (!is_job && count) {
            rows = hs_arena_alloc(arena, count, t->row_bytes);
            if (!rows)
                return false;
            *rows_of(&row, t) = rows;
            *count_of(&row, t) = count;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!take_fields(&bytes, rows + i * t->row_bytes, t->columns))
                return false;
        }
    }
    if (bytes.n)
        return false;
    *out = row;
    return true;
}
