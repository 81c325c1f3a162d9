// SPDX-License-Identifier: GPL-2.0-or-later
// needs: mon/btf.c mon/sysctl.c mon/file.c mon/text.c mon/undo.c mon/json.c mon/cause.c mon/khist.c
// mon/evformat.c
/* Type information, sysctl names, what is put back, and the messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/btf.h>

#include <cmocka.h>

#include "lib/err.h"
#include "mon/btf.h"
#include "lib/wire.h"
#include "mon/json.h"
#include "mon/sample.h"
#include "mon/sysctl.h"
#include "mon/trace.h"
#include "mon/undo.h"

/* --- stand-ins for what needs a kernel ----------------------------------------------------------
 */

static unsigned routes_removed;

int rtnl_addr_parse(struct rtnl_addr *a, const char *text, struct err *err)
{
	(void)a;
	(void)text;
	(void)err;
	return 0;
}

int rtnl_addr_del(struct rtnl *r, int index, const struct rtnl_addr *a, struct err *err)
{
	(void)r;
	(void)index;
	(void)a;
	(void)err;
	return 0;
}

int rtnl_set_up(struct rtnl *r, int index, bool up, struct err *err)
{
	(void)r;
	(void)index;
	(void)up;
	(void)err;
	return 0;
}

int rtnl_route_parse(struct rtnl_route *r, const char *prefix, const char *type, const char *via,
		     struct err *err)
{
	(void)r;
	(void)prefix;
	(void)type;
	(void)via;
	(void)err;
	return 0;
}

int rtnl_route_del(struct rtnl *r, const struct rtnl_route *route, struct err *err)
{
	(void)r;
	(void)route;
	(void)err;
	routes_removed++;
	return 0;
}

static const uint64_t answered_none[2];
static const struct trace_drop *drop_rows;

void trace_drop(const struct trace *t, unsigned i, struct trace_drop *d)
{
	(void)t;
	*d = drop_rows[i];
}

/* --- type information ---------------------------------------------------------------------------
 */

/* struct sk_buff { int a; union { struct { int b; int skb_iif; }; long c; }; int bits:3; } */
static const struct {
	struct btf_header h;
	struct btf_type i;
	uint32_t i_tail;
	struct btf_type inner;
	struct btf_member inner_m[2];
	struct btf_type uni;
	struct btf_member uni_m[2];
	struct btf_type skb;
	struct btf_member skb_m[3];
	char strings[40];
} btf_good = {
	.h = {BTF_MAGIC, BTF_VERSION, 0, sizeof(struct btf_header), 0,
	      4 * sizeof(struct btf_type) + 4 + 7 * sizeof(struct btf_member),
	      4 * sizeof(struct btf_type) + 4 + 7 * sizeof(struct btf_member), 40},
	.i = {1, BTF_KIND_INT << 24, {4}},
	.i_tail = 32,
	.inner = {0, BTF_KIND_STRUCT << 24 | 2, {8}},
	.inner_m = {{5, 1, 0}, {7, 1, 32}},
	.uni = {0, BTF_KIND_UNION << 24 | 2, {8}},
	.uni_m = {{0, 2, 0}, {15, 1, 0}},
	.skb = {17, 1u << 31 | BTF_KIND_STRUCT << 24 | 3, {16}},
	.skb_m = {{25, 1, 0}, {0, 3, 64}, {27, 1, 3 << 24 | 128}},
	.strings = "\0int\0b\0skb_iif\0c\0sk_buff\0a\0bits",
};

static void members_are_found_inside_anonymous_ones(void **state)
{
	struct err err = {};

	(void)state;
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "sk_buff", "skb_iif", &err),
			 12);
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "sk_buff", "a", &err), 0);
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "sk_buff", "c", &err), 8);
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "sk_buff", "bits", &err),
			 -EDOM);
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "sk_buff", "none", &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "none"));
	assert_int_equal(btf_member_offset(&btf_good, sizeof(btf_good), "none", "a", &err),
			 -ENOENT);
}

static void damaged_type_information_is_refused(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < sizeof(btf_good); cut++) {
		char *part = malloc(cut ? cut : 1);

		assert_non_null(part);
		memcpy(part, &btf_good, cut);
		assert_int_equal(btf_member_offset(part, cut, "sk_buff", "skb_iif", NULL),
				 -EBADMSG);
		free(part);
	}
	for (size_t at = 0; at < sizeof(btf_good); at++) {
		char *bent = malloc(sizeof(btf_good));

		assert_non_null(bent);
		memcpy(bent, &btf_good, sizeof(btf_good));
		bent[at] = (char)~bent[at];
		assert_true(btf_member_offset(bent, sizeof(btf_good), "sk_buff", "skb_iif", NULL) <
			    1 << 20);
		free(bent);
	}
}

/* --- sysctls -------------------------------------------------------------------------------------
 */

