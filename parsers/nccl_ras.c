/*
 * nccl_ras.c - the report of NCCL's RAS (ncclras, or its socket) as text: what it says of
 * communicators, ranks and processes, an event for each statement.
 *
 * A statement stands below a heading that names its communicator, and the ranks of a list below
 * the count they belong to: a record keeps both in mind.
 */
#include "parsers/nccl_ras.h"

enum { OPEN = 1 };

static const char *const inherited[] = { "commid", "group", "error", "op", "seq", "state" };

static void say(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                const char *what, const struct hs_record_value *values, uint32_t count)
{
    struct hs_record_value all[16];
    struct hs_record head = open->head;
    uint32_t n = 0;

    all[n++] = (struct hs_record_value){ "what", hs_str_of(what) };
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
        all[n++] = (struct hs_record_value){ inherited[i], hs_open_get(open, inherited[i]) };
    for (uint32_t i = 0; i < count; i++)
        all[n++] = values[i]; /* of two values of a name the last one counts */
    head.line = record->line;
    hs_records_keep(t, record);
    hs_records_say(t, &(struct hs_told){ .family = HS_RAS_FAMILY,
                                         .head = &head,
                                         .speaker = open->speaker,
                                         .stack = HS_NO_ID,
                                         .values = all,
                                         .count = n });
}

/* Beyond this heading nothing of what was said before is meant. */
static void forget(struct hs_open *open, size_t first)
{
    for (size_t i = first; i < sizeof(inherited) / sizeof(inherited[0]); i++)
        hs_open_unset(open, inherited[i]);
}

static struct hs_str word_at(struct hs_str *text)
{
    size_t n = 0;
    struct hs_str word;

    *text = hs_trim_left(*text);
    while (n < text->n && text->p[n] != ' ' && text->p[n] != '\t')
        n++;
    word = hs_until(*text, n);
    *text = hs_from(*text, n);
    return word;
}

static bool is_state(struct hs_str word)
{
    static const char *const states[] = { "UNKNOWN", "NOCOMM",   "INIT",
                                          "RUNNING", "FINALIZE", "ABORT" };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (hs_str_is(word, states[i]))
            return true;
    }
    return false;
}

/* "    0         1         4       7-8        32        32   RUNNING  INCOMPLETE" */
static bool take_row(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                     struct hs_str line)
{
    struct hs_str words[9];
    uint64_t value;
    size_t n = 0;

    while (n < 9 && (words[n] = word_at(&line)).n)
        n++;
    if (n != 8 || !is_state(words[6]))
        return false;
    for (size_t i = 0; i < 6; i++) {
        struct hs_str digits = words[i];

        digits = i == 3 ? hs_take_digits(&digits) : digits; /* "7-8" */
        if (!hs_str_number(digits, &value))
            return false;
    }
    forget(open, 0);
    say(t, open, record, "communicators",
        (struct hs_record_value[]){ { "group", words[0] },
                                    { "count", words[1] },
                                    { "nodes", words[2] },
                                    { "nranks", words[4] },
                                    { "ranks", words[5] },
                                    { "state", words[6] },
                                    { "error", words[7] } },
        7);
    return true;
}

/* "#0-0 (1f16234e0e925d4f) MISMATCH" */
static bool take_communicator(struct hs_text *t, struct hs_open *open,
                              const struct hs_record *record, struct hs_str line)
{
    struct hs_str hash = hs_between(line, "(", ")"), group, error;
    char id[24];
    size_t zeros = 0;

    if (!hs_skip(&line, "#") || !hash.p || hash.n == 0 || hash.n > 16)
        return false;
    group = word_at(&line);
    if (hs_find(group, "-") == SIZE_MAX || !hs_after(line, ") ", &error) || error.n == 0)
        return false;
    while (zeros + 1 < hash.n && hash.p[zeros] == '0')
        zeros++;
    (void)snprintf(id, sizeof(id), "0x%.*s", (int)(hash.n - zeros), hash.p + zeros);
    forget(open, 0);
    hs_open_set(t, open, "commid", hs_str_of(id));
    hs_open_set(t, open, "group", group);
    hs_open_set(t, open, "error", error);
    say(t, open, record, "communicator", NULL, 0);
    return true;
}

