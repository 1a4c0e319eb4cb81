/*
 * records_stacks.c - stacks of processes that somebody looks at: py-spy, faulthandler, gdb and
 * cuda-gdb, pystack. Each thread is an event; what is said of its process goes with it.
 */
#include "parsers/records_stacks.h"

static void end_thread(struct hs_text *t, struct hs_open *open)
{
    static const char *const of_thread[] = { "thread", "name", "state", "gil" };

    if (open->frame_count || hs_open_get(open, "thread").p)
        hs_open_say(t, open, open->kind->family);
    for (size_t i = 0; i < sizeof(of_thread) / sizeof(of_thread[0]); i++)
        hs_open_unset(open, of_thread[i]);
    open->frame_count = 0;
}

void hs_stack_begin(struct hs_text *t, struct hs_open *open, struct hs_str thread)
{
    end_thread(t, open);
    open->head.line = open->number; /* the current line */
    hs_open_set(t, open, "thread", thread);
}

static bool is_blank_led(struct hs_str text)
{
    return text.n && (text.p[0] == ' ' || text.p[0] == '\t');
}

static struct hs_str take_word(struct hs_str *text)
{
    size_t n = 0;
    struct hs_str word;

    while (n < text->n && text->p[n] != ' ' && text->p[n] != ':')
        n++;
    word = hs_until(*text, n);
    *text = hs_from(*text, n);
    return word;
}

/* A number, or the address that stands for a thread. */
static bool is_id(struct hs_str word)
{
    uint64_t value;

    return hs_str_number(word, &value);
}

/* ---- py-spy ---- */

/* "Process 4242: python3 train.py" */
static bool spy_process(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str pid;

    if (!hs_skip(&line, "Process "))
        return false;
    pid = hs_take_digits(&line);
    if (pid.n == 0 || !hs_skip(&line, ": "))
        return false;
    end_thread(t, open);
    hs_open_unset(open, "command");
    hs_open_set(t, open, "pid", pid);
    hs_open_set(t, open, "command", hs_trim(line));
    return true;
}

/* "Thread 4242 (active+gil): "MainThread"" */
static bool spy_thread(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str id, state;
    size_t end;

    if (!hs_skip(&line, "Thread "))
        return false;
    id = take_word(&line);
    if (!is_id(id) || !hs_skip(&line, " (") || (end = hs_find(line, ")")) == SIZE_MAX)
        return false;
    state = hs_until(line, end);
    line = hs_from(line, end + 1);
    if ((!hs_str_starts(state, HS_STR("active")) && !hs_str_starts(state, HS_STR("idle"))) ||
        (line.n && !hs_str_starts(line, HS_STR(": \""))))
        return false;
    hs_stack_begin(t, open, id);
    if (hs_str_ends(state, HS_STR("+gil"))) {
        state.n -= 4;
        hs_open_set(t, open, "gil", HS_STR("held"));
    }
    hs_open_set(t, open, "state", state);
    if (line.n > 4)
        hs_open_set(t, open, "name", (struct hs_str){ .p = line.p + 3, .n = line.n - 4 });
    return true;
}

static bool spy_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest;

    if (hs_after(line, "Pyspy dump for PID ", &rest)) {
        end_thread(t, open);
        hs_open_unset(open, "command");
        hs_open_set(t, open, "pid", hs_take_digits(&rest));
        return true;
    }
    if (open->state &&
        (hs_str_starts(line, HS_STR("Python v")) || hs_str_starts(line, HS_STR("Parent Process "))))
        return true;
    return spy_process(t, open, line) || spy_thread(t, open, line);
}

/* "    broadcast (vllm/distributed/pynccl.py:330)", "    read (libc.so.6)"; deeper: variables */
static bool spy_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text), place;
    size_t open_at = SIZE_MAX;

    if (!is_blank_led(text))
        return false;
    if (text.n - hs_trim_left(text).n >= 8)
        return true;
    for (size_t i = line.n; i-- > 1 && open_at == SIZE_MAX;) {
        if (line.p[i] == '(' && line.p[i - 1] == ' ')
            open_at = i;
    }
    if (line.n < 4 || line.p[line.n - 1] != ')' || open_at == SIZE_MAX)
        return false;
    place = (struct hs_str){ .p = line.p + open_at + 1, .n = line.n - open_at - 2 };
    out->function = hs_until(line, open_at - 1);
    if (!hs_split_place(place, &out->file, &out->line))
        out->file = place;
    return true;
}

/* ---- faulthandler ---- */

