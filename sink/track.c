// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/track_draw.h"
#include "sink/track_loss.h"

#define TRACK_NS UINT64_C(1000000000)

void track_start(struct track *t, uint64_t t0_ns)
{
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		for (uint32_t j = 0; j < t->streams[i].nr_shards; j++) {
			t->streams[i].flows[j].t0_ns = t0_ns + t->streams[i].start_ns;
			t->streams[i].flows[j].t0_known = true;
		}
	}
}

/* --- one probe -------------------------------------------------------------------------------- */

/*
 * Whether the flow can have come as far as @p says, which is beyond the window. A drawn order is
 * walked up to there. A rate gives its schedule an end; without one, time does: no flow has sent
 * more than a packet in TRACK_LEAST_NS since it began; if nobody told when that was, since a second
 * before the first probe that is beyond the window.
 */
static bool track_can_be(struct track_flow *f, const struct track_probe *p)
{
	if (f->cyclic || f->sched.rate.pps)
		return true;
	if (!f->t0_known) {
		f->t0_ns = p->arrival_ns > TRACK_NS ? p->arrival_ns - TRACK_NS : 0;
		f->t0_known = true;
	}
	return p->arrival_ns > f->t0_ns &&
	       p->probe.seq <= (p->arrival_ns - f->t0_ns) / TRACK_LEAST_NS;
}

/* The bit of @p in the window of @f. Returns 1 if the probe is a new one. */
static inline int track_window(struct track *t, struct track_flow *f, struct track_counts *c,
			       const struct track_probe *p)
{
	uint64_t seq = p->probe.seq, bit = UINT64_C(1) << (seq & 63), *word;

	if (__builtin_expect(seq < f->base, 0)) {
		c->late_pkts++;
		return 0;
	}
	if (__builtin_expect(seq - f->base >= UINT64_C(1) << t->window_bits, 0)) {
		if (t->scheduled && !track_can_be(f, p)) {
			c->foreign_pkts++;
			return 0;
		}
		track_loss_slide(t, f, seq);
	}
	word = &f->bits[(seq >> 6) & ((UINT64_C(1) << (t->window_bits - 6)) - 1)];
	if (*word & bit) {
		c->dup_pkts++;
		return 0;
	}
	*word |= bit;
	return 1;
}

static inline void track_order_and_delay(struct track_result *r, struct track_flow *f,
					 const struct track_probe *p)
{
	uint64_t delay = p->arrival_ns - p->probe.due_ns;

	f->rx++;
	r->counts.rx_pkts++;
	if (p->probe.seq < f->next)
		r->counts.reordered_pkts++;
	else
		f->next = p->probe.seq + 1;
	if (p->arrival_ns < p->probe.due_ns) {
		r->counts.early_pkts++;
		delay = 0;
	}
	hist_record(&r->hist[TRACK_DELAY], delay);
}

/* --- with a schedule -------------------------------------------------------------------------- */

static inline void track_t0(struct track_flow *f, const struct track_probe *p)
{
	if (f->t0_known || !f->sched.rate.pps)
		return;
	f->t0_ns = p->probe.due_ns - sched_due_ns(&f->sched, p->probe.seq);
	f->t0_known = true;
}

/* The first probe that came to a destination, which need not be the first that was sent to it.
 * @pos: its position among those of the flow. */
static void track_first(struct track_result *r, struct track_flow *f, const struct track_probe *p,
			uint64_t pos)
{
	uint64_t due = p->probe.due_ns, first;

	track_t0(f, p);
	if (f->sched.rate.pps)
		due = f->t0_ns + sched_due_ns(&f->sched, pos * f->sched.repeat);
	first = p->arrival_ns > due ? p->arrival_ns - due : 0;
	f->seen[pos >> 6] |= UINT64_C(1) << (pos & 63);
	f->slots[pos].first_delivery_ns = first;
	hist_record(&r->hist[TRACK_FIRST_DELIVERY], first);
	r->counts.destinations_seen++;
}

/* The same where positions say nothing: what track_draw_finish() needs is kept. */
static void track_first_draw(struct track_stream *s, struct track_flow *f,
			     const struct track_probe *p, uint64_t index)
{
	uint64_t from = f->sched.rate.pps ? 0 : p->probe.due_ns;

	s->seen[index >> 6] |= UINT64_C(1) << (index & 63);
	f->draws[index].arrival_ns = p->arrival_ns > from ? p->arrival_ns - from : 0;
	s->result.counts.destinations_seen++;
}

/* Where the packets of a batch should have gone. */
struct track_places {
	struct track_flow *flow[TRACK_BATCH]; /* NULL: there is no such packet */
	uint32_t pos[TRACK_BATCH]; /* cyclic: among the positions of the flow; else the index */
	uint32_t index[TRACK_BATCH]; /* of sets of up to 2^32 */
	uint32_t addr4[TRACK_BATCH];
	uint64_t hi[TRACK_BATCH], lo[TRACK_BATCH]; /* IPv6 */
};

/* Flow, position and, before permutation, index of @p; zeros if it can have none. */
static inline void track_place(struct track_stream *s, const struct track_probe *p,
			       struct track_places *at, unsigned int i)
{
	struct track_flow *f = &s->flows[p->probe.shard];
	uint64_t visit;

