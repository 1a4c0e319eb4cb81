/*
 * text_file.h - what a command writes goes to FILE (- is standard output): aside, then renamed. The
 * pieces come by a sink.
 */
#ifndef HS_ANALYZER_TEXT_FILE_H
#define HS_ANALYZER_TEXT_FILE_H

#include "analyzer/commands/command.h"

#include <signal.h>

struct hs_text_file {
    const struct hs_options *options;
    const char *path;
    char *aside; /* NULL: standard output */
    int fd;
    sigset_t before; /* signals that waited already */
    bool stopped;    /* a signal came, and so there is no file */
};

/* Let the signals that end the program wait: what is put in its place is either all there or not.
 */
void hs_text_file_hold_signals(sigset_t *before);

/* A FILE that is there is replaced when it begins with `mark`, packed or not, or with --force. */
enum hs_status hs_text_file_open(struct hs_text_file *file, const struct hs_options *options,
                                 const char *mark, struct hs_err *err);
enum hs_status hs_text_file_put(void *file, struct hs_str piece, struct hs_err *err);
/* `status` is how the writing went: only HS_OK leaves a file. */
enum hs_status hs_text_file_close(struct hs_text_file *file, enum hs_status status,
                                  struct hs_err *err);

#endif
