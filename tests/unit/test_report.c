/*
 * test_report.c - what the page shows of small jobs: cells of the matrices, classes, waits.
 *
 * A matrix is "GROUP KIND: RANK CELLS, ...", a cell the letter of its state; kinds are c for
 * collectives, p for pairs, o for overall.
 */
#include "job_lab.h"

#include "analyzer/analyze.h"
#include "schema/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static const char letters[] = ".CsqmXDHp?";

struct shape {
    const char *what;
    const char *dumps[4];
    const char *groups; /* of the second: "tp 0 1"; NULL */
    const char *matrices, *classes, *edges;
};

static const struct shape shapes[] = {
    { "a healthy job is complete",
      { "all_reduce#1+ all_reduce#2+", "all_reduce#1+ all_reduce#2+" },
      NULL,
      "overall o: 0 CC, 1 CC; default_pg c: 0 CC, 1 CC",
      "0-1 done",
      "" },
    { "a call that one rank never makes is missing there and hangs on the others",
      { "all_reduce#1+", "all_reduce#1+ all_reduce#2 wait=900", "all_reduce#1+ all_reduce#2" },
      NULL,
      "overall o: 0 C., 1 CH, 2 CH; default_pg c: 0 CX, 1 CH, 2 CH",
      "0 culprit; 1-2 direct",
      "1>0 absent ALLREDUCE #2 of default_pg" },
    { "what is queued behind is scheduled; fewer calls queued is no fault",
      { "all_reduce#1+", "all_reduce#1+ all_reduce#2 all_reduce#3 wait=900",
        "all_reduce#1+ all_reduce#2~" },
      NULL,
      "overall o: 0 C.., 1 CHq, 2 CH.; default_pg c: 0 CXX, 1 CHq, 2 CH.",
      "0 culprit; 1 direct; 2 direct",
      "1>0 absent ALLREDUCE #2 of default_pg; 2>0 absent ALLREDUCE #2 of default_pg" },
    { "another call under the number is a mismatch, and the others hang",
      { "all_reduce#1+ broadcast#2", "all_reduce#1+ all_reduce#2 wait=900",
        "all_reduce#1+ all_reduce#2" },
      NULL,
      "overall o: 0 CD, 1 CH, 2 CH; default_pg c: 0 CD, 1 CH, 2 CH",
      "0 culprit; 1-2 direct",
      "1>0 mismatch ALLREDUCE #2 of default_pg" },
    { "a rank without a dump passed what completion proves; the rest is unknown",
      { "all_reduce#1+ all_reduce#2 wait=900", NULL, "all_reduce#1+ all_reduce#2" },
      NULL,
      "overall o: 0 CH, 2 CH; default_pg c: 0 CH, 1 p?, 2 CH",
      "0,2 direct; 1 unseen",
      "0>1 unseen ALLREDUCE #2 of default_pg" },
    { "a ring that wrapped has passed what is no longer in it",
      { "@0 all_reduce#1+ all_reduce#2+ all_reduce#3+", "@1 all_reduce#2+ all_reduce#3+" },
      NULL,
      "overall o: 0 CCC, 1 .CC; default_pg c: 0 CCC, 1 pCC",
      "0 done; 1 done",
      "" },
    { "sends and receives have their own numbers",
      { "all_reduce#1+ send>1#1/1 recv<1#1/2", "all_reduce#1+ send>0#1/1 recv<0#1/2+" },
      NULL,
      "overall o: 0 Cqq, 1 CHC; default_pg c: 0 C, 1 C; default_pg p: 0 qq, 1 HC",
      NULL,
      NULL },
    { "a batch has the state of its end",
      { "send>1/1 recv<1/1 end/1+ send>1/2 recv<1/2 end/2~", "send>0/1 recv<0/1 end/1+" },
      NULL,
      "overall o: 0 CCCHHH, 1 CCC...; default_pg p: 0 CH, 1 C.",
      NULL,
      NULL },
    { "two groups in opposite order wait for each other",
      { "all_reduce#1+ tp:all_reduce#1 all_reduce#2",
        "all_reduce#1+ all_reduce#2 tp:all_reduce#1 wait=90" },
      "tp 0 1",
      NULL,
      NULL,
      "0>1 earlier ALLREDUCE #1 of tp; 1>0 earlier ALLREDUCE #2 of default_pg" },
    { "where nothing marks completion retired is finished",
      { "all_reduce#1* all_reduce#2*", "all_reduce#1* all_reduce#2* all_reduce#3 wait=900" },
      "gloo",
      "overall o: 0 CC., 1 CCH; default_pg c: 0 CCX, 1 CCH",
      "0 culprit; 1 direct",
      "1>0 absent ALLREDUCE #3 of default_pg" },
    { "a rank whose completions are no longer seen",
      { "all_reduce#1+ all_reduce#2 all_reduce#3 wait=900",
        "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4 wait=900" },
      NULL,
      "overall o: 0 Cqq., 1 CCCH; default_pg c: 0 CqqX, 1 CCCH",
      NULL,
      NULL },
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

struct told {
    struct job_lab lab;
    struct hs_verdict verdict;
    struct hs_report report;
};

static void tell_placed(struct told *t, const struct shape *shape,
                        const struct hs_rank_place *places, uint32_t place_count)
{
    struct hs_job_options options = { .places = places, .place_count = place_count };
    struct hs_analysis more = { .report = &t->report };
    struct hs_err err = { .n = 0 };
    uint32_t count = 0;
    char all[64] = "";
    bool gloo = shape->groups && strcmp(shape->groups, "gloo") == 0;

    for (uint32_t rank = 0; rank < 4; rank++)
        count = shape->dumps[rank] ? rank + 1 : count;
    for (uint32_t rank = 0; rank < count; rank++)
        (void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%u", rank ? " " : "", rank);
    lab_begin(&t->lab);
    lab_group(&t->lab, "0", gloo ? "gloo" : "nccl", all);
    if (shape->groups && !gloo)
        lab_group(&t->lab, "tp", "nccl", shape->groups + 3);
    for (uint32_t rank = 0; rank < count; rank++) {
        if (shape->dumps[rank])
            lab_dump(&t->lab, rank, shape->dumps[rank]);
    }
    lab_finish(&t->lab);
    assert_int_equal(hs_analyze_more(&t->lab.job, &options, &t->verdict, &more, &err), HS_OK);
}

static void tell(struct told *t, const struct shape *shape)
{
    tell_placed(t, shape, NULL, 0);
}

static void end(struct told *t)
{
    hs_report_release(&t->report);
    hs_verdict_release(&t->verdict);
    lab_end(&t->lab);
}

static void put_row(const struct hs_report *r, const struct hs_report_member *m, struct hs_buf *out)
{
    struct hs_str cells = hs_intern_get(&r->rows, m->row);

    hs_buf_printf(out, "%u ", r->ranks[m->rank].rank);
    for (size_t c = 0; c < cells.n; c++)
        hs_buf_putc(out, letters[cells.p[c] & 15]);
}

static void put_matrices(const struct hs_report *r, struct hs_buf *out)
{
    for (uint32_t i = 0; i < r->matrix_count; i++) {
        const struct hs_report_matrix *m = &r->matrices[i];
        struct hs_str label =
            m->group == HS_NO_ID ? hs_str_of("overall") : r->groups[m->group].label;

        hs_buf_printf(out, "%s%.*s %c: ", i ? "; " : "", HS_STR_ARG(label), "cpo"[m->kind]);
        for (uint32_t k = 0; k < m->members; k++) {
            hs_buf_put(out, k ? HS_STR(", ") : HS_STR(""));
            put_row(r, &r->members[m->first_member + k], out);
        }
    }
}

static void put_classes(const struct hs_report *r, struct hs_buf *out)
{
    static const char *const roles[] = { "none", "culprit", "direct", "waits", "done", "unseen" };

    for (uint32_t i = 0; i < r->class_count; i++) {
        const struct hs_report_class *c = &r->classes[i];

        hs_buf_put(out, i ? HS_STR("; ") : HS_STR(""));
        for (uint32_t k = 0; k < c->rank_count; k++) {
            bool run = k && c->ranks[k] == c->ranks[k - 1] + 1;

            hs_buf_printf(out, "%s%u", k == 0 ? "" : run ? "-" : ",", c->ranks[k]);
        }
        hs_buf_printf(out, " %s", roles[c->role]);
    }
}

static void put_edges(const struct hs_report *r, struct hs_buf *out)
{
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct hs_report_edge *e = &r->edges[i];

        hs_buf_printf(out, "%s%u>%u %s %.*s", i ? "; " : "", e->from, e->to, e->how,
                      HS_STR_ARG(e->operation));
    }
}

static void compare(const struct shape *shape, const char *part, const char *want,
                    const struct hs_report *r,
                    void (*put)(const struct hs_report *r, struct hs_buf *out))
{
    struct hs_buf got;

    hs_buf_init(&got);
    put(r, &got);
    if (want && !hs_str_is(hs_buf_str(&got), want))
        fail_msg("%s: %s\n  got  %.*s\n  want %s", shape->what, part, HS_STR_ARG(hs_buf_str(&got)),
                 want);
    hs_buf_release(&got);
}

static void jobs_become_cells_classes_and_waits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        struct told t = { .verdict = { .code = NULL } };

        tell(&t, &shapes[i]);
        compare(&shapes[i], "matrices", shapes[i].matrices, &t.report, put_matrices);
        compare(&shapes[i], "classes", shapes[i].classes, &t.report, put_classes);
        compare(&shapes[i], "edges", shapes[i].edges, &t.report, put_edges);
        end(&t);
    }
}

