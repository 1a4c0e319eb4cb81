/*
 * identity_numbers.c - the runs of all sources get the numbers of the job's attempts.
 *
 * The source with most cuts counts. Others are laid beside it by what they share with it: a
 * process, the id of a communicator; else by their path (torchrun's attempt_N), else by time. What
 * fits nowhere belongs to no attempt in particular.
 */
#include "analyzer/identity_internal.h"

#include "base/limits.h"

#include <ctype.h>
#include <stdlib.h>

/* Something that exists in one attempt only, met in a run. */
struct token {
    uint32_t run, key;
};

struct numbering {
    struct hs_inquiry *q;
    struct hs_intern keys;
    uint32_t *attempt_of_key;
    uint32_t attempt_cap;
    struct token *tokens; /* by source, since their makers are */
    uint32_t token_count, token_cap;
    uint32_t *first_token; /* by source, and one more */
    struct hs_stamp starts[HS_ATTEMPTS_MAX + 1];
};

static bool put_token(struct numbering *n, uint32_t run, const uint32_t *words, size_t count)
{
    struct hs_str key = { .p = (const char *)words, .n = count * sizeof(*words) };
    uint32_t known = n->keys.count, at = hs_intern_put(&n->keys, key);

    if (at == HS_NO_ID || !HS_GROW(n->attempt_of_key, n->attempt_cap, at + 1u) ||
        !HS_GROW(n->tokens, n->token_cap, n->token_count + 1u))
        return false;
    if (n->keys.count > known)
        n->attempt_of_key[at] = HS_NO_ID;
    n->tokens[n->token_count++] = (struct token){ run, at };
    return true;
}

static bool put_speaker_tokens(struct numbering *n, uint32_t source, uint32_t *at)
{
    const struct hs_identity *id = n->q->id;
    const struct hs_job *job = n->q->job;

    for (; *at < job->speaker_count && job->speakers[*at].source == source; ++*at) {
        const struct hs_speaker *s = &job->speakers[*at];
        uint32_t words[] = { 0, s->host == HS_NO_ID ? 0 : id->host_of_string[s->host], s->pid };
        uint32_t run = hs_run_at(id, source, s->first_line);

        if (words[1] && s->pid != HS_NO_ID && run == hs_run_at(id, source, s->last_line) &&
            !put_token(n, run, words, 3))
            return false;
    }
    return true;
}

static bool put_comm_tokens(struct numbering *n, uint32_t source, uint32_t *at)
{
    const struct hs_job *job = n->q->job;

    for (; *at < job->communicator_count && job->communicators[*at].source == source; ++*at) {
        const struct hs_communicator *c = &job->communicators[*at];
        uint32_t words[] = { 1, (uint32_t)c->comm_id, (uint32_t)(c->comm_id >> 32) };
        uint64_t line = c->start_line ? c->start_line : c->complete_line;

        if (c->comm_id && line && !put_token(n, hs_run_at(n->q->id, source, line), words, 3))
            return false;
    }
    return true;
}

static bool gather_tokens(struct numbering *n)
{
    uint32_t sources = n->q->job->source_count, speaker = 0, comm = 0;

    n->first_token = HS_NEW(&n->q->scratch, uint32_t, (size_t)sources + 1);
    for (uint32_t s = 0; n->first_token && s < sources; s++) {
        n->first_token[s] = n->token_count;
        if (!put_speaker_tokens(n, s, &speaker) || !put_comm_tokens(n, s, &comm))
            return false;
        n->first_token[s + 1] = n->token_count;
    }
    return n->first_token != NULL;
}

/* attempt_N in the path of torchrun's logs; HS_NO_ID: none. */
static uint32_t attempt_of_path(struct hs_str path)
{
    static const struct hs_str mark = { .p = "attempt_", .n = 8 };

    for (size_t i = 0; i + mark.n < path.n; i++) {
        struct hs_str rest = { .p = path.p + i, .n = path.n - i };
        uint32_t value = 0;
        size_t k = mark.n;

        if (!hs_str_starts(rest, mark) || (i && path.p[i - 1] != '/'))
            continue;
        for (; k < rest.n && isdigit((unsigned char)rest.p[k]) && value <= HS_ATTEMPTS_MAX; k++)
            value = value * 10 + (uint32_t)(rest.p[k] - '0');
        if (k > mark.n && k < rest.n && rest.p[k] == '/' && value < HS_ATTEMPTS_MAX)
            return value;
    }
    return HS_NO_ID;
}

/* By what the source shares with one that is numbered: the attempt of its first run. */
static uint32_t attempt_by_tokens(const struct numbering *n, uint32_t source)
{
    uint32_t first_run = n->q->id->first_run[source];

    for (uint32_t i = n->first_token[source]; i < n->first_token[source + 1]; i++) {
        uint32_t attempt = n->attempt_of_key[n->tokens[i].key];
        uint32_t offset = n->tokens[i].run - first_run;

        if (attempt != HS_NO_ID && attempt >= offset)
            return attempt - offset;
    }
    return HS_NO_ID;
}

/* The last attempt that had begun at a time of a kind of clock; HS_NO_ID: no beginning is known. */
static uint32_t attempt_at(const struct numbering *n, int64_t ns, uint32_t clock)
{
    uint32_t found = HS_NO_ID;

    for (uint32_t a = 1; a < n->q->id->attempt_count && a < HS_ATTEMPTS_MAX; a++) {
        const struct hs_stamp *start = &n->starts[a];

        if (!start->ns || (start->clock | HS_CLOCK_FINE) != (clock | HS_CLOCK_FINE))
            continue;
        if (ns >= start->ns)
            found = a;
        else if (found == HS_NO_ID)
            found = a - 1;
    }
    return found;
}

