/* line_lab.h - lines of text to records and families, as tests need it. */
#ifndef HS_TESTS_LINE_LAB_H
#define HS_TESTS_LINE_LAB_H

#include "parsers/envelope.h"
#include "parsers/families.h"

struct line_lab {
    struct hs_families *families;
    struct hs_matching *matching;
    struct hs_envelope envelope;
    struct hs_hit *hits;
    /* called for every record, and then for every family of it */
    bool (*record)(void *self, const struct hs_record *record);
    hs_found_fn *found;
    void *self;
    struct hs_buf *show; /* line_dump only */
};

/* Aborts with a message when the families cannot be read. */
void line_lab_init(struct line_lab *lab);
void line_lab_release(struct line_lab *lab);

/* One physical line, or the end of the file. */
void line_lab_line(struct line_lab *lab, struct hs_str text, uint64_t number);
void line_lab_end(struct line_lab *lab);

#endif
