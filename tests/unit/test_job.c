/* test_job.c - appending to a job, and parts that become one job whatever their order. */
#include "job_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before itself */
#include <cmocka.h>

static uint32_t text_of(struct hs_job *job, const char *text)
{
    return hs_intern_put(&job->strings, hs_str_of(text));
}

/* ---- signatures ---- */

static uint32_t sign(struct hs_job *job, const char *name, const int64_t *sizes,
                     uint32_t size_count, uint32_t tensors, const char *dtype)
{
    uint32_t dtypes[2] = { text_of(job, dtype), text_of(job, dtype) };
    struct hs_tensors t = { .sizes = sizes,
                            .size_count = size_count,
                            .tensors = tensors,
                            .dtypes = dtypes,
                            .dtype_count = tensors };

    return hs_job_put_signature(job, text_of(job, name), 600000, &t, &t);
}

/* The row itself: the call may move the rows, so it comes first. */
static const struct hs_signature *signed_row(struct hs_job *job, const char *name,
                                             const int64_t *sizes, uint32_t size_count,
                                             uint32_t tensors)
{
    uint32_t id = sign(job, name, sizes, size_count, tensors, "Float");

    return &job->signatures[id];
}

static void equal_calls_share_a_signature(void **state)
{
    static const int64_t sizes[] = { 2, 3, 4 }, other[] = { 2, 4, 3 };
    struct hs_job job;

    (void)state;
    hs_job_init(&job);
    assert_int_equal(sign(&job, "nccl:all_reduce", sizes, 3, 1, "Float"), 0);
    assert_int_equal(sign(&job, "nccl:all_reduce", sizes, 3, 1, "Float"), 0);
    assert_int_equal(sign(&job, "nccl:all_reduce", other, 3, 1, "Float"), 1);
    assert_int_equal(sign(&job, "nccl:all_reduce", sizes, 3, 1, "Half"), 2);
    assert_int_equal(sign(&job, "gloo:all_reduce", sizes, 3, 1, "Float"), 3);
    assert_int_equal(job.signatures_keys.count, 4);
    hs_job_release(&job);
}

static void a_signature_says_what_it_is(void **state)
{
    static const int64_t sizes[] = { 2, 3, 4, 1, 5 };
    struct hs_job job;
    const struct hs_signature *s;

    (void)state;
    hs_job_init(&job);
    s = signed_row(&job, "ncclx:send 3->1", sizes, 5, 2);
    assert_true(hs_str_is(hs_job_string(&job, s->backend), "ncclx"));
    assert_true(hs_str_is(hs_job_string(&job, s->bare), "send 3->1"));
    assert_true(hs_str_is(hs_job_string(&job, s->dtypes_in), "Float"));
    assert_true(hs_str_is(hs_job_string(&job, s->shapes_in), "[3, 4] [5]"));
    assert_int_equal(s->numel_in, 17);
    assert_int_equal(s->self, 3);
    assert_int_equal(s->peer, 1);
    assert_string_equal(s->kind->op, "SEND");
    s = signed_row(&job, "barrier", NULL, 0, 0);
    assert_true(hs_str_is(hs_job_string(&job, s->backend), ""));
    assert_true(hs_str_is(hs_job_string(&job, s->bare), "barrier"));
    assert_int_equal(s->self, HS_NO_ID);
    hs_job_release(&job);
}

static void absurd_sizes_saturate(void **state)
{
    static const int64_t huge[] = { 3, INT64_MAX, INT64_MAX, INT64_MAX };
    static const int64_t two[] = { 1, -1, 1, -1 };
    static const int64_t lying[] = { 900, 7 };
    static const int64_t zero[] = { 3, INT64_MAX, INT64_MAX, 0 };
    struct hs_job job;

    (void)state;
    hs_job_init(&job);
    assert_int_equal(signed_row(&job, "x", huge, 4, 1)->numel_in, UINT64_MAX);
    assert_int_equal(signed_row(&job, "x", two, 4, 2)->numel_in, UINT64_MAX);
    assert_int_equal(signed_row(&job, "x", lying, 2, 1)->numel_in, 7);
    (void)sign(&job, "x", zero, 4, 1, "Float");
    hs_job_release(&job);
}

