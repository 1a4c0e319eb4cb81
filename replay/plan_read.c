/*
 * plan_read.c - a plan from its text. People change plans by hand, so whatever is wrong is said
 * with its line.
 *
 * Keys may come in any order within an object, except that the parts of the document come as they
 * are written: groups and stacks before programs, programs before ranks. Unknown keys are refused:
 * a mistyped one would be a change that does nothing.
 */
#include "replay/plan_reading.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

/* ---- ranks ---- */

static bool list_ranks(struct hs_plan_reading *r, uint32_t **out, uint32_t *count)
{
    uint32_t cap = 0;

    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (*count == HS_PLAN_RANKS_MAX)
            return hs_reading_wrong(r, "more than %u ranks", HS_PLAN_RANKS_MAX);
        if (!HS_GROW(*out, cap, *count + 1u))
            return hs_reading_no_memory(r);
        if (hs_reading_as_number(r, HS_RANK_MAX, "a rank", &(*out)[*count]))
            (*count)++;
    }
    return r->status == HS_OK;
}

/* "0-3,7" or [3, 1]: malloc'ed. */
static bool take_ranks(struct hs_plan_reading *r, uint32_t **out, uint32_t *count)
{
    if (*out)
        return hs_reading_wrong(r, "\"ranks\" stands twice");
    if (!hs_reading_next(r))
        return false;
    if (r->kind == HS_JSON_ARRAY)
        return list_ranks(r, out, count);
    if (r->kind != HS_JSON_STRING || !hs_ranks_read(r->token.text, HS_PLAN_RANKS_MAX, out, count))
        return hs_reading_wrong(r,
                                "\"ranks\" is a list such as \"0-7,12\" or [3, 1], of at most %u",
                                HS_PLAN_RANKS_MAX);
    return *out || hs_reading_no_memory(r);
}

/* ---- groups ---- */

static bool add_group(struct hs_plan_reading *r, const struct hs_plan_group *row)
{
    struct hs_plan_group *added;

    if (row->name == HS_NO_ID || row->size == 0)
        return hs_reading_wrong(r, "a group has a \"name\" and \"ranks\"");
    if (r->plan->group_count == HS_GROUPS_MAX)
        return hs_reading_wrong(r, "more than %u groups", HS_GROUPS_MAX);
    added = hs_plan_add_group(r->plan, row->ranks, row->size);
    if (!added)
        return hs_reading_no_memory(r);
    added->name = row->name;
    added->desc = row->desc;
    added->backend = row->backend;
    added->assumed = row->assumed;
    return true;
}

static bool read_group(struct hs_plan_reading *r)
{
    static const char *const keys[] = { "name", "desc", "backend", "ranks", "assumed" };
    struct hs_plan_group row = { .name = HS_NO_ID, .desc = HS_NO_ID, .backend = HS_NO_ID };
    uint32_t *const texts[] = { &row.name, &row.desc, &row.backend };
    size_t key;

    if (r->kind != HS_JSON_OBJECT)
        return hs_reading_wrong(r, "a group is an object");
    while (hs_reading_take_key(r, keys, sizeof(keys) / sizeof(keys[0]), &key)) {
        if (key < 3)
            (void)hs_reading_take_string(r, keys[key], texts[key]);
        else if (key == 3)
            (void)take_ranks(r, &row.ranks, &row.size);
        else
            (void)hs_reading_take_flag(r, keys[key], &row.assumed);
    }
    if (r->status == HS_OK)
        (void)add_group(r, &row);
    free(row.ranks);
    return r->status == HS_OK;
}

/* ---- stacks ---- */

static bool read_frame(struct hs_plan_reading *r, uint32_t count)
{
    struct hs_frame frame = { .line = 0 };

    if (r->kind != HS_JSON_ARRAY || count == HS_FRAMES_MAX)
        return hs_reading_wrong(r, "a stack has at most %u frames, each [function, file, line]",
                                HS_FRAMES_MAX);
    if (!HS_GROW(r->frames, r->frame_cap, count + 1u))
        return hs_reading_no_memory(r);
    if (!hs_reading_take_string(r, "function", &frame.function) ||
        !hs_reading_take_string(r, "file", &frame.file) ||
        !hs_reading_take_number(r, UINT32_MAX, "line", &frame.line))
        return false;
    r->frames[count] = frame;
    return hs_reading_expect(r, HS_JSON_ARRAY_END, "the end of the frame");
}

