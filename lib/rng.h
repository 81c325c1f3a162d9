/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018),
 * seeded by splitmix64 as its authors ask. One stream per lane: rng_jump() moves 2^128 steps on.
 */
#ifndef LIB_RNG_H
#define LIB_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4]; /* never all zero */
};

/* Next value of the splitmix64 sequence whose state is *@x. */
static inline uint64_t rng_splitmix64(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed);

/* 64 uniform bits. */
uint64_t rng_next(struct rng *r);

/* Uniform in [0, n), without bias (Lemire, "Fast random integer generation in an interval", 2019).
 * @n: at least 1. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* 2^128 steps: streams that do not overlap. */
void rng_jump(struct rng *r);

#endif
