#include "row_lab.h"

#include <stdio.h>
#include <stdlib.h>

/* A test that cannot be set up is wrong itself. */
static void must(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "row_lab: %s\n", what);
        abort();
    }
}

void row_begin(struct row_lab *lab)
{
    *lab = (struct row_lab){ .clock = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_FINE };
    hs_job_init(&lab->part);
    hs_job_init(&lab->job);
}

void row_end(struct row_lab *lab)
{
    if (lab->finished)
        hs_identity_release(&lab->id);
    hs_job_release(&lab->part);
    hs_job_release(&lab->job);
}

uint32_t row_source(struct row_lab *lab, const char *name)
{
    uint32_t source = hs_job_add_source(&lab->part, hs_str_of(name));

    must(source != HS_NO_ID, "no memory");
    lab->part.sources[source].format = "text";
    lab->part.sources[source].content = hs_hash(hs_str_of(name));
    return source;
}

static uint32_t string_of(struct row_lab *lab, const char *text)
{
    return hs_intern_put(&lab->part.strings, hs_str_of(text));
}

/* The next word, cut into name and value; false at the end. */
static bool next_word(char **at, const char **name, const char **value)
{
    char *word = strtok_r(NULL, " ", at), *equals;

    if (!word)
        return false;
    equals = strchr(word, '=');
    must(equals != NULL, "a word without =");
    *equals = '\0';
    *name = word;
    *value = equals + 1;
    return true;
}

static char *words_of(const char *words, char **at)
{
    size_t n = strlen(words) + 2;
    char *text = malloc(n);

    must(text != NULL, "no memory");
    (void)snprintf(text, n, " %s", words);
    *at = text;
    return text;
}

static int64_t ns_of(const char *seconds)
{
    return (int64_t)(strtod(seconds, NULL) * 1e9);
}

struct field {
    const char *name;
    uint32_t *u32;
    uint64_t *u64;
    int64_t *ns;
};

static bool set_field(const struct field *fields, const char *name, const char *value)
{
    for (; fields->name; fields++) {
        if (strcmp(fields->name, name) != 0)
            continue;
        if (fields->u32)
            *fields->u32 = (uint32_t)strtoll(value, NULL, 0);
        if (fields->u64)
            *fields->u64 = strtoull(value, NULL, 0);
        if (fields->ns)
            *fields->ns = ns_of(value);
        return true;
    }
    return false;
}

static uint32_t add_row(struct row_lab *lab, const char *table, const void *row)
{
    for (const struct hs_line_table *t = hs_line_tables; t->name; t++) {
        uint32_t count;

        if (strcmp(t->name, table) != 0)
            continue;
        (void)hs_job_rows(&lab->part, t, &count);
        must(hs_job_add_row(&lab->part, t, row), "no memory");
        return count;
    }
    must(false, "no such table");
    return HS_NO_ID;
}

uint32_t row_speaker(struct row_lab *lab, const char *words)
{
    struct hs_speaker s = { .source = lab->part.source_count - 1,
                            .host = HS_NO_ID,
                            .role = HS_NO_ID,
                            .pid = HS_NO_ID,
                            .rank = HS_NO_ID,
                            .local_rank = HS_NO_ID,
                            .task = HS_NO_ID,
                            .device = HS_NO_ID,
                            .lines = 1,
                            .first_line = 1,
                            .last_line = 1000,
                            .clock = lab->clock };
    const struct field fields[] = {
        { "pid", &s.pid, NULL, NULL },          { "task", &s.task, NULL, NULL },
        { "local", &s.local_rank, NULL, NULL }, { "dev", &s.device, NULL, NULL },
        { "count", &s.lines, NULL, NULL },      { "from", NULL, NULL, &s.first_ns },
        { "to", NULL, NULL, &s.last_ns },       { NULL, NULL, NULL, NULL },
    };
    static const char *const ranks[] = { "", "file", "ranktask", "launcher", "tag" };
    char *at, *text = words_of(words, &at);
    const char *name, *value;

    while (next_word(&at, &name, &value)) {
        bool known = set_field(fields, name, value);

        for (uint32_t i = HS_RANK_FILE; !known && i <= HS_RANK_TAG; i++) {
            if (strcmp(name, ranks[i]) == 0) {
                s.rank = (uint32_t)strtoul(value, NULL, 10);
                s.rank_from = i;
                known = true;
            }
        }
        if (strcmp(name, "host") == 0) {
            s.host = string_of(lab, value);
        } else if (strcmp(name, "lines") == 0) {
            s.first_line = strtoull(value, NULL, 10);
            s.last_line = strtoull(strchr(value, '-') + 1, NULL, 10);
        } else {
            must(known, name);
        }
    }
    free(text);
    return add_row(lab, "speaker", &s);
}

