/* report.c - what the page shows: the order of the steps, ranks, groups, and what both refer to. */
#include "analyzer/report_internal.h"

#include "analyzer/callsites.h"
#include "analyzer/mismatch.h"
#include "analyzer/words.h"
#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

void hs_report_release(struct hs_report *report)
{
    hs_arena_release(&report->arena);
    hs_intern_release(&report->hosts);
    hs_intern_release(&report->column_sets);
    hs_intern_release(&report->rows);
    hs_intern_release(&report->tails);
    free(report->signatures);
    free(report->frames);
    free(report->stacks);
    *report = (struct hs_report){ .rank_count = 0 };
}

uint32_t hs_report_row(const struct hs_report *report, uint32_t rank)
{
    uint32_t low = 0, high = report->rank_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (report->ranks[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < report->rank_count && report->ranks[low].rank == rank ? low : HS_NO_ID;
}

/* ---- numbers of the job's rows in the report ---- */

static struct hs_str text_or_none(const struct hs_job *job, uint32_t string, struct hs_arena *arena)
{
    return string == HS_NO_ID || !hs_job_string(job, string).n ? (struct hs_str){ .p = NULL }
                                                               : hs_safe(job, string, arena);
}

uint32_t hs_report_signature(struct hs_reporting *r, uint32_t id)
{
    struct hs_report *out = r->out;
    const struct hs_job *job = r->j->job;
    const struct hs_signature *sig = id == HS_NO_ID ? NULL : &job->signatures[id];
    bool send;

    if (!sig || r->signature_no[id] != HS_NO_ID)
        return sig ? r->signature_no[id] : HS_NO_ID;
    if (!HS_GROW(out->signatures, r->signature_cap, out->signature_count + 1u))
        return HS_NO_ID;
    send = sig->kind->class == HS_CLASS_SEND;
    out->signatures[out->signature_count] = (struct hs_report_signature){
        .op = hs_signature_op(job, sig, &out->arena),
        .recorded = hs_safe(job, sig->name, &out->arena),
        .dtype_in = text_or_none(job, sig->dtypes_in, &out->arena),
        .dtype_out = text_or_none(job, sig->dtypes_out, &out->arena),
        .shape_in = text_or_none(job, sig->shapes_in, &out->arena),
        .shape_out = text_or_none(job, sig->shapes_out, &out->arena),
        .numel_in = sig->tensors_in ? sig->numel_in : HS_UNKNOWN,
        .numel_out = sig->tensors_out ? sig->numel_out : HS_UNKNOWN,
        .timeout_ms = sig->timeout_ms,
        .src = send ? sig->self : sig->peer,
        .dst = send ? sig->peer : sig->self,
    };
    return r->signature_no[id] = out->signature_count++;
}

static uint32_t frame_no(struct hs_reporting *r, uint32_t id)
{
    struct hs_report *out = r->out;
    const struct hs_frame *frame = hs_job_frame(r->j->job, id);

    if (r->frame_no[id] != HS_NO_ID)
        return r->frame_no[id];
    if (!HS_GROW(out->frames, r->frame_cap, out->frame_count + 1u))
        return HS_NO_ID;
    out->frames[out->frame_count] =
        (struct hs_report_frame){ .function = hs_safe(r->j->job, frame->function, &out->arena),
                                  .file = hs_safe(r->j->job, frame->file, &out->arena),
                                  .line = frame->line,
                                  .user = hs_is_user_frame(r->j->job, id) };
    return r->frame_no[id] = out->frame_count++;
}

uint32_t hs_report_stack(struct hs_reporting *r, uint32_t id)
{
    struct hs_report *out = r->out;
    uint32_t count = 0, *frames;
    const uint32_t *ids = hs_job_stack(r->j->job, id, &count);

    if (id == HS_NO_ID || count == 0 || r->stack_no[id] != HS_NO_ID)
        return id == HS_NO_ID || count == 0 ? HS_NO_ID : r->stack_no[id];
    frames = HS_NEW(&out->arena, uint32_t, count);
    if (!frames || !HS_GROW(out->stacks, r->stack_cap, out->stack_count + 1u))
        return HS_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = frame_no(r, ids[i]);
        if (frames[i] == HS_NO_ID)
            return HS_NO_ID;
    }
    out->stacks[out->stack_count] = (struct hs_report_stack){ .frames = frames, .count = count };
    return r->stack_no[id] = out->stack_count++;
}

/* What calls that may meet have in common, as a number: operation, counts and type. */
static bool number_calls(struct hs_reporting *r)
{
    const struct hs_job *job = r->j->job;
    struct hs_intern keys;
    bool ok = true;

    r->canon = HS_NEW(&r->scratch, uint32_t, job->signatures_keys.count);
    hs_intern_init(&keys);
    for (uint32_t i = 0; ok && r->canon && i < job->signatures_keys.count; i++) {
        struct hs_call_key key;

        hs_call_key_of(job, &job->signatures[i], &key);
        r->canon[i] = hs_intern_put(&keys, (struct hs_str){ (const char *)&key, sizeof(key) });
        ok = r->canon[i] != HS_NO_ID;
    }
    hs_intern_release(&keys);
    return r->canon && ok;
}

/* ---- clocks ---- */

static uint32_t clock_of_seat(const struct hs_reporting *r, uint32_t seat)
{
    const struct hs_dump *dump = hs_seat_dump(&r->j->al, seat);
    uint32_t kind = dump->speaker == HS_NO_ID ? (uint32_t)HS_CLOCK_EPOCH
                                              : r->j->job->speakers[dump->speaker].clock;

    return hs_clock_find(&r->clocks, hs_identity_dump(r->j->identity, r->j->al.seats[seat].dump),
                         dump->source, kind);
}

/* Hosts are believed as far as the record lets them: what it proves wrong is put right, no more. */
static void set_clock(const struct hs_reporting *r, uint32_t seat, struct hs_seat_clock *out)
{
    uint32_t number = clock_of_seat(r, seat);
    const struct hs_host_clock *c = number == HS_NO_ID ? NULL : &r->clocks.list[number];

    *out = (struct hs_seat_clock){ .clock = number, .frame = HS_NO_ID, .bound_ns = HS_NO_DURATION };
    if (!c || c->contradicted)
        return;
    out->frame = c->reference;
    if (c->reference == number) {
        out->bound_ns = 0;
        return;
    }
    if (c->low == INT64_MIN || c->high == INT64_MAX)
        return;
    out->skew_ns = c->low > 0 ? c->low : c->high < 0 ? c->high : 0;
    out->bound_ns = out->skew_ns - c->low > c->high - out->skew_ns ? out->skew_ns - c->low
                                                                   : c->high - out->skew_ns;
}

bool hs_report_clocks(struct hs_reporting *r)
{
    struct hs_err err = { .n = 0 };

    r->seat_clocks = HS_NEW(&r->scratch, struct hs_seat_clock, r->j->al.seat_count);
    if (!r->seat_clocks || hs_clocks_find(&r->clocks, &r->j->al, &err) != HS_OK)
        return false;
    r->out->zone = true;
    for (uint32_t s = 0; s < r->j->al.seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(&r->j->al, s);

        set_clock(r, s, &r->seat_clocks[s]);
        if (dump->speaker != HS_NO_ID)
            r->out->zone &= (r->j->job->speakers[dump->speaker].clock & HS_CLOCK_ZONE) != 0;
    }
    for (uint32_t s = 0; s < r->j->al.seat_count; s++) {
        int64_t first_ns = hs_made_ns(r, s, hs_seat_dump(&r->j->al, s)->first_ns);

        if (first_ns && (!r->out->origin_ns || first_ns < r->out->origin_ns))
            r->out->origin_ns = first_ns;
    }
    return true;
}

int64_t hs_made_ns(const struct hs_reporting *r, uint32_t seat, int64_t ns)
{
    int64_t made_ns;

    if (ns <= 0 || ns >= INT64_C(1) << 62 ||
        __builtin_sub_overflow(ns, r->seat_clocks[seat].skew_ns, &made_ns) || made_ns < 0)
        return 0;
    return made_ns < INT64_C(1) << 62 ? made_ns : 0;
}

/* ---- ranks ---- */

static uint32_t merge(uint32_t *to, uint32_t count, uint32_t rank)
{
    to[count] = rank;
    return count + 1;
}

/* All that anything speaks of, sorted; of those that left nothing only so many. */
static uint32_t *known_ranks(struct hs_reporting *r, uint32_t *count)
{
    const struct hs_judged *j = r->j;
    uint32_t seen = 0, unique = 0, unseen = j->waits.unseen_count;
    uint32_t *ranks = HS_NEW(&r->scratch, uint32_t,
                             (size_t)j->al.seat_count + j->lines.seen_count + r->v->culprit_count +
                                 r->v->waiting_count + unseen);

    if (!ranks)
        return NULL;
    for (uint32_t s = 0; s < j->al.seat_count; s++)
        seen = merge(ranks, seen, j->al.seats[s].rank);
    for (uint32_t i = 0; i < j->lines.seen_count; i++)
        seen = merge(ranks, seen, j->lines.seen[i]);
    for (uint32_t i = 0; i < r->v->culprit_count; i++)
        if (r->v->culprits[i].rank != HS_NO_ID)
            seen = merge(ranks, seen, r->v->culprits[i].rank);
    for (uint32_t i = 0; i < r->v->waiting_count; i++)
        seen = merge(ranks, seen, r->v->waiting[i]);
    for (uint32_t i = 0; i < unseen && i < HS_REPORT_RANKS_MAX; i++)
        seen = merge(ranks, seen, j->waits.unseen[i]);
    r->out->ranks_left = unseen > HS_REPORT_RANKS_MAX ? unseen - HS_REPORT_RANKS_MAX : 0;
    if (seen)
        qsort(ranks, seen, sizeof(*ranks), hs_compare_u32);
    for (uint32_t i = 0; i < seen; i++) {
        if (unique == 0 || ranks[unique - 1] != ranks[i])
            ranks[unique++] = ranks[i];
    }
    *count = unique;
    return ranks;
}

/* The unfinished unit that a call begins; NULL: it has finished. */
static const struct hs_unit *open_at(const struct hs_alignment *al, uint32_t seat, uint32_t op)
{
    const struct hs_seat *s = &al->seats[seat];

    for (uint32_t k = s->pending_count; k-- > 0;) {
        const struct hs_unit *u = &al->pending[s->first_pending + k];

        if (u->first_op <= op && op <= u->last_op && hs_op_position(al, seat, op) == u->position)
            return u->finished ? NULL : u;
    }
    return NULL;
}

static void put_standing(struct hs_reporting *r, uint32_t seat, struct hs_report_rank *out)
{
    const struct hs_alignment *al = &r->j->al;
    uint32_t i = hs_standing_op(al, seat);
    const struct hs_operation *op;
    const struct hs_unit *open;

    if (i == HS_NO_ID)
        return;
    op = &hs_seat_dump(al, seat)->operations[i];
    open = open_at(al, seat, i);
    out->group = al->positions[hs_op_position(al, seat, i)].group;
    out->seq = hs_op_seq(al, seat, i) ? hs_op_seq(al, seat, i) : HS_NO_ID;
    out->signature = hs_report_signature(r, op->signature);
    out->stack = hs_report_stack(r, op->stack);
    out->state = open ? hs_recorded_state(op) : HS_CELL_COMPLETED;
    out->since_ns = hs_made_ns(r, seat, op->created_ns);
    if (open && out->state == HS_CELL_COMPLETED)
        out->state = HS_CELL_MADE;
    if (!open && out->since_ns && op->finished_us)
        out->finished_ns = out->since_ns + (int64_t)op->finished_us * 1000;
    if (open && r->hung_node != HS_NO_ID && r->j->waits.node_of_seat[seat] == r->hung_node)
        out->state = HS_CELL_HUNG;
}

static void put_seat(struct hs_reporting *r, uint32_t seat, struct hs_report_rank *out)
{
    const struct hs_seat *s = &r->j->al.seats[seat];
    const struct hs_dump *dump = hs_seat_dump(&r->j->al, seat);

    out->source = dump->source;
    out->calls = dump->operation_count;
    out->pending = s->pending_count;
    out->flags = (uint8_t)(HS_REPORT_DUMP | (dump->cut_short ? HS_REPORT_CUT : 0) |
                           (s->older ? HS_REPORT_OLDER : 0) | (s->stale ? HS_REPORT_STALE : 0) |
                           (s->lost ? HS_REPORT_LOST : 0));
    out->role =
        r->j->waits.node_of_seat[seat] != HS_NO_ID
            ? r->j->waits.node_of_seat[seat] == r->hung_node ? HS_ROLE_DIRECT : HS_ROLE_WAITS
        : s->pending_count == 0 ? HS_ROLE_DONE
                                : HS_ROLE_NONE;
    put_standing(r, seat, out);
}

static bool put_host(struct hs_reporting *r, struct hs_report_rank *out)
{
    struct hs_str host = hs_host_of(r->j, out->rank, &out->gpu, &r->scratch);

    if (host.p)
        out->host = hs_intern_put(&r->out->hosts, host);
    return !host.p || out->host != HS_NO_ID;
}

bool hs_report_ranks(struct hs_reporting *r)
{
    const struct hs_judged *j = r->j;
    uint32_t count = 0;
    const uint32_t *known = known_ranks(r, &count);
    const struct hs_claim *claim = hs_winner(j);
    bool ok = known != NULL;

    r->out->ranks = HS_NEW(&r->out->arena, struct hs_report_rank, count);
    r->row_of_seat = HS_NEW(&r->scratch, uint32_t, j->al.seat_count);
    if (!ok || !r->out->ranks || !r->row_of_seat)
        return false;
    r->out->rank_count = count;
    for (uint32_t i = 0, s = 0; ok && i < count; i++) {
        struct hs_report_rank *row = &r->out->ranks[i];
        bool has_log = hs_u32_contains(j->lines.seen, j->lines.seen_count, known[i]);

        *row = (struct hs_report_rank){ .rank = known[i],
                                        .host = HS_NO_ID,
                                        .gpu = HS_NO_ID,
                                        .fold = HS_NO_ID,
                                        .source = HS_NO_ID,
                                        .group = HS_NO_ID,
                                        .seq = HS_NO_ID,
                                        .signature = HS_NO_ID,
                                        .stack = HS_NO_ID,
                                        .late_ns = HS_NO_DURATION,
                                        .role = has_log ? HS_ROLE_NONE : HS_ROLE_UNSEEN };
        if (s < j->al.seat_count && j->al.seats[s].rank == known[i]) {
            r->row_of_seat[s] = i;
            put_seat(r, s++, row);
        } else if (hs_u32_contains(r->v->waiting, r->v->waiting_count, known[i])) {
            row->role = HS_ROLE_DIRECT;
        }
        row->flags |= has_log ? HS_REPORT_LOG : 0;
        if (hs_is_culprit(r->v, known[i])) {
            row->role = HS_ROLE_CULPRIT;
            if (claim && claim->mismatch && row->state == HS_CELL_HUNG)
                row->state = HS_CELL_MISMATCH;
        }
        ok = put_host(r, row);
    }
    return ok;
}

/* ---- groups ---- */

/* Groups that differ only in which ranks they hold are of one kind: the digits of their
 * description do not count. */
static struct hs_str kind_key(struct hs_reporting *r, const struct hs_group *group)
{
    struct hs_str desc = hs_job_string(r->j->job, group->desc);
    struct hs_buf key;
    struct hs_str out;

    hs_buf_init(&key);
    for (size_t i = 0; i < desc.n && i < HS_EXCERPT_BYTES; i++) {
        bool digit = desc.p[i] >= '0' && desc.p[i] <= '9';

        if (!digit)
            hs_buf_putc(&key, desc.p[i]);
        else if (i == 0 || desc.p[i - 1] < '0' || desc.p[i - 1] > '9')
            hs_buf_putc(&key, '#');
    }
    hs_buf_printf(&key, "%c%u,%u", '\0', group->backend, group->size);
    out = hs_arena_copy(&r->scratch, hs_buf_str(&key));
    hs_buf_release(&key);
    return out;
}

/* A kind of one group is called as the group. */
static bool name_kinds(struct hs_reporting *r, const struct hs_intern *kinds, const uint32_t *uses,
                       const uint32_t *first)
{
    struct hs_report *out = r->out;

    out->kinds = HS_NEW(&out->arena, struct hs_str, kinds->count);
    for (uint32_t i = 0; out->kinds && i < kinds->count; i++) {
        struct hs_str key = hs_intern_get(kinds, i);

        key.n = strnlen(key.p, key.n);
        out->kinds[i] = uses[i] == 1 ? out->groups[first[i]].label : hs_safe_text(key, &out->arena);
        if (!out->kinds[i].p)
            return false;
    }
    out->kind_count = kinds->count;
    return out->kinds != NULL;
}

static void put_group(const struct hs_reporting *r, uint32_t g)
{
    const struct hs_group *group = &r->j->al.groups[g];
    struct hs_arena *arena = &r->out->arena;

    r->out->groups[g] = (struct hs_report_group){
        .label = hs_arena_copy(arena, group->label),
        .name = text_or_none(r->j->job, group->name, arena),
        .desc = text_or_none(r->j->job, group->desc, arena),
        .backend = text_or_none(r->j->job, group->backend, arena),
        .size = group->size,
        .finished = group->finished,
        .proved = group->proved,
        .pairs = group->has_pairs,
        .assumed = group->members_assumed,
    };
}

/* Numbers of collectives that ranks are blocked in, by group: what a member has not made. */
static bool note_waited(struct hs_reporting *r)
{
    const struct hs_waits *w = &r->j->waits;
    uint32_t groups = r->j->al.group_count;

    r->waited = HS_NEW(&r->scratch, uint32_t *, groups);
    r->waited_count = HS_NEW(&r->scratch, uint32_t, groups);
    if (!r->waited || !r->waited_count)
        return false;
    for (uint32_t n = 0; n < w->node_count; n++)
        r->waited_count[w->nodes[n].group] += !w->nodes[n].is_pair;
    for (uint32_t g = 0; g < groups; g++) {
        r->waited[g] = HS_NEW(&r->scratch, uint32_t, r->waited_count[g]);
        r->waited_count[g] = 0;
        if (!r->waited[g])
            return false;
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        uint32_t g = w->nodes[n].group;

        if (!w->nodes[n].is_pair)
            r->waited[g][r->waited_count[g]++] = w->nodes[n].seq;
    }
    for (uint32_t g = 0; g < groups; g++)
        if (r->waited_count[g])
            qsort(r->waited[g], r->waited_count[g], sizeof(uint32_t), hs_compare_u32);
    return true;
}

/* Which positions a seat has, and which place in its group each is. */
static bool list_positions(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;
    uint32_t *at;

    r->first_position = HS_NEW(&r->scratch, uint32_t, (size_t)al->seat_count + 1);
    r->positions = HS_NEW(&r->scratch, uint32_t, al->position_count);
    r->place_of_position = HS_NEW(&r->scratch, uint32_t, al->position_count);
    at = HS_NEW(&r->scratch, uint32_t, al->seat_count);
    if (!r->first_position || !r->positions || !r->place_of_position || !at)
        return false;
    for (uint32_t p = 0; p < al->position_count; p++)
        r->first_position[al->positions[p].seat + 1]++;
    for (uint32_t s = 0; s < al->seat_count; s++) {
        r->first_position[s + 1] += r->first_position[s];
        at[s] = r->first_position[s];
    }
    for (uint32_t p = 0; p < al->position_count; p++) {
        r->positions[at[al->positions[p].seat]++] = p;
        r->place_of_position[p] = HS_NO_ID;
    }
    for (uint32_t g = 0; g < al->group_count; g++) {
        for (uint32_t i = 0; i < al->groups[g].size; i++) {
            if (al->groups[g].positions[i] != HS_NO_ID)
                r->place_of_position[al->groups[g].positions[i]] = i;
        }
    }
    return true;
}

bool hs_report_groups(struct hs_reporting *r)
{
    const struct hs_alignment *al = &r->j->al;
    struct hs_intern kinds;
    uint32_t *uses = HS_NEW(&r->scratch, uint32_t, al->group_count);
    uint32_t *first = HS_NEW(&r->scratch, uint32_t, al->group_count);
    bool ok = uses && first;

    r->out->groups = HS_NEW(&r->out->arena, struct hs_report_group, al->group_count);
    ok = ok && r->out->groups;
    hs_intern_init(&kinds);
    for (uint32_t g = 0; ok && g < al->group_count; g++) {
        struct hs_str key = kind_key(r, &al->groups[g]);
        uint32_t kind = key.p ? hs_intern_put(&kinds, key) : HS_NO_ID;

        ok = kind != HS_NO_ID;
        if (!ok)
            break;
        put_group(r, g);
        r->out->groups[g].kind = kind;
        if (uses[kind]++ == 0)
            first[kind] = g;
        r->out->group_count = g + 1;
    }
    ok = ok && name_kinds(r, &kinds, uses, first) && note_waited(r) && list_positions(r);
    hs_intern_release(&kinds);
    return ok;
}

/* ---- all of it ---- */

/* The operation that the verdict names, as the alignment has it. */
static void find_hung(struct hs_reporting *r)
{
    const struct hs_claim *claim = hs_winner(r->j);
    const struct hs_verdict_operation *o = &r->v->operation;

    r->hung_group = r->hung_seq = r->hung_node = HS_NO_ID;
    if (claim && claim->node != HS_NO_ID) {
        const struct hs_node *node = &r->j->waits.nodes[claim->node];

        r->hung_node = claim->node;
        r->hung_group = node->group;
        r->hung_seq = node->is_pair ? 0 : node->seq;
        return;
    }
    for (uint32_t g = 0; r->v->has_operation && o->seq < UINT32_MAX && g < r->j->al.group_count;
         g++) {
        if (!hs_str_eq(r->j->al.groups[g].label, o->group))
            continue;
        r->hung_group = g;
        r->hung_seq = (uint32_t)o->seq;
        return;
    }
}

static uint32_t *no_numbers(struct hs_reporting *r, uint32_t count)
{
    uint32_t *list = HS_NEW(&r->scratch, uint32_t, count);

    if (list && count)
        memset(list, 0xff, count * sizeof(*list));
    return list;
}

static bool begin(struct hs_reporting *r)
{
    const struct hs_job *job = r->j->job;

    hs_arena_init(&r->scratch);
    hs_arena_init(&r->out->arena);
    hs_intern_init(&r->out->hosts);
    hs_intern_init(&r->out->column_sets);
    hs_intern_init(&r->out->rows);
    hs_intern_init(&r->out->tails);
    hs_clocks_init(&r->clocks, r->j->identity);
    r->signature_no = no_numbers(r, job->signatures_keys.count);
    r->stack_no = no_numbers(r, job->stacks_keys.count);
    r->frame_no = no_numbers(r, job->frames_keys.count);
    find_hung(r);
    return r->signature_no && r->stack_no && r->frame_no && number_calls(r);
}

bool hs_report_derive(const struct hs_judged *j, const struct hs_verdict *v,
                      const struct hs_report_wanted *wanted, struct hs_report *out)
{
    struct hs_reporting r = { .j = j, .v = v, .wanted = wanted, .out = out };
    bool ok;

    *out = (struct hs_report){ .rank_count = 0 };
    ok = begin(&r) && hs_report_clocks(&r) && hs_report_ranks(&r) && hs_report_groups(&r) &&
         hs_report_columns(&r) && hs_report_rows(&r) && hs_report_arrivals(&r) &&
         hs_report_classes(&r) && hs_report_waits(&r) && hs_report_records(&r) &&
         hs_report_topology(&r) && hs_report_settings(&r) && hs_report_contexts(&r);
    hs_clocks_release(&r.clocks);
    hs_arena_release(&r.scratch);
    return ok;
}
