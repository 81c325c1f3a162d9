// SPDX-License-Identifier: GPL-2.0-or-later
/* The scenes of IPv6. */
#include <stdio.h>
#include <string.h>

#include "tests/guest/mon-scene.h"

static struct in6_addr gen6(void)
{
	return frames_addr6("2001:2:0:1::2");
}

/* Address @n of the network on the way out; differs in bits above those of the solicited group. */
static struct in6_addr out6(uint32_t n)
{
	struct in6_addr a = frames_addr6("2001:2:0:2::2");

	for (int i = 0; i < 4; i++)
		a.s6_addr[9 + i] = (uint8_t)(n >> (24 - 8 * i));
	return a;
}

static json_t *configuration6(int thresh3, json_t *more_sysctls)
{
	json_t *sysctls = json_pack("[[s,i],[s,i],[s,i]]", "net.ipv6.neigh.default.gc_thresh1",
				    thresh3 / 8, "net.ipv6.neigh.default.gc_thresh2", thresh3 / 2,
				    "net.ipv6.neigh.default.gc_thresh3", thresh3);

	if (more_sysctls)
		json_array_extend(sysctls, more_sysctls);
	json_decref(more_sysctls);
	return json_pack("{s:[{s:s,s:s,s:[s,s]},{s:s,s:s,s:[s,s]}],s:o}", "interfaces", "mac",
			 "02:00:00:00:00:01", "name", "in", "addresses", "198.18.0.1/16",
			 "2001:2:0:1::1/64", "mac", "02:00:00:00:00:02", "name", "out", "addresses",
			 "198.19.0.1/16", "2001:2:0:2::1/64", "sysctls", sysctls);
}

static void send_many6(int n, uint32_t first, int nr_dst)
{
	struct frames_probe6 p = {.src = gen6(), .hops = 2};

	for (int i = 0; i < n; i++) {
		p.dst = out6(first + (uint32_t)(i % nr_dst));
		rig_send6(&rig, &p);
	}
}

/* Three solicitations in 0.3 s instead of 3 s. */
static json_t *fail_fast6(const char *ifname)
{
	char key[64];

	snprintf(key, sizeof(key), "net.ipv6.neigh.%s.retrans_time_ms", ifname);
	return json_pack("[[s,i]]", key, 100);
}

static json_int_t cause6(const json_t *finish, const char *sums, const char *cause)
{
	char path[64];

	snprintf(path, sizeof(path), "%s.%s", sums, cause);
	return rig_int(json_object_get(finish, "final"), path);
}

/*
 * More live neighbours than the table holds. A solicitation is sent to a multicast address, which
 * is a neighbour too: the full table stops it as well, and the neighbour it was for fails.
 */
static void scene_full6(void)
{
	json_int_t full, failed;
	json_t *f;

	begin(configuration6(1024, fail_fast6("eth1")));
	send_many6(4000, 1, 2000);
	f = settle();
	show("full6", f);
	check_identities("full6", f, 4000);
	full = cause6(f, "drops6_pkts", "neigh_full");
	failed = cause6(f, "drops6_pkts", "neigh_failed");
	check(full > 0, "full6: the table was full", "never");
	check_equal("full6: table_fulls is the drops named neigh_full",
		    diff(f, "neigh.ipv6.table_fulls"),
		    full + cause6(f, "own_drops6_pkts", "neigh_full"));
	check_equal("full6: only a solicitation that found no room makes another cause",
		    dropped(json_object_get(f, "final")), full + failed);
	check_equal("full6: the host received what was sent, and the answers",
		    diff(f, "ip6.in_pkts") - diff(f, "ip6.icmp_in_neighbor_adverts"), 4000);
	check_equal("full6: IPv4 has no part in it", cause_pkts(f, "neigh_full"), full);
	json_decref(f);
}

