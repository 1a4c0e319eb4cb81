/* emit.c - what is the same for every language: all calls from the first one on, few elements. */
#include "replay/emit.h"

#include "replay/dry.h"

#include <stdlib.h>

enum { LARGE = 1 << 20, COLUMNS = 96 };

/* ---- calls that ranks had behind them ---- */

/* A collective that somebody lists. */
struct listed {
    const struct hs_plan_call *call;
    uint32_t step; /* when it ended in a dry run; UINT32_MAX */
    uint64_t most; /* the count that most members bring, */
    uint32_t votes;
    bool differs; /* if some bring another one */
    bool mixed;   /* it is not an all_reduce for all */
};

struct unrolling {
    const struct hs_plan *from;
    const struct hs_dry *dry;
    struct hs_emission *out;
    struct listed **by_seq; /* by group: from lowest on */
    uint32_t *lowest, *highest;
    struct hs_plan_call *calls; /* of the program being made */
    uint32_t call_count, call_cap;
};

/* Boyer and Moore's vote: what more than half bring is left over. */
static void vote(struct listed *l, const struct hs_plan_signature *sig,
                 const struct hs_plan_signature *first)
{
    uint64_t count = sig->numel_in;

    l->mixed |= hs_emit_op_of(sig) != HS_EMIT_ALL_REDUCE;
    l->differs |= count != first->numel_in;
    if (l->votes == 0)
        l->most = count;
    l->votes += count == l->most ? 1 : -1u;
}

/* Enter a collective that a rank lists, or while the spans are looked for only its number. */
static void list_meeting(struct unrolling *u, const struct hs_plan_call *call, uint32_t g,
                         uint64_t at, bool fill)
{
    uint32_t seq = u->dry->seq[at];
    struct listed *l;

    if (!fill) {
        u->lowest[g] = seq < u->lowest[g] ? seq : u->lowest[g];
        u->highest[g] = seq > u->highest[g] ? seq : u->highest[g];
        return;
    }
    l = &u->by_seq[g][seq - u->lowest[g]];
    if (!l->call)
        *l = (struct listed){ .call = call, .step = UINT32_MAX };
    vote(l, &u->from->signatures[call->signature], &u->from->signatures[l->call->signature]);
    if (u->dry->state[at] == HS_DRY_FINISHED && u->dry->ended[at] < l->step)
        l->step = u->dry->ended[at];
}

static void list_meetings(struct unrolling *u, bool fill)
{
    for (uint32_t row = 0; row < u->from->rank_count; row++) {
        const struct hs_plan_rank *rank = &u->from->ranks[row];
        const struct hs_program *p = &u->from->programs[rank->program];

        for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
            if (!hs_plan_is_pair(&u->from->signatures[p->calls[i].signature]))
                list_meeting(u, &p->calls[i], rank->groups[p->calls[i].slot],
                             u->dry->first[row] + i, fill);
        }
    }
}

static bool prepare(struct unrolling *u)
{
    struct hs_arena *arena = &u->out->arena;
    uint32_t groups = u->from->group_count;

    u->by_seq = HS_NEW(arena, struct listed *, groups + 1u);
    u->lowest = HS_NEW(arena, uint32_t, groups + 1u);
    u->highest = HS_NEW(arena, uint32_t, groups + 1u);
    if (!u->by_seq || !u->lowest || !u->highest)
        return false;
    memset(u->lowest, 0xff, groups * sizeof(*u->lowest));
    list_meetings(u, false);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t span = u->highest[g] >= u->lowest[g] ? u->highest[g] - u->lowest[g] + 1 : 0;

        u->by_seq[g] = HS_NEW(arena, struct listed, span + 1u);
        if (!u->by_seq[g])
            return false;
    }
    list_meetings(u, true);
    return true;
}

/*
 * gloo hangs in an all_reduce of different counts only while each rank's piece is as long; else a
 * process aborts. Pieces of two elements, of which some ranks have fewer, are such.
 */
