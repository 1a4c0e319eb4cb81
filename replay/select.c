#include "replay/select.h"

struct selecting {
    const struct hs_plan *from;
    const struct hs_selection *what;
    struct hs_plan *to;
    struct hs_arena arena;
    uint32_t *strings, *signatures, *stacks; /* by id: in `to`; HS_NO_ID: not yet */
    uint32_t *groups;                        /* by group: in `to`; HS_NO_ID: gone */
};

static bool keeps_rank(const struct selecting *s, uint32_t rank)
{
    const struct hs_plan_rank *row = hs_plan_find(s->from, rank);

    return row && (!s->what->ranks || s->what->ranks[row - s->from->ranks]);
}

static uint32_t string_of(struct selecting *s, uint32_t id)
{
    if (id != HS_NO_ID && s->strings[id] == HS_NO_ID)
        s->strings[id] = hs_intern_put(&s->to->strings, hs_plan_string(s->from, id));
    return id == HS_NO_ID ? HS_NO_ID : s->strings[id];
}

static bool copy_groups(struct selecting *s)
{
    for (uint32_t g = 0; g < s->from->group_count; g++) {
        const struct hs_plan_group *group = &s->from->groups[g];
        uint32_t *ranks = HS_NEW(&s->arena, uint32_t, group->size + 1u), size = 0;
        struct hs_plan_group *added;

        s->groups[g] = HS_NO_ID;
        if (!ranks)
            return false;
        for (uint32_t i = 0; i < group->size; i++) {
            if (keeps_rank(s, group->ranks[i]))
                ranks[size++] = group->ranks[i];
        }
        if (size == 0 || (s->what->groups && !s->what->groups[g]))
            continue;
        s->groups[g] = s->to->group_count;
        added = hs_plan_add_group(s->to, ranks, size);
        if (!added)
            return false;
        added->name = string_of(s, group->name);
        added->desc = string_of(s, group->desc);
        added->backend = string_of(s, group->backend);
        added->assumed = group->assumed;
    }
    return true;
}

/* The index that a group rank has now; HS_NO_ID when its rank is gone. */
static uint32_t index_now(const struct selecting *s, uint32_t g, uint32_t index)
{
    const struct hs_plan_group *group = &s->from->groups[g];

    return index >= group->size
               ? HS_NO_ID
               : hs_plan_index_in(&s->to->groups[s->groups[g]], group->ranks[index]);
}

static bool tensors_of(struct selecting *s, const struct hs_tensors *t, struct hs_tensors *out)
{
    uint32_t *dtypes = HS_NEW(&s->arena, uint32_t, t->dtype_count + 1u);

    *out = *t;
    out->dtypes = dtypes;
    for (uint32_t i = 0; dtypes && i < t->dtype_count; i++)
        dtypes[i] = string_of(s, t->dtypes[i]);
    return dtypes != NULL;
}

/* The signature of a call in the new plan; `gone` when its peer is. HS_NO_ID without memory. */
static uint32_t signature_of(struct selecting *s, const struct hs_plan_call *call, uint32_t g,
                             bool *gone)
{
    const struct hs_plan_signature *sig = &s->from->signatures[call->signature];
    uint32_t peer = sig->peer == HS_NO_ID ? HS_NO_ID : index_now(s, g, sig->peer);
    uint32_t root = sig->root == HS_NO_ID ? HS_NO_ID : index_now(s, g, sig->root);
    bool fixed = sig->peer == HS_NO_ID && sig->root == HS_NO_ID;
    struct hs_tensors in, out;
    uint32_t id;

    *gone = sig->peer != HS_NO_ID && peer == HS_NO_ID;
    if (fixed && s->signatures[call->signature] != HS_NO_ID)
        return s->signatures[call->signature];
    if (!tensors_of(s, &sig->in, &in) || !tensors_of(s, &sig->out, &out))
        return HS_NO_ID;
    id = hs_plan_put_signature(s->to, string_of(s, sig->op), peer, root, &in, &out);
    if (fixed)
        s->signatures[call->signature] = id;
    return id;
}

static uint32_t stack_of(struct selecting *s, uint32_t id)
{
    uint32_t count;
    const struct hs_frame *from;
    struct hs_frame *frames;

    if (id == HS_NO_ID || s->stacks[id] != HS_NO_ID)
        return id == HS_NO_ID ? HS_NO_ID : s->stacks[id];
    from = hs_plan_stack(s->from, id, &count);
    frames = HS_NEW(&s->arena, struct hs_frame, count + 1u);
    for (uint32_t i = 0; frames && i < count; i++)
        frames[i] = (struct hs_frame){ .function = string_of(s, from[i].function),
                                       .file = string_of(s, from[i].file),
                                       .line = from[i].line };
    if (frames)
        s->stacks[id] = hs_plan_put_stack(s->to, frames, count);
    return s->stacks[id];
}

