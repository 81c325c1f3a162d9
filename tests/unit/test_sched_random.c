// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random orders against the distributions they promise: chi-square with fixed seeds, at a level that
 * one right sampler in a million would miss. Each kind of test is shown a wrong sampler, too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sched_make.h"

#define CELLS	2048u
#define SAMPLES 200000u

/* Counts and what they should be, but for a factor. Few expected packets a cell are pooled. */
struct fit {
	double got[CELLS], want[CELLS];
	unsigned int nr;
};

/* The chi-square of @df degrees that 1 in a million exceeds (Wilson and Hilferty, 1931). */
static double critical(double df)
{
	double a = 2 / (9 * df), root = 1 - a + 4.753424 * sqrt(a);

	return df * root * root * root;
}

/* How many times over the limit: at most 1 for a sampler that is right. */
static double misfit(const struct fit *f)
{
	double got = 0, want = 0, sum_got = 0, sum_want = 0, chi2 = 0;
	unsigned int cells = 0;

	for (unsigned int i = 0; i < f->nr; i++) {
		sum_got += f->got[i];
		sum_want += f->want[i];
	}
	for (unsigned int i = 0; i < f->nr; i++) {
		got += f->got[i];
		want += f->want[i] * sum_got / sum_want;
		if (want < 10 && i + 1 < f->nr)
			continue;
		chi2 += want > 0 ? (got - want) * (got - want) / want : got > 0 ? INFINITY : 0;
		cells++;
		got = want = 0;
	}
	return chi2 / critical(cells > 1 ? cells - 1 : 1);
}

#define assert_fits(f)                                                                    \
	do {                                                                              \
		double times_ = misfit(f);                                                \
		if (!(times_ < 1))                                                        \
			fail_msg("chi-square is %.2f times what is tolerable", times_);   \
	} while (0)

static struct sched make(struct sched_conf c)
{
	struct sched s;

	c.nr_shards = c.nr_shards ? c.nr_shards : 1;
	c.repeat = 1;
	c.seed = c.seed ? c.seed : 2718;
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	assert_int_equal(sched_distinct(&s), 0);
	return s;
}

#define MAKE(...) make((struct sched_conf){ __VA_ARGS__ })

/* --- uniform ---------------------------------------------------------------------------------- */

/* Packets @seq, @seq + @step, ... by the @cells equal parts of the set that they go to. */
static struct fit cells_of(const struct sched *s, unsigned int cells, uint64_t seq, uint64_t step)
{
	struct fit f = { .nr = cells };
	uint64_t index[64];

	for (unsigned int i = 0; i < SAMPLES; i += 64) {
		sched_fill64(s, seq + i * step, step, index, 64);
		for (unsigned int k = 0; k < 64; k++)
			f.got[(unsigned __int128)index[k] * cells / s->n]++;
	}
	for (unsigned int k = 0; k < cells; k++)
		f.want[k] = 1;
	return f;
}

static void uniform_is_even(void **state)
{
	static const uint64_t sizes[] = { 2, 100, 1024, UINT64_C(1) << 32, UINT64_MAX };
	static const uint64_t steps[] = { 1, 2, 255, 65536, UINT64_C(1) << 33 };

	(void)state;
	for (unsigned int k = 0; k < 5; k++)
		for (unsigned int i = 0; i < 5; i++) {
			struct sched s = MAKE(.order = SCHED_UNIFORM, .n = sizes[k]);
			struct fit f = cells_of(&s, sizes[k] < 1024 ? (unsigned int)sizes[k] : 1024,
						(uint64_t)k << 40, steps[i]);

			assert_fits(&f);
		}
}

/* Pairs of packets: neighbours of one shard, and the same number of two shards or seeds. */
static struct fit pairs_of(const struct sched *a, const struct sched *b, uint64_t shift)
{
	struct fit f = { .nr = 1024 };

	for (uint64_t seq = 0; seq < SAMPLES; seq++)
		f.got[sched_index(a, seq) * 32 + sched_index(b, seq + shift)]++;
	for (unsigned int k = 0; k < f.nr; k++)
		f.want[k] = 1;
	return f;
}

