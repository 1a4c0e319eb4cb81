/*
 * nccl_calls.c - COLL and CALL lines: the calls of each process, as a recorder would have them.
 *
 * A COLL line is printed when a call is enqueued; nothing is printed when it completes. Calls are
 * numbered by their order in each communicator, not by opCount, which most versions do not count up
 * by call. A process that prints CALL lines prints a COLL line for the same call, if both are on;
 * then the CALL lines count.
 *
 * Sends and receives between ncclGroupStart and ncclGroupEnd are one group call, and have one
 * p2p_seq. COLL lines show no brackets: there, sends and receives of a communicator that follow
 * each other with one opCount are one, since NCCL launches them together.
 */
#include "parsers/nccl_internal.h"

#include "base/limits.h"

#include <stdlib.h>

enum { COLL, CALL, KINDS };

struct hs_call_list {
    struct hs_operation *operations;
    uint32_t count, cap;
    uint64_t opcount; /* that the last line gave */
};

/* A communicator in a process. */
struct hs_call_member {
    uint32_t communicator;
    uint32_t seqs[KINDS]; /* the last number given */
    uint32_t stream;      /* of the device; HS_NO_ID: none yet */
    uint64_t pointer;     /* of that stream */
    bool own_stream;      /* its calls run on several */
};

struct hs_call_stream {
    uint32_t speaker;
    struct hs_call_list lists[KINDS];
    struct hs_call_member *members;
    uint32_t member_count, member_cap;
    uint64_t *devices; /* streams of the device: pointers, by number; 0 may be one */
    uint32_t device_count, device_cap;
    uint32_t groups; /* group calls so far */
    int64_t first_ns, last_ns;
};

/* How torch's recorder spells NCCL's operations, and how many elements NCCL counts. */
static const struct {
    const char *nccl, *recorded;
    bool in_each, out_each; /* the count is of one rank, and this side holds all of them */
    bool rooted, reduces;
} spellings[] = {
    { "AllReduce", "all_reduce", false, false, false, true },
    { "AllGather", "_all_gather_base", false, true, false, false },
    { "ReduceScatter", "_reduce_scatter_base", true, false, false, true },
    { "Broadcast", "broadcast", false, false, true, false },
    { "Bcast", "broadcast", false, false, true, false },
    { "Reduce", "reduce", false, false, true, true },
    { "AlltoAll", "all_to_all_single", true, true, false, false },
    { "AllToAll", "all_to_all_single", true, true, false, false },
    { "AlltoAllv", "all_to_all_v_single", false, false, false, false },
    { "AllToAllPivot", "all_to_all_single", true, true, false, false },
    { "Gather", "gather", false, true, true, false },
    { "Scatter", "scatter", true, false, true, false },
};

static const char *const dtypes[] = { "Char",   "Byte",     "Int",           "UInt32",
                                      "Long",   "UInt64",   "Half",          "Float",
                                      "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2" };

void hs_nccl_free_streams(struct hs_nccl *nccl)
{
    for (uint32_t i = 0; i < nccl->streams.count; i++) {
        struct hs_call_stream *s = &nccl->calls[i];

        for (unsigned kind = 0; kind < KINDS; kind++)
            free(s->lists[kind].operations);
        free(s->members);
        free(s->devices);
    }
    free(nccl->calls);
    free(nccl->member_of);
    hs_intern_release(&nccl->streams);
    hs_intern_release(&nccl->call_members);
}

static struct hs_call_stream *stream_of(struct hs_text *t)
{
    struct hs_nccl *nccl = t->nccl;
    const struct hs_speaker *s = &t->job->speakers[t->speaker];
    uint32_t words[4] = { s->host, s->pid, s->rank, s->local_rank };
    uint32_t known = nccl->streams.count, id;

    if (s->pid != HS_NO_ID) /* then that is the process, whatever else its lines say */
        words[2] = words[3] = HS_NO_ID;
    else if (s->rank == HS_NO_ID && s->local_rank == HS_NO_ID)
        words[3] = s->device;
    if (!HS_GROW(nccl->calls, nccl->calls_cap, (size_t)known + 1))
        return NULL;
    id = hs_intern_put(&nccl->streams,
                       (struct hs_str){ .p = (const char *)words, .n = sizeof(words) });
    if (id == HS_NO_ID)
        return NULL;
    if (nccl->streams.count > known)
        nccl->calls[id] = (struct hs_call_stream){ .speaker = t->speaker };
    return &nccl->calls[id];
}

