#include "parsers/pickle.h"

#include "parsers/pickle_ops.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    FAST_BYTES = 10 /* the longest opcode of the fast loop, with its argument */
};

static uint64_t number_at(const char *at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return value;
}

static bool cut(struct hs_pickle *m)
{
    return hs_builder_fail(&m->b, "cut-short", "the pickle ends inside %s", m->op->name);
}

static bool take_number(struct hs_pickle *m, size_t bytes, uint64_t *out)
{
    if ((size_t)(m->end - m->at) < bytes)
        return cut(m);
    *out = number_at(m->at, bytes);
    m->at += bytes;
    return true;
}

/* A length of `bytes` bytes, and the text it measures. */
static bool take_text(struct hs_pickle *m, size_t bytes, bool with_sign)
{
    uint64_t n = 0;

    if (!take_number(m, bytes, &n))
        return false;
    if (with_sign && n > INT32_MAX)
        return hs_builder_fail(&m->b, "malformed", "%s: a negative length", m->op->name);
    if (n > (size_t)(m->end - m->at))
        return cut(m);
    m->arg.text = (struct hs_str){ .p = m->at, .n = (size_t)n };
    m->at += n;
    return true;
}

/* So many lines as one text, without the last newline. */
static bool take_lines(struct hs_pickle *m, unsigned lines)
{
    const char *begin = m->at;

    while (lines-- > 0) {
        const char *end = m->at < m->end ? memchr(m->at, '\n', (size_t)(m->end - m->at)) : NULL;

        if (!end)
            return cut(m);
        m->at = end + 1;
    }
    m->arg.text = (struct hs_str){ .p = begin, .n = (size_t)(m->at - begin) - 1 };
    return true;
}

static bool take_arg(struct hs_pickle *m)
{
    static const uint8_t widths[] = {
        [HS_FORM_U1] = 1,     [HS_FORM_U2] = 2,    [HS_FORM_S4] = 4,    [HS_FORM_U4] = 4,
        [HS_FORM_F8] = 8,     [HS_FORM_U8] = 8,    [HS_FORM_TEXT1] = 1, [HS_FORM_TEXT4] = 4,
        [HS_FORM_TEXT4S] = 4, [HS_FORM_TEXT8] = 8, [HS_FORM_LINES] = 0,
    };
    unsigned form = m->op->form;
    uint64_t number = 0;

    switch (form) {
    case HS_FORM_NONE:
        return true;
    case HS_FORM_LINE:
    case HS_FORM_LINES:
        return take_lines(m, form == HS_FORM_LINES ? 2 : 1);
    case HS_FORM_TEXT1:
    case HS_FORM_TEXT4:
    case HS_FORM_TEXT4S:
    case HS_FORM_TEXT8:
        return take_text(m, widths[form], form == HS_FORM_TEXT4S);
    default:
        if (!take_number(m, widths[form], &number))
            return false;
        m->arg.number = form == HS_FORM_S4 ? (int32_t)number : (int64_t)number;
        return true;
    }
}

/* One opcode, by the table. False at STOP and at any trouble. */
static bool step(struct hs_pickle *m)
{
    m->b.offset_bytes = (uint64_t)(m->at - m->bytes.p);
    if (m->at == m->end)
        return hs_builder_fail(&m->b, "cut-short", "the pickle ends before its STOP");
    m->op = hs_pickle_ops + (unsigned char)*m->at;
    if (!m->op->name)
        return hs_builder_fail(&m->b, "malformed", "no opcode is 0x%02x", (unsigned char)*m->at);
    m->at++;
    return take_arg(m) && m->op->run(m);
}

/*
 * The fast loop: the opcodes that torch's pickler writes thousands of times, in their plain cases.
 * A case that is not plain (no room, a mark that matters to streaming, an error) is left alone for
 * step(), which knows all of them. Its state lives in registers, hence a struct that is never
 * passed to a real call.
 */
struct fast {
    const char *at;
    struct hs_value *top;         /* the first free cell of the stack */
    const struct hs_value *fence; /* the innermost mark */
    bool failed;                  /* the document ends here, with its trouble */
};

enum fast_op {
    FAST_NOT,
    FAST_GET,
    FAST_LONG_GET,
    FAST_INT1,
    FAST_INT2,
    FAST_INT4,
    FAST_LONG,
    FAST_FLOAT,
    FAST_NONE,
    FAST_BOOL,
    FAST_DICT,
    FAST_LIST,
    FAST_MARK,
    FAST_APPENDS,
    FAST_SETITEMS,
    FAST_TUPLE2
};

