/* test_decide.c - the decision as a pure function: sets of claims, and what is decided of them. */
#include "analyzer/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

/* The precedence as docs/verdict.md tells it. */
static const struct {
    char row;
    const char *codes[4];
} precedence[] = {
    { 'a', { "gpu-fault" } },
    { 'b', { "rank-died" } },
    { 'c', { "misconfigured", "shm-exhausted", "peer-access-fault", "network-fault" } },
    { 'd', { "order-mismatch", "size-mismatch", "dtype-mismatch" } },
    { 'e', { "group-deadlock", "p2p-mismatch" } },
    { 'f', { "gpu-stall" } },
    { 'g', { "rank-slow", "rank-missing", "init-stuck" } },
    { 'h', { "collective-stuck" } },
    { 'i', { "version-mismatch", "known-bug" } },
    { 'j', { "healthy", "undetermined" } },
};

enum { ROWS = sizeof(precedence) / sizeof(precedence[0]), CODES = 20 };

/* All codes in the order of their rows. */
static const char *code_at(unsigned index)
{
    for (unsigned r = 0; r < ROWS; r++) {
        for (unsigned i = 0; i < 4 && precedence[r].codes[i]; i++) {
            if (index-- == 0)
                return precedence[r].codes[i];
        }
    }
    return NULL;
}

static void every_code_has_its_row(void **state)
{
    unsigned count = 0;

    (void)state;
    for (unsigned r = 0; r < ROWS; r++) {
        for (unsigned i = 0; i < 4 && precedence[r].codes[i]; i++, count++) {
            if (hs_row_of(precedence[r].codes[i]) != precedence[r].row)
                fail_msg("%s is not in row %c", precedence[r].codes[i], precedence[r].row);
        }
    }
    assert_int_equal(count, CODES);
}

static void the_row_of_a_strange_code_is_the_last(void **state)
{
    (void)state;
    assert_int_equal(hs_row_of("no-such-code"), 'z');
    assert_int_equal(hs_row_of(""), 'z');
}

/* ---- pairs ---- */

static const struct hs_health tail = { .progress = true, .in_flight = true };

/* Which of two claims wins, by its index in `claims`, in the order given and the other. */
static uint32_t winner_in_both_orders(const struct hs_claim *claims)
{
    struct hs_claim turned[2] = { claims[1], claims[0] };
    struct hs_decision there = hs_decide(claims, 2, &tail);
    struct hs_decision back = hs_decide(turned, 2, &tail);

    assert_true(there.winner < 2 && back.winner < 2);
    assert_string_equal(there.code, claims[there.winner].code);
    if (there.winner == back.winner)
        return HS_NO_ID; /* it hangs on the order in which they were given */
    assert_int_equal(there.confidence, back.confidence);
    return there.winner;
}

static void any_two_codes_give_one_winner_in_both_orders(void **state)
{
    (void)state;
    for (unsigned a = 0; a < CODES; a++) {
        for (unsigned b = 0; b < CODES; b++) {
            /* of one row: the earlier code of the row */
            struct hs_claim claims[2] = { { .code = code_at(a), .reach = 3 },
                                          { .code = code_at(b), .reach = 3 } };

            if (a != b && winner_in_both_orders(claims) != (a < b ? 0u : 1u))
                fail_msg("%s and %s: not the earlier of the table", claims[0].code, claims[1].code);
        }
    }
}

static void a_line_beats_the_graph_however_many_wait(void **state)
{
    (void)state;
    for (unsigned a = 0; a < CODES; a++) {
        for (unsigned b = 0; b < CODES; b++) {
            struct hs_claim claims[2] = { { .code = code_at(a), .reach = 1, .weak = true },
                                          { .code = code_at(b), .reach = 900 } };

            if (hs_row_of(claims[0].code) <= 'c' && hs_row_of(claims[1].code) > 'c')
                assert_int_equal(winner_in_both_orders(claims), 0);
        }
    }
}

static void of_two_graph_claims_the_strong_one_wins(void **state)
{
    struct hs_claim claims[2] = { { .code = "order-mismatch", .reach = 9, .weak = true },
                                  { .code = "rank-missing", .reach = 1 } };

    (void)state;
    assert_int_equal(winner_in_both_orders(claims), 1);
}

static void of_two_strong_claims_the_one_with_more_waiters_wins(void **state)
{
    struct hs_claim claims[2] = { { .code = "order-mismatch", .reach = 3 },
                                  { .code = "rank-missing", .reach = 4 } };

    (void)state;
    assert_int_equal(winner_in_both_orders(claims), 1);
    claims[1].reach = 3;
    assert_int_equal(winner_in_both_orders(claims), 0);
    claims[0].weak = claims[1].weak = true;
    assert_int_equal(winner_in_both_orders(claims), 0);
}

static void equal_claims_leave_the_first(void **state)
{
    struct hs_claim claims[3] = { { .code = "rank-missing", .reach = 2 },
                                  { .code = "rank-missing", .reach = 2 },
                                  { .code = "init-stuck", .reach = 2 } };

    (void)state;
    assert_int_equal(hs_decide(claims, 3, &tail).winner, 0);
    assert_false(hs_claim_precedes(&claims[0], &claims[1]));
    assert_false(hs_claim_precedes(&claims[1], &claims[0]));
}

