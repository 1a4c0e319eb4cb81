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

/* What an argument is in this language: of a topic its title or remedy, else its own text. */
static struct hs_str arg_text(const struct hs_arg *arg, enum hs_language language)
{
    bool title = strcmp(arg->name, "topic") == 0, remedy = strcmp(arg->name, "remedy") == 0;
    const struct hs_topic *topic = title || remedy ? hs_topic_find(arg->text.p, language) : NULL;

    if (!topic)
        return arg->text;
    return hs_str_of(title ? topic->title : topic->remedy ? topic->remedy : "");
}

/* "one|many" or "one|many|none". */
static struct hs_str choose(struct hs_str choices, uint64_t count)
{
    for (unsigned skip = count == 1 ? 0 : count ? 1 : 2; skip; skip--) {
        const char *bar = memchr(choices.p, '|', choices.n);

        if (!bar)
            break;
        choices.n -= (size_t)(bar + 1 - choices.p);
        choices.p = bar + 1;
    }
    for (size_t i = 0; i < choices.n; i++) {
        if (choices.p[i] == '|')
            choices.n = i;
    }
    return choices;
}

/* A slot, without the braces. */
static void put_slot(struct hs_buf *buf, const struct hs_phrase *phrase, struct hs_str slot,
                     enum hs_language language)
{
    const char *ask = memchr(slot.p, '?', slot.n);
    size_t name = ask ? (size_t)(ask - slot.p) : slot.n;
    const struct hs_arg *arg = find_arg(phrase, (struct hs_str){ .p = slot.p, .n = name });

    assert(arg);
    if (!arg)
        return;
    if (!ask)
        hs_buf_put(buf, arg_text(arg, language));
    else
        hs_buf_put(buf,
                   choose((struct hs_str){ .p = ask + 1, .n = slot.n - name - 1 }, arg->count));
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
