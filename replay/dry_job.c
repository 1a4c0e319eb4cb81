/*
 * dry_job.c - the end of a dry run as the recorders of its ranks would tell it.
 *
 * So what is stuck is judged by the rules that judge a real job, and a run that ends as the job did
 * gets the job's verdict. Times are steps: they give the order, and make what is left overdue.
 */
#include "replay/dry.h"

#include <stdlib.h>

enum { STEP_S = 2, HANG_S = 100000, VERSION = 2010 };
static const int64_t ns_per_s = 1000000000;

/* What a signature of the plan became last, and for whom. */
struct known_signature {
    uint32_t backend, self, id; /* id HS_NO_ID: nothing yet */
};

struct recording {
    const struct hs_dry *dry;
    const struct hs_plan *plan;
    struct hs_job *job;
    struct known_signature *signatures; /* by signature */
    uint32_t *stacks;                   /* by stack: of the job; HS_NO_ID: not yet */
    uint32_t *lists;                    /* by group: its ranks; HS_NO_ID: not yet, or assumed */
    bool *has_pairs, *has_batches;      /* by group */
    bool *marks;                        /* by group: its backend records ends */
    struct hs_arena arena, scratch;
};

static uint32_t string_of(struct recording *r, uint32_t id)
{
    return id == HS_NO_ID ? HS_NO_ID : hs_intern_put(&r->job->strings, hs_plan_string(r->plan, id));
}

/* ---- signatures and stacks ---- */

static bool tensors_of(struct recording *r, const struct hs_tensors *t, struct hs_tensors *out)
{
    uint32_t *dtypes = HS_NEW(&r->scratch, uint32_t, t->dtype_count + 1u);

    *out = *t;
    out->dtypes = dtypes;
    for (uint32_t i = 0; dtypes && i < t->dtype_count; i++)
        dtypes[i] = string_of(r, t->dtypes[i]);
    return dtypes != NULL;
}

/* "nccl:all_reduce", "nccl:send 0->1" */
static uint32_t put_signature(struct recording *r, const struct hs_plan_signature *sig,
                              uint32_t backend, uint32_t self)
{
    struct hs_str prefix = hs_plan_string(r->plan, backend), op = hs_plan_string(r->plan, sig->op);
    struct hs_tensors in, out;
    uint32_t id = HS_NO_ID;
    struct hs_buf name;

    hs_buf_init(&name);
    hs_buf_put(&name, prefix);
    if (prefix.n)
        hs_buf_putc(&name, ':');
    hs_buf_put(&name, op);
    if (hs_plan_is_pair(sig))
        hs_buf_printf(&name, sig->kind->class == HS_CLASS_SEND ? " %u->%u" : " %u<-%u", self,
                      sig->peer);
    else if (sig->root != HS_NO_ID)
        hs_buf_printf(&name, " root %u", sig->root);
    if (!name.failed && tensors_of(r, &sig->in, &in) && tensors_of(r, &sig->out, &out))
        id = hs_job_put_signature(r->job, hs_intern_put(&r->job->strings, hs_buf_str(&name)), 0,
                                  &in, &out);
    hs_buf_release(&name);
    hs_arena_reset(&r->scratch);
    return id;
}

static uint32_t signature_of(struct recording *r, const struct hs_plan_rank *rank,
                             const struct hs_plan_call *call)
{
    const struct hs_plan_signature *sig = &r->plan->signatures[call->signature];
    const struct hs_plan_group *group = &r->plan->groups[rank->groups[call->slot]];
    struct known_signature *known = &r->signatures[call->signature];
    uint32_t self = hs_plan_is_pair(sig) ? hs_plan_index_in(group, rank->rank) : 0;

    if (known->id == HS_NO_ID || known->backend != group->backend || known->self != self)
        *known = (struct known_signature){ .backend = group->backend,
                                           .self = self,
                                           .id = put_signature(r, sig, group->backend, self) };
    return known->id;
}

static uint32_t end_signature(struct recording *r, uint32_t g)
{
    struct hs_str backend = hs_plan_string(r->plan, r->plan->groups[g].backend);
    struct hs_tensors none = { .tensors = 0 };
    struct hs_str name =
        hs_arena_printf(&r->scratch, "%.*s%scoalesced", HS_STR_ARG(backend), backend.n ? ":" : "");
    uint32_t id = name.p ? hs_intern_put(&r->job->strings, name) : HS_NO_ID;

    hs_arena_reset(&r->scratch);
    return id == HS_NO_ID ? id : hs_job_put_signature(r->job, id, 0, &none, &none);
}

