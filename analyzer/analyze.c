#include "analyzer/analyze.h"

#include "analyzer/fusion.h"
#include "analyzer/report.h"
#include "analyzer/rule_rows.h"

#include <stdlib.h>

void hs_verdict_release(struct hs_verdict *v)
{
    free(v->findings);
    hs_arena_release(&v->arena);
    *v = (struct hs_verdict){ .code = NULL };
}

static void release_judged(struct hs_judged *j)
{
    hs_claims_release(&j->claims);
    hs_waits_release(&j->waits);
    hs_alignment_release(&j->al);
    hs_arena_release(&j->arena);
}

/* Anything that a rule found to be a failure, or to follow from one: then no line proves health. */
static bool has_failures(const struct hs_judged *j)
{
    for (uint32_t i = 0; i < j->symptoms.count; i++) {
        if (j->symptoms.rows[i].role == HS_ROOT || j->symptoms.rows[i].role == HS_CASCADE)
            return true;
    }
    return false;
}

/* What speaks for a healthy job, and how much of it was seen. */
static struct hs_health health_of(const struct hs_judged *j)
{
    struct hs_health h = {
        .progress = j->al.any_finished || (j->lines.progress && !has_failures(j)),
        .in_flight = j->waits.waiter_count > 0,
        .partial = j->waits.unseen_count > 0,
        .minority = j->waits.unseen_count > 0 && j->waits.unseen_count >= j->al.seat_count
    };

    for (uint32_t s = 0; s < j->al.seat_count; s++) {
        const struct hs_dump *dump = hs_seat_dump(&j->al, s);

        h.partial |= dump->cut_short || dump->member_count == 0;
    }
    h.partial |= j->al.seat_count == 0 && !j->lines.finished;
    return h;
}

/* Rules ask rows of the job and of who spoke; what they find outlives the tables they asked. */
static enum hs_status find_symptoms(struct hs_judged *j, struct hs_err *err)
{
    struct hs_judged_window window = { .attempt = j->line_attempt,
                                       .world_size = j->lines.world_size,
                                       .began_ns = j->lines.began_ns,
                                       .reported_ns = j->lines.reported_ns,
                                       .clock = j->lines.clock };
    struct hs_derived who = { .group_count = 0 };
    struct hs_rows rows = { .job = j->job, .derived = &who };
    struct hs_asked about = { .rows = &rows, .identity = j->identity, .window = &window };
    enum hs_status status;

    if (hs_derive_identity(j->identity, &who))
        rows.choices = hs_rule_rows_choose(j->identity, &who, j->line_attempt, &who.arena);
    if (!rows.choices) {
        hs_derived_release(&who);
        return hs_no_memory(err);
    }
    status = hs_symptoms_find(&about, j->rules, &j->arena, &j->symptoms, err);
    hs_derived_release(&who);
    return status;
}

/* What lines say: of the attempt that the dumps are of, or of the last. */
static enum hs_status read_lines(struct hs_judged *j, struct hs_err *err)
{
    struct hs_line_reading r = { .job = j->job,
                                 .identity = j->identity,
                                 .waits = &j->lines,
                                 .attempt = j->line_attempt,
                                 .arena = &j->arena,
                                 .out = &j->claims };
    enum hs_status status = hs_line_waits_find(j->identity, j->line_attempt, j->options->world_size,
                                               &j->arena, &j->lines, err);
    bool ok = true;

    if (status == HS_OK && j->al.seat_count == 0)
        ok = hs_claims_from_line_waits(&r);
    if (status == HS_OK && ok)
        ok = hs_claims_from_reports(&r) && hs_claims_from_calls(&r) && hs_claims_refine_by_work(&r);
    if (status == HS_OK && ok && j->rules->count) {
        status = find_symptoms(j, err);
        ok = status != HS_OK || hs_claims_from_faults(&r, &j->symptoms);
    }
    if (status == HS_OK && ok)
        ok = hs_fuse(j);
    return ok ? status : hs_no_memory(err);
}

/* Align, follow the waits, gather claims, decide. The caller ends `j` in any case. */
static enum hs_status judge(struct hs_judged *j, const struct hs_attempt *attempt,
                            struct hs_err *err)
{
    enum hs_status status;

    hs_alignment_init(&j->al, j->job);
    hs_arena_init(&j->arena);
    status = hs_align(&j->al, attempt->dumps, attempt->earlier_dumps, attempt->count, err);
    if (status == HS_OK)
        status = hs_waits_build(&j->waits, &j->al, err);
    if (status == HS_OK)
        status = hs_claims_from_waits(&j->waits, &j->arena, &j->claims, err);
    if (status == HS_OK)
        status = read_lines(j, err);
    if (status == HS_OK) {
        struct hs_health health = health_of(j);

        j->decision = hs_decide(j->claims.rows, j->claims.count, &health);
    }
    return status;
}

static bool is_failed(const char *code)
{
    return strcmp(code, "healthy") != 0 && strcmp(code, "undetermined") != 0;
}

/*
 * Dumps and lines count attempts each for itself. Where both see as many they are the same; else
 * the last of the one is the last of the other, since a later attempt writes over earlier dumps.
 */
static uint32_t line_attempt_of(const struct hs_identity *identity,
                                const struct hs_attempts *attempts, uint32_t i)
{
    return attempts->count == identity->attempt_count ? i : identity->attempt_count - 1;
}

