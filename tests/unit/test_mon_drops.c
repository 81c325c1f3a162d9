// SPDX-License-Identifier: GPL-2.0-or-later
// needs: mon/khist.c mon/text.c mon/evformat.c mon/cause.c
/* From the texts of the kernel's drop histogram to causes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/err.h"
#include "mon/cause.h"
#include "mon/evformat.h"
#include "mon/khist.h"
#include "tests/unit/mon_file.h"

static int parse(struct khist *h, const char *text)
{
	struct err err = {};

	return khist_parse(h, text, strlen(text), &err);
}

static void reasons_have_each_kernels_numbers(void **state)
{
	static const uint32_t createfail[] = {40, 51}, max[] = {66, 104};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct evformat_names n;
		struct err err = {};
		size_t len, end;
		char *text = mon_file(mon_kernels[k], "format", &len);

		assert_int_equal(evformat_parse(&n, text, len, "reason", &err), 0);
		assert_string_equal(evformat_name(&n, createfail[k]), "NEIGH_CREATEFAIL");
		assert_string_equal(evformat_name(&n, createfail[k] + 1), "NEIGH_FAILED");
		assert_string_equal(evformat_name(&n, max[k]), "MAX");
		assert_null(evformat_name(&n, 1000));
		evformat_free(&n);
		assert_int_equal(evformat_parse(&n, text, len, "location", &err), -ENOENT);
		assert_non_null(strstr(err.text, "location"));
		/* Up to its last parenthesis it is not whole. */
		end = (size_t)((char *)memrchr(text, ')', len) - text);
		for (size_t cut = 0; cut <= end; cut++)
			assert_int_not_equal(evformat_parse(&n, text, cut, "reason", NULL), 0);
		free(text);
	}
}

static void tables_that_are_damaged_are_refused(void **state)
{
	static const char *const bad[] = {
		"__print_symbolic(REC->reason, { 1, \"A\" }",
		"__print_symbolic(REC->reason)",
		"__print_symbolic(REC->reason, { x, \"A\" })",
		"__print_symbolic(REC->reason, { 1, A })",
		"__print_symbolic(REC->reason, { 1, \"A })",
		"__print_symbolic(REC->reason, { 1 \"A\" })",
		"__print_symbolic(REC->reason, { 4294967296, \"A\" })",
	};
	struct evformat_names n;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(evformat_parse(&n, bad[i], strlen(bad[i]), "reason", NULL),
				 -EBADMSG);
}

/* What was sent into the guest when the files were captured. */
static const struct {
	const char *reason, *symbol;
	enum cause cause;
	uint64_t pkts[2];
	int iif;
} sent[] = {
	{"IP_INHDR", "ip_forward", CAUSE_TTL, {50, 50}, 2},
	{"IP_INNOROUTES", "ip_error", CAUSE_NO_ROUTE, {40, 40}, 2},
	{"NOT_SPECIFIED", "ip_rcv_finish_core.constprop.0", CAUSE_MARTIAN, {50, 50}, 2},
	{"NO_SOCKET", "__udp4_lib_rcv", CAUSE_LOCAL, {25, 25}, 2},
	{"NOT_SPECIFIED", "__udp4_lib_rcv", CAUSE_BROADCAST, {12, 12}, 2},
	{"NEIGH_CREATEFAIL", "ip_finish_output2", CAUSE_NEIGH_FULL, {752, 977}, 2},
	{"NEIGH_CREATEFAIL", "ip_finish_output2", CAUSE_NEIGH_FULL, {3, 6}, 0},
};

static const struct khist_row *find(const struct khist *h, const struct evformat_names *n,
				    unsigned i)
{
	for (unsigned r = 0; r < h->nr; r++) {
		const char *reason = evformat_name(n, h->rows[r].reason);

		if (h->rows[r].key == KHIST_IIF && h->rows[r].first == sent[i].iif && reason &&
		    !strcmp(reason, sent[i].reason) && !strcmp(h->rows[r].symbol, sent[i].symbol))
			return &h->rows[r];
	}
	return NULL;
}

static void captured_histograms_name_every_cause(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct evformat_names n;
		struct khist h = {};
		struct err err = {};
		size_t len;
		char *text = mon_file(mon_kernels[k], "format", &len);

		assert_int_equal(evformat_parse(&n, text, len, "reason", &err), 0);
		free(text);
		text = mon_file(mon_kernels[k], "hist", &len);
		assert_int_equal(khist_parse(&h, text, len, &err), 0);
		free(text);
		assert_int_equal(h.blocks, 2);
		assert_int_equal(h.overflow, 0);
		assert_int_equal(h.nr, 9);
		for (unsigned i = 0; i < sizeof(sent) / sizeof(*sent); i++) {
			const struct khist_row *r = find(&h, &n, i);

			assert_non_null(r);
			assert_int_equal(r->pkts, sent[i].pkts[k]);
			assert_int_equal(cause_of(sent[i].reason, r->symbol), sent[i].cause);
		}
		khist_free(&h);
		evformat_free(&n);
	}
}

