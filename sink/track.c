// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "sink/track_loss.h"

/* --- life ------------------------------------------------------------------------------------ */

static int track_init_common(struct track *t, unsigned int window_bits, struct err *err)
{
	memset(t, 0, sizeof(*t));
	if (window_bits < 7 || window_bits > 30)
		return err_set(err, -EINVAL, "a window of 2^%u packets is not one of 2^7 to 2^30",
			       window_bits);
	t->window_bits = window_bits;
	if (hist_init(&t->delay, 1, TRACK_DELAY_MAX, TRACK_DIGITS) ||
	    hist_init(&t->first_delivery, 1, TRACK_DELAY_MAX, TRACK_DIGITS) ||
	    hist_init(&t->gap, 1, TRACK_DELAY_MAX, TRACK_DIGITS)) {
		track_free(t);
		return err_set(err, -ENOMEM, "no memory for three histograms");
	}
	return 0;
}

static int track_flow_window(struct track *t, struct track_flow *f)
{
	f->bits = calloc((size_t)1 << (t->window_bits - 6), sizeof(*f->bits));
	f->least = UINT64_MAX;
	f->nr_sent = UINT64_MAX;
	return f->bits ? 0 : -ENOMEM;
}

/* A slot counts occurrences in 32 bits; numbers on the wire have 48. */
static int track_flow_limit(struct track_flow *f, struct err *err)
{
	uint64_t visits = UINT32_MAX / f->sched.repeat, most;

	if (__builtin_mul_overflow(f->period, visits, &most) || most > PROBE_SEQ_MAX)
		most = PROBE_SEQ_MAX;
	f->limit = f->sched.total < most ? f->sched.total : most;
	if (f->sched.rate.pps && f->limit < f->sched.total)
		return err_set(err, -E2BIG,
			       "%" PRIu64 " packets to %" PRIu64 " destinations are more than can "
			       "be told apart (%" PRIu64 "): run shorter or with more destinations",
			       f->sched.total, f->sched.n_shard, most);
	return 0;
}

static int track_flow_init(struct track *t, struct track_flow *f, uint32_t stream,
			   const struct sched *sched, struct err *err)
{
	f->sched = *sched;
	f->stream = stream;
	if (__builtin_mul_overflow(sched->n_shard, (uint64_t)sched->repeat, &f->period) ||
	    f->period > PROBE_SEQ_MAX)
		return err_set(err, -E2BIG, "one pass over the destinations has over 2^48 packets");
	recip_init(&f->per_visit, sched->repeat);
	recip_init(&f->per_pass, sched->n_shard);
	if (track_flow_limit(f, err))
		return -E2BIG;
	if (track_flow_window(t, f))
		return err_set(err, -ENOMEM, "no memory for the window of a shard");
	return 0;
}

static int track_stream_init(struct track *t, struct track_stream *s,
			     const struct track_stream_conf *conf, struct err *err)
{
	int ret = 0;

	s->set = conf->set;
	s->n = addrset_count(conf->set);
	s->nr_shards = conf->nr_shards;
	s->flows = calloc(s->nr_shards, sizeof(*s->flows));
	s->slots = calloc(s->n, sizeof(*s->slots));
	s->seen = calloc(s->n / 64 + 1, sizeof(*s->seen));
	if (!s->flows || !s->slots || !s->seen)
		return err_set(err, -ENOMEM,
			       "no memory for %" PRIu64 " destinations of %zu bytes: take fewer",
			       s->n, sizeof(*s->slots));
	for (uint32_t i = 0; i < s->nr_shards && !ret; i++)
		ret = track_flow_init(t, &s->flows[i], (uint32_t)(s - t->streams), &conf->scheds[i],
				      err);
	return ret;
}

int track_init(struct track *t, const struct track_stream_conf *streams, uint32_t nr_streams,
	       unsigned int window_bits, struct err *err)
{
	int ret = track_init_common(t, window_bits, err);

	if (ret)
		return ret;
	t->scheduled = true;
	t->streams = calloc(nr_streams, sizeof(*t->streams));
	if (!t->streams) {
		track_free(t);
		return err_set(err, -ENOMEM, "no memory for %u streams", nr_streams);
	}
	t->nr_streams = nr_streams;
	for (uint32_t i = 0; i < nr_streams && !ret; i++)
		ret = track_stream_init(t, &t->streams[i], &streams[i], err);
	if (ret)
		track_free(t);
	return ret;
}