static uint32_t stack_of(struct recording *r, uint32_t id)
{
    uint32_t count, *frames;
    const struct hs_frame *from;

    if (id == HS_NO_ID || r->stacks[id] != HS_NO_ID)
        return id == HS_NO_ID ? HS_NO_ID : r->stacks[id];
    from = hs_plan_stack(r->plan, id, &count);
    frames = HS_NEW(&r->scratch, uint32_t, count + 1u);
    for (uint32_t i = 0; frames && i < count; i++) {
        struct hs_frame frame = { .function = string_of(r, from[i].function),
                                  .file = string_of(r, from[i].file),
                                  .line = from[i].line };

        frames[i] = hs_job_put_frame(r->job, &frame);
    }
    r->stacks[id] = frames ? hs_job_put_stack(r->job, frames, count) : HS_NO_ID;
    hs_arena_reset(&r->scratch);
    return r->stacks[id];
}

/* ---- groups ---- */

static void learn_habits(struct recording *r)
{
    const struct hs_plan *plan = r->plan;

    for (uint32_t g = 0; g < plan->group_count; g++)
        r->marks[g] = !hs_str_is(hs_plan_string(plan, plan->groups[g].backend), "gloo");
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0; i < p->call_count; i++) {
            uint32_t g = plan->ranks[row].groups[p->calls[i].slot];

            if (hs_plan_is_pair(&plan->signatures[p->calls[i].signature])) {
                r->has_pairs[g] = true;
                r->has_batches[g] |= p->calls[i].batch != 0;
            }
        }
    }
}

/* The watchdog's counters: what was begun, and what has ended without a gap. */
static void count_status(const struct recording *r, uint32_t row, uint32_t slot,
                         struct hs_member *m)
{
    const struct hs_plan_rank *rank = &r->plan->ranks[row];
    const struct hs_program *p = &r->plan->programs[rank->program];
    uint32_t begun = rank->start[slot], ended = begun;
    bool gap = false, all = true;

    if (r->has_pairs[rank->groups[slot]] || !r->marks[rank->groups[slot]])
        return;
    for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
        uint64_t at = r->dry->first[row] + i;

        all = all && r->dry->state[at] == HS_DRY_FINISHED;
        if (p->calls[i].slot != slot || r->dry->state[at] == HS_DRY_AHEAD)
            continue;
        begun = r->dry->seq[at];
        gap = gap || r->dry->state[at] != HS_DRY_FINISHED;
        ended = gap ? ended : begun;
    }
    m->has_status = true;
    m->enqueued = m->started = all && rank->until[slot] > begun ? rank->until[slot] : begun;
    m->completed = ended;
}

static bool add_member(struct recording *r, uint32_t row, uint32_t slot, struct hs_dump *dump)
{
    struct hs_job *job = r->job;
    uint32_t g = r->plan->ranks[row].groups[slot];
    const struct hs_plan_group *group = &r->plan->groups[g];
    struct hs_member *m;

    if (!HS_GROW(job->members, job->member_cap, job->member_count + 1u))
        return false;
    if (!group->assumed && r->lists[g] == HS_NO_ID)
        r->lists[g] = hs_job_put_list(job, group->ranks, group->size);
    m = &job->members[job->member_count++];
    *m = (struct hs_member){ .dump = job->dump_count,
                             .name = string_of(r, group->name),
                             .desc = string_of(r, group->desc),
                             .backend = string_of(r, group->backend),
                             .ranks = r->lists[g],
                             .local_id = (int32_t)slot,
                             .stream = HS_NO_ID,
                             .enqueued = -1,
                             .started = -1,
                             .completed = -1 };
    count_status(r, row, slot, m);
    dump->member_count++;
    return group->assumed || r->lists[g] != HS_NO_ID;
}

/* ---- operations ---- */

struct rank_recording {
    struct recording *r;
    uint32_t row;
    struct hs_dump *dump;
    uint32_t *p2p_seq;   /* by slot */
    uint16_t *member_of; /* by slot: in the dump */
    int64_t last_ns;
};

