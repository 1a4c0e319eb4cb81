/* rules.c - the text of rules: headers and SELECTs. */
#include "analyzer/rules.h"

#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>

struct hs_rules_text {
    const char *name, *text;
};

#include "analyzer/rules_texts.h" /* generated from analyzer/rules/: hs_rules_texts */

static const char *const role_words[] = { "root", "cascade", "confirmation", "exonerates" };
static const char *const strength_words[] = { "lead", "likely", "sure" };
static const char *const severity_words[] = { "note", "warning", "error" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The place of `word` in a list of words; `count`: it is none of them. */
static size_t index_of(struct hs_str word, const char *const *words, size_t count)
{
    size_t i = 0;

    while (i < count && !hs_str_is(word, words[i]))
        i++;
    return i;
}

bool hs_role_of(struct hs_str word, enum hs_role *out)
{
    size_t i = index_of(word, role_words, COUNT(role_words));

    if (i < COUNT(role_words))
        *out = (enum hs_role)i;
    return i < COUNT(role_words);
}

bool hs_strength_of(struct hs_str word, enum hs_strength *out)
{
    size_t i = index_of(word, strength_words, COUNT(strength_words));

    if (i < COUNT(strength_words))
        *out = (enum hs_strength)i;
    return i < COUNT(strength_words);
}

const char *hs_role_word(enum hs_role role)
{
    return role_words[role];
}

const char *hs_strength_word(enum hs_strength strength)
{
    return strength_words[strength];
}

bool hs_version_number(struct hs_str text, uint64_t *out)
{
    uint64_t number = 0;
    size_t at = 0;

    for (int part = 0; part < 4; part++) {
        uint64_t value = 0;
        size_t first = at;

        for (; at < text.n && at - first < 3 && text.p[at] >= '0' && text.p[at] <= '9'; at++)
            value = value * 10 + (uint64_t)(text.p[at] - '0');
        if (at == first && part == 0)
            return false;
        number = number * 1000 + value;
        if (at > first && at < text.n && text.p[at] == '.')
            at++;
        else
            at = text.n;
    }
    *out = number;
    return true;
}

void hs_rules_init(struct hs_rules *rules)
{
    *rules = (struct hs_rules){ .count = 0 };
    hs_arena_init(&rules->arena);
}

void hs_rules_release(struct hs_rules *rules)
{
    free(rules->rows);
    hs_arena_release(&rules->arena);
}

const struct hs_rule *hs_rule_find(const struct hs_rules *rules, const char *id)
{
    uint32_t low = 0, high = rules->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(rules->rows[middle].id, id);

        if (order == 0)
            return &rules->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *hs_rule_topic(const struct hs_rule *rule)
{
    return hs_topic_find(rule->id, HS_ENGLISH) ? rule->id : rule->title[HS_ENGLISH];
}

/* ---- reading ---- */

struct reader {
    struct hs_rules *rules;
    const char *file;
    struct hs_str rest;
    uint32_t line; /* of what `rest` begins with */
    struct hs_err *err;
};

static enum hs_status complain(const struct reader *r, uint32_t line, const char *what,
                               struct hs_str word)
{
    return hs_fail(r->err, HS_EUSAGE, "%s:%u: %s%s%.*s", r->file, line, what, word.n ? ": " : "",
                   (int)(word.n < 100 ? word.n : 100), word.n ? word.p : "");
}

static struct hs_str trim(struct hs_str text)
{
    while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
        text.n--;
    while (text.n && strchr(" \t\r\n", text.p[0]))
        text = (struct hs_str){ .p = text.p + 1, .n = text.n - 1 };
    return text;
}

static struct hs_str take_line(struct reader *r)
{
    const char *end = memchr(r->rest.p, '\n', r->rest.n);
    struct hs_str line = { .p = r->rest.p, .n = end ? (size_t)(end - r->rest.p) : r->rest.n };
    size_t skip = line.n + (end != NULL);

    r->rest = (struct hs_str){ .p = r->rest.p + skip, .n = r->rest.n - skip };
    r->line++;
    return line;
}

static bool is_header(struct hs_str text)
{
    return hs_str_starts(text, HS_STR("--"));
}

static bool begins_rule(struct hs_str text)
{
    return hs_str_starts(text, HS_STR("-- id:"));
}

/* Where the value of a header's key goes. Keys of other languages have their suffix. */
static const struct key {
    const char *name;
    size_t offset;
    bool needed;
} keys[] = {
    { "id", offsetof(struct hs_rule, id), true },
    { "code", offsetof(struct hs_rule, code), true },
    { "cause", offsetof(struct hs_rule, cause), false },
    { "product", offsetof(struct hs_rule, product), false },
    { "from", offsetof(struct hs_rule, from), false },
    { "to", offsetof(struct hs_rule, to), false },
    { "title", offsetof(struct hs_rule, title[HS_ENGLISH]), true },
    { "title.zh", offsetof(struct hs_rule, title[HS_CHINESE]), false },
    { "means", offsetof(struct hs_rule, means[HS_ENGLISH]), false },
    { "means.zh", offsetof(struct hs_rule, means[HS_CHINESE]), false },
    { "remedy", offsetof(struct hs_rule, remedy[HS_ENGLISH]), false },
    { "remedy.zh", offsetof(struct hs_rule, remedy[HS_CHINESE]), false },
    { "see", offsetof(struct hs_rule, see), false },
};

static const char **slot_of(struct hs_rule *rule, const struct key *key)
{
    return (const char **)(void *)((char *)rule + key->offset);
}

/* Words are joined by a blank, Chinese without. */
static const char *join(struct hs_arena *arena, const char *head, struct hs_str more)
{
    size_t n = strlen(head);
    bool blank =
        n && more.n && (unsigned char)head[n - 1] < 0x80 && (unsigned char)more.p[0] < 0x80;

    return hs_arena_printf(arena, "%s%s%.*s", head, blank ? " " : "", HS_STR_ARG(more)).p;
}

/* What has a word of its own besides text: severity and role. */
static enum hs_status take_word(struct reader *r, struct hs_rule *rule, struct hs_str name,
                                struct hs_str value)
{
    if (hs_str_is(name, "role"))
        return hs_role_of(value, &rule->role) ? HS_OK
                                              : complain(r, r->line, "this is no role", value);
    if (hs_str_is(name, "severity")) {
        size_t i = index_of(value, severity_words, COUNT(severity_words));

        rule->severity = (enum hs_severity)i;
        return i < COUNT(severity_words) ? HS_OK
                                         : complain(r, r->line, "this is no severity", value);
    }
    return complain(r, r->line, "a header has no such key", name);
}

/* "key: value", or more of the value before. */
static enum hs_status take_header_line(struct reader *r, struct hs_rule *rule, struct hs_str line,
                                       const char ***open)
{
    struct hs_str text = { .p = line.p + 2, .n = line.n - 2 }, name, value;
    const char *colon;

    if (trim(text).n == 0)
        return HS_OK;
    if (hs_str_starts(text, HS_STR("  "))) {
        if (!*open)
            return complain(r, r->line, "this line goes on with nothing", trim(text));
        **open = join(&r->rules->arena, **open, trim(text));
        return **open ? HS_OK : hs_no_memory(r->err);
    }
    colon = memchr(text.p, ':', text.n);
    if (!colon)
        return complain(r, r->line, "a header line is 'key: value'", trim(text));
    name = trim((struct hs_str){ .p = text.p, .n = (size_t)(colon - text.p) });
    value = trim((struct hs_str){ .p = colon + 1, .n = (size_t)(text.p + text.n - colon - 1) });
    *open = NULL;
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (!hs_str_is(name, keys[i].name))
            continue;
        *open = slot_of(rule, &keys[i]);
        if (**open)
            return complain(r, r->line, "this key was already given", name);
        **open = hs_arena_copy(&r->rules->arena, value).p;
        return **open ? HS_OK : hs_no_memory(r->err);
    }
    return take_word(r, rule, name, value);
}

static bool is_kebab(const char *id)
{
    char before = '-';

    for (; *id; before = *id++) {
        bool plain = (*id >= 'a' && *id <= 'z') || (*id >= '0' && *id <= '9');

        if (!plain && (*id != '-' || before == '-'))
            return false;
    }
    return before != '-';
}

static bool is_topic(const char *word, enum hs_topic_kind kind)
{
    const struct hs_topic *topic = hs_topic_find(word, HS_ENGLISH);

    return topic && topic->kind == kind;
}

/* Of a known defect: a product, and the versions that have it. */
static enum hs_status check_range(const struct reader *r, const struct hs_rule *rule, uint32_t line)
{
    uint64_t from, to;

    if (!rule->product && !rule->from && !rule->to)
        return HS_OK;
    if (!rule->product || !rule->from || !rule->to)
        return complain(r, line, "product, from and to belong together", hs_str_of(rule->id));
    if (!is_kebab(rule->product))
        return complain(r, line, "this is no product", hs_str_of(rule->product));
    if (!hs_version_number(hs_str_of(rule->from), &from) ||
        !hs_version_number(hs_str_of(rule->to), &to) || from > to)
        return complain(r, line, "from and to are no versions in order", hs_str_of(rule->id));
    return HS_OK;
}

/* What a header as a whole has to be; `line` is its first. */
static enum hs_status check_header(const struct reader *r, struct hs_rule *rule, uint32_t line)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *value = *slot_of(rule, &keys[i]);

        if (keys[i].needed && (!value || !*value))
            return complain(r, line, "the header lacks a key", hs_str_of(keys[i].name));
    }
    if (!is_kebab(rule->id))
        return complain(r, line, "an id is words of a-z and 0-9 with hyphens between",
                        hs_str_of(rule->id));
    if (hs_rule_find(r->rules, rule->id))
        return complain(r, line, "there is already a rule of this id", hs_str_of(rule->id));
    if (hs_topic_find(rule->id, HS_ENGLISH) && !is_topic(rule->id, HS_TOPIC_RULE))
        return complain(r, line, "this id already means something else", hs_str_of(rule->id));
    if (strcmp(rule->code, "-") == 0)
        rule->code = NULL;
    else if (!is_topic(rule->code, HS_TOPIC_CODE))
        return complain(r, line, "this is no code of a verdict", hs_str_of(rule->code));
    if (rule->cause && !is_topic(rule->cause, HS_TOPIC_CAUSE))
        return complain(r, line, "this is no cause of a verdict", hs_str_of(rule->cause));
    return check_range(r, rule, line);
}

