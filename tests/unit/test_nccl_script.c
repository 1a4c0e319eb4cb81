/*
 * test_nccl_script.c - a plan as what processes do with NCCL: which calls, on which communicators,
 * what is held back and what is filled in; and the figures of nccl-tests.
 */
#include "replay/nccl/script.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* order matters to cmocka */
#include <cmocka.h>

enum { NCCL_NEW = 23007, NCCL_OLD = 21900 };

static const char *const ways[HS_WAYS] = {
    [HS_WAY_BARRIER] = "barrier",     [HS_WAY_ALL_REDUCE] = "all_reduce",
    [HS_WAY_BROADCAST] = "broadcast", [HS_WAY_REDUCE] = "reduce",
    [HS_WAY_ALL_GATHER] = "gather",   [HS_WAY_REDUCE_SCATTER] = "scatter",
    [HS_WAY_SEND] = "send",           [HS_WAY_RECV] = "recv",
};

struct lab {
    struct hs_plan plan;
    struct hs_dry dry;
    struct hs_script script;
};

static void set_up(struct lab *lab, const char *text, double scale, bool split)
{
    struct hs_err err = { .n = 0 };

    hs_plan_init(&lab->plan);
    if (hs_plan_read(&lab->plan, hs_str_of(text), "test", &err) != HS_OK)
        fail_msg("%s\n%s", err.causes[0].text, text);
    assert_int_equal(hs_dry_run(&lab->dry, &lab->plan, &err), HS_OK);
    assert_int_equal(hs_script_make(&lab->script, &lab->dry, scale, split, &err), HS_OK);
}

static void tear_down(struct lab *lab)
{
    hs_script_release(&lab->script);
    hs_dry_release(&lab->dry);
    hs_plan_release(&lab->plan);
}

static void put_calls(struct hs_buf *out, const struct hs_nccl_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct hs_nccl_call *c = &calls->calls[i];
        bool rooted = c->way == HS_WAY_BROADCAST || c->way == HS_WAY_REDUCE;

        hs_buf_printf(out, " %s", ways[c->way]);
        if (rooted || c->way == HS_WAY_SEND || c->way == HS_WAY_RECV)
            hs_buf_printf(out, "@%u", c->other);
        if (c->reduction != HS_SUM)
            hs_buf_printf(out, "(%s)", hs_reduction_names[c->reduction]);
        hs_buf_printf(out, ":%llu*%d", (unsigned long long)c->count, (int)c->type.type);
    }
}

/* What a rank does: "m0/1 gather:4*7; " is made on lane 0 and communicator 1, an all_gather of 4
 * elements of NCCL's type 7. f: a fill, s: stalled, h: held, p: passed; L: a fill at the end. */
static void put_course(struct lab *lab, uint32_t row, int nccl, struct hs_buf *out)
{
    struct hs_nccl_calls calls = { .calls = NULL };
    struct hs_err err = { .n = 0 };
    struct hs_course course;

    assert_int_equal(hs_course_make(&lab->script, row, &course, &err), HS_OK);
    for (uint32_t i = 0; i < course.count; i++) {
        const struct hs_step *step = &course.steps[i];

        hs_buf_printf(out, "%s%c%u/%u", i ? "; " : "", step->last ? 'L' : "mshpf"[step->kind],
                      step -> lane, step -> comm);
        assert_true(hs_step_calls(&lab->script, row, step, nccl, &calls));
        put_calls(out, &calls);
    }
    free(calls.calls);
    hs_course_release(&course);
}

static void check_course(const char *what, const char *text, uint32_t row, int nccl,
                         const char *expected)
{
    struct lab lab;
    struct hs_buf got;

    set_up(&lab, text, 1, false);
    hs_buf_init(&got);
    put_course(&lab, row, nccl, &got);
    if (strcmp(hs_buf_str(&got).p, expected) != 0)
        fail_msg("%s, row %u: %s\nexpected: %s", what, row, hs_buf_str(&got).p, expected);
    hs_buf_release(&got);
    tear_down(&lab);
}

/* ---- one call of a group of three ---- */

