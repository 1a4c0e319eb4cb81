#include "base/err.h"

#include <stdarg.h>

enum hs_status hs_fail(struct hs_err *err, enum hs_status status, const char *fmt, ...)
{
    va_list ap;

    if (err->n == HS_CAUSES_MAX)
        return status; /* the root cause is kept; the outermost notes are what we can spare */
    va_start(ap, fmt);
    (void)vsnprintf(err->causes[err->n].text, sizeof(err->causes[0].text), fmt, ap);
    va_end(ap);
    err->n++;
    return status;
}

enum hs_status hs_no_memory(struct hs_err *err)
{
    return hs_fail(err, HS_ENOMEM, "out of memory");
}

void hs_err_print(const struct hs_err *err, FILE *out)
{
    for (unsigned i = err->n; i-- > 0;)
        (void)fprintf(out, "%s%s\n",
                      i + 1 == err->n ? "hangscope: " : "  because: ", err->causes[i].text);
}
