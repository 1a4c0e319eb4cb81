/* line_telling.c - a claim from lines in the words of the contract, with the lines that prove it.
 */
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/limits.h"
#include "base/ranks.h"
#include "schema/text_blocks.h"

#include <stdlib.h>

enum { EVIDENCE = 12 };

static uint64_t known_or_null(uint64_t value)
{
    return value == HS_NO_POSITION ? HS_UNKNOWN : value;
}

static struct hs_str text_or_null(const struct hs_judged *j, uint32_t string,
                                  struct hs_arena *arena)
{
    return string == HS_NO_ID ? (struct hs_str){ .p = NULL } : hs_safe(j->job, string, arena);
}

/* c10d's spelling, whatever the line's is. */
static struct hs_str op_text(const struct hs_judged *j, uint32_t op, struct hs_arena *arena)
{
    const struct hs_operation_kind *kind = hs_operation_kind_of(hs_job_string(j->job, op));

    return op != HS_NO_ID && kind->op ? hs_str_of(kind->op) : text_or_null(j, op, arena);
}

/* "ALLREDUCE #943 of default_pg (2 elements)", as far as it is known. */
static struct hs_str wait_text(const struct hs_judged *j, const struct hs_line_wait *w,
                               struct hs_arena *arena)
{
    struct hs_buf buf;
    struct hs_str text;
    uint32_t group = w->group_desc != HS_NO_ID ? w->group_desc : w->group;

    hs_buf_init(&buf);
    if (w->op != HS_NO_ID)
        hs_buf_put(&buf, op_text(j, w->op, arena));
    else
        hs_buf_put(&buf, HS_STR("a call"));
    if (w->seq != HS_NO_POSITION)
        hs_buf_printf(&buf, " #%llu", (unsigned long long)w->seq);
    if (group != HS_NO_ID) {
        hs_buf_put(&buf, w->group_desc != HS_NO_ID ? HS_STR(" of ") : HS_STR(" of group "));
        hs_buf_put(&buf, hs_safe(j->job, group, arena));
    }
    if (w->numel_in != HS_NO_POSITION)
        hs_buf_printf(&buf, w->numel_in == 1 ? " (%llu element)" : " (%llu elements)",
                      (unsigned long long)w->numel_in);
    text = buf.failed ? (struct hs_str){ .p = NULL } : hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return text;
}

static void put_operation(const struct hs_judged *j, const struct hs_line_wait *w,
                          struct hs_verdict *v)
{
    struct hs_arena *arena = &v->arena;
    uint32_t group = w->group_desc != HS_NO_ID ? w->group_desc : w->group;

    v->has_operation = w->op != HS_NO_ID || w->seq != HS_NO_POSITION;
    v->operation = (struct hs_verdict_operation){
        .group = text_or_null(j, group, arena),
        .group_name = text_or_null(j, w->group, arena),
        .group_size = HS_UNKNOWN,
        .seq = known_or_null(w->seq),
        .op = op_text(j, w->op, arena),
        .recorded = { .p = NULL },
        .src = HS_NO_ID,
        .dst = HS_NO_ID,
        .numel_in = known_or_null(w->numel_in),
        .numel_out = known_or_null(w->numel_out),
        .dtype = { .p = NULL },
    };
}

/* What was kept of a line, fit to print. */
static struct hs_str excerpt_of(const struct hs_judged *j, uint32_t source, uint64_t line,
                                struct hs_arena *arena)
{
    struct hs_text_line kept;
    struct hs_str text = { .p = NULL };
    struct hs_arena scratch;
    struct hs_buf buf;

    hs_arena_init(&scratch);
    hs_buf_init(&buf);
    if (hs_text_find(j->job, source, line, &scratch, &kept)) {
        hs_buf_put_safe(&buf, kept.text, HS_EXCERPT_BYTES);
        if (!buf.failed)
            text = hs_arena_copy(arena, hs_buf_str(&buf));
    }
    hs_buf_release(&buf);
    hs_arena_release(&scratch);
    return text;
}

struct hs_evidence hs_line_evidence(const struct hs_judged *j, const struct hs_place *place,
                                    struct hs_arena *arena)
{
    return (struct hs_evidence){
        .source = hs_safe(j->job, j->job->sources[place->source].name, arena),
        .line = place->line,
        .record = HS_UNKNOWN,
        .offset_bytes = HS_UNKNOWN,
        .rank = place->rank,
        .excerpt = excerpt_of(j, place->source, place->line, arena),
    };
}

static bool put_evidence(const struct hs_judged *j, const struct hs_claim *claim,
                         struct hs_verdict *v, struct hs_finding *f)
{
    uint32_t count = claim->place_count < EVIDENCE ? claim->place_count : EVIDENCE;

    f->evidence = HS_NEW(&v->arena, struct hs_evidence, count);
    for (uint32_t i = 0; f->evidence && i < count; i++) {
        f->evidence[f->evidence_count] = hs_line_evidence(j, &claim->places[i], &v->arena);
        f->evidence_count += f->evidence[f->evidence_count].source.p != NULL;
    }
    return f->evidence != NULL;
}

static struct hs_str safe(struct hs_str text, struct hs_arena *arena)
{
    struct hs_buf buf;
    struct hs_str copy;

    hs_buf_init(&buf);
    hs_buf_put_safe(&buf, text, HS_EXCERPT_BYTES);
    copy = buf.failed ? (struct hs_str){ .p = NULL } : hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return copy;
}

