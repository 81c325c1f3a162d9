// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pace.h"
#include "lib/rng.h"
#include "tests/unit/pace_sim.h"

#define ALL UINT32_MAX

typedef unsigned __int128 u128;

/* The stream's packets that are due, as the contract has it. */
static uint64_t due_of_stream(uint64_t elapsed, uint64_t rate)
{
	/* Those with a number n whose time n * 10^9 / rate, without its fraction, has come. */
	return (uint64_t)((((u128)elapsed + 1) * rate - 1) / NS_PER_S) + 1;
}

/* Of the first @n packets of the stream, those with seq mod lanes == lane, counted another way. */
static uint64_t due_of_lane(uint64_t n, uint32_t lane, uint32_t lanes)
{
	return n / lanes + (lane < n % lanes);
}

/* --- exact ------------------------------------------------------------------------------------ */

/* Big jumps of the clock with small random polls between: at every one of them the count is exact.
 * The burst is huge, so that the bucket never holds anything back. */
static void check_no_drift(uint64_t rate, uint32_t lane, uint32_t lanes, uint64_t packets)
{
	const uint64_t jump = (u128)NS_PER_S * 400000000 / rate;
	uint64_t t0 = 77, t = t0, polls = 0, taken = 0;
	struct pace p;
	struct rng r;

	rng_seed(&r, rate);
	pace_init(&p, t0, rate_constant(rate), UINT64_MAX, UINT32_MAX, lane, lanes);
	while (due_of_stream(t - t0, rate) < packets) {
		uint64_t due = due_of_lane(due_of_stream(t - t0, rate), lane, lanes);

		taken += pace_take(&p, t, ALL);
		if (taken != due || p.taken != due)
			fail_msg("rate %lu lane %u: %lu of %lu at %lu", rate, lane, taken, due, t);
		t += ++polls % 64 ? rng_below(&r, 4 * NS_PER_S / rate + 50) : rng_below(&r, jump);
	}
	assert_true(polls > 10000);
}

static void no_drift_over_10_to_the_12_packets(void **state)
{
	static const uint64_t rates[] = { 1000, 14881, 999983, 1000000, 14880952 };

	(void)state;
	for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++)
		for (uint32_t lanes = 1; lanes <= 3; lanes++)
			check_no_drift(rates[k], lanes - 1, lanes, UINT64_C(1000000000000));
}

/* The clock of a lane's next packet is exact too, 10^12 packets from the start. */
static void next_is_exact_after_10_to_the_12_packets(void **state)
{
	const uint64_t rate = 999983, packets = UINT64_C(1000000000000);
	struct pace p;

	(void)state;
	pace_init(&p, 1000, rate_constant(rate), UINT64_MAX, UINT32_MAX, 0, 1);
	p.taken = packets;
	for (unsigned int k = 0; k < 1000; k++) {
		uint64_t next = pace_next_ns(&p);

		assert_int_equal(pace_take(&p, next - 1, ALL), 0);
		assert_int_equal(pace_take(&p, next, ALL), 1);
		assert_int_equal(due_of_stream(next - 1000, rate), packets + k + 1);
	}
}

/* Whatever is due, debt and empty buckets included: not one nanosecond before, and then indeed. */
static void next_says_when(void **state)
{
	struct pace p;
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	for (unsigned int k = 0; k < 3000; k++) {
		uint32_t lanes = 1 + (uint32_t)rng_below(&r, MAX_LANES);
		uint64_t now = rng_next(&r) >> 20, next;

		pace_init(&p, now, rate_constant(1 + rng_below(&r, UINT64_C(1) << rng_below(&r, 34))), UINT64_MAX,
			  2 * lanes + (uint32_t)rng_below(&r, 100),
			  (uint32_t)rng_below(&r, lanes), lanes);
		for (unsigned int i = 0; i < 20; i++) {
			pace_take(&p, now, 1 + (unsigned int)rng_below(&r, 64));
			next = pace_next_ns(&p);
			if (next > now)
				assert_int_equal(pace_take(&p, next - 1, ALL), 0);
			now = next > now ? next : now;
			assert_true(pace_take(&p, now, 1) == 1);
			now += rng_below(&r, rng_below(&r, 3) ? 2000 : 20 * NS_PER_MS);
		}
	}
}

