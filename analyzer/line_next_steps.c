/*
 * line_next_steps.c - the exact next steps for a code and cause, with what this job tells put in.
 *
 * A step is taken when the job gives all that it needs, and nothing of what would make it idle: who
 * left a log is not asked for it.
 */
#include "analyzer/callsites.h"
#include "analyzer/telling.h"
#include "analyzer/words.h"

#include "base/limits.h"
#include "base/ranks.h"

/* What a step may name, and what may already be in the input. */
enum fact {
    CULPRITS = 1 << 0, /* ranks */
    HOST = 1 << 1,     /* hosts of the culprits */
    PID = 1 << 2,      /* of the only culprit */
    WAITERS = 1 << 3,
    CALL = 1 << 4,   /* that the others wait in */
    UNSEEN = 1 << 5, /* ranks of the world that left nothing */
    PEER = 1 << 6,   /* address that the evidence names, and its port */
    DEVICE = 1 << 7, /* address of a GPU on its bus */
    PLACE = 1 << 8,  /* in the user's code, where the others wait */
    CITED = 1 << 9,  /* line of the evidence */
    FILE_ = 1 << 10, /* where dumps of this job are written */
    LOG = 1 << 11,   /* of all culprits, with lines of the program's own */
    DUMP = 1 << 12,  /* of all culprits */
    DUMPS = 1 << 13, /* of anybody */
    STACK = 1 << 14, /* of a culprit */
    NCCL = 1 << 15,  /* lines of NCCL_DEBUG=INFO */
    WORLD = 1 << 16, /* the number of ranks */
    AMD = 1 << 17,
    CHECKED = 1 << 18, /* calls were compared before they were made */
    ADVICE = 1 << 19,  /* the rule or cause has a remedy */
    SITES = 1 << 20,   /* two places in the user's code that differ */
};

static const struct {
    const char *codes, *causes; /* words; causes NULL: any and none */
    unsigned needs, lacks;
    const char *key;
} steps[] = {
    { "rank-missing rank-slow", NULL, CULPRITS, LOG, "next.log-of" },
    { "rank-missing rank-slow gpu-stall", NULL, CULPRITS | HOST | PID, STACK, "next.stack-at" },
    { "rank-missing rank-slow", NULL, CULPRITS, STACK | PID, "next.stack-of" },
    { "gpu-stall", NULL, CULPRITS, HOST, "next.check-device" },
    { "gpu-stall", NULL, HOST, 0, "next.gpu-on" },
    { "rank-missing rank-slow", NULL, CULPRITS | FILE_, DUMP, "next.dump-at" },
    { "rank-missing rank-slow", NULL, CULPRITS, DUMP | FILE_, "next.dump-of" },
    { "rank-missing rank-slow", NULL, PLACE, 0, "next.look-at" },
    { "rank-slow rank-missing", "storage-stall host-blocked", HOST, 0, "next.blocked-on" },
    { "undetermined", NULL, ADVICE, 0, "next.remedy" },
    { "undetermined", NULL, WAITERS | UNSEEN, 0, "next.fetch-unseen" },
    { "undetermined", NULL, WAITERS, WORLD, "next.fetch-others" },
    { "undetermined", NULL, 0, WAITERS, "next.logs-whole" },
    { "gpu-fault", NULL, HOST, 0, "next.drain" },
    { "gpu-fault", NULL, CULPRITS, HOST, "next.host-of" },
    { "gpu-fault", NULL, HOST | DEVICE, AMD, "next.gpu-at" },
    { "gpu-fault", NULL, HOST, DEVICE | AMD, "next.gpu-on" },
    { "network-fault", "bad-cable-or-port", HOST, 0, "next.drain" },
    { "network-fault", "bad-cable-or-port", HOST, 0, "next.port-on" },
    { "network-fault", NULL, PEER, 0, "next.reach" },
    { "network-fault collective-stuck", NULL, 0, 0, "next.check-fabric" },
    { "peer-access-fault", NULL, HOST, 0, "next.peer-access-on" },
    { "shm-exhausted", NULL, HOST, 0, "next.shm-on" },
    { "rank-died", "host-out-of-memory killed-by-signal", HOST, 0, "next.kernel-on" },
    { "rank-died", "uncaught-exception", CITED, 0, "next.traceback" },
    { "rank-died", "scheduler-limit", 0, 0, "next.scheduler" },
    { "version-mismatch", NULL, 0, 0, "next.versions" },
    { "order-mismatch size-mismatch dtype-mismatch", NULL, SITES, 0, "next.compare-sites" },
    { "size-mismatch dtype-mismatch", NULL, PLACE, SITES, "next.same-site" },
    { "order-mismatch", NULL, PLACE, SITES, "next.look-at" },
    { "order-mismatch size-mismatch dtype-mismatch", NULL, CALL, PLACE, "next.compare-calls" },
    { "order-mismatch size-mismatch dtype-mismatch", NULL, 0, CHECKED, "next.debug-detail" },
    { "init-stuck", NULL, 0, 0, "next.start" },
    { "gpu-fault network-fault peer-access-fault shm-exhausted rank-died misconfigured "
      "version-mismatch known-bug rank-slow rank-missing order-mismatch size-mismatch",
      NULL, ADVICE, 0, "next.remedy" },
    { "undetermined collective-stuck init-stuck", NULL, 0, DUMPS, "next.recorder" },
    { "undetermined init-stuck network-fault collective-stuck", NULL, 0, NCCL, "next.nccl-debug" },
};

