// SPDX-License-Identifier: GPL-2.0-or-later
/* Every way in which a scenario can be wrong has its own sentence, with its own line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/scenario.h"
#include "tests/unit/scenario_lines.h"

#define LAB "outside the lab ranges 198.18.0.0/15 and 2001:2::/48; if that network is yours, add --allow "

static void numbers_out_of_place(void **state)
{
	static const struct fault faults[] = {
		{ 2, "seed: x", "2: seed is \"x\"; it must be a number, as in 20 or 15k" },
		{ 2, "seed: -1",
		  "2: seed is -1; it must be a whole number from 0 to 18446744073709551615" },
		{ 2, "seed: 1.5",
		  "2: seed is 1.5; it must be a whole number from 0 to 18446744073709551615" },
		{ 2, "seed: [1]", "2: seed is a list; it must be a single value" },
		{ 3, "duration_s: 0", "3: duration_s is 0; it must be from 0.001 to 864000" },
		{ 3, "duration_s: -2", "3: duration_s is -2; it must be from 0.001 to 864000" },
		{ 3, "duration_s: forever",
		  "3: duration_s is \"forever\"; it must be a number, as in 20 or 15k" },
		{ 3, "duration_s: 1M", "3: duration_s is 1M; it must be from 0.001 to 864000" },
		{ 4, "drain_s: 0", "4: drain_s is 0; it must be from 0.1 to 3600" },
		{ 4, "drain_s: soon", "4: drain_s is \"soon\"; it must be a number, as in 20 or 15k" },
		{ 7, "  memory_mb: 1",
		  "7: memory_mb is 1; it must be a whole number from 64 to 1048576" },
		{ 7, "  cpus: 0", "7: cpus is 0; it must be a whole number from 1 to 64" },
		{ 13, "  lanes: 0", "13: lanes is 0; it must be a whole number from 1 to 64" },
		{ 13, "  lanes: 65", "13: lanes is 65; it must be a whole number from 1 to 64" },
		{ 14, "  burst: 1", "14: burst is 1; it must be a whole number from 2 to 1024" },
		{ 14, "  burst: 1025", "14: burst is 1025; it must be a whole number from 2 to 1024" },
		{ 14, "  burst: 3", "14: burst is 3; with 2 lanes it must be from 4 to 1024" },
		{ 21, "    rate_pps: 0",
		  "21: rate_pps is 0; it must be a whole number from 1 to 1000000000" },
		{ 21, "    rate_pps: 2G",
		  "21: rate_pps is 2G; it must be a whole number from 1 to 1000000000" },
		{ 21, "    rate_pps: fast",
		  "21: rate_pps is \"fast\"; it must be a number, as in 20 or 15k" },
		{ 21, "    rate_pps: '15k'",
		  "21: rate_pps is \"15k\"; it must be a number, as in 20 or 15k, without quotes" },
		{ 22, "    new_destinations_per_s: 0",
		  "22: new_destinations_per_s 0 is for order window only; raise it, or make it max" },
		{ 23, "    ttl: 0", "23: ttl is 0; it must be a whole number from 1 to 255" },
		{ 23, "    ttl: 256", "23: ttl is 256; it must be a whole number from 1 to 255" },
		{ 24, "    src_port: 0", "24: src_port is 0; it must be a whole number from 1 to 65535" },
		{ 25, "    dst_port: 65536",
		  "25: dst_port is 65536; it must be a whole number from 1 to 65535" },
		{ 25, "    count: 0",
		  "25: count is 0; it must be a whole number from 1 to 281474976710656" },
		{ 27, "  answer_ratio: 1.1", "27: answer_ratio is 1.1; it must be from 0 to 1" },
		{ 27, "  answer_ratio: -0.1", "27: answer_ratio is -0.1; it must be from 0 to 1" },
		{ 28, "  delay_ms: -1", "28: delay_ms is -1; it must be from 0 to 60000" },
		{ 29, "  answer_probe: 0",
		  "29: answer_probe is 0; it must be a whole number from 1 to 1000" },
	};

	(void)state;
	EXPECT_ALL(faults);
}

static void names_and_words_out_of_place(void **state)
{
#define NAME_RULE                                                                                  \
	"it must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter, a digit or _"
	static const struct fault faults[] = {
		{ 1, "name: ../x", "1: name is \"../x\"; " NAME_RULE },
		{ 1, "name: a b", "1: name is \"a b\"; " NAME_RULE },
		{ 1, "name: .x", "1: name is \".x\"; " NAME_RULE },
		{ 1, "name: -x", "1: name is \"-x\"; " NAME_RULE },
		{ 1, "name: ''", "1: name is \"\"; " NAME_RULE },
		{ 1, "name:", "1: name has no value; write \"\" for an empty one" },
		{ 1, "name: {a: 1}", "1: name is a group of keys; it must be a single value" },
		{ 16, "  - name: a/b", "16: name is \"a/b\"; " NAME_RULE },
		{ 6, "  kernel: debian-6.2",
		  "6: kernel is \"debian-6.2\"; it must be debian-6.1, debian-6.12 or the path of a "
		  "bzImage with a / in it; did you mean debian-6.1?" },
		{ 6, "  kernel: vmlinuz",
		  "6: kernel is \"vmlinuz\"; it must be debian-6.1, debian-6.12 or the path of a "
		  "bzImage with a / in it" },
		{ 6, "  kernel: \"/a\\nb\"", "6: kernel must be one line of at most 1024 characters" },
		{ 6, "  cmdline: \"a\\nb\"", "6: cmdline must be one line of at most 1024 characters" },
		{ 11, "    a b: 1", "11: a b is no name of a sysctl" },
		{ 11, "    ../x: 1", "11: ../x is no name of a sysctl" },
		{ 11, "    /etc/x: 1", "11: /etc/x is no name of a sysctl" },
		{ 11, "    net.x: [1]", "11: net.x is a list; it must be a single value" },
		{ 11, "    net.x:", "11: net.x needs a value of one line" },
		{ 11, "    net.x: \"1\\n2\"", "11: net.x needs a value of one line" },
		{ 20, "    order: random",
		  "20: order is \"random\"; it must be "
		  "sequential, permute, stride, window, uniform, zipf or hot" },
		{ 31, "  - verdict", "31: \"verdict\" must be FIELD OP VALUE with OP one of "
				     "== != < <= > >=, as in verdict == clean" },
		{ 31, "  - verdict = clean", "31: \"verdict = clean\" must be FIELD OP VALUE with OP one "
					     "of == != < <= > >=, as in verdict == clean" },
		{ 31, "  - verdict ==", "31: \"verdict ==\" must be FIELD OP VALUE with OP one of "
					"== != < <= > >=, as in verdict == clean" },
		{ 31, "  - ' == 5'", "31: \" == 5\" must be FIELD OP VALUE with OP one of "
				     "== != < <= > >=, as in verdict == clean" },
		{ 31, "  - [a, b]", "31: this entry is a list; it must be a single value" },
	};

	(void)state;
	EXPECT_ALL(faults);
}

static void unknown_keys_and_wrong_shapes(void **state)
{
	static const struct fault faults[] = {
		{ 2, "sede: 1", "2: unknown key sede; did you mean seed?" },
		{ 2, "colour: red", "2: unknown key colour; remove it" },
		{ 3, "duration: 5", "3: unknown key duration; did you mean duration_s?" },
		{ 7, "  memory: 512", "7: unknown key memory; did you mean memory_mb?" },
		{ 10, "  sysctls:", "10: unknown key sysctls; did you mean sysctl?" },
		{ 13, "  lane: 2", "13: unknown key lane; did you mean lanes?" },
		{ 21, "    rate_pp: 12k", "21: unknown key rate_pp; did you mean rate_pps?" },
		{ 22, "    new_destinations: 4k",
		  "22: unknown key new_destinations; did you mean new_destinations_per_s?" },
		{ 17, "    destination: [198.19.0.0/24]",
		  "17: unknown key destination; did you mean destinations?" },
		{ 27, "  answer_ration: 1", "27: unknown key answer_ration; did you mean answer_ratio?" },
		{ 30, "requires:", "30: unknown key requires; did you mean require?" },
		{ 30, "require: verdict == clean\nx:",
		  "30: require is a single value; it must be a list" },
		{ 16, "  - other\n  - name: flood",
		  "16: a stream is a group of keys, as in - name: flood" },
		{ 17, "    destinations: {a: 1}", "17: unknown key a; remove it" },
		{ 17, "    destinations: [{fil: x}]", "17: unknown key fil; did you mean file?" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(0, NULL, "gen=5", "--set gen: gen is a single value; it must be a group of keys");
	expect(0, NULL, "streams={a: 1}", "--set streams: streams is a group of keys; it must be a list");
	expect(0, NULL, "streams=[other]",
	       "--set streams: a stream is a group of keys, as in - name: flood");
	expect(0, NULL, "dut.sysctl=[1]",
	       "--set dut.sysctl: sysctl is a list; it must be a group of keys");
}

static void what_is_mandatory(void **state)
{
	static const struct fault faults[] = {
		{ 1, "", "2: name is missing; give one, as in name: my-test" },
		{ 3, "", "1: duration_s is missing; a flood needs an end, as in duration_s: 20" },
		{ 16, "  -", "17: name is missing; give one, as in name: my-test" },
		{ 17, "", "16: destinations is missing; list addresses, prefixes or ranges, as in "
			  "[198.19.0.0/24]" },
		{ 19, "", "16: sources is missing; list addresses, prefixes or ranges, as in "
			  "[198.19.0.0/24]" },
		{ 21, "", "16: rate_pps is missing; say how fast, in packets/s, as in rate_pps: 15k" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(0, NULL, "streams=[]", "--set streams: streams is missing; a scenario needs one, as in "
				      "configs/many-destinations.yaml");
}

static void values_that_contradict(void **state)
{
	static const struct fault faults[] = {
		{ 9, "  out_address: 198.18.3.1/24",
		  "9: out_address 198.18.3.1/24 and in_address 198.18.0.1/16 share a prefix; nothing "
		  "would be forwarded between them" },
		{ 13, "  lanes: 17", "14: burst is 32; with 17 lanes it must be from 34 to 1024" },
		{ 22, "    new_destinations_per_s: 7k",
		  "22: new_destinations_per_s 7000 does not divide rate_pps 12000; the nearest that "
		  "does is 6000" },
		{ 22, "    new_destinations_per_s: 11",
		  "22: new_destinations_per_s 11 does not divide rate_pps 12000; the nearest that does "
		  "is 10" },
		{ 22, "    new_destinations_per_s: 11k",
		  "22: new_destinations_per_s 11000 does not divide rate_pps 12000; the nearest that "
		  "does is 12000" },
		{ 22, "    new_destinations_per_s: 13k",
		  "22: new_destinations_per_s 13000 is above rate_pps 12000; each destination needs a "
		  "packet: lower it, or make it max" },
		{ 21, "    rate_pps: max", "22: new_destinations_per_s needs a rate_pps that is a "
					   "number; make it max too" },
		{ 21, "    rate_pps: 11k", "22: new_destinations_per_s 4000 does not divide rate_pps "
					   "11000; the nearest that does is 2750" },
		{ 25, "    count: 30001",
		  "25: count 30001 does not fit into duration_s 2.5 at rate_pps 12000; that makes "
		  "30000" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(3, "duration_s: 0.01",
	       "streams.0={name: f, destinations: 198.19.0.9, sources: 198.18.0.2, rate_pps: 99}",
	       "--set streams.0: rate_pps 99 makes no packet in duration_s 0.01; raise one of them");
	expect(3, "duration_s: 864k",
	       "streams.0={name: f, destinations: 198.19.0.9, sources: 198.18.0.2, rate_pps: 1G}",
	       "--set streams.0: rate_pps 1000000000 for duration_s 864000 is more than 2^48 packets; "
	       "lower one of them");
}

static void sets_that_are_no_sets(void **state)
{
	static const struct fault faults[] = {
		{ 17, "    destinations: [198.19.0.0/16, 198.19.0.1/16]",
		  "17: '198.19.0.1/16' has bits set after the prefix: write 198.19.0.0/16" },
		{ 17, "    destinations: [2001:2::/64]",
		  "18: '198.19.0.1' is IPv4, and the set has IPv6: make two sets" },
		{ 17, "    destinations: []",
		  "17: destinations: the address set is empty: nothing was added" },
		{ 17, "    destinations: [[198.19.0.1]]",
		  "17: this entry is a list; it must be a single value" },
		{ 17, "    destinations: [{}]",
		  "17: destinations: a group of keys must be {file: PATH} or {pcap: PATH}" },
		{ 17, "    destinations: {file: a, pcap: b}",
		  "17: destinations: a group of keys must be {file: PATH} or {pcap: PATH}" },
		{ 17, "    destinations: {file: [a]}", "17: file is a list; it must be a single value" },
		{ 18, "    exclude: [198.19.0.0/25, 198.19.0.128-198.19.1.7]",
		  "17: destinations: the address set is empty: all that was added is excluded" },
		{ 18, "    exclude: {pcap: /dev/null}",
		  "18: exclude: /dev/null is no regular file; give one that can be read again" },
		{ 19, "    sources:\n    - 198.18.0.2\n    - 198.18.0.300", NULL },
		{ 19, "    sources: [198.18.0.9-198.18.0.2]", NULL },
		{ 19, "    sources: ['']", NULL },
	};
	static const char *const where[] = { "s.yaml:21: ", "s.yaml:19: ", "s.yaml:19: " };
	size_t nr = sizeof(faults) / sizeof(faults[0]), own = 3;
	struct err err = { "" };
	struct scenario s;

	(void)state;
	expect_all(faults, nr - own);
	for (size_t i = 0; i < own; i++) { /* the sentence is the set's own */
		assert_int_equal(load(&s, 19, faults[nr - own + i].with, NULL, NULL, &err), -EINVAL);
		assert_memory_equal(err.text, where[i], strlen(where[i]));
		assert_true(strlen(err.text) > strlen(where[i]) + 10);
	}
}

