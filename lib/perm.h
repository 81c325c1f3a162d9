/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A seeded bijection of [0, n): every index exactly once, in an order that looks random, without
 * state. It scatters; it is no cipher.
 *
 * A number is a low part of j bits and a high part in [0, m), m * 2^j being the least such product
 * that is at least n: m = 1 up to 2^27, above it 128 < m <= 256, so that at most 1 in 129 is too
 * much. Rounds of odd multiplication and xor-shift are bijections of the low part; between them the
 * high part is added to the low one, and turned by the low one modulo m. Numbers outside [0, n) are
 * mapped again until they fall inside (cycle walking). The same n and seed give the same order on
 * every machine and in every release: sink and generator each compute it.
 */
#ifndef LIB_PERM_H
#define LIB_PERM_H

#include <stdint.h>

/* At 2^16 four leave some seeds a pattern, five none; the sixth is for numbers with two parts. */
#define PERM_ROUNDS 6u

struct perm {
	uint64_t n;
	uint64_t mask;		   /* of the low part */
	uint64_t nr_high;	   /* m */
	uint64_t mul[PERM_ROUNDS]; /* odd */
	uint64_t add[PERM_ROUNDS];
	uint64_t spread[2];	   /* odd: what one step of the high part adds to the low one */
	unsigned int low_bits;	   /* j */
	unsigned int turn_shift;   /* leaves the upper 16 bits of the low part */
	unsigned int shift;	   /* at least half of j */
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

/* The same for any n. */
void perm_fill64(const struct perm *p, const uint64_t *pos, uint64_t *out, unsigned int nr);

#endif
