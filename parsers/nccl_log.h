/*
 * nccl_log.h - what NCCL's own lines say besides events: communicators, links, settings, calls.
 */
#ifndef HS_PARSERS_NCCL_LOG_H
#define HS_PARSERS_NCCL_LOG_H

#include "parsers/text.h"

struct hs_nccl *hs_nccl_new(void); /* NULL without memory */
void hs_nccl_free(struct hs_nccl *nccl);

/* The source ends: calls become dumps. False without memory. */
bool hs_nccl_end(struct hs_text *text);

#endif
