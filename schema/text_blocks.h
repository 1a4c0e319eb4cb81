/*
 * text_blocks.h - lines of text that a rule may cite, kept small: folded and packed in blocks.
 *
 * A log is streamed and never kept, except the lines around what rules cite. Those are put here, in
 * the order of their lines; a line equal to the one kept before it is folded into it (first, last,
 * count). Blocks are rows of the job (tables.def: text_block), packed with zstd.
 */
#ifndef HS_SCHEMA_TEXT_BLOCKS_H
#define HS_SCHEMA_TEXT_BLOCKS_H

#include "schema/job.h"

/* A line as it was kept. */
struct hs_text_line {
    uint64_t first_line, last_line; /* 1-based physical lines; last > first: folded */
    uint32_t count;                 /* equal lines folded into this one, itself included */
    struct hs_str text;
};

/* Collects the lines of one source into blocks of `job`. */
struct hs_text_writer {
    struct hs_job *job;
    uint32_t source;
    struct hs_buf block; /* records not yet packed */
    size_t last;         /* where the last record begins in `block` */
    uint32_t lines;      /* records in `block` */
    uint64_t first_line; /* of the block */
    size_t packed_bytes; /* of all blocks so far */
};

void hs_text_writer_init(struct hs_text_writer *writer, struct hs_job *job, uint32_t source);

/* Keep one line; lines come in rising order. Beyond HS_TEXT_LINE_BYTES_MAX it is cut. False without
 * memory. */
bool hs_text_writer_put(struct hs_text_writer *writer, uint64_t line, struct hs_str text);

/* Pack what is left, and release the writer. False without memory. */
bool hs_text_writer_end(struct hs_text_writer *writer);

/* Reads kept lines. The block that was unpacked last stays at hand: who asks goes line by line. */
struct hs_text_reader {
    const struct hs_job *job;
    struct hs_arena arena;
    uint32_t block;        /* of the job; HS_NO_ID: none yet */
    struct hs_str records; /* of that block */
    struct hs_str rest;    /* those from the line that was found last */
    uint64_t line;         /* its first line */
};

void hs_text_reader_init(struct hs_text_reader *reader, const struct hs_job *job);

/*
 * The kept line that holds physical line `line` of a source; its text is valid until the next one
 * is looked for. False when it was not kept, or when the block is damaged (a database may be a
 * stranger's).
 */
bool hs_text_find(struct hs_text_reader *reader, uint32_t source, uint64_t line,
                  struct hs_text_line *out);

void hs_text_reader_release(struct hs_text_reader *reader);

#endif
