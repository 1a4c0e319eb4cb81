/* json_value.h - a JSON document as values (value.h), by the tokenizer of base/json.h. */
#ifndef HS_PARSERS_JSON_VALUE_H
#define HS_PARSERS_JSON_VALUE_H

#include "parsers/value.h"

/* As hs_pickle_read(). Numbers without fraction or exponent are INT (BIG beyond 64 bits). */
bool hs_json_value_read(struct hs_document *doc, struct hs_str bytes,
                        const struct hs_document_consumer *consumer, struct hs_value *top,
                        struct hs_trouble *trouble);

#endif
