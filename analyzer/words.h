/* words.h - how rows of a job are called in a sentence: operations, ranks, times, records. */
#ifndef HS_ANALYZER_WORDS_H
#define HS_ANALYZER_WORDS_H

#include "analyzer/align.h"
#include "schema/verdict.h"

/* c10d's spelling: "ALLREDUCE"; of an unknown operation its own name in capitals. */
struct hs_str hs_op_name(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                         struct hs_arena *arena);

/* The same of a signature. */
struct hs_str hs_signature_op(const struct hs_job *job, const struct hs_signature *sig,
                              struct hs_arena *arena);

/* "ALLREDUCE #41 of default_pg", "SEND 2->3 in default_pg". */
struct hs_str hs_op_label(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                          struct hs_arena *arena);

/* The same with what it carries: "ALLREDUCE #41 of default_pg (36 x Float)". */
struct hs_str hs_op_title(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                          struct hs_arena *arena);

/* "0-2, 4-7" of seats or ranks; at most twelve runs. */
struct hs_str hs_rank_text(const uint32_t *ranks, uint32_t count, struct hs_arena *arena);

/* "2025-09-23T07:35:01.123456Z"; .p NULL for 0. */
struct hs_str hs_time_text(int64_t ns, struct hs_arena *arena);

/* "07:35:01", in UTC; "" for 0. */
struct hs_str hs_clock_text(int64_t ns, struct hs_arena *arena);

/* The same of a log's time, which may lack zone, year or date: "01:49:12" as it stands there. */
struct hs_str hs_stamp_clock(int64_t ns, uint32_t clock, struct hs_arena *arena);

/* "scheduled", "started", "completed", "retired", "timed out". */
const char *hs_state_name(const struct hs_alignment *al, uint32_t seat, uint32_t op);

/* A recorded call as evidence: its source, record and a line that says it. */
struct hs_evidence hs_op_evidence(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                                  struct hs_arena *arena);

/* The watchdog's counters of a seat in a group as evidence; .excerpt.p NULL when there are none. */
struct hs_evidence hs_counter_evidence(const struct hs_alignment *al, uint32_t seat, uint32_t group,
                                       struct hs_arena *arena);

/* The operation as the contract has it. */
struct hs_verdict_operation hs_op_verdict(const struct hs_alignment *al, uint32_t seat, uint32_t op,
                                          struct hs_arena *arena);

/* "/workspace/train.py:219 evaluate". */
struct hs_str hs_frame_text(const struct hs_job *job, uint32_t frame, struct hs_arena *arena);

/* Any text of the input, and a text of the job, fit to print. */
struct hs_str hs_safe_text(struct hs_str text, struct hs_arena *arena);
struct hs_str hs_safe(const struct hs_job *job, uint32_t string, struct hs_arena *arena);

#endif
