/*
 * pickle_elements.c - elements met before, by their bytes.
 *
 * The calls of a training loop are recorded again and again: entries of a dump differ in the
 * numbers directly in them, and in little else. Such an element, of plain opcodes, means the same
 * wherever it stands but for those numbers, as long as no memo slot is put anew; so it is run once
 * or twice, kept, and given again with other numbers in its cells.
 *
 * What comes next is guessed by what came after the last four elements, or after the last one. An
 * element that was not guessed is run, and then looked up.
 */
#include "base/intern.h"
#include "parsers/pickle_ops.h"

enum {
    ELEMENT_BYTES_MAX = 1024,
    PAIRS_MAX = 48,
    NUMBERS_MAX = 24,
    TUPLES_MAX = 4,
    WORD_BYTES = 8,
    WORDS_MAX = ELEMENT_BYTES_MAX / WORD_BYTES,
    TRIALS = 256 /* elements after which few met ones are a reason to stop looking */
};

/* What the bytes of an element are made of. */
struct shape {
    uint32_t n, pairs, number_count;
    struct hs_pickle_number numbers[NUMBERS_MAX];
};

/* ---- by bytes ---- */

/* Past a reference to a memo slot; 0: there is none. */
static size_t past_get(const char *at, size_t i, size_t n)
{
    size_t bytes = i >= n ? 0 : at[i] == 'h' ? 2 : at[i] == 'j' ? 5 : 0;

    return bytes && i + bytes <= n ? i + bytes : 0;
}

/* One, or two that make a tuple. */
static size_t past_reference(const char *at, size_t i, size_t n)
{
    size_t first = past_get(at, i, n), second = first ? past_get(at, first, n) : 0;

    return second && second < n && (unsigned char)at[second] == 0x86 ? second + 1 : first;
}

static size_t past_number(const char *at, size_t i, size_t n, struct shape *s)
{
    static const uint8_t widths[256] = { ['K'] = 1, ['M'] = 2, ['J'] = 4, ['G'] = 8 };
    unsigned char op = (unsigned char)at[i];
    size_t bytes = widths[op], begin = i + 1;

    if (op == 0x8a && i + 1 < n && at[i + 1] == 8) {
        bytes = 8;
        begin++;
    }
    if (bytes == 0 || begin + bytes > n || s->number_count == NUMBERS_MAX)
        return 0;
    s->numbers[s->number_count++] = (struct hs_pickle_number){ .at = (uint16_t)begin,
                                                               .cell = (uint16_t)(2 * s->pairs + 1),
                                                               .op = op };
    return begin + bytes;
}

/* Past a value; 0: it is not plain. */
static size_t past_value(const char *at, size_t i, size_t n, struct shape *s)
{
    size_t bytes;

    if (i >= n)
        return 0;
    switch ((unsigned char)at[i]) {
    case 'h':
    case 'j':
        return past_reference(at, i, n);
    case 'N':
    case 0x88:
    case 0x89:
        return i + 1;
    case ']':
        bytes = i + 1 < n && at[i + 1] == '(' ? hs_pickle_list_bytes(at + i, n - i) : 0;
        return bytes ? i + bytes : 0;
    default:
        return past_number(at, i, n, s);
    }
}

/* EMPTY_DICT, MARK, pairs, SETITEMS: whether all of it is plain. */
static bool look_at(const char *at, size_t n, struct shape *s)
{
    size_t i = 2, end = n - 1;

    s->n = (uint32_t)n;
    s->pairs = s->number_count = 0;
    if (n < 3 || n > ELEMENT_BYTES_MAX || at[1] != '(')
        return false;
    while (i > 0 && i < end && s->pairs < PAIRS_MAX) {
        i = past_get(at, i, end);
        i = i ? past_value(at, i, end, s) : 0;
        s->pairs++;
    }
    return i == end;
}

static uint32_t words_of(uint32_t n)
{
    return (n + WORD_BYTES - 1) / WORD_BYTES;
}

static size_t width_of(uint8_t op)
{
    return op == 'K' ? 1 : op == 'M' ? 2 : op == 'J' ? 4 : 8;
}

/* What has to be equal: all but the numbers. */
static void put_mask(const struct shape *s, uint64_t mask[WORDS_MAX])
{
    unsigned char bytes[ELEMENT_BYTES_MAX] = { 0 };

    memset(bytes, 0xff, s->n);
    for (uint32_t i = 0; i < s->number_count; i++)
        memset(bytes + s->numbers[i].at, 0, width_of(s->numbers[i].op));
    memcpy(mask, bytes, words_of(s->n) * (size_t)WORD_BYTES);
}

