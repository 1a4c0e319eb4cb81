/* test_align.c - what is pending, how far each rank has come, and who waits for whom. */
#include "job_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static int begin(void **state)
{
    struct job_lab *lab = malloc(sizeof(*lab));

    if (!lab)
        return -1;
    lab_begin(lab);
    *state = lab;
    return 0;
}

static int end(void **state)
{
    lab_end(*state);
    free(*state);
    return 0;
}

static const struct hs_seat *seat(const struct job_lab *lab, uint32_t rank)
{
    return &lab->al.seats[hs_seat_of_rank(&lab->al, rank)];
}

static const struct hs_position *position(const struct job_lab *lab, uint32_t group, uint32_t index)
{
    return &lab->al.positions[lab->al.groups[group].positions[index]];
}

static void assert_idle(const struct job_lab *lab, uint32_t rank)
{
    assert_int_equal(seat(lab, rank)->pending_count, 0);
    assert_null(lab_head(lab, rank));
}

/* ---- what is pending ---- */

static void the_end_of_a_finished_batch_finishes_its_members(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>1/1 recv<1/1 end/1+");
    lab_dump(lab, 1, "send>0/1 recv<0/1 end/1+");
    lab_align(lab);
    assert_idle(lab, 0);
    assert_idle(lab, 1);
    assert_true(lab->al.any_finished);
}

static void an_unfinished_batch_is_one_unit(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>1/1 recv<1/1 end/1");
    lab_dump(lab, 1, "@0");
    lab_align(lab);
    assert_int_equal(seat(lab, 0)->pending_count, 1);
    assert_int_equal(lab_head(lab, 0)->kind, HS_UNIT_BATCH);
    assert_int_equal(lab_head(lab, 0)->exchange_count, 2);
    assert_string_equal(lab_holders(lab, 0), "1 absent");
}

static void a_batch_without_its_end_is_finished_when_its_group_goes_on(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>1/1 recv<1/1 all_reduce#1");
    lab_dump(lab, 1, "send>0/1 recv<0/1");
    lab_align(lab);
    assert_int_equal(lab_head(lab, 0)->kind, HS_UNIT_COLLECTIVE);
    assert_int_equal(lab_head(lab, 1)->kind, HS_UNIT_BATCH);
}

static void a_batch_without_its_end_is_finished_when_the_counters_say_so(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>1/1 recv<1/1 0=1,1,1");
    lab_dump(lab, 1, "send>0/1 recv<0/1 0=1,1,0");
    lab_align(lab);
    assert_idle(lab, 0);
    assert_int_equal(lab_head(lab, 1)->exchange_count, 2);
}

static void without_finished_calls_pairs_before_the_counter_are_open(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "send>1/1 send>2/2 send>1/3 send>1/4 0=4,4,3");
    lab_align(lab);
    /* 3 is finished, and so is 1 before it on the same pair; 2 went elsewhere; 4 is not finished */
    assert_int_equal(seat(lab, 0)->pending_count, 2);
    assert_true(lab->al.pending[seat(lab, 0)->first_pending].ambiguous);
    assert_int_equal(lab_head(lab, 0)->p2p_seq, 4);
}

static void with_finished_calls_the_record_decides_for_pairs(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "send>1/1+ send>2/2 send>1/3+ send>1/4 0=4,4,3");
    lab_align(lab);
    assert_int_equal(seat(lab, 0)->pending_count, 2);
    assert_int_equal(lab_head(lab, 0)->p2p_seq, 2);
}

static void gloo_finishes_by_retiring(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "gloo", "0 1");
    lab_dump(lab, 0, "all_reduce#1* all_reduce#2*");
    lab_dump(lab, 1, "all_reduce#1* all_reduce#2* all_reduce#3");
    lab_align(lab);
    assert_idle(lab, 0);
    assert_int_equal(lab_head(lab, 1)->seq, 3);
    assert_string_equal(lab_holders(lab, 1), "0 absent");
}

static void nccl_does_not_finish_by_retiring(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2*");
    lab_dump(lab, 1, "all_reduce#1+");
    lab_align(lab);
    assert_int_equal(lab_head(lab, 0)->seq, 2);
}

