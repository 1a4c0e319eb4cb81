/*
 * records_torch.c - what PyTorch's C++ side prints over several lines: the stack of a failed
 * collective, exceptions that nobody caught, and the report on who is behind.
 */
#include "parsers/records_internal.h"

/* ---- the stack of the failed collective: "#0 all_reduce from /path/file.py:3174" ---- */

static enum hs_taken take_work_stack(struct hs_text *t, struct hs_open *open,
                                     const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text), digits, place;
    uint64_t index, number;
    struct hs_str file;
    size_t from;

    if (open->state == 0) {
        struct hs_str rest;

        if (!hs_after(line, "Stack trace of the failed collective", &rest) || !hs_skip(&rest, ":"))
            return HS_TAKEN_NOT;
        open->state = 1;
        return HS_TAKEN;
    }
    if (!hs_skip(&line, "#"))
        return HS_TAKEN_NOT;
    digits = hs_take_digits(&line);
    if (!hs_str_number(digits, &index) || index != open->number || !hs_skip(&line, " ") ||
        (from = hs_find(line, " from ")) == SIZE_MAX)
        return HS_TAKEN_NOT;
    place = hs_from(line, from + strlen(" from "));
    if (!hs_split_place(place, &file, &number))
        return HS_TAKEN_NOT;
    hs_open_push(t, open, hs_until(line, from), file, number);
    if (index == 0)
        hs_open_set(t, open, "function", hs_until(line, from));
    open->number = index + 1;
    return HS_TAKEN;
}

const struct hs_record_kind hs_record_work_stack = {
    .family = "WD_STACK",
    .patience = 100,
    .header_ends = true,
    .untagged = true,
    .take = take_work_stack,
};

/* ---- exceptions of C++ ---- */

enum { CXX_OPEN = 1 };
enum { CXX_FROZEN = 1 }; /* a second "Exception raised from" tells how the first was passed on */

/* "frame #3: f() + 0x10 (0x7f00 in /lib/libc.so.6)" */
static bool take_cxx_frame(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str function, file;
    size_t end;

    if (!hs_skip(&line, "frame #") || hs_take_digits(&line).n == 0 || !hs_skip(&line, ": "))
        return false;
    file = hs_between(line, " in ", ")");
    end = hs_find(line, " + 0x");
    if (end == SIZE_MAX)
        end = hs_find(line, " (0x");
    function = end == SIZE_MAX ? line : hs_until(line, end);
    if (!(open->number & CXX_FROZEN))
        hs_open_push(t, open, function, file, 0);
    return true;
}

/* "Exception raised from checkTimeout at /path/ProcessGroupNCCL.cpp:632 (most recent call first):"
 */
static bool take_raised(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest, file;
    uint64_t number;
    size_t at;

    if (!hs_after(line, "Exception raised from ", &rest))
        return false;
    at = hs_find(rest, " at ");
    if (hs_open_get(open, "function").p) {
        open->number |= CXX_FROZEN;
        return true;
    }
    hs_open_set(t, open, "function", at == SIZE_MAX ? hs_trim(rest) : hs_until(rest, at));
    if (at == SIZE_MAX)
        return true;
    rest = hs_from(rest, at + strlen(" at "));
    at = hs_find(rest, " (most recent");
    if (hs_split_place(at == SIZE_MAX ? hs_trim(rest) : hs_until(rest, at), &file, &number)) {
        hs_open_set(t, open, "file", file);
        hs_open_set_number(t, open, "line", number);
    }
    return true;
}

/* What stands between brackets in front of a message: "PG ID 0 PG GUID 0(default_pg) Rank 3",
 * "PG 0 (default_pg) Rank 3", "Rank 3". */
