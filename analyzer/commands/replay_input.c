/* replay_input.c - a PLAN or PATH as the plan that is run, and what the run's end is judged to be.
 */
#include "analyzer/commands/replay_input.h"

#include "analyzer/analyze.h"
#include "analyzer/commands/streams.h"
#include "base/ranks.h"
#include "replay/minimize.h"
#include "replay/select.h"
#include "replay/what_if.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether a plan has calls that a library may end earlier than the rules do. */
static bool has_worst_case(const struct hs_plan *plan)
{
    for (uint32_t i = 0; i < plan->signature_keys.count; i++) {
        if (!hs_semantics_define(plan->signatures[i].kind))
            return true;
    }
    return false;
}

/* A rank that the plan leaves out is not one that left nothing. */
static bool forget_left_out(const struct hs_plan *plan, struct hs_verdict *v)
{
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, v->silent_rank_count + 1u), count = 0;

    for (uint32_t i = 0; ranks && i < v->silent_rank_count; i++) {
        if (hs_plan_find(plan, v->silent_ranks[i]))
            ranks[count++] = v->silent_ranks[i];
    }
    v->silent_ranks = ranks;
    v->silent_rank_count = count;
    return ranks != NULL;
}

static bool tell_rules(const struct hs_plan *plan, struct hs_verdict *v)
{
    struct hs_finding *f;

    if (!has_worst_case(plan))
        return true;
    f = hs_add_finding(v, "replay-worst-case", HS_NOTE);
    if (!f)
        return false;
    f->detail.key = "finding.replay-worst-case";
    hs_phrase_add(&f->detail, "rules", hs_str_of(plan->semantics->name), 1);
    return true;
}

/* `states` NULL: as the rules have it. */
static enum hs_status judge(const struct hs_plan *plan, struct hs_str name,
                            const struct hs_job_options *about, const uint8_t *states,
                            struct hs_verdict *out, struct hs_err *err)
{
    struct hs_dry dry;
    struct hs_job job;
    enum hs_status status = hs_dry_run(&dry, plan, err);

    if (status != HS_OK)
        return status;
    if (states)
        hs_dry_measured(&dry, states);
    status = hs_dry_job(&dry, name, &job, err);
    hs_dry_release(&dry);
    if (status != HS_OK)
        return status;
    status = hs_analyze(&job, about, out, err);
    hs_job_release(&job);
    if (status == HS_OK && (!forget_left_out(plan, out) || (!states && !tell_rules(plan, out)))) {
        hs_verdict_release(out);
        status = hs_no_memory(err);
    }
    return status;
}

enum hs_status hs_replay_judge(const struct hs_plan *plan, struct hs_str name,
                               const struct hs_job_options *about, struct hs_verdict *out,
                               struct hs_err *err)
{
    return judge(plan, name, about, NULL, out, err);
}

enum hs_status hs_replay_judge_states(const struct hs_plan *plan, struct hs_str name,
                                      const struct hs_job_options *about, const uint8_t *states,
                                      struct hs_verdict *out, struct hs_err *err)
{
    return judge(plan, name, about, states, out, err);
}

/* ---- where the plan is from ---- */

static enum hs_status read_job(const struct hs_options *o, uint32_t window,
                               struct hs_replay_input *out, struct hs_err *err)
{
    struct hs_trial trial;
    uint32_t left_out = 0;
    enum hs_status status = hs_read_job(o, &out->read, err);

    out->has_read = true;
    out->about = out->read.about;
    if (status != HS_OK)
        return status;
    status = hs_judge(&out->read.job, &out->about, &trial, err);
    if (status == HS_OK)
        status = trial.judged.al.seat_count
                     ? hs_plan_from_job(&trial.judged, window, &out->plan, err)
                     : hs_plan_from_calls(&trial.judged, window, &out->plan, &left_out, err);
    if (status == HS_OK && left_out && o->verbosity >= 0)
        (void)fprintf(stderr,
                      "hangscope: the calls of %u processes are left out: their rank is not known, "
                      "or another shows more calls of it\n",
                      left_out);
    if (status == HS_OK && out->plan.rank_count == 0)
        status = hs_fail(err, HS_EUSAGE,
                         "no rank in the input recorded its calls: there is nothing "
                         "to run again");
    hs_trial_release(&trial);
    return status;
}