/* ---- lists and stacks ---- */

static void lists_and_stacks_are_given_back(void **state)
{
    static const uint32_t ranks[] = { 0, 3, 1 };
    struct hs_job job;
    struct hs_frame frame;
    uint32_t list, frame_id, stack, count;

    (void)state;
    hs_job_init(&job);
    list = hs_job_put_list(&job, ranks, 3);
    assert_int_equal(hs_job_put_list(&job, ranks, 3), list);
    assert_int_not_equal(hs_job_put_list(&job, ranks, 2), list);
    assert_memory_equal(hs_job_list(&job, list, &count), ranks, sizeof(ranks));
    assert_int_equal(count, 3);
    assert_null(hs_job_list(&job, HS_NO_ID, &count));
    assert_int_equal(count, 0);
    frame = (struct hs_frame){ .function = text_of(&job, "f"),
                               .file = text_of(&job, "a.py"),
                               .line = 7 };
    frame_id = hs_job_put_frame(&job, &frame);
    stack = hs_job_put_stack(&job, &frame_id, 1);
    assert_int_equal(hs_job_frame(&job, hs_job_stack(&job, stack, &count)[0])->line, 7);
    assert_int_equal(count, 1);
    assert_null(hs_job_stack(&job, HS_NO_ID, &count));
    hs_job_release(&job);
}

/* ---- parts ---- */

/* A dump of `calls` all_reduces with a stack of its own; `content` is what the file's bytes hash
 * to. */
static void add_dump(struct hs_job *job, const char *name, uint32_t rank, uint32_t calls,
                     uint64_t content)
{
    static const int64_t sizes[] = { 1, 8 };
    static const uint32_t world[] = { 0, 1, 2, 3 };
    struct hs_frame frame = { .function = text_of(job, name), .file = text_of(job, "train.py") };
    struct hs_dump dump = {
        .rank = rank, .host = text_of(job, "node1"), .library = HS_NO_ID, .speaker = HS_NO_ID
    };
    struct hs_diagnostic odd = { .code = "extra-keys",
                                 .excerpt = text_of(job, name),
                                 .offset_bytes = HS_NO_POSITION,
                                 .record = HS_NO_POSITION };

    dump.source = odd.source = hs_job_add_source(job, hs_str_of(name));
    job->sources[dump.source].content = content;
    job->sources[dump.source].format = "flight-recorder-pickle";
    job->sources[dump.source].diagnostics = 1;
    job->sources[dump.source].bids = hs_job_put_list(job, &calls, 1);
    assert_true(hs_job_add_diagnostic(job, &odd));
    dump.first_member = job->member_count;
    dump.member_count = 1;
    assert_true(HS_GROW(job->members, job->member_cap, job->member_count + 1u));
    job->members[job->member_count++] =
        (struct hs_member){ .dump = job->dump_count,
                            .communicator = HS_NO_ID,
                            .name = text_of(job, "0"),
                            .desc = text_of(job, "default_pg"),
                            .backend = text_of(job, "nccl"),
                            .ranks = hs_job_put_list(job, world, 4) };
    dump.operation_count = calls;
    dump.operations = calloc(calls + 1u, sizeof(*dump.operations));
    assert_non_null(dump.operations);
    for (uint32_t i = 0; i < calls; i++) {
        uint32_t frame_id;

        frame.line = i;
        frame_id = hs_job_put_frame(job, &frame);
        dump.operations[i] = (struct hs_operation){
            .record = i,
            .seq = i + 1,
            .signature =
                sign(job, i % 2 ? "nccl:all_reduce" : "nccl:barrier", sizes, 2, 1, "Float"),
            .stack = i == 3 ? HS_NO_ID : hs_job_put_stack(job, &frame_id, 1)
        };
    }
    assert_true(HS_GROW(job->dumps, job->dump_cap, job->dump_count + 1u));
    job->dumps[job->dump_count++] = dump;
}