/* ---- ranks ---- */

struct row_selecting {
    struct selecting *s;
    const struct hs_plan_rank *from;
    struct hs_plan_rank *to;
    struct hs_program *program;
    uint32_t *slots;  /* by slot: in the new row; HS_NO_ID: gone */
    uint32_t *passed; /* by new slot: collectives passed since the last that was kept */
    bool *any;        /* by new slot: a collective was kept */
};

static bool is_dropped(const struct row_selecting *w, const struct hs_plan_call *call, uint8_t drop)
{
    if (drop == HS_KEEP && w->slots[call->slot] != HS_NO_ID)
        return false;
    if (w->slots[call->slot] != HS_NO_ID && drop == HS_DROP_PASSED &&
        !hs_plan_is_pair(&w->s->from->signatures[call->signature]))
        w->passed[w->slots[call->slot]] += 1 + call->skip;
    return true;
}

/* The passed collectives count to the start, or before the next that is kept. */
static void count_passed(struct row_selecting *w, struct hs_plan_call *call)
{
    uint32_t slot = call->slot;

    if (w->any[slot])
        call->skip += w->passed[slot];
    else
        w->to->start[slot] += w->passed[slot];
    w->passed[slot] = 0;
    w->any[slot] = true;
}

static bool copy_unit(struct row_selecting *w, const struct hs_program *p, uint32_t i, uint32_t end)
{
    bool pair = hs_plan_is_pair(&w->s->from->signatures[p->calls[i].signature]);

    for (uint32_t k = i; k < end; k++) {
        struct hs_plan_call *call = &w->program->calls[w->program->call_count];
        bool gone;

        *call = p->calls[k];
        call->signature =
            signature_of(w->s, &p->calls[k], w->from->groups[p->calls[k].slot], &gone);
        if (call->signature == HS_NO_ID)
            return false;
        if (gone)
            continue;
        call->slot = (uint16_t)w->slots[p->calls[k].slot];
        call->stack = stack_of(w->s, p->calls[k].stack);
        if (k == i && !pair)
            count_passed(w, call);
        w->program->call_count++;
    }
    return true;
}

static bool copy_calls(struct row_selecting *w, const uint8_t *drop)
{
    const struct hs_program *p = &w->s->from->programs[w->from->program];

    for (uint32_t i = 0, end; i < p->call_count; i = end) {
        end = hs_unit_end(p, i);
        if (!is_dropped(w, &p->calls[i], drop ? drop[i] : HS_KEEP) && !copy_unit(w, p, i, end))
            return false;
    }
    for (uint32_t s = 0; s < w->to->slot_count; s++) {
        if (!w->any[s])
            w->to->start[s] += w->passed[s];
    }
    return true;
}

static bool copy_row(struct selecting *s, const struct hs_plan_rank *row, const uint8_t *drop)
{
    struct row_selecting w = { .s = s, .from = row };
    uint32_t slots = 0, calls = s->from->programs[row->program].call_count, program;

    w.slots = HS_NEW(&s->arena, uint32_t, row->slot_count + 1u);
    w.passed = HS_NEW(&s->arena, uint32_t, row->slot_count + 1u);
    w.any = HS_NEW(&s->arena, bool, row->slot_count + 1u);
    if (!w.slots || !w.passed || !w.any)
        return false;
    for (uint32_t i = 0; i < row->slot_count; i++)
        w.slots[i] = s->groups[row->groups[i]] == HS_NO_ID ? HS_NO_ID : slots++;
    w.to = hs_plan_add_rank(s->to, row->rank, slots);
    program = w.to ? hs_plan_add_program(s->to, calls) : HS_NO_ID;
    if (program == HS_NO_ID)
        return false;
    w.to->program = program;
    w.to->flags = row->flags;
    w.program = &s->to->programs[program];
    w.program->call_count = 0;
    for (uint32_t i = 0; i < row->slot_count; i++) {
        if (w.slots[i] == HS_NO_ID)
            continue;
        w.to->groups[w.slots[i]] = s->groups[row->groups[i]];
        w.to->start[w.slots[i]] = row->start[i];
        w.to->until[w.slots[i]] = row->until[i];
    }
    return copy_calls(&w, drop);
}

static uint32_t *nothing_yet(struct selecting *s, uint32_t count)
{
    uint32_t *ids = HS_NEW(&s->arena, uint32_t, count + 1u);

    if (ids)
        memset(ids, 0xff, count * sizeof(*ids));
    return ids;
}

