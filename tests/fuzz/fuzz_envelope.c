/*
 * fuzz_envelope.c - bytes as lines of a log. Besides not crashing: what is handed out lies inside
 * what was given, in order; lines rise; and every hit is used or not, but never twice.
 */
#include "parsers/envelope.h"

#include <stdlib.h>

enum { FUZZ_HITS_MAX = 4096 };

struct fuzz_reading {
    struct hs_envelope envelope;
    struct hs_hit hits[FUZZ_HITS_MAX];
    uint64_t lines;
    const char *text_end; /* of the record before, in this segment */
    uint64_t letters;     /* kept alive, so that every byte is read */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool lies_in(struct hs_str part, struct hs_str whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static bool fuzz_record(void *self, const struct hs_record *record)
{
    struct fuzz_reading *reading = self;
    struct hs_str parts[] = { record->text, record->host, record->role,
                              record->file, record->pg,   record->pg_desc };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        require(lies_in(parts[i], record->segment));
    require(record->text.p >= reading->text_end);
    reading->text_end = record->text.p + record->text.n;
    require(record->line >= 1 && record->line <= reading->lines);
    require((record->rank == HS_NO_ID) == (record->rank_from == HS_RANK_UNKNOWN));
    require(record->header != HS_HEADER_NONE || record->file.n == 0);
    require((record->stamp.ns == 0) == (record->stamp.clock == 0));
    for (size_t i = 0; i < record->text.n; i++)
        reading->letters += (unsigned char)record->text.p[i];
    return true;
}

static bool fuzz_segment(void *self, const struct hs_segment *segment)
{
    struct fuzz_reading *reading = self;
    struct hs_str text = segment->text;
    size_t count = 0;

    for (size_t end = 1; end <= text.n; end++) {
        for (uint32_t i = 0; i < hs_frame_mark_count && count < FUZZ_HITS_MAX; i++) {
            if (hs_str_ends((struct hs_str){ .p = text.p, .n = end }, hs_frame_marks[i]))
                reading->hits[count++] = (struct hs_hit){ .literal = i, .end = (uint32_t)end };
        }
    }
    reading->text_end = text.p;
    return hs_envelope_split(&reading->envelope, segment, reading->hits, count, fuzz_record, self);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading *reading = calloc(1, sizeof(*reading));
    char *copy = malloc(size ? size : 1);
    struct hs_record name;

    if (!reading || !copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    hs_envelope_init(&reading->envelope);
    hs_envelope_learn(&reading->envelope, (struct hs_str){ .p = copy, .n = size });
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(copy + at, '\n', size - at);
        size_t n = newline ? (size_t)(newline - copy) - at : size - at;

        require(hs_envelope_line(&reading->envelope, (struct hs_str){ .p = copy + at, .n = n },
                                 ++reading->lines, at, fuzz_segment, reading));
        at += n + 1;
    }
    require(hs_envelope_end(&reading->envelope, fuzz_segment, reading));
    hs_record_clear(&name);
    (void)hs_record_source_name((struct hs_str){ .p = copy, .n = size < 300 ? size : 300 }, &name);
    hs_envelope_release(&reading->envelope);
    free(copy);
    free(reading);
    return 0;
}
