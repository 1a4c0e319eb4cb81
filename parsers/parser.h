/*
 * parser.h - what a parser is: one constant descriptor, and no say in anything else.
 *
 * The driver finds files, opens and decompresses them and chooses the parser by the bits that each
 * has verified. A parser only recognises and appends to the job: it never opens, prints or decides.
 * To add a format: one file with one descriptor, one line in registry.c, one page in docs/formats/,
 * one golden case, one fuzz seed.
 */
#ifndef HS_PARSERS_PARSER_H
#define HS_PARSERS_PARSER_H

#include "parsers/value.h"
#include "schema/job.h"

struct hs_families;
struct hs_matching;

/* What a parser may use while it reads one member. */
struct hs_parse {
    struct hs_job *job;      /* to append to */
    uint32_t source;         /* row of the member in `job` */
    struct hs_str name;      /* of the member, as shown */
    struct hs_document *doc; /* empty, for parsers of documents; reset by the driver */
    const char *cut_code;    /* NULL, or why the bytes end early: the source's own trouble */
    const struct hs_families *families; /* for parsers of text; shared by all workers */
    struct hs_matching *matching;       /* the worker's room for them */
};

/* A parser that takes bytes as they come, in chunks of any size, and need not hold them. */
struct hs_stream {
    void *(*begin)(struct hs_parse *px);           /* NULL without memory */
    bool (*feed)(void *self, struct hs_str bytes); /* false without memory */
    bool (*end)(void *self); /* read what is left, and release; false without memory */
    /*
     * Optional: what the bytes alone say of a chunk (into `seen_bytes` of room), which another
     * thread may find out in front of feed(); it is then shown before the same bytes are fed.
     */
    size_t seen_bytes;
    void (*look)(struct hs_str bytes, void *seen);
    void (*show)(void *self, const void *seen);
};

struct hs_parser {
    const char *name; /* stable: source.format, --input-format, docs/formats/<page>.md */
    const char *summary;
    /*
     * How many bits of `head` (the first bytes of the member) this parser has verified: 8 per byte
     * that had to be just so. 0 means "not mine". The highest bid wins.
     */
    unsigned (*probe)(struct hs_str head);
    /* Read a whole member. False only when memory is out. NULL: it has a stream. */
    bool (*read)(struct hs_parse *px, struct hs_str bytes);
    const struct hs_stream *stream;
};

extern const struct hs_parser *const hs_parsers[]; /* ends with NULL */

/* Report input that could not be understood, and go on. Counted beyond HS_DIAGNOSTICS_MAX. */
bool hs_parse_diagnose(struct hs_parse *px, const char *code, uint64_t offset_bytes,
                       uint64_t record, struct hs_str excerpt);

#endif
