// SPDX-License-Identifier: GPL-2.0-or-later
/* The host under test, what answers behind it, and the sets of addresses; both families. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/scenario.h"
#include "tests/unit/scenario_lines.h"

#define LIST "tests/unit/data/addresses.txt" /* 198.19.0.7 to .10 */

static void must_load(struct scenario *s, unsigned int line, const char *with, const char *set)
{
	struct err err = { "" };

	if (load(s, line, with, set, NULL, &err))
		fail_msg("%s: %s", with ? with : set, err.text);
}

/* --- the host under test ----------------------------------------------------------------------- */

static void hosts_are_bound(void **state)
{
	static const char ipv6[] = "name: a\nduration_s: 1\nstreams:\n- {name: a, destinations: "
				   "2001:2:0:2::/65, sources: '2001:2:0:1::2', rate_pps: 9}\n";
	const struct scenario_host *h;
	struct scenario s;
	struct err err;

	(void)state;
	must_load(&s, 8, "  in_address: [198.18.0.1/16, 2001:2:0:7::1/126, 198.18.4.1/30]", NULL);
	assert_true(s.nr_in == 3 && s.nr_out == 1 && s.lab == LAB_VM);
	assert_string_equal(s.in[1].text, "2001:2:0:7::1/126");
	assert_true(s.in[1].family == AF_INET6 && s.in[1].len == 126 && s.in[1].a.lo == 1 &&
		    s.in[1].a.hi == 0x2001000200000007);
	assert_true(s.in[2].family == AF_INET && s.in[2].len == 30 && s.in[2].a.lo == 0xc6120401);
	h = scenario_in(&s, AF_INET6);
	assert_ptr_equal(h, &s.in[1]);
	scenario_free(&s);

	/* The defaults: one family more where a stream needs it. */
	must_load(&s, 8, "  in_address: 198.18.0.1/16", "lab=netns");
	assert_true(s.nr_in == 1 && !scenario_in(&s, AF_INET6) && s.lab == LAB_NETNS);
	scenario_free(&s);
	if (load_sets(&s, "s.yaml", ipv6, NULL, 0, &err))
		fail_msg("%s", err.text);
	assert_true(s.nr_in == 2 && s.nr_out == 2);
	assert_string_equal(s.in[0].text, "198.18.0.1/16");
	assert_string_equal(s.in[1].text, "2001:2:0:1::1/64");
	assert_string_equal(s.out[0].text, "198.19.0.1/16");
	assert_string_equal(s.out[1].text, "2001:2:0:2::1/64");
	assert_true(addrset_count(&s.streams[0].destinations) == UINT64_C(1) << 63);
	scenario_free(&s);
}

static void routes_have_their_parts(void **state)
{
	const struct scenario_route *r;
	struct scenario s;

	(void)state;
	must_load(&s, 8, "  in_address: [198.18.0.1/16, 2001:2:0:7::1/64]\n  routes:\n"
			 "  - 10.0.0.0/8  via 198.19.0.2\n  - blackhole 198.19.4.0/24\n"
			 "  - unreachable 2001:2:0:9::/64\n  - prohibit 198.19.5.7\n"
			 "  - '::/0 via 2001:2:0:7::2'", NULL);
	assert_int_equal(s.nr_routes, 5);
	r = s.routes;
	assert_string_equal(r[0].text, "10.0.0.0/8  via 198.19.0.2");
	assert_true(r[0].type == ROUTE_VIA && r[0].family == AF_INET && r[0].len == 8 &&
		    r[0].prefix.lo == 0x0a000000 && r[0].via.lo == 0xc6130002);
	assert_true(r[1].type == ROUTE_BLACKHOLE && r[1].len == 24 && r[1].prefix.lo == 0xc6130400);
	assert_true(r[2].type == ROUTE_UNREACHABLE && r[2].family == AF_INET6 && r[2].len == 64 &&
		    r[2].prefix.hi == 0x2001000200000009);
	assert_true(r[3].type == ROUTE_PROHIBIT && r[3].len == 32 && r[3].prefix.lo == 0xc6130507);
	assert_true(r[4].type == ROUTE_VIA && r[4].family == AF_INET6 && !r[4].len &&
		    r[4].via.hi == 0x2001000200000007 && r[4].via.lo == 2);
	scenario_free(&s);
}

