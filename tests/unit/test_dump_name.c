/* test_dump_name.c - rank and host from the name of a dump. */
#include "parsers/dump_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

enum { NONE = -1 };

static const struct {
    const char *path;
    int rank; /* NONE: no rank */
    const char *host;
} names[] = {
    /* as PyTorch writes them */
    { "nccl_trace_rank_0", 0, "" },
    { "comm_lib_trace_rank_17", 17, "" },
    { "tmp/nccl_trace_rank_128", 128, "" },
    { "_dump_9", 9, "" },
    { "rank3", 3, "" },
    { "3", 3, "" },
    { "nccl_trace_rank_00000012", 12, "" },
    /* with endings */
    { "rank_3.json", 3, "" },
    { "rank_3.json.gz", 3, "" },
    { "rank_3.pkl.zst", 3, "" },
    { "rank_3.pt.xz", 3, "" },
    { "dump_7.bin.bz2", 7, "" },
    { "dump_7.log2", 2, "" }, /* no ending that we know: its last integer */
    { "rank_3_final", 3, "" },
    { "rank_3.done", 3, "" },
    /* with hosts */
    { "nccl_trace_rank_node7_3", 3, "node7" },
    { "nccl_trace_rank_gpu-a-01_15.pkl", 15, "gpu-a-01" },
    { "node2/rank_3", 3, "node2" },
    { "job/worker12/dumps/rank_3", 3, "worker12" },
    { "node1/gpu4/rank_3", 3, "gpu4" }, /* the nearest */
    { "node2/nccl_trace_rank_dgx5_3", 3, "dgx5" },
    { "node/rank_3", 3, "" },
    { "run2/rank_3", 3, "" },
    { "notes/rank_3", 3, "" },
    { "logs.tar.gz/host9/rank_4", 4, "host9" },
    /* nothing to go by */
    { "", NONE, "" },
    { "dump", NONE, "" },
    { "rank_", NONE, "" },
    { "rank_x.json", NONE, "" },
    { "rank_3/dump", NONE, "" },
    { "node7/dump", NONE, "node7" },
    { "a/", NONE, "" },
    /* no rank is so large */
    { "rank_10000000", 10000000, "" },
    { "rank_10000001", NONE, "" },
    { "trace_1700000000000", NONE, "" },
    { "rank_99999999999999999999", NONE, "" },
    /* only endings */
    { ".gz", NONE, "" },
    { ".json.gz", NONE, "" },
    { "5.gz.gz.gz", 5, "" },
};

static void ranks_and_hosts_are_read_from_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint32_t rank = 4711;
        struct hs_str host = { .p = NULL };
        bool found = hs_dump_name_read(hs_str_of(names[i].path), &rank, &host);

        if (found != (names[i].rank != NONE) || (found && rank != (uint32_t)names[i].rank) ||
            !hs_str_is(host, names[i].host))
            fail_msg("%s: rank %d, host '%.*s'", names[i].path, found ? (int)rank : NONE,
                     HS_STR_ARG(host));
        if (!found)
            assert_int_equal(rank, 4711);
    }
}

static void any_bytes_are_a_name(void **state)
{
    static const char path[] = "node\xff\x00/\n1/rank_\x00\x80_7.json";
    uint32_t rank;
    struct hs_str host;

    (void)state;
    for (size_t n = 0; n < sizeof(path); n++) {
        char *exact = malloc(n + 1); /* a sanitizer sees a byte beyond */

        assert_non_null(exact);
        memcpy(exact, path, n);
        (void)hs_dump_name_read((struct hs_str){ .p = exact, .n = n }, &rank, &host);
        assert_true(host.n <= n);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_and_hosts_are_read_from_names),
        cmocka_unit_test(any_bytes_are_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
