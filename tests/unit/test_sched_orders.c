// SPDX-License-Identifier: GPL-2.0-or-later
/* Strides and windows, against what prose says of them; bursts of any order, against single packets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/rng.h"
#include "tests/unit/sched_make.h"

#define MAXN 400u

/* --- coverage contract ------------------------------------------------------------------------ */

/* Who got packets of a schedule, asked lane by lane and in bursts, as a generator does. */
static uint64_t count_packets(const struct sched *s, uint32_t nr_lanes, struct rng *r,
			      uint32_t *packets)
{
	uint64_t distinct = 0, index64[90];
	uint32_t index[90];

	memset(packets, 0, MAXN * sizeof(*packets));
	for (uint64_t lane = 0; lane < nr_lanes; lane++)
		for (uint64_t seq = lane, n; seq < s->total; seq += n * nr_lanes) {
			n = 1 + rng_below(r, 90);
			if (n > (s->total - seq - 1) / nr_lanes + 1)
				n = (s->total - seq - 1) / nr_lanes + 1;
			sched_fill32(s, seq, nr_lanes, index, (unsigned int)n);
			sched_fill64(s, seq, nr_lanes, index64, (unsigned int)n);
			for (uint64_t i = 0; i < n; i++) {
				assert_true(index[i] < s->n && index[i] == index64[i]);
				distinct += packets[index[i]]++ == 0;
			}
		}
	return distinct;
}

static void random_conf(struct sched_conf *c, enum sched_order order, struct rng *r)
{
	*c = (struct sched_conf){ .order = order, .seed = rng_next(r), .repeat = 1 };
	c->nr_shards = 1 + (uint32_t)rng_below(r, 5);
	c->n = c->nr_shards + rng_below(r, MAXN - c->nr_shards + 1);
	if (sched_is_cyclic(order))
		c->repeat = 1 + (uint32_t)rng_below(r, rng_below(r, 2) ? 1 : 6);
	/* Divisors of n among them, and strides beyond it. */
	c->stride = 1 + (int64_t)rng_below(r, 2 * c->n);
	if (rng_below(r, 2))
		c->stride = -c->stride;
	c->rate = *rate_constant(1 + rng_below(r, 50));
	c->new_pps = rng_below(r, c->rate.pps + 1);
}

/* One pass of all shards: every destination of the set exactly `repeat` times. */
static void check_pass(enum sched_order order, struct rng *r)
{
	uint32_t packets[MAXN], sum[MAXN] = { 0 };
	struct sched_conf c;
	struct sched s;

	random_conf(&c, order, r);
	for (c.shard = 0; c.shard < c.nr_shards; c.shard++) {
		assert_int_equal(sched_init(&s, &c, NULL), 0);
		s.total = c.total = s.n_shard * c.repeat;
		assert_int_equal(sched_distinct(&s), s.n_shard);
		assert_int_equal(count_packets(&s, 1 + (uint32_t)rng_below(r, 4), r, packets),
				 s.n_shard);
		for (uint64_t i = 0; i < c.n; i++)
			sum[i] += packets[i];
	}
	for (uint64_t i = 0; i < c.n; i++)
		assert_int_equal(sum[i], c.repeat);
}

static void a_pass_is_everybody_once(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (unsigned int k = 0; k < 600; k++)
		check_pass((enum sched_order)(k % 3), &r);
}

/* What was asked for is what is achieved, wherever the packets end. */
static void asked_is_achieved(void **state)
{
	static const enum sched_order orders[] = { SCHED_SEQUENTIAL, SCHED_PERMUTE, SCHED_STRIDE,
						   SCHED_WINDOW };
	uint32_t packets[MAXN];
	struct sched_conf c;
	struct sched s;
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (unsigned int k = 0; k < 4000; k++) {
		random_conf(&c, orders[k % 4], &r);
		c.shard = (uint32_t)rng_below(&r, c.nr_shards);
		c.window = 1 + rng_below(&r, (c.n - c.shard - 1) / c.nr_shards + 1);
		c.total = rng_below(&r, 4 * c.n);
		assert_int_equal(sched_init(&s, &c, NULL), 0);
		assert_int_equal(count_packets(&s, 1 + (uint32_t)rng_below(&r, 4), &r, packets),
				 sched_distinct(&s));
	}
}

/* --- stride ----------------------------------------------------------------------------------- */

/* A walker takes steps round a ring of n; back where a round began, it moves on by one. */
static void check_stride(uint64_t n, int64_t stride)
{
	struct sched_conf c = { .order = SCHED_STRIDE, .n = n, .nr_shards = 1, .repeat = 1,
				.stride = stride };
	int64_t size = (int64_t)n, at = 0, begun = 0;
	struct sched s;

	assert_int_equal(sched_init(&s, &c, NULL), 0);
	for (uint64_t position = 0; position < n; position++) {
		assert_int_equal(sched_index_at(&s, position), at);
		assert_int_equal(sched_position_of(&s, (uint64_t)at), position);
		at = ((at + stride) % size + size) % size;
		if (at == begun)
			at = ++begun;
	}
}

