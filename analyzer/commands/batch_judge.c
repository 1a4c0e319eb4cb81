/* batch_judge.c - one job of a batch, judged in its own process, becomes a row. */
#include "analyzer/commands/batch.h"
#include "fleet/fingerprint.h"
#include "fleet/run_jobs.h"

#include <ctype.h>
#include <dirent.h>
#include <unistd.h>

/* A job while it is judged. */
struct judging {
    const struct hs_batch *batch;
    uint32_t index;
    struct hs_read_job read;
    struct hs_judgement judgement;
    struct hs_fleet_row row;
    struct hs_arena arena;
};

/* ---- times ---- */

enum { DATED = HS_CLOCK_DATE | HS_CLOCK_YEAR, COMPARABLE = DATED | HS_CLOCK_ZONE };

/* When the watchdog gave up the last call of a dump that was made since the hang began; 0: none. */
static int64_t given_up(const struct hs_job *job, const struct hs_dump *dump, int64_t began_ns)
{
    int64_t last = 0;

    for (uint32_t i = dump->operation_count; i > 0; i--) {
        const struct hs_operation *op = &dump->operations[i - 1];
        int64_t timeout_ns = (int64_t)job->signatures[op->signature].timeout_ms * 1000000;

        if ((op->flags & HS_OPERATION_RETIRED) && op->created_ns >= began_ns &&
            (op->flags & HS_OPERATION_STATE) != HS_STATE_COMPLETED &&
            op->created_ns + timeout_ns > last)
            last = op->created_ns + timeout_ns;
    }
    return last;
}

/* The last sign of the job on the clock of the hang; 0: none. */
static int64_t last_sign(const struct hs_job *job, const struct hs_verdict *v)
{
    uint32_t clock = v->hang_began_clock & COMPARABLE;
    int64_t last = 0;

    for (uint32_t i = 0; clock == COMPARABLE && i < job->dump_count; i++) {
        int64_t waited = given_up(job, &job->dumps[i], v->hang_began_ns);

        last = job->dumps[i].last_ns > last ? job->dumps[i].last_ns : last;
        last = waited > last ? waited : last;
    }
    for (uint32_t i = 0; i < job->speaker_count; i++) {
        const struct hs_speaker *s = &job->speakers[i];

        if ((s->clock & COMPARABLE) == clock && s->last_ns > last)
            last = s->last_ns;
    }
    /* What a later run of the job says is no sign of this one. */
    for (uint32_t i = 0; i < v->attempt_count; i++) {
        int64_t from = v->attempts[i].from_ns;

        if (from > v->hang_began_ns && from < last)
            last = from;
    }
    return last;
}

/* The last time that dumps and lines tell with its date; 0: none. */
static int64_t last_time(const struct hs_job *job)
{
    int64_t last = 0;

    for (uint32_t i = 0; i < job->dump_count; i++)
        last = job->dumps[i].last_ns > last ? job->dumps[i].last_ns : last;
    for (uint32_t i = 0; i < job->speaker_count; i++) {
        const struct hs_speaker *s = &job->speakers[i];

        if ((s->clock & DATED) == DATED && s->last_ns > last)
            last = s->last_ns;
    }
    return last;
}

static void put_times(const struct hs_job *job, const struct hs_verdict *v,
                      struct hs_fleet_row *row)
{
    bool dated = v->hang_began_ns && (v->hang_began_clock & DATED) == DATED;
    int64_t when = dated ? v->hang_began_ns : last_time(job), last;

    if (when) {
        row->happened_ns = when;
        row->happened_from = dated ? HS_STR("hang") : HS_STR("last");
    }
    last = v->hang_began_ns ? last_sign(job, v) : 0;
    if (last > v->hang_began_ns)
        row->idle_ns = last - v->hang_began_ns;
}

/* ---- the verdict ---- */

static const char *const severities[] = { "note", "warning", "error" };
static const char *const confidences[] = { "low", "medium", "high" };

static int64_t known(uint64_t value, uint64_t unknown)
{
    return value == unknown ? HS_FLEET_NONE : (int64_t)value;
}

static bool put_lists(const struct hs_verdict *v, struct hs_arena *arena, struct hs_fleet_row *row)
{
    row->culprits = HS_NEW(arena, struct hs_fleet_culprit, v->culprit_count + 1u);
    row->findings = HS_NEW(arena, struct hs_fleet_finding, v->finding_count + 1u);
    if (!row->culprits || !row->findings)
        return false;
    for (uint32_t i = 0; i < v->culprit_count && i < HS_FLEET_LIST_MAX; i++)
        row->culprits[row->culprit_count++] =
            (struct hs_fleet_culprit){ .rank = known(v->culprits[i].rank, HS_NO_ID),
                                       .host = v->culprits[i].host,
                                       .gpu = known(v->culprits[i].gpu, HS_NO_ID),
                                       .role = hs_str_of(v->culprits[i].role) };
    for (uint32_t i = 0; i < v->finding_count && i < HS_FLEET_LIST_MAX; i++)
        row->findings[row->finding_count++] =
            (struct hs_fleet_finding){ .code = hs_str_of(v->findings[i].code),
                                       .severity = hs_str_of(severities[v->findings[i].severity]),
                                       .ranks = v->findings[i].rank_count };
    return true;
}

static bool put_summary(const struct hs_verdict *v, struct hs_arena *arena,
                        struct hs_fleet_row *row)
{
    struct hs_buf text;

    hs_buf_init(&text);
    hs_phrase_put(&text, &v->summary, HS_ENGLISH);
    row->summary = hs_arena_copy(arena, hs_buf_str(&text));
    hs_buf_release(&text);
    return row->summary.p != NULL;
}

