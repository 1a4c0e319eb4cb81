/* driver.h - reads everything that was found into one job: workers, limits, choice of the parser.
 */
#ifndef HS_PARSERS_DRIVER_H
#define HS_PARSERS_DRIVER_H

#include "parsers/parser.h"
#include "parsers/source.h"

/* Called now and then from a worker with how far reading has come; may be NULL. */
typedef void hs_progress_fn(void *self, uint32_t inputs_done, uint32_t inputs);

struct hs_read_options {
    const struct hs_parser *parser;     /* for everything; NULL: whoever bids most */
    unsigned workers;                   /* 0: one per CPU */
    const struct hs_families *families; /* read by the caller; NULL: read when a text is met */
    hs_progress_fn *progress;
    void *progress_self;
};

/* The parser called `name`; NULL when there is none. */
const struct hs_parser *hs_parser_find(const char *name);

/*
 * Read all inputs into `out` (initialised, empty). What is odd about an input is a diagnostic in
 * the job; only running out of memory is a failure.
 */
enum hs_status hs_read_inputs(const struct hs_inputs *inputs, const struct hs_read_options *options,
                              struct hs_job *out, struct hs_err *err);

#endif
