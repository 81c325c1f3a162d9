/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What track should have found: remembers every packet number, and looks at all of them for each
 * destination. Slow, and nothing to get wrong. */
#ifndef TESTS_UNIT_TRACK_ORACLE_H
#define TESTS_UNIT_TRACK_ORACLE_H

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sink/track.h"

#define T0   UINT64_C(5000000000000)
#define NS_S UINT64_C(1000000000)

struct oracle_flow {
	struct sched sched;
	uint32_t stream;
	uint64_t total, highest; /* highest number that came, plus 1 */
	uint8_t *came, *sent; /* by number */
	uint64_t nr_sent, nr_came;
};

struct oracle {
	const struct addrset *set;
	unsigned int window_bits;
	struct oracle_flow *flows;
	unsigned int nr_flows;
	uint32_t nr_streams;
	uint64_t start_ns[2];
	struct track_result r[3]; /* of the streams, and of none */
	uint8_t *seen; /* by stream and index */
	uint64_t *first_ns; /* cyclic: first delivery; else: arrival of the first to arrive */
};

static struct oracle_flow *oracle_flow(struct oracle *o, const struct probe *p)
{
	for (unsigned int i = 0; i < o->nr_flows; i++) {
		if (o->flows[i].stream == p->stream && o->flows[i].sched.shard == p->shard &&
		    p->seq < o->flows[i].total)
			return &o->flows[i];
	}
	return NULL;
}

static uint64_t oracle_base(const struct oracle *o, const struct oracle_flow *f)
{
	uint64_t size = UINT64_C(1) << o->window_bits;

	return f->highest <= size ? 0 : (f->highest - size + 63) / 64 * 64;
}

/* By going up the staircase, the way a reader of the definition would: not by the library. */
static uint64_t oracle_due(const struct sched *s, uint64_t seq)
{
	const struct rate *r = &s->rate;
	uint64_t left = seq - seq % r->group, pps, held;

	for (uint64_t k = 0;; k++) {
		pps = r->pps;
		if (k && r->to_pps > r->pps)
			pps += (r->to_pps - r->pps) * k / (r->nr_steps - 1);
		held = pps * r->step_ns / NS_S;
		if (k == r->nr_steps - 1 || left < held)
			return k * r->step_ns +
			       (uint64_t)((unsigned __int128)left * NS_S / pps);
		left -= held;
	}
}

static uint64_t oracle_t0(const struct oracle *o, const struct oracle_flow *f)
{
	return T0 + o->start_ns[f->stream];
}

static void oracle_first(struct oracle *o, const struct oracle_flow *f,
			 const struct track_probe *p, uint64_t index)
{
	uint64_t key = f->stream * addrset_count(o->set) + index, ns;
	struct track_result *r = &o->r[f->stream];
	struct sched_slot slot;

	if (o->seen[key])
		return;
	o->seen[key] = 1;
	r->counts.destinations_seen++;
	o->first_ns[key] = p->arrival_ns;
	if (!sched_is_cyclic(f->sched.order))
		return;
	sched_slot(&f->sched, p->probe.seq, &slot);
	ns = oracle_t0(o, f) + oracle_due(&f->sched, slot.first_seq);
	o->first_ns[key] = p->arrival_ns < ns ? 0 : p->arrival_ns - ns;
	hist_record(&r->hist[TRACK_FIRST_DELIVERY], o->first_ns[key]);
}

