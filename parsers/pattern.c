/* pattern.c - PCRE2, compiled once by whoever comes first, matched under limits. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "parsers/pattern.h"

#include "base/limits.h"

#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What PCRE2 made of an expression; `code` is NULL when it made nothing. */
struct compiled {
    pcre2_code *code;
    int error; /* of PCRE2; 0: the names are not those that were read off the expression */
    size_t error_at;
    uint8_t name_of[HS_PATTERN_GROUPS_MAX + 1]; /* by group: index of its name + 1; 0: none */
};

struct hs_pattern {
    struct hs_str expression;
    struct hs_str names[HS_PATTERN_NAMES_MAX];
    uint32_t name_count;
    _Atomic(struct compiled *) compiled; /* NULL: nobody has tried it yet */
};

struct hs_matching {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint32_t options;
};

#define JIT_STACK_FIRST_BYTES (32u << 10)
#define JIT_STACK_MAX_BYTES (512u << 10)

static uint32_t find_name(const struct hs_pattern *pattern, struct hs_str name)
{
    uint32_t i = 0;

    while (i < pattern->name_count && !hs_str_eq(pattern->names[i], name))
        i++;
    return i;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of a group `(?<name>` that begins at `at`; n 0: there is none. */
static struct hs_str name_at(struct hs_str expression, size_t at)
{
    struct hs_str rest = { .p = expression.p + at, .n = expression.n - at };
    struct hs_str name = { .p = NULL };
    size_t n = 3;

    if (!hs_str_starts(rest, HS_STR("(?<")))
        return name;
    while (n < rest.n && is_word(rest.p[n]))
        n++;
    if (n < rest.n && rest.p[n] == '>')
        name = (struct hs_str){ .p = rest.p + 3, .n = n - 3 };
    return name;
}

/* Read the names off the text: asking for them needs no compiled code. */
static bool read_names(struct hs_pattern *pattern)
{
    struct hs_str expression = pattern->expression;
    bool in_class = false;

    for (size_t i = 0; i < expression.n; i++) {
        char c = expression.p[i];

        if (c == '\\') {
            i++;
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
            i += i + 1 < expression.n && expression.p[i + 1] == '^';
            i += i + 1 < expression.n && expression.p[i + 1] == ']'; /* first in it: itself */
        } else {
            struct hs_str name = name_at(expression, i);

            if (name.n == 0 || find_name(pattern, name) < pattern->name_count)
                continue;
            if (pattern->name_count == HS_PATTERN_NAMES_MAX)
                return false;
            pattern->names[pattern->name_count++] = name;
        }
    }
    return true;
}

enum hs_status hs_pattern_new(struct hs_str expression, struct hs_pattern **out, struct hs_err *err)
{
    struct hs_pattern *pattern = calloc(1, sizeof(*pattern));

    if (!pattern)
        return hs_no_memory(err);
    pattern->expression = expression;
    if (!read_names(pattern)) {
        hs_pattern_free(pattern);
        return hs_fail(err, HS_EUSAGE, "more than %u named groups", HS_PATTERN_NAMES_MAX);
    }
    *out = pattern;
    return HS_OK;
}

static void compiled_free(struct compiled *compiled)
{
    if (compiled && compiled->code)
        pcre2_code_free(compiled->code);
    free(compiled);
}

void hs_pattern_free(struct hs_pattern *pattern)
{
    if (!pattern)
        return;
    compiled_free(atomic_load(&pattern->compiled));
    free(pattern);
}

/* Which of our names each group has; false when PCRE2 saw others. */
static bool number_names(const struct hs_pattern *pattern, struct compiled *compiled)
{
    PCRE2_SPTR table;
    uint32_t groups;
    uint32_t count;
    uint32_t entry_bytes;

    (void)pcre2_pattern_info(compiled->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    (void)pcre2_pattern_info(compiled->code, PCRE2_INFO_NAMECOUNT, &count);
    (void)pcre2_pattern_info(compiled->code, PCRE2_INFO_NAMEENTRYSIZE, &entry_bytes);
    (void)pcre2_pattern_info(compiled->code, PCRE2_INFO_NAMETABLE, &table);
    if (groups > HS_PATTERN_GROUPS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        PCRE2_SPTR entry = table + (size_t)i * entry_bytes;
        uint32_t name = find_name(pattern, hs_str_of((const char *)entry + 2));

        if (name == pattern->name_count)
            return false;
        compiled->name_of[entry[0] << 8 | entry[1]] = (uint8_t)(name + 1);
    }
    return true;
}

static struct compiled *compile(const struct hs_pattern *pattern)
{
    struct compiled *compiled = calloc(1, sizeof(*compiled));

    if (!compiled)
        return NULL;
    compiled->code = pcre2_compile((PCRE2_SPTR)pattern->expression.p, pattern->expression.n,
                                   PCRE2_DUPNAMES | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
                                       PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_UTF,
                                   &compiled->error, &compiled->error_at, NULL);
    if (compiled->code && !number_names(pattern, compiled)) {
        pcre2_code_free(compiled->code);
        compiled->code = NULL;
        compiled->error = 0;
    }
    if (compiled->code) /* without JIT it is interpreted */
        (void)pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
    return compiled;
}

/* The compiled form. Threads that come at once each compile; all but one throw theirs away. */
static const struct compiled *get_compiled(struct hs_pattern *pattern)
{
    struct compiled *there = atomic_load_explicit(&pattern->compiled, memory_order_acquire);
    struct compiled *mine;

    if (there)
        return there;
    mine = compile(pattern);
    if (!mine || atomic_compare_exchange_strong(&pattern->compiled, &there, mine))
        return mine;
    compiled_free(mine);
    return there;
}

enum hs_status hs_pattern_check(struct hs_pattern *pattern, struct hs_err *err)
{
    const struct compiled *compiled = get_compiled(pattern);
    PCRE2_UCHAR text[128];

    if (!compiled)
        return hs_no_memory(err);
    if (compiled->code)
        return HS_OK;
    if (compiled->error == 0)
        return hs_fail(err, HS_EUSAGE,
                       "more than %u groups, or names in another form than (?<name>",
                       HS_PATTERN_GROUPS_MAX);
    (void)pcre2_get_error_message(compiled->error, text, sizeof(text));
    return hs_fail(err, HS_EUSAGE, "%s, at offset %zu of the expression", (const char *)text,
                   compiled->error_at);
}

struct hs_str hs_pattern_expression(const struct hs_pattern *pattern)
{
    return pattern->expression;
}

uint32_t hs_pattern_name_count(const struct hs_pattern *pattern)
{
    return pattern->name_count;
}

struct hs_str hs_pattern_name(const struct hs_pattern *pattern, uint32_t i)
{
    return pattern->names[i];
}

struct hs_matching *hs_matching_new(void)
{
    struct hs_matching *matching = calloc(1, sizeof(*matching));

    if (!matching)
        return NULL;
    matching->data = pcre2_match_data_create(HS_PATTERN_GROUPS_MAX + 1, NULL);
    matching->context = pcre2_match_context_create(NULL);
    matching->stack = pcre2_jit_stack_create(JIT_STACK_FIRST_BYTES, JIT_STACK_MAX_BYTES, NULL);
    if (!matching->data || !matching->context) {
        hs_matching_free(matching);
        return NULL;
    }
    (void)pcre2_set_match_limit(matching->context, HS_PATTERN_STEPS_MAX);
    (void)pcre2_set_depth_limit(matching->context, HS_PATTERN_STEPS_MAX);
    (void)pcre2_set_heap_limit(matching->context, HS_PATTERN_HEAP_BYTES_MAX >> 10);
    if (matching->stack)
        pcre2_jit_stack_assign(matching->context, NULL, matching->stack);
    return matching;
}

void hs_matching_free(struct hs_matching *matching)
{
    if (!matching)
        return;
    pcre2_match_data_free(matching->data);
    pcre2_match_context_free(matching->context);
    pcre2_jit_stack_free(matching->stack);
    free(matching);
}

void hs_matching_interpret(struct hs_matching *matching)
{
    matching->options |= PCRE2_NO_JIT;
}

enum hs_match hs_pattern_search(struct hs_pattern *pattern, struct hs_matching *matching,
                                struct hs_str text, bool continued, struct hs_str *values,
                                struct hs_str *whole)
{
    const struct compiled *compiled = get_compiled(pattern);
    const char *subject = text.p ? text.p : "";
    const size_t *ends;
    int groups;

    if (!compiled || !compiled->code)
        return HS_MATCH_NO;
    groups = pcre2_match(compiled->code, (PCRE2_SPTR)subject, text.n, 0,
                         matching->options | (continued ? PCRE2_NOTBOL : 0), matching->data,
                         matching->context);
    if (groups <= 0)
        return groups == PCRE2_ERROR_NOMATCH ? HS_MATCH_NO : HS_MATCH_LIMIT;
    ends = pcre2_get_ovector_pointer(matching->data);
    memset(values, 0, pattern->name_count * sizeof(*values));
    for (size_t g = 1; g < (size_t)groups; g++) {
        uint32_t name = compiled->name_of[g];

        if (name > 0 && ends[2 * g] != PCRE2_UNSET && !values[name - 1].p)
            values[name - 1] =
                (struct hs_str){ .p = subject + ends[2 * g], .n = ends[2 * g + 1] - ends[2 * g] };
    }
    if (whole)
        *whole = (struct hs_str){ .p = subject + ends[0], .n = ends[1] - ends[0] };
    return HS_MATCH_YES;
}
