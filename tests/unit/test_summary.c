// SPDX-License-Identifier: GPL-2.0-or-later
// needs: ctl/summary.c ctl/verdict.c ctl/jpath.c ctl/require.c ctl/table.c
/* From what the roles said to the verdict: every cause, every reason for doubt, every comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "ctl/jpath.h"
#include "ctl/require.h"
#include "ctl/summary.h"
#include "ctl/table.h"

/* The lines of a run of 1,000 packets to 100 destinations that lost nothing. */
struct lines {
	json_t *manifest, *samples, *events;
	json_t *gen, *sink, *before, *after; /* borrowed from events */
};

static json_t *put_event(struct lines *l, const char *event, const char *role)
{
	json_t *stats = json_object();

	json_array_append_new(l->events, json_pack("{s:i, s:s, s:s, s:o}", "v", 1, "event", event,
						   "role", role, "stats", stats));
	return stats;
}

static int setup(void **state)
{
	static struct lines l;

	l.manifest = json_pack("{s:s, s:{s:s}}", "scenario", "test", "dut", "kernel", "6.1");
	l.samples = json_array();
	l.events = json_array();
	l.before = put_event(&l, "baseline", "mon");
	l.gen = put_event(&l, "final", "gen");
	l.after = put_event(&l, "final", "mon");
	l.sink = put_event(&l, "final", "sink");
	jpath_set_int(l.gen, "intended_pkts", 1000);
	jpath_set_int(l.gen, "sent_pkts", 1000);
	jpath_set_int(l.gen, "destinations_sent", 100);
	jpath_set_int(l.sink, "rx_pkts", 1000);
	jpath_set_int(l.sink, "destinations_seen", 100);
	jpath_set_int(l.before, "neigh.ipv4.entries", 2);
	jpath_set_int(l.before, "neigh.ipv4.allocs", 7);
	jpath_set_int(l.after, "neigh.ipv4.entries", 102);
	jpath_set_int(l.after, "neigh.ipv4.allocs", 107);
	*state = &l;
	return 0;
}

static int teardown(void **state)
{
	struct lines *l = *state;

	json_decref(l->manifest);
	json_decref(l->samples);
	json_decref(l->events);
	return 0;
}

static json_t *build(struct lines *l)
{
	return summary_build(l->manifest, l->samples, l->events);
}

static void expect(struct lines *l, int valid, const char *verdict, json_int_t unexplained)
{
	json_t *s = build(l);

	assert_string_equal(json_string_value(json_object_get(s, "verdict")), verdict);
	assert_int_equal(json_is_true(json_object_get(s, "valid")), valid);
	assert_int_equal(jpath_int(s, "accounting.unexplained_pkts"), unexplained);
	json_decref(s);
}

static void test_clean(void **state)
{
	expect(*state, 1, "clean", 0);
}

/* Ten packets lost under each cause in turn: named, valid, and the verdict. */
static void test_each_cause(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->sink, "rx_pkts", 990);
	for (unsigned int i = 0; summary_causes[i]; i++) {
		char path[64], verdict[64];

		snprintf(path, sizeof(path), "drops_pkts.%s", summary_causes[i]);
		snprintf(verdict, sizeof(verdict), "%s", summary_causes[i]);
		for (char *c = verdict; *c; c++)
			*c = *c == '_' ? '-' : *c;
		jpath_set_int(l->after, path, 10);
		expect(l, 1, verdict, 0);
		jpath_set_int(l->after, path, 0);
		/* The same loss with its cause hidden: nothing is computed as a remainder. */
		expect(l, 0, "invalid", 10);
	}
}

static void test_most_lost_wins(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->sink, "rx_pkts", 900);
	jpath_set_int(l->after, "drops_pkts.neigh_full", 60);
	jpath_set_int(l->after, "drops_pkts.neigh_failed", 40);
	expect(l, 1, "neigh-full", 0);
	jpath_set_int(l->after, "drops_pkts.neigh_full", 30);
	jpath_set_int(l->after, "drops_pkts.neigh_failed", 70);
	expect(l, 1, "neigh-failed", 0);
}

