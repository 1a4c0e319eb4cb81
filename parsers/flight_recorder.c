/* flight_recorder.c - the operations of a dump, and the two descriptors. */
#include "parsers/flight_recorder.h"

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

/* An entry of the recorder, gathered field by field before it becomes an operation. */
struct entry {
    struct hs_operation op;
    const struct hs_value *frames, *group, *group_ranks;
    uint32_t name;
    uint32_t timeout_ms;
    int64_t pg_id;
    int64_t started_ns, completed_ns;
    struct hs_tensors in, out;
    const char *odd; /* the first field of an unexpected type or size */
};

static uint32_t take_u32(struct entry *e, const struct hs_value *value, const char *field)
{
    int64_t n = 0;

    if (value->kind == HS_VALUE_NONE)
        return 0;
    if (!hs_dump_integer(value, &n) || n < 0 || n > UINT32_MAX) {
        e->odd = e->odd ? e->odd : field;
        return 0;
    }
    return (uint32_t)n;
}

static int64_t take_time(struct entry *e, const struct hs_value *value, const char *field)
{
    int64_t n = 0;

    if (value->kind == HS_VALUE_NONE)
        return 0;
    if (!hs_dump_integer(value, &n) || n < 0) {
        e->odd = e->odd ? e->odd : field;
        return 0;
    }
    return n;
}

/* [[2, 3], []] becomes 2, 2, 3, 0: for each tensor its number of dimensions and the dimensions. */
static void take_sizes(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                       const struct hs_value *value, bool input)
{
    int64_t **sizes = input ? &r->sizes_in : &r->sizes_out;
    uint32_t *cap = input ? &r->sizes_in_cap : &r->sizes_out_cap;
    struct hs_tensors *to = input ? &e->in : &e->out;
    uint32_t tensors, used = 0;
    const struct hs_value *tensor = hs_items(doc, value, &tensors);

    if (value->kind == HS_VALUE_DICT || tensors > HS_TENSORS_MAX)
        tensors = 0;
    for (uint32_t i = 0; i < tensors; i++) {
        uint32_t dims;
        const struct hs_value *dim = hs_items(doc, &tensor[i], &dims);

        if (dims > HS_TENSORS_MAX)
            dims = 0;
        if (!HS_GROW(*sizes, *cap, (size_t)used + dims + 1)) {
            r->no_memory = true;
            return;
        }
        (*sizes)[used++] = dims;
        for (uint32_t d = 0; d < dims; d++) {
            int64_t n = 0;

            if (!hs_dump_integer(&dim[d], &n) || n < 0) {
                e->odd = e->odd ? e->odd : "sizes";
                n = 0;
            }
            (*sizes)[used++] = n;
        }
    }
    to->sizes = *sizes;
    to->size_count = used;
    to->tensors = tensors;
}

static void take_dtypes(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                        const struct hs_value *value, bool input)
{
    uint32_t **dtypes = input ? &r->dtypes_in : &r->dtypes_out;
    uint32_t *cap = input ? &r->dtypes_in_cap : &r->dtypes_out_cap;
    struct hs_tensors *to = input ? &e->in : &e->out;
    uint32_t count;
    const struct hs_value *items = hs_items(doc, value, &count);

    if (value->kind == HS_VALUE_DICT || count > HS_TENSORS_MAX)
        count = 0;
    if (!HS_GROW(*dtypes, *cap, count)) {
        r->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        char number[24];
        struct hs_value text = items[i];

        if (text.kind == HS_VALUE_INT) { /* a draft of 2.2 wrote c10 numbers */
            int n = snprintf(number, sizeof(number), "%lld", (long long)text.i);

            text = (struct hs_value){ .kind = HS_VALUE_STR, .n = (uint32_t)n, .p = number };
            (*dtypes)[i] = hs_intern_put(&r->px->job->strings, hs_value_str(&text));
        } else {
            (*dtypes)[i] = hs_dump_text(r, &text);
        }
    }
    to->dtypes = *dtypes;
    to->dtype_count = count;
}

static void take_state(struct entry *e, const struct hs_value *value)
{
    enum hs_operation_state state = value->known == HS_WORD_COMPLETED   ? HS_STATE_COMPLETED
                                    : value->known == HS_WORD_STARTED   ? HS_STATE_STARTED
                                    : value->known == HS_WORD_SCHEDULED ? HS_STATE_SCHEDULED
                                                                        : HS_STATE_UNKNOWN;

    if (state == HS_STATE_UNKNOWN)
        e->odd = e->odd ? e->odd : "state";
    e->op.flags = (uint8_t)((e->op.flags & ~HS_OPERATION_STATE) | state);
}

