#include "job_lab.h"

#include "analyzer/analyze.h"
#include "analyzer/render/render.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMEOUT_MS = 600000, NUMEL = 16 };
static const int64_t start_ns = 1700000000000000000;

/* A test that cannot be set up is wrong itself. */
static void must(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "job_lab: %s\n", what);
        abort();
    }
}

void lab_begin(struct job_lab *lab)
{
    *lab = (struct job_lab){ .group_count = 0 };
    hs_job_init(&lab->part);
    hs_job_init(&lab->job);
}

void lab_end(struct job_lab *lab)
{
    if (lab->aligned) {
        hs_waits_release(&lab->waits);
        hs_alignment_release(&lab->al);
    }
    hs_job_release(&lab->part);
    hs_job_release(&lab->job);
}

void lab_group(struct job_lab *lab, const char *name, const char *backend, const char *ranks)
{
    struct lab_group *g = &lab->groups[lab->group_count++];
    char *end;

    *g = (struct lab_group){ .name = name, .backend = backend };
    for (; *ranks; ranks = end + (*end == ' '))
        g->ranks[g->size++] = (uint32_t)strtoul(ranks, &end, 10);
}

static const struct lab_group *group_called(const struct job_lab *lab, const char *name, size_t n)
{
    for (uint32_t i = 0; i < lab->group_count; i++) {
        if (strlen(lab->groups[i].name) == n && strncmp(lab->groups[i].name, name, n) == 0)
            return &lab->groups[i];
    }
    must(false, "no such group");
    return NULL;
}

static uint32_t index_in(const struct lab_group *g, uint32_t rank)
{
    for (uint32_t i = 0; i < g->size; i++) {
        if (g->ranks[i] == rank)
            return i;
    }
    return HS_NO_ID;
}

static uint32_t string_of(struct job_lab *lab, const char *text)
{
    return hs_intern_put(&lab->part.strings, hs_str_of(text));
}

/* The groups of a rank become the members of its dump. */
static void add_members(struct job_lab *lab, struct hs_dump *dump)
{
    struct hs_job *job = &lab->part;

    dump->first_member = job->member_count;
    for (uint32_t i = 0; i < lab->group_count; i++) {
        const struct lab_group *g = &lab->groups[i];

        if (index_in(g, dump->rank) == HS_NO_ID)
            continue;
        must(HS_GROW(job->members, job->member_cap, job->member_count + 1u), "no memory");
        job->members[job->member_count++] =
            (struct hs_member){ .dump = job->dump_count,
                                .communicator = HS_NO_ID,
                                .name = string_of(lab, g->name),
                                .desc = string_of(lab, i ? g->name : "default_pg"),
                                .backend = string_of(lab, g->backend),
                                .ranks = hs_job_put_list(job, g->ranks, g->size),
                                .local_id = (int32_t)i,
                                .stream = HS_NO_ID,
                                .enqueued = -1,
                                .started = -1,
                                .completed = -1 };
        dump->member_count++;
    }
}

static uint32_t member_of(const struct job_lab *lab, const struct hs_dump *dump,
                          const struct lab_group *g)
{
    for (uint32_t i = 0; i < dump->member_count; i++) {
        if (lab->part.members[dump->first_member + i].local_id == (int32_t)(g - lab->groups))
            return i;
    }
    must(false, "a rank uses a group that it is no member of");
    return 0;
}

/* ---- calls ---- */

struct call {
    const struct lab_group *group;
    char op[48]; /* "all_reduce", "send>1", "end" */
    uint32_t seq, p2p_seq;
    char mark; /* '\0': scheduled */
};

static uint32_t take_number(const char **at)
{
    char *end;
    uint32_t value = (uint32_t)strtoul(*at + 1, &end, 10);

    must(end > *at + 1, "a number is missing");
    *at = end;
    return value;
}

