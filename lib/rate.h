/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When packets are due: a constant rate, or a staircase of rates (a ramp), each with packets that
 * come in groups or one by one. Pure arithmetic in closed form, exact: generator and sink agree.
 *
 * Step k of a staircase has the rate from + (to - from) * k / (nr_steps - 1), rounded down, and
 * holds floor(rate * step_ns / 10^9) packets; the last step goes on for ever. With group g > 1 the
 * packets k*g to k*g + g - 1 are all due when k*g is.
 *
 * A zeroed struct rate is a rate, too: none, all is due at once. Times are relative to the start of
 * the stream and saturate at UINT64_MAX, as do numbers of packets.
 */
#ifndef LIB_RATE_H
#define LIB_RATE_H

#include <stdint.h>

struct err;

#define RATE_STEPS_MAX 256u
#define RATE_GROUP_MAX 1000000u

struct rate {
	uint64_t pps;	   /* of the first step; 0: no rate, all is due at once */
	uint64_t to_pps;   /* of the last step; equal to pps if nr_steps is 1 */
	uint32_t nr_steps; /* 1 to RATE_STEPS_MAX */
	uint32_t group;	   /* packets due together, 1 to RATE_GROUP_MAX */
	uint64_t step_ns;  /* length of a step */
	/* Derived by rate_init(): */
	uint64_t step_first[RATE_STEPS_MAX]; /* number of the first packet of step k */
};

/*
 * A constant rate: rate_init(r, pps, pps, 1, 0, 1, err). Without a rate (pps 0) the rest has to say
 * so as well: to_pps 0, one step, group 1.
 * Returns 0; -EINVAL with a sentence, among others for a staircase of more than 2^64 ns or packets.
 */
int rate_init(struct rate *r, uint64_t pps, uint64_t to_pps, uint32_t nr_steps, uint64_t step_ns,
	      uint32_t group, struct err *err);

/* Nanoseconds after t0 at which packet @seq is due, rounded down; 0 without a rate. */
uint64_t rate_due_ns(const struct rate *r, uint64_t seq);

/*
 * Packets that are due in [0, @t_ns]. UINT64_MAX without a rate.
 * rate_due_ns(r, rate_due(r, t) - 1) <= t < rate_due_ns(r, rate_due(r, t)) at every t where
 * neither saturates.
 */
uint64_t rate_due(const struct rate *r, uint64_t t_ns);

/* @due_ns[k] = rate_due_ns(@r, @seq + k * @step), @n of them, with a few divisions for all. */
void rate_fill_ns(const struct rate *r, uint64_t seq, uint64_t step, uint64_t *due_ns,
		  unsigned int n);

/* The rate in force at @t_ns; *@end_ns: when the next one begins, UINT64_MAX for never. */
uint64_t rate_at_ns(const struct rate *r, uint64_t t_ns, uint64_t *end_ns);

/* The greatest rate of any step: what a token bucket must let through. */
uint64_t rate_max_pps(const struct rate *r);

#endif
