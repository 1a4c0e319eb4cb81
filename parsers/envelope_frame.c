/*
 * envelope_frame.c - where frames begin in a segment, found from the marks in them.
 *
 * A mark is part of a frame; what stands in front of it is looked at backwards, no further than a
 * frame is long, so that the work is linear in the segment whatever it holds.
 */
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

enum kind { MARK_TAG, MARK_HEADER, MARK_NCCL, MARK_OLD_NCCL, MARK_MPIRUN, MARK_ACTOR };

static const enum kind kinds[] = {
    MARK_TAG,    MARK_TAG,    MARK_HEADER, MARK_HEADER, MARK_HEADER,   MARK_HEADER,
    MARK_HEADER, MARK_HEADER, MARK_HEADER, MARK_HEADER, MARK_HEADER,   MARK_NCCL,
    MARK_NCCL,   MARK_NCCL,   MARK_NCCL,   MARK_NCCL,   MARK_NCCL,     MARK_NCCL,
    MARK_MPIRUN, MARK_MPIRUN, MARK_MPIRUN, MARK_ACTOR,  MARK_OLD_NCCL, MARK_OLD_NCCL,
};

#define MARK(text)                                                                                 \
    {                                                                                              \
        .p = (text), .n = sizeof(text) - 1                                                         \
    }
const struct hs_str hs_frame_marks[] = {
    MARK("]:"),         MARK("[rank: "),        MARK(".cpp:"),     MARK(".hpp:"),
    MARK(".cc:"),       MARK(".cu:"),           MARK(".h:"),       MARK(".py:"),
    MARK(":torch."),    MARK(": torch."),       MARK("] torch."),  MARK("NCCL INFO"),
    MARK("NCCL WARN"),  MARK("NCCL TRACE"),     MARK("NCCL CALL"), MARK("NCCL ABORT"),
    MARK("NCCL DIAG"),  MARK("[FATAL ERROR]:"), MARK("<stdout>:"), MARK("<stderr>:"),
    MARK("<stddiag>:"), MARK("pid="),           MARK(" WARN "),    MARK("] INFO "),
};
const uint32_t hs_frame_mark_count = sizeof(hs_frame_marks) / sizeof(hs_frame_marks[0]);
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) ==
                   sizeof(hs_frame_marks) / sizeof(hs_frame_marks[0]),
               "each mark has a kind");

enum {
    PREFIX_BYTES = 400, /* from the start of a prefix to its mark, at most */
    HEADER_BYTES = 320, /* the same of a header */
    TIME_BYTES = 40,
    NCCL_TOKENS = 6,
    TOKEN_BYTES = 300,
};

/* The last `c` in [from, to); `to` when there is none. */
static size_t last_byte(struct hs_str text, size_t from, size_t to, char c)
{
    const char *at = memrchr(text.p + from, c, to - from);

    return at ? (size_t)(at - text.p) : to;
}

static size_t floor_of(size_t floor, size_t at, size_t bytes)
{
    return at > bytes && at - bytes > floor ? at - bytes : floor;
}

/* Whether the prefix that begins at `at` reaches beyond the mark that ends at `end`. */
static bool is_prefix(struct hs_str text, size_t at, size_t end)
{
    static const struct hs_envelope nothing_learned;
    struct hs_cursor in = { .at = text.p + at, .end = text.p + text.n };
    struct hs_record ignored;

    hs_record_clear(&ignored);
    return hs_take_prefix(&in, &nothing_learned, false, &ignored) && in.at >= text.p + end;
}

/* [rank3]:, [rank: 3] or [default0]:; any other word and number in brackets may be of a text. */
static enum hs_frame find_tag(struct hs_str text, size_t floor, size_t end, size_t *begin)
{
    size_t from = floor_of(floor, end, 32);
    size_t at = last_byte(text, from, end, '[');
    struct hs_str tag = { .p = text.p + at, .n = text.n - at };
    bool of_process = hs_str_starts(tag, HS_STR("[rank"));

    if (at == end || (!of_process && !hs_str_starts(tag, HS_STR("[default"))) ||
        !is_prefix(text, at, end))
        return HS_FRAME_NONE;
    *begin = at;
    return of_process ? HS_FRAME_TAG : HS_FRAME_LAUNCHER;
}

static bool find_mpirun(struct hs_str text, size_t floor, size_t end, size_t *begin)
{
    size_t from = floor_of(floor, end, PREFIX_BYTES);
    size_t at = last_byte(text, from, end, '[');

    if (at < end && is_prefix(text, at, end)) {
        *begin = at;
        return true;
    }
    if (at == end || at == from)
        return false;
    *begin = last_byte(text, from, at, '['); /* of two brackets the second names the host */
    return *begin < at && is_prefix(text, *begin, end);
}

static bool find_actor(struct hs_str text, size_t floor, size_t end, size_t *begin)
{
    size_t at = last_byte(text, floor_of(floor, end, 160), end, '(');

    *begin = at;
    return at < end && is_prefix(text, at, end);
}

/* Whether digits follow and then what may end a place in a header. */
static bool is_line_number(struct hs_str text, size_t at)
{
    size_t from = at;

    while (at < text.n && at - from < 10 && hs_is_digit(text.p[at]))
        at++;
    return at > from && at < text.n && (text.p[at] == ']' || text.p[at] == ':');
}