static const struct {
    const char *call; /* after "group": 0 */
    uint32_t row;
    const char *expected; /* after "m0/0 " */
} operations[] = {
    { "\"op\":\"all_reduce\",\"in\":[[4,2]],\"dtype\":\"Float\"", 0, "all_reduce:8*7" },
    { "\"op\":\"all_reduce\"", 0, "all_reduce:1*7" },
    { "\"op\":\"all_reduce\",\"in\":[[4]],\"reduce\":\"max\"", 0, "all_reduce(max):4*7" },
    { "\"op\":\"reduce\",\"in\":[[4]],\"reduce\":\"avg\"", 1, "reduce@0(avg):4*7" },
    { "\"op\":\"all_reduce\",\"in\":[[0]],\"dtype\":\"Float\"", 0, "all_reduce:0*7" },
    { "\"op\":\"allreduce_coalesced\",\"in\":[[4],[5]],\"dtype\":\"Half\"", 0,
      "all_reduce:4*6 all_reduce:5*6" },
    { "\"op\":\"all_reduce_barrier\",\"in\":[[1]],\"dtype\":\"Byte\"", 0, "barrier:1*7" },
    { "\"op\":\"something_new\",\"in\":[[9]],\"dtype\":\"Float\"", 0, "barrier:1*7" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Long\"", 1, "broadcast@0:4*4" },
    { "\"op\":\"broadcast\",\"root\":2,\"in\":[[4]],\"dtype\":\"Long\"", 1, "broadcast@2:4*4" },
    { "\"op\":\"reduce\",\"root\":1,\"in\":[[4]],\"dtype\":\"Int\"", 1, "reduce@1:4*2" },
    { "\"op\":\"_all_gather_base\",\"in\":[[4]],\"out\":[[12]],\"dtype\":\"BFloat16\"", 0,
      "gather:4*9" },
    { "\"op\":\"all_gather\",\"in\":[[4]],\"out\":[[4],[4],[4]],\"dtype\":\"Double\"", 0,
      "gather:4*8" },
    { "\"op\":\"all_gather\",\"in\":[[4]],\"out\":[[4],[5],[6]],\"dtype\":\"Double\"", 0,
      "broadcast@0:4*8 broadcast@1:5*8 broadcast@2:6*8" },
    { "\"op\":\"all_gather_into_tensor_coalesced\",\"in\":[[2],[3]],\"out\":[[6],[9]],"
      "\"dtype\":\"Float\"",
      0, "gather:2*7 gather:3*7" },
    { "\"op\":\"_reduce_scatter_base\",\"in\":[[12]],\"out\":[[4]],\"dtype\":\"Float\"", 0,
      "scatter:4*7" },
    { "\"op\":\"reduce_scatter\",\"in\":[[4],[5],[6]],\"out\":[[4]],\"dtype\":\"Float\"", 0,
      "reduce@0:4*7 reduce@1:5*7 reduce@2:6*7" },
    { "\"op\":\"all_to_all_single\",\"in\":[[6]],\"out\":[[6]],\"dtype\":\"Float\"", 1,
      "send@0:2*7 recv@0:2*7 send@1:2*7 recv@1:2*7 send@2:2*7 recv@2:2*7" },
    { "\"op\":\"all_to_all\",\"in\":[[1],[2],[3]],\"out\":[[2],[2],[2]],\"dtype\":\"Float\"", 1,
      "send@0:1*7 recv@0:2*7 send@1:2*7 recv@1:2*7 send@2:2*7 recv@2:2*7" },
    { "\"op\":\"all_to_all\",\"in\":[[0],[2],[2]],\"out\":[[2],[0],[2]],\"dtype\":\"Float\"", 1,
      "recv@0:2*7 recv@2:2*7" },
    { "\"op\":\"gather\",\"root\":1,\"in\":[[4]],\"dtype\":\"Float\"", 1, "recv@0:4*7 recv@2:4*7" },
    { "\"op\":\"gather\",\"root\":1,\"in\":[[4]],\"dtype\":\"Float\"", 2, "send@1:4*7" },
    { "\"op\":\"scatter\",\"in\":[[4]],\"dtype\":\"Float\"", 0, "send@1:4*7 send@2:4*7" },
    { "\"op\":\"scatter\",\"in\":[[4]],\"dtype\":\"Float\"", 2, "recv@0:4*7" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Float8_e4m3fn\"", 0, "broadcast@0:4*10" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Float8_e5m2\"", 0, "broadcast@0:4*11" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"ComplexFloat\"", 0, "broadcast@0:8*7" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Short\"", 0, "broadcast@0:8*1" },
    { "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Bool\"", 0, "broadcast@0:4*1" },
};

