/*
 * align.h - the sequence streams of every group side by side: who is where.
 *
 * One attempt of a job becomes seats (a rank with its judged dump), groups (one communicator across
 * ranks) and positions (a seat in a group). Collectives are compared by (backend, group name,
 * ordered members) and sequence number - never by record number, never by clock. Everything here
 * is an array of plain rows in one arena, and numbers refer to rows.
 */
#ifndef HS_ANALYZER_ALIGN_H
#define HS_ANALYZER_ALIGN_H

#include "schema/job.h"

/* A process group, or one backend of it, across all ranks of the attempt. */
struct hs_group {
    uint32_t name, desc, backend; /* strings of the job; HS_NO_ID: unknown */
    const uint32_t *ranks;        /* global ranks in group order */
    uint32_t size;
    uint32_t *positions;  /* by index in `ranks`; HS_NO_ID: the rank has no dump here */
    bool members_assumed; /* no dump names the members: those who used it are taken for them */
    bool has_pairs;   /* carries sends and receives: its watchdog counters mix two number spaces */
    bool has_batches; /* some rank batches its sends and receives */
    bool has_orphans; /* pairs that cannot be judged: the peer is unknown */
    bool marks_nothing;  /* its backend never marks completion: retired means finished */
    bool contradicted;   /* a member never entered what, by its peers' records, has finished */
    uint32_t proved;     /* highest sequence number that some finished call proves all entered */
    uint32_t finished;   /* highest that some member finished */
    uint32_t least;      /* lowest position of a member with a dump */
    struct hs_str label; /* description if unique in the job, else description(name) */
};

/* A rank of the attempt, with the dump that speaks for it. */
struct hs_seat {
    uint32_t rank, dump;
    uint32_t earlier_dump;                 /* of the same rank, superseded; HS_NO_ID */
    uint32_t first_pending, pending_count; /* in hs_alignment.pending */
    uint32_t host;    /* string of the alignment's own; see hs_alignment.hosts */
    bool from_start;  /* its ring begins at the first call of the process */
    bool only_active; /* made without finished calls */
    bool older;       /* peers finished what it has not entered: an earlier moment */
    bool lost;        /* its oldest unfinished call was overwritten */
    uint32_t stale;   /* symmetric calls that it shows unfinished and a peer finished */
    uint32_t head;    /* pending unit it is blocked in; HS_NO_ID */
};

/* A seat in a group. */
struct hs_position {
    uint32_t seat, group;
    uint32_t member;         /* row of the job; HS_NO_ID: the dump does not know the group */
    uint32_t entered;        /* highest collective sequence number entered */
    uint32_t first_recorded; /* lowest in the ring; 0: none */
    uint32_t last_recorded;
    uint32_t first_unfinished; /* UINT32_MAX: none */
    uint32_t finished;         /* everything up to here */
    uint32_t status_completed; /* by the watchdog's counter, where it can be read; 0 */
    uint32_t last_op;          /* index of its latest operation in this group; HS_NO_ID */
    uint32_t calls;            /* operations recorded in this group */
    bool known; /* something shows the position: an operation, a counter, a full ring */
};

enum hs_unit_kind {
    HS_UNIT_COLLECTIVE,
    HS_UNIT_PAIR, /* one send or receive */
    HS_UNIT_BATCH /* several in one group call */
};

/* What a rank has begun and not finished; units of a seat stand in record order. */
struct hs_unit {
    uint32_t seat, group, position;
    uint32_t seq, p2p_seq;
    uint32_t first_op, last_op; /* of the dump's operations; a batch's members lie between */
    uint8_t kind;
    bool has_end; /* the entry that closes the batch is there */
    bool finished;
    bool ambiguous; /* cannot tell whether it finished: never a head, never makes a rank idle */
    uint32_t first_exchange, exchange_count; /* PAIR, BATCH: in hs_alignment.exchanges */
};

/* One send or receive of an unfinished unit. */
struct hs_exchange {
    uint32_t unit, op;
    uint32_t pair;    /* row of hs_alignment.pairs */
    uint32_t ordinal; /* the k-th of its pair in this ring, from 1 */
};

