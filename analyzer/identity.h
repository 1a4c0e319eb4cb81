/*
 * identity.h - who spoke, and in which attempt: processes behind the speakers of a job.
 *
 * A speaker is what the lines of one file say of whoever wrote them, and often that is little: a
 * rank tag here, host and pid there. Speakers that are the same process become one process. A rank
 * is believed by the best witness there is (enum hs_known); a witness that a better one once
 * contradicts is not believed at all, and a process with two ranks by the same witness has none.
 *
 * Restarts cut each source, by line, into attempts; nothing is joined across them. Attempts are
 * counted from 0 in the order in which the text shows them. attempts.h counts those that left
 * dumps, also earliest first: where both see the same number they are the same, and the last of the
 * one is the last of the other, since a later attempt writes over the dumps of an earlier one.
 */
#ifndef HS_ANALYZER_IDENTITY_H
#define HS_ANALYZER_IDENTITY_H

#include "analyzer/communicators.h"
#include "schema/job.h"

/* How the global rank of a process is known; a larger one is the better witness. */
enum hs_known {
    HS_KNOWN_NOT,
    HS_KNOWN_TASK,     /* the task number of srun or mpirun */
    HS_KNOWN_BARE,     /* `[Rank N]`, in a job that shows one process group only */
    HS_KNOWN_FILE,     /* the name of its file */
    HS_KNOWN_NODE,     /* its local rank, on a host whose ranks follow each other */
    HS_KNOWN_TABLE,    /* torchrun's table of failed processes */
    HS_KNOWN_WORLD,    /* its place in the communicator of all processes */
    HS_KNOWN_GROUP,    /* its place in the default process group */
    HS_KNOWN_LAUNCHER, /* the launcher says rank */
    HS_KNOWN_TAG,      /* [rankN]: of torch */
};

/* "rank-tag", "launcher", ...; "unknown" for HS_KNOWN_NOT. Static. */
const char *hs_known_word(enum hs_known known);

/* One process in one attempt; by attempt, rank, host and pid. */
struct hs_process {
    uint32_t attempt; /* HS_NO_ID: in which one is unknown */
    uint32_t rank;    /* global; HS_NO_ID: unknown */
    uint32_t known;   /* enum hs_known */
    uint32_t host;    /* of hs_identity.hosts; HS_NO_ID: unknown, or it was seen on two */
    uint32_t pid;     /* of most of its lines; HS_NO_ID */
    uint32_t local_rank;
    uint32_t lines;  /* that it wrote as far as the text says; 0: only others speak of it */
    uint32_t source; /* where it is met first; HS_NO_ID: in no text */
    uint64_t line;
};

/* Two witnesses that cannot both be right. */
struct hs_contradiction {
    const char *what;     /* two-ranks, two-hosts, distrusted (a weaker kind of witness) */
    uint32_t process;     /* HS_NO_ID */
    uint32_t rank, other; /* what the better or earlier witness says, and the other */
    uint32_t known, by;   /* enum hs_known, of both */
    uint32_t source;      /* of the other */
    uint64_t line;
};

/* Lines of a source from `first_line` on, up to the next run: one attempt. */
struct hs_run {
    uint64_t first_line;
    uint32_t source, attempt; /* HS_NO_ID: which one is unknown */
};

/* A speaker in one attempt. */
struct hs_voice {
    uint32_t process; /* HS_NO_ID: nobody in particular */
};

/* A process in a process group, as c10d's lines name it. */
struct hs_seat_in_group {
    uint32_t attempt;
    uint32_t group, group_rank; /* string; place in it */
    uint32_t process;           /* HS_NO_ID: lines disagree */
};

struct hs_identity {
    const struct hs_job *job;
    struct hs_arena arena;
    uint32_t attempt_count; /* at least 1 */
    struct hs_str *hosts;   /* names; of one host each */
    uint32_t host_count;
    struct hs_process *processes;
    uint32_t process_count;
    struct hs_contradiction *contradictions;
    uint32_t contradiction_count;
    struct hs_comms comms;
    uint32_t *process_of_event;
    struct hs_seat_in_group *seats; /* by attempt, group and place in it */
    uint32_t seat_count;
    /* for the functions below */
    struct hs_run *runs;
    uint32_t *first_run; /* by source, and one more */
    struct hs_voice *voices;
    uint32_t *first_voice; /* by speaker, and one more */
    uint32_t *host_of_string;
    struct hs_pid_row *pids;
    uint32_t pid_count;
};

void hs_identity_init(struct hs_identity *id, const struct hs_job *job);
void hs_identity_release(struct hs_identity *id);

/* Find out about a finished job. */
enum hs_status hs_identity_find(struct hs_identity *id, struct hs_err *err);

/* The attempt that a line belongs to; HS_NO_ID: unknown. */
uint32_t hs_identity_attempt(const struct hs_identity *id, uint32_t source, uint64_t line);

/* The process behind a speaker at a line; HS_NO_ID: nobody in particular. */
uint32_t hs_identity_speaker(const struct hs_identity *id, uint32_t speaker, uint64_t line);

/* The process of a rank, with this pid on this host, or in this place of a process group. */
uint32_t hs_identity_rank(const struct hs_identity *id, uint32_t attempt, uint32_t rank);
uint32_t hs_identity_pid(const struct hs_identity *id, uint32_t attempt, uint32_t host,
                         uint32_t pid);
uint32_t hs_identity_in_group(const struct hs_identity *id, uint32_t attempt, uint32_t group,
                              uint32_t group_rank);

/* The host that a string of the job names, as name or address; HS_NO_ID: none that speaks. */
uint32_t hs_identity_host(const struct hs_identity *id, uint32_t string);

/* The process behind a dump: of its own speaker, or of its rank in the last attempt. */
uint32_t hs_identity_dump(const struct hs_identity *id, uint32_t dump);

#endif
