// SPDX-License-Identifier: GPL-2.0-or-later
/* What track knows when everything is in. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "sink/track.h"
#include "sink/track_draw.h"
#include "sink/track_loss.h"

int track_sent(struct track *t, uint32_t stream, uint32_t shard, const uint64_t *lanes,
	       uint32_t nr_lanes, struct err *err)
{
	struct track_flow *f;
	uint64_t sum = 0;

	if (stream >= t->nr_streams || shard >= t->streams[stream].nr_shards || !nr_lanes)
		return err_set(err, -EINVAL, "the schedule has no stream %u with a shard %u",
			       stream, shard);
	f = &t->streams[stream].flows[shard];
	for (uint32_t l = 0; l < nr_lanes; l++) {
		if (lanes[l] > f->limit / nr_lanes + 1 || (sum += lanes[l]) > f->limit)
			return err_set(err, -EINVAL,
				       "more than the %" PRIu64 " packets of the schedule are said "
				       "to be sent",
				       f->limit);
	}
	free(f->lanes);
	f->lanes = malloc(nr_lanes * sizeof(*lanes));
	if (!f->lanes)
		return err_set(err, -ENOMEM, "no memory for %u lanes", nr_lanes);
	memcpy(f->lanes, lanes, nr_lanes * sizeof(*lanes));
	f->nr_lanes = nr_lanes;
	f->nr_sent = sum;
	return 0;
}

/* The flows of a track with a schedule, one after the other. */
#define each_flow(t, f)                                             \
	for (uint32_t i_ = 0; i_ < (t)->nr_streams; i_++)           \
		for (struct track_flow *f = (t)->streams[i_].flows; \
		     f < (t)->streams[i_].flows + (t)->streams[i_].nr_shards; f++)

void track_sent_all(struct track *t)
{
	each_flow(t, f)(void) track_sent(t, f->stream, f->sched.shard, &f->limit, 1, NULL);
}

static bool finish_seen(const struct track_flow *f, uint64_t pos)
{
	return f->seen[pos >> 6] >> (pos & 63) & 1;
}

static void finish_flow(struct track_result *r, const struct track_flow *f)
{
	for (uint64_t pos = 0; pos < f->nr_slots; pos++) {
		if (!track_loss_reached(f, pos))
			continue;
		hist_record(&r->hist[TRACK_GAP], f->slots[pos].gap_ns);
		r->counts.destinations_expected++;
		if (!finish_seen(f, pos))
			r->counts.destinations_unseen++;
	}
}

static void finish_stream(struct track *t, struct track_stream *s)
{
	for (struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		track_loss_finish(t, f);
		if (s->cyclic)
			finish_flow(&s->result, f);
	}
	if (!s->cyclic)
		track_draw_finish(s);
	s->result.counts.lost_pkts = track_stream_lost(s);
}

void track_finish(struct track *t)
{
	if (t->finished)
		return;
	for (uint32_t i = 0; i < t->nr_streams; i++)
		finish_stream(t, &t->streams[i]);
	if (!t->scheduled) {
		t->rest.counts.destinations_expected = t->rest.counts.destinations_seen;
		t->rest.counts.lost_pkts = track_lost(t);
	}
	t->finished = true;
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add_counts(struct track_counts *sum, const struct track_counts *c)
{
	sum->rx_pkts += c->rx_pkts;
	sum->dup_pkts += c->dup_pkts;
	sum->late_pkts += c->late_pkts;
	sum->foreign_pkts += c->foreign_pkts;
	sum->reordered_pkts += c->reordered_pkts;
	sum->early_pkts += c->early_pkts;
	sum->destinations_seen += c->destinations_seen;
	sum->lost_pkts += c->lost_pkts;
	sum->destinations_expected += c->destinations_expected;
	sum->destinations_unseen += c->destinations_unseen;
}

struct track_counts track_counts(const struct track *t)
{
	struct track_counts sum = t->rest.counts;

	for (uint32_t i = 0; i < t->nr_streams; i++)
		add_counts(&sum, &t->streams[i].result.counts);
	return sum;
}

const struct hist *track_hist(struct track *t, enum track_hist which)
{
	struct hist *sum = &t->rest.hist[which];

	if (t->nr_streams == 1)
		return &t->streams[0].result.hist[which];
	if (t->nr_streams)
		hist_reset(sum);
	for (uint32_t i = 0; i < t->nr_streams; i++)
		(void)hist_merge(sum, &t->streams[i].result.hist[which]);
	return sum;
}

/* Numbers from one packet of a destination to its next: of a window exactly, of random orders on
 * average. */
static uint64_t resolution_pkts(const struct track_flow *f)
{
	if (f->cyclic)
		return f->period > PROBE_SEQ_MAX ? f->limit : f->period;
	return f->sched.order == SCHED_WINDOW ? f->sched.window : f->sched.n;
}

uint64_t track_stream_resolution_ns(const struct track_stream *s)
{
	uint64_t max = 0, ns, slowest;

	for (const struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		slowest = f->sched.rate.pps < f->sched.rate.to_pps ? f->sched.rate.pps
								   : f->sched.rate.to_pps;
		if (!slowest)
			continue;
		ns = (uint64_t)((unsigned __int128)resolution_pkts(f) * 1000000000u / slowest);
		if (ns > max)
			max = ns;
	}
	return max;
}

uint64_t track_resolution_ns(const struct track *t)
{
	uint64_t max = 0, ns;

	for (uint32_t i = 0; i < t->nr_streams; i++) {
		ns = track_stream_resolution_ns(&t->streams[i]);
		if (ns > max)
			max = ns;
	}
	return max;
}

static uint64_t lost_of_flow(const struct track_flow *f)
{
	uint64_t sent = f->nr_sent == UINT64_MAX ? f->next : f->nr_sent;

	return sent > f->rx ? sent - f->rx : 0;
}

uint64_t track_stream_lost(const struct track_stream *s)
{
	uint64_t lost = 0;

	for (const struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++)
		lost += lost_of_flow(f);
	return lost;
}

uint64_t track_lost(const struct track *t)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < t->nr_streams; i++)
		lost += track_stream_lost(&t->streams[i]);
	for (size_t i = 0; t->free_flows && i <= UINT16_MAX; i++) {
		const struct track_flow *f = t->free_flows[i];

		if (f && f->rx)
			lost += f->next - f->least - f->rx;
	}
	return lost;
}