static void take_flag(struct entry *e, const struct hs_value *value, unsigned flag)
{
    if ((value->kind == HS_VALUE_BOOL || value->kind == HS_VALUE_INT) && value->i)
        e->op.flags |= (uint8_t)flag;
    else
        e->op.flags &= (uint8_t)~flag;
}

static void take_field(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                       uint8_t word, const struct hs_value *value)
{
    switch (word) {
    case HS_WORD_FRAMES:
        e->frames = value;
        break;
    case HS_WORD_PROCESS_GROUP:
        e->group = value;
        break;
    case HS_WORD_PROCESS_GROUP_RANKS:
        e->group_ranks = value;
        break;
    case HS_WORD_RECORD_ID:
        e->op.record = take_u32(e, value, "record_id");
        break;
    case HS_WORD_PG_ID:
        (void)hs_dump_integer(value, &e->pg_id);
        break;
    case HS_WORD_SEQ_ID:
    case HS_WORD_COLLECTIVE_SEQ_ID:
        e->op.seq = take_u32(e, value, words[word]);
        break;
    case HS_WORD_P2P_SEQ_ID:
        e->op.p2p_seq = take_u32(e, value, "p2p_seq_id");
        break;
    case HS_WORD_PROFILING_NAME:
        e->name = hs_dump_text(r, value);
        break;
    case HS_WORD_TIME_CREATED_NS:
        e->op.created_ns = take_time(e, value, "time_created_ns");
        break;
    case HS_WORD_TIME_CREATED_US:
        e->op.created_ns = take_time(e, value, "time_created_us");
        if (__builtin_mul_overflow(e->op.created_ns, 1000, &e->op.created_ns))
            e->op.created_ns = 0;
        break;
    case HS_WORD_TIME_DISCOVERED_STARTED_NS:
        e->started_ns = take_time(e, value, "time_discovered_started_ns");
        break;
    case HS_WORD_TIME_DISCOVERED_COMPLETED_NS:
        e->completed_ns = take_time(e, value, "time_discovered_completed_ns");
        break;
    case HS_WORD_DURATION_MS:
        e->op.duration_ms = value->kind == HS_VALUE_FLOAT ? (float)value->f : 0;
        break;
    case HS_WORD_INPUT_SIZES:
        take_sizes(r, e, doc, value, true);
        break;
    case HS_WORD_OUTPUT_SIZES:
        take_sizes(r, e, doc, value, false);
        break;
    case HS_WORD_INPUT_DTYPES:
        take_dtypes(r, e, doc, value, true);
        break;
    case HS_WORD_OUTPUT_DTYPES:
        take_dtypes(r, e, doc, value, false);
        break;
    case HS_WORD_STATE:
        take_state(e, value);
        break;
    case HS_WORD_RETIRED:
        take_flag(e, value, HS_OPERATION_RETIRED);
        break;
    case HS_WORD_IS_P2P:
        take_flag(e, value, HS_OPERATION_P2P);
        break;
    case HS_WORD_TIMEOUT_MS:
        e->timeout_ms = take_u32(e, value, "timeout_ms");
        break;
    default: /* unknown keys are other people's: skipped at every level */
        break;
    }
}

static uint32_t read_frame(struct hs_dump_reading *r, const struct hs_document *doc,
                           const struct hs_value *value)
{
    struct hs_frame frame = { .function = HS_NO_ID, .file = HS_NO_ID };
    uint32_t count;
    const struct hs_value *items = hs_items(doc, value, &count);
    int64_t line = 0;

    for (uint32_t i = 0; i + 1 < count && value->kind == HS_VALUE_DICT; i += 2) {
        if (items[i].known == HS_WORD_NAME)
            frame.function = hs_dump_text(r, &items[i + 1]);
        else if (items[i].known == HS_WORD_FILENAME)
            frame.file = hs_dump_text(r, &items[i + 1]);
        else if (items[i].known == HS_WORD_LINE && hs_dump_integer(&items[i + 1], &line))
            frame.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
    }
    return hs_job_put_frame(r->px->job, &frame);
}

/* Frames are dicts that entries share: each is read once per dump. */
static uint32_t frame_of(struct hs_dump_reading *r, const struct hs_document *doc,
                         const struct hs_value *value)
{
    uint32_t object = value->object;

    if (value->kind != HS_VALUE_DICT || !hs_value_is_kept(doc, value))
        return read_frame(r, doc, value);
    if (!HS_GROW(r->frame_of_object, r->frame_cap, (size_t)object + 1))
        return HS_NO_ID;
    for (; r->frame_count <= object; r->frame_count++)
        r->frame_of_object[r->frame_count] = HS_NO_ID;
    if (r->frame_of_object[object] == HS_NO_ID)
        r->frame_of_object[object] = read_frame(r, doc, value);
    return r->frame_of_object[object];
}

