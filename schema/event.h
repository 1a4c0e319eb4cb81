/*
 * event.h - what lines of text say, as rows of a job: who spoke, what was said, where it stands.
 *
 * A line is peeled, recognised by a family (parsers/families/) and kept as an event; what has a
 * shape of its own (communicators, links, settings) is a row of its own besides. All rows of one
 * source lie together, in the order of their lines. Numbers that a line does not give are
 * HS_NO_ID; times are as hs_stamp describes.
 */
#ifndef HS_SCHEMA_EVENT_H
#define HS_SCHEMA_EVENT_H

#include "base/intern.h"

/* What is known of a time besides its nanoseconds. A stamp without date lies in 1972-01-01, one
 * without year in 1972, one without zone is read as if it were UTC. */
enum hs_clock {
    HS_CLOCK_DATE = 1,  /* month and day */
    HS_CLOCK_YEAR = 2,  /* the year, too */
    HS_CLOCK_ZONE = 4,  /* the zone, too: ns are since the epoch */
    HS_CLOCK_BOOT = 8,  /* seconds since the host started, nothing else */
    HS_CLOCK_FINE = 16, /* finer than a second */
};

struct hs_stamp {
    int64_t ns;     /* 0: no time */
    uint32_t clock; /* enum hs_clock */
};

/* How the global rank of a speaker is known; a larger one is the better witness. */
enum hs_rank_from {
    HS_RANK_UNKNOWN,
    HS_RANK_FILE,     /* the name of the file or folder */
    HS_RANK_TASK,     /* the launcher's task number: only a hint */
    HS_RANK_LAUNCHER, /* the launcher says rank: MPI_COMM_WORLD, Lightning, an actor's name */
    HS_RANK_TAG,      /* [rankN]: of torch */
};

/* Whoever lines of one source are from, as far as they say; equal speakers are one row. */
struct hs_speaker {
    uint32_t source;
    uint32_t host; /* string */
    uint32_t role; /* string: pod, replica, actor, role of torchrun */
    uint32_t pid, rank, local_rank, task, device;
    uint32_t rank_from;             /* enum hs_rank_from */
    uint32_t lines;                 /* so many in all */
    uint64_t first_line, last_line; /* physical, from 1 */
    int64_t first_ns, last_ns;      /* of the lines that have a time; 0: none */
    uint32_t clock;                 /* of these two */
};

/*
 * Something that was said; equal events of a speaker are folded into one. `args` are strings by
 * twos, name and value, as the family captures them; those of the line's header come first: pg,
 * pg_desc, pg_rank, pg_id (the process group in front of c10d's messages), file and level.
 */
struct hs_event {
    uint32_t source, speaker;
    uint32_t family;          /* string: its name */
    uint32_t args;            /* list */
    uint32_t stack;           /* HS_NO_ID: none was printed */
    uint32_t count;           /* equal ones, this included */
    uint64_t line, last_line; /* where the record begins: the first, and the last equal one */
    int64_t time_ns, last_time_ns;
    uint32_t clock; /* enum hs_clock, of both */
};

/* A rank's end of an NCCL communicator: one row per process, pointer and epoch. */
struct hs_communicator {
    uint32_t source, speaker;
    uint64_t pointer; /* in the process; reused after it ended */
    uint32_t epoch;   /* how often the pointer was used before */
    uint32_t rank, size, device, nvml_device;
    uint32_t bus_id;            /* string */
    uint64_t comm_id;           /* the same on all ranks; 0: not printed */
    uint64_t parent;            /* pointer it was split from; 0: none */
    uint32_t color, key, child; /* of the split; `child` counts those of the parent, from 1 */
    uint64_t start_line, complete_line, end_line; /* 0: not seen */
    int64_t start_ns, complete_ns, end_ns;
    uint32_t clock;
    uint32_t end; /* string: Abort, Destroy, Revoke, Finalize; HS_NO_ID: none seen */
};

/* A connection of the topology, or a position in it. */
struct hs_link {
    uint32_t source, speaker;
    uint32_t communicator; /* row; HS_NO_ID: several are possible */
    uint32_t kind;         /* string: path, ring, tree, collnet */
    uint32_t channel;
    uint32_t from_rank, to_rank;
    uint32_t via;    /* string: NET/IB/0/GDRDMA; HS_NO_ID: not said */
    uint32_t thread; /* of the speaker: links of one thread and init belong together */
    uint32_t count;
    uint64_t line;
};

/* A setting, version or device of a process or host. */
struct hs_fact {
    uint32_t source, speaker;
    uint32_t name, value; /* strings: nccl.version, NCCL_SOCKET_IFNAME, net.device.0 */
    uint64_t line;
};

/*
 * The tables of rows that belong to a source, in the order of tables.def: rows of one source lie
 * together, sources rise, and a row refers only to rows of its own source (and to texts, lists and
 * stacks of the job). `source` is the first field of each.
 */
struct hs_line_table {
    const char *name;
    size_t rows, count, cap; /* offsets in struct hs_job */
    size_t row_bytes;
};

extern const struct hs_line_table hs_line_tables[]; /* ends with a NULL name */

#endif
