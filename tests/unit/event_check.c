/* event_check.c - samples of text against the events they must become. */
#include "event_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka wants the three above before itself */
#include <cmocka.h>

static void read_sample(const struct hs_parser *parser, const struct hs_families *families,
                        const struct event_sample *sample, size_t chunk, struct hs_buf *out)
{
    struct hs_job job;

    out->n = 0;
    assert_true(
        event_text_read(parser, families, sample->name, hs_str_of(sample->text), chunk, &job));
    event_text_show(&job, families, "records", out);
    hs_buf_putc(out, '\0');
    hs_job_release(&job);
}

void event_text_check(const struct hs_parser *parser, const struct hs_families *families,
                      const struct event_sample *samples, size_t count)
{
    struct hs_buf out;

    hs_buf_init(&out);
    for (size_t i = 0; i < count; i++) {
        struct event_sample cut = samples[i];
        char *text = strdup(samples[i].text);

        read_sample(parser, families, &samples[i], 1 << 20, &out);
        if (strcmp(out.p, samples[i].events) != 0)
            print_error("sample %zu:\n%s", i, samples[i].text);
        assert_string_equal(out.p, samples[i].events);
        read_sample(parser, families, &samples[i], 1, &out);
        assert_string_equal(out.p, samples[i].events);
        cut.text = text;
        for (size_t n = strlen(text); n-- > 0;) {
            text[n] = '\0';
            read_sample(parser, families, &cut, 1 << 20, &out);
        }
        free(text);
    }
    hs_buf_release(&out);
}
