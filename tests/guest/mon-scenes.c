// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What dststorm-mon says about a guest, compared with what was done to it, packet by packet.
 *
 *	mon-scenes KERNEL_DIR INITRAMFS CONSOLE_LOG [many]
 *
 * many: also the scene with 200,000 neighbours, which takes half a minute.
 * Prints "ok NAME" or "not ok NAME: what was wrong" for each check.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/guest/mon-scene.h"

#define IP(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#define GEN	       IP(198, 18, 0, 2)
#define OUT(n)	       (IP(198, 19, 0, 0) + (uint32_t)(n))

static json_t *configuration(int thresh3, json_t *more_sysctls)
{
	json_t *sysctls = json_pack("[[s,i],[s,s],[s,i]]", "net.ipv4.neigh.default.gc_thresh1",
				    thresh3 / 8, "net.ipv4.neigh.default.gc_thresh2", "",
				    "net.ipv4.neigh.default.gc_thresh3", thresh3);
	char thresh2[16];

	/* One of them as text: both forms are allowed. */
	snprintf(thresh2, sizeof(thresh2), "%d", thresh3 / 2);
	json_array_set_new(json_array_get(sysctls, 1), 1, json_string(thresh2));
	if (more_sysctls)
		json_array_extend(sysctls, more_sysctls);
	json_decref(more_sysctls);
	return json_pack("{s:[{s:s,s:s,s:[s]},{s:s,s:s,s:[s]}],s:o}", "interfaces", "mac",
			 "02:00:00:00:00:01", "name", "in", "addresses", "198.18.0.1/16", "mac",
			 "02:00:00:00:00:02", "name", "out", "addresses", "198.19.0.1/16",
			 "sysctls", sysctls);
}

/* Three probes in 0.3 s instead of 3 s: where a neighbour is meant to fail. */
static json_t *fail_fast(const char *key)
{
	return json_pack("[[s,i]]", key, 100);
}

static void send_many(int n, uint32_t src, uint32_t first_dst, int nr_dst, uint8_t ttl)
{
	for (int i = 0; i < n; i++) {
		struct rig_packet p = {
			.src = src, .dst = first_dst + (uint32_t)(i % nr_dst), .ttl = ttl};

		rig_send(&rig, &p);
	}
}

static void scene_hello(void)
{
	json_t *hello = rig_call(&rig, "hello", NULL, NULL);
	const json_t *can = json_object_get(hello, "capabilities");

	fprintf(stderr, "kernel %s\n", json_string_value(json_object_get(hello, "kernel")));
	check(json_is_true(json_object_get(can, "drops")), "hello: drops can be told by cause",
	      "%s", json_string_value(json_object_get(can, "drops_why")));
	check(json_is_true(json_object_get(can, "drop_origin")),
	      "hello: own packets are told apart", "not so");
	json_decref(hello);
}

static void check_refused(const char *name, json_t *sysctls, const char *key, const char *value)
{
	json_t *error = NULL,
	       *result = rig_call(&rig, "configure", configuration(1024, sysctls), &error);
	const char *text = json_string_value(json_object_get(error, "text"));

	check(!result && rig_int(error, "code") == 2 && text && strstr(text, key) &&
		      strstr(text, value) && !strchr(text, '\n'),
	      name, "%s", text ? text : "no error");
	json_decref(result);
	json_decref(error);
}

static void scene_settings(void)
{
	json_t *stats;

	check_refused("settings: a refused value is one sentence",
		      json_pack("[[s,s]]", "net.ipv4.ip_forward", "maybe"), "net.ipv4.ip_forward",
		      "maybe");
	check_refused("settings: an unknown sysctl is one sentence",
		      json_pack("[[s,i]]", "net.ipv4.no_such_thing", 7), "net.ipv4.no_such_thing",
		      "7");
	check_refused("settings: a value that the kernel alters is one sentence",
		      json_pack("[[s,i]]", "net.ipv4.neigh.eth1.locktime", -5),
		      "net.ipv4.neigh.eth1.locktime", "-5");
	begin(configuration(1024, NULL));
	stats = rig_call(&rig, "stats", NULL, NULL);
	check_equal("settings: gc_thresh1 is in force", rig_int(stats, "neigh.ipv4.gc_thresh1"),
		    128);
	check_equal("settings: gc_thresh2 is in force", rig_int(stats, "neigh.ipv4.gc_thresh2"),
		    512);
	check_equal("settings: gc_thresh3 is in force", rig_int(stats, "neigh.ipv4.gc_thresh3"),
		    1024);
	json_decref(stats);
}

