/* job_input.c - paths become a job: what files say, what databases had kept, put together. */
#include "analyzer/analyze.h"
#include "analyzer/commands/command.h"
#include "analyzer/commands/streams.h"
#include "analyzer/render/render.h"
#include "schema/store.h"
#include "schema/store_fleet.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A line on the terminal that is written over; workers take turns. */
struct progress {
    pthread_mutex_t lock;
    uint32_t shown_percent;
};

static void show_progress(void *self, uint32_t done, uint32_t inputs)
{
    struct progress *p = self;
    uint32_t percent = (uint32_t)((uint64_t)done * 100 / inputs);

    (void)pthread_mutex_lock(&p->lock);
    if (percent > p->shown_percent) {
        p->shown_percent = percent;
        (void)fprintf(stderr, "\rreading %u of %u files\033[K", done, inputs);
    }
    (void)pthread_mutex_unlock(&p->lock);
}

/* Whether anything was of a known format and gave something: a text always does. */
static bool was_read(const struct hs_job *job)
{
    for (uint32_t i = 0; i < job->source_count; i++) {
        if (job->sources[i].format && strcmp(job->sources[i].format, "text") == 0)
            return true;
    }
    return job->dump_count > 0 || job->event_count > 0;
}

/* Why nothing could be read: the first thing that is odd about the input. */
static enum hs_status nothing_read(const struct hs_options *o, const struct hs_job *job,
                                   struct hs_err *err)
{
    const struct hs_diagnostic *first = NULL;
    const char *where = o->path_count == 1 ? o->paths[0] : "the paths given";

    if (o->path_count == 1 && hs_fleet_is(where))
        return hs_fail(
            err, HS_EUSAGE,
            "'%s' is a fleet, which has many jobs: 'hangscope sql' and 'hangscope fleet' "
            "read it",
            where);
    for (uint32_t i = 0; i < job->diagnostic_count; i++) {
        const struct hs_diagnostic *d = &job->diagnostics[i];

        if (!first ||
            (strcmp(first->code, "unknown-format") == 0 && strcmp(d->code, "unknown-format") != 0))
            first = d;
    }
    if (!first)
        return hs_fail(err, HS_EUSAGE, "there is nothing to read in '%s'", where);
    if (first->offset_bytes == HS_NO_POSITION)
        (void)hs_fail(err, HS_EUSAGE, "%.*s: %s: %.*s",
                      HS_STR_ARG(hs_job_string(job, job->sources[first->source].name)), first->code,
                      HS_STR_ARG(hs_job_string(job, first->excerpt)));
    else
        (void)hs_fail(err, HS_EUSAGE, "%.*s, byte %llu: %s: %.*s",
                      HS_STR_ARG(hs_job_string(job, job->sources[first->source].name)),
                      (unsigned long long)first->offset_bytes, first->code,
                      HS_STR_ARG(hs_job_string(job, first->excerpt)));
    return hs_fail(
        err, HS_EUSAGE,
        "no file in '%s' could be read as a known format; 'hangscope formats PATH' shows "
        "what was tried",
        where);
}

static enum hs_status read_files(const struct hs_options *o, const char *const *paths,
                                 uint32_t count, struct hs_job *out, struct hs_err *err)
{
    struct progress progress = { .shown_percent = 0 };
    struct hs_read_options read = { .parser = o->parser,
                                    .workers = o->workers,
                                    .families = o->families };
    struct hs_inputs inputs = { .count = 0 };
    enum hs_status status = hs_inputs_find(paths, count, &inputs, err);

    for (uint32_t i = 0; status == HS_OK && i < inputs.count; i++)
        inputs.items[i].stream = hs_streams_find(o->streams, &inputs.items[i]);
    if (o->progress) {
        (void)pthread_mutex_init(&progress.lock, NULL);
        read.progress = show_progress;
        read.progress_self = &progress;
    }
    if (status == HS_OK)
        status = hs_read_inputs(&inputs, &read, out, err);
    if (o->progress) {
        (void)fprintf(stderr, "\r\033[K");
        (void)pthread_mutex_destroy(&progress.lock);
    }
    hs_inputs_release(&inputs);
    return status;
}

static bool is_before(const struct hs_rank_place *a, const struct hs_rank_place *b)
{
    int c = hs_str_cmp(a->host, b->host);

    return c ? c < 0 : a->gpu < b->gpu;
}

/*
 * What is said of a job by several: the largest world; for each rank the place given on the command
 * line, else, where databases contradict each other, the first by name: not by their order.
 */
