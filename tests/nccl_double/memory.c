/*
 * memory.c - device memory. A block is a file without a name, mapped twice: the program sees a
 * place that nobody can read or write, as the memory of a device; the double uses the other one.
 * Other processes read the file through /proc. When its process ends, it is gone.
 */
#include "double.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct block {
    struct block *next;
    char *shown, *real;
    uint64_t bytes;
    int fd;
};

static struct block *blocks; /* under the lock */
static uint64_t used_bytes;

static struct block *block_of(const void *address)
{
    struct block *b = blocks;

    while (b && !((const char *)address >= b->shown && (const char *)address < b->shown + b->bytes))
        b = b->next;
    return b;
}

bool hs_memory_find(const void *address, uint64_t bytes, struct hs_place *out)
{
    const struct block *b = block_of(address);
    uint64_t offset = b ? (uint64_t)((const char *)address - b->shown) : 0;

    if (!b || bytes > b->bytes - offset)
        return false;
    *out = (struct hs_place){ hs_state()->pid, b->fd, offset };
    return true;
}

const char *hs_memory_source(const void *address)
{
    const struct block *b = block_of(address);

    return b ? b->real + ((const char *)address - b->shown) : address;
}

char *hs_memory_real(void *address)
{
    const struct block *b = block_of(address);

    return b ? b->real + ((char *)address - b->shown) : address;
}

void *hs_memory_new(uint64_t bytes)
{
    struct block *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->bytes = bytes ? bytes : 1;
    b->shown = b->real = MAP_FAILED;
    b->fd = memfd_create("nccl-double", MFD_CLOEXEC);
    if (b->fd >= 0 && ftruncate(b->fd, (off_t)b->bytes) == 0) {
        b->shown = mmap(NULL, b->bytes, PROT_NONE, MAP_SHARED, b->fd, 0);
        b->real = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    }
    if (b->shown != MAP_FAILED && b->real != MAP_FAILED) {
        b->next = blocks;
        blocks = b;
        return b->shown;
    }
    if (b->shown != MAP_FAILED)
        munmap(b->shown, b->bytes);
    if (b->fd >= 0)
        close(b->fd);
    free(b);
    return NULL;
}

void hs_memory_free(void *address)
{
    for (struct block **at = &blocks; *at; at = &(*at)->next) {
        struct block *b = *at;

        if (b->shown != address)
            continue;
        *at = b->next;
        munmap(b->shown, b->bytes);
        munmap(b->real, b->bytes);
        close(b->fd);
        free(b);
        return;
    }
}

bool hs_place_read(const struct hs_place *place, uint64_t at, void *out, uint64_t bytes)
{
    char path[64];
    int fd;
    uint64_t got = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->pid, place->fd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (got < bytes) {
        ssize_t n = pread(fd, (char *)out + got, bytes - got, (off_t)(place->offset + at + got));

        if (n <= 0)
            break;
        got += (uint64_t)n;
    }
    close(fd);
    return got == bytes;
}

/* ---- entry points ---- */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    cudaError_t error = hs_enter();
    void *p = NULL;

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    if (bytes <= hs_settings()->memory_bytes - used_bytes)
        p = hs_memory_new(bytes);
    if (p) {
        used_bytes += bytes ? bytes : 1;
        *out = p;
    }
    hs_leave();
    return p ? cudaSuccess : hs_cuda_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *address)
{
    cudaError_t error = hs_enter();
    const struct block *b;

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    if (address) {
        while (hs_streams_busy())
            hs_await();
        b = block_of(address);
        if (b && b->shown == address) {
            used_bytes -= b->bytes;
            hs_memory_free(address);
        } else {
            error = cudaErrorInvalidValue;
        }
    }
    hs_leave();
    return error == cudaSuccess ? error : hs_cuda_error(error);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    *total_bytes = hs_settings()->memory_bytes;
    *free_bytes = *total_bytes - used_bytes;
    hs_leave();
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (p)
        *out = p;
    return p ? cudaSuccess : hs_cuda_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *address)
{
    free(address);
    return cudaSuccess;
}

ncclResult_t ncclMemAlloc(void **out, size_t bytes)
{
    return cudaMalloc(out, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void *address)
{
    return cudaFree(address) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
