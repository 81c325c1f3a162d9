// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load, check, schedule. Unknown keys are refused while binding, before anything is missed: a slip
 * of the pen is told as such, not as the absence of what was meant.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/scenario_parts.h"

#define NAME_LEN_MAX 64u

static const char *const kernels[] = { "debian-6.1", "debian-6.12", NULL };

scenario_pcap_fn *scenario_pcap;

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while reading the scenario");
}

/* Where errors about member @key of @map point: at it, or at the map if it is absent. */
static const struct conf *at(const struct conf *map, const char *key)
{
	const struct conf *c = map ? conf_get(map, key) : NULL;

	return c ? c : map;
}

static int missing(const struct conf *map, struct err *err, const char *key, const char *remedy)
{
	return conf_err(map, err, -EINVAL, "%s is missing; %s", key, remedy);
}

/* --- check ------------------------------------------------------------------------------------- */

/* Names become directory names. */
static int check_name(const struct conf *map, const char *name, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (!name)
		return missing(map, err, "name", "give one, as in name: my-test");
	if (*name && *name != '.' && *name != '-' && strlen(name) <= NAME_LEN_MAX &&
	    name[strspn(name, allowed)] == '\0')
		return 0;
	return conf_err(at(map, "name"), err, -EINVAL,
			"name is \"%.80s\"; it must be 1 to %u of A-Z a-z 0-9 . _ - and begin with a "
			"letter, a digit or _", name, NAME_LEN_MAX);
}

static int check_kernel(const struct conf *dut, const char *kernel, struct err *err)
{
	const char *near = conf_nearest(kernel, kernels);

	if (strchr(kernel, '/'))
		return 0;
	for (int i = 0; kernels[i]; i++)
		if (strcmp(kernel, kernels[i]) == 0)
			return 0;
	return conf_err(at(dut, "kernel"), err, -EINVAL,
			"kernel is \"%.60s\"; it must be debian-6.1, debian-6.12 or the path of a "
			"bzImage with a / in it%s%s%s", kernel, near ? "; did you mean " : "",
			near ? near : "", near ? "?" : "");
}

static int check_dut(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	const struct conf *dut = at(s->conf, "dut");
	const struct conf *out = at(dut, "out_address");
	uint64_t mask;
	int ret = check_kernel(dut, s->kernel, err);

	s->nr_in = s->nr_out = 1;
	s->in[0].family = s->out[0].family = AF_INET;
	if (!ret)
		ret = scenario_addr_host(at(dut, "in_address"), "in_address", s->in[0].text, allow,
					 &s->in[0].a, &s->in[0].len, err);
	if (!ret)
		ret = scenario_addr_host(out, "out_address", s->out[0].text, allow, &s->out[0].a,
					 &s->out[0].len, err);
	if (ret)
		return ret;
	mask = ~UINT64_C(0) << (32 - (s->in[0].len < s->out[0].len ? s->in[0].len : s->out[0].len));
	if ((s->in[0].a.lo & mask) == (s->out[0].a.lo & mask))
		return conf_err(out, err, -EINVAL, "out_address %s and in_address %s share a prefix; "
				"nothing would be forwarded between them", s->out[0].text, s->in[0].text);
	return 0;
}

static int check_gen(const struct scenario *s, struct err *err)
{
	if (s->burst >= 2 * s->lanes)
		return 0;
	return conf_err(at(at(s->conf, "gen"), "burst"), err, -EINVAL,
			"burst is %u; with %u lanes it must be from %u to %u", s->burst, s->lanes,
			2 * s->lanes, SCENARIO_BURST_MAX);
}

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
static int check_repeat(const struct conf *map, struct scenario_stream *st, struct err *err)
{
	const struct conf *c = at(map, "new_destinations_per_s");
	unsigned long long rate = st->rate_pps, new = st->new_destinations_per_s;

	st->repeat = 1;
	if (!rate && new)
		return conf_err(c, err, -EINVAL, "new_destinations_per_s needs a rate_pps that is a "
				"number; make it max too");
	if (!new)
		st->new_destinations_per_s = new = rate;
	if (new > rate)
		return conf_err(c, err, -EINVAL, "new_destinations_per_s %llu is above rate_pps %llu; "
				"each destination needs a packet: lower it, or make it max", new, rate);
	if (!rate)
		return 0;
	if (rate % new)
		return conf_err(c, err, -EINVAL, "new_destinations_per_s %llu does not divide "
				"rate_pps %llu; the nearest that does is %llu", new, rate,
				(unsigned long long)nearest_divisor(rate, new));
	st->repeat = (uint32_t)(rate / new);
	return 0;
}

