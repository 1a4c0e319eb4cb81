/* batch.h - what the files batch*.c share. */
#ifndef HS_ANALYZER_BATCH_H
#define HS_ANALYZER_BATCH_H

#include "analyzer/commands/command.h"
#include "fleet/find_jobs.h"
#include "schema/store_fleet.h"

/* What a batch judges, and with what. */
struct hs_batch {
    const struct hs_options *options;
    struct hs_found_jobs jobs;
    uint32_t *todo; /* jobs that are not known as they are */
    uint32_t todo_count;
    struct hs_fleet *fleet;
    struct hs_families *families;
    struct hs_rules own_rules; /* empty if there are --rules, which hold them */
    struct hs_str tool;        /* the program, and rules that were given */
    char kept[4096];           /* folder of --keep */
    struct hs_buf page_room;   /* of a template that was read */
    struct hs_str page;        /* the page without data, for --keep report */
    struct hs_arena arena;
};

/* Judge the job todo[at] in a process of its own: batch_judge.c. `message`: the row, or why not. */
int hs_batch_judge(const struct hs_batch *batch, uint32_t at, struct hs_buf *message);

/* What came of it, for people: batch_summary.c. `judged` jobs are new. */
enum hs_status hs_batch_summary(const struct hs_batch *batch, uint32_t judged, double seconds,
                                struct hs_err *err);

/* Whether a job of this batch has one of the verdicts of --fail-on. */
enum hs_status hs_batch_fails(const struct hs_batch *batch, bool *fails, struct hs_err *err);

#endif