	if (p->probe.shard >= s->nr_shards || p->probe.seq >= f->limit) {
		at->flow[i] = NULL;
		at->pos[i] = at->index[i] = 0;
		return;
	}
	at->flow[i] = f;
	if (!s->cyclic) {
		at->pos[i] = at->index[i] = (uint32_t)sched_index(&f->sched, p->probe.seq);
		return;
	}
	visit = recip_div(&f->per_visit, p->probe.seq);
	visit -= recip_div(&f->per_pass, visit) * f->sched.n_shard;
	at->pos[i] = (uint32_t)visit;
	at->index[i] = f->sched.shard + f->sched.nr_shards * (uint32_t)visit;
}

/* Sets of up to 2^32: in vectors, as far as the order has them. */
static void track_addresses32(const struct track_stream *s, struct track_places *at, unsigned int n)
{
	const struct sched *sched = &s->flows->sched;

	if (sched->order == SCHED_PERMUTE)
		perm_fill32(&sched->perm, at->index, at->index, n);
	else if (sched->order == SCHED_STRIDE)
		for (unsigned int i = 0; i < n; i++)
			at->index[i] = (uint32_t)sched_index_at(sched, at->index[i]);
	if (!s->v6) {
		addrset_at4(s->set, at->index, at->addr4, n);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		at->lo[i] = at->index[i];
	addrset_at6(s->set, at->lo, at->hi, at->lo, n);
}

/* Larger ones, all of which are cyclic and IPv6. */
static void track_addresses64(const struct track_stream *s, struct track_places *at, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		at->lo[i] = at->flow[i] ? track_loss_index(at->flow[i], at->pos[i]) : 0;
	addrset_at6(s->set, at->lo, at->hi, at->lo, n);
}

static inline bool track_is_foreign(const struct track_stream *s, const struct track_probe *p,
				    const struct track_places *at, unsigned int i)
{
	if (!at->flow[i] || p->v6 != s->v6)
		return true;
	return s->v6 ? at->lo[i] != p->dst.lo || at->hi[i] != p->dst.hi
		     : at->addr4[i] != p->dst.lo;
}

static inline bool track_bit(const uint64_t *bits, uint64_t i)
{
	return bits[i >> 6] >> (i & 63) & 1;
}

/* A batch of one stream: where each should have gone, all at once, then the account in order. */
static void track_scheduled(struct track *t, struct track_stream *s, const struct track_probe *p,
			    unsigned int n)
{
	struct track_result *r = &s->result;
	struct track_places at;

	at.index[0] = 0; /* @n is not 0, but compilers do not know */
	at.lo[0] = 0;
	for (unsigned int i = 0; i < n; i++)
		track_place(s, &p[i], &at, i);
	if (s->n <= UINT64_C(1) << 32)
		track_addresses32(s, &at, n);
	else
		track_addresses64(s, &at, n);
	for (unsigned int i = 0; i < n; i++) {
		if (track_is_foreign(s, &p[i], &at, i)) {
			r->counts.foreign_pkts++;
			continue;
		}
		if (!track_window(t, at.flow[i], &r->counts, &p[i]))
			continue;
		track_order_and_delay(r, at.flow[i], &p[i]);
		if (s->cyclic) {
			if (!track_bit(at.flow[i]->seen, at.pos[i]))
				track_first(r, at.flow[i], &p[i], at.pos[i]);
			continue;
		}
		track_t0(at.flow[i], &p[i]);
		if (!track_bit(s->seen, at.pos[i]))
			track_first_draw(s, at.flow[i], &p[i], at.pos[i]);
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
	if (!*f || track_loss_window(t, *f)) {
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
	struct track_counts *c = &t->rest.counts;
	struct addr key = p->dst;

	if (!f) {
		c->foreign_pkts++;
		return;
	}
	if (!track_window(t, f, c, p))
		return;
	track_order_and_delay(&t->rest, f, p);
	if (p->probe.seq < f->least)
		f->least = p->probe.seq;
	if (!p->v6)
		key.lo |= TRACK_MAPPED;
	if (!tally_add(&t->tally, key))
		t->failed = -ENOMEM;
	c->destinations_seen = t->tally.used;
}

/* --- a batch ---------------------------------------------------------------------------------- */

static void track_one_stream(struct track *t, const struct track_probe *p, unsigned int n)
{
	if (p->probe.stream < t->nr_streams)
		track_scheduled(t, &t->streams[p->probe.stream], p, n);
	else
		t->rest.counts.foreign_pkts += n;
}

/* Streams know nothing of each other, so each can have its part of the batch at once. */
static void track_mixed(struct track *t, const struct track_probe *p, unsigned int n)
{
	struct track_probe part[TRACK_BATCH];
	uint64_t left = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
	unsigned int nr, i;
	uint8_t stream;

	while (left) {
		stream = p[__builtin_ctzll(left)].probe.stream;
		nr = 0;
		for (uint64_t rest = left; rest; rest &= rest - 1) {
			i = (unsigned int)__builtin_ctzll(rest);
			if (p[i].probe.stream != stream)
				continue;
			part[nr++] = p[i];
			left &= ~(UINT64_C(1) << i);
		}
		track_one_stream(t, part, nr);
	}
}

void track_batch(struct track *t, const struct track_probe *p, unsigned int n)
{
	unsigned int same = 1;

	if (!t->scheduled) {
		for (unsigned int i = 0; i < n; i++)
			track_unscheduled(t, &p[i]);
		return;
	}
	if (!n)
		return;
	while (same < n && p[same].probe.stream == p->probe.stream)
		same++;
	if (same < n)
		track_mixed(t, p, n);
	else
		track_one_stream(t, p, n);
}
