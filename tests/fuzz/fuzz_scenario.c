// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scenario, and behind a line "====" overrides, one a line. What is refused has one line of
 * reason; what is accepted keeps every promise of scenario.h, and comes back from its own emitted
 * text as the same scenario.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/conf.h"
#include "lib/err.h"
#include "lib/probe.h"
#include "lib/scenario.h"

#define MAX_SETS 16u
#define MARK	 "\n====\n"
#define WALK_MAX 2048u /* visits that are walked one by one */

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			__builtin_trap();                                                          \
	} while (0)

static const char *const allow = "10.0.0.0/24";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in(uint64_t a, uint64_t first, uint64_t last)
{
	return a >= first && a <= last;
}

static unsigned __int128 num(struct addr a)
{
	return (unsigned __int128)a.hi << 64 | a.lo;
}

/* Inside the lab or the one prefix that is allowed here, 10.0.0.0/24: both ends in the same. */
static bool is_lab(int family, const struct addrset_range *r)
{
	uint64_t first = r->first.lo, last = r->last.lo;

	if (family == AF_INET6)
		return r->first.hi >> 16 == 0x200100020000 && r->last.hi >> 16 == 0x200100020000;
	return (in(first, 0xc6120000, 0xc613ffff) && in(last, 0xc6120000, 0xc613ffff)) ||
	       (in(first, 0x0a000000, 0x0a0000ff) && in(last, 0x0a000000, 0x0a0000ff));
}

/* @counted: with indices; else a filter. */
static void check_set(const struct addrset *set, bool counted)
{
	unsigned __int128 count = 0;

	CHECK(set->sealed && set->nr_ranges);
	for (size_t i = 0; i < set->nr_ranges; i++) {
		const struct addrset_range *r = &set->ranges[i];

		CHECK(num(r->first) <= num(r->last) && (!i || num(r->first) > num(r[-1].last) + 1));
		CHECK(is_lab(set->family, r));
		CHECK(!counted || r->first_index == count);
		count += num(r->last) - num(r->first) + 1;
	}
	CHECK(!counted || addrset_count(set) == count);
}

static bool is_safe_name(const char *name)
{
	return *name && *name != '.' && *name != '-' && !strchr(name, '/') && strlen(name) <= 64;
}

static void check_frames(const struct scenario_stream *st)
{
	CHECK(st->shape.family == st->destinations.family && st->shape.nr_vlans <= FRAME_VLANS_MAX);
	CHECK(in(st->nr_sizes, 1, SCENARIO_SIZES_MAX));
	for (uint32_t i = 0; i < st->nr_sizes; i++) {
		CHECK(in(st->sizes[i].bytes, frame_len_min(&st->shape), frame_len_max(&st->shape)));
		CHECK(st->sizes[i].weight && (!i || st->sizes[i].bytes > st->sizes[i - 1].bytes));
	}
	for (uint32_t i = 0; i < st->shape.nr_vlans; i++)
		CHECK(in(st->vlans[i], 1, 4094));
	CHECK(st->ttl && !(st->tos & 3) && st->src_port && st->dst_port);
	CHECK(st->src_port <= st->src_port_last && st->dst_port <= st->dst_port_last);
	CHECK(st->udp_checksum || st->shape.family == AF_INET);
}

static void check_rates(const struct scenario *s, const struct scenario_stream *st)
{
	CHECK(st->rate_pps <= 1000000000 && st->ramp_to_pps <= 1000000000 && st->repeat >= 1);
	CHECK(in(st->ramp_steps, 1, RATE_STEPS_MAX) && in(st->group, 1, RATE_GROUP_MAX));
	CHECK(st->ramp_steps > 1 || st->ramp_to_pps == st->rate_pps);
	CHECK(st->new_destinations_per_s <= st->rate_pps);
	if (sched_is_cyclic(st->order))
		CHECK(st->repeat * st->new_destinations_per_s == st->rate_pps);
	CHECK(st->count >= 1 && st->count <= PROBE_SEQ_MAX + 1);
	CHECK(st->start_s >= 0 && st->start_s < s->duration_s);
	if (st->rate_pps) {
		uint64_t most = st->rate_pps > st->ramp_to_pps ? st->rate_pps : st->ramp_to_pps;

		CHECK((double)st->count <= (double)most * (s->duration_s - st->start_s + 1e-3));
	}
}

static void check_stream(const struct scenario *s, const struct scenario_stream *st)
{
	check_set(&st->destinations, true);
	check_set(&st->sources, true);
	CHECK(st->sources.family == st->destinations.family && is_safe_name(st->name));
	for (uint32_t i = 0; i < s->nr_in; i++)
		CHECK(s->in[i].family != st->sources.family || !addrset_has(&st->sources, s->in[i].a));
	for (uint32_t i = 0; i < s->nr_out; i++)
		CHECK(s->out[i].family != st->sources.family || !addrset_has(&st->sources, s->out[i].a));
	CHECK(scenario_in(s, st->shape.family));
	check_frames(st);
	check_rates(s, st);
}

/* A visit has its place, and gets there again. */
static void check_visits(const struct sched *sc, uint64_t n)
{
	struct sched_slot slot = { 0 }, first;

	for (uint64_t v = 0; v < sc->n_shard && v < WALK_MAX && v * sc->repeat < sc->total; v++) {
		CHECK(sched_index(sc, v * sc->repeat) < n);
		if (!sched_is_cyclic(sc->order))
			continue;
		sched_slot(sc, v * sc->repeat, &slot);
		CHECK(slot.index < n && slot.first_seq == v * sc->repeat && !slot.occurrence);
		sched_slot(sc, slot.first_seq, &first);
		CHECK(first.index == slot.index);
	}
}