static bool fault_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest;
    bool current;

    if (hs_after(line, "Fatal Python error: ", &rest)) {
        end_thread(t, open);
        hs_open_set(t, open, "message", hs_trim(rest));
        return true;
    }
    if (!hs_str_ends(line, HS_STR("(most recent call first):")))
        return false;
    current = hs_str_starts(line, HS_STR("Current thread"));
    if (!hs_skip(&line, "Current thread ") && !hs_skip(&line, "Thread ") &&
        !hs_str_starts(line, HS_STR("Current thread's C stack trace ")) &&
        !hs_str_starts(line, HS_STR("Stack ")))
        return false;
    rest = take_word(&line);
    hs_stack_begin(t, open, is_id(rest) ? rest : (struct hs_str){ .p = NULL });
    hs_open_set(t, open, "name", hs_between(line, "[", "]"));
    if (current)
        hs_open_set(t, open, "state", HS_STR("current"));
    return true;
}

/* "  File "x.py", line 3 in f", "  Binary file "/lib/libc.so.6", at abort+0x10 [0x7f00]" */
static bool fault_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text), rest;

    if (!is_blank_led(text) && !hs_str_starts(line, HS_STR("File \"")))
        return false;
    if (hs_python_call(line, " in ", out))
        return true;
    if (hs_str_starts(line, HS_STR("Binary file \""))) {
        out->file = hs_between(line, "\"", "\"");
        if (hs_after(line, "\", at ", &rest))
            out->function =
                hs_until(rest, hs_find(rest, "+0x") == SIZE_MAX ? rest.n : hs_find(rest, "+0x"));
        return out->file.p && out->function.p;
    }
    return hs_str_is(line, "<no Python frame>") || hs_str_is(line, "...") ||
           hs_str_is(line, "Garbage-collecting");
}

/* ---- gdb and its kin ---- */

/* "Thread 16 (Thread 0x7f08 (LWP 4250) "loop"):", "Thread 1 (process 4242):" */
static bool gdb_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str pid = hs_between(line, "(process ", ")"), lwp;

    if (!hs_skip(&line, "Thread ") || hs_take_digits(&line).n == 0 || !hs_skip(&line, " ("))
        return false;
    if (!hs_after(line, "LWP ", &lwp)) {
        if (!pid.p)
            return false;
        lwp = pid;
    }
    hs_stack_begin(t, open, hs_take_digits(&lwp));
    if (pid.p)
        hs_open_set(t, open, "pid", pid);
    hs_open_set(t, open, "name", hs_between(line, "\"", "\""));
    return true;
}

/* Where the parenthesis opens that the last byte closes; SIZE_MAX: nowhere. */
size_t hs_find_matching(struct hs_str text)
{
    size_t depth = 0;

    for (size_t i = text.n; i-- > 0;) {
        if (text.p[i] == ')')
            depth++;
        else if (text.p[i] == '(' && --depth == 0)
            return i;
        if (depth == 0)
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

/* Where the last `needle` begins; SIZE_MAX: nowhere. */
size_t hs_find_last_text(struct hs_str text, const char *needle)
{
    size_t n = strlen(needle), i = text.n;

    while (i-- > 0) {
        if (text.n - i >= n && memcmp(text.p + i, needle, n) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* "#0  0x00007f in poll (fds=0x0) from /lib/libc.so.6", "#3  main (argc=1) at main.c:12" */
static bool gdb_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text);
    size_t from, at, args;

    if (!hs_skip(&line, "#")) { /* arguments or the place of the call above, on a line of its own */
        if (hs_skip(&line, "at "))
            (void)hs_split_place(line, &out->file, &out->line);
        return text.n > 4 && hs_python_source(text);
    }
    if (hs_take_digits(&line).n == 0 || !hs_skip(&line, " "))
        return false;
    line = hs_trim(line);
    if (hs_str_starts(line, HS_STR("0x")) && (at = hs_find(line, " in ")) != SIZE_MAX && at < 20)
        line = hs_from(line, at + strlen(" in "));
    from = hs_find_last_text(line, " from ");
    at = hs_find_last_text(line, " at ");
    if (from != SIZE_MAX && (at == SIZE_MAX || from > at)) {
        out->file = hs_from(line, from + strlen(" from "));
        line = hs_until(line, from);
    } else if (at != SIZE_MAX &&
               hs_split_place(hs_from(line, at + strlen(" at ")), &out->file, &out->line)) {
        line = hs_until(line, at);
    }
    args = hs_find_matching(line);
    out->function = hs_trim(args == SIZE_MAX ? line : hs_until(line, args));
    return out->function.n > 0;
}

/* ---- pystack ---- */

/* "Traceback for thread 4242 (python3) [Has the GIL] (most recent call last):" */
static bool pystack_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str id;

    if (!hs_skip(&line, "Traceback for thread "))
        return false;
    id = take_word(&line);
    hs_stack_begin(t, open, id);
    hs_open_set(t, open, "name", hs_between(line, "(", ")"));
    if (hs_find(line, "Has the GIL") != SIZE_MAX)
        hs_open_set(t, open, "gil", HS_STR("held"));
    return true;
}

/* "    (Python) File "x.py", line 3, in f", "    (C) File "???", line 0, in poll (libc.so.6)" */
static bool pystack_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text);

    size_t at;

    if (!hs_skip(&line, "(Python) ") && !hs_skip(&line, "(C) "))
        return is_blank_led(text) && hs_python_source(text);
    if (!hs_python_call(line, ", in ", out))
        return false;
    at = hs_find_matching(out->function);
    if (hs_str_is(out->file, "???") && at != SIZE_MAX && at > 0) { /* without debug information */
        out->file = (struct hs_str){ .p = out->function.p + at + 1, .n = out->function.n - at - 2 };
        out->function = hs_trim(hs_until(out->function, at));
    }
    return true;
}

