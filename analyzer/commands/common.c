/* common.c - what commands share: printing the result, giving up. */
#include "analyzer/commands/command.h"
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

enum hs_status hs_print_result(struct hs_str text, struct hs_err *err)
{
    return hs_fd_write(STDOUT_FILENO, text)
               ? HS_OK
               : hs_fail(err, HS_EIO, "cannot write to standard output: %s", strerror(errno));
}

int hs_give_up(enum hs_status status, const struct hs_err *err)
{
    hs_err_print(err, stderr);
    return status == HS_EUSAGE ? HS_EXIT_USAGE : HS_EXIT_BROKEN;
}
