/* replay.c - run a plan, by the rules or on GPUs, and say where it ends. */
#include "analyzer/commands/gpu_run.h"
#include "analyzer/commands/replay_input.h"

#include <time.h>

enum { WINDOW = 256 }; /* finished calls of a rank that are run again */

static enum hs_status check_options(const struct hs_options *o, struct hs_err *err)
{
    bool nccl = o->backend && strcmp(o->backend, "nccl") == 0;

    if (o->path_count == 0)
        return hs_fail(err, HS_EUSAGE, "replay: what? Give a PLAN, or the PATH of a job");
    if (!nccl && (o->deadline || o->scale || o->nccl_file || o->check_data || o->split))
        return hs_fail(err, HS_EUSAGE,
                       "--deadline, --scale, --check-data, --split and --nccl-lib are for "
                       "--backend nccl");
    return HS_OK;
}

/* ---- what a run on GPUs showed beside where it stands ---- */

/* A finding about one rank; `f` may be NULL. */
static bool tell_rank(struct hs_verdict *v, struct hs_finding *f, const char *key, uint32_t rank)
{
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, 1);

    if (!f || !ranks)
        return false;
    ranks[0] = rank;
    f->ranks = ranks;
    f->rank_count = 1;
    f->detail.key = key;
    hs_phrase_add(&f->detail, "rank", hs_arena_printf(&v->arena, "%u", rank), 1);
    return true;
}

static bool tell_failure(const struct hs_gpu_rank *r, uint32_t rank, struct hs_verdict *v)
{
    struct hs_finding *f = hs_add_finding(v, "replay-failed", HS_ERROR);
    struct hs_buf safe;

    if (!tell_rank(v, f, "finding.replay-failed", rank))
        return false;
    hs_buf_init(&safe);
    hs_buf_put_safe(&safe, r->error, HS_EXCERPT_BYTES);
    hs_phrase_add(&f->detail, "why", hs_arena_copy(&v->arena, hs_buf_str(&safe)), 1);
    hs_buf_release(&safe);
    return true;
}

static bool tell_wrong_data(const struct hs_gpu_rank *r, uint32_t rank, struct hs_verdict *v)
{
    struct hs_finding *f = hs_add_finding(v, "replay-wrong-data", HS_ERROR);
    bool ok = tell_rank(v, f, "finding.replay-wrong-data", rank);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = { { "count", r->wrong_calls },
                    { "call", r->wrong_call + 1 },
                    { "element", r->wrong_element } };

    for (size_t i = 0; ok && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        hs_phrase_add(&f->detail, numbers[i].name,
                      hs_arena_printf(&v->arena, "%llu", (unsigned long long)numbers[i].value),
                      numbers[i].value);
    return ok;
}

static enum hs_status tell_run(const struct hs_plan *plan, const struct hs_gpu_run *run,
                               struct hs_verdict *v, struct hs_err *err)
{
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_gpu_rank *r = &run->ranks[row];

        if ((r->error.p && !tell_failure(r, plan->ranks[row].rank, v)) ||
            (r->wrong_call != HS_UNKNOWN && !tell_wrong_data(r, plan->ranks[row].rank, v)))
            return hs_no_memory(err);
    }
    v->run = hs_arena_copy(&v->arena, hs_buf_str(&run->json));
    return v->run.p ? HS_OK : hs_no_memory(err);
}

/* A rank that failed did what nobody could look at, so its record ends early. */
static void mark_open(struct hs_plan *plan, const struct hs_gpu_run *run)
{
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        if (run->ranks[row].error.p)
            plan->ranks[row].flags |= HS_PLAN_OPEN;
    }
}

/* ---- the two ways ---- */

static enum hs_status print_timings(const struct hs_options *o, const struct hs_gpu_run *run,
                                    struct hs_err *err)
{
    struct hs_buf out;
    enum hs_status status;

    if (o->json || o->verbosity < 0)
        return HS_OK;
    hs_buf_init(&out);
    hs_gpu_run_put_timings(run, &out);
    status = out.failed ? hs_no_memory(err) : hs_print_result(hs_buf_str(&out), err);
    hs_buf_release(&out);
    return status;
}

/* The exit status in `code`, unless the status is not HS_OK. */
static enum hs_status run_on_gpus(const struct hs_options *o, struct hs_replay_input *in,
                                  const struct timespec *start, int *code, struct hs_err *err)
{
    struct hs_verdict verdict = { .code = NULL };
    struct hs_gpu_run run;
    enum hs_status status = hs_gpu_run(o, &in->plan, &run, code, err);

    if (status == HS_OK && *code == 0) {
        mark_open(&in->plan, &run);
        status = hs_replay_judge_states(&in->plan, in->name, &in->about, run.states, &verdict, err);
        if (status == HS_OK)
            status = tell_run(&in->plan, &run, &verdict, err);
        if (status == HS_OK)
            status = hs_print_verdict(&verdict, o, start, err);
        if (status == HS_OK)
            status = print_timings(o, &run, err);
        if (status == HS_OK)
            *code = hs_verdict_exit(&verdict, o);
        if (status == HS_OK && run.failed && !o->exit_zero && !o->fail_on)
            *code = HS_EXIT_FAULT; /* however the calls ended: something went wrong */
        if (verdict.code)
            hs_verdict_release(&verdict);
    }
    hs_gpu_run_release(&run);
    return status;
}

static enum hs_status run_dry(const struct hs_options *o, const struct hs_replay_input *in,
                              const struct timespec *start, int *code, struct hs_err *err)
{
    struct hs_verdict verdict = { .code = NULL };
    enum hs_status status = hs_replay_judge(&in->plan, in->name, &in->about, &verdict, err);

    if (status != HS_OK)
        return status;
    status = hs_print_verdict(&verdict, o, start, err);
    *code = hs_verdict_exit(&verdict, o);
    hs_verdict_release(&verdict);
    return status;
}

int hs_run_replay(const struct hs_options *o)
{
    struct hs_err err = { .n = 0 };
    struct hs_replay_input input;
    struct timespec start;
    enum hs_status status = check_options(o, &err);
    int code = HS_EXIT_OK;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    if (status != HS_OK)
        return hs_give_up(status, &err);
    status = hs_replay_input_read(o, o->paths, o->path_count, o->window ? o->window : WINDOW,
                                  &input, &err);
    if (status == HS_OK)
        status = o->backend && strcmp(o->backend, "nccl") == 0
                     ? run_on_gpus(o, &input, &start, &code, &err)
                     : run_dry(o, &input, &start, &code, &err);
    hs_replay_input_release(&input);
    return status == HS_OK ? code : hs_give_up(status, &err);
}
