/*
 * envelope_header.c - headers that log libraries put in front of a message: c10 and glog of every
 * era, Python's, and the process group that c10d names behind them.
 */
#include "parsers/clock.h"
#include "parsers/envelope_internal.h"

enum { FILE_MAX_BYTES = 200 };

static bool is_time(char c)
{
    return hs_is_digit(c) || c == ':';
}

/* One of `letters`. */
static bool take_one_of(struct hs_cursor *in, const char *letters, char *out)
{
    if (in->at == in->end || !*in->at || !strchr(letters, *in->at))
        return false;
    *out = *in->at++;
    return true;
}

/* Where a message was made. */
struct place {
    struct hs_str file; /* or logger */
    uint32_t line;
};

/* ProcessGroupNCCL.cpp:685] */
static bool take_place(struct hs_cursor *in, struct place *out)
{
    return hs_take_span(in, hs_is_path, FILE_MAX_BYTES, &out->file) && hs_take_byte(in, ':') &&
           hs_take_number(in, &out->line) && hs_take_byte(in, ']');
}

/* What every header says. */
static void keep(struct hs_record *out, enum hs_header header, char level, struct place place,
                 struct hs_stamp stamp)
{
    out->header = header;
    out->level = (char)(level == 'C' ? 'F' : level == 'D' ? 'V' : level); /* critical, debug */
    out->file = place.file;
    out->file_line = place.line;
    hs_record_stamp(out, stamp);
}

/*
 * 1218 01:59:12.846104516 of c10: month and day without padding. The digits behind the point are
 * those of the monotonic clock, not of this second, and are dropped.
 */
static bool take_c10_time(struct hs_cursor *in, struct hs_stamp *out)
{
    struct hs_cursor time = *in;
    struct hs_str hms;
    uint32_t date, mono;

    if (!hs_take_number(&time, &date) || date < 101 || date > 1231 || !hs_take_byte(&time, ' ') ||
        !hs_take_span(&time, is_time, 8, &hms) || !hs_take_byte(&time, '.') ||
        !hs_take_number(&time, &mono) || !hs_take_byte(&time, ' ') ||
        !hs_clock_of_parts(date, hms, UINT32_MAX, out))
        return false;
    *in = time;
    return true;
}

/* [E1218 01:59:12.846104516 ProcessGroupNCCL.cpp:685], and [E ProcessGroupNCCL.cpp:828] before;
 * what another process's write has eaten of its start may be missing. */
static bool take_c10(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp = { .ns = 0 };
    struct place place;
    char level = 0;
    bool whole = hs_take_byte(&header, '[') && take_one_of(&header, "FEWIV", &level);

    if (!whole && header.at > in->at)
        return false;
    if (!whole)
        (void)take_one_of(&header, "FEWIV", &level);
    if (!take_c10_time(&header, &stamp) && (level == 0 || !hs_take_byte(&header, ' ')))
        return false;
    if (!take_place(&header, &place))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_C10, level, place, stamp);
    out->torn |= !whole;
    *in = header;
    return true;
}

/* Ids of compiled frames behind torch's Python header: [0/8] */
static void skip_compile_ids(struct hs_cursor *in)
{
    struct hs_cursor id = *in;
    struct hs_str digits;

    while (hs_take_byte(&id, '[') && id.at < id.end && hs_is_digit(*id.at)) {
        while (hs_take_span(&id, hs_is_word, 20, &digits) && hs_take_byte(&id, '/'))
            continue;
        if (!hs_take_byte(&id, ']'))
            return;
        hs_skip_blank(&id);
        *in = id;
    }
}

/*
 * E0228 17:37:21.488888  9191 ProcessGroupNCCL.cpp:1405] of glog, and the same of torch's Python:
 * there the number is the process, or before 2.6 a thread's handle of fifteen digits.
 */
static bool take_glog(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct hs_str date, hms, id;
    struct place place;
    struct hs_cursor digits;
    uint32_t day, number = HS_NO_ID, micros;
    char level;
    bool python;

    if (!take_one_of(&header, "FEWIVC", &level) || !hs_take_span(&header, hs_is_digit, 8, &date) ||
        (date.n != 4 && date.n != 8) || !hs_take_byte(&header, ' ') ||
        !hs_take_span(&header, is_time, 8, &hms) || !hs_take_byte(&header, '.') ||
        !hs_take_number(&header, &micros) || !hs_take_byte(&header, ' '))
        return false;
    hs_skip_blanks(&header);
    if (!hs_take_span(&header, hs_is_digit, 20, &id) || !hs_take_byte(&header, ' ') ||
        !take_place(&header, &place))
        return false;
    digits = (struct hs_cursor){ .at = date.p, .end = date.p + date.n };
    (void)hs_take_number(&digits, &day);
    if (!hs_clock_of_parts(day, hms, micros, &stamp))
        return false;
    python = hs_str_ends(place.file, HS_STR(".py"));
    digits = (struct hs_cursor){ .at = id.p, .end = id.p + id.n };
    (void)hs_take_number(&digits, &number);
    hs_skip_blank(&header);
    if (python) {
        skip_compile_ids(&header);
        if (out->pid == HS_NO_ID && number != HS_NO_ID)
            out->pid = number;
    } else {
        out->tid = number;
    }
    keep(out, python ? HS_HEADER_PYTHON : HS_HEADER_GLOG, level, place, stamp);
    *in = header;
    return true;
}

