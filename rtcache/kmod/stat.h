/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters, one set a CPU, and /proc/net/stat/rtcache of the first network namespace, in the format
 * of its neighbours there, which lnstat reads: a line of names and a line of hexadecimal numbers for
 * each CPU.
 */
#ifndef KMOD_STAT_H
#define KMOD_STAT_H

#include <linux/percpu.h>

/*
 * hit: answered from the cache. miss: looked up by the kernel, and stored if it may be. bypass: left to
 * the kernel without a look into the cache. Each lookup counts in exactly one of the three, or
 * with refcnt=percpu in own_miss: there is an entry, but this CPU has no result of its own for it yet.
 * verified, differs: of the hits, those that the kernel's own lookup was asked about at the same generation.
 */
#define STAT_COUNTERS(X) X(in_hit) X(in_miss) X(in_bypass) X(out_hit) X(out_miss) X(out_bypass) \
	X(in_verified) X(in_differs) X(out_verified) X(out_differs) X(out_own_miss)

struct stat_counters {
#define STAT_FIELD(name) unsigned long name;
	STAT_COUNTERS(STAT_FIELD)
#undef STAT_FIELD
};

DECLARE_PER_CPU(struct stat_counters, stat_counters);

/* Add one to a counter of this CPU. From any context, migration allowed. */
#define stat_inc(name) this_cpu_inc(stat_counters.name)

int stat_init(void); /* 0, or -ENOMEM after a message */
void stat_exit(void);

#endif
