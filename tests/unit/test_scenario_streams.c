// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of streams: frames, rates, orders, several of them. What is right, and what is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/frame.h"
#include "lib/scenario.h"
#include "tests/unit/scenario_lines.h"

/* The base of scenario_lines.h (12k/s for 2.5 s, 4k new/s, 255 destinations) with keys in line 24. */
static const struct scenario_stream *with(struct scenario *s, const char *keys)
{
	struct err err = { "" };

	if (load(s, 24, keys, NULL, NULL, &err))
		fail_msg("%s: %s", keys, err.text);
	return &s->streams[0];
}

/* --- frames ------------------------------------------------------------------------------------ */

static void shapes_have_their_least_frame(void **state)
{
	static const struct {
		int family;
		enum frame_protocol protocol;
		uint32_t least;
	} cases[] = {
		{ AF_INET, FRAME_UDP, 64 },	   { AF_INET, FRAME_ICMP_ECHO, 64 },
		{ AF_INET, FRAME_TCP_SYN, 76 },	   { AF_INET6, FRAME_UDP, 84 },
		{ AF_INET6, FRAME_ICMP_ECHO, 84 }, { AF_INET6, FRAME_TCP_SYN, 96 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t tags = 0; tags <= FRAME_VLANS_MAX; tags++) {
			struct frame_shape shape = { cases[i].family, cases[i].protocol, tags };

			assert_int_equal(frame_len_min(&shape), cases[i].least + 4 * tags);
			assert_int_equal(frame_len_max(&shape), 9018 + 4 * tags);
			assert_true(frame_len_max(&shape) <= FRAME_LEN_MAX);
			assert_int_equal(frame_at_l3(&shape), 14 + 4 * tags);
			assert_int_equal(frame_at_l4(&shape) - frame_at_l3(&shape),
					 cases[i].family == AF_INET6 ? 40 : 20);
			/* What follows the last header is the probe and the FCS. */
			assert_int_equal(frame_at_probe(&shape) + 18 + 4, frame_len_min(&shape));
		}
	}
}

static void frames_are_bound(void **state)
{
	const struct scenario_stream *st;
	struct scenario s;

	(void)state;
	st = with(&s, "    protocol: tcp-syn\n    vlan: [100, 10]\n    dscp: 46\n"
		      "    src_port: 1024-65535\n    size: {9026: 1, 84: 7, 1518: 65535}");
	assert_true(st->shape.family == AF_INET && st->shape.protocol == FRAME_TCP_SYN);
	assert_true(st->shape.nr_vlans == 2 && st->vlans[0] == 100 && st->vlans[1] == 10);
	assert_int_equal(st->tos, 46 << 2);
	assert_true(st->src_port == 1024 && st->src_port_last == 65535);
	assert_true(st->dst_port == 10 && st->dst_port_last == 10);
	assert_true(st->nr_sizes == 3 && st->sizes[0].bytes == 84 && st->sizes[0].weight == 7);
	assert_true(st->sizes[1].bytes == 1518 && st->sizes[1].weight == 65535);
	assert_true(st->sizes[2].bytes == 9026 && st->sizes[2].weight == 1 && !st->udp_checksum);
	scenario_free(&s);

	st = with(&s, "    vlan: 4094\n    udp_checksum: true");
	assert_true(st->shape.nr_vlans == 1 && st->vlans[0] == 4094 && st->udp_checksum);
	assert_true(st->nr_sizes == 1 && st->sizes[0].bytes == 68);
	scenario_free(&s);

	st = with(&s, "    size: imix\n    protocol: tcp-syn");
	assert_true(st->nr_sizes == 3 && st->sizes[0].bytes == 76 && st->sizes[0].weight == 7 &&
		    st->sizes[1].bytes == 594 && st->sizes[1].weight == 4 &&
		    st->sizes[2].bytes == 1518 && st->sizes[2].weight == 1);
	scenario_free(&s);

	st = with(&s, "    size: 1_518");
	assert_true(st->nr_sizes == 1 && st->sizes[0].bytes == 1518 && !st->replay);
	scenario_free(&s);

	st = with(&s, "    replay: some.pcap");
	assert_string_equal(st->replay, "some.pcap"); /* s.yaml is in this folder */
	scenario_free(&s);
}