static void addresses_that_are_never_sent_to(void **state)
{
	static const struct fault faults[] = {
		{ 17, "    destinations: [224.0.0.0/4]",
		  "17: destinations: 224.0.0.0 is multicast; exclude it" },
		{ 17, "    destinations: [239.255.255.255]",
		  "17: destinations: 239.255.255.255 is multicast; exclude it" },
		{ 17, "    destinations: [255.255.255.255]",
		  "17: destinations: 255.255.255.255 is broadcast; exclude it" },
		{ 17, "    destinations: [240.0.0.1]",
		  "17: destinations: 240.0.0.1 is reserved (class E); exclude it" },
		{ 17, "    destinations: [255.255.255.254]",
		  "17: destinations: 255.255.255.254 is reserved (class E); exclude it" },
		{ 17, "    destinations: [127.0.0.1]",
		  "17: destinations: 127.0.0.1 is loopback; exclude it" },
		{ 17, "    destinations: [0.0.0.0]",
		  "17: destinations: 0.0.0.0 is unspecified; exclude it" },
		{ 17, "    destinations:\n    - 198.19.0.0/16\n    - 198.20.0.0-230.0.0.0",
		  "19: destinations: 224.0.0.0 is multicast; exclude it" },
		{ 19, "    sources: [224.0.0.1]", "19: sources: 224.0.0.1 is multicast; exclude it" },
		{ 19, "    sources: [127.0.0.1]", "19: sources: 127.0.0.1 is loopback; exclude it" },
		{ 8, "  in_address: 127.0.0.1/8", "8: in_address: 127.0.0.1 is loopback; exclude it" },
	};

	(void)state;
	EXPECT_ALL(faults);
}