static void test_named_too_much(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->after, "drops_pkts.ttl", 1);
	expect(l, 0, "ttl", -1);
}

static void test_unsent(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->gen, "intended_pkts", 1500);
	jpath_set_int(l->gen, "unsent_pkts", 500);
	expect(l, 1, "generator-limited", 0);
	jpath_set_int(l->gen, "unsent_pkts", 499); /* intended = sent + unsent is broken */
	expect(l, 0, "generator-limited", 0);
}

static void test_other_is_named_by_symbol(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->sink, "rx_pkts", 990);
	jpath_set_int(l->after, "drops_pkts.other", 10);
	json_object_set_new(l->after, "drops",
			    json_pack("[{s:s, s:i, s:s}, {s:s, s:i, s:s}]", "cause", "other", "pkts",
				      3, "location", "foo", "cause", "other", "pkts", 7, "location",
				      "nf_hook_slow"));
	expect(l, 1, "other(nf_hook_slow)", 0);
}

/* Two streams, one of which lost ten packets: each has its own numbers, and a path finds it by name. */
static void test_streams(void **state)
{
	static const char *const names[] = {"live", "scan"};
	struct lines *l = *state;
	json_t *gen = json_array(), *sink = json_array(), *s;
	struct err err = {""};

	json_object_set_new(l->gen, "streams", gen);
	json_object_set_new(l->sink, "streams", sink);
	for (int i = 0; i < 2; i++) {
		json_array_append_new(gen, json_pack("{s:s, s:i, s:i}", "name", names[i], "sent_pkts",
						     i ? 700 : 300, "intended_pkts", i ? 700 : 300));
		/* The sink's order is its own. */
		json_array_insert_new(sink, 0, json_pack("{s:s, s:i, s:{s:i}}", "name", names[i],
							 "rx_pkts", i ? 690 : 300, "gap_ns", "max",
							 i ? 5 : 0));
	}
	jpath_set_int(l->sink, "rx_pkts", 990);
	jpath_set_int(l->after, "drops_pkts.ttl", 10);
	expect(l, 1, "ttl", 0);
	s = build(l);
	assert_int_equal(jpath_int(s, "streams.live.sink.lost_pkts"), 0);
	assert_int_equal(jpath_int(s, "streams.scan.sink.lost_pkts"), 10);
	assert_int_equal(jpath_int(s, "streams.1.sink.gap_ns.max"), 5);
	assert_int_equal(require_holds(s, "streams.live.sink.lost_pkts", "== 0", &err), 1);
	assert_int_equal(require_holds(s, "streams.nobody.sink.lost_pkts", "== 0", &err), -22);
	json_decref(s);
	/* A packet that no stream has. */
	jpath_set_int(json_array_get(gen, 0), "sent_pkts", 299);
	expect(l, 0, "ttl", 0);
}

/* What the sink's own capture lost is named, and says so. */
static void test_sink_limited(void **state)
{
	struct lines *l = *state;

	jpath_set_int(l->sink, "rx_pkts", 900);
	jpath_set_int(l->sink, "capture_dropped_pkts", 100);
	expect(l, 1, "sink-limited", 0);
	jpath_set_int(l->sink, "capture_dropped_pkts", 99);
	expect(l, 0, "sink-limited", 1);
}

static void expect_text(struct lines *l, const char *part)
{
	json_t *s = build(l);

	assert_non_null(strstr(json_string_value(json_object_get(s, "verdict_text")), part));
	json_decref(s);
}

/* The sentence names the family whose packets were lost. */
static void test_family(void **state)
{
	struct lines *l = *state;
	json_t *row = json_pack("{s:s, s:i, s:i}", "cause", "neigh_full", "pkts", 10, "protocol", 34525);

	jpath_set_int(l->sink, "rx_pkts", 990);
	jpath_set_int(l->after, "drops_pkts.neigh_full", 10);
	expect_text(l, "no room in the neighbour table: raise net.ipv*.neigh");
	json_object_set_new(l->after, "drops", json_pack("[O]", row));
	expect_text(l, "no room in the IPv6 neighbour table: raise net.ipv6.neigh.default.gc_thresh3");
	jpath_set_int(row, "protocol", 2048);
	expect_text(l, "no room in the IPv4 neighbour table: raise net.ipv4.neigh.default.gc_thresh3");
	json_decref(row);
}

