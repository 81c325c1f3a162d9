// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/track.c sink/track_loss.c sink/track_finish.c sink/tally.c
/*
 * track against an oracle that remembers every packet number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rng.h"
#include "sink/track.h"
#include "tests/unit/sched_make.h"

#define NET  "198.19.0.0"
#define T0   UINT64_C(5000000000000)
#define MAXN 64u

/* --- the oracle ------------------------------------------------------------------------------- */

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
	struct track_counts c;
	struct hist delay, first;
	uint8_t *seen; /* by stream and index */
	uint64_t *first_ns;
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

/* By addition of intervals, the way a reader of the definition would: not by the library. */
static uint64_t oracle_due(const struct sched *s, uint64_t seq)
{
	return (uint64_t)((unsigned __int128)seq * 1000000000u / s->rate.pps);
}

static void oracle_add(struct oracle *o, const struct track_probe *p)
{
	struct oracle_flow *f = oracle_flow(o, &p->probe);
	struct sched_slot slot;
	uint64_t key, ns;

	if (f)
		sched_slot(&f->sched, p->probe.seq, &slot);
	if (!f || addrset_at(o->set, slot.index).lo != p->dst.lo) {
		o->c.foreign_pkts++;
		return;
	}
	if (p->probe.seq < oracle_base(o, f)) {
		o->c.late_pkts++;
		return;
	}
	if (f->came[p->probe.seq]) {
		o->c.dup_pkts++;
		return;
	}
	f->came[p->probe.seq] = 1;
	f->nr_came++;
	o->c.rx_pkts++;
	if (p->probe.seq < f->highest)
		o->c.reordered_pkts++;
	else
		f->highest = p->probe.seq + 1;
	ns = p->arrival_ns < p->probe.due_ns ? 0 : p->arrival_ns - p->probe.due_ns;
	o->c.early_pkts += p->arrival_ns < p->probe.due_ns;
	hist_record(&o->delay, ns);
	key = f->stream * addrset_count(o->set) + slot.index;
	if (o->seen[key])
		return;
	o->seen[key] = 1;
	ns = T0 + oracle_due(&f->sched, slot.first_seq);
	o->first_ns[key] = p->arrival_ns < ns ? 0 : p->arrival_ns - ns;
	hist_record(&o->first, o->first_ns[key]);
	o->c.destinations_seen++;
}

/* Everything about one destination, by going through all numbers of its flow. */
static void oracle_destination(const struct oracle *o, const struct oracle_flow *f, uint64_t index,
			       struct track_destination *d, bool *reached)
{
	uint64_t run = UINT64_MAX, gap = 0, key = f->stream * addrset_count(o->set) + index;
	uint64_t pass = f->sched.n_shard * f->sched.repeat, next;
	struct sched_slot slot;

	*reached = false;
	*d = (struct track_destination){.addr = addrset_at(o->set, index),
					.seen = o->seen[key],
					.first_delivery_ns = o->first_ns[key]};
	for (uint64_t seq = 0; seq < f->total; seq++) {
		sched_slot(&f->sched, seq, &slot);
		if (slot.index != index)
			continue;
		*reached |= f->sent[seq];
		d->received += f->came[seq];
		if (f->came[seq] || !f->sent[seq]) {
			run = UINT64_MAX;
			continue;
		}
		if (run == UINT64_MAX)
			run = seq;
		/* The destination's next packet, whether or not the schedule still holds it. */
		next = seq % f->sched.repeat == f->sched.repeat - 1
			       ? seq + 1 - f->sched.repeat + pass
			       : seq + 1;
		if (next - run > gap)
			gap = next - run;
	}
	d->gap_ns = oracle_due(&f->sched, gap);
}

/* --- one random world ------------------------------------------------------------------------- */

struct world {
	struct rng rng;
	struct addrset set;
	uint32_t nr_streams, nr_shards, repeat;
	enum sched_order order;
	struct oracle o;
	struct track t;
	bool told; /* what was sent */
};

