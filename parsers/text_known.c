/* text_known.c - pieces of lines by their bytes, and what they did when they were read. */
#include "parsers/text_known.h"

#include "base/limits.h"
#include "parsers/records.h"
#include "parsers/text_pieces.h"

#include <stdlib.h>

enum {
    LINE_BYTES_MAX = 1024,
    HEAD_BYTES_MAX = 400, /* as far as NCCL's header is looked for */
    EFFECTS_MAX = 256,    /* of one line */
    VALUES_MAX = 256,
    SEEN = 1 << 13,
    SEEN_WAYS = 4,
};

enum wanted { HEAD = 1, MESSAGE = 2, LINE = 4 };

struct hs_known {
    struct hs_pieces speakers; /* lines and heads */
    struct hs_pieces messages;
    uint32_t seen[SEEN][SEEN_WAYS]; /* hashes: only what comes a second time is kept */
    /* the line that is read now */
    struct hs_str line;
    size_t head_bytes; /* 0: NCCL's header does not stand in it */
    uint32_t hash, message_hash;
    unsigned wanted; /* enum wanted: what may be learned from it */
    bool noting;
    uint32_t records;
    struct hs_record record;
    uint32_t speaker;
    struct hs_effect effects[EFFECTS_MAX];
    uint32_t effect_count;
    struct hs_found found[HS_FAMILY_FOUND_MAX];
    uint32_t found_count;
    struct hs_str values[VALUES_MAX];
    uint32_t value_count;
};

struct hs_known *hs_known_new(void)
{
    struct hs_known *known = calloc(1, sizeof(*known));

    if (known) {
        hs_pieces_init(&known->speakers);
        hs_pieces_init(&known->messages);
    }
    return known;
}

void hs_known_free(struct hs_known *known)
{
    if (!known)
        return;
    hs_pieces_release(&known->speakers);
    hs_pieces_release(&known->messages);
    free(known);
}

/* ---- taking ---- */

/* Nothing but the line itself says what it means. */
static bool stands_alone(const struct hs_envelope *envelope)
{
    return envelope->width == 0 && !envelope->mangled && envelope->parts[0].lines == 0 &&
           envelope->parts[1].lines == 0 && envelope->wrapped.lines == 0;
}

/* The bytes up to the message of an NCCL line; 0 when its header does not stand there. */
static size_t find_message(struct hs_str line)
{
    static const char header[] = "NCCL INFO ";
    const size_t n = sizeof(header) - 1;
    const char *at = line.p;
    const char *end = line.p + (line.n < HEAD_BYTES_MAX ? line.n : HEAD_BYTES_MAX);

    while (end - at >= (ptrdiff_t)n && (at = memchr(at, 'N', (size_t)(end - at) - n + 1)) != NULL) {
        if (memcmp(at, header, n) == 0)
            return (size_t)(at - line.p) + n;
        at++;
    }
    return 0;
}

static bool do_found(struct hs_text *t, const struct hs_effect *effect,
                     const struct hs_record *record)
{
    return hs_text_take_found(t, record, effect->of.found);
}

static bool do_link(struct hs_text *t, const struct hs_effect *effect, struct hs_piece *who)
{
    if (who->thread == HS_NO_ID)
        who->thread = hs_nccl_thread_of(t, who->record);
    return hs_nccl_add_link(t, who->thread, who->record->line, &effect->of.link);
}

static bool do_event(struct hs_text *t, const struct hs_effect *effect,
                     const struct hs_record *record)
{
    struct hs_said said = {
        .speaker = t->speaker, .stack = HS_NO_ID, .line = record->line, .stamp = record->stamp
    };

    return hs_text_put_event(t, record, &said, effect->of.event.family, effect->of.event.args);
}

static bool do_effect(struct hs_text *t, const struct hs_effect *effect, struct hs_piece *who)
{
    switch (effect->kind) {
    case HS_EFFECT_COUNT:
        t->job->sources[t->px->source].records++;
        return true;
    case HS_EFFECT_LINK:
        return do_link(t, effect, who);
    case HS_EFFECT_FACT:
        return hs_text_put_fact(t, who->record, effect->of.fact.name, effect->of.fact.value);
    case HS_EFFECT_EVENT:
        return do_event(t, effect, who->record);
    case HS_EFFECT_FOUND:
        break;
    }
    return do_found(t, effect, who->record);
}