static enum hs_status tell(const struct hs_judged *j, const struct hs_attempts *attempts,
                           uint32_t judged, const char *const *codes, struct hs_verdict *out,
                           struct hs_err *err)
{
    hs_arena_init(&out->arena);
    if (hs_tell_coverage(j, attempts, judged, codes, out) && hs_tell_decision(j, out) &&
        hs_tell_findings(j, out) && hs_tell_next_steps(j, out) && hs_tell_standings(j, out))
        return HS_OK;
    hs_verdict_release(out);
    return hs_no_memory(err);
}

static enum hs_status judge_attempt(struct hs_trial *t, uint32_t i, struct hs_err *err)
{
    struct hs_attempt none = { .count = 0 };

    t->judged.line_attempt = line_attempt_of(&t->identity, &t->attempts, i);
    return judge(&t->judged, t->attempts.count ? &t->attempts.list[i] : &none, err);
}

/* Lines of an attempt that tell of a failure, whether or not they decide which. */
static bool shows_failure(const struct hs_judged *j)
{
    return is_failed(j->decision.code) || j->lines.count > 0 || has_failures(j);
}

/*
 * Without dumps: the last attempt that failed, if any did. One that has only begun when the log
 * ends, or goes well, says nothing of why there was another one before it.
 */
static enum hs_status judge_lines(struct hs_trial *t, const struct hs_judged *fresh,
                                  struct hs_err *err)
{
    enum { TRIED = 8 };
    const struct hs_attempt none = { .count = 0 };
    uint32_t count = t->identity.attempt_count;
    enum hs_status status;

    for (uint32_t i = 1; i <= count && i <= TRIED; i++) {
        t->judged.line_attempt = count - i;
        status = judge(&t->judged, &none, err);
        t->has_judged = status != HS_OK || shows_failure(&t->judged);
        if (t->has_judged)
            return status;
        release_judged(&t->judged);
        t->judged = *fresh;
    }
    return HS_OK;
}

/* Judge each attempt for its code, and once more the last failed one. */
static enum hs_status judge_attempts(struct hs_trial *t, const struct hs_judged *fresh,
                                     struct hs_err *err)
{
    uint32_t count = t->attempts.count;
    enum hs_status status = HS_OK;

    t->judged = *fresh;
    /* where no line tells of anything, there is nothing to choose by */
    if (count == 0 && t->identity.attempt_count > 1 && fresh->job->event_count > 0)
        status = judge_lines(t, fresh, err);
    if (t->has_judged)
        return status;
    for (uint32_t i = 0; status == HS_OK && count > 1 && i < count; i++) {
        status = judge_attempt(t, i, err);
        t->codes[i] = t->judged.decision.code;
        if (status == HS_OK && (is_failed(t->codes[i]) || !is_failed(t->codes[t->told])))
            t->told = i;
        release_judged(&t->judged);
        t->judged = *fresh;
    }
    if (status != HS_OK)
        return status;
    t->has_judged = true;
    return judge_attempt(t, t->told, err);
}

enum hs_status hs_judge(const struct hs_job *job, const struct hs_job_options *options,
                        struct hs_trial *t, struct hs_err *err)
{
    const struct hs_rules *shared = options->rules       ? options->rules
                                    : job->speaker_count ? options->own_rules
                                                         : NULL;
    struct hs_judged fresh = { .job = job,
                               .options = options,
                               .identity = &t->identity,
                               .rules = shared ? shared : &t->own_rules };
    enum hs_status status;

    *t = (struct hs_trial){ .told = 0 };
    hs_arena_init(&t->arena);
    hs_identity_init(&t->identity, job);
    hs_rules_init(&t->own_rules);
    status = hs_identity_find(&t->identity, err);
    if (status == HS_OK && !shared && job->speaker_count)
        status = hs_rules_add_own(&t->own_rules, err);
    if (status == HS_OK)
        status = hs_attempts_find(job, &t->arena, &t->attempts, err);
    if (status != HS_OK)
        return status;
    t->codes = HS_NEW(&t->arena, const char *, t->attempts.count);
    return t->codes ? judge_attempts(t, &fresh, err) : hs_no_memory(err);
}

void hs_trial_release(struct hs_trial *t)
{
    if (t->has_judged)
        release_judged(&t->judged);
    hs_rules_release(&t->own_rules);
    hs_identity_release(&t->identity);
    hs_arena_release(&t->arena);
}

/* NULL: nothing more is wanted of that kind. False without memory. */
static bool derive(const struct hs_judged *j, const struct hs_verdict *v,
                   const struct hs_analysis *more)
{
    return (!more->derived || hs_derive(j, more->derived)) &&
           (!more->report || hs_report_derive(j, v, more->wanted, more->report));
}

enum hs_status hs_analyze_more(const struct hs_job *job, const struct hs_job_options *options,
                               struct hs_verdict *out, const struct hs_analysis *more,
                               struct hs_err *err)
{
    struct hs_trial t;
    enum hs_status status = hs_judge(job, options, &t, err);

    if (status == HS_OK)
        status = tell(&t.judged, &t.attempts, t.told, t.codes, out, err);
    if (status == HS_OK && !derive(&t.judged, out, more)) {
        if (more->derived)
            hs_derived_release(more->derived);
        if (more->report)
            hs_report_release(more->report);
        hs_verdict_release(out);
        status = hs_no_memory(err);
    }
    hs_trial_release(&t);
    return status;
}

enum hs_status hs_analyze(const struct hs_job *job, const struct hs_job_options *options,
                          struct hs_verdict *out, struct hs_err *err)
{
    struct hs_analysis none = { .derived = NULL };

    return hs_analyze_more(job, options, out, &none, err);
}
