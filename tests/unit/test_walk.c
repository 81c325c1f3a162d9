// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/walk.c
/* A lane's walk against the closed forms of schedule and rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "gen/walk.h"
#include "lib/rng.h"
#include "lib/scenario.h"

#define T0    UINT64_C(123456789012345)
#define TOTAL (UINT64_C(1) << 40)

static struct walk walk;
static struct batch batch;

static const struct addr lab6 = { UINT64_C(0x2001000200000000), 0 };

static void make_set(struct addrset *set, int family, struct addr first, uint64_t n)
{
	char text[128], a[64], b[64];
	struct addr last = { first.hi, first.lo + n - 1 };

	addrset_init(set);
	snprintf(text, sizeof(text), "%s-%s", addr_text(family, first, a), addr_text(family, last, b));
	assert_int_equal(addrset_add(set, text, NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
}

static struct addr base_of(int family, uint32_t offset)
{
	if (family == AF_INET)
		return (struct addr){ .lo = 0xc6120000u + offset };
	return (struct addr){ lab6.hi, (uint64_t)offset << 40 };
}

static void compare(const struct sched *s, const struct scenario_stream *st, uint64_t seq,
		    unsigned int k)
{
	uint64_t i = sched_index(s, seq), nr_src = addrset_count(&st->sources);
	struct addr dst = addrset_at(&st->destinations, i), src = addrset_at(&st->sources, i % nr_src);
	uint32_t nr_sports = st->src_port_last - st->src_port + 1u;
	uint32_t nr_dports = st->dst_port_last - st->dst_port + 1u;

	if (st->destinations.family == AF_INET) {
		assert_int_equal(batch.dst[k], dst.lo);
		assert_int_equal(batch.src[k], src.lo);
	} else {
		assert_true(batch.dst_hi[k] == dst.hi && batch.dst_lo[k] == dst.lo);
		assert_true(batch.src_hi[k] == src.hi && batch.src_lo[k] == src.lo);
	}
	assert_int_equal(batch.ports[k] >> 16, st->src_port + seq % nr_sports);
	assert_int_equal(batch.ports[k] & 0xffff, st->dst_port + seq % nr_dports);
	assert_int_equal(batch.due_ns[k], T0 + rate_due_ns(&s->rate, seq));
}

/* @packets of one lane in bursts of all sizes. */
static void follow(const struct sched *s, const struct scenario_stream *st, uint32_t lane,
		   uint32_t nr_lanes, unsigned int packets, struct rng *r)
{
	uint64_t seq = lane;

	walk_init(&walk, s, st, true, T0, lane, nr_lanes);
	while (packets) {
		unsigned int n = 1 + (unsigned int)rng_below(r, rng_below(r, 2) ? 64 : BATCH_MAX);

		n = n < packets ? n : packets;
		walk_next(&walk, &batch, n);
		assert_int_equal(batch.seq, seq);
		assert_int_equal(batch.seq_step, nr_lanes);
		for (unsigned int k = 0; k < n; k++, seq += nr_lanes)
			compare(s, st, seq, k);
		packets -= n;
	}
}

static void make_rate(struct rate *rate, struct rng *r)
{
	uint64_t pps = 1 + rng_below(r, rng_below(r, 2) ? 1000 : 1000000000);
	uint32_t steps = rng_below(r, 3) ? 1 : 2 + (uint32_t)rng_below(r, 20);
	uint32_t group = rng_below(r, 3) ? 1 : 1 + (uint32_t)rng_below(r, 300);

	assert_int_equal(rate_init(rate, pps, steps > 1 ? 1 + rng_below(r, 1000000) : pps, steps,
				   steps > 1 ? 1000000 + rng_below(r, 1000000000) : 0, group, NULL), 0);
}

static void make_sched(struct sched *s, enum sched_order order, uint64_t n, struct rng *r)
{
	struct sched_conf c = { .order = order, .n = n, .seed = rng_next(r), .total = TOTAL,
				.nr_shards = 1 + (uint32_t)rng_below(r, 4), .repeat = 1, .zipf_s = 1.1,
				.hot_packets = 0.9, .hot_destinations = 0.1 };

	c.shard = (uint32_t)rng_below(r, c.nr_shards);
	make_rate(&c.rate, r);
	if (sched_is_cyclic(order) && rng_below(r, 2))
		c.repeat = 1 + (uint32_t)rng_below(r, 12);
	c.stride = (int64_t)(1 + rng_below(r, n)) * (rng_below(r, 2) ? 1 : -1);
	c.window = 1 + rng_below(r, n / c.nr_shards);
	c.new_pps = rng_below(r, c.rate.pps + 1);
	assert_int_equal(sched_init(s, &c, NULL), 0);
}

