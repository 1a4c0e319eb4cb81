/* text.c - chunks to lines, lines to records, records to speakers and events. */
#include "parsers/text.h"

#include "base/limits.h"
#include "parsers/nccl_log.h"
#include "parsers/records.h"
#include "parsers/text_known.h"

#include <stdlib.h>

/* How long a character is by its first byte; 0: none begins so. */
static size_t character_bytes(unsigned char c)
{
    return c < 0x80                ? 1
           : c >= 0xc2 && c < 0xe0 ? 2
           : c >= 0xe0 && c < 0xf0 ? 3
           : c >= 0xf0 && c < 0xf5 ? 4
                                   : 0;
}

/*
 * Any bytes that a person could read bid the least that can win: hardly a control character, few
 * bytes that are no UTF-8 (another encoding, a torn character). Holes of NULs do not count: a file
 * that was cut while it was written to begins with one, a machine that crashed leaves one. Single
 * NULs are another encoding, or no text.
 */
static unsigned probe(struct hs_str head)
{
    enum { HOLE_BYTES = 16 };
    size_t controls = 0, holes = 0, torn = 0, seen = 0;
    bool hole;

    for (size_t i = 0; i < head.n;) {
        unsigned char c = (unsigned char)head.p[i];
        size_t bytes = character_bytes(c), k = 1;

        if (c == '\0') {
            while (i + k < head.n && head.p[i + k] == '\0')
                k++;
            hole = k >= HOLE_BYTES || (i + k == HS_PROBE_BYTES && i + k == head.n);
            holes += hole;
            controls += !hole;
            i += k;
            continue;
        }
        controls += c < ' ' && !strchr("\n\r\t\b\f\033", c);
        while (k < bytes && i + k < head.n && ((unsigned char)head.p[i + k] & 0xc0) == 0x80)
            k++;
        torn += k < bytes ? i + k < head.n : bytes == 0;
        seen += k;
        i += k;
    }
    return seen && controls * 100 <= seen && holes * 100 <= seen + 200 && torn * 10 <= seen ? 1 : 0;
}

/* ---- records ---- */

static bool take_found(void *self, const struct hs_record *record, const struct hs_found *found)
{
    struct hs_text *t = self;
    const struct hs_taker *taker = t->takers[found->family];
    bool noting = taker && !t->plain[found->family] && hs_known_note_found(t, found), ok;

    ok = hs_text_take_found(t, record, found);
    if (noting)
        hs_known_go_on(t);
    return ok;
}

static bool take_record(void *self, const struct hs_record *record)
{
    struct hs_text *t = self;

    t->speaker = hs_text_speaker(t, record);
    if (t->speaker == HS_NO_ID)
        return !t->no_memory;
    if (!hs_records_see(t, record))
        return false;
    hs_known_note_record(t, record);
    return ((t->hit_count == 0 && !record->level) ||
            hs_families_match(t->families, t->matching, record,
                              (struct hs_hits){ t->hits, t->hit_count }, take_found, t)) &&
           !t->no_memory;
}

static bool take_segment(void *self, const struct hs_segment *segment)
{
    struct hs_text *t = self;
    size_t marks = 0;

    t->hit_count =
        hs_literals_find(t->families->literals, segment->text, t->hits, HS_LINE_HITS_MAX);
    if (t->hit_count > HS_LINE_HITS_MAX) {
        t->hit_count = HS_LINE_HITS_MAX;
        if (!hs_text_odd(t, "crowded-line"))
            return false;
    }
    for (size_t i = 0; i < t->hit_count; i++) {
        if (t->hits[i].literal < t->families->mark_count)
            t->marks[marks++] = t->hits[i];
    }
    return hs_envelope_split(&t->envelope, segment, t->marks, marks, take_record, t);
}

/* ---- lines ---- */

static struct hs_str without_return(struct hs_str line)
{
    line.n -= line.n && line.p[line.n - 1] == '\r';
    return line;
}

