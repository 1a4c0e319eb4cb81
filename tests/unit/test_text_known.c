/*
 * test_text_known.c - lines that were read before mean what they meant when they were new.
 *
 * An escape sequence at the end of a line changes nothing that is read, but such a line is never
 * remembered: a log with and without them becomes the same rows.
 */
#include "base/limits.h"
#include "families_fixture.h"
#include "parsers/parser.h"
#include "schema/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

extern const struct hs_parser hs_parser_text;

/* %s: the host; %u: added to the pids. */
static const char *const lines[] = {
    "+ export NCCL_DEBUG=INFO",
    "node-%s:%u101:%u201 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
    "node-%s:%u102:%u202 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
    "node-%s:%u101:%u201 [0] NCCL INFO Using network IB",
    "node-%s:%u102:%u202 [1] NCCL INFO Using network IB",
    ("node-%s:%u101:%u201 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE ; OOB "
     "eth0:10.0.0.1<0>"),
    "node-%s:%u101:%u201 [0] NCCL INFO Channel 00/02 :    0   1",
    "node-%s:%u101:%u201 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1",
    "node-%s:%u102:%u202 [1] NCCL INFO Trees [0] -1/-1/-1->1->0 [1] 0/-1/-1->1->-1",
    "node-%s:%u101:%u201 [0] NCCL INFO Channel 00 : 0[1a000] -> 1[1b000] via P2P/IPC",
    "node-%s:%u102:%u202 [1] NCCL INFO Channel 00 : 1[1b000] -> 0[1a000] via P2P/IPC",
    ("node-%s:%u101:%u201 [0] NCCL INFO Channel 01 : 0[1a000] -> 1[1b000] [send] via "
     "NET/IB/0/GDRDMA"),
    ("node-%s:%u101:%u201 [0] NCCL INFO comm 0x7f0000001000 rank 0 nranks 2 cudaDev 0 busId 1a000 "
     "- "
     "Init COMPLETE"),
    ("node-%s:%u102:%u202 [1] NCCL INFO comm 0x7f0000002000 rank 1 nranks 2 cudaDev 1 busId 1b000 "
     "- "
     "Init COMPLETE"),
    "[rank1]: Traceback (most recent call last):",
    "node-%s:%u101:%u201 [0] NCCL INFO Launch mode Parallel",
    "[rank1]:   File \"/opt/train.py\", line 7, in main",
    "step 17 loss 2.5",
    "[rank1]:     step()",
    "[rank1]: ValueError: no labels",
    "",
    "node-%s:%u101:%u201 [0] socket.c:21 NCCL WARN Net : Connection closed by remote peer",
    "node-%s:%u101:%u201 [0] NCCL INFO include/socket.h:445 -> 2",
    "RuntimeError: CUDA error: out of memory",
    "step 17 loss 2.5",
    "ends with a return\r",
    "[2025-11-18 20:32:23] node-%s:%u101:%u201 [0] NCCL INFO Using network Socket",
    "node-%s:%u101:%u201 [0] NCCL INFO [Service thread] Connection closed by localRank 0",
};

enum { LINES = sizeof(lines) / sizeof(lines[0]), COPIES = 60 };

/* The lines over and over; every third time from another host and other pids. */
static void make_log(const char *end, struct hs_buf *out)
{
    hs_buf_init(out);
    for (unsigned copy = 0; copy < COPIES; copy++) {
        unsigned pid = 1 + copy / 3;
        char host[8];

        (void)snprintf(host, sizeof(host), "%u", pid);
        for (size_t i = 0; i < LINES; i++) {
            const char *at = lines[i];

            for (; *at; at++) {
                if (at[0] == '%' && at[1] == 's')
                    hs_buf_put(out, hs_str_of(host));
                else if (at[0] == '%' && at[1] == 'u')
                    hs_buf_printf(out, "%u", pid);
                else
                    hs_buf_putc(out, *at);
                at += *at == '%';
            }
            hs_buf_printf(out, "%s\n", end);
        }
    }
    assert_false(out->failed);
}

