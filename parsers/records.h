/*
 * records.h - what spans several lines: tracebacks, stacks, tables, reports.
 *
 * A record is opened by a family (a traceback's first line) and takes the lines that follow from
 * the same speaker, whoever speaks in between, until it is complete or its speaker begins something
 * else. It becomes one event, of a composite family, whose line is where it begins and whose stack
 * holds the frames it printed.
 */
#ifndef HS_PARSERS_RECORDS_H
#define HS_PARSERS_RECORDS_H

#include "parsers/text.h"

struct hs_records *hs_records_new(void); /* NULL without memory */
void hs_records_free(struct hs_records *records);

/* Show a record of text->speaker to whatever is open, before its families are looked for. False
 * without memory. */
bool hs_records_see(struct hs_text *text, const struct hs_record *record);

/* The source ends: what is open becomes events as far as it came. */
bool hs_records_end(struct hs_text *text);

#endif
