// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/track.c sink/track_init.c sink/track_loss.c sink/track_draw.c sink/track_finish.c sink/tally.c
/*
 * track against an oracle that remembers every packet number: all orders, rates and groups, both
 * families, shards, lanes that end early, loss, copies, overtaking, nonsense.
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
#include "tests/unit/track_oracle.h"

#define MAXN 64u

/* --- one random world ------------------------------------------------------------------------- */

struct world {
	struct rng rng;
	struct addrset set;
	bool v6;
	uint32_t nr_streams, nr_shards, repeat;
	enum sched_order order;
	struct oracle o;
	struct track t;
	bool told; /* what was sent */
	bool started; /* when */
};

static uint64_t below(struct world *w, uint64_t n)
{
	return rng_below(&w->rng, n);
}

static void world_set(struct world *w)
{
	const char *net = w->v6 ? "2001:2::" : "198.19.0.";
	uint64_t n = 1 + below(w, MAXN);
	char text[64];

	addrset_init(&w->set);
	if (n < w->nr_shards)
		n = w->nr_shards;
	snprintf(text, sizeof(text), w->v6 ? "%s0-%s%x" : "%s0-%s%u", net, net, (unsigned int)n + 1);
	assert_int_equal(addrset_add(&w->set, text, NULL), 0);
	snprintf(text, sizeof(text), "%s1", net);
	assert_int_equal(addrset_exclude(&w->set, text, NULL), 0);
	assert_int_equal(addrset_seal(&w->set, NULL), 0);
}

/* Constant or a staircase, one by one or in groups. */
static void world_rate(struct world *w, struct rate *r)
{
	uint64_t pps = 1000 + below(w, 100000), to = pps + (below(w, 2) ? 0 : below(w, 50000));
	uint32_t steps = to > pps ? 2 + (uint32_t)below(w, 5) : 1;

	assert_int_equal(rate_init(r, pps, to, steps, steps > 1 ? 1000000 + below(w, 9000000) : 0,
				   below(w, 2) ? 1 : 1 + (uint32_t)below(w, 20), NULL),
			 0);
}

static void world_sched(struct world *w, struct sched *s, uint32_t shard, const struct rate *rate,
			uint64_t seed, uint64_t total)
{
	uint64_t n = addrset_count(&w->set), n_shard = (n - shard - 1) / w->nr_shards + 1;
	struct sched_conf c = {.order = w->order,
			       .n = n,
			       .seed = seed,
			       .shard = shard,
			       .nr_shards = w->nr_shards,
			       .repeat = w->repeat,
			       .total = total,
			       .rate = *rate,
			       .stride = (int64_t)(1 + seed % (2 * n)) * (seed & 1024 ? 1 : -1),
			       .window = 1 + seed % n_shard,
			       .new_pps = seed % (rate->pps + 1),
			       .zipf_s = 0.5 + (double)(seed % 20) / 10,
			       .hot_packets = 0.9,
			       .hot_destinations = 0.2};

	assert_int_equal(sched_init(s, &c, NULL), 0);
}

static void world_flows(struct world *w)
{
	uint64_t total, seed = rng_next(&w->rng);
	struct track_stream_conf conf[2];
	struct sched scheds[8];
	struct oracle_flow *f;
	struct rate rate;

	world_rate(w, &rate);
	w->o.nr_flows = w->nr_streams * w->nr_shards;
	w->o.flows = calloc(w->o.nr_flows, sizeof(*w->o.flows));
	for (uint32_t i = 0; i < w->o.nr_flows; i++) {
		f = &w->o.flows[i];
		f->stream = i / w->nr_shards;
		total = below(w, 4) ? 1 + below(w, 2000) : 1 + below(w, 2 * MAXN);
		world_sched(w, &scheds[i], i % w->nr_shards, &rate, seed + f->stream, total);
		f->sched = scheds[i];
		f->total = total;
		f->came = calloc(total, 1);
		f->sent = calloc(total, 1);
	}
	for (uint32_t i = 0; i < w->nr_streams; i++) {
		w->o.start_ns[i] = below(w, 2) * below(w, NS_S);
		conf[i] = (struct track_stream_conf){&w->set, &scheds[i * w->nr_shards],
						     w->nr_shards, w->o.start_ns[i]};
	}
	assert_int_equal(track_init(&w->t, conf, w->nr_streams, w->o.window_bits, NULL), 0);
}