static const struct kind6 {
	const char *cause;
	int pkts;
	const char *src, *dst;
	uint8_t hops;
	int kind;
	bool bad;
} kinds6[] = {
	{"ttl", 50, NULL, "2001:2:0:2::71", 1, FRAMES_UDP, false},
	{"no_route", 40, NULL, "2001:2:0:9::1", 2, FRAMES_UDP, false},
	{"no_route", 6, NULL, "2001:2:0:b1::1", 2, FRAMES_UDP, false}, /* blackhole */
	{"no_route", 7, NULL, "2001:2:0:b2::1", 2, FRAMES_UDP, false}, /* unreachable */
	{"no_route", 8, NULL, "2001:2:0:b3::1", 2, FRAMES_UDP, false}, /* prohibit */
	{"martian", 30, "::1", "2001:2:0:2::72", 2, FRAMES_UDP, false},
	{"martian", 20, NULL, "::1", 2, FRAMES_UDP, false},
	{"martian", 19, "::", "2001:2:0:2::73", 2, FRAMES_UDP, false},
	{"martian", 18, "ff02::9", "2001:2:0:2::74", 2, FRAMES_UDP, false},
	{"martian", 17, "fe80::9", "2001:2:0:2::75", 2, FRAMES_UDP, false},
	{"martian", 16, NULL, "::", 2, FRAMES_UDP, false},
	{"local", 25, NULL, "2001:2:0:1::1", 2, FRAMES_UDP, false},
	{"local", 15, NULL, "2001:2:0:2::1", 2, FRAMES_UDP, false},
	{"local", 14, NULL, "2001:2:0:2::1", 2, FRAMES_ECHO, false},
	{"local", 13, NULL, "2001:2:0:2::1", 2, FRAMES_SYN, false},
	{"local", 10, NULL, "2001:2:0:2::1", 2, FRAMES_UNKNOWN_PROTO, false},
	{"local", 21, NULL, "2001:2:0:2::1", 2, FRAMES_UDP, true},
	{"local", 22, NULL, "2001:2:0:2::1", 2, FRAMES_ECHO, true},
	{"broadcast", 12, NULL, "ff02::1", 2, FRAMES_UDP, false},
	{"broadcast", 9, NULL, "ff05::1234", 2, FRAMES_UDP, false},
};
#define NR_KINDS6 (int)(sizeof(kinds6) / sizeof(*kinds6))

static json_int_t send_kinds6(void)
{
	json_int_t sent = 0;

	for (int i = 0; i < NR_KINDS6; i++) {
		const struct kind6 *k = &kinds6[i];
		struct frames_probe6 p = {
			.src = k->src ? frames_addr6(k->src) : gen6(),
			.dst = frames_addr6(k->dst),
			.hops = k->hops,
			.kind = k->kind,
			.bad_checksum = k->bad,
		};

		for (int n = 0; n < k->pkts; n++)
			rig_send6(&rig, &p);
		sent += k->pkts;
	}
	return sent;
}

static void check_kinds6(const json_t *f)
{
	char name[96];

	for (int i = 0; i < NR_KINDS6; i++) {
		json_int_t want = 0;

		if (i && !strcmp(kinds6[i].cause, kinds6[i - 1].cause))
			continue;
		for (int k = 0; k < NR_KINDS6; k++)
			want += strcmp(kinds6[i].cause, kinds6[k].cause) ? 0 : kinds6[k].pkts;
		snprintf(name, sizeof(name), "causes6: %s is exact", kinds6[i].cause);
		check_equal(name, cause6(f, "drops6_pkts", kinds6[i].cause), want);
	}
}

static void scene_causes6(void)
{
	json_t *conf = configuration6(4096, fail_fast6("eth0")), *f;
	json_int_t sent;

	json_object_set_new(conf, "routes",
			    json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s},{s:s,s:s,s:s}]", "prefix",
				      "2001:2:0:b1::/64", "type", "blackhole", "prefix",
				      "2001:2:0:b2::/64", "type", "unreachable", "prefix",
				      "2001:2:0:b3::/64", "type", "prohibit", "prefix",
				      "2001:2:0:a::/64", "type", "via", "via", "2001:2:0:2::77"));
	/* The source does not answer: ICMPv6 errors to it are dropped, and are no probes. */
	rig.answer[RIG_IN] = false;
	begin(conf);
	sent = send_kinds6();
	send_many6(100, 0x800, 100);
	for (int i = 0; i < 20; i++) {
		struct frames_probe6 p = {
			.src = gen6(), .dst = frames_addr6("2001:2:0:a::5"), .hops = 2};

		rig_send6(&rig, &p);
	}
	f = settle();
	show("causes6", f);
	check_identities("causes6", f, sent + 120);
	check_kinds6(f);
	check_equal("causes6: through a gateway and to neighbours all are delivered",
		    (json_int_t)rig.udp_out, 120);
	check(cause6(f, "own_drops6_pkts", "neigh_failed") > 0,
	      "causes6: the host's own ICMPv6 was dropped and told apart", "none");
	check_equal("causes6: IP agrees about no_route", diff(f, "ip6.in_no_routes"), 40 + 7 + 8);
	check_equal("causes6: UDP agrees about closed ports", diff(f, "ip6.udp_no_ports"), 40);
	check_equal("causes6: IP agrees about what was forwarded", diff(f, "ip6.forwarded_pkts"),
		    120);
	json_decref(f);
	rig.answer[RIG_IN] = true;
}

