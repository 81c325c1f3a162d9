// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/rate.h"
#include "lib/rng.h"

#define NS_PER_S UINT64_C(1000000000)

typedef unsigned __int128 u128;

static struct rate make(uint64_t pps, uint64_t to_pps, uint32_t steps, uint64_t step_ns,
			uint32_t group)
{
	struct rate r;

	assert_int_equal(rate_init(&r, pps, to_pps, steps, step_ns, group, NULL), 0);
	return r;
}

/* Somewhere between next to nothing and more than any port; up, down or neither. */
static struct rate any_rate(struct rng *r)
{
	uint64_t from = 1 + rng_below(r, UINT64_C(1) << rng_below(r, 34)), to = from;
	uint32_t steps = 1, group = 1;

	if (rng_below(r, 3)) {
		steps = 2 + (uint32_t)rng_below(r, RATE_STEPS_MAX - 1);
		to = 1 + rng_below(r, UINT64_C(1) << rng_below(r, 34));
	}
	if (rng_below(r, 2))
		group = 1 + (uint32_t)rng_below(r, UINT64_C(1) << rng_below(r, 19));
	return make(from, to, steps, 1 + rng_below(r, UINT64_C(1) << rng_below(r, 36)), group);
}

/* --- by prose --------------------------------------------------------------------------------- */

/* Step by step, packet by packet: when each is due, in 10^-9 ns over the step's rate. */
struct player {
	const struct rate *r;
	uint32_t step;
	uint64_t nth, group_due;
};

static uint64_t player_pps(const struct player *p)
{
	if (p->r->nr_steps == 1)
		return p->r->pps;
	return (uint64_t)(((u128)p->r->pps * (p->r->nr_steps - 1 - p->step) +
			   (u128)p->r->to_pps * p->step) / (p->r->nr_steps - 1));
}

static uint64_t player_next(struct player *p, uint64_t seq)
{
	uint64_t due;

	while (p->step + 1 < p->r->nr_steps &&
	       p->nth >= (uint64_t)((u128)player_pps(p) * p->r->step_ns / NS_PER_S)) {
		p->step++;
		p->nth = 0;
	}
	due = p->step * p->r->step_ns + (uint64_t)((u128)p->nth++ * NS_PER_S / player_pps(p));
	if (seq % p->r->group == 0)
		p->group_due = due;
	return p->group_due;
}

static void due_is_what_prose_says(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (unsigned int k = 0; k < 300; k++) {
		struct rate r = any_rate(&rng);
		struct player p = { .r = &r };

		for (uint64_t seq = 0; seq < 2000; seq++)
			assert_int_equal(rate_due_ns(&r, seq), player_next(&p, seq));
	}
}

/* --- one is the inverse of the other ---------------------------------------------------------- */

static void check_inverse(const struct rate *r, uint64_t t)
{
	uint64_t due = rate_due(r, t);

	if (due == UINT64_MAX)
		return;
	assert_int_equal(due % r->group, 0);
	/* None is due yet where the first steps are too short for a packet. */
	if ((due && rate_due_ns(r, due - 1) > t) || rate_due_ns(r, due) <= t)
		fail_msg("%lu to %lu in %u steps of %lu ns, groups of %u: %lu due at %lu, the last at "
			 "%lu, the next at %lu", r->pps, r->to_pps, r->nr_steps, r->step_ns, r->group,
			 due, t, due ? rate_due_ns(r, due - 1) : 0, rate_due_ns(r, due));
}

static void due_and_due_ns_are_inverse(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 2);
	for (unsigned int k = 0; k < 600; k++) {
		struct rate r = any_rate(&rng);

		for (unsigned int i = 0; i < 40; i++) {
			uint64_t t = rng_next(&rng) >> rng_below(&rng, 64);

			check_inverse(&r, t);
			/* Next to the ends of steps, and where packets are due. */
			check_inverse(&r, r.step_ns * (1 + i) - 1);
			check_inverse(&r, r.step_ns * (1 + i));
			t = rate_due_ns(&r, rng_below(&rng, 100000));
			check_inverse(&r, t);
			check_inverse(&r, t + 1);
			if (t)
				check_inverse(&r, t - 1);
		}
	}
}

/* --- bursts ----------------------------------------------------------------------------------- */

static void check_fill(const struct rate *r, uint64_t seq, uint64_t step)
{
	uint64_t due[65];

	due[64] = 77;
	rate_fill_ns(r, seq, step, due, 64);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(due[i], rate_due_ns(r, seq + i * step));
	assert_int_equal(due[64], 77);
	rate_fill_ns(r, seq, step, due, 0);
}

