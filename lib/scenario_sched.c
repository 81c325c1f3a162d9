// SPDX-License-Identifier: GPL-2.0-or-later
/* The schedule of a stream, as a whole or shared by several generators. */
#include <errno.h>

#include "lib/err.h"
#include "lib/scenario_parts.h"

/* The part of @n that belongs to @shard: the first shards take what does not divide. */
static uint64_t share(uint64_t n, uint32_t shard, uint32_t nr_shards)
{
	return n / nr_shards + (shard < n % nr_shards);
}

/* Visits stay whole. The shard whose turn it is after the last full one takes the begun one. */
static uint64_t share_count(const struct scenario_stream *st, uint32_t shard, uint32_t nr_shards)
{
	uint64_t visits = st->count / st->repeat;
	uint64_t total = share(visits, shard, nr_shards) * st->repeat;

	return total + (shard == visits % nr_shards ? st->count % st->repeat : 0);
}

/* -EINVAL if a number of the stream is too small for so many shards. */
static int check_shares(const struct scenario_stream *st, uint32_t nr_shards, struct err *err)
{
	const struct {
		const char *key;
		uint64_t n;
	} shared[] = {
		{ "rate_pps", st->rate_pps },
		{ "ramp.to_pps", st->ramp_to_pps },
		{ "window", st->order == SCHED_WINDOW ? st->window : 0 },
	};

	for (int i = 0; i < 3; i++)
		if (shared[i].n && shared[i].n < nr_shards)
			return err_set(err, -EINVAL,
				       "%s %llu cannot be shared by %u shards; raise it",
				       shared[i].key, (unsigned long long)shared[i].n, nr_shards);
	/* Else the groups of the shards would drift apart. */
	if (st->group > 1 && (st->group % nr_shards || st->rate_pps % nr_shards ||
			      st->ramp_to_pps % nr_shards))
		return err_set(err, -EINVAL, "%u shards cannot share groups of %u packets at %llu "
			       "packets/s; group_pkts and the rates must be multiples of %u", nr_shards,
			       st->group, (unsigned long long)st->rate_pps, nr_shards);
	return 0;
}

int scenario_sched(const struct scenario *s, uint32_t i, uint32_t shard, uint32_t nr_shards,
		   struct sched *out, struct err *err)
{
	const struct scenario_stream *st;
	struct sched_conf conf;
	uint32_t group;
	int ret;

	if (i >= s->nr_streams)
		return err_set(err, -EINVAL, "there is no stream %u", i);
	st = &s->streams[i];
	if (!nr_shards || shard >= nr_shards)
		return err_set(err, -EINVAL, "shard %u of %u does not exist; shards count from 0",
			       shard, nr_shards);
	ret = check_shares(st, nr_shards, err);
	if (ret)
		return ret;
	conf = (struct sched_conf){
		.order = st->order,
		.n = addrset_count(&st->destinations),
		.seed = s->seed,
		.shard = shard,
		.nr_shards = nr_shards,
		.repeat = st->repeat,
		.total = share_count(st, shard, nr_shards),
		.stride = st->stride,
		.window = share(st->window, shard, nr_shards),
		.new_pps = share(st->new_destinations_per_s, shard, nr_shards),
		.zipf_s = st->zipf_s,
		.hot_packets = st->hot_packets,
		.hot_destinations = st->hot_destinations,
	};
	group = st->group > 1 ? st->group / nr_shards : 1;
	ret = rate_init(&conf.rate, share(st->rate_pps, shard, nr_shards),
			share(st->ramp_to_pps, shard, nr_shards), st->ramp_steps,
			scenario_rate_step_ns(s, st), group, err);
	return ret ? ret : sched_init(out, &conf, err);
}
