// SPDX-License-Identifier: GPL-2.0-or-later
#include "perm.h"

#include "rng.h"
#include "simd.h"

/* Four vectors in flight hide the latency of the multiplications. */
#define PERM_VECTORS 4u
#define PERM_BLOCK   (PERM_VECTORS * SIMD_WIDTH)

/* Numbers of so many bits and more have a high part of so many bits. */
#define PERM_SPLIT_WIDTH 28u
#define PERM_HIGH_BITS	 8u

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
	unsigned int low = width < PERM_SPLIT_WIDTH ? width : width - PERM_HIGH_BITS;

	p->n = n;
	p->low_bits = low;
	p->mask = (UINT64_C(1) << low) - 1;
	p->nr_high = low == width ? 1 : ((n - 1) >> low) + 1;
	p->turn_shift = low > 16 ? low - 16 : 0;
	p->shift = low ? (low + 1) / 2 : 1;
	for (unsigned int r = 0; r < PERM_ROUNDS; r++) {
		p->mul[r] = perm_multiplier(&seed, low);
		p->add[r] = rng_splitmix64(&seed) & p->mask;
	}
	for (unsigned int i = 0; i < 2; i++)
		p->spread[i] = perm_multiplier(&seed, low);
}

/* Before the high part is turned, the rest after it; three leave it a pattern at 20 low bits. */
#define PERM_FIRST_ROUNDS 4u

static inline uint64_t perm_turn(const struct perm *p, uint64_t low)
{
	return (low >> p->turn_shift) * p->nr_high >> 16;
}

static inline uint64_t perm_rounds(const struct perm *p, uint64_t x, unsigned int r,
				   unsigned int end)
{
	for (; r < end; r++) {
		x = (x * p->mul[r] + p->add[r]) & p->mask;
		x ^= x >> p->shift;
	}
	return x;
}

static inline uint64_t perm_scatter(const struct perm *p, uint64_t x)
{
	uint64_t high = x >> p->low_bits;
	uint64_t low = perm_rounds(p, (x + high * p->spread[0]) & p->mask, 0, PERM_FIRST_ROUNDS);

	high += perm_turn(p, low);
	high -= high >= p->nr_high ? p->nr_high : 0;
	low = perm_rounds(p, (low + high * p->spread[1]) & p->mask, PERM_FIRST_ROUNDS, PERM_ROUNDS);
	return high << p->low_bits | low;
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
static uint64_t perm_unrounds(const struct perm *p, uint64_t x, unsigned int r, unsigned int end)
{
	while (end-- > r) {
		x ^= x >> p->shift;
		x = (x - p->add[end]) * perm_reciprocal(p->mul[end]) & p->mask;
	}
	return x;
}

static uint64_t perm_gather(const struct perm *p, uint64_t x)
{
	uint64_t high = x >> p->low_bits;
	uint64_t low = perm_unrounds(p, x & p->mask, PERM_FIRST_ROUNDS, PERM_ROUNDS);

	low = (low - high * p->spread[1]) & p->mask;
	high += p->nr_high - perm_turn(p, low);
	high -= high >= p->nr_high ? p->nr_high : 0;
	low = perm_unrounds(p, low, 0, PERM_FIRST_ROUNDS);
	return high << p->low_bits | ((low - high * p->spread[0]) & p->mask);
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

/* perm_scatter() of vectors: macros for want of a way to pass them by value that has one ABI. */
#define PERM_ROUNDS_OF(p, x, from, to)                                               \
	do {                                                                         \
		for (unsigned int r_ = (from); r_ < (to); r_++) {                    \
			(x) = (x) * (uint32_t)(p)->mul[r_] + (uint32_t)(p)->add[r_]; \
			(x) &= (uint32_t)(p)->mask;                                  \
			(x) ^= (x) >> (p)->shift;                                    \
		}                                                                    \
	} while (0)

#define PERM_SCATTER(p, x)                                                           \
	do {                                                                         \
		simd_u32 high_ = (x) >> (p)->low_bits, less_, wrap_;                 \
		(x) = ((x) + high_ * (uint32_t)(p)->spread[0]) & (uint32_t)(p)->mask; \
		PERM_ROUNDS_OF(p, x, 0, PERM_FIRST_ROUNDS);                          \
		high_ += ((x) >> (p)->turn_shift) * (uint32_t)(p)->nr_high >> 16;    \
		less_ = high_ - (uint32_t)(p)->nr_high;                              \
		wrap_ = (simd_u32)(less_ < high_);                                   \
		high_ = (less_ & wrap_) | (high_ & ~wrap_);                          \
		(x) = ((x) + high_ * (uint32_t)(p)->spread[1]) & (uint32_t)(p)->mask; \
		PERM_ROUNDS_OF(p, x, PERM_FIRST_ROUNDS, PERM_ROUNDS);                \
		(x) |= high_ << (p)->low_bits;                                       \
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
	if (perm_any(&outside))
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

/* Numbers of 64 bits that fit into 32: through the fast lane, a block at a time. */
static void perm_fill_narrow(const struct perm *p, const uint64_t *pos, uint64_t *out,
			     unsigned int nr)
{
	uint32_t x[4 * PERM_BLOCK];

	for (unsigned int from = 0, now; from < nr; from += now) {
		now = nr - from < 4 * PERM_BLOCK ? nr - from : 4 * PERM_BLOCK;
		for (unsigned int i = 0; i < now; i++)
			x[i] = (uint32_t)pos[from + i];
		perm_fill32(p, x, x, now);
		for (unsigned int i = 0; i < now; i++)
			out[from + i] = x[i];
	}
}

SIMD_CLONES
static void perm_scatter_all(const struct perm *p, const uint64_t *pos, uint64_t *out,
			     unsigned int nr)
{
	struct perm q = *p; /* @out cannot alias it */

	for (unsigned int i = 0; i < nr; i++)
		out[i] = perm_scatter(&q, pos[i]);
}

void perm_fill64(const struct perm *p, const uint64_t *pos, uint64_t *out, unsigned int nr)
{
	if (p->n <= UINT64_C(1) << 32) {
		perm_fill_narrow(p, pos, out, nr);
		return;
	}
	perm_scatter_all(p, pos, out, nr);
	for (unsigned int i = 0; i < nr; i++)
		while (out[i] >= p->n)
			out[i] = perm_scatter(p, out[i]);
}
