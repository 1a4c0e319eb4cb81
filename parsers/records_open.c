/* records_open.c - what an open record holds, and how it becomes an event. */
#include "parsers/records_internal.h"

#include <stdio.h>

/* ---- values ---- */

static uint32_t keep_string(struct hs_text *t, struct hs_str text)
{
    if (text.n > HS_TEXT_LINE_BYTES_MAX)
        text.n = HS_TEXT_LINE_BYTES_MAX;
    return hs_text_string(t, text);
}

bool hs_records_hold(struct hs_text *t, struct hs_str *text)
{
    uint32_t id = text->p ? keep_string(t, *text) : HS_NO_ID;

    if (text->p && !t->no_memory)
        *text = hs_job_string(t->job, id);
    return !t->no_memory;
}

static struct hs_record_value *find_value(struct hs_open *open, const char *name)
{
    for (uint32_t i = 0; i < open->value_count; i++) {
        if (strcmp(open->values[i].name, name) == 0)
            return &open->values[i];
    }
    return NULL;
}

void hs_open_set(struct hs_text *t, struct hs_open *open, const char *name, struct hs_str value)
{
    struct hs_record_value *slot = find_value(open, name);
    uint32_t id;

    if (!value.p || value.n == 0)
        return;
    id = keep_string(t, value);
    if (id == HS_NO_ID)
        return;
    if (!slot) {
        if (open->value_count == HS_RECORD_VALUES_MAX)
            return;
        slot = &open->values[open->value_count++];
    }
    *slot = (struct hs_record_value){ .name = name, .text = hs_job_string(t->job, id) };
}

void hs_open_set_number(struct hs_text *t, struct hs_open *open, const char *name, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    hs_open_set(t, open, name, hs_str_of(text));
}

struct hs_str hs_open_get(const struct hs_open *open, const char *name)
{
    const struct hs_record_value *value = find_value((struct hs_open *)open, name);

    return value ? value->text : (struct hs_str){ .p = NULL };
}

void hs_open_unset(struct hs_open *open, const char *name)
{
    struct hs_record_value *value = find_value(open, name);

    if (value)
        *value = open->values[--open->value_count];
}

/* ---- frames ---- */

void hs_open_push(struct hs_text *t, struct hs_open *open, struct hs_str function,
                  struct hs_str file, uint64_t line)
{
    struct hs_frame frame = { .line = line < UINT32_MAX ? (uint32_t)line : 0 };
    uint32_t id;

    if (!open->outermost_first && open->frame_count >= HS_FRAMES_MAX)
        return;
    frame.function = keep_string(t, function.p ? function : HS_STR(""));
    frame.file = keep_string(t, file.p ? file : HS_STR(""));
    if (t->no_memory)
        return;
    if (t->frames.count >= HS_FRAME_KINDS_MAX) {
        hs_text_full(t, HS_FULL_FRAMES);
        return;
    }
    id = hs_job_put_frame(t->job, &frame);
    if (id == HS_NO_ID || !hs_met_add(&t->frames, id) ||
        (open->frame_count < HS_FRAMES_MAX &&
         !HS_GROW(open->frames, open->frame_cap, (size_t)open->frame_count + 1))) {
        t->no_memory = true;
        return;
    }
    open->frames[open->frame_count++ % HS_FRAMES_MAX] = id;
}

void hs_open_place(struct hs_text *t, struct hs_open *open, struct hs_str file, uint64_t line)
{
    const struct hs_frame *last;

    if (!open->frame_count || open->frame_count > HS_FRAMES_MAX)
        return;
    last = hs_job_frame(t->job, open->frames[open->frame_count - 1]);
    if (hs_job_string(t->job, last->file).n)
        return;
    open->frame_count--;
    hs_open_push(t, open, hs_job_string(t->job, last->function), file, line);
}

/* Its frames as a stack, innermost first; HS_NO_ID: none. */
static uint32_t stack_of(struct hs_text *t, const struct hs_open *open)
{
    uint32_t ids[HS_FRAMES_MAX], id;
    uint32_t count =
        open->frame_count < HS_FRAMES_MAX ? (uint32_t)open->frame_count : HS_FRAMES_MAX;

    if (count == 0)
        return HS_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = open->outermost_first ? open->frame_count - 1 - i : i;

        ids[i] = open->frames[at % HS_FRAMES_MAX];
    }
    if (t->stacks.count >= HS_STACKS_MAX) {
        hs_text_full(t, HS_FULL_STACKS);
        return HS_NO_ID;
    }
    id = hs_job_put_stack(t->job, ids, count);
    t->no_memory = t->no_memory || id == HS_NO_ID || !hs_met_add(&t->stacks, id);
    return id;
}

/* ---- saying ---- */

void hs_records_say(struct hs_text *t, const struct hs_told *told)
{
    struct hs_str by_field[HS_PATTERN_NAMES_MAX] = { { .p = NULL } };
    uint32_t index = hs_records_family(t, told->family);
    const struct hs_family *row;

    if (index == HS_NO_ID || t->no_memory)
        return;
    row = &t->families->rows[index];
    for (uint32_t f = 0; f < row->field_count; f++) {
        for (uint32_t i = 0; i < told->count; i++) {
            const struct hs_record_value *value = &told->values[i];

            if (value->text.p && hs_str_is(row->fields[f], value->name))
                by_field[f] = value->text;
        }
    }
    if (!hs_text_say(t, told->head,
                     &(struct hs_said){ .family = index,
                                        .speaker = told->speaker,
                                        .values = by_field,
                                        .stack = told->stack,
                                        .line = told->head->line,
                                        .stamp = told->head->stamp }))
        t->no_memory = true;
}

void hs_open_say(struct hs_text *t, const struct hs_open *open, const char *family)
{
    hs_records_say(t, &(struct hs_told){ .family = family,
                                         .head = &open->head,
                                         .speaker = open->speaker,
                                         .stack = stack_of(t, open),
                                         .values = open->values,
                                         .count = open->value_count });
}

void hs_records_keep(struct hs_text *t, const struct hs_record *record)
{
    if (!hs_text_keep(t, record->line, record->segment))
        t->no_memory = true;
}

/* ---- pieces of text ---- */

struct hs_str hs_between(struct hs_str text, const char *open, const char *close)
{
    struct hs_str rest;
    size_t end;

    if (!hs_after(text, open, &rest))
        return (struct hs_str){ .p = NULL };
    end = hs_find(rest, close);
    return end == SIZE_MAX ? (struct hs_str){ .p = NULL } : hs_until(rest, end);
}

struct hs_str hs_take_digits(struct hs_str *text)
{
    size_t n = 0;
    struct hs_str digits;

    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    digits = hs_until(*text, n);
    *text = hs_from(*text, n);
    return digits;
}

size_t hs_find_last(struct hs_str text, char c)
{
    const char *at = text.n ? memrchr(text.p, c, text.n) : NULL;

    return at ? (size_t)(at - text.p) : SIZE_MAX;
}

bool hs_split_place(struct hs_str text, struct hs_str *file, uint64_t *line)
{
    size_t colon = hs_find_last(text, ':');
    uint64_t number;

    if (colon == SIZE_MAX || colon == 0 || !hs_str_number(hs_from(text, colon + 1), &number))
        return false;
    *file = hs_until(text, colon);
    *line = number;
    return true;
}