/* Take a line of `who`, who says `what` (of a whole line, the same piece). */
static bool take_known(struct hs_text *t, struct hs_piece *who, const struct hs_pieces *table,
                       const struct hs_piece *what)
{
    struct hs_record *record = who->record;

    record->line = t->number;
    record->offset_bytes = t->offset_bytes;
    t->speaker = who->speaker;
    if (who->speaker == HS_NO_ID)
        t->speaker = who->speaker = hs_text_speaker(t, record);
    else
        hs_text_speaks(t, who->speaker, record);
    if (t->speaker == HS_NO_ID)
        return !t->no_memory;
    if (!hs_records_see(t, record))
        return false;
    for (uint32_t i = 0; i < what->effect_count; i++) {
        if (!do_effect(t, &table->effects[what->first_effect + i], who))
            return false;
    }
    return !t->no_memory;
}

/* Whether these bytes came before: only then are they worth keeping. */
static bool comes_again(struct hs_known *k, uint32_t hash)
{
    uint32_t *seen = k->seen[hash % SEEN], tag = hash | 1;

    for (size_t i = 0; i < SEEN_WAYS; i++) {
        if (seen[i] == tag)
            return true;
    }
    memmove(seen + 1, seen, (SEEN_WAYS - 1) * sizeof(*seen));
    seen[0] = tag;
    return false;
}

/* Let `text`, which lies in `from`, lie in its copy; false when it does not lie there. */
static bool move(struct hs_str *text, struct hs_str from, const char *to)
{
    if (!text->p)
        return true;
    if (text->p < from.p || text->p + text->n > from.p + from.n)
        return false;
    text->p = to + (text->p - from.p);
    return true;
}

/* The record of the line becomes that of the piece, with texts that lie in it. */
static bool keep_record(struct hs_known *k, struct hs_piece *piece, struct hs_str from)
{
    struct hs_pieces *table = &k->speakers;
    struct hs_record *record = HS_NEW(&table->arena, struct hs_record, 1);
    const char *to = piece->text.p;

    if (!record)
        return false;
    *record = k->record;
    table->bytes += sizeof(*record);
    piece->record = record;
    piece->speaker = k->speaker;
    return move(&record->host, from, to) && move(&record->role, from, to) &&
           move(&record->file, from, to) && move(&record->pg, from, to) &&
           move(&record->pg_desc, from, to);
}

/* Whether the line is a header of NCCL's and its message, each of which says the same beside
 * any other. */
