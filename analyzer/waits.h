/*
 * waits.h - who waits for whom, and where every chain of waiting ends.
 *
 * A rank is blocked at its head: the earliest unfinished call in record order over all its groups.
 * Between the rank and those it waits for stands the operation (a node), so the graph is linear in
 * ranks. Holders of a node are members that have not entered it, that entered it but are blocked
 * earlier, or that nobody has seen. Every chain drains into a sink.
 */
#ifndef HS_ANALYZER_WAITS_H
#define HS_ANALYZER_WAITS_H

#include "analyzer/align.h"

enum hs_holding {
    HS_HOLDS_ABSENT,  /* has a dump and has not entered */
    HS_HOLDS_EARLIER, /* entered, but blocked before it */
    HS_HOLDS_STALE,   /* entered, but its completions are no longer seen */
    HS_HOLDS_UNSEEN,  /* left no dump */
    HS_HOLDS_UNCLEAR, /* its dump does not say: older, overwritten, cut short, recorder off */
};

/* "absent", "earlier", ... */
const char *hs_holding_word(enum hs_holding how);

struct hs_holder {
    uint32_t who; /* seat; for UNSEEN: seat_count + index into hs_waits.unseen */
    uint8_t how;  /* enum hs_holding */
};

/* An operation that ranks have as their head. */
struct hs_node {
    uint32_t group, seq; /* a collective */
    uint32_t unit;       /* of its first waiter; a pair or batch has a node of its own */
    bool is_pair;
    uint32_t first_holder, holder_count;
    uint32_t first_waiter, waiter_count; /* in hs_waits.waiters */
};

/* Where chains end. The strong kinds come first: an unseen rank may itself be a waiter. */
enum hs_sink_kind {
    HS_SINK_STUCK, /* a node that all its members entered and have as head */
    HS_SINK_CYCLE,
    HS_SINK_STALE,
    HS_SINK_IDLE,
    HS_SINK_UNSEEN,
    HS_SINK_UNCLEAR,
    HS_SINK_KINDS
};

struct hs_sinks {
    uint32_t reach; /* waiters whose chains get there */
    uint32_t *who;  /* STUCK: nodes; CYCLE: seats; UNSEEN: ranks; otherwise seats; sorted */
    uint32_t count;
    uint32_t *waiters; /* seats that reach them, sorted */
};

/* Ranks that wait for each other. */
struct hs_cycle {
    uint32_t *seats; /* all in it, sorted */
    uint32_t count;
    uint32_t *odd; /* those to name: the one whose removal breaks it, or the smallest cycle */
    uint32_t odd_count;
    bool singled_out;
    bool by_absence; /* some edge is a rank that has not entered, not order alone */
    uint32_t groups; /* distinct groups waited in */
};

struct hs_waits {
    const struct hs_alignment *al;
    struct hs_arena arena;
    struct hs_node *nodes;
    uint32_t node_count, node_cap;
    struct hs_holder *holders;
    uint32_t holder_count, holder_cap;
    uint32_t *held, *held_first; /* nodes by holder: v holds held[held_first[v]] .. before v + 1 */
    uint32_t *waiters;           /* seats, grouped by node */
    uint32_t *node_of_seat;      /* HS_NO_ID: not waiting */
    uint32_t *unseen;            /* ranks of some group without a dump, sorted */
    uint32_t unseen_count;
    uint32_t waiter_count; /* seats with a head */
    struct hs_cycle *cycles;
    uint32_t cycle_count;
    struct hs_sinks sinks[HS_SINK_KINDS];
};

/* Build the graph over a finished alignment; `al` outlives `waits`. */
enum hs_status hs_waits_build(struct hs_waits *waits, struct hs_alignment *al, struct hs_err *err);
void hs_waits_release(struct hs_waits *waits);

/* Find the cycles (waits.c's last step but one; cycles.c). */
enum hs_status hs_waits_find_cycles(struct hs_waits *waits, struct hs_err *err);

/* Mark every waiting seat that reaches one of `count` targets (vertices: seats, then unseen ranks,
 * then nodes). Returns how many. */
uint32_t hs_waits_reach(const struct hs_waits *waits, const uint32_t *targets, uint32_t count,
                        bool *reached, struct hs_arena *scratch);

static inline uint32_t hs_vertex_of_unseen(const struct hs_waits *w, uint32_t index)
{
    return w->al->seat_count + index;
}

static inline uint32_t hs_vertex_of_node(const struct hs_waits *w, uint32_t node)
{
    return w->al->seat_count + w->unseen_count + node;
}

#endif
