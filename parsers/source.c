/* source.c - an input, member by member; members that are packed themselves are opened again. */
#include "base/limits.h"
#include "parsers/source_internal.h"

#include <stdlib.h>

static enum hs_status source_new(struct hs_str name, struct hs_feed feed, struct hs_source **out,
                                 struct hs_err *err)
{
    struct hs_source *src = calloc(1, sizeof(*src));

    if (src)
        hs_buf_put(&src->name, name);
    if (!src || src->name.failed) {
        free(src);
        hs_feed_close(&feed);
        return hs_no_memory(err);
    }
    src->feed = feed;
    src->depth = 1;
    *out = src;
    return HS_OK;
}

enum hs_status hs_source_open(const struct hs_input *input, struct hs_source **out,
                              struct hs_err *err)
{
    struct hs_feed feed = { .fd = -1 };
    enum hs_status status;

    if (input->stream) {
        feed.fd = input->stream->fd;
        feed.bytes = input->stream->head;
        return source_new(input->name, feed, out, err);
    }
    status = hs_feed_open(input->path.p, input->name, &feed, err);

    return status == HS_OK ? source_new(input->name, feed, out, err) : status;
}

enum hs_status hs_source_open_bytes(struct hs_str bytes, struct hs_str name, struct hs_source **out,
                                    struct hs_err *err)
{
    struct hs_feed feed = { .fd = -1, .rewinds = true, .size = bytes.n, .bytes = bytes };

    return source_new(name, feed, out, err);
}

static void inner_close(struct hs_source *src)
{
    hs_source_close(src->inner);
    src->inner = NULL;
    hs_buf_release(&src->inner_bytes);
}

void hs_source_close(struct hs_source *source)
{
    if (!source)
        return;
    inner_close(source);
    hs_source_unpack_release(source);
    hs_feed_close(&source->feed);
    hs_buf_release(&source->name);
    hs_buf_release(&source->member_name);
    free(source);
}

static void start(struct hs_source *src)
{
    enum hs_packing packing =
        hs_packing_of(hs_head_peek(src, &src->feed_head, hs_source_feed_read));

    src->started = true;
    if (packing != HS_PLAIN && !hs_packing_is_archive(packing)) {
        src->unpack_packing = packing;
        hs_source_unpack_open(src);
        packing = hs_packing_of(hs_head_peek(src, &src->content_head, hs_source_unpack_read));
    }
    if (hs_packing_is_archive(packing)) {
        src->box_packing = packing;
        hs_source_box_open(src);
    }
}

static size_t member_read(struct hs_source *src, char *to, size_t cap)
{
    return src->box ? hs_head_take(src, &src->member_head, hs_source_box_read, to, cap)
                    : hs_source_content_read(src, to, cap);
}

/* How the member at hand is packed itself. */
static enum hs_packing member_packing(struct hs_source *src)
{
    if (src->box)
        return hs_packing_of(hs_head_peek(src, &src->member_head, hs_source_box_read));
    if (src->unpack_packing != HS_PLAIN)
        return hs_packing_of((struct hs_str){ .p = src->content_head.p, .n = src->content_head.n });
    return HS_PLAIN;
}

static struct hs_str member_name(const struct hs_source *src)
{
    return hs_buf_str(src->box ? &src->member_name : &src->name);
}

/* Open the member at hand as a source of its own. False: give it as it is. */
static bool nest(struct hs_source *src)
{
    struct hs_source_trouble trouble;
    struct hs_err ignored = { .n = 0 };

    if (src->depth >= HS_ARCHIVE_NEST_MAX || member_packing(src) == HS_PLAIN)
        return false;
    hs_source_read_all(src, &src->inner_bytes, &trouble);
    if (trouble.code)
        hs_fault_set(&src->inner_fault, trouble.code, "%.*s", HS_STR_ARG(trouble.detail));
    if (hs_source_open_bytes(hs_buf_str(&src->inner_bytes), member_name(src), &src->inner,
                             &ignored) != HS_OK) {
        hs_fault_set(&src->pending, "no-memory", "out of memory");
        inner_close(src);
        return true;
    }
    src->inner->depth = src->depth + 1;
    src->inner->outer = src;
    return true;
}

static void tell(struct hs_source *src, const struct hs_fault *fault,
                 struct hs_source_trouble *trouble)
{
    *trouble = (struct hs_source_trouble){ .code = fault->code, .detail = hs_str_of(fault->text) };
    src->told = true;
}