static bool read_stack(struct hs_plan_reading *r)
{
    uint32_t count = 0, known = r->plan->stack_keys.count;

    if (r->kind != HS_JSON_ARRAY)
        return hs_reading_wrong(r, "a stack is a list of frames");
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (read_frame(r, count))
            count++;
    }
    if (r->status != HS_OK)
        return false;
    if (hs_plan_put_stack(r->plan, r->frames, count) == HS_NO_ID)
        return hs_reading_no_memory(r);
    return r->plan->stack_keys.count > known ||
           hs_reading_wrong(r, "this stack stands there twice");
}

/* ---- rows of ranks ---- */

enum row_key { ROW_GROUPS, ROW_START, ROW_UNTIL, ROW_RANKS, ROW_PROGRAM, ROW_PARTIAL, ROW_RECORD };

static const char *const row_keys[] = { "groups",  "start",   "until", "ranks",
                                        "program", "partial", "record" };

struct row_reading {
    uint32_t *ranks, rank_count;
    uint32_t program, flags;
    bool given[3]; /* groups, start, until: in the lists of the reading */
    uint32_t counts[3];
};

/* Numbers of a row into its list. */
static bool take_numbers(struct hs_plan_reading *r, size_t list, struct row_reading *row)
{
    uint32_t count = 0;

    row->given[list] = true;
    if (!hs_reading_expect(r, HS_JSON_ARRAY, "a list of numbers"))
        return false;
    while (hs_reading_more(r, HS_JSON_ARRAY_END)) {
        if (count == HS_PLAN_SLOTS_MAX)
            return hs_reading_wrong(r, "%s: more than %u", row_keys[list], HS_PLAN_SLOTS_MAX);
        if (!HS_GROW(r->lists[list], r->list_caps[list], count + 1u))
            return hs_reading_no_memory(r);
        if (!hs_reading_as_number(r, UINT32_MAX - 1, row_keys[list], &r->lists[list][count]))
            return false;
        if (list == ROW_GROUPS && r->lists[list][count] >= r->plan->group_count)
            return hs_reading_wrong(r, "there is no group %u", r->lists[list][count]);
        count++;
    }
    row->counts[list] = count;
    return r->status == HS_OK;
}

static bool take_record(struct hs_plan_reading *r, uint32_t *flags)
{
    if (!hs_reading_next(r))
        return false;
    if (r->kind == HS_JSON_STRING && hs_str_is(r->token.text, "open"))
        *flags |= HS_PLAN_OPEN;
    else if (r->kind == HS_JSON_STRING && hs_str_is(r->token.text, "none"))
        *flags |= HS_PLAN_ABSENT;
    else
        return hs_reading_wrong(r, "\"record\" is \"open\" or \"none\"");
    return true;
}

static bool take_program(struct hs_plan_reading *r, uint32_t *out)
{
    if (!hs_reading_take_number(r, UINT32_MAX - 1, "program", out))
        return false;
    return *out < r->plan->program_count || hs_reading_wrong(r, "there is no program %u", *out);
}

static bool take_row_value(struct hs_plan_reading *r, struct row_reading *row, size_t key)
{
    bool partial = false;

    switch ((enum row_key)key) {
    case ROW_GROUPS:
    case ROW_START:
    case ROW_UNTIL:
        return take_numbers(r, key, row);
    case ROW_RANKS:
        return take_ranks(r, &row->ranks, &row->rank_count);
    case ROW_PROGRAM:
        return take_program(r, &row->program);
    case ROW_PARTIAL:
        if (hs_reading_take_flag(r, row_keys[key], &partial) && partial)
            row->flags |= HS_PLAN_PARTIAL;
        return r->status == HS_OK;
    default:
        return take_record(r, &row->flags);
    }
}

static bool add_row(struct hs_plan_reading *r, const struct row_reading *row, uint32_t rank)
{
    uint32_t slots = row->counts[ROW_GROUPS];
    struct hs_plan_rank *added = hs_plan_add_rank(r->plan, rank, slots);

    if (!added)
        return hs_reading_no_memory(r);
    added->program = row->program;
    added->flags = row->flags;
    for (uint32_t s = 0; s < slots; s++) {
        added->groups[s] = r->lists[ROW_GROUPS][s];
        added->start[s] = row->given[ROW_START] ? r->lists[ROW_START][s] : 0;
        added->until[s] = row->given[ROW_UNTIL] ? r->lists[ROW_UNTIL][s] : 0;
    }
    return true;
}