static struct call read_call(const struct job_lab *lab, const char *word)
{
    const char *colon = strchr(word, ':');
    struct call call = { .group = colon ? group_called(lab, word, (size_t)(colon - word))
                                        : &lab->groups[0] };
    size_t n;

    word = colon ? colon + 1 : word;
    n = strcspn(word, "#/+*~!");
    must(n < sizeof(call.op), "a name is too long");
    memcpy(call.op, word, n);
    word += n;
    if (*word == '#')
        call.seq = take_number(&word);
    if (*word == '/')
        call.p2p_seq = take_number(&word);
    call.mark = *word;
    return call;
}

static uint32_t signature_of(struct job_lab *lab, const struct call *call, uint32_t rank)
{
    static const int64_t sizes[] = { 1, NUMEL };
    const char *backend = call->group->backend;
    uint32_t dtype = string_of(lab, "Float");
    struct hs_tensors one = {
        .sizes = sizes, .size_count = 2, .tensors = 1, .dtypes = &dtype, .dtype_count = 1
    };
    struct hs_tensors none = { .tensors = 0 }, *t = &one;
    const char *way = strpbrk(call->op, "<>");
    char name[128];

    if (way)
        (void)snprintf(name, sizeof(name), "%s:%.4s %u%s%s", backend, call->op,
                       index_in(call->group, rank), *way == '>' ? "->" : "<-", way + 1);
    else
        (void)snprintf(name, sizeof(name), "%s:%s", backend, call->op);
    if (strcmp(call->op, "end") == 0) {
        (void)snprintf(name, sizeof(name), "%s:coalesced", backend);
        t = &none;
    }
    return hs_job_put_signature(&lab->part, string_of(lab, name), TIMEOUT_MS, t, t);
}

static void add_call(struct job_lab *lab, struct hs_dump *dump, const struct call *call,
                     uint32_t first_record)
{
    uint32_t i = dump->operation_count++;
    struct hs_operation *op;
    bool done = call->mark == '+' || call->mark == '!';

    dump->operations = realloc(dump->operations, dump->operation_count * sizeof(*op));
    must(dump->operations != NULL, "no memory");
    op = &dump->operations[i];
    *op = (struct hs_operation){ .created_ns = start_ns + i * 1000000000ll,
                                 .record = first_record + i,
                                 .seq = call->seq,
                                 .p2p_seq = call->p2p_seq,
                                 .signature = signature_of(lab, call, dump->rank),
                                 .stack = HS_NO_ID,
                                 .member = (uint16_t)member_of(lab, dump, call->group) };
    op->flags = done                ? HS_STATE_COMPLETED
                : call->mark == '~' ? HS_STATE_STARTED
                                    : HS_STATE_SCHEDULED;
    op->flags |= done || call->mark == '*' ? HS_OPERATION_RETIRED : 0;
    op->flags |= strcmp(call->op, "end") == 0 ? 0 : HS_OPERATION_SIZED;
    op->finished_us = call->mark == '!' ? TIMEOUT_MS * 1000u + 5 : done ? 900 : 0;
    dump->last_ns = op->created_ns;
}

static void set_counters(struct job_lab *lab, struct hs_dump *dump, const char *word)
{
    const char *at = strchr(word, '=');
    const struct lab_group *group = group_called(lab, word, (size_t)(at - word));
    struct hs_member *m = &lab->part.members[dump->first_member + member_of(lab, dump, group)];

    m->has_status = true;
    m->enqueued = take_number(&at);
    m->started = take_number(&at);
    m->completed = take_number(&at);
}

