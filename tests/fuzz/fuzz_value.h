/*
 * fuzz_value.h - what fuzz_pickle.c and fuzz_json.c share. Besides not crashing: every byte of
 * every slice that is handed out is readable, troubles lie inside the input, and an input cut
 * anywhere gives a prefix of the elements.
 */
#ifndef HS_TESTS_FUZZ_VALUE_H
#define HS_TESTS_FUZZ_VALUE_H

#include "parsers/value.h"

#include <stdlib.h>

enum { FUZZ_DEPTH_MAX = 12, FUZZ_VALUES_MAX = 20000 };

typedef bool fuzz_read_fn(struct hs_document *doc, struct hs_str bytes,
                          const struct hs_document_consumer *consumer, struct hs_value *top,
                          struct hs_trouble *trouble);

/* The elements of one reading; `hash[i]` covers all up to i. */
struct fuzz_elements {
    uint64_t *hash;
    uint32_t count, cap;
    uint64_t running;
    uint32_t left; /* values that this element may still have looked at */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_mix(struct fuzz_elements *e, uint64_t word)
{
    e->running = (e->running ^ word) * 0x100000001b3u;
}

static void fuzz_touch(struct fuzz_elements *e, const struct hs_document *doc,
                       const struct hs_value *value, unsigned depth)
{
    uint32_t n;
    const struct hs_value *items = hs_items(doc, value, &n);

    fuzz_mix(e, value->kind * 256u + value->known);
    if (e->left == 0)
        return;
    e->left--;
    if (value->kind == HS_VALUE_STR || value->kind == HS_VALUE_BYTES) {
        for (uint32_t i = 0; i < value->n; i++)
            fuzz_mix(e, (unsigned char)value->p[i]);
    } else if (value->kind == HS_VALUE_INT || value->kind == HS_VALUE_BOOL) {
        fuzz_mix(e, (uint64_t)value->i);
    } else if (value->kind == HS_VALUE_FLOAT) {
        fuzz_mix(e, value->f < 1);
    }
    for (uint32_t i = 0; i < n && depth < FUZZ_DEPTH_MAX; i++)
        fuzz_touch(e, doc, items + i, depth + 1);
}

static bool fuzz_element(void *self, const struct hs_document *doc, const struct hs_value *element,
                         uint64_t offset_bytes)
{
    struct fuzz_elements *e = self;

    e->left = FUZZ_VALUES_MAX;
    fuzz_mix(e, offset_bytes);
    fuzz_touch(e, doc, element, 0);
    if (!HS_GROW(e->hash, e->cap, e->count + 1))
        abort();
    e->hash[e->count++] = e->running;
    return true;
}

static uint8_t fuzz_known(struct hs_str text)
{
    return (uint8_t)(text.n > 0 ? text.p[text.n - 1] : 255);
}

/* Read a copy that ends where it ends, so that a sanitizer sees any step beyond. */
static struct fuzz_elements fuzz_run(fuzz_read_fn *read, const uint8_t *data, size_t size)
{
    struct fuzz_elements e = { .running = 1 };
    struct hs_document_consumer consumer = {
        .streamed_key = "entries", .known = fuzz_known, .element = fuzz_element, .self = &e
    };
    struct hs_trouble trouble;
    struct hs_document doc;
    struct hs_value top;
    char *copy = malloc(size);

    if (!copy && size > 0)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    hs_document_init(&doc);
    if (!read(&doc, (struct hs_str){ .p = copy, .n = size }, &consumer, &top, &trouble) &&
        !trouble.code)
        abort();
    if (trouble.code && trouble.offset_bytes > size)
        abort();
    e.left = FUZZ_VALUES_MAX;
    fuzz_touch(&e, &doc, &top, 0);
    hs_document_release(&doc);
    free(copy);
    return e;
}

static void fuzz_cut(fuzz_read_fn *read, const struct fuzz_elements *all, const uint8_t *data,
                     size_t size)
{
    struct fuzz_elements some = fuzz_run(read, data, size);

    if (some.count > all->count)
        abort();
    if (some.count > 0 && some.hash[some.count - 1] != all->hash[some.count - 1])
        abort();
    free(some.hash);
}

static int fuzz_value(fuzz_read_fn *read, const uint8_t *data, size_t size)
{
    struct fuzz_elements all = fuzz_run(read, data, size);

    for (size_t i = 1; i <= 4 && size > 0; i++)
        fuzz_cut(read, &all, data, (size_t)(all.running * i) % size);
    free(all.hash);
    return 0;
}

#endif
