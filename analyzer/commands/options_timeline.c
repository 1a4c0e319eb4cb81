/* options_timeline.c - the options of timeline alone. */
#include "analyzer/commands/option_values.h"

#include <errno.h>
#include <stdlib.h>

/* "30s", "500ms", "10m", "2h". */
static bool read_time(const char *value, struct hs_span *out)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {
        { "ms", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 }
    };
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || errno || n > 1000000)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) == 0) {
            *out = (struct hs_span){ .kind = HS_SPAN_TIME, .ns = (int64_t)n * units[i].ns };
            return true;
        }
    }
    return false;
}

static bool read_number(const char **at, uint32_t *out)
{
    char *end;
    unsigned long long n;

    if ((*at)[0] != '#' || (*at)[1] < '0' || (*at)[1] > '9')
        return false;
    errno = 0;
    n = strtoull(*at + 1, &end, 10);
    *at = end;
    *out = (uint32_t)n;
    return !errno && n <= UINT32_MAX;
}

/* "#900", "#900..", "#900..#950". */
static bool read_numbers(const char *value, struct hs_span *out)
{
    struct hs_span span = { .kind = HS_SPAN_NUMBERS, .high = UINT32_MAX };

    if (!read_number(&value, &span.low))
        return false;
    if (strncmp(value, "..", 2) == 0) {
        value += 2;
        if (*value && !read_number(&value, &span.high))
            return false;
    } else {
        span.high = span.low;
    }
    *out = span;
    return !*value && span.low <= span.high;
}

enum hs_status hs_option_span(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (read_time(value, &o->span) || read_numbers(value, &o->span))
        return HS_OK;
    return hs_option_bad(err, "--window", value, "a time such as 30s, or numbers: #900..#950");
}

enum hs_status hs_option_trace_format(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->perfetto = strcmp(value, "perfetto") == 0;
    if (o->perfetto || strcmp(value, "chrome") == 0)
        return HS_OK;
    return hs_option_bad(err, "--format", value, "one of chrome, perfetto");
}
