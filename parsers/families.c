/* families.c - which kinds of line a record is. */
#include "parsers/families_internal.h"

#include "base/intern.h"
#include "parsers/envelope.h"

#include "parsers/families_list.h" /* generated: the texts of families/ as hs_families_texts */

/* Where a long text is cut: so much of it stands in front of the literal that was found. */
#define LEAD_BYTES (HS_PATTERN_BYTES_MAX / 4)
#define VALUES_MAX 256u

/* One record being looked at. */
struct scan {
    const struct hs_families *families;
    struct hs_matching *matching;
    const struct hs_record *record;
    struct hs_hits hits;
    struct hs_found found[HS_FAMILY_FOUND_MAX];
    uint32_t count;
    struct hs_str values[VALUES_MAX];
    uint32_t used;
};

enum hs_status hs_families_new(struct hs_families **out, struct hs_err *err)
{
    return hs_families_read(hs_families_texts,
                            sizeof(hs_families_texts) / sizeof(hs_families_texts[0]), out, err);
}

uint32_t hs_family_find(const struct hs_families *families, const char *name)
{
    for (uint32_t i = 0; i < families->count; i++)
        if (hs_str_is(families->rows[i].name, name))
            return i;
    return HS_NO_ID;
}

static unsigned place_of(const struct hs_record *record)
{
    if (record->header == HS_HEADER_NCCL)
        return HS_IN_NCCL;
    if (record->header == HS_HEADER_C10 || record->header == HS_HEADER_GLOG)
        return HS_IN_C10;
    return HS_IN_BODY;
}