static struct hs_operation *add_operation(struct rank_recording *w, const struct hs_plan_call *call,
                                          uint64_t unit, uint32_t signature)
{
    const struct hs_dry *dry = w->r->dry;
    struct hs_dump *dump = w->dump;
    struct hs_operation *op = &dump->operations[dump->operation_count];
    bool ended = dry->state[unit] == HS_DRY_FINISHED, begun = dry->state[unit] >= HS_DRY_STARTED;
    int64_t at_ns = begun ? ((int64_t)dry->began[unit] * STEP_S + 1) * ns_per_s : w->last_ns;
    uint64_t took_us =
        ended ? ((uint64_t)dry->ended[unit] - dry->began[unit]) * STEP_S * 1000000u - 1000 : 0;

    w->last_ns = at_ns > w->last_ns ? at_ns : w->last_ns;
    *op = (struct hs_operation){
        .created_ns = w->last_ns,
        .record = dump->operation_count + !!(w->r->plan->ranks[w->row].flags & HS_PLAN_PARTIAL),
        .seq = dry->seq[unit],
        .signature = signature,
        .stack = stack_of(w->r, call->stack),
        .finished_us = took_us > UINT32_MAX ? UINT32_MAX : (uint32_t)took_us,
        .member = w->member_of[call->slot],
        .flags = (uint8_t)(HS_OPERATION_SIZED | (begun ? HS_STATE_STARTED : HS_STATE_SCHEDULED)),
    };
    if (!w->r->marks[w->r->plan->ranks[w->row].groups[call->slot]])
        op->flags =
            (uint8_t)(HS_OPERATION_SIZED | HS_STATE_SCHEDULED | (ended ? HS_OPERATION_RETIRED : 0));
    else if (ended)
        op->flags = HS_OPERATION_SIZED | HS_STATE_COMPLETED | HS_OPERATION_RETIRED;
    dump->operation_count++;
    return op;
}

/* A unit: its calls, and after a batch the entry that ends it. */
static bool add_unit(struct rank_recording *w, uint32_t i, uint32_t end)
{
    struct recording *r = w->r;
    const struct hs_plan_rank *rank = &r->plan->ranks[w->row];
    const struct hs_program *p = &r->plan->programs[rank->program];
    uint64_t unit = r->dry->first[w->row] + i;
    bool pair = hs_plan_is_pair(&r->plan->signatures[p->calls[i].signature]);
    uint32_t g = rank->groups[p->calls[i].slot], number = 0, id;

    if (pair)
        number = ++w->p2p_seq[p->calls[i].slot];
    for (uint32_t k = i; k < end; k++) {
        id = signature_of(r, rank, &p->calls[k]);
        if (id == HS_NO_ID)
            return false;
        add_operation(w, &p->calls[k], unit, id)->p2p_seq = number;
    }
    if (pair ? r->has_batches[g] : p->calls[i].batch) {
        struct hs_operation *op;

        id = end_signature(r, g);
        if (id == HS_NO_ID)
            return false;
        op = add_operation(w, &p->calls[i], unit, id);
        op->p2p_seq = number;
        op->flags &= (uint8_t)~HS_OPERATION_SIZED;
    }
    return true;
}

static bool add_operations(struct rank_recording *w)
{
    struct recording *r = w->r;
    const struct hs_plan_rank *rank = &r->plan->ranks[w->row];
    const struct hs_program *p = &r->plan->programs[rank->program];

    /* at most one more entry than calls for each unit */
    w->dump->operations = malloc(((size_t)p->call_count * 2 + 1) * sizeof(*w->dump->operations));
    w->p2p_seq = calloc(rank->slot_count + 1u, sizeof(*w->p2p_seq));
    if (!w->dump->operations || !w->p2p_seq)
        return false;
    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        end = hs_unit_end(p, i);
        if (r->dry->state[r->dry->first[w->row] + i] != HS_DRY_AHEAD && !add_unit(w, i, end))
            return false;
    }
    return true;
}

/* Whether a rank made a call in a group. Nobody else would tell of a group whose members are only
 * known by their calls. */