/* The next member of the nested source. What was wrong with it as a whole is told at our own end.
 */
static bool inner_next(struct hs_source *src, struct hs_str *name)
{
    struct hs_source_trouble trouble;

    if (hs_source_next(src->inner, name, &trouble))
        return true;
    if (trouble.code)
        hs_fault_set(&src->pending, trouble.code, "%.*s: %.*s", HS_STR_ARG(member_name(src)),
                     HS_STR_ARG(trouble.detail));
    else if (src->inner_fault.code && !src->inner->told)
        hs_fault_set(&src->pending, src->inner_fault.code, "%.*s: %s", HS_STR_ARG(member_name(src)),
                     src->inner_fault.text);
    src->inner_fault.code = NULL;
    inner_close(src);
    return false;
}

static bool advance(struct hs_source *src)
{
    bool first = !src->started;

    if (first)
        start(src);
    return src->box ? hs_source_box_next(src) : first;
}

bool hs_source_next(struct hs_source *source, struct hs_str *name,
                    struct hs_source_trouble *trouble)
{
    *trouble = (struct hs_source_trouble){ .code = NULL };
    for (;;) {
        if (source->inner && inner_next(source, name))
            return true;
        if (!advance(source))
            break;
        if (nest(source))
            continue;
        if (source->member_name.failed)
            hs_fault_set(&source->member, "no-memory", "out of memory");
        *name = member_name(source);
        return true;
    }
    if (source->pending.code)
        tell(source, &source->pending, trouble);
    source->pending.code = NULL;
    return false;
}

/* Why the member gave no more bytes. */
static void member_trouble(struct hs_source *src, struct hs_source_trouble *trouble)
{
    if (src->member.code)
        tell(src, &src->member, trouble);
    else if (!src->box && src->broken.code)
        tell(src, &src->broken, trouble);
}

void hs_source_unbounded(struct hs_source *source)
{
    source->unbounded = true;
    if (source->inner)
        hs_source_unbounded(source->inner);
}

size_t hs_source_read(struct hs_source *source, char *to, size_t cap,
                      struct hs_source_trouble *trouble)
{
    uint64_t room =
        source->unbounded ? UINT64_MAX : HS_SOURCE_BYTES_MAX - source->member_given_bytes;
    char beyond;
    size_t n = 0;

    *trouble = (struct hs_source_trouble){ .code = NULL };
    if (source->inner)
        return hs_source_read(source->inner, to, cap, trouble);
    if (cap == 0)
        return 0;
    if (room > 0)
        n = member_read(source, to, cap < room ? cap : (size_t)room);
    else if (!source->member.code && member_read(source, &beyond, 1) > 0)
        hs_fault_set(&source->member, "limit", "it is larger than %llu bytes", HS_SOURCE_BYTES_MAX);
    source->member_given_bytes += n;
    if (n == 0)
        member_trouble(source, trouble);
    return n;
}

/* What is likely to come, to reserve at once; a size that somebody wrote down is not trusted far.
 */
static size_t expected_bytes(const struct hs_source *src)
{
    uint64_t trusted = 64ull << 20;
    uint64_t want = src->box                          ? src->member_size_bytes
                    : src->unpack_packing == HS_PLAIN ? src->feed.size
                                                      : 2 * src->feed.size;

    if (src->inner)
        return expected_bytes(src->inner);
    if (want < HS_BLOCK_BYTES - 1)
        want = src->box || src->unpack_packing != HS_PLAIN || want == 0 ? HS_BLOCK_BYTES - 1 : want;
    return (size_t)(want < trusted ? want : trusted) + 1; /* + 1: room to see the end */
}

void hs_source_read_all(struct hs_source *source, struct hs_buf *to,
                        struct hs_source_trouble *trouble)
{
    size_t more = expected_bytes(source);

    *trouble = (struct hs_source_trouble){ .code = NULL };
    for (;;) {
        size_t n;

        if ((to->cap < to->n + 2 && !hs_buf_reserve(to, more)) || to->failed) {
            *trouble = (struct hs_source_trouble){ .code = "no-memory",
                                                   .detail = HS_STR("out of memory") };
            return;
        }
        n = hs_source_read(source, to->p + to->n, to->cap - to->n - 1, trouble);
        if (n == 0)
            break;
        to->n += n;
        more = HS_BLOCK_BYTES;
    }
    to->p[to->n] = '\0';
}
