/* Until parsers/envelope.c is there: headers of NCCL and c10 are peeled, nothing else. */
#include "parsers/envelope.h"

const struct hs_str hs_frame_marks[] = { { "NCCL INFO ", 10 },      { "NCCL WARN ", 10 },
                                         { "NCCL CALL ", 10 },      { "NCCL TRACE ", 11 },
                                         { "[FATAL ERROR]: ", 15 }, { ".cpp:", 5 } };
const uint32_t hs_frame_mark_count = 6;

void hs_envelope_init(struct hs_envelope *envelope)
{
    memset(envelope, 0, sizeof(*envelope));
}

void hs_envelope_release(struct hs_envelope *envelope)
{
    (void)envelope;
}

bool hs_envelope_line(struct hs_envelope *envelope, struct hs_str text, uint64_t line,
                      uint64_t offset_bytes, hs_segment_fn *take, void *self)
{
    struct hs_segment segment = { .text = text, .line = line, .offset_bytes = offset_bytes };

    (void)envelope;
    return take(self, &segment);
}

bool hs_envelope_end(struct hs_envelope *envelope, hs_segment_fn *take, void *self)
{
    (void)envelope;
    (void)take;
    (void)self;
    return true;
}

/* Behind `685] `, or 0 when that is not there. */
static size_t after_header(struct hs_str text, size_t end)
{
    while (end < text.n && text.p[end] >= '0' && text.p[end] <= '9')
        end++;
    return end + 1 < text.n && text.p[end] == ']' ? end + 2 : 0;
}

bool hs_envelope_split(const struct hs_envelope *envelope, const struct hs_segment *segment,
                       const struct hs_hit *hits, size_t hit_count, hs_record_fn *take, void *self)
{
    struct hs_record record = { .segment = segment->text,
                                .text = segment->text,
                                .line = segment->line };
    size_t from = 0;

    (void)envelope;
    if (hit_count > 0 && hits[0].literal < 5) {
        record.header = HS_HEADER_NCCL;
        record.level = "IWCTF"[hits[0].literal];
        from = hits[0].end;
    } else if (hit_count > 0 && after_header(segment->text, hits[0].end) > 0) {
        record.header = HS_HEADER_C10;
        from = after_header(segment->text, hits[0].end);
    } else if (hs_str_starts(segment->text, HS_STR("[rank")) && segment->text.n > 9) {
        from = 9;
    }
    record.text = (struct hs_str){ .p = segment->text.p + from, .n = segment->text.n - from };
    return take(self, &record);
}
