/* test_identity.c - who spoke: speakers become processes, with the rank that is surely theirs. */
#include "row_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

#define EXPECT(lab, speaker, line, who) assert_string_equal(row_who(&(lab), speaker, line), who)

static bool has_contradiction(const struct row_lab *lab, const char *what)
{
    for (uint32_t i = 0; i < lab->id.contradiction_count; i++) {
        if (strcmp(lab->id.contradictions[i].what, what) == 0)
            return true;
    }
    return false;
}

/* ---- one process, many ways to speak ---- */

static void a_tag_with_a_pid_gives_the_rank_to_the_pid(void **state)
{
    struct row_lab lab;
    uint32_t tagged, untagged, tag_only, plain, other_host;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    tagged = row_speaker(&lab, "host=node-a pid=11 tag=3 dev=3");
    untagged = row_speaker(&lab, "host=node-a pid=11 dev=0");
    tag_only = row_speaker(&lab, "tag=3");
    plain = row_speaker(&lab, "");
    other_host = row_speaker(&lab, "host=node-b pid=11");
    row_finish(&lab);
    EXPECT(lab, tagged, 1, "rank-tag 3 @0 node-a:11/-");
    EXPECT(lab, untagged, 1, "rank-tag 3 @0 node-a:11/-");
    EXPECT(lab, tag_only, 1, "rank-tag 3 @0 node-a:11/-");
    EXPECT(lab, plain, 1, "nobody");
    EXPECT(lab, other_host, 1, "unknown - @0 node-b:11/-");
    assert_int_equal(lab.id.contradiction_count, 0);
    row_end(&lab);
}

static void one_pid_with_two_ranks_has_none(void **state)
{
    struct row_lab lab;
    uint32_t three, five, pid;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    three = row_speaker(&lab, "host=node-a pid=11 tag=3");
    five = row_speaker(&lab, "host=node-a pid=11 tag=5");
    pid = row_speaker(&lab, "host=node-a pid=11");
    row_finish(&lab);
    EXPECT(lab, pid, 1, "unknown - @0 node-a:11/-");
    EXPECT(lab, three, 1, "rank-tag 3 @0 node-a:-/-"); /* the line itself says so */
    EXPECT(lab, five, 1, "rank-tag 5 @0 node-a:-/-");
    assert_true(has_contradiction(&lab, "two-ranks"));
    row_end(&lab);
}

static void the_communicator_of_all_gives_ranks(void **state)
{
    struct row_lab lab;
    uint32_t speakers[4];

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    for (uint32_t p = 0; p < 4; p++) {
        char words[96];

        (void)snprintf(words, sizeof(words), "host=node-%c pid=%u", p < 2 ? 'a' : 'b', 11 + p % 2);
        speakers[p] = row_speaker(&lab, words);
        (void)snprintf(words, sizeof(words), "ptr=1 rank=%u size=4 complete=5", p);
        row_comm(&lab, speakers[p], words);
        (void)snprintf(words, sizeof(words), "ptr=2 rank=%u size=2 complete=9 id=%u", p / 2,
                       70 + p % 2);
        row_comm(&lab, speakers[p], words);
    }
    row_finish(&lab);
    EXPECT(lab, speakers[0], 1, "communicator 0 @0 node-a:11/-");
    EXPECT(lab, speakers[3], 1, "communicator 3 @0 node-b:12/-");
    row_end(&lab);
}

/* A communicator that has no room for all processes, or for a rank that is known, is not of all. */
static void a_part_is_not_taken_for_the_whole(void **state)
{
    struct row_lab lab;
    uint32_t a, b, c;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    a = row_speaker(&lab, "host=node-a pid=11");
    b = row_speaker(&lab, "host=node-a pid=12");
    (void)row_speaker(&lab, "tag=9");
    row_comm(&lab, a, "ptr=1 rank=0 size=2 id=7");
    row_comm(&lab, b, "ptr=1 rank=1 size=2 id=7");
    row_finish(&lab);
    EXPECT(lab, a, 1, "unknown - @0 node-a:11/-");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log");
    a = row_speaker(&lab, "host=node-a pid=11");
    b = row_speaker(&lab, "host=node-a pid=12");
    c = row_speaker(&lab, "host=node-a pid=13");
    row_comm(&lab, a, "ptr=1 rank=0 size=2 id=7");
    row_comm(&lab, b, "ptr=1 rank=1 size=2 id=7");
    row_comm(&lab, c, "ptr=1 rank=0 size=2 id=8");
    row_finish(&lab);
    EXPECT(lab, b, 1, "unknown - @0 node-a:12/-");
    row_end(&lab);
}

