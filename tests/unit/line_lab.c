#include "line_lab.h"

#include <stdlib.h>

#define HITS_MAX 65536u

void line_lab_init(struct line_lab *lab)
{
    struct hs_err err = { .n = 0 };

    memset(lab, 0, sizeof(*lab));
    hs_envelope_init(&lab->envelope);
    lab->matching = hs_matching_new();
    lab->hits = malloc(HITS_MAX * sizeof(*lab->hits));
    if (lab->matching && lab->hits && hs_families_new(&lab->families, &err) == HS_OK)
        return;
    hs_err_print(&err, stderr);
    abort();
}

void line_lab_release(struct line_lab *lab)
{
    hs_families_free(lab->families);
    hs_matching_free(lab->matching);
    hs_envelope_release(&lab->envelope);
    free(lab->hits);
}

/* What split() needs besides the lab. */
struct segment_hits {
    struct line_lab *lab;
    size_t count;
};

static bool take_record(void *self, const struct hs_record *record)
{
    const struct segment_hits *all = self;
    struct line_lab *lab = all->lab;

    if (lab->record && !lab->record(lab->self, record))
        return false;
    return hs_families_match(lab->families, lab->matching, record,
                             (struct hs_hits){ lab->hits, all->count }, lab->found, lab->self);
}

static bool take_segment(void *self, const struct hs_segment *segment)
{
    struct line_lab *lab = self;
    struct hs_hit *marks = malloc(HITS_MAX * sizeof(*marks));
    size_t found = hs_literals_find(lab->families->literals, segment->text, lab->hits, HITS_MAX);
    struct segment_hits all = { .lab = lab, .count = found < HITS_MAX ? found : HITS_MAX };
    size_t mark_count = 0;
    bool more;

    if (!marks)
        abort();
    for (size_t i = 0; i < all.count; i++)
        if (lab->hits[i].literal < lab->families->mark_count)
            marks[mark_count++] = lab->hits[i];
    more = hs_envelope_split(&lab->envelope, segment, marks, mark_count, take_record, &all);
    free(marks);
    return more;
}

void line_lab_line(struct line_lab *lab, struct hs_str text, uint64_t number)
{
    (void)hs_envelope_line(&lab->envelope, text, number, 0, take_segment, lab);
}

void line_lab_end(struct line_lab *lab)
{
    (void)hs_envelope_end(&lab->envelope, take_segment, lab);
}
