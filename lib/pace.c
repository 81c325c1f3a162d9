// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why the window bound holds: a bucket of depth d that fills at f lets at most d + f * 1 ms through
 * in any window of 1 ms. With d = burst / 2 and f = rate + (burst / 2 per ms), both divided by the
 * lanes, all lanes together stay at or under rate / 1000 + burst. Roundings go down.
 */
#include "pace.h"

#define NS_PER_S    UINT64_C(1000000000)
#define PACE_PACKET NS_PER_S /* one packet in units of the bucket */

typedef unsigned __int128 u128;

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many of the stream's first @n packets are the lane's. */
static inline uint64_t pace_share(const struct pace *p, uint64_t n)
{
	if (p->nr_lanes == 1)
		return n;
	return n > p->lane ? (n - p->lane - 1) / p->nr_lanes + 1 : 0;
}

void pace_init(struct pace *p, uint64_t t0_ns, uint64_t rate_pps, uint64_t total, uint32_t burst,
	       uint32_t lane, uint32_t nr_lanes)
{
	*p = (struct pace){ .t0_ns = t0_ns, .rate_pps = rate_pps, .lane = lane,
			    .nr_lanes = nr_lanes, .burst = burst, .last_ns = t0_ns };
	p->total = pace_share(p, total);
	p->depth = burst * (PACE_PACKET / 2) / nr_lanes;
	p->tokens = p->depth;
	/* burst / 2 packets per ms are burst * 500 units per ns. */
	p->fill_per_ns = (rate_pps + burst * UINT64_C(500)) / nr_lanes;
}

/* The lane's packets that are due at @now_ns >= t0, taken or not. */
static uint64_t pace_due(const struct pace *p, uint64_t now_ns)
{
	u128 due = (u128)(now_ns - p->t0_ns) * p->rate_pps;

	/* Whole seconds apart, so that the common case needs no 128-bit division. */
	if (due >> 64 == 0)
		return min_u64(pace_share(p, (uint64_t)due / NS_PER_S + 1), p->total);
	due = due / NS_PER_S + 1;
	if (due >> 64)
		return p->total;
	return min_u64(pace_share(p, (uint64_t)due), p->total);
}

/* A clock that steps back adds nothing and costs nothing. */
static void pace_refill(struct pace *p, uint64_t now_ns)
{
	uint64_t dt, room = p->depth - p->tokens;

	if (now_ns <= p->last_ns)
		return;
	dt = now_ns - p->last_ns;
	p->last_ns = now_ns;
	p->tokens = dt > room / p->fill_per_ns ? p->depth : p->tokens + dt * p->fill_per_ns;
}

unsigned int pace_take(struct pace *p, uint64_t now_ns, unsigned int max)
{
	uint64_t due, n;

	if (now_ns < p->t0_ns)
		return 0;
	if (!p->rate_pps) {
		n = min_u64(p->total - p->taken, max);
		p->taken += n;
		return (unsigned int)n;
	}
	pace_refill(p, now_ns);
	due = pace_due(p, now_ns);
	if (due <= p->taken)
		return 0;
	n = min_u64(min_u64(due - p->taken, max), p->tokens / PACE_PACKET);
	p->tokens -= n * PACE_PACKET;
	p->taken += n;
	return (unsigned int)n;
}

void pace_give_back(struct pace *p, unsigned int n)
{
	p->taken -= n;
	if (p->rate_pps)
		p->tokens = min_u64(p->tokens + n * PACE_PACKET, p->depth);
}

uint64_t pace_next_ns(const struct pace *p)
{
	uint64_t due = p->t0_ns, filled = p->last_ns, missing;
	u128 seq;

	if (p->taken >= p->total)
		return UINT64_MAX;
	if (!p->rate_pps)
		return p->t0_ns;
	seq = (u128)p->taken * p->nr_lanes + p->lane;
	due += (uint64_t)((seq * NS_PER_S + p->rate_pps - 1) / p->rate_pps);
	if (p->tokens < PACE_PACKET) {
		missing = PACE_PACKET - p->tokens;
		filled += (missing + p->fill_per_ns - 1) / p->fill_per_ns;
	}
	return due > filled ? due : filled;
}