static const uint8_t fast_ops[256] = {
    ['h'] = FAST_GET,   ['j'] = FAST_LONG_GET, ['K'] = FAST_INT1,     ['M'] = FAST_INT2,
    ['J'] = FAST_INT4,  [0x8a] = FAST_LONG,    ['G'] = FAST_FLOAT,    ['N'] = FAST_NONE,
    [0x88] = FAST_BOOL, [0x89] = FAST_BOOL,    ['}'] = FAST_DICT,     [']'] = FAST_LIST,
    ['('] = FAST_MARK,  ['e'] = FAST_APPENDS,  ['u'] = FAST_SETITEMS, [0x86] = FAST_TUPLE2,
};

/* Past an opcode of `bytes` bytes if it was run. */
static inline bool past(struct fast *f, bool ran, size_t bytes)
{
    f->at += ran ? bytes : 0;
    return ran;
}

static inline bool fast_get(struct fast *f, const struct hs_value *slot, size_t bytes)
{
    if (slot->kind == HS_VALUE_NONE)
        return false;
    *f->top++ = *slot;
    return past(f, true, bytes);
}

static inline bool fast_long_get(const struct hs_pickle *m, struct fast *f)
{
    uint64_t slot = number_at(f->at + 1, 4);

    return slot < m->memo_cap && fast_get(f, m->memo + slot, 5);
}

static inline bool fast_scalar(struct fast *f, enum hs_value_kind kind, int64_t i, size_t bytes)
{
    hs_cell_set(f->top++, kind, i);
    return past(f, true, bytes);
}

static inline bool fast_long(struct fast *f)
{
    return f->at[1] == 8 && fast_scalar(f, HS_VALUE_INT, (int64_t)number_at(f->at + 2, 8), 10);
}

static inline bool fast_float(struct fast *f)
{
    uint64_t bits = __builtin_bswap64(number_at(f->at + 1, 8));

    return fast_scalar(f, HS_VALUE_FLOAT, (int64_t)bits, 9);
}

/* Make `cell` a container of `n` items, which are to be at the document's next free cells. */
static inline bool fast_make(struct hs_pickle *m, struct hs_value *cell, enum hs_value_kind kind,
                             uint32_t n, const char *at)
{
    struct hs_document *doc = m->b.doc;
    uint32_t id = doc->object_count;

    if (id >= doc->object_cap)
        return false;
    doc->objects[id] = (struct hs_object){ .first = doc->cell_count,
                                           .count = n,
                                           .cap = n,
                                           .at = (uint32_t)(at - m->bytes.p) & INT32_MAX };
    doc->object_count = id + 1;
    hs_cell_set(cell, kind, id);
    return true;
}

static inline bool fast_container(struct hs_pickle *m, struct fast *f, enum hs_value_kind kind)
{
    bool made = fast_make(m, f->top, kind, 0, f->at);

    f->top += made;
    return past(f, made, 1);
}

/* Directly in the streamed list it may have been met before: then it is handed out already. */
static inline bool fast_dict(struct hs_pickle *m, struct fast *f)
{
    struct hs_builder *b = &m->b;
    struct hs_value element;
    size_t bytes = 0;

    if (b->mark_count == b->stream_mark && f->at[1] == '(' && b->stack + b->handed == f->top)
        bytes = hs_pickle_find_element(m, f->at, &element);
    if (bytes == 0)
        return fast_container(m, f, HS_VALUE_DICT);
    b->offset_bytes = (uint64_t)(f->at - m->bytes.p);
    f->failed = !hs_builder_hand_out_again(b, &element);
    if (f->failed)
        return false;
    hs_cell_set(f->top++, HS_VALUE_STREAMED, 0);
    b->handed++;
    return past(f, true, bytes);
}

/* Directly inside an element it may have been met before. */
static inline bool fast_list(struct hs_pickle *m, struct fast *f)
{
    const struct hs_builder *b = &m->b;
    size_t bytes = 0;

    if (f->at[1] == '(' && b->mark_count >= 2 && b->mark_count == b->stream_mark + 1)
        bytes = hs_pickle_find_list(m, f->at, f->top);
    if (bytes == 0)
        return fast_container(m, f, HS_VALUE_LIST);
    f->top++;
    return past(f, true, bytes);
}

