/* records_takers.c - which kinds of lines open which kinds of records. */
#include "parsers/records_internal.h"

static bool opens_traceback(struct hs_text *t, const struct hs_record *record,
                            const struct hs_found *found)
{
    (void)found;
    /* A table holds tracebacks of its own. */
    return hs_records_taken_by(t) == &hs_record_table ||
           hs_records_begin(t, record, &hs_record_traceback);
}

/* Calls open a record only when their beginning was lost. */
static bool opens_call(struct hs_text *t, const struct hs_record *record,
                       const struct hs_found *found)
{
    (void)found;
    return hs_records_taken_by(t) || hs_records_begin(t, record, &hs_record_traceback);
}

static bool opens_stack_call(struct hs_text *t, const struct hs_record *record,
                             const struct hs_found *found)
{
    (void)found;
    return hs_records_taken_by(t) || hs_records_begin(t, record, &hs_record_stacks);
}

#define OPENS(name)                                                                                \
    static bool opens_##name(struct hs_text *t, const struct hs_record *record,                    \
                             const struct hs_found *found)                                         \
    {                                                                                              \
        (void)found;                                                                               \
        return hs_records_begin(t, record, &hs_record_##name);                                     \
    }

OPENS(table)
OPENS(stacks)
OPENS(work_stack)
OPENS(cxx)
OPENS(desync)
OPENS(barrier)
OPENS(nccl_error)
OPENS(fr_trace)
OPENS(ras)

const struct hs_taker hs_record_takers[] = {
    { "TB_HEAD", opens_traceback },
    { "TB_FRAME", opens_call },
    { "TB_THREAD", opens_traceback },
    { "MP_PROCESS", opens_traceback },
    { "TBL_TITLE", opens_table },
    { "TBL_ROOT", opens_table },
    { "TBL_TIME", opens_table },
    { "TBL_HOST", opens_table },
    { "TBL_RANK", opens_table },
    { "TBL_EXIT", opens_table },
    { "TBL_TB", opens_table },
    { "TBL_NARROW", opens_table },
    { "SPY_DUMP", opens_stacks },
    { "SPY_PROCESS", opens_stacks },
    { "SPY_THREAD", opens_stacks },
    { "FH_FATAL", opens_stacks },
    { "FH_THREAD", opens_stacks },
    { "FH_STACK", opens_stacks },
    { "FH_SIGNAL", opens_stacks },
    { "CPP_FRAME", opens_stack_call },
    { "KERNEL_STACK", opens_stack_call },
    { "GDB_THREAD", opens_stacks },
    { "GDB_FRAME", opens_stack_call },
    { "PYSTACK_THREAD", opens_stacks },
    { "UCX_BACKTRACE", opens_stacks },
    { "UCX_FRAME", opens_stack_call },
    { "STACK_HDR", opens_work_stack },
    { "WD_TERMINATED", opens_cxx },
    { "CXX_TERMINATE", opens_cxx },
    { "CXX_WHAT", opens_cxx },
    { "CXX_RAISED", opens_cxx },
    { "DESYNC_AT", opens_desync },
    { "DESYNC_MISSING", opens_desync },
    { "DESYNC_LAG_HDR", opens_desync },
    { "DESYNC_BEHIND", opens_desync },
    { "DESYNC_JOINED", opens_desync },
    { "DESYNC_SNAP", opens_desync },
    { "MONBAR_LATE", opens_barrier },
    { "NCCL_ERR_IN", opens_nccl_error },
    { "NCCL_ERR", opens_nccl_error },
    { "NCCL_ERR_CLASS", opens_nccl_error },
    { "NCCL_LAST_ERR", opens_nccl_error },
    { "FRTRACE_HEAD", opens_fr_trace },
    { "FRTRACE_ENTRY", opens_fr_trace },
    { "ras_table", opens_ras },
    { "ras_comm", opens_ras },
    { "ras_job", opens_ras },
    { "ras_what", opens_ras },
    { "ras_nranks", opens_ras },
    { "ras_rank", opens_ras },
    { "ras_rank_24", opens_ras },
    { "ras_missing", opens_ras },
    { "ras_errcount", opens_ras },
    { "ras_process", opens_ras },
    { "INSPECTOR_LINE", hs_records_take_inspector },
    { NULL, NULL },
};
