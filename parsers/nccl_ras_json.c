/*
 * nccl_ras_json.c - the same report as JSON (NCCL 2.28.7 and later), and what RAS tells whoever
 * monitors it (2.29.2 and later).
 *
 * How far ranks have come is told as in the text: for each operation how many ranks have launched
 * it how often, and where that differs, each rank. NCCL 2.28 leaves out a comma in front of the
 * status of missing ranks; it is put back before reading.
 */
#include "parsers/clock.h"
#include "parsers/json_text.h"
#include "parsers/nccl_ras.h"

#include <stdlib.h>

#define OPS_MAX 16u
#define LEVELS_MAX 16u

/* How often a rank has launched each operation. */
struct counts {
    struct {
        struct hs_str op, count;
    } rows[OPS_MAX];
    uint32_t n;
};

/* How many ranks of a communicator have launched an operation how often. */
struct op_levels {
    struct hs_str op;
    struct {
        struct hs_str count;
        uint64_t ranks;
    } levels[LEVELS_MAX];
    uint32_t n;
};

struct ops {
    struct op_levels rows[OPS_MAX];
    uint32_t n;
};

struct ras_rank {
    struct hs_record_value values[12];
    uint32_t n;
    struct counts counts;
    uint64_t init_state, async_error;
    bool finalize, abort, unresponsive, dead, has_status;
};

struct ras_communicator {
    struct hs_str hash, size, present, missing;
    bool said;
};

static void add(struct hs_record_value *values, uint32_t *n, const char *name, struct hs_str text)
{
    if (text.p && text.n && !hs_str_is(text, "-1") && !hs_str_is(text, "unknown"))
        values[(*n)++] = (struct hs_record_value){ name, text };
}

static void say(struct hs_json_text *doc, const char *what, const struct hs_record_value *values,
                uint32_t count)
{
    struct hs_record_value all[20] = { { "what", hs_str_of(what) } };

    memcpy(all + 1, values, count * sizeof(*values));
    hs_records_say(doc->text, &(struct hs_told){ .family = HS_RAS_FAMILY,
                                                 .head = &doc->head,
                                                 .speaker = doc->text->speaker,
                                                 .stack = HS_NO_ID,
                                                 .values = all,
                                                 .count = count + 1 });
}

/* ---- ranks ---- */

static uint64_t number_of(const struct hs_json_text *doc, enum hs_json_kind kind)
{
    return kind == HS_JSON_INT && doc->token.i >= 0 ? (uint64_t)doc->token.i : 0;
}

/* An object; `take` gets each of its values, and passes over it. False where the document ends. */
typedef bool member_fn(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind,
                       void *out);

static bool read_members(struct hs_json_text *doc, member_fn *take, void *out)
{
    for (;;) {
        enum hs_json_kind kind = hs_json_text_next(doc);
        struct hs_str key = doc->token.text;

        if (kind == HS_JSON_OBJECT_END)
            return true;
        if (kind != HS_JSON_KEY)
            return false;
        kind = hs_json_text_next(doc);
        if (kind == HS_JSON_ERROR || !take(doc, key, kind, out))
            return false;
    }
}

static bool take_status(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind,
                        void *out)
{
    struct ras_rank *rank = out;
    bool yes = kind == HS_JSON_TRUE;

    rank->has_status = true;
    if (hs_str_is(key, "init_state"))
        rank->init_state = number_of(doc, kind);
    else if (hs_str_is(key, "async_error"))
        rank->async_error = number_of(doc, kind);
    else if (hs_str_is(key, "finalize_called") || hs_str_is(key, "destroy_flag"))
        rank->finalize = rank->finalize || yes;
    else if (hs_str_is(key, "abort_flag"))
        rank->abort = yes;
    else if (hs_str_is(key, "unresponsive"))
        rank->unresponsive = yes;
    else if (hs_str_is(key, "considered_dead"))
        rank->dead = yes;
    return hs_json_text_skip(doc, kind);
}

static bool take_op(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind, void *out)
{
    struct counts *counts = out;
    struct hs_str count = hs_json_text_value(doc, kind);

    if (count.p && counts->n < OPS_MAX) {
        counts->rows[counts->n].op = key;
        counts->rows[counts->n++].count = count;
    }
    return hs_json_text_skip(doc, kind);
}

