/*
 * fuzz_families.c - bytes as lines, and as stanzas. Besides not crashing: what a family captures
 * lies in the record, a record is of a family once, and families come in order. The first byte
 * says what a line's header was.
 */
#include "parsers/envelope.h"
#include "parsers/families.h"

#include <stdlib.h>

#define HITS_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is the same for all inputs, and the record being looked at. */
struct target {
    struct hs_families *families;
    struct hs_matching *matching;
    struct hs_hit hits[HITS_MAX];
    uint32_t last_at, last_family;
    bool any;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool lies_in(struct hs_str inner, struct hs_str outer)
{
    return inner.p >= outer.p && inner.p + inner.n <= outer.p + outer.n;
}

static bool check_found(void *self, const struct hs_record *record, const struct hs_found *found)
{
    struct target *target = self;
    const struct hs_family *family = &target->families->rows[found->family];

    must(found->family < target->families->count);
    must(lies_in(found->whole, record->segment));
    must(found->whole.p == record->segment.p + found->at);
    must(!target->any || found->at > target->last_at ||
         (found->at == target->last_at && found->family > target->last_family));
    for (uint32_t i = 0; i < family->field_count; i++)
        must(!found->values[i].p || lies_in(found->values[i], record->segment));
    target->any = true;
    target->last_at = found->at;
    target->last_family = found->family;
    return true;
}

static void look_at_line(struct target *target, struct hs_str line, uint8_t how)
{
    static const char levels[] = "IWEFC\0TV";
    struct hs_record record = {
        .segment = line,
        .header = (enum hs_header)(how % 5),
        .level = levels[how / 5 % 8],
    };
    size_t hidden = how / 40u < line.n ? how / 40u : 0; /* bytes of a header */
    size_t count = hs_literals_find(target->families->literals, line, target->hits, HITS_MAX);

    record.text = (struct hs_str){ .p = line.p + hidden, .n = line.n - hidden };
    target->any = false;
    must(hs_families_match(target->families, target->matching, &record,
                           (struct hs_hits){ target->hits, count < HITS_MAX ? count : HITS_MAX },
                           check_found, target));
}

static void read_stanzas(struct hs_str text)
{
    struct hs_families_text file = { .group = HS_STR("fuzz"), .text = text };
    struct hs_families *families = NULL;
    struct hs_err err = { .n = 0 };

    if (hs_families_read(&file, 1, &families, &err) == HS_OK)
        hs_families_free(families);
    else
        must(families == NULL && err.n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct target target; /* a target of its own for every input would cost too much */
    struct hs_str rest = { .p = (const char *)data, .n = size };
    struct hs_err err = { .n = 0 };

    if (!target.families) {
        target.matching = hs_matching_new();
        must(target.matching && hs_families_new(&target.families, &err) == HS_OK);
    }
    if (size == 0)
        return 0;
    if (data[0] == '[' || data[0] == '#') {
        read_stanzas(rest);
        return 0;
    }
    rest = (struct hs_str){ .p = rest.p + 1, .n = rest.n - 1 };
    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;

        look_at_line(&target, (struct hs_str){ .p = rest.p, .n = n }, data[0]);
        n += end ? 1 : 0;
        rest = (struct hs_str){ .p = rest.p + n, .n = rest.n - n };
    }
    return 0;
}
