/*
 * flight_recorder_entries.c - an entry of the recorder becomes an operation of the dump.
 *
 * What entries share - stacks, sizes, dtypes, groups - is read once: by the objects that their
 * frames and lists are, where the document says that these stay the same.
 */
#include "parsers/flight_recorder.h"

#include "base/limits.h"

/* Field by field: a compiler clears the whole with an instruction that takes long to start. */
static void begin_entry(struct hs_entry *e)
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
static int64_t take_odd(struct hs_entry *e, const struct hs_value *value, int64_t max,
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

static inline int64_t take_number(struct hs_entry *e, const struct hs_value *value, int64_t max,
                                  const char *field)
{
    if (value->kind == HS_VALUE_INT && value->i >= 0 && value->i <= max)
        return value->i;
    return take_odd(e, value, max, field);
}

static inline uint32_t take_u32(struct hs_entry *e, const struct hs_value *value, const char *field)
{
    return (uint32_t)take_number(e, value, UINT32_MAX, field);
}

static inline int64_t take_time(struct hs_entry *e, const struct hs_value *value, const char *field)
{
    return take_number(e, value, HS_TIME_NS_MAX, field);
}

static const uint8_t list_of[HS_WORDS] = { [HS_WORD_INPUT_SIZES] = HS_DUMP_SIZES_IN,
                                           [HS_WORD_OUTPUT_SIZES] = HS_DUMP_SIZES_OUT,
                                           [HS_WORD_INPUT_DTYPES] = HS_DUMP_DTYPES_IN,
                                           [HS_WORD_OUTPUT_DTYPES] = HS_DUMP_DTYPES_OUT };

static void take_state(struct hs_entry *e, const struct hs_value *value)
{
    enum hs_operation_state state = value->known == HS_WORD_COMPLETED   ? HS_STATE_COMPLETED
                                    : value->known == HS_WORD_STARTED   ? HS_STATE_STARTED
                                    : value->known == HS_WORD_SCHEDULED ? HS_STATE_SCHEDULED
                                                                        : HS_STATE_UNKNOWN;

    if (state == HS_STATE_UNKNOWN)
        e->odd = e->odd ? e->odd : "state";
    e->op.flags = (uint8_t)((e->op.flags & ~HS_OPERATION_STATE) | state);
}

static void take_flag(struct hs_entry *e, const struct hs_value *value, unsigned flag)
{
    if ((value->kind == HS_VALUE_BOOL || value->kind == HS_VALUE_INT) && value->i)
        e->op.flags |= (uint8_t)flag;
    else
        e->op.flags &= (uint8_t)~flag;
}

static void take_field(struct hs_dump_reading *r, struct hs_entry *e, const struct hs_document *doc,
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
        hs_entry_meet_list(r, e, doc, value, list_of[word]);
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

/* The latest entry tells. */
static void note_local_id(struct hs_dump_reading *r, uint32_t member, int64_t pg_id)
{
    if (pg_id >= 0 && pg_id <= INT32_MAX)
        r->px->job->members[member].local_id = (int32_t)pg_id;
}

/* Which group an entry belongs to: ("name", "description"), before 2.0 only a number. */
static uint32_t read_group(struct hs_dump_reading *r, const struct hs_document *doc,
                           const struct hs_entry *e, uint32_t backend)
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
    note_local_id(r, member, e->pg_id);
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

static void note_times(struct hs_dump_reading *r, const struct hs_entry *e)
{
    int64_t latest = e->op.created_ns > e->started_ns ? e->op.created_ns : e->started_ns;

    if (e->completed_ns > latest)
        latest = e->completed_ns;
    if (latest > r->dump.last_ns)
        r->dump.last_ns = latest;
    if (e->op.created_ns && (!r->dump.first_ns || e->op.created_ns < r->dump.first_ns))
        r->dump.first_ns = e->op.created_ns;
}

static void finish_times(struct hs_entry *e)
{
    int64_t took_us = (e->completed_ns - e->op.created_ns) / 1000;

    if (!e->completed_ns || !e->op.created_ns)
        return;
    e->op.finished_us = took_us < 1 ? 1 : took_us > UINT32_MAX ? UINT32_MAX : (uint32_t)took_us;
}

/* A gathered entry becomes an operation of the dump. */
static void add_operation(struct hs_dump_reading *r, struct hs_entry *e)
{
    if (!HS_GROW(r->operations, r->operation_cap, r->operation_count + 1u)) {
        r->no_memory = true;
        return;
    }
    finish_times(e);
    note_times(r, e);
    r->operations[r->operation_count++] = e->op;
}

/* What an entry refers to, by the numbers of rows. */
static void refer(struct hs_dump_reading *r, const struct hs_document *doc, struct hs_entry *e)
{
    struct hs_job *job = r->px->job;
    uint32_t signature = hs_entry_signature(r, doc, e);
    uint32_t member = signature == HS_NO_ID
                          ? HS_NO_ID
                          : read_group(r, doc, e, job->signatures[signature].backend);

    if (member == HS_NO_ID) {
        r->no_memory = true;
        return;
    }
    if (e->group_ranks)
        read_group_ranks(r, doc, e->group_ranks, member);
    e->op.signature = signature;
    e->op.member = (uint16_t)(member - r->dump.first_member);
    e->op.stack = read_stack(r, doc, e->frames);
}

/* ---- entries met before in all but their numbers ---- */

static bool is_number(const struct hs_value *value)
{
    return value->kind == HS_VALUE_INT || value->kind == HS_VALUE_FLOAT;
}

/* Whether nothing but its numbers can make an entry of this shape another operation. */
static bool is_settled(const struct hs_entry *e)
{
    bool settled = !e->odd && !e->group_ranks && (!e->frames || e->frames->fixed);

    for (unsigned i = 0; i < HS_DUMP_LISTS; i++)
        settled = settled && e->lists[i] != HS_NOT_FIXED;
    return settled;
}

static void remember(struct hs_dump_reading *r, uint32_t shape, const struct hs_value *items,
                     uint32_t count, const struct hs_entry *e)
{
    struct hs_met_entry *met;
    uint32_t numbers = 0;

    if (!is_settled(e) || count > UINT8_MAX)
        return;
    if (!HS_GROW(r->entries, r->entry_cap, shape + 1u)) {
        r->no_memory = true;
        return;
    }
    for (; r->entry_count <= shape; r->entry_count++)
        r->entries[r->entry_count].met = false;
    met = &r->entries[shape];
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        if (!items[i].known || !is_number(&items[i + 1]))
            continue;
        if (numbers == HS_MET_NUMBERS)
            return;
        met->words[numbers] = items[i].known;
        met->cells[numbers++] = (uint8_t)(i + 1);
    }
    met->count = (uint8_t)numbers;
    met->timeout_ms = e->timeout_ms;
    met->pg_id = e->pg_id;
    met->op = e->op;
    met->met = true;
}

/* The numbers of an entry that is otherwise `met`. False: they change more than themselves. */
static bool take_numbers(struct hs_dump_reading *r, const struct hs_met_entry *met,
                         const struct hs_document *doc, const struct hs_value *items,
                         struct hs_entry *e)
{
    e->op = met->op;
    e->op.finished_us = 0;
    for (uint32_t i = 0; i < met->count; i++)
        take_field(r, e, doc, met->words[i], &items[met->cells[i]]);
    if (e->odd || e->timeout_ms != met->timeout_ms || e->pg_id != met->pg_id)
        return false;
    note_local_id(r, r->dump.first_member + e->op.member, e->pg_id);
    return true;
}

bool hs_dump_entry(void *self, const struct hs_document *doc, const struct hs_value *element,
                   uint64_t offset_bytes)
{
    struct hs_dump_reading *r = self;
    struct hs_entry e;
    uint32_t count;
    const struct hs_value *items = hs_items(doc, element, &count);

    if (element->kind != HS_VALUE_DICT)
        return hs_parse_diagnose(r->px, "not-an-entry", offset_bytes, HS_NO_POSITION,
                                 (struct hs_str){ .p = "" });
    if (r->operation_count >= HS_OPERATIONS_MAX)
        return false;
    begin_entry(&e);
    if (element->fixed && element->n < r->entry_count && r->entries[element->n].met) {
        if (take_numbers(r, &r->entries[element->n], doc, items, &e)) {
            add_operation(r, &e);
            return !r->no_memory;
        }
        begin_entry(&e);
    }
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
    if (e.name == HS_NO_ID)
        r->no_memory = true;
    if (!r->no_memory)
        refer(r, doc, &e);
    if (!r->no_memory && element->fixed)
        remember(r, element->n, items, count, &e);
    if (!r->no_memory)
        add_operation(r, &e);
    return !r->no_memory;
}
