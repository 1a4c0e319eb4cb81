/* test_fleet.c - a job as bytes between processes, kinds of groups, fingerprints of verdicts. */
#include "fleet/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct hs_fleet_culprit culprits[] = {
    { .rank = 3, .gpu = HS_FLEET_NONE, .host = { "node-a.example", 14 }, .role = { "missing", 7 } },
    { .rank = HS_FLEET_NONE, .gpu = 1, .host = { "", 0 }, .role = { NULL, 0 } },
};

static struct hs_fleet_row example(void)
{
    struct hs_fleet_row row;

    hs_fleet_row_init(&row);
    row.path = HS_STR("/jobs/1");
    row.code = HS_STR("rank-missing");
    row.bytes = INT64_MAX;
    row.culprits = culprits;
    row.culprit_count = 2;
    return row;
}

static void row_comes_back(void **state)
{
    struct hs_fleet_row row = example(), back;
    struct hs_arena arena;
    struct hs_buf bytes;

    (void)state;
    hs_arena_init(&arena);
    hs_buf_init(&bytes);
    hs_fleet_put(&bytes, &row);
    assert_true(hs_fleet_take(hs_buf_str(&bytes), &arena, &back));
    assert_true(hs_str_is(back.path, "/jobs/1"));
    assert_true(hs_str_is(back.code, "rank-missing"));
    assert_null(back.cause.p);
    assert_int_equal(back.bytes, INT64_MAX);
    assert_int_equal(back.world_size, HS_FLEET_NONE);
    assert_int_equal(back.culprit_count, 2);
    assert_int_equal(back.culprits[0].rank, 3);
    assert_true(hs_str_is(back.culprits[0].host, "node-a.example"));
    assert_non_null(back.culprits[1].host.p);
    assert_int_equal(back.culprits[1].host.n, 0);
    assert_null(back.culprits[1].role.p);
    assert_int_equal(back.finding_count, 0);
    hs_buf_release(&bytes);
    hs_arena_release(&arena);
}

/* Every cut, and every byte changed: refused, or read within the bytes (the sanitizers look on). */
static void damaged_rows_are_no_danger(void **state)
{
    struct hs_fleet_row row = example(), back = { .path = { NULL, 7 } };
    struct hs_arena arena;
    struct hs_buf bytes;

    (void)state;
    hs_arena_init(&arena);
    hs_buf_init(&bytes);
    hs_fleet_put(&bytes, &row);
    for (size_t n = 0; n < bytes.n; n++) {
        char *cut = malloc(n + 1);

        assert_non_null(cut);
        memcpy(cut, bytes.p, n);
        assert_false(hs_fleet_take((struct hs_str){ .p = cut, .n = n }, &arena, &back));
        assert_int_equal(back.path.n, 7); /* written only on success */
        free(cut);
    }
    for (size_t i = 0; i < bytes.n; i++) {
        char before = bytes.p[i];

        bytes.p[i] = (char)(before ^ 0xff);
        (void)hs_fleet_take(hs_buf_str(&bytes), &arena, &back);
        bytes.p[i] = before;
    }
    hs_buf_putc(&bytes, 'x');
    assert_false(hs_fleet_take(hs_buf_str(&bytes), &arena, &back));
    hs_buf_release(&bytes);
    hs_arena_release(&arena);
}

static void groups_have_kinds(void **state)
{
    static const struct {
        const char *label, *kind;
    } rows[] = {
        { "default_pg", "world" },
        { "TENSOR_MODEL_PARALLEL_GROUP(8)", "tensor" },
        { "DATA_PARALLEL_GROUP_WITH_CP", "data" },
        { "DATA_PARALLEL_GROUP", "data" },
        { "PIPELINE_MODEL_PARALLEL_GROUP", "pipeline" },
        { "MODEL_PARALLEL_GROUP", "tensor" },
        { "mesh_dp_shard", "shard" },
        { "mesh_tp", "tensor" },
        { "EXPERT_DATA_PARALLEL_GROUP", "expert" },
        { "stage1-2", "pipeline" },
        { "experts", "expert" },
        { "WORK", "other" },
        { "tpu", "other" },
        { "4f1c2a", "other" },
        { "", "other" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_str kind = hs_group_kind(hs_str_of(rows[i].label));

        if (!hs_str_is(kind, rows[i].kind))
            fail_msg("%s: %.*s, want %s", rows[i].label, HS_STR_ARG(kind), rows[i].kind);
    }
    assert_null(hs_group_kind((struct hs_str){ .p = NULL }).p);
}

/* Frames as a verdict writes them, and what stays of them. */
static void frames_lose_their_lines(void **state)
{
    static const struct {
        const char *stack, *sketch;
    } rows[] = {
        { "train.py:219 evaluate ‹ train.py:344 main",
          "rank-missing (-); culprit at train.py evaluate ‹ train.py main" },
        { "a b:1", "rank-missing (-); culprit at a b:1" },
        { ":7 f", "rank-missing (-); culprit at  f" },
        { "x.py:12", "rank-missing (-); culprit at x.py " },
        { "x:y.py:12 <lambda>", "rank-missing (-); culprit at x:y.py <lambda>" },
        { "", "rank-missing (-)" },
        { NULL, "rank-missing (-)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_standing standing = { .culprit = true, .stack = hs_str_of(rows[i].stack) };
        struct hs_verdict v = { .code = "rank-missing",
                                .standings = &standing,
                                .standing_count = 1 };
        struct hs_fleet_row row;
        struct hs_arena arena;

        hs_arena_init(&arena);
        hs_fleet_row_init(&row);
        row.code = HS_STR("rank-missing");
        assert_true(hs_fingerprint(&v, &arena, &row));
        if (!hs_str_is(row.sketch, rows[i].sketch))
            fail_msg("got %.*s, want %s", HS_STR_ARG(row.sketch), rows[i].sketch);
        assert_int_equal(row.fingerprint.n, 16);
        hs_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_comes_back),
        cmocka_unit_test(damaged_rows_are_no_danger),
        cmocka_unit_test(groups_have_kinds),
        cmocka_unit_test(frames_lose_their_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
