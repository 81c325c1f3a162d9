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

/* Inside the lab or the one prefix that is allowed here, 10.0.0.0/24: both ends in the same. */
static void check_set(const struct addrset *set)
{
	uint64_t count = 0, before = 0;

	CHECK(set->sealed && set->family == AF_INET && set->nr_ranges);
	for (size_t i = 0; i < set->nr_ranges; i++) {
		uint64_t first = set->ranges[i].first.lo, last = set->ranges[i].last.lo;

		CHECK(first <= last && (!i || first > before + 1));
		CHECK((in(first, 0xc6120000, 0xc613ffff) && in(last, 0xc6120000, 0xc613ffff)) ||
		      (in(first, 0x0a000000, 0x0a0000ff) && in(last, 0x0a000000, 0x0a0000ff)));
		CHECK(set->ranges[i].first_index == count);
		count += last - first + 1;
		before = last;
	}
	CHECK(addrset_count(set) == count);
}

static bool is_safe_name(const char *name)
{
	return *name && *name != '.' && *name != '-' && !strchr(name, '/') && strlen(name) <= 64;
}

static void check_stream(const struct scenario *s, const struct scenario_stream *st)
{
	check_set(&st->destinations);
	check_set(&st->sources);
	CHECK(!addrset_has(&st->sources, s->in[0].a) && !addrset_has(&st->sources, s->out[0].a));
	CHECK(is_safe_name(st->name) && st->ttl && st->src_port && st->dst_port);
	CHECK(st->rate_pps <= 1000000000 && st->repeat >= 1);
	CHECK(st->repeat * st->new_destinations_per_s == st->rate_pps);
	CHECK(st->count >= 1 && st->count <= PROBE_SEQ_MAX + 1);
	if (st->rate_pps)
		CHECK((double)st->count <= (double)st->rate_pps * s->duration_s + 1e-3 * (double)st->rate_pps);
}

/* All shards together intend what the stream does; each visits no destination twice in a pass. */
static void check_schedule(const struct scenario *s, uint32_t nr_shards)
{
	const struct scenario_stream *st = &s->streams[0];
	uint64_t total = 0, rate = 0, distinct = 0, n = addrset_count(&st->destinations);
	uint64_t want = st->count / st->repeat + !!(st->count % st->repeat);
	struct err err = { "" };
	struct sched sc;

	for (uint32_t i = 0; i < nr_shards; i++) {
		struct sched_slot slot = { 0 }, first;

		if (scenario_sched(s, 0, i, nr_shards, &sc, &err)) {
			CHECK(*err.text && nr_shards > 1);
			return;
		}
		total += sc.total;
		rate += sc.rate.pps;
		distinct += sched_distinct(&sc);
		for (uint64_t v = 0; v < sc.n_shard && v < WALK_MAX && v * sc.repeat < sc.total; v++) {
			sched_slot(&sc, v * sc.repeat, &slot);
			CHECK(slot.index < n && slot.first_seq == v * sc.repeat && !slot.occurrence);
			sched_slot(&sc, slot.first_seq, &first);
			CHECK(first.index == slot.index);
		}
	}
	CHECK(total == st->count && rate == st->rate_pps);
	CHECK(distinct == (want < n ? want : n));
}

static void check_accepted(const struct scenario *s)
{
	CHECK(is_safe_name(s->name) && s->nr_streams == 1 && s->conf);
	CHECK(s->duration_s > 0 && s->drain_s >= 0);
	CHECK(s->lanes >= 1 && s->lanes <= 64 && s->burst >= 2 * s->lanes && s->burst <= 1024);
	CHECK(s->answer_ratio >= 0 && s->answer_ratio <= 1 && s->answer_probe >= 1);
	CHECK(s->in[0].a.lo != s->out[0].a.lo && in(s->in[0].len, 1, 30) && in(s->out[0].len, 1, 30));
	for (uint32_t i = 0; i < s->nr_sysctls; i++)
		CHECK(*s->sysctls[i].value && *s->sysctls[i].key != '/' &&
		      !strstr(s->sysctls[i].key, ".."));
	for (uint32_t i = 0; i < s->nr_requires; i++)
		CHECK(*s->requires[i].key && strchr("=!<>", *s->requires[i].value));
	check_stream(s, &s->streams[0]);
	check_schedule(s, 1);
	check_schedule(s, 3);
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
	CHECK(s->streams[0].count == t.streams[0].count);
	CHECK(addrset_count(&s->streams[0].destinations) ==
	      addrset_count(&t.streams[0].destinations));
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