/* The slots of every step. */
struct slots {
    const struct hs_judged *j;
    struct hs_verdict *v;
    const struct hs_claim *claim;
    unsigned known;          /* enum fact */
    struct hs_phrase phrase; /* the arguments, without a key */
};

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += n) {
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    }
    return false;
}

/*
 * A word that may stand in a command that somebody pastes into a shell: "" if it has any character
 * that names, addresses and paths do not have. What lines say is a stranger's.
 */
static struct hs_str plain(struct hs_str word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c && strchr("._:/@%+~", c)) || (c == '-' && i > 0)))
            return hs_str_of("");
    }
    return word;
}

static void add(struct slots *s, enum fact fact, const char *name, struct hs_str text,
                uint64_t count)
{
    hs_phrase_add(&s->phrase, name, text.p ? text : hs_str_of(""), count);
    if (text.n)
        s->known |= fact;
}

/* ---- who ---- */

static uint32_t *culprit_ranks(const struct slots *s, uint32_t *count)
{
    uint32_t *ranks = HS_NEW(&s->v->arena, uint32_t, s->v->culprit_count);

    *count = 0;
    for (uint32_t i = 0; ranks && i < s->v->culprit_count; i++) {
        if (s->v->culprits[i].rank != HS_NO_ID)
            ranks[(*count)++] = s->v->culprits[i].rank;
    }
    return ranks;
}

/* "node-a,node-b" as commands want it; "" when there are too many for one. */
static struct hs_str host_list(const struct slots *s, uint32_t *count)
{
    enum { MANY = 16 };
    struct hs_str seen[MANY], list = hs_str_of("");

    *count = 0;
    for (uint32_t i = 0; i < s->v->culprit_count; i++) {
        struct hs_str host = s->v->culprits[i].host;
        bool told = !host.p || !plain(host).n;

        for (uint32_t k = 0; k < *count && !told; k++)
            told = hs_str_eq(seen[k], host);
        if (told)
            continue;
        if (*count == MANY)
            return hs_str_of("");
        seen[(*count)++] = host;
        list = hs_arena_printf(&s->v->arena, "%.*s%s%.*s", HS_STR_ARG(list), list.n ? "," : "",
                               HS_STR_ARG(host));
    }
    return list;
}

/* "" when it is not known, or several are meant. */
static struct hs_str pid_of(const struct slots *s, const uint32_t *ranks, uint32_t count)
{
    uint32_t process =
        count == 1 ? hs_identity_rank(s->j->identity, s->j->line_attempt, ranks[0]) : HS_NO_ID;

    if (process == HS_NO_ID || s->j->identity->processes[process].pid == HS_NO_ID)
        return hs_str_of("");
    return hs_arena_printf(&s->v->arena, "%u", s->j->identity->processes[process].pid);
}

