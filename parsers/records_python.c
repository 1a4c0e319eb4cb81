/*
 * records_python.c - tracebacks of Python, chains and groups of exceptions included.
 *
 * One event tells a whole chain: the exception that ended it, the one it began with, and the stack
 * of the one it began with, since that is where something went wrong.
 */
#include "parsers/records_internal.h"

enum { EXPECTED = 1, FRAMES, RAISED, CHAINED };

/* Bits of open->number. */
enum { FROZEN = 1, GROUP = 2, INSIDE = 4 };

#define AFTER_LINES_MAX 500u /* between an exception and the sentence that chains the next */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

bool hs_python_call(struct hs_str line, const char *separator, struct hs_call *out)
{
    struct hs_call call = { .function = { .p = "" } };
    struct hs_str digits;
    size_t quote;

    if (!hs_skip(&line, "File \"") || (quote = hs_find(line, "\", line ")) == SIZE_MAX)
        return false;
    call.file = hs_until(line, quote);
    line = hs_from(line, quote + strlen("\", line "));
    digits = hs_take_digits(&line);
    if (!hs_str_number(digits, &call.line))
        return false;
    if (line.n) {
        if (!hs_skip(&line, separator))
            return false;
        call.function = hs_trim(line);
    }
    *out = call;
    return true;
}

bool hs_python_source(struct hs_str text)
{
    return text.n >= 2 && (text.p[0] == ' ' || text.p[0] == '\t') &&
           (text.p[1] == ' ' || text.p[1] == '\t');
}

/* How names of exceptions end that may stand where other text might. */
static bool is_exception_name(struct hs_str name)
{
    static const char *const ends[] = {
        "Error", "Exception", "Interrupt",     "Exit",  "Group",   "Failure", "Timeout",
        "Abort", "Exhausted", "StopIteration", "Empty", "timeout", "Expired", "Killed",
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (hs_str_ends(name, hs_str_of(ends[i])))
            return true;
    }
    return false;
}

/* What a logger begins a line with: all that is left of one that was cut there. */
static bool is_level(struct hs_str name)
{
    static const char *const levels[] = { "DEBUG", "INFO",  "WARN",     "WARNING",
                                          "ERROR", "FATAL", "CRITICAL", "NOTSET" };

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (hs_str_is(name, levels[i]))
            return true;
    }
    return false;
}

bool hs_python_exception(struct hs_str line, bool sure, struct hs_str *class,
                         struct hs_str *message)
{
    size_t n = 0, last = 0;
    struct hs_str name, rest;

    if (line.n == 0 || !is_word(line.p[0]) || (line.p[0] >= '0' && line.p[0] <= '9'))
        return false;
    while (n < line.n && n < 256 && (is_word(line.p[n]) || (n && strchr(".<>", line.p[n])))) {
        last = line.p[n] == '.' ? n + 1 : last;
        n++;
    }
    name = hs_until(line, n);
    rest = hs_from(line, n);
    /* RayTaskError(ValueError): the class behind is what it wraps. */
    if (rest.n && rest.p[0] == '(' && hs_find(rest, ")") < 128) {
        name.n += hs_find(rest, ")") + 1;
        rest = hs_from(line, name.n);
    }
    if ((rest.n && !hs_skip(&rest, ": ") && !(rest.n == 1 && rest.p[0] == ':')) || is_level(name))
        return false;
    if (!is_exception_name(hs_until(line, n)) &&
        !(sure && last < n && ((line.p[last] >= 'A' && line.p[last] <= 'Z') || last > 0)))
        return false;
    *class = name;
    *message = hs_trim(rest.n == 1 && rest.p[0] == ':' ? hs_from(rest, 1) : rest);
    return true;
}

/* The bars and corners that exception groups are drawn with; true when there were some. */
static bool strip_group(struct hs_str *text)
{
    struct hs_str s = hs_trim_left(*text);

    if (s.n == 0 || (s.p[0] != '|' && s.p[0] != '+') || s.n == text->n)
        return false;
    while (s.n && (s.p[0] == '|' || s.p[0] == '+' || s.p[0] == '-'))
        s = hs_from(s, 1);
    *text = s;
    return true;
}

static bool is_head(struct hs_str line)
{
    return hs_find(line, "Traceback (most recent call last)") != SIZE_MAX;
}

static bool is_chain(struct hs_str line)
{
    return hs_find(line, "During handling of the above exception") != SIZE_MAX ||
           hs_find(line, "The above exception was the direct cause") != SIZE_MAX;
}

/* Whose traceback follows: "Exception in thread worker-1:", "Process SpawnProcess-3:". */
static bool take_name(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str name;

    if (!hs_after(line, "Exception in thread ", &name)) {
        name = line;
        if (!hs_skip(&name, "Process ") || !hs_str_ends(name, HS_STR(":")))
            return false;
    }
    if (name.n && name.p[name.n - 1] == ':')
        name.n--;
    hs_open_set(t, open, "thread", name);
    open->state = EXPECTED;
    return true;
}

