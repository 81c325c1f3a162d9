// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bucket 0 holds sub_count sub-buckets of width 2^unit_magnitude; each further bucket doubles the
 * width and holds sub_half_count more, because its lower half is what the buckets before it cover.
 * sub_count is the power of two that gives 10^digits steps in the upper half of a bucket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hist.h"

/* The least m with 2^m >= @n. */
static unsigned int log2_up(uint64_t n)
{
	unsigned int m = 0;

	while ((UINT64_C(1) << m) < n)
		m++;
	return m;
}

/* Buckets whose last reaches @highest; 64 bits end the doubling. */
static size_t buckets_for(const struct hist *h)
{
	uint64_t beyond = h->sub_count << h->unit_magnitude;
	size_t nr = 1;

	for (; beyond <= h->highest; beyond <<= 1) {
		nr++;
		if (beyond > INT64_MAX / 2)
			break;
	}
	return nr;
}

int hist_init(struct hist *h, uint64_t lowest, uint64_t highest, int digits)
{
	uint64_t single_unit = 2;

	memset(h, 0, sizeof(*h));
	if (digits < 1 || digits > 5 || lowest < 1 || highest > INT64_MAX || highest / 2 < lowest)
		return -EINVAL;
	for (int i = 0; i < digits; i++)
		single_unit *= 10;
	h->lowest = lowest;
	h->highest = highest;
	h->digits = digits;
	h->unit_magnitude = 63u - (unsigned int)__builtin_clzll(lowest);
	h->sub_half_magnitude = log2_up(single_unit) - 1;
	if (h->unit_magnitude + h->sub_half_magnitude > 61) {
		memset(h, 0, sizeof(*h));
		return -EINVAL;
	}
	h->sub_half_count = UINT64_C(1) << h->sub_half_magnitude;
	h->sub_count = h->sub_half_count * 2;
	h->sub_mask = (h->sub_count - 1) << h->unit_magnitude;
	h->nr_counts = (buckets_for(h) + 1) * h->sub_half_count;
	h->min = UINT64_MAX;
	h->counts = calloc(h->nr_counts, sizeof(*h->counts));
	if (h->counts)
		return 0;
	memset(h, 0, sizeof(*h));
	return -ENOMEM;
}

void hist_free(struct hist *h)
{
	free(h->counts);
	memset(h, 0, sizeof(*h));
}

void hist_reset(struct hist *h)
{
	memset(h->counts, 0, h->nr_counts * sizeof(*h->counts));
	h->total = h->overflows = 0;
	h->min = UINT64_MAX;
	h->max = 0;
}

/* log2 of the width of counts[@i]. */
static unsigned int width_log2(const struct hist *h, size_t i)
{
	size_t bucket = i >> h->sub_half_magnitude;

	return h->unit_magnitude + (bucket ? (unsigned int)bucket - 1 : 0);
}

uint64_t hist_least_at(const struct hist *h, size_t i)
{
	uint64_t sub = i & (h->sub_half_count - 1);

	if (i >= h->sub_half_count)
		sub += h->sub_half_count;
	return sub << width_log2(h, i);
}

uint64_t hist_greatest_at(const struct hist *h, size_t i)
{
	return hist_least_at(h, i) + (UINT64_C(1) << width_log2(h, i)) - 1;
}

int hist_merge(struct hist *to, const struct hist *from)
{
	if (to->lowest != from->lowest || to->highest != from->highest || to->digits != from->digits)
		return -EINVAL;
	for (size_t i = 0; i < to->nr_counts; i++)
		to->counts[i] += from->counts[i];
	to->total += from->total;
	to->overflows += from->overflows;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	return 0;
}

uint64_t hist_value_at(const struct hist *h, uint32_t ppm)
{
	unsigned __int128 rank = (unsigned __int128)h->total * (ppm < 1000000 ? ppm : 1000000);
	uint64_t wanted = (uint64_t)((rank + 999999) / 1000000), seen = 0, value;
	size_t i = 0;

	if (!h->total)
		return 0;
	if (!wanted)
		wanted = 1;
	for (seen = h->counts[0]; seen < wanted && i + 1 < h->nr_counts; seen += h->counts[i])
		i++;
	value = ppm ? hist_greatest_at(h, i) : hist_least_at(h, i);
	return value < h->max ? value : h->max;
}
