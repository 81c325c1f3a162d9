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

/* @a scaled to [0, n). */
static inline uint64_t sched_scale(uint64_t a, uint64_t n)
{
	return (uint64_t)((sched_u128)a * n >> 64);
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

	u = rng_splitmix64(&u);
	if (h >> 1 < s->hot_threshold || s->nr_hot == s->n)
		return sched_scale(u, s->nr_hot);
	return s->nr_hot + sched_scale(u, s->n - s->nr_hot);
}

/* (@position * stride + position / cycle) mod n. */
static inline uint64_t sched_stride_at(const struct sched *s, uint64_t position)
{
	sched_u128 sum = (sched_u128)position * s->stride % s->n + position / s->cycle;

	return (uint64_t)(sum >= s->n ? sum - s->n : sum);
}

#endif
