/* line_standings.c - where ranks stand that left lines and no dump: the middle of the screen. */
#include "analyzer/callsites.h"
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/ranks.h"

#include <stdlib.h>

enum { EXCERPT_BYTES = 60 };

/* What is told of a rank: the first that is known. */
enum spot_kind { DIED, BUSY, WAITS, ANSWERED, COUNTED, STACK, LAST, NOTHING, UNSEEN };

struct spot {
    uint32_t rank;
    bool culprit, direct, seen;
    enum spot_kind kind;
    const struct hs_line_wait *wait;
    const struct hs_line_standing *counters;
    const struct hs_place *cited;     /* of the verdict's evidence */
    const struct hs_speaker *speaker; /* who wrote its last line */
    uint32_t stack;                   /* HS_NO_ID: none was taken */
    uint64_t size;                    /* of its call, where sizes are what differs; else 0 */
};

struct spots {
    const struct hs_judged *j;
    struct hs_verdict *v;
    const struct hs_claim *claim; /* NULL: nobody won */
    struct spot *rows;            /* by rank; then in the order of places */
    uint32_t count;
};

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_rank(const void *a, const void *b)
{
    return compare(((const struct spot *)a)->rank, ((const struct spot *)b)->rank);
}

static struct spot *spot_of(const struct spots *s, uint32_t rank)
{
    const struct spot key = { .rank = rank };

    if (rank == HS_NO_ID || !s->count)
        return NULL;
    return bsearch(&key, s->rows, s->count, sizeof(key), by_rank);
}

/* ---- what lines say of each rank ---- */

static void put(struct spots *s, uint32_t rank, bool seen)
{
    if (rank != HS_NO_ID && hs_seat_of_rank(&s->j->al, rank) == HS_NO_ID)
        s->rows[s->count++] = (struct spot){
            .rank = rank, .seen = seen, .culprit = hs_is_culprit(s->v, rank), .stack = HS_NO_ID
        };
}

/* Ranks without a dump that wrote something or are to blame. */
static bool collect(struct spots *s)
{
    const struct hs_line_waits *lw = &s->j->lines;
    uint32_t n = 0;

    s->rows = HS_NEW(&s->v->arena, struct spot, (size_t)lw->seen_count + s->v->culprit_count);
    if (!s->rows)
        return false;
    for (uint32_t i = 0; i < lw->seen_count; i++)
        put(s, lw->seen[i], true);
    for (uint32_t i = 0; i < s->v->culprit_count; i++)
        put(s, s->v->culprits[i].rank, false);
    if (s->count)
        qsort(s->rows, s->count, sizeof(*s->rows), by_rank);
    for (uint32_t i = 0; i < s->count; i++) {
        if (n && s->rows[n - 1].rank == s->rows[i].rank)
            s->rows[n - 1].seen |= s->rows[i].seen;
        else
            s->rows[n++] = s->rows[i];
    }
    s->count = n;
    return true;
}

static bool is_subject(const struct spots *s, const struct hs_line_wait *w)
{
    const struct hs_line_wait *subject = s->claim && s->claim->line ? s->claim->line->wait : NULL;

    return subject && w->group == subject->group && w->seq == subject->seq;
}

/* Waits come by the time of their beginning: the first, or the one that the verdict is about. */
static void hear_waits(struct spots *s)
{
    const struct hs_line_waits *lw = &s->j->lines;

    for (uint32_t i = 0; i < lw->count; i++) {
        struct spot *spot = spot_of(s, lw->waits[i].rank);

        if (spot && (!spot->wait || (is_subject(s, &lw->waits[i]) && !is_subject(s, spot->wait))))
            spot->wait = &lw->waits[i];
    }
    for (uint32_t i = 0; i < lw->standing_count; i++) {
        struct spot *spot = spot_of(s, lw->standings[i].rank);

        if (spot && (!spot->counters || lw->standings[i].answered))
            spot->counters = &lw->standings[i];
    }
}