static void oracle_add(struct oracle *o, const struct track_probe *p)
{
	struct oracle_flow *f = oracle_flow(o, &p->probe);
	struct track_result *r = &o->r[p->probe.stream < o->nr_streams ? p->probe.stream : 2];
	struct addr addr = {0};
	uint64_t ns, index = 0;

	if (f) {
		index = sched_index(&f->sched, p->probe.seq);
		addr = addrset_at(o->set, index);
	}
	if (!f || addr.lo != p->dst.lo || addr.hi != p->dst.hi ||
	    p->v6 != (o->set->family == AF_INET6)) {
		r->counts.foreign_pkts++;
		return;
	}
	if (p->probe.seq < oracle_base(o, f)) {
		r->counts.late_pkts++;
		return;
	}
	if (f->came[p->probe.seq]) {
		r->counts.dup_pkts++;
		return;
	}
	f->came[p->probe.seq] = 1;
	f->nr_came++;
	r->counts.rx_pkts++;
	if (p->probe.seq < f->highest)
		r->counts.reordered_pkts++;
	else
		f->highest = p->probe.seq + 1;
	ns = p->arrival_ns < p->probe.due_ns ? 0 : p->arrival_ns - p->probe.due_ns;
	r->counts.early_pkts += p->arrival_ns < p->probe.due_ns;
	hist_record(&r->hist[TRACK_DELAY], ns);
	oracle_first(o, f, p, index);
}

/* One past the last number that was sent. */
static uint64_t oracle_end(const struct oracle_flow *f)
{
	uint64_t end = f->total;

	while (end && !f->sent[end - 1])
		end--;
	return end;
}

/* The packet after @seq to the same destination, whether or not the schedule still holds it. */
static uint64_t oracle_next(const struct sched *s, uint64_t seq)
{
	return seq % s->repeat == s->repeat - 1 ? seq + 1 - s->repeat + s->n_shard * s->repeat
						: seq + 1;
}

/* What one flow did to one destination, by going through all its numbers: adds to @d. */
static bool oracle_flow_destination(const struct oracle_flow *f, uint64_t index,
				    struct track_destination *d, uint64_t *first_due)
{
	bool cyclic = sched_is_cyclic(f->sched.order), reached = false;
	uint64_t run = UINT64_MAX, next, gap;

	for (uint64_t seq = 0; seq <= f->total; seq++) {
		bool end = seq == f->total, came = !end && f->came[seq];

		if (!end && sched_index(&f->sched, seq) != index)
			continue;
		if (!end && f->sent[seq]) {
			if (!reached)
				*first_due = oracle_due(&f->sched, seq);
			reached = true;
			d->received += came;
		}
		/* A run of lost ones ends when one comes; in cyclic orders it is known when the next
		 * one will, and one that was not sent ends it, too. */
		if (run != UINT64_MAX && !cyclic && (came || end)) {
			next = end ? oracle_end(f) : seq;
			gap = oracle_due(&f->sched, next) - oracle_due(&f->sched, run);
			d->gap_ns = gap > d->gap_ns ? gap : d->gap_ns;
		}
		if (came || end || (cyclic && !f->sent[seq])) {
			run = UINT64_MAX;
			continue;
		}
		if (!f->sent[seq])
			continue;
		if (run == UINT64_MAX)
			run = seq;
		if (!cyclic)
			continue;
		gap = oracle_due(&f->sched, oracle_next(&f->sched, seq)) -
		      oracle_due(&f->sched, run);
		d->gap_ns = gap > d->gap_ns ? gap : d->gap_ns;
	}
	return reached;
}

/* @started: every flow knows when it began, not only those of which something came. */
static bool oracle_destination(const struct oracle *o, uint32_t stream, uint64_t index,
			       bool started, struct track_destination *d)
{
	uint64_t key = stream * addrset_count(o->set) + index, first, due = UINT64_MAX;
	bool reached = false;

	*d = (struct track_destination){.addr = addrset_at(o->set, index),
					.v6 = o->set->family == AF_INET6,
					.stream = stream,
					.seen = o->seen[key],
					.first_delivery_ns = o->first_ns[key]};
	for (unsigned int i = 0; i < o->nr_flows; i++) {
		const struct oracle_flow *f = &o->flows[i];

		if (f->stream != stream || !oracle_flow_destination(f, index, d, &first))
			continue;
		reached = true;
		if ((started || f->nr_came) && oracle_t0(o, f) + first < due)
			due = oracle_t0(o, f) + first;
	}
	if (d->seen && !sched_is_cyclic(o->flows[0].sched.order))
		d->first_delivery_ns -= due < d->first_delivery_ns ? due : d->first_delivery_ns;
	return reached;
}

#endif