uint32_t row_event(struct row_lab *lab, uint32_t speaker, const char *family, const char *words)
{
    struct hs_event e = { .source = lab->part.source_count - 1,
                          .speaker = speaker,
                          .family = string_of(lab, family),
                          .args = HS_NO_ID,
                          .stack = HS_NO_ID,
                          .count = 1,
                          .line = 1,
                          .clock = lab->clock };
    const struct field fields[] = {
        { "line", NULL, &e.line, NULL },   { "last", NULL, &e.last_line, NULL },
        { "count", &e.count, NULL, NULL }, { "at", NULL, NULL, &e.time_ns },
        { NULL, NULL, NULL, NULL },
    };
    uint32_t args[64], count = 0;
    char *at, *text = words_of(words, &at);
    const char *name, *value;

    while (next_word(&at, &name, &value)) {
        if (set_field(fields, name, value))
            continue;
        must(count + 2 <= 64, "too many arguments");
        args[count++] = string_of(lab, name);
        args[count++] = string_of(lab, value);
    }
    free(text);
    if (e.last_line == 0)
        e.last_line = e.line;
    e.last_time_ns = e.time_ns;
    if (count)
        e.args = hs_job_put_args(&lab->part, args, count);
    return add_row(lab, "event", &e);
}

uint32_t row_comm(struct row_lab *lab, uint32_t speaker, const char *words)
{
    struct hs_communicator c = { .source = lab->part.source_count - 1,
                                 .speaker = speaker,
                                 .rank = HS_NO_ID,
                                 .size = HS_NO_ID,
                                 .device = HS_NO_ID,
                                 .nvml_device = HS_NO_ID,
                                 .bus_id = HS_NO_ID,
                                 .color = HS_NO_ID,
                                 .key = HS_NO_ID,
                                 .child = HS_NO_ID,
                                 .clock = lab->clock,
                                 .end = HS_NO_ID };
    const struct field fields[] = {
        { "ptr", NULL, &c.pointer, NULL },      { "epoch", &c.epoch, NULL, NULL },
        { "rank", &c.rank, NULL, NULL },        { "size", &c.size, NULL, NULL },
        { "id", NULL, &c.comm_id, NULL },       { "parent", NULL, &c.parent, NULL },
        { "split", &c.child, NULL, NULL },      { "color", &c.color, NULL, NULL },
        { "start", NULL, &c.start_line, NULL }, { "complete", NULL, &c.complete_line, NULL },
        { "end", NULL, &c.end_line, NULL },     { "began", NULL, NULL, &c.start_ns },
        { "done", NULL, NULL, &c.complete_ns }, { NULL, NULL, NULL, NULL },
    };
    char *at, *text = words_of(words, &at);
    const char *name, *value;

    while (next_word(&at, &name, &value))
        must(set_field(fields, name, value), name);
    free(text);
    return add_row(lab, "communicator", &c);
}

void row_fact(struct row_lab *lab, uint32_t speaker, const char *name, const char *value)
{
    struct hs_fact fact = { .source = lab->part.source_count - 1,
                            .speaker = speaker,
                            .name = string_of(lab, name),
                            .value = string_of(lab, value),
                            .line = 1 };

    (void)add_row(lab, "fact", &fact);
}

void row_finish(struct row_lab *lab)
{
    struct hs_err err = { .n = 0 };

    must(hs_job_finish(&lab->part, 1, &lab->job, &err) == HS_OK, "hs_job_finish");
    hs_identity_init(&lab->id, &lab->job);
    lab->finished = true;
    must(hs_identity_find(&lab->id, &err) == HS_OK, "hs_identity_find");
}

static size_t put_number(char *text, size_t room, char before, uint32_t number)
{
    int n = number == HS_NO_ID ? snprintf(text, room, "%c-", before)
                               : snprintf(text, room, "%c%u", before, number);

    return (size_t)n;
}

const char *row_process(const struct row_lab *lab, uint32_t process)
{
    static _Thread_local char texts[4][128];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 4];
    const struct hs_process *p;
    size_t n;

    if (process == HS_NO_ID)
        return "nobody";
    p = &lab->id.processes[process];
    n = (size_t)snprintf(text, 128, "%s", hs_known_word((enum hs_known)p->known));
    n += put_number(text + n, 128 - n, ' ', p->rank);
    n += (size_t)snprintf(text + n, 128 - n, " ");
    n += put_number(text + n, 128 - n, '@', p->attempt);
    n += (size_t)snprintf(text + n, 128 - n, " %.*s",
                          HS_STR_ARG(p->host == HS_NO_ID ? HS_STR("-") : lab->id.hosts[p->host]));
    n += put_number(text + n, 128 - n, ':', p->pid);
    (void)put_number(text + n, 128 - n, '/', p->local_rank);
    return text;
}

const char *row_who(const struct row_lab *lab, uint32_t speaker, uint64_t line)
{
    return row_process(lab, hs_identity_speaker(&lab->id, speaker, line));
}
