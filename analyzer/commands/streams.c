/* streams.c - standard input and FIFOs, opened to see what comes. */
#include "analyzer/commands/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many bytes as tell what it is, or all that there are. What cannot be read is told by whoever
 * reads on. */
static bool read_head(int fd, struct hs_buf *head)
{
    enum { HEAD_BYTES = 512 };
    ssize_t n = 1;

    if (!hs_buf_reserve(head, HEAD_BYTES))
        return false;
    while (n > 0 && head->n < HEAD_BYTES) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };

        n = read(fd, head->p + head->n, HEAD_BYTES - head->n);
        if (n > 0)
            head->n += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0 && errno == EAGAIN)
            n = poll(&wait, 1, -1) >= 0;
    }
    return true;
}

static bool is_same(int fd, const struct stat *named)
{
    struct stat opened;

    return fd >= 0 && fstat(fd, &opened) == 0 && named->st_dev == opened.st_dev &&
           named->st_ino == opened.st_ino;
}

/* The one that a path is among those that are open; what is given twice is there once. */
static const struct hs_opened *find(const struct hs_streams *s, const char *path)
{
    bool is_standard_input = strcmp(path, "-") == 0;
    struct stat named;

    if (!is_standard_input && (stat(path, &named) != 0 || !S_ISFIFO(named.st_mode)))
        return NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        if (is_standard_input ? s->rows[i].fd == STDIN_FILENO : is_same(s->rows[i].fd, &named))
            return &s->rows[i];
    }
    return NULL;
}

static enum hs_status open_one(const char *path, bool wait, struct hs_opened *row,
                               struct hs_buf *head, struct hs_err *err)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        row->fd = STDIN_FILENO;
    else if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        row->fd = open(path, O_RDONLY | O_CLOEXEC | (wait ? 0 : O_NONBLOCK));
    else
        return HS_OK;
    if (row->fd < 0)
        return hs_fail(err, HS_EUSAGE, "cannot read %s: %s", path, strerror(errno));
    if (!read_head(row->fd, head))
        return hs_no_memory(err);
    if (row->fd != STDIN_FILENO && !wait)
        (void)fcntl(row->fd, F_SETFL, 0); /* there is a writer, or nothing will come */
    row->head = hs_buf_str(head);
    return HS_OK;
}

enum hs_status hs_streams_open(const char *const *paths, uint32_t count, bool wait,
                               struct hs_streams *out, struct hs_err *err)
{
    struct hs_streams s = { .rows = calloc(count + 1u, sizeof(*s.rows)),
                            .heads = calloc(count + 1u, sizeof(*s.heads)),
                            .count = count };
    enum hs_status status = HS_OK;

    if (!s.rows || !s.heads) {
        free(s.rows);
        free(s.heads);
        return hs_no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        s.rows[i].fd = -1;
        hs_buf_init(&s.heads[i]);
    }
    for (uint32_t i = 0; status == HS_OK && i < count; i++) {
        if (!find(&s, paths[i]))
            status = open_one(paths[i], wait, &s.rows[i], &s.heads[i], err);
    }
    if (status == HS_OK)
        *out = s;
    else
        hs_streams_close(&s);
    return status;
}

void hs_streams_close(struct hs_streams *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->rows[i].fd > STDIN_FILENO)
            (void)close(s->rows[i].fd);
        hs_buf_release(&s->heads[i]);
    }
    free(s->rows);
    free(s->heads);
    *s = (struct hs_streams){ .rows = NULL };
}

const struct hs_opened *hs_streams_find(const struct hs_streams *s, const struct hs_input *input)
{
    return find(s, input->path.p);
}
