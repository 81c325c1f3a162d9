/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HDR histogram: counts in buckets whose width is a fixed share of the value, with the bucket
 * geometry of HdrHistogram (Tene), so that other HDR tools read and merge what we write.
 *
 * One writer. Merging is element-wise addition and therefore exact.
 */
#ifndef LIB_HIST_H
#define LIB_HIST_H

#include <stddef.h>
#include <stdint.h>

struct hist {
	uint64_t lowest;	/* least value told apart from 0; at least 1 */
	uint64_t highest;	/* greatest value that is told apart; at least 2 * lowest */
	int digits;		/* significant decimal digits, 1 to 5 */
	/* geometry, derived */
	unsigned int unit_magnitude, sub_half_magnitude;
	uint64_t sub_count, sub_half_count, sub_mask;
	size_t nr_counts;
	/* contents */
	uint64_t *counts;
	uint64_t total;		/* values recorded */
	uint64_t overflows;	/* of these, above highest: counted at highest */
	uint64_t min, max;	/* exact; min is UINT64_MAX while empty */
};

/* @highest: below 2^63. Returns 0, -EINVAL for limits out of range, -ENOMEM. */
int hist_init(struct hist *h, uint64_t lowest, uint64_t highest, int digits);
void hist_free(struct hist *h);
void hist_reset(struct hist *h);

/* Index into counts of @value <= highest; hot, so inline. */
static inline size_t hist_index(const struct hist *h, uint64_t value)
{
	unsigned int pow2 = 64u - (unsigned int)__builtin_clzll(value | h->sub_mask);
	unsigned int bucket = pow2 - h->unit_magnitude - (h->sub_half_magnitude + 1);
	uint64_t sub = value >> (bucket + h->unit_magnitude);

	return (size_t)((((uint64_t)bucket + 1) << h->sub_half_magnitude) + sub - h->sub_half_count);
}

static inline void hist_record_n(struct hist *h, uint64_t value, uint64_t n)
{
	uint64_t v = value;

	if (__builtin_expect(v > h->highest, 0)) {
		v = h->highest;
		h->overflows += n;
	}
	h->counts[hist_index(h, v)] += n;
	h->total += n;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

static inline void hist_record(struct hist *h, uint64_t value)
{
	hist_record_n(h, value, 1);
}

/* The values that are counted at counts[@i]: from the least to the greatest. */
uint64_t hist_least_at(const struct hist *h, size_t i);
uint64_t hist_greatest_at(const struct hist *h, size_t i);

/* Add @from to @to. Returns 0, or -EINVAL if the geometries differ. */
int hist_merge(struct hist *to, const struct hist *from);

/*
 * The greatest value that is equivalent to the one at @ppm parts per million of the ordered values
 * (500000: median, 999000: p99.9), as HdrHistogram's valueAtPercentile; 0 if empty. At 0 it is the
 * least equivalent value, as there. Never above the exact maximum. Values above highest read as
 * highest.
 */
uint64_t hist_value_at(const struct hist *h, uint32_t ppm);

/*
 * HdrHistogram V2 encoding, deflated and in base64: the payload of a .hlog line. @out receives a
 * malloc'ed string that the caller frees. Returns 0 or -ENOMEM.
 */
int hist_encode(const struct hist *h, char **out);

/*
 * The inverse: initialises @h. The encoding holds no exact min, max and overflows: they become the
 * least and greatest equivalent values, and 0. Returns 0; -EINVAL for anything that is not such a
 * string, or is scaled or shifted; -ENOMEM. After a failure *h is empty and needs no free.
 */
int hist_decode(struct hist *h, const char *text);

#endif
