/* json.c - the verdict as the contract's object. Numbers that a double cannot hold go in raw. */
#include "analyzer/render/render.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

static cJSON *number_or_null(uint64_t value)
{
    char digits[24];

    if (value == HS_UNKNOWN)
        return cJSON_CreateNull();
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return cJSON_CreateRaw(digits);
}

static cJSON *rank_or_null(uint32_t rank)
{
    return number_or_null(rank == HS_NO_ID ? HS_UNKNOWN : rank);
}

/* Texts of a verdict are NUL-terminated (hs_arena_copy), and fit to print. */
static cJSON *text_or_null(struct hs_str text)
{
    return text.p ? cJSON_CreateString(text.p) : cJSON_CreateNull();
}

static cJSON *word_or_null(const char *word)
{
    return word ? cJSON_CreateString(word) : cJSON_CreateNull();
}

static cJSON *sentence(const struct hs_phrase *phrase, enum hs_language language)
{
    struct hs_buf buf;
    cJSON *item;

    hs_buf_init(&buf);
    hs_phrase_put(&buf, phrase, language);
    item = buf.failed ? NULL : cJSON_CreateString(buf.p ? buf.p : "");
    hs_buf_release(&buf);
    return item;
}

static cJSON *rank_list(const uint32_t *ranks, uint32_t count)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < count; i++)
        cJSON_AddItemToArray(list, rank_or_null(ranks[i]));
    return list;
}

static cJSON *culprit_list(const struct hs_culprit *culprits, uint32_t count)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < count; i++) {
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "rank", rank_or_null(culprits[i].rank));
        cJSON_AddItemToObject(row, "host", text_or_null(culprits[i].host));
        cJSON_AddItemToObject(row, "gpu", rank_or_null(culprits[i].gpu));
        cJSON_AddItemToObject(row, "bus_id", cJSON_CreateNull());
        cJSON_AddItemToObject(row, "role", word_or_null(culprits[i].role));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *operation_object(const struct hs_verdict *v)
{
    const struct hs_verdict_operation *o = &v->operation;
    cJSON *row = v->has_operation ? cJSON_CreateObject() : cJSON_CreateNull();

    if (!v->has_operation)
        return row;
    cJSON_AddItemToObject(row, "group", text_or_null(o->group));
    cJSON_AddItemToObject(row, "group_name", text_or_null(o->group_name));
    cJSON_AddItemToObject(row, "group_size", number_or_null(o->group_size));
    cJSON_AddItemToObject(row, "seq", number_or_null(o->seq));
    cJSON_AddItemToObject(row, "op", text_or_null(o->op));
    cJSON_AddItemToObject(row, "op_recorded", text_or_null(o->recorded));
    cJSON_AddItemToObject(row, "src", rank_or_null(o->src));
    cJSON_AddItemToObject(row, "dst", rank_or_null(o->dst));
    cJSON_AddItemToObject(row, "numel_in", number_or_null(o->numel_in));
    cJSON_AddItemToObject(row, "numel_out", number_or_null(o->numel_out));
    cJSON_AddItemToObject(row, "dtype", text_or_null(o->dtype));
    return row;
}

static const char *const confidences[] = { "low", "medium", "high" };
static const char *const severities[] = { "note", "warning", "error" };

/* What is known of a recorder's times. */
enum { EPOCH = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE | HS_CLOCK_FINE };

/*
 * RFC 3339 in UTC where the source gives an epoch or a zone; else as it stands there: without zone,
 * without year, without date. No finer than the source.
 */
static cJSON *time_or_null(int64_t ns, uint32_t clock)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char date[32], fraction[16] = "", text[64];
    const char *from = date;
    struct tm tm;

    if (ns <= 0 || clock & HS_CLOCK_BOOT || !gmtime_r(&seconds, &tm) ||
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return cJSON_CreateNull();
    if (!(clock & HS_CLOCK_YEAR))
        from += clock & HS_CLOCK_DATE ? strlen("1972-") : strlen("1972-01-01T");
    if (clock & HS_CLOCK_FINE)
        (void)snprintf(fraction, sizeof(fraction), ".%06d", (int)(ns % 1000000000 / 1000));
    (void)snprintf(text, sizeof(text), "%s%s%s", from, fraction, clock & HS_CLOCK_ZONE ? "Z" : "");
    return cJSON_CreateString(text);
}

