/* flight_recorder.c - the words of a dump, its reading from end to end, and the two descriptors. */
#include "parsers/flight_recorder.h"

#include "base/json.h"
#include "base/limits.h"
#include "parsers/dump_name.h"
#include "parsers/json_value.h"
#include "parsers/pickle.h"

#include <stdlib.h>

/* Sorted by length, so that a text is compared with the few words of its own length. */
static const char *const words[HS_WORDS] = {
    [HS_WORD_LINE] = "line",
    [HS_WORD_DESC] = "desc",
    [HS_WORD_NAME] = "name",
    [HS_WORD_PG_ID] = "pg_id",
    [HS_WORD_RANKS] = "ranks",
    [HS_WORD_STATE] = "state",
    [HS_WORD_FRAMES] = "frames",
    [HS_WORD_IS_P2P] = "is_p2p",
    [HS_WORD_SEQ_ID] = "seq_id",
    [HS_WORD_ENTRIES] = "entries",
    [HS_WORD_RETIRED] = "retired",
    [HS_WORD_STARTED] = "started",
    [HS_WORD_VERSION] = "version",
    [HS_WORD_FILENAME] = "filename",
    [HS_WORD_COMPLETED] = "completed",
    [HS_WORD_PG_CONFIG] = "pg_config",
    [HS_WORD_PG_STATUS] = "pg_status",
    [HS_WORD_RECORD_ID] = "record_id",
    [HS_WORD_SCHEDULED] = "scheduled",
    [HS_WORD_P2P_SEQ_ID] = "p2p_seq_id",
    [HS_WORD_TIMEOUT_MS] = "timeout_ms",
    [HS_WORD_DURATION_MS] = "duration_ms",
    [HS_WORD_INPUT_SIZES] = "input_sizes",
    [HS_WORD_INPUT_DTYPES] = "input_dtypes",
    [HS_WORD_NCCL_VERSION] = "nccl_version",
    [HS_WORD_OUTPUT_SIZES] = "output_sizes",
    [HS_WORD_OUTPUT_DTYPES] = "output_dtypes",
    [HS_WORD_PROCESS_GROUP] = "process_group",
    [HS_WORD_PROFILING_NAME] = "profiling_name",
    [HS_WORD_TIME_CREATED_NS] = "time_created_ns",
    [HS_WORD_TIME_CREATED_US] = "time_created_us",
    [HS_WORD_COMM_LIB_VERSION] = "comm_lib_version",
    [HS_WORD_COLLECTIVE_SEQ_ID] = "collective_seq_id",
    [HS_WORD_PROCESS_GROUP_RANKS] = "process_group_ranks",
    [HS_WORD_LAST_STARTED_COLLECTIVE] = "last_started_collective",
    [HS_WORD_LAST_ENQUEUED_COLLECTIVE] = "last_enqueued_collective",
    [HS_WORD_LAST_COMPLETED_COLLECTIVE] = "last_completed_collective",
    [HS_WORD_TIME_DISCOVERED_STARTED_NS] = "time_discovered_started_ns",
    [HS_WORD_TIME_DISCOVERED_COMPLETED_NS] = "time_discovered_completed_ns",
};

/* The first word of each length; a run ends where the next length begins. */
static const uint8_t first_of_length[] = {
    [4] = HS_WORD_LINE,
    [5] = HS_WORD_PG_ID,
    [6] = HS_WORD_FRAMES,
    [7] = HS_WORD_ENTRIES,
    [8] = HS_WORD_FILENAME,
    [9] = HS_WORD_COMPLETED,
    [10] = HS_WORD_P2P_SEQ_ID,
    [11] = HS_WORD_DURATION_MS,
    [12] = HS_WORD_INPUT_DTYPES,
    [13] = HS_WORD_OUTPUT_DTYPES,
    [14] = HS_WORD_PROFILING_NAME,
    [15] = HS_WORD_TIME_CREATED_NS,
    [16] = HS_WORD_COMM_LIB_VERSION,
    [17] = HS_WORD_COLLECTIVE_SEQ_ID,
    [19] = HS_WORD_PROCESS_GROUP_RANKS,
    [23] = HS_WORD_LAST_STARTED_COLLECTIVE,
    [24] = HS_WORD_LAST_ENQUEUED_COLLECTIVE,
    [25] = HS_WORD_LAST_COMPLETED_COLLECTIVE,
    [26] = HS_WORD_TIME_DISCOVERED_STARTED_NS,
    [28] = HS_WORD_TIME_DISCOVERED_COMPLETED_NS,
};

