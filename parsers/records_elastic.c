/* records_elastic.c - torchrun's table of processes that failed: an event for each of its rows. */
#include "parsers/records_internal.h"

enum { TABLE = 1, TRACEBACK };

static void end_row(struct hs_text *t, struct hs_open *open)
{
    bool empty = open->value_count == (hs_open_get(open, "index").p ? 1 : 0);

    if (!empty && open->number)
        hs_open_set_number(t, open, "root", 1);
    if (!empty)
        hs_open_say(t, open, open->kind->family);
    open->value_count = 0;
    open->frame_count = 0;
    open->state = TABLE;
}

static void set_before(struct hs_text *t, struct hs_open *open, const char *name,
                       struct hs_str value, const char *end)
{
    size_t n = hs_find(value, end);

    hs_open_set(t, open, name, n == SIZE_MAX ? value : hs_until(value, n));
}

static void take_time(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    hs_open_set(t, open, "time", value);
}

static void take_host(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    hs_open_set(t, open, "host", value);
}

static void take_rank(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    set_before(t, open, "rank", value, " ");
    hs_open_set(t, open, "local_rank", hs_between(value, "local_rank: ", ")"));
}

static void take_exit(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    struct hs_str signal;

    set_before(t, open, "exitcode", value, " ");
    hs_open_set(t, open, "pid", hs_between(value, "pid: ", ")"));
    if (hs_after(value, "(SIG", &signal)) { /* seen in PyTorch 2.13 */
        signal = hs_from(value, (size_t)(signal.p - value.p) - strlen("SIG"));
        set_before(t, open, "signal", signal, ")");
    }
}

static void take_path(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    hs_open_set(t, open, "path", value);
}

/* "Signal 9 (SIGKILL) received by PID 14750", the start of a traceback, or any message. */
static void take_message(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    if (hs_str_starts(value, HS_STR("Traceback ("))) {
        open->state = TRACEBACK;
        open->outermost_first = true;
        return;
    }
    if (hs_str_starts(value, HS_STR("To enable traceback see")))
        return;
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = (struct hs_str){ .p = value.p + 1, .n = value.n - 2 };
    hs_open_set(t, open, "message", value);
    if (hs_str_starts(value, HS_STR("Signal ")))
        hs_open_set(t, open, "signal", hs_between(value, "(", ")"));
}

static const struct {
    const char *key, *name; /* the value that says whether the row has it */
    void (*take)(struct hs_text *t, struct hs_open *open, struct hs_str value);
} keys[] = {
    { "time", "time", take_time },       { "host", "host", take_host },
    { "rank", "rank", take_rank },       { "exitcode", "exitcode", take_exit },
    { "error_file", "path", take_path }, { "traceback", "message", take_message },
    { "msg", "message", take_message },
};

/* "  rank      : 11 (local_rank: 3)" */
static bool take_key(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                     struct hs_str line)
{
    size_t colon = hs_find(line, ":");
    struct hs_str key, value;

    if (colon == SIZE_MAX || colon > 16)
        return false;
    key = hs_trim(hs_until(line, colon));
    value = hs_trim(hs_from(line, colon + 1));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!hs_str_is(key, keys[i].key))
            continue;
        if (hs_open_get(open, keys[i].name).p)
            end_row(t, open);
        if (open->value_count == 0)
            open->head.line = record->line;
        keys[i].take(t, open, value);
        if (keys[i].take == take_exit) /* of all its lines, the one to cite */
            open->head.line = record->line;
        return true;
    }
    return false;
}

/* "[0]:" begins a row. */
static bool take_index(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                       struct hs_str line)
{
    struct hs_str digits;

    if (!hs_skip(&line, "["))
        return false;
    digits = hs_take_digits(&line);
    if (digits.n == 0 || !hs_str_is(line, "]:"))
        return false;
    end_row(t, open);
    open->head.line = record->line;
    hs_open_set(t, open, "index", digits);
    return true;
}

static bool is_rule(struct hs_str line)
{
    return hs_str_starts(line, HS_STR("=====")) || hs_str_starts(line, HS_STR("-----")) ||
           hs_str_starts(line, HS_STR("*****"));
}

/* What stands between rows. */
static bool take_heading(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    bool root = hs_find(line, "Root Cause") != SIZE_MAX;
    bool others = hs_str_is(line, "Failures:") || hs_str_is(line, "Other Failures:");

    if (!root && !others && !is_rule(line) && !hs_str_ends(line, HS_STR(" FAILED")))
        return false;
    end_row(t, open);
    if (!is_rule(line) || hs_str_starts(line, HS_STR("=====")))
        open->number = root;
    return true;
}

/* The traceback of a process stands in its row, indented. */
static bool take_trace(struct hs_text *t, struct hs_open *open, struct hs_str text)
{
    struct hs_str line = hs_trim(text), class, message;
    struct hs_call call;

    if (hs_python_call(line, ", in ", &call)) {
        hs_open_push(t, open, call.function, call.file, call.line);
        return true;
    }
    if (hs_trim_left(text).n + 4 > text.n && hs_python_exception(line, true, &class, &message)) {
        hs_open_set(t, open, "class", class);
        hs_open_unset(open, "message");
        hs_open_set(t, open, "message", message);
        return true;
    }
    return hs_python_source(text);
}

static enum hs_taken take_table(struct hs_text *t, struct hs_open *open,
                                const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text);
    bool first = open->state == 0;

    if (first)
        open->state = TABLE;
    if (take_heading(t, open, line) || take_index(t, open, record, line) ||
        take_key(t, open, record, line) ||
        (open->state == TRACEBACK && take_trace(t, open, record->text))) {
        hs_records_keep(t, record);
        return HS_TAKEN;
    }
    return HS_TAKEN_NOT;
}

const struct hs_record_kind hs_record_table = {
    .family = "TBL_ROW",
    .patience = HS_RECORD_LINES_MAX,
    .take = take_table,
    .end = end_row,
};