static uint32_t put_stack(struct hs_dump_reading *r, const struct hs_document *doc,
                          const struct hs_value *items, uint32_t count)
{
    uint32_t stack;

    if (!HS_GROW(r->scratch, r->scratch_cap, count)) {
        r->no_memory = true;
        return HS_NO_ID;
    }
    for (uint32_t i = 0; i < count; i++) {
        r->scratch[i] = frame_of(r, doc, &items[i]);
        r->no_memory = r->no_memory || r->scratch[i] == HS_NO_ID;
    }
    if (r->no_memory)
        return HS_NO_ID;
    stack = hs_job_put_stack(r->px->job, r->scratch, count);
    r->no_memory = r->no_memory || stack == HS_NO_ID;
    return stack;
}

/* Calls from one place share their frame dicts: the same dicts in the same order, the same stack.
 */
static uint32_t read_stack(struct hs_dump_reading *r, const struct hs_document *doc,
                           const struct hs_value *value)
{
    uint32_t count, objects[HS_MET_FRAMES], hash = 0;
    const struct hs_value *items = value ? hs_items(doc, value, &count) : NULL;
    struct hs_met_stack *met;

    if (!items || value->kind == HS_VALUE_DICT)
        return HS_NO_ID;
    if (count > HS_MET_FRAMES)
        return put_stack(r, doc, items, count > HS_FRAMES_MAX ? HS_FRAMES_MAX : count);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != HS_VALUE_DICT || !hs_value_is_kept(doc, &items[i]))
            return put_stack(r, doc, items, count);
        objects[i] = items[i].object;
        hash = (hash ^ objects[i]) * 0x9e3779b1u;
    }
    met = &r->stacks[hash >> 24];
    if (met->count != count || count == 0 ||
        memcmp(met->objects, objects, count * sizeof(objects[0])) != 0) {
        met->stack = put_stack(r, doc, items, count);
        met->count = count;
        memcpy(met->objects, objects, count * sizeof(objects[0]));
    }
    return met->stack;
}

/* Which group an entry belongs to: ("name", "description"), before 2.0 only a number. */
static uint32_t read_group(struct hs_dump_reading *r, const struct hs_document *doc,
                           const struct entry *e, uint32_t backend)
{
    struct hs_job *job = r->px->job;
    uint32_t count = 0, name, desc = HS_NO_ID, member;
    const struct hs_value *items = e->group ? hs_items(doc, e->group, &count) : NULL;

    if (items && count > 0 && items[0].kind == HS_VALUE_STR) {
        name = hs_dump_text(r, &items[0]);
        if (count > 1)
            desc = hs_dump_text(r, &items[1]);
    } else {
        char key[40];
        int n = snprintf(key, sizeof(key), "pg_id %lld", (long long)e->pg_id);

        name = hs_intern_put(&job->strings, (struct hs_str){ .p = key, .n = (size_t)n });
    }
    member = name == HS_NO_ID ? HS_NO_ID : hs_dump_member(r, name, backend);
    if (member == HS_NO_ID)
        return HS_NO_ID;
    if (job->members[member].desc == HS_NO_ID)
        job->members[member].desc = desc;
    if (e->pg_id >= 0 && e->pg_id <= INT32_MAX)
        job->members[member].local_id = (int32_t)e->pg_id;
    return member;
}

/* Lists of ranks written with the entry (torch.profiler's plugin) stand in for pg_config. */
static void read_group_ranks(struct hs_dump_reading *r, const struct hs_document *doc,
                             const struct hs_value *value, uint32_t member)
{
    uint32_t count;
    const struct hs_value *items = hs_items(doc, value, &count);

    if (r->px->job->members[member].ranks != HS_NO_ID || count == 0 || count > HS_RANK_MAX)
        return;
    if (!HS_GROW(r->scratch, r->scratch_cap, count)) {
        r->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t rank = -1;

        if (!hs_dump_integer(&items[i], &rank) || rank < 0 || rank > HS_RANK_MAX)
            return;
        r->scratch[i] = (uint32_t)rank;
    }
    r->px->job->members[member].ranks = hs_job_put_list(r->px->job, r->scratch, count);
}