static bool take_rank(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind,
                      void *out)
{
    static const struct {
        const char *key, *name;
    } names[] = { { "rank", "rank" },
                  { "host", "host" },
                  { "pid", "pid" },
                  { "cuda_dev", "gpu" },
                  { "nvml_dev", "nvml_device" } };
    struct ras_rank *rank = out;

    if (kind == HS_JSON_OBJECT && hs_str_is(key, "status"))
        return read_members(doc, take_status, rank);
    if (kind == HS_JSON_OBJECT && hs_str_is(key, "collective_counts"))
        return read_members(doc, take_op, &rank->counts);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (hs_str_is(key, names[i].key) && rank->n < sizeof(names) / sizeof(names[0]))
            add(rank->values, &rank->n, names[i].name, hs_json_text_value(doc, kind));
    }
    return hs_json_text_skip(doc, kind);
}

/* What text calls its status; 7 is "in progress", other numbers are errors. */
static const char *state_of(const struct ras_rank *rank)
{
    if (rank->abort)
        return "ABORT";
    if (rank->finalize)
        return "FINALIZE";
    return rank->init_state == 0 ? "RUNNING" : "INIT";
}

static struct op_levels *find_op(struct ops *ops, struct hs_str op)
{
    for (uint32_t i = 0; i < ops->n; i++) {
        if (hs_str_eq(ops->rows[i].op, op))
            return &ops->rows[i];
    }
    return NULL;
}

static void say_rank(struct hs_json_text *doc, const struct ras_communicator *comm,
                     struct ras_rank *rank, struct ops *ops, bool missing)
{
    char code[24];
    uint64_t error = rank->async_error && rank->async_error != 7 ? rank->async_error
                     : rank->init_state != 7                     ? rank->init_state
                                                                 : 0;

    add(rank->values, &rank->n, "commid", comm->hash);
    if (missing) {
        add(rank->values, &rank->n, "error",
            hs_str_of(rank->dead           ? "dead"
                      : rank->unresponsive ? "unresponsive"
                                           : ""));
        say(doc, "missing", rank->values, rank->n);
        return;
    }
    if (rank->has_status) {
        add(rank->values, &rank->n, "state", hs_str_of(state_of(rank)));
        (void)snprintf(code, sizeof(code), "%llu", (unsigned long long)error);
        if (error)
            add(rank->values, &rank->n, "error", hs_str_of(code));
    }
    say(doc, "rank", rank->values, rank->n);
    for (uint32_t i = 0; i < rank->counts.n; i++) {
        const struct op_levels *levels = find_op(ops, rank->counts.rows[i].op);

        if (!levels || levels->n < 2)
            continue;
        rank->values[rank->n] = (struct hs_record_value){ "op", levels->op };
        rank->values[rank->n + 1] = (struct hs_record_value){ "seq", rank->counts.rows[i].count };
        say(doc, "rank", rank->values, rank->n + 2);
    }
}

static void note_counts(struct ops *ops, const struct counts *counts)
{
    for (uint32_t i = 0; i < counts->n; i++) {
        struct op_levels *levels = find_op(ops, counts->rows[i].op);
        uint32_t l = 0;

        if (!levels && ops->n < OPS_MAX) {
            levels = &ops->rows[ops->n++];
            *levels = (struct op_levels){ .op = counts->rows[i].op };
        }
        if (!levels)
            continue;
        while (l < levels->n && !hs_str_eq(levels->levels[l].count, counts->rows[i].count))
            l++;
        if (l == LEVELS_MAX)
            continue;
        if (l == levels->n) {
            levels->levels[l].count = counts->rows[i].count;
            levels->levels[l].ranks = 0;
            levels->n++;
        }
        levels->levels[l].ranks++;
    }
}

/*
 * "26 ranks have launched up to operation 6650", for each operation that some rank has launched.
 * Where all have launched it equally often they are even, which the text does not say.
 */
static void say_levels(struct hs_json_text *doc, const struct ras_communicator *comm,
                       const struct ops *ops)
{
    for (uint32_t i = 0; i < ops->n; i++) {
        const struct op_levels *levels = &ops->rows[i];

        if (levels->n == 1 && hs_str_is(levels->levels[0].count, "0"))
            continue;
        for (uint32_t l = 0; l < levels->n; l++) {
            struct hs_record_value values[4];
            char ranks[24];
            uint32_t n = 0;

            (void)snprintf(ranks, sizeof(ranks), "%llu",
                           (unsigned long long)levels->levels[l].ranks);
            add(values, &n, "commid", comm->hash);
            add(values, &n, "op", levels->op);
            add(values, &n, "seq", levels->levels[l].count);
            add(values, &n, "count", hs_str_of(ranks));
            say(doc, levels->n > 1 ? "ranks" : "even", values, n);
        }
    }
}