static enum hs_status put_rule(struct reader *r, const struct hs_rule *rule)
{
    struct hs_rules *rules = r->rules;
    uint32_t at = rules->count;

    assert(rule->id);
    if (rules->count >= HS_RULES_MAX)
        return hs_fail(r->err, HS_EUSAGE, "%s: more than %u rules", r->file, HS_RULES_MAX);
    if (!HS_GROW(rules->rows, rules->cap, rules->count + 1u))
        return hs_no_memory(r->err);
    for (; at > 0 && strcmp(rules->rows[at - 1].id, rule->id) > 0; at--)
        rules->rows[at] = rules->rows[at - 1];
    rules->rows[at] = *rule;
    rules->count++;
    return HS_OK;
}

/* The text up to the next rule, without what ends it. */
static struct hs_str take_sql(struct reader *r)
{
    const char *begin = r->rest.p;
    struct hs_str sql;

    while (r->rest.n && !begins_rule(r->rest))
        (void)take_line(r);
    sql = trim((struct hs_str){ .p = begin, .n = (size_t)(r->rest.p - begin) });
    while (sql.n && sql.p[sql.n - 1] == ';')
        sql = trim((struct hs_str){ .p = sql.p, .n = sql.n - 1 });
    return sql;
}

static enum hs_status take_rule(struct reader *r)
{
    struct hs_rule rule = { .severity = HS_WARNING };
    uint32_t first = r->line + 1;
    const char **open = NULL;
    enum hs_status status = HS_OK;

