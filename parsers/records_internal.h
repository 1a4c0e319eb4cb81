/*
 * records_internal.h - what the kinds of records share: a record that is open, what may be done
 * with it, and pieces of text.
 */
#ifndef HS_PARSERS_RECORDS_INTERNAL_H
#define HS_PARSERS_RECORDS_INTERNAL_H

#include "base/limits.h"
#include "parsers/records.h"

/* What a record has to do with a line. */
enum hs_taken {
    HS_TAKEN_NOT,  /* nothing */
    HS_TAKEN,      /* it is part of it */
    HS_TAKEN_LAST, /* it is its last part */
    HS_TAKEN_OVER, /* it is not, and the record is complete without it */
};

struct hs_record_value {
    const char *name; /* of a field of a family */
    struct hs_str text;
};

struct hs_open;

/* A kind of record: how it grows, how patient it is, and what becomes of it. */
struct hs_record_kind {
    const char *family; /* the composite it becomes when it ends; NULL: it says all on its way */
    uint32_t patience;  /* so many other lines of its speaker may stand between two of its own */
    bool header_ends;   /* a line of its speaker with a header of its own ends it */
    bool untagged;      /* lines below its first one may lack the tag of its speaker */
    bool adjacent;      /* the same of lines right below what it took last */
    /* What tells records of one speaker apart; NULL: it has one at a time. */
    uint64_t (*key)(const struct hs_record *record);
    /* Offer it a line: the one that opens it (state is 0) and those behind. NOT changes nothing. */
    enum hs_taken (*take)(struct hs_text *text, struct hs_open *open,
                          const struct hs_record *record);
    /* What is said when it ends; NULL: its values and frames, if it has any. */
    void (*end)(struct hs_text *text, struct hs_open *open);
};

/* Where an open record is looked for: among those of a speaker, or of a channel. */
struct hs_open_link {
    struct hs_open *next, *previous;
};

enum hs_open_list { HS_OPEN_ALL, HS_OPEN_SPEAKER, HS_OPEN_CHANNEL, HS_OPEN_RANK, HS_OPEN_LISTS };

struct hs_open {
    const struct hs_record_kind *kind;
    struct hs_record head; /* of its first line, whose texts live as long as the job */
    uint32_t speaker;
    uint64_t key;
    uint64_t last_line; /* the newest line that is its own */
    uint32_t missed;    /* lines of its speaker since then */
    unsigned state;     /* the kind's; 0: the line that opens it has yet to be offered */
    uint64_t number;    /* the kind's */
    struct hs_record_value values[HS_RECORD_VALUES_MAX];
    uint32_t value_count;
    uint32_t *frames;     /* ids, a ring of HS_FRAMES_MAX: the newest are kept */
    uint64_t frame_count; /* pushed so far */
    uint32_t frame_cap;
    bool outermost_first; /* as they were pushed */
    struct hs_open_link links[HS_OPEN_LISTS];
    uint32_t groups[HS_OPEN_LISTS]; /* the lists it is in; HS_NO_ID: none */
};

/*
 * The kind of record that the current line opens, unless an open one has taken it: `kind` is
 * offered the line. False without memory.
 */
bool hs_records_begin(struct hs_text *text, const struct hs_record *record,
                      const struct hs_record_kind *kind);

/* The kind that took the current line; NULL: none did. */
const struct hs_record_kind *hs_records_taken_by(const struct hs_text *text);

/* Other records in the channel of `open`: the one behind `at` (NULL: the first). */
struct hs_open *hs_records_beside(const struct hs_text *text, const struct hs_open *open,
                                  const struct hs_open *at);

/* Values by name: the last one that is set counts. Nothing is set without a value. */
void hs_open_set(struct hs_text *text, struct hs_open *open, const char *name, struct hs_str value);
void hs_open_set_number(struct hs_text *text, struct hs_open *open, const char *name,
                        uint64_t value);
struct hs_str hs_open_get(const struct hs_open *open, const char *name);
void hs_open_unset(struct hs_open *open, const char *name);

/* A frame of its stack; HS_FRAMES_MAX innermost ones are kept. */
void hs_open_push(struct hs_text *text, struct hs_open *open, struct hs_str function,
                  struct hs_str file, uint64_t line);

/* Where its newest frame is, if that did not say. */
void hs_open_place(struct hs_text *text, struct hs_open *open, struct hs_str file, uint64_t line);

/* The event of its values and frames: `family` is a composite. */
void hs_open_say(struct hs_text *text, const struct hs_open *open, const char *family);

