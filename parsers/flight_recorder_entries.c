/*
 * flight_recorder_entries.c - an entry of the recorder becomes an operation of the dump.
 *
 * What entries share - stacks, sizes, dtypes, groups - is read once: by the objects that their
 * frames and lists are, where the document says that these stay the same.
 */
#include "parsers/flight_recorder.h"

#include "base/limits.h"

/* An entry of the recorder, gathered field by field before it becomes an operation. */
struct entry {
    struct hs_operation op;
    const struct hs_value *frames, *group, *group_ranks;
    uint32_t name;
    uint32_t timeout_ms;
    int64_t pg_id;
    int64_t started_ns, completed_ns;
    uint32_t lists[HS_DUMP_LISTS]; /* see struct hs_met_signature */
    uint32_t unread;               /* of these, by bits: r->in and r->out have not got them yet */
    const char *odd;               /* the first field of an unexpected type or size */
};

/* Field by field: a compiler clears the whole with an instruction that takes long to start. */
static void begin_entry(struct entry *e)
{
    e->op = (struct hs_operation){ .stack = HS_NO_ID };
    e->frames = e->group = e->group_ranks = NULL;
    e->name = HS_NO_ID;
    e->timeout_ms = 0;
    e->pg_id = -1;
    e->started_ns = e->completed_ns = 0;
    for (unsigned i = 0; i < HS_DUMP_LISTS; i++)
        e->lists[i] = 0;
    e->unread = HS_ALL_LISTS;
    e->odd = NULL;
}

/* A whole number of 0 to `max`, also as text; 0 for None, and for anything else, which is odd. */
static int64_t take_odd(struct entry *e, const struct hs_value *value, int64_t max,
                        const char *field)
{
    int64_t n = 0;

    if (value->kind == HS_VALUE_NONE)
        return 0;
    if (!hs_dump_integer(value, &n) || n < 0 || n > max) {
        e->odd = e->odd ? e->odd : field;
        return 0;
    }
    return n;
}

static inline int64_t take_number(struct entry *e, const struct hs_value *value, int64_t max,
                                  const char *field)
{
    if (value->kind == HS_VALUE_INT && value->i >= 0 && value->i <= max)
        return value->i;
    return take_odd(e, value, max, field);
}

static inline uint32_t take_u32(struct entry *e, const struct hs_value *value, const char *field)
{
    return (uint32_t)take_number(e, value, UINT32_MAX, field);
}

static inline int64_t take_time(struct entry *e, const struct hs_value *value, const char *field)
{
    return take_number(e, value, HS_TIME_NS_MAX, field);
}

/* `dims` dimensions; one that is none is odd, and 0. */
static void take_dimensions(struct entry *e, const struct hs_value *dim, uint32_t dims, int64_t *to)
{
    for (uint32_t i = 0; i < dims; i++) {
        to[i] = dim[i].i;
        if ((dim[i].kind != HS_VALUE_INT && !hs_dump_integer(&dim[i], &to[i])) || to[i] < 0) {
            e->odd = e->odd ? e->odd : "sizes";
            to[i] = 0;
        }
    }
}

/* [[2, 3], []] becomes 2, 2, 3, 0: for each tensor its number of dimensions and the dimensions. */
static void take_sizes(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                       const struct hs_value *value, bool input)
{
    int64_t **sizes = input ? &r->sizes_in : &r->sizes_out;
    uint32_t *cap = input ? &r->sizes_in_cap : &r->sizes_out_cap;
    struct hs_tensors *to = input ? &r->in : &r->out;
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
        take_dimensions(e, dim, dims, *sizes + used);
        used += dims;
    }
    to->sizes = *sizes;
    to->size_count = used;
    to->tensors = tensors;
}

