/*
 * identity_internal.h - what the files behind identity.h share; nobody else includes it.
 *
 * A body is the smallest thing that is surely one process in one attempt: a host and pid, a rank
 * tag, a local rank on a host, a file that one process writes. A speaker can show several of them.
 * Witnesses say which rank a body has; bodies of one rank are one process.
 */
#ifndef HS_ANALYZER_IDENTITY_INTERNAL_H
#define HS_ANALYZER_IDENTITY_INTERNAL_H

#include "analyzer/identity.h"

enum hs_body_kind {
    HS_BODY_PID,        /* a pid; scope: host */
    HS_BODY_PID_HERE,   /* a pid on an unknown host; scope: source */
    HS_BODY_LOCAL,      /* a local rank; scope: host */
    HS_BODY_LOCAL_HERE, /* a local rank on an unknown host, of a task or none; scope: source */
    HS_BODY_TASK,       /* a task number; scope: source */
    HS_BODY_FILE,       /* who writes this file; scope: source, number: run */
    HS_BODY_RANK,       /* a rank; scope: enum hs_known */
    HS_BODY_DUMP,       /* who left this dump; number: dump */
};

struct hs_body {
    uint32_t kind, attempt, scope, number, task; /* the key */
    uint32_t same_as;                            /* another body that is this process; itself */
    bool ambiguous; /* it could be several others, and is none of them */
    bool two_ranks; /* by witnesses of one kind: it stays unknown */
    bool two_hosts, two_locals;
    bool mouthpiece;      /* it passes on what several ranks print */
    bool speaks;          /* a voice is its own: it is not only spoken of */
    uint32_t rank, known; /* HS_NO_ID; enum hs_known */
    uint32_t host, pid, local_rank;
    uint32_t lines, source;
    uint64_t line;
    uint32_t process;
};

/* A HS_BODY_PID, to be found without its host. */
struct hs_pid_body {
    uint32_t attempt, pid, body;
};

/* What a witness says of a body. */
struct hs_witness {
    uint32_t body, rank, known;
    uint32_t source;
    uint64_t line;
};

struct hs_inquiry {
    struct hs_identity *id;
    const struct hs_job *job;
    struct hs_arena *arena; /* of id */
    struct hs_arena scratch;
    struct hs_intern hosts, keys; /* keys: of bodies */
    struct hs_body *bodies;
    uint32_t body_cap; /* keys.count are there */
    struct hs_witness *witnesses;
    uint32_t witness_count, witness_cap;
    uint32_t contradiction_cap;
    struct hs_pid_body *pids; /* HS_BODY_PID by attempt and pid, as far as speakers show them */
    uint32_t pid_count;
    uint32_t *body_of_voice;   /* HS_NO_ID: nobody in particular */
    uint32_t *body_of_event;   /* the same; mostly its speaker's */
    uint32_t *first_of_source; /* speakers of a source lie together: the first; one more */
    bool *one_writer;          /* by source */
};

/* identity_hosts.c: names and addresses become hosts; afterwards host_of_string answers. */
bool hs_identity_find_hosts(struct hs_inquiry *q);

/* identity_attempts.c: sources are cut into runs, speakers into voices. */
bool hs_identity_find_attempts(struct hs_inquiry *q);

/* identity_numbers.c: the runs get the numbers of attempts. */
bool hs_identity_number_attempts(struct hs_inquiry *q);

/* identity_bodies.c: every voice finds its bodies, and what it says of their ranks. */
bool hs_identity_find_bodies(struct hs_inquiry *q);

/* identity_witnesses.c: what events and communicators say of ranks. The first needs nothing but
 * bodies, the second communicators. */
bool hs_identity_hear_events(struct hs_inquiry *q);
bool hs_identity_hear_groups(struct hs_inquiry *q);

/* identity_ranks.c: witnesses give bodies their ranks. */
bool hs_identity_find_ranks(struct hs_inquiry *q);

/* The body of a key, made when it is met first; HS_NO_ID without memory. */
uint32_t hs_body_put(struct hs_inquiry *q, enum hs_body_kind kind, uint32_t attempt, uint32_t scope,
                     uint32_t number);

/* The same if it is there. */
uint32_t hs_body_find(const struct hs_inquiry *q, enum hs_body_kind kind, uint32_t attempt,
                      uint32_t scope, uint32_t number);

/* The one HS_BODY_PID with a pid, on whatever host; HS_NO_ID: none or several. */
uint32_t hs_body_of_pid(const struct hs_inquiry *q, uint32_t attempt, uint32_t pid);

/* The process that a body is, as far as bodies are known to be the same. */
static inline uint32_t hs_body_root(const struct hs_inquiry *q, uint32_t body)
{
    return body == HS_NO_ID ? HS_NO_ID : q->bodies[body].same_as;
}

/* A body is the process of a HS_BODY_PID, unless it was found to be another one before. */
void hs_body_is(struct hs_inquiry *q, uint32_t body, uint32_t pid_body);

bool hs_witness_put(struct hs_inquiry *q, const struct hs_witness *witness);
bool hs_contradiction_put(struct hs_inquiry *q, const struct hs_contradiction *row);

/* An argument of an event as a number; HS_NO_ID: it has none, or it is no rank or pid. */
uint32_t hs_event_number(const struct hs_job *job, const struct hs_event *event, const char *name);

/* The host of a string; HS_NO_ID. */
static inline uint32_t hs_host_of(const struct hs_identity *id, uint32_t string)
{
    return string == HS_NO_ID ? HS_NO_ID : id->host_of_string[string] - 1;
}

/* The run of a source that a line lies in. */
static inline uint32_t hs_run_at(const struct hs_identity *id, uint32_t source, uint64_t line)
{
    uint32_t low = id->first_run[source], high = id->first_run[source + 1];

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (id->runs[middle].first_line <= line)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The voice of a speaker at a line. */
static inline uint32_t hs_voice_at(const struct hs_identity *id, uint32_t speaker, uint64_t line)
{
    const struct hs_speaker *s = &id->job->speakers[speaker];
    uint32_t first = hs_run_at(id, s->source, s->first_line);
    uint32_t run = hs_run_at(id, s->source, line);
    uint32_t count = id->first_voice[speaker + 1] - id->first_voice[speaker];
    uint32_t at = run > first ? run - first : 0;

    return id->first_voice[speaker] + (at < count ? at : count - 1);
}

#endif
