// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/respond.c sink/tally.c
/* Each rule of the responder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/err.h"
#include "sink/respond.h"

#define NET   0xc6130000u /* 198.19.0.0 */
#define DUT   (NET + 1)
#define ASKER 0xc6130001u
#define NET6  UINT64_C(0x2001000200000002) /* 2001:2:0:2::/64 */

struct rig {
	struct addrset set[3], vip;
	const struct addrset *sets[3];
	struct respond_host dut[3];
	struct respond_rule rules[2];
	struct respond_conf conf;
	struct respond r;
	struct respond_how how;
};

static void set_of(struct addrset *set, const char *text)
{
	addrset_init(set);
	assert_int_equal(addrset_add(set, text, NULL), 0);
	assert_int_equal(addrset_seal(set, NULL), 0);
}

/* Networks of both families, DUT addresses included, and a single far one: the DUT rule must hold
 * by itself. Half of 198.19.0.0/16 has a rule of its own. */
static void rig_init(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	set_of(&g->set[0], "198.19.0.0/16");
	set_of(&g->set[1], "198.18.255.7");
	set_of(&g->set[2], "2001:2:0:2::-2001:2:0:2:ffff:ffff:ffff:fffe");
	set_of(&g->vip, "198.19.128.0/17");
	for (unsigned int i = 0; i < 3; i++)
		g->sets[i] = &g->set[i];
	g->dut[0] = (struct respond_host){AF_INET, {.lo = DUT}};
	g->dut[1] = (struct respond_host){AF_INET, {.lo = 0xc6120001u}};
	g->dut[2] = (struct respond_host){AF_INET6, {NET6, 1}};
	g->rules[0] = (struct respond_rule){
		.prefix = &g->vip, .answer_ratio = 1, .answer_probe = 1, .copies = 1};
	g->rules[1] = (struct respond_rule){.answer_ratio = 1, .answer_probe = 1, .copies = 1};
	g->conf = (struct respond_conf){.sets = g->sets,
					.nr_sets = 3,
					.dut = g->dut,
					.nr_dut = 3,
					.seed = 1,
					.rules = g->rules,
					.nr_rules = 2};
}

static void rig_free(struct rig *g)
{
	respond_free(&g->r);
	for (unsigned int i = 0; i < 3; i++)
		addrset_free(&g->set[i]);
	addrset_free(&g->vip);
}

static enum respond_verdict ask(struct rig *g, uint32_t sender, uint32_t target)
{
	return respond_decide(&g->r, AF_INET, (struct addr){.lo = sender},
			      (struct addr){.lo = target}, &g->how);
}

static enum respond_verdict ask6(struct rig *g, uint64_t sender, uint64_t target)
{
	return respond_decide(&g->r, AF_INET6, (struct addr){sender ? NET6 : 0, sender},
			      (struct addr){NET6, target}, &g->how);
}

static void refuses(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(ask(&g, ASKER, NET + 2), RESPOND_ANSWER);
	assert_int_equal(ask(&g, ASKER, 0xc612ff07u), RESPOND_ANSWER);
	assert_int_equal(ask(&g, 0, NET + 2), RESPOND_REFUSE);
	assert_int_equal(ask(&g, NET + 2, NET + 2), RESPOND_REFUSE);
	assert_int_equal(ask(&g, NET + 9, DUT), RESPOND_REFUSE);
	assert_int_equal(ask(&g, NET + 9, 0xc6120001u), RESPOND_REFUSE);
	assert_int_equal(ask(&g, ASKER, NET - 1), RESPOND_REFUSE);
	assert_int_equal(ask(&g, ASKER, NET + 65536), RESPOND_REFUSE);
	assert_int_equal(ask6(&g, 1, 2), RESPOND_ANSWER);
	assert_int_equal(ask6(&g, 1, UINT64_MAX - 1), RESPOND_ANSWER);
	assert_int_equal(ask6(&g, 0, 2), RESPOND_REFUSE);
	assert_int_equal(ask6(&g, 2, 2), RESPOND_REFUSE);
	assert_int_equal(ask6(&g, 2, 1), RESPOND_REFUSE);
	assert_int_equal(ask6(&g, 1, UINT64_MAX), RESPOND_REFUSE);
	/* The same bits in the other family are another address. */
	assert_int_equal(respond_decide(&g.r, AF_INET6, (struct addr){.lo = 5},
					(struct addr){.lo = NET + 2}, &g.how),
			 RESPOND_REFUSE);
	rig_free(&g);
}

