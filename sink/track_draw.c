// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/track_draw.h"

#include "sink/track.h"
#include "sink/track_loss.h"

/* The run of lost ones at @d ends before number @seq. */
static void draw_close(const struct track_flow *f, struct track_draw *d, uint64_t seq)
{
	uint64_t gap;

	if (!d->run_seq)
		return;
	gap = sched_due_ns(&f->sched, seq) - sched_due_ns(&f->sched, d->run_seq - 1);
	if (gap > d->gap_ns)
		d->gap_ns = gap;
	d->run_seq = 0;
}

void track_draw_settle(struct track_flow *f, uint64_t seq, uint64_t lost, uint64_t valid)
{
	uint64_t index[64];

	sched_fill64(&f->sched, seq, 1, index, 64);
	for (unsigned int i = 0; i < 64; i++)
		__builtin_prefetch(&f->draws[index[i]], 1);
	for (; valid; valid &= valid - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(valid);
		struct track_draw *d = &f->draws[index[i]];

		if (track_loss_unsent(f, seq + i))
			continue;
		if (!d->first_seq)
			d->first_seq = seq + i + 1;
		if (!(lost >> i & 1)) {
			draw_close(f, d, seq + i);
			d->received++;
		} else if (!d->run_seq) {
			d->run_seq = seq + i + 1;
		}
	}
}

/* From the first packet that any flow sent there to the first that came. */
static uint64_t draw_first_delivery(const struct track_stream *s, uint64_t index)
{
	uint64_t arrival = 0, due = UINT64_MAX, ns;

	for (const struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		const struct track_draw *d = &f->draws[index];

		if (d->arrival_ns > arrival)
			arrival = d->arrival_ns;
		if (!f->sched.rate.pps || !d->first_seq || !f->t0_known)
			continue;
		ns = f->t0_ns + sched_due_ns(&f->sched, d->first_seq - 1);
		if (ns < due)
			due = ns;
	}
	if (due == UINT64_MAX) /* no rate: it is the delay already */
		return arrival;
	return arrival > due ? arrival - due : 0;
}

bool track_draw_of(const struct track_stream *s, uint64_t index, struct track_destination *d)
{
	bool reached = false;

	d->received = d->gap_ns = d->first_delivery_ns = 0;
	d->seen = s->seen[index >> 6] >> (index & 63) & 1;
	for (const struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		const struct track_draw *draw = &f->draws[index];

		reached |= draw->first_seq != 0;
		d->received += draw->received;
		if (draw->gap_ns > d->gap_ns)
			d->gap_ns = draw->gap_ns;
	}
	if (d->seen)
		d->first_delivery_ns = draw_first_delivery(s, index);
	return reached;
}

void track_draw_finish(struct track_stream *s)
{
	struct track_result *r = &s->result;
	struct track_destination d;

	for (struct track_flow *f = s->flows; f < s->flows + s->nr_shards; f++) {
		uint64_t end = track_loss_end(f);

		for (uint64_t i = 0; i < s->n; i++)
			draw_close(f, &f->draws[i], end);
	}
	for (uint64_t i = 0; i < s->n; i++) {
		if (!track_draw_of(s, i, &d))
			continue;
		r->counts.destinations_expected++;
		r->counts.destinations_unseen += !d.seen;
		hist_record(&r->hist[TRACK_GAP], d.gap_ns);
		if (d.seen)
			hist_record(&r->hist[TRACK_FIRST_DELIVERY], d.first_delivery_ns);
	}
}
