// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bursts of the schedule. What sched_index() finds by dividing is found once here and carried from
 * packet to packet; the arithmetic is the same to the bit.
 */
#include "sched_parts.h"

#include "simd.h"

/* Packets between one division and the next. */
#define FILL_BLOCK 256u

typedef sched_u128 u128;

/* --- cyclic orders ---------------------------------------------------------------------------- */

/* Whether the visits of a burst are an arithmetic progression that no end of a pass interrupts. */
static bool visits_run(const struct sched *s, uint64_t visit, uint64_t step, unsigned int nr)
{
	return s->repeat == 1 && visit + (u128)step * nr < s->n_shard;
}

/* Positions, wherever passes end and however long visits are. */
static void positions_any(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *out,
			  unsigned int nr)
{
	uint64_t visit = seq / s->repeat % s->n_shard, nth = seq % s->repeat;
	uint64_t visit_step = step / s->repeat % s->n_shard, nth_step = step % s->repeat;

	for (unsigned int i = 0; i < nr; i++) {
		out[i] = s->shard + s->nr_shards * visit;
		visit = sched_add(visit, visit_step, s->n_shard);
		nth += nth_step;
		if (nth >= s->repeat) {
			nth -= s->repeat;
			visit = visit + 1 == s->n_shard ? 0 : visit + 1;
		}
	}
}

static void positions(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *out,
		      unsigned int nr)
{
	uint64_t visit = seq % s->n_shard, first, by;

	if (!visits_run(s, visit, step, nr)) {
		positions_any(s, seq, step, out, nr);
		return;
	}
	first = s->shard + s->nr_shards * visit;
	by = s->nr_shards * step;
	for (unsigned int i = 0; i < nr; i++)
		out[i] = first + i * by;
}

/* --- window ----------------------------------------------------------------------------------- */

/*
 * slides = (seq * slide) / per with the remainder; back = slides mod n_shard, where the window
 * begins; ahead = (seq - slides) mod window, how far in it the packet's position is.
 */
static void window_positions(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *out,
			     unsigned int nr)
{
	u128 product = (u128)seq * s->slide, product_step = (u128)step * s->slide;
	uint64_t slides = (uint64_t)(product / s->per), rest = (uint64_t)(product % s->per);
	uint64_t slides_step = (uint64_t)(product_step / s->per);
	uint64_t rest_step = (uint64_t)(product_step % s->per);
	uint64_t back = slides % s->n_shard, back_step = slides_step % s->n_shard;
	uint64_t ahead = (seq - slides) % s->window, ahead_step = (step - slides_step) % s->window;

	for (unsigned int i = 0; i < nr; i++) {
		bool carry = rest >= s->per - rest_step;

		out[i] = s->shard + s->nr_shards * (ahead >= s->n_shard - back ?
							    ahead - (s->n_shard - back) :
							    ahead + back);
		rest += rest_step - (carry ? s->per : 0);
		back = sched_add(back, back_step, s->n_shard);
		ahead = sched_add(ahead, ahead_step, s->window);
		if (carry) {
			back = back + 1 == s->n_shard ? 0 : back + 1;
			ahead = ahead ? ahead - 1 : s->window - 1;
		}
	}
}

/* --- all orders ------------------------------------------------------------------------------- */

static void hashes(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *out,
		   unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		out[i] = sched_hash(s, seq + i * step);
}

static void zipf_places(const struct sched *s, uint64_t *at, unsigned int nr)
{
	uint64_t rank[FILL_BLOCK];

	zipf_fill(&s->zipf, at, rank, nr);
	for (unsigned int i = 0; i < nr; i++)
		at[i] = (rank[i] ? rank[i] : sched_zipf_again(&s->zipf, at[i])) - 1;
}

/* Indices before the permutation. @nr: at most FILL_BLOCK. */
static void places(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *at,
		   unsigned int nr)
{
	if (s->order == SCHED_WINDOW)
		window_positions(s, seq, step, at, nr);
	else if (sched_is_cyclic(s->order))
		positions(s, seq, step, at, nr);
	else
		hashes(s, seq, step, at, nr);

	if (s->order == SCHED_STRIDE)
		for (unsigned int i = 0; i < nr; i++)
			at[i] = sched_stride_at(s, at[i]);
	else if (s->order == SCHED_UNIFORM)
		for (unsigned int i = 0; i < nr; i++)
			at[i] = sched_scale(at[i], s->n);
	else if (s->order == SCHED_HOT)
		for (unsigned int i = 0; i < nr; i++)
			at[i] = sched_hot_place(s, at[i]);
	else if (s->order == SCHED_ZIPF)
		zipf_places(s, at, nr);
}

void sched_fill64(const struct sched *s, uint64_t seq, uint64_t step, uint64_t *index,
		  unsigned int nr)
{
	for (unsigned int from = 0, now; from < nr; from += now) {
		now = nr - from < FILL_BLOCK ? nr - from : FILL_BLOCK;
		places(s, seq + from * step, step, index + from, now);
	}
	if (sched_permutes(s))
		perm_fill64(&s->perm, index, index, nr);
}

/* The case that has to be fastest: no division but one, and numbers of 32 bits from the start. */
static bool fill_run32(const struct sched *s, uint64_t seq, uint64_t step, uint32_t *index,
		       unsigned int nr)
{
	uint64_t visit;
	uint32_t first, by = (uint32_t)(s->nr_shards * step);

	if (s->order > SCHED_PERMUTE)
		return false;
	visit = seq < s->n_shard ? seq : seq % s->n_shard;
	if (!visits_run(s, visit, step, nr))
		return false;
	first = (uint32_t)(s->shard + s->nr_shards * visit);
	for (uint32_t i = 0; i < nr; i++)
		index[i] = first + i * by;
	return true;
}

void sched_fill32(const struct sched *s, uint64_t seq, uint64_t step, uint32_t *index,
		  unsigned int nr)
{
	uint64_t at[FILL_BLOCK];

	if (!fill_run32(s, seq, step, index, nr)) {
		for (unsigned int from = 0, now; from < nr; from += now) {
			now = nr - from < FILL_BLOCK ? nr - from : FILL_BLOCK;
			places(s, seq + from * step, step, at, now);
			for (unsigned int i = 0; i < now; i++)
				index[from + i] = (uint32_t)at[i];
		}
	}
	if (sched_permutes(s))
		perm_fill32(&s->perm, index, index, nr);
}
