/*
 * nccl_log.h - what NCCL's own lines say besides events: communicators, links, settings, calls.
 */
#ifndef HS_PARSERS_NCCL_LOG_H
#define HS_PARSERS_NCCL_LOG_H

#include "parsers/text.h"

struct hs_nccl *hs_nccl_new(const struct hs_job *job); /* NULL without memory */
void hs_nccl_free(struct hs_nccl *nccl);

enum hs_link_kind { HS_LINK_PATH, HS_LINK_RING, HS_LINK_TREE, HS_LINK_COLLNET, HS_LINK_KINDS };

/* A link as a line says it, whoever says it. */
struct hs_said_link {
    enum hs_link_kind kind;
    uint32_t channel, from_rank, to_rank;
    uint32_t via; /* string; HS_NO_ID: not said */
};

/* The speaker's thread (HS_NO_ID: beyond the limit) has a link. False without memory. */
bool hs_nccl_add_link(struct hs_text *text, uint32_t thread, uint64_t line,
                      const struct hs_said_link *said);

/* The thread that speaks; HS_NO_ID beyond the limit, or without memory. */
uint32_t hs_nccl_thread_of(struct hs_text *text, const struct hs_record *record);

/* The source ends: calls become dumps. False without memory. */
bool hs_nccl_end(struct hs_text *text);

#endif