/* How much is sent: each number is checked against the two others. */
static int check_count(const struct conf *map, struct scenario_stream *st, double duration_s,
		       struct err *err)
{
	/* In whole nanoseconds, so that 0.1 s at 30/s are 3 packets and not 2.9999. */
	unsigned __int128 duration_ns = (uint64_t)llround(duration_s * 1e9);
	uint64_t most = (uint64_t)(st->rate_pps * duration_ns / 1000000000u);

	if (!st->rate_pps) {
		if (!st->count)
			st->count = SCENARIO_COUNT_MAX;
		return 0;
	}
	if (!most)
		return conf_err(at(map, "rate_pps"), err, -EINVAL, "rate_pps %llu makes no packet in "
				"duration_s %.10g; raise one of them",
				(unsigned long long)st->rate_pps, duration_s);
	if (most > SCENARIO_COUNT_MAX)
		return conf_err(at(map, "rate_pps"), err, -EINVAL, "rate_pps %llu for duration_s %.10g "
				"is more than 2^48 packets; lower one of them",
				(unsigned long long)st->rate_pps, duration_s);
	if (st->count > most)
		return conf_err(at(map, "count"), err, -EINVAL, "count %llu does not fit into "
				"duration_s %.10g at rate_pps %llu; that makes %llu",
				(unsigned long long)st->count, duration_s,
				(unsigned long long)st->rate_pps, (unsigned long long)most);
	if (!st->count)
		st->count = most;
	return 0;
}

static int check_stream_sets(const struct scenario *s, const struct conf *map,
			     struct scenario_stream *st, const struct scenario_allow *allow,
			     struct err *err)
{
	int ret = scenario_addr_check(map, "destinations", &st->destinations, allow, err);

	if (!ret)
		ret = scenario_addr_check(map, "sources", &st->sources, allow, err);
	if (!ret)
		ret = scenario_addr_not_dut(map, "sources", &st->sources, s->in[0].a, "in_address", err);
	if (!ret)
		ret = scenario_addr_not_dut(map, "sources", &st->sources, s->out[0].a, "out_address", err);
	return ret;
}

static int check_stream(const struct scenario *s, const struct conf *map,
			struct scenario_stream *st, const struct scenario_allow *allow, struct err *err)
{
	int ret = check_name(map, st->name, err);

	if (ret)
		return ret;
	if (!conf_get(map, "rate_pps"))
		return missing(map, err, "rate_pps", "say how fast, in packets/s, as in rate_pps: 15k");
	ret = check_repeat(map, st, err);
	if (!ret)
		ret = check_count(map, st, s->duration_s, err);
	return ret ? ret : check_stream_sets(s, map, st, allow, err);
}

static int check_all(struct scenario *s, const struct scenario_allow *allow, struct err *err)
{
	const struct conf *streams = conf_get(s->conf, "streams");
	int ret = check_name(s->conf, s->name, err);

	if (ret)
		return ret;
	if (s->duration_s <= 0)
		return missing(s->conf, err, "duration_s", "a flood needs an end, as in duration_s: 20");
	if (!s->nr_streams)
		return missing(streams ? streams : s->conf, err, "streams",
			       "a scenario needs one, as in configs/many-destinations.yaml");
	ret = check_dut(s, allow, err);
	if (!ret)
		ret = check_gen(s, err);
	return ret ? ret : check_stream(s, streams->child, &s->streams[0], allow, err);
}

/* --- life -------------------------------------------------------------------------------------- */

static int set_defaults(struct scenario *s)
{
	s->seed = 1;
	s->lanes = 1;
	s->answer_ratio = 1.0;
	s->answer_probe = 1;
	s->memory_mb = 1024;
	s->cpus = 1;
	s->kernel = strdup(kernels[0]);
	s->cmdline = strdup("");
	s->in[0].text = strdup("198.18.0.1/16");
	s->out[0].text = strdup("198.19.0.1/16");
	return s->kernel && s->cmdline && s->in[0].text && s->out[0].text ? 0 : -ENOMEM;
}

/* One sealed set for each family that @from allows. */
static int read_allowed(struct scenario_allow *allow, const struct scenario_source *from,
			struct err *err)
{
	int ret = 0;

