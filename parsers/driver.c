#include "parsers/driver.h"

#include "base/limits.h"
#include "parsers/ahead.h"
#include "parsers/families.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* What the workers share: the inputs, largest first, and who takes the next one. */
struct shared_work {
    const struct hs_inputs *inputs;
    const struct hs_read_options *options;
    uint32_t *order;
    atomic_uint next;
    atomic_uint done;
    atomic_bool failed;
    pthread_mutex_t lock;
    struct hs_families *families; /* made when the first text is met; NULL before */
};

/* A worker owns what it appends to; nothing of it is shared while it runs. */
struct worker {
    struct shared_work *work;
    struct hs_job part;
    struct hs_document doc;
    struct hs_buf bytes;
    struct hs_matching *matching; /* NULL until a text is met */
    pthread_t thread;
};

const struct hs_parser *hs_parser_find(const char *name)
{
    for (size_t i = 0; hs_parsers[i]; i++) {
        if (strcmp(hs_parsers[i]->name, name) == 0)
            return hs_parsers[i];
    }
    return NULL;
}

/* Ask every parser for its bid, keep them with the source, and return the winner or NULL. */
static const struct hs_parser *choose(struct hs_job *job, uint32_t source, struct hs_str head)
{
    const struct hs_parser *best = NULL;
    uint32_t bids[16], best_bid = 0, n = 0;

    for (; hs_parsers[n] && n < sizeof(bids) / sizeof(bids[0]); n++) {
        bids[n] = hs_parsers[n]->probe(head);
        if (bids[n] > best_bid) {
            best = hs_parsers[n];
            best_bid = bids[n];
        }
    }
    job->sources[source].bids = hs_job_put_list(job, bids, n);
    return best;
}

static bool parse_document(struct worker *w, struct hs_parse *px, const struct hs_parser *parser)
{
    struct hs_str bytes = hs_buf_str(&w->bytes);

    px->job->sources[px->source].content = hs_hash(bytes);
    px->job->sources[px->source].size_bytes = bytes.n;
    hs_document_reset(&w->doc);
    return parser->read(px, bytes);
}

/* The families, which all workers share: they take a millisecond to read, so only texts pay. */
static const struct hs_families *share_families(struct shared_work *work)
{
    struct hs_err err = { .n = 0 };

    if (work->options->families)
        return work->options->families;
    (void)pthread_mutex_lock(&work->lock);
    if (!work->families && hs_families_new(&work->families, &err) != HS_OK)
        work->families = NULL; /* they are built in and tested: only memory can be out */
    (void)pthread_mutex_unlock(&work->lock);
    return work->families;
}

/* Say what befell the bytes on their way; the parser reads what there is all the same. */
static bool report_source(struct hs_parse *px, const struct hs_source_trouble *trouble,
                          uint64_t offset_bytes)
{
    return !trouble->code ||
           hs_parse_diagnose(px, trouble->code, offset_bytes, HS_NO_POSITION, trouble->detail);
}

/* A stream on its way to its parser. */
struct feeding {
    struct worker *worker;
    struct hs_source *source;
    const struct hs_stream *stream;
    struct hs_source_trouble *trouble;
    struct hs_ahead *ahead; /* NULL: the worker reads by itself */
    uint32_t chunks;
};

/*
 * The next chunk; false at the end. Chunks are full, so that they begin at the same bytes whatever
 * gave them. Short members are not worth a thread.
 */
static bool next_chunk(struct feeding *f, struct hs_chunk *out)
{
    struct hs_buf *bytes = &f->worker->bytes;

    if (f->chunks++ == HS_CHUNKS_AHEAD && f->worker->work->options->workers != 1)
        f->ahead = hs_ahead_begin(f->source, f->stream);
    if (f->ahead)
        return hs_ahead_next(f->ahead, out);
    if (f->chunks > 1)
        bytes->n = 0; /* the head of the first one is there */
    hs_chunk_fill(f->source, bytes, f->trouble);
    *out = (struct hs_chunk){ .bytes = hs_buf_str(bytes), .hash = hs_hash(hs_buf_str(bytes)) };
    return bytes->n > 0;
}

