/*
 * callsites.h - where in the user's code ranks stand, and what that says about the cause.
 */
#ifndef HS_ANALYZER_CALLSITES_H
#define HS_ANALYZER_CALLSITES_H

#include "analyzer/waits.h"

/* The innermost frame that is not a library's; HS_NO_ID when the stack has none or is missing. */
uint32_t hs_user_frame(const struct hs_job *job, uint32_t stack);

/* Whether a frame is the user's own code. */
bool hs_is_user_frame(const struct hs_job *job, uint32_t frame);

/* "train.py:219 evaluate ‹ train.py:344 main": the user's frames of a stack, at most three. */
struct hs_str hs_user_stack(const struct hs_job *job, uint32_t stack, struct hs_arena *arena);

/* A call site whose number of calls differs between the members of a group. */
struct hs_uneven_site {
    uint32_t group, frame;
    uint32_t least, most;           /* calls */
    uint32_t least_seat, most_seat; /* the first with that number */
};

/*
 * Compare, per group and call site, how often each member called within the calls that all members
 * have on record. `out` lives in `arena`; at most `cap` rows. Returns how many; UINT32_MAX without
 * memory.
 */
uint32_t hs_uneven_calls(const struct hs_alignment *al, struct hs_arena *arena,
                         struct hs_uneven_site *out, uint32_t cap);

/*
 * Why `subject` (a seat) is not where `waiter` waits, as far as their stacks tell: a cause of
 * schema/topics, or NULL. `alone` says that the subject is the only culprit.
 */
const char *hs_cause_of(const struct hs_alignment *al, uint32_t subject, uint32_t subject_op,
                        uint32_t waiter, uint32_t waiter_op, bool alone);

#endif
