/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lookups per second: the cache beside liburcu's and DPDK's hash tables. */
#ifndef RTCACHE_USER_BENCH_H
#define RTCACHE_USER_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct bench_options {
	double seconds; /* of a sample */
	unsigned int threads;
	uint32_t keys; /* all of them are in the table */
	uint64_t seed;
	bool zipf;	  /* exponent 1, else uniform */
	const char *axes; /* NULL: lookup=rcu refcnt=noref */
};

/* Prints JSON. Returns 0 or negative errno. */
int bench_run(const struct bench_options *o, struct err *err);

#endif
