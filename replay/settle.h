/*
 * settle.h - from what ranks recorded to a plan that runs to where the job stood.
 *
 * Rings begin anywhere, so both halves of an exchange have to be found; a window cuts the past off;
 * what ended out of order shows streams of its own; and where rules and record disagree, the record
 * is right: calls are marked `done` or `stalled`.
 */
#ifndef HS_REPLAY_SETTLE_H
#define HS_REPLAY_SETTLE_H

#include "replay/dry.h"

/* Of a rank, while a plan is made: its record holds only what had not ended. */
#define HS_PLAN_ACTIVE 8u

/*
 * `plan` has a program for each rank alone, whose calls tell what the record shows finished.
 * Afterwards equal programs are shared. `window`: finished units kept before the first unfinished
 * one; 0: all.
 */
enum hs_status hs_plan_settle(struct hs_plan *plan, uint32_t window, struct hs_err *err);

#endif
