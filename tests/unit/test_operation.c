/* test_operation.c - the table of operations: one row by each recorded name, and the names of
 * pairs. */
#include "schema/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static void each_recorded_name_finds_its_row(void **state)
{
    size_t count;
    const struct hs_operation_kind *rows = hs_operation_kinds(&count);

    (void)state;
    assert_true(count > 20);
    for (size_t i = 0; i + 1 < count; i++) {
        for (size_t k = i + 1; k + 1 < count; k++)
            assert_string_not_equal(rows[i].recorded, rows[k].recorded);
        assert_ptr_equal(hs_operation_kind_of(hs_str_of(rows[i].recorded)), &rows[i]);
        assert_non_null(rows[i].op);
    }
}

static void the_last_row_is_that_of_the_unknown(void **state)
{
    static const char *const unknown[] = {
        "",  "allgather", "ALL_REDUCE", "all_reduce ", "nccl:send 0->1",
        "_", "sendrecv",  "send 0->",   "send 0->1 ",  "recv  0<-1"
    };
    size_t count;
    const struct hs_operation_kind *rows = hs_operation_kinds(&count), *last = &rows[count - 1];

    (void)state;
    assert_null(last->recorded);
    assert_null(last->op);
    assert_int_equal(last->in, HS_COUNT_ANY);
    assert_int_equal(last->out, HS_COUNT_ANY);
    assert_int_equal(last->proof, HS_PROOF_NONE);
    assert_false(last->dtype);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (hs_operation_kind_of(hs_str_of(unknown[i])) != last)
            fail_msg("'%s' is known", unknown[i]);
    }
}

static void a_name_with_a_zero_byte_is_unknown(void **state)
{
    size_t count;
    const struct hs_operation_kind *rows = hs_operation_kinds(&count);

    (void)state;
    assert_ptr_equal(hs_operation_kind_of(HS_STR("all_reduce\0x")), &rows[count - 1]);
}

/* What each operation promises, as the reference has it. */
static void rows_hold_what_c10d_promises(void **state)
{
    static const struct {
        const char *name, *op;
        enum hs_count_rule in, out;
        enum hs_proof proof;
        bool rooted;
    } want[] = {
        { "all_reduce", "ALLREDUCE", HS_COUNT_EQUAL, HS_COUNT_EQUAL, HS_PROOF_ALL, false },
        { "all_gather", "ALLGATHER", HS_COUNT_ANY, HS_COUNT_EQUAL, HS_PROOF_ALL, false },
        { "_all_gather_base", "_ALLGATHER_BASE", HS_COUNT_EQUAL, HS_COUNT_EQUAL, HS_PROOF_ALL,
          false },
        { "reduce_scatter", "REDUCE_SCATTER", HS_COUNT_EQUAL, HS_COUNT_ANY, HS_PROOF_ALL, false },
        { "all_to_all", "ALLTOALL", HS_COUNT_ANY, HS_COUNT_ANY, HS_PROOF_ALL, false },
        { "broadcast", "BROADCAST", HS_COUNT_EQUAL, HS_COUNT_EQUAL, HS_PROOF_ROOT, true },
        { "reduce", "REDUCE", HS_COUNT_EQUAL, HS_COUNT_EQUAL, HS_PROOF_NONE, true },
        { "gather", "GATHER", HS_COUNT_EQUAL, HS_COUNT_ANY, HS_PROOF_NONE, true },
        { "scatter", "SCATTER", HS_COUNT_EQUAL, HS_COUNT_ANY, HS_PROOF_ROOT, true },
        { "send 3->4", "SEND", HS_COUNT_ANY, HS_COUNT_ANY, HS_PROOF_NONE, false },
        { "recv 4<-3", "RECV", HS_COUNT_ANY, HS_COUNT_ANY, HS_PROOF_PEER, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct hs_operation_kind *kind = hs_operation_kind_of(hs_str_of(want[i].name));

        assert_string_equal(kind->op, want[i].op);
        if (kind->in != want[i].in || kind->out != want[i].out || kind->proof != want[i].proof ||
            kind->rooted != want[i].rooted)
            fail_msg("%s", want[i].name);
    }
}

/* ---- pairs ---- */

static void pairs_are_read(void **state)
{
    static const struct {
        const char *name;
        uint32_t self, peer;
    } pairs[] = {
        { "send 0->1", 0, 1 },       { "recv 1<-0", 1, 0 },
        { "send 12->345", 12, 345 }, { "recv 4294967295<-0", UINT32_MAX, 0 },
        { "send 007->3", 7, 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        uint32_t self = 99, peer = 99;

        assert_true(hs_operation_pair(hs_str_of(pairs[i].name), &self, &peer));
        assert_int_equal(self, pairs[i].self);
        assert_int_equal(peer, pairs[i].peer);
    }
}

static void what_is_no_pair_leaves_the_numbers_alone(void **state)
{
    static const char *const names[] = {
        "",
        "send",
        "send ",
        "send 0",
        "send 0-",
        "send 0->",
        "send ->1",
        "send 0<-1",
        "recv 0->1",
        "send  0->1",
        "send 0->1x",
        "send -1->0",
        "send 4294967296->0",
        "send 0->99999999999999999999",
        "send 0 ->1",
        "Send 0->1",
        "recv 1<-",
        "send 0->1->2",
        "all_reduce",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint32_t self = 99, peer = 98;

        if (hs_operation_pair(hs_str_of(names[i]), &self, &peer))
            fail_msg("'%s' is a pair", names[i]);
        assert_int_equal(self, 99);
        assert_int_equal(peer, 98);
    }
}

static void a_root_is_taken_off_the_name(void **state)
{
    static const struct {
        const char *recorded, *name;
        uint32_t root; /* 99: none */
    } rows[] = {
        { "broadcast root 2", "broadcast", 2 },
        { "reduce root 131071", "reduce", 131071 },
        { "broadcast", "broadcast", 99 },
        { "broadcast root ", "broadcast root ", 99 },
        { "broadcast root 4294967296", "broadcast root 4294967296", 99 },
        { "broadcast root -1", "broadcast root -1", 99 },
        { " root 1", "", 1 },
        { "root 1", "root 1", 99 },
        { "7", "7", 99 },
        { "", "", 99 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_str name = hs_str_of(rows[i].recorded);
        uint32_t root = 99;

        assert_int_equal(hs_operation_root(&name, &root), rows[i].root != 99);
        assert_int_equal(root, rows[i].root);
        assert_true(hs_str_is(name, rows[i].name));
    }
}

static void a_pair_is_read_within_its_bytes(void **state)
{
    uint32_t self = 0, peer = 0;

    (void)state;
    for (size_t n = 0; n < sizeof("send 10->23") - 1; n++) {
        char *exact = malloc(n + 1); /* a sanitizer sees a byte beyond */

        assert_non_null(exact);
        memcpy(exact, "send 10->23", n);
        assert_int_equal(hs_operation_pair((struct hs_str){ .p = exact, .n = n }, &self, &peer),
                         n == 10);
        free(exact);
    }
    assert_int_equal(peer, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_recorded_name_finds_its_row),
        cmocka_unit_test(the_last_row_is_that_of_the_unknown),
        cmocka_unit_test(a_name_with_a_zero_byte_is_unknown),
        cmocka_unit_test(rows_hold_what_c10d_promises),
        cmocka_unit_test(pairs_are_read),
        cmocka_unit_test(what_is_no_pair_leaves_the_numbers_alone),
        cmocka_unit_test(a_root_is_taken_off_the_name),
        cmocka_unit_test(a_pair_is_read_within_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