int track_init_free(struct track *t, unsigned int window_bits, struct err *err)
{
	int ret = track_init_common(t, window_bits, err);

	if (ret)
		return ret;
	t->free_flows = calloc(UINT16_MAX + 1, sizeof(struct track_flow *));
	if (!t->free_flows || tally_init(&t->tally, SIZE_MAX)) {
		track_free(t);
		return err_set(err, -ENOMEM, "no memory to tell addresses apart");
	}
	return 0;
}

static void track_stream_free(struct track_stream *s)
{
	for (uint32_t i = 0; s->flows && i < s->nr_shards; i++) {
		free(s->flows[i].bits);
		free(s->flows[i].lanes);
	}
	free(s->flows);
	free(s->slots);
	free(s->seen);
}

void track_free(struct track *t)
{
	for (uint32_t i = 0; i < t->nr_streams; i++)
		track_stream_free(&t->streams[i]);
	free(t->streams);
	for (size_t i = 0; t->free_flows && i <= UINT16_MAX; i++) {
		if (t->free_flows[i])
			free(t->free_flows[i]->bits);
		free(t->free_flows[i]);
	}
	free(t->free_flows);
	tally_free(&t->tally);
	hist_free(&t->delay);
	hist_free(&t->first_delivery);
	hist_free(&t->gap);
	memset(t, 0, sizeof(*t));
}

void track_start(struct track *t, uint64_t t0_ns)
{
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		for (uint32_t j = 0; j < t->streams[i].nr_shards; j++) {
			t->streams[i].flows[j].t0_ns = t0_ns;
			t->streams[i].flows[j].t0_known = true;
		}
	}
}

/* --- one probe -------------------------------------------------------------------------------- */

/* The bit of @p in the window of @f. Returns 1 if the probe is a new one. */
static inline int track_window(struct track *t, struct track_flow *f, const struct track_probe *p)
{
	uint64_t seq = p->probe.seq, bit = UINT64_C(1) << (seq & 63), *word;

	if (__builtin_expect(seq < f->base, 0)) {
		t->counts.late_pkts++;
		return 0;
	}
	if (__builtin_expect(seq - f->base >= UINT64_C(1) << t->window_bits, 0))
		track_loss_slide(t, f, seq);
	word = &f->bits[(seq >> 6) & ((UINT64_C(1) << (t->window_bits - 6)) - 1)];
	if (*word & bit) {
		t->counts.dup_pkts++;
		return 0;
	}
	*word |= bit;
	return 1;
}

static inline void track_order_and_delay(struct track *t, struct track_flow *f,
					 const struct track_probe *p)
{
	uint64_t delay = p->arrival_ns - p->probe.due_ns;

	f->rx++;
	t->counts.rx_pkts++;
	if (p->probe.seq < f->next)
		t->counts.reordered_pkts++;
	else
		f->next = p->probe.seq + 1;
	if (p->arrival_ns < p->probe.due_ns) {
		t->counts.early_pkts++;
		delay = 0;
	}
	hist_record(&t->delay, delay);
}

/* The first probe that came to a destination, which need not be the first that was sent to it. */
static void track_first(struct track *t, struct track_stream *s, struct track_flow *f,
			const struct track_probe *p, uint32_t index)
{
	uint64_t due = p->probe.due_ns;
	struct sched_slot slot;

	if (f->sched.rate.pps) {
		if (!f->t0_known) {
			f->t0_ns = due - sched_due_ns(&f->sched, p->probe.seq);
			f->t0_known = true;
		}
		sched_slot(&f->sched, p->probe.seq, &slot);
		due = f->t0_ns + sched_due_ns(&f->sched, slot.first_seq);
	}
	s->seen[index >> 6] |= UINT64_C(1) << (index & 63);
	s->slots[index].first_delivery_ns = p->arrival_ns > due ? p->arrival_ns - due : 0;
	hist_record(&t->first_delivery, s->slots[index].first_delivery_ns);
	t->counts.destinations_seen++;
}

