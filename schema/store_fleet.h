/*
 * store_fleet.h - a fleet as a file: one process writes it, in transactions, so that it can be
 * ended at any moment; what was judged before is known again.
 */
#ifndef HS_SCHEMA_STORE_FLEET_H
#define HS_SCHEMA_STORE_FLEET_H

#include "schema/fleet.h"
#include "schema/store.h"

struct hs_fleet;

/* Whether a file is a fleet, by its first bytes. */
bool hs_fleet_is(const char *path);

/*
 * Open a fleet to be filled; one that is not there is made. `restart`: begin it anew. HS_EUSAGE:
 * something else is there (`force` replaces it), it is of another version, or somebody else writes.
 */
enum hs_status hs_fleet_open(const char *path, bool restart, bool force, struct hs_fleet **out,
                             struct hs_err *err);
void hs_fleet_close(struct hs_fleet *fleet); /* what was not committed is undone */

/* The same refusals, before anything is done in vain. */
enum hs_status hs_fleet_may_write(const char *path, bool force, struct hs_err *err);

/* Whether this job was judged as it is now (path, stamp, tool); it is then one of the chosen. */
enum hs_status hs_fleet_knows(struct hs_fleet *fleet, const struct hs_fleet_row *row, bool *known,
                              struct hs_err *err);

/* Write a job, in place of what was known of its path, and commit what was written. */
enum hs_status hs_fleet_write(struct hs_fleet *fleet, const struct hs_fleet_row *row,
                              struct hs_err *err);
enum hs_status hs_fleet_commit(struct hs_fleet *fleet, struct hs_err *err);

/* A SELECT of ours; temp.chosen (id) holds the jobs that were asked for or written since it was
 * opened, temp.fresh (id) those of the last transaction. */
enum hs_status hs_fleet_ask(struct hs_fleet *fleet, const char *sql, hs_row_fn *row, void *self,
                            struct hs_err *err);

/* Fleets put together. Of a path that is in several the one judged last counts. */
enum hs_status hs_fleet_merge(const char *const *paths, uint32_t count, const char *to, bool force,
                              struct hs_err *err);

#endif