static void frames_that_cannot_be(void **state)
{
#define PORT_RULE "a range of ports is FIRST-LAST from 1 to 65535, as in 1024-65535"
	static const struct fault faults[] = {
		{ 24, "    protocol: sctp",
		  "24: protocol is \"sctp\"; it must be udp, tcp-syn or icmp-echo" },
		{ 24, "    vlan: 0", "24: vlan is 0; it must be a whole number from 1 to 4094" },
		{ 24, "    vlan: [100, 4095]",
		  "24: vlan is 4095; it must be a whole number from 1 to 4094" },
		{ 24, "    vlan: [1, 2, 3]", "24: vlan holds more than 2 tags; remove some" },
		{ 24, "    vlan: {a: 1}", "24: vlan is a group of keys; it must be a single value" },
		{ 24, "    vlan: ten", "24: vlan is \"ten\"; it must be a number, as in 20 or 15k" },
		{ 24, "    size: 63", "24: size 63 is too small for a probe: a frame of udp over IPv4 "
				      "with 0 VLAN tags is 64 to 9018 bytes, FCS included" },
		{ 24, "    vlan: [1, 2]\n    protocol: tcp-syn\n    size: 83",
		  "26: size 83 is too small for a probe: a frame of tcp-syn over IPv4 with 2 VLAN tags is "
		  "84 to 9026 bytes, FCS included" },
		{ 24, "    size: 9019", "24: size 9019 is too large: a frame of udp over IPv4 with 0 VLAN "
					"tags is 64 to 9018 bytes, FCS included" },
		{ 24, "    size: big", "24: size is \"big\"; it must be a number, as in 20 or 15k" },
		{ 24, "    size: [64]", "24: size is a list; it must be a single value" },
		{ 24, "    size: {}", "24: size is empty; give a number, imix, or sizes with weights, as in "
				      "{64: 7, 1518: 1}" },
		{ 24, "    size: {a: 1}", "24: size is \"a\"; it must be a number, as in 20 or 15k" },
		{ 24, "    size: {64: 0}",
		  "24: the weight of a size is 0; it must be a whole number from 1 to 65535" },
		{ 24, "    size: {64: 1, 0.1k: 2, 100: 3}", "24: size 100 is there twice; remove one" },
		{ 24, "    size: {64: 1, 65: 1, 66: 1, 67: 1, 68: 1, 69: 1, 70: 1, 71: 1, 72: 1, 73: 1, "
		      "74: 1, 75: 1, 76: 1, 77: 1, 78: 1, 79: 1, 80: 1}",
		  "24: size holds more than 16; remove some" },
		{ 24, "    replay: a\n    size: 64",
		  "25: size comes from the packets of replay; remove one of the two" },
		{ 24, "    replay: a\n    protocol: udp",
		  "25: protocol comes from the packets of replay; remove one of the two" },
		{ 24, "    replay: a\n    vlan: 7",
		  "25: vlan comes from the packets of replay; remove one of the two" },
		{ 24, "    replay: ''", "24: replay is empty; give the path of a pcap file" },
		{ 24, "    udp_checksum: maybe",
		  "24: udp_checksum is \"maybe\"; it must be true or false" },
		{ 24, "    udp_checksum: true\n    protocol: icmp-echo",
		  "24: udp_checksum belongs to protocol udp; remove it, as icmp-echo always has one" },
		{ 24, "    dscp: 64", "24: dscp is 64; it must be a whole number from 0 to 63" },
		{ 24, "    src_port: 0-7", "24: src_port is \"0-7\"; " PORT_RULE },
		{ 24, "    src_port: 9-8", "24: src_port is \"9-8\"; " PORT_RULE },
		{ 24, "    src_port: 1-65536", "24: src_port is \"1-65536\"; " PORT_RULE },
		{ 25, "    dst_port: 1-2-3", "25: dst_port is \"1-2-3\"; " PORT_RULE },
		{ 25, "    dst_port: -1", "25: dst_port is \"-1\"; " PORT_RULE },
	};

	(void)state;
	EXPECT_ALL(faults);
}

/* --- rates ------------------------------------------------------------------------------------- */

