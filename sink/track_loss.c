// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/track_loss.h"

#include <string.h>

#include "sink/track.h"
#include "sink/track_draw.h"

uint64_t track_loss_index(const struct track_flow *f, uint64_t pos)
{
	return sched_index_at(&f->sched, f->sched.shard + (uint64_t)f->sched.nr_shards * pos);
}

/* --- one destination of a cyclic order -------------------------------------------------------- */

/* When occurrence @o at @pos is due, whether or not the schedule holds it; of destinations that are
 * never visited again at the end of the schedule. After t0. */
static uint64_t loss_due_ns(const struct track_flow *f, uint64_t pos, uint64_t o)
{
	uint64_t visit = recip_div(&f->per_visit, o);
	uint64_t seq = pos * f->sched.repeat + (o - visit * f->sched.repeat);

	if (visit && f->period > PROBE_SEQ_MAX)
		seq = f->limit;
	else
		seq += visit * f->period;
	return sched_due_ns(&f->sched, seq);
}

/* The run of lost ones at @pos is over. */
static void loss_close(const struct track_flow *f, uint64_t pos)
{
	struct track_slot *slot = &f->slots[pos];
	uint64_t gap;

	if (slot->run_end == slot->run_first)
		return;
	gap = loss_due_ns(f, pos, slot->run_end) - loss_due_ns(f, pos, slot->run_first);
	if (gap > slot->gap_ns)
		slot->gap_ns = gap;
}

/* Occurrences @o to @o + @n - 1 at @pos are lost; those before @o were judged already. */
static void loss_mark(const struct track_flow *f, uint64_t pos, uint64_t o, uint64_t n)
{
	struct track_slot *slot = &f->slots[pos];

	if (slot->run_end != o) {
		loss_close(f, pos);
		slot->run_first = (uint32_t)o;
	}
	slot->run_end = (uint32_t)(o + n);
	slot->missing += (uint32_t)n;
}

/* --- runs of numbers of a cyclic order -------------------------------------------------------- */

/* The packets @seq to @seq + @n - 1, all of one visit, are lost. */
static void loss_visit(const struct track_flow *f, uint64_t seq, uint64_t n)
{
	uint64_t visit = recip_div(&f->per_visit, seq);
	uint64_t pass = recip_div(&f->per_pass, visit);
	uint64_t o = pass * f->sched.repeat + (seq - visit * f->sched.repeat);

	loss_mark(f, visit - pass * f->sched.n_shard, o, n);
}

/* Whole passes: each destination of the flow loses the same occurrences. */
static void loss_passes(const struct track_flow *f, uint64_t pass, uint64_t n)
{
	for (uint64_t pos = 0; pos < f->nr_slots; pos++)
		loss_mark(f, pos, pass * f->sched.repeat, n * f->sched.repeat);
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
static void loss_range(const struct track_flow *f, uint64_t seq, uint64_t end)
{
	uint64_t stop, whole;

	while (seq < end) {
		if (end - seq >= f->period && seq % f->period == 0) {
			whole = (end - seq) / f->period;
			loss_passes(f, seq / f->period, whole);
			seq += whole * f->period;
			continue;
		}
		stop = loss_visit_end(f, seq, end);
		loss_visit(f, seq, stop - seq);
		seq = stop;
	}
}

bool track_loss_unsent(const struct track_flow *f, uint64_t seq)
{
	return f->lanes && seq / f->nr_lanes >= f->lanes[seq % f->nr_lanes];
}

/* What was never sent is missing from its destination, but it is no loss and makes no gap. */
static void loss_seq(const struct track_flow *f, uint64_t seq)
{
	uint64_t visit;

	if (!track_loss_unsent(f, seq)) {
		loss_visit(f, seq, 1);
		return;
	}
	visit = recip_div(&f->per_visit, seq);
	visit -= recip_div(&f->per_pass, visit) * f->sched.n_shard;
	f->slots[visit].missing++;
}

/* --- the window ------------------------------------------------------------------------------- */

/* 64 numbers from @seq are final; those with a bit in @lost, of those in @valid, did not come. */
static void loss_word(struct track *t, struct track_flow *f, uint64_t seq, uint64_t lost,
		      uint64_t valid)
{
	if (!t->scheduled)
		return;
	if (!f->cyclic) {
		track_draw_settle(f, seq, lost, valid);
		return;
	}
	for (lost &= valid; lost; lost &= lost - 1)
		loss_seq(f, seq + (uint64_t)__builtin_ctzll(lost));
}

/* Everything in [base, @end), which is within the window, is final. */
static void loss_settle(struct track *t, struct track_flow *f, uint64_t end)
{
	uint64_t mask = (UINT64_C(1) << (t->window_bits - 6)) - 1, *word;

	for (uint64_t seq = f->base; seq < end; seq += 64) {
		word = &f->bits[(seq >> 6) & mask];
		loss_word(t, f, seq, ~*word,
			  end - seq < 64 ? (UINT64_C(1) << (end - seq)) - 1 : UINT64_MAX);
		*word = 0;
	}
}

/* Beyond the window nothing came: what was sent of [@seq, @end) is lost. */
static void loss_beyond(struct track *t, struct track_flow *f, uint64_t seq, uint64_t end,
			uint64_t all_sent)
{
	uint64_t word, valid;

	if (f->cyclic && seq < all_sent) {
		loss_range(f, seq, all_sent < end ? all_sent : end);
		seq = all_sent;
	}
	for (; seq < end; seq = word + 64) {
		word = seq & ~UINT64_C(63);
		valid = UINT64_MAX << (seq & 63);
		if (end - word < 64)
			valid &= (UINT64_C(1) << (end - word)) - 1;
		loss_word(t, f, word, UINT64_MAX, valid);
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
			loss_beyond(t, f, f->base + size, base, base);
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

bool track_loss_reached(const struct track_flow *f, uint64_t pos)
{
	uint64_t end = track_loss_end(f), seq = pos * f->sched.repeat;

	/* The first packet does, unless its lane ended long before another. */
	for (; seq < end; seq += f->period) {
		for (uint64_t k = 0; k < f->sched.repeat && seq + k < end; k++) {
			if (!track_loss_unsent(f, seq + k))
				return true;
		}
		if (f->period > PROBE_SEQ_MAX)
			break;
	}
	return false;
}

void track_loss_finish(struct track *t, struct track_flow *f)
{
	uint64_t end = track_loss_end(f), window_end = f->base + (UINT64_C(1) << t->window_bits);

	loss_settle(t, f, end < window_end ? end : window_end);
	/* If there is more, nothing of it came, so lanes were told and sent it. */
	if (end > window_end)
		loss_beyond(t, f, window_end, end, loss_all_sent(f));
	for (uint64_t pos = 0; f->cyclic && pos < f->nr_slots; pos++)
		loss_close(f, pos);
}