static const struct hs_stack_tool spy = { "py-spy", false, spy_head, spy_call, false };
static const struct hs_stack_tool fault = { "faulthandler", false, fault_head, fault_call, false };
static const struct hs_stack_tool gdb = { "gdb", false, gdb_head, gdb_call, true };
static const struct hs_stack_tool pystack = { "pystack", true, pystack_head, pystack_call, false };

static const struct hs_stack_tool *const tools[] = {
    &spy, &fault, &gdb, &pystack, &hs_stack_ucx, &hs_stack_signal, &hs_stack_kernel,
};

#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

static enum hs_taken take_call(struct hs_text *t, struct hs_open *open,
                               const struct hs_stack_tool *tool, struct hs_str text)
{
    struct hs_call call = { .function = { .p = NULL } };

    if (!tool->call(text, &call))
        return HS_TAKEN_NOT;
    if (call.function.p)
        hs_open_push(t, open, call.function, call.file, call.line);
    else if (call.file.p)
        hs_open_place(t, open, call.file, call.line);
    return HS_TAKEN;
}

/* The tool that prints such a line. */
static enum hs_taken take_first(struct hs_text *t, struct hs_open *open, struct hs_str text)
{
    for (unsigned i = 0; i < TOOL_COUNT; i++) {
        const struct hs_stack_tool *tool = tools[i];

        open->outermost_first = tool->outermost_first;
        if (tool->head(t, open, hs_trim(text)) ||
            (tool->headless && take_call(t, open, tool, text) == HS_TAKEN && open->frame_count)) {
            open->state = i + 1;
            hs_open_set(t, open, "tool", hs_str_of(tool->name));
            if (open->key)
                hs_open_set_number(t, open, "pid", open->key);
            return HS_TAKEN;
        }
    }
    return HS_TAKEN_NOT;
}

/* "#0  ...", " 0 0x...": calls are counted from the innermost one. */
static bool is_innermost(struct hs_str line)
{
    return hs_str_starts(line, HS_STR("#0 ")) || hs_str_starts(line, HS_STR("0 "));
}

static enum hs_taken take_stacks(struct hs_text *t, struct hs_open *open,
                                 const struct hs_record *record)
{
    struct hs_str text = record->text, line = hs_trim(text);
    const struct hs_stack_tool *tool;

    open->number = record->line;
    if (open->state == 0)
        return take_first(t, open, text);
    tool = tools[open->state - 1];
    if (line.n == 0)
        return HS_TAKEN;
    if (tool->head(t, open, line)) {
        hs_records_keep(t, record);
        return HS_TAKEN;
    }
    if (tool->headless && open->frame_count && is_innermost(line))
        end_thread(t, open);
    if (hs_str_starts(line, HS_STR("=====")) || hs_str_starts(line, HS_STR("Extension modules:")) ||
        hs_str_ends(line, HS_STR("*** End of error message ***")))
        return HS_TAKEN_LAST;
    return take_call(t, open, tool, text);
}

static uint64_t process_of(const struct hs_record *record)
{
    struct hs_str line = hs_trim_left(record->text), host;

    return hs_stack_process(&line, &host);
}

const struct hs_record_kind hs_record_stacks = {
    .family = "STACK",
    .key = process_of,
    .patience = 100,
    .take = take_stacks,
    .end = end_thread,
};
