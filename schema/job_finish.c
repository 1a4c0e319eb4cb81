/* job_finish.c - parts of a job, as the workers left them, become one job. */
#include "schema/joining.h"

#include <stdlib.h>

static bool take_operations(struct joining *j, uint32_t part, struct hs_dump *dump)
{
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        struct hs_operation *op = &dump->operations[i];
        uint32_t stack = op->stack;

        hs_operation_expect(op);
        op->signature = hs_join_signature(j, part, op->signature);
        op->stack = hs_join_stack(j, part, stack);
        if (op->signature == HS_NO_ID || (stack != HS_NO_ID && op->stack == HS_NO_ID))
            return false;
    }
    return true;
}

static bool take_dump(struct joining *j, uint32_t part, struct hs_dump *from, uint32_t source)
{
    struct hs_job *out = j->out;
    const struct hs_member *members = j->parts[part].members + from->first_member;
    struct hs_dump dump = *from;
    bool ok =
        HS_GROW(out->members, out->member_cap, (size_t)out->member_count + dump.member_count) &&
        HS_GROW(out->dumps, out->dump_cap, out->dump_count + 1u) && take_operations(j, part, &dump);

    if (!ok)
        return false;
    dump.source = source;
    dump.host = hs_join_string(j, part, dump.host);
    dump.library = hs_join_string(j, part, dump.library);
    dump.speaker = hs_join_row(j, part, from->source, "speaker", dump.speaker);
    dump.first_member = out->member_count;
    for (uint32_t i = 0; i < dump.member_count; i++) {
        struct hs_member m = members[i];

        m.dump = out->dump_count;
        m.name = hs_join_string(j, part, m.name);
        m.desc = hs_join_string(j, part, m.desc);
        m.backend = hs_join_string(j, part, m.backend);
        m.ranks = hs_join_list(j, part, m.ranks);
        m.communicator = hs_join_row(j, part, from->source, "communicator", m.communicator);
        out->members[out->member_count++] = m;
    }
    out->dumps[out->dump_count++] = dump;
    from->operations = NULL; /* moved */
    return true;
}

/* Where a source of a part goes: the order of the whole. */
struct place {
    struct hs_str name;
    uint64_t content;
    uint32_t part, source, diagnostics, to;
};

static int by_name(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = hs_str_cmp(x->name, y->name);

    if (c || x->content != y->content)
        return c ? c : x->content > y->content ? 1 : -1;
    return (x->diagnostics > y->diagnostics) - (x->diagnostics < y->diagnostics);
}