static unsigned int answering(struct rig *g, double ratio, uint64_t seed, int family, uint8_t *who)
{
	struct addr target = {.hi = family == AF_INET6 ? NET6 : 0};
	unsigned int n = 0;

	g->rules[0].answer_ratio = g->rules[1].answer_ratio = ratio;
	g->conf.seed = seed;
	assert_int_equal(respond_init(&g->r, &g->conf, NULL), 0);
	for (uint32_t i = 2; i < 65536; i++) {
		enum respond_verdict said;

		target.lo = family == AF_INET6 ? (uint64_t)i << 40 : NET + i;
		said = respond_decide(&g->r, family, (struct addr){.lo = 3}, target, &g->how);
		/* The same for ever. */
		assert_int_equal(
			respond_decide(&g->r, family, (struct addr){.lo = 3}, target, &g->how),
			said);
		who[i] = said == RESPOND_ANSWER;
		n += who[i];
	}
	respond_free(&g->r);
	return n;
}

/* Six standard deviations of the binomial: fails by chance once in 10^9, and the seeds are fixed.
 */
static void ratio(void **state)
{
	static uint8_t a[65536], b[65536];
	const double n = 65534;
	struct rig g;

	(void)state;
	rig_init(&g);
	assert_int_equal(answering(&g, 0, 1, AF_INET, a), 0);
	assert_int_equal(answering(&g, 1, 1, AF_INET, a), 65534);
	for (double r = 0.01; r < 1; r += 0.07)
		assert_true(fabs(answering(&g, r, 5, AF_INET, a) - n * r) <
			    6 * sqrt(n * r * (1 - r)));
	for (double r = 0.01; r < 1; r += 0.25)
		assert_true(fabs(answering(&g, r, 5, AF_INET6, a) - n * r) <
			    6 * sqrt(n * r * (1 - r)));
	answering(&g, 0.5, 1, AF_INET, a);
	answering(&g, 0.5, 1, AF_INET, b);
	assert_memory_equal(a, b, sizeof(a));
	answering(&g, 0.5, 2, AF_INET, b);
	assert_memory_not_equal(a, b, sizeof(a));
	rig_free(&g);
}

static void kth_probe(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	g.rules[1].answer_probe = 3;
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	for (unsigned int i = 1; i <= 70000; i++)
		assert_int_equal(ask(&g, ASKER, NET + 5), i < 3 ? RESPOND_SILENT : RESPOND_ANSWER);
	/* Others count on their own; what is refused does not count. */
	assert_int_equal(ask(&g, ASKER, NET + 6), RESPOND_SILENT);
	assert_int_equal(ask(&g, 0, NET + 6), RESPOND_REFUSE);
	assert_int_equal(ask(&g, ASKER, 0xc612ff07u), RESPOND_SILENT);
	assert_int_equal(ask(&g, ASKER, NET + 6), RESPOND_SILENT);
	assert_int_equal(ask(&g, ASKER, NET + 6), RESPOND_ANSWER);
	assert_int_equal(ask(&g, ASKER, 0xc612ff07u), RESPOND_SILENT);
	assert_int_equal(ask(&g, ASKER, 0xc612ff07u), RESPOND_ANSWER);
	/* One of 2^64: only those that were asked for cost memory. */
	for (unsigned int i = 1; i <= 4; i++)
		assert_int_equal(ask6(&g, 1, UINT64_C(1) << 63),
				 i < 3 ? RESPOND_SILENT : RESPOND_ANSWER);
	rig_free(&g);
}

