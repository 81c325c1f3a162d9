// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/perm.h"
#include "lib/rng.h"

/* The order is a contract between programs and releases: these numbers never change. */
static void order_is_pinned(void **state)
{
	static const struct {
		uint64_t n, seed, want[4];
	} pinned[] = {
		{ 10, 1, { 7u, 9u, 1u, 2u } },
		{ 65534, 1, { 19670u, 53680u, 9819u, 55275u } },
		{ UINT64_C(1) << 32, 7, { 3180486143u, 2702364568u, 2159848441u, 1822969524u } },
		{ UINT64_MAX,
		  0,
		  { 0xde51df49f7c40a9f, 0x74fd6ec332f3b9d8,
		    0xfe93b1f6f033d198, 0x3f77796a485fd456 } },
	};
	struct perm p;

	(void)state;
	for (size_t k = 0; k < sizeof(pinned) / sizeof(*pinned); k++) {
		perm_init(&p, pinned[k].n, pinned[k].seed);
		for (uint64_t i = 0; i < 4; i++)
			assert_int_equal(perm_at(&p, i), pinned[k].want[i]);
	}
}

static uint32_t *positions(uint64_t n)
{
	uint32_t *pos = malloc(n * sizeof(*pos));

	assert_non_null(pos);
	for (uint64_t i = 0; i < n; i++)
		pos[i] = (uint32_t)i;
	return pos;
}

/* Every index once, the burst says what the single call says, and the inverse leads back. */
static void check_bijection(uint64_t n, uint64_t seed)
{
	uint32_t *out = positions(n);
	uint8_t *seen = calloc(n, 1);
	struct perm p;

	assert_non_null(seen);
	perm_init(&p, n, seed);
	perm_fill32(&p, out, out, (unsigned int)n);
	for (uint64_t i = 0; i < n; i++) {
		if (out[i] >= n || seen[out[i]])
			fail_msg("n %lu seed %lu: image %u of %lu", n, seed, out[i], i);
		seen[out[i]] = 1;
		if (perm_at(&p, i) != out[i] || perm_inverse(&p, out[i]) != i)
			fail_msg("n %lu seed %lu: perm_at or inverse at %lu", n, seed, i);
	}
	free(out);
	free(seen);
}

static void every_width_is_a_bijection(void **state)
{
	(void)state;
	for (unsigned int k = 0; k <= 20; k++) {
		uint64_t n = UINT64_C(1) << k;

		check_bijection(n, k);
		check_bijection(n + 1, k + 100);
		if (n > 1)
			check_bijection(n - 1, k + 200);
	}
}

static void every_small_size_is_a_bijection(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 600; n++)
		for (uint64_t seed = 0; seed < 5; seed++)
			check_bijection(n, seed * 1000003);
	check_bijection(65534, 1);
	check_bijection(999983, 2);
}

static void check_sampled(uint64_t n, uint64_t seed)
{
	struct perm p;
	struct rng r;

	rng_seed(&r, seed);
	perm_init(&p, n, seed);
	for (unsigned int k = 0; k < 20000; k++) {
		uint64_t i = rng_below(&r, n), v = perm_at(&p, i);

		assert_true(v < n);
		assert_true(perm_inverse(&p, v) == i);
		assert_true(perm_at(&p, perm_inverse(&p, i)) == i);
	}
}

/* Every width that the type allows, and odd sizes in each, by samples. */
static void large_sizes_have_an_inverse(void **state)
{
	(void)state;
	for (unsigned int k = 21; k < 64; k++) {
		check_sampled(UINT64_C(1) << k, k);
		check_sampled((UINT64_C(1) << k) + 1, k);
		check_sampled((UINT64_C(1) << k) + (UINT64_C(1) << (k - 1)) + 7, k);
	}
	check_sampled(UINT64_MAX, 64);
}

/* The whole range is too long to walk in a test: the last images are, by their inverses. */
static void full_range_hits_a_window_once(void **state)
{
	const uint64_t n = UINT64_C(1) << 32, from = 0xfffff000;
	struct perm p;
	uint32_t pos[4096], out[4096];

	(void)state;
	perm_init(&p, n, 99);
	for (unsigned int k = 0; k < 4096; k++)
		pos[k] = (uint32_t)perm_inverse(&p, from + k);
	perm_fill32(&p, pos, out, 4096);
	for (unsigned int k = 0; k < 4096; k++)
		assert_int_equal(out[k], from + k);
}

