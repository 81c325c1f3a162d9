// SPDX-License-Identifier: GPL-2.0-or-later
// needs: mon/proc.c mon/wide.c mon/text.c mon/neightbl.c
/* The kernel's counters: text files and RTM_GETNEIGHTBL, as Debian's kernels gave them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "lib/err.h"
#include "mon/neightbl.h"
#include "mon/proc.h"
#include "tests/unit/mon_file.h"

static void entries_are_not_summed_and_counters_are(void **state)
{
	static const char *const names[] = {"table_fulls", "entries", "allocs",
					    "unresolved_discards"};
	static const uint64_t fulls[] = {0x2f3, 0x3d7};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		uint64_t v[4];
		size_t len;
		char *text = mon_file(mon_kernels[k], "arp_cache", &len);

		assert_int_equal(proc_lnstat_sum(text, len, names, 4, v, NULL), 2);
		assert_int_equal(v[0], fulls[k]);
		assert_int_equal(v[1], 1024);
		assert_int_equal(v[2], 1024);
		assert_int_equal(v[3], 0);
		free(text);
	}
}

static void columns_are_found_by_name(void **state)
{
	static const char text[] = "b a\n00000001 000000ff\n00000002 00000001\n";
	static const char *const names[] = {"a", "b"}, *const missing[] = {"a", "c"};
	struct err err = {};
	uint64_t v[2];

	(void)state;
	assert_int_equal(proc_lnstat_sum(text, strlen(text), names, 2, v, &err), 2);
	assert_int_equal(v[0], 256);
	assert_int_equal(v[1], 3);
	assert_int_equal(proc_lnstat_sum(text, strlen(text), missing, 2, v, &err), -ENOENT);
	assert_non_null(strstr(err.text, "\"c\""));
	assert_int_equal(proc_lnstat_sum(text, strlen("b a\n00000001"), names, 2, v, &err),
			 -EBADMSG);
	assert_int_equal(proc_lnstat_sum("", 0, names, 2, v, &err), -EBADMSG);
}

static void pairs_of_names_and_numbers(void **state)
{
	static const char text[] = "ifIndex                         \t2\n"
				   "Ip6InReceives                   \t18446744073709551615\n"
				   "Ip6InReceives6                  \t3\n"
				   "broken\nIp6OutNoRoutes                  \t7";
	static const struct proc_field fields[] = {{"", "Ip6OutNoRoutes", 8},
						   {"", "Ip6InReceives", 0}},
				       missing[] = {{"", "Ip6InReceive", 0}};
	uint64_t v[2] = {};
	struct err err = {};

	(void)state;
	assert_int_equal(proc_pairs(text, strlen(text), fields, 2, v, &err), 0);
	assert_true(v[0] == UINT64_MAX);
	assert_int_equal(v[1], 7);
	assert_int_equal(proc_pairs(text, strlen(text), missing, 1, v, &err), -ENOENT);
	assert_non_null(strstr(err.text, "Ip6InReceive"));
	assert_int_equal(proc_pairs("", 0, fields, 2, v, &err), -ENOENT);
}

static void link_local_addresses_are_ready(void **state)
{
	static const char text[] =
		"00000000000000000000000000000001 01 80 10 80       lo\n"
		"fe800000000000000000000000000001 02 40 20 c0     eth0\n"
		"20010002000000010000000000000001 03 40 00 82     eth1\n"
		"broken\n"
		"fe800000000000000000000000000002 04 40 20 80     eth2\n";

	(void)state;
	assert_int_equal(proc_if_inet6_ready(text, strlen(text), 1), 0);
	assert_int_equal(proc_if_inet6_ready(text, strlen(text), 2), 0); /* tentative */
	assert_int_equal(proc_if_inet6_ready(text, strlen(text), 3), 0); /* a global one only */
	assert_int_equal(proc_if_inet6_ready(text, strlen(text), 4), 1);
	assert_int_equal(proc_if_inet6_ready("", 0, 4), 0);
}

static void destinations_of_ipv6_are_in_the_sixth_column(void **state)
{
	static const char text[] = "0012 0009 0057 0011 0001 00a0 0000\n";
	uint64_t v[PROC_RT6_COLUMNS];

	(void)state;
	assert_int_equal(proc_rt6_stats(text, strlen(text), v, NULL), 0);
	assert_int_equal(v[PROC_RT6_ENTRIES], 0x11);
	assert_int_equal(v[PROC_RT6_CACHE], 1);
	assert_int_equal(v[PROC_RT6_DST_ENTRIES], 0xa0);
	assert_int_equal(proc_rt6_stats(text, strlen("0012 0009 0057"), v, NULL), -EBADMSG);
}

