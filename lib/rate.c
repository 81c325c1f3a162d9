// SPDX-License-Identifier: GPL-2.0-or-later
#include "rate.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "err.h"

#define NS_PER_S UINT64_C(1000000000)

typedef unsigned __int128 u128;

static uint64_t saturate(u128 x)
{
	return x >> 64 ? UINT64_MAX : (uint64_t)x;
}

static uint64_t rate_of_step(const struct rate *r, uint32_t k)
{
	u128 sum;

	if (r->nr_steps == 1)
		return r->pps;
	sum = (u128)r->pps * (r->nr_steps - 1 - k) + (u128)r->to_pps * k;
	return (uint64_t)(sum / (r->nr_steps - 1));
}

static int rate_check(const struct rate *r, struct err *err)
{
	if (!r->nr_steps || r->nr_steps > RATE_STEPS_MAX)
		return err_set(err, -EINVAL, "%" PRIu32 " steps of the rate: give 1 to %u",
			       r->nr_steps, RATE_STEPS_MAX);
	if (!r->group || r->group > RATE_GROUP_MAX)
		return err_set(err, -EINVAL, "groups of %" PRIu32 " packets: give 1 to %u", r->group,
			       RATE_GROUP_MAX);
	if (!r->pps != !r->to_pps)
		return err_set(err, -EINVAL, "a rate from %" PRIu64 " to %" PRIu64 " packets/s: "
			       "neither end may be 0", r->pps, r->to_pps);
	if (!r->pps && (r->nr_steps > 1 || r->group > 1))
		return err_set(err, -EINVAL, "steps or groups need a rate: give one in packets/s");
	if (r->nr_steps == 1 && r->pps != r->to_pps)
		return err_set(err, -EINVAL, "a rate from %" PRIu64 " to %" PRIu64 " packets/s needs "
			       "at least 2 steps", r->pps, r->to_pps);
	if (r->nr_steps > 1 && (!r->step_ns || r->step_ns > UINT64_MAX / r->nr_steps))
		return err_set(err, -EINVAL, "%" PRIu32 " steps of %" PRIu64 " ns: give at least 1 ns, "
			       "and less than 2^64 in all", r->nr_steps, r->step_ns);
	return 0;
}

int rate_init(struct rate *r, uint64_t pps, uint64_t to_pps, uint32_t nr_steps, uint64_t step_ns,
	      uint32_t group, struct err *err)
{
	u128 first = 0;
	int ret;

	*r = (struct rate){ .pps = pps, .to_pps = to_pps, .nr_steps = nr_steps, .group = group,
			    .step_ns = step_ns };
	ret = rate_check(r, err);
	for (uint32_t k = 0; !ret && k < nr_steps; k++) {
		if (first >> 64)
			return err_set(err, -EINVAL, "a ramp of more than 2^64 packets: lower its "
				       "rates or shorten its steps");
		r->step_first[k] = (uint64_t)first;
		first += (u128)rate_of_step(r, k) * step_ns / NS_PER_S;
	}
	return ret;
}

/* The step of packet @seq: the last one that begins at or before it, empty ones left out. */
static uint32_t step_of_seq(const struct rate *r, uint64_t seq)
{
	uint32_t k = 0;

	for (uint32_t nr = r->nr_steps; nr > 1;) {
		uint32_t half = nr / 2;

		k += r->step_first[k + half] <= seq ? half : 0;
		nr -= half;
	}
	return k;
}

static uint32_t step_of_ns(const struct rate *r, uint64_t t_ns)
{
	uint64_t k;

	if (r->nr_steps == 1)
		return 0;
	k = t_ns / r->step_ns;
	return k < r->nr_steps ? (uint32_t)k : r->nr_steps - 1;
}

static uint64_t ungrouped_due_ns(const struct rate *r, uint64_t seq)
{
	uint32_t k = step_of_seq(r, seq);
	uint64_t pps = rate_of_step(r, k), n = seq - r->step_first[k];
	u128 ns = (u128)(n / pps) * NS_PER_S + k * r->step_ns;

	/* No product below can overflow, and 64 bits divide faster. */
	if (pps <= UINT64_MAX / NS_PER_S)
		return saturate(ns + n % pps * NS_PER_S / pps);
	return saturate(ns + (u128)(n % pps) * NS_PER_S / pps);
}

