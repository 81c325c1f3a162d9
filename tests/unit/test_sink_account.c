// SPDX-License-Identifier: GPL-2.0-or-later
// needs: sink/account.c sink/answers.c sink/respond.c sink/storm.c sink/tally.c
// needs: sink/track.c sink/track_init.c sink/track_loss.c sink/track_draw.c sink/track_finish.c
/* From a frame to its counter, and to the answer that waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sink/account.h"

#define NET  0xc6130000u /* 198.19.0.0 */
#define NET6 UINT64_C(0x2001000200000002) /* 2001:2:0:2::/64 */
#define MS   UINT64_C(1000000)

struct rig {
	struct addrset set, set6;
	struct sched sched;
	struct account a;
};

/* A rule for each family: 198.19.0.0/24 by @rule, the other with @rule's delay doubled. */
static void rig_init(struct rig *g, struct respond_rule rule)
{
	const struct addrset *sets[] = {&g->set, &g->set6};
	const struct respond_host dut[] = {{AF_INET, {.lo = NET + 1}}, {AF_INET6, {NET6, 1}}};
	struct respond_rule rules[2];
	struct respond_conf conf = {
		.sets = sets, .nr_sets = 2, .dut = dut, .nr_dut = 2, .rules = rules, .nr_rules = 2};

	memset(g, 0, sizeof(*g));
	assert_int_equal(addrset_add(&g->set, "198.19.0.0/24", NULL), 0);
	assert_int_equal(addrset_seal(&g->set, NULL), 0);
	assert_int_equal(addrset_add(&g->set6, "2001:2:0:2::/120", NULL), 0);
	assert_int_equal(addrset_seal(&g->set6, NULL), 0);
	rule.answer_ratio = 1;
	rules[0] = rules[1] = rule;
	rules[0].prefix = &g->set;
	rules[1].delay_ms *= 2;
	assert_int_equal(track_init_free(&g->a.track, 10, NULL), 0);
	assert_int_equal(respond_init(&g->a.respond, &conf, NULL), 0);
	g->a.responds = true;
}

static void rig_free(struct rig *g)
{
	account_free(&g->a);
	addrset_free(&g->set);
	addrset_free(&g->set6);
}

static uint64_t waiting(const struct rig *g, enum answer_kind kind)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->a.answers.nr; i++)
		n += g->a.answers.pool[g->a.answers.heap[i].slot].kind == kind;
	return n;
}

/* What the top of sink/account.h promises. */
static void check_identity(struct rig *g)
{
	const struct account_counts *c = &g->a.counts;
	struct track_counts t;

	account_flush(&g->a);
	t = track_counts(&g->a.track);
	assert_int_equal(c->frames_pkts, t.rx_pkts + t.dup_pkts + t.late_pkts + t.foreign_pkts +
						 c->bad_csum_pkts + c->other_pkts +
						 c->arp.requests + c->nd.requests);
	if (!g->a.responds)
		return;
	assert_int_equal(c->arp.requests, c->arp.replies + c->arp.silent + c->arp.refused +
						  c->arp.dropped + waiting(g, ANSWER_ARP));
	assert_int_equal(c->nd.requests, c->nd.replies + c->nd.silent + c->nd.refused +
						 c->nd.dropped + waiting(g, ANSWER_ND));
}

/* "Who has 198.19.0.@target? Tell 198.19.0.@sender." @sender 255: without an address. */
static void ask(struct rig *g, uint8_t sender, uint8_t target, uint64_t now_ns)
{
	uint8_t f[42] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0,	9,  8, 6,
			 0,   1,   8,	0,   6,	  4,   0, 1, 2, 0, 0,	0,  0, 9,
			 198, 19,  0,	0,   0,	  0,   0, 0, 0, 0, 198, 19, 0, 0};

	f[31] = sender;
	f[41] = target;
	if (sender == 255)
		memset(f + 28, 0, 4);
	account_frame(&g->a, f, sizeof(f), now_ns);
	check_identity(g);
}

