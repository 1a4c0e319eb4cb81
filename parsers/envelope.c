#include "parsers/envelope.h"

#include "base/limits.h"
#include "parsers/envelope_internal.h"

void hs_envelope_init(struct hs_envelope *envelope)
{
    *envelope = (struct hs_envelope){ .numbered = false };
}

void hs_envelope_release(struct hs_envelope *envelope)
{
    for (size_t i = 0; i < 2; i++)
        hs_buf_release(&envelope->parts[i].text);
    hs_buf_release(&envelope->wrapped.text);
    hs_buf_release(&envelope->plain);
    hs_buf_release(&envelope->mended);
    hs_envelope_init(envelope);
}

static const char *find_break(const char *at, const char *end)
{
    const char *cr = memchr(at, '\r', (size_t)(end - at));
    const char *lf = memchr(at, '\n', (size_t)((cr ? cr : end) - at));

    return lf ? lf : cr;
}

/* Hand out a whole text: a segment ends at \r, where a progress bar begins anew, and at \n. A line
 * without any text is one empty segment. */
static bool emit(struct hs_segment *segment, hs_segment_fn *take, void *self)
{
    const char *at = segment->text.p, *end = at + segment->text.n;
    bool taken = false;

    while (at < end) {
        const char *stop = find_break(at, end), *to = stop ? stop : end;

        if ((size_t)(to - at) > HS_SEGMENT_BYTES_MAX) {
            to = at + HS_SEGMENT_BYTES_MAX;
            stop = NULL;
        }
        if (to > at) {
            segment->text = (struct hs_str){ .p = at, .n = (size_t)(to - at) };
            taken = true;
            if (!take(self, segment))
                return false;
        }
        at = stop ? stop + 1 : to;
    }
    segment->text = (struct hs_str){ .p = end, .n = 0 };
    return taken || take(self, segment);
}

static bool emit_partial(struct hs_envelope *envelope, struct hs_partial *partial,
                         hs_segment_fn *take, void *self)
{
    struct hs_segment segment = {
        .text = hs_buf_str(&partial->text),
        .line = partial->line,
        .offset_bytes = partial->offset_bytes,
        .stamp = partial->stamp,
        .joined = partial->lines > 1,
    };

    if (partial->lines == 0)
        return true;
    partial->lines = 0;
    if (partial->text.failed ||
        (partial != &envelope->wrapped && !hs_envelope_strip(envelope, &segment.text)) ||
        !hs_envelope_mend(envelope, &segment.text))
        return false;
    return emit(&segment, take, self);
}

static bool is_at_limit(const struct hs_partial *partial)
{
    return partial->lines >= HS_JOINED_LINES_MAX || partial->text.n >= HS_SEGMENT_BYTES_MAX;
}

/* A line of a stream that a terminal has wrapped. */
static bool take_wrapped(struct hs_envelope *envelope, struct hs_segment *segment,
                         hs_segment_fn *take, void *self)
{
    struct hs_partial *wrapped = &envelope->wrapped;

    if (wrapped->lines && !is_at_limit(wrapped) && hs_wrap_continues(envelope, segment->text)) {
        hs_wrap_append(envelope, segment->text);
        return !wrapped->text.failed;
    }
    if (!emit_partial(envelope, wrapped, take, self))
        return false;
    if (!hs_wrap_opens(envelope, segment->text, segment->line == 1)) {
        segment->text = hs_wrap_trim(segment->text);
        return emit(segment, take, self);
    }
    wrapped->text.n = 0;
    wrapped->line = segment->line;
    wrapped->offset_bytes = segment->offset_bytes;
    hs_wrap_append(envelope, segment->text);
    return !wrapped->text.failed;
}

static bool has_key(const struct hs_partial *partial, struct hs_str key)
{
    return partial->key_bytes == key.n &&
           (key.n == 0 || memcmp(partial->text.p, key.p, key.n) == 0);
}

/* The next part of a container's line. */
static bool take_part(struct hs_envelope *envelope, const struct hs_opened *opened,
                      const struct hs_segment *where, hs_segment_fn *take, void *self)
{
    struct hs_partial *part = &envelope->parts[opened->stream];
    bool goes_on;

    if (part->lines && !has_key(part, opened->prefix) && !emit_partial(envelope, part, take, self))
        return false;
    if (!part->lines) {
        part->text.n = 0;
        part->line = where->line;
        part->offset_bytes = where->offset_bytes;
        part->stamp = opened->stamp;
        part->key_bytes = (uint32_t)opened->prefix.n;
        hs_buf_put(&part->text, opened->prefix);
    }
    if (opened->escaped)
        hs_envelope_unescape(&part->text, opened->body);
    else
        hs_buf_put(&part->text, opened->body);
    part->lines++;
    if (part->text.failed)
        return false;
    goes_on = opened->partial || (opened->until_newline && !envelope->trimmed &&
                                  !hs_str_ends(hs_buf_str(&part->text), HS_STR("\n")));
    return (goes_on && !is_at_limit(part)) || emit_partial(envelope, part, take, self);
}

static bool end_parts(struct hs_envelope *envelope, hs_segment_fn *take, void *self)
{
    return emit_partial(envelope, &envelope->parts[0], take, self) &&
           emit_partial(envelope, &envelope->parts[1], take, self);
}

bool hs_envelope_end(struct hs_envelope *envelope, hs_segment_fn *take, void *self)
{
    return end_parts(envelope, take, self) &&
           emit_partial(envelope, &envelope->wrapped, take, self);
}

bool hs_envelope_line(struct hs_envelope *envelope, struct hs_str text, uint64_t line,
                      uint64_t offset_bytes, hs_segment_fn *take, void *self)
{
    struct hs_segment segment = { .line = line, .offset_bytes = offset_bytes };
    struct hs_opened opened;

    if (text.n && text.p[text.n - 1] == '\r')
        text.n--;
    while (hs_envelope_open(envelope, text, &opened)) {
        if (!take_part(envelope, &opened, &segment, take, self))
            return false;
        text = opened.rest;
        if (!text.n)
            return true;
    }
    if (!end_parts(envelope, take, self) || !hs_envelope_strip(envelope, &text) ||
        (!envelope->width && !hs_envelope_mend(envelope, &text)))
        return false;
    segment.text = text;
    return envelope->width ? take_wrapped(envelope, &segment, take, self)
                           : emit(&segment, take, self);
}
