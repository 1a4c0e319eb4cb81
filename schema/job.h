/*
 * job.h - a job in memory: what was read, as tables of plain rows.
 *
 * Parsers append to a part (one per worker); hs_job_finish() puts parts together into one job in
 * an order that depends on nothing but the input: sources by name, dumps by rank, ids by first use
 * in that order. The analyzer reads a finished job and never changes it.
 *
 * Rows refer to each other by number (u32; HS_NO_ID is "none"). Text and lists are interned, so
 * equal ids mean equal content within one job. Times are nanoseconds since the epoch of the host
 * that wrote them; 0 is unknown.
 */
#ifndef HS_SCHEMA_JOB_H
#define HS_SCHEMA_JOB_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "schema/event.h"
#include "schema/operation.h"

#define HS_NO_POSITION UINT64_MAX

/* A file, or a member of an archive. */
struct hs_source_row {
    uint32_t name;       /* string */
    const char *format;  /* of the parser that took it; NULL: nobody did */
    uint64_t size_bytes; /* decompressed */
    uint64_t content;    /* hash of its bytes: equal files are one */
    uint32_t records, diagnostics;
    uint32_t bids; /* list: bits verified by each parser, in the order of the registry */
};

/* Input that could not be understood, or was odd. A fact about the input, not a failure. */
struct hs_diagnostic {
    const char *code; /* static; a topic of schema/messages.h */
    uint32_t source;
    uint32_t excerpt;      /* string, fit to print */
    uint64_t offset_bytes; /* HS_NO_POSITION: unknown */
    uint64_t record;       /* the dump's record_id; HS_NO_POSITION: unknown */
};

/* What operations have in common, told once. */
struct hs_signature {
    const struct hs_operation_kind *kind;
    uint32_t name;                /* string as recorded: "nccl:all_reduce" */
    uint32_t backend;             /* string: "nccl"; "" when the name has no prefix */
    uint32_t bare;                /* string: "all_reduce", "send 0->1" */
    uint64_t numel_in, numel_out; /* elements over all tensors */
    uint32_t tensors_in, tensors_out;
    uint32_t dtypes_in, dtypes_out; /* string: "Float", "Float, Long"; "" when none is recorded */
    uint32_t shapes_in, shapes_out; /* string: "[1024, 512]"; several joined by " " */
    uint32_t timeout_ms;            /* 0: unknown */
    uint32_t self, peer;            /* group ranks of a send or receive; HS_NO_ID otherwise */
    uint32_t root;                  /* group rank; HS_NO_ID: it has none, or that is unknown */
};

struct hs_frame {
    uint32_t function, file; /* strings */
    uint32_t line;
};

enum hs_operation_state {
    HS_STATE_UNKNOWN,
    HS_STATE_SCHEDULED,
    HS_STATE_STARTED,
    HS_STATE_COMPLETED
};

#define HS_OPERATION_STATE 3u   /* mask: enum hs_operation_state */
#define HS_OPERATION_RETIRED 4u /* the watchdog is done with it */
#define HS_OPERATION_P2P 8u     /* is_p2p as recorded */
#define HS_OPERATION_SIZED 16u  /* it has tensors: sizes are set */
/* mask: enum hs_reduction; no recorder tells it, lines of NCCL do */
#define HS_OPERATION_REDUCTION 0xe0u
enum { HS_OPERATION_REDUCTION_SHIFT = 5 };

/* How elements are put together, in NCCL's order; what nothing tells is a sum. */
enum hs_reduction { HS_SUM, HS_PROD, HS_MAX, HS_MIN, HS_AVG, HS_REDUCTIONS };

/* One recorded call, 40 bytes; the row that there are many of. */
struct hs_operation {
    int64_t created_ns;
    uint32_t record;  /* record_id: position in this process's recorder; of a log: the line */
    uint32_t seq;     /* collective sequence number in its group; 0: none */
    uint32_t p2p_seq; /* 0: none */
    uint32_t signature;
    uint32_t stack;       /* HS_NO_ID: not recorded */
    uint32_t finished_us; /* from created to seen finished; 0: not, or unknown */
    uint16_t member;      /* group, as an index into the dump's members */
    uint8_t flags;
    uint8_t unused;
    float duration_ms; /* on the device; 0: unknown */
};