static void completed_after_its_timeout_is_not_finished(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2!");
    lab_dump(lab, 1, "all_reduce#1+");
    lab_align(lab);
    assert_int_equal(lab_head(lab, 0)->seq, 2);
    assert_int_equal(lab->al.groups[0].finished, 1);
    assert_string_equal(lab_holders(lab, 0), "1 absent");
}

static void the_last_entry_of_a_coalesced_call_has_its_state(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "_all_gather_base#1 _all_gather_base#1 ALLGATHER_coalesced#1+");
    lab_dump(lab, 1, "_all_gather_base#1 _all_gather_base#1 ALLGATHER_coalesced#1");
    lab_align(lab);
    assert_idle(lab, 0);
    assert_int_equal(seat(lab, 1)->pending_count, 1);
}

static void a_send_to_itself_is_nobodys_business(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>0/1 recv<0/2");
    lab_align(lab);
    assert_idle(lab, 0);
}

static void a_peer_beyond_the_group_is_an_orphan(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "send>7/1");
    lab_align(lab);
    assert_true(lab->al.groups[0].has_orphans);
    assert_idle(lab, 0);
}

/* ---- how far everybody is ---- */

static void a_counter_in_a_group_of_collectives_is_a_position(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "@40 all_reduce#9+ 0=12,11,10");
    lab_dump(lab, 1, "@40 all_reduce#9+");
    lab_align(lab);
    assert_int_equal(position(lab, 0, 0)->entered, 12);
    assert_int_equal(position(lab, 0, 0)->status_completed, 10);
    assert_int_equal(position(lab, 0, 1)->entered, 9);
}

static void a_counter_beside_pairs_is_no_position(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ send>1#1/1+ 0=40,40,40");
    lab_dump(lab, 1, "all_reduce#1+ recv<0#1/1+");
    lab_align(lab);
    assert_int_equal(position(lab, 0, 0)->entered, 1);
}

static void a_dump_behind_a_finished_call_is_from_earlier(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4");
    lab_dump(lab, 1, "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4");
    lab_dump(lab, 2, "all_reduce#1+");
    lab_align(lab);
    assert_true(seat(lab, 2)->older);
    assert_false(seat(lab, 0)->older);
    assert_int_equal(position(lab, 0, 2)->entered, 3); /* a bound */
    assert_string_equal(lab_holders(lab, 0), "2 unclear");
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].reach, 0);
    assert_int_equal(lab->waits.sinks[HS_SINK_UNCLEAR].reach, 2);
}

static void a_finished_broadcast_proves_its_root_alone(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "all_reduce#1+ broadcast#2+ all_reduce#3");
    lab_dump(lab, 1, "all_reduce#1+ broadcast#2+ all_reduce#3");
    lab_dump(lab, 2, "all_reduce#1+");
    lab_align(lab);
    assert_false(seat(lab, 2)->older);
    assert_string_equal(lab_holders(lab, 0), "2 absent");
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].count, 1);
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].who[0], 2);
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].reach, 2);
}

static void a_rank_that_never_saw_its_calls_finish_is_stale(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4");
    lab_dump(lab, 1, "all_reduce#1+ all_reduce#2 all_reduce#3");
    lab_dump(lab, 2, "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4");
    lab_align(lab);
    assert_int_equal(seat(lab, 1)->stale, 2);
    assert_null(lab_head(lab, 1));
    assert_int_equal(lab->waits.sinks[HS_SINK_STALE].reach, 2);
    assert_int_equal(lab->waits.sinks[HS_SINK_STALE].who[0], 1);
}

static void a_ring_that_lost_its_oldest_unfinished_call_has_no_head(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "@90 all_reduce#9 all_reduce#10 0=10,6,5");
    lab_dump(lab, 1, "@90 all_reduce#9 all_reduce#10 0=10,9,8");
    lab_align(lab);
    assert_true(seat(lab, 0)->lost);
    assert_null(lab_head(lab, 0));
    assert_false(seat(lab, 1)->lost);
    assert_int_equal(lab_head(lab, 1)->seq, 9);
    assert_string_equal(lab_holders(lab, 1), "0 unclear");
}

static void an_unknown_start_of_the_ring_is_no_absence(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_group(lab, "tp", "nccl", "0 1");
    lab_dump(lab, 0, "@70 all_reduce#5+ tp:all_reduce#3+ tp:all_reduce#4+");
    lab_dump(lab, 1, "@90 all_reduce#5+");
    lab_align(lab);
    assert_false(seat(lab, 1)->older); /* its calls in tp have left the ring */
}