static bool is_same(const struct hs_pickle_element *e, const char *at)
{
    uint32_t words = words_of(e->n);
    uint64_t off = 0;

    for (uint32_t i = 0; i < words; i++)
        off |= (hs_pickle_word(at + (size_t)i * WORD_BYTES) & e->mask[i]) ^ e->want[i];
    return off == 0;
}

/* The slot of the element of these masked words, or the free one where it belongs. */
static uint16_t *slot_of(struct hs_pickle_elements *all, const uint64_t *want, uint32_t n)
{
    struct hs_str bytes = { .p = (const char *)want, .n = words_of(n) * (size_t)WORD_BYTES };
    size_t mask = (1u << HS_PICKLE_ELEMENT_SLOTS_LOG) - 1, i = hs_hash_here(bytes) & mask;

    for (;; i = (i + 1) & mask) {
        const struct hs_pickle_element *e = &all->met[all->slots[i] ? all->slots[i] - 1 : 0];

        if (all->slots[i] == 0 || (e->n == n && memcmp(e->want, want, bytes.n) == 0))
            return &all->slots[i];
    }
}

/* ---- guessing ---- */

static uint16_t *guess_by_four(struct hs_pickle_elements *all)
{
    return &all->by_four[all->latest * 0x9e3779b97f4a7c15u >> (64 - HS_PICKLE_GUESSED_LOG)];
}

static uint16_t *guess_by_one(struct hs_pickle_elements *all)
{
    return &all->by_one[(uint16_t)all->latest];
}

static void go_on(struct hs_pickle_elements *all, uint16_t id)
{
    all->latest = all->latest << 16 | id;
}

static void learn(struct hs_pickle_elements *all, uint16_t id)
{
    *guess_by_four(all) = id;
    *guess_by_one(all) = id;
    go_on(all, id);
}

/* ---- keeping ---- */

/* Tuples of texts are the only containers that are copied. */
static bool is_kind(const struct hs_document *doc, const struct hs_value *value)
{
    uint32_t count;
    const struct hs_value *items = hs_items(doc, value, &count);

    if (value->kind == HS_VALUE_TUPLE)
        return count == 2 && items[0].kind == HS_VALUE_STR && items[1].kind == HS_VALUE_STR;
    return value->kind == HS_VALUE_LIST ? value->fixed : value->kind <= HS_VALUE_BYTES;
}

/* The items of an element and of the tuples in it, on their way down to what is kept. */
struct parcel {
    struct hs_value items[2 * PAIRS_MAX], tuples[2 * TUPLES_MAX];
    uint32_t count, tuple_count;
    uint32_t tuple_at[TUPLES_MAX]; /* of the items */
};

static bool pack(const struct hs_document *doc, uint32_t object, const struct shape *s,
                 struct parcel *out)
{
    const struct hs_object *o = &doc->objects[object];

    out->count = o->count;
    out->tuple_count = 0;
    if (o->count != 2 * s->pairs || s->pairs == 0)
        return false;
    hs_copy_cells(out->items, doc->cells + o->first, o->count);
    for (uint32_t i = 0; i < o->count; i++) {
        const struct hs_value *item = &out->items[i];

        if (!is_kind(doc, item) || (i % 2 == 0 && item->kind != HS_VALUE_STR))
            return false;
        if (item->kind != HS_VALUE_TUPLE || hs_value_is_kept(doc, item))
            continue;
        if (out->tuple_count == TUPLES_MAX)
            return false;
        hs_copy_cells(out->tuples + (size_t)2 * out->tuple_count,
                      doc->cells + doc->objects[item->object].first, 2);
        out->tuple_at[out->tuple_count++] = i;
    }
    return true;
}

static uint32_t put_object(struct hs_document *doc, const struct hs_value *items, uint32_t count)
{
    hs_copy_cells(doc->cells + doc->cell_count, items, count);
    doc->objects[doc->object_count] =
        (struct hs_object){ .first = doc->cell_count, .count = count, .cap = count };
    doc->cell_count += count;
    return doc->object_count++;
}

/* There is room: the element itself lay there. */
static uint32_t unpack(struct hs_builder *b, struct parcel *p)
{
    uint32_t object;

    for (uint32_t t = 0; t < p->tuple_count; t++)
        p->items[p->tuple_at[t]].object = put_object(b->doc, p->tuples + (size_t)2 * t, 2);
    object = put_object(b->doc, p->items, p->count);
    hs_builder_keep(b);
    return object;
}