static uint8_t known_word(struct hs_str text)
{
    unsigned at = text.n < sizeof(first_of_length) ? first_of_length[text.n] : 0;

    for (; at && at < HS_WORDS && strlen(words[at]) == text.n; at++) {
        if (memcmp(words[at], text.p, text.n) == 0)
            return (uint8_t)at;
    }
    return HS_WORD_OTHER;
}

uint32_t hs_dump_text(struct hs_dump_reading *r, const struct hs_value *value)
{
    struct hs_str text = hs_value_str(value);
    struct hs_met_text *met =
        &r->texts[((uintptr_t)text.p ^ (uintptr_t)text.p >> 10) % HS_MET_TEXTS];

    if (text.n > HS_NAME_BYTES_MAX)
        text.n = HS_NAME_BYTES_MAX;
    if (met->p != text.p || met->n != text.n || !text.p) {
        uint32_t id = hs_intern_put(&r->px->job->strings, text);

        r->no_memory = r->no_memory || id == HS_NO_ID;
        *met = (struct hs_met_text){ .p = text.p, .n = (uint32_t)text.n, .id = id };
    }
    return met->id;
}

bool hs_dump_integer(const struct hs_value *value, int64_t *out)
{
    char digits[24];
    char *end;
    long long parsed;

    if (value->kind == HS_VALUE_INT || value->kind == HS_VALUE_BOOL) {
        *out = value->i;
        return true;
    }
    if (value->kind != HS_VALUE_STR || value->n == 0 || value->n >= sizeof(digits))
        return false;
    memcpy(digits, value->p, value->n);
    digits[value->n] = '\0';
    parsed = strtoll(digits, &end, 10);
    if (*end != '\0')
        return false;
    *out = parsed;
    return true;
}

static void release_reading(struct hs_dump_reading *r)
{
    free(r->operations);
    free(r->frame_of_object);
    free(r->entries);
    free(r->scratch);
    free(r->sizes_in);
    free(r->sizes_out);
    free(r->dtypes_in);
    free(r->dtypes_out);
    free(r->group_of_name);
    free(r);
}

/* Whether anything in the document shows that it is a dump at all. */
static bool is_dump(const struct hs_dump_reading *r)
{
    return r->operation_count > 0 || r->dump.version > 0 || r->dump.has_entries_key ||
           r->dump.member_count > 0;
}

static bool report_trouble(struct hs_dump_reading *r, const struct hs_trouble *trouble)
{
    if (!trouble->code || strcmp(trouble->code, "stopped") == 0)
        return true;
    return hs_parse_diagnose(r->px, trouble->code, trouble->offset_bytes, HS_NO_POSITION,
                             hs_str_of(trouble->text));
}

/* Keep what was read as a dump of the job. */
static bool keep_dump(struct hs_dump_reading *r)
{
    struct hs_job *job = r->px->job;
    struct hs_operation *exact = NULL;
    size_t bytes = (size_t)r->operation_count * sizeof(*exact);

    if (!HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u))
        return false;
    if (bytes) {
        exact = realloc(r->operations, bytes);
        if (!exact)
            return false;
    }
    r->operations = bytes ? NULL : r->operations;
    r->dump.operations = exact;
    r->dump.operation_count = r->operation_count;
    job->sources[r->px->source].records = r->operation_count;
    job->dumps[job->dump_count++] = r->dump;
    return true;
}

/* Who wrote it, from its name; what is odd about the whole. */
static bool finish_dump(struct hs_dump_reading *r)
{
    struct hs_str host, none = { .p = "" };
    bool off = r->operation_count == 0 && r->dump.member_count == 0 && !r->dump.cut_short;
    uint64_t nowhere = HS_NO_POSITION;

    if (!hs_dump_name_read(r->px->name, &r->dump.rank, &host) &&
        !hs_parse_diagnose(r->px, "rank-unknown", nowhere, nowhere, r->px->name))
        return false;
    if (host.n) {
        r->dump.host = hs_intern_put(&r->px->job->strings, host);
        if (r->dump.host == HS_NO_ID)
            return false;
    }
    if (off && !hs_parse_diagnose(r->px, "recorder-off", nowhere, nowhere, none))
        return false;
    return keep_dump(r);
}

