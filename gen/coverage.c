// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A destination is known by its place in the shard's row, which begins anew after n_shard of them:
 * visit modulo n_shard in cyclic orders, position modulo n_shard in windows. Packets 0 to w - 1
 * reach the first places of the row, and no others, whatever w is.
 */
#include "gen/coverage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

typedef unsigned __int128 u128;

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

/* Places that packets 0 to n - 1 reach. */
static uint64_t coverage_prefix(const struct sched *s, uint64_t n)
{
	struct sched prefix = *s;

	prefix.total = n;
	return sched_distinct(&prefix);
}

static uint64_t coverage_slides(const struct sched *s, uint64_t seq)
{
	return (uint64_t)((u128)seq * s->slide / s->per);
}

/* Where packet @seq goes. */
static uint64_t coverage_place(const struct sched *s, uint64_t seq)
{
	uint64_t k;

	if (s->order != SCHED_WINDOW)
		return seq / s->repeat % s->n_shard;
	k = coverage_slides(s, seq);
	return (k + (seq - k) % s->window) % s->n_shard;
}

/* No packet below @end goes to this place or behind it. */
static uint64_t coverage_place_end(const struct sched *s, uint64_t end)
{
	uint64_t most;

	if (s->order != SCHED_WINDOW)
		return coverage_prefix(s, end);
	most = end ? coverage_slides(s, end - 1) + s->window : 0;
	return min_u64(most, s->n_shard);
}

/* The general case: mark what comes after the whole part, but for the places that are its. */
static int coverage_mark(const struct coverage *c, uint64_t *distinct)
{
	uint64_t first = *distinct, places = coverage_place_end(c->s, c->end);
	uint64_t n = places > first ? places - first : 0;
	uint8_t *seen = calloc(n / 8 + 1, 1);

	if (!seen)
		return -ENOMEM;
	for (uint64_t seq = c->whole; seq < c->end && *distinct < places; seq++) {
		uint64_t place = coverage_place(c->s, seq), d = place - first;

		if (!coverage_sent(c, seq) || place < first || seen[d / 8] & 1u << d % 8)
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
	bool cyclic = sched_is_cyclic(s->order);
	uint64_t sum = 0;

	coverage_ends(&c);
	*distinct = coverage_prefix(s, c.whole);
	if (*distinct == s->n_shard || c.whole >= c.end)
		return 0;
	if (cyclic && s->repeat >= nr_lanes) {
		/* No lane can skip a visit, so the one that is furthest has been everywhere. */
		*distinct = coverage_prefix(s, c.end);
		return 0;
	}
	for (uint32_t lane = 0; lane < nr_lanes; lane++)
		sum += sent[lane];
	if (!cyclic || s->repeat > 1 || c.end > s->n_shard)
		return coverage_mark(&c, distinct);
	*distinct = sum; /* a destination each: no pass has ended */
	return 0;
}
