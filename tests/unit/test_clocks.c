/* test_clocks.c - clocks that run apart, and what can still be said of before and after. */
#include "job_lab.h"
#include "row_lab.h"

#include "analyzer/clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

enum { CALLS = 200, RANKS = 8, RANKS_PER_HOST = 2, HOSTS = RANKS / RANKS_PER_HOST };

/* The same numbers on every machine. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Eight ranks on four hosts whose clocks are off by `shifts`: they come up to 50 ms apart, and see
 * the end of a call up to 100 ms late. */
static void simulate(struct job_lab *lab, const int64_t *shifts)
{
    struct hs_buf words;
    uint32_t random = 1;

    lab_begin(lab);
    lab_group(lab, "0", "nccl", "0 1 2 3 4 5 6 7");
    hs_buf_init(&words);
    for (uint32_t i = 1; i <= CALLS; i++)
        hs_buf_printf(&words, "all_reduce#%u+ ", i);
    for (uint32_t r = 0; r < RANKS; r++) {
        char host[16];

        lab_dump(lab, r, words.p);
        (void)snprintf(host, sizeof(host), "node-%u", r / RANKS_PER_HOST);
        lab->part.dumps[r].host = hs_intern_put(&lab->part.strings, hs_str_of(host));
    }
    hs_buf_release(&words);
    for (uint32_t i = 0; i < CALLS; i++) {
        int64_t came[RANKS], last = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            came[r] = INT64_C(1700000000) * NS_PER_S + i * NS_PER_S +
                      next_random(&random) % 50000 * INT64_C(1000);
            last = came[r] > last ? came[r] : last;
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            struct hs_operation *op = &lab->part.dumps[r].operations[i];
            int64_t seen = last + NS_PER_MS + next_random(&random) % 100000 * INT64_C(1000);

            op->created_ns = came[r] + shifts[r / RANKS_PER_HOST];
            op->finished_us = (uint32_t)((seen - came[r]) / 1000);
        }
    }
}

struct found {
    struct hs_identity id;
    struct hs_clocks clocks;
};

static void find(struct found *f, const struct hs_job *job, const struct hs_alignment *al)
{
    struct hs_err err = { .n = 0 };

    hs_identity_init(&f->id, job);
    assert_int_equal(hs_identity_find(&f->id, &err), HS_OK);
    hs_clocks_init(&f->clocks, &f->id);
    assert_int_equal(hs_clocks_find(&f->clocks, al, &err), HS_OK);
}

static void release(struct found *f)
{
    hs_clocks_release(&f->clocks);
    hs_identity_release(&f->id);
}

static uint32_t clock_of_rank(const struct found *f, uint32_t rank)
{
    return hs_clock_find(&f->clocks, hs_identity_rank(&f->id, 0, rank), 0, HS_CLOCK_EPOCH);
}