/* The list of ranks: once to count, once to tell. */
static bool read_ranks(struct hs_json_text *doc, const struct ras_communicator *comm, bool missing,
                       struct ops *ops, bool tell)
{
    for (;;) {
        struct ras_rank rank = { .n = 0 };
        enum hs_json_kind kind = hs_json_text_next(doc);

        if (kind == HS_JSON_ARRAY_END)
            return true;
        if (kind != HS_JSON_OBJECT)
            return false;
        if (tell)
            hs_json_text_mark(doc);
        if (!read_members(doc, take_rank, &rank))
            return false;
        if (tell)
            say_rank(doc, comm, &rank, ops, missing);
        else
            note_counts(ops, &rank.counts);
        hs_arena_reset(&doc->arena);
    }
}

static bool tell_ranks(struct hs_json_text *doc, const struct ras_communicator *comm, bool missing)
{
    struct hs_json start = doc->json;
    struct ops ops = { .n = 0 };

    if (!missing) {
        (void)read_ranks(doc, comm, missing, &ops, false); /* as far as it goes */
        doc->json = start;
        say_levels(doc, comm, &ops);
    }
    return read_ranks(doc, comm, missing, &ops, true);
}

/* ---- communicators ---- */

static bool take_communicator(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind,
                              void *out)
{
    struct ras_communicator *comm = out;
    const struct {
        const char *key;
        struct hs_str *to;
    } scalars[] = { { "hash", &comm->hash },
                    { "size", &comm->size },
                    { "ranks_count", &comm->present },
                    { "missing_ranks_count", &comm->missing } };
    bool ranks = hs_str_is(key, "ranks"), missing = hs_str_is(key, "missing_ranks");

    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        if (hs_str_is(key, scalars[i].key) && !doc->token.escaped)
            *scalars[i].to = hs_json_text_value(doc, kind);
    }
    if (kind != HS_JSON_ARRAY || (!ranks && !missing))
        return hs_json_text_skip(doc, kind);
    if (!comm->said) {
        struct hs_record_value values[4];
        uint32_t n = 0;

        add(values, &n, "commid", comm->hash);
        add(values, &n, "nranks", comm->size);
        add(values, &n, "ranks", comm->present);
        add(values, &n, "missing", comm->missing);
        say(doc, "communicator", values, n);
        comm->said = true;
    }
    return tell_ranks(doc, comm, missing);
}

static bool read_communicators(struct hs_json_text *doc)
{
    for (;;) {
        struct ras_communicator comm = { .said = false };
        enum hs_json_kind kind = hs_json_text_next(doc);

        if (kind == HS_JSON_ARRAY_END)
            return true;
        if (kind != HS_JSON_OBJECT)
            return false;
        hs_json_text_mark(doc);
        if (!read_members(doc, take_communicator, &comm))
            return false;
    }
}

/* ---- the document ---- */

/* What happened, as a monitor is told. */
struct monitored {
    struct hs_str event, details;
    struct hs_record_value values[6];
    uint32_t n;
};

static bool take_peer(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind,
                      void *out)
{
    struct monitored *m = out;

    if (m->n < 4 && (hs_str_is(key, "host") || hs_str_is(key, "addr")))
        add(m->values, &m->n, "host", hs_json_text_value(doc, kind));
    else if (m->n < 4 && hs_str_is(key, "pid"))
        add(m->values, &m->n, "pid", hs_json_text_value(doc, kind));
    return hs_json_text_skip(doc, kind);
}

static void take_fact(struct hs_json_text *doc, const char *name, enum hs_json_kind kind)
{
    struct hs_record record;
    struct hs_str value = hs_json_text_value(doc, kind);

    hs_record_clear(&record);
    record.line = doc->line;
    if (value.p && !hs_text_fact(doc->text, &record, hs_str_of(name), value))
        doc->text->no_memory = true;
}