/* --- destinations ----------------------------------------------------------------------------- */

typedef int each_fn(void *arg, const struct track_destination *d);

static int each_tallied(const struct track *t, each_fn *fn, void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < (size_t)1 << t->tally.bits && !ret; i++) {
		const struct tally_entry *e = &t->tally.entries[i];
		struct track_destination d = {
			.addr = e->addr, .v6 = true, .seen = true, .received = e->pkts};

		if (!e->addr.hi && e->addr.lo >> 32 == TRACK_MAPPED >> 32) {
			d.v6 = false;
			d.addr.lo &= UINT32_MAX;
		}
		if (e->pkts)
			ret = fn(arg, &d);
	}
	return ret;
}

static void each_slot(const struct track_flow *f, uint64_t pos, struct track_destination *d)
{
	const struct track_slot *slot = &f->slots[pos];

	d->seen = finish_seen(f, pos);
	d->received = sched_occurrences_in(&f->sched, track_loss_end(f), pos * f->sched.repeat) -
		      slot->missing;
	d->first_delivery_ns = slot->first_delivery_ns;
	d->gap_ns = slot->gap_ns;
}

static int each_ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The indices that were sent to, ascending; of a cyclic order. NULL if there is no memory. */
static uint64_t *each_reached(const struct track_stream *s, uint64_t *nr)
{
	const struct track_flow *f;
	uint64_t *index, slots = 0;

	for (f = s->flows; f < s->flows + s->nr_shards; f++)
		slots += f->nr_slots;
	index = malloc((slots + 1) * sizeof(*index));
	*nr = 0;
	for (f = s->flows; index && f < s->flows + s->nr_shards; f++) {
		for (uint64_t pos = 0; pos < f->nr_slots; pos++) {
			if (track_loss_reached(f, pos))
				index[(*nr)++] = track_loss_index(f, pos);
		}
	}
	if (index)
		qsort(index, *nr, sizeof(*index), each_ascending);
	return index;
}

static int each_cyclic(const struct track_stream *s, struct track_destination *d, each_fn *fn,
		       void *arg)
{
	uint64_t nr, *index = each_reached(s, &nr), position;
	int ret = index ? 0 : -ENOMEM;

	for (uint64_t i = 0; !ret && i < nr; i++) {
		position = sched_position_of(&s->flows->sched, index[i]);
		each_slot(&s->flows[position % s->nr_shards], position / s->nr_shards, d);
		d->addr = addrset_at(s->set, index[i]);
		ret = fn(arg, d);
	}
	free(index);
	return ret;
}

static int each_drawn(const struct track_stream *s, struct track_destination *d, each_fn *fn,
		      void *arg)
{
	int ret = 0;

	for (uint64_t i = 0; i < s->n && !ret; i++) {
		if (!track_draw_of(s, i, d))
			continue;
		d->addr = addrset_at(s->set, i);
		ret = fn(arg, d);
	}
	return ret;
}

int track_each(const struct track *t, each_fn *fn, void *arg)
{
	int ret = 0;

	if (!t->scheduled)
		return each_tallied(t, fn, arg);
	for (uint32_t i = 0; i < t->nr_streams && !ret; i++) {
		const struct track_stream *s = &t->streams[i];
		struct track_destination d = {.stream = i, .v6 = s->v6};

		ret = s->cyclic ? each_cyclic(s, &d, fn, arg) : each_drawn(s, &d, fn, arg);
	}
	return ret;
}
