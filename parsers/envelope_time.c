/*
 * envelope_time.c - times in front of a line, and what collectors of logs put beside them: hosts,
 * containers, levels.
 */
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

/* fa88a9df [rank=5] || of determined, behind its time */
static void take_determined(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str id;
    uint32_t rank = HS_NO_ID;

    if (!hs_take_byte(&tag, ' ') || !hs_take_span(&tag, hs_is_name, 80, &id) ||
        !hs_take_byte(&tag, ' '))
        return;
    if (hs_take_text(&tag, "[rank=") && (!hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] ")))
        return;
    if (!hs_take_text(&tag, "||"))
        return;
    hs_skip_blank(&tag);
    out->role = id;
    hs_record_rank(out, rank, HS_RANK_LAUNCHER);
    *in = tag;
}

/* Behind a time in brackets: words such as TP0 of SGLang. */
static void take_shard(struct hs_cursor *in, struct hs_str *out)
{
    struct hs_cursor words = *in;
    const char *from = words.at + 1;
    struct hs_str word;
    uint32_t number;

    while (hs_take_byte(&words, ' ')) {
        if (!hs_take_span(&words, hs_is_letter, 8, &word) || !hs_take_number(&words, &number))
            return;
    }
    if (words.at == in->at)
        return;
    *out = (struct hs_str){ .p = from, .n = (size_t)(words.at - from) };
    *in = words;
}

/* [2024-02-27T21:35:32.106313Z], [Mon Feb  2 22:42:45 2026], [2397166.983093] */
bool hs_take_bracketed_time(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    struct hs_str role = out->role;
    size_t n;

    if (!hs_take_byte(&tag, '['))
        return false;
    hs_skip_blanks(&tag);
    n = hs_clock_read(hs_rest(&tag), &stamp);
    if (!n)
        n = hs_clock_read_seconds(hs_rest(&tag), &stamp);
    if (!n)
        return false;
    tag.at += n;
    take_shard(&tag, &role);
    if (!hs_take_byte(&tag, ']'))
        return false;
    out->role = role;
    hs_record_stamp(out, stamp);
    *in = tag;
    take_determined(in, out);
    if (in->at == tag.at)
        hs_skip_blank(in);
    return true;
}

/* What stands where a host would is the level: "INFO shard-manager: " of Rust's loggers. */
static bool is_level(struct hs_str name)
{
    struct hs_cursor word = { .at = name.p, .end = name.p + name.n };
    char level;

    return hs_take_level(&word, &level) && word.at == word.end;
}

/* Behind a time: "node-a kernel: ", or the host alone if another program follows it. */
static void take_syslog(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor line = *in;
    struct hs_str host, program;
    struct hs_cursor message;
    uint32_t pid;

    if (!hs_take_span(&line, hs_is_name, HS_NAME_BYTES, &host) || is_level(host) ||
        !hs_take_byte(&line, ' '))
        return;
    message = line;
    if (!hs_take_span(&message, hs_is_path, 80, &program))
        return;
    if (hs_take_byte(&message, '[')) {
        if (!hs_take_number(&message, &pid) || !hs_take_text(&message, "]: "))
            return;
        out->pid = pid;
    } else if (!hs_take_text(&message, ": ")) {
        return;
    }
    out->host = host;
    *in = hs_str_is(program, "kernel") ? message : line;
}

/* Behind a time: "- INFO - ", "| INFO     | ", "INFO " of Python's loggers. */
static void take_time_level(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    char level;
    bool bracket;

    if (hs_take_byte(&tag, '-') || hs_take_byte(&tag, '|'))
        hs_skip_blanks(&tag);
    bracket = hs_take_byte(&tag, '[');
    if (!hs_take_level(&tag, &level))
        return;
    if (bracket && !hs_take_byte(&tag, ']'))
        return;
    if (tag.at < tag.end && !hs_is_blank(*tag.at) && *tag.at != ':')
        return;
    (void)hs_take_byte(&tag, ':');
    hs_skip_blanks(&tag);
    if (hs_take_byte(&tag, '-') || hs_take_byte(&tag, '|'))
        hs_skip_blank(&tag);
    out->level = level;
    out->header = HS_HEADER_PYTHON;
    *in = tag;
}

static bool begins_like_syslog(struct hs_str text)
{
    return text.n > 3 && hs_is_letter(text.p[0]) && text.p[3] == ' ';
}

/* A time without brackets; one without date needs a fraction. */
bool hs_take_time(struct hs_cursor *in, bool first, struct hs_record *out)
{
    struct hs_cursor tag = *in, text;
    struct hs_stamp stamp;
    const char *behind;
    size_t n = hs_clock_read(hs_rest(&tag), &stamp);

    if (!n)
        return false;
    tag.at += n;
    if (tag.at < tag.end && !hs_is_blank(*tag.at) && *tag.at != '[' && *tag.at != ':')
        return false;
    (void)hs_take_byte(&tag, ':');
    hs_record_stamp(out, stamp);
    if (tag.at == tag.end || !hs_is_blank(*tag.at)) {
        *in = tag;
        return true;
    }
    text = tag;
    hs_skip_blank(&text);
    hs_skip_blanks(&tag);
    behind = tag.at;
    if (first && ((stamp.clock & HS_CLOCK_ZONE) || begins_like_syslog(hs_rest(in))))
        take_syslog(&tag, out);
    take_time_level(&tag, out);
    if (hs_take_text(&tag, "| "))
        hs_skip_blanks(&tag);
    /* The message's own blanks are the indentation of a stack; no other tag begins with any. */
    *in = tag.at == behind && tag.at < tag.end && *tag.at != '[' ? text : tag;
    return true;
}

/* |  2024-08-23T21:04:12.473Z | of a table of log events */
bool hs_take_column(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    size_t n;

    if (!hs_take_byte(&tag, '|'))
        return false;
    hs_skip_blanks(&tag);
    n = hs_clock_read(hs_rest(&tag), &stamp);
    tag.at += n;
    if (n)
        hs_skip_blanks(&tag);
    if (!n || !hs_take_byte(&tag, '|'))
        return false;
    hs_skip_blank(&tag);
    hs_record_stamp(out, stamp);
    *in = tag;
    return true;
}

static char level_of_priority(uint32_t priority)
{
    return "FFFEWIIV"[priority & 7];
}

/* <6> of syslog and the kernel's ring */
bool hs_take_priority(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t priority;

    if (!hs_take_byte(&tag, '<') || !hs_take_number(&tag, &priority) || priority > 191 ||
        !hs_take_byte(&tag, '>'))
        return false;
    out->level = level_of_priority(priority);
    *in = tag;
    return true;
}

/* kern  :warn  : of dmesg --decode */
bool hs_take_facility(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const facilities[] = { "kern", "user", "daemon", "syslog" };
    static const char *const levels[] = { "emerg", "alert",  "crit", "err",
                                          "warn",  "notice", "info", "debug" };
    struct hs_cursor tag = *in;
    size_t i = 0;

    while (i < 4 && !hs_take_text(&tag, facilities[i]))
        i++;
    hs_skip_blanks(&tag);
    if (i == 4 || !hs_take_byte(&tag, ':'))
        return false;
    for (i = 0; i < 8 && !hs_take_text(&tag, levels[i]); i++)
        continue;
    hs_skip_blanks(&tag);
    if (i == 8 || !hs_take_text(&tag, ": "))
        return false;
    out->level = level_of_priority((uint32_t)i);
    *in = tag;
    return true;
}
