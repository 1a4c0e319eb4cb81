/* timeline.c - what a timeline is of, and its ranks one by one. */
#include "analyzer/timeline.h"

#include "analyzer/clocks.h"
#include "analyzer/words.h"
#include "base/ranks.h"

#include <stdlib.h>

enum { MARGIN_SHARE = 50 }; /* of the time, past the last stamp: what began last has a length */

void hs_timeline_release(struct hs_timeline_making *m)
{
    free(m->wanted);
    free(m->ends);
    hs_arena_release(&m->arena);
    hs_arena_release(&m->scratch);
}

/* ---- what was decided ---- */

static enum hs_status tell_verdict(struct hs_timeline_making *m, const struct hs_trial *trial,
                                   struct hs_err *err)
{
    struct hs_verdict v = { .code = NULL };
    struct hs_buf text;
    bool ok;

    hs_arena_init(&v.arena);
    hs_buf_init(&text);
    ok = hs_tell_coverage(m->j, &trial->attempts, trial->told, trial->codes, &v) &&
         hs_tell_decision(m->j, &v);
    m->culprit_ranks = HS_NEW(&m->arena, uint32_t, v.culprit_count);
    ok = ok && m->culprit_ranks;
    for (uint32_t i = 0; ok && i < v.culprit_count; i++) {
        if (v.culprits[i].rank != HS_NO_ID)
            m->culprit_ranks[m->culprit_count++] = v.culprits[i].rank;
    }
    if (ok) {
        qsort(m->culprit_ranks, m->culprit_count, sizeof(uint32_t), hs_compare_u32);
        hs_phrase_put(&text, &v.summary, m->request.language);
        m->timeline.code = v.code;
        m->timeline.summary = hs_arena_copy(&m->arena, hs_buf_str(&text));
        m->timeline.world_size = v.world_size;
        ok = m->timeline.summary.p != NULL;
    }
    hs_buf_release(&text);
    hs_verdict_release(&v);
    return ok ? HS_OK : hs_no_memory(err);
}

/* ---- one clock for all ---- */

/* A clock is moved only if its stamps cannot be right as they are. */
static enum hs_status find_shifts(struct hs_timeline_making *m, struct hs_err *err)
{
    const struct hs_alignment *al = &m->j->al;
    struct hs_clocks clocks;
    enum hs_status status;

    m->shifts_ns = HS_NEW(&m->arena, int64_t, al->seat_count);
    if (!m->shifts_ns)
        return hs_no_memory(err);
    hs_clocks_init(&clocks, m->j->identity);
    status = hs_clocks_find(&clocks, al, err);
    for (uint32_t s = 0; status == HS_OK && s < al->seat_count; s++) {
        int64_t ns = hs_seat_dump(al, s)->first_ns;
        struct hs_moment moment;

        if (!ns)
            continue;
        moment = hs_clock_of_dump(&clocks, al->seats[s].dump, ns);
        if (moment.frame != HS_NO_ID && (ns < moment.low || ns > moment.high))
            m->shifts_ns[s] = moment.ns - ns;
    }
    hs_clocks_release(&clocks);
    return status;
}

static void find_bounds(struct hs_timeline_making *m)
{
    const struct hs_alignment *al = &m->j->al;
    struct hs_timeline *t = &m->timeline;
    const int64_t second = INT64_C(1000000000);

    for (uint32_t s = 0; s < al->seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(al, s);
        int64_t first_ns = dump->first_ns + m->shifts_ns[s];
        int64_t last_ns = dump->last_ns + m->shifts_ns[s];

        if (!dump->first_ns || !dump->last_ns)
            continue;
        t->from_ns = t->to_ns && t->from_ns < first_ns ? t->from_ns : first_ns;
        t->to_ns = t->to_ns > last_ns ? t->to_ns : last_ns;
    }
    t->from_ns -= t->from_ns % second;
    t->to_ns += (t->to_ns - t->from_ns) / MARGIN_SHARE + 1000;
    for (uint32_t s = 0; s < al->seat_count; s++) {
        int64_t ns;

        if (m->j->waits.node_of_seat[s] == HS_NO_ID)
            continue;
        ns = hs_timeline_start(m, s, al->pending[al->seats[s].head].first_op);
        if (!t->waiting_ns || ns < t->waiting_ns)
            t->waiting_ns = ns;
    }
    m->since_ns = (t->waiting_ns ? t->waiting_ns : t->to_ns) - m->request.span.ns;
}

