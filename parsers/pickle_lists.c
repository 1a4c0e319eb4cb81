/*
 * pickle_lists.c - lists met before, by their bytes.
 *
 * The entries of a dump repeat few stacks, sizes and dtypes, each written out as a list of memo
 * references and small numbers. A list of plain opcodes means the same wherever it stands, as long
 * as no memo slot is put anew; so its bytes are run once, and give one object from then on.
 *
 * What is given is never changed (its cell is `fixed`): hs_pickle_own() makes a copy before an
 * opcode fills it further or gives it a second name. A list is remembered when its element has been
 * handed out: then its objects and cells can be moved down to those that are kept.
 */
#include "parsers/pickle_ops.h"

enum {
    LIST_BYTES_MAX = 512,
    EMPTY_BYTES = 3,   /* EMPTY_LIST, MARK, APPENDS */
    CELLS_MAX = 32768, /* kept for all lists of a document */
};

/* BINGETs that follow, four by four: past them, from byte `i` on. */
static size_t skip_gets(const char *at, size_t i, size_t end)
{
    while (i + 8 <= end && (hs_pickle_word(at + i) & 0x00ff00ff00ff00ffu) == 0x0068006800680068u)
        i += 8;
    return i;
}

/* A MARK only follows an EMPTY_LIST: then nothing is filled but the list and lists inside it. */
size_t hs_pickle_list_bytes(const char *at, size_t end)
{
    static const uint8_t widths[256] = {
        [']'] = 1, ['e'] = 1,  ['h'] = 2, ['j'] = 5, ['K'] = 2,  ['M'] = 3,
        ['J'] = 5, [0x8a] = 2, ['G'] = 9, ['N'] = 1, [0x88] = 1, [0x89] = 1,
    };
    size_t i = 2;
    unsigned depth = 1;

    if (end > LIST_BYTES_MAX)
        end = LIST_BYTES_MAX;
    while (i < end && widths[(unsigned char)at[i]]) {
        unsigned char op = (unsigned char)at[i];

        i += widths[op];
        if (op == 'h') {
            i = skip_gets(at, i, end);
        } else if (op == 'e') {
            if (--depth == 0)
                return i;
        } else if (op == ']' && i < end && at[i] == '(') {
            depth++;
            i++;
        } else if (op == 0x8a && i <= end) {
            i += (unsigned char)at[i - 1]; /* LONG1 has a length */
        }
    }
    return 0;
}

/* At least 8 bytes can be read wherever a list begins, also where it is shorter. */

static uint64_t mix(uint64_t h, uint64_t word)
{
    return (h ^ word) * 0x9e3779b97f4a7c15u;
}

static bool same_bytes(const char *a, const char *b, size_t n)
{
    if (n < 8)
        return (hs_pickle_word(a) ^ hs_pickle_word(b)) << (64 - 8 * n) == 0;
    for (size_t i = 0; i + 8 < n; i += 8) {
        if (hs_pickle_word(a + i) != hs_pickle_word(b + i))
            return false;
    }
    return hs_pickle_word(a + n - 8) == hs_pickle_word(b + n - 8);
}

/* Where the list of these bytes is, or where it belongs. */
static uint16_t *slot_of(struct hs_pickle_lists *lists, const char *at, size_t n)
{
    uint64_t h = n < 8 ? hs_pickle_word(at) << (64 - 8 * n) : hs_pickle_word(at + n - 8);
    size_t mask = (1u << HS_PICKLE_LIST_SLOTS_LOG) - 1, i;

    for (i = 0; i + 8 < n; i += 8)
        h = mix(h, hs_pickle_word(at + i));
    h = mix(h, n);
    for (i = h >> (64 - HS_PICKLE_LIST_SLOTS_LOG);; i = (i + 1) & mask) {
        uint16_t *slot = &lists->slots[i];

        if (*slot == 0 ||
            (lists->met[*slot - 1].n == n && same_bytes(lists->met[*slot - 1].p, at, n)))
            return slot;
    }
}

/* No list is the beginning of another: one whose bytes are here is the one that is here. */
static const struct hs_pickle_list *check(const struct hs_pickle *m, const char *at, uint16_t guess)
{
    const struct hs_pickle_list *met = &m->lists.met[guess - 1];

    return met->n <= (size_t)(m->end - at) && same_bytes(met->p, at, met->n) ? met : NULL;
}

static void note_fresh(struct hs_pickle *m, const char *at, size_t n)
{
    struct hs_pickle_lists *lists = &m->lists;

    if (lists->fresh_count < HS_PICKLE_FRESH_LISTS)
        lists->fresh[lists->fresh_count++] =
            (struct hs_pickle_list){ .p = at,
                                     .n = (uint32_t)n,
                                     .object = m->b.doc->object_count,
                                     .first = m->b.doc->cell_count };
}

