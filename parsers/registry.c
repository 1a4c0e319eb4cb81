#include "base/limits.h"
#include "parsers/parser.h"

extern const struct hs_parser hs_parser_flight_recorder_pickle;
extern const struct hs_parser hs_parser_flight_recorder_json;
extern const struct hs_parser hs_parser_nccl_ras_json;
extern const struct hs_parser hs_parser_pyspy_json;
extern const struct hs_parser hs_parser_text;

/* Every format we read, in the order `hangscope formats` shows them. */
const struct hs_parser *const hs_parsers[] = {
    &hs_parser_flight_recorder_pickle,
    &hs_parser_flight_recorder_json,
    &hs_parser_nccl_ras_json,
    &hs_parser_pyspy_json,
    &hs_parser_text,
    NULL,
};

bool hs_parse_diagnose(struct hs_parse *px, const char *code, uint64_t offset_bytes,
                       uint64_t record, struct hs_str excerpt)
{
    struct hs_job *job = px->job;
    struct hs_diagnostic row = { .code = code,
                                 .source = px->source,
                                 .excerpt = HS_NO_ID,
                                 .offset_bytes = offset_bytes,
                                 .record = record };
    struct hs_buf safe;

    if (job->sources[px->source].diagnostics++ >= HS_DIAGNOSTICS_MAX)
        return true;
    if (excerpt.n) {
        hs_buf_init(&safe);
        hs_buf_put_safe(&safe, excerpt, HS_EXCERPT_BYTES);
        row.excerpt = safe.failed ? HS_NO_ID : hs_intern_put(&job->strings, hs_buf_str(&safe));
        hs_buf_release(&safe);
    }
    return hs_job_add_diagnostic(job, &row);
}
