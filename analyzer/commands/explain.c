/* explain.c - pages about codes, causes, findings and diagnostics. */
#include "analyzer/commands/command.h"

#include <cjson/cJSON.h>

static const char *kind_name(enum hs_topic_kind kind)
{
    static const char *const names[] = { "code", "cause", "finding", "diagnostic" };

    return names[kind];
}

static void put_page(struct hs_buf *out, const struct hs_topic *t)
{
    hs_buf_printf(out, "%s (%s%s%s)\n  %s\n\n  %s\n", t->code, kind_name(t->kind),
                  t->severity ? ", " : "", t->severity ? t->severity : "", t->title, t->means);
    if (*t->remedy)
        hs_buf_printf(out, "\n  %s\n", t->remedy);
}

static void put_list(struct hs_buf *out, enum hs_language language)
{
    const struct hs_topic *t;

    for (size_t i = 0; (t = hs_topic_at(i, language)); i++)
        hs_buf_printf(out, "%-24s %-11s %s\n", t->code, kind_name(t->kind), t->title);
}

static cJSON *topic_object(const struct hs_topic *t)
{
    cJSON *row = cJSON_CreateObject();

    cJSON_AddStringToObject(row, "code", t->code);
    cJSON_AddStringToObject(row, "kind", kind_name(t->kind));
    if (t->severity)
        cJSON_AddStringToObject(row, "severity", t->severity);
    else
        cJSON_AddNullToObject(row, "severity");
    cJSON_AddStringToObject(row, "title", t->title);
    cJSON_AddStringToObject(row, "means", t->means);
    cJSON_AddStringToObject(row, "remedy", t->remedy);
    return row;
}

static void put_json(struct hs_buf *out, const struct hs_topic *only, enum hs_language language)
{
    cJSON *root = only ? topic_object(only) : cJSON_CreateArray();
    const struct hs_topic *t;
    char *text;

    for (size_t i = 0; !only && (t = hs_topic_at(i, language)); i++)
        cJSON_AddItemToArray(root, topic_object(t));
    text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) {
        out->failed = true;
        return;
    }
    hs_buf_put(out, hs_str_of(text));
    hs_buf_putc(out, '\n');
    cJSON_free(text);
}

int hs_run_explain(const struct hs_options *o)
{
    const struct hs_topic *topic = NULL;
    struct hs_err err = { .n = 0 };
    struct hs_buf out;
    enum hs_status status = HS_OK;

    hs_buf_init(&out);
    if (!o->list && o->path_count != 1)
        status = hs_fail(&err, HS_EUSAGE,
                         "explain: which code? 'hangscope explain --list' lists them all");
    if (status == HS_OK && !o->list) {
        topic = hs_topic_find(o->paths[0], o->language);
        if (!topic)
            status = hs_fail(&err, HS_EUSAGE,
                             "explain: '%s' is not known; 'hangscope explain --list' lists all that "
                             "is",
                             o->paths[0]);
    }
    if (status == HS_OK) {
        if (o->json)
            put_json(&out, topic, o->language);
        else if (topic)
            put_page(&out, topic);
        else
            put_list(&out, o->language);
        status = out.failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(&out), &err);
    }
    hs_buf_release(&out);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