/* ---- who waits for whom ---- */

static void ranks_wait_for_the_one_that_has_not_entered(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2 3");
    for (uint32_t rank = 1; rank < 4; rank++)
        lab_dump(lab, rank, "all_reduce#1+ all_reduce#2 all_reduce#3");
    lab_dump(lab, 0, "all_reduce#1+");
    lab_align(lab);
    assert_int_equal(lab->waits.node_count, 1);
    assert_int_equal(lab->waits.nodes[0].waiter_count, 3);
    assert_int_equal(lab_head(lab, 3)->seq, 2); /* the earliest; what is queued convicts nobody */
    assert_string_equal(lab_holders(lab, 1), "0 absent");
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].who[0], 0);
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].reach, 3);
}

static void a_member_that_is_blocked_elsewhere_holds_too(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_group(lab, "tp", "nccl", "1 2");
    lab_dump(lab, 0, "all_reduce#1");
    lab_dump(lab, 1, "tp:all_reduce#1 all_reduce#1");
    lab_dump(lab, 2, "@0");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "1 earlier, 2 absent");
    assert_string_equal(lab_holders(lab, 1), "2 absent");
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].count, 1);
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].reach, 2);
}

static void a_rank_without_a_dump_is_unseen(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2");
    lab_dump(lab, 1, "all_reduce#1+ all_reduce#2");
    lab_align(lab);
    assert_int_equal(lab->waits.unseen_count, 1);
    assert_string_equal(lab_holders(lab, 0), "2 unseen");
    assert_int_equal(lab->waits.sinks[HS_SINK_UNSEEN].who[0], 2);
}

static void a_dump_that_was_cut_short_is_unclear(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2");
    lab_dump(lab, 1, "all_reduce#1+ cut");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "1 unclear");
}

static void all_in_the_same_call_is_stuck(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ all_reduce#2");
    lab_dump(lab, 1, "all_reduce#1+ all_reduce#2");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "");
    assert_int_equal(lab->waits.sinks[HS_SINK_STUCK].reach, 2);
}

static void two_sends_that_wait_for_each_other_are_a_cycle(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ send>1#1/1 recv<1#1/2");
    lab_dump(lab, 1, "all_reduce#1+ send>0#1/1 recv<0#1/2");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "1 earlier");
    assert_int_equal(lab->waits.cycle_count, 1);
    assert_int_equal(lab->waits.cycles[0].count, 2);
    assert_int_equal(lab->waits.cycles[0].groups, 1);
    assert_false(lab->waits.cycles[0].by_absence);
}

static void a_send_that_meets_its_receive_holds_nobody(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ send>1#1/1");
    lab_dump(lab, 1, "all_reduce#1+ recv<0#1/1");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "");
    assert_int_equal(lab->waits.cycle_count, 0);
}

static void a_finished_receive_leaves_its_sender_late(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ send>1#1/1");
    lab_dump(lab, 1, "all_reduce#1+ recv<0#1/1+");
    lab_align(lab);
    assert_true(seat(lab, 0)->stale > 0);
    assert_null(lab_head(lab, 0));
}

static void several_peers_that_cannot_be_counted_are_all_in_doubt(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_dump(lab, 0, "@80 all_reduce#9+ recv<1#9/7 recv<2#9/7 end/7");
    lab_dump(lab, 1, "@80 all_reduce#9+");
    lab_dump(lab, 2, "@80 all_reduce#9+");
    lab_align(lab);
    assert_string_equal(lab_holders(lab, 0), "1 unclear, 2 unclear");
}

