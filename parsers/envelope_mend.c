/*
 * envelope_mend.c - mpirun puts its tag in front of every write, so that a line which its process
 * wrote in pieces holds the tag again and again: "[1,2]<stderr>:Dist[1,2]<stderr>:StoreError".
 */
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

enum { TIME_BYTES = 32 };

/* The tag that a line begins with, and the time in front of it. */
struct tag {
    struct hs_str time, text;
};

static bool take_tag(struct hs_str line, struct tag *out)
{
    const char *begin = memchr(line.p, '[', line.n < TIME_BYTES ? line.n : TIME_BYTES), *end;
    struct hs_cursor in = { .at = begin, .end = line.p + line.n };
    struct hs_record ignored;

    hs_record_clear(&ignored);
    if (!begin || !hs_take_mpirun(&in, &ignored))
        return false;
    end = memmem(begin, (size_t)(in.at - begin), ">:", 2);
    out->time = (struct hs_str){ .p = line.p, .n = (size_t)(begin - line.p) };
    out->text = (struct hs_str){ .p = begin, .n = (size_t)(end + 2 - begin) };
    return true;
}

/* How many bytes before `end`, where a tag ends, are this one again; 0: it is another one. */
static size_t length_of_repeat(const struct tag *tag, struct hs_str line, size_t from, size_t end)
{
    size_t n = tag->time.n + tag->text.n;
    struct hs_stamp ignored;
    struct hs_str time;

    if (end - from < n || memcmp(line.p + end - tag->text.n, tag->text.p, tag->text.n) != 0)
        return 0;
    time = (struct hs_str){ .p = line.p + end - n, .n = tag->time.n };
    return time.n == 0 || hs_clock_read(time, &ignored) == time.n ? n : 0;
}

/* The byte behind the next tag of any process; 0: there is none. */
static size_t next_tag(struct hs_str line, size_t from)
{
    const char *at = memmem(line.p + from, line.n - from, "]<std", 5);
    const char *end = at ? memmem(at, (size_t)(line.p + line.n - at), ">:", 2) : NULL;

    return end ? (size_t)(end + 2 - line.p) : 0;
}

bool hs_envelope_mend(struct hs_envelope *envelope, struct hs_str *text)
{
    struct hs_str line = *text;
    size_t from, end, kept = 0;
    struct tag tag;

    if (!take_tag(line, &tag))
        return true;
    envelope->mended.n = 0;
    from = tag.time.n + tag.text.n;
    while ((end = next_tag(line, from)) != 0) {
        size_t n = length_of_repeat(&tag, line, from, end);

        if (!n)
            break;
        hs_buf_put(&envelope->mended, (struct hs_str){ .p = line.p + kept, .n = end - n - kept });
        kept = from = end;
    }
    if (!kept)
        return true;
    hs_buf_put(&envelope->mended, (struct hs_str){ .p = line.p + kept, .n = line.n - kept });
    *text = hs_buf_str(&envelope->mended);
    return !envelope->mended.failed;
}