/* Read it by chunks, looked at ahead or not. */
static void read_log(struct hs_str log, size_t chunk, bool ahead, struct hs_job *out)
{
    const struct hs_stream *stream = hs_parser_text.stream;
    struct hs_parse px = { .job = out, .families = families, .matching = hs_matching_new() };
    void *self, *seen = malloc(stream->seen_bytes);

    hs_job_init(out);
    px.source = hs_job_add_source(out, HS_STR("log"));
    px.name = HS_STR("log");
    self = stream->begin(&px);
    assert_true(self && seen && px.matching);
    for (size_t at = 0; at < log.n; at += chunk) {
        struct hs_str part = { .p = log.p + at, .n = log.n - at < chunk ? log.n - at : chunk };

        if (ahead) {
            stream->look(part, seen);
            stream->show(self, seen);
        }
        assert_true(stream->feed(self, part));
    }
    assert_true(stream->end(self));
    hs_matching_free(px.matching);
    free(seen);
}

static uint64_t field_of(const struct hs_column *column, const char *row)
{
    bool wide = column->kind == HS_COLUMN_I64 || column->kind == HS_COLUMN_U64 ||
                column->kind == HS_COLUMN_TIME || column->kind == HS_COLUMN_POSITION ||
                column->kind == HS_COLUMN_COUNTER;
    uint64_t value = 0;

    memcpy(&value, row + column->offset, wide ? sizeof(uint64_t) : sizeof(uint32_t));
    return value;
}

static void rows_must_be_equal(const struct hs_job *a, const struct hs_job *b,
                               const struct hs_line_table *home)
{
    const struct hs_table *table = hs_table_find(home->name);
    uint32_t m, n;
    const char *x = hs_job_rows(a, home, &m), *y = hs_job_rows(b, home, &n);

    assert_int_equal(m, n);
    for (uint32_t i = 0; i < n; i++, x += home->row_bytes, y += home->row_bytes) {
        for (const struct hs_column *c = table->columns; c->name; c++) {
            if (c->kind != HS_COLUMN_BLOB && field_of(c, x) != field_of(c, y))
                fail_msg("%s %u: %s is %llu and %llu", home->name, i, c->name,
                         (unsigned long long)field_of(c, x), (unsigned long long)field_of(c, y));
        }
    }
}

/* All that was read; texts have equal numbers, since they are met in the same order. */
static void must_be_equal(const struct hs_job *a, const struct hs_job *b)
{
    assert_int_equal(a->strings.count, b->strings.count);
    for (uint32_t i = 0; i < a->strings.count; i++)
        assert_true(hs_str_eq(hs_job_string(a, i), hs_job_string(b, i)));
    for (const struct hs_line_table *table = hs_line_tables; table->name; table++)
        rows_must_be_equal(a, b, table);
    assert_int_equal(a->diagnostic_count, b->diagnostic_count);
}

static void check(size_t chunk, bool ahead)
{
    struct hs_buf known, unknown;
    struct hs_job a, b;

    make_log("", &known);
    make_log("\033[0m", &unknown);
    assert_true(known.n > HS_LEARN_BYTES + chunk);
    read_log(hs_buf_str(&unknown), unknown.n, false, &a);
    read_log(hs_buf_str(&known), chunk, ahead, &b);
    assert_true(a.event_count > 0 && a.link_count > 0 && a.fact_count > 0 &&
                a.communicator_count > 0);
    must_be_equal(&a, &b);
    hs_job_release(&a);
    hs_job_release(&b);
    hs_buf_release(&known);
    hs_buf_release(&unknown);
}

static void a_known_line_means_the_same(void **state)
{
    (void)state;
    check(4096, false);
}

static void so_does_one_that_was_looked_at_ahead(void **state)
{
    (void)state;
    check(9973, true);
    check(1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_line_means_the_same),
        cmocka_unit_test(so_does_one_that_was_looked_at_ahead),
    };

    return cmocka_run_group_tests_name("text_known", tests, families_make, families_free);
}
