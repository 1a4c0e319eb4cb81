/*
 * envelope_internal.h - what the files of the envelope share: a cursor over a segment, and pieces
 * to take from it.
 *
 * hs_take_*: advance over what is there and say so, or leave cursor and outputs alone.
 */
#ifndef HS_PARSERS_ENVELOPE_INTERNAL_H
#define HS_PARSERS_ENVELOPE_INTERNAL_H

#include "parsers/envelope.h"

enum { HS_NAME_BYTES = 253 }; /* of a host, pod or role, at most */

struct hs_cursor {
    const char *at, *end;
};

static inline bool hs_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool hs_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool hs_is_word(char c)
{
    return hs_is_letter(c) || hs_is_digit(c) || c == '_';
}

static inline bool hs_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Letters of names of hosts, pods, roles and replicas. */
static inline bool hs_is_name(char c)
{
    return hs_is_word(c) || c == '.' || c == '-';
}

/* Letters of a source file in a header. */
static inline bool hs_is_path(char c)
{
    return hs_is_name(c) || c == '/' || c == '+' || c == '<' || c == '>';
}

/* Letters of the host in a line of NCCL's. */
static inline bool hs_is_host(char c)
{
    switch (c) {
    case ':':
    case '[':
    case ']':
    case '(':
    case ')':
    case '<':
    case '>':
    case '|':
    case ',':
    case ';':
    case '=':
    case '"':
    case '\'':
        return false;
    default:
        return (unsigned char)c > ' ';
    }
}

static inline struct hs_str hs_rest(const struct hs_cursor *in)
{
    return (struct hs_str){ .p = in->at, .n = (size_t)(in->end - in->at) };
}

static inline bool hs_take_byte(struct hs_cursor *in, char c)
{
    if (in->at == in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

static inline bool hs_take_text(struct hs_cursor *in, const char *text)
{
    struct hs_str head = hs_str_of(text);

    if (!hs_str_starts(hs_rest(in), head))
        return false;
    in->at += head.n;
    return true;
}

static inline void hs_skip_blanks(struct hs_cursor *in)
{
    while (in->at < in->end && hs_is_blank(*in->at))
        in->at++;
}

static inline void hs_skip_blank(struct hs_cursor *in)
{
    if (in->at < in->end && hs_is_blank(*in->at))
        in->at++;
}

/* One to `max` bytes of a kind; false when there are none or more. */
static inline bool hs_take_span(struct hs_cursor *in, bool (*is)(char c), size_t max,
                                struct hs_str *out)
{
    const char *at = in->at;

    while (at < in->end && (size_t)(at - in->at) <= max && is(*at))
        at++;
    if (at == in->at || (size_t)(at - in->at) > max)
        return false;
    *out = (struct hs_str){ .p = in->at, .n = (size_t)(at - in->at) };
    in->at = at;
    return true;
}

/* A number of one to nine digits. */
bool hs_take_number(struct hs_cursor *in, uint32_t *out);

/* DEBUG, INFO, WARNING, ...: its letter. */
bool hs_take_level(struct hs_cursor *in, char *out);

/* A rank that a further witness gives. */
void hs_record_rank(struct hs_record *record, uint32_t rank, enum hs_rank_from from);

/* A further time of a record: the first one counts, unless it had no date. */
void hs_record_stamp(struct hs_record *record, struct hs_stamp stamp);

/* envelope_prefix.c: one prefix of a shipper, launcher or process. `first` says that nothing but
 * prefixes stands in front: some are only then told from text. */
bool hs_take_prefix(struct hs_cursor *in, const struct hs_envelope *envelope, bool first,
                    struct hs_record *out);
/* [1,3]<stderr>: of mpirun, [prterun-node-a-1234@1,0]<stdout>: of PRRTE; [1,3][node-a]<stderr>: */
bool hs_take_mpirun(struct hs_cursor *in, struct hs_record *out);
bool hs_take_numbered(struct hs_cursor *in, struct hs_record *out); /* srun -l */
bool hs_take_host(struct hs_cursor *in, struct hs_str *out);        /* pdsh */

/* envelope_time.c: prefixes that are times, or of a collector that has one. */
bool hs_take_time(struct hs_cursor *in, bool first, struct hs_record *out);
bool hs_take_bracketed_time(struct hs_cursor *in, struct hs_record *out);
bool hs_take_column(struct hs_cursor *in, struct hs_record *out);
bool hs_take_priority(struct hs_cursor *in, struct hs_record *out);
bool hs_take_facility(struct hs_cursor *in, struct hs_record *out);

/* envelope_header.c: the header of a log library. */
bool hs_take_header(struct hs_cursor *in, struct hs_record *out);
void hs_take_process_group(struct hs_cursor *in, struct hs_record *out); /* and [Rank N] */

/* envelope_nccl.c */
bool hs_take_nccl(struct hs_cursor *in, struct hs_record *out);

/* envelope_frame.c: where the frame begins that a mark belongs to, not before `floor`. */
enum hs_frame {
    HS_FRAME_NONE,
    HS_FRAME_TAG,      /* of a process: [rank3]: */
    HS_FRAME_LAUNCHER, /* [default0]:, [1,3]<stdout>:, (Actor pid=1) */
    HS_FRAME_HEADER,
    HS_FRAME_NCCL,
};
bool hs_envelope_is_nccl(struct hs_hit mark);
enum hs_frame hs_envelope_find_frame(struct hs_str text, struct hs_hit mark, size_t floor,
                                     size_t *begin);

/* envelope_container.c: the line that a container wraps. */
struct hs_opened {
    struct hs_str prefix;  /* in front of the container */
    struct hs_str body;    /* of the line */
    struct hs_str rest;    /* behind the container: another one, written into the same line */
    bool escaped;          /* as in JSON */
    bool partial;          /* the line goes on in the next one */
    bool until_newline;    /* it goes on unless the body ends with \n */
    unsigned stream;       /* 0 stdout, 1 stderr */
    struct hs_stamp stamp; /* ns 0: none */
};
bool hs_envelope_open(const struct hs_envelope *envelope, struct hs_str line,
                      struct hs_opened *out);
void hs_envelope_unescape(struct hs_buf *to, struct hs_str text);

/* envelope_escape.c: text without escape sequences; copied to envelope->plain if it had any. */
bool hs_envelope_strip(struct hs_envelope *envelope, struct hs_str *text);
bool hs_has_mangled_escapes(struct hs_str text);

/* envelope_mend.c: text without mpirun's tags but the first, up to another process's; copied to
 * envelope->mended if there were any. */
bool hs_envelope_mend(struct hs_envelope *envelope, struct hs_str *text);

/* envelope_wrap.c: lines that a terminal has cut at its width. */
bool hs_begins_frame(const struct hs_envelope *envelope, struct hs_str text);
bool hs_wrap_opens(const struct hs_envelope *envelope, struct hs_str text, bool first_line);
bool hs_wrap_continues(const struct hs_envelope *envelope, struct hs_str text);
void hs_wrap_append(struct hs_envelope *envelope, struct hs_str text);
struct hs_str hs_wrap_trim(struct hs_str text);

#endif
