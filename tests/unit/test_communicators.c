/* test_communicators.c - ends of communicators, and which belong together. */
#include "row_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

static uint32_t process_on(struct row_lab *lab, const char *host, uint32_t pid)
{
    char words[64];

    (void)snprintf(words, sizeof(words), "host=%s pid=%u", host, pid);
    return row_speaker(lab, words);
}

static uint32_t comm_of(const struct row_lab *lab, uint32_t row)
{
    return lab->id.comms.comm_of_row[row];
}

static const struct hs_comm *get(const struct row_lab *lab, uint32_t row)
{
    assert_int_not_equal(comm_of(lab, row), HS_NO_ID);
    return &lab->id.comms.list[comm_of(lab, row)];
}

static uint32_t state_of(const struct row_lab *lab, uint32_t row, uint32_t rank)
{
    uint32_t at = hs_comm_of_rank(&lab->id.comms, comm_of(lab, row), rank);

    assert_int_not_equal(at, HS_NO_ID);
    return lab->id.comms.members[at].state;
}

static void ends_with_one_id_are_one_communicator(void **state)
{
    struct row_lab lab;
    uint32_t a, b, c, other;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a.log");
    a = row_comm(&lab, process_on(&lab, "node-a", 11),
                 "ptr=0x10 rank=0 size=4 id=0x77 start=1 complete=9");
    b = row_comm(&lab, process_on(&lab, "node-a", 12), "ptr=0x10 rank=1 size=4 id=0x77 start=2");
    c = row_comm(&lab, process_on(&lab, "node-b", 11),
                 "ptr=0x20 rank=2 size=4 id=0x77 start=2 complete=9 end=30");
    other = row_comm(&lab, process_on(&lab, "node-b", 12),
                     "ptr=0x20 rank=0 size=4 id=0x78 start=2 complete=9");
    row_finish(&lab);
    assert_int_equal(comm_of(&lab, a), comm_of(&lab, b));
    assert_int_equal(comm_of(&lab, a), comm_of(&lab, c));
    assert_int_not_equal(comm_of(&lab, a), comm_of(&lab, other));
    assert_int_equal(get(&lab, a)->joined, HS_COMM_ID);
    assert_int_equal(get(&lab, a)->size, 4);
    assert_int_equal(get(&lab, a)->seen, 3);
    assert_int_equal(state_of(&lab, a, 0), HS_COMM_COMPLETE);
    assert_int_equal(state_of(&lab, a, 1), HS_COMM_STARTED);
    assert_int_equal(state_of(&lab, a, 2), HS_COMM_ENDED);
    assert_int_equal(hs_comm_of_rank(&lab.id.comms, comm_of(&lab, a), 3), HS_NO_ID);
    assert_int_equal(hs_comms_find(&lab.id.comms, 0x77), comm_of(&lab, a));
    assert_int_equal(hs_comms_find(&lab.id.comms, 0x79), HS_NO_ID);
    row_end(&lab);
}

/* The same pointer again is another communicator; an end told in two files is one. */
static void pointers_are_used_again_and_files_tell_twice(void **state)
{
    struct row_lab lab;
    uint32_t first, second, third, copy;

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a.log");
    first = row_speaker(&lab, "host=node-a pid=11");
    second = row_comm(&lab, first, "ptr=0x10 rank=0 size=1 start=1 complete=9 end=20");
    third = row_comm(&lab, first, "ptr=0x10 epoch=1 rank=0 size=1 start=30");
    row_source(&lab, "b.log");
    copy = row_comm(&lab, row_speaker(&lab, "host=node-a.example pid=11"),
                    "ptr=0x10 epoch=1 rank=0 size=1 start=3 complete=4");
    row_finish(&lab);
    assert_int_not_equal(comm_of(&lab, second), comm_of(&lab, third));
    assert_int_equal(comm_of(&lab, third), comm_of(&lab, copy));
    assert_int_equal(get(&lab, third)->member_count, 1);
    assert_int_equal(state_of(&lab, third, 0), HS_COMM_COMPLETE);
    row_end(&lab);
}

static void children_have_the_ids_that_nccl_gives_them(void **state)
{
    (void)state;
    assert_true(hs_comm_split_id(0xae94423cfbb2ef4a, 1, 0) == 0xd72bdc9b8a73b622);
    assert_true(hs_comm_split_id(0xae94423cfbb2ef4a, 1, 1) == 0x6e7d5dc17e3d7e27);
    assert_true(hs_comm_split_id(0xae94423cfbb2ef4a, 2, 0) == 0x44c1c446922329bb);
}

/* Four processes split their communicator in two, twice; the second time nothing is counted. */
static void splits_join_by_parent_count_and_color(void **state)
{
    static const char *const printed[] = { "split=1", "" };
    struct row_lab lab;
    uint32_t speakers[4], rows[4][2], grandchild;
    char words[160];

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a.log");
    for (uint32_t p = 0; p < 4; p++) {
        speakers[p] = process_on(&lab, p < 2 ? "node-a" : "node-b", 11 + p % 2);
        (void)snprintf(words, sizeof(words),
                       "ptr=0x10 rank=%u size=4 id=0xae94423cfbb2ef4a start=%u", p, p + 1);
        row_comm(&lab, speakers[p], words);
    }
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t p = 0; p < 4; p++) {
            (void)snprintf(words, sizeof(words),
                           "ptr=%u rank=%u size=2 parent=0x10 color=%u %s start=%u", 32 + k, p % 2,
                           p / 2, printed[k], 20 + 10 * k + p);
            rows[p][k] = row_comm(&lab, speakers[p], words);
        }
    }
    grandchild = row_comm(&lab, speakers[3], "ptr=99 rank=0 size=1 parent=33 color=5 start=50");
    row_finish(&lab);
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(comm_of(&lab, rows[0][k]), comm_of(&lab, rows[1][k]));
        assert_int_equal(comm_of(&lab, rows[2][k]), comm_of(&lab, rows[3][k]));
        assert_int_not_equal(comm_of(&lab, rows[0][k]), comm_of(&lab, rows[2][k]));
        assert_int_equal(get(&lab, rows[0][k])->joined, HS_COMM_SPLIT);
    }
    assert_int_not_equal(comm_of(&lab, rows[0][0]), comm_of(&lab, rows[0][1]));
    assert_true(get(&lab, rows[0][0])->comm_id == 0xd72bdc9b8a73b622);
    assert_true(get(&lab, rows[2][0])->comm_id == 0x6e7d5dc17e3d7e27);
    assert_true(get(&lab, rows[0][1])->comm_id == 0x44c1c446922329bb);
    assert_true(get(&lab, rows[0][1])->computed);
    assert_int_equal(get(&lab, grandchild)->parent, comm_of(&lab, rows[3][1]));
    row_end(&lab);
}

