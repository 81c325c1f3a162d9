/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates and schedules in one line. */
#ifndef TESTS_UNIT_SCHED_MAKE_H
#define TESTS_UNIT_SCHED_MAKE_H

#include "lib/sched.h"

/* A constant rate. Valid until 16 more have been asked for. */
static inline const struct rate *rate_constant(uint64_t pps)
{
	static struct rate ring[16];
	static unsigned int next;
	struct rate *r = &ring[next++ % 16];

	rate_init(r, pps, pps, 1, 0, 1, NULL);
	return r;
}

/* One of the cyclic orders at a constant rate; a stride is 1. Returns what sched_init() does. */
static inline int sched_make(struct sched *s, enum sched_order order, uint64_t n, uint64_t seed,
			     uint32_t shard, uint32_t nr_shards, uint32_t repeat, uint64_t pps,
			     uint64_t total, struct err *err)
{
	struct sched_conf conf = { .order = order, .n = n, .seed = seed, .shard = shard,
				   .nr_shards = nr_shards, .repeat = repeat, .total = total,
				   .rate = *rate_constant(pps), .stride = 1 };

	return sched_init(s, &conf, err);
}

#endif
