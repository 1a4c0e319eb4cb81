/*
 * source.h - where bytes come from. Nothing above this module sees a file handle or libarchive.
 *
 * hs_inputs_find() turns the paths that a user gave into inputs: files to open, in the order of
 * their names. An input holds one or more members: a plain or compressed file is its own only
 * member, an archive has many, and archives inside archives are opened once more. Reading uses
 * read(2), never mmap: a file that shrinks must not kill us.
 */
#ifndef HS_PARSERS_SOURCE_H
#define HS_PARSERS_SOURCE_H

#include "base/buf.h"
#include "base/err.h"

/* A pipe whose first bytes somebody has looked at. */
struct hs_opened {
    int fd;
    struct hs_str head; /* what was read */
};

struct hs_input {
    struct hs_str path;  /* to open; "-" for standard input */
    struct hs_str name;  /* to show: the path below the argument, a file argument's base name */
    uint64_t size_bytes; /* on disk; 0 for a pipe */
    const struct hs_opened *stream; /* it is open already; NULL: it is not */
};

/* Something under the paths that is not read, and why. */
struct hs_skipped {
    struct hs_str name;
    const char *code; /* not-a-regular-file, link-leaves-folder, unreadable, limit */
    struct hs_str detail;
};

struct hs_inputs {
    struct hs_arena arena; /* owns the texts */
    struct hs_input *items;
    uint32_t count, cap;
    struct hs_skipped *skipped;
    uint32_t skipped_count, skipped_cap;
};

/*
 * Find what there is to read under `paths`: files, folders (walked; hidden files included), FIFOs
 * and "-". Inside folders only regular files are taken: FIFOs, devices, sockets and links that lead
 * out of the folder are skipped and said. HS_EUSAGE when a path does not exist or cannot be read.
 * Names are distinct: arguments that would show the same name keep as many of their parent folders
 * as tell them apart.
 */
enum hs_status hs_inputs_find(const char *const *paths, size_t count, struct hs_inputs *out,
                              struct hs_err *err);
void hs_inputs_release(struct hs_inputs *inputs);

struct hs_source;

/* Open an input for reading, member by member; the caller ends it with hs_source_close(). A file
 * that cannot be opened is HS_EIO with a cause. */
enum hs_status hs_source_open(const struct hs_input *input, struct hs_source **out,
                              struct hs_err *err);

/* The same for bytes in memory, which must outlive the source. */
enum hs_status hs_source_open_bytes(struct hs_str bytes, struct hs_str name, struct hs_source **out,
                                    struct hs_err *err);
void hs_source_close(struct hs_source *source);

/* What can happen to a member: part of the data may still be good. */
struct hs_source_trouble {
    const char *code;     /* NULL, or: cut-short, malformed, limit, unreadable, no-memory */
    struct hs_str detail; /* for people; valid until the next call on the source */
};

/*
 * Go to the next member. False at the end; `trouble` then says if the container itself was
 * damaged. `name` (valid until the next call) is input name + "/" + member path for archives, the
 * input's name otherwise.
 */
bool hs_source_next(struct hs_source *source, struct hs_str *name,
                    struct hs_source_trouble *trouble);

/* The member is streamed and not held: HS_SOURCE_BYTES_MAX is no limit for it. */
void hs_source_unbounded(struct hs_source *source);

/* The next bytes of the member, at most `cap`; 0 at its end or when `trouble` is set. */
size_t hs_source_read(struct hs_source *source, char *to, size_t cap,
                      struct hs_source_trouble *trouble);

/*
 * The rest of the member, appended to `to` (decompressed, at most HS_SOURCE_BYTES_MAX in all).
 * What was read before a trouble is kept.
 */
void hs_source_read_all(struct hs_source *source, struct hs_buf *to,
                        struct hs_source_trouble *trouble);

#endif
