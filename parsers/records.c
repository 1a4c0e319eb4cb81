#include "parsers/records.h"
#include <stdlib.h>
struct hs_records { int x; };
struct hs_records *hs_records_new(void) { return calloc(1, sizeof(struct hs_records)); }
void hs_records_free(struct hs_records *r) { free(r); }
bool hs_records_see(struct hs_text *text, const struct hs_record *record) { (void)text; (void)record; return true; }
bool hs_records_end(struct hs_text *text) { (void)text; return true; }
const struct hs_taker hs_record_takers[] = { { NULL, NULL } };