	addrset_init(&allow->ipv4);
	addrset_init(&allow->ipv6);
	for (unsigned int i = 0; i < from->nr_allow && !ret; i++)
		ret = addrset_add(strchr(from->allow[i], ':') ? &allow->ipv6 : &allow->ipv4,
				  from->allow[i], err);
	if (!ret && allow->ipv4.nr_ranges)
		ret = addrset_seal(&allow->ipv4, err);
	if (!ret && allow->ipv6.nr_ranges)
		ret = addrset_seal(&allow->ipv6, err);
	return ret ? err_wrap(err, ret, "--allow") : 0;
}

static int load(struct scenario *s, const struct scenario_source *from,
		const struct scenario_allow *allow, struct err *err)
{
	int ret = 0;

	if (set_defaults(s))
		return no_memory(err);
	s->conf = from->text ? conf_parse(from->text, strlen(from->text), from->path, err) :
			       conf_load(from->path, err);
	if (!s->conf)
		return -EINVAL;
	for (unsigned int i = 0; i < from->nr_overrides && !ret; i++)
		ret = conf_set(s->conf, from->overrides[i], err);
	if (!ret)
		ret = scenario_bind(s, err);
	if (!ret && !s->burst)
		s->burst = s->lanes > 32 ? 2 * s->lanes : 64;
	return ret ? ret : check_all(s, allow, err);
}

int scenario_load(struct scenario *s, const struct scenario_source *from, struct err *err)
{
	struct scenario_allow allow;
	int ret;

	memset(s, 0, sizeof(*s));
	ret = read_allowed(&allow, from, err);
	if (!ret)
		ret = load(s, from, &allow, err);
	if (ret)
		scenario_free(s);
	addrset_free(&allow.ipv4);
	addrset_free(&allow.ipv6);
	return ret;
}

static void free_pairs(struct scenario_pair *pairs, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		free(pairs[i].key);
		free(pairs[i].value);
	}
	free(pairs);
}

void scenario_free(struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_streams; i++) {
		free(s->streams[i].name);
		addrset_free(&s->streams[i].destinations);
		addrset_free(&s->streams[i].sources);
		free(s->streams[i].replay);
	}
	free(s->streams);
	free_pairs(s->sysctls, s->nr_sysctls);
	free_pairs(s->requires, s->nr_requires);
	free(s->name);
	free(s->kernel);
	free(s->cmdline);
	for (unsigned int i = 0; i < SCENARIO_HOSTS_MAX; i++) {
		free(s->in[i].text);
		free(s->out[i].text);
	}
	conf_free(s->conf);
	memset(s, 0, sizeof(*s));
}

const struct scenario_host *scenario_in(const struct scenario *s, int family)
{
	for (uint32_t i = 0; i < s->nr_in; i++)
		if (s->in[i].family == family)
			return &s->in[i];
	return NULL;
}

/* --- schedule ---------------------------------------------------------------------------------- */

/* The part of @n that belongs to @shard: the first shards take what does not divide. */
static uint64_t share(uint64_t n, uint32_t shard, uint32_t nr_shards)
{
	return n / nr_shards + (shard < n % nr_shards);
}

int scenario_sched(const struct scenario *s, uint32_t i, uint32_t shard, uint32_t nr_shards,
		   struct sched *out, struct err *err)
{
	const struct scenario_stream *st;
	uint64_t visits, total, rate;
	struct sched_conf conf;
	int ret;

	if (i >= s->nr_streams)
		return err_set(err, -EINVAL, "there is no stream %u", i);
	st = &s->streams[i];
	if (!nr_shards || shard >= nr_shards)
		return err_set(err, -EINVAL, "shard %u of %u does not exist; shards count from 0",
			       shard, nr_shards);
	if (st->rate_pps && st->rate_pps < nr_shards)
		return err_set(err, -EINVAL, "rate_pps %llu cannot be shared by %u shards; raise it",
			       (unsigned long long)st->rate_pps, nr_shards);
	visits = st->count / st->repeat;
	total = share(visits, shard, nr_shards) * st->repeat;
	if (shard == visits % nr_shards)
		total += st->count % st->repeat;
	rate = share(st->rate_pps, shard, nr_shards);
	conf = (struct sched_conf){ .order = st->order, .n = addrset_count(&st->destinations),
				    .seed = s->seed, .shard = shard, .nr_shards = nr_shards,
				    .repeat = st->repeat, .total = total };
	ret = rate_init(&conf.rate, rate, rate, 1, 0, 1, err);
	return ret ? ret : sched_init(out, &conf, err);
}
