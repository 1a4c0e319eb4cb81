/*
 * flight_recorder_lists.c - sizes and dtypes of an entry, and the signature that they make.
 *
 * Entries repeat few of them, and a pickle's reader tells lists that are alike: those are read
 * once.
 */
#include "parsers/flight_recorder.h"

#include "base/limits.h"

/* `dims` dimensions; one that is none is odd, and 0. */
static void take_dimensions(struct hs_entry *e, const struct hs_value *dim, uint32_t dims,
                            int64_t *to)
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
static void take_sizes(struct hs_dump_reading *r, struct hs_entry *e, const struct hs_document *doc,
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

static bool is_sizes(enum hs_dump_list which)
{
    return which == HS_DUMP_SIZES_IN || which == HS_DUMP_SIZES_OUT;
}

static void take_list(struct hs_dump_reading *r, struct hs_entry *e, const struct hs_document *doc,
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

/* That is fixed, and has nothing odd, may turn out to need no reading. */
void hs_entry_meet_list(struct hs_dump_reading *r, struct hs_entry *e,
                        const struct hs_document *doc, const struct hs_value *value,
                        enum hs_dump_list which)
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

/* Where a signature of the entry's name, timeout and lists is or may be put; NULL: it has to be
 * read, as a list may change. Each has two places. */
static struct hs_met_signature *meet_signature(struct hs_dump_reading *r, const struct hs_entry *e)
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

uint32_t hs_entry_signature(struct hs_dump_reading *r, const struct hs_document *doc,
                            struct hs_entry *e)
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