/* Feed a stream chunk by chunk; the head is in the buffer. */
static bool stream_member(struct worker *w, struct hs_parse *px, struct hs_source *source,
                          const struct hs_stream *stream, struct hs_source_trouble *trouble)
{
    struct hs_source_row *row = &px->job->sources[px->source];
    struct feeding feeding = {
        .worker = w, .source = source, .stream = stream, .trouble = trouble
    };
    struct hs_chunk chunk;
    void *self;
    bool ok;

    if (!w->matching)
        w->matching = hs_matching_new();
    px->matching = w->matching;
    px->families = share_families(w->work);
    self = px->matching && px->families && hs_buf_reserve(&w->bytes, HS_CHUNK_BYTES)
               ? stream->begin(px)
               : NULL;
    ok = self != NULL;
    hs_source_unbounded(source);
    while (ok && next_chunk(&feeding, &chunk)) {
        uint64_t sum[2] = { row->content, chunk.hash };

        row->content = hs_hash((struct hs_str){ .p = (const char *)sum, .n = sizeof(sum) });
        row->size_bytes += chunk.bytes.n;
        if (chunk.seen)
            stream->show(self, chunk.seen);
        ok = stream->feed(self, chunk.bytes);
    }
    if (feeding.ahead)
        hs_ahead_end(feeding.ahead, trouble);
    w->bytes.n = 0;
    px->cut_code = trouble->code;
    ok = (!self || stream->end(self)) && ok;
    return ok && report_source(px, trouble, row->size_bytes);
}

static bool read_member(struct worker *w, struct hs_source *source, struct hs_str name,
                        struct hs_source_trouble trouble)
{
    const struct hs_parser *parser = w->work->options->parser;
    struct hs_parse px = { .job = &w->part, .name = name, .doc = &w->doc };
    struct hs_str none = { .p = "" };

    px.source = hs_job_add_source(&w->part, name);
    w->bytes.n = 0;
    if (px.source == HS_NO_ID || !hs_buf_reserve(&w->bytes, HS_PROBE_BYTES))
        return false;
    px.name = hs_job_string(&w->part, w->part.sources[px.source].name);
    while (!trouble.code && w->bytes.n < HS_PROBE_BYTES) {
        size_t n =
            hs_source_read(source, w->bytes.p + w->bytes.n, HS_PROBE_BYTES - w->bytes.n, &trouble);

        if (n == 0)
            break;
        w->bytes.n += n;
    }
    if (w->bytes.n == 0)
        return trouble.code ? report_source(&px, &trouble, 0)
                            : hs_parse_diagnose(&px, "empty-file", 0, HS_NO_POSITION, none);
    if (!parser)
        parser = choose(&w->part, px.source, hs_buf_str(&w->bytes));
    if (!parser)
        return hs_parse_diagnose(&px, "unknown-format", HS_NO_POSITION, HS_NO_POSITION, none);
    w->part.sources[px.source].format = parser->name;
    if (parser->stream)
        return stream_member(w, &px, source, parser->stream, &trouble);
    if (!trouble.code)
        hs_source_read_all(source, &w->bytes, &trouble);
    if (w->bytes.failed)
        return false;
    px.cut_code = trouble.code;
    return report_source(&px, &trouble, w->bytes.n) && parse_document(w, &px, parser);
}

/* An input that could not even be opened is a source all the same: it is said, not lost. */
static bool note_unread(struct hs_job *job, struct hs_str name, const char *code,
                        struct hs_str detail)
{
    struct hs_parse px = { .job = job, .name = name };

    px.source = hs_job_add_source(job, name);
    return px.source != HS_NO_ID &&
           hs_parse_diagnose(&px, code, HS_NO_POSITION, HS_NO_POSITION, detail);
}

static bool read_input(struct worker *w, const struct hs_input *input)
{
    struct hs_err err = { .n = 0 };
    struct hs_source *source = NULL;
    struct hs_source_trouble trouble = { .code = NULL };
    struct hs_str name;
    bool ok = true;

    switch (hs_source_open(input, &source, &err)) {
    case HS_OK:
        break;
    case HS_ENOMEM:
        return false;
    default:
        return note_unread(&w->part, input->name, "unreadable",
                           hs_str_of(err.n ? err.causes[0].text : ""));
    }
    while (ok && hs_source_next(source, &name, &trouble))
        ok = read_member(w, source, name, trouble);
    if (ok && trouble.code)
        ok = note_unread(&w->part, input->name, trouble.code, trouble.detail);
    hs_source_close(source);
    return ok;
}

static void *run_worker(void *self)
{
    struct worker *w = self;
    struct shared_work *work = w->work;

    while (!atomic_load(&work->failed)) {
        unsigned i = atomic_fetch_add(&work->next, 1), done;

        if (i >= work->inputs->count)
            break;
        if (!read_input(w, &work->inputs->items[work->order[i]]))
            atomic_store(&work->failed, true);
        done = atomic_fetch_add(&work->done, 1) + 1;
        if (work->options->progress)
            work->options->progress(work->options->progress_self, done, work->inputs->count);
    }
    return NULL;
}