/* A header holds its mark, and begins with '[' or a capital letter behind no other letter. */
static bool find_header(struct hs_str text, size_t floor, size_t end, size_t *begin)
{
    size_t from = floor_of(floor, end, HEADER_BYTES);
    struct hs_record ignored;

    if (text.p[end - 1] == ':' && !is_line_number(text, end))
        return false;
    hs_record_clear(&ignored);
    for (size_t at = end; at-- > from;) {
        char c = text.p[at];
        bool word = c >= 'A' && c <= 'Z' &&
                    (at == floor || (!hs_is_word(text.p[at - 1]) && text.p[at - 1] != '['));
        struct hs_cursor in = { .at = text.p + at, .end = text.p + text.n };

        if (c != '[' && !word && !(at == floor && hs_is_digit(c)))
            continue;
        if (hs_take_header(&in, &ignored) && in.at >= text.p + end) {
            *begin = at;
            return true;
        }
    }
    return false;
}

/* Where "host:pid:tid" begins in a token; its end if it does not end so. */
static size_t process_in(struct hs_str text, size_t from, size_t to)
{
    size_t at = to, digits;

    for (int colons = 0; colons < 2; colons++) {
        digits = at;
        while (at > from && hs_is_digit(text.p[at - 1]))
            at--;
        if (at == digits || at == from || text.p[at - 1] != ':')
            return to;
        at--;
    }
    digits = at;
    if (at > from && text.p[from] == '<' && text.p[at - 1] == '>')
        return from; /* what somebody wrote over the name */
    while (at > from && hs_is_host(text.p[at - 1]))
        at--;
    return at < digits || at == from ? at : to; /* a host that somebody took out is nothing */
}

static bool is_part(struct hs_str text, size_t from, size_t to)
{
    char first = text.p[from], last = text.p[to - 1];

    return (first == '[' && last == ']') || last == ')' ||
           (hs_is_digit(last) && (memchr(text.p + from, ':', to - from) || hs_is_digit(first)));
}

static size_t with_time(struct hs_str text, size_t floor, size_t at)
{
    size_t end = at > floor && text.p[at - 1] == ' ' ? at - 1 : at;
    size_t from = floor_of(floor, end, TIME_BYTES), begin;
    struct hs_stamp ignored;
    struct hs_str time;

    if (end == floor || text.p[end - 1] != ']')
        return at;
    begin = last_byte(text, from, end, '[');
    if (begin == end)
        return at;
    time = (struct hs_str){ .p = text.p + begin + 1, .n = end - begin - 2 };
    return hs_clock_read(time, &ignored) == time.n && time.n ? begin : at;
}

/* Tokens are taken from right to left: (function), file:line, ms, [device], host:pid:tid. */
static bool find_nccl(struct hs_str text, size_t floor, size_t mark, size_t *begin)
{
    size_t at = mark;

    for (int i = 0; i < NCCL_TOKENS && at > floor && text.p[at - 1] == ' '; i++) {
        size_t end = at - 1;
        size_t from = floor_of(floor, end, TOKEN_BYTES);
        size_t blank = last_byte(text, from, end, ' ');
        size_t start = blank < end ? blank + 1 : from, process;

        if (start == end)
            break;
        process = process_in(text, start, end);
        if (process < end) {
            *begin = with_time(text, floor, process);
            return true;
        }
        if (!is_part(text, start, end))
            break;
        at = start;
    }
    *begin = at;
    return at < mark || at == floor;
}

bool hs_envelope_is_nccl(struct hs_hit mark)
{
    return kinds[mark.literal] == MARK_NCCL || kinds[mark.literal] == MARK_OLD_NCCL;
}

enum hs_frame hs_envelope_find_frame(struct hs_str text, struct hs_hit mark, size_t floor,
                                     size_t *begin)
{
    size_t end = mark.end, start = end - hs_frame_marks[mark.literal].n;
    struct hs_cursor in = { .end = text.p + text.n };
    struct hs_record ignored;

    if (end > text.n || start < floor)
        return HS_FRAME_NONE;
    switch (kinds[mark.literal]) {
    case MARK_TAG:
        return find_tag(text, floor, end, begin);
    case MARK_MPIRUN:
        return find_mpirun(text, floor, end, begin) ? HS_FRAME_LAUNCHER : HS_FRAME_NONE;
    case MARK_ACTOR:
        return find_actor(text, floor, end, begin) ? HS_FRAME_LAUNCHER : HS_FRAME_NONE;
    case MARK_HEADER:
        return find_header(text, floor, end, begin) ? HS_FRAME_HEADER : HS_FRAME_NONE;
    case MARK_OLD_NCCL:
        start = end - sizeof("WARN"); /* the word itself, and the blank behind it */
        break;
    case MARK_NCCL:
        break;
    }
    if (!find_nccl(text, floor, start, begin))
        return HS_FRAME_NONE;
    hs_record_clear(&ignored);
    in.at = text.p + *begin;
    return hs_take_nccl(&in, &ignored) && in.at >= text.p + end ? HS_FRAME_NCCL : HS_FRAME_NONE;
}
