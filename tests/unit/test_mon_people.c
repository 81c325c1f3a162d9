// SPDX-License-Identifier: GPL-2.0-or-later
// needs: mon/watch_text.c mon/prom.c mon/cause.c mon/resync.c
/* What people and Prometheus are shown, and the dump that is read a part at a time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "mon/prom.h"
#include "mon/resync.h"
#include "mon/sample.h"
#include "mon/view.h"
#include "mon/watch_text.h"

/* --- stand-ins for the event loop, which is not part of this ------------------------------------
 */

struct event *event_new(struct event_base *base, evutil_socket_t fd, short events,
			event_callback_fn callback, void *arg)
{
	(void)base;
	(void)fd;
	(void)events;
	(void)callback;
	(void)arg;
	return NULL;
}

int event_add(struct event *ev, const struct timeval *timeout)
{
	(void)ev;
	(void)timeout;
	return -1;
}

void event_free(struct event *ev)
{
	(void)ev;
}

/* --- the table -----------------------------------------------------------------------------------
 */

static char *rendered(const struct watch_frame *f)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	watch_text(to, f);
	fclose(to);
	return text;
}

static struct sample sample_of(uint64_t t_ns, uint32_t entries, uint64_t allocs)
{
	struct sample s = {.t_ns = t_ns, .have = ~0u, .has_drops = true};

	s.neigh[0].tbl.entries = entries;
	s.neigh[0].tbl.allocs = allocs;
	s.neigh[0].tbl.gc_thresh3 = 1024;
	return s;
}

static void fits(const char *text)
{
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		assert_in_range(n, 0, 80);
	}
}

static void rates_are_differences_over_the_time_between(void **state)
{
	const struct sample before = sample_of(1000000000u, 512, 100),
			    now = sample_of(3000000000u, 768, 5100);
	const struct view_drops then = {.received[0][CAUSE_NEIGH_FULL] = 10},
				drops = {
					.received[0][CAUSE_NEIGH_FULL] = 30,
					.received[1][CAUSE_TTL] = 4,
					.own[1][CAUSE_OTHER] = 3,
					.other_reason = "X\033[2JY",
					.other_location = "f",
				};
	struct watch_frame f = {
		.host = "h",
		.kernel = "k",
		.interval_s = 2,
		.now = &now,
		.before = &before,
		.drops = &drops,
		.drops_before = &then,
		.devs_age_s = -1,
	};
	char *text = rendered(&f);

	(void)state;
	assert_non_null(strstr(text, "IPv4             768       75%"));
	assert_non_null(strstr(text, " 2500 ")); /* allocations a second */
	assert_non_null(
		strstr(text, "neigh_full              10         0         0           30"));
	assert_non_null(
		strstr(text, "ttl                      0       2.0         0            4"));
	/* Nothing that a terminal would take as a command. */
	assert_null(strchr(text, '\033'));
	fits(text);
	assert_non_null(strstr(text, "most: X?[2JY in f"));
	assert_null(strstr(text, "no_route"));
	free(text);
	f.before = NULL;
	f.drops_before = NULL;
	text = rendered(&f);
	assert_null(strstr(text, " 2500 "));
	assert_non_null(
		strstr(text, "neigh_full               -         -         -           30"));
	free(text);
}