typedef bool read_fn(struct hs_document *doc, struct hs_str bytes,
                     const struct hs_document_consumer *consumer, struct hs_value *top,
                     struct hs_trouble *trouble);

static bool read_dump(struct hs_parse *px, struct hs_str bytes, read_fn *read)
{
    struct hs_dump_reading *r = calloc(1, sizeof(*r));
    struct hs_document_consumer consumer = {
        .streamed_key = "entries", .known = known_word, .element = hs_dump_entry, .self = r
    };
    struct hs_trouble trouble = { .code = NULL };
    struct hs_value top;
    bool ok;

    if (!r)
        return false;
    r->px = px;
    r->dump = (struct hs_dump){ .source = px->source,
                                .rank = HS_NO_ID,
                                .host = HS_NO_ID,
                                .library = HS_NO_ID,
                                .first_member = px->job->member_count,
                                .speaker = HS_NO_ID };
    r->dump.cut_short = !read(px->doc, bytes, &consumer, &top, &trouble) || px->cut_code;
    if (px->cut_code && trouble.code && strcmp(trouble.code, "cut-short") == 0)
        trouble.code = NULL; /* the source has said so already */
    ok = !r->no_memory && report_trouble(r, &trouble);
    if (ok)
        hs_dump_read_header(r, &top);
    ok = ok && !r->no_memory;
    if (ok && is_dump(r))
        ok = finish_dump(r);
    else if (ok && !trouble.code)
        ok = hs_parse_diagnose(px, "not-a-dump", HS_NO_POSITION, HS_NO_POSITION, px->name);
    release_reading(r);
    return ok;
}

static bool read_pickle(struct hs_parse *px, struct hs_str bytes)
{
    return read_dump(px, bytes, hs_pickle_read);
}

static bool read_json(struct hs_parse *px, struct hs_str bytes)
{
    return read_dump(px, bytes, hs_json_value_read);
}

/* Bits of the dump's own words that `head` holds, between such quotes; in a JSON line of a
 * container runtime those of a dump are escaped. */
static unsigned words_in(struct hs_str head, const char *quote)
{
    static const uint8_t telling[] = { HS_WORD_PG_CONFIG,         HS_WORD_PG_STATUS,
                                       HS_WORD_RECORD_ID,         HS_WORD_ENTRIES,
                                       HS_WORD_PROFILING_NAME,    HS_WORD_COMM_LIB_VERSION,
                                       HS_WORD_COLLECTIVE_SEQ_ID, HS_WORD_NCCL_VERSION };
    unsigned bits = 0;

    for (size_t i = 0; i < sizeof(telling); i++) {
        char word[64];

        (void)snprintf(word, sizeof(word), "%s%s%s", quote, words[telling[i]], quote);
        if (hs_str_has(head, word))
            bits += 8 * (unsigned)strlen(words[telling[i]]);
    }
    return bits;
}

static unsigned probe_pickle(struct hs_str head)
{
    unsigned bits = hs_pickle_probe(head);

    return bits ? bits + words_in(head, "") : 0;
}

/* The first byte from `*at` on that is no space, and past it; '\0' at the end. */
static char next_byte(const char **at, const char *end)
{
    *at = hs_json_skip_space(*at, end);
    if (*at == end)
        return '\0';
    return *(*at)++;
}

/* A dict, or a list of dicts; lines of logs begin with a bracket, too: "[rank1]:". */
static unsigned probe_json(struct hs_str head)
{
    const char *at = head.p, *end = head.p + head.n;
    char first = next_byte(&at, end), second = next_byte(&at, end);
    unsigned bits;

    if (!(first == '{' && (second == '"' || second == '}')) &&
        !(first == '[' && (second == '{' || second == ']')))
        return 0;
    bits = words_in(head, "\"");
    return bits ? 8 + bits : 0;
}

const struct hs_parser hs_parser_flight_recorder_pickle = {
    .name = "flight-recorder-pickle",
    .summary = "PyTorch flight-recorder dump, pickled (TORCH_FR_BUFFER_SIZE, "
               "TORCH_NCCL_TRACE_BUFFER_SIZE)",
    .probe = probe_pickle,
    .read = read_pickle,
};

const struct hs_parser hs_parser_flight_recorder_json = {
    .name = "flight-recorder-json",
    .summary = "PyTorch flight-recorder dump, JSON",
    .probe = probe_json,
    .read = read_json,
};