static void uniform_packets_know_nothing_of_each_other(void **state)
{
	struct sched a = MAKE(.order = SCHED_UNIFORM, .n = 32, .nr_shards = 2);
	struct sched b = MAKE(.order = SCHED_UNIFORM, .n = 32, .nr_shards = 2, .shard = 1);
	struct sched c = MAKE(.order = SCHED_UNIFORM, .n = 32, .nr_shards = 2, .seed = 2719);
	struct fit f[] = { pairs_of(&a, &a, 1), pairs_of(&a, &a, 2), pairs_of(&a, &a, 64),
			   pairs_of(&a, &b, 0), pairs_of(&a, &b, 1), pairs_of(&a, &c, 0) };

	(void)state;
	for (unsigned int k = 0; k < 6; k++)
		assert_fits(&f[k]);
	/* Two that are the same are found out. */
	f[0] = pairs_of(&a, &a, 0);
	assert_true(misfit(&f[0]) > 1);
}

/* --- Zipf ------------------------------------------------------------------------------------- */

/* Ranks 1 to n one by one. */
static struct fit ranks_of(uint64_t n, double s, double tested_against)
{
	struct sched sched = MAKE(.order = SCHED_ZIPF, .n = n, .zipf_s = s);
	struct fit f = { .nr = (unsigned int)n };
	uint32_t index[64];

	for (uint64_t seq = 0; seq < SAMPLES; seq += 64) {
		sched_fill32(&sched, seq, 1, index, 64);
		for (unsigned int k = 0; k < 64; k++)
			f.got[perm_inverse(&sched.perm, index[k])]++;
	}
	for (unsigned int k = 0; k < n; k++)
		f.want[k] = pow(k + 1, -tested_against);
	return f;
}

static void zipf_ranks_have_their_weights(void **state)
{
	static const double exponents[] = { 0.05, 0.5, 0.9, 0.9999999, 1, 1.00001, 1.1, 1.5, 2, 3, 8 };
	static const uint64_t sizes[] = { 1, 2, 3, 10, 500, 2000 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(exponents) / sizeof(*exponents); i++)
		for (unsigned int k = 0; k < 6; k++) {
			struct fit f = ranks_of(sizes[k], exponents[i], exponents[i]);

			assert_fits(&f);
		}
}

static void a_wrong_exponent_is_found_out(void **state)
{
	static const double exponents[] = { 0.5, 1, 1.1, 2 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct fit f = ranks_of(500, exponents[i], exponents[i] + 0.05);

		assert_true(misfit(&f) > 1);
	}
}

/* The integral of x^-s between the ends, which the sum of a run of ranks is as good as. */
static double integral(double from, double to, double s)
{
	return s == 1 ? log(to / from) : (pow(to, 1 - s) - pow(from, 1 - s)) / (1 - s);
}

/* Sets that no table holds: ranks by octaves, the first ones added up and the others integrated. */
static void zipf_of_huge_sets(void **state)
{
	static const double exponents[] = { 0.3, 1, 1.1 };
	static const uint64_t sizes[] = { UINT64_C(1) << 32, UINT64_C(1) << 40, UINT64_MAX };

	(void)state;
	for (unsigned int i = 0; i < 9; i++) {
		double s = exponents[i / 3];
		struct sched sched = MAKE(.order = SCHED_ZIPF, .n = sizes[i % 3], .zipf_s = s);
		struct fit f = { .nr = 64 - (unsigned int)__builtin_clzll(sched.n) };

		for (uint64_t seq = 0; seq < SAMPLES; seq++) {
			uint64_t rank = perm_inverse(&sched.perm, sched_index(&sched, seq)) + 1;

			f.got[rank ? 63 - __builtin_clzll(rank) : 63]++;
		}
		for (unsigned int k = 0; k < f.nr; k++) {
			double from = ldexp(1, (int)k), to = fmin(2 * from, (double)sched.n + 1);

			for (double x = from; k < 10 && x < to; x++)
				f.want[k] += pow(x, -s);
			if (k >= 10)
				f.want[k] = integral(from - 0.5, to - 0.5, s);
		}
		assert_fits(&f);
	}
}

