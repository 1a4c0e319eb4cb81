/*
 * page_template.c - the page without data: the one that was built in, or a file. It is built from
 * report/ where Node is found (see CMakeLists.txt); HS_JOB_PAGE is its path.
 */
#include "analyzer/commands/command.h"
#include "analyzer/render/render.h"

#include <errno.h>

#ifdef HS_JOB_PAGE
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "hs_job_page_begin:\n"
        ".incbin \"" HS_JOB_PAGE "\"\n"
        "hs_job_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char hs_job_page_begin[], hs_job_page_end[];

static struct hs_str built_in(void)
{
    return (struct hs_str){ .p = hs_job_page_begin,
                            .n = (size_t)(hs_job_page_end - hs_job_page_begin) };
}
#else
static struct hs_str built_in(void)
{
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

enum hs_status hs_page_template(const struct hs_options *o, struct hs_buf *room, struct hs_str *out,
                                struct hs_err *err)
{
    struct hs_str page = built_in();
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
                   "--template build/release/report/job.html");
}
