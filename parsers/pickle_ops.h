/* pickle_ops.h - the pickle machine: what its fast loop (pickle.c) and its opcodes share. */
#ifndef HS_PARSERS_PICKLE_OPS_H
#define HS_PARSERS_PICKLE_OPS_H

#include "parsers/value_build.h"

enum { HS_PICKLE_MEMO_FIRST = 256 /* so that a slot of one byte always exists */ };

/* What follows an opcode byte. */
enum hs_pickle_form {
    HS_FORM_NONE,
    HS_FORM_U1, /* a little-endian number of so many bytes */
    HS_FORM_U2,
    HS_FORM_S4,
    HS_FORM_U4,
    HS_FORM_F8,
    HS_FORM_U8,
    HS_FORM_TEXT1, /* a little-endian length, and so many bytes */
    HS_FORM_TEXT4,
    HS_FORM_TEXT4S, /* the length is signed */
    HS_FORM_TEXT8,
    HS_FORM_LINE,  /* up to a newline */
    HS_FORM_LINES, /* two of them, here as one text */
};

struct hs_pickle_arg {
    int64_t number;
    struct hs_str text;
};

/* Memo slots that hold nothing, and what stands for torch's identity functions. Both look like
 * HS_VALUE_NONE to everybody else. */
enum { HS_PICKLE_UNSET = 1, HS_PICKLE_IDENTITY = 2 };

struct hs_pickle {
    struct hs_builder b;
    struct hs_str bytes;
    const char *at, *end;
    struct hs_value *memo; /* at least HS_PICKLE_MEMO_FIRST slots */
    uint32_t memo_cap, memo_puts;
    const struct hs_pickle_op *op; /* the one that is run */
    struct hs_pickle_arg arg;
    bool stopped; /* at STOP, with its value on the stack */
};

struct hs_pickle_op {
    const char *name; /* NULL: no such opcode */
    uint8_t form;
    bool (*run)(struct hs_pickle *m);
};

extern const struct hs_pickle_op hs_pickle_ops[256];

bool hs_pickle_memo_grow(struct hs_pickle *m, uint32_t slots);
bool hs_pickle_malformed(struct hs_pickle *m, const char *what);

/* pickle_scalars.c */
bool hs_pickle_run_none(struct hs_pickle *m);
bool hs_pickle_run_true(struct hs_pickle *m);
bool hs_pickle_run_false(struct hs_pickle *m);
bool hs_pickle_run_int(struct hs_pickle *m);
bool hs_pickle_run_int_line(struct hs_pickle *m);
bool hs_pickle_run_long_line(struct hs_pickle *m);
bool hs_pickle_run_long(struct hs_pickle *m);
bool hs_pickle_run_float(struct hs_pickle *m);
bool hs_pickle_run_float_line(struct hs_pickle *m);
bool hs_pickle_run_text(struct hs_pickle *m);
bool hs_pickle_run_bytes(struct hs_pickle *m);
bool hs_pickle_run_unicode_line(struct hs_pickle *m);
bool hs_pickle_run_string_line(struct hs_pickle *m);

static inline bool hs_pickle_is_unset(const struct hs_value *value)
{
    return value->kind == HS_VALUE_NONE && value->n == HS_PICKLE_UNSET;
}

#endif
