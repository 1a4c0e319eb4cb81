/* limits.h - every bound that we put on input or on ourselves, in one place. */
#ifndef HS_BASE_LIMITS_H
#define HS_BASE_LIMITS_H

#include <stdint.h>

#define HS_SOURCE_BYTES_MAX (1ull << 30)   /* one input file, decompressed */
#define HS_ARCHIVE_BYTES_MAX (64ull << 30) /* all members of one archive, decompressed */
#define HS_ARCHIVE_RATIO_MAX 1000u         /* decompressed : compressed, past the first 64 MiB */
#define HS_ARCHIVE_NEST_MAX 2u             /* an archive inside an archive, no deeper */
#define HS_SOURCES_MAX 1000000u            /* files of one job */
#define HS_PATH_DEPTH_MAX 64u              /* folders inside folders */
#define HS_PROBE_BYTES 4096u               /* what a parser sees before it bids */

#define HS_VALUE_DEPTH_MAX 1000u      /* containers open at once in a pickle or JSON document */
#define HS_VALUE_CELLS_MAX (1u << 27) /* values held at once */
#define HS_VALUE_MEMO_MAX (1u << 26)  /* memo slots of one pickle */
#define HS_NUMBER_DIGITS_MAX 4300u    /* decimal digits of one integer, CPython's own limit */

#define HS_TIME_NS_MAX ((INT64_C(1) << 62) - 1) /* the year 2116: sums of two fit */
#define HS_RANK_MAX 10000000u                   /* a larger number is no rank */
#define HS_GROUPS_MAX 65535u                    /* process groups of one dump */
#define HS_OPERATIONS_MAX (1u << 26)            /* entries of one dump */
#define HS_NAME_BYTES_MAX 65536u                /* an operation's, group's or file's name */
#define HS_FRAMES_MAX 1024u                     /* frames of one stack */
#define HS_TENSORS_MAX 65536u           /* tensors of one operation, and dimensions of one tensor */
#define HS_DIAGNOSTICS_MAX 1000u        /* kept per source; further ones are counted */
#define HS_EXCERPT_BYTES 160u           /* of input shown in a diagnostic or as evidence */
#define HS_TEXT_LINE_BYTES_MAX 16384u   /* of a kept log line */
#define HS_CHUNK_BYTES (256u << 10)     /* of a stream at once */
#define HS_CHUNKS_AHEAD 8u              /* read before they are parsed */
#define HS_LOOKS_MAX 16384u             /* lines of a chunk that are looked at ahead */
#define HS_LEARN_BYTES (64u << 10)      /* of a text, looked at before it is read */
#define HS_LINE_BYTES_MAX (1u << 20)    /* of a line of text; the rest of a longer one is skipped */
#define HS_LINE_HITS_MAX 4096u          /* literals found in one line */
#define HS_SPEAKERS_MAX (1u << 18)      /* of one source */
#define HS_EVENTS_MAX (1u << 18)        /* of one source, different ones */
#define HS_COMMUNICATORS_MAX (1u << 17) /* of one source */
#define HS_LINKS_MAX (1u << 18)         /* of one source */
#define HS_FACTS_MAX (1u << 19)         /* of one source */
#define HS_CALLS_MAX (1u << 23)         /* of COLL and CALL lines of one source */
#define HS_SIGNATURES_MAX (1u << 18)    /* of them, different ones */
#define HS_FRAME_KINDS_MAX (1u << 20)   /* of stacks in one text, different ones */
#define HS_STACKS_MAX (1u << 16)        /* of one text, different ones */
#define HS_DEVICE_STREAMS_MAX 256u      /* of one process */
#define HS_TEXTS_BYTES_MAX (32u << 20)  /* of different texts of one source */
#define HS_KEPT_BYTES_MAX (32u << 20)   /* of lines of one source that are evidence, packed */
#define HS_FACT_LINES_MAX 64u           /* kept as evidence of the same value */
#define HS_CHAINED_FACTS_MAX 16u        /* of a speaker, looked through one by one */
#define HS_ARGS_MAX 128u                /* names and values of one event */
#define HS_JOINED_LINES_MAX 64u         /* physical lines that are one record */
#define HS_SEGMENT_BYTES_MAX 262144u    /* of text looked at as one piece */
#define HS_ATTEMPTS_MAX 4096u           /* of a job, and cuts of one text */
#define HS_RECORDS_OPEN_MAX 4096u       /* records of several lines that are open at once */
#define HS_RECORDS_OF_SPEAKER_MAX 64u   /* of them of one speaker */
#define HS_RECORD_LINES_MAX 10000u      /* other lines of a speaker before its record is given up */
#define HS_RECORD_VALUES_MAX 16u        /* of one record */
#define HS_WORKERS_MAX 256u
#define HS_RULES_MAX 4096u        /* diagnoses, the user's included */
#define HS_RULES_BYTES (4u << 20) /* of a file of rules */
#define HS_SYMPTOMS_MAX 65536u    /* lines that one rule finds; the rest is left out */

