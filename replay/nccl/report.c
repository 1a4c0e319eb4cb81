/* report.c - the end of a run in words and in JSON. */
#include "replay/nccl/report.h"

static const char *const outcomes[] = {
    [HS_OUTCOME_ENDED] = "ended", [HS_OUTCOME_HUNG] = "hung", [HS_OUTCOME_FAILED] = "failed"
};

struct rank_end {
    const char *state;
    uint32_t waits_in; /* the call that it stands in; HS_NO_ID: none */
    char error[sizeof(((struct hs_shared_rank *)0)->error)];
};

static const struct hs_program *program_of(const struct hs_world *w, uint32_t row)
{
    return &w->script->plan->programs[w->script->plan->ranks[row].program];
}

static struct rank_end end_of(const struct hs_world *w, uint32_t row)
{
    const struct hs_child *c = &w->children[row];
    const uint8_t *states = w->states + w->script->dry->first[row];
    struct rank_end end = { .state = "ended", .waits_in = HS_NO_ID };
    const struct hs_program *p = program_of(w, row);
    struct hs_buf text;
    bool stalled;

    for (uint32_t i = 0; i < p->call_count && end.waits_in == HS_NO_ID; i = hs_unit_end(p, i)) {
        if (states[i] != HS_DRY_FINISHED)
            end.waits_in = i;
    }
    stalled = end.waits_in != HS_NO_ID && p->calls[end.waits_in].flags & HS_CALL_STALLED;
    if (end.waits_in != HS_NO_ID)
        end.state = stalled ? "held" : "waits";
    if (w->ranks[row].error[0]) {
        end.state = "failed";
        (void)snprintf(end.error, sizeof(end.error), "%s", w->ranks[row].error);
    } else if (c->died) {
        end.state = "died";
        hs_buf_init(&text);
        hs_child_put_end(c, &text);
        (void)snprintf(end.error, sizeof(end.error), "%s", hs_buf_str(&text).p);
        hs_buf_release(&text);
    }
    return end;
}

static struct hs_str group_name(const struct hs_plan *plan, uint32_t g)
{
    struct hs_str desc = hs_plan_string(plan, plan->groups[g].desc);

    return desc.n ? desc : hs_plan_string(plan, plan->groups[g].name);
}

struct versions {
    char nccl[32], runtime[32], driver[32];
};

/* NCCL's 23007 is 2.30.7; CUDA's 12080 is 12.8. */
static struct versions versions_of(const struct hs_machine *m)
{
    struct versions v;

    (void)snprintf(v.nccl, sizeof(v.nccl), "%d.%d.%d", m->nccl / 10000, m->nccl / 100 % 100,
                   m->nccl % 100);
    (void)snprintf(v.runtime, sizeof(v.runtime), "%d.%d", m->cuda_runtime / 1000,
                   m->cuda_runtime / 10 % 100);
    (void)snprintf(v.driver, sizeof(v.driver), "%d.%d", m->cuda_driver / 1000,
                   m->cuda_driver / 10 % 100);
    return v;
}

/* ---- JSON ---- */

static void put_calls(const struct hs_world *w, uint32_t row, struct hs_buf *out)
{
    static const char letters[] = "AQSE";

    hs_buf_put(out, HS_STR(",\"calls\":\""));
    for (uint64_t at = w->script->dry->first[row]; at < w->script->dry->first[row + 1]; at++)
        hs_buf_putc(out, letters[w->states[at] & 3]);
    hs_buf_putc(out, '"');
}

static void put_communicators(const struct hs_world *w, uint32_t row, struct hs_buf *out)
{
    bool first = true;

    hs_buf_put(out, HS_STR(",\"communicators\":["));
    for (uint32_t c = 0; c < w->script->comm_count; c++) {
        const struct hs_comm *comm = &w->script->comms[c];
        int state = *hs_world_async(w, row, c);

        if (hs_comm_index(comm, row) == HS_NO_ID)
            continue;
        hs_buf_put(out, first ? HS_STR("{\"group\":") : HS_STR(",{\"group\":"));
        hs_buf_put_json(out, group_name(w->script->plan, comm->group));
        hs_buf_printf(out, ",\"size\":%u,\"async\":", comm->size);
        if (state == 255)
            hs_buf_put(out, HS_STR("null}"));
        else
            hs_buf_printf(out, "%d}", state);
        first = false;
    }
    hs_buf_putc(out, ']');
}

