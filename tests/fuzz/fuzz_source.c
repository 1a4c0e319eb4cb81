/*
 * fuzz_source.c - bytes as an input. Besides not crashing, a source must give the same members
 * and the same troubles whole and in small pieces.
 */
#include "base/intern.h"
#include "parsers/source.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fold(uint64_t h, struct hs_str s)
{
    return h * 31 + hs_hash(s);
}

static uint64_t fold_trouble(uint64_t h, const struct hs_source_trouble *trouble)
{
    if (trouble->code && trouble->detail.n == 0)
        abort(); /* nobody could tell what is wrong */
    return trouble->code ? fold(fold(h, hs_str_of(trouble->code)), trouble->detail) : h;
}

/* The rest of a member: at once, or `step` bytes at a time. */
static void read_member(struct hs_source *src, struct hs_buf *to, size_t step,
                        struct hs_source_trouble *trouble)
{
    size_t n;

    if (step == 0) {
        hs_source_read_all(src, to, trouble);
        return;
    }
    do {
        if (!hs_buf_reserve(to, step))
            abort();
        n = hs_source_read(src, to->p + to->n, step, trouble);
        to->n += n;
    } while (n > 0);
}

static uint64_t run(struct hs_str bytes, size_t step)
{
    uint64_t hash = 1;
    struct hs_err err = { .n = 0 };
    struct hs_source *src = NULL;
    struct hs_source_trouble trouble;
    struct hs_str name;
    struct hs_buf member;

    hs_buf_init(&member);
    if (hs_source_open_bytes(bytes, HS_STR("input"), &src, &err) != HS_OK)
        abort();
    while (hs_source_next(src, &name, &trouble)) {
        if (trouble.code)
            abort();
        hash = fold(hash, name);
        member.n = 0;
        read_member(src, &member, step, &trouble);
        hash = fold_trouble(fold(hash, hs_buf_str(&member)), &trouble);
    }
    hash = fold_trouble(hash, &trouble);
    hs_source_close(src);
    hs_buf_release(&member);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hs_str bytes = { .p = (const char *)data, .n = size };

    if (run(bytes, 0) != run(bytes, 1 + size % 5000))
        abort();
    return 0;
}
