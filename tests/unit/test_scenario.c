// SPDX-License-Identifier: GPL-2.0-or-later
/* Scenarios that are right, and one that is wrong in every way that has a sentence. */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/probe.h"
#include "lib/scenario.h"
#include "tests/unit/scenario_lines.h"

/* --- what is right ----------------------------------------------------------------------------- */

static void every_key_is_bound(void **state)
{
	struct err err = { "" };
	struct scenario s;
	const struct scenario_stream *st;

	(void)state;
	if (load(&s, 0, NULL, NULL, NULL, &err))
		fail_msg("%s", err.text);
	assert_string_equal(s.name, "unit");
	assert_true(s.seed == 5 && s.duration_s == 2.5 && s.drain_s == 0);
	assert_string_equal(s.kernel, "debian-6.12");
	assert_string_equal(s.cmdline, "");
	assert_true(s.memory_mb == 512 && s.cpus == 1 && s.lanes == 2 && s.burst == 32);
	assert_string_equal(s.in[0].text, "198.18.0.1/16");
	assert_true(s.in[0].a.lo == 0xc6120001 && s.in[0].len == 16 && s.out[0].a.lo == 0xc6130001 &&
		    s.out[0].len == 16);
	assert_int_equal(s.nr_sysctls, 1);
	assert_string_equal(s.sysctls[0].key, "net.ipv4.ip_forward");
	assert_string_equal(s.sysctls[0].value, "1");
	assert_int_equal(s.sysctls[0].line, 11);
	assert_int_equal(s.nr_requires, 1);
	assert_string_equal(s.requires[0].key, "verdict");
	assert_string_equal(s.requires[0].value, "== clean");
	assert_true(s.answer_ratio == 0.5 && s.delay_ms == 2 && s.answer_probe == 3);
	assert_int_equal(s.nr_streams, 1);
	st = &s.streams[0];
	assert_string_equal(st->name, "flood");
	assert_int_equal(addrset_count(&st->destinations), 255);
	assert_int_equal(addrset_count(&st->sources), 1);
	assert_int_equal(st->order, SCHED_PERMUTE);
	assert_true(st->rate_pps == 12000 && st->new_destinations_per_s == 4000 && st->repeat == 3);
	assert_int_equal(st->count, 30000);
	assert_true(st->ttl == 2 && st->src_port == 9 && st->dst_port == 10);
	scenario_free(&s);
	scenario_free(&s);
}

static void what_is_absent_has_a_default(void **state)
{
	static const char text[] = "name: least\nduration_s: 1\nstreams:\n- name: a\n"
				   "  destinations: 198.19.0.0/30\n  sources: 198.18.0.2\n"
				   "  rate_pps: 100\n";
	struct err err = { "" };
	struct scenario s;

	(void)state;
	if (load_sets(&s, "s.yaml", text, NULL, 0, &err))
		fail_msg("%s", err.text);
	assert_true(s.seed == 1 && s.drain_s == 0 && s.lanes == 1 && s.burst == 64);
	assert_true(s.memory_mb == 1024 && s.cpus == 1 && !s.nr_sysctls && !s.nr_requires);
	assert_string_equal(s.kernel, "debian-6.1");
	assert_true(s.in[0].a.lo == 0xc6120001 && s.out[0].a.lo == 0xc6130001);
	assert_true(s.answer_ratio == 1 && s.delay_ms == 0 && s.answer_probe == 1);
	assert_true(s.streams[0].ttl == 2 && s.streams[0].src_port == 9 &&
		    s.streams[0].dst_port == 9);
	assert_true(s.streams[0].order == SCHED_PERMUTE && s.streams[0].repeat == 1 &&
		    s.streams[0].new_destinations_per_s == 100 && s.streams[0].count == 100);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 4);
	scenario_free(&s);
}

static void the_scenarios_of_this_tree_load(void **state)
{
	static const char first[] = "configs/many-destinations.yaml";
	static const char *const sets[] = { "streams.0.rate_pps=max", "streams.flood.rate_pps=5k" };
	struct err err = { "" };
	struct scenario s;
	glob_t configs;

	(void)state;
	assert_int_equal(glob("configs/*.yaml", 0, NULL, &configs), 0);
	assert_true(configs.gl_pathc >= 3);
	for (size_t i = 0; i < configs.gl_pathc; i++) {
		if (load_sets(&s, configs.gl_pathv[i], NULL, NULL, 0, &err))
			fail_msg("%s", err.text);
		assert_true(s.nr_requires > 0);
		scenario_free(&s);
	}
	globfree(&configs);
	/* The override that the first one's head shows works on it. */
	for (int i = 0; i < 2; i++) {
		if (load_sets(&s, first, NULL, &sets[i], 1, &err))
			fail_msg("%s", err.text);
		assert_int_equal(addrset_count(&s.streams[0].destinations), 65534);
		assert_true(s.streams[0].count ==
			    (i ? 5000 * (uint64_t)s.duration_s : PROBE_SEQ_MAX + 1));
		scenario_free(&s);
	}
}