uint64_t rate_due_ns(const struct rate *r, uint64_t seq)
{
	if (!r->pps)
		return 0;
	return ungrouped_due_ns(r, r->group > 1 ? seq - seq % r->group : seq);
}

/*
 * Packet n of a step is due, in whole nanoseconds, at t or before if n * 10^9 < (t + 1) * rate:
 * the numbers that fulfil that are as many as the quotient of the two, rounded up.
 */
static uint64_t ungrouped_due(const struct rate *r, uint64_t t_ns)
{
	uint32_t k = step_of_ns(r, t_ns);
	u128 due = ((u128)(t_ns - k * r->step_ns) + 1) * rate_of_step(r, k) + (NS_PER_S - 1);

	due = due >> 64 ? due / NS_PER_S : (uint64_t)due / NS_PER_S;
	due += r->step_first[k];
	if (k + 1 < r->nr_steps && due > r->step_first[k + 1])
		return r->step_first[k + 1];
	return saturate(due);
}

uint64_t rate_due(const struct rate *r, uint64_t t_ns)
{
	uint64_t due;

	if (!r->pps)
		return UINT64_MAX;
	due = ungrouped_due(r, t_ns);
	if (r->group == 1 || !due)
		return due;
	return saturate(((u128)((due - 1) / r->group) + 1) * r->group);
}

/* Packets @seq, @seq + @step, ... of one step of the rate, whose times do not saturate: the first
 * by division, the others by carrying. Returns how many, at most @n. */
static unsigned int fill_step(const struct rate *r, uint64_t seq, uint64_t step, uint64_t *due_ns,
			      unsigned int n)
{
	uint32_t k = step_of_seq(r, seq);
	uint64_t pps = rate_of_step(r, k), due = ungrouped_due_ns(r, seq);
	uint64_t rest = (uint64_t)((u128)(seq - r->step_first[k]) % pps * NS_PER_S % pps);
	uint64_t due_step = step * NS_PER_S / pps, rest_step = step * NS_PER_S % pps;

	if (k + 1 < r->nr_steps && step) {
		uint64_t left = (r->step_first[k + 1] - seq - 1) / step + 1;

		n = left < n ? (unsigned int)left : n;
	}
	for (unsigned int i = 0; i < n; i++) {
		uint64_t carry = rest >= pps - rest_step;

		due_ns[i] = due;
		due += due_step + carry;
		rest += rest_step - (carry ? pps : 0);
	}
	return n;
}

/* A packet of the same group as the one before has its time. */
static void fill_groups(const struct rate *r, uint64_t seq, uint64_t step, uint64_t *due_ns,
			unsigned int n)
{
	uint64_t left = 0, due = 0;

	if (!r->pps) {
		memset(due_ns, 0, n * sizeof(*due_ns));
		return;
	}
	for (unsigned int i = 0; i < n; i++, seq += step) {
		if (!left) {
			left = r->group - seq % r->group;
			due = rate_due_ns(r, seq);
		}
		due_ns[i] = due;
		left = left > step ? left - step : 0;
	}
}

void rate_fill_ns(const struct rate *r, uint64_t seq, uint64_t step, uint64_t *due_ns,
		  unsigned int n)
{
	u128 last = (u128)seq + (u128)step * (n ? n - 1 : 0);
	unsigned int done = 0;

	if (!r->pps || r->group > 1) {
		fill_groups(r, seq, step, due_ns, n);
		return;
	}
	if (step <= UINT64_MAX / NS_PER_S && !(last >> 64) &&
	    rate_due_ns(r, (uint64_t)last) < UINT64_MAX)
		while (done < n)
			done += fill_step(r, seq + done * step, step, due_ns + done, n - done);
	for (; done < n; done++)
		due_ns[done] = rate_due_ns(r, seq + done * step);
}

uint64_t rate_at_ns(const struct rate *r, uint64_t t_ns, uint64_t *end_ns)
{
	uint32_t k;

	*end_ns = UINT64_MAX;
	if (!r->pps)
		return 0;
	k = step_of_ns(r, t_ns);
	if (k + 1 < r->nr_steps)
		*end_ns = (k + 1) * r->step_ns;
	return rate_of_step(r, k);
}

uint64_t rate_max_pps(const struct rate *r)
{
	return r->pps > r->to_pps ? r->pps : r->to_pps;
}
