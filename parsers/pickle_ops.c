#include "parsers/pickle_ops.h"

#include "base/buf.h"
#include "base/json.h"

enum { TEXT_MAX = 120 };

/* Whether `n` cells lie above the innermost mark. */
static bool need(struct hs_pickle *m, uint32_t n)
{
    return hs_builder_above_mark(&m->b) >= n ||
           hs_pickle_malformed(m, "the stack holds too little");
}

static bool need_mark(struct hs_pickle *m)
{
    return m->b.mark_count > 0 || hs_pickle_malformed(m, "there is no mark");
}

static struct hs_value *top(struct hs_pickle *m)
{
    return m->b.stack + m->b.count - 1;
}

static bool is_container(const struct hs_value *value)
{
    return value->kind >= HS_VALUE_LIST && value->kind <= HS_VALUE_DICT;
}

/* Containers. */

static bool run_mark(struct hs_pickle *m)
{
    return hs_builder_open(&m->b);
}

static bool run_empty_dict(struct hs_pickle *m)
{
    return hs_builder_push_container(&m->b, HS_VALUE_DICT);
}

static bool run_empty_list(struct hs_pickle *m)
{
    return hs_builder_push_container(&m->b, HS_VALUE_LIST);
}

static bool run_empty_tuple(struct hs_pickle *m)
{
    return hs_builder_push_container(&m->b, HS_VALUE_TUPLE);
}

/* The topmost `n` cells become a container. */
static bool gather(struct hs_pickle *m, enum hs_value_kind kind, uint32_t n)
{
    struct hs_value made;

    for (uint32_t i = m->b.count - n; kind == HS_VALUE_TUPLE && i < m->b.count; i++) {
        if (!hs_pickle_own(m, i)) /* REDUCE can take it out again */
            return false;
    }
    if (!hs_builder_push_container(&m->b, kind))
        return false;
    made = *top(m);
    hs_builder_pop(&m->b, 1);
    return hs_builder_move_items(&m->b, &made, n) && hs_builder_push(&m->b, made);
}

static bool gather_marked(struct hs_pickle *m, enum hs_value_kind kind)
{
    uint32_t base;

    if (!need_mark(m))
        return false;
    base = hs_builder_close(&m->b);
    if (kind == HS_VALUE_DICT && (m->b.count - base) % 2 != 0)
        return hs_pickle_malformed(m, "a key without a value");
    return gather(m, kind, m->b.count - base);
}

static bool run_tuple(struct hs_pickle *m)
{
    return gather_marked(m, HS_VALUE_TUPLE);
}

static bool run_list(struct hs_pickle *m)
{
    return gather_marked(m, HS_VALUE_LIST);
}

static bool run_dict(struct hs_pickle *m)
{
    return gather_marked(m, HS_VALUE_DICT);
}

static bool run_tuple1(struct hs_pickle *m)
{
    return need(m, 1) && gather(m, HS_VALUE_TUPLE, 1);
}

static bool run_tuple2(struct hs_pickle *m)
{
    return need(m, 2) && gather(m, HS_VALUE_TUPLE, 2);
}

static bool run_tuple3(struct hs_pickle *m)
{
    return need(m, 3) && gather(m, HS_VALUE_TUPLE, 3);
}

/* The container below the topmost `n` cells, of `kind`. */
static struct hs_value *below(struct hs_pickle *m, uint32_t n, enum hs_value_kind kind)
{
    struct hs_value *container;

    if (!need(m, n + 1))
        return NULL;
    if (!hs_pickle_own(m, m->b.count - n - 1))
        return NULL;
    if (kind == HS_VALUE_LIST)
        m->lists.fresh_count = 0; /* it may be one of them, and change */
    container = m->b.stack + m->b.count - n - 1;
    if (container->kind == kind)
        return container;
    (void)hs_pickle_malformed(m, container->kind == HS_VALUE_STREAMED ? "that element was complete"
                                 : kind == HS_VALUE_LIST              ? "there is no list"
                                                                      : "there is no dict");
    return NULL;
}

