/* records_stacks.h - what a tool that prints stacks is, for the files that know some of them. */
#ifndef HS_PARSERS_RECORDS_STACKS_H
#define HS_PARSERS_RECORDS_STACKS_H

#include "parsers/records_internal.h"

/* How a tool begins a process or thread, and how it prints a call. */
struct hs_stack_tool {
    const char *name;
    bool outermost_first;
    /* What stands above the calls: false when the line is none of this tool's. */
    bool (*head)(struct hs_text *t, struct hs_open *open, struct hs_str line);
    bool (*call)(struct hs_str text, struct hs_call *out); /* function.p NULL: more of the last */
    bool headless;                                         /* heads may be missing */
};

extern const struct hs_stack_tool hs_stack_ucx, hs_stack_signal, hs_stack_kernel;

/* A thread begins (`thread` p NULL: it has no number); the one before it is told. */
void hs_stack_begin(struct hs_text *t, struct hs_open *open, struct hs_str thread);

/* "[node-a:4242] ": the process that Open MPI's handler puts in front of its lines, taken from
 * them; 0: none. */
uint64_t hs_stack_process(struct hs_str *line, struct hs_str *host);

/* Where the parenthesis opens that the last byte closes; where the last `needle` begins; SIZE_MAX:
 * nowhere. */
size_t hs_find_matching(struct hs_str text);
size_t hs_find_last_text(struct hs_str text, const char *needle);

#endif
