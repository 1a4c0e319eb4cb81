/*
 * records_crashes.c - stacks that handlers of signals print while their process dies: UCX, Open
 * MPI, absl and glog; and where the kernel holds a process.
 */
#include "parsers/records_stacks.h"

/* ---- UCX ---- */

/* "==== backtrace (tid:  4242) ====" */
static bool ucx_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest;

    if (!hs_after(line, "==== backtrace (tid:", &rest))
        return false;
    rest = hs_trim_left(rest);
    hs_stack_begin(t, open, hs_take_digits(&rest));
    return true;
}

/* " 3 0x000000000006f1c8 ucs_handle_error()  /src/debug.c:1062",
 * " 1  /usr/lib/libucs.so.0(ucs_handle_error+0x2e4) [0x7f00]" */
static bool ucx_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text), place;
    size_t end;

    if (hs_take_digits(&line).n == 0 || !hs_skip(&line, " "))
        return false;
    line = hs_trim(line);
    if (hs_str_starts(line, HS_STR("0x")) && (end = hs_find(line, " ")) == 18) {
        line = hs_trim(hs_from(line, end));
        end = hs_find_last_text(line, " ");
        if (end == SIZE_MAX || !hs_split_place(hs_from(line, end + 1), &out->file, &out->line))
            return false;
        line = hs_trim(hs_until(line, end));
        out->function = hs_str_ends(line, HS_STR("()")) ? hs_until(line, line.n - 2) : line;
        return true;
    }
    place = hs_between(line, "(", "+0x");
    if (line.n == 0 || line.p[0] != '/' || !place.p || !hs_str_ends(line, HS_STR("]")))
        return false;
    out->file = hs_until(line, (size_t)(place.p - line.p) - 1);
    out->function = place;
    return true;
}

const struct hs_stack_tool hs_stack_ucx = { "ucx", false, ucx_head, ucx_call, true };

/* ---- Open MPI, absl, glog ---- */

uint64_t hs_stack_process(struct hs_str *line, struct hs_str *host)
{
    struct hs_str rest = *line, name, digits;
    uint64_t pid;
    size_t colon;

    if (!hs_skip(&rest, "[") || (colon = hs_find(rest, ":")) == SIZE_MAX || colon == 0)
        return 0;
    name = hs_until(rest, colon);
    rest = hs_from(rest, colon + 1);
    digits = hs_take_digits(&rest);
    if (memchr(name.p, ' ', name.n) || memchr(name.p, ']', name.n) ||
        !hs_str_number(digits, &pid) || !hs_skip(&rest, "] "))
        return 0;
    *line = rest;
    *host = name;
    return pid;
}

/* "Signal: Segmentation fault (11)" */
static void set_signal(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    size_t end = hs_find(value, " (");

    hs_open_set(t, open, "message", end == SIZE_MAX ? value : hs_until(value, end));
    hs_open_set(t, open, "signal", hs_between(value, " (", ")"));
}

/* "[node-a:4242] *** Process received signal ***" and what describes it */
static bool process_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str host;
    uint64_t pid = hs_stack_process(&line, &host);

    if (!pid)
        return false;
    if (hs_str_starts(line, HS_STR("*** Process received signal ***"))) {
        hs_stack_begin(t, open, (struct hs_str){ .p = NULL });
    } else if (hs_skip(&line, "Signal: ")) {
        set_signal(t, open, hs_trim(line));
    } else {
        return open->state && (hs_str_starts(line, HS_STR("Signal code: ")) ||
                               hs_str_starts(line, HS_STR("Associated errno: ")) ||
                               hs_str_starts(line, HS_STR("Failing at address: ")));
    }
    hs_open_set(t, open, "host", host);
    hs_open_set_number(t, open, "pid", pid);
    return true;
}

/* "*** SIGSEGV received at time=1769000000 on cpu 12 ***", "*** SIGABRT (@0x0) received by PID 7
 * (TID 0x7f) from PID 9; stack trace: ***", and the line above that says when */
static bool signal_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest = line, signal;
    size_t end;

    if (process_head(t, open, line))
        return true;
    if (hs_str_starts(line, HS_STR("PC: @")))
        return open->state != 0;
    if (hs_str_starts(line, HS_STR("*** Aborted at "))) {
        hs_stack_begin(t, open, (struct hs_str){ .p = NULL });
        return true;
    }
    if (!hs_skip(&rest, "*** SIG") || hs_find(rest, " received ") == SIZE_MAX)
        return false;
    signal = hs_from(line, strlen("*** "));
    end = hs_find(signal, " ");
    hs_stack_begin(t, open, (struct hs_str){ .p = NULL });
    hs_open_set(t, open, "signal", hs_until(signal, end));
    hs_open_set(t, open, "pid", hs_between(line, " by PID ", " "));
    return true;
}

/* "    @     0x7f3b2c1d4521        192  ncclCommInitRank" */
static bool at_call(struct hs_str line, struct hs_call *out)
{
    size_t end;

    if (!hs_skip(&line, "@"))
        return false;
    line = hs_trim_left(line);
    if (!hs_skip(&line, "0x") || (end = hs_find(line, " ")) == SIZE_MAX)
        return false;
    line = hs_trim_left(hs_from(line, end));
    if (line.n && line.p[0] >= '0' && line.p[0] <= '9') { /* bytes of the frame */
        (void)hs_take_digits(&line);
        line = hs_trim_left(line);
    }
    out->function = line;
    return line.n > 0;
}

/* "[node-a:4242] [ 3] /lib/libc.so.6(abort+0xd3) [0x7f3b]" */
static bool signal_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text), host, function, place;
    size_t end;

    (void)hs_stack_process(&line, &host);
    if (at_call(line, out))
        return true;
    if (hs_skip(&line, "[") && (end = hs_find(line, "] ")) != SIZE_MAX && end <= 4)
        line = hs_trim(hs_from(line, end + 2));
    place = hs_between(line, "(", ")");
    if (!place.p || place.p == line.p + 1 || !hs_str_ends(line, HS_STR("]")) ||
        hs_find(line, "[0x") == SIZE_MAX)
        return false;
    end = hs_find(place, "+0x");
    function = end == SIZE_MAX ? place : hs_until(place, end);
    out->file = hs_until(line, (size_t)(place.p - line.p) - 1);
    out->function = function.n ? function : HS_STR("(unknown)");
    return true;
}

const struct hs_stack_tool hs_stack_signal = { "signal", false, signal_head, signal_call, true };

/* ---- the kernel ---- */

static bool kernel_head(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    (void)t;
    (void)open;
    (void)line;
    return false;
}

/* "[<0>] nfs_wait_bit_killable+0x1e/0x90 [nfs]" */
static bool kernel_call(struct hs_str text, struct hs_call *out)
{
    struct hs_str line = hs_trim(text);
    size_t end;

    if (!hs_skip(&line, "[<") || (end = hs_find(line, ">] ")) == SIZE_MAX)
        return false;
    line = hs_from(line, end + strlen(">] "));
    end = hs_find(line, "+0x");
    if (end == SIZE_MAX || end == 0)
        return false;
    out->function = hs_until(line, end);
    out->file = hs_between(line, " [", "]");
    return true;
}

const struct hs_stack_tool hs_stack_kernel = { "kernel", false, kernel_head, kernel_call, true };