/* The first two marks may be the streamed list's. */
static inline bool fast_mark(struct hs_pickle *m, struct fast *f)
{
    struct hs_builder *b = &m->b;

    if (b->mark_count < 2 || b->mark_count == HS_VALUE_DEPTH_MAX)
        return false;
    b->marks[++b->mark_count] = (uint32_t)(f->top - b->stack);
    f->fence = f->top;
    return past(f, true, 1);
}

/* Give the cells from `items` on to the container below them, which had none. */
static inline bool fast_items(struct hs_pickle *m, struct fast *f, struct hs_value *items,
                              uint32_t id)
{
    struct hs_document *doc = m->b.doc;
    struct hs_object *object = doc->objects + id;
    uint32_t n = (uint32_t)(f->top - items);

    if (object->cap != 0 || id < doc->kept_objects || m->b.cell_end - doc->cell_count < n)
        return false;
    hs_copy_cells(doc->cells + doc->cell_count, items, n);
    object->first = doc->cell_count;
    object->count = object->cap = n;
    doc->cell_count += n;
    f->top = items;
    return true;
}

/* APPENDS and SETITEMS, unless the streamed list ends here or one of its elements may go on. */
static inline bool fast_close(struct hs_pickle *m, struct fast *f, enum hs_value_kind kind)
{
    struct hs_builder *b = &m->b;
    uint32_t outer = b->mark_count - 1;
    struct hs_value *items = b->stack + b->marks[b->mark_count];
    bool element = b->stream_mark == outer;

    if (b->mark_count == 0 || items - b->stack <= (ptrdiff_t)b->marks[outer] ||
        items[-1].kind != kind || (kind == HS_VALUE_DICT && (f->top - items) % 2 != 0) ||
        b->stream_mark == b->mark_count ||
        (element && (kind == HS_VALUE_LIST || f->top - items >= HS_PICKLE_BATCH)) ||
        !fast_items(m, f, items, items[-1].object))
        return false;
    b->mark_count = outer;
    f->fence = b->stack + b->marks[outer];
    if (element)
        f->failed = !hs_pickle_hand_out(m, f->at, (uint32_t)(f->top - b->stack));
    return past(f, true, 1) && !f->failed;
}

static inline bool fast_tuple2(struct hs_pickle *m, struct fast *f)
{
    struct hs_builder *b = &m->b;
    struct hs_document *doc = b->doc;
    struct hs_value *items = f->top - 2;

    if (f->top - f->fence < 2 || b->mark_count == b->stream_mark || items[0].fixed ||
        items[1].fixed || b->cell_end - doc->cell_count < 2 || doc->object_count == doc->object_cap)
        return false;
    hs_copy_cells(doc->cells + doc->cell_count, items, 2);
    f->top--;
    (void)fast_make(m, items, HS_VALUE_TUPLE, 2, f->at);
    doc->cell_count += 2;
    return past(f, true, 1);
}

static inline bool fast_step(struct hs_pickle *m, struct fast *f)
{
    const char *at = f->at;

    switch ((enum fast_op)fast_ops[(unsigned char)*at]) {
    case FAST_NOT:
        return false;
    case FAST_GET:
        return fast_get(f, m->memo + (unsigned char)at[1], 2);
    case FAST_LONG_GET:
        return fast_long_get(m, f);
    case FAST_INT1:
        return fast_scalar(f, HS_VALUE_INT, (unsigned char)at[1], 2);
    case FAST_INT2:
        return fast_scalar(f, HS_VALUE_INT, (int64_t)number_at(at + 1, 2), 3);
    case FAST_INT4:
        return fast_scalar(f, HS_VALUE_INT, (int32_t)number_at(at + 1, 4), 5);
    case FAST_LONG:
        return fast_long(f);
    case FAST_FLOAT:
        return fast_float(f);
    case FAST_NONE:
        return fast_scalar(f, HS_VALUE_NONE, 0, 1);
    case FAST_BOOL:
        return fast_scalar(f, HS_VALUE_BOOL, (unsigned char)*at == 0x88, 1);
    case FAST_DICT:
        return fast_dict(m, f);
    case FAST_LIST:
        return fast_list(m, f);
    case FAST_MARK:
        return fast_mark(m, f);
    case FAST_APPENDS:
        return fast_close(m, f, HS_VALUE_LIST);
    case FAST_SETITEMS:
        return fast_close(m, f, HS_VALUE_DICT);
    case FAST_TUPLE2:
        return fast_tuple2(m, f);
    }
    __builtin_unreachable();
}