static bool is_later(const struct hs_speaker *a, const struct hs_speaker *b)
{
    if (!b || (a->last_ns && b->last_ns && a->last_ns != b->last_ns))
        return !b || a->last_ns > b->last_ns;
    return a->source != b->source ? a->source > b->source : a->last_line > b->last_line;
}

static void hear_speakers(struct spots *s)
{
    const struct hs_job *job = s->j->job;
    const struct hs_identity *id = s->j->identity;

    for (uint32_t i = 0; i < job->speaker_count; i++) {
        const struct hs_speaker *speaker = &job->speakers[i];
        uint32_t process = hs_identity_speaker(id, i, speaker->last_line);
        struct spot *spot = process == HS_NO_ID ? NULL : spot_of(s, id->processes[process].rank);

        if (spot && id->processes[process].attempt == s->j->line_attempt &&
            is_later(speaker, spot->speaker))
            spot->speaker = speaker;
    }
}

/* The stack of the main thread, else the first. */
static void hear_stacks(struct spots *s)
{
    const struct hs_job *job = s->j->job;
    uint32_t family = hs_intern_find(&job->strings, HS_STR("STACK"));

    for (uint32_t e = 0; family != HS_NO_ID && e < job->event_count; e++) {
        const struct hs_event *event = &job->events[e];
        uint32_t process = event->family == family ? s->j->identity->process_of_event[e] : HS_NO_ID;
        struct spot *spot =
            process == HS_NO_ID ? NULL : spot_of(s, s->j->identity->processes[process].rank);
        bool is_main = hs_str_is(hs_job_arg(job, event->args, "name"), "MainThread");

        if (spot && event->stack != HS_NO_ID && (spot->stack == HS_NO_ID || is_main))
            spot->stack = event->stack;
    }
}

static void hear_evidence(struct spots *s)
{
    for (uint32_t i = 0; s->claim && i < s->claim->place_count; i++) {
        const struct hs_place *place = &s->claim->places[i];
        bool only = s->v->culprit_count == 1 && place->rank == HS_NO_ID && i == 0;
        struct spot *spot = spot_of(s, only ? s->v->culprits[0].rank : place->rank);

        if (spot && !spot->cited)
            spot->cited = place;
    }
}

static enum spot_kind kind_of(const struct spots *s, const struct spot *spot)
{
    const char *code = s->v->code;
    bool late = (spot->culprit && hs_row_of(code) == 'g') || /* it is waited for */
                hs_u32_contains(s->j->waits.unseen, s->j->waits.unseen_count, spot->rank);

    if (spot->culprit && spot->cited && strcmp(code, "rank-died") == 0)
        return DIED;
    if (spot->culprit && spot->cited && strcmp(code, "rank-slow") == 0 && spot->stack == HS_NO_ID)
        return BUSY;
    if (spot->wait)
        return WAITS;
    if (spot->stack != HS_NO_ID)
        return STACK;
    if (spot->counters)
        return spot->counters->answered ? ANSWERED : COUNTED;
    if (!late)
        return NOTHING;
    if (!spot->seen)
        return UNSEEN;
    return spot->speaker ? LAST : NOTHING;
}

/* ---- equal places ---- */

static int same_call(const struct hs_line_wait *a, const struct hs_line_wait *b)
{
    int c = compare(a->group, b->group);

    c = c ? c : compare(a->seq, b->seq);
    return c ? c : compare(a->op, b->op);
}

static int same_place(const struct spot *a, const struct spot *b)
{
    int c = compare(b->culprit, a->culprit);

    c = c ? c : compare(b->direct, a->direct);
    c = c ? c : compare(a->kind, b->kind);
    if (c || a->kind == NOTHING || a->kind == UNSEEN)
        return c;
    if (a->kind == WAITS) {
        c = same_call(a->wait, b->wait);
        return c ? c : compare(a->size, b->size);
    }
    if (a->kind == STACK)
        return compare(a->stack, b->stack);
    if (a->kind == ANSWERED || a->kind == COUNTED) {
        c = compare(a->counters->group, b->counters->group);
        c = c ? c : compare(a->counters->enqueued, b->counters->enqueued);
        return c ? c : compare(a->counters->completed, b->counters->completed);
    }
    return compare(a->rank, b->rank);
}