static void take_dtypes(struct hs_dump_reading *r, const struct hs_document *doc,
                        const struct hs_value *value, bool input)
{
    uint32_t **dtypes = input ? &r->dtypes_in : &r->dtypes_out;
    uint32_t *cap = input ? &r->dtypes_in_cap : &r->dtypes_out_cap;
    struct hs_tensors *to = input ? &r->in : &r->out;
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

static const uint8_t list_of[HS_WORDS] = { [HS_WORD_INPUT_SIZES] = HS_DUMP_SIZES_IN,
                                           [HS_WORD_OUTPUT_SIZES] = HS_DUMP_SIZES_OUT,
                                           [HS_WORD_INPUT_DTYPES] = HS_DUMP_DTYPES_IN,
                                           [HS_WORD_OUTPUT_DTYPES] = HS_DUMP_DTYPES_OUT };

static bool is_sizes(enum hs_dump_list which)
{
    return which == HS_DUMP_SIZES_IN || which == HS_DUMP_SIZES_OUT;
}

static void take_list(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                      enum hs_dump_list which)
{
    const struct hs_value none = { .kind = HS_VALUE_NONE };
    const struct hs_value *value = e->lists[which] ? r->lists[which] : &none;
    bool input = which == HS_DUMP_SIZES_IN || which == HS_DUMP_DTYPES_IN;

    if (is_sizes(which))
        take_sizes(r, e, doc, value, input);
    else
        take_dtypes(r, doc, value, input);
    e->unread &= ~(1u << which);
}

/* A list that is fixed, and that has nothing odd, may turn out to need no reading. */
static void meet_list(struct hs_dump_reading *r, struct entry *e, const struct hs_document *doc,
                      const struct hs_value *value, enum hs_dump_list which)
{
    bool fixed = value->fixed == HS_FIXED_WHOLE;
    uint32_t object = fixed ? value->object + 1 : HS_NOT_FIXED;
    uint32_t *plain = is_sizes(which) ? &r->plain_sizes[object % HS_MET_LISTS] : NULL;
    const char *odd = e->odd;

    r->lists[which] = value;
    e->lists[which] = object;
    e->unread |= 1u << which;
    if (fixed && (!plain || *plain == object))
        return;
    e->odd = NULL;
    take_list(r, e, doc, which);
    if (fixed && !e->odd)
        *plain = object;
    e->odd = odd ? odd : e->odd;
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
        e->op.seq = take_u32(e, value, word == HS_WORD_SEQ_ID ? "seq_id" : "collective_seq_id");
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
        if (__builtin_mul_overflow(e->op.created_ns, 1000, &e->op.created_ns) ||
            e->op.created_ns > HS_TIME_NS_MAX)
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
    case HS_WORD_OUTPUT_SIZES:
    case HS_WORD_INPUT_DTYPES:
    case HS_WORD_OUTPUT_DTYPES:
        meet_list(r, e, doc, value, list_of[word]);
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
static uint32_t stack_of_frames(struct hs_dump_reading *r, const struct hs_document *doc,
                                const struct hs_value *value)
{
    uint32_t count, objects[HS_MET_FRAMES], hash = 0;
    const struct hs_value *items = hs_items(doc, value, &count);
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

/* The same list, the same stack: of a frame that changes, frame_of() has the first reading. */
static uint32_t read_stack(struct hs_dump_reading *r, const struct hs_document *doc,
                           const struct hs_value *value)
{
    struct hs_met_list *met;

    if (!value)
        return HS_NO_ID;
    if (!value->fixed)
        return stack_of_frames(r, doc, value);
    met = &r->stack_of_list[value->object % HS_MET_LISTS];
    if (met->object != value->object + 1)
        *met = (struct hs_met_list){ .object = value->object + 1,
                                     .stack = stack_of_frames(r, doc, value) };
    return met->stack;
}

/* Where a signature of the entry's name, timeout and lists is or may be put; NULL: it has to be
 * read, as a list may change. Each has two places. */
static struct hs_met_signature *meet_signature(struct hs_dump_reading *r, const struct entry *e)
{
    struct hs_met_signature *met = r->signatures;
    uint32_t hash = e->name * 31u + e->timeout_ms;

    for (unsigned i = 0; i < HS_DUMP_LISTS; i++) {
        if (e->lists[i] == HS_NOT_FIXED)
            return NULL;
        hash = (hash ^ e->lists[i]) * 0x9e3779b1u;
    }
    hash >>= 16;
    for (unsigned i = 0; i < 2; i++) {
        met = &r->signatures[(hash + i) % HS_MET_SIGNATURES];
        if (!met->met || (met->name == e->name && met->timeout_ms == e->timeout_ms &&
                          memcmp(met->lists, e->lists, sizeof(met->lists)) == 0))
            return met;
    }
    met->met = false;
    return met;
}

static uint32_t signature_of(struct hs_dump_reading *r, const struct hs_document *doc,
                             struct entry *e)
{
    struct hs_met_signature *met = meet_signature(r, e), one = { .met = false };

    if (!met)
        met = &one;
    if (!met->met) {
        for (unsigned i = 0; i < HS_DUMP_LISTS; i++) {
            if (e->unread >> i & 1)
                take_list(r, e, doc, (enum hs_dump_list)i);
        }
        met->signature = hs_job_put_signature(r->px->job, e->name, e->timeout_ms, &r->in, &r->out);
        met->name = e->name;
        met->timeout_ms = e->timeout_ms;
        memcpy(met->lists, e->lists, sizeof(met->lists));
        met->sized = r->in.tensors || r->out.tensors;
        met->met = met->signature != HS_NO_ID && !r->no_memory;
    }
    e->op.flags |= met->sized ? HS_OPERATION_SIZED : 0;
    return met->met ? met->signature : HS_NO_ID;
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
    uint32_t signature = signature_of(r, doc, e);
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
    finish_times(e);
    note_times(r, e);
    r->operations[r->operation_count++] = e->op;
}

bool hs_dump_entry(void *self, const struct hs_document *doc, const struct hs_value *element,
                   uint64_t offset_bytes)
{
    struct hs_dump_reading *r = self;
    struct entry e;
    uint32_t count;
    const struct hs_value *items = hs_items(doc, element, &count);

    if (element->kind != HS_VALUE_DICT)
        return hs_parse_diagnose(r->px, "not-an-entry", offset_bytes, HS_NO_POSITION,
                                 (struct hs_str){ .p = "" });
    if (r->operation_count >= HS_OPERATIONS_MAX)
        return false;
    begin_entry(&e);
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
