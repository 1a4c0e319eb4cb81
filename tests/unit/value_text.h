/* value_text.h - a document as one line of text, for tests to compare. */
#ifndef HS_TESTS_VALUE_TEXT_H
#define HS_TESTS_VALUE_TEXT_H

#include "base/buf.h"
#include "parsers/value.h"

/*
 * null, true, 12, big, f:3ff0000000000000, "text\x0a", bytes(3), [a,b], (a,b), {k:v}, streamed. A
 * later duplicate of a scalar key replaces the earlier value in its place, as in Python. Containers
 * deeper than 64, and those after the first million, are an ellipsis.
 */
void value_text_put(struct hs_buf *out, const struct hs_document *doc,
                    const struct hs_value *value);

#endif
