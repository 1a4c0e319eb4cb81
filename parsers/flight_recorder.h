/*
 * flight_recorder.h - the inside of the flight-recorder parser, shared by its files.
 *
 * A dump is one process's ring of recorded calls with its groups and counters, as pickle or JSON.
 * Format and traps: docs/formats/flight-recorder.md; source: torch/csrc/distributed/c10d/
 * FlightRecorder.hpp of PyTorch 2.2 to 2.13.
 */
#ifndef HS_PARSERS_FLIGHT_RECORDER_H
#define HS_PARSERS_FLIGHT_RECORDER_H

#include "parsers/parser.h"

/* The words of a dump; hs_value.known of a text. */
enum hs_word {
    HS_WORD_OTHER,
    HS_WORD_LINE,
    HS_WORD_DESC,
    HS_WORD_NAME,
    HS_WORD_PG_ID,
    HS_WORD_RANKS,
    HS_WORD_STATE,
    HS_WORD_FRAMES,
    HS_WORD_IS_P2P,
    HS_WORD_SEQ_ID,
    HS_WORD_ENTRIES,
    HS_WORD_RETIRED,
    HS_WORD_STARTED,
    HS_WORD_VERSION,
    HS_WORD_FILENAME,
    HS_WORD_COMPLETED,
    HS_WORD_PG_CONFIG,
    HS_WORD_PG_STATUS,
    HS_WORD_RECORD_ID,
    HS_WORD_SCHEDULED,
    HS_WORD_P2P_SEQ_ID,
    HS_WORD_TIMEOUT_MS,
    HS_WORD_DURATION_MS,
    HS_WORD_INPUT_SIZES,
    HS_WORD_INPUT_DTYPES,
    HS_WORD_NCCL_VERSION,
    HS_WORD_OUTPUT_SIZES,
    HS_WORD_OUTPUT_DTYPES,
    HS_WORD_PROCESS_GROUP,
    HS_WORD_PROFILING_NAME,
    HS_WORD_TIME_CREATED_NS,
    HS_WORD_TIME_CREATED_US,
    HS_WORD_COMM_LIB_VERSION,
    HS_WORD_COLLECTIVE_SEQ_ID,
    HS_WORD_PROCESS_GROUP_RANKS,
    HS_WORD_LAST_STARTED_COLLECTIVE,
    HS_WORD_LAST_ENQUEUED_COLLECTIVE,
    HS_WORD_LAST_COMPLETED_COLLECTIVE,
    HS_WORD_TIME_DISCOVERED_STARTED_NS,
    HS_WORD_TIME_DISCOVERED_COMPLETED_NS,
    HS_WORDS
};

/* A text met before at the same place of the input: a pickle's memo hands out the same bytes. */
struct hs_met_text {
    const char *p;
    uint32_t n, id;
};

struct hs_met_group {
    uint32_t dump, member; /* valid when `dump` is the dump being read */
};

/* A stack met before, by the frame dicts it is made of. */
enum { HS_MET_TEXTS = 1024, HS_MET_STACKS = 256, HS_MET_FRAMES = 30 };

struct hs_met_stack {
    uint32_t count, stack;
    uint32_t objects[HS_MET_FRAMES];
};

/* The lists that make up a signature. */
enum hs_dump_list {
    HS_DUMP_SIZES_IN,
    HS_DUMP_SIZES_OUT,
    HS_DUMP_DTYPES_IN,
    HS_DUMP_DTYPES_OUT,
    HS_DUMP_LISTS,
    HS_ALL_LISTS = (1 << HS_DUMP_LISTS) - 1 /* as bits */
};

/* A signature and a stack met before, by the objects of fixed lists (value.h). Numbers of objects
 * are one more than they are; 0: there is no such list. */
enum { HS_MET_SIGNATURES = 512, HS_MET_LISTS = 256, HS_NOT_FIXED = UINT32_MAX };