/* The lab makes a call a second: whoever makes others first comes so much later. The calls have not
 * ended, so that nothing says that it is the clocks that differ. */
static const struct shape late = {
    .what = "late",
    .dumps = { "all_reduce#1 all_reduce#2 wait=900",
               "tp:all_reduce#1+ tp:all_reduce#2+ all_reduce#1 all_reduce#2 wait=900" },
    .groups = "tp 1",
};

static void lateness_has_steps(void **state)
{
    struct told t = { .verdict = { .code = NULL } };
    const struct hs_report_matrix *m;
    struct hs_str on_time, behind;

    (void)state;
    tell(&t, &late);
    m = &t.report.matrices[1];
    assert_int_equal(m->kind, HS_MATRIX_COLLECTIVES);
    on_time = hs_intern_get(&t.report.rows, t.report.members[m->first_member].row);
    behind = hs_intern_get(&t.report.rows, t.report.members[m->first_member + 1].row);
    assert_int_equal(on_time.p[0] >> HS_CELL_LATE_SHIFT, 0);
    assert_int_equal(behind.p[0] >> HS_CELL_LATE_SHIFT, 3); /* 2 s */
    assert_int_equal(t.report.tail_columns[m->first_tail_column].late_ns, 2000000000);
    assert_int_equal(t.report.ranks[1].late_ns, 2000000000);
    assert_int_equal(t.report.ranks[1].last, 2);
    end(&t);
}