static void rows_and_totals_agree(void **state)
{
	static const char *const names[] = {"hist", "hist-plain"};

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct khist h = {};
		uint64_t sum = 0;
		size_t len;
		char *text = mon_file(mon_kernels[k / 2], names[k % 2], &len);

		assert_int_equal(khist_parse(&h, text, len, NULL), 0);
		for (unsigned i = 0; i < h.nr; i++)
			sum += h.rows[i].pkts;
		assert_int_equal(sum, h.hits);
		khist_free(&h);
		free(text);
	}
}

static void forms_of_rows(void **state)
{
	struct khist h = {};

	(void)state;
	assert_int_equal(
		parse(&h,
		      "{ iif: -1, reason: 7, location: [ffffffffc0123456] start_xmit [virtio_net] "
		      "   } hitcount:   5\n"
		      "{ iif: 2, reason: 7, location: [ffffffff00000001] f    } hitcount: 1\n"
		      "{ iif: 2, reason: 7, location: [ffffffff00000002] f    } hitcount: 2\n"
		      "{ protocol: 2, reason: 7, location: [ffffffff00000002] f } hitcount: 4\n"
		      "{ iif: 3, reason: 7, location: [0000000000000000] } hitcount: "
		      "18446744073709551615\n"
		      "Totals:\n    Hits: 12\n    Entries: 4\n    Dropped: 3\n"),
		0);
	assert_int_equal(h.nr, 4);
	assert_string_equal(h.rows[0].symbol, "start_xmit");
	assert_int_equal(h.rows[0].first, -1);
	assert_int_equal(h.rows[1].pkts, 3); /* one function, two addresses */
	assert_int_equal(h.rows[2].key, KHIST_PROTOCOL);
	assert_string_equal(h.rows[3].symbol, "");
	assert_true(h.rows[3].pkts == UINT64_MAX);
	assert_int_equal(h.overflow, 3);
	khist_free(&h);
}

static void overflow_adds_up_over_histograms(void **state)
{
	struct khist h = {};

	(void)state;
	assert_int_equal(
		parse(&h, "Totals:\n Hits: 1\n Dropped: 3\nTotals:\n Hits: 2\n Dropped: 4\n"), 0);
	assert_int_equal(h.overflow, 7);
	assert_int_equal(h.hits, 3);
	assert_int_equal(h.blocks, 2);
	assert_int_equal(parse(&h, ""), 0);
	assert_int_equal(h.overflow, 0);
	khist_free(&h);
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"{ iif: 2, reason: 7, location: [1] f } hitcount:\n",
		"{ iif: 2, reason: 7, location: [1] f hitcount: 3\n",
		"{ iif: 2, reason: 7, location: 1 f } hitcount: 3\n",
		"{ iif: x, reason: 7, location: [1] f } hitcount: 3\n",
		"{ iif: 99999999999, reason: 7, location: [1] f } hitcount: 3\n",
		"{ cpu: 1, reason: 7, location: [1] f } hitcount: 3\n",
		"{ iif: 2, reason: 7, location: [1] f } bytes: 3\n",
		"{ iif: 2, reason: 7, location: [1] f } hitcount: 18446744073709551616\n",
		"Totals:\n Hits: many\n",
		"hello\n",
	};
	struct khist h = {};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = {};

		assert_int_equal(khist_parse(&h, bad[i], strlen(bad[i]), &err), -EBADMSG);
		assert_non_null(strstr(err.text, "line "));
	}
	khist_free(&h);
}

static void symbols_lose_what_compilers_append(void **state)
{
	(void)state;
	assert_int_equal(cause_of("NOT_SPECIFIED", "ip_rcv_finish_core"), CAUSE_MARTIAN);
	assert_int_equal(cause_of("NOT_SPECIFIED", "ip_rcv_finish_core.isra.0"), CAUSE_MARTIAN);
	assert_int_equal(cause_of("NOT_SPECIFIED", "ip_rcv_finish_core2"), CAUSE_OTHER);
	assert_int_equal(cause_of("NOT_SPECIFIED", "ip_rcv_finish"), CAUSE_OTHER);
}