static bool hand_out(struct hs_pickle *m)
{
    if (!hs_builder_hand_out(&m->b))
        return false;
    hs_pickle_keep_lists(m);
    return true;
}

static bool run_append(struct hs_pickle *m)
{
    const struct hs_value *list = below(m, 1, HS_VALUE_LIST);

    if (list && m->b.mark_count <= 1 && hs_builder_is_streamed(&m->b, m->b.count - 2) &&
        !hs_builder_hand_out_one(&m->b, top(m)))
        return false;
    return list && hs_builder_move_items(&m->b, list, 1);
}

static bool run_appends(struct hs_pickle *m)
{
    const struct hs_value *list;
    uint32_t n;

    if (!need_mark(m))
        return false;
    if (m->b.mark_count == m->b.stream_mark && !hand_out(m))
        return false;
    n = m->b.count - hs_builder_close(&m->b);
    list = below(m, n, HS_VALUE_LIST);
    return list && hs_builder_move_items(&m->b, list, n);
}

static bool run_setitem(struct hs_pickle *m)
{
    const struct hs_value *dict = below(m, 2, HS_VALUE_DICT);

    return dict && hs_builder_move_items(&m->b, dict, 2);
}

/* A dict that is directly in the streamed list is complete with its items, and handed out; unless
 * it may go on: CPython writes large ones in batches. */
static bool run_setitems(struct hs_pickle *m)
{
    const struct hs_value *dict;
    uint32_t n;

    if (!need_mark(m))
        return false;
    n = m->b.count - hs_builder_close(&m->b);
    dict = below(m, n, HS_VALUE_DICT);
    if (!dict)
        return false;
    if (n % 2 != 0)
        return hs_pickle_malformed(m, "a key without a value");
    if (!hs_builder_move_items(&m->b, dict, n))
        return false;
    return m->b.mark_count != m->b.stream_mark || n >= HS_PICKLE_BATCH || hand_out(m);
}

/* The stack itself, and the memo. */

static bool run_pop(struct hs_pickle *m)
{
    if (hs_builder_above_mark(&m->b) == 0) {
        if (m->b.mark_count == 0)
            return need(m, 1);
        (void)hs_builder_close(&m->b);
        return true;
    }
    hs_builder_pop(&m->b, 1);
    return true;
}

static bool run_pop_mark(struct hs_pickle *m)
{
    if (!need_mark(m))
        return false;
    hs_builder_pop(&m->b, m->b.count - hs_builder_close(&m->b));
    return true;
}

static bool run_dup(struct hs_pickle *m)
{
    if (!need(m, 1) || !hs_pickle_own(m, m->b.count - 1))
        return false;
    if (is_container(top(m)))
        hs_builder_keep(&m->b);
    return hs_builder_push(&m->b, *top(m));
}

bool hs_pickle_memo_grow(struct hs_pickle *m, uint32_t slots)
{
    uint32_t old = m->memo_cap;

    if (!HS_GROW(m->memo, m->memo_cap, slots))
        return hs_builder_no_memory(&m->b);
    for (uint32_t i = old; i < m->memo_cap; i++)
        m->memo[i] = (struct hs_value){ .kind = HS_VALUE_NONE, .n = HS_PICKLE_UNSET };
    return true;
}

/* Bytes that were met before may mean something else now. */
static void forget(struct hs_pickle *m)
{
    hs_pickle_forget_lists(m);
    hs_pickle_forget_elements(m);
}

/* Slots are numbered as they are put, hence below the offset: a small file cannot ask for a large
 * memo. */
static bool put(struct hs_pickle *m, uint64_t slot)
{
    if (!need(m, 1))
        return false;
    if (slot >= HS_PICKLE_MEMO_FIRST && (slot >= HS_VALUE_MEMO_MAX || slot > m->b.offset_bytes))
        return hs_builder_fail(&m->b, "limit", "%s: memo slot %llu is too large", m->op->name,
                               (unsigned long long)slot);
    if (slot >= m->memo_cap && !hs_pickle_memo_grow(m, (uint32_t)slot + 1))
        return false;
    if (!hs_pickle_own(m, m->b.count - 1))
        return false;
    if (hs_pickle_is_unset(m->memo + slot))
        m->memo_puts++;
    else
        forget(m);
    m->memo[slot] = *top(m);
    if (is_container(top(m)))
        hs_builder_keep(&m->b);
    return true;
}