/* Culprits with lines that the watchdog did not write; UINT32_MAX without memory. */
static uint32_t count_logs(const struct slots *s, const uint32_t *ranks, uint32_t count)
{
    const struct hs_identity *id = s->j->identity;
    const struct hs_job *job = s->j->job;
    uint32_t *lines = HS_NEW(&s->v->arena, uint32_t, id->process_count), logs = 0;

    if (!lines)
        return UINT32_MAX;
    for (uint32_t i = 0; i < id->process_count; i++)
        lines[i] = id->processes[i].lines;
    for (uint32_t e = 0; e < job->event_count; e++) {
        uint32_t process = id->process_of_event[e], lines_of = job->events[e].count;

        if (process != HS_NO_ID && hs_job_arg(job, job->events[e].args, "pg").n)
            lines[process] -= lines_of < lines[process] ? lines_of : lines[process];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t process = hs_identity_rank(id, s->j->line_attempt, ranks[i]);

        logs += process != HS_NO_ID && lines[process] > 0;
    }
    return logs;
}

static void add_who(struct slots *s)
{
    uint32_t count, hosts, *ranks = culprit_ranks(s, &count);
    uint32_t logs = count_logs(s, ranks, count), dumps = 0;
    struct hs_str list = host_list(s, &hosts), pid;

    for (uint32_t i = 0; i < count; i++)
        dumps += hs_seat_of_rank(&s->j->al, ranks[i]) != HS_NO_ID;
    s->known |= (count && logs == count ? LOG : 0u) | (count && dumps == count ? DUMP : 0u);
    add(s, CULPRITS, "culprits", count ? hs_rank_text(ranks, count, &s->v->arena) : hs_str_of(""),
        count);
    add(s, HOST, "hosts", list, hosts);
    pid = pid_of(s, ranks, count);
    add(s, pid.n ? PID : 0, "pid", pid.n ? pid : hs_str_of("PID"), 1);
    add(s, 0, "number",
        count == 1 ? hs_arena_printf(&s->v->arena, "%u", ranks[0]) : hs_str_of("RANK"), 1);
    add(s, WAITERS, "waiters",
        s->v->waiting_count ? hs_rank_text(s->v->waiting, s->v->waiting_count, &s->v->arena)
                            : hs_str_of(""),
        s->v->waiting_count);
    add(s, 0, "seen", hs_rank_text(s->v->log_ranks, s->v->log_rank_count, &s->v->arena),
        s->v->log_rank_count);
    add(s, UNSEEN, "unseen",
        s->v->silent_rank_count
            ? hs_rank_text(s->v->silent_ranks, s->v->silent_rank_count, &s->v->arena)
            : hs_str_of(""),
        s->v->silent_rank_count);
}

/* ---- where ---- */

/* Where in the user's code a wait was called; "" without a stack. */
static struct hs_str site_of(const struct slots *s, const struct hs_line_wait *w)
{
    uint32_t frame = w && w->stack != HS_NO_ID ? hs_user_frame(s->j->job, w->stack) : HS_NO_ID;

    return frame == HS_NO_ID ? hs_str_of("") : hs_frame_text(s->j->job, frame, &s->v->arena);
}

static void add_where(struct slots *s)
{
    const struct hs_line_claim *line = s->claim ? s->claim->line : NULL;
    const struct hs_line_wait *w = line ? line->wait : NULL;
    struct hs_arena *arena = &s->v->arena;
    struct hs_str place = site_of(s, w), other = site_of(s, line ? line->other : NULL);
    struct hs_str cited = hs_str_of("");
    uint32_t frame = HS_NO_ID, seat, op;

    if (!line && s->claim && hs_node_example(s->j, s->claim->node, &seat, &op))
        frame = hs_user_frame(s->j->job, hs_seat_dump(&s->j->al, seat)->operations[op].stack);
    if (frame != HS_NO_ID)
        place = hs_frame_text(s->j->job, frame, arena);
    if (s->claim && s->claim->place_count) {
        const struct hs_place *p = &s->claim->places[0];

        cited = hs_arena_printf(
            arena, "%.*s:%llu",
            HS_STR_ARG(hs_safe(s->j->job, s->j->job->sources[p->source].name, arena)),
            (unsigned long long)p->line);
    }
    add(s, CALL, "operation", hs_line_call_text(s->j, w, arena), 1);
    add(s, PLACE, "place", place, 1);
    add(s, 0, "ours", place, 1);
    add(s, place.n && !hs_str_eq(place, other) ? SITES : 0, "theirs", other, 1);
    add(s, CITED, "cited", cited, 1);
}

