/* event_text.h - what a reader of text made of bytes, as lines of text that tests compare. */
#ifndef HS_TESTS_EVENT_TEXT_H
#define HS_TESTS_EVENT_TEXT_H

#include "parsers/families.h"
#include "parsers/parser.h"

/* Read `bytes` with `parser` (which has a stream), `chunk` bytes at a time, as a file `name`. */
bool event_text_read(const struct hs_parser *parser, const struct hs_families *families,
                     const char *name, struct hs_str bytes, size_t chunk, struct hs_job *out);

/*
 * One line for each event, by the lines where they begin: line, count if several, family, who
 * spoke, values, frames:
 *
 *   4 STACK [rank 0] tool=py-spy thread=7 | wait queue.py:171 < main train.py:3
 *
 * Only those of families of `group`, NULL: all.
 */
void event_text_show(const struct hs_job *job, const struct hs_families *families,
                     const char *group, struct hs_buf *out);

/* Texts and the events that they become, those of parsers/families/records.families. */
struct event_sample {
    const char *name; /* of the file */
    const char *text, *events;
};

/* Read each whole and byte by byte, which must give the events; and cut everywhere, which must not
 * crash. Fails the test of cmocka that it runs in. */
void event_text_check(const struct hs_parser *parser, const struct hs_families *families,
                      const struct event_sample *samples, size_t count);
#define EVENT_TEXT_CHECK(parser, families, samples)                                                \
    event_text_check(parser, families, samples, sizeof(samples) / sizeof((samples)[0]))

#endif
