/*
 * records_nccl.c - errors of NCCL: as PyTorch tells them (a call, its class, NCCL's last warning),
 * and as NCCL does itself (a warning, then a line for each function that passes the error on).
 */
#include "parsers/records_internal.h"

/* ---- PyTorch ---- */

enum { NCCL_BEGUN = 1, NCCL_CLASS, NCCL_DETAIL };

static const char *const nccl_classes[] = {
    "ncclUnhandledCudaError", "ncclSystemError",  "ncclInternalError",
    "ncclInvalidArgument",    "ncclInvalidUsage", "ncclRemoteError",
};

/* "NCCL error in: FILE:LINE, why, NCCL version 2.21.5", "... async exception: NCCL error: why" */
static bool take_error(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    struct hs_str rest, op = hs_between(line, "OpType=", ","),
                        seq = hs_between(line, "SeqNum=", ",");
    size_t end, version;

    if (hs_after(line, "NCCL error in: ", &rest) || hs_after(line, "NCCL timeout in: ", &rest)) {
        size_t comma = hs_find(rest, ", ");

        rest = comma == SIZE_MAX ? hs_from(rest, rest.n) : hs_from(rest, comma + 2);
    } else if (!hs_after(line, "NCCL error: ", &rest)) {
        return false;
    }
    version = hs_find(rest, "NCCL version ");
    end = version == SIZE_MAX ? rest.n : version >= 2 ? version - 2 : 0;
    hs_open_set(t, open, "why", hs_trim(hs_until(rest, end)));
    if (version != SIZE_MAX)
        hs_open_set(t, open, "version", hs_trim(hs_from(rest, version + strlen("NCCL version "))));
    hs_open_set(t, open, "op", op);
    hs_open_set(t, open, "seq", seq);
    open->state = NCCL_BEGUN;
    return true;
}

static bool take_class(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    for (size_t i = 0; i < sizeof(nccl_classes) / sizeof(nccl_classes[0]); i++) {
        size_t at = hs_find(line, nccl_classes[i]);
        size_t n = strlen(nccl_classes[i]);

        if (at == SIZE_MAX || at + n >= line.n || line.p[at + n] != ':')
            continue;
        hs_open_set(t, open, "class", (struct hs_str){ .p = line.p + at, .n = n });
        open->state = NCCL_CLASS;
        return true;
    }
    return false;
}

/* NCCL's own newest warning stands behind "Last error:" or in the line below; what precedes the
 * words there is a prefix that nobody knew. */
static enum hs_taken take_last_error(struct hs_text *t, struct hs_open *open, struct hs_str line)
{
    size_t at = hs_find(line, "Last error:");
    struct hs_str rest;

    if (at == SIZE_MAX || (at > 0 && line.p[at - 1] != ':' && line.p[at - 1] != ' '))
        return HS_TAKEN_NOT;
    rest = hs_trim(hs_from(line, at + strlen("Last error:")));
    open->state = NCCL_DETAIL;
    open->number = at;
    if (rest.n == 0)
        return HS_TAKEN;
    hs_open_set(t, open, "last_error", rest);
    return HS_TAKEN_LAST;
}

static enum hs_taken take_detail(struct hs_text *t, struct hs_open *open,
                                 const struct hs_record *record, struct hs_str line)
{
    if (line.n == 0)
        return HS_TAKEN;
    if (open->number && open->number < line.n && line.p[open->number - 1] == ':')
        line = hs_from(line, open->number);
    if (hs_str_starts(line, HS_STR("Exception raised from ")) ||
        hs_str_starts(line, HS_STR("frame #")) || hs_str_starts(line, HS_STR("Traceback (")))
        return HS_TAKEN_OVER;
    hs_open_set(t, open, "last_error", line);
    hs_records_keep(t, record);
    return HS_TAKEN_LAST;
}

static enum hs_taken take_nccl_error(struct hs_text *t, struct hs_open *open,
                                     const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text);
    enum hs_taken taken;

    if (open->state == NCCL_DETAIL)
        return take_detail(t, open, record, line);
    if (open->state == 0 && take_error(t, open, line))
        return HS_TAKEN;
    if (open->state != NCCL_CLASS && take_class(t, open, line)) {
        hs_records_keep(t, record);
        return HS_TAKEN;
    }
    taken = take_last_error(t, open, line);
    if (taken != HS_TAKEN_NOT)
        hs_records_keep(t, record);
    return taken;
}

const struct hs_record_kind hs_record_nccl_error = {
    .family = "NCCL_ERROR",
    .patience = 4,
    .header_ends = true,
    .untagged = true,
    .take = take_nccl_error,
};

/* ---- NCCL ---- */

/* "init.cc:1894 -> 5 [Async thread]", "init.cc:1894 (ncclCommInitRankFunc) -> 5", or "-> 5" behind
 * a header that has file and line. */
static bool take_return(struct hs_text *t, struct hs_open *open, const struct hs_record *record)
{
    struct hs_str line = hs_trim(record->text), place, function, code, file = record->file;
    uint64_t number = record->file_line, value;
    size_t arrow = hs_str_starts(line, HS_STR("-> ")) ? 0 : hs_find(line, " -> ");

    if (arrow == SIZE_MAX)
        return false;
    code = hs_from(line, arrow + (arrow ? strlen(" -> ") : strlen("-> ")));
    place = hs_trim(hs_until(line, arrow));
    function = hs_between(place, "(", ")");
    if (function.p)
        place = hs_trim(hs_until(place, (size_t)(function.p - place.p) - 1));
    if (place.n && !hs_split_place(place, &file, &number))
        return false;
    code = hs_take_digits(&code);
    if (!hs_str_number(code, &value) || file.n == 0)
        return false;
    hs_open_push(t, open, function, file, number);
    hs_open_set(t, open, "code", code);
    return true;
}

static enum hs_taken take_unwinding(struct hs_text *t, struct hs_open *open,
                                    const struct hs_record *record)
{
    if (record->header != HS_HEADER_NCCL)
        return HS_TAKEN_NOT;
    if (open->state == 0) {
        open->state = 1;
        hs_open_set(t, open, "message", hs_trim(record->text));
        if (record->file.n) {
            hs_open_set(t, open, "file", record->file);
            hs_open_set_number(t, open, "line", record->file_line);
        }
        return HS_TAKEN;
    }
    if (record->tid != open->head.tid)
        return HS_TAKEN_NOT;
    if (take_return(t, open, record))
        return HS_TAKEN;
    /* Callers may warn on the way; the first warning of a thread is the reason. */
    return record->level == 'W' && open->frame_count ? HS_TAKEN : HS_TAKEN_OVER;
}

static void end_unwinding(struct hs_text *t, struct hs_open *open)
{
    if (open->frame_count)
        hs_open_say(t, open, open->kind->family);
}

const struct hs_record_kind hs_record_unwinding = {
    .family = "NCCL_UNWINDING",
    .patience = 64,
    .take = take_unwinding,
    .end = end_unwinding,
};