/* [2024-01-01 00:00:00,000], the start of several Python loggers' headers */
static bool take_bracketed_time(struct hs_cursor *in, struct hs_stamp *out)
{
    struct hs_cursor time = *in;
    size_t n;

    if (!hs_take_byte(&time, '['))
        return false;
    n = hs_clock_read(hs_rest(&time), out);
    time.at += n;
    if (!n || !hs_take_byte(&time, ']'))
        return false;
    *in = time;
    return true;
}

/* [PID:182] [RANK:0] of axolotl, [Rank 0] of DeepSpeed: these are ranks of the job */
static void take_python_rank(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t pid, rank;

    if (hs_take_text(&tag, "[PID:") && hs_take_number(&tag, &pid) && hs_take_text(&tag, "] ")) {
        out->pid = pid;
        *in = tag;
    }
    tag = *in;
    if ((hs_take_text(&tag, "[RANK:") || hs_take_text(&tag, "[Rank ")) &&
        hs_take_number(&tag, &rank) && hs_take_text(&tag, "] ")) {
        hs_record_rank(out, rank, HS_RANK_LAUNCHER);
        *in = tag;
    }
}

/* [2024-01-01 00:00:00,000] [INFO] [launch.py:319:sigkill_handler] of DeepSpeed */
static bool take_deepspeed(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct hs_str function;
    struct place place;
    char level;

    if (!take_bracketed_time(&header, &stamp) || !hs_take_text(&header, " [") ||
        !hs_take_level(&header, &level) || !hs_take_text(&header, "] [") ||
        !hs_take_span(&header, hs_is_path, FILE_MAX_BYTES, &place.file) ||
        !hs_take_byte(&header, ':') || !hs_take_number(&header, &place.line))
        return false;
    if (hs_take_byte(&header, ':') && !hs_take_span(&header, hs_is_path, FILE_MAX_BYTES, &function))
        return false;
    if (!hs_take_byte(&header, ']'))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_PYTHON, level, place, stamp);
    take_python_rank(&header, out);
    *in = header;
    return true;
}

/* [2024-04-10 16:04:34,970] torch.distributed.elastic.multiprocessing.api: [WARNING] of torch 2.1
 */
static bool take_torch21(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct hs_str logger;
    char level;

    if (!take_bracketed_time(&header, &stamp) || !hs_take_byte(&header, ' ') ||
        !hs_take_span(&header, hs_is_name, FILE_MAX_BYTES, &logger) ||
        !hs_take_text(&header, ": [") || !hs_take_level(&header, &level) ||
        !hs_take_byte(&header, ']'))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_PYTHON, level, (struct place){ .file = logger }, stamp);
    *in = header;
    return true;
}

/* [INFO|trainer.py:2134] 2024-05-05 10:00:00,123 >> of transformers */
static bool take_transformers(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct place place;
    char level;
    size_t n;

    if (!hs_take_byte(&header, '[') || !hs_take_level(&header, &level) ||
        !hs_take_byte(&header, '|') || !take_place(&header, &place) || !hs_take_byte(&header, ' '))
        return false;
    n = hs_clock_read(hs_rest(&header), &stamp);
    header.at += n;
    if (!n || !hs_take_text(&header, " >> "))
        return false;
    keep(out, HS_HEADER_PYTHON, level, place, stamp);
    *in = header;
    return true;
}

/* [NeMo W 2024-05-05 10:00:00 nemo_logging:349] */
static bool take_nemo(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct place place;
    char level;
    size_t n;

    if (!hs_take_text(&header, "[NeMo ") || !take_one_of(&header, "DIWEC", &level) ||
        !hs_take_byte(&header, ' '))
        return false;
    n = hs_clock_read(hs_rest(&header), &stamp);
    header.at += n;
    if (!n || !hs_take_byte(&header, ' ') || !take_place(&header, &place))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_PYTHON, level, place, stamp);
    *in = header;
    return true;
}

/* [2023-12-07 07:20:42,105 E 49240 49362] logging.cc:97: of Ray's C++ */
static bool take_ray(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct place place;
    uint32_t pid, tid;
    char level;
    size_t n;

    if (!hs_take_byte(&header, '['))
        return false;
    n = hs_clock_read(hs_rest(&header), &stamp);
    header.at += n;
    if (!n || !hs_take_byte(&header, ' ') || !take_one_of(&header, "DIWEFC", &level) ||
        !hs_take_byte(&header, ' ') || !hs_take_number(&header, &pid) ||
        !hs_take_byte(&header, ' ') || !hs_take_number(&header, &tid) ||
        !hs_take_text(&header, "] ") ||
        !hs_take_span(&header, hs_is_path, FILE_MAX_BYTES, &place.file) ||
        !hs_take_byte(&header, ':') || !hs_take_number(&header, &place.line) ||
        !hs_take_byte(&header, ':'))
        return false;
    hs_skip_blank(&header);
    if (out->pid == HS_NO_ID)
        out->pid = pid; /* else Ray has said it, as it is known outside of a container */
    out->tid = tid;
    keep(out, HS_HEADER_GLOG, level, place, stamp);
    *in = header;
    return true;
}