static void names_become_paths(void **state)
{
	char path[SYSCTL_PATH_MAX], longest[400];

	(void)state;
	assert_int_equal(sysctl_path(path, "net.ipv4.ip_forward", NULL), 0);
	assert_string_equal(path, "/proc/sys/net/ipv4/ip_forward");
	assert_int_equal(sysctl_path(path, "net/ipv4/conf/eth0.100/rp_filter", NULL), 0);
	assert_string_equal(path, "/proc/sys/net/ipv4/conf/eth0.100/rp_filter");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(sysctl_path(path, longest, NULL), -EINVAL);
	assert_int_equal(sysctl_path(path, "", NULL), -EINVAL);
	assert_int_equal(sysctl_path(path, "/etc/passwd", NULL), -EINVAL);
	assert_int_equal(sysctl_path(path, "net/../../../etc/passwd", NULL), -EINVAL);
	assert_int_equal(sysctl_path(path, "net..ipv4", NULL), -EINVAL);
	assert_int_equal(sysctl_path(path, "a\nb", NULL), -EINVAL);
}

static void values_are_compared_as_words(void **state)
{
	(void)state;
	assert_true(sysctl_same("4096\t131072\t6291456\n", "4096 131072 6291456"));
	assert_true(sysctl_same("1\n", "1"));
	assert_true(sysctl_same("", "\n"));
	assert_false(sysctl_same("1", "10"));
	assert_false(sysctl_same("1 2", "1"));
	assert_false(sysctl_same("1", ""));
}

/* --- undo ----------------------------------------------------------------------------------------
 */

static void changes_are_on_disk_before_they_are_made(void **state)
{
	char path[64];
	struct undo u, again;
	struct rtnl r = {};

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_mon_host.%d", (int)getpid());
	assert_int_equal(undo_open(&u, path, &r, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(undo_sysctl(&u, "net.no.such.sysctl", "7", NULL), 0);
	assert_int_equal(undo_link_up(&u, "no-such-if", 99999, NULL), 0);
	assert_int_equal(undo_route(&u, "2001:2:0:9::/64", "via", "2001:2:0:2::9", NULL), 0);
	assert_int_equal(undo_route(&u, "198.18.9.0/24", "blackhole", NULL, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	undo_close(&u); /* as a crash would: nothing is put back */
	/* What is gone since is nobody's loss. */
	assert_int_equal(undo_open(&again, path, &r, NULL), 4);
	assert_int_equal(routes_removed, 2);
	assert_int_equal(access(path, F_OK), -1);
	undo_close(&again);
}

static void a_damaged_state_file_is_told(void **state)
{
	struct err err = {};
	char path[64];
	struct undo u;
	struct rtnl r = {};
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_mon_host.%d", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("[{\"sysctl\":", f);
	fclose(f);
	assert_int_equal(undo_open(&u, path, &r, &err), -EBADMSG);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	undo_close(&u);
}

static void a_state_file_that_cannot_be_written_stops_the_change(void **state)
{
	struct err err = {};
	struct undo u;
	struct rtnl r = {};

	(void)state;
	assert_int_equal(undo_open(&u, "/proc/no/such/folder", &r, NULL), 0);
	assert_true(undo_sysctl(&u, "a.b", "1", &err) < 0);
	assert_non_null(strstr(err.text, "--state"));
	undo_close(&u);
}

/* --- messages ------------------------------------------------------------------------------------
 */

static json_int_t number(const json_t *obj, const char *outer, const char *inner)
{
	return json_integer_value(json_object_get(json_object_get(obj, outer), inner));
}

static void only_received_ip_counts(void **state)
{
	static const struct trace_drop rows[] = {
		{0x800, 2, "NEIGH_CREATEFAIL", "f", 10, CAUSE_NEIGH_FULL, false, true},
		{0x800, 2, "NEIGH_CREATEFAIL", "g", 5, CAUSE_NEIGH_FULL, false, true},
		{0x800, 0, "NEIGH_CREATEFAIL", "f", 3, CAUSE_NEIGH_FULL, true, false},
		{0x806, -1, "OTHERHOST", "h", 100, CAUSE_OTHER, false, false},
		{0x800, 2, "X", "k", 1, CAUSE_OTHER, false, true},
	};
	struct trace t = {.hist = {.nr = 5, .overflow = 4}};
	json_t *s = json_object();

	(void)state;
	drop_rows = rows;
	assert_int_equal(json_add_drops(s, &t, answered_none, NR_CAUSES), 0);
	assert_int_equal(number(s, "drops_pkts", "neigh_full"), 15);
	assert_int_equal(number(s, "drops_pkts", "other"), 1);
	assert_int_equal(number(s, "own_drops_pkts", "neigh_full"), 3);
	assert_int_equal(number(s, "own_drops_pkts", "other"), 0);
	assert_int_equal(json_integer_value(json_object_get(s, "hist_overflow")), 4);
	assert_int_equal(json_object_size(json_object_get(s, "drops_pkts")), NR_CAUSES);
	assert_int_equal(json_array_size(json_object_get(s, "drops")), 5);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(s, "drops"), 3), "cause")));
	assert_int_equal(json_add_drops(s, &t, answered_none, CAUSE_NEIGH_FULL), 0);
	assert_int_equal(number(s, "drops_pkts", "neigh_full"), 0);
	assert_int_equal(number(s, "drops_pkts", "other"), 1);
	json_decref(s);
}

static void families_are_told_apart_and_answers_are_local(void **state)
{
	static const struct trace_drop rows[] = {
		{0x800, 2, "NEIGH_CREATEFAIL", "f", 10, CAUSE_NEIGH_FULL, false, true},
		{0x86dd, 2, "NEIGH_CREATEFAIL", "f", 5, CAUSE_NEIGH_FULL, false, true},
		{0x86dd, 0, "NEIGH_CREATEFAIL", "f", 3, CAUSE_NEIGH_FULL, true, false},
		/* Neighbour discovery that the host received and has read. */
		{0x86dd, 2, "NOT_SPECIFIED", "icmpv6_rcv", 100, CAUSE_LOCAL, false, false},
	};
	static const uint64_t answered[] = {4, 6};
	struct trace t = {.hist = {.nr = 4}};
	json_t *s = json_object(), *list;

	(void)state;
	drop_rows = rows;
	assert_int_equal(json_add_drops(s, &t, answered, NR_CAUSES), 0);
	assert_int_equal(number(s, "drops_pkts", "neigh_full"), 15);
	assert_int_equal(number(s, "drops6_pkts", "neigh_full"), 5);
	assert_int_equal(number(s, "own_drops_pkts", "neigh_full"), 3);
	assert_int_equal(number(s, "own_drops6_pkts", "neigh_full"), 3);
	assert_int_equal(number(s, "drops_pkts", "local"), 10);
	assert_int_equal(number(s, "drops6_pkts", "local"), 6);
	list = json_object_get(s, "drops");
	assert_int_equal(json_array_size(list), 6);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(list, 5), "location")),
		"icmpv6_echo_reply");
	json_decref(s);
}

