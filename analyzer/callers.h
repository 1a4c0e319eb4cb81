/* callers.h - the processes whose COLL or CALL lines were read: which end of which communicator. */
#ifndef HS_ANALYZER_CALLERS_H
#define HS_ANALYZER_CALLERS_H

#include "analyzer/identity.h"

/* A process's end of a communicator, with the calls it shows. */
struct hs_caller {
    /* Ends of one communicator have the same: below HS_CALLER_GUESSED an index of the joined ones,
     * from there on a guess by its size. HS_NO_ID: alone. */
    uint32_t comm;
    uint32_t dump, member;
    uint32_t rank; /* global, or a guess by device; HS_NO_ID */
    bool guessed;  /* the rank is */
};

#define HS_CALLER_GUESSED (HS_NO_ID - (1u << 30))

/* All of them, by communicator, dump and group. False without memory. */
bool hs_callers_find(const struct hs_identity *identity, struct hs_arena *arena,
                     struct hs_caller **out, uint32_t *count);

#endif