static void strides_walk_round(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 60; n++)
		for (int64_t stride = 1; stride <= 130; stride++) {
			check_stride(n, stride);
			check_stride(n, -stride);
		}
	check_stride(65536, 256);
	check_stride(65534, -254);
}

/* Sizes at which products have 128 bits and reciprocals are at their worst. */
static void huge_strides_are_exact(void **state)
{
	static const uint64_t sizes[] = { (UINT64_C(1) << 32) - 1, UINT64_C(1) << 33,
					  UINT64_C(0x8000000000000001), UINT64_MAX, UINT64_MAX - 1 };
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (unsigned int k = 0; k < 2000; k++) {
		uint64_t n = k % 6 == 5 ? 1 + (rng_next(&r) >> rng_below(&r, 64)) : sizes[k % 6];
		struct sched_conf c = { .order = SCHED_STRIDE, .n = n, .nr_shards = 1, .repeat = 1 };
		struct sched s;

		c.stride = (int64_t)(rng_next(&r) >> rng_below(&r, 64)) | 1;
		if (k % 3 == 0)
			c.stride = (int64_t)(n / (2 + rng_below(&r, 9)));
		if (!c.stride || sched_init(&s, &c, NULL))
			continue;
		for (unsigned int i = 0; i < 20; i++) {
			uint64_t position = i ? rng_next(&r) % n : n - 1;
			unsigned __int128 sum = (unsigned __int128)position * s.stride % n;

			sum += position / s.cycle;
			assert_int_equal(sched_index_at(&s, position), (uint64_t)(sum % n));
			assert_int_equal(sched_position_of(&s, (uint64_t)(sum % n)), position);
		}
	}
}

/* --- window ----------------------------------------------------------------------------------- */

/* The working set as a list, whose oldest member leaves when the newest comes. */
struct row {
	uint64_t begin, window;
	uint8_t seen[4096];
};

static void row_slide(struct row *w)
{
	assert_int_equal(w->seen[w->begin], 1); /* nobody leaves without having been there */
	w->begin++;
}

static uint64_t row_turn(struct row *w, uint64_t seq)
{
	for (uint64_t p = w->begin; p < w->begin + w->window; p++)
		if (p % w->window == seq % w->window) {
			w->seen[p] = 1;
			return p;
		}
	fail_msg("nobody is to have packet %lu", seq);
	return 0;
}

static void check_window(const struct sched_conf *c)
{
	struct row w = { .window = c->window };
	uint64_t owed = 0; /* slides, times rate */
	struct sched s, row;
	struct sched_conf permute = *c;

	permute.order = SCHED_PERMUTE;
	assert_int_equal(sched_init(&s, c, NULL), 0);
	assert_int_equal(sched_init(&row, &permute, NULL), 0);
	for (uint64_t seq = 0; seq < 2000; seq++) {
		assert_int_equal(sched_index(&s, seq), sched_index(&row, row_turn(&w, seq)));
		for (owed += c->new_pps; owed >= c->rate.pps; owed -= c->rate.pps)
			row_slide(&w);
	}
}

static void windows_slide(void **state)
{
	struct sched_conf c;
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (unsigned int k = 0; k < 400; k++) {
		random_conf(&c, SCHED_WINDOW, &r);
		if (k % 4 == 0)
			c.new_pps = c.rate.pps;
		c.shard = (uint32_t)rng_below(&r, c.nr_shards);
		c.window = 1 + rng_below(&r, (c.n - c.shard - 1) / c.nr_shards + 1);
		check_window(&c);
	}
}

/* New destinations/s and working set are what was asked for, whatever the rate. */
static void window_has_three_loads(void **state)
{
	struct sched_conf c = { .order = SCHED_WINDOW, .n = 1 << 20, .nr_shards = 1, .repeat = 1,
				.rate = *rate_constant(20000), .new_pps = 300, .window = 5000,
				.total = 20000 * 30 };
	struct sched s;

	(void)state;
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	/* After 30 s 9000 have come; the last of them may still wait for their turn. */
	assert_in_range(sched_distinct(&s), 5000 + 300 * 30 - 300 * 5000 / 20000 - 2, 5000 + 300 * 30);
	c.new_pps = 0;
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	assert_int_equal(sched_distinct(&s), 5000);
	c.new_pps = 20000;
	c.total = UINT64_C(1) << 40;
	assert_int_equal(sched_init(&s, &c, NULL), 0);
	assert_int_equal(sched_distinct(&s), 1 << 20);
}

/* --- bursts ----------------------------------------------------------------------------------- */

