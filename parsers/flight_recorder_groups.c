/* flight_recorder_groups.c - the process groups of a dump: configuration, members, counters. */
#include "base/limits.h"
#include "parsers/flight_recorder.h"

#include <stdlib.h>

static uint32_t add_member(struct hs_dump_reading *r, uint32_t name, uint32_t backend)
{
    struct hs_job *job = r->px->job;

    if (r->dump.member_count >= HS_GROUPS_MAX ||
        !HS_GROW(job->members, job->member_cap, job->member_count + 1u))
        return HS_NO_ID;
    job->members[job->member_count] = (struct hs_member){ .dump = job->dump_count,
                                                          .name = name,
                                                          .desc = HS_NO_ID,
                                                          .backend = backend,
                                                          .ranks = HS_NO_ID,
                                                          .local_id = -1,
                                                          .stream = HS_NO_ID,
                                                          .communicator = HS_NO_ID,
                                                          .enqueued = -1,
                                                          .started = -1,
                                                          .completed = -1 };
    r->dump.member_count++;
    return job->member_count++;
}

/*
 * The last member met under a name, as a starting point: a name has one row per backend, so that
 * is nearly always the one. Slots of earlier dumps are recognised by their dump number.
 */
uint32_t hs_dump_member(struct hs_dump_reading *r, uint32_t name, uint32_t backend)
{
    struct hs_job *job = r->px->job;
    struct hs_met_group *met;
    uint32_t member = HS_NO_ID;

    if (name >= r->group_cap) {
        uint32_t old = r->group_cap;

        if (!HS_GROW(r->group_of_name, r->group_cap, (size_t)name + 1))
            return HS_NO_ID;
        memset(r->group_of_name + old, 0xff, (r->group_cap - old) * sizeof(*met));
    }
    met = &r->group_of_name[name];
    if (met->dump == job->dump_count && met->member < job->member_count) {
        member = met->member;
        if (job->members[member].backend == backend)
            return member;
        for (member = r->dump.first_member; member < job->member_count; member++) {
            if (job->members[member].name == name && job->members[member].backend == backend)
                break;
        }
        member = member < job->member_count ? member : HS_NO_ID;
    }
    if (member == HS_NO_ID)
        member = add_member(r, name, backend);
    *met = (struct hs_met_group){ .dump = job->dump_count, .member = member };
    return member;
}

/* "[0, 1, 2]" or "[0,1,2]"; HS_NO_ID when it is no such list. */
static uint32_t ranks_of_text(struct hs_dump_reading *r, struct hs_str text)
{
    uint32_t count = 0;
    size_t i = 0;

    if (text.n < 2 || text.p[0] != '[' || text.p[text.n - 1] != ']')
        return HS_NO_ID;
    for (i = 1; i + 1 < text.n;) {
        uint64_t value = 0;
        size_t from = i;

        for (; text.p[i] >= '0' && text.p[i] <= '9' && value <= HS_RANK_MAX; i++)
            value = value * 10 + (uint64_t)(text.p[i] - '0');
        if (i == from || value > HS_RANK_MAX ||
            !HS_GROW(r->scratch, r->scratch_cap, (size_t)count + 1))
            return HS_NO_ID;
        r->scratch[count++] = (uint32_t)value;
        while (text.p[i] == ' ' || text.p[i] == ',')
            i++;
    }
    return count ? hs_job_put_list(r->px->job, r->scratch, count) : HS_NO_ID;
}

/* "[]" is what gloo writes once a process has more than its default group: not said. */
static bool is_empty_list(const struct hs_value *value)
{
    return hs_str_is(hs_value_str(value), "[]");
}

static uint32_t ranks_of(struct hs_dump_reading *r, const struct hs_value *value)
{
    uint32_t count;
    const struct hs_value *items = hs_items(r->px->doc, value, &count);

    if (value->kind == HS_VALUE_STR)
        return ranks_of_text(r, hs_value_str(value));
    if (!items || value->kind == HS_VALUE_DICT || count > HS_RANK_MAX ||
        !HS_GROW(r->scratch, r->scratch_cap, count))
        return HS_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        int64_t rank = -1;

        if (!hs_dump_integer(&items[i], &rank) || rank < 0 || rank > HS_RANK_MAX)
            return HS_NO_ID;
        r->scratch[i] = (uint32_t)rank;
    }
    return hs_job_put_list(r->px->job, r->scratch, count);
}

/* A key of pg_config or pg_status as a group's name: text since 2.0, a number before. */
static uint32_t key_name(struct hs_dump_reading *r, const struct hs_value *key)
{
    char text[40];
    int n;

    if (key->kind == HS_VALUE_STR)
        return hs_dump_text(r, key);
    n = snprintf(text, sizeof(text), "pg_id %lld", (long long)key->i);
    return hs_intern_put(&r->px->job->strings, (struct hs_str){ .p = text, .n = (size_t)n });
}

