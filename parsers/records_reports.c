/* records_reports.c - what torchfrtrace prints of a call that not all ranks are in, or that
 * differs. */
#include "parsers/records_internal.h"

/* "Not all ranks joining collective, sequence number: 31", "... joining collective 5 at entry 4" */
static bool take_finding(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    static const struct {
        const char *text, *what;
    } findings[] = {
        { "Not all ranks joining collective", "missing" },
        { "Input/output mismatch in the collective", "size-mismatch" },
        { "Collective sequence number: ", "mismatch" },
    };

    for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
        struct hs_str rest, entry;

        if (!hs_after(line, findings[i].text, &rest))
            continue;
        (void)(hs_after(rest, "sequence number: ", &rest) || hs_skip(&rest, " "));
        hs_open_set(t, open, "what", hs_str_of(findings[i].what));
        hs_open_set(t, open, "seq", hs_take_digits(&rest));
        if (hs_after(rest, " at entry ", &entry))
            hs_open_set(t, open, "record", hs_take_digits(&entry));
        return true;
    }
    return false;
}

/* "0:default_pg": the name of a group and what it is for. */
static void set_group(struct hs_text *t, struct hs_open *open, struct hs_str value)
{
    size_t colon = hs_find(value, ":");

    hs_open_set(t, open, "pg", colon == SIZE_MAX ? value : hs_until(value, colon));
    if (colon != SIZE_MAX)
        hs_open_set(t, open, "pg_desc", hs_from(value, colon + 1));
}

/* "key: value"; sets stand between braces. */
static bool take_property(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    static const struct {
        const char *key, *name;
    } keys[] = {
        { "internal record id", "record" },
        { "collective", "op" },
        { "missing ranks", "missing" },
        { "input sizes", "shape_in" },
        { "output sizes", "shape_out" },
        { "total input numel", "numel_in" },
        { "total output numel", "numel_out" },
        { "world size", "world_size" },
        { "expected ranks", "ranks" },
        { "collective state", "state" },
        { "error msg", "error" },
    };
    size_t colon = hs_find(line, ":");
    struct hs_str key, value;

    if (colon == SIZE_MAX)
        return false;
    key = hs_until(line, colon);
    value = hs_trim(hs_from(line, colon + 1));
    if (value.n >= 2 && value.p[0] == '{' && value.p[value.n - 1] == '}')
        value = (struct hs_str){ .p = value.p + 1, .n = value.n - 2 };
    if (hs_str_is(key, "group info")) {
        set_group(t, open, value);
        return true;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (hs_str_is(key, keys[i].key)) {
            hs_open_set(t, open, keys[i].name, value);
            return true;
        }
    }
    return hs_str_is(key, "collective stack trace");
}

/* "all_reduce at /path/distributed_c10d.py:2707" */
static bool take_call(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    size_t at = hs_find(line, " at ");
    struct hs_str file;
    uint64_t number;

    if (at == SIZE_MAX || at == 0 || memchr(line.p, ' ', at) ||
        !hs_split_place(hs_from(line, at + strlen(" at ")), &file, &number))
        return false;
    hs_open_push(t, open, hs_until(line, at), file, number);
    return true;
}

static enum hs_taken take_trace(struct hs_text *t, struct hs_open *open,
                                const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text);

    if (open->state == 0) {
        open->state = 1;
        return take_finding(t, open, line) || take_property(t, open, line) ? HS_TAKEN
                                                                           : HS_TAKEN_NOT;
    }
    if (line.n == 0)
        return HS_TAKEN;
    if (!take_property(t, open, line) && !take_call(t, open, line))
        return HS_TAKEN_NOT;
    hs_records_keep(t, record);
    return HS_TAKEN;
}

const struct hs_record_kind hs_record_fr_trace = {
    .family = "FR_TRACE",
    .patience = 20,
    .take = take_trace,
};
