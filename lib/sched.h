/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule of one stream in closed form: which destination packet number seq goes to, and when.
 * Pure arithmetic on the scenario, so that the generator that sends and the sink that judges agree
 * without talking. Packets of a shard are numbered from 0 without holes; any packet can be asked
 * for on its own, so lanes take the numbers that are congruent to theirs and share nothing. Packet
 * seq is due at t0 + rate_due_ns(rate, seq).
 *
 * Cyclic orders (sequential, permute, stride)
 *	A stream visits its n destinations in passes; each visit sends `repeat` packets in a row, so
 *	that new destinations/s = packets/s / repeat. Shard i of N owns the positions p with
 *	p mod N == i. With
 *		visit = seq / repeat, pass = visit / n_shard,
 *		position = shard + N * (visit mod n_shard)
 *	the destination index is
 *		sequential: position
 *		permute: perm_at(position)
 *		stride: (position * stride + position / (n / gcd(stride, n))) mod n: steps of
 *		  `stride`, shifted by one whenever they come back to where they began
 *	All three are bijections of positions, so a pass reaches every destination once, and every
 *	pass uses the same order: the first packet of a destination is known from any later one.
 *
 * SCHED_WINDOW
 *	A working set of `window` destinations that slides. Position p of the shard's endless row is
 *	the destination of visit p under SCHED_PERMUTE. Before packet seq
 *		k = floor(seq * new_pps / rate.pps)
 *	slides have happened, the working set is the positions k to k + window - 1, and the packet
 *	goes to the only one of them that is congruent to seq modulo window. So a position has packets
 *	`window` apart, and new destinations/s are new_pps exactly, whatever the window and the rate
 *	(times rate / rate.pps where the rate is a ramp).
 *	Coverage: with new_pps <= rate.pps a position stays for at least `window` packets in a row,
 *	so each is reached before it leaves; with window <= n_shard no destination is there twice.
 *	Other values are refused. Positions are reached for the first time in ascending order, which
 *	is why sched_distinct() can say how many were: what entered within the last `window` packets
 *	may not have had its turn yet.
 *
 * Random orders (all destinations for every shard; each has numbers of its own)
 *	With h = hash(seed, shard, seq):
 *	SCHED_UNIFORM: h scaled to n.
 *	SCHED_ZIPF: perm_at(rank - 1), the rank by lib/zipf.h from h, and from further hashes of h
 *	  after a rejection.
 *	SCHED_HOT: hot_packets of the packets go to the first ceil(hot_destinations * n) of perm,
 *	  uniformly, the others to the rest, uniformly (to the first ones if there is no rest).
 */
#ifndef LIB_SCHED_H
#define LIB_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "perm.h"
#include "rate.h"
#include "zipf.h"

struct err;

enum sched_order {
	SCHED_SEQUENTIAL,
	SCHED_PERMUTE,
	SCHED_STRIDE,
	SCHED_WINDOW,
	SCHED_UNIFORM,
	SCHED_ZIPF,
	SCHED_HOT,
};

/* Passes in closed form: only then are sched_slot() and all that is about positions valid. */
static inline bool sched_is_cyclic(enum sched_order order)
{
	return order <= SCHED_STRIDE;
}

/* What is not named is 0; what belongs to another order is not looked at. */
struct sched_conf {
	enum sched_order order;
	uint64_t n;	    /* destinations in the set, at least 1 */
	uint64_t seed;
	uint32_t shard;	    /* 0 <= shard < nr_shards */
	uint32_t nr_shards; /* 1 to 255 */
	uint32_t repeat;    /* packets per visit, at least 1; 1 unless the order is cyclic */
	uint64_t total;	    /* packets that this shard intends to send */
	struct rate rate;   /* of this shard; zeroed: as fast as the port takes them */
	int64_t stride;	    /* SCHED_STRIDE: not 0; taken modulo n */
	uint64_t window;    /* SCHED_WINDOW: of this shard, 1 to its destinations */
	uint64_t new_pps;   /* SCHED_WINDOW: new destinations/s of this shard, 0 to rate.pps */
	double zipf_s;	    /* SCHED_ZIPF: exponent, 0 < s <= 8 */
	double hot_packets, hot_destinations; /* SCHED_HOT: shares, 0 to 1 */
};

struct sched {
	enum sched_order order;
	uint64_t n;
	uint32_t shard;
	uint32_t nr_shards;
	uint64_t n_shard;   /* destinations of this shard: positions congruent to shard */
	uint32_t repeat;
	uint64_t total;
	struct perm perm;
	/* Stride: a bijection of [0, n) there and back. */
	uint64_t stride, unstride, gcd, cycle;
	uint64_t stride_over_n, one_over_cycle; /* times 2^64, rounded down */
	/* Window: slides = floor(seq * slide / per), in lowest terms. */
	uint64_t window, slide, per;
	/* Random orders. */
	uint64_t key[2];
	uint64_t nr_hot, hot_threshold; /* of 2^63 */
	struct zipf zipf;
	struct rate rate;
};

/* Where one packet belongs. */
struct sched_slot {
	uint64_t index;	     /* destination index in the set, 0 <= index < n */
	uint64_t occurrence; /* 0 for the destination's first packet, then 1, 2, ... */
	uint64_t first_seq;  /* number of the destination's first packet */
};

/*
 * Constant time, no memory of its own. Returns 0; -EINVAL with a sentence for n = 0,
 * shard >= nr_shards, a shard of a cyclic order or a window without destinations, repeat = 0, and
 * whatever contradicts the comments of struct sched_conf.
 */
int sched_init(struct sched *s, const struct sched_conf *conf, struct err *err);

/* The destination of packet @seq, 0 <= index < n. Any order. */
uint64_t sched_index(const struct sched *s, uint64_t seq);

/* The same for @seq, @seq + @step, ...: @nr of them. sched_fill32() is for n <= 2^32. */
void sched_fill32(const struct sched *s, uint64_t seq, uint64_t step, uint32_t *index,
		  unsigned int nr);
void sched_fill64(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *index,
		  unsigned int nr);

/* Distinct destinations that the @total packets reach. Cyclic orders and windows: exact, in
 * constant time. Random orders: 0, which means that the caller has to count. */
uint64_t sched_distinct(const struct sched *s);

/* --- cyclic orders only ----------------------------------------------------------------------- */

void sched_slot(const struct sched *s, uint64_t seq, struct sched_slot *slot);

/* Packets that the schedule holds for the destination whose first packet is @first_seq; and the
 * same if it had @total packets. */
uint64_t sched_occurrences(const struct sched *s, uint64_t first_seq);
uint64_t sched_occurrences_in(const struct sched *s, uint64_t total, uint64_t first_seq);

/* The index of a position, and back. 0 <= either < n. */
uint64_t sched_index_at(const struct sched *s, uint64_t position);
uint64_t sched_position_of(const struct sched *s, uint64_t index);

/* Nanoseconds from one visit of a destination to its next, n_shard * repeat / rate, at the first
 * rate of a ramp; 0 without a rate, UINT64_MAX if it is longer than that. */
uint64_t sched_revisit_ns(const struct sched *s);

/* --- any order -------------------------------------------------------------------------------- */

/* Nanoseconds after t0 at which packet @seq is due, rounded down; 0 without a rate. */
static inline uint64_t sched_due_ns(const struct sched *s, uint64_t seq)
{
	return rate_due_ns(&s->rate, seq);
}

#endif
