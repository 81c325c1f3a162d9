// SPDX-License-Identifier: GPL-2.0-or-later
#include "perm.h"

#include "rng.h"
#include "simd.h"

/* Four vectors in flight hide the latency of the multiplications. */
#define PERM_VECTORS 4u
#define PERM_BLOCK   (PERM_VECTORS * SIMD_WIDTH)

static unsigned int perm_width(uint64_t n)
{
	return n <= 1 ? 0 : 64u - (unsigned int)__builtin_clzll(n - 1);
}

/*
 * A multiplier that is 1 or close to a power of two would scatter nothing: half of all odd numbers
 * are refused, by their least number of signed binary digits, which is width / 3 on average.
 */
static uint64_t perm_multiplier(uint64_t *seed, unsigned int width)
{
	uint64_t m, mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	unsigned int digits;

	do {
		m = (rng_splitmix64(seed) | 1) & (mask | 1);
		digits = (unsigned int)__builtin_popcountll(m ^ 3 * m);
	} while (width >= 4 && (digits * 3 < width || m % 8 == 1 || m % 8 == 7));
	return m;
}

void perm_init(struct perm *p, uint64_t n, uint64_t seed)
{
	unsigned int width = perm_width(n);

	p->n = n;
	p->mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	p->shift = width ? (width + 1) / 2 : 1;
	for (unsigned int r = 0; r < PERM_ROUNDS; r++) {
		p->mul[r] = perm_multiplier(&seed, width);
		p->add[r] = rng_splitmix64(&seed) & p->mask;
	}
}

static inline uint64_t perm_scatter(const struct perm *p, uint64_t x)
{
	for (unsigned int r = 0; r < PERM_ROUNDS; r++) {
		x = (x * p->mul[r] + p->add[r]) & p->mask;
		x ^= x >> p->shift;
	}
	return x;
}

uint64_t perm_at(const struct perm *p, uint64_t i)
{
	do
		i = perm_scatter(p, i);
	while (i >= p->n);
	return i;
}

/* 1 / @a modulo 2^64 for odd @a: Newton's iteration doubles the right bits, from 3, each time. */
static uint64_t perm_reciprocal(uint64_t a)
{
	uint64_t x = a;

	for (unsigned int i = 0; i < 5; i++)
		x *= 2 - a * x;
	return x;
}

/* A shift by at least half the width undoes itself: the upper half is still there to be xored. */
static uint64_t perm_gather(const struct perm *p, uint64_t x)
{
	for (unsigned int r = PERM_ROUNDS; r-- > 0;) {
		x ^= x >> p->shift;
		x = (x - p->add[r]) * perm_reciprocal(p->mul[r]) & p->mask;
	}
	return x;
}

uint64_t perm_inverse(const struct perm *p, uint64_t v)
{
	do
		v = perm_gather(p, v);
	while (v >= p->n);
	return v;
}

/* Whether any lane of @outside is not zero: halves are folded onto halves, within the registers. */
static inline __attribute__((always_inline)) bool perm_any(const simd_u32 *outside)
{
	typedef uint64_t fold __attribute__((vector_size(64)));
	fold f = (fold)*outside;

	f |= __builtin_shufflevector(f, f, 4, 5, 6, 7, 4, 5, 6, 7);
	f |= __builtin_shufflevector(f, f, 2, 3, 2, 3, 2, 3, 2, 3);
	return (f[0] | f[1]) != 0;
}

/* A macro for want of a way to pass vectors by value that has one ABI on every target. */
#define PERM_SCATTER(p, x)                                                           \
	do {                                                                         \
		for (unsigned int r_ = 0; r_ < PERM_ROUNDS; r_++) {                  \
			(x) = (x) * (uint32_t)(p)->mul[r_] + (uint32_t)(p)->add[r_]; \
			(x) &= (uint32_t)(p)->mask;                                  \
			(x) ^= (x) >> (p)->shift;                                    \
		}                                                                    \
	} while (0)

/*
 * Walk the lanes of the vectors that are greater than @max, all of them at once: the vectors hide
 * each other's latency, and the loop ends once for all.
 */
static inline __attribute__((always_inline)) void perm_walk(const struct perm *p, simd_u32 *x,
							    uint32_t max)
{
	simd_u32 any;

	do {
		any = (simd_u32){ 0 };
		for (unsigned int v = 0; v < PERM_VECTORS; v++) {
			simd_u32 outside = (simd_u32)(x[v] > max), next = x[v];

			PERM_SCATTER(p, next);
			x[v] = (next & outside) | (x[v] & ~outside);
			any |= (simd_u32)(x[v] > max);
		}
	} while (perm_any(&any));
}

static inline __attribute__((always_inline)) void perm_block(const struct perm *p,
							     const uint32_t *pos, uint32_t *out)
{
	uint32_t max = (uint32_t)(p->n - 1);
	simd_u32 x[PERM_VECTORS], outside = { 0 };

	memcpy(x, pos, sizeof(x));
	for (unsigned int v = 0; v < PERM_VECTORS; v++) {
		PERM_SCATTER(p, x[v]);
		outside |= (simd_u32)(x[v] > max);
	}
	if (max != (uint32_t)p->mask && perm_any(&outside))
		perm_walk(p, x, max);
	memcpy(out, x, sizeof(x));
}

SIMD_CLONES
void perm_fill32(const struct perm *p, const uint32_t *pos, uint32_t *out, unsigned int nr)
{
	uint32_t rest[PERM_BLOCK] = { 0 };
	struct perm q = *p; /* @out cannot alias it */

	for (; nr >= PERM_BLOCK; nr -= PERM_BLOCK) {
		perm_block(&q, pos, out);
		pos += PERM_BLOCK;
		out += PERM_BLOCK;
	}
	if (!nr)
		return;
	memcpy(rest, pos, nr * sizeof(*rest));
	perm_block(&q, rest, rest);
	memcpy(out, rest, nr * sizeof(*rest));
}