/* More live neighbours than the table holds. Runs in the configuration of scene_settings(). */
static void scene_full(void)
{
	json_t *f;

	send_many(4000, GEN, OUT(2), 2000, 2);
	f = settle();
	show("full", f);
	check_identities("full", f, 4000);
	check(cause_pkts(f, "neigh_full") > 0, "full: the table was full", "never");
	check_equal("full: table_fulls is the drops named neigh_full",
		    diff(f, "neigh.ipv4.table_fulls"),
		    cause_pkts(f, "neigh_full") +
			    rig_int(json_object_get(f, "final"), "own_drops_pkts.neigh_full"));
	check_equal("full: nothing is dropped for another cause",
		    dropped(json_object_get(f, "final")), cause_pkts(f, "neigh_full"));
	check_equal("full: the host received what was sent", diff(f, "ip.in_pkts"), 4000);
	check_equal("full: no event was lost",
		    rig_int(json_object_get(f, "final"), "events.overruns"), 0);
	check(rig_int(json_object_get(f, "final"), "events.new") >= 900,
	      "full: neighbour events were counted", "%lld",
	      (long long)rig_int(json_object_get(f, "final"), "events.new"));
	json_decref(f);
}

/* The same with the cause hidden: the sum must be short by it. */
static void scene_hidden(void)
{
	json_t *conf = configuration(64, NULL), *f;

	json_object_set_new(conf, "hide_cause", json_string("neigh_full"));
	begin(conf);
	send_many(500, GEN, OUT(3000), 500, 2);
	f = settle();
	check_equal("hidden: the hidden cause is left out", cause_pkts(f, "neigh_full"), 0);
	check((json_int_t)rig.udp_out + dropped(json_object_get(f, "final")) < 500,
	      "hidden: the accounting does not close", "it does");
	json_decref(f);
}

