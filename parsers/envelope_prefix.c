/*
 * envelope_prefix.c - what shippers, launchers and processes put in front of a line.
 *
 * One function for each kind, tried by the first byte. All of them are told by their shape alone,
 * but "12: " of srun and "host: " of pdsh, which the whole stream has to show.
 */
#include "base/limits.h"
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

enum {
    NAME_MAX_BYTES = 253, /* of a host, pod, role */
    ROLE_MAX_BYTES = 81,
};

static void set_rank(struct hs_record *out, uint32_t rank, enum hs_rank_from from)
{
    if (rank <= HS_RANK_MAX && (uint32_t)from >= out->rank_from) {
        out->rank = rank;
        out->rank_from = from;
    }
}

static void skip_one_blank(struct hs_cursor *in)
{
    if (in->at < in->end && hs_is_blank(*in->at))
        in->at++;
}

/* [rank3]: of torch */
static bool take_rank_tag(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t rank;

    if (!hs_take_text(&tag, "[rank") || !hs_take_number(&tag, &rank) || !hs_take_text(&tag, "]:"))
        return false;
    skip_one_blank(&tag);
    set_rank(out, rank, HS_RANK_TAG);
    *in = tag;
    return true;
}

/* The same without its first bytes, as another process's write has eaten them: ank3]: is sure to
 * have all digits, 3]: is not. */
static bool take_torn_tag(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const tails[] = { "rank", "ank", "nk", "k", "" };
    struct hs_cursor tag = *in;
    uint32_t rank;
    size_t i = 0;

    while (!hs_take_text(&tag, tails[i]))
        i++;
    if (!hs_take_number(&tag, &rank) || !hs_take_text(&tag, "]:"))
        return false;
    if (tails[i][0] == '\0' && (tag.at == tag.end || *tag.at != '['))
        return false;
    skip_one_blank(&tag);
    if (tails[i][0])
        set_rank(out, rank, HS_RANK_TAG);
    out->torn = true;
    *in = tag;
    return true;
}

/* [rank: 3] of Lightning */
static bool take_lightning(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t rank;

    if (!hs_take_text(&tag, "[rank:"))
        return false;
    skip_one_blank(&tag);
    if (!hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] "))
        return false;
    set_rank(out, rank, HS_RANK_LAUNCHER);
    *in = tag;
    return true;
}

static bool is_role(char c)
{
    return hs_is_letter(c) || c == '_' || c == '.' || c == '-';
}

/*
 * [default0]: of torchrun: role and local rank. A template may put more behind a bar, and then it
 * is not known which number is which; torchx leaves the role out.
 */
static bool take_tail(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str role = { .p = NULL };
    uint32_t local_rank, other;
    bool bar;

    if (!hs_take_byte(&tag, '['))
        return false;
    if (!hs_take_span(&tag, is_role, ROLE_MAX_BYTES, &role) && !out->role.n)
        return false;
    if (hs_str_is(role, "rank") || !hs_take_number(&tag, &local_rank))
        return false;
    bar = hs_take_byte(&tag, '|');
    if ((bar && !hs_take_number(&tag, &other)) || !hs_take_text(&tag, "]:"))
        return false;
    skip_one_blank(&tag);
    if (!bar)
        out->local_rank = local_rank;
    if (!out->role.n)
        out->role = role;
    *in = tag;
    return true;
}

/* [pod/train-worker-3/pytorch] of kubectl logs --prefix */
static bool take_pod(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str pod, container;

    if (!hs_take_text(&tag, "[pod/") || !hs_take_span(&tag, hs_is_name, NAME_MAX_BYTES, &pod) ||
        !hs_take_byte(&tag, '/') || !hs_take_span(&tag, hs_is_name, NAME_MAX_BYTES, &container) ||
        !hs_take_byte(&tag, ']'))
        return false;
    skip_one_blank(&tag);
    out->role = pod;
    *in = tag;
    return true;
}

static bool is_job(char c)
{
    return c != ']' && c != ',' && c != '[' && (unsigned char)c > ' ';
}

/* [1,3]<stderr>: of mpirun, [prterun-node-a-1234@1,0]<stdout>: of PRRTE; [1,3][node-a]<stderr>: */
static bool take_mpirun(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const streams[] = { "<stdout>:", "<stderr>:", "<stddiag>:" };
    struct hs_cursor tag = *in;
    struct hs_str job, host = { .p = NULL };
    uint32_t rank;
    size_t i = 0;

    if (!hs_take_byte(&tag, '[') || !hs_take_span(&tag, is_job, 80, &job) ||
        !hs_take_byte(&tag, ',') || !hs_take_number(&tag, &rank) || !hs_take_byte(&tag, ']'))
        return false;
    if (hs_take_byte(&tag, '[') &&
        (!hs_take_span(&tag, hs_is_name, NAME_MAX_BYTES, &host) || !hs_take_byte(&tag, ']')))
        return false;
    while (i < 3 && !hs_take_text(&tag, streams[i]))
        i++;
    if (i == 3)
        return false;
    skip_one_blank(&tag);
    if (host.n)
        out->host = host;
    set_rank(out, rank, HS_RANK_LAUNCHER);
    *in = tag;
    return true;
}

