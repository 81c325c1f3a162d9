// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With q = 1 - s let y(x) = x^q, or ln x if q is 0: but for the factor 1 / q and a constant, the
 * integral of x^-s, which the method's H is. Written in y nothing cancels for s > 1, where y(n) is
 * next to nothing.
 */
#include "zipf.h"

#include "simd.h"

#define ZIPF_SAME 1e-7
#define ZIPF_LN2  0.693147180559945309417232121458
#define ZIPF_LOG2E 1.44269504088896340735992468100
/* Added to a double it leaves the nearest integer in the low bits. */
#define ZIPF_ROUND 6755399441055744.0 /* 3 * 2^51 */

#define ZIPF_BLOCK 64u

#define ZIPF_INLINE static inline __attribute__((always_inline))

ZIPF_INLINE uint64_t zipf_bits(double x)
{
	uint64_t b;

	memcpy(&b, &x, sizeof(b));
	return b;
}

ZIPF_INLINE double zipf_double(uint64_t b)
{
	double x;

	memcpy(&x, &b, sizeof(x));
	return x;
}

/* Of a normal positive number: m * 2^e with m from sqrt(1/2) to sqrt(2), ln m = 2 atanh z. */
ZIPF_INLINE double zipf_ln(double x)
{
	uint64_t e = (zipf_bits(x) - UINT64_C(0x3fe6a09e667f3bcd)) & UINT64_C(0xfff0000000000000);
	double m = zipf_double(zipf_bits(x) - e);
	double z = (m - 1) / (m + 1), w = z * z, p;
	/* The exponent as a double, by way of the low bits; 2^12 is added so that it is positive. */
	double k = zipf_double(UINT64_C(0x4330000000000000) | ((e >> 52) ^ 0x800)) -
		   4503599627372544.0;

	p = 1.0 / 19;
	p = p * w + 1.0 / 17;
	p = p * w + 1.0 / 15;
	p = p * w + 1.0 / 13;
	p = p * w + 1.0 / 11;
	p = p * w + 1.0 / 9;
	p = p * w + 1.0 / 7;
	p = p * w + 1.0 / 5;
	p = p * w + 1.0 / 3;
	return k * ZIPF_LN2 + 2 * (z + z * w * p);
}

/* For |v| < 700: 2^k * e^f, |f| <= ln 2 / 2. */
ZIPF_INLINE double zipf_exp(double v)
{
	double t = v * ZIPF_LOG2E, r = t + ZIPF_ROUND;
	double f = (t - (r - ZIPF_ROUND)) * ZIPF_LN2, p;

	p = 1.0 / 6227020800;
	p = p * f + 1.0 / 479001600;
	p = p * f + 1.0 / 39916800;
	p = p * f + 1.0 / 3628800;
	p = p * f + 1.0 / 362880;
	p = p * f + 1.0 / 40320;
	p = p * f + 1.0 / 5040;
	p = p * f + 1.0 / 720;
	p = p * f + 1.0 / 120;
	p = p * f + 1.0 / 24;
	p = p * f + 1.0 / 6;
	p = p * f + 0.5;
	p = p * f * f + f + 1;
	return zipf_double(zipf_bits(p) + (zipf_bits(r) << 52));
}

ZIPF_INLINE double zipf_y(const struct zipf *z, double x)
{
	return z->q == 0 ? zipf_ln(x) : zipf_exp(z->q * zipf_ln(x));
}

ZIPF_INLINE double zipf_x(const struct zipf *z, double y, bool logarithmic)
{
	return logarithmic ? zipf_exp(y) : zipf_exp(zipf_ln(y) * z->inverse);
}

/* The y beyond which, seen from the lesser ranks, candidates for rank @k are taken. */
static double zipf_edge(const struct zipf *z, double k)
{
	double weight = zipf_exp((z->q - 1) * zipf_ln(k)); /* k^-s */

	return zipf_y(z, k + 0.5) - (z->q == 0 ? 1 : z->q) * weight;
}

void zipf_init(struct zipf *z, uint64_t n, double s)
{
	double first, last, q = 1 - s;

	*z = (struct zipf){ .n = n };
	if (q > ZIPF_SAME || q < -ZIPF_SAME) {
		z->q = q;
		z->inverse = 1 / q;
	}
	first = zipf_edge(z, 1);
	last = zipf_y(z, (double)n + 0.5);
	z->lo = first < last ? first : last;
	z->span = first < last ? last - first : first - last;
	z->near = 2 - zipf_x(z, zipf_edge(z, 2), z->q == 0);
}

/* 52 of the bits as a number in [0, 1), scaled. */
ZIPF_INLINE double zipf_candidate(const struct zipf *z, uint64_t bits)
{
	double u = zipf_double(UINT64_C(0x3ff0000000000000) | bits >> 12) - 1;

	return z->lo + u * z->span;
}

static uint64_t zipf_rank(const struct zipf *z, double x)
{
	double k = x + 0.5;

	if (k < 1)
		return 1;
	/* 2^64 does not fit; n may be as large as it rounds to. */
	return k >= (double)z->n ? z->n : (uint64_t)k;
}

static bool zipf_accepts(const struct zipf *z, double y, double x, uint64_t rank)
{
	double k = (double)rank;

	if (k - x <= z->near)
		return true;
	return z->q < 0 ? y <= zipf_edge(z, k) : y >= zipf_edge(z, k);
}

bool zipf_try(const struct zipf *z, uint64_t bits, uint64_t *rank)
{
	double y = zipf_candidate(z, bits), x = zipf_x(z, y, z->q == 0);

	*rank = zipf_rank(z, x);
	return zipf_accepts(z, y, x, *rank);
}

ZIPF_INLINE void zipf_block(const struct zipf *z, const uint64_t *bits, double *y, double *x,
			    bool logarithmic)
{
	for (unsigned int i = 0; i < ZIPF_BLOCK; i++) {
		y[i] = zipf_candidate(z, bits[i]);
		x[i] = zipf_x(z, y[i], logarithmic);
	}
}

/* The dear part: as vectors. */
SIMD_CLONES
static void zipf_candidates(const struct zipf *z, const uint64_t *bits, double *y, double *x)
{
	struct zipf own = *z; /* @x and @y cannot alias it */

	if (own.q == 0)
		zipf_block(&own, bits, y, x, true);
	else
		zipf_block(&own, bits, y, x, false);
}

void zipf_fill(const struct zipf *z, const uint64_t *bits, uint64_t *rank, unsigned int nr)
{
	double y[ZIPF_BLOCK], x[ZIPF_BLOCK];
	uint64_t block[ZIPF_BLOCK] = { 0 };

	for (unsigned int from = 0, now; from < nr; from += now) {
		now = nr - from < ZIPF_BLOCK ? nr - from : ZIPF_BLOCK;
		memcpy(block, bits + from, now * sizeof(*block));
		zipf_candidates(z, block, y, x);
		for (unsigned int i = 0; i < now; i++) {
			uint64_t k = zipf_rank(z, x[i]);

			rank[from + i] = zipf_accepts(z, y[i], x[i], k) ? k : 0;
		}
	}
}
