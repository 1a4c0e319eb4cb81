/*
 * literals.c - the automaton: a trie of the literals, made complete by failure links, as one table.
 *
 * Bytes that no literal has are one class, every other byte is its own: a row of the table has as
 * many cells as there are classes. A cell holds where the next state's row begins, so that a step
 * is one load. States are numbered from the root outwards, those where a literal ends behind all
 * others: a line without a hit stays in few rows, and a hit is seen by one comparison.
 */
#include "parsers/literals.h"

#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>

struct hs_literals {
    uint8_t class_of[256];
    uint32_t class_count;
    uint32_t *next;   /* by row and class */
    uint32_t hit_row; /* rows from here on are states where literals end */
    uint32_t *first;  /* by such a state: where its literals begin in `ending`; one more */
    uint32_t *ending; /* indexes of literals */
};

/* The trie while it is built; all by state, 0 being the root. */
struct trie {
    uint32_t *child;    /* by state and class; 0: none */
    uint32_t *fail;     /* the longest proper suffix that is a state */
    uint32_t *last;     /* literal that ends here, HS_NO_ID: none */
    uint32_t *before;   /* by literal: another one with the same text, of a smaller index */
    uint32_t *hits;     /* literals that end here, shorter ones included */
    uint32_t *order;    /* states, the root first, by distance */
    uint32_t *number;   /* the new number of a state */
    uint32_t count;     /* states */
    uint32_t hit_count; /* of all states */
};

static void trie_release(struct trie *trie)
{
    free(trie->child);
    free(trie->fail);
    free(trie->last);
    free(trie->before);
    free(trie->hits);
    free(trie->order);
    free(trie->number);
}

static bool trie_reserve(struct trie *trie, size_t states, uint32_t classes, uint32_t literals)
{
    *trie = (struct trie){ .count = 1 };
    if (states * classes > UINT32_MAX)
        return false;
    trie->child = calloc(states * classes, sizeof(uint32_t));
    trie->fail = calloc(states, sizeof(uint32_t));
    trie->last = malloc(states * sizeof(uint32_t));
    trie->before = malloc((literals + 1ull) * sizeof(uint32_t));
    trie->hits = calloc(states, sizeof(uint32_t));
    trie->order = calloc(states, sizeof(uint32_t));
    trie->number = calloc(states, sizeof(uint32_t));
    if (!trie->child || !trie->fail || !trie->last || !trie->before || !trie->hits ||
        !trie->order || !trie->number)
        return false;
    memset(trie->last, 0xff, states * sizeof(uint32_t));
    return true;
}

static void trie_add(struct trie *trie, const struct hs_literals *literals, struct hs_str text,
                     uint32_t literal)
{
    uint32_t state = 0;

    for (size_t i = 0; i < text.n; i++) {
        uint8_t class = literals->class_of[(unsigned char)text.p[i]];
        uint32_t *child = &trie->child[(size_t)state * literals->class_count + class];

        if (*child == 0)
            *child = trie->count++;
        state = *child;
    }
    trie->before[literal] = trie->last[state];
    trie->last[state] = literal;
    trie->hits[state]++;
}

/*
 * Breadth first: a state's failure link is nearer to the root, so its row is complete when the
 * state is reached. A missing child becomes the child of the failure link.
 */
static void trie_complete(struct trie *trie, uint32_t classes)
{
    uint32_t known = 1; /* states in `order` */

    for (uint32_t i = 0; i < known; i++) {
        uint32_t state = trie->order[i];
        uint32_t *row = &trie->child[(size_t)state * classes];
        const uint32_t *fail_row = &trie->child[(size_t)trie->fail[state] * classes];

        if (state != 0)
            trie->hits[state] += trie->hits[trie->fail[state]];
        trie->hit_count += trie->hits[state];
        for (uint32_t c = 0; c < classes; c++) {
            if (row[c] != 0) {
                trie->order[known++] = row[c];
                trie->fail[row[c]] = state == 0 ? 0 : fail_row[c];
            } else {
                row[c] = state == 0 ? 0 : fail_row[c];
            }
        }
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;

    return (*x > *y) - (*x < *y);
}

/* The literals that end in `state`, in the order of their indexes. */
static uint32_t list_ending(const struct trie *trie, uint32_t state, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t s = state; s != 0; s = trie->fail[s])
        for (uint32_t l = trie->last[s]; l != HS_NO_ID; l = trie->before[l])
            out[n++] = l;
    qsort(out, n, sizeof(*out), by_number);
    return n;
}