struct hs_met_signature {
    uint32_t name, timeout_ms;
    uint32_t lists[HS_DUMP_LISTS];
    uint32_t signature;
    bool met, sized;
};

struct hs_met_list {
    uint32_t object, stack;
};

/* An entry of the recorder, gathered field by field before it becomes an operation. */
struct hs_entry {
    struct hs_operation op;
    const struct hs_value *frames, *group, *group_ranks;
    uint32_t name;
    uint32_t timeout_ms;
    int64_t pg_id;
    int64_t started_ns, completed_ns;
    uint32_t lists[HS_DUMP_LISTS]; /* see struct hs_met_signature */
    uint32_t unread;               /* of these, by bits: what the reading's `in` and `out` lack */
    const char *odd;               /* the first field of an unexpected type or size */
};

/* An entry met before in all but its numbers (HS_FIXED_SHAPE): what these do not change. */
enum { HS_MET_NUMBERS = 16 };

struct hs_met_entry {
    bool met;
    uint8_t count;
    uint8_t words[HS_MET_NUMBERS]; /* of its numbers, */
    uint8_t cells[HS_MET_NUMBERS]; /* and where they are among its items */
    uint32_t timeout_ms;
    int64_t pg_id;
    struct hs_operation op;
};

/* A dump while it is being read. */
struct hs_dump_reading {
    struct hs_parse *px;
    struct hs_dump dump;
    struct hs_operation *operations;
    uint32_t operation_count, operation_cap;
    struct hs_met_text texts[HS_MET_TEXTS];
    struct hs_met_stack stacks[HS_MET_STACKS];
    struct hs_met_signature signatures[HS_MET_SIGNATURES];
    struct hs_met_list stack_of_list[HS_MET_LISTS];
    uint32_t plain_sizes[HS_MET_LISTS];          /* fixed lists of sizes without anything odd */
    const struct hs_value *lists[HS_DUMP_LISTS]; /* of the entry that is being read */
    struct hs_tensors in, out;                   /* what they say, if they had to be asked */
    struct hs_met_entry *entries;                /* by shape */
    uint32_t entry_count, entry_cap;
    uint32_t *frame_of_object; /* frame id by kept object; HS_NO_ID: not met */
    uint32_t frame_cap, frame_count;
    uint32_t *scratch; /* list being put together */
    uint32_t scratch_cap;
    int64_t *sizes_in, *sizes_out;
    uint32_t sizes_in_cap, sizes_out_cap;
    uint32_t *dtypes_in, *dtypes_out;
    uint32_t dtypes_in_cap, dtypes_out_cap;
    struct hs_met_group *group_of_name; /* by string id of the group's key */
    uint32_t group_cap;
    bool no_memory;
};

/* The id of a text value; "" for anything else. */
uint32_t hs_dump_text(struct hs_dump_reading *r, const struct hs_value *value);

/* A whole number, also written as text (JSON's statuses). */
bool hs_dump_integer(const struct hs_value *value, int64_t *out);

/* A list of an entry, which may be one that was met before (flight_recorder_lists.c). */
void hs_entry_meet_list(struct hs_dump_reading *r, struct hs_entry *e,
                        const struct hs_document *doc, const struct hs_value *value,
                        enum hs_dump_list which);

/* What its name, timeout and lists make; HS_NO_ID without memory. */
uint32_t hs_entry_signature(struct hs_dump_reading *r, const struct hs_document *doc,
                            struct hs_entry *e);

/* An entry is added to the operations: hs_document_consumer.element. */
bool hs_dump_entry(void *self, const struct hs_document *doc, const struct hs_value *element,
                   uint64_t offset_bytes);

/* The member row of a group by name and backend, added when new; HS_NO_ID without memory. */
uint32_t hs_dump_member(struct hs_dump_reading *r, uint32_t name, uint32_t backend);

/* Version, library, groups and counters from the top-level dict, once all operations are in. */
void hs_dump_read_header(struct hs_dump_reading *r, const struct hs_value *top);

#endif
