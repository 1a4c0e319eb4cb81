#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

bool hs_fd_write(int fd, struct hs_str bytes)
{
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes.p += n;
        bytes.n -= (size_t)n;
    }
    return true;
}
