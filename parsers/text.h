/*
 * text.h - reading logs: lines become records, records meet families, families become rows.
 *
 * The reader streams: it keeps what events and facts say and the lines of events as evidence, and
 * forgets the rest. Who spoke (speakers) and equal events are folded as they come. What a family
 * means beyond its event - a communicator, a link, a setting, a call - is for takers, by name of
 * the family; what spans several lines - tracebacks, tables, stacks - is for records.h.
 */
#ifndef HS_PARSERS_TEXT_H
#define HS_PARSERS_TEXT_H

#include "parsers/envelope.h"
#include "parsers/families.h"
#include "parsers/parser.h"
#include "schema/text_blocks.h"

struct hs_takers_state; /* nccl_log.h: communicators that are open, by process */
struct hs_records;      /* records.h: records of several lines that are open, by speaker */
struct hs_known;        /* text_known.h: lines that were read before */
struct hs_looks;

/* Facts of a speaker: a chain of the first ones, since most have few; the others are interned. */
struct hs_fact_chain {
    uint32_t newest; /* fact + 1 of the source; 0: none */
    uint32_t count;
};

/* Which rows of the job a source has used, so that what it may fill is bounded: the same whoever
 * shares its worker. */
struct hs_met {
    bool *seen; /* by id */
    uint32_t cap, count;
};

/* Note one more use. False without memory. */
bool hs_met_add(struct hs_met *met, uint32_t id);

/* What there may be too much of in one source. */
enum hs_full {
    HS_FULL_SPEAKERS,
    HS_FULL_EVENTS,
    HS_FULL_COMMUNICATORS,
    HS_FULL_LINKS,
    HS_FULL_SETTINGS,
    HS_FULL_TEXTS,
    HS_FULL_EVIDENCE,
    HS_FULL_CALLS,
    HS_FULL_FRAMES,
    HS_FULL_STACKS,
    HS_FULL_KINDS,
};

struct hs_text {
    struct hs_parse *px;
    struct hs_job *job; /* px->job */
    const struct hs_families *families;
    struct hs_matching *matching; /* the worker's */
    struct hs_envelope envelope;
    struct hs_record file; /* what the name of the source says of whoever writes it */
    struct hs_buf head;    /* of the source, until it is long enough to learn from */
    bool learned;
    struct hs_buf line;    /* an incomplete line, from one chunk to the next */
    uint64_t number;       /* of the line that is read, from 1 */
    uint64_t offset_bytes; /* where it begins */
    bool skipping;         /* the rest of a line that is too long */
    struct hs_hit *hits;   /* of the segment that is looked at */
    struct hs_hit *marks;  /* those of them that are marks of frames */
    uint32_t hit_cap, mark_cap;
    size_t hit_count;
    struct hs_intern speakers, events, facts; /* keys; id + first row is the row */
    uint32_t first_speaker, first_event, first_fact;
    struct hs_fact_chain *chains; /* by speaker of the source */
    uint32_t *older_fact;         /* by fact of the source: the next one of its chain, + 1 */
    uint32_t chain_count, chain_cap, older_cap;
    uint32_t speaker; /* of the record that is looked at */
    struct hs_text_writer kept;
    uint64_t kept_line;
    uint8_t *kept_values; /* by string: lines kept for facts of this value */
    uint32_t kept_values_cap;
    struct {
        uint64_t count, offset_bytes; /* of the first */
    } lost[HS_FULL_KINDS];
    const struct hs_taker **takers; /* by family; NULL: none */
    bool *plain;                    /* by family: nothing but a plain taker */
    struct hs_nccl *nccl;
    struct hs_records *records;
    struct hs_known *known;
    const struct hs_looks *looks; /* at the lines of the chunk that is fed; NULL: none */
    uint32_t next_look;
    uint32_t *args;                           /* of the event that is built */
    struct hs_met frames, stacks, signatures; /* signatures: of COLL and CALL lines */
    size_t text_bytes;                        /* of strings that this source has put into the job */
    bool no_memory;
};

/* What a family means besides its event. False only without memory. */
typedef bool hs_take_fn(struct hs_text *text, const struct hs_record *record,
                        const struct hs_found *found);

struct hs_taker {
    const char *family;
    hs_take_fn *take;
};

extern const struct hs_taker hs_nccl_takers[];   /* nccl_log.c: communicators */
extern const struct hs_taker hs_call_takers[];   /* nccl_calls.c: COLL and CALL lines */
extern const struct hs_taker hs_record_takers[]; /* records.c: what opens or ends a record */

/* nccl_links.c: these make links and facts of the values alone, the same ones whoever speaks. */
extern const struct hs_taker hs_plain_takers[];

/* The row of whoever said this; HS_NO_ID beyond the limit or without memory. */
uint32_t hs_text_speaker(struct hs_text *text, const struct hs_record *record);

/* The same when its row is known. */
void hs_text_speaks(struct hs_text *text, uint32_t speaker, const struct hs_record *record);

/* The value of a field of what was found; p NULL: it has none, or did not capture. */
struct hs_str hs_found_value(const struct hs_text *text, const struct hs_found *found,
                             const char *field);

/* The same as a number, decimal or 0x...; `none` when there is none or it does not fit. */
uint64_t hs_found_number(const struct hs_text *text, const struct hs_found *found,
                         const char *field, uint64_t none);

/* An event that is put together by hand; equal ones fold. */
struct hs_said {
    uint32_t family; /* index */
    uint32_t speaker;
    const struct hs_str *values; /* by field of the family; p NULL: none */
    uint32_t stack;              /* HS_NO_ID */
    uint64_t line;
    struct hs_stamp stamp;
};

bool hs_text_say(struct hs_text *text, const struct hs_record *record, const struct hs_said *said);

/* Keep the line of a record as evidence; lines before the last one kept are not kept again. */
bool hs_text_keep(struct hs_text *text, uint64_t line, struct hs_str segment);

/* A setting or version of the current speaker; told again with the same value it is one row. */
bool hs_text_fact(struct hs_text *text, const struct hs_record *record, struct hs_str name,
                  struct hs_str value);

/* The same of strings of the job. */
bool hs_text_put_fact(struct hs_text *text, const struct hs_record *record, uint32_t name,
                      uint32_t value);

/* An event whose family and args are strings and a list of the job. */
bool hs_text_put_event(struct hs_text *text, const struct hs_record *record,
                       const struct hs_said *said, uint32_t family, uint32_t args);

/* What a family means that was found in a record of text->speaker. */
bool hs_text_take_found(struct hs_text *text, const struct hs_record *record,
                        const struct hs_found *found);

/* The string of a text; beyond the limit new ones are all "...". HS_NO_ID only without memory. */
uint32_t hs_text_string(struct hs_text *t, struct hs_str text);

/* Something odd is said where it stands. False without memory. */
bool hs_text_odd(struct hs_text *text, const char *code);

/* A row beyond the limit of its kind is left out. That is said at the end, and how often. */
void hs_text_full(struct hs_text *text, enum hs_full kind);
bool hs_text_say_lost(struct hs_text *text); /* false without memory */

extern const struct hs_stream hs_text_stream;

#endif