static void precedence_is_an_order(void **state)
{
    struct hs_claim all[CODES * 4];

    (void)state;
    for (unsigned i = 0; i < CODES * 4; i++)
        all[i] = (struct hs_claim){ .code = code_at(i / 4), .reach = i % 2 + 1, .weak = i % 4 > 1 };
    for (unsigned a = 0; a < CODES * 4; a++) {
        for (unsigned b = 0; b < CODES * 4; b++) {
            bool before = hs_claim_precedes(&all[a], &all[b]);

            assert_false(before && hs_claim_precedes(&all[b], &all[a]));
            for (unsigned c = 0; before && c < CODES * 4; c++) {
                if (hs_claim_precedes(&all[b], &all[c]))
                    assert_true(hs_claim_precedes(&all[a], &all[c]));
            }
        }
    }
}

/* ---- sets of claims ---- */

struct set {
    const char *what;
    struct hs_claim claims[4]; /* until one without a code */
    struct hs_health health;
    uint32_t winner;
    const char *code;
    enum hs_confidence confidence;
};

/* clang-format off */
#define RUNNING { .progress = true, .in_flight = true }

static const struct set sets[] = {
    { "nothing at all", { { NULL } }, { 0 }, HS_NO_ID, "undetermined", HS_LOW },
    { "calls in flight and nothing finished", { { NULL } }, { .in_flight = true }, HS_NO_ID,
      "undetermined", HS_LOW },
    { "work completed", { { NULL } }, { .progress = true }, HS_NO_ID, "healthy", HS_HIGH },
    { "the tail of a running job", { { NULL } }, RUNNING, HS_NO_ID, "healthy", HS_MEDIUM },
    { "work completed as far as was seen", { { NULL } }, { .progress = true, .partial = true },
      HS_NO_ID, "healthy", HS_MEDIUM },
    { "work completed on a few of many", { { NULL } },
      { .progress = true, .partial = true, .minority = true }, HS_NO_ID, "undetermined", HS_LOW },
    { "a claim although most are unseen", { { .code = "rank-missing", .reach = 1 } },
      { .progress = true, .partial = true, .minority = true }, 0, "rank-missing", HS_HIGH },
    { "one claim without a doubt", { { .code = "rank-missing", .reach = 7 } }, RUNNING, 0,
      "rank-missing", HS_HIGH },
    { "one claim, nothing ever finished", { { .code = "rank-missing", .reach = 7 } },
      { .in_flight = true }, 0, "rank-missing", HS_HIGH },
    { "no proof of age",
      { { .code = "rank-missing", .reach = 7, .doubts = HS_DOUBT_AGE } },
      RUNNING, 0, "rank-missing", HS_MEDIUM },
    { "several doubts are one",
      { { .code = "gpu-stall", .reach = 7, .doubts = HS_DOUBT_KIND | HS_DOUBT_CUT } },
      RUNNING, 0, "gpu-stall", HS_MEDIUM },
    { "a lead",
      { { .code = "order-mismatch", .reach = 7, .doubts = HS_DOUBT_LEAD | HS_DOUBT_AGE } },
      RUNNING, 0, "order-mismatch", HS_LOW },
    { "undetermined is low by definition",
      { { .code = "undetermined", .reach = 7, .weak = true, .doubts = HS_DOUBT_WITNESS } },
      RUNNING, 0, "undetermined", HS_LOW },
    { "undetermined without a doubt", { { .code = "undetermined", .reach = 7 } }, RUNNING, 0,
      "undetermined", HS_LOW },
    { "more wait for an unseen rank than for the subject",
      { { .code = "rank-missing", .reach = 2 },
        { .code = "undetermined", .reach = 5, .weak = true } },
      RUNNING, 0, "rank-missing", HS_LOW },
    { "as many wait for an unseen rank",
      { { .code = "rank-missing", .reach = 5 },
        { .code = "undetermined", .reach = 5, .weak = true } },
      RUNNING, 0, "rank-missing", HS_HIGH },
    { "fewer wait for an unseen rank",
      { { .code = "undetermined", .reach = 2, .weak = true },
        { .code = "rank-missing", .reach = 5 } },
      RUNNING, 1, "rank-missing", HS_HIGH },
    { "two weak ones: the larger",
      { { .code = "undetermined", .reach = 2, .weak = true },
        { .code = "rank-missing", .reach = 5, .weak = true, .doubts = HS_DOUBT_WITNESS } },
      RUNNING, 1, "rank-missing", HS_MEDIUM },
    { "a strong one of more waiters does not overshadow",
      { { .code = "gpu-fault", .reach = 1 }, { .code = "rank-missing", .reach = 5 } },
      RUNNING, 0, "gpu-fault", HS_HIGH },
    { "doubts of the loser do not count",
      { { .code = "collective-stuck", .reach = 2, .doubts = HS_DOUBT_KIND | HS_DOUBT_LEAD },
        { .code = "rank-missing", .reach = 5 } },
      RUNNING, 1, "rank-missing", HS_HIGH },
    { "the same waiters: mismatch before cycle before stale before idle",
      { { .code = "rank-missing", .reach = 5 },
        { .code = "gpu-stall", .reach = 5 },
        { .code = "group-deadlock", .reach = 5 },
        { .code = "size-mismatch", .reach = 5 } },
      RUNNING, 3, "size-mismatch", HS_HIGH },
    { "the same waiters: stale before idle before stuck",
      { { .code = "collective-stuck", .reach = 5 },
        { .code = "rank-missing", .reach = 5 },
        { .code = "gpu-stall", .reach = 5, .doubts = HS_DOUBT_KIND } },
      RUNNING, 2, "gpu-stall", HS_MEDIUM },
    { "lines by their row: device before death before network",
      { { .code = "network-fault", .reach = 9 },
        { .code = "rank-died", .reach = 0 },
        { .code = "gpu-fault", .reach = 0 } },
      RUNNING, 2, "gpu-fault", HS_HIGH },
};
/* clang-format on */

