#include "schema/job.h"

#include <stdlib.h>

int hs_rank_place_compare(const void *a, const void *b)
{
    const struct hs_rank_place *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

void hs_job_init(struct hs_job *job)
{
    *job = (struct hs_job){ .source_count = 0 };
    hs_intern_init(&job->strings);
    hs_intern_init(&job->lists);
    hs_intern_init(&job->signatures_keys);
    hs_intern_init(&job->frames_keys);
    hs_intern_init(&job->stacks_keys);
    hs_intern_init(&job->args_keys);
    hs_arena_init(&job->texts);
}

void hs_job_release(struct hs_job *job)
{
    for (uint32_t i = 0; i < job->dump_count; i++)
        free(job->dumps[i].operations);
    hs_intern_release(&job->strings);
    hs_intern_release(&job->lists);
    hs_intern_release(&job->signatures_keys);
    hs_intern_release(&job->frames_keys);
    hs_intern_release(&job->stacks_keys);
    hs_intern_release(&job->args_keys);
    free(job->signatures);
    free(job->key);
    free(job->sources);
    free(job->diagnostics);
    free(job->members);
    free(job->dumps);
    for (const struct hs_line_table *t = hs_line_tables; t->name; t++) {
        uint32_t count;

        free(hs_job_rows(job, t, &count));
    }
    hs_arena_release(&job->texts);
    hs_job_init(job);
}

uint32_t hs_job_add_source(struct hs_job *job, struct hs_str name)
{
    uint32_t id = hs_intern_put(&job->strings, name);

    if (id == HS_NO_ID || !HS_GROW(job->sources, job->source_cap, job->source_count + 1u))
        return HS_NO_ID;
    job->sources[job->source_count] = (struct hs_source_row){ .name = id, .bids = HS_NO_ID };
    return job->source_count++;
}

bool hs_job_add_diagnostic(struct hs_job *job, const struct hs_diagnostic *row)
{
    if (!HS_GROW(job->diagnostics, job->diagnostic_cap, job->diagnostic_count + 1u))
        return false;
    job->diagnostics[job->diagnostic_count++] = *row;
    return true;
}

/* Interned arrays of u32 are stored as their bytes; arenas align every text for them. */
static const uint32_t *words(const struct hs_intern *table, uint32_t id, uint32_t *count)
{
    if (id == HS_NO_ID) {
        *count = 0;
        return NULL;
    }
    *count = (uint32_t)(table->items[id].n / sizeof(uint32_t));
    return (const uint32_t *)(const void *)table->items[id].p;
}

static uint32_t put_words(struct hs_intern *table, const uint32_t *items, uint32_t count)
{
    struct hs_str bytes = { .p = (const char *)items, .n = count * sizeof(*items) };

    return hs_intern_put(table, bytes);
}

const uint32_t *hs_job_list(const struct hs_job *job, uint32_t id, uint32_t *count)
{
    return words(&job->lists, id, count);
}

const uint32_t *hs_job_args(const struct hs_job *job, uint32_t id, uint32_t *count)
{
    return words(&job->args_keys, id, count);
}

struct hs_str hs_job_arg(const struct hs_job *job, uint32_t id, const char *name)
{
    uint32_t count;
    const uint32_t *strings = hs_job_args(job, id, &count);

    for (uint32_t i = 0; i + 1 < count; i += 2) {
        if (hs_str_is(hs_job_string(job, strings[i]), name))
            return hs_job_string(job, strings[i + 1]);
    }
    return (struct hs_str){ .p = NULL };
}

uint32_t hs_job_put_args(struct hs_job *job, const uint32_t *strings, uint32_t count)
{
    return put_words(&job->args_keys, strings, count);
}

/* ---- tables of rows that belong to a source ---- */

#define LINE_TABLE(name, rows)                                                                     \
    {                                                                                              \
#name, offsetof(struct hs_job, rows), offsetof(struct hs_job, name##_count),               \
            offsetof(struct hs_job, name##_cap), sizeof(*((struct hs_job *)NULL)->rows)            \
    }

const struct hs_line_table hs_line_tables[] = {
    LINE_TABLE(text_block, text_blocks),
    LINE_TABLE(speaker, speakers),
    LINE_TABLE(event, events),
    LINE_TABLE(communicator, communicators),
    LINE_TABLE(link, links),
    LINE_TABLE(fact, facts),
    { NULL, 0, 0, 0, 0 },
};

/* A field of the job by its offset. */
#define FIELD(job, type, offset) ((type *)(void *)((char *)(job) + (offset)))

void *hs_job_rows(const struct hs_job *job, const struct hs_line_table *table, uint32_t *count)
{
    *count = *FIELD(job, const uint32_t, table->count);
    return *FIELD(job, void *const, table->rows);
}

void hs_job_move_rows(struct hs_job *from, struct hs_job *to, const struct hs_line_table *table)
{
    free(*FIELD(to, void *, table->rows));
    *FIELD(to, void *, table->rows) = *FIELD(from, void *, table->rows);
    *FIELD(to, uint32_t, table->count) = *FIELD(from, uint32_t, table->count);
    *FIELD(to, uint32_t, table->cap) = *FIELD(from, uint32_t, table->cap);
    *FIELD(from, void *, table->rows) = NULL;
    *FIELD(from, uint32_t, table->count) = *FIELD(from, uint32_t, table->cap) = 0;
}

void *hs_job_add_rows(struct hs_job *job, const struct hs_line_table *table, uint32_t n)
{
    void **rows = FIELD(job, void *, table->rows);
    uint32_t *count = FIELD(job, uint32_t, table->count);
    uint32_t *cap = FIELD(job, uint32_t, table->cap);
    uint32_t first = *count;

    if (n > UINT32_MAX - 1 - first || !hs_grow(rows, cap, (size_t)first + n, table->row_bytes))
        return NULL;
    *count += n;
    return (char *)*rows + first * table->row_bytes;
}

bool hs_job_add_row(struct hs_job *job, const struct hs_line_table *table, const void *row)
{
    void *to = hs_job_add_rows(job, table, 1);

    if (to)
        memcpy(to, row, table->row_bytes);
    return to != NULL;
}

bool hs_job_list_has(const struct hs_job *job, uint32_t id, uint32_t item)
{
    uint32_t count;
    const uint32_t *items = hs_job_list(job, id, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (items[i] == item)
            return true;
    }
    return false;
}

uint32_t hs_job_put_list(struct hs_job *job, const uint32_t *items, uint32_t count)
{
    return put_words(&job->lists, items, count);
}

const struct hs_frame *hs_job_frame(const struct hs_job *job, uint32_t frame_id)
{
    return (const struct hs_frame *)(const void *)job->frames_keys.items[frame_id].p;
}

const uint32_t *hs_job_stack(const struct hs_job *job, uint32_t stack_id, uint32_t *count)
{
    return words(&job->stacks_keys, stack_id, count);
}

uint32_t hs_job_put_frame(struct hs_job *job, const struct hs_frame *frame)
{
    return put_words(&job->frames_keys, (const uint32_t *)(const void *)frame,
                     sizeof(*frame) / sizeof(uint32_t));
}

uint32_t hs_job_put_stack(struct hs_job *job, const uint32_t *frame_ids, uint32_t count)
{
    return put_words(&job->stacks_keys, frame_ids, count);
}

/* ---- signatures ----
 *
 * Key: name, timeout, then for inputs and outputs: tensors, size_count, each size as low and high
 * word, dtype_count, the dtypes.
 */

/* Room for one side of a key; then key_put_tensors() cannot fail. */
static bool key_reserve(struct hs_job *job, const struct hs_tensors *t)
{
    size_t words = 3 + 2 * (size_t)t->size_count + t->dtype_count;

    return HS_GROW(job->key, job->key_cap, job->key_count + words);
}

static void key_put_tensors(struct hs_job *job, const struct hs_tensors *t)
{
    uint32_t *to = job->key + job->key_count;

    *to++ = t->tensors;
    *to++ = t->size_count;
    for (uint32_t i = 0; i < t->size_count; i++) {
        *to++ = (uint32_t)t->sizes[i];
        *to++ = (uint32_t)((uint64_t)t->sizes[i] >> 32);
    }
    *to++ = t->dtype_count;
    for (uint32_t i = 0; i < t->dtype_count; i++)
        *to++ = t->dtypes[i];
    job->key_count = (uint32_t)(to - job->key);
}

/* Elements over all tensors; a product beyond 64 bits saturates (hostile input). */
static uint64_t count_elements(const struct hs_tensors *t)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->size_count;) {
        uint64_t product = 1;
        int64_t dims = t->sizes[i++];

        for (; dims > 0 && i < t->size_count; dims--, i++) {
            if (__builtin_mul_overflow(product, (uint64_t)t->sizes[i], &product))
                product = UINT64_MAX;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return UINT64_MAX;
    }
    return sum;
}

static uint32_t describe_shapes(struct hs_job *job, const struct hs_tensors *t)
{
    enum { SHOWN = 8 };
    struct hs_buf buf;
    uint32_t id, shown = 0;

    hs_buf_init(&buf);
    for (uint32_t i = 0; i < t->size_count && shown < SHOWN; shown++) {
        int64_t dims = t->sizes[i++];

        hs_buf_printf(&buf, shown ? " [" : "[");
        for (int64_t d = 0; d < dims && i < t->size_count; d++, i++)
            hs_buf_printf(&buf, d ? ", %lld" : "%lld", (long long)t->sizes[i]);
        hs_buf_putc(&buf, ']');
    }
    if (t->tensors > shown)
        hs_buf_printf(&buf, " … (%u tensors)", t->tensors);
    id = buf.failed ? HS_NO_ID : hs_intern_put(&job->strings, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return id;
}

/* "Float" when all agree, else the distinct ones in order. */
static uint32_t describe_dtypes(struct hs_job *job, const struct hs_tensors *t)
{
    struct hs_buf buf;
    uint32_t id;

    hs_buf_init(&buf);
    for (uint32_t i = 0; i < t->dtype_count; i++) {
        bool seen = false;

        for (uint32_t k = 0; k < i && k < 64; k++)
            seen = seen || t->dtypes[k] == t->dtypes[i];
        if (seen)
            continue;
        if (buf.n)
            hs_buf_put(&buf, HS_STR(", "));
        hs_buf_put(&buf, hs_job_string(job, t->dtypes[i]));
    }
    id = buf.failed ? HS_NO_ID : hs_intern_put(&job->strings, hs_buf_str(&buf));
    hs_buf_release(&buf);
    return id;
}

static bool fill_signature(struct hs_job *job, struct hs_signature *sig,
                           const struct hs_tensors *in, const struct hs_tensors *out)
{
    struct hs_str name = hs_job_string(job, sig->name);
    const char *colon = memchr(name.p, ':', name.n);
    size_t prefix = colon ? (size_t)(colon - name.p) : 0;
    struct hs_str bare = name;

    if (colon) {
        bare.p = colon + 1;
        bare.n = name.n - prefix - 1;
    }
    sig->self = sig->peer = sig->root = HS_NO_ID;
    (void)hs_operation_root(&bare, &sig->root);
    sig->kind = hs_operation_kind_of(bare);
    (void)hs_operation_pair(bare, &sig->self, &sig->peer);
    sig->backend = hs_intern_put(&job->strings, (struct hs_str){ .p = name.p, .n = prefix });
    sig->bare = hs_intern_put(&job->strings, bare);
    sig->numel_in = count_elements(in);
    sig->numel_out = count_elements(out);
    sig->tensors_in = in->tensors;
    sig->tensors_out = out->tensors;
    sig->dtypes_in = describe_dtypes(job, in);
    sig->dtypes_out = describe_dtypes(job, out);
    sig->shapes_in = describe_shapes(job, in);
    sig->shapes_out = describe_shapes(job, out);
    return sig->backend != HS_NO_ID && sig->bare != HS_NO_ID && sig->dtypes_in != HS_NO_ID &&
           sig->dtypes_out != HS_NO_ID && sig->shapes_in != HS_NO_ID && sig->shapes_out != HS_NO_ID;
}

uint32_t hs_job_put_signature(struct hs_job *job, uint32_t name, uint32_t timeout_ms,
                              const struct hs_tensors *in, const struct hs_tensors *out)
{
    uint32_t id, known = job->signatures_keys.count;

    job->key_count = 2;
    if (!key_reserve(job, in))
        return HS_NO_ID;
    job->key[0] = name;
    job->key[1] = timeout_ms;
    key_put_tensors(job, in);
    if (!key_reserve(job, out))
        return HS_NO_ID;
    key_put_tensors(job, out);
    id = put_words(&job->signatures_keys, job->key, job->key_count);
    if (id == HS_NO_ID || id < known)
        return id;
    if (!HS_GROW(job->signatures, job->signature_cap, id + 1u))
        return HS_NO_ID;
    job->signatures[id] = (struct hs_signature){ .name = name, .timeout_ms = timeout_ms };
    return fill_signature(job, &job->signatures[id], in, out) ? id : HS_NO_ID;
}

/* One side of a key, checked: sizes of whole tensors, strings that exist. NULL: it is none. */
static const uint32_t *read_key_side(const struct hs_job *job, const uint32_t *at,
                                     const uint32_t *end, struct hs_tensors *out, int64_t *sizes)
{
    if (end - at < 3)
        return NULL;
    out->tensors = *at++;
    out->size_count = *at++;
    if ((uint64_t)(end - at) < 2 * (uint64_t)out->size_count + 1)
        return NULL;
    for (uint32_t i = 0; i < out->size_count; i++, at += 2)
        sizes[i] = (int64_t)((uint64_t)at[0] | (uint64_t)at[1] << 32);
    out->sizes = sizes;
    out->dtype_count = *at++;
    if ((uint64_t)(end - at) < out->dtype_count)
        return NULL;
    out->dtypes = at;
    for (uint32_t i = 0; i < out->dtype_count; i++, at++) {
        if (*at >= job->strings.count)
            return NULL;
    }
    return at;
}

uint32_t hs_job_put_signature_key(struct hs_job *job, const uint32_t *words, uint32_t count)
{
    int64_t *sizes = malloc(((size_t)count + 1) * 2 * sizeof(*sizes));
    const uint32_t *end = words + count, *at = NULL;
    struct hs_tensors in, out;
    uint32_t id = HS_NO_ID;

    if (sizes && count > 2 && words[0] < job->strings.count)
        at = read_key_side(job, words + 2, end, &in, sizes);
    if (at)
        at = read_key_side(job, at, end, &out, sizes + count + 1);
    if (at == end)
        id = hs_job_put_signature(job, words[0], words[1], &in, &out);
    free(sizes);
    return id;
}
