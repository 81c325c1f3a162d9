// SPDX-License-Identifier: GPL-2.0-or-later
/* How fast and how much a stream sends: rate, ramp, groups, new destinations, count, start. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

typedef unsigned long long ull;
typedef unsigned __int128 u128;

#define NS 1000000000u
#define NEW_MAX UINT64_MAX /* "max", until the rate is known */

static const char *const layers[] = { [SCENARIO_NO_LAYER] = "", [SCENARIO_L1] = "l1",
				      [SCENARIO_L2] = "l2", NULL };

static const struct scenario_field fields[] = {
	FIELD_INT("rate_bps", U64, struct scenario_stream, rate_bps, 1, SCENARIO_BPS_MAX),
	FIELD_REAL("rate_percent", struct scenario_stream, rate_percent, 0.000001, 100.0),
	FIELD_INT("speed_bps", U64, struct scenario_stream, speed_bps, 1, SCENARIO_BPS_MAX),
	FIELD_INT("group_pkts", U32, struct scenario_stream, group, 1, RATE_GROUP_MAX),
	FIELD_INT("count", U64, struct scenario_stream, count, 1, SCENARIO_COUNT_MAX),
	FIELD_REAL("start_s", struct scenario_stream, start_s, 0.0, SCENARIO_DURATION_MAX),
	{ 0 },
};

static const struct scenario_field ramp_fields[] = {
	FIELD_INT("to_pps", U64, struct scenario_stream, ramp_to_pps, 1, SCENARIO_RATE_MAX),
	FIELD_INT("steps", U32, struct scenario_stream, ramp_steps, 2, RATE_STEPS_MAX),
	{ 0 },
};

/* --- bind -------------------------------------------------------------------------------------- */

/* A rate, or "max". */
static int bind_rate(const struct conf *map, const char *key, uint64_t min, uint64_t max_is,
		     uint64_t *rate, struct err *err)
{
	if (!scenario_is_word(conf_get(map, key), "max"))
		return conf_u64(map, key, min, SCENARIO_RATE_MAX, rate, err);
	*rate = max_is;
	return 0;
}

static int bind_layer(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int layer = SCENARIO_NO_LAYER, ret;

	ret = conf_enum(map, "rate_layer", layers + 1, &layer, err);
	if (!ret && conf_get(map, "rate_layer"))
		st->rate_layer = (enum scenario_layer)(layer + 1);
	return ret;
}

int scenario_rate_bind(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	int ret;

	st->group = 1;
	st->new_destinations_per_s = NEW_MAX;
	ret = scenario_bind_fields(map, fields, st, err);
	if (!ret)
		ret = bind_layer(st, map, err);
	if (!ret)
		ret = bind_rate(map, "rate_pps", 1, 0, &st->rate_pps, err);
	if (!ret)
		ret = bind_rate(map, "new_destinations_per_s", 0, NEW_MAX,
				&st->new_destinations_per_s, err);
	return ret ? ret : scenario_bind_group(map, "ramp", ramp_fields, st, err);
}

/* --- the rate, however given ------------------------------------------------------------------- */

/* A key that says nothing without another. */
static int check_pair(const struct conf *map, const char *key, const char *with, const char *why,
		      const char *example, struct err *err)
{
	const struct conf *has = conf_get(map, key), *needs = conf_get(map, with);

	if (has && !needs)
		return conf_err(has, err, -EINVAL, "%s belongs to %s; remove it or give both", key,
				with);
	if (needs && !has)
		return conf_err(needs, err, -EINVAL, "%s is missing; %s, as in %s", key, why,
				example);
	return 0;
}

/* Packets/s that make @bits/s (times 10^-@scale) of frames with @extra bytes around each. */
static u128 packets(const struct scenario_stream *st, u128 bits, u128 scale, uint32_t extra)
{
	uint64_t bytes = 0, weights = 0;

	for (uint32_t i = 0; i < st->nr_sizes; i++) {
		bytes += (uint64_t)st->sizes[i].weight * (st->sizes[i].bytes + extra);
		weights += st->sizes[i].weight;
	}
	return bits * weights / (scale * 8 * bytes);
}

/* From bits or percent. */
static int derive_rate(struct scenario_stream *st, const struct conf *map, const char *key,
		       struct err *err)
{
	u128 pps;