static void lanes_share_one_budget(void **state)
{
	(void)state;
	for (uint64_t total = 0; total < 50; total++)
		for (uint32_t lanes = 1; lanes <= MAX_LANES; lanes++) {
			uint64_t sum = 0;

			for (uint32_t k = 0; k < lanes; k++) {
				struct pace p;

				pace_init(&p, 0, rate_constant(1000), total, 64, k, lanes);
				assert_int_equal(p.total, due_of_lane(total, k, lanes));
				sum += p.total;
			}
			assert_int_equal(sum, total);
		}
}

/* --- rates ------------------------------------------------------------------------------------ */

/* 5 s from 1 kpps to 1 Mpps with lanes that oversleep: asked is achieved, to the packets that came
 * due while the lanes slept. */
static void asked_is_achieved(void **state)
{
	static const uint64_t rates[] = { 1000, 3333, 15000, 100000, 1000000 };

	(void)state;
	for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++)
		for (uint32_t lanes = 1; lanes <= 2; lanes++) {
			uint64_t want = 5 * rates[k], got, slack = 2 + rates[k] / 100000;
			struct sim s;

			sim_init(&s, rates[k], UINT64_MAX, 64, lanes);
			sim_run(&s, s.t0 + 5 * NS_PER_S);
			got = sim_sent(&s);
			if (got > want || got + lanes * slack < want)
				fail_msg("%lu pps, %u lanes: %lu of %lu", rates[k], lanes, got,
					 want);
			free(s.window);
		}
}

/* Polling as fast as the clock ticks gives every packet at its own time. */
static void punctual_polls_are_never_held_back(void **state)
{
	(void)state;
	for (uint32_t lanes = 1; lanes <= MAX_LANES; lanes++) {
		struct sim s;

		sim_init(&s, 1000000, UINT64_MAX, 2 * lanes, lanes);
		s.sleep_late_ns = 0;
		sim_run(&s, s.t0 + NS_PER_S / 10);
		assert_int_equal(sim_sent(&s), 100000);
		free(s.window);
	}
}

static void the_total_is_the_end(void **state)
{
	struct sim s;

	(void)state;
	sim_init(&s, 50000, 10001, 64, 3);
	sim_run(&s, s.t0 + NS_PER_S);
	assert_int_equal(sim_sent(&s), 10001);
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(pace_next_ns(&s.lane[k].pace), UINT64_MAX);
		assert_int_equal(pace_take(&s.lane[k].pace, s.t0 + 9 * NS_PER_S, 64), 0);
	}
	free(s.window);
}

/* --- stalls ----------------------------------------------------------------------------------- */

/*
 * All lanes stand still for @stall ns, then go on: the debt comes back, no window is over its
 * limit, and it takes as long as the contract says: burst / 2 packets per ms beside the rate.
 */
static void check_stall(uint64_t rate, uint32_t lanes, uint32_t burst, uint64_t stall)
{
	uint64_t debt = rate * stall / NS_PER_S, pay_ms = 2 * debt / burst + 2, end, due;
	struct sim s;

	sim_init(&s, rate, UINT64_MAX, burst, lanes);
	s.sleep_late_ns = 200;
	sim_run(&s, s.t0 + 20 * NS_PER_MS);
	for (uint32_t k = 0; k < lanes; k++)
		s.lane[k].poll_at = s.now + stall;
	sim_run(&s, s.now + stall + NS_PER_MS);
	if (debt > 4 * burst) /* right after the stall there is a debt, and it is not dropped */
		assert_true(sim_sent(&s) + debt / 2 < due_of_stream(s.now - s.t0, rate));
	end = s.now + pay_ms * NS_PER_MS;
	sim_run(&s, end);
	due = due_of_stream(end - s.t0, rate);
	if (sim_sent(&s) + 2 * lanes < due)
		fail_msg("rate %lu lanes %u burst %u stall %lu: %lu of %lu", rate, lanes, burst,
			 stall, sim_sent(&s), due);
	assert_true(s.window->most > rate / 1000); /* the witness saw the debt being paid */
	free(s.window);
}