static void put_rank(const struct hs_world *w, uint32_t row, struct hs_buf *out)
{
    const struct hs_plan *plan = w->script->plan;
    const struct hs_plan_rank *rank = &plan->ranks[row];
    const struct hs_shared_rank *s = &w->ranks[row];
    struct rank_end end = end_of(w, row);

    hs_buf_printf(out, "  {\"rank\":%u,\"gpu\":%d,\"state\":\"%s\",\"killed\":%s", rank->rank,
                  hs_world_gpu(w, row), end.state, w->children[row].killed ? "true" : "false");
    put_calls(w, row, out);
    if (end.waits_in != HS_NO_ID) {
        const struct hs_plan_call *call = &program_of(w, row)->calls[end.waits_in];

        hs_buf_printf(out, ",\"waits_in\":{\"call\":%u,\"group\":", end.waits_in);
        hs_buf_put_json(out, group_name(plan, rank->groups[call->slot]));
        hs_buf_printf(out, ",\"seq\":%u,\"op\":",
                      w->script->dry->seq[w->script->dry->first[row] + end.waits_in]);
        hs_buf_put_json(out, hs_plan_string(plan, plan->signatures[call->signature].op));
        hs_buf_putc(out, '}');
    }
    if (end.error[0]) {
        hs_buf_put(out, HS_STR(",\"error\":"));
        hs_buf_put_json(out, hs_str_of(end.error));
    }
    put_communicators(w, row, out);
    hs_buf_printf(out, ",\"busy_streams\":%u", s->busy_streams);
    if (s->wrong)
        hs_buf_printf(out, ",\"wrong\":{\"calls\":%u,\"call\":%u,\"element\":%llu}", s->wrong,
                      s->wrong_call, (unsigned long long)s->wrong_at);
    hs_buf_putc(out, '}');
}

static const struct hs_plan_signature *signature_of(const struct hs_world *w, uint32_t call)
{
    uint32_t row = hs_script_row(w->script->dry, call);

    return &w->script->plan->signatures
                [program_of(w, row)->calls[call - w->script->dry->first[row]].signature];
}

static struct hs_str dtype_of(const struct hs_plan *plan, const struct hs_plan_signature *sig)
{
    return hs_plan_string(plan, sig->in.dtype_count ? sig->in.dtypes[0] : HS_NO_ID);
}

static void put_timing(const struct hs_world *w, const struct hs_timing *t, struct hs_buf *out)
{
    const struct hs_plan_signature *sig = signature_of(w, t->call);

    hs_buf_put(out, HS_STR("  {\"op\":"));
    hs_buf_put_json(out, hs_plan_string(w->script->plan, sig->op));
    hs_buf_printf(out, ",\"batch\":%u,\"ranks\":%u,\"dtype\":", t->parts, t->ranks);
    hs_buf_put_json(out, dtype_of(w->script->plan, sig));
    hs_buf_printf(out,
                  ",\"count\":%llu,\"bytes\":%llu,\"calls\":%u,\"min_us\":%.1f,\"median_us\":%.1f,"
                  "\"max_us\":%.1f",
                  (unsigned long long)t->count, (unsigned long long)t->bytes, t->calls, t->min_us,
                  t->median_us, t->max_us);
    if (t->parts == 1)
        hs_buf_printf(out, ",\"algbw_gbs\":%.6g,\"busbw_gbs\":%.6g", t->algbw_gbs, t->busbw_gbs);
    hs_buf_putc(out, '}');
}

