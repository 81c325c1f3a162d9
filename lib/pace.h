/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing of one lane of a stream. Time is an argument: nothing here reads a clock.
 *
 * Guarantees
 *  - Exact: the packets due at time t are rate_due(rate, t - t0) for the stream, those with
 *    seq mod nr_lanes == lane for the lane. Remainders are carried for ever: no drift over 10^12
 *    packets, whatever the polling times. Nothing is taken before it is due, and what a poll takes
 *    was due at rate_due_ns() of its number.
 *  - One budget over all lanes: lanes share nothing but t0 and the rate.
 *  - Bounded: in any window of 1 ms, all lanes together take at most
 *	rate / 1000 + burst + group - 1
 *    packets, also after a stall; rate is the greatest in force within the window, group the
 *    packets that are due together (1 without groups). Debt is paid back at no more than burst / 2
 *    packets per ms over the rate (a token bucket of depth burst / 2 + group - 1 beside the exact
 *    count), so nothing is dropped to keep the bound, and nothing is hidden: what is not taken by
 *    the end is the caller's unsent count. A lane without debt is never held back: its part of a
 *    group goes out when the group is due.
 *  - No rate means no pacing: pace_take returns what is asked, up to the total.
 *  - Nothing before t0, whatever the rate. A clock that steps back costs nothing and gains nothing.
 * A lane that polls more seldom than every burst / 2 / rate seconds stays behind its rate: the
 * bucket is what makes the bound hold.
 */
#ifndef LIB_PACE_H
#define LIB_PACE_H

#include <stdint.h>

#include "rate.h"

struct pace {
	uint64_t t0_ns;
	const struct rate *rate; /* of the stream, not of the lane */
	uint32_t lane, nr_lanes;
	uint32_t burst;	   /* packets, of the stream */
	uint64_t total;	   /* of the lane */
	uint64_t taken;	   /* by the lane */
	/* Bucket, in 10^-9 packets of the lane. */
	uint64_t tokens, depth, fill_per_ns;
	uint64_t last_ns;
	uint64_t fill_end_ns; /* when the next step of the rate begins */
};

/* @rate: outlives the lane. @total: packets of the whole stream; the lane's share is derived.
 * @nr_lanes: at least 1. @burst: at least 2 * @nr_lanes. */
void pace_init(struct pace *p, uint64_t t0_ns, const struct rate *rate, uint64_t total,
	       uint32_t burst, uint32_t lane, uint32_t nr_lanes);

/* How many packets the lane may send at @now_ns: at most @max. They count as taken. */
unsigned int pace_take(struct pace *p, uint64_t now_ns, unsigned int max);

/* @n of the packets last taken were not sent: they are to be taken again. */
void pace_give_back(struct pace *p, unsigned int n);

/* The earliest time at which pace_take() may return something; UINT64_MAX when all are taken.
 * Exact, but for a lane in debt when the rate changes: it is asked to look again then. */
uint64_t pace_next_ns(const struct pace *p);

#endif
