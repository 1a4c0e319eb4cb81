/* replay.c - run a plan by the rules and say where it ends. */
#include "analyzer/commands/replay_input.h"

#include <time.h>

enum { WINDOW = 256 }; /* finished calls of a rank that are run again */

int hs_run_replay(const struct hs_options *o)
{
    struct hs_verdict verdict = { .code = NULL };
    struct hs_err err = { .n = 0 };
    struct hs_replay_input input;
    struct timespec start;
    enum hs_status status;
    int code;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    if (o->path_count == 0) {
        status = hs_fail(&err, HS_EUSAGE, "replay: what? Give a PLAN, or the PATH of a job");
        return hs_give_up(status, &err);
    }
    status = hs_replay_input_read(o, o->paths, o->path_count, o->window ? o->window : WINDOW,
                                  &input, &err);
    if (status == HS_OK)
        status = hs_replay_judge(&input.plan, input.name, &input.about, &verdict, &err);
    if (status == HS_OK)
        status = hs_print_verdict(&verdict, o, &start, &err);
    code = status == HS_OK ? hs_verdict_exit(&verdict, o) : hs_give_up(status, &err);
    if (verdict.code)
        hs_verdict_release(&verdict);
    hs_replay_input_release(&input);
    return code;
}