static void a_shifted_host_is_found_and_by_how_much(void **state)
{
    static const int64_t shifts[][HOSTS] = {
        { 0, 0, 0, 0 },
        { 0, 3700 * NS_PER_MS, 0, 0 },
        { 0, 0, 0, -90 * NS_PER_S },
        { 3700 * NS_PER_MS, 0, -90 * NS_PER_S, 12 * NS_PER_MS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        struct job_lab lab;
        struct found f;

        simulate(&lab, shifts[i]);
        lab_align(&lab);
        find(&f, &lab.job, &lab.al);
        assert_int_equal(f.clocks.count, HOSTS);
        for (uint32_t a = 0; a < RANKS; a++) {
            for (uint32_t b = 0; b < RANKS; b++) {
                int64_t low, high,
                    true_ns = shifts[i][a / RANKS_PER_HOST] - shifts[i][b / RANKS_PER_HOST];

                assert_true(hs_clock_offset(&f.clocks, clock_of_rank(&f, a), clock_of_rank(&f, b),
                                            &low, &high));
                assert_true(low <= true_ns && true_ns <= high);
                assert_true(high - low < 20 * NS_PER_MS);
            }
        }
        release(&f);
        lab_end(&lab);
    }
}

static void order_is_told_across_shifted_hosts(void **state)
{
    static const int64_t shifts[HOSTS] = { 0, 3700 * NS_PER_MS, -90 * NS_PER_S, 0 };
    struct job_lab lab;
    struct found f;
    struct hs_moment first, second, near;

    (void)state;
    simulate(&lab, shifts);
    lab_align(&lab);
    find(&f, &lab.job, &lab.al);
    /* truly at 100 s on host 1, at 101 s on host 2, and 2 ms after the first on host 0 */
    first = hs_clock_of_dump(&f.clocks, 2, (1700000100 * NS_PER_S) + shifts[1]);
    second = hs_clock_of_dump(&f.clocks, 4, (1700000101 * NS_PER_S) + shifts[2]);
    near = hs_clock_of_dump(&f.clocks, 0, 1700000100 * NS_PER_S + 2 * NS_PER_MS);
    assert_int_equal(hs_moment_order(&first, &second), -1);
    assert_int_equal(hs_moment_order(&second, &first), 1);
    assert_int_equal(hs_moment_order(&first, &near), 0);
    assert_int_equal(hs_moment_order(&first, &first), 0);
    assert_true(hs_moment_comparable(&first, &near));
    assert_true(llabs(second.ns - first.ns - NS_PER_S) < 30 * NS_PER_MS);
    release(&f);
    lab_end(&lab);
}

/* A clock that is set anew in the middle fits nothing: it is unknown, the others are not. */
static void a_clock_that_jumps_is_unknown(void **state)
{
    static const int64_t shifts[HOSTS] = { 0, 0, 0, 0 };
    struct job_lab lab;
    struct found f;
    int64_t low, high;

    (void)state;
    simulate(&lab, shifts);
    for (uint32_t r = 4; r < 6; r++) {
        for (uint32_t i = CALLS / 2; i < CALLS; i++)
            lab.part.dumps[r].operations[i].created_ns += 5 * NS_PER_S;
    }
    lab_align(&lab);
    find(&f, &lab.job, &lab.al);
    assert_false(
        hs_clock_offset(&f.clocks, clock_of_rank(&f, 4), clock_of_rank(&f, 0), &low, &high));
    assert_true(f.clocks.list[clock_of_rank(&f, 4)].contradicted);
    assert_true(
        hs_clock_offset(&f.clocks, clock_of_rank(&f, 6), clock_of_rank(&f, 0), &low, &high));
    release(&f);
    lab_end(&lab);
}

/* Two hosts that share no group with each other share one with a third. */
static void offsets_are_handed_on(void **state)
{
    static const struct {
        uint32_t rank;
        const char *host;
        int64_t shift_ns;
    } ranks[] = { { 0, "node-a", 0 }, { 1, "node-b", 7 * NS_PER_S }, { 2, "node-c", NS_PER_S } };
    struct job_lab lab;
    struct found f;
    int64_t low, high;

    (void)state;
    lab_begin(&lab);
    lab_group(&lab, "0", "nccl", "0 1 2 3");
    lab_group(&lab, "x", "nccl", "0 1");
    lab_group(&lab, "y", "nccl", "1 2");
    lab_dump(&lab, 0, "x:all_reduce#1+ x:all_reduce#2+");
    lab_dump(&lab, 1, "x:all_reduce#1+ x:all_reduce#2+ y:all_reduce#1+ y:all_reduce#2+");
    lab_dump(&lab, 2, "y:all_reduce#1+ y:all_reduce#2+");
    for (uint32_t i = 0; i < 3; i++) {
        struct hs_dump *dump = &lab.part.dumps[i];

        dump->host = hs_intern_put(&lab.part.strings, hs_str_of(ranks[i].host));
        for (uint32_t k = 0; k < dump->operation_count; k++) {
            dump->operations[k].created_ns += ranks[i].shift_ns + (i == 2 ? 2 * NS_PER_S : 0);
        }
    }
    lab_align(&lab);
    find(&f, &lab.job, &lab.al);
    assert_true(
        hs_clock_offset(&f.clocks, clock_of_rank(&f, 2), clock_of_rank(&f, 0), &low, &high));
    assert_true(low <= NS_PER_S && NS_PER_S <= high && high - low < 10 * NS_PER_MS);
    release(&f);
    lab_end(&lab);
}

/* A finished broadcast proves that its root came, and nothing of others. */
static void rooted_calls_tie_nothing(void **state)
{
    struct job_lab lab;
    struct found f;
    int64_t low, high;

    (void)state;
    lab_begin(&lab);
    lab_group(&lab, "0", "nccl", "0 1");
    lab_dump(&lab, 0, "broadcast#1+ all_reduce#2");
    lab_dump(&lab, 1, "broadcast#1+ all_reduce#2");
    lab_align(&lab);
    find(&f, &lab.job, &lab.al);
    assert_false(
        hs_clock_offset(&f.clocks, clock_of_rank(&f, 0), clock_of_rank(&f, 1), &low, &high));
    release(&f);
    lab_end(&lab);
}

/* ---- lines ---- */

static void communicators_tie_the_clocks_of_logs(void **state)
{
    struct row_lab lab;
    struct hs_clocks clocks;
    struct hs_err err = { .n = 0 };
    uint32_t a, b, alone, event, other;
    struct hs_moment x, y, z;
    int64_t low, high;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    a = row_speaker(&lab, "host=node-a pid=1 from=100 to=900");
    b = row_speaker(&lab, "host=node-b pid=2 from=100 to=900");
    alone = row_speaker(&lab, "host=node-c pid=3 from=100 to=900");
    row_comm(&lab, a, "ptr=1 rank=0 size=2 id=7 start=1 complete=2 began=100.0 done=101.5");
    row_comm(&lab, b, "ptr=1 rank=1 size=2 id=7 start=1 complete=2 began=105.0 done=105.2");
    event = row_event(&lab, a, "XID", "line=5 at=200");
    (void)row_event(&lab, b, "XID", "line=6 at=203");
    other = row_event(&lab, alone, "XID", "line=7 at=203");
    row_finish(&lab);
    hs_clocks_init(&clocks, &lab.id);
    assert_int_equal(hs_clocks_find(&clocks, NULL, &err), HS_OK);
    /* b is ahead by 3.5 to 5.2 s: it began when a had not finished, and so the other way round */
    assert_true(hs_clock_offset(
        &clocks, hs_clock_find(&clocks, hs_identity_speaker(&lab.id, b, 1), 0, lab.clock),
        hs_clock_find(&clocks, hs_identity_speaker(&lab.id, a, 1), 0, lab.clock), &low, &high));
    assert_int_equal(low / NS_PER_MS, 3499);
    assert_int_equal(high / NS_PER_MS, 5201);
    x = hs_clock_of_event(&clocks, event);
    y = hs_clock_of_event(&clocks, event + 1);
    z = hs_clock_of_event(&clocks, other);
    assert_int_equal(hs_moment_order(&y, &x), -1); /* although its stamp is larger */
    assert_int_equal(hs_moment_order(&z, &x), 0);  /* nothing ties it */
    assert_true(hs_moment_comparable(&z, &x));
    hs_clocks_release(&clocks);
    row_end(&lab);
}

/* Stamps of another kind are never compared as they are. */
static void kinds_of_stamps_are_kept_apart(void **state)
{
    struct row_lab lab;
    struct hs_clocks clocks;
    struct hs_err err = { .n = 0 };
    struct hs_moment local, epoch, later, coarse;
    uint32_t speaker, event;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    speaker = row_speaker(&lab, "host=node-a pid=1");
    event = row_event(&lab, speaker, "XID", "line=5 at=200");
    (void)row_event(&lab, speaker, "XID", "line=9 at=200.5");
    lab.clock = HS_CLOCK_EPOCH;
    (void)row_event(&lab, speaker, "XID", "line=6 at=100");
    lab.clock = HS_CLOCK_DATE | HS_CLOCK_YEAR;
    (void)row_event(&lab, speaker, "XID", "line=7 at=200");
    row_finish(&lab);
    hs_clocks_init(&clocks, &lab.id);
    assert_int_equal(hs_clocks_find(&clocks, NULL, &err), HS_OK);
    local = hs_clock_of_event(&clocks, event);
    later = hs_clock_of_event(&clocks, event + 1);
    epoch = hs_clock_of_event(&clocks, event + 2);
    coarse = hs_clock_of_event(&clocks, event + 3);
    assert_int_equal(hs_moment_order(&local, &epoch), 0);
    assert_false(hs_moment_comparable(&local, &epoch));
    assert_int_equal(hs_moment_order(&local, &later), -1);
    assert_int_equal(hs_moment_order(&coarse, &later), 0); /* somewhere in its second */
    hs_clocks_release(&clocks);
    row_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shifted_host_is_found_and_by_how_much),
        cmocka_unit_test(order_is_told_across_shifted_hosts),
        cmocka_unit_test(a_clock_that_jumps_is_unknown),
        cmocka_unit_test(offsets_are_handed_on),
        cmocka_unit_test(rooted_calls_tie_nothing),
        cmocka_unit_test(communicators_tie_the_clocks_of_logs),
        cmocka_unit_test(kinds_of_stamps_are_kept_apart),
    };

    return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
