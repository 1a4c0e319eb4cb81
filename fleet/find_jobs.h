/*
 * find_jobs.h - where the jobs are in an archive of them.
 *
 * Every folder is looked at from the top. A folder is a job if one of its folders has the name of a
 * part of a job (logs, dumps, rank3, node-07, attempt_0, ...), or if files lie in it, hidden ones
 * and archives left out; what is below belongs to it. Otherwise its folders are looked at, and each
 * archive and each database of a job in it is a job. A ROOT in which files lie is not thereby one:
 * only if nothing below it is. A folder that cannot be read is a job, so that it is named. Links
 * are not followed.
 *
 * With a glob, exactly the folders and files are jobs whose path below ROOT matches it; a * does
 * not match a slash.
 */
#ifndef HS_FLEET_FIND_JOBS_H
#define HS_FLEET_FIND_JOBS_H

#include "base/arena.h"
#include "base/err.h"

struct hs_found_job {
    struct hs_str path, name; /* absolute; below ROOT, or ROOT's own name */
    int64_t files, bytes, newest_ns;
    uint64_t stamp; /* of names, sizes and times of its files */
};

struct hs_found_jobs {
    struct hs_arena arena;
    struct hs_found_job *items; /* by path */
    uint32_t count, cap;
};

struct hs_find_options {
    const char *glob;     /* NULL: by the rule */
    uint32_t shard, of;   /* only jobs of this shard, from 0; of 0: all */
    struct hs_str except; /* a path whose file, and what is named after it, is no job: the output */
};

/* HS_EUSAGE when a root cannot be read. What is found is released by the caller in any case. */
enum hs_status hs_find_jobs(const char *const *roots, uint32_t count,
                            const struct hs_find_options *options, struct hs_found_jobs *out,
                            struct hs_err *err);
void hs_found_jobs_release(struct hs_found_jobs *jobs);

#endif