static enum hs_status join_options(const struct hs_options *o, struct hs_read_job *read,
                                   const struct hs_job_options *more, struct hs_err *err)
{
    struct hs_job_options *to = &read->about;
    size_t room = (size_t)to->place_count + more->place_count;
    struct hs_rank_place *places = HS_NEW(&read->arena, struct hs_rank_place, room);
    uint32_t known = to->place_count, count = known;

    if (!places)
        return hs_no_memory(err);
    if (known)
        memcpy(places, to->places, known * sizeof(*places));
    for (uint32_t i = 0; i < more->place_count; i++) {
        const struct hs_rank_place *place = &more->places[i];
        struct hs_rank_place *found =
            known ? bsearch(place, places, known, sizeof(*places), hs_rank_place_compare) : NULL;

        if (!found)
            places[count++] = *place;
        else if (is_before(place, found) &&
                 (!o->place_count || !bsearch(place, o->places, o->place_count, sizeof(*places),
                                              hs_rank_place_compare)))
            *found = *place;
    }
    qsort(places, count, sizeof(*places), hs_rank_place_compare);
    to->places = places;
    to->place_count = count;
    to->world_size = more->world_size > to->world_size ? more->world_size : to->world_size;
    return HS_OK;
}

/* A database: in a file, or as it comes in a stream. */
static enum hs_status read_database(const char *path, const struct hs_opened *stream,
                                    struct hs_job *part, struct hs_arena *arena,
                                    struct hs_job_options *kept, struct hs_err *err)
{
    char copy[HS_STORE_PATH_MAX];
    enum hs_status status;
    int fd = -1;

    if (stream->fd < 0)
        return hs_store_read(path, part, arena, kept, err);
    status = hs_store_stream_begin(stream->head, stream->fd, copy, &fd, err);
    if (status != HS_OK)
        return status;
    status = hs_store_read(copy, part, arena, kept, err);
    hs_store_stream_end(fd);
    return status == HS_OK ? HS_OK : hs_fail(err, status, "cannot read a database from '%s'", path);
}

/* Databases, each a part; the files, if there are any, are one more part. */
static enum hs_status read_parts(const struct hs_options *o, struct hs_read_job *out,
                                 struct hs_job *parts, uint32_t *count, bool *is_one,
                                 struct hs_err *err)
{
    const char **files = HS_NEW(&out->arena, const char *, o->path_count);
    uint32_t file_count = 0;
    enum hs_status status = files ? HS_OK : hs_no_memory(err);

    for (uint32_t i = 0; status == HS_OK && i < o->path_count; i++) {
        const struct hs_opened *stream = &o->streams->rows[i];
        struct hs_job_options kept;

        if (stream->fd < 0 ? !hs_store_is_ours(o->paths[i]) : !hs_store_is_stream(stream->head)) {
            if (o->databases_only)
                return hs_not_a_database(o->paths[i], err);
            files[file_count++] = o->paths[i];
            continue;
        }
        hs_job_init(&parts[(*count)++]);
        status = read_database(o->paths[i], stream, &parts[*count - 1], &out->arena, &kept, err);
        if (status == HS_OK)
            status = join_options(o, out, &kept, err);
    }
    if (status == HS_OK && (file_count || o->path_count == 0)) {
        hs_job_init(&parts[(*count)++]);
        status = read_files(o, files, file_count, &parts[*count - 1], err);
        *is_one = *count == 1; /* the driver has put it together already */
    }
    return status;
}

enum hs_status hs_not_a_database(const char *path, struct hs_err *err)
{
    return hs_fail(err, HS_EUSAGE,
                   "merge: '%s' is not a hangscope database; 'hangscope ingest PATH -o FILE' makes "
                   "one",
                   path);
}

enum hs_status hs_read_job(const struct hs_options *o, struct hs_read_job *out, struct hs_err *err)
{
    struct hs_job *parts = calloc((size_t)o->path_count + 1, sizeof(*parts));
    struct hs_streams opened = { .rows = NULL };
    struct hs_options with = *o;
    uint32_t count = 0;
    bool is_one = false;
    enum hs_status status = HS_OK;

    *out = (struct hs_read_job){ .about = { .world_size = o->world_size,
                                            .places = o->places,
                                            .place_count = o->place_count,
                                            .rules = o->rules,
                                            .own_rules = o->own_rules } };
    hs_arena_init(&out->arena);
    hs_job_init(&out->job);
    if (!parts)
        return hs_no_memory(err);
    if (!o->streams) {
        status = hs_streams_open(o->paths, o->path_count, !o->databases_only, &opened, err);
        with.streams = &opened;
    }
    if (status == HS_OK)
        status = read_parts(&with, out, parts, &count, &is_one, err);
    if (status == HS_OK && is_one) {
        out->job = parts[0];
        count = 0;
    } else if (status == HS_OK) {
        status = hs_job_finish(parts, count, &out->job, err);
    }
    for (uint32_t i = 0; i < count; i++)
        hs_job_release(&parts[i]);
    free(parts);
    hs_streams_close(&opened);
    if (status == HS_OK && !was_read(&out->job))
        status = nothing_read(o, &out->job, err);
    return status;
}

