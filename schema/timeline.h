/*
 * timeline.h - the calls of a job in time, as plain rows: what analyzer/timeline.c derives and
 * analyzer/render/timeline_*.c write down.
 *
 * A rank is a process, its groups are its tracks, and each recorded call is one slice: from the
 * call to when its end was seen. Slices of a track that overlap have lanes of their own, so that in
 * a lane each slice ends before the next one begins. Times are nanoseconds since the epoch on one
 * clock, as far as the clocks of the hosts could be compared. Ranks are derived one at a time, so
 * that a timeline of any size takes the memory of one rank.
 */
#ifndef HS_SCHEMA_TIMELINE_H
#define HS_SCHEMA_TIMELINE_H

#include "schema/job.h"

enum hs_slice_kind {
    HS_SLICE_FINISHED,
    HS_SLICE_OPEN,    /* not finished: it lasts to the end of the timeline */
    HS_SLICE_UNTIMED, /* finished, or nobody knows; when is not on record: it has no length */
    HS_SLICE_WANTED,  /* no call of this rank, but one that others wait for it to make */
};

struct hs_slice {
    int64_t start_ns, end_ns;
    const struct hs_operation *op; /* WANTED: the call of a rank that waits */
    uint32_t number;               /* of a send or receive, else of a collective; 0: none */
    uint32_t track, lane;
    uint32_t src, dst;   /* global ranks of a send or receive; HS_NO_ID */
    uint8_t kind;        /* enum hs_slice_kind */
    uint8_t why;         /* WANTED: enum hs_wanting */
    struct hs_str stack; /* OPEN: the user's frames; .p NULL: unknown */
    uint32_t first_arrow, arrow_count;
};

/* Why others wait for a rank in a call. */
enum hs_wanting {
    HS_WANTED_ABSENT,  /* it has not entered it */
    HS_WANTED_EARLIER, /* it is blocked before it */
    HS_WANTED_STALE,   /* what it has finished is no longer seen */
    HS_WANTED_UNSEEN,  /* it left no dump */
    HS_WANTED_UNCLEAR, /* its dump does not tell */
    HS_WANTED_CULPRIT, /* all are in it, and the verdict names it */
};

enum hs_arrow_kind {
    HS_ARROW_PAIR,     /* from a send to its receive */
    HS_ARROW_PAIR_ODD, /* the same, backwards: by its clock the receive ended before the send began
                        */
    HS_ARROW_WAIT,     /* from a call to what it waits for */
};

/* One end of an arrow, within a slice. Both ends have the same id; the tail is never later. */
struct hs_arrow {
    int64_t at_ns;
    uint32_t id;
    uint8_t kind; /* enum hs_arrow_kind */
    bool tail;
};

struct hs_track {
    uint32_t group; /* of hs_timeline.groups */
    uint32_t lanes;
};

/* A process. Slices stand by start; what they refer to is valid until the next rank is derived. */
struct hs_timeline_rank {
    uint32_t rank;
    struct hs_str host; /* .p NULL: unknown */
    uint32_t gpu;       /* HS_NO_ID: unknown */
    bool culprit, unseen;
    const struct hs_track *tracks;
    uint32_t track_count;
    const struct hs_slice *slices;
    uint32_t slice_count;
    const struct hs_arrow *arrows;
};

struct hs_timeline_group {
    struct hs_str label, name, desc, backend; /* fit to print; .p NULL: unknown */
    const uint32_t *ranks;                    /* in group order */
    uint32_t size;
};

struct hs_timeline {
    const struct hs_job *job;
    int64_t from_ns, to_ns; /* a whole second before the first call; a little past the last stamp */
    int64_t waiting_ns;     /* since when somebody waits; 0: nobody does */
    struct hs_str summary;  /* of the verdict */
    const char *code;
    uint64_t world_size;
    struct hs_str library; /* NCCL's version; .p NULL: unknown */
    const struct hs_timeline_group *groups;
    uint32_t group_count;
    uint32_t rank_count; /* processes */
    uint32_t first_rank;
};

/* What is asked for: calls that were under way in the last time before the hang, or by number. */
enum hs_span_kind { HS_SPAN_ALL, HS_SPAN_TIME, HS_SPAN_NUMBERS };

struct hs_span {
    int64_t ns;         /* TIME */
    uint32_t low, high; /* NUMBERS: of collectives */
    uint8_t kind;       /* enum hs_span_kind */
};

#endif