struct sized_input {
    uint64_t size_bytes;
    uint32_t index;
};

static int largest_first(const void *a, const void *b)
{
    const struct sized_input *x = a, *y = b;

    if (x->size_bytes != y->size_bytes)
        return x->size_bytes > y->size_bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static uint32_t *order_inputs(const struct hs_inputs *inputs, struct hs_arena *arena)
{
    struct sized_input *sized = HS_NEW(arena, struct sized_input, inputs->count);
    uint32_t *order = HS_NEW(arena, uint32_t, inputs->count);

    for (uint32_t i = 0; sized && i < inputs->count; i++)
        sized[i] = (struct sized_input){ .size_bytes = inputs->items[i].size_bytes, .index = i };
    if (sized && inputs->count)
        qsort(sized, inputs->count, sizeof(*sized), largest_first);
    for (uint32_t i = 0; sized && order && i < inputs->count; i++)
        order[i] = sized[i].index;
    return sized ? order : NULL;
}

static unsigned count_workers(const struct hs_read_options *options, uint32_t inputs)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = options->workers ? options->workers : cpus > 0 ? (unsigned)cpus : 1;

    n = n > HS_WORKERS_MAX ? HS_WORKERS_MAX : n;
    return n > inputs ? (inputs ? inputs : 1) : n;
}

/* Start the others, work along, wait. A thread that cannot be started is done without. */
static void run_all(struct worker *workers, unsigned count)
{
    bool started[HS_WORKERS_MAX] = { false };

    for (unsigned i = 1; i < count; i++)
        started[i] = pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
    (void)run_worker(&workers[0]);
    for (unsigned i = 1; i < count; i++) {
        if (started[i])
            (void)pthread_join(workers[i].thread, NULL);
    }
}

static bool note_skipped(const struct hs_inputs *inputs, struct hs_job *job)
{
    for (uint32_t i = 0; i < inputs->skipped_count; i++) {
        const struct hs_skipped *s = &inputs->skipped[i];

        if (!note_unread(job, s->name, s->code, s->detail))
            return false;
    }
    return true;
}

/* The parts of all workers put together; each part's memory goes as soon as it is empty. */
static enum hs_status join_parts(struct worker *workers, unsigned count, struct hs_job *out,
                                 struct hs_err *err)
{
    struct hs_job *parts = calloc(count, sizeof(*parts));
    enum hs_status status;

    if (!parts)
        return hs_no_memory(err);
    for (unsigned i = 0; i < count; i++)
        parts[i] = workers[i].part;
    status = hs_job_finish(parts, count, out, err);
    for (unsigned i = 0; i < count; i++)
        workers[i].part = parts[i];
    free(parts);
    return status;
}

static void release_workers(struct worker *workers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hs_document_release(&workers[i].doc);
        hs_buf_release(&workers[i].bytes);
        hs_matching_free(workers[i].matching);
        hs_job_release(&workers[i].part);
    }
    free(workers);
}

static struct worker *make_workers(struct shared_work *work, unsigned count)
{
    struct worker *workers = calloc(count, sizeof(*workers));

    for (unsigned i = 0; workers && i < count; i++) {
        workers[i].work = work;
        hs_job_init(&workers[i].part);
        hs_document_init(&workers[i].doc);
        hs_buf_init(&workers[i].bytes);
    }
    return workers;
}

/* What the workers needed only to read goes before the parts are put together. */
static void release_rooms(struct worker *workers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hs_document_release(&workers[i].doc);
        hs_buf_release(&workers[i].bytes);
    }
}

enum hs_status hs_read_inputs(const struct hs_inputs *inputs, const struct hs_read_options *options,
                              struct hs_job *out, struct hs_err *err)
{
    unsigned count = count_workers(options, inputs->count);
    struct shared_work work = { .inputs = inputs,
                                .options = options,
                                .lock = PTHREAD_MUTEX_INITIALIZER };
    struct worker *workers = make_workers(&work, count);
    struct hs_arena arena;
    enum hs_status status;

    if (!workers)
        return hs_no_memory(err);
    hs_arena_init(&arena);
    work.order = order_inputs(inputs, &arena);
    if (work.order && note_skipped(inputs, &workers[0].part))
        run_all(workers, count);
    else
        atomic_store(&work.failed, true);
    release_rooms(workers, count);
    status = atomic_load(&work.failed) ? hs_no_memory(err) : join_parts(workers, count, out, err);
    release_workers(workers, count);
    hs_families_free(work.families);
    hs_arena_release(&arena);
    return status;
}