/* ---- what launchers say ---- */

static void tables_and_local_ranks_name_the_rest_of_a_node(void **state)
{
    struct row_lab lab;
    uint32_t agent, failed, next, far, event;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    agent = row_speaker(&lab, "host=node-b pid=10");
    failed = row_speaker(&lab, "host=node-b pid=14");
    next = row_speaker(&lab, "host=node-b local=2");
    far = row_speaker(&lab, "host=node-c local=2");
    event = row_event(&lab, agent, "TBL_ROW",
                      "host=node-b.example rank=9 local_rank=1 pid=14 line=700");
    row_finish(&lab);
    EXPECT(lab, failed, 1, "launcher-table 9 @0 node-b:14/1");
    EXPECT(lab, next, 1, "local-rank 10 @0 node-b:-/2");
    EXPECT(lab, far, 1, "unknown - @0 node-c:-/2");
    EXPECT(lab, agent, 1, "unknown - @0 node-b:10/-");
    assert_string_equal(row_process(&lab, lab.id.process_of_event[event]),
                        "unknown - @0 node-b:10/-");
    row_end(&lab);
}

static void the_agent_ties_a_local_rank_to_its_pid(void **state)
{
    struct row_lab lab;
    uint32_t agent, tail, pid;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    agent = row_speaker(&lab, "host=node-b pid=10");
    pid = row_speaker(&lab, "host=node-b pid=14 tag=9");
    tail = row_speaker(&lab, "host=node-b local=1");
    (void)row_event(&lab, agent, "ELASTIC_FAIL", "exitcode=-9 local_rank=1 pid=14 line=700");
    row_finish(&lab);
    EXPECT(lab, tail, 1, "rank-tag 9 @0 node-b:14/1");
    EXPECT(lab, pid, 1, "rank-tag 9 @0 node-b:14/1");
    row_end(&lab);
}

/* Where a machine does not know its name, tables say localhost: of which, the agent's lines say. */
static void localhost_is_no_host(void **state)
{
    struct row_lab lab;
    uint32_t agent, pid, plain;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    agent = row_speaker(&lab, "host=node-b pid=10");
    pid = row_speaker(&lab, "host=node-b pid=14");
    (void)row_event(&lab, agent, "TBL_ROW", "host=localhost rank=9 local_rank=1 pid=14 line=700");
    row_source(&lab, "other.log");
    plain = row_speaker(&lab, "");
    (void)row_event(&lab, plain, "TBL_ROW", "host=localhost rank=3 local_rank=1 pid=77 line=700");
    row_finish(&lab);
    EXPECT(lab, pid, 1, "launcher-table 9 @0 node-b:14/1");
    assert_int_equal(lab.id.host_count, 1);
    assert_string_equal(row_process(&lab, hs_identity_rank(&lab.id, 0, 3)),
                        "launcher-table 3 @0 -:77/1");
    row_end(&lab);
}

/* srun -l with a torchrun per task: a task is a node, and tells its local ranks from others. */
static void a_task_may_be_a_node_with_local_ranks(void **state)
{
    struct row_lab lab;
    uint32_t plain, agent;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    agent = row_speaker(&lab, "task=1");
    plain = row_speaker(&lab, "task=1 local=0");
    (void)row_speaker(&lab, "task=0 local=0 tag=0");
    (void)row_speaker(&lab, "task=1 local=0 tag=2");
    (void)row_speaker(&lab, "task=1 local=1 tag=3");
    row_finish(&lab);
    EXPECT(lab, plain, 1, "rank-tag 2 @0 -:-/0");
    EXPECT(lab, agent, 1, "unknown - @0 -:-/-");
    row_end(&lab);
}

