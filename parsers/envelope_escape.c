/*
 * envelope_escape.c - escape sequences of terminals, whole or mangled on their way, are dropped.
 */
#include "parsers/envelope_internal.h"

/* What stands for the ESC of a sequence; the bare "[36m" is the last. */
static const struct hs_str escapes[] = {
    { "\x1b", 1 },  { "\xef\xbf\xbd", 3 }, { "^[", 2 },  { "#033", 4 },         { "\\x1b", 4 },
    { "\\033", 4 }, { "\\u001b", 6 },      { "\\e", 2 }, { "\xe2\x90\x9b", 3 }, { "", 0 },
};

enum { PARAMETERS_MAX = 32, TITLE_MAX = 256 };

/* "[36m", "[0;1m", "[K" behind an ESC: its length, 0 when it is none. `color`: only colors. */
static size_t sequence_length(const char *at, const char *end, bool color)
{
    const char *from = at;

    if (at == end || *at++ != '[')
        return 0;
    while (at < end && at - from <= PARAMETERS_MAX &&
           (hs_is_digit(*at) || *at == ';' || *at == '?'))
        at++;
    if (at == end || at - from > PARAMETERS_MAX || !hs_is_letter(*at) || (color && *at != 'm'))
        return 0;
    return (size_t)(at - from) + 1;
}

/* "]0;title" and what ends it: BEL, or ESC and a backslash. */
static size_t title_length(const char *at, const char *end)
{
    const char *stop = at;

    while (stop < end && stop - at < TITLE_MAX && *stop != '\a' && *stop != '\x1b')
        stop++;
    if (stop == end || stop - at == TITLE_MAX)
        return 0;
    if (*stop == '\a')
        return (size_t)(stop - at) + 1;
    return (size_t)(stop - at) + (stop + 1 < end && stop[1] == '\\' ? 2 : 0);
}

/* After a real ESC: also titles, and choices of a character set or keypad. */
static size_t after_escape(const char *at, const char *end)
{
    size_t n = sequence_length(at, end, false);

    if (n || at == end)
        return n;
    switch (*at) {
    case ']':
        return title_length(at, end);
    case '(':
    case ')':
        return end - at > 1 ? 2 : 0;
    case '=':
    case '>':
        return 1;
    default:
        return 0;
    }
}

/* Length of the sequence at `at`, whatever became of its ESC; 0: none. */
static size_t escape_length(const struct hs_envelope *envelope, const char *at, const char *end)
{
    if (*at == '\x1b')
        return 1 + after_escape(at + 1, end);
    for (size_t i = 1; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        struct hs_str escape = escapes[i];
        size_t n;

        if (i > 1 && !envelope->mangled)
            break;
        if (!hs_str_starts((struct hs_str){ .p = at, .n = (size_t)(end - at) }, escape))
            continue;
        n = sequence_length(at + escape.n, end, true);
        if (n)
            return escape.n + n;
    }
    return 0;
}

/* The next byte at which a sequence may begin. */
static const char *next_candidate(const struct hs_envelope *envelope, const char *at,
                                  const char *end)
{
    const char *found, *replaced;

    if (envelope->mangled) {
        while (at < end && (!*at || !strchr("\x1b\xef^#\\\xe2[", *at)))
            at++;
        return at < end ? at : NULL;
    }
    found = memchr(at, '\x1b', (size_t)(end - at));
    replaced = memchr(at, '\xef', (size_t)((found ? found : end) - at));
    return replaced ? replaced : found;
}

bool hs_envelope_strip(struct hs_envelope *envelope, struct hs_str *text)
{
    const char *at = text->p, *end = text->p + text->n, *kept = text->p;

    envelope->plain.n = 0;
    while (at < end && (at = next_candidate(envelope, at, end)) != NULL) {
        size_t n = escape_length(envelope, at, end);

        if (n) {
            hs_buf_put(&envelope->plain, (struct hs_str){ .p = kept, .n = (size_t)(at - kept) });
            kept = at + n;
        }
        at += n ? n : 1;
    }
    if (kept == text->p)
        return true;
    hs_buf_put(&envelope->plain, (struct hs_str){ .p = kept, .n = (size_t)(end - kept) });
    *text = hs_buf_str(&envelope->plain);
    return !envelope->plain.failed;
}

/* A reset without its ESC; "[0m" is nothing that people write. */
bool hs_has_mangled_escapes(struct hs_str text)
{
    const char *at = text.p, *end = text.p + text.n;

    while (at < end && (at = memmem(at, (size_t)(end - at), "[0m", 3)) != NULL) {
        if (at == text.p || at[-1] != '\x1b')
            return true;
        at += 3;
    }
    return false;
}
