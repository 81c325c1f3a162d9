// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/seen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/rng.h"

#define SEEN_CHUNK  512u
#define SEEN_BITS   16u
#define SEEN_RANKS  (1u << SEEN_BITS)
#define SEEN_EXACT  (UINT64_C(1) << 32)

int seen_init(struct seen *c, const struct sched *s, uint32_t nr_lanes, struct err *err)
{
	*c = (struct seen){ .s = s, .nr_lanes = nr_lanes };
	if (sched_is_cyclic(s->order) || s->order == SCHED_WINDOW)
		return 0;
	c->walked = calloc(nr_lanes, sizeof(*c->walked));
	if (s->n <= SEEN_EXACT)
		c->bits = calloc(s->n / 64 + 1, 8);
	else
		c->ranks = calloc(SEEN_RANKS, 1);
	if (c->walked && (c->bits || c->ranks))
		return 0;
	seen_free(c);
	return err_set(err, -ENOMEM, "no memory to count %" PRIu64 " destinations, a bit for each", s->n);
}

void seen_free(struct seen *c)
{
	free(c->walked);
	free(c->bits);
	free(c->ranks);
	*c = (struct seen){ 0 };
}

static void mark(struct seen *c, uint64_t seq, unsigned int n)
{
	uint32_t index[SEEN_CHUNK];

	sched_fill32(c->s, seq, c->nr_lanes, index, n);
	for (unsigned int k = 0; k < n; k++) {
		uint64_t *word = &c->bits[index[k] / 64], bit = UINT64_C(1) << index[k] % 64;

		c->distinct += !(*word & bit);
		*word |= bit;
	}
}

static void rank(struct seen *c, uint64_t seq, unsigned int n)
{
	uint64_t index[SEEN_CHUNK];

	sched_fill64(c->s, seq, c->nr_lanes, index, n);
	for (unsigned int k = 0; k < n; k++) {
		uint64_t hash = rng_splitmix64(&index[k]), rest = hash << SEEN_BITS | 1u << (SEEN_BITS - 1);
		uint8_t *at = &c->ranks[hash >> (64 - SEEN_BITS)];
		uint8_t zeros = (uint8_t)(__builtin_clzll(rest) + 1);

		*at = zeros > *at ? zeros : *at;
	}
}

uint64_t seen_advance(struct seen *c, const uint64_t *sent, uint64_t most)
{
	uint64_t done = 0;

	for (uint32_t lane = 0; c->walked && lane < c->nr_lanes; lane++) {
		uint64_t *at = &c->walked[lane];

		while (*at < sent[lane] && done < most) {
			uint64_t left = sent[lane] - *at;
			unsigned int n = left < SEEN_CHUNK ? (unsigned int)left : SEEN_CHUNK;

			(c->bits ? mark : rank)(c, lane + *at * c->nr_lanes, n);
			*at += n;
			done += n;
		}
	}
	return done;
}

/* The harmonic mean of what the registers say; few destinations are told by the empty ones. */
static uint64_t estimate(const uint8_t *ranks)
{
	double sum = 0, m = SEEN_RANKS, e;
	uint32_t empty = 0;

	for (uint32_t i = 0; i < SEEN_RANKS; i++) {
		sum += ldexp(1, -ranks[i]);
		empty += !ranks[i];
	}
	e = 0.7213 / (1 + 1.079 / m) * m * m / sum;
	if (e <= 2.5 * m && empty)
		e = m * log(m / empty);
	return (uint64_t)(e + 0.5);
}

uint64_t seen_distinct(const struct seen *c)
{
	return c->ranks ? estimate(c->ranks) : c->distinct;
}
