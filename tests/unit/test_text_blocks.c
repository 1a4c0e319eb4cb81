/* test_text_blocks.c - kept log lines: folding, packing, finding, and the way through a database.
 */
#include "schema/store.h"
#include "schema/text_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static void fill(struct hs_job *job, const char *name, uint64_t lines)
{
    uint32_t source = hs_job_add_source(job, hs_str_of(name));
    struct hs_text_writer w;

    job->sources[source].content = hs_hash(hs_str_of(name));
    hs_text_writer_init(&w, job, source);
    for (uint64_t line = 1; line <= lines; line++) {
        char text[80];
        int n = snprintf(text, sizeof(text), "%s says %llu", name,
                         (unsigned long long)(line / 3)); /* three equal lines in a row */

        assert_true(hs_text_writer_put(&w, line, (struct hs_str){ .p = text, .n = (size_t)n }));
    }
    assert_true(hs_text_writer_end(&w));
}

static void expect_line(const struct hs_job *job, uint32_t source, uint64_t line, const char *text)
{
    struct hs_text_reader lines;
    struct hs_text_line found;

    hs_text_reader_init(&lines, job);
    assert_true(hs_text_find(&lines, source, line, &found));
    assert_true(hs_str_is(found.text, text));
    assert_true(found.first_line <= line && line <= found.last_line);
    hs_text_reader_release(&lines);
}

static void equal_lines_fold_and_every_line_is_found(void **state)
{
    struct hs_job job;
    struct hs_text_reader lines;
    struct hs_text_line found;

    (void)state;
    hs_job_init(&job);
    hs_text_reader_init(&lines, &job);
    fill(&job, "a.log", 100000);
    assert_true(job.text_block_count > 10);
    expect_line(&job, 0, 1, "a.log says 0");
    expect_line(&job, 0, 99999, "a.log says 33333");
    assert_true(hs_text_find(&lines, 0, 301, &found));
    assert_int_equal(found.count, 3);
    assert_int_equal(found.first_line, 300);
    assert_int_equal(found.last_line, 302);
    for (uint64_t i = 0; i < 3000; i++) { /* in any order: the block at hand is only a help */
        uint64_t line = 1 + i * 7919 % 100000;

        assert_true(hs_text_find(&lines, 0, line, &found));
        assert_true(found.first_line <= line && line <= found.last_line);
    }
    assert_false(hs_text_find(&lines, 0, 100001, &found));
    assert_false(hs_text_find(&lines, 1, 1, &found));
    hs_text_reader_release(&lines);
    hs_job_release(&job);
}

static void blocks_follow_their_source_when_parts_are_joined(void **state)
{
    struct hs_job parts[2], whole;
    struct hs_err err = { .n = 0 };

    (void)state;
    hs_job_init(&parts[0]);
    hs_job_init(&parts[1]);
    hs_job_init(&whole);
    fill(&parts[0], "z.log", 10);
    fill(&parts[1], "a.log", 10);
    assert_int_equal(hs_job_finish(parts, 2, &whole, &err), HS_OK);
    expect_line(&whole, 0, 9, "a.log says 3");
    expect_line(&whole, 1, 9, "z.log says 3");
    hs_job_release(&parts[0]);
    hs_job_release(&parts[1]);
    hs_job_release(&whole);
}

static void a_damaged_block_is_not_found_in(void **state)
{
    struct hs_job job;
    struct hs_text_reader lines;
    struct hs_text_line found;

    (void)state;
    hs_job_init(&job);
    hs_text_reader_init(&lines, &job);
    fill(&job, "a.log", 10);
    for (size_t cut = 0; cut < job.text_blocks[0].packed.n; cut++) {
        struct hs_str whole = job.text_blocks[0].packed;

        job.text_blocks[0].packed.n = cut;
        assert_false(hs_text_find(&lines, 0, 5, &found));
        job.text_blocks[0].packed = whole;
    }
    hs_text_reader_release(&lines);
    hs_job_release(&job);
}

static void lines_come_back_from_a_database(void **state)
{
    char path[] = "/tmp/text-blocks-XXXXXX";
    struct hs_job job, back;
    struct hs_err err = { .n = 0 };
    struct hs_job_options none = { .world_size = 0 }, options;
    struct hs_verdict verdict = { .code = "healthy", .action = "none" };
    struct hs_store_content content = {
        .rows = { .job = &job }, .options = &none, .verdict = &verdict, .verdict_json = HS_STR("{}")
    };
    struct hs_arena arena;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    hs_job_init(&job);
    hs_job_init(&back);
    hs_arena_init(&arena);
    fill(&job, "a.log", 5000);
    assert_int_equal(hs_store_write(path, true, &content, &err), HS_OK);
    assert_int_equal(hs_store_read(path, &back, &arena, &options, &err), HS_OK);
    assert_int_equal(back.text_block_count, job.text_block_count);
    expect_line(&back, 0, 4321, "a.log says 1440");
    assert_int_equal(unlink(path), 0);
    hs_arena_release(&arena);
    hs_job_release(&job);
    hs_job_release(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lines_fold_and_every_line_is_found),
        cmocka_unit_test(blocks_follow_their_source_when_parts_are_joined),
        cmocka_unit_test(a_damaged_block_is_not_found_in),
        cmocka_unit_test(lines_come_back_from_a_database),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
