#include "parsers/dump_name.h"

#include "base/limits.h"

#include <ctype.h>

static const char *const endings[] = { ".gz",   ".zst",   ".xz",  ".bz2",    ".lz4",
                                       ".json", ".pkl",   ".bin", ".pickle", ".dump",
                                       ".txt",  ".trace", ".dat", ".pt" };

static struct hs_str strip_endings(struct hs_str name)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct hs_str ending = hs_str_of(endings[i]);

        if (name.n > ending.n && hs_str_ends(name, ending)) {
            name.n -= ending.n;
            i = (size_t)-1; /* once more from the start: ".json.gz" */
        }
    }
    return name;
}

/* Whether a folder is named like a machine: letters such as "node", and a number at its end. */
static bool is_host_name(struct hs_str folder)
{
    static const char *const words[] = { "node", "host", "worker", "gpu", "dgx", "ip-", "compute" };

    if (folder.n == 0 || folder.n > 253 || !isdigit((unsigned char)folder.p[folder.n - 1]))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (hs_str_starts(folder, hs_str_of(words[i])))
            return true;
    }
    return false;
}

/* The nearest folder of `path` that is named like a machine. */
static struct hs_str host_folder(struct hs_str path)
{
    size_t end = path.n;

    while (end > 0) {
        size_t from;
        struct hs_str folder;

        while (end > 0 && path.p[end - 1] != '/')
            end--;
        if (end == 0)
            break;
        end--;
        for (from = end; from > 0 && path.p[from - 1] != '/'; from--)
            continue;
        folder = (struct hs_str){ .p = path.p + from, .n = end - from };
        if (is_host_name(folder))
            return folder;
    }
    return (struct hs_str){ .p = "" };
}

bool hs_dump_name_read(struct hs_str path, uint32_t *rank, struct hs_str *host)
{
    static const struct hs_str mark = { .p = "rank_", .n = 5 };
    struct hs_str stem = path;
    const char *at;
    size_t end, from;
    uint64_t value = 0;

    *host = host_folder(path);
    at = memrchr(path.p, '/', path.n);
    if (at) {
        stem.p = at + 1;
        stem.n = path.n - (size_t)(stem.p - path.p);
    }
    stem = strip_endings(stem);
    for (end = stem.n; end > 0 && !isdigit((unsigned char)stem.p[end - 1]); end--)
        continue;
    for (from = end; from > 0 && isdigit((unsigned char)stem.p[from - 1]); from--)
        continue;
    if (end == from || end - from > 9)
        return false;
    for (size_t i = from; i < end; i++)
        value = value * 10 + (uint64_t)(stem.p[i] - '0');
    if (value > HS_RANK_MAX)
        return false;
    *rank = (uint32_t)value;
    at = memmem(stem.p, from, mark.p, mark.n);
    if (at && (size_t)(at - stem.p) + mark.n + 1 < from) {
        at += mark.n; /* "rank_<host>_<rank>" */
        *host = (struct hs_str){ .p = at, .n = from - 1 - (size_t)(at - stem.p) };
    }
    return true;
}
