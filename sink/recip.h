/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact division of numbers below 2^48 by a divisor that stays, with one multiplication. (Granlund
 * and Montgomery, "Division by invariant integers using multiplication", 1994.)
 *
 * With s = floor(log2 d) and m = ceil(2^(63+s) / d) the error of m is e < d <= 2^(s+1) - 1, so that
 * e * 2n < 2^(64+s) for every n < 2^48, and floor(2n * m / 2^(64+s)) is the quotient.
 */
#ifndef SINK_RECIP_H
#define SINK_RECIP_H

#include <stdint.h>

#define RECIP_MAX ((UINT64_C(1) << 48) - 1) /* greatest dividend */

struct recip {
	uint64_t d, m;
	unsigned int s;
};

/* @d: 1 to 2^62. */
static inline void recip_init(struct recip *r, uint64_t d)
{
	r->d = d;
	r->s = 63u - (unsigned int)__builtin_clzll(d);
	r->m = (uint64_t)((((unsigned __int128)1 << (63 + r->s)) + d - 1) / d);
}

/* n / d, for n <= RECIP_MAX. */
static inline uint64_t recip_div(const struct recip *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)(n << 1) * r->m) >> 64) >> r->s;
}

#endif
