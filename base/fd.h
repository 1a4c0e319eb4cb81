/* fd.h - file descriptors. */
#ifndef HS_BASE_FD_H
#define HS_BASE_FD_H

#include "base/str.h"

/* Write all of it, in as many pieces as it takes. False: errno says why. */
bool hs_fd_write(int fd, struct hs_str bytes);

#endif
