/*
 * timeline.h - a judged job as a timeline (schema/timeline.h), one rank at a time.
 *
 * Nothing is kept of a rank but the ends of its arrows, since both ends of one have to fit each
 * other: the tail is never later than the head, wherever the clocks stand.
 */
#ifndef HS_ANALYZER_TIMELINE_H
#define HS_ANALYZER_TIMELINE_H

#include "analyzer/telling.h"
#include "base/limits.h"
#include "schema/timeline.h"

/* A rank of the timeline, and its place in the file. */
struct hs_timeline_process {
    uint32_t rank;
    uint32_t seat; /* HS_NO_ID: it left no dump, but others wait for it */
};

/* A call that a rank has not made and others wait for. */
struct hs_wanted {
    uint32_t process, node;
    int64_t since_ns;
    uint8_t why; /* enum hs_wanting */
};

/* One end of an arrow, at a call of a process or, beyond HS_OPERATIONS_MAX, at what is wanted. */
struct hs_arrow_end {
    uint32_t process, slot;
    struct hs_arrow arrow;
};

/* What is asked for. */
struct hs_timeline_request {
    const uint32_t *ranks; /* sorted; NULL: all */
    uint32_t rank_count;
    struct hs_span span;
    enum hs_language language; /* of the verdict's sentence */
};

struct hs_timeline_making {
    const struct hs_judged *j;
    struct hs_timeline_request request;
    struct hs_timeline timeline;
    struct hs_arena arena, scratch; /* of all ranks; of one */
    uint32_t *culprit_ranks;        /* sorted */
    uint32_t culprit_count;
    uint32_t *track_of_group; /* of the rank that is derived; HS_NO_ID */
    int64_t *shifts_ns;       /* by seat: what its clock shows to what the timeline's does */
    int64_t since_ns;         /* of HS_SPAN_TIME: what ended before is left out */
    struct hs_timeline_process *processes; /* by rank */
    uint32_t process_count;
    uint32_t *process_of_seat; /* HS_NO_ID: not asked for */
    struct hs_wanted *wanted;  /* by process */
    uint32_t wanted_count, wanted_cap;
    struct hs_arrow_end *ends; /* by process and slot */
    uint32_t end_count, end_cap;
    uint32_t arrow_count;
};

/* Begin. HS_EUSAGE when there is nothing to show. hs_timeline_release() in any case. */
enum hs_status hs_timeline_begin(struct hs_timeline_making *m, const struct hs_trial *trial,
                                 const struct hs_timeline_request *request, struct hs_err *err);
void hs_timeline_release(struct hs_timeline_making *m);

/* The process `i` of the timeline; false without memory. `out` is valid until the next call. */
bool hs_timeline_rank(struct hs_timeline_making *m, uint32_t i, struct hs_timeline_rank *out);

/* ---- steps, each in a file of its own ---- */

/* The calls of a process, without arrows and in record order, with room for more
 * (timeline_slices.c). In `scratch`. */
bool hs_timeline_slices(struct hs_timeline_making *m, uint32_t process, uint32_t room,
                        struct hs_slice **slices, uint32_t *count);

/* Lanes of slices that stand by start; `lanes` by track (timeline_lanes.c). */
bool hs_timeline_lanes(struct hs_slice *slices, uint32_t count, struct hs_track *tracks,
                       uint32_t track_count, struct hs_arena *scratch);

/* When a call was made. */
int64_t hs_timeline_start(const struct hs_timeline_making *m, uint32_t seat, uint32_t op);

/* Whether a slice is asked for. */
bool hs_timeline_shows(const struct hs_timeline_making *m, const struct hs_slice *slice,
                       uint32_t seq);

/* Arrows between sends and receives, and from those who wait (timeline_arrows.c). */
bool hs_timeline_arrows(struct hs_timeline_making *m);

#endif
