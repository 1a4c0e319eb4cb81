/* test_gzip.c - what is packed unpacks to the same, and equal bytes give equal streams. */
#include "base/buf.h"
#include "base/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static enum hs_status keep(void *self, struct hs_str piece, struct hs_err *err)
{
    (void)err;
    hs_buf_put(self, piece);
    return HS_OK;
}

static enum hs_status refuse(void *self, struct hs_str piece, struct hs_err *err)
{
    (void)self, (void)piece;
    return hs_fail(err, HS_EIO, "no space left");
}

static void pack(struct hs_str bytes, size_t piece, struct hs_buf *out)
{
    struct hs_err err = { .n = 0 };
    struct hs_gzip gzip;

    hs_buf_init(out);
    assert_int_equal(hs_gzip_init(&gzip, keep, out, &err), HS_OK);
    for (size_t at = 0; at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;

        assert_int_equal(hs_gzip_put(&gzip, (struct hs_str){ bytes.p + at, n }, &err), HS_OK);
    }
    assert_int_equal(hs_gzip_end(&gzip, &err), HS_OK);
    hs_gzip_release(&gzip);
}

/* A megabyte that repeats a little. */
static struct hs_str some_bytes(void)
{
    enum { BYTES = 1 << 20 };
    char *p = malloc(BYTES);
    uint32_t seed = 1;

    assert_non_null(p);
    for (size_t i = 0; i < BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (char)(seed >> 24 & 15u);
    }
    return (struct hs_str){ .p = p, .n = BYTES };
}

static void what_is_packed_unpacks(void **state)
{
    struct hs_str bytes = some_bytes();
    struct hs_buf packed, other;
    char path[] = "/tmp/hangscope-gzip-XXXXXX", command[128];
    int fd = mkstemp(path);
    FILE *in;
    char *back = malloc(bytes.n + 1);

    (void)state;
    assert_true(fd >= 0);
    assert_non_null(back);
    pack(bytes, bytes.n, &packed);
    pack(bytes, 1000, &other);
    assert_true(hs_str_eq(hs_buf_str(&packed), hs_buf_str(&other)));
    assert_true(packed.n < bytes.n * 6 / 10);
    assert_memory_equal(packed.p, "\x1f\x8b\x08\0\0\0\0\0", 8); /* no name, no time */
    assert_int_equal(write(fd, packed.p, packed.n), packed.n);
    (void)close(fd);
    (void)snprintf(command, sizeof(command), "gzip -dc < %s", path);
    in = popen(command, "r");
    assert_non_null(in);
    assert_int_equal(fread(back, 1, bytes.n + 1, in), bytes.n);
    assert_int_equal(pclose(in), 0);
    assert_memory_equal(back, bytes.p, bytes.n);
    (void)unlink(path);
    hs_buf_release(&packed);
    hs_buf_release(&other);
    free(back);
    free((void *)bytes.p);
}

static void nothing_packs_to_an_empty_stream(void **state)
{
    struct hs_buf packed;

    (void)state;
    pack(HS_STR(""), 1, &packed);
    assert_true(packed.n >= 18 && packed.n <= 24);
    hs_buf_release(&packed);
}

static void a_sink_that_fails_says_why(void **state)
{
    struct hs_str bytes = some_bytes();
    struct hs_err err = { .n = 0 };
    struct hs_gzip gzip;
    enum hs_status status = hs_gzip_init(&gzip, refuse, NULL, &err);

    (void)state;
    for (unsigned i = 0; status == HS_OK && i < 4; i++)
        status = hs_gzip_put(&gzip, bytes, &err);
    assert_int_equal(status, HS_EIO);
    assert_string_equal(err.causes[0].text, "no space left");
    hs_gzip_release(&gzip);
    free((void *)bytes.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks),
        cmocka_unit_test(nothing_packs_to_an_empty_stream),
        cmocka_unit_test(a_sink_that_fails_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