enum hs_status hs_plan_select(const struct hs_plan *plan, const struct hs_selection *selection,
                              struct hs_plan *out, struct hs_err *err)
{
    struct selecting s = { .from = plan, .what = selection, .to = out };
    uint64_t first = 0;
    bool ok;

    hs_arena_init(&s.arena);
    out->semantics = plan->semantics;
    s.strings = nothing_yet(&s, plan->strings.count);
    s.signatures = nothing_yet(&s, plan->signature_keys.count);
    s.stacks = nothing_yet(&s, plan->stack_keys.count);
    s.groups = nothing_yet(&s, plan->group_count);
    ok = s.strings && s.signatures && s.stacks && s.groups && copy_groups(&s);
    for (uint32_t row = 0; ok && row < plan->rank_count; row++) {
        if (!selection->ranks || selection->ranks[row])
            ok = copy_row(&s, &plan->ranks[row], selection->drop ? selection->drop + first : NULL);
        first += plan->programs[plan->ranks[row].program].call_count;
    }
    hs_arena_release(&s.arena);
    return ok && hs_plan_share(out) ? HS_OK : hs_no_memory(err);
}

/* ---- by name ---- */

static bool is_called(const struct hs_plan *plan, const struct hs_plan_group *g, struct hs_str word)
{
    struct hs_str name = hs_plan_string(plan, g->name), desc = hs_plan_string(plan, g->desc);

    if (hs_str_eq(word, name) || (desc.n && hs_str_eq(word, desc)))
        return true;
    return word.n == desc.n + name.n + 2 && hs_str_starts(word, desc) && word.p[desc.n] == '(' &&
           word.p[word.n - 1] == ')' && memcmp(word.p + desc.n + 1, name.p, name.n) == 0;
}

uint32_t hs_plan_group_called(const struct hs_plan *plan, const struct hs_plan_rank *row,
                              struct hs_str name)
{
    uint32_t count = row ? row->slot_count : plan->group_count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = row ? row->groups[i] : i;

        if (is_called(plan, &plan->groups[g], name))
            return g;
    }
    return HS_NO_ID;
}

static enum hs_status mark_groups(const struct hs_plan *plan, const char *list, bool *keep,
                                  struct hs_err *err)
{
    for (const char *at = list;;) {
        struct hs_str word = { .p = at, .n = strcspn(at, ",") };
        bool found = false;

        for (uint32_t g = 0; g < plan->group_count; g++) {
            if (is_called(plan, &plan->groups[g], word))
                keep[g] = found = true;
        }
        if (!found)
            return hs_fail(err, HS_EUSAGE, "--groups: there is no group '%.*s'", HS_STR_ARG(word));
        if (!at[word.n])
            return HS_OK;
        at += word.n + 1;
    }
}

static enum hs_status mark_ranks(const struct hs_plan *plan, const uint32_t *ranks, uint32_t count,
                                 bool *keep, struct hs_err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_plan_rank *row = hs_plan_find(plan, ranks[i]);

        if (!row)
            return hs_fail(err, HS_EUSAGE, "--ranks: there is no rank %u", ranks[i]);
        keep[row - plan->ranks] = true;
    }
    return HS_OK;
}

enum hs_status hs_plan_restrict(struct hs_plan *plan, const uint32_t *ranks, uint32_t rank_count,
                                const char *groups, struct hs_err *err)
{
    struct hs_selection what = { .ranks = NULL };
    enum hs_status status = HS_OK;
    bool *keep_ranks, *keep_groups;
    struct hs_arena arena;
    struct hs_plan part;

    if (!ranks && !groups)
        return HS_OK;
    hs_arena_init(&arena);
    hs_plan_init(&part);
    keep_ranks = HS_NEW(&arena, bool, plan->rank_count + 1u);
    keep_groups = HS_NEW(&arena, bool, plan->group_count + 1u);
    what.ranks = ranks ? keep_ranks : NULL;
    what.groups = groups ? keep_groups : NULL;
    if (!keep_ranks || !keep_groups)
        status = hs_no_memory(err);
    if (status == HS_OK && keep_ranks && ranks)
        status = mark_ranks(plan, ranks, rank_count, keep_ranks, err);
    if (status == HS_OK && keep_groups && groups)
        status = mark_groups(plan, groups, keep_groups, err);
    if (status == HS_OK)
        status = hs_plan_select(plan, &what, &part, err);
    hs_arena_release(&arena);
    if (status == HS_OK) {
        hs_plan_release(plan);
        *plan = part;
    } else {
        hs_plan_release(&part);
    }
    return status;
}
