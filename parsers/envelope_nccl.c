/*
 * envelope_nccl.c - the frame of a line of NCCL's:
 * [time] host:pid:tid [device] ms file:line (function) NCCL LEVEL message, of every era; before 2.4
 * without the word NCCL.
 */
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

enum { TOKEN_MAX_BYTES = 300 };

static const struct {
    const char *text;
    char level;
} levels[] = {
    { "NCCL INFO", 'I' },  { "NCCL WARN", 'W' }, { "NCCL TRACE", 'T' },     { "NCCL CALL", 'C' },
    { "NCCL ABORT", 'F' }, { "NCCL DIAG", 'I' }, { "[FATAL ERROR]:", 'F' },
};

/* What a frame says. */
struct frame {
    struct hs_str host, file;
    uint32_t pid, tid, device, line;
    struct hs_stamp stamp;
    char level;
};

/* "[2025-11-18 20:32:23] " */
static void take_time(struct hs_cursor *in, struct frame *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    size_t n;

    if (!hs_take_byte(&tag, '['))
        return;
    n = hs_clock_read(hs_rest(&tag), &stamp);
    tag.at += n;
    if (!n || !hs_take_byte(&tag, ']'))
        return;
    (void)hs_take_byte(&tag, ' ');
    out->stamp = stamp;
    *in = tag;
}

/* "<hostname>", what somebody wrote over the name of a host: nobody's name. */
static void skip_placeholder(struct hs_cursor *in)
{
    struct hs_cursor tag = *in;
    struct hs_str name;

    if (hs_take_byte(&tag, '<') && hs_take_span(&tag, hs_is_host, HS_NAME_BYTES, &name) &&
        hs_take_byte(&tag, '>'))
        *in = tag;
}

static bool take_process(struct hs_cursor *in, struct frame *out)
{
    struct hs_cursor tag = *in;
    struct hs_str host = { 0 };
    uint32_t pid, tid;

    if (!hs_take_span(&tag, hs_is_host, HS_NAME_BYTES, &host))
        skip_placeholder(&tag);
    if (!hs_take_byte(&tag, ':') || !hs_take_number(&tag, &pid) || !hs_take_byte(&tag, ':') ||
        !hs_take_number(&tag, &tid) || !hs_take_byte(&tag, ' '))
        return false;
    if (tag.at - in->at == 9 && host.n == 2 && hs_is_digit(host.p[0]))
        return false; /* 18:11:06 */
    out->host = host;
    out->pid = pid;
    out->tid = tid;
    *in = tag;
    return true;
}

static bool take_device(struct hs_cursor *in, struct frame *out)
{
    struct hs_cursor tag = *in;
    uint32_t device;
    bool negative;

    if (!hs_take_byte(&tag, '['))
        return false;
    negative = hs_take_byte(&tag, '-');
    if (!hs_take_number(&tag, &device) || !hs_take_text(&tag, "] "))
        return false;
    out->device = negative ? HS_NO_ID : device;
    *in = tag;
    return true;
}

/* 123.456789, the time of a TRACE line since start */
static bool take_milliseconds(struct hs_cursor *in)
{
    struct hs_cursor tag = *in;
    struct hs_stamp ignored;
    size_t n = hs_clock_read_seconds(hs_rest(&tag), &ignored);

    tag.at += n;
    if (!n || !hs_take_byte(&tag, ' '))
        return false;
    *in = tag;
    return true;
}

static bool is_file(char c)
{
    return (unsigned char)c > ' ' && c != ':';
}

/* transport/net_ib.cc:839 (ncclIbTest) */
static bool take_place(struct hs_cursor *in, struct frame *out)
{
    struct hs_cursor tag = *in;
    struct hs_str file, rest;
    uint32_t line;

    if (!hs_take_span(&tag, is_file, TOKEN_MAX_BYTES, &file) || !hs_take_byte(&tag, ':') ||
        !hs_take_number(&tag, &line) || !hs_take_byte(&tag, ' '))
        return false;
    if (hs_take_byte(&tag, '(')) {
        const char *end;

        rest = hs_rest(&tag);
        end = memmem(rest.p, rest.n < TOKEN_MAX_BYTES ? rest.n : TOKEN_MAX_BYTES, ") ", 2);
        if (!end)
            return false;
        tag.at = end + 2;
    }
    out->file = file;
    out->line = line;
    *in = tag;
    return true;
}

/* "[3] " of old NCCL between level and message: "AllReduce: opCount ..." follows. */
static void skip_old_rank(struct hs_cursor *in)
{
    struct hs_cursor tag = *in, message;
    struct hs_str name;
    uint32_t rank;

    if (!hs_take_byte(&tag, '[') || !hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] "))
        return;
    message = tag;
    if (hs_take_span(&tag, hs_is_letter, 40, &name) && hs_take_text(&tag, ": opCount "))
        *in = message;
}

static bool take_level(struct hs_cursor *in, char *out)
{
    if (in->at == in->end || (*in->at != 'N' && *in->at != '['))
        return false;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (hs_take_text(in, levels[i].text)) {
            *out = levels[i].level;
            return in->at == in->end || hs_is_blank(*in->at);
        }
    }
    return false;
}

/* "WARN " and "INFO " of NCCL before 2.4. Other programs write these words too: only behind a
 * process and device of NCCL's, and WARN behind a source file of C++ or CUDA. */
static bool take_old_level(struct hs_cursor *in, struct frame *out)
{
    static const char *const endings[] = { ".cu", ".cc", ".h" };
    bool ours = out->host.n && out->device != HS_NO_ID;

    if (ours && hs_take_text(in, "INFO ")) {
        out->level = 'I';
        return true;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        ours = ours || hs_str_ends(out->file, hs_str_of(endings[i]));
    if (!ours || !hs_take_text(in, "WARN "))
        return false;
    out->level = 'W';
    return true;
}

bool hs_take_nccl(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor at = *in;
    struct frame frame = { .pid = HS_NO_ID, .tid = HS_NO_ID, .device = HS_NO_ID };

    take_time(&at, &frame);
    (void)take_process(&at, &frame);
    (void)take_device(&at, &frame);
    if (!take_level(&at, &frame.level)) {
        (void)take_milliseconds(&at);
        (void)take_place(&at, &frame);
        if (!take_level(&at, &frame.level) && !take_old_level(&at, &frame))
            return false;
    }
    (void)hs_take_byte(&at, ' ');
    skip_old_rank(&at);
    out->header = HS_HEADER_NCCL;
    out->level = frame.level;
    out->file = frame.file;
    out->file_line = frame.line;
    out->device = frame.device;
    if (frame.host.n)
        out->host = frame.host;
    if (frame.pid != HS_NO_ID) {
        out->pid = frame.pid;
        out->tid = frame.tid;
    }
    hs_record_stamp(out, frame.stamp);
    *in = at;
    return true;
}