static void hosts_and_routes_that_cannot_be(void **state)
{
#define NO_ROUTE                                                                                   \
	"is no route; write PREFIX via GATEWAY, blackhole PREFIX, unreachable PREFIX or prohibit PREFIX"
	static const struct fault faults[] = {
		{ 1, "name: a\nlab: cloud", "2: lab is \"cloud\"; it must be vm or netns" },
		{ 8, "  in_address: []", "8: in_address is empty; give an address or leave it out" },
		{ 8, "  in_address: {a: 1}", "8: in_address is a group of keys; it must be a single value" },
		{ 8, "  in_address: [198.18.0.1/16, 198.18.0.2/16, 198.18.0.3/16, 198.18.0.4/16, "
		     "198.18.0.5/16]", "8: in_address holds more than 4; remove some" },
		{ 8, "  in_address:\n  - 198.18.0.1/16\n  - 198.18.0.1/24",
		  "10: in_address: 198.18.0.1/24 has the same address as 198.18.0.1/16; remove one" },
		{ 8, "  in_address: [198.18.0.1/16, '2001:2:0:7::/64']",
		  "8: in_address: 2001:2:0:7::/64 is the first address of its prefix; take a host's" },
		{ 8, "  in_address: [198.18.0.1/16, 'fe80::1/64']",
		  "8: in_address: fe80::1 is link-local; exclude it" },
		{ 8, "  in_address: [198.18.0.1/16, '2001:db8::1/64']",
		  "8: in_address: 2001:db8::1 is outside the lab ranges 198.18.0.0/15 and 2001:2::/48; if "
		  "that network is yours, add --allow 2001:db8::1" },
		{ 9, "  out_address:\n  - 198.19.0.1/16\n  - 198.18.9.1/24",
		  "11: out_address 198.18.9.1/24 and in_address 198.18.0.1/16 share a prefix; nothing would "
		  "be forwarded between them" },
		{ 9, "  routes: 198.19.4.0/24", "9: routes is a single value; it must be a list" },
		{ 9, "  routes: [198.19.4.0/24]", "9: routes: '198.19.4.0/24' " NO_ROUTE },
		{ 9, "  routes: [blackhole]", "9: routes: 'blackhole' " NO_ROUTE },
		{ 9, "  routes: [throw 198.19.4.0/24]", "9: routes: 'throw 198.19.4.0/24' " NO_ROUTE },
		{ 9, "  routes: ['']", "9: routes: '' " NO_ROUTE },
		{ 9, "  routes: [198.19.4.0/24 via 198.19.0.2 dev x]",
		  "9: routes: '198.19.4.0/24 via 198.19.0.2 dev x' " NO_ROUTE },
		{ 9, "  routes: [blackhole 198.19.4.1/24]",
		  "9: routes: '198.19.4.1/24' has bits set after the prefix: write 198.19.4.0/24" },
		{ 9, "  routes: [blackhole 198.19.4.1-198.19.4.2]",
		  "9: routes: '198.19.4.1-198.19.4.2' is a range; a route has a prefix" },
		{ 9, "  routes: [198.19.4.0/24 via 198.19.0.0/24]",
		  "9: routes: the gateway '198.19.0.0/24' must be an address" },
		{ 9, "  routes: ['198.19.4.0/24 via 2001:2:0:2::2']",
		  "9: routes: '2001:2:0:2::2' is of another family than the prefix; give a gateway of the "
		  "same" },
		{ 9, "  routes:\n  - blackhole 198.19.4.0/24\n  - 198.19.5.0/24 via 198.19.0.1",
		  "11: routes: 198.19.0.1 is the host under test itself (dut.out_address); take another "
		  "gateway" },
		{ 9, "  routes: ['2001:2:0:9::/64 via 2001:2:0:2::2']",
		  "9: routes: 2001:2:0:2::2 is in no prefix of in_address or out_address; take a gateway that "
		  "is on-link" },
	};

	(void)state;
	EXPECT_ALL(faults);
	expect(0, NULL, "streams.0={name: a, destinations: '2001:2:0:2::9', sources: '2001:2:0:1::2', "
	       "rate_pps: 9}", "s.yaml:8: in_address has no IPv6 address, which stream 0 needs; add one, "
	       "as in [198.18.0.1/16, 2001:2:0:1::1/64]");
}