/* Lines that differ from the base and are right all the same. */
static void variants_are_accepted(void **state)
{
	static const struct {
		unsigned int line;
		const char *with;
	} good[] = {
		{ 1, "name: A-z_0.9" },
		{ 2, "seed: 18446744073709551615" },
		{ 2, "seed: 0" },
		{ 4, "drain_s: 3" },
		{ 4, "" },
		{ 6, "  kernel: ./bzImage" },
		{ 6, "  kernel: /b/z" },
		{ 9, "  out_address: 198.19.0.2/30" },
		{ 11, "    net: {ipv4: {conf: {all: {rp_filter: 0}}}}" },
		{ 11, "    net/ipv4/conf/eth0.5/rp_filter: 0" },
		{ 13, "  lanes: 16" },
		{ 14, "  burst: 1024" },
		{ 14, "  burst: 4" },
		{ 17, "    destinations: 198.19.0.7" },
		{ 17, "    destinations: [198.19.0.0-198.19.255.255, 198.18.0.0/17]" },
		{ 18, "" },
		{ 18, "    exclude: []" },
		{ 19, "    sources: [198.18.0.2-198.18.0.200]" },
		{ 20, "    order: sequential" },
		{ 22, "    new_destinations_per_s: max" },
		{ 22, "" },
		{ 22, "    new_destinations_per_s: 1" },
		{ 23, "    ttl: 255" },
		{ 24, "    src_port: 65535" },
		{ 25, "    count: 1" },
		{ 25, "    count: 30k" },
		{ 27, "  answer_ratio: 0" },
		{ 27, "  answer_ratio: 1" },
		{ 31, "  - a.b.c  >=  -1.5" },
		{ 31, "  - valid != false" },
	};
	struct err err = { "" };
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (load(&s, good[i].line, good[i].with, NULL, NULL, &err))
			fail_msg("%s: %s", good[i].with, err.text);
		scenario_free(&s);
	}
}

static void nested_sysctls_are_joined_in_order(void **state)
{
	struct err err = { "" };
	struct scenario s;

	(void)state;
	assert_int_equal(load(&s, 11, "    net: {ipv4: {a: 1, b.c: two words}}\n    kernel.x: 3",
			      "dut.sysctl.net.core.y=4", NULL, &err), 0);
	assert_int_equal(s.nr_sysctls, 4);
	assert_string_equal(s.sysctls[0].key, "net.ipv4.a");
	assert_string_equal(s.sysctls[1].key, "net.ipv4.b.c");
	assert_string_equal(s.sysctls[1].value, "two words");
	assert_string_equal(s.sysctls[2].key, "net.core.y");
	assert_int_equal(s.sysctls[2].line, 0);
	assert_string_equal(s.sysctls[3].key, "kernel.x");
	assert_int_equal(s.sysctls[3].line, 12);
	scenario_free(&s);
}

/* Rate and time, in numbers that binary fractions cannot hold. */
static void counts_are_exact(void **state)
{
	static const struct {
		const char *rate, *duration;
		uint64_t count;
	} cases[] = {
		{ "30", "0.1", 3 }, { "10", "0.29", 2 }, { "10", "0.3", 3 }, { "1G", "0.001", 1000000 },
		{ "15k", "20.1", 301500 }, { "3", "0.333333333", 0 }, { "3", "0.333333334", 1 },
		{ "1G", "86400.000000001", 86400000000001 }, { "325781223", "864k", 281474976672000 },
	};
	struct err err = { "" };
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char rate[64], line[64], text[4096];
		const char *const sets[] = { rate, "streams.0.new_destinations_per_s=max" };
		int ret;

		snprintf(rate, sizeof(rate), "streams.0.rate_pps=%s", cases[i].rate);
		snprintf(line, sizeof(line), "duration_s: %s", cases[i].duration);
		compose(text, sizeof(text), 3, line);
		ret = load_sets(&s, "s.yaml", text, sets, 2, &err);
		assert_int_equal(ret, cases[i].count ? 0 : -EINVAL);
		if (ret)
			continue;
		assert_true(s.streams[0].count == cases[i].count);
		scenario_free(&s);
	}
}