/* ERROR 08-10 23:23:36 [multiproc_executor.py:898] of vLLM; before 2025 without the bracket */
static bool take_vllm(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_stamp stamp;
    struct place place;
    char level;
    size_t n;

    if (!hs_take_level(&header, &level) || !hs_take_byte(&header, ' '))
        return false;
    n = hs_clock_read(hs_rest(&header), &stamp);
    header.at += n;
    if (!n || !hs_take_byte(&header, ' '))
        return false;
    (void)hs_take_byte(&header, '[');
    if (!take_place(&header, &place))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_PYTHON, level, place, stamp);
    *in = header;
    return true;
}

/* WARNING:torch.distributed.elastic.multiprocessing.api:, Python's default format */
static bool take_pylog(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor header = *in;
    struct hs_str logger;
    char level;

    if (!hs_take_level(&header, &level) || !hs_take_byte(&header, ':'))
        return false;
    hs_skip_blank(&header);
    if (!hs_take_span(&header, hs_is_name, FILE_MAX_BYTES, &logger) ||
        !hs_take_byte(&header, ':') || !hs_str_starts(logger, HS_STR("torch")))
        return false;
    hs_skip_blank(&header);
    keep(out, HS_HEADER_PYTHON, level, (struct place){ .file = logger },
         (struct hs_stamp){ .ns = 0 });
    *in = header;
    return true;
}

bool hs_take_header(struct hs_cursor *in, struct hs_record *out)
{
    static bool (*const brackets[])(struct hs_cursor *, struct hs_record *) = {
        take_c10, take_deepspeed, take_torch21, take_transformers, take_nemo, take_ray,
    };
    static bool (*const words[])(struct hs_cursor *, struct hs_record *) = {
        take_glog,
        take_vllm,
        take_pylog,
        take_c10,
    };

    if (in->at == in->end)
        return false;
    if (*in->at == '[') {
        for (size_t i = 0; i < sizeof(brackets) / sizeof(brackets[0]); i++) {
            if (brackets[i](in, out))
                return true;
        }
    } else if ((*in->at >= 'A' && *in->at <= 'Z') || hs_is_digit(*in->at)) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (words[i](in, out))
                return true;
        }
    }
    return false;
}

/* (default_pg), with a blank in front in torch 2.4; what stands in it may hold brackets. */
static bool take_description(struct hs_cursor *in, struct hs_str *out)
{
    struct hs_cursor text = *in;
    const char *end;

    (void)hs_take_byte(&text, ' ');
    if (!hs_take_byte(&text, '('))
        return false;
    end = memmem(text.at, (size_t)(text.end - text.at) < 512 ? (size_t)(text.end - text.at) : 512,
                 ") Rank ", 7);
    if (!end)
        return false;
    *out = (struct hs_str){ .p = text.at, .n = (size_t)(end - text.at) };
    text.at = end + 1;
    *in = text;
    return true;
}

static bool is_group_name(char c)
{
    return (unsigned char)c > ' ' && c != '(' && c != ')' && c != ']' && c != '[';
}

/* [PG ID 0 PG GUID 0(default_pg) Rank 3], [PG 0 (default_pg) Rank 1], [PG GUID 1 Rank 0] */
static bool take_group(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    struct hs_str pg = { .p = "" }, desc = { .p = NULL };
    uint32_t id = HS_NO_ID, rank;
    bool negative;

    if (!hs_take_text(&tag, "[PG "))
        return false;
    if (hs_take_text(&tag, "ID ") && (!hs_take_number(&tag, &id) || !hs_take_text(&tag, " PG ")))
        return false;
    (void)hs_take_text(&tag, "GUID ");
    (void)hs_take_span(&tag, is_group_name, 256, &pg); /* may be empty */
    (void)take_description(&tag, &desc);
    if (!hs_take_text(&tag, " Rank "))
        return false;
    negative = hs_take_byte(&tag, '-');
    if (!hs_take_number(&tag, &rank) || !hs_take_byte(&tag, ']'))
        return false;
    hs_skip_blanks(&tag);
    out->pg = pg;
    out->pg_desc = desc;
    out->pg_id = id;
    out->pg_rank = negative ? HS_NO_ID : rank;
    *in = tag;
    return true;
}

/* [Rank 3] alone: a rank in a group that is not named */
static bool take_group_rank(struct hs_cursor *in, struct hs_record *out)
{
    struct hs_cursor tag = *in;
    uint32_t rank;

    if (!hs_take_text(&tag, "[Rank ") || !hs_take_number(&tag, &rank) || !hs_take_text(&tag, "] "))
        return false;
    if (out->pg_rank == HS_NO_ID)
        out->pg_rank = rank;
    *in = tag;
    return true;
}

void hs_take_process_group(struct hs_cursor *in, struct hs_record *out)
{
    while (take_group(in, out) || take_group_rank(in, out))
        continue;
}