/* By when it begins, if it ends before the next attempt begins. */
static uint32_t attempt_by_time(const struct numbering *n, uint32_t source)
{
    const struct hs_job *job = n->q->job;
    uint32_t found = HS_NO_ID;

    for (uint32_t i = n->q->first_of_source[source]; i < n->q->first_of_source[source + 1]; i++) {
        const struct hs_speaker *s = &job->speakers[i];
        uint32_t first = s->first_ns ? attempt_at(n, s->first_ns, s->clock) : HS_NO_ID;

        if (first == HS_NO_ID)
            continue;
        if (first != attempt_at(n, s->last_ns, s->clock) || (found != HS_NO_ID && found != first))
            return HS_NO_ID;
        found = first;
    }
    return found;
}

/* Number the runs of a source from `attempt` on, and what is met in them. */
static void number_source(struct numbering *n, uint32_t source, uint32_t attempt)
{
    struct hs_identity *id = n->q->id;
    uint32_t first = id->first_run[source];

    for (uint32_t i = first; i < id->first_run[source + 1]; i++) {
        id->runs[i].attempt = attempt + (i - first);
        if (id->runs[i].attempt >= id->attempt_count)
            id->attempt_count = id->runs[i].attempt + 1;
    }
    for (uint32_t i = n->first_token[source]; i < n->first_token[source + 1]; i++) {
        uint32_t *of_key = &n->attempt_of_key[n->tokens[i].key];

        if (*of_key == HS_NO_ID)
            *of_key = id->runs[n->tokens[i].run].attempt;
    }
}

/* When the attempts of the counting source begin: the first event with a time after each cut. */
static void note_starts(struct numbering *n, uint32_t source)
{
    const struct hs_identity *id = n->q->id;
    const struct hs_job *job = n->q->job;

    for (uint32_t i = 0; i < job->event_count; i++) {
        const struct hs_event *e = &job->events[i];
        uint32_t attempt;
        struct hs_stamp *start;

        if (e->source != source || !e->time_ns)
            continue;
        attempt = hs_identity_attempt(id, source, e->line);
        start = &n->starts[attempt < HS_ATTEMPTS_MAX ? attempt : HS_ATTEMPTS_MAX];
        if (!start->ns || e->time_ns < start->ns)
            *start = (struct hs_stamp){ e->time_ns, e->clock };
    }
}

/* The source with most runs, of several the first. */
static uint32_t counting_source(const struct hs_identity *id, uint32_t sources)
{
    uint32_t best = 0;

    for (uint32_t s = 1; s < sources; s++) {
        if (id->first_run[s + 1] - id->first_run[s] > id->first_run[best + 1] - id->first_run[best])
            best = s;
    }
    return best;
}

static uint32_t path_of(const struct numbering *n, uint32_t source)
{
    const struct hs_job *job = n->q->job;

    return attempt_of_path(hs_job_string(job, job->sources[source].name));
}

/* Witnesses of a source's attempt, the best first: each round hears one more. */
static uint32_t attempt_of(const struct numbering *n, uint32_t source, uint32_t round)
{
    const struct hs_identity *id = n->q->id;
    uint32_t attempt = attempt_by_tokens(n, source);

    if (attempt == HS_NO_ID && round > 0)
        attempt = path_of(n, source);
    if (attempt == HS_NO_ID && round > 1)
        attempt = attempt_by_time(n, source);
    if (attempt == HS_NO_ID && round > 2 && id->first_run[source + 1] - id->first_run[source] > 1)
        attempt = 0; /* it has cuts of its own, and begins like others */
    return attempt;
}

enum { ROUNDS = 4 };

static void number_others(struct numbering *n, uint32_t sources)
{
    const struct hs_identity *id = n->q->id;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t s = 0; s < sources; s++) {
            uint32_t attempt =
                id->runs[id->first_run[s]].attempt == HS_NO_ID ? attempt_of(n, s, round) : HS_NO_ID;

            if (attempt != HS_NO_ID)
                number_source(n, s, attempt);
        }
    }
}

bool hs_identity_number_attempts(struct hs_inquiry *q)
{
    struct hs_identity *id = q->id;
    struct numbering n = { .q = q };
    uint32_t sources = q->job->source_count, base, start;
    bool paths = false, ok;

    id->attempt_count = 1;
    for (uint32_t s = 0; s < sources && !paths; s++)
        paths = path_of(&n, s) != HS_NO_ID;
    if (id->first_run[sources] == sources && !paths) {
        for (uint32_t i = 0; i < sources; i++)
            id->runs[i].attempt = 0;
        return true;
    }
    hs_intern_init(&n.keys);
    ok = gather_tokens(&n);
    if (ok) {
        base = counting_source(id, sources);
        start = path_of(&n, base);
        if (start != HS_NO_ID || id->first_run[base + 1] - id->first_run[base] > 1)
            number_source(&n, base, start == HS_NO_ID ? 0 : start);
        note_starts(&n, base);
        number_others(&n, sources);
    }
    hs_intern_release(&n.keys);
    free(n.attempt_of_key);
    free(n.tokens);
    return ok;
}