/* Each by hand: bits / (8 * (mean frame [+ 20])). */
static void bits_and_percents_become_packets(void **state)
{
	static const struct {
		const char *keys;
		uint64_t pps;
	} cases[] = {
		{ "    rate_bps: 10G\n    rate_layer: l1", 14880952 },
		{ "    rate_bps: 10G\n    rate_layer: l2", 19531250 },
		{ "    rate_bps: 1G\n    rate_layer: l1\n    size: 1518", 81274 },
		{ "    rate_bps: 512\n    rate_layer: l2", 1 },
		/* 7 * 64 + 4 * 594 + 1518 = 4342 bytes in 12 frames */
		{ "    rate_bps: 1G\n    rate_layer: l2\n    size: imix", 345462 },
		{ "    rate_percent: 100\n    speed_bps: 10G", 14880952 },
		{ "    rate_percent: 33.3\n    speed_bps: 1G", 495535 },
		{ "    rate_percent: 0.1\n    speed_bps: 672k", 1 },
		{ "    rate_percent: 50\n    speed_bps: 100M\n    vlan: 7\n    size: 100", 52083 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { "" };
		struct scenario s;
		char text[4096];

		compose(text, sizeof(text), 21, cases[i].keys);
		if (load_sets(&s, "s.yaml", text,
			      (const char *[]){ "streams.0.new_destinations_per_s=max" }, 1, &err))
			fail_msg("%s: %s", cases[i].keys, err.text);
		assert_int_equal(s.streams[0].rate_pps, cases[i].pps);
		assert_int_equal(s.streams[0].count, cases[i].pps * 5 / 2);
		scenario_free(&s);
	}
}

/* The last packet of a ramp is due before its end, and one more would not be. */
static void ramps_groups_and_starts_are_bound(void **state)
{
	const struct scenario_stream *st;
	struct scenario s;
	struct sched sc;

	(void)state;
	st = with(&s, "    ramp: {to_pps: 4k, steps: 5}\n    start_s: 0.5");
	assert_true(st->ramp_to_pps == 4000 && st->ramp_steps == 5 && st->group == 1);
	/* 0.4 s each of 12, 10, 8, 6 and 4 thousand */
	assert_int_equal(st->count, 4800 + 4000 + 3200 + 2400 + 1600);
	assert_true(st->start_s == 0.5);
	assert_int_equal(scenario_sched(&s, 0, 0, 1, &sc, NULL), 0);
	assert_int_equal(sc.total, st->count);
	assert_true(rate_due_ns(&sc.rate, st->count - 1) < 2000000000);
	assert_true(rate_due_ns(&sc.rate, st->count) >= 2000000000);
	assert_int_equal(rate_due_ns(&sc.rate, 4800), 400000000);
	scenario_free(&s);

	st = with(&s, "    group_pkts: 3k");
	assert_int_equal(st->group, 3000);
	assert_int_equal(scenario_sched(&s, 0, 0, 1, &sc, NULL), 0);
	assert_int_equal(rate_due_ns(&sc.rate, 2999), 0);
	assert_int_equal(rate_due_ns(&sc.rate, 3000), 250000000);
	scenario_free(&s);

	st = with(&s, "    start_s: 2");
	assert_int_equal(st->count, 6000);
	assert_true(st->ramp_steps == 1 && st->ramp_to_pps == 12000);
	scenario_free(&s);
}

static void rates_that_cannot_be(void **state)
{
	static const struct fault faults[] = {
		{ 21, "    rate_bps: 0\n    rate_layer: l1",
		  "21: rate_bps is 0; it must be a whole number from 1 to 1000000000000" },
		{ 21, "    rate_bps: 1G", "21: rate_layer is missing; say which bits count, as in "
					  "rate_layer: l1" },
		{ 21, "    rate_bps: 1G\n    rate_layer: l3",
		  "22: rate_layer is \"l3\"; it must be l1 or l2" },
		{ 21, "    rate_bps: 511\n    rate_layer: l2",
		  "21: rate_bps makes 0 packets/s; raise it to get 1 to 1000000000" },
		{ 21, "    rate_bps: 1000G\n    rate_layer: l2",
		  "21: rate_bps makes 1953125000 packets/s; lower it to get 1 to 1000000000" },
		{ 24, "    rate_layer: l1", "24: rate_layer belongs to rate_bps; remove it or give both" },
		{ 24, "    rate_bps: 1G", "24: rate_pps and rate_bps are both given; remove one" },
		{ 24, "    rate_percent: 5", "24: rate_pps and rate_percent are both given; remove one" },
		{ 21, "    rate_percent: 5", "21: speed_bps is missing; say of what, as in speed_bps: 10G" },
		{ 21, "    rate_percent: 101",
		  "21: rate_percent is 101; it must be from 1e-06 to 100" },
		{ 21, "    rate_percent: 1\n    speed_bps: 1",
		  "21: rate_percent makes 0 packets/s; raise it to get 1 to 1000000000" },
		{ 24, "    speed_bps: 1G", "24: speed_bps belongs to rate_percent; remove it or give both" },
		{ 21, "    rate_percent: 1\n    speed_bps: 1G\n    replay: a",
		  "21: rate_percent needs sizes that are known, and those of replay are not; give rate_pps" },
		{ 24, "    ramp: 5", "24: ramp is a single value; it must be a group of keys" },
		{ 24, "    ramp: {steps: 5}",
		  "24: to_pps is missing; say where the ramp ends, as in to_pps: 100k" },
		{ 24, "    ramp: {to_pps: 5}", "24: steps is missing; say in how many, as in steps: 10" },
		{ 24, "    ramp: {to_pps: 0, steps: 3}",
		  "24: to_pps is 0; it must be a whole number from 1 to 1000000000" },
		{ 24, "    ramp: {to_pps: 5, steps: 1}",
		  "24: steps is 1; it must be a whole number from 2 to 256" },
		{ 24, "    ramp: {to_pps: 5, step: 3}", "24: unknown key step; did you mean steps?" },
		{ 24, "    group_pkts: 0",
		  "24: group_pkts is 0; it must be a whole number from 1 to 1000000" },
		{ 24, "    start_s: -1", "24: start_s is -1; it must be from 0 to 864000" },
		{ 24, "    start_s: 2.5", "24: start_s 2.5 is not before the end, duration_s 2.5; lower it" },
		{ 24, "    start_s: 2\n    count: 6001", "25: count 6001 does not fit into duration_s 0.5 at "
							 "rate_pps 12000; that makes 6000" },
		{ 21, "    rate_pps: max\n    group_pkts: 2",
		  "22: group_pkts needs a rate_pps that is a number" },
		{ 21, "    rate_pps: max\n    ramp: {to_pps: 9, steps: 2}",
		  "22: ramp needs a rate_pps that is a number" },
		{ 22, "    new_destinations_per_s: 0",
		  "22: new_destinations_per_s 0 is for order window only; raise it, or make it max" },
	};

	(void)state;
	EXPECT_ALL(faults);
}

/* --- orders ------------------------------------------------------------------------------------ */

static void orders_are_bound_and_scheduled(void **state)
{
	static const struct {
		const char *keys;
		enum sched_order order;
		int64_t stride;
		uint64_t window;
		double zipf_s, hot_packets, hot_destinations;
	} cases[] = {
		{ "sequential", SCHED_SEQUENTIAL, 0, 0, 1, 0.9, 0.1 },
		{ "stride\n    stride: -256", SCHED_STRIDE, -256, 0, 1, 0.9, 0.1 },
		{ "stride\n    stride: 51", SCHED_STRIDE, 51, 0, 1, 0.9, 0.1 },
		{ "window\n    window: 255\n    new_destinations_per_s: 0", SCHED_WINDOW, 0, 255, 1, 0.9,
		  0.1 },
		{ "window\n    window: 7", SCHED_WINDOW, 0, 7, 1, 0.9, 0.1 },
		{ "uniform", SCHED_UNIFORM, 0, 0, 1, 0.9, 0.1 },
		{ "zipf\n    zipf_s: 0.5", SCHED_ZIPF, 0, 0, 0.5, 0.9, 0.1 },
		{ "hot\n    hot: {packets: 0.5, destinations: 0.25}", SCHED_HOT, 0, 0, 1, 0.5, 0.25 },
		{ "hot", SCHED_HOT, 0, 0, 1, 0.9, 0.1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct scenario_stream *st;
		struct err err = { "" };
		struct scenario s;
		struct sched sc;
		char text[4096], keys[128];

		snprintf(keys, sizeof(keys), "    order: %s", cases[i].keys);
		compose(text, sizeof(text), 20, keys);
		*strstr(text, "    new_destinations_per_s: 4k") = '#';
		if (load_sets(&s, "s.yaml", text, NULL, 0, &err))
			fail_msg("%s: %s", keys, err.text);
		st = &s.streams[0];
		assert_true(st->order == cases[i].order && st->stride == cases[i].stride &&
			    st->window == cases[i].window && st->zipf_s == cases[i].zipf_s &&
			    st->hot_packets == cases[i].hot_packets &&
			    st->hot_destinations == cases[i].hot_destinations && st->repeat == 1);
		for (uint32_t shard = 0; shard < 3; shard++) {
			assert_int_equal(scenario_sched(&s, 0, shard, 3, &sc, NULL), 0);
			assert_int_equal(sc.order, cases[i].order);
			assert_true(sched_index(&sc, 1000) < 255);
			assert_int_equal(sc.window, st->window / 3 + (shard < st->window % 3));
		}
		scenario_free(&s);
	}
}

static void orders_that_cannot_be(void **state)
{
#define CHANGE "remove it or change the order"
	static const struct fault faults[] = {
		{ 24, "    stride: 5", "24: stride belongs to order stride, and order is permute; " CHANGE },
		{ 24, "    window: 5", "24: window belongs to order window, and order is permute; " CHANGE },
		{ 24, "    zipf_s: 1", "24: zipf_s belongs to order zipf, and order is permute; " CHANGE },
		{ 24, "    hot: {packets: 1}",
		  "24: hot belongs to order hot, and order is permute; " CHANGE },
		{ 20, "    order: stride", "20: stride is missing; order stride needs it, as in stride: 256" },
		{ 20, "    order: window",
		  "20: window is missing; order window needs it, as in window: 1000" },
		{ 20, "    order: stride\n    stride: 0",
		  "21: stride is 0; give another number, negative to go down" },
		{ 20, "    order: stride\n    stride: 1.5",
		  "21: stride is 1.5; it must be a whole number from -9223372036854775807 to "
		  "9223372036854775807" },
		{ 20, "    order: window\n    window: 256",
		  "21: window 256 is more than the 255 destinations; lower it" },
		{ 20, "    order: window\n    window: 0",
		  "21: window is 0; it must be a whole number from 1 to 18446744073709551615" },
		{ 20, "    order: uniform", "22: new_destinations_per_s says nothing where the order is "
					    "random; " CHANGE },
		{ 24, "    zipf_s: 9", "24: zipf_s is 9; it must be from 0.001 to 8" },
		{ 24, "    hot: {packets: 2}", "24: packets is 2; it must be from 0 to 1" },
		{ 24, "    hot: {packet: 1}", "24: unknown key packet; did you mean packets?" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(0, NULL, "streams.0={name: f, destinations: 198.19.0.9, sources: 198.18.0.2, "
	       "rate_pps: max, order: window, window: 1}",
	       "--set streams.0: order window needs a rate_pps that is a number");
	/* The schedule's own sentence gets its place as well. */
	expect(0, NULL, "streams.0={name: f, destinations: 198.19.0.9, sources: 198.18.0.2, "
	       "rate_pps: 9, order: hot, hot: {destinations: 0}}",
	       "--set streams.0: 0.9 of the packets to none of the destinations: give a share of the "
	       "destinations above 0");
}

/* --- several ----------------------------------------------------------------------------------- */

static const char two_streams[] =
	"name: two\nduration_s: 2\nstreams:\n"
	"- {name: live, destinations: 198.19.0.2-198.19.0.51, sources: 198.18.0.2, rate_pps: 5k}\n"
	"- {name: scan, destinations: 2001:2:0:2::/112, sources: '2001:2:0:1::2', rate_pps: 4k}\n";

static void streams_are_apart(void **state)
{
	static const char *const sets[] = { "streams.1.rate_pps=6k", "streams.scan.start_s=1",
					    "streams.live.ttl=9" };
	struct err err = { "" };
	struct scenario s;
	struct sched sc;

	(void)state;
	if (load_sets(&s, "s.yaml", two_streams, sets, 3, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s.nr_streams, 2);
	assert_true(s.streams[0].count == 10000 && s.streams[0].ttl == 9);
	assert_true(s.streams[1].count == 6000 && s.streams[1].ttl == 2);
	assert_true(s.streams[1].shape.family == AF_INET6 && s.streams[1].udp_checksum &&
		    s.streams[1].sizes[0].bytes == 84);
	assert_int_equal(scenario_sched(&s, 1, 0, 1, &sc, NULL), 0);
	assert_true(sc.n == 65536 && sc.rate.pps == 6000);
	scenario_free(&s);
}

static void streams_that_cannot_be(void **state)
{
	static const struct {
		const char *set, *error;
	} cases[] = {
		{ "streams.1.name=live", "--set streams.1.name: streams 0 and 1 are both called live; "
					 "rename one" },
		{ "streams.2={}", "--set streams.2: name is missing; give one, as in name: my-test" },
		{ "streams.1.sources=198.18.0.2", "--set streams.1.sources: sources are IPv4 and "
						  "destinations IPv6; a stream has one family" },
		{ "streams.1.udp_checksum=false", "--set streams.1.udp_checksum: udp_checksum is false, and "
						  "UDP over IPv6 needs one; remove it" },
		{ "streams.1.size=83", "--set streams.1.size: size 83 is too small for a probe: a frame of "
				       "udp over IPv6 with 0 VLAN tags is 84 to 9018 bytes, FCS included" },
		{ "streams.scan.rate_pps=0", "--set streams.scan.rate_pps: rate_pps is 0; it must be a "
					     "whole number from 1 to 1000000000" },
	};
	char text[8192];
	struct err err = { "" };
	struct scenario s;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(load_sets(&s, "s.yaml", two_streams, &cases[i].set, 1, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].error);
	}
	/* 64 go, and not one more. */
	at = (size_t)snprintf(text, sizeof(text), "name: many\nduration_s: 2\nstreams:\n");
	for (int i = 0; i < 64; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "- {name: s%d, destinations: "
				       "198.19.0.%d, sources: 198.18.0.2, rate_pps: 1}\n", i, i + 2);
	if (load_sets(&s, "s.yaml", text, NULL, 0, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s.nr_streams, 64);
	scenario_free(&s);
	snprintf(text + at, sizeof(text) - at, "- {}\n");
	assert_int_equal(load_sets(&s, "s.yaml", text, NULL, 0, &err), -EINVAL);
	assert_string_equal(err.text, "s.yaml:68: streams holds more than 64; remove some");
}

static void shards_that_cannot_share(void **state)
{
	struct scenario s;
	struct err err;
	struct sched sc;

	(void)state;
	with(&s, "    group_pkts: 9");
	assert_int_equal(scenario_sched(&s, 0, 2, 3, &sc, NULL), 0);
	assert_true(sc.rate.group == 3 && sc.rate.pps == 4000);
	assert_int_equal(scenario_sched(&s, 0, 0, 2, &sc, &err), -EINVAL);
	assert_string_equal(err.text, "2 shards cannot share groups of 9 packets at 12000 packets/s; "
				      "group_pkts and the rates must be multiples of 2");
	scenario_free(&s);
	with(&s, "    ramp: {to_pps: 2, steps: 2}");
	assert_int_equal(scenario_sched(&s, 0, 0, 3, &sc, &err), -EINVAL);
	assert_string_equal(err.text, "ramp.to_pps 2 cannot be shared by 3 shards; raise it");
	scenario_free(&s);
	assert_int_equal(load(&s, 20, "    order: window\n    window: 2", NULL, NULL, NULL), 0);
	assert_int_equal(scenario_sched(&s, 0, 0, 3, &sc, &err), -EINVAL);
	assert_string_equal(err.text, "window 2 cannot be shared by 3 shards; raise it");
	scenario_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_have_their_least_frame),
		cmocka_unit_test(frames_are_bound),
		cmocka_unit_test(frames_that_cannot_be),
		cmocka_unit_test(bits_and_percents_become_packets),
		cmocka_unit_test(ramps_groups_and_starts_are_bound),
		cmocka_unit_test(rates_that_cannot_be),
		cmocka_unit_test(orders_are_bound_and_scheduled),
		cmocka_unit_test(orders_that_cannot_be),
		cmocka_unit_test(streams_are_apart),
		cmocka_unit_test(streams_that_cannot_be),
		cmocka_unit_test(shards_that_cannot_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