static void plan_of(char *out, size_t room, const char *call)
{
    (void)snprintf(out, room,
                   "{\"format\":\"hangscope.plan/1\",\"semantics\":\"nccl\",\"groups\":[{\"name\":"
                   "\"0\",\"ranks\":\"0-2\"}],\"programs\":[[{\"group\":0,%s}]],\"ranks\":[{"
                   "\"ranks\":\"0-2\",\"program\":0,\"groups\":[0]}]}",
                   call);
}

static void test_operations(void **state)
{
    char plan[1024], expected[256];

    (void)state;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        plan_of(plan, sizeof(plan), operations[i].call);
        (void)snprintf(expected, sizeof(expected), "m0/0 %s", operations[i].expected);
        check_course(operations[i].call, plan, operations[i].row, NCCL_NEW, expected);
    }
}

static enum hs_status keep(void *buf, struct hs_str piece, struct hs_err *err)
{
    (void)err;
    hs_buf_put(buf, piece);
    return HS_OK;
}

/* A plan keeps its reductions when it is written, and refuses others. */
static void test_reductions(void **state)
{
    struct hs_err err = { .n = 0 };
    char plan[1024];
    struct hs_plan bad;
    struct lab lab;
    struct hs_buf out;

    (void)state;
    plan_of(plan, sizeof(plan), "\"op\":\"all_reduce\",\"in\":[[4]],\"reduce\":\"prod\"");
    set_up(&lab, plan, 1, false);
    hs_buf_init(&out);
    assert_int_equal(hs_plan_write(&lab.plan, keep, &out, &err), HS_OK);
    assert_non_null(strstr(out.p, "\"reduce\": \"prod\""));
    hs_buf_release(&out);
    tear_down(&lab);
    plan_of(plan, sizeof(plan), "\"op\":\"all_reduce\",\"in\":[[4]],\"reduce\":\"product\"");
    hs_plan_init(&bad);
    assert_int_equal(hs_plan_read(&bad, hs_str_of(plan), "test", &err), HS_EUSAGE);
    assert_non_null(strstr(err.causes[0].text, "sum, prod, max, min, avg"));
    hs_plan_release(&bad);
}

/* Uneven shares depend on both sides: nobody sends more than the other takes. */
static void test_uneven(void **state)
{
    static const char plan[] =
        "{\"format\":\"hangscope.plan/1\",\"semantics\":\"nccl\",\"groups\":[{\"name\":\"0\","
        "\"ranks\":\"0-1\"}],\"programs\":[[{\"group\":0,\"op\":\"all_to_all\",\"in\":[[1],[5]],"
        "\"out\":[[1],[2]]},{\"group\":0,\"op\":\"all_gather_v\",\"in\":[[3]],\"out\":[[7]]}],"
        "[{\"group\":0,\"op\":\"all_to_all\",\"in\":[[2],[4]],\"out\":[[3],[4]]},{\"group\":0,"
        "\"op\":\"all_gather_v\",\"in\":[[4]],\"out\":[[7]]}]],\"ranks\":[{\"ranks\":\"0\","
        "\"program\":0,\"groups\":[0]},{\"ranks\":\"1\",\"program\":1,\"groups\":[0]}]}";

    (void)state;
    check_course("uneven", plan, 0, NCCL_NEW,
                 "m0/0 send@0:1*7 recv@0:1*7 send@1:3*7 recv@1:2*7; m0/0 broadcast@0:3*7 "
                 "broadcast@1:4*7");
    check_course("uneven", plan, 1, NCCL_NEW,
                 "m0/0 send@0:2*7 recv@0:3*7 send@1:4*7 recv@1:4*7; m0/0 broadcast@0:3*7 "
                 "broadcast@1:4*7");
}

