/*
 * clocks.h - when things happened, on one clock: how far the clocks of hosts differ.
 *
 * An operation that several processes finished has an instant at which all had entered it and none
 * had finished it. Each process saw its own entering before and its own end after that instant, on
 * its own clock: that bounds by how much the clocks differ. All instants together leave an interval
 * for the offset of each clock against a reference clock; an empty one means that it is unknown.
 *
 * A clock is the stamps of one kind (enum hs_clock) on one host: times with and without zone or
 * year are never compared as they are. Where a process has no host it has a clock of its own, and
 * lines of nobody in particular have the clock of their source.
 */
#ifndef HS_ANALYZER_CLOCKS_H
#define HS_ANALYZER_CLOCKS_H

#include "analyzer/align.h"
#include "analyzer/identity.h"

enum hs_clock_scope { HS_CLOCK_OF_HOST, HS_CLOCK_OF_PROCESS, HS_CLOCK_OF_SOURCE };

struct hs_host_clock {
    uint32_t scope, number; /* enum hs_clock_scope, and which one */
    uint32_t kind;          /* enum hs_clock without HS_CLOCK_FINE */
    uint32_t reference;     /* of its frame: a clock; itself when it is tied to none */
    int64_t low, high;      /* its offset lies here: what it shows minus what the reference shows */
    uint32_t ties;          /* instants that it shares with others */
    bool contradicted;      /* its ties leave no offset */
};

struct hs_clocks {
    const struct hs_identity *id;
    struct hs_arena arena;
    struct hs_intern keys;
    struct hs_host_clock *list; /* by key */
    uint32_t count, cap;
};

/* Stamps of recorders: nanoseconds since the epoch. */
enum { HS_CLOCK_EPOCH = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE | HS_CLOCK_FINE };

/*
 * A time on the clock that `frame` is the number of: surely in [low, high], `ns` is the guess.
 * Clocks that nothing ties have frames of their own; if their kinds are equal, guesses may still be
 * compared by whoever trusts the hosts to keep their clocks.
 */
struct hs_moment {
    int64_t ns, low, high;
    uint32_t frame; /* HS_NO_ID: there is no time */
    uint32_t kind;  /* of the frame's clock */
};

void hs_clocks_init(struct hs_clocks *clocks, const struct hs_identity *id);
void hs_clocks_release(struct hs_clocks *clocks);

/* `al` holds the dumps of an attempt; NULL: there are none. */
enum hs_status hs_clocks_find(struct hs_clocks *clocks, const struct hs_alignment *al,
                              struct hs_err *err);

/* The clock of stamps of a kind that a process made, or nobody in particular in a source. */
uint32_t hs_clock_find(const struct hs_clocks *clocks, uint32_t process, uint32_t source,
                       uint32_t kind);

/* What a stamp of a clock means on the reference of its frame. */
struct hs_moment hs_clock_moment(const struct hs_clocks *clocks, uint32_t clock,
                                 struct hs_stamp stamp);

/* The first, and the last, of equal events; and a stamp that a dump's process made. */
struct hs_moment hs_clock_of_event(const struct hs_clocks *clocks, uint32_t event);
struct hs_moment hs_clock_of_last_event(const struct hs_clocks *clocks, uint32_t event);
struct hs_moment hs_clock_of_dump(const struct hs_clocks *clocks, uint32_t dump, int64_t ns);

/* -1: `a` was surely before `b`; 1: surely after it; 0: who knows. */
int hs_moment_order(const struct hs_moment *a, const struct hs_moment *b);

/* Whether a->ns and b->ns are times of one kind. */
bool hs_moment_comparable(const struct hs_moment *a, const struct hs_moment *b);

/* What `a` shows minus what `b` shows lies in [low, high]; false: it is unknown. */
bool hs_clock_offset(const struct hs_clocks *clocks, uint32_t a, uint32_t b, int64_t *low,
                     int64_t *high);

#endif