static int by_place(const void *a, const void *b)
{
    int c = same_place(a, b);

    return c ? c : by_rank(a, b);
}

/* ---- in words ---- */

/* "rank0.log:1881" */
static struct hs_str place_text(const struct spots *s, uint32_t source, uint64_t line)
{
    struct hs_arena *arena = &s->v->arena;
    struct hs_str name = hs_safe(s->j->job, s->j->job->sources[source].name, arena);

    return hs_arena_printf(arena, "%.*s:%llu", HS_STR_ARG(name), (unsigned long long)line);
}

static void add_time(const struct spots *s, struct hs_phrase *where, const char *slot, int64_t ns,
                     uint32_t clock)
{
    hs_phrase_add(where, slot, ns ? hs_stamp_clock(ns, clock, &s->v->arena) : hs_str_of(""),
                  ns != 0);
}

static void say_wait(const struct spots *s, const struct spot *spots, uint32_t count,
                     struct hs_phrase *where)
{
    struct hs_str call = hs_line_call_text(s->j, spots[0].wait, &s->v->arena);
    const struct hs_line_wait *first = spots[0].wait;
    uint64_t longest = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct hs_line_wait *w = spots[i].wait;

        if (w->elapsed_ms != HS_NO_POSITION && w->elapsed_ms / 1000 > longest)
            longest = w->elapsed_ms / 1000;
        if (w->began_ns && (!first->began_ns || w->began_ns < first->began_ns))
            first = w;
    }
    where->key = "place.lines.in";
    hs_phrase_add(where, "operation", call, call.n > 0);
    add_time(s, where, "since", first->began_ns, first->clock);
    hs_phrase_add(where, "seconds",
                  longest ? hs_arena_printf(&s->v->arena, "%llu", (unsigned long long)longest)
                          : hs_str_of(""),
                  longest > 0);
}

static void say_counters(const struct spots *s, const struct hs_line_standing *c,
                         struct hs_phrase *where)
{
    struct hs_arena *arena = &s->v->arena;
    uint32_t group = c->group_desc != HS_NO_ID ? c->group_desc : c->group;
    bool any = c->enqueued != HS_NO_POSITION;
    uint64_t done = c->completed != HS_NO_POSITION ? c->completed : 0;

    where->key = c->answered ? "place.lines.answered" : "place.lines.counted";
    hs_phrase_add(where, "group",
                  group != HS_NO_ID ? hs_safe(s->j->job, group, arena) : hs_str_of(""),
                  group != HS_NO_ID);
    hs_phrase_add(
        where, "enqueued",
        any ? hs_arena_printf(arena, "%llu", (unsigned long long)c->enqueued) : hs_str_of(""), any);
    hs_phrase_add(where, "completed",
                  any ? hs_arena_printf(arena, "%llu", (unsigned long long)done) : hs_str_of(""),
                  any);
}

/* When the line was written that shows the end of a rank. */
static const struct hs_symptom *symptom_at(const struct spots *s, const struct hs_place *place)
{
    const struct hs_symptoms *all = &s->j->symptoms;
    uint32_t low = 0, high = all->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct hs_symptom *row = &all->rows[mid];

        if (row->source < place->source ||
            (row->source == place->source && row->line < place->line))
            low = mid + 1;
        else
            high = mid;
    }
    return low < all->count && all->rows[low].source == place->source &&
                   all->rows[low].line == place->line
               ? &all->rows[low]
               : NULL;
}