static uint64_t below(struct world *w, uint64_t n)
{
	return rng_below(&w->rng, n);
}

static void world_set(struct world *w)
{
	uint64_t n = 1 + below(w, MAXN);
	char text[64];

	addrset_init(&w->set);
	if (n < w->nr_shards)
		n = w->nr_shards;
	snprintf(text, sizeof(text), NET "-198.19.0.%u", (unsigned int)n + 1);
	assert_int_equal(addrset_add(&w->set, text, NULL), 0);
	assert_int_equal(addrset_exclude(&w->set, "198.19.0.1", NULL), 0);
	assert_int_equal(addrset_seal(&w->set, NULL), 0);
}

static void world_flows(struct world *w)
{
	uint64_t total, seed = rng_next(&w->rng), rate = 1 + below(w, 100000);
	struct sched scheds[8];
	struct track_stream_conf conf[2];
	struct oracle_flow *f;

	w->o.nr_flows = w->nr_streams * w->nr_shards;
	w->o.flows = calloc(w->o.nr_flows, sizeof(*w->o.flows));
	for (uint32_t i = 0; i < w->o.nr_flows; i++) {
		f = &w->o.flows[i];
		f->stream = i / w->nr_shards;
		total = below(w, 4) ? 1 + below(w, 2000) : 1 + below(w, 2 * MAXN);
		assert_int_equal(sched_make(&scheds[i], w->order, addrset_count(&w->set),
					    seed + f->stream, i % w->nr_shards, w->nr_shards,
					    w->repeat, rate, total, NULL),
				 0);
		f->sched = scheds[i];
		f->total = total;
		f->came = calloc(total, 1);
		f->sent = calloc(total, 1);
	}
	for (uint32_t i = 0; i < w->nr_streams; i++)
		conf[i] = (struct track_stream_conf){&w->set, &scheds[i * w->nr_shards],
						     w->nr_shards};
	assert_int_equal(track_init(&w->t, conf, w->nr_streams, w->o.window_bits, NULL), 0);
}

static void world_init(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	w->nr_streams = 1 + (uint32_t)below(w, 2);
	w->nr_shards = 1 + (uint32_t)below(w, 4);
	w->repeat = below(w, 2) ? 1 : 1 + (uint32_t)below(w, 5);
	w->order = below(w, 2) ? SCHED_PERMUTE : SCHED_SEQUENTIAL;
	w->o.window_bits = 7 + (unsigned int)below(w, 5);
	w->told = below(w, 3);
	world_set(w);
	w->o.set = &w->set;
	w->o.seen = calloc(2 * addrset_count(&w->set), 1);
	w->o.first_ns = calloc(2 * addrset_count(&w->set), sizeof(uint64_t));
	assert_int_equal(hist_init(&w->o.delay, 1, TRACK_DELAY_MAX, TRACK_DIGITS), 0);
	assert_int_equal(hist_init(&w->o.first, 1, TRACK_DELAY_MAX, TRACK_DIGITS), 0);
	world_flows(w);
}

static void world_free(struct world *w)
{
	for (unsigned int i = 0; i < w->o.nr_flows; i++) {
		free(w->o.flows[i].came);
		free(w->o.flows[i].sent);
	}
	free(w->o.flows);
	free(w->o.seen);
	free(w->o.first_ns);
	hist_free(&w->o.delay);
	hist_free(&w->o.first);
	track_free(&w->t);
	addrset_free(&w->set);
}

/* --- its packets ------------------------------------------------------------------------------ */

struct event {
	double key; /* position in the order of arrival */
	struct track_probe p;
};

struct events {
	struct event *e;
	size_t n;
};