/* --- hot -------------------------------------------------------------------------------------- */

static struct fit hot_of(const struct sched *s, double hot_packets, uint64_t nr_hot)
{
	struct fit f = { .nr = (unsigned int)s->n };

	for (uint64_t seq = 0; seq < SAMPLES; seq++)
		f.got[perm_inverse(&s->perm, sched_index(s, seq))]++;
	for (unsigned int k = 0; k < f.nr; k++)
		f.want[k] = k < nr_hot ? hot_packets / (double)nr_hot :
					 (1 - hot_packets) / (double)(s->n - nr_hot);
	return f;
}

static void hot_ones_get_their_share(void **state)
{
	static const struct {
		double packets, destinations;
		uint64_t nr;
	} cases[] = { { 0.9, 0.1, 100 }, { 0.8, 0.2, 200 }, { 0.5, 0.0001, 1 }, { 0.1, 0.9005, 901 },
		      { 0.07, 0.07, 70 }, { 0, 0.5, 500 }, { 1, 0.25, 250 }, { 0, 0, 0 } };
	struct fit f;

	(void)state;
	for (unsigned int k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct sched s = MAKE(.order = SCHED_HOT, .n = 1000, .hot_packets = cases[k].packets,
				      .hot_destinations = cases[k].destinations);

		f = hot_of(&s, cases[k].packets, cases[k].nr);
		assert_fits(&f);
	}
	struct sched all = MAKE(.order = SCHED_HOT, .n = 1000, .hot_packets = 0.3,
				.hot_destinations = 1);
	struct sched some = MAKE(.order = SCHED_HOT, .n = 1000, .hot_packets = 0.9,
				 .hot_destinations = 0.1);
	f = hot_of(&all, 1, 1000);
	assert_fits(&f);
	/* A share that is wrong by 1 %, a hot destination too many. */
	f = hot_of(&some, 0.91, 100);
	assert_true(misfit(&f) > 1);
	f = hot_of(&some, 0.9, 101);
	assert_true(misfit(&f) > 1);
}

/* --- the same for ever ------------------------------------------------------------------------ */

/* Sink and generator may be of different releases, machines and compilers. */
static void orders_never_change(void **state)
{
	static const uint64_t want[] = {
		UINT64_C(0x330a0f3baf402c11), UINT64_C(0x1743301cbb30ed4b),
		UINT64_C(0xf790152f8a03f5d8), UINT64_C(0x403e3720331198ac),
		UINT64_C(0xf2e23499445ba680), UINT64_C(0xfcfd6b5e1f6f00dc),
		UINT64_C(0xc12ba9cabcd6b768),
	};

	(void)state;
	for (unsigned int order = 0; order <= SCHED_HOT; order++) {
		struct sched_conf c = { .order = (enum sched_order)order, .n = 1000003, .seed = 42,
					.shard = 1, .nr_shards = 3, .repeat = 1, .stride = -4096,
					.window = 77, .new_pps = 30, .rate = *rate_constant(100),
					.zipf_s = 1.1, .hot_packets = 0.9, .hot_destinations = 0.01 };
		uint64_t sum = 0;
		struct sched s;

		assert_int_equal(sched_init(&s, &c, NULL), 0);
		for (uint64_t seq = 0; seq < 1000000; seq += 97)
			sum = sum * 1000003 + sched_index(&s, seq);
		if (sum != want[order])
			fail_msg("order %u: %#lx", order, sum);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform_is_even),
		cmocka_unit_test(uniform_packets_know_nothing_of_each_other),
		cmocka_unit_test(zipf_ranks_have_their_weights),
		cmocka_unit_test(a_wrong_exponent_is_found_out),
		cmocka_unit_test(zipf_of_huge_sets),
		cmocka_unit_test(hot_ones_get_their_share),
		cmocka_unit_test(orders_never_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