static void say_work(const struct spots *s, const struct spot *spot, struct hs_phrase *where)
{
    struct hs_evidence e = hs_line_evidence(s->j, spot->cited, &s->v->arena);
    struct hs_str text = e.excerpt.p ? e.excerpt : hs_str_of("");
    size_t cut;

    text.n = e.mark ? e.mark : text.n; /* a report was written behind it */
    cut = text.n < EXCERPT_BYTES ? text.n : EXCERPT_BYTES;

    while (cut && cut < text.n && ((unsigned char)text.p[cut] & 0xc0) == 0x80)
        cut--;
    where->key = "place.lines.busy";
    hs_phrase_add(
        where, "text",
        hs_arena_printf(&s->v->arena, "%.*s%s", (int)cut, text.p, cut < text.n ? "…" : ""), 1);
    hs_phrase_add(where, "place", place_text(s, spot->cited->source, spot->cited->line), 1);
}

static void say(const struct spots *s, const struct spot *spots, uint32_t count,
                struct hs_phrase *where)
{
    static const char *const keys[] = { [DIED] = "place.lines.died",
                                        [STACK] = "place.lines.stack",
                                        [LAST] = "place.lines.last",
                                        [NOTHING] = "place.lines.seen",
                                        [UNSEEN] = "place.lines.unseen" };
    const struct spot *spot = &spots[0];
    const struct hs_symptom *end;

    where->key = keys[spot->kind];
    if (spot->kind == BUSY) {
        say_work(s, spot, where);
    } else if (spot->kind == WAITS) {
        say_wait(s, spots, count, where);
    } else if (spot->kind == ANSWERED || spot->kind == COUNTED) {
        say_counters(s, spot->counters, where);
    } else if (spot->kind == DIED) {
        end = symptom_at(s, spot->cited);
        add_time(s, where, "at", end ? end->time_ns : 0, end ? end->clock : 0);
        hs_phrase_add(where, "place", place_text(s, spot->cited->source, spot->cited->line), 1);
    } else if (spot->kind == LAST) {
        add_time(s, where, "at", spot->speaker->last_ns, spot->speaker->clock);
        hs_phrase_add(where, "place",
                      place_text(s, spot->speaker->source, spot->speaker->last_line), 1);
    }
}

static bool put_standing(const struct spots *s, const struct spot *spots, uint32_t count)
{
    struct hs_verdict *v = s->v;
    struct hs_standing *to = &v->standings[v->standing_count++];
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, count), stack;

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = spots[i].rank;
    *to = (struct hs_standing){ .ranks = ranks,
                                .rank_count = count,
                                .culprit = spots[0].culprit,
                                .direct = spots[0].direct,
                                .host = hs_shared_host_of(s->j, ranks, count, &v->arena) };
    say(s, spots, count, &to->where);
    stack = spots[0].kind == WAITS ? spots[0].wait->stack : spots[0].stack;
    if (stack != HS_NO_ID)
        to->stack = hs_user_stack(s->j->job, stack, &v->arena);
    return true;
}

bool hs_tell_line_standings(const struct hs_judged *j, struct hs_verdict *v)
{
    struct spots s = { .j = j, .v = v, .claim = hs_winner(j) };
    bool any = false;

    if (!j->job->speaker_count)
        return true;
    if (!collect(&s))
        return false;
    hear_waits(&s);
    hear_speakers(&s);
    hear_stacks(&s);
    hear_evidence(&s);
    for (uint32_t i = 0; i < s.count; i++) {
        s.rows[i].kind = kind_of(&s, &s.rows[i]);
        any |= s.rows[i].kind != NOTHING;
        if (s.rows[i].kind == WAITS && strcmp(v->code, "size-mismatch") == 0)
            s.rows[i].size = s.rows[i].wait->numel_in;
        s.rows[i].direct = s.rows[i].kind == WAITS && is_subject(&s, s.rows[i].wait);
    }
    if (s.count)
        qsort(s.rows, s.count, sizeof(*s.rows), by_place);
    for (uint32_t i = 0, end; any && i < s.count; i = end) {
        for (end = i + 1; end < s.count && same_place(&s.rows[i], &s.rows[end]) == 0; end++)
            continue;
        if (!put_standing(&s, &s.rows[i], end - i))
            return false;
    }
    return true;
}