static void events_add(struct world *w, struct events *ev, const struct oracle_flow *f,
		       uint64_t seq, double key)
{
	struct event *e = &ev->e[ev->n++];
	struct sched_slot slot;

	sched_slot(&f->sched, seq, &slot);
	e->key = key;
	e->p.dst = addrset_at(&w->set, slot.index);
	e->p.probe = (struct probe){.stream = (uint8_t)f->stream,
				    .shard = (uint8_t)f->sched.shard,
				    .seq = seq,
				    .due_ns = T0 + oracle_due(&f->sched, seq)};
	e->p.arrival_ns = e->p.probe.due_ns + below(w, 3000000) - below(w, 2) * 1000;
	if (!below(w, 50))
		e->p.arrival_ns += 200000000000u; /* beyond the histogram */
}

/* Something that cannot be: another address, number, stream or shard. */
static void events_break(struct world *w, struct event *e)
{
	switch (below(w, 4)) {
	case 0:
		e->p.dst.lo ^= 1u << below(w, 32);
		break;
	case 1:
		e->p.probe.seq ^= UINT64_C(1) << below(w, 48);
		break;
	case 2:
		e->p.probe.stream = (uint8_t)below(w, 256);
		break;
	default:
		e->p.probe.shard = (uint8_t)below(w, 256);
		break;
	}
}

/* Each lane sends its first packets; the lanes end within a few rounds of each other. */
static void flow_send(struct world *w, struct oracle_flow *f)
{
	uint32_t nr_lanes = 1 + (uint32_t)below(w, 3);
	uint64_t lanes[3], rounds = f->total / nr_lanes;

	for (uint32_t l = 0; l < nr_lanes; l++) {
		lanes[l] = f->total / nr_lanes + (l < f->total % nr_lanes);
		if (below(w, 2) && rounds > 20)
			lanes[l] = rounds - below(w, 16);
		for (uint64_t k = 0; k < lanes[l]; k++)
			f->sent[k * nr_lanes + l] = 1;
		f->nr_sent += lanes[l];
	}
	if (w->told)
		assert_int_equal(
			track_sent(&w->t, f->stream, f->sched.shard, lanes, nr_lanes, NULL), 0);
}

static void flow_events(struct world *w, struct oracle_flow *f, struct events *ev)
{
	double loss = below(w, 2) ? 0.0 : (double)below(w, 100) / 100;
	uint64_t jitter = below(w, 3) ? 1 + below(w, 40) : 1;
	uint64_t quiet_from = below(w, f->total), quiet = below(w, 3) ? 0 : below(w, f->total);

	for (uint64_t seq = 0; seq < f->total; seq++) {
		double key = (double)seq + (double)below(w, jitter * 1000) / 1000;

		if (!f->sent[seq] || (seq >= quiet_from && seq < quiet_from + quiet) ||
		    (double)below(w, 1000) < loss * 1000)
			continue;
		if (!below(w, 100))
			key += (double)below(w, 600); /* some come very late */
		events_add(w, ev, f, seq, key);
		while (!below(w, 20))
			events_add(w, ev, f, seq, key + (double)below(w, 400));
		if (!below(w, 30)) {
			events_add(w, ev, f, seq, key);
			events_break(w, &ev->e[ev->n - 1]);
		}
	}
}