static void stalls_are_paid_back_within_bounds(void **state)
{
	(void)state;
	for (uint32_t lanes = 1; lanes <= 2; lanes++) {
		check_stall(1000, lanes, 64, 500 * NS_PER_MS);
		check_stall(100000, lanes, 64, 5 * NS_PER_MS);
		check_stall(1000000, lanes, 64, 10 * NS_PER_MS);
		check_stall(1000000, lanes, 16, NS_PER_MS);
		check_stall(1000000, lanes, 512, 50 * NS_PER_MS);
		check_stall(5000000, lanes, 64, NS_PER_MS);
	}
}

/* Random lengths of sleep, from nothing to 30 ms, at random: the bound holds in every window. */
static void no_window_is_over_its_limit(void **state)
{
	static const uint64_t rates[] = { 1, 999, 1001, 50000, 777777, 3000000 };

	(void)state;
	for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++)
		for (uint32_t lanes = 1; lanes <= MAX_LANES; lanes++)
			for (uint32_t burst = 2 * lanes; burst <= 128; burst += 42) {
				struct sim s;

				sim_init(&s, rates[k], UINT64_MAX, burst, lanes);
				for (unsigned int i = 0; i < 60; i++) {
					s.sleep_late_ns = UINT64_C(1) << rng_below(&s.rng, 25);
					sim_run(&s, s.now + 2 * NS_PER_MS);
				}
				free(s.window);
			}
}

/* The witness itself: one packet too many in a millisecond is seen, and forgotten after it. */
static void the_witness_can_see(void **state)
{
	struct window *w = window_new(1000, 4);

	(void)state;
	window_sent(w, 0, 4);
	window_sent(w, NS_PER_MS, 1);
	assert_int_equal(w->most, w->limit);
	window_sent(w, NS_PER_MS + 1, 4);
	assert_int_equal(w->inside, w->limit);
	window_sent(w, 3 * NS_PER_MS, 1);
	assert_int_equal(w->inside, 1);
	free(w);
}

/* --- ports that refuse ------------------------------------------------------------------------ */

/* A port that takes @per_ms packets a ms: what the lane could not send is unsent, to the packet. */
static void check_refusals(uint64_t rate, uint64_t per_ms)
{
	struct window *w = window_new(rate, 64);
	uint64_t total = rate, sent = 0, room = 0, t = 0;
	struct pace p;

	pace_init(&p, 0, rate_constant(rate), total, 64, 0, 1);
	for (; t < 2 * NS_PER_S; t += 10000) {
		unsigned int n = pace_take(&p, t, 64), ok;

		room = room + per_ms * 10000 < 64 * NS_PER_MS ? room + per_ms * 10000 :
								64 * NS_PER_MS;
		ok = n < room / NS_PER_MS ? n : (unsigned int)(room / NS_PER_MS);
		room -= ok * NS_PER_MS;
		pace_give_back(&p, n - ok);
		sent += ok;
		window_sent(w, t, ok);
		assert_int_equal(p.taken, sent);
	}
	if (per_ms * 2000 > total)
		assert_int_equal(sent, total);
	else
		assert_in_range(p.total - p.taken, total - per_ms * 2000,
				total - per_ms * 2000 + 64);
	free(w);
}

static void refused_packets_are_owed(void **state)
{
	(void)state;
	check_refusals(100000, 1000);
	check_refusals(100000, 60); /* slower than the rate, fast enough in the end */
	check_refusals(100000, 20);
	check_refusals(100000, 0);
	check_refusals(1000, 1);
}

/* Random refusals, two lanes: nothing is lost, nothing sent twice, no window over its limit. */
static void random_refusals(void **state)
{
	struct window *w = window_new(500000, 64);
	uint64_t sent = 0;
	struct pace p[2];
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint32_t k = 0; k < 2; k++)
		pace_init(&p[k], 0, rate_constant(500000), 500000, 64, k, 2);
	for (uint64_t t = 0; t < 3 * NS_PER_S; t += 1 + rng_below(&r, 20000))
		for (unsigned int k = 0; k < 2; k++) {
			unsigned int n = pace_take(&p[k], t, 32);
			unsigned int back = n ? (unsigned int)rng_below(&r, n + 1) : 0;

			pace_give_back(&p[k], back);
			sent += n - back;
			window_sent(w, t, n - back);
			assert_int_equal(p[0].taken + p[1].taken, sent);
		}
	assert_int_equal(sent, 500000);
	free(w);
}