static void make_stream(struct scenario_stream *st, int family, uint64_t n, struct rng *r)
{
	memset(st, 0, sizeof(*st));
	make_set(&st->destinations, family, base_of(family, 0x10000), n);
	make_set(&st->sources, family, base_of(family, 2), 1 + rng_below(r, 3) * rng_below(r, 40));
	st->src_port = st->src_port_last = 9;
	st->dst_port = (uint16_t)(1024 + rng_below(r, 1000));
	st->dst_port_last = st->dst_port;
	if (!rng_below(r, 3)) {
		st->src_port = 1024;
		st->src_port_last = (uint16_t)(1024 + rng_below(r, 64000));
		st->dst_port_last = (uint16_t)(st->dst_port + rng_below(r, 3));
	}
}

static void free_stream(struct scenario_stream *st)
{
	addrset_free(&st->destinations);
	addrset_free(&st->sources);
}

static void one_walk(enum sched_order order, int family, uint64_t n, struct rng *r)
{
	uint32_t nr_lanes = 1 + (uint32_t)rng_below(r, 9);
	struct scenario_stream st;
	struct sched s;

	make_stream(&st, family, n, r);
	make_sched(&s, order, n, r);
	follow(&s, &st, (uint32_t)rng_below(r, nr_lanes), nr_lanes, 3000, r);
	free_stream(&st);
}

static void test_walk_is_the_schedule(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (int i = 0; i < 400; i++) {
		uint64_t n = 4 + rng_below(&r, rng_below(&r, 2) ? 50 : 5000);

		one_walk((enum sched_order)(i % 7), i % 2 ? AF_INET : AF_INET6, n, &r);
	}
}

/* More destinations than 32 bits can number. */
static void test_wide_sets(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 12);
	for (int order = 0; order < 7; order++) {
		one_walk((enum sched_order)order, AF_INET6, (UINT64_C(1) << 62) + 12345, &r);
		one_walk((enum sched_order)order, AF_INET6, UINT64_C(1) << 32, &r);
		one_walk((enum sched_order)order, AF_INET6, (UINT64_C(1) << 32) + 1, &r);
	}
}

static void test_whole_address_space(void **state)
{
	struct sched_conf c = { .order = SCHED_PERMUTE, .n = UINT64_C(1) << 32, .seed = 5, .shard = 2,
				.nr_shards = 3, .repeat = 1, .total = TOTAL };
	struct scenario_stream st = { .src_port = 9, .src_port_last = 9, .dst_port = 9,
				      .dst_port_last = 9 };
	struct sched s;
	struct rng r;

	(void)state;
	rng_seed(&r, 13);
	make_set(&st.destinations, AF_INET, (struct addr){ 0 }, UINT64_C(1) << 32);
	make_set(&st.sources, AF_INET, (struct addr){ 0 }, UINT64_C(1) << 32);
	assert_int_equal(rate_init(&c.rate, 1000000, 1000000, 1, 0, 1, NULL), 0);
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	follow(&s, &st, 1, 2, 20000, &r);
	free_stream(&st);
}

/* Millions of carries, with a rate that leaves a remainder each time. */
static void test_no_drift(void **state)
{
	struct sched_conf c = { .order = SCHED_SEQUENTIAL, .n = 1, .nr_shards = 1, .repeat = 1,
				.total = TOTAL };
	struct scenario_stream st = { 0 };
	struct sched s;

	(void)state;
	make_set(&st.destinations, AF_INET, base_of(AF_INET, 9), 1);
	make_set(&st.sources, AF_INET, base_of(AF_INET, 9), 1);
	assert_int_equal(rate_init(&c.rate, 999999937, 999999937, 1, 0, 1, NULL), 0);
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	walk_init(&walk, &s, &st, false, T0, 0, 1);
	for (uint64_t seq = 0; seq < 3000000; seq += BATCH_MAX) {
		walk_next(&walk, &batch, BATCH_MAX);
		assert_int_equal(batch.due_ns[BATCH_MAX - 1], T0 + sched_due_ns(&s, seq + BATCH_MAX - 1));
	}
	free_stream(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_is_the_schedule),
		cmocka_unit_test(test_wide_sets),
		cmocka_unit_test(test_whole_address_space),
		cmocka_unit_test(test_no_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