/* [default0]: stands on every node; without host it is a rank only where there is one node. */
static void local_ranks_without_host_need_a_single_node(void **state)
{
    struct row_lab lab;
    uint32_t zero, one;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    zero = row_speaker(&lab, "local=0");
    one = row_speaker(&lab, "local=1");
    row_comm(&lab, row_speaker(&lab, "host=node-a pid=11"), "ptr=1 rank=0 size=2 id=7");
    row_finish(&lab);
    EXPECT(lab, zero, 1, "communicator 0 @0 node-a:11/0");
    EXPECT(lab, one, 1, "local-rank 1 @0 -:-/1");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log"); /* who knows how many more nodes there are */
    one = row_speaker(&lab, "local=1");
    row_finish(&lab);
    EXPECT(lab, one, 1, "unknown - @0 -:-/1");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log");
    zero = row_speaker(&lab, "local=0");
    one = row_speaker(&lab, "local=1");
    (void)row_speaker(&lab, "local=1 tag=1");
    (void)row_speaker(&lab, "local=1 tag=3");
    row_finish(&lab);
    EXPECT(lab, zero, 1, "unknown - @0 -:-/0");
    EXPECT(lab, one, 1, "unknown - @0 -:-/1");
    row_end(&lab);
}

static void a_task_is_a_rank_unless_it_differs_once(void **state)
{
    struct row_lab lab;
    uint32_t zero, one;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    zero = row_speaker(&lab, "task=0 host=node-a pid=11");
    one = row_speaker(&lab, "task=1");
    (void)row_speaker(&lab, "task=1 tag=1");
    row_finish(&lab);
    EXPECT(lab, zero, 1, "task 0 @0 node-a:11/-");
    EXPECT(lab, one, 1, "rank-tag 1 @0 -:-/-");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log");
    zero = row_speaker(&lab, "task=0 host=node-a pid=11");
    (void)row_speaker(&lab, "task=1 tag=8");
    row_finish(&lab);
    EXPECT(lab, zero, 1, "unknown - @0 node-a:11/-");
    assert_true(has_contradiction(&lab, "distrusted"));
    row_end(&lab);

    /* one task for each node: many processes speak as task 0 */
    row_begin(&lab);
    row_source(&lab, "job.log");
    zero = row_speaker(&lab, "task=0 host=node-a pid=11");
    (void)row_speaker(&lab, "task=0 host=node-a pid=12");
    (void)row_speaker(&lab, "task=1 host=node-b pid=11");
    (void)row_speaker(&lab, "task=1 host=node-b pid=12");
    row_finish(&lab);
    EXPECT(lab, zero, 1, "unknown - @0 node-a:11/-");
    row_end(&lab);
}

static void a_launchers_rank_loses_to_a_tag(void **state)
{
    struct row_lab lab;
    uint32_t pid, node;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    pid = row_speaker(&lab, "launcher=1 host=node-b pid=11");
    row_finish(&lab);
    EXPECT(lab, pid, 1, "launcher 1 @0 node-b:11/-");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log");
    pid = row_speaker(&lab, "launcher=1 host=node-b pid=11");
    (void)row_speaker(&lab, "tag=8 host=node-b pid=11");
    node = row_speaker(&lab, "launcher=0 host=node-a pid=11");
    row_finish(&lab);
    EXPECT(lab, pid, 1, "rank-tag 8 @0 node-b:11/-");
    EXPECT(lab, node, 1, "unknown - @0 node-a:11/-");
    row_end(&lab);
}

/* ---- files ---- */

static void a_file_of_one_rank_is_all_of_that_rank(void **state)
{
    struct row_lab lab;
    uint32_t plain, pid, elsewhere;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "nccl.log");
    elsewhere = row_speaker(&lab, "host=node-a pid=11");
    row_source(&lab, "rank3.log");
    plain = row_speaker(&lab, "file=3");
    pid = row_speaker(&lab, "file=3 host=node-a pid=11");
    row_finish(&lab);
    EXPECT(lab, plain, 1, "file-name 3 @0 node-a:11/-");
    EXPECT(lab, pid, 1, "file-name 3 @0 node-a:11/-");
    EXPECT(lab, elsewhere, 1, "file-name 3 @0 node-a:11/-");
    row_end(&lab);
}