/* More than memory can be is not little because numbers are finite. */
static void test_too_large(void **state)
{
    enum { TENSORS = 40000 };
    struct hs_nccl_calls calls = { .calls = NULL };
    struct hs_err err = { .n = 0 };
    struct hs_course course;
    struct hs_buf plan;
    struct lab lab;

    (void)state;
    hs_buf_init(&plan);
    hs_buf_put(&plan, HS_STR("{\"format\":\"hangscope.plan/1\",\"semantics\":\"nccl\",\"groups\":"
                             "[{\"name\":\"0\",\"ranks\":\"0\"}],\"programs\":[[{\"group\":0,"
                             "\"op\":\"allreduce_coalesced\",\"dtype\":\"Double\",\"in\":["));
    for (int i = 0; i < TENSORS; i++)
        hs_buf_printf(&plan, i ? ",[%lld]" : "[%lld]", 1ll << 62);
    hs_buf_put(&plan, HS_STR("]}]],\"ranks\":[{\"ranks\":\"0\",\"program\":0,\"groups\":[0]}]}"));
    set_up(&lab, plan.p, 1, false);
    assert_int_equal(hs_course_make(&lab.script, 0, &course, &err), HS_OK);
    assert_true(hs_step_calls(&lab.script, 0, &course.steps[0], NCCL_NEW, &calls));
    assert_int_equal(calls.count, TENSORS);
    assert_true(calls.in_bytes >= 1ull << 62);
    free(calls.calls);
    hs_course_release(&course);
    tear_down(&lab);
    hs_buf_release(&plan);
}

/* fp8 came with 2.24.3: before, it moves as bytes. */
static void test_old_types(void **state)
{
    char plan[1024];

    (void)state;
    plan_of(plan, sizeof(plan), "\"op\":\"broadcast\",\"in\":[[4]],\"dtype\":\"Float8_e5m2\"");
    check_course("fp8", plan, 0, NCCL_OLD, "m0/0 broadcast@0:4*1");
}

/* Each operation of the table of c10d's that is not a barrier has a way of its own. */
static void test_every_operation(void **state)
{
    size_t count;
    const struct hs_operation_kind *kinds = hs_operation_kinds(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const char *op = kinds[i].op ? kinds[i].op : "BARRIER";
        bool barrier = strcmp(op, "BARRIER") == 0 ||
                       (strcmp(op, "COALESCED") == 0 && kinds[i].class == HS_CLASS_COALESCED);

        if ((hs_way_of(&kinds[i]) == HS_WAY_BARRIER) != barrier)
            fail_msg("%s", kinds[i].recorded);
    }
}

/* ---- what is not simply made ---- */

#define PLAN(programs, ranks)                                                                      \
    "{\"format\":\"hangscope.plan/1\",\"semantics\":\"nccl\",\"groups\":[{\"name\":\"0\","         \
    "\"ranks\":\"0-2\"},{\"name\":\"1\",\"ranks\":\"0-1\"}],\"programs\":[" programs               \
    "],\"ranks\":[" ranks "]}"
#define AR(n) "{\"group\":0,\"op\":\"all_reduce\",\"in\":[[" #n "]],\"dtype\":\"Float\"}"
#define MARKED(n, mark)                                                                            \
    "{\"group\":0,\"op\":\"all_reduce\",\"in\":[[" #n "]],\"dtype\":\"Float\"," mark "}"
#define IN_1(n) "{\"group\":1,\"op\":\"all_reduce\",\"in\":[[" #n "]],\"dtype\":\"Float\"}"
#define ROW(r, p) "{\"ranks\":\"" r "\",\"program\":" #p ",\"groups\":[0]}"
#define ROW_WITH(r, p, more) "{\"ranks\":\"" r "\",\"program\":" #p ",\"groups\":[0]," more "}"
#define BOTH(r, p) "{\"ranks\":\"" r "\",\"program\":" #p ",\"groups\":[0,1]}"
#define HALF(op, peer)                                                                             \
    "{\"group\":0,\"op\":\"" op "\",\"peer\":" #peer ",\"in\":[[4]],\"dtype\":\"Float\"}"