static bool read_group(struct hs_str text, struct hs_record *out)
{
    struct hs_str desc = hs_between(text, "(", ")"), digits = text;
    size_t at = hs_find(text, "Rank ");
    uint64_t value;

    if (at == SIZE_MAX || !hs_str_number(hs_from(text, at + 5), &value) || value > HS_RANK_MAX)
        return false;
    if (hs_skip(&digits, "PG ID ")) {
        uint64_t id;

        if (!hs_str_number(hs_take_digits(&digits), &id) || !hs_skip(&digits, " PG GUID "))
            return false;
        out->pg_id = id < HS_NO_ID ? (uint32_t)id : HS_NO_ID;
    } else if (!hs_skip(&digits, "PG ")) {
        if (at != 0)
            return false;
        out->pg_rank = (uint32_t)value;
        return true;
    }
    at = hs_find(digits, desc.p ? "(" : " Rank ");
    if (at == SIZE_MAX)
        return false;
    out->pg = hs_trim(hs_until(digits, at));
    out->pg_desc = desc;
    out->pg_rank = (uint32_t)value;
    return true;
}

/* The message of an exception without the prefixes of its process group, which go to the header. */
static struct hs_str peel_group(struct hs_text *t, struct hs_open *open, struct hs_str message)
{
    size_t end;

    while (message.n && message.p[0] == '[' && (end = hs_find(message, "] ")) != SIZE_MAX) {
        struct hs_record head = open->head;

        if (!read_group((struct hs_str){ .p = message.p + 1, .n = end - 1 }, &head))
            break;
        if (!open->head.pg.p && head.pg.p && hs_records_hold(t, &head.pg) &&
            hs_records_hold(t, &head.pg_desc))
            open->head = head;
        else if (open->head.pg_rank == HS_NO_ID)
            open->head.pg_rank = head.pg_rank;
        message = hs_trim_left(hs_from(message, end + 2));
    }
    return message;
}

/* Several processes that abort at once write "what():  " several times, and then one message. */
static bool take_what(struct hs_str line, struct hs_str *message)
{
    struct hs_str rest;

    if (!hs_after(line, "what():", &rest))
        return false;
    rest = hs_trim_left(rest);
    while (hs_skip(&rest, "what():"))
        rest = hs_trim_left(rest);
    *message = hs_trim(rest);
    return true;
}

/* Equal, or one of them is cut short, as some loggers do. */
static bool same_message(struct hs_str a, struct hs_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;

    return a.p && b.p && (a.n == b.n || n >= 32) && memcmp(a.p, b.p, n) == 0;
}

#define BESIDE_MAX 64u

/* The record in the same channel that has told this message already: the watchdog logs it before
 * it throws it. */
static struct hs_open *find_copy(struct hs_text *t, const struct hs_open *open,
                                 struct hs_str message)
{
    struct hs_open *at = NULL;

    for (unsigned tries = 0; tries < BESIDE_MAX; tries++) {
        at = hs_records_beside(t, open, at);
        if (!at || (at->kind == open->kind && same_message(hs_open_get(at, "message"), message)))
            return at;
    }
    return NULL;
}

static enum hs_taken take_message(struct hs_text *t, struct hs_open *open, struct hs_str message,
                                  struct hs_str class)
{
    struct hs_str known = hs_open_get(open, "message");
    struct hs_open *copy;

    message = peel_group(t, open, message);
    if (known.p && !same_message(known, message))
        return HS_TAKEN_NOT;
    hs_open_set(t, open, "class", class);
    if (known.p)
        return HS_TAKEN;
    copy = message.n ? find_copy(t, open, message) : NULL;
    if (copy) {
        hs_open_set(t, copy, "class", hs_open_get(open, "class"));
        open->value_count = 0;
        open->frame_count = 0;
        open->state = CXX_OPEN;
        return HS_TAKEN_LAST;
    }
    hs_open_set(t, open, "message", message);
    open->state = CXX_OPEN;
    return HS_TAKEN;
}

