/* test_plan.c - plans: read, written, refused; run dry; changed; made smaller. */
#include "replay/emit.h"
#include "replay/minimize.h"
#include "replay/select.h"
#include "replay/what_if.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* order matters to cmocka */
#include <cmocka.h>

/* Three ranks of one group: 0 and 1 make two calls, 2 only the first. */
#define HEAD                                                                                       \
    "{\"format\": \"hangscope.plan/1\", \"semantics\": \"nccl\",\n"                                \
    " \"groups\": [{\"name\": \"0\", \"desc\": \"dp\", \"backend\": \"nccl\", \"ranks\": "         \
    "\"0-2\"}],\n"
#define CALL "{\"group\": 0, \"op\": \"all_reduce\", \"in\": [[4]], \"dtype\": \"Float\"}"
#define OTHER "{\"group\": 0, \"op\": \"all_gather\", \"in\": [[4]], \"dtype\": \"Float\"}"
static const char missing[] =
    HEAD " \"programs\": [[" CALL ", " OTHER "], [" CALL "]],\n"
         " \"ranks\": [{\"ranks\": \"0-1\", \"program\": 0, \"groups\": [0], \"start\": [40]},\n"
         "  {\"ranks\": \"2\", \"program\": 1, \"groups\": [0], \"start\": [40]}]}";

static struct hs_str text(const char *p)
{
    return hs_str_of(p);
}

static void read_into(struct hs_plan *plan, const char *p)
{
    struct hs_err err = { .n = 0 };

    hs_plan_init(plan);
    if (hs_plan_read(plan, text(p), "plan.json", &err) != HS_OK)
        fail_msg("%s", err.causes[0].text);
}

static enum hs_status keep(void *self, struct hs_str piece, struct hs_err *err)
{
    (void)err;
    hs_buf_put(self, piece);
    return HS_OK;
}

static void write_into(struct hs_buf *out, const struct hs_plan *plan)
{
    struct hs_err err = { .n = 0 };

    hs_buf_init(out);
    assert_int_equal(hs_plan_write(plan, keep, out, &err), HS_OK);
}

/* Units that a rank has finished in a dry run. */
static uint32_t finished(const struct hs_plan *plan, uint32_t rank)
{
    struct hs_err err = { .n = 0 };
    const struct hs_plan_rank *row = hs_plan_find(plan, rank);
    uint32_t count = 0;
    struct hs_dry dry;

    assert_int_equal(hs_dry_run(&dry, plan, &err), HS_OK);
    for (uint64_t i = dry.first[row - plan->ranks]; i < dry.first[row - plan->ranks + 1]; i++)
        count += dry.state[i] == HS_DRY_FINISHED;
    hs_dry_release(&dry);
    return count;
}

/* ---- reading and writing ---- */

static void test_what_is_written_is_read_again(void **state)
{
    struct hs_plan plan, again;
    struct hs_buf first, second;

    (void)state;
    read_into(&plan, missing);
    write_into(&first, &plan);
    read_into(&again, first.p);
    write_into(&second, &again);
    assert_string_equal(first.p, second.p);
    assert_int_equal(again.rank_count, 3);
    assert_int_equal(again.program_count, 2);
    assert_int_equal(again.ranks[2].start[0], 40);
    hs_plan_release(&plan);
    hs_plan_release(&again);
    hs_buf_release(&first);
    hs_buf_release(&second);
}

#define RANKS "\"ranks\": [{\"ranks\": \"0-2\", \"program\": 0, \"groups\": [0]}]}"