static void differences_go_down_and_skip_what_is_no_number(void **state)
{
	json_t *a =
		json_pack("{s:i,s:{s:i,s:s},s:i}", "x", 5, "in", "y", 7, "name", "a", "gone", 1);
	json_t *b =
		json_pack("{s:i,s:{s:i,s:s},s:[i]}", "x", 12, "in", "y", 3, "name", "b", "list", 1);
	json_t *d = json_difference(a, b);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(d, "x")), 7);
	assert_int_equal(number(d, "in", "y"), -4);
	assert_int_equal(json_object_size(d), 2);
	assert_int_equal(json_object_size(json_object_get(d, "in")), 1);
	json_decref(a);
	json_decref(b);
	json_decref(d);
}

static void a_sample_with_every_row_fits_into_a_line(void **state)
{
	static struct trace_drop rows[1000];
	static struct sampler sampler = {.nr_ifs = SAMPLE_IFS_MAX};
	static struct sample sample;
	struct trace t = {.hist = {.nr = 1000}};
	json_t *s, *result;
	size_t len;
	char *line;

	(void)state;
	memset(&sample, 0x7f, sizeof(sample));
	sample.missing[sizeof(sample.missing) - 1] = '\0';
	sample.have = ~0u;
	for (unsigned i = 0; i < SAMPLE_IFS_MAX; i++)
		snprintf(sampler.if_label[i], sizeof(sampler.if_label[i]), "interface-%u", i);
	for (unsigned i = 0; i < 1000; i++)
		rows[i] = (struct trace_drop){0x800,
					      2,
					      "SKB_DROP_REASON_OF_LENGTH",
					      "a_function_name_with_forty_characters_.isra.0",
					      UINT64_C(1) << 62,
					      CAUSE_NEIGH_UNRESOLVED,
					      false,
					      true};
	drop_rows = rows;
	s = json_sample(&sampler, &sample);
	assert_int_equal(json_add_drops(s, &t, answered_none, NR_CAUSES), 0);
	result = wire_result(
		1, json_pack("{s:o,s:o}", "difference", json_difference(s, s), "final", s));
	line = wire_line(result, &len);
	assert_non_null(line);
	assert_true(len < WIRE_LINE_MAX);
	free(line);
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_inside_anonymous_ones),
		cmocka_unit_test(damaged_type_information_is_refused),
		cmocka_unit_test(names_become_paths),
		cmocka_unit_test(values_are_compared_as_words),
		cmocka_unit_test(changes_are_on_disk_before_they_are_made),
		cmocka_unit_test(a_damaged_state_file_is_told),
		cmocka_unit_test(a_state_file_that_cannot_be_written_stops_the_change),
		cmocka_unit_test(only_received_ip_counts),
		cmocka_unit_test(families_are_told_apart_and_answers_are_local),
		cmocka_unit_test(differences_go_down_and_skip_what_is_no_number),
		cmocka_unit_test(a_sample_with_every_row_fits_into_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