static bool get(struct hs_pickle *m, uint64_t slot)
{
    if (slot >= m->memo_cap || hs_pickle_is_unset(m->memo + slot))
        return hs_pickle_malformed(m, "the memo slot is empty");
    return hs_builder_push(&m->b, m->memo[slot]);
}

static bool run_put(struct hs_pickle *m)
{
    return put(m, (uint64_t)m->arg.number);
}

static bool run_memoize(struct hs_pickle *m)
{
    return put(m, m->memo_puts);
}

static bool run_get(struct hs_pickle *m)
{
    return get(m, (uint64_t)m->arg.number);
}

static bool slot_of_line(struct hs_pickle *m, uint64_t *slot)
{
    struct hs_json_token token;

    if (hs_json_number(m->arg.text, &token) != HS_JSON_INT || token.i < 0)
        return hs_pickle_malformed(m, "no slot number");
    *slot = (uint64_t)token.i;
    return true;
}

static bool run_put_line(struct hs_pickle *m)
{
    uint64_t slot = 0;

    return slot_of_line(m, &slot) && put(m, slot);
}

static bool run_get_line(struct hs_pickle *m)
{
    uint64_t slot = 0;

    return slot_of_line(m, &slot) && get(m, slot);
}

static bool run_proto(struct hs_pickle *m)
{
    return m->arg.number <= 5 ||
           hs_builder_fail(&m->b, "malformed", "PROTO: protocol %d is not known",
                           (int)m->arg.number);
}

/* A frame's length helps whoever reads from a pipe; here it could only contradict. */
static bool run_frame(struct hs_pickle *m)
{
    (void)m;
    return true;
}

static bool run_stop(struct hs_pickle *m)
{
    m->stopped = need(m, 1);
    return false;
}

/* What is refused. */

static bool refuse(struct hs_pickle *m, struct hs_str module, struct hs_str name)
{
    struct hs_buf safe;

    hs_buf_init(&safe);
    hs_buf_put_safe(&safe, module, TEXT_MAX / 2);
    hs_buf_putc(&safe, '.');
    hs_buf_put_safe(&safe, name, TEXT_MAX / 2);
    (void)hs_builder_fail(&m->b, "unsafe-pickle", "%s would import %.*s", m->op->name,
                          HS_STR_ARG(hs_buf_str(&safe)));
    hs_buf_release(&safe);
    return false;
}

static bool import(struct hs_pickle *m, struct hs_str module, struct hs_str name)
{
    static const char *const identities[] = { "restore_type_tag", "build_intlist",
                                              "build_doublelist", "build_boollist" };

    for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
        if (hs_str_is(module, "torch.jit._pickle") && hs_str_is(name, identities[i]))
            return hs_builder_push(
                &m->b, (struct hs_value){ .kind = HS_VALUE_NONE, .n = HS_PICKLE_IDENTITY });
    }
    return refuse(m, module, name);
}

static struct hs_str first_line(struct hs_str lines)
{
    const char *end = memchr(lines.p, '\n', lines.n);

    return (struct hs_str){ .p = lines.p, .n = end ? (size_t)(end - lines.p) : lines.n };
}

/* GLOBAL, and INST, whose class is written like it. */
static bool run_global(struct hs_pickle *m)
{
    struct hs_str both = m->arg.text, module = first_line(both);
    struct hs_str name = { .p = both.p + module.n + 1, .n = both.n - module.n - 1 };

    return m->op->name[0] == 'G' ? import(m, module, name) : refuse(m, module, name);
}