static void what_no_row_knows_is_other(void **state)
{
	(void)state;
	assert_int_equal(cause_of(NULL, "ip_forward"), CAUSE_OTHER);
	assert_int_equal(cause_of("NO_SUCH_REASON", ""), CAUSE_OTHER);
	/* The same reason means a malformed header elsewhere. */
	assert_int_equal(cause_of("IP_INHDR", "ip_rcv_core"), CAUSE_OTHER);
	assert_int_equal(cause_of("IP_INHDR", "ip_forward"), CAUSE_TTL);
	assert_int_equal(cause_of("QUEUE_PURGE", "neigh_destroy"), CAUSE_NEIGH_FAILED);
	assert_int_equal(cause_of("QUEUE_PURGE", "skb_queue_purge_reason"), CAUSE_OTHER);
}

/* As rows of both kernels name them when the scenes of tests/guest/mon-scenes6.c provoke them. */
static void causes_of_ipv6(void **state)
{
	static const struct {
		const char *reason, *location;
		enum cause cause;
	} rows[] = {
		{"NEIGH_CREATEFAIL", "ip6_finish_output2", CAUSE_NEIGH_FULL},
		{"NOT_SPECIFIED", "ndisc_error_report", CAUSE_NEIGH_FAILED},
		{"NOT_SPECIFIED", "neigh_invalidate", CAUSE_NEIGH_FAILED},
		{"NEIGH_QUEUEFULL", "__neigh_event_send", CAUSE_NEIGH_UNRESOLVED},
		{"IP_INNOROUTES", "ip6_pkt_drop", CAUSE_NO_ROUTE},
		{"NOT_SPECIFIED", "dst_discard_out", CAUSE_NO_ROUTE},
		{"IP_INHDR", "ip6_forward", CAUSE_TTL},
		{"IP_INHDR", "ip6_rcv_core", CAUSE_MARTIAN},
		{"IP_INADDRERRORS", "ip6_pkt_drop", CAUSE_MARTIAN},
		{"IP_INADDRERRORS", "ip6_forward", CAUSE_MARTIAN},
		{"NO_SOCKET", "__udp6_lib_rcv", CAUSE_LOCAL},
		{"NO_SOCKET", "tcp_v6_rcv", CAUSE_LOCAL},
		{"IP_NOPROTO", "ip6_input_finish", CAUSE_LOCAL},
		{"NOT_SPECIFIED", "icmpv6_rcv", CAUSE_LOCAL},
		{"ICMP_CSUM", "icmpv6_rcv", CAUSE_LOCAL},
		{"NOT_SPECIFIED", "__udp6_lib_rcv", CAUSE_BROADCAST},
		{"NOT_SPECIFIED", "ip6_mc_input", CAUSE_BROADCAST},
		/* IPv4's martians and routes are not IPv6's. */
		{"IP_INADDRERRORS", "ip_error", CAUSE_NO_ROUTE},
		{"PKT_TOO_SMALL", "ip6_rcv_core", CAUSE_OTHER},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(cause_of(rows[i].reason, rows[i].location), rows[i].cause);
}

static void the_first_key_names_the_histogram(void **state)
{
	struct khist h = {};

	(void)state;
	assert_int_equal(parse(&h, "{ nd6: 3, reason: 2, location: [1] icmpv6_rcv } hitcount: 7\n"
				   "{ iif6: 3, reason: 2, location: [1] icmpv6_rcv } hitcount: 5\n"
				   "{ iif: 3, reason: 2, location: [1] icmpv6_rcv } hitcount: 4\n"
				   "{ protocol: 3, reason: 2, location: [1] icmpv6_rcv } hitcount: 1\n"),
			 0);
	assert_int_equal(h.nr, 4);
	assert_int_equal(h.rows[0].key, KHIST_ND6);
	assert_int_equal(h.rows[1].key, KHIST_IIF6);
	assert_int_equal(h.rows[2].key, KHIST_IIF);
	assert_int_equal(h.rows[3].key, KHIST_PROTOCOL);
	khist_free(&h);
}

static void names_of_causes_go_both_ways(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NR_CAUSES; i++)
		assert_int_equal(cause_parse(cause_name(i)), i);
	assert_int_equal(cause_parse("neigh"), NR_CAUSES);
	assert_int_equal(cause_parse(""), NR_CAUSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_have_each_kernels_numbers),
		cmocka_unit_test(tables_that_are_damaged_are_refused),
		cmocka_unit_test(captured_histograms_name_every_cause),
		cmocka_unit_test(rows_and_totals_agree),
		cmocka_unit_test(forms_of_rows),
		cmocka_unit_test(overflow_adds_up_over_histograms),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(symbols_lose_what_compilers_append),
		cmocka_unit_test(what_no_row_knows_is_other),
		cmocka_unit_test(causes_of_ipv6),
		cmocka_unit_test(the_first_key_names_the_histogram),
		cmocka_unit_test(names_of_causes_go_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