static bool take_line(struct hs_text *t, struct hs_str line, const struct hs_look *look)
{
    line = without_return(line);
    switch (hs_known_take(t, line, look)) {
    case HS_LINE_TAKEN:
        return true;
    case HS_LINE_NEW:
        break;
    case HS_LINE_FAILED:
        return false;
    }
    if (!hs_envelope_line(&t->envelope, line, t->number, t->offset_bytes, take_segment, t))
        return false;
    hs_known_learn(t);
    return true;
}

static void end_line(struct hs_text *t, size_t bytes)
{
    t->number++;
    t->offset_bytes += bytes;
    t->skipping = false;
    t->line.n = 0;
}

/* More of a line that is not complete yet; beyond the limit it is taken as it is. */
static bool hold(struct hs_text *t, struct hs_str part)
{
    size_t room = HS_LINE_BYTES_MAX - t->line.n;

    if (t->skipping) {
        t->offset_bytes += part.n;
        return true;
    }
    hs_buf_put(&t->line, (struct hs_str){ .p = part.p, .n = part.n < room ? part.n : room });
    if (t->line.failed)
        return false;
    if (part.n <= room)
        return true;
    if (!hs_text_odd(t, "long-line") || !take_line(t, hs_buf_str(&t->line), NULL))
        return false;
    t->offset_bytes += t->line.n + (part.n - room);
    t->line.n = 0;
    t->skipping = true;
    return true;
}

