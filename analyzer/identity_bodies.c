/* identity_bodies.c - what each speaker shows of itself: bodies, and ranks that it claims. */
#include "analyzer/identity_internal.h"

#include <ctype.h>
#include <stdlib.h>

static uint32_t put_body(struct hs_inquiry *q, enum hs_body_kind kind, uint32_t attempt,
                         uint32_t scope, const uint32_t number[2])
{
    uint32_t words[] = { kind, attempt, scope, number[0], number[1] };
    struct hs_str key = { .p = (const char *)words, .n = sizeof(words) };
    uint32_t known = q->keys.count, at = hs_intern_put(&q->keys, key);

    if (at == HS_NO_ID || !HS_GROW(q->bodies, q->body_cap, at + 1u))
        return HS_NO_ID;
    if (q->keys.count > known)
        q->bodies[at] =
            (struct hs_body){ .kind = kind,
                              .attempt = attempt,
                              .scope = scope,
                              .number = number[0],
                              .task = number[1],
                              .same_as = at,
                              .rank = HS_NO_ID,
                              .host =
                                  kind == HS_BODY_PID || kind == HS_BODY_LOCAL ? scope : HS_NO_ID,
                              .pid = kind <= HS_BODY_PID_HERE ? number[0] : HS_NO_ID,
                              .local_rank = HS_NO_ID,
                              .source = HS_NO_ID,
                              .process = HS_NO_ID };
    return at;
}

uint32_t hs_body_put(struct hs_inquiry *q, enum hs_body_kind kind, uint32_t attempt, uint32_t scope,
                     uint32_t number)
{
    return put_body(q, kind, attempt, scope, (const uint32_t[]){ number, HS_NO_ID });
}

uint32_t hs_body_find(const struct hs_inquiry *q, enum hs_body_kind kind, uint32_t attempt,
                      uint32_t scope, uint32_t number)
{
    uint32_t words[] = { kind, attempt, scope, number, HS_NO_ID };
    struct hs_str key = { .p = (const char *)words, .n = sizeof(words) };

    return hs_intern_find(&q->keys, key);
}

void hs_body_is(struct hs_inquiry *q, uint32_t body, uint32_t pid_body)
{
    struct hs_body *b = &q->bodies[body];

    if (b->ambiguous || b->same_as == pid_body)
        return;
    b->ambiguous = b->same_as != body;
    b->same_as = b->ambiguous ? body : pid_body;
}

bool hs_witness_put(struct hs_inquiry *q, const struct hs_witness *witness)
{
    if (!HS_GROW(q->witnesses, q->witness_cap, q->witness_count + 1u))
        return false;
    q->witnesses[q->witness_count++] = *witness;
    return true;
}

/* ---- files that one process writes ---- */

/* What a run shows of its writers: the first of each kind. */
struct writers {
    uint32_t rank, pid, host, local_rank, task;
    bool several, several_ranks;
    bool named;        /* the name of the file says who writes it */
    bool local_always; /* every speaker has this local rank */
};

static void note_one(uint32_t *kept, uint32_t value, bool *several)
{
    if (value == HS_NO_ID)
        return;
    *several = *several || (*kept != HS_NO_ID && *kept != value);
    if (*kept == HS_NO_ID)
        *kept = value;
}

static void note_writer(const struct hs_identity *id, const struct hs_speaker *s, struct writers *w)
{
    bool strong = s->rank_from >= HS_RANK_LAUNCHER;

    note_one(&w->rank, strong ? s->rank : HS_NO_ID, &w->several_ranks);
    w->several = w->several || w->several_ranks;
    note_one(&w->host, hs_host_of(id, s->host), &w->several);
    note_one(&w->pid, s->host == HS_NO_ID ? HS_NO_ID : s->pid, &w->several);
    note_one(&w->local_rank, s->local_rank, &w->several);
    note_one(&w->task, s->task, &w->several);
    w->named = w->named || s->rank_from == HS_RANK_FILE;
    w->local_always = w->local_always && s->local_rank != HS_NO_ID;
}

/* The last number in the name of a file, without its folder; false: there is none. */
static bool last_number(struct hs_str path, uint32_t *out)
{
    const char *slash = memrchr(path.p, '/', path.n);
    size_t begin = slash ? (size_t)(slash - path.p) + 1 : 0, end = path.n;
    uint64_t value = 0;

    while (end > begin && !isdigit((unsigned char)path.p[end - 1]))
        end--;
    begin = end;
    while (begin > 0 && isdigit((unsigned char)path.p[begin - 1]) && end - begin < 9)
        begin--;
    for (size_t i = begin; i < end; i++)
        value = value * 10 + (uint64_t)(path.p[i] - '0');
    *out = (uint32_t)value;
    return end > begin;
}

