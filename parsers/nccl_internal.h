/* nccl_internal.h - what the files that read NCCL's lines share; nobody else includes it. */
#ifndef HS_PARSERS_NCCL_INTERNAL_H
#define HS_PARSERS_NCCL_INTERNAL_H

#include "parsers/nccl_log.h"

/* A thread of a process, between the start of an init and its end. */
struct hs_nccl_thread {
    uint32_t communicator; /* row whose init goes on; HS_NO_ID: none is known */
    uint32_t first_link;   /* links from here on may be of the init that is not named yet */
};

struct hs_nccl {
    struct hs_intern pointers; /* (host, pid, pointer) */
    uint32_t *latest;          /* by it: the last row of communicators */
    uint32_t latest_cap;
    struct hs_intern threads; /* (host, pid, tid) */
    struct hs_nccl_thread *pending;
    uint32_t pending_cap;
    struct hs_intern links; /* equal ones are one row */
    uint32_t first_link;
    struct hs_intern streams; /* processes whose calls are logged */
    struct hs_call_stream *calls;
    uint32_t calls_cap;
};

/* The communicator that a call names by its pointer: its row, made now if no line has made it. */
uint32_t hs_nccl_communicator(struct hs_text *text, const struct hs_found *found);

/* CALL lines of ncclCommInitRank and ncclCommSplit, printed when they are done. */
bool hs_nccl_take_call_init(struct hs_text *text, const struct hs_record *record,
                            const struct hs_found *found);

void hs_nccl_free_streams(struct hs_nccl *nccl);

#endif
