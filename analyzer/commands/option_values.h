/* option_values.h - how values of options are read; the table is in options.c. */
#ifndef HS_ANALYZER_OPTION_VALUES_H
#define HS_ANALYZER_OPTION_VALUES_H

#include "analyzer/commands/command.h"

typedef enum hs_status hs_option_fn(struct hs_options *o, const char *value, struct hs_err *err);

/* HS_EUSAGE: "FLAG: 'VALUE' is not WANT". */
enum hs_status hs_option_bad(struct hs_err *err, const char *flag, const char *value,
                             const char *want);

/* A number from 1 to `max`. */
bool hs_option_count(const char *value, uint64_t max, uint64_t *out);

/* Of plan, replay and emit (options_replay.c). */
hs_option_fn hs_option_window;
hs_option_fn hs_option_fold;
hs_option_fn hs_option_ranks;
hs_option_fn hs_option_semantics;
hs_option_fn hs_option_what_if;
hs_option_fn hs_option_replay_backend;
hs_option_fn hs_option_emit_backend;
hs_option_fn hs_option_deadline;
hs_option_fn hs_option_scale;

/* Of timeline (options_timeline.c). */
hs_option_fn hs_option_span;
hs_option_fn hs_option_trace_format;

/* Of batch and fleet (options_batch.c). */
hs_option_fn hs_option_job_glob;
hs_option_fn hs_option_shard;
hs_option_fn hs_option_keep;
hs_option_fn hs_option_timeout;
hs_option_fn hs_option_job_memory;
hs_option_fn hs_option_export_format;

#endif
