/* segment.c - a communicator's shared memory: rows where all meet, and rows for each pair. */
#include "double.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t row_bytes(uint64_t members)
{
    return sizeof(struct hs_row) + members * sizeof(struct hs_post);
}

static uint64_t segment_bytes(uint64_t members)
{
    return sizeof(struct hs_segment) + (HS_ROWS + HS_SPLIT_ROWS) * row_bytes(members) +
           members * members * HS_PAIR_ROWS * sizeof(struct hs_pair_row);
}

/* Pages that nobody touches cost nothing, and what is new is zero: rows of turn 0, all free. */
struct hs_segment *hs_segment_open(const char *name, int members)
{
    uint64_t bytes = segment_bytes((uint64_t)members);
    struct hs_segment *s = MAP_FAILED;
    int32_t nobody = 0;
    int fd = shm_open(name, O_CREAT | O_RDWR, 0600);

    if (fd < 0)
        return NULL;
    if (ftruncate(fd, (off_t)bytes) == 0)
        s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (s == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&s->members, &nobody, members) && nobody != members) {
        munmap(s, bytes);
        return NULL;
    }
    strncpy(s->name, name, sizeof(s->name) - 1);
    return s;
}

void hs_segment_close(struct hs_segment *segment)
{
    munmap(segment, segment_bytes((uint64_t)segment->members));
}

void hs_segment_unlink(const struct hs_segment *segment)
{
    shm_unlink(segment->name);
}

static struct hs_row *row_at(struct hs_segment *segment, uint64_t index)
{
    char *rows = (char *)(segment + 1);

    return (struct hs_row *)(void *)(rows + index * row_bytes((uint64_t)segment->members));
}

struct hs_row *hs_segment_row(struct hs_segment *segment, uint64_t position)
{
    struct hs_row *row = row_at(segment, position % HS_ROWS);

    return atomic_load(&row->turn) == position / HS_ROWS ? row : NULL;
}

struct hs_row *hs_segment_split_row(struct hs_segment *segment, uint64_t position)
{
    struct hs_row *row = row_at(segment, HS_ROWS + position % HS_SPLIT_ROWS);

    return atomic_load(&row->turn) == position / HS_SPLIT_ROWS ? row : NULL;
}

struct hs_pair_row *hs_segment_pair(struct hs_segment *segment, int from, int to, uint64_t position)
{
    struct hs_pair_row *pairs = (void *)row_at(segment, HS_ROWS + HS_SPLIT_ROWS);
    uint64_t pair = (uint64_t)from * (uint64_t)segment->members + (uint64_t)to;
    struct hs_pair_row *row = &pairs[pair * HS_PAIR_ROWS + position % HS_PAIR_ROWS];

    return atomic_load(&row->turn) == position / HS_PAIR_ROWS ? row : NULL;
}

void hs_row_leave(struct hs_row *row, uint32_t members)
{
    if (atomic_fetch_add(&row->left, 1) + 1 < members)
        return;
    atomic_store(&row->arrived, 0);
    atomic_store(&row->produced, 0);
    atomic_store(&row->collected, 0);
    atomic_store(&row->left, 0);
    atomic_fetch_add(&row->turn, 1);
}
