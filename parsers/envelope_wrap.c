/*
 * envelope_wrap.c - what a whole stream shows: prefixes that a single line does not prove, and
 * lines that a terminal has cut at its width.
 *
 * A false join makes one speaker out of two, a missed one leaves text that is still readable. So
 * lines are joined only where several of one width are cut at different texts, and then only behind
 * a line that has a frame. Some terminals cut between words: there every line behind which no frame
 * stands has to be too long for the next one's first word.
 */
#include "base/limits.h"
#include "parsers/envelope_internal.h"

enum {
    WIDTH_MIN = 60, /* columns of a terminal */
    WIDTH_MAX = 1000,
};

/* Characters: bytes that do not continue one. */
static size_t columns(struct hs_str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

static bool is_wide(struct hs_str text, size_t width)
{
    return text.n >= width && text.n <= width * 4 && columns(text) == width;
}

/* Filled up with blanks, as a terminal's rows are copied: nothing follows. */
static bool is_padded(struct hs_str text)
{
    return text.n > 1 && text.p[text.n - 1] == ' ' && text.p[text.n - 2] == ' ';
}

bool hs_begins_frame(const struct hs_envelope *envelope, struct hs_str text)
{
    struct hs_cursor in = { .at = text.p, .end = text.p + text.n };
    struct hs_record ignored;

    hs_skip_blanks(&in);
    hs_record_clear(&ignored);
    return hs_take_header(&in, &ignored) || hs_take_prefix(&in, envelope, true, &ignored) ||
           hs_take_nccl(&in, &ignored);
}

static bool has_frame(struct hs_str text)
{
    return hs_str_has(text, "[rank") || hs_str_has(text, ".cpp:") || hs_str_has(text, " NCCL ");
}

struct hs_str hs_wrap_trim(struct hs_str text)
{
    if (is_padded(text)) {
        while (text.n && text.p[text.n - 1] == ' ')
            text.n--;
    }
    return text;
}

static struct hs_str without_last_blank(struct hs_str text)
{
    text.n -= text.n && text.p[text.n - 1] == ' ';
    return text;
}

static size_t first_word_columns(struct hs_str text)
{
    const char *blank = memchr(text.p, ' ', text.n);

    return columns((struct hs_str){ .p = text.p, .n = blank ? (size_t)(blank - text.p) : text.n });
}

bool hs_wrap_opens(const struct hs_envelope *envelope, struct hs_str text, bool first_line)
{
    if (text.n == 0 || text.n > (size_t)envelope->width * 4 || !has_frame(text))
        return false;
    /* The first line of a copy may begin in the middle of a row. */
    return envelope->words || (is_wide(text, envelope->width) && !is_padded(text)) ||
           (first_line && text.n < envelope->width && hs_is_word(text.p[text.n - 1]));
}

bool hs_wrap_continues(const struct hs_envelope *envelope, struct hs_str text)
{
    if (text.n == 0 || hs_begins_frame(envelope, text))
        return false;
    if (envelope->words)
        return !hs_is_blank(text.p[0]) &&
               envelope->row_columns + 1 + first_word_columns(text) > envelope->width;
    return envelope->row_columns == envelope->width ||
           (envelope->wrapped.line == 1 && envelope->wrapped.lines == 1 &&
            (hs_is_digit(text.p[0]) || (text.p[0] >= 'a' && text.p[0] <= 'z')));
}

void hs_wrap_append(struct hs_envelope *envelope, struct hs_str text)
{
    struct hs_buf *to = &envelope->wrapped.text;

    if (envelope->words) {
        text = without_last_blank(text);
        if (envelope->wrapped.lines)
            hs_buf_putc(to, ' ');
    }
    envelope->row_columns = is_padded(text) ? 0 : columns(text);
    hs_buf_put(to, hs_wrap_trim(text));
    envelope->wrapped.lines++;
}

/* Lines, one after the other. */
static bool next_line(struct hs_str *bytes, struct hs_str *line)
{
    const char *newline;

    if (!bytes->n)
        return false;
    newline = memchr(bytes->p, '\n', bytes->n);
    line->p = bytes->p;
    line->n = newline ? (size_t)(newline - bytes->p) : bytes->n;
    bytes->p += line->n + (newline != NULL);
    bytes->n -= line->n + (newline != NULL);
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

/* What has been counted in lines. */
struct counts {
    uint32_t lines;             /* not empty */
    uint32_t numbered, hosted;  /* begin so */
    uint32_t last_task, rising; /* so many numbers are larger than the one before */
    uint32_t objects, ended;    /* of docker; so many with \n at the end of their text */
    uint32_t wider;             /* than any terminal */
    uint32_t widths[WIDTH_MAX + 1];
};

static void count_prefixes(const struct hs_envelope *envelope, struct hs_str line,
                           struct counts *counts)
{
    struct hs_cursor in = { .at = line.p, .end = line.p + line.n };
    struct hs_record record;
    struct hs_str host;

    hs_record_clear(&record);
    while (in.at < in.end && *in.at == '[' && hs_take_prefix(&in, envelope, true, &record))
        continue;
    if (hs_take_host(&in, &host)) {
        counts->hosted++;
        return;
    }
    hs_skip_blanks(&in);
    if (!hs_take_numbered(&in, &record))
        return;
    counts->rising += counts->numbered > 0 && record.task > counts->last_task;
    counts->last_task = record.task;
    counts->numbered++;
}

/* Whether a container may stand behind a prefix. */
static bool hides_container(struct hs_str line)
{
    return hs_str_has(line, " {\"log\":\"") || hs_str_has(line, "Z stdout F ") ||
           hs_str_has(line, "Z stderr F ");
}

static void count_line(struct hs_envelope *envelope, struct hs_str line, struct counts *counts)
{
    struct hs_opened opened;
    struct hs_str text = line;
    size_t width;

    if (!line.n)
        return;
    if (!envelope->prefixed && hides_container(line))
        envelope->prefixed = true;
    if (hs_envelope_open(envelope, line, &opened)) {
        text = opened.body;
        counts->objects += opened.until_newline;
        counts->ended += opened.until_newline && hs_str_ends(text, HS_STR("\\n"));
    }
    counts->lines++;
    envelope->mangled |= hs_has_mangled_escapes(line);
    count_prefixes(envelope, text, counts);
    if (text.p != line.p)
        return;
    width = columns(line);
    if (width <= WIDTH_MAX)
        counts->widths[width]++;
    else
        counts->wider++;
}

/* The width that most lines have; 0 when not even three share one, or many are longer. */
static size_t common_width(const struct counts *counts)
{
    size_t best = 0;
    uint32_t longer = 0;

    for (size_t width = WIDTH_MIN; width <= WIDTH_MAX; width++) {
        if (counts->widths[width] >= 3 && (!best || counts->widths[width] >= counts->widths[best]))
            best = width;
    }
    for (size_t width = best + 1; best && width <= WIDTH_MAX; width++)
        longer += counts->widths[width];
    return best && longer * 4 <= counts->widths[best] ? best : 0;
}

/* The last bytes of a line, whatever its numbers are: equal messages end equally. */
static uint64_t ending(struct hs_str text)
{
    uint64_t hash = 0;

    for (size_t i = text.n > 8 ? text.n - 8 : 0; i < text.n; i++)
        hash = hash << 8 | (uint64_t)(unsigned char)(hs_is_digit(text.p[i]) ? '0' : text.p[i]);
    return hash;
}

static bool is_among(const uint64_t *endings, size_t count, uint64_t end)
{
    for (size_t i = 0; i < count; i++) {
        if (endings[i] == end)
            return true;
    }
    return false;
}

/* Whether lines of this width are cut: at different texts, one with a frame, and none behind. */
static bool is_wrapped(const struct hs_envelope *envelope, struct hs_str bytes, size_t width)
{
    struct hs_str line, next;
    uint64_t first = 0;
    bool more = next_line(&bytes, &line), any = false, differ = false, framed = false;

    while (more) {
        more = next_line(&bytes, &next);
        if (more && next.n && is_wide(line, width) && !is_padded(line) &&
            !hs_begins_frame(envelope, next)) {
            framed |= has_frame(line);
            differ |= any && ending(line) != first;
            first = ending(line);
            any = true;
        }
        line = next;
    }
    return framed && differ;
}

/* Whether all lines that have a frame, and none behind them, end where the next word had no room,
 * and there are three or more that end differently. */
static bool is_wrapped_at_words(const struct hs_envelope *envelope, struct hs_str bytes,
                                size_t width)
{
    uint64_t endings[3];
    size_t kept = 0;
    struct hs_str line, next;
    bool more = next_line(&bytes, &line);

    while (more) {
        more = next_line(&bytes, &next);
        if (more && next.n && has_frame(line) && !hs_begins_frame(envelope, next)) {
            uint64_t end = ending(line);

            line = without_last_blank(line);
            if (line.n > width * 4 || columns(line) + 1 + first_word_columns(next) <= width)
                return false;
            if (kept < 3 && !is_among(endings, kept, end))
                endings[kept++] = end;
        }
        line = next;
    }
    return kept == 3;
}

static void learn_width(struct hs_envelope *envelope, const struct counts *counts,
                        struct hs_str bytes)
{
    size_t width = common_width(counts);

    if (width && is_wrapped(envelope, bytes, width)) {
        envelope->width = (uint32_t)width;
        return;
    }
    for (width = WIDTH_MAX; width >= WIDTH_MIN && !counts->widths[width]; width--)
        continue;
    if (width >= WIDTH_MIN && !counts->wider && is_wrapped_at_words(envelope, bytes, width)) {
        envelope->width = (uint32_t)width;
        envelope->words = true;
    }
}

void hs_envelope_learn(struct hs_envelope *envelope, struct hs_str head)
{
    struct counts counts = { .lines = 0 };
    struct hs_str left = head, line;

    while (next_line(&left, &line))
        count_line(envelope, line, &counts);
    /* Numbers that only rise count something. */
    envelope->numbered = counts.numbered * 2 > counts.lines &&
                         (counts.numbered < 4 || counts.rising + 1 < counts.numbered);
    envelope->hosted = counts.lines >= 3 && counts.hosted * 10 >= counts.lines * 9;
    envelope->trimmed = counts.objects > 1 && counts.ended == 0;
    learn_width(envelope, &counts, head);
}
