/* line_waits_internal.h - what the files that gather waits share; nobody else includes it. */
#ifndef HS_ANALYZER_LINE_WAITS_INTERNAL_H
#define HS_ANALYZER_LINE_WAITS_INTERNAL_H

#include "analyzer/line_waits.h"

struct place_in_file {
    uint32_t source;
    uint64_t line;
};

struct gathering {
    const struct hs_job *job;
    const struct hs_identity *identity;
    uint32_t attempt;
    struct hs_line_waits *out;
    uint32_t *latest;   /* by voice: its latest wait */
    uint32_t *previous; /* by wait: the one before it of the same voice */
    uint32_t previous_cap;
    struct list {
        uint32_t *items, count, cap;
    } alive, seen, waiting, failed, ended, cut_off;
    struct list failing;                            /* events */
    uint32_t rows, heads;                           /* of a benchmark's table */
    struct place_in_file benchmark, benchmark_done; /* where the latest began, and ended */
    bool no_memory;
};

/* How an event of a family is taken; ends with a NULL family. */
struct hs_wait_taker {
    const char *family;
    void (*take)(struct gathering *g, uint32_t event);
};

extern const struct hs_wait_taker hs_wait_takers[];

enum { HS_WAIT_TAKERS_MAX = 64 };

void hs_gather(struct gathering *g, struct list *list, uint32_t item);

#endif
