/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream of paced lanes under a fake clock, and a witness that counts what they send. */
#ifndef TESTS_UNIT_PACE_SIM_H
#define TESTS_UNIT_PACE_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/pace.h"
#include "lib/rng.h"
#include "tests/unit/sched_make.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define MAX_LANES 4u

/* --- an independent witness of the window bound ----------------------------------------------- */

#define WINDOW_EVENTS 65536u

/* What was sent in the last millisecond, both ends included; events come in the order of time. */
struct window {
	uint64_t t[WINDOW_EVENTS], n[WINDOW_EVENTS];
	unsigned int head, tail;
	uint64_t inside, most, limit;
	const struct rate *rate; /* if not NULL, of a stream that began at t0 */
	uint64_t t0, over;
};

/* @over: packets that may be sent beyond the rate. */
static inline struct window *window_new(uint64_t rate, uint64_t over)
{
	struct window *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->limit = rate / 1000 + over;
	w->over = over;
	return w;
}

/* The greatest rate of the millisecond that ends at @t: ramps only go up or only down. */
static inline uint64_t window_limit(const struct window *w, uint64_t t)
{
	uint64_t end, from = t - w->t0 > NS_PER_MS ? t - w->t0 - NS_PER_MS : 0;
	uint64_t a = rate_at_ns(w->rate, from, &end), b = rate_at_ns(w->rate, t - w->t0, &end);

	return (a > b ? a : b) / 1000 + w->over;
}

static inline void window_sent(struct window *w, uint64_t t, uint64_t n)
{
	if (!n)
		return;
	while (w->head != w->tail && w->t[w->tail] + NS_PER_MS < t) {
		w->inside -= w->n[w->tail];
		w->tail = (w->tail + 1) % WINDOW_EVENTS;
	}
	w->t[w->head] = t;
	w->n[w->head] = n;
	w->head = (w->head + 1) % WINDOW_EVENTS;
	assert_int_not_equal(w->head, w->tail);
	w->inside += n;
	if (w->inside > w->most)
		w->most = w->inside;
	if (w->rate)
		w->limit = window_limit(w, t);
	if (w->inside > w->limit)
		fail_msg("%lu packets in 1 ms at %lu, the limit is %lu", w->inside, t, w->limit);
}

/* --- a simulated stream of several lanes ------------------------------------------------------ */

struct lane {
	struct pace pace;
	uint64_t poll_at, sent;
};

struct sim {
	struct lane lane[MAX_LANES];
	uint32_t lanes;
	struct rate pps;
	uint64_t rate, t0, now;
	struct window *window;
	struct rng rng;
	uint64_t sleep_late_ns; /* a sleeping lane wakes up to that much too late */
};

static inline void sim_init_rate(struct sim *s, const struct rate *rate, uint64_t total,
				 uint32_t burst, uint32_t lanes)
{
	memset(s, 0, sizeof(*s));
	s->rate = rate->pps;
	s->pps = *rate;
	s->lanes = lanes;
	s->t0 = s->now = 123456789;
	s->window = window_new(rate->pps, burst + rate->group - 1);
	if (rate->nr_steps > 1)
		s->window->rate = &s->pps;
	s->window->t0 = s->t0;
	s->sleep_late_ns = 5000;
	rng_seed(&s->rng, rate->pps + lanes);
	for (uint32_t k = 0; k < lanes; k++) {
		pace_init(&s->lane[k].pace, s->t0, &s->pps, total, burst, k, lanes);
		s->lane[k].poll_at = s->t0;
	}
}

static inline void sim_init(struct sim *s, uint64_t rate, uint64_t total, uint32_t burst,
			    uint32_t lanes)
{
	sim_init_rate(s, rate_constant(rate), total, burst, lanes);
}

static inline struct lane *sim_next(struct sim *s)
{
	struct lane *next = &s->lane[0];

	for (uint32_t k = 1; k < s->lanes; k++)
		if (s->lane[k].poll_at < next->poll_at)
			next = &s->lane[k];
	return next;
}

/* Lanes poll when pace_next_ns() says, or a bit later, until @end. Ports take everything. */
static inline void sim_run(struct sim *s, uint64_t end)
{
	for (;;) {
		struct lane *l = sim_next(s);
		unsigned int n;

		if (l->poll_at >= end)
			break;
		s->now = l->poll_at;
		n = pace_take(&l->pace, s->now, 64);
		l->sent += n;
		window_sent(s->window, s->now, n);
		l->poll_at = pace_next_ns(&l->pace);
		if (l->poll_at == UINT64_MAX)
			continue;
		if (l->poll_at <= s->now)
			l->poll_at = s->now + 1;
		l->poll_at += rng_below(&s->rng, s->sleep_late_ns + 1);
	}
}

static inline uint64_t sim_sent(const struct sim *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->lanes; k++)
		sum += s->lane[k].sent;
	return sum;
}

#endif
