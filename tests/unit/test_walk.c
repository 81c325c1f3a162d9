// SPDX-License-Identifier: GPL-2.0-or-later
// needs: gen/walk.c gen/template.c
/* A lane's walk against the closed form of the schedule, and the packets against the RFCs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "gen/template.h"
#include "gen/walk.h"
#include "lib/probe.h"
#include "lib/rng.h"
#include "tests/unit/sched_make.h"

#define T0 UINT64_C(123456789012345)

static struct walk walk;
static struct batch batch;

static void make_set(struct addrset *set, uint32_t first, uint64_t n)
{
	char text[64], a[64], b[64];

	addrset_init(set);
	snprintf(text, sizeof(text), "%s-%s", addr_text(AF_INET, (struct addr){ .lo = first }, a),
		 addr_text(AF_INET, (struct addr){ .lo = first + n - 1 }, b));
	assert_int_equal(addrset_add(set, text, NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
}

static void compare(const struct sched *s, const struct addrset *dst, const struct addrset *src,
		    uint64_t seq, unsigned int k)
{
	struct sched_slot slot;

	sched_slot(s, seq, &slot);
	assert_int_equal(batch.dst[k], addrset_at(dst, slot.index).lo);
	assert_int_equal(batch.src[k], addrset_at(src, slot.index % addrset_count(src)).lo);
	assert_int_equal(batch.due_ns[k], T0 + sched_due_ns(s, seq));
}

/* @packets of one lane in bursts of all sizes. */
static void follow(const struct sched *s, const struct addrset *dst, const struct addrset *src,
		   uint32_t lane, uint32_t nr_lanes, unsigned int packets, struct rng *r)
{
	uint64_t seq = lane;

	walk_init(&walk, s, dst, src, T0, lane, nr_lanes);
	while (packets) {
		unsigned int n = 1 + (unsigned int)rng_below(r, rng_below(r, 2) ? 64 : BATCH_MAX);

		n = n < packets ? n : packets;
		walk_next(&walk, &batch, n);
		assert_int_equal(batch.seq, seq);
		assert_int_equal(batch.seq_step, nr_lanes);
		for (unsigned int k = 0; k < n; k++, seq += nr_lanes)
			compare(s, dst, src, seq, k);
		packets -= n;
	}
}

static void test_walk_is_the_schedule(void **state)
{
	struct addrset dst, src;
	struct sched s;
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (int i = 0; i < 400; i++) {
		uint32_t nr_shards = 1 + (uint32_t)rng_below(&r, 4), nr_lanes = 1 + (uint32_t)rng_below(&r, 9);
		uint64_t n = nr_shards + rng_below(&r, rng_below(&r, 2) ? 50 : 5000);
		uint32_t repeat = rng_below(&r, 2) ? 1 : 1 + (uint32_t)rng_below(&r, 12);
		uint64_t rate = 1 + rng_below(&r, rng_below(&r, 2) ? 1000 : 1000000000);

		make_set(&dst, 0xc6130000u, n);
		make_set(&src, 0xc6120002u, 1 + rng_below(&r, 40));
		assert_int_equal(sched_make(&s, rng_below(&r, 2) ? SCHED_PERMUTE : SCHED_SEQUENTIAL, n,
					    rng_next(&r), (uint32_t)rng_below(&r, nr_shards), nr_shards,
					    repeat, rate, UINT64_C(1) << 40, NULL), 0);
		follow(&s, &dst, &src, (uint32_t)rng_below(&r, nr_lanes), nr_lanes, 3000, &r);
		addrset_free(&dst);
		addrset_free(&src);
	}
}

static void test_whole_address_space(void **state)
{
	struct addrset all;
	struct sched s;
	struct rng r;

	(void)state;
	rng_seed(&r, 12);
	make_set(&all, 0, UINT64_C(1) << 32);
	assert_int_equal(sched_make(&s, SCHED_PERMUTE, UINT64_C(1) << 32, 5, 2, 3, 1, 1000000, UINT64_C(1) << 40,
				    NULL), 0);
	follow(&s, &all, &all, 1, 2, 20000, &r);
	addrset_free(&all);
}

/* Millions of carries, with a rate that leaves a remainder each time. */
static void test_no_drift(void **state)
{
	struct addrset one;
	struct sched s;

	(void)state;
	make_set(&one, 0xc6130000u, 1);
	assert_int_equal(sched_make(&s, SCHED_SEQUENTIAL, 1, 0, 0, 1, 1, 999999937, UINT64_C(1) << 40, NULL),
			 0);
	walk_init(&walk, &s, &one, &one, T0, 0, 1);
	for (uint64_t seq = 0; seq < 3000000; seq += BATCH_MAX) {
		walk_next(&walk, &batch, BATCH_MAX);
		assert_int_equal(batch.due_ns[BATCH_MAX - 1], T0 + sched_due_ns(&s, seq + BATCH_MAX - 1));
	}
	addrset_free(&one);
}

static uint32_t big(const uint8_t *at, int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | *at++;
	return v;
}

static void test_packets(void **state)
{
	struct template_fields f = { .src_mac = { 2, 1, 2, 3, 4, 5 }, .dst_mac = { 2, 9, 8, 7, 6, 5 },
				     .src_port = 1234, .dst_port = 4321, .ttl = 7, .stream = 0xa5,
				     .shard = 0xfe };
	struct template t;
	struct rng r;

	(void)state;
	rng_seed(&r, 13);
	template_init(&t, &f, 1);
	for (int i = 0; i < 3000; i++) {
		uint8_t frame[64];
		struct probe p;

		batch.seq = rng_below(&r, PROBE_SEQ_MAX - BATCH_MAX * 8);
		batch.seq_step = 1 + rng_below(&r, 8);
		for (unsigned int k = 0; k < 64; k++) {
			/* Sums with and without a carry of the carry. */
			batch.dst[k] = rng_below(&r, 2) ? (uint32_t)rng_next(&r) : UINT32_MAX - k;
			batch.src[k] = (uint32_t)rng_next(&r);
			batch.due_ns[k] = rng_next(&r);
		}
		template_fill(&t, &batch, 64);
		memcpy(frame, t.frame, sizeof(frame));
		for (unsigned int k = 0; k < 64; k++) {
			uint32_t sum = 0;

			template_stamp(frame, &batch, k);
			for (int at = 14; at < 34; at += 2)
				sum += big(frame + at, 2);
			sum = (sum & 0xffff) + (sum >> 16);
			assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
			assert_int_equal(big(frame + 26, 4), batch.src[k]);
			assert_int_equal(big(frame + 30, 4), batch.dst[k]);
			assert_int_equal(frame[22], 7);
			assert_int_equal(frame[23], 17);
			assert_int_equal(big(frame + 34, 4), 1234u << 16 | 4321);
			assert_int_equal(big(frame + 38, 4), 26u << 16);
			assert_int_equal(probe_decode(frame + 42, &p), 0);
			assert_int_equal(p.stream, 0xa5);
			assert_int_equal(p.shard, 0xfe);
			assert_int_equal(p.seq, batch.seq + k * batch.seq_step);
			assert_int_equal(p.due_ns, batch.due_ns[k]);
			assert_memory_equal(frame, f.dst_mac, 6);
			assert_memory_equal(frame + 6, f.src_mac, 6);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_is_the_schedule),
		cmocka_unit_test(test_whole_address_space),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
