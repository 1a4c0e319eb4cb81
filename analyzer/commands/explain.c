/* explain.c - pages about codes, causes, findings and diagnostics. */
#include "analyzer/commands/command.h"
#include "analyzer/render/render.h"

static void put_page(struct hs_buf *out, const struct hs_topic *t)
{
    hs_buf_printf(out, "%s (%s%s%s)\n  %s\n\n  %s\n", t->code, hs_topic_kind_name(t->kind),
                  t->severity ? ", " : "", t->severity ? t->severity : "", t->title, t->means);
    if (*t->remedy)
        hs_buf_printf(out, "\n  %s\n", t->remedy);
}

static void put_list(struct hs_buf *out, enum hs_language language)
{
    const struct hs_topic *t;

    for (size_t i = 0; (t = hs_topic_at(i, language)); i++)
        hs_buf_printf(out, "%-24s %-11s %s\n", t->code, hs_topic_kind_name(t->kind), t->title);
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
            status =
                hs_fail(&err, HS_EUSAGE,
                        "explain: '%s' is not known; 'hangscope explain --list' lists all that "
                        "is",
                        o->paths[0]);
    }
    if (status == HS_OK) {
        if (o->json)
            hs_render_topics_json(topic, o->language, &out);
        else if (topic)
            put_page(&out, topic);
        else
            put_list(&out, o->language);
        status = out.failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(&out), &err);
    }
    hs_buf_release(&out);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
