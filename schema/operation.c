#include "schema/operation.h"

enum {
    ANY = HS_COUNT_ANY,
    SAME = HS_COUNT_EQUAL,
    ALL = HS_PROOF_ALL,
    ROOT = HS_PROOF_ROOT,
    NONE = HS_PROOF_NONE,
    PEER = HS_PROOF_PEER,
    COLL = HS_CLASS_COLLECTIVE,
    END = HS_CLASS_COALESCED,
};

/*
 * scatter is recorded with inputs and outputs swapped: its "input" is the local output. Uneven
 * all_gather, reduce_scatter and all_to_all are legal, so the uneven side is ANY. The end entry of
 * a coalesced group has no sizes of its own, or real ones on some paths: then they must agree.
 */
/* clang-format off */
static const struct hs_operation_kind kinds[] = {
    /* recorded                         op                       in    out   proof class rooted dtype */
    { "all_reduce",                     "ALLREDUCE",             SAME, SAME, ALL,  COLL, false, true },
    { "allreduce",                      "ALLREDUCE",             SAME, SAME, ALL,  COLL, false, true },
    { "all_reduce_sparse",              "_ALLREDUCE_SPARSE",     SAME, SAME, ALL,  COLL, false, true },
    { "allreduce_coalesced",            "ALLREDUCE_COALESCED",   SAME, SAME, ALL,  COLL, false, true },
    { "all_reduce_barrier",             "BARRIER",               ANY,  ANY,  ALL,  COLL, false, false },
    { "barrier",                        "BARRIER",               ANY,  ANY,  ALL,  COLL, false, false },
    { "monitored_barrier",              "BARRIER",               ANY,  ANY,  ALL,  COLL, false, false },
    { "broadcast",                      "BROADCAST",             SAME, SAME, ROOT, COLL, true,  true },
    { "_broadcast_oop",                 "BROADCAST",             ANY,  SAME, ROOT, COLL, true,  true },
    { "reduce",                         "REDUCE",                SAME, SAME, NONE, COLL, true,  true },
    { "_reduce_oop",                    "REDUCE",                SAME, ANY,  NONE, COLL, true,  true },
    { "all_gather",                     "ALLGATHER",             ANY,  SAME, ALL,  COLL, false, true },
    { "all_gather_v",                   "ALLGATHER",             ANY,  ANY,  ALL,  COLL, false, true },
    { "_all_gather_base",               "_ALLGATHER_BASE",       SAME, SAME, ALL,  COLL, false, true },
    { "all_gather_single",              "_ALLGATHER_BASE",       SAME, SAME, ALL,  COLL, false, true },
    { "all_gather_into_tensor_coalesced", "COALESCED",           SAME, SAME, ALL,  COLL, false, true },
    { "reduce_scatter",                 "REDUCE_SCATTER",        SAME, ANY,  ALL,  COLL, false, true },
    { "reduce_scatter_v",               "REDUCE_SCATTER",        ANY,  ANY,  ALL,  COLL, false, true },
    { "_reduce_scatter_base",           "_REDUCE_SCATTER_BASE",  SAME, SAME, ALL,  COLL, false, true },
    { "reduce_scatter_single",          "_REDUCE_SCATTER_BASE",  SAME, SAME, ALL,  COLL, false, true },
    { "reduce_scatter_tensor_coalesced", "COALESCED",            SAME, SAME, ALL,  COLL, false, true },
    { "all_to_all",                     "ALLTOALL",              ANY,  ANY,  ALL,  COLL, false, true },
    { "all_to_all_single",              "ALLTOALL_BASE",         ANY,  ANY,  ALL,  COLL, false, true },
    { "all_to_all_v_single",            "ALLTOALL_BASE",         ANY,  ANY,  ALL,  COLL, false, true },
    { "gather",                         "GATHER",                SAME, ANY,  NONE, COLL, true,  true },
    { "scatter",                        "SCATTER",               SAME, ANY,  ROOT, COLL, true,  true },
    { "coalesced",                      "COALESCED",             SAME, SAME, NONE, END,  false, true },
    { "ALLGATHER_coalesced",            "ALLGATHER",             ANY,  ANY,  ALL,  END,  false, true },
    { "REDUCE_SCATTER_coalesced",       "REDUCE_SCATTER",        ANY,  ANY,  ALL,  END,  false, true },
    { "send",                           "SEND",                  ANY,  ANY,  NONE, HS_CLASS_SEND, false, true },
    { "recv",                           "RECV",                  ANY,  ANY,  PEER, HS_CLASS_RECV, false, true },
    { NULL,                             NULL,                    ANY,  ANY,  NONE, COLL, false, false },
};
/* clang-format on */

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const struct hs_operation_kind *hs_operation_kinds(size_t *count)
{
    *count = KINDS;
    return kinds;
}

static bool take_u32(struct hs_str *in, uint32_t *out)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < in->n && in->p[i] >= '0' && in->p[i] <= '9' && value <= UINT32_MAX; i++)
        value = value * 10 + (uint64_t)(in->p[i] - '0');
    if (i == 0 || value > UINT32_MAX)
        return false;
    in->p += i;
    in->n -= i;
    *out = (uint32_t)value;
    return true;
}

bool hs_operation_root(struct hs_str *recorded, uint32_t *root)
{
    static const struct hs_str mark = { .p = " root ", .n = 6 };
    size_t end = recorded->n;
    struct hs_str digits;

    while (end > 0 && recorded->p[end - 1] >= '0' && recorded->p[end - 1] <= '9')
        end--;
    digits = (struct hs_str){ .p = recorded->p + end, .n = recorded->n - end };
    if (end < mark.n || memcmp(recorded->p + end - mark.n, mark.p, mark.n) != 0 ||
        !take_u32(&digits, root))
        return false;
    recorded->n = end - mark.n;
    return true;
}

const struct hs_operation_kind *hs_operation_kind_of(struct hs_str recorded)
{
    uint32_t self, peer;

    if (hs_operation_pair(recorded, &self, &peer))
        recorded.n = 4; /* "send" or "recv" */
    for (size_t i = 0; i + 1 < KINDS; i++) {
        if (hs_str_is(recorded, kinds[i].recorded))
            return &kinds[i];
    }
    return &kinds[KINDS - 1];
}

bool hs_operation_pair(struct hs_str recorded, uint32_t *self, uint32_t *peer)
{
    struct hs_str rest = recorded;
    bool send = hs_str_starts(rest, HS_STR("send "));
    uint32_t a, b;

    if (!send && !hs_str_starts(rest, HS_STR("recv ")))
        return false;
    rest.p += 5;
    rest.n -= 5;
    if (!take_u32(&rest, &a) || !hs_str_starts(rest, send ? HS_STR("->") : HS_STR("<-")))
        return false;
    rest.p += 2;
    rest.n -= 2;
    if (!take_u32(&rest, &b) || rest.n != 0)
        return false;
    *self = a;
    *peer = b;
    return true;
}