static int by_key(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void world_run(struct world *w)
{
	struct events ev = {.e = calloc(200000, sizeof(*ev.e))};
	struct track_probe batch[TRACK_BATCH];
	size_t k = 0, n;

	if (below(w, 2))
		track_start(&w->t, T0); /* otherwise it is derived from the first probe */
	for (unsigned int i = 0; i < w->o.nr_flows; i++) {
		flow_send(w, &w->o.flows[i]);
		flow_events(w, &w->o.flows[i], &ev);
	}
	qsort(ev.e, ev.n, sizeof(*ev.e), by_key);
	while (k < ev.n) {
		n = 1 + below(w, TRACK_BATCH);
		for (size_t i = 0; i < n && k + i < ev.n; i++) {
			batch[i] = ev.e[k + i].p;
			oracle_add(&w->o, &batch[i]);
		}
		if (n > ev.n - k)
			n = ev.n - k;
		track_batch(&w->t, batch, (unsigned int)n);
		k += n;
	}
	free(ev.e);
	assert_int_equal(w->t.counts.rx_pkts + w->t.counts.dup_pkts + w->t.counts.late_pkts +
				 w->t.counts.foreign_pkts,
			 k);
}

/* --- comparison ------------------------------------------------------------------------------- */

struct expected {
	struct world *w;
	uint64_t k; /* stream after stream, index after index */
};

static int compare_destination(void *arg, const struct track_destination *got)
{
	struct expected *x = arg;
	uint64_t n = addrset_count(&x->w->set);
	struct track_destination want;
	bool reached = false;

	for (; !reached; x->k++) {
		assert_true(x->k < n * x->w->nr_streams);
		for (unsigned int i = 0; i < x->w->o.nr_flows && !reached; i++) {
			if (x->w->o.flows[i].stream == x->k / n)
				oracle_destination(&x->w->o, &x->w->o.flows[i], x->k % n, &want,
						   &reached);
		}
	}
	assert_int_equal(got->addr.lo, want.addr.lo);
	assert_int_equal(got->seen, want.seen);
	assert_int_equal(got->received, want.received);
	assert_int_equal(got->gap_ns, want.gap_ns);
	if (want.seen)
		assert_int_equal(got->first_delivery_ns, want.first_delivery_ns);
	return 0;
}

/* When nobody told, the greatest number that came is the last that was sent. */
static void world_untold(struct world *w)
{
	struct oracle_flow *f;

	for (unsigned int i = 0; i < w->o.nr_flows && !w->told; i++) {
		f = &w->o.flows[i];
		f->nr_sent = f->highest;
		memset(f->sent, 0, f->total);
		memset(f->sent, 1, f->highest);
	}
}

static void same_hist(const struct hist *got, const struct hist *want)
{
	assert_int_equal(got->total, want->total);
	assert_int_equal(got->max, want->max);
	assert_int_equal(got->overflows, want->overflows);
	assert_memory_equal(got->counts, want->counts, want->nr_counts * sizeof(*want->counts));
}

static void world_compare(struct world *w)
{
	struct expected x = {.w = w};
	uint64_t expected = 0, unseen = 0, lost = 0;
	struct track_destination d;
	struct hist gap;
	bool reached;

	world_untold(w);
	assert_int_equal(hist_init(&gap, 1, TRACK_DELAY_MAX, TRACK_DIGITS), 0);
	for (unsigned int i = 0; i < w->o.nr_flows; i++) {
		lost += w->o.flows[i].nr_sent - w->o.flows[i].nr_came;
		for (uint64_t k = 0; k < addrset_count(&w->set); k++) {
			oracle_destination(&w->o, &w->o.flows[i], k, &d, &reached);
			if (!reached)
				continue;
			hist_record(&gap, d.gap_ns);
			expected++;
			unseen += !d.seen;
		}
	}
	w->o.c.lost_pkts = lost;
	w->o.c.destinations_expected = expected;
	w->o.c.destinations_unseen = unseen;
	track_finish(&w->t);
	assert_memory_equal(&w->t.counts, &w->o.c, sizeof(w->o.c));
	same_hist(&w->t.delay, &w->o.delay);
	same_hist(&w->t.first_delivery, &w->o.first);
	same_hist(&w->t.gap, &gap);
	hist_free(&gap);
	assert_int_equal(track_each(&w->t, compare_destination, &x), 0);
	assert_int_equal(track_lost(&w->t), lost);
}

static void random_worlds(void **state)
{
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		world_init(&w, seed);
		world_run(&w);
		world_compare(&w);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_worlds),
	};

	return cmocka_run_group_tests_name("track_oracle", tests, NULL, NULL);
}