struct dump_place {
    uint32_t part, dump, source, rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct dump_place *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

static bool take_diagnostics(struct joining *j, uint32_t part, uint32_t source, uint32_t to)
{
    const struct hs_job *from = &j->parts[part];

    for (uint32_t i = 0; i < from->diagnostic_count; i++) {
        struct hs_diagnostic row = from->diagnostics[i];

        if (row.source != source)
            continue;
        row.source = to;
        row.excerpt = hs_join_string(j, part, row.excerpt);
        if (!hs_job_add_diagnostic(j->out, &row))
            return false;
    }
    return true;
}

/* A format's name in memory of the job's own: parts may have read theirs from a database. */
static bool keep_format(struct hs_job *out, const char *format, const char **kept)
{
    uint32_t id = format ? hs_intern_put(&out->strings, hs_str_of(format)) : HS_NO_ID;

    *kept = id == HS_NO_ID ? NULL : hs_intern_get(&out->strings, id).p;
    return !format || *kept;
}

/*
 * The same source in two parts: a shard that is merged twice counts once. Where it was a duplicate
 * of another file it has a diagnostic more, and stands behind: is_duplicate() will find that again.
 */
static bool is_same_source(const struct joining *j, const struct place *a, const struct place *b)
{
    const struct hs_source_row *x = &j->parts[a->part].sources[a->source];
    const struct hs_source_row *y = &j->parts[b->part].sources[b->source];

    return hs_str_eq(a->name, b->name) && x->content == y->content &&
           x->size_bytes == y->size_bytes && x->records == y->records &&
           hs_str_eq(hs_str_of(x->format ? x->format : ""), hs_str_of(y->format ? y->format : ""));
}

static bool note_duplicate(struct hs_job *job, uint32_t source)
{
    struct hs_diagnostic row = { .code = "duplicate-file",
                                 .source = source,
                                 .excerpt = HS_NO_ID,
                                 .offset_bytes = HS_NO_POSITION,
                                 .record = HS_NO_POSITION };

    job->sources[source].diagnostics++;
    return hs_job_add_diagnostic(job, &row);
}

/*
 * Lines that another file held before count once: the same bytes are one witness, not two.
 */
static bool take_lines_once(struct joining *j, const struct place *place)
{
    const struct hs_source_row *row = &j->out->sources[place->to];
    uint64_t key[2] = { row->content, row->size_bytes };
    struct hs_str bytes = { .p = (const char *)key, .n = sizeof(key) };
    uint32_t known = j->texts.count;

    if (!hs_join_has_lines(j, place->part, place->source))
        return hs_join_lines(j, place->part, place->source, place->to);
    if (hs_intern_put(&j->texts, bytes) == HS_NO_ID)
        return false;
    return j->texts.count > known ? hs_join_lines(j, place->part, place->source, place->to)
                                  : note_duplicate(j->out, place->to);
}

/* Sources in the order of their names, each with its diagnostics; `to` of each place is set. */
static bool take_sources(struct joining *j, struct place *places, size_t count)
{
    if (count)
        qsort(places, count, sizeof(*places), by_name);
    for (size_t i = 0; i < count; i++) {
        const struct hs_source_row *from = &j->parts[places[i].part].sources[places[i].source];
        uint32_t to;

        if (i > 0 && is_same_source(j, &places[i - 1], &places[i])) {
            places[i].to = HS_NO_ID;
            continue;
        }
        to = hs_job_add_source(j->out, places[i].name);
        if (to == HS_NO_ID)
            return false;
        places[i].to = to;
        if (!keep_format(j->out, from->format, &j->out->sources[to].format))
            return false;
        j->out->sources[to].size_bytes = from->size_bytes;
        j->out->sources[to].content = from->content;
        j->out->sources[to].records = from->records;
        j->out->sources[to].bids = hs_join_list(j, places[i].part, from->bids);
        j->out->sources[to].diagnostics = from->diagnostics;
        if (from->diagnostics && !take_diagnostics(j, places[i].part, places[i].source, to))
            return false;
        if (!take_lines_once(j, &places[i]))
            return false;
    }
    return true;
}

/* The same bytes for the same rank, read before under another name: one witness, not two. */
static bool is_duplicate(const struct hs_job *job, uint32_t rank, uint32_t source)
{
    const struct hs_source_row *row = &job->sources[source];

    for (uint32_t i = job->dump_count; rank != HS_NO_ID && i-- > 0;) {
        const struct hs_source_row *other = &job->sources[job->dumps[i].source];

        if (job->dumps[i].rank != rank)
            return false; /* dumps come in the order of ranks */
        if (other->content == row->content && other->size_bytes == row->size_bytes)
            return true;
    }
    return false;
}

static bool take_dumps(struct joining *j, struct dump_place *places, size_t count)
{
    if (count)
        qsort(places, count, sizeof(*places), by_rank);
    for (size_t i = 0; i < count; i++) {
        struct dump_place *p = &places[i];

        if (is_duplicate(j->out, p->rank, p->source)) {
            if (!note_duplicate(j->out, p->source))
                return false;
        } else if (!take_dump(j, p->part, &j->parts[p->part].dumps[p->dump], p->source)) {
            return false;
        }
    }
    return true;
}

/* Those of duplicates came last; they go where they would be read back: to their sources. */
static bool order_diagnostics(struct hs_job *job, struct hs_arena *arena)
{
    uint32_t *next = HS_NEW(arena, uint32_t, (size_t)job->source_count + 1);
    struct hs_diagnostic *rows = HS_NEW(arena, struct hs_diagnostic, job->diagnostic_count);

    if (!next || !rows)
        return false;
    memset(next, 0, ((size_t)job->source_count + 1) * sizeof(*next));
    for (uint32_t i = 0; i < job->diagnostic_count; i++)
        next[job->diagnostics[i].source + 1]++;
    for (uint32_t i = 1; i < job->source_count; i++)
        next[i] += next[i - 1];
    for (uint32_t i = 0; i < job->diagnostic_count; i++)
        rows[next[job->diagnostics[i].source]++] = job->diagnostics[i];
    if (job->diagnostic_count)
        memcpy(job->diagnostics, rows, job->diagnostic_count * sizeof(*rows));
    return true;
}

static bool join(struct joining *j, uint32_t count, struct hs_arena *arena)
{
    size_t sources = 0, dumps = 0, s = 0, d = 0;
    struct place *places;
    struct dump_place *dump_places;
    uint32_t **moved;

    for (uint32_t i = 0; i < count; i++) {
        sources += j->parts[i].source_count;
        dumps += j->parts[i].dump_count;
    }
    places = HS_NEW(arena, struct place, sources);
    dump_places = HS_NEW(arena, struct dump_place, dumps);
    moved = HS_NEW(arena, uint32_t *, count);
    if (!places || !dump_places || !moved || !hs_join_begin(j, count, arena))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        moved[i] = HS_NEW(arena, uint32_t, j->parts[i].source_count);
        if (!moved[i])
            return false;
        for (uint32_t k = 0; k < j->parts[i].source_count; k++)
            places[s++] =
                (struct place){ .name = hs_job_string(&j->parts[i], j->parts[i].sources[k].name),
                                .content = j->parts[i].sources[k].content,
                                .part = i,
                                .source = k,
                                .diagnostics = j->parts[i].sources[k].diagnostics };
    }
    if (!take_sources(j, places, sources))
        return false;
    for (size_t k = 0; k < sources; k++)
        moved[places[k].part][places[k].source] = places[k].to;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < j->parts[i].dump_count; k++) {
            const struct hs_dump *dump = &j->parts[i].dumps[k];
            uint32_t to = moved[i][dump->source];
            bool lost = dump->speaker != HS_NO_ID && !hs_join_taken(j, i, dump->source);

            if (to != HS_NO_ID && !lost)
                dump_places[d++] = (struct dump_place){
                    .part = i, .dump = k, .source = to, .rank = j->parts[i].dumps[k].rank
                };
        }
    }
    return take_dumps(j, dump_places, d) && order_diagnostics(j->out, arena);
}

enum hs_status hs_job_finish(struct hs_job *parts, uint32_t count, struct hs_job *out,
                             struct hs_err *err)
{
    struct joining j = { .parts = parts, .out = out };
    struct hs_arena arena;
    bool ok;

    hs_arena_init(&arena);
    hs_arena_init(&j.scratch);
    hs_intern_init(&j.texts);
    ok = join(&j, count, &arena);
    hs_arena_release(&arena);
    hs_arena_release(&j.scratch);
    hs_intern_release(&j.texts);
    return ok ? HS_OK : hs_no_memory(err);
}
