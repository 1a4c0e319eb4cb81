/*
 * identity_hosts.c - what hosts are called: "node-b" and "node-b.example" are one, and so is the
 * address that a process of NCCL on it says it uses.
 */
#include "analyzer/identity_internal.h"

#include <ctype.h>
#include <stdlib.h>

/* An IPv4 or IPv6 address; a name may be all digits, but has no three dots then. */
static bool is_address(struct hs_str name)
{
    uint32_t dots = 0, others = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == ':')
            return true;
        dots += name.p[i] == '.';
        others += name.p[i] != '.' && !isdigit((unsigned char)name.p[i]);
    }
    return dots == 3 && others == 0;
}

/* What every host calls itself. */
static bool is_local(struct hs_str name)
{
    static const char *const names[] = { "localhost", "localhost.localdomain", "127.0.0.1", "::1",
                                         "0.0.0.0" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (hs_str_is(name, names[i]))
            return true;
    }
    return name.n == 0;
}

static struct hs_str first_label(struct hs_str name)
{
    const char *dot = is_address(name) ? NULL : memchr(name.p, '.', name.n);

    return (struct hs_str){ .p = name.p, .n = dot ? (size_t)(dot - name.p) : name.n };
}

/* First labels, and the one longer name that each stands for. */
struct labels {
    struct hs_intern texts;
    struct hs_str *full; /* p NULL: only the label itself was met */
    bool *several;       /* longer names differ: each is a host of its own */
    uint32_t full_cap, several_cap;
};

static bool note_name(struct labels *l, struct hs_str name)
{
    struct hs_str label = first_label(name);
    uint32_t known = l->texts.count, at;

    if (is_local(name))
        return true;
    at = hs_intern_put(&l->texts, label);
    if (at == HS_NO_ID || !HS_GROW(l->full, l->full_cap, at + 1u) ||
        !HS_GROW(l->several, l->several_cap, at + 1u))
        return false;
    if (l->texts.count > known) {
        l->full[at] = (struct hs_str){ .p = NULL };
        l->several[at] = false;
    }
    if (label.n == name.n)
        return true;
    if (!l->full[at].p)
        l->full[at] = name;
    else
        l->several[at] = l->several[at] || !hs_str_eq(l->full[at], name);
    return true;
}

static struct hs_str host_name(const struct labels *l, struct hs_str name)
{
    struct hs_str label = first_label(name);
    uint32_t at = hs_intern_find(&l->texts, label);

    return at != HS_NO_ID && l->several[at] ? name : label;
}

/* Call `see` for every string of the job that names a host. */
static bool each_name(struct hs_inquiry *q, void *self,
                      bool (*see)(struct hs_inquiry *q, void *self, uint32_t string))
{
    const struct hs_job *job = q->job;
    bool ok = true;

    for (uint32_t i = 0; ok && i < job->speaker_count; i++)
        ok = job->speakers[i].host == HS_NO_ID || see(q, self, job->speakers[i].host);
    for (uint32_t i = 0; ok && i < job->dump_count; i++)
        ok = job->dumps[i].host == HS_NO_ID || see(q, self, job->dumps[i].host);
    for (uint32_t i = 0; ok && i < job->event_count; i++) {
        uint32_t count;
        const uint32_t *args = hs_job_args(job, job->events[i].args, &count);

        for (uint32_t k = 0; ok && k + 1 < count; k += 2) {
            struct hs_str name = hs_job_string(job, args[k]);

            if (hs_str_is(name, "host") || hs_str_is(name, "node"))
                ok = see(q, self, args[k + 1]);
        }
    }
    return ok;
}

static bool note_string(struct hs_inquiry *q, void *self, uint32_t string)
{
    return note_name(self, hs_job_string(q->job, string));
}

/* host_of_string keeps the number of the host and 1; 0: not asked for. */
static bool settle_string(struct hs_inquiry *q, void *self, uint32_t string)
{
    struct hs_str name = hs_job_string(q->job, string);
    uint32_t host;

    if (q->id->host_of_string[string] || is_local(name))
        return true;
    host = hs_intern_put(&q->hosts, host_name(self, name));
    q->id->host_of_string[string] = host + 1;
    return host != HS_NO_ID;
}

/* ---- addresses ---- */

/* "10.2.3.32<0>" of "eth0:10.2.3.32<0>" or alone: the address; n 0: none. */
static struct hs_str address_in(struct hs_str value)
{
    const char *end = memchr(value.p, '<', value.n);
    struct hs_str text = { .p = value.p, .n = end ? (size_t)(end - value.p) : value.n };

    return is_address(text) ? text : (struct hs_str){ .p = value.p, .n = 0 };
}

/* Addresses that processes of exactly one host use name that host. */
static bool settle_addresses(struct hs_inquiry *q)
{
    const struct hs_job *job = q->job;
    uint32_t *named;

    named = HS_NEW(&q->scratch, uint32_t, q->hosts.count);
    if (!named)
        return false;
    memset(named, 0xff, q->hosts.count * sizeof(*named));
    for (uint32_t i = 0; i < job->fact_count; i++) {
        const struct hs_fact *fact = &job->facts[i];
        uint32_t string = fact->speaker == HS_NO_ID ? HS_NO_ID : job->speakers[fact->speaker].host;
        uint32_t host = string == HS_NO_ID ? 0 : q->id->host_of_string[string], at;
        struct hs_str address;

        if (!host || !hs_str_is(hs_job_string(job, fact->name), "bootstrap_if.addr"))
            continue;
        address = address_in(hs_job_string(job, fact->value));
        at = address.n ? hs_intern_find(&q->hosts, address) : HS_NO_ID;
        if (at == HS_NO_ID)
            continue; /* nobody calls a host by it */
        named[at] = named[at] == HS_NO_ID || named[at] == host - 1 ? host - 1 : at;
    }
    for (uint32_t i = 0; i < job->strings.count; i++) {
        uint32_t *host = &q->id->host_of_string[i];

        if (*host && named[*host - 1] != HS_NO_ID)
            *host = named[*host - 1] + 1;
    }
    return true;
}

bool hs_identity_find_hosts(struct hs_inquiry *q)
{
    struct hs_identity *id = q->id;
    struct labels labels = { .full = NULL };
    bool ok;

    hs_intern_init(&labels.texts);
    id->host_of_string = HS_NEW(q->arena, uint32_t, q->job->strings.count);
    ok = id->host_of_string && each_name(q, &labels, note_string) &&
         each_name(q, &labels, settle_string) && settle_addresses(q);
    id->hosts = ok ? HS_NEW(q->arena, struct hs_str, q->hosts.count) : NULL;
    ok = ok && id->hosts;
    for (uint32_t i = 0; ok && i < q->hosts.count; i++) {
        id->hosts[i] = hs_arena_copy(q->arena, hs_intern_get(&q->hosts, i));
        ok = id->hosts[i].p != NULL;
    }
    id->host_count = ok ? q->hosts.count : 0;
    hs_intern_release(&labels.texts);
    free(labels.full);
    free(labels.several);
    return ok;
}
