/*
 * clock.h - times as they stand in logs: every era's formats, and what is missing in them.
 */
#ifndef HS_PARSERS_CLOCK_H
#define HS_PARSERS_CLOCK_H

#include "base/str.h"
#include "schema/event.h"

/*
 * A date and time at the start of `text`, of whatever kind: 2025-11-18T20:32:23.957466207Z,
 * 2025-11-18 20:32:23,957, 2025-02-18 12:54, 18:11:06.680, Thu Jun 18 14:28:36 2020,
 * Feb  2 22:42:45. Returns how many bytes it took, 0 when there is none or more digits follow;
 * `out` is written only then.
 */
size_t hs_clock_read(struct hs_str text, struct hs_stamp *out);

/* Seconds with six digits behind the point, as the kernel prints them in brackets: since the host
 * started, or since the epoch when they are that many. */
size_t hs_clock_read_seconds(struct hs_str text, struct hs_stamp *out);

/* The time in a c10 or glog header: a date as the number [yyyy]mmdd, hh:mm:ss, and microseconds or
 * UINT32_MAX. False when a part is out of range. */
bool hs_clock_of_parts(unsigned date, struct hs_str hms, uint32_t microseconds,
                       struct hs_stamp *out);

#endif
