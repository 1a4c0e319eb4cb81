/*
 * envelope_split.c - a segment becomes records: what stands in front of the first frame, and one
 * for each frame, or run of frames side by side.
 */
#include "base/limits.h"
#include "parsers/envelope_internal.h"

struct splitting {
    const struct hs_envelope *envelope;
    struct hs_str text;
    const struct hs_hit *hits;
    size_t hit_count, next_hit;
    size_t nccl_end; /* behind the last hit of a mark of NCCL's */
    /* the frame that the hit before `next_hit` belongs to; kind NONE: not looked for yet */
    enum hs_frame kind;
    size_t begin;
    size_t looked_from;       /* with this floor */
    struct hs_record shipped; /* the current record, before any tag or header of a process */
};

void hs_record_clear(struct hs_record *record)
{
    *record = (struct hs_record){
        .pid = HS_NO_ID,
        .tid = HS_NO_ID,
        .rank = HS_NO_ID,
        .local_rank = HS_NO_ID,
        .task = HS_NO_ID,
        .device = HS_NO_ID,
        .pg_id = HS_NO_ID,
        .pg_rank = HS_NO_ID,
    };
}

bool hs_take_number(struct hs_cursor *in, uint32_t *out)
{
    const char *at = in->at;
    uint32_t value = 0;

    while (at < in->end && at - in->at < 9 && hs_is_digit(*at))
        value = value * 10 + (uint32_t)(*at++ - '0');
    if (at == in->at || (at < in->end && hs_is_digit(*at)))
        return false;
    in->at = at;
    *out = value;
    return true;
}

bool hs_take_level(struct hs_cursor *in, char *out)
{
    static const struct {
        const char *word;
        char level;
    } levels[] = {
        { "DEBUG", 'V' }, { "INFO", 'I' },     { "WARNING", 'W' }, { "WARN", 'W' },
        { "ERROR", 'E' }, { "CRITICAL", 'F' }, { "FATAL", 'F' },
    };
    struct hs_cursor word = *in;

    if (word.at == word.end || !*word.at || !strchr("DIWECF", *word.at))
        return false;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (hs_take_text(&word, levels[i].word)) {
            if (word.at < word.end && hs_is_word(*word.at))
                return false;
            *out = levels[i].level;
            *in = word;
            return true;
        }
    }
    return false;
}

void hs_record_rank(struct hs_record *record, uint32_t rank, enum hs_rank_from from)
{
    if (rank <= HS_RANK_MAX && (uint32_t)from >= record->rank_from) {
        record->rank = rank;
        record->rank_from = from;
    }
}

void hs_record_stamp(struct hs_record *record, struct hs_stamp stamp)
{
    const int64_t ns_per_hour = 3600ll * 1000000000, ns_per_day = 24 * ns_per_hour;
    struct hs_stamp *old = &record->stamp;
    int64_t apart;

    if (!stamp.ns)
        return;
    if (!old->ns || (old->clock & HS_CLOCK_BOOT)) {
        *old = stamp;
        return;
    }
    if ((old->clock & HS_CLOCK_DATE) || !(stamp.clock & HS_CLOCK_DATE))
        return;
    /* A time of day in front of a date and time: the same clock if they are near each other. */
    apart = old->ns % ns_per_day - stamp.ns % ns_per_day;
    if (apart > -ns_per_hour && apart < ns_per_hour) {
        old->ns = stamp.ns + apart;
        old->clock |= stamp.clock;
    } else {
        *old = stamp;
    }
}

/* The next frame that does not begin before `floor`. */
static bool find_next(struct splitting *s, size_t floor)
{
    for (;;) {
        if (s->kind != HS_FRAME_NONE && s->begin >= floor)
            return true;
        if (s->kind != HS_FRAME_NONE && s->looked_from < floor)
            s->next_hit--; /* a prefix took its first bytes: it may begin later */
        if (s->next_hit == s->hit_count)
            break;
        s->looked_from = floor;
        s->kind = hs_envelope_find_frame(s->text, s->hits[s->next_hit++], floor, &s->begin);
    }
    s->kind = HS_FRAME_NONE;
    return false;
}

/* One prefix or header. What follows a tag or header of a process is no shipper's any more. */
static bool take_piece(struct splitting *s, struct hs_cursor *in, bool first,
                       struct hs_record *record)
{
    bool said = record->header != HS_HEADER_NONE || record->rank_from == HS_RANK_TAG;

