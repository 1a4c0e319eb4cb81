/*
 * envelope_wrap.c - what a whole stream shows: prefixes that a single line does not prove, and
 * lines that a terminal has cut at its width.
 *
 * A false join makes one speaker out of two, a missed one leaves text that is still readable. So
 * lines are joined only where many of one width are cut in different words, and then only behind a
 * line that has a frame.
 */
#include "base/limits.h"
#include "parsers/envelope_internal.h"

enum {
    SAMPLE_BYTES = 262144,
    WIDTH_MIN = 60, /* columns of a terminal */
    WIDTH_MAX = 1000,
    CUTS_KEPT = 16,
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

bool hs_wrap_is_full(const struct hs_envelope *envelope, struct hs_str text)
{
    return is_wide(text, envelope->width) && !is_padded(text);
}

bool hs_wrap_opens(const struct hs_envelope *envelope, struct hs_str text, bool first_line)
{
    if (text.n == 0 || !has_frame(text))
        return false;
    /* The first line of a copy may begin in the middle of a row. */
    return hs_wrap_is_full(envelope, text) ||
           (first_line && text.n < envelope->width && hs_is_word(text.p[text.n - 1]));
}

bool hs_wrap_continues(const struct hs_envelope *envelope, struct hs_str text)
{
    struct hs_str so_far = hs_buf_str(&envelope->wrapped.text);

    if (text.n == 0 || hs_begins_frame(envelope, text))
        return false;
    return hs_wrap_is_full(envelope, so_far) || envelope->wrapped.lines > 1 ||
           (text.p[0] >= 'a' && text.p[0] <= 'z') || hs_is_digit(text.p[0]);
}

struct hs_str hs_wrap_trim(struct hs_str text)
{
    if (is_padded(text)) {
        while (text.n && text.p[text.n - 1] == ' ')
            text.n--;
    }
    return text;
}

/* Lines of a sample, one after the other. */
static bool next_line(struct hs_str *sample, struct hs_str *line)
{
    const char *newline;

    if (!sample->n)
        return false;
    newline = memchr(sample->p, '\n', sample->n);
    line->p = sample->p;
    line->n = newline ? (size_t)(newline - sample->p) : sample->n;
    sample->p += line->n + (newline != NULL);
    sample->n -= line->n + (newline != NULL);
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

/* The start, or a part further on from its first whole line. */
static struct hs_str sample_at(struct hs_str bytes, size_t at)
{
    struct hs_str sample = { .p = bytes.p + at, .n = bytes.n - at };
    struct hs_str partial;

    if (sample.n > SAMPLE_BYTES)
        sample.n = SAMPLE_BYTES;
    if (at > 0)
        (void)next_line(&sample, &partial);
    return sample;
}

/* What has been counted in lines. */
struct counts {
    uint32_t lines;             /* not empty */
    uint32_t numbered, hosted;  /* begin so */
    uint32_t last_task, rising; /* so many numbers are larger than the one before */
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

static void count_line(struct hs_envelope *envelope, struct hs_str line, struct counts *counts)
{
    struct hs_opened opened;
    struct hs_str text = line;
    size_t width;

    if (!line.n)
        return;
    if (hs_envelope_open(envelope, line, &opened))
        text = opened.body;
    counts->lines++;
    envelope->mangled |= hs_has_mangled_escapes(line);
    count_prefixes(envelope, text, counts);
    if (text.p == line.p && line.n >= WIDTH_MIN && line.n <= (size_t)WIDTH_MAX * 4) {
        width = columns(line);
        if (width <= WIDTH_MAX)
            counts->widths[width]++;
    }
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

/* Whether lines of this width are cut: two or more, at different words, with no frame behind. */
static bool is_wrapped(const struct hs_envelope *envelope, struct hs_str sample, size_t width)
{
    uint64_t endings[CUTS_KEPT];
    size_t kept = 0;
    struct hs_str line, next;
    bool more = next_line(&sample, &line);

    while (more && kept < CUTS_KEPT) {
        more = next_line(&sample, &next);
        if (more && next.n && is_wide(line, width) && !is_padded(line) &&
            !hs_begins_frame(envelope, next))
            endings[kept++] = ending(line);
        line = next;
    }
    for (size_t i = 1; i < kept; i++) {
        if (endings[i] != endings[0])
            return true;
    }
    return false;
}

void hs_envelope_learn(struct hs_envelope *envelope, struct hs_str bytes)
{
    struct counts counts = { .lines = 0 };
    size_t starts[3] = { 0, bytes.n / 2, bytes.n > SAMPLE_BYTES ? bytes.n - SAMPLE_BYTES : 0 };
    size_t samples = bytes.n > 3ull * SAMPLE_BYTES ? 3 : 1, width;
    struct hs_str sample, line;

    for (size_t i = 0; i < samples; i++) {
        sample = sample_at(bytes, starts[i]);
        while (next_line(&sample, &line))
            count_line(envelope, line, &counts);
    }
    /* Numbers that only rise count something. */
    envelope->numbered = counts.numbered * 2 > counts.lines &&
                         (counts.numbered < 4 || counts.rising + 1 < counts.numbered);
    envelope->hosted = counts.lines >= 3 && counts.hosted * 10 >= counts.lines * 9;
    width = common_width(&counts);
    for (size_t i = 0; width && i < samples; i++) {
        if (is_wrapped(envelope, sample_at(bytes, starts[i]), width)) {
            envelope->width = (uint32_t)width;
            break;
        }
    }
}