/* Whoever goes through all operations waits for memory most of the time, since others wrote them:
 * ask for a row some way ahead. No more than a hint, so that it may lie past the end. */
static inline void hs_operation_expect(const struct hs_operation *op)
{
    enum { ROWS_AHEAD = 32 };

    __builtin_prefetch((const char *)op + ROWS_AHEAD * sizeof(*op));
}

/* A process group as one dump knows it. */
struct hs_member {
    uint32_t dump;
    uint32_t name, desc;   /* strings; NO_ID: the dump has none (versions before 2.0) */
    uint32_t backend;      /* string; HS_NO_ID while no operation shows it */
    uint32_t ranks;        /* list of global ranks in group order; HS_NO_ID: unknown */
    int32_t local_id;      /* the process's own number for it; -1: unknown */
    uint32_t communicator; /* row, where the group is one that lines name; HS_NO_ID */
    uint32_t stream;       /* of the device, numbered in the process from 0; HS_NO_ID: unknown */
    int64_t enqueued, started, completed; /* the watchdog's counters; -1: none; see has_status */
    bool has_status;
};

/* A flight-recorder dump: one process at one moment. */
struct hs_dump {
    uint32_t source;
    uint32_t rank;                       /* from the file name; HS_NO_ID: unknown */
    uint32_t host;                       /* string; HS_NO_ID: unknown */
    uint32_t speaker;                    /* whose lines it was read from; HS_NO_ID: a recorder */
    uint32_t version;                    /* major * 1000 + minor; 0: older than versions */
    uint32_t library;                    /* string: NCCL's version; HS_NO_ID: unknown */
    uint32_t first_member, member_count; /* in job->members */
    struct hs_operation *operations;     /* oldest first; owned */
    uint32_t operation_count;
    int64_t first_ns, last_ns; /* earliest creation, latest stamp of any kind; 0: none */
    bool cut_short;            /* the file ended early */
    bool has_entries_key;      /* it was made with its list of operations */
};

/* Lines of a text that a rule may cite, packed; see text_blocks.h. */
struct hs_text_block {
    uint32_t source;
    uint32_t line_count; /* records: folded lines count once */
    uint64_t first_line, last_line;
    struct hs_str packed; /* zstd; in hs_job.texts */
};

struct hs_job {
    struct hs_intern strings;
    struct hs_intern lists; /* of u32, as bytes */
    struct hs_intern signatures_keys, frames_keys, stacks_keys, args_keys;
    struct hs_signature *signatures; /* by id */
    uint32_t signature_cap;
    uint32_t *key; /* scratch: the key of the signature being put */
    uint32_t key_count, key_cap;
    struct hs_source_row *sources;
    uint32_t source_count, source_cap;
    struct hs_diagnostic *diagnostics;
    uint32_t diagnostic_count, diagnostic_cap;
    struct hs_member *members;
    uint32_t member_count, member_cap;
    struct hs_dump *dumps;
    uint32_t dump_count, dump_cap;
    struct hs_text_block *text_blocks; /* by source and line */
    uint32_t text_block_count, text_block_cap;
    struct hs_arena texts;
    /* what lines say (event.h); the rows of a source lie together */
    struct hs_speaker *speakers;
    uint32_t speaker_count, speaker_cap;
    struct hs_event *events;
    uint32_t event_count, event_cap;
    struct hs_communicator *communicators;
    uint32_t communicator_count, communicator_cap;
    struct hs_link *links;
    uint32_t link_count, link_cap;
    struct hs_fact *facts;
    uint32_t fact_count, fact_cap;
    bool simulated; /* made by a dry run: times are only an order, groups count for themselves */
};

/* What the user says of a job and the input may not: kept with it in a database. */
struct hs_rank_place {
    uint32_t rank;
    struct hs_str host;
    uint32_t gpu; /* HS_NO_ID: unknown */
};

