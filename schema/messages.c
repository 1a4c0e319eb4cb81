#include "schema/messages.h"

#include <assert.h>

struct message {
    const char *key, *text;
};

#define MESSAGE(key, text) { key, text },
static const struct message english[] = {
#include "schema/messages_en.def"
    { NULL, NULL },
};
static const struct message chinese[] = {
#include "schema/messages_zh.def"
    { NULL, NULL },
};
#undef MESSAGE

#define CODE(code, title, means, remedy) { HS_TOPIC_CODE, code, NULL, title, means, remedy },
#define CAUSE(code, title, means, remedy) { HS_TOPIC_CAUSE, code, NULL, title, means, remedy },
#define FINDING(code, severity, title, means, remedy)                                              \
    { HS_TOPIC_FINDING, code, severity, title, means, remedy },
#define DIAGNOSTIC(code, severity, title, means, remedy)                                           \
    { HS_TOPIC_DIAGNOSTIC, code, severity, title, means, remedy },
#define RULE(code, severity, title, means, remedy)                                                 \
    { HS_TOPIC_RULE, code, severity, title, means, remedy },
static const struct hs_topic topics_english[] = {
#include "schema/topics_en.def"

#include "schema/rule_topics_en.def" /* generated from analyzer/rules/ */
    { HS_TOPIC_CODE, NULL, NULL, NULL, NULL, NULL },
};
static const struct hs_topic topics_chinese[] = {
#include "schema/topics_zh.def"

#include "schema/rule_topics_zh.def"
    { HS_TOPIC_CODE, NULL, NULL, NULL, NULL, NULL },
};
#undef CODE
#undef CAUSE
#undef FINDING
#undef DIAGNOSTIC
#undef RULE

static const struct message *const catalogs[HS_LANGUAGES] = { english, chinese };
static const struct hs_topic *const topics[HS_LANGUAGES] = { topics_english, topics_chinese };

const char *hs_message(const char *key, enum hs_language language)
{
    for (const struct message *m = catalogs[language]; m->key; m++) {
        if (strcmp(m->key, key) == 0)
            return m->text;
    }
    return NULL;
}

const char *hs_message_key(size_t index)
{
    return index < sizeof(english) / sizeof(english[0]) ? english[index].key : NULL;
}

void hs_phrase_add(struct hs_phrase *phrase, const char *name, struct hs_str text, uint64_t count)
{
    assert(phrase->n < HS_PHRASE_ARGS);
    phrase->args[phrase->n++] = (struct hs_arg){ .name = name, .text = text, .count = count };
}

static const struct hs_arg *find_arg(const struct hs_phrase *phrase, struct hs_str name)
{
    for (unsigned i = 0; i < phrase->n; i++) {
        if (hs_str_is(name, phrase->args[i].name))
            return &phrase->args[i];
    }
    return NULL;
}

/* "{name}" or "{name?one|many}", without the braces; {topic} is the title of the topic it names. */
static void put_slot(struct hs_buf *buf, const struct hs_phrase *phrase, struct hs_str slot,
                     enum hs_language language)
{
    const char *ask = memchr(slot.p, '?', slot.n);
    const char *end = slot.p + slot.n, *bar;
    const struct hs_arg *arg =
        find_arg(phrase, (struct hs_str){ .p = slot.p, .n = (size_t)((ask ? ask : end) - slot.p) });

    assert(arg);
    if (!arg)
        return;
    if (!ask) {
        const struct hs_topic *topic =
            hs_str_is(slot, "topic") ? hs_topic_find(arg->text.p, language) : NULL;

        hs_buf_put(buf, topic ? hs_str_of(topic->title) : arg->text);
        return;
    }
    ask++;
    bar = memchr(ask, '|', (size_t)(end - ask));
    assert(bar);
    if (arg->count == 1)
        hs_buf_put(buf, (struct hs_str){ .p = ask, .n = (size_t)(bar - ask) });
    else
        hs_buf_put(buf, (struct hs_str){ .p = bar + 1, .n = (size_t)(end - bar - 1) });
}

void hs_phrase_put(struct hs_buf *buf, const struct hs_phrase *phrase, enum hs_language language)
{
    const char *at = phrase->key ? hs_message(phrase->key, language) : "";

    if (!at)
        at = hs_message(phrase->key, HS_ENGLISH);
    assert(at);
    while (at && *at) {
        size_t plain = strcspn(at, "{");
        const char *close;

        hs_buf_put(buf, (struct hs_str){ .p = at, .n = plain });
        at += plain;
        if (!*at)
            break;
        close = strchr(at, '}');
        assert(close);
        put_slot(buf, phrase, (struct hs_str){ .p = at + 1, .n = (size_t)(close - at - 1) },
                 language);
        at = close + 1;
    }
}

const char *hs_topic_kind_name(enum hs_topic_kind kind)
{
    static const char *const names[] = { "code", "cause", "finding", "diagnostic", "rule" };

    return names[kind];
}

const struct hs_topic *hs_topic_find(const char *code, enum hs_language language)
{
    for (const struct hs_topic *t = topics[language]; t->code; t++) {
        if (strcmp(t->code, code) == 0)
            return t;
    }
    return language == HS_ENGLISH ? NULL : hs_topic_find(code, HS_ENGLISH);
}

const struct hs_topic *hs_topic_at(size_t index, enum hs_language language)
{
    const struct hs_topic *t = topics[HS_ENGLISH];

    for (; t->code && index > 0; index--)
        t++;
    return t->code ? hs_topic_find(t->code, language) : NULL;
}
