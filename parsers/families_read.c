/* families_read.c - the stanzas of families/<group>.families, and the tables made of them. */
#include "parsers/families_internal.h"

#include "base/intern.h"
#include "parsers/envelope.h"

#include <stdlib.h>

/* A stanza while it is read. */
struct stanza {
    struct hs_family family;
    struct hs_str pattern, fields;
    struct hs_str literals[HS_FAMILY_ROWS_MAX], examples[HS_FAMILY_ROWS_MAX],
        counterexamples[HS_FAMILY_ROWS_MAX];
    uint32_t first_line;
};

struct reader {
    struct hs_families_memory *memory;
    struct hs_str group;
    uint32_t line;
    struct stanza stanza; /* family.name.n 0: none is open */
    struct hs_err *err;
};

static enum hs_status complain(struct reader *reader, uint32_t line, const char *what)
{
    return hs_fail(reader->err, HS_EUSAGE, "%.*s.families:%u: %s", HS_STR_ARG(reader->group), line,
                   what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct hs_str trim(struct hs_str text)
{
    while (text.n > 0 && is_blank(text.p[text.n - 1]))
        text.n--;
    while (text.n > 0 && is_blank(text.p[0]))
        text = (struct hs_str){ .p = text.p + 1, .n = text.n - 1 };
    return text;
}

/* Cut off and return what stands before the first `end`, all of it when there is none. */
static struct hs_str take_until(struct hs_str *text, char end)
{
    const char *at = text->n ? memchr(text->p, end, text->n) : NULL;
    struct hs_str head = { .p = text->p, .n = at ? (size_t)(at - text->p) : text->n };
    size_t skip = at ? head.n + 1 : head.n;

    *text = (struct hs_str){ .p = text->p + skip, .n = text->n - skip };
    return head;
}

/* A word of a list; n 0 at its end. */
static struct hs_str take_word(struct hs_str *text)
{
    *text = trim(*text);
    return take_until(text, ' ');
}

/* Each takes the value of one key; a text is a complaint. */
typedef const char *take_fn(struct stanza *stanza, struct hs_str value);

static const char *take_once(struct hs_str *slot, struct hs_str value)
{
    if (slot->n > 0)
        return "this key was already given";
    *slot = value;
    return NULL;
}

static const char *take_versions(struct stanza *stanza, struct hs_str value)
{
    return take_once(&stanza->family.versions, value);
}

static const char *take_means(struct stanza *stanza, struct hs_str value)
{
    return take_once(&stanza->family.means, value);
}

static const char *take_pattern(struct stanza *stanza, struct hs_str value)
{
    return take_once(&stanza->pattern, value);
}

static const char *take_fields(struct stanza *stanza, struct hs_str value)
{
    return take_once(&stanza->fields, value);
}

static const char *take_otherwise(struct stanza *stanza, struct hs_str value)
{
    return take_once(&stanza->family.otherwise, value);
}

static const char *take_in(struct stanza *stanza, struct hs_str value)
{
    static const struct {
        const char *word;
        unsigned places;
    } words[] = {
        { "nccl", HS_IN_NCCL }, { "c10", HS_IN_C10 },
        { "body", HS_IN_BODY }, { "any", HS_IN_NCCL | HS_IN_C10 | HS_IN_BODY },
        { "line", HS_IN_LINE },
    };

    for (struct hs_str word = take_word(&value); word.n > 0; word = take_word(&value)) {
        size_t i = 0;

        while (i < sizeof(words) / sizeof(words[0]) && !hs_str_is(word, words[i].word))
            i++;
        if (i == sizeof(words) / sizeof(words[0]))
            return "a place is one of nccl, c10, body, any, line";
        stanza->family.places |= words[i].places;
    }
    return NULL;
}

static const char *take_keep(struct stanza *stanza, struct hs_str value)
{
    static const char *const words[] = {
        [HS_KEEP_EVENT] = "event", [HS_KEEP_FACT] = "fact", [HS_KEEP_COUNT] = "count"
    };

    for (unsigned keep = HS_KEEP_EVENT; keep <= HS_KEEP_COUNT; keep++)
        if (hs_str_is(value, words[keep])) {
            stanza->family.keep = (enum hs_family_keep)keep;
            return NULL;
        }
    return "keep is one of event, fact, count";
}

static const char *take_row(struct hs_str *rows, uint32_t *count, struct hs_str value)
{
    if (*count == HS_FAMILY_ROWS_MAX)
        return "too many rows of this key";
    rows[(*count)++] = value;
    return NULL;
}

static const char *take_literal(struct stanza *stanza, struct hs_str value)
{
    if (value.n < 4)
        return "a literal has at least 4 bytes";
    return take_row(stanza->literals, &stanza->family.literal_count, value);
}

static const char *take_example(struct stanza *stanza, struct hs_str value)
{
    return take_row(stanza->examples, &stanza->family.example_count, value);
}

static const char *take_not(struct stanza *stanza, struct hs_str value)
{
    return take_row(stanza->counterexamples, &stanza->family.counterexample_count, value);
}

static const struct {
    const char *key;
    take_fn *take;
} keys[] = {
    { "versions", take_versions }, { "in", take_in },
    { "literal", take_literal },   { "otherwise", take_otherwise },
    { "pattern", take_pattern },   { "fields", take_fields },
    { "keep", take_keep },         { "means", take_means },
    { "example", take_example },   { "not", take_not },
};

/* What a whole stanza lacks; NULL: nothing. */
static const char *find_lack(const struct stanza *stanza)
{
    const struct hs_family *family = &stanza->family;

    if (family->versions.n == 0)
        return "the stanza has no versions";
    if (family->keep == 0)
        return "the stanza has no keep";
    if (family->means.n == 0)
        return "the stanza has no means";
    if (family->example_count == 0)
        return "the stanza has no example";
    if (stanza->pattern.n == 0)
        return stanza->fields.n == 0       ? "the stanza has neither pattern nor fields"
               : family->literal_count > 0 ? "a stanza without pattern has no literals"
                                           : NULL;
    if (stanza->fields.n > 0)
        return "a stanza with a pattern has its fields from it";
    if (family->places == 0)
        return "the stanza does not say where it may stand";
    if ((family->literal_count > 0) == (family->otherwise.n > 0))
        return "the stanza has neither literals nor otherwise, or both";
    if ((family->places & HS_IN_NCCL) && stanza->pattern.p[0] != '^')
        return "the pattern of an NCCL message begins with ^";
    return NULL;
}

static const struct hs_str *keep_rows(struct reader *reader, const struct hs_str *rows,
                                      uint32_t count)
{
    struct hs_str *kept = HS_NEW(&reader->memory->arena, struct hs_str, count + 1ull);

    if (kept)
        memcpy(kept, rows, count * sizeof(*rows));
    return kept;
}

/* Its fields: the names of the pattern's groups, or what the stanza lists. */
static enum hs_status make_fields(struct reader *reader, struct hs_family *family)
{
    struct hs_str names[HS_PATTERN_NAMES_MAX];
    struct hs_str rest = reader->stanza.fields;

    if (family->pattern) {
        family->field_count = hs_pattern_name_count(family->pattern);
        for (uint32_t i = 0; i < family->field_count; i++)
            names[i] = hs_pattern_name(family->pattern, i);
    }
    for (struct hs_str word = take_word(&rest); word.n > 0; word = take_word(&rest)) {
        if (family->field_count == HS_PATTERN_NAMES_MAX)
            return complain(reader, reader->stanza.first_line, "too many fields");
        names[family->field_count++] = word;
    }
    family->fields = keep_rows(reader, names, family->field_count);
    return family->fields ? HS_OK : hs_no_memory(reader->err);
}

static enum hs_status add_literals(struct reader *reader, struct hs_family *family, uint32_t index)
{
    struct hs_families_memory *memory = reader->memory;
    uint32_t count = memory->families.literal_count;

    family->first_literal = count;
    if (!HS_GROW(memory->literals, memory->literals_cap, count + family->literal_count) ||
        !HS_GROW(memory->owners, memory->owners_cap, count + family->literal_count))
        return hs_no_memory(reader->err);
    for (uint32_t i = 0; i < family->literal_count; i++) {
        memory->literals[count + i] = reader->stanza.literals[i];
        memory->owners[count + i] = index;
    }
    memory->families.literal_count += family->literal_count;
    return HS_OK;
}

static enum hs_status close_stanza(struct reader *reader)
{
    struct stanza *stanza = &reader->stanza;
    struct hs_families_memory *memory = reader->memory;
    struct hs_family *row;
    const char *lack = stanza->family.name.n ? find_lack(stanza) : NULL;
    uint32_t index = memory->families.count;
    enum hs_status status;

    if (stanza->family.name.n == 0)
        return HS_OK;
    if (lack)
        return complain(reader, stanza->first_line, lack);
    if (index == HS_FAMILIES_MAX)
        return complain(reader, stanza->first_line, "too many families");
    if (!HS_GROW(memory->rows, memory->rows_cap, index + 1))
        return hs_no_memory(reader->err);
    row = &memory->rows[index];
    *row = stanza->family;
    if (stanza->pattern.n > 0) {
        status = hs_pattern_new(stanza->pattern, &row->pattern, reader->err);
        if (status != HS_OK)
            return complain(reader, stanza->first_line, "its pattern cannot be used");
    }
    memory->families.count++; /* from here on the pattern is released with the rest */
    row->literals = keep_rows(reader, stanza->literals, row->literal_count);
    row->examples = keep_rows(reader, stanza->examples, row->example_count);
    row->counterexamples = keep_rows(reader, stanza->counterexamples, row->counterexample_count);
    if (!row->literals || !row->examples || !row->counterexamples)
        return hs_no_memory(reader->err);
    status = make_fields(reader, row);
    return status == HS_OK ? add_literals(reader, row, index) : status;
}

static enum hs_status open_stanza(struct reader *reader, struct hs_str name)
{
    enum hs_status status = close_stanza(reader);

    if (status != HS_OK)
        return status;
    for (uint32_t i = 0; i < reader->memory->families.count; i++)
        if (hs_str_eq(reader->memory->rows[i].name, name))
            return complain(reader, reader->line, "this family is already there");
    if (name.n == 0)
        return complain(reader, reader->line, "a family without name");
    reader->stanza = (struct stanza){ .family = { .name = name, .group = reader->group },
                                      .first_line = reader->line };
    return HS_OK;
}

static enum hs_status read_line(struct reader *reader, struct hs_str line)
{
    struct hs_str value = line;
    struct hs_str key;
    const char *complaint;
    size_t i = 0;

    if (line.n == 0 || line.p[0] == '#')
        return HS_OK;
    if (line.p[0] == '[' && line.p[line.n - 1] == ']')
        return open_stanza(reader, (struct hs_str){ .p = line.p + 1, .n = line.n - 2 });
    key = take_until(&value, ' ');
    value = trim(value);
    if (value.n > 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = (struct hs_str){ .p = value.p + 1, .n = value.n - 2 };
    while (i < sizeof(keys) / sizeof(keys[0]) && !hs_str_is(key, keys[i].key))
        i++;
    if (i == sizeof(keys) / sizeof(keys[0]))
        return complain(reader, reader->line, "no such key");
    if (reader->stanza.family.name.n == 0)
        return complain(reader, reader->line, "this stands in no stanza");
    if (value.n == 0)
        return complain(reader, reader->line, "this key has no value");
    complaint = keys[i].take(&reader->stanza, value);
    return complaint ? complain(reader, reader->line, complaint) : HS_OK;
}

static enum hs_status read_text(struct reader *reader, const struct hs_families_text *text)
{
    struct hs_str rest = text->text;
    enum hs_status status = HS_OK;

    reader->group = text->group;
    reader->line = 0;
    reader->stanza.family.name.n = 0;
    while (status == HS_OK && rest.n > 0) {
        reader->line++;
        status = read_line(reader, trim(take_until(&rest, '\n')));
    }
    return status == HS_OK ? close_stanza(reader) : status;
}

/* The marks come first: their hits have the indexes of hs_frame_marks. */
static bool add_marks(struct hs_families_memory *memory)
{
    uint32_t count = hs_frame_mark_count;

    if (!HS_GROW(memory->literals, memory->literals_cap, count) ||
        !HS_GROW(memory->owners, memory->owners_cap, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        memory->literals[i] = hs_frame_marks[i];
        memory->owners[i] = HS_NO_ID;
    }
    memory->families.mark_count = count;
    memory->families.literal_count = count;
    return true;
}

static bool finish(struct hs_families_memory *memory)
{
    struct hs_families *families = &memory->families;

    memory->otherwise = HS_NEW(&memory->arena, uint32_t, families->count + 1ull);
    if (!memory->otherwise)
        return false;
    for (uint32_t i = 0; i < families->count; i++)
        if (memory->rows[i].otherwise.n > 0)
            memory->otherwise[memory->otherwise_count++] = i;
    families->rows = memory->rows;
    families->owner = memory->owners;
    families->literals = hs_literals_new(memory->literals, families->literal_count);
    return families->literals && hs_hot_bind(memory);
}

enum hs_status hs_families_read(const struct hs_families_text *texts, uint32_t count,
                                struct hs_families **out, struct hs_err *err)
{
    struct hs_families_memory *memory = calloc(1, sizeof(*memory));
    struct reader *reader = calloc(1, sizeof(*reader));
    enum hs_status status = HS_OK;

    if (!memory || !reader) {
        free(memory);
        free(reader);
        return hs_no_memory(err);
    }
    hs_arena_init(&memory->arena);
    memory->families.memory = memory;
    reader->memory = memory;
    reader->err = err;
    if (!add_marks(memory))
        status = hs_no_memory(err);
    for (uint32_t i = 0; status == HS_OK && i < count; i++)
        status = read_text(reader, &texts[i]);
    if (status == HS_OK && !finish(memory))
        status = hs_no_memory(err);
    free(reader);
    if (status == HS_OK)
        *out = &memory->families;
    else
        hs_families_free(&memory->families);
    return status;
}

void hs_families_free(struct hs_families *families)
{
    struct hs_families_memory *memory;

    if (!families)
        return;
    memory = families->memory;
    for (uint32_t i = 0; i < families->count; i++)
        hs_pattern_free(memory->rows[i].pattern);
    hs_literals_free((struct hs_literals *)families->literals);
    hs_arena_release(&memory->arena);
    free(memory->rows);
    free(memory->literals);
    free(memory->owners);
    free(memory);
}
