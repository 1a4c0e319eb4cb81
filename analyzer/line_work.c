/*
 * line_work.c - what a rank that is waited for was doing: work that its lines or its stack show.
 *
 * Work within the window makes it slow instead of missing. The window is [hang began - one step,
 * first report]; where lines have no time, a progress bar that has run about as long as the others
 * wait stands within it. One of training that has run for much longer may have stood still since.
 * Lines without a rank count for a rank that is the only candidate.
 */
#include "analyzer/line_claims.h"

#include "base/ranks.h"
#include "schema/text_blocks.h"

#include <stdlib.h>
#include <time.h>

/* What each family shows, and the cause that it suggests. */
static const struct {
    const char *family, *cause;
    bool alone; /* only rank 0 does it, as a rule: a branch of its own */
} kinds[] = {
    { "WORK_DATA", "slow-data", false },
    { "WORK_LOAD", "slow-load", false },
    { "WORK_COMPILE", "slow-compile", false },
    { "WORK_SAVE", "slow-checkpoint", true },
    { "WORK_EVAL", NULL, true },
    { "BAR", NULL, false },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Where a stack stands, by words of its frames; the first that fits. */
static const struct {
    const char *word, *cause;
} places[] = {
    { "tokeniz", "slow-data" },          { "dataloader", "slow-data" },
    { "datasets/", "slow-data" },        { "save_checkpoint", "slow-checkpoint" },
    { "save_state", "slow-checkpoint" }, { "serialization.py", "slow-checkpoint" },
    { "from_pretrained", "slow-load" },  { "load_checkpoint", "slow-load" },
    { "_inductor", "slow-compile" },     { "_dynamo", "slow-compile" },
    { "triton", "slow-compile" },        { "pynccl", "concurrent-groups" },
};

enum { STEP_S = 120, LONG_S = 60 };

/* "1:02:03", "29:56" in seconds; 0: it is no such time. */
static uint64_t seconds_of(struct hs_str text)
{
    uint64_t all = 0, part = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == ':') {
            all = (all + part) * 60;
            part = 0;
        } else if (text.p[i] >= '0' && text.p[i] <= '9') {
            part = part * 10 + (uint64_t)(text.p[i] - '0');
        } else {
            return 0;
        }
    }
    return all + part;
}

static uint64_t waited_s(const struct hs_line_reading *r)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < r->waits->count; i++) {
        const struct hs_line_wait *w = &r->waits->waits[i];
        uint64_t ms = w->elapsed_ms != HS_NO_POSITION ? w->elapsed_ms : w->timeout_ms;

        if (ms != HS_NO_POSITION && ms / 1000 > longest)
            longest = ms / 1000;
    }
    return longest;
}

/* Whom work is looked for, and since when the others wait (0: unknown) by which clock. */
struct suspects {
    const uint32_t *ranks;
    uint32_t count;
    int64_t began_ns;
    uint32_t clock;
};

/* Seconds that the last bar of a text has run, as in [24:51<30:30, 44.65s/it]; 0: none says. */
static uint64_t bar_seconds(struct hs_str text)
{
    uint64_t seconds = 0;

    for (size_t i = 0, from = 0; i < text.n; i++) {
        if (text.p[i] == '[')
            from = i + 1;
        else if (text.p[i] == '<' && from)
            seconds = seconds_of((struct hs_str){ .p = text.p + from, .n = i - from });
    }
    return seconds;
}

static uint64_t ran_s(const struct hs_line_reading *r, const struct hs_event *e)
{
    struct hs_text_reader lines;
    struct hs_text_line kept;
    uint64_t seconds = 0;

    hs_text_reader_init(&lines, r->job);
    if (hs_text_find(&lines, e->source, e->last_line, &kept))
        seconds = bar_seconds(kept.text);
    hs_text_reader_release(&lines);
    return seconds;
}

/* Whether work is told behind a report of those who wait, or on its line, in one source. */
static bool goes_on(const struct hs_line_reading *r, const struct hs_event *e, bool same_line)
{
    for (uint32_t i = 0; i < r->waits->count; i++) {
        const struct hs_event *wait = &r->job->events[r->waits->waits[i].event];

        if (wait->source == e->source && e->last_line + same_line > wait->line)
            return true;
    }
    return false;
}

