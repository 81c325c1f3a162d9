// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/walk.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

typedef unsigned __int128 u128;

static void walk_init_due(struct walk *w, uint64_t t0_ns, uint32_t lane)
{
	uint64_t rate = w->sched->rate.pps;

	w->due_ns = t0_ns;
	if (!rate)
		return;
	w->due_ns += lane * NS_PER_S / rate;
	w->due_rest = lane * NS_PER_S % rate;
	w->due_step = w->nr_lanes * NS_PER_S / rate;
	w->due_rest_step = w->nr_lanes * NS_PER_S % rate;
}

void walk_init(struct walk *w, const struct sched *sched, const struct addrset *destinations,
	       const struct addrset *sources, uint64_t t0_ns, uint32_t lane, uint32_t nr_lanes)
{
	uint64_t nr_sources = addrset_count(sources);

	memset(w, 0, sizeof(*w));
	w->sched = sched;
	w->destinations = destinations;
	w->sources = sources;
	w->nr_lanes = nr_lanes;
	w->seq = lane;
	w->visit = lane / sched->repeat % sched->n_shard;
	w->nth = lane % sched->repeat;
	w->visit_step = nr_lanes / sched->repeat % sched->n_shard;
	w->nth_step = nr_lanes % sched->repeat;
	/* For 1 it overflows to 0, which makes every remainder 0, as it should. */
	w->source_reciprocal = UINT64_MAX / nr_sources + 1;
	walk_init_due(w, t0_ns, lane);
}

/* Position of each packet, wherever the pass ends and however long the visits are. */
static void walk_positions_any(struct walk *w, unsigned int n)
{
	const struct sched *s = w->sched;
	uint64_t visit = w->visit;
	uint32_t nth = w->nth;

	for (unsigned int k = 0; k < n; k++) {
		w->index[k] = (uint32_t)(s->shard + s->nr_shards * visit);
		nth += w->nth_step;
		visit += w->visit_step;
		if (nth >= s->repeat) {
			nth -= s->repeat;
			visit++;
		}
		if (visit >= s->n_shard)
			visit -= s->n_shard;
	}
	w->visit = visit;
	w->nth = nth;
}

static void walk_positions_run(uint32_t *index, uint32_t first, uint32_t step, unsigned int n)
{
	for (uint32_t k = 0; k < n; k++)
		index[k] = first + k * step;
}

static void walk_positions(struct walk *w, unsigned int n)
{
	const struct sched *s = w->sched;
	uint64_t end = w->visit + n * w->visit_step;

	if (s->repeat != 1 || end >= s->n_shard) {
		walk_positions_any(w, n);
		return;
	}
	walk_positions_run(w->index, (uint32_t)(s->shard + s->nr_shards * w->visit),
			   (uint32_t)(s->nr_shards * w->visit_step), n);
	w->visit = end;
}

/*
 * index modulo the number of sources without a division (Lemire, Kaser, Kurz, "Faster remainder by
 * direct computation", 2019): the low half of index / sources, times sources. Exact for numbers
 * below 2^32.
 */
static void walk_sources(struct walk *w, unsigned int n)
{
	uint64_t count = addrset_count(w->sources);

	for (unsigned int k = 0; k < n; k++)
		w->source[k] = (uint32_t)((u128)(w->source_reciprocal * w->index[k]) * count >> 64);
}

static void walk_due(struct walk *w, uint64_t *due_ns, unsigned int n)
{
	uint64_t due = w->due_ns, rest = w->due_rest, rate = w->sched->rate.pps;
	uint64_t step = w->due_step, rest_step = w->due_rest_step;

	if (!rate) {
		for (unsigned int k = 0; k < n; k++)
			due_ns[k] = due;
		return;
	}
	for (unsigned int k = 0; k < n; k++) {
		uint64_t carry;

		due_ns[k] = due;
		rest += rest_step;
		carry = rest >= rate;
		rest -= carry ? rate : 0;
		due += step + carry;
	}
	w->due_ns = due;
	w->due_rest = rest;
}

void walk_next(struct walk *w, struct batch *b, unsigned int n)
{
	uint64_t nr_sources = addrset_count(w->sources);

	b->seq = w->seq;
	b->seq_step = w->nr_lanes;
	w->seq += (uint64_t)n * w->nr_lanes;
	walk_positions(w, n);
	if (w->sched->order == SCHED_PERMUTE)
		perm_fill32(&w->sched->perm, w->index, w->index, n);
	addrset_at4(w->destinations, w->index, b->dst, n);
	if (nr_sources > 1)
		walk_sources(w, n);
	/* With one source the indices are 0 from the start, and stay so. */
	addrset_at4(w->sources, w->source, b->src, n);
	walk_due(w, b->due_ns, n);
}