bool hs_line_culprits(const struct hs_judged *j, const struct hs_line_claim *line,
                      struct hs_arena *arena, struct hs_culprit **out)
{
    *out = HS_NEW(arena, struct hs_culprit, line->named_count);
    for (uint32_t i = 0; *out && i < line->named_count; i++) {
        const struct hs_named *n = &line->named[i];
        struct hs_culprit *c = &(*out)[i];

        *c = (struct hs_culprit){ .rank = n->rank, .gpu = HS_NO_ID, .role = n->role };
        if (n->rank != HS_NO_ID)
            c->host = hs_host_of(j, n->rank, &c->gpu, arena);
        if (!c->host.p && n->host != HS_NO_ID)
            c->host = safe(j->identity->hosts[n->host], arena);
    }
    return *out != NULL;
}

/* Culprits as a sentence names them: by rank, else by host. */
static struct hs_str names_of(const struct hs_line_claim *line, const struct hs_culprit *culprits,
                              uint32_t *count, struct hs_arena *arena)
{
    uint32_t *ranks = HS_NEW(arena, uint32_t, line->named_count), n = 0;
    struct hs_str names = hs_str_of("");

    for (uint32_t i = 0; ranks && i < line->named_count; i++) {
        if (line->named[i].rank != HS_NO_ID)
            ranks[n++] = line->named[i].rank;
    }
    *count = n;
    if (n)
        return hs_rank_text(ranks, n, arena);
    for (uint32_t i = 0; i < line->named_count; i++) {
        if (!culprits[i].host.p)
            continue;
        names = hs_arena_printf(arena, "%.*s%s%.*s", HS_STR_ARG(names), names.n ? ", " : "",
                                HS_STR_ARG(culprits[i].host));
    }
    return names;
}

/* What a rule adds to its title stands behind it in parentheses. */
static struct hs_str detail_of(const struct hs_line_claim *line, struct hs_arena *arena)
{
    struct hs_buf buf;
    struct hs_str text;

    if (!line->detail.n)
        return hs_str_of("");
    hs_buf_init(&buf);
    hs_buf_put(&buf, line->rule ? HS_STR(" (") : HS_STR(""));
    hs_buf_put_safe(&buf, line->detail, HS_EXCERPT_BYTES);
    hs_buf_put(&buf, line->rule ? HS_STR(")") : HS_STR(""));
    text = buf.failed ? (struct hs_str){ .p = NULL } : hs_arena_copy(arena, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return text;
}

/* A fault is told with whom it befell: ranks, else hosts, else nobody. */
static const char *summary_of(const struct hs_line_claim *line)
{
    bool rank = false;

    for (uint32_t i = 0; i < line->named_count; i++)
        rank = rank || line->named[i].rank != HS_NO_ID;
    if (!line->rule)
        return line->summary;
    return rank                ? "summary.lines.fault"
           : line->named_count ? "summary.lines.fault.host"
                               : "summary.lines.fault.nobody";
}

bool hs_add_line_names(const struct hs_judged *j, const struct hs_line_claim *line,
                       const struct hs_culprit *culprits, struct hs_phrase *phrase,
                       struct hs_arena *arena)
{
    uint32_t count;
    struct hs_str names = names_of(line, culprits, &count, arena);
    struct hs_str host = count && culprits[0].host.p
                             ? hs_arena_printf(arena, " on %.*s", HS_STR_ARG(culprits[0].host))
                             : hs_str_of("");

    for (uint32_t i = 1; i < line->named_count && host.n; i++) {
        if (!hs_str_eq(culprits[i].host, culprits[0].host))
            host = hs_str_of("");
    }
    hs_phrase_add(phrase, "culprits", names, count);
    hs_phrase_add(phrase, "waiters", hs_rank_text(line->waiting, line->waiting_count, arena),
                  line->waiting_count);
    hs_phrase_add(phrase, "operation",
                  line->wait ? wait_text(j, line->wait, arena) : hs_str_of("?"), 1);
    hs_phrase_add(phrase, "other", line->other ? wait_text(j, line->other, arena) : hs_str_of(""),
                  1);
    hs_phrase_add(phrase, "host", host, 1);
    hs_phrase_add(phrase, "since",
                  line->began_ns ? hs_stamp_clock(line->began_ns, line->clock, arena)
                                 : hs_str_of(""),
                  line->began_ns != 0);
    hs_phrase_add(phrase, "detail", detail_of(line, arena), 1);
    hs_phrase_add(phrase, "topic", hs_arena_copy(arena, hs_str_of(line->rule ? line->rule : "")),
                  1);
    return names.p != NULL;
}

bool hs_tell_line_claim(const struct hs_judged *j, const struct hs_claim *claim,
                        struct hs_verdict *v)
{
    const struct hs_line_claim *line = claim->line;
    struct hs_finding *f;
    uint32_t *ranks = HS_NEW(&v->arena, uint32_t, line->named_count);

    if (!ranks || !hs_line_culprits(j, line, &v->arena, &v->culprits))
        return false;
    v->culprit_count = line->named_count;
    v->cause = claim->cause;
    v->hang_began_ns = line->began_ns;
    v->hang_began_clock = line->clock;
    v->waiting = line->waiting;
    v->waiting_count = line->waiting_count;
    if (line->wait)
        put_operation(j, line->wait, v);
    v->summary.key = summary_of(line);
    v->why.key = line->why;
    if (!hs_add_line_names(j, line, v->culprits, &v->summary, &v->arena) ||
        !hs_add_line_names(j, line, v->culprits, &v->why, &v->arena))
        return false;
    f = hs_add_finding(v, v->code, HS_ERROR);
    if (!f)
        return false;
    f->detail = v->summary;
    for (uint32_t i = 0; i < line->named_count; i++) {
        if (line->named[i].rank != HS_NO_ID)
            ranks[f->rank_count++] = line->named[i].rank;
    }
    f->ranks = ranks;
    return put_evidence(j, claim, v, f);
}
