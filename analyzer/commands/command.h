/*
 * command.h - what a command is: one row of the table in commands.c, one file of its own.
 *
 * Options are read by a table too (options.c), so that help, completion and errors about bad use
 * come from the same rows.
 */
#ifndef HS_ANALYZER_COMMAND_H
#define HS_ANALYZER_COMMAND_H

#include "analyzer/align.h"
#include "analyzer/rules.h"
#include "base/limits.h"
#include "parsers/driver.h"
#include "replay/semantics.h"
#include "schema/derived.h"
#include "schema/report.h"
#include "schema/timeline.h"
#include "schema/verdict.h"

/* Exit status by contract (docs/verdict.md). */
enum { HS_EXIT_OK = 0, HS_EXIT_FAULT = 1, HS_EXIT_USAGE = 2, HS_EXIT_OPEN = 3, HS_EXIT_BROKEN = 4 };

enum hs_sql_format { HS_SQL_TABLE, HS_SQL_CSV, HS_SQL_JSONL };

struct hs_streams;

/* Every option of every command; which command takes which is in the table. */
struct hs_options {
    const char **paths;
    uint32_t path_count;
    const struct hs_streams *streams; /* those of the paths, opened; NULL: not yet */
    bool databases_only;              /* of merge */
    bool help, version;
    int verbosity; /* -q -1, -v 1, -vv 2 */
    bool color, progress;
    enum hs_language language;
    uint64_t world_size; /* 0: unknown */
    const struct hs_parser *parser;
    unsigned workers;             /* 0: one per CPU */
    struct hs_rank_place *places; /* --rank-map */
    uint32_t place_count, place_cap;
    struct hs_rules *rules; /* --rules: the program's and the user's; NULL: none was given */
    bool json, exit_zero, list, force;
    const char *output;        /* -o */
    const char *database;      /* --db */
    const char *report;        /* --report */
    const char *page_template; /* --template; NULL: the one built in */
    const char *sql_file;      /* --file */
    enum hs_sql_format sql_format;
    const char *fail_on; /* NULL: any fault */
    /* plan, replay, emit */
    uint32_t window, fold;                /* 0: not given */
    const struct hs_semantics *semantics; /* --semantics; NULL: as the plan says */
    uint32_t *ranks;                      /* --ranks, sorted; NULL: all */
    uint32_t rank_count;
    const char *groups;              /* --groups; NULL: all */
    const char *edits[HS_EDITS_MAX]; /* --what-if */
    uint32_t edit_count;
    bool minimize;
    const char *backend; /* --backend; NULL: the command's own */
    /* replay --backend nccl: handed on as they were given; NULL: not */
    const char *deadline, *scale, *nccl_file;
    bool check_data, split;
    struct hs_span span; /* of timeline: --window */
    bool perfetto;       /* of timeline: --format */
    /* batch, fleet */
    const char *job_glob;      /* NULL: by the rule */
    uint32_t shard, shard_of;  /* from 0; of 0: all jobs */
    uint64_t timeout_s;        /* 0: the default */
    uint64_t job_memory_bytes; /* 0: a share of what there is */
    bool keep_db, keep_report, jsonl, restart;
    const struct hs_families *families; /* shared by jobs; NULL: each reads its own */
    const struct hs_rules *own_rules;   /* the same */
    struct hs_arena arena;              /* owns what was read from option files */
};

struct hs_command {
    const char *name;
    const char *arguments; /* "PATH..." */
    const char *summary;   /* one line */
    const char *options;   /* letters of option rows it takes, besides the common ones */
    const char *help;      /* the long text, with examples */
    int (*run)(const struct hs_options *options);
};

extern const struct hs_command hs_commands[]; /* ends with a NULL name */
const struct hs_command *hs_command_find(const char *name);

/* ---- options.c ---- */

/* Read the words after the command. HS_EUSAGE with what, where and what to do. */
enum hs_status hs_options_read(const struct hs_command *command, int argc, char **argv,
                               struct hs_options *out, struct hs_err *err);
void hs_options_release(struct hs_options *options);

/* What help and completion need of the option table: the n-th option a command takes. */
struct hs_option_text {
    const char *flag, *argument, *summary; /* "--json"; argument NULL if it takes none */
    char letter;                           /* short form; 0: none */
};
bool hs_option_of(const struct hs_command *command, size_t n, struct hs_option_text *out);

/* The candidate that a mistyped word is nearest to; NULL when none is near. */
const char *hs_nearest(const char *word, const char *const *candidates, size_t count);

/* ---- common.c ---- */

/* Write the result to standard output in full. HS_EIO (exit 4) when that cannot be done. */
enum hs_status hs_print_result(struct hs_str text, struct hs_err *err);

/* Say why on standard error; the exit status that fits `status`. */
int hs_give_up(enum hs_status status, const struct hs_err *err);

