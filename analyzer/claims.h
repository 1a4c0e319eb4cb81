/*
 * claims.h - what the evidence could mean, before anybody decides.
 *
 * A claim is one reading: these ranks, this code, that operation, so many ranks waiting because of
 * it, and every reason why it might be otherwise. Those who look (waits, mismatch, and later the
 * rules over log lines) make claims; verdict.c alone orders them.
 */
#ifndef HS_ANALYZER_CLAIMS_H
#define HS_ANALYZER_CLAIMS_H

#include "analyzer/callsites.h"
#include "analyzer/line_waits.h"
#include "analyzer/mismatch.h"
#include "analyzer/waits.h"

/* Reasons why a claim is not certain: any of them keeps it from `high`. */
enum hs_doubt {
    HS_DOUBT_AGE = 1,        /* nothing shows that the wait is longer than a healthy one */
    HS_DOUBT_MEMBERS = 2,    /* a member of the operation was not seen */
    HS_DOUBT_OLDER = 4,      /* some dump is from an earlier moment */
    HS_DOUBT_FIRST_USE = 8,  /* the subject never used this group before: creation is unrecorded */
    HS_DOUBT_KIND = 16,      /* this kind of reading is never more than likely */
    HS_DOUBT_WITNESS = 32,   /* rests on ranks that left no dump */
    HS_DOUBT_CUT = 64,       /* a dump of a member ended early */
    HS_DOUBT_LEAD = 128,     /* a lead only */
    HS_DOUBT_ASSUMED = 256,  /* the members of the group are assumed, not recorded */
    HS_DOUBT_CONFLICT = 512, /* a line says otherwise */
};

/* Whom a claim from lines names: a rank, or only a host. */
struct hs_named {
    uint32_t rank; /* HS_NO_ID: only the host is known, or not even that */
    uint32_t host; /* of hs_identity.hosts; HS_NO_ID: unknown */
    const char *role;
};

/* A line to cite. */
struct hs_place {
    uint32_t source;
    uint64_t line;
    uint32_t rank; /* who is meant by it; HS_NO_ID: unknown */
};

/* What a claim from lines is about. Lists are sorted; ids are those of the job. */
struct hs_line_claim {
    const char *rule; /* topic that explains it; NULL: the code's own */
    struct hs_named *named;
    uint32_t named_count;
    const uint32_t *waiting; /* global ranks */
    uint32_t waiting_count;
    const struct hs_line_wait *wait;  /* the call that is waited in; NULL: none is known */
    const struct hs_line_wait *other; /* what another side of a mismatch is in; NULL */
    const char *summary, *why;        /* messages */
    struct hs_str detail;             /* what happened, for a slot of theirs; p NULL */
    int64_t began_ns, at_ns;          /* 0: unknown */
    uint32_t clock;                   /* of began_ns */
};

struct hs_claim {
    const char *code, *cause, *role; /* cause may be NULL */
    bool alternative;                /* told beside the decision, never decided for */
    bool weak;                       /* its subject may itself be waiting: unseen, or unclear */
    uint32_t reach;                  /* ranks whose waiting ends here */
    unsigned doubts;                 /* enum hs_doubt */
    /* what it is about; the decision does not look below this line */
    uint32_t *culprits; /* seats, or ranks if `unseen` */
    uint32_t culprit_count;
    bool unseen;
    uint32_t node;           /* where the others wait; HS_NO_ID */
    const uint32_t *waiters; /* seats */
    uint32_t waiter_count;
    const struct hs_mismatch *mismatch; /* NULL: none */
    const struct hs_cycle *cycle;       /* NULL: none */
    struct hs_line_claim *line;         /* NULL: it is from dumps */
    const struct hs_place *places;      /* lines to cite, the best first */
    uint32_t place_count;
};

struct hs_claims {
    struct hs_claim *rows;
    uint32_t count, cap;
};

/* Every reading of the graph; texts and lists in `arena`. */
enum hs_status hs_claims_from_waits(const struct hs_waits *waits, struct hs_arena *arena,
                                    struct hs_claims *out, struct hs_err *err);
void hs_claims_release(struct hs_claims *claims);

#endif
