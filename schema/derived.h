/*
 * derived.h - what the analyzer derived from a job, as rows to be stored beside it (tables.def).
 *
 * Derived rows are written and shown, never loaded: whoever loads a job derives them again, so that
 * merged shards give the same verdict by construction.
 */
#ifndef HS_SCHEMA_DERIVED_H
#define HS_SCHEMA_DERIVED_H

#include "schema/job.h"

struct hs_group_row {
    struct hs_str label;
    uint32_t name, desc, backend; /* strings */
    uint32_t size, proved, finished;
    bool has_pairs;
};

struct hs_frontier_row {
    uint32_t rank, group;
    uint32_t
        member; /* of the dump that speaks for the rank; HS_NO_ID: it does not know the group */
    uint32_t entered, finished, calls;
    uint32_t last_signature, last_stack; /* HS_NO_ID: nothing recorded */
};

struct hs_wait_row {
    uint32_t rank, group, seq;
    int64_t operation; /* operation.id */
    uint32_t holder;   /* HS_NO_ID: nobody */
    const char *how;
};

struct hs_arrival_row {
    uint32_t group, seq, last_rank;
    int64_t first_ns, late_ns;
};

struct hs_mismatch_row {
    uint32_t group, seq, rank, side, signature;
};

struct hs_process_row {
    uint32_t attempt, rank, pid, local_rank, source; /* HS_NO_ID: unknown */
    uint32_t lines;
    const char *how; /* how the rank is known */
    struct hs_str host;
    uint64_t line;
};

/* Lines of a speaker from `first_line` on, up to its next row. */
struct hs_voice_row {
    uint32_t speaker, attempt, process; /* HS_NO_ID: unknown */
    uint64_t first_line;
};

/* Whom an event is about, mostly who said it: one row per event, in their order. */
struct hs_heard_row {
    uint32_t process; /* HS_NO_ID: nobody in particular */
};

/* An NCCL communicator across its ranks, and the end of a process in it. */
struct hs_comm_row {
    uint64_t comm_id;
    uint32_t attempt, size, parent; /* HS_NO_ID: unknown, none */
    uint32_t seen, ends;
    const char *how; /* its ends are known to belong together */
    bool computed, world;
};

struct hs_comm_end_row {
    uint32_t comm, communicator, process, rank; /* HS_NO_ID: unknown */
    const char *state;
};

/* The clock of a host, or of a process or source whose host is unknown. */
struct hs_clock_row {
    struct hs_str host;
    uint32_t process, source; /* HS_NO_ID */
    uint32_t kind, reference, ties;
    int64_t offset_ns, bound_ns;
    bool contradicted;
};

/* Arrays live in `arena`. */
struct hs_derived {
    struct hs_arena arena;
    struct hs_comm_row *comms;
    struct hs_comm_end_row *comm_ends;
    struct hs_clock_row *clocks;
    uint32_t comm_count, comm_end_count, clock_count;
    struct hs_process_row *processes;
    struct hs_voice_row *voices;
    struct hs_heard_row *heard;
    uint32_t process_count, voice_count, heard_count;
    struct hs_group_row *groups;
    struct hs_frontier_row *frontiers;
    struct hs_wait_row *waits;
    struct hs_arrival_row *arrivals;
    struct hs_mismatch_row *mismatches;
    uint32_t group_count, frontier_count, wait_count, arrival_count, mismatch_count;
};

void hs_derived_release(struct hs_derived *derived);

#endif