/* One per rank of the world; where that is not known, one per rank that is seen in the hang. */
static int64_t count_gpus(const struct hs_verdict *v)
{
    int64_t ranks = v->waiting_count;

    for (uint32_t i = 0; i < v->culprit_count; i++)
        ranks += v->culprits[i].rank != HS_NO_ID;
    if (v->world_size != HS_UNKNOWN)
        return (int64_t)v->world_size;
    return ranks ? ranks : HS_FLEET_NONE;
}

static bool put_verdict(const struct hs_read_job *read, const struct hs_verdict *v,
                        struct hs_arena *arena, struct hs_fleet_row *row)
{
    row->code = hs_str_of(v->code);
    row->cause = hs_str_of(v->cause);
    row->confidence = hs_str_of(confidences[v->confidence]);
    row->action = hs_str_of(v->action);
    row->world_size = known(v->world_size, HS_UNKNOWN);
    if (v->has_operation && !hs_str_starts(v->operation.recorded, HS_STR("gloo:")))
        row->gpus = count_gpus(v);
    put_times(&read->job, v, row);
    return put_summary(v, arena, row) && put_lists(v, arena, row) && hs_fingerprint(v, arena, row);
}

/* ---- --keep ---- */

/* Where something of a job is kept: its name fit for a file, and a hash, since names may meet. */
static struct hs_str name_kept(const struct hs_batch *b, const struct hs_found_job *job,
                               const char *end, struct hs_arena *arena)
{
    enum { NAME_MAX_BYTES = 80 };
    char name[NAME_MAX_BYTES + 1];
    size_t n = 0;

    for (size_t i = 0; i < job->name.n && n < NAME_MAX_BYTES; i++) {
        unsigned char c = (unsigned char)job->name.p[i];

        name[n++] = (char)(isalnum(c) || c == '-' || c == '.' ? c : '_');
    }
    return hs_arena_printf(arena, "%s/%.*s-%08x.%s", b->kept, (int)n, name,
                           (unsigned)hs_hash(job->path), end);
}

/* What a process that was killed while it wrote has left. */
static void remove_unfinished(const char *folder, struct hs_str path)
{
    const char *name = strrchr(path.p, '/') + 1;
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        struct hs_str there = hs_str_of(entry->d_name);

        if (hs_str_starts(there, hs_str_of(name)) && memmem(there.p, there.n, ".tmp-", 5))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        (void)closedir(dir);
}

/* Where it goes, and how the fleet calls that; what an earlier process has left there goes. .p NULL
 * without memory. */
static struct hs_str prepare_kept(const struct hs_batch *b, uint32_t index, const char *end,
                                  struct hs_arena *arena, struct hs_str *told)
{
    struct hs_str path = name_kept(b, &b->jobs.items[index], end, arena);
    const char *slash = strrchr(b->kept, '/');

    if (path.p) {
        remove_unfinished(b->kept, path);
        *told = hs_str_of(path.p + (slash ? slash + 1 - b->kept : 0));
    }
    return path;
}

static enum hs_status keep(struct judging *g, const struct hs_options *o, struct hs_err *err)
{
    enum hs_status status = HS_OK;
    struct hs_str path;

    if (o->keep_db) {
        path = prepare_kept(g->batch, g->index, "db", &g->arena, &g->row.kept_db);
        status = path.p ? hs_write_job(o, path.p, &g->read, &g->judgement, err) : hs_no_memory(err);
    }
    if (status == HS_OK && o->keep_report) {
        path = prepare_kept(g->batch, g->index, "html", &g->arena, &g->row.kept_report);
        status = path.p ? hs_write_page(o, path.p, &g->judgement, g->batch->page, err)
                        : hs_no_memory(err);
    }
    return status;
}

/* ---- all of it ---- */

static int exit_of(enum hs_status status, bool wrote)
{
    switch (status) {
    case HS_OK:
        return HS_CHILD_JUDGED;
    case HS_ENOMEM:
        return HS_CHILD_MEMORY;
    case HS_EUSAGE:
        return HS_CHILD_UNREADABLE;
    default:
        return wrote ? HS_CHILD_STOP : HS_CHILD_FAILED;
    }
}

/* Options of one job: what all share, and nothing of the batch. */
static struct hs_options options_of(const struct hs_batch *b, const char **path)
{
    struct hs_options o = *b->options;

    o.paths = path;
    o.path_count = 1;
    o.workers = 1;
    o.progress = false;
    o.verbosity = -1;
    o.force = false;
    o.families = b->families;
    o.own_rules = &b->own_rules;
    return o;
}

int hs_batch_judge(const struct hs_batch *b, uint32_t at, struct hs_buf *message)
{
    struct judging g = { .batch = b, .index = b->todo[at] };
    const char *path = b->jobs.items[g.index].path.p;
    struct hs_options o = options_of(b, &path);
    struct hs_judging want = { .tables = o.keep_db, .report = o.keep_report };
    struct hs_err err = { .n = 0 };
    bool judged = false;
    enum hs_status status;

    hs_arena_init(&g.arena);
    hs_fleet_row_init(&g.row);
    status = hs_read_job(&o, &g.read, &err);
    if (status == HS_OK)
        status = hs_judge_job(&o, &g.read, &want, &g.judgement, &err);
    if (status == HS_OK && !put_verdict(&g.read, &g.judgement.verdict, &g.arena, &g.row))
        status = hs_no_memory(&err);
    judged = status == HS_OK;
    if (judged)
        status = keep(&g, &o, &err);
    if (status == HS_OK)
        hs_fleet_put(message, &g.row);
    else
        hs_buf_put(message, hs_str_of(err.n ? err.causes[0].text : ""));
    return exit_of(status, judged); /* the process ends: nothing is released */
}
