/* api.c - the two libraries, opened, and their entry points by name. */
#include "replay/nccl/api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct entry {
    const char *name;
    size_t place; /* in struct hs_api */
    bool newer;   /* may be absent */
};

#define NEEDED(name) { #name, offsetof(struct hs_api, name), false },
#define NEWER(name) { #name, offsetof(struct hs_api, name), true },
static const struct entry cuda_entries[] = { HS_CUDA_CALLS(NEEDED) };
static const struct entry nccl_entries[] = { HS_NCCL_CALLS(NEEDED) HS_NCCL_NEWER_CALLS(NEWER) };

enum {
    CUDA_ENTRIES = sizeof(cuda_entries) / sizeof(cuda_entries[0]),
    NCCL_ENTRIES = sizeof(nccl_entries) / sizeof(nccl_entries[0])
};

static const char *const nccl_names[] = { "libnccl.so.2", "libnccl.so", NULL };
static const char *const cuda_names[] = { "libcudart.so", "libcudart.so.13", "libcudart.so.12",
                                          "libcudart.so.11.0", NULL };

/* The first that opens, or NULL. */
static void *open_any(const char *const *names)
{
    void *library = NULL;

    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* The name of the first entry point that is needed and absent, or NULL. */
static const char *look_up(struct hs_api *api, void *library, const struct entry *entries,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, entries[i].name);

        if (!found && !entries[i].newer)
            return entries[i].name;
        memcpy((char *)api + entries[i].place, &found, sizeof(found));
    }
    return NULL;
}

static enum hs_status open_nccl(struct hs_api *api, const char *file, struct hs_err *err)
{
    const char *absent;

    api->nccl = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : open_any(nccl_names);
    if (!api->nccl)
        return hs_fail(err, HS_EIO, "cannot open NCCL: %s%s", dlerror(),
                       file ? "" : "; --nccl-lib FILE says where it is");
    absent = look_up(api, api->nccl, nccl_entries, NCCL_ENTRIES);
    if (absent)
        return hs_fail(err, HS_EIO, "%s has no %s: NCCL 2.14 or later is needed",
                       file ? file : "the NCCL that is installed", absent);
    return HS_OK;
}

enum hs_status hs_api_open(struct hs_api *api, const char *nccl_file, struct hs_err *err)
{
    enum hs_status status;
    const char *absent;

    *api = (struct hs_api){ .nccl = NULL };
    status = open_nccl(api, nccl_file, err);
    if (status != HS_OK)
        return status;
    api->cuda =
        nccl_file && dlsym(api->nccl, "cudaGetDeviceCount") ? api->nccl : open_any(cuda_names);
    if (!api->cuda)
        return hs_fail(err, HS_EIO,
                       "cannot open the CUDA runtime: %s; LD_LIBRARY_PATH says where it is",
                       dlerror());
    absent = look_up(api, api->cuda, cuda_entries, CUDA_ENTRIES);
    if (absent)
        return hs_fail(err, HS_EIO, "the CUDA runtime that is installed has no %s", absent);
    return HS_OK;
}