struct hs_job_options {
    uint64_t world_size;                /* 0: unknown */
    const struct hs_rank_place *places; /* --rank-map, sorted by rank */
    uint32_t place_count;
    const struct hs_rules *rules;     /* --rules: with the program's own; NULL: these alone */
    const struct hs_rules *own_rules; /* the program's, read by the caller for many jobs; or NULL */
};

/* By rank, for qsort() and bsearch() over places. */
int hs_rank_place_compare(const void *a, const void *b);

void hs_job_init(struct hs_job *job);
void hs_job_release(struct hs_job *job);

static inline struct hs_str hs_job_string(const struct hs_job *job, uint32_t id)
{
    return id == HS_NO_ID ? (struct hs_str){ .p = "" } : hs_intern_get(&job->strings, id);
}

/* A list of u32; `count` of them. NULL and 0 for HS_NO_ID. */
const uint32_t *hs_job_list(const struct hs_job *job, uint32_t id, uint32_t *count);

/* The arguments of an event: `count` strings, name and value by twos; and the value of one. */
const uint32_t *hs_job_args(const struct hs_job *job, uint32_t id, uint32_t *count);
struct hs_str hs_job_arg(const struct hs_job *job, uint32_t id, const char *name);

bool hs_job_list_has(const struct hs_job *job, uint32_t id, uint32_t item);

/* The frames of a stack, innermost first. */
const struct hs_frame *hs_job_frame(const struct hs_job *job, uint32_t frame_id);
const uint32_t *hs_job_stack(const struct hs_job *job, uint32_t stack_id, uint32_t *count);

/* ---- appending: HS_NO_ID or false without memory ---- */

uint32_t hs_job_add_source(struct hs_job *job, struct hs_str name);
bool hs_job_add_diagnostic(struct hs_job *job, const struct hs_diagnostic *row);
uint32_t hs_job_put_list(struct hs_job *job, const uint32_t *items, uint32_t count);
uint32_t hs_job_put_frame(struct hs_job *job, const struct hs_frame *frame);
uint32_t hs_job_put_stack(struct hs_job *job, const uint32_t *frame_ids, uint32_t count);

uint32_t hs_job_put_args(struct hs_job *job, const uint32_t *strings, uint32_t count);

/* The rows of a line table, and one more of them (`row` has its layout). */
void *hs_job_rows(const struct hs_job *job, const struct hs_line_table *table, uint32_t *count);
bool hs_job_add_row(struct hs_job *job, const struct hs_line_table *table, const void *row);

/* All rows of a table of one job become those of another, which has none. */
void hs_job_move_rows(struct hs_job *from, struct hs_job *to, const struct hs_line_table *table);

/* Room for `n` > 0 more rows, to be filled; NULL without memory. */
void *hs_job_add_rows(struct hs_job *job, const struct hs_line_table *table, uint32_t n);

/* The tensors of one side of an operation, as the parser met them. */
struct hs_tensors {
    const int64_t *sizes; /* for each tensor: its number of dimensions, then the dimensions */
    uint32_t size_count;  /* entries of `sizes` in all */
    uint32_t tensors;
    const uint32_t *dtypes; /* strings */
    uint32_t dtype_count;
};

uint32_t hs_job_put_signature(struct hs_job *job, uint32_t name, uint32_t timeout_ms,
                              const struct hs_tensors *in, const struct hs_tensors *out);

/* The same from the key of a signature (as interned in signatures_keys), as a database keeps it.
 * HS_NO_ID also when `words` is not such a key. */
uint32_t hs_job_put_signature_key(struct hs_job *job, const uint32_t *words, uint32_t count);

/*
 * Put parts together into `out` (initialised, empty). Parts are emptied of what moved, and still
 * have to be released. Equal sources (same bytes) stay in `sources`; only the first keeps its dump,
 * the others get the diagnostic "duplicate-file".
 */
enum hs_status hs_job_finish(struct hs_job *parts, uint32_t count, struct hs_job *out,
                             struct hs_err *err);

#endif