static bool add_rows(struct hs_plan_reading *r, const struct row_reading *row)
{
    if (row->rank_count == 0 || row->program == HS_NO_ID)
        return hs_reading_wrong(r, "a row has \"ranks\" and a \"program\"");
    for (unsigned k = ROW_START; k <= ROW_UNTIL; k++) {
        if (row->given[k] && row->counts[k] != row->counts[ROW_GROUPS])
            return hs_reading_wrong(r, "\"%s\" has %u numbers for %u groups", row_keys[k],
                                    row->counts[k], row->counts[ROW_GROUPS]);
    }
    if (r->plan->rank_count + row->rank_count > HS_PLAN_RANKS_MAX)
        return hs_reading_wrong(r, "more than %u ranks", HS_PLAN_RANKS_MAX);
    for (uint32_t i = 0; i < row->rank_count; i++) {
        if (!add_row(r, row, row->ranks[i]))
            return false;
    }
    return true;
}

static bool read_row(struct hs_plan_reading *r)
{
    struct row_reading row = { .program = HS_NO_ID };
    size_t key;

    if (r->kind != HS_JSON_OBJECT)
        return hs_reading_wrong(r, "a row of \"ranks\" is an object");
    while (hs_reading_take_key(r, row_keys, sizeof(row_keys) / sizeof(row_keys[0]), &key))
        (void)take_row_value(r, &row, key);
    if (r->status == HS_OK)
        (void)add_rows(r, &row);
    free(row.ranks);
    return r->status == HS_OK;
}

/* ---- the document ---- */

static bool read_list(struct hs_plan_reading *r, bool (*item)(struct hs_plan_reading *r))
{
    if (!hs_reading_expect(r, HS_JSON_ARRAY, "a list"))
        return false;
    while (hs_reading_more(r, HS_JSON_ARRAY_END))
        (void)item(r);
    return r->status == HS_OK;
}

static bool read_format(struct hs_plan_reading *r)
{
    if (!hs_reading_expect(r, HS_JSON_STRING, "a text"))
        return false;
    return hs_str_is(r->token.text, "hangscope.plan/1") ||
           hs_reading_wrong(r, "this version reads \"hangscope.plan/1\"");
}

static bool read_semantics(struct hs_plan_reading *r)
{
    const struct hs_semantics *found;

    if (!hs_reading_expect(r, HS_JSON_STRING, "a text"))
        return false;
    found = hs_semantics_find(r->token.text);
    if (!found)
        return hs_reading_wrong(r, "\"semantics\" is \"nccl\" or \"gloo\"");
    r->plan->semantics = found;
    return true;
}

static bool read_part(struct hs_plan_reading *r, size_t key)
{
    static bool (*const items[])(struct hs_plan_reading *) = { read_group, read_stack,
                                                               hs_reading_program, read_row };

    if (key == 0)
        return read_format(r);
    return key == 1 ? read_semantics(r) : read_list(r, items[key - 2]);
}

static bool read_document(struct hs_plan_reading *r)
{
    static const char *const keys[] = { "format", "semantics", "groups",
                                        "stacks", "programs",  "ranks" };
    size_t key, next = 0; /* the part that may come at the earliest */

    if (!hs_reading_expect(r, HS_JSON_OBJECT, "a plan, {\"format\": \"hangscope.plan/1\", ...}"))
        return false;
    while (hs_reading_take_key(r, keys, sizeof(keys) / sizeof(keys[0]), &key)) {
        if (key < next || (next == 0 && key > 0))
            return hs_reading_wrong(r, "the parts come in this order, each once: format, "
                                       "semantics, groups, stacks, programs, ranks");
        next = key + 1;
        (void)read_part(r, key);
    }
    if (r->status != HS_OK)
        return false;
    if (r->plan->rank_count == 0)
        return hs_reading_wrong(r, "a plan has \"groups\", \"programs\" and \"ranks\"");
    return hs_json_left(&r->json) == 0 || hs_reading_wrong(r, "there is more text after the plan");
}

enum hs_status hs_plan_read(struct hs_plan *out, struct hs_str text, const char *name,
                            struct hs_err *err)
{
    struct hs_plan_reading r = { .text = text, .name = name, .plan = out, .err = err };
    enum hs_status status;

    hs_arena_init(&r.texts);
    hs_json_init(&r.json, text);
    (void)read_document(&r);
    free(r.sizes);
    free(r.frames);
    free(r.calls);
    for (unsigned k = 0; k < sizeof(r.lists) / sizeof(r.lists[0]); k++)
        free(r.lists[k]);
    hs_arena_release(&r.texts);
    if (r.status != HS_OK)
        return r.status;
    hs_plan_sort(out);
    status = hs_plan_check(out, err);
    return status == HS_EUSAGE ? hs_note(err, status, "%s: the plan does not fit together", name)
                               : status;
}

bool hs_plan_is(struct hs_str head)
{
    return hs_str_has(head, "\"hangscope.plan/");
}
