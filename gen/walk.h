/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One lane's way through the schedule of lib/sched.h, step by step instead of in closed form: what
 * sched_slot() and sched_due_ns() find by dividing is carried from packet to packet here. The lane
 * takes the packets whose number is congruent to it modulo the number of lanes.
 *
 * The due time is exact for ever: whole nanoseconds and the remainder are carried apart.
 *
 * Pure: no DPDK, no clock.
 */
#ifndef GEN_WALK_H
#define GEN_WALK_H

#include <stdint.h>

#include "batch.h"
#include "lib/addrset.h"
#include "lib/sched.h"

struct walk {
	/* Constant. The sets and the schedule belong to the caller and outlive the walk. */
	const struct sched *sched;
	const struct addrset *destinations, *sources;
	uint32_t nr_lanes;
	uint64_t visit_step;  /* of one packet, modulo n_shard */
	uint32_t nth_step;
	uint64_t due_step, due_rest_step;
	uint64_t source_reciprocal;

	/* Of the next packet. */
	uint64_t seq;
	uint64_t visit;	      /* modulo n_shard */
	uint32_t nth;	      /* packet of the visit */
	uint64_t due_ns, due_rest;

	uint32_t index[BATCH_MAX], source[BATCH_MAX];
};

/* @t0_ns: when packet 0 of the stream is due. */
void walk_init(struct walk *w, const struct sched *sched, const struct addrset *destinations,
	       const struct addrset *sources, uint64_t t0_ns, uint32_t lane, uint32_t nr_lanes);

/* Write addresses, numbers and due times of the next @n packets, at most BATCH_MAX, into @b. */
void walk_next(struct walk *w, struct batch *b, unsigned int n);

/* For a schedule without a rate, where due times do not follow from it: the time from now on. */
static inline void walk_set_due(struct walk *w, uint64_t due_ns)
{
	w->due_ns = due_ns;
}

#endif
