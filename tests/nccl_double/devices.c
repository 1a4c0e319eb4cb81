/* devices.c - which GPUs there are, and what an error is called. */
#include "double.h"

#include <stdio.h>
#include <string.h>

static _Thread_local cudaError_t last_error;

enum { MULTIPROCESSORS = 132, WARP = 32, THREADS = 1024, MAJOR = 9, MINOR = 0 };

cudaError_t hs_cuda_error(cudaError_t error)
{
    last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    { cudaSuccess, "cudaSuccess", "no error" },
    { cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
    { cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
    { cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error" },
    { cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
      "CUDA driver version is insufficient for CUDA runtime version" },
    { cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
};

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].error == error)
            return errors[i].text;
    }
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].error == error)
            return errors[i].name;
    }
    return "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int *out)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    *out = hs_settings()->devices;
    hs_leave();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    if (device >= 0 && device < hs_settings()->devices)
        hs_state()->device = device;
    else
        error = hs_cuda_error(cudaErrorInvalidDevice);
    hs_leave();
    return error;
}

cudaError_t cudaGetDevice(int *out)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    *out = hs_state()->device;
    hs_leave();
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaDriverGetVersion(int *out)
{
    *out = hs_settings()->devices < 0 ? 0 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *out)
{
    *out = CUDART_VERSION;
    return cudaSuccess;
}

static cudaError_t check(int device)
{
    cudaError_t error = hs_enter();

    if (error != cudaSuccess)
        return hs_cuda_error(error);
    hs_leave();
    if (device < 0 || device >= hs_settings()->devices)
        return hs_cuda_error(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int device)
{
    cudaError_t error = check(device);

    if (error == cudaSuccess)
        snprintf(out, (size_t)bytes, "0000:%02X:00.0", 1 + device);
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = check(device);

    if (error != cudaSuccess)
        return error;
    switch ((int)attribute) {
    case cudaDevAttrMultiProcessorCount:
        *out = MULTIPROCESSORS;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *out = MAJOR;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *out = MINOR;
        return cudaSuccess;
    case cudaDevAttrPciBusId:
        *out = 1 + device;
        return cudaSuccess;
    default:
        return hs_cuda_error(cudaErrorInvalidValue);
    }
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    cudaError_t error = check(device);

    if (error != cudaSuccess)
        return error;
    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "NCCL double");
    out->totalGlobalMem = hs_settings()->memory_bytes;
    out->major = MAJOR;
    out->minor = MINOR;
    out->multiProcessorCount = MULTIPROCESSORS;
    out->warpSize = WARP;
    out->maxThreadsPerBlock = THREADS;
    out->pciBusID = 1 + device;
    return cudaSuccess;
}