static void any_conf(struct sched_conf *c, struct rng *r)
{
	random_conf(c, (enum sched_order)rng_below(r, SCHED_HOT + 1), r);
	if (rng_below(r, 2))
		c->n = c->nr_shards + (rng_next(r) >> rng_below(r, 50) >> 1);
	if (rng_below(r, 8) == 0)
		c->n = UINT64_MAX - rng_below(r, 3);
	c->shard = (uint32_t)rng_below(r, c->nr_shards);
	c->window = 1 + rng_below(r, (c->n - c->shard - 1) / c->nr_shards + 1);
	if (rng_below(r, 2))
		c->window = 1 + (c->window - 1) % 50;
	c->zipf_s = rng_below(r, 4) ? 0.05 + (double)rng_below(r, 400) / 100 : 1;
	c->hot_packets = (double)rng_below(r, 11) / 10;
	c->hot_destinations = (double)(1 + rng_below(r, 10)) / 10;
}

static void check_burst(const struct sched *s, uint64_t seq, uint64_t step, unsigned int nr)
{
	static uint64_t index64[600];
	static uint32_t index[600];

	memset(index64, 0xee, sizeof(index64));
	memset(index, 0xee, sizeof(index));
	sched_fill64(s, seq, step, index64, nr);
	if (s->n <= UINT64_C(1) << 32)
		sched_fill32(s, seq, step, index, nr);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t want = sched_index(s, seq + i * step);

		assert_true(want < s->n);
		if (index64[i] != want || (s->n <= UINT64_C(1) << 32 && index[i] != want))
			fail_msg("order %d, n %lu, packet %lu + %u * %lu: %lu and %u, not %lu",
				 (int)s->order, s->n, seq, i, step, index64[i], index[i], want);
	}
	assert_int_equal(index64[nr], UINT64_C(0xeeeeeeeeeeeeeeee));
	assert_int_equal(index[nr], 0xeeeeeeee);
}

static void bursts_are_single_packets(void **state)
{
	struct sched_conf c;
	struct sched s;
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (unsigned int k = 0; k < 1500; k++) {
		uint64_t seq = rng_below(&r, 3) ? rng_below(&r, 3000) : rng_next(&r) >> 16;

		any_conf(&c, &r);
		if (sched_init(&s, &c, NULL))
			fail_msg("order %d", (int)c.order);
		check_burst(&s, seq, 1 + rng_below(&r, rng_below(&r, 2) ? 4 : 100000),
			    (unsigned int)rng_below(&r, rng_below(&r, 8) ? 70 : 600));
	}
}

/* --- what is refused -------------------------------------------------------------------------- */

/* Of what is not given, what is right. */
static void refused(struct sched_conf c, const char *says)
{
	struct err err = { "" };
	struct sched s;

	c.n = c.n ? c.n : 100;
	c.nr_shards = c.nr_shards ? c.nr_shards : 1;
	c.repeat = c.repeat ? c.repeat : 1;
	assert_int_equal(sched_init(&s, &c, &err), -EINVAL);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

#define CONF(...) ((struct sched_conf){ __VA_ARGS__ })

static void contradictions_are_refused(void **state)
{
	const struct rate *ten = rate_constant(10);

	(void)state;
	refused(CONF(.order = SCHED_STRIDE), "stride of 0");
	refused(CONF(.order = SCHED_WINDOW, .rate = *ten), "give 1 to 100");
	refused(CONF(.order = SCHED_WINDOW, .rate = *ten, .window = 101), "give 1 to 100");
	refused(CONF(.order = SCHED_WINDOW, .rate = *ten, .window = 9, .new_pps = 11),
		"11 new destinations/s need as many packets/s");
	refused(CONF(.order = SCHED_WINDOW, .window = 9, .new_pps = 1), "the rate is 0");
	refused(CONF(.order = SCHED_WINDOW, .window = 9, .repeat = 2), "have visits");
	refused(CONF(.order = SCHED_ZIPF), "exponent of 0");
	refused(CONF(.order = SCHED_ZIPF, .zipf_s = 8.5), "at most 8");
	refused(CONF(.order = SCHED_ZIPF, .zipf_s = 0.0 / 0.0), "exponent");
	refused(CONF(.order = SCHED_HOT, .hot_packets = 1.5, .hot_destinations = 0.5), "from 0 to 1");
	refused(CONF(.order = SCHED_HOT, .hot_packets = 0.5, .hot_destinations = -1), "from 0 to 1");
	refused(CONF(.order = SCHED_HOT, .hot_packets = 0.5), "to none of the destinations");
	refused(CONF(.order = SCHED_UNIFORM, .repeat = 3), "have visits");
	refused(CONF(.order = (enum sched_order)77), "no order 77");
	refused(CONF(.order = SCHED_WINDOW, .n = 3, .nr_shards = 9, .shard = 5), "at most 3 shards");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pass_is_everybody_once),
		cmocka_unit_test(asked_is_achieved),
		cmocka_unit_test(strides_walk_round),
		cmocka_unit_test(huge_strides_are_exact),
		cmocka_unit_test(windows_slide),
		cmocka_unit_test(window_has_three_loads),
		cmocka_unit_test(bursts_are_single_packets),
		cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
