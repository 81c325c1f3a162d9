// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/coverage.c gen/seen.c
/* The counts of distinct destinations against a count by hand, packet by packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gen/coverage.h"
#include "gen/seen.h"
#include "lib/rng.h"

#define LANES_MAX 8u

/* Every packet that was sent, looked up in the closed form of the schedule. */
static uint64_t by_hand(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes)
{
	uint8_t *seen = calloc(s->n, 1);
	uint64_t distinct = 0;

	for (uint32_t lane = 0; lane < nr_lanes; lane++) {
		for (uint64_t k = 0; k < sent[lane]; k++) {
			uint64_t index = sched_index(s, lane + k * nr_lanes);

			distinct += !seen[index];
			seen[index] = 1;
		}
	}
	free(seen);
	return distinct;
}

static void make(struct sched *s, struct sched_conf *c)
{
	c->total = UINT64_C(1) << 40;
	if (!c->rate.pps)
		assert_int_equal(rate_init(&c->rate, 1000, 1000, 1, 0, 1, NULL), 0);
	assert_int_equal(sched_init(s, c, NULL), 0);
}

/* What gen/seen.h counts in steps, as the main thread does while the lanes go on. */
static uint64_t by_walking(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes)
{
	uint64_t half[LANES_MAX], distinct;
	struct seen seen;

	assert_int_equal(seen_init(&seen, s, nr_lanes, NULL), 0);
	for (uint32_t lane = 0; lane < nr_lanes; lane++)
		half[lane] = sent[lane] / 2;
	seen_advance(&seen, half, 100);
	seen_advance(&seen, half, UINT64_MAX);
	while (seen_advance(&seen, sent, 50))
		;
	distinct = seen_distinct(&seen);
	seen_free(&seen);
	return distinct;
}

static void check_conf(struct sched_conf *c, const uint64_t *sent, uint32_t nr_lanes)
{
	struct sched s;
	uint64_t distinct;

	make(&s, c);
	if (sched_is_cyclic(c->order) || c->order == SCHED_WINDOW)
		assert_int_equal(coverage_distinct(&s, sent, nr_lanes, &distinct), 0);
	else
		distinct = by_walking(&s, sent, nr_lanes);
	if (distinct != by_hand(&s, sent, nr_lanes))
		fail_msg("%lu of %lu, order %d, shard %u/%u, repeat %u, %u lanes, first sent %lu",
			 distinct, c->n, c->order, c->shard, c->nr_shards, c->repeat, nr_lanes, sent[0]);
}

static void check(uint64_t n, uint32_t shard, uint32_t nr_shards, uint32_t repeat,
		  const uint64_t *sent, uint32_t nr_lanes)
{
	struct sched_conf c = { .order = SCHED_PERMUTE, .n = n, .seed = 7, .shard = shard,
				.nr_shards = nr_shards, .repeat = repeat };

	check_conf(&c, sent, nr_lanes);
}

static void test_nothing_and_all(void **state)
{
	uint64_t none[2] = { 0, 0 }, all[2] = { 50, 50 }, more[2] = { 5000, 5000 };

	(void)state;
	check(100, 0, 1, 1, none, 2);
	check(100, 0, 1, 1, all, 2);
	check(100, 0, 1, 1, more, 2);
	check(100, 1, 3, 3, all, 2);
}

/* A lane that never ran leaves its share out, however long the other one goes on. */
static void test_starved_lane(void **state)
{
	struct sched_conf c = { .order = SCHED_PERMUTE, .n = 1000, .seed = 7, .nr_shards = 1,
				.repeat = 1 };
	uint64_t sent[2] = { 100000, 0 };
	struct sched s;
	uint64_t distinct;

	(void)state;
	check(1000, 0, 1, 1, sent, 2);
	check(1001, 0, 1, 1, sent, 2);
	make(&s, &c);
	assert_int_equal(coverage_distinct(&s, sent, 2, &distinct), 0);
	assert_int_equal(distinct, 500);
}