/* "INCOMPLETE": what follows is about processes of the job. */
static bool take_job(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    if (!hs_str_is(line, "INCOMPLETE") && !hs_str_is(line, "DEAD") && !hs_str_is(line, "TIMEOUT"))
        return false;
    forget(open, 0);
    hs_open_set(t, open, "error", line);
    return true;
}

/* How far, or in what state: "launched up to operation 650", "status INIT", "reported X". */
static bool take_position(struct hs_str line, struct hs_record_value *out)
{
    if (!hs_skip(&line, "have "))
        (void)hs_skip(&line, "has ");
    if (hs_skip(&line, "launched up to operation "))
        *out = (struct hs_record_value){ "seq", hs_take_digits(&line) };
    else if (hs_skip(&line, "not launched any operations"))
        *out = (struct hs_record_value){ "seq", HS_STR("0") };
    else if (hs_skip(&line, "status "))
        *out = (struct hs_record_value){ "state", word_at(&line) };
    else if (hs_skip(&line, "reported "))
        *out = (struct hs_record_value){ "message", hs_trim(line) };
    else
        return false;
    return true;
}

/* "  Communicator ranks have different AllReduce operation counts" */
static bool take_subject(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                         struct hs_str line)
{
    size_t end;

    if (!hs_skip(&line, "Communicator ranks have different "))
        return false;
    forget(open, 3);
    end = hs_find(line, " operation counts");
    if (end != SIZE_MAX)
        hs_open_set(t, open, "op", hs_until(line, end));
    say(t, open, record, "differ", NULL, 0);
    return true;
}

/* "  30 ranks have launched up to operation 650": the ranks that follow are some of these. */
static bool take_count(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                       struct hs_str line)
{
    struct hs_str count = hs_take_digits(&line);
    struct hs_record_value values[2];

    if (count.n == 0 || !hs_skip(&line, " ranks ") || !take_position(line, &values[0]))
        return false;
    forget(open, 4);
    hs_open_set(t, open, values[0].name, values[0].text);
    values[1] = (struct hs_record_value){ "count", count };
    say(t, open, record, "ranks", values, 2);
    return true;
}

/* "GPU 4 (NVML 6) managed by process 4294 on node 10.0.0.12" */
static uint32_t take_process(struct hs_str line, struct hs_record_value *out)
{
    struct hs_str rest;
    uint32_t n = 0;

    if (hs_after(line, "GPU ", &rest))
        out[n++] = (struct hs_record_value){ "gpu", hs_take_digits(&rest) };
    if (hs_after(line, "(NVML ", &rest))
        out[n++] = (struct hs_record_value){
            "nvml_device",
            hs_until(rest, hs_find(rest, ")") == SIZE_MAX ? rest.n : hs_find(rest, ")"))
        };
    if (hs_after(line, "managed by process ", &rest))
        out[n++] = (struct hs_record_value){ "pid", hs_take_digits(&rest) };
    if (hs_after(line, " on node ", &rest))
        out[n++] = (struct hs_record_value){ "host", word_at(&rest) };
    return n;
}

/* "  Rank 12 -- GPU 4 managed by process 4294 on node 10.0.0.12", "  Rank 3 has status INIT -- ..."
 */
static bool take_rank(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                      struct hs_str line)
{
    bool missing = hs_str_is(hs_open_get(open, "error"), "INCOMPLETE");
    struct hs_str rank, position;
    struct hs_record_value values[8];
    size_t dashes;
    uint32_t n = 0;
    bool own;
    uint64_t number;

    if (!hs_skip(&line, "Rank "))
        return false;
    rank = word_at(&line);
    line = hs_trim(line);
    dashes = hs_find(line, "-- ");
    if (!hs_str_number(rank, &number))
        return false;
    values[n++] = (struct hs_record_value){ "rank", rank };
    position = hs_trim(dashes == SIZE_MAX ? line : hs_until(line, dashes));
    own = take_position(position, &values[n]);
    if (!own && (position.n || dashes == SIZE_MAX))
        return false;
    n += own;
    if (dashes != SIZE_MAX)
        n += take_process(hs_from(line, dashes), &values[n]);
    say(t, open, record, missing && !own ? "missing" : "rank", values, n);
    return true;
}

