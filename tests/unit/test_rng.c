// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rng.h"

#define BITS 256u

/* What the authors' own program prints. */
static void splitmix64_known_answers(void **state)
{
	static const uint64_t want[] = { 6457827717110365317u, 3203168211198807973u,
					 9817491932198370423u, 4593380528125082431u,
					 16408922859458223821u };
	uint64_t x = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(rng_splitmix64(&x), want[i]);
	x = 0;
	assert_int_equal(rng_splitmix64(&x), 0xe220a8397b1dcdafu);
}

static void next_known_answers(void **state)
{
	static const uint64_t want[] = {
		11520u,		       0u,
		1509978240u,	       1215971899390074240u,
		1216172134540287360u,  607988272756665600u,
		16172922978634559625u, 8476171486693032832u,
		10595114339597558777u, 2904607092377533576u,
	};
	struct rng r = { { 1, 2, 3, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(rng_next(&r), want[i]);
}

static void seed_known_answers(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 42);
	assert_int_equal(rng_next(&r), 1546998764402558742u);
	assert_int_equal(rng_next(&r), 6990951692964543102u);
	assert_int_equal(rng_next(&r), 12544586762248559009u);
	for (uint64_t seed = 0; seed < 1000; seed++) {
		rng_seed(&r, seed);
		assert_true(r.s[0] | r.s[1] | r.s[2] | r.s[3]);
	}
}

static void jump_known_answer(void **state)
{
	static const uint64_t want[4] = { 0x934d05e8b2076310, 0xeabdd0bf76a1be51,
					  0x75dd6a992accb1e8, 0xc660c602a7330187 };
	struct rng r = { { 0, 0, 0, 1 } };

	(void)state;
	rng_jump(&r);
	assert_memory_equal(r.s, want, sizeof(want));
}

/* Row i: what one bit i of the state becomes. The generator is linear over bits. */
static void apply(const struct rng m[BITS], const struct rng *in, struct rng *out)
{
	struct rng sum = { { 0 } };

	for (unsigned int bit = 0; bit < BITS; bit++)
		if (in->s[bit / 64] >> bit % 64 & 1)
			for (unsigned int i = 0; i < 4; i++)
				sum.s[i] ^= m[bit].s[i];
	*out = sum;
}

static void square(struct rng m[BITS])
{
	static struct rng old[BITS];

	memcpy(old, m, sizeof(old));
	for (unsigned int bit = 0; bit < BITS; bit++)
		apply(old, &old[bit], &m[bit]);
}

/* Another way to the same place: the matrix of one step, squared 128 times. */
static void jump_is_2_to_the_128_steps(void **state)
{
	static struct rng m[BITS];
	struct rng r, want;

	(void)state;
	for (unsigned int bit = 0; bit < BITS; bit++) {
		memset(&m[bit], 0, sizeof(m[bit]));
		m[bit].s[bit / 64] = UINT64_C(1) << bit % 64;
		rng_next(&m[bit]);
	}
	for (unsigned int i = 0; i < 128; i++)
		square(m);
	for (uint64_t seed = 0; seed < 20; seed++) {
		rng_seed(&r, seed);
		apply(m, &r, &want);
		rng_jump(&r);
		assert_memory_equal(&r, &want, sizeof(r));
	}
}

static void below_stays_below(void **state)
{
	static const uint64_t limits[] = { 1, 2, 3, 1000, UINT64_C(1) << 32, UINT64_C(1) << 63,
					   (UINT64_C(1) << 63) + 1, UINT64_MAX };
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		for (unsigned int k = 0; k < 10000; k++)
			assert_true(rng_below(&r, limits[i]) < limits[i]);
}

static double chi_square_of_below(uint64_t n, unsigned int bins, unsigned int draws)
{
	unsigned int count[16] = { 0 };
	double expected = (double)draws / bins, sum = 0;
	struct rng r;

	rng_seed(&r, n);
	for (unsigned int i = 0; i < draws; i++)
		count[(unsigned __int128)rng_below(&r, n) * bins / n]++;
	for (unsigned int i = 0; i < bins; i++)
		sum += (count[i] - expected) * (count[i] - expected) / expected;
	return sum;
}

/*
 * 3 * 2^62 is the worst case for a reduction without rejection: every third value would come twice
 * as often. 99.99 % quantiles of chi-square with 2 and 11 degrees of freedom: 18.4 and 37.4.
 */
static void below_is_uniform(void **state)
{
	(void)state;
	assert_true(chi_square_of_below(3, 3, 300000) < 18.4);
	assert_true(chi_square_of_below(12, 12, 300000) < 37.4);
	assert_true(chi_square_of_below(UINT64_C(3) << 62, 3, 300000) < 18.4);
	assert_true(chi_square_of_below(UINT64_C(3) << 62, 12, 300000) < 37.4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64_known_answers),
		cmocka_unit_test(next_known_answers),
		cmocka_unit_test(seed_known_answers),
		cmocka_unit_test(jump_known_answer),
		cmocka_unit_test(jump_is_2_to_the_128_steps),
		cmocka_unit_test(below_stays_below),
		cmocka_unit_test(below_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