/* NCCL 2.18 to 2.22 give two splits with one color the same id. */
static void one_id_twice_in_a_process_is_two_communicators(void **state)
{
    struct row_lab lab;
    uint32_t a[2], b[2];

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a.log");
    for (uint32_t p = 0; p < 2; p++) {
        uint32_t speaker = process_on(&lab, "node-a", 11 + p);

        a[p] = row_comm(&lab, speaker, p ? "ptr=1 rank=1 size=2 id=7" : "ptr=1 rank=0 size=2 id=7");
        b[p] = row_comm(&lab, speaker, p ? "ptr=2 rank=1 size=2 id=7" : "ptr=2 rank=0 size=2 id=7");
    }
    row_finish(&lab);
    assert_int_equal(comm_of(&lab, a[0]), comm_of(&lab, a[1]));
    assert_int_equal(comm_of(&lab, b[0]), comm_of(&lab, b[1]));
    assert_int_not_equal(comm_of(&lab, a[0]), comm_of(&lab, b[0]));
    row_end(&lab);
}

/* Before ids were printed: a world, and then communicators of `size` at a distance of ranks. */
static void lay_out(struct row_lab *lab, uint32_t world, uint32_t size, uint32_t stride,
                    uint32_t *rows)
{
    row_source(lab, "a.log");
    for (uint32_t p = 0; p < world; p++) {
        uint32_t speaker = process_on(lab, p < world / 2 ? "node-a" : "node-b", 100 + p);
        char words[96];

        (void)snprintf(words, sizeof(words), "ptr=1 rank=%u size=%u complete=%u", p, world, p + 1);
        row_comm(lab, speaker, words);
        (void)snprintf(words, sizeof(words), "ptr=2 rank=%u size=%u complete=%u", p / stride % size,
                       size, 100 + p);
        rows[p] = row_comm(lab, speaker, words);
    }
    row_finish(lab);
}

static void without_ids_the_layout_decides_if_only_one_fits(void **state)
{
    struct row_lab lab;
    uint32_t rows[16];

    (void)state;
    for (uint32_t stride = 1; stride <= 4; stride *= 2) {
        row_begin(&lab);
        lay_out(&lab, 16, 4, stride, rows);
        assert_int_equal(lab.id.comms.count, 5);
        assert_int_equal(lab.id.comms.list[0].joined, HS_COMM_ORDER);
        assert_true(lab.id.comms.list[0].world);
        for (uint32_t p = 0; p < 16; p++) {
            uint32_t first = p - p / stride % 4 * stride;

            assert_int_equal(get(&lab, rows[p])->joined, HS_COMM_STRIDE);
            assert_int_equal(comm_of(&lab, rows[p]), comm_of(&lab, rows[first]));
            assert_int_equal(get(&lab, rows[p])->member_count, 4);
            assert_false(get(&lab, rows[p])->world);
        }
        row_end(&lab);
    }
}

/* One rank of a pair is missing: whose partner is the lonely one? */
static void what_is_ambiguous_stays_alone(void **state)
{
    struct row_lab lab;
    uint32_t rows[4];

    (void)state;
    row_begin(&lab);
    row_source(&lab, "a.log");
    for (uint32_t p = 0; p < 3; p++) {
        uint32_t speaker = process_on(&lab, "node-a", 100 + p);
        char words[96];

        (void)snprintf(words, sizeof(words), "ptr=1 rank=%u size=4 complete=%u", p, p + 1);
        row_comm(&lab, speaker, words);
        (void)snprintf(words, sizeof(words), "ptr=2 rank=%u size=2 complete=%u", p % 2, 100 + p);
        rows[p] = row_comm(&lab, speaker, words);
    }
    row_finish(&lab);
    assert_int_equal(lab.id.comms.list[0].joined, HS_COMM_ORDER);
    assert_int_equal(lab.id.comms.list[0].seen, 3);
    for (uint32_t p = 0; p < 3; p++)
        assert_int_equal(get(&lab, rows[p])->joined, HS_COMM_ALONE);
    row_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_one_id_are_one_communicator),
        cmocka_unit_test(pointers_are_used_again_and_files_tell_twice),
        cmocka_unit_test(children_have_the_ids_that_nccl_gives_them),
        cmocka_unit_test(splits_join_by_parent_count_and_color),
        cmocka_unit_test(one_id_twice_in_a_process_is_two_communicators),
        cmocka_unit_test(without_ids_the_layout_decides_if_only_one_fits),
        cmocka_unit_test(what_is_ambiguous_stays_alone),
    };

    return cmocka_run_group_tests_name("communicators", tests, NULL, NULL);
}