/* Stacks have their first frames in common: of those, look at some more bytes. */
static uint16_t *guess_of(struct hs_pickle *m, const char *at)
{
    uint64_t word = hs_pickle_word(at), h = mix(0, word);

    if ((word & 0x00ff00ff00ff0000u) == 0x0068006800680000u && m->end - at >= 16)
        h = mix(h, hs_pickle_word(at + 8));
    return &m->lists.guesses[h >> (64 - HS_PICKLE_GUESSES_LOG)];
}

size_t hs_pickle_find_list(struct hs_pickle *m, const char *at, struct hs_value *cell)
{
    uint16_t *guess = guess_of(m, at);
    const struct hs_pickle_list *met = *guess ? check(m, at, *guess) : NULL;

    if (!met) {
        size_t n = hs_pickle_list_bytes(at, (size_t)(m->end - at));

        if (n == 0)
            return 0;
        *guess = *slot_of(&m->lists, at, n);
        if (*guess == 0) {
            note_fresh(m, at, n);
            return 0;
        }
        met = &m->lists.met[*guess - 1];
    }
    hs_cell_set(cell,
                HS_VALUE_LIST | (uint64_t)met->fixed << 16 | (uint64_t)(at - m->bytes.p) << 32,
                met->object);
    return met->n;
}

/* Move the objects and cells of a list to the end of those that are kept. */
static void keep_list(struct hs_pickle *m, const struct hs_pickle_list *fresh)
{
    struct hs_document *doc = m->b.doc;
    const struct hs_object *list = doc->objects + fresh->object;
    struct hs_pickle_lists *lists = &m->lists;
    struct hs_pickle_list *met = lists->met + lists->count;
    uint16_t *slot = slot_of(lists, fresh->p, fresh->n);
    uint32_t to = doc->cell_count, cells = list->first + list->count - fresh->first, objects = 1;

    if (*slot || lists->count == HS_PICKLE_LISTS || cells > CELLS_MAX - lists->cells ||
        fresh->object < doc->kept_objects ||
        (list->count == 0) != (fresh->n == EMPTY_BYTES)) /* filled since */
        return;
    *met = *fresh;
    met->object = doc->object_count;
    met->fixed = HS_FIXED_WHOLE;
    for (uint32_t i = 0; i < cells; i++) {
        struct hs_value cell = doc->cells[fresh->first + i];

        if (cell.kind >= HS_VALUE_LIST && cell.kind <= HS_VALUE_DICT) {
            if (cell.object >= fresh->object) {
                cell.object -= fresh->object - met->object;
                objects++;
            } else {
                met->fixed = HS_FIXED_ITEMS;
            }
        }
        doc->cells[to + i] = cell;
    }
    for (uint32_t i = 0; i < objects; i++) {
        struct hs_object object = doc->objects[fresh->object + i];

        object.first -= fresh->first - to;
        doc->objects[met->object + i] = object;
    }
    doc->cell_count += cells;
    doc->object_count += objects;
    hs_builder_keep(&m->b);
    lists->cells += cells;
    *slot = (uint16_t)++lists->count;
}

void hs_pickle_keep_lists(struct hs_pickle *m)
{
    for (uint32_t i = 0; i < m->lists.fresh_count; i++)
        keep_list(m, &m->lists.fresh[i]);
    m->lists.fresh_count = 0;
}

void hs_pickle_forget_lists(struct hs_pickle *m)
{
    struct hs_pickle_lists *lists = &m->lists;

    lists->fresh_count = 0;
    if (lists->count == lists->forgotten)
        return;
    memset(lists->slots, 0, sizeof(lists->slots));
    memset(lists->guesses, 0, sizeof(lists->guesses));
    lists->forgotten = lists->count;
}

bool hs_pickle_copy_list(struct hs_pickle *m, uint32_t at)
{
    struct hs_builder *b = &m->b;
    struct hs_value given = b->stack[at], own;
    uint64_t offset_bytes = b->offset_bytes;
    uint32_t n;
    bool ok;

    b->offset_bytes = given.n;
    ok = hs_builder_push_container(b, HS_VALUE_LIST);
    b->offset_bytes = offset_bytes;
    if (!ok)
        return false;
    own = b->stack[b->count - 1];
    hs_builder_pop(b, 1);
    b->stack[at] = own;
    n = b->doc->objects[given.object].count;
    for (uint32_t i = 0; i < n; i++) {
        if (!hs_builder_push(b, b->doc->cells[b->doc->objects[given.object].first + i]))
            return false;
    }
    return hs_builder_move_items(b, &own, n);
}
