/* schema_document.c - prints what docs/schema.md says of the tables, from their one description. */
#include "schema/tables.h"

#include <stdio.h>

int main(void)
{
    struct hs_buf out;
    bool ok;

    hs_buf_init(&out);
    hs_tables_document(&out);
    ok = !out.failed && fwrite(out.p, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
    hs_buf_release(&out);
    return ok ? 0 : 1;
}