/* Who comes at the same moment as all others is not last. */
static void nobody_is_last_where_all_come_at_once(void **state)
{
    struct told t = { .verdict = { .code = NULL } };

    (void)state;
    tell(&t, &shapes[0]);
    assert_int_equal(t.report.compared, 2);
    assert_int_equal(t.report.arrival_count, 0);
    assert_int_equal(t.report.ranks[0].last + t.report.ranks[1].last, 0);
    end(&t);
}

/* Finished calls bound what clocks may be wrong by: late by more than they took cannot be. */
static void clocks_that_are_proved_wrong_are_put_right(void **state)
{
    static const struct shape shape = {
        .what = "skew",
        .dumps = { "all_reduce#1+ all_reduce#2+",
                   "tp:all_reduce#1+ tp:all_reduce#2+ all_reduce#1+ all_reduce#2+" },
        .groups = "tp 1",
    };
    struct told t = { .verdict = { .code = NULL } };

    (void)state;
    tell(&t, &shape);
    assert_in_range(t.report.ranks[1].late_ns, 0, 1000000); /* each took 0.9 ms */
    end(&t);
}

/* Last in every call, and by more than the clocks may be wrong: only where these are known. */
static void habit_needs_clocks_that_are_known(void **state)
{
    static const struct hs_rank_place places[] = { { 0, { "node-a", 6 }, 0 },
                                                   { 1, { "node-a", 6 }, 1 } };

    (void)state;
    for (uint32_t known = 0; known < 2; known++) {
        struct told t = { .verdict = { .code = NULL } };

        tell_placed(&t, &late, places, known ? 2 : 0);
        assert_int_equal(t.report.arrival_count, 1);
        assert_int_equal(t.report.arrivals[0].last, 2);
        assert_int_equal(t.report.arrivals[0].of, 2);
        assert_int_equal(t.report.arrivals[0].median_late_ns, 2000000000);
        assert_int_equal(t.report.arrivals[0].bound_ns, known ? 0 : HS_NO_DURATION);
        assert_int_equal(t.report.arrivals[0].habitual, known);
        end(&t);
    }
}

