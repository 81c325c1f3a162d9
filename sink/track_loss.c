// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/track_loss.h"

#include <string.h>

#include "sink/track.h"

uint64_t track_loss_index(const struct track_flow *f, uint64_t pos)
{
	uint64_t position = f->sched.shard + (uint64_t)f->sched.nr_shards * pos;

	return f->sched.order == SCHED_PERMUTE ? perm_at(&f->sched.perm, position) : position;
}

/* Packet number of occurrence @o, counted from the destination's first packet. */
static uint64_t loss_distance(const struct track_flow *f, uint64_t o)
{
	uint64_t visit = recip_div(&f->per_visit, o);

	return visit * f->period + (o - visit * f->sched.repeat);
}

/* Occurrences @o to @o + @n - 1 of a destination are lost; those before @o were judged already. */
static void loss_mark(const struct track_flow *f, struct track_slot *slot, uint64_t o, uint64_t n)
{
	uint64_t gap;

	if (slot->run_end != o)
		slot->run_first = (uint32_t)o;
	slot->run_end = (uint32_t)(o + n);
	slot->missing += (uint32_t)n;
	if (slot->run_end - slot->run_first > slot->run_longest)
		slot->run_longest = slot->run_end - slot->run_first;
	gap = loss_distance(f, slot->run_end) - loss_distance(f, slot->run_first);
	if (gap > slot->gap_pkts)
		slot->gap_pkts = gap;
}

/* The packets @seq to @seq + @n - 1, all of one visit, are lost. */
static void loss_visit(struct track *t, const struct track_flow *f, uint64_t seq, uint64_t n)
{
	uint64_t visit = recip_div(&f->per_visit, seq);
	uint64_t pass = recip_div(&f->per_pass, visit);
	uint64_t index = track_loss_index(f, visit - pass * f->sched.n_shard);
	uint64_t o = pass * f->sched.repeat + (seq - visit * f->sched.repeat);

	loss_mark(f, &t->streams[f->stream].slots[index], o, n);
}

/* Whole passes: each destination of the flow loses the same occurrences. */
static void loss_passes(struct track *t, const struct track_flow *f, uint64_t pass, uint64_t n)
{
	struct track_slot *slots = t->streams[f->stream].slots;

	for (uint64_t pos = 0; pos < f->sched.n_shard; pos++)
		loss_mark(f, &slots[track_loss_index(f, pos)], pass * f->sched.repeat,
			  n * f->sched.repeat);
}

/* The end of the visit that @seq is in, or @end if that comes first. */
static uint64_t loss_visit_end(const struct track_flow *f, uint64_t seq, uint64_t end)
{
	uint64_t next = (recip_div(&f->per_visit, seq) + 1) * f->sched.repeat;

	return next < end ? next : end;
}

/*
 * All of [@seq, @end) is lost. The cost is bounded by three updates for each destination, however
 * far a number jumps: the pass that is under way, whole passes at once, the pass that is left.
 */
static void loss_range(struct track *t, const struct track_flow *f, uint64_t seq, uint64_t end)
{
	uint64_t stop, whole;

	while (seq < end) {
		if (seq % f->period == 0 && end - seq >= f->period) {
			whole = (end - seq) / f->period;
			loss_passes(t, f, seq / f->period, whole);
			seq += whole * f->period;
			continue;
		}
		stop = loss_visit_end(f, seq, end);
		loss_visit(t, f, seq, stop - seq);
		seq = stop;
	}
}

/* Whether the flow is known not to have sent @seq. */
static int loss_unsent(const struct track_flow *f, uint64_t seq)
{
	return f->lanes && seq / f->nr_lanes >= f->lanes[seq % f->nr_lanes];
}

/* What was never sent is missing from its destination, but it is no loss and makes no gap. */
static void loss_seq(struct track *t, const struct track_flow *f, uint64_t seq)
{
	uint64_t visit;

	if (!loss_unsent(f, seq)) {
		loss_visit(t, f, seq, 1);
		return;
	}
	visit = recip_div(&f->per_visit, seq);
	visit -= recip_div(&f->per_pass, visit) * f->sched.n_shard;
	t->streams[f->stream].slots[track_loss_index(f, visit)].missing++;
}

/* Everything in [base, @end), which is within the window, is final. */
static void loss_settle(struct track *t, struct track_flow *f, uint64_t end)
{
	uint64_t mask = (UINT64_C(1) << (t->window_bits - 6)) - 1, lost;

	for (uint64_t seq = f->base; seq < end; seq += 64) {
		lost = ~f->bits[(seq >> 6) & mask];
		f->bits[(seq >> 6) & mask] = 0;
		if (end - seq < 64)
			lost &= (UINT64_C(1) << (end - seq)) - 1;
		if (!t->scheduled)
			continue;
		for (; lost; lost &= lost - 1)
			loss_seq(t, f, seq + (uint64_t)__builtin_ctzll(lost));
	}
}

void track_loss_slide(struct track *t, struct track_flow *f, uint64_t seq)
{
	uint64_t size = UINT64_C(1) << t->window_bits;
	uint64_t base = (seq + 1 - size + 63) & ~UINT64_C(63);

	if (base - f->base < size) {
		loss_settle(t, f, base);
	} else {
		loss_settle(t, f, f->base + size);
		if (t->scheduled)
			loss_range(t, f, f->base + size, base);
	}
	f->base = base;
}

/* All numbers below were sent, by every lane. */
static uint64_t loss_all_sent(const struct track_flow *f)
{
	uint64_t least = UINT64_MAX, first_unsent;

	for (uint32_t l = 0; l < f->nr_lanes; l++) {
		first_unsent = f->lanes[l] * f->nr_lanes + l;
		if (first_unsent < least)
			least = first_unsent;
	}
	return least;
}

uint64_t track_loss_end(const struct track_flow *f)
{
	uint64_t end = f->next, lane_end;

	for (uint32_t l = 0; f->lanes && l < f->nr_lanes; l++) {
		lane_end = f->lanes[l] ? (f->lanes[l] - 1) * f->nr_lanes + l + 1 : 0;
		if (lane_end > end)
			end = lane_end;
	}
	return end;
}

int track_loss_reached(const struct track_flow *f, uint64_t pos)
{
	uint64_t seq = pos * f->sched.repeat, end = track_loss_end(f);

	if (end > seq + f->sched.repeat)
		end = seq + f->sched.repeat;
	while (seq < end && loss_unsent(f, seq))
		seq++;
	return seq < end;
}

void track_loss_finish(struct track *t, struct track_flow *f)
{
	uint64_t end = track_loss_end(f), window_end = f->base + (UINT64_C(1) << t->window_bits);
	uint64_t sure;

	loss_settle(t, f, end < window_end ? end : window_end);
	if (end <= window_end)
		return;
	/* Nothing came from beyond the window, so lanes were told and sent it. */
	sure = loss_all_sent(f);
	if (sure < window_end)
		sure = window_end;
	loss_range(t, f, window_end, sure);
	for (uint64_t seq = sure; seq < end; seq++)
		loss_seq(t, f, seq);
}