static bool fit_count(struct unrolling *u, const struct hs_plan_rank *rank, uint32_t seq,
                      struct hs_plan_call *call)
{
    struct hs_plan *to = &u->out->plan;
    const struct hs_plan_signature *sig = &u->from->signatures[call->signature];
    uint32_t g = rank->groups[call->slot], size = u->from->groups[g].size;
    const struct listed *l = &u->by_seq[g][seq - u->lowest[g]];
    int64_t sizes[2] = { 1, 2 * (int64_t)size };
    struct hs_tensors fit = { .sizes = sizes,
                              .size_count = 2,
                              .tensors = 1,
                              .dtypes = sig->in.dtypes,
                              .dtype_count = sig->in.dtype_count };

    if (!l->differs || l->mixed)
        return true;
    if (sig->numel_in != l->most)
        sizes[1] = size + 1;
    call->signature = hs_plan_put_signature(to, sig->op, HS_NO_ID, HS_NO_ID, &fit, &fit);
    return call->signature != HS_NO_ID;
}

static bool add_call(struct unrolling *u, const struct hs_plan_call *call, uint32_t slot)
{
    if (!HS_GROW(u->calls, u->call_cap, u->call_count + 1u))
        return false;
    u->calls[u->call_count] = *call;
    u->calls[u->call_count].slot = (uint16_t)slot;
    u->calls[u->call_count].skip = 0;
    u->call_count++;
    return true;
}

/* Collectives (from, to] of a slot as the others list them; unlisted ones nobody misses. */
static bool pass(struct unrolling *u, const struct hs_plan_rank *rank, uint32_t slot, uint32_t from,
                 uint32_t to)
{
    uint32_t g = rank->groups[slot];

    if (u->highest[g] < u->lowest[g])
        return true;
    from = from < u->lowest[g] - 1 ? u->lowest[g] - 1 : from;
    to = to > u->highest[g] ? u->highest[g] : to;
    for (uint32_t seq = from + 1; seq <= to && seq > from; seq++) {
        const struct hs_plan_call *call = u->by_seq[g][seq - u->lowest[g]].call;
        struct hs_plan_call made;

        if (!call)
            continue;
        made = *call;
        made.batch = made.flags = 0;
        if (!add_call(u, &made, slot))
            return false;
    }
    return true;
}

struct early {
    uint32_t slot, seq, step;
};

static int by_step(const void *a, const void *b)
{
    const struct early *x = a, *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* What a rank had behind it at its start, in the order in which the others ended it. */
static bool pass_start(struct unrolling *u, const struct hs_plan_rank *rank)
{
    struct early *list = NULL;
    uint32_t count = 0, cap = 0;
    bool ok = true;

    for (uint32_t s = 0; ok && s < rank->slot_count; s++) {
        uint32_t g = rank->groups[s];

        for (uint32_t seq = u->lowest[g];
             ok && seq <= u->highest[g] && seq <= rank->start[s] && u->highest[g]; seq++) {
            const struct listed *l = &u->by_seq[g][seq - u->lowest[g]];

            if (!l->call)
                continue;
            ok = HS_GROW(list, cap, count + 1u);
            if (ok)
                list[count++] = (struct early){ .slot = s, .seq = seq, .step = l->step };
        }
    }
    if (count)
        qsort(list, count, sizeof(*list), by_step);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = pass(u, rank, list[i].slot, list[i].seq - 1, list[i].seq);
    free(list);
    return ok;
}

static bool unroll_calls(struct unrolling *u, uint32_t row)
{
    const struct hs_plan_rank *rank = &u->from->ranks[row];
    const struct hs_program *p = &u->from->programs[rank->program];
    uint32_t *at = HS_NEW(&u->out->arena, uint32_t, rank->slot_count + 1u);
    bool ok = at && pass_start(u, rank);

    for (uint32_t s = 0; ok && s < rank->slot_count; s++)
        at[s] = rank->start[s];
    for (uint32_t i = 0, end; ok && i < p->call_count; i = end) {
        const struct hs_plan_call *call = &p->calls[i];

        end = hs_unit_end(p, i);
        if (!hs_plan_is_pair(&u->from->signatures[call->signature])) {
            ok = pass(u, rank, call->slot, at[call->slot], at[call->slot] + call->skip);
            at[call->slot] += 1 + call->skip;
        }
        for (uint32_t k = i; ok && k < end; k++) {
            struct hs_plan_call made = p->calls[k];

            ok = (hs_plan_is_pair(&u->from->signatures[made.signature]) ||
                  fit_count(u, rank, at[made.slot], &made)) &&
                 add_call(u, &made, made.slot);
        }
    }
    for (uint32_t s = 0; ok && s < rank->slot_count; s++)
        ok = rank->until[s] <= at[s] || pass(u, rank, s, at[s], rank->until[s]);
    return ok;
}

/* ---- ranks as processes ---- */

static bool copy_group(struct unrolling *u, const struct hs_plan_group *from)
{
    struct hs_plan *to = &u->out->plan;
    uint32_t *ranks = HS_NEW(&u->out->arena, uint32_t, from->size + 1u);
    struct hs_plan_group *added;

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < from->size; i++)
        ranks[i] = (uint32_t)(hs_plan_find(u->from, from->ranks[i]) - u->from->ranks);
    added = hs_plan_add_group(to, ranks, from->size);
    if (!added)
        return false;
    added->name = hs_intern_put(&to->strings, hs_plan_string(u->from, from->name));
    added->desc = hs_intern_put(&to->strings, hs_plan_string(u->from, from->desc));
    return added->name != HS_NO_ID && added->desc != HS_NO_ID;
}