/* Print a verdict as the options want it, and the exit status that it means (verdict_output.c). */
struct timespec;
enum hs_status hs_print_verdict(const struct hs_verdict *verdict, const struct hs_options *options,
                                const struct timespec *start, struct hs_err *err);
int hs_verdict_exit(const struct hs_verdict *verdict, const struct hs_options *options);

/* A job as it was read, with what the user says of it or a database had kept of that. */
struct hs_read_job {
    struct hs_job job;
    struct hs_job_options about;
    struct hs_arena arena;
};

/* Find and read everything under the paths: files, folders, archives, databases. HS_EUSAGE when
 * nothing readable is there. hs_read_job_release() in any case. */
enum hs_status hs_read_job(const struct hs_options *options, struct hs_read_job *out,
                           struct hs_err *err);
void hs_read_job_release(struct hs_read_job *read);

/* HS_EUSAGE: it is not what `merge` takes. */
enum hs_status hs_not_a_database(const char *path, struct hs_err *err);

/* What the analyzer made of it. hs_judgement_release() in any case. */
struct hs_judgement {
    struct hs_verdict verdict;
    struct hs_derived derived; /* filled when a database is to be written, */
    struct hs_report report;   /* and when a page is */
};

/* What of it is wanted besides the verdict. */
struct hs_judging {
    bool tables, report;
};

enum hs_status hs_judge_job(const struct hs_options *options, const struct hs_read_job *read,
                            const struct hs_judging *want, struct hs_judgement *out,
                            struct hs_err *err);
void hs_judgement_release(struct hs_judgement *judgement);

/* Whether FILE may be written: it is not one of the inputs; and not somebody else's, either. */
enum hs_status hs_check_not_input(const struct hs_options *options, const char *path,
                                  struct hs_err *err);
enum hs_status hs_check_target(const struct hs_options *options, const char *path,
                               struct hs_err *err);

/* The same as hs_write_job() into a temporary file without a name, open for reading. */
enum hs_status hs_write_job_unnamed(const struct hs_read_job *read,
                                    const struct hs_judgement *judgement, int *fd,
                                    struct hs_err *err);

/* Write a job as a database, with facts, derived tables, findings and verdict. */
enum hs_status hs_write_job(const struct hs_options *options, const char *path,
                            const struct hs_read_job *read, const struct hs_judgement *judgement,
                            struct hs_err *err);

/* The same in two steps: all is written aside; then, if `status` is HS_OK, it gets its name. */
enum hs_status hs_write_job_aside(const struct hs_options *options, const char *path,
                                  const struct hs_read_job *read,
                                  const struct hs_judgement *judgement, int *fd,
                                  struct hs_err *err);
enum hs_status hs_write_job_end(const struct hs_options *options, enum hs_status status,
                                const char *path, int fd, struct hs_err *err);

/* ---- report.c, page_template.c ---- */

enum hs_page_kind { HS_PAGE_JOB, HS_PAGE_FLEET };

/* A page without data: of --template (read into `room`), or the one built in. HS_EUSAGE says how
 * to get it where there is none. */
enum hs_status hs_page_template(const struct hs_options *options, enum hs_page_kind kind,
                                struct hs_buf *room, struct hs_str *out, struct hs_err *err);

/* Write a judged job as a page to FILE (- is standard output). */
enum hs_status hs_write_page(const struct hs_options *options, const char *path,
                             const struct hs_judgement *judgement, struct hs_str page_template,
                             struct hs_err *err);

/* The same into a file that the caller ends by hs_text_file_close(), after HS_OK: `to` is where. */
struct hs_text_file;
enum hs_status hs_write_page_aside(const struct hs_options *to,
                                   const struct hs_judgement *judgement,
                                   struct hs_str page_template, struct hs_text_file *file,
                                   struct hs_err *err);

/* What an existing file must hold to be replaced without --force: every page has this title. */
#define HS_PAGE_MARK "<title>hangscope"

/* A fleet as a page: `fleet report` (fleet_report.c). */
enum hs_status hs_write_fleet_page(const struct hs_options *options, const char *fleet,
                                   struct hs_err *err);

/* ---- one per file ---- */
int hs_run_analyze(const struct hs_options *options);
int hs_run_ingest(const struct hs_options *options);
int hs_run_merge(const struct hs_options *options);
int hs_run_report(const struct hs_options *options);
int hs_run_batch(const struct hs_options *options);
int hs_run_fleet(const struct hs_options *options);
int hs_run_sql(const struct hs_options *options);
int hs_run_plan(const struct hs_options *options);
int hs_run_replay(const struct hs_options *options);
int hs_run_emit(const struct hs_options *options);
int hs_run_timeline(const struct hs_options *options);
int hs_run_formats(const struct hs_options *options);
int hs_run_explain(const struct hs_options *options);
int hs_run_completion(const struct hs_options *options);
int hs_run_help(const struct hs_options *options);

/* `hangscope help` and `hangscope help COMMAND`, as text. */
void hs_help_put(struct hs_buf *buf, const struct hs_command *command);

#endif
