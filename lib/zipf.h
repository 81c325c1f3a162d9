/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zipf's law: rank k of n comes with a probability proportional to k^-s. Rejection inversion
 * (Hoermann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
 * distributions", 1996): no table, exact but for the rounding of doubles, for any n.
 *
 * Ranks above 2^52 are rounded to what a double holds. An exponent within 10^-7 of 1 counts as 1.
 * Logarithm and exponential are this file's own and made of the four operations alone (compiled
 * without contraction), so that the same numbers give the same ranks on every machine.
 */
#ifndef LIB_ZIPF_H
#define LIB_ZIPF_H

#include <stdbool.h>
#include <stdint.h>

#define ZIPF_S_MAX 8.0

struct zipf {
	uint64_t n;
	double q;	/* 1 - s; 0 if that is as good as 0 */
	double inverse; /* 1 / q */
	double lo, span; /* of the integral of x^-s, but for a factor and a constant */
	double near;	/* a candidate this close below its rank needs no second look */
};

/* @n: at least 1. @s: above 0, at most ZIPF_S_MAX. */
void zipf_init(struct zipf *z, uint64_t n, double s);

/* The rank, 1 to n, that 64 random bits give; false if they give none: try others. */
bool zipf_try(const struct zipf *z, uint64_t bits, uint64_t *rank);

/* The same for @nr of them: @rank[i] is 0 where @bits[i] give none. Vectorised. @rank may be
 * @bits. */
void zipf_fill(const struct zipf *z, const uint64_t *bits, uint64_t *rank, unsigned int nr);

#endif