static bool is_used(const struct recording *r, uint32_t row, uint32_t slot)
{
    const struct hs_program *p = &r->plan->programs[r->plan->ranks[row].program];

    for (uint32_t i = 0; i < p->call_count; i++) {
        if (p->calls[i].slot == slot && r->dry->state[r->dry->first[row] + i] != HS_DRY_AHEAD)
            return true;
    }
    return false;
}

/* Whether nobody knows what a rank does after its calls. */
static bool ends_open(const struct recording *r, uint32_t row)
{
    uint32_t flags = r->plan->ranks[row].flags;
    bool finished = true;

    for (uint64_t at = r->dry->first[row]; at < r->dry->first[row + 1] && finished; at++)
        finished = r->dry->state[at] == HS_DRY_FINISHED;
    return flags & HS_PLAN_OPEN || (flags & HS_PLAN_STUCK && finished);
}

static bool add_dump(struct recording *r, uint32_t row)
{
    const struct hs_plan_rank *rank = &r->plan->ranks[row];
    struct hs_job *job = r->job;
    struct hs_dump dump = { .rank = rank->rank,
                            .host = HS_NO_ID,
                            .speaker = HS_NO_ID,
                            .library = HS_NO_ID,
                            .version = VERSION,
                            .has_entries_key = true,
                            .cut_short = ends_open(r, row),
                            .first_member = job->member_count };
    struct rank_recording w = { .r = r, .row = row, .dump = &dump, .last_ns = ns_per_s };
    bool ok = HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u);

    w.member_of = calloc(rank->slot_count + 1u, sizeof(*w.member_of));
    ok = ok && w.member_of;
    for (uint32_t s = 0; ok && s < rank->slot_count; s++) {
        w.member_of[s] = (uint16_t)dump.member_count;
        if (!r->plan->groups[rank->groups[s]].assumed || is_used(r, row, s))
            ok = add_member(r, row, s, &dump);
    }
    ok = ok && add_operations(&w);
    free(w.p2p_seq);
    free(w.member_of);
    if (!ok) {
        free(dump.operations);
        return false;
    }
    dump.first_ns = ns_per_s;
    dump.last_ns = ((int64_t)r->dry->steps * STEP_S + HANG_S) * ns_per_s;
    job->sources[0].records += dump.operation_count;
    job->dumps[job->dump_count++] = dump;
    return true;
}

static bool prepare(struct recording *r, struct hs_str name)
{
    const struct hs_plan *plan = r->plan;
    uint32_t stacks = plan->stack_keys.count + 1u, signatures = plan->signature_keys.count + 1u;

    r->signatures = HS_NEW(&r->arena, struct known_signature, signatures);
    r->stacks = HS_NEW(&r->arena, uint32_t, stacks);
    r->lists = HS_NEW(&r->arena, uint32_t, plan->group_count + 1u);
    r->has_pairs = HS_NEW(&r->arena, bool, plan->group_count + 1u);
    r->has_batches = HS_NEW(&r->arena, bool, plan->group_count + 1u);
    r->marks = HS_NEW(&r->arena, bool, plan->group_count + 1u);
    if (!r->signatures || !r->stacks || !r->lists || !r->has_pairs || !r->has_batches || !r->marks)
        return false;
    for (uint32_t i = 0; i < signatures; i++)
        r->signatures[i].id = HS_NO_ID;
    memset(r->stacks, 0xff, stacks * sizeof(*r->stacks));
    memset(r->lists, 0xff, plan->group_count * sizeof(*r->lists));
    learn_habits(r);
    if (hs_job_add_source(r->job, name) == HS_NO_ID)
        return false;
    r->job->sources[0].format = "plan";
    r->job->simulated = true;
    return true;
}

enum hs_status hs_dry_job(const struct hs_dry *dry, struct hs_str name, struct hs_job *out,
                          struct hs_err *err)
{
    struct recording r = { .dry = dry, .plan = dry->plan, .job = out };
    bool ok;

    hs_job_init(out);
    hs_arena_init(&r.arena);
    hs_arena_init(&r.scratch);
    ok = prepare(&r, name);
    for (uint32_t row = 0; ok && row < r.plan->rank_count; row++)
        ok = (r.plan->ranks[row].flags & HS_PLAN_ABSENT) || add_dump(&r, row);
    hs_arena_release(&r.arena);
    hs_arena_release(&r.scratch);
    if (!ok)
        hs_job_release(out);
    return ok ? HS_OK : hs_no_memory(err);
}