/* Another traceback of the same chain or group: what was raised before it is kept as the first. */
static void begin_next(struct hs_text *t, struct hs_open *open, bool grouped)
{
    if (open->state == CHAINED && !hs_open_get(open, "first_class").p) {
        hs_open_set(t, open, "first_class", hs_open_get(open, "class"));
        hs_open_set(t, open, "first_message", hs_open_get(open, "message"));
        open->number |= FROZEN;
    }
    if (grouped && open->state == RAISED && !hs_open_get(open, "first_class").p) {
        open->frame_count = 0; /* of the group: what it holds came before it */
        open->number |= INSIDE;
    }
    open->state = FRAMES;
}

static enum hs_taken take_head(struct hs_text *t, struct hs_open *open, bool grouped)
{
    switch (open->state) {
    case 0:
        open->outermost_first = true;
        open->state = FRAMES;
        return HS_TAKEN;
    case EXPECTED:
        open->state = FRAMES;
        return HS_TAKEN;
    case RAISED:
        if (!grouped || !(open->number & GROUP))
            return HS_TAKEN_NOT;
        break;
    case CHAINED:
        break;
    default:
        return HS_TAKEN_NOT;
    }
    begin_next(t, open, grouped);
    return HS_TAKEN;
}

static void take_exception(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                           struct hs_str class, struct hs_str message)
{
    if (open->number & INSIDE) {
        if (!hs_open_get(open, "first_class").p) {
            hs_open_set(t, open, "first_class", class);
            hs_open_set(t, open, "first_message", message);
        }
        open->number |= FROZEN;
    } else {
        hs_open_unset(open, "message");
        hs_open_set(t, open, "class", class);
        hs_open_set(t, open, "message", message);
        hs_open_set_number(t, open, "exception_line", record->line);
    }
    open->state = RAISED;
    hs_records_keep(t, record);
}

static enum hs_taken take_body(struct hs_text *t, struct hs_open *open,
                               const struct hs_record *record, struct hs_str text)
{
    struct hs_str line = hs_trim(text), class, message;
    struct hs_call call;
    bool first = open->state == 0;

    if (hs_python_call(line, ", in ", &call)) {
        if (first && call.function.n == 0)
            return HS_TAKEN_NOT;
        if (first)
            open->outermost_first = true;
        open->state = FRAMES;
        if (!(open->number & FROZEN))
            hs_open_push(t, open, call.function, call.file, call.line);
        return HS_TAKEN;
    }
    if (first)
        return take_name(t, open, line) ? HS_TAKEN : HS_TAKEN_NOT;
    if (hs_python_source(text) && line.n)
        return HS_TAKEN;
    if (hs_python_exception(line, open->missed == 0, &class, &message)) {
        take_exception(t, open, record, class, message);
        return HS_TAKEN;
    }
    return HS_TAKEN_NOT;
}

/* An exception of a group that has no traceback of its own. */
static void take_member(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str class, message;

    if ((open->number & GROUP) && !hs_open_get(open, "first_class").p &&
        hs_python_exception(line, true, &class, &message)) {
        hs_open_set(t, open, "first_class", class);
        hs_open_set(t, open, "first_message", message);
    }
}

static enum hs_taken take_traceback(struct hs_text *t, struct hs_open *open,
                                    const struct hs_record *record)
{
    struct hs_str text = record->text;
    bool grouped = strip_group(&text);
    struct hs_str line = hs_trim(text);

    if (is_head(line)) {
        enum hs_taken taken = take_head(t, open, grouped);

        if (taken == HS_TAKEN && hs_find(line, "Exception Group Traceback") != SIZE_MAX)
            open->number |= GROUP;
        return taken;
    }
    if (is_chain(line) && open->state != 0) {
        open->state = open->state == RAISED ? CHAINED : open->state;
        return HS_TAKEN;
    }
    switch (open->state) {
    case EXPECTED:
        return line.n ? HS_TAKEN_OVER : HS_TAKEN;
    case 0:
    case FRAMES:
        return take_body(t, open, record, text);
    case RAISED:
        if (grouped) {
            take_member(t, open, line);
            return HS_TAKEN;
        }
        return open->missed >= AFTER_LINES_MAX ? HS_TAKEN_OVER : HS_TAKEN_NOT;
    default: /* CHAINED: nothing but blank lines and the next head */
        return HS_TAKEN_NOT;
    }
}

static void end_traceback(struct hs_text *t, struct hs_open *open)
{
    if (open->state != EXPECTED)
        hs_open_say(t, open, open->kind->family);
}

const struct hs_record_kind hs_record_traceback = {
    .family = "PY_TRACEBACK",
    .patience = HS_RECORD_LINES_MAX,
    .adjacent = true,
    .take = take_traceback,
    .end = end_traceback,
};
