/* ahead.c - a ring of chunks between two threads. */
#include "parsers/ahead.h"

#include "base/intern.h"
#include "base/limits.h"

#include <pthread.h>
#include <stdlib.h>

struct hs_ahead {
    struct hs_source *source;
    const struct hs_stream *stream;
    struct hs_source_trouble trouble; /* the reader's until it has ended */
    struct hs_buf rooms[HS_CHUNKS_AHEAD];
    uint64_t hashes[HS_CHUNKS_AHEAD];
    void *seen[HS_CHUNKS_AHEAD];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    uint64_t filled, taken; /* chunks so far; the one that is parsed counts as not yet taken */
    bool ended, stopped;    /* by the source; by the parser */
    bool lent;              /* a chunk is being parsed */
    bool full, empty;       /* the reader waits for room; the parser for a chunk */
};

void hs_chunk_fill(struct hs_source *source, struct hs_buf *bytes,
                   struct hs_source_trouble *trouble)
{
    while (!trouble->code && bytes->n < HS_CHUNK_BYTES) {
        size_t n = hs_source_read(source, bytes->p + bytes->n, HS_CHUNK_BYTES - bytes->n, trouble);

        if (n == 0)
            break;
        bytes->n += n;
    }
}

/* Wait for a room that nobody reads, and once there is none, for half of them: to wake a thread
 * for every chunk takes longer than to read it. False when the parser has stopped. */
static bool wait_for_room(struct hs_ahead *a)
{
    bool stopped;

    (void)pthread_mutex_lock(&a->lock);
    if (a->filled - a->taken == HS_CHUNKS_AHEAD) {
        a->full = true;
        while (!a->stopped && a->full)
            (void)pthread_cond_wait(&a->changed, &a->lock);
    }
    stopped = a->stopped;
    (void)pthread_mutex_unlock(&a->lock);
    return !stopped;
}

/* Hand out the chunk that was filled, or the end. */
static void announce(struct hs_ahead *a, bool chunk, bool ended)
{
    (void)pthread_mutex_lock(&a->lock);
    a->filled += chunk;
    a->ended = ended;
    if (a->empty)
        (void)pthread_cond_signal(&a->changed);
    a->empty = false;
    (void)pthread_mutex_unlock(&a->lock);
}

static void *read_ahead(void *self)
{
    struct hs_ahead *a = self;
    bool ended = false;

    while (!ended && wait_for_room(a)) {
        size_t i = a->filled % HS_CHUNKS_AHEAD;
        struct hs_buf *room = &a->rooms[i];

        room->n = 0;
        hs_chunk_fill(a->source, room, &a->trouble);
        if (room->n)
            a->hashes[i] = hs_hash(hs_buf_str(room));
        if (room->n && a->seen[i])
            a->stream->look(hs_buf_str(room), a->seen[i]);
        ended = room->n < HS_CHUNK_BYTES || a->trouble.code;
        announce(a, room->n > 0, ended);
    }
    return NULL;
}

static void release(struct hs_ahead *a)
{
    for (size_t i = 0; i < HS_CHUNKS_AHEAD; i++) {
        hs_buf_release(&a->rooms[i]);
        free(a->seen[i]);
    }
    (void)pthread_cond_destroy(&a->changed);
    (void)pthread_mutex_destroy(&a->lock);
    free(a);
}

struct hs_ahead *hs_ahead_begin(struct hs_source *source, const struct hs_stream *stream)
{
    struct hs_ahead *a = calloc(1, sizeof(*a));
    bool ok = a != NULL;

    if (!a)
        return NULL;
    a->source = source;
    a->stream = stream;
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->changed, NULL);
    for (size_t i = 0; i < HS_CHUNKS_AHEAD; i++) {
        hs_buf_init(&a->rooms[i]);
        ok = ok && hs_buf_reserve(&a->rooms[i], HS_CHUNK_BYTES);
        if (stream->look)
            a->seen[i] = malloc(stream->seen_bytes); /* NULL: nothing is seen */
    }
    if (ok && pthread_create(&a->thread, NULL, read_ahead, a) == 0)
        return a;
    release(a);
    return NULL;
}

bool hs_ahead_next(struct hs_ahead *a, struct hs_chunk *out)
{
    bool any;

    (void)pthread_mutex_lock(&a->lock);
    if (a->lent) {
        a->taken++;
        if (a->full && a->filled - a->taken <= HS_CHUNKS_AHEAD / 2) {
            a->full = false;
            (void)pthread_cond_signal(&a->changed);
        }
    }
    while (!a->ended && a->filled == a->taken) {
        a->empty = true;
        (void)pthread_cond_wait(&a->changed, &a->lock);
    }
    any = a->lent = a->filled > a->taken;
    (void)pthread_mutex_unlock(&a->lock);
    if (any) {
        size_t i = a->taken % HS_CHUNKS_AHEAD;

        *out = (struct hs_chunk){ .bytes = hs_buf_str(&a->rooms[i]),
                                  .hash = a->hashes[i],
                                  .seen = a->seen[i] };
    }
    return any;
}

void hs_ahead_end(struct hs_ahead *a, struct hs_source_trouble *trouble)
{
    (void)pthread_mutex_lock(&a->lock);
    a->stopped = true;
    (void)pthread_cond_signal(&a->changed);
    (void)pthread_mutex_unlock(&a->lock);
    (void)pthread_join(a->thread, NULL);
    *trouble = a->trouble;
    release(a);
}
