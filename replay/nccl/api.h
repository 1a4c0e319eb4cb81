/*
 * api.h - NCCL and the CUDA runtime, opened at run time: the program runs where they are not, and
 * with versions other than those it was built with. Prototypes are those of the real headers.
 */
#ifndef HS_REPLAY_NCCL_API_H
#define HS_REPLAY_NCCL_API_H

#include "base/err.h"

#include <cuda_runtime.h>
#include <nccl.h>

/* What is called. The last rows of NCCL's may be absent in an older library: NULL. */
#define HS_CUDA_CALLS(X)                                                                           \
    X(cudaGetDeviceCount)                                                                          \
    X(cudaGetErrorString)                                                                          \
    X(cudaRuntimeGetVersion)                                                                       \
    X(cudaDriverGetVersion)                                                                        \
    X(cudaSetDevice)                                                                               \
    X(cudaMalloc)                                                                                  \
    X(cudaMemsetAsync)                                                                             \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaStreamCreateWithFlags)                                                                   \
    X(cudaStreamQuery)                                                                             \
    X(cudaStreamSynchronize)                                                                       \
    X(cudaEventCreateWithFlags)                                                                    \
    X(cudaEventDestroy)                                                                            \
    X(cudaEventRecord)                                                                             \
    X(cudaEventQuery)                                                                              \
    X(cudaEventElapsedTime)
#define HS_NCCL_CALLS(X)                                                                           \
    X(ncclGetVersion)                                                                              \
    X(ncclGetErrorString)                                                                          \
    X(ncclGetUniqueId)                                                                             \
    X(ncclCommInitRankConfig)                                                                      \
    X(ncclCommGetAsyncError)                                                                       \
    X(ncclCommFinalize)                                                                            \
    X(ncclCommDestroy)                                                                             \
    X(ncclCommAbort)                                                                               \
    X(ncclGroupStart)                                                                              \
    X(ncclGroupEnd)                                                                                \
    X(ncclAllReduce)                                                                               \
    X(ncclBroadcast)                                                                               \
    X(ncclReduce)                                                                                  \
    X(ncclAllGather)                                                                               \
    X(ncclReduceScatter)                                                                           \
    X(ncclSend)                                                                                    \
    X(ncclRecv)
#define HS_NCCL_NEWER_CALLS(X)                                                                     \
    X(ncclGetLastError)                                                                            \
    X(ncclCommSplit)

#define HS_API_FIELD(name) __typeof__(&(name)) name; /* NOLINT(bugprone-macro-parentheses) */
struct hs_api {
    void *nccl, *cuda; /* the libraries */
    HS_CUDA_CALLS(HS_API_FIELD)
    HS_NCCL_CALLS(HS_API_FIELD)
    HS_NCCL_NEWER_CALLS(HS_API_FIELD)
};
#undef HS_API_FIELD

/*
 * Open both. NCCL is `nccl_file`, or found by its usual names; the CUDA runtime is `nccl_file`,
 * too, if it has its calls, else found by its usual names. HS_EIO with a sentence why that cannot
 * be. They stay open as long as the process lives.
 */
enum hs_status hs_api_open(struct hs_api *api, const char *nccl_file, struct hs_err *err);

#endif
