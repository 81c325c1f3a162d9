/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything at once, for a while: lookups, insertions, expiry, flushes, changed limits and switches,
 * and allocations that fail. Whatever a lookup finds is looked at as long as it may be used.
 */
#ifndef RTCACHE_USER_TORTURE_H
#define RTCACHE_USER_TORTURE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct torture_options {
	double seconds;
	unsigned int threads;  /* that look up, 1 to TORTURE_THREADS_MAX */
	uint32_t keys;	       /* different ones, at least 1 */
	unsigned int fail_one_in; /* allocations; 0: none fails */
	uint64_t seed;
	const char *axes;      /* as rtcache_axes_parse() reads them; NULL: they change all the time */
	bool broken;	       /* free without a grace period: must be noticed */
};

enum { TORTURE_THREADS_MAX = 12 };

struct torture_result {
	uint64_t lookups, hits, held, inserted, evicted, expired, flushed, no_memory;
	uint64_t changes;      /* of switches and limits */
	uint64_t most_entries; /* of max_size */
	uint64_t over;	       /* times that there were more entries than max_size */
	uint64_t poisoned;     /* times that something was seen that had been freed, or was another's */
	int64_t leaked;	       /* allocations and objects that are left */
};

/* Returns 0, whatever was found, or negative errno when it could not be run. */
int torture_run(const struct torture_options *o, struct torture_result *r, struct err *err);

#endif