static const struct {
    const char *what, *plan;
    uint32_t row;
    const char *expected;
} courses[] = {
    { "ranks that start later fill what others list",
      PLAN("[" AR(4) "," AR(5) "],[" AR(5) "]",
           ROW("0-1", 0) "," ROW_WITH("2", 1, "\"start\":[1]")),
      2, "f1/0 all_reduce:4*7; m0/0 all_reduce:5*7" },
    { "what a rank skips it fills",
      PLAN("[" AR(4) "," AR(5) "," AR(6) "],[" AR(4) "," MARKED(6, "\"skip\":1") "]",
           ROW("0-1", 0) "," ROW("2", 1)),
      2, "m0/0 all_reduce:4*7; f0/0 all_reduce:5*7; m0/0 all_reduce:6*7" },
    { "what a rank entered at last it fills when all else has ended",
      PLAN("[" AR(4) "," AR(5) "],[" AR(4) "]",
           ROW("0-1", 0) "," ROW_WITH("2", 1, "\"until\":[2]")),
      2, "m0/0 all_reduce:4*7; L1/0 all_reduce:5*7" },
    { "behind a stalled call its stream is held, and the communicator with it",
      PLAN("[" MARKED(4, "\"stalled\":true") "," AR(5) ",{\"group\":0,\"op\":\"all_reduce\",\"in\":"
                                                       "[[6]],\"dtype\":\"Float\",\"stream\":1}]",
           ROW("0-2", 0)),
      0, "s0/0 all_reduce:4*7; h0/0 all_reduce:5*7; h1/0 all_reduce:6*7" },
    { "a done call that all come to is made",
      PLAN("[" AR(4) "],[" MARKED(4, "\"done\":true") "]", ROW("0-1", 0) "," ROW("2", 1)), 2,
      "m0/0 all_reduce:4*7" },
    { "a done call that not all come to is not made, nor what follows on its communicator",
      PLAN("[" MARKED(4, "\"done\":true") "," AR(5) "],[]", ROW("0-1", 0) "," ROW("2", 1)), 0,
      "p0/0 all_reduce:4*7; h0/0 all_reduce:5*7" },
    { "a rank that is past a meeting which never ends holds its later calls",
      PLAN("[" AR(4) "],[" AR(5) "],[]",
           ROW("0", 0) "," ROW_WITH("1", 1, "\"start\":[1]") "," ROW("2", 2)),
      1, "h0/0 all_reduce:5*7" },
    { "groups have communicators of their own",
      PLAN("[" AR(4) "," IN_1(5) "],[" AR(4) "]", BOTH("0-1", 0) "," ROW("2", 1)), 1,
      "m0/0 all_reduce:4*7; m0/1 all_reduce:5*7" },
    { "a lone exchange has a communicator of two",
      PLAN("[" HALF("send", 2) "," AR(4) "],[" AR(4) "],[" HALF("recv", 0) "," AR(4) "]",
           ROW("0", 0) "," ROW("1", 1) "," ROW("2", 2)),
      2, "m0/1 recv@0:4*7; m0/0 all_reduce:4*7" },
    { "a batch is on the group's, and what exchanges with it, too",
      PLAN("[" HALF("send", 2) "," HALF("send", 1) "],[" HALF("recv", 0) "],[{\"batch\":[" HALF(
               "recv", 0) "," HALF("send", 1) "]}]",
           ROW("0", 0) "," ROW("1", 1) "," ROW("2", 2)),
      0, "m0/0 send@2:4*7; m0/1 send@1:4*7" },
    { "several parts are one group of calls",
      PLAN("[{\"batch\":[" AR(4) "," AR(5) "]}]", ROW("0-2", 0)), 0,
      "m0/0 all_reduce:4*7 all_reduce:5*7" },
};

static void test_courses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(courses) / sizeof(courses[0]); i++)
        check_course(courses[i].what, courses[i].plan, courses[i].row, NCCL_NEW,
                     courses[i].expected);
}

static void test_split(void **state)
{
    static const char plan[] =
        PLAN("[" AR(4) "," IN_1(5) "],[" AR(4) "]", BOTH("0-1", 0) "," ROW("2", 1));
    struct lab lab;

    (void)state;
    set_up(&lab, plan, 1, true);
    assert_int_equal(lab.script.comm_count, 2);
    assert_int_equal(lab.script.comms[0].parent, HS_NO_ID);
    assert_int_equal(lab.script.comms[1].parent, 0);
    tear_down(&lab);
    set_up(&lab, plan, 1, false);
    assert_int_equal(lab.script.comms[1].parent, HS_NO_ID);
    tear_down(&lab);
}