/* --- the responder ----------------------------------------------------------------------------- */

static void rules_and_storms_are_bound(void **state)
{
	const struct scenario_storm *t;
	const struct scenario_rule *r;
	struct addr a = { .lo = 0xc6130008 };
	struct scenario s;

	(void)state;
	must_load(&s, 29, "  rules:\n  - prefix: [198.19.0.0/28, {file: " LIST "}]\n    copies: 3\n"
			  "    mac_changes: true\n  - {prefix: '2001:2:0:2::/64', answer_ratio: 0, delay_ms: 7, "
			  "answer_probe: 9}\n  storms:\n  - {prefix: {file: " LIST "}, rate_pps: 1k, "
			  "duration_s: 0.5, start_s: 2, mac_changes: yes, vlan: [100, 10]}\n"
			  "  - {prefix: [198.19.0.9], rate_pps: 1, duration_s: 1, vlan: 4094}\n"
			  "  - {prefix: [198.19.0.9], rate_pps: 1, duration_s: 1}", NULL);
	assert_true(s.nr_rules == 2 && s.nr_storms == 3);
	r = s.rules;
	assert_true(addrset_has(&r[0].prefix, a) && r[0].copies == 3 && r[0].mac_changes);
	/* What a rule does not say is as without it. */
	assert_true(r[0].answer_ratio == 0.5 && r[0].delay_ms == 2 && r[0].answer_probe == 1);
	assert_true(r[1].prefix.family == AF_INET6 && !r[1].answer_ratio && r[1].delay_ms == 7 &&
		    r[1].answer_probe == 9 && r[1].copies == 1 && !r[1].mac_changes);
	t = s.storms;
	assert_true(addrset_count(&t->prefix) == 4 && t->rate_pps == 1000 && t->start_s == 2 &&
		    t->duration_s == 0.5 && t->mac_changes);
	assert_true(t->nr_vlans == 2 && t->vlans[0] == 100 && t->vlans[1] == 10);
	assert_true(t[1].nr_vlans == 1 && t[1].vlans[0] == 4094 && !t[2].nr_vlans);
	scenario_free(&s);
}

static void rules_and_storms_that_cannot_be(void **state)
{
	static const struct fault faults[] = {
		{ 29, "  rules: 5", "29: rules is a single value; it must be a list" },
		{ 29, "  rules: [5]",
		  "29: an entry of rules is a group of keys, as in - prefix: [198.19.0.0/24]" },
		{ 29, "  rules: [{copies: 1}]", "29: prefix is missing; list addresses, prefixes or ranges, as "
						"in [198.19.0.0/24]" },
		{ 29, "  rules: [{prefix: [198.19.0.0/24], copies: 101}]",
		  "29: copies is 101; it must be a whole number from 1 to 100" },
		{ 29, "  rules: [{prefix: [198.19.0.0/24], answer_ratio: 2}]",
		  "29: answer_ratio is 2; it must be from 0 to 1" },
		{ 29, "  rules: [{prefix: 10.0.0.0/8}]",
		  "29: prefix: 10.0.0.0 is outside the lab ranges 198.18.0.0/15 and 2001:2::/48; if that "
		  "network is yours, add --allow 10.0.0.0/8" },
		{ 29, "  rules: [{prefixes: 198.19.0.0/24}]",
		  "29: unknown key prefixes; did you mean prefix?" },
		{ 29, "  storms: [x]",
		  "29: an entry of storms is a group of keys, as in - prefix: [198.19.0.0/24]" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, duration_s: 1}]",
		  "29: rate_pps is missing; say how many a second, as in rate_pps: 1k" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, rate_pps: 1}]",
		  "29: duration_s is missing; a storm needs an end, as in duration_s: 5" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, rate_pps: 1, duration_s: 1, start_s: 1.6}]",
		  "29: the storm ends at 2.6 s, after the scenario's duration_s 2.5; shorten one or lengthen "
		  "the other" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, rate_pps: 1G, duration_s: 1}]",
		  "29: rate_pps is 1G; it must be a whole number from 1 to 100000000" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, rate_pps: 1, duration_s: 1, vlan: 4095}]",
		  "29: vlan is 4095; it must be a whole number from 1 to 4094" },
		{ 29, "  storms: [{prefix: 198.19.0.0/24, rate_pps: 1, duration_s: 1, vlan: [1, 2, 3]}]",
		  "29: vlan holds more than 2 tags; remove some" },
		{ 29, "  storms: [{rate_pps: 1, duration_s: 1}]",
		  "29: prefix is missing; list addresses, prefixes or ranges, as in [198.19.0.0/24]" },
	};

	(void)state;
	EXPECT_ALL(faults);
}

