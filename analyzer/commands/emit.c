/* emit.c - a plan as a program that hangs the same way. */
#include "replay/emit.h"
#include "analyzer/commands/replay_input.h"

enum { WINDOW = 64 };

static const struct {
    const char *language;
    enum hs_status (*emit)(const struct hs_plan *plan, const struct hs_emit_about *about,
                           struct hs_buf *out, struct hs_err *err);
} languages[] = { { "torch", hs_emit_torch }, { "c", hs_emit_c } };

enum { LANGUAGES = sizeof(languages) / sizeof(languages[0]) };

static size_t language_of(const struct hs_options *o)
{
    size_t i = 0;

    while (i < LANGUAGES && (o->path_count == 0 || strcmp(o->paths[0], languages[i].language) != 0))
        i++;
    return i;
}

/* The program's text: with what its plan ends in. */
static enum hs_status make_text(const struct hs_options *o, const struct hs_replay_input *in,
                                size_t language, struct hs_buf *text, struct hs_err *err)
{
    const char *slash = strrchr(o->output, '/');
    struct hs_emit_about about = { .backend = o->backend ? o->backend : "gloo",
                                   .file = slash ? slash + 1 : o->output };
    struct hs_verdict verdict = { .code = NULL };
    struct hs_buf summary;
    enum hs_status status = hs_replay_judge(&in->plan, in->name, &in->about, &verdict, err);

    if (status != HS_OK)
        return status;
    hs_buf_init(&summary);
    hs_phrase_put(&summary, &verdict.summary, HS_ENGLISH);
    about.code = verdict.code;
    about.summary = hs_buf_str(&summary);
    if (strcmp(about.file, "-") == 0)
        about.file = language == 0 ? "repro.py" : "repro.c";
    status =
        summary.failed ? hs_no_memory(err) : languages[language].emit(&in->plan, &about, text, err);
    hs_buf_release(&summary);
    hs_verdict_release(&verdict);
    return status;
}

int hs_run_emit(const struct hs_options *o)
{
    size_t language = language_of(o);
    struct hs_replay_input input;
    struct hs_text_file file;
    struct hs_err err = { .n = 0 };
    struct hs_buf text;
    enum hs_status status;

    if (language == LANGUAGES || o->path_count < 2 || !o->output) {
        status = hs_fail(&err, HS_EUSAGE,
                         "emit: what, of what, and where to? hangscope emit torch|c PATH -o FILE");
        return hs_give_up(status, &err);
    }
    if (o->backend && strcmp(languages[language].language, "c") == 0 &&
        strcmp(o->backend, "nccl") != 0) {
        status = hs_fail(&err, HS_EUSAGE,
                         "emit c: a C program is for NCCL alone; 'emit torch' has gloo");
        return hs_give_up(status, &err);
    }
    hs_buf_init(&text);
    status = hs_replay_input_read(o, o->paths + 1, o->path_count - 1,
                                  o->window ? o->window : WINDOW, &input, &err);
    if (status == HS_OK)
        status = make_text(o, &input, language, &text, &err);
    if (status == HS_OK)
        status = hs_text_file_open(&file, o, "hangscope emit", &err);
    if (status == HS_OK) {
        status = hs_text_file_put(&file, hs_buf_str(&text), &err);
        status = hs_text_file_close(&file, status, &err);
    }
    hs_buf_release(&text);
    hs_replay_input_release(&input);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