void hs_report_json(const struct hs_world *w, const struct hs_timings *timings, struct hs_buf *out)
{
    const struct hs_run_options *o = w->options;
    struct versions v = versions_of(&w->shared->machine);
    uint32_t ranks = w->script->plan->rank_count;

    hs_buf_printf(out,
                  "{\"format\":\"hangscope.run/1\",\"nccl\":\"%s\",\"cuda_runtime\":\"%s\","
                  "\"cuda_driver\":\"%s\"",
                  v.nccl, v.runtime, v.driver);
    hs_buf_printf(out,
                  ",\"gpus\":%d,\"deadline_s\":%g,\"scale\":%g,\"check_data\":%s,\"split\":%s,"
                  "\"seconds\":%.3f,\"outcome\":\"%s\",\n\"ranks\":[\n",
                  w->shared->machine.gpus, o->deadline_s, o->scale,
                  o->check_data ? "true" : "false",
                  o->split && w->shared->machine.has_split ? "true" : "false", w->seconds,
                  outcomes[hs_world_outcome(w)]);
    for (uint32_t row = 0; row < ranks; row++) {
        put_rank(w, row, out);
        hs_buf_put(out, row + 1 < ranks ? HS_STR(",\n") : HS_STR("\n"));
    }
    hs_buf_put(out, HS_STR("],\n\"timings\":[\n"));
    for (uint32_t i = 0; i < timings->count; i++) {
        put_timing(w, &timings->rows[i], out);
        hs_buf_put(out, i + 1 < timings->count ? HS_STR(",\n") : HS_STR("\n"));
    }
    hs_buf_put(out, HS_STR("]}\n"));
}

/* ---- text ---- */

static void tell_rank(const struct hs_world *w, uint32_t row, struct hs_buf *out)
{
    const struct hs_plan *plan = w->script->plan;
    const struct hs_plan_rank *rank = &plan->ranks[row];
    struct rank_end end = end_of(w, row);

    hs_buf_printf(out, "  rank %-6u gpu %-3d %-7s", rank->rank, hs_world_gpu(w, row), end.state);
    if (end.waits_in != HS_NO_ID) {
        const struct hs_plan_call *call = &program_of(w, row)->calls[end.waits_in];

        hs_buf_put(out, HS_STR("in "));
        hs_buf_put_safe(out, hs_plan_string(plan, plan->signatures[call->signature].op), 60);
        hs_buf_printf(out, " #%u of ",
                      w->script->dry->seq[w->script->dry->first[row] + end.waits_in]);
        hs_buf_put_safe(out, group_name(plan, rank->groups[call->slot]), 60);
    }
    if (end.error[0]) {
        hs_buf_put(out, HS_STR(": "));
        hs_buf_put_safe(out, hs_str_of(end.error), sizeof(end.error));
    }
    if (w->ranks[row].wrong)
        hs_buf_printf(out, "; %u calls with wrong data", w->ranks[row].wrong);
    hs_buf_put(out, w->children[row].killed ? HS_STR("; killed\n") : HS_STR("\n"));
}

static void tell_timing(const struct hs_world *w, const struct hs_timing *t, struct hs_buf *out)
{
    const struct hs_plan_signature *sig = signature_of(w, t->call);
    struct hs_buf name;

    hs_buf_init(&name);
    if (t->parts > 1)
        hs_buf_printf(&name, "batch of %u", t->parts);
    else
        hs_buf_put_safe(&name, hs_plan_string(w->script->plan, sig->op), 60);
    hs_buf_printf(out, "  %-24s %5u %12llu %6u %10.1f %10.1f %10.1f", name.p, t->ranks,
                  (unsigned long long)t->bytes, t->calls, t->min_us, t->median_us, t->max_us);
    if (t->parts > 1)
        hs_buf_printf(out, " %9s\n", "-");
    else
        hs_buf_printf(out, " %9.2f\n", t->busbw_gbs);
    hs_buf_release(&name);
}

void hs_report_text(const struct hs_world *w, const struct hs_timings *timings, struct hs_buf *out)
{
    struct versions v = versions_of(&w->shared->machine);

    hs_buf_printf(out,
                  "%s after %.1f s    NCCL %s, CUDA %s, driver for CUDA %s, %u ranks on %d GPU%s\n",
                  outcomes[hs_world_outcome(w)], w->seconds, v.nccl, v.runtime, v.driver,
                  w->script->plan->rank_count, w->shared->machine.gpus,
                  w->shared->machine.gpus == 1 ? "" : "s");
    for (uint32_t row = 0; row < w->script->plan->rank_count; row++)
        tell_rank(w, row, out);
    if (timings->count)
        hs_buf_printf(out, "\n  %-24s %5s %12s %6s %10s %10s %10s %9s\n", "operation", "ranks",
                      "bytes", "calls", "min us", "median us", "max us", "busbw");
    for (uint32_t i = 0; i < timings->count; i++)
        tell_timing(w, &timings->rows[i], out);
}
