/*
 * row_lab.h - small jobs for the tests, as rows that lines of text would become.
 *
 * Rows are written as words, name=value. A source begins with row_source(), its rows follow;
 * sources are named in rising order, so that numbers stay what they are when the job is finished.
 *
 *   speaker   host= pid= tag= launcher= file= ranktask= task= local= dev= lines=FROM-TO count=
 *   event     line= last= count= at=SECONDS and the arguments of the event
 *   end       ptr= epoch= rank= size= id= parent= split= color= start=LINE complete= end=
 *             began=SECONDS done= of a communicator
 */
#ifndef HS_TESTS_ROW_LAB_H
#define HS_TESTS_ROW_LAB_H

#include "analyzer/identity.h"

struct row_lab {
    struct hs_job part, job;
    struct hs_identity id;
    uint32_t clock; /* enum hs_clock, of stamps that follow */
    bool finished;
};

void row_begin(struct row_lab *lab);
void row_end(struct row_lab *lab);

uint32_t row_source(struct row_lab *lab, const char *name);
uint32_t row_speaker(struct row_lab *lab, const char *words);
uint32_t row_event(struct row_lab *lab, uint32_t speaker, const char *family, const char *words);
uint32_t row_comm(struct row_lab *lab, uint32_t speaker, const char *words);
void row_fact(struct row_lab *lab, uint32_t speaker, const char *name, const char *value);

/* The rows become a job, and its identity is found. */
void row_finish(struct row_lab *lab);

/*
 * The process of a speaker at a line, as "rank-tag 3 @0 node-a:4242/1": how its rank is known, the
 * rank, the attempt, host, pid and local rank, "-" for what is unknown; "nobody". Valid until the
 * next call but three.
 */
const char *row_who(const struct row_lab *lab, uint32_t speaker, uint64_t line);
const char *row_process(const struct row_lab *lab, uint32_t process);

#endif
