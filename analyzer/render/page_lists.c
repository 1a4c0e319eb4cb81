/* page_lists.c - the small half of the page's data: sentences, names and short lists, as JSON. */
#include "analyzer/render/page.h"

static void put_topics(struct hs_page_blob *blob)
{
    const struct hs_verdict *v = blob->page->verdict;
    const struct hs_report *r = blob->page->report;
    enum hs_language language = blob->page->language;

    hs_json_open(&blob->json, "topics", '{');
    for (size_t i = 0;; i++) {
        const struct hs_topic *t = hs_topic_at(i, language);
        bool met;

        if (!t)
            break;
        met = strcmp(t->code, v->code) == 0 || (v->cause && strcmp(t->code, v->cause) == 0);
        for (uint32_t k = 0; k < v->finding_count && !met; k++)
            met = strcmp(t->code, v->findings[k].code) == 0;
        for (uint32_t k = 0; k < v->alternative_count && !met; k++)
            met = strcmp(t->code, v->alternatives[k].code) == 0;
        for (uint32_t k = 0; k < r->diagnostic_count && !met; k++)
            met = strcmp(t->code, r->diagnostics[k].code) == 0;
        if (!met)
            continue;
        hs_json_open(&blob->json, t->code, '{');
        hs_json_word(&blob->json, "kind", hs_topic_kind_name(t->kind));
        hs_json_word(&blob->json, "severity", t->severity);
        hs_json_word(&blob->json, "title", t->title);
        hs_json_word(&blob->json, "means", t->means);
        hs_json_word(&blob->json, "remedy", t->remedy);
        hs_json_close(&blob->json, '{');
    }
    hs_json_close(&blob->json, '{');
}

static void put_names(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    const struct hs_verdict *v = blob->page->verdict;

    hs_json_open(&blob->json, "hosts", '[');
    for (uint32_t i = 0; i < r->hosts.count; i++)
        hs_json_text(&blob->json, NULL, hs_intern_get(&r->hosts, i));
    hs_json_close(&blob->json, '[');
    hs_json_open(&blob->json, "sources", '[');
    for (uint32_t i = 0; i < v->source_count; i++)
        hs_json_text(&blob->json, NULL, v->sources[i].path);
    hs_json_close(&blob->json, '[');
}

