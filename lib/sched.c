// SPDX-License-Identifier: GPL-2.0-or-later
#include "sched.h"

#include <errno.h>
#include <inttypes.h>

#include "err.h"

#define NS_PER_S UINT64_C(1000000000)

typedef unsigned __int128 u128;

int sched_init(struct sched *s, enum sched_order order, uint64_t n, uint64_t seed, uint32_t shard,
	       uint32_t nr_shards, uint32_t repeat, uint64_t rate_pps, uint64_t total,
	       struct err *err)
{
	if (!n)
		return err_set(err, -EINVAL, "the set of destinations is empty: add some");
	if (!nr_shards || nr_shards > 255)
		return err_set(err, -EINVAL, "%" PRIu32 " shards: give 1 to 255", nr_shards);
	if (shard >= nr_shards)
		return err_set(err, -EINVAL,
			       "shard %" PRIu32 " of %" PRIu32
			       ": shards are numbered 0 to %" PRIu32,
			       shard, nr_shards, nr_shards - 1);
	if (shard >= n)
		return err_set(err, -EINVAL,
			       "shard %" PRIu32 " of %" PRIu32 " has none of the %" PRIu64
			       " destinations: use at most %" PRIu64 " shards",
			       shard, nr_shards, n, n);
	if (!repeat)
		return err_set(err, -EINVAL, "0 packets for each visit: give at least 1");
	*s = (struct sched){ .order = order, .n = n, .shard = shard, .nr_shards = nr_shards,
			     .n_shard = (n - shard - 1) / nr_shards + 1, .repeat = repeat,
			     .rate_pps = rate_pps, .total = total };
	perm_init(&s->perm, n, seed);
	return 0;
}

void sched_slot(const struct sched *s, uint64_t seq, struct sched_slot *slot)
{
	uint64_t visit = seq, nth = 0, pass = 0, position;

	/* Receivers ask for every packet: spare them the divisions of the common cases. */
	if (s->repeat != 1) {
		visit = seq / s->repeat;
		nth = seq % s->repeat;
	}
	if (visit >= s->n_shard) {
		pass = visit / s->n_shard;
		visit %= s->n_shard;
	}
	position = s->shard + s->nr_shards * visit;
	slot->index = s->order == SCHED_PERMUTE ? perm_at(&s->perm, position) : position;
	slot->occurrence = pass * s->repeat + nth;
	slot->first_seq = visit * s->repeat;
}

uint64_t sched_occurrences(const struct sched *s, uint64_t first_seq)
{
	u128 pass = (u128)s->n_shard * s->repeat;
	uint64_t whole = (uint64_t)(s->total / pass) * s->repeat;
	uint64_t rest = (uint64_t)(s->total % pass);

	if (rest <= first_seq)
		return whole;
	rest -= first_seq;
	return whole + (rest < s->repeat ? rest : s->repeat);
}

uint64_t sched_distinct(const struct sched *s)
{
	uint64_t visits = s->total / s->repeat + !!(s->total % s->repeat);

	return visits < s->n_shard ? visits : s->n_shard;
}

uint64_t sched_due_ns(const struct sched *s, uint64_t seq)
{
	if (!s->rate_pps)
		return 0;
	if (s->rate_pps <= UINT64_MAX / NS_PER_S) /* no product below can overflow */
		return seq / s->rate_pps * NS_PER_S + seq % s->rate_pps * NS_PER_S / s->rate_pps;
	return (uint64_t)((u128)seq * NS_PER_S / s->rate_pps);
}

uint64_t sched_revisit_ns(const struct sched *s)
{
	u128 seconds, rest;
	u128 packets = (u128)s->n_shard * s->repeat;

	if (!s->rate_pps)
		return 0;
	seconds = packets / s->rate_pps;
	rest = packets % s->rate_pps;
	if (seconds > UINT64_MAX / NS_PER_S - 1)
		return UINT64_MAX;
	return (uint64_t)(seconds * NS_PER_S + rest * NS_PER_S / s->rate_pps);
}