static bool take_top(struct hs_json_text *doc, struct hs_str key, enum hs_json_kind kind, void *out)
{
    static const struct {
        const char *key, *fact;
    } facts[] = { { "nccl_version", "ras_version.version" },
                  { "cuda_runtime_version", "ras_cuda.runtime" },
                  { "cuda_driver_version", "ras_cuda.driver" } };
    struct monitored *m = out;
    struct hs_stamp stamp;

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (hs_str_is(key, facts[i].key))
            take_fact(doc, facts[i].fact, kind);
    }
    if (kind == HS_JSON_ARRAY && hs_str_is(key, "communicators"))
        return read_communicators(doc);
    if (kind == HS_JSON_OBJECT && hs_str_is(key, "peer"))
        return read_members(doc, take_peer, m);
    if (hs_str_is(key, "timestamp") && hs_clock_read(hs_json_text_value(doc, kind), &stamp))
        doc->head.stamp = stamp;
    else if (hs_str_is(key, "event"))
        m->event = hs_json_text_value(doc, kind);
    else if (hs_str_is(key, "details") && kind == HS_JSON_STRING)
        m->details = hs_json_text_value(doc, kind);
    return hs_json_text_skip(doc, kind);
}

static void read_document(struct hs_json_text *doc)
{
    struct monitored m = { .n = 0 };
    enum hs_json_kind kind = hs_json_text_next(doc);

    hs_arena_reset(&doc->arena);
    if (kind != HS_JSON_OBJECT) {
        while (kind != HS_JSON_ERROR && kind != HS_JSON_END)
            kind = hs_json_text_next(doc);
        return;
    }
    hs_json_text_mark(doc);
    if (!read_members(doc, take_top, &m) || !m.event.p)
        return;
    add(m.values, &m.n, "event", m.event);
    add(m.values, &m.n, "message", m.details);
    say(doc, "monitor", m.values, m.n);
}

/* Replies of the socket in front of the document become blanks, so that lines stay where they are;
 * `"nvml_dev": 5` and `"status"` with nothing but white space between them get their comma. */
static bool repair(struct hs_buf *bytes)
{
    static const char key[] = "\"nvml_dev\"";
    struct hs_buf out;
    const char *at = bytes->p, *end = bytes->p + bytes->n, *hit;

    for (char *p = bytes->p; p < end && *p != '{'; p++)
        *p = *p == '\n' ? '\n' : ' ';
    hs_buf_init(&out);
    while (at < end && (hit = memmem(at, (size_t)(end - at), key, sizeof(key) - 1))) {
        const char *p = hit + sizeof(key) - 1, *number;

        while (p < end && (*p == ':' || *p == ' ' || *p == '-' || (*p >= '0' && *p <= '9')))
            p++;
        number = p;
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
            p++;
        hs_buf_put(&out, (struct hs_str){ .p = at, .n = (size_t)(number - at) });
        if (p < end && *p == '"')
            hs_buf_putc(&out, ',');
        at = number;
    }
    hs_buf_put(&out, (struct hs_str){ .p = at, .n = (size_t)(end - at) });
    if (out.failed) {
        hs_buf_release(&out);
        return false;
    }
    hs_buf_release(bytes);
    *bytes = out;
    return true;
}

static bool end(void *self)
{
    struct hs_json_text *doc = self;
    bool ok = doc->bytes.n == 0 || repair(&doc->bytes);

    doc->text->no_memory = doc->text->no_memory || !ok;
    return hs_json_text_end(doc, read_document) && ok;
}

static unsigned probe(struct hs_str head)
{
    static const char *const report[] = { "\"nccl_version\"", "\"cuda_runtime_version\"",
                                          "\"cuda_driver_version\"" };
    static const char *const monitor[] = { "\"timestamp\"", "\"group\"", "\"event\"", "\"peer\"" };
    unsigned bits;
    size_t brace = hs_find(head, "{");

    /* The socket replies in plain words first. */
    if (brace == SIZE_MAX || (brace && !hs_str_starts(head, HS_STR("SERVER PROTOCOL ")) &&
                              !hs_str_starts(head, HS_STR("OK")) && brace > 8))
        return 0;
    bits = hs_json_text_probe(hs_from(head, brace), '{', report, 3);
    return bits ? bits : hs_json_text_probe(hs_from(head, brace), '{', monitor, 4);
}

static const struct hs_stream stream = { .begin = hs_json_text_begin,
                                         .feed = hs_json_text_feed,
                                         .end = end };

const struct hs_parser hs_parser_nccl_ras_json = {
    .name = "nccl-ras-json",
    .summary = "report of NCCL's RAS as JSON (ncclras -f json)",
    .probe = probe,
    .stream = &stream,
};