/* Remember an element that was not met before; 0: it cannot be. */
static uint16_t keep(struct hs_pickle *m, uint32_t object, const struct shape *s,
                     const uint64_t *mask, const uint64_t *want)
{
    struct hs_pickle_elements *all = &m->elements;
    struct hs_pickle_element *e = &all->met[all->count];
    size_t bytes = words_of(s->n) * (size_t)WORD_BYTES;
    size_t numbers = s->number_count * sizeof(*s->numbers);
    struct parcel parcel;
    char *room;

    if (all->count == HS_PICKLE_ELEMENTS || !pack(m->b.doc, object, s, &parcel))
        return 0;
    room = HS_NEW(&m->b.doc->texts, char, 2 * bytes + numbers);
    if (!room)
        return 0;
    memcpy(room, mask, bytes);
    memcpy(room + bytes, want, bytes);
    memcpy(room + 2 * bytes, s->numbers, numbers);
    *e = (struct hs_pickle_element){ .n = s->n,
                                     .number_count = s->number_count,
                                     .object = unpack(&m->b, &parcel),
                                     .mask = (const uint64_t *)(void *)room,
                                     .want = (const uint64_t *)(void *)(room + bytes),
                                     .numbers = (const void *)(room + 2 * bytes) };
    return (uint16_t)++all->count;
}

/* Elements that always differ are not worth a look. */
static bool is_hopeless(const struct hs_pickle_elements *all)
{
    return all->run > TRIALS && all->run / 2 > all->met_again;
}

void hs_pickle_keep_element(struct hs_pickle *m, uint32_t object, const char *at, size_t n)
{
    struct hs_pickle_elements *all = &m->elements;
    uint64_t mask[WORDS_MAX], want[WORDS_MAX];
    struct shape shape;
    uint16_t *slot;

    if (is_hopeless(all))
        return;
    all->run++;
    if ((size_t)(m->end - at) < n + WORD_BYTES || !look_at(at, n, &shape)) {
        go_on(all, 0);
        return;
    }
    put_mask(&shape, mask);
    for (uint32_t i = 0; i < words_of(shape.n); i++)
        want[i] = hs_pickle_word(at + (size_t)i * WORD_BYTES) & mask[i];
    slot = slot_of(all, want, shape.n);
    if (*slot == 0)
        *slot = keep(m, object, &shape, mask, want);
    learn(all, *slot);
}

void hs_pickle_forget_elements(struct hs_pickle *m)
{
    struct hs_pickle_elements *all = &m->elements;

    if (all->count == all->forgotten)
        return;
    memset(all->slots, 0, sizeof(all->slots));
    memset(all->by_one, 0, sizeof(all->by_one));
    memset(all->by_four, 0, sizeof(all->by_four));
    all->latest = 0;
    all->forgotten = all->count;
}

/* ---- giving again ---- */

static uint16_t guess(struct hs_pickle *m, const char *at)
{
    struct hs_pickle_elements *all = &m->elements;
    uint16_t ids[2] = { *guess_by_four(all), *guess_by_one(all) };
    size_t left = (size_t)(m->end - at);

    for (unsigned i = 0; i < 2; i++) {
        const struct hs_pickle_element *e = &all->met[ids[i] ? ids[i] - 1 : 0];

        if (ids[i] && e->n + WORD_BYTES <= left && is_same(e, at))
            return ids[i];
        if (ids[0] == ids[1])
            break;
    }
    return 0;
}

static void put_number(struct hs_value *cell, const char *at, uint8_t op)
{
    uint64_t bits = hs_pickle_word(at);

    switch (op) {
    case 'K':
        hs_cell_set(cell, HS_VALUE_INT, (uint8_t)bits);
        break;
    case 'M':
        hs_cell_set(cell, HS_VALUE_INT, (uint16_t)bits);
        break;
    case 'J':
        hs_cell_set(cell, HS_VALUE_INT, (int32_t)(uint32_t)bits);
        break;
    case 'G':
        hs_cell_set(cell, HS_VALUE_FLOAT, (int64_t)__builtin_bswap64(bits));
        break;
    default:
        hs_cell_set(cell, HS_VALUE_INT, (int64_t)bits);
        break;
    }
}

size_t hs_pickle_find_element(struct hs_pickle *m, const char *at, struct hs_value *out)
{
    struct hs_pickle_elements *all = &m->elements;
    uint16_t id = all->count && !is_hopeless(all) ? guess(m, at) : 0;
    const struct hs_pickle_element *e = &all->met[id ? id - 1 : 0];
    struct hs_value *cells;

    if (id == 0)
        return 0;
    cells = m->b.doc->cells + m->b.doc->objects[e->object].first;
    for (uint32_t i = 0; i < e->number_count; i++)
        put_number(cells + e->numbers[i].cell, at + e->numbers[i].at, e->numbers[i].op);
    learn(all, id);
    all->met_again++;
    *out = (struct hs_value){
        .kind = HS_VALUE_DICT, .fixed = HS_FIXED_SHAPE, .n = id - 1u, .object = e->object
    };
    return e->n;
}