/* What is counted has a bound; who was counted before it still is. */
static void counting_is_bounded(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	g.rules[1].answer_probe = 2;
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(g.r.counted.max, RESPOND_COUNTED_MAX);
	g.r.counted.max = 1000;
	for (uint64_t i = 0; i < 1010; i++)
		assert_int_equal(ask6(&g, 1, 100 + (i << 32)),
				 i < 1000 ? RESPOND_SILENT : RESPOND_NO_ROOM);
	assert_int_equal(ask6(&g, 1, 100), RESPOND_ANSWER);
	/* Nobody counts for a rule that needs no count. */
	assert_int_equal(ask(&g, ASKER, NET + 40000), RESPOND_ANSWER);
	rig_free(&g);
}

/* The first rule that holds the address, and only that. */
static void rules(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g);
	g.rules[0].delay_ms = 7.5;
	g.rules[0].copies = 3;
	g.rules[1].answer_ratio = 0;
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(ask(&g, ASKER, NET + 0x7fff), RESPOND_SILENT);
	assert_int_equal(ask6(&g, 1, NET + 0x8000), RESPOND_SILENT);
	assert_int_equal(ask(&g, ASKER, NET + 0x8000), RESPOND_ANSWER);
	assert_int_equal(g.how.delay_ns, 7500000);
	assert_int_equal(g.how.copies, 3);
	assert_false(g.how.mac_changes);
	respond_free(&g.r);
	g.conf.nr_rules = 1; /* and none for the rest */
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(ask(&g, ASKER, NET + 0x7fff), RESPOND_REFUSE);
	assert_int_equal(ask(&g, ASKER, NET + 0x8000), RESPOND_ANSWER);
	rig_free(&g);
}

/* All answers for an address in a row, copies included: each has another MAC than the one before.
 */
static void macs_change(void **state)
{
	uint8_t mac[6], last[6] = {0};
	struct rig g;

	(void)state;
	rig_init(&g);
	g.rules[0].mac_changes = true;
	g.rules[0].copies = 3;
	g.rules[0].answer_probe = 2;
	assert_int_equal(respond_init(&g.r, &g.conf, NULL), 0);
	assert_int_equal(ask(&g, ASKER, NET + 0x8000), RESPOND_SILENT);
	for (unsigned int i = 0; i < 200; i++) {
		assert_int_equal(ask(&g, ASKER, NET + 0x8000), RESPOND_ANSWER);
		assert_true(g.how.mac_changes);
		for (unsigned int c = 0; c < g.how.copies; c++) {
			respond_mac(AF_INET, (struct addr){.lo = NET + 0x8000}, g.how.mac + c, mac);
			assert_memory_not_equal(mac, last, 6);
			assert_int_equal(mac[0] & 3, 2); /* unicast, locally administered */
			assert_memory_equal(mac + 1, "\xd5\xc6\x13\x80\0", 5);
			memcpy(last, mac, 6);
		}
		assert_int_equal(ask(&g, ASKER, NET + 0x8001), i ? RESPOND_ANSWER : RESPOND_SILENT);
	}
	rig_free(&g);
}

static void bad_values(void **state)
{
	struct err err;
	struct rig g;

	(void)state;
	rig_init(&g);
	g.rules[0].answer_ratio = 1.01;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.rules[0].answer_ratio = NAN;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.rules[0].answer_ratio = 1;
	g.rules[1].delay_ms = -1;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	g.rules[1].delay_ms = 0.5;
	g.rules[1].answer_probe = 0;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "answer_probe"));
	g.rules[1].answer_probe = 1;
	g.rules[1].copies = 0;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), -EINVAL);
	assert_non_null(strstr(err.text, "copies"));
	g.rules[1].copies = 1;
	assert_int_equal(respond_init(&g.r, &g.conf, &err), 0);
	rig_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses),    cmocka_unit_test(ratio),
		cmocka_unit_test(kth_probe),  cmocka_unit_test(counting_is_bounded),
		cmocka_unit_test(rules),      cmocka_unit_test(macs_change),
		cmocka_unit_test(bad_values),
	};

	return cmocka_run_group_tests_name("respond", tests, NULL, NULL);
}