/* fa88a9df [rank=5] || of determined, behind its time */
static void take_determined(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str id;
    uint32_t rank = HS_NO_ID;

    if (!hs_take_byte(&tag, ' ') || !hs_take_span(&tag, hs_is_name, 80, &id) ||
        !hs_take_byte(&tag, ' '))
        return;
    if (hs_take_text(&tag, "[rank=") && (!hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] ")))
        return;
    if (!hs_take_text(&tag, "||"))
        return;
    skip_one_blank(&tag);
    out->role = id;
    set_rank(out, rank, HS_RANK_LAUNCHER);
    *in = tag;
}

/* Behind a time in brackets: words such as TP0 of SGLang. */
static void take_shard(struct hs_cursor *in, struct hs_str *out)
{
    struct hs_cursor words = *in;
    const char *from = words.at + 1;
    struct hs_str word;
    uint32_t number;

    while (hs_take_byte(&words, ' ')) {
        if (!hs_take_span(&words, hs_is_letter, 8, &word) || !hs_take_number(&words, &number))
            return;
    }
    if (words.at == in->at)
        return;
    *out = (struct hs_str){ .p = from, .n = (size_t)(words.at - from) };
    *in = words;
}

/* [2024-02-27T21:35:32.106313Z], [Mon Feb  2 22:42:45 2026], [2397166.983093] */
static bool take_bracketed_time(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    struct hs_str role = out->role;
    size_t n;

    if (!hs_take_byte(&tag, '['))
        return false;
    hs_skip_blanks(&tag);
    n = hs_clock_read(hs_rest(&tag), &stamp);
    if (!n)
        n = hs_clock_read_seconds(hs_rest(&tag), &stamp);
    if (!n)
        return false;
    tag.at += n;
    take_shard(&tag, &role);
    if (!hs_take_byte(&tag, ']'))
        return false;
    out->role = role;
    hs_record_stamp(out, stamp);
    *in = tag;
    take_determined(in, out);
    if (in->at == tag.at)
        skip_one_blank(in);
    return true;
}

/* Behind a time: "node-a kernel: ", or the host alone if another program follows it. */
static void take_syslog(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor line = *in;
    struct hs_str host, program;
    struct hs_cursor message;
    uint32_t pid;

    if (!hs_take_span(&line, hs_is_name, NAME_MAX_BYTES, &host) || !hs_take_byte(&line, ' '))
        return;
    message = line;
    if (!hs_take_span(&message, hs_is_path, 80, &program))
        return;
    if (hs_take_byte(&message, '[')) {
        if (!hs_take_number(&message, &pid) || !hs_take_text(&message, "]: "))
            return;
        out->pid = pid;
    } else if (!hs_take_text(&message, ": ")) {
        return;
    }
    out->host = host;
    *in = hs_str_is(program, "kernel") ? message : line;
}

/* Behind a time: "- INFO - ", "| INFO     | ", "INFO " of Python's loggers. */
static void take_time_level(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    char level;
    bool bracket;

    if (hs_take_byte(&tag, '-') || hs_take_byte(&tag, '|'))
        hs_skip_blanks(&tag);
    bracket = hs_take_byte(&tag, '[');
    if (!hs_take_level(&tag, &level))
        return;
    if (bracket && !hs_take_byte(&tag, ']'))
        return;
    if (tag.at < tag.end && !hs_is_blank(*tag.at) && *tag.at != ':')
        return;
    (void)hs_take_byte(&tag, ':');
    hs_skip_blanks(&tag);
    if (hs_take_byte(&tag, '-') || hs_take_byte(&tag, '|'))
        skip_one_blank(&tag);
    out->level = level;
    out->header = HS_HEADER_PYTHON;
    *in = tag;
}

static bool begins_like_syslog(struct hs_str text)
{
    return text.n > 3 && hs_is_letter(text.p[0]) && text.p[3] == ' ';
}

/* A time without brackets; one without date needs a fraction. */
static bool take_time(struct hs_cursor *in, bool first, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    size_t n = hs_clock_read(hs_rest(&tag), &stamp);

    if (!n)
        return false;
    tag.at += n;
    if (tag.at < tag.end && !hs_is_blank(*tag.at) && *tag.at != '[' && *tag.at != ':')
        return false;
    (void)hs_take_byte(&tag, ':');
    hs_record_stamp(out, stamp);
    if (tag.at == tag.end || !hs_is_blank(*tag.at)) {
        *in = tag;
        return true;
    }
    hs_skip_blanks(&tag);
    if (first && ((stamp.clock & HS_CLOCK_ZONE) || begins_like_syslog(hs_rest(in))))
        take_syslog(&tag, out);
    take_time_level(&tag, out);
    if (hs_take_text(&tag, "| "))
        hs_skip_blanks(&tag);
    *in = tag;
    return true;
}

/* |  2024-08-23T21:04:12.473Z | of a table of log events */
static bool take_column(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_stamp stamp;
    size_t n;

    if (!hs_take_byte(&tag, '|'))
        return false;
    hs_skip_blanks(&tag);
    n = hs_clock_read(hs_rest(&tag), &stamp);
    tag.at += n;
    if (n)
        hs_skip_blanks(&tag);
    if (!n || !hs_take_byte(&tag, '|'))
        return false;
    skip_one_blank(&tag);
    hs_record_stamp(out, stamp);
    *in = tag;
    return true;
}

static char level_of_priority(uint32_t priority)
{
    return "FFFEWIIV"[priority & 7];
}

/* <6> of syslog and the kernel's ring */
static bool take_priority(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t priority;

    if (!hs_take_byte(&tag, '<') || !hs_take_number(&tag, &priority) || priority > 191 ||
        !hs_take_byte(&tag, '>'))
        return false;
    out->level = level_of_priority(priority);
    *in = tag;
    return true;
}

/* kern  :warn  : of dmesg --decode */
static bool take_facility(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const facilities[] = { "kern", "user", "daemon", "syslog" };
    static const char *const levels[] = { "emerg", "alert",  "crit", "err",
                                          "warn",  "notice", "info", "debug" };
    struct hs_cursor tag = *in;
    size_t i = 0;

    while (i < 4 && !hs_take_text(&tag, facilities[i]))
        i++;
    hs_skip_blanks(&tag);
    if (i == 4 || !hs_take_byte(&tag, ':'))
        return false;
    for (i = 0; i < 8 && !hs_take_text(&tag, levels[i]); i++)
        continue;
    hs_skip_blanks(&tag);
    if (i == 8 || !hs_take_text(&tag, ": "))
        return false;
    out->level = level_of_priority((uint32_t)i);
    *in = tag;
    return true;
}

static bool is_actor(char c)
{
    return hs_is_name(c) || c == ':';
}

static bool is_address(char c)
{
    return hs_is_digit(c) || c == '.' || c == ':' || (c >= 'a' && c <= 'f') ||
           (c >= 'A' && c <= 'F');
}

/* The rank in the name of an actor, [rank=9] or " rank=9"; ", rank=1" is SkyPilot's and a node. */
static bool take_actor_rank(struct hs_cursor *in, uint32_t *rank, uint32_t *task)
{
    struct hs_cursor tag = *in;

    if (hs_take_text(&tag, "[rank=")) {
        if (!hs_take_number(&tag, rank) || !hs_take_byte(&tag, ']'))
            return false;
    } else if (hs_take_text(&tag, " rank=")) {
        if (!hs_take_number(&tag, rank))
            return false;
    } else if (hs_take_text(&tag, ", rank=")) {
        if (!hs_take_number(&tag, task))
            return false;
    }
    *in = tag;
    return true;
}

/* (Actor pid=1, ip=10.0.0.4) of Ray; also vLLM's and SkyPilot's */
static bool take_actor(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str actor = { .p = NULL }, address = { .p = NULL };
    uint32_t rank = HS_NO_ID, task = HS_NO_ID, pid;

    if (!hs_take_byte(&tag, '('))
        return false;
    if (!hs_str_starts(hs_rest(&tag), HS_STR("pid="))) {
        if (!hs_take_span(&tag, is_actor, ROLE_MAX_BYTES, &actor) ||
            !take_actor_rank(&tag, &rank, &task))
            return false;
        (void)hs_take_byte(&tag, ',');
        if (!hs_take_byte(&tag, ' '))
            return false;
    }
    if (!hs_take_text(&tag, "pid=") || !hs_take_number(&tag, &pid))
        return false;
    if (hs_take_text(&tag, ", ip=") && !hs_take_span(&tag, is_address, 45, &address))
        return false;
    if (!hs_take_byte(&tag, ')'))
        return false;
    skip_one_blank(&tag);
    out->pid = pid;
    if (actor.n)
        out->role = actor;
    if (address.n)
        out->host = address;
    if (task <= HS_RANK_MAX)
        out->task = task;
    set_rank(out, rank, HS_RANK_LAUNCHER);
    *in = tag;
    return true;
}

bool hs_take_numbered(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t task, component;

    if (hs_take_byte(&tag, 'P')) {
        if (!hs_take_number(&tag, &component) || !hs_take_byte(&tag, ' '))
            return false;
        hs_skip_blanks(&tag);
    }
    if (!hs_take_number(&tag, &task) || task > HS_RANK_MAX || !hs_take_byte(&tag, ':') ||
        (tag.at < tag.end && !hs_take_byte(&tag, ' ')))
        return false;
    out->task = task;
    set_rank(out, task, HS_RANK_TASK);
    *in = tag;
    return true;
}

static bool is_ipv4(struct hs_str text)
{
    unsigned dots = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.')
            dots++;
        else if (!hs_is_digit(text.p[i]))
            return false;
    }
    return dots == 3;
}

