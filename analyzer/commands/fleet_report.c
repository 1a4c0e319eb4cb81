/* fleet_report.c - a fleet as a page: one HTML file that opens without a network. */
#include "analyzer/commands/text_file.h"
#include "analyzer/render/render.h"
#include "schema/store_fleet.h"

#include <libgen.h>
#include <stdlib.h>

/* The folder of a file as an absolute path without links, to be freed; NULL: there is none. */
static char *folder_of(const char *file)
{
    char *copy = strdup(file);
    char *folder = copy ? realpath(dirname(copy), NULL) : NULL;

    free(copy);
    return folder;
}

/* How to come from one folder to another: "" or "../a/". */
static void put_way(struct hs_buf *out, const char *from, const char *to)
{
    size_t same = 0, at = 0;

    /* Up to the last slash, or end of both, that they share. */
    for (;; at++) {
        bool end = (from[at] == '\0' || from[at] == '/') && (to[at] == '\0' || to[at] == '/');

        if (end)
            same = at;
        if (from[at] != to[at] || from[at] == '\0')
            break;
    }
    for (const char *p = from + same; *p; p++) {
        if (*p == '/' && p[1])
            hs_buf_put(out, HS_STR("../"));
    }
    to += same;
    while (*to == '/')
        to++;
    if (*to)
        hs_buf_printf(out, "%s/", to);
}

/* What was kept of jobs lies beside the fleet: links of the page begin with the way there. */
static void find_way(struct hs_buf *out, const char *page, const char *fleet)
{
    char *from = folder_of(page), *to = folder_of(fleet);

    if (from && to)
        put_way(out, from, to);
    free(from);
    free(to);
}

enum hs_status hs_write_fleet_page(const struct hs_options *o, const char *fleet,
                                   struct hs_err *err)
{
    const char *slash = strrchr(fleet, '/');
    struct hs_fleet_page page = { .path = fleet, .name = hs_str_of(slash ? slash + 1 : fleet) };
    struct hs_str template = { .p = NULL };
    struct hs_buf room, way;
    struct hs_text_file file;
    enum hs_status status;

    if (!o->output)
        return hs_fail(err, HS_EUSAGE,
                       "fleet report: where to? hangscope fleet report FLEET.db -o FILE.html");
    hs_buf_init(&room);
    hs_buf_init(&way);
    status = hs_page_template(o, HS_PAGE_FLEET, &room, &template, err);
    if (status == HS_OK)
        status = hs_text_file_open(&file, o, HS_PAGE_MARK, err);
    if (status == HS_OK) {
        if (strcmp(o->output, "-") != 0)
            find_way(&way, o->output, fleet);
        page.way = way.n ? hs_buf_str(&way) : HS_STR("");
        status = way.failed ? hs_no_memory(err) : HS_OK;
        if (status == HS_OK)
            status = hs_render_fleet(&page, template, hs_text_file_put, &file, err);
        status = hs_text_file_close(&file, status, err);
    }
    hs_buf_release(&way);
    hs_buf_release(&room);
    return status;
}
