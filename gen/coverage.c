// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/coverage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct coverage {
	const struct sched *s;
	const uint64_t *sent;
	uint32_t nr_lanes;
	uint64_t whole; /* packets 0 to whole - 1 of the stream were sent, all of them */
	uint64_t end;	/* packets from this one on were not, none of them */
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void coverage_ends(struct coverage *c)
{
	c->whole = UINT64_MAX;
	for (uint32_t lane = 0; lane < c->nr_lanes; lane++) {
		uint64_t n = c->sent[lane];
		uint64_t next = lane + n * c->nr_lanes;

		c->whole = min_u64(c->whole, next);
		if (n && next - c->nr_lanes + 1 > c->end)
			c->end = next - c->nr_lanes + 1;
	}
}

static bool coverage_sent(const struct coverage *c, uint64_t seq)
{
	return seq / c->nr_lanes < c->sent[seq % c->nr_lanes];
}

/* The visits that packets 0 to n - 1 reach. */
static uint64_t visits_of(const struct sched *s, uint64_t n)
{
	return n / s->repeat + (n % s->repeat != 0);
}

/* Visits beyond the whole ones, each of which is a destination of its own: no pass has ended. */
static uint64_t coverage_count(const struct coverage *c)
{
	uint64_t visits = visits_of(c->s, c->whole), next = visits;

	for (uint64_t seq = c->whole; seq < c->end; seq++) {
		if (seq / c->s->repeat < next || !coverage_sent(c, seq))
			continue;
		visits++;
		next = seq / c->s->repeat + 1;
	}
	return visits;
}

/* The general case: mark them. */
static int coverage_mark(const struct coverage *c, uint64_t *distinct)
{
	uint64_t n = c->s->n_shard, visits = visits_of(c->s, c->whole);
	uint8_t *seen = calloc(n / 8 + 1, 1);

	if (!seen)
		return -ENOMEM;
	*distinct = visits;
	for (uint64_t seq = c->whole; seq < c->end && *distinct < n; seq++) {
		uint64_t d = seq / c->s->repeat % n;

		if (!coverage_sent(c, seq) || d < visits || seen[d / 8] & 1u << d % 8)
			continue;
		seen[d / 8] |= (uint8_t)(1u << d % 8);
		++*distinct;
	}
	free(seen);
	return 0;
}

int coverage_distinct(const struct sched *s, const uint64_t *sent, uint32_t nr_lanes,
		      uint64_t *distinct)
{
	struct coverage c = { .s = s, .sent = sent, .nr_lanes = nr_lanes };
	uint64_t sum = 0;

	coverage_ends(&c);
	if (visits_of(s, c.whole) >= s->n_shard) {
		*distinct = s->n_shard;
	} else if (s->repeat >= nr_lanes) {
		/* No lane can skip a visit, so the one that is furthest has been everywhere. */
		*distinct = min_u64(visits_of(s, c.end), s->n_shard);
	} else if (visits_of(s, c.end) > s->n_shard) {
		return coverage_mark(&c, distinct);
	} else if (s->repeat > 1) {
		*distinct = coverage_count(&c);
	} else {
		for (uint32_t lane = 0; lane < nr_lanes; lane++)
			sum += sent[lane];
		*distinct = sum;
	}
	return 0;
}
