/* analyze.h - a finished job in, a verdict out. No globals, no output, no exit. */
#ifndef HS_ANALYZER_ANALYZE_H
#define HS_ANALYZER_ANALYZE_H

#include "analyzer/align.h"
#include "schema/derived.h"
#include "schema/verdict.h"

/*
 * Judge the last failed attempt of a job (the last one if none failed). On success the caller ends
 * `out` with hs_verdict_release(). The job is only read.
 */
enum hs_status hs_analyze(const struct hs_job *job, const struct hs_job_options *options,
                          struct hs_verdict *out, struct hs_err *err);

/* The same, with the derived tables for a database; the caller ends them with hs_derived_release().
 */
enum hs_status hs_analyze_tables(const struct hs_job *job, const struct hs_job_options *options,
                                 struct hs_verdict *out, struct hs_derived *derived,
                                 struct hs_err *err);

#endif
