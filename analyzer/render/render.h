/* render.h - what was decided, printed. Renderers compute nothing. */
#ifndef HS_ANALYZER_RENDER_H
#define HS_ANALYZER_RENDER_H

#include "base/err.h"
#include "schema/job.h"
#include "schema/report.h"
#include "schema/verdict.h"

/* The verdict object of docs/verdict.md, as one JSON document and a newline. */
bool hs_render_json(const struct hs_verdict *verdict, enum hs_language language,
                    struct hs_buf *out);

/* One topic of `explain` as an object, or all of them as a list (topic NULL). */
void hs_render_topics_json(const struct hs_topic *topic, enum hs_language language,
                           struct hs_buf *out);

struct hs_format_row {
    const char *name, *summary;
};

/* The sources of a job with the bids for each (in the order of `formats`), or the formats (job
 * NULL). */
void hs_render_formats_json(const struct hs_format_row *formats, uint32_t format_count,
                            const struct hs_job *job, struct hs_buf *out);

struct hs_screen {
    enum hs_language language;
    bool color;
    int verbosity; /* -1: the sentence alone; 0: one screen; 1 and more: all places, notes, evidence
                    */
    double seconds; /* what it took; < 0: not shown */
    size_t columns; /* of the terminal, for cutting evidence; 0: whole lines */
};

/* One screen for a terminal. */
void hs_render_text(const struct hs_verdict *verdict, const struct hs_screen *screen,
                    struct hs_buf *out);

/* What a page shows. */
struct hs_page {
    const struct hs_verdict *verdict;
    const struct hs_report *report;
    enum hs_language language;
};

typedef enum hs_status hs_page_sink_fn(void *self, struct hs_str piece, struct hs_err *err);

/* Whether a template has the place where data goes. */
bool hs_page_fits(struct hs_str page_template);

/* One self-contained HTML file: the template with the data of docs/formats/report-data.md. */
enum hs_status hs_render_page(const struct hs_page *page, struct hs_str page_template,
                              hs_page_sink_fn *sink, void *self, struct hs_err *err);

/* The same of a fleet. `way` leads from the folder of the page to that of the fleet: "" or "../a/".
 */
struct hs_fleet_page {
    const char *path;
    struct hs_str name, way;
};

enum hs_status hs_render_fleet(const struct hs_fleet_page *page, struct hs_str page_template,
                               hs_page_sink_fn *sink, void *self, struct hs_err *err);

#endif