void hs_read_job_release(struct hs_read_job *read)
{
    hs_job_release(&read->job);
    hs_arena_release(&read->arena);
}

enum hs_status hs_judge_job(const struct hs_options *o, const struct hs_read_job *read,
                            const struct hs_judging *want, struct hs_judgement *out,
                            struct hs_err *err)
{
    struct hs_report_wanted ranks = { .ranks = o->ranks, .rank_count = o->rank_count };
    struct hs_analysis more = { .derived = want->tables ? &out->derived : NULL,
                                .report = want->report ? &out->report : NULL,
                                .wanted = o->ranks ? &ranks : NULL };

    *out = (struct hs_judgement){ .verdict = { .code = NULL } };
    return hs_analyze_more(&read->job, &read->about, &out->verdict, &more, err);
}

void hs_judgement_release(struct hs_judgement *judgement)
{
    hs_verdict_release(&judgement->verdict);
    hs_derived_release(&judgement->derived);
    hs_report_release(&judgement->report);
}

enum hs_status hs_check_not_input(const struct hs_options *o, const char *path, struct hs_err *err)
{
    struct stat target, input;

    if (o->force || stat(path, &target) != 0 || !S_ISREG(target.st_mode))
        return HS_OK;
    for (uint32_t i = 0; i < o->path_count; i++) {
        if (stat(o->paths[i], &input) == 0 && input.st_dev == target.st_dev &&
            input.st_ino == target.st_ino)
            return hs_fail(err, HS_EUSAGE, "'%s' is one of the inputs; --force replaces it", path);
    }
    return HS_OK;
}

enum hs_status hs_check_target(const struct hs_options *o, const char *path, struct hs_err *err)
{
    enum hs_status status = hs_check_not_input(o, path, err);

    return status == HS_OK ? hs_store_may_write(path, o->force, err) : status;
}

/* What a database will hold; `json` is released by the caller in any case. */
static enum hs_status put_content(const struct hs_read_job *read,
                                  const struct hs_judgement *judgement, struct hs_buf *json,
                                  struct hs_store_content *out, struct hs_err *err)
{
    hs_buf_init(json);
    if (!hs_render_json(&judgement->verdict, HS_ENGLISH, json))
        return hs_no_memory(err);
    *out = (struct hs_store_content){ .rows = { .job = &read->job, .derived = &judgement->derived },
                                      .options = &read->about,
                                      .verdict = &judgement->verdict,
                                      .verdict_json = hs_buf_str(json) };
    return HS_OK;
}

enum hs_status hs_write_job_unnamed(const struct hs_read_job *read,
                                    const struct hs_judgement *judgement, int *fd,
                                    struct hs_err *err)
{
    struct hs_buf json;
    struct hs_store_content content;
    enum hs_status status = put_content(read, judgement, &json, &content, err);

    if (status == HS_OK)
        status = hs_store_write_unnamed(&content, fd, err);
    hs_buf_release(&json);
    return status;
}

enum hs_status hs_write_job_aside(const struct hs_options *o, const char *path,
                                  const struct hs_read_job *read,
                                  const struct hs_judgement *judgement, int *fd, struct hs_err *err)
{
    struct hs_buf json;
    struct hs_store_content content;
    enum hs_status status = put_content(read, judgement, &json, &content, err);

    if (status == HS_OK)
        status = hs_store_write_aside(path, o->force, &content, fd, err);
    hs_buf_release(&json);
    return status;
}

enum hs_status hs_write_job_end(const struct hs_options *o, enum hs_status status, const char *path,
                                int fd, struct hs_err *err)
{
    status = hs_store_aside_end(status, path, fd, err);
    if (status == HS_OK && o->verbosity >= 0)
        (void)fprintf(stderr, "hangscope: wrote %s\n", path);
    return status;
}

enum hs_status hs_write_job(const struct hs_options *o, const char *path,
                            const struct hs_read_job *read, const struct hs_judgement *judgement,
                            struct hs_err *err)
{
    int fd = -1;
    enum hs_status status = hs_write_job_aside(o, path, read, judgement, &fd, err);

    return status == HS_OK ? hs_write_job_end(o, HS_OK, path, fd, err) : status;
}
