#include "schema/text_blocks.h"

#include "base/limits.h"

#include <stdlib.h>
#include <zstd.h>

/* A record before packing: this head, then the text. */
struct record {
    uint64_t first_line, last_line;
    uint32_t count, bytes;
};

enum { BLOCK_BYTES = 64 * 1024, LEVEL = 3 };

void hs_text_writer_init(struct hs_text_writer *w, struct hs_job *job, uint32_t source)
{
    *w = (struct hs_text_writer){ .job = job, .source = source };
    hs_buf_init(&w->block);
}

static bool pack(struct hs_text_writer *w)
{
    struct hs_job *job = w->job;
    size_t room = ZSTD_compressBound(w->block.n), packed;
    char *to = malloc(room);
    struct record last;
    struct hs_str kept;
    bool ok;

    if (w->lines == 0) {
        free(to);
        return true;
    }
    memcpy(&last, w->block.p + w->last, sizeof(last));
    packed = to ? ZSTD_compress(to, room, w->block.p, w->block.n, LEVEL) : 0;
    ok = to && !ZSTD_isError(packed) &&
         HS_GROW(job->text_blocks, job->text_block_cap, job->text_block_count + 1u);
    kept = ok ? hs_arena_copy(&job->texts, (struct hs_str){ .p = to, .n = packed })
              : (struct hs_str){ .p = NULL };
    free(to);
    if (!kept.p)
        return false;
    job->text_blocks[job->text_block_count++] = (struct hs_text_block){ .source = w->source,
                                                                        .line_count = w->lines,
                                                                        .first_line = w->first_line,
                                                                        .last_line = last.last_line,
                                                                        .packed = kept };
    w->packed_bytes += packed;
    w->block.n = w->last = 0;
    w->lines = 0;
    return true;
}

/* Whether the last record says the same; then it stands for this line, too. */
static bool fold(struct hs_text_writer *w, uint64_t line, struct hs_str text)
{
    struct record last;

    if (w->lines == 0)
        return false;
    memcpy(&last, w->block.p + w->last, sizeof(last));
    if (!hs_str_eq(text,
                   (struct hs_str){ .p = w->block.p + w->last + sizeof(last), .n = last.bytes }))
        return false;
    last.last_line = line;
    last.count++;
    memcpy(w->block.p + w->last, &last, sizeof(last));
    return true;
}

bool hs_text_writer_put(struct hs_text_writer *w, uint64_t line, struct hs_str text)
{
    struct record head = { .first_line = line, .last_line = line, .count = 1 };

    if (text.n > HS_TEXT_LINE_BYTES_MAX)
        text.n = HS_TEXT_LINE_BYTES_MAX;
    if (fold(w, line, text))
        return true;
    if (w->block.n >= BLOCK_BYTES && !pack(w))
        return false;
    if (w->lines++ == 0)
        w->first_line = line;
    head.bytes = (uint32_t)text.n;
    w->last = w->block.n;
    hs_buf_put(&w->block, (struct hs_str){ .p = (const char *)&head, .n = sizeof(head) });
    hs_buf_put(&w->block, text);
    return !w->block.failed;
}

bool hs_text_writer_end(struct hs_text_writer *w)
{
    bool ok = !w->block.failed && pack(w);

    hs_buf_release(&w->block);
    return ok;
}

/* A block's records; .p NULL when it is damaged or larger than any that we write. */
static struct hs_str unpack(const struct hs_text_block *block, struct hs_arena *arena)
{
    enum { MOST = BLOCK_BYTES + HS_TEXT_LINE_BYTES_MAX + 2 * (int)sizeof(struct record) };
    unsigned long long bytes = ZSTD_getFrameContentSize(block->packed.p, block->packed.n);
    char *to = bytes > 0 && bytes <= MOST ? HS_NEW(arena, char, (size_t)bytes) : NULL;
    size_t n = to ? ZSTD_decompress(to, (size_t)bytes, block->packed.p, block->packed.n) : 0;

    return to && n == bytes ? (struct hs_str){ .p = to, .n = n } : (struct hs_str){ .p = NULL };
}

void hs_text_reader_init(struct hs_text_reader *reader, const struct hs_job *job)
{
    *reader = (struct hs_text_reader){ .job = job, .block = HS_NO_ID };
    hs_arena_init(&reader->arena);
}

void hs_text_reader_release(struct hs_text_reader *reader)
{
    hs_arena_release(&reader->arena);
}

/* From the record found last on, where the line cannot stand before it. */
static bool find_record(struct hs_text_reader *reader, uint64_t line, struct hs_text_line *out)
{
    struct hs_str rest = line >= reader->line ? reader->rest : reader->records;
    struct record r;

    while (rest.n >= sizeof(r)) {
        const struct hs_str here = rest;

        memcpy(&r, rest.p, sizeof(r));
        rest.p += sizeof(r);
        rest.n -= sizeof(r);
        if (r.bytes > rest.n)
            return false;
        if (r.first_line <= line && line <= r.last_line) {
            *out = (struct hs_text_line){ .first_line = r.first_line,
                                          .last_line = r.last_line,
                                          .count = r.count,
                                          .text = { .p = rest.p, .n = r.bytes } };
            reader->rest = here;
            reader->line = r.first_line;
            return true;
        }
        rest.p += r.bytes;
        rest.n -= r.bytes;
    }
    return false;
}

static bool may_hold(const struct hs_text_block *block, uint32_t source, uint64_t line)
{
    return block->source == source && line >= block->first_line && line <= block->last_line;
}

/* Make block `i` the one at hand; false when it is damaged. */
static bool turn_to(struct hs_text_reader *reader, uint32_t i)
{
    if (reader->block == i)
        return true;
    hs_arena_reset(&reader->arena);
    reader->records = unpack(&reader->job->text_blocks[i], &reader->arena);
    reader->rest = reader->records;
    reader->line = 0;
    reader->block = reader->records.p ? i : HS_NO_ID;
    return reader->records.p != NULL;
}

bool hs_text_find(struct hs_text_reader *reader, uint32_t source, uint64_t line,
                  struct hs_text_line *out)
{
    const struct hs_job *job = reader->job;

    if (reader->block < job->text_block_count &&
        may_hold(&job->text_blocks[reader->block], source, line) && find_record(reader, line, out))
        return true;
    for (uint32_t i = 0; i < job->text_block_count; i++) {
        if (may_hold(&job->text_blocks[i], source, line) && turn_to(reader, i) &&
            find_record(reader, line, out))
            return true;
    }
    return false;
}
