/*
 * timeline.h - a timeline as a file: Chrome's JSON or Perfetto's protobuf, handed on in pieces.
 *
 * Both have a process for each rank, a track for each of its groups and a slice for each call, with
 * the names that Kineto (torch.profiler) gives to what a collective carries.
 */
#ifndef HS_ANALYZER_RENDER_TIMELINE_H
#define HS_ANALYZER_RENDER_TIMELINE_H

#include "base/err.h"
#include "schema/timeline.h"

typedef enum hs_status hs_timeline_sink_fn(void *self, struct hs_str piece, struct hs_err *err);

/* Numbers of processes: not their ranks, since process 0 is the idle one. Lanes have numbers of
 * their own, from 1 on and, if they are many, beyond all processes. */
enum { HS_TIMELINE_PIDS = 100000, HS_TIMELINE_LANES_BEYOND = 1 << 24 };

struct hs_timeline_file;

struct hs_timeline_format {
    const char *name;
    bool binary;
    void (*begin)(struct hs_timeline_file *file);
    void (*rank)(struct hs_timeline_file *file, const struct hs_timeline_rank *rank);
    void (*slice)(struct hs_timeline_file *file, const struct hs_timeline_rank *rank,
                  const struct hs_slice *slice);
    void (*end)(struct hs_timeline_file *file);
};

extern const struct hs_timeline_format hs_timeline_chrome, hs_timeline_perfetto;

struct hs_timeline_file {
    const struct hs_timeline_format *format;
    const struct hs_timeline *timeline;
    hs_timeline_sink_fn *sink;
    void *self;
    struct hs_buf buf;
    struct hs_buf part;          /* a text that is put together */
    struct hs_buf event, packet; /* messages: their length stands before them */
    struct hs_arena arena;       /* of what repeats */
    struct hs_str *signatures;   /* what a signature carries, by id, once it was met; .p NULL */
    struct hs_str *groups;       /* the same of a group */
    uint32_t *first_lane;        /* of the rank's tracks: numbers of their first lanes */
    uint32_t lane_cap, next_lane;
    bool begun; /* something stands in the list already */
};

/* Begin a file; hs_timeline_file_release() in any case. */
enum hs_status hs_timeline_file_init(struct hs_timeline_file *file,
                                     const struct hs_timeline_format *format,
                                     const struct hs_timeline *timeline, hs_timeline_sink_fn *sink,
                                     void *self, struct hs_err *err);
enum hs_status hs_timeline_file_put(struct hs_timeline_file *file,
                                    const struct hs_timeline_rank *rank, struct hs_err *err);
enum hs_status hs_timeline_file_end(struct hs_timeline_file *file, struct hs_err *err);
void hs_timeline_file_release(struct hs_timeline_file *file);

/* ---- words that both formats use ---- */

/* "rank 3 (node-a gpu 1), culprit". */
void hs_timeline_put_rank(struct hs_buf *buf, const struct hs_timeline_rank *rank);

/* "default_pg", "default_pg (2)". */
void hs_timeline_put_lane(struct hs_buf *buf, const struct hs_timeline *timeline,
                          const struct hs_track *track, uint32_t lane);

/* "nccl:all_reduce #943, unfinished"; safe to print. */
void hs_timeline_put_name(struct hs_buf *buf, const struct hs_timeline *timeline,
                          const struct hs_slice *slice);

/* Kineto's spelling of an operation: "allreduce". */
void hs_timeline_put_op(struct hs_buf *buf, const struct hs_job *job,
                        const struct hs_signature *sig);

void hs_timeline_put_dtype(struct hs_buf *buf, const struct hs_job *job,
                           const struct hs_signature *sig);

/* Kineto's spelling of members, cut where Kineto cuts: "[0, 1, 2]". */
void hs_timeline_put_members(struct hs_buf *buf, const struct hs_timeline_group *group);

/* "collective", "p2p", "waited-for"; how far a call is on record; what an arrow is. */
const char *hs_timeline_category(const struct hs_slice *slice);
const char *hs_timeline_state(const struct hs_slice *slice);
const char *hs_timeline_finished(const struct hs_slice *slice);
uint64_t hs_timeline_device_us(const struct hs_slice *slice);
const char *hs_timeline_arrow_name(const struct hs_arrow *arrow);

#endif