/* Who has to be connected before the run: both directions that are listed, on the right one. */
static void test_exchanges(void **state)
{
    struct lab lab;
    bool *pairs;

    (void)state;
    set_up(&lab,
           PLAN("[" HALF("send", 2) "],[],[" HALF("recv", 0) "]",
                ROW("0", 0) "," ROW("1", 1) "," ROW("2", 2)),
           1, false);
    assert_int_equal(lab.script.comm_count, 1);
    assert_int_equal(lab.script.comms[0].size, 2);
    pairs = hs_script_exchanges(&lab.script, 0);
    assert_non_null(pairs);
    assert_true(pairs[0 * 2 + 1]);
    assert_false(pairs[1 * 2 + 0]);
    free(pairs);
    tear_down(&lab);
}

/* Scaled counts that differ in the plan differ still, and nothing becomes nothing. */
static void test_scaling(void **state)
{
    struct lab lab;
    uint64_t a, b;

    (void)state;
    set_up(&lab, PLAN("[" AR(524800) "],[" AR(524288) "]", ROW("0-1", 0) "," ROW("2", 1)), 1e-6,
           false);
    a = hs_scaled(&lab.script.scaling, 524288);
    b = hs_scaled(&lab.script.scaling, 524800);
    assert_true(a >= 1 && a < b && b < 10);
    assert_int_equal(hs_scaled(&lab.script.scaling, 0), 0);
    tear_down(&lab);
    set_up(&lab, PLAN("[" AR(10) "]", ROW("0-2", 0)), 3, false);
    assert_int_equal(hs_scaled(&lab.script.scaling, 10), 30);
    tear_down(&lab);
}

/* ---- figures of nccl-tests ---- */

static void test_bandwidth(void **state)
{
    static const struct {
        enum hs_way way;
        uint64_t bytes; /* of 100 elements of 4 bytes, 4 ranks */
        double factor;
    } rows[] = {
        { HS_WAY_ALL_REDUCE, 400, 1.5 },
        { HS_WAY_BROADCAST, 400, 1 },
        { HS_WAY_REDUCE, 400, 1 },
        { HS_WAY_ALL_GATHER, 1600, 0.75 },
        { HS_WAY_REDUCE_SCATTER, 1600, 0.75 },
        { HS_WAY_ALL_TO_ALL, 1600, 0.75 },
        { HS_WAY_GATHER, 1600, 0.75 },
        { HS_WAY_SCATTER, 1600, 0.75 },
        { HS_WAY_SEND, 400, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(hs_bandwidth_bytes(rows[i].way, 100, 4, 4), rows[i].bytes);
        assert_true(fabs(hs_bus_factor(rows[i].way, 4) - rows[i].factor) < 1e-9);
    }
    assert_true(hs_bus_factor(HS_WAY_ALL_REDUCE, 1) == 0);
}

/* What a real run showed in the place of the rules: an end that they do not see, and a hang. */
static void test_measured(void **state)
{
    struct lab lab;
    uint8_t states[6];

    (void)state;
    set_up(&lab, PLAN("[" AR(4) "," AR(5) "],[" AR(4) "]", ROW("0-1", 0) "," ROW("2", 1)), 1,
           false);
    assert_int_equal(lab.dry.state[0], HS_DRY_FINISHED);
    assert_int_equal(lab.dry.state[1], HS_DRY_STARTED);
    states[0] = HS_DRY_STARTED, states[1] = HS_DRY_QUEUED;
    states[2] = states[3] = HS_DRY_FINISHED;
    states[4] = HS_DRY_AHEAD;
    hs_dry_measured(&lab.dry, states);
    assert_memory_equal(lab.dry.state, states, 5);
    assert_true(lab.dry.ended[3] > lab.dry.ended[2] && lab.dry.ended[3] > lab.dry.began[3]);
    assert_true(lab.dry.steps >= lab.dry.ended[3]);
    tear_down(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_uneven),     cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_old_types),  cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_courses),    cmocka_unit_test(test_split),
        cmocka_unit_test(test_exchanges),  cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_bandwidth),  cmocka_unit_test(test_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