/* "  The missing ranks: 1,3-7" of NCCL 2.24 and 2.25 */
static bool take_list(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                      struct hs_str line)
{
    struct hs_str rest;
    bool missing = hs_skip(&line, "The missing rank");

    if ((!missing && !hs_skip(&line, "The unknown rank")) || !hs_after(line, ": ", &rest))
        return false;
    say(t, open, record, missing ? "missing" : "unknown",
        (struct hs_record_value[]){ { "ranks", hs_trim(rest) } }, 1);
    return true;
}

/* "  Process 3487 on node 10.0.0.13 managing GPUs 0,1 (NVML 4,5)" */
static bool take_gone(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                      struct hs_str line)
{
    struct hs_record_value values[5];
    struct hs_str rest;
    uint32_t n = 0;

    if (!hs_skip(&line, "Process "))
        return false;
    values[n++] = (struct hs_record_value){ "pid", hs_take_digits(&line) };
    if (!hs_skip(&line, " on node ") || values[0].text.n == 0)
        return false;
    values[n++] = (struct hs_record_value){ "host", word_at(&line) };
    if (hs_after(line, "managing GPU", &rest)) {
        (void)hs_skip(&rest, "s");
        values[n++] = (struct hs_record_value){ "gpu", word_at(&rest) };
    }
    say(t, open, record, "process", values, n);
    return true;
}

/* "  Missing communicator data from 2 ranks", "  Asynchronous errors on 3 ranks", ... */
static bool take_sum(struct hs_text *t, struct hs_open *open, const struct hs_record *record,
                     struct hs_str line)
{
    static const struct {
        const char *before, *behind, *what;
    } sums[] = {
        { "Missing communicator data from ", " job process", "missing-processes" },
        { "Missing communicator data from ", " rank", "missing-ranks" },
        { "", " considered dead (unreachable via the RAS network)", "dead-processes" },
        { "Encountered ", " communication timeout", "timeouts" },
        { "Initialization error on ", " rank", "init-errors" },
        { "Initialization errors on ", " rank", "init-errors" },
        { "Asynchronous error on ", " rank", "async-errors" },
        { "Asynchronous errors on ", " rank", "async-errors" },
    };

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        struct hs_str rest = line, count;

        if (!hs_skip(&rest, sums[i].before))
            continue;
        count = hs_take_digits(&rest);
        if (count.n == 0 || hs_find(rest, sums[i].behind) == SIZE_MAX)
            continue;
        say(t, open, record, sums[i].what, (struct hs_record_value[]){ { "count", count } }, 1);
        return true;
    }
    return false;
}

/* What the report is made of besides. */
static bool take_filling(struct hs_str line)
{
    static const char *const heads[] = {
        "NCCL version ",
        "CUDA runtime version ",
        "Job summary",
        "Communicators...",
        "Errors",
        "Warnings",
        "=====",
        "Nodes ",
        "(total) ",
        "Group ",
        "# ",
    };

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        if (hs_str_starts(line, hs_str_of(heads[i])))
            return true;
    }
    return line.n == 0;
}

static enum hs_taken take_report(struct hs_text *t, struct hs_open *open,
                                 const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text);

    if (!take_row(t, open, record, line) && !take_communicator(t, open, record, line) &&
        !take_job(t, open, line) && !take_subject(t, open, record, line) &&
        !take_count(t, open, record, line) && !take_rank(t, open, record, line) &&
        !take_list(t, open, record, line) && !take_gone(t, open, record, line) &&
        !take_sum(t, open, record, line) && !take_filling(line))
        return HS_TAKEN_NOT;
    open->state = OPEN;
    return HS_TAKEN;
}

const struct hs_record_kind hs_record_ras = {
    .patience = 50,
    .take = take_report,
};