static bool is_plan(const char *path, const struct hs_opened *stream)
{
    char head[256];
    FILE *in = stream->fd < 0 ? fopen(path, "rb") : NULL;
    size_t n = in ? fread(head, 1, sizeof(head), in) : 0;
    struct hs_str seen = stream->fd < 0 ? (struct hs_str){ .p = head, .n = n } : stream->head;

    if (in)
        (void)fclose(in);
    return seen.n && seen.p[0] == '{' && hs_plan_is(seen);
}

static enum hs_status read_text(const char *path, const struct hs_opened *stream,
                                struct hs_buf *text, struct hs_err *err)
{
    FILE *in = stream->fd < 0 ? fopen(path, "rb") : fdopen(dup(stream->fd), "rb");
    size_t n = 1;

    if (!in)
        return hs_fail(err, HS_EUSAGE, "cannot read '%s': %s", path, strerror(errno));
    if (stream->fd >= 0)
        hs_buf_put(text, stream->head);
    while (n && text->n <= HS_PLAN_BYTES_MAX && hs_buf_reserve(text, 1u << 20)) {
        n = fread(text->p + text->n, 1, 1u << 20, in);
        text->n += n;
    }
    if (ferror(in))
        (void)hs_fail(err, HS_EUSAGE, "cannot read '%s': %s", path, strerror(errno));
    (void)fclose(in);
    if (err->n)
        return HS_EUSAGE;
    if (text->failed)
        return hs_no_memory(err);
    return text->n <= HS_PLAN_BYTES_MAX
               ? HS_OK
               : hs_fail(err, HS_EUSAGE, "'%s' is larger than a plan may be", path);
}

static enum hs_status read_plan(const struct hs_options *o, const char *path,
                                const struct hs_opened *stream, struct hs_replay_input *out,
                                struct hs_err *err)
{
    const char *slash = strrchr(path, '/');
    struct hs_buf text;
    enum hs_status status;

    out->name = hs_str_of(slash ? slash + 1 : path);
    out->about = (struct hs_job_options){ .world_size = o->world_size,
                                          .places = o->places,
                                          .place_count = o->place_count };
    hs_buf_init(&text);
    status = read_text(path, stream, &text, err);
    if (status == HS_OK)
        status = hs_plan_read(&out->plan, hs_buf_str(&text), path, err);
    hs_buf_release(&text);
    return status;
}

/* ---- what is asked for beside ---- */

/* How a plan ends, as far as it is to stay. */
struct outcome {
    const char *code, *role, *sentence;
    uint32_t *culprits, count;
    const struct hs_job_options *about;
    struct hs_str name;
};

static enum hs_status note_outcome(struct outcome *o, const struct hs_plan *plan,
                                   struct hs_err *err)
{
    struct hs_verdict v = { .code = NULL };
    enum hs_status status = hs_replay_judge(plan, o->name, o->about, &v, err);

    if (status != HS_OK)
        return status;
    o->code = v.code;
    o->role = v.culprit_count ? v.culprits[0].role : NULL;
    o->sentence = v.summary.key;
    o->culprits = calloc(v.culprit_count + 1u, sizeof(*o->culprits));
    for (uint32_t i = 0; o->culprits && i < v.culprit_count; i++)
        o->culprits[i] = v.culprits[i].rank;
    o->count = v.culprit_count;
    hs_verdict_release(&v);
    return o->culprits ? HS_OK : hs_no_memory(err);
}

/* The same code, and some of the same culprits in the same role, and no others. What nothing
 * decides stays undecided for the same reason. */
static enum hs_status ends_alike(void *self, const struct hs_plan *plan, bool *same,
                                 struct hs_err *err)
{
    const struct outcome *first = self;
    struct outcome now = { .about = first->about, .name = first->name };
    enum hs_status status = note_outcome(&now, plan, err);

