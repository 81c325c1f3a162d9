// SPDX-License-Identifier: GPL-2.0-or-later
#include "gen/walk.h"

#include <string.h>
#include <sys/socket.h>

#include "lib/scenario.h"
#include "lib/simd.h"

#define NS_PER_S UINT64_C(1000000000)

typedef unsigned __int128 u128;

static void walk_init_due(struct walk *w, uint64_t t0_ns, uint32_t lane)
{
	const struct rate *r = &w->sched->rate;

	w->t0_ns = w->due_ns = t0_ns;
	w->steady = r->nr_steps == 1 && r->group == 1;
	if (!r->pps || !w->steady)
		return;
	w->due_ns += lane * NS_PER_S / r->pps;
	w->due_rest = lane * NS_PER_S % r->pps;
	w->due_step = w->nr_lanes * NS_PER_S / r->pps;
	w->due_rest_step = w->nr_lanes * NS_PER_S % r->pps;
}

static struct walk_turn turn(uint16_t first, uint16_t last, uint32_t lane, uint32_t nr_lanes)
{
	uint32_t count = last - first + 1u;

	return (struct walk_turn){ .first = first, .count = count, .at = lane % count,
				   .step = nr_lanes % count };
}

void walk_init(struct walk *w, const struct sched *sched, const struct scenario_stream *stream,
	       bool takes_ports, uint64_t t0_ns, uint32_t lane, uint32_t nr_lanes)
{
	uint64_t nr_sources = addrset_count(&stream->sources);

	memset(w, 0, sizeof(*w));
	w->sched = sched;
	w->destinations = &stream->destinations;
	w->sources = &stream->sources;
	w->nr_lanes = nr_lanes;
	w->wide = sched->n > UINT64_C(1) << 32;
	w->takes_ports = takes_ports;
	w->source = addrset_at(&stream->sources, 0);
	w->seq = lane;
	w->carried = !w->wide && (sched->order == SCHED_SEQUENTIAL || sched->order == SCHED_PERMUTE);
	if (w->carried) {
		w->visit = lane / sched->repeat % sched->n_shard;
		w->nth = lane % sched->repeat;
		w->visit_step = nr_lanes / sched->repeat % sched->n_shard;
		w->nth_step = nr_lanes % sched->repeat;
	}
	/* For 1 it overflows to 0, which makes every remainder 0, as it should. */
	w->source_reciprocal = UINT64_MAX / nr_sources + 1;
	w->src_port = turn(stream->src_port, stream->src_port_last, lane, nr_lanes);
	w->dst_port = turn(stream->dst_port, stream->dst_port_last, lane, nr_lanes);
	walk_init_due(w, t0_ns, lane);
}

/* --- which destination ------------------------------------------------------------------------ */

