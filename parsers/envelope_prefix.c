/*
 * envelope_prefix.c - what shippers, launchers and processes put in front of a line.
 *
 * One function for each kind, tried by the first byte. All of them are told by their shape alone,
 * but "12: " of srun and "host: " of pdsh, which the whole stream has to show.
 */
#include "base/limits.h"
#include "parsers/envelope_internal.h"

enum { ROLE_MAX_BYTES = 81 };

/* [rank3]: of torch */
static bool take_rank_tag(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t rank;

    if (!hs_take_text(&tag, "[rank") || !hs_take_number(&tag, &rank) || !hs_take_text(&tag, "]:"))
        return false;
    hs_skip_blank(&tag);
    hs_record_rank(out, rank, HS_RANK_TAG);
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
    hs_skip_blank(&tag);
    if (tails[i][0])
        hs_record_rank(out, rank, HS_RANK_TAG);
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
    hs_skip_blank(&tag);
    if (!hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] "))
        return false;
    hs_record_rank(out, rank, HS_RANK_LAUNCHER);
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
    hs_skip_blank(&tag);
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

    if (!hs_take_text(&tag, "[pod/") || !hs_take_span(&tag, hs_is_name, HS_NAME_BYTES, &pod) ||
        !hs_take_byte(&tag, '/') || !hs_take_span(&tag, hs_is_name, HS_NAME_BYTES, &container) ||
        !hs_take_byte(&tag, ']'))
        return false;
    hs_skip_blank(&tag);
    out->role = pod;
    *in = tag;
    return true;
}

static bool is_job(char c)
{
    return c != ']' && c != ',' && c != '[' && (unsigned char)c > ' ';
}

/* [JOB,RANK]<stderr>: of Open MPI, [RANK]<stderr>: of Horovod */
bool hs_take_mpirun(struct hs_cursor *in, struct hs_record *out)
{
    static const char *const streams[] = { "<stdout>:", "<stderr>:", "<stddiag>:" };
    struct hs_cursor tag = *in, alone;
    struct hs_str job, host = { .p = NULL };
    uint32_t rank;
    size_t i = 0;

    if (!hs_take_byte(&tag, '[') || !hs_take_span(&tag, is_job, 80, &job))
        return false;
    alone = (struct hs_cursor){ .at = job.p, .end = job.p + job.n };
    if (!hs_take_number(hs_take_byte(&tag, ',') ? &tag : &alone, &rank) || !hs_take_byte(&tag, ']'))
        return false;
    if (alone.at != job.p && alone.at != alone.end)
        return false;
    if (hs_take_byte(&tag, '[') &&
        (!hs_take_span(&tag, hs_is_name, HS_NAME_BYTES, &host) || !hs_take_byte(&tag, ']')))
        return false;
    while (i < 3 && !hs_take_text(&tag, streams[i]))
        i++;
    if (i == 3)
        return false;
    hs_skip_blank(&tag);
    if (host.n)
        out->host = host;
    hs_record_rank(out, rank, HS_RANK_LAUNCHER);
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
    hs_skip_blank(&tag);
    out->pid = pid;
    if (actor.n)
        out->role = actor;
    if (address.n)
        out->host = address;
    if (task <= HS_RANK_MAX)
        out->task = task;
    hs_record_rank(out, rank, HS_RANK_LAUNCHER);
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
    hs_record_rank(out, task, HS_RANK_TASK);
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

    if (!hs_take_span(&tag, hs_is_name, HS_NAME_BYTES, &host) || !hs_take_byte(&tag, ':') ||
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

    if (!hs_take_span(&tag, hs_is_name, HS_NAME_BYTES, &name) || !memchr(name.p, '.', name.n) ||
        (!hs_take_text(&tag, " [stderr]") && !hs_take_text(&tag, " [stdout]")))
        return false;
    hs_skip_blank(&tag);
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

    if (!hs_take_span(&tag, hs_is_path, HS_NAME_BYTES, &name) || !hs_take_byte(&tag, ':'))
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

/* stderr: of a program that runs another one and passes its lines on */
static bool take_stream(struct hs_cursor *in)
{
    return hs_take_text(in, "stderr: ") || hs_take_text(in, "stdout: ");
}

typedef bool take_fn(struct hs_cursor *in, struct hs_record *out);

static bool take_any(take_fn *const *functions, struct hs_cursor *in, struct hs_record *out)
{
    while (*functions && !(*functions)(in, out))
        functions++;
    return *functions != NULL;
}

/* What only stands at the start of a line, and begins with a letter or digit: told by what follows
 * the first word. */
static bool take_first(struct hs_cursor *in, const struct hs_envelope *envelope,
                       struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str host;
    const char *at = in->at;

    if (envelope->numbered && out->task == HS_NO_ID && hs_take_numbered(in, out))
        return true;
    while (at < in->end && at - in->at <= HS_NAME_BYTES && hs_is_name(*at))
        at++;
    if (at == in->end)
        return false;
    switch (*at) {
    case ':':
        if (take_stream(in))
            return true;
        if (hs_take_host(&tag, &host) && (envelope->hosted || is_ipv4(host))) {
            out->host = host;
            *in = tag;
            return true;
        }
        return take_grep(in, out);
    case '/':
        return take_replica(in, out) || take_grep(in, out);
    case ' ':
        return take_bench(in, out) || hs_take_facility(in, out);
    case ']':
        return take_torn_tag(in, out);
    default:
        return false;
    }
}

bool hs_take_prefix(struct hs_cursor *in, const struct hs_envelope *envelope, bool first,
                    struct hs_record *out)
{
    static take_fn *const brackets[] = {
        take_rank_tag, take_tail, hs_take_mpirun, take_lightning, hs_take_bracketed_time,
        take_pod,      NULL
    };

    if (in->at == in->end)
        return false;
    switch (*in->at) {
    case '[':
        return take_any(brackets, in, out);
    case '(':
        return take_actor(in, out);
    case '|':
        return first && hs_take_column(in, out);
    case '<':
        return first && hs_take_priority(in, out);
    default:
        if (!hs_is_word(*in->at))
            return false;
        return hs_take_time(in, first, out) || (first && take_first(in, envelope, out));
    }
}
