/* nccl_internal.h - what the files that read NCCL's lines share; nobody else includes it. */
#ifndef HS_PARSERS_NCCL_INTERNAL_H
#define HS_PARSERS_NCCL_INTERNAL_H

#include "parsers/nccl_log.h"

/* A row of links, and the communicator that was known when it was made: a later one may have
 * adopted it. */
struct hs_nccl_link {
    uint32_t row; /* + 1; 0: the slot is free */
    uint32_t communicator;
};

/* A thread of a process, and the init that it is in. */
struct hs_nccl_thread {
    uint32_t communicator;      /* row whose init goes on; HS_NO_ID: none is known */
    struct hs_nccl_link *links; /* a hash table of its links: equal ones are one row */
    uint32_t link_slots, link_count;
    uint32_t *unnamed; /* links since the last init whose communicator no line has named yet */
    uint32_t unnamed_count, unnamed_cap;
    uint32_t brackets, group; /* ncclGroupStart that are open, and their group call; 0: none yet */
    uint32_t bracketed;       /* the first group of the process that is called in them, + 1 */
};

struct hs_nccl {
    struct hs_intern pointers; /* (host, pid, pointer) */
    uint32_t *latest;          /* by it: the last row of communicators */
    uint32_t latest_cap;
    struct hs_intern threads; /* (host, pid, tid) */
    struct hs_nccl_thread *pending;
    uint32_t pending_cap;
    uint32_t first_link, first_communicator; /* of this source */
    uint32_t link_kinds[HS_LINK_KINDS];      /* strings; HS_NO_ID: not needed yet */
    struct hs_intern streams;                /* processes whose calls are logged */
    struct hs_call_stream *calls;
    uint32_t calls_cap;
    struct hs_intern call_members; /* (process, communicator) */
    uint32_t *member_of;           /* by it: the number of the group in the process; HS_NO_ID */
    uint32_t member_cap;
    uint32_t call_count; /* of this source */
};

/* The communicator that a call names by its pointer: its row, made now if no line has made it. */
uint32_t hs_nccl_communicator(struct hs_text *text, const struct hs_found *found);

/* A number that a line gives; HS_NO_ID when it gives none. */
uint32_t hs_nccl_number(const struct hs_text *text, const struct hs_found *found,
                        const char *field);

/* nccl_links.c */
void hs_nccl_adopt_links(struct hs_text *text, uint32_t thread, uint32_t communicator);
void hs_nccl_free_links(struct hs_nccl *nccl);

/* CALL lines of ncclCommInitRank and ncclCommSplit, printed when they are done. */
bool hs_nccl_take_call_init(struct hs_text *text, const struct hs_record *record,
                            const struct hs_found *found);

/* "0xfeed", or "feed" as some eras print it; 0 for what is none. */
uint64_t hs_found_hex(const struct hs_text *text, const struct hs_found *found, const char *field);

void hs_nccl_free_streams(struct hs_nccl *nccl);

#endif