/* All lengths of burst, in place and not, and nothing written past the end. */
static void fill_takes_any_length(void **state)
{
	static const uint64_t sizes[] = { 1, 7, 1000, 65534, 65536, 3000000000, UINT64_C(1) << 32 };
	uint32_t pos[260], out[260];
	struct perm p;

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		perm_init(&p, sizes[s], s);
		for (unsigned int nr = 0; nr <= 256; nr++) {
			for (unsigned int k = 0; k < 260; k++)
				pos[k] = (uint32_t)((k * UINT64_C(2654435761) + nr) % sizes[s]);
			memset(out, 0xee, sizeof(out));
			perm_fill32(&p, pos, out, nr);
			for (unsigned int k = 0; k < nr; k++)
				assert_int_equal(out[k], perm_at(&p, pos[k]));
			assert_int_equal(out[nr], 0xeeeeeeee);
			perm_fill32(&p, pos, pos, nr);
			assert_memory_equal(pos, out, nr * sizeof(*out));
		}
	}
}

/* Shards walk positions with a step greater than 1: disjoint, and together everything. */
/* 64-bit bursts say what single calls say, below 2^32 and above, where walks are most frequent too. */
static void fill64_is_many_at(void **state)
{
	static const uint64_t sizes[] = { 1, 1000, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
					  (UINT64_C(129) << 40) + 1, UINT64_MAX };
	uint64_t pos[300], out[300];
	struct perm p;
	struct rng r;

	(void)state;
	rng_seed(&r, 64);
	for (unsigned int k = 0; k < 6; k++)
		for (unsigned int nr = 0; nr < 300; nr += 1 + nr / 4) {
			perm_init(&p, sizes[k], nr);
			for (unsigned int i = 0; i < nr; i++)
				pos[i] = rng_below(&r, sizes[k]);
			memset(out, 0xee, sizeof(out));
			perm_fill64(&p, pos, out, nr);
			for (unsigned int i = 0; i < nr; i++)
				assert_int_equal(out[i], perm_at(&p, pos[i]));
			assert_int_equal(out[nr], UINT64_C(0xeeeeeeeeeeeeeeee));
			perm_fill64(&p, pos, pos, nr);
			assert_memory_equal(pos, out, nr * sizeof(*out));
		}
}

static void shards_partition(uint64_t n, uint64_t shards)
{
	uint8_t *seen = calloc(n, 1);
	uint64_t total = 0;
	struct perm p;

	assert_non_null(seen);
	perm_init(&p, n, n + shards);
	for (uint64_t shard = 0; shard < shards; shard++)
		for (uint64_t i = shard; i < n; i += shards, total++)
			assert_int_equal(seen[perm_at(&p, i)]++, 0);
	assert_int_equal(total, n);
	free(seen);
}

static void steps_partition(void **state)
{
	(void)state;
	shards_partition(1, 1);
	shards_partition(131072, 3);
	shards_partition(65534, 7);
	shards_partition(1000, 255);
	shards_partition(5, 5);
}

/* --- it has to look random -------------------------------------------------------------------- */

#define BINS 256

static unsigned int width_of(uint64_t n)
{
	return 64u - (unsigned int)__builtin_clzll(n - 1);
}

/* Standard deviations of a chi-square sum from its mean: above 6 is no accident. */
static double deviations(const unsigned int *count, unsigned int total)
{
	double expected = (double)total / BINS, sum = 0;

	for (unsigned int i = 0; i < BINS; i++)
		sum += (count[i] - expected) * (count[i] - expected) / expected;
	return (sum - (BINS - 1)) / sqrt(2.0 * (BINS - 1));
}

enum { LOW_BYTE, HIGH_BYTE, HIGH_PAIR, LOW_PAIR, NR_STATS };