/* As far as it goes; false when the document ends. No opcode pushes more cells than it has bytes,
 * so that room on the stack is room for so many bytes. */
__attribute__((noinline)) static bool run_fast(struct hs_pickle *m)
{
    struct hs_builder *b = &m->b;
    struct fast f = { .at = m->at,
                      .top = b->stack + b->count,
                      .fence = b->stack + b->marks[b->mark_count] };
    const struct hs_value *full = b->stack + b->cap;
    bool ok = true;

    while (ok && m->end - f.at >= FAST_BYTES && f.top < full) {
        const char *stop = m->end - FAST_BYTES + 1;

        if (stop - f.at > full - f.top)
            stop = f.at + (full - f.top);
        while (ok && f.at < stop)
            ok = fast_step(m, &f);
    }
    m->at = f.at;
    b->count = (uint32_t)(f.top - b->stack);
    return !f.failed;
}

static void run(struct hs_pickle *m)
{
    while (run_fast(m) && step(m))
        ;
}

bool hs_pickle_read(struct hs_document *doc, struct hs_str bytes,
                    const struct hs_document_consumer *consumer, struct hs_value *top,
                    struct hs_trouble *trouble)
{
    struct hs_pickle m = { .bytes = { .p = bytes.n > 0 ? bytes.p : "", .n = bytes.n } };

    m.at = m.bytes.p;
    m.end = m.bytes.p + m.bytes.n;
    *top = (struct hs_value){ .kind = HS_VALUE_NONE };
    if (hs_builder_init(&m.b, doc, consumer, trouble) &&
        hs_pickle_memo_grow(&m, HS_PICKLE_MEMO_FIRST)) {
        if (bytes.n > HS_SOURCE_BYTES_MAX)
            (void)hs_builder_fail(&m.b, "limit", "a pickle of more than %llu bytes",
                                  HS_SOURCE_BYTES_MAX);
        else
            run(&m);
    }
    if (!m.stopped) {
        hs_builder_salvage(&m.b, top);
    } else {
        *top = m.b.stack[m.b.count - 1];
        m.b.offset_bytes = (uint64_t)(m.at - m.bytes.p);
        if (m.at < m.end)
            (void)hs_builder_fail(&m.b, "trailing-bytes", "%zu bytes follow the STOP",
                                  (size_t)(m.end - m.at));
    }
    free(m.memo);
    hs_builder_release(&m.b);
    return m.stopped;
}

/* "module\nname\n", as GLOBAL of protocol 0 has it: no dump, but a pickle that must be refused. */
static bool names_a_global(struct hs_str text)
{
    unsigned lines = 0;

    for (size_t i = 0; i < text.n && i < 256 && lines < 2; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '\n' && i > 0)
            lines++;
        else if (!isalnum(c) && c != '_' && c != '.')
            return false;
    }
    return lines == 2;
}

/* MARK and UNICODE, as lines of vLLM begin, too: "(VllmWorker". Picklers number what they write. */
static bool is_line_of_log(struct hs_str head)
{
    const char *end = memchr(head.p, '\n', head.n);
    size_t left = end ? (size_t)(head.p + head.n - end) : 0;

    return hs_str_starts(head, HS_STR("(V")) &&
           !(left > 2 && end[1] == 'p' && isdigit((unsigned char)end[2]));
}

unsigned hs_pickle_probe(struct hs_str head)
{
    static const char *const starts[] = { "(dp", "(lp", "}q", "]q", "(S'", "(S\"", "(V" };
    const unsigned char *h = (const unsigned char *)head.p;

    if (is_line_of_log(head))
        return 0;
    if (head.n >= 2 && h[0] == 0x80 && h[1] <= 5)
        return head.n > 2 && hs_pickle_ops[h[2]].name ? 24 : 16;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (hs_str_starts(head, hs_str_of(starts[i])))
            return 8 * (unsigned)strlen(starts[i]);
    }
    if (head.n > 6 && h[0] == '(' && h[1] == 'X' && h[4] == 0 && h[5] == 0)
        return 32; /* MARK, and a text shorter than 64 KiB */
    if (head.n > 1 && h[0] == '(') {
        head.p++;
        head.n--;
    }
    if (head.n > 1 && head.p[0] == 'c' &&
        names_a_global((struct hs_str){ .p = head.p + 1, .n = head.n - 1 }))
        return 8;
    return 0;
}
