/*
 * verdict.h - what was decided, as plain data. The analyzer fills it, renderers print it.
 *
 * Meaning of every field: docs/verdict.md. Ranks are global. Lists are sorted and complete. All
 * memory belongs to `arena`; texts of the input are fit to print.
 */
#ifndef HS_SCHEMA_VERDICT_H
#define HS_SCHEMA_VERDICT_H

#include "schema/event.h"
#include "schema/messages.h"

enum hs_confidence { HS_LOW, HS_MEDIUM, HS_HIGH };
enum hs_severity { HS_NOTE, HS_WARNING, HS_ERROR };

#define HS_UNKNOWN UINT64_MAX /* of a u64 in a verdict: null */

struct hs_culprit {
    uint32_t rank;      /* HS_NO_ID: only the host is known */
    struct hs_str host; /* .p NULL: unknown */
    uint32_t gpu;       /* HS_NO_ID: unknown */
    const char *role;
};

struct hs_verdict_operation {
    struct hs_str group, group_name; /* label, recorded name */
    uint64_t group_size;
    uint64_t seq; /* HS_UNKNOWN for point-to-point */
    struct hs_str op, recorded;
    uint32_t src, dst; /* global ranks; HS_NO_ID for collectives */
    uint64_t numel_in, numel_out;
    struct hs_str dtype; /* .p NULL: unknown */
};

struct hs_evidence {
    struct hs_str source;
    uint64_t line, record, offset_bytes; /* HS_UNKNOWN: not of this kind */
    uint32_t rank;                       /* HS_NO_ID: unknown */
    struct hs_str excerpt;
    size_t mark;         /* byte of the excerpt where the words begin that tell what it is about */
    struct hs_str stack; /* the user's frames; .p NULL: none */
};

struct hs_finding {
    const char *code; /* a topic */
    enum hs_severity severity;
    struct hs_phrase detail;
    const uint32_t *ranks;
    uint32_t rank_count;
    struct hs_evidence *evidence;
    uint32_t evidence_count;
};

struct hs_alternative {
    const char *code;
    enum hs_confidence confidence;
    struct hs_culprit *culprits;
    uint32_t culprit_count;
    struct hs_phrase why;
};

/* Ranks in the same place, for the screen: "ranks 1-7 in ALLREDUCE #943". */
struct hs_standing {
    const uint32_t *ranks;
    uint32_t rank_count;
    struct hs_str host; /* of all of them; .p NULL: several or unknown */
    bool culprit;
    bool direct;            /* in the operation that the verdict names */
    struct hs_phrase where; /* in, after, or nothing known */
    struct hs_str stack;    /* user frames, innermost first; .p NULL: not recorded */
};

struct hs_source_coverage {
    struct hs_str path;
    const char *format; /* NULL: not read */
    uint32_t records, diagnostics;
    const char *standing; /* judged, superseded, duplicate, other-attempt, unread */
};

/* A rank without a dump, bounded by what its peers saw. */
struct hs_bound {
    uint32_t rank;
    struct hs_str group;
    uint64_t entered, not_past; /* HS_UNKNOWN: no bound */
};

struct hs_attempt_coverage {
    uint32_t id;
    const uint32_t *ranks;
    uint32_t rank_count;
    int64_t from_ns, to_ns; /* 0: unknown */
    const char *code;
};

struct hs_verdict {
    struct hs_arena arena;
    const char *code, *cause; /* cause NULL: none is supported */
    enum hs_confidence confidence;
    const char *action;
    struct hs_phrase summary;
    struct hs_culprit *culprits;
    uint32_t culprit_count;
    bool has_operation;
    struct hs_verdict_operation operation;
    const uint32_t *waiting;
    uint32_t waiting_count;
    int64_t hang_began_ns;     /* 0: unknown */
    uint32_t hang_began_clock; /* enum hs_clock: what is known of it */
    struct hs_phrase why;      /* the proof in one sentence, for the screen */
    struct hs_phrase doubt;    /* the first reason why it is not high; .key NULL */
    struct hs_alternative *alternatives;
    uint32_t alternative_count;
    struct hs_finding *findings;
    uint32_t finding_count, finding_cap;
    struct hs_phrase *next_steps;
    uint32_t next_count;
    struct hs_standing *standings;
    uint32_t standing_count;
    /* coverage */
    uint64_t world_size; /* HS_UNKNOWN */
    const uint32_t *dump_ranks, *log_ranks, *silent_ranks;
    uint32_t dump_rank_count, log_rank_count, silent_rank_count;
    const uint32_t *undumped_ranks, *unlogged_ranks; /* seen, but not by a dump or not by a log */
    uint32_t undumped_rank_count, unlogged_rank_count;
    uint32_t log_count; /* texts that were read */
    struct hs_source_coverage *sources;
    uint32_t source_count;
    struct hs_attempt_coverage *attempts; /* other than the judged one */
    uint32_t attempt_count;
    struct hs_bound *bounds;
    uint32_t bound_count;
    struct hs_str run; /* of a replay on GPUs: what it showed, as JSON; .p NULL: none */
};

void hs_verdict_release(struct hs_verdict *verdict);

#endif