static void scene_causes(void)
{
	static const struct {
		const char *cause;
		int pkts;
		struct rig_packet p;
	} kinds[] = {
		{"ttl", 50, {GEN, IP(198, 19, 7, 1), 1, false, false}},
		{"no_route", 40, {GEN, IP(192, 0, 2, 1), 2, false, false}},
		{"no_route", 8, {GEN, IP(198, 19, 201, 1), 2, false, false}},
		{"no_route", 7, {GEN, IP(198, 19, 202, 1), 2, false, false}},
		{"no_route", 6, {GEN, IP(198, 19, 203, 1), 2, false, false}},
		{"martian", 30, {IP(127, 0, 0, 1), IP(198, 19, 7, 2), 2, false, false}},
		{"martian", 20, {GEN, IP(127, 0, 0, 5), 2, false, false}},
		{"local", 25, {GEN, IP(198, 18, 0, 1), 2, false, false}},
		{"local", 15, {GEN, IP(198, 19, 0, 1), 2, false, false}},
		{"local", 14, {GEN, IP(198, 19, 0, 1), 2, false, true}},
		{"broadcast", 12, {GEN, IP(198, 19, 255, 255), 2, false, false}},
		{"broadcast", 11, {GEN, IP(198, 18, 255, 255), 2, false, false}},
		{"broadcast", 9, {GEN, IP(255, 255, 255, 255), 2, false, false}},
		{"broadcast", 8, {GEN, IP(198, 19, 255, 255), 2, false, true}},
		{"other", 7, {GEN, IP(198, 19, 7, 3), 2, true, false}},
	};
	enum { NR = sizeof(kinds) / sizeof(*kinds) };
	json_int_t sent = 0, want;
	json_t *conf = configuration(4096, fail_fast("net.ipv4.neigh.eth0.retrans_time_ms"));
	char name[96];
	json_t *f;

	/* The source does not answer: ICMP errors to it are dropped, and must not be counted as
	 * probes. */
	rig.answer[RIG_IN] = false;
	json_object_set_new(conf, "routes",
			    json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s}]", "prefix",
				      "198.19.201.0/24", "type", "blackhole", "prefix",
				      "198.19.202.0/24", "type", "unreachable", "prefix",
				      "198.19.203.0/24", "type", "prohibit"));
	begin(conf);
	for (int i = 0; i < NR; i++) {
		for (int n = 0; n < kinds[i].pkts; n++)
			rig_send(&rig, &kinds[i].p);
		sent += kinds[i].pkts;
	}
	send_many(100, GEN, OUT(0x800), 100, 2);
	f = settle();
	show("causes", f);
	check_identities("causes", f, sent + 100);
	for (int i = 0; i < NR; i++) {
		want = 0;
		for (int k = 0; k < NR; k++)
			want += strcmp(kinds[i].cause, kinds[k].cause) ? 0 : kinds[k].pkts;
		snprintf(name, sizeof(name), "causes: %s is exact", kinds[i].cause);
		if (!i || strcmp(kinds[i].cause, kinds[i - 1].cause) != 0)
			check_equal(name, cause_pkts(f, kinds[i].cause), want);
	}
	check(rig_int(json_object_get(f, "final"), "own_drops_pkts.neigh_failed") > 0,
	      "causes: the host's own ICMP was dropped and told apart", "none");
	check_equal("causes: IP agrees about no_route", diff(f, "ip.in_no_routes"), 40);
	check_equal("causes: rt_cache agrees about martians",
		    diff(f, "dst.in_martian_dst") + diff(f, "dst.in_martian_src"), 50);
	check_equal("causes: UDP agrees about closed ports", diff(f, "ip.udp_no_ports"), 40);
	json_decref(f);
	rig.answer[RIG_IN] = true;
}

static void scene_dead(void)
{
	json_t *sysctls = fail_fast("net.ipv4.neigh.eth1.retrans_time_ms"), *f;

	json_array_append_new(sysctls,
			      json_pack("[s,i]", "net.ipv4.neigh.eth1.unres_qlen_bytes", 16384));
	rig.dead = OUT(0x900);
	begin(configuration(4096, sysctls));
	send_many(400, GEN, rig.dead, 1, 2);
	f = settle();
	show("dead", f);
	check_identities("dead", f, 400);
	check(cause_pkts(f, "neigh_unresolved") > 0, "dead: the queue was full", "never");
	check(cause_pkts(f, "neigh_failed") > 0, "dead: the neighbour failed", "never");
	check_equal("dead: unresolved_discards is the drops named neigh_unresolved",
		    diff(f, "neigh.ipv4.unresolved_discards"), cause_pkts(f, "neigh_unresolved"));
	check_equal("dead: both together are all packets",
		    cause_pkts(f, "neigh_unresolved") + cause_pkts(f, "neigh_failed"), 400);
	check(diff(f, "neigh.ipv4.res_failed") > 0, "dead: res_failed counts it", "no");
	json_decref(f);
	rig.dead = 0;
}

/* The way out is blocked until the queue has thrown packets away, at both of its ends. */
static void scene_qdisc(void)
{
	json_t *f;

	begin(configuration(4096, NULL));
	send_many(1, GEN, OUT(0xa00), 1, 2);
	rig_pump(&rig, 300);
	rig.stalled[RIG_OUT] = true;
	send_many(12000, GEN, OUT(0xa00), 1, 2);
	rig_pump(&rig, 400);
	rig.stalled[RIG_OUT] = false;
	f = settle();
	show("qdisc", f);
	check_identities("qdisc", f, 12001);
	check(cause_pkts(f, "qdisc") > 0, "qdisc: packets were dropped there", "none");
	check_equal("qdisc: nothing is dropped for another cause",
		    dropped(json_object_get(f, "final")), cause_pkts(f, "qdisc"));
	json_decref(f);
}

