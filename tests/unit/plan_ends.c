/* plan_ends.c - for the test against a real library: how many units each rank of the plans that are
 * named on the command line finishes in a dry run. A line per plan. */
#include "replay/dry.h"

#include <stdlib.h>

static bool read_file(const char *path, struct hs_buf *text)
{
    FILE *in = fopen(path, "rb");
    size_t n = in != NULL;

    hs_buf_init(text);
    while (n && hs_buf_reserve(text, 65536)) {
        n = fread(text->p + text->n, 1, 65536, in);
        text->n += n;
    }
    if (in)
        (void)fclose(in);
    return in && !text->failed;
}

static void print_ends(const struct hs_dry *dry)
{
    for (uint32_t row = 0; row < dry->plan->rank_count; row++) {
        const struct hs_program *p = &dry->plan->programs[dry->plan->ranks[row].program];
        uint32_t count = 0;

        for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i))
            count += dry->state[dry->first[row] + i] == HS_DRY_FINISHED;
        (void)printf("%s%u", row ? " " : "", count);
    }
    (void)printf("\n");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct hs_err err = { .n = 0 };
        struct hs_plan plan;
        struct hs_dry dry;
        struct hs_buf text;
        bool ok = read_file(argv[i], &text);

        hs_plan_init(&plan);
        ok = ok && hs_plan_read(&plan, hs_buf_str(&text), argv[i], &err) == HS_OK &&
             hs_dry_run(&dry, &plan, &err) == HS_OK;
        if (ok) {
            print_ends(&dry);
            hs_dry_release(&dry);
        }
        hs_plan_release(&plan);
        hs_buf_release(&text);
        if (!ok) {
            hs_err_print(&err, stderr);
            return 1;
        }
    }
    return 0;
}