static bool run_stack_global(struct hs_pickle *m)
{
    struct hs_value module, name;

    if (!need(m, 2))
        return false;
    module = top(m)[-1];
    name = top(m)[0];
    if (module.kind != HS_VALUE_STR || name.kind != HS_VALUE_STR)
        return hs_builder_fail(&m->b, "unsafe-pickle", "STACK_GLOBAL without names");
    hs_builder_pop(&m->b, 2);
    return import(m, hs_value_str(&module), hs_value_str(&name));
}

static bool run_refused(struct hs_pickle *m)
{
    return hs_builder_fail(&m->b, "unsafe-pickle", "%s is not plain data", m->op->name);
}

/* torch.jit._pickle's functions give back their first argument; nothing else is called. */
static bool run_reduce(struct hs_pickle *m)
{
    const struct hs_value *function, *args, *items;
    struct hs_value first;
    uint32_t n;

    if (!need(m, 2))
        return false;
    args = top(m);
    function = args - 1;
    items = hs_items(m->b.doc, args, &n);
    if (function->kind != HS_VALUE_NONE || function->n != HS_PICKLE_IDENTITY ||
        args->kind != HS_VALUE_TUPLE || n == 0)
        return run_refused(m);
    first = items[0];
    hs_builder_pop(&m->b, 2);
    return hs_builder_push(&m->b, first);
}

bool hs_pickle_hand_out(struct hs_pickle *m, const char *at, uint32_t count)
{
    uint32_t object = m->b.stack[count - 1].object, begin = m->b.doc->objects[object].at;
    bool known = m->lists.fresh_count == 0; /* all its lists */

    m->b.offset_bytes = (uint64_t)(at - m->bytes.p);
    m->b.count = count;
    if (!hand_out(m))
        return false;
    if (known && object >= m->b.doc->kept_objects)
        hs_pickle_keep_element(m, object, m->bytes.p + begin, m->b.offset_bytes + 1 - begin);
    return true;
}