/* All shards together intend what the stream does; each visits no destination twice in a pass. */
static void check_schedule(const struct scenario *s, uint32_t i, uint32_t nr_shards)
{
	const struct scenario_stream *st = &s->streams[i];
	uint64_t total = 0, rate = 0, distinct = 0, n = addrset_count(&st->destinations);
	uint64_t want = st->count / st->repeat + !!(st->count % st->repeat);
	struct err err = { "" };
	struct sched sc;

	for (uint32_t k = 0; k < nr_shards; k++) {
		if (scenario_sched(s, i, k, nr_shards, &sc, &err)) {
			CHECK(*err.text && nr_shards > 1);
			return;
		}
		total += sc.total;
		rate += sc.rate.pps;
		distinct += sched_distinct(&sc);
		check_visits(&sc, n);
	}
	CHECK(total == st->count && rate == st->rate_pps);
	if (sched_is_cyclic(st->order))
		CHECK(distinct == (want < n ? want : n));
}

static void check_lab(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->nr_in; i++)
		for (uint32_t k = 0; k < s->nr_out; k++)
			CHECK(s->in[i].family != s->out[k].family ||
			      num(s->in[i].a) != num(s->out[k].a));
	for (uint32_t i = 0; i < s->nr_routes; i++)
		CHECK(s->routes[i].len <= (s->routes[i].family == AF_INET6 ? 128 : 32));
	for (uint32_t i = 0; i < s->nr_rules; i++) {
		check_set(&s->rules[i].prefix, false);
		CHECK(s->rules[i].copies >= 1 && s->rules[i].answer_probe >= 1);
	}
	for (uint32_t i = 0; i < s->nr_storms; i++) {
		check_set(&s->storms[i].prefix, true);
		CHECK(s->storms[i].rate_pps && s->storms[i].duration_s > 0);
		CHECK(s->storms[i].nr_vlans <= FRAME_VLANS_MAX);
		CHECK(s->storms[i].start_s + s->storms[i].duration_s <= s->duration_s + 1e-8);
	}
	for (uint32_t i = 0; i < s->nr_sysctls; i++)
		CHECK(*s->sysctls[i].value && *s->sysctls[i].key != '/' &&
		      !strstr(s->sysctls[i].key, ".."));
}

static void check_accepted(const struct scenario *s)
{
	CHECK(is_safe_name(s->name) && in(s->nr_streams, 1, SCENARIO_STREAMS_MAX) && s->conf);
	CHECK(s->duration_s > 0 && s->drain_s >= 0);
	CHECK(s->lanes >= 1 && s->lanes <= 64 && s->burst >= 2 * s->lanes && s->burst <= 1024);
	CHECK(s->answer_ratio >= 0 && s->answer_ratio <= 1 && s->answer_probe >= 1);
	CHECK(in(s->nr_in, 1, SCENARIO_HOSTS_MAX) && in(s->nr_out, 1, SCENARIO_HOSTS_MAX));
	for (uint32_t i = 0; i < s->nr_requires; i++)
		CHECK(*s->requires[i].key && strchr("=!<>", *s->requires[i].value));
	check_lab(s);
	for (uint32_t i = 0; i < s->nr_streams; i++) {
		check_stream(s, &s->streams[i]);
		check_schedule(s, i, 1);
		check_schedule(s, i, 3);
	}
}

/* The same again from what the tree, overrides and all, looks like as text. */
static void check_emitted(const struct scenario *s)
{
	char *text = conf_emit(s->conf), *again;
	struct err err = { "" };
	struct scenario t;

	CHECK(text);
	CHECK(!scenario_load(&t, &(struct scenario_source){ .path = "emitted", .text = text,
							     .allow = &allow, .nr_allow = 1 }, &err));
	CHECK(!strcmp(s->name, t.name) && s->seed == t.seed && s->nr_sysctls == t.nr_sysctls);
	CHECK(s->nr_streams == t.nr_streams && s->nr_rules == t.nr_rules && s->nr_in == t.nr_in);
	for (uint32_t i = 0; i < s->nr_streams; i++) {
		CHECK(s->streams[i].count == t.streams[i].count);
		CHECK(addrset_count(&s->streams[i].destinations) ==
		      addrset_count(&t.streams[i].destinations));
	}
	again = conf_emit(t.conf);
	CHECK(again && !strcmp(text, again));
	free(text);
	free(again);
	scenario_free(&t);
}

static unsigned int split(char *text, const char **sets)
{
	char *mark = strstr(text, MARK), *line;
	unsigned int nr = 0;

	if (!mark)
		return 0;
	mark[1] = '\0';
	line = mark + strlen(MARK);
	while (nr < MAX_SETS && (line = strtok(nr ? NULL : line, "\n")))
		sets[nr++] = line;
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	const char *sets[MAX_SETS];
	struct err err = { "" };
	struct scenario_source from = { .path = "f", .text = text, .overrides = sets, .allow = &allow,
					.nr_allow = 1 };
	struct scenario s;

	CHECK(text);
	from.nr_overrides = split(text, sets);
	if (scenario_load(&s, &from, &err)) {
		CHECK(*err.text && !strchr(err.text, '\n') && !s.conf);
	} else {
		check_accepted(&s);
		check_emitted(&s);
		scenario_free(&s);
	}
	free(text);
	return 0;
}