/* The family of this name (a constant text); HS_NO_ID: there is none. */
uint32_t hs_records_family(struct hs_text *text, const char *name);

/* An event that is put together of values by name; those that its family has no field for are left
 * out, and of two of a name the last one counts. */
struct hs_told {
    const char *family;           /* a constant text */
    const struct hs_record *head; /* its line, time and group */
    uint32_t speaker;
    uint32_t stack; /* HS_NO_ID: none */
    const struct hs_record_value *values;
    uint32_t count;
};

void hs_records_say(struct hs_text *text, const struct hs_told *told);

/* A text that from here on lives as long as the job; p NULL stays. False without memory. */
bool hs_records_hold(struct hs_text *text, struct hs_str *held);

/* The line is evidence. */
void hs_records_keep(struct hs_text *text, const struct hs_record *record);

/* ---- kinds ---- */

extern const struct hs_record_kind hs_record_traceback, hs_record_table, hs_record_stacks,
    hs_record_work_stack, hs_record_cxx, hs_record_desync, hs_record_barrier, hs_record_nccl_error,
    hs_record_unwinding, hs_record_fr_trace, hs_record_ras;

/* A call as a stack names it. */
struct hs_call {
    struct hs_str function, file;
    uint64_t line;
};

/* `File "train.py", line 94, in main`; `separator` stands in front of the function. */
bool hs_python_call(struct hs_str line, const char *separator, struct hs_call *out);

/* The source of a call, or marks below it. */
bool hs_python_source(struct hs_str text);

/* "class: message" of an exception. `sure`: nothing else is expected here. */
bool hs_python_exception(struct hs_str line, bool sure, struct hs_str *class,
                         struct hs_str *message);

/* nccl_inspector.c: a line of it (made at the first one), and the end of the source. */
struct hs_inspector;
bool hs_inspector_take(struct hs_text *text, struct hs_inspector **inspector,
                       const struct hs_record *record);
void hs_inspector_end(struct hs_text *text, struct hs_inspector *inspector);
void hs_inspector_free(struct hs_inspector *inspector);

/* The same, as a taker. */
bool hs_records_take_inspector(struct hs_text *text, const struct hs_record *record,
                               const struct hs_found *found);

/* ---- pieces of text ---- */

static inline struct hs_str hs_trim_left(struct hs_str text)
{
    while (text.n && (*text.p == ' ' || *text.p == '\t')) {
        text.p++;
        text.n--;
    }
    return text;
}

static inline struct hs_str hs_trim(struct hs_str text)
{
    while (text.n && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t'))
        text.n--;
    return hs_trim_left(text);
}

/* `head` at the start of `text` goes; false, and nothing changed, when it is not there. */
static inline bool hs_skip(struct hs_str *text, const char *head)
{
    struct hs_str h = hs_str_of(head);

    if (!hs_str_starts(*text, h))
        return false;
    text->p += h.n;
    text->n -= h.n;
    return true;
}

/* Where `needle` is in `text`; SIZE_MAX: nowhere. */
static inline size_t hs_find(struct hs_str text, const char *needle)
{
    const char *at = text.n ? memmem(text.p, text.n, needle, strlen(needle)) : NULL;

    return at ? (size_t)(at - text.p) : SIZE_MAX;
}

static inline struct hs_str hs_from(struct hs_str text, size_t at)
{
    return (struct hs_str){ .p = text.p + at, .n = text.n - at };
}

static inline struct hs_str hs_until(struct hs_str text, size_t at)
{
    return (struct hs_str){ .p = text.p, .n = at };
}

/* What stands behind `needle`, all of it in front; false when it is not there. */
static inline bool hs_after(struct hs_str text, const char *needle, struct hs_str *rest)
{
    size_t at = hs_find(text, needle);

    if (at == SIZE_MAX)
        return false;
    *rest = hs_from(text, at + strlen(needle));
    return true;
}

/* What stands between `open` and the next `close`; p NULL: not there. */
struct hs_str hs_between(struct hs_str text, const char *open, const char *close);

/* The digits at the start of `text`, taken from it; n 0: none. */
struct hs_str hs_take_digits(struct hs_str *text);

/* Where the last `c` of `text` is; SIZE_MAX: nowhere. */
size_t hs_find_last(struct hs_str text, char c);

/* "path:12" as path and 12; false when it is none. */
bool hs_split_place(struct hs_str text, struct hs_str *file, uint64_t *line);

#endif