/* ---- what the evidence names ---- */

/* "10.0.0.2<45763>", "[fe80::1]:29500", "10.0.0.2:29500" in two. */
static void split_address(struct hs_str text, struct hs_str *address, struct hs_str *port)
{
    const char *open = memchr(text.p, '<', text.n);
    size_t at = text.n;

    *address = text;
    *port = hs_str_of("");
    if (!open) {
        while (at && text.p[at - 1] != ':')
            at--;
        if (at == 0 || memchr(text.p, ':', at - 1) != NULL)
            return; /* no port, or an address of IPv6 */
        open = text.p + at - 1;
    }
    address->n = (size_t)(open - text.p);
    port->p = open + 1;
    port->n = text.n - address->n - 1;
    if (port->n && port->p[port->n - 1] == '>')
        port->n--;
}

/* Values of the events at the evidence's first line. */
static struct hs_str value_at_evidence(const struct slots *s, const char *const *names)
{
    const struct hs_job *job = s->j->job;

    for (uint32_t e = 0; s->claim && s->claim->place_count && e < job->event_count; e++) {
        const struct hs_event *event = &job->events[e];

        if (event->source != s->claim->places[0].source || event->line != s->claim->places[0].line)
            continue;
        for (const char *const *name = names; *name; name++) {
            struct hs_str value = hs_job_arg(job, event->args, *name);

            if (value.n)
                return hs_safe_text(value, &s->v->arena);
        }
    }
    return hs_str_of("");
}

static void add_evidence(struct slots *s)
{
    static const char *const peers[] = { "peer", NULL };
    static const char *const devices[] = { "bdf", "bus_id", NULL };
    struct hs_str peer = value_at_evidence(s, peers), address, port, device;

    split_address(peer, &address, &port);
    address = hs_arena_copy(&s->v->arena, address);
    port = plain(hs_arena_copy(&s->v->arena, port));
    add(s, PEER, "peer", plain(address), 1);
    add(s, 0, "port", port.n ? port : hs_str_of("PORT"), 1);
    device = plain(value_at_evidence(s, devices));
    if (device.n && !memchr(device.p, '.', device.n))
        device = hs_arena_printf(&s->v->arena, "%.*s.0", HS_STR_ARG(device));
    add(s, DEVICE, "device", device, 1);
}

/* What lines say of the whole job: where dumps go, which stacks were taken. */
static void add_input(struct slots *s)
{
    const struct hs_job *job = s->j->job;
    uint32_t stack = hs_intern_find(&job->strings, HS_STR("STACK"));
    uint32_t file = hs_intern_find(&job->strings, HS_STR("DUMP_FILE"));
    struct hs_str path = hs_str_of("");

    for (uint32_t e = 0; e < job->event_count; e++) {
        const struct hs_event *event = &job->events[e];
        uint32_t process = s->j->identity->process_of_event[e];

        if (event->family == stack && process != HS_NO_ID &&
            hs_is_culprit(s->v, s->j->identity->processes[process].rank))
            s->known |= STACK;
        if (event->family == file && !path.n)
            path = hs_job_arg(job, event->args, "path");
    }
    while (path.n && path.p[path.n - 1] >= '0' && path.p[path.n - 1] <= '9')
        path.n--;
    add(s, FILE_, "file", plain(hs_arena_copy(&s->v->arena, path)), 1);
    s->known |= (s->j->al.seat_count ? DUMPS : 0u) |
                (job->communicator_count + job->link_count ? NCCL : 0u) |
                (s->v->world_size != HS_UNKNOWN ? WORLD : 0u);
}