/* ---- groups and processes ---- */

static bool put_groups(struct hs_timeline_making *m)
{
    const struct hs_alignment *al = &m->j->al;
    struct hs_timeline_group *groups = HS_NEW(&m->arena, struct hs_timeline_group, al->group_count);

    for (uint32_t g = 0; groups && g < al->group_count; g++) {
        const struct hs_group *from = &al->groups[g];

        groups[g] = (struct hs_timeline_group){ .label = from->label,
                                                .ranks = from->ranks,
                                                .size = from->size };
        if (from->name != HS_NO_ID)
            groups[g].name = hs_safe(al->job, from->name, &m->arena);
        if (from->desc != HS_NO_ID)
            groups[g].desc = hs_safe(al->job, from->desc, &m->arena);
        if (from->backend != HS_NO_ID)
            groups[g].backend = hs_safe(al->job, from->backend, &m->arena);
    }
    for (uint32_t s = 0; s < al->seat_count && !m->timeline.library.p; s++) {
        if (hs_seat_dump(al, s)->library != HS_NO_ID)
            m->timeline.library = hs_safe(al->job, hs_seat_dump(al, s)->library, &m->arena);
    }
    m->timeline.groups = groups;
    m->timeline.group_count = al->group_count;
    m->track_of_group = HS_NEW(&m->arena, uint32_t, al->group_count);
    if (m->track_of_group)
        memset(m->track_of_group, 0xff, al->group_count * sizeof(uint32_t));
    return groups && m->track_of_group;
}

static bool is_asked(const struct hs_timeline_making *m, uint32_t rank)
{
    return !m->request.ranks || hs_u32_contains(m->request.ranks, m->request.rank_count, rank);
}

/* The unseen ranks that somebody waits for, by number. */
static bool *find_wanted(struct hs_timeline_making *m)
{
    const struct hs_waits *w = &m->j->waits;
    bool *wanted = HS_NEW(&m->arena, bool, w->unseen_count);

    for (uint32_t i = 0; wanted && i < w->holder_count; i++) {
        if (w->holders[i].who >= w->al->seat_count)
            wanted[w->holders[i].who - w->al->seat_count] = true;
    }
    return wanted;
}

static uint32_t put_process(struct hs_timeline_making *m, uint32_t rank, uint32_t seat)
{
    m->processes[m->process_count] = (struct hs_timeline_process){ .rank = rank, .seat = seat };
    return m->process_count++;
}

/* Seats and unseen ranks are sorted, and no rank is both. */
static bool put_processes(struct hs_timeline_making *m)
{
    const struct hs_alignment *al = &m->j->al;
    const struct hs_waits *w = &m->j->waits;
    const bool *wanted = find_wanted(m);
    uint32_t u = 0;

    m->process_of_seat = HS_NEW(&m->arena, uint32_t, al->seat_count);
    m->processes =
        HS_NEW(&m->arena, struct hs_timeline_process, (size_t)al->seat_count + w->unseen_count);
    if (!wanted || !m->process_of_seat || !m->processes)
        return false;
    for (uint32_t s = 0; s <= al->seat_count; s++) {
        uint32_t rank = s < al->seat_count ? al->seats[s].rank : HS_NO_ID;

        for (; u < w->unseen_count && w->unseen[u] < rank; u++) {
            if (wanted[u] && is_asked(m, w->unseen[u]))
                (void)put_process(m, w->unseen[u], HS_NO_ID);
        }
        if (s < al->seat_count)
            m->process_of_seat[s] = is_asked(m, rank) ? put_process(m, rank, s) : HS_NO_ID;
    }
    if (m->timeline.world_size == HS_UNKNOWN)
        m->timeline.world_size = (uint64_t)al->seats[al->seat_count - 1].rank + 1;
    m->timeline.first_rank = m->process_count ? m->processes[0].rank : 0;
    m->timeline.rank_count = m->process_count;
    return true;
}

