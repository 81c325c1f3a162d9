/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule of one stream in closed form: which destination packet number seq goes to, and when.
 * Pure arithmetic on the scenario, so that the generator that sends and the sink that judges agree
 * without talking.
 *
 * A stream visits its n destinations in passes; each visit sends `repeat` packets in a row, so that
 * new destinations/s = packets/s / repeat. Shard i of N owns the positions p with p mod N == i; its
 * packets are numbered from 0 without holes. With
 *	visit = seq / repeat, pass = visit / n_shard, position = shard + N * (visit mod n_shard)
 * the destination index is position (order sequential) or perm_at(position) (order permute).
 * Every pass uses the same order, so the first packet of a destination is known from any later one.
 * Packet seq is due at t0 + seq / rate.
 */
#ifndef LIB_SCHED_H
#define LIB_SCHED_H

#include <stdint.h>

#include "perm.h"

struct err;

enum sched_order { SCHED_SEQUENTIAL, SCHED_PERMUTE };

struct sched {
	enum sched_order order;
	uint64_t n;	    /* destinations in the set */
	uint32_t shard;	    /* 0 <= shard < nr_shards */
	uint32_t nr_shards; /* 1 to 255 */
	uint64_t n_shard;   /* destinations of this shard: positions congruent to shard */
	uint32_t repeat;    /* packets per visit, at least 1 */
	uint64_t rate_pps;  /* packets/s of this shard; 0: as fast as the port takes them */
	uint64_t total;	    /* packets that this shard intends to send */
	struct perm perm;
};

/* Where one packet belongs. */
struct sched_slot {
	uint64_t index;	     /* destination index in the set, 0 <= index < n */
	uint64_t occurrence; /* 0 for the destination's first packet, then 1, 2, ... */
	uint64_t first_seq;  /* number of the destination's first packet */
};

/*
 * Derive n_shard, total is as given by the caller. Returns 0; -EINVAL with a sentence for
 * n = 0, shard >= nr_shards, a shard without destinations, repeat = 0.
 */
int sched_init(struct sched *s, enum sched_order order, uint64_t n, uint64_t seed, uint32_t shard,
	       uint32_t nr_shards, uint32_t repeat, uint64_t rate_pps, uint64_t total,
	       struct err *err);

void sched_slot(const struct sched *s, uint64_t seq, struct sched_slot *slot);

/* Packets that the schedule holds for the destination whose first packet is @first_seq. */
uint64_t sched_occurrences(const struct sched *s, uint64_t first_seq);

/* Distinct destinations that the @total packets reach: min(n_shard, ceil(total / repeat)). */
uint64_t sched_distinct(const struct sched *s);

/* Nanoseconds after t0 at which packet @seq is due, rounded down; 0 if rate_pps is 0. Exact up to
 * 2^64 - 1 ns. */
uint64_t sched_due_ns(const struct sched *s, uint64_t seq);

/* Nanoseconds from one visit of a destination to its next, n_shard * repeat / rate; 0 if rate_pps
 * is 0, UINT64_MAX if it is longer than that. */
uint64_t sched_revisit_ns(const struct sched *s);

#endif
