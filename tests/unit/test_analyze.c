/* test_analyze.c - the analyzer has no memory: any number of runs over one job say the same. */
#include "job_lab.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static const char *const shapes[][4] = {
    { "all_reduce#1+ all_reduce#2+", "all_reduce#1+ all_reduce#2+", "all_reduce#1+ all_reduce#2+",
      "all_reduce#1+ all_reduce#2+" },
    { "all_reduce#1+", "all_reduce#1+ all_reduce#2 wait=900", "all_reduce#1+ all_reduce#2 wait=900",
      "all_reduce#1+ all_reduce#2 wait=900" },
    { "all_reduce#1+ broadcast#2", "all_reduce#1+ all_reduce#2 wait=900",
      "all_reduce#1+ all_reduce#2", "all_reduce#1+ all_reduce#2" },
    { "all_reduce#1+ tp:all_reduce#1 all_reduce#2",
      "all_reduce#1+ all_reduce#2 tp:all_reduce#1 wait=90", "all_reduce#1+ all_reduce#2",
      "all_reduce#1+ all_reduce#2" },
    { "all_reduce#1+ send>1#1/1 recv<1#1/2", "all_reduce#1+ send>0#1/1 recv<0#1/2", "cut", NULL },
    { "all_reduce#1+ all_reduce#2 all_reduce#3 wait=900",
      "all_reduce#1+ all_reduce#2+ all_reduce#3+",
      "all_reduce#1+ all_reduce#2+ all_reduce#3+ all_reduce#4", "all_reduce#1+ all_reduce#2+" },
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), ROUNDS = 20 };

static const char *const codes[SHAPES] = { "healthy",        "rank-missing", "order-mismatch",
                                           "group-deadlock", "p2p-mismatch", "gpu-stall" };

static void make(struct job_lab *lab, unsigned shape)
{
    lab_begin(lab);
    lab_group(lab, "0", "nccl", "0 1 2 3");
    lab_group(lab, "tp", "nccl", "0 1");
    for (uint32_t rank = 0; rank < 4; rank++) {
        if (shapes[shape][rank])
            lab_dump(lab, rank, shapes[shape][rank]);
    }
    lab_finish(lab);
}

static void a_job_says_the_same_twice_in_a_process(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        struct job_lab lab;
        char *first, *second, code[64];

        make(&lab, i);
        first = lab_json(&lab.job);
        second = lab_json(&lab.job);
        assert_string_equal(first, second);
        (void)snprintf(code, sizeof(code), "\"code\":\t\"%s\"", codes[i]);
        if (!strstr(first, code))
            fail_msg("shape %u: no %s in %.400s", i, code, first);
        free(first);
        free(second);
        lab_end(&lab);
    }
}

static void two_equal_jobs_say_the_same(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        struct job_lab one, two;
        char *first, *second;

        make(&one, i);
        make(&two, i);
        first = lab_json(&one.job);
        second = lab_json(&two.job);
        assert_string_equal(first, second);
        free(first);
        free(second);
        lab_end(&one);
        lab_end(&two);
    }
}

struct run {
    const struct hs_job *job;
    char *json[ROUNDS];
};

static void *analyze_often(void *self)
{
    struct run *run = self;

    for (unsigned i = 0; i < ROUNDS; i++)
        run->json[i] = lab_json(run->job);
    return NULL;
}

static void two_threads_over_one_job_say_the_same(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        struct job_lab lab;
        struct run runs[2];
        pthread_t threads[2];

        make(&lab, shape);
        for (unsigned t = 0; t < 2; t++) {
            runs[t].job = &lab.job;
            assert_int_equal(pthread_create(&threads[t], NULL, analyze_often, &runs[t]), 0);
        }
        for (unsigned t = 0; t < 2; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        for (unsigned i = 0; i < ROUNDS; i++) {
            assert_string_equal(runs[0].json[i], runs[0].json[0]);
            assert_string_equal(runs[1].json[i], runs[0].json[0]);
        }
        for (unsigned i = 0; i < ROUNDS; i++) {
            free(runs[0].json[i]);
            free(runs[1].json[i]);
        }
        lab_end(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_says_the_same_twice_in_a_process),
        cmocka_unit_test(two_equal_jobs_say_the_same),
        cmocka_unit_test(two_threads_over_one_job_say_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
