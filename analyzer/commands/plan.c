/* plan.c - a job as a plan in a file. */
#include "analyzer/commands/replay_input.h"

enum { WINDOW = 64 };

int hs_run_plan(const struct hs_options *o)
{
    struct hs_replay_input input;
    struct hs_text_file file;
    struct hs_err err = { .n = 0 };
    enum hs_status status;

    if (o->path_count == 0 || !o->output) {
        status = hs_fail(&err, HS_EUSAGE,
                         "plan: of what, and where to? Give a PATH and -o FILE (- for standard "
                         "output)");
        return hs_give_up(status, &err);
    }
    status = hs_replay_input_read(o, o->paths, o->path_count, o->window ? o->window : WINDOW,
                                  &input, &err);
    if (status == HS_OK)
        status = hs_text_file_open(&file, o, "\"hangscope.plan/", &err);
    if (status == HS_OK) {
        status = hs_plan_write(&input.plan, hs_text_file_put, &file, &err);
        status = hs_text_file_close(&file, status, &err);
    }
    hs_replay_input_release(&input);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