static void scene_dead6(void)
{
	json_t *sysctls = fail_fast6("eth1"), *f;
	struct frames_probe6 p = {.src = gen6(), .dst = out6(0x900), .hops = 2};

	json_array_append_new(sysctls,
			      json_pack("[s,i]", "net.ipv6.neigh.eth1.unres_qlen_bytes", 16384));
	rig.dead6 = p.dst;
	begin(configuration6(4096, sysctls));
	for (int i = 0; i < 400; i++)
		rig_send6(&rig, &p);
	f = settle();
	show("dead6", f);
	check_identities("dead6", f, 400);
	check(cause6(f, "drops6_pkts", "neigh_failed") > 0, "dead6: the neighbour failed", "never");
	check_equal("dead6: unresolved_discards is the drops named neigh_unresolved",
		    diff(f, "neigh.ipv6.unresolved_discards"),
		    cause6(f, "drops6_pkts", "neigh_unresolved"));
	check(cause6(f, "drops6_pkts", "neigh_unresolved") > 0, "dead6: the queue was full",
	      "never");
	check_equal("dead6: both together are all packets",
		    cause6(f, "drops6_pkts", "neigh_unresolved") +
			    cause6(f, "drops6_pkts", "neigh_failed"),
		    400);
	check(diff(f, "neigh.ipv6.res_failed") > 0, "dead6: res_failed counts it", "no");
	json_decref(f);
	memset(&rig.dead6, 0, sizeof(rig.dead6));
}

/* As many new neighbours as are answered for, so that no solicitation finds a full queue. */
static void send_answered6(int n, uint32_t first)
{
	struct frames_probe6 p = {.src = gen6(), .hops = 2};
	uint64_t before = rig.replies;

	for (int i = 0; i < n; i++) {
		p.dst = out6(first + (uint32_t)i);
		rig_send6(&rig, &p);
		for (int tries = 0; rig.replies - before + 500 < (uint64_t)i && tries < 100;
		     tries++)
			rig_pump(&rig, 1);
	}
}

/* Wait for the event of an overrun, and then until no other follows. */
static void await_overruns(int ms)
{
	json_t *last = NULL;

	for (int i = 0; i < ms / 1500 && (!rig.overrun || rig.overrun != last); i++) {
		last = rig.overrun;
		rig_pump(&rig, 1500);
	}
}

/*
 * 200,000 neighbours, and a socket for their events that holds a fraction of them. All are in one
 * solicited-node group, so that each is one entry; below gc_thresh1 none goes while it lasts.
 */
void scene_many(void)
{
	enum { MANY = 200000 };
	json_t *conf = configuration6(1 << 21, NULL), *f;
	const json_t *final;
	json_int_t entries, rss;

	json_decref(rig.overrun);
	rig.overrun = NULL;
	rig.cost_ns_max = rig.sample_ns = rig.gap_ns_max = 0;
	json_object_set_new(conf, "neigh_rcvbuf_bytes", json_integer(65536));
	begin(conf);
	send_answered6(MANY, 0x10000);
	await_overruns(30000);
	f = settle();
	final = json_object_get(f, "final");
	entries = rig_int(final, "neigh.ipv6.entries");
	rss = rig_int(final, "self.rss_max_bytes");
	fprintf(stderr,
		"many: %lld entries, longest time between samples %.0f ms, dearest sample %.1f ms, "
		"peak memory of mon %.1f MB, %lld overruns, %lld events lost\n",
		(long long)entries, (double)rig.gap_ns_max / 1e6, (double)rig.cost_ns_max / 1e6,
		(double)rss / 1e6, (long long)rig_int(final, "events.overruns"),
		(long long)rig_int(final, "events.lost"));
	show("many", f);
	check_identities("many", f, MANY);
	check(entries >= MANY && entries < MANY + 20, "many: every neighbour is an entry", "%lld",
	      (long long)entries);
	check(rig.gap_ns_max > 0 && rig.gap_ns_max < 2000000000u,
	      "many: every second has its sample", "%.0f ms between two",
	      (double)rig.gap_ns_max / 1e6);
	check(rig_int(final, "events.lost") > 0, "many: events were lost", "none");
	check_equal("many: the look at the table after that found every entry",
		    rig_int(rig.overrun, "ipv6.dumped"), entries);
	check_equal("many: and none twice", rig_int(rig.overrun, "ipv6.repeated"), 0);
	check(rss > 0 && rss < 32 << 20, "many: memory is bounded", "%lld bytes", (long long)rss);
	json_decref(f);
}

void scenes6(void)
{
	scene_full6();
	scene_causes6();
	scene_dead6();
}