    *same = status == HS_OK && strcmp(now.code, first->code) == 0 &&
            (strcmp(now.code, "undetermined") != 0 || strcmp(now.sentence, first->sentence) == 0) &&
            (now.count > 0) == (first->count > 0) &&
            (!now.role || strcmp(now.role, first->role) == 0);
    for (uint32_t i = 0; *same && i < now.count; i++)
        *same = hs_u32_contains(first->culprits, first->count, now.culprits[i]);
    free(now.culprits);
    return status;
}

static void tell_sizes(const struct hs_options *o, const char *what, struct hs_plan_size from,
                       struct hs_plan_size to, const char *how)
{
    if (o->verbosity >= 0)
        (void)fprintf(stderr,
                      "hangscope: %s: %u ranks, %u groups, %llu calls -> %u ranks, %u groups, "
                      "%llu calls%s\n",
                      what, from.ranks, from.groups, (unsigned long long)from.calls, to.ranks,
                      to.groups, (unsigned long long)to.calls, how);
}

static enum hs_status shrink(const struct hs_options *o, struct hs_replay_input *in,
                             struct hs_err *err)
{
    struct outcome outcome = { .about = &in->about, .name = in->name };
    struct hs_minimized minimized;
    struct hs_folded folded;
    bool same = true;
    char how[128];
    enum hs_status status = note_outcome(&outcome, &in->plan, err);

    if (status == HS_OK && o->fold) {
        status = hs_plan_fold(&in->plan, o->fold, outcome.culprits, outcome.count, &folded, err);
        if (status == HS_OK)
            status = ends_alike(&outcome, &in->plan, &same, err);
        if (status == HS_OK) {
            (void)snprintf(how, sizeof(how), "; ranks of %u kinds%s%s", folded.kinds,
                           folded.to.ranks > o->fold ? "; fewer ranks would lose one" : "",
                           same ? "" : "; the verdict is another one now");
            tell_sizes(o, "folded", folded.from, folded.to, how);
        }
    }
    if (status == HS_OK && o->minimize) {
        status = hs_plan_minimize(&in->plan, ends_alike, &outcome, &minimized, err);
        if (status == HS_OK) {
            (void)snprintf(how, sizeof(how), "; %u dry runs%s", minimized.runs,
                           minimized.minimal ? "; nothing more can go" : "; more might go");
            tell_sizes(o, "minimized", minimized.from, minimized.to, how);
        }
    }
    free(outcome.culprits);
    return status;
}

enum hs_status hs_replay_input_read(const struct hs_options *o, const char *const *paths,
                                    uint32_t count, uint32_t window, struct hs_replay_input *out,
                                    struct hs_err *err)
{
    struct hs_options part = *o;
    struct hs_streams streams = { .rows = NULL };
    enum hs_status status = hs_streams_open(paths, count, true, &streams, err);

    *out = (struct hs_replay_input){ .name = hs_str_of("replay") };
    hs_plan_init(&out->plan);
    part.paths = (const char **)paths;
    part.path_count = count;
    part.streams = &streams;
    if (status == HS_OK)
        status = count == 1 && is_plan(paths[0], &streams.rows[0])
                     ? read_plan(o, paths[0], &streams.rows[0], out, err)
                     : read_job(&part, window, out, err);
    hs_streams_close(&streams);
    if (status == HS_OK && o->semantics)
        out->plan.semantics = o->semantics;
    if (status == HS_OK)
        status = hs_plan_restrict(&out->plan, o->ranks, o->rank_count, o->groups, err);
    if (status == HS_OK && o->edit_count)
        status = hs_dry_mark_stuck(&out->plan, err);
    for (uint32_t i = 0; status == HS_OK && i < o->edit_count; i++)
        status = hs_plan_edit(&out->plan, o->edits[i], err);
    if (status == HS_OK && (o->fold || o->minimize))
        status = shrink(o, out, err);
    return status;
}

void hs_replay_input_release(struct hs_replay_input *input)
{
    if (input->has_read)
        hs_read_job_release(&input->read);
    hs_plan_release(&input->plan);
}
