/* fusion.h - what lines add to the claims of dumps: age, witnesses, contradictions. */
#ifndef HS_ANALYZER_FUSION_H
#define HS_ANALYZER_FUSION_H

#include "analyzer/telling.h"

/* Amend the claims of the dumps, once lines are read. False without memory. */
bool hs_fuse(struct hs_judged *judged);

#endif