static void note_times(struct hs_dump_reading *r, const struct entry *e)
{
    int64_t latest = e->op.created_ns > e->started_ns ? e->op.created_ns : e->started_ns;

    if (e->completed_ns > latest)
        latest = e->completed_ns;
    if (latest > r->dump.last_ns)
        r->dump.last_ns = latest;
    if (e->op.created_ns && (!r->dump.first_ns || e->op.created_ns < r->dump.first_ns))
        r->dump.first_ns = e->op.created_ns;
}

static void finish_times(struct entry *e)
{
    int64_t took_us = (e->completed_ns - e->op.created_ns) / 1000;

    if (!e->completed_ns || !e->op.created_ns)
        return;
    e->op.finished_us = took_us < 1 ? 1 : took_us > UINT32_MAX ? UINT32_MAX : (uint32_t)took_us;
}

/* A gathered entry becomes an operation of the dump. */
static void add_operation(struct hs_dump_reading *r, const struct hs_document *doc, struct entry *e)
{
    struct hs_job *job = r->px->job;
    uint32_t signature = hs_job_put_signature(job, e->name, e->timeout_ms, &e->in, &e->out);
    uint32_t member = signature == HS_NO_ID
                          ? HS_NO_ID
                          : read_group(r, doc, e, job->signatures[signature].backend);

    if (member == HS_NO_ID || !HS_GROW(r->operations, r->operation_cap, r->operation_count + 1u)) {
        r->no_memory = true;
        return;
    }
    if (e->group_ranks)
        read_group_ranks(r, doc, e->group_ranks, member);
    e->op.signature = signature;
    e->op.member = (uint16_t)(member - r->dump.first_member);
    e->op.stack = read_stack(r, doc, e->frames);
    if (e->in.tensors || e->out.tensors)
        e->op.flags |= HS_OPERATION_SIZED;
    finish_times(e);
    note_times(r, e);
    r->operations[r->operation_count++] = e->op;
}

static bool on_entry(void *self, const struct hs_document *doc, const struct hs_value *element,
                     uint64_t offset_bytes)
{
    struct hs_dump_reading *r = self;
    struct entry e = { .op = { .stack = HS_NO_ID }, .pg_id = -1, .name = HS_NO_ID };
    uint32_t count;
    const struct hs_value *items = hs_items(doc, element, &count);

    if (element->kind != HS_VALUE_DICT)
        return hs_parse_diagnose(r->px, "not-an-entry", offset_bytes, HS_NO_POSITION,
                                 (struct hs_str){ .p = "" });
    if (r->operation_count >= HS_OPERATIONS_MAX)
        return false;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        if (items[i].known)
            take_field(r, &e, doc, items[i].known, &items[i + 1]);
    }
    if (e.name == HS_NO_ID) {
        e.name = hs_intern_put(&r->px->job->strings, HS_STR(""));
        e.odd = e.odd ? e.odd : "profiling_name";
    }
    if (e.odd &&
        !hs_parse_diagnose(r->px, "odd-field", offset_bytes, e.op.record, hs_str_of(e.odd)))
        r->no_memory = true;
    if (e.name != HS_NO_ID && !r->no_memory)
        add_operation(r, doc, &e);
    else
        r->no_memory = true;
    return !r->no_memory;
}

static void release_reading(struct hs_dump_reading *r)
{
    free(r->operations);
    free(r->frame_of_object);
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
        .streamed_key = "entries", .known = known_word, .element = on_entry, .self = r
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
                                .first_member = px->job->member_count };
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

/* Bits of the dump's own words that `head` holds. */
static unsigned words_in(struct hs_str head)
{
    static const uint8_t telling[] = { HS_WORD_PG_CONFIG,         HS_WORD_PG_STATUS,
                                       HS_WORD_RECORD_ID,         HS_WORD_ENTRIES,
                                       HS_WORD_PROFILING_NAME,    HS_WORD_COMM_LIB_VERSION,
                                       HS_WORD_COLLECTIVE_SEQ_ID, HS_WORD_NCCL_VERSION };
    unsigned bits = 0;

    for (size_t i = 0; i < sizeof(telling); i++) {
        if (hs_str_has(head, words[telling[i]]))
            bits += 8 * (unsigned)strlen(words[telling[i]]);
    }
    return bits;
}

static unsigned probe_pickle(struct hs_str head)
{
    unsigned bits = hs_pickle_probe(head);

    return bits ? bits + words_in(head) : 0;
}

static unsigned probe_json(struct hs_str head)
{
    size_t i = 0;
    unsigned bits;

    while (i < head.n &&
           (head.p[i] == ' ' || head.p[i] == '\n' || head.p[i] == '\t' || head.p[i] == '\r'))
        i++;
    if (i == head.n || (head.p[i] != '{' && head.p[i] != '['))
        return 0;
    bits = words_in(head);
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
