/*
 * report_settings.c - versions, settings and devices side by side: who has which value, and which
 * are not the same everywhere.
 */
#include "analyzer/report_internal.h"

#include "analyzer/words.h"
#include "base/ranks.h"

#include <stdlib.h>

enum { SETTINGS = 2000, VALUES = 4096 /* as many as hosts */ };

/* One fact of the judged attempt; names and values are strings of the job. */
struct stated {
    uint32_t name, value;
    uint32_t host, rank; /* number in the report, global; HS_NO_ID: unknown */
    uint32_t source;     /* where neither is known; HS_NO_ID */
    uint64_t who;        /* host, else process, else source: whose value it is */
};

struct settings {
    struct hs_reporting *r;
    struct stated *list;
    uint32_t count;
    const struct hs_job *job;
};

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Strings are ordered by what they say: their numbers tell nothing to a reader. */
static int by_name(const void *a, const void *b, void *self)
{
    const struct stated *x = a, *y = b;
    const struct hs_job *job = self;
    int c = x->name == y->name
                ? 0
                : hs_str_cmp(hs_job_string(job, x->name), hs_job_string(job, y->name));

    if (!c && x->value != y->value)
        c = hs_str_cmp(hs_job_string(job, x->value), hs_job_string(job, y->value));
    c = c ? c : compare(x->who, y->who);
    return c ? c : compare(x->rank, y->rank);
}

static bool state(struct settings *s, uint32_t row)
{
    const struct hs_identity *id = s->r->j->identity;
    const struct hs_fact *f = &s->job->facts[row];
    uint32_t attempt = hs_identity_attempt(id, f->source, f->line);
    uint32_t process =
        f->speaker == HS_NO_ID ? HS_NO_ID : hs_identity_speaker(id, f->speaker, f->line);
    struct stated *to = &s->list[s->count];

    if (attempt != HS_NO_ID && attempt != s->r->j->line_attempt)
        return true;
    *to = (struct stated){ .name = f->name,
                           .value = f->value,
                           .host = HS_NO_ID,
                           .rank = HS_NO_ID,
                           .source = HS_NO_ID,
                           .who = (uint64_t)3 << 32 | f->source };
    if (process != HS_NO_ID) {
        const struct hs_process *p = &id->processes[process];

        to->rank = p->rank;
        to->who = p->host != HS_NO_ID ? (uint64_t)1 << 32 | p->host : (uint64_t)2 << 32 | process;
        if (p->host != HS_NO_ID) {
            struct hs_str host = hs_safe_text(id->hosts[p->host], &s->r->scratch);

            to->host = host.p ? hs_intern_put(&s->r->out->hosts, host) : HS_NO_ID;
            if (to->host == HS_NO_ID)
                return false;
        }
    }
    if (to->host == HS_NO_ID && to->rank == HS_NO_ID)
        to->source = f->source;
    s->count++;
    return true;
}

/* Sorted numbers, each once. */
static uint32_t unique(uint32_t *list, uint32_t count)
{
    uint32_t n = 0;

    if (count)
        qsort(list, count, sizeof(*list), hs_compare_u32);
    for (uint32_t i = 0; i < count; i++) {
        if (n == 0 || list[n - 1] != list[i])
            list[n++] = list[i];
    }
    return n;
}

static bool put_value(struct settings *s, const struct stated *list, uint32_t count,
                      struct hs_report_value *out)
{
    struct hs_arena *arena = &s->r->out->arena;
    uint32_t *hosts = HS_NEW(arena, uint32_t, count), *ranks = HS_NEW(arena, uint32_t, count);
    uint32_t *sources = HS_NEW(arena, uint32_t, count);

    if (!hosts || !ranks || !sources)
        return false;
    *out = (struct hs_report_value){ .value = hs_safe(s->job, list[0].value, arena),
                                     .hosts = hosts,
                                     .ranks = ranks,
                                     .sources = sources,
                                     .lines = count };
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].host != HS_NO_ID)
            hosts[out->host_count++] = list[i].host;
        if (list[i].rank != HS_NO_ID)
            ranks[out->rank_count++] = list[i].rank;
        if (list[i].source != HS_NO_ID)
            sources[out->source_count++] = list[i].source;
    }
    out->host_count = unique(hosts, out->host_count);
    out->rank_count = unique(ranks, out->rank_count);
    out->source_count = unique(sources, out->source_count);
    return out->value.p != NULL;
}

static uint32_t count_who(const struct stated *list, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += i == 0 || list[i].who != list[i - 1].who;
    return n;
}

/* All values of a name. It differs if somebody who states it lacks one of them. */
static bool put_setting(struct settings *s, const struct stated *list, uint32_t count)
{
    struct hs_report *out = s->r->out;
    struct hs_report_setting *setting = &out->settings[out->setting_count++];
    uint32_t values = 0, least = UINT32_MAX, most = 0;
    struct hs_intern who;

    for (uint32_t i = 0; i < count; i++)
        values += i == 0 || list[i].value != list[i - 1].value;
    *setting = (struct hs_report_setting){ .name = hs_safe(s->job, list[0].name, &out->arena) };
    setting->values =
        HS_NEW(&out->arena, struct hs_report_value, values < VALUES ? values : VALUES);
    if (!setting->values || !setting->name.p)
        return false;
    hs_intern_init(&who);
    for (uint32_t i = 0, end; i < count; i = end) {
        uint32_t n;

        for (end = i + 1; end < count && list[end].value == list[i].value; end++)
            continue;
        n = count_who(&list[i], end - i);
        least = n < least ? n : least;
        for (uint32_t k = i; k < end; k++)
            (void)hs_intern_put(&who,
                                (struct hs_str){ (const char *)&list[k].who, sizeof(list[k].who) });
        if (setting->value_count < VALUES &&
            !put_value(s, &list[i], end - i, &setting->values[setting->value_count++])) {
            hs_intern_release(&who);
            return false;
        }
    }
    most = who.count;
    hs_intern_release(&who);
    setting->differs = least < most;
    return true;
}

static int differing_first(const void *a, const void *b)
{
    const struct hs_report_setting *x = a, *y = b;

    return x->differs != y->differs ? y->differs - x->differs : hs_str_cmp(x->name, y->name);
}

bool hs_report_settings(struct hs_reporting *r)
{
    struct settings s = { .r = r, .job = r->j->job };
    uint32_t names = 0;

    s.list = HS_NEW(&r->scratch, struct stated, s.job->fact_count);
    if (!s.list)
        return false;
    for (uint32_t i = 0; i < s.job->fact_count; i++) {
        if (!state(&s, i))
            return false;
    }
    if (s.count)
        qsort_r(s.list, s.count, sizeof(*s.list), by_name, (void *)s.job);
    for (uint32_t i = 0; i < s.count; i++)
        names += i == 0 || s.list[i].name != s.list[i - 1].name;
    r->out->settings =
        HS_NEW(&r->out->arena, struct hs_report_setting, names < SETTINGS ? names : SETTINGS);
    if (!r->out->settings)
        return false;
    for (uint32_t i = 0, end; i < s.count && r->out->setting_count < SETTINGS; i = end) {
        for (end = i + 1; end < s.count && s.list[end].name == s.list[i].name; end++)
            continue;
        if (!put_setting(&s, &s.list[i], end - i))
            return false;
    }
    if (r->out->setting_count)
        qsort(r->out->settings, r->out->setting_count, sizeof(*r->out->settings), differing_first);
    return true;
}