/* Blanks at the end belong to columns of a table or to mpirun. */
static struct hs_str without_tail(struct hs_str text)
{
    while (text.n > 0 && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
        text.n--;
    return text;
}

static size_t offset_of(const struct scan *scan, struct hs_str text)
{
    return (size_t)(text.p - scan->record->segment.p);
}

/* Keep what the family's values are now. */
static void note(struct scan *scan, uint32_t family, struct hs_str whole)
{
    struct hs_found *found = &scan->found[scan->count++];

    *found = (struct hs_found){ .family = family,
                                .values = scan->values + scan->used,
                                .whole = whole,
                                .at = (uint32_t)offset_of(scan, whole) };
    scan->used += scan->families->rows[family].field_count;
}

static bool has_room(const struct scan *scan)
{
    return scan->count < HS_FAMILY_FOUND_MAX && scan->used + HS_PATTERN_NAMES_MAX <= VALUES_MAX;
}

/* The hit of `family` that ends behind `from` and inside `text`, from hit `*i` on. */
static bool find_hit(const struct scan *scan, uint32_t family, struct hs_str text, size_t from,
                     size_t *i)
{
    size_t start = offset_of(scan, text);

    for (; *i < scan->hits.count && scan->hits.items[*i].end <= start + text.n; ++*i)
        if (scan->families->owner[scan->hits.items[*i].literal] == family &&
            scan->hits.items[*i].end > start + from)
            return true;
    return false;
}

/*
 * Look for a family in `text`, near its literals: a long text is searched by pieces, each of which
 * begins some way in front of the first literal that no piece had before. What PCRE2 can spend on
 * a line is so in proportion to its length.
 */
static void search(struct scan *scan, uint32_t family, struct hs_str text, size_t hit)
{
    struct hs_pattern *pattern = scan->families->rows[family].pattern;
    struct hs_str *values = scan->values + scan->used;
    struct hs_str whole;
    size_t seen = 0;

    while (find_hit(scan, family, text, seen, &hit)) {
        size_t end = scan->hits.items[hit].end - offset_of(scan, text);
        size_t from = text.n <= HS_PATTERN_BYTES_MAX || end <= LEAD_BYTES ? 0 : end - LEAD_BYTES;
        size_t n = text.n - from;
        struct hs_str piece = { .p = text.p + from,
                                .n = n < HS_PATTERN_BYTES_MAX ? n : HS_PATTERN_BYTES_MAX };

        if (hs_pattern_search(pattern, scan->matching, piece, from > 0, values, &whole) ==
            HS_MATCH_YES) {
            note(scan, family, whole);
            return;
        }
        seen = from + piece.n;
    }
}

/* Try every family that has a literal in the record once. */
static void search_all(struct scan *scan)
{
    const struct hs_families *families = scan->families;
    const struct hs_record *record = scan->record;
    struct hs_str text = without_tail(record->text);
    struct hs_str line = without_tail(record->segment);
    size_t start = offset_of(scan, record->text);
    size_t end = start + text.n;
    bool last = end >= line.n;
    unsigned place = place_of(record);
    uint64_t tried[HS_FAMILIES_MAX / 64] = { 0 };

    for (size_t i = 0; i < scan->hits.count && has_room(scan); i++) {
        uint32_t family = families->owner[scan->hits.items[i].literal];
        bool inside = scan->hits.items[i].end > start && scan->hits.items[i].end <= end;

        if (family == HS_NO_ID || (tried[family / 64] >> (family % 64) & 1))
            continue;
        if (inside && (families->rows[family].places & place))
            search(scan, family, text, i);
        else if (last && (families->rows[family].places & HS_IN_LINE))
            search(scan, family, line, i);
        else
            continue;
        tried[family / 64] |= 1ull << (family % 64);
    }
}

/* What nobody took goes to the families that say so for its level. */
static void search_otherwise(struct scan *scan)
{
    const struct hs_families_memory *memory = scan->families->memory;
    struct hs_str text = without_tail(scan->record->text);
    unsigned place = place_of(scan->record);
    struct hs_str whole;

    if (text.n > HS_PATTERN_BYTES_MAX)
        text.n = HS_PATTERN_BYTES_MAX;
    for (uint32_t i = 0; i < memory->otherwise_count && has_room(scan); i++) {
        const struct hs_family *family = &memory->rows[memory->otherwise[i]];

        if ((family->places & place) && scan->record->level &&
            memchr(family->otherwise.p, scan->record->level, family->otherwise.n) &&
            hs_pattern_search(family->pattern, scan->matching, text, false,
                              scan->values + scan->used, &whole) == HS_MATCH_YES)
            note(scan, memory->otherwise[i], whole);
    }
}

/* By place, then family. */
static void order(struct scan *scan)
{
    for (uint32_t i = 1; i < scan->count; i++) {
        struct hs_found found = scan->found[i];
        uint32_t k = i;

        while (k > 0 &&
               (scan->found[k - 1].at > found.at ||
                (scan->found[k - 1].at == found.at && scan->found[k - 1].family > found.family))) {
            scan->found[k] = scan->found[k - 1];
            k--;
        }
        scan->found[k] = found;
    }
}

bool hs_families_match(const struct hs_families *families, struct hs_matching *matching,
                       const struct hs_record *record, struct hs_hits hits, hs_found_fn *take,
                       void *self)
{
    struct scan scan;

    scan.families = families;
    scan.matching = matching;
    scan.record = record;
    scan.hits = hits;
    scan.count = 0;
    scan.used = 0;
    if (record->header == HS_HEADER_NCCL &&
        hs_hot_match(families->memory, without_tail(record->text), scan.values, &scan.found[0])) {
        scan.found[0].at = (uint32_t)offset_of(&scan, record->text);
        return take(self, record, &scan.found[0]);
    }
    if (hits.count > 0)
        search_all(&scan);
    if (scan.count == 0)
        search_otherwise(&scan);
    order(&scan);
    for (uint32_t i = 0; i < scan.count; i++)
        if (!take(self, record, &scan.found[i]))
            return false;
    return true;
}

bool hs_families_warm(const struct hs_families *families)
{
    struct hs_err err = { .n = 0 };
    bool ok = true;

    for (uint32_t i = 0; ok && i < families->count; i++)
        ok = !families->rows[i].pattern ||
             hs_pattern_check(families->rows[i].pattern, &err) != HS_ENOMEM;
    return ok;
}