static void scene_overrun(void)
{
	json_t *conf = configuration(8192, NULL), *f;

	json_object_set_new(conf, "neigh_rcvbuf_bytes", json_integer(2048));
	begin(conf);
	send_many(3000, GEN, OUT(0x1000), 3000, 2);
	for (int i = 0; i < 50 && !rig.overrun; i++)
		rig_pump(&rig, 200);
	/* Entries that were queued for are stale or reachable by now: nothing moves any more. */
	f = settle();
	check_identities("overrun", f, 3000);
	check(rig_int(json_object_get(f, "final"), "events.overruns") > 0,
	      "overrun: it was noticed", "no");
	check(rig_int(json_object_get(f, "final"), "events.lost") > 0,
	      "overrun: what was lost is counted", "no");
	check(rig_int(json_object_get(f, "final"), "events.new") +
			      rig_int(json_object_get(f, "final"), "events.lost") >=
		      3000,
	      "overrun: seen and lost events cover all neighbours", "%lld + %lld",
	      (long long)rig_int(json_object_get(f, "final"), "events.new"),
	      (long long)rig_int(json_object_get(f, "final"), "events.lost"));
	check(rig.overrun != NULL, "overrun: the controller was told after a new look at the table",
	      "no event");
	check_equal("overrun: that look found every entry", rig_int(rig.overrun, "ipv4.dumped"),
		    rig_int(rig.overrun, "ipv4.entries"));
	check_equal("overrun: and no entry is missing", rig_int(rig.overrun, "ipv4.entries"),
		    rig_int(json_object_get(f, "final"), "neigh.ipv4.entries"));
	json_decref(f);
}

/* The child floods on while the guest powers itself off. */
static void scene_quit(void)
{
	pid_t flood;
	int status;

	begin(configuration(8192, NULL));
	flood = fork();
	if (!flood) {
		rig_leave_control(&rig);
		for (uint32_t i = 0;; i++) {
			struct rig_packet p = {GEN, OUT(2 + i % 4000), 2, false, false};

			rig_send(&rig, &p);
		}
	}
	rig_pump(&rig, 1200);
	json_decref(rig_call(&rig, "quit", NULL, NULL));
	status = rig_wait_end(&rig, 15000);
	check(status == 0, "quit: the guest powers off under a flood", "status %d", status);
	kill(flood, SIGKILL);
}

static void scene_end(const char *method, const char *name, bool ends, char **argv)
{
	unsigned alives;
	int status;

	rig_kill(&rig);
	rig_boot(&rig, argv[1], argv[2], argv[3]);
	json_decref(rig_call(&rig, "hello", NULL, NULL));
	json_decref(rig_call(&rig, method, NULL, NULL));
	status = rig_wait_end(&rig, ends ? 10000 : 200);
	alives = rig.alives;
	if (ends) {
		check(status == 0, name, "status %d", status);
	} else {
		rig_pump(&rig, 2500);
		check(status == -1 && rig.alives == alives, name, "status %d, %u heartbeats",
		      status, rig.alives - alives);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: mon-scenes KERNEL_DIR INITRAMFS CONSOLE_LOG [many]\n");
		return 2;
	}
	rig_boot(&rig, argv[1], argv[2], argv[3]);
	scene_hello();
	scene_settings();
	scene_full();
	scene_hidden();
	scene_causes();
	scene_dead();
	scene_qdisc();
	scene_overrun();
	scenes6();
	check(rig.alives >= 3, "alive: a heartbeat each second", "%u", rig.alives);
	check(rig.alive_forwarded > 0, "alive: it tells the forwarded packets", "none");
	check(rig.samples >= 3, "sample: one each second while running", "%u", rig.samples);
	fprintf(stderr, "samples: dearest %.2f ms, cheapest %.2f ms\n",
		(double)rig.cost_ns_max / 1e6, (double)rig.cost_ns_min / 1e6);
	if (argc > 4)
		scene_many();
	scene_quit();
	scene_end("panic", "panic: the guest ends at once", true, argv);
	scene_end("hang", "hang: the heart stops and the guest stays", false, argv);
	rig_kill(&rig);
	return 0;
}
