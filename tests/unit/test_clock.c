/* test_clock.c - times as logs print them. */
#include "parsers/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

enum {
    DAY = HS_CLOCK_DATE,
    YEAR = HS_CLOCK_DATE | HS_CLOCK_YEAR,
    ZONE = HS_CLOCK_DATE | HS_CLOCK_YEAR | HS_CLOCK_ZONE,
    FINE = HS_CLOCK_FINE,
};

/* Seconds of 2025-11-18T20:32:23Z, and of the same day in the year of times without one. */
#define SECONDS 1763497943ll
#define SECONDS_1972 90966743ll
#define NS 1000000000ll

static const struct {
    const char *text;
    size_t length;
    int64_t ns;
    uint32_t clock;
} times[] = {
    /* ISO, with every kind of fraction and zone */
    { "2025-11-18T20:32:23.957466207Z stderr", 30, SECONDS *NS + 957466207, ZONE | FINE },
    { "2025-11-18T20:32:23Z", 20, SECONDS *NS, ZONE },
    { "2025-11-18T20:32:23.9574662071Z", 31, SECONDS *NS + 957466207, ZONE | FINE },
    { "2025-11-18T21:32:23+01:00 x", 25, SECONDS *NS, ZONE },
    { "2025-11-18T21:32:23+0100 x", 24, SECONDS *NS, ZONE },
    { "2025-11-18T15:02:23.5-0530", 26, SECONDS *NS + 500000000, ZONE | FINE },
    { "2025-11-18 20:32:23 UTC x", 23, SECONDS *NS, ZONE },
    { "2025-11-18 20:32:23 +0000 x", 25, SECONDS *NS, ZONE },
    { "2025-11-18 20:32:23 -1 x", 19, SECONDS *NS, YEAR },
    { "2025-11-18 20:32:23 Zebra", 19, SECONDS *NS, YEAR },
    { "2025-11-18 20:32:23,957 - INFO", 23, SECONDS *NS + 957000000, YEAR | FINE },
    { "2025-11-18 20:32:23 | INFO", 19, SECONDS *NS, YEAR },
    { "2025-11-18 20:32 [rank12]:", 16, (SECONDS - 23) * NS, YEAR },
    { "2025/11/18 20:32:23 x", 19, SECONDS *NS, YEAR },
    { "11/18/2025 20:32:23 - INFO", 19, SECONDS *NS, YEAR },
    { "2024-02-29 00:00:00", 19, 1709164800 * NS, YEAR },
    /* what is missing */
    { "11-18 20:32:23 [core.py:1]", 14, SECONDS_1972 *NS, DAY },
    { "Nov 18 20:32:23 node-a kernel: x", 15, SECONDS_1972 *NS, DAY },
    { "Nov  8 20:32:23 node-a", 15, (SECONDS_1972 - 864000) * NS, DAY },
    { "Nov 8 20:32:23 node-a", 14, (SECONDS_1972 - 864000) * NS, DAY },
    { "Nov 18 20:32:23.25 node-a", 18, SECONDS_1972 *NS + 250000000, DAY | FINE },
    { "18:11:06.680 [rank4]:", 12, (730 * 86400ll + 65466) * NS + 680000000, FINE },
    { "18:11:06,5", 10, (730 * 86400ll + 65466) * NS + 500000000, FINE },
    /* with a weekday, as ctime and journals print it */
    { "Tue Nov 18 20:32:23 2025] NVRM", 24, SECONDS *NS, YEAR },
    { "Sat Nov  8 20:32:23 2025[1,3]", 24, (SECONDS - 864000) * NS, YEAR },
    { "Tue Nov 18 20:32:23 UTC 2025 x", 28, SECONDS *NS, ZONE },
    { "Tue 2025-11-18 20:32:23 UTC", 27, SECONDS *NS, ZONE },
    { "Nov 18 2025 20:32:23] [INFO]", 20, SECONDS *NS, YEAR },
    /* none */
    { "", 0, 0, 0 },
    { "2025-11-18", 0, 0, 0 },
    { "2025-13-18 20:32:23", 0, 0, 0 },
    { "2025-11-31 20:32:23", 0, 0, 0 },
    { "2025-11-18 24:32:23", 0, 0, 0 },
    { "2025-11-18 20:60:23", 0, 0, 0 },
    { "2025-11-18 20:32:235", 0, 0, 0 },
    { "2025-11-18 20:325", 0, 0, 0 },
    { "2025-11-18 20:32:5", 0, 0, 0 },
    { "1969-11-18 20:32:23", 0, 0, 0 },
    { "9999-11-18 20:32:23", 0, 0, 0 },
    { "18:11:06 x", 0, 0, 0 },
    { "25:11:06.680", 0, 0, 0 },
    { "Nov 18 of last year", 0, 0, 0 },
    { "Now and then", 0, 0, 0 },
    { "x 2025-11-18 20:32:23", 0, 0, 0 },
};