static void world_init(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	w->v6 = below(w, 3) == 0;
	w->nr_streams = w->o.nr_streams = 1 + (uint32_t)below(w, 2);
	w->nr_shards = 1 + (uint32_t)below(w, 4);
	w->order = (enum sched_order)(seed % (SCHED_HOT + 1));
	w->repeat = !sched_is_cyclic(w->order) || below(w, 2) ? 1 : 1 + (uint32_t)below(w, 5);
	w->o.window_bits = 7 + (unsigned int)below(w, 5);
	w->told = below(w, 3);
	world_set(w);
	w->o.set = &w->set;
	w->o.seen = calloc(2 * addrset_count(&w->set), 1);
	w->o.first_ns = calloc(2 * addrset_count(&w->set), sizeof(uint64_t));
	for (unsigned int i = 0; i < 3 * TRACK_HISTS; i++)
		assert_int_equal(hist_init(&w->o.r[i / TRACK_HISTS].hist[i % TRACK_HISTS], 1,
					   TRACK_DELAY_MAX, TRACK_DIGITS),
				 0);
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
	for (unsigned int i = 0; i < 3 * TRACK_HISTS; i++)
		hist_free(&w->o.r[i / TRACK_HISTS].hist[i % TRACK_HISTS]);
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

	e->key = key;
	e->p.dst = addrset_at(&w->set, sched_index(&f->sched, seq));
	e->p.v6 = w->v6;
	e->p.probe = (struct probe){.stream = (uint8_t)f->stream,
				    .shard = (uint8_t)f->sched.shard,
				    .seq = seq,
				    .due_ns = oracle_t0(&w->o, f) + oracle_due(&f->sched, seq)};
	e->p.arrival_ns = e->p.probe.due_ns + below(w, 3000000) - below(w, 2) * 1000;
	if (!below(w, 50))
		e->p.arrival_ns += 200000000000u; /* beyond the histogram */
}

/* Something that cannot be: another address, number, stream or shard. */
static void events_break(struct world *w, struct event *e)
{
	switch (below(w, 6)) {
	case 0:
		e->p.dst.lo ^= UINT64_C(1) << below(w, w->v6 ? 64 : 32);
		break;
	case 4:
		e->p.dst.hi ^= (uint64_t)w->v6 << below(w, 64);
		break;
	case 5:
		e->p.v6 ^= 1;
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
	struct track_counts c;
	size_t k = 0, n;

	w->started = below(w, 2);
	if (w->started)
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
	c = track_counts(&w->t);
	assert_int_equal(c.rx_pkts + c.dup_pkts + c.late_pkts + c.foreign_pkts, k);
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
		reached = oracle_destination(&x->w->o, (uint32_t)(x->k / n), x->k % n,
					     x->w->started, &want);
	}
	assert_int_equal(got->addr.lo, want.addr.lo);
	assert_int_equal(got->addr.hi, want.addr.hi);
	assert_int_equal(got->v6, want.v6);
	assert_int_equal(got->stream, want.stream);
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

/* What the oracle knows only at the end. */
static void world_conclude(struct world *w, uint32_t stream)
{
	struct track_result *r = &w->o.r[stream];
	struct track_destination d;

	for (unsigned int i = 0; i < w->o.nr_flows; i++) {
		if (w->o.flows[i].stream == stream)
			r->counts.lost_pkts += w->o.flows[i].nr_sent - w->o.flows[i].nr_came;
	}
	for (uint64_t k = 0; k < addrset_count(&w->set); k++) {
		if (!oracle_destination(&w->o, stream, k, w->started, &d))
			continue;
		hist_record(&r->hist[TRACK_GAP], d.gap_ns);
		r->counts.destinations_expected++;
		r->counts.destinations_unseen += !d.seen;
		if (d.seen && !sched_is_cyclic(w->order))
			hist_record(&r->hist[TRACK_FIRST_DELIVERY], d.first_delivery_ns);
	}
}

static void world_compare(struct world *w)
{
	struct track_counts sum = {0}, all;
	struct expected x = {.w = w};

	world_untold(w);
	track_finish(&w->t);
	all = track_counts(&w->t);
	for (uint32_t i = 0; i < w->nr_streams; i++) {
		const struct track_result *got = &w->t.streams[i].result;

		world_conclude(w, i);
		assert_memory_equal(&got->counts, &w->o.r[i].counts, sizeof(got->counts));
		for (int k = 0; k < TRACK_HISTS; k++)
			same_hist(&got->hist[k], &w->o.r[i].hist[k]);
		assert_int_equal(track_stream_lost(&w->t.streams[i]), got->counts.lost_pkts);
		/* All fields are of 64 bits. */
		for (size_t k = 0; k < sizeof(sum) / 8; k++)
			((uint64_t *)&sum)[k] += ((const uint64_t *)&got->counts)[k];
	}
	sum.foreign_pkts += w->o.r[2].counts.foreign_pkts;
	assert_memory_equal(&all, &sum, sizeof(sum));
	for (int k = 0; k < TRACK_HISTS; k++) {
		if (w->nr_streams > 1)
			assert_int_equal(hist_merge(&w->o.r[0].hist[k], &w->o.r[1].hist[k]), 0);
		same_hist(track_hist(&w->t, (enum track_hist)k), &w->o.r[0].hist[k]);
	}
	assert_int_equal(track_each(&w->t, compare_destination, &x), 0);
	assert_int_equal(track_lost(&w->t), all.lost_pkts);
}

static void random_worlds(void **state)
{
	struct world w;

	(void)state;
	for (uint64_t seed = 1; seed <= 250; seed++) {
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
