/* test_identity_any.c - whatever rows say, nobody is two ranks, and every number names a row. */
#include "row_lab.h"

#include "analyzer/clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

enum { JOBS = 3000 };

/* The same numbers on every machine. */
static uint32_t below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static void put_word(struct hs_buf *words, uint32_t *state, const char *name, uint32_t limit)
{
    if (below(state, 2))
        hs_buf_printf(words, " %s=%u", name, below(state, limit));
}

/* Words that a speaker of a small job might have; few values, so that they meet. */
static uint32_t any_speaker(struct row_lab *lab, uint32_t *state)
{
    static const char *const hosts[] = { "",
                                         " host=node-a",
                                         " host=node-a.example",
                                         " host=node-b",
                                         " host=10.0.0.7",
                                         " host=localhost" };
    static const char *const ranks[] = { "", " file", " ranktask", " launcher", " tag" };
    uint32_t from = 1 + below(state, 100), kind = below(state, 5), speaker;
    struct hs_buf words;

    hs_buf_init(&words);
    hs_buf_printf(&words, "lines=%u-%u%s", from, from + below(state, 100),
                  hosts[below(state, sizeof(hosts) / sizeof(hosts[0]))]);
    put_word(&words, state, "pid", 4);
    put_word(&words, state, "local", 3);
    put_word(&words, state, "task", 3);
    put_word(&words, state, "from", 50);
    if (kind)
        hs_buf_printf(&words, "%s=%u", ranks[kind], below(state, 4));
    speaker = row_speaker(lab, words.p);
    hs_buf_release(&words);
    return speaker;
}

static void any_event(struct row_lab *lab, uint32_t speaker, uint32_t *state)
{
    static const char *const families[] = { "TBL_ROW",    "ELASTIC_FAIL", "ELASTIC_AGENT",
                                            "WD_TIMEOUT", "WD_STATUS",    "STORE_BARRIER_DONE" };
    static const char *const names[] = { "rank", "local_rank",    "pid", "pg_rank",
                                         "pg",   "attempts_left", "seq", "key" };
    struct hs_buf words;

    hs_buf_init(&words);
    hs_buf_printf(&words, "line=%u", 1 + below(state, 200));
    put_word(&words, state, "at", 50);
    if (below(state, 2))
        hs_buf_printf(&words, " host=node-%c", 'a' + (char)below(state, 3));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put_word(&words, state, names[i], 4);
    (void)row_event(lab, speaker, families[below(state, sizeof(families) / sizeof(families[0]))],
                    words.p);
    hs_buf_release(&words);
}

static void any_comm(struct row_lab *lab, uint32_t speaker, uint32_t *state)
{
    static const char *const names[] = { "rank",  "parent", "split",    "color", "id",
                                         "epoch", "start",  "complete", "began", "done" };
    struct hs_buf words;

    hs_buf_init(&words);
    hs_buf_printf(&words, "ptr=%u size=%u", 1 + below(state, 3), below(state, 5));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put_word(&words, state, names[i], 4);
    (void)row_comm(lab, speaker, words.p);
    hs_buf_release(&words);
}

static void any_job(struct row_lab *lab, uint32_t *state)
{
    static const char *const sources[] = { "a.log", "attempt_1/0/stderr.log", "node-2.log",
                                           "rank1.log" };

    row_begin(lab);
    for (uint32_t s = 0; s < 1 + below(state, 4); s++) {
        uint32_t speakers[6], count = 1 + below(state, 6), rows = below(state, 5);

        row_source(lab, sources[s]);
        for (uint32_t i = 0; i < count; i++)
            speakers[i] = any_speaker(lab, state);
        for (uint32_t i = 0; i < rows; i++)
            any_event(lab, speakers[below(state, count)], state);
        for (uint32_t i = 0; i < rows; i++)
            any_comm(lab, speakers[below(state, count)], state);
    }
    row_finish(lab);
}

static void check_processes(const struct hs_identity *id)
{
    for (uint32_t i = 0; i < id->process_count; i++) {
        const struct hs_process *p = &id->processes[i];

        assert_true(p->host == HS_NO_ID || p->host < id->host_count);
        assert_true(p->attempt == HS_NO_ID || p->attempt < id->attempt_count);
        assert_true((p->rank == HS_NO_ID) == (p->known == HS_KNOWN_NOT));
        if (p->rank != HS_NO_ID && p->attempt != HS_NO_ID)
            assert_int_equal(hs_identity_rank(id, p->attempt, p->rank), i); /* nobody else has it */
    }
    for (uint32_t i = 0; i < id->job->event_count; i++)
        assert_true(id->process_of_event[i] == HS_NO_ID ||
                    id->process_of_event[i] < id->process_count);
}

static void check_comms(const struct hs_identity *id)
{
    uint32_t members = 0;

    for (uint32_t i = 0; i < id->comms.count; i++) {
        const struct hs_comm *c = &id->comms.list[i];

        assert_true(c->member_count > 0 && c->seen <= c->member_count);
        assert_true(c->parent == HS_NO_ID || c->parent < id->comms.count);
        for (uint32_t k = 0; k < c->member_count; k++) {
            const struct hs_comm_member *m = &id->comms.members[c->first_member + k];

            assert_int_equal(id->comms.comm_of_row[m->row], i);
            assert_true(m->owner == HS_NO_ID || m->owner < id->process_count);
        }
        members += c->member_count;
    }
    assert_int_equal(members, id->comms.member_count);
}

static void any_rows_give_one_rank_to_one_process(void **state)
{
    uint32_t random = 7;

    (void)state;
    for (uint32_t i = 0; i < JOBS; i++) {
        struct hs_err err = { .n = 0 };
        struct hs_clocks clocks;
        struct row_lab lab;

        any_job(&lab, &random);
        check_processes(&lab.id);
        check_comms(&lab.id);
        hs_clocks_init(&clocks, &lab.id);
        assert_int_equal(hs_clocks_find(&clocks, NULL, &err), HS_OK);
        for (uint32_t k = 0; k < clocks.count; k++) {
            assert_true(clocks.list[k].low <= clocks.list[k].high);
            assert_int_equal(clocks.list[clocks.list[k].reference].reference,
                             clocks.list[k].reference);
        }
        hs_clocks_release(&clocks);
        row_end(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_rows_give_one_rank_to_one_process),
    };

    return cmocka_run_group_tests_name("identity_any", tests, NULL, NULL);
}