static enum hs_taken take_exception(struct hs_text *t, struct hs_open *open,
                                    const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text), message, rest;
    size_t dog = hs_find(line, "watchdog thread terminated with ");

    if (take_what(line, &message))
        return take_message(t, open, message,
                            hs_between(line, "Unhandled exception: ", ". what():"));
    if (dog != SIZE_MAX) {
        struct hs_str by = hs_until(line, dog);

        if (open->state != 0)
            return HS_TAKEN_NOT;
        dog -= hs_str_ends(by, HS_STR("Process group ")) ? strlen("Process group ")
               : hs_str_ends(by, HS_STR("NCCL "))        ? strlen("NCCL ")
                                                         : 0;
        return take_message(t, open, hs_from(line, dog), (struct hs_str){ .p = NULL });
    }
    if (hs_after(line, "terminate called", &rest)) {
        if (open->state != 0)
            return HS_TAKEN_NOT;
        open->state = CXX_OPEN;
        hs_open_set(t, open, "class", hs_between(rest, "instance of '", "'"));
        if (!hs_open_get(open, "class").p)
            hs_open_set(t, open, "message", hs_trim(line));
        return HS_TAKEN;
    }
    if (!take_raised(t, open, line) && !take_cxx_frame(t, open, line))
        return HS_TAKEN_NOT;
    open->state = CXX_OPEN;
    return HS_TAKEN;
}

const struct hs_record_kind hs_record_cxx = {
    .family = "CXX_EXCEPTION",
    .patience = 200,
    .untagged = true,
    .take = take_exception,
};

/* ---- the desync report: every statement is an event ---- */

static void say_desync(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                       const char *what, const struct hs_record_value *values, uint32_t count)
{
    struct hs_record_value all[8];
    struct hs_record head = open->head;
    struct hs_str at = hs_open_get(open, "seq"), op = hs_open_get(open, "op");
    uint32_t n = 0;

    all[n++] = (struct hs_record_value){ .name = "what", .text = hs_str_of(what) };
    for (uint32_t i = 0; i < count; i++) {
        all[n++] = values[i];
        if (strcmp(values[i].name, "seq") == 0 && op.p && hs_str_eq(values[i].text, at))
            all[n++] = (struct hs_record_value){ .name = "op", .text = op };
    }
    head.line = record->line;
    hs_records_keep(t, record);
    hs_records_say(t, &(struct hs_told){ .family = "DESYNC",
                                         .head = &head,
                                         .speaker = open->speaker,
                                         .stack = HS_NO_ID,
                                         .values = all,
                                         .count = n });
}

/* "[0, 1, 2] rest": the ranks, and `rest`. */
static bool take_ranks(struct hs_str *line, struct hs_str *ranks)
{
    size_t end;

    if (line->n == 0 || line->p[0] != '[' || (end = hs_find(*line, "] ")) == SIZE_MAX)
        return false;
    *ranks = (struct hs_str){ .p = line->p + 1, .n = end - 1 };
    for (size_t i = 0; i < ranks->n; i++) {
        char c = ranks->p[i];

        if (c != ',' && c != ' ' && (c < '0' || c > '9'))
            return false;
    }
    *line = hs_from(*line, end + 2);
    return ranks->n > 0;
}

static struct hs_str number_behind(struct hs_str line, const char *text)
{
    struct hs_str rest = { .n = 0 };

    return hs_after(line, text, &rest) ? hs_take_digits(&rest) : (struct hs_str){ .p = NULL };
}

/* "[7] finished collective #182, but didn't join collective #183", "[0, 1] started ALLREDUCE" */
static bool take_statement(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                           struct hs_str line, struct hs_str ranks)
{
    struct hs_str behind = number_behind(line, "but didn't join collective #");
    struct hs_str joined = number_behind(line, "joined but didn't finish collective #");
    struct hs_str first, op;

    if (behind.n) {
        struct hs_record_value values[] = { { "pg_ranks", ranks },
                                            { "completed",
                                              number_behind(line, "finished collective #") },
                                            { "seq", behind } };

        say_desync(t, open, record, "behind", values, 3);
        return true;
    }
    if (joined.n) {
        struct hs_record_value values[] = { { "pg_ranks", ranks }, { "seq", joined } };

        say_desync(t, open, record, "joined", values, 2);
        return true;
    }
    first = hs_until(line, hs_find(line, " ") == SIZE_MAX ? line.n : hs_find(line, " "));
    op = hs_trim(hs_from(line, first.n));
    if ((hs_str_is(first, "started") || hs_str_is(first, "finished")) && op.n &&
        hs_find(op, " ") == SIZE_MAX) {
        struct hs_record_value values[] = { { "pg_ranks", ranks },
                                            { "state", first },
                                            { "op", op },
                                            { "seq", hs_open_get(open, "snapshot") } };

        say_desync(t, open, record, "snapshot", values, hs_open_get(open, "snapshot").p ? 4 : 3);
        return true;
    }
    return false;
}