static bool make_table(struct hs_literals *literals, struct trie *trie)
{
    uint32_t classes = literals->class_count;
    uint32_t plain = 0;
    uint32_t with_hits = 0;
    uint32_t used = 0;

    assert(classes > 0 && trie->count > 0);
    for (uint32_t i = 0; i < trie->count; i++)
        if (trie->hits[trie->order[i]] == 0)
            trie->number[trie->order[i]] = plain++;
    for (uint32_t i = 0; i < trie->count; i++)
        if (trie->hits[trie->order[i]] > 0)
            trie->number[trie->order[i]] = plain + with_hits++;
    literals->hit_row = plain * classes;
    literals->next = malloc((size_t)trie->count * classes * sizeof(uint32_t));
    literals->first = malloc((with_hits + 1ull) * sizeof(uint32_t));
    literals->ending = malloc((trie->hit_count + 1ull) * sizeof(uint32_t));
    if (!literals->next || !literals->first || !literals->ending)
        return false;
    for (uint32_t state = 0; state < trie->count; state++) {
        const uint32_t *from = &trie->child[(size_t)state * classes];
        uint32_t *to = &literals->next[(size_t)trie->number[state] * classes];

        for (uint32_t c = 0; c < classes; c++)
            to[c] = trie->number[from[c]] * classes;
    }
    for (uint32_t i = 0; i < trie->count; i++) {
        uint32_t state = trie->order[i];

        if (trie->hits[state] == 0)
            continue;
        literals->first[trie->number[state] - plain] = used;
        used += list_ending(trie, state, literals->ending + used);
    }
    literals->first[with_hits] = used;
    return true;
}

struct hs_literals *hs_literals_new(const struct hs_str *texts, uint32_t count)
{
    struct hs_literals *literals = calloc(1, sizeof(*literals));
    struct trie trie;
    size_t states = 1;
    bool made;

    if (!literals)
        return NULL;
    literals->class_count = 1;
    for (uint32_t l = 0; l < count; l++) {
        states += texts[l].n;
        for (size_t i = 0; i < texts[l].n; i++) {
            uint8_t *class = &literals->class_of[(unsigned char)texts[l].p[i]];

            if (*class == 0 && literals->class_count <= UINT8_MAX)
                *class = (uint8_t)literals->class_count++;
        }
    }
    made = trie_reserve(&trie, states, literals->class_count, count);
    if (made) {
        for (uint32_t l = 0; l < count; l++)
            trie_add(&trie, literals, texts[l], l);
        trie_complete(&trie, literals->class_count);
        made = make_table(literals, &trie);
    }
    trie_release(&trie);
    if (made)
        return literals;
    hs_literals_free(literals);
    return NULL;
}

void hs_literals_free(struct hs_literals *literals)
{
    if (!literals)
        return;
    free(literals->next);
    free(literals->first);
    free(literals->ending);
    free(literals);
}

size_t hs_literals_find(const struct hs_literals *literals, struct hs_str text, struct hs_hit *hits,
                        size_t cap)
{
    const uint32_t *next = literals->next;
    uint32_t row = 0;
    size_t found = 0;

    for (size_t i = 0; i < text.n; i++) {
        row = next[row + literals->class_of[(unsigned char)text.p[i]]];
        if (row < literals->hit_row)
            continue;
        const uint32_t *first = &literals->first[(row - literals->hit_row) / literals->class_count];

        for (uint32_t k = first[0]; k < first[1]; k++, found++)
            if (found < cap)
                hits[found] =
                    (struct hs_hit){ .literal = literals->ending[k], .end = (uint32_t)(i + 1) };
    }
    return found;
}
