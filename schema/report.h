/*
 * report.h - what the page of a job shows, as plain data. The analyzer fills it, a renderer prints
 * it; the meaning of every number is in docs/formats/report-data.md.
 *
 * Rows refer to each other by number; HS_NO_ID is "none". Texts are fit to print. Times are
 * nanoseconds since the epoch on corrected clocks; 0 is unknown. All memory belongs to the report,
 * or to the job or the verdict that it was made of.
 */
#ifndef HS_SCHEMA_REPORT_H
#define HS_SCHEMA_REPORT_H

#include "schema/verdict.h"

/* Low bits of a cell: what a rank did with a call. */
enum hs_cell_state {
    HS_CELL_NONE, /* no such call on this rank */
    HS_CELL_COMPLETED,
    HS_CELL_STARTED,
    HS_CELL_SCHEDULED,
    HS_CELL_MADE,     /* made; how far it came is unknown */
    HS_CELL_MISSING,  /* others wait in it or before it, and this rank has not made it */
    HS_CELL_MISMATCH, /* made another call under this number */
    HS_CELL_HUNG,     /* the verdict's operation, unfinished */
    HS_CELL_PASSED,   /* made; no longer on record */
    HS_CELL_UNKNOWN
};

enum { HS_CELL_LATE_SHIFT = 4 }; /* above it: the step of lateness, 0 to 5 */

/* What a rank has to do with the verdict. */
enum hs_report_role {
    HS_ROLE_NONE,
    HS_ROLE_CULPRIT,
    HS_ROLE_DIRECT, /* waits in the verdict's operation */
    HS_ROLE_WAITS,  /* waits elsewhere */
    HS_ROLE_DONE,   /* nothing unfinished */
    HS_ROLE_UNSEEN, /* nothing is known of it */
};

enum hs_report_flag {
    HS_REPORT_DUMP = 1,
    HS_REPORT_LOG = 2,
    HS_REPORT_CUT = 4,
    HS_REPORT_OLDER = 8,
    HS_REPORT_STALE = 16,
    HS_REPORT_LOST = 32,
};

#define HS_NO_DURATION INT64_MIN /* of a lateness: it cannot be told */

struct hs_report_rank {
    uint32_t rank, host, gpu, fold;        /* fold: class */
    uint32_t source, calls, pending;       /* of its dump */
    uint32_t group, seq, signature, stack; /* where it stands */
    uint32_t last;                         /* so many collectives it came to last */
    uint8_t role, flags, state;
    int64_t since_ns, finished_ns;
    int64_t late_ns; /* mean; HS_NO_DURATION */
};

/* Ranks that are told as one. */
struct hs_report_class {
    const uint32_t *ranks;
    uint32_t rank_count;
    uint32_t example;     /* row of hs_report.ranks */
    uint32_t group_count; /* they stand in so many groups, of one kind */
    uint32_t stack;
    uint8_t role;
    struct hs_phrase where;
    struct hs_str host;       /* .p NULL: several or unknown */
    struct hs_str stack_text; /* where no stack is recorded; .p NULL */
};

struct hs_report_signature {
    struct hs_str op, recorded, dtype_in, dtype_out, shape_in, shape_out;
    uint64_t numel_in, numel_out;
    uint32_t timeout_ms, src, dst;
};

struct hs_report_frame {
    struct hs_str function, file;
    uint32_t line;
    bool user;
};

struct hs_report_stack {
    const uint32_t *frames;
    uint32_t count;
};

struct hs_report_group {
    struct hs_str label, name, desc, backend; /* .p NULL: unknown */
    uint32_t size, kind, finished, proved;
    bool pairs, assumed;
};

enum hs_matrix_kind { HS_MATRIX_COLLECTIVES, HS_MATRIX_PAIRS, HS_MATRIX_OVERALL };

struct hs_report_matrix {
    uint32_t group; /* HS_NO_ID: overall */
    uint32_t column_set;
    uint32_t first_member, members;
    uint32_t hang; /* column of the verdict's operation; HS_NO_ID */
    uint32_t tail; /* so many of the last columns have exact times */
    uint32_t first_tail_column;
    uint8_t kind;
};

struct hs_report_member {
    uint32_t rank; /* row of hs_report.ranks */
    uint32_t row, tail;
};

struct hs_report_tail_column {
    int64_t first_ns;
    int64_t late_ns; /* HS_NO_DURATION */
    uint32_t last;   /* row of hs_report.ranks */
};

/* One call of one rank, exactly. */
struct hs_report_record {
    uint32_t rank, group, record, seq, p2p, signature, stack, lasted_us;
    uint8_t state;
    int64_t created_ns;
    float duration_ms;
};

