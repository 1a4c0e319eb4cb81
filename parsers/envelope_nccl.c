/*
 * envelope_nccl.c - the frame of a line of NCCL's:
 * [time] host:pid:tid [device] ms file:line (function) NCCL LEVEL message, of every era.
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

/* "[2025-11-18 20:32:23] " */
static void take_time(struct hs_cursor *in, struct hs_record *out)
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
    hs_record_stamp(out, stamp);
    *in = tag;
}

static bool take_process(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str host;
    uint32_t pid, tid;

    if (!hs_take_span(&tag, hs_is_host, 253, &host) || !hs_take_byte(&tag, ':') ||
        !hs_take_number(&tag, &pid) || !hs_take_byte(&tag, ':') || !hs_take_number(&tag, &tid) ||
        !hs_take_byte(&tag, ' '))
        return false;
    if (tag.at - in->at == 9 && host.n == 2 && hs_is_digit(host.p[0]))
        return false; /* 18:11:06 */
    out->host = host;
    out->pid = pid;
    out->tid = tid;
    *in = tag;
    return true;
}

static bool take_device(struct hs_cursor *in, struct hs_record *out)
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

static bool is_function(char c)
{
    return c != ')' && c != '(' && c != '\n';
}

/* transport/net_ib.cc:839 (ncclIbTest) */
static bool take_place(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str file, function;
    uint32_t line;

    if (!hs_take_span(&tag, is_file, TOKEN_MAX_BYTES, &file) || !hs_take_byte(&tag, ':') ||
        !hs_take_number(&tag, &line) || !hs_take_byte(&tag, ' '))
        return false;
    if (hs_take_byte(&tag, '(')) {
        (void)hs_take_span(&tag, is_function, TOKEN_MAX_BYTES, &function);
        if (!hs_take_text(&tag, ") "))
            return false;
    }
    out->file = file;
    out->file_line = line;
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

bool hs_take_nccl(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor frame = *in;
    struct hs_record record = *out;
    size_t i = 0;

    take_time(&frame, &record);
    (void)take_process(&frame, &record);
    (void)take_device(&frame, &record);
    (void)take_milliseconds(&frame);
    (void)take_place(&frame, &record);
    while (i < sizeof(levels) / sizeof(levels[0]) && !hs_take_text(&frame, levels[i].text))
        i++;
    if (i == sizeof(levels) / sizeof(levels[0]) ||
        (frame.at < frame.end && !hs_is_blank(*frame.at)))
        return false;
    (void)hs_take_byte(&frame, ' ');
    record.header = HS_HEADER_NCCL;
    record.level = levels[i].level;
    skip_old_rank(&frame);
    *out = record;
    *in = frame;
    return true;
}