/* --- with a schedule -------------------------------------------------------------------------- */

/* Position in the set, before permutation, of @p; 0 with *@flow NULL if it can have none. */
static inline uint32_t track_position(struct track_stream *s, const struct track_probe *p,
				      struct track_flow **flow)
{
	struct track_flow *f = &s->flows[p->probe.shard];
	uint64_t visit;

	*flow = NULL;
	if (p->probe.shard >= s->nr_shards || p->probe.seq >= f->limit)
		return 0;
	*flow = f;
	visit = recip_div(&f->per_visit, p->probe.seq);
	visit -= recip_div(&f->per_pass, visit) * f->sched.n_shard;
	return (uint32_t)(f->sched.shard + f->sched.nr_shards * visit);
}

/* A batch of one stream: where each should have gone, all at once, then the account in order. */
static void track_scheduled(struct track *t, struct track_stream *s, const struct track_probe *p,
			    unsigned int n)
{
	struct track_flow *flow[TRACK_BATCH];
	uint32_t index[TRACK_BATCH] = {0}, addr[TRACK_BATCH];

	for (unsigned int i = 0; i < n; i++)
		index[i] = track_position(s, &p[i], &flow[i]);
	if (s->flows->sched.order == SCHED_PERMUTE)
		perm_fill32(&s->flows->sched.perm, index, index, n);
	addrset_at4(s->set, index, addr, n);
	for (unsigned int i = 0; i < n; i++)
		__builtin_prefetch(&s->seen[index[i] >> 6]);
	for (unsigned int i = 0; i < n; i++) {
		if (!flow[i] || p[i].dst.hi || addr[i] != p[i].dst.lo) {
			t->counts.foreign_pkts++;
			continue;
		}
		if (!track_window(t, flow[i], &p[i]))
			continue;
		track_order_and_delay(t, flow[i], &p[i]);
		if (!(s->seen[index[i] >> 6] & UINT64_C(1) << (index[i] & 63)))
			track_first(t, s, flow[i], &p[i], index[i]);
	}
}

/* --- without one ------------------------------------------------------------------------------ */

/* The flow of @p, new if need be; NULL if there are too many or memory ran out. */
static struct track_flow *track_free_flow(struct track *t, const struct track_probe *p)
{
	struct track_flow **f = &t->free_flows[p->probe.stream << 8 | p->probe.shard];
	uint64_t half = UINT64_C(1) << (t->window_bits - 1);

	if (*f || t->nr_free_flows == TRACK_FREE_FLOWS)
		return *f;
	*f = calloc(1, sizeof(**f));
	if (!*f || track_flow_window(t, *f)) {
		free(*f);
		*f = NULL;
		t->failed = -ENOMEM;
		return NULL;
	}
	t->nr_free_flows++;
	/* The first to arrive may not be the first sent: leave room below. */
	if (p->probe.seq > half)
		(*f)->base = (p->probe.seq - half) & ~UINT64_C(63);
	return *f;
}

static void track_unscheduled(struct track *t, const struct track_probe *p)
{
	struct track_flow *f = track_free_flow(t, p);

	if (!f) {
		t->counts.foreign_pkts++;
		return;
	}
	if (!track_window(t, f, p))
		return;
	track_order_and_delay(t, f, p);
	if (p->probe.seq < f->least)
		f->least = p->probe.seq;
	if (!tally_add(&t->tally, p->dst))
		t->failed = -ENOMEM;
	t->counts.destinations_seen = t->tally.used;
}

void track_batch(struct track *t, const struct track_probe *p, unsigned int n)
{
	unsigned int from = 0, to;

	if (!t->scheduled) {
		for (unsigned int i = 0; i < n; i++)
			track_unscheduled(t, &p[i]);
		return;
	}
	for (; from < n; from = to) {
		for (to = from; to < n && p[to].probe.stream == p[from].probe.stream; to++)
			;
		if (p[from].probe.stream < t->nr_streams)
			track_scheduled(t, &t->streams[p[from].probe.stream], &p[from], to - from);
		else
			t->counts.foreign_pkts += to - from;
	}
}