/* rank0.log of node-b is of local rank 0: the tags in it say so, and so for all others. */
static void names_of_files_may_be_local_ranks(void **state)
{
    struct row_lab lab;
    uint32_t plain, other;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "node-b/rank0.log");
    plain = row_speaker(&lab, "file=0 host=node-b");
    (void)row_speaker(&lab, "tag=8 host=node-b");
    row_source(&lab, "node-b/rank1.log");
    other = row_speaker(&lab, "file=1 host=node-b");
    row_finish(&lab);
    EXPECT(lab, plain, 1, "rank-tag 8 @0 node-b:-/-");
    EXPECT(lab, other, 1, "unknown - @0 node-b:-/-");
    row_end(&lab);
}

/* Files that end in the only rank that they show; a log of a node shows one tag by chance. */
static void files_are_of_one_rank_if_their_names_say_so(void **state)
{
    struct row_lab lab;
    uint32_t plain, mixed;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "worker-4.log");
    plain = row_speaker(&lab, "");
    (void)row_speaker(&lab, "tag=4");
    row_source(&lab, "worker-5.log");
    (void)row_speaker(&lab, "tag=5");
    row_finish(&lab);
    EXPECT(lab, plain, 1, "rank-tag 4 @0 -:-/-");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "node-0.log");
    mixed = row_speaker(&lab, "");
    (void)row_speaker(&lab, "tag=3");
    row_source(&lab, "node-1.log");
    (void)row_speaker(&lab, "tag=12");
    row_finish(&lab);
    EXPECT(lab, mixed, 1, "nobody");
    row_end(&lab);
}

/* ---- [Rank N] ---- */

static void the_rank_in_a_group_is_global_in_the_default_group_only(void **state)
{
    struct row_lab lab;
    uint32_t speaker, in_default, in_other, tagged, seven;
    uint32_t pg;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    speaker = row_speaker(&lab, "");
    tagged = row_speaker(&lab, "tag=7");
    in_default = row_event(&lab, speaker, "WD_STATUS", "pg=0 pg_desc=default_pg pg_rank=3 line=4");
    in_other = row_event(&lab, speaker, "WD_STATUS", "pg=9 pg_rank=1 line=5");
    seven = row_event(&lab, tagged, "WD_STATUS", "pg=9 pg_rank=2 line=6");
    (void)row_event(&lab, speaker, "WD_TIMEOUT", "pg_rank=1 line=7");
    row_finish(&lab);
    assert_string_equal(row_process(&lab, lab.id.process_of_event[in_default]),
                        "default-group 3 @0 -:-/-");
    assert_int_equal(lab.id.process_of_event[in_other], HS_NO_ID);
    assert_int_equal(lab.id.process_of_event[in_other + 2], HS_NO_ID);
    pg = hs_intern_find(&lab.job.strings, HS_STR("9"));
    assert_string_equal(row_process(&lab, hs_identity_in_group(&lab.id, 0, pg, 2)),
                        "rank-tag 7 @0 -:-/-");
    assert_int_equal(hs_identity_in_group(&lab.id, 0, pg, 1), HS_NO_ID);
    assert_int_equal(lab.id.process_of_event[seven], hs_identity_rank(&lab.id, 0, 7));
    row_end(&lab);
}

static void a_bare_rank_is_a_last_resort(void **state)
{
    struct row_lab lab;
    uint32_t speaker, event;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    speaker = row_speaker(&lab, "");
    event = row_event(&lab, speaker, "WD_TIMEOUT", "pg_rank=1 line=7");
    row_finish(&lab);
    assert_string_equal(row_process(&lab, lab.id.process_of_event[event]), "bare-rank 1 @0 -:-/-");
    row_end(&lab);

    row_begin(&lab);
    row_source(&lab, "job.log"); /* once it differs from a tag it is of another group */
    speaker = row_speaker(&lab, "");
    event = row_event(&lab, speaker, "WD_TIMEOUT", "pg_rank=1 line=7");
    (void)row_event(&lab, row_speaker(&lab, "tag=115"), "WD_TIMEOUT", "pg_rank=14 line=8");
    row_finish(&lab);
    assert_string_equal(row_process(&lab, lab.id.process_of_event[event]), "unknown - @0 -:-/-");
    row_end(&lab);
}