static cJSON *verdict_object(const struct hs_verdict *v, enum hs_language language)
{
    bool is_epoch = v->hang_began_ns > 0 && v->hang_began_clock & HS_CLOCK_ZONE;
    cJSON *row = cJSON_CreateObject();

    cJSON_AddItemToObject(row, "code", word_or_null(v->code));
    cJSON_AddItemToObject(row, "cause", word_or_null(v->cause));
    cJSON_AddItemToObject(row, "confidence", word_or_null(confidences[v->confidence]));
    cJSON_AddItemToObject(row, "action", word_or_null(v->action));
    cJSON_AddItemToObject(row, "summary", sentence(&v->summary, language));
    cJSON_AddItemToObject(row, "culprits", culprit_list(v->culprits, v->culprit_count));
    cJSON_AddItemToObject(row, "operation", operation_object(v));
    cJSON_AddItemToObject(row, "waiting_ranks", rank_list(v->waiting, v->waiting_count));
    cJSON_AddItemToObject(row, "hang_began", time_or_null(v->hang_began_ns, v->hang_began_clock));
    cJSON_AddItemToObject(row, "hang_began_ns",
                          number_or_null(is_epoch ? (uint64_t)v->hang_began_ns : HS_UNKNOWN));
    return row;
}

static cJSON *alternative_list(const struct hs_verdict *v, enum hs_language language)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < v->alternative_count; i++) {
        const struct hs_alternative *a = &v->alternatives[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "code", word_or_null(a->code));
        cJSON_AddItemToObject(row, "confidence", word_or_null(confidences[a->confidence]));
        cJSON_AddItemToObject(row, "culprits", culprit_list(a->culprits, a->culprit_count));
        cJSON_AddItemToObject(row, "why", sentence(&a->why, language));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

/* The call and where in the user's code it stands. */
static cJSON *excerpt(const struct hs_evidence *e)
{
    struct hs_buf buf;
    cJSON *item;

    if (!e->stack.p)
        return text_or_null(e->excerpt);
    hs_buf_init(&buf);
    hs_buf_put(&buf, e->excerpt);
    hs_buf_put(&buf, HS_STR(", "));
    hs_buf_put(&buf, e->stack);
    item = buf.failed ? NULL : cJSON_CreateString(buf.p);
    hs_buf_release(&buf);
    return item;
}

static cJSON *evidence_list(const struct hs_finding *f)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < f->evidence_count; i++) {
        const struct hs_evidence *e = &f->evidence[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "source", text_or_null(e->source));
        cJSON_AddItemToObject(row, "line", number_or_null(e->line));
        cJSON_AddItemToObject(row, "record", number_or_null(e->record));
        cJSON_AddItemToObject(row, "offset", number_or_null(e->offset_bytes));
        cJSON_AddItemToObject(row, "rank", rank_or_null(e->rank));
        cJSON_AddItemToObject(row, "excerpt", excerpt(e));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *remedy_list(const char *code, enum hs_language language)
{
    const struct hs_topic *topic = hs_topic_find(code, language);
    cJSON *list = cJSON_CreateArray();

    if (topic && topic->remedy && *topic->remedy)
        cJSON_AddItemToArray(list, cJSON_CreateString(topic->remedy));
    return list;
}

static cJSON *finding_list(const struct hs_verdict *v, enum hs_language language)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < v->finding_count; i++) {
        const struct hs_finding *f = &v->findings[i];
        const struct hs_topic *topic = hs_topic_find(f->code, language);
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "code", word_or_null(f->code));
        cJSON_AddItemToObject(row, "severity", word_or_null(severities[f->severity]));
        cJSON_AddItemToObject(row, "title", word_or_null(topic ? topic->title : f->code));
        cJSON_AddItemToObject(row, "detail", sentence(&f->detail, language));
        cJSON_AddItemToObject(row, "ranks", rank_list(f->ranks, f->rank_count));
        cJSON_AddItemToObject(row, "evidence", evidence_list(f));
        cJSON_AddItemToObject(row, "remedy", remedy_list(f->code, language));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *source_list(const struct hs_verdict *v)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < v->source_count; i++) {
        const struct hs_source_coverage *s = &v->sources[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "path", text_or_null(s->path));
        cJSON_AddItemToObject(row, "format", word_or_null(s->format));
        cJSON_AddItemToObject(row, "records", number_or_null(s->records));
        cJSON_AddItemToObject(row, "diagnostics", number_or_null(s->diagnostics));
        cJSON_AddItemToObject(row, "standing", word_or_null(s->standing));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *attempt_list(const struct hs_verdict *v)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < v->attempt_count; i++) {
        const struct hs_attempt_coverage *a = &v->attempts[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "id", number_or_null(a->id));
        cJSON_AddItemToObject(row, "ranks", rank_list(a->ranks, a->rank_count));
        cJSON_AddItemToObject(row, "from", time_or_null(a->from_ns, EPOCH));
        cJSON_AddItemToObject(row, "to", time_or_null(a->to_ns, EPOCH));
        cJSON_AddItemToObject(row, "code", word_or_null(a->code));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *bound_list(const struct hs_verdict *v)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t i = 0; list && i < v->bound_count; i++) {
        const struct hs_bound *b = &v->bounds[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToObject(row, "rank", rank_or_null(b->rank));
        cJSON_AddItemToObject(row, "group", text_or_null(b->group));
        cJSON_AddItemToObject(row, "entered", number_or_null(b->entered));
        cJSON_AddItemToObject(row, "not_past", number_or_null(b->not_past));
        cJSON_AddItemToArray(list, row);
    }
    return list;
}