#define HS_FAMILIES_MAX 1024u                /* kinds of lines */
#define HS_FAMILY_ROWS_MAX 64u               /* literals, or examples, of one of them */
#define HS_FAMILY_FOUND_MAX 16u              /* kinds that one record may be of */
#define HS_PATTERN_NAMES_MAX 32u             /* names of groups of a pattern */
#define HS_PATTERN_GROUPS_MAX 127u           /* its groups that capture */
#define HS_PATTERN_BYTES_MAX 8192u           /* of text that a pattern sees at once */
#define HS_PATTERN_STEPS_MAX 100000u         /* of backtracking at one place of the text */
#define HS_PATTERN_HEAP_BYTES_MAX (8u << 20) /* for backtracking without JIT */

#define HS_PAGE_BYTES_MAX (16u << 20)       /* a template of a page */
#define HS_REPORT_RANKS_MAX (1u << 17)      /* of a report */
#define HS_REPORT_COLUMNS_MAX 65536u        /* of one matrix */
#define HS_REPORT_TAIL_CELLS_MAX (1u << 20) /* of all matrices, with exact times */
#define HS_REPORT_RECORDS_MAX (1u << 18)    /* told exactly */
#define HS_REPORT_CLASSES_MAX 64u           /* by calls; more are put together by place */
#define HS_FLEET_JOBS_MAX (1u << 22)        /* found by one batch */
#define HS_FLEET_LIST_MAX (1u << 20)        /* culprits, findings or frames of one job */
#define HS_FLEET_MESSAGE_MAX (64u << 20)    /* what the process of a job may tell */
#define HS_FLEET_AT_ONCE_MAX 256u           /* jobs judged at a time */
#define HS_FLEET_COMMIT_JOBS 256u           /* judged before they are written, */
#define HS_FLEET_COMMIT_MS 1000             /* or so much time */
#define HS_FLEET_PAGE_JOBS_MAX 131072       /* of a fleet that its page shows, the newest */
#define HS_FLEET_PAGE_NAMES_MAX 1048576     /* hosts, GPUs and places that these name */
#define HS_FLEET_MEMORY_MIN (256ull << 20)  /* what a job may use at least */

#define HS_PLAN_BYTES_MAX (1ull << 31)            /* a replay plan */
#define HS_STREAM_DATABASE_BYTES_MAX (1ull << 36) /* a database from a pipe, copied to a file */
#define HS_REPLAY_RANKS_MAX 1024u                 /* processes of a replay on GPUs */
#define HS_DEADLINE_S_MAX 1000000.0               /* --deadline */
#define HS_SCALE_MAX 1000.0                       /* --scale */
#define HS_PLAN_JUMPS_MAX (1u << 24) /* calls that a plan passes over, and positions it spans */
#define HS_PLAN_RANKS_MAX (1u << 17) /* ranks of a plan, and of one of its groups */
#define HS_EDITS_MAX 64u             /* --what-if */
#define HS_MINIMIZE_RUNS 200u        /* dry runs of one --minimize */
#define HS_PLAN_SLOTS_MAX 4096u      /* groups of one rank of a plan */

#endif