/* --- sets -------------------------------------------------------------------------------------- */

static int fake_pcap(const char *path, int family, struct addrset *set,
		     int (*add)(struct addrset *, int, struct addr, struct err *), struct err *err)
{
	if (strcmp(path, LIST) != 0)
		return err_set(err, -EINVAL, "%s is not what was asked for", path);
	if (family == AF_INET6)
		return err_set(err, -EINVAL, "no packet is IPv6");
	for (uint64_t i = 8; i < 20; i++)
		if (add(set, AF_INET, (struct addr){ .lo = 0xc6130000 + i / 2 }, err))
			return -EINVAL;
	return 0;
}

static void sets_come_from_files_and_captures(void **state)
{
	struct scenario s;
	struct err err;

	(void)state;
	must_load(&s, 17, "    destinations: [{file: " LIST "}, 198.19.0.10-198.19.0.20]", NULL);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 14);
	scenario_free(&s);
	must_load(&s, 18, "    exclude: {file: " LIST "}", NULL);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 252);
	scenario_free(&s);
	/* From the folder of the scenario, whatever the working directory. */
	assert_int_equal(load_sets(&s, "tests/s.yaml", "name: a\nduration_s: 1\nstreams:\n- {name: a, "
				   "destinations: {file: unit/data/addresses.txt}, sources: 198.18.0.2, "
				   "rate_pps: 9, replay: unit/x.pcap}", NULL, 0, NULL), 0);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 4);
	assert_string_equal(s.streams[0].replay, "tests/unit/x.pcap");
	scenario_free(&s);

	expect(17, "    destinations: {pcap: " LIST "}", NULL,
	       "s.yaml:17: destinations: " LIST ": this program reads no captures; list the addresses in "
	       "a {file:}");
	scenario_pcap = fake_pcap;
	must_load(&s, 17, "    destinations: {pcap: " LIST "}", NULL);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 6);
	scenario_free(&s);
	must_load(&s, 18, "    exclude: {pcap: " LIST "}", NULL);
	assert_int_equal(addrset_count(&s.streams[0].destinations), 250);
	scenario_free(&s);
	assert_int_equal(load(&s, 17, "    destinations: ['2001:2::9', {pcap: " LIST "}]", NULL, NULL, &err),
			 -EINVAL);
	assert_string_equal(err.text, "s.yaml:17: destinations: no packet is IPv6");
	scenario_pcap = NULL;
}

static void files_that_are_none(void **state)
{
	static const struct fault faults[] = {
		{ 17, "    destinations: {file: no-such-file}",
		  "17: destinations: no-such-file: No such file or directory; give the path of a file" },
		{ 17, "    destinations: {file: tests}",
		  "17: destinations: tests is no regular file; give one that can be read again" },
		{ 17, "    destinations: {file: /dev/stdin}",
		  "17: destinations: /dev/stdin is no regular file; give one that can be read again" },
	};
	struct scenario s;
	struct err err;
	char text[512];
	FILE *f = fopen("build/scenario-labs.txt", "w");

	(void)state;
	EXPECT_ALL(faults);
	/* Wrong in a file: both places are named. Outside the lab: the entry. */
	assert_non_null(f);
	fputs("198.19.0.2\nx\n", f);
	fclose(f);
	assert_true(load(&s, 17, "    destinations: {file: build/scenario-labs.txt}", NULL, NULL, &err) < 0);
	snprintf(text, sizeof(text), "s.yaml:17: destinations: build/scenario-labs.txt:2: 'x' is no address");
	assert_memory_equal(err.text, text, strlen(text));
	f = fopen("build/scenario-labs.txt", "w");
	assert_non_null(f);
	fputs("198.19.0.2\n10.1.2.3\n", f);
	fclose(f);
	expect(17, "    destinations:\n    - 198.19.0.9\n    - {file: build/scenario-labs.txt}", NULL,
	       "s.yaml:19: destinations: 10.1.2.3 is outside the lab ranges 198.18.0.0/15 and 2001:2::/48; "
	       "if that network is yours, add --allow 10.1.2.3");
	unlink("build/scenario-labs.txt");
}