/* The complete lines of a chunk, as far as there is room. */
static void look(struct hs_str bytes, void *seen)
{
    struct hs_looks *looks = seen;
    const char *at = bytes.p, *end = bytes.p + bytes.n, *newline;

    looks->count = 0;
    while (looks->count < HS_LOOKS_MAX &&
           (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        struct hs_look *line = &looks->lines[looks->count++];

        line->begin = (uint32_t)(at - bytes.p);
        line->bytes = (uint32_t)(newline - at);
        hs_known_look(without_return((struct hs_str){ .p = at, .n = line->bytes }), line);
        at = newline + 1;
    }
}

static void show(void *self, const void *seen)
{
    struct hs_text *t = self;

    t->looks = seen;
    t->next_look = 0;
}

/* What was seen of the line that begins there; NULL: nothing. */
static const struct hs_look *look_at(struct hs_text *t, size_t begin)
{
    const struct hs_look *line =
        t->looks && t->next_look < t->looks->count ? &t->looks->lines[t->next_look] : NULL;

    if (!line || line->begin != begin)
        return NULL;
    t->next_look++;
    return line;
}

/* The last part of a line of which others are held. */
static bool take_held(struct hs_text *t, struct hs_str part)
{
    if (!hold(t, part))
        return false;
    if (!t->skipping && !take_line(t, hs_buf_str(&t->line), NULL))
        return false;
    end_line(t, t->line.n + 1);
    return true;
}

static bool take_bytes(struct hs_text *t, struct hs_str bytes)
{
    const char *at = bytes.p, *end = bytes.p + bytes.n;

    while (at < end) {
        const struct hs_look *seen = look_at(t, (size_t)(at - bytes.p));
        const char *newline = seen ? at + seen->bytes : memchr(at, '\n', (size_t)(end - at));
        struct hs_str part = { .p = at, .n = (size_t)((newline ? newline : end) - at) };

        if (!newline)
            return hold(t, part);
        if (t->line.n == 0 && !t->skipping && part.n <= HS_LINE_BYTES_MAX) {
            if (!take_line(t, part, seen))
                return false;
            end_line(t, part.n + 1);
        } else if (!take_held(t, part)) {
            return false;
        }
        at = newline + 1;
    }
    return true;
}

/* Some habits of a log are told only from many lines: its head is looked at before it is read. */
static bool read_head(struct hs_text *t)
{
    t->learned = true;
    hs_envelope_learn(&t->envelope, hs_buf_str(&t->head));
    return !t->head.failed && take_bytes(t, hs_buf_str(&t->head));
}

static bool feed(void *self, struct hs_str bytes)
{
    struct hs_text *t = self;
    size_t room = HS_LEARN_BYTES - t->head.n;
    struct hs_str first = { .p = bytes.p, .n = bytes.n < room ? bytes.n : room };

    if (t->learned) {
        bool ok = take_bytes(t, bytes);

        t->looks = NULL;
        return ok;
    }
    t->looks = NULL; /* at other bytes than are taken now */
    hs_buf_put(&t->head, first);
    if (first.n < room)
        return !t->head.failed;
    return read_head(t) &&
           take_bytes(t, (struct hs_str){ .p = bytes.p + first.n, .n = bytes.n - first.n });
}

static void release(struct hs_text *t)
{
    hs_envelope_release(&t->envelope);
    hs_buf_release(&t->line);
    hs_buf_release(&t->head);
    hs_intern_release(&t->speakers);
    hs_intern_release(&t->events);
    hs_intern_release(&t->facts);
    free(t->chains);
    free(t->older_fact);
    free(t->kept_values);
    hs_nccl_free(t->nccl);
    hs_records_free(t->records);
    hs_known_free(t->known);
    free(t->hits);
    free(t->marks);
    free(t->frames.seen);
    free(t->stacks.seen);
    free(t->signatures.seen);
    free(t->takers);
    free(t->plain);
    free(t->args);
    free(t);
}

static bool end(void *self)
{
    struct hs_text *t = self;
    bool ok = (t->learned || read_head(t)) &&
              (t->line.n == 0 || take_line(t, hs_buf_str(&t->line), NULL)) &&
              hs_envelope_end(&t->envelope, take_segment, t) && hs_records_end(t) && hs_nccl_end(t);

    ok = hs_text_writer_end(&t->kept) && hs_text_say_lost(t) && ok;
    release(t);
    return ok;
}

static void find_takers(struct hs_text *t, const struct hs_taker *takers, bool plain)
{
    for (; takers->family; takers++) {
        uint32_t family = hs_family_find(t->families, takers->family);

        if (family != HS_NO_ID) {
            t->takers[family] = takers;
            t->plain[family] = plain;
        }
    }
}

static void *begin(struct hs_parse *px)
{
    struct hs_text *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->px = px;
    t->job = px->job;
    t->families = px->families;
    t->matching = px->matching;
    t->number = 1;
    t->speaker = HS_NO_ID;
    t->first_speaker = px->job->speaker_count;
    t->first_event = px->job->event_count;
    t->first_fact = px->job->fact_count;
    hs_envelope_init(&t->envelope);
    hs_buf_init(&t->line);
    hs_buf_init(&t->head);
    hs_record_clear(&t->file);
    hs_intern_init(&t->speakers);
    hs_intern_init(&t->events);
    hs_intern_init(&t->facts);
    hs_text_writer_init(&t->kept, px->job, px->source);
    (void)hs_record_source_name(px->name, &t->file);
    t->hits = calloc(HS_LINE_HITS_MAX, sizeof(*t->hits));
    t->marks = calloc(HS_LINE_HITS_MAX, sizeof(*t->marks));
    t->takers = calloc(t->families->count, sizeof(const struct hs_taker *));
    t->plain = calloc(t->families->count, sizeof(*t->plain));
    t->args = calloc(HS_ARGS_MAX, sizeof(*t->args));
    t->nccl = hs_nccl_new(px->job);
    t->records = hs_records_new();
    t->known = hs_known_new();
    if (!t->hits || !t->marks || !t->takers || !t->plain || !t->args || !t->nccl || !t->records ||
        !t->known) {
        (void)hs_text_writer_end(&t->kept);
        release(t);
        return NULL;
    }
    find_takers(t, hs_nccl_takers, false);
    find_takers(t, hs_plain_takers, true);
    find_takers(t, hs_call_takers, false);
    find_takers(t, hs_record_takers, false);
    return t;
}

const struct hs_stream hs_text_stream = {
    .begin = begin,
    .feed = feed,
    .end = end,
    .seen_bytes = sizeof(struct hs_looks),
    .look = look,
    .show = show,
};

const struct hs_parser hs_parser_text = {
    .name = "text",
    .summary = "logs of NCCL, PyTorch, launchers, the kernel: any lines (docs/formats/text.md)",
    .probe = probe,
    .stream = &hs_text_stream,
};
