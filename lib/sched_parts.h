/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the schedule, and by nobody else. */
#ifndef LIB_SCHED_PARTS_H
#define LIB_SCHED_PARTS_H

#include "rng.h"
#include "sched.h"

typedef unsigned __int128 sched_u128;

/* Whether the order ends in perm_at(). */
static inline bool sched_permutes(const struct sched *s)
{
	return s->order == SCHED_PERMUTE || s->order == SCHED_WINDOW || s->order == SCHED_ZIPF ||
	       s->order == SCHED_HOT;
}

static inline uint64_t sched_high(uint64_t a, uint64_t b)
{
	return (uint64_t)((sched_u128)a * b >> 64);
}

/* Random bits scaled to [0, n). */
static inline uint64_t sched_scale(uint64_t bits, uint64_t n)
{
	return sched_high(bits, n);
}

/* @a + @b modulo @m, both below it, however great it is. */
static inline uint64_t sched_add(uint64_t a, uint64_t b, uint64_t m)
{
	return a >= m - b ? a - (m - b) : a + b;
}

/*
 * A counter in, random bits out: splitmix64 with a second key in its middle, so that shards do not
 * walk the same circle at different places.
 */
static inline uint64_t sched_hash(const struct sched *s, uint64_t seq)
{
	uint64_t z = seq * 0x9e3779b97f4a7c15u + s->key[0];

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z ^= s->key[1];
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The rank that further hashes give after @h gave none. */
uint64_t sched_zipf_again(const struct zipf *z, uint64_t h);

/* Index before the permutation, from one hash. */
static inline uint64_t sched_hot_place(const struct sched *s, uint64_t h)
{
	uint64_t u = h;
	bool hot = h >> 1 < s->hot_threshold;

	u = rng_splitmix64(&u);
	return (hot ? 0 : s->nr_hot) + sched_scale(u, hot ? s->nr_hot : s->n - s->nr_hot);
}

/*
 * (@position * stride + position / cycle) mod n without a division: quotients by reciprocals are too
 * small by 1 at most, so the first two terms are below 2 * n, and all of them below 3 * n.
 */
static inline uint64_t sched_stride_at(const struct sched *s, uint64_t position)
{
	uint64_t turn = sched_high(position, s->one_over_cycle);
	sched_u128 sum = (sched_u128)position * s->stride;

	turn += position - turn * s->cycle >= s->cycle;
	sum -= (sched_u128)sched_high(position, s->stride_over_n) * s->n;
	sum += turn;
	sum -= sum >= s->n ? s->n : 0;
	sum -= sum >= s->n ? s->n : 0;
	return (uint64_t)sum;
}

#endif