static void add_advice(struct slots *s)
{
    const struct hs_line_claim *line = s->claim ? s->claim->line : NULL;
    const struct hs_symptom *failure = s->claim ? NULL : hs_first_failure(s->j);
    const char *topic = line && line->rule ? line->rule : failure ? failure->rule->id : s->v->cause;
    const struct hs_topic *found = topic ? hs_topic_find(topic, HS_ENGLISH) : NULL;
    bool any = found && found->remedy && *found->remedy;

    add(s, ADVICE, "remedy", hs_arena_copy(&s->v->arena, hs_str_of(any ? topic : "")), 1);
    add(s, 0, "reason", hs_arena_copy(&s->v->arena, hs_str_of(s->v->code)), 1);
    if (line && line->rule && strcmp(line->rule, "amd-gpu-hang") == 0)
        s->known |= AMD;
    if (line && line->why && strcmp(line->why, "why.lines.fingerprint") == 0)
        s->known |= CHECKED;
}

/* ---- a launch that counts its ranks wrongly ---- */

static void add_number(struct hs_phrase *phrase, const char *name, uint64_t n,
                       struct hs_arena *arena)
{
    hs_phrase_add(phrase, name, hs_arena_printf(arena, "%llu", (unsigned long long)n), n);
}

static uint32_t count_hosts(const struct slots *s, bool *seen)
{
    const struct hs_identity *id = s->j->identity;
    uint32_t count = 0;

    for (uint32_t i = 0; i < id->process_count; i++) {
        const struct hs_process *p = &id->processes[i];

        if (p->attempt == s->j->line_attempt && p->host != HS_NO_ID && !seen[p->host]) {
            seen[p->host] = true;
            count++;
        }
    }
    return count;
}

/*
 * Ranks beyond the world that a launch names, on several hosts: usually the world size is that of
 * one host, and the ranks are counted over all.
 */
static bool add_world_step(struct slots *s)
{
    static const char *const sizes[] = { "nranks", "world_size" };
    const struct hs_job *job = s->j->job;
    bool *seen = HS_NEW(&s->v->arena, bool, s->j->identity->host_count);
    uint64_t size = 0, top = 0, rank, n, each;
    struct hs_phrase *step;
    uint32_t hosts;

    if (!seen)
        return false;
    hosts = count_hosts(s, seen);
    for (uint32_t e = 0; e < job->event_count; e++) {
        uint32_t args = job->events[e].args;

        for (size_t i = 0; i < 2; i++) {
            if (hs_str_number(hs_job_arg(job, args, sizes[i]), &n) &&
                hs_str_number(hs_job_arg(job, args, "rank"), &rank) && n && n <= rank &&
                rank <= HS_RANK_MAX) {
                size = n > size ? n : size;
                top = rank > top ? rank : top;
            }
        }
    }
    if (!size || hosts < 2)
        return true;
    each = size * hosts > top ? size : (top + hosts) / hosts;
    step = &s->v->next_steps[s->v->next_count++];
    *step = (struct hs_phrase){ .key = "next.world" };
    add_number(step, "size", size, &s->v->arena);
    add_number(step, "top", top, &s->v->arena);
    add_number(step, "hosts", hosts, &s->v->arena);
    add_number(step, "each", each, &s->v->arena);
    add_number(step, "world", each * hosts, &s->v->arena);
    return true;
}

bool hs_add_exact_steps(const struct hs_judged *j, struct hs_verdict *v, uint32_t limit)
{
    struct slots s = { .j = j, .v = v, .claim = hs_winner(j) };

    add_who(&s);
    add_where(&s);
    add_evidence(&s);
    add_input(&s);
    add_advice(&s);
    if (v->cause && strcmp(v->cause, "invalid-rank") == 0 && !add_world_step(&s))
        return false;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && v->next_count < limit; i++) {
        if (!has_word(steps[i].codes, v->code) || (steps[i].needs & ~s.known) ||
            (steps[i].lacks & s.known) ||
            (steps[i].causes && (!v->cause || !has_word(steps[i].causes, v->cause))))
            continue;
        v->next_steps[v->next_count] = s.phrase;
        v->next_steps[v->next_count++].key = steps[i].key;
    }
    for (unsigned i = 0; i < s.phrase.n; i++) {
        if (!s.phrase.args[i].text.p)
            return false;
    }
    return true;
}