/* A name with a number, dash or dot in it; a word or a number alone is none. */
static bool is_like_host(struct hs_str text)
{
    bool letter = false, other = false;

    for (size_t i = 0; i < text.n; i++) {
        letter |= hs_is_letter(text.p[i]);
        other |= hs_is_digit(text.p[i]) || text.p[i] == '-' || text.p[i] == '.';
    }
    return (letter && other) || is_ipv4(text);
}

/* "node-a1: " of pdsh */
bool hs_take_host(struct hs_cursor *in, struct hs_str *out)
{
    struct hs_cursor tag = *in;
    struct hs_str host;

    if (!hs_take_span(&tag, hs_is_name, NAME_MAX_BYTES, &host) || !hs_take_byte(&tag, ':') ||
        (tag.at < tag.end && !hs_take_byte(&tag, ' ')) || !is_like_host(host))
        return false;
    *out = host;
    *in = tag;
    return true;
}

/* role/replica of torchx, which stands in front of another prefix */
static bool take_replica(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str role;
    uint32_t replica;

    if (!hs_take_span(&tag, hs_is_name, ROLE_MAX_BYTES, &role) || !hs_take_byte(&tag, '/') ||
        !hs_take_number(&tag, &replica) || !hs_take_byte(&tag, ' ') || tag.at == tag.end ||
        *tag.at != '[')
        return false;
    out->role = (struct hs_str){ .p = in->at, .n = (size_t)(tag.at - in->at) - 1 };
    *in = tag;
    return true;
}