/* Every row of this dump with the name gets what its configuration says; one is made if none is. */
static void configure(struct hs_dump_reading *r, uint32_t name, uint32_t desc, uint32_t ranks)
{
    struct hs_job *job = r->px->job;
    bool found = false;

    for (uint32_t i = r->dump.first_member; i < job->member_count; i++) {
        struct hs_member *m = &job->members[i];

        if (m->name != name)
            continue;
        found = true;
        m->ranks = ranks == HS_NO_ID ? m->ranks : ranks;
        m->desc = desc == HS_NO_ID ? m->desc : desc;
    }
    if (!found) {
        uint32_t i = add_member(r, name, HS_NO_ID);

        if (i == HS_NO_ID) {
            r->no_memory = r->dump.member_count < HS_GROUPS_MAX;
            return;
        }
        job->members[i].ranks = ranks;
        job->members[i].desc = desc;
    }
}

static void read_config(struct hs_dump_reading *r, const struct hs_value *config)
{
    const struct hs_document *doc = r->px->doc;
    uint32_t count;
    const struct hs_value *items = hs_items(doc, config, &count);

    for (uint32_t i = 0; config->kind == HS_VALUE_DICT && i + 1 < count && !r->no_memory; i += 2) {
        uint32_t name = key_name(r, &items[i]), desc = HS_NO_ID, ranks = HS_NO_ID, fields;
        const struct hs_value *field = hs_items(doc, &items[i + 1], &fields);
        bool said = true;

        if (items[i + 1].kind != HS_VALUE_DICT) { /* before 2.0: the list of ranks itself */
            ranks = ranks_of(r, &items[i + 1]);
            fields = 0;
        }
        for (uint32_t k = 0; k + 1 < fields; k += 2) {
            if (field[k].known == HS_WORD_DESC)
                desc = hs_dump_text(r, &field[k + 1]);
            else if (field[k].known == HS_WORD_RANKS) {
                ranks = ranks_of(r, &field[k + 1]);
                said = !is_empty_list(&field[k + 1]);
            }
        }
        if (ranks == HS_NO_ID && said &&
            !hs_parse_diagnose(r->px, "odd-field", HS_NO_POSITION, HS_NO_POSITION,
                               HS_STR("pg_config.ranks")))
            r->no_memory = true;
        configure(r, name, desc, ranks);
    }
}

/* ---- counters: pg_status is keyed by the process's own number for a group ---- */

struct counters {
    int64_t local_id, enqueued, started, completed;
    bool taken;
};

static bool read_counters(const struct hs_document *doc, const struct hs_value *key,
                          const struct hs_value *value, struct counters *out)
{
    uint32_t count;
    const struct hs_value *items = hs_items(doc, value, &count);

    *out = (struct counters){ .enqueued = -1, .started = -1, .completed = -1 };
    if (value->kind != HS_VALUE_DICT || !hs_dump_integer(key, &out->local_id))
        return false;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        int64_t *to = items[i].known == HS_WORD_LAST_ENQUEUED_COLLECTIVE    ? &out->enqueued
                      : items[i].known == HS_WORD_LAST_STARTED_COLLECTIVE   ? &out->started
                      : items[i].known == HS_WORD_LAST_COMPLETED_COLLECTIVE ? &out->completed
                                                                            : NULL;

        if (to && !hs_dump_integer(&items[i + 1], to))
            return false;
    }
    return true;
}

static bool are_possible(const struct counters *c)
{
    return c->enqueued >= -1 && c->started >= -1 && c->completed >= -1 &&
           c->completed <= c->enqueued && c->started <= c->enqueued;
}

static void give_counters(struct hs_member *m, const struct counters *c)
{
    m->enqueued = c->enqueued;
    m->started = c->started;
    m->completed = c->completed;
    m->has_status = true;
    m->local_id = (int32_t)c->local_id;
}

static int by_local_id(const void *a, const void *b)
{
    const struct counters *x = a, *y = b;

    return (x->local_id > y->local_id) - (x->local_id < y->local_id);
}

/* Counters whose group has operations left: the operations say which one it is. */
static void match_by_operations(struct hs_dump_reading *r, struct counters *list, uint32_t count)
{
    struct hs_job *job = r->px->job;

    for (uint32_t k = r->dump.first_member; k < job->member_count; k++) {
        struct hs_member *m = &job->members[k];
        struct counters key = { .local_id = m->local_id };
        struct counters *c = m->local_id < 0 || !count
                                 ? NULL
                                 : bsearch(&key, list, count, sizeof(*list), by_local_id);

        if (c && !c->taken) {
            give_counters(m, c);
            c->taken = true;
        }
    }
}

struct named_row {
    uint64_t number;
    uint32_t member;
};

static int by_number(const void *a, const void *b)
{
    const struct named_row *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static bool number_of(struct hs_str name, uint64_t *out)
{
    uint64_t value = 0;

    if (hs_str_starts(name, HS_STR("pg_id "))) {
        name.p += 6;
        name.n -= 6;
    }
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9' || value > UINT64_MAX / 100)
            return false;
        value = value * 10 + (uint64_t)(name.p[i] - '0');
    }
    *out = value;
    return name.n > 0;
}

