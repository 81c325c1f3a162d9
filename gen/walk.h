/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One lane's way through the schedule of lib/sched.h. The lane takes the packets whose number is
 * congruent to it modulo the number of lanes. Where that pays, what the closed forms find by
 * dividing is carried from packet to packet here: positions of sequential and permuted IPv4 sets,
 * due times of constant rates, ports.
 *
 * The due time is exact for ever: whole nanoseconds and the remainder are carried apart.
 *
 * The source of a packet follows from its destination: index modulo the number of sources.
 *
 * Pure: no DPDK, no clock.
 */
#ifndef GEN_WALK_H
#define GEN_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "batch.h"
#include "lib/addrset.h"
#include "lib/sched.h"

struct scenario_stream;

/* A number that a packet is given in turn: first + seq mod count. */
struct walk_turn {
	uint32_t first, count;
	uint32_t at, step; /* of the next packet, of one packet; modulo count */
};

struct walk {
	/* Constant. The sets and the schedule belong to the caller and outlive the walk. */
	const struct sched *sched;
	const struct addrset *destinations, *sources;
	uint32_t nr_lanes;
	bool wide;	      /* indices may need more than 32 bits */
	bool carried;	      /* positions are carried: sequential, permute */
	bool steady;	      /* due times are carried: a constant rate, packets one by one */
	bool takes_ports;
	uint64_t visit_step;  /* of one packet, modulo n_shard */
	uint32_t nth_step;
	uint64_t due_step, due_rest_step;
	uint64_t source_reciprocal;
	struct addr source;   /* the only one, if there is one */

	/* Of the next packet. */
	uint64_t seq;
	uint64_t visit;	      /* modulo n_shard */
	uint32_t nth;	      /* packet of the visit */
	uint64_t t0_ns;
	uint64_t due_ns, due_rest;
	struct walk_turn src_port, dst_port;
};

/* @t0_ns: when packet 0 of the stream is due. @takes_ports: whether batches need ports. */
void walk_init(struct walk *w, const struct sched *sched, const struct scenario_stream *stream,
	       bool takes_ports, uint64_t t0_ns, uint32_t lane, uint32_t nr_lanes);

/* Write addresses, ports, numbers and due times of the next @n packets, at most BATCH_MAX, to @b. */
void walk_next(struct walk *w, struct batch *b, unsigned int n);

/* For a schedule without a rate, where due times do not follow from it: the time from now on. */
static inline void walk_set_due(struct walk *w, uint64_t due_ns)
{
	w->due_ns = due_ns;
}

#endif