static void narrow_counters_are_widened_over_their_wrap(void **state)
{
	static const char *const names[] = {"n"};
	struct proc_wide w = {};
	uint64_t want = 0;
	uint32_t at[2] = {0xfffffff0, 5};
	char text[64];

	(void)state;
	for (int i = 0; i < 100; i++) {
		int n = snprintf(text, sizeof(text), "n\n%08x\n%08x\n", at[0], at[1]);

		assert_int_equal(proc_wide_lnstat(&w, text, (size_t)n, names, 1, NULL), 2);
		if (!i)
			want = w.total[0];
		assert_int_equal(w.total[0], want);
		/* One CPU counts nearly once around between two looks, the other a little. */
		at[0] += 0xfffffff0u;
		at[1] += 3;
		want += 0xfffffff0u + 3u;
	}
	assert_true(w.total[0] > UINT64_C(0xffffffff) * 90);
	proc_wide_free(&w);
}

static void a_cpu_more_or_less_is_no_jump(void **state)
{
	static const char one[] = "n\n00000005\n", two[] = "n\n00000006\n00000002\n",
			  again[] = "n\n00000007\n";
	static const char *const names[] = {"n"};
	struct proc_wide w = {};

	(void)state;
	assert_int_equal(proc_wide_lnstat(&w, one, strlen(one), names, 1, NULL), 1);
	assert_int_equal(w.total[0], 5);
	assert_int_equal(proc_wide_lnstat(&w, two, strlen(two), names, 1, NULL), 2);
	assert_int_equal(w.total[0], 8);
	assert_int_equal(proc_wide_lnstat(&w, again, strlen(again), names, 1, NULL), 1);
	assert_int_equal(w.total[0], 9);
	proc_wide_free(&w);
}

static void rt_cache_of_both_kernels(void **state)
{
	static const char *const names[] = {"in_slow_tot", "in_martian_dst", "in_martian_src",
					    "in_brd"};
	static const uint64_t slow[] = {0x10d, 0x2a};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct proc_wide w = {};
		size_t len;
		char *text = mon_file(mon_kernels[k], "rt_cache", &len);

		assert_int_equal(proc_wide_lnstat(&w, text, len, names, 4, NULL), 2);
		assert_int_equal(w.total[0], slow[k]);
		assert_int_equal(w.total[1], 20);
		assert_int_equal(w.total[2], 30);
		assert_int_equal(w.total[3], 12);
		proc_wide_free(&w);
		free(text);
	}
}

struct snmp {
	uint64_t received, forwarded, no_routes, out_msgs, bcast;
};

static const struct proc_field snmp_fields[] = {
	{"Ip", "InReceives", offsetof(struct snmp, received)},
	{"Ip", "ForwDatagrams", offsetof(struct snmp, forwarded)},
	{"Icmp", "OutMsgs", offsetof(struct snmp, out_msgs)},
};

static const struct proc_field netstat_fields[] = {
	{"IpExt", "InNoRoutes", offsetof(struct snmp, no_routes)},
	{"IpExt", "InBcastPkts", offsetof(struct snmp, bcast)},
};

static void snmp_and_netstat_of_both_kernels(void **state)
{
	static const uint64_t forwarded[] = {1776, 2000}, no_routes[] = {264, 40};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct snmp s = {};
		size_t len;
		char *text = mon_file(mon_kernels[k], "snmp", &len);

		assert_int_equal(proc_snmp(text, len, snmp_fields, 3, &s, NULL), 0);
		assert_int_equal(s.received, 2177);
		assert_int_equal(s.forwarded, forwarded[k]);
		assert_int_equal(s.out_msgs, k ? 7 : 3);
		free(text);
		text = mon_file(mon_kernels[k], "netstat", &len);
		assert_int_equal(proc_snmp(text, len, netstat_fields, 2, &s, NULL), 0);
		assert_int_equal(s.no_routes, no_routes[k]);
		assert_int_equal(s.bcast, 12);
		free(text);
	}
}

static void a_missing_counter_is_told_by_name(void **state)
{
	static const struct proc_field f = {"Ip", "Nonsense", 0};
	struct err err = {};
	uint64_t v;
	size_t len;
	char *text = mon_file("6.1", "snmp", &len);

	(void)state;
	assert_int_equal(proc_snmp(text, len, &f, 1, &v, &err), -ENOENT);
	assert_non_null(strstr(err.text, "Ip Nonsense"));
	free(text);
}

static void softnet_softirqs_and_stat(void **state)
{
	static const uint64_t processed[] = {0x400 + 0x890, 0x3ff + 0x891}, squeeze[] = {0x49, 0xc};
	static const uint64_t timer[] = {143 + 268, 301 + 178}, ticks[] = {102, 18};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct proc_softnet s;
		uint64_t v;
		size_t len;
		char *text = mon_file(mon_kernels[k], "softnet_stat", &len);

		assert_int_equal(proc_softnet(text, len, &s, NULL), 0);
		assert_int_equal(s.processed_pkts, processed[k]);
		assert_int_equal(s.dropped_pkts, 0);
		assert_int_equal(s.time_squeeze, squeeze[k]);
		free(text);
		text = mon_file(mon_kernels[k], "softirqs", &len);
		assert_int_equal(proc_softirqs(text, len, "TIMER", &v, NULL), 0);
		assert_int_equal(v, timer[k]); /* and not HRTIMER */
		assert_int_equal(proc_softirqs(text, len, "NONE", &v, NULL), -ENOENT);
		free(text);
		text = mon_file(mon_kernels[k], "stat", &len);
		assert_int_equal(proc_stat_softirq(text, len, &v, NULL), 0);
		assert_int_equal(v, ticks[k]);
		free(text);
	}
	assert_int_equal(proc_softnet("00000001 x\n", 11, &(struct proc_softnet){}, NULL),
			 -EBADMSG);
	assert_int_equal(proc_stat_softirq("cpu  1 2 3\n", 11, &(uint64_t){0}, NULL), -EBADMSG);
}

