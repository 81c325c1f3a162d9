// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/coverage.c
/* The count of distinct destinations against a count by hand, packet by packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gen/coverage.h"
#include "lib/rng.h"
#include "tests/unit/sched_make.h"

#define LANES_MAX 8u

/* Every packet that was sent, looked up in the closed form of the schedule. */
static uint64_t by_hand(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes)
{
	uint8_t *seen = calloc(s->n, 1);
	uint64_t distinct = 0;

	for (uint32_t lane = 0; lane < nr_lanes; lane++) {
		for (uint64_t k = 0; k < sent[lane]; k++) {
			struct sched_slot slot;

			sched_slot(s, lane + k * nr_lanes, &slot);
			distinct += !seen[slot.index];
			seen[slot.index] = 1;
		}
	}
	free(seen);
	return distinct;
}

static void check(uint64_t n, uint32_t shard, uint32_t nr_shards, uint32_t repeat,
		  const uint64_t *sent, uint32_t nr_lanes)
{
	struct sched s;
	uint64_t distinct;

	assert_int_equal(sched_make(&s, SCHED_PERMUTE, n, 7, shard, nr_shards, repeat, 1000,
				    UINT64_C(1) << 40, NULL), 0);
	assert_int_equal(coverage_distinct(&s, sent, nr_lanes, &distinct), 0);
	if (distinct != by_hand(&s, sent, nr_lanes))
		fail_msg("%lu of %lu in shard %u/%u, repeat %u, %u lanes, first sent %lu", distinct, n,
			 shard, nr_shards, repeat, nr_lanes, sent[0]);
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
	uint64_t sent[2] = { 100000, 0 };
	struct sched s;
	uint64_t distinct;

	(void)state;
	check(1000, 0, 1, 1, sent, 2);
	check(1001, 0, 1, 1, sent, 2);
	assert_int_equal(sched_make(&s, SCHED_PERMUTE, 1000, 7, 0, 1, 1, 1000, 1 << 20, NULL), 0);
	assert_int_equal(coverage_distinct(&s, sent, 2, &distinct), 0);
	assert_int_equal(distinct, 500);
}

static void test_random(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (int i = 0; i < 20000; i++) {
		uint32_t nr_lanes = 1 + (uint32_t)rng_below(&r, LANES_MAX);
		uint32_t nr_shards = 1 + (uint32_t)rng_below(&r, 3);
		uint64_t n = nr_shards + rng_below(&r, 200), sent[LANES_MAX];
		uint64_t most = rng_below(&r, 3) ? rng_below(&r, 40) : rng_below(&r, 400);

		for (uint32_t lane = 0; lane < nr_lanes; lane++)
			sent[lane] = most + rng_below(&r, rng_below(&r, 2) ? 3 : 300);
		if (!rng_below(&r, 4))
			sent[rng_below(&r, nr_lanes)] = 0;
		check(n, (uint32_t)rng_below(&r, nr_shards), nr_shards, 1 + (uint32_t)rng_below(&r, 10),
		      sent, nr_lanes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_and_all),
		cmocka_unit_test(test_starved_lane),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
