/* analyze.h - a finished job in, a verdict out. No globals, no output, no exit. */
#ifndef HS_ANALYZER_ANALYZE_H
#define HS_ANALYZER_ANALYZE_H

#include "analyzer/align.h"
#include "schema/derived.h"
#include "schema/report.h"
#include "schema/verdict.h"

/*
 * Judge the last failed attempt of a job (the last one if none failed). On success the caller ends
 * `out` with hs_verdict_release(). The job is only read.
 */
enum hs_status hs_analyze(const struct hs_job *job, const struct hs_job_options *options,
                          struct hs_verdict *out, struct hs_err *err);

/* What is wanted besides the verdict; NULL: it is not. */
struct hs_analysis {
    struct hs_derived *derived; /* for a database; the caller ends it with hs_derived_release() */
    struct hs_report *report;   /* for the page; with hs_report_release() */
    const struct hs_report_wanted *wanted;
};

/* The same, with more. */
enum hs_status hs_analyze_more(const struct hs_job *job, const struct hs_job_options *options,
                               struct hs_verdict *out, const struct hs_analysis *more,
                               struct hs_err *err);

#endif
