/* report.h - what the page of a job shows, derived from how it was judged (schema/report.h). */
#ifndef HS_ANALYZER_REPORT_H
#define HS_ANALYZER_REPORT_H

#include "analyzer/telling.h"
#include "schema/report.h"

/* False without memory; the caller ends `out` with hs_report_release() in any case. */
bool hs_report_derive(const struct hs_judged *j, const struct hs_verdict *v,
                      const struct hs_report_wanted *wanted, struct hs_report *out);

#endif