void lab_dump(struct job_lab *lab, uint32_t rank, const char *words)
{
    struct hs_job *job = &lab->part;
    struct hs_dump dump = {
        .rank = rank, .host = HS_NO_ID, .version = 2010, .library = HS_NO_ID, .speaker = HS_NO_ID
    };
    char *text = strdup(words), *save = NULL, name[64];
    uint32_t first_record = 0;

    must(text != NULL, "no memory");
    (void)snprintf(name, sizeof(name), "dumps/rank_%u_%u", rank, job->source_count);
    dump.source = hs_job_add_source(job, hs_str_of(name));
    job->sources[dump.source].format = "flight-recorder-pickle";
    job->sources[dump.source].content = hs_hash(hs_str_of(name));
    dump.has_entries_key = true;
    dump.first_ns = dump.last_ns = start_ns;
    add_members(lab, &dump);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        struct call call;

        if (*word == '@') {
            first_record = (uint32_t)strtoul(word + 1, NULL, 10);
        } else if (strcmp(word, "cut") == 0) {
            dump.cut_short = true;
        } else if (strncmp(word, "wait=", 5) == 0) {
            dump.last_ns += strtoll(word + 5, NULL, 10) * 1000000000ll;
        } else if (strchr(word, '=')) {
            set_counters(lab, &dump, word);
        } else {
            call = read_call(lab, word);
            add_call(lab, &dump, &call, first_record);
        }
    }
    free(text);
    job->sources[dump.source].records = dump.operation_count;
    must(HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u), "no memory");
    job->dumps[job->dump_count++] = dump;
}

/* ---- what becomes of it ---- */

void lab_finish(struct job_lab *lab)
{
    struct hs_err err = { .n = 0 };

    must(hs_job_finish(&lab->part, 1, &lab->job, &err) == HS_OK, "hs_job_finish");
}

void lab_align(struct job_lab *lab)
{
    struct hs_err err = { .n = 0 };
    uint32_t *dumps, *earlier;
    struct hs_arena arena;

    lab_finish(lab);
    hs_arena_init(&arena);
    dumps = HS_NEW(&arena, uint32_t, lab->job.dump_count);
    earlier = HS_NEW(&arena, uint32_t, lab->job.dump_count);
    must(dumps && earlier, "no memory");
    for (uint32_t i = 0; i < lab->job.dump_count; i++) {
        dumps[i] = i;
        earlier[i] = HS_NO_ID;
    }
    hs_alignment_init(&lab->al, &lab->job);
    must(hs_align(&lab->al, dumps, earlier, lab->job.dump_count, &err) == HS_OK, "hs_align");
    must(hs_waits_build(&lab->waits, &lab->al, &err) == HS_OK, "hs_waits_build");
    lab->aligned = true;
    hs_arena_release(&arena);
}

const struct hs_unit *lab_head(const struct job_lab *lab, uint32_t rank)
{
    uint32_t head = lab->al.seats[hs_seat_of_rank(&lab->al, rank)].head;

    return head == HS_NO_ID ? NULL : &lab->al.pending[head];
}

const char *lab_holders(const struct job_lab *lab, uint32_t rank)
{
    static const char *const how[] = { "absent", "earlier", "stale", "unseen", "unclear" };
    static _Thread_local char text[256];
    const struct hs_waits *w = &lab->waits;
    uint32_t node = w->node_of_seat[hs_seat_of_rank(&lab->al, rank)];
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; node != HS_NO_ID && i < w->nodes[node].holder_count; i++) {
        const struct hs_holder *h = &w->holders[w->nodes[node].first_holder + i];
        uint32_t who = h->how == HS_HOLDS_UNSEEN ? w->unseen[h->who - lab->al.seat_count]
                                                 : lab->al.seats[h->who].rank;

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u %s", n ? ", " : "", who,
                              how[h->how]);
    }
    return text;
}

char *lab_json(const struct hs_job *job)
{
    struct hs_job_options options = { .world_size = 0 };
    struct hs_verdict verdict = { .code = NULL };
    struct hs_err err = { .n = 0 };
    struct hs_buf out;

    hs_buf_init(&out);
    must(hs_analyze(job, &options, &verdict, &err) == HS_OK, "hs_analyze");
    must(hs_render_json(&verdict, HS_ENGLISH, &out) && !out.failed, "hs_render_json");
    hs_verdict_release(&verdict);
    return out.p;
}