static uint32_t count_of(const struct set *set)
{
    uint32_t count = 0;

    while (count < 4 && set->claims[count].code)
        count++;
    return count;
}

static void sets_of_claims_are_decided_as_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const struct set *set = &sets[i];
        struct hs_decision d = hs_decide(set->claims, count_of(set), &set->health);

        if (d.winner != set->winner || strcmp(d.code, set->code) != 0 ||
            d.confidence != set->confidence)
            fail_msg("%s: %s, winner %u, confidence %u", set->what, d.code, d.winner,
                     (unsigned)d.confidence);
    }
}

static void the_order_of_claims_does_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const struct set *set = &sets[i];
        uint32_t count = count_of(set);

        for (uint32_t shift = 1; shift < count; shift++) {
            struct hs_claim turned[4];
            struct hs_decision d;

            for (uint32_t k = 0; k < count; k++)
                turned[k] = set->claims[(k + shift) % count];
            d = hs_decide(turned, count, &set->health);
            assert_string_equal(d.code, set->code);
            assert_int_equal(d.confidence, set->confidence);
        }
    }
}

/* ---- what to do ---- */

static void every_code_has_an_action_of_the_contract(void **state)
{
    static const char *const actions[] = { "cordon-host",   "fix-code", "fix-settings",
                                           "raise-timeout", "restart",  "collect-more",
                                           "none" };

    (void)state;
    for (unsigned i = 0; i < CODES; i++) {
        const char *action = hs_action_for(code_at(i), NULL);
        bool known = false;

        for (size_t k = 0; k < sizeof(actions) / sizeof(actions[0]); k++)
            known |= strcmp(action, actions[k]) == 0;
        if (!known)
            fail_msg("%s: %s is no action", code_at(i), action);
    }
}

static void a_cause_may_ask_for_another_action_than_the_code(void **state)
{
    (void)state;
    assert_string_equal(hs_action_for("rank-missing", NULL), "collect-more");
    assert_string_equal(hs_action_for("rank-missing", "rank0-only-branch"), "fix-code");
    assert_string_equal(hs_action_for("rank-missing", "uneven-steps"), "fix-code");
    assert_string_equal(hs_action_for("rank-missing", "data-dependent-branch"), "fix-code");
    assert_string_equal(hs_action_for("order-mismatch", "extra-call"), "fix-code");
    assert_string_equal(hs_action_for("rank-missing", "slow-data"), "collect-more");
    assert_string_equal(hs_action_for("rank-slow", "slow-load"), "raise-timeout");
    assert_string_equal(hs_action_for("rank-slow", "storage-stall"), "cordon-host");
    assert_string_equal(hs_action_for("misconfigured", "timeout-too-short"), "raise-timeout");
    assert_string_equal(hs_action_for("rank-died", "scheduler-limit"), "restart");
    assert_string_equal(hs_action_for("rank-died", "uncaught-exception"), "fix-code");
    assert_string_equal(hs_action_for("healthy", NULL), "none");
    assert_string_equal(hs_action_for("no-such-code", NULL), "collect-more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_row),
        cmocka_unit_test(the_row_of_a_strange_code_is_the_last),
        cmocka_unit_test(any_two_codes_give_one_winner_in_both_orders),
        cmocka_unit_test(a_line_beats_the_graph_however_many_wait),
        cmocka_unit_test(of_two_graph_claims_the_strong_one_wins),
        cmocka_unit_test(of_two_strong_claims_the_one_with_more_waiters_wins),
        cmocka_unit_test(equal_claims_leave_the_first),
        cmocka_unit_test(precedence_is_an_order),
        cmocka_unit_test(sets_of_claims_are_decided_as_the_table_says),
        cmocka_unit_test(the_order_of_claims_does_not_matter),
        cmocka_unit_test(every_code_has_an_action_of_the_contract),
        cmocka_unit_test(a_cause_may_ask_for_another_action_than_the_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