/*
 * Groups without operations: names and local ids count up in the same order, so both are sorted as
 * numbers and paired - if there are as many of each, and all names are numbers (or one is left).
 */
static bool match_by_order(struct hs_dump_reading *r, const struct counters *list, uint32_t count)
{
    struct hs_job *job = r->px->job;
    struct named_row *rows = calloc((size_t)r->dump.member_count + 1, sizeof(*rows));
    uint32_t named = 0, left = 0, k = 0;
    bool numbers = true;

    if (!rows) {
        r->no_memory = true;
        return true;
    }
    for (uint32_t i = r->dump.first_member; i < job->member_count; i++) {
        if (job->members[i].has_status || job->members[i].local_id >= 0)
            continue;
        rows[named].member = i;
        numbers &= number_of(hs_job_string(job, job->members[i].name), &rows[named].number);
        named++;
    }
    for (uint32_t i = 0; i < count; i++)
        left += !list[i].taken;
    if (left == named && (numbers || left == 1)) {
        qsort(rows, named, sizeof(*rows), by_number);
        for (uint32_t i = 0; i < count; i++) {
            if (!list[i].taken)
                give_counters(&job->members[rows[k++].member], &list[i]);
        }
        left = 0;
    }
    free(rows);
    return left == 0;
}

/* Keep possible counters, sorted by id; each impossible one is said and dropped. */
static uint32_t keep_possible(struct hs_dump_reading *r, struct counters *list, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (are_possible(&list[i])) {
            list[kept++] = list[i];
            continue;
        }
        for (uint32_t k = r->dump.first_member; k < r->px->job->member_count; k++) {
            if (r->px->job->members[k].local_id == list[i].local_id)
                r->px->job->members[k].has_status = false;
        }
        if (!hs_parse_diagnose(r->px, "impossible-counter", HS_NO_POSITION, HS_NO_POSITION,
                               HS_STR("pg_status")))
            r->no_memory = true;
    }
    return kept;
}

static void read_status(struct hs_dump_reading *r, const struct hs_value *status)
{
    const struct hs_document *doc = r->px->doc;
    uint32_t count, used = 0;
    const struct hs_value *items = hs_items(doc, status, &count);
    struct counters *list;

    if (status->kind != HS_VALUE_DICT || count == 0)
        return;
    list = calloc(count / 2 + 1, sizeof(*list));
    if (!list) {
        r->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        if (read_counters(doc, &items[i], &items[i + 1], &list[used]) && list[used].local_id >= 0 &&
            list[used].local_id <= INT32_MAX)
            used++;
        else if (!hs_parse_diagnose(r->px, "odd-field", HS_NO_POSITION, HS_NO_POSITION,
                                    HS_STR("pg_status")))
            r->no_memory = true;
    }
    used = keep_possible(r, list, used);
    if (used)
        qsort(list, used, sizeof(*list), by_local_id);
    match_by_operations(r, list, used);
    if (!match_by_order(r, list, used) &&
        !hs_parse_diagnose(r->px, "status-unpaired", HS_NO_POSITION, HS_NO_POSITION,
                           HS_STR("pg_status")))
        r->no_memory = true;
    free(list);
}

/* "2.10" is later than "2.9": major * 1000 + minor. */
static uint32_t read_version(struct hs_str text)
{
    uint32_t part[2] = { 0, 0 };
    unsigned at = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.' && at == 0)
            at = 1;
        else if (text.p[i] >= '0' && text.p[i] <= '9' && part[at] < 1000)
            part[at] = part[at] * 10 + (uint32_t)(text.p[i] - '0');
        else
            break;
    }
    return part[0] * 1000 + part[1];
}

void hs_dump_read_header(struct hs_dump_reading *r, const struct hs_value *top)
{
    uint32_t count;
    const struct hs_value *items = hs_items(r->px->doc, top, &count);
    const struct hs_value *status = NULL;

    if (top->kind != HS_VALUE_DICT)
        count = 0;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        switch (items[i].known) {
        case HS_WORD_VERSION:
            r->dump.version = read_version(hs_value_str(&items[i + 1]));
            break;
        case HS_WORD_NCCL_VERSION:
        case HS_WORD_COMM_LIB_VERSION:
            r->dump.library = items[i + 1].n ? hs_dump_text(r, &items[i + 1]) : HS_NO_ID;
            break;
        case HS_WORD_ENTRIES:
            r->dump.has_entries_key = true;
            break;
        case HS_WORD_PG_CONFIG:
            read_config(r, &items[i + 1]);
            break;
        case HS_WORD_PG_STATUS:
            status = &items[i + 1];
            break;
        default:
            break;
        }
    }
    if (status)
        read_status(r, status);
}