/* Numbers that no honest counter reaches cost no more than the calls that have them. */
static void absurd_numbers_leave_the_matrix_small(void **state)
{
    static const struct shape shape = {
        .what = "absurd",
        .dumps = { "all_reduce#1+ all_reduce#4000000000+", "@4000000000 all_reduce#1+" },
    };
    struct told t = { .verdict = { .code = NULL } };

    (void)state;
    tell(&t, &shape);
    for (uint32_t i = 0; i < t.report.rows.count; i++)
        assert_true(hs_intern_get(&t.report.rows, i).n <= 4);
    assert_true(t.report.columns_left > 1000000);
    end(&t);
}

static void ranks_that_are_asked_for_are_told_exactly(void **state)
{
    struct hs_job_options options = { .world_size = 0 };
    uint32_t ranks[] = { 2 };
    struct hs_report_wanted wanted = { .ranks = ranks, .rank_count = 1 };
    struct told t = { .verdict = { .code = NULL } };
    struct hs_analysis more = { .report = &t.report, .wanted = &wanted };
    struct hs_err err = { .n = 0 };

    (void)state;
    tell(&t, &shapes[1]);
    assert_int_equal(t.report.record_rank_count, 2); /* the culprit, one that waits */
    hs_report_release(&t.report);
    hs_verdict_release(&t.verdict);
    assert_int_equal(hs_analyze_more(&t.lab.job, &options, &t.verdict, &more, &err), HS_OK);
    assert_int_equal(t.report.record_rank_count, 2); /* the culprit, and rank 2 */
    assert_int_equal(t.report.ranks[t.report.record_ranks[1]].rank, 2);
    assert_int_equal(t.report.record_count, 3);
    assert_int_equal(t.report.records[2].state, HS_CELL_HUNG);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_become_cells_classes_and_waits),
        cmocka_unit_test(lateness_has_steps),
        cmocka_unit_test(nobody_is_last_where_all_come_at_once),
        cmocka_unit_test(clocks_that_are_proved_wrong_are_put_right),
        cmocka_unit_test(habit_needs_clocks_that_are_known),
        cmocka_unit_test(absurd_numbers_leave_the_matrix_small),
        cmocka_unit_test(ranks_that_are_asked_for_are_told_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
