/* verdict_output.c - a verdict printed, and the exit status that it means. */
#include "analyzer/commands/command.h"
#include "analyzer/render/render.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static bool has_finding(const struct hs_verdict *v, struct hs_str code)
{
    for (uint32_t i = 0; i < v->finding_count; i++) {
        if (hs_str_is(code, v->findings[i].code))
            return true;
    }
    return false;
}

/* Whether what was found counts, by --fail-on: codes, findings, any fault, or only certain ones. */
static bool is_wanted(const struct hs_verdict *v, const char *list)
{
    bool fault = strcmp(v->code, "healthy") != 0;

    for (const char *at = list; at;) {
        size_t n = strcspn(at, ",");
        struct hs_str word = { .p = at, .n = n };

        if (hs_str_is(word, "any") || hs_str_is(word, "high")
                ? fault && (hs_str_is(word, "any") || v->confidence == HS_HIGH)
                : hs_str_is(word, v->code) || has_finding(v, word))
            return true;
        at = at[n] ? at + n + 1 : NULL;
    }
    return !list && fault;
}

int hs_verdict_exit(const struct hs_verdict *v, const struct hs_options *o)
{
    if (o->exit_zero)
        return HS_EXIT_OK;
    if (strcmp(v->code, "undetermined") == 0)
        return HS_EXIT_OPEN;
    return is_wanted(v, o->fail_on) ? HS_EXIT_FAULT : HS_EXIT_OK;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* 0: not a terminal, or one that does not know. */
static size_t terminal_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

enum hs_status hs_print_verdict(const struct hs_verdict *v, const struct hs_options *o,
                                const struct timespec *start, struct hs_err *err)
{
    struct hs_screen screen = { .language = o->language,
                                .color = o->color,
                                .verbosity = o->verbosity,
                                .seconds = seconds_since(start),
                                .columns = terminal_columns() };
    struct hs_buf out;
    enum hs_status status;

    hs_buf_init(&out);
    if (o->json)
        (void)hs_render_json(v, o->language, &out);
    else
        hs_render_text(v, &screen, &out);
    status = out.failed ? hs_no_memory(err) : hs_print_result(hs_buf_str(&out), err);
    hs_buf_release(&out);
    return status;
}