static void test_doubts(void **state)
{
	struct lines *l = *state;
	static const char *const zero_in_a_sound_run[] = {"foreign_pkts", "bad_csum_pkts", NULL};

	for (unsigned int i = 0; zero_in_a_sound_run[i]; i++) {
		jpath_set_int(l->sink, zero_in_a_sound_run[i], 1);
		expect(l, 0, "invalid", 0);
		jpath_set_int(l->sink, zero_in_a_sound_run[i], 0);
	}
	jpath_set_int(l->after, "hist_overflow", 1);
	expect(l, 0, "invalid", 0);
	jpath_set_int(l->after, "hist_overflow", 0);
	jpath_set_int(l->after, "neigh.ipv4.destroys", 1); /* 100 - 1 is not the change of 100 */
	expect(l, 0, "invalid", 0);
	jpath_set_int(l->after, "neigh.ipv4.destroys", 0);
	jpath_set_int(l->after, "neigh.ipv6.allocs", 1);
	expect(l, 0, "invalid", 0);
}

static void test_failures(void **state)
{
	struct lines *l = *state;

	json_array_append_new(l->events,
			      json_pack("{s:s, s:s, s:b}", "event", "failed", "text", "no air",
					"dut_died", 0));
	expect(l, 0, "invalid", 0);
	json_object_set_new(json_array_get(l->events, 4), "dut_died", json_true());
	expect(l, 0, "dut-died", 0);
}

/* Without final statistics the last samples are shown, and the run is not valid. */
static void test_cut_short(void **state)
{
	struct lines *l = *state;
	json_t *s;

	json_array_remove(l->events, 1);
	json_array_append_new(l->samples, json_pack("{s:s, s:s, s:i, s:i}", "event", "sample", "role",
						    "gen", "sent_pkts", 1000, "intended_pkts",
						    1000));
	expect(l, 0, "invalid", 0);
	s = build(l);
	assert_int_equal(jpath_int(s, "offered.sent_pkts"), 1000);
	json_decref(s);
}

/* A kernel without drop reasons is named, rather than a gap in the accounting. */
static void test_blind_kernel(void **state)
{
	struct lines *l = *state;
	json_t *s;

	json_object_set_new(json_object_get(l->manifest, "dut"), "hello",
			    json_pack("{s:{s:b, s:b, s:s}}", "capabilities", "drops", 0, "drop_origin",
				      0, "drops_why", "no tracefs"));
	expect(l, 1, "clean", 0);
	jpath_set_int(l->sink, "rx_pkts", 990);
	expect(l, 0, "invalid", 10);
	s = build(l);
	assert_non_null(strstr(json_string_value(json_object_get(s, "verdict_text")), "no tracefs"));
	json_decref(s);
}

/* A failure whose sentence is missing is still one. */
static void test_failure_without_words(void **state)
{
	struct lines *l = *state;

	json_array_append_new(l->events, json_pack("{s:s}", "event", "failed"));
	expect(l, 0, "invalid", 0);
}

static void test_levels_and_growth(void **state)
{
	struct lines *l = *state;
	json_t *s;

	json_array_append_new(l->samples,
			      json_pack("{s:s, s:s, s:{s:{s:i}}}", "event", "sample", "role", "mon",
					"neigh", "ipv4", "entries", 150));
	s = build(l);
	assert_int_equal(jpath_int(s, "neigh.ipv4.entries_before"), 2);
	assert_int_equal(jpath_int(s, "neigh.ipv4.entries_max"), 150);
	assert_int_equal(jpath_int(s, "neigh.ipv4.entries_after"), 102);
	assert_int_equal(jpath_int(s, "neigh.ipv4.allocs"), 100);
	json_decref(s);
}