static void put_string(struct hs_buf *out, const struct hs_job *job, uint32_t id)
{
    if (id == HS_NO_ID)
        hs_buf_put(out, HS_STR("- "));
    else
        hs_buf_printf(out, "%u=%.*s ", id, HS_STR_ARG(hs_job_string(job, id)));
}

static void put_dump(struct hs_buf *out, const struct hs_job *job, const struct hs_dump *dump)
{
    hs_buf_printf(out, "dump rank %u source %u members %u+%u: ", dump->rank, dump->source,
                  dump->first_member, dump->member_count);
    put_string(out, job, dump->host);
    for (uint32_t i = 0; i < dump->operation_count; i++) {
        const struct hs_operation *op = &dump->operations[i];
        uint32_t count;
        const uint32_t *frames = hs_job_stack(job, op->stack, &count);

        hs_buf_printf(out, "\n  op %u seq %u signature %u ", op->record, op->seq, op->signature);
        put_string(out, job, job->signatures[op->signature].name);
        put_string(out, job, job->signatures[op->signature].shapes_in);
        for (uint32_t k = 0; k < count; k++) {
            put_string(out, job, hs_job_frame(job, frames[k])->function);
            hs_buf_printf(out, ":%u", hs_job_frame(job, frames[k])->line);
        }
    }
}

/* Everything in a job, ids included. */
static char *tell(const struct hs_job *job)
{
    struct hs_buf out;

    hs_buf_init(&out);
    for (uint32_t i = 0; i < job->source_count; i++) {
        uint32_t count;
        const uint32_t *bids = hs_job_list(job, job->sources[i].bids, &count);

        put_string(&out, job, job->sources[i].name);
        hs_buf_printf(&out, "%s %llu diagnostics %u bid %u\n", job->sources[i].format,
                      (unsigned long long)job->sources[i].content, job->sources[i].diagnostics,
                      count ? bids[0] : 0);
    }
    for (uint32_t i = 0; i < job->diagnostic_count; i++) {
        hs_buf_printf(&out, "%s in %u: ", job->diagnostics[i].code, job->diagnostics[i].source);
        put_string(&out, job, job->diagnostics[i].excerpt);
        hs_buf_putc(&out, '\n');
    }
    for (uint32_t i = 0; i < job->member_count; i++) {
        hs_buf_printf(&out, "member of %u, list %u: ", job->members[i].dump, job->members[i].ranks);
        put_string(&out, job, job->members[i].name);
        hs_buf_putc(&out, '\n');
    }
    for (uint32_t i = 0; i < job->dump_count; i++) {
        put_dump(&out, job, &job->dumps[i]);
        hs_buf_putc(&out, '\n');
    }
    return out.p;
}

struct file {
    const char *name;
    uint32_t rank, calls;
    uint64_t content;
};

/* Files dealt to parts: file i goes to part `deal[i]`, in the order `order`. What comes out of it.
 */
static char *join(const struct file *files, unsigned count, const unsigned *order,
                  const unsigned *deal)
{
    struct hs_job parts[3], whole;
    struct hs_err err = { .n = 0 };
    char *text;

    hs_job_init(&whole);
    for (unsigned p = 0; p < 3; p++)
        hs_job_init(&parts[p]);
    for (unsigned i = 0; i < count; i++) {
        const struct file *f = &files[order[i]];

        add_dump(&parts[deal[i]], f->name, f->rank, f->calls, f->content);
    }
    assert_int_equal(hs_job_finish(parts, 3, &whole, &err), HS_OK);
    for (unsigned p = 0; p < 3; p++)
        hs_job_release(&parts[p]);
    text = tell(&whole);
    hs_job_release(&whole);
    return text;
}

static const struct file four[] = { { "b/rank_2", 2, 5, 22 },
                                    { "a/rank_10", 10, 4, 10 },
                                    { "a/rank_0", 0, 6, 1 },
                                    { "c", HS_NO_ID, 1, 7 } };