/* The same of 2001:2:0:2::@target in VLAN 5, from ::@sender or, if 255, without an address. */
static void ask6(struct rig *g, uint8_t sender, uint8_t target, uint64_t now_ns)
{
	uint8_t f[90] = {0x33, 0x33, 0xff, 0,	 0,    target, 2, 0, 0, 0, 0,  9,  0x81,
			 0,    0,    5,	   0x86, 0xdd, 0x60,   0, 0, 0, 0, 32, 58, 255};
	uint32_t sum = 32 + 58;

	if (sender != 255)
		memcpy(f + 26, (uint8_t[16]){0x20, 1, 0, 2, 0, 0, 0, 2, [15] = sender}, 16);
	memcpy(f + 42, (uint8_t[16]){0xff, 2, [11] = 1, [12] = 0xff, [15] = target}, 16);
	f[58] = 135;
	memcpy(f + 66, (uint8_t[16]){0x20, 1, 0, 2, 0, 0, 0, 2, [15] = target}, 16);
	if (sender == 255)
		f[23] = 24, sum -= 8; /* no option */
	else
		memcpy(f + 82, (uint8_t[]){1, 1, 2, 0, 0, 0, 0, 9}, 8);
	for (unsigned int i = 26; i < 90; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	f[60] = (uint8_t)(sum >> 8);
	f[61] = (uint8_t)sum;
	account_frame(&g->a, f, sender == 255 ? 82 : 90, now_ns);
	check_identity(g);
}

static void answers_wait(void **state)
{
	struct answer answer;
	struct rig g;

	(void)state;
	rig_init(&g, (struct respond_rule){.delay_ms = 2.5, .answer_probe = 1, .copies = 1});
	ask6(&g, 1, 7, 9 * MS);
	ask(&g, 1, 7, 10 * MS);
	ask(&g, 1, 8, 11 * MS);
	assert_int_equal(g.a.counts.arp.requests, 2);
	assert_int_equal(g.a.counts.nd.requests, 1);
	/* The later request has the shorter delay. */
	assert_int_equal(account_next_ns(&g.a), 12 * MS + MS / 2);
	assert_int_equal(account_take(&g.a, 12 * MS + MS / 2 - 1, &answer), -1);
	assert_int_equal(account_take(&g.a, 12 * MS + MS / 2, &answer), 0);
	/* To the asker, by the one who was asked. */
	assert_int_equal(answer.len, 60);
	assert_memory_equal(answer.frame, "\x02\0\0\0\0\x09\x02\xd5\xc6\x13\0\x07\x08\x06", 14);
	assert_memory_equal(answer.frame + 20, "\0\2\x02\xd5\xc6\x13\0\x07\xc6\x13\0\x07", 12);
	assert_memory_equal(answer.frame + 32, "\x02\0\0\0\0\x09\xc6\x13\0\x01", 10);
	account_sent(&g.a, &answer);
	assert_int_equal(g.a.counts.arp.replies, 1);
	check_identity(&g);
	/* There was no room: it is the first again. */
	assert_int_equal(account_take(&g.a, 14 * MS, &answer), 0);
	account_unsent(&g.a, &answer);
	check_identity(&g);
	assert_int_equal(account_next_ns(&g.a), 13 * MS + MS / 2);
	assert_int_equal(account_take(&g.a, 14 * MS, &answer), 0);
	account_sent(&g.a, &answer);
	/* In the VLAN of the request. */
	assert_int_equal(account_take(&g.a, 14 * MS, &answer), 0);
	assert_int_equal(answer.len, 90);
	assert_memory_equal(answer.frame, "\x02\0\0\0\0\x09\x02\xd6", 8);
	assert_memory_equal(answer.frame + 12, "\x81\0\0\5\x86\xdd\x60", 7);
	account_sent(&g.a, &answer);
	assert_int_equal(g.a.counts.nd.replies, 1);
	assert_int_equal(account_next_ns(&g.a), UINT64_MAX);
	check_identity(&g);
	rig_free(&g);
}

static void one_counter_each(void **state)
{
	uint8_t junk[60] = {0};
	struct rig g;

	(void)state;
	rig_init(&g, (struct respond_rule){.answer_probe = 2, .copies = 1});
	ask(&g, 1, 7, 1); /* silent, then answered */
	ask(&g, 1, 7, 2);
	ask(&g, 9, 1, 3); /* the DUT's */
	ask(&g, 7, 7, 4); /* an announcement */
	ask(&g, 255, 7, 4); /* duplicate address detection */
	ask6(&g, 1, 7, 4); /* the same again */
	ask6(&g, 1, 7, 4);
	ask6(&g, 9, 1, 4);
	ask6(&g, 7, 7, 4);
	ask6(&g, 255, 7, 4);
	account_frame(&g.a, junk, sizeof(junk), 5);
	account_frame(&g.a, junk, 0, 6);
	memcpy(junk + 12, (uint8_t[]){8, 0, 0x45}, 3);
	account_frame(&g.a, junk, sizeof(junk), 7);
	check_identity(&g);
	assert_int_equal(g.a.counts.frames_pkts, 13);
	for (unsigned int i = 0; i < 2; i++) {
		const struct account_asked *asked = i ? &g.a.counts.nd : &g.a.counts.arp;

		assert_int_equal(asked->requests, 5);
		assert_int_equal(asked->silent, 1);
		assert_int_equal(asked->refused, 3);
		assert_int_equal(asked->dropped, 0);
		assert_int_equal(waiting(&g, i ? ANSWER_ND : ANSWER_ARP), 1);
	}
	assert_int_equal(g.a.counts.other_pkts, 2);
	assert_int_equal(g.a.counts.bad_csum_pkts, 1);
	assert_int_equal(g.a.first_ns, 1);
	assert_int_equal(g.a.last_ns, 7);
	rig_free(&g);
}

/* Of each answer three, with three MACs; only the first is a reply. */
static void copies(void **state)
{
	struct answer answer, last = {0};
	struct rig g;

	(void)state;
	rig_init(&g, (struct respond_rule){.answer_probe = 1, .copies = 3, .mac_changes = true});
	for (uint64_t i = 1; i <= 40; i++) {
		if (i & 1)
			ask(&g, 1, 7, i);
		else
			ask(&g, 1, 7, i), ask6(&g, 1, 7, i);
		while (!account_take(&g.a, i, &answer)) {
			if (answer.len == 60) {
				assert_memory_not_equal(answer.frame + 6, last.frame + 6, 6);
				assert_memory_equal(answer.frame + 6, answer.frame + 22, 6);
				last = answer;
			}
			account_sent(&g.a, &answer);
		}
	}
	check_identity(&g);
	assert_int_equal(g.a.counts.arp.replies, 40);
	assert_int_equal(g.a.counts.nd.replies, 20);
	assert_int_equal(g.a.counts.copies_pkts, 120);
	rig_free(&g);
}

/* More than can be counted by address, and more than can wait. */
static void dropped(void **state)
{
	static const uint8_t who_has_7[42] = {
		255, 255, 255, 255, 255, 255, 2, 0,   0,  0, 0, 9, 8, 6, 0, 1, 8, 0,   6,  4, 0,
		1,   2,	  0,   0,   0,	 0,   9, 198, 19, 0, 1, 0, 0, 0, 0, 0, 0, 198, 19, 0, 7};
	struct rig g;

	(void)state;
	rig_init(&g, (struct respond_rule){.answer_probe = 2, .copies = 1});
	g.a.respond.counted.max = 1;
	ask(&g, 1, 7, 1);
	ask(&g, 1, 8, 1);
	assert_int_equal(g.a.counts.arp.silent, 1);
	assert_int_equal(g.a.counts.arp.dropped, 1);
	rig_free(&g);
	rig_init(&g, (struct respond_rule){.answer_probe = 1, .copies = RESPOND_COPIES_MAX});
	for (unsigned int i = 0; i < ANSWERS_MAX / RESPOND_COPIES_MAX + 3; i++)
		account_frame(&g.a, who_has_7, sizeof(who_has_7), 1);
	assert_int_equal(g.a.answers.nr, ANSWERS_MAX);
	assert_int_equal(g.a.counts.arp.dropped, 2);
	check_identity(&g);
	rig_free(&g);
}

/* Announcements between answers, each when it is due, all counted. */
static void storms(void **state)
{
	const struct storm_conf conf[2] = {{.rate_pps = 1000, .duration_s = 0.01},
					   {.rate_pps = 500, .start_s = 0.001, .duration_s = 0.01}};
	uint64_t last_ns = 0, answers = 0;
	struct answer answer;
	struct rig g;

	(void)state;
	rig_init(&g, (struct respond_rule){.delay_ms = 0.5, .answer_probe = 1, .copies = 1});
	g.a.storms = calloc(2, sizeof(*g.a.storms));
	for (unsigned int i = 0; i < 2; i++) {
		struct storm_conf c = conf[i];

		c.set = i ? &g.set6 : &g.set;
		assert_int_equal(storm_init(&g.a.storms[i], &c, NULL), 0);
		g.a.nr_storms++;
	}
	assert_int_equal(account_next_ns(&g.a), UINT64_MAX);
	account_start(&g.a, 10 * MS);
	assert_int_equal(account_next_ns(&g.a), 10 * MS);
	ask(&g, 1, 7, 12 * MS);
	assert_int_equal(account_next_ns(&g.a), 10 * MS);
	for (uint64_t now = 10 * MS; now < 25 * MS; now += MS / 4) {
		while (!account_take(&g.a, now, &answer)) {
			assert_true(answer.due_ns <= now && answer.due_ns > now - MS / 4);
			assert_true(answer.due_ns >= last_ns);
			last_ns = answer.due_ns;
			answers += answer.kind == ANSWER_ARP;
			if (now % MS) { /* a port that is full now and then */
				account_sent(&g.a, &answer);
				continue;
			}
			account_unsent(&g.a, &answer);
			assert_int_equal(account_next_ns(&g.a), answer.due_ns);
			assert_int_equal(account_take(&g.a, now, &answer), 0);
			assert_int_equal(answer.due_ns, last_ns);
			account_sent(&g.a, &answer);
		}
	}
	assert_int_equal(answers, 1);
	assert_int_equal(g.a.counts.announcements_pkts, 15);
	assert_int_equal(account_next_ns(&g.a), UINT64_MAX);
	check_identity(&g);
	rig_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_wait), cmocka_unit_test(one_counter_each),
		cmocka_unit_test(copies),	cmocka_unit_test(dropped),
		cmocka_unit_test(storms),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
