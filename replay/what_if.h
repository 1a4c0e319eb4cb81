/* what_if.h - changes to a plan, written as a line: what the job would have done then. */
#ifndef HS_REPLAY_WHAT_IF_H
#define HS_REPLAY_WHAT_IF_H

#include "replay/plan.h"

/*
 * "rank R: drop GROUP#SEQ"
 * "rank R: insert OP in GROUP before #SEQ like rank Q"
 * "rank R: move GROUP#SEQ after GROUP#SEQ"
 *
 * HS_EUSAGE with the word that is wrong.
 */
enum hs_status hs_plan_edit(struct hs_plan *plan, const char *edit, struct hs_err *err);

#endif