static void memory_and_slab(void **state)
{
	static const uint64_t slab[] = {37304, 12544}, objs[] = {1296, 1360};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct proc_slab s;
		uint64_t kb;
		size_t len;
		char *text = mon_file(mon_kernels[k], "meminfo", &len);

		assert_int_equal(proc_meminfo(text, len, "Slab", &kb, NULL), 0);
		assert_int_equal(kb, slab[k]);
		free(text);
		text = mon_file(mon_kernels[k], "slabinfo", &len);
		/* and not dma-kmalloc-512, which is a line before */
		assert_int_equal(proc_slabinfo(text, len, "kmalloc-512", &s, NULL), 0);
		assert_int_equal(s.active_objs, objs[k]);
		assert_int_equal(s.obj_bytes, 512);
		assert_int_equal(proc_slabinfo(text, len, "kmalloc-51", &s, NULL), -ENOENT);
		free(text);
	}
}

static void neighbour_table_of_both_kernels(void **state)
{
	static const uint64_t fulls[] = {0x2f3, 0x3d7};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct neightbl t;
		size_t len;
		char *msg = mon_file(mon_kernels[k], "neightbl4.bin", &len);

		assert_int_equal(neightbl_parse(&t, msg, len), 1);
		assert_int_equal(t.family, AF_INET);
		assert_int_equal(t.entries, 1024);
		assert_int_equal(t.allocs - t.destroys, t.entries);
		assert_int_equal(t.table_fulls, fulls[k]);
		assert_int_equal(t.gc_thresh1, 128);
		assert_int_equal(t.gc_thresh2, 512);
		assert_int_equal(t.gc_thresh3, 1024);
		assert_int_equal(t.base_reachable_time_ms, 30000);
		assert_in_range(t.reachable_time_ms, 15000, 45000);
		assert_int_equal(t.retrans_time_ms, 1000);
		assert_int_equal(t.mcast_probes, 3);
		free(msg);
		msg = mon_file(mon_kernels[k], "neightbl6.bin", &len);
		assert_int_equal(neightbl_parse(&t, msg, len), 1);
		assert_int_equal(t.family, AF_INET6);
		free(msg);
	}
}

/* The message about one device, which follows the table's, must not pass for the table. */
static void settings_of_a_device_are_told_apart(void **state)
{
	struct neightbl t;
	uint32_t first;
	size_t len;
	char *msg = mon_file("6.1", "neightbl4.bin", &len);

	(void)state;
	memcpy(&first, msg, sizeof(first));
	assert_true(first < len);
	assert_int_equal(neightbl_parse(&t, msg + first, len - first), 0);
	free(msg);
}

static void damaged_messages_are_refused(void **state)
{
	struct neightbl t;
	uint32_t first;
	size_t len;
	char *msg = mon_file("6.12", "neightbl4.bin", &len);

	(void)state;
	memcpy(&first, msg, sizeof(first));
	for (size_t cut = 0; cut < first; cut++) {
		char *part = malloc(cut ? cut : 1);

		assert_non_null(part);
		memcpy(part, msg, cut);
		assert_int_equal(neightbl_parse(&t, part, cut), -EBADMSG);
		free(part);
	}
	msg[20] = 2; /* the first attribute's length, less than its own header */
	assert_int_equal(neightbl_parse(&t, msg, len), -EBADMSG);
	free(msg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_not_summed_and_counters_are),
		cmocka_unit_test(columns_are_found_by_name),
		cmocka_unit_test(pairs_of_names_and_numbers),
		cmocka_unit_test(link_local_addresses_are_ready),
		cmocka_unit_test(destinations_of_ipv6_are_in_the_sixth_column),
		cmocka_unit_test(narrow_counters_are_widened_over_their_wrap),
		cmocka_unit_test(a_cpu_more_or_less_is_no_jump),
		cmocka_unit_test(rt_cache_of_both_kernels),
		cmocka_unit_test(snmp_and_netstat_of_both_kernels),
		cmocka_unit_test(a_missing_counter_is_told_by_name),
		cmocka_unit_test(softnet_softirqs_and_stat),
		cmocka_unit_test(memory_and_slab),
		cmocka_unit_test(neighbour_table_of_both_kernels),
		cmocka_unit_test(settings_of_a_device_are_told_apart),
		cmocka_unit_test(damaged_messages_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