/* Four views of consecutive images, from position @start on. */
static void serial_statistics(uint64_t (*at)(const struct perm *, uint64_t), const struct perm *p,
			      uint64_t start, unsigned int nr, double z[NR_STATS])
{
	unsigned int count[NR_STATS][BINS] = { { 0 } };
	unsigned int width = width_of(p->n);
	uint64_t mask = UINT64_MAX >> (64 - width), before = at(p, start);

	for (unsigned int i = 1; i < nr; i++) {
		uint64_t v = at(p, start + i), step = (v - before) & mask;

		count[LOW_BYTE][step & 255]++;
		count[HIGH_BYTE][step >> (width - 8)]++;
		count[HIGH_PAIR][v >> (width - 4) << 4 | before >> (width - 4)]++;
		count[LOW_PAIR][(v & 15) << 4 | (before & 15)]++;
		before = v;
	}
	for (unsigned int s = 0; s < NR_STATS; s++)
		z[s] = deviations(count[s], nr - 1);
}

static uint64_t identity(const struct perm *p, uint64_t i)
{
	(void)p;
	return i;
}

static const uint64_t quality_sizes[] = { 1 << 10, 65534, 1 << 16, 1 << 20, 1 << 24,
					  UINT64_C(1) << 28, UINT64_C(1) << 32, UINT64_MAX };
#define NR_QUALITY (sizeof(quality_sizes) / sizeof(*quality_sizes))

static void consecutive_images_are_not_correlated(void **state)
{
	double z[NR_STATS];
	struct perm p;

	(void)state;
	for (size_t k = 0; k < NR_QUALITY; k++) {
		uint64_t n = quality_sizes[k];
		unsigned int nr = n < 32768 ? (unsigned int)n : 32768;

		for (uint64_t seed = 0; seed < 100; seed++) {
			perm_init(&p, n, seed);
			serial_statistics(perm_at, &p, (n - nr) / 101 * seed, nr, z);
			for (unsigned int s = 0; s < NR_STATS; s++)
				if (z[s] > 6)
					fail_msg("n %lu seed %lu statistic %u: %g", n, seed, s,
						 z[s]);
		}
		serial_statistics(identity, &p, 0, nr, z); /* the statistics do see an order */
		assert_true(z[LOW_BYTE] > 100 && z[HIGH_BYTE] > 100);
	}
}

/* Share of outputs in which bit @out flips when bit @in of the position does. */
static void avalanche(const struct perm *p, unsigned int width, unsigned int samples,
		      double flips[64][64])
{
	struct rng r;

	rng_seed(&r, p->n);
	memset(flips, 0, sizeof(double) * 64 * 64);
	for (unsigned int in = 0; in < width; in++)
		for (unsigned int k = 0; k < samples; k++) {
			uint64_t i = rng_below(&r, p->n), j = i ^ UINT64_C(1) << in, d;

			if (j >= p->n) {
				k--;
				continue;
			}
			d = perm_at(p, i) ^ perm_at(p, j);
			for (unsigned int out = 0; out < width; out++)
				flips[in][out] += (double)(d >> out & 1) / samples;
		}
}

/* 0.5 in the ideal; of 2,048 samples one standard deviation is 0.011, the tolerance is ten. */
static void each_bit_of_the_position_matters(void **state)
{
	static double flips[64][64];
	struct perm p;

	(void)state;
	for (size_t k = 0; k < NR_QUALITY; k++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			unsigned int width;

			perm_init(&p, quality_sizes[k], seed);
			width = width_of(p.n);
			avalanche(&p, width, 2048, flips);
			for (unsigned int b = 0; b < width * width; b++) {
				double share = flips[b / width][b % width];

				if (fabs(share - 0.5) > 0.11)
					fail_msg("n %lu seed %lu bit %u to %u: %g", p.n, seed,
						 b / width, b % width, share);
			}
		}
}

static void seeds_differ(void **state)
{
	struct perm a, b;
	unsigned int same = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 64; seed++) {
		perm_init(&a, 65536, seed);
		perm_init(&b, 65536, seed + 1);
		for (uint64_t i = 0; i < 1024; i++)
			same += perm_at(&a, i) == perm_at(&b, i);
	}
	assert_true(same <= 10); /* 1 expected */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_pinned),
		cmocka_unit_test(every_width_is_a_bijection),
		cmocka_unit_test(every_small_size_is_a_bijection),
		cmocka_unit_test(large_sizes_have_an_inverse),
		cmocka_unit_test(full_range_hits_a_window_once),
		cmocka_unit_test(fill_takes_any_length),
		cmocka_unit_test(fill64_is_many_at),
		cmocka_unit_test(steps_partition),
		cmocka_unit_test(consecutive_images_are_not_correlated),
		cmocka_unit_test(each_bit_of_the_position_matters),
		cmocka_unit_test(seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
