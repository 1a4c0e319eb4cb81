/* line_reports.h - what the files that read reports share; nobody else includes it. */
#ifndef HS_ANALYZER_LINE_REPORTS_H
#define HS_ANALYZER_LINE_REPORTS_H

#include "analyzer/line_claims.h"

struct hs_reports {
    const struct hs_line_reading *r;
    uint32_t *events; /* of one family at a time */
    uint32_t count;
};

struct hs_str hs_reports_arg(const struct hs_reports *p, uint32_t event, const char *name);
/* HS_NO_POSITION: it is not there, or no number. */
uint64_t hs_reports_number(const struct hs_reports *p, uint32_t event, const char *name);
/* The events of a family in the judged attempt, in their order. */
void hs_reports_collect(struct hs_reports *p, const char *family);
/* "3, 4, 5", "{3, 4}": numbers. NULL without memory. */
uint32_t *hs_reports_ranks(const struct hs_reports *p, struct hs_str text, uint32_t *count);

/* Coordinators of frameworks say who has not come (line_coordinators.c). */
bool hs_claims_from_coordinators(struct hs_reports *p);

#endif