/* Whether names of files end in the only rank or pid that they show: so for two, and never not. */
struct naming {
    uint32_t right, wrong;
};

static void note_naming(struct naming *naming, uint32_t number, uint32_t shown)
{
    if (shown != HS_NO_ID) {
        naming->right += number == shown;
        naming->wrong += number != shown;
    }
}

/* Whether every run of a source has one writer, as far as its lines say. */
static bool has_single_writer(const struct hs_inquiry *q, uint32_t source,
                              const struct writers *of_run)
{
    if (q->first_of_source[source] == q->first_of_source[source + 1])
        return false;
    for (uint32_t r = q->id->first_run[source]; r < q->id->first_run[source + 1]; r++) {
        if (of_run[r].several)
            return false;
    }
    return true;
}

static void find_single_writers(struct hs_inquiry *q, const struct writers *of_run)
{
    const struct hs_job *job = q->job;
    struct naming ranks = { 0, 0 }, pids = { 0, 0 };
    uint32_t number;

    for (uint32_t s = 0; s < job->source_count; s++) {
        const struct writers *w = &of_run[q->id->first_run[s]];

        q->one_writer[s] = has_single_writer(q, s, of_run);
        if (!q->one_writer[s] || !last_number(hs_job_string(job, job->sources[s].name), &number))
            continue;
        note_naming(&ranks, number, w->rank);
        note_naming(&pids, number, w->rank == HS_NO_ID ? w->pid : HS_NO_ID);
    }
    for (uint32_t s = 0; s < job->source_count; s++) {
        const struct writers *w = &of_run[q->id->first_run[s]];
        bool has = last_number(hs_job_string(job, job->sources[s].name), &number);

        q->one_writer[s] =
            q->one_writer[s] && (w->named || w->local_always ||
                                 (has && w->rank == number && ranks.right > 1 && !ranks.wrong) ||
                                 (has && w->pid == number && !pids.wrong));
    }
}

static struct writers *find_writers(struct hs_inquiry *q)
{
    const struct hs_identity *id = q->id;
    const struct hs_job *job = q->job;
    uint32_t runs = id->first_run[job->source_count];
    struct writers *of_run = HS_NEW(&q->scratch, struct writers, runs);

    for (uint32_t r = 0; of_run && r < runs; r++)
        of_run[r] = (struct writers){ .rank = HS_NO_ID,
                                      .pid = HS_NO_ID,
                                      .host = HS_NO_ID,
                                      .local_rank = HS_NO_ID,
                                      .task = HS_NO_ID,
                                      .local_always = true };
    for (uint32_t i = 0; of_run && i < job->speaker_count; i++) {
        const struct hs_speaker *s = &job->speakers[i];
        uint32_t last = hs_run_at(id, s->source, s->last_line);

        for (uint32_t r = hs_run_at(id, s->source, s->first_line); r <= last; r++)
            note_writer(id, s, &of_run[r]);
    }
    return of_run;
}

/* ---- the bodies of a voice ---- */

static const uint32_t known_by[] = {
    [HS_RANK_UNKNOWN] = HS_KNOWN_NOT, [HS_RANK_FILE] = HS_KNOWN_FILE,
    [HS_RANK_TASK] = HS_KNOWN_TASK,   [HS_RANK_LAUNCHER] = HS_KNOWN_LAUNCHER,
    [HS_RANK_TAG] = HS_KNOWN_TAG,
};

struct voice {
    const struct hs_speaker *speaker;
    uint32_t index, run, attempt, host;
    uint32_t rank, known;
    bool first; /* its lines are counted here */
};

/* What the lines of a voice claim of one of its bodies. */
static bool claim_ranks(struct hs_inquiry *q, const struct voice *v, uint32_t body)
{
    const struct hs_speaker *s = v->speaker;
    struct hs_witness w = {
        .body = body, .rank = v->rank, .known = v->known, .source = s->source, .line = s->first_line
    };

    /* [default0]: is on every node: where nodes are not told apart it is nobody's in particular */
    if (q->bodies[body].kind == HS_BODY_LOCAL_HERE && s->task == HS_NO_ID)
        return true;
    if (v->known && !hs_witness_put(q, &w))
        return false;
    w.rank = s->task;
    w.known = HS_KNOWN_TASK;
    return s->task == HS_NO_ID || v->known == HS_KNOWN_TASK || hs_witness_put(q, &w);
}