    if (!said && s->hit_count)
        s->shipped = *record;
    return (s->next_hit < s->nccl_end + (s->kind != HS_FRAME_NONE) && hs_take_nccl(in, record)) ||
           hs_take_header(in, record) || hs_take_prefix(in, s->envelope, first && !said, record);
}

/* Take prefixes and headers from `at` on, in whatever order; returns where the text begins. */
static size_t peel(struct splitting *s, size_t at, bool first, struct hs_record *record)
{
    for (;;) {
        struct hs_cursor in = { .at = s->text.p + at, .end = s->text.p + s->text.n };

        hs_skip_blanks(&in);
        if (!take_piece(s, &in, first, record))
            break;
        at = (size_t)(in.at - s->text.p);
        if (record->header == HS_HEADER_NCCL)
            return at;
        if (record->header == HS_HEADER_C10 || record->header == HS_HEADER_GLOG)
            break;
    }
    if (record->header != HS_HEADER_PYTHON) {
        struct hs_cursor in = { .at = s->text.p + at, .end = s->text.p + s->text.n };

        hs_take_process_group(&in, record);
        at = (size_t)(in.at - s->text.p);
    }
    return at;
}

/* [repeated 3x across cluster] of Ray, behind a line that other processes printed as well; once
 * with advice behind it */
static void take_repeated(struct hs_record *record)
{
    struct hs_str text = record->text;
    struct hs_cursor in = { .end = text.p + text.n };
    uint32_t count;

    if (!hs_str_ends(text, HS_STR(" across cluster]")) && !hs_str_ends(text, HS_STR("options.)")))
        return;
    in.at = memmem(text.p, text.n, " [repeated ", 11);
    if (!in.at)
        return;
    record->text.n = (size_t)(in.at - text.p);
    in.at += 11;
    if (hs_take_number(&in, &count) && hs_take_text(&in, "x across cluster]"))
        record->repeated = count;
    else
        record->text = text;
}

/* "what():  [PG ID 0 ...": what was thrown names its group; the text stays whole. */
static void look_into_what(struct hs_record *record)
{
    struct hs_cursor in = { .at = record->text.p, .end = record->text.p + record->text.n };
    bool any = false;

    hs_skip_blanks(&in);
    while (hs_take_text(&in, "what():")) {
        hs_skip_blanks(&in);
        any = true;
    }
    if (any)
        hs_take_process_group(&in, record);
}

static bool is_blank_text(struct hs_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] > ' ')
            return false;
    }
    return true;
}

/* A record that begins inside the segment: who shipped and launched the line holds for all of it,
 * but a launcher that names itself once more has begun another line. */
static void begin_inside(const struct splitting *s, struct hs_record *record)
{
    *record = s->shipped;
    if (s->kind != HS_FRAME_LAUNCHER)
        return;
    record->pid = record->rank = record->local_rank = record->task = HS_NO_ID;
    record->rank_from = HS_RANK_UNKNOWN;
    if (s->text.p[s->begin] == '(')
        record->host = (struct hs_str){ .p = NULL }; /* an actor on this host has no address */
}

bool hs_envelope_split(const struct hs_envelope *envelope, const struct hs_segment *segment,
                       const struct hs_hit *hits, size_t hit_count, hs_record_fn *take, void *self)
{
    struct splitting s = {
        .envelope = envelope, .text = segment->text, .hits = hits, .hit_count = hit_count
    };
    struct hs_record record;
    bool torn = false, first = true;
    size_t at = 0;

    for (size_t i = hit_count; i > 0 && !s.nccl_end; i--)
        s.nccl_end = hs_envelope_is_nccl(hits[i - 1]) ? i : 0;
    hs_record_clear(&record);
    record.segment = segment->text;
    record.line = segment->line;
    record.offset_bytes = segment->offset_bytes;
    record.stamp = segment->stamp;
    record.joined = segment->joined;
    for (;;) {
        size_t from = peel(&s, at, first, &record), end = s.text.n;
        bool blank;

        if (from == at && !first)
            s.kind = HS_FRAME_NONE; /* no frame after all */
        if (find_next(&s, from))
            end = s.begin;
        record.text = (struct hs_str){ .p = s.text.p + from, .n = end - from };
        record.torn |= torn;
        take_repeated(&record);
        if (!record.pg.p)
            look_into_what(&record);
        blank = is_blank_text(record.text);
        torn |= !blank;
        /* Blanks in front of a frame are no record, unless somebody put a header to them. */
        if ((end == s.text.n || !blank || record.header != HS_HEADER_NONE) && !take(self, &record))
            return false;
        if (end == s.text.n)
            return true;
        begin_inside(&s, &record);
        first = false;
        at = end;
    }
}
