// SPDX-License-Identifier: GPL-2.0-or-later
#include "rng.h"

static inline uint64_t rotl(uint64_t x, unsigned int k)
{
	return x << k | x >> (64 - k);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	/* Four consecutive outputs of a bijection of a counter: at most one of them can be zero. */
	for (unsigned int i = 0; i < 4; i++)
		r->s[i] = rng_splitmix64(&seed);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)rng_next(r) * n;

	/* The low half tells whether this value belongs to the incomplete last round of 2^64 mod n;
	 * the division is only needed in the rare case that it might. */
	if ((uint64_t)product < n) {
		uint64_t least = -n % n;

		while ((uint64_t)product < least)
			product = (unsigned __int128)rng_next(r) * n;
	}
	return (uint64_t)(product >> 64);
}

void rng_jump(struct rng *r)
{
	/* Coefficients of x^(2^128) modulo the generator's characteristic polynomial, published
	 * with it. */
	static const uint64_t poly[4] = { 0x180ec6d33cfd0aba, 0xd5a61266f0c9392c,
					  0xa9582618e03fc9aa, 0x39abdc4529b1661c };
	struct rng sum = { { 0 } };

	for (unsigned int bit = 0; bit < 256; bit++) {
		if (poly[bit / 64] >> bit % 64 & 1)
			for (unsigned int i = 0; i < 4; i++)
				sum.s[i] ^= r->s[i];
		rng_next(r);
	}
	*r = sum;
}
