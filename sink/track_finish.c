// SPDX-License-Identifier: GPL-2.0-or-later
/* What track knows when everything is in. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "sink/track.h"
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

static void finish_flow(struct track *t, struct track_flow *f)
{
	struct track_stream *s = &t->streams[f->stream];
	uint64_t index;

	track_loss_finish(t, f);
	for (uint64_t pos = 0; pos < f->sched.n_shard; pos++) {
		if (!track_loss_reached(f, pos))
			continue;
		index = track_loss_index(f, pos);
		hist_record(&t->gap, sched_due_ns(&f->sched, s->slots[index].gap_pkts));
		t->counts.destinations_expected++;
		if (!(s->seen[index >> 6] & UINT64_C(1) << (index & 63)))
			t->counts.destinations_unseen++;
	}
}

void track_finish(struct track *t)
{
	if (t->finished)
		return;
	each_flow(t, f) finish_flow(t, f);
	if (!t->scheduled)
		t->counts.destinations_expected = t->counts.destinations_seen;
	t->counts.lost_pkts = track_lost(t);
	t->finished = true;
}

uint64_t track_resolution_ns(const struct track *t)
{
	uint64_t max = 0, ns;

	each_flow(t, f)
	{
		ns = sched_due_ns(&f->sched, f->period);
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

uint64_t track_lost(const struct track *t)
{
	uint64_t lost = 0;

	each_flow(t, f) lost += lost_of_flow(f);
	for (size_t i = 0; t->free_flows && i <= UINT16_MAX; i++) {
		const struct track_flow *f = t->free_flows[i];

		if (f && f->rx)
			lost += f->next - f->least - f->rx;
	}
	return lost;
}

static int each_tallied(const struct track *t,
			int (*fn)(void *arg, const struct track_destination *d), void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < (size_t)1 << t->tally.bits && !ret; i++) {
		const struct tally_entry *e = &t->tally.entries[i];
		struct track_destination d = {
			.addr = e->addr, .seen = true, .received = e->pkts};

		if (e->pkts)
			ret = fn(arg, &d);
	}
	return ret;
}

/* Fill @d for the destination with @index. Returns 0 if nothing was sent to it. */
static int destination(const struct track_stream *s, uint64_t index, struct track_destination *d)
{
	const struct track_slot *slot = &s->slots[index];
	uint64_t position = index;
	const struct track_flow *f;
	struct sched sched;

	if (s->flows->sched.order == SCHED_PERMUTE)
		position = perm_inverse(&s->flows->sched.perm, index);
	f = &s->flows[position % s->nr_shards];
	position /= s->nr_shards;
	if (!track_loss_reached(f, position))
		return 0;
	sched = f->sched;
	sched.total = track_loss_end(f);
	d->addr = addrset_at(s->set, index);
	d->seen = s->seen[index >> 6] >> (index & 63) & 1;
	d->received = sched_occurrences(&sched, position * sched.repeat) - slot->missing;
	d->first_delivery_ns = slot->first_delivery_ns;
	d->gap_ns = sched_due_ns(&sched, slot->gap_pkts);
	return 1;
}

int track_each(const struct track *t, int (*fn)(void *arg, const struct track_destination *d),
	       void *arg)
{
	struct track_destination d;
	int ret = 0;

	if (!t->scheduled)
		return each_tallied(t, fn, arg);
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		for (uint64_t k = 0; k < t->streams[i].n && !ret; k++) {
			if (destination(&t->streams[i], k, &d))
				ret = fn(arg, &d);
		}
	}
	return ret;
}