/* --- corners ---------------------------------------------------------------------------------- */

static void without_rate_everything_is_due(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 100, rate_constant(0), 1000, 64, 1, 2);
	assert_int_equal(pace_next_ns(&p), 100);
	assert_int_equal(pace_take(&p, 99, 64), 0);
	assert_int_equal(pace_take(&p, 100, 64), 64);
	assert_int_equal(pace_take(&p, 100, 1000), 436);
	assert_int_equal(pace_next_ns(&p), UINT64_MAX);
	pace_give_back(&p, 6);
	assert_int_equal(pace_take(&p, 100, 64), 6);
}

static void time_before_t0_and_backwards(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 1000000, rate_constant(1000), 100, 64, 0, 1);
	assert_int_equal(pace_next_ns(&p), 1000000);
	assert_int_equal(pace_take(&p, 0, 64), 0);
	assert_int_equal(pace_take(&p, 999999, 64), 0);
	assert_int_equal(pace_take(&p, 1000000, 64), 1);
	assert_int_equal(pace_take(&p, 11000000, 64), 10);
	assert_int_equal(pace_take(&p, 5000000, 64), 0);
	assert_int_equal(pace_take(&p, 11000000, 64), 0);
	assert_int_equal(pace_take(&p, 12000000, 64), 1);
}

/* An empty bucket with a debt behind it: only time fills it. */
static void time_is_the_only_credit(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 0, rate_constant(1000000), 100000, 64, 0, 1);
	assert_int_equal(pace_take(&p, 10 * NS_PER_MS, ALL), 32);
	assert_int_equal(pace_take(&p, 9 * NS_PER_MS, ALL), 0); /* the clock steps back */
	assert_int_equal(pace_take(&p, 10 * NS_PER_MS, ALL), 0);
	assert_int_equal(pace_take(&p, 10 * NS_PER_MS + 1000, ALL), 1);
	pace_give_back(&p, 1);
	assert_int_equal(pace_take(&p, 10 * NS_PER_MS + 1000, ALL), 1);
	assert_int_equal(pace_take(&p, 11 * NS_PER_MS, 10), 10);
	assert_int_equal(pace_take(&p, 12 * NS_PER_MS, 0), 0); /* fills the bucket */
	pace_give_back(&p, 10);
	assert_int_equal(pace_take(&p, 12 * NS_PER_MS, ALL), 32);
}

/* Ends of the clock and rates beyond any port: no overflow makes packets out of nothing. */
static void extremes(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 0, rate_constant(UINT64_C(100000000000)), 1000, 64, 0, 1);
	assert_int_equal(pace_take(&p, UINT64_MAX, 1000), 32);
	pace_init(&p, 0, rate_constant(1), UINT64_MAX, 64, 0, 1);
	assert_int_equal(pace_take(&p, UINT64_MAX, 1000), 32);
	pace_init(&p, UINT64_MAX - 1, rate_constant(1000000000), 100, 64, 0, 1);
	assert_int_equal(pace_take(&p, UINT64_MAX, 1000), 2);
	pace_init(&p, 0, rate_constant(1000), 0, 64, 0, 1);
	assert_int_equal(pace_take(&p, NS_PER_S, 64), 0);
	assert_int_equal(pace_next_ns(&p), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_drift_over_10_to_the_12_packets),
		cmocka_unit_test(next_is_exact_after_10_to_the_12_packets),
		cmocka_unit_test(next_says_when),
		cmocka_unit_test(lanes_share_one_budget),
		cmocka_unit_test(asked_is_achieved),
		cmocka_unit_test(punctual_polls_are_never_held_back),
		cmocka_unit_test(the_total_is_the_end),
		cmocka_unit_test(stalls_are_paid_back_within_bounds),
		cmocka_unit_test(no_window_is_over_its_limit),
		cmocka_unit_test(the_witness_can_see),
		cmocka_unit_test(refused_packets_are_owed),
		cmocka_unit_test(random_refusals),
		cmocka_unit_test(without_rate_everything_is_due),
		cmocka_unit_test(time_before_t0_and_backwards),
		cmocka_unit_test(time_is_the_only_credit),
		cmocka_unit_test(extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