static void addresses_outside_the_lab(void **state)
{
	static const struct fault faults[] = {
		{ 17, "    destinations: [198.17.255.255]",
		  "17: destinations: 198.17.255.255 is " LAB "198.17.255.255" },
		{ 17, "    destinations: [198.20.0.0]",
		  "17: destinations: 198.20.0.0 is " LAB "198.20.0.0" },
		{ 17, "    destinations: [198.16.0.0/14]",
		  "17: destinations: 198.16.0.0 is " LAB "198.16.0.0/14" },
		{ 17, "    destinations:\n    - 198.19.0.0/16\n    - 10.0.0.0/8",
		  "19: destinations: 10.0.0.0 is " LAB "10.0.0.0/8" },
		{ 19, "    sources: 192.0.2.1", "19: sources: 192.0.2.1 is " LAB "192.0.2.1" },
		{ 8, "  in_address: 10.0.0.1/8", "8: in_address: 10.0.0.1 is " LAB "10.0.0.1" },
		{ 9, "  out_address: 10.0.0.1/8", "9: out_address: 10.0.0.1 is " LAB "10.0.0.1" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(0, NULL, "streams.0.destinations=[8.8.8.8]",
	       "--set streams.0.destinations: destinations: 8.8.8.8 is " LAB "8.8.8.8");
}

static void addresses_of_the_host_under_test(void **state)
{
#define HOST_RULE                                                                                  \
	"it must be an address and a prefix length up to 30 (IPv6: 126), as in 198.18.0.1/16 or "   \
	"2001:2:0:1::1/64"
	static const struct fault faults[] = {
		{ 19, "    sources: [198.18.0.0/16]", "19: sources: 198.18.0.1 is the host under test "
						      "itself (dut.in_address); take another address" },
		{ 19, "    sources:\n    - 198.18.0.2\n    - 198.19.0.1",
		  "21: sources: 198.19.0.1 is the host under test itself (dut.out_address); take "
		  "another address" },
		{ 8, "  in_address: 198.18.0.1", "8: in_address is \"198.18.0.1\"; " HOST_RULE },
		{ 8, "  in_address: 198.18.0.1/31", "8: in_address is \"198.18.0.1/31\"; " HOST_RULE },
		{ 8, "  in_address: 198.18.0.1/0", "8: in_address is \"198.18.0.1/0\"; " HOST_RULE },
		{ 8, "  in_address: 198.18.0.1/16x", "8: in_address is \"198.18.0.1/16x\"; " HOST_RULE },
		{ 8, "  in_address: 198.18.1/16", "8: in_address is \"198.18.1/16\"; " HOST_RULE },
		{ 8, "  in_address: 2001:2::1/127", "8: in_address is \"2001:2::1/127\"; " HOST_RULE },
		{ 8, "  in_address: 2001:2::1/64", "8: in_address has no IPv4 address, which stream 0 needs; "
						   "add one, as in [198.18.0.1/16, 2001:2:0:1::1/64]" },
		{ 8, "  in_address: 198.18.0.0/16", "8: in_address: 198.18.0.0/16 is the first address "
						    "of its prefix; take a host's" },
		{ 8, "  in_address: 198.18.255.255/16", "8: in_address: 198.18.255.255/16 is the "
							"broadcast address of its prefix; take a host's" },
	};
	struct scenario s;

	(void)state;
	EXPECT_ALL(faults);
	/* Its addresses may be destinations. */
	assert_int_equal(load(&s, 18, "    exclude: []", NULL, NULL, NULL), 0);
	assert_true(addrset_has(&s.streams[0].destinations, s.out[0].a));
	scenario_free(&s);
}

static void files_and_overrides_that_are_none(void **state)
{
	struct err err = { "" };
	struct scenario s;

	(void)state;
	assert_int_equal(load_sets(&s, "/nonexistent/s.yaml", NULL, NULL, 0, &err), -EINVAL);
	assert_string_equal(err.text, "/nonexistent/s.yaml: No such file or directory; give the path of "
				      "a scenario file");
	assert_int_equal(load_sets(&s, "s.yaml", "a: [", NULL, 0, &err), -EINVAL);
	assert_memory_equal(err.text, "s.yaml:1: this is no YAML", 25);
	expect(0, NULL, "seed", "--set seed: write KEY=VALUE, as in --set streams.0.rate_pps=5k");
	expect(0, NULL, "sede=1", "--set sede: unknown key sede; did you mean seed?");
	expect(0, NULL, "gen.lanes=0",
	       "--set gen.lanes: lanes is 0; it must be a whole number from 1 to 64");
	expect(0, NULL, "streams.1={}", "--set streams.1: name is missing; give one, as in name: my-test");
	assert_int_equal(load(&s, 2, "seed: x", NULL, NULL, NULL), -EINVAL); /* err may be NULL */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_out_of_place),
		cmocka_unit_test(names_and_words_out_of_place),
		cmocka_unit_test(unknown_keys_and_wrong_shapes),
		cmocka_unit_test(what_is_mandatory),
		cmocka_unit_test(values_that_contradict),
		cmocka_unit_test(sets_that_are_no_sets),
		cmocka_unit_test(addresses_that_are_never_sent_to),
		cmocka_unit_test(addresses_outside_the_lab),
		cmocka_unit_test(addresses_of_the_host_under_test),
		cmocka_unit_test(files_and_overrides_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