struct hs_report_arrival {
    uint32_t group, rank, last, of;
    int64_t median_late_ns, max_late_ns;
    int64_t bound_ns; /* HS_NO_DURATION: clocks are not tied */
    bool habitual;
};

struct hs_report_clock {
    struct hs_str host;          /* .p NULL: of a dump whose host is unknown */
    uint32_t rank;               /* of that dump: row of hs_report.ranks */
    int64_t offset_ns, bound_ns; /* HS_NO_DURATION */
    uint32_t ties;
    bool reference, contradicted;
};

struct hs_report_edge {
    uint32_t from, to; /* classes */
    uint32_t group, seq;
    uint32_t waiters, holders, operations;
    struct hs_str operation;
    const char *how;
};

struct hs_report_root {
    const char *kind;
    const uint32_t *classes, *ranks;
    uint32_t class_count, rank_count, reach;
    struct hs_str operation; /* .p NULL */
};

struct hs_report_cycle {
    const uint32_t *classes, *ranks, *odd;
    uint32_t class_count, rank_count, odd_count, groups;
};

/* Rings of a communicator that go the same way. */
struct hs_report_ring {
    const uint32_t *channels, *order;
    uint32_t channel_count, order_count;
};

struct hs_report_transport {
    struct hs_str kind, via;
    uint32_t links, channels;
};

struct hs_report_communicator {
    uint64_t id; /* 0: unknown */
    uint32_t size, seen;
    const char *how;
    const uint32_t *ranks; /* global, by rank in it; HS_NO_ID; NULL: unknown */
    struct hs_report_ring *rings;
    struct hs_report_transport *transports;
    uint32_t ring_count, transport_count;
};

struct hs_report_value {
    struct hs_str value;
    const uint32_t *hosts, *ranks; /* numbers of hs_report.hosts; global ranks */
    const uint32_t *sources;       /* where nobody is known to have said it */
    uint32_t host_count, rank_count, source_count, lines;
};

/* A setting, version or device, and who has which. */
struct hs_report_setting {
    struct hs_str name;
    struct hs_report_value *values;
    uint32_t value_count;
    bool differs;
};

struct hs_report_line {
    uint64_t first, last;
    uint32_t count;
    struct hs_str text;
};

/* The log around a line that the verdict cites. */
struct hs_report_context {
    uint32_t finding, evidence; /* of the verdict */
    struct hs_report_line *lines;
    uint32_t line_count, at;
};

struct hs_report_diagnostic {
    const char *code;
    uint32_t source;
    uint64_t record, offset_bytes; /* HS_UNKNOWN */
    struct hs_str excerpt;
};

struct hs_report {
    struct hs_arena arena;
    int64_t origin_ns;
    bool zone;     /* times are since the epoch */
    bool by_place; /* classes are by where ranks stand, since by calls there were too many */
    struct hs_intern hosts;       /* names */
    struct hs_report_rank *ranks; /* by rank */
    struct hs_report_class *classes;
    struct hs_report_signature *signatures;
    struct hs_report_frame *frames;
    struct hs_report_stack *stacks;
    struct hs_report_group *groups;
    struct hs_str *kinds;
    struct hs_report_matrix *matrices;
    struct hs_report_member *members;
    struct hs_report_tail_column *tail_columns;
    struct hs_report_record *records;
    uint32_t *record_ranks; /* rows of ranks */
    struct hs_report_arrival *arrivals;
    struct hs_report_clock *clocks;
    struct hs_report_edge *edges;
    struct hs_report_root *roots;
    struct hs_report_cycle *cycles;
    struct hs_report_communicator *communicators;
    struct hs_report_setting *settings;
    struct hs_report_context *contexts;
    struct hs_report_diagnostic *diagnostics;
    uint32_t rank_count, class_count, signature_count, frame_count, stack_count;
    uint32_t group_count, kind_count, matrix_count, member_count, tail_column_count, record_count;
    uint32_t record_rank_count, arrival_count, clock_count, edge_count, root_count, cycle_count;
    uint32_t communicator_count, setting_count, context_count, diagnostic_count;
    uint64_t compared; /* collectives that all members have on record */
    /* what limits left out */
    uint64_t columns_left, records_left, ranks_left, diagnostics_left;
    /* Bytes, equal ones once. Column sets: numbers, then signatures, u32 each; rows: a cell a byte;
     * tails: for each column when it was made, then how long it took, us in u32 each. */
    struct hs_intern column_sets, rows, tails;
};

/* Whose calls are told exactly, beside the verdict's ranks; NULL: one rank of each class. */
struct hs_report_wanted {
    const uint32_t *ranks; /* sorted */
    uint32_t rank_count;
};

void hs_report_release(struct hs_report *report);

#endif