static bool has_two_parts(const struct hs_text *t)
{
    const struct hs_known *k = t->known;
    const struct hs_record *record = &k->record;
    const struct hs_families *families = t->families;

    if (record->header != HS_HEADER_NCCL || record->text.p != k->line.p + k->head_bytes ||
        record->text.n != k->line.n - k->head_bytes || record->pg.p || record->file.n ||
        record->repeated || record->torn || memchr(k->line.p, '{', k->head_bytes) ||
        memchr(k->line.p, '|', k->head_bytes))
        return false;
    for (size_t i = 0; i < t->hit_count; i++) {
        uint32_t family = families->owner[t->hits[i].literal];

        if (family != HS_NO_ID &&
            (t->hits[i].end <= k->head_bytes || (families->rows[family].places & HS_IN_LINE)))
            return false;
    }
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Behind `text` and the digits that follow it; 0 when they do not. */
static size_t skip_number(struct hs_str head, size_t at, const char *text)
{
    size_t begin = at + strlen(text), end = begin;

    if (at == 0 || begin > head.n || memcmp(head.p + at, text, begin - at) != 0)
        return 0;
    while (end < head.n && is_digit(head.p[end]))
        end++;
    return end > begin ? end : 0;
}

/* host:pid:tid [device] NCCL INFO, and nothing else that could mean something. */
static bool is_simple_head(struct hs_str head)
{
    const struct hs_str rest = HS_STR("] NCCL INFO ");
    size_t at = 0;

    while (at < head.n &&
           (is_letter(head.p[at]) || (at && (is_digit(head.p[at]) || head.p[at] == '-'))))
        at++;
    at = skip_number(head, at, ":");
    at = skip_number(head, at, ":");
    at = skip_number(head, at, " [");
    return at && head.n - at == rest.n && hs_str_ends(head, rest);
}

static bool note_head(void *self, const struct hs_record *record)
{
    struct hs_known *k = self;

    k->record = *record;
    k->records++;
    return true;
}

/*
 * A message that is known needs no second look when somebody else says it: the head is read for
 * itself. NULL when it has to be read with its line. Its speaker is asked for when it is taken.
 */
static struct hs_piece *read_head(struct hs_text *t, struct hs_str head)
{
    struct hs_known *k = t->known;
    const struct hs_segment segment = { .text = head };
    struct hs_piece *piece;
    size_t count = hs_literals_find(t->families->literals, head, t->hits, HS_LINE_HITS_MAX);

    for (size_t i = 0; i < count; i++) {
        if (count > HS_LINE_HITS_MAX || t->hits[i].literal >= t->families->mark_count)
            return NULL;
    }
    k->line = head;
    k->head_bytes = head.n;
    t->hit_count = 0;
    if (!hs_envelope_split(&t->envelope, &segment, t->hits, count, note_head, k) ||
        k->records != 1 || !has_two_parts(t))
        return NULL;
    piece = hs_piece_add(&k->speakers, head, k->hash);
    k->speaker = HS_NO_ID;
    if (piece && !keep_record(k, piece, head)) {
        hs_piece_forget(piece);
        piece = NULL;
    }
    return piece;
}

static enum hs_known_line take_nccl(struct hs_text *t, struct hs_str line)
{
    struct hs_known *k = t->known;
    struct hs_str head = { .p = line.p, .n = k->head_bytes };
    struct hs_str text = { .p = line.p + k->head_bytes, .n = line.n - k->head_bytes };
    struct hs_piece *who = hs_piece_find(&k->speakers, head, k->hash);
    struct hs_piece *what = hs_piece_find(&k->messages, text, k->message_hash);

    if (!who && what && is_simple_head(head))
        who = read_head(t, head);
    if (!who || !what) {
        k->line = line;
        k->records = 0;
        k->wanted = (who ? 0 : HEAD) | (what || !comes_again(k, k->message_hash) ? 0 : MESSAGE);
        return HS_LINE_NEW;
    }
    who->record->segment = line;
    who->record->text = text;
    return take_known(t, who, &k->messages, what) ? HS_LINE_TAKEN : HS_LINE_FAILED;
}

void hs_known_look(struct hs_str line, struct hs_look *out)
{
    out->head_bytes = out->hash = out->message_hash = 0;
    if (line.n > LINE_BYTES_MAX)
        return;
    out->head_bytes = (uint32_t)find_message(line);
    if (out->head_bytes) {
        struct hs_str head = { .p = line.p, .n = out->head_bytes };

        line = (struct hs_str){ .p = line.p + head.n, .n = line.n - head.n };
        out->hash = hs_hash_here(head);
        out->message_hash = hs_hash_here(line);
    } else {
        out->hash = hs_hash_here(line);
    }
}

enum hs_known_line hs_known_take(struct hs_text *t, struct hs_str line, const struct hs_look *look)
{
    struct hs_known *k = t->known;
    struct hs_piece *piece;
    struct hs_look own;

    k->wanted = 0;
    k->noting = false;
    k->records = 0;
    if (line.n > LINE_BYTES_MAX || !stands_alone(&t->envelope))
        return HS_LINE_NEW;
    if (!look) {
        hs_known_look(line, &own);
        look = &own;
    }
    k->line = line;
    k->head_bytes = look->head_bytes;
    k->hash = look->hash;
    k->message_hash = look->message_hash;
    if (k->head_bytes)
        return take_nccl(t, line);
    piece = hs_piece_find(&k->speakers, line, k->hash);
    if (piece)
        return take_known(t, piece, &k->speakers, piece) ? HS_LINE_TAKEN : HS_LINE_FAILED;
    if (comes_again(k, k->hash))
        k->wanted = LINE;
    return HS_LINE_NEW;
}

/* ---- learning ---- */

void hs_known_note_record(struct hs_text *t, const struct hs_record *record)
{
    struct hs_known *k = t->known;

    if (!k->wanted)
        return;
    if (k->records++ || record->segment.p != k->line.p || record->segment.n != k->line.n) {
        k->wanted = 0;
        return;
    }
    k->record = *record;
    k->speaker = t->speaker;
    k->effect_count = k->found_count = k->value_count = 0;
    k->noting = true;
}

static void note(struct hs_text *t, const struct hs_effect *effect)
{
    struct hs_known *k = t->known;

    if (!k->noting)
        return;
    if (k->effect_count == EFFECTS_MAX)
        k->wanted = 0;
    else
        k->effects[k->effect_count++] = *effect;
}

void hs_known_note_count(struct hs_text *t)
{
    note(t, &(struct hs_effect){ .kind = HS_EFFECT_COUNT });
}

void hs_known_note_fact(struct hs_text *t, uint32_t name, uint32_t value)
{
    note(t, &(struct hs_effect){ .kind = HS_EFFECT_FACT, .of.fact = { name, value } });
}

void hs_known_note_event(struct hs_text *t, uint32_t family, uint32_t args)
{
    note(t, &(struct hs_effect){ .kind = HS_EFFECT_EVENT, .of.event = { family, args } });
}

void hs_known_note_link(struct hs_text *t, const struct hs_said_link *link)
{
    note(t, &(struct hs_effect){ .kind = HS_EFFECT_LINK, .of.link = *link });
}

bool hs_known_note_found(struct hs_text *t, const struct hs_found *found)
{
    struct hs_known *k = t->known;
    uint32_t count = t->families->rows[found->family].field_count;
    struct hs_found *copy;

    if (!k->noting)
        return false;
    if (k->found_count == HS_FAMILY_FOUND_MAX || k->value_count + count > VALUES_MAX) {
        k->wanted = 0;
        return false;
    }
    copy = &k->found[k->found_count++];
    *copy = *found;
    copy->values = &k->values[k->value_count];
    memcpy(&k->values[k->value_count], found->values, count * sizeof(*found->values));
    k->value_count += count;
    note(t, &(struct hs_effect){ .kind = HS_EFFECT_FOUND, .of.found = copy });
    k->noting = false;
    return true;
}

void hs_known_go_on(struct hs_text *t)
{
    t->known->noting = true;
}

/* What was found, with values that lie in the piece; NULL when they do not, or without memory. */
static const struct hs_found *copy_found(struct hs_text *t, struct hs_pieces *table,
                                         const struct hs_found *found, struct hs_str from,
                                         const char *to)
{
    uint32_t count = t->families->rows[found->family].field_count;
    struct hs_found *copy = HS_NEW(&table->arena, struct hs_found, 1);
    struct hs_str *values = HS_NEW(&table->arena, struct hs_str, count);

    if (!copy || !values)
        return NULL;
    *copy = *found;
    copy->values = values;
    table->bytes += sizeof(*copy) + count * sizeof(*values);
    if (!move(&copy->whole, from, to))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = found->values[i];
        if (!move(&values[i], from, to))
            return NULL;
    }
    return copy;
}