static void parts_in_any_order_give_one_job(void **state)
{
    static const unsigned orders[][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };
    static const unsigned deals[][4] = {
        { 0, 0, 0, 0 }, { 0, 1, 2, 0 }, { 2, 1, 0, 1 }, { 1, 1, 2, 2 }
    };
    char *want = join(four, 4, orders[0], deals[0]);

    (void)state;
    for (unsigned o = 0; o < 3; o++) {
        for (unsigned d = 0; d < 4; d++) {
            char *text = join(four, 4, orders[o], deals[d]);

            assert_string_equal(text, want);
            free(text);
        }
    }
    assert_true(strncmp(want, "0=a/rank_0 ", 11) == 0);                      /* sources by name */
    assert_true(strstr(want, "dump rank 2") < strstr(want, "dump rank 10")); /* dumps by number */
    assert_true(strstr(want, "dump rank 10") < strstr(want, "dump rank 4294967295"));
    free(want);
}

static void no_parts_are_an_empty_job(void **state)
{
    struct hs_err err = { .n = 0 };
    struct hs_job part, whole;

    (void)state;
    hs_job_init(&part);
    hs_job_init(&whole);
    assert_int_equal(hs_job_finish(NULL, 0, &whole, &err), HS_OK);
    assert_int_equal(hs_job_finish(&part, 1, &whole, &err), HS_OK);
    assert_int_equal(whole.source_count + whole.dump_count, 0);
    hs_job_release(&part);
    hs_job_release(&whole);
}

static void equal_files_are_one_witness(void **state)
{
    static const struct file files[] = { { "b/rank_0", 0, 3, 5 },
                                         { "a/rank_0", 0, 3, 5 },
                                         { "c/rank_0", 0, 3, 6 },
                                         { "d/rank_1", 1, 3, 5 } };
    static const unsigned order[] = { 0, 1, 2, 3 }, turned[] = { 3, 2, 1, 0 };
    static const unsigned deal[] = { 0, 1, 2, 0 };
    char *text = join(files, 4, order, deal), *again = join(files, 4, turned, deal);

    (void)state;
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "duplicate-file in 1: -")); /* the first by name keeps its dump */
    assert_null(strstr(strstr(text, "duplicate-file") + 1, "duplicate-file"));
    assert_non_null(strstr(text, "b/rank_0 flight-recorder-pickle 5 diagnostics 2"));
    assert_non_null(strstr(text, "dump rank 0 source 0 "));
    assert_null(strstr(text, "dump rank 0 source 1 "));
    assert_non_null(strstr(text, "dump rank 0 source 2 "));
    assert_non_null(strstr(text, "dump rank 1 source 3 ")); /* another rank: not the same witness */
    free(text);
    free(again);
}

static void equal_names_of_other_bytes_are_both_kept(void **state)
{
    static const struct file files[] = { { "rank_0", 0, 3, 9 }, { "rank_0", 0, 4, 8 } };
    static const unsigned order[] = { 0, 1 }, turned[] = { 1, 0 }, deal[] = { 0, 1 };
    char *text = join(files, 2, order, deal), *again = join(files, 2, turned, deal);

    (void)state;
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "dump rank 0 source 1 "));
    free(text);
    free(again);
}

static void a_finished_job_outlives_its_parts(void **state)
{
    struct job_lab lab;
    char *json;

    (void)state;
    lab_begin(&lab);
    lab_group(&lab, "0", "nccl", "0 1");
    lab_dump(&lab, 0, "all_reduce#1+ all_reduce#2 wait=900");
    lab_dump(&lab, 1, "all_reduce#1+");
    lab_finish(&lab);
    hs_job_release(&lab.part);
    json = lab_json(&lab.job);
    assert_non_null(strstr(json, "rank-missing"));
    free(json);
    lab_end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_share_a_signature),
        cmocka_unit_test(a_signature_says_what_it_is),
        cmocka_unit_test(absurd_sizes_saturate),
        cmocka_unit_test(lists_and_stacks_are_given_back),
        cmocka_unit_test(parts_in_any_order_give_one_job),
        cmocka_unit_test(no_parts_are_an_empty_job),
        cmocka_unit_test(equal_files_are_one_witness),
        cmocka_unit_test(equal_names_of_other_bytes_are_both_kept),
        cmocka_unit_test(a_finished_job_outlives_its_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