/* "- [0] Timeout at collective: ALLREDUCE, #315" */
static bool take_waits(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                       struct hs_str line, struct hs_str ranks)
{
    struct hs_str rest;
    size_t comma;

    if (!hs_after(line, "Timeout at collective: ", &rest) ||
        (comma = hs_find(rest, ", #")) == SIZE_MAX)
        return false;
    hs_open_set(t, open, "op", hs_until(rest, comma));
    hs_open_set(t, open, "seq", number_behind(rest, ", #"));
    say_desync(
        t, open, record, "waits",
        (struct hs_record_value[]){ { "pg_ranks", ranks }, { "seq", hs_open_get(open, "seq") } },
        2);
    return true;
}

static bool take_desync_line(struct hs_text *t, struct hs_open *open,
                             const struct hs_record *record, struct hs_str line)
{
    struct hs_str ranks, rest = line;

    if (hs_skip(&rest, "- "))
        line = rest;
    if (take_ranks(&line, &ranks))
        return take_statement(t, open, record, line, ranks) ||
               take_waits(t, open, record, line, ranks);
    ranks = hs_between(line, "ranks [", "]");
    if (ranks.p && hs_find(line, "are the lagging ranks") != SIZE_MAX) {
        say_desync(t, open, record, "missing", (struct hs_record_value[]){ { "pg_ranks", ranks } },
                   1);
        return true;
    }
    if (hs_skip(&line, "#") && hs_str_ends(line, HS_STR(" ranks:"))) {
        hs_open_set(t, open, "snapshot", hs_take_digits(&line));
        return true;
    }
    return hs_find(line, "ranks that caused the desync are") != SIZE_MAX ||
           hs_find(line, "Snapshot of ranks' latest states") != SIZE_MAX;
}

static enum hs_taken take_desync(struct hs_text *t, struct hs_open *open,
                                 const struct hs_record *record)
{
    if (!take_desync_line(t, open, record, hs_trim(record->text)))
        return HS_TAKEN_NOT;
    open->state = 1;
    return HS_TAKEN;
}

const struct hs_record_kind hs_record_desync = {
    .patience = 50,
    .header_ends = true,
    .untagged = true,
    .take = take_desync,
};

/* ---- monitoredBarrier ---- */

static enum hs_taken take_barrier(struct hs_text *t, struct hs_open *open,
                                  const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text), rest;

    if (open->state == 0) {
        if (!hs_after(line, " timed out in monitoredBarrier after ", &rest))
            return HS_TAKEN_NOT;
        hs_open_set(t, open, "timeout_ms", hs_take_digits(&rest));
        hs_open_set(t, open, "pg_rank", number_behind(line, "Rank "));
        open->state = 1;
    }
    if (hs_after(line, "Successfully processed ranks: ", &rest))
        hs_open_set(t, open, "pg_ranks", hs_trim(rest));
    else if (hs_find(line, "No ranks successfully processed") == SIZE_MAX)
        return open->last_line ? HS_TAKEN_NOT : HS_TAKEN;
    hs_records_keep(t, record);
    return HS_TAKEN_LAST;
}

const struct hs_record_kind hs_record_barrier = {
    .family = "MONBAR",
    .patience = 3,
    .header_ends = true,
    .untagged = true,
    .take = take_barrier,
};