static cJSON *coverage_object(const struct hs_verdict *v)
{
    cJSON *row = cJSON_CreateObject();

    cJSON_AddItemToObject(row, "world_size", number_or_null(v->world_size));
    cJSON_AddItemToObject(row, "ranks_with_logs", rank_list(v->log_ranks, v->log_rank_count));
    cJSON_AddItemToObject(row, "ranks_with_dumps", rank_list(v->dump_ranks, v->dump_rank_count));
    cJSON_AddItemToObject(row, "ranks_silent", rank_list(v->silent_ranks, v->silent_rank_count));
    cJSON_AddItemToObject(row, "bounds", bound_list(v));
    cJSON_AddItemToObject(row, "attempts", attempt_list(v));
    cJSON_AddItemToObject(row, "sources", source_list(v));
    return row;
}

bool hs_render_json(const struct hs_verdict *v, enum hs_language language, struct hs_buf *out)
{
    cJSON *root = cJSON_CreateObject(), *steps = cJSON_CreateArray();
    char *text;

    for (uint32_t i = 0; i < v->next_count; i++)
        cJSON_AddItemToArray(steps, sentence(&v->next_steps[i], language));
    cJSON_AddItemToObject(root, "schema", cJSON_CreateString("hangscope.verdict/1"));
    cJSON_AddItemToObject(root, "verdict", verdict_object(v, language));
    cJSON_AddItemToObject(root, "alternatives", alternative_list(v, language));
    cJSON_AddItemToObject(root, "findings", finding_list(v, language));
    cJSON_AddItemToObject(root, "next_steps", steps);
    cJSON_AddItemToObject(root, "coverage", coverage_object(v));
    if (v->run.p)
        cJSON_AddItemToObject(root, "run", cJSON_CreateRaw(v->run.p));
    text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return false;
    hs_buf_put(out, hs_str_of(text));
    hs_buf_putc(out, '\n');
    cJSON_free(text);
    return !out->failed;
}