/* Lanes that are level, a little apart, far apart, or did not run. */
static uint32_t make_sent(uint64_t sent[LANES_MAX], struct rng *r)
{
	uint32_t nr_lanes = 1 + (uint32_t)rng_below(r, LANES_MAX);
	uint64_t most = rng_below(r, 3) ? rng_below(r, 40) : rng_below(r, 400);

	for (uint32_t lane = 0; lane < nr_lanes; lane++)
		sent[lane] = most + rng_below(r, rng_below(r, 2) ? 3 : 300);
	if (!rng_below(r, 4))
		sent[rng_below(r, nr_lanes)] = 0;
	return nr_lanes;
}

static void test_passes(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (int i = 0; i < 20000; i++) {
		uint32_t nr_shards = 1 + (uint32_t)rng_below(&r, 3);
		uint64_t n = nr_shards + rng_below(&r, 200), sent[LANES_MAX];
		uint32_t nr_lanes = make_sent(sent, &r);

		check(n, (uint32_t)rng_below(&r, nr_shards), nr_shards, 1 + (uint32_t)rng_below(&r, 10),
		      sent, nr_lanes);
	}
}

static void test_other_orders(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (int i = 0; i < 10000; i++) {
		uint32_t nr_shards = 1 + (uint32_t)rng_below(&r, 3);
		struct sched_conf c = { .order = (enum sched_order)(SCHED_STRIDE + i % 5),
					.n = nr_shards + rng_below(&r, 200), .seed = rng_next(&r),
					.nr_shards = nr_shards, .repeat = 1, .zipf_s = 1,
					.hot_packets = 0.9, .hot_destinations = 0.1 };
		uint64_t sent[LANES_MAX];
		uint32_t nr_lanes = make_sent(sent, &r);

		c.shard = (uint32_t)rng_below(&r, nr_shards);
		c.stride = (int64_t)(1 + rng_below(&r, c.n)) * (rng_below(&r, 2) ? 1 : -1);
		c.window = 1 + rng_below(&r, c.n / nr_shards);
		c.new_pps = rng_below(&r, rng_below(&r, 2) ? 1001 : 50);
		check_conf(&c, sent, nr_lanes);
	}
}

/* A window over more than could be marked; lanes that are not level. */
static void test_wide_window(void **state)
{
	struct sched_conf c = { .order = SCHED_WINDOW, .n = UINT64_C(1) << 63, .seed = 5, .nr_shards = 1,
				.repeat = 1, .window = 100, .new_pps = 500 };
	uint64_t sent[2] = { 500000, 500003 }, distinct;
	struct sched s;

	(void)state;
	make(&s, &c);
	s.total = 1000001;
	assert_int_equal(coverage_distinct(&s, sent, 2, &distinct), 0);
	assert_in_range(distinct, sched_distinct(&s), sched_distinct(&s) + 3);
	sent[1] = 0; /* all numbers that went out are even, and so are their places */
	assert_int_equal(coverage_distinct(&s, sent, 2, &distinct), 0);
	assert_in_range(distinct, 250000, 250050);
}

/* Beyond 2^32 destinations: an estimate as good as it says. */
static void test_estimate(void **state)
{
	static const uint64_t sent[] = { 1000, 50000, 2000000 };
	struct sched_conf c = { .order = SCHED_UNIFORM, .n = UINT64_MAX, .seed = 5, .nr_shards = 1,
				.repeat = 1 };
	struct sched s;

	(void)state;
	make(&s, &c);
	for (size_t i = 0; i < sizeof(sent) / sizeof(*sent); i++) {
		struct seen seen;
		double off;

		assert_int_equal(seen_init(&seen, &s, 1, NULL), 0);
		assert_true(seen_estimates(&seen));
		assert_int_equal(seen_advance(&seen, &sent[i], UINT64_MAX), sent[i]);
		off = (double)seen_distinct(&seen) / (double)sent[i] - 1;
		assert_true(off * off * 1e12 <= 9.0 * SEEN_ERROR_PPM * SEEN_ERROR_PPM);
		seen_free(&seen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_and_all), cmocka_unit_test(test_starved_lane),
		cmocka_unit_test(test_passes),		cmocka_unit_test(test_other_orders),
		cmocka_unit_test(test_wide_window),	cmocka_unit_test(test_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