static void what_is_missing_is_said(void **state)
{
	struct sample now = sample_of(1, 1, 1);
	struct watch_frame f = {
		.host = "h",
		.kernel = "k",
		.now = &now,
		.no_drops = "run as root",
		.devs_age_s = -1,
		.devs_why = "not allowed",
	};
	char *text;

	(void)state;
	now.has_drops = false;
	now.have = 0;
	strcpy(now.missing, "cannot open it");
	text = rendered(&f);
	assert_non_null(strstr(text, "drops by cause: run as root\n"));
	assert_non_null(strstr(text, "top devices: not allowed\n"));
	assert_non_null(strstr(text, "not all can be read: cannot open it\n"));
	assert_non_null(strstr(text, "IPv4        cannot be read\n"));
	free(text);
	f.no_drops = "this kernel was built without histogram triggers, and that is a pity, so "
		     "build it anew with CONFIG_HIST_TRIGGERS";
	f.keys = true;
	text = rendered(&f);
	fits(text);
	assert_non_null(strstr(text, "drops by cause: this kernel was built without histogram "
				     "triggers, and that is a\n  pity, so build it anew with "
				     "CONFIG_HIST_TRIGGERS\n"));
	assert_non_null(strstr(text, "q: quit\n"));
	free(text);
}

static void a_screen_is_cut_to_the_terminal(void **state)
{
	char *out;
	size_t len;
	FILE *to = open_memstream(&out, &len);

	(void)state;
	watch_screen(to, "abcdef\n\nxy\nlast\n", 4, 4);
	fclose(to);
	assert_string_equal(out, "\033[Habcd\033[K\n\033[K\nxy\033[K\n\033[J");
	free(out);
	to = open_memstream(&out, &len);
	watch_screen(to, "a\n", 1, 1);
	fclose(to);
	assert_string_equal(out, "\033[H\033[J");
	free(out);
}

/* --- Prometheus ----------------------------------------------------------------------------------
 */

static char *metrics(const struct sample *s, const struct view_drops *d)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	prom_write(to, s, d, "1.2.3");
	fclose(to);
	return text;
}

static void metrics_have_base_units_and_labels_of_few_values(void **state)
{
	struct sample s = sample_of(1, 7, 0);
	const struct view_drops d = {.received[1][CAUSE_NEIGH_FULL] = 5, .own[0][CAUSE_TTL] = 6};
	char *text;

	(void)state;
	s.neigh[1].tbl.table_fulls = UINT64_MAX;
	s.neigh[0].tbl.reachable_time_ms = 30250;
	s.softirq_ns = 1500000000;
	s.cost_ns = 250000;
	text = metrics(&s, &d);
	assert_non_null(strstr(text, "\ndststorm_neighbour_entries{family=\"ipv4\"} 7\n"));
	assert_non_null(strstr(text, "\ndststorm_neighbour_table_fulls_total{family=\"ipv6\"} "
				     "18446744073709551615\n"));
	assert_non_null(strstr(
		text, "\ndststorm_neighbour_reachable_time_seconds{family=\"ipv4\"} 30.25\n"));
	assert_non_null(strstr(text, "\ndststorm_softirq_seconds_total 1.5\n"));
	assert_non_null(strstr(text, "\ndststorm_sample_duration_seconds 0.00025\n"));
	assert_non_null(strstr(text, "\ndststorm_dropped_packets_total{family=\"ipv6\",origin="
				     "\"received\",cause=\"neigh_full\"} 5\n"));
	assert_non_null(strstr(text, "\ndststorm_dropped_packets_total{family=\"ipv4\",origin="
				     "\"own\",cause=\"ttl\"} 6\n"));
	free(text);
}

static void what_cannot_be_read_is_left_out(void **state)
{
	struct sample s = sample_of(1, 7, 0);
	char *text;

	(void)state;
	s.have = SAMPLE_IP4;
	s.has_drops = false;
	text = metrics(&s, NULL);
	assert_null(strstr(text, "neighbour_"));
	assert_null(strstr(text, "softnet_"));
	assert_null(strstr(text, "dststorm_dropped_packets_total"));
	assert_non_null(strstr(text, "\ndststorm_drops_available 0\n"));
	assert_non_null(strstr(text, "dststorm_ip_forwarded_packets_total{family=\"ipv4\"} 0\n"));
	assert_null(strstr(text, "{family=\"ipv6\"}"));
	free(text);
}

/* --- the dump ------------------------------------------------------------------------------------
 */

