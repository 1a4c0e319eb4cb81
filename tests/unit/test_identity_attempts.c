/* test_identity_attempts.c - where one attempt of a job ends in a text, and which others it is
 * beside. */
#include "row_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

#define EXPECT(lab, speaker, line, who) assert_string_equal(row_who(&(lab), speaker, line), who)

static void a_restart_cuts_a_log(void **state)
{
    struct row_lab lab;
    uint32_t agent, python, tag, old, new;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    agent = row_speaker(&lab, "host=node-a pid=10 lines=1-900");
    python = row_speaker(&lab, "pid=77 lines=1-900");
    tag = row_speaker(&lab, "tag=0 lines=5-800");
    old = row_speaker(&lab, "host=node-a pid=11 tag=0 lines=20-430");
    new = row_speaker(&lab, "host=node-a pid=31 tag=0 lines=470-800");
    (void)row_event(&lab, agent, "ELASTIC_AGENT", "state=FAILED attempts_left=3 line=400 last=402");
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 2);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 430), 0); /* the old process still ends */
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 431), 1);
    EXPECT(lab, old, 20, "rank-tag 0 @0 node-a:11/-");
    EXPECT(lab, new, 470, "rank-tag 0 @1 node-a:31/-");
    EXPECT(lab, tag, 100, "rank-tag 0 @0 node-a:11/-");
    EXPECT(lab, tag, 700, "rank-tag 0 @1 node-a:31/-");
    EXPECT(lab, agent, 100, "unknown - @0 node-a:10/-");
    EXPECT(lab, agent, 700, "unknown - @1 node-a:10/-");
    EXPECT(lab, python, 700, "unknown - @1 -:77/-");
    assert_int_equal(lab.id.contradiction_count, 0);
    row_end(&lab);
}

static void agents_of_many_nodes_tell_of_one_restart(void **state)
{
    struct row_lab lab;
    uint32_t a, b;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    a = row_speaker(&lab, "host=node-a pid=10 lines=1-900");
    b = row_speaker(&lab, "host=node-b pid=10 lines=1-900");
    (void)row_event(&lab, a, "ELASTIC_AGENT", "state=FAILED attempts_left=3 line=400");
    (void)row_event(&lab, b, "ELASTIC_AGENT", "state=FAILED attempts_left=3 line=402");
    (void)row_event(&lab, b, "ELASTIC_AGENT", "state=FAILED attempts_left=2 line=600");
    (void)row_event(&lab, a, "ELASTIC_AGENT", "state=FAILED attempts_left=2 line=604");
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 3);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 402), 0);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 403), 1);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 605), 2);
    row_end(&lab);
}

/* Without its INFO lines a launcher shows a restart by nothing but its next first failure. */
static void a_second_first_failure_is_of_another_attempt(void **state)
{
    struct row_lab lab;
    uint32_t a, b;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    a = row_speaker(&lab, "host=node-a pid=10 lines=1-900");
    b = row_speaker(&lab, "host=node-b pid=20 lines=1-900");
    (void)row_event(&lab, a, "ELASTIC_FAIL", "local_rank=1 pid=11 line=400");
    (void)row_event(&lab, b, "ELASTIC_FAIL", "local_rank=1 pid=21 line=404");
    (void)row_event(&lab, b, "ELASTIC_FAIL", "local_rank=0 pid=26 line=600");
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 2);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 404), 0);
    assert_int_equal(hs_identity_attempt(&lab.id, 0, 405), 1);
    row_end(&lab);
}

static void new_pids_of_most_ranks_are_a_new_attempt(void **state)
{
    static const struct {
        uint32_t changed, attempts;
    } cases[] = { { 4, 2 }, { 2, 2 }, { 1, 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct row_lab lab;

        row_begin(&lab);
        row_source(&lab, "job.log");
        for (uint32_t rank = 0; rank < 4; rank++) {
            bool changed = rank < cases[i].changed;
            char words[96];

            (void)snprintf(words, sizeof(words), "host=node-a pid=%u lines=%u-%u", 10 + rank,
                           1 + rank, changed ? 300 + rank : 900u);
            row_comm(&lab, row_speaker(&lab, words), "ptr=1 rank=0 size=4");
            lab.part.communicators[lab.part.communicator_count - 1].rank = rank;
            if (!changed)
                continue;
            (void)snprintf(words, sizeof(words), "host=node-a pid=%u lines=%u-900", 50 + rank,
                           400 + rank);
            row_comm(&lab, row_speaker(&lab, words), "ptr=1 rank=0 size=4");
            lab.part.communicators[lab.part.communicator_count - 1].rank = rank;
        }
        row_finish(&lab);
        assert_int_equal(lab.id.attempt_count, cases[i].attempts);
        row_end(&lab);
    }
}

/* Two processes of one rank at a time are no restart: one is the other's child. */
static void a_child_of_a_rank_is_no_new_attempt(void **state)
{
    struct row_lab lab;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "rank0.log");
    (void)row_speaker(&lab, "host=node-a pid=11 tag=0 lines=1-900");
    (void)row_speaker(&lab, "host=node-a pid=12 tag=0 lines=400-500");
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 1);
    row_end(&lab);
}

/* Sources find their attempt by the communicators they share, by path and by time. */
static void sources_are_laid_beside_each_other(void **state)
{
    struct row_lab lab;
    uint32_t agent, second, third, nowhere;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a-job.log");
    agent = row_speaker(&lab, "host=node-a pid=10 lines=1-900");
    (void)row_event(&lab, agent, "ELASTIC_AGENT", "attempts_left=3 line=400 at=1000");
    (void)row_event(&lab, agent, "ELASTIC_START", "state=Starting line=410 at=1001");
    row_comm(&lab, row_speaker(&lab, "host=node-a pid=31 lines=500-600"),
             "ptr=1 rank=0 size=2 id=0x77 start=500");
    row_source(&lab, "b.log");
    second = row_speaker(&lab, "host=node-b pid=77 lines=1-50");
    row_comm(&lab, second, "ptr=1 rank=1 size=2 id=0x77 start=2");
    row_source(&lab, "c.log");
    third = row_speaker(&lab, "host=node-c pid=5 lines=1-50 from=1005 to=1009");
    row_source(&lab, "d.log");
    nowhere = row_speaker(&lab, "host=node-c pid=6 lines=1-50");
    row_source(&lab, "x/attempt_1/0/stderr.log");
    (void)row_speaker(&lab, "local=0");
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 2);
    assert_int_equal(hs_identity_attempt(&lab.id, 1, 5), 1);
    assert_int_equal(hs_identity_attempt(&lab.id, 2, 5), 1);
    assert_int_equal(hs_identity_attempt(&lab.id, 3, 5), HS_NO_ID);
    assert_int_equal(hs_identity_attempt(&lab.id, 4, 5), 1);
    EXPECT(lab, second, 5, "communicator 1 @1 node-b:77/-");
    EXPECT(lab, third, 5, "unknown - @1 node-c:5/-");
    EXPECT(lab, nowhere, 5, "unknown - @- node-c:6/-");
    row_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restart_cuts_a_log),
        cmocka_unit_test(agents_of_many_nodes_tell_of_one_restart),
        cmocka_unit_test(a_second_first_failure_is_of_another_attempt),
        cmocka_unit_test(new_pids_of_most_ranks_are_a_new_attempt),
        cmocka_unit_test(a_child_of_a_rank_is_no_new_attempt),
        cmocka_unit_test(sources_are_laid_beside_each_other),
    };

    return cmocka_run_group_tests_name("identity_attempts", tests, NULL, NULL);
}