/* What the responder did and what was dropped before it: as the sink says, and as the schema has it. */
static void test_sink_counters(void **state)
{
	static const char *const names[] = {
		"capture_dropped_pkts", "interface_dropped_pkts", "arp_requests", "arp_replies",
		"arp_silent", "arp_refused", "arp_dropped", "nd_requests", "nd_replies",
		"nd_silent", "nd_refused", "nd_dropped", "copies_pkts", "announcements_pkts",
	};
	json_t *schema = json_load_file("configs/schema/summary.schema.json", 0, NULL), *s, *keys;
	struct lines *l = *state;
	const char *key;
	json_t *value;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		jpath_set_int(l->sink, names[i], 1000 + i);
	s = build(l);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(jpath_int(json_object_get(s, "sink"), names[i]), 1000 + i);
	keys = jpath(schema, "properties.sink.properties");
	json_object_foreach(json_object_get(s, "sink"), key, value)
		assert_non_null(json_object_get(keys, key));
	assert_int_equal(json_object_size(keys), json_object_size(json_object_get(s, "sink")));
	assert_int_equal(json_object_size(keys),
			 json_array_size(jpath(schema, "properties.sink.required")));
	json_decref(s);
	json_decref(schema);
}

static void test_empty_is_not_valid(void **state)
{
	json_t *streams = json_pack("[{s:s}]", "name", "live");
	json_t *s = summary_empty("x", streams);

	(void)state;
	assert_non_null(jpath(s, "streams.live.sink.lost_pkts"));
	json_decref(streams);
	assert_true(json_is_false(json_object_get(s, "valid")));
	assert_string_equal(json_string_value(json_object_get(s, "scenario")), "x");
	assert_non_null(jpath(s, "neigh.ipv4.table_fulls"));
	json_decref(s);
}

static void test_require(void **state)
{
	json_t *s = json_pack("{s:s, s:b, s:{s:i}}", "verdict", "clean", "valid", 1, "a", "n", 42);
	static const struct {
		const char *path, *rule;
		int holds;
	} cases[] = {
		{"verdict", "== clean", 1}, {"verdict", "!= clean", 0}, {"verdict", "==clean", 1},
		{"verdict", "< clean", -22}, {"valid", "== true", 1},	{"valid", "== false", 0},
		{"a.n", "== 42", 1},	    {"a.n", "!= 42", 0},	{"a.n", "< 43", 1},
		{"a.n", "< 42", 0},	    {"a.n", "<= 42", 1},	{"a.n", "> 41.5", 1},
		{"a.n", "> 42", 0},	    {"a.n", ">= 42", 1},	{"a.n", ">= x", -22},
		{"a.n", "=> 1", -22},	    {"a.n", "42", -22},		{"a.m", "== 0", -22},
		{"a", "== 0", -22},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err err = {""};

		assert_int_equal(require_holds(s, cases[i].path, cases[i].rule, &err), cases[i].holds);
		assert_true(cases[i].holds == 1 || err.text[0]);
	}
	json_decref(s);
}

static void test_numbers_for_people(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(table_count(0, buf), "0");
	assert_string_equal(table_count(999, buf), "999");
	assert_string_equal(table_count(1000, buf), "1,000");
	assert_string_equal(table_count(-1234567, buf), "-1,234,567");
	assert_string_equal(table_time(0, buf), "-");
	assert_string_equal(table_time(1500, buf), "1.50 us");
	assert_string_equal(table_time(12345678, buf), "12.3 ms");
	assert_string_equal(table_time(123456789012, buf), "123 s");
}

#define WITH_LINES(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LINES(test_clean),
		WITH_LINES(test_each_cause),
		WITH_LINES(test_most_lost_wins),
		WITH_LINES(test_named_too_much),
		WITH_LINES(test_unsent),
		WITH_LINES(test_other_is_named_by_symbol),
		WITH_LINES(test_streams),
		WITH_LINES(test_sink_limited),
		WITH_LINES(test_family),
		WITH_LINES(test_doubts),
		WITH_LINES(test_failures),
		WITH_LINES(test_cut_short),
		WITH_LINES(test_blind_kernel),
		WITH_LINES(test_failure_without_words),
		WITH_LINES(test_levels_and_growth),
		WITH_LINES(test_sink_counters),
		cmocka_unit_test(test_empty_is_not_valid),
		cmocka_unit_test(test_require),
		cmocka_unit_test(test_numbers_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