static void allowed_prefixes_open_the_lab(void **state)
{
	static const char *const allow[] = { "198.20.0.0/16", "::/0", "10.0.0.0/24" };
	struct scenario_source from = { .path = "s.yaml", .allow = allow, .nr_allow = 3 };
	const char *sets[] = { "streams.0.sources=10.0.0.7" };
	struct err err = { "" };
	struct scenario s;
	char text[4096];

	(void)state;
	/* Across the end of the lab into what was allowed beside it. */
	compose(text, sizeof(text), 17, "    destinations: [198.18.0.0-198.20.255.255, 10.0.0.0/24]");
	from.text = text;
	from.overrides = sets;
	from.nr_overrides = 1;
	if (scenario_load(&s, &from, &err))
		fail_msg("%s", err.text);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 3 * 65536 + 256 - 1);
	scenario_free(&s);
	compose(text, sizeof(text), 17, "    destinations: [198.18.0.0-198.21.0.0]");
	assert_int_equal(scenario_load(&s, &from, &err), -EINVAL);
	assert_string_equal(err.text, "s.yaml:17: destinations: 198.21.0.0 is outside the lab ranges "
				      "198.18.0.0/15 and 2001:2::/48; if that network is yours, add "
				      "--allow 198.18.0.0-198.21.0.0");
	/* What is never sent to stays so. */
	assert_int_equal(load(&s, 17, "    destinations: [8.8.8.8, 224.0.0.1]", NULL, "0.0.0.0/0", &err),
			 -EINVAL);
	assert_string_equal(err.text, "s.yaml:17: destinations: 224.0.0.1 is multicast; exclude it");
	assert_int_equal(load(&s, 17, "    destinations: [8.8.8.8]", NULL, "0.0.0.0/0", &err), 0);
	scenario_free(&s);
	assert_int_equal(load(&s, 0, NULL, NULL, "10.0.0.1/8", &err), -EINVAL);
	assert_string_equal(err.text, "--allow: '10.0.0.1/8' has bits set after the prefix: write "
				      "10.0.0.0/8");
}

static void excluded_addresses_need_no_permission(void **state)
{
	const char *const sets[] = {
		"streams.0.destinations=[0.0.0.0/0]",
		"streams.0.exclude=[0.0.0.0-198.17.255.255, 198.20.0.0-255.255.255.255]",
	};
	struct err err = { "" };
	struct scenario s;
	char text[4096];

	(void)state;
	compose(text, sizeof(text), 0, NULL);
	assert_int_equal(load_sets(&s, "s.yaml", text, sets, 2, &err), 0);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 1 << 17);
	scenario_free(&s);
}

/* --- schedule ---------------------------------------------------------------------------------- */

/* All shards together send the count, at the rate, and each visit of the whole exactly once. */
static void check_shards(const struct scenario *s, uint32_t nr_shards)
{
	const struct scenario_stream *st = &s->streams[0];
	uint64_t n = addrset_count(&st->destinations), total = 0, rate = 0, reached = 0, want;
	uint8_t *seen = calloc(n, 1);
	struct sched sc;

	assert_non_null(seen);
	for (uint32_t i = 0; i < nr_shards; i++) {
		struct sched_slot slot;

		assert_int_equal(scenario_sched(s, 0, i, nr_shards, &sc, NULL), 0);
		total += sc.total;
		rate += sc.rate.pps;
		assert_int_equal(sc.repeat, st->repeat);
		for (uint64_t seq = 0; seq < sc.total && seq < sc.n_shard * sc.repeat; seq++) {
			sched_slot(&sc, seq, &slot);
			assert_true(slot.index < n);
			reached += !seen[slot.index];
			assert_true(!seen[slot.index] || slot.occurrence > 0);
			seen[slot.index] = 1;
		}
	}
	want = (st->count + st->repeat - 1) / st->repeat;
	assert_int_equal(total, st->count);
	assert_int_equal(rate, st->rate_pps);
	assert_int_equal(reached, want < n ? want : n);
	free(seen);
}

static void shards_share_without_rest(void **state)
{
	static const unsigned int counts[] = { 1, 2, 3, 7, 254, 255, 256, 764, 765, 766, 1000, 30000 };
	struct err err = { "" };
	struct scenario s;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		snprintf(line, sizeof(line), "    count: %u", counts[i]);
		assert_int_equal(load(&s, 25, line, NULL, NULL, &err), 0);
		for (uint32_t nr = 1; nr <= 255; nr += nr < 8 ? 1 : 13)
			check_shards(&s, nr);
		scenario_free(&s);
	}
}

static void impossible_shards_are_refused(void **state)
{
	struct err err = { "" };
	struct scenario s;
	struct sched sc;

	(void)state;
	assert_int_equal(load(&s, 21, "    rate_pps: 2", "streams.0.new_destinations_per_s=1", NULL,
			      &err), 0);
	assert_int_equal(scenario_sched(&s, 1, 0, 1, &sc, &err), -EINVAL);
	assert_string_equal(err.text, "there is no stream 1");
	assert_int_equal(scenario_sched(&s, 0, 2, 2, &sc, &err), -EINVAL);
	assert_int_equal(scenario_sched(&s, 0, 0, 0, &sc, &err), -EINVAL);
	assert_int_equal(scenario_sched(&s, 0, 0, 3, &sc, &err), -EINVAL);
	assert_string_equal(err.text, "rate_pps 2 cannot be shared by 3 shards; raise it");
	assert_int_equal(scenario_sched(&s, 0, 1, 2, &sc, &err), 0);
	scenario_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_bound),
		cmocka_unit_test(what_is_absent_has_a_default),
		cmocka_unit_test(the_scenarios_of_this_tree_load),
		cmocka_unit_test(variants_are_accepted),
		cmocka_unit_test(nested_sysctls_are_joined_in_order),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(allowed_prefixes_open_the_lab),
		cmocka_unit_test(excluded_addresses_need_no_permission),
		cmocka_unit_test(shards_share_without_rest),
		cmocka_unit_test(impossible_shards_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