static void put_classes(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_word(out, "fold", r->by_place ? "places" : "calls");
    hs_json_open(out, "classes", '[');
    for (uint32_t i = 0; i < r->class_count; i++) {
        const struct hs_report_class *c = &r->classes[i];

        hs_json_open(out, NULL, '{');
        hs_json_ranks(out, "ranks", c->ranks, c->rank_count);
        hs_json_u64(out, "count", c->rank_count);
        hs_json_u64(out, "role", c->role);
        hs_json_bool(out, "culprit", c->role == HS_ROLE_CULPRIT);
        hs_json_phrase(out, "where", &c->where, blob->page->language);
        hs_json_id(out, "stack", c->stack);
        hs_json_text(out, "stack_text", c->stack_text);
        hs_json_text(out, "host", c->host);
        hs_json_u64(out, "example", c->example);
        hs_json_u64(out, "groups", c->group_count);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_signatures(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "signatures", '[');
    for (uint32_t i = 0; i < r->signature_count; i++) {
        const struct hs_report_signature *s = &r->signatures[i];

        hs_json_open(out, NULL, '{');
        hs_json_text(out, "op", s->op);
        hs_json_text(out, "recorded", s->recorded);
        hs_json_text(out, "dtype", s->dtype_in);
        hs_json_text(out, "dtype_out", s->dtype_out);
        hs_json_text(out, "shape_in", s->shape_in);
        hs_json_text(out, "shape_out", s->shape_out);
        hs_json_u64(out, "numel_in", s->numel_in);
        hs_json_u64(out, "numel_out", s->numel_out);
        hs_json_u64(out, "timeout_ms", s->timeout_ms ? s->timeout_ms : HS_UNKNOWN);
        hs_json_id(out, "src", s->src);
        hs_json_id(out, "dst", s->dst);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_stacks(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "frames", '[');
    for (uint32_t i = 0; i < r->frame_count; i++) {
        hs_json_open(out, NULL, '{');
        hs_json_text(out, "function", r->frames[i].function);
        hs_json_text(out, "file", r->frames[i].file);
        hs_json_u64(out, "line", r->frames[i].line);
        hs_json_bool(out, "user", r->frames[i].user);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_open(out, "stacks", '[');
    for (uint32_t i = 0; i < r->stack_count; i++)
        hs_json_list(out, NULL, r->stacks[i].frames, r->stacks[i].count);
    hs_json_close(out, '[');
}

static void put_groups(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "kinds", '[');
    for (uint32_t i = 0; i < r->kind_count; i++)
        hs_json_text(out, NULL, r->kinds[i]);
    hs_json_close(out, '[');
    hs_json_open(out, "groups", '[');
    for (uint32_t i = 0; i < r->group_count; i++) {
        const struct hs_report_group *g = &r->groups[i];

        hs_json_open(out, NULL, '{');
        hs_json_text(out, "label", g->label);
        hs_json_text(out, "name", g->name);
        hs_json_text(out, "desc", g->desc);
        hs_json_text(out, "backend", g->backend);
        hs_json_u64(out, "size", g->size);
        hs_json_u64(out, "kind", g->kind);
        hs_json_u64(out, "finished", g->finished);
        hs_json_u64(out, "proved", g->proved);
        hs_json_bool(out, "pairs", g->pairs);
        hs_json_bool(out, "assumed", g->assumed);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_span(struct hs_buf *out, const char *key, int64_t ns)
{
    if (ns == HS_NO_DURATION)
        hs_json_u64(out, key, HS_UNKNOWN);
    else
        hs_json_i64(out, key, ns);
}

static void put_arrivals(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "arrival", '{');
    hs_json_u64(out, "compared", r->compared);
    hs_json_open(out, "rows", '[');
    for (uint32_t i = 0; i < r->arrival_count; i++) {
        const struct hs_report_arrival *a = &r->arrivals[i];

        hs_json_open(out, NULL, '{');
        hs_json_u64(out, "group", a->group);
        hs_json_u64(out, "rank", a->rank);
        hs_json_u64(out, "last", a->last);
        hs_json_u64(out, "of", a->of);
        put_span(out, "median_late_ns", a->median_late_ns);
        put_span(out, "max_late_ns", a->max_late_ns);
        put_span(out, "bound_ns", a->bound_ns);
        hs_json_bool(out, "habitual", a->habitual);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_open(out, "clocks", '[');
    for (uint32_t i = 0; i < r->clock_count; i++) {
        const struct hs_report_clock *c = &r->clocks[i];

        hs_json_open(out, NULL, '{');
        hs_json_text(out, "host", c->host);
        hs_json_u64(out, "rank", c->rank);
        put_span(out, "offset_ns", c->offset_ns);
        put_span(out, "bound_ns", c->bound_ns);
        hs_json_u64(out, "ties", c->ties);
        hs_json_bool(out, "reference", c->reference);
        hs_json_bool(out, "contradicted", c->contradicted);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_close(out, '{');
}

static void put_edges(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "edges", '[');
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct hs_report_edge *e = &r->edges[i];

        hs_json_open(out, NULL, '{');
        hs_json_u64(out, "from", e->from);
        hs_json_u64(out, "to", e->to);
        hs_json_text(out, "operation", e->operation);
        hs_json_id(out, "group", e->group);
        hs_json_id(out, "seq", e->seq);
        hs_json_word(out, "how", e->how);
        hs_json_u64(out, "waiters", e->waiters);
        hs_json_u64(out, "holders", e->holders);
        hs_json_u64(out, "operations", e->operations);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_waits(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "waits", '{');
    put_edges(blob);
    hs_json_open(out, "roots", '[');
    for (uint32_t i = 0; i < r->root_count; i++) {
        const struct hs_report_root *root = &r->roots[i];

        hs_json_open(out, NULL, '{');
        hs_json_word(out, "kind", root->kind);
        hs_json_list(out, "classes", root->classes, root->class_count);
        hs_json_ranks(out, "ranks", root->ranks, root->rank_count);
        hs_json_u64(out, "reach", root->reach);
        hs_json_text(out, "operation", root->operation);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_open(out, "cycles", '[');
    for (uint32_t i = 0; i < r->cycle_count; i++) {
        const struct hs_report_cycle *c = &r->cycles[i];

        hs_json_open(out, NULL, '{');
        hs_json_list(out, "classes", c->classes, c->class_count);
        hs_json_ranks(out, "ranks", c->ranks, c->rank_count);
        hs_json_ranks(out, "odd", c->odd, c->odd_count);
        hs_json_u64(out, "groups", c->groups);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_close(out, '{');
}

static void put_communicator(struct hs_buf *out, const struct hs_report_communicator *c)
{
    char id[24];

    (void)snprintf(id, sizeof(id), "%016llx", (unsigned long long)c->id);
    hs_json_open(out, NULL, '{');
    hs_json_word(out, "id", c->id ? id : NULL);
    hs_json_u64(out, "size", c->size);
    hs_json_u64(out, "seen", c->seen);
    hs_json_word(out, "how", c->how);
    if (c->ranks)
        hs_json_list(out, "ranks", c->ranks, c->size);
    hs_json_open(out, "rings", '[');
    for (uint32_t i = 0; i < c->ring_count; i++) {
        hs_json_open(out, NULL, '{');
        hs_json_ranks(out, "channels", c->rings[i].channels, c->rings[i].channel_count);
        hs_json_list(out, "order", c->rings[i].order, c->rings[i].order_count);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_open(out, "transports", '[');
    for (uint32_t i = 0; i < c->transport_count; i++) {
        hs_json_open(out, NULL, '{');
        hs_json_text(out, "kind", c->transports[i].kind);
        hs_json_text(out, "via", c->transports[i].via);
        hs_json_u64(out, "links", c->transports[i].links);
        hs_json_u64(out, "channels", c->transports[i].channels);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
    hs_json_close(out, '{');
}

static void put_settings(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "environment", '[');
    for (uint32_t i = 0; i < r->setting_count; i++) {
        const struct hs_report_setting *s = &r->settings[i];

        hs_json_open(out, NULL, '{');
        hs_json_text(out, "name", s->name);
        hs_json_bool(out, "differs", s->differs);
        hs_json_open(out, "values", '[');
        for (uint32_t k = 0; k < s->value_count; k++) {
            hs_json_open(out, NULL, '{');
            hs_json_text(out, "value", s->values[k].value);
            hs_json_list(out, "hosts", s->values[k].hosts, s->values[k].host_count);
            hs_json_ranks(out, "ranks", s->values[k].ranks, s->values[k].rank_count);
            hs_json_list(out, "sources", s->values[k].sources, s->values[k].source_count);
            hs_json_u64(out, "lines", s->values[k].lines);
            hs_json_close(out, '{');
        }
        hs_json_close(out, '[');
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_contexts(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_open(out, "evidence", '[');
    for (uint32_t i = 0; i < r->context_count; i++) {
        const struct hs_report_context *c = &r->contexts[i];

        hs_json_open(out, NULL, '{');
        hs_json_u64(out, "finding", c->finding);
        hs_json_u64(out, "evidence", c->evidence);
        hs_json_id(out, "at", c->at);
        hs_json_open(out, "lines", '[');
        for (uint32_t k = 0; k < c->line_count; k++) {
            hs_json_open(out, NULL, '{');
            hs_json_u64(out, "line", c->lines[k].first);
            hs_json_u64(out, "last", c->lines[k].last);
            hs_json_u64(out, "count", c->lines[k].count);
            hs_json_text(out, "text", c->lines[k].text);
            hs_json_close(out, '{');
        }
        hs_json_close(out, '[');
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

static void put_diagnostics(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;

    hs_json_u64(out, "diagnostics_total", r->diagnostic_count + r->diagnostics_left);
    hs_json_open(out, "diagnostics", '[');
    for (uint32_t i = 0; i < r->diagnostic_count; i++) {
        const struct hs_report_diagnostic *d = &r->diagnostics[i];

        hs_json_open(out, NULL, '{');
        hs_json_word(out, "code", d->code);
        hs_json_id(out, "source", d->source);
        hs_json_u64(out, "record", d->record);
        hs_json_u64(out, "offset", d->offset_bytes);
        hs_json_text(out, "excerpt", d->excerpt);
        hs_json_close(out, '{');
    }
    hs_json_close(out, '[');
}

/* What is not in the page, and how to get at it. */
static void put_rest(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;
    struct hs_buf *out = &blob->json;
    const struct {
        const char *key;
        uint64_t count;
    } left[] = { { "columns", r->columns_left },
                 { "records", r->records_left },
                 { "ranks", r->ranks_left },
                 { "diagnostics", r->diagnostics_left } };

    hs_json_open(out, "sql", '{');
    hs_json_word(out, "ingest", "hangscope ingest PATH -o job.db");
    hs_json_word(out, "call",
                 "hangscope sql job.db \"SELECT * FROM calls WHERE rank = {rank} AND "
                 "process_group = '{group}' AND seq = {seq}\"");
    hs_json_word(
        out, "rank",
        "hangscope sql job.db \"SELECT * FROM calls WHERE rank = {rank} ORDER BY record\"");
    hs_json_close(out, '{');
    hs_json_open(out, "left_out", '{');
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        if (left[i].count)
            hs_json_u64(out, left[i].key, left[i].count);
    }
    hs_json_close(out, '{');
}

void hs_page_put_lists(struct hs_page_blob *blob)
{
    const struct hs_report *r = blob->page->report;

    put_topics(blob);
    put_names(blob);
    put_classes(blob);
    put_signatures(blob);
    put_stacks(blob);
    put_groups(blob);
    put_arrivals(blob);
    put_waits(blob);
    hs_json_open(&blob->json, "topology", '{');
    hs_json_open(&blob->json, "communicators", '[');
    for (uint32_t i = 0; i < r->communicator_count; i++)
        put_communicator(&blob->json, &r->communicators[i]);
    hs_json_close(&blob->json, '[');
    hs_json_close(&blob->json, '{');
    put_settings(blob);
    put_contexts(blob);
    put_diagnostics(blob);
    put_rest(blob);
}