/* The group of a communicator in a stream: its number is the order of first use. */
static uint32_t member_of(struct hs_text *t, struct hs_call_stream *s, uint32_t communicator)
{
    struct hs_nccl *nccl = t->nccl;
    uint32_t words[2] = { (uint32_t)(s - nccl->calls), communicator };
    uint32_t known = nccl->call_members.count, id;

    id = hs_intern_put(&nccl->call_members,
                       (struct hs_str){ .p = (const char *)words, .n = sizeof(words) });
    t->no_memory = id == HS_NO_ID || !HS_GROW(nccl->member_of, nccl->member_cap, (size_t)id + 1);
    if (t->no_memory)
        return HS_NO_ID;
    if (nccl->call_members.count > known) {
        nccl->member_of[id] = HS_NO_ID;
        if (s->member_count >= HS_GROUPS_MAX)
            return HS_NO_ID;
        t->no_memory = !HS_GROW(s->members, s->member_cap, (size_t)s->member_count + 1);
        if (t->no_memory)
            return HS_NO_ID;
        s->members[s->member_count] =
            (struct hs_call_member){ .communicator = communicator, .stream = HS_NO_ID };
        nccl->member_of[id] = s->member_count++;
    }
    return nccl->member_of[id];
}

/*
 * Note on which stream of the device a communicator's calls run. NCCL keeps the calls of one
 * communicator in order whatever their streams are, so a communicator with several of them runs
 * beside the others; so does one whose calls are bracketed with another's (`beside`).
 */
static bool note_stream(struct hs_call_stream *s, struct hs_call_member *m, uint64_t pointer,
                        bool beside)
{
    bool several = m->stream != HS_NO_ID && m->pointer != pointer;
    uint32_t i = 0;

    if (m->own_stream || (m->stream != HS_NO_ID && !several && !beside))
        return true;
    m->own_stream = several || beside;
    m->pointer = pointer;
    while (!m->own_stream && i < s->device_count && s->devices[i] != pointer)
        i++;
    if (m->own_stream || i == s->device_count) {
        if (s->device_count >= HS_DEVICE_STREAMS_MAX)
            return true;
        if (!HS_GROW(s->devices, s->device_cap, (size_t)s->device_count + 1))
            return false;
        i = s->device_count;
        s->devices[s->device_count++] = m->own_stream ? UINT64_MAX : pointer;
    }
    m->stream = i;
    return true;
}

static uint32_t put_signature(struct hs_text *t, const struct hs_found *found,
                              const struct hs_communicator *c)
{
    struct hs_str op = hs_found_value(t, found, "op");
    uint64_t count = hs_found_number(t, found, "count", 0);
    uint64_t dtype = hs_found_number(t, found, "datatype", UINT64_MAX);
    uint64_t peer = hs_found_number(t, found, "root", HS_NO_ID);
    uint64_t each = c->size != HS_NO_ID ? c->size : 1;
    int64_t in_sizes[2] = { 1, (int64_t)count }, out_sizes[2] = { 1, (int64_t)count };
    uint32_t words[1];
    struct hs_tensors in = { .sizes = in_sizes, .size_count = 2, .tensors = 1, .dtypes = words };
    struct hs_tensors out = { .sizes = out_sizes, .size_count = 2, .tensors = 1, .dtypes = words };
    char name[160];
    int n = snprintf(name, sizeof(name), "nccl:%.*s", HS_STR_ARG(op));

    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        if (!hs_str_is(op, spellings[i].nccl))
            continue;
        n = spellings[i].rooted && peer != HS_NO_ID
                ? snprintf(name, sizeof(name), "nccl:%s root %llu", spellings[i].recorded,
                           (unsigned long long)peer)
                : snprintf(name, sizeof(name), "nccl:%s", spellings[i].recorded);
        in_sizes[1] *= spellings[i].in_each ? (int64_t)each : 1;
        out_sizes[1] *= spellings[i].out_each ? (int64_t)each : 1;
    }
    if (hs_str_is(op, "Send") || hs_str_is(op, "Recv"))
        n = snprintf(name, sizeof(name),
                     op.p[0] == 'S' ? "nccl:send %u->%llu" : "nccl:recv %u<-%llu",
                     c->rank == HS_NO_ID ? 0 : c->rank, (unsigned long long)peer);
    if (n < 0 || (size_t)n >= sizeof(name))
        return HS_NO_ID;
    if (dtype < sizeof(dtypes) / sizeof(dtypes[0])) {
        words[0] = hs_intern_put(&t->job->strings, hs_str_of(dtypes[dtype]));
        in.dtype_count = out.dtype_count = 1;
    }
    return hs_job_put_signature(
        t->job, hs_intern_put(&t->job->strings, (struct hs_str){ .p = name, .n = (size_t)n }), 0,
        &in, &out);
}