/* One more body of a voice: what it says of itself, and its claims of a rank. */
static uint32_t embody(struct hs_inquiry *q, const struct voice *v, enum hs_body_kind kind,
                       uint32_t scope, uint32_t number)
{
    const struct hs_speaker *s = v->speaker;
    uint64_t begin = q->id->runs[v->run].first_line;
    uint32_t task = kind == HS_BODY_LOCAL_HERE ? s->task : HS_NO_ID;
    uint32_t at = put_body(q, kind, v->attempt, scope, (const uint32_t[]){ number, task });
    struct hs_body *b;

    if (at == HS_NO_ID || !claim_ranks(q, v, at))
        return HS_NO_ID;
    b = &q->bodies[at];
    if (b->source == HS_NO_ID) {
        b->source = s->source;
        b->line = s->first_line > begin ? s->first_line : begin;
    }
    note_one(&b->host, v->host, &b->two_hosts);
    if (kind != HS_BODY_TASK) /* a task may be a node, with many local ranks */
        note_one(&b->local_rank, s->local_rank, &b->two_locals);
    return at;
}

/* Where the attempt is unknown nothing is joined beyond its source. */
static uint32_t rank_scope(const struct voice *v)
{
    return v->attempt == HS_NO_ID ? v->known + 16 * (v->speaker->source + 1) : v->known;
}

/* Of the bodies of one voice, a pid on a host is what the others are. */
static void tie_to_pid(struct hs_inquiry *q, const uint32_t *bodies, size_t count)
{
    uint32_t pid = HS_NO_ID;

    for (size_t i = 0; i < count; i++) {
        if (q->bodies[bodies[i]].kind == HS_BODY_PID)
            pid = bodies[i];
    }
    for (size_t i = 0; pid != HS_NO_ID && i < count; i++) {
        uint32_t kind = q->bodies[bodies[i]].kind;

        if (kind != HS_BODY_PID && kind != HS_BODY_RANK && kind != HS_BODY_LOCAL_HERE)
            hs_body_is(q, bodies[i], pid);
    }
}

/* All bodies of a voice, the best first: it gets the lines. */
static bool embody_all(struct hs_inquiry *q, const struct voice *v)
{
    const struct hs_speaker *s = v->speaker;
    bool here = v->host == HS_NO_ID, one = q->one_writer[s->source];
    const struct {
        bool has;
        enum hs_body_kind kind;
        uint32_t scope, number;
    } rows[] = {
        { v->known == HS_KNOWN_TAG, HS_BODY_RANK, rank_scope(v), v->rank },
        { one, HS_BODY_FILE, s->source, v->run },
        { s->pid != HS_NO_ID && !here, HS_BODY_PID, v->host, s->pid },
        { s->pid != HS_NO_ID && here && !one, HS_BODY_PID_HERE, s->source, s->pid },
        { v->known == HS_KNOWN_LAUNCHER && s->pid == HS_NO_ID, HS_BODY_RANK, rank_scope(v),
          v->rank },
        { s->local_rank != HS_NO_ID, here ? HS_BODY_LOCAL_HERE : HS_BODY_LOCAL,
          here ? s->source : v->host, s->local_rank },
        { s->task != HS_NO_ID, HS_BODY_TASK, s->source, s->task },
        { v->known == HS_KNOWN_FILE && !one, HS_BODY_FILE, s->source, v->run },
    };
    uint32_t bodies[sizeof(rows) / sizeof(rows[0])];
    size_t count = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!rows[i].has)
            continue;
        bodies[count] = embody(q, v, rows[i].kind, rows[i].scope, rows[i].number);
        if (bodies[count++] == HS_NO_ID)
            return false;
    }
    tie_to_pid(q, bodies, count);
    q->body_of_voice[v->index] = count ? bodies[0] : HS_NO_ID;
    if (count) {
        q->bodies[bodies[0]].speaks = true;
        q->bodies[bodies[0]].lines += v->first ? s->lines : 0;
    }
    return true;
}