static void two_groups_in_opposite_order_are_a_cycle(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_group(lab, "tp", "nccl", "0 1");
    lab_group(lab, "dp", "nccl", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ tp:all_reduce#1 dp:all_reduce#1");
    lab_dump(lab, 1, "all_reduce#1+ dp:all_reduce#1 tp:all_reduce#1");
    lab_align(lab);
    assert_int_equal(lab->waits.cycle_count, 1);
    assert_int_equal(lab->waits.cycles[0].groups, 2);
    assert_int_equal(lab->waits.cycles[0].odd_count, 2); /* nobody tells which order is right */
    assert_int_equal(lab->waits.sinks[HS_SINK_CYCLE].reach, 2);
    assert_int_equal(lab->waits.sinks[HS_SINK_IDLE].reach, 0);
}

static void the_rank_that_alone_breaks_the_cycle_is_named(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1 2");
    lab_group(lab, "tp", "nccl", "0 1 2");
    lab_group(lab, "dp", "nccl", "0 1 2");
    lab_dump(lab, 0, "all_reduce#1+ tp:all_reduce#1 dp:all_reduce#1");
    lab_dump(lab, 1, "all_reduce#1+ dp:all_reduce#1 tp:all_reduce#1");
    lab_dump(lab, 2, "all_reduce#1+ tp:all_reduce#1 dp:all_reduce#1");
    lab_align(lab);
    assert_int_equal(lab->waits.cycle_count, 1);
    assert_true(lab->waits.cycles[0].singled_out);
    assert_int_equal(lab->waits.cycles[0].odd_count, 1);
    assert_int_equal(lab->waits.cycles[0].odd[0], 1);
}

/* ---- which groups are one ---- */

static void each_group_has_the_habits_of_its_backend(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "nccl", "0 1");
    lab_group(lab, "tp", "gloo", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ tp:all_reduce#1*");
    lab_dump(lab, 1, "all_reduce#1+ tp:all_reduce#1*");
    lab_align(lab);
    assert_int_equal(lab->al.group_count, 2);
    assert_false(lab->al.groups[0].marks_nothing);
    assert_true(lab->al.groups[1].marks_nothing);
}

static void one_counter_over_all_groups_is_counted_again(void **state)
{
    struct job_lab *lab = *state;

    lab_group(lab, "0", "ncclx", "0 1");
    lab_group(lab, "tp", "ncclx", "0 1");
    lab_dump(lab, 0, "all_reduce#1+ tp:all_reduce#2+ all_reduce#3+ tp:all_reduce#4+ all_reduce#5");
    lab_dump(lab, 1, "all_reduce#1+ tp:all_reduce#2+ all_reduce#3+ tp:all_reduce#4+");
    lab_align(lab);
    assert_true(lab->al.single_counter);
    assert_int_equal(lab_head(lab, 0)->seq, 3); /* the third of its group */
    assert_string_equal(lab_holders(lab, 0), "1 absent");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_end_of_a_finished_batch_finishes_its_members),
        TEST(an_unfinished_batch_is_one_unit),
        TEST(a_batch_without_its_end_is_finished_when_its_group_goes_on),
        TEST(a_batch_without_its_end_is_finished_when_the_counters_say_so),
        TEST(without_finished_calls_pairs_before_the_counter_are_open),
        TEST(with_finished_calls_the_record_decides_for_pairs),
        TEST(gloo_finishes_by_retiring),
        TEST(nccl_does_not_finish_by_retiring),
        TEST(completed_after_its_timeout_is_not_finished),
        TEST(the_last_entry_of_a_coalesced_call_has_its_state),
        TEST(a_send_to_itself_is_nobodys_business),
        TEST(a_peer_beyond_the_group_is_an_orphan),
        TEST(a_counter_in_a_group_of_collectives_is_a_position),
        TEST(a_counter_beside_pairs_is_no_position),
        TEST(a_dump_behind_a_finished_call_is_from_earlier),
        TEST(a_finished_broadcast_proves_its_root_alone),
        TEST(a_rank_that_never_saw_its_calls_finish_is_stale),
        TEST(a_ring_that_lost_its_oldest_unfinished_call_has_no_head),
        TEST(an_unknown_start_of_the_ring_is_no_absence),
        TEST(ranks_wait_for_the_one_that_has_not_entered),
        TEST(a_member_that_is_blocked_elsewhere_holds_too),
        TEST(a_rank_without_a_dump_is_unseen),
        TEST(a_dump_that_was_cut_short_is_unclear),
        TEST(all_in_the_same_call_is_stuck),
        TEST(two_sends_that_wait_for_each_other_are_a_cycle),
        TEST(a_send_that_meets_its_receive_holds_nobody),
        TEST(a_finished_receive_leaves_its_sender_late),
        TEST(several_peers_that_cannot_be_counted_are_all_in_doubt),
        TEST(two_groups_in_opposite_order_are_a_cycle),
        TEST(the_rank_that_alone_breaks_the_cycle_is_named),
        TEST(each_group_has_the_habits_of_its_backend),
        TEST(one_counter_over_all_groups_is_counted_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
