/* check.h - what the cases of check_double share. Each is a function that every rank runs, as a
 * process of its own. */
#ifndef HS_CHECK_H
#define HS_CHECK_H

#include <cuda_runtime.h>
#include <nccl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS = 4, ELEMENTS = 6, BLOCK_BYTES = ELEMENTS * sizeof(int), STARVED_MS = 100 };

#define CHECK(condition) ((condition) ? (void)0 : fail_check(__FILE__, __LINE__, #condition))
#define OK(call) CHECK((call) == 0)

/* Make a call, and wait until a communicator that does not block has made it. */
#define MADE(comm, call) CHECK(is_made((comm), (call)))

extern int own_rank;

_Noreturn void fail_check(const char *file, int line, const char *what);
bool is_made(ncclComm_t comm, ncclResult_t result);
void sleep_ms(long ms);
ncclResult_t settled(ncclComm_t comm);
ncclComm_t join(void); /* all ranks, each on a device of its own */
cudaStream_t new_stream(void);

void *on_device(const void *bytes, size_t count);

/* RANKS * ELEMENTS elements of a rank that no other rank has, as int. */
void *pattern(int rank);

/* Whether block `at` of a buffer is block `from` of a rank's pattern, the stream being through. */
bool holds(cudaStream_t stream, const void *device, int at, int rank, int from);

/* check_data.c */
void check_moves(void);
void check_reductions(void);
void check_parts(void);
void check_pairs(void);

#endif