	if (st->replay)
		return conf_err(conf_get(map, key), err, -EINVAL,
				"%s needs sizes that are known, and "
				"those of replay are not; give rate_pps", key);
	if (st->rate_bps)
		pps = packets(st, st->rate_bps, 1, st->rate_layer == SCENARIO_L1 ? FRAME_L1 : 0);
	else /* percent in millionths */
		pps = packets(st, (u128)st->speed_bps * (uint64_t)llround(st->rate_percent * 1e6),
			      100 * 1000000u, FRAME_L1);
	if (!pps || pps > SCENARIO_RATE_MAX)
		return conf_err(conf_get(map, key), err, -EINVAL,
				"%s makes %llu packets/s; %s it to get "
				"1 to %llu", key, (ull)pps, pps ? "lower" : "raise",
				(ull)SCENARIO_RATE_MAX);
	st->rate_pps = (uint64_t)pps;
	return 0;
}

static int check_rate(struct scenario_stream *st, const struct conf *map, struct err *err)
{
	static const char *const ways[] = { "rate_pps", "rate_bps", "rate_percent" };
	const char *key = NULL;
	int ret;

	for (int i = 0; i < 3; i++) {
		const struct conf *c = conf_get(map, ways[i]);

		if (c && key)
			return conf_err(c, err, -EINVAL, "%s and %s are both given; remove one",
					key,
					ways[i]);
		key = c ? ways[i] : key;
	}
	if (!key)
		return scenario_missing(map, err, "rate_pps",
					"say how fast, in packets/s, as in rate_pps: 15k");
	ret = check_pair(map, "rate_layer", "rate_bps", "say which bits count", "rate_layer: l1",
			 err);
	if (!ret)
		ret = check_pair(map, "speed_bps", "rate_percent", "say of what", "speed_bps: 10G",
				 err);
	return ret || key == ways[0] ? ret : derive_rate(st, map, key, err);
}

/* --- what hangs on it -------------------------------------------------------------------------- */

/* The divisor of @n that is nearest to @to, and the lesser of two. */
static uint64_t nearest_divisor(uint64_t n, uint64_t to)
{
	uint64_t best = 1;

	for (uint64_t d = 1; d * d <= n; d++) {
		const uint64_t pair[] = { d, n / d };

		if (n % d)
			continue;
		for (int i = 0; i < 2; i++) {
			uint64_t gap = pair[i] > to ? pair[i] - to : to - pair[i];
			uint64_t best_gap = best > to ? best - to : to - best;

			if (gap < best_gap || (gap == best_gap && pair[i] < best))
				best = pair[i];
		}
	}
	return best;
}

/* Packets in a row for each destination. */
static int check_repeat(const struct conf *c, struct scenario_stream *st, struct err *err)
{
	uint64_t rate = st->rate_pps, new = st->new_destinations_per_s;

	if (!new)
		return conf_err(c, err, -EINVAL,
				"new_destinations_per_s 0 is for order window only; raise "
				"it, or make it max");
	if (rate % new)
		return conf_err(c, err, -EINVAL, "new_destinations_per_s %llu does not divide "
				"rate_pps %llu; the nearest that does is %llu", (ull)new, (ull)rate,
				(ull)nearest_divisor(rate, new));
	st->repeat = (uint32_t)(rate / new);
	return 0;
}

static int check_new(const struct conf *map, struct scenario_stream *st, struct err *err)
{
	const struct conf *c = scenario_at(map, "new_destinations_per_s");
	uint64_t rate = st->rate_pps, new = st->new_destinations_per_s;

	st->repeat = 1;
	if (!sched_is_cyclic(st->order) && st->order != SCHED_WINDOW) {
		st->new_destinations_per_s = 0;
		return c == map ? 0 : conf_err(c, err, -EINVAL,
					       "new_destinations_per_s says nothing where "
					       "the order is random; remove it or change the order");
	}
	if (!rate && new != NEW_MAX)
		return conf_err(c, err, -EINVAL,
				"new_destinations_per_s needs a rate_pps that is a "
				"number; make it max too");
	if (new == NEW_MAX)
		st->new_destinations_per_s = new = rate;
	if (new > rate)
		return conf_err(c, err, -EINVAL,
				"new_destinations_per_s %llu is above rate_pps %llu; "
				"each destination needs a packet: lower it, or make it max", (ull)new,
				(ull)rate);
	return !rate || st->order == SCHED_WINDOW ? 0 : check_repeat(c, st, err);
}