/* As a flag of the call. Reductions that a program made itself have larger numbers, by process. */
static uint8_t reduction_of(struct hs_text *t, const struct hs_found *found)
{
    struct hs_str op = hs_found_value(t, found, "op");
    uint64_t number = hs_found_number(t, found, "redop", HS_SUM);

    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        if (spellings[i].reduces && number < HS_REDUCTIONS && hs_str_is(op, spellings[i].nccl))
            return (uint8_t)(number << HS_OPERATION_REDUCTION_SHIFT);
    }
    return 0;
}

/* The group call that a send or receive is part of. */
static uint32_t group_call(struct hs_text *t, const struct hs_record *record,
                           const struct hs_found *found, struct hs_call_stream *s, unsigned kind,
                           uint16_t member)
{
    struct hs_call_list *list = &s->lists[kind];
    const struct hs_operation *last = list->count ? &list->operations[list->count - 1] : NULL;
    uint32_t id = kind == CALL ? hs_nccl_thread_of(t, record) : HS_NO_ID;
    struct hs_nccl_thread *thread = id == HS_NO_ID ? NULL : &t->nccl->pending[id];

    if (thread && thread->brackets) {
        thread->group = thread->group ? thread->group : ++s->groups;
        return thread->group;
    }
    if (kind == COLL && last && last->p2p_seq && last->member == member &&
        list->opcount == hs_found_hex(t, found, "opcount"))
        return last->p2p_seq;
    return ++s->groups;
}

/* Whether the brackets that are open hold a call of another communicator before this one. */
static bool is_beside(struct hs_text *t, const struct hs_record *record, unsigned kind,
                      uint32_t member)
{
    uint32_t id = kind == CALL ? hs_nccl_thread_of(t, record) : HS_NO_ID;
    struct hs_nccl_thread *thread = id == HS_NO_ID ? NULL : &t->nccl->pending[id];

    if (!thread || !thread->brackets)
        return false;
    if (!thread->bracketed)
        thread->bracketed = member + 1;
    return thread->bracketed != member + 1;
}

static bool take_call(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found, unsigned kind)
{
    uint32_t communicator = hs_nccl_communicator(t, found), member;
    struct hs_call_stream *s = stream_of(t);
    struct hs_str op = hs_found_value(t, found, "op");
    bool p2p = hs_str_is(op, "Send") || hs_str_is(op, "Recv");
    struct hs_operation row = { .created_ns = record->stamp.ns,
                                .stack = HS_NO_ID,
                                .flags = (uint8_t)(HS_STATE_UNKNOWN | HS_OPERATION_SIZED |
                                                   (p2p ? HS_OPERATION_P2P : 0) |
                                                   reduction_of(t, found)) };
    struct hs_call_list *list;

    if (!s || communicator == HS_NO_ID)
        return s && !t->no_memory;
    list = &s->lists[kind];
    member = member_of(t, s, communicator);
    if (member == HS_NO_ID)
        return !t->no_memory;
    if (t->nccl->call_count >= HS_CALLS_MAX || t->signatures.count >= HS_SIGNATURES_MAX) {
        hs_text_full(t, HS_FULL_CALLS);
        return true;
    }
    row.signature = put_signature(t, found, &t->job->communicators[communicator]);
    if (row.signature == HS_NO_ID || !hs_met_add(&t->signatures, row.signature) ||
        !HS_GROW(list->operations, list->cap, (size_t)list->count + 1))
        return false;
    row.record = record->line < UINT32_MAX ? (uint32_t)record->line : UINT32_MAX;
    row.member = (uint16_t)member;
    if (p2p)
        row.p2p_seq = group_call(t, record, found, s, kind, row.member);
    else
        row.seq = ++s->members[member].seqs[kind];
    list->operations[list->count++] = row;
    t->nccl->call_count++;
    list->opcount = hs_found_hex(t, found, "opcount");
    s->first_ns = s->first_ns ? s->first_ns : record->stamp.ns;
    s->last_ns = record->stamp.ns ? record->stamp.ns : s->last_ns;
    return note_stream(s, &s->members[member], hs_found_hex(t, found, "stream"),
                       is_beside(t, record, kind, member));
}

