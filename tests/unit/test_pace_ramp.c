// SPDX-License-Identifier: GPL-2.0-or-later
/* Pacing of rates that change, and of packets that are due together: same guarantees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pace.h"
#include "lib/rng.h"
#include "tests/unit/pace_sim.h"

static struct rate make(uint64_t pps, uint64_t to_pps, uint32_t steps, uint64_t step_ns,
			uint32_t group)
{
	struct rate r;

	assert_int_equal(rate_init(&r, pps, to_pps, steps, step_ns, group, NULL), 0);
	return r;
}

/* What every lane ought to have sent by @now. */
static uint64_t due_by(const struct sim *s, uint64_t now)
{
	return rate_due(&s->pps, now - s->t0);
}

/* Lanes that look when they are told to send each group whole, at its time, whatever the lanes. */
static void check_punctual(const struct rate *r, uint32_t lanes, uint32_t burst)
{
	struct sim s;

	sim_init_rate(&s, r, UINT64_MAX, burst, lanes);
	for (unsigned int k = 0; k < 300; k++) {
		uint64_t now = s.t0 + rate_due_ns(r, sim_sent(&s));

		for (uint32_t l = 0; l < lanes; l++) {
			struct lane *lane = &s.lane[l];
			uint64_t next = pace_next_ns(&lane->pace);
			unsigned int n = pace_take(&lane->pace, now, UINT32_MAX);

			assert_true(next >= now);
			assert_int_equal(n > 0, next == now);
			lane->sent += n;
			window_sent(s.window, now, n);
		}
		if (sim_sent(&s) != due_by(&s, now))
			fail_msg("rate %lu group %u lanes %u burst %u: %lu of %lu", r->pps, r->group,
				 lanes, burst, sim_sent(&s), due_by(&s, now));
	}
	free(s.window);
}

static void punctual_lanes_are_never_held_back(void **state)
{
	static const uint32_t groups[] = { 1, 2, 3, 7, 64, 1000, 24000 };
	static const uint64_t rates[] = { 10, 999, 20000, 1000000 };

	(void)state;
	for (unsigned int k = 0; k < 7; k++)
		for (unsigned int i = 0; i < 4; i++)
			for (uint32_t lanes = 1; lanes <= MAX_LANES; lanes++) {
				struct rate r = make(rates[i], rates[i], 1, 0, groups[k]);
				struct rate up = make(rates[i], 10 * rates[i], 7, 3333333, groups[k]);
				struct rate down = make(10 * rates[i], rates[i], 7, 3333333, groups[k]);

				check_punctual(&r, lanes, 2 * lanes);
				check_punctual(&up, lanes, 2 * lanes);
				check_punctual(&down, lanes, 64);
			}
}

/* Lanes that oversleep, up to 30 ms: never over the bound, and in the end everything is sent. */
static void check_late(const struct rate *r, uint32_t lanes, uint32_t burst)
{
	struct sim s;
	uint64_t debt;

	sim_init_rate(&s, r, UINT64_MAX, burst, lanes);
	for (unsigned int i = 0; i < 100; i++) {
		s.sleep_late_ns = UINT64_C(1) << rng_below(&s.rng, 25);
		sim_run(&s, s.now + NS_PER_MS);
		assert_true(sim_sent(&s) <= due_by(&s, s.now));
	}
	/* Debts go at burst / 2 a ms over the rate, but for the ns by which a poll rounds up. */
	s.sleep_late_ns = 0;
	for (uint32_t k = 0; k < lanes; k++)
		s.lane[k].poll_at = s.now;
	debt = due_by(&s, s.now) - sim_sent(&s);
	sim_run(&s, s.now + (5 * debt / (2 * burst) + 2) * NS_PER_MS);
	debt = due_by(&s, s.now) - sim_sent(&s);
	if (debt > 2 * lanes + r->group)
		fail_msg("rate %lu group %u: %lu are owed", r->pps, r->group, debt);
	free(s.window);
}

static void no_window_is_over_its_limit(void **state)
{
	(void)state;
	for (uint32_t lanes = 1; lanes <= MAX_LANES; lanes++)
		for (uint32_t burst = 2 * lanes; burst <= 64; burst += 28) {
			const struct rate rates[] = {
				make(1000, 200000, 20, 5000000, 1), make(200000, 1000, 20, 5000000, 1),
				make(1000, 1000000, 2, 50000000, 16), make(50000, 50000, 1, 0, 500),
				make(10000, 20000, 256, 300000, 7), make(100, 1, 5, 10000000, 3),
			};

			for (unsigned int k = 0; k < 6; k++)
				check_late(&rates[k], lanes, burst);
		}
}

/* Nothing of a stream that is given back is lost when the rate changes meanwhile. */
static void what_a_port_refuses_is_owed(void **state)
{
	struct rate r = make(5000, 50000, 10, 10000000, 32);
	struct window *w = window_new(0, 64 + 31);
	uint64_t sent = 0;
	struct rng rng;
	struct pace p;

	(void)state;
	rng_seed(&rng, 3);
	w->rate = &r;
	pace_init(&p, 0, &r, 3000, 64, 0, 1);
	for (uint64_t t = 0; t < 200 * NS_PER_MS; t += 1 + rng_below(&rng, 20000)) {
		unsigned int n = pace_take(&p, t, 64);
		unsigned int back = n ? (unsigned int)rng_below(&rng, n + 1) : 0;

		pace_give_back(&p, back);
		sent += n - back;
		window_sent(w, t, n - back);
		assert_int_equal(p.taken, sent);
	}
	assert_int_equal(sent, 3000);
	assert_int_equal(pace_next_ns(&p), UINT64_MAX);
	free(w);
}

/* A debt from a slow step is told to look again when a fast one begins, and no later. */
static void next_knows_of_steps(void **state)
{
	struct rate r = make(1000, 100000, 2, 5 * NS_PER_MS, 1);
	uint64_t now = 5 * NS_PER_MS - 10, next;
	struct pace p;

	(void)state;
	pace_init(&p, 0, &r, UINT64_MAX, 2, 0, 1);
	assert_int_equal(pace_take(&p, now, UINT32_MAX), 1); /* the bucket holds no more */
	for (unsigned int k = 0; k < 100; k++) {
		next = pace_next_ns(&p);
		assert_true(next > now);
		assert_int_equal(pace_take(&p, next - 1, UINT32_MAX), 0);
		now = next;
		assert_int_equal(pace_take(&p, now, UINT32_MAX), now > 5 * NS_PER_MS);
		if (k == 0)
			assert_int_equal(now, 5 * NS_PER_MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(punctual_lanes_are_never_held_back),
		cmocka_unit_test(no_window_is_over_its_limit),
		cmocka_unit_test(what_a_port_refuses_is_owed),
		cmocka_unit_test(next_knows_of_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
