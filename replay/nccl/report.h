/* report.h - what a run showed, for people and as JSON (docs/replay.md). */
#ifndef HS_REPLAY_NCCL_REPORT_H
#define HS_REPLAY_NCCL_REPORT_H

#include "replay/nccl/world.h"

/* Calls of one kind: a line of the table. Times are those of the member that came last, so that
 * waiting for others is not in them. */
struct hs_timing {
    uint32_t call; /* one of them, by its number in the dry run */
    enum hs_way way;
    uint32_t ranks, parts; /* of the communicator; calls of a batch, else 1 */
    uint64_t count, bytes; /* 0 for a batch */
    uint32_t calls;
    double min_us, median_us, max_us;
    double algbw_gbs, busbw_gbs;
};

struct hs_timings {
    struct hs_timing *rows;
    uint32_t count;
    struct hs_arena arena;
};

bool hs_timings_make(struct hs_timings *out, const struct hs_world *world);
void hs_timings_release(struct hs_timings *timings);

void hs_report_json(const struct hs_world *world, const struct hs_timings *timings,
                    struct hs_buf *out);
void hs_report_text(const struct hs_world *world, const struct hs_timings *timings,
                    struct hs_buf *out);

#endif
