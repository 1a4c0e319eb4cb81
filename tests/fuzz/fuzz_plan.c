/*
 * fuzz_plan.c - bytes as a plan: read, checked, run, judged, written as programs; and what was read
 * and is written reads the same.
 */
#include "analyzer/analyze.h"
#include "replay/dry.h"
#include "replay/emit.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum hs_status keep(void *self, struct hs_str piece, struct hs_err *err)
{
    (void)err;
    hs_buf_put(self, piece);
    return HS_OK;
}

/* Writing and reading again changes nothing. */
static void round_trip(const struct hs_plan *plan)
{
    struct hs_err err = { .n = 0 };
    struct hs_buf first, second;
    struct hs_plan again;

    hs_buf_init(&first);
    hs_buf_init(&second);
    hs_plan_init(&again);
    if (hs_plan_write(plan, keep, &first, &err) != HS_OK ||
        hs_plan_read(&again, hs_buf_str(&first), "again", &err) != HS_OK ||
        hs_plan_write(&again, keep, &second, &err) != HS_OK ||
        !hs_str_eq(hs_buf_str(&first), hs_buf_str(&second)))
        abort();
    hs_plan_release(&again);
    hs_buf_release(&first);
    hs_buf_release(&second);
}

static void run(const struct hs_plan *plan)
{
    struct hs_verdict verdict = { .code = NULL };
    struct hs_job_options options = { .world_size = 0 };
    struct hs_err err = { .n = 0 };
    struct hs_dry dry;
    struct hs_job job;

    if (hs_dry_run(&dry, plan, &err) != HS_OK)
        return;
    if (hs_dry_job(&dry, HS_STR("fuzz"), &job, &err) == HS_OK) {
        if (hs_analyze(&job, &options, &verdict, &err) == HS_OK)
            hs_verdict_release(&verdict);
        hs_job_release(&job);
    }
    hs_dry_release(&dry);
}

static void emit(const struct hs_plan *plan)
{
    struct hs_emit_about about = {
        .code = "rank-missing", .summary = HS_STR("x"), .backend = "gloo", .file = "x"
    };
    struct hs_err err = { .n = 0 };
    struct hs_buf text;

    hs_buf_init(&text);
    (void)hs_emit_torch(plan, &about, &text, &err);
    (void)hs_emit_c(plan, &about, &text, &err);
    hs_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hs_err err = { .n = 0 };
    struct hs_plan plan;

    hs_plan_init(&plan);
    if (hs_plan_read(&plan, (struct hs_str){ .p = (const char *)data, .n = size }, "fuzz", &err) ==
        HS_OK) {
        round_trip(&plan);
        run(&plan);
        emit(&plan);
    }
    hs_plan_release(&plan);
    return 0;
}