/* What has no meaning where the port sets the pace. */
static int check_max(const struct conf *map, const struct scenario_stream *st, struct err *err)
{
	static const char *const timed[] = { "ramp", "group_pkts" };

	for (int i = 0; i < 2 && !st->rate_pps; i++) {
		const struct conf *c = conf_get(map, timed[i]);

		if (c)
			return conf_err(c, err, -EINVAL, "%s needs a rate_pps that is a number",
					timed[i]);
	}
	if (!st->rate_pps && st->order == SCHED_WINDOW)
		return conf_err(conf_get(map, "order"), err, -EINVAL,
				"order window needs a rate_pps that is a number");
	return 0;
}

static int check_ramp(const struct conf *map, struct scenario_stream *st, struct err *err)
{
	const struct conf *ramp = conf_get(map, "ramp");

	if (!ramp) {
		st->ramp_to_pps = st->rate_pps;
		st->ramp_steps = 1;
		return 0;
	}
	if (!st->ramp_to_pps)
		return scenario_missing(ramp, err, "to_pps",
					"say where the ramp ends, as in to_pps: 100k");
	if (!st->ramp_steps)
		return scenario_missing(ramp, err, "steps", "say in how many, as in steps: 10");
	return 0;
}

/* --- count ------------------------------------------------------------------------------------- */

/* In whole nanoseconds, so that 0.1 s at 30/s are 3 packets and not 2.9999. */
static uint64_t ns_of(double seconds)
{
	return (uint64_t)llround(seconds * 1e9);
}

uint64_t scenario_rate_step_ns(const struct scenario *s, const struct scenario_stream *st)
{
	return (ns_of(s->duration_s) - ns_of(st->start_s)) / st->ramp_steps;
}

/* Packets that the rate makes from the stream's start to the scenario's end. */
static int most(const struct scenario *s, const struct scenario_stream *st,
		const struct conf *map, u128 *n, struct err *err)
{
	uint64_t step_ns = scenario_rate_step_ns(s, st), last = st->ramp_steps - 1;
	uint64_t rest_ns = ns_of(s->duration_s) - ns_of(st->start_s) - last * step_ns;
	struct err why = { "" };
	struct rate rate;
	int ret = rate_init(&rate, st->rate_pps, st->ramp_to_pps, st->ramp_steps, step_ns,
			    st->group,
			    &why);

	if (ret)
		return conf_err(scenario_at(map, st->ramp_steps > 1 ? "ramp" : "rate_pps"), err,
				ret, "%s",
				why.text);
	*n = rate.step_first[last] + (u128)st->ramp_to_pps * rest_ns / NS;
	return 0;
}

/* How much is sent: each number is checked against the two others. */
static int check_count(const struct scenario *s, const struct conf *map,
		       struct scenario_stream *st, struct err *err)
{
	const struct conf *rate = scenario_at(map, "rate_pps");
	double time_s = s->duration_s - st->start_s;
	u128 n;
	int ret;

	if (!st->rate_pps) {
		if (!st->count)
			st->count = SCENARIO_COUNT_MAX;
		return 0;
	}
	ret = most(s, st, map, &n, err);
	if (ret)
		return ret;
	if (!n)
		return conf_err(rate, err, -EINVAL,
				"rate_pps %llu makes no packet in duration_s %.10g; "
				"raise one of them", (ull)st->rate_pps, time_s);
	if (n > SCENARIO_COUNT_MAX)
		return conf_err(rate, err, -EINVAL,
				"rate_pps %llu for duration_s %.10g is more than 2^48 "
				"packets; lower one of them", (ull)st->rate_pps, time_s);
	if (st->count > n)
		return conf_err(scenario_at(map, "count"), err, -EINVAL,
				"count %llu does not fit into "
				"duration_s %.10g at rate_pps %llu; that makes %llu", (ull)st->count,
				time_s, (ull)st->rate_pps, (ull)n);
	if (!st->count)
		st->count = (uint64_t)n;
	return 0;
}

int scenario_rate_check(const struct scenario *s, struct scenario_stream *st,
			const struct conf *map, struct err *err)
{
	int ret = check_rate(st, map, err);

	if (!ret)
		ret = check_max(map, st, err);
	if (!ret)
		ret = check_new(map, st, err);
	if (!ret)
		ret = check_ramp(map, st, err);
	if (!ret && ns_of(st->start_s) >= ns_of(s->duration_s))
		ret = conf_err(conf_get(map, "start_s"), err, -EINVAL,
			       "start_s %.10g is not before the "
			       "end, duration_s %.10g; lower it", st->start_s, s->duration_s);
	return ret ? ret : check_count(s, map, st, err);
}
