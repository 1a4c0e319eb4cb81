/*
 * page_template.c - the pages without data: those that were built in, or a file. They are built
 * from report/ where Node is found (see CMakeLists.txt); HS_JOB_PAGE and HS_FLEET_PAGE are their
 * paths.
 */
#include "analyzer/commands/command.h"
#include "analyzer/render/render.h"

#include <errno.h>

#ifdef HS_JOB_PAGE
#define PAGE_BYTES(name, path)                                                                     \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            "hs_" name "_page_begin:\n"                                                            \
            ".incbin \"" path "\"\n"                                                               \
            "hs_" name "_page_end:\n"                                                              \
            ".byte 0\n"                                                                            \
            ".popsection\n")
PAGE_BYTES("job", HS_JOB_PAGE);
PAGE_BYTES("fleet", HS_FLEET_PAGE);
extern const char hs_job_page_begin[], hs_job_page_end[];
extern const char hs_fleet_page_begin[], hs_fleet_page_end[];

static struct hs_str between(const char *begin, const char *end)
{
    return (struct hs_str){ .p = begin, .n = (size_t)(end - begin) };
}

static struct hs_str built_in(enum hs_page_kind kind)
{
    return kind == HS_PAGE_JOB ? between(hs_job_page_begin, hs_job_page_end)
                               : between(hs_fleet_page_begin, hs_fleet_page_end);
}
#else
static struct hs_str built_in(enum hs_page_kind kind)
{
    (void)kind;
    return (struct hs_str){ .p = NULL };
}
#endif

static enum hs_status read_file(const char *path, struct hs_buf *out, struct hs_err *err)
{
    FILE *in = fopen(path, "rb");
    char room[65536];
    bool failed = !in;
    size_t n;

    while (in && out->n <= HS_PAGE_BYTES_MAX && (n = fread(room, 1, sizeof(room), in)) > 0)
        hs_buf_put(out, (struct hs_str){ .p = room, .n = n });
    failed = failed || ferror(in) != 0;
    if (failed)
        (void)hs_fail(err, HS_EUSAGE, "--template: cannot read '%s': %s", path, strerror(errno));
    if (in)
        (void)fclose(in);
    if (failed)
        return HS_EUSAGE;
    if (out->failed)
        return hs_no_memory(err);
    if (out->n > HS_PAGE_BYTES_MAX || !hs_page_fits(hs_buf_str(out)))
        return hs_fail(err, HS_EUSAGE,
                       "--template: '%s' is no template: it has no line <!--hangscope:data-->",
                       path);
    return HS_OK;
}

enum hs_status hs_page_template(const struct hs_options *o, enum hs_page_kind kind,
                                struct hs_buf *room, struct hs_str *out, struct hs_err *err)
{
    static const char *const names[] = { [HS_PAGE_JOB] = "job", [HS_PAGE_FLEET] = "fleet" };
    struct hs_str page = built_in(kind);
    enum hs_status status;

    if (o->page_template) {
        status = read_file(o->page_template, room, err);
        *out = hs_buf_str(room);
        return status;
    }
    *out = page;
    if (page.p)
        return HS_OK;
    return hs_fail(err, HS_EUSAGE,
                   "this hangscope was built without the page, since Node 18 or newer was not "
                   "found. Install it and build again, or give a page that was built elsewhere: "
                   "--template build/release/report/%s.html",
                   names[kind]);
}
