/*
 * job_lab.h - small jobs for the tests, written as text, and what the analyzer makes of them.
 *
 * A dump is a line of words, oldest call first:
 *
 *   all_reduce#3+          a call in the first group with this sequence number, and how it ended:
 *                          + completed, * retired but not completed, ~ started, ! completed after
 *                          the timeout; nothing: scheduled
 *   tp:broadcast#1         the same in the group "tp"
 *   send>1/4 recv<2#3/5    to and from a group rank; after the slash the point-to-point number
 *   end/4+                 the entry that ends a batch
 *   tp=9,9,8               the watchdog's counters of a group: enqueued, started, completed
 *   @70                    the records of the ring begin at this number
 *   cut                    the file ended early
 *   wait=600               the last stamp is this many seconds after the last call
 */
#ifndef HS_TESTS_JOB_LAB_H
#define HS_TESTS_JOB_LAB_H

#include "analyzer/waits.h"

enum { LAB_GROUPS = 8 };

struct lab_group {
    const char *name, *backend;
    uint32_t ranks[16];
    uint32_t size;
};

struct job_lab {
    struct lab_group groups[LAB_GROUPS];
    uint32_t group_count;
    struct hs_job part, job;
    struct hs_alignment al;
    struct hs_waits waits;
    bool finished, aligned;
};

void lab_begin(struct job_lab *lab);
void lab_end(struct job_lab *lab);

/* A group of the job: "0 1 2 3". The first is the default group. */
void lab_group(struct job_lab *lab, const char *name, const char *backend, const char *ranks);

void lab_dump(struct job_lab *lab, uint32_t rank, const char *words);

/* The parts become lab->job; after that no more dumps. */
void lab_finish(struct job_lab *lab);

/* lab_finish(), then align all dumps and build the graph of waits. */
void lab_align(struct job_lab *lab);

/* The unit that a rank is blocked in; NULL: none. */
const struct hs_unit *lab_head(const struct job_lab *lab, uint32_t rank);

/* Who holds the head of a rank, as "0 absent, 2 earlier"; valid until the next call. */
const char *lab_holders(const struct job_lab *lab, uint32_t rank);

/* What `hangscope analyze --json` would print; the caller frees it. */
char *lab_json(const struct hs_job *job);

#endif
