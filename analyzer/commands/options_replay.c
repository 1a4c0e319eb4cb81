/* options_replay.c - the options of plan, replay and emit alone. */
#include "analyzer/commands/option_values.h"

#include "base/limits.h"
#include "base/ranks.h"

#include <stdlib.h>

enum hs_status hs_option_window(struct hs_options *o, const char *value, struct hs_err *err)
{
    uint64_t n;

    if (!hs_option_count(value, HS_OPERATIONS_MAX, &n))
        return hs_option_bad(err, "--window", value, "a number of calls, 1 or more");
    o->window = (uint32_t)n;
    return HS_OK;
}

enum hs_status hs_option_fold(struct hs_options *o, const char *value, struct hs_err *err)
{
    uint64_t n;

    if (!hs_option_count(value, HS_PLAN_RANKS_MAX, &n))
        return hs_option_bad(err, "--fold", value, "a number of ranks, 1 or more");
    o->fold = (uint32_t)n;
    return HS_OK;
}

enum hs_status hs_option_ranks(struct hs_options *o, const char *value, struct hs_err *err)
{
    free(o->ranks);
    o->ranks = NULL;
    if (!hs_ranks_read(hs_str_of(value), HS_PLAN_RANKS_MAX, &o->ranks, &o->rank_count))
        return hs_option_bad(err, "--ranks", value, "a list of ranks such as 0-7,12");
    return o->ranks ? HS_OK : hs_no_memory(err);
}

enum hs_status hs_option_semantics(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->semantics = hs_semantics_find(hs_str_of(value));
    return o->semantics ? HS_OK : hs_option_bad(err, "--semantics", value, "one of nccl, gloo");
}

enum hs_status hs_option_what_if(struct hs_options *o, const char *value, struct hs_err *err)
{
    if (o->edit_count == HS_EDITS_MAX)
        return hs_fail(err, HS_EUSAGE, "--what-if: more than %u edits", HS_EDITS_MAX);
    o->edits[o->edit_count++] = value;
    return HS_OK;
}

enum hs_status hs_option_replay_backend(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->backend = value;
    if (strcmp(value, "dry") == 0 || strcmp(value, "nccl") == 0)
        return HS_OK;
    return hs_option_bad(err, "--backend", value, "one of dry, nccl");
}

enum hs_status hs_option_emit_backend(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->backend = value;
    if (strcmp(value, "gloo") == 0 || strcmp(value, "nccl") == 0)
        return HS_OK;
    return hs_option_bad(err, "--backend", value, "one of gloo, nccl");
}

static bool is_number(const char *value, double most)
{
    char *end;
    double number = strtod(value, &end);

    return end != value && *end == '\0' && number > 0 && number <= most;
}

enum hs_status hs_option_deadline(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->deadline = value;
    return is_number(value, HS_DEADLINE_S_MAX)
               ? HS_OK
               : hs_option_bad(err, "--deadline", value, "a number of seconds above 0");
}

enum hs_status hs_option_scale(struct hs_options *o, const char *value, struct hs_err *err)
{
    o->scale = value;
    return is_number(value, HS_SCALE_MAX)
               ? HS_OK
               : hs_option_bad(err, "--scale", value, "a number above 0, and at most 1000");
}