/* The effects of the line become those of the piece; false when it cannot have them. */
static bool keep_effects(struct hs_text *t, struct hs_pieces *table, struct hs_piece *piece,
                         struct hs_str from)
{
    const struct hs_known *k = t->known;

    if (!HS_GROW(table->effects, table->effect_cap, (size_t)table->effect_count + k->effect_count))
        return false;
    for (uint32_t i = 0; i < k->effect_count; i++) {
        struct hs_effect effect = k->effects[i];

        if (effect.kind == HS_EFFECT_FOUND) {
            effect.of.found = copy_found(t, table, effect.of.found, from, piece->text.p);
            if (!effect.of.found)
                return false;
        }
        table->effects[table->effect_count++] = effect;
    }
    piece->effect_count = k->effect_count;
    table->bytes += k->effect_count * sizeof(*table->effects);
    return true;
}

static void learn_line(struct hs_text *t)
{
    struct hs_known *k = t->known;
    struct hs_piece *piece = hs_piece_add(&k->speakers, k->line, k->hash);

    if (!piece)
        return;
    if (!keep_record(k, piece, k->line) || !move(&piece->record->text, k->line, piece->text.p) ||
        !move(&piece->record->segment, k->line, piece->text.p) ||
        !keep_effects(t, &k->speakers, piece, k->line))
        hs_piece_forget(piece);
}

static void learn_head(struct hs_known *k)
{
    struct hs_str text = { .p = k->line.p, .n = k->head_bytes };
    struct hs_piece *piece = hs_piece_add(&k->speakers, text, k->hash);

    if (piece && !keep_record(k, piece, text))
        hs_piece_forget(piece);
}

static void learn_message(struct hs_text *t)
{
    struct hs_known *k = t->known;
    struct hs_str text = { .p = k->line.p + k->head_bytes, .n = k->line.n - k->head_bytes };
    struct hs_piece *piece = hs_piece_add(&k->messages, text, k->message_hash);

    if (piece && !keep_effects(t, &k->messages, piece, text))
        hs_piece_forget(piece);
}

void hs_known_learn(struct hs_text *t)
{
    struct hs_known *k = t->known;

    k->noting = false;
    if (!k->wanted || k->records != 1)
        return;
    if (k->wanted & LINE) {
        learn_line(t);
    } else if (has_two_parts(t)) {
        if (k->wanted & HEAD)
            learn_head(k);
        if (k->wanted & MESSAGE)
            learn_message(t);
    }
}