/* One direction between a seat and a peer in one group, as this seat recorded it. */
struct hs_pair {
    uint32_t seat, group, peer; /* peer: global rank */
    bool send;
    uint32_t count;            /* recorded in the ring */
    uint32_t unfinished;       /* how many of them */
    uint32_t first_unfinished; /* the earliest, an exchange; HS_NO_ID */
    int64_t last_created_ns;   /* of the latest finished one: when it was made, */
    int64_t last_done_ns;      /* and when its end was seen; 0: unknown */
};

struct hs_alignment {
    const struct hs_job *job;
    struct hs_arena arena;
    struct hs_seat *seats; /* by rank */
    uint32_t seat_count;
    struct hs_group *groups; /* by order of first use */
    uint32_t group_count, group_cap;
    struct hs_position *positions; /* by seat and its member order */
    uint32_t position_count, position_cap;
    uint32_t *position_of_member; /* by row of job->members; HS_NO_ID */
    struct hs_unit *pending;
    uint32_t pending_count, pending_cap;
    struct hs_exchange *exchanges;
    uint32_t exchange_count, exchange_cap;
    struct hs_pair *pairs;
    uint32_t pair_count, pair_cap;
    uint32_t *pair_slots; /* hash of pairs; id + 1 */
    uint32_t pair_slot_count;
    uint32_t **ordinals; /* by seat: sequence numbers of our own, where a process counts all its
                            groups with one counter (torchcomms); NULL otherwise */
    bool single_counter;
    bool counter_unreadable; /* single counter over rings that wrapped: positions are unknown */
    bool any_finished;       /* some work is known to have completed */
    int64_t last_ns;         /* latest stamp of any kind in the attempt */
};

void hs_alignment_init(struct hs_alignment *al, const struct hs_job *job);
void hs_alignment_release(struct hs_alignment *al);

/* The dumps (sorted by rank, one per rank) become seats, groups, positions and pending units. */
enum hs_status hs_align(struct hs_alignment *al, const uint32_t *dumps,
                        const uint32_t *earlier_dumps, uint32_t count, struct hs_err *err);

/* Steps of hs_align(), each in a file of its own. */
enum hs_status hs_align_groups(struct hs_alignment *al, struct hs_err *err);
enum hs_status hs_align_units(struct hs_alignment *al, struct hs_err *err);
void hs_align_fronts(struct hs_alignment *al);

static inline const struct hs_dump *hs_seat_dump(const struct hs_alignment *al, uint32_t seat)
{
    return &al->job->dumps[al->seats[seat].dump];
}

static inline uint32_t hs_op_seq(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    return al->ordinals ? al->ordinals[seat][op] : hs_seat_dump(al, seat)->operations[op].seq;
}

static inline const struct hs_signature *hs_op_signature(const struct hs_alignment *al,
                                                         uint32_t seat, uint32_t op)
{
    return &al->job->signatures[hs_seat_dump(al, seat)->operations[op].signature];
}

/* The position of an operation's group on its seat. */
static inline uint32_t hs_op_position(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    const struct hs_dump *dump = hs_seat_dump(al, seat);

    return al->position_of_member[dump->first_member + dump->operations[op].member];
}

/* Whether a member with a dump has finished collective `seq` (it may have left the ring). */
static inline bool hs_position_finished(const struct hs_position *p, uint32_t seq)
{
    return p->status_completed >= seq || (p->entered >= seq && p->first_unfinished > seq);
}

/* The calls of a group that all its members have on record; high < low: none. */
struct hs_window {
    uint32_t low, high;
};

struct hs_window hs_common_window(const struct hs_alignment *al, const struct hs_group *group);

/* The seat of a rank; HS_NO_ID when it left no dump. */
uint32_t hs_seat_of_rank(const struct hs_alignment *al, uint32_t rank);

/* The pair of a seat with a peer; HS_NO_ID when there is none. */
uint32_t hs_pair_find(const struct hs_alignment *al, uint32_t seat, uint32_t group, uint32_t peer,
                      bool send);

#endif