static bool embody_speaker(struct hs_inquiry *q, uint32_t speaker, const struct writers *of_run)
{
    const struct hs_identity *id = q->id;
    const struct hs_speaker *s = &q->job->speakers[speaker];
    uint32_t first = id->first_voice[speaker], run = hs_run_at(id, s->source, s->first_line);

    for (uint32_t v = first; v < id->first_voice[speaker + 1]; v++, run++) {
        struct voice voice = { .speaker = s,
                               .index = v,
                               .run = run,
                               .attempt = id->runs[run].attempt,
                               .host = hs_host_of(id, s->host),
                               .rank = s->rank,
                               .known = s->rank == HS_NO_ID ? HS_KNOWN_NOT : known_by[s->rank_from],
                               .first = v == first };

        if (voice.known == HS_KNOWN_FILE && of_run[run].several_ranks)
            voice.known = HS_KNOWN_NOT; /* the file is not of the rank in its name alone */
        if (!embody_all(q, &voice))
            return false;
    }
    return true;
}

/* A pid without host is the process with this pid that has one, in the same text. */
static void settle_pids(struct hs_inquiry *q)
{
    const struct hs_identity *id = q->id;

    for (uint32_t i = 0; i < q->job->speaker_count; i++) {
        const struct hs_speaker *s = &q->job->speakers[i];
        uint32_t host = hs_host_of(id, s->host), run = hs_run_at(id, s->source, s->first_line);
        uint32_t attempt = id->runs[run].attempt, here, pid;

        if (s->pid == HS_NO_ID || host == HS_NO_ID)
            continue;
        here = hs_body_find(q, HS_BODY_PID_HERE, attempt, s->source, s->pid);
        pid = hs_body_find(q, HS_BODY_PID, attempt, host, s->pid);
        if (here != HS_NO_ID && pid != HS_NO_ID)
            hs_body_is(q, here, pid);
    }
}

static int by_pid(const void *a, const void *b)
{
    const struct hs_pid_body *x = a, *y = b;

    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->body > y->body) - (x->body < y->body);
}

static bool index_pids(struct hs_inquiry *q)
{
    q->pids = HS_NEW(&q->scratch, struct hs_pid_body, q->keys.count);
    for (uint32_t i = 0; q->pids && i < q->keys.count; i++) {
        const struct hs_body *b = &q->bodies[i];

        if (b->kind == HS_BODY_PID)
            q->pids[q->pid_count++] = (struct hs_pid_body){ b->attempt, b->number, i };
    }
    if (q->pid_count)
        qsort(q->pids, q->pid_count, sizeof(*q->pids), by_pid);
    return q->pids != NULL;
}

uint32_t hs_body_of_pid(const struct hs_inquiry *q, uint32_t attempt, uint32_t pid)
{
    uint32_t low = 0, high = q->pid_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct hs_pid_body *row = &q->pids[middle];

        if (row->attempt < attempt || (row->attempt == attempt && row->pid < pid))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == q->pid_count || q->pids[low].attempt != attempt || q->pids[low].pid != pid)
        return HS_NO_ID;
    if (low + 1 < q->pid_count && q->pids[low + 1].attempt == attempt &&
        q->pids[low + 1].pid == pid)
        return HS_NO_ID;
    return q->pids[low].body;
}

/* Ranks that left a dump of their own, in the last attempt: its files were written last. */
static bool embody_dumps(struct hs_inquiry *q)
{
    for (uint32_t i = 0; i < q->job->dump_count; i++) {
        const struct hs_dump *dump = &q->job->dumps[i];
        uint32_t at;
        struct hs_witness w = { .rank = dump->rank,
                                .known = HS_KNOWN_FILE,
                                .source = dump->source };

        if (dump->rank == HS_NO_ID || dump->speaker != HS_NO_ID)
            continue;
        at = hs_body_put(q, HS_BODY_DUMP, q->id->attempt_count - 1, 0, i);
        w.body = at;
        if (at == HS_NO_ID || !hs_witness_put(q, &w))
            return false;
        q->bodies[at].host = hs_host_of(q->id, dump->host);
    }
    return true;
}

bool hs_identity_find_bodies(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    uint32_t voices = q->id->first_voice[job->speaker_count];
    struct writers *of_run = find_writers(q);

    q->one_writer = HS_NEW(&q->scratch, bool, job->source_count);
    q->body_of_voice = HS_NEW(&q->scratch, uint32_t, voices);
    if (!of_run || !q->one_writer || !q->body_of_voice)
        return false;
    find_single_writers(q, of_run);
    for (uint32_t i = 0; i < job->speaker_count; i++) {
        if (!embody_speaker(q, i, of_run))
            return false;
    }
    settle_pids(q);
    return index_pids(q) && embody_dumps(q);
}