static void test_mistakes_are_told_with_their_line(void **state)
{
    static const struct {
        const char *plan, *says;
    } rows[] = {
        { "", "plan.json:1: " },
        { "[]", "plan.json:1: a plan" },
        { "{\"format\": \"hangscope.plan/9\"}", "this version reads" },
        { "{\"semantics\": \"nccl\"}", "the parts come in this order" },
        { HEAD " \"programs\": [[{\"group\": 0}]], " RANKS, "plan.json:3: a call has" },
        { HEAD " \"programs\": [[\n{\"group\": 0, \"op\": \"send\"}]], " RANKS,
          "plan.json:4: a send or receive has" },
        { HEAD " \"programs\": [[{\"group\": 0, \"opp\": \"send\"}]], " RANKS, "no key \"opp\"" },
        { HEAD " \"programs\": [[{\"group\": 1, \"op\": \"barrier\"}]], " RANKS,
          "program 0, call 0: group 1" },
        { HEAD " \"programs\": [[]], \"ranks\": [{\"ranks\": \"0-1\", \"program\": 0, \"groups\": "
               "[0]}]}",
          "rank 2, which has no row" },
        { HEAD " \"programs\": [[]], \"ranks\": [{\"ranks\": \"0-2,1-2\", \"program\": 1}]}",
          "there is no program 1" },
        { HEAD " \"programs\": [[]], " RANKS " x", "more text after the plan" },
        { HEAD " \"programs\": [[{\"batch\": []}]], " RANKS, "a batch has calls" },
        { HEAD " \"programs\": [[{\"group\": 0, \"op\": \"send\", \"peer\": 3}]], " RANKS,
          "has no peer 3" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_err err = { .n = 0 };
        struct hs_plan plan;
        bool told = false;

        hs_plan_init(&plan);
        assert_int_equal(hs_plan_read(&plan, text(rows[i].plan), "plan.json", &err), HS_EUSAGE);
        for (unsigned k = 0; k < err.n; k++)
            told = told || strstr(err.causes[k].text, rows[i].says);
        if (!told)
            fail_msg("row %zu says '%s', not '%s'", i, err.causes[0].text, rows[i].says);
        hs_plan_release(&plan);
    }
}

/* ---- the rules ---- */

#define PAIR(op, peer) "{\"group\": 0, \"op\": \"" op "\", \"peer\": " peer "}"
#define TWO(a, b)                                                                                  \
    "{\"format\": \"hangscope.plan/1\", \"semantics\": \"nccl\", \"groups\": [{\"name\": \"0\", "  \
    "\"ranks\": \"0-1\"}], \"programs\": [[" a "], [" b "]], \"ranks\": [{\"ranks\": \"0\", "      \
    "\"program\": 0, \"groups\": [0]}, {\"ranks\": \"1\", \"program\": 1, \"groups\": [0]}]}"
#define MARKED(mark) "{\"group\": 0, \"op\": \"all_reduce\", \"in\": [[4]], " mark ": true}"

#define BROADCAST(root) "{\"group\": 0, \"op\": \"broadcast\", " root "\"in\": [[4]]}"

static void test_rules(void **state)
{
    static const struct {
        const char *plan;
        uint32_t first, second; /* calls that ranks 0 and 1 finish */
    } rows[] = {
        { TWO(CALL, CALL), 1, 1 },
        { TWO(CALL, OTHER), 0, 0 },
        { TWO(BROADCAST("\"root\": 1, "), BROADCAST("\"root\": 1, ")), 1, 1 },
        { TWO(BROADCAST("\"root\": 1, "), BROADCAST("\"root\": 0, ")), 0, 0 },
        { TWO(BROADCAST("\"root\": 1, "), BROADCAST("")), 1, 1 },
        { TWO(CALL ", " CALL, CALL), 1, 1 },
        { TWO(PAIR("send", "1"), PAIR("recv", "0")), 1, 1 },
        { TWO(PAIR("send", "1"), PAIR("send", "0")), 0, 0 },
        { TWO(PAIR("send", "1") ", " PAIR("recv", "1"), PAIR("send", "0") ", " PAIR("recv", "0")),
          0, 0 },
        { TWO(PAIR("send", "1") ", " PAIR("recv", "1"), PAIR("recv", "0") ", " PAIR("send", "0")),
          2, 2 },
        { TWO("{\"batch\": [" PAIR("send", "1") ", " PAIR("recv", "1") "]}",
              "{\"batch\": [" PAIR("send", "0") ", " PAIR("recv", "0") "]}"),
          2, 2 },
        { TWO(MARKED("\"stalled\"") ", " CALL, CALL ", " CALL), 0, 1 },
        { TWO(MARKED("\"done\"") ", " CALL, ""), 1, 0 },
        { TWO(CALL ", " PAIR("send", "1"), PAIR("recv", "0") ", " CALL), 0, 0 },
        { TWO(CALL ", {\"group\": 0, \"op\": \"send\", \"peer\": 1, \"stream\": 1}",
              PAIR("recv", "0") ", " CALL),
          2, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_plan plan;

        read_into(&plan, rows[i].plan);
        if (finished(&plan, 0) != rows[i].first || finished(&plan, 1) != rows[i].second)
            fail_msg("row %zu: %u and %u", i, finished(&plan, 0), finished(&plan, 1));
        hs_plan_release(&plan);
    }
}

static void test_host_waits_with_gloo_alone(void **state)
{
    static const struct {
        const char *rules;
        uint8_t second; /* what becomes of the call after one that hangs */
    } rows[] = { { "nccl", HS_DRY_QUEUED }, { "gloo", HS_DRY_AHEAD } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_err err = { .n = 0 };
        struct hs_plan plan;
        struct hs_dry dry;

        read_into(&plan, TWO(CALL ", " CALL, ""));
        plan.semantics = hs_semantics_find(text(rows[i].rules));
        assert_int_equal(hs_dry_run(&dry, &plan, &err), HS_OK);
        assert_int_equal(dry.state[0], HS_DRY_STARTED);
        assert_int_equal(dry.state[1], rows[i].second);
        hs_dry_release(&dry);
        hs_plan_release(&plan);
    }
}

/* ---- changing ---- */

static void test_edits(void **state)
{
    static const struct {
        const char *edit;
        const char *says; /* NULL: it is done */
        uint32_t calls;   /* of rank 0 afterwards */
    } rows[] = {
        { "rank 0: drop dp#41", NULL, 1 },
        { "rank 0: move dp#41 after dp#42", NULL, 2 },
        { "rank 0: insert ALLREDUCE in dp before #42 like rank 1", NULL, 3 },
        { "rank 0: insert all_gather in 0 before #43 like rank 1", NULL, 3 },
        { "rank 0: drop dp#43", "'dp#43'", 2 },
        { "rank 7: drop dp#41", "'7:'", 2 },
        { "rank 0: drop tp#41", "'tp'", 2 },
        { "rank 0: drop dp#x", "'x'", 2 },
        { "rank 0: jump dp#41", "'jump'", 2 },
        { "rank 0: insert BARRIER in dp before #41 like rank 1", "'BARRIER'", 2 },
        { "rank 0: drop dp#41 twice", "'twice'", 1 },
        { "", "'rank' is expected", 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hs_err err = { .n = 0 };
        struct hs_plan plan;
        enum hs_status status;

        read_into(&plan, missing);
        status = hs_plan_edit(&plan, rows[i].edit, &err);
        assert_int_equal(status, rows[i].says ? HS_EUSAGE : HS_OK);
        if (rows[i].says && !strstr(err.causes[0].text, rows[i].says))
            fail_msg("'%s' says %s", rows[i].edit, err.causes[0].text);
        assert_int_equal(plan.programs[plan.ranks[0].program].call_count, rows[i].calls);
        hs_plan_release(&plan);
    }
}

static void test_an_edit_cures(void **state)
{
    struct hs_err err = { .n = 0 };
    struct hs_plan plan;

    (void)state;
    read_into(&plan, missing);
    assert_int_equal(finished(&plan, 0), 1);
    assert_int_equal(
        hs_plan_edit(&plan, "rank 2: insert ALLGATHER in dp before #42 like rank 0", &err), HS_OK);
    assert_int_equal(finished(&plan, 0), 2);
    assert_int_equal(finished(&plan, 2), 2);
    hs_plan_release(&plan);
}

/* ---- smaller ---- */

/* The plan still hangs: somebody does not finish. */
static enum hs_status hangs(void *self, const struct hs_plan *plan, bool *same, struct hs_err *err)
{
    struct hs_dry dry;
    enum hs_status status = hs_dry_run(&dry, plan, err);

    (void)self;
    *same = false;
    for (uint64_t i = 0; status == HS_OK && i < dry.first[plan->rank_count]; i++)
        *same = *same || dry.state[i] != HS_DRY_FINISHED;
    if (status == HS_OK)
        hs_dry_release(&dry);
    return status;
}

static void test_minimize_leaves_what_matters(void **state)
{
    struct hs_err err = { .n = 0 };
    struct hs_minimized m;
    struct hs_plan plan;

    (void)state;
    read_into(&plan, missing);
    assert_int_equal(hs_plan_minimize(&plan, hangs, NULL, &m, &err), HS_OK);
    assert_true(m.minimal);
    assert_int_equal(m.from.calls, 5);
    assert_int_equal(m.to.ranks, 2);
    assert_int_equal(m.to.calls, 1);
    assert_int_equal(plan.ranks[0].start[0], 41); /* the call keeps its number */
    hs_plan_release(&plan);
}

/* No smaller plan is as good; `self` counts them. */
static enum hs_status never(void *self, const struct hs_plan *plan, bool *same, struct hs_err *err)
{
    (void)plan;
    (void)err;
    *same = false;
    ++*(uint32_t *)self;
    return HS_OK;
}

static void test_minimize_ends_after_200_runs(void **state)
{
    struct hs_err err = { .n = 0 };
    uint32_t looked_at = 0;
    struct hs_minimized m;
    struct hs_plan plan;
    struct hs_buf many;

    (void)state;
    hs_buf_init(&many);
    hs_buf_put(&many, text(HEAD " \"programs\": [["));
    for (unsigned i = 0; i < 300; i++)
        hs_buf_put(&many, text(i ? "," CALL : CALL));
    hs_buf_put(&many, text("]], " RANKS));
    read_into(&plan, many.p);
    assert_int_equal(hs_plan_minimize(&plan, never, &looked_at, &m, &err), HS_OK);
    assert_false(m.minimal); /* more might go: not all was tried */
    assert_int_equal(m.runs, 200);
    assert_int_equal(looked_at, 200);
    assert_int_equal(m.to.calls, 900);
    hs_plan_release(&plan);
    read_into(&plan, missing);
    assert_int_equal(hs_plan_minimize(&plan, never, &looked_at, &m, &err), HS_OK);
    assert_true(m.minimal);
    assert_int_equal(m.to.calls, 5);
    hs_plan_release(&plan);
    hs_buf_release(&many);
}

static void test_fold_keeps_one_of_each_kind(void **state)
{
    uint32_t culprit = 2;
    struct hs_err err = { .n = 0 };
    struct hs_folded f;
    struct hs_plan plan;

    (void)state;
    read_into(&plan, missing);
    assert_int_equal(hs_plan_fold(&plan, 1, &culprit, 1, &f, &err), HS_OK);
    assert_int_equal(f.kinds, 2);
    assert_int_equal(f.to.ranks, 2);
    assert_non_null(hs_plan_find(&plan, 2));
    hs_plan_release(&plan);
}

static void test_restrict(void **state)
{
    uint32_t ranks[] = { 1, 2 }, none[] = { 9 };
    struct hs_err err = { .n = 0 };
    struct hs_plan plan;

    (void)state;
    read_into(&plan, missing);
    assert_int_equal(hs_plan_restrict(&plan, none, 1, NULL, &err), HS_EUSAGE);
    assert_int_equal(hs_plan_restrict(&plan, NULL, 0, "dp,tp", &err), HS_EUSAGE);
    assert_int_equal(hs_plan_restrict(&plan, ranks, 2, "dp", &err), HS_OK);
    assert_int_equal(plan.rank_count, 2);
    assert_int_equal(plan.groups[0].size, 2);
    hs_plan_release(&plan);
}

/* ---- programs ---- */

static void test_emitted_programs_start_from_nothing(void **state)
{
    struct hs_emission e;
    struct hs_err err = { .n = 0 };
    struct hs_plan plan;

    (void)state;
    read_into(&plan, TWO(CALL ", " CALL, CALL));
    plan.ranks[1].start[0] = 1; /* rank 1 has the first call behind it */
    assert_int_equal(hs_emission_make(&plan, &e, &err), HS_OK);
    assert_int_equal(e.plan.programs[e.plan.ranks[1].program].call_count, 2);
    assert_int_equal(e.plan.ranks[1].start[0], 0);
    hs_emission_release(&e);
    hs_plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read_again),
        cmocka_unit_test(test_mistakes_are_told_with_their_line),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_host_waits_with_gloo_alone),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_an_edit_cures),
        cmocka_unit_test(test_minimize_leaves_what_matters),
        cmocka_unit_test(test_minimize_ends_after_200_runs),
        cmocka_unit_test(test_fold_keeps_one_of_each_kind),
        cmocka_unit_test(test_restrict),
        cmocka_unit_test(test_emitted_programs_start_from_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
