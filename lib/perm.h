/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A seeded bijection of [0, n): every index exactly once, in an order that looks random, without
 * state. It scatters; it is no cipher.
 *
 * Rounds of odd multiplication and xor-shift are bijections of the next power of two 2^k >= n;
 * values that fall outside [0, n) are mapped again until they fall inside (cycle walking, less than
 * two evaluations on average). The same n and seed give the same order on every machine and in
 * every release: sink and generator each compute it.
 */
#ifndef LIB_PERM_H
#define LIB_PERM_H

#include <stdint.h>

/* Three are enough from 2^32 on; at 2^16 four still leave some seeds a pattern, five none. */
#define PERM_ROUNDS 5u

struct perm {
	uint64_t n;
	uint64_t mask; /* 2^k - 1 */
	uint64_t mul[PERM_ROUNDS]; /* odd */
	uint64_t add[PERM_ROUNDS];
	unsigned int shift; /* at least half of k */
};

/* @n: 1 to 2^64 - 1. */
void perm_init(struct perm *p, uint64_t n, uint64_t seed);

/* The image of @i, 0 <= @i < n. */
uint64_t perm_at(const struct perm *p, uint64_t i);

/* The index whose image is @v, 0 <= @v < n: perm_inverse(p, perm_at(p, i)) == i. */
uint64_t perm_inverse(const struct perm *p, uint64_t v);

/*
 * A burst for n <= 2^32: @out[k] = perm_at(@p, @pos[k]), @nr of them. Vectorised, 64 at a time (a
 * remainder costs as much as 64). @out may be @pos.
 */
void perm_fill32(const struct perm *p, const uint32_t *pos, uint32_t *out, unsigned int nr);

#endif
