/*
 * pickle.h - the pickle format as data: its stack machine without objects, imports or calls.
 *
 * Protocols 0 to 5, the opcodes of plain data. Whatever would import, call or build an object is
 * refused by name and byte offset (torch.jit._pickle's identity functions excepted), and nothing
 * in the input is ever executed.
 */
#ifndef HS_PARSERS_PICKLE_H
#define HS_PARSERS_PICKLE_H

#include "parsers/value.h"

/*
 * Read one pickle. True when it was read to its STOP; `trouble` may then still hold a remark
 * (trailing-bytes). False when it ended early: `trouble` says why and where, elements completed
 * before that point have been handed out, and `top` is what had been gathered of the top-level
 * container (complete pairs only), or HS_VALUE_NONE.
 */
bool hs_pickle_read(struct hs_document *doc, struct hs_str bytes,
                    const struct hs_document_consumer *consumer, struct hs_value *top,
                    struct hs_trouble *trouble);

/* How many of the first bytes (bits, really: 8 per byte) can only be a pickle's; 0: not one. */
unsigned hs_pickle_probe(struct hs_str head);

#endif
