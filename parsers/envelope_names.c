/*
 * envelope_names.c - who speaks in a source, as far as its name says so.
 */
#include "base/limits.h"
#include "parsers/envelope_internal.h"

/* The last component of `path`, taken off it. */
static struct hs_str last_component(struct hs_str *path)
{
    const char *slash = path->n ? memrchr(path->p, '/', path->n) : NULL;
    struct hs_str name = *path;

    if (slash) {
        name.p = slash + 1;
        name.n = path->n - (size_t)(name.p - path->p);
    }
    path->n -= name.n + (slash != NULL);
    return name;
}

/* node7, node-a, gpu-03, ip-10-0-0-1: a word for a machine, and what tells it from others. */
static bool is_machine(struct hs_str name)
{
    static const char *const words[] = { "node", "host", "worker", "gpu", "dgx", "ip-", "compute" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct hs_str word = hs_str_of(words[i]);

        if (!hs_str_starts(name, word) || name.n == word.n || name.n > 253)
            continue;
        return hs_is_digit(name.p[name.n - 1]) ||
               (name.n == word.n + 2 && name.p[word.n] == '-' && hs_is_letter(name.p[word.n + 1]));
    }
    return false;
}

static bool whole_number(struct hs_str text, uint32_t *out)
{
    struct hs_cursor in = { .at = text.p, .end = text.p + text.n };
    uint32_t number;

    if (!hs_take_number(&in, &number) || in.at != in.end || number > HS_RANK_MAX)
        return false;
    *out = number;
    return true;
}

static bool ends_with_word(struct hs_str text, const char *word)
{
    while (text.n && !hs_is_letter(text.p[text.n - 1]))
        text.n--;
    return hs_str_ends(text, hs_str_of(word));
}

/* rank3, rank_3, rank-3 in a file's name; local_rank3 is one on its host, node_rank3 none. */
static bool take_rank(struct hs_str name, struct hs_record *out)
{
    static const struct hs_str word = { .p = "rank", .n = 4 };
    const char *end = name.p + name.n;

    for (const char *at = name.p; (at = memmem(at, (size_t)(end - at), word.p, word.n)) != NULL;
         at += word.n) {
        struct hs_cursor in = { .at = at + word.n, .end = end };
        struct hs_str before = { .p = name.p, .n = (size_t)(at - name.p) };
        uint32_t rank;

        if (in.at < end && (*in.at == '_' || *in.at == '-'))
            in.at++;
        if (!hs_take_number(&in, &rank) || rank > HS_RANK_MAX ||
            (in.at < end && hs_is_letter(*in.at)) ||
            (before.n && hs_is_letter(before.p[before.n - 1])))
            continue;
        if (ends_with_word(before, "node") || ends_with_word(before, "group"))
            return false;
        if (ends_with_word(before, "local")) {
            out->local_rank = rank;
            return true;
        }
        out->rank = rank;
        out->rank_from = HS_RANK_FILE;
        return true;
    }
    return false;
}

/* attempt_0/3/stderr.log of torchrun: the folder is the local rank. */
static bool take_attempt(struct hs_str path, struct hs_str name, struct hs_record *out)
{
    struct hs_str folder, attempt;
    uint32_t local_rank;

    if (!hs_str_starts(name, HS_STR("stderr")) && !hs_str_starts(name, HS_STR("stdout")))
        return false;
    folder = last_component(&path);
    attempt = last_component(&path);
    if (!hs_str_starts(attempt, HS_STR("attempt_")) || !whole_number(folder, &local_rank))
        return false;
    out->local_rank = local_rank;
    return true;
}

/* slurm-1234_node-a_3.out: job, host, task */
static bool take_slurm(struct hs_str name, struct hs_record *out)
{
    struct hs_cursor in = { .at = name.p, .end = name.p + name.n };
    uint32_t job, task;
    struct hs_str host;
    const char *bar;

    if (!hs_take_text(&in, "slurm-") || !hs_take_number(&in, &job) || !hs_take_byte(&in, '_'))
        return false;
    bar = memrchr(in.at, '_', (size_t)(in.end - in.at));
    if (!bar || !hs_is_letter(*in.at))
        return false;
    host = (struct hs_str){ .p = in.at, .n = (size_t)(bar - in.at) };
    in.at = bar + 1;
    if (!hs_take_number(&in, &task) || task > HS_RANK_MAX || (in.at < in.end && *in.at != '.'))
        return false;
    out->host = host;
    out->task = task;
    out->rank = task;
    out->rank_from = HS_RANK_TASK;
    return true;
}

bool hs_record_source_name(struct hs_str source_name, struct hs_record *out)
{
    struct hs_str path = source_name;
    struct hs_str name = last_component(&path);
    bool found = take_rank(name, out) || take_attempt(path, name, out) || take_slurm(name, out);

    while (path.n) {
        struct hs_str folder = last_component(&path);

        if (is_machine(folder)) {
            if (!out->host.n)
                out->host = folder;
            return true;
        }
    }
    return found;
}
