/*
 * err.h - how an operation fails.
 *
 * A function that can fail returns enum hs_status and takes `struct hs_err *err` last. The function
 * that first decides what went wrong calls hs_fail(); a caller that can add where or why calls
 * hs_note(); everyone else passes the status up untouched. Nothing here allocates, so running out
 * of memory is reported like anything else.
 *
 * Bad input is not a failure: it is a diagnostic of the job (schema/job.h).
 */
#ifndef HS_BASE_ERR_H
#define HS_BASE_ERR_H

#include <stdio.h>

enum hs_status {
    HS_OK = 0,
    HS_ENOMEM,
    HS_EIO,
    HS_EUSAGE, /* the user asked for something that cannot be: exit status 2 */
};

#define HS_CAUSES_MAX 8

struct hs_cause {
    char text[512];
};

struct hs_err {
    unsigned n;
    struct hs_cause causes[HS_CAUSES_MAX]; /* [0] is the root cause */
};

#define hs_note hs_fail

__attribute__((format(printf, 3, 4))) enum hs_status hs_fail(struct hs_err *err,
                                                             enum hs_status status, const char *fmt,
                                                             ...);

/* "out of memory", the one failure that needs no words of its own. */
enum hs_status hs_no_memory(struct hs_err *err);

/* The outermost note first, each cause on its own line. */
void hs_err_print(const struct hs_err *err, FILE *out);

#endif
