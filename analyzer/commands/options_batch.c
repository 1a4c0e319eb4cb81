/* options_batch.c - values of the options of batch and fleet. */
#include "analyzer/commands/option_values.h"

#include <stdlib.h>

enum hs_status hs_option_job_glob(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (!*value || *value == '/')
        return hs_option_bad(err, "--job-glob", value, "a path below ROOT, like */job-*");
    o->job_glob = value;
    return HS_OK;
}

/* "3/8": the third of eight. */
enum hs_status hs_option_shard(struct hs_options *o, const char *value, struct hs_err *err)
{
    const char *slash = strchr(value, '/');
    uint64_t part = 0, of = 0;
    char first[16];

    if (slash && (size_t)(slash - value) < sizeof(first)) {
        (void)snprintf(first, sizeof(first), "%.*s", (int)(slash - value), value);
        if (hs_option_count(first, UINT32_MAX, &part) &&
            hs_option_count(slash + 1, UINT32_MAX, &of) && part <= of) {
            o->shard = (uint32_t)part - 1;
            o->shard_of = (uint32_t)of;
            return HS_OK;
        }
    }
    return hs_option_bad(err, "--shard", value, "I/N: a share from 1/N to N/N");
}

/* "db", "report", or both with a comma. */
enum hs_status hs_option_keep(struct hs_options *o, const char *value, struct hs_err *err)
{
    for (const char *at = value; at;) {
        size_t n = strcspn(at, ",");
        struct hs_str word = { .p = at, .n = n };

        if (hs_str_is(word, "db"))
            o->keep_db = true;
        else if (hs_str_is(word, "report"))
            o->keep_report = true;
        else
            return hs_option_bad(err, "--keep", value, "a list of db and report");
        at = at[n] ? at + n + 1 : NULL;
    }
    return HS_OK;
}

enum hs_status hs_option_timeout(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (!hs_option_count(value, 31536000, &o->timeout_s))
        return hs_option_bad(err, "--timeout", value, "a number of seconds, 1 or more");
    return HS_OK;
}

/* "512M", "2G". */
enum hs_status hs_option_job_memory(struct hs_options *o, const char *value, struct hs_err *err)
{
    static const char units[] = "KMGT";
    size_t n = strlen(value);
    const char *unit = n > 1 ? strchr(units, value[n - 1]) : NULL;
    char digits[16];
    uint64_t number;

    if (unit && n <= sizeof(digits)) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);

        (void)snprintf(digits, sizeof(digits), "%.*s", (int)n - 1, value);
        if (hs_option_count(digits, UINT64_MAX >> 41, &number) && number <= (1ull << 50) >> shift &&
            number << shift >= HS_FLEET_MEMORY_MIN) {
            o->job_memory_bytes = number << shift;
            return HS_OK;
        }
    }
    return hs_option_bad(err, "--job-memory", value, "a size, 256M or more, like 2G");
}

enum hs_status hs_option_export_format(struct hs_options *o, const char *value, struct hs_err *err)
{
    bool csv = strcmp(value, "csv") == 0;

    if (!csv && strcmp(value, "jsonl") != 0)
        return hs_option_bad(err, "--format", value, "one of csv, jsonl");
    o->sql_format = csv ? HS_SQL_CSV : HS_SQL_JSONL;
    return HS_OK;
}
