/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same calls in every environment: a trace is text, one call a line, and what comes of it is
 * dumped as text. With the same switches two environments have to dump the same, byte for byte.
 *
 *	cache SEED BUCKETS MAX_SIZE GC_THRESH GC_ELASTICITY GC_TIMEOUT GC_MIN_INTERVAL	(first)
 *	now TIME | gen GENERATION
 *	insert KEY OBJECT DEV GATEWAY
 *	find KEY		and mark the use of what is found
 *	tick | flush | flush-dev DEV | flush-nexthop DEV GATEWAY
 *
 * All numbers are hexadecimal; KEY is the six of struct rtcache_key: daddr saddr net mark uid where.
 */
#ifndef RTCACHE_TRACE_H
#define RTCACHE_TRACE_H

#include "rtcache.h"

struct rtcache_trace {
	struct rtcache *cache; /* NULL before its line */
	u32 now, gen;
	u64 found, missed, stale, refused; /* refused: insertions that got no place */
};

/*
 * Do what @line says (with or without a newline; blank, or beginning with #: nothing). One caller at
 * a time, on one CPU, in a context that may sleep.
 * Returns 0, -EINVAL (no such line) or -ENOMEM.
 */
int rtcache_trace_line(struct rtcache_trace *t, const char *line);

/* Hand the state to @emit, line by line, each with its newline. */
void rtcache_trace_dump(struct rtcache_trace *t, void (*emit)(void *arg, const char *line), void *arg);

/* May be called at any point, and more than once. */
void rtcache_trace_end(struct rtcache_trace *t);

#endif