/* One actor prints what its ranks print: the same call with several ranks. */
static void a_mouthpiece_is_not_who_speaks(void **state)
{
    struct row_lab lab;
    uint32_t actor, one, six, other;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    actor = row_speaker(&lab, "pid=30063");
    one = row_event(&lab, actor, "WD_TIMEOUT", "pg_rank=1 seq=138 op=ALLREDUCE line=1");
    six = row_event(&lab, actor, "WD_TIMEOUT", "pg_rank=6 seq=138 op=ALLREDUCE line=2");
    other = row_event(&lab, actor, "SOME_FAILED", "line=3");
    row_finish(&lab);
    assert_string_equal(row_process(&lab, lab.id.process_of_event[one]), "bare-rank 1 @0 -:-/-");
    assert_string_equal(row_process(&lab, lab.id.process_of_event[six]), "bare-rank 6 @0 -:-/-");
    assert_string_equal(row_process(&lab, lab.id.process_of_event[other]),
                        "unknown - @0 -:30063/-");
    row_end(&lab);
}

/* ---- hosts ---- */

static void a_host_has_several_names(void **state)
{
    struct row_lab lab;
    uint32_t nccl, ray, x, y;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "job.log");
    nccl = row_speaker(&lab, "host=node-a pid=11 tag=3");
    ray = row_speaker(&lab, "host=10.0.0.7 pid=11");
    x = row_speaker(&lab, "host=login.a.example pid=1");
    y = row_speaker(&lab, "host=login.b.example pid=1");
    row_fact(&lab, nccl, "bootstrap_if.addr", "10.0.0.7<0>");
    row_finish(&lab);
    EXPECT(lab, ray, 1, "rank-tag 3 @0 node-a:11/-");
    EXPECT(lab, x, 1, "unknown - @0 login.a.example:1/-");
    EXPECT(lab, y, 1, "unknown - @0 login.b.example:1/-");
    assert_int_equal(hs_identity_pid(&lab.id, 0, lab.id.processes[0].host, 11), 0);
    row_end(&lab);
}

static void nothing_said_is_nobody(void **state)
{
    struct row_lab lab;

    (void)state;
    row_begin(&lab);
    row_finish(&lab);
    assert_int_equal(lab.id.attempt_count, 1);
    assert_int_equal(lab.id.process_count, 0);
    assert_int_equal(hs_identity_rank(&lab.id, 0, 0), HS_NO_ID);
    row_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_with_a_pid_gives_the_rank_to_the_pid),
        cmocka_unit_test(one_pid_with_two_ranks_has_none),
        cmocka_unit_test(the_communicator_of_all_gives_ranks),
        cmocka_unit_test(a_part_is_not_taken_for_the_whole),
        cmocka_unit_test(tables_and_local_ranks_name_the_rest_of_a_node),
        cmocka_unit_test(the_agent_ties_a_local_rank_to_its_pid),
        cmocka_unit_test(localhost_is_no_host),
        cmocka_unit_test(a_task_may_be_a_node_with_local_ranks),
        cmocka_unit_test(local_ranks_without_host_need_a_single_node),
        cmocka_unit_test(a_task_is_a_rank_unless_it_differs_once),
        cmocka_unit_test(a_launchers_rank_loses_to_a_tag),
        cmocka_unit_test(a_file_of_one_rank_is_all_of_that_rank),
        cmocka_unit_test(names_of_files_may_be_local_ranks),
        cmocka_unit_test(files_are_of_one_rank_if_their_names_say_so),
        cmocka_unit_test(the_rank_in_a_group_is_global_in_the_default_group_only),
        cmocka_unit_test(a_bare_rank_is_a_last_resort),
        cmocka_unit_test(a_mouthpiece_is_not_who_speaks),
        cmocka_unit_test(a_host_has_several_names),
        cmocka_unit_test(nothing_said_is_nobody),
    };

    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