static void addresses_of_ipv6_have_their_rules(void **state)
{
	static const struct {
		const char *set, *error; /* behind "--set streams.0.destinations: " */
	} cases[] = {
		{ "ff02::1", "destinations: ff02::1 is multicast; exclude it" },
		{ "fe80::/64", NULL }, /* too many */
		{ "fe80::7", "destinations: fe80::7 is link-local; exclude it" },
		{ "::1", "destinations: ::1 is loopback; exclude it" },
		{ "::", "destinations: :: is unspecified; exclude it" },
		{ "2001:2:1::", "destinations: 2001:2:1:: is outside the lab ranges 198.18.0.0/15 and "
				"2001:2::/48; if that network is yours, add --allow 2001:2:1::" },
		{ "2001:1:ffff:ffff:ffff:ffff:ffff:ffff-2001:2::9",
		  "destinations: 2001:1:ffff:ffff:ffff:ffff:ffff:ffff is outside the lab ranges "
		  "198.18.0.0/15 and 2001:2::/48; if that network is yours, add --allow "
		  "2001:1:ffff:ffff:ffff:ffff:ffff:ffff-2001:2::9" },
		{ "169.254.1.1", "destinations: 169.254.1.1 is link-local; exclude it" },
	};
	static const char *const allow[] = { "2001:db8::/32", "::/8" };
	struct scenario_source from = { .path = "s.yaml", .allow = allow, .nr_allow = 2 };
	struct err err = { "" };
	struct scenario s;
	char text[4096], want[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char set[128];

		snprintf(set, sizeof(set), "streams.0.destinations=['%s']", cases[i].set);
		compose(text, sizeof(text), 8, "  in_address: [198.18.0.1/16, 2001:2:0:1::1/64]");
		assert_true(load_sets(&s, "s.yaml", text, (const char *[]){ set, "streams.0.exclude=[]",
			    "dut.out_address=[198.19.0.1/16, '2001:2:0:2::1/64']" }, 3, &err) < 0);
		snprintf(want, sizeof(want), "--set streams.0.destinations: %s",
			 cases[i].error ? cases[i].error : "destinations: ");
		assert_memory_equal(err.text, want, strlen(want) + !!cases[i].error);
	}
	/* What is allowed beside the lab, and what not even then. */
	snprintf(text, sizeof(text), "name: a\nduration_s: 1\nstreams:\n- {name: a, destinations: "
		 "['2001:db8::/66', '2001:2::/66'], sources: '2001:db8:1::2', rate_pps: 9}");
	from.text = text;
	if (scenario_load(&s, &from, &err))
		fail_msg("%s", err.text);
	assert_true(addrset_count(&s.streams[0].destinations) == UINT64_C(1) << 63);
	scenario_free(&s);
	snprintf(text, sizeof(text), "name: a\nduration_s: 1\nstreams:\n- {name: a, destinations: "
		 "['::fffe:0:0-::1:0:0:0'], sources: '2001:db8:1::2', rate_pps: 9}");
	assert_int_equal(scenario_load(&s, &from, &err), -EINVAL);
	assert_string_equal(err.text, "s.yaml:4: destinations: ::ffff:0.0.0.0 is IPv4-mapped; exclude it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_bound),
		cmocka_unit_test(routes_have_their_parts),
		cmocka_unit_test(hosts_and_routes_that_cannot_be),
		cmocka_unit_test(rules_and_storms_are_bound),
		cmocka_unit_test(rules_and_storms_that_cannot_be),
		cmocka_unit_test(sets_come_from_files_and_captures),
		cmocka_unit_test(files_that_are_none),
		cmocka_unit_test(addresses_of_ipv6_have_their_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