/* Whether the record has a call with a number that --window wants. */
static bool has_numbers(const struct hs_timeline_making *m)
{
    const struct hs_span *span = &m->request.span;

    for (uint32_t seat = 0; seat < m->j->al.seat_count; seat++) {
        const struct hs_dump *dump = hs_seat_dump(&m->j->al, seat);

        for (uint32_t i = 0; i < dump->operation_count; i++) {
            if (dump->operations[i].seq >= span->low && dump->operations[i].seq <= span->high)
                return true;
        }
    }
    return false;
}

enum hs_status hs_timeline_begin(struct hs_timeline_making *m, const struct hs_trial *trial,
                                 const struct hs_timeline_request *request, struct hs_err *err)
{
    enum hs_status status;

    *m = (struct hs_timeline_making){ .j = &trial->judged,
                                      .request = *request,
                                      .timeline = { .job = trial->judged.job } };
    hs_arena_init(&m->arena);
    hs_arena_init(&m->scratch);
    if (m->j->al.seat_count == 0)
        return hs_fail(err, HS_EUSAGE,
                       "no rank in the input recorded its calls: there is nothing to show in time");
    if (m->request.span.kind == HS_SPAN_NUMBERS && !has_numbers(m))
        return hs_fail(err, HS_EUSAGE, "--window: no recorded call has such a number");
    status = tell_verdict(m, trial, err);
    if (status == HS_OK)
        status = find_shifts(m, err);
    if (status != HS_OK)
        return status;
    find_bounds(m);
    if (!put_groups(m) || !put_processes(m))
        return hs_no_memory(err);
    if (m->process_count == 0)
        return hs_fail(err, HS_EUSAGE, "--ranks: none of these ranks recorded its calls");
    return hs_timeline_arrows(m) ? HS_OK : hs_no_memory(err);
}

/* ---- one rank ---- */

/* The first row that is of `process` or a later one. Rows are sorted by process, their first field.
 */