/* A time as if its stamp had no year: c10's headers have none, what programs log mostly has. */
static int64_t without_year(int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;

    if (!gmtime_r(&seconds, &tm))
        return ns;
    tm.tm_year = 72;
    return (int64_t)timegm(&tm) * 1000000000 + ns % 1000000000;
}

static bool is_timed(const struct suspects *of, const struct hs_event *e)
{
    const uint32_t aside = HS_CLOCK_FINE | HS_CLOCK_YEAR;

    return of->began_ns && e->last_time_ns && (e->clock | aside) == (of->clock | aside);
}

/* Whether the work went on while the others waited. */
static bool in_window(const struct hs_line_reading *r, const struct suspects *of,
                      const struct hs_event *e)
{
    const int64_t step = (int64_t)STEP_S * 1000000000;
    bool year = (e->clock & HS_CLOCK_YEAR) == (of->clock & HS_CLOCK_YEAR);
    int64_t began = year ? of->began_ns : without_year(of->began_ns);
    int64_t reported = year ? r->waits->reported_ns : without_year(r->waits->reported_ns);
    int64_t first = year ? e->time_ns : without_year(e->time_ns);
    int64_t last = year ? e->last_time_ns : without_year(e->last_time_ns);

    return last >= began && first <= (r->waits->reported_ns ? reported : first) + step;
}

/* The same without times of day: a bar says how long it has run. */
static bool in_window_untimed(const struct hs_line_reading *r, const struct hs_event *e,
                              const char *cause)
{
    uint64_t ran = ran_s(r, e), waited = waited_s(r);

    if (goes_on(r, e, false))
        return true;
    if (!ran)
        return goes_on(r, e, true);
    if (!waited)
        return ran >= LONG_S;
    return ran * 2 >= waited && (cause || ran <= waited * 2);
}

static bool is_candidate(const struct hs_line_reading *r, const struct suspects *of, uint32_t event)
{
    uint32_t process = r->identity->process_of_event[event];
    uint32_t rank = process == HS_NO_ID ? HS_NO_ID : r->identity->processes[process].rank;

    if (rank == HS_NO_ID)
        return of->count == 1;
    return hs_u32_contains(of->ranks, of->count, rank);
}

struct work {
    uint32_t event; /* HS_NO_ID: none was seen */
    const char *cause;
    bool alone, within;
};

/* Work within the window before other work; then what has a cause; then the last. */
static void consider(struct work *best, uint32_t event, size_t kind, bool within)
{
    if (best->event != HS_NO_ID &&
        (best->within > within || (best->within == within && best->cause && !kinds[kind].cause)))
        return;
    *best = (struct work){ event, kinds[kind].cause, kinds[kind].alone, within };
}

/* The last work of a candidate that its lines show, within the window if there is any. */
static struct work find_work(const struct hs_line_reading *r, const struct suspects *of)
{
    struct work best = { .event = HS_NO_ID };
    uint32_t names[KINDS], untimed[KINDS]; /* of each kind the last one */

    for (size_t k = 0; k < KINDS; k++) {
        names[k] = hs_intern_find(&r->job->strings, hs_str_of(kinds[k].family));
        untimed[k] = HS_NO_ID;
    }
    for (uint32_t e = 0; e < r->job->event_count; e++) {
        const struct hs_event *event = &r->job->events[e];
        size_t k = 0;

        while (k < KINDS && names[k] != event->family)
            k++;
        if (k == KINDS || names[k] == HS_NO_ID ||
            hs_identity_attempt(r->identity, event->source, event->line) != r->attempt ||
            !is_candidate(r, of, e))
            continue;
        if (is_timed(of, event))
            consider(&best, e, k, in_window(r, of, event));
        else
            untimed[k] = e;
    }
    for (size_t k = 0; k < KINDS; k++) {
        if (untimed[k] != HS_NO_ID)
            consider(&best, untimed[k], k,
                     in_window_untimed(r, &r->job->events[untimed[k]], kinds[k].cause));
    }
    return best;
}