/* Signatures and stacks keep their numbers: they are copied in order. */
static bool copy_tables(struct unrolling *u)
{
    struct hs_plan *to = &u->out->plan;
    bool ok = true;

    for (uint32_t i = 0; ok && i < u->from->strings.count; i++)
        ok = hs_intern_put(&to->strings, hs_plan_string(u->from, i)) == i;
    for (uint32_t i = 0; ok && i < u->from->signature_keys.count; i++) {
        const struct hs_plan_signature *s = &u->from->signatures[i];

        ok = hs_plan_put_signature(to, s->op, s->peer, s->root, &s->in, &s->out) == i;
    }
    for (uint32_t i = 0; ok && i < u->from->stack_keys.count; i++) {
        uint32_t count;
        const struct hs_frame *frames = hs_plan_stack(u->from, i, &count);

        ok = hs_plan_put_stack(to, frames, count) == i;
    }
    for (uint32_t g = 0; ok && g < u->from->group_count; g++)
        ok = copy_group(u, &u->from->groups[g]);
    return ok;
}

static bool add_process(struct unrolling *u, uint32_t row)
{
    const struct hs_plan_rank *from = &u->from->ranks[row];
    struct hs_plan *to = &u->out->plan;
    struct hs_plan_rank *added;
    uint32_t program;

    u->call_count = 0;
    if (!unroll_calls(u, row))
        return false;
    program = hs_plan_add_program(to, u->call_count);
    added = program == HS_NO_ID ? NULL : hs_plan_add_rank(to, row, from->slot_count);
    if (!added)
        return false;
    if (u->call_count)
        memcpy(to->programs[program].calls, u->calls, u->call_count * sizeof(*u->calls));
    added->program = program;
    memcpy(added->groups, from->groups, from->slot_count * sizeof(*added->groups));
    u->out->ranks[row] = from->rank;
    u->out->roles[row] = from->flags & HS_PLAN_ABSENT ? HS_EMIT_SILENT : HS_EMIT_STAYS;
    return true;
}

