/* common.c - what commands share: printing the result, giving up. */
#include "analyzer/commands/command.h"

#include <errno.h>
#include <unistd.h>

enum hs_status hs_print_result(struct hs_str text, struct hs_err *err)
{
    while (text.n > 0) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hs_fail(err, HS_EIO, "cannot write to standard output: %s", strerror(errno));
        text.p += n;
        text.n -= (size_t)n;
    }
    return HS_OK;
}

int hs_give_up(enum hs_status status, const struct hs_err *err)
{
    hs_err_print(err, stderr);
    return status == HS_EUSAGE ? HS_EXIT_USAGE : HS_EXIT_BROKEN;
}
