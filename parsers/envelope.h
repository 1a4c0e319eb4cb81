/*
 * envelope.h - what shippers, launchers and log libraries put around a message, peeled off.
 *
 * A physical line goes through three steps: containers are opened (docker's JSON, CRI: these change
 * the text and may join several lines), escape sequences are dropped, and what is left is cut at \r
 * into segments. The caller looks for literals in a segment once; with the hits the segment is
 * split into records, one wherever a further frame begins: a rank tag, a c10, glog or NCCL header.
 * Frames may stand in any order and nesting, and anywhere in the line: another process's text may
 * precede them, or have eaten their first bytes.
 */
#ifndef HS_PARSERS_ENVELOPE_H
#define HS_PARSERS_ENVELOPE_H

#include "base/buf.h"
#include "parsers/literals.h"
#include "schema/event.h"

/* Texts near which a frame may begin; hs_families puts them in front of its literals. */
extern const struct hs_str hs_frame_marks[];
extern const uint32_t hs_frame_mark_count;

enum hs_header {
    HS_HEADER_NONE,
    HS_HEADER_C10,    /* [E1218 01:59:12.846104516 ProcessGroupNCCL.cpp:685] */
    HS_HEADER_GLOG,   /* E0228 17:37:21.488888  9191 ProcessGroupNCCL.cpp:1405] */
    HS_HEADER_PYTHON, /* torch's, DeepSpeed's and other Python loggers */
    HS_HEADER_NCCL,   /* host:pid:tid [dev] NCCL INFO */
};

/* One record: what one process said. Texts point into the segment and live as long as it does. */
struct hs_record {
    struct hs_str segment; /* the whole of it, unpeeled */
    struct hs_str text;    /* what is left; part of `segment` */
    uint64_t line;         /* physical, from 1: where the record begins */
    uint64_t offset_bytes; /* of that line */
    enum hs_header header;
    char level;         /* F E W I V, C(ALL) and T(RACE) of NCCL; 0: none */
    struct hs_str file; /* of the header; n 0: none */
    uint32_t file_line;
    /* who, as far as this record says */
    struct hs_str host, role;
    uint32_t pid, tid, rank, local_rank, task, device;
    uint32_t rank_from; /* enum hs_rank_from */
    uint32_t repeated;  /* Ray: so many equal lines of other ranks were dropped; 0: none */
    /* the process group in front of c10d's message */
    struct hs_str pg, pg_desc; /* p NULL: none */
    uint32_t pg_id, pg_rank;   /* HS_NO_ID: none */
    struct hs_stamp stamp;     /* a shipper's if it has one, else the header's */
    bool torn;   /* another process's text stood in front, or its first bytes are missing */
    bool joined; /* put together from several physical lines */
};

/* A line that comes in parts, as containers and terminals cut them. */
struct hs_partial {
    struct hs_buf text;
    uint32_t key_bytes; /* what stands in front of the container: one source of lines */
    uint32_t lines;     /* 0: nothing is open */
    uint64_t line, offset_bytes;
    struct hs_stamp stamp;
};

struct hs_envelope {
    struct hs_partial parts[2]; /* stdout and stderr of a container */
    struct hs_partial wrapped;
    size_t row_columns;   /* of its last line */
    struct hs_buf plain;  /* text without escapes */
    struct hs_buf mended; /* and without tags that came again */
    /* what hs_envelope_learn() found */
    bool numbered;  /* lines begin like `srun -l`'s */
    bool hosted;    /* lines begin with "host: ", as pdsh's */
    bool mangled;   /* escape sequences that have lost their ESC */
    bool trimmed;   /* a shipper has taken the \n from docker's texts */
    bool prefixed;  /* containers stand behind a launcher's prefix */
    uint32_t width; /* columns of a terminal that has wrapped the lines; 0: none */
    bool words;     /* it did so between words */
};

void hs_envelope_init(struct hs_envelope *envelope);
void hs_envelope_release(struct hs_envelope *envelope);

/*
 * Look at the head of a source, before its first line: some prefixes, and lines that a terminal has
 * wrapped, are told from ordinary text only by what many lines have in common. Without it none of
 * these is expected.
 */
void hs_envelope_learn(struct hs_envelope *envelope, struct hs_str head);

/* A segment to look at: text without escapes, with what its container said. */
struct hs_segment {
    struct hs_str text;
    uint64_t line, offset_bytes;
    struct hs_stamp stamp; /* of the container */
    bool joined;
};

/*
 * Give one physical line (without its \n) and take the segments it completes, by calling `take`
 * for each in order; none while a line is not complete. Their texts are valid during the call. At
 * the end of the source hs_envelope_end() gives what was left open. False when `take` was, or
 * without memory.
 */
typedef bool hs_segment_fn(void *self, const struct hs_segment *segment);
bool hs_envelope_line(struct hs_envelope *envelope, struct hs_str text, uint64_t line,
                      uint64_t offset_bytes, hs_segment_fn *take, void *self);
bool hs_envelope_end(struct hs_envelope *envelope, hs_segment_fn *take, void *self);

/*
 * Split a segment into records at its frames; `hits` are those of the frame marks in it, in order
 * (none: it is one record, and only what stands at its start is peeled). Calls `take` for each,
 * from left to right. What one record inherits from the one before it: what the shipper said
 * and the launcher said (time, host, role, task), never a rank tag.
 */
typedef bool hs_record_fn(void *self, const struct hs_record *record);
bool hs_envelope_split(const struct hs_envelope *envelope, const struct hs_segment *segment,
                       const struct hs_hit *hits, size_t hit_count, hs_record_fn *take, void *self);

/* A record that says nothing. */
void hs_record_clear(struct hs_record *record);

/*
 * Rank, local rank and host that the name of a source gives away (node-a/rank3.log,
 * attempt_0/3/stderr.log); only what is sure. False, and `out` as it was, when it is silent.
 */
bool hs_record_source_name(struct hs_str source_name, struct hs_record *out);

#endif