static bool take_coll(struct hs_text *t, const struct hs_record *record,
                      const struct hs_found *found)
{
    return take_call(t, record, found, COLL);
}

static bool take_call_coll(struct hs_text *t, const struct hs_record *record,
                           const struct hs_found *found)
{
    return take_call(t, record, found, CALL);
}

/* ncclGroupStart and ncclGroupEnd, which may stand in each other. */
static bool take_bracket(struct hs_text *t, const struct hs_record *record,
                         const struct hs_found *found)
{
    struct hs_str function = hs_found_value(t, found, "function");
    bool starts = hs_str_is(function, "GroupStart");
    struct hs_nccl_thread *thread;
    uint32_t id;

    if (!starts && !hs_str_is(function, "GroupEnd"))
        return true;
    id = hs_nccl_thread_of(t, record);
    if (id == HS_NO_ID)
        return !t->no_memory;
    thread = &t->nccl->pending[id];
    thread->brackets = starts ? thread->brackets + 1 : thread->brackets - (thread->brackets > 0);
    if (thread->brackets == 0)
        thread->group = thread->bracketed = 0;
    return true;
}

const struct hs_taker hs_call_takers[] = {
    { "coll", take_coll },
    { "call_coll", take_call_coll },
    { "call_other", take_bracket },
    { "call_init", hs_nccl_take_call_init },
    { "call_split", hs_nccl_take_call_init },
    { NULL, NULL },
};

/* ---- at the end ---- */

/* The same on all ranks where NCCL prints what is; else the pointer, which only this process has.
 */
static uint32_t name_of(struct hs_job *job, const struct hs_communicator *c)
{
    char text[64];

    if (c->comm_id)
        (void)snprintf(text, sizeof(text), "comm %llx", (unsigned long long)c->comm_id);
    else
        (void)snprintf(text, sizeof(text), "comm at 0x%llx.%u", (unsigned long long)c->pointer,
                       c->epoch);
    return hs_intern_put(&job->strings, hs_str_of(text));
}

static bool put_members(struct hs_job *job, const struct hs_call_stream *s)
{
    uint32_t nccl = hs_intern_put(&job->strings, HS_STR("nccl"));

    for (uint32_t i = 0; i < s->member_count; i++) {
        const struct hs_communicator *c = &job->communicators[s->members[i].communicator];
        struct hs_member m = { .dump = job->dump_count,
                               .name = name_of(job, c),
                               .desc = HS_NO_ID,
                               .backend = nccl,
                               .ranks = HS_NO_ID,
                               .local_id = -1,
                               .communicator = s->members[i].communicator,
                               .stream = s->members[i].stream,
                               .enqueued = -1,
                               .started = -1,
                               .completed = -1 };

        if (m.name == HS_NO_ID || !HS_GROW(job->members, job->member_cap, job->member_count + 1u))
            return false;
        job->members[job->member_count++] = m;
    }
    return nccl != HS_NO_ID;
}

static bool put_dump(struct hs_text *t, struct hs_call_stream *s)
{
    struct hs_job *job = t->job;
    struct hs_call_list *list = &s->lists[s->lists[CALL].count ? CALL : COLL];
    struct hs_dump dump = { .source = t->px->source,
                            .rank = HS_NO_ID,
                            .host = job->speakers[s->speaker].host,
                            .speaker = s->speaker,
                            .library = HS_NO_ID,
                            .first_member = job->member_count,
                            .member_count = s->member_count,
                            .first_ns = s->first_ns,
                            .last_ns = s->last_ns,
                            .has_entries_key = true };

    if (!HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u) || !put_members(job, s))
        return false;
    dump.operations = list->operations;
    dump.operation_count = list->count;
    *list = (struct hs_call_list){ .count = 0 };
    job->sources[t->px->source].records += dump.operation_count;
    job->dumps[job->dump_count++] = dump;
    return true;
}

bool hs_nccl_end(struct hs_text *t)
{
    for (uint32_t i = 0; i < t->nccl->streams.count; i++) {
        if (!put_dump(t, &t->nccl->calls[i]))
            return false;
    }
    return true;
}