/* bench.node.tag [stderr] of milabench */
static bool take_bench(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str name;

    if (!hs_take_span(&tag, hs_is_name, NAME_MAX_BYTES, &name) || !memchr(name.p, '.', name.n) ||
        (!hs_take_text(&tag, " [stderr]") && !hs_take_text(&tag, " [stdout]")))
        return false;
    skip_one_blank(&tag);
    out->role = name;
    *in = tag;
    return true;
}

/* LOG1.0.txt: of grep over several files */
static bool take_grep(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const endings[] = { ".log", ".txt", ".out", ".err" };
    struct hs_cursor tag = *in;
    struct hs_str name;

    if (!hs_take_span(&tag, hs_is_path, NAME_MAX_BYTES, &name) || !hs_take_byte(&tag, ':'))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (hs_str_ends(name, hs_str_of(endings[i]))) {
            out->role = name;
            *in = tag;
            return true;
        }
    }
    return false;
}

typedef bool take_fn(struct hs_cursor *in, struct hs_record *out);

static bool take_any(take_fn *const *functions, struct hs_cursor *in, struct hs_record *out)
{
    while (*functions && !(*functions)(in, out))
        functions++;
    return *functions != NULL;
}

/* What only stands at the start of a line, and begins with a letter or digit. */
static bool take_first(struct hs_cursor *in, const struct hs_envelope *envelope,
                       struct hs_record *out)
{
    static take_fn *const words[] = { take_replica,  take_bench,    take_grep,
                                      take_facility, take_torn_tag, NULL };
    struct hs_cursor tag = *in;
    struct hs_str host;

    if (envelope->numbered && out->task == HS_NO_ID && hs_take_numbered(in, out))
        return true;
    if ((hs_is_digit(*in->at) || envelope->hosted) && hs_take_host(&tag, &host) &&
        (envelope->hosted || is_ipv4(host))) {
        out->host = host;
        *in = tag;
        return true;
    }
    return take_any(words, in, out);
}

bool hs_take_prefix(struct hs_cursor *in, const struct hs_envelope *envelope, bool first,
                    struct hs_record *out)
{
    static take_fn *const brackets[] = {
        take_rank_tag, take_tail, take_mpirun, take_lightning, take_bracketed_time, take_pod, NULL
    };

    if (in->at == in->end)
        return false;
    switch (*in->at) {
    case '[':
        return take_any(brackets, in, out);
    case '(':
        return take_actor(in, out);
    case '|':
        return first && take_column(in, out);
    case '<':
        return first && take_priority(in, out);
    default:
        if (!hs_is_word(*in->at))
            return false;
        return take_time(in, first, out) || (first && take_first(in, envelope, out));
    }
}