static void times_of_every_kind_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct hs_stamp stamp = { .ns = 4711, .clock = 4711 };
        size_t n = hs_clock_read(hs_str_of(times[i].text), &stamp);

        if (n == 0 && times[i].length == 0)
            assert_int_equal(stamp.ns + stamp.clock, 2 * 4711);
        else if (n != times[i].length || stamp.ns != times[i].ns || stamp.clock != times[i].clock)
            fail_msg("%s: %zu bytes, %lld ns, clock %u", times[i].text, n, (long long)stamp.ns,
                     stamp.clock);
    }
}

static void a_time_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        for (size_t n = 0; n <= strlen(times[i].text); n++) {
            struct hs_stamp stamp;
            char *exact = malloc(n ? n : 1); /* a sanitizer sees a byte beyond */

            assert_non_null(exact);
            memcpy(exact, times[i].text, n);
            assert_true(hs_clock_read((struct hs_str){ .p = exact, .n = n }, &stamp) <= n);
            assert_true(hs_clock_read_seconds((struct hs_str){ .p = exact, .n = n }, &stamp) <= n);
            free(exact);
        }
    }
}

static void seconds_are_since_boot_or_epoch(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        int64_t ns;
        uint32_t clock;
    } seconds[] = {
        { "2397166.983093] NVRM", 14, 2397166983093000, HS_CLOCK_BOOT | FINE },
        { "0.000001", 8, 1000, HS_CLOCK_BOOT | FINE },
        { "0.000000]", 8, 1, HS_CLOCK_BOOT | FINE }, /* 0 would be no time */
        { "1763497943.957466 x", 17, SECONDS * NS + 957466000, ZONE | FINE },
        { "17634979430.957466", 0, 0, 0 },
        { "12.34567", 0, 0, 0 },
        { "12.3456789", 0, 0, 0 },
        { ".345678", 0, 0, 0 },
        { "12", 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        struct hs_stamp stamp = { .ns = 0 };

        assert_int_equal(hs_clock_read_seconds(hs_str_of(seconds[i].text), &stamp),
                         seconds[i].length);
        assert_int_equal(stamp.ns, seconds[i].ns);
        assert_int_equal(stamp.clock, seconds[i].clock);
    }
}

static void parts_of_a_header_are_a_time(void **state)
{
    struct hs_stamp stamp = { .ns = 0 };

    (void)state;
    assert_true(hs_clock_of_parts(1118, HS_STR("20:32:23"), UINT32_MAX, &stamp));
    assert_int_equal(stamp.ns, SECONDS_1972 * NS);
    assert_int_equal(stamp.clock, DAY);
    assert_true(hs_clock_of_parts(20251118, HS_STR("20:32:23"), 957466, &stamp));
    assert_int_equal(stamp.ns, SECONDS * NS + 957466000);
    assert_int_equal(stamp.clock, YEAR | FINE);
    assert_true(hs_clock_of_parts(229, HS_STR("00:00:00"), UINT32_MAX, &stamp));
    assert_false(hs_clock_of_parts(18, HS_STR("20:32:23"), UINT32_MAX, &stamp));
    assert_false(hs_clock_of_parts(230, HS_STR("20:32:23"), UINT32_MAX, &stamp));
    assert_false(hs_clock_of_parts(1118, HS_STR("20:32:2"), UINT32_MAX, &stamp));
    assert_false(hs_clock_of_parts(1118, HS_STR("20:32:230"), UINT32_MAX, &stamp));
    assert_false(hs_clock_of_parts(1118, HS_STR("20:32:23"), 1000000, &stamp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_every_kind_are_read),
        cmocka_unit_test(a_time_may_end_anywhere),
        cmocka_unit_test(seconds_are_since_boot_or_epoch),
        cmocka_unit_test(parts_of_a_header_are_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