static void bursts_are_single_packets(void **state)
{
	struct rate none = { .pps = 0 }, fast = make(UINT64_MAX, UINT64_MAX, 1, 0, 1);
	struct rate slow = make(1, 1, 1, 0, 1);
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (unsigned int k = 0; k < 3000; k++) {
		struct rate r = any_rate(&rng);

		check_fill(&r, rng_next(&rng) >> (16 + rng_below(&rng, 48)),
			   1 + rng_below(&rng, rng_below(&rng, 3) ? 16 : 100000));
	}
	check_fill(&none, 5, 1);
	check_fill(&fast, UINT64_C(1) << 40, UINT64_C(1) << 20);
	check_fill(&slow, NS_PER_S * 18, NS_PER_S / 7); /* beyond what 64 bits hold */
	check_fill(&slow, 5, UINT64_C(1) << 40);
	check_fill(&slow, 5, 0);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void steps_are_announced(void **state)
{
	struct rate r = make(100, 1000, 10, NS_PER_S, 1), down = make(1000, 1, 3, 5, 1);
	uint64_t end;

	(void)state;
	for (uint64_t k = 0; k < 10; k++) {
		assert_int_equal(rate_at_ns(&r, k * NS_PER_S, &end), 100 + k * 100);
		assert_int_equal(end, k == 9 ? UINT64_MAX : (k + 1) * NS_PER_S);
		assert_int_equal(rate_at_ns(&r, k * NS_PER_S + NS_PER_S - 1, &end), 100 + k * 100);
		assert_int_equal(rate_due(&r, (k + 1) * NS_PER_S - 1), 50 * (k + 1) * (k + 2));
	}
	assert_int_equal(rate_at_ns(&r, UINT64_MAX, &end), 1000);
	assert_int_equal(rate_max_pps(&r), 1000);
	assert_int_equal(rate_at_ns(&down, 5, &end), 500);
	assert_int_equal(rate_max_pps(&down), 1000);
	/* Steps too short for a packet: none has one, the last has them all. */
	assert_int_equal(rate_due_ns(&down, 0), 10);
	assert_int_equal(rate_due(&down, 9), 0);
}

static void groups_are_due_together(void **state)
{
	struct rate r = make(1000, 1000, 1, 0, 100);

	(void)state;
	for (uint64_t k = 0; k < 100; k++)
		assert_int_equal(rate_due_ns(&r, 500 + k), 500000000);
	assert_int_equal(rate_due(&r, 499999999), 500);
	assert_int_equal(rate_due(&r, 500000000), 600);
}

static void no_rate(void **state)
{
	struct rate r, zeroed = { .pps = 0 };
	uint64_t end;

	(void)state;
	r = make(0, 0, 1, 0, 1);
	assert_int_equal(rate_due_ns(&r, 12345), 0);
	assert_int_equal(rate_due(&r, 0), UINT64_MAX);
	assert_int_equal(rate_max_pps(&zeroed), 0);
	assert_int_equal(rate_due_ns(&zeroed, 12345), 0);
	assert_int_equal(rate_due(&zeroed, 0), UINT64_MAX);
	assert_int_equal(rate_at_ns(&zeroed, 5, &end), 0);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void refused(uint64_t pps, uint64_t to_pps, uint32_t steps, uint64_t step_ns, uint32_t group,
		    const char *says)
{
	struct err err = { "" };
	struct rate r;

	assert_int_equal(rate_init(&r, pps, to_pps, steps, step_ns, group, &err), -EINVAL);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void contradictions_are_refused(void **state)
{
	(void)state;
	refused(1, 1, 0, 1, 1, "give 1 to 256");
	refused(1, 2, RATE_STEPS_MAX + 1, 1, 1, "give 1 to 256");
	refused(1, 1, 1, 0, 0, "give 1 to 1000000");
	refused(1, 1, 1, 0, RATE_GROUP_MAX + 1, "give 1 to 1000000");
	refused(0, 5, 2, 1, 1, "neither end may be 0");
	refused(5, 0, 2, 1, 1, "neither end may be 0");
	refused(0, 0, 2, 1, 1, "need a rate");
	refused(0, 0, 1, 0, 7, "need a rate");
	refused(5, 6, 1, 1, 1, "at least 2 steps");
	refused(5, 6, 2, 0, 1, "at least 1 ns");
	refused(5, 6, 2, UINT64_MAX / 2 + 1, 1, "less than 2^64");
	refused(UINT64_MAX, 1, 3, UINT64_C(1) << 62, 1, "more than 2^64 packets");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(due_is_what_prose_says),
		cmocka_unit_test(due_and_due_ns_are_inverse),
		cmocka_unit_test(bursts_are_single_packets),
		cmocka_unit_test(steps_are_announced),
		cmocka_unit_test(groups_are_due_together),
		cmocka_unit_test(no_rate),
		cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