bool hs_is_at_work(const struct hs_line_reading *r, uint32_t rank, int64_t began_ns)
{
    struct suspects of = {
        .ranks = &rank, .count = 1, .began_ns = began_ns, .clock = r->waits->clock
    };

    return find_work(r, &of).within;
}

/* What a stack says of where it stands; NULL: nothing. */
static const char *place_of_stack(const struct hs_job *job, uint32_t stack)
{
    uint32_t count;
    const uint32_t *frames = hs_job_stack(job, stack, &count);

    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct hs_frame *frame = hs_job_frame(job, frames[i]);

            if (hs_str_has(hs_job_string(job, frame->function), places[p].word) ||
                hs_str_has(hs_job_string(job, frame->file), places[p].word))
                return places[p].cause;
        }
    }
    return NULL;
}

/* Where the stack of a candidate stands; NULL: nobody looked, or it says nothing. */
static const char *find_stack(const struct hs_line_reading *r, const struct suspects *of,
                              uint32_t *event)
{
    uint32_t family = hs_intern_find(&r->job->strings, HS_STR("STACK"));

    for (uint32_t e = 0; family != HS_NO_ID && e < r->job->event_count; e++) {
        const struct hs_event *row = &r->job->events[e];
        const char *cause;

        if (row->family != family || row->stack == HS_NO_ID || !is_candidate(r, of, e))
            continue;
        cause = place_of_stack(r->job, row->stack);
        if (cause) {
            *event = e;
            return cause;
        }
    }
    return NULL;
}

/* What was found of the suspects, cited in the claim. */
static bool refine(const struct hs_line_reading *r, const struct suspects *of,
                   struct hs_claim *claim, bool *within)
{
    struct work work = find_work(r, of);
    uint32_t stack_event;
    const char *place = find_stack(r, of, &stack_event);
    bool zero = of->count == 1 && of->ranks[0] == 0;

    *within = work.within;
    if (work.event != HS_NO_ID) {
        claim->cause = work.alone && zero ? "rank0-only-branch" : work.cause;
        if (!hs_cite(r, claim, &work.event, 1))
            return false;
    }
    if (place) {
        claim->cause = place;
        return hs_cite(r, claim, &stack_event, 1);
    }
    return true;
}

static bool refine_lines(const struct hs_line_reading *r, struct hs_claim *claim)
{
    struct hs_line_claim *line = claim->line;
    uint32_t *ranks = HS_NEW(r->arena, uint32_t, line->named_count);
    struct suspects of = { .ranks = ranks,
                           .count = line->named_count,
                           .began_ns = line->began_ns,
                           .clock = r->waits->clock };
    bool within;

    for (uint32_t i = 0; ranks && i < line->named_count; i++)
        ranks[i] = line->named[i].rank;
    if (!ranks || !refine(r, &of, claim, &within))
        return false;
    if (!within)
        return true;
    claim->code = "rank-slow";
    for (uint32_t i = 0; i < line->named_count; i++)
        line->named[i].role = "slow";
    line->summary = "summary.lines.slow";
    line->why = "why.lines.slow";
    return true;
}

bool hs_claims_refine_by_work(const struct hs_line_reading *r)
{
    for (uint32_t i = 0; i < r->out->count; i++) {
        struct hs_claim *claim = &r->out->rows[i];

        if (claim->line && strcmp(claim->code, "rank-missing") == 0 &&
            claim->line->named_count > 0 && !refine_lines(r, claim))
            return false;
    }
    return true;
}

bool hs_refine_by_work(const struct hs_line_reading *r, const uint32_t *ranks, uint32_t count,
                       int64_t began_ns, struct hs_claim *claim)
{
    struct suspects of = { .ranks = ranks,
                           .count = count,
                           .began_ns = began_ns,
                           .clock = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE };
    bool within;

    if (!refine(r, &of, claim, &within))
        return false;
    if (within) {
        claim->code = "rank-slow";
        claim->role = "slow";
    }
    return true;
}
