/*
 * messages.h - every sentence that a user reads, by key and language, and the topics of `explain`.
 *
 * A sentence is a template of messages_<language>.def. {name} inserts an argument; {name?one|many}
 * chooses by the argument's count, {name?one|many|none} also when it is 0. {topic} is the title of
 * the topic that the argument names, {remedy} its remedy. A phrase is a key with its arguments: it
 * stays language-free until a renderer prints it.
 */
#ifndef HS_SCHEMA_MESSAGES_H
#define HS_SCHEMA_MESSAGES_H

#include "base/buf.h"

enum hs_language { HS_ENGLISH, HS_CHINESE, HS_LANGUAGES };

enum { HS_PHRASE_ARGS = 24 };

struct hs_arg {
    const char *name;
    struct hs_str text;
    uint64_t count; /* what {name?one|many|none} goes by */
};

struct hs_phrase {
    const char *key; /* NULL: nothing to say */
    struct hs_arg args[HS_PHRASE_ARGS];
    unsigned n;
};

void hs_phrase_add(struct hs_phrase *phrase, const char *name, struct hs_str text, uint64_t count);

/* Append the sentence; a key that a language lacks is said in English. */
void hs_phrase_put(struct hs_buf *buf, const struct hs_phrase *phrase, enum hs_language language);

/* The template itself, for tests; NULL when the language lacks it. */
const char *hs_message(const char *key, enum hs_language language);
const char *hs_message_key(size_t index); /* NULL beyond the last */

enum hs_topic_kind {
    HS_TOPIC_CODE,
    HS_TOPIC_CAUSE,
    HS_TOPIC_FINDING,
    HS_TOPIC_DIAGNOSTIC,
    HS_TOPIC_RULE, /* made of the headers of analyzer/rules/ */
};

/* A page of `hangscope explain`: a verdict code, a cause, a finding, a diagnostic or a rule. */
struct hs_topic {
    enum hs_topic_kind kind;
    const char *code;
    const char *severity; /* findings, diagnostics, rules: note, warning, error; NULL otherwise */
    const char *title, *means, *remedy;
};

/* "code", "cause", "finding", "diagnostic" or "rule". */
const char *hs_topic_kind_name(enum hs_topic_kind kind);

/* NULL when there is no such topic; falls back to English. */
const struct hs_topic *hs_topic_find(const char *code, enum hs_language language);
const struct hs_topic *hs_topic_at(size_t index, enum hs_language language); /* NULL beyond */

#endif