static uint32_t first_of(const void *rows, size_t row_bytes, uint32_t count, uint32_t process)
{
    uint32_t low = 0;

    for (uint32_t high = count; low < high;) {
        uint32_t mid = low + (high - low) / 2, at;

        memcpy(&at, (const char *)rows + mid * row_bytes, sizeof(at));
        if (at < process)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* What a process is wanted for, as slices. */
static void put_wanted(const struct hs_timeline_making *m, const struct hs_wanted *rows,
                       uint32_t count, struct hs_slice *out)
{
    const struct hs_alignment *al = &m->j->al;

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_node *node = &m->j->waits.nodes[rows[i].node];
        uint32_t seat = m->j->waits.waiters[node->first_waiter];
        const struct hs_unit *head = &al->pending[al->seats[seat].head];

        out[i] = (struct hs_slice){ .op = &hs_seat_dump(al, seat)->operations[head->first_op],
                                    .start_ns = rows[i].since_ns,
                                    .end_ns = m->timeline.to_ns,
                                    .number = node->is_pair ? head->p2p_seq : head->seq,
                                    .track = node->group,
                                    .src = HS_NO_ID,
                                    .dst = HS_NO_ID,
                                    .kind = HS_SLICE_WANTED,
                                    .why = rows[i].why };
    }
}

/* Which arrows begin and end in each slice: slices are calls by number, then what is wanted. */
static const struct hs_arrow *put_arrows(struct hs_timeline_making *m, uint32_t process,
                                         const struct hs_wanted *wanted, struct hs_slice *slices,
                                         uint32_t calls)
{
    uint32_t first = first_of(m->ends, sizeof(*m->ends), m->end_count, process);
    uint32_t next = first_of(m->ends, sizeof(*m->ends), m->end_count, process + 1);
    struct hs_arrow *arrows = HS_NEW(&m->scratch, struct hs_arrow, next - first);

    for (uint32_t i = first, w = 0; arrows && i < next; i++) {
        uint32_t slot = m->ends[i].slot;

        while (slot >= HS_OPERATIONS_MAX && wanted[w].node != slot - HS_OPERATIONS_MAX)
            w++;
        slot = slot < HS_OPERATIONS_MAX ? slot : calls + w;
        if (slices[slot].arrow_count++ == 0)
            slices[slot].first_arrow = i - first;
        arrows[i - first] = m->ends[i].arrow;
    }
    return arrows;
}

static int by_start(const void *a, const void *b)
{
    const struct hs_slice *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if ((x->kind == HS_SLICE_WANTED) != (y->kind == HS_SLICE_WANTED))
        return x->kind == HS_SLICE_WANTED ? 1 : -1;
    if (x->kind == HS_SLICE_WANTED)
        return x->track != y->track ? (x->track < y->track ? -1 : 1)
                                    : (x->number > y->number) - (x->number < y->number);
    return (x->op > y->op) - (x->op < y->op);
}

/* Keep the slices that are asked for; groups become tracks, in the order of their calls. */
static struct hs_track *choose(struct hs_timeline_making *m, uint32_t process,
                               struct hs_slice *slices, uint32_t *count, uint32_t *track_count)
{
    const struct hs_alignment *al = &m->j->al;
    uint32_t seat = m->processes[process].seat, kept = 0;
    struct hs_track *tracks =
        HS_NEW(&m->scratch, struct hs_track, al->group_count < *count ? al->group_count : *count);

    for (uint32_t i = 0; tracks && i < *count; i++) {
        uint32_t group = slices[i].track;

        if (slices[i].kind != HS_SLICE_WANTED &&
            !hs_timeline_shows(m, &slices[i], hs_op_seq(al, seat, i)))
            continue;
        if (m->track_of_group[group] == HS_NO_ID) {
            m->track_of_group[group] = *track_count;
            tracks[(*track_count)++].group = group;
        }
        slices[kept] = slices[i];
        slices[kept++].track = m->track_of_group[group];
    }
    for (uint32_t t = 0; tracks && t < *track_count; t++)
        m->track_of_group[tracks[t].group] = HS_NO_ID;
    *count = kept;
    return tracks;
}

bool hs_timeline_rank(struct hs_timeline_making *m, uint32_t i, struct hs_timeline_rank *out)
{
    const struct hs_timeline_process *p = &m->processes[i];
    uint32_t first = first_of(m->wanted, sizeof(*m->wanted), m->wanted_count, i);
    uint32_t wanted = first_of(m->wanted, sizeof(*m->wanted), m->wanted_count, i + 1) - first;
    struct hs_slice *slices = NULL;
    struct hs_track *tracks;
    uint32_t calls = 0, count;
    bool sorted = true;

    *out = (struct hs_timeline_rank){ .rank = p->rank, .unseen = p->seat == HS_NO_ID };
    hs_arena_reset(&m->scratch);
    if (out->unseen)
        slices = HS_NEW(&m->scratch, struct hs_slice, wanted);
    else if (!hs_timeline_slices(m, i, wanted, &slices, &calls))
        return false;
    if (!slices)
        return false;
    put_wanted(m, m->wanted + first, wanted, slices + calls);
    count = calls + wanted;
    out->arrows = put_arrows(m, i, m->wanted + first, slices, calls);
    tracks = choose(m, i, slices, &count, &out->track_count);
    if (!out->arrows || !tracks)
        return false;
    for (uint32_t k = 1; sorted && k < count; k++)
        sorted = by_start(&slices[k - 1], &slices[k]) <= 0;
    if (!sorted)
        qsort(slices, count, sizeof(*slices), by_start);
    out->host = hs_host_of(m->j, p->rank, &out->gpu, &m->scratch);
    out->culprit = hs_u32_contains(m->culprit_ranks, m->culprit_count, p->rank);
    out->tracks = tracks;
    out->slices = slices;
    out->slice_count = count;
    return hs_timeline_lanes(slices, count, tracks, out->track_count, &m->scratch);
}
