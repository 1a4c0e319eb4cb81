/* pickle_ops.h - the pickle machine: what its fast loop (pickle.c) and its opcodes share. */
#ifndef HS_PARSERS_PICKLE_OPS_H
#define HS_PARSERS_PICKLE_OPS_H

#include "parsers/value_build.h"

enum {
    HS_PICKLE_MEMO_FIRST = 256, /* so that a slot of one byte always exists */
    HS_PICKLE_BATCH = 2 * 1000  /* cells of a SETITEMS that may not be its dict's last */
};

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

/* A list by its bytes, from EMPTY_LIST to APPENDS; see pickle_lists.c. */
struct hs_pickle_list {
    const char *p;
    uint32_t n;
    uint32_t object;
    uint32_t first; /* while it is fresh: of the cells that are made for it */
    uint32_t fixed;
};

enum {
    HS_PICKLE_LISTS = 1024, /* remembered in one document */
    HS_PICKLE_FRESH_LISTS = 16,
    HS_PICKLE_LIST_SLOTS_LOG = 11,
    HS_PICKLE_GUESSES_LOG = 9
};

struct hs_pickle_lists {
    uint32_t count, fresh_count;
    uint32_t cells;                                /* kept for all of them */
    uint32_t forgotten;                            /* the first so many were forgotten */
    uint16_t slots[1 << HS_PICKLE_LIST_SLOTS_LOG]; /* by all bytes: index + 1; 0: free */
    uint16_t guesses[1 << HS_PICKLE_GUESSES_LOG];  /* by the first bytes: the latest; the same */
    struct hs_pickle_list fresh[HS_PICKLE_FRESH_LISTS]; /* of the element that is being read */
    struct hs_pickle_list met[HS_PICKLE_LISTS];
};

/* A number directly in an element: where its bytes are, which item it is, how it is written. */
struct hs_pickle_number {
    uint16_t at, cell;
    uint8_t op;
};

/* An element by its bytes, from EMPTY_DICT to SETITEMS; see pickle_elements.c. */
struct hs_pickle_element {
    uint32_t n, number_count;
    uint32_t object;
    const uint64_t *mask, *want; /* in words: which bits have to be equal, and what they are */
    const struct hs_pickle_number *numbers;
};

enum {
    HS_PICKLE_ELEMENTS = 256, /* remembered in one document */
    HS_PICKLE_ELEMENT_SLOTS_LOG = 9,
    HS_PICKLE_GUESSED_LOG = 10
};

/* Ids are indices of `met` + 1; 0: none. */
struct hs_pickle_elements {
    uint32_t count;
    uint32_t forgotten;      /* the first so many were forgotten */
    uint32_t run, met_again; /* how often elements were not met before, and were */
    uint64_t latest;         /* four ids of 16 bits, the latest last */
    uint16_t slots[1 << HS_PICKLE_ELEMENT_SLOTS_LOG]; /* by their bytes */
    uint16_t by_four[1 << HS_PICKLE_GUESSED_LOG];     /* what came after such four */
    uint16_t by_one[HS_PICKLE_ELEMENTS + 1];          /* what came after such a one */
    struct hs_pickle_element met[HS_PICKLE_ELEMENTS];
};

struct hs_pickle {
    struct hs_builder b;
    struct hs_str bytes;
    const char *at, *end;
    struct hs_value *memo; /* at least HS_PICKLE_MEMO_FIRST slots */
    uint32_t memo_cap, memo_puts;
    const struct hs_pickle_op *op; /* the one that is run */
    struct hs_pickle_arg arg;
    bool stopped; /* at STOP, with its value on the stack */
    struct hs_pickle_lists lists;
    struct hs_pickle_elements elements;
};

struct hs_pickle_op {
    const char *name; /* NULL: no such opcode */
    uint8_t form;
    bool (*run)(struct hs_pickle *m);
};

extern const struct hs_pickle_op hs_pickle_ops[256];

bool hs_pickle_memo_grow(struct hs_pickle *m, uint32_t slots);
bool hs_pickle_malformed(struct hs_pickle *m, const char *what);

/* SETITEMS, `at`, has completed the element on top; `count`: cells on the stack with it. */
bool hs_pickle_hand_out(struct hs_pickle *m, const char *at, uint32_t count);

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

/* Put a list met before into `cell`; the bytes to skip, or 0 for one to be read. `at`: EMPTY_LIST
 * and MARK directly inside an element, at least 8 bytes before the end. */
size_t hs_pickle_find_list(struct hs_pickle *m, const char *at, struct hs_value *cell);

/* The length of the list that begins `at`, where EMPTY_LIST and MARK are; 0 if it is long, cut off
 * by `end` or not made of plain opcodes alone. */
size_t hs_pickle_list_bytes(const char *at, size_t end);

/* An element has been handed out: remember its lists. */
void hs_pickle_keep_lists(struct hs_pickle *m);

/* A memo slot changes: bytes that were met before may mean something else now. */
void hs_pickle_forget_lists(struct hs_pickle *m);

/* The element that begins `at`, as a fixed dict; its length, or 0 for one to be read. */
size_t hs_pickle_find_element(struct hs_pickle *m, const char *at, struct hs_value *out);

/* An element of `n` bytes has been handed out, and no list of it was new: remember it. Its cells
 * and objects are still where they were. */
void hs_pickle_keep_element(struct hs_pickle *m, uint32_t object, const char *at, size_t n);

/* As hs_pickle_forget_lists(). */
void hs_pickle_forget_elements(struct hs_pickle *m);

/* The fixed list at stack index `at` becomes one of its own. */
bool hs_pickle_copy_list(struct hs_pickle *m, uint32_t at);

/* The 8 bytes that begin `at`. */
static inline uint64_t hs_pickle_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* The cell at stack index `at` is to be filled or named again. */
static inline bool hs_pickle_own(struct hs_pickle *m, uint32_t at)
{
    return !m->b.stack[at].fixed || hs_pickle_copy_list(m, at);
}

static inline bool hs_pickle_is_unset(const struct hs_value *value)
{
    return value->kind == HS_VALUE_NONE && value->n == HS_PICKLE_UNSET;
}

#endif