/* Position of each packet, wherever the pass ends and however long the visits are. */
static void walk_positions_any(struct walk *w, uint32_t *index, unsigned int n)
{
	const struct sched *s = w->sched;
	uint64_t visit = w->visit;
	uint32_t nth = w->nth;

	for (unsigned int k = 0; k < n; k++) {
		index[k] = (uint32_t)(s->shard + s->nr_shards * visit);
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

static void walk_positions(struct walk *w, uint32_t *index, unsigned int n)
{
	const struct sched *s = w->sched;
	uint64_t end = w->visit + n * w->visit_step;

	if (s->repeat != 1 || end >= s->n_shard) {
		walk_positions_any(w, index, n);
		return;
	}
	walk_positions_run(index, (uint32_t)(s->shard + s->nr_shards * w->visit),
			   (uint32_t)(s->nr_shards * w->visit_step), n);
	w->visit = end;
}

static void walk_index(struct walk *w, struct batch *b, unsigned int n)
{
	const struct sched *s = w->sched;

	if (w->wide) {
		sched_fill64(s, w->seq, w->nr_lanes, b->index64, n);
	} else if (w->carried) {
		walk_positions(w, b->index, n);
		if (s->order == SCHED_PERMUTE)
			perm_fill32(&s->perm, b->index, b->index, n);
	} else {
		sched_fill32(s, w->seq, w->nr_lanes, b->index, n);
	}
}

/* --- addresses -------------------------------------------------------------------------------- */

/*
 * index modulo the number of sources without a division (Lemire, Kaser, Kurz, "Faster remainder by
 * direct computation", 2019): the low half of index / sources, times sources. Exact for numbers
 * below 2^32.
 */
static void walk_sources32(const struct walk *w, uint32_t *index, unsigned int n)
{
	uint64_t count = addrset_count(w->sources);

	for (unsigned int k = 0; k < n; k++)
		index[k] = (uint32_t)((u128)(w->source_reciprocal * index[k]) * count >> 64);
}

static void walk_sources64(const struct walk *w, uint64_t *index, unsigned int n)
{
	uint64_t count = addrset_count(w->sources);

	for (unsigned int k = 0; k < n; k++)
		index[k] %= count;
}

static void walk_addresses4(const struct walk *w, struct batch *b, unsigned int n)
{
	uint64_t nr_sources = addrset_count(w->sources);

	addrset_at4(w->destinations, b->index, b->dst, n);
	if (nr_sources > 1) {
		walk_sources32(w, b->index, n);
		addrset_at4(w->sources, b->index, b->src, n);
		return;
	}
	for (unsigned int k = 0; k < n; k++)
		b->src[k] = (uint32_t)w->source.lo;
}

SIMD_CLONES
static void widen(const uint32_t *from, uint64_t *to, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++)
		to[k] = from[k];
}

SIMD_CLONES
static void repeat64(uint64_t v, uint64_t *to, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++)
		to[k] = v;
}

static void walk_addresses6(const struct walk *w, struct batch *b, unsigned int n)
{
	if (!w->wide)
		widen(b->index, b->index64, n);
	addrset_at6(w->destinations, b->index64, b->dst_hi, b->dst_lo, n);
	if (addrset_count(w->sources) > 1) {
		walk_sources64(w, b->index64, n);
		addrset_at6(w->sources, b->index64, b->src_hi, b->src_lo, n);
		return;
	}
	repeat64(w->source.hi, b->src_hi, n);
	repeat64(w->source.lo, b->src_lo, n);
}

/* --- ports and times -------------------------------------------------------------------------- */

static inline uint32_t turn_next(struct walk_turn *t)
{
	uint32_t v = t->first + t->at;

	t->at += t->step;
	t->at -= t->at >= t->count ? t->count : 0;
	return v;
}

static void walk_ports(struct walk *w, uint32_t *ports, unsigned int n)
{
	struct walk_turn src = w->src_port, dst = w->dst_port;

	if (src.count == 1 && dst.count == 1) {
		for (unsigned int k = 0; k < n; k++)
			ports[k] = src.first << 16 | dst.first;
		return;
	}
	for (unsigned int k = 0; k < n; k++)
		ports[k] = turn_next(&src) << 16 | turn_next(&dst);
	w->src_port = src;
	w->dst_port = dst;
}

static void walk_due(struct walk *w, uint64_t *due_ns, unsigned int n)
{
	const struct rate *r = &w->sched->rate;
	uint64_t due = w->due_ns, rest = w->due_rest, rate = r->pps;
	uint64_t step = w->due_step, rest_step = w->due_rest_step;

	if (!rate) {
		for (unsigned int k = 0; k < n; k++)
			due_ns[k] = due;
		return;
	}
	if (!w->steady) {
		rate_fill_ns(r, w->seq, w->nr_lanes, due_ns, n);
		for (unsigned int k = 0; k < n; k++)
			due_ns[k] += w->t0_ns;
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
	b->seq = w->seq;
	b->seq_step = w->nr_lanes;
	walk_index(w, b, n);
	if (w->destinations->family == AF_INET6)
		walk_addresses6(w, b, n);
	else
		walk_addresses4(w, b, n);
	if (w->takes_ports)
		walk_ports(w, b->ports, n);
	walk_due(w, b->due_ns, n);
	w->seq += (uint64_t)n * w->nr_lanes;
}