const struct hs_pickle_op hs_pickle_ops[256] = {
    ['('] = { "MARK", HS_FORM_NONE, run_mark },
    [')'] = { "EMPTY_TUPLE", HS_FORM_NONE, run_empty_tuple },
    ['.'] = { "STOP", HS_FORM_NONE, run_stop },
    ['0'] = { "POP", HS_FORM_NONE, run_pop },
    ['1'] = { "POP_MARK", HS_FORM_NONE, run_pop_mark },
    ['2'] = { "DUP", HS_FORM_NONE, run_dup },
    ['B'] = { "BINBYTES", HS_FORM_TEXT4, hs_pickle_run_bytes },
    ['C'] = { "SHORT_BINBYTES", HS_FORM_TEXT1, hs_pickle_run_bytes },
    ['F'] = { "FLOAT", HS_FORM_LINE, hs_pickle_run_float_line },
    ['G'] = { "BINFLOAT", HS_FORM_F8, hs_pickle_run_float },
    ['I'] = { "INT", HS_FORM_LINE, hs_pickle_run_int_line },
    ['J'] = { "BININT", HS_FORM_S4, hs_pickle_run_int },
    ['K'] = { "BININT1", HS_FORM_U1, hs_pickle_run_int },
    ['L'] = { "LONG", HS_FORM_LINE, hs_pickle_run_long_line },
    ['M'] = { "BININT2", HS_FORM_U2, hs_pickle_run_int },
    ['N'] = { "NONE", HS_FORM_NONE, hs_pickle_run_none },
    ['P'] = { "PERSID", HS_FORM_LINE, run_refused },
    ['Q'] = { "BINPERSID", HS_FORM_NONE, run_refused },
    ['R'] = { "REDUCE", HS_FORM_NONE, run_reduce },
    ['S'] = { "STRING", HS_FORM_LINE, hs_pickle_run_string_line },
    ['T'] = { "BINSTRING", HS_FORM_TEXT4S, hs_pickle_run_text },
    ['U'] = { "SHORT_BINSTRING", HS_FORM_TEXT1, hs_pickle_run_text },
    ['V'] = { "UNICODE", HS_FORM_LINE, hs_pickle_run_unicode_line },
    ['X'] = { "BINUNICODE", HS_FORM_TEXT4, hs_pickle_run_text },
    [']'] = { "EMPTY_LIST", HS_FORM_NONE, run_empty_list },
    ['a'] = { "APPEND", HS_FORM_NONE, run_append },
    ['b'] = { "BUILD", HS_FORM_NONE, run_refused },
    ['c'] = { "GLOBAL", HS_FORM_LINES, run_global },
    ['d'] = { "DICT", HS_FORM_NONE, run_dict },
    ['e'] = { "APPENDS", HS_FORM_NONE, run_appends },
    ['g'] = { "GET", HS_FORM_LINE, run_get_line },
    ['h'] = { "BINGET", HS_FORM_U1, run_get },
    ['i'] = { "INST", HS_FORM_LINES, run_global },
    ['j'] = { "LONG_BINGET", HS_FORM_U4, run_get },
    ['l'] = { "LIST", HS_FORM_NONE, run_list },
    ['o'] = { "OBJ", HS_FORM_NONE, run_refused },
    ['p'] = { "PUT", HS_FORM_LINE, run_put_line },
    ['q'] = { "BINPUT", HS_FORM_U1, run_put },
    ['r'] = { "LONG_BINPUT", HS_FORM_U4, run_put },
    ['s'] = { "SETITEM", HS_FORM_NONE, run_setitem },
    ['t'] = { "TUPLE", HS_FORM_NONE, run_tuple },
    ['u'] = { "SETITEMS", HS_FORM_NONE, run_setitems },
    ['}'] = { "EMPTY_DICT", HS_FORM_NONE, run_empty_dict },
    [0x80] = { "PROTO", HS_FORM_U1, run_proto },
    [0x81] = { "NEWOBJ", HS_FORM_NONE, run_refused },
    [0x82] = { "EXT1", HS_FORM_U1, run_refused },
    [0x83] = { "EXT2", HS_FORM_U2, run_refused },
    [0x84] = { "EXT4", HS_FORM_S4, run_refused },
    [0x85] = { "TUPLE1", HS_FORM_NONE, run_tuple1 },
    [0x86] = { "TUPLE2", HS_FORM_NONE, run_tuple2 },
    [0x87] = { "TUPLE3", HS_FORM_NONE, run_tuple3 },
    [0x88] = { "NEWTRUE", HS_FORM_NONE, hs_pickle_run_true },
    [0x89] = { "NEWFALSE", HS_FORM_NONE, hs_pickle_run_false },
    [0x8a] = { "LONG1", HS_FORM_TEXT1, hs_pickle_run_long },
    [0x8b] = { "LONG4", HS_FORM_TEXT4S, hs_pickle_run_long },
    [0x8c] = { "SHORT_BINUNICODE", HS_FORM_TEXT1, hs_pickle_run_text },
    [0x8d] = { "BINUNICODE8", HS_FORM_TEXT8, hs_pickle_run_text },
    [0x8e] = { "BINBYTES8", HS_FORM_TEXT8, hs_pickle_run_bytes },
    [0x8f] = { "EMPTY_SET", HS_FORM_NONE, run_refused },
    [0x90] = { "ADDITEMS", HS_FORM_NONE, run_refused },
    [0x91] = { "FROZENSET", HS_FORM_NONE, run_refused },
    [0x92] = { "NEWOBJ_EX", HS_FORM_NONE, run_refused },
    [0x93] = { "STACK_GLOBAL", HS_FORM_NONE, run_stack_global },
    [0x94] = { "MEMOIZE", HS_FORM_NONE, run_memoize },
    [0x95] = { "FRAME", HS_FORM_U8, run_frame },
    [0x96] = { "BYTEARRAY8", HS_FORM_NONE, run_refused },
    [0x97] = { "NEXT_BUFFER", HS_FORM_NONE, run_refused },
    [0x98] = { "READONLY_BUFFER", HS_FORM_NONE, run_refused },
};