struct dump {
	_Alignas(8) char bytes[1024];
	size_t len;
};

static void dump_add(struct dump *d, int type, int ifindex, const void *addr, size_t addr_len)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(void *)(d->bytes + d->len);
	struct ndmsg *nd = NLMSG_DATA(h);
	struct rtattr *a = (struct rtattr *)(void *)((char *)nd + NLMSG_ALIGN(sizeof(*nd)));

	h->nlmsg_type = (uint16_t)type;
	h->nlmsg_len = NLMSG_LENGTH(sizeof(*nd));
	nd->ndm_ifindex = ifindex;
	if (addr) {
		/* Behind another attribute. */
		a->rta_type = NDA_CACHEINFO;
		a->rta_len = RTA_LENGTH(3);
		a = (struct rtattr *)(void *)((char *)a + RTA_SPACE(3));
		a->rta_type = NDA_DST;
		a->rta_len = (uint16_t)RTA_LENGTH(addr_len);
		memcpy(RTA_DATA(a), addr, addr_len);
		h->nlmsg_len += (uint32_t)(RTA_SPACE(3) + RTA_SPACE(addr_len));
	}
	d->len += NLMSG_ALIGN(h->nlmsg_len);
}

static void neighbours_of_a_dump_are_counted(void **state)
{
	struct resync_keys k = {};
	struct resync_seen seen;
	struct dump d = {};

	(void)state;
	dump_add(&d, RTM_NEWNEIGH, 2, "\1\2\3\4", 4);
	dump_add(&d, RTM_NEWNEIGH, 3, "\1\2\3\4", 4);
	dump_add(&d, RTM_NEWNEIGH, 2, "\1\2\3\5", 4);
	dump_add(&d, RTM_NEWNEIGH, 2, NULL, 0);
	assert_int_equal(resync_take(&k, d.bytes, d.len), 1);
	d.len = 0;
	dump_add(&d, RTM_NEWNEIGH, 2, "\1\2\3\4", 4); /* once more */
	dump_add(&d, NLMSG_DONE, 0, NULL, 0);
	assert_int_equal(resync_take(&k, d.bytes, d.len), 0);
	seen = resync_count(&k);
	assert_int_equal(seen.dumped, 4);
	assert_int_equal(seen.distinct, 3);
	seen = resync_count(&k);
	assert_int_equal(seen.dumped, 0);
}

static void damaged_dumps_are_refused(void **state)
{
	struct resync_keys k = {};
	struct dump d = {};
	int error = -EBUSY;

	(void)state;
	dump_add(&d, RTM_NEWNEIGH, 2, "\1\2\3\4", 4);
	for (size_t cut = sizeof(struct nlmsghdr); cut < d.len; cut++) {
		char *part = malloc(cut);

		assert_non_null(part);
		memcpy(part, d.bytes, cut);
		assert_int_equal(resync_take(&k, part, cut), -EBADMSG);
		free(part);
	}
	for (size_t at = 0; at < d.len; at++) {
		char *bent = malloc(d.len);

		assert_non_null(bent);
		memcpy(bent, d.bytes, d.len);
		bent[at] = (char)~bent[at];
		assert_true(resync_take(&k, bent, d.len) <= 1);
		free(bent);
	}
	d.len = 0;
	dump_add(&d, NLMSG_ERROR, 0, NULL, 0);
	memcpy(d.bytes + sizeof(struct nlmsghdr), &error, sizeof(error));
	assert_int_equal(resync_take(&k, d.bytes, d.len), -EBUSY);
	resync_count(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_differences_over_the_time_between),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(a_screen_is_cut_to_the_terminal),
		cmocka_unit_test(metrics_have_base_units_and_labels_of_few_values),
		cmocka_unit_test(what_cannot_be_read_is_left_out),
		cmocka_unit_test(neighbours_of_a_dump_are_counted),
		cmocka_unit_test(damaged_dumps_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