    while (status == HS_OK && is_header(r->rest))
        status = take_header_line(r, &rule, take_line(r), &open);
    if (status == HS_OK)
        status = check_header(r, &rule, first);
    if (status != HS_OK)
        return status;
    rule.place = hs_arena_printf(&r->rules->arena, "%s:%u", r->file, first).p;
    rule.sql = take_sql(r);
    if (rule.sql.n == 0)
        return complain(r, first, "no SELECT follows the header", hs_str_of(rule.id));
    rule.sql = hs_arena_copy(&r->rules->arena, rule.sql);
    if (!rule.place || !rule.sql.p)
        return hs_no_memory(r->err);
    return put_rule(r, &rule);
}

enum hs_status hs_rules_add(struct hs_rules *rules, const char *file, struct hs_str text,
                            struct hs_err *err)
{
    struct reader r = { .rules = rules, .file = file, .rest = text, .err = err };
    enum hs_status status = HS_OK;

    while (status == HS_OK && r.rest.n) {
        if (begins_rule(r.rest)) {
            status = take_rule(&r);
            continue;
        }
        struct hs_str line = trim(take_line(&r));

        if (line.n && !is_header(line))
            status = complain(&r, r.line, "a rule begins with '-- id: ...'", line);
    }
    return status;
}

enum hs_status hs_rules_add_own(struct hs_rules *rules, struct hs_err *err)
{
    enum hs_status status = HS_OK;

    for (size_t i = 0; status == HS_OK && i < COUNT(hs_rules_texts); i++)
        status =
            hs_rules_add(rules, hs_rules_texts[i].name, hs_str_of(hs_rules_texts[i].text), err);
    return status;
}
