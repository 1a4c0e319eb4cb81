/*
 * plan_reading.h - what the parts of the plan reader share: tokens, and what is wrong with them.
 *
 * The first thing that is wrong is told with its line and ends the reading: from then on every
 * function returns false, so that callers only have to stop.
 */
#ifndef HS_REPLAY_PLAN_READING_H
#define HS_REPLAY_PLAN_READING_H

#include "base/json.h"
#include "replay/plan.h"

struct hs_plan_reading {
    struct hs_json json;
    struct hs_json_token token; /* the one that was taken last */
    enum hs_json_kind kind;
    enum hs_status status;
    struct hs_str text;
    const char *name;
    struct hs_plan *plan;
    struct hs_arena texts; /* of one string */
    struct hs_err *err;
    int64_t *sizes; /* of the call being read */
    uint32_t size_cap;
    struct hs_frame *frames; /* of the stack being read */
    uint32_t frame_cap;
    uint32_t *lists[3], list_caps[3]; /* of the row being read: groups, start, until */
    struct hs_plan_call *calls;       /* of the program being read */
    uint32_t call_count, call_cap;
};

/* False, always. */
__attribute__((format(printf, 2, 3))) bool hs_reading_wrong(struct hs_plan_reading *r,
                                                            const char *fmt, ...);
bool hs_reading_no_memory(struct hs_plan_reading *r);

/* Take a token. */
bool hs_reading_next(struct hs_plan_reading *r);
bool hs_reading_expect(struct hs_plan_reading *r, enum hs_json_kind kind, const char *what);

/* Take a token that is not the end of the list or object that is being read. */
bool hs_reading_more(struct hs_plan_reading *r, enum hs_json_kind end);

/* Of the token that was taken last; take_ takes one first. `what` is said when it is none. */
bool hs_reading_as_number(struct hs_plan_reading *r, uint64_t max, const char *what, uint32_t *out);
bool hs_reading_take_number(struct hs_plan_reading *r, uint64_t max, const char *what,
                            uint32_t *out);
bool hs_reading_as_string(struct hs_plan_reading *r, const char *what, uint32_t *out);
bool hs_reading_take_string(struct hs_plan_reading *r, const char *what, uint32_t *out);
bool hs_reading_take_flag(struct hs_plan_reading *r, const char *what, bool *out);

/* The next key of an object, as an index into `keys`; false when the object ends, or all. */
bool hs_reading_take_key(struct hs_plan_reading *r, const char *const *keys, size_t count,
                         size_t *out);

/* A program, whose first token was taken (plan_read_calls.c). */
bool hs_reading_program(struct hs_plan_reading *r);

#endif