/* A call of all that some end without the others only ends because one of these went away. */
static void find_leavers(struct unrolling *u)
{
    for (uint32_t row = 0; row < u->from->rank_count; row++) {
        const struct hs_plan_rank *rank = &u->from->ranks[row];
        const struct hs_program *p = &u->from->programs[rank->program];

        for (uint32_t i = 0; i < p->call_count; i = hs_unit_end(p, i)) {
            const struct hs_plan_call *call = &p->calls[i];
            const struct hs_plan_signature *sig = &u->from->signatures[call->signature];
            const struct hs_plan_group *g = &u->from->groups[rank->groups[call->slot]];
            uint32_t ref = u->dry->ref[u->dry->first[row] + i];

            if (!(call->flags & HS_CALL_DONE) || sig->kind->proof != HS_PROOF_ALL)
                continue;
            for (uint32_t k = 0; k < g->size; k++) {
                uint32_t other = (uint32_t)(hs_plan_find(u->from, g->ranks[k]) - u->from->ranks);
                bool comes = false;

                for (uint64_t at = u->dry->first[other]; at < u->dry->first[other + 1]; at++)
                    comes = comes || u->dry->ref[at] == ref;
                if (!comes && u->out->roles[other] == HS_EMIT_STAYS)
                    u->out->roles[other] = HS_EMIT_LEAVES;
            }
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool find_counts(struct hs_emission *e)
{
    const struct hs_plan *plan = &e->plan;
    uint32_t kept = 0, count = 0;

    e->used = HS_NEW(&e->arena, bool, plan->group_count + 1u);
    e->counts = HS_NEW(&e->arena, uint64_t, 2 * (size_t)plan->signature_keys.count + 1);
    if (!e->used || !e->counts)
        return false;
    for (uint32_t row = 0; row < plan->rank_count; row++) {
        const struct hs_program *p = &plan->programs[plan->ranks[row].program];

        for (uint32_t i = 0; i < p->call_count; i++)
            e->used[plan->ranks[row].groups[p->calls[i].slot]] = true;
    }
    for (uint32_t i = 0; i < plan->signature_keys.count; i++) {
        e->counts[count++] = plan->signatures[i].numel_in;
        e->counts[count++] = plan->signatures[i].numel_out;
    }
    qsort(e->counts, count, sizeof(*e->counts), by_count);
    for (uint32_t i = 0; i < count; i++) {
        if (e->counts[i] > LARGE && (kept == 0 || e->counts[kept - 1] != e->counts[i]))
            e->counts[kept++] = e->counts[i];
    }
    e->count_count = kept;
    return true;
}

enum hs_status hs_emission_make(const struct hs_plan *plan, struct hs_emission *out,
                                struct hs_err *err)
{
    struct unrolling u = { .from = plan, .out = out };
    struct hs_dry dry;
    enum hs_status status;
    bool ok;

    *out = (struct hs_emission){ .count_count = 0 };
    hs_plan_init(&out->plan);
    hs_arena_init(&out->arena);
    status = hs_dry_run(&dry, plan, err);
    if (status != HS_OK)
        return status;
    u.dry = &dry;
    out->plan.semantics = plan->semantics;
    out->ranks = HS_NEW(&out->arena, uint32_t, plan->rank_count + 1u);
    out->roles = HS_NEW(&out->arena, uint8_t, plan->rank_count + 1u);
    ok = out->ranks && out->roles && prepare(&u) && copy_tables(&u);
    for (uint32_t row = 0; ok && row < plan->rank_count; row++)
        ok = add_process(&u, row);
    if (ok)
        find_leavers(&u);
    ok = ok && hs_plan_share(&out->plan) && find_counts(out);
    free(u.calls);
    hs_dry_release(&dry);
    return ok ? HS_OK : hs_no_memory(err);
}

void hs_emission_release(struct hs_emission *e)
{
    hs_plan_release(&e->plan);
    hs_arena_release(&e->arena);
}

/* ---- elements and operations ---- */

uint64_t hs_emission_count(const struct hs_emission *e, uint64_t count)
{
    for (uint32_t i = 0; i < e->count_count; i++) {
        if (e->counts[i] == count)
            return LARGE + i;
    }
    return count ? count : 1;
}

enum hs_emit_op hs_emit_op_of(const struct hs_plan_signature *sig)
{
    static const struct {
        const char *op;
        enum hs_emit_op is;
    } ops[] = {
        { "ALLREDUCE", HS_EMIT_ALL_REDUCE },
        { "_ALLREDUCE_SPARSE", HS_EMIT_ALL_REDUCE },
        { "ALLREDUCE_COALESCED", HS_EMIT_ALL_REDUCE },
        { "BROADCAST", HS_EMIT_BROADCAST },
        { "REDUCE", HS_EMIT_REDUCE },
        { "ALLGATHER", HS_EMIT_ALL_GATHER },
        { "_ALLGATHER_BASE", HS_EMIT_ALL_GATHER },
        { "REDUCE_SCATTER", HS_EMIT_REDUCE_SCATTER },
        { "_REDUCE_SCATTER_BASE", HS_EMIT_REDUCE_SCATTER },
        { "ALLTOALL", HS_EMIT_ALL_TO_ALL },
        { "ALLTOALL_BASE", HS_EMIT_ALL_TO_ALL },
        { "GATHER", HS_EMIT_GATHER },
        { "SCATTER", HS_EMIT_SCATTER },
        { "SEND", HS_EMIT_SEND },
        { "RECV", HS_EMIT_RECV },
    };

    for (size_t i = 0; sig->kind->op && i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (strcmp(sig->kind->op, ops[i].op) == 0)
            return ops[i].is;
    }
    return HS_EMIT_BARRIER;
}

uint64_t hs_emission_elements(const struct hs_emission *e, const struct hs_plan_signature *sig)
{
    bool out = hs_emit_op_of(sig) == HS_EMIT_REDUCE_SCATTER && sig->out.tensors;

    return hs_emission_count(e, out ? sig->numel_out : sig->numel_in);
}

/* ---- text ---- */

void hs_emit_text(struct hs_buf *out, struct hs_str text)
{
    static const struct hs_str times = HS_STR("\xc3\x97");
    struct hs_buf safe;

    hs_buf_init(&safe);
    hs_buf_put_safe(&safe, text, 200);
    for (struct hs_str rest = hs_buf_str(&safe); rest.n; rest.p++, rest.n--) {
        char c = *rest.p;

        if (hs_str_starts(rest, times)) {
            hs_buf_putc(out, 'x');
            rest.p++;
            rest.n--;
        } else {
            hs_buf_putc(out, (char)(strchr("\"'\\*{}%?", c) ? '_' : c));
        }
    }
    out->failed = out->failed || safe.failed;
    hs_buf_release(&safe);
}

void hs_emit_wrapped(struct hs_buf *out, const char *lead, struct hs_str text)
{
    size_t column = strlen(lead);

    hs_buf_put(out, hs_str_of(lead));
    for (size_t i = 0; i < text.n;) {
        const char *space = memchr(text.p + i, ' ', text.n - i);
        size_t n = space ? (size_t)(space - text.p) - i : text.n - i;

        if (column + n + 1 > COLUMNS && column > strlen(lead)) {
            hs_buf_printf(out, "\n%s", lead);
            column = strlen(lead);
        } else if (column > strlen(lead)) {
            hs_buf_putc(out, ' ');
            column++;
        }
        hs_emit_text(out, (struct hs_str){ .p = text.p + i, .n = n });
        column += n;
        i += n + 1;
    }
    hs_buf_putc(out, '\n');
}

/* The innermost frame outside of libraries; their files stand in a folder of packages. */
void hs_emit_place(struct hs_buf *out, const struct hs_plan *plan, const struct hs_plan_call *call)
{
    uint32_t count;
    const struct hs_frame *frames = hs_plan_stack(plan, call->stack, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct hs_str file = hs_plan_string(plan, frames[i].file);
        const char *slash = file.n ? memrchr(file.p, '/', file.n) : NULL;

        if (hs_str_has(file, "-packages/") || hs_str_has(file, "/torch/"))
            continue;
        if (slash) {
            file.n -= (size_t)(slash + 1 - file.p);
            file.p = slash + 1;
        }
        hs_emit_text(out, file);
        hs_buf_printf(out, ":%u ", frames[i].line);
        hs_emit_text(out, hs_plan_string(plan, frames[i].function));
        return;
    }
}
