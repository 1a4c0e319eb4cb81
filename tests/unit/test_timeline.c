/* test_timeline.c - lanes of slices, and what is written of numbers and texts. */
#include "analyzer/render/proto.h"
#include "analyzer/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- lanes ---- */

struct span {
    int64_t start, end;
    uint32_t track, lane;
};

static void check_lanes(const struct span *spans, uint32_t count, const uint32_t *lanes)
{
    struct hs_slice slices[16];
    struct hs_track tracks[2] = { { .group = 0 }, { .group = 1 } };
    struct hs_arena scratch;

    hs_arena_init(&scratch);
    for (uint32_t i = 0; i < count; i++)
        slices[i] = (struct hs_slice){ .start_ns = spans[i].start,
                                       .end_ns = spans[i].end,
                                       .track = spans[i].track };
    assert_true(hs_timeline_lanes(slices, count, tracks, 2, &scratch));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(slices[i].lane, spans[i].lane);
    assert_int_equal(tracks[0].lanes, lanes[0]);
    assert_int_equal(tracks[1].lanes, lanes[1]);
    hs_arena_release(&scratch);
}

static void test_lanes_by_hand(void **state)
{
    static const struct span one_after_another[] = {
        { 0, 5, 0, 0 }, { 5, 5, 0, 0 }, { 5, 5, 0, 0 }, { 5, 9, 0, 0 }
    };
    static const struct span first_out_last[] = {
        { 0, 9, 0, 0 }, { 1, 3, 0, 1 }, { 2, 9, 0, 2 }, { 3, 4, 0, 1 }, { 9, 10, 0, 0 }
    };
    static const struct span two_tracks[] = { { 0, 9, 0, 0 }, { 1, 9, 1, 0 }, { 2, 9, 1, 1 } };

    (void)state;
    check_lanes(one_after_another, 4, (uint32_t[]){ 1, 0 });
    check_lanes(first_out_last, 5, (uint32_t[]){ 3, 0 });
    check_lanes(two_tracks, 3, (uint32_t[]){ 1, 2 });
    check_lanes(NULL, 0, (uint32_t[]){ 0, 0 });
}

/* Random slices: none overlap in a lane, and there are no more lanes than slices at one moment. */
static void test_lanes_of_many(void **state)
{
    enum { SLICES = 400, MOMENTS = 1200 };
    struct hs_slice slices[SLICES];
    uint32_t at_once[MOMENTS] = { 0 }, most = 0, seed = 7;
    struct hs_track track = { .group = 0 };
    struct hs_arena scratch;

    (void)state;
    hs_arena_init(&scratch);
    for (int64_t i = 0; i < SLICES; i++) {
        seed = seed * 1103515245u + 12345u;
        slices[i] = (struct hs_slice){ .start_ns = i * 2, .end_ns = i * 2 + (seed >> 16) % 300 };
        for (int64_t t = slices[i].start_ns; t < slices[i].end_ns; t++)
            most = ++at_once[t] > most ? at_once[t] : most;
    }
    assert_true(hs_timeline_lanes(slices, SLICES, &track, 1, &scratch));
    assert_int_equal(track.lanes, most);
    for (uint32_t i = 0; i < SLICES; i++) {
        for (uint32_t k = 0; k < i; k++)
            assert_true(slices[k].lane != slices[i].lane || slices[k].end_ns <= slices[i].start_ns);
    }
    hs_arena_release(&scratch);
}

/* ---- protobuf ---- */

static void check_bytes(struct hs_buf *buf, const char *bytes, size_t n)
{
    assert_int_equal(buf->n, n);
    assert_memory_equal(buf->p, bytes, n);
    buf->n = 0;
}

static void test_proto(void **state)
{
    struct hs_buf buf;

    (void)state;
    hs_buf_init(&buf);
    hs_proto_number(&buf, 1, 150); /* the examples of protobuf's own page */
    check_bytes(&buf, "\x08\x96\x01", 3);
    hs_proto_bytes(&buf, 2, HS_STR("testing"));
    check_bytes(&buf, "\x12\x07testing", 9);
    hs_proto_number(&buf, 29, UINT64_MAX);
    check_bytes(&buf, "\xe8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
    hs_proto_numbers(&buf, 4, 1, 300, 3, 0);
    check_bytes(&buf, "\x22\x05\x08\xac\x02\x18\x00", 7);
    hs_proto_entry(&buf, 29, 1, 7, 17, HS_STR("ab"));
    check_bytes(&buf,
                "\xea\x01\x07\x08\x07\x8a\x01\x02"
                "ab",
                10);
    for (uint64_t value = 1; value; value <<= 1) {
        hs_proto_varint(&buf, value);
        assert_int_equal(buf.n, hs_proto_size(value));
        buf.n = 0;
    }
    hs_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lanes_by_hand),
                                        cmocka_unit_test(test_lanes_of_many),
                                        cmocka_unit_test(test_proto) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
