// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why the window bound holds: a bucket of depth d that fills at f lets at most d + f * 1 ms through
 * in any window of 1 ms. With d = burst / 2 + group - 1 and f = rate + (burst / 2 per ms), both
 * divided by the lanes, all lanes together stay at or under rate / 1000 + burst + group - 1.
 * Roundings go down.
 *
 * Why a lane without debt is never held back: burst is at least 2 packets a lane, so that a lane's
 * bucket holds 1 + (group - 1) / lanes packets or more. Of m groups in a row a lane has at most
 * m * group / lanes + (lanes - 1) / lanes packets, of which the bucket got back at least
 * (m - 1) * group / lanes since the first of them: the difference is what it holds.
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

/* From last_ns on, until fill_end_ns. Burst / 2 packets per ms are burst * 500 units per ns. */
static void pace_fill(struct pace *p)
{
	uint64_t end, rate = rate_at_ns(p->rate, p->last_ns - p->t0_ns, &end);

	p->fill_per_ns = (rate + p->burst * UINT64_C(500)) / p->nr_lanes;
	p->fill_end_ns = end > UINT64_MAX - p->t0_ns ? UINT64_MAX : p->t0_ns + end;
}

void pace_init(struct pace *p, uint64_t t0_ns, const struct rate *rate, uint64_t total,
	       uint32_t burst, uint32_t lane, uint32_t nr_lanes)
{
	*p = (struct pace){ .t0_ns = t0_ns, .rate = rate, .lane = lane, .nr_lanes = nr_lanes,
			    .burst = burst, .last_ns = t0_ns };
	p->total = pace_share(p, total);
	if (!rate->pps)
		return;
	p->depth = (burst * (PACE_PACKET / 2) + (rate->group - 1) * PACE_PACKET) / nr_lanes;
	p->tokens = p->depth;
	pace_fill(p);
}

/* A clock that steps back adds nothing and costs nothing. */
static void pace_refill(struct pace *p, uint64_t now_ns)
{
	while (p->last_ns < now_ns) {
		uint64_t end = min_u64(now_ns, p->fill_end_ns);
		uint64_t dt = end - p->last_ns, room = p->depth - p->tokens;

		p->tokens = dt > room / p->fill_per_ns ? p->depth : p->tokens + dt * p->fill_per_ns;
		p->last_ns = end;
		if (end == p->fill_end_ns && end != UINT64_MAX)
			pace_fill(p);
	}
}

unsigned int pace_take(struct pace *p, uint64_t now_ns, unsigned int max)
{
	uint64_t due, n;

	if (now_ns < p->t0_ns)
		return 0;
	if (!p->rate->pps) {
		n = min_u64(p->total - p->taken, max);
		p->taken += n;
		return (unsigned int)n;
	}
	pace_refill(p, now_ns);
	due = min_u64(pace_share(p, rate_due(p->rate, now_ns - p->t0_ns)), p->total);
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
	if (p->rate->pps)
		p->tokens = min_u64(p->tokens + n * PACE_PACKET, p->depth);
}

uint64_t pace_next_ns(const struct pace *p)
{
	uint64_t due, filled = p->last_ns, wait;
	u128 seq = (u128)p->taken * p->nr_lanes + p->lane;

	if (p->taken >= p->total)
		return UINT64_MAX;
	due = rate_due_ns(p->rate, seq >> 64 ? UINT64_MAX : (uint64_t)seq);
	due = due > UINT64_MAX - p->t0_ns ? UINT64_MAX : p->t0_ns + due;
	if (p->rate->pps && p->tokens < PACE_PACKET) {
		wait = (PACE_PACKET - p->tokens + p->fill_per_ns - 1) / p->fill_per_ns;
		filled = min_u64(filled + wait, p->fill_end_ns);
	}
	return due > filled ? due : filled;
}
